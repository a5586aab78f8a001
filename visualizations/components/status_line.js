const line = element.querySelector("p");
const text = line.querySelector("span");
const bar = line.querySelector("progress");

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
}

draw();
watch("value", () => {
  draw();
  const value = props.value || {};
  if (value.leave) trigger("leave");
  passOn(value.ask && "ask", value.mood === "busy");
});
onConnectionLost(() => {
  if (!props.value || props.value.mood !== "busy") return;
  props.value = { text: props.lost, mood: "fault", done: null };
  draw();
});
