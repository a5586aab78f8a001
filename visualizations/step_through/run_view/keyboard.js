// Moving through the run: arrow keys anywhere on the page where nobody types, and buttons for a finger.

const PLAY_MS = 900;
let player = null;

const MOVES = {
  first: ["|‹", () => 0],
  "previous-round": ["«", () => roundStart(-1)],
  previous: ["‹", () => state.index - 1],
  next: ["›", () => state.index + 1],
  "next-round": ["»", () => roundStart(1)],
  last: ["›|", () => state.flat.length - 1],
};

function keyMove(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  if (event.key === "ArrowLeft") return MOVES[event.shiftKey ? "previous-round" : "previous"];
  if (event.key === "ArrowRight") return MOVES[event.shiftKey ? "next-round" : "next"];
  if (event.key === "Home") return MOVES.first;
  if (event.key === "End") return MOVES.last;
  return null;
}

// Keys count inside this view, and the arrows also while nothing on the page has the focus.
function isOurs(event) {
  const target = event.target;
  if (target.closest && target.closest("input, textarea, select, [contenteditable]")) return false;
  if (element.contains(target)) return true;
  return target === document.body && event.key.startsWith("Arrow") && element.offsetParent !== null;
}

function onKey(event) {
  if (!element.isConnected) return document.removeEventListener("keydown", onKey);
  const move = keyMove(event);
  if (!move || !state.flat.length || event.defaultPrevented || !isOurs(event)) return;
  event.preventDefault();
  pause();
  choose(move[1](), strip.contains(document.activeElement));
}

function setPlayWords() {
  const button = part("play");
  button.textContent = player ? "❚❚" : "▶";
  button.setAttribute("aria-label", player ? words.controls.pause : words.controls.play);
  button.title = button.getAttribute("aria-label");
}

function pause() {
  if (!player) return;
  clearInterval(player);
  player = null;
  setPlayWords();
}

function play() {
  if (state.index >= state.flat.length - 1) choose(0, false);
  player = setInterval(() => {
    if (!element.isConnected || state.index >= state.flat.length - 1) return pause();
    choose(state.index + 1, false);
  }, PLAY_MS);
  setPlayWords();
}

function drawPlace() {
  setText(part("place"), fill(words.place, { index: state.index + 1, count: state.flat.length }));
  for (const name of ["first", "previous-round", "previous"]) part(name).disabled = state.index <= 0;
  for (const name of ["next", "next-round", "last"]) part(name).disabled = state.index >= state.flat.length - 1;
}

for (const [name, [sign, target]] of Object.entries(MOVES)) {
  const button = part(name);
  button.textContent = sign;
  button.title = words.controls[name.replace("-", "_")];
  button.setAttribute("aria-label", button.title);
  button.addEventListener("click", () => { pause(); choose(target(), false); });
}
part("play").addEventListener("click", () => (player ? pause() : play()));
part("controls").setAttribute("aria-label", words.controls.group);
setText(part("keys"), words.keys);
setPlayWords();
document.addEventListener("keydown", onKey);
