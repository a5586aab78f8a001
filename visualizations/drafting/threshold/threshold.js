// The slider, and the columns that follow it.

const kinds = choices(part("choices"), words.kind, begin);
const threshold = slider(part("slider"), draw);
const total = (list, of) => list.reduce((sum, one) => sum + of(one), 0);

function begin(kind) {
  threshold.set({ ...props.sliders[kind], name: words.slider[kind], is: words.slider_is[kind] });
  draw();
}

function draw() {
  const { figure, rounds, costs, said } = props.value || {};
  showPanel(Boolean(figure), said);
  if (!figure) return;
  const kind = kinds.chosen();
  const at = threshold.now();
  const cuts = rounds.map((round) => cutRound(round, kind, at));
  threshold.say(fill(words.value[kind], { value: at.toFixed(2) }));
  setText(part("answer"), answer(rounds, cuts, costs));
  drawFigure(plot, moved(copy(figure), rounds, cuts));
}

function moved(figure, rounds, cuts) {
  const heights = {
    kept: cuts.map((cut) => cut.accepted),
    rejected: cuts.map((cut) => cut.tested - cut.accepted),
    wasted: cuts.map((cut) => cut.wasted),
    undrafted: cuts.map((cut, i) => rounds[i].chances.length - cut.drafted),
  };
  for (const [name, y] of Object.entries(heights)) figure.data[props.traces[name]].y = y.map((height) => height || null);
  figure.data[props.traces.undrafted].showlegend = true;
  return figure;
}

function answer(rounds, cuts, costs) {
  const values = {
    drafts: total(cuts, (cut) => cut.drafted),
    all: total(rounds, (round) => round.chances.length),
    lost: total(rounds, (round) => round.accepted) - total(cuts, (cut) => cut.accepted),
    kept: total(rounds, (round) => round.accepted),
    saved: total(rounds, (round) => round.chances.length - round.tested) - total(cuts, (cut) => cut.wasted),
  };
  const counted = fill(words.counted, values);
  if (!costs) return counted;
  const { perRound, speedup } = worthOf(cuts, costs);
  return counted + " " + fill(words.worth, { per_round: perRound.toFixed(2), speedup: speedup.toFixed(2) });
}

setText(part("title"), words.title);
begin(kinds.chosen());
watch("value", draw);
keepDrawn(plot, draw);
