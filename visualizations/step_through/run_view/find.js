// Finding places in the run: a text of the answer, rejections, wasted rounds, the least overlap.

const WORST = 20; // as many as the tab "Drafting" lists
const findText = part("find-text");
let found = null; // what was looked for last and where it led: { kind, index }, index null where there is none

const PLACES = {
  text: placesOfText,
  rejection: () => indexesOf(({ fact }) => fact.kind === "replaced"),
  wasted: () => indexesOf(({ round, place }) => place === 0 && isWasted(state.value.rounds[round])),
  worst: worstPlaces,
};

function indexesOf(fits) {
  return state.flat.flatMap((item, index) => (fits(item) ? [index] : []));
}

function isWasted({ drafted, accepted }) {
  return drafted > 0 && accepted === 0;
}

// Tested drafts only, the lowest overlap first; equal ones in reading order.
function worstPlaces() {
  const tested = indexesOf(({ fact }) => fact.overlap !== undefined && fact.kind !== "discarded");
  return tested.sort((a, b) => state.flat[a].fact.overlap - state.flat[b].fact.overlap || a - b).slice(0, WORST);
}

// Positions at which the text begins, in upper or lower case; a space is any blank, as no line break can be typed.
function placesOfText() {
  const wanted = findText.value.replace(/[\\^$.*+?()[\]{}|\/]/g, "\\$&").replace(/\s/g, "\\s");
  const answer = state.value.rounds.map((round) => round.text).join("");
  const starts = textStarts();
  const matches = [...answer.matchAll(new RegExp(wanted, "giu"))];
  return [...new Set(matches.map((match) => starts.findLast(({ start }) => start <= match.index).index))];
}

function textStarts() {
  let end = 0;
  return indexesOf(({ fact }) => fact.kind !== "discarded").map((index) => {
    const { units, label } = state.flat[index].fact;
    const start = end;
    end += units ?? label.length;
    return { start, index };
  });
}

// Goes to the next place of a kind (by -1: the one before), around the end.
function goToNext(kind, by) {
  const places = PLACES[kind]();
  const index = places.length ? following(kind, places, by) : null;
  pause();
  if (index !== null) choose(index, false);
  found = { kind, index };
  drawFound();
}

function following(kind, places, by) {
  const again = found && found.kind === kind && found.index === state.index;
  if (again) return places.at((places.indexOf(state.index) + by) % places.length);
  if (kind === "worst") return places[0];
  const from = kind === "text" ? state.index - by : state.index; // a text that begins right here counts
  const ahead = by > 0 ? places.find((place) => place > from) : places.findLast((place) => place < from);
  return ahead ?? places.at(by > 0 ? 0 : -1);
}

// Says which of how many is selected, until someone moves on. here: null while there is no position.
function drawFound(here = current()) {
  show(part("find"), here !== null);
  if (!here || (found && found.index !== null && found.index !== state.index)) found = null;
  setText(part("find-said"), found ? foundInWords(PLACES[found.kind]()) : "");
}

function foundInWords(places) {
  const { kind, index } = found;
  if (index === null) return places.length ? "" : words.find.none[kind];
  const rank = places.indexOf(index) + 1;
  const overlap = shown(state.flat[index].fact.overlap);
  return rank ? fill(words.find.said[kind], { rank, count: places.length, overlap }) : "";
}

function goToText(by) {
  if (findText.value) goToNext("text", by);
}

function forgetText() {
  for (const name of ["previous", "next"]) part("find-" + name).disabled = !findText.value;
  if (found && found.kind === "text") found = null;
  drawFound();
}

findText.placeholder = words.find.text;
findText.setAttribute("aria-label", words.find.text);
findText.addEventListener("input", forgetText);
findText.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing) return;
  event.preventDefault();
  goToText(event.shiftKey ? -1 : 1);
});
for (const [name, sign, by] of [["previous", "↑", -1], ["next", "↓", 1]]) {
  const button = part("find-" + name);
  button.textContent = sign;
  button.title = words.find[name];
  button.setAttribute("aria-label", button.title);
  button.disabled = true;
  button.addEventListener("click", () => goToText(by));
}
for (const kind of ["rejection", "wasted", "worst"]) {
  const button = part("find-" + kind);
  button.textContent = words.find[kind];
  button.title = words.find[kind + "_is"];
  button.addEventListener("click", () => goToNext(kind, 1));
}
part("find").setAttribute("aria-label", words.find.group);
