// What is shown alone: in the tab of runs its view, in the lesson its open page, elsewhere one section. It is marked,
// and so is what stands beside it or beside a box it is in; projector.css hides that.

let staged = [];
let section = null; // id of the one that is shown, in a tab that has sections

function openPanel() {
  return [...document.querySelectorAll('[role="tabpanel"]')].find((panel) => panel.checkVisibility());
}

// Of the tab: [id], in their order, from the line that leads to them.
function sectionsOf(panel) {
  const links = [...panel.querySelectorAll(".contents a")];
  return links.map((link) => new URLSearchParams(link.hash.slice(1)).get("section")).filter((id) => document.getElementById(id));
}

// The section that is being read when the mode begins; its line says which.
function sectionInView(panel) {
  const reading = panel.querySelector(".contents a[aria-current]");
  const id = reading && new URLSearchParams(reading.hash.slice(1)).get("section");
  return id || sectionsOf(panel)[0] || null;
}

function stageOf(panel) {
  const run = panel.querySelector("#run-view");
  if (run) return run;
  const shell = panel.querySelector("#lesson-shell");
  if (shell) return shell.parentElement; // whose pages come and go by themselves
  if (!section || !panel.contains(document.getElementById(section))) section = sectionInView(panel);
  return section ? document.getElementById(section) : panel;
}

function unstage() {
  for (const [node, name] of staged) node.removeAttribute(name);
  staged = [];
}

function markAs(node, name) {
  node.setAttribute(name, "");
  staged.push([node, name]);
}

function stage() {
  const panel = openPanel();
  if (!panel) return;
  unstage();
  let node = stageOf(panel);
  markAs(node, "data-stage");
  unfold(node);
  for (; node.parentElement !== document.body; node = node.parentElement) { // the body itself has what draws measure with
    for (const other of node.parentElement.children) if (other !== node) markAs(other, "data-off-stage");
    markAs(node.parentElement, "data-around-stage");
  }
}

function unfold(node) {
  const head = section && node.querySelector(`[data-fold="${CSS.escape(section)}"]`);
  if (head && head.getAttribute("aria-expanded") === "false") head.click();
}

// To the section that is `by` further.
function moveSection(by) {
  const sections = sectionsOf(openPanel());
  showSection(sections.indexOf(section) + by);
}

function showSection(index) {
  const id = sectionsOf(openPanel())[index];
  if (!id) return;
  section = id;
  stage();
  scrollTo(0, 0);
}
