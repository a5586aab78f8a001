// Small helpers to build the page. Text is set through textContent, never as markup.

function part(name) {
  return element.querySelector(".pg-" + name);
}

// The first `count` characters; one that takes two places in a string is never halved.
function firstOf(text, count) {
  return [...text].slice(0, count).join("");
}

// A token's name in quotes, which stays apart from the words around it in any script.
function quoted(name) {
  return "‘" + name + "’";
}
