// Small helpers to build the page. Text is set through textContent, never as markup.

const MARKS = /[␣⏎⇥␍⍽]+/g;

function part(name) {
  return element.querySelector(".rv-" + name);
}

function show(node, visible) {
  if (node.hidden === visible) node.hidden = !visible;
}

// To the page's other parts, and from them. A view that is alone concerns none of them.
function tell(name, detail) {
  if (!props.alone) document.dispatchEvent(new CustomEvent(name, { detail }));
}

function hear(name, act) {
  if (!props.alone) document.addEventListener(name, act);
}

// A token's label with its space marks dimmed, so that the words stand out.
function labelNode(tag, className, label) {
  const node = asData(make(tag, className));
  let end = 0;
  for (const found of label.matchAll(MARKS)) {
    node.append(label.slice(end, found.index), make("span", "rv-mark", found[0]));
    end = found.index + found[0].length;
  }
  node.append(label.slice(end));
  return node;
}

// What a screen reader says of a token beyond its text.
function extras(token) {
  const said = [];
  if (token.special) said.push(words.token.special);
  if (token.part) said.push(fill(words.token.part, { bytes: token.part }));
  said.push(fill(words.token.id, { id: token.id }));
  return said.join(", ");
}
