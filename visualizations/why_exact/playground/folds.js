// What is folded; each part says what it comes to on today's bars.

const FOLDS = { "typed-numbers": words.table, "mass-flow": words.flow_title, "every-rule": words.laws_title, candidates: words.candidates.title };
const folds = Object.fromEntries(Object.entries(FOLDS).map(([section, title]) => {
  const box = element.querySelector("#" + section);
  return [section, fold(box, box.firstElementChild, { section, title, level: "h3" })];
}));
