"""The sentences of a recorded backward: what each step received, did and sent, in words and numbers."""

from collections.abc import Sequence

from torchcourse.autograd import Stats

LONGEST = 16  # characters of a name in a box
FEW = 4  # elements that a sentence lists

# What goes to each input of a node with several (slot by slot), where one formula says it; the other nodes
# have the sentence of `autograd.rule`. Names are those of tools/autograd/derivatives.yaml.
BY_INPUT = {
    "Add": ("grad", "grad·alpha"),
    "Sub": ("grad", "−grad·alpha"),
    "Rsub": ("−grad·alpha", "grad"),
    "Mul": ("grad·other", "grad·self"),
    "Div": ("grad / other", "−grad·self / other²"),
    "Pow": ("grad·exponent·self^(exponent − 1)", "grad·result·log self"),
    "Mm": ("grad @ mat2ᵀ", "selfᵀ @ grad"),
    "Bmm": ("grad @ mat2ᵀ", "selfᵀ @ grad"),
    "Mv": ("grad ⊗ vec", "selfᵀ @ grad"),
    "Dot": ("grad·tensor", "grad·self"),
    "Addmm": ("grad summed over rows", "grad @ mat2ᵀ", "mat1ᵀ @ grad"),
    "MseLoss": ("2·grad·(self − target) / n", "−2·grad·(self − target) / n"),
}


def short(name: str) -> str:
    """A node's name without the part that all share: "MulBackward0" -> "Mul"."""
    return name.rstrip("0123456789").removesuffix("Backward") or name


def formula(name: str, slot: int) -> str:
    """What a node sends to one input: "MulBackward0", 0 -> "grad·other"; "" where no formula is written."""
    found = BY_INPUT.get(short(name), ())
    return found[slot] if slot < len(found) else ""


def brief(stats: Stats | None) -> str:
    """A gradient for a box or wire: "6.0", the norm "‖3.46‖", or "None"."""
    if stats is None:
        return "None"
    value = _single(stats)
    if value is not None:
        return number(value)
    return f"‖{stats.norm:.3g}‖" if stats.norm is not None else size(stats.shape)


def amount(stats: Stats | None) -> str:
    """A gradient for a sentence: "`6.0`", "`[1.0, 2.0]`", "`3×4` of norm `3.46`"."""
    if stats is None:
        return "nothing"
    value = _single(stats)
    if value is not None:
        return f"`{number(value)}`"
    if stats.values is not None and len(stats.values) <= FEW and len(stats.shape) == 1:
        return f"`[{', '.join(map(_any_number, stats.values))}]`"
    what = f"`{size(stats.shape)}`{' elements' if len(stats.shape) == 1 else ''}"
    return what + (f" of norm `{number(stats.norm)}`" if stats.norm is not None else "")


def flowing(words: str, stats: Stats) -> str:
    """What is sent, by which formula: "grad·other = `12.0`", "grad @ mat2ᵀ (norm `0.304`)"."""
    if _single(stats) is None and stats.norm is not None:
        norm = f"norm `{number(stats.norm)}`"
        return f"{words} ({norm})" if words else norm
    return f"{words} = {amount(stats)}" if words else amount(stats)


def _single(stats: Stats) -> float | None:
    """The value of a real gradient of one element."""
    one = stats.values[0] if stats.values and len(stats.values) == 1 else None
    return one if isinstance(one, float | int) else None


def _any_number(value: float | complex) -> str:
    return str(value) if isinstance(value, complex) else number(value)


def number(value: float) -> str:
    """Four digits, as Python writes floats: "6.0", "0.03333", "1.2e+08"."""
    text = f"{value:.4g}"
    return text if any(c in text for c in ".en") else f"{text}.0"  # "e", "nan", "inf" stand as they are


def size(shape: Sequence[int] | None) -> str:
    """ "3×4"; nothing for one number or an unknown shape."""
    return "×".join(map(str, shape)) if shape else ""


def cut(name: str, longest: int = LONGEST) -> str:
    """A name that fits a box: its beginning."""
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def ending(name: str, longest: int = LONGEST) -> str:
    """A path that fits a box: its end, where "layer1.0.conv1.weight" and "…0.conv1.bias" differ."""
    return name if len(name) <= longest else f"…{name[-(longest - 1) :].lstrip('.')}"


def joined(parts: Sequence[str], most: int = 3) -> str:
    """ "a", "a and b", "a, b and 4 more"."""
    shown = list(parts) if len(parts) <= most else [*parts[: most - 1], f"{len(parts) - most + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def counted(n: int, what: str) -> str:
    """ "1 node", "6 nodes"."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"
