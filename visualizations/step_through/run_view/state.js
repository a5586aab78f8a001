// What is on screen: the run so far, its positions in reading order, and which of them is selected.
// A value of the component is a part of a run, so the whole is kept here and grows by what each value adds.

const words = props.words;
const figureWords = props.figure_words;
// Every run that was on screen, by its name: what of the state belongs to it.
const shelf = new Map();
const state = { value: { rounds: [] }, flat: [], index: -1, chosen: false, what: null, scale: "linear" };

// Puts a run in the place of the one on screen, as it was left; one that is new has nothing yet.
function putOnScreen(run) {
  const { value, flat, index, chosen } = state;
  if (value.rounds.length) shelf.set(value.run, { value, flat, index, chosen });
  else shelf.delete(value.run);
  if (!shelf.has(run)) shelf.set(run, { value: { run, rounds: [] }, flat: [], index: -1, chosen: false });
  Object.assign(state, shelf.get(run), { what: null });
}

function addPositions(round) {
  const r = state.value.rounds.length;
  state.value.rounds.push(round);
  for (const fact of round.positions) fact.number += state.value.written || 0;
  round.positions.forEach((fact, place) => state.flat.push({ fact, place, round: r, frame: round.frames[place] }));
}

// A branch counts on where its parent's rounds stood.
function roundNumber(r) {
  return (state.value.rounds_before || 0) + r + 1;
}

function current() {
  return state.flat[state.index] || null;
}

// The first rejection shows most: a struck-out draft, its coin and its residual.
function firstToShow() {
  const rejected = state.flat.findIndex((item) => item.fact.kind === "replaced");
  return state.flat.length ? Math.max(0, rejected) : -1;
}

function newestToken() {
  let last = state.flat.length - 1;
  while (last > 0 && state.flat[last].fact.kind === "discarded") last--;
  return last;
}

// Index of the first position of the round that is `by` rounds away; Shift+Left inside a round goes to its start.
function roundStart(by) {
  const here = current();
  if (!here) return state.index;
  if (by < 0 && here.place > 0) by += 1;
  const round = Math.max(0, Math.min(state.value.rounds.length - 1, here.round + by));
  return state.flat.findIndex((item) => item.round === round);
}

// Two decimals, or two significant digits below 0.1; never 0 or 1 for what is only near them.
function shown(number, digits = 2) {
  if (number === null || number === undefined) return figureWords.none;
  if (number === 0 || number === 1) return String(number);
  if (number > 0 && number < 1e-6) return number.toExponential(1);
  if (number < 0.1) return String(Number(number.toPrecision(digits))).includes("e")
    ? number.toFixed(7).replace(/0+$/, "")
    : String(Number(number.toPrecision(digits)));
  let text = number.toFixed(digits);
  while (number < 1 && Number(text) === 1 && digits < 7) text = number.toFixed(++digits);
  return text;
}

// The coin and what it is compared with, in as many digits as it takes to tell them apart.
function shownPair(accept, coin) {
  let digits = 2;
  while (digits < 5 && shown(accept, digits) === shown(coin, digits)) digits++;
  return [shown(accept, digits), shown(coin, digits)];
}
