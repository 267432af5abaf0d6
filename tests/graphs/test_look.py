"""The colours keep what they promise: readable text, visible lines, and lines that nobody confuses."""

from itertools import combinations

import numpy as np
import pytest

from torchcourse.graphs.look import GLYPHS, INKS, PAINTS, css_variables

THEMES = {"light": 0, "dark": 1}

# Machado, Oliveira, Fernandes 2009, full severity, on linear RGB.
BLINDNESS = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def fill(name, theme):
    return PAINTS[name].dark_fill if theme == "dark" else PAINTS[name].fill


def line(name, theme):
    return PAINTS[name].dark_line if theme == "dark" else PAINTS[name].line


def ink(name, theme):
    return INKS[name][THEMES[theme]]


def linear(colour):
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def contrast(a, b):
    weights = np.array([0.2126, 0.7152, 0.0722])
    low, high = sorted((linear(a) @ weights, linear(b) @ weights))
    return (high + 0.05) / (low + 0.05)


def lab(rgb):
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ rgb
    t = xyz / np.array([0.9505, 1.0, 1.089])
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", PAINTS)
def test_text_and_lines_are_readable(name, theme):
    # The promise is stated to one decimal.
    assert round(contrast(ink("ink", theme), fill(name, theme)), 1) >= 9.8
    assert round(contrast(line(name, theme), ink("page", theme)), 1) >= 3.7


@pytest.mark.parametrize("theme", THEMES)
def test_both_inks_are_readable_on_the_page(theme):
    assert contrast(ink("ink", theme), ink("page", theme)) >= 7
    assert contrast(ink("second", theme), ink("page", theme)) >= 4.5


@pytest.mark.parametrize(("kind", "least"), [("protanopia", 18), ("deuteranopia", 16), ("tritanopia", 10)])
@pytest.mark.parametrize("theme", THEMES)
def test_no_two_lines_look_alike_to_colour_blind_eyes(kind, least, theme):
    seen = {
        name: lab(np.clip(np.array(BLINDNESS[kind]) @ linear(line(name, theme)), 0, 1)) for name in PAINTS
    }
    nearest = min(np.linalg.norm(seen[a] - seen[b]) for a, b in combinations(PAINTS, 2))
    assert nearest >= least - 0.5


def test_every_meaning_has_a_glyph_of_its_own():
    assert GLYPHS.keys() == PAINTS.keys() and len(set(GLYPHS.values())) == len(GLYPHS)


@pytest.mark.parametrize("theme", THEMES)
def test_the_style_sheet_gets_every_colour(theme):
    text = css_variables(dark=theme == "dark")
    for name in PAINTS:
        assert f"--tc-{name}-fill: {fill(name, theme)};" in text
        assert f"--tc-{name}-line: {line(name, theme)};" in text
