// Draws the figure in the value; a new value is drawn into the same plot.

const plot = element.querySelector(".ch-plot");
const said = element.querySelector(".ch-said");
const empty = element.querySelector(".ch-empty");
const NARROW = 520;

// On a phone the legend goes below the plot, where its lines take no height from it, and type shrinks.
function fitted(layout) {
  const narrow = plot.clientWidth < NARROW;
  const touch = matchMedia("(pointer: coarse)").matches;
  const fit = { ...layout, dragmode: touch ? false : "zoom", uirevision: "keep" };
  if (!narrow) return fit;
  fit.font = { ...layout.font, size: 12 };
  fit.margin = { ...layout.margin, l: 44 };
  for (const name of ["xaxis", "yaxis"]) {
    const title = layout[name].title;
    fit[name] = { ...layout[name], tickfont: { size: 12 }, title: title && { ...title, font: { size: 12 } } };
  }
  fit.legend = { ...layout.legend, y: -0.25, yanchor: "top", font: { size: 12 } };
  fit.height = layout.height + 110;
  if (fit.annotations) fit.annotations = fit.annotations.map((note) => ({ ...note, font: { size: 11 } }));
  return fit;
}

function draw() {
  const value = JSON.parse(JSON.stringify(props.value || {})); // plotly writes into what it is given
  const there = Boolean(value.figure);
  plot.hidden = !there;
  empty.hidden = there;
  empty.textContent = props.empty;
  said.textContent = value.said || "";
  plot.setAttribute("aria-label", props.name + (value.said ? ": " + value.said : ""));
  if (!there) return;
  const layout = fitted(value.figure.layout);
  plot.style.minHeight = layout.height + "px";
  drawPlot(plot, value.figure.data, layout);
}

element.querySelector(".ch").setAttribute("aria-label", props.name);
draw();
watch("value", draw);
keepDrawn(plot, draw); // without plotly the caption has the numbers
