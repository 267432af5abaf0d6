// Blocks as rows of paths: however many blocks there are, a row has a path for each look.

/** One pool of a column as rows of paths: a path for each row and look; only rows with changes are drawn anew. */
function shelf(pool, column, owners) {
  const { rows, width, height, scale, top, step } = pool;
  const members = Array.from({ length: rows }, () => []);
  column.slots.forEach(([extent, small, place], slot) => {
    if (small !== pool.small) return;
    const last = Math.min(rows - 1, Math.floor((place + (extent * UNIT) / scale - 0.01) / width));
    for (let row = Math.floor(place / width); row <= last; row++) members[row].push(slot);
  });
  const looks = ["free", "unfit", "waits", ...owners.map((_, k) => `owner-${k}`)];
  const group = draw("g", { class: "tc-pool" });
  const lines = members.map((own, row) => {
    const part = draw("g", { transform: `translate(0 ${top + row * step})` });
    const paths = {};
    for (const look of ["held", "free-lines", "unfit-lines", ...looks.flatMap((name) => [name, `${name}-thin`])]) {
      const role = look.startsWith("owner") ? owners[parseInt(look.slice(6))][2] : "";
      paths[look] = draw("path", { class: `tc-${look.replace(/-\d+/, "")} ${role ? `tc-${role === "view" ? "view-role" : role}` : ""}` });
      part.append(paths[look]);
    }
    const letters = draw("text", { class: "tc-letter", "text-anchor": "middle" });
    part.append(letters);
    group.append(part);
    return { own, paths, letters, from: row * width, seen: [], asked: -1 };
  });

  /** The px of a range inside of a row, or null. */
  const clip = (line, place, from, to) => {
    const a = Math.max(0, Math.round(place + (from * UNIT) / scale) - line.from);
    const b = Math.min(width, Math.round(place + (to * UNIT) / scale) - line.from);
    return b > a ? [a, b - a] : null;
  };

  function drawRow(line, tiles, request) {
    const d = {};
    const put = (look, text) => (d[look] = (d[look] ?? "") + text);
    const [xs, signs] = [[], []];
    for (const slot of line.own) {
      const [extent, small, place] = column.slots[slot];
      const row = tiles[slot];
      for (let k = 0; k < row.length; k++) {
        const [from, state] = row[k];
        if (state === NO_MEMORY) continue;
        const to = row[k + 1]?.[0] ?? extent;
        const span = clip(line, place, from, to);
        if (!span) continue;
        const [x, w] = span;
        put("held", `M${x} ${height + 2.5}h${w}`);
        const unfit = state === FREE && request && (small !== request <= 1 << 20 || (to - from) * UNIT < request);
        const look = state === FREE ? (unfit ? "unfit" : "free") : state === WAITS ? "waits" : `owner-${state - OWNED}`;
        if (w < 4) {
          put(`${look}-thin`, `M${x} 0h${w}v${height}h-${w}z`);
          continue;
        }
        put(look, `M${x + 0.5} .5h${w - 1}v${height - 1}h-${w - 1}z`);
        const letter = state === FREE ? "" : state === WAITS ? "‖" : owners[state - OWNED][1];
        if (state === FREE) put(`${look}-lines`, hatch(x, w, height, unfit));
        else if (letter && w >= 13 && height >= 13) xs.push(x + w / 2), signs.push(letter);
        else if (state > OWNED && w >= 5) put(look, stripes(x, w, height, state - OWNED));
      }
    }
    for (const [look, path] of Object.entries(line.paths)) {
      const now = d[look] ?? "";
      if (path.was !== now) path.setAttribute("d", now), (path.was = now);
    }
    line.letters.setAttribute("x", xs.join(" "));
    line.letters.setAttribute("y", height / 2 + 4);
    line.letters.textContent = signs.join("");
  }

  return {
    group,
    draw(tiles, request) {
      for (const line of lines) {
        let same = line.asked === request;
        for (let k = 0; same && k < line.own.length; k++) same = line.seen[k] === tiles[line.own[k]];
        if (same) continue;
        drawRow(line, tiles, request);
        line.seen = line.own.map((slot) => tiles[slot]);
        line.asked = request;
      }
    },
    /** The outline of a range: one closed piece for each row. */
    outline(slot, from, to) {
      return lines.map((line, row) => {
        const span = clip(line, column.slots[slot][2], from, to);
        if (!span) return "";
        const [x, w] = [span[0] - 1, Math.max(span[1], 3) + 2];
        return `M${x} ${top + row * step - 1}h${w}v${height + 2}h-${w}z`;
      }).join("");
    },
    /** The slot and the offset (512 bytes) under a point, or null. */
    under(x, y, tiles) {
      const row = Math.floor((y - top) / step);
      if (!lines[row] || x < 0 || x > width) return null;
      const at = lines[row].from + x;
      for (const slot of members[row]) {
        const [extent, , place] = column.slots[slot];
        const offset = ((at - place) * scale) / UNIT;
        if (offset >= 0 && offset < extent && tiles[slot] !== BARE) {
          const k = tiles[slot].findLastIndex((tile) => tile[0] <= offset);
          if (tiles[slot][k][1] !== NO_MEMORY) return [slot, k];
        }
      }
      return null;
    },
  };
}

/** Slanted lines over a free block; crossed ones where a request can't use it. */
function hatch(x, w, height, crossed) {
  let text = "";
  for (let at = 8 - height; at < w; at += 10) {
    const [a, b] = [Math.max(at, 2), Math.min(at + height, w - 2)];
    if (b <= a) continue;
    text += `M${x + a} ${height - a + at}L${x + b} ${height - b + at}`;
    if (crossed) text += `M${x + a} ${a - at}L${x + b} ${b - at}`;
  }
  return text;
}

/** Lines that tell an owner where its letter finds no room: so many as its place in the legend. */
function stripes(x, w, height, count) {
  let text = "";
  for (let k = 1; k <= Math.min(count, 4); k++) text += `M${x + 2} ${Math.round((k * height) / (count + 1)) + 0.5}h${w - 4}`;
  return text;
}
