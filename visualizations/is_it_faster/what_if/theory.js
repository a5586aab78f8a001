// The closed forms of specdec/theory.py. A test compares the two.

function expectedTokens(alpha, gamma) {
  let sum = 0;
  for (let place = 0; place <= gamma; place++) sum += alpha ** place;
  return sum;
}

function predictedSpeedup(alpha, c, v, gamma) {
  return gamma === 0 ? 1 : expectedTokens(alpha, gamma) / (gamma * c + v);
}

// The shortest draft length with the largest speedup; 0 (plain decoding, 1) when none helps.
function bestGamma(alpha, c, v, most) {
  let best = { gamma: 0, speedup: 1 };
  for (let gamma = 1; gamma <= most; gamma++) {
    const speedup = predictedSpeedup(alpha, c, v, gamma);
    if (speedup > best.speedup) best = { gamma, speedup };
  }
  return best;
}
