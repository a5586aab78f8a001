// The runs of this page as a tree: each branch under the run that it goes on from. Choosing one asks for nothing.

const MOST_RUNS = props.most_runs;
const LONGEST_NAME = 80;
const ABOUT_LENGTH = 32;
const runsBox = part("runs");
const runsList = runsBox.querySelector("ul");
let renaming = null; // the run whose name is being typed

function listed() {
  return [...shelf.values()].filter((run) => run.value.rounds.length > 0);
}

function nameOf({ about, origin }) {
  if (!origin) return [...(about || "").trim()].slice(0, ABOUT_LENGTH).join("") || words.runs.nameless;
  const place = shelf.has(origin.parent) ? shelf.get(origin.parent).flat[origin.at] : undefined;
  const at = place ? place.fact.number : origin.at + 1;
  const bar = place && origin.kind === "forced" ? place.frame.ids.indexOf(origin.value) : -1;
  const value = bar < 0 ? origin.value : place.frame.labels[bar];
  return fill(words.runs.change[origin.with_form ? "settings" : origin.kind], { at, value: typeof value === "number" ? shown(value) : value });
}

// [depth, run] of every run, each behind the one that it goes on from.
function treeOrder() {
  const runs = listed();
  const known = new Set(runs.map((run) => run.value.run));
  const under = (parent, depth) =>
    runs
      .filter(({ value }) => (value.origin && known.has(value.origin.parent) ? value.origin.parent : null) === parent)
      .flatMap((run) => [[depth, run], ...under(run.value.run, depth + 1)]);
  return under(null, 0);
}

function drawRuns() {
  const tree = treeOrder();
  if (!state.value.running) tell("specdec:tree", { runs: tree.map(asSaved) });
  show(runsBox, tree.length > 1);
  if (tree.length < 2) return runsList.replaceChildren();
  setText(runsBox.firstElementChild, fill(words.runs.summary, { count: tree.length, name: state.value.name || "" }));
  runsList.replaceChildren(...tree.map(([depth, run]) => runRow(depth, run)));
}

function runRow(depth, { value }) {
  const row = make("li");
  row.style.paddingInlineStart = 22 * Math.min(depth, 8) + "px";
  if (renaming === value.run) {
    row.append(nameField(value));
    return row;
  }
  const here = value.run === state.value.run;
  const pick = make("button", "rv-run", depth ? ["↳ ", { data: value.name }] : [{ data: value.name }]);
  pick.type = "button";
  pick.setAttribute("aria-pressed", here);
  pick.disabled = Boolean(state.value.running) && !here;
  pick.addEventListener("click", () => showRun(value.run));
  const { tokens, alpha } = value.metrics;
  const settings = value.settings.slice(1).join(" · "); // the pair is the same nearly always
  row.append(pick, make("small", "", fill(words.runs.facts, { tokens, alpha: shown(alpha), settings })));
  if (!here) row.append(rowButton("⇄", "compare", value, () => compareWith(state.compared === value.run ? null : value.run), state.compared === value.run));
  row.append(rowButton("✎", "rename", value, () => rename(value.run)));
  if (!state.value.running) row.append(rowButton("×", "delete", value, () => forget(value.run)));
  return row;
}

function rowButton(sign, name, value, act, pressed) {
  const button = make("button", "rv-run-button", sign);
  button.type = "button";
  button.title = fill(words.runs[name], { name: value.name });
  button.setAttribute("aria-label", button.title);
  if (pressed !== undefined) button.setAttribute("aria-pressed", pressed);
  button.addEventListener("click", act);
  return button;
}

function rename(run) {
  renaming = run;
  drawRuns();
  const field = runsList.querySelector("input");
  field.focus();
  field.select();
}

function nameField(value) {
  const field = Object.assign(make("input"), { type: "text", maxLength: LONGEST_NAME, value: value.name });
  field.setAttribute("aria-label", words.runs.name);
  const end = (keeps) => {
    if (renaming !== value.run) return;
    renaming = null;
    if (keeps && field.value.trim()) value.name = field.value.trim();
    drawRuns();
    drawCompared();
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "Escape") end(event.key === "Enter");
  });
  field.addEventListener("blur", () => end(true));
  return field;
}

// What goes on from a run that is forgotten stays, as a run of its own.
function forget(run) {
  const { origin } = shelf.get(run).value;
  if (state.value.run === run) {
    const next = origin && shelf.has(origin.parent) ? origin.parent : listed().map(({ value }) => value.run).find((other) => other !== run);
    showRun(next);
  }
  shelf.delete(run);
  if (state.compared === run) state.compared = null;
  tell("specdec:forget", { run });
  drawRuns();
  drawCompared();
}

// What the page keeps is bounded: beyond that the run that was made longest ago goes.
function letOldestGo() {
  while (shelf.size > MOST_RUNS) forget([...shelf.keys()].find((run) => run !== state.value.run));
}

// A branch in which nothing was changed writes its parent's text again, but for the rounding of few digits.
function drawFlipped() {
  const { origin, running } = state.value;
  const parent = origin && shelf.get(origin.parent);
  let flipped = null;
  if (parent && !running && origin.kind === "replay" && !origin.with_form) flipped = firstDifference(textOf(parent), textOf(state));
  show(part("flipped"), flipped !== null);
  setText(part("flipped"), fill(words.runs.flipped, { number: flipped + 1, dtype: state.value.metrics ? state.value.metrics.dtype : "" }));
}

function asSaved([, { value }]) {
  return { run: value.run, name: value.name, origin: value.origin };
}

runsBox.open = true;
{
  const save = Object.assign(make("button", "rv-run-button", words.runs.save), { type: "button" });
  save.addEventListener("click", () => tell("specdec:session", { runs: treeOrder().map(asSaved) }));
  part("runs-all").append(save);
}
