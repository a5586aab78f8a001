// The argument, one step at a time. Every number comes from the bars as they are now.

// For each step: its formula as TeX and as text, and its numbers token by token.
const STEPS = [
  ({ q }) => ({
    tex: `\\sum_x ${SMALL}(x) = ${termsTex(q)} = ${shown(state.unit)}`,
    plain: `Σ p_small = ${termsText(q)} = ${shown(state.unit)}`,
    rows: [],
  }),
  ({ q, overlap, sums }) => ({
    tex: `\\beta = \\sum_x \\min\\big(${SMALL}(x), ${BIG}(x)\\big) = ${termsTex(overlap, "overlap")} = ${colored("overlap", shown(sums.overlap))}`,
    plain: `β = Σ min(p_small, p_big) = ${termsText(overlap)} = ${shown(sums.overlap)}`,
    rows: state.tokens.map((token, i) => [
      token.name, q[i] ? [["", shown(q[i]) + " × "], ["", shownShare(overlap[i] / q[i], 1) + " = "], ["overlap", shown(overlap[i])]] : [["", words.never_drafted]],
    ]),
  }),
  ({ excess, sums }) => ({
    tex: `\\sum_x \\max\\big(0, ${SMALL}(x) - ${BIG}(x)\\big) = ${termsTex(excess, "excess")} = ${colored("excess", shown(sums.excess))} = 1 - \\beta`,
    plain: `Σ max(0, p_small − p_big) = ${termsText(excess)} = ${shown(sums.excess)} = 1 − β`,
    rows: [],
  }),
  ({ residual, sums }) => ({
    tex: `\\sum_x \\max\\big(0, ${BIG}(x) - ${SMALL}(x)\\big) = ${termsTex(residual, "residual")} = ${colored("residual", shown(sums.residual))} = 1 - \\beta`,
    plain: `Σ max(0, p_big − p_small) = ${termsText(residual)} = ${shown(sums.residual)} = 1 − β`,
    rows: [],
  }),
  ({ residual, sums }) => ({
    tex: `\\begin{aligned} r(x) &= \\frac{\\max(0, ${BIG}(x) - ${SMALL}(x))}{${colored("residual", shown(sums.residual))}} \\\\ (1-\\beta)\\, r(x) &= \\max\\big(0, ${BIG}(x) - ${SMALL}(x)\\big) \\end{aligned}`,
    plain: `r = max(0, p_big − p_small) / ${shown(sums.residual)}`,
    rows: sums.residual ? state.tokens.map((token, i) => [
      token.name, [["excess", shown(sums.excess)], ["", " × " + shownShare(residual[i] / sums.residual, 1) + " = "], ["residual", shown(residual[i])]],
    ]) : [],
  }),
  ({ overlap, residual, p }) => ({
    tex: `\\min(${SMALL}, ${BIG}) + \\max(0, ${BIG} - ${SMALL}) = ${BIG}`,
    plain: "min(p_small, p_big) + max(0, p_big − p_small) = p_big",
    rows: state.tokens.map((token, i) => [
      token.name, [["overlap", shown(overlap[i])], ["", " + "], ["residual", shown(residual[i])], ["", " = " + shown(p[i])]],
    ]),
  }),
];

function today() {
  const parts = state.tokens.map(partsOf);
  return {
    q: state.tokens.map((token) => token.q),
    p: state.tokens.map((token) => token.p),
    overlap: parts.map((masses) => masses.overlap),
    excess: parts.map((masses) => masses.excess),
    residual: parts.map((masses) => masses.residual),
    sums: totals(),
  };
}

function drawStep() {
  const numbers = today();
  const { sums } = numbers;
  const said = words.steps[state.step];
  const step = STEPS[state.step](numbers);
  const filled = { beta: shown(sums.overlap), excess: shown(sums.excess), residual: shown(sums.residual) };
  setText(part("step-title"), `${state.step + 1}. ${said.title}`);
  setText(part("step-text"), fill(said.text, filled));
  drawFormula(part("formula"), step.tex, step.plain);
  drawRows(step.rows);
  write(part("step-note"), state.step === 4 ? whyNot(numbers, said) : "");
  part("formula").hidden = state.step === 4 && !sums.residual;
}

// What would happen to the token that suffers most if the replacement came from p_big itself.
function whyNot({ p, overlap, sums }, said) {
  if (!sums.residual) return said.none;
  const wrong = p.map((mass, i) => overlap[i] + (sums.excess * mass) / state.unit);
  let worst = 0;
  wrong.forEach((mass, i) => { if (mass - p[i] > wrong[worst] - p[worst]) worst = i; });
  if (shown(wrong[worst]) === shown(p[worst])) return "";
  return pieces(said.why_not, { wrong: shown(wrong[worst]), right: shown(p[worst]) }, { name: state.tokens[worst].name });
}

function drawRows(rows) {
  const list = part("rows");
  while (list.children.length > rows.length) list.lastChild.remove();
  rows.forEach(([name, pieces], i) => {
    let row = list.children[i];
    if (!row) {
      row = make("li");
      row.append(asData(make("span", "pg-row-name")), make("span", "pg-row-sum"));
      list.append(row);
    }
    setText(row.firstChild, quoted(name));
    const line = row.lastChild;
    while (line.children.length > pieces.length) line.lastChild.remove();
    pieces.forEach(([meaning, text], k) => {
      const piece = line.children[k] || line.appendChild(make("span"));
      piece.className = meaning ? "pg-ink-" + meaning : "";
      setText(piece, text);
    });
  });
}

// Nothing is dimmed before a step was chosen by hand: data-step is 0 then.
function chooseStep(step, byHand) {
  state.step = Math.max(0, Math.min(STEPS.length - 1, step));
  part("region").dataset.step = byHand ? state.step + 1 : 0;
  for (const button of part("stepper").querySelectorAll("[data-step]")) {
    button.setAttribute("aria-current", Number(button.dataset.step) === state.step ? "step" : "false");
  }
  part("stepper").firstChild.disabled = state.step === 0;
  part("stepper").lastChild.disabled = state.step === STEPS.length - 1;
  drawStep();
}

function buildStepper() {
  const arrow = (sign, by, label) => {
    const button = make("button", "pg-arrow", sign);
    button.type = "button";
    button.title = label;
    button.setAttribute("aria-label", label);
    button.addEventListener("click", () => chooseStep(state.step + by, true));
    return button;
  };
  const numbers = words.steps.map((said, i) => {
    const button = make("button", "pg-step-button");
    button.type = "button";
    button.dataset.step = i;
    button.title = said.title;
    button.setAttribute("aria-label", fill(words.step_name, { step: i + 1 }) + ": " + said.title);
    button.append(make("b", "", String(i + 1)), make("small", "", said.short));
    button.addEventListener("click", () => chooseStep(i, true));
    return button;
  });
  part("stepper").replaceChildren(arrow("‹", -1, words.previous), ...numbers, arrow("›", 1, words.next));
}
