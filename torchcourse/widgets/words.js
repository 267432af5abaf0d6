// The course's words in a view. Each is marked once in a sentence, in a legend and in the labels; pointing at one, or the
// key w, shows what it means. WORDS comes from the glossary: [[spellings, meaning, where it is explained], …].

const ENTRIES = new Map(WORDS.flatMap(([spellings, meaning, place]) => {
  const entry = { name: spellings[0], meaning, place };
  return spellings.map((one) => [one.toLowerCase(), entry]);
}));
const SPELLED = [...ENTRIES.keys()].sort((a, b) => b.length - a.length).map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
const WORD = SPELLED.length ? new RegExp(`(?<![\\w.-])(?:${SPELLED.join("|")})(?![\\w-])`, "giu") : /(?!)/g;
const WORD_KEYS = WORDS.length ? [["w W", "what the next dotted word, the one before means"]] : [];
// Texts of a view that are no sentences: heads of columns, names of numbers, what stands over a grid.
const LABELS = "[role=columnheader], .tc-numbers span, .tc-fact, .tc-note";

/** The words of a text as elements, what stands between them as strings. seen: entries that are marked already. */
function wordsIn(text, seen = new Set()) {
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(WORD)) {
    const entry = ENTRIES.get(found[0].toLowerCase());
    if (seen.has(entry)) continue;
    seen.add(entry);
    parts.push(text.slice(at, found.index), markedWord(found[0], entry));
    at = found.index + found[0].length;
  }
  return [...parts, text.slice(at)].filter((part) => part !== "");
}

function markedWord(text, entry) {
  const word = document.createElement("span");
  word.className = "tc-word";
  word.textContent = text;
  word.entry = entry;
  return word;
}

/** `code` that is one of the words as a whole: then the word, else the text. */
function wordOrCode(text, seen) {
  const entry = ENTRIES.get(text.replace(/\(\)$/, "").toLowerCase());
  if (!entry || seen.has(entry)) return text;
  seen.add(entry);
  return markedWord(text, entry);
}

/** Marks the words in texts that stand there already. */
function markWords(roots) {
  const seen = new Set();
  for (const root of roots) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) if (!walker.currentNode.parentElement.closest("code, svg, [aria-hidden], .tc-word")) texts.push(walker.currentNode);
    for (const node of texts) {
      const parts = wordsIn(node.data, seen);
      if (parts.length === 1 && parts[0] === node.data) continue;
      const holder = document.createElement("span"); // one element: where parts of a line are laid out, it stays one
      holder.append(...parts);
      node.replaceWith(holder);
    }
  }
}

/** The box that says what a word means. Gives `renewed()`, to be called when a sentence has changed. */
function meanings({ view, frame, body, legend }) {
  const box = make("div", { class: "tc-meaning", role: "status" });
  let word = null;
  let pointed = false;
  frame.append(box);

  function open(next, byPointer) {
    [word, pointed] = [next, byPointer];
    const { name, meaning, place } = word.entry;
    box.replaceChildren(make("div", {}, make("b", {}, name), make("p", {}, ...coded(meaning)), make("small", {}, `Explained in ${place}`)));
    put();
    document.addEventListener("keydown", keyed, true);
    document.addEventListener("pointerdown", pressed, true);
  }
  function close() {
    word = null;
    box.replaceChildren();
    document.removeEventListener("keydown", keyed, true);
    document.removeEventListener("pointerdown", pressed, true);
  }
  /** Below a word of the upper half of the card, above one of the lower half, inside of it in any case. */
  function put() {
    const [card, at] = [frame, word].map((one) => one.getBoundingClientRect());
    const zoom = card.width / frame.offsetWidth || 1;
    const width = Math.min(350, frame.offsetWidth - 16);
    const below = at.top + at.bottom < card.top + card.bottom;
    box.style.width = `${width}px`;
    box.style.left = `${Math.max(8, Math.min(frame.offsetWidth - width - 8, (at.left - card.left) / zoom - 12))}px`;
    box.style.top = below ? `${(at.bottom - card.top) / zoom}px` : "auto";
    box.style.bottom = below ? "auto" : `${(card.bottom - at.top) / zoom}px`;
  }

  const pressed = (event) => event.target.closest?.(".tc-word, .tc-meaning") || close();
  function keyed(event) {
    if (event.key === "Escape") event.preventDefault(), event.stopPropagation();
    if (!["w", "W", "Shift"].includes(event.key)) close();
  }
  /** To the next word that shows, or the one before. */
  function step(by) {
    const shown = [...frame.querySelectorAll(".tc-word")].filter((one) => one.getClientRects().length);
    const at = shown.indexOf(word);
    if (shown.length) open(shown.at(at < 0 && by < 0 ? -1 : (at + by) % shown.length), false);
  }

  view.addEventListener("pointerover", ({ target }) => {
    const next = target.closest?.(".tc-word");
    if (next && next !== word) open(next, true);
    else if (!next && word && pointed && !box.contains(target)) close();
  });
  view.addEventListener("pointerleave", () => word && pointed && close());
  view.addEventListener("click", ({ target }) => target.closest?.(".tc-word") && open(target.closest(".tc-word"), false));
  view.addEventListener("keydown", (event) => {
    if (event.target !== body || event.ctrlKey || event.metaKey || event.altKey || !["w", "W"].includes(event.key)) return;
    step(event.key === "w" ? 1 : -1);
    event.preventDefault();
    event.stopPropagation();
  }, true);
  // A view fills its legend and its body as a whole; what it writes into them later is none of its labels.
  new MutationObserver(() => markWords([legend])).observe(legend, { childList: true });
  new MutationObserver(() => markWords(body.querySelectorAll(LABELS))).observe(body, { childList: true });
  return { renewed: () => word && !word.isConnected && close() };
}
