// Draw again: another uniform for the draft, the coin or the replacement, many times. The tally grows towards the law
// that it draws from.

const TALLY_ROWS = 6;
const againBox = part("again-inside");
const againWhat = make("select");
const againButtons = [1, 10, 100].map((count) => Object.assign(make("button", "", fill(words.again.draw, { count })), { type: "button", count }));
const againReset = Object.assign(make("button", "", words.again.reset), { type: "button" });
const tallyList = make("ul");
const tallySaid = make("p", "rv-again-said");
let tally = null; // { name, labels, law, draw, counts, drawn } of the position on screen

// What can be drawn again at a position: by name its outcomes with their masses.
function drawable({ fact, frame }) {
  const { p, q } = masses(frame);
  const bars = (law, draw = () => drawnFrom(law)) => ({ labels: frame.labels, law, draw });
  if (fact.q === undefined) return { token: bars(p) };
  const found = {};
  if (!fact.copied) found.draft = bars(q);
  if (fact.coin !== undefined) found.coin = { labels: [words.again.kept, words.again.rejected], law: [fact.accept, 1 - fact.accept], draw: () => (passes(fact, Math.random()) ? 0 : 1) };
  const law = state.value.law === "unknown" ? null : replacementMasses(frame);
  if (law && law.some((mass) => mass > 0)) found.replacement = bars(law);
  if (state.value.rule === "token" && !fact.copied) found.all = bars(p, () => drawnAnew(frame));
  return found;
}

function drawAgain(here) {
  const found = drawable(here);
  const name = againWhat.value in found ? againWhat.value : Object.keys(found)[0];
  againWhat.replaceChildren(...Object.keys(found).map((key) => Object.assign(make("option", "", words.again[key]), { value: key })));
  againWhat.value = name;
  begunTally(found[name]);
}

function begunTally(of) {
  tally = { ...of, counts: of.law.map(() => 0), drawn: 0 };
  drawTally();
}

function drawTally() {
  const { labels, law, counts, drawn } = tally;
  const total = law.reduce((sum, mass) => sum + mass, 0);
  const order = [...law.keys()].filter((i) => law[i] > 0).sort((a, b) => law[b] - law[a]);
  const rows = order.slice(0, TALLY_ROWS).map((i) => ({ label: labels[i], law: law[i] / total, count: counts[i] }));
  const rest = order.slice(TALLY_ROWS);
  if (rest.length) {
    const sum = (list) => rest.reduce((all, i) => all + list[i], 0);
    rows.push({ label: words.again.rest, law: sum(law) / total, count: sum(counts) });
  }
  const scale = Math.max(...rows.map((row) => Math.max(row.law, drawn ? row.count / drawn : 0)));
  tallyList.replaceChildren(...rows.map((row) => tallyRow(row, drawn, scale)));
  setText(tallySaid, fill(drawn ? words.again.said : words.again.nothing, { drawn }));
  show(againReset, drawn > 0);
}

function tallyRow({ label, law, count }, drawn, scale) {
  const row = make("li");
  const bar = make("span", "rv-tally-bar");
  const filled = make("i");
  const mark = make("span", "rv-tally-mark");
  filled.style.width = (drawn ? (100 * count) / drawn / scale : 0) + "%";
  mark.style.left = (100 * law) / scale + "%";
  bar.append(filled, mark);
  const counted = drawn ? fill(words.again.row, { count, share: shown(count / drawn), law: shown(law) }) : shown(law);
  row.append(labelNode("span", "rv-residual-label", label), bar, make("span", "rv-residual-number", counted));
  return row;
}

function drawMore(count) {
  for (let n = 0; n < count; n++) tally.counts[tally.draw()]++;
  tally.drawn += count;
  drawTally();
}

againWhat.addEventListener("change", () => begunTally(drawable(current())[againWhat.value]));
for (const button of againButtons) button.addEventListener("click", () => drawMore(button.count));
againReset.addEventListener("click", () => begunTally(drawable(current())[againWhat.value]));
{
  setText(part("again").firstElementChild, words.again.title);
  const fields = make("div", "rv-what-fields");
  fields.append(labelled(words.again.what, againWhat), ...againButtons, againReset);
  againBox.append(fields, tallyList, tallySaid);
}
