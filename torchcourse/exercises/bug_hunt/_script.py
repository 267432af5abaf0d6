"""The sound script, function by function. A faulty one is this text with a few lines put in place of others."""

HEADER = '''"""Trains a small network on the digits of scikit-learn. Ten lines of this script are faulty.

{comment}
"""

import copy
import random

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset
'''

FOOTER = """
if __name__ == "__main__":
    model, accuracy, losses = run()
    print(f"loss {losses[0]:.2f} -> {losses[-1]:.2f}, accuracy {accuracy:.1%}")
    save("digits.pt", model, *make_optimizer(model, 5), epoch=4)
    program = export(model, load_data()[1][0][:8])
"""

# name of the function or class -> its text, in the order of the script
PARTS = {
    "set_seed": '''
def set_seed(seed):
    """After this, the run draws the same random numbers every time."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
''',
    "load_data": '''
def load_data():
    """(images, labels) to train, and every sixth to test: 0 to 1 in 17 grey levels."""
    digits = load_digits()
    images = torch.tensor(digits.data, dtype=torch.float32) / 16
    labels = torch.tensor(digits.target)
    test = torch.arange(len(labels)) % 6 == 0
    return (images[~test], labels[~test]), (images[test], labels[test])
''',
    "noisy": '''
def noisy(images):
    """The images with new noise, for one epoch. Those given stay as they are."""
    noise = torch.tensor(np.random.normal(0, 0.1, images.shape), dtype=torch.float32)
    return images + noise
''',
    "make_loader": '''
def make_loader(images, labels, generator):
    """Batches of 64, in a new order each epoch. This generator alone decides the order."""
    samples = TensorDataset(images, labels)
    return DataLoader(samples, batch_size=64, shuffle=True, generator=generator)
''',
    "Net": '''
class Net(nn.Module):
    """Images (batch, 64) -> scores (batch, 10). The loss makes probabilities of them."""

    def __init__(self, width=64):
        super().__init__()
        self.register_buffer("centre", torch.full((64,), 0.3))
        sizes = [(64, width), (width, width)]
        self.blocks = nn.ModuleList([self.block(*size) for size in sizes])
        self.head = nn.Linear(width, 10)

    def block(self, n_in, n_out):
        layers = nn.Linear(n_in, n_out), nn.BatchNorm1d(n_out), nn.ReLU(), nn.Dropout(0.2)
        return nn.Sequential(*layers)

    def forward(self, images):
        x = images - self.centre
        for block in self.blocks:
            x = block(x)
        scores = self.head(x)
        return scores
''',
    "smoothed_loss": '''
def smoothed_loss(scores, labels):
    """Cross-entropy, with a tenth of each target spread over all ten digits."""
    targets = torch.full((len(labels), 10), 0.01, device=scores.device)
    targets.scatter_(1, labels[:, None], 0.91)
    log_probabilities = F.log_softmax(scores, dim=1)
    return -(targets * log_probabilities).sum(dim=1).mean()
''',
    "make_optimizer": '''
def make_optimizer(model, epochs):
    """AdamW, decay for matrices alone, and a rate that is 0 after `epochs` scheduler steps."""
    matrices = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() <= 1]  # biases and norms
    groups = [
        {"params": matrices, "weight_decay": 0.05},
        {"params": others, "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=0.01)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    return optimizer, scheduler
''',
    "train_epoch": '''
def train_epoch(model, loader, optimizer):
    """One pass over the loader. Returns the loss of each batch, as numbers."""
    model.train()
    losses = []
    for images, labels in loader:
        optimizer.zero_grad()
        loss = smoothed_loss(model(images), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
''',
    "evaluate": '''
@torch.no_grad()
def evaluate(model, images, labels):
    """The share of digits that the model reads right."""
    model.eval()
    right = 0
    for x, y in zip(images.split(64), labels.split(64), strict=True):
        guesses = model(x).argmax(dim=1)
        right += (guesses == y).sum().item()
    return right / len(labels)
''',
    "confusion": '''
def confusion(guesses, labels):
    """counts[t][g]: how often the digit t was read as g."""
    counts = [torch.zeros(10) for _ in range(10)]
    for guess, label in zip(guesses.tolist(), labels.tolist(), strict=True):
        counts[label][guess] += 1
    return torch.stack(counts)
''',
    "keep_best": '''
def keep_best(best, model, accuracy):
    """(accuracy, weights) of the best epoch so far. Later epochs don't change them."""
    if best is None or accuracy > best[0]:
        return accuracy, copy.deepcopy(model.state_dict())
    return best
''',
    "save": '''
def save(path, model, optimizer, scheduler, epoch):
    """Writes the states of model, optimizer and scheduler, and the epoch."""
    parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
    states = {name: part.state_dict() for name, part in parts.items()}
    torch.save({**states, "epoch": epoch}, path)
''',
    "resume": '''
def resume(path, model, optimizer, scheduler):
    """Puts everything back. Returns the epoch to go on with."""
    states = torch.load(path, weights_only=True)
    model.load_state_dict(states["model"])
    optimizer.load_state_dict(states["optimizer"])
    scheduler.load_state_dict(states["scheduler"])
    return states["epoch"] + 1
''',
    "export": '''
def export(model, example):
    """The model as a program for any number of images. It answers as in eval mode."""
    model.eval()
    any_number = ({0: torch.export.Dim.DYNAMIC},)
    return torch.export.export(model, (example,), dynamic_shapes=any_number)
''',
    "run": '''
def run(seed=0, epochs=5):
    """Trains. Returns the best model, its accuracy, and the loss of every step."""
    set_seed(seed)
    (images, labels), test = load_data()
    model, generator = Net(), torch.Generator().manual_seed(seed)
    optimizer, scheduler = make_optimizer(model, epochs)
    best, losses = None, []
    for _ in range(epochs):
        loader = make_loader(noisy(images), labels, generator)
        losses += train_epoch(model, loader, optimizer)
        scheduler.step()
        best = keep_best(best, model, evaluate(model, *test))
    final = Net()
    final.load_state_dict(best[1])
    return final, best[0], losses
''',
}
