// The same numbers as a table, to read and to type.

const SEEN = /[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u; // a name of other characters only would be blank
const MASSES = ["overlap", "excess", "residual"];
let rows = [];

function buildTable() {
  const head = make("tr");
  for (const name of ["token", "small", "big", ...MASSES, "accept", "set"]) head.append(make("th", "pg-th-" + name, words[name]));
  head.append(make("th"));
  part("table").tHead.replaceChildren(head);
  rows = state.tokens.map(tableRow);
  part("table").tBodies[0].replaceChildren(...rows.map((row) => row.line));
  const foot = make("tr");
  foot.append(make("th", "", words.sum), ...["q", "p", ...MASSES].map((name) => make("td", "pg-sum-" + name)));
  foot.append(make("td"), make("td"), make("td"));
  part("table").tFoot.replaceChildren(foot);
  part("add").disabled = cellCount(state.tokens) >= MAX_CELLS;
}

function tableRow(token, index) {
  const line = make("tr");
  const name = make("input", "pg-rename");
  name.type = "text";
  name.maxLength = params.name_length;
  name.value = token.name;
  name.setAttribute("aria-label", words.token);
  name.addEventListener("change", () => rename(index, name));
  const inputs = { q: numberInput(index, "q"), p: numberInput(index, "p") };
  const cells = Object.fromEntries([...MASSES, "accept", "set"].map((key) => [key, make("td", "pg-cell-" + key)]));
  const remove = make("button", "pg-remove", "×");
  remove.type = "button";
  remove.title = fill(words.remove, { name: token.name });
  remove.setAttribute("aria-label", remove.title);
  remove.disabled = state.tokens.length <= MIN_TOKENS;
  remove.addEventListener("click", () => removeToken(index));
  line.append(wrapped("th", name), wrapped("td", inputs.q), wrapped("td", inputs.p), ...Object.values(cells), wrapped("td", remove));
  return { line, inputs, cells };
}

function wrapped(tag, node) {
  const box = make(tag);
  box.append(node);
  return box;
}

function numberInput(index, which) {
  const input = make("input", "pg-number");
  Object.assign(input, { type: "number", min: "0", max: "1", step: String(1 / state.unit) });
  input.setAttribute("aria-label", fill(words.slider, { model: which === "q" ? words.small : words.big, name: state.tokens[index].name }));
  input.addEventListener("change", () => {
    const typed = Number(input.value);
    if (Number.isFinite(typed)) setMass(which, index, typed * state.unit);
    settle();
    input.value = shown(state.tokens[index][which]);
  });
  return input;
}

function drawTable() {
  state.tokens.forEach((token, i) => {
    const { inputs, cells } = rows[i];
    const masses = partsOf(token);
    for (const which of ["q", "p"]) if (document.activeElement !== inputs[which]) inputs[which].value = shown(token[which]);
    for (const name of MASSES) setText(cells[name], shown(masses[name]));
    setText(cells.accept, token.q ? shownShare(masses.overlap / token.q) : "—");
    setText(cells.set, setOf(token) === "both" ? words.set_both : setOf(token));
  });
  const sums = totals();
  for (const which of ["q", "p"]) setText(part("sum-" + which), shown(sum(state.tokens.map((token) => token[which]))));
  for (const name of MASSES) setText(part("sum-" + name), shown(sums[name]));
  folds["typed-numbers"].say(fill(words.results.numbers, { beta: shown(sums.overlap), excess: shown(sums.excess) }));
}

function rename(index, input) {
  const name = firstOf(input.value.trim(), params.name_length);
  if (SEEN.test(name)) state.tokens[index].name = name;
  input.value = state.tokens[index].name;
  nameBars();
  settle();
}

function addToken() {
  const used = new Set(state.tokens.map((token) => token.name));
  const name = [..."ABCDEFGHIJ"].find((letter) => !used.has(letter)) || "?";
  const share = Math.round(state.unit / 10);
  for (const which of ["q", "p"]) {
    const rest = apportion(state.tokens.map((token) => token[which]), state.unit - share);
    state.tokens.forEach((token, i) => { token[which] = rest[i]; });
  }
  state.tokens.push({ name, q: share, p: share, agree: 1 });
  ownBars();
}

function removeToken(index) {
  state.tokens.splice(index, 1);
  for (const which of ["q", "p"]) {
    const rest = apportion(state.tokens.map((token) => token[which]), state.unit);
    state.tokens.forEach((token, i) => { token[which] = rest[i]; });
  }
  ownBars();
}

function ownBars() {
  markOwn();
  rebuild();
  settle();
}

part("add").addEventListener("click", addToken);
