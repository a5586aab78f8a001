// The functions cut_round and worth_of of specdec/timing/policies.py. A test compares the two.

function cutRound(round, kind, threshold) {
  const crossed = kind === "entropy"
    ? round.entropies.findIndex((nats) => nats > threshold)
    : round.chances.findIndex((chance) => chance < threshold);
  const drafted = crossed < 0 ? round.chances.length : crossed + 1;
  const tested = Math.min(round.tested, drafted);
  const accepted = Math.min(round.accepted, drafted);
  return { drafted, tested, accepted, emitted: Math.min(round.emitted, accepted + 1), wasted: drafted - tested };
}

function worthOf(cuts, costs) {
  const tokens = cuts.reduce((sum, cut) => sum + cut.emitted, 0);
  const seconds = cuts.reduce((sum, cut) => sum + cut.drafted * costs.draft + targetSeconds(costs, cut.drafted + 1), 0);
  return { perRound: tokens / cuts.length, speedup: (tokens * targetSeconds(costs, 1)) / seconds };
}
