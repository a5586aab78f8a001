// What the coin and the draws of a position would give, told from its bars: the rules of specdec/decoding/rules.py
// as far as one position tells them. A test compares the two.

function passes(fact, coin) {
  return coin < fact.accept;
}

// The uniform that draws the token behind the round's kept drafts; undefined where the round drew none.
function nextUniform(r) {
  return state.value.rounds[r].positions.map((fact) => fact.uniform).find((uniform) => uniform !== undefined);
}

// The bar that a uniform falls on when the ids are laid side by side in their order, as the engine draws. Ids without
// a bar lie anywhere between them, so a bar is sure only where they can't push it away.
function falls(frame, law, uniform) {
  const rest = frame.ids.length - 1;
  const byId = [...law.keys()].filter((i) => i !== rest).sort((a, b) => frame.ids[a] - frame.ids[b]);
  const at = uniform * law.reduce((sum, mass) => sum + mass, 0);
  const possible = [];
  let before = 0;
  for (const i of byId) {
    if (before + law[rest] <= at && at < before + law[i]) return { sure: i, possible: [i] };
    if (before <= at && at < before + law[rest] + law[i] && law[i] > 0) possible.push(i);
    before += law[i];
  }
  return { possible };
}

// A bar drawn at random from masses.
function drawnFrom(law) {
  let at = Math.random() * law.reduce((sum, mass) => sum + mass, 0);
  for (let i = 0; i < law.length; i++) {
    at -= law[i];
    if (at < 0) return i;
  }
  return law.findLastIndex((mass) => mass > 0);
}

// One step of speculative sampling by masses: draft, coin, replacement. "Other" behaves as all its ids together do.
function drawnAnew(frame) {
  const { q, overlap } = masses(frame);
  const drafted = drawnFrom(q);
  return Math.random() * q[drafted] < overlap[drafted] ? drafted : drawnFrom(frame.residual);
}
