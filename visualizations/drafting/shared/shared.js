// The slider for alpha, and the lines that follow it.

const alpha = slider(part("slider"), (value) => {
  chosen = value;
  draw();
});
let chosen = null; // null follows the measurement

function draw() {
  const { figure, costs, alpha: start, said } = props.value || {};
  showPanel(Boolean(figure), said);
  if (!figure) return;
  const at = chosen === null ? start : chosen;
  alpha.set({ name: words.slider, is: words.slider_is, min: 0, max: 1, step: 0.01, value: at });
  alpha.say(at.toFixed(2));
  const best = props.batches.map((batch) => bestShared(at, batch, costs, props.max_gamma));
  setText(part("answer"), answer(best));
  drawFigure(plot, moved(copy(figure), at, costs, best));
}

function moved(figure, at, costs, best) {
  const widest = costs.target[costs.target.length - 1][0];
  for (const gamma of props.gammas) {
    figure.data[props.traces["gamma" + gamma]].y = props.batches.map((batch) =>
      batch * (gamma + 1) <= widest ? sharedSpeedup(at, gamma, batch, costs) : null);
  }
  const line = figure.data[props.traces.best];
  line.y = best.map(({ speedup }) => speedup);
  line.text = best.map(({ gamma }) => "γ = " + gamma);
  return figure;
}

function answer(best) {
  const last = best.length - 1;
  const values = {
    first: best[0].speedup.toFixed(2), first_gamma: best[0].gamma, most: props.batches[last],
    last: best[last].speedup.toFixed(2), last_gamma: best[last].gamma,
  };
  const never = best.findIndex(({ gamma }) => gamma === 0);
  if (never < 0) return fill(words.answer, values);
  return fill(never ? words.answer_until : words.answer_never, { ...values, until: props.batches[never] });
}

part("choices").hidden = part("title").hidden = true;
draw();
watch("value", draw);
keepDrawn(plot, draw);
