// Joins the parts: draws a new value, and a new selection.

function drawSelection(moveFocus) {
  const here = current();
  show(part("controls"), here !== null);
  show(part("main"), here !== null);
  markSelected(moveFocus);
  drawFound(here);
  drawWatch(here);
  if (!here) return;
  drawPlace();
  drawSentence(here);
  drawCoin(here);
  drawWhat(here);
  drawResidual(here);
  drawAgain(here);
  drawBars();
  drawCompared();
  tellPosition();
}

// For the page's address, and whoever else wants to know which position of which run is on screen.
function tellPosition() {
  const { index, chosen, value } = state;
  tell("specdec:position", { run: value.run, index, chosen, running: Boolean(value.running) });
}

function drawSelectionAt(index) {
  state.index = index;
  state.what = null;
  drawSelection(false);
}

// A person moved: the view stays there, however the run goes on.
function choose(index, moveFocus) {
  const inside = Math.max(0, Math.min(state.flat.length - 1, index));
  if (!state.flat.length) return;
  state.chosen = true;
  if (inside !== state.index) {
    state.index = inside;
    state.what = null;
    drawSelection(moveFocus);
    const { round, place } = current();
    trigger("select", { index: inside, round, place });
    return;
  }
  if (moveFocus) markSelected(true);
  tellPosition();
}

// Another run, as it was when it was last on screen. The one before stays on the shelf.
function begin(run) {
  putOnScreen(run);
  const { rounds } = state.value;
  known = rounds.length;
  asked = { have: -1, at: 0 };
  pause();
  emptyStrip();
  strip.append(...inheritedBox(), ...rounds.map(addBox));
  part("output").replaceChildren(rounds.map((round) => round.text).join(""));
  drawFrame(true);
  drawSelection(false);
}

// A person chose another run of the page.
function showRun(run) {
  if (state.compared === run) state.compared = state.value.run; // the two change places
  begin(run);
  tell("specdec:shown", { run });
}

// Joins what the message has beyond the rounds that are here, and draws no more than that.
function join({ first, rounds, ...rest }) {
  const before = state.value.rounds.length;
  const added = rounds.slice(before - first);
  Object.assign(state.value, rest);
  if ("prompt" in rest) {
    state.value.name = state.value.name || spoken(nameOf(state.value)); // from here on it is a person's text
    if (!before) strip.replaceChildren(...inheritedBox());
    letOldestGo();
  }
  const boxes = added.map((round, i) => {
    addPositions(round);
    return addBox(round, before + i);
  });
  strip.append(...boxes);
  part("output").append(added.map((round) => round.text).join(""));
  drawFrame("prompt" in rest);
  drawFound();
  growWatch();
  if (added.length) moveOn(before);
  if (state.value.paused && !state.value.running) drawSelectionAt(indexOfPlace(state.value.paused));
  if (!state.value.running && followTimer !== null) drawFollowed(); // what a run that is over shows is what stays
  tellPosition();
}

// before: how many rounds were there already.
function moveOn(before) {
  if (before === 0 && !state.value.running) drawSelectionAt(firstToShow());
  else if (state.chosen) drawPlace();
  else follow(newestToken());
}

// A file of several runs: each is put on the shelf, and one of them on screen.
function receiveSession({ session, run }) {
  for (const { first, rounds, ...rest } of session) {
    putOnScreen(rest.run);
    Object.assign(state.value, rest);
    rounds.forEach(addPositions);
    state.index = firstToShow();
  }
  begin(run);
  letOldestGo();
}

// All but the strip and the selected position. anew: what belongs to the run and not to its rounds came too.
function drawFrame(anew) {
  const { running, rounds } = state.value;
  part("sentence").setAttribute("aria-live", running && !state.chosen ? "off" : "polite");
  part("region").classList.toggle("rv-running", running);
  show(part("empty"), rounds.length === 0);
  setText(part("empty"), running ? words.waiting : words.empty);
  for (const name of ["metrics", "settings", "rounding", "fates", "strip"]) show(part(name), rounds.length > 0);
  drawMetrics();
  drawBeside();
  drawTextTitle();
  drawPause();
  drawRuns();
  drawFlipped();
  if (!anew) return;
  drawSettings();
  drawPrompt();
  drawNote();
}

// The newest token is followed; where rounds are quick the eye gets a few of them a second, the strip has all.
const FOLLOW_MS = 500;
let followTimer = null;
let followed = -FOLLOW_MS;

function follow(index) {
  state.index = index;
  state.what = null;
  const wait = followed + FOLLOW_MS - performance.now();
  if (wait <= 0) drawFollowed();
  else if (followTimer === null) followTimer = setTimeout(drawFollowed, wait);
}

function drawFollowed() {
  clearTimeout(followTimer);
  followTimer = null;
  followed = performance.now();
  drawSelection(false);
}

// Updates can be passed over, and a view that is drawn anew has only the last: then the server is asked for the rest.
const ASK_AGAIN_MS = 1000;
let known = 0; // rounds that the run is known to have
let asked = { have: -1, at: 0 };
let taken = null; // the last value of the run on screen

function askForMissing() {
  const have = state.value.rounds.length;
  if (have >= known || (asked.have === have && performance.now() - asked.at < ASK_AGAIN_MS)) return;
  asked = { have, at: performance.now() };
  trigger("gap", { run: state.value.run, have });
}

// The run was begun again elsewhere: what was here behind so many rounds is void.
function goBack(rounds) {
  state.value.rounds.length = rounds;
  state.flat = state.flat.filter((item) => item.round < rounds);
  state.index = state.flat.length - 1;
  state.chosen = false;
  begin(state.value.run);
}

// What plain decoding says of a run may come when another is on screen already, which then stays.
function isLate({ beside, first, run }) {
  return Boolean(beside) && first > 0 && taken !== null && run !== state.value.run;
}

function takeLate({ run, beside }) {
  if (shelf.has(run)) shelf.get(run).value.beside = beside;
  props.value = taken;
}

function receive() {
  if (!props.value) return;
  const message = JSON.parse(props.value);
  if (message.session) return receiveSession(message);
  if (isLate(message)) return takeLate(message);
  taken = props.value;
  if (message.run !== state.value.run) begin(message.run);
  if (message.again && message.again.mark !== (state.value.again || {}).mark) goBack(Math.min(message.again.rounds, state.value.rounds.length));
  const have = state.value.rounds.length;
  const end = message.first + message.rounds.length;
  known = Math.max(known, end);
  const news = end > have || (end === have && !(message.running && state.value.running === false));
  if (message.first <= have && news) join(message);
  askForMissing();
}

// Another tab points at a position: it is selected once this one can be seen.
const FRAMES_TO_BE_SEEN = 120;

function onPointedAt(event) {
  if (!element.isConnected) return document.removeEventListener("specdec:choose", onPointedAt);
  chooseWhenSeen(event.detail, FRAMES_TO_BE_SEEN);
}

function chooseWhenSeen(index, frames) {
  if (!frames) return;
  if (element.offsetParent === null) return requestAnimationFrame(() => chooseWhenSeen(index, frames - 1));
  pause();
  choose(index, true);
  part("strip").scrollIntoView({ block: "start" });
}

hear("specdec:choose", onPointedAt);
part("region").classList.toggle("rv-alone", Boolean(props.alone));
part("region").setAttribute("aria-label", words.region);
receive();
watch("value", receive);
