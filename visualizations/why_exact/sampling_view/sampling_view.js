// A finished test: words at once, the charts replayed checkpoint by checkpoint.

const words = props.words;
const STEP_MS = 70;
const WISHES = ["ask_bars", "ask_loop", "ask_real"];
const root = element.querySelector(".sv");
const charts = [...element.querySelectorAll(".sv-chart")];
const still = matchMedia("(prefers-reduced-motion: reduce)");
let value = null;
let shown = 0; // checkpoint
let player = null;
let missing = false; // plotly

function part(name) {
  return element.querySelector(".sv-" + name);
}

function drawWords() {
  root.className = "sv sv-" + (value.state === "fault" ? "fault-state" : value.state);
  root.dataset.state = value.state;
  root.dataset.source = value.source;
  part("headline").textContent = value.headline;
  part("lines").replaceChildren(...value.lines.map((line) => make("li", "", line)));
  const empty = value.figures.length === 0;
  element.querySelector(".sv-charts").hidden = empty;
  part("foot").hidden = empty;
  setText(part("fault"), missing && !empty ? words.figure_missing : "");
}

// plotly writes into what it is given, so each draw gets its own copy.
function drawChart(i) {
  const figure = value && value.figures[i];
  if (!figure) return;
  const { data, layout } = JSON.parse(JSON.stringify({ data: figure.frames[shown].data, layout: figure.layout }));
  if (charts[i].clientWidth < 420 && i === 0) layout.xaxis.tickangle = -90;
  charts[i].setAttribute("aria-label", layout.title.text);
  if (drawPlot(charts[i], data, layout) && i === 0) ticksAreData(charts[i]);
}

function drawCheckpoint(index) {
  shown = index;
  charts.forEach((_, i) => drawChart(i));
  setText(part("count"), "n = " + value.checkpoints[index].toLocaleString("en"));
}

function play() {
  clearInterval(player);
  const last = value.checkpoints.length - 1;
  if (last < 0) return;
  if (still.matches) return drawCheckpoint(last);
  let index = 0;
  drawCheckpoint(index);
  player = setInterval(() => {
    index = Math.min(last, index + 1);
    drawCheckpoint(index);
    if (index === last || !element.isConnected) clearInterval(player);
  }, STEP_MS);
}

function take() {
  value = JSON.parse(JSON.stringify(props.value || {}));
  if (!value.state) return;
  drawWords();
  play();
}

part("replay").textContent = words.replay;
part("replay").addEventListener("click", play);
take();
watch("value", () => {
  take();
  passOn(WISHES.find((wish) => wish === value.ask), value.state === "waiting");
});
charts.forEach((chart, i) => keepDrawn(chart, () => drawChart(i), () => { missing = true; drawWords(); }));
