// What happened at the selected position, in numbers, and the four quantities of its two laws.

const FACTS = ["overlap", "residual", "draft_entropy", "target_entropy"];
const OVERLAP_IS = { token: "overlap_is", no_residual: "overlap_is", match: "overlap_is_match" };
const REJECTED_FROM = { residual: "rejected_other", target: "rejected_target", unknown: "rejected_raw" };
const factItems = Object.fromEntries(FACTS.map((name) => [name, explained("rv-fact")]));

function drawSentence(here) {
  const { fact, round, place } = here;
  const { drafted } = state.value.rounds[round];
  setText(part("title"), fill(words.title[fact.kind], { round: round + 1, place: place + 1, drafted }));
  setText(part("sentence"), fill(words.sentence[sentenceName(here)], sentenceValues(here, drafted)));
  for (const name of FACTS) {
    show(factItems[name].box, fact[name] !== undefined);
    const is = name === "overlap" ? OVERLAP_IS[state.value.rule] || "overlap_is_other" : name + "_is";
    explain(factItems[name], shown(fact[name]), words.facts[name], words.facts[is], name.endsWith("entropy") ? words.nats : "");
  }
}

function sentenceName({ fact, round }) {
  const { rule, greedy, lookup, rounds } = state.value;
  if (fact.kind === "discarded" && rule === "block") return "discarded_block";
  if (fact.kind === "discarded")
    return rounds[round].positions.some((other) => other.kind === "replaced") ? "discarded" : "discarded_end";
  const verdict = fact.kind === "replaced" ? "rejected" : fact.kind;
  if (greedy) return verdict + "_greedy";
  if (fact.kind === "bonus" || fact.kind === "plain") return verdict;
  if (rule === "match" || rule === "block") return verdict + "_" + rule;
  if (rule !== "token" && verdict === "rejected") return REJECTED_FROM[state.value.law];
  if (rule !== "token") return verdict + "_other";
  if (lookup) return verdict + "_lookup";
  return fact.kind === "accepted" && fact.accept >= 1 ? "accepted_sure" : verdict;
}

function sentenceValues({ fact }, drafted) {
  const [accept, coin] = fact.coin === undefined ? [shown(fact.accept), figureWords.none] : shownPair(fact.accept, fact.coin);
  const free = fact.kind === "bonus" || fact.kind === "plain";
  return {
    draft: fact.kind === "replaced" ? fact.draft : fact.label,
    label: fact.label,
    drafted,
    q: shown(fact.q),
    p: shown(free ? fact.r : fact.p),
    r: shown(fact.r),
    accept,
    coin,
    rank: rankWords(fact.rank),
    rule: words.rules[state.value.rule],
  };
}

function rankWords(rank) {
  if (rank === undefined) return words.rank.unknown;
  return rank === 1 ? words.rank.first : fill(words.rank.nth, { rank });
}

part("facts").append(...FACTS.map((name) => factItems[name].box));
