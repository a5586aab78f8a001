// Small helpers to build the page. Text is set through textContent, never as markup.

function part(name) {
  return element.querySelector(".pg-" + name);
}

// A token's name in quotes, which stays apart from the words around it in any script.
function quoted(name) {
  return "‘" + name + "’";
}
