"""Models whose source an exporter takes in part; the numbers of their lines are found by their text."""

import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        h = self.lin(x)
        return h.relu()


class Net(nn.Module):
    """Everything that an export leaves behind: a branch, a print, an assert, a loop, a size, an attribute."""

    def __init__(self):
        super().__init__()
        self.head = Head()
        self.table = torch.arange(4.0)

    def forward(self, x):
        """Not a line that runs."""
        print("batch of", len(x))
        assert x.ndim == 2
        # a comment
        if x.shape[0] > 1:
            y = self.head(x)
        else:
            y = x * 2
            return y
        for i in range(x.shape[0]):
            y = y + i
        n = len(x) * 4
        y = y.reshape(n)
        y = y * 5
        return y.reshape(-1, 4) + self.table


class ByValue(nn.Module):
    def forward(self, x):
        y = x * 2
        if y.sum() > 0:
            y = y + 1
        return y


class Cond(nn.Module):
    def forward(self, x):
        def yes(x):
            return x + 1

        def no(x):
            return x - 1

        return torch.cond(x.sum() > 0, yes, no, (x,))


class Still(nn.Module):
    """A block without grad, and an operator of several outputs."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        y = x * 2
        with torch.no_grad():
            _a, b = self.lin(y).chunk(2)
        return b + y


class Nested(nn.Module):
    def forward(self, x):
        for i in range(2):
            for _ in range(3):
                x = x * 2
            x = x + i
        for _ in range(4): x = x.relu()  # fmt: skip  # noqa: E701
        k = 0
        while k < 5:
            k = k + 1
        return x


class Noisy(nn.Module):
    """Draws, and changes a buffer."""

    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout()
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        return self.norm(self.drop(x)) + torch.rand(4)


class Late(nn.Module):
    """Raises after its first line."""

    def forward(self, x):
        y = x + 1
        return y @ torch.ones(7)


class Lambda(nn.Module):
    forward = lambda self, x: x + 1  # noqa: E731


class Deep(nn.Module):
    """More operators than a view has boxes."""

    def forward(self, x):
        for i in range(70):
            x = x + i
            x = x * 2
        return x
