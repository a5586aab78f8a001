// The figure below is hidden by the page's style while the cover is there.

const cover = element.querySelector(".lesson-cover");

function lift() {
  cover.hidden = true;
}

for (const name of ["specdec:answered", "specdec:revealed"]) {
  const listen = ({ detail }) => {
    if (!element.isConnected) return document.removeEventListener(name, listen);
    if (detail.question === props.value.question) lift();
  };
  document.addEventListener(name, listen);
}
setText(cover.querySelector("p"), props.words.predict);
setText(cover.querySelector("button"), props.words.show);
cover.querySelector("button").addEventListener("click", lift);
