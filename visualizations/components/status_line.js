const line = element.querySelector("p");
const text = line.querySelector("span");
const bar = line.querySelector("progress");

function draw() {
  const value = props.value || {};
  text.textContent = value.text || "";
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
