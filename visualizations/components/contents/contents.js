// The line, the jump to a section, and which section is being read.

const GAP = 12; // px between the line and what it leads to
const PATIENCE_MS = 10000; // a figure that is drawn late still moves what stands below it
const READING = 0.3; // of what is in view below the line: a section that begins higher is being read
const line = element.querySelector(".contents");
const links = new Map();
let settled = () => {};
let pressed = false; // nothing moves under a finger
let jumped = false; // the section that was asked for is the current one until the reader scrolls

function address(id) {
  return "#" + new URLSearchParams({ tab: props.tab, section: id });
}

function build() {
  line.setAttribute("aria-label", props.name);
  for (const [id, words] of JSON.parse(JSON.stringify(props.value))) {
    const link = make("a", "", words);
    link.href = address(id);
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      history.pushState(null, "", link.href);
      jump(id);
    });
    links.set(id, link);
    line.append(link);
  }
}

function jump(id) {
  if (!links.has(id)) return;
  jumped = true;
  mark(id);
  stayAt(id);
}

// Opens the section and scrolls to it; before its head is there, only the latter.
function lead(id) {
  const section = document.getElementById(id);
  if (!section) return;
  const head = section.querySelector(`[data-fold="${id}"]`);
  if (head && head.getAttribute("aria-expanded") === "false") head.click();
  if (head) head.focus({ preventScroll: true });
  section.style.scrollMarginTop = line.offsetHeight + GAP + "px"; // 0 while the tab is still hidden
  section.scrollIntoView({ block: "start" });
}

// Until the reader does something, what is still being built and drawn doesn't push the section away.
function stayAt(id) {
  settled();
  const hands = ["wheel", "touchstart", "pointerdown", "keydown"];
  const sizes = new ResizeObserver(() => lead(id));
  const release = () => {
    jumped = false;
    settled();
  };
  const timer = setTimeout(release, PATIENCE_MS);
  settled = () => {
    sizes.disconnect();
    clearTimeout(timer);
    for (const hand of hands) removeEventListener(hand, release, true);
  };
  for (const hand of hands) addEventListener(hand, release, { capture: true, passive: true });
  for (const box of [document.getElementById(id), document.body]) if (box) sizes.observe(box);
  lead(id);
}

function mark(id) {
  for (const [key, link] of links) {
    if (key !== id) link.removeAttribute("aria-current");
    else if (!link.hasAttribute("aria-current")) {
      link.setAttribute("aria-current", "location");
      if (!pressed) line.scrollTo({ left: link.offsetLeft - (line.clientWidth - link.offsetWidth) / 2 });
    }
  }
}

function follow() {
  if (jumped || !line.clientWidth) return;
  const below = line.getBoundingClientRect().bottom;
  const edge = below + READING * (innerHeight - below);
  const seen = [...links.keys()].filter((id) => document.getElementById(id)?.getBoundingClientRect().height);
  const begun = seen.filter((id) => document.getElementById(id).getBoundingClientRect().top <= edge);
  const atEnd = scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
  mark((atEnd ? seen : begun).at(-1) ?? seen[0]);
}

// What a keyboard comes to by going back would stand below the line.
function keepClear({ target }) {
  if (!line.clientWidth || line.contains(target) || !target.matches(":focus-visible")) return;
  const hidden = line.getBoundingClientRect().bottom + GAP - target.getBoundingClientRect().top;
  if (hidden > 0) scrollBy(0, -hidden);
}

let waiting = false;
addEventListener("scroll", () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    follow();
  });
}, { passive: true });
line.addEventListener("pointerdown", () => { pressed = true; });
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => { pressed = false; }, true);
addEventListener("focusin", keepClear);
document.addEventListener("specdec:section", (event) => jump(event.detail.id));

build();
new ResizeObserver(follow).observe(line);
const asked = new URLSearchParams(location.hash.slice(1)); // the page may have been opened with an address
if (asked.get("tab") === props.tab) jump(asked.get("section"));
