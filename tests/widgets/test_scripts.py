"""The scripts of a view share one scope: a name that two of them declare leaves the view undrawn."""

import re
from collections import Counter

import pytest

from torchcourse.widgets._card import HERE

DECLARED = re.compile(
    r"^(?:export )?(?:default )?(?:async )?(?:function\*? ?|class |(?:const|let|var) )(\{[^}]*\}|\[[^]]*\]|[\w$]+)",
    re.MULTILINE,
)
CALLS = [
    re.findall(r"\w+", names)
    for source in sorted(HERE.glob("*.py"))
    for names in re.findall(r'_esm = script\(((?:"\w+"(?:, )?)+)\)', source.read_text(encoding="utf-8"))
]


def declared(text: str) -> list[str]:
    """The names that a script declares outside of any block."""
    return [name for names in DECLARED.findall(text) for name in re.findall(r"[\w$]+", names)]


@pytest.mark.parametrize("names", CALLS, ids=lambda names: names[-1])
def test_a_views_scripts_declare_each_name_once(names):
    texts = ((HERE / f"{name}.js").read_text(encoding="utf-8") for name in ("words", "card", *names))
    counts = Counter(name for text in texts for name in declared(text))
    assert {"coded", "make", "wordsIn"} <= set(counts)
    assert [name for name, count in counts.items() if count > 1] == []


def test_every_kind_of_declaration_is_seen():
    text = "const A = 1;\nlet [b, c] = [1, 2];\nconst { d } = e;\nfunction f() {\n  const g = 1;\n}\n"
    text += "async function h() {}\nclass I {}\n"
    assert declared(text) == ["A", "b", "c", "d", "f", "h", "I"]


def test_every_view_was_found():
    esms = sum(source.read_text(encoding="utf-8").count("_esm = ") for source in HERE.glob("*.py"))
    assert len(CALLS) == esms - 1  # the base's docstring shows one
