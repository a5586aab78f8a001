// The page's address always tells what is on screen, and an address that is opened brings that there. A change of the
// tab, of the example or of the lesson's page is a step that Back takes back; all else changes the step it is on.
//
// What other parts of the page hear of here, all events on `document`:
//   specdec:section {id}, specdec:lesson {page}, specdec:room {code}, specdec:language {language}
// Parts come and go with their tab, so each is told again every 200 ms, for 3 s from when the tab is there, until it is
// taken: whoever has done what it says calls preventDefault() on the event. A section that can be seen, a lesson that tells its page
// and a document in the language count as taken too.
// What they tell: specdec:tab {tab}, specdec:form [values], specdec:position {run, index, chosen, running},
// specdec:lesson-page {page}; a room or a language chosen by hand as above; and specdec:recalled, when the boxes hold what
// they held before the page was opened again: the address comes after that. Which section is read stands in the address
// alone: the contents line of a tab writes it there.

const AGAIN_MS = 200;
const MOST_TIMES = 15;
const REST_MS = 400; // browsers let an address change a few times a second only
const PATIENCE_MS = 30_000;
const { words } = props;
const ofQuery = READ.get("lang")(new URLSearchParams(location.search).get("lang") || "");
const [visit] = performance.getEntriesByType("navigation");
const reopened = visit && visit.type === "reload";
const before = reopened ? recall("run") : null; // on screen when the page was opened again
const button = element.querySelector("button");
const notice = element.querySelector("p");
const here = { tab: null, form: null, run: null, index: -1, chosen: false, page: null, room: null, language: null };
let turn = 0; // addresses that were opened so far; what an earlier one still waits for is forgotten
let wanted = {}; // what the last one asked for and isn't there yet: tab, page, form, run, index, another run than this
let patience = null; // for what is wanted
let place = null; // of the step that the address is on
let writer = null;
let known = null; // the fragment that was opened or written last

// The address.

function runEntries() {
  if (!here.run) return [];
  const example = exampleOf(here.run);
  const position = here.chosen ? here.index + 1 : null;
  if (example && sameForm(here.form, example.form)) return [["example", example.key], ["position", position]];
  const [prompt, ...values] = here.form;
  const waiting = wanted.index === undefined ? null : wanted.index + 1; // the example still there isn't what is meant
  return [["prompt", prompt], ...props.fields.map(({ name }, i) => [name, values[i]]), ["position", example ? waiting : position]];
}

function sectionHere() {
  const now = new URLSearchParams(location.hash.slice(1));
  return now.get("tab") === here.tab ? READ.get("section")(now.get("section") || "") : null;
}

function entries(withRun) {
  const { tab, page, room, language } = here;
  const run = tab === props.tabs[0] && withRun ? runEntries() : [];
  const lesson = tab === "lesson" ? [["page", page], ["room", room]] : [];
  return [["tab", tab], ...run, ["section", sectionHere()], ...lesson, ["lang", language]];
}

function tooLong() {
  return writeFragment(entries(true)).length > LONGEST_FRAGMENT;
}

function selectedTab() {
  const tab = document.querySelector('[role="tab"][aria-selected="true"]');
  return tab && tab.dataset.tabId;
}

function write() {
  clearTimeout(writer);
  writer = null;
  if (location.hash !== known) { // it is being opened, which is told later; or another part of the page wrote it
    known = location.hash;
    return writeSoon();
  }
  if (!here.tab || !here.form || wanted.tab || wanted.page || wanted.form || wanted.run) return;
  const fragment = writeFragment(entries(!tooLong()));
  const now = new URLSearchParams(fragment);
  const at = ["tab", "page", "example"].map((key) => now.get(key));
  const step = place !== null && at.some((value, i) => value !== place[i] && (i < 2 || value !== null));
  place = at;
  if ("#" + fragment !== location.hash) history[step ? "pushState" : "replaceState"](history.state, "", "#" + fragment);
  known = location.hash;
}

function writeSoon() {
  if (writer === null) writer = setTimeout(write, REST_MS);
}

// What was to be written is, before what Back returns to becomes another.
function change(name, value) {
  if (writer !== null) write();
  here[name] = value;
  write();
}

// What still rests when the page is opened again, which the browser does at the address as it was.
function writeLast() {
  if (!element.isConnected) return removeEventListener("pagehide", writeLast);
  const was = location.hash;
  if (writer !== null) write();
  remember("address", { was, now: location.hash });
}

function bringLast() {
  const last = reopened && recall("address");
  if (last && last.was === location.hash) history.replaceState(history.state, "", last.now);
}

// Opening an address.

function tell(name, detail) {
  return document.dispatchEvent(new CustomEvent(name, { detail, cancelable: true }));
}

// The address rests until what was wanted is there, but not for ever.
function want(more) {
  Object.assign(wanted, more);
  clearTimeout(patience);
  patience = setTimeout(() => {
    wanted = { index: wanted.index, anotherThan: wanted.anotherThan };
    write();
  }, PATIENCE_MS);
}

function tellUntil(taken, name, detail) {
  const mine = turn;
  let times = 0;
  const again = () => {
    if (mine !== turn || !element.isConnected) return;
    if (wanted.tab) return setTimeout(again, AGAIN_MS);
    const open = tell(name, detail);
    if (open && !taken() && ++times < MOST_TIMES) setTimeout(again, AGAIN_MS);
  };
  again();
}

function isSeen(id) {
  const node = document.getElementById(id);
  return Boolean(node && node.getClientRects().length);
}

function open(fragment) {
  const { said, bad, long } = readFragment(fragment);
  turn += 1;
  known = location.hash;
  place = null; // a link is a step of its own already
  wanted = {};
  say(long ? words.too_long : bad.length ? fill(words.left_out, { names: bad.join(", ") }) : "");
  const asked = {};
  const tab = said.get("tab") || (said.has("prompt") || said.has("example") ? props.tabs[0] : null);
  if (tab && tab !== here.tab && document.querySelector(`[role="tab"][data-tab-id="${tab}"]`)) asked.tab = tab;
  if (said.has("position")) wanted.index = said.get("position") - 1;
  if (said.has("example")) openExample(said.get("example"));
  else if (said.has("prompt") && !sameForm(here.form, formOf(said))) {
    asked.form = formOf(said);
    want({ form: asked.form, anotherThan: here.run });
    if (!bad.length) say(words.filled);
  }
  if (asked.tab) want({ tab });
  props.value = asked;
  if (asked.tab) trigger("turn");
  if (asked.form) trigger("fill");
  choosePlace();
  tellTheRest(said);
}

function tellTheRest(said) {
  if (said.has("room")) here.room = said.get("room");
  if (said.has("page") && said.get("page") !== here.page) want({ page: said.get("page") });
  const section = said.get("section");
  if (section) tellUntil(() => isSeen(section), "specdec:section", { id: section });
  if (wanted.page) tellUntil(() => !wanted.page, "specdec:lesson", { page: wanted.page });
  if (said.has("room")) tellUntil(() => false, "specdec:room", { code: here.room });
  const language = said.get("lang") || ofQuery;
  if (language) tellUntil(() => document.documentElement.lang === language, "specdec:language", { language });
}

// By its own button, which shows it as ever.
function openExample(key) {
  const { run, form } = props.examples.find((example) => example.key === key);
  if (here.run === run && sameForm(here.form, form)) return;
  const reopens = turn === 1 && before; // then what was on screen comes by itself
  if (reopens && before.example !== key) return delete wanted.index;
  want({ run, form });
  if (!reopens) press(`example-${key}`, MOST_TIMES);
}

function press(id, times) {
  const node = document.getElementById(id);
  if (node) node.click();
  else if (times) setTimeout(() => press(id, times - 1), AGAIN_MS);
}

// The position that was asked for, once the run that it is in is there.
function choosePlace() {
  if (wanted.index === undefined || wanted.run || !here.run || here.running || here.run === wanted.anotherThan) return;
  if (exampleOf(here.run) && !sameForm(here.form, exampleOf(here.run).form)) return;
  const index = wanted.index;
  delete wanted.index;
  if (index !== here.index || !here.chosen) tell("specdec:choose", index);
}

// A run that this tab of the browser had on another visit makes way for the example that the address asks for.
function forgetOtherRun() {
  if (before) return;
  const key = readFragment(location.hash.slice(1)).said.get("example");
  const kept = recall("run");
  if (key && kept && kept.example !== key) for (const name of ["run", "tree"]) remember(name, null);
}

// The button.

function say(text) {
  setText(notice, text);
  notice.hidden = !text;
}

async function copy() {
  write();
  if (tooLong() && here.tab === props.tabs[0]) return say(words.prompt_too_long);
  try {
    await (navigator.clipboard ? navigator.clipboard.writeText(location.href) : copyTheOldWay(location.href));
    say(words.copied);
  } catch {
    say(words.not_copied);
  }
}

// A page that isn't served by https has no clipboard of its own.
function copyTheOldWay(text) {
  const box = Object.assign(document.createElement("textarea"), { value: text });
  element.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  if (!done) throw new Error("The browser did not copy.");
}

// What the page tells.

const HEARD = {
  "specdec:recalled": () => trigger("ask"),
  "specdec:tab": () => {
    const tab = selectedTab(); // what is told may be told late
    if (wanted.tab && wanted.tab !== tab) return;
    if (!wanted.tab && here.tab && tab !== here.tab) say("");
    if (wanted.tab) { // what was to be written is of the tab before, and the address says already what is wanted
      clearTimeout(writer);
      writer = null;
    }
    delete wanted.tab;
    change("tab", tab);
  },
  "specdec:form": (values) => {
    if (!document.documentElement.dataset.recalled) return;
    const first = here.form === null;
    here.form = values;
    here.tab = here.tab || selectedTab();
    if (wanted.form && sameForm(wanted.form, values)) delete wanted.form;
    if (first) open(location.hash.slice(1));
    choosePlace();
    writeSoon();
  },
  "specdec:position": (news) => {
    const { run, index, chosen, running } = news;
    if (index < 0 || (wanted.run && wanted.run !== run)) return;
    const another = here.run !== run;
    if (another && running) say("");
    delete wanted.run;
    Object.assign(here, { run, index, chosen, running });
    if (here.form) queueMicrotask(choosePlace);
    if (here.form && another && exampleOf(run) && !sameForm(here.form, exampleOf(run).form)) want({ form: exampleOf(run).form });
    if (another || chosen) writeSoon();
  },
  "specdec:lesson-page": ({ page }) => {
    if (wanted.page && wanted.page !== page) return;
    delete wanted.page;
    change("page", page);
  },
  "specdec:room": ({ code }) => { here.room = code; writeSoon(); },
  "specdec:language": ({ language }) => { here.language = language; writeSoon(); },
};

function onHashChange() {
  if (!element.isConnected) return removeEventListener("hashchange", onHashChange);
  clearTimeout(writer);
  writer = null;
  if (here.form) open(location.hash.slice(1));
}

for (const [name, act] of Object.entries(HEARD)) {
  const listen = (event) => (element.isConnected ? act(event.detail) : document.removeEventListener(name, listen));
  document.addEventListener(name, listen);
}
addEventListener("hashchange", onHashChange);
addEventListener("pagehide", writeLast);
button.addEventListener("click", copy);
setText(button, words.copy);
button.title = words.copy_is;
say("");
bringLast();
forgetOtherRun();
if (document.documentElement.dataset.recalled) trigger("ask"); // this script came later
