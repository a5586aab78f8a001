// The bars. Masses are whole numbers of 1/unit, so every sum that is printed is right to its last digit.
//
// tokens: { name, q, p, agree }: p_small and p_big, each summing to `unit`. agree is 1 for a token; for "all
// other" it is the part of min(p, q) on which the models agree token by token.

const words = props.words;
const params = props.params;
const MIN_TOKENS = 3;
const MAX_CELLS = 8;
const state = { tokens: [], unit: 100, step: 0, source: "article", note: "" };

function digits() {
  return Math.round(Math.log10(state.unit));
}

function shown(count) {
  return (count / state.unit).toFixed(digits());
}

// A quotient of two masses, with `more` digits than they have; never 0 or 1 for what is only near them.
function shownShare(share, more = 0) {
  let places = digits() + more;
  while (places < 6 && share > 0 && share < 1 && [0, 1].includes(Number(share.toFixed(places)))) places++;
  return share.toFixed(places);
}

function partsOf(token) {
  const overlap = Math.round(token.agree * Math.min(token.p, token.q));
  return { overlap, excess: token.q - overlap, residual: token.p - overlap };
}

function totals() {
  const sum = { overlap: 0, excess: 0, residual: 0 };
  for (const token of state.tokens) {
    const masses = partsOf(token);
    for (const name in sum) sum[name] += masses[name];
  }
  return sum;
}

// Whole numbers in the proportions of `weights` that sum to `total`; the largest remainders round up.
function apportion(weights, total) {
  const sum = weights.reduce((a, b) => a + b, 0);
  const exact = weights.map((w) => (sum > 0 ? (w / sum) * total : total / weights.length));
  const whole = exact.map(Math.floor);
  let left = total - whole.reduce((a, b) => a + b, 0);
  const order = exact.map((x, i) => [x - whole[i], i]).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  for (let k = 0; k < left; k++) whole[order[k][1]]++;
  return whole;
}

// `values` with the one at `index` set to `wanted`; the others keep their proportions and fill up the rest.
function scaled(values, index, wanted) {
  const fixed = Math.max(0, Math.min(state.unit, Math.round(wanted)));
  const others = values.filter((_, i) => i !== index);
  const rest = apportion(others, state.unit - fixed);
  return values.map((_, i) => (i === index ? fixed : rest[i < index ? i : i - 1]));
}

function setMass(which, index, wanted, from) {
  const values = scaled(from || state.tokens.map((token) => token[which]), index, wanted);
  state.tokens.forEach((token, i) => { token[which] = values[i]; });
  markOwn();
}

// A hand has changed the bars: they are no preset any more.
function markOwn() {
  if (state.source === "own") return;
  state.source = "own";
  state.note = "";
  drawSource();
}

function cellCount(tokens) {
  return tokens.reduce((count, token) => count + (token.agree < 1 ? 2 : 1), 0);
}

// Two laws with min taken token by token: "all other" becomes two cells, one with too much, one with too little.
function cells() {
  const list = [];
  state.tokens.forEach((token, index) => {
    if (token.agree >= 1) return list.push({ index, q: token.q / state.unit, p: token.p / state.unit });
    const half = partsOf(token).overlap / 2;
    list.push({ index, q: (token.q - half) / state.unit, p: half / state.unit });
    list.push({ index, q: half / state.unit, p: (token.p - half) / state.unit });
  });
  return list;
}

function copyOf(value) {
  return JSON.parse(JSON.stringify(value));
}
