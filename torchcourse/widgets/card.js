// The frame of every view: header with one live sentence, body, tools, footer, keys, and the text twin.
// Joined, after words.js, in front of a view's own script; none of them imports or fetches anything.

/** An element with attributes and children (strings become text, never markup). */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** An SVG element. */
function draw(tag, attributes = {}, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
}

/** The parts of a text, `code` between backticks as <code>. code, plain: what becomes of either kind of part. */
function coded(text, code = (part) => part, plain = code) {
  return text.split("`").flatMap((part, i) => (i % 2 ? make("code", {}, code(part)) : plain(part)));
}

/** The parts of a sentence, with the course's words marked. */
function spoken(text) {
  const seen = new Set();
  return coded(text, (part) => wordOrCode(part, seen), (part) => wordsIn(part, seen));
}

const GLYPHS = { base: "●", view: "◐", now: "✎", run: "✓", wait: "‖", rest: "·" };

/** The small square that stands for a meaning. */
function chip(role) {
  const name = role === "view" ? "tc-view-role" : `tc-${role}`;
  return make("span", { class: `tc-chip ${name}`, "aria-hidden": "true" }, GLYPHS[role]);
}

// JupyterLab looks for this on the focused element itself: there, its own shortcuts ("x" cuts the cell) stay out.
const OURS = { "data-lm-suppress-shortcuts": "true" };

/**
 * Builds a card in `el`. keys: [[key, what it does], …], listed by "?".
 * Gives its parts, and `say(sentence)`, `reserve(sentences)`, `toggleKeys(open)`.
 */
function card(el, { label, keys, hint }) {
  const title = make("div", { class: "tc-title" });
  const say = make("p", { class: "tc-say", "aria-live": "polite" });
  const measure = make("p", { class: "tc-say tc-measure", "aria-hidden": "true" });
  const head = make("div", { class: "tc-head" }, title, say, measure);
  const body = make("div", { class: "tc-body", role: "application", tabindex: "0", "aria-label": label, ...OURS });
  const tools = make("div", { class: "tc-tools" });
  const legend = make("div", { class: "tc-legend" });
  const help = make("button", { class: "tc-help", type: "button", tabindex: "-1", "aria-label": "Keys", "aria-expanded": "false", ...OURS }, "?");
  const foot = make("div", { class: "tc-foot" }, legend, make("div", { class: "tc-hint" }, make("span", {}, hint), help));
  const list = make("dl", { class: "tc-keys", hidden: "" });
  for (const [key, meaning] of [...keys, ...WORD_KEYS]) list.append(make("dt", {}, key), make("dd", {}, meaning));
  const frame = make("div", { class: "tc-card" }, head, body, tools, foot, list);
  const pre = make("pre");
  const twin = make("details", { class: "tc-twin" }, make("summary", { tabindex: "-1", ...OURS }, "As text"), pre);
  const view = make("div", { class: "tc-view", role: "group", "aria-label": label }, frame, twin);
  el.replaceChildren(view);

  const parts = { view, title, body, tools, legend, pre, twin };
  const words = meanings({ view, frame, body, legend });
  parts.say = (text) => {
    say.replaceChildren(...spoken(text));
    words.renewed();
  };
  // Room for the longest sentence, so that nothing below moves while one steps.
  parts.reserve = (sentences) => {
    const longest = [...sentences].sort((a, b) => b.length - a.length).slice(0, 4);
    measure.style.width = `${say.clientWidth}px`;
    const heights = longest.map((text) => (measure.replaceChildren(...spoken(text)), measure.offsetHeight));
    measure.replaceChildren();
    say.style.minHeight = `${Math.max(20, ...heights)}px`;
  };
  parts.toggleKeys = (open = list.hidden) => {
    list.hidden = !open;
    help.setAttribute("aria-expanded", String(open));
  };
  parts.keysOpen = () => !list.hidden;
  help.addEventListener("click", () => (parts.toggleKeys(), body.focus()));
  // With Ctrl or ⌘ held, the keys are Jupyter's again: saving and running work from inside a view.
  const yields = (event) => document.activeElement?.toggleAttribute("data-lm-suppress-shortcuts", !(event.ctrlKey || event.metaKey));
  view.addEventListener("keydown", yields);
  view.addEventListener("keyup", yields);
  return parts;
}
