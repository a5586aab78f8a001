// What every component needs to build its part of the page. Text is set through textContent, never as markup.
//
// What a part says is a text, or pieces of one: strings, and { data } for what a model or a person wrote.

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
  if (node.textContent !== text) node.textContent = text;
}

function fill(sentence, values) {
  return sentence.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

// The pieces of a sentence; `data` holds those of its values that a model or a person wrote.
function pieces(sentence, values, data) {
  return sentence.split(/\{(\w+)\}/).map((piece, i) => {
    if (i % 2 === 0) return piece;
    return piece in data ? { data: String(data[piece]) } : String(values[piece]);
  });
}

function plain(said) {
  return [said].flat().map((piece) => (typeof piece === "object" ? piece.data : piece)).join("");
}

function write(node, said) {
  if (node.textContent === plain(said)) return;
  if (typeof said === "string") node.textContent = said;
  else node.replaceChildren(...[said].flat().map((piece) => (typeof piece === "object" ? asData(make("bdi", "", piece.data)) : piece)));
}

// Calls `draw` when the box has got another width or comes into view again: what is hidden hears of no resize.
function onWidth(box, draw) {
  let before = box.clientWidth;
  new ResizeObserver(() => {
    const changed = box.clientWidth !== before;
    before = box.clientWidth;
    if (changed && before > 0) draw();
  }).observe(box);
}
