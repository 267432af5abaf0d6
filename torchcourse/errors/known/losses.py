"""Losses: what they take, and what they refuse."""

from ..data import Kind

KINDS = (
    Kind(
        slug="loss-batch-sizes",
        chapter="training",
        says=(
            "expected input batch_size ({input:d}) to match target batch_size ({target:d})",
            "expected input batch_size",
            "size mismatch (got input: {input:s}, target: {target:s})",
            "size mismatch (got input:",
            "input and target batch or spatial sizes don't match",
            "expected target size {expected:s}, got {got:s}",
            "expected target size",
            "input and target must have the same number of elements",
            "expected input{...}target batch",
            "the size of input and target",
            "target and input must have the same number of elements",
            "target nelement ({target:d}) != input nelement ({input:d})",
            "input and target shapes do not match",
            "shapes of input and target do not match: input {input:s}, target {target:s}",
            "input and target sizes do not match",
            "inconsistent target size",
            "mismatch in batch{...}target",
            "expected target of size",
            "target tensors must be 1d",
            "targets should be of the same{...}size",
        ),
        reads=("expected target size {expected:s}, got {got:s}",),
        here=(
            "Here: the output has {input}, the target {target}.",
            "Here: a target of {expected} is expected, and {got} came.",
        ),
        needs=(
            "torch",
            "target",
            "batch_size",
        ),
        unless=(
            "keras",
            "tensorflow",
            "sklearn",
        ),
        what=(
            "A loss pairs output and target sample by sample: logits (N, C) with a target (N,), or (N, C, H, "
            "W) with (N, H, W)."
        ),
        causes=(
            "A `view(-1, features)` in the forward moved numbers between batch and features, so N changed.",
            "The target is one-hot and flattened: N × C numbers instead of N.",
            "Sequences: logits are (N, L, C), and the classes must be dimension 1.",
        ),
        mend=(
            "x = x.flatten(1)                                      # in forward: keeps N\n"
            "loss = F.cross_entropy(logits.movedim(-1, 1), target)  # (N, L, C) -> (N, C, L)"
        ),
        check="logits.shape[0] == target.shape[0], and logits.shape[2:] == target.shape[1:].",
    ),
    Kind(
        slug="loss-spatial-target",
        chapter="training",
        says=(
            "only batches of spatial targets supported (3d tensors) but got targets of dimension: {dims:d}",
            (
                "only batches of spatial targets supported (non-empty 3d tensors) but got targets of size: : "
                "{size:s}"
            ),
            "only batches of spatial targets supported",
            "only batches of spatial inputs supported",
            (
                "weight tensor should be defined either for all {classes:d} classes or no classes but got weight "
                "tensor of shape: {weight:s}"
            ),
            "weight tensor should be defined either for all",
            "input tensor should be 1d or 2d",
            "expected 4d input{...}spatial",
            "for multi-dimensional targets",
        ),
        here=(
            "Here: the target has {dims} dimensions.",
            "Here: the target has size {size}.",
            "Here: {classes} classes, weight {weight}.",
        ),
        what=(
            "For an image, `cross_entropy` pairs logits (N, C, H, W) with one class number per pixel: a target "
            "of (N, H, W). `weight` has one number per class."
        ),
        causes=(
            "A mask has a channel dimension: (N, 1, H, W), or is RGB: (N, 3, H, W) or one-hot.",
            "The weights are not as many as dimension 1 of the logits.",
        ),
        mend=(
            "loss = F.cross_entropy(logits, mask.squeeze(1).long())      # (N, 1, H, W) -> (N, H, W)\n"
            "loss = F.cross_entropy(logits, onehot.argmax(1))"
        ),
        check="mask.dim() == logits.dim() - 1, and mask.max() < logits.size(1).",
    ),
    Kind(
        slug="target-out-of-range",
        says=(
            "target {target:d} is out of bounds",
            "cur_target >= 0 && cur_target < n_classes",
            "t >= 0 && t < n_classes",
            "assertion 't >= 0 && t < n_classes' failed",
            "multi-class target{...}out of range",
            "invalid target value",
            "class values must be smaller than num_classes",
        ),
        reads=("target {target:d} is out of bounds",),
        here=("Here: target {target}.",),
        needs=(
            "torch",
            "target",
            "n_classes",
            "num_classes",
            "is out of bounds",
        ),
        unless=(
            "axis {",
            "for axis",
        ),
        what=(
            "A class number picks a column of the logits: with C classes it must lie in 0 … C - 1. On a GPU "
            "the same fault is a device-side assert."
        ),
        causes=(
            "Classes are numbered from 1.",
            "The last layer has too few outputs (a background class was forgotten).",
            'Pixels of a mask are 255 for "ignore": say `ignore_index=255`.',
        ),
        mend=(
            "target = target - 1                               # classes 1..C -> 0..C-1\n"
            "loss = F.cross_entropy(logits, target, ignore_index=255)"
        ),
        check="0 <= target.min() and target.max() < logits.size(1).",
        wrong=("Commenting the assertion out: the loss then reads foreign memory.",),
    ),
    Kind(
        slug="target-broadcast",
        says=(
            "using a target size ({target:s}) that is different to the input size ({input:s})",
            "that is different to the input size",
            "target size ({target:s}) must be the same as input size ({input:s})",
            "must be the same as input size",
            "please ensure they have the same size",
            "using a target size",
        ),
        reads=(
            "target size ({target:s}) ",
            "input size ({input:s})",
        ),
        here=("Here: the target is {target}, the output {input}.",),
        what=(
            "Output and target should have the same shape. Where they don't, `mse_loss` and `l1_loss` "
            "broadcast: (N,) beside (N, 1) becomes N × N, every sample compared with every target. It trains, "
            "and learns the mean. BCE refuses."
        ),
        causes=(
            "The output is (N, 1), the target (N,).",
            "A multi-label or one-class output has another number of columns than the target.",
        ),
        mend=(
            "loss = F.mse_loss(output.squeeze(1), target)\n"
            "loss = F.binary_cross_entropy_with_logits(output, target.unsqueeze(1).float())"
        ),
        check="output.shape == target.shape.",
        wrong=("Ignoring the warning: the loss is another one than you mean.",),
    ),
    Kind(
        slug="bce-range",
        chapter="training",
        says=(
            "input0 >= 0",
            "must be between 0 and 1",
            "should be between 0 and 1",
            "all elements of input should be between 0 and 1",
            "all elements of target should be between 0 and 1",
            "input_val >= zero && input_val <= one",
            "input_val >= zero",
            "*input >= 0. && *input <= 1.",
            "assertion 'x >= 0. && x <= 1.' failed",
            "x >= 0. && x <= 1.",
            "input >= 0. && input <= 1.",
            "target_val >= zero",
        ),
        what=(
            "Binary cross entropy takes a logarithm of probabilities: both lie between 0 and 1. Logits, and "
            "NaN, don't."
        ),
        causes=(
            "The sigmoid is missing: the outputs are logits.",
            "The outputs are NaN: the training diverged before.",
            "The target holds classes 1 and 2, or pixels 0..255.",
        ),
        mend="loss = F.binary_cross_entropy_with_logits(logits, target)    # sigmoid inside, and stable",
        check="logits.isnan().any() is False; target.min() >= 0 and target.max() <= 1.",
        wrong=("`clamp(0, 1)` on logits: the gradient outside is 0.",),
    ),
    Kind(
        slug="bce-autocast",
        chapter="training",
        says=(
            "are unsafe to autocast",
            "torch.nn.bceloss are unsafe",
        ),
        what=(
            "In half precision a probability near 1 is rounded to 1, and its logarithm's gradient is infinite. "
            "From logits the same loss is computed without that step."
        ),
        causes=("The model ends in a sigmoid, and BCELoss runs inside autocast.",),
        mend="criterion = nn.BCEWithLogitsLoss()       # and no sigmoid at the model's end",
        check="The loss under autocast is close to the one in float32.",
    ),
    Kind(
        slug="loss-called-wrong",
        chapter="training",
        says=(
            "reduction: 'mean' divides the total loss by both the batch size and the support size",
            "invalid reduction mode: {mode:w}",
            "var has negative entry",
            "var is of incorrect size",
            "expected label_smoothing to be in range",
            "label_smoothing must be between 0.0 and 1.0",
            "weights and input must have the same size",
            "expected margin to be greater than 0",
            "the anchor, positive, and negative tensors are expected to have the same number of dimensions",
            "ignore_index cannot be specified when target contains probabilities",
            "ignore_index is not supported for floating point target",
            "delta must be a float",
            "only p == 1 and p == 2 supported",
            "size_average and reduce args will be deprecated",
            "is not a valid value for reduction",
            "cross_entropy_loss(): argument 'target' (position 2) must be tensor",
            "cross_entropy_loss(): argument 'input'",
            "cosineembeddingloss: ",
            "1d target tensor expected",
            "margin_ranking_loss",
            "nll_loss(): argument",
            "crossentropyloss{...}takes",
            "nn.functional.sigmoid is deprecated",
            "nn.functional.tanh is deprecated",
        ),
        needs=(
            "reduction",
            "label_smoothing",
            "ignore_index",
            "margin",
            "anchor",
            "torch",
            "softmax",
            "cross_entropy",
            "size_average",
            "embeddingloss",
            "margin_ranking",
            "nll_loss",
            "nn.functional",
            "target",
        ),
        what=(
            "A loss class is constructed with settings and then called with tensors; the functional form takes "
            "tensors at once. Softmax needs its dimension named."
        ),
        causes=(
            "Settings and tensors are mixed up.",
            "The dimension of a softmax is left to a guess.",
            "The model returns a tuple or an object, not the logits.",
        ),
        mend=(
            "criterion = nn.CrossEntropyLoss()\nloss = criterion(logits, target)\np = logits.softmax(dim=-1)"
        ),
        check="p.sum(-1) is 1 everywhere.",
    ),
    Kind(
        slug="half-parameters",
        says=(
            "attempting to unscale fp16 gradients",
            "attempting to unscale bf16 gradients",
        ),
        what=(
            "Autocast keeps the weights in float32 and computes in half precision; the scaler divides float32 "
            "gradients. Here the weights themselves are half, so the gradients are, and small ones are lost "
            "already."
        ),
        causes=(
            "`model.half()` together with GradScaler.",
            "A model was loaded with torch_dtype=float16 and is trained.",
        ),
        mend=(
            "model.float()\n"
            "with torch.autocast('cuda', dtype=torch.float16):\n"
            "    loss = loss_fn(model(x), y)"
        ),
        check="{p.dtype for p in model.parameters() if p.requires_grad} == {torch.float32}.",
    ),
    Kind(
        slug="scaler-order",
        chapter="training",
        says=(
            "step() has already been called since the last update()",
            "attempted {...}but _scale is none",
            "closure use is not currently supported if gradscaler is enabled",
            (
                "the source state dict is empty, possibly because it was saved from a disabled instance of "
                "gradscaler"
            ),
            "outputs must be a tensor or an iterable of tensors",
            "a gradscaler instance may only be pickled",
            "no inf checks were recorded for this optimizer",
            "no inf checks were recorded prior to update",
            "unscale_() has already been called",
            "unscale_() is being called after step()",
            "attempted step{...}gradscaler",
            "outputs are on{...}gradscaler",
            "new scale should be a float or",
            "gradscaler is enabled, but cuda is not available",
            "torch.cuda.amp.gradscaler is enabled",
            "attempting to unscale",
            "lazy_init_scale_growth_tracker",
            "attempted unscale_ but _scale is none",
            "_scale is none. this may indicate",
        ),
        needs=(
            "torch",
            "optimizer",
            "unscale",
            "scale",
            "inf checks",
            "gradscaler",
        ),
        what=(
            "GradScaler works per step in one order: scale(loss).backward(), unscale_(optimizer) once at most, "
            "step(optimizer), update(). It notes infinities when it unscales gradients; without gradients "
            "there is nothing to note."
        ),
        causes=(
            (
                "No parameter of this optimizer has a gradient: frozen, not in the loss, or a backward that did "
                "not run."
            ),
            "step or unscale_ is called twice before update().",
            "The scaler belongs to another optimizer, or `scaler.scale` was forgotten.",
        ),
        mend=(
            "scaler.scale(loss).backward()\n"
            "scaler.unscale_(optimizer)\n"
            "nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
            "scaler.step(optimizer)\n"
            "scaler.update()\n"
            "optimizer.zero_grad()"
        ),
        check="any(p.grad is not None for g in optimizer.param_groups for p in g['params']) before step.",
    ),
    Kind(
        slug="autocast-misuse",
        chapter="training",
        says=(
            "expected 'device_type' of type 'str'",
            "autocast()(func) requires a callable",
            "autocast expected",
            "torch.cpu.amp.autocast",
            "in cpu autocast, but the target dtype is not supported",
            "in cuda autocast, but the target dtype",
            "in openreg autocast",
            "user provided device_type of",
            "torch.cuda.amp.autocast(args...)' is deprecated",
            "torch.cuda.amp.gradscaler(args...)' is deprecated",
            "torch.cuda.amp.autocast",
            "unsupported autocast device_type",
            "autocast expected a",
            "current cuda device does not support bfloat16",
        ),
        needs=(
            "torch",
            "autocast",
            "device_type",
        ),
        what=(
            "Autocast has one setting per device type and a list of dtypes that each supports; on another "
            "machine the setting may do nothing."
        ),
        causes=(
            "The code says 'cuda', and there is none: the region runs in float32.",
            "float16 on a CPU, or bfloat16 on an old GPU.",
        ),
        mend=(
            "with torch.autocast(device.type, dtype=torch.bfloat16):\n"
            "    output = model(x)\n"
            "scaler = torch.amp.GradScaler(device.type)"
        ),
        check="output.dtype inside the region.",
    ),
    Kind(
        slug="ctc-lengths",
        chapter="training",
        says=(
            "expected {which:w}_lengths to have value at most {most:d}, but got value {got:d}",
            "expected input_lengths to have value at most",
            "expected target_lengths",
            "target_lengths must be of size",
            "input_lengths must be of size",
            "ctc_loss",
        ),
        here=("Here: {which}_lengths holds {got}, and at most {most} fits.",),
        what=(
            "CTC reads log-probabilities as (time, batch, classes) and takes for each sample how many time steps "
            "(input_lengths) and labels (target_lengths) count. No length may be larger than its tensor."
        ),
        causes=(
            "Batch and time are swapped: a network with batch_first gives (batch, time, classes).",
            "input_lengths counts the input's frames, and convolutions or pooling made the time shorter.",
            "One length for each sample is missing.",
        ),
        mend=(
            "log_probs = logits.log_softmax(-1).transpose(0, 1)      # (N, T, C) -> (T, N, C)\n"
            "input_lengths = torch.full((log_probs.size(1),), log_probs.size(0))\n"
            "loss = F.ctc_loss(log_probs, targets, input_lengths, target_lengths)"
        ),
        check="input_lengths.max() <= log_probs.size(0), and len(input_lengths) == log_probs.size(1).",
    ),
    Kind(
        slug="softmax-dimension",
        chapter="training",
        says=(
            "implicit dimension choice for {function:w} has been deprecated",
            "implicit dimension choice for",
        ),
        here=("Here: {function}.",),
        what=(
            "Softmax makes the numbers along one dimension sum to 1. Without `dim` PyTorch guesses it from the "
            "number of dimensions: 0 for one or three, 1 otherwise. For a (batch, length, classes) that is the batch."
        ),
        causes=("`nn.Softmax()` or `F.softmax(x)` without dim.",),
        mend="p = logits.softmax(dim=-1)            # nn.Softmax(dim=-1)",
        check="p.sum(-1) is 1 everywhere.",
        wrong=("Ignoring the warning: with three dimensions the probabilities are taken over the samples.",),
    ),
)
