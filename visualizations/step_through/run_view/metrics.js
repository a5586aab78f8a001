// The figures of the run, the settings that were really run, the prompt as fed, the answer as plain text.

const METRICS = ["tokens", "rounds", "per_round", "alpha", "speed"];
const metricItems = Object.fromEntries(METRICS.map((name) => [name, explained()]));

function drawMetrics() {
  const m = state.value.metrics;
  if (!m) return;
  const values = { ...m, per_round: ratio(m.per_round), alpha: ratio(m.alpha), speed: speed(m.speed), prefill: speed(m.prefill) };
  for (const name of METRICS) {
    const note = name === "alpha" ? words.metrics.alpha_note : "";
    explain(metricItems[name], String(values[name]), words.metrics[name], fill(words.metrics[name + "_is"], values), note);
  }
  show(part("rounding"), Boolean(state.value.rounding) && m.alpha !== null && m.alpha < 1);
  setText(part("rounding"), fill(words.rounding.run, { dtype: state.value.rounding, alpha: shown(m.alpha) }));
}

function ratio(number) {
  return number === null ? figureWords.none : number.toFixed(2);
}

function speed(number) {
  return number === null ? figureWords.none : number.toFixed(number < 10 ? 2 : 1);
}

function drawSettings() {
  setText(part("settings"), (state.value.settings || []).join(" · "));
}

function drawPrompt() {
  const { prompt = [], written = 0 } = state.value;
  const tokens = prompt.slice(0, prompt.length - written);
  show(part("prompt"), tokens.length > 0);
  setText(part("prompt").firstElementChild, fill(words.prompt, { count: tokens.length }));
  part("prompt-tokens").replaceChildren(
    ...tokens.map((token) => {
      const node = labelNode("span", "rv-fed" + (token.special ? " rv-special" : "") + (token.part ? " rv-part" : ""), token.label);
      node.title = extras(token);
      return node;
    })
  );
}

function drawTextTitle() {
  const { rounds, running, stop, metrics } = state.value;
  show(part("text"), rounds.length > 0);
  if (!rounds.length) return;
  const how = running ? words.running : words.stop[stop];
  setText(part("text").firstElementChild, fill(words.text, { count: metrics.tokens, stop: how }));
}

asData(part("output"));
part("metrics").append(...METRICS.map((name) => metricItems[name].box));
part("metrics").setAttribute("aria-label", words.metrics.group);
