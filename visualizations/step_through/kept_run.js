// The runs of this page, for those who ask for them, and which of them is on screen. A reload doesn't end that one:
// see `reopen_script`.

const kept = new Map(); // by the run's name

// The tree of runs outlives a reload too, as far as the browser has room.
const MOST_KEPT = 4_000_000;

let tree = []; // { run, name, origin } of each

function keepTree() {
  const whole = tree.map((run) => ({ ...run, kept: kept.get(run.run) })).filter((run) => run.kept);
  const size = whole.reduce((sum, { kept }) => sum + (kept.trace || "").length, 0);
  remember("tree", whole.length > 1 && size < MOST_KEPT ? whole : null);
}

function receive() {
  const value = props.value || {};
  for (const run of value.session || [value]) if (run.run) kept.set(run.run, run);
  if (value.session) show(value.run);
  else if (value.show) show(value.show);
  else keep(value);
  if (value.run) keepTree(); // behind the run on screen, which has the first claim on the room
}

// props.value set here is no news to anybody: only what an event gives the component is.
function show(run) {
  props.value = kept.get(run) || { missing: "none" };
  keep(props.value);
}

function keep(value) {
  if (!remember("run", value)) remember("run", { missing: "too_large" });
}

// What the page's other parts ask of this one, while it is there.
const ASKED = {
  "specdec:shown": ({ run }) => show(run),
  "specdec:forget": ({ run }) => kept.delete(run),
  "specdec:tree": ({ runs }) => {
    tree = runs;
    keepTree();
  },
  "specdec:wish": (wish) => pass({ ...wish, kept: kept.get(wish.run) || props.value }),
  "specdec:session": ({ runs }) => pass({ runs: runs.map((run) => ({ ...run, kept: kept.get(run.run) })) }),
};

function pass(detail) {
  document.dispatchEvent(new CustomEvent("specdec:ask", { detail }));
}

for (const [name, act] of Object.entries(ASKED)) {
  const listen = (event) => (element.isConnected ? act(event.detail) : document.removeEventListener(name, listen));
  document.addEventListener(name, listen);
}
if (props.value && props.value.run) kept.set(props.value.run, props.value);
watch("value", () => {
  receive();
  if (props.value && props.value.reopened) trigger("reopened");
});
onConnectionLost(() => remember("lost", true));
