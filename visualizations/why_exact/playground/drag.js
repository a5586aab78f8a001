// Dragging and pressing keys on a column. Nothing leaves the page before the hand lets go. A mouse drags a column
// anywhere; a finger or a pen by its grip, since on the rest of it they scroll the page.

const PAGE_STEP = 10;
const KEY_REST_MS = 400;
let drag = null;
let keyTimer = null;

function onDown(event) {
  const box = event.target.closest(".pg-column");
  if (!box || (event.pointerType === "mouse" ? event.button !== 0 : !event.target.closest(".pg-grip"))) return;
  event.preventDefault();
  box.focus({ preventScroll: true });
  box.setPointerCapture(event.pointerId);
  const { which } = box.dataset;
  const index = Number(box.dataset.index);
  drag = {
    box, which, index, y: event.clientY,
    from: state.tokens.map((token) => token[which]),
    start: state.tokens[index][which],
    unitPixels: box.clientHeight / (state.unit * top01),
  };
  box.classList.add("pg-held");
}

function onMove(event) {
  if (!drag) return;
  const wanted = drag.start + (drag.y - event.clientY) / drag.unitPixels;
  setMass(drag.which, drag.index, wanted, drag.from);
  fitUpwards();
  redraw();
}

function onUp() {
  if (!drag) return;
  drag.box.classList.remove("pg-held");
  drag = null;
  settle();
}

// A column that grows beyond the axis makes the axis longer at once; it is shortened only at rest.
function fitUpwards() {
  const before = top01;
  fitTop();
  top01 = Math.max(before, top01);
  if (top01 !== before) drawAxis();
}

function onKey(event) {
  const box = event.target.closest(".pg-column");
  if (!box || event.ctrlKey || event.metaKey || event.altKey) return;
  const { which } = box.dataset;
  const index = Number(box.dataset.index);
  const now = state.tokens[index][which];
  const wanted = {
    ArrowUp: now + 1, ArrowRight: now + 1, ArrowDown: now - 1, ArrowLeft: now - 1,
    PageUp: now + PAGE_STEP, PageDown: now - PAGE_STEP, Home: 0, End: state.unit,
  }[event.key];
  if (wanted === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  setMass(which, index, wanted);
  fitUpwards();
  redraw();
  clearTimeout(keyTimer);
  keyTimer = setTimeout(settle, KEY_REST_MS);
}

// At rest: fit the axis, keep the value for the next handler, and tell the page.
function settle() {
  clearTimeout(keyTimer);
  fitTop();
  drawAxis();
  redraw();
  props.value = { tokens: copyOf(state.tokens), unit: state.unit, source: state.source, note: state.note };
  trigger("release");
}

const bars = part("bars");
bars.addEventListener("pointerdown", onDown);
bars.addEventListener("pointermove", onMove);
bars.addEventListener("pointerup", onUp);
bars.addEventListener("pointercancel", onUp);
bars.addEventListener("keydown", onKey);
