// Small helpers. Text is set through textContent, never as markup.

const words = props.words;
const SPEEDS = [[1, "1×"], [0.25, "¼×"], [0.1, "1/10×"]];
const QUICK_SHARE = 0.03; // of a round: below it drafting is too short to be drawn to scale
const QUICK_WIDTH = 0.5;
const FILLS = { accepted: "overlap", rejected: "excess", replaced: "residual", bonus: "target", plain: "target" };

function part(name) {
  return element.querySelector(".ra-" + name);
}

function seconds(time) {
  return time.toFixed(2) + " s";
}
