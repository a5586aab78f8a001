// Ten coins, one after the other: a prediction, then the coin drops.

const words = props.words;
const { key, coins, always, truth } = props.value;
const guesses = []; // the chance that one gave the draft to be kept, for each coin so far

function part(name) {
  return element.querySelector(".cg-" + name);
}

function tell(detail) {
  document.dispatchEvent(new CustomEvent("specdec:answered", { detail }));
}

function shown(number) {
  return String(Number(number.toPrecision(3))); // enough for a quotient to agree with what it is said to be
}

function current() {
  return coins[Math.min(asking, coins.length - 1)];
}

let asking = 0; // index of the coin on screen

function column(name, meanings, total, top) {
  const box = make("div", "cg-column");
  const stack = make("div", "cg-stack");
  for (const [meaning, mass] of meanings) {
    const bar = make("i", "fill-" + meaning);
    bar.style.height = (100 * mass) / top + "%";
    stack.append(bar);
  }
  box.append(make("span", "cg-number", shown(total)), stack, make("span", "cg-name", name));
  return box;
}

function drawBars({ p, q }) {
  const both = Math.min(p, q);
  const top = Math.max(p, q);
  part("bars").replaceChildren(
    column(words.small, [["overlap", both], ["excess", q - both]], q, top),
    column(words.big, [["overlap", both], ["residual", p - both]], p, top)
  );
  part("bars").setAttribute("aria-label", fill(words.bars, { p: shown(p), q: shown(q) }));
}

function ask(index) {
  asking = index;
  const coin = current();
  setText(part("place"), fill(words.place, { coin: index + 1, coins: coins.length }));
  part("text").replaceChildren(asData(make("span", "cg-before", coin.before)), asData(make("b", "cg-draft", coin.draft)));
  drawBars(coin);
  setAnswered(false);
  write(part("said"), "");
}

// What stays hidden until the prediction is made.
function setAnswered(yes) {
  part("line-box").hidden = !yes;
  part("next").hidden = !yes;
  for (const name of ["keep", "reject"]) {
    part(name).disabled = yes;
    if (!yes) part(name).setAttribute("aria-pressed", "false");
  }
}

function guess(keeps) {
  const coin = current();
  const sure = part("sure").querySelector("input").valueAsNumber / 100;
  const right = keeps === coin.kept;
  guesses.push(keeps ? sure : 1 - sure);
  setAnswered(true);
  part(keeps ? "keep" : "reject").setAttribute("aria-pressed", "true");
  part("fill").style.width = 100 * coin.accept + "%";
  part("rest").style.width = 100 * (1 - coin.accept) + "%";
  part("dot").style.left = 100 * coin.coin + "%";
  const values = { accept: shown(coin.accept), coin: shown(coin.coin), p: shown(coin.p), q: shown(coin.q), verdict: words[right ? "right" : "wrong"] };
  const sentence = coin.accept >= 1 ? "kept_sure" : coin.kept ? "kept" : "rejected";
  write(part("said"), pieces(words[sentence], values, { instead: coin.instead }));
  const last = asking === coins.length - 1;
  setText(part("next"), last ? words.to_score : words.next);
  part("next").focus({ preventScroll: true });
  tell({ question: key + "." + asking, answer: keeps ? 0 : 1, right });
}

function onNext() {
  if (asking < coins.length - 1) ask(asking + 1);
  else drawScore();
}

function brier() {
  return guesses.reduce((sum, chance, i) => sum + (chance - Number(coins[i].kept)) ** 2, 0) / coins.length;
}

function drawScore() {
  const count = guesses.filter((chance, i) => (chance >= 0.5) === coins[i].kept).length;
  const mine = brier();
  setText(part("score-said"), fill(words.score, { count, coins: coins.length }));
  const rows = [["you", mine], ["always", always], ["truth", truth]].map(([name, score]) => {
    const row = make("tr");
    row.append(make("th", "", words.players[name]), make("td", "", score.toFixed(3)));
    return row;
  });
  part("score").querySelector("tbody").replaceChildren(...rows);
  showScore(true);
  tell({ question: key, answer: count, right: mine < always });
}

function showScore(yes) {
  for (const name of ["game", "place", "text"]) part(name).hidden = yes;
  part("score").hidden = !yes;
}

function begin() {
  guesses.length = 0;
  showScore(false);
  ask(0);
}

function drawSure() {
  setText(part("sure").firstElementChild, fill(words.sure, { sure: part("sure").querySelector("input").value }));
}

for (const [name, act] of [["keep", () => guess(true)], ["reject", () => guess(false)], ["next", onNext], ["anew", begin]]) {
  setText(part(name), words[name]);
  part(name).addEventListener("click", act);
}
setText(part("numbers").querySelector("span"), words.numbers);
part("numbers").querySelector("input").addEventListener("change", (event) => element.querySelector(".cg").classList.toggle("cg-numbered", event.target.checked));
part("sure").querySelector("input").addEventListener("input", drawSure);
part("guess").setAttribute("aria-label", words.guess);
setText(part("score-title"), words.score_title);
setText(part("score-is"), words.score_is);
drawSure();
begin();
