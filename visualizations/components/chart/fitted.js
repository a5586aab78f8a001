// On a phone the legend goes below the plot, where its lines take no height from it, and type shrinks.

const NARROW = 520;

function fitted(plot, layout) {
  const touch = matchMedia("(pointer: coarse)").matches;
  const fit = { ...layout, dragmode: touch ? false : "zoom", uirevision: "keep" };
  if (plot.clientWidth >= NARROW) return fit;
  fit.font = { ...layout.font, size: 12 };
  fit.margin = { ...layout.margin, l: 44 };
  for (const name of ["xaxis", "yaxis"].filter((one) => layout[one])) {
    const title = layout[name].title;
    fit[name] = { ...layout[name], tickfont: { size: 12 }, title: title && { ...title, font: { size: 12 } } };
  }
  fit.legend = { ...layout.legend, y: -0.25, yanchor: "top", font: { size: 12 } };
  fit.height = layout.height + (layout.showlegend === false ? 0 : 110);
  if (fit.annotations) fit.annotations = fit.annotations.map((note) => ({ ...note, font: { size: 11 } }));
  return fit;
}

// Draws a figure of Python's into the box, which keeps its height while plotly is on its way.
function drawFigure(plot, figure) {
  const layout = fitted(plot, figure.layout);
  plot.style.minHeight = layout.height + "px";
  return drawPlot(plot, figure.data, layout);
}
