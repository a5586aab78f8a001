// One frame of the figure for each policy.

const named = Object.fromEntries(props.policies.map((policy) => [policy, words.policy[policy]]));
const policies = choices(part("choices"), named, draw);

function draw() {
  const { figure, answers, said } = props.value || {};
  showPanel(Boolean(figure), said);
  if (!figure) return;
  const policy = policies.chosen();
  const frame = figure.frames.find((one) => one.name === policy);
  setText(part("answer"), frame ? answers[policy] : words.not_yet);
  plot.hidden = !frame;
  if (frame) drawFigure(plot, copy({ data: frame.data, layout: figure.layout }));
}

part("title").hidden = part("slider").hidden = true;
draw();
watch("value", draw);
keepDrawn(plot, draw);
