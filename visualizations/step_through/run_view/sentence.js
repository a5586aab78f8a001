// What happened at the selected position, in numbers, and the four quantities of its two laws.

const FACTS = ["overlap", "residual", "draft_entropy", "target_entropy"];
const OVERLAP_IS = { token: "overlap_is", no_residual: "overlap_is", match: "overlap_is_match" };
const REJECTED_FROM = { residual: "rejected_other", target: "rejected_target", unknown: "rejected_raw" };
const factItems = Object.fromEntries(FACTS.map((name) => [name, explained("rv-fact")]));

function drawSentence(here) {
  const { fact, round, place } = here;
  const { drafted } = state.value.rounds[round];
  setText(part("title"), fill(words.title[fact.kind], { round: roundNumber(round), place: place + 1, drafted }));
  write(part("sentence"), said(here, drafted));
  for (const name of FACTS) {
    show(factItems[name].box, fact[name] !== undefined);
    const is = name === "overlap" ? OVERLAP_IS[state.value.rule] || "overlap_is_other" : name + "_is";
    explain(factItems[name], shown(fact[name]), words.facts[name], words.facts[is], name.endsWith("entropy") ? words.nats : "");
  }
}

// Why a draft was thrown away: 'discarded' after a rejection, behind the end of the answer, or by its whole block;
// other kinds speak for themselves. Everything that tells a draft's fate asks here.
function fateOf(fact, round) {
  if (fact.kind !== "discarded") return fact.kind;
  if (!round.positions.some((other) => other.kind === "replaced")) return "discarded_end";
  return state.value.rule === "block" ? "discarded_block" : "discarded";
}

// The sentence in pieces; where the very same weights gave p_small and p_big apart, it says why.
function said(here, drafted) {
  const { values, texts } = sentenceValues(here, drafted);
  const told = pieces(words.sentence[sentenceName(here)], values, texts);
  const { rounding, greedy } = state.value;
  if (rounding && here.fact.kind === "replaced") {
    told.push(" " + fill(words.rounding[greedy ? "swapped" : "apart"], { dtype: rounding }));
  }
  return [...told, ...whyNoMore(here)];
}

function sentenceName({ fact, round }) {
  const { rule, greedy, rounds } = state.value;
  if (fact.kind === "discarded") return fateOf(fact, rounds[round]);
  const verdict = fact.kind === "replaced" ? "rejected" : fact.kind;
  if (greedy) return verdict + "_greedy";
  if (fact.kind === "bonus" || fact.kind === "plain") return verdict;
  if (rule === "match" || rule === "block") return verdict + "_" + rule;
  if (rule === "argmax_draft" && verdict === "rejected") return "rejected_argmax";
  if (rule !== "token" && verdict === "rejected") return REJECTED_FROM[state.value.law];
  if (rule !== "token") return verdict + "_other";
  if (fact.copied) return verdict + "_lookup";
  return fact.kind === "accepted" && fact.accept >= 1 ? "accepted_sure" : verdict;
}

function sentenceValues({ fact }, drafted) {
  const [accept, coin] = fact.coin === undefined ? [shown(fact.accept), figureWords.none] : shownPair(fact.accept, fact.coin);
  const free = fact.kind === "bonus" || fact.kind === "plain";
  const texts = { draft: fact.kind === "replaced" ? fact.draft : fact.label, label: fact.label };
  const values = {
    drafted,
    q: shown(fact.q),
    p: shown(free ? fact.r : fact.p),
    r: shown(fact.r),
    accept,
    coin,
    rank: rankWords(fact.rank),
    rule: words.rules[state.value.rule],
  };
  return { values, texts };
}

function rankWords(rank) {
  if (rank === undefined) return words.rank.unknown;
  return rank === 1 ? words.rank.first : fill(words.rank.nth, { rank });
}

part("facts").append(...FACTS.map((name) => factItems[name].box));
