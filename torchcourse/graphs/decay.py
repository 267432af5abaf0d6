"""The decay playground as a picture: the loss as contour lines, and a path for each way to use λ."""

import math
from dataclasses import dataclass
from html import escape

from torchcourse.optimizers.decay import Path, Problem, Settings

from .look import INKS, PAINTS
from .page import Caption, Page
from .storage import Drawing

WIDTH, HEIGHT = 440, 380
LEVELS = (0.05, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
FLATTEST = 1e-7  # a curvature of zero would make an endless ellipse; this one ends outside of the window

# way -> (meaning of its colour, dash pattern, the glyph at its end)
LINES = (
    ("view", "", "□"),
    ("view", "2 4", "■"),
    ("wait", "", "○"),
    ("wait", "2 4", "●"),
    ("run", "", "▲"),
)


@dataclass(frozen=True)
class Scale:
    """From weights to px: one length per unit in both directions."""

    problem: Problem

    def place(self, point: tuple[float, float]) -> tuple[float, float]:
        left, right, bottom, top = self.problem.window
        x = (point[0] - left) / (right - left) * WIDTH
        y = (top - point[1]) / (top - bottom) * HEIGHT
        return round(x, 2), round(y, 2)

    @property
    def unit(self) -> float:
        left, right, *_ = self.problem.window
        return WIDTH / (right - left)


def ellipses(problem: Problem) -> list[list[float]]:
    """The contour lines: centre, both radii (px), and the angle (degrees) of each."""
    (a, b), (_, d) = problem.curvature
    mean, spread = (a + d) / 2, math.hypot((a - d) / 2, b)
    steep, flat = mean + spread, max(mean - spread, FLATTEST)
    turn = 0.5 * math.degrees(math.atan2(2 * b, a - d))
    scale = Scale(problem)
    x, y = scale.place(problem.best)
    radii = [(math.sqrt(2 * level / steep), math.sqrt(2 * level / flat)) for level in LEVELS]
    return [[x, y, round(rx * scale.unit, 1), round(ry * scale.unit, 1), round(-turn, 2)] for rx, ry in radii]


def plot(problem: Problem) -> str:
    """The part of the drawing that no slider moves: contour lines, axes, where the paths begin and lead."""
    rule, second = INKS["rule"][0], INKS["second"][0]
    scale = Scale(problem)
    contours = "".join(
        f'<ellipse cx="{x}" cy="{y}" rx="{rx}" ry="{ry}" transform="rotate({turn} {x} {y})" class="tc-contour" '
        f'fill="none" stroke="{rule}"/>'
        for x, y, rx, ry, turn in ellipses(problem)
    )
    zero, best, start = map(scale.place, ((0.0, 0.0), problem.best, problem.start))
    axes = (
        f'<path class="tc-axis" d="M0 {zero[1]}H{WIDTH}M{zero[0]} 0V{HEIGHT}" fill="none" stroke="{second}" '
        'stroke-dasharray="2 3"/>'
    )
    names = [
        (WIDTH - 34, zero[1] - 6, "w[0]"),
        (zero[0] + 6, 14, "w[1]"),
        (zero[0] + 6, zero[1] + 16, "0: decay pulls here"),
        (best[0] + 8, best[1] + 5, "least loss"),
        (start[0] - 14, start[1] - 10, "start"),
    ]
    words = "".join(
        f'<text class="tc-second" x="{x:.1f}" y="{y:.1f}" font-size="12" fill="{second}">{escape(text)}</text>'
        for x, y, text in names
    )
    marks = "".join(
        f'<path class="tc-mark" d="M{x - 5} {y}h10M{x} {y - 5}v10" stroke="{second}" stroke-width="2"/>'
        for x, y in (best, start)
    )
    return contours + axes + marks + words


def polyline(problem: Problem, path: Path) -> str:
    """The path as points of an SVG polyline; a path that runs far away ends outside of the window."""
    far = 20.0
    kept = [point for point in path.points if max(map(abs, point)) < far]
    return " ".join(f"{x},{y}" for x, y in map(Scale(problem).place, kept))


def sentence(problem: Problem, paths: tuple[Path, ...], settings: Settings) -> str:
    """Where the ways lead that differ, in words."""
    ends = "; ".join(
        f"{path.way} at `[{path.points[-1][0]:.2f}, {path.points[-1][1]:.2f}]`"
        for path in paths[1::2] + paths[4:]
    )
    return f"{problem.words} After {settings.steps} steps: {ends}."


def svg(problem: Problem, paths: tuple[Path, ...], settings: Settings) -> str:
    """The card as one static SVG."""
    page = Page(title(problem, settings), sentence(problem, paths, settings))
    drawn = plot(problem)
    for (meaning, dash, glyph), path in zip(LINES, paths, strict=True):
        paint = PAINTS[meaning]
        x, y = Scale(problem).place(path.points[-1])
        drawn += (
            f'<polyline points="{polyline(problem, path)}" fill="none" stroke="{paint.line}" '
            f'stroke-width="2" stroke-dasharray="{dash}"/>'
            f'<text class="tc-ink" x="{x + 6}" y="{y + 4}" font-size="11" fill="{INKS["ink"][0]}">{glyph}</text>'
        )
    clip = (
        f'<clipPath id="tc-window"><rect width="{WIDTH}" height="{HEIGHT}"/></clipPath>'
        f'<g clip-path="url(#tc-window)">{drawn}</g>'
    )
    facts = tuple(f"{glyph} {path.way}" for (_, _, glyph), path in zip(LINES, paths, strict=True))
    page.flow([(Caption(facts=facts), Drawing(clip, WIDTH, HEIGHT))])
    return page.finish([])


def title(problem: Problem, settings: Settings) -> str:
    """ "One λ, five ways: 100 times apart, lr 0.1, λ 0.1"."""
    return f"One λ, five ways: {problem.name}, lr {settings.lr:g}, λ {settings.decay:g}"


def twin(problem: Problem, paths: tuple[Path, ...], settings: Settings) -> str:
    """The paths as text: where each way stands at the start, half-way and at the end."""
    stops = (0, settings.steps // 2, settings.steps)
    width = max(len(path.way) for path in paths)
    rows = []
    for path in paths:
        at = [path.points[min(step, len(path.points) - 1)] for step in stops]
        rows.append(
            f"{path.way:<{width}}  " + "".join(f"{f'[{x:.3f}, {y:.3f}]':<16}" for x, y in at).rstrip()
        )
    betas = "({:g}, {:g})".format(*settings.betas)
    return "\n".join(
        [
            title(problem, settings),
            problem.words,
            f"momentum {settings.momentum:g} (SGD), betas {betas} (Adam, AdamW)",
            f"w at the start, after {stops[1]} and after {stops[2]} steps:",
            *rows,
        ]
    )
