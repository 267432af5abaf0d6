"""What is installed: the build, the driver, the compiler, the libraries beside them."""

from ..data import Kind

_SEE = (
    'python -c "import torch; print(torch.__version__, torch.version.cuda, torch.cuda.is_available())"; '
    "nvidia-smi; torchcourse doctor"
)
_WRONG = (
    "Installing the CUDA toolkit or nvcc: a wheel brings its own CUDA libraries; only the driver is the system's.",
)

KINDS = (
    Kind(
        slug="cpu-build",
        chapter="devices",
        says=(
            "not available. torch not compiled with cuda enabled",
            "could not run 'torchvision::nms' with arguments from the 'cuda' backend",
            "is_available() returns false",
            "torch.version.cuda none",
            "is_available() is false",
            "torch.cuda.floattensor is not enabled",
            "is not enabled for cuda",
            "attempting to use torch.cuda apis, but cuda is not available",
            "pytorch was compiled without cuda support",
            "torch.cuda.stream requires cuda support",
            "no available devices were found",
            "nvidia-ml-py does not seem to be installed",
            "pynvml does not seem to be installed",
            "not compiled with cuda enabled",
            "not linked with support for cuda devices",
            "pytorch is not linked with support for cuda",
            "cannot get cuda generator without aten_cuda library",
            "without aten_cuda library",
            "cannot initialize cuda without aten_cuda library",
            "aten_cuda library",
            "torch.cuda.is_available() returned false",
            "torch was not compiled with",
            "torch is not able to use gpu",
            "not compiled with mps enabled",
            "torch not compiled with xpu enabled",
            "add --skip-torch-cuda-test",
            "tensor on device cuda:0 is not on the expected device meta",
            "module 'torch._c' has no attribute '_cuda_setdevice'",
            "_cuda_setdevice",
            "'_cudadeviceproperties'",
            "has no attribute '_cuda_getdevice",
            "cuda is not available",
            "no gpu found. a gpu is needed for quantization",
            "cuda unavailable, invalid device",
            "torchvision is not compiled with",
            "not compiled with gpu support",
            "could not run 'torchvision::nms' with arguments from the 'cuda' backend",
            "torchvision::nms",
        ),
        needs=(
            "nvidia-ml-py",
            "pynvml",
            "torch",
            "cuda",
            "mps",
        ),
        unless=(
            "attempting to deserialize",
            "tensorflow",
            "jax",
            "user provided device_type",
            "gradscaler is enabled",
            "operator torchvision::nms does not exist",
        ),
        what="PyTorch comes in builds: a CPU build has no CUDA code at all, whatever card and toolkit are there.",
        causes=(
            (
                "The CPU wheel is installed: the default on Windows and macOS, or an index ending in /cpu (`+cpu` "
                "in the version)."
            ),
            "Another environment than you think runs: the notebook's kernel, conda's base.",
            "torchvision or another extension is a CPU build, or built for another torch.",
        ),
        mend=(
            "python -m pip uninstall -y torch torchvision\n"
            "python -m pip install torch torchvision --index-url https://download.pytorch.org/whl/cu126\n"
            "device = 'cuda' if torch.cuda.is_available() else 'cpu'       # code that runs on both"
        ),
        check=_SEE,
        wrong=_WRONG,
    ),
    Kind(
        slug="no-driver",
        chapter="devices",
        says=(
            "cuda driver initialization failed, you might not have a cuda gpu",
            "cuda driver can't be loaded",
            "can't get nvml device count",
            "device {device:d} is not visible (cuda_visible_devices=",
            "no nvidia driver on your system",
            "couldn't communicate with the nvidia driver",
            "no cuda gpus are available",
            "no cuda-capable device is detected",
            "cuda runtime error (100)",
            "cuda runtime error (38)",
            "cuda_error_no_device",
            "no hip gpus are available",
            "failed to initialize nvml",
            "can't initialize nvml",
            "no cuda runtime is found, using cuda_home",
            "cuda initialization: cuda unknown error",
            "unexpected error from cudagetdevicecount",
            "forward compatibility was attempted on non supported hw",
            "system not yet initialized",
            "devices are busy or unavailable",
            "cuda runtime error (46)",
            "cuda initialization: ",
            "driver shutting down",
            "cudaerrordevicesunavailable",
            "libcuda.so.1: cannot open shared object file",
            "could not load dynamic library 'libcuda.so",
            "libcuda.so not found",
            "unknown error - this may be due to an incorrectly set up environment",
            "nvml_success == r internal assert failed",
            "driver_api::get()->nvmlinit",
            "cuinit",
        ),
        needs=(
            "cuda",
            "nvidia",
            "nvml",
            "hip",
            "torch",
        ),
        unless=(
            "tensorflow",
            "jaxlib",
            "driver on your system is too old",
            "dso_loader",
            "xla",
        ),
        what=(
            "PyTorch was built with CUDA, and the driver shows it no card. The driver is the system's part; "
            "everything else is in the wheel."
        ),
        causes=(
            "No NVIDIA driver, or no NVIDIA card (a laptop, a CPU instance, Colab without GPU runtime).",
            (
                "CUDA_VISIBLE_DEVICES is empty, or names a card that is not there; a container was started without "
                "`--gpus all`."
            ),
            (
                "The driver was updated and not loaded (restart), or is stuck after sleep; the card is taken "
                "exclusively."
            ),
        ),
        mend=(
            "nvidia-smi                                   # the driver's own view\n"
            'echo "$CUDA_VISIBLE_DEVICES"; unset CUDA_VISIBLE_DEVICES\n'
            "docker run --gpus all …\n"
            "sudo reboot                                  # after a driver update"
        ),
        check=_SEE,
        wrong=_WRONG,
    ),
    Kind(
        slug="driver-too-old",
        chapter="devices",
        says=(
            "the nvidia driver on your system is too old (found version {version:d})",
            "driver on your system is too old",
            "cuda runtime error (35)",
            "driver version is insufficient",
            "the provided ptx was compiled with an unsupported toolchain",
            "unsupported toolchain",
            "cuda_error_unsupported_ptx_version",
            "unsupported display driver / cuda driver combination",
            "driver/library version mismatch",
            "cuda driver{...}too old",
            "requires a newer driver",
            "named symbol not found{...}driver",
        ),
        reads=("(found version {version:d})",),
        here=("Here: the driver knows CUDA {version} (11040 means 11.4).",),
        needs=(
            "cuda",
            "nvidia",
            "driver",
            "torch",
            "nvml",
            "toolchain",
        ),
        unless=(
            "tensorflow",
            "jaxlib",
            "xla",
        ),
        what="A driver knows CUDA up to its own version. The wheel's CUDA is newer than that.",
        causes=(
            "An old driver and a new wheel.",
            "The driver was updated, and the running kernel module is still the old one: restart.",
        ),
        mend=(
            "# a newer driver (nvidia-smi shows the CUDA version that it knows), or a wheel with an older "
            "CUDA:\n"
            "python -m pip install torch --index-url https://download.pytorch.org/whl/cu118"
        ),
        check=_SEE,
        wrong=(
            *_WRONG,
            "Downgrading torch blindly: choose the wheel by its CUDA version instead.",
        ),
    ),
    Kind(
        slug="no-kernel-image",
        chapter="devices",
        says=(
            "nvrtc: error: invalid value for --gpu-architecture",
            "no kernel image is available",
            "cuda runtime error (48)",
            "cuda runtime error (209)",
            "is not compatible with the current pytorch installation",
            "the current pytorch install supports cuda capabilities {supports}",
            "the minimum cuda capability supported by this library is",
            "pytorch no longer supports this gpu because it is too old",
            "which is of cuda capability {capability}",
            "cuda capability sm_{capability:d} is not compatible",
            "cudaerrornokernelimagefordevice",
            "invalid device function",
            "device kernel image is invalid",
            "sm_{capability:d} is not defined for option 'gpu-name'",
            "is not defined for option 'gpu-name'",
            "unsupported gpu architecture 'compute_{capability:w}'",
            "unsupported gpu architecture",
            "found gpu{capability:d} {...} which is of cuda capability",
            "hiperrornobinaryforgpu",
            "flashattention only supports ampere gpus or newer",
            "only supports ampere gpus",
            "too old to be supported by the triton gpu compiler",
            "minimum cuda capability",
            "needs compute capability",
            "requires compute capability",
        ),
        reads=(
            "cuda capability sm_{capability:d}",
            "pytorch install supports cuda capabilities {supports}",
            "{gpu} with cuda capability sm_",
        ),
        here=(
            "Here: the card is sm_{capability}; the build has code for {supports}.",
            "Here: the card's capability is {capability}.",
        ),
        needs=(
            "cuda",
            "torch",
            "gpu",
            "sm_",
            "kernel",
            "hip",
            "capability",
            "pytorch",
        ),
        unless=(
            "tensorflow",
            "jaxlib",
        ),
        what=(
            "A build holds compiled code for a list of GPU generations (sm_70, sm_86, sm_120, …). This card's "
            "is not among them."
        ),
        causes=(
            "The card is newer than the build (sm_120 with a build for CUDA 12.1 or older).",
            "The card is older than what the build still supports.",
            (
                "An extension (torchvision, flash attention, a kernel of your own) was compiled for another "
                "architecture."
            ),
        ),
        mend=(
            "python -m pip install --upgrade torch --index-url https://download.pytorch.org/whl/cu128     # "
            "newer card: newer CUDA\n"
            "TORCH_CUDA_ARCH_LIST='8.6' python -m pip install --no-build-isolation .                      # an "
            "extension of your own"
        ),
        check="torch.cuda.get_device_capability() is in torch.cuda.get_arch_list().",
        wrong=_WRONG,
    ),
    Kind(
        slug="library-not-loaded",
        chapter="devices",
        says=(
            "libtorch_cuda_cu.so",
            "libtorch_cuda_cpp.so",
            "libtorch_hip.so",
            "libcuda.so.1: cannot open shared object file",
            "undefined symbol: gomp",
            "libth.so",
            "dll load failed while importing _c",
            "importing torch",
            "libaten.so",
            "_c.so: undefined symbol",
            "_c.cpython",
            "undefined symbol: pythread",
            "undefined symbol: _py",
            "symbol not found: _py",
            "dlopen({...}torch",
            "libshm",
            'error loading "{file}" or one of its dependencies',
            "torch\\lib\\{file:w}",
            "[winerror 126] the specified module could not be found",
            "[winerror 127] the specified procedure could not be found",
            "[winerror 193]",
            "[winerror 1114]",
            "fbgemm.dll",
            "c10.dll",
            "shm.dll",
            "caffe2_nvrtc.dll",
            "dll load failed",
            "one of its dependencies",
            "libtorch_cpu.so",
            "libtorch_cuda.so",
            "libc10.so",
            "libc10_cuda.so",
            "libtorch.so",
            "libcudart.so.{version}: cannot open shared object file",
            "libcudart.so",
            "libcublas.so",
            "libcudnn.so",
            "libcusparse.so",
            "libnccl.so",
            "libcupti.so",
            "libnvrtc.so",
            "libnvjitlink.so",
            "libmkl_intel_lp64.so",
            "libgomp",
            "undefined symbol: __nvjitlink",
            "undefined symbol: ijit_notifyevent",
            "undefined symbol: _zn{symbol:w}",
            "undefined symbol: ncclcommregister",
            "undefined symbol: nccl",
            "undefined symbol: cu",
            "undefined symbol: _zn",
            "version 'glibcxx_{version}' not found",
            "glibcxx_",
            "version 'glibc_{version}' not found",
            "cannot allocate memory in static tls block",
            "static tls block",
            "libtorch_python.so",
            "library not loaded: @rpath/libtorch",
            "symbol not found in flat namespace",
            "library not loaded",
            "libomp.dylib",
            "omp: error #15: initializing libiomp5",
            "omp: error #15",
            "error #15: initializing",
            "intel mkl fatal error",
            "mkl-service + intel(r) mkl",
            "mkl_threading_layer",
            "failed to load image python extension",
            "torchvision{...}image.so",
        ),
        reads=(
            'error loading "{file}"',
            "undefined symbol: {symbol:w}",
            "{file:w}: cannot open shared object file",
        ),
        here=(
            "Here: {file}.",
            "Here: {symbol}.",
        ),
        needs=(
            "libth",
            "importing _c",
            "libaten",
            "libshm",
            "torch",
            "libtorch",
            "c10",
            "cuda",
            "cudnn",
            "cublas",
            "libiomp",
            "nvjitlink",
            "fbgemm",
            "nccl",
            "mkl",
            "caffe2",
            "ijit",
            "libcu",
            "libnv",
        ),
        unless=(
            "tensorflow",
            "dso_loader",
            "jaxlib",
            "keras",
            "cv2",
            "sklearn",
        ),
        anybodys=True,
        what=(
            "`import torch` loads large native libraries and those that they need. One is missing, or another "
            "version of it was loaded first."
        ),
        causes=(
            "Windows: the Visual C++ runtime is missing; or a mixed or half-written installation.",
            "An extension (torchvision, torch-scatter, flash attention) was built for another torch or CUDA.",
            "LD_LIBRARY_PATH or conda puts other CUDA, MKL or libstdc++ files first; two OpenMP runtimes meet.",
        ),
        mend=(
            "python -m venv fresh && fresh/bin/python -m pip install torch torchvision     # a clean "
            "environment, both from one index\n"
            "unset LD_LIBRARY_PATH\n"
            "# Windows: install the Visual C++ redistributable (x64)"
        ),
        check="python -c 'import torch; print(torch.__file__, torch.__version__)' in a fresh environment.",
        wrong=(
            "KMP_DUPLICATE_LIB_OK=TRUE for ever: two OpenMP runtimes may crash or give wrong numbers.",
            "Copying or renaming DLLs and .so files by hand.",
        ),
    ),
    Kind(
        slug="torch-not-installed",
        chapter="devices",
        says=(
            "module 'torchvision.{part:w}' has no attribute '{name:w}'",
            "module 'torchaudio' has no attribute '{name:w}'",
            "module 'torch' has no attribute '",
            "'module' object has no attribute 'no_grad'",
            "no module named 'torch'",
            "no module named torch",
            "no module named 'torch.{part:w}'",
            "no module named 'torchvision'",
            "no module named 'torchaudio'",
            "no module named 'torch_geometric'",
            "no module named 'torch_scatter'",
            "no module named 'torchtext'",
            "no module named 'torchmetrics'",
            "no module named 'torch._c'",
            "no module named 'torch._six'",
            "no module named 'torchvision.{part:w}'",
            "could not find a version that satisfies the requirement torch",
            "no matching distribution found for torch",
            "is not a supported wheel on this platform",
            "module 'torch' has no attribute '{name:w}'",
            "module 'torch.{part:w}' has no attribute '{name:w}'",
            "cannot import name '{name:w}' from 'torch",
            "cannot import name '{name:w}' from partially initialized module 'torch'",
            "partially initialized module 'torch'",
            "partially initialized module 'torchvision'",
            "operator torchvision::nms does not exist",
            "cannot import name '{name:w}' from 'torchvision",
            "pytorch and torchvision were compiled with different cuda",
            "were compiled with different cuda versions",
            "failed to load pytorch c extensions",
            "couldn't load custom c++ ops",
            "cannot import name 'container_abcs'",
            "torch.load_with{...}attribute",
            "type object 'torch._c",
            "module 'torch._c' has no attribute",
            "requires torch",
            "but you have torch {installed} which is incompatible",
            "torch {installed} which is incompatible",
            "only one torch",
            "a newer version of torch",
        ),
        reads=(
            "module 'torch' has no attribute '{name:w}'",
            "no module named '{module:w}'",
            "cannot import name '{name:w}' from '{module:w}'",
        ),
        here=(
            "Here: `{name}` of {module}.",
            "Here: torch has no `{name}`.",
            "Here: {module}.",
        ),
        needs=("torch",),
        unless=(
            "tensorflow has",
            "no module named 'torchcourse",
        ),
        what=(
            "Python imports what is installed in the environment that runs. torch, torchvision and torchaudio "
            "come as a set, each version for one torch; names come and go between versions; and a file or "
            "folder called torch beside your script hides the real one."
        ),
        causes=(
            "Another environment runs than the one that pip installed into.",
            "torchvision, torchaudio or another package was made for another torch version.",
            (
                "The code was written for an older or newer torch (`torch._six`, `torch.xpu`), or your own file is "
                "called torch.py."
            ),
            "No wheel for this Python version or platform (a new Python, 32 bit, an old macOS).",
        ),
        mend=(
            "python -m pip install --upgrade torch torchvision torchaudio     # the same python that runs the "
            "code"
        ),
        check="python -c 'import sys, torch; print(sys.executable, torch.__file__, torch.__version__)'.",
    ),
    Kind(
        slug="extension-build",
        chapter="devices",
        says=(
            "extension is not installed",
            "no module named 'torch_cluster'",
            "ninja is required to load c++ extensions",
            "ninja is required",
            "cuda_home environment variable is not set",
            (
                "the detected cuda version ({detected}) mismatches the version that was used to compile pytorch "
                "({built})"
            ),
            "mismatches the version that was used to compile",
            "error building extension '{name:w}'",
            "error building extension",
            "command '['ninja', '-v']' returned non-zero exit status",
            "'ninja', '-v'",
            "nvcc fatal",
            "nvcc not found",
            "nvcc: not found",
            "bin/nvcc'",
            "unsupported gnu version! gcc versions later than {version:d} are not supported",
            "unsupported gnu version",
            "unsupported microsoft visual studio version",
            "your compiler ({compiler}) is not compatible with the compiler pytorch was built with",
            "is not compatible with the compiler pytorch was built with",
            "torch/extension.h: no such file",
            "fatal error: torch/extension.h",
            "cuda_runtime.h: no such file",
            "cuda_runtime_api.h: no such file",
            "cusparse.h: no such file",
            "error checking compiler version for cl",
            "error compiling objects for extension",
            "cannot import name '{name:w}'{...}cpp_extension",
            "no module named 'flash_attn'",
            "at/cuda/cudacontext.h",
            "aten/cuda",
            "unknown extension{...}.cu",
            "torch.utils.cpp_extension",
            "cpp_extension.py",
            "torch/csrc",
            "cuda extensions cannot be built",
        ),
        reads=(
            "extension '{name:w}'",
            (
                "detected cuda version ({detected}) mismatches the version that was used to compile pytorch "
                "({built})"
            ),
        ),
        here=(
            "Here: the toolkit is {detected}, torch was built with {built}.",
            "Here: {name}.",
        ),
        needs=(
            "torch",
            "cuda",
            "nvcc",
            "ninja",
            "extension",
            "gnu version",
            "flash_attn",
            "visual studio",
            "aten",
        ),
        unless=(
            "tensorflow",
            "jaxlib",
        ),
        what=(
            "An extension is compiled on your machine against torch's headers. *That* needs a C++ compiler, "
            "and for CUDA code the toolkit (nvcc) of the same CUDA version as torch's."
        ),
        causes=(
            "No nvcc, or CUDA_HOME does not name it; another CUDA version than torch's.",
            "No compiler, one too new for nvcc, or no ninja.",
            "The extension's code is older than this torch. The first error above this line says which.",
        ),
        mend=(
            "python -m pip install ninja\n"
            "export CUDA_HOME=/usr/local/cuda-12.6      # the version of torch.version.cuda\n"
            "nvcc --version; g++ --version"
        ),
        check="python -c 'from torch.utils.cpp_extension import CUDA_HOME; print(CUDA_HOME)'.",
    ),
    Kind(
        slug="operator-signature",
        chapter="devices",
        says=(
            "{operator:w}() expected at most {most:d} argument(s) but received {got:d} argument(s). declaration: ",
            "{operator:w}() is missing value for argument '{name:w}'. declaration: ",
            "argument(s). declaration: ",
            "unknown keyword argument '{name:w}' for operator",
        ),
        here=("Here: {operator} takes {most} arguments at most, and {got} came.",),
        needs=("declaration", "operator"),
        what=(
            "A compiled operator has one declaration, which its package registers when it is loaded. The Python that "
            "calls it was written for another version of it."
        ),
        causes=(
            "An extension (torch-scatter, torchvision, torchaudio) and the library that calls it differ in version.",
            "A TorchScript file was written by another version.",
        ),
        mend="python -m pip install --upgrade torch_geometric torch_scatter      # both, for the torch that is there",
        check="python -m pip list shows versions that belong together (each project has a table of them).",
    ),
)
