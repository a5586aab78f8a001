// Gradio's own icons decorate buttons and boxes that have names; without one they would be read out as "image".
// plotly's drawings are hidden by whoever draws them: one that is saved as a picture is all there is.

const NAMELESS = "svg:not(.main-svg, [role], [aria-label], [aria-labelledby], [aria-hidden])";

function iconsOf(node) {
  if (node instanceof SVGSVGElement) return node.matches(NAMELESS) ? [node] : [];
  return node instanceof HTMLElement ? node.querySelectorAll(NAMELESS) : [];
}

new MutationObserver((changes) => {
  for (const { addedNodes } of changes)
    for (const node of addedNodes) for (const icon of iconsOf(node)) icon.setAttribute("aria-hidden", "true");
}).observe(document, { childList: true, subtree: true });
