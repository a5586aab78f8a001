// Who this page is to a class: nobody yet, a student in a room, the teacher of a room, or a teacher who counts hands.
// It is kept while the page is opened again. A student's page never asks for counts, and the server would not tell.
const LOOK_MS = 2000;
const { words } = props;
const part = (name) => element.querySelector(".rm-" + name);
let state = recall("room") || { role: "none" };
let page = null; // of the lesson
let counts = null; // of the teacher's room, as the server last told them
let looking = false;
let refused = false; // the last look

// The server's answer. {refused: a sentence, why} when it refuses, or can't be reached: then Gradio answers nothing.
async function ask(call, asked) {
  return (await server[call](asked)) || { refused: words.offline, why: "later" };
}

function become(next, said = "") {
  state = next;
  counts = null;
  remember("room", state);
  say(said);
  draw();
  tellRoom();
}

// The page's address names the room that a student is in. What is told here comes back as an event like any other.
function tellRoom() {
  const code = state.role === "student" ? state.code : null;
  document.dispatchEvent(new CustomEvent("specdec:room", { detail: { code } }));
}

// A student reads it at the foot of the window, since the question stands far above the room.
function say(text) {
  const votes = state.role === "student";
  setText(part("said"), votes ? "" : text);
  setText(part("foot"), votes ? text : "");
}

// ---- student

async function join(code) {
  const browser = isIn(code) ? state.browser : browserFor(code);
  const answer = await ask("join_room", { code, browser });
  if (answer.refused) return answer.why === "over" ? become({ role: "none" }, answer.refused) : say(answer.refused);
  if (!isIn(code)) become({ role: "student", code, browser, waiting: [] }, fill(words.in_room, { code }));
  send();
}

function isIn(code) {
  return state.role === "student" && state.code === code;
}

// code: as it was typed, or stands in a link.
function enter(code) {
  part("fold").open = true;
  part("typed").value = code;
  return join(String(code).trim().toUpperCase());
}

function vote({ question, answer }) {
  if (state.role !== "student" || !props.questions.some(({ key }) => key === question)) return;
  state.waiting.push({ question, answer });
  remember("room", state);
  say(words.sending);
  send();
}

function send() {
  const room = state;
  sendVotes(room, (answer) => {
    if (room !== state || !element.isConnected) return false;
    if (answer.why === "over") {
      become({ role: "none" }, answer.refused);
      return false;
    }
    remember("room", state);
    say(answer.refused || (answer.first ? words.counted : words.first_stands));
    return true;
  });
}

// ---- teacher

async function open() {
  const answer = await ask("open_room", {});
  if (answer.refused) return say(answer.refused);
  become({ role: "teacher", code: answer.code, key: answer.key });
  look();
}

async function look() {
  if (looking || document.hidden || state.role !== "teacher") return;
  const room = state;
  looking = true;
  const answer = await ask("read_counts", { code: room.code, key: room.key });
  looking = false;
  if (room !== state) return; // closed meanwhile
  if (answer.why === "over") return become({ role: "none" }, answer.refused);
  if (refused || answer.refused) say(answer.refused || "");
  refused = Boolean(answer.refused);
  if (!refused) counts = answer;
  drawCounts();
}

async function close() {
  const answer = await ask("close_room", { code: state.code, key: state.key });
  if (answer.refused && answer.why === "later") return say(answer.refused);
  become({ role: "none" }, answer.refused || fill(words.closed, state));
}

async function copyLink() {
  try {
    await navigator.clipboard.writeText(part("link").href);
    say(words.copied);
  } catch {
    getSelection().selectAllChildren(part("link"));
    say(words.copy_yourself);
  }
}

function roomLink() {
  const { origin, pathname, search } = location;
  return origin + pathname + search + "#tab=lesson&room=" + state.code;
}

// ---- on screen

function raise(question, option, number) {
  const raised = (state.hands[question.key] ||= question.options.map(() => 0));
  raised[option] = number;
  remember("room", state);
  drawCounts();
}

function drawCounts() {
  if (state.role === "hands") return fillInTally(state.hands, (votes) => fill(words.raised, { votes }));
  const { students = 0, votes: byQuestion = {}, seconds_left } = counts || {};
  fillInTally(byQuestion, (votes) => fill(words.voted, { votes, students }));
  setText(part("students"), fill(words.students, { count: students }));
  setText(part("minutes"), counts ? fill(words.minutes, { minutes: Math.ceil(seconds_left / 60) }) : "");
}

function draw() {
  const { role, code } = state;
  const teaches = role === "teacher" || role === "hands";
  element.querySelectorAll("[data-role]").forEach((node) => (node.hidden = node.dataset.role !== role));
  setText(part("in"), role === "student" ? fill(words.in_room, { code }) : "");
  setText(part("code"), role === "teacher" ? code : "");
  if (role === "teacher") {
    part("link").href = roomLink();
    setText(part("link"), roomLink());
  }
  setText(part("hide"), state.hidden ? words.show : words.hide);
  QUESTIONS_BOX.classList.toggle("secret", role === "teacher" && state.hidden === true);
  layOutTally(teaches ? page : null, state.hands, role === "hands" ? raise : null);
  part("nothing").hidden = !teaches || rows.length > 0;
  drawCounts();
}

const pressed = {
  open,
  close,
  copy: copyLink,
  hands: () => become({ role: "hands", hands: {} }),
  stop: () => become({ role: "none" }),
  leave: () => become({ role: "none" }),
  hide: () => {
    state.hidden = !state.hidden;
    remember("room", state);
    draw();
  },
};

// Taken at once: a link tells of its room until somebody has. Who teaches or counts hands goes on with it.
function onRoom({ code }, event) {
  event.preventDefault();
  if (code && props.served && ["none", "student"].includes(state.role) && !isIn(code)) enter(code);
}

const heard = {
  "specdec:room": onRoom,
  "specdec:answered": vote,
  "specdec:lesson-page": ({ key }) => {
    page = key;
    draw();
  },
  visibilitychange: look,
};

// A button acts once until the server has answered. One that went away leaves the focus on the title.
let acting = false;
async function actOnce(button, act) {
  if (acting) return;
  acting = true;
  await act();
  acting = false;
  if (!button.checkVisibility()) element.querySelector("summary").focus();
}

for (const [name, act] of Object.entries(pressed)) part(name).addEventListener("click", () => actOnce(part(name), act));
part("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  actOnce(part("join"), () => enter(part("typed").value));
});
for (const [name, act] of Object.entries(heard)) {
  document.addEventListener(name, function listen(event) {
    if (!element.isConnected) return document.removeEventListener(name, listen);
    act(event.detail, event);
  });
}
const clock = setInterval(() => (element.isConnected ? look() : clearInterval(clock)), LOOK_MS);

element.querySelectorAll("[data-says]").forEach((node) => setText(node, words[node.dataset.says]));
part("enter").hidden = part("open").hidden = part("intro").hidden = !props.served;
part("fold").open = state.role !== "none";
draw();
look();
if (state.role === "student") enter(state.code);
const code = new URLSearchParams(location.hash.slice(1)).get("room");
if (code) document.dispatchEvent(new CustomEvent("specdec:room", { detail: { code } }));
document.dispatchEvent(new CustomEvent("specdec:room-ready"));
