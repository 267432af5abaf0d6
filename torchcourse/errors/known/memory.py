"""Memory used up: the card's, by what the numbers of the message say, and the computer's."""

import re
from collections.abc import Mapping

from torchcourse.allocator import read_oom_message
from torchcourse.allocator.sizes import format_size

from ..data import Kind, Values

# PYTORCH_CUDA_ALLOC_CONF is its name before 2.9.
_SETTING = "PYTORCH_ALLOC_CONF=expandable_segments:True python train.py"


def numbers(text: str, _: Mapping[str, str]) -> Values:
    """The sizes in an out-of-memory message, and the sentence that they allow."""
    try:
        seen = read_oom_message(re.sub("out of memory", "out of memory", text, flags=re.IGNORECASE))
    except ValueError:
        return {}
    names = ("tried", "total", "free", "allocated", "cached", "others", "this_process", "allowed")
    sizes = {name: format_size(size) for name in names if (size := getattr(seen, name)) is not None}
    listed = "; ".join(f"{name.replace('_', ' ')} {size}" for name, size in sizes.items())
    return {**sizes, "listed": listed, "cause": seen.cause}


KINDS = (
    Kind(
        slug="gpu-out-of-memory",
        chapter="allocator",
        says=(
            "error=2 : out of memory",
            "thcudacheck fail {...}out of memory",
            "cuda runtime error (2)",
            "out of memory trying to allocate{...}torch",
            "hip error: out of memory",
            "cuda out of memory",
            "cuda error: out of memory",
            "cuda runtime error (2) : out of memory",
            "cuda runtime error (2): out of memory",
            "hip out of memory",
            "mps backend out of memory",
            "xpu out of memory",
            "outofmemoryerror: cuda",
            "torch.outofmemoryerror",
            "torch.cuda.outofmemoryerror",
            "cuda_error_out_of_memory",
            "cuda out of memory. tried to allocate",
            "cudaerrormemoryallocation",
            "tried to allocate {...}gpu {...}total capacity",
            "npu out of memory",
            "cuda driver error: out of memory",
            "cublas_status_alloc_failed",
            "cudnn_status_alloc_failed",
            "allocation on device",
            "would exceed allowed memory. (out of memory)",
        ),
        here=("Here: {listed}. {cause}",),
        unless=(
            "tensorflow",
            "jaxlib",
            "xlaruntimeerror",
            "cupy",
            "keras",
            "resource_exhausted",
            "numba.",
        ),
        refine=numbers,
        what=(
            "PyTorch's allocator asked the driver for a segment and was refused, after it had given back its "
            "own cache. Memory on the card is held by living tensors (weights, gradients, optimizer state, "
            "activations saved for the backward), by PyTorch's cache (reserved, not in use), and by other "
            "processes."
        ),
        causes=(
            "It is really full: batch, image or sequence too large for the activations that the backward keeps.",
            (
                "It grows from step to step: a list of losses with their graphs, outputs kept, no `no_grad` in "
                "validation."
            ),
            (
                "One request is impossible (larger than the card): a wrong shape, a broadcast or an attention over "
                "a long sequence."
            ),
            "Another process holds the card: an old notebook kernel, another user.",
            "Fragmentation: much is reserved and not in use, in pieces that are too small.",
        ),
        mend=(
            "with torch.no_grad(): validate()\n"
            "losses.append(loss.item())                  # a number, not a graph\n"
            "for x, y in loader:                         # smaller batch, same gradient\n"
            "    (loss_fn(model(x), y) / 4).backward()\n" + _SETTING
        ),
        check=(
            "torch.cuda.memory_allocated() at the same place of each step: level or growing? nvidia-smi: who "
            "else? torchcourse.allocator reads the message and a snapshot."
        ),
        wrong=(
            "A smaller batch when the numbers say fragmentation, another process, or one impossible allocation.",
            (
                "`empty_cache()` in each step: it frees nothing that is in use, PyTorch does it itself before this "
                "error, and it costs time."
            ),
        ),
    ),
    Kind(
        slug="host-out-of-memory",
        chapter="allocator",
        says=(
            "defaultcpuallocator: can't allocate memory: you tried to allocate {size:d} bytes",
            "defaultcpuallocator: not enough memory: you tried to allocate {size:d} bytes",
            "defaultcpuallocator: can't allocate memory",
            "defaultcpuallocator: not enough memory",
            "enforce fail at alloc_cpu.cpp",
            "enforce fail at cpuallocator.cpp",
            "storage size calculation overflowed with sizes={sizes:s}",
            "storage size calculation overflowed",
            "cuda error: host memory",
            "cudahostalloc",
            "invalid buffer size: {size}",
            "invalid buffer size",
            "not enough memory: you tried",
            "posix_memalign failed",
            "the paging file is too small for this operation to complete",
            "data. dataloader's workers{...}out of memory",
            "numel: integer multiplication overflow",
        ),
        here=(
            "Here: {size} bytes were asked for.",
            "Here: sizes {sizes}.",
        ),
        needs=(
            "torch",
            "allocator",
            "enforce fail",
            "cudahostalloc",
            "storage size",
            "invalid buffer size",
            "paging file",
            "you tried to allocate",
            "host memory",
            "numel",
        ),
        unless=(
            "tensorflow",
            "numpy._core._exceptions",
            "numpy.core._exceptions",
        ),
        anybodys=True,
        what=(
            "A tensor on the CPU lives in the computer's memory (RAM), and the system refused the request (or "
            "on a Mac: one buffer is larger than Metal allows)."
        ),
        causes=(
            (
                "One request is absurdly large: a wrong shape, a broadcast ((N, 1) with (N,)), a size that "
                "overflowed."
            ),
            "The data set or its copies fill the RAM; each worker adds its own.",
            "Results pile up in a list, with their graphs.",
            "Windows: each worker loads torch's DLLs, and the paging file is too small.",
        ),
        mend=(
            "print(a.shape, b.shape)                                   # what does the result's size come to?\n"
            "x = torch.from_numpy(np.load('x.npy', mmap_mode='r'))    # read as needed\n"
            "losses.append(loss.item())"
        ),
        check="numel() * element_size() of the result; psutil.virtual_memory().available.",
    ),
    Kind(
        slug="allocator-settings",
        chapter="allocator",
        says=(
            "unrecognized cachingallocator option",
            "unrecognized key '{key:w}' in cuda allocator config",
            "cuda allocator config",
            "caching allocator setting",
            "cachingallocator option",
            "pytorch_cuda_alloc_conf is deprecated",
            "expandable_segments not supported",
            "cudaallocatorconfig",
            "max_split_size_mb too small",
            "error parsing {...}allocatorconfig",
            "acceleratorallocatorconfig",
            "set_per_process_memory_fraction",
            "invalid fraction:",
            "!block->expandable_segment_ internal assert failed",
            "invalid device argument{...}did you call init",
            "free_blocks.empty() internal assert",
            "cudacachingallocator.cpp",
        ),
        needs=(
            "torch",
            "alloc",
        ),
        unless=(
            "out of memory",
            "tensorflow",
        ),
        what=(
            "The caching allocator reads its settings once, from PYTORCH_ALLOC_CONF (PYTORCH_CUDA_ALLOC_CONF "
            "before 2.9), when CUDA starts."
        ),
        causes=(
            "A setting is misspelt, or unknown to this version or platform.",
            "It was set after the first CUDA call: too late.",
        ),
        mend="PYTORCH_ALLOC_CONF=expandable_segments:True python train.py",
        check="torch.cuda.memory._snapshot()['allocator_settings'].",
    ),
)
