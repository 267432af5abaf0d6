// The export view. The kernel sends, for each way, the source's rows and one finished picture; here only classes change.

const KEYS = [
  ["↑ ↓", "the line or operator above, below"],
  ["→ ←", "to the graph, back to the source"],
  ["[ ]", "the way before, the next way"],
  ["Home End", "first, last"],
  ["t", "source and graph as text"],
  ["Esc", "clear"],
];
const CLASS = { "not taken": "tc-not-taken", "no trace": "tc-no-trace", stopped: "tc-stopped", head: "tc-source", note: "tc-source" };

/** A chip with its words. */
function tag([role, glyph, words]) {
  return make("span", { class: `tc-tag tc-t-${role}` }, make("i", { "aria-hidden": "true" }, glyph), words);
}

function sourceRow([number, text, kind, chips]) {
  if (!number) return make("div", { class: `tc-line ${CLASS[kind]}` }, text);
  const indent = text.length - text.trimStart().length;
  const code = make("span", { class: "tc-code" }, make("code", { class: "tc-src" }, text.trimStart()), ...chips.map(tag));
  code.style.setProperty("--tc-indent", `${indent}ch`);
  return make("div", { class: `tc-line ${CLASS[kind] ?? ""}` }, make("span", { class: "tc-lineno" }, String(number)), code);
}

/** One way: its two columns, and for each of their items the others that belong to it. */
function pane(way) {
  const code = make("div", { class: "tc-col tc-left" }, ...way.rows.map(sourceRow));
  const graph = make("div", { class: "tc-col tc-right" });
  if (way.refused) graph.append(make("p", { class: "tc-no-graph" }, "No graph. ", ...spoken(way.refused)));
  if (way.folded) graph.append(make("p", { class: "tc-folded" }, way.folded));
  graph.insertAdjacentHTML("beforeend", way.svg);
  const groups = [...graph.querySelectorAll("svg > g")];
  const wires = groups.slice(0, way.wires.length).map((node, k) => ({ node, ends: way.wires[k] }));
  const boxes = groups.slice(way.wires.length).map((node, k) => ({ side: "boxes", k, node, say: way.says[k], mates: [] }));
  for (const box of boxes) {
    const face = box.node.querySelector(".tc-face");
    const [width, height] = ["width", "height"].map((name) => Number(face.getAttribute(name)));
    box.node.prepend(draw("rect", { class: "tc-halo", x: -4, y: -4, width: width + 8, height: height + 8, rx: 8 }));
  }
  const rows = way.rows.map(([, , , , mates, say], k) => ({ side: "rows", k, node: code.children[k], say, mates: mates.map((b) => boxes[b]) }));
  for (const row of rows) for (const box of row.mates) box.mates.push(row);
  const node = make("div", { class: "tc-pane" }, code, graph);
  return { node, code, graph, wires, boxes, rows: rows.filter((row) => row.say), way };
}

function render({ model, el }) {
  const parts = card(el, { label: "Export view", keys: KEYS, hint: "↑ ↓ move · → graph · ← source · [ ] way" });
  parts.view.classList.add("tc-ways");
  let picture, panes, buttons, here;
  let pinned = null;
  let shown = null;

  function build() {
    picture = model.get("picture");
    panes = picture.ways.map(pane);
    buttons = picture.ways.map(({ name }, k) => {
      const button = make("button", { type: "button", class: "tc-way", tabindex: "-1", ...OURS }, name);
      button.addEventListener("click", () => (open(k), parts.body.focus({ preventScroll: true })));
      return button;
    });
    const group = make("div", { class: "tc-switch", role: "group", "aria-label": "Way of exporting" }, ...buttons);
    parts.tools.replaceChildren(...(buttons.length > 1 ? [group] : []), make("p", { class: "tc-remark" }, ...spoken(picture.note)));
    parts.legend.replaceChildren(...picture.legend.map(tag));
    parts.pre.textContent = picture.text;
    parts.body.replaceChildren(...panes.map(({ node }) => node));
    open(picture.opens);
    fit();
  }

  const sentence = () => panes[here].way.sentence;

  function open(k) {
    here = k;
    panes.forEach(({ node }, i) => node.classList.toggle("tc-off", i !== k));
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === k)));
    parts.title.replaceChildren(`${picture.title} with ${panes[k].way.name}`);
    parts.body.setAttribute("aria-label", `${picture.title} with ${panes[k].way.name}. Arrow keys move, ? lists the keys.`);
    parts.body.scrollTo(0, 0);
    pin(null);
  }

  function show(item) {
    for (const node of parts.body.querySelectorAll(".tc-here, .tc-lit")) node.classList.remove("tc-here", "tc-lit");
    shown = item;
    parts.say(item ? item.say : sentence());
    if (!item) return;
    item.node.classList.add("tc-here");
    for (const mate of item.mates) mate.node.classList.add("tc-lit");
    const boxes = new Set((item.side === "boxes" ? [item] : item.mates).map(({ k }) => k));
    for (const { node, ends } of panes[here].wires) node.classList.toggle("tc-lit", ends.some((end) => boxes.has(end)));
  }

  function pin(item) {
    pinned = item;
    show(item);
    if (!item) return;
    // Where one column fits into the card it stays in place, and the other one scrolls to what belongs to it.
    const mate = item.mates.find(({ node }) => !stays(node));
    reach((stays(item.node) && mate ? mate : item).node, item.node);
  }

  const stays = (node) => node.closest(".tc-col").classList.contains("tc-stays");

  /** Scrolls inside of the card, never the page: up and down to one element, aside to another. */
  function reach(node, beside) {
    const [frame, box, side] = [parts.body, node, beside].map((one) => one.getBoundingClientRect());
    const over = (low, high, from, to) => (low < from ? low - from : high > to ? Math.min(high - to, low - from) : 0);
    const zoom = parts.body.currentCSSZoom ?? 1; // what is scrolled by is in the view's own units
    const [top, left] = [over(box.top, box.bottom, frame.top + 12, frame.bottom - 12), over(side.left, side.right, frame.left + 8, frame.right - 8)];
    parts.body.scrollBy({ top: top / zoom, left: left / zoom });
  }

  /** A column that is not higher than the card stays in place while the other one scrolls. */
  function fit() {
    for (const { code, graph } of panes) for (const column of [code, graph]) column.classList.toggle("tc-stays", column.offsetHeight <= parts.body.clientHeight - 24);
    parts.reserve(panes.flatMap(({ way, rows, boxes }) => [way.sentence, ...rows.map(({ say }) => say), ...boxes.map(({ say }) => say)]));
  }

  /** The nearest item of the other column: one that belongs to it, or the first. */
  function across(side) {
    const items = panes[here][side];
    if (pinned?.side === side) return true;
    const mates = pinned?.mates.filter((mate) => items.includes(mate)) ?? [];
    pin((side === "rows" ? mates.at(-1) : mates[0]) ?? items[0] ?? pinned);
    return true;
  }

  function step(key) {
    const items = panes[here][pinned?.side ?? "rows"];
    const from = items.indexOf(pinned);
    const goals = { ArrowUp: Math.max(0, from - 1), ArrowDown: from + 1, Home: 0, End: items.length - 1 };
    if (!(key in goals)) return false;
    pin(items[Math.min(goals[key], items.length - 1)] ?? null);
    return true;
  }

  listen(parts, (key) => {
    if (key === "?") return parts.toggleKeys(), true;
    if (key === "t") return (parts.twin.open = !parts.twin.open), true;
    if (key === "Escape") return parts.keysOpen() ? parts.toggleKeys(false) : pin(null), true;
    if (key === "[" || key === "]") return open((here + (key === "]" ? 1 : -1) + panes.length) % panes.length), true;
    if (key === "ArrowRight") return across("boxes");
    if (key === "ArrowLeft") return across("rows");
    return step(key);
  });

  const itemOf = (event) => {
    const node = event.target.closest?.(".node, .tc-line");
    return node && [...panes[here].rows, ...panes[here].boxes].find((item) => item.node === node);
  };
  const listeners = {
    pointerover: (event) => itemOf(event) !== shown && show(itemOf(event) ?? pinned),
    pointerleave: () => show(pinned),
    click: (event) => itemOf(event) && pin(itemOf(event)),
    focus: () => !pinned && parts.body.matches(":focus-visible") && panes[here].rows.length && pin(panes[here].rows[0]),
  };
  for (const [name, listener] of Object.entries(listeners)) parts.body.addEventListener(name, listener);

  model.on("change:picture", build);
  build();
  const watch = new ResizeObserver(fit);
  watch.observe(parts.view);
  return () => {
    model.off("change:picture", build);
    watch.disconnect();
    for (const [name, listener] of Object.entries(listeners)) parts.body.removeEventListener(name, listener);
  };
}

export default { render };
