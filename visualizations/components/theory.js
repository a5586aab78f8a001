// The closed forms of specdec/exactness/theory.py. A test compares the two.

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
  return bestLength(most, (gamma) => predictedSpeedup(alpha, c, v, gamma));
}

function bestLength(most, speedupOf) {
  let best = { gamma: 0, speedup: 1 };
  for (let gamma = 1; gamma <= most; gamma++) {
    const speedup = speedupOf(gamma);
    if (speedup > best.speedup) best = { gamma, speedup };
  }
  return best;
}

// costs: { draft: seconds of a draft step, target: [[tokens, seconds], ...] of target passes, by width }.
// On straight lines between the measured widths; flat beyond the ends.
function targetSeconds(costs, tokens) {
  const points = costs.target;
  if (tokens <= points[0][0]) return points[0][1];
  for (let i = 1; i < points.length; i++) {
    const [left, low] = points[i - 1];
    const [right, high] = points[i];
    if (tokens <= right) return low + ((high - low) * (tokens - left)) / (right - left);
  }
  return points[points.length - 1][1];
}

function sharedSpeedup(alpha, gamma, batch, costs) {
  const together = gamma * costs.draft + targetSeconds(costs, batch * (gamma + 1));
  return (expectedTokens(alpha, gamma) * targetSeconds(costs, batch)) / together;
}

function bestShared(alpha, batch, costs, longest) {
  const widest = costs.target[costs.target.length - 1][0];
  const most = Math.min(longest, Math.floor(widest / batch) - 1);
  return bestLength(most, (gamma) => sharedSpeedup(alpha, gamma, batch, costs));
}
