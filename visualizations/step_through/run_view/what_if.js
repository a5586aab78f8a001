// What if: one thing changed at the selected position, and what follows from it, without a request. From there the
// models can go on, which makes a branch.

const whatBox = part("what");
const whatCoin = make("input");
const whatToken = make("select");
const whatSaid = make("p", "rv-what-said");
const whatForm = make("input");
const goOn = make("button", "rv-go", words.what.go);
const asItWas = make("button", "", words.what.reset);
const coinLabelled = labelled(words.what.coin, whatCoin);
const NEAREST = 1e-6; // a coin lies strictly between 0 and 1

function labelled(text, field) {
  const label = make("label", "", [text + " "]);
  label.append(field);
  return label;
}

function whatIfCoin(coin) {
  const here = current();
  if (!here || here.fact.coin === undefined || !Number.isFinite(coin)) return;
  setWhat("coin", Math.min(1 - NEAREST, Math.max(NEAREST, Math.round(coin * 1e4) / 1e4)));
}

function whatIfBar(i) {
  const here = current();
  if (!here || here.fact.kind === "discarded" || !(here.frame.ids[i] >= 0) || here.frame.ids[i] === null) return;
  setWhat("forced", here.frame.ids[i]);
}

function setWhat(kind, value) {
  pause();
  state.chosen = true;
  state.what = kind ? { kind, value } : null;
  drawWhat(current());
  drawCoin(current());
}

function drawWhat(here) {
  const { fact, frame } = here;
  show(whatBox, fact.kind !== "discarded");
  const { what } = state;
  show(coinLabelled, fact.coin !== undefined);
  if (document.activeElement !== whatCoin && fact.coin !== undefined) whatCoin.value = coinNow(here);
  drawTokenChoices(frame, what && what.kind === "forced" ? what.value : "");
  const said = what ? SAID[what.kind](here, what.value) : { pieces: words.what[fact.coin === undefined ? "nothing_thrown" : "nothing"], voids: false };
  write(whatSaid, said.pieces);
  show(asItWas, what !== null);
  goOn.disabled = Boolean(state.value.running);
  tokenButtons.forEach((button, i) => button.classList.toggle("rv-void", said.voids && i > state.index));
}

function drawTokenChoices(frame, chosen) {
  const { p, q } = masses(frame);
  const choice = (value, text) => Object.assign(make("option", "", text), { value });
  whatToken.replaceChildren(
    choice("", words.what.choose),
    ...frame.ids.flatMap((id, i) => (id === null ? [] : [asData(choice(id, fill(words.bars_row, { label: frame.labels[i], p: shown(p[i]), q: shown(q[i]) })))]))
  );
  whatToken.value = String(chosen);
}

// Each: the sentence in pieces, and whether the rest of the text would no longer be valid.
const SAID = {
  forced: ({ fact, frame }, id) => {
    const i = frame.ids.indexOf(id);
    const { p, q } = masses(frame);
    const values = { p: shown(p[i]), q: shown(q[i]) };
    const sentence = id === fact.id ? "same" : q[i] === null ? "forced_alone" : p[i] > 0 ? "forced" : "forced_never";
    return { pieces: pieces(words.what[sentence], values, { label: frame.labels[i] }), voids: id !== fact.id };
  },
  coin: (here, coin) => {
    const { fact, frame, round } = here;
    const [accept, thrown] = shownPair(fact.accept, coin);
    const values = { coin: thrown, accept };
    const texts = { draft: fact.kind === "replaced" ? fact.draft : fact.label };
    const passed = passes(fact, coin);
    if (state.value.rule === "block") return { pieces: fill(words.what[passed ? "block_passes" : "block_fails"], values), voids: passed !== passes(fact, fact.coin) };
    const before = fact.kind === "accepted";
    const told = pieces(words.what[passed ? (before ? "still_kept" : "kept") : before ? "rejected" : "still_rejected"], values, texts);
    if (before && !passed) told.push(" ", ...replacementSaid(frame, nextUniform(round)));
    return { pieces: told, voids: passed !== before };
  },
};

function replacementSaid(frame, uniform) {
  if (uniform === undefined || state.value.law === "unknown") return [words.what.replacement_unknown];
  const { sure, possible } = falls(frame, replacementMasses(frame), uniform);
  const values = { uniform: shown(uniform) };
  if (sure !== undefined) return pieces(words.what.replacement, values, { label: frame.labels[sure] });
  const labels = possible.map((i) => "‘" + frame.labels[i] + "’").join(" ");
  return pieces(words.what[possible.length ? "replacement_one_of" : "replacement_other"], values, { labels });
}

function askFor(wish) {
  tell("specdec:wish", { run: state.value.run, ...wish });
}

function goOnFromHere() {
  const { what } = state;
  askFor({ wish: "branch", at: state.index, change: what || { kind: "replay", value: null }, with_form: whatForm.checked });
}

Object.assign(whatCoin, { type: "number", min: 0, max: 1, step: 0.01 });
whatCoin.addEventListener("input", () => whatIfCoin(whatCoin.valueAsNumber));
whatToken.addEventListener("change", () => (whatToken.value === "" ? setWhat(null) : setWhat("forced", Number(whatToken.value))));
whatForm.type = "checkbox";
goOn.type = asItWas.type = "button";
goOn.addEventListener("click", goOnFromHere);
asItWas.addEventListener("click", () => setWhat(null));
whatSaid.setAttribute("role", "status");
{
  const fields = make("div", "rv-what-fields");
  fields.append(coinLabelled, labelled(words.what.token, whatToken));
  const buttons = make("div", "rv-what-fields");
  const form = make("label", "rv-what-form");
  form.append(whatForm, " " + words.what.with_form);
  buttons.append(goOn, asItWas, form);
  whatBox.append(make("h4", "", words.what.title), fields, whatSaid, buttons);
}
