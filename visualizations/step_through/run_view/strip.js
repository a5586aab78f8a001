// The token strip: a box for each round, a button for each position. A box is built once, when its round comes,
// and stays until another run takes its place, so a growing run doesn't blink.

const strip = part("strip");
let tokenButtons = [];
let pressed = null;

function emptyStrip() {
  strip.replaceChildren();
  tokenButtons = [];
  pressed = null;
}

function addBox(round, r) {
  const box = roundBox(round, r);
  const buttons = [...box.querySelectorAll("button")];
  buttons.forEach((button, place) => { button.frame = round.frames[place]; }); // for whoever wants the selected bars
  tokenButtons.push(...buttons);
  return box;
}

// What a branch has from the run that it goes on from: the end of that text, as far as it was kept.
const INHERITED = 40;

function inheritedBox() {
  const { prompt, written } = state.value;
  if (!written) return [];
  const box = make("div", "rv-round rv-inherited", [words.inherited + " "]);
  if (written > INHERITED) box.append("… ");
  box.append(...prompt.slice(-Math.min(written, INHERITED)).map((token) => labelNode("span", "rv-fed", token.label)));
  return [box];
}

function roundBox(round, r) {
  const box = make("div", "rv-round");
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", fill(words.round_name, { ...round, round: roundNumber(r) }));
  box.title = box.getAttribute("aria-label");
  box.append(make("span", "rv-round-name", fill(words.round, { round: roundNumber(r) })));
  for (const fact of round.positions) box.append(tokenButton(fact, fateOf(fact, round)));
  return box;
}

function tokenButton(fact, fate) {
  const button = make("button", "rv-token rv-" + fact.kind);
  button.type = "button";
  button.tabIndex = -1;
  button.setAttribute("aria-pressed", "false");
  button.setAttribute("aria-label", fill(words.token[fate], fact) + ", " + extras(fact));
  button.title = button.getAttribute("aria-label");
  if (fact.special) button.classList.add("rv-special");
  if (fact.part) button.classList.add("rv-part");
  const above = fact.kind === "replaced"
    ? labelNode("s", "rv-above", fact.draft)
    : make("span", "rv-above", words.mark[fact.kind]);
  button.append(above, labelNode("span", "rv-label", fact.label));
  if (fact.part && !fact.label.includes(fact.part)) button.lastChild.append(make("small", "", fact.part));
  return button;
}

function markSelected(moveFocus) {
  const button = tokenButtons[state.index];
  if (pressed && pressed !== button) {
    pressed.setAttribute("aria-pressed", "false");
    pressed.tabIndex = -1;
  }
  pressed = button || null;
  if (!button) return;
  button.setAttribute("aria-pressed", "true");
  button.tabIndex = 0;
  if (moveFocus) button.focus({ preventScroll: true });
  keepInView(button);
}

// Scrolls inside the strip only: the page itself must not jump.
function keepInView(button) {
  const outer = strip.getBoundingClientRect();
  const inner = button.parentElement.getBoundingClientRect();
  if (inner.top < outer.top) strip.scrollTop += inner.top - outer.top - 8;
  else if (inner.bottom > outer.bottom) strip.scrollTop += inner.bottom - outer.bottom + 8;
}

// What the marks above the tokens mean.
function drawKey() {
  part("fates").append(
    ...["accepted", "replaced", "bonus", "plain", "discarded"].map((kind) => {
      const item = make("span", "rv-fate");
      const mark = kind === "replaced" ? make("s", "", words.key.replaced_mark) : make("b", "", words.mark[kind]);
      item.append(mark, " " + words.key[kind]);
      return item;
    })
  );
}

drawKey();
strip.setAttribute("aria-label", words.strip);
strip.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) choose(tokenButtons.indexOf(button), true);
});
