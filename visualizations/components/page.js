// What every component needs to build its part of the page. Text is set through textContent, never as markup.
//
// What a part says is a text, or pieces of one: strings, { data } for what a model or a person wrote, and { in } with
// the pieces in each language. A text may hold all its languages: the page shows the reader's, see languages.js.

const LANGUAGE_SIGN = "\ufdd0";

// A text as the reader sees it, for whoever measures or draws it.
function spoken(text) {
  return window.specdecLanguages ? window.specdecLanguages.say(text) : text;
}

// The same for all texts in plain data.
function spokenAll(plain) {
  return window.specdecLanguages ? window.specdecLanguages.sayAll(plain) : plain;
}

function make(tag, className, said) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (said !== undefined) write(node, said);
  return node;
}

// Marks a node whose text is data: no translator may touch it, and its language is nobody's to say.
function asData(node) {
  node.setAttribute("translate", "no");
  node.setAttribute("lang", "");
  return node;
}

function setText(node, text) {
  if (node.textContent !== spoken(text)) node.textContent = text;
}

function fill(sentence, values) {
  return sentence.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

// The pieces of a sentence; `data` holds those of its values that a model or a person wrote, or several of them.
function pieces(sentence, values, data) {
  if (sentence.startsWith(LANGUAGE_SIGN)) {
    const [languages, versions] = [window.specdecLanguages.languages, sentence.slice(1, -1).split("\ufdd1")];
    return [{ in: Object.fromEntries(languages.map((language, i) => [language, pieces(versions[i], values, data)])) }];
  }
  return sentence.split(/\{(\w+)\}/).flatMap((piece, i) => {
    if (i % 2 === 0) return piece;
    if (!(piece in data)) return String(values[piece]);
    return [data[piece]].flat().flatMap((text, k) => [...(k ? [", "] : []), { data: String(text) }]);
  });
}

function plain(said) {
  return [said].flat().map((piece) => {
    if (typeof piece !== "object") return spoken(piece);
    return piece.in ? plain(piece.in[window.specdecLanguages.now]) : piece.data;
  }).join("");
}

const inLanguages = new WeakMap(); // node -> what it says, in pieces that differ by language

function write(node, said) {
  if ([said].flat().some((piece) => piece.in)) {
    inLanguages.set(node, said);
    node.dataset.inLanguages = "";
  }
  if (node.textContent === plain(said)) return;
  if (typeof said === "string") node.textContent = said;
  else node.replaceChildren(...[said].flat().flatMap(nodesOf));
}

function nodesOf(piece) {
  if (typeof piece !== "object") return [piece];
  return piece.in ? piece.in[window.specdecLanguages.now].flatMap(nodesOf) : [asData(make("bdi", "", piece.data))];
}

// Calls `act` with each event of the document, as long as the node is on the page.
function whileShown(node, name, act) {
  const listen = (event) => (node.isConnected ? act(event) : document.removeEventListener(name, listen));
  document.addEventListener(name, listen);
}

// Calls `draw` when the reader chooses another language.
function onLanguage(node, draw) {
  whileShown(node, "specdec:spoken", () => draw());
}

onLanguage(element, () => {
  for (const node of element.querySelectorAll("[data-in-languages]")) if (inLanguages.has(node)) write(node, inLanguages.get(node));
});

// Calls `draw` when the box has got another width or comes into view again: what is hidden hears of no resize.
function onWidth(box, draw) {
  let before = box.clientWidth;
  new ResizeObserver(() => {
    const changed = box.clientWidth !== before;
    before = box.clientWidth;
    if (changed && before > 0) draw();
  }).observe(box);
}
