// What Gradio is to the components in the app: it makes them when they are first seen, gives each its element, its props
// and someone to tell, and does what the page does by itself at an event. There is no server: what it would answer lies
// in files beside this one, as far as it was written down.

window.specdecSite = (() => {
  const given = {}; // name of a file -> the values in it
  const files = new Map(); // its address -> when it is there
  const propsOf = {}; // of the components whose tab was opened
  const parts = new Map(); // id of a component that was made -> { props, watching }
  const later = {}; // values for those that aren't made yet
  let events = [];
  let boxes = {}; // what the app's own boxes would hold

  function load(url, kind = "script") {
    if (!files.has(url)) {
      files.set(url, new Promise((resolve, reject) => {
        const node = Object.assign(document.createElement(kind), kind === "link" ? { rel: "stylesheet", href: url } : { src: url });
        node.onload = resolve;
        node.onerror = () => reject(new Error(`${url} is missing.`));
        document.head.append(node);
      }));
    }
    return files.get(url);
  }

  async function read(name) {
    await load(`${name}.js`);
    return given[name];
  }

  // Events.

  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  const valueOf = (id) => (parts.has(id) ? parts.get(id).props.value : boxes[id]);

  async function trigger(id, name) {
    for (const event of events.filter(({ on }) => on.some(([at, called]) => at === id && called === name))) {
      const values = event.inputs.map(valueOf);
      if (event.js) await tell(event.outputs, await event.js(...values));
      else await answer(event, valueOf(id));
    }
  }

  // What a function gives: a value for each output, or one value for the only output; nothing changes nothing.
  async function tell(outputs, told) {
    if (told === undefined || outputs.length === 0) return;
    const values = outputs.length > 1 ? told : [told];
    for (const [i, id] of outputs.entries()) if (i < values.length) await set(id, values[i]);
  }

  async function answer({ answers }, asked) {
    const found = answers.find(([has]) => Object.entries(has).every(([key, value]) => same(asked[key], value)));
    if (!found) return;
    for (const [id, value] of Object.entries(await read(found[1]))) await set(Number(id), value);
  }

  async function set(id, told) {
    const update = told && told.__type__ === "update";
    if (update && told.selected) return select(told.selected);
    if (update && told.visible) return reveal(document.querySelector(`template[data-block="${id}"]`));
    if (update) return;
    if (parts.has(id)) {
      parts.get(id).props.value = told;
      for (const act of parts.get(id).watching) act();
    } else if (id in boxes && !same(boxes[id], told)) {
      boxes[id] = told;
      await trigger(id, "change");
    } else later[id] = told; // its tab wasn't opened yet
  }

  // Parts.

  function make(element) {
    const id = Number(element.dataset.part);
    const props = propsOf[id];
    if (!props || parts.has(id)) return;
    if (id in later) props.value = later[id];
    const part = { props, watching: [] };
    parts.set(id, part);
    const watch = (names, act) => { if ([names].flat().includes("value")) part.watching.push(act); };
    const unserved = () => Promise.resolve(undefined);
    try {
      window.specdecPrograms[props.program](element, (name) => trigger(id, name), props, new Proxy({}, { get: () => unserved }), unserved, watch);
    } catch (fault) {
      reportError(fault); // the others are made all the same
    }
  }

  function makeAll(root) {
    for (const element of root.querySelectorAll("[data-part]")) make(element);
    const formulas = root.querySelectorAll(".formula");
    if (formulas.length) window.specdecKatex().then(({ default: katex }) => {
      for (const node of formulas) katex.render(node.textContent, node, { throwOnError: false });
    }, () => {});
  }

  function reveal(template) {
    if (!template) return;
    const { parentElement } = template;
    template.replaceWith(template.content);
    makeAll(parentElement);
  }

  async function makePart(name, root) {
    Object.assign(propsOf, await read(`parts/${name}`));
    makeAll(root);
  }

  // Tabs.

  async function select(tab) {
    const panel = document.getElementById(`${tab}-panel`);
    for (const head of document.querySelectorAll('[role="tab"]')) {
      const open = head.dataset.tabId === tab;
      head.setAttribute("aria-selected", String(open));
      head.classList.toggle("selected", open);
      document.getElementById(`${head.dataset.tabId}-panel`).hidden = !open;
    }
    const template = panel.querySelector(":scope > template");
    if (template) template.replaceWith(template.content);
    await trigger(Number(panel.dataset.block), "select");
    await makePart(tab, panel);
  }

  function listen() {
    for (const head of document.querySelectorAll('[role="tab"]')) head.addEventListener("click", () => select(head.dataset.tabId));
    document.addEventListener("click", ({ target }) => {
      const button = target.closest("button[data-block]");
      if (button) trigger(Number(button.dataset.block), "click");
    });
  }

  // A page of the lesson in a frame of somebody's page, which is told how high it is.
  async function embed(page) {
    const main = document.querySelector("main");
    new ResizeObserver(() => parent.postMessage({ type: "specdec:height", height: Math.ceil(main.getBoundingClientRect().height) }, "*")).observe(main);
    await select("lesson");
    document.dispatchEvent(new CustomEvent("specdec:lesson", { detail: { page } }));
  }

  async function begin(own, held) {
    events = own;
    boxes = held;
    window.specdecPlotlyUrl = "plotly.min.js";
    window.specdecKatex = () => Promise.all([load("katex/katex.js"), load("katex/katex.css", "link")]).then(() => ({ default: window.katex }));
    document.documentElement.dataset.recalled = "yes"; // nothing is kept from a visit to the next
    listen();
    const asked = new URLSearchParams(location.search);
    if (asked.has("embed")) return embed(Number(asked.get("page")) || 1);
    const first = document.querySelector('[role="tab"]').dataset.tabId;
    await makePart(first, document.getElementById(`${first}-panel`));
    await makePart("page", document);
  }

  return { begin, told: (name, values) => { given[name] = values; } };
})();
