"""What the NaN finder knows of operators: by their schemas, and a few lists of names."""

from typing import Any, NamedTuple

from torch._ops import OpOverload

# These return memory that nothing has written yet.
UNWRITTEN = frozenset({"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided",
                       "_efficientzerotensor", "resize_", "resize_as_"})  # fmt: skip
# An infinity among their arguments is one that somebody wrote down.
CONSTANT = frozenset({"full", "full_like", "new_full", "fill", "fill_", "masked_fill", "masked_fill_", "where",
                      "scalar_tensor", "lift_fresh", "lift_fresh_copy", "constant_pad_nd", "index_fill",
                      "index_fill_", "scatter", "scatter_"})  # fmt: skip
# They write all of their first argument and read nothing of it.
OVERWRITES = frozenset({"copy_", "zero_", "fill_", "normal_", "uniform_", "bernoulli_", "random_", "exponential_",
                        "cauchy_", "geometric_", "log_normal_", "set_"})  # fmt: skip
# Out of finite numbers they make finite numbers: no copy of what they overwrite is needed.
HARMLESS = OVERWRITES | {"relu_", "hardtanh_", "leaky_relu_", "clamp_", "clamp_min_", "clamp_max_", "neg_", "abs_",
                         "sigmoid_", "tanh_", "masked_fill_", "index_fill_", "silu_", "hardswish_"}  # fmt: skip
# Where infinities are at home: they mask, are compared, or are handed on.
_MASKING = """
    add add_ sub sub_ softmax _softmax _safe_softmax _log_softmax _masked_softmax logsumexp maximum minimum max min
    amax amin clamp clamp_ clamp_min clamp_max copy_ clone _to_copy cat stack index index_select gather index_put
    index_put_ neg tril triu tril_ triu_ repeat roll flip topk sort scatter_add baddbmm baddbmm_ nan_to_num isinf
    isnan exp eq ne lt le gt ge _scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_efficient_attention
    _scaled_dot_product_attention_math _scaled_dot_product_flash_attention
    _scaled_dot_product_cudnn_attention
"""
MASKING = CONSTANT | frozenset(_MASKING.split())
# Whoever calls these knows that there are NaNs.
_HANDLING = """
    nan_to_num nan_to_num_ where masked_fill masked_fill_ nansum nanmean nanmedian isnan isfinite isinf masked_select
    index index_put index_put_ ne eq
"""
HANDLING = frozenset(_HANDLING.split())


class Kind(NamedTuple):
    """One overload."""

    name: str  # "aten::log"
    short: str  # "log"
    arguments: tuple[str, ...]
    written: tuple[tuple[int, str], ...]  # arguments that it writes: place and name
    overwrites: bool  # the first argument
    harmless: bool
    looked_at: bool  # what it returns is looked at
    fresh: bool  # what it returns is new memory
    handles: bool  # one of HANDLING
    draws: bool  # it may be given a generator
    passes: bool  # a view: nothing of it needs a look


kinds: dict[Any, Kind] = {}
_PASSES = Kind("", "", (), (), False, False, False, False, False, False, True)


def kind_of(func: Any) -> Kind:
    """What is known of an operator; asked once of each, and then found in `kinds`."""
    if not isinstance(func, OpOverload):  # a higher order operator: what it calls is seen
        return _PASSES
    schema = func._schema
    short = schema.name.partition("::")[2]
    written = tuple((i, a.name) for i, a in enumerate(schema.arguments) if _is_written(a, short))
    fresh = not any(r.alias_info is not None for r in schema.returns)
    looked_at = short not in UNWRITTEN and (bool(written) or fresh) and short != "_local_scalar_dense"
    handles, passes = short in HANDLING, not (written or fresh)
    draws = any(str(a.type) in ("Optional[Generator]", "Generator") for a in schema.arguments)
    arguments = tuple(a.name for a in schema.arguments)
    kinds[func] = Kind(schema.name, short, arguments, written, short in OVERWRITES, short in HARMLESS,
                       looked_at, fresh, handles, draws, passes)  # fmt: skip
    return kinds[func]


def _is_written(argument: Any, operator: str) -> bool:
    """native_batch_norm writes its running statistics without saying so in its schema."""
    announced = argument.alias_info is not None and argument.alias_info.is_write
    return announced or (
        "batch_norm" in operator and argument.name.startswith("running_") and "backward" not in operator
    )
