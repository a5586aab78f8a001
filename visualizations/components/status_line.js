const line = element.querySelector("p");
const text = line.querySelector("span");
const bar = line.querySelector("progress");
const button = line.querySelector("button");
let looking = false;

let counting;

// Only what is waited for is counted: about so many seconds, in steps.
function count({ words, sign, seconds, step }) {
  const until = performance.now() + seconds * 1000;
  const say = () => {
    const left = step * Math.max(1, Math.ceil((until - performance.now()) / 1000 / step));
    const said = words.replaceAll(sign, left);
    if (said !== counting.said) text.textContent = counting.said = said;
  };
  counting = { timer: setInterval(say, 1000) };
  say();
}

function draw() {
  const value = props.value || {};
  clearInterval(counting?.timer);
  if (value.count) count(value.count);
  else text.textContent = value.text || "";
  line.className = value.mood || "quiet";
  line.setAttribute("role", value.mood === "fault" ? "alert" : "status");
  bar.hidden = value.mood !== "busy" || value.done === null || value.done === undefined;
  if (!bar.hidden) bar.value = value.done;
  const left = document.activeElement === button && !value.button;
  button.hidden = !value.button;
  button.textContent = value.button ? value.button.label : "";
  if (left) line.focus(); // what a person pressed is gone: they stay where they are
}

line.tabIndex = -1;
button.addEventListener("click", () => trigger("press"));
draw();
watch("value", () => {
  draw();
  const value = props.value || {};
  if (value.leave) trigger("leave");
  if (value.look && !looking) trigger("look");
  looking = Boolean(value.look);
  passOn(value.ask && "ask", value.mood === "busy");
});
onConnectionLost(() => {
  if (!props.value || props.value.mood !== "busy") return;
  props.value = { text: props.lost, mood: "fault", done: null };
  draw();
});
