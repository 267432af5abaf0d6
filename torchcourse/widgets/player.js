// Buttons, a scrubber and a counter for a view that has steps. Joined in front of such a view's own script.

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

/**
 * The controls, put into the card's tools. `show(t)` draws step t; `unit` is what a step is called. Gives `go(t)`, `pause()`, `toggle()`, `open(last, t)`,
 * `t()`, `playing()`.
 */
function player(parts, show, unit = "step") {
  const buttons = {};
  const bar = make("input", { type: "range", min: "0", step: "1", class: "tc-scrub", tabindex: "-1", "aria-label": `${unit[0].toUpperCase()}${unit.slice(1)}`, ...OURS });
  const counter = make("output", { class: "tc-counter" });
  let t = -1;
  let last = 0;
  let timer = 0;

  for (const [name, label, act] of [
    ["first", "To the start", () => go(0)],
    ["back", `One ${unit} back`, () => go(t - 1)],
    ["play", "Play", () => toggle()],
    ["on", `One ${unit} on`, () => go(t + 1)],
    ["last", `To the last ${unit}`, () => go(last)],
  ]) {
    buttons[name] = make("button", { type: "button", class: `tc-press tc-${name}`, tabindex: "-1", "aria-label": label, title: label, ...OURS }, icon(name));
    buttons[name].addEventListener("click", () => (name !== "play" && pause(), act(), parts.body.focus({ preventScroll: true })));
  }
  const row = make("div", { class: "tc-player" }, make("div", { class: "tc-buttons", role: "group", "aria-label": `${unit[0].toUpperCase()}${unit.slice(1)}s` }, ...Object.values(buttons)), bar, counter);
  parts.tools.append(row);
  bar.addEventListener("input", () => (pause(), go(Number(bar.value))));
  bar.addEventListener("change", () => parts.body.focus({ preventScroll: true }));

  function go(to) {
    const next = Math.max(0, Math.min(last, Math.round(to)));
    if (next === t) return;
    t = next;
    bar.value = t;
    bar.style.setProperty("--tc-part", last ? t / last : 0);
    bar.setAttribute("aria-valuetext", last ? `${t} of ${last}` : `no ${unit}`);
    counter.textContent = last ? `${t} / ${last}` : "–";
    buttons.first.disabled = buttons.back.disabled = t === 0;
    buttons.on.disabled = buttons.last.disabled = t === last;
    show(t);
  }
  function toggle() {
    if (timer || !last) return pause();
    if (t === last) go(0);
    const stride = Math.max(1, Math.ceil(last / 600)); // a long history plays in about half a minute
    const pace = Math.max(50, Math.min(900, 30000 / Math.max(last, 1)));
    timer = setInterval(() => (go(t + stride), t === last && pause()), pace);
    face("pause", "Pause");
  }
  function pause() {
    if (!timer) return; // every key comes by here, and a new icon is a new layout
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
  function open(steps, at) {
    pause();
    last = steps;
    t = -1;
    bar.max = last;
    bar.disabled = buttons.play.disabled = !last;
    counter.style.minWidth = `${2 * String(last).length + 3}ch`;
    go(at);
  }
  return { go, pause, toggle, open, t: () => t, playing: () => timer !== 0 };
}

/** Lets the card's keys do what `act(key)` does; it answers true for a key that was meant for the view. */
function listen(parts, act) {
  parts.body.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !act(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  });
}

/** What the keys of a view do whose picture only steps. stops: the steps at which `[` and `]` halt. */
function stepping(parts, steps, stops) {
  return (key) => {
    const t = steps.t();
    if (key === "?") return parts.toggleKeys(), true;
    if (key === "t") return (parts.twin.open = !parts.twin.open), true;
    if (key === " ") return steps.toggle(), true;
    if (key === "Escape") return parts.keysOpen() ? parts.toggleKeys(false) : steps.playing() ? steps.pause() : steps.go(0), true;
    const to = {
      ArrowLeft: () => t - 1, ArrowUp: () => t - 1, ArrowRight: () => t + 1, ArrowDown: () => t + 1,
      Home: () => 0, End: () => Infinity,
      "[": () => stops().findLast((stop) => stop < t) ?? 0, "]": () => stops().find((stop) => stop > t) ?? t,
    }[key];
    if (!to) return false;
    steps.pause();
    steps.go(to());
    return true;
  };
}

/** The small square of a legend that stands for a state or a thing. */
function mark(role, glyph) {
  return make("span", { class: `tc-chip tc-${role === "view" ? "view-role" : role}`, "aria-hidden": "true" }, glyph);
}
