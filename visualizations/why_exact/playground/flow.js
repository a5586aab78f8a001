// Mass from p_small on the left to p_big on the right: kept mass goes straight, rejected mass crosses.

const SVG = "http://www.w3.org/2000/svg";
const FLOW_HEIGHT = 330;
const FLOW_GAP = 10;
const FLOW_NODE = 16;
const flowId = "pg" + Math.random().toString(36).slice(2, 8);
const flow = part("flow");
let flowWidth = 600; // kept by a ResizeObserver: asking for it while drawing would cost a layout

function draw(tag, attributes, title) {
  const node = document.createElementNS(SVG, tag);
  for (const name in attributes) node.setAttribute(name, attributes[name]);
  if (title) asData(node.appendChild(document.createElementNS(SVG, "title"))).textContent = title;
  return node;
}

// The patterns of the page's figures, and the change from excess to residual.
function flowDefs(width, margin) {
  const box = document.createElementNS(SVG, "defs");
  const stripes = draw("pattern", { id: flowId + "-excess", width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  stripes.append(draw("rect", { width: 2.4, height: 7, class: "pg-paint-excess" }));
  const dots = draw("pattern", { id: flowId + "-residual", width: 6, height: 6, patternUnits: "userSpaceOnUse" });
  dots.append(draw("circle", { cx: 3, cy: 3, r: 1.7, class: "pg-paint-residual" }));
  const change = draw("linearGradient", { id: flowId + "-change", gradientUnits: "userSpaceOnUse", x1: margin, x2: width - margin, y1: 0, y2: 0 });
  change.append(draw("stop", { offset: "15%", class: "pg-stop-excess" }), draw("stop", { offset: "85%", class: "pg-stop-residual" }));
  box.append(stripes, dots, change);
  return box;
}

// Where each token's two parts lie on one side: { overlap: [y, height], other: [y, height] }.
function flowStack(overlap, other) {
  const gaps = FLOW_GAP * (overlap.length - 1);
  const scale = (FLOW_HEIGHT - gaps) / state.unit;
  let y = 0;
  return overlap.map((mass, i) => {
    const place = { overlap: [y, mass * scale], other: [y + mass * scale, other[i] * scale] };
    y += (mass + other[i]) * scale + FLOW_GAP;
    return place;
  });
}

function band(x1, y1, x2, y2, height) {
  const middle = (x1 + x2) / 2;
  return `M${x1},${y1}C${middle},${y1} ${middle},${y2} ${x2},${y2}v${height}C${middle},${y2 + height} ${middle},${y1 + height} ${x1},${y1 + height}Z`;
}

function drawFlow() {
  const width = flowWidth;
  const { overlap, excess, residual, sums } = today();
  folds["mass-flow"].say(fill(words.results.flow, { excess: shown(sums.excess), beta: shown(sums.overlap) }));
  const left = flowStack(overlap, excess);
  const right = flowStack(overlap, residual);
  const margin = Math.min(118, Math.round(width * 0.32)); // room for the names
  const x1 = margin + FLOW_NODE;
  const x2 = width - margin - FLOW_NODE;
  const nodes = [flowDefs(width, margin)];
  const name = (i) => state.tokens[i].name;
  overlap.forEach((mass, i) => {
    if (!mass) return;
    const title = fill(words.flow_band, { mass: shown(mass), from: name(i), to: name(i) });
    nodes.push(draw("path", { class: "pg-band pg-band-kept", d: band(x1, left[i].overlap[0], x2, right[i].overlap[0], left[i].overlap[1]) }, title));
  });
  const used = { left: left.map((p) => p.other[0]), right: right.map((p) => p.other[0]) };
  excess.forEach((from, i) => residual.forEach((to, j) => {
    if (!from || !to) return;
    const mass = (from * to) / sums.residual;
    const height = (mass * (FLOW_HEIGHT - FLOW_GAP * (overlap.length - 1))) / state.unit;
    const title = fill(words.flow_band, { mass: shown(mass), from: name(i), to: name(j) });
    nodes.push(draw("path", {
      class: "pg-band pg-band-moved", fill: `url(#${flowId}-change)`, d: band(x1, used.left[i], x2, used.right[j], height), "data-from": i, "data-to": j, "data-mass": mass / state.unit,
    }, title));
    used.left[i] += height;
    used.right[j] += height;
  }));
  flowSide(nodes, left, margin, "excess", "q", "end", margin - 8);
  flowSide(nodes, right, x2, "residual", "p", "start", width - margin + 8);
  flow.setAttribute("viewBox", `0 -26 ${width} ${FLOW_HEIGHT + 40}`);
  nodes.push(heading(words.flow_left, 0, "start"), heading(words.flow_right, width, "end"));
  flow.replaceChildren(...nodes);
}

function heading(text, x, anchor) {
  const node = draw("text", { x, y: -12, "text-anchor": anchor, class: "pg-flow-head" });
  node.textContent = text;
  return node;
}

// The blocks of one side and their names, which are pushed apart where blocks are thin.
function flowSide(nodes, stack, x, meaning, which, anchor, labelX) {
  let lowest = -12;
  stack.forEach((place, i) => {
    const whole = place.overlap[1] + place.other[1];
    if (!whole) return;
    nodes.push(draw("rect", { x, y: place.overlap[0], width: FLOW_NODE, height: place.overlap[1], class: "pg-paint-overlap pg-block pg-is-overlap" }));
    nodes.push(draw("rect", { x, y: place.other[0], width: FLOW_NODE, height: place.other[1], fill: `url(#${flowId}-${meaning})`, class: `pg-block pg-edge-${meaning} pg-is-${meaning}` }));
    lowest = Math.max(lowest + 17, place.overlap[0] + whole / 2 + 5);
    const label = asData(draw("text", { x: labelX, y: lowest, "text-anchor": anchor, class: "pg-flow-label" }));
    const token = state.tokens[i];
    const room = flowWidth > 420 ? 9 : 6;
    const short = firstOf(token.name, room) === token.name ? token.name : firstOf(token.name, room - 1) + "…";
    label.textContent = `${quoted(short)} ${shown(token[which])}`;
    nodes.push(label);
  });
}
