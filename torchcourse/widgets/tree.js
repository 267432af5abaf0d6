// The module tree: rows that fold, and four walks through them. The kernel sends all rows and all steps once, as lists
// of numbers; folding, moving and stepping happen here, without a message.

const MOVES = [
  ["↑ ↓", "the row above, below"],
  ["→ ←", "open, close the row"],
  ["Home End", "first, last row"],
  ["[ ]", "the other rows that were missed"],
  ["1 … 4", "walk along a call; again: leave it"],
  ["t", "all of it as text"],
  ["Esc", "clear"],
];
const STEPS = [
  ["→ ←", "on a walk: one step on, back"],
  ["] [", "on a walk: to the next, the last module"],
  ["Space", "play, pause"],
  ["Home End", "to the start, to the last step"],
];
const KINDS = ["module", "tensor", "missed", "rest"];
const FIELDS = ["bytes", "dtype", "device", "mode"];

const LETTERS = { parameter: "P", buffer: "B" };

/** A chip with its words; ✕ where something is wrong. ✓ is kept for what a walk has visited. */
function tag(role, words, wrong) {
  const name = role === "view" ? "tc-view-role" : `tc-${role}`;
  return make("span", { class: `tc-tag ${name}${wrong ? " tc-wrong-tag" : ""}` }, make("i", { "aria-hidden": "true" }, wrong ? "✕" : LETTERS[words] ?? GLYPHS[role]), words);
}

const threes = (list) => Array.from({ length: list.length / 3 }, (_, i) => list.slice(3 * i, 3 * i + 3));

function unpackedRow([level, kind, opened, name, path, note, marks, cells, say], { texts, roles }) {
  return {
    level, kind: KINDS[kind], opened: Boolean(opened), name: texts[name], path: texts[path], note: texts[note],
    marks: threes(marks).map(([role, words, wrong]) => ({ role: roles[role], words: texts[words], wrong: Boolean(wrong) })),
    cells: cells.map((n) => texts[n]), say: texts[say], steps: [],
  };
}

/** Steps of a walk: { row, column, before, after }, rows that have none left out. */
function unpackedRoute({ call, why, steps }, rows, texts) {
  const stops = [];
  for (let i = 0; i < steps.length; i += 4) {
    if (steps[i] >= 0) stops.push({ row: rows[steps[i]], column: steps[i + 1], before: texts[steps[i + 2]], after: texts[steps[i + 3]] });
  }
  return { call, why, stops };
}

const counted = (n, word) => `\`${Number(n).toLocaleString("en")}\` ${word}${Number(n) === 1 ? "" : "s"}`;

/** The sentence of a row when nobody walks. */
function told(row) {
  const wrong = row.marks.filter((mark) => mark.wrong).map((mark) => mark.words).join(", ");
  if (row.kind === "rest") return "There is no room for more rows here; the sums count them.";
  if (row.kind === "missed") return `\`${row.path}\` (${wrong}): ${row.say}`;
  const [bytes, dtype, device, mode] = row.cells;
  const marks = row.marks.filter((mark) => !mark.wrong).map((mark) => mark.words).join(", ");
  const where = `\`${row.path || row.name}\``;
  const more = row.say ? ` ✕ ${wrong}: ${row.say}` : "";
  if (row.kind === "tensor") {
    return (dtype ? `${where}: ${marks}, \`${row.note} ${dtype}\` on \`${device}\`, ${counted(bytes.replaceAll(",", ""), "byte")}.` : `${where}: a name that is registered and holds \`None\`.`) + more;
  }
  const kind = row.note ? `, a \`${row.note}\`,` : "";
  const state = mode === "–" ? "has no mode" : `is in ${mode} mode`;
  return `${where}${kind} ${state} and holds ${counted(bytes.replaceAll(",", ""), "byte")} with all inside.${marks ? ` It has: ${marks}.` : ""}${more}`;
}

/** What a call does where a walk comes to a row. */
function toldStop(call, { row, column, before, after }) {
  const where = `\`${row.path || row.name}\``;
  const kind = row.note || row.name;
  if (call === ".apply(fn)") return `\`fn\` is called on ${where}, after all that is inside it.`;
  if (column === 3) return before === after ? `${where} stays in ${after} mode.` : `${where}: its flag \`training\` goes from ${before} to ${after}.`;
  if (!column) return `\`_apply\` comes to ${where}, a \`${kind}\`. First its children, then its own tensors.`;
  const what = before === ".grad" ? `The gradient of ${where}` : where;
  if (column === 2) return `${what} moves to the new device.`;
  if (before === ".grad") return `${what} becomes \`${after}\`, too.`;
  return before === after ? `${what} stays \`${after}\`: it is ${after.includes("int") || after === "bool" ? "no floating-point tensor" : "that already"}.` : `${what}: \`${before}\` becomes \`${after}\`.`;
}

/** What a call leaves behind. (A stranger in the optimizer stands at level 1: it is no part of the model.) */
const isAway = (row) => row.kind === "missed" && row.level > 1;
const unvisited = (rows) => rows.filter(isAway).map((row) => `\`${row.path}\``);

function some(names) {
  const shown = names.length > 4 ? [...names.slice(0, 3), `${names.length - 3} more`] : names;
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}

function render({ model, el }) {
  const parts = card(el, { label: "Module tree", keys: [...MOVES, ...STEPS], hint: "↑ ↓ rows · → open · 1 2 3 4 walk" });
  parts.view.classList.add("tc-xray", "tc-tree");
  const choices = make("div", { class: "tc-choices", role: "group", "aria-label": "Walk along" });
  parts.tools.append(choices);
  const steps = player(parts, show);
  const focus = () => parts.body.focus({ preventScroll: true });
  let picture, rows, routes, grid, walk, t, sentences;

  function build() {
    leave();
    picture = model.get("picture");
    rows = linked(picture.rows.map((packed) => unpackedRow(packed, picture)));
    routes = picture.routes.map((route) => unpackedRoute(route, rows, picture.texts));
    parts.title.replaceChildren(picture.title);
    parts.pre.textContent = picture.twin;
    parts.legend.replaceChildren(...picture.legend.map(([role, words, wrong]) => tag(role, words, wrong)));
    choices.replaceChildren(make("span", {}, "Walk along"), ...routes.map(choice));
    walk = null;
    grid = treegrid(parts, {
      rows, columns: picture.columns, cells, told: (row) => (now()?.row === row ? sentence() : told(row)),
      lit: () => () => false, mates: () => (row) => Boolean(row.say), opening: picture.sentence,
      label: `${picture.title}. Arrow keys move, ? lists the keys.`,
    });
    sentences = [picture.sentence, ...rows.map(told), ...routes.map(start), ...routes.map(finish)];
    parts.reserve(sentences);
    steps.open(0, 0);
  }

  const leave = () => (steps.pause(), grid?.());

  function choice({ call }, k) {
    const button = make("button", { type: "button", class: "tc-choice", tabindex: "-1", "aria-pressed": "false", ...OURS }, make("b", {}, String(k + 1)), make("code", {}, call));
    button.addEventListener("click", () => (choose(k), focus()));
    return button;
  }

  function cells(row) {
    const first = make("div", { class: "tc-cellbox tc-first" }, make("span", { class: "tc-state", "aria-hidden": "true" }), make("code", { class: "tc-src" }, row.name));
    if (row.note) first.append(make("span", { class: "tc-tensor" }, row.note));
    first.append(...row.marks.map((mark) => tag(mark.role, mark.words, mark.wrong)));
    if (row.kind === "rest") first.classList.add("tc-rest-row");
    row.node = [first, ...row.cells.map((text) => make("div", { class: "tc-cellbox tc-figure" }, text))];
    row.was = "";
    paintRow(row);
    return row.node;
  }

  // --- walking ---

  const now = () => (walk && t ? walk.stops[t - 1] : null);
  const start = ({ call, why, stops }) => why || `\`${call}\` takes ${counted(stops.length, "step")} here. Press → for the first, Space to play.`;

  function finish({ call, stops }) {
    const away = unvisited(rows);
    const end = stops.length ? toldStop(call, stops.at(-1)) : "";
    return away.length ? `${end} Done. ${some(away)} ${away.length === 1 ? "was" : "were"} not visited.` : `${end} Done: nothing was left out.`;
  }
  const sentence = () => (!t ? start(walk) : t === walk.stops.length ? finish(walk) : toldStop(walk.call, now()));

  function choose(k) {
    walk = walk === routes[k] ? null : routes[k];
    for (const row of rows) row.steps = [];
    walk?.stops.forEach((stop, i) => stop.row.steps.push(i + 1));
    steps.open(walk?.stops.length ?? 0, 0);
  }

  function show(at) {
    t = at;
    paint();
    if (now()) return grid.reveal(now().row);
    grid.pin(null);
    if (walk) parts.say(sentence());
  }

  /** All that a step changes outside of the rows' sentences. */
  function paint() {
    [...choices.querySelectorAll("button")].forEach((button, k) => button.setAttribute("aria-pressed", String(routes[k] === walk)));
    parts.title.replaceChildren(walk && t > 0 ? `${walk.call}, step ${t} of ${walk.stops.length}` : picture.title);
    for (const row of rows) if (row.node) paintRow(row);
  }

  function paintRow(row) {
    const past = walk ? row.steps.filter((step) => step <= t).length : 0;
    const away = walk && isAway(row) && t === walk.stops.length && t > 0;
    const state = `${past} ${away} ${walk?.call}`;
    if (state === row.was) return;
    row.was = state;
    const [first, ...figures] = row.node;
    const mark = first.querySelector(".tc-state");
    mark.textContent = away ? "✕" : past && past === row.steps.length ? "✓" : past ? "…" : "";
    figures.forEach((cell, k) => (cell.replaceChildren(row.cells[k]), cell.classList.remove("tc-changed")));
    if (away) changed(figures[3], "missed");
    for (const step of walk ? row.steps.slice(0, past) : []) {
      const { column, before, after } = walk.stops[step - 1];
      if (walk.call === ".apply(fn)") changed(figures[3], "fn ran");
      else if (column && before !== ".grad") changed(figures[column], column !== 2 && before !== after ? `→ ${after}` : after);
    }
  }
  const changed = (cell, text) => (cell.replaceChildren(text), cell.classList.add("tc-changed"));

  /** Keys of a walk; true when one was meant. The tree's own come after. */
  function act(key) {
    if (key >= "1" && key <= String(routes.length)) return choose(Number(key) - 1), true;
    if (!walk || parts.keysOpen()) return false;
    if (key === "Escape") return steps.playing() ? steps.pause() : choose(routes.indexOf(walk)), true;
    if (key === " ") return steps.toggle(), true;
    const module = (step) => walk.stops[step - 1].row.kind === "module";
    const all = walk.stops.map((_, i) => i + 1);
    const to = {
      ArrowLeft: () => t - 1, ArrowUp: () => t - 1, ArrowRight: () => t + 1, ArrowDown: () => t + 1, Home: () => 0, End: () => Infinity,
      "[": () => all.findLast((step) => step < t && module(step)) ?? 0, "]": () => all.find((step) => step > t && module(step)) ?? t,
    }[key];
    if (!to) return false;
    steps.pause();
    steps.go(to());
    return true;
  }
  parts.view.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !act(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }, { capture: true });
  // Without a walk the pointer leaves the opening sentence; on one, the step's.
  parts.body.addEventListener("pointerleave", () => walk && parts.say(sentence()));

  model.on("change:picture", build);
  const watch = new ResizeObserver(() => parts.reserve(sentences));
  build();
  watch.observe(parts.view);
  return () => (model.off("change:picture", build), watch.disconnect(), leave());
}

export default { render };
