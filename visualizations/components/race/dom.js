// Small helpers. Text is set through textContent, never as markup.

const words = props.words;
const SPEEDS = [[1, "1×"], [0.25, "¼×"], [0.1, "1/10×"]];
const QUICK_SHARE = 0.03; // of a round: below it drafting is too short to be drawn to scale
const QUICK_WIDTH = 0.5;
const FILLS = { accepted: "overlap", rejected: "excess", replaced: "residual", bonus: "target", plain: "target" };

function part(name) {
  return element.querySelector(".ra-" + name);
}

function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function fill(sentence, values) {
  return sentence.replace(/{(.+?)}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function seconds(time) {
  return time.toFixed(2) + " s";
}
