// Joins the parts: the controls, and a new value.

function drawSpeeds() {
  part("speeds").setAttribute("aria-label", words.speed);
  part("speeds").replaceChildren(...SPEEDS.map(([speed, name]) => {
    const button = make("button", "", name);
    button.type = "button";
    button.setAttribute("aria-label", fill(words.speed_name, { speed: name }));
    button.setAttribute("aria-pressed", String(speed === clock.speed));
    button.onclick = () => {
      clock.speed = speed;
      for (const other of part("speeds").children) other.setAttribute("aria-pressed", String(other === button));
    };
    return button;
  }));
}

function drawValue() {
  const value = props.value || { lanes: [] };
  const there = value.lanes.some((lane) => lane.blocks.length);
  for (const name of ["controls", "lanes", "key"]) part(name).hidden = !there;
  part("empty").hidden = there;
  setText(part("empty"), value.running ? words.waiting : words.empty);
  setText(part("line"), value.line || "");
  const told = value.machine ? [fill(words.told, { machine: value.machine })] : [];
  if (anyQuick(value)) told.push(words.quick);
  setText(part("told"), told.join(" "));
  for (const name of ["play", "scrub"]) part(name).disabled = value.running;
  pause();
  if (!there) {
    lanes = [];
    total = 0;
    return;
  }
  buildLanes(value);
  clock.time = total;
  drawTime();
  if (value.running) follow();
}

part("region").setAttribute("aria-label", words.region);
part("controls").setAttribute("aria-label", words.controls);
part("scrub").setAttribute("aria-label", words.scrub);
setText(part("zoom"), words.zoom);
part("play").onclick = () => (clock.playing ? pause() : play());
part("scrub").addEventListener("input", () => {
  pause();
  clock.time = (total * Number(part("scrub").value)) / 1000;
  drawTime();
  follow();
});
part("zoom").onclick = () => {
  const zoomed = part("lanes").classList.toggle("ra-zoomed");
  part("zoom").setAttribute("aria-pressed", String(zoomed));
  follow();
};
drawSpeeds();
drawPlay();
drawKey();
drawValue();
watch("value", drawValue);
onWidth(part("lanes"), drawAxes);
