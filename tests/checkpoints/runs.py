"""A small training run with everything random in it: dropout, a shuffled loader, all three default generators."""

import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Run:
    """Model, Adam, scheduler, GradScaler and a shuffled loader with its own generator."""

    def __init__(self, seed=0):
        random.seed(seed), np.random.seed(seed), torch.manual_seed(seed)
        self.model = nn.Sequential(
            nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 1)
        )
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=20)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=3)
        self.shuffle = torch.Generator().manual_seed(seed + 1)
        data = torch.arange(120.0).reshape(20, 6).sin()
        self.loader = DataLoader(
            TensorDataset(data, data.sum(1, keepdim=True)), 5, shuffle=True, generator=self.shuffle
        )
        self.losses = []

    @property
    def parts(self):
        names = ("model", "optimizer", "scheduler", "scaler", "shuffle")
        return {name: getattr(self, name) for name in names}

    def epoch(self):
        for x, y in self.loader:
            noise = random.random() + np.random.rand()
            loss = nn.functional.mse_loss(self.model(x), y + 0.01 * noise)
            self.optimizer.zero_grad()
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.losses.append(loss.item())
        self.scheduler.step()

    def everything(self):
        """All numbers that a resumed run must share, as one flat list of bytes."""
        tensors = [*self.model.state_dict().values(), self.shuffle.get_state(), torch.get_rng_state()]
        for state in self.optimizer.state_dict()["state"].values():
            tensors += [value for value in state.values() if isinstance(value, torch.Tensor)]
        plain = [self.scheduler.state_dict(), self.scaler.state_dict(), random.getstate()]
        keys = np.random.get_state()[1].tobytes()
        return [t.numpy().tobytes() for t in tensors] + [repr(plain).encode(), keys]
