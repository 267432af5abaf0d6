"""Lanes as a picture on one time axis: the host above, the streams below, and what was measured under the axis.

`drawing` gives the SVG whose classes the live view changes, `svg` one static card. The same bytes for the same
story in every process.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import log10

from torchcourse.devices.queue import Failure, Interval, Lanes, Timing

from .look import INKS, PAINTS, px
from .page import Caption, Page
from .queue_story import GPU_KINDS, Story, name, us
from .storage import Drawing

WIDTH = 724  # of a card's body, in px
WIDEST = 6000  # a long profile scrolls inside its card
LEFT = 112  # room for the names of the lanes
RIGHT = 14
BOX, GAP = 28, 30  # height of a lane, and the room below it for the wires
LETTER = 6.7  # width of a character of 11 px, in px
LEAST = 7  # px: an ordinary launch shall be at least as wide

ROLES = {"python": "base", "launch": "base", "wait": "wait", "kernel": "run", "copy": "view"}
# (meaning, glyph, words) for the footer
LEGEND = (
    ("base", "●", "Python, launches"),
    ("wait", "‖", "Python waits"),
    ("run", "✓", "kernel"),
    ("view", "◐", "copy"),
)
LINES_STATIC = 24  # lines of code that the static card shows


@dataclass(frozen=True)
class Scale:
    """Microseconds to px."""

    end: float
    width: int

    def x(self, at: float) -> float:
        room = self.width - LEFT - RIGHT
        return LEFT + (room * at / self.end if self.end else 0.0)


def scale_of(lanes: Lanes, static: bool = False) -> Scale:
    """As wide as a card, or wider where the launches would be hairlines."""
    launches = sorted(i.us for i in lanes.intervals if i.kind == "launch" and i.us > 0)
    width = WIDTH
    if launches and not static:
        typical = launches[len(launches) // 2]
        width = min(WIDEST, max(WIDTH, round(LEFT + RIGHT + LEAST * lanes.end / typical)))
    return Scale(lanes.end, width)


def drawing(story: Story, static: bool = False) -> Drawing:
    """Names, axis, wires, boxes, readings. Each box is a `<g class="tc-i">`, in the order of the intervals."""
    lanes, scale = story.lanes, scale_of(story.lanes, static)
    tops = {lane: 10 + k * (BOX + GAP) for k, lane in enumerate((*lanes.hosts, *lanes.streams))}
    floor = 10 + len(tops) * (BOX + GAP) - GAP + 10
    body = [_lane_names(tops, scale), _axis(scale, floor)]
    body += [_wire(lanes, i, tops, scale) for i in lanes.intervals]
    body += [_box(lanes, i, tops, scale, static) for i in lanes.intervals]
    if story.raised and lanes.failure:
        body.append(_raised(lanes.failure, tops[lanes.failure_lane], tops[lanes.hosts[0]], scale))
    y = floor + 28
    for timing in lanes.timings:
        body.append(_reading(timing, scale, y, static))
        y += 24
    if not static:
        body.append(f'<path class="tc-cursor" d="M0 2V{floor}"/>')
    return Drawing("".join(body), scale.width, y)


def cursor(story: Story) -> list[float]:
    """The place of each moment on the axis, in px."""
    scale = scale_of(story.lanes)
    return [round(scale.x(moment.at), 1) for moment in story.moments]


def _lane_names(tops: dict[str, int], scale: Scale) -> str:
    parts = []
    for lane, y in tops.items():
        parts.append(_text(name(lane), 3, y + 18, "ink", 12))
        line = f"M{LEFT} {y + BOX / 2:g}H{scale.width - RIGHT}"
        parts.append(f'<path class="tc-track" d="{line}" stroke="{INKS["rule"][0]}"/>')
    return "".join(parts)


def _axis(scale: Scale, y: int) -> str:
    rest = PAINTS["rest"].line
    parts = [f'<path class="tc-axis" d="M{LEFT} {y}.5H{scale.width - RIGHT}" stroke="{rest}"/>']
    step = _tick(scale.end * 90 / (scale.width - LEFT - RIGHT))
    unit, factor = ("ms", 1000) if scale.end >= 10_000 else ("µs", 1)
    k = 0
    while step and k * step <= scale.end * 1.0001:
        x = scale.x(k * step)
        parts.append(f'<path class="tc-axis" d="M{px(x)} {y}v5" stroke="{rest}"/>')
        label = f"{k * step / factor:g}" + (f" {unit}" if k == 0 else "")
        parts.append(_text(label, x, y + 17, "second", 11, "middle"))
        k += 1
    return "".join(parts)


def _tick(about: float) -> float:
    """A round step (1, 2, 5 · 10ⁿ) that is not less than this."""
    if about <= 0:
        return 0.0
    power = 10.0 ** int(log10(about) // 1)
    return next(m * power for m in (1, 2, 5, 10) if m * power >= about * 0.999)


def _wire(lanes: Lanes, i: Interval, tops: dict[str, int], scale: Scale) -> str:
    """From the launch down to the box; for a wait, from the work that ends it up to the host."""
    if i.kind in GPU_KINDS and i.queued is not None:
        ends = (scale.x(i.queued), tops[lanes.hosts[0]] + BOX, scale.x(i.start), tops[i.lane])
        role = "rest"
    elif i.kind == "wait" and i.cause is not None:
        cause = lanes.intervals[i.cause]
        ends = (scale.x(cause.end), tops[cause.lane], scale.x(i.end), tops[i.lane] + BOX)
        role = "wait"
    else:
        return '<g class="tc-w"></g>'
    x, y, to_x, to_y = ends
    tip = -5 if to_y > y else 5
    line = f"M{px(x)} {y}L{px(to_x)} {to_y + tip}"
    head = f"M{px(to_x)} {to_y}l-3 {tip}h6z"
    stroke = PAINTS[role].line
    return (
        f'<g class="tc-w tc-w-{role}"><path d="{line}" fill="none" stroke="{stroke}" stroke-width="1.2"/>'
        f'<path class="tc-tip-of" d="{head}" fill="{stroke}"/></g>'
    )


def _box(lanes: Lanes, i: Interval, tops: dict[str, int], scale: Scale, static: bool) -> str:
    x, width = scale.x(i.start), max(2.0, scale.x(i.end) - scale.x(i.start))
    y, height = tops[i.lane], BOX
    if i.kind != "python" and lanes.source == "profile" and i.lane in lanes.hosts:
        y, height = y + 14, BOX - 14  # a call of the runtime, inside of its operator
    paint = PAINTS[ROLES[i.kind]]
    broken = _broken(lanes, i)
    if broken:
        paint = PAINTS["now"]
    colours = f' fill="{paint.fill}" stroke="{paint.line}" stroke-width="1.5"'
    halo = (
        ""
        if static
        else f'<rect class="tc-halo" x="-3" y="-3" width="{px(width + 6)}" height="{height + 6}" rx="6"/>'
    )
    role = "now" if broken else ROLES[i.kind]
    return (
        f'<g class="tc-i tc-q-{role}{f" tc-{role}" if static else ""}" transform="translate({px(x)} {y})">{halo}'
        f'<rect class="tc-face" width="{px(width)}" height="{height}" rx="4"{colours}/>'
        f"{_label(i, width, height, broken)}</g>"
    )


def _broken(lanes: Lanes, i: Interval) -> bool:
    """It failed, or it touched memory too early."""
    failed = lanes.failure is not None and lanes.failure.step == i.step and i.kind == "kernel"
    return failed or (i.kind not in ("launch", "wait") and any(h.step == i.step for h in lanes.hazards))


def _label(i: Interval, width: float, height: int, broken: bool) -> str:
    """The line's number and what it is, as much of it as fits."""
    number = "" if i.step < 0 else str(i.step + 1)
    glyph = "‖ " if i.kind == "wait" else "✕ " if broken else ""
    words = "" if i.kind in ("launch", "wait") else i.label
    full = f"{glyph}{number} {words}".strip()
    room = int((width - 4) / LETTER)
    shown = (
        full if len(full) <= room else (f"{full[: room - 1]}…" if room >= 6 else f"{glyph}{number}".strip())
    )
    if len(shown) > room:
        shown = number if len(number) <= room else ""
    y = height / 2 + 4
    return _text(shown, width / 2, y, "ink", 11, "middle") if shown else ""


def _raised(failure: Failure, y: int, host: int, scale: Scale) -> str:
    """From the end of the kernel that failed up to where Python hears of it."""
    x, to_x = scale.x(failure.at), scale.x(failure.raised_at or 0.0)
    line = PAINTS["now"].line
    return (
        f'<g class="tc-r tc-failed"><path d="M{px(x)} {y}L{px(to_x)} {host + BOX + 5}" fill="none" '
        f'stroke="{line}" stroke-width="2"/><path class="tc-tip-of" d="M{px(to_x)} {host + BOX}l-4 6h8z" '
        f'fill="{line}"/></g>'
    )


def _reading(timing: Timing, scale: Scale, y: int, static: bool) -> str:
    """A bar between two readings, and in words what they say and what is true."""
    left, right = scale.x(timing.start), max(scale.x(timing.end), scale.x(timing.start) + 2)
    role = "base" if timing.by == "clock" else "run"
    paint = PAINTS[role]
    words = f"{'clock' if timing.by == 'clock' else 'events'}: {us(timing.us)} · GPU work {us(timing.gpu_us)}"
    wide = LETTER * len(words)
    if right + 8 + wide <= scale.width:
        place, anchor = right + 8, "start"
    elif left - 8 - wide >= LEFT:
        place, anchor = left - 8, "end"
    else:
        place, anchor = (left + right) / 2, "middle"
    on_bar = anchor == "middle"
    bar = (
        f'<rect class="tc-face" x="{px(left)}" y="{y}" width="{px(right - left)}" '
        f'height="{18 if on_bar else 12}" rx="3" fill="{paint.fill}" stroke="{paint.line}" stroke-width="1.5"/>'
    )
    names = f"tc-r tc-q-{role}" + (f" tc-{role}" if static else "")
    title = _text(f"{timing.first} → {timing.last}", 3, y + 11, "second", 11)
    said = _text(words, place, y + (13 if on_bar else 10), "ink", 11, anchor)
    return f'<g class="{names}">{title}{bar}{said}</g>'


def _text(text: str, x: float, y: float, ink: str, size: int, anchor: str = "start") -> str:
    return (
        f'<text class="tc-{ink} tc-code" x="{px(x)}" y="{px(y)}" text-anchor="{anchor}" font-size="{size}" '
        f'fill="{INKS[ink][0]}">{escape(text)}</text>'
    )


def svg(story: Story) -> str:
    """The whole card as one static SVG, in the state after the last moment."""
    page = Page(story.heading, story.sentence)
    lines = story.lanes.lines
    code = [f"{k:>2}  {line}" for k, line in enumerate(lines[:LINES_STATIC], 1)]
    if len(lines) > LINES_STATIC:
        code.append(f"… and {len(lines) - LINES_STATIC} more")
    notes = tuple(
        note.replace("`", "") for note in (*_unsafe(story), *([story.lanes.cut] if story.lanes.cut else []))
    )
    page.flow([(Caption(facts=tuple(code)), drawing(story, static=True))])
    if notes:
        page.flow([(Caption(facts=notes), Drawing("", 0, 0))])
    return page.finish([(role, words) for role, _, words in LEGEND])


def _unsafe(story: Story) -> tuple[str, ...]:
    said = tuple(map(story.lanes.say_hazard, story.lanes.hazards))
    return said + ((story.lanes.say_failure(),) if story.lanes.failure else ())
