"""A resumed run is the uninterrupted one, bit for bit, and each forgotten part shows."""

import random

import numpy as np
import pytest
import torch
from torch import nn

from torchcourse.checkpoints import CheckpointError, load, save

from .runs import Run


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.pt"


def test_resume_equals_an_uninterrupted_run(path):
    whole = Run()
    for _ in range(3):
        whole.epoch()
    save(path, epoch=3, best=0.25, **whole.parts)
    for _ in range(3):
        whole.epoch()

    resumed = Run(seed=99)
    resumed.epoch()
    assert load(path, **resumed.parts) == {"epoch": 3, "best": 0.25}
    resumed.losses.clear()
    for _ in range(3):
        resumed.epoch()
    assert resumed.losses == whole.losses[-12:]
    assert resumed.everything() == whole.everything()


@pytest.mark.parametrize("forgotten", ["model", "optimizer", "scheduler", "shuffle", "rng"])
def test_what_is_forgotten_shows(path, forgotten):
    whole = Run()
    whole.epoch(), whole.epoch()
    save(path, **whole.parts)
    whole.epoch(), whole.epoch()
    resumed = Run(seed=99)
    parts = {name: part for name, part in resumed.parts.items() if name != forgotten}
    load(path, rng=forgotten != "rng", **parts)
    resumed.epoch(), resumed.epoch()
    assert resumed.everything() != whole.everything()


def test_rng_false_leaves_the_generators_alone(path):
    save(path, epoch=1)
    random.seed(5), np.random.seed(5), torch.manual_seed(5)
    before = (random.getstate(), np.random.get_state()[1].tobytes(), torch.get_rng_state().tolist())
    load(path, rng=False)
    assert before == (random.getstate(), np.random.get_state()[1].tobytes(), torch.get_rng_state().tolist())


def test_saving_draws_nothing_and_changes_nothing(path):
    run = Run()
    run.epoch()
    before = run.everything()
    save(path, **run.parts)
    assert run.everything() == before


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.Generator().manual_seed(4),
        lambda: random.Random(4),
        lambda: np.random.default_rng(4),
        lambda: np.random.Generator(np.random.MT19937(4)),
        lambda: np.random.Generator(np.random.Philox(4)),
    ],
    ids=["torch", "python", "pcg64", "mt19937", "philox"],
)
def test_a_generator_of_ones_own_is_a_part(path, make):
    def draw(generator):
        if isinstance(generator, torch.Generator):
            return torch.rand(3, generator=generator).tolist()
        return [generator.random() for _ in range(3)]

    mine = make()
    draw(mine)
    save(path, mine=mine)
    expected = draw(mine)
    load(path, mine=mine)
    assert draw(mine) == expected


def test_a_gaussian_half_drawn_is_kept(path):
    random.seed(1), np.random.seed(1)
    random.gauss(0, 1), np.random.randn()  # both keep a second number for the next call
    save(path, epoch=1)
    expected = random.gauss(0, 1), np.random.randn()
    random.seed(2), np.random.seed(2)
    load(path)
    assert (random.gauss(0, 1), np.random.randn()) == expected


def test_plain_values_come_back(path):
    values = {
        "text": "two\nlines, ✓",
        "nothing": None,
        "number": -(2**70),
        "nested": {"a": [1, (2.5, True)], 3: {"x", "y"}},
        "raw": b"\x00\xff",
        "tensor": torch.arange(4).reshape(2, 2),
        "dtype": torch.bfloat16,
    }
    save(path, **values)
    back = load(path)
    assert torch.equal(back.pop("tensor"), values.pop("tensor"))
    assert back == values


def test_numpy_numbers_become_pythons(path):
    save(path, best=np.float64(0.1), deep={"history": [np.float32(0.5), np.int64(3), np.bool_(True)]})
    back = load(path)
    assert back == {"best": 0.1, "deep": {"history": [0.5, 3, True]}}
    assert type(back["best"]) is float and [type(v) for v in back["deep"]["history"]] == [float, int, bool]


def test_the_file_is_an_ordinary_file_of_torch(path):
    model = nn.Linear(2, 2)
    save(path, model=model, epoch=3)
    content = torch.load(path, weights_only=True)
    assert content["epoch"] == 3
    nn.Linear(2, 2).load_state_dict(content["model"])


def test_tied_weights_stay_tied(path):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.read = nn.Embedding(5, 3)
            self.write = nn.Linear(3, 5, bias=False)
            self.write.weight = self.read.weight

    saved, fresh = Tied(), Tied()
    save(path, model=saved)
    load(path, model=fresh)
    assert fresh.write.weight is fresh.read.weight
    assert torch.equal(fresh.read.weight, saved.read.weight)


def test_only_the_parts_that_are_asked_for(path):
    run = Run()
    run.epoch()
    save(path, epoch=1, **run.parts)
    other = Run(seed=3)
    before = other.optimizer.state_dict()
    load(path, rng=False, model=other.model)
    assert torch.equal(other.model[0].weight, run.model[0].weight)
    assert other.optimizer.state_dict() == before


def test_a_module_of_a_compiled_run_names_the_prefix(path):
    save(path, model=torch.compile(nn.Linear(2, 2)))
    with pytest.raises(CheckpointError, match=r"prefix `_orig_mod\.` \(torch\.compile\)"):
        load(path, model=nn.Linear(2, 2))


SCHEDULERS = {
    "lambda": lambda o: torch.optim.lr_scheduler.LambdaLR(o, lambda epoch: 0.9**epoch),
    "multistep": lambda o: torch.optim.lr_scheduler.MultiStepLR(o, [2, 4]),
    "onecycle": lambda o: torch.optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=20),
    "cyclic": lambda o: torch.optim.lr_scheduler.CyclicLR(o, 0.01, 0.1, cycle_momentum=False),
    "plateau": lambda o: torch.optim.lr_scheduler.ReduceLROnPlateau(o, patience=0),
    "sequence": lambda o: torch.optim.lr_scheduler.SequentialLR(
        o, [torch.optim.lr_scheduler.ConstantLR(o), torch.optim.lr_scheduler.ExponentialLR(o, 0.5)], [2]
    ),
    "warm restarts": lambda o: torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(o, 3),
}


@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")
@pytest.mark.parametrize("name", SCHEDULERS)
def test_every_scheduler_resumes(path, name):
    def made():
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        return optimizer, SCHEDULERS[name](optimizer)

    def step(scheduler):
        scheduler.step(*[1.0] * (name == "plateau"))

    optimizer, scheduler = made()
    for _ in range(3):
        step(scheduler)
    save(path, optimizer=optimizer, scheduler=scheduler)
    other_optimizer, other_scheduler = made()
    load(path, optimizer=other_optimizer, scheduler=other_scheduler)
    for _ in range(4):
        step(scheduler), step(other_scheduler)
        assert optimizer.param_groups[0]["lr"] == other_optimizer.param_groups[0]["lr"]


OPTIMIZERS = [
    "SGD",
    "Adam",
    "AdamW",
    "NAdam",
    "RAdam",
    "Adamax",
    "Adagrad",
    "Adadelta",
    "RMSprop",
    "Rprop",
    "ASGD",
]
OPTIMIZERS += ["Adafactor", "LBFGS"]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_resumes(path, name):
    def made():
        torch.manual_seed(1)
        model = nn.Linear(3, 2)
        settings = {"momentum": 0.9} if name == "SGD" else {}
        return model, getattr(torch.optim, name)(model.parameters(), lr=0.05, **settings)

    def step(model, optimizer):
        def closure():
            optimizer.zero_grad()
            loss = (model(torch.ones(1, 3)) - 1).square().sum()
            loss.backward()
            return loss

        optimizer.step(closure)

    model, optimizer = made()
    step(model, optimizer), step(model, optimizer)
    save(path, model=model, optimizer=optimizer)
    step(model, optimizer)
    other, other_optimizer = made()
    load(path, model=other, optimizer=other_optimizer)
    step(other, other_optimizer)
    assert torch.equal(model.weight, other.weight) and torch.equal(model.bias, other.bias)
