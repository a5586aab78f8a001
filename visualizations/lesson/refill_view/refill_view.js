// Kept drafts, and on them what the chosen law refills; the frame of each bar is p_big.

const words = props.words;
const { key, cells, choices, names } = props.value;
const top01 = Math.max(...cells.p_big, ...choices.flatMap(({ refill }) => refill.map((more, i) => more + cells.overlap[i])));
const tried = new Set();

function part(name) {
  return element.querySelector(".rf-" + name);
}

function shown(mass) {
  return mass < 0.01 ? mass.toPrecision(1) : mass.toFixed(2);
}

function bar(i, refill) {
  const height = (mass) => (100 * mass) / top01 + "%";
  const box = make("div", "rf-column");
  const stack = make("div", "rf-stack");
  const kept = make("i", "fill-overlap");
  const more = make("i", "fill-residual");
  const wanted = make("b", "rf-wanted");
  kept.style.height = height(cells.overlap[i]);
  more.style.height = height(refill ? refill[i] : 0);
  wanted.style.height = height(cells.p_big[i]);
  stack.append(kept, more, wanted);
  const out = refill ? cells.overlap[i] + refill[i] : null;
  const numbers = make("small", "", out === null ? shown(cells.p_big[i]) : fill(words.numbers, { out: shown(out), p: shown(cells.p_big[i]) }));
  box.append(stack, asData(make("span", "rf-label", cells.labels[i])), numbers);
  return box;
}

// chosen: the index of a choice, null before any was made.
function draw(chosen) {
  const choice = chosen === null ? null : choices[chosen];
  part("bars").replaceChildren(...cells.labels.map((_, i) => bar(i, choice && choice.refill)));
  const values = choice ? { law: words.names[names[chosen]], distance: choice.distance.toFixed(3) } : {};
  const said = choice ? fill(words.comes_out, values) : words.before;
  setText(part("said"), said);
  part("bars").setAttribute("aria-label", said);
  if (choice) tried.add(chosen);
  part("tried").replaceChildren(...[...tried].map((i) => make("li", "", fill(words.tried, { law: words.names[names[i]], distance: choices[i].distance.toFixed(3) }))));
}

function hear(name, act) {
  whileShown(element, name, ({ detail }) => {
    if (detail.question === key) act(detail);
  });
}

function legendOf([className, name]) {
  const item = make("span", "rf-key");
  item.append(make("i", className), name);
  return item;
}

part("legend").append(...[["fill-overlap", words.kept], ["fill-residual", words.refilled], ["rf-frame", words.wanted]].map(legendOf));
hear("specdec:answered", ({ answer }) => draw(answer));
hear("specdec:revealed", () => draw(names.indexOf("residual")));
draw(null);
