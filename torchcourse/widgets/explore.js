// The storage explorer. The kernel sends the finished pictures once; here an index becomes an address
// (offset + Σ index·stride), addresses find their partners, and classes change. No message is sent for that.

const KEYS = [
  ["← ↑ ↓ →", "move to the next element"],
  ["[ ]", "the other tensors and the storage, same element"],
  ["Home End", "first, last element"],
  ["Page ↑ ↓", "the matrix before, after"],
  ["/ or Enter", "write a chain of view operations"],
  ["t", "the picture as text"],
  ["Esc", "clear"],
];

/** What can be pointed at: the cells of a grid or strip, each with its index and its bytes. */
function objectOf(kind, data, svg) {
  const cells = [...svg.querySelectorAll(".tc-cell")];
  const lengths = kind === "grid" ? data.axes.map((axis) => axis.length) : [cells.length];
  const places = (k) => lengths.map((n, d) => Math.floor(k / lengths.slice(d + 1).reduce((a, b) => a * b, 1)) % n);
  const index = (k) => (kind === "grid" ? places(k).map((p, d) => data.axes[d][p]) : [data.shown[k]]);
  const element = (k) => (kind === "grid" ? index(k).reduce((sum, i, d) => sum + i * data.stride[d], data.offset) : data.shown[k]);
  const start = (k) => (kind === "grid" ? data.start : 0) + element(k) * data.itemsize;
  const starts = cells.map((_, k) => start(k));
  const bytes = new Set(starts.flatMap((s) => Array.from({ length: data.itemsize }, (_, b) => s + b)));
  return { kind, data, svg, cells, lengths, places, index, element, starts, bytes };
}

/** For each byte of each storage, the shown cells over it. */
function readers(objects) {
  const over = new Map();
  for (const object of objects) {
    object.starts.forEach((first, k) => {
      const cell = { object, k };
      for (let b = first; b < first + object.data.itemsize; b++) {
        const key = `${object.data.strip}:${b}`;
        over.has(key) ? over.get(key).push(cell) : over.set(key, [cell]);
      }
    });
  }
  return over;
}

/** Every other shown cell over the same bytes, in the order of the objects. */
function partners(over, object, k) {
  const found = new Set();
  for (let b = object.starts[k]; b < object.starts[k] + object.data.itemsize; b++) {
    for (const cell of over.get(`${object.data.strip}:${b}`)) found.add(cell);
  }
  return [...found].filter((cell) => cell.object !== object || cell.k !== k);
}

const named = ({ object, k }) => `\`${object.data.name}${object.data.size.length ? `[${object.index(k).join(", ")}]` : ""}\``;

function formula({ object, k }) {
  const { offset, stride } = object.data;
  if (!stride.length) return `${offset}`;
  return `${[offset, ...object.index(k).map((i, d) => `${i}·${stride[d]}`)].join(" + ")} = ${object.element(k)}`;
}

/** "`a`, `b` and 3 more". */
function listed(names, most = 4) {
  const shown = names.length > most ? names.slice(0, most - 1) : names;
  const rest = names.length - shown.length;
  const words = rest ? [...shown, `${rest} more`] : shown;
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** The live sentence for one cell. */
function sentence(over, object, k, storages) {
  const all = partners(over, object, k);
  const cells = all.filter((p) => p.object.kind === "grid");
  const sameUnit = all.every((p) => p.object.data.itemsize === object.data.itemsize && (p.object.data.start ?? 0) === 0);
  return object.kind === "grid"
    ? ofGrid(object, k, cells, sameUnit, storages)
    : ofStrip(object, k, cells, sameUnit, storages);
}

function ofGrid(object, k, cells, sameUnit, storages) {
  const where = `is element \`${formula({ object, k })}\` of ${storages > 1 || object.data.start ? "its" : "the"} storage`;
  const names = listed(cells.map(named));
  const also = cells.length === 0 ? "" : `, and so ${cells.length > 1 ? "are" : "is"} ${names}`;
  if (sameUnit || !cells.length) return `${named({ object, k })} ${where}${also}.`;
  const first = object.starts[k];
  const bytes = object.data.itemsize > 1 ? `bytes \`${first}\` to \`${first + object.data.itemsize - 1}\`` : `byte \`${first}\``;
  return `${named({ object, k })} ${where}, counted in ${object.data.dtype}: ${bytes}. There ${cells.length > 1 ? "lie" : "lies"} ${names}.`;
}

function ofStrip(object, k, cells, sameUnit, storages) {
  const what = `Element \`${object.data.shown[k]}\` of ${storages > 1 ? `the storage of ${listed(object.data.names.map((n) => `\`${n}\``))}` : "the storage"}`;
  if (!cells.length) {
    const none = object.data.names.length > 1 ? "none of these tensors" : `no index of \`${object.data.names[0]}\``;
    return object.data.owners[k] === "rest" ? `${what} is read by ${none}.` : `${what} is read in a folded part.`;
  }
  if (cells.length > 2 || !sameUnit) return `${what} is read ${cells.length > 1 ? `${cells.length} times: ` : ""}as ${listed(cells.map(named))}.`;
  return `${what} is ${cells.map((c) => `${named(c)}, at \`${formula(c)}\``).join(", and ")}.`;
}

/** A ring around a cell's rectangle. */
function ring(cell, now) {
  const box = cell.querySelector("rect");
  const [x, y, w, h] = ["x", "y", "width", "height"].map((name) => Number(box.getAttribute(name)));
  return draw("rect", { class: `tc-ring${now ? " tc-now" : ""}`, x: x - 2, y: y - 2, width: w + 4, height: h + 4, rx: 5.5 });
}

/** The walk from the offset to an element, one arc for each dimension: the formula, drawn over the strip. */
function walk(strip, { object, k }) {
  const { offset, stride, itemsize, start } = object.data;
  const spots = new Map(strip.cells.map((cell, j) => [strip.data.shown[j], cell.querySelector("rect")]));
  const top = new Set([...spots.values()].map((box) => box.getAttribute("y")));
  if (top.size !== 1 || itemsize !== strip.data.itemsize || start) return [];
  const middle = (box) => Number(box.getAttribute("x")) + Number(box.getAttribute("width")) / 2;
  const parts = [];
  let at = offset;
  for (const [d, i] of object.index(k).entries()) {
    const to = at + i * stride[d];
    if (!spots.has(at) || !spots.has(to)) return [];
    if (to !== at) parts.push(...arc(middle(spots.get(at)), middle(spots.get(to)), Number([...top][0]) - 5, `${i}·${stride[d]}`));
    at = to;
  }
  return parts;
}

function arc(a, b, y, term) {
  const lift = Math.min(20, 13 + Math.abs(b - a) / 30);
  const lean = Math.sign(b - a) * 4;
  const curve = `M${a} ${y}C${a + lean} ${y - lift} ${b - lean} ${y - lift} ${b} ${y - 1}`;
  const tip = `M${b} ${y + 3}l-3.5 -6h7z`;
  const text = draw("text", { class: "tc-term", x: (a + b) / 2, y: y - lift * 0.75 - 3, "text-anchor": "middle" }, term);
  return [draw("path", { class: "tc-step", d: curve }), draw("path", { class: "tc-tip", d: tip }), text];
}

/** The caption over a grid or strip. */
function caption({ name, role, note, facts, why }) {
  const lines = [];
  if (name) lines.push(make("div", {}, ...(role ? [chip(role)] : []), make("span", { class: "tc-name" }, name), make("span", { class: "tc-note" }, note)));
  lines.push(...facts.map((fact) => make("div", { class: why ? "tc-why" : "tc-fact" }, fact)));
  return make("div", { class: "tc-caption" }, ...lines);
}

/** A grid or strip with its caption; `svg` was drawn by the kernel. */
function part(data, kind) {
  const holder = make("div", { class: `tc-${kind}` }, caption(data.caption));
  holder.insertAdjacentHTML("beforeend", data.svg);
  return holder;
}

function render({ model, el }) {
  const parts = card(el, { label: "Storage explorer", keys: KEYS, hint: "← ↑ ↓ → move · [ ] other tensor · Esc clear" });
  const box = chainBox(model, parts);
  let picture, objects, over, home, sentences, pinned, at;

  function build() {
    picture = model.get("picture");
    const row = make("div", { class: "tc-row" });
    const strips = make("div", { class: "tc-strips" });
    objects = [];
    const add = (data, kind, to) => {
      const holder = part(data, kind);
      to.append(holder);
      const svg = holder.querySelector("svg");
      if (svg?.querySelector(".tc-cell")) objects.push(objectOf(kind, data, svg));
    };
    picture.grids.forEach((data) => add(data, "grid", row));
    picture.strips.forEach((data) => add(data, "strip", strips));
    parts.body.replaceChildren(row, strips);
    parts.body.setAttribute("aria-label", `${picture.title}. Arrow keys move, ? lists the keys.`);
    parts.title.replaceChildren(picture.title);
    parts.legend.replaceChildren(...picture.legend.map(([role, words]) => make("span", {}, chip(role), words)));
    parts.pre.textContent = picture.twin;
    home = new Map(objects.flatMap((object) => object.cells.map((cell, k) => [cell, { object, k }])));
    box.name(picture.first);
    pinned = at = null;
    over = readers(objects);
    const told = objects.flatMap((object) => object.cells.map((_, k) => sentence(over, object, k, picture.strips.length)));
    sentences = [picture.sentence, ...told];
    parts.reserve(sentences);
    show(null);
  }

  function clear() {
    for (const node of parts.body.querySelectorAll(".tc-ring, .tc-step, .tc-tip, .tc-term")) node.remove();
    for (const node of parts.body.querySelectorAll(".tc-lit, .tc-dim")) node.classList.remove("tc-lit", "tc-dim");
  }

  function show(target) {
    at = target;
    clear();
    if (!at) return parts.say(picture.sentence);
    const mates = partners(over, at.object, at.k);
    dimOthers(at.object);
    for (const { object, k } of [...mates, at]) {
      object.cells[k].classList.remove("tc-dim");
      object.cells[k].classList.add("tc-lit");
      object.cells[k].parentNode.append(ring(object.cells[k], object === at.object && k === at.k));
    }
    lightFold(at);
    const strip = objects.find((o) => o.kind === "strip" && o.data.strip === at.object.data.strip);
    const walker = at.object.kind === "grid" ? at : mates.find((m) => m.object.kind === "grid");
    if (strip && walker) strip.svg.append(...walk(strip, walker));
    parts.say(sentence(over, at.object, at.k, picture.strips.length));
  }

  // While one moves in a tensor, what it does not read steps back.
  function dimOthers(object) {
    if (object.kind !== "grid" || object.data.folded) return;
    for (const other of objects) {
      if (other === object || other.data.strip !== object.data.strip) continue;
      other.starts.forEach((s, j) => {
        let read = false;
        for (let b = s; b < s + other.data.itemsize && !read; b++) read = object.bytes.has(b);
        other.cells[j].classList.toggle("tc-dim", !read);
      });
    }
  }

  // An element that the strip leaves out lights the fold that it lies in.
  function lightFold({ object, k }) {
    const strip = objects.find((o) => o.kind === "strip" && o.data.strip === object.data.strip);
    const element = Math.floor(object.starts[k] / (strip?.data.itemsize ?? 1));
    const fold = strip?.data.gaps.findIndex(([first, n]) => first <= element && element < first + n);
    if (fold >= 0) strip.svg.querySelectorAll(".tc-fold")[fold].classList.add("tc-lit");
  }

  function pin(target) {
    pinned = target;
    show(target);
    target?.object.cells[target.k].scrollIntoView?.({ block: "nearest", inline: "nearest" });
  }

  parts.body.addEventListener("pointerover", (event) => {
    const found = home.get(event.target.closest?.(".tc-cell"));
    if (found && !(at && found.object === at.object && found.k === at.k)) show(found);
    const fold = event.target.closest?.(".tc-fold");
    if (fold) sayFold(fold);
  });
  function sayFold(fold) {
    const strip = objects.find((o) => o.svg.contains(fold));
    const [first, n] = strip.data.gaps[[...strip.svg.querySelectorAll(".tc-fold")].indexOf(fold)];
    show(null);
    parts.say(`Elements \`${first}\` to \`${first + n - 1}\` are folded here: \`${n.toLocaleString("en")}\` of them.`);
  }
  parts.body.addEventListener("pointerleave", () => show(pinned));
  parts.body.addEventListener("click", (event) => {
    const found = home.get(event.target.closest?.(".tc-cell"));
    if (found) pin(found);
  });
  parts.body.addEventListener("focus", () => {
    if (!pinned && objects.length && parts.body.matches(":focus-visible")) pin({ object: objects[0], k: 0 });
  });
  parts.body.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !act(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  });

  /** What a key does; true when it was meant for the view. */
  function act(key) {
    if (key === "?") return parts.toggleKeys(), true;
    if (key === "/" || key === "Enter") return box.open(), true;
    if (key === "t") return (parts.twin.open = !parts.twin.open), true;
    if (key === "Escape") return parts.keysOpen() ? parts.toggleKeys(false) : pin(null), true;
    const from = pinned ?? at;
    if (!objects.length || !(key in STEPS || key === "[" || key === "]")) return false;
    pin(!from ? { object: objects[0], k: 0 } : key in STEPS ? moved(from, STEPS[key]) : across(from, key === "]" ? 1 : -1));
    return true;
  }

  function across({ object, k }, by) {
    const next = objects[(objects.indexOf(object) + by + objects.length) % objects.length];
    return partners(over, object, k).find((p) => p.object === next) ?? { object: next, k: 0 };
  }

  model.on("change:picture", build);
  const watch = new ResizeObserver(() => parts.reserve(sentences));
  watch.observe(parts.view);
  build();
  return () => (model.off("change:picture", build), watch.disconnect(), box.close());
}

// How far a key goes, along which dimension from the last; at an end it carries into the dimension two further out,
// which is the matrix beside (columns) or below (rows).
const STEPS = {
  ArrowLeft: [-1, 1], ArrowRight: [1, 1], ArrowUp: [-1, 2], ArrowDown: [1, 2],
  PageUp: [-1, 3], PageDown: [1, 3], Home: [-Infinity, 0], End: [Infinity, 0],
};

function moved({ object, k }, [by, back]) {
  const last = object.cells.length - 1;
  if (back === 0) return { object, k: by < 0 ? 0 : last };
  if (object.kind === "strip") return { object, k: Math.max(0, Math.min(last, k + by * (back === 1 ? 1 : perRow(object)))) };
  const at = object.places(k);
  const lengths = object.lengths;
  for (let d = at.length - back; d >= 0; d -= 2) {
    if (at[d] + by >= 0 && at[d] + by < lengths[d]) {
      at[d] += by;
      break;
    }
    if (d < 2) return { object, k };
    at[d] = by < 0 ? lengths[d] - 1 : 0;
  }
  return { object, k: at.reduce((sum, p, d) => sum * lengths[d] + p, 0) };
}

/** How many cells stand in the first row of a strip. */
function perRow(object) {
  const top = (cell) => cell.querySelector("rect").getAttribute("y");
  return object.cells.filter((cell) => top(cell) === top(object.cells[0])).length;
}

export default { render };
