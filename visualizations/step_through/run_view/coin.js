// The coin: a line from 0 to 1, filled up to the accept probability, with a dot where the coin fell.

const coinBox = part("coin");
const coinLine = make("div", "rv-line");
const coinFill = make("div", "rv-line-fill rv-fill-overlap");
const coinRest = make("div", "rv-line-rest rv-fill-excess");
const coinDot = make("div", "rv-dot");
const acceptLabel = make("span", "rv-line-label rv-line-above");
const coinLabel = make("span", "rv-line-label rv-line-below");
const coinWhy = make("p", "rv-why");
const coinScale = make("div", "rv-line-box");

function drawCoin(here) {
  const { accept, kind } = here.fact;
  const coin = coinNow(here);
  const thrown = coin !== undefined;
  show(coinScale, thrown);
  show(coinWhy, !thrown);
  if (!thrown) {
    setText(coinWhy, words.coin["none_" + kind] || words.coin.none_thrown);
    return;
  }
  const [acceptText, coinText] = shownPair(accept, coin);
  const name = state.value.rule === "block" ? "passes" : accept >= 1 ? "kept_always" : accept <= 0 ? "kept_never" : "kept";
  coinFill.style.width = 100 * accept + "%";
  coinDot.style.left = 100 * coin + "%";
  coinDot.classList.toggle("rv-inside", coin < accept);
  placeLabel(acceptLabel, fill(words.coin[name], { accept: acceptText }), accept);
  placeLabel(coinLabel, fill(words.coin.value, { coin: coinText }), coin);
  coinDot.setAttribute("aria-label", fill(words.coin.name, { accept: acceptText, coin: coinText }));
  coinDot.setAttribute("aria-valuenow", coin);
  coinDot.setAttribute("aria-valuetext", coinText);
  coinBox.classList.toggle("rv-moved", coin !== here.fact.coin);
}

// A label stays under its mark in the middle and inside the line at its ends.
function placeLabel(label, text, at) {
  setText(label, text);
  label.style.left = 100 * at + "%";
  label.style.transform = "translateX(" + -100 * at + "%)";
}

// The coin as it fell, or where a person has put it.
function coinNow({ fact }) {
  return state.what && state.what.kind === "coin" ? state.what.value : fact.coin;
}

const COIN_STEPS = { ArrowLeft: -0.01, ArrowDown: -0.01, ArrowRight: 0.01, ArrowUp: 0.01, PageDown: -0.1, PageUp: 0.1, Home: -1, End: 1 };

function moveCoin(event) {
  const here = current();
  if (!(event.key in COIN_STEPS) || event.ctrlKey || event.metaKey || event.altKey || !here) return;
  event.preventDefault(); // the arrow keys of the page move through the run
  whatIfCoin(coinNow(here) + COIN_STEPS[event.key]);
}

function dragCoin(event) {
  const { left, width } = coinLine.getBoundingClientRect();
  whatIfCoin((event.clientX - left) / width);
}

coinDot.tabIndex = 0;
coinDot.setAttribute("role", "slider");
coinDot.setAttribute("aria-valuemin", 0);
coinDot.setAttribute("aria-valuemax", 1);
coinDot.addEventListener("keydown", moveCoin);
coinLine.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  coinLine.setPointerCapture(event.pointerId);
  coinBox.classList.add("rv-dragged");
  dragCoin(event);
  coinDot.focus({ preventScroll: true });
  event.preventDefault();
});
coinLine.addEventListener("pointermove", (event) => { if (coinLine.hasPointerCapture(event.pointerId)) dragCoin(event); });
coinLine.addEventListener("lostpointercapture", () => coinBox.classList.remove("rv-dragged"));
coinLine.append(coinRest, coinFill, coinDot);
coinScale.append(acceptLabel, make("span", "rv-end", "0"), coinLine, make("span", "rv-end", "1"), coinLabel);
coinBox.append(make("h4", "", words.coin.title), coinScale, coinWhy);
