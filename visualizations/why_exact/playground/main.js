// Joins the parts. A drag redraws at most once a frame; another set of tokens builds the bars anew.

let waiting = false;
let redraws = 0;

function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    drawAll();
  });
}

function drawAll() {
  redraws++;
  element.dataset.redraws = redraws;
  drawBars();
  drawTable();
  drawStep();
  drawFlow();
  drawBest();
  drawLaws();
  drawCandidates();
}

function rebuild() {
  fitTop();
  buildBars();
  nameBars();
  buildTable();
  buildLaws();
  buildCandidates();
  drawAxis();
  drawAll();
}

function drawSource() {
  setText(part("source"), state.note || words.preset_is[state.source] || words.preset_is.own);
  for (const button of part("presets").querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button.dataset.preset === state.source));
  }
}

function take(value) {
  if (!value || !Array.isArray(value.tokens) || value.tokens.length < MIN_TOKENS) return;
  state.tokens = copyOf(value.tokens);
  state.unit = value.unit || 100;
  state.source = value.source || "own";
  state.note = value.note || "";
  drawSource();
  rebuild();
}

function buildPresets() {
  const buttons = Object.entries(props.presets).map(([key, value]) => {
    const button = make("button", "", words.preset[key]);
    button.type = "button";
    button.dataset.preset = key;
    button.addEventListener("click", () => {
      take({ ...copyOf(value), source: key });
      settle();
    });
    return button;
  });
  const selected = make("button", "", words.preset.loaded);
  selected.type = "button";
  selected.dataset.preset = "loaded";
  selected.title = words.load_is;
  selected.addEventListener("click", () => trigger("load_selected"));
  part("presets").replaceChildren(make("span", "pg-presets-name", words.presets), ...buttons, selected);
}

for (const name of ["hint", "hint-touch", "steps-title", "flow-is", "best-title", "set-is", "add"]) {
  setText(part(name), words[name.replace("-", "_")]);
}
part("region").setAttribute("aria-label", words.region);
part("bars").setAttribute("aria-label", words.columns);
flow.setAttribute("aria-label", words.flow_name);
buildPresets();
drawLegend();
buildStepper();
take(copyOf(props.value));
chooseStep(0, false);
watch("value", () => take(copyOf(props.value)));
new ResizeObserver(() => {
  flowWidth = Math.max(280, flow.clientWidth || flowWidth);
  redraw();
}).observe(flow);
loadKatex().then((loaded) => { katex = loaded.default; drawAll(); }, () => setText(part("step-note"), words.formula_missing));
