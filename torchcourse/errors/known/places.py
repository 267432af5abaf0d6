"""Errors that no entry tells by their text: the part of PyTorch that raised them says which mechanism it is.

`raised_in` is compared with the innermost frame only, so an error of the reader's own code, however deep inside
a module's call, is none of these.
"""

from ..data import Kind

_LOSSES = (
    *(
        "cross_entropy",
        "nll_loss",
        "binary_cross_entropy",
        "ctc_loss",
        "mse_loss",
        "l1_loss",
        "smooth_l1_loss",
    ),
    *(
        "huber_loss",
        "kl_div",
        "poisson_nll_loss",
        "gaussian_nll_loss",
        "hinge_embedding_loss",
        "soft_margin_loss",
    ),
    *("cosine_embedding_loss", "margin_ranking_loss", "multi_margin_loss", "multilabel_", "triplet_margin_"),
)

KINDS = (
    Kind(
        slug="refused-by-loss",
        chapter="training",
        says=(),
        raised_in=("torch/nn/modules/loss.py", *(f"torch/nn/functional.py {name}" for name in _LOSSES)),
        what="A loss function checks what it is given, and refused: the message names the condition.",
        causes=(
            "Shape or dtype of output or target is not what this loss reads.",
            "A setting (reduction, margin, weight, label_smoothing) has a value that it doesn't take.",
        ),
        mend="print(output.shape, output.dtype, target.shape, target.dtype)      # just before the loss",
        check="The shapes that help(nn.CrossEntropyLoss) lists, for the loss that you use.",
    ),
    Kind(
        slug="refused-by-module",
        chapter="modules",
        says=(),
        raised_in=("torch/nn/",),
        what=(
            "A layer or a function of `torch.nn` checks its settings when it is made and its input when it is "
            "called, and refused: the message names the condition."
        ),
        causes=(
            "The input has another number of dimensions, another size or another dtype than the layer reads.",
            "Settings that exclude or need one another, or a value outside the range.",
            "A name (a mode, a key, a module) that doesn't exist there.",
        ),
        mend="print(layer)                     # its settings\nprint(x.shape, x.dtype)          # just before the call",
        check="The shapes and settings that help(type(layer)) lists.",
    ),
    Kind(
        slug="refused-by-parallel",
        chapter="devices",
        says=(),
        raised_in=("torch/nn/parallel/", "torch/distributed/", "torch/cuda/comm.py", "torch/cuda/nccl.py"),
        what=(
            "The code for several devices or processes refused: all of them must be set up, hold the same modules "
            "and make the same calls in the same order. The message names the condition."
        ),
        causes=(
            "The process group is not set up, or its environment variables are missing (torchrun sets them).",
            "The processes differ: another model, another number of batches, a branch by rank.",
        ),
        mend=(
            "torchrun --nproc_per_node=2 train.py\n"
            "torch.distributed.init_process_group()      # first, in each process"
        ),
        check="The same script with one process; then torch.distributed.get_rank() printed in each.",
    ),
    Kind(
        slug="refused-by-optimizer",
        chapter="optimizers",
        says=(),
        raised_in=("torch/optim/",),
        what=(
            "An optimizer or a scheduler checks its parameters, groups and settings, and refused: the message names "
            "the condition."
        ),
        causes=(
            "A setting is outside its range, or of another type; two settings exclude one another.",
            "Parameters, groups and saved state do not belong together.",
        ),
        mend="print(opt)                       # its groups and settings",
        check="help(type(opt)); [len(g['params']) for g in opt.param_groups].",
    ),
    Kind(
        slug="refused-by-loader",
        chapter="training",
        says=(),
        raised_in=("torch/utils/data/",),
        what=(
            "A DataLoader asks samplers for positions, the dataset for samples, and collates them. One of these "
            "steps, in PyTorch's own part, refused: the message names the condition."
        ),
        causes=(
            "Options that exclude or need one another.",
            "A sample, or what the dataset says of itself (`len`), is not what this step takes.",
        ),
        mend=(
            "dataset[0]                                        # one sample by itself\n"
            "next(iter(DataLoader(dataset, batch_size=2)))     # no workers: an ordinary traceback"
        ),
        check="len(dataset), type(dataset[0]).",
    ),
    Kind(
        slug="refused-by-autocast",
        chapter="training",
        says=(),
        raised_in=("torch/amp/", "torch/cuda/amp/"),
        what="Autocast or the gradient scaler refused: each has an order of calls, and dtypes per device.",
        causes=(
            "The order is not scale, backward, unscale_, clip, step, update.",
            "The device or the dtype is one that autocast doesn't know.",
        ),
        mend=(
            "scaler.scale(loss).backward()\n"
            "scaler.unscale_(opt)             # before clipping, once per step\n"
            "scaler.step(opt)\n"
            "scaler.update()"
        ),
        check="scaler.get_scale() is finite and not falling at each step.",
    ),
    Kind(
        slug="refused-by-file",
        chapter="checkpoints",
        says=(),
        raised_in=(
            "torch/serialization.py",
            "torch/_weights_only_unpickler.py",
            "torch/storage.py",
            "torch/hub.py",
            "torch/distributed/checkpoint/",
        ),
        what="Saving or loading refused: the file, its place, or what it holds is not what was expected.",
        causes=(
            "The path leads elsewhere, or the file is not complete.",
            "The file was written by another version, on another device, or holds more than tensors.",
        ),
        mend="saved = torch.load(path, map_location='cpu', weights_only=True)\nprint(type(saved), list(saved)[:5])",
        check="os.path.getsize(path), zipfile.is_zipfile(path).",
    ),
    Kind(
        slug="refused-by-autograd",
        chapter="autograd",
        says=(),
        raised_in=(
            "torch/autograd/",
            "torch/func/",
            "torch/_functorch/apis.py",
            "torch/_functorch/eager_transforms.py",
            "torch/_functorch/functional_call.py",
            "torch/_functorch/vmap.py",
            "torch/utils/checkpoint.py",
            "torch/utils/hooks.py",
        ),
        what=(
            "Autograd, or a transform built on it (grad, vmap, jacobian, checkpoint), has rules for what a function "
            "may take and give, and refused: the message names the rule."
        ),
        causes=(
            "An input or output is no floating tensor, not a scalar, or has no path to the other.",
            "The function does something that can't be transformed: a write into an outer tensor, `.item()`.",
        ),
        mend="print(x.requires_grad, x.grad_fn, x.dtype, x.shape)      # what goes in, what comes out",
        check="The same function called plainly, then loss.backward() on its sum.",
    ),
    Kind(
        slug="refused-by-export",
        chapter="export",
        says=(),
        raised_in=("torch/jit/", "torch/export/", "torch/_export/", "torch/onnx/", "torch/fx/"),
        what=(
            "The model is turned into a graph that runs without its Python, and this part of it could not be: the "
            "message names what was met."
        ),
        causes=(
            "Python that has no twin in the graph: branches by value, objects, prints, other libraries.",
            "Example inputs, names or dynamic shapes that do not fit forward's arguments.",
        ),
        mend="ep = torch.export.export(model.eval(), (x,))      # the first step of all ways out",
        check="torch.export.draft_export(model, (x,)) lists what stands in the way.",
    ),
    Kind(
        slug="refused-by-compile",
        chapter="layers",
        says=(),
        raised_in=("torch/_dynamo/", "torch/_inductor/", "torch/_functorch/_aot_autograd/"),
        what=(
            "torch.compile reads Python bytecode, makes a graph, and generates code for it. One of these steps "
            "failed; without it the same lines run one operator at a time."
        ),
        causes=(
            "Python that the capture doesn't know, under fullgraph=True.",
            "The generated code did not build or run: compiler, triton, or a bug.",
        ),
        mend=(
            "model(x)                                       # does it run without compile?\n"
            "torch.compile(model, backend='eager')(x)       # capture only; then 'aot_eager', then 'inductor'"
        ),
        check="The first of the three backends that fails names the step.",
    ),
    Kind(
        slug="refused-by-device",
        chapter="devices",
        says=(),
        raised_in=("torch/cuda/", "torch/mps/", "torch/xpu/", "torch/accelerator/", "torch/backends/"),
        what="PyTorch's own code for a device refused the call: the message names the condition.",
        causes=(
            "The device is not there, or this build has no code for it.",
            "A device number, a stream or a fraction that doesn't exist.",
        ),
        mend="device = 'cuda' if torch.cuda.is_available() else 'cpu'",
        check="torch.cuda.is_available(), torch.cuda.device_count(), torch.__version__.",
    ),
    Kind(
        slug="refused-by-profiler",
        chapter="debugging",
        says=(),
        raised_in=("torch/profiler/", "torch/autograd/profiler.py"),
        what="The profiler is a context with an order of calls and refused this one: the message names the condition.",
        causes=(
            "Results are asked for before the context has ended, or another profiler runs.",
            "A schedule without `prof.step()` in the loop.",
        ),
        mend=(
            "with torch.profiler.profile() as prof:\n"
            "    step()\n"
            "print(prof.key_averages().table(row_limit=10))      # after the block"
        ),
        check="The table has rows.",
    ),
    Kind(
        slug="refused-by-random",
        chapter="randomness",
        says=(),
        raised_in=("torch/random.py", "torch/cuda/random.py", "torch/_C/_random"),
        what="Setting or forking a random generator's state was refused: the message names the condition.",
        causes=(
            "The state or seed is of another type, size or device.",
            "More devices than there are.",
        ),
        mend="torch.manual_seed(0)\nstate = torch.get_rng_state()          # a uint8 tensor on the CPU",
        check="Two draws after the same seed are equal.",
    ),
)
