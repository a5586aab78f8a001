// plotly on the page: its own script from the Python package, loaded once however many parts ask for it, and
// plots that are drawn where they are seen. Loading it here and not in the page's head lets the tokens appear
// while it is still on its way.

function plotlyReady() {
  if (window.Plotly) return Promise.resolve();
  if (!window.specdecPlotly) {
    window.specdecPlotly = new Promise((resolve, reject) => {
      const script = document.createElement("script");
      const root = (window.gradio_config && window.gradio_config.root) || "";
      script.src = window.specdecPlotlyUrl || root.replace(/\/$/, "") + "/gradio_api/file=" + props.plotly_js; // a page without a server has its own
      script.onload = () => resolve();
      script.onerror = reject;
      document.head.append(script);
    });
  }
  return window.specdecPlotly;
}

// Calls `draw` once plotly is there, and again whenever the box comes into view or changes its width.
function keepDrawn(box, draw, missing = () => {}) {
  onWidth(box, draw);
  onLanguage(box, draw);
  whileShown(box, "specdec:projector", () => draw());
  plotlyReady().then(draw, missing);
}

// In projector mode a figure has the type and the room that the back of a class needs.
const PROJECTED = { type: 24, share: 0.017, margin: 1.6, height: 0.52 }; // px, of the width, times as wide, of the height

function withLargeType(part) {
  if (Array.isArray(part)) return typeof part[0] === "object" ? part.map(withLargeType) : part;
  if (!part || typeof part !== "object" || ArrayBuffer.isView(part)) return part;
  const grown = {};
  for (const [name, value] of Object.entries(part)) {
    grown[name] = withLargeType(value);
    if (name.endsWith("font") && value) grown[name].size = Math.max(PROJECTED.type, PROJECTED.share * innerWidth, value.size || 0);
  }
  return grown;
}

function projected(data, layout) {
  if (!document.body.classList.contains("projector")) return { data, layout };
  const grown = withLargeType({ font: {}, ...layout });
  for (const side of Object.keys(grown.margin || {})) grown.margin[side] *= PROJECTED.margin;
  if (grown.height) grown.height = Math.max(grown.height, PROJECTED.height * innerHeight);
  return { data: withLargeType(data), layout: grown };
}

// Draws into the box, as wide as it is; false while plotly isn't there or the box can't be seen. The width is
// given since plotly looks for it only once.
function drawPlot(box, data, layout, config = {}) {
  const width = box.clientWidth;
  if (!window.Plotly || !width) return false;
  if (box.layout && box.layout.width !== width) window.Plotly.relayout(box, { width }); // react leaves the legend behind
  const shown = projected(spokenAll(data), spokenAll(layout));
  window.Plotly.react(box, shown.data, { ...shown.layout, width }, { displayModeBar: false, ...config });
  for (const drawing of [box.firstElementChild, document.getElementById("js-plotly-tester")]) {
    if (drawing) drawing.setAttribute("aria-hidden", "true"); // the box itself has the name
  }
  return true;
}

// The ticks of a plot are tokens, and so is what it says on hover.
function ticksAreData(box) {
  for (const layer of box.querySelectorAll(".xaxislayer-above, .xaxislayer-below, .hoverlayer")) asData(layer);
}
