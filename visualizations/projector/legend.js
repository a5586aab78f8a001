// The keys, in a line at the foot of the screen that goes away by itself; and while the screen is frozen, that it is.

const LEGEND_MS = 12_000;
const legend = make("div", "projector-legend");
let fading = null;

function drawLegend() {
  const { words } = props;
  const keys = make("dl", "projector-keys");
  for (const [key, does] of words.legend) {
    const pair = make("div");
    pair.append(make("dt", "", key), make("dd", "", does));
    keys.append(pair);
  }
  const close = Object.assign(make("button", "", "×"), { type: "button" });
  close.setAttribute("aria-label", words.close);
  close.addEventListener("click", hideLegend);
  const said = make("p", "projector-said");
  said.setAttribute("role", "status");
  legend.replaceChildren(said, keys, close);
}

function showLegend() {
  if (!legend.children.length) drawLegend();
  document.body.append(legend);
  legend.classList.remove("projector-faded");
  clearTimeout(fading);
  fading = setTimeout(hideLegend, LEGEND_MS);
}

function hideLegend() {
  legend.classList.add("projector-faded");
}

function sayFrozen() {
  setText(legend.firstElementChild, frozen() ? props.words.frozen : "");
}
