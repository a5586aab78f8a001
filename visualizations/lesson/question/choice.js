// A question with several answers: each is a button, and choosing one is answering.

const LETTERS = "ABCDEFGH";

function buildChoice({ options }, answered) {
  const buttons = options.map((option, i) => {
    const button = make("button", "qu-option");
    button.type = "button";
    button.append(make("b", "qu-sign"), make("span", "", option.said));
    button.addEventListener("click", () => choose(i));
    return button;
  });

  // chosen: the index of the answer, null for none, -1 when only the right one is shown.
  function mark(chosen) {
    buttons.forEach((button, i) => {
      const fate = chosen !== null && options[i].right ? "right" : chosen === i ? "wrong" : "";
      button.dataset.fate = fate;
      button.setAttribute("aria-pressed", chosen === i);
      setText(button.firstChild, fate ? words.signs[fate] : LETTERS[i]);
    });
  }

  function choose(i) {
    mark(i);
    const { right, why } = options[i];
    answered([{ question: "", answer: i, right }], { right, why, solution: right ? "" : solution() });
  }

  function solution() {
    return fill(words.right_is, { answer: options.find((option) => option.right).said });
  }

  mark(null);
  return { nodes: buttons, reveal: () => mark(-1), reset: () => mark(null), solution, needsCheck: false };
}
