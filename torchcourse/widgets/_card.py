"""The base of all views: an anywidget whose front end is the shared card plus one script of its own.

A view is always three things: the live card, a static picture of it, and a text twin that says the
same. Whichever page shows the cell takes the best one that it can.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from torchcourse import _glossary
from torchcourse.graphs.look import css_variables

HERE = Path(__file__).parent
# What only a reader of the source needs: comments on lines of their own, and indents.
_FOR_READERS = re.compile(r"^ *(?:(?://[^\n]*|/\*.*?\*/)?\n)?", re.MULTILINE | re.DOTALL)


@cache
def script(*names: str) -> str:
    """The ES module of one view: the card's script and its own parts, joined, so that none imports.

    The last name is the view's; before all else stand the words of the glossary that it uses. Comments
    and indents stay behind, since the module goes out with each view.
    """
    known = f"const WORDS = {_glossary.words(names[-1] if names else '')};"
    parts = ((HERE / f"{name}.js").read_text(encoding="utf-8") for name in ("words", "card", *names))
    return _FOR_READERS.sub("", "\n".join((known, *parts)))


@cache
def style(*names: str) -> str:
    """The look of all views, with the colours of `graphs.look` put in, and a view's own parts of it."""
    look, *parts = [(HERE / f"{name}.css").read_text(encoding="utf-8") for name in ("look", *names)]
    look = look.replace("/* @light */", css_variables(dark=False))
    look = look.replace("/* @dark */", css_variables(dark=True))
    return _FOR_READERS.sub("", "\n".join([look, *parts]))


class Card(anywidget.AnyWidget):
    """A view: `picture` is all that the browser needs, in one message; `str()` is its text twin.

    Subclasses set `_esm = script("name", …)`, give `twin()` and `static_svg()`, and put plain data
    (JSON) into `picture`.
    """

    _css = style()
    picture = traitlets.Dict().tag(sync=True)

    def twin(self) -> str:
        """What the view shows, as text."""
        raise NotImplementedError

    def static_svg(self) -> str:
        """What the view shows before anything is pointed at, as one SVG."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.twin()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.picture.get('title', 'empty')}>"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, *rest = bundle if isinstance(bundle, tuple) else (bundle,)
        return ({**data, "text/plain": self.twin(), "image/svg+xml": self.static_svg()}, *(rest or [{}]))
