// The lines of the watched tokens: x is the position in reading order, y the token's p_big and p_small there.

const REDRAW_MS = 400;
const LINES_HEIGHT = 270;
const lines = part("lines");
let linesOf = null; // the run that is drawn
let redrawTimer = null;

// p, q: null where there is none; below: whether the token has no bar of its own there.
function valueAt({ id }, { frame }) {
  const at = frame.ids.indexOf(id);
  if (at < 0) return { p: null, q: null, below: true };
  const { p, q } = masses(frame);
  return { p: p[at], q: q[at], below: false };
}

function onScale(mass) {
  return mass === null || state.scale === "linear" ? mass : Math.max(mass, figure.floor);
}

function linesOfToken(token, row, values) {
  const x = values.map((_, i) => i + 1);
  const below = x.filter((_, i) => values[i].below);
  const line = { type: "scatter", mode: "lines+markers", hoverinfo: "skip", cliponaxis: false, x };
  return [
    { ...line, y: values.map(({ p }) => onScale(p)), line: { color: token.color, width: 2 }, marker: { size: 5 } },
    {
      ...line, y: values.map(({ q }) => onScale(q)), line: { color: token.color, width: 2, dash: "4px,4px" },
      marker: { size: 8, symbol: "triangle-up-open" },
    },
    {
      type: "scatter", mode: "lines", hoverinfo: "skip", yaxis: "y2", opacity: 0.4, line: { color: token.color, width: 2 },
      x: below.flatMap((at) => [at - 0.5, at + 0.5, null]), y: below.flatMap(() => [row, row, null]),
    },
    nameAtPeak(token, values),
  ];
}

// The token's label where its line is highest.
function nameAtPeak({ label }, values) {
  const heights = values.map(({ p, q }) => Math.max(p, q));
  const peak = Math.max(...heights);
  const at = heights.indexOf(peak);
  const side = at < 0.1 * heights.length ? " right" : at > 0.9 * heights.length ? " left" : " center";
  const name = { type: "scatter", mode: "text", hoverinfo: "skip", cliponaxis: false, textposition: "top" + side };
  return peak > 0 ? { ...name, x: [at + 1], y: [onScale(peak)], text: [tickLabel(label)] } : { ...name, x: [], y: [] };
}

// Invisible points, one a position, however far a pointer is: hover and click find every position.
function linesHover(all) {
  const x = state.flat.map((_, i) => i + 1);
  const told = (i) => watched.map((token, t) => valueInWords(escaped(token.label), all[t][i], hoverNumber));
  return {
    type: "scatter", mode: "markers", marker: { opacity: 0, size: 1 }, hovertemplate: "%{customdata}<extra></extra>", x,
    y: x.map((_, i) => onScale(Math.max(0, ...all.map((values) => Math.max(values[i].p, values[i].q))))),
    customdata: x.map((at, i) => [figureWords.position + at, ...told(i)].join("<br>")),
  };
}

function valueInWords(label, { p, q, below }, number) {
  return below ? fill(words.watch.row_below, { label }) : fill(words.bars_row, { label, p: number(p), q: number(q) });
}

// A zoom by hand stays until the scale or the run is another one.
function linesLayout() {
  const base = figure.layout;
  const log = state.scale === "log";
  return {
    ...base,
    height: LINES_HEIGHT,
    margin: { ...base.margin, t: 26, b: 46 },
    showlegend: false,
    hovermode: "x",
    hoverdistance: -1,
    dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
    uirevision: state.scale + state.value.run,
    xaxis: {
      anchor: "y2", showgrid: false, zeroline: false, title: { text: words.watch.positions, standoff: 6 },
      autorangeoptions: { minallowed: 0, maxallowed: state.flat.length + 1 },
    },
    yaxis: {
      ...base.yaxis, domain: [0.15, 1], rangemode: "tozero",
      ...(log ? { type: "log", range: [Math.log10(figure.floor), 0], dtick: 1 } : { range: undefined }),
    },
    yaxis2: { ...base.yaxis2, domain: [0, 0.11], range: [watchColors.length - 0.5, -0.5] },
    shapes: [placeLine()],
  };
}

function placeLine() {
  const at = state.index + 1;
  return { type: "line", yref: "paper", x0: at, x1: at, y0: 0, y1: 1, line: { width: 1.5 } };
}

function drawLines() {
  clearTimeout(redrawTimer);
  redrawTimer = null;
  if (!watched.length || !current()) return;
  const all = watched.map((token) => state.flat.map((item) => valueAt(token, item)));
  const data = watched.flatMap((token, t) => linesOfToken(token, t, all[t]));
  if (drawPlot(lines, [...data, linesHover(all)], linesLayout())) {
    for (const layer of lines.querySelectorAll(".scatterlayer, .hoverlayer")) asData(layer);
    if (!linesOf) lines.on("plotly_click", ({ points }) => chooseInLines(points[0].x - 1));
    linesOf = state.value.run;
  }
  nameLines();
}

// What is above changes its height with the position: the lines stay where the pointer is.
function chooseInLines(index) {
  const { top } = lines.getBoundingClientRect();
  pause();
  choose(index, false);
  window.scrollBy({ top: lines.getBoundingClientRect().top - top, behavior: "instant" });
}

// What the lines show at the selected position, for those who can't see them.
function nameLines() {
  const row = (token) => valueInWords(token.label, valueAt(token, current()), shown);
  lines.setAttribute("aria-label", words.watch.chart + ": " + watched.map(row).join("; "));
}

// Another position is selected: only the mark moves.
function followWatched() {
  if (!watched.length) return;
  if (linesOf !== state.value.run) return drawLines();
  window.Plotly.relayout(lines, { shapes: [placeLine()] });
  nameLines();
}

function redrawSoon() {
  if (watched.length && redrawTimer === null) redrawTimer = setTimeout(drawLines, REDRAW_MS);
}

part("scale").addEventListener("click", drawLines);
keepDrawn(lines, drawLines);
