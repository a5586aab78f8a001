// The law of every rule at one position, as exactness.py has it in `closed_form`; a test compares the two.

const EPSILON = 1e-9;

function sum(list) {
  return list.reduce((a, b) => a + b, 0);
}

function residualOf(p, q) {
  const lacks = p.map((mass, i) => Math.max(0, mass - q[i]));
  const mass = sum(lacks);
  return mass > EPSILON ? lacks.map((lack) => lack / mass) : p;
}

function entropyOf(p) {
  return -sum(p.map((mass) => (mass > 0 ? mass * Math.log(mass) : 0)));
}

// The k likeliest, of equal ones the first, scaled to sum to 1.
function topOf(q, k) {
  const likeliest = new Set([...q.keys()].sort((a, b) => q[b] - q[a]).slice(0, k));
  const kept = q.map((mass, i) => (likeliest.has(i) ? mass : 0));
  return kept.map((mass) => mass / sum(kept));
}

// Drafted from one law, while the rule is told q.
function misreported(p, q, drafted) {
  return [drafted.map((m, i) => (q[i] > 0 ? Math.min(m, (m * p[i]) / q[i]) : m)), residualOf(p, q)];
}

// What stays of p and q at each token, and what a rejection is replaced by.
const RULES = {
  token: (p, q) => [p.map((m, i) => Math.min(m, q[i])), residualOf(p, q)],
  match: (p, q) => [p.map((m, i) => m * q[i]), null],
  block: (p, q) => RULES.token(p, q),
  no_residual: (p, q) => [p.map((m, i) => Math.min(m, q[i])), p],
  typical: (p, q) => {
    const threshold = Math.min(params.epsilon, params.delta * Math.exp(-entropyOf(p)));
    return [q.map((m, i) => (p[i] > threshold ? m : 0)), p];
  },
  lenient: (p, q) => [q.map((m, i) => Math.min(m, p[i] / params.lenience)), residualOf(p, q)],
  raw_draft: (p, q) => misreported(p, q, topOf(q, params.k)),
  argmax_draft: (p, q) => misreported(p, q, topOf(q, 1)),
  peeking: (p, q) => RULES.no_residual(p, q),
  ensemble: (p, q) => [
    q.map((m, i) => Math.min(m, params.weight * p[i] + (1 - params.weight) * m)),
    residualOf(p, q),
  ],
};

// { law, acceptance, distance } of a rule for laws p and q.
function lawOf(rule, p, q) {
  const [kept, refill] = RULES[rule](p, q);
  const acceptance = sum(kept);
  const law = refill ? kept.map((m, i) => m + (1 - acceptance) * refill[i]) : p.map((m, i) => q[i] * m + m * (1 - q[i]));
  return { law, acceptance, distance: sum(law.map((m, i) => Math.abs(m - p[i]))) / 2 };
}

// The same for every rule on today's bars, with the cells of a bar put together again.
function allLaws() {
  const list = cells();
  const p = list.map((cell) => cell.p);
  const q = list.map((cell) => cell.q);
  return Object.keys(RULES).map((rule) => {
    const whole = lawOf(rule, p, q);
    const law = state.tokens.map(() => 0);
    list.forEach((cell, i) => { law[cell.index] += whole.law[i]; });
    return { rule, ...whole, law };
  });
}
