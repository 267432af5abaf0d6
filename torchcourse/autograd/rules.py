"""The local rule of each node, in words: what it makes of the gradient that arrives.

`grad` is what arrives; names such as `other` or `result` are those of the saved tensors. The formulas are
those of PyTorch's tools/autograd/derivatives.yaml, said by us.
"""

import re
from functools import lru_cache

_SAME = "passes grad on unchanged"
_RULES = {
    "AccumulateGrad": "adds grad to .grad of the leaf",
    "Abs": "grad · sign(self)",
    "Add": "grad to both inputs (times alpha to the second; summed where one was broadcast)",
    "Addmm": "grad @ mat2ᵀ to mat1, mat1ᵀ @ grad to mat2, grad summed over rows to the bias",
    "Addmv": "grad ⊗ vec to the matrix, matᵀ @ grad to the vector, grad to the bias",
    "Alias": _SAME,
    "AsStrided": "puts grad where the view read, zeros elsewhere; adds up where it read twice",
    "Baddbmm": "grad @ batch2ᵀ and batch1ᵀ @ grad per matrix, grad to the bias",
    "BinaryCrossEntropy": "grad · (self − target) / (self · (1 − self))",
    "BinaryCrossEntropyWithLogits": "grad · (sigmoid(self) − target)",
    "Bmm": "grad @ mat2ᵀ to self, selfᵀ @ grad to mat2, per matrix of the batch",
    "Cat": "cuts grad into one piece per input",
    "Clamp": "grad where self was inside the limits, 0 elsewhere",
    "Clone": _SAME,
    "Convolution": "grad convolved with the weight to the input, input with grad to the weight, Σ grad to bias",
    "CopyBackwards": "grad to what was copied, in its dtype and on its device",
    "CopySlices": "the written part of grad goes through the in-place operator, the rest stays with the base",
    "Cos": "grad · (−sin(self))",
    "CudnnConvolution": "grad convolved with the weight to the input, input with grad to the weight",
    "CumSum": "the cumulative sum of grad from the other end",
    "Detach": "ends here",
    "Diagonal": "grad on the diagonal, zeros elsewhere",
    "Div": "grad / other to self, −grad · self / other² to other",
    "Dot": "grad · the other vector",
    "Elu": "grad where self > 0, grad · alpha · exp(self) elsewhere",
    "Embedding": "adds each row of grad to the weight's row that was looked up",
    "Exp": "grad · result",
    "Expand": "sums grad over the dimensions that were expanded",
    "Fill": "Σ grad to the value",
    "Flip": "grad, flipped back",
    "Gather": "adds grad to the places that were read",
    "Gelu": "grad · GELU′(self)",
    "Index": "adds grad to the places that were read, zeros elsewhere",
    "IndexPut": "grad to self but 0 where it was written, and the written places' grad to the values",
    "IndexSelect": "adds grad to the rows that were read",
    "LeakyRelu": "grad where self > 0, grad · negative_slope elsewhere",
    "Linear": "grad @ weight to the input, gradᵀ @ input to the weight, Σ grad to the bias",
    "Log": "grad / self",
    "LogSoftmax": "grad − softmax · Σ grad",
    "Logsumexp": "grad · exp(self − result)",
    "MaskedFill": "grad, but 0 where it was filled",
    "Max": "grad to the place of the maximum (shared where several tie)",
    "Maximum": "grad to the larger one (half to each where they tie)",
    "MaxPool2DWithIndices": "grad to the place of each window's maximum",
    "Mean": "grad / number of elements, to every element",
    "Min": "grad to the place of the minimum (shared where several tie)",
    "Minimum": "grad to the smaller one (half to each where they tie)",
    "Mm": "grad @ mat2ᵀ to self, selfᵀ @ grad to mat2",
    "MseLoss": "grad · 2 · (self − target), divided by the number of elements for a mean",
    "Mul": "grad · other to self, grad · self to other",
    "Mv": "grad ⊗ vec to the matrix, selfᵀ @ grad to the vector",
    "NativeBatchNorm": "grad through the mean and the variance of the batch",
    "NativeDropout": "grad · mask / (1 − p)",
    "NativeLayerNorm": "grad through the mean and the variance of each row",
    "Neg": "−grad",
    "NllLoss": "−grad · weight at each target, 0 elsewhere",
    "Norm": "grad · self / result",
    "LinalgVectorNorm": "grad · self / result (for the 2-norm)",
    "Permute": "grad, its dimensions permuted back",
    "Pow": "grad · exponent · self^(exponent − 1)",
    "Prod": "grad · result / self",
    "Reciprocal": "−grad · result²",
    "Relu": "grad where result > 0, 0 elsewhere",
    "Repeat": "sums grad over the repeats",
    "ReshapeAlias": "grad, in the shape from before",
    "Rsqrt": "−½ · grad · result³",
    "Rsub": "−grad to self, grad to other",
    "ScaledDotProductFlashAttentionForCpu": "grad through softmax(query @ keyᵀ / √d) @ value",
    "Scatter": "grad, but 0 where it was written",
    "Select": "grad at the selected index, zeros elsewhere",
    "Sigmoid": "grad · result · (1 − result)",
    "Silu": "grad · SiLU′(self)",
    "Sin": "grad · cos(self)",
    "Slice": "grad in the slice, zeros elsewhere",
    "Softmax": "result · (grad − Σ grad · result)",
    "Softplus": "grad · sigmoid(beta · self)",
    "Split": "puts the pieces of grad together",
    "SplitWithSizes": "puts the pieces of grad together",
    "Sqrt": "grad / (2 · result)",
    "Squeeze": "grad, in the shape from before",
    "Stack": "cuts grad into one piece per input",
    "Std": "grad · (self − mean) / (result · (n − 1))",
    "Sub": "grad to self, −grad to other (summed where one was broadcast)",
    "Sum": "grad to every element that was summed",
    "T": "gradᵀ",
    "Tanh": "grad · (1 − result²)",
    "ToCopy": "grad, in the dtype and on the device from before",
    "Transpose": "grad, the two dimensions swapped back",
    "Tril": "grad's lower triangle",
    "Triu": "grad's upper triangle",
    "Unbind": "puts the pieces of grad together",
    "UnsafeView": "grad, in the shape from before",
    "Unsqueeze": "grad, in the shape from before",
    "Var": "grad · 2 · (self − mean) / (n − 1)",
    "View": "grad, in the shape from before",
    "Where": "grad to the one that was taken, 0 to the other",
}
_NUMBER = re.compile(r"(Backward)?\d*$")


@lru_cache(1024)
def rule(name: str) -> str:
    """What a node of this name does with the gradient: "grad · other to self, …". Never empty."""
    found = _RULES.get(name)
    if found is None:
        short = _NUMBER.sub("", name)
        found = _RULES.get(short) or f"grad times the derivative of {short or name}"
    return found


def known(name: str) -> bool:
    """Whether the rule is written down here, and not a general sentence."""
    return name in _RULES or _NUMBER.sub("", name) in _RULES
