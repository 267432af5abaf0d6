"""Errors of CUDA, cuBLAS and cuDNN themselves."""

from ..data import Kind

_LATE = (
    "The GPU works behind Python: kernels are queued, and an error is noticed at a later call, so the "
    "traceback often shows the wrong line. After it, this process can't use the GPU any more."
)
_SEARCH = (
    "CUDA_LAUNCH_BLOCKING=1 python train.py      # each call waits: the traceback shows the right line\n"
    "# or run the same step on the CPU: it gives the plain error, with the index in it\n"
    "model.cpu()(x.cpu())"
)

KINDS = (
    Kind(
        slug="device-side-assert",
        chapter="devices",
        says=(
            "device-side assert triggered",
            "cuda runtime error (59)",
            "cuda runtime error (710)",
            "assertion 'srcindex < srcselectdimsize' failed",
            "indexselectlargeindex",
            "index >= -sizes[i] && index < sizes[i]",
            "assertion '-sizes[i] <= index && index < sizes[i]",
            "assertion 't >= 0 && t < n_classes' failed",
            "block: [{block}], thread: [{thread}] assertion '{assertion}' failed",
            "thread: [",
            "idx_dim >= 0 && idx_dim < index_size",
            "cudaerrorassert",
            "assertion 'input_val >= zero && input_val <= one' failed",
            "assertion 'probability tensor contains",
        ),
        reads=("assertion '{assertion}' failed",),
        here=("Here: the kernel checked `{assertion}`.",),
        needs=(
            "cuda",
            "assert",
            "torch",
            "aten",
        ),
        unless=("tensorflow",),
        what=(
            "A kernel on the GPU checks its indices, and one was outside: a class number beyond the logits, an "
            "id beyond the embedding, a position outside the tensor. " + _LATE
        ),
        causes=(
            'Labels are not in 0 … C - 1 (numbered from 1, or 255 for "ignore").',
            "Token ids reach beyond the embedding, or positions beyond the table of positions.",
            "BCE outside 0..1, or an index tensor out of bounds.",
        ),
        mend=_SEARCH,
        check=(
            "target.min() >= 0 and target.max() < logits.size(1); ids.max() < embedding.num_embeddings. "
            "Restart the kernel first."
        ),
        wrong=("Commenting the assertion out: the kernel then reads foreign memory.",),
    ),
    Kind(
        slug="illegal-memory-access",
        chapter="devices",
        says=(
            "a ptx jit compilation failed",
            "cuda error: invalid program counter",
            "cuda error: the remote procedural call cannot be run",
            "an illegal memory access was encountered",
            "illegal memory access",
            "cuda runtime error (77)",
            "cuda runtime error (700)",
            "unspecified launch failure",
            "misaligned address",
            "illegal instruction was encountered",
            "cuda error: unknown error",
            "cuda unknown error",
            "cuda error: invalid argument",
            "cuda error: invalid value",
            "the launch timed out and was terminated",
            "launch timed out",
            "invalid configuration argument",
            "uncorrectable ecc error encountered",
            "uncorrectable ecc error",
            "uncorrectable nvlink",
            "too many resources requested for launch",
            "cuda error: context is destroyed",
            "cuda error: invalid resource handle",
            "invalid resource handle",
            "cuda error: an exception occurred on the device while executing a kernel",
            "operation not permitted when stream is capturing",
            "cuda error: operation failed due to a previous error during capture",
            "operation would make the legacy stream depend on a capturing blocking stream",
            "warp illegal",
            "cuda error: hardware stack error",
            "cuda error: peer",
            "gpu has fallen off the bus",
            "gpu is lost",
            "cuda kernel errors might be asynchronously reported",
        ),
        needs=(
            "cuda",
            "torch",
            "gpu",
            "capturing",
        ),
        unless=(
            "tensorflow",
            "cupy",
            "numba",
            "jaxlib",
            "device-side assert",
            "no kernel image",
            "invalid device ordinal",
            "out of memory",
        ),
        what=("A kernel touched memory that is not its own, or could not run. " + _LATE),
        causes=(
            "An index out of bounds in a kernel that doesn't check, or a tensor of more than 2^31 elements.",
            (
                "An extension or a compiled kernel (bitsandbytes, flash attention, torch.compile) built for "
                "another version, or wrong."
            ),
            "The card itself: overheated, overclocked, an ECC fault; the watchdog of a display.",
        ),
        mend=(_SEARCH + "\ncompute-sanitizer python train.py"),
        check="The same step on the CPU, and with CUDA_LAUNCH_BLOCKING=1, after a restart of the process.",
        wrong=(
            (
                "`torch.cuda.empty_cache()` or a try/except around it: the context is broken until the process "
                "ends."
            ),
        ),
    ),
    Kind(
        slug="cublas-failure",
        chapter="devices",
        says=(
            "cublas_status_not_initialized",
            "cublas_status_execution_failed",
            "cublas_status_internal_error",
            "cublas_status_invalid_value",
            "cublas_status_not_supported",
            "cublas_status_arch_mismatch",
            "cublas runtime error",
            "cublas error",
            "cublas_status_",
            "cusolver_status_",
            "cusolver error",
            "cusparse_status_",
            "cufft error",
            "cufft_internal_error",
            "curand_status_",
            "cublaslt",
            "cublas{...}resource allocation failed",
            "library not initialized at",
        ),
        reads=(
            "cuda error: {status:w} when calling '{call}'",
            "when calling '{call:w}",
        ),
        here=(
            "Here: {status} from {call}.",
            "Here: {call}.",
        ),
        unless=(
            "cublas_status_alloc_failed",
            "tensorflow",
            "jaxlib",
        ),
        what=(
            "cuBLAS (the library of matrix products) could not start or run. It needs memory of its own at its "
            "first call, and it meets errors that earlier kernels left."
        ),
        causes=(
            "The card is full: cublasCreate finds no memory for its handle.",
            "An earlier kernel failed (an index out of bounds); the product is only where it was noticed.",
            (
                "Shapes or dtypes that do not fit (older versions), or a driver, CUDA and cuBLAS that do not fit "
                "together (two cuBLAS on LD_LIBRARY_PATH)."
            ),
        ),
        mend=(
            "model.cpu()(x.cpu())                       # an index error shows itself there\n"
            "CUDA_LAUNCH_BLOCKING=1 python train.py\n"
            "unset LD_LIBRARY_PATH                      # so that torch's own cuBLAS is loaded"
        ),
        check=(
            "torch.ones(2, 2, device='cuda') @ torch.ones(2, 2, device='cuda') in a fresh process; nvidia-smi "
            "for free memory."
        ),
        wrong=("Installing CUDA again: the wheel brings its own cuBLAS.",),
    ),
    Kind(
        slug="cudnn-failure",
        chapter="devices",
        says=(
            "cudnn failed with status",
            "cudnnfinalize failed",
            "cudnn frontend error",
            "no valid engine configs",
            "no valid execution plans built",
            "cudnn_status_sublibrary_loading_failed",
            "cudnn_status_not_initialized",
            "cudnn_status_execution_failed",
            "cudnn_status_internal_error",
            "cudnn_status_mapping_error",
            "cudnn_status_bad_param",
            "cudnn_status_not_supported",
            "cudnn_status_arch_mismatch",
            "cudnn_status_version_mismatch",
            "cudnn_status_sublibrary_version_mismatch",
            "cudnn error",
            "cudnn_status_",
            "unable to find an engine to execute this computation",
            "find a valid cudnn algorithm",
            "cudnn_frontend",
            "cudnn version incompatibility",
            "no execution plans support the graph",
            "miopenstatus",
            "could not load library libcudnn",
            "unable to load any of {libcudnn",
            "unable to load any of",
            "libcudnn{...}cannot open shared object file",
            "rnn module weights are not part of single contiguous chunk of memory",
        ),
        reads=(
            "cudnn error: {status:w}",
            "compiled against {built} but found runtime version {found}",
        ),
        here=(
            "Here: {status}.",
            "Here: built for {built}, found {found}.",
        ),
        needs=(
            "cudnn",
            "torch",
            "engine",
            "miopen",
            "chunk of memory",
        ),
        unless=(
            "tensorflow",
            "jaxlib",
            "keras",
            "cudnn_status_alloc_failed",
        ),
        what=(
            "cuDNN (the library of convolutions and RNNs) could not start, or found no way to compute this. It "
            "needs workspace memory, a matching version, and sizes and dtypes that it knows; and it meets "
            "errors that earlier kernels left."
        ),
        causes=(
            'The card is nearly full: no workspace, so no algorithm ("unable to find an engine").',
            "Another cuDNN on LD_LIBRARY_PATH than the one that the wheel brings.",
            (
                "An input that is not contiguous, in half precision, or larger than cuDNN's 32-bit sizes; an "
                "earlier error of a kernel."
            ),
        ),
        mend=(
            "unset LD_LIBRARY_PATH                                # the wheel brings its own cuDNN\n"
            "with torch.backends.cudnn.flags(enabled=False):       # is it cuDNN at all?\n"
            "    y = model(x)"
        ),
        check=(
            "The same line with cuDNN off, with a batch of 1, and in a fresh process; "
            "torch.backends.cudnn.version()."
        ),
        wrong=(
            "Installing cuDNN or CUDA again: a wheel doesn't use them.",
            "Downgrading torch.",
        ),
    ),
)
