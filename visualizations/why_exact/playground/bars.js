// The bars: for each token two columns, p_small = overlap + excess and p_big = overlap + residual.

const TOPS = [0.25, 0.5, 1];
const SLIDER_HEIGHT = 300;
let columns = [];
let top01 = 1;

function fitTop() {
  const highest = Math.max(...state.tokens.map((token) => Math.max(token.p, token.q))) / state.unit;
  top01 = TOPS.find((top) => highest <= top) || 1;
}

// Builds the bars anew: another set of tokens. A drag only moves them.
function buildBars() {
  columns = state.tokens.map((token, index) => {
    const group = make("div", "pg-group");
    const pair = make("div", "pg-pair");
    const small = column(index, "q", ["overlap", "excess"]);
    const big = column(index, "p", ["overlap", "residual"]);
    const name = asData(make("div", "pg-name", token.name));
    const badge = make("div", "pg-badge");
    pair.append(small.box, big.box);
    group.append(pair, name, badge);
    return { group, small, big, name, badge };
  });
  part("bars").replaceChildren(...columns.map((item) => item.group));
  part("bars").style.setProperty("--pg-count", state.tokens.length);
  part("bars").classList.toggle("pg-many", state.tokens.length > 5);
}

function column(index, which, meanings) {
  const box = make("div", "pg-column pg-" + which);
  const value = make("span", "pg-value");
  const stack = make("div", "pg-stack");
  const segments = meanings.map((meaning) => make("i", "pg-segment pg-is-" + meaning + " fill-" + meaning));
  stack.append(...segments);
  box.append(stack, value, grip());
  box.tabIndex = 0;
  box.setAttribute("role", "slider");
  box.setAttribute("aria-orientation", "vertical");
  box.setAttribute("aria-valuemin", "0");
  box.setAttribute("aria-valuemax", "1");
  box.dataset.which = which;
  box.dataset.index = index;
  return { box, value, stack, segments };
}

// Where a finger takes hold of a column: on the column itself it scrolls the page.
function grip() {
  const node = make("span", "pg-grip", "↕\ufe0e");
  node.setAttribute("aria-hidden", "true");
  return node;
}

function drawColumn(item, token, which, upper) {
  const { overlap } = partsOf(token);
  const [low, high] = item.segments;
  const scale = 100 / (state.unit * top01);
  low.style.height = overlap * scale + "%";
  high.style.height = upper * scale + "%";
  high.style.bottom = overlap * scale + "%";
  item.value.style.bottom = `calc(${Math.min(100, token[which] * scale)}% + 3px)`;
  setText(item.value, shown(token[which]));
  item.box.setAttribute("aria-valuenow", shown(token[which]));
}

function drawBars() {
  state.tokens.forEach((token, i) => {
    const masses = partsOf(token);
    const item = columns[i];
    drawColumn(item.small, token, "q", masses.excess);
    drawColumn(item.big, token, "p", masses.residual);
    const kind = setOf(token);
    setText(item.badge, kind === "both" ? words.set_both : fill(words.set_badge, { amount: words[wordOf(token)], set: kind }));
  });
}

// "A": too much or just enough. "B": too little. "all other" has tokens of both.
function setOf(token) {
  if (token.agree < 1) return "both";
  return token.q >= token.p ? "A" : "B";
}

function wordOf(token) {
  if (token.q === token.p) return "just";
  return token.q > token.p ? "too_much" : "too_little";
}

function nameBars() {
  state.tokens.forEach((token, i) => {
    const { small, big, name } = columns[i];
    setText(name, token.name);
    small.box.setAttribute("aria-label", fill(words.slider, { model: words.small, name: token.name }));
    big.box.setAttribute("aria-label", fill(words.slider, { model: words.big, name: token.name }));
  });
}

function drawAxis() {
  part("axis").replaceChildren(
    ...[1, 0.8, 0.6, 0.4, 0.2, 0].map((share) => {
      const line = make("span", "pg-tick", String(Number((share * top01).toPrecision(2))));
      line.style.bottom = 100 * share + "%";
      return line;
    })
  );
}

function drawLegend() {
  part("legend").replaceChildren(
    make("span", "pg-key pg-key-wide", words.columns),
    ...["overlap", "excess", "residual"].map((name) => {
      const item = make("span", "pg-key");
      item.append(make("i", "pg-swatch fill-" + name), words.legend[name]);
      return item;
    })
  );
}
