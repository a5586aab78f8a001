// The counts of the questions of one page of the lesson, as bars that the back row can read. Raised hands are typed into the same bars.

const QUESTIONS_BOX = element.querySelector(".rm-questions");
let rows = []; // { question, bars, numbers, sum } of each question on screen

// A page has the question of its own name, or several parts: "coin.0", "coin.1", ...
function questionsOf(page) {
  return props.questions.filter(({ key }) => key === page || key.startsWith(page + "."));
}

// raise: called with (question, option, number) when hands are typed in; null where the counts come from a room.
function layOutTally(page, hands, raise) {
  rows = questionsOf(page).map((question) => questionRow(question, hands, raise));
  QUESTIONS_BOX.replaceChildren(...rows.map((row) => row.node));
  QUESTIONS_BOX.classList.toggle("several", rows.length > 1);
}

function questionRow(question, hands, raise) {
  const node = make("section", "rm-question");
  const sum = make("span", "rm-sum");
  const heading = make("header");
  heading.append(make("h4", "", question.title), sum);
  const list = make("ul");
  const bars = [];
  const numbers = [];
  question.options.forEach((option, i) => {
    const item = make("li");
    const number = raise ? handsInput(question, option, (hands[question.key] || [])[i], (count) => raise(question, i, count)) : make("b");
    const track = make("span", "rm-track");
    bars.push(make("span", "rm-bar"));
    numbers.push(number);
    track.append(bars[i]);
    item.append(make("span", "rm-option", option), track, number);
    list.append(item);
  });
  node.append(heading, list);
  return { node, question, bars, numbers, sum };
}

function handsInput(question, option, count, typed) {
  const input = make("input");
  Object.assign(input, { type: "number", min: 0, max: 999, step: 1, inputMode: "numeric", placeholder: "0" });
  if (count) input.value = count;
  input.setAttribute("aria-label", fill(props.words.number, { option, question: question.title }));
  input.addEventListener("input", () => typed(Math.min(999, Math.max(0, Math.floor(Number(input.value)) || 0))));
  return input;
}

// counts: {question: numbers}; summed: the sentence that says how many they are together.
function fillInTally(counts, summed) {
  for (const { question, bars, numbers, sum } of rows) {
    const votes = question.options.map((_, i) => (counts[question.key] || [])[i] || 0);
    const most = Math.max(1, ...votes);
    votes.forEach((count, i) => {
      bars[i].style.inlineSize = (100 * count) / most + "%";
      if (numbers[i].localName === "b") setText(numbers[i], String(count));
    });
    setText(sum, summed(votes.reduce((all, count) => all + count, 0)));
  }
}
