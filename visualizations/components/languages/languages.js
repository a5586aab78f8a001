// A text of the page holds its versions in all languages between three private signs (see texts.py). Here the
// reader's is chosen, wherever a text is shown; all versions are remembered, so that another choice needs no reload.

(() => {
  const { languages, names, title } = JSON.parse(document.currentScript.dataset.texts);
  const [OPEN, NEXT, CLOSE] = "\ufdd0\ufdd1\ufdd2";
  const SIGNS = /[\ufdd0-\ufdd2]/;
  const ATTRIBUTES = ["title", "aria-label", "aria-description", "aria-valuetext", "placeholder", "alt"];
  const KEY = "specdec/language";
  const shownAs = new WeakMap(); // node -> {attribute, or "" for its text: all versions}
  let now = languages[0];

  // A version may hold texts in turn: a sentence that the page itself has filled.
  function say(text) {
    if (typeof text !== "string" || !SIGNS.test(text)) return text;
    const open = [{ versions: [""] }];
    for (const part of text.split(/([\ufdd0-\ufdd2])/)) {
      const inner = open[open.length - 1];
      if (part === OPEN) open.push({ versions: [""] });
      else if (part === NEXT) inner.versions.push("");
      else if (part === CLOSE && open.length > 1) {
        open.pop();
        open[open.length - 1].versions[open[open.length - 1].versions.length - 1] += inner.versions[languages.indexOf(now)] ?? "";
      } else inner.versions[inner.versions.length - 1] += part;
    }
    return open[0].versions.join("");
  }

  function sayAll(plain) {
    if (typeof plain === "string") return say(plain);
    if (Array.isArray(plain)) return plain.map(sayAll);
    if (!plain || typeof plain !== "object" || ArrayBuffer.isView(plain)) return plain;
    return Object.fromEntries(Object.entries(plain).map(([key, value]) => [key, sayAll(value)]));
  }

  const read = (node, name) => (name ? node.getAttribute(name) : node.data);

  function put(node, name, text) {
    if (name) node.setAttribute(name, text);
    else node.data = text;
  }

  function noted(node) {
    if (!shownAs.has(node)) shownAs.set(node, {});
    return shownAs.get(node);
  }

  // Whoever writes a text without versions over one that had them means what it writes.
  function settle(node, name) {
    const text = read(node, name);
    const before = shownAs.get(node);
    if (text && SIGNS.test(text)) {
      if (node.parentElement?.closest("script, style")) return;
      noted(node)[name] = text;
      put(node, name, say(text));
    } else if (before && name in before && text !== say(before[name])) delete before[name];
  }

  function each(root, visit) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let node = root; node; node = walker.nextNode()) {
      if (node.nodeType === Node.TEXT_NODE) visit(node, "");
      else if (node.nodeType === Node.ELEMENT_NODE) for (const name of ATTRIBUTES) if (node.hasAttribute(name)) visit(node, name);
    }
  }

  new MutationObserver((changes) => {
    for (const { type, target, addedNodes, attributeName } of changes) {
      if (type === "characterData") settle(target, "");
      else if (type === "attributes" && attributeName !== "lang") settle(target, attributeName);
      else if (type === "childList") addedNodes.forEach((node) => each(node, settle));
    }
    name();
  }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: [...ATTRIBUTES, "lang"] });

  // Gradio names the page too, once it begins, and in its own language.
  function name() {
    if (document.documentElement.lang !== names[now]) document.documentElement.lang = names[now];
    if (document.title !== say(title)) document.title = say(title);
  }

  function choose(language) {
    if (!languages.includes(language) || language === now) return;
    now = language;
    try {
      localStorage.setItem(KEY, language);
    } catch {
      // a browser that keeps nothing
    }
    name();
    each(document, (node, attribute) => {
      const versions = shownAs.get(node)?.[attribute];
      if (versions) put(node, attribute, say(versions));
    });
    document.dispatchEvent(new CustomEvent("specdec:spoken", { detail: { language } }));
  }

  function first() {
    const asked = [new URLSearchParams(location.search), new URLSearchParams(location.hash.slice(1))].map((found) => found.get("lang"));
    let kept = null;
    try {
      kept = localStorage.getItem(KEY);
    } catch {
      // a browser that keeps nothing
    }
    const spoken = (navigator.languages || []).map((tag) => tag.slice(0, 2).toLowerCase());
    return [...asked, kept, ...spoken].find((language) => languages.includes(language)) || languages[0];
  }

  // Gradio measures its tabs, and holds the names of choices and prose as values: it is given them in one language.
  const STOCK = { dropdown: ["choices", "label", "info"], markdown: ["value"], tabitem: ["label"] };
  const components = (window.gradio_config && window.gradio_config.components) || [];
  const inAll = new Map();

  function stockOf(id) {
    return sayAll(inAll.get(id));
  }

  now = first();
  name();
  for (const { id, type, props } of components) {
    const texts = Object.entries(props).filter(([key, value]) => (STOCK[type] || []).includes(key) && SIGNS.test(JSON.stringify(value)));
    if (!texts.length) continue;
    inAll.set(id, Object.fromEntries(texts));
    Object.assign(props, stockOf(id));
  }
  each(document, settle);
  document.addEventListener("specdec:language", (event) => {
    choose(event.detail.language);
    event.preventDefault(); // it was heard
  });
  window.specdecLanguages = { languages, say, sayAll, choose, stockOf, get now() { return now; } };
})();
