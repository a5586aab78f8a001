// A frozen screen: a still copy of the page lies over it. What goes on, and whatever part of the page draws it, goes on
// below, unseen; the copy's drawings have names of their own for their patterns, so that nothing that goes on changes them.

let still = null;

function frozen() {
  return still !== null;
}

function freeze() {
  const page = document.querySelector(".gradio-container");
  const top = scrollY;
  still = page.cloneNode(true);
  still.classList.add("projector-frozen");
  still.inert = true;
  keepLooks(page, still);
  renameDrawings(still);
  page.after(still);
  page.inert = true;
  still.scrollTop = top;
  keepScrolls(page, still);
}

function thaw() {
  if (!still) return;
  document.querySelector(".gradio-container").inert = false;
  still.remove();
  still = null;
}

// What a copy of the nodes lacks.
function keepLooks(page, copy) {
  const boxes = [...page.querySelectorAll("input, textarea, select")];
  copy.querySelectorAll("input, textarea, select").forEach((box, i) => {
    box.value = boxes[i].value;
    box.checked = boxes[i].checked;
  });
}

function keepScrolls(page, copy) {
  const copies = copy.querySelectorAll("*");
  page.querySelectorAll("*").forEach((node, i) => {
    if (node.scrollTop || node.scrollLeft) Object.assign(copies[i], { scrollTop: node.scrollTop, scrollLeft: node.scrollLeft });
  });
}

function renameDrawings(copy) {
  for (const node of copy.querySelectorAll("svg, svg *")) {
    for (const { name, value } of [...node.attributes]) {
      if (name === "id") node.id = value + "-still";
      else if (value.includes("#")) node.setAttribute(name, value.replace(/(url\(["']?#[^"')]+)|^(#.+)/g, "$1$2-still"));
    }
  }
}
