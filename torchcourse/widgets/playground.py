"""The decay playground: one λ, five ways to use it, from the same start, with sliders that need no kernel."""

from dataclasses import asdict
from typing import Any

from torchcourse.graphs import decay as pictures
from torchcourse.optimizers.decay import PROBLEMS, WAYS, Problem, Settings, path

from ._card import Card, script, style

# What the sliders offer; `playground` takes other numbers too, which then join the list.
CHOICES: dict[str, tuple[float, ...]] = {
    "lr": (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4),
    "decay": (0.0, 0.01, 0.03, 0.1, 0.2, 0.5, 1.0),
    "momentum": (0.0, 0.5, 0.8, 0.9, 0.95),
    "beta1": (0.0, 0.5, 0.9, 0.99),
    "beta2": (0.9, 0.99, 0.999),
}
MOST_STEPS = 1000


def playground(
    *,
    lr: float = 0.1,
    weight_decay: float = 0.1,
    momentum: float = 0.9,
    betas: tuple[float, float] = (0.9, 0.999),
    steps: int = 60,
) -> "DecayPlayground":
    """SGD, Adam and AdamW from one start with one λ: in the loss, as `weight_decay`, and decoupled.

    The arguments are where the sliders begin. In the browser the paths are computed anew at every
    move of a slider, without a message to the kernel, by the rules of `torchcourse.optimizers`.
    ValueError, with a sentence: a negative lr or weight_decay, a momentum or beta outside of 0 to 1, and a
    number of steps outside of 1 to 1000.
    """
    settings = Settings(lr, weight_decay, momentum, betas, steps)
    _check(settings)
    return DecayPlayground(settings)


def _check(settings: Settings) -> None:
    for name, value in (("lr", settings.lr), ("weight_decay", settings.decay)):
        if not isinstance(value, int | float) or not 0 <= value <= 10:
            raise ValueError(f"{name} is {value!r}; the playground takes a number from 0 to 10.")
    if not isinstance(settings.betas, tuple | list) or len(settings.betas) != 2:
        raise ValueError(f"betas is {settings.betas!r}; Adam has two of them: betas=(0.9, 0.999).")
    for name, value in (("momentum", settings.momentum), *(("a beta", beta) for beta in settings.betas)):
        if not isinstance(value, int | float) or not 0 <= value < 1:
            raise ValueError(
                f"{name} is {value!r}; it says which part is kept, so it is 0 or more and below 1."
            )
    if not isinstance(settings.steps, int) or not 1 <= settings.steps <= MOST_STEPS:
        raise ValueError(f"steps is {settings.steps!r}; give a whole number from 1 to {MOST_STEPS}.")


class DecayPlayground(Card):
    """What `playground` gives. `.settings` is where the sliders begin."""

    _esm = script("player", "decay_rules", "playground")
    _css = style("player", "playground")

    def __init__(self, settings: Settings, problem: Problem = PROBLEMS[0]) -> None:
        super().__init__()
        self.settings, self.problem = settings, problem
        self.paths = tuple(path(problem, way, settings) for way in WAYS)
        self.picture = picture(settings)

    def twin(self) -> str:
        return pictures.twin(self.problem, self.paths, self.settings)

    def static_svg(self) -> str:
        return pictures.svg(self.problem, self.paths, self.settings)


def picture(settings: Settings) -> dict[str, Any]:
    """All that the browser needs: the problems with their drawn losses, the ways, and where sliders begin."""
    first = {
        "lr": settings.lr,
        "decay": settings.decay,
        "momentum": settings.momentum,
        "beta1": settings.betas[0],
        "beta2": settings.betas[1],
    }
    return {
        "title": "One λ, five ways",
        "problems": [{**asdict(problem), "plot": pictures.plot(problem)} for problem in PROBLEMS],
        "ways": [
            {
                "name": way.name,
                "optimizer": way.optimizer.__name__,
                "in_loss": way.in_loss,
                "line": list(line),
            }
            for way, line in zip(WAYS, pictures.LINES, strict=True)
        ],
        "choices": {name: sorted({*CHOICES[name], value}) for name, value in first.items()},
        "first": first,
        "steps": settings.steps,
        "size": [pictures.WIDTH, pictures.HEIGHT],
    }
