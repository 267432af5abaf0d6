// The backward stepper. The kernel sends one finished picture and the steps of the engine; here only classes change.

const KEYS = [
  ["← →", "one step back, on"],
  ["[ ]", "to the box before, the next box"],
  ["Space", "play, pause"],
  ["Home End", "before the first step, the last step"],
  ["t", "the steps as text"],
  ["Esc", "pause; again: back to the start"],
];

const ICONS = {
  first: "M4 3v10M13 3L6.5 8l6.5 5z",
  back: "M11.5 3L5 8l6.5 5z",
  play: "M4.5 2.5L13 8l-8.5 5.5z",
  pause: "M5.5 3v10M10.5 3v10",
  on: "M4 3l7.5 5L4 13z",
  last: "M12 3v10M3 3l6.5 5L3 13z",
};

function icon(name) {
  const svg = draw("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", focusable: "false" });
  svg.append(draw("path", { d: ICONS[name] }));
  return svg;
}

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

/** The small square of the legend that stands for a state or a thing. */
function mark(role, glyph) {
  return make("span", { class: `tc-chip tc-${role === "view" ? "view-role" : role}`, "aria-hidden": "true" }, glyph);
}

/** How far to scroll so that a box (its place and length in the window of the card) comes to its middle; 0 if it is in. */
function axis(at, length, room, edge = 40) {
  return at >= edge && at + length <= room - edge ? 0 : at + length / 2 - room / 2;
}

function render({ model, el }) {
  const parts = card(el, { label: "Backward stepper", keys: KEYS, hint: "← → step · Space play · Home End" });
  parts.view.classList.add("tc-stepper");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const buttons = {};
  const bar = make("input", { type: "range", min: "0", step: "1", class: "tc-scrub", tabindex: "-1", "aria-label": "Step", ...OURS });
  const counter = make("output", { class: "tc-counter" });
  let picture, boxes, wires, arrivals, room, t, timer, frame;

  for (const [name, label, act] of [
    ["first", "To the start", () => go(0)],
    ["back", "One step back", () => go(t - 1)],
    ["play", "Play", () => (timer ? pause() : play())],
    ["on", "One step on", () => go(t + 1)],
    ["last", "To the last step", () => go(Infinity)],
  ]) {
    buttons[name] = make("button", { type: "button", class: `tc-press tc-${name}`, tabindex: "-1", "aria-label": label, title: label, ...OURS }, icon(name));
    buttons[name].addEventListener("click", () => (name !== "play" && pause(), act(), parts.body.focus({ preventScroll: true })));
  }
  parts.tools.append(make("div", { class: "tc-buttons", role: "group", "aria-label": "Steps" }, ...Object.values(buttons)), bar, counter);

  function build() {
    pause();
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
    arrivals = visits(picture.moments);
    bar.max = last;
    parts.legend.replaceChildren(...picture.legend.map(([role, glyph, words]) => make("span", {}, mark(role, glyph), words)));
    parts.pre.textContent = twin();
    counter.style.minWidth = `${2 * String(last).length + 3}ch`;
    reserve();
    t = -1;
    measure();
    go(0);
  }

  const heading = () => `${picture.title}, ${picture.moments.length.toLocaleString("en")} ${picture.moments.length === 1 ? "step" : "steps"}`;
  const reserve = () => parts.reserve([picture.sentence, ...picture.moments.map(([, say]) => say), ...picture.says]);

  function twin() {
    const steps = picture.moments.map(([, say], k) => `${String(k + 1).padStart(3)}. ${say}`);
    return [heading(), picture.sentence, ...(picture.folded ? [picture.folded] : []), ...steps].join("\n").replaceAll("`", "");
  }

  function go(to) {
    const last = picture.moments.length;
    const next = Math.max(0, Math.min(last, to));
    if (next === t) return;
    t = next;
    for (const box of boxes) paintBox(box);
    for (const wire of wires) paintWire(wire);
    bar.value = t;
    bar.style.setProperty("--tc-part", last ? t / last : 0);
    bar.setAttribute("aria-valuetext", `${t} of ${last}`);
    counter.textContent = `${t} / ${last}`;
    buttons.first.disabled = buttons.back.disabled = t === 0;
    buttons.on.disabled = buttons.last.disabled = t === last;
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
    if (aside || below) parts.body.scrollBy({ left: aside, top: below, behavior: still.matches || timer ? "auto" : "smooth" });
  }
  // Asking for sizes at each step would lay the page out anew each time, so they are kept.
  function measure() {
    const { clientWidth: width, clientHeight: height, scrollWidth, scrollHeight } = parts.body;
    const svg = parts.body.querySelector("svg").getBoundingClientRect();
    const frame = parts.body.getBoundingClientRect();
    const [left, top] = [parts.body.scrollLeft, parts.body.scrollTop];
    const over = scrollWidth > width || scrollHeight > height;
    room = { width, height, left, top, over, x: svg.left - frame.left + left, y: svg.top - frame.top + top };
  }

  function play() {
    if (t === picture.moments.length) go(0);
    const pace = Math.max(140, Math.min(1100, 30000 / picture.moments.length));
    timer = setInterval(() => (go(t + 1), t === picture.moments.length && pause()), pace);
    face("pause", "Pause");
  }
  function pause() {
    clearInterval(timer);
    timer = 0;
    face("play", "Play");
  }
  function face(name, label) {
    buttons.play.replaceChildren(icon(name));
    buttons.play.setAttribute("aria-label", label);
    buttons.play.title = label;
    // While it plays, a screen reader would lag behind; it reads the sentence where one stops.
    parts.view.querySelector(".tc-say").setAttribute("aria-live", name === "pause" ? "off" : "polite");
  }

  /** What a key does; true when it was meant for the view. */
  function act(key) {
    if (key === "?") return parts.toggleKeys(), true;
    if (key === "t") return (parts.twin.open = !parts.twin.open), true;
    if (key === " ") return timer ? pause() : play(), true;
    if (key === "Escape") return parts.keysOpen() ? parts.toggleKeys(false) : timer ? pause() : go(0), true;
    const to = {
      ArrowLeft: () => t - 1, ArrowUp: () => t - 1, ArrowRight: () => t + 1, ArrowDown: () => t + 1,
      Home: () => 0, End: () => Infinity,
      "[": () => arrivals.findLast((step) => step < t) ?? 0, "]": () => arrivals.find((step) => step > t) ?? t,
    }[key];
    if (!to) return false;
    pause();
    go(to());
    return true;
  }
  parts.body.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !act(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  });
  bar.addEventListener("input", () => (pause(), go(Number(bar.value))));
  bar.addEventListener("change", () => parts.body.focus({ preventScroll: true }));

  // Pointing at a box says what it does, a click goes to its first step.
  const boxOf = (event) => boxes.find((box) => box.node === event.target.closest?.(".node"));
  parts.body.addEventListener("pointerover", (event) => {
    const box = boxOf(event);
    if (box && !timer) parts.say(told(box));
  });
  const told = (box) => picture.says[boxes.indexOf(box)] || picture.moments[(box.steps[0] ?? 0) - 1]?.[1] || "The engine did not come here.";
  parts.body.addEventListener("pointerout", (event) => boxOf(event) && !timer && parts.say(sentence()));
  parts.body.addEventListener("click", (event) => {
    const box = boxOf(event);
    if (box?.steps.length) pause(), go(box.steps[0]);
  });

  model.on("change:picture", build);
  build();
  parts.body.addEventListener("scroll", () => ([room.left, room.top] = [parts.body.scrollLeft, parts.body.scrollTop]));
  const watch = new ResizeObserver(() => (reserve(), measure()));
  watch.observe(parts.view);
  return () => (model.off("change:picture", build), watch.disconnect(), clearInterval(timer), cancelAnimationFrame(frame));
}

export default { render };
