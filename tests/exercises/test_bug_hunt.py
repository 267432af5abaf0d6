"""The bug hunt: each fault is seen by its own probe and by no other, and any right mend counts."""

import contextlib
import json
import random
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from torchcourse.exercises import bug_hunt
from torchcourse.exercises.bug_hunt import _mended, _module
from torchcourse.exercises.bug_hunt._faults import POOL
from torchcourse.exercises.bug_hunt._plan import Hunt, assembled, planted
from torchcourse.exercises.bug_hunt._probes import PROBES
from torchcourse.exercises.bug_hunt._script import PARTS

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "12_bug_hunt.ipynb"
SLUGS = {fault.slug: fault for fault in POOL}
SEEDS = range(20)


def script(folder, *slugs, seed=0):
    """The names of a script with these faults in it."""
    game = Hunt(seed, tuple(assembled(tuple(SLUGS[slug] for slug in slugs)).items()), ())
    path = folder / f"{len(list(folder.iterdir()))}.py"
    path.write_text(game.text, encoding="utf-8")
    return vars(_module(path))


def unmended(names):
    return [fault.slug for fault in POOL if not _mended(fault, names)]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    return script(tmp_path_factory.mktemp("sound"))


def test_the_pool():
    assert len(POOL) >= 16 and len({fault.chapter for fault in POOL}) >= 9
    assert PROBES.keys() == SLUGS.keys() and len(SLUGS) == len(POOL)


def test_the_sound_script_is_all_green_and_learns(sound):
    assert unmended(sound) == []
    for seed in (0, 1):
        score = bug_hunt.check(sound, seed)
        assert len(score.mended) == 10 and not score.broken
    _, accuracy, losses = sound["run"]()
    assert accuracy > 0.95 and losses[-1] < 0.8


@pytest.mark.parametrize("slug", SLUGS)
def test_each_fault_is_seen_by_its_own_probe_and_by_no_other(slug, tmp_path):
    assert unmended(script(tmp_path, slug)) == [slug]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_seed_gives_ten_faults_of_ten_chapters(seed, tmp_path):
    faults = planted(seed)
    assert len({fault.chapter for fault in faults}) == len(faults) == 10
    assert bug_hunt.hunt(seed) == bug_hunt.hunt(seed)
    score = bug_hunt.check_file(bug_hunt.write(seed, tmp_path / "hunt.py"))
    assert (score.total, score.broken, score.seed) == ("0 of 10 mended", (), seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_script_raises_at_once(seed, tmp_path):
    with contextlib.redirect_stdout(None):
        names = script(tmp_path, *(fault.slug for fault in planted(seed)))
        model, accuracy, losses = names["run"](epochs=1)
        names["save"](tmp_path / "digits.pt", model, *names["make_optimizer"](model, 2), 1)
        assert names["resume"](tmp_path / "digits.pt", model, *names["make_optimizer"](model, 2)) == 2
    assert 0 < accuracy < 1 and len(losses) == 24


@pytest.mark.parametrize("seed", [0, 8])
def test_with_nine_faults_left_the_tenth_counts(seed, tmp_path):
    slugs = [fault.slug for fault in planted(seed)]
    for mended in slugs:
        names = script(tmp_path, *(slug for slug in slugs if slug != mended))
        assert bug_hunt.check(names, seed).mended == (mended,)


def test_seeds_differ_and_are_stable():
    assert len({bug_hunt.hunt(seed).text for seed in SEEDS}) > 15
    assert [fault.slug for fault in planted(0)][:3] == [
        "one-row-ten-times",
        "graph-in-evaluation",
        "softmax-twice",
    ]


# Other right mends than the script's own lines. Each gets the names that it may call.


def by_bincount(names):
    def confusion(guesses, labels):
        return torch.bincount(labels * 10 + guesses, minlength=100).view(10, 10)

    return {"confusion": confusion}


def inference(names):
    return {"evaluate": torch.inference_mode()(names["evaluate"])}


def all_at_once(names):
    def evaluate(model, images, labels):
        model.eval()
        with torch.no_grad():
            return (model(images).argmax(1) == labels).float().mean().item()

    return {"evaluate": evaluate}


def clone_first(names):
    return {"noisy": lambda images: images.clone().add_(torch.randn_like(images), alpha=0.1)}


def grey_by_integers(names):
    def load_data():
        from sklearn.datasets import load_digits

        digits = load_digits()
        images, labels = (
            torch.from_numpy(digits.images).flatten(1).float().div(16),
            torch.tensor(digits.target),
        )
        return (images[300:], labels[300:]), (images[:300], labels[:300])

    return {"load_data": load_data}


def one_body(names):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU())
            self.head = nn.Linear(32, 10)

        def forward(self, images):
            return self.head(self.body(images - 0.3))

    return {"Net": Net}


def loss_of_probabilities(names):
    """The other way to have one softmax: the model keeps its own."""

    class Net(names["Net"]):
        def forward(self, images):
            return super().forward(images).softmax(1)

    def smoothed_loss(probabilities, labels):
        targets = torch.full_like(probabilities, 0.01).scatter_(1, labels[:, None], 0.91)
        return -(targets * probabilities.log()).sum(1).mean()

    return {"Net": Net, "smoothed_loss": smoothed_loss}


def torchs_own_loss(names):
    return {"smoothed_loss": lambda scores, labels: F.cross_entropy(scores, labels, label_smoothing=0.1)}


def cleared_after_the_step(names):
    def train_epoch(model, loader, optimizer):
        model.train()
        losses = []
        for images, labels in loader:
            loss = F.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            model.zero_grad()
            losses.append(loss.detach())
        return losses

    return {"train_epoch": train_epoch}


def cloned_tensors(names):
    def keep_best(best, model, accuracy):
        if best and best[0] >= accuracy:
            return best
        return accuracy, {name: tensor.clone() for name, tensor in model.state_dict().items()}

    return {"keep_best": keep_best}


def in_a_loop(names):
    def resume(path, model, optimizer, scheduler):
        states = torch.load(path, weights_only=True)
        for name, part in (("model", model), ("optimizer", optimizer), ("scheduler", scheduler)):
            part.load_state_dict(states[name])
        return states["epoch"] + 1

    return {"resume": resume}


def linear_rate(names):
    def make_optimizer(model, epochs):
        decayed, others = [], []
        for name, parameter in model.named_parameters():
            (decayed if name.endswith("weight") and parameter.dim() > 1 else others).append(parameter)
        groups = [{"params": decayed}, {"params": others, "weight_decay": 0}]
        optimizer = torch.optim.Adam(groups, lr=0.01, weight_decay=0.05, decoupled_weight_decay=True)
        return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 - epoch / epochs)

    return {"make_optimizer": make_optimizer}


def a_copy_in_eval_mode(names):
    def export(model, example):
        from copy import deepcopy

        shapes = ({0: torch.export.Dim.AUTO},)
        return torch.export.export(deepcopy(model).train(False), (example,), dynamic_shapes=shapes)

    return {"export": export}


def torchs_noise(names):
    return {"noisy": lambda images: images + 0.1 * torch.randn(images.shape)}


def a_sampler(names):
    def make_loader(images, labels, generator):
        samples = torch.utils.data.TensorDataset(images, labels)
        sampler = torch.utils.data.RandomSampler(samples, generator=generator)
        return torch.utils.data.DataLoader(samples, 64, sampler=sampler)

    return {"make_loader": make_loader}


OTHER = {
    "counted-one-by-one": all_at_once,
    "noise-in-place": clone_first,
    "one-row-ten-times": by_bincount,
    "grey-levels-lost": grey_by_integers,
    "gradient-cut": one_body,
    "gradients-add-up": cleared_after_the_step,
    "made-on-the-cpu": torchs_own_loss,
    "graph-in-evaluation": inference,
    "layer-in-a-list": one_body,
    "tensor-not-registered": one_body,
    "evaluated-in-train-mode": all_at_once,
    "best-is-an-alias": cloned_tensors,
    "optimizer-not-restored": in_a_loop,
    "softmax-twice": loss_of_probabilities,
    "rate-never-falls": linear_rate,
    "exported-in-train-mode": a_copy_in_eval_mode,
    "batch-size-frozen": a_copy_in_eval_mode,
    "decay-through-the-gradient": linear_rate,
    "decay-for-all": linear_rate,
    "numpy-not-seeded": torchs_noise,
    "order-from-the-global-generator": a_sampler,
    "history-with-graphs": cleared_after_the_step,
    "logarithm-of-zero": torchs_own_loss,
}


@pytest.mark.parametrize("slug", SLUGS)
def test_another_right_mend_counts(slug, tmp_path):
    names = script(tmp_path) if slug == "softmax-twice" else script(tmp_path, slug)
    names = names | OTHER[slug](names)
    assert slug not in unmended(names)


# Answers that take the work away, or move the fault: still "not yet".
WRONG = {
    "noise-in-place": {"noisy": lambda images: images},
    "counted-one-by-one": {"evaluate": lambda model, images, labels: 0.97},
    "graph-in-evaluation": {"evaluate": lambda model, images, labels: 0.97},
    "evaluated-in-train-mode": {"evaluate": lambda model, images, labels: 0.97},
    "gradients-add-up": {"train_epoch": lambda model, loader, optimizer: [0.0, 0.0]},
    "history-with-graphs": {"train_epoch": lambda model, loader, optimizer: []},
    "one-row-ten-times": {"confusion": lambda guesses, labels: torch.zeros(10, 10)},
    "best-is-an-alias": {"keep_best": lambda best, model, accuracy: (accuracy, dict(model.state_dict()))},
    "decay-for-all": {
        "make_optimizer": lambda model, epochs: (torch.optim.AdamW(model.parameters(), weight_decay=0), None)
    },
    "decay-through-the-gradient": {
        "make_optimizer": lambda model, epochs: (torch.optim.Adam(model.parameters()), None)
    },
    "numpy-not-seeded": {"set_seed": torch.manual_seed},
    "order-from-the-global-generator": {
        "make_loader": lambda images, labels, generator: [(images, labels)],
    },
    "exported-in-train-mode": {"export": lambda model, example: model},
    "softmax-twice": {"Net": lambda: nn.Sequential(nn.Linear(64, 10), nn.Softmax(1))},
    "logarithm-of-zero": {"smoothed_loss": lambda scores, labels: (scores.softmax(1) + 0).log().mean()},
}


@pytest.mark.parametrize("slug", WRONG)
def test_a_wrong_mend_does_not_count(slug, sound):
    assert not _mended(SLUGS[slug], sound | WRONG[slug])


def test_a_new_fault_and_a_missing_function_are_told(sound):
    names = {**sound, "noisy": WRONG["noise-in-place"]["noisy"]}
    del names["export"]
    score = bug_hunt.check(names)  # seed 0 plants nothing in noisy
    assert score.broken == (
        "`export` is not there: run its cell, and keep its name.",
        "`noisy` has a fault that was not there in the beginning.",
    )
    assert "exported-in-train-mode" not in score.mended


def test_functions_that_raise_or_talk_do_no_harm(capsys):
    def loud(*args, **kwargs):
        print("here")
        torch.manual_seed(9), np.random.seed(9), random.seed(9)
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        raise KeyError("why")

    before = torch.get_rng_state(), np.random.get_state()[1].tolist(), random.getstate()
    names = dict.fromkeys(PARTS, loud)
    assert bug_hunt.check(names).total == "0 of 10 mended"
    assert names == dict.fromkeys(PARTS, loud)
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1:] == (np.random.get_state()[1].tolist(), random.getstate())
    assert torch.is_grad_enabled() and torch.get_default_dtype() == torch.float32
    assert capsys.readouterr().out == ""


def test_the_score_tells_no_place(tmp_path):
    names = script(tmp_path, *(fault.slug for fault in planted(0)))
    score = bug_hunt.check(names)
    for text in (str(score), score._repr_html_()):
        assert not any(f"`{part}`" in text for part in PARTS)
        assert not any(fault.slug in text or fault.line in text for fault in POOL)
    assert str(score) == repr(score) == str(bug_hunt.check(names))
    assert all(symptom in str(score) for symptom in bug_hunt.hunt(0).symptoms)


def test_hints():
    for seed in (0, 5):
        for number, fault in enumerate(planted(seed), 1):
            steps = [bug_hunt.hint(number, step, seed) for step in (1, 2, 3)]
            assert steps == [fault.tool, f"It is in `{fault.part}`.", fault.line]
            assert f"`{fault.part.split('.')[0]}" in fault.line
    for number, step in ((0, 1), (11, 1), (1, 4), ("1", 1)):
        with pytest.raises(ValueError, match="symptoms go from 1 to 10, steps from 1 to 3"):
            bug_hunt.hint(number, step)


def test_bad_calls(tmp_path):
    with pytest.raises(TypeError, match="a seed is an integer; got str"):
        bug_hunt.hunt("0")
    with pytest.raises(ValueError, match="a seed is 0 or more; got -1"):
        bug_hunt.hunt(-1)
    with pytest.raises(TypeError, match="hand over globals"):
        bug_hunt.check(3)
    with pytest.raises(ValueError, match="the script has no 'main'; it has set_seed"):
        bug_hunt.hunt(0).part("main")
    path = bug_hunt.write(3, tmp_path / "hunt.py")
    text = path.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="is there already"):
        bug_hunt.write(3, path)
    assert path.read_text(encoding="utf-8") == text
    with pytest.raises(ValueError, match=r"there is no file 'none\.py'"):
        bug_hunt.check_file(tmp_path / "none.py")
    path.write_text("import", encoding="utf-8")
    with pytest.raises(ValueError, match="says no seed"):
        bug_hunt.check_file(path)
    with pytest.raises(ValueError, match=r"hunt\.py can't be imported: SyntaxError"):
        bug_hunt.check_file(path, seed=3)
    other = tmp_path / "hunt.txt"
    other.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"should end in \.py"):
        bug_hunt.check_file(other)


def test_the_notebook_holds_the_script_of_seed_0_and_its_hints():
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    for name, text in bug_hunt.hunt(0).parts:
        assert code.count(text) == 1, f"the cell of {name} is not the script's"
    prose = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    for number, symptom in enumerate(bug_hunt.hunt(0).symptoms, 1):
        assert f"**{number}.** {symptom}" in prose
    assert len(re.findall(r"<summary>Hint [123]", prose)) == 30
    assert f"a pool of {len(POOL)}" in prose


def test_the_script_is_as_long_as_one_reads():
    lines = bug_hunt.hunt(0).text.splitlines()
    assert 100 <= len(lines) <= 175 and max(map(len, lines)) <= 95
    assert all(len(text.splitlines()) <= 20 for _, text in bug_hunt.hunt(0).parts)
    assert str(bug_hunt.hunt(0)).startswith('  1  """Trains')
