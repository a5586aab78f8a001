// A number that explains itself: the definition shows on hover, on focus and on tap.

let tipCount = 0;
const viewId = "rv" + Math.random().toString(36).slice(2, 8);

function explained(className) {
  const box = make("span", "rv-explained " + (className || ""));
  const button = make("button", "rv-number");
  const tip = make("span", "rv-tip");
  button.type = "button";
  tip.id = viewId + "-tip-" + tipCount++;
  tip.setAttribute("role", "tooltip");
  button.setAttribute("aria-describedby", tip.id);
  const value = make("strong");
  const name = make("span");
  const note = make("small");
  button.append(value, " ", name, " ", note);
  box.append(button, tip);
  button.addEventListener("keydown", (event) => { if (event.key === "Escape") button.blur(); });
  return { box, value, name, note, tip };
}

function explain(item, value, name, tip, note) {
  setText(item.value, value);
  setText(item.name, name);
  setText(item.tip, tip);
  setText(item.note, note || "");
}
