// A finished test: words at once, the charts replayed checkpoint by checkpoint.

const words = props.words;
const STEP_MS = 70;
const WISHES = ["ask_bars", "ask_loop", "ask_real"];
const root = element.querySelector(".sv");
const charts = [...element.querySelectorAll(".sv-chart")];
const still = matchMedia("(prefers-reduced-motion: reduce)");
let value = null;
let plotly = null;
let player = null;

function part(name) {
  return element.querySelector(".sv-" + name);
}

function drawWords() {
  root.className = "sv sv-" + (value.state === "fault" ? "fault-state" : value.state);
  root.dataset.state = value.state;
  root.dataset.source = value.source;
  part("headline").textContent = value.headline;
  part("lines").replaceChildren(...value.lines.map((line) => {
    const item = document.createElement("li");
    item.textContent = line;
    return item;
  }));
  const empty = value.figures.length === 0;
  element.querySelector(".sv-charts").hidden = empty;
  part("foot").hidden = empty;
}

// plotly writes into what it is given, so each draw gets its own copy.
function drawCharts(index) {
  if (!plotly || !value.figures.length) return;
  value.figures.forEach((figure, i) => {
    const data = figure.frames[index].data;
    const layout = JSON.parse(JSON.stringify(figure.layout));
    if (charts[i].clientWidth < 420 && i === 0) layout.xaxis.tickangle = -90;
    plotly.react(charts[i], JSON.parse(JSON.stringify(data)), layout, { responsive: true, displayModeBar: false });
    charts[i].setAttribute("aria-label", layout.title.text);
  });
  part("count").textContent = "n = " + value.checkpoints[index].toLocaleString("en");
}

function play() {
  clearInterval(player);
  const last = value.checkpoints.length - 1;
  if (last < 0) return;
  if (still.matches) return drawCharts(last);
  let index = 0;
  drawCharts(index);
  player = setInterval(() => {
    index = Math.min(last, index + 1);
    drawCharts(index);
    if (index === last || !element.isConnected) clearInterval(player);
  }, STEP_MS);
}

function take() {
  value = JSON.parse(JSON.stringify(props.value || {}));
  if (!value.state) return;
  drawWords();
  if (value.figures.length && !plotly) {
    plotlyReady().then((loaded) => { plotly = loaded; play(); }, () => { part("fault").textContent = words.figure_missing; });
  } else play();
}

part("replay").textContent = words.replay;
part("replay").addEventListener("click", play);
take();
watch("value", () => {
  take();
  passOn(WISHES.find((wish) => wish === value.ask), value.state === "waiting");
});
