"""One look for all views: the colours, each with one meaning and one glyph.

`css_variables()` gives them to the live views, `paint(meaning)` to the static pictures, so that
there is one table. The contrasts that this table promises are held by `tests/graphs/test_look.py`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Paint:
    """Fill and line of one meaning (hex), in the light and in the dark theme."""

    fill: str
    line: str
    dark_fill: str
    dark_line: str


# Fill carries text, line carries meaning. Never by hue alone: the glyph says the same.
PAINTS = {
    "base": Paint("#DCEEFB", "#0067A3", "#12324A", "#5CB3FF"),  # base, new storage, parameter
    "view": Paint("#FFF1CC", "#AD7800", "#413410", "#FFD873"),  # view, temporary
    "now": Paint("#FFE6D6", "#A03A00", "#4A2A14", "#FF8A4C"),  # now, in place, gradient, damage
    "run": Paint("#D8F3E9", "#007356", "#0F3B2E", "#3DD6A3"),  # running, activation, right
    "wait": Paint("#F9E1EF", "#7E2263", "#44223A", "#F7A8DA"),  # wait, optimizer state
    "rest": Paint("#ECEFF2", "#7B8793", "#2A3036", "#8492A0"),  # to come; dashed: done, past, free
}
GLYPHS = {"base": "●", "view": "◐", "now": "✎", "run": "✓", "wait": "‖", "rest": "·"}

# name -> (light, dark)
INKS = {
    "ink": ("#1F2328", "#E6E6E6"),
    "second": ("#59636E", "#A3ADB8"),
    "page": ("#FFFFFF", "#111111"),
    "rule": ("#D1D9E0", "#3A4048"),
}

TEXT_FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
CODE_FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def css_variables(dark: bool) -> str:
    """The table as CSS declarations: `--tc-base-fill: #…; --tc-base-line: …; --tc-ink: …`."""
    pairs = [(f"{name}", inks[dark]) for name, inks in INKS.items()]
    for name, paint in PAINTS.items():
        pairs.append((f"{name}-fill", paint.dark_fill if dark else paint.fill))
        pairs.append((f"{name}-line", paint.dark_line if dark else paint.line))
    return " ".join(f"--tc-{name}: {colour};" for name, colour in pairs)


def px(value: float) -> str:
    """A length in pixels as an attribute's text: to a tenth, "12" rather than "12.0"."""
    return f"{value:.1f}".removesuffix(".0")
