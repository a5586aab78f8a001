// Projector mode: P turns it on and off and Esc off; N shows and hides the numbers, F freezes the screen and lets it go
// on; in the lesson the digits and the arrows turn its pages, in a tab with sections these. The classes `projector` and
// `projector-numbers` of the body say so to projector.css, the event `specdec:projector` to what draws.

const button = element.querySelector("button");
let page = 1; // of the lesson

function on() {
  return document.body.classList.contains("projector");
}

function turn(wanted) {
  if (wanted === on()) return;
  thaw();
  section = null;
  if (wanted) {
    section = openPanel() && sectionInView(openPanel());
    document.body.classList.add("projector");
    showLegend();
    stage();
    scrollTo(0, 0);
  } else {
    document.body.classList.remove("projector", "projector-numbers");
    unstage();
    legend.remove();
  }
  button.setAttribute("aria-pressed", String(wanted));
  tell("specdec:projector", { on: wanted });
}

function tell(name, detail) {
  document.dispatchEvent(new CustomEvent(name, { detail }));
}

function toggleFreeze() {
  if (frozen()) thaw();
  else freeze();
  sayFrozen();
}

// By its number from 1, or to the next one.
function toPage(number) {
  if (openPanel().querySelector("#lesson-shell")) tell("specdec:lesson", { page: number });
  else showSection(number - 1);
}

function move(by) {
  if (openPanel().querySelector("#lesson-shell")) tell("specdec:lesson", { page: Math.max(1, page + by) });
  else moveSection(by);
}

const KEYS = {
  p: () => turn(false),
  Escape: () => turn(false),
  n: () => document.body.classList.toggle("projector-numbers"),
  f: toggleFreeze,
};
const MOVES = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }; // a clicker sends the pages' keys

function isTyping(target) {
  return Boolean(target.closest && target.closest("input:not([type=range], [type=checkbox], [type=radio]), textarea, select, [contenteditable]"));
}

function actOf({ key }) {
  const name = key.length === 1 ? key.toLowerCase() : key;
  if (!on()) return name === "p" ? () => turn(true) : null;
  if (KEYS[name]) return KEYS[name];
  if (frozen()) return () => {}; // no key moves what can't be seen
  if (/^[1-9]$/.test(name)) return () => toPage(Number(name));
  return null;
}

// Before the page's own keys, since a frozen screen takes none.
function onKey(event) {
  if (!element.isConnected) return removeEventListener("keydown", onKey, true);
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const act = actOf(event);
  if (!act) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  act();
}

// After them: the arrows belong to a figure that takes them.
function onMove(event) {
  if (!element.isConnected) return removeEventListener("keydown", onMove);
  if (!on() || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const by = MOVES[event.key];
  if (!by || event.shiftKey || event.target.closest('[role="slider"], [type="range"]') || openPanel().querySelector("#run-view")) return;
  event.preventDefault();
  move(by);
}

const HEARD = {
  "specdec:tab": () => { if (on()) stage(); },
  "specdec:lesson-page": (detail) => { page = detail.page; },
};
for (const [name, act] of Object.entries(HEARD)) {
  const listen = (event) => (element.isConnected ? act(event.detail) : document.removeEventListener(name, listen));
  document.addEventListener(name, listen);
}
setText(button, props.words.button);
button.title = props.words.button_is;
button.addEventListener("click", () => turn(!on()));
addEventListener("keydown", onKey, true);
addEventListener("keydown", onMove);
