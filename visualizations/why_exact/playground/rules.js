// Every rule's law beside p_big: how often it keeps a draft, how far off it is, and what comes out.

const lawRows = new Map();

function ruleWords(rule) {
  const values = { epsilon: params.epsilon, delta: params.delta, lenience: params.lenience, k: params.k, weight: params.weight, other: 1 - params.weight };
  return fill(words.rules[rule].is, values);
}

function buildLaws() {
  const head = make("div", "pg-law pg-law-head");
  for (const name of ["law_rule", "law_accept", "law_tv", "law_law"]) head.append(make("span", "", words[name]));
  const built = Object.keys(RULES).map(lawRow);
  part("laws").replaceChildren(head, ...built);
}

function lawRow(rule) {
  const row = make("div", "pg-law");
  row.dataset.rule = rule;
  const about = make("div", "pg-law-about");
  const exact = params.exact.includes(rule);
  about.append(make("b", "", words.rules[rule].name), " ", make("span", exact ? "pg-exact" : "pg-biased", exact ? words.exact : words.biased));
  about.append(make("small", "", ruleWords(rule)));
  const accept = meter("fill-overlap");
  const distance = meter("fill-excess");
  const limit = make("i", "pg-limit");
  accept.line.append(limit);
  const law = make("div", "pg-law-bars");
  const bars = state.tokens.map((token) => {
    const box = make("span", "pg-law-bar");
    const filled = make("i", exact ? "fill-overlap" : "pg-law-off");
    const outline = make("i", "pg-outline");
    box.append(filled, outline, asData(make("em", "", token.name)));
    law.append(box);
    return { box, filled, outline };
  });
  const told = make("small", "pg-law-told");
  const last = make("div", "pg-law-last");
  last.append(law, told);
  row.append(about, accept.box, distance.box, last);
  lawRows.set(rule, { accept, distance, limit, bars, told, exact });
  return row;
}

function meter(className) {
  const box = make("div", "pg-meter");
  const number = make("b");
  const line = make("span", "pg-meter-line");
  const filled = make("i", "pg-meter-fill " + className);
  line.append(filled);
  box.append(number, line);
  return { box, number, line, filled };
}

function drawLaws() {
  const beta = totals().overlap / state.unit;
  const p = state.tokens.map((token) => token.p / state.unit);
  setText(part("laws-is"), fill(words.laws_is, { beta: shown(totals().overlap) }));
  const laws = allLaws();
  folds["every-rule"].say(lawsResult(laws));
  for (const { rule, law, acceptance, distance } of laws) {
    const row = lawRows.get(rule);
    setText(row.accept.number, acceptance.toFixed(3));
    row.accept.filled.style.width = 100 * acceptance + "%";
    row.limit.style.left = 100 * beta + "%";
    setText(row.distance.number, distance.toFixed(3));
    row.distance.filled.style.width = 100 * Math.min(1, distance) + "%";
    law.forEach((mass, i) => {
      const { box, filled, outline } = row.bars[i];
      filled.style.height = (100 * mass) / top01 + "%";
      outline.style.height = (100 * p[i]) / top01 + "%";
      box.title = `${quoted(state.tokens[i].name)} ${mass.toFixed(3)} (p_big ${p[i].toFixed(3)})`;
    });
    write(row.told, toldOf(law, p));
  }
}

function lawsResult(laws) {
  const farthest = laws.reduce((most, law) => (law.distance > most.distance ? law : most));
  const exact = laws.filter(({ rule }) => params.exact.includes(rule));
  return fill(words.results.laws, {
    exact: exact.length,
    tv: Math.max(...exact.map((law) => law.distance)).toFixed(3),
    biased: laws.length - exact.length,
    name: words.rules[farthest.rule].name,
    most: farthest.distance.toFixed(3),
  });
}

// The token that gains most and the one that loses most.
function toldOf(law, p) {
  const gain = law.map((mass, i) => mass - p[i]);
  const up = gain.indexOf(Math.max(...gain));
  const down = gain.indexOf(Math.min(...gain));
  if (gain[up] < 0.0005) return words.law_same;
  const name = (i) => state.tokens[i].name;
  const masses = { up_from: p[up].toFixed(2), up_to: law[up].toFixed(2), down_from: p[down].toFixed(2), down_to: law[down].toFixed(2) };
  return pieces(words.law_most, masses, { up: name(up), down: name(down) });
}

function drawBest() {
  const sums = totals();
  const list = cells();
  const match = sum(list.map((cell) => cell.p * cell.q));
  drawFormula(part("best-formula"), `\\Pr(\\text{${words.drafted}} = \\text{${words.out}} = x) \\le \\min\\big(${SMALL}(x), ${BIG}(x)\\big)`, `P(${words.drafted} = ${words.out} = x) ≤ min(p_small(x), p_big(x))`);
  drawFormula(
    part("match-formula"),
    `\\begin{aligned} \\textstyle\\sum_y ${SMALL}(y)\\,${BIG}(x) &= ${BIG}(x) \\\\ \\textstyle\\sum_x ${SMALL}(x)\\,${BIG}(x) &= ${match.toFixed(3)} \\end{aligned}`,
    "Σ p_small(y) p_big(x) = p_big(x), Σ p_small(x) p_big(x) = " + match.toFixed(3)
  );
  setText(part("best"), fill(words.best, { beta: shown(sums.overlap) }));
  setText(part("best-match"), fill(words.best_match, { beta: shown(sums.overlap), match: match.toFixed(3) }));
}
