"""Sizes that do not fit: matrices, broadcasting, cat and stack, convolutions, layers."""

from collections.abc import Mapping

from ..data import Kind, Values


def _products(text: str, values: Mapping[str, str]) -> Values:
    """The two sizes that should be one, named."""
    a, b = values.get("a", "").split("x"), values.get("b", "").split("x")
    return {"inner": a[1], "rows": b[0]} if len(a) == len(b) == 2 else {}


KINDS = (
    Kind(
        slug="matmul-sizes",
        chapter="modules",
        says=(
            "mat1 and mat2 shapes cannot be multiplied",
            "mat1 dim 1 must match mat2 dim 0",
            "size mismatch, m1: {m1:s}, m2: {m2:s}",
            "size mismatch, m1:",
            "mat1 and mat2 must have same {...}dim",
            "size mismatch, got {...}input{...}mat{...}vec",
            "size mismatch, got",
            "inconsistent tensor size, expected tensor {a:s} and src {b:s} to have the same number of elements",
            "inconsistent tensor size, expected",
            "both arguments to matmul need to be at least 1d",
            "vector + matrix @ vector expected",
            "matrix and vector expected",
            "vector and vector expected",
            "matrices expected, got",
            "self must be a matrix",
            "mat2 must be a matrix",
            "1d tensors expected, but got",
            "inconsistent tensor size, expected tensor [{x}",
            "tensors must be 2-d",
            "expected 2d tensor for mat",
            "a and b must have same reduction dim",
            "a must be 2d",
            "setting up matmul: dimension",
        ),
        reads=(
            "shapes cannot be multiplied ({a:w} and {b:w})",
            "m1: {a:s}, m2: {b:s}",
            "size mismatch, got {got} at",
        ),
        here=(
            "Here: {a} times {b}: the input has {inner} features, and the weight expects {rows}.",
            "Here: {a} times {b}.",
            "Here: expected {expected}, got {got}.",
        ),
        refine=_products,
        what=(
            "A matrix product needs the first matrix's columns to equal the second one's rows. For nn.Linear: "
            "the input's last dimension must equal in_features (the weight is stored as out × in and "
            "transposed)."
        ),
        causes=(
            (
                "The input was flattened from another image size or channel count than in_features was computed "
                "for."
            ),
            "flatten joined the batch, too (`x.view(-1)`), or the batch is missing.",
            "Two layers in a row do not fit: out_features of one, in_features of the next.",
            "The matrices are in the wrong order, or one needs a transpose (`.mT`).",
        ),
        mend=(
            "x = x.flatten(1)                       # keep the batch\n"
            "fc = nn.Linear(x.size(1), 10)          # the size that is really there\n"
            "fc = nn.LazyLinear(10)                 # or: asks the first input"
        ),
        check="print(x.shape, fc.weight.shape): x.shape[-1] == fc.weight.shape[1].",
    ),
    Kind(
        slug="broadcast-sizes",
        chapter="storage",
        says=(
            (
                "the size of tensor a ({a:d}) must match the size of tensor b ({b:d}) at non-singleton dimension "
                "{dimension:d}"
            ),
            "the size of tensor a",
            "must match the size of tensor b",
            "output with shape {output:s} doesn't match the broadcast shape {broadcast:s}",
            "doesn't match the broadcast shape",
            "shape mismatch: objects cannot be broadcast to a single shape",
            "inconsistent tensor sizes at",
            "the sizes of tensors must match except in dimension{...}broadcast",
        ),
        reads=("output with shape {output:s} doesn't match the broadcast shape {broadcast:s}",),
        here=(
            "Here: sizes {a} and {b} meet in dimension {dimension}.",
            "Here: the result would have shape {broadcast}, and the tensor that is written has {output}.",
        ),
        needs=(
            "torch",
            "tensor",
            "output with shape",
        ),
        what=(
            "Element-wise operations align shapes from the right; two sizes fit when they are equal or one of "
            "them is 1. An in-place write (also `transforms.Normalize`) cannot grow its target."
        ),
        causes=(
            "The network reduces or pads the image, so output and target have different sizes.",
            "A gray image (1 channel) meets a mean of 3 channels in Normalize.",
            "Sequence lengths differ: position table, mask or target were made for another length.",
            "One operand lacks an axis: (N,) beside (N, 1).",
        ),
        mend=(
            "target = F.interpolate(target, size=output.shape[-2:])     # same height and width\n"
            "bias = bias.view(1, -1, 1, 1)                               # an axis for each dimension"
        ),
        check="torch.broadcast_shapes(a.shape, b.shape) works and is the shape that you mean.",
        wrong=("`squeeze()` everywhere: it also drops a batch of one.",),
    ),
    Kind(
        slug="cat-sizes",
        chapter="storage",
        says=(
            "sizes of tensors must match except in dimension {dimension:d}",
            "sizes of tensors must match except in dimension",
            "tensors must have same number of dimensions: got {a:d} and {b:d}",
            "tensors must have the same number of dimensions",
            "zero-dimensional tensor (at position {position:d}) cannot be concatenated",
            "cannot be concatenated",
            "invalid argument 0: sizes of tensors must match",
            "expected a non-empty list of tensors",
            "torch.cat(): input types can't be cast",
        ),
        reads=(
            "expected size {expected:d} but got size {got:d} for tensor number {number:d} in the list",
            "expected size {expected:d} in dimension {at:d} but got size {got:d}",
            "got {expected:d} and {got:d} in dimension {at:d}",
        ),
        here=(
            (
                "Here: joined along dimension {dimension}; tensor number {number} has size {got} where {expected} "
                "is expected."
            ),
            "Here: size {expected} and size {got} in another dimension than {dimension}.",
            "Here: {a} and {b} dimensions.",
        ),
        needs=(
            "torch",
            "tensor",
        ),
        what=(
            "`cat` joins along one dimension: the others must be equal, and all tensors have the same number "
            "of dimensions. It doesn't broadcast. (`stack` makes a new dimension and needs equal shapes.)"
        ),
        causes=(
            "A skip connection: height or width is odd, so down- and upsampling give sizes one apart.",
            "The tensors should be joined along another dimension.",
            "One of them lacks an axis, or the list is empty.",
        ),
        mend=(
            "up = F.interpolate(up, size=skip.shape[-2:])     # then torch.cat([up, skip], dim=1)\n"
            "torch.stack(numbers)                            # for 0-dimensional tensors"
        ),
        check="[t.shape for t in tensors]: all equal but in `dim`.",
    ),
    Kind(
        slug="stack-sizes",
        chapter="training",
        says=(
            (
                "stack expects each tensor to be equal size, but got {first:s} at entry {i:d} and {second:s} at "
                "entry {j:d}"
            ),
            "stack expects each tensor to be equal size",
            "stack expects a non-empty tensorlist",
            "each element in list of batch should be of equal size",
            "inconsistent tensor sizes at {...}collate",
        ),
        reads=("but got {first:s} at entry {i:d} and {second:s} at entry {j:d}",),
        here=("Here: entry {i} has shape {first}, entry {j} has {second}.",),
        what=(
            "`stack` (and `default_collate`, which makes a batch with it) puts tensors into one new dimension: "
            "all shapes must be equal."
        ),
        causes=(
            (
                "Samples differ: images of several sizes, gray beside RGB, sequences of several lengths, boxes per "
                "image."
            ),
            (
                "A transform that should make sizes equal keeps the aspect ratio (`Resize(256)` instead of "
                "`Resize((256, 256))`)."
            ),
        ),
        mend=(
            "def collate(samples):\n"
            "    inputs, targets = zip(*samples)\n"
            "    return torch.nn.utils.rnn.pad_sequence(inputs, batch_first=True), list(targets)\n"
            "loader = DataLoader(data, batch_size=8, collate_fn=collate)"
        ),
        check="{tuple(x.shape) for x, _ in dataset} has one entry, or collate_fn pads.",
    ),
    Kind(
        slug="conv-channels",
        chapter="modules",
        says=(
            "expected stride to be a single integer value or a list of",
            "weight should have at least three dimensions",
            "to match the convolution dimensions",
            (
                "given groups={groups:d}, weight of size {weight:s}, expected input{input:s} to have {expected:d} "
                "channels, but got {got:d} channels instead"
            ),
            (
                "given transposed={transposed:d}, weight of size {weight:s}, expected input{input:s} to have "
                "{expected:d} channels, but got {got:d} channels"
            ),
            "given groups={...}expected input{...}channels",
            "given transposed={...}expected input",
            "given groups=",
            "given input size: {...} calculated output size: {...}channels",
            "need input.size[1] == {expected:d} but got {got:d}",
            "expected input{...}channels, but got",
            "need input of dimension 4 and input.size[1] ==",
            "expected number of channels in input to be divisible by num_groups",
            "in_channels must be divisible by groups",
            "out_channels must be divisible by groups",
            "num_channels must be divisible by num_groups",
        ),
        reads=(
            (
                "weight of size {weight:s}, expected input{input:s} to have {expected:d} channels, but got {got:d} "
                "channels"
            ),
            "to have {expected:d} channels, but got {got:d} channels",
        ),
        here=(
            "Here: the weight is {weight}, so it expects {expected} channels; the input is {input}, with {got}.",
            "Here: {expected} channels are expected, {got} came.",
        ),
        needs=(
            "convolution dimensions",
            "weight should have",
            "torch",
            "channels",
            "weight of size",
        ),
        what=(
            "A convolution's weight is (out, in / groups, height, width), and the input is read as NCHW: "
            "dimension 1 is the channels, and must equal in_channels."
        ),
        causes=(
            "The image is NHWC, as OpenCV, PIL and NumPy give it: the last dimension is the channels.",
            "A gray image (1 channel) meets a network for RGB (3), or RGBA (4) does.",
            "The batch dimension is missing, so the height is read as channels.",
            "The layer before gives another number of channels.",
        ),
        mend=(
            "x = x.permute(0, 3, 1, 2)              # NHWC -> NCHW\n"
            "x = x.expand(-1, 3, -1, -1)            # gray -> three equal channels"
        ),
        check="x.shape[1] == conv.in_channels.",
        wrong=("`view` instead of `permute` for NHWC to NCHW: the shape fits, the pixels are mixed up.",),
    ),
    Kind(
        slug="missing-batch-dimension",
        chapter="modules",
        says=(
            "expected at least 2d input (got",
            "softmax2d: expected input to be 3d or 4d",
            "expected input to be 1d or 2d, got {dims:d}d",
            "expected hidden to be 1d or 2d",
            "d input, but bilinear mode needs 4d input",
            "d input, but trilinear mode needs 5d input",
            "d input, but linear mode needs 3d input",
            "mode needs {n:d}d input",
            "input has to be 1d or 2d tensor",
            "expected at least 2 dimensions for input tensor",
            "expected input with dimensionality",
            "dropout1d: expected 2d or 3d input",
            "input dimension should be at least 3",
            "input and output must have the same number of spatial dimensions",
            "input and scale_factor must have the same number of spatial dimensions",
            "expected 4d or 5d input",
            "expected 3d or higher dimensionality input",
            "expected 4-dimensional input",
            "expected 3-dimensional input",
            "expected 5-dimensional input",
            "expects input to be 4",
            "expected 3d tensor",
            "expected 4d tensor",
            "expected 2d tensor",
            "expected 3d or 4d tensor",
            "but expected a 4d tensor",
            "expected a 4d tensor",
            "dimension mismatch: expected",
            "expected 3d (unbatched) or 4d (batched) input to conv2d, but got input of size: {input:s}",
            "expected 3d (unbatched) or 4d (batched) input to",
            "expected 2d (unbatched) or 3d (batched) input to",
            "expected 4d (unbatched) or 5d (batched) input to",
            "expected 2d or 3d input (got {dims:d}d input)",
            "expected 3d input (got {dims:d}d input)",
            "expected 4d input (got {dims:d}d input)",
            "expected 5d input (got {dims:d}d input)",
            "expected 2d input (got {dims:d}d input)",
            "expected 2d or 3d input (got",
            "expected 4d input (got",
            "expected 2d input (got",
            "expected 3d input (got",
            "expected 5d input (got",
            "expected 3d or 4d input (got",
            "expected 4d or 5d input (got",
            "-dimensional input for {...}-dimensional weight",
            "-dimensional input for",
            "expected 3d or 4d (batch mode) tensor",
            "expected 2d or 3d (batch mode) tensor",
            "expected 4d or 5d (batch mode) tensor",
            "(batch mode) tensor expected for input",
            "(batch mode) tensor with",
            "3d or 4d (batch mode)",
            "2d or 3d (batch mode)",
            "input must have 3 dimensions, got {dims:d}",
            "input must have 2 dimensions, got {dims:d}",
            "rnn: expected input to be 2d or 3d, got {dims:d}d",
            "lstm: expected input to be 2d or 3d, got {dims:d}d",
            "gru: expected input to be 2d or 3d",
            "expected input to be 2d or 3d, got",
            "for batched 3-d input, hx and cx should also be 3-d but got",
            "for unbatched 2-d input, hx and cx should also be 2-d but got",
            "for batched 3-d input, hx should also be 3-d",
            "for unbatched 2-d input, hx should also be 2-d",
            "expected hidden[0] size{...}d",
            "expected more than 1 value in{...}batch dim",
            "padding length should be less than or equal to two times the input dimension",
            "only 2d, 3d, 4d, 5d padding with non-constant padding are supported",
            "only 3d, 4d, 5d padding with non-constant padding are supported",
            "got {dims:d}d input, but {...} mode needs",
            "input error: only 3d, 4d and 5d input tensors supported",
            "query should be unbatched 2d or batched 3d tensor",
            "expected a 3d tensor{...}query",
        ),
        reads=(
            "but got input of size: {input:s}",
            "but got {dims:d}-dimensional input of size {input:s}",
            "(got {dims:d}d input)",
        ),
        here=(
            "Here: the input has size {input}.",
            "Here: the input has {dims} dimensions.",
        ),
        needs=(
            "dimensionality",
            "dropout1d",
            "spatial dimensions",
            "mode needs",
            "torch",
            "input to",
            "(got",
            "batched",
            "batch mode",
            "-dimensional",
            "input must have",
            "tensors supported",
            "unbatched",
        ),
        unless=(
            "expected 2d array",
            "sklearn",
            "keras",
            "tensorflow",
        ),
        what=(
            "Layers read the dimensions by position: batch, channels (or time), then space. The input has a "
            "number of dimensions that this layer can't read so."
        ),
        causes=(
            "One sample was given without its batch dimension.",
            "The image has no channel dimension (gray: height × width).",
            "The input was flattened before a layer that needs its dimensions.",
            "The layer is for another number of dimensions (BatchNorm1d beside BatchNorm2d).",
        ),
        mend=(
            "y = net(x.unsqueeze(0))       # a batch of one\n"
            "x = x.unsqueeze(1)            # a channel dimension: N × H × W -> N × 1 × H × W"
        ),
        check="x.shape is (N, C, H, W) for 2d layers, (N, C, L) for 1d ones.",
    ),
    Kind(
        slug="kernel-larger-than-input",
        chapter="modules",
        says=(
            "expected non-zero, positive output size",
            "kernel size should be greater than zero",
            "pad should be smaller than or equal to half of kernel size",
            "requested an output size of",
            "reflection padding",
            "can't have output size",
            (
                "calculated padded input size per channel: {padded:s}. kernel size: {kernel:s}. kernel size can't "
                "be greater than actual input size"
            ),
            "kernel size can't be greater than actual input size",
            "kernel size can't greater than actual input size",
            "given input size: {input:s}. calculated output size: {output:s}. output size is too small",
            "output size is too small",
            "padding size should be less than",
            "pad should be at most half of",
            "input image (t: {...}) smaller than kernel size",
            "smaller than kernel size",
            "expected input's spatial size to be",
            "expected 4d tensor with non-zero spatial",
            "input and output sizes should be greater than",
        ),
        reads=(
            "per channel: {padded:s}. kernel size: {kernel:s}",
            "given input size: {input:s}. calculated output size: {output:s}",
        ),
        here=(
            "Here: the padded input is {padded}, the kernel {kernel}.",
            "Here: input {input} would give output {output}.",
            "Here: a size of {size}.",
        ),
        needs=(
            "kernel size",
            "output size",
            "stft",
            "pad should",
            "torch",
            "per channel",
            "too small",
            "padding size",
            "sizes should be",
        ),
        what=(
            "Each stride and each pooling makes the image smaller; here a window is larger than what is left, "
            "so the output would have a size of 0 or less."
        ),
        causes=(
            "The image is smaller than the network was made for (28 × 28 into a network for 224 × 224).",
            "One pooling or stride too many.",
            "Channels and height are swapped (NHWC), so the height is 3.",
        ),
        mend=(
            "x = F.interpolate(x, size=(224, 224))        # the size the network expects\n"
            "conv = nn.Conv2d(16, 32, 3, padding=1)       # keeps height and width"
        ),
        check="print(x.shape) after each layer: no spatial size falls below the next kernel.",
    ),
    Kind(
        slug="norm-features",
        chapter="modules",
        says=(
            "expected input's size at dim={dim:d} to match num_features ({features:d}), but got: {got:d}",
            "does not match num_features",
            "expected weight to be of same shape as normalized_shape",
            "running_mean should contain {features:d} elements not {stats:d}",
            "running_mean should contain",
            "running_var should contain",
            "weight should contain",
            (
                "given normalized_shape={normalized:s}, expected input with shape {expected:s}, but got input of "
                "size{got:s}"
            ),
            "given normalized_shape=",
            "expected weight to be a vector of size equal to the number of channels in input",
            "normalized_shape{...}but got input of size",
        ),
        reads=(
            "should contain {features:d} elements not {stats:d}",
            (
                "given normalized_shape={normalized:s}, expected input with shape {expected:s}, but got input of "
                "size{got:s}"
            ),
        ),
        here=(
            "Here: the input has {features} channels, the layer holds statistics for {stats}.",
            "Here: normalized_shape is {normalized}, the input {got}.",
        ),
        needs=(
            "torch",
            "elements not",
            "normalized_shape",
            "running_mean",
        ),
        what=(
            "A normalisation holds one number per feature: BatchNorm per channel (dimension 1), LayerNorm for "
            "the last dimensions. Those sizes must be the input's."
        ),
        causes=(
            "num_features is not the channels of the layer before.",
            "The features are last (N × L × C), and BatchNorm1d reads dimension 1.",
            "LayerNorm got the channels although they are not last (NCHW).",
        ),
        mend=(
            "bn = nn.BatchNorm2d(conv.out_channels)\n"
            "x = ln(x.movedim(1, -1)).movedim(-1, 1)     # LayerNorm over the channels of NCHW"
        ),
        check="x.shape[1] == bn.num_features; x.shape[-1] == ln.normalized_shape[0].",
    ),
    Kind(
        slug="rnn-sizes",
        chapter="modules",
        says=(
            "input.size(-1) must be equal to input_size. expected {expected:d}, got {got:d}",
            "input.size(-1) must be equal to input_size",
            "expected hidden[0] size {expected:s}, got {got:s}",
            "expected hidden size {expected:s}, got {got:s}",
            "expected hidden[0] size",
            "expected hidden[1] size",
            "expected hidden size",
            "input has inconsistent input_size: got {got:d}, expected {expected:d}",
            "input has inconsistent input_size: got {got:d} expected {expected:d}",
            "input has inconsistent input_size",
            "has inconsistent hidden_size: got",
            "doesn't match hidden{...} batch size",
            "input batch size {input:d} doesn't match hidden",
        ),
        reads=(
            "expected {expected:d}, got {got:d}",
            "size {expected:s}, got {got:s}",
        ),
        here=("Here: {expected} is expected, {got} came.",),
        what=(
            "A recurrent layer reads (time, batch, features), or (batch, time, features) with "
            "batch_first=True; the hidden state is (layers × directions, batch, hidden_size) in both cases."
        ),
        causes=(
            "batch_first does not fit the data: batch and time are swapped.",
            "The hidden state was made for another batch size (the last batch is smaller).",
            "The features' size is not input_size; for single numbers an axis is missing (`unsqueeze(-1)`).",
        ),
        mend=(
            "rnn = nn.LSTM(8, 16, batch_first=True)\n"
            "out, state = rnn(x)                       # no state: zeros of the right size\n"
            "loader = DataLoader(data, drop_last=True)  # where a state is kept between batches"
        ),
        check="x.shape[-1] == rnn.input_size and hidden.shape[1] == batch size.",
    ),
    Kind(
        slug="attention-sizes",
        chapter="modules",
        says=(
            "flash attention requires q,k,v to have the same last dimension",
            "fused kernels require key and value to have the same num_heads and batch_size",
            "fused kernels requires query, key and value to be 4 dimensional",
            "embed_dim must be divisible by num_heads",
            "was expecting embedding dimension of {expected:d}, but got {got:d}",
            "was expecting embedding dimension of",
            "the shape of the 2d attn_mask is {got:s}, but should be {expected:s}",
            "the shape of the 2d attn_mask is",
            "the shape of the 3d attn_mask is",
            "attn_mask's dimension {...} is not supported",
            "the size of the 2d attn_mask is not correct",
            "the size of the 3d attn_mask is not correct",
            "key_padding_mask should be of shape",
            "expecting key_padding_mask shape of {expected:s}, but got {got:s}",
            "expecting key_padding_mask shape of",
            "the batch number of src and tgt must be equal",
            "the feature number of src and tgt must be equal to d_model",
            "key shape {...} does not match value shape",
            "key's sequence and batch dims {...} do not match value's",
            "attn_mask: expected{...}shape",
            "shape '{shape:s}' is invalid{...}num_heads",
            "hidden size{...}is not a multiple of the number of attention heads",
        ),
        here=("Here: {expected} is expected, {got} came.",),
        needs=(
            "torch",
            "embed",
            "attn",
            "mask",
            "src and tgt",
            "key",
        ),
        what=(
            "Multi-head attention reads (time, batch, features) unless batch_first=True; features are cut into "
            "heads; masks are (queries, keys) for `attn_mask`, (batch, keys) for `key_padding_mask`."
        ),
        causes=(
            "batch_first is missing: batch and time are swapped.",
            "A mask was made for another length, or for the other order.",
            "embed_dim is no multiple of num_heads.",
        ),
        mend=(
            "attention = nn.MultiheadAttention(64, 8, batch_first=True)\n"
            "mask = nn.Transformer.generate_square_subsequent_mask(x.size(1))"
        ),
        check="x is (batch, time, embed_dim); mask.shape == (time, time); padding.shape == (batch, time).",
    ),
    Kind(
        slug="dimension-not-equal",
        chapter="storage",
        says=(
            "start ({start:d}), length({length:d}) exceeds dimension",
            "start ({start:d}) + length ({length:d}) exceeds dimension size ({size:d})",
            "expected {a:w}.size({i:d}) == {b:w}.size({j:d}) to be true, but got false",
            "quantile() input tensor is too large",
            "expected tensor to be a tensor image of size",
            "the size of tensor{...}must match",
            "tensors must have same size",
            "expected tensor to have size {expected:d} at dimension {dimension:d}, but got size {got:d}",
            "expected tensor to have size",
            "expected size {expected:d} but got size {got:d}",
            "tensors are not broadcastable",
            "chunk expects",
            "exceeds dimension size",
            "maximum size for tensor at dimension {dimension:d} is {has:d} but size is {wanted:d}",
            "maximum size for tensor at dimension",
            "repeat_interleave: ",
            "number of dimensions of repeat dims can not be smaller than number of dimensions of tensor",
            "all input tensors must have the same",
            "expected{...}same shape, but got",
            "expects each tensor to be equal",
            "can't meshgrid",
            "inputs must have the same number of dimensions",
            "linalg.solve: incompatible shapes",
            "must be batches of square matrices",
            "inconsistent tensor size",
            "only batches of{...}supported",
        ),
        here=("Here: {expected} is expected, {got} came.",),
        needs=(
            "torch",
            "tensor",
            "linalg",
        ),
        unless=(
            "tensorflow",
            "keras",
            "jax",
        ),
        what=(
            "The operation lines dimensions up by their position or their letter, and two sizes that should be "
            "one are not."
        ),
        causes=(
            "A dimension is in the wrong place.",
            "A size is written as a number, and the data changed.",
        ),
        mend=(
            "print(x.shape, y.shape)          # just before the line\n"
            "x = x.movedim(1, -1)             # put the dimension where the operation reads it"
        ),
        check="The sizes named in the message are equal.",
    ),
    Kind(
        slug="vector-expected",
        chapter="training",
        says=(
            "for 1d input, 1d target must have size 1",
            "multi-target not supported",
            "1d tensor expected{...}target",
            "multilabel not supported",
        ),
        what=(
            "`cross_entropy` and `nll_loss` take one class number per sample: logits (N, C), target (N,). A "
            "target with one more dimension is neither that nor class probabilities of the logits' shape."
        ),
        causes=(
            "The target has shape (N, 1): an axis too many.",
            "The target is one-hot and of an integer type.",
        ),
        mend=(
            "loss = F.cross_entropy(logits, target.squeeze(1))        # (N, 1) -> (N,)\n"
            "loss = F.cross_entropy(logits, onehot.argmax(1))          # one-hot -> class numbers"
        ),
        check="target.shape == logits.shape[:1] and target.dtype == torch.int64.",
    ),
    Kind(
        slug="batched-matmul-sizes",
        chapter="modules",
        says=(
            "expected size for first two dimensions of batch2 tensor to be: {expected:s} but got: {got:s}",
            "expected batch2 tensor to be{...}",
            "batch1 must be a 3d tensor",
            "batch2 must be a 3d tensor",
            "batch1 and batch2 must have same number of batches, got {a:d} and {b:d}",
            "batch1 and batch2 must have same number of batches",
        ),
        here=(
            "Here: the second tensor begins with {got}, and the first one needs {expected}.",
            "Here: {a} matrices beside {b}.",
        ),
        what=(
            "`bmm`, and `@` of 3 dimensions, multiply matrix by matrix: (B, N, K) with (B, K, M) gives (B, N, "
            "M). The batch and the inner size K must be equal; `bmm` doesn't broadcast."
        ),
        causes=(
            "The second one needs a transpose: attention is queries @ keys.mT.",
            "One of them has no batch dimension (`bmm`), or another one.",
            "The features differ: the projections before have different sizes.",
        ),
        mend=(
            "scores = q @ k.mT                    # (B, N, K) with (B, M, K) transposed\n"
            "y = x @ w                            # a matrix w of 2 dimensions goes with every batch"
        ),
        check="a.shape[0] == b.shape[0] and a.shape[2] == b.shape[1].",
    ),
    Kind(
        slug="einsum-sizes",
        chapter="storage",
        says=(
            "einsum(): operands do not broadcast with remapped shapes",
            (
                "einsum(): subscript {letter:w} has size {a:d} for operand {operand:d} which does not broadcast "
                "with previously seen size {b:d}"
            ),
            (
                "einsum(): the number of subscripts in the equation ({letters:d}) does not match the number of "
                "dimensions ({dims:d}) for operand {operand:d}"
            ),
            "einsum(): the number of subscripts in the equation",
            "einsum(): ",
        ),
        here=(
            "Here: letter {letter} is {b} in one operand and {a} in operand {operand} (counted from 0).",
            "Here: operand {operand} (counted from 0) has {dims} dimensions, and {letters} letters.",
        ),
        needs=("einsum",),
        unless=(
            "jax",
            "tensorflow",
        ),
        what=(
            "In `einsum` each letter names one dimension of an operand, in its order; a letter that comes twice "
            "stands for one size."
        ),
        causes=(
            "The letters are not in the order of the tensor's dimensions.",
            "The operand has a dimension more or less than letters (heads, batch): `...` stands for the rest.",
            "The sizes really differ: the projections before were made for different sizes.",
        ),
        mend=(
            "print(q.shape, k.shape)                           # write the letters below the sizes\n"
            "y = torch.einsum('...qd,...kd->...qk', q, k)      # any dimensions before"
        ),
        check="One letter for each dimension of each operand, and equal letters with equal sizes.",
    ),
    Kind(
        slug="split-sizes",
        chapter="storage",
        says=(
            (
                "split_with_sizes expects split_sizes to sum exactly to {size:d} (input tensor's size at dimension "
                "{dimension:d}), but got split_sizes={parts:s}"
            ),
            "split_with_sizes expects split_sizes to sum exactly",
            "split_size can only be 0 if dimension size is 0",
        ),
        here=("Here: dimension {dimension} has size {size}, and the parts are {parts}.",),
        what="`split` with a list cuts one dimension into parts of these sizes: they must use it up exactly.",
        causes=(
            "Another dimension is meant: without `dim`, `split` cuts dimension 0.",
            "The sizes are written as numbers, and the layer before has another width (one part for q, k and v each).",
        ),
        mend=(
            "q, k, v = qkv.chunk(3, dim=-1)                       # equal parts\n"
            "a, b = x.split([64, x.size(-1) - 64], dim=-1)        # the rest, whatever it is"
        ),
        check="sum(sizes) == x.size(dim).",
    ),
)
