// Plain decoding of the same prompt, once it has run: which was faster, and whether both wrote the same.

const besideItem = explained();
const lead = make("button", "rv-lead", words.beside.lead);

function drawBeside() {
  const { beside, metrics } = state.value;
  for (const node of [besideItem.box, lead]) show(node, Boolean(beside));
  show(part("beside"), Boolean(beside) && beside.compared !== null);
  if (!beside) return;
  const [tokens, plain_tokens] = beside.tokens;
  const [seconds, plain_seconds] = beside.seconds.map(speed);
  const { device, dtype } = metrics;
  const tip = fill(words.beside.is, { tokens, plain_tokens, seconds, plain_seconds, device, dtype });
  const slower = beside.speedup !== null && Number(ratio(beside.speedup)) < 1;
  explain(besideItem, ratio(beside.speedup) + "×", slower ? words.beside.slower : words.beside.faster, tip);
  write(part("beside"), textsCompared(beside));
}

function textsCompared({ compared, parting }) {
  if (compared === null) return "";
  if (!parting) return fill(words.beside.same, { count: compared });
  const [here, plain] = parting.labels;
  const [p_here, p_plain] = shownPair(...parting.odds);
  const gap = shown(Math.abs(parting.odds[0] - parting.odds[1]));
  const sentence = words.beside[parting.near ? "near" : "far"];
  return pieces(sentence, { number: parting.number, p_here, p_plain, gap }, { here, plain });
}

explain(besideItem, figureWords.none, words.beside.faster, ""); // a control has a name, seen or not
lead.type = "button";
lead.addEventListener("click", () => trigger("measure"));
part("metrics").append(besideItem.box, lead);
