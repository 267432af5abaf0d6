"""Types of numbers that do not fit."""

from ..data import Kind

_DTYPES = (
    "Say the type once where the data comes in: float32 for what is computed, int64 for classes and indices."
)

KINDS = (
    Kind(
        slug="dtype-mismatch",
        chapter="training",
        says=(
            "and bias type ({b:w}) should be the same",
            "rnn input dtype ({a}) does not match weight dtype ({b})",
            "does not match weight dtype",
            "input type ({a}) and bias type ({b}) should be the same",
            "input type ({a}) and weight type ({b}) should be the same",
            "mismatch in dtype: grad_output",
            "expected input and weight to have the same dtype",
            "index_add_(): self and source",
            "value and key must have the same dtype",
            "expected x1 and x2 to have the same dtype",
            "'self' and 'other' have different dtypes",
            "tensors must have the same dtype",
            "expected self.dtype to be",
            "input dtype should be either floating point or complex",
            "mat1 and mat2 must have the same dtype, but got {a:w} and {b:w}",
            "mat1 and mat2 must have the same dtype",
            "expected scalar type {a:w} but found {b:w}",
            "expected m1 and m2 to have the same dtype, but got: {a} != {b}",
            "expected m1 and m2 to have the same dtype",
            "expected mat1 and mat2 to have the same dtype",
            "expected both vectors to have same dtype",
            "expected tensor for argument #{n:d} '{argument:w}' to have the same type as",
            "input type ({a:w}) and bias type ({b:w}) should be the same",
            "input type ({a:w}) and weight type ({b:w}) should be the same",
            "input type (double) and",
            "input type (float) and",
            "input type (half) and",
            "input type (long) and",
            "input type (unsigned char) and",
            "input type (c10::half) and",
            "input type (c10::bfloat16) and",
            "input type (torch.doubletensor) and weight",
            "input type (torch.floattensor) and weight type (torch.halftensor)",
            "input type (torch.halftensor) and weight type (torch.floattensor)",
            "input type (torch.cuda.doubletensor) and weight type (torch.cuda.floattensor)",
            "input type (torch.cuda.floattensor) and weight type (torch.cuda.halftensor)",
            "input type (torch.cuda.halftensor) and weight type (torch.cuda.floattensor)",
            "input type (torch.cuda.bytetensor) and weight type (torch.cuda.floattensor)",
            "expected object of type torch.{a:w} but found type torch.{b:w}",
            "expected object of scalar type {a:w} but got scalar type {b:w} for argument",
            "expected object of scalar type {a:w} but got scalar type {b:w} for sequence element",
            "expected object of scalar type",
            "expected object of data type",
            "expected tensor of type torch.",
            "expected dtype float for {...} but got dtype",
            "expected self and mat2 to have the same dtype",
            "self and mat2 must have the same dtype",
            "to have the same dtype, but got",
            "query and key must have the same dtype",
            "query, key, and value to have the same dtype",
            "input dtype and weight dtype must match",
            "input and hidden tensors are not the same dtype",
            "input and parameter tensors are not the same dtype",
            "mixed dtype (cpu): expect",
            "mixed dtype (cpu)",
            "mixed dtype (cuda)",
            "expected input tensor to have the same dtype",
            "parameter and input dtypes",
            "must have the same type",
            "expected a tensor of type",
            "input, weight and bias have different dtypes",
            "both inputs should have same dtype",
            "both inputs to have the same dtype",
            "source and destination dtypes match",
            "expected self.dtype to be equal to src.dtype",
            "self and value's scalar type",
            "expected self and source to have same",
            "index_copy_(): self and source expected to have the same dtype",
            "expected attn_mask dtype to be bool or",
            "attention mask{...}dtype",
            "lerp: ",
            "expected dtype {a:w} for 'weight{...}' but got dtype {b:w}",
            "torch.bmm: expected the same dtype",
            "batch1 and batch2 must have the same dtype",
            "tensor for 'out' is on cpu, tensor for argument",
        ),
        reads=(
            "dtype, but got {a:w} and {b:w}",
            "expected scalar type {a:w} but found {b:w}",
            "but got query.dtype: {a:w}",
        ),
        here=("Here: {a} meets {b}.",),
        needs=(
            "torch",
            "mat1",
            "scalar type",
            "dtype",
            "tensor",
            "bias type",
            "weight type",
        ),
        unless=(
            "tensorflow",
            "keras",
            "jax",
            "pandas",
        ),
        what=(
            "A layer or a matrix product takes one type of number for everything; unlike `+`, it does not "
            "promote."
        ),
        causes=(
            (
                "The data comes from NumPy or pandas, whose floats are float64 (Double); the weights are float32 "
                "(Float)."
            ),
            "The data is integers (Long, Byte): images of 0..255, ids, one-hot.",
            "The model is half, the input is not, or a piece runs outside autocast.",
            "State made before `.double()` or `.half()` (an optimizer's, a hidden state) kept its type.",
        ),
        mend=(
            "x = x.to(torch.float32)              # or: torch.as_tensor(array, dtype=torch.float32)\n"
            "x = x.to(fc.weight.dtype)            # whatever the model is"
        ),
        check=("x.dtype == next(model.parameters()).dtype. " + _DTYPES),
        wrong=(
            "`model.double()` to fit the data: four times slower or more on most GPUs, twice the memory.",
        ),
    ),
    Kind(
        slug="target-dtype",
        chapter="training",
        says=(
            "expected scalar type long but found {got:w}",
            "expected object of scalar type long but got scalar type {got:w} for argument #{n:d} 'target'",
            "expected object of type torch.longtensor but found type torch.{got:w} for argument #{n:d} 'target'",
            (
                "expected object of type torch.cuda.longtensor but found type torch.cuda.{got:w} for argument "
                "#{n:d} 'target'"
            ),
            "expected torch.longtensor, got torch.",
            "expected torch.longtensor (got torch.",
            "expected floating point type for target with class probabilities, got {got:w}",
            "expected floating point type for target with class probabilities",
            "expected target dtype to be long",
            'nll_loss_forward_reduce_cuda_kernel_2d_index" not implemented for',
            "\"nll_loss_forward_reduce_cuda_kernel_2d_index\" not implemented for '{got:w}'",
            "\"nll_loss_out_frame\" not implemented for '{got:w}'",
            '"nll_loss2d_forward_out_frame" not implemented for',
            "\"host_softmax\" not implemented for '{got:w}'",
            "\"log_softmax_lastdim_kernel_impl\" not implemented for '{got:w}'",
            'nll_loss" not implemented for',
            'nll_loss_out_frame" not implemented',
            "expected object of scalar type float but got scalar type long for argument #{n:d} 'target'",
            "result type float can't be cast to the desired output type long at {...}loss",
            "found dtype {a:w} but expected {b:w}",
            "one_hot is only applicable to index tensor",
            "class values must be smaller than num_classes",
            "class values must be non-negative",
            'binary_cross_entropy" not implemented for',
        ),
        here=(
            "Here: the target (or the logits) is {got}.",
            "Here: {a}, and {b} is expected.",
        ),
        needs=(
            "torch",
            "target",
            "scalar type",
            "not implemented",
            "dtype",
            "one_hot",
            "class values",
        ),
        what=(
            "Losses take class numbers as int64 (`cross_entropy`, `nll_loss`), and values as floats of the "
            "output's type (`mse_loss`, BCE). A float target of `cross_entropy` is read as class probabilities."
        ),
        causes=(
            "The labels are float: they came from a file, from pandas, or from `torch.tensor([0., 1.])`.",
            "A regression target is int64: `mse_loss` needs floats.",
            "float64 targets (NumPy) beside float32 outputs.",
            "Output and target are swapped in the call.",
        ),
        mend=(
            "loss = F.cross_entropy(logits, target.long())\n"
            "loss = F.mse_loss(output, target.to(output.dtype))"
        ),
        check="target.dtype is torch.int64 for classes, output.dtype for values.",
    ),
    Kind(
        slug="embedding-dtype",
        chapter="training",
        says=(
            (
                "expected tensor for argument #1 'indices' to have one of the following scalar types: long, int; "
                "but got {got} instead"
            ),
            "expected tensor for argument #1 'indices' to have",
            "expected object of scalar type long but got scalar type {got:w} for argument #{n:d} 'index'",
            "argument #1 'indices'",
            "expected index{...}scalar types: long, int",
            "for argument #3 'index'",
            "expected dtype int64 for 'indices'",
            "embedding(): argument 'indices'",
            "argument 'indices' (position 2) must be tensor",
        ),
        reads=(
            "but got {got:w} instead",
            "but got torch.{got:w} instead",
        ),
        here=("Here: the indices are {got}.",),
        what="An embedding is a table, and its input the row numbers: int64 or int32, nothing else.",
        causes=(
            "The ids went through a float (a division, `torch.Tensor(ids)`, a float collate).",
            "The embedding is fed with features, or with another layer's output.",
        ),
        mend="y = embedding(ids.long())",
        check="ids.dtype == torch.int64, and the values are whole numbers.",
    ),
    Kind(
        slug="result-type-cast",
        chapter="training",
        says=(
            "result type {a:w} can't be cast to the desired output type {b:w}",
            "can't be cast to the desired output type",
            "result dtype {a:w} can't be cast to the desired output type {b:w}",
            "integer division of tensors using div or / is no longer supported",
            "integer division of tensors using div or / is not supported",
            "the output type {...} can't be cast",
        ),
        here=("Here: the result is {a}, the tensor that is written is {b}.",),
        what=(
            "An operation promotes its operands to one type, and an in-place write must put the result into "
            "the tensor that is there. A float does not go into an integer tensor."
        ),
        causes=(
            "A state_dict is averaged: `num_batches_tracked` of BatchNorm is int64.",
            "`x += 0.5`, `x /= 2` or `x *= rate` on an integer tensor (pixels, counters, labels).",
        ),
        mend=(
            "if value.is_floating_point():\n"
            "    value.add_(update)\n"
            "x = x / 2                 # a new tensor; or x = x.float()"
        ),
        check="torch.result_type(a, b) == a.dtype for an in-place write into a.",
    ),
    Kind(
        slug="needs-floating-point",
        chapter="training",
        says=(
            "cdist only supports floating-point dtypes, x1 got: {got:w}",
            (
                "mean(): could not infer output dtype. input dtype must be either a floating point or complex "
                "dtype. got: {got:w}"
            ),
            "can only calculate the mean of floating types. got {got:w} instead",
            "can only calculate the mean of floating types",
            "std and var only support floating point",
            "std and var only for floating point",
            "std(): only floating point",
            "var only support floating",
            "expected a floating point tensor",
            "expected a floating point or complex tensor",
            "expected a floating point or complex input",
            "norm only supports strided layout, got",
            "can only calculate the norm of floating",
            "median() input dtype",
            "quantile() input tensor must be either float or double dtype",
            "could not infer output dtype",
            "only floating point dtypes",
            "floating point or complex dtype",
            "input must be floating",
            "bernoulli_{...}only supports floating",
            "'normal_kernel_cpu' not implemented for",
            "\"normal_kernel_cpu\" not implemented for '{got:w}'",
            '"bernoulli',
            "expected input to be a floating",
            "softmax{...}not implemented for 'long'",
            "\"softmax_lastdim_kernel_impl\" not implemented for '{got:w}'",
            "\"softmax_kernel_impl\" not implemented for '{got:w}'",
            '"exp_vml_cpu" not implemented for',
            '"sigmoid',
            "only tensors of floating point",
            "tensor image should be a float tensor",
            "input tensor should be a float tensor",
            "dropout probability has to be",
        ),
        reads=(
            "got: {got:w}",
            "got {got:w} instead",
            "got torch.{got:w}",
        ),
        here=("Here: the tensor is {got}.",),
        needs=(
            "torch",
            "dtype",
            "floating",
            "not implemented for",
            "float tensor",
            "mean of",
        ),
        unless=(
            "tensorflow",
            "keras",
            "jax",
            "pandas",
        ),
        what=(
            "A mean, a deviation, a softmax or a norm of integers is no integer, and PyTorch doesn't choose a "
            "floating type for you."
        ),
        causes=(
            "The tensor is int64 or bool: labels, a comparison (`pred == y`), counts.",
            "An image is uint8 (0..255), and the transform expects floats (ToTensor before Normalize).",
        ),
        mend=("accuracy = (pred == y).float().mean()\nx = image.float() / 255"),
        check="x.is_floating_point() before the line.",
    ),
    Kind(
        slug="not-implemented-for-dtype",
        chapter="training",
        says=(
            "\"{operator:w}\" not implemented for '{dtype:w}'",
            "\" not implemented for '",
            "not implemented for 'long'",
            "not implemented for 'bool'",
            "not implemented for 'byte'",
            "is not implemented for type torch.",
            "does not support automatic differentiation for outputs with complex",
            "not implemented for 'int'",
            "not implemented for 'char'",
            "not implemented for 'float8",
            "unsupported dtype: ",
            "unsupported scalartype",
            "got unsupported scalartype {dtype:w}",
            'bitwise_and_cpu" not implemented',
            "complex dtypes are not supported",
        ),
        here=("Here: {operator} has no code for {dtype}.",),
        needs=(
            "torch",
            "not implemented for",
            "scalartype",
            "bool tensor",
        ),
        unless=(
            "tensorflow",
            "keras",
            "jaxlib",
            "pandas",
            "sklearn",
        ),
        what=(
            "Each operator is compiled for a list of dtypes per device. This one has no code for this dtype on "
            "this device: integers and bool are missing for many, floats for those that work on bits."
        ),
        causes=(
            "Integers or bools where the operator computes with floats: an image of bytes, labels, a mask.",
            "Logits and target are swapped, or a target is of the wrong type.",
            "Floats where it works on bits or counts (`~`, `&`, `bincount`).",
        ),
        mend=("x = x.float()\nmask = (x > 0) & (x < 1)          # bits of bool tensors, not of floats"),
        check="x.dtype and x.device; the same line works with x.float().",
    ),
    Kind(
        slug="tensor-of-texts",
        chapter="storage",
        says=(
            "new(): invalid data type 'str'",
            "invalid data type 'str'",
            "too many dimensions 'str'",
            "too many dimensions '{type:w}'",
            "could not infer dtype of {type:w}",
            "could not infer dtype of",
            "expected sequence of length {a:d} at dim {dim:d} (got {b:d})",
            "expected sequence of length",
            "only integer scalar arrays{...}torch",
            "can't assign a {type:w} to a torch.{dtype:w}",
            "new(): data must be a sequence (got {type:w})",
            "unsupported type in tensor constructor",
            "torch.tensor() argument",
            "tensor(): argument 'data'",
            "expected float (got",
            "expected int (got",
            "expected np.ndarray (got {type:w})",
            "expected np.ndarray (got",
            "input must be a numpy",
            "pic should be pil image or ndarray",
            "pic should be tensor or ndarray",
            "img should be pil image",
            "input pic must be",
            "unable to create tensor, you should probably activate truncation",
        ),
        reads=("at dim {dim:d} (got {b:d})",),
        here=(
            "Here: length {a} was expected at dimension {dim}, and {b} came.",
            "Here: the data has a {type}.",
        ),
        needs=(
            "torch",
            "tensor",
            "invalid data type",
            "too many dimensions '",
            "infer dtype",
            "sequence of length",
            "np.ndarray (got",
            "pil image",
        ),
        unless=(
            "tensorflow",
            "keras",
            "jax",
            "pandas.",
        ),
        what=(
            "A tensor is made of numbers in rows of equal length. The data has something else in it: text, "
            "None, an object, a list of another length, or a number that the dtype can't hold."
        ),
        causes=(
            "Labels are texts ('cat'), not class numbers.",
            "The rows have different lengths: they need padding.",
            "A list of tensors was given: that is `torch.stack`.",
            "An array was expected and a list came (`from_numpy`), or a tensor where a PIL image is needed.",
        ),
        mend=(
            "classes = sorted(set(labels))\n"
            "y = torch.tensor([classes.index(label) for label in labels])\n"
            "x = torch.stack(list_of_tensors)\n"
            "x = torch.tensor(rows)                     # lists; from_numpy is for arrays"
        ),
        check="np.asarray(data).dtype is a number's dtype, and not object.",
    ),
    Kind(
        slug="bce-target-integer",
        chapter="training",
        says=(
            "runtimeerror: result type {a:w} can't be cast to the desired output type {b:w}",
            "result type {a:w} can't be cast to the desired output type",
        ),
        here=("Here: the output is {a}, the target {b}.",),
        needs=("binary_cross_entropy",),
        anybodys=True,
        what=(
            "BCE computes with the target as a number between 0 and 1, in the output's floating type. A target "
            "of integers has no room for that."
        ),
        causes=("Labels 0 and 1 are int64 or bool, as a dataset or a comparison gives them.",),
        mend="loss = F.binary_cross_entropy_with_logits(logits, target.to(logits.dtype))",
        check="target.dtype == logits.dtype and target.shape == logits.shape.",
    ),
    Kind(
        slug="bool-arithmetic",
        chapter="training",
        says=(
            "subtraction, the '-' operator, with a bool tensor is not supported",
            "subtraction, the '-' operator, with two bool tensors is not supported",
            "negation, the '-' operator, on a bool tensor is not supported",
            "the '-' operator, with",
            "the '-' operator, on",
        ),
        needs=(
            "torch",
            "bool tensor",
        ),
        what=(
            "Truth values have no minus: PyTorch refuses, since `1 - mask` could mean `not` or a number. (Before "
            "1.2 comparisons gave uint8, and old code subtracts them.)"
        ),
        causes=(
            "`1 - mask` or `-mask` is meant as *not*.",
            "Two comparisons are subtracted to count differences.",
        ),
        mend=(
            "other = ~mask                       # instead of 1 - mask\n"
            "differ = (pred != target).sum()     # instead of (pred - target)\n"
            "number = mask.float()               # where numbers are meant"
        ),
        check="mask.dtype is torch.bool, and ~mask counts what mask doesn't.",
    ),
    Kind(
        slug="half-on-cpu",
        chapter="training",
        says=(
            "\"{operator:w}\" not implemented for 'half'",
            "\"{operator:w}\" not implemented for 'bfloat16'",
            "not implemented for 'half'",
            "not implemented for 'bfloat16'",
            "low precision dtypes not supported",
        ),
        here=("Here: {operator}.",),
        unless=("_cuda", "cuda_"),
        what=(
            "A model in half precision is made for a GPU. On the CPU, operators got half and bfloat16 code one by "
            "one over the versions; this one has none."
        ),
        causes=(
            "The model was made half (`.half()`, `torch_dtype=torch.float16`) and runs on the CPU.",
            "No GPU was found, and the code fell back to the CPU without changing the dtype.",
        ),
        mend=(
            "model = model.float()                                   # on the CPU\n"
            "model = model.to('cuda', torch.float16)                 # half where it is fast"
        ),
        check="{(p.dtype, p.device.type) for p in model.parameters()} has no (torch.float16, 'cpu').",
    ),
    Kind(
        slug="attention-kernel-dtype",
        chapter="training",
        says=(
            "flashattention only support fp16 and bf16",
            "flashattention only supports fp16 and bf16",
            "flash attention only supports fp16 and bf16",
            "no available kernel. aborting execution",
            "no viable backend for scaled_dot_product_attention",
            "flashattention only supports ampere gpus",
            "flashattention only support",
            "flash attention only support",
        ),
        what=(
            "The fast attention kernels exist for some dtypes, head sizes and cards: FlashAttention for float16 "
            "and bfloat16 on Ampere cards or newer. Where only such a kernel is allowed and the input doesn't fit, "
            "nothing is left."
        ),
        causes=(
            "Queries, keys and values are float32: no autocast around the model, or the weights were not cast.",
            "The card is older, or the attention mask is one that the kernel doesn't take.",
        ),
        mend=(
            "with torch.autocast('cuda', dtype=torch.bfloat16):\n"
            "    out = model(x)\n"
            "with torch.nn.attention.sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):   # a way out\n"
            "    y = F.scaled_dot_product_attention(q, k, v)"
        ),
        check="q.dtype, and torch.cuda.get_device_capability() >= (8, 0).",
    ),
    Kind(
        slug="number-overflow",
        chapter="storage",
        says=(
            "value cannot be converted to type {type:w} without overflow",
            "overflow when unpacking long",
        ),
        here=("Here: the number does not fit into {type}.",),
        needs=(
            "torch",
            "unpacking long",
            "value cannot be converted",
        ),
        what=(
            "A tensor's dtype has a range: uint8 0..255, int8 -128..127, float16 up to 65504, int64 up to 2**63 - "
            "1. A Python number outside cannot be stored; PyTorch refuses instead of wrapping round."
        ),
        causes=(
            "A fill value that the dtype doesn't have: 256 in an image of bytes, -1e9 in a half mask.",
            "A Python integer above 2**63 - 1 (a hash, a seed, an id).",
        ),
        mend=(
            "scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)    # the dtype's own limit\n"
            "image = image.to(torch.int16)                                       # room before the arithmetic"
        ),
        check="torch.iinfo(x.dtype) or torch.finfo(x.dtype): min <= value <= max.",
    ),
    Kind(
        slug="integer-arithmetic",
        chapter="storage",
        says=(
            "for integral input tensors, argument {name:w} must not be a floating point number",
            "for integral input tensors, argument",
            "for non-complex input tensors, argument",
            "boolean {name:w} only supported for boolean results",
            "integers to negative integer powers are not allowed",
        ),
        types=("RuntimeError",),
        what=(
            "An operation on integer tensors gives integers, and this one would not: a fraction as a factor, a "
            "negative power, a division by zero (floats have inf for that)."
        ),
        causes=(
            "The tensor was made of integers without meaning to: `torch.tensor([1, 2])`, `torch.arange(3)`.",
        ),
        mend="x = torch.tensor([1.0, 2.0])\nx = x.float()",
        check="x.is_floating_point().",
    ),
)
