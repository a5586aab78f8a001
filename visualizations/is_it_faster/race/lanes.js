// Builds the lanes of a value once; the clock then only uncovers them.
//
// lanes: { node, count, bar, scroll, blocks, hand, tokens: [{ node, at }], ends: [finish of each token], seconds, limit }

let lanes = [];
let total = 0; // seconds of the slower lane: both are drawn to this scale

const emittedKinds = ["accepted", "replaced", "bonus", "plain"];

function emitted(block) {
  return block[4].filter(([kind]) => emittedKinds.includes(kind));
}

function buildLanes(value) {
  const ends = value.lanes.map((lane) => (lane.blocks.length ? lane.blocks[lane.blocks.length - 1][3] : 0));
  total = Math.max(...ends, 0);
  const scrolled = lanes.length ? lanes[0].scroll.scrollLeft : 0;
  lanes = value.lanes.map((lane, i) => buildLane(lane, ends[i]));
  part("lanes").replaceChildren(...lanes.map((lane) => lane.node));
  for (const lane of lanes) lane.scroll.scrollLeft = scrolled;
}

function buildLane(lane, end) {
  const node = make("div", "ra-lane");
  const head = make("div", "ra-head");
  const count = make("span", "ra-count");
  head.append(make("strong", "", lane.name), count);
  const progress = make("div", "ra-progress");
  const bar = make("i", "ra-bar ra-bar-" + lane.key);
  progress.append(bar);
  const scroll = make("div", "ra-scroll");
  const track = make("div", "ra-track");
  track.setAttribute("role", "img");
  track.setAttribute("aria-label", fill(words.track_name, {
    lane: lane.name, rounds: lane.blocks.length, tokens: lane.blocks.reduce((n, b) => n + emitted(b).length, 0), seconds: seconds(end),
  }));
  const blocks = make("div", "ra-blocks");
  lane.blocks.forEach((block, i) => blocks.append(...blockNodes(block, i)));
  const hand = make("div", "ra-hand");
  track.append(blocks, hand);
  scroll.append(track, axisNode());
  scroll.addEventListener("scroll", () => {
    for (const other of lanes) if (other.scroll !== scroll) other.scroll.scrollLeft = scroll.scrollLeft;
  });
  const text = asData(make("p", "ra-text"));
  const tokens = lane.blocks.flatMap((block) => emitted(block).map(([kind, , content]) => {
    const span = make("span", "ra-word ra-" + kind, content);
    text.append(span);
    return { node: span, at: block[3] };
  }));
  node.append(head, progress, scroll, text);
  return { node, count, bar, scroll, blocks, hand, tokens, seconds: end, limit: lane.limit, told: lane.told, shown: tokens.length };
}

// Drafts that were copied and not computed take next to no time: they lie on the pass, not to scale.
function isQuick(started, drafted, verified) {
  return drafted - started < QUICK_SHARE * (verified - started);
}

function anyQuick(value) {
  return value.lanes.some((lane) => lane.blocks.some(([started, drafted, verified, , tokens]) => tokens.length > 1 && isQuick(started, drafted, verified)));
}

function place(node, from, to) {
  node.style.left = (100 * from) / total + "%";
  node.style.width = (100 * Math.max(0, to - from)) / total + "%";
  return node;
}

// A round: a cell for each draft in the order drafted, the target's pass with the token it added at its end.
function blockNodes([started, drafted, verified, finished, tokens], index) {
  const drafts = tokens.filter(([kind]) => ["accepted", "rejected", "discarded"].includes(kind));
  const own = tokens.find(([kind]) => ["replaced", "bonus", "plain"].includes(kind));
  const quick = isQuick(started, drafted, verified);
  const each = (quick ? QUICK_WIDTH * (verified - started) : drafted - started) / Math.max(1, drafts.length);
  const nodes = drafts.map(([kind, label], i) => {
    const from = started + each * i;
    const look = "ra-draft ra-cell-" + kind + (FILLS[kind] ? " fill-" + FILLS[kind] : "") + (quick ? " ra-quick" : "");
    const cell = place(make("i", look), from, from + each);
    cell.title = fill(words.draft_cell, { label, fate: words.key[kind] });
    return cell;
  });
  const pass = place(make("i", "ra-pass fill-target"), drafted, verified);
  pass.title = fill(words.pass, {
    round: index + 1, drafts: drafts.length, kept: drafts.filter(([kind]) => kind === "accepted").length,
    ms: (1000 * (verified - drafted)).toFixed(1), label: own ? own[1] : "–",
  });
  if (own) pass.append(make("b", "ra-own fill-" + FILLS[own[0]]));
  const busy = drafts.length ? [place(make("i", "ra-busy ra-busy-draft"), started, drafted)] : [];
  return [...nodes, pass, ...busy, place(make("i", "ra-busy ra-busy-target"), drafted, verified)];
}

// Seconds below a track.
function axisNode() {
  const axis = make("div", "ra-axis");
  axis.setAttribute("aria-hidden", "true");
  const steps = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50];
  const step = steps.find((s) => total / s <= (element.clientWidth < 520 ? 4 : 10)) || 100;
  for (let time = 0; time <= 0.97 * total && total > 0; time += step) {
    const tick = make("span", "ra-tick", Number(time.toFixed(2)) + " s");
    tick.style.left = (100 * time) / total + "%";
    axis.append(tick);
  }
  return axis;
}

// How many fit depends on the width.
function drawAxes() {
  for (const lane of lanes) lane.scroll.lastChild.replaceWith(axisNode());
}

function drawKey() {
  const items = ["accepted", "rejected", "discarded", "target", "replaced", "bonus"].map((kind) => {
    const item = make("span", "ra-item");
    item.append(make("i", "ra-swatch ra-cell-" + kind + " fill-" + (FILLS[kind] || (kind === "target" ? "target" : "none"))), words.key[kind]);
    return item;
  });
  const stripes = ["draft", "target"].map((who) => {
    const item = make("span", "ra-item");
    item.append(make("i", "ra-stripe ra-busy-" + who), words.key["busy_" + who]);
    return item;
  });
  part("key").replaceChildren(...items, ...stripes);
}
