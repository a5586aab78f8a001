// A button for each place. The run view hears of a click by itself: no request.

const words = props.words;

function placeButton(place) {
  const button = make("button");
  button.type = "button";
  const said = fill(place.kept ? words.kept : words.rejected, place);
  button.append(asData(make("bdi", "wp-label", place.label)), make("span", "wp-beta", "β " + place.beta));
  button.append(make("small", place.kept ? "wp-kept" : "wp-rejected", said));
  button.addEventListener("click", () => {
    trigger("leave");
    document.dispatchEvent(new CustomEvent("specdec:choose", { detail: place.index }));
  });
  const item = make("li");
  item.append(button);
  return item;
}

function draw() {
  const { places = [], said = "" } = props.value || {};
  const line = element.querySelector(".wp-said");
  setText(line, said);
  line.hidden = !said;
  element.querySelector(".wp-places").replaceChildren(...places.map(placeButton));
}

draw();
watch("value", draw);
