// The decay playground. The kernel sends the losses, drawn, and where the sliders begin; the paths are computed here,
// by decay_rules.js, at every move of a slider.

const PLAYGROUND_KEYS = [
  ["← →", "one step back, on"],
  ["↑ ↓", "the way before, the next way to use λ"],
  ["[ ]", "the loss before, the next loss"],
  ["l L", "smaller, larger learning rate"],
  ["d D", "smaller, larger λ"],
  ["m M", "less, more momentum (SGD)"],
  ["Space", "play, pause"],
  ["Home End", "to the start, to the last step"],
  ["t", "the paths as text"],
  ["Esc", "pause; again: sliders back to where they began"],
];
// setting -> [label, what a screen reader says]
const SLIDERS = {
  lr: ["lr", "Learning rate"],
  decay: ["λ", "Lambda, the weight decay"],
  momentum: ["momentum", "Momentum of SGD"],
  beta1: ["β₁", "Beta 1 of Adam"],
  beta2: ["β₂", "Beta 2 of Adam"],
};
// part of a move -> [meaning of its colour, glyph, words]
const PARTS = { gradient: ["base", "g", "gradient now"], momentum: ["rest", "m", "carried by momentum"], decay: ["now", "λ", "decay"] };
const FAR = 1e4; // px: beyond it nothing is drawn

const role = (name) => (name === "view" ? "tc-view-role" : `tc-${name}`);
const two = (pair, digits = 3) => `[${pair.map((x) => (Math.abs(x) >= 1e4 ? x.toExponential(1) : x.toFixed(digits))).join(", ")}]`;

function render({ model, el }) {
  const parts = card(el, { label: "Decay playground", keys: PLAYGROUND_KEYS, hint: "← → step · ↑ ↓ way · l L lr · d D λ" });
  parts.view.classList.add("tc-playground");
  const steps = player(parts, show);
  const sliders = {};
  const problems = make("div", { class: "tc-problems", role: "group", "aria-label": "Loss" });
  const row = make("div", { class: "tc-sliders", role: "group", "aria-label": "Settings" });
  parts.tools.append(row, problems);
  let picture, values, chosen, problem, paths, lines, rows, here, arrows;

  for (const [name, [label, words]] of Object.entries(SLIDERS)) {
    const input = make("input", { type: "range", min: "0", step: "1", class: "tc-scrub", tabindex: "-1", "aria-label": words, ...OURS });
    const output = make("output", {});
    input.addEventListener("input", () => set(name, Number(input.value)));
    input.addEventListener("change", () => parts.body.focus({ preventScroll: true }));
    sliders[name] = { input, output };
    row.append(make("label", { class: "tc-slider" }, label, input, output));
  }

  function build() {
    steps.pause();
    picture = model.get("picture");
    chosen = picture.ways.length - 1;
    values = begin();
    problems.replaceChildren(...picture.problems.map(({ name }, k) => {
      const button = make("button", { type: "button", tabindex: "-1", ...OURS }, name);
      button.addEventListener("click", () => (pose(k), parts.body.focus({ preventScroll: true })));
      return button;
    }));
    parts.legend.replaceChildren(...Object.values(PARTS).map(([meaning, glyph, words]) => make("span", {}, make("span", { class: `tc-chip ${role(meaning)}`, "aria-hidden": "true" }, glyph), words)));
    pose(0, picture.steps);
  }

  const begin = () => Object.fromEntries(Object.entries(picture.choices).map(([name, list]) => [name, list.indexOf(picture.first[name])]));
  const at = (name) => picture.choices[name][values[name]];
  const settings = () => ({ lr: at("lr"), decay: at("decay"), momentum: at("momentum"), betas: [at("beta1"), at("beta2")], steps: picture.steps });

  /** Another loss: its drawing, and a fresh line for each way. */
  function pose(index, t = steps.t()) {
    problem = index;
    const { name, words, plot, window: frame } = picture.problems[index];
    const [width, height] = picture.size;
    const svg = draw("svg", { class: "tc-svg", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Contour lines of the loss. ${words}` });
    svg.innerHTML = plot; // made by our own renderer, from our own table
    lines = picture.ways.map(({ line: [meaning, dash] }) => draw("polyline", { class: `tc-way ${role(meaning)}`, "stroke-dasharray": dash }));
    here = picture.ways.map(({ line: [, , glyph] }) => draw("text", { class: "tc-here" }, glyph));
    arrows = Object.fromEntries(Object.entries(PARTS).map(([part, [meaning]]) => [part, draw("path", { class: `tc-arrow ${role(meaning)}` })]));
    svg.append(...lines, ...Object.values(arrows), ...here);
    rows = picture.ways.map(way);
    const list = make("div", { class: "tc-ways", role: "group", "aria-label": "Ways to use λ" }, ...rows.map(({ node }) => node));
    parts.body.replaceChildren(make("div", { class: "tc-plot" }, svg), list);
    [...problems.children].forEach((button, k) => button.setAttribute("aria-pressed", String(k === index)));
    parts.place = ([x, y]) => [((x - frame[0]) / (frame[1] - frame[0])) * width, ((frame[3] - y) / (frame[3] - frame[2])) * height];
    parts.title.replaceChildren(`${picture.title}: ${name}`);
    compute(t);
  }

  function way({ name, line: [meaning, dash, glyph] }, k) {
    const sample = draw("svg", { class: "tc-svg", width: 34, height: 14, "aria-hidden": "true" });
    sample.append(draw("path", { class: `tc-sample ${role(meaning)}`, d: "M0 7h22", "stroke-dasharray": dash }), draw("text", { x: 24, y: 12 }, glyph));
    const stands = make("span", { class: "tc-mono" });
    const node = make("div", { class: "tc-one" }, sample, make("span", { class: "tc-way-name" }, name), stands);
    node.addEventListener("click", () => choose(k));
    return { node, stands };
  }

  function set(name, index) {
    values[name] = Math.max(0, Math.min(picture.choices[name].length - 1, index));
    compute();
  }
  function choose(k) {
    chosen = (k + picture.ways.length) % picture.ways.length;
    show(steps.t());
  }

  /** The five paths for the settings of now. */
  function compute(t = steps.t()) {
    for (const [name, { input, output }] of Object.entries(sliders)) {
      const list = picture.choices[name];
      input.max = list.length - 1;
      input.value = values[name];
      input.style.setProperty("--tc-part", values[name] / (list.length - 1 || 1));
      input.setAttribute("aria-valuetext", String(at(name)));
      output.textContent = at(name);
    }
    paths = picture.ways.map((each) => decayPath(picture.problems[problem], each, settings()));
    paths.forEach(({ points }, k) => {
      const drawn = points.map(parts.place).filter((place) => place.every((x) => Math.abs(x) < FAR));
      lines[k].setAttribute("points", drawn.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" "));
    });
    parts.pre.textContent = twin();
    parts.reserve(picture.ways.flatMap((_, k) => [0, 1, 2].map((step) => sentence(k, step))));
    steps.open(picture.steps, t);
  }

  const stand = (k, t) => paths[k].points[Math.min(t, paths[k].points.length - 1)];

  /** Step t: where each way stands, and what the chosen way's next move is made of. */
  function show(t) {
    if (!paths) return;
    paths.forEach((path, k) => {
      const point = stand(k, t);
      const [x, y] = parts.place(point);
      const seen = Math.abs(x) < FAR && Math.abs(y) < FAR;
      here[k].setAttribute("visibility", seen ? "visible" : "hidden");
      if (seen) here[k].setAttribute("x", x), here[k].setAttribute("y", y);
      lines[k].classList.toggle("tc-chosen", k === chosen);
      rows[k].node.setAttribute("aria-current", String(k === chosen));
      rows[k].stands.textContent = `w = ${two(point)}`;
    });
    const move = paths[chosen].moves[t];
    let from = stand(chosen, t);
    for (const [part, arrow] of Object.entries(arrows)) {
      const to = move ? from.map((x, i) => x + move[part][i]) : from;
      arrow.setAttribute("d", move ? arrowPath(parts.place(from), parts.place(to)) : "");
      from = to;
    }
    parts.say(sentence(chosen, t));
    parts.body.setAttribute("aria-label", `${picture.title}, ${picture.problems[problem].name}, ${picture.ways[chosen].name}, step ${t}. Arrow keys step, ? lists the keys.`);
  }

  function sentence(k, t) {
    const { name } = picture.ways[k];
    const { points, moves } = paths[k];
    if (!points.every((point) => point.every((x) => Math.abs(x) < 1e6))) return `${name}: with these settings the steps grow without end. Take a smaller \`lr\`.`;
    const now = `${name}: \`w = ${two(stand(k, t))}\` after step ${t}.`;
    if (!moves[t]) return `${now} That is the last step.`;
    const { gradient, momentum, decay } = moves[t];
    return `${now} The next move: gradient \`${two(gradient)}\`, momentum \`${two(momentum)}\`, decay \`${two(decay)}\`.`;
  }

  function twin() {
    const { lr, decay, momentum, betas } = settings();
    const width = Math.max(...picture.ways.map(({ name }) => name.length));
    const last = picture.steps;
    const lines = picture.ways.map(({ name }, k) => `${name.padEnd(width)}  ${[0, Math.floor(last / 2), last].map((t) => two(stand(k, t)).padEnd(16)).join("")}`.trimEnd());
    return [`${picture.title}: ${picture.problems[problem].name}, lr ${lr}, λ ${decay}`, picture.problems[problem].words,
      `momentum ${momentum} (SGD), betas (${betas.join(", ")}) (Adam, AdamW)`, `w at the start, after ${Math.floor(last / 2)} and after ${last} steps:`, ...lines].join("\n");
  }

  /** What a key does; true when it was meant for the view. */
  function act(key) {
    if (key === "?") return parts.toggleKeys(), true;
    if (key === "t") return (parts.twin.open = !parts.twin.open), true;
    if (key === " ") return steps.toggle(), true;
    if (key === "Escape") return parts.keysOpen() ? parts.toggleKeys(false) : steps.playing() ? steps.pause() : ((values = begin()), compute()), true;
    const slide = { l: ["lr", -1], L: ["lr", 1], d: ["decay", -1], D: ["decay", 1], m: ["momentum", -1], M: ["momentum", 1] }[key];
    if (slide) return set(slide[0], values[slide[0]] + slide[1]), true;
    const count = picture.problems.length;
    const move = {
      ArrowLeft: () => steps.go(steps.t() - 1), ArrowRight: () => steps.go(steps.t() + 1), Home: () => steps.go(0), End: () => steps.go(picture.steps),
      ArrowUp: () => choose(chosen - 1), ArrowDown: () => choose(chosen + 1),
      "[": () => pose((problem + count - 1) % count), "]": () => pose((problem + 1) % count),
    }[key];
    if (!move) return false;
    steps.pause();
    move();
    return true;
  }
  parts.body.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !act(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  });

  model.on("change:picture", build);
  build();
  return () => (model.off("change:picture", build), steps.pause());
}

/** A line with a head; nothing where it would be shorter than a px, and no longer than the picture. */
function arrowPath([x1, y1], [x2, y2]) {
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (!(length >= 1) || length > 2000) return "";
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  const size = Math.min(6, length);
  const wing = (side) => `L${(x2 - size * (ux + side * 0.6 * uy)).toFixed(1)} ${(y2 - size * (uy - side * 0.6 * ux)).toFixed(1)}`;
  const tip = `${x2.toFixed(1)} ${y2.toFixed(1)}`;
  return `M${x1.toFixed(1)} ${y1.toFixed(1)}L${tip}${wing(1)}M${tip}${wing(-1)}`;
}

export default { render };
