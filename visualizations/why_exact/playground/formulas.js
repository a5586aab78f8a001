// Formulas: KaTeX from Gradio's own files. Until it is there, and where it isn't, a plain text stands in.

let katex = null;
const formulaSources = new WeakMap();

function loadKatex() {
  if (window.specdecKatex) return window.specdecKatex(); // of a page without a server
  const files = props.katex;
  if (!files.js) return Promise.reject(new Error("no KaTeX"));
  const root = ((window.gradio_config && window.gradio_config.root) || "").replace(/\/$/, "");
  if (!document.querySelector("link[data-specdec-katex]")) {
    const sheet = document.createElement("link");
    sheet.rel = "stylesheet";
    sheet.href = root + "/assets/" + files.css;
    sheet.dataset.specdecKatex = "";
    document.head.append(sheet);
  }
  return import(root + "/assets/" + files.js);
}

// Draws `tex` into `node` unless it shows it already. `plain` is what a screen reader says.
function drawFormula(node, texts, inWords) {
  const [tex, plain] = [texts, inWords].map(spoken);
  if (formulaSources.get(node) === tex && node.dataset.drawn === String(katex !== null)) return;
  formulaSources.set(node, tex);
  node.dataset.drawn = String(katex !== null);
  node.setAttribute("aria-label", plain);
  if (katex) katex.render(tex, node, { output: "html", throwOnError: false, strict: false, trust: isInk });
  else node.textContent = plain;
}

const SMALL = "p_{\\text{small}}";
const BIG = "p_{\\text{big}}";

// A formula may name a class, for the colour of a meaning, and nothing else of HTML.
function isInk(context) {
  return context.command === "\\htmlClass";
}

function colored(meaning, tex) {
  return meaning ? `\\htmlClass{pg-ink-${meaning}}{${tex}}` : tex;
}

// "0.30 + 0.20 + 0.15 + 0.00", each number in the colour of its meaning.
function termsTex(counts, meaning) {
  return counts.map((count) => colored(meaning, shown(count))).join(" + ");
}

function termsText(counts) {
  return counts.map(shown).join(" + ");
}
