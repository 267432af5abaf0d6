// What a timeline shows at any moment, worked out from the changes that the kernel sent. Sizes are in units of 512 bytes,
// the smallest block.

const UNIT = 512;
const [NO_MEMORY, FREE, WAITS, OWNED] = [0, 1, 2, 3];
const EVERY = 32; // steps from one kept state to the next

/** A size (bytes) in its largest unit: the same words as the kernel's. */
function sized(bytes) {
  for (const [power, name] of [[40, "TiB"], [30, "GiB"], [20, "MiB"], [10, "KiB"]]) {
    const unit = 2 ** power;
    if (bytes >= unit) return `${Math.floor((bytes * 100) / unit + 0.5) / 100} ${name}`;
  }
  return `${bytes} bytes`;
}

/** A text with its sizes between backticks. */
const sizesCoded = (text) => text.replace(/[\d.]+ (?:bytes|[KMGT]iB)/g, "`$&`");

/** The tiles ([offset, state, since], up to the next one) of a segment after one change. See tiles.py. */
function paint(tiles, extent, offset, size, state, step) {
  const end = offset + size;
  let first = 0;
  while (first < tiles.length && tiles[first][0] < offset) first++;
  let behind = first;
  while (behind < tiles.length && tiles[behind][0] <= end) behind++;
  const row = tiles.slice(0, first);
  row.push([offset, state, step]);
  if (end < extent) row.push([end, tiles[behind - 1][1], tiles[behind - 1][2]]);
  for (let k = behind; k < tiles.length; k++) row.push(tiles[k]);
  if (state <= FREE) {
    if (row[first + 1]?.[1] === state) row.splice(first + 1, 1);
    if (first && row[first - 1][1] === state) row.splice(first - 1, 2, [row[first - 1][0], state, step]);
  }
  return row;
}

const BARE = [[0, NO_MEMORY, 0]];

/** All states of one column: `at(t)` gives the tiles of every segment. A state shares what did not change. */
function history({ slots, paints, ends }) {
  const kept = [];
  let tiles = slots.map(() => BARE);
  let here = -1;
  const on = (to) => {
    for (let step = here + 1; step <= to; step++) {
      for (let k = step ? ends[step - 1] * 4 : 0; k < ends[step] * 4; k += 4) {
        const slot = paints[k];
        tiles[slot] = paint(tiles[slot], slots[slot][0], paints[k + 1], paints[k + 2], paints[k + 3], step);
      }
      if (step % EVERY === 0 && !kept[step / EVERY]) kept[step / EVERY] = tiles.slice();
    }
    here = Math.max(here, to);
  };
  on(ends.length - 1);
  return {
    at(t) {
      const start = Math.floor(t / EVERY) * EVERY;
      if (t < here || start > here) [tiles, here] = [kept[start / EVERY].slice(), start];
      on(t);
      return tiles;
    },
  };
}

/** Where a column's memory stands: bytes in use, and the free pieces, those too small or of the other pool apart. */
function pieces(slots, tiles, request) {
  const small = request <= 1 << 20;
  const found = { free: 0, unfit: 0, largest: 0 };
  tiles.forEach((row, slot) => {
    for (let k = 0; k < row.length; k++) {
      if (row[k][1] !== FREE) continue;
      const size = ((row[k + 1]?.[0] ?? slots[slot][0]) - row[k][0]) * UNIT;
      found.free += size;
      const fits = slots[slot][1] === small && size >= request;
      if (!fits) found.unfit += size;
      else if (!found.best || size < found.best) found.best = size;
      if (slots[slot][1] === small) found.largest = Math.max(found.largest, size);
    }
  });
  return found;
}
