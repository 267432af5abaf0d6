"""Tensors on different devices."""

from ..data import Kind

_MOVE = (
    "model.to(device)\n"
    "x, y = x.to(device), y.to(device)           # .to() on a tensor returns the moved one\n"
    "z = torch.zeros(3, device=x.device)         # made where it is needed\n"
)

KINDS = (
    Kind(
        slug="two-devices",
        chapter="devices",
        says=(
            "input, output and indices must be on the current device",
            (
                "expected tensor for argument #{n:d} '{argument:w}' to have the same device as tensor for argument "
                "#{m:d} '{other:w}'"
            ),
            "expected all tensors to be on the same device, but found at least two devices, {a:w} and {b:w}",
            "expected all tensors to be on the same device",
            (
                "expected all tensors to be on the same device, but got {argument} is on {a:w}, different from "
                "other tensors on {b:w}"
            ),
            "found at least two devices",
            "is on {a:w}, different from other tensors on {b:w}",
            "input type (torch.cuda.{a:w}) and weight type (torch.{b:w}) should be the same",
            "input type (torch.{a:w}) and weight type (torch.cuda.{b:w}) should be the same",
            "input type (torch.cuda.floattensor) and weight type (torch.floattensor)",
            "input type (cuda{a:w}) and weight type (cpu{b:w})",
            "input type (cpu{a:w}) and weight type (cuda{b:w})",
            "input type (mps",
            "input type (cudafloattype) and weight type (cpufloattype)",
            "and weight type (torch.cuda.",
            "or input should be a mkldnn tensor and weight is a dense tensor",
            "expected object of backend {a:w} but got backend {b:w}",
            "expected object of backend",
            "expected object of device type {a:w} but got device type {b:w}",
            "expected object of device type",
            "but got device type",
            "expected tensor{...}to have backend",
            "expected object of type torch.cuda.{a:w} but found type torch.{b:w}",
            "expected object of type torch.{a:w} but found type torch.cuda.{b:w}",
            "but found type torch.cuda.",
            "expected object of type torch.cuda.",
            "tensors are on different gpus",
            "are located on different gpus",
            "arguments are on different gpus",
            (
                "input and parameter tensors are not at the same device, found input tensor at {a:w} and parameter "
                "tensor at {b:w}"
            ),
            "tensors are not at the same device",
            "tensor for 'out' is on {a:w}, tensor for argument #{n:d} '{argument:w}' is on {b:w}",
            "tensor for argument #{n:d} '{argument:w}' is on {b:w}, but expected it to be on {a:w}",
            "tensor for argument #{n:d} '{argument:w}' is on cpu, but expected",
            "but expected it to be on gpu",
            "but expected them to be on gpu",
            "is on cpu, but expected",
            "expected device {a:w} but got device {b:w}",
            "expected device",
            "torch.{...}expected device",
            "indices should be either on cpu or on the same device as the indexed tensor ({b:w})",
            "indices should be either on",
            "expected cuda tensor",
            "expected a cuda tensor",
            "torch.floattensor is not enabled for cuda",
            "placeholder tensor is empty",
            "storage has not been allocated on mps",
            "legacy constructor expects device type",
            "type tensor but expected one of: torch",
            "type torch.cuda.{a:w} not available",
            "inputs must be on unique devices",
            "unhandled cuda error{...}same device",
            "all input tensors must be on the same device. received {a:w} and {b:w}",
            "input tensors need to be on the same gpu",
            "must be on the same device",
            "to be on the same device",
            "tensors must be cuda and dense",
            "invalid device{...}must be cuda",
            "input must be a cuda tensor",
            "must be a cuda tensor",
            "must be on a cuda device",
            "for 'mat1' is on",
            "pointer argument (at {n:d}) cannot be accessed from triton (cpu tensor?)",
            "cannot be accessed from triton (cpu tensor?)",
            "found two devices",
            "weight is on {a:w} but expected on {b:w}",
            "weight is on",
            "unhandled faketensor device propagation for {operator:w}, found two different devices {a:w}, {b:w}",
            "found two different devices",
            "data and model on",
        ),
        reads=(
            "at least two devices, {a:w} and {b:w}",
            "two devices, {a:w} and {b:w}",
            "when checking argument for argument {argument:w} in method {method:w}",
            "in method {method:w}",
        ),
        here=(
            "Here: {a} and {b} (argument {argument} of {method}).",
            "Here: {a} and {b}.",
        ),
        needs=(
            "torch",
            "device",
            "weight type",
            "backend",
            "gpus",
            "tensor",
        ),
        unless=(
            "tensorflow",
            "eagertensor",
            "keras",
            "jaxlib",
        ),
        what=(
            "An operator runs on one device, and PyTorch never copies between devices by itself: all tensors "
            "that meet must be on the same one. `module.to()` moves what is registered; `tensor.to()` returns "
            "a moved tensor and leaves the old."
        ),
        causes=(
            "The batch was not moved, or the result of `x.to(device)` was thrown away.",
            "A tensor is made inside forward (`torch.zeros(…)`, a mask, an index), on the CPU.",
            "A tensor of the module is no buffer, or a layer stands in a list: `.to()` does not see it.",
            "Two cards: model or index on another one than the data (`cuda:0` and `cuda:1`).",
        ),
        mend=(_MOVE + "self.register_buffer('mask', mask)           # moves with the module"),
        check=(
            "{p.device for p in model.parameters()} | {x.device} has one entry; "
            "torchcourse.modules.missed(model)."
        ),
        wrong=(
            (
                "`torch.set_default_tensor_type('torch.cuda.FloatTensor')`: it breaks loaders and generators, and "
                "is deprecated."
            ),
        ),
    ),
    Kind(
        slug="device-to-numpy",
        chapter="devices",
        says=(
            "can't call numpy() on tensor that has negative bit set",
            "can't convert {device:w} device type tensor to numpy",
            "can't convert cuda tensor to numpy",
            "can't convert cuda:",
            "use tensor.cpu() to copy the tensor to host memory first",
            "device type tensor to numpy",
            "can't convert bfloat16 tensor to numpy",
            "got unsupported scalartype bfloat16",
            "can't convert sparse tensor to numpy",
            "can't convert a torch.cuda",
            "cannot convert {device:w} tensor to numpy",
            "can't convert {device} tensor to numpy",
            "tensor to numpy. use tensor.cpu()",
            "can't call numpy() on tensor that has conjugate bit set",
            "implicit conversion to a numpy array is not allowed",
        ),
        reads=("can't convert {device:w} device type tensor",),
        here=("Here: the tensor is on {device}.",),
        needs=(
            "tensor",
            "torch",
            "scalartype",
        ),
        unless=("cupy",),
        what=(
            "NumPy knows the computer's memory only, and its own dtypes. A tensor on another device must be "
            "copied first; bfloat16 must be cast."
        ),
        causes=(
            "A tensor on the GPU is plotted, measured by sklearn, or put into np.array.",
            "The dtype has no NumPy twin (bfloat16).",
        ),
        mend=("array = x.detach().cpu().numpy()\narray = x.float().cpu().numpy()        # bfloat16"),
        check="x.device.type == 'cpu'.",
    ),
    Kind(
        slug="invalid-device",
        chapter="devices",
        says=(
            "invalid device ordinal",
            "device ordinal",
            "invalid device id",
            "cuda runtime error (10) : invalid device ordinal",
            "cuda error: invalid device ordinal",
            "invalid device string: '{device}'",
            "invalid device string",
            "expected one of cpu, cuda, ipu, xpu",
            "expected one of cpu, cuda",
            "device type at start of device string: {device}",
            "at start of device string",
            "device index must not be negative",
            "device id must be",
            "device=1,num_gpus=1",
            "device >= 0 && device < num_gpus",
            "the nvidia driver on your system{...}device_count",
            "device string must not be empty",
            "num_gpus internal assert failed",
            "invalid device, must be cuda device",
            "cuda:{device:d} is not available",
            "expected a cuda device, but got: {device:w}",
            "expected a cuda device, but got",
            "torch.device{...}ordinal",
        ),
        reads=(
            "device={device:d}, num_gpus={count:d}",
            "invalid device string: '{device}'",
            "device string: {device:w}",
        ),
        here=(
            "Here: card {device}, and there are {count}.",
            "Here: {device}.",
        ),
        needs=(
            "torch",
            "cuda",
            "device",
        ),
        unless=("tensorflow",),
        what=(
            "Cards are numbered 0 … device_count() - 1 among those that this process may see. "
            "CUDA_VISIBLE_DEVICES renumbers them."
        ),
        causes=(
            "`cuda:1` on a machine with one card: the code was written for another machine.",
            "CUDA_VISIBLE_DEVICES=3 shows one card, whose number here is 0.",
            "A misspelt device: 'gpu', 'cuda0', ' cuda'.",
        ),
        mend="device = torch.device('cuda:0' if torch.cuda.is_available() else 'cpu')",
        check="torch.cuda.device_count(), and os.environ.get('CUDA_VISIBLE_DEVICES').",
    ),
    Kind(
        slug="meta-tensor",
        chapter="devices",
        says=(
            "cannot copy out of meta tensor",
            "no data! please use torch.nn.module.to_empty()",
            "tensor.item() cannot be called on meta tensors",
            "on meta tensors",
            "you are trying to offload the whole model to the disk",
            "is on the meta device, we need a 'value' to put in on",
            "meta device, we need a",
            "cannot access data pointer of tensor",
            (
                "for {...}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current "
                "model, which is a no-op"
            ),
            "to a meta parameter in the current model",
        ),
        needs=(
            "meta",
            "torch",
            "data pointer",
        ),
        what=(
            "A tensor on the device `meta` has a shape and no data: it is a plan of a tensor. Nothing can be "
            "copied out of it."
        ),
        causes=(
            (
                "The model was built on meta (`device_map`, `low_cpu_mem_usage`, `init_empty_weights`) and some "
                "weights were never loaded."
            ),
            "`.to(device)` was called where the weights must be given first.",
        ),
        mend=("model = model.to_empty(device='cuda')\nmodel.load_state_dict(state, assign=True)"),
        check="[n for n, p in model.named_parameters() if p.is_meta] is empty.",
    ),
    Kind(
        slug="mps-limits",
        chapter="devices",
        says=(
            "is not currently implemented for the mps device",
            "mps framework doesn't support float64",
            "the mps framework",
            "pytorch_enable_mps_fallback",
            "not currently supported on the mps backend",
            "mps: unsupported",
            "mps backend",
            "mps does not support",
            "mps device",
        ),
        reads=("the operator '{operator:w}' is not currently implemented",),
        here=("Here: {operator}.",),
        needs=(
            "torch",
            "mps",
        ),
        unless=("out of memory",),
        what="Apple's Metal has no float64, and some operators have no code for it in PyTorch.",
        causes=(
            "A float64 tensor (from NumPy) is moved to mps.",
            "The operator has no Metal kernel in this version.",
        ),
        mend=(
            "x = torch.as_tensor(array, dtype=torch.float32).to('mps')\n"
            "# shell: PYTORCH_ENABLE_MPS_FALLBACK=1 python train.py     (that operator then runs on the CPU, "
            "slowly)"
        ),
        check="x.dtype is torch.float32 before .to('mps').",
    ),
    Kind(
        slug="backend-missing",
        chapter="devices",
        says=(
            "could not run '{operator:w}' with arguments from the '{backend:w}' backend",
            "with arguments from the 'cuda' backend",
            "with arguments from the 'cpu' backend",
            "with arguments from the '",
            "quantizedcpu",
        ),
        here=("Here: {operator} has no code for {backend}.",),
        needs=(
            "torch",
            "backend",
        ),
        what=(
            "Each operator has a table with one kernel per backend (CPU, CUDA, MPS, sparse, quantized). This "
            "one has none for what came: the build was made without that backend, or nobody wrote the kernel."
        ),
        causes=(
            "A device that this build of PyTorch doesn't have: CUDA with the CPU wheel, MPS outside a Mac.",
            "A package with its own operators (torchvision, an extension) was built for the CPU only.",
            "The tensor is sparse or quantized, and the operator only knows dense floats.",
        ),
        mend=(
            "device = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
            "x = x.to_dense()             # sparse\n"
            "x = x.dequantize()           # quantized"
        ),
        check="x.device, x.layout, x.is_quantized; torch.__version__ ends with +cpu or +cu….",
    ),
    Kind(
        slug="generator-device",
        chapter="devices",
        says=(
            "expected a '{a:w}' device type for generator but found '{b:w}'",
            "device type for generator but found",
            "expected a '{a:w}' generator device but found '{b:w}'",
            "generator device but found",
            "expected generator",
        ),
        here=("Here: the numbers are made on {a}, the generator is of {b}.",),
        needs=(
            "generator",
            "torch",
        ),
        what=(
            "Each device has random generators of its own, with a state of another form. Numbers are drawn "
            "where the tensor is made, by a generator of that device."
        ),
        causes=(
            "`torch.Generator()` is the CPU's, and the tensor is made on the GPU.",
            (
                "`torch.set_default_device('cuda')` (or the old default tensor type): the loader's sampler then "
                "draws its permutation on the GPU."
            ),
        ),
        mend=(
            "generator = torch.Generator(device=device).manual_seed(0)\n"
            "noise = torch.randn(3, generator=torch.Generator().manual_seed(0)).to(device)   # equal everywhere\n"
            "loader = DataLoader(data, shuffle=True, generator=torch.Generator(device='cpu'))"
        ),
        check="generator.device.type is that of the tensor that is made.",
    ),
    Kind(
        slug="data-parallel-device",
        chapter="devices",
        says=(
            (
                "module must have its parameters and buffers on device {a:w} (device_ids[0]) but found one of "
                "them on device: {b:w}"
            ),
            "module must have its parameters and buffers on device",
            "expected parameters and buffers on device",
            "all tensors must be on devices[0]",
        ),
        here=("Here: all is expected on {a}, and something is on {b}.",),
        what=(
            "`nn.DataParallel` copies the module from the first card of device_ids to the others at each step: "
            "all parameters and buffers must be on that card before."
        ),
        causes=(
            "The model was not moved, or to another card (`cuda:1`) than device_ids[0].",
            "`.to('cpu')` for saving or evaluating, and not back; a layer added after `.to(device)`.",
            "`device_map` spread the model over cards: it can't be wrapped as well.",
        ),
        mend=(
            "model = nn.DataParallel(model.to('cuda:0'), device_ids=[0, 1])\n"
            "torchrun --nproc_per_node=2 train.py      # DistributedDataParallel: one process per card, faster"
        ),
        check="{p.device for p in model.parameters()} has one entry: cuda:0.",
    ),
)
