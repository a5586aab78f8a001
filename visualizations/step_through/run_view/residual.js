// After a rejection: the law that the replacement was drawn from, its commonest tokens and the one drawn.

const RESIDUAL_ROWS = 5;
const WORTH_A_ROW = 0.001;
const residualBox = part("residual");

// What a replacement is drawn from: a mass for every bar, in their order.
function replacementMasses(frame) {
  const { p } = masses(frame);
  const laws = { residual: frame.residual, target: p, without_draft: p.map((mass, i) => (i === frame.drafted ? 0 : mass)) };
  return laws[state.value.law];
}

// [index in the frame, probability] of every bar, most likely first.
function replacementLaw(frame) {
  const law = replacementMasses(frame);
  const total = law.reduce((sum, mass) => sum + mass, 0);
  return law.map((mass, i) => [i, total > 0 ? mass / total : 0]).filter(([, r]) => r > 0).sort((a, b) => b[1] - a[1]);
}

function drawResidual(here) {
  const rejected = here.fact.kind === "replaced" && state.value.law !== "unknown";
  show(residualBox, rejected);
  if (!rejected) return;
  const { frame } = here;
  const law = replacementLaw(frame);
  const rest = frame.ids.length - 1;
  const named = law.filter(([i]) => i !== rest);
  let rows = named.filter(([, r]) => r >= WORTH_A_ROW).slice(0, RESIDUAL_ROWS);
  const drawn = named.find(([i]) => i === frame.emitted);
  if (drawn && !rows.includes(drawn)) rows = [...rows.slice(0, RESIDUAL_ROWS - 1), drawn];
  const others = 1 - rows.reduce((sum, [, r]) => sum + r, 0);
  if (others > 0.00005) rows.push([rest, others]);
  const scale = Math.max(...rows.map(([, r]) => r));
  const list = make("ul");
  list.append(...rows.map(([i, r]) => residualRow(i, frame, r, r / scale)));
  residualBox.replaceChildren(make("h4", "", words.residual["title_" + state.value.law]), list);
}

function residualRow(i, frame, r, share) {
  const drawn = i === frame.emitted;
  const row = make("li", drawn ? "rv-drawn" : "");
  row.addEventListener("click", () => whatIfBar(i)); // as a bar is clicked; for keys there is the list of tokens
  const bar = make("span", "rv-residual-bar");
  const filled = make("i", "rv-fill-residual");
  filled.style.width = 100 * share + "%";
  bar.append(filled);
  row.append(labelNode("span", "rv-residual-label", frame.labels[i]), bar, make("span", "rv-residual-number", shown(r)));
  row.append(make("span", "rv-residual-drawn", drawn ? "● " + words.residual.drawn : ""));
  return row;
}
