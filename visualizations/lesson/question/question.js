// The question and what is said of an answer, which can be asked for without answering, and tried again.

const words = props.words;
const { key, task, reason, asked, following, options, blanks } = props.value;
const asks = options.length + blanks.length > 0;
const answers = (options.length ? buildChoice : buildBlanks)(props.value, answered);

function part(name) {
  return element.querySelector(".qu-" + name);
}

function tell(name, detail) {
  document.dispatchEvent(new CustomEvent(name, { detail }));
}

// given: what is told to the page's other parts; verdict: { right, why, solution }.
function answered(given, { right, why, solution }) {
  part("verdict").dataset.fate = right ? "right" : "wrong";
  say(fill(words[right ? "verdict_right" : "verdict_wrong"], { why }), solution);
  for (const one of given) tell("specdec:answered", { ...one, question: key + one.question });
}

function say(verdict, solution) {
  setText(part("verdict"), verdict);
  setText(part("right"), solution);
  setText(part("reason"), reason);
  part("said").hidden = false;
  part("show").hidden = true;
  part("again").hidden = false;
}

function reveal() {
  answers.reveal();
  part("verdict").dataset.fate = "";
  say("", answers.solution());
  tell("specdec:revealed", { question: key });
}

// Where the figure asks and judges, the reason is told when it has.
function onAnsweredElsewhere({ detail }) {
  if (!element.isConnected) return document.removeEventListener("specdec:answered", onAnsweredElsewhere);
  if (detail.question !== key) return;
  part("box").hidden = false;
  say("", "");
}

function reset() {
  answers.reset();
  for (const name of ["verdict", "right", "reason"]) setText(part(name), "");
  part("said").hidden = true;
  part("show").hidden = false;
  part("again").hidden = true;
}

function askedBox({ question, answer }) {
  const box = make("details");
  box.append(make("summary", "", question), make("p", "", answer));
  return box;
}

for (const [name, act] of [["show", reveal], ["again", reset], ["check", answers.check]]) {
  setText(part(name), words[name]);
  if (act) part(name).addEventListener("click", act);
}
setText(part("task"), task);
part("answers").append(...answers.nodes);
part("check").hidden = !answers.needsCheck;
part("box").hidden = !asks;
reset();
if (!asks) {
  for (const name of ["task", "buttons"]) part(name).hidden = true;
  document.addEventListener("specdec:answered", onAnsweredElsewhere);
}
part("asked").hidden = !asked.length;
setText(part("asked-title"), words.asked);
part("asked").append(...asked.map(askedBox));
setText(part("next"), words.next);
part("next").hidden = !following;
part("next").addEventListener("click", () => tell("specdec:lesson", { page: following }));
