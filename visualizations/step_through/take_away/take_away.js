// One chooser for all ways to keep a run. A file is built by the server from the run that the page holds; a picture
// is drawn by the page itself, which has it on screen: see picture.js of the run view.

const { words, files, pictures } = props;
const chooser = element.querySelector("select");
const button = element.querySelector("button");

function save() {
  if (pictures.includes(chooser.value)) savePicture(chooser.value);
  else trigger("take", { format: chooser.value, language: window.specdecLanguages.now });
}

async function savePicture(format) {
  const wish = { format };
  document.dispatchEvent(new CustomEvent("specdec:picture", { detail: wish }));
  if (!wish.saved) return say(words.no_position);
  try {
    await wish.saved;
  } catch {
    say(words.not_drawn);
  }
}

// In the page's status line.
function say(text) {
  props.value = { text, mood: "fault", done: null };
  trigger("fault");
}

chooser.append(
  ...[...files, ...pictures].map((format) => {
    const option = make("option", "", words.formats[format]);
    option.value = format;
    return option;
  })
);
chooser.setAttribute("aria-label", words.format);
element.firstElementChild.setAttribute("aria-label", words.group);
button.textContent = words.save;
button.addEventListener("click", save);
