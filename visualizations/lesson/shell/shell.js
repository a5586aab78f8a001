// The pages of the lesson: one is shown, any may be opened, and a mark tells which questions were answered.

const words = props.words;
const pages = props.pages;
const progress = recallProgress();
const buttons = [];
let open = Math.max(0, numberOf(progress.page));

function part(name) {
  return element.querySelector(".ls-" + name);
}

// Index of a page by its number (from 1) or its key; -1 where there is none.
function numberOf(page) {
  const index = typeof page === "number" ? page - 1 : pages.findIndex(({ key }) => key === page);
  return Number.isInteger(index) && index < pages.length ? index : -1;
}

function turn(index) {
  open = Math.max(0, Math.min(pages.length - 1, index));
  progress.page = pages[open].key;
  keepProgress(progress);
  draw();
  reach();
  tellPage();
}

function tellPage() {
  document.dispatchEvent(new CustomEvent("specdec:lesson-page", { detail: { page: open + 1, key: pages[open].key } }));
}

// Has the column of the open page made, unless it is there already.
function reach() {
  if (!columnOf(open)) {
    props.value = { reached: props.value.reached.map((before, i) => before || i === open) };
    trigger("reach");
  }
  showWhenThere();
}

function columnOf(index) {
  return document.getElementById("lesson-" + pages[index].key);
}

function showWhenThere() {
  pages.forEach((_, i) => {
    const column = columnOf(i);
    if (column) column.classList.toggle("lesson-current", i === open);
  });
  if (!columnOf(open) && element.isConnected) requestAnimationFrame(showWhenThere);
}

function draw() {
  buttons.forEach((button, i) => {
    const mark = progress.marks[pages[i].key];
    button.setAttribute("aria-current", i === open ? "page" : "false");
    button.dataset.mark = mark || "";
    setText(button.querySelector(".ls-mark"), mark ? words.signs[mark] : "");
    button.setAttribute("aria-label", fill(words[mark || "unmarked"], { page: i + 1, title: pages[i].title }));
  });
  setText(part("place"), fill(words.place, { page: open + 1, pages: pages.length }));
  part("back").disabled = open === 0;
  part("next").disabled = open === pages.length - 1;
}

// A question "coin.3" is the fourth of the page "coin"; what was right once stays so.
function onAnswered({ detail }) {
  const key = String(detail.question).split(".")[0];
  if (numberOf(key) < 0 || progress.marks[key] === "right") return;
  progress.marks[key] = detail.right && key === detail.question ? "right" : "tried";
  keepProgress(progress);
  draw();
}

function onAsked({ detail }) {
  const index = numberOf(detail.page);
  if (index < 0) return;
  turn(index);
  element.scrollIntoView({ block: "start" });
}

function pageButton({ title }, index) {
  const button = make("button", "ls-page");
  button.type = "button";
  button.title = title;
  button.append(make("b", "", String(index + 1)), make("span", "ls-title", title), make("span", "ls-mark"));
  button.addEventListener("click", () => turn(index));
  buttons.push(button);
  const item = make("li");
  item.append(button);
  return item;
}

element.querySelector("nav").setAttribute("aria-label", words.pages);
part("pages").append(...pages.map(pageButton));
for (const [name, by] of [["back", -1], ["next", 1]]) {
  setText(part(name), words[name]);
  part(name).addEventListener("click", () => turn(open + by));
}
setText(part("marks"), words.marks);
whileShown(element, "specdec:lesson", onAsked);
whileShown(element, "specdec:answered", onAnswered);
whileShown(element, "specdec:room-ready", tellPage); // it came later than the page was told
turn(open);
