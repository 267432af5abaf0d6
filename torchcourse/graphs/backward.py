"""A recorded backward as a picture that is laid out once: boxes, wires between them, and moments.

`Story` is plain data that knows its picture's size and its text twin; `drawing` gives the SVG whose classes
the live view changes, `svg` one static card. The same bytes for the same story in one environment (the
places of the boxes depend on the version of Graphviz).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape

from ._places import Layout, Route, lay_out
from .look import INKS, PAINTS, px
from .page import Caption, Page
from .storage import Drawing

HEIGHT = 42  # of a box, in px
WIDTH = 724  # of a card's body
FLAT = 24  # boxes: more never fit side by side
NAME, SMALL = 7.6, 6.7  # width of a character, in px: of a name, of the line below
ON_WIRES = "On a wire: the forward's value or shape, then the gradient."
AFTER = "All steps have run; the number in a box is its step."
# (meaning, glyph, words) for the footer
LEGEND = (
    ("now", "", "now"),
    ("rest", "✓", "done"),
    ("base", "●", ".grad of a leaf"),
    ("view", "", "saved (dashed: freed)"),
)


@dataclass(frozen=True)
class Box:
    """One node, one leaf's `.grad`, or a fold of nodes.

    kind: "op", "acc" (AccumulateGrad), "grad", "leaf" (both of these in one) or "fold". before, now, after:
    the line under the title in each state. steps: when the nodes in it ran (from 1), in order; none where the
    engine did not come by. say: what it holds, where that is more than its step. saved: whether it holds
    tensors that the forward saved; freed: whether it let go of them. wrong: it raised, or a NaN or infinity
    came out of it. fills: the steps that fill a `.grad` inside of a fold.
    """

    kind: str
    title: str
    before: str
    now: str
    after: str
    steps: tuple[int, ...]
    say: str = ""
    saved: bool = False
    freed: bool = False
    wrong: bool = False
    fills: tuple[int, ...] = ()

    @property
    def role(self) -> str:
        """What its colour means, in `look.PAINTS`."""
        return "base" if self.kind in ("grad", "leaf") else "rest"

    @property
    def width(self) -> int:
        """In px: the title has room for its ✓."""
        lines: tuple[str, ...] = (self.before, self.now, self.after)
        if self.kind == "fold":
            lines = (counting(max(self.steps, default=0), self.steps, self.fills),)
        return max(62, round(max(NAME * len(self.title + " ✓"), *(SMALL * len(line) for line in lines)) + 12))


def counting(step: int, steps: tuple[int, ...], fills: tuple[int, ...]) -> str:
    """How far a fold is after a step: "12/31 nodes · 3/9 .grad". The live view writes the same."""
    ran, filled = (sum(k <= step for k in each) for each in (steps, fills))
    return f"{ran}/{len(steps)} nodes" + (f" · {filled}/{len(fills)} .grad" if fills else "")


@dataclass(frozen=True)
class Wire:
    """Gradients flow along it from box `source` to box `target` (numbers of boxes).

    value: what the forward sent the other way, where known, or its shape. gradient: what flows.
    sent: steps in which something leaves; got: steps of the nodes that take it.
    """

    source: int
    target: int
    value: str = ""
    gradient: str = ""
    sent: tuple[int, ...] = ()
    got: tuple[int, ...] = ()


@dataclass(frozen=True)
class Moment:
    """One step of the engine: the box that it works in, and the sentence that says what it does."""

    box: int
    say: str


@dataclass(frozen=True)
class Story:
    """A backward, ready to be drawn. `str()` is its text twin: the steps in their order."""

    title: str
    sentence: str
    boxes: tuple[Box, ...]
    wires: tuple[Wire, ...]
    moments: tuple[Moment, ...]
    folded: str = ""

    @property
    def heading(self) -> str:
        """ "loss.backward(), 6 steps"."""
        n = len(self.moments)
        return f"{self.title}, {n:,} {'step' if n == 1 else 'steps'}"

    def __str__(self) -> str:
        steps = [f"{k:>3}. {moment.say}" for k, moment in enumerate(self.moments, 1)]
        return "\n".join(
            [self.heading, self.sentence, *([self.folded] if self.folded else []), *steps]
        ).replace("`", "")


def arranged(story: Story) -> tuple[Story, Layout]:
    """The story and where everything stands: gradients flow to the left where that fits a card, else down.

    Where they flow down, AccumulateGrad and the `.grad` that it fills share one box.
    """
    if len(story.boxes) <= FLAT:
        flat = _layout(story, "RL", _gap(story))
        if flat.width <= WIDTH:
            return story, flat
    story = _merged(story)
    return story, _layout(story, "TB", 44)


def _layout(story: Story, direction: str, gap: int) -> Layout:
    sizes = [(box.width, HEIGHT) for box in story.boxes]
    pairs = [(wire.source, wire.target) for wire in story.wires]
    grads = [k for k, box in enumerate(story.boxes) if box.kind == "grad"]
    return lay_out(sizes, pairs, grads, direction, gap, _spine(story))


def _spine(story: Story) -> list[int]:
    """The wires between operators: they run straight, and leaves hang beside them."""
    inner = ("op", "fold")
    return [k for k, wire in enumerate(story.wires) if story.boxes[wire.target].kind in inner]


def _gap(story: Story) -> int:
    """Room between boxes, in px, for the longest label of a wire."""
    longest = max([0, *(len(text) for wire in story.wires for text in (wire.value, wire.gradient))])
    return round(24 + min(longest, 9) * 5.5)


def _merged(story: Story) -> Story:
    """Without boxes for `.grad`: each goes into the box of the AccumulateGrad that fills it."""
    fills = {w.source: w.target for w in story.wires if story.boxes[w.target].kind == "grad"}
    kept = [k for k, box in enumerate(story.boxes) if box.kind != "grad"]
    number = {k: new for new, k in enumerate(kept)}
    boxes = tuple(
        replace(story.boxes[fills[k]], kind="leaf", say=story.boxes[k].say) if k in fills else story.boxes[k]
        for k in kept
    )
    wires = tuple(
        replace(w, source=number[w.source], target=number[w.target])
        for w in story.wires
        if w.target in number
    )
    moments = tuple(replace(moment, box=number[moment.box]) for moment in story.moments)
    return replace(story, boxes=boxes, wires=wires, moments=moments)


def drawing(story: Story, places: Layout, static: bool = False) -> Drawing:
    """The picture, each wire and then each box a `<g>`; `static`: as it stands when all has run."""
    wires = [_wire(wire, route, static) for wire, route in zip(story.wires, places.routes, strict=True)]
    boxes = [_box(box, *spot, static) for box, spot in zip(story.boxes, places.spots, strict=True)]
    return Drawing("".join([*wires, *boxes]), places.width, places.height)


def _box(box: Box, x: int, y: int, static: bool) -> str:
    parts = [_frame(box, static), _title(box, static), *_lines(box, static)]
    if box.saved:
        parts.append(_mark(box, static))
    name = f"node tc-box-{box.role} tc-{box.kind}" + " tc-off" * (not box.steps) + " tc-wrong" * box.wrong
    return f'<g class="{name}" transform="translate({x} {y})">{"".join(parts)}</g>'


def _frame(box: Box, static: bool) -> str:
    dash = ' stroke-dasharray="4 3"' if static and box.role == "rest" and box.steps else ""
    return (
        f'<rect class="tc-face" width="{box.width}" height="{HEIGHT}" rx="5"{_fill(box.role, static)}{dash}/>'
    )


def _title(box: Box, static: bool) -> str:
    """The name: in the static picture after its step's number, in the live one with the ✓ of what is done."""
    number = f"{box.steps[0]} " if static and len(box.steps) == 1 and box.kind != "grad" else ""
    tick = "" if static else '<tspan class="tc-tick"> ✓</tspan>'
    y = 18 if box.before or box.after else 26
    return _text("tc-top", number + box.title, box.width / 2, y, 13, "ink", static, tick)


def _lines(box: Box, static: bool) -> Iterator[str]:
    """The line below the title, or the three that take turns."""
    if static:
        done = counting(max(box.steps, default=0), box.steps, box.fills)
        lines = [("tc-always", done if box.kind == "fold" else box.after)]
    elif box.kind == "fold":
        lines = [("tc-count", box.before)]
    elif box.before == box.now == box.after:
        lines = [("tc-always", box.before)]
    else:
        lines = [("tc-before", box.before), ("tc-during", box.now), ("tc-after", box.after)]
    for name, text in lines:
        if text:
            yield _text(name, text, box.width / 2, 33, 11, "second", static)


def _mark(box: Box, static: bool) -> str:
    """The small square of a saved tensor, on the box's upper edge."""
    let_go = static and box.freed
    dash = ' stroke-dasharray="2 2"' if let_go else ""
    name = "tc-saved tc-lets" if box.freed else "tc-saved"
    fill = _fill("rest" if let_go else "view", static)
    return f'<rect class="{name}" x="8" y="-5" width="10" height="10" rx="2"{fill}{dash}/>'


def _wire(wire: Wire, route: Route, static: bool) -> str:
    line = f' fill="none" stroke="{PAINTS["rest"].line}" stroke-width="1.5"' if static else ""
    tip = f' fill="{PAINTS["rest"].line}"' if static else ""
    x, y = route.label
    above, below, anchor = (x, y - 6), (x, y + 14), ""
    if route.side:
        x += 7 * route.side
        above, below, anchor = (x, y - 5), (x, y + 8), "start" if route.side > 0 else "end"
    texts = [
        _text(name, text, *at, 11, ink, static, anchor=anchor)
        for name, text, at, ink in (
            ("tc-value", wire.value, above, "second"),
            ("tc-flow", wire.gradient, below, "ink"),
        )
        if text
    ]
    return (
        f'<g class="tc-wire{"" if wire.sent else " tc-off"}"><path d="{route.path}"{line}/>'
        f'<path class="tc-head-of" d="{route.tip}"{tip}/>{"".join(texts)}</g>'
    )


def _fill(role: str, static: bool) -> str:
    """Attributes of a shape; the live picture has them in its style sheet."""
    paint = PAINTS[role]
    return f' fill="{paint.fill}" stroke="{paint.line}" stroke-width="1.5"' if static else ""


def _text(
    name: str,
    text: str,
    x: float,
    y: float,
    size: int,
    ink: str,
    static: bool,
    more: str = "",
    anchor: str = "",
) -> str:
    place = f'x="{px(x)}" y="{px(y)}"'
    begin = f' text-anchor="{anchor}"' if anchor else ""
    if not static:
        return f'<text class="{name}" {place}{begin}>{escape(text)}{more}</text>'
    return (
        f'<text class="{name} tc-{ink} tc-code" {place} text-anchor="{anchor or "middle"}" '
        f'font-size="{size}" fill="{INKS[ink][0]}">{escape(text)}</text>'
    )


def svg(story: Story) -> str:
    """The whole card as one static SVG, in the state after the last step; boxes carry their step's number."""
    page = Page(story.heading, f"{AFTER} {ON_WIRES}")
    picture = drawing(*arranged(story), static=True)
    page.flow([(Caption(facts=(story.folded,) if story.folded else ()), picture.fitted(WIDTH))])
    return page.finish([(role, words) for role, _, words in LEGEND if role != "now"])
