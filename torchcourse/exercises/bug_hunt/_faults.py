"""The pool of faults, as data: what stands in place of what, what one notices, and three hints."""

from dataclasses import dataclass

__all__ = ["POOL", "Fault"]


@dataclass(frozen=True)
class Fault:
    """One planted fault: the script has `faulty` where the sound one has `sound`.

    chapter: the word of the chapter that teaches it. part: the function that holds it. symptom: what one
    notices from outside. tool: what shows it. line: where it stands, and why it is wrong.
    """

    slug: str
    chapter: str
    part: str
    sound: str
    faulty: str
    symptom: str
    tool: str
    line: str


POOL = (
    Fault(
        "counted-one-by-one",
        "layers",
        "evaluate",
        "right += (guesses == y).sum().item()",
        "right += sum(int(guess == target) for guess, target in zip(guesses, y, strict=True))",
        "Judging 300 test images takes thousands of operators.",
        "`tc.xray(evaluate, model, images, labels)`: look at `len(seen.operators)` and `seen.waits`, with 20 images "
        "and with 60.",
        "`evaluate` compares image by image, and each `int(…)` waits for a value. Compare whole batches: "
        "`(guesses == y).sum().item()`.",
    ),
    Fault(
        "noise-in-place",
        "storage",
        "noisy",
        "return images + noise",
        "return images.add_(noise)",
        "The training images look worse with every epoch.",
        "`torchcourse.storage.relation(images, noisy(images))` on images of your own.",
        "`noisy` writes into the images that it was given: `add_` ends in an underscore. `images + noise` is new.",
    ),
    Fault(
        "one-row-ten-times",
        "storage",
        "confusion",
        "counts = [torch.zeros(10) for _ in range(10)]",
        "counts = [torch.zeros(10)] * 10",
        "In the table of confusions all ten rows are the same.",
        "Call `confusion` on three digits of your own, and ask `torchcourse.storage.relation` about two rows.",
        "`confusion` makes one row, and a list that names it ten times. Make ten: "
        "`[torch.zeros(10) for _ in range(10)]`.",
    ),
    Fault(
        "grey-levels-lost",
        "storage",
        "load_data",
        "images = torch.tensor(digits.data, dtype=torch.float32) / 16",
        "images = (torch.tensor(digits.data, dtype=torch.uint8) // 16).float()",
        "The images that the model gets are black and white. In the data set they are grey.",
        "`images.unique()` of what `load_data` returns.",
        "`load_data` divides integers, and what is below 16 becomes 0. Go to float32 first, then divide.",
    ),
    Fault(
        "gradient-cut",
        "autograd",
        "Net",
        "scores = self.head(x)\n",
        "scores = self.head(x.detach())\n",
        "After training, the first layers have the weights that they began with.",
        "`tc.check_up(...)`, or `torchcourse.modules.missed(model)` after a backward: whose gradient is missing?",
        "`Net.forward` detaches `x` before the head. Nothing before it gets a gradient.",
    ),
    Fault(
        "gradients-add-up",
        "autograd",
        "train_epoch",
        "        optimizer.zero_grad()\n",
        "",
        "Each step goes in the direction of all the batches before it, too.",
        "Two batches with a rate of 0: the gradient after the second is twice that of the first.",
        "`train_epoch` never clears the gradients, and `backward()` adds. `optimizer.zero_grad()` comes before it.",
    ),
    Fault(
        "made-on-the-cpu",
        "devices",
        "smoothed_loss",
        "targets = torch.full((len(labels), 10), 0.01, device=scores.device)",
        "targets = torch.full((len(labels), 10), 0.01)",
        "On the machine with a GPU, with model and batches there, the first loss raises.",
        'The device "meta" stands in for a GPU: call each function with tensors made with `device="meta"`.',
        "`smoothed_loss` makes its targets on the default device. `device=scores.device` follows the scores.",
    ),
    Fault(
        "graph-in-evaluation",
        "allocator",
        "evaluate",
        "@torch.no_grad()\n",
        "",
        "An evaluation needs as much memory for activations as a training step.",
        "`tc.xray(evaluate, model, images, labels)`: autograd nodes in `seen.nodes`?",
        "`evaluate` runs with gradients on, so every forward keeps its activations. Put `@torch.no_grad()` above it.",
    ),
    Fault(
        "layer-in-a-list",
        "modules",
        "Net",
        "self.blocks = nn.ModuleList([self.block(*size) for size in sizes])",
        "self.blocks = [self.block(*size) for size in sizes]",
        "The saved file is too small: it holds one layer of three.",
        "`torchcourse.modules.missed(Net())`, or the tree: `tc.tree(Net())`.",
        "`Net.blocks` is a Python list, which registers nothing. `nn.ModuleList` does.",
    ),
    Fault(
        "tensor-not-registered",
        "modules",
        "Net",
        'self.register_buffer("centre", torch.full((64,), 0.3))',
        "self.centre = torch.full((64,), 0.3)",
        "After `model.to(device)` one tensor of the model has stayed behind.",
        "`torchcourse.modules.missed(Net())`, or the tree: `tc.tree(Net())`.",
        '`Net.centre` is a plain attribute. `self.register_buffer("centre", …)` makes it move and be saved.',
    ),
    Fault(
        "evaluated-in-train-mode",
        "modules",
        "evaluate",
        "    model.eval()\n    right",
        "    right",
        "The same model on the same test images: another accuracy every time.",
        "`evaluate` on an untrained model, twice; `model.training` afterwards.",
        "`evaluate` leaves Dropout and BatchNorm in training mode. `model.eval()` comes first.",
    ),
    Fault(
        "best-is-an-alias",
        "checkpoints",
        "keep_best",
        "return accuracy, copy.deepcopy(model.state_dict())",
        "return accuracy, model.state_dict()",
        "The best epoch's weights are those of the last epoch.",
        "Keep the weights, change the model in place, and look at them again; or `torchcourse.storage.relation`.",
        "`keep_best` keeps a `state_dict()`, whose tensors are the model's own. `copy.deepcopy` them.",
    ),
    Fault(
        "optimizer-not-restored",
        "checkpoints",
        "resume",
        '    optimizer.load_state_dict(states["optimizer"])\n',
        "",
        "A resumed run jumps at its first step.",
        "Two steps, `save`, `resume` into new objects, and compare what the optimizers' `state` hold.",
        "`resume` leaves the optimizer empty: its averages begin at 0 again. "
        '`optimizer.load_state_dict(states["optimizer"])`.',
    ),
    Fault(
        "softmax-twice",
        "training",
        "Net",
        "        return scores\n",
        "        return scores.softmax(dim=1)\n",
        "The loss stays above 1.5. The least that this loss can be is 0.5.",
        "`tc.check_up(...)`, or `model(images).sum(dim=1)`: should scores sum to 1?",
        "`Net.forward` makes probabilities, and the loss makes probabilities of these. Return the scores.",
    ),
    Fault(
        "rate-never-falls",
        "training",
        "make_optimizer",
        "T_max=epochs)",
        "T_max=24 * epochs)",
        "The last epoch still takes steps that are as large as in the first.",
        "Call `scheduler.step()` once per epoch, as `run` does, and print `scheduler.get_last_lr()`.",
        "`make_optimizer` counts the 24 batches of an epoch, but `run` steps the scheduler once per epoch: "
        "`T_max=epochs`.",
    ),
    Fault(
        "exported-in-train-mode",
        "export",
        "export",
        "    model.eval()\n    any_number",
        "    any_number",
        "The exported program gives another answer each time.",
        "Call `export(Net(), example).module()` twice on the same images, and compare with the model in eval mode.",
        "`export` takes the model as it comes, with Dropout at work. `model.eval()` comes first.",
    ),
    Fault(
        "batch-size-frozen",
        "export",
        "export",
        "torch.export.export(model, (example,), dynamic_shapes=any_number)",
        "torch.export.export(model, (example,))",
        "The exported program takes 8 images, and refuses 9.",
        "Call `export(Net(), example).module()` with another number of images.",
        "`export` doesn't say what may vary, so the example's 8 is fixed. Hand over `dynamic_shapes=any_number`.",
    ),
    Fault(
        "decay-through-the-gradient",
        "optimizers",
        "make_optimizer",
        "torch.optim.AdamW(groups",
        "torch.optim.Adam(groups",
        "Weight decay pulls small weights towards 0 as hard as large ones.",
        "One step with all gradients 0: AdamW takes the same share of every weight.",
        "`make_optimizer` uses Adam, where decay is added to the gradient and divided like it. The plan says AdamW.",
    ),
    Fault(
        "decay-for-all",
        "optimizers",
        "make_optimizer",
        '{"params": others, "weight_decay": 0.0}',
        '{"params": others, "weight_decay": 0.05}',
        "The scales of BatchNorm shrink, even without any gradient.",
        "One step with all gradients 0: which parameters move? Or print `optimizer.param_groups`.",
        "`make_optimizer` gives biases and norms a decay of 0.05. Theirs should be 0.",
    ),
    Fault(
        "numpy-not-seeded",
        "randomness",
        "set_seed",
        "    np.random.seed(seed)\n",
        "",
        "Two runs with the same seed get different noise.",
        "`torchcourse.randomness.watch()` around `noisy(images)`: which generator moves? Is it seeded?",
        "`set_seed` forgets NumPy, which `noisy` draws from: `np.random.seed(seed)`.",
    ),
    Fault(
        "order-from-the-global-generator",
        "randomness",
        "make_loader",
        "shuffle=True, generator=generator)",
        "shuffle=True)",
        "One more Dropout in the model, and the batches come in another order.",
        "`torchcourse.randomness.watch(own=generator)` around `list(make_loader(...))`: which generator moves?",
        "`make_loader` doesn't hand its generator on, so the order comes from the global one: `generator=generator`.",
    ),
    Fault(
        "history-with-graphs",
        "debugging",
        "train_epoch",
        "losses.append(loss.item())",
        "losses.append(loss)",
        "Memory climbs with every step.",
        "`torchcourse.debugging.leaks(step)`, with a step that extends a list by what `train_epoch` returns.",
        "`train_epoch` keeps each loss as a tensor, with its graph. Keep the number: `loss.item()`.",
    ),
    Fault(
        "logarithm-of-zero",
        "debugging",
        "smoothed_loss",
        "F.log_softmax(scores, dim=1)",
        "torch.log(torch.softmax(scores, dim=1))",
        "With one very sure model the loss is infinite.",
        "`smoothed_loss` on scores of 200; `torchcourse.debugging.find_nan` says which operator made the infinity.",
        "`smoothed_loss` takes the logarithm of a softmax that may be 0. `F.log_softmax` does both in one, safely.",
    ),
)
