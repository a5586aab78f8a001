// The selected bars as a picture to keep: drawn anew off screen on a light ground, whatever the theme, below what is
// said of them and above what was run. Another part of the page asks for one; see take_away.js.

const PICTURE = { width: 960, side: 24, line: 20, legend: 64, plot: 300, ticks: 130 };
const PAPER = "#ffffff";
const INK = "#1f2937";
const LETTERS = "Arial, Helvetica, sans-serif";
const ruler = document.createElement("canvas").getContext("2d");

// Text in lines that fit, at spaces where there are any; a long word is cut.
function wrapped(text, font) {
  ruler.font = font + " " + LETTERS;
  const lines = [""];
  for (const piece of text.match(/\s+|\S{1,24}/gu) || []) {
    const longer = lines[lines.length - 1] + piece;
    const fits = ruler.measureText(longer.trimEnd()).width <= PICTURE.width - 2 * PICTURE.side;
    if (fits) lines[lines.length - 1] = longer;
    else lines.push(piece.trimStart());
  }
  return lines.map(escaped);
}

function noteOf(lines, place) {
  return {
    text: lines.join("<br>"), align: "left", xanchor: "left", x: 0, xref: "paper", yref: "paper",
    showarrow: false, borderpad: 0, ...place,
  };
}

// The figure, and how high it has to be.
function pictureOf(frame) {
  const { data, layout } = barsFigure(frame);
  const title = wrapped(part("title").textContent, "bold 16px").map((line) => "<b>" + line + "</b>");
  const caption = [...title, ...wrapped(part("sentence").textContent, "15px")];
  const settings = wrapped(part("settings").textContent, "14px");
  const { side, line, legend, plot, ticks } = PICTURE;
  const margin = {
    l: layout.margin.l, r: side,
    t: side + caption.length * line + legend,
    b: ticks + settings.length * line + side,
  };
  const left = { xshift: side - margin.l };
  const height = margin.t + plot + margin.b;
  return {
    height,
    data: data.map((trace) => (trace.yaxis === "y2" ? { ...trace, marker: { ...trace.marker, color: INK } } : trace)),
    layout: {
      ...layout,
      margin,
      height,
      width: PICTURE.width,
      paper_bgcolor: PAPER,
      plot_bgcolor: PAPER,
      font: { family: LETTERS, size: 14, color: INK },
      showlegend: true,
      legend: { ...layout.legend, x: 0, y: 1, yanchor: "bottom" },
      xaxis: { ...layout.xaxis, tickangle: figure.layout.xaxis.tickangle, title: figure.layout.xaxis.title },
      annotations: [
        noteOf(caption, { ...left, y: 1, yanchor: "bottom", yshift: legend, font: { size: 15 } }),
        noteOf(settings, { ...left, y: 0, yanchor: "top", yshift: -ticks, font: { size: 14 } }),
      ],
    },
  };
}

async function savePicture(frame, format, filename) {
  await plotlyReady();
  const { data, layout, height } = pictureOf(frame);
  return window.Plotly.downloadImage(spokenAll({ data, layout }), { format, filename, width: PICTURE.width, height, scale: format === "png" ? 2 : 1 });
}

function onPictureAsked(event) {
  if (!element.isConnected) return document.removeEventListener("specdec:picture", onPictureAsked);
  const here = current();
  if (!here || event.detail.saved) return;
  event.detail.saved = savePicture(here.frame, event.detail.format, spoken(fill(words.picture, { index: state.index + 1 })));
}

hear("specdec:picture", onPictureAsked);
