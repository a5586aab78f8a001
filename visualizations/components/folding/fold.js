// A fold: a box of which the head stays in sight; the rest is hidden until the head's button opens it.
//
// data-fold names the section that a button opens, for whoever leads there.

function fold(box, head, { section, title, level }) {
  const button = make("button", "fold-button");
  const result = make("span", "fold-result");
  const show = (open) => {
    button.setAttribute("aria-expanded", String(open));
    box.toggleAttribute("data-open", open);
  };
  button.type = "button";
  button.dataset.fold = section;
  button.append(make("span", "fold-title", title), result);
  button.addEventListener("click", () => show(!box.hasAttribute("data-open")));
  const heading = make(level, "fold-heading");
  heading.append(button);
  head.replaceChildren(heading);
  show(false);
  return { show, say: (said) => write(result, said) };
}
