"""What a browser has computed of a page, for tests of how it looks: contrast of text, names of images, focus."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

IMAGES = ("image", "img", "svgroot", "graphics-document", "graphics-object", "graphics-symbol", "canvas")

# Colours as the browser computes them: [r, g, b, a], one over another, and their contrast ratio by WCAG 2.
COLORS = r"""
  const pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const rgba = (css) => {
    if (!known.has(css)) {
      pen.clearRect(0, 0, 1, 1);
      pen.fillStyle = "#000";
      pen.fillStyle = css;
      pen.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
      known.set(css, [r, g, b, a / 255]);
    }
    return known.get(css);
  };
  const over = ([r, g, b, a], [R, G, B], opacity) => [r, g, b].map((c, i) => a * opacity * c + (1 - a * opacity) * [R, G, B][i]);
  const luminance = (color) => {
    const [r, g, b] = color.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const STOPS = /(rgba?|color|oklab|oklch|hsla?)\([^()]*\)/g;
  // What lies behind the text of a node: the page, and the backgrounds of all around it; a gradient has several.
  const behindAll = (node) => {
    const line = [];
    for (let n = node; n; n = n.parentElement) line.unshift(n);
    let opacity = 1;
    let all = [[255, 255, 255]];
    for (const n of line) {
      const style = getComputedStyle(n);
      opacity *= Number(style.opacity);
      if (n instanceof SVGElement && !(n instanceof SVGSVGElement)) continue;
      all = all.map((color) => over(rgba(style.backgroundColor), color, opacity));
      const stops = style.backgroundImage === "none" ? [] : style.backgroundImage.match(STOPS) || [];
      if (stops.length) all = all.flatMap((color) => stops.map((stop) => over(rgba(stop), color, opacity)));
    }
    return [all, opacity];
  };
"""

# Every visible text with its contrast to what lies behind it.
CONTRASTS = f"() => {{ {COLORS}" + r"""
  const judged = (node, text, css, style) => {
    const size = parseFloat(style.fontSize);
    const [behind, opacity] = behindAll(node);
    const contrast = Math.min(...behind.map((color) => ratio(over(rgba(css), color, opacity), color)));
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const name = node.tagName.toLowerCase() + "." + (node.getAttribute("class") || "").replace(/ ?svelte-\w+/g, "").trim().replaceAll(" ", ".");
    return { text: text.trim().slice(0, 40), contrast, least: large ? 3 : 4.5, node: name, inside: (node.closest("[id]") || {}).id || "" };
  };
  const seen = (node) => node.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && node.getClientRects().length > 0
    && !node.closest(":disabled, [aria-disabled=true], fieldset:disabled");
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || /^(SCRIPT|STYLE|NOSCRIPT|TITLE|TEXTAREA|OPTION)$/.test(node.tagName) || !seen(node)) continue;
    const style = getComputedStyle(node);
    found.push(judged(node, walk.currentNode.data, node instanceof SVGElement ? style.fill : style.color, style));
  }
  for (const field of document.querySelectorAll("input, textarea, select")) {
    if (!seen(field) || /^(range|checkbox|radio|file)$/.test(field.type)) continue;
    const style = field.value ? getComputedStyle(field) : getComputedStyle(field, "::placeholder");
    if (field.value || field.placeholder) found.push(judged(field, field.value || field.placeholder, style.color, style));
  }
  return found;
}
"""


def faint_texts(page: Page) -> list[dict[str, Any]]:
    """The visible texts whose contrast is too low: below 4.5, or 3 where the type is large."""
    return [text for text in page.evaluate(CONTRASTS) if text["contrast"] < text["least"]]


# The outline of what has the focus; null where nothing has it.
FOCUS = f"() => {{ {COLORS}" + r"""
  const node = document.activeElement;
  if (!node || node === document.body) return null;
  node.getAnimations().forEach((animation) => animation.finish());
  const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(node);
  const [behind] = behindAll(node.parentElement);
  const contrast = Math.min(...behind.map((color) => ratio(over(rgba(outlineColor), color, 1), color)));
  const width = outlineStyle === "none" ? 0 : parseFloat(outlineWidth);
  return { node: node.outerHTML.slice(0, 120), type: node.type || node.getAttribute("role") || node.tagName, width, contrast };
}
"""


def focus_stops(page: Page, most: int = 200) -> list[dict[str, Any]]:
    """What the Tab key stops at from the top of the page on, each with its outline's width (px) and contrast."""
    page.evaluate("() => { document.activeElement.blur(); window.scrollTo(0, 0); }")
    page.mouse.click(1, 1)
    stops = []
    for _ in range(most):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUS)
        if stop is None:
            break
        stops.append(stop)
    return stops


def nameless_images(page: Page) -> list[str]:
    """The images in the accessibility tree that have no name, each as the beginning of its HTML."""
    session = page.context.new_cdp_session(page)
    session.send("Accessibility.enable")
    session.send("DOM.enable")
    found = []
    for node in session.send("Accessibility.getFullAXTree")["nodes"]:
        role, name = (node.get(key, {}).get("value", "") for key in ("role", "name"))
        if not node.get("ignored") and role.lower() in IMAGES and not name.strip():
            image = session.send("DOM.getOuterHTML", {"backendNodeId": node["backendDOMNodeId"]})
            found.append(f"{role}: {image['outerHTML'][:160]}")
    return found


# A page translator: every text that isn't under translate="no" becomes another.
TRANSLATED = """
() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walk.nextNode()) texts.push(walk.currentNode);
  for (const text of texts) {
    const node = text.parentElement;
    if (text.data.trim() && !/^(SCRIPT|STYLE)$/.test(node.tagName) && !node.closest("[translate=no]")) text.data = "«" + text.data + "»";
  }
}
"""


def texts_with(page: Page, mark: str) -> list[str]:
    """Every text of the page, seen or not, that holds `mark`."""
    return page.evaluate(
        """(mark) => {
          const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          const found = [];
          while (walk.nextNode())
            if (!/^(SCRIPT|STYLE)$/.test(walk.currentNode.parentElement.tagName) && walk.currentNode.data.includes(mark)) found.push(walk.currentNode.data);
          return found;
        }""",
        mark,
    )
