// Two runs side by side: their texts aligned by output position, the first difference marked, both sets of bars.

state.compared = null; // the other run
const comparedBox = part("compare");
const comparedLines = [make("p", "rv-compared-line"), make("p", "rv-compared-line")];
const comparedSaid = make("p");
const comparedStrip = make("div", "rv-aligned");
const comparedTitle = make("h4");
const comparedChart = make("div", "rv-compared-bars");
const comparedClose = Object.assign(make("button", "rv-run-button", words.compare.close), { type: "button" });
let comparedOf = ""; // what the strip was built for

// The tokens of a run's text: what a branch has from before, then its own with their place in `flat`.
function textOf({ value, flat }) {
  const { prompt = [], written = 0 } = value;
  const before = written ? prompt.slice(-written).map(({ label, id }) => ({ label, id, index: null })) : [];
  return [...before, ...flat.flatMap(({ fact }, index) => (fact.kind === "discarded" ? [] : [{ label: fact.label, id: fact.id, index }]))];
}

// The first place where two texts have different tokens, null where neither has; a text that only ends earlier has none.
function firstDifference(one, other) {
  const place = one.findIndex((token, i) => i < other.length && token.id !== other[i].id);
  return place < 0 ? null : place;
}

function compareWith(run) {
  state.compared = run;
  drawRuns();
  drawCompared();
  if (run) comparedBox.scrollIntoView({ block: "nearest" });
}

function otherRun() {
  const other = state.compared !== state.value.run && shelf.get(state.compared);
  return other && other.value.rounds.length && state.flat.length ? other : null;
}

function drawCompared() {
  const other = otherRun();
  show(comparedBox, other !== null);
  if (!other) return;
  const texts = [textOf(state), textOf(other)];
  const built = [state.value.run, other.value.run, texts[0].length, texts[1].length, state.value.name, other.value.name].join(" ");
  if (built !== comparedOf) {
    comparedOf = built;
    [state, other].forEach((run, side) => write(comparedLines[side], lineOf(run.value, side ? "b" : "a")));
    const place = firstDifference(...texts);
    write(comparedSaid, differenceSaid(texts, place, other));
    buildAligned(texts, place);
  }
  drawComparedPlace(texts, other);
}

function lineOf({ name, metrics, settings }, side) {
  const { tokens, rounds, per_round, alpha } = metrics;
  const facts = fill(words.compare.line, { tokens, rounds, per_round: ratio(per_round), alpha: ratio(alpha) });
  return [words.compare.sides[side] + " ", { data: name }, ": " + facts + " · " + settings.join(" · ")];
}

function differenceSaid(texts, place, other) {
  if (place === null) return fill(words.compare.same, { count: Math.min(texts[0].length, texts[1].length) });
  const [one, two] = texts.map((text) => text[place]);
  const frames = [one.index === null ? null : state.flat[one.index].frame, two.index === null ? null : other.flat[two.index].frame];
  const frame = frames[0] || frames[1];
  const bigOf = (id) => (frame && frame.ids.includes(id) ? shown(masses(frame).p[frame.ids.indexOf(id)]) : words.compare.unlisted);
  return pieces(words.compare[place ? "differs" : "differs_at_once"], { before: place, number: place + 1, p: bigOf(one.id), q: bigOf(two.id) }, { one: one.label, two: two.label });
}

function buildAligned(texts, place) {
  const count = Math.max(texts[0].length, texts[1].length);
  const columns = Array.from({ length: count }, (_, i) => {
    const column = make("button", "rv-column" + (i === place ? " rv-differs" : ""));
    column.type = "button";
    column.append(make("small", "", String(i + 1)), ...texts.map((text) => (text[i] ? labelNode("span", "rv-label", text[i].label) : make("span", "rv-label", "–"))));
    const index = texts[0][i] && texts[0][i].index;
    column.disabled = typeof index !== "number";
    column.addEventListener("click", () => choose(index, false));
    return column;
  });
  comparedStrip.replaceChildren(...columns);
}

function drawComparedPlace(texts, other) {
  const here = current();
  const number = here ? here.fact.number : 0;
  [...comparedStrip.children].forEach((column, i) => column.classList.toggle("rv-here", i + 1 === number));
  const column = comparedStrip.children[number - 1];
  if (column) comparedStrip.scrollLeft = column.offsetLeft - comparedStrip.clientWidth / 2;
  const theirs = texts[1][number - 1];
  const place = theirs && theirs.index !== null ? other.flat[theirs.index] : null;
  show(comparedChart, place !== null);
  if (!place) return setText(comparedTitle, theirs ? words.compare.before : words.compare.nothing);
  setText(comparedTitle, fill(words.compare.bars, { number }));
  const { data, layout } = barsFigure(place.frame);
  if (drawPlot(comparedChart, data, layout, { doubleClick: false })) ticksAreData(comparedChart);
  comparedChart.setAttribute("aria-label", words.bars + ": " + barsInWords(place.frame));
}

comparedChart.setAttribute("role", "img");
keepDrawn(comparedChart, drawCompared);
comparedClose.addEventListener("click", () => compareWith(null));
{
  const head = make("h3", "", words.compare.title + " ");
  head.append(comparedClose);
  comparedStrip.tabIndex = 0;
  comparedStrip.setAttribute("role", "group");
  comparedStrip.setAttribute("aria-label", words.compare.strip);
  comparedBox.append(head, ...comparedLines, comparedSaid, comparedStrip, comparedTitle, comparedChart);
}
