// Several drafts for the same place: how often one is kept, what comes out, and which tokens set the limit.
// Pure functions of p_big and p_small, as specdec's exactness/candidates.py has them; a test compares the two.

const MOST_DRAFTS = 4;
const ROUNDING = 1e-12;

// { kept, laws } of each scheme for k = 1, 2, ... drafts, at [k - 1].
const SCHEMES = {
  fixed_children: fixedChildren,
  with_replacement: withReplacement,
  k_seq: kSeq,
  without_replacement: withoutReplacement,
};
// Each kind of drafts: the chance, for every set of tokens and k, that all k drafts lie in it.
const DRAWN = { independent: withinIndependent, different: withinDifferent };

function normed(masses) {
  const total = sum(masses);
  return total > 0 ? masses.map((mass) => mass / total) : null;
}

function owedAfter(owed, offered) {
  return normed(owed.map((mass, i) => Math.max(0, mass - offered[i]))) || owed;
}

// For each k: what the first k tests keep, and the law that is drawn from after k rejections times their chance.
function collected(kept, refill) {
  const total = kept[0].map(() => 0);
  const laws = kept.map((masses, i) => {
    masses.forEach((mass, x) => { total[x] += mass; });
    return { kept: sum(total), law: total.map((mass, x) => mass + refill[i][x]) };
  });
  return { kept: laws.map((one) => one.kept), laws: laws.map((one) => one.law) };
}

function fixedChildren(p, q) {
  const children = [...q.keys()].filter((x) => q[x] > 0).sort((a, b) => q[b] - q[a]);
  const kept = [];
  const refill = [];
  let owed = p;
  let reach = 1;
  for (let i = 0; i < MOST_DRAFTS; i++) {
    const child = children[i];
    kept.push(p.map((_, x) => (x === child ? reach * owed[x] : 0)));
    if (child !== undefined) {
      reach *= 1 - owed[child];
      owed = normed(owed.map((mass, x) => (x === child ? 0 : mass))) || owed;
    }
    refill.push(owed.map((mass) => reach * mass));
  }
  return collected(kept, refill);
}

function withReplacement(p, q) {
  const kept = [];
  const refill = [];
  let owed = p;
  let reach = 1;
  for (let i = 0; i < MOST_DRAFTS; i++) {
    const passed = owed.map((mass, x) => reach * Math.min(mass, q[x]));
    kept.push(passed);
    reach = Math.max(0, reach - sum(passed));
    owed = owedAfter(owed, q);
    refill.push(owed.map((mass) => reach * mass));
  }
  return collected(kept, refill);
}

// rho in [1, k] with 1 - (1 - beta)^k = rho beta, for beta = sum of min(q, p / rho): left less right falls with rho.
function kSeqScale(p, q, k) {
  const surplus = (rho) => {
    let beta = 0;
    for (let x = 0; x < q.length; x++) beta += Math.min(q[x], p[x] / rho);
    return 1 - (1 - beta) ** k - rho * beta;
  };
  let low = 1;
  let high = k;
  for (let i = 0; i < 50 && high > low; i++) {
    const middle = (low + high) / 2;
    if (surplus(middle) > 0) low = middle;
    else high = middle;
  }
  return surplus(1) <= 0 ? 1 : high;
}

function kSeq(p, q) {
  const kept = [];
  const laws = [];
  for (let k = 1; k <= MOST_DRAFTS; k++) {
    const rho = kSeqScale(p, q, k);
    const passed = q.map((mass, x) => Math.min(mass, p[x] / rho));
    const fails = 1 - sum(passed);
    let tests = 0;
    for (let i = 0; i < k; i++) tests += fails ** i;
    const refill = owedAfter(p, q.map((mass) => rho * mass));
    kept.push(tests * sum(passed));
    laws.push(p.map((_, x) => tests * passed[x] + fails ** k * refill[x]));
  }
  return { kept, laws };
}

// Every order in which drafts can be drawn and rejected, in arrays made once: 8 tokens have 1680 orders of 4.
function withoutReplacement(p, q) {
  const size = p.length;
  const rows = (count) => Array.from({ length: count }, () => new Float64Array(size));
  const owed = rows(MOST_DRAFTS + 1);
  const offered = rows(MOST_DRAFTS + 1);
  const kept = rows(MOST_DRAFTS);
  const refill = rows(MOST_DRAFTS + 1);

  function node(depth, reach) {
    const owes = owed[depth];
    const offers = offered[depth];
    for (let x = 0; x < size; x++) refill[depth][x] += reach * owes[x];
    if (depth === MOST_DRAFTS) return;
    let lacking = 0;
    let mass = 0;
    for (let x = 0; x < size; x++) {
      kept[depth][x] += reach * Math.min(owes[x], offers[x]);
      lacking += Math.max(0, owes[x] - offers[x]);
      mass += offers[x];
    }
    if (mass === 0) return stay(depth, reach);
    const owesNext = owed[depth + 1];
    for (let drawn = 0; drawn < size; drawn++) {
      const rejected = offers[drawn] - owes[drawn];
      if (!(rejected > 0)) continue;
      for (let x = 0; x < size; x++) owesNext[x] = lacking > 0 ? Math.max(0, owes[x] - offers[x]) / lacking : owes[x];
      withoutToken(offers, drawn, offered[depth + 1]);
      node(depth + 1, reach * rejected);
    }
  }

  // No token is left to draw: more drafts change nothing.
  function stay(depth, reach) {
    for (let later = depth + 1; later <= MOST_DRAFTS; later++) {
      for (let x = 0; x < size; x++) refill[later][x] += reach * owed[depth][x];
    }
  }

  owed[0].set(p);
  offered[0].set(q);
  node(0, 1);
  return collected(kept.map((row) => [...row]), refill.slice(1));
}

function withoutToken(law, token, into) {
  let rest = 0;
  for (let x = 0; x < law.length; x++) if (x !== token) rest += law[x];
  for (let x = 0; x < law.length; x++) into[x] = x === token || rest === 0 ? 0 : law[x] / rest;
}

// The sum over each set of tokens; a set is a number, its bits are its tokens.
function sumsOf(law) {
  const sums = new Float64Array(1 << law.length);
  for (let set = 1; set < sums.length; set++) {
    const first = 31 - Math.clz32(set & -set);
    sums[set] = sums[set & (set - 1)] + law[first];
  }
  return sums;
}

function withinIndependent(q) {
  const inside = sumsOf(q);
  return Array.from({ length: MOST_DRAFTS }, (_, i) => inside.map((mass) => mass ** (i + 1)));
}

// The chance of each set of drafts, one draft more at a time; then summed over the subsets of each set.
function withinDifferent(q) {
  const inside = sumsOf(q);
  const everything = inside.length - 1;
  let drawn = new Float64Array(inside.length);
  drawn[0] = 1;
  return Array.from({ length: MOST_DRAFTS }, () => {
    const next = new Float64Array(inside.length);
    for (let set = 0; set < inside.length; set++) {
      const left = inside[everything & ~set];
      if (left === 0) next[set] += drawn[set]; // nothing else can be drawn
      else for (let x = 0; x < q.length; x++) if (!(set >> x & 1)) next[set | 1 << x] += drawn[set] * q[x] / left;
    }
    drawn = next;
    return overSubsets(drawn, q.length);
  });
}

function overSubsets(chances, size) {
  const sums = chances.slice();
  for (let token = 1; token < 1 << size; token <<= 1) {
    for (let set = 0; set < sums.length; set++) if (set & token) sums[set] += sums[set ^ token];
  }
  return sums;
}

// The least p(S) + 1 - P(all drafts in S), from both for every S. Where several sets are tight, so is what they share.
function tightest(wanted, within) {
  let limit = 1;
  for (let set = 0; set < wanted.length; set++) limit = Math.min(limit, wanted[set] + 1 - within[set]);
  let tight = wanted.length - 1;
  for (let set = 0; set < wanted.length; set++) if (wanted[set] + 1 - within[set] <= limit + ROUNDING) tight &= set;
  return { limit, tight, wanted: wanted[tight], offered: within[tight] };
}

// For each scheme and limit: how often a draft is kept, at [k - 1]. off: how far any law is from p_big at any token.
function candidatesOf(p, q) {
  const kept = {};
  let off = 0;
  for (const [name, scheme] of Object.entries(SCHEMES)) {
    const found = scheme(p, q);
    kept[name] = found.kept;
    for (const law of found.laws) law.forEach((mass, x) => { off = Math.max(off, Math.abs(mass - p[x])); });
  }
  const bounds = {};
  const wanted = sumsOf(p);
  for (const kind in DRAWN) {
    bounds[kind] = DRAWN[kind](q).map((within) => tightest(wanted, within));
    kept["transport_" + kind] = bounds[kind].map((bound) => bound.limit);
  }
  return { kept, bounds, off };
}
