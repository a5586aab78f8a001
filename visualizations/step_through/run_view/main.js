// Joins the parts: draws a new value, and a new selection.

function drawSelection(moveFocus) {
  const here = current();
  show(part("controls"), here !== null);
  show(part("main"), here !== null);
  markSelected(moveFocus);
  if (!here) return;
  drawPlace();
  drawSentence(here);
  drawCoin(here);
  drawResidual(here);
  drawBars();
}

function drawSelectionAt(index) {
  state.index = index;
  drawSelection(false);
}

// A person moved: the view stays there, however the run goes on.
function choose(index, moveFocus) {
  const inside = Math.max(0, Math.min(state.flat.length - 1, index));
  if (!state.flat.length) return;
  state.chosen = true;
  if (inside !== state.index) {
    state.index = inside;
    drawSelection(moveFocus);
    const { round, place } = current();
    trigger("select", { index: inside, round, place });
  } else if (moveFocus) markSelected(true);
}

// Another run: nothing of the one before stays.
function begin(run) {
  state.value = { run, rounds: [] };
  state.flat = [];
  state.index = -1;
  state.chosen = false;
  known = 0;
  asked = { have: -1, at: 0 };
  pause();
  emptyStrip();
  part("output").replaceChildren();
  drawPrompt();
  drawSelection(false);
}

// Joins what the message has beyond the rounds that are here, and draws no more than that.
function join({ first, rounds, ...rest }) {
  const before = state.value.rounds.length;
  const added = rounds.slice(before - first);
  Object.assign(state.value, rest);
  const boxes = added.map((round, i) => {
    addPositions(round);
    return addBox(round, before + i);
  });
  strip.append(...boxes);
  part("output").append(added.map((round) => round.text).join(""));
  drawFrame("prompt" in rest);
  if (added.length) moveOn(before);
  if (!state.value.running && followTimer !== null) drawFollowed(); // what a run that is over shows is what stays
}

// before: how many rounds were there already.
function moveOn(before) {
  if (before === 0 && !state.value.running) drawSelectionAt(firstToShow());
  else if (state.chosen) drawPlace();
  else follow(newestToken());
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

// What plain decoding says of a run may come when another is on screen already, which then stays.
function isLate({ beside, first, run }) {
  return Boolean(beside) && first > 0 && taken !== null && run !== state.value.run;
}

function receive() {
  if (!props.value) return;
  const message = JSON.parse(props.value);
  if (isLate(message)) return void (props.value = taken);
  taken = props.value;
  if (message.run !== state.value.run) begin(message.run);
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

document.addEventListener("specdec:choose", onPointedAt);
part("region").setAttribute("aria-label", words.region);
receive();
watch("value", receive);
