// The queue view. The kernel sends one finished picture and its moments; here only classes change.

const KEYS = [
  ["← →", "one moment back, on"],
  ["[ ]", "to the line before, the next line of Python"],
  ["Space", "play, pause"],
  ["Home End", "before the first moment, the last moment"],
  ["t", "the moments as text"],
  ["Esc", "pause; again: back to the start"],
];

/** What a box is at moment t. Moment 0 stands before all; what begins and ends at once is never "now". */
function state([first, last, queued], t) {
  if (t >= last && t > 0) return "tc-past";
  if (t >= first && t > 0) return "tc-now";
  return queued && t >= queued ? "tc-queued" : "tc-come";
}

/** Sets one class of several on an element that remembers the last. */
function become(part, name) {
  if (part.was === name) return;
  if (part.was) part.node.classList.remove(part.was);
  part.node.classList.add(name);
  part.was = name;
}

function render({ model, el }) {
  const parts = card(el, { label: "Queue view", keys: KEYS, hint: "← → step · Space play · Home End" });
  parts.view.classList.add("tc-queue");
  const steps = player(parts, show, "moment");
  let picture, boxes, wires, readings, lines, cursor, turns, frame;
  let t = 0;

  function build() {
    steps.pause();
    picture = model.get("picture");
    const list = make("ol", { class: "tc-code-lines", "aria-hidden": "true" }, ...picture.lines.map((line) => make("li", {}, line)));
    const holder = make("div", { class: "tc-graph" });
    holder.insertAdjacentHTML("beforeend", picture.svg);
    parts.body.replaceChildren(list, holder);
    lines = [...list.children].map((node) => ({ node, was: "" }));
    const all = (name) => [...holder.querySelectorAll(`svg > g.${name}`)];
    boxes = all("tc-i").map((node, k) => ({ node, span: picture.spans[k], was: "" }));
    wires = all("tc-w").map((node, k) => ({ node, span: picture.spans[k], wait: node.classList.contains("tc-w-wait"), was: "" }));
    readings = all("tc-r").map((node, k) => ({ node, from: picture.readings[k], was: "" }));
    cursor = holder.querySelector(".tc-cursor");
    turns = picture.moments.flatMap(([line], k) => (k === 0 || picture.moments[k - 1][0] !== line ? [k + 1] : []));
    parts.legend.replaceChildren(...picture.legend.map(([role, glyph, words]) => make("span", {}, mark(role, glyph), words)));
    parts.pre.textContent = picture.text;
    reserve();
    steps.open(picture.moments.length, 0);
  }

  const reserve = () => parts.reserve([picture.sentence, ...picture.moments.map((_, k) => told(k + 1)), ...picture.says]);
  const told = (at) => (at === 0 ? picture.sentence : `At \`${picture.moments[at - 1][2]}\`: ${picture.moments[at - 1][1]}`);

  function show(at) {
    const last = picture.moments.length;
    t = at;
    for (const box of boxes) become(box, state(box.span, t));
    // A launch's wire is there as soon as the work is queued, a wait's when it ends.
    for (const wire of wires) become(wire, t && t >= (wire.wait ? wire.span[1] : wire.span[2] || 1) ? "tc-past" : "tc-come");
    for (const reading of readings) become(reading, t >= reading.from ? "tc-past" : "tc-come");
    const here = t ? picture.moments[t - 1][0] : -1;
    lines.forEach((line, k) => become(line, k === here ? "tc-here" : k < here ? "tc-done" : "tc-later"));
    cursor.style.visibility = t ? "visible" : "hidden";
    if (t) cursor.style.transform = `translateX(${picture.xs[t - 1]}px)`;
    parts.title.replaceChildren(picture.title);
    parts.say(told(t));
    parts.body.setAttribute("aria-label", `${picture.title}, moment ${t} of ${last}. Arrow keys step, ? lists the keys.`);
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => follow(here));
  }

  /** Scrolls inside of the card, never the page: to the cursor, and to the line that Python stands in. */
  function follow(here) {
    const body = parts.body;
    if (t && body.scrollWidth > body.clientWidth) {
      const x = picture.xs[t - 1] - body.scrollLeft;
      if (x < 130 || x > body.clientWidth - 60) body.scrollLeft += x - body.clientWidth / 2;
    }
    const list = lines[here]?.node.parentNode;
    if (list && list.scrollHeight > list.clientHeight) list.scrollTop = lines[here].node.offsetTop - list.offsetTop - list.clientHeight / 2;
  }

  listen(parts, stepping(parts, steps, () => turns));

  // Pointing at a box says what it is, a click goes to its beginning.
  const boxOf = (event) => boxes.find((box) => box.node === event.target.closest?.(".tc-i"));
  parts.body.addEventListener("pointerover", (event) => {
    const box = boxOf(event);
    if (box && !steps.playing()) parts.say(picture.says[boxes.indexOf(box)]);
  });
  parts.body.addEventListener("pointerout", (event) => boxOf(event) && !steps.playing() && parts.say(told(t)));
  parts.body.addEventListener("click", (event) => {
    const box = boxOf(event);
    if (box) steps.pause(), steps.go(box.span[0]);
  });

  model.on("change:picture", build);
  build();
  const watch = new ResizeObserver(reserve);
  watch.observe(parts.view);
  return () => (model.off("change:picture", build), watch.disconnect(), steps.pause(), cancelAnimationFrame(frame));
}

export default { render };
