// Chooses the language of the page; languages.js does the rest, but for what only Gradio can say anew.

const box = element.querySelector(".ls");

function draw() {
  for (const button of box.children) button.setAttribute("aria-pressed", String(button.dataset.chooses === window.specdecLanguages.now));
}

box.setAttribute("aria-label", props.group);
for (const [language, name] of Object.entries(props.names)) {
  const button = make("button", "", name);
  button.type = "button";
  button.lang = props.tags[language];
  button.translate = false;
  button.dataset.chooses = language;
  button.addEventListener("click", () => document.dispatchEvent(new CustomEvent("specdec:language", { detail: { language } })));
  box.append(button);
}
draw();
onLanguage(element, () => {
  draw();
  trigger("spoken");
});
