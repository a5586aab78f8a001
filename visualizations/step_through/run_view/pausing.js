// A run that paused at a breakpoint, or was stopped, holds no model; it can go on by reading its text again.

const pauseBox = part("pause");

function drawPause() {
  const { stop, running, rounds } = state.value;
  show(pauseBox, stop === "cancelled" && !running && rounds.length > 0);
}

function indexOfPlace({ round, place }) {
  return state.flat.findIndex((item) => item.round === round && item.place === place);
}

for (const [name, one_round] of [["next_round", true], ["go_on", false]]) {
  const button = Object.assign(make("button", "rv-go", words.pause[name]), { type: "button" });
  button.addEventListener("click", () => askFor({ wish: "continue", one_round }));
  pauseBox.append(button);
}
pauseBox.setAttribute("aria-label", words.pause.group);
pauseBox.append(make("small", "", words.pause.why));
