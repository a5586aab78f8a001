// Small helpers to build the page. Text is set through textContent, never as markup.

function part(name) {
  return element.querySelector(".pg-" + name);
}

function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function fill(sentence, values) {
  return sentence.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

// A token's name in quotes, which stays apart from the words around it in any script.
function quoted(name) {
  return "‘" + name + "’";
}
