// Watched tokens: which they are, and how one is chosen from the bars of the selected position.

const watchColors = Object.values(figure.meanings); // one for each token that can be watched
const watchChoice = part("watch-choice");
let watched = []; // { id, label, color }, in the order in which they were chosen
let vocabulary; // whose ids they are

// here: the selected position, null while there is none.
function drawWatch(here) {
  show(part("watch"), here !== null);
  if (!here) return;
  drawChoice(here.frame);
  followWatched();
}

// The run has grown, or another one has begun.
function growWatch() {
  if (state.value.vocabulary && state.value.vocabulary !== vocabulary) {
    vocabulary = state.value.vocabulary;
    setWatched([]);
  }
  redrawSoon();
}

// The bars of the position that aren't watched yet, what came out here chosen already.
function drawChoice({ ids, labels, emitted, drafted }) {
  const free = ids.map((_, i) => i).filter((i) => ids[i] !== null && !watched.some(({ id }) => id === ids[i]));
  const options = free.map((i) => {
    const option = asData(make("option", "", labels[i]));
    option.value = ids[i];
    option.selected = i === (emitted ?? drafted);
    return option;
  });
  watchChoice.replaceChildren(...options);
  part("watch-add").disabled = watchChoice.disabled = !free.length;
}

function setWatched(tokens) {
  watched = tokens;
  setText(part("watch-said"), "");
  part("chips").replaceChildren(...watched.map(chip));
  show(part("watched"), watched.length > 0);
  if (current()) drawChoice(current().frame);
  drawLines();
}

function chip(token) {
  const item = make("li", "rv-chip");
  const swatch = make("i", "rv-stroke");
  swatch.style.color = token.color;
  const remove = make("button", "", "×");
  remove.type = "button";
  remove.title = fill(words.watch.remove, token);
  remove.setAttribute("aria-label", remove.title);
  remove.addEventListener("click", () => {
    const place = watched.indexOf(token);
    setWatched(watched.filter((other) => other !== token));
    (part("chips").querySelectorAll("button")[Math.min(place, watched.length - 1)] || part("watch-add")).focus();
  });
  item.append(swatch, labelNode("span", "", token.label), remove);
  return item;
}

function addChosen() {
  const chosen = watchChoice.selectedOptions[0];
  if (!chosen) return;
  const color = watchColors.find((free) => watched.every((token) => token.color !== free));
  if (!color) return setText(part("watch-said"), fill(words.watch.refused, { most: watchColors.length }));
  setWatched([...watched, { id: Number(chosen.value), label: chosen.textContent, color }]);
}

function drawWatchKey() {
  const keys = [["big", "", "● "], ["small", " rv-dashed", "△ "], ["below", " rv-faint", ""]];
  part("watch-key").append(
    ...keys.map(([name, look, sign]) => {
      const key = make("span", "rv-key");
      key.append(make("i", "rv-stroke" + look), sign + words.watch.key[name]);
      return key;
    })
  );
}

// Whoever chooses from a position stays there: its list must not change under the hand while a run goes on.
watchChoice.addEventListener("focus", () => {
  state.chosen = true;
  if (followTimer !== null) drawFollowed();
});
watchChoice.setAttribute("aria-label", words.watch.choice);
setText(part("watch-title"), words.watch.title);
part("watch-add").textContent = words.watch.add;
part("watch-add").addEventListener("click", addChosen);
drawWatchKey();
