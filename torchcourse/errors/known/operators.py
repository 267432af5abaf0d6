"""Operators that refuse by name: "index_select(): …", "linalg.inv: …". Any entry that tells more goes first."""

from ..data import Kind


def _named(*names: str) -> tuple[str, ...]:
    """The beginnings with which an operator's messages name it."""
    calls = (f"{name}(): " for name in names)
    colons = (f"{name}: " for name in names if len(name) > 8 or "_" in name or "." in name)
    return (*calls, *colons, *(f"{name} expects " for name in names if "_" in name))


_CHECK = "The shapes, dtypes and values on the line are those that help(torch.…) lists for this function."
_MEND = "print(x.shape, x.dtype, x.device)       # just before the line, for each argument"

KINDS = (
    Kind(
        slug="operator-refused",
        chapter="storage",
        says=_named(
            *(
                "arange",
                "argsort",
                "as_strided",
                "bincount",
                "broadcast_tensors",
                "broadcast_to",
                "bucketize",
            ),
            *(
                "cartesian_prod",
                "cdist",
                "chunk",
                "clamp",
                "column_stack",
                "combinations",
                "cross",
                "cummax",
                "cumsum",
            ),
            *(
                "diag",
                "diag_embed",
                "diagonal",
                "diff",
                "dsplit",
                "expand",
                "flatten",
                "flip",
                "fill_",
                "full",
            ),
            *(
                "gather",
                "hsplit",
                "histc",
                "histogram",
                "index_add",
                "index_add_",
                "index_copy_",
                "index_fill_",
            ),
            *(
                "index_put",
                "index_put_",
                "index_reduce",
                "index_select",
                "kron",
                "kthvalue",
                "linspace",
                "logspace",
            ),
            *(
                "masked_fill",
                "masked_fill_",
                "masked_scatter",
                "masked_scatter_",
                "masked_select",
                "median",
                "meshgrid",
            ),
            *("mode", "movedim", "narrow", "nonzero_static", "norm", "permute", "put_", "quantile", "repeat"),
            *(
                "repeat_interleave",
                "reshape",
                "resize_",
                "roll",
                "rot90",
                "scatter",
                "scatter_",
                "scatter_add",
            ),
            *(
                "scatter_add_",
                "scatter_reduce",
                "searchsorted",
                "select",
                "slice_scatter",
                "sort",
                "split",
                "squeeze",
            ),
            *(
                "squeeze_",
                "stack",
                "swapaxes",
                "take",
                "take_along_dim",
                "tensor_split",
                "tile",
                "topk",
                "trace",
            ),
            *(
                "transpose",
                "tril",
                "triu",
                "unbind",
                "unflatten",
                "unfold",
                "unique",
                "unsqueeze",
                "vander",
                "view",
            ),
            *(
                "vsplit",
                "where",
                "add",
                "sub",
                "mul",
                "div",
                "pow",
                "bitwise_and",
                "bitwise_or",
                "bitwise_not",
            ),
            *(
                "logical_and",
                "floor_divide",
                "remainder",
                "fmod",
                "tensordot",
                "mm",
                "bmm",
                "mv",
                "dot",
                "addmm",
            ),
            *("baddbmm", "addmv", "addcmul", "addcdiv", "lerp", "stft", "istft", "fft", "view_as_complex"),
            *("view_as_real", "complex", "polar", "segment_reduce", "pairwise_distance", "cosine_similarity"),
        ),
        types=("RuntimeError", "IndexError", "ValueError", "TypeError", "NotImplementedError"),
        needs=("torch", "tensor", "dim", "dtype", "index", "expected", "argument", "size"),
        broad=True,
        what=(
            "Each operator checks the number of dimensions, the sizes, dtypes and values of its arguments before it "
            "computes; this one refused, and the message names the condition."
        ),
        causes=(
            "An argument has another shape or dtype than the operator reads (an index must be int64, a mask bool).",
            "A dimension or an index is outside the tensor.",
        ),
        mend=_MEND,
        check=_CHECK,
    ),
    Kind(
        slug="linalg-refused",
        chapter="debugging",
        says=(
            "linalg.",
            "torch.linalg.",
            *_named(
                "cholesky_solve", "cholesky_inverse", "lu_solve", "triangular_solve", "matrix_exp", "logdet"
            ),
        ),
        types=("RuntimeError", "LinAlgError", "IndexError", "ValueError"),
        needs=("linalg.", "cholesky", "triangular", "matrix"),
        unless=("numpy", "scipy"),
        broad=True,
        what=(
            "The functions of torch.linalg read the last two dimensions as matrices, the others as a batch, and take "
            "floats; this one refused, and the message names the condition."
        ),
        causes=(
            "The matrices are not square, or a vector was given without its axis.",
            "Integers, or half precision, which has no decompositions.",
            "The matrix is singular, or has NaN in it from the steps before.",
        ),
        mend="x = torch.linalg.solve(a.float(), b.unsqueeze(-1)).squeeze(-1)",
        check="a.shape[-1] == a.shape[-2], a.isfinite().all(), torch.linalg.cond(a).",
    ),
    Kind(
        slug="layer-operator-refused",
        chapter="modules",
        says=_named(
            *(
                "conv1d",
                "conv2d",
                "conv3d",
                "conv_transpose1d",
                "conv_transpose2d",
                "conv_transpose3d",
                "convolution",
            ),
            *(
                "max_pool1d",
                "max_pool2d",
                "max_pool3d",
                "avg_pool1d",
                "avg_pool2d",
                "avg_pool3d",
                "lp_pool2d",
            ),
            *("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool2d"),
            *(
                "fractional_max_pool2d",
                "max_unpool2d",
                "max_unpooling2d_forward_out",
                "batch_norm",
                "native_batch_norm",
            ),
            *(
                "layer_norm",
                "group_norm",
                "instance_norm",
                "embedding",
                "embedding_bag",
                "linear",
                "bilinear",
                "lstm",
            ),
            *("gru", "rnn_tanh", "lstm_cell", "grid_sampler", "grid_sample", "affine_grid", "pixel_shuffle"),
            *(
                "pixel_unshuffle",
                "channel_shuffle",
                "upsample_nearest2d",
                "upsample_bilinear2d",
                "upsample_bicubic2d",
            ),
            *(
                "interpolate",
                "constant_pad_nd",
                "reflection_pad1d",
                "reflection_pad2d",
                "replication_pad2d",
                "pad",
            ),
            *(
                "softmax",
                "log_softmax",
                "glu",
                "prelu",
                "elu",
                "gelu",
                "hardtanh",
                "rrelu",
                "dropout",
                "im2col",
            ),
            *("col2im", "scaled_dot_product_attention", "multi_head_attention_forward", "pad_sequence"),
        ),
        types=("RuntimeError", "IndexError", "ValueError", "TypeError", "NotImplementedError"),
        needs=("torch", "tensor", "dim", "dtype", "expected", "argument", "size", "input"),
        unless=("tensorflow", "keras", "jax"),
        broad=True,
        what=(
            "The operator behind a layer checks input, weight and settings before it computes; this one refused, and "
            "the message names the condition."
        ),
        causes=(
            "The input has a dimension more or less, other channels, or another dtype than the weight.",
            "Settings that exclude one another, or a window larger than the input.",
        ),
        mend="print(layer)\nprint(x.shape, x.dtype, [p.shape for p in layer.parameters()])",
        check="The shapes that help(type(layer)) lists.",
    ),
)
