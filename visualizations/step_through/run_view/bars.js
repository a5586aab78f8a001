// The bars of the selected position. `tracesOf` and `xAxisOf` join a frame with the skeleton exactly as
// token_bars.py does; a test compares the two.

const figure = props.figure;
const TICK_LENGTH = 12;
const BARS_IN_WORDS = 5;
const chart = part("bars");
let barsFailed = false;
let zoom = null; // ranges chosen by hand, kept while stepping: { xaxis, yaxis }

function escaped(label) {
  return label.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("$", "&#36;");
}

function tickLabel(label) {
  const characters = [...spoken(label)];
  return escaped(characters.length <= TICK_LENGTH ? spoken(label) : characters.slice(0, TICK_LENGTH - 1).join("") + "…");
}

function hoverNumber(mass) {
  return mass === null ? figureWords.none : String(Number(mass.toPrecision(4)));
}

function masses(frame) {
  if (frame.target) return { p: frame.target, q: frame.target.map(() => null), overlap: frame.target.map(() => null) };
  const { overlap, excess, residual } = frame;
  return { p: overlap.map((m, i) => m + residual[i]), q: overlap.map((m, i) => m + excess[i]), overlap };
}

// No bar for a mass of 0: plotly would draw its outline as a line.
function drawn(list) {
  return list.map((mass) => mass || null);
}

function tracesOf(frame) {
  const x = frame.ids.map((_, i) => i);
  const nothing = { x: [null], y: [null] };
  const bars = frame.target
    ? [nothing, nothing, nothing, nothing, { x, y: drawn(frame.target) }]
    : [
        { x, y: drawn(frame.overlap) },
        { x, y: drawn(frame.excess), base: frame.overlap },
        { x, y: drawn(frame.overlap) },
        { x, y: drawn(frame.residual), base: frame.overlap },
        nothing,
      ];
  const { p, q, overlap } = masses(frame);
  const hover = {
    x,
    y: p.map((mass, i) => Math.max(mass, q[i] || 0, figure.floor)),
    customdata: frame.labels.map((label, i) => [
      escaped(label), hoverNumber(q[i]), hoverNumber(p[i]), hoverNumber(overlap[i]),
      frame.ids[i] === null ? figureWords.other_ids : frame.ids[i],
    ]),
  };
  return [...bars, hover, markAt(frame.drafted, figure.places[0]), markAt(frame.emitted, figure.places[1])];
}

function markAt(index, place) {
  return index === null ? { x: [null], y: [null] } : { x: [index + place], y: [0.5] };
}

function xAxisOf(frame) {
  const count = frame.ids.length;
  return {
    tickvals: frame.ids.map((_, i) => i),
    ticktext: frame.labels.map(tickLabel),
    range: [-0.6, Math.max(count, figure.slots) - 0.4],
  };
}

// plotly writes into the layout it is given, so each draw gets its own.
function barsFigure(frame) {
  const data = tracesOf(frame).map((addition, i) => ({ ...figure.data[i], ...addition }));
  const base = figure.layout;
  const log = state.scale === "log";
  const y = log ? { type: "log", range: [Math.log10(figure.floor), 0], dtick: 1 } : { range: [0, frame.top] };
  const narrow = chart.clientWidth < 520;
  const layout = {
    ...base,
    showlegend: false,
    dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
    xaxis: { ...base.xaxis, ...xAxisOf(frame), title: undefined, tickangle: narrow ? -90 : base.xaxis.tickangle },
    yaxis: { ...base.yaxis, ...y },
    yaxis2: { ...base.yaxis2 },
  };
  for (const axis in zoom) layout[axis].range = zoom[axis];
  return { data, layout };
}

function drawBars() {
  const here = current();
  if (!here) return;
  const { data, layout } = barsFigure(here.frame);
  if (drawPlot(chart, data, layout, { doubleClick: false })) {
    ticksAreData(chart);
    if (!chart.dataset.listens) listenToZoom();
  }
  chart.setAttribute("aria-label", words.bars + ": " + barsInWords(here.frame));
}

// The tallest bars, for those who can't see them.
function barsInWords(frame) {
  const { p, q } = masses(frame);
  const row = (label, i) => fill(words.bars_row, { label, p: shown(p[i]), q: shown(q[i]) });
  return frame.labels.slice(0, BARS_IN_WORDS).map(row).join("; ");
}

// plotly's own memory of a zoom lasts only while the ranges it is given stay the same; ours follow the position.
function listenToZoom() {
  chart.dataset.listens = "yes";
  chart.on("plotly_relayout", (change) => {
    for (const axis of ["xaxis", "yaxis"]) {
      const range = [change[axis + ".range[0]"], change[axis + ".range[1]"]];
      if (range[0] !== undefined) zoom = { ...zoom, [axis]: range };
    }
  });
  chart.on("plotly_click", ({ points }) => whatIfBar(Math.round(points[0].x)));
  chart.on("plotly_doubleclick", () => {
    zoom = null;
    drawBars();
  });
}

function drawLegend() {
  const names = ["overlap", "excess", "residual", "target"];
  part("legend").replaceChildren(
    make("span", "rv-key rv-columns", figureWords.columns),
    ...names.map((name) => {
      const item = make("span", "rv-key");
      item.append(make("i", "rv-swatch rv-fill-" + name), figureWords.legend[name]);
      return item;
    }),
    ...[["▲", "drafted"], ["●", "emitted"]].map(([sign, name]) => make("span", "rv-key", sign + " " + figureWords.legend[name]))
  );
}

function drawScaleButtons() {
  const box = part("scale");
  box.setAttribute("aria-label", words.controls.scale);
  for (const scale of ["linear", "log"]) {
    const button = make("button", "", words.controls[scale]);
    button.type = "button";
    button.dataset.scale = scale;
    button.setAttribute("aria-pressed", String(scale === state.scale));
    button.onclick = () => {
      state.scale = scale;
      zoom = null;
      for (const other of box.children) other.setAttribute("aria-pressed", String(other === button));
      drawNote();
      drawBars();
    };
    box.append(button);
  }
}

function drawNote() {
  const notes = [];
  if (barsFailed) notes.push(words.bars_missing);
  if (state.value.rule === "match") notes.push(words.controls.match_note);
  if (state.scale === "log") notes.push(words.controls.log_note);
  setText(part("note"), notes.join(" "));
}

drawLegend();
drawScaleButtons();
keepDrawn(chart, drawBars, () => { barsFailed = true; drawNote(); });
