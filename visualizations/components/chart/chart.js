// Draws the figure in the value; a new value is drawn into the same plot.

const plot = element.querySelector(".ch-plot");
const said = element.querySelector(".ch-said");
const empty = element.querySelector(".ch-empty");

function draw() {
  const value = JSON.parse(JSON.stringify(props.value || {})); // plotly writes into what it is given
  const there = Boolean(value.figure);
  plot.hidden = !there;
  empty.hidden = there;
  empty.textContent = props.empty;
  said.textContent = value.said || "";
  plot.setAttribute("aria-label", props.name + (value.said ? ": " + value.said : ""));
  if (!there) return;
  drawFigure(plot, value.figure);
}

element.querySelector(".ch").setAttribute("aria-label", props.name);
draw();
watch("value", draw);
keepDrawn(plot, draw); // without plotly the caption has the numbers
