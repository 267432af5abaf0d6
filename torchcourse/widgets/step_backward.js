// The backward stepper. The kernel sends one finished picture and the steps of the engine; here only classes change.

const KEYS = [
  ["← →", "one step back, on"],
  ["[ ]", "to the box before, the next box"],
  ["Space", "play, pause"],
  ["Home End", "before the first step, the last step"],
  ["t", "the steps as text"],
  ["Esc", "pause; again: back to the start"],
];

/** What a box or a wire is at step t: how many of its steps are behind, and whether one is now. */
function stand(steps, t) {
  let past = 0;
  while (past < steps.length && steps[past] < t) past++;
  return { past, now: steps[past] === t };
}

const reached = (steps, t) => steps.filter((step) => step <= t).length;

/** The places (steps) at which the engine comes into another box than before. */
function visits(moments) {
  return moments.flatMap(([box], k) => (k === 0 || moments[k - 1][0] !== box ? [k + 1] : []));
}

/** How far to scroll so that a box (its place and length in the window of the card) comes to its middle; 0 if it is in. */
function axis(at, length, room, edge = 40) {
  return at >= edge && at + length <= room - edge ? 0 : at + length / 2 - room / 2;
}

function render({ model, el }) {
  const parts = card(el, { label: "Backward stepper", keys: KEYS, hint: "← → step · Space play · Home End" });
  parts.view.classList.add("tc-stepper");
  const steps = player(parts, show);
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let picture, boxes, wires, touched, arrivals, room, frame;
  let t = null;

  function build() {
    steps.pause();
    picture = model.get("picture");
    const last = picture.moments.length;
    const holder = make("div", { class: "tc-graph" });
    holder.insertAdjacentHTML("beforeend", picture.svg);
    parts.body.replaceChildren(holder);
    const groups = [...holder.querySelectorAll("svg > g")];
    // `was` is what the drawing shows of it: a step touches only what changes.
    wires = picture.wires.map(([sent, got], k) => ({ sent, got, node: groups[k], was: "" }));
    boxes = picture.boxes.map(([steps, fills], k) => ({ steps, fills, node: groups[wires.length + k], was: "" }));
    for (const box of boxes) {
      const [width, height] = ["width", "height"].map((name) => Number(box.node.querySelector(".tc-face").getAttribute(name)));
      const [x, y] = box.node.getAttribute("transform").match(/[\d.]+/g).map(Number);
      box.node.prepend(draw("rect", { class: "tc-halo", x: -4, y: -4, width: width + 8, height: height + 8, rx: 8 }));
      box.count = box.node.querySelector(".tc-count");
      Object.assign(box, { x, y, width, height });
    }
    // From one step to the next, only what either of them touches can change.
    touched = Array.from({ length: last + 1 }, () => []);
    for (const part of [...boxes, ...wires]) for (const step of part.steps ?? [...part.sent, ...part.got]) touched[step].push(part);
    arrivals = visits(picture.moments);
    parts.legend.replaceChildren(...picture.legend.map(([role, glyph, words]) => make("span", {}, mark(role, glyph), words)));
    parts.pre.textContent = twin();
    reserve();
    measure();
    t = null;
    steps.open(last, 0);
  }

  const heading = () => `${picture.title}, ${picture.moments.length.toLocaleString("en")} ${picture.moments.length === 1 ? "step" : "steps"}`;
  const reserve = () => parts.reserve([picture.sentence, ...picture.moments.map(([, say]) => say), ...picture.says]);

  function twin() {
    const steps = picture.moments.map(([, say], k) => `${String(k + 1).padStart(3)}. ${say}`);
    return [heading(), picture.sentence, ...(picture.folded ? [picture.folded] : []), ...steps].join("\n").replaceAll("`", "");
  }

  function show(at) {
    const last = picture.moments.length;
    const changed = t !== null && Math.abs(at - t) === 1 ? [...touched[t], ...touched[at]] : [...boxes, ...wires];
    t = at;
    for (const part of changed) part.steps ? paintBox(part) : paintWire(part);
    parts.title.replaceChildren(t ? `${picture.title}, step ${t} of ${last}` : heading());
    parts.say(sentence());
    parts.body.setAttribute("aria-label", `${picture.title}, step ${t} of ${last}. Arrow keys step, ? lists the keys.`);
    // Scrolling asks for the layout; in the next frame that is there anyway.
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(follow);
  }

  const sentence = () => (t === 0 ? picture.sentence : picture.moments[t - 1][1]);

  function paintBox(box) {
    const { past, now } = stand(box.steps, t);
    const state = now ? "tc-now" : !past ? "tc-come" : past === box.steps.length ? "tc-past" : "tc-part";
    if (state !== box.was) {
      if (box.was) box.node.classList.remove(box.was);
      box.node.classList.add(state);
      box.was = state;
    }
    if (box.count && past + now !== box.shown) {
      box.shown = past + now;
      box.count.textContent = `${box.shown}/${box.steps.length} nodes${box.fills.length ? ` · ${reached(box.fills, t)}/${box.fills.length} .grad` : ""}`;
    }
  }

  function paintWire(wire) {
    const sent = stand(wire.sent, t);
    const now = sent.now || (stand(wire.got, t).now && sent.past > 0);
    const state = now ? "tc-now" : sent.past ? "tc-past" : "tc-come";
    if (state === wire.was) return;
    if (wire.was) wire.node.classList.remove(wire.was);
    wire.node.classList.add(state);
    wire.was = state;
  }

  /** Scrolls inside of the card, never the page, until the box that is now stands free. */
  function follow() {
    const box = boxes[picture.moments[Math.max(t, 1) - 1]?.[0]];
    if (!box || !room.over) return;
    const aside = axis(room.x + box.x - room.left, box.width, room.width);
    const below = axis(room.y + box.y - room.top, box.height, room.height);
    if (aside || below) parts.body.scrollBy({ left: aside, top: below, behavior: still.matches || steps.playing() ? "auto" : "smooth" });
  }
  // Asking for sizes at each step would lay the page out anew each time, so they are kept.
  function measure() {
    const { clientWidth: width, clientHeight: height, scrollWidth, scrollHeight } = parts.body;
    const svg = parts.body.querySelector("svg").getBoundingClientRect();
    const frame = parts.body.getBoundingClientRect();
    const [left, top] = [parts.body.scrollLeft, parts.body.scrollTop];
    const over = scrollWidth > width || scrollHeight > height;
    const zoom = parts.body.currentCSSZoom ?? 1; // what is scrolled by is in the view's own units
    room = { width, height, left, top, over, x: (svg.left - frame.left) / zoom + left, y: (svg.top - frame.top) / zoom + top };
  }

  listen(parts, stepping(parts, steps, () => arrivals));

  // Pointing at a box says what it does, a click goes to its first step.
  const boxOf = (event) => boxes.find((box) => box.node === event.target.closest?.(".node"));
  parts.body.addEventListener("pointerover", (event) => {
    const box = boxOf(event);
    if (box && !steps.playing()) parts.say(told(box));
  });
  const told = (box) => picture.says[boxes.indexOf(box)] || picture.moments[(box.steps[0] ?? 0) - 1]?.[1] || "The engine did not come here.";
  parts.body.addEventListener("pointerout", (event) => boxOf(event) && !steps.playing() && parts.say(sentence()));
  parts.body.addEventListener("click", (event) => {
    const box = boxOf(event);
    if (box?.steps.length) steps.pause(), steps.go(box.steps[0]);
  });

  model.on("change:picture", build);
  build();
  parts.body.addEventListener("scroll", () => ([room.left, room.top] = [parts.body.scrollLeft, parts.body.scrollTop]));
  const watch = new ResizeObserver(() => (reserve(), measure()));
  watch.observe(parts.view);
  return () => (model.off("change:picture", build), watch.disconnect(), steps.pause(), cancelAnimationFrame(frame));
}

export default { render };
