"""The module tree: what a model owns and what it missed, and what a call on it visits, step by step."""

from typing import Any

from torch import nn

from torchcourse.graphs.look import PAINTS
from torchcourse.graphs.modules import COLUMNS, Mark, Route, Row, Scene, scene
from torchcourse.graphs.modules_picture import LEGEND, cells, svg, twin
from torchcourse.modules import missed, walks
from torchcourse.modules import tree as look_at

from ._card import Card, script, style

ROLES = tuple(PAINTS)
KINDS = ("module", "tensor", "missed", "rest")


def tree(model: nn.Module, optimizer: Any = None) -> "ModuleTree":
    """Show what a model owns and what it missed, with bytes, dtype, device and mode; nothing of it runs.

    optimizer: the one that trains the model, or a list of several: then parameters that it does not hold
    are marked, too. Keys 1 to 4 step through `.to(device)`, `.half()`, `.eval()`, `.apply(fn)` in
    PyTorch's real order. TypeError: model is no module, optimizer none of torch.optim.
    """
    return ModuleTree(model, optimizer)


class ModuleTree(Card):
    """What `tree` gives. `.scene` holds the rows and routes; `str()` is the text twin."""

    _esm = script("player", "treegrid", "tree")
    _css = style("xray", "player", "tree")

    def __init__(self, model: nn.Module, optimizer: Any = None) -> None:
        super().__init__()
        owned, found, routes = look_at(model), missed(model, optimizer), walks(model)
        self.scene = scene(owned, found, routes)
        self._text = twin(owned, found, routes)
        self.picture = pack(self.scene, self._text)

    def twin(self) -> str:
        return self._text

    def static_svg(self) -> str:
        return svg(self.scene)


class _Texts:
    """Every text once; rows hold its number."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {"": 0}

    def __call__(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))


def pack(shown: Scene, text: str) -> dict[str, Any]:
    """The scene as plain lists of numbers, with every text once."""
    texts = _Texts()
    rows = [_packed(row, texts) for row in shown.rows]
    return {
        "title": shown.title,
        "sentence": shown.sentence,
        "columns": ["name", *COLUMNS],
        "rows": rows,
        "routes": [_route(route, texts) for route in shown.routes],
        "texts": list(texts.numbers),
        "left": shown.left_out,
        "roles": list(ROLES),
        "legend": [[*item, int(item[1] == "missed")] for item in LEGEND],
        "twin": text,
    }


def _packed(row: Row, texts: _Texts) -> list[Any]:
    """[level, kind, opened, name, path, note, marks, cells, say]."""
    return [
        row.level,
        KINDS.index(row.kind),
        int(row.opened),
        texts(row.name),
        texts(row.path),
        texts(row.note),
        [number for mark in row.marks for number in _mark(mark, texts)],
        [texts(cell) for cell in cells(row)],
        texts(row.say),
    ]


def _mark(mark: Mark, texts: _Texts) -> tuple[int, int, int]:
    return ROLES.index(mark.role), texts(mark.words), int(mark.wrong)


def _route(route: Route, texts: _Texts) -> dict[str, Any]:
    """Steps as one flat list: row, column, before, after, row, …"""
    steps = [
        n for stop in route.stops for n in (stop.row, stop.column, texts(stop.before), texts(stop.after))
    ]
    return {"call": route.call, "why": route.why, "steps": steps}
