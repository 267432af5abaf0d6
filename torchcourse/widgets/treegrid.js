// A table whose rows open to a tree: one element takes the focus, arrow keys move a current row in it.

/** Rows in the order of the fully open tree get `parent`, `last` (of their subtree) and `tree` (opens at all). */
function linked(rows) {
  const above = [];
  rows.forEach((row, i) => {
    row.at = i;
    above.length = row.level - 1;
    row.parent = above.at(-1) ?? null;
    above[row.level - 1] = row;
    for (const outer of above) outer.last = i;
  });
  for (const row of rows) row.tree = row.last > row.at;
  return rows;
}

const TRIANGLES = { true: "M1 3h8l-4 6z", false: "M2 1l6 4l-6 4z" };

/** The triangle of a row that opens; the same room where there is none. */
function triangle(row) {
  const holder = make("span", { class: "tc-twist", "aria-hidden": "true" });
  if (!row.tree) return holder;
  const svg = draw("svg", { viewBox: "0 0 10 10", width: 10, height: 10, focusable: "false" });
  svg.append(draw("path", { d: TRIANGLES[row.opened] }));
  holder.append(svg);
  return holder;
}

/**
 * Fills `parts.body`. columns: texts of the head, or elements; cells(row): the row's cells, the first with the
 * triangle put in front; told(row): its sentence; lit(row): a function that says whether another row lights up with
 * it; mates(row): one that says whether [ and ] lead to another row. Gives a function that ends it, with `pin(row)`
 * (move there), `reveal(row)` (open what is around it first) and `shown(row)` (its element, if it was made).
 */
function treegrid(parts, { rows, columns, cells, told, lit, mates = lit, opening, label }) {
  const id = `tc-grid-${Math.random().toString(36).slice(2)}`; // each view of a page runs a script of its own
  const { body } = parts;
  const group = make("div", { role: "rowgroup" });
  const heads = columns.map((head) => make("div", { role: "columnheader", class: "tc-cellbox" }, head));
  const head = make("div", { role: "rowgroup", class: "tc-thead" }, make("div", { role: "row", class: "tc-tr" }, ...heads));
  const made = new Map();
  const home = new WeakMap();
  let visible = [];
  let pinned = null;
  let at = null;

  body.setAttribute("role", "treegrid");
  body.setAttribute("aria-label", label);
  body.removeAttribute("aria-activedescendant");
  body.replaceChildren(head, group);

  function element(row) {
    if (made.has(row)) return made.get(row);
    const [first, ...others] = cells(row);
    first.prepend(triangle(row));
    const node = make("div", { role: "row", class: `tc-tr tc-level-${Math.min(row.level, 3)}`, id: `${id}-${row.at}`, "aria-level": row.level }, first, ...others);
    node.style.setProperty("--tc-level", row.level - 1);
    if (row.tree) node.setAttribute("aria-expanded", String(row.opened));
    for (const cell of node.children) cell.setAttribute("role", "gridcell");
    made.set(row, node);
    home.set(node, row);
    return node;
  }

  function list() {
    visible = [];
    for (let i = 0; i < rows.length; i = rows[i].opened || !rows[i].tree ? i + 1 : rows[i].last + 1) visible.push(rows[i]);
    group.replaceChildren(...visible.map(element));
  }

  function open(row, opened) {
    if (!row.tree || row.opened === opened) return;
    row.opened = opened;
    const node = element(row);
    node.setAttribute("aria-expanded", String(opened));
    node.querySelector(".tc-twist path").setAttribute("d", TRIANGLES[opened]);
    list();
    show(at);
  }

  function show(row) {
    at = row;
    for (const node of group.querySelectorAll(".tc-here, .tc-lit")) node.classList.remove("tc-here", "tc-lit");
    parts.say(row ? told(row) : opening);
    if (!row) return;
    const belongs = lit(row);
    for (const other of visible) element(other).classList.toggle("tc-lit", other !== row && belongs(other));
    element(row).classList.add("tc-here");
  }

  function pin(row) {
    pinned = row;
    show(row);
    if (!row) return body.removeAttribute("aria-activedescendant");
    body.setAttribute("aria-activedescendant", element(row).id);
    element(row).scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** From a row to the next one that belongs to it, by 1 or -1; round the end. */
  function across(by) {
    const from = pinned ?? visible[0];
    const belongs = mates(from);
    const others = visible.filter((row) => row === from || belongs(row));
    pin(others[(others.indexOf(from) + by + others.length) % others.length]);
  }

  function step(key) {
    const from = pinned ? visible.indexOf(pinned) : -1;
    const last = visible.length - 1;
    const goals = { ArrowUp: Math.max(0, from - 1), ArrowDown: Math.min(last, from + 1), Home: 0, End: last,
      PageUp: Math.max(0, from - 10), PageDown: Math.min(last, from + 10) };
    if (key in goals) return pin(visible[goals[key]]), true;
    if (!pinned) return false;
    if (key === "ArrowRight") return (pinned.opened || !pinned.tree ? pinned.tree && pin(rows[pinned.at + 1]) : open(pinned, true)), true;
    if (key === "ArrowLeft") return (pinned.opened && pinned.tree ? open(pinned, false) : pinned.parent && pin(pinned.parent)), true;
    if (key === "Enter" || key === " ") return open(pinned, !pinned.opened), true;
    return false;
  }

  /** What a key does; true when it was meant for the view. */
  function act(key) {
    if (key === "?") return parts.toggleKeys(), true;
    if (key === "t") return (parts.twin.open = !parts.twin.open), true;
    if (key === "Escape") return parts.keysOpen() ? parts.toggleKeys(false) : pin(null), true;
    if (!visible.length) return false;
    if (key === "[" || key === "]") return across(key === "]" ? 1 : -1), true;
    return step(key);
  }

  const found = (event) => home.get(event.target.closest?.('[role="row"]'));
  const listeners = {
    pointerover: (event) => found(event) && found(event) !== at && show(found(event)),
    pointerleave: () => show(pinned),
    click: (event) => found(event) && (pin(found(event)), open(pinned, !pinned.opened)),
    focus: () => !pinned && visible.length && body.matches(":focus-visible") && pin(visible[0]),
    keydown: (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !act(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
    },
  };
  for (const [name, listener] of Object.entries(listeners)) body.addEventListener(name, listener);
  list();
  show(null);
  const leave = () => Object.entries(listeners).forEach(([name, listener]) => body.removeEventListener(name, listener));
  const reveal = (row) => {
    for (let outer = row.parent; outer; outer = outer.parent) open(outer, true);
    pin(row);
  };
  return Object.assign(leave, { pin, reveal, shown: (row) => made.get(row) });
}
