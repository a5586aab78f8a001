// What the live parts of this tab are made of: a choice, a slider, a figure, and words that follow them.

const words = props.words;
const plot = element.querySelector(".ch-plot");
const part = (name) => element.querySelector(".dp-" + name);

// Buttons, one of which is pressed. chosen() tells its key.
function choices(box, named, onChoice) {
  let key = Object.keys(named)[0];
  const buttons = Object.entries(named).map(([name, said]) => {
    const button = make("button", "", said);
    button.type = "button";
    button.dataset.key = name;
    button.addEventListener("click", () => {
      key = name;
      mark();
      onChoice(name);
    });
    return button;
  });
  const mark = () => buttons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.key === key)));
  box.replaceChildren(...buttons);
  box.setAttribute("role", "group");
  mark();
  return { chosen: () => key };
}

// A slider with its name, its value in words and what it means.
function slider(box, onInput) {
  const row = make("label", "dp-row");
  const name = make("span", "dp-name");
  const value = make("output", "dp-value");
  const input = make("input");
  const meaning = make("small");
  input.type = "range";
  input.addEventListener("input", () => onInput(Number(input.value)));
  row.append(name, value, input, meaning);
  box.replaceChildren(row);
  return {
    set({ name: said, is, min, max, step, value: start }) {
      setText(name, said);
      setText(meaning, is);
      Object.assign(input, { min, max, step });
      input.value = String(start);
    },
    say: (text) => setText(value, text),
    now: () => Number(input.value),
  };
}

// The figure is copied: plotly writes into what it is given.
const copy = (figure) => JSON.parse(JSON.stringify(figure));

function showPanel(there, said) {
  part("empty").hidden = there;
  part("body").hidden = !there;
  part("empty").textContent = words.empty;
  plot.setAttribute("aria-label", [words.chart, said].filter(Boolean).join(": "));
  setText(part("note"), said || "");
}
