// Body of a function of (bars, set): see loading.py. A frame of the run view holds overlap, excess and
// residual of every candidate, "all other" last; whatever gets no bar of its own joins it, mass by mass.

const tokens = [...document.querySelectorAll("#run-view .rv-token")];
const index = Math.max(0, tokens.findIndex((token) => token.getAttribute("aria-pressed") === "true"));
const frame = tokens.length ? tokens[index].frame : null;
if (!frame || !frame.overlap) return { ...bars, source: "own", note: set.none };

const masses = frame.ids.map((id, i) => ({
  name: [...String(frame.labels[i])].slice(0, set.longest).join(""), other: id === null,
  overlap: frame.overlap[i], excess: frame.excess[i], residual: frame.residual[i],
}));
const named = masses.filter((m) => !m.other).slice(0, set.named);
const rest = masses.filter((m) => !named.includes(m));
const total = (key) => rest.reduce((sum, m) => sum + m[key], 0);
const other = { name: set.other, other: true, overlap: total("overlap"), excess: total("excess"), residual: total("residual") };

// Whole thousandths that sum to 1 for each model: overlap first, then what is left of each.
function whole(shares, sum) {
  const all = shares.reduce((a, b) => a + b, 0);
  const exact = shares.map((share) => (all > 0 ? (share / all) * sum : 0));
  const down = exact.map(Math.floor);
  const order = exact.map((x, i) => [x - down[i], i]).sort((a, b) => b[0] - a[0]);
  for (let k = sum - down.reduce((a, b) => a + b, 0), j = 0; k > 0 && all > 0; k--, j++) down[order[j % order.length][1]]++;
  return down;
}
const list = [...named, other];
const kept = Math.round(set.unit * list.reduce((sum, m) => sum + m.overlap, 0));
const sure = list.some((m) => m.excess > 0) && list.some((m) => m.residual > 0) ? kept : set.unit;
const overlap = whole(list.map((m) => m.overlap), Math.min(sure, set.unit));
const left = set.unit - overlap.reduce((a, b) => a + b, 0);
const excess = whole(list.map((m) => m.excess), left);
const residual = whole(list.map((m) => m.residual), left);

const result = list.map((m, i) => {
  const q = overlap[i] + excess[i];
  const p = overlap[i] + residual[i];
  const least = Math.min(p, q);
  return { name: m.name, q, p, agree: m.other && least > 0 ? overlap[i] / least : 1 };
}).filter((token, i) => i < named.length || token.p + token.q > 0);
while (result.length < set.fewest) result.push({ name: set.nothing, q: 0, p: 0, agree: 1 });
const note = set.loaded.replace("{position}", index + 1).replace("{other}", set.other);
return { tokens: result, unit: set.unit, source: "loaded", note };
