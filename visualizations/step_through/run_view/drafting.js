// Why a round drafted no more than it did, said at its last draft, or where nothing was drafted.

// The sentence in pieces, [] where the draft length speaks for itself.
function whyNoMore({ fact, round, place }) {
  const { drafted, stopped, doubt, limit } = state.value.rounds[round];
  const { policy, threshold, most } = state.value;
  const last = drafted > 0 && place === drafted - 1;
  if (!stopped || !(last || fact.kind === "plain")) return [];
  if (stopped === "limit" && (limit === most || policy === "fixed")) return [];
  const sentence = words.drafting[drafted ? "stopped" : "nothing"][stopped];
  return sentence ? [" " + fill(sentence, { value: shown(doubt), threshold, limit })] : [];
}
