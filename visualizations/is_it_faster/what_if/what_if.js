// The sliders, and the two layers of the figure that follow them.

const words = props.words;
const NAMES = ["alpha", "c", "v"];
const NARROW = 520;
const part = (name) => element.querySelector(".wi-" + name);
const plot = element.querySelector(".ch-plot");
const sliders = {};
let shown = null; // what the figure was drawn from
let chosen = null; // alpha, c, v; null follows the measurement

function buildSliders() {
  for (const name of NAMES) {
    const row = document.createElement("label");
    row.className = "wi-row";
    const title = document.createElement("span");
    title.className = "wi-name";
    title.textContent = words.slider[name];
    const value = document.createElement("output");
    value.className = "wi-value";
    const input = document.createElement("input");
    input.type = "range";
    [input.min, input.max] = props.limits[name].map(String);
    input.step = "0.01";
    input.dataset.name = name;
    const meaning = document.createElement("small");
    meaning.textContent = words.slider_is[name];
    input.addEventListener("input", () => {
      chosen = read();
      drawPrediction();
    });
    row.append(title, input, value, meaning);
    part("sliders").append(row);
    sliders[name] = { input, value };
  }
}

function read() {
  return Object.fromEntries(NAMES.map((name) => [name, Number(sliders[name].input.value)]));
}

function figureNow() {
  const figure = JSON.parse(JSON.stringify(shown.figure)); // plotly writes into what it is given
  const { alpha, c, v } = read();
  const best = bestGamma(alpha, c, v, props.max_gamma);
  const { traces, axes } = props;
  const published = part("published").checked;
  const longest = published ? props.shown_gammas : Math.max(props.shown_gammas, best.gamma);
  const gammas = Array.from({ length: longest + 1 }, (_, gamma) => gamma);
  Object.assign(figure.data[traces.what_if], { x: gammas, y: gammas.map((gamma) => predictedSpeedup(alpha, c, v, gamma)) });
  Object.assign(figure.data[traces.best_what_if], { x: [best.gamma], y: [best.speedup] });
  for (const index of traces.published) figure.data[index].visible = published;
  const layout = figure.layout;
  Object.assign(layout.xaxis, published ? axes.published : axes.own);
  if (longest > props.shown_gammas) Object.assign(layout.xaxis, { range: [-0.4, longest + 0.5], tickvals: undefined, ticktext: undefined });
  layout.uirevision = String(published) + longest;
  layout.dragmode = matchMedia("(pointer: coarse)").matches ? false : "zoom";
  if (plot.clientWidth < NARROW) {
    layout.font = { ...layout.font, size: 12 };
    layout.margin = { ...layout.margin, l: 44 };
    layout.legend = { ...layout.legend, y: -0.2, yanchor: "top", font: { size: 12 } };
    layout.height += 130;
  }
  return { figure, best };
}

function drawPrediction() {
  if (!shown || !shown.figure) return;
  for (const name of NAMES) sliders[name].value.textContent = Number(sliders[name].input.value).toFixed(2);
  const { figure, best } = figureNow();
  const { alpha, c, v } = read();
  const values = { gamma: best.gamma, speedup: best.speedup.toFixed(2), alpha: alpha.toFixed(2), c: c.toFixed(2), v: v.toFixed(2) };
  part("best").textContent = fill(best.gamma ? words.best : words.best_none, values);
  part("best").dataset.gamma = best.gamma;
  part("source").hidden = !part("published").checked;
  plot.style.minHeight = figure.layout.height + "px";
  drawPlot(plot, figure.data, figure.layout);
}

function drawValue() {
  shown = props.value || {};
  const there = Boolean(shown.figure);
  const empty = element.querySelector(".ch-empty");
  empty.hidden = there;
  empty.textContent = words.empty;
  part("panel").hidden = plot.hidden = !there;
  element.querySelector(".ch-said").textContent = shown.said || "";
  plot.setAttribute("aria-label", words.chart + (shown.said ? ": " + shown.said : ""));
  if (!there) return;
  const stand = chosen || shown.start;
  for (const name of NAMES) sliders[name].input.value = String(stand[name]);
  drawPrediction();
}

part("title").textContent = words.title;
part("reset").textContent = words.reset;
part("published-name").textContent = words.published;
part("source").textContent = words.source;
part("reset").onclick = () => {
  chosen = null;
  drawValue();
};
part("published").addEventListener("change", drawPrediction);
buildSliders();
drawValue();
watch("value", drawValue);
keepDrawn(plot, drawPrediction);
