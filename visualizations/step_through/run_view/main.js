// Joins the parts: draws a new value, and a new selection.

function drawSelection(moveFocus) {
  const here = current();
  show(part("controls"), here !== null);
  show(part("main"), here !== null);
  markSelected(moveFocus);
  if (!here) return;
  drawPlace();
  drawSentence(here);
  drawCoin(here);
  drawResidual(here);
  drawBars();
}

// A person moved: the view stays there, however the run goes on.
function choose(index, moveFocus) {
  const inside = Math.max(0, Math.min(state.flat.length - 1, index));
  if (!state.flat.length) return;
  state.chosen = true;
  if (inside !== state.index) {
    state.index = inside;
    drawSelection(moveFocus);
    const { round, place } = current();
    trigger("select", { index: inside, round, place });
  } else if (moveFocus) markSelected(true);
}

let runShown = "";

function drawValue() {
  const wasThere = state.index;
  state.value = JSON.parse(JSON.stringify(props.value || { rounds: [], frames: [] }));
  state.flat = flatten(state.value);
  const run = JSON.stringify([state.value.settings, state.value.prompt]);
  const sameRun = drawStrip() && run === runShown;
  runShown = run;
  if (!sameRun) {
    state.chosen = false;
    pause();
  }
  const { running, rounds } = state.value;
  if (!sameRun && !running) state.index = firstToShow();
  else if (running && !state.chosen) state.index = newestToken();
  else state.index = Math.min(state.index, state.flat.length - 1);
  part("sentence").setAttribute("aria-live", running && !state.chosen ? "off" : "polite");
  part("region").classList.toggle("rv-running", running);
  show(part("empty"), rounds.length === 0);
  setText(part("empty"), running ? words.waiting : words.empty);
  for (const name of ["metrics", "settings", "rounding", "fates", "strip"]) show(part(name), rounds.length > 0);
  drawMetrics();
  drawSettings();
  drawPrompt();
  drawText();
  drawNote();
  if (!sameRun || state.index !== wasThere) drawSelection(false);
  else if (state.flat.length) drawPlace();
}

part("region").setAttribute("aria-label", words.region);
drawValue();
watch("value", drawValue);
