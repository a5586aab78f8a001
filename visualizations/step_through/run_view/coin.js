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
  const { accept, coin, kind } = here.fact;
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
  coinLine.setAttribute("aria-label", fill(words.coin.name, { accept: acceptText, coin: coinText }));
}

// A label stays under its mark in the middle and inside the line at its ends.
function placeLabel(label, text, at) {
  setText(label, text);
  label.style.left = 100 * at + "%";
  label.style.transform = "translateX(" + -100 * at + "%)";
}

coinLine.setAttribute("role", "img");
coinLine.append(coinRest, coinFill, coinDot);
coinScale.append(acceptLabel, make("span", "rv-end", "0"), coinLine, make("span", "rv-end", "1"), coinLabel);
coinBox.append(make("h4", "", words.coin.title), coinScale, coinWhy);
