const box = element.querySelector(".tv");

function tableOf(entry) {
  const table = make("table");
  if (entry.caption) table.append(make("caption", "", entry.caption));
  const head = make("tr");
  for (const name of entry.columns) head.append(make("th", "", name));
  const body = make("tbody");
  entry.rows.forEach((row, r) => {
    const line = make("tr", r === entry.marked ? "tv-marked" : "");
    row.forEach((text, c) => {
      const cell = make(c === 0 ? "th" : "td", "", text);
      if (c > 0) cell.dataset.label = plain(entry.columns[c]);
      if (c === 0 && entry.tags[r]) cell.append(" ", make("span", "tv-tag tv-" + entry.tags[r], props.tag_words[entry.tags[r]]));
      line.append(cell);
    });
    body.append(line);
  });
  const top = make("thead");
  top.append(head);
  table.append(top, body);
  const scroller = make("div", "tv-scroll");
  scroller.append(table);
  return scroller;
}

function draw() {
  const tables = (props.value && props.value.tables) || [];
  box.replaceChildren(...JSON.parse(JSON.stringify(tables)).map((entry) => {
    const part = make("section");
    if (entry.title) part.append(make("h3", "", entry.title));
    if (entry.intro) part.append(make("p", "", entry.intro));
    if (entry.columns.length) part.append(tableOf(entry));
    if (entry.note) part.append(make("p", "tv-note", entry.note));
    return part;
  }));
}

draw();
watch("value", draw);
