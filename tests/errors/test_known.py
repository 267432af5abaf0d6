"""Every kind is told by its texts, in the right chapter; other libraries' errors are not known."""

import json
from functools import cache
from pathlib import Path

import pytest

from torchcourse._slugs import SLUGS
from torchcourse.errors import KINDS, explain

DATA = json.loads((Path(__file__).parents[1] / "data" / "errors.json").read_text(encoding="utf-8"))
CHAPTERS = {
    *("layers", "storage", "autograd", "devices", "allocator", "modules", "checkpoints", "training"),
    *("export", "optimizers", "randomness", "debugging", "bug_hunt"),
}


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: case["id"])
def test_a_case_is_known_in_one_of_its_chapters(case):
    for message in case["messages"]:
        seen = explain(message)
        assert seen.known, message
        assert seen.chapter in case["chapters"], (seen.kind, message)


@cache
def kinds_of_cases():
    return {explain(message).kind for case in DATA["cases"] for message in case["messages"]}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.slug)
def test_a_kind_is_told_by_its_own_texts(kind):
    texts = DATA["known"].get(kind.slug, [])
    assert texts or kind.slug in kinds_of_cases(), "a new kind needs a text in tests/data/errors.json"
    for text in texts:
        assert explain(text).kind == kind.slug, text


def test_a_text_belongs_to_a_kind():
    assert DATA["known"].keys() <= {kind.slug for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.slug)
def test_an_entry_is_complete(kind):
    assert kind.taught_in in CHAPTERS
    assert bool(kind.chapter) != (kind.slug in SLUGS), (
        "the chapter stands in the entry, or in the table of slugs"
    )
    assert kind.what and kind.causes and kind.mend and kind.check
    assert all(
        isinstance(texts, tuple) for texts in (kind.says, kind.causes, kind.reads, kind.here, kind.wrong)
    )
    assert all(text == text.lower() for text in (*kind.needs, *kind.unless)), "compared with small letters"
    for sentence in (kind.what, kind.check, *kind.causes, *kind.wrong):
        assert 10 < len(sentence) < 700


def test_slugs_are_one_each():
    slugs = [kind.slug for kind in KINDS]
    assert len(set(slugs)) == len(slugs)


def test_harmful_advice_is_named_as_such():
    harmful = " ".join(advice for kind in KINDS for advice in kind.wrong)
    for advice in (
        *(
            "owngrading torch",
            "loss.requires_grad = True",
            "retain_graph=True",
            "strict=False",
            "weights_only=False",
        ),
        *("optimizer state", "num_workers=0", "error_if_nonfinite=False", "assertion out", "smaller batch"),
        *("Ignoring the warning", "nvcc"),
    ):
        assert advice in harmful, advice


@pytest.mark.parametrize("text", DATA["foreign"], ids=lambda text: text[:40])
def test_errors_of_others_are_not_known(text):
    seen = explain(text)
    assert not seen.known and seen.kind is None and seen.chapter is None
    assert seen.what.startswith("Not known")


def test_numbers_of_an_out_of_memory_message_are_named():
    seen = explain(
        "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 3.95 GiB total capacity; 2.42 GiB already "
        "allocated; 5.62 MiB free; 2.77 GiB reserved in total by PyTorch)"
    )
    assert {"20.00 MiB", "3.95 GiB", "2.42 GiB", "5.62 MiB"} <= {value for _, value in seen.values}
    assert "20.00 MiB" in seen.what
