// The xray: a table by source line that opens to its operators, or two spellings side by side. The kernel sends
// all rows once, as lists of numbers; opening, moving and lighting up happen here, without a message.

const MOVES = [
  ["↑ ↓", "the row above, below"],
  ["→", "open the row, then into it"],
  ["←", "close the row, or out to the one around it"],
  ["Enter", "open or close"],
  ["Home End", "first, last row"],
];
const KEYS = {
  trace: [...MOVES, ["[ ]", "the other rows that touch the same storage"], ["t", "the table as text"], ["Esc", "clear"]],
  pairs: [...MOVES, ["[ ]", "the other rows that differ"], ["t", "the sums as text"], ["Esc", "clear"]],
};
const KINDS = ["line", "operator", "block", "rest"];
const MARKS = ["same", "differs", "a", "b"];
const FIGURES = ["operators", "new bytes", "nodes", "waits"];

/** A chip with its words. */
function tag(role, words) {
  const name = role === "view" ? "tc-view-role" : `tc-${role}`;
  return make("span", { class: `tc-tag ${name}` }, make("i", { "aria-hidden": "true" }, GLYPHS[role]), words);
}

/** [role, words] pairs from the packed list. */
function chipsOf(packed, { roles, texts }) {
  return Array.from({ length: packed.length / 2 }, (_, i) => [roles[packed[2 * i]], texts[packed[2 * i + 1]]]);
}

const counted = (n, word) => `\`${n}\` ${word}${n === "1" ? "" : "s"}`;
const keeping = (saved) => (saved ? `, saving ${counted(saved.toLocaleString("en"), "byte")} for backward` : "");
const often = (times) => (times > 1 ? [make("b", { class: "tc-times" }, `× ${times.toLocaleString("en")}`)] : []);

// --- a trace ---------------------------------------------------------------------------------------------

function unpackedRow(packed, picture) {
  const [level, kind, opened, name, times = 1, line = 0, chips = [], tensor = 0, figures = [], nodes = [], saved = 0, causes = 0, own = [], touched = [], calls = 0, call = 0, module = 0, why = 0] = packed;
  const text = (n) => picture.texts[n];
  return {
    level, kind: KINDS[kind], opened: Boolean(opened), name: text(name), times, line, chips: chipsOf(chips, picture), tensor: text(tensor),
    figures: figures.map(text), nodes: nodes.map(text), saved, causes: text(causes), own, touched, calls, call: text(call), module: text(module), why: text(why),
  };
}

function traceCells(row) {
  const name = make("code", { class: "tc-src" }, row.name);
  const first = make("div", { class: "tc-cellbox tc-first" });
  if (row.level === 1) first.append(make("span", { class: "tc-lineno" }, row.line ? String(row.line) : ""));
  first.append(name, ...often(row.times));
  if (row.tensor) first.append(make("span", { class: "tc-tensor" }, row.tensor.replaceAll(" float32", "")));
  first.append(...row.chips.map(([role, words]) => tag(role, words)));
  if (row.kind === "operator" && !row.chips.length) first.classList.add("tc-faint");
  if (row.kind === "rest") first.classList.add("tc-rest-row");
  const rest = FIGURES.map((what, i) => {
    const figure = row.figures[i] ?? "";
    const wait = what === "waits" && figure;
    return make("div", { class: "tc-cellbox tc-figure" }, ...(wait ? [tag("wait", figure)] : [figure]));
  });
  return [first, ...rest];
}

function traceTold(row, rows, over, names) {
  if (row.kind === "rest") return `${row.name}: the sums count them, and \`.operators\` has all.`;
  if (row.kind === "block") return `These ${row.name} ran \`${row.times.toLocaleString("en")}\` times in a row; shown is the first time.`;
  return row.kind === "line" ? lineTold(row) : operatorTold(row, rows, over, names);
}

function lineTold({ line, name, calls, times, figures, chips, saved, causes }) {
  const [operators, nbytes, nodes] = figures;
  const source = name.replaceAll("`", "'");
  const what = line ? `Line ${line}, \`${source.length > 60 ? `${source.slice(0, 59)}…` : source}\`,` : "Code outside of the cell's lines";
  const made = chips.map(([, words]) => words).join(", ");
  const ran = `${what} ${calls ? `made ${counted(calls.toLocaleString("en"), "call")}, which ran` : "ran"} ${counted(operators, "operator")}${times > 1 ? ` in \`${times.toLocaleString("en")}\` rounds` : ""}`;
  const bytes = nbytes !== "0" ? ` for ${counted(nbytes, "new byte")}` : "";
  const kept = nodes ? ` Autograd recorded ${counted(nodes, "node")}${keeping(saved)}.` : "";
  return `${ran}${bytes}${made ? `: ${made}` : ""}.${kept}${causes ? ` It waits for ${causes}.` : ""}`;
}

function operatorTold(row, rows, over, names) {
  const inner = rows.slice(row.at + 1, row.last + 1).filter((other) => other.parent === row).map((other) => `\`${other.name}\``);
  const around = row.parent?.kind === "operator" ? ` inside \`${row.parent.name}\`` : "";
  const gave = row.tensor ? ` gave \`${row.tensor}\`${around}: ${row.chips.map(([, words]) => words).join(", ")}` : `${inner.length ? ` called ${some(inner)}` : " ran"}${around}`;
  const bytes = row.figures[1] && row.figures[1] !== "0" ? `, ${counted(row.figures[1], "byte")}` : "";
  const node = row.nodes.length ? ` Autograd recorded \`${row.nodes.join(", ")}\`${keeping(row.saved)}.` : "";
  const why = row.why ? ` Autograd recorded nothing: ${row.why}.` : "";
  const from = `${row.call ? `, for \`${row.call}\`` : ""}${row.module ? ` in module \`${row.module}\`` : ""}`;
  const wait = row.causes ? " Python waits here for the value." : "";
  return `\`${row.name}\`${gave}${bytes}${from}.${node}${why}${wait}${shared(row, over, names)}${row.times > 1 ? ` It ran \`${row.times.toLocaleString("en")}\` times in a row.` : ""}`;
}

/** "`a`, `b` and 3 more". */
function some(names) {
  const shown = names.length > 3 ? [...names.slice(0, 2), `${names.length - 2} more`] : names;
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}

/** How many other operators here touch the storage. */
function shared(row, over, names) {
  const all = new Set(row.own.flatMap((storage) => over.get(storage) ?? []));
  const others = all.size - all.has(row);
  const name = row.own.length === 1 && names[row.own[0]];
  return others ? ` Its storage${name ? ` (\`${name}\`)` : ""} is touched by ${counted(String(others), "other operator")} here.` : "";
}

/** For each storage the operators that touch it. */
function byStorage(rows) {
  const over = new Map();
  for (const row of rows) {
    for (const storage of row.touched) over.has(storage) ? over.get(storage).push(row) : over.set(storage, [row]);
  }
  return over;
}

/** Says of a row whether it touches one of these storages, or, while it is closed, one inside of it does. */
function touches(own) {
  return (row) => own.some((storage) => (row.opened ? row.touched.includes(storage) : row.reach.has(storage)));
}

/** Each row's storages and, up to its line, those of the rows inside of it. */
function reach(rows) {
  for (const row of rows) {
    row.reach = new Set(row.touched);
    for (let outer = row.parent; outer; outer = outer.parent) row.touched.forEach((storage) => outer.reach.add(storage));
  }
}

function trace(picture) {
  const rows = linked(picture.rows.map((packed) => unpackedRow(packed, picture)));
  reach(rows);
  const over = byStorage(rows);
  return {
    rows,
    columns: picture.columns,
    cells: traceCells,
    told: (row) => traceTold(row, rows, over, picture.names),
    lit: (row) => touches(row.own),
  };
}

// --- two spellings ---------------------------------------------------------------------------------------

function unpackedPair([level, mark, opened, what, a, b], picture) {
  const side = (packed) => packed && {
    text: picture.texts[packed[0]], times: packed[1], chips: chipsOf(packed[2], picture), tensor: picture.texts[packed[3]],
  };
  return { level, mark: MARKS[mark], opened: Boolean(opened), what: picture.texts[what], a: side(a), b: side(b), sum: level === 2 && /^[\d,]+$/.test(picture.texts[a[0]] ?? "") };
}

function pairCells(row) {
  const what = make("div", { class: "tc-cellbox tc-first tc-what" }, make("span", {}, row.what));
  if (row.mark === "differs" && row.what !== "≠" && row.level > 1) what.append(make("b", { class: "tc-mark" }, "≠"));
  const sides = [row.a, row.b].map((side) => {
    const cell = make("div", { class: `tc-cellbox tc-side${row.sum ? " tc-sum" : ""}` });
    if (side) cell.append(make("code", { class: "tc-src" }, side.text), ...often(side.times), ...side.chips.map(([role, words]) => tag(role, words)));
    else if (row.level > 1) cell.append(make("span", { class: "tc-none", "aria-label": "nothing" }, "–"));
    return cell;
  });
  if (row.mark !== "same") [what, ...sides].forEach((cell) => cell.classList.add("tc-unlike"));
  return [what, ...sides];
}

function pairTold(row, rows, names) {
  if (row.level === 1) {
    const unlike = rows.filter((other) => row.at < other.at && other.at <= row.last && other.mark !== "same").length;
    return `Of the ${row.what}, ${counted(String(unlike), "row")} ${unlike === 1 ? "differs" : "differ"}. Keys [ and ] go from one to the next.`;
  }
  if (row.sum) return `${row.what[0].toUpperCase()}${row.what.slice(1)}: \`${row.a.text}\` in \`${names[0]}\`, \`${row.b.text}\` in \`${names[1]}\`.`;
  const told = (side) => `${side.tensor ? `gave \`${side.tensor}\`` : "ran"}${side.chips.length ? `: ${side.chips.map(([, words]) => words).join(", ")}` : ""}`;
  const name = `\`${(row.a || row.b).text}\``;
  if (!row.a || !row.b) return `${name} ran only in \`${names[row.a ? 0 : 1]}\`; it ${told(row.a || row.b)}.`;
  if (row.mark === "same") return `${name} ran in both; it ${told(row.a)}.`;
  const both = [row.a, row.b].map((side, i) => `in \`${names[i]}\` it ${told(side)}${side.times > 1 ? ` \`${side.times}\` times` : ""}`);
  return both[0].slice(both[0].indexOf(" it ")) === both[1].slice(both[1].indexOf(" it "))
    ? `${name} ran in both; what it called differs.`
    : `${name}: ${both.join(", ")}.`;
}

function compared(picture) {
  const rows = linked(picture.rows.map((packed) => unpackedPair(packed, picture)));
  const names = picture.columns.slice(1);
  const head = (name, source) => make("div", {}, make("code", { class: "tc-src" }, name), ...(source ? [make("code", { class: "tc-spelling" }, source)] : []));
  return {
    rows,
    columns: [picture.columns[0], ...names.map((name, i) => head(name, picture.sources[i]))],
    cells: pairCells,
    told: (row) => pairTold(row, rows, names),
    lit: () => () => false,
    mates: () => (other) => other.mark !== "same" && other.level > 1,
  };
}

// ---------------------------------------------------------------------------------------------------------

function render({ model, el }) {
  const { mode } = model.get("picture");
  const hint = mode === "pairs" ? "↑ ↓ rows · → open · ← close · [ ] differences" : "↑ ↓ rows · → open · ← close · [ ] same storage";
  const parts = card(el, { label: "Xray", keys: KEYS[mode], hint });
  parts.view.classList.add("tc-xray", `tc-xray-${mode}`);
  let leave = () => {};
  let sentences = [];

  function build() {
    leave();
    const picture = model.get("picture");
    const shown = picture.mode === "pairs" ? compared(picture) : trace(picture);
    parts.title.replaceChildren(picture.title);
    parts.pre.textContent = picture.twin;
    parts.legend.replaceChildren(...picture.legend.map(([role, words]) => tag(role, words)));
    parts.tools.hidden = !picture.notes.length;
    parts.tools.replaceChildren(...picture.notes.map((note) => make("p", { class: "tc-remark" }, ...spoken(note))));
    sentences = [picture.sentence, ...shown.rows.map(shown.told)];
    leave = treegrid(parts, { ...shown, opening: picture.sentence, label: `${picture.title}. Arrow keys move, ? lists the keys.` });
    parts.reserve(sentences);
  }

  model.on("change:picture", build);
  const watch = new ResizeObserver(() => parts.reserve(sentences));
  watch.observe(parts.view);
  build();
  return () => (model.off("change:picture", build), watch.disconnect(), leave());
}

export default { render };
