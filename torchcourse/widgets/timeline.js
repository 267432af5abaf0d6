// The timeline of the caching allocator. The kernel sends the whole history once; stepping happens here.

const TIMELINE_KEYS = [
  ["← →", "one event back, on"],
  ["PgUp PgDn", "a twentieth of the history back, on"],
  ["[ ]", "to the event before, the next event, at which memory comes from the driver or goes back"],
  ["Space", "play, pause"],
  ["Home End", "to the start, to the last event"],
  ["+ −", "ask about a larger, a smaller request"],
  ["b B", "to the next block, the block before: what it is"],
  ["t", "the history as text"],
  ["Esc", "pause; again: no request, no block"],
];

/** One allocator of the view: numbers over its two pools over the curves. */
function pane(column, picture, request) {
  const past = history(column);
  const cells = ["allocated", "reserved", "of it not in use", "free on the card"].map((name) => [make("span", {}, name), make("b", {})]);
  const numbers = make("div", { class: "tc-numbers" }, ...cells.map((pair) => make("div", {}, ...pair)));
  const answer = make("p", { class: "tc-ask" });
  const holder = make("div", { class: "tc-memory" });
  holder.insertAdjacentHTML("beforeend", column.svg);
  const svg = holder.querySelector("svg");
  const shelves = column.pools.map((pool) => shelf(pool, column, picture.owners));
  const ring = draw("path", { class: "tc-ring" });
  const left = draw("path", { class: "tc-ring tc-left" });
  const pick = draw("path", { class: "tc-pick" });
  const cursor = draw("path", { class: "tc-cursor", d: `M0 ${column.chart.top - 4}V${column.chart.bottom + 4}` });
  svg.append(...shelves.map((one) => one.group), left, ring, pick, cursor);
  const name = make("div", { class: "tc-caption" }, make("span", { class: "tc-name" }, column.name));
  const root = make("div", { class: "tc-pane" }, ...(picture.columns.length > 1 ? [name] : []), numbers, answer, holder);
  const of = (slot) => shelves[column.pools.findIndex((pool) => pool.small === column.slots[slot][1])];
  const size = (tiles, slot, k) => ((tiles[slot][k + 1]?.[0] ?? column.slots[slot][0]) - tiles[slot][k][0]) * UNIT;
  // Where the pointer is in the picture's own units: a larger text in JupyterLab enlarges the whole view.
  const point = (event) => {
    const [box, zoom] = [svg.getBoundingClientRect(), svg.currentCSSZoom ?? 1];
    return [(event.clientX - box.left) / zoom, (event.clientY - box.top) / zoom];
  };
  let tiles;

  return {
    root, svg, column,
    show(t, asked) {
      tiles = past.at(t);
      for (const one of shelves) one.draw(tiles, asked);
      const [allocated, reserved] = [column.allocated[t] * UNIT, column.reserved[t] * UNIT];
      const free = column.total ? column.total - reserved : null;
      [allocated, reserved, reserved - allocated, free].forEach((value, k) => {
        cells[k][1].textContent = value === null ? "not known" : sized(value);
      });
      let [changed, gone] = ["", ""];
      const from = t ? column.ends[t - 1] : 0;
      for (let k = Math.max(from, column.ends[t] - 40); t && k < column.ends[t]; k++) {
        const [slot, offset, length, state] = column.paints.slice(k * 4, k * 4 + 4);
        const outline = of(slot).outline(slot, offset, offset + length);
        if (state === NO_MEMORY) gone += outline;
        else changed += outline;
      }
      ring.setAttribute("d", changed);
      left.setAttribute("d", gone);
      cursor.setAttribute("transform", `translate(${(t / Math.max(picture.steps, 1)) * column.width} 0)`);
      answer.replaceChildren(...(asked ? spoken(this.chance(asked)) : []));
    },
    /** What the cache could do for a request. */
    chance(asked) {
      const { free, unfit, best, largest } = pieces(column.slots, tiles, asked);
      const start = `For \`${sized(asked)}\`: `;
      if (!free) return `${start}nothing is free in the cache.`;
      if (best) return `${start}a free block of \`${sized(best)}\` serves it; \`${sized(unfit)}\` of \`${sized(free)}\` free could not.`;
      return `${start}✕ \`${sized(free)}\` is free in the cache, and none of it serves: the largest piece of its pool is \`${sized(largest)}\`.`;
    },
    /** What stands under the pointer, or null. */
    under(event) {
      const [x, y] = point(event);
      for (const one of shelves) {
        const found = one.under(x, y, tiles);
        if (found) return found;
      }
      return null;
    },
    moment(event) {
      const [x, y] = point(event);
      return y > column.chart.top - 8 && y < column.chart.bottom + 8 ? (x / column.width) * picture.steps : null;
    },
    blocks: () => tiles.flatMap((row, slot) => row.flatMap(([, state], k) => (state === NO_MEMORY ? [] : [[slot, k]]))),
    told(slot, k) {
      const [, state, since] = tiles[slot][k];
      const what = state === FREE ? "free" : state === WAITS ? "freed, waits for another stream" : picture.owners[state - OWNED][0];
      const [, small, , stream, grows] = column.slots[slot];
      const where = `${grows ? "expandable segment" : `segment of \`${sized(column.slots[slot][0] * UNIT)}\``}, ${small ? "small" : "large"} pool${stream ? `, stream ${stream}` : ""}`;
      const born = since ? `since event ${since}: ${sizesCoded(picture.texts[column.says[since]])}` : "since before the first event.";
      return `\`${sized(size(tiles, slot, k))}\`, ${what}, in a ${where}; ${born}`;
    },
    pick: (found) => pick.setAttribute("d", found ? of(found[0]).outline(found[0], tiles[found[0]][found[1]][0], tiles[found[0]][found[1]][0] + size(tiles, ...found) / UNIT) : ""),
    since: (slot, k) => tiles[slot][k][2],
  };
}

/** Sums up a list of differences. */
function summed(differences) {
  let sum = 0;
  return differences.map((difference) => (sum += difference));
}

function render({ model, el }) {
  const parts = card(el, { label: "CUDA memory timeline", keys: TIMELINE_KEYS, hint: "← → step · Space play · + − request" });
  parts.view.classList.add("tc-timeline");
  let picture, panes, asked, block;
  const play = player(parts, show, "event");
  const slider = make("input", { type: "range", min: "0", step: "1", class: "tc-scrub", tabindex: "-1", "aria-label": "Size of a request", ...OURS });
  const wanted = make("output", { class: "tc-counter" });
  parts.tools.append(make("label", { class: "tc-request" }, make("span", {}, "Would a request fit?"), slider, wanted));

  function build() {
    picture = structuredClone(model.get("picture"));
    for (const column of picture.columns) {
      for (const name of ["ends", "reserved", "allocated"]) column[name] = summed(column[name]);
    }
    panes = picture.columns.map((column) => pane(column, picture));
    parts.body.replaceChildren(make("div", { class: "tc-panes" }, ...panes.map((one) => one.root)));
    parts.legend.replaceChildren(...picture.legend.map(([look, sign, words]) => make("span", {}, make("span", { class: `tc-chip tc-${look === "view" ? "view-role" : look}`, "aria-hidden": "true" }, sign), words)));
    parts.pre.textContent = picture.twin;
    slider.max = picture.requests.length;
    [asked, block] = [picture.requests.indexOf(picture.request) + 1, null];
    reserve();
    play.open(picture.steps, picture.steps);
    ask(asked);
  }
  function reserve() {
    const longest = (says) => picture.texts[says.reduce((a, b) => (picture.texts[b].length > picture.texts[a].length ? b : a))];
    const block = "`1023.99 MiB`, free, in a segment of `1023.99 MiB`, large pool; since event 10,000: ";
    const says = panes.map(({ column }) => longest(column.says));
    parts.reserve([joined(says), ...says.map((text) => block + sizesCoded(text))]);
  }
  const joined = (texts) => (texts.every((text) => text === texts[0]) ? `${texts.length > 1 ? "Both: " : ""}${sizesCoded(texts[0])}` : texts.map((text, k) => `\`${panes[k].column.name}\`: ${sizesCoded(text)}`).join(" "));
  const sentence = () => joined(panes.map(({ column }) => picture.texts[column.says[play.t()]]));
  const request = () => (asked ? picture.requests[asked - 1] : 0);

  function show(t) {
    block = null;
    for (const one of panes) one.show(t, request()), one.pick(null);
    const steps = picture.steps.toLocaleString("en");
    const where = t ? `event ${t.toLocaleString("en")} of ${steps}` : `before the first of ${steps} events`;
    parts.title.replaceChildren(`${picture.title}, ${where}`);
    parts.say(sentence());
    parts.body.setAttribute("aria-label", `${picture.title}, ${where}. Arrow keys step, ? lists the keys.`);
  }
  function ask(number) {
    asked = Math.max(0, Math.min(picture.requests.length, number));
    slider.value = asked;
    slider.style.setProperty("--tc-part", asked / picture.requests.length);
    wanted.textContent = asked ? sized(request()) : "not asked";
    slider.setAttribute("aria-valuetext", wanted.textContent);
    for (const one of panes) one.show(play.t(), request());
  }
  /** To the next block (by: 1) or the one before (-1), through all panes. */
  function pick(by) {
    const all = panes.flatMap((one, k) => one.blocks().map((found) => [k, ...found]));
    if (!all.length) return;
    const at = block ? all.findIndex((one) => String(one) === String(block)) : by > 0 ? -1 : 0;
    point(all[(at + by + all.length) % all.length]);
  }
  function point(found) {
    block = found;
    panes.forEach((one, k) => one.pick(found && found[0] === k ? found.slice(1) : null));
    parts.say(found ? panes[found[0]].told(found[1], found[2]) : sentence());
  }
  /** The next event (by: 1) or the one before (-1) at which a column's reserved bytes change. */
  function driver(by) {
    for (let t = play.t() + by; t > 0 && t <= picture.steps; t += by) {
      if (panes.some(({ column }) => column.reserved[t] !== column.reserved[t - 1])) return t;
    }
    return by > 0 ? play.t() : 0;
  }

  function act(key) {
    const page = Math.max(1, Math.round(picture.steps / 20));
    const other = {
      "?": () => parts.toggleKeys(), t: () => (parts.twin.open = !parts.twin.open), " ": play.toggle,
      "+": () => ask(asked + 1), "=": () => ask(asked + 1), "-": () => ask(asked - 1), "−": () => ask(asked - 1),
      b: () => pick(1), B: () => pick(-1),
      Escape: () => (parts.keysOpen() ? parts.toggleKeys(false) : play.playing() ? play.pause() : (ask(0), point(null))),
    }[key];
    if (other) return other(), true;
    const t = play.t();
    const to = {
      ArrowLeft: () => t - 1, ArrowUp: () => t - 1, ArrowRight: () => t + 1, ArrowDown: () => t + 1,
      PageUp: () => t - page, PageDown: () => t + page, Home: () => 0, End: () => picture.steps,
      "[": () => driver(-1), "]": () => driver(1),
    }[key];
    if (!to) return false;
    play.pause();
    play.go(to());
    return true;
  }
  parts.body.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !act(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  });
  slider.addEventListener("input", () => ask(Number(slider.value)));
  slider.addEventListener("change", () => parts.body.focus({ preventScroll: true }));

  // Pointing at a block says what it is; a click goes to the event that made it, or to a moment of the curves.
  const over = (event) => panes.findIndex((one) => one.svg.contains(event.target) || one.svg === event.target);
  parts.body.addEventListener("pointermove", (event) => {
    const k = over(event);
    if (k < 0 || play.playing()) return;
    const moment = event.buttons === 1 ? panes[k].moment(event) : null;
    if (moment !== null) return play.go(moment);
    const found = panes[k].under(event);
    if (found || block) point(found && [k, ...found]);
  });
  parts.body.addEventListener("pointerleave", () => block && !play.playing() && point(null));
  parts.body.addEventListener("pointerdown", (event) => {
    const k = over(event);
    if (k < 0) return;
    const moment = panes[k].moment(event);
    const found = panes[k].under(event);
    if (moment !== null || found) play.pause(), play.go(moment ?? panes[k].since(...found));
  });

  model.on("change:picture", build);
  build();
  const watch = new ResizeObserver(reserve);
  watch.observe(parts.view);
  return () => (model.off("change:picture", build), watch.disconnect(), play.pause());
}

export { history, paint, pieces, sized };
export default { render };
