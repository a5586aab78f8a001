// Sets the words of the value. Nothing here is markup.

const root = element.querySelector(".rp");
const part = (name) => element.querySelector(".rp-" + name);
const LONGEST_NUMBER = 30; // a longer cell is a sentence and may wrap

function factNode(fact) {
  const box = make("div", "rp-fact");
  box.append(make("dt", "", fact.name), make("dd", "rp-value", fact.value), make("dd", "rp-is", fact.is));
  return box;
}

function tableNode(table) {
  const grid = make("table");
  const wordy = table.head.map((_, i) => i > 0 && table.rows.some((row) => plain(row[i]).length > LONGEST_NUMBER));
  const head = make("tr");
  table.head.forEach((name, i) => {
    const cell = make("th", wordy[i] ? "rp-words" : "", name);
    cell.scope = "col";
    head.append(cell);
  });
  const top = make("thead");
  top.append(head);
  const body = make("tbody");
  for (const row of table.rows) {
    const line = make("tr");
    row.forEach((text, i) => {
      const cell = make(i ? "td" : "th", wordy[i] ? "rp-words" : "", text);
      if (!i) cell.scope = "row";
      line.append(cell);
    });
    body.append(line);
  }
  const scroll = make("div", "rp-scroll");
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", table.caption);
  scroll.append(grid);
  if (!table.folded) {
    grid.append(make("caption", "", table.caption), top, body);
    return scroll;
  }
  grid.append(top, body);
  const details = make("details");
  details.append(make("summary", "", table.caption), scroll);
  return details;
}

function draw() {
  const value = props.value || {};
  const open = [...element.querySelectorAll("details")].map((details) => details.open);
  root.setAttribute("aria-label", props.name);
  part("verdict").textContent = value.verdict || "";
  part("verdict").hidden = !value.verdict;
  part("verdict").dataset.mood = value.mood || "";
  part("facts").replaceChildren(...(value.facts || []).map(factNode));
  part("tables").replaceChildren(...(value.tables || []).map(tableNode));
  [...element.querySelectorAll("details")].forEach((details, i) => { details.open = Boolean(open[i]); });
  part("note").textContent = value.note || "";
  part("note").hidden = !value.note;
}

draw();
watch("value", draw);
