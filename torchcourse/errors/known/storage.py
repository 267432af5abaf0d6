"""Views, strides, and writes to memory that several elements share."""

from ..data import Kind

KINDS = (
    Kind(
        slug="view-not-possible",
        chapter="storage",
        says=(
            "input is not contiguous at",
            "view size is not compatible with input tensor's size and stride",
            "input is not contiguous at {...}view",
            "view() cannot be called on a non-contiguous",
        ),
        what=(
            "`view` never copies: it must describe the new shape with one stride per dimension over the same "
            "memory. After a transpose, permute, slice, expand or channels_last, neighbouring dimensions no "
            "longer lie one after the other, so no such strides exist."
        ),
        causes=(
            "The tensor was transposed, permuted or sliced before `view`.",
            "It is channels_last (often only on a GPU, where cuDNN chooses that format).",
            "An element-wise operator kept the stride order of a transposed input.",
        ),
        mend=(
            "y = x.reshape(x.size(0), -1)            # a view where possible, else a copy\n"
            "y = x.contiguous().view(x.size(0), -1)   # the same, said aloud"
        ),
        check="x.is_contiguous(), x.stride(): contiguous strides are products of the sizes behind them.",
    ),
    Kind(
        slug="reshape-wrong-size",
        chapter="storage",
        says=(
            "shape '{shape:s}' is invalid for input of size {size:d}",
            "is invalid for input of size",
        ),
        reads=("shape '{shape:s}' is invalid for input of size {size:d}",),
        here=("Here: {size} elements are there, and the shape {shape} is asked for.",),
        what="`view` and `reshape` keep the number of elements: the product of the new sizes must equal it.",
        causes=(
            (
                "The layer before gives another number of channels, or another height and width, than the shape "
                "says."
            ),
            "The batch size is written into the shape, and the last batch is smaller.",
            "The input image has another size than the one that the shape was computed for.",
        ),
        mend="x = x.flatten(1)      # keeps the batch, joins the rest; then nn.Linear(x.size(1), …)",
        check="print(x.shape, x.numel()) just before the line; compare with the product of the shape.",
    ),
    Kind(
        slug="reshape-two-unknown",
        chapter="storage",
        says=("only one dimension can be inferred",),
        what="One `-1` in a shape is computed from the number of elements; two of them have no one answer.",
        causes=("Two sizes of the shape are -1.",),
        mend="x.reshape(x.size(0), -1)",
        check="The shape given has one -1 at most.",
    ),
    Kind(
        slug="reshape-ambiguous",
        chapter="storage",
        says=(
            "cannot reshape tensor of 0 elements into shape {shape:s}",
            "because the unspecified dimension size -1 can be any value",
        ),
        what="The tensor is empty, so a size of -1 could be any number.",
        causes=(
            "A filter, mask or slice before left no element.",
            "The batch is empty.",
        ),
        mend=("if x.numel():\n    y = x.reshape(-1, 4)"),
        check="x.shape has no 0 in it.",
    ),
    Kind(
        slug="view-unflatten",
        chapter="storage",
        says=(
            "unflatten: provided sizes {sizes:s} don't multiply up to the size of dim",
            "don't multiply up to the size of dim",
        ),
        what="`unflatten` splits one dimension: the product of the new sizes must be its size.",
        causes=("The number of heads or groups does not divide the features.",),
        mend="x.unflatten(-1, (heads, x.size(-1) // heads))",
        check="x.size(dim) equals the product of the sizes.",
    ),
    Kind(
        slug="write-to-expanded",
        chapter="storage",
        says=("more than one element of the written-to tensor refers to a single memory location",),
        what=(
            "`expand` and broadcasting repeat elements with stride 0: many positions are one address, so an "
            "in-place write would fall on the same memory several times."
        ),
        causes=(
            "A tensor from `expand`, `broadcast_to` or `expand_as` is written in place.",
            "A buffer was registered as an expanded view; its update (a running average) writes into it.",
        ),
        mend=("x = x.expand(2, 3, 3).clone()    # own memory for each element\nx.mul_(0.9)"),
        check="0 in x.stride() for a dimension larger than 1: the elements share memory.",
    ),
    Kind(
        slug="write-overlaps-input",
        chapter="storage",
        says=("the input tensor and the written-to tensor refer to a single memory location",),
        what=(
            "The operation would read and write the same memory in an order that is not defined: source and "
            "target overlap."
        ),
        causes=(
            "The right side of an assignment is a view of the left side (`x[1:] = x[:-1]`).",
            "A boolean mask indexes itself.",
        ),
        mend="x[1:] = x[:-1].clone()",
        check="x.untyped_storage().data_ptr() of both sides are equal; with a clone they differ.",
    ),
    Kind(
        slug="stride-negative",
        chapter="storage",
        says=(
            "negative strides are not supported",
            "at least one stride in the given numpy array is negative",
            "at least one of the strides in the given numpy array is negative",
            "some of the strides of a given numpy array are negative",
            "step must be greater than zero",
            "slice step must be positive",
        ),
        reads=("got strides: {strides:s}",),
        here=("Here: strides {strides}.",),
        what=(
            "PyTorch's strides are not negative: a tensor cannot walk its memory backwards. NumPy's can, so a "
            "flipped array (`a[::-1]`) cannot be shared."
        ),
        causes=(
            "The array was flipped: `a[::-1]`, `np.flip`, `img[:, :, ::-1]` for BGR to RGB.",
            "A slice with a negative step on a tensor, or `as_strided` with a negative stride.",
        ),
        mend=("x = torch.from_numpy(a[::-1].copy())    # NumPy copies into forward order\ny = x.flip(0)"),
        check="a.strides has no negative number before from_numpy.",
    ),
    Kind(
        slug="as-strided-out-of-bounds",
        chapter="storage",
        says=(
            "setstorage: sizes {...} requiring a storage size of",
            "are out of bounds for storage of size",
        ),
        reads=("requiring a storage size of {needed:d} are out of bounds for storage of size {has:d}",),
        here=("Here: {needed} bytes would be touched, and the storage has {has}.",),
        what=(
            "Sizes, strides and offset would reach beyond the storage's last byte. Only the storage owns "
            "memory; a view may not look outside it."
        ),
        causes=(
            "`as_strided` with sizes or strides too large.",
            (
                "The storage was freed or resized under the tensor (`untyped_storage().resize_(0)`, FSDP, a trick "
                "to save memory)."
            ),
        ),
        mend="y = x.unfold(0, 3, 1)    # windows, with the bounds kept",
        check="offset + sum((size - 1) * stride) < number of elements in the storage.",
    ),
    Kind(
        slug="storage-resize-refused",
        chapter="storage",
        says=(
            "non-inplace resize is deprecated",
            "trying to resize storage that is not resizable",
            "cannot resize variables that require grad",
            "set_sizes_contiguous is not allowed on a tensor created from .data or .detach()",
            "set_sizes_and_strides is not allowed on a tensor created from .data or .detach()",
            "set_storage_offset is not allowed on a tensor created from .data or .detach()",
        ),
        what=(
            "The operation would change the size of memory that the tensor does not own alone: memory from "
            "NumPy, from shared memory, of a detached view, or with a history in autograd."
        ),
        causes=(
            (
                "In `default_collate` of a worker: samples of different sizes, or samples that are views of NumPy "
                "arrays."
            ),
            "`resize_` or an `out=` of the wrong size on a tensor that shares its memory.",
        ),
        mend=(
            "sample = torch.from_numpy(array).clone()     # own memory\n"
            "x = x.reshape(3, 4)                          # instead of resize_"
        ),
        check=(
            "All samples of the dataset have the same shape: {dataset[i][0].shape for i in "
            "range(len(dataset))}."
        ),
    ),
    Kind(
        slug="array-of-objects",
        chapter="storage",
        says=(
            "can't convert np.ndarray of type numpy.object_",
            "can't convert np.ndarray of type object",
            "can't convert np.ndarray of type numpy.str_",
            "can't convert np.ndarray of type numpy.{dtype:w}. the only supported types are",
        ),
        reads=("can't convert np.ndarray of type numpy.{dtype:w}. the only",),
        here=("Here: the array's dtype is {dtype}.",),
        what=(
            "A tensor is one block of numbers of one type. The array holds something else: an object array "
            "holds pointers to Python objects, which is what rows of different lengths or mixed columns become."
        ),
        causes=(
            "Ragged data: rows of different lengths.",
            "A DataFrame with a column of texts or None: its `.values` are objects.",
            "Numbers read as text.",
        ),
        mend=(
            "x = torch.from_numpy(frame.astype('float32').to_numpy())\n"
            "x = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True)"
        ),
        check="array.dtype is a number's dtype, not object.",
    ),
    Kind(
        slug="array-not-writable",
        chapter="storage",
        says=(
            "the given numpy array is not writable",
            "the given numpy array is not writeable",
            "the given buffer is not writable",
        ),
        what=(
            "The tensor shares the array's memory, and the array is read-only. A write through the tensor "
            "would change memory that others rely on: the result is not defined."
        ),
        causes=("The array comes from `np.broadcast_to`, a memory map, `np.asarray(PIL image)` or pandas.",),
        mend="x = torch.from_numpy(array.copy())",
        check="array.flags.writeable is True, or the tensor is never written.",
        wrong=("Silencing the warning: the shared memory stays.",),
    ),
    Kind(
        slug="dimension-out-of-range",
        chapter="training",
        says=(
            "dimension specified as {dimension:d} but tensor has no dimensions",
            "dimension out of range (expected to be in range of",
        ),
        reads=("dimension out of range (expected to be in range of {range:s}, but got {dimension:d})",),
        here=("Here: dimension {dimension} was asked for, and the tensor has dimensions {range}.",),
        types=(
            "IndexError",
            "RuntimeError",
        ),
        what=(
            "A dimension was named that the tensor doesn't have. An axis is often lost on the way: `squeeze()` "
            "without an argument drops every axis of size 1, also the batch of one sample; indexing with an "
            "integer drops one, too."
        ),
        causes=(
            "`squeeze()` dropped the batch axis of the last batch, which has one sample.",
            "One sample without a batch dimension was given.",
            "A loss or argmax over `dim=1` of logits that are 1-D.",
        ),
        mend=(
            "x = x.squeeze(-1)        # name the axis\n"
            "x = x.unsqueeze(0)       # put the batch back for one sample"
        ),
        check="x.dim() is what the line expects, also for a batch of one.",
    ),
    Kind(
        slug="index-out-of-bounds",
        chapter="storage",
        says=(
            "out of range at {...}thc",
            "out of range at {...}/th/",
            "invalid index in scatteradd",
            "invalid index in gather",
            "invalid index in scatter",
            "selected index k out of range",
            "index {index:d} is out of bounds for dimension {dimension:d} with size {size:d}",
            "is out of bounds for dimension",
            "index out of range: tried to access index {index:d} out of table with",
            "selecting a nonexistent dimension",
            "select(): index {index:d} out of range for tensor of size {size:s} at dimension {dimension:d}",
            "out of range for tensor of size",
        ),
        reads=(
            "index {index:d} is out of bounds for dimension {dimension:d} with size {size:d}",
            "index {index:d} out of range for tensor of size {size:s} at dimension {dimension:d}",
        ),
        here=("Here: index {index} in dimension {dimension}, which has size {size}.",),
        what="An index reaches beyond the dimension: positions run from 0 to size - 1 (or -size to -1).",
        causes=(
            "Labels or ids run from 1, and positions from 0.",
            "The index belongs to another tensor, or to another dimension.",
        ),
        mend=(
            "print(index.min(), index.max(), x.shape)\n"
            "x[index.clamp(0, x.size(0) - 1)]    # only where that is meant"
        ),
        check="index.max() < x.size(dim) and index.min() >= 0.",
    ),
    Kind(
        slug="too-many-indices",
        chapter="storage",
        says=(
            "an index can only have a single ellipsis",
            "too many indices for tensor of dimension {dims:d}",
            "invalid index of a 0-dim tensor",
            "slice() cannot be applied to a 0-dim tensor",
        ),
        here=("Here: the tensor has {dims} dimensions.",),
        what=(
            "More indices were given than the tensor has dimensions; a 0-dimensional tensor is one number and "
            "has no position to ask for."
        ),
        causes=(
            "A loss is 0-dimensional: `loss.data[0]` is the spelling of 2017.",
            "An axis was lost by `squeeze()` or by indexing.",
        ),
        mend="loss.item()          # the Python number",
        check="x.dim() before the line.",
    ),
    Kind(
        slug="mask-wrong-shape",
        chapter="storage",
        says=(
            (
                "the shape of the mask {mask:s} at index {index:d} does not match the shape of the indexed tensor "
                "{tensor:s}"
            ),
            "the shape of the mask",
            "does not match the shape of the indexed tensor",
        ),
        reads=(
            (
                "the shape of the mask {mask:s} at index {index:d} does not match the shape of the indexed tensor "
                "{tensor:s} at"
            ),
        ),
        here=("Here: the mask is {mask}, the tensor {tensor}.",),
        what=(
            "A boolean index picks position by position, so its sizes must equal those of the dimensions that "
            "it indexes; it is not broadcast."
        ),
        causes=(
            "The mask has an axis too many or too few.",
            "It was made for another batch or length.",
        ),
        mend=("x[mask.expand_as(x)]\nx[:, mask]       # a mask of the second dimension only"),
        check="mask.shape == x.shape[:mask.dim()].",
    ),
    Kind(
        slug="index-wrong-dtype",
        chapter="storage",
        says=(
            "none and long or byte variables are valid indices (got {got:w})",
            "none and long or byte variables are valid indices",
            "tensors used as indices must be long, int, byte or bool tensors",
            "tensors used as indices must be long, byte or bool tensors",
            "expected dtype int64 for index",
            "expected dtype int32/int64 for index",
            "index tensor must be either int or long",
            "index should have dtype",
            "index_select(): expected dtype int32 or int64 for index",
        ),
        what="An index counts positions: it must be an integer tensor (int64 as a rule) or a boolean mask.",
        causes=("The index is float: it came from a division, `torch.tensor([1.0])`, or a file.",),
        mend="x[index.long()]",
        check="index.dtype is torch.int64 or torch.bool.",
    ),
    Kind(
        slug="index-shapes-not-broadcastable",
        chapter="storage",
        says=(
            "shape mismatch: indexing tensors could not be broadcast together with shapes",
            (
                "shape mismatch: value tensor of shape {value:s} cannot be broadcast to indexing result of shape "
                "{result:s}"
            ),
            "shape mismatch: value tensor of shape",
        ),
        reads=("could not be broadcast together with shapes {shapes:s}, {others:s}",),
        what=(
            "In `x[i, j] = v`, the index tensors are broadcast against each other, and the value against the "
            "result."
        ),
        causes=(
            "The index tensors have different lengths.",
            "The value has another shape than the places that are written.",
        ),
        mend="x[rows[:, None], columns]      # every row with every column",
        check="torch.broadcast_shapes(i.shape, j.shape) works.",
    ),
    Kind(
        slug="gather-shapes",
        chapter="storage",
        says=(
            (
                "size does not match at dimension {dimension:d} expected index {index:s} to be smaller than self "
                "{input:s} apart from dimension"
            ),
            "expected index {index:s} to be smaller than",
            "expected index {index:s} to be no larger than",
            "index tensor must have the same number of dimensions as",
            "index tensor must have same dimensions as",
            "index tensor must have the same dimensions as",
        ),
        what=(
            "`gather` and `scatter` need an index with as many dimensions as the tensor, and no larger in any "
            "other dimension than the one worked along."
        ),
        causes=("The index lacks an axis: one class per row needs shape (N, 1), not (N,).",),
        mend="picked = logits.gather(1, target.unsqueeze(1)).squeeze(1)",
        check="index.dim() == x.dim().",
    ),
    Kind(
        slug="permute-wrong-dims",
        chapter="storage",
        says=(
            "number of dims don't match in permute",
            "number of dimensions in the tensor input does not match the length of the desired ordering",
            "permute: duplicate dims are not allowed",
            "repeated dim in permute",
            "t() expects a tensor with <= 2 dimensions",
        ),
        what="`permute` names every dimension once.",
        causes=("The tensor has a batch dimension more, or one less, than expected.",),
        mend=(
            "x.permute(0, 3, 1, 2)    # NHWC -> NCHW, 4 dimensions\n"
            "x.movedim(-1, -3)        # with or without a batch"
        ),
        check="x.dim() equals the number of dimensions named.",
    ),
    Kind(
        slug="expand-wrong-size",
        chapter="storage",
        says=(
            (
                "the expanded size of the tensor ({wanted:d}) must match the existing size ({existing:d}) at "
                "non-singleton dimension {dimension:d}"
            ),
            "the expanded size of the tensor",
            (
                "the number of sizes provided {...} must be greater or equal to the number of dimensions in the "
                "tensor"
            ),
            "the number of sizes provided",
        ),
        reads=("target sizes: {target:s}. tensor sizes: {tensor:s}",),
        here=(
            (
                "Here: size {existing} in dimension {dimension}, and {wanted} is asked for; target {target}, "
                "tensor {tensor}."
            ),
            "Here: size {existing} in dimension {dimension}, and {wanted} is asked for.",
        ),
        what=(
            "`expand`, and an assignment to a slice, repeat only dimensions of size 1; any other size must be "
            "equal."
        ),
        causes=(
            "In `x[i] = value` the value has another size than the place.",
            "The sequence is longer than the buffer (position ids, a mask of fixed length).",
        ),
        mend=("x[:, : value.size(1)] = value\nbias.unsqueeze(0).expand(batch, -1)"),
        check="torch.broadcast_to(value, x[i].shape) works.",
    ),
    Kind(
        slug="out-resized",
        chapter="storage",
        says=("an output with one or more elements was resized since it had shape",),
        what="The `out=` tensor had another shape than the result, and was resized; PyTorch will forbid it.",
        causes=("`out=` has a wrong shape; with Python-made batches: samples of different sizes.",),
        mend="out = torch.empty_like(result_shape)   # or out.resize_(0) first",
        check="out.shape equals the result's shape.",
    ),
    Kind(
        slug="numpy-not-available",
        chapter="devices",
        says=(
            "numpy is not available",
            "a module that was compiled using numpy 1.x cannot be run in numpy 2",
            "failed to initialize numpy",
        ),
        needs=(
            "torch",
            "numpy is not available",
        ),
        what=(
            "PyTorch's bridge to NumPy is compiled against NumPy's binary interface. Where the two do not fit "
            "(an old torch built for NumPy 1, NumPy 2 installed), the bridge is switched off."
        ),
        causes=(
            "torch 2.2 or older with NumPy 2.",
            "NumPy is missing or broken in this environment.",
        ),
        mend=(
            "python -m pip install --upgrade torch      # 2.3 and later know NumPy 2\n"
            "# or: python -m pip install 'numpy<2'"
        ),
        check="torch.ones(1).numpy() works in a new process.",
    ),
    Kind(
        slug="view-dtype-sizes",
        chapter="storage",
        says=(
            "must be divisible by {n:d} to view {a:w} as {b:w} (different element sizes), but got {got:d}",
            "(different element sizes)",
            "self.stride(-1) must be 1 to view",
            "self.dim() cannot be 0 to view",
        ),
        here=("Here: {a} read as {b}: the last size must be a multiple of {n}, and is {got}.",),
        what=(
            "`x.view(dtype)` reads the same bytes as another type. Larger elements take several of the smaller "
            "ones, so the last dimension must be contiguous and a multiple of their ratio."
        ),
        causes=(
            "A conversion was meant: `.to(dtype)` computes new numbers, `.view(dtype)` reads the old bytes.",
            "The last dimension is not the one that holds the bytes, or the tensor was sliced or transposed.",
        ),
        mend="y = x.to(torch.float32)              # numbers\ny = x.contiguous().view(torch.float32)   # bytes",
        check="x.stride(-1) == 1 and x.size(-1) * x.element_size() % y.element_size() == 0.",
    ),
    Kind(
        slug="clamp-without-limits",
        chapter="storage",
        says=("at least one of 'min' or 'max' must not be none",),
        what="`clamp` limits values from below, from above, or both: one limit must be given.",
        causes=("Both limits are None, from settings that were not filled in.",),
        mend="y = x.clamp(min=0)",
        check="y.min() and y.max().",
    ),
    Kind(
        slug="mask-wrong-dtype",
        chapter="storage",
        says=(
            "where expected condition to be a boolean tensor, but got a tensor with dtype {got:w}",
            "where expected condition to be a boolean tensor",
            "masked_fill_ only supports boolean masks, but got mask with dtype {got:w}",
            "only supports boolean masks",
            "masked_fill only supports boolean masks",
            "masked_select: expected booltensor",
            "expected booltensor or bytetensor for mask",
            "expected booltensor for mask",
            "expected condition to have scalar type bool",
            "expected object of scalar type bool but got scalar type {got:w} for argument #2 'mask'",
            "mask dtype should be bool",
        ),
        here=("Here: the mask is {got}.",),
        what=(
            "A mask answers yes or no for each element: its dtype is bool. Numbers 0 and 1 are not taken for it "
            "(uint8 was, before 1.2)."
        ),
        causes=(
            "The mask comes from a file, a tokenizer (attention_mask is int64) or from arithmetic (`1 - mask`).",
            "Condition and value are swapped.",
        ),
        mend="scores = scores.masked_fill(mask == 0, float('-inf'))\ny = torch.where(mask.bool(), a, b)",
        check="mask.dtype is torch.bool.",
    ),
    Kind(
        slug="range-bounds",
        chapter="storage",
        says=(
            "upper bound and lower bound inconsistent with step sign",
            "upper bound and larger bound inconsistent with step sign",
            "step must be nonzero",
            "number of steps must be non-negative",
            "unsupported range: ",
        ),
        needs=(
            "torch",
            "bound",
            "steps",
        ),
        what=(
            "`arange(start, end, step)` counts from start towards end, so the step's sign must lead there; a step "
            "of 0 leads nowhere."
        ),
        causes=(
            "Start and end are swapped, or computed from sizes that became smaller than expected.",
            "It should count downwards: the step is negative and start the larger one.",
        ),
        mend="torch.arange(9, -1, -1)          # 9 … 0\ntorch.arange(10).flip(0)         # the same",
        check="(end - start) * step >= 0.",
    ),
    Kind(
        slug="negative-size",
        chapter="storage",
        says=(
            "trying to create tensor with negative dimension {n:d}",
            "trying to create tensor with negative dimension",
            "trying to resize tensor with negative dimension",
            "tensor with negative dimension",
        ),
        here=("Here: the size is {n}.",),
        what="A tensor's sizes are 0 or more, and one of these was computed as less.",
        causes=(
            "A layer's size is a difference or a quotient of settings, and one of them is too small.",
            "A crop, a padding or a window is larger than what it is taken from.",
        ),
        mend="print(in_features, out_features)      # the numbers, just before the line\nassert size > 0, size",
        check="All sizes in the call are positive.",
    ),
    Kind(
        slug="default-dtype",
        chapter="storage",
        says=(
            "only floating-point types are supported as the default type",
            "couldn't find storage object",
            "invalid type object, must be a floating point",
        ),
        needs=("default type", "storage object", "torch"),
        what=(
            "The default dtype is the one of `torch.zeros(3)` and of new layers' weights: a floating type. Integers "
            "come from integers (`torch.tensor([1])`) or from `dtype=`."
        ),
        causes=("`set_default_dtype` with an integer type, meant for one tensor only.",),
        mend="x = torch.zeros(3, dtype=torch.int32)",
        check="torch.get_default_dtype() is torch.float32.",
    ),
    Kind(
        slug="dimension-missing",
        chapter="storage",
        says=tuple(
            f"dimension out of range (expected to be in range of [-{dims}, {dims - 1}], but got {{dim:d}})"
            for dims in range(2, 9)
        ),
        here=("Here: dimension {dim} was asked for.",),
        what=(
            "A tensor of n dimensions has those from 0 to n - 1, and -1 to -n from behind. The one that was asked for "
            "doesn't exist."
        ),
        causes=(
            "The tensor has a dimension less than expected: no batch, one sample instead of several, a `squeeze`.",
            "A dimension is meant from behind: -1 is the last, however many there are.",
        ),
        mend=(
            "print(x.shape)                 # just before the line\n"
            "y = x.sum(dim=-1)              # the last one\n"
            "x = x.unsqueeze(0)             # a batch of one"
        ),
        check="-x.dim() <= dim < x.dim().",
    ),
    Kind(
        slug="reduction-of-nothing",
        chapter="storage",
        says=(
            "expected reduction dim to be specified for input.numel() == 0",
            "expected reduction dim {dim:d} to have non-zero size",
            "cannot perform reduction function {function:w} on a tensor with no elements",
            "median cannot be called with empty tensor",
            "operation does not have an identity",
        ),
        here=("Here: dimension {dim} is empty.", "Here: {function}."),
        needs=("torch", "tensor", "reduction", "numel"),
        what=(
            "A sum of nothing is 0, but the largest of nothing doesn't exist: max, min, argmax and median refuse a "
            "dimension of size 0."
        ),
        causes=(
            "A mask or a filter left nothing (no box above the threshold, no sample of a class).",
            "The dataset or the batch is empty.",
        ),
        mend="if x.numel():\n    best = x.max()",
        check="x.shape has no 0 in it.",
    ),
    Kind(
        slug="value-called",
        chapter="storage",
        says=(
            "'torch.size' object is not callable",
            "'torch.dtype' object is not callable",
            "'torch.device' object is not callable",
            "'parameter' object is not callable",
        ),
        what="`x.shape`, `x.dtype` and `x.device` are values; `x.size()` is a method. A value can't be called.",
        causes=(
            "Parentheses too many: `x.shape()` or `x.shape(0)`.",
            "A name was overwritten: a parameter has the name of a layer or a method.",
        ),
        mend="n = x.shape[0]\nn = x.size(0)",
        check="callable(x.shape) is False.",
    ),
    Kind(
        slug="dtype-argument",
        chapter="storage",
        says=(
            "{function:w}(): argument 'dtype' must be torch.dtype, not {got:w}",
            "argument 'dtype' must be torch.dtype, not {got:w}",
            "argument 'dtype' must be torch.dtype",
            "dtype must be a torch.dtype",
            "argument 'device' must be torch.device",
        ),
        here=("Here: a {got} came.",),
        what="A dtype is an object of torch's own, such as `torch.float32`: a name as a text, or NumPy's, is none.",
        causes=(
            "A setting gives it as a text ('float32').",
            "NumPy's dtype (`np.float32`, `array.dtype`) is handed over.",
        ),
        mend="dtype = getattr(torch, 'float32')\ndtype = torch.from_numpy(array).dtype",
        check="isinstance(dtype, torch.dtype).",
    ),
    Kind(
        slug="array-bytes",
        chapter="storage",
        says=(
            "given numpy array strides not a multiple of the element byte size",
            "given array strides not a multiple of the element byte size",
            "given numpy array has byte order different from the native byte order",
        ),
        what=(
            "`from_numpy` shares memory, so the array's bytes must lie as torch reads them: this computer's byte "
            "order, and steps of whole elements."
        ),
        causes=(
            "The array comes from a file of another byte order (`>f4`: FITS, MAT, IDX).",
            "It is one field of a structured array, with other bytes between.",
        ),
        mend=(
            "x = torch.from_numpy(array.astype(np.float32))     # a copy in this order\n"
            "x = torch.from_numpy(array['field'].copy())"
        ),
        check="array.dtype.byteorder is '=' or '|', and array.strides are multiples of array.itemsize.",
    ),
)
