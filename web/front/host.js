// Wakes the views of a page: gives each one what an anywidget asks of its host, out of the page itself.
// A classic script, and the views' modules are texts in it: from file:// a browser loads no module file.
(() => {
  const SCRIPTS = {}; // put in by the builder: key -> text of an ES module

  const modules = new Map();

  /** The module of that key, loaded once. */
  function load(key) {
    if (!modules.has(key)) {
      const address = URL.createObjectURL(new Blob([SCRIPTS[key]], { type: "text/javascript" }));
      modules.set(key, import(address).finally(() => URL.revokeObjectURL(address)));
    }
    return modules.get(key);
  }

  /** The front end's half of a widget. Whoever sends to the other half hears that there is none. */
  function modelOf(state) {
    const heard = new Map();
    const listeners = (name) => heard.get(name) ?? heard.set(name, new Set()).get(name);
    return {
      get: (name) => state[name],
      set(name, value) {
        state[name] = value;
        for (const listener of listeners(`change:${name}`)) listener();
      },
      save_changes() {},
      on: (name, listener) => listeners(name).add(listener),
      off: (name, listener) => (listener ? listeners(name).delete(listener) : listeners(name).clear()),
      send() {
        throw new Error("This page has no kernel.");
      },
    };
  }

  /** The view stands where the static picture stood; where it can't, the picture stays. */
  async function wake(block) {
    const el = document.createElement("div");
    el.className = "tc-live";
    try {
      const { default: view } = await load(block.dataset.view);
      const model = modelOf(JSON.parse(block.querySelector("script").textContent));
      block.append(el);
      block.classList.add("tc-awake"); // before it renders: a view measures itself
      await view.render({ model, el });
      leaveUnmarked(el.querySelectorAll("*"));
    } catch (error) {
      block.classList.remove("tc-awake");
      el.remove();
      console.error("A view stays a picture:", error);
    }
  }

  async function wakeAll() {
    for (const block of document.querySelectorAll(".tc-block[data-view]")) await wake(block);
  }
  // Sphinx marks what was searched for by cutting texts in pieces. A view's own texts must stay whole, and at the
  // title of a picture it fails.
  function leaveUnmarked(parts) {
    for (const part of parts) part.classList.add("nohighlight");
  }
  const leaveAll = () => leaveUnmarked(document.querySelectorAll(".tc-block *, svg title"));
  document.addEventListener("DOMContentLoaded", leaveAll, true); // captures: before all others
  document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", wakeAll) : wakeAll();
})();
