// Several drafts for the same place: the table of schemes, and today's bars with the set that limits them framed.

const chosen = { k: 2, kind: "independent" };
const candidateWords = words.candidates;
const candidateRows = new Map();
let smallBars = [];

function buildCandidates() {
  smallBars = state.tokens.map((token, index) => {
    const group = make("div", "pg-cand-group");
    const pair = make("div", "pg-pair");
    const small = column(index, "q", ["overlap", "excess"]);
    const big = column(index, "p", ["overlap", "residual"]);
    const name = make("div", "pg-cand-name");
    const framed = make("div", "pg-cand-framed");
    name.translate = false;
    pair.append(small.box, big.box);
    group.append(pair, name, framed);
    return { group, small, big, name, framed };
  });
  part("cand-bars").replaceChildren(...smallBars.map((item) => item.group));
  part("cand-bars").style.setProperty("--pg-count", state.tokens.length);
  part("cand-bars").classList.toggle("pg-many", state.tokens.length > 5);
}

function buildCandidateTable() {
  const head = candidateRow("pg-cand-head", candidateWords.scheme, "columnheader", (k) => fill(candidateWords.k_is, { k }));
  const built = Object.entries(candidateWords.schemes).map(([scheme, said]) => {
    const limit = !(scheme in SCHEMES);
    const row = candidateRow("", "", "cell", () => "");
    const about = row.line.firstChild;
    const small = make("small");
    const tag = limit ? make("span", "pg-cand-bound", candidateWords.bound) : make("span", "pg-exact", words.exact);
    about.append(make("b", "", said.name), " ", tag, small);
    row.line.dataset.scheme = scheme;
    const meters = row.cells.map((cell) => {
      const one = meter(limit ? "pg-outline" : "fill-overlap");
      cell.append(one.box);
      return one;
    });
    candidateRows.set(scheme, { ...row, meters, small, is: said.is });
    return row.line;
  });
  candidateRows.set("head", head);
  part("cand-table").setAttribute("aria-label", candidateWords.title);
  part("cand-table").replaceChildren(head.line, ...built);
}

function candidateRow(className, about, role, textOf) {
  const line = make("div", "pg-cand-row " + className);
  line.setAttribute("role", "row");
  const head = make("div", "pg-cand-about", about);
  head.setAttribute("role", role === "cell" ? "rowheader" : role);
  const cells = Array.from({ length: MOST_DRAFTS }, (_, i) => {
    const cell = make("div", "pg-cand-cell", textOf(i + 1));
    cell.setAttribute("role", role);
    return cell;
  });
  line.append(head, ...cells);
  return { line, cells };
}

// Two rows of buttons: how many drafts, and how they are drawn.
function buildCandidateChoices() {
  const numbers = Array.from({ length: MOST_DRAFTS }, (_, i) => ["k", i + 1, fill(candidateWords.k_is, { k: i + 1 })]);
  const kinds = Object.keys(DRAWN).map((kind) => ["kind", kind, candidateWords.kinds[kind]]);
  const choices = [[candidateWords.choose_k, numbers], [candidateWords.choose_kind, kinds]];
  part("cand-choices").replaceChildren(...choices.map(([label, options]) => {
    const group = make("div", "pg-cand-choice");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", label);
    group.append(make("span", "pg-cand-label", label), ...options.map(choiceButton));
    return group;
  }));
}

function choiceButton([key, value, label]) {
  const button = make("button", "", label);
  button.type = "button";
  button.dataset[key] = value;
  button.addEventListener("click", () => {
    chosen[key] = value;
    drawCandidates();
  });
  return button;
}

function drawCandidates() {
  const list = cells();
  const p = list.map((cell) => cell.p);
  const q = list.map((cell) => cell.q);
  const found = candidatesOf(p, q);
  const bound = found.bounds[chosen.kind][chosen.k - 1];
  const tight = list.filter((_, i) => bound.tight >> i & 1);
  const coarse = list.length > state.tokens.length;
  drawSmallBars(new Set(tight.map((cell) => cell.index)));
  drawLimit(bound, namesOf(list, tight), coarse ? 4 : 3); // halves of a unit need one digit more to add up
  drawCandidateTable(found.kept, { k: chosen.k, rho: kSeqScale(p, q, chosen.k).toFixed(3) });
  drawChoices();
  const [one, ...more] = found.kept[`transport_${chosen.kind}`].map((chance) => shownChance(chance));
  folds.candidates.say(fill(words.results.candidates, { one, most: more.at(-1), k: MOST_DRAFTS }));
  setText(part("cand-order"), orderOf(found.kept));
  setText(part("cand-law"), fill(candidateWords.law, { off: found.off.toFixed(9) }));
  setText(part("cand-coarse"), coarse ? fill(candidateWords.coarse, { other: words.other }) : "");
}

function drawSmallBars(tight) {
  state.tokens.forEach((token, i) => {
    const { group, small, big, name, framed } = smallBars[i];
    const masses = partsOf(token);
    drawColumn(small, token, "q", masses.excess);
    drawColumn(big, token, "p", masses.residual);
    small.box.setAttribute("aria-label", fill(words.slider, { model: words.small, name: token.name }));
    big.box.setAttribute("aria-label", fill(words.slider, { model: words.big, name: token.name }));
    setText(name, token.name);
    group.classList.toggle("pg-cand-tight", tight.has(i));
    setText(framed, tight.has(i) ? candidateWords.in_set : "");
  });
}

// "all other" is two cells, of which only the one with too much can be over-offered.
function namesOf(list, tight) {
  return tight.map((cell) => {
    const { name } = state.tokens[cell.index];
    const halves = list.filter((other) => other.index === cell.index);
    if (halves.length === 1) return name;
    return fill(cell === halves[0] ? words.other_a : words.other_b, { name });
  });
}

function drawLimit({ limit, wanted, offered }, names, places) {
  const masses = Object.entries({ limit, wanted, offered, surplus: offered - wanted });
  const values = Object.fromEntries(masses.map(([name, mass]) => [name, shownChance(mass, places)]));
  Object.assign(values, { k: chosen.k, who: candidateWords.who[chosen.k - 1] });
  drawSet(names);
  setText(part("cand-why"), fill(names.length ? candidateWords.why : candidateWords.none, values));
  const serve = part("cand-serve");
  serve.hidden = !names.length;
  serve.firstChild.style.width = 100 * wanted + "%";
  serve.lastChild.style.width = 100 * (offered - wanted) + "%";
}

// The names are texts of their own, which no translator touches.
function drawSet(names) {
  const box = part("cand-set");
  const said = JSON.stringify(names);
  if (box.dataset.said === said) return;
  box.dataset.said = said;
  box.hidden = !names.length;
  const nodes = names.flatMap((name, i) => {
    const node = make("bdi", "", quoted(name));
    node.translate = false;
    return i ? [", ", node] : [node];
  });
  const [before, after] = (names.length === 1 ? candidateWords.set_one : candidateWords.set_many).split("{set}");
  box.replaceChildren(before, ...nodes, after);
}

function drawCandidateTable(kept, values) {
  for (const scheme in candidateWords.schemes) {
    const { meters, small, is } = candidateRows.get(scheme);
    setText(small, fill(is, values));
    kept[scheme].forEach((chance, i) => {
      setText(meters[i].number, shownChance(chance));
      meters[i].filled.style.width = 100 * Math.min(1, chance) + "%";
    });
  }
}

function drawChoices() {
  for (const button of part("cand-choices").querySelectorAll("button")) {
    const pressed = button.dataset.k === String(chosen.k) || button.dataset.kind === chosen.kind;
    button.setAttribute("aria-pressed", String(pressed));
  }
  for (const { cells: columns } of candidateRows.values()) {
    columns.forEach((cell, i) => cell.classList.toggle("pg-cand-here", i + 1 === chosen.k));
  }
}

// Which of the two schemes that have no order keeps more, for each k, at the digits that are shown.
function orderOf(kept) {
  const groups = { order_k_seq: [], order_without: [], order_same: [] };
  for (let k = 1; k <= MOST_DRAFTS; k++) {
    const more = Number(shownChance(kept.k_seq[k - 1])) - Number(shownChance(kept.without_replacement[k - 1]));
    groups[more > 0 ? "order_k_seq" : more < 0 ? "order_without" : "order_same"].push(k);
  }
  const told = Object.entries(groups).filter(([, ks]) => ks.length);
  const said = told.map(([key, ks]) => fill(candidateWords[key], { ks: ks.join(", ") }));
  return [candidateWords.order, ...said].join(" ");
}

// So many digits, more where the number would look like 0 or 1 and is not.
function shownChance(chance, places = 3) {
  return shownShare(Math.round(chance * 1e9) / 1e9, places - digits());
}

setText(part("cand-is"), candidateWords.is);
buildCandidateTable();
buildCandidateChoices();
part("cand-bars").setAttribute("aria-label", words.columns);
const HANDLERS = { pointerdown: onDown, pointermove: onMove, pointerup: onUp, pointercancel: onUp, keydown: onKey };
for (const [name, handler] of Object.entries(HANDLERS)) part("cand-bars").addEventListener(name, handler);
