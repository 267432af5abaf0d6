"""Each check on right answers in several spellings, and on the wrong answers that people really give."""

from itertools import product
from math import prod

import numpy as np
import pytest
import torch

from torchcourse.exercises import storage as check

STRIDES_RIGHT = {
    "prod": lambda size: tuple(prod(size[k + 1 :]) for k in range(len(size))),
    "list": lambda size: [prod(size[k + 1 :]) for k in range(len(size))],
    "torch": lambda size: torch.empty(size).stride(),
}
STRIDES_WRONG = {
    "bytes": (lambda size: tuple(4 * s for s in torch.empty(size).stride()), "wrong", "count bytes"),
    "columns first": (
        lambda size: tuple(prod(size[:k]) for k in range(len(size))),
        "wrong",
        "first dimension is the fast",
    ),
    "only the next": (lambda size: (*size[1:], 1), "almost", "all* dimensions to its right"),
    "the size": (lambda size: size, "wrong", "Yours is the size"),
    "all but the scalar": (lambda size: torch.empty(size).stride() or (1,), "almost", "for size ()"),
    "a number": (lambda size: prod(size), "not yet", "return a tuple"),
}


def addresses(t):
    return {t[index].data_ptr() for index in product(*map(range, t.shape))}


SHARES_RIGHT = {"addresses": lambda a, b: bool(addresses(a) & addresses(b))}
SHARES_WRONG = {
    "names": (lambda a, b: a is b, "wrong", "its transpose"),
    "first elements": (lambda a, b: a.data_ptr() == b.data_ptr(), "wrong", "row 1"),
    "bases": (
        lambda a, b: a._base is not None and b._base is not None and a._base is b._base,
        "wrong",
        "detach",
    ),
    "storages": (
        lambda a, b: a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr(),
        "almost",
        "empty",
    ),
    "storages, not empty": (
        lambda a, b: a.numel() > 0 and a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr(),
        "almost",
        "left and the right half",
    ),
    "a tensor": (lambda a, b: torch.tensor(True), "not yet", "return True or False"),
}

MERGE_RIGHT = {
    "reshape": lambda x: x.permute(0, 2, 1, 3).reshape(2, 3, 8),
    "contiguous": lambda x: x.transpose(1, 2).contiguous().view(2, 3, 8),
    "flatten": lambda x: x.transpose(1, 2).flatten(2),
    "cat": lambda x: torch.cat(list(x.unbind(1)), dim=2),
}
MERGE_WRONG = {
    "no permute": (lambda x: x.reshape(2, 3, 8), "wrong", "numbers are mixed"),
    "view refuses": (
        lambda x: x.permute(0, 2, 1, 3).view(2, 3, 8),
        "wrong",
        "raised RuntimeError: view size",
    ),
    "dim before heads": (lambda x: x.permute(0, 2, 3, 1).reshape(2, 3, 8), "wrong", "another order"),
    "not merged": (lambda x: x.permute(0, 2, 1, 3), "wrong", "has shape (2, 3, 2, 4)"),
    "a shape": (lambda x: (2, 3, 8), "not yet", "return a tensor"),
}


def windows_from(offset, one):
    def windows(x, width, step):
        count, unit = (len(x) - width) // step + 1, one(x)
        return x.as_strided((count, width), (step * unit, unit), offset(x))

    return windows


WINDOWS_RIGHT = {
    "as_strided": windows_from(lambda x: x.storage_offset(), lambda x: x.stride(0)),
    "unfold": lambda x, width, step: x.unfold(0, width, step),
}
WINDOWS_WRONG = {
    "offset 0": (windows_from(lambda x: 0, lambda x: x.stride(0)), "almost", "storage_offset()"),
    "stride 1": (windows_from(lambda x: x.storage_offset(), lambda x: 1), "almost", "x.stride(0)"),
    "copies": (
        lambda x, w, s: torch.stack([x[k : k + w] for k in range(0, len(x) - w + 1, s)]),
        "almost",
        "were copied",
    ),
    "too few": (lambda x, w, s: x.unfold(0, w, s)[:-1], "wrong", "has shape (3, 4)"),
    "every element": (lambda x, w, s: x.unfold(0, w, 1)[:4], "wrong", "first window"),
    "a list": (lambda x, w, s: [1], "not yet", "return a tensor"),
}


def normalise_in_place(array):
    x = torch.as_tensor(array, dtype=torch.float32)
    x -= x.mean()
    return x.div_(x.std())


NORMALISE_RIGHT = {
    "copy": lambda a: (lambda x: (x - x.mean()) / x.std())(torch.tensor(a, dtype=torch.float32)),
    "no in-place": lambda a: (lambda x: (x - x.mean()) / x.std(correction=0))(torch.from_numpy(a).float()),
    "numpy": lambda a: torch.tensor((a - a.mean()) / a.std(), dtype=torch.float32),
}
NORMALISE_WRONG = {
    "in place": (normalise_in_place, "wrong", "shared its memory"),
    "float64": (lambda a: torch.from_numpy((a - a.mean()) / a.std()), "almost", "float64"),
    "mean only": (lambda a: torch.tensor(a - a.mean(), dtype=torch.float32), "wrong", "expected about"),
    "an array": (lambda a: a, "not yet", "return a tensor"),
}

MSE_RIGHT = {
    "view_as": lambda p, t: (p - t.view_as(p)).square().mean(),
    "squeeze(1)": lambda p, t: torch.nn.functional.mse_loss(p.squeeze(1), t),
    "reshape": lambda p, t: ((p.reshape(t.shape) - t) ** 2).mean(),
}
MSE_WRONG = {
    "broadcast": (lambda p, t: ((p - t) ** 2).mean(), "wrong", "all pairs"),
    "sum": (lambda p, t: ((p[:, 0] - t) ** 2).sum(), "wrong", "you say 4"),
    "no check": (lambda p, t: ((p[: len(t), 0] - t[: len(p)]) ** 2).mean(), "almost", "should raise"),
    "no mean": (lambda p, t: (p[:, 0] - t) ** 2, "not yet", "without dimensions"),
}

EXERCISES = {
    "strides": (STRIDES_RIGHT, STRIDES_WRONG),
    "shares_memory": (SHARES_RIGHT, SHARES_WRONG),
    "merge_heads": (MERGE_RIGHT, MERGE_WRONG),
    "windows": (WINDOWS_RIGHT, WINDOWS_WRONG),
    "normalise": (NORMALISE_RIGHT, NORMALISE_WRONG),
    "mse": (MSE_RIGHT, MSE_WRONG),
}


def test_every_exercise_of_the_chapter_is_tested_here():
    assert sorted(check.__all__) == sorted(EXERCISES)


@pytest.mark.parametrize(
    ("name", "spelling"), [(n, s) for n, (rights, _) in EXERCISES.items() for s in rights]
)
def test_right_answers_are_green(name, spelling):
    verdict = getattr(check, name)(EXERCISES[name][0][spelling])
    assert verdict.state == "right", verdict


@pytest.mark.parametrize(
    ("name", "mistake"), [(n, m) for n, (_, wrongs) in EXERCISES.items() for m in wrongs]
)
def test_typical_mistakes_stay_red_and_are_named(name, mistake):
    answer, state, words = EXERCISES[name][1][mistake]
    verdict = getattr(check, name)(answer)
    assert verdict.state == state and words in verdict.why, verdict


@pytest.mark.parametrize("name", EXERCISES)
def test_stubs_are_not_yet(name):
    assert getattr(check, name)(lambda *_: ...).state == "not yet"
    assert getattr(check, name)(None).state == "not yet"


def test_a_check_leaves_numpy_and_torch_alone():
    before = torch.get_rng_state(), np.random.get_state()[1].tolist()
    check.normalise(normalise_in_place)
    assert torch.equal(torch.get_rng_state(), before[0]) and np.random.get_state()[1].tolist() == before[1]


def test_an_mse_may_be_of_another_number_type():
    def mse(prediction, target):
        assert prediction.shape[0] == target.shape[0]
        return (prediction[:, 0] - target).double().pow(2).mean()

    assert check.mse(mse).state == "right"
    assert check.mse(lambda p, t: torch.tensor(3)).state == "wrong"


def test_a_normalised_array_of_another_shape_is_told():
    assert "the array has (4,)" in check.normalise(lambda array: torch.zeros(3)).why
