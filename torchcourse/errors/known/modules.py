"""Modules: what is registered when, what forward takes, what layers need."""

from ..data import Kind

KINDS = (
    Kind(
        slug="super-init-missing",
        says=(
            "before module.__init__() call",
            "object has no attribute '_modules'",
            "object has no attribute '_parameters'",
            "object has no attribute '_forward_hooks'",
            "object has no attribute '_backward_hooks'",
            "object has no attribute '_buffers'",
            "object has no attribute '_forward_pre_hooks'",
            "object has no attribute '_global_backward_hooks'",
        ),
        what=(
            "`Module.__init__` makes the tables in which modules, parameters and buffers are registered. An "
            "assignment before it has nowhere to go."
        ),
        causes=(
            "`super().__init__()` is missing, comes too late, or a subclass calls another class's.",
            "A whole model was loaded from a file of another PyTorch version.",
        ),
        mend=(
            "class Net(nn.Module):\n"
            "    def __init__(self):\n"
            "        super().__init__()          # first\n"
            "        self.fc = nn.Linear(2, 2)"
        ),
        check="list(net.named_parameters()) names the layers.",
    ),
    Kind(
        slug="parameter-replaced",
        says=(
            "parameter name can't be empty string",
            "module name should be a string",
            "parameter name should be a string",
            "buffer name should be a string",
            "'{name:w}' is not an nn.parameter",
            "is not an nn.module",
            "cannot assign '{type:w}' object to buffer",
            "add operator supports only objects of sequential class",
            "module name can't be empty",
            "couldn't swap",
            "cannot assign '{type:w}' as parameter '{name:w}' (torch.nn.parameter or none expected)",
            "as parameter '{name:w}' (torch.nn.parameter or none expected)",
            "(torch.nn.parameter or none expected)",
            "cannot assign '{type:w}' object to parameter '{name:w}'",
            "cannot assign '{type:w}' as child module '{name:w}' (torch.nn.module or none expected)",
            "(torch.nn.module or none expected)",
            "cannot assign '{type:w}' as buffer '{name:w}'",
            "as buffer '{name:w}' (torch.tensor or none expected)",
            "cannot assign non-leaf tensor to parameter",
            "attribute '{name:w}' already exists",
            "is not a module subclass",
            "is not a parameter",
            "parameter name can't contain",
            "module name can't contain",
            "buffer name can't contain",
        ),
        here=("Here: a {type} for `{name}`.",),
        types=(
            "TypeError",
            "KeyError",
            "ValueError",
        ),
        needs=(
            "torch",
            "parameter",
            "nn.",
            "module",
            "buffer",
        ),
        what=(
            "A module's tables take a Parameter for a parameter, a Module for a submodule, a tensor for a "
            "buffer; a name stays what it was first."
        ),
        causes=(
            "A plain tensor is assigned where a Parameter was: `fc.weight = torch.zeros(2, 2)`.",
            "A layer's class or name, not a layer, is handed over.",
        ),
        mend=(
            "with torch.no_grad():\n"
            "    fc.weight.copy_(values)             # the same Parameter: the optimizer still has it\n"
            "fc.weight = nn.Parameter(values)      # a new one: before the optimizer is made"
        ),
        check="isinstance(fc.weight, nn.Parameter).",
    ),
    Kind(
        slug="lazy-not-initialised",
        chapter="modules",
        says=(
            "has not been fully initialized",
            "can't have uninitialized parameters",
            "attempted to use an uninitialized parameter",
            "uninitialized parameter in",
            "uninitialized parameter or buffer",
            "has uninitialized parameters",
            "modules with uninitialized parameters can't be used with",
            "uninitializedparameter",
        ),
        what=(
            "A lazy layer learns its input size from the first batch; until then its parameters have no shape "
            "and no numbers."
        ),
        causes=("Parameters are counted, initialised, copied or handed to DDP before a first forward.",),
        mend=(
            "net = nn.Sequential(nn.LazyLinear(3))\n"
            "net(torch.zeros(1, 8))             # a dummy batch, then everything else"
        ),
        check="sum(p.numel() for p in net.parameters()) works.",
    ),
    Kind(
        slug="forward-arguments",
        chapter="modules",
        says=(
            "forward() missing {n:d} required positional argument",
            "forward() takes {n:d} positional argument",
            "forward() takes from {n:d} to",
            "forward() got an unexpected keyword argument '{name}'",
            "forward() got multiple values for argument",
            "forward() missing",
            "'{module:w}' object is not callable{...}forward",
        ),
        reads=(
            "{owner:w}.forward() ",
            "required positional argument: '{name}'",
        ),
        here=("Here: {owner}.forward, argument {name}.",),
        types=("TypeError",),
        needs=("forward",),
        unless=(
            "keras",
            "tensorflow",
        ),
        anybodys=True,
        what=(
            "Calling a module runs its hooks and then `forward` with the same arguments. `nn.Sequential` hands "
            "exactly one value from layer to layer."
        ),
        causes=(
            (
                "forward has other arguments than the call gives (a second input inside nn.Sequential; `self` "
                "missing)."
            ),
            "The class, not an instance of it, is called.",
        ),
        mend=(
            "class Net(nn.Module):\n"
            "    def forward(self, x, mask):\n"
            "        return self.layer(x)\n"
            "y = Net()(x, mask)"
        ),
        check="inspect.signature(net.forward).",
    ),
    Kind(
        slug="forward-not-implemented",
        chapter="modules",
        says=("notimplementederror",),
        types=("NotImplementedError",),
        needs=(
            "module.py",
            "_forward_unimplemented",
            "nn.module",
        ),
        anybodys=True,
        what="A bare NotImplementedError out of a module's call: the class has no `forward` of its own.",
        causes=(
            "`forward` is misspelt, or indented into `__init__`.",
            "`nn.ModuleList` or `nn.ModuleDict` is called: they only hold modules.",
        ),
        mend=("for layer in self.layers:        # a ModuleList has no forward\n    x = layer(x)"),
        check="'forward' in vars(type(net)).",
    ),
    Kind(
        slug="module-attribute-missing",
        chapter="modules",
        says=("'{module:w}' object has no attribute '{name:w}'",),
        here=("Here: {module} has no `{name}`.",),
        types=(
            "AttributeError",
            "ModuleAttributeError",
            "AttributeError",
        ),
        needs=(
            "torch/nn",
            "torch\\nn",
            "torch.nn",
            "moduleattributeerror",
            "'linear' object",
            "'sequential' object",
            "'conv2d' object",
            "'net' object",
            "'modulelist' object",
            "'lstm' object",
            "'resnet' object",
            "'crossentropyloss' object",
        ),
        unless=(
            "'dataparallel' object",
            "'distributeddataparallel' object",
            "'dataframe' object",
            "'nonetype' object",
            "'series' object",
            "sklearn",
            "keras",
            "tensorflow",
        ),
        anybodys=True,
        what=(
            "A module's attributes are looked up in its own dictionary and in its tables of parameters, "
            "buffers and submodules; the name is in none of them."
        ),
        causes=(
            "A misspelt name, or one that is assigned only in another branch of `__init__`.",
            (
                "The layer has no such setting, or the version of PyTorch or of the library differs from the "
                "code's."
            ),
            "The model was pickled whole by another version: attributes that came later are missing.",
        ),
        mend=(
            "print(net)                            # the names that are there\n"
            "net.load_state_dict(state)            # a fresh model with old weights, not an old pickled model"
        ),
        check="[name for name, _ in net.named_modules()].",
    ),
    Kind(
        slug="modulelist-misuse",
        chapter="modules",
        says=(
            "parameterlist should not be called",
            "parameterdict should not be called",
            "moduledict update sequence element",
            "parameterdict update sequence element",
            "linear(): argument 'input'{...}module",
            "is not a module subclass",
            "{type} is not a module subclass",
            "modulelist should be called with an iterable",
            "modulelist.extend should be called with an iterable",
            "moduledict.update should be called with",
            "parameterlist{...}should be called",
            "'modulelist' object is not callable",
            'module [modulelist] is missing the required "forward" function',
            "'moduledict' object is not callable",
        ),
        what=(
            "ModuleList and ModuleDict hold modules so that they are registered; they have no forward. "
            "Sequential and ModuleList take instances, not classes, functions or generators of something else."
        ),
        causes=(
            "A function (`F.relu`, `torch.flatten`) or a class stands in a Sequential.",
            "A ModuleList is called like a layer.",
        ),
        mend="net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Flatten())      # nn.ReLU(), not F.relu",
        check="all(isinstance(m, nn.Module) for m in layers).",
    ),
    Kind(
        slug="embedding-index",
        chapter="modules",
        says=(
            "index out of range in self",
            "index out of range: tried to access index {index:d} out of table with {rows:d} rows",
            "tried to access index",
            "padding_idx must be within num_embeddings",
            "index out of range at {...}th",
            "srcindex < srcselectdimsize",
        ),
        here=("Here: index {index}, and the table has {rows} rows.",),
        needs=(
            "torch",
            "index out of range in self",
            "padding_idx",
            "out of table",
            "srcselectdimsize",
        ),
        what=(
            "`nn.Embedding(n, d)` is a table of n rows; an id of n or more, or below 0, has no row. On a GPU "
            "the same fault is a device-side assert."
        ),
        causes=(
            "The vocabulary is larger than num_embeddings: special tokens were added, or ids start at 1.",
            "The sequence is longer than the table of positions.",
            "An id of -1 or -100 marks padding.",
        ),
        mend=(
            "embedding = nn.Embedding(int(ids.max()) + 1, 64)\n"
            "model.resize_token_embeddings(len(tokenizer))      # Hugging Face"
        ),
        check="0 <= ids.min() and ids.max() < embedding.num_embeddings.",
        wrong=("`ids.clamp(...)`: the error goes away, and words get another word's row.",),
    ),
    Kind(
        slug="dataparallel-attribute",
        chapter="modules",
        says=(
            "'dataparallel' object has no attribute '{name:w}'",
            "'distributeddataparallel' object has no attribute '{name:w}'",
            "'fullyshardeddataparallel' object has no attribute '{name:w}'",
            "'optimizedmodule' object has no attribute '{name:w}'",
            "'dataparallel' object has no attribute",
            "'distributeddataparallel' object has no attribute",
        ),
        here=("Here: `{name}` is asked of the wrapper.",),
        what=(
            "DataParallel and DDP wrap the model: the wrapper has one submodule, `module`, and the model's own "
            'attributes are there. That is also where the prefix "module." in its state_dict comes from.'
        ),
        causes=(
            "An attribute or a method of the model is asked of the wrapper.",
            "The wrapper was saved whole, or wrapped twice.",
        ),
        mend=("model.module.encoder\ntorch.save(model.module.state_dict(), 'weights.pt')"),
        check="type(model).__name__, and model.module is your model.",
    ),
    Kind(
        slug="hook-signature",
        chapter="modules",
        says=(
            "forward hook{...}returned",
            "hooks that return{...}",
            "got an unexpected keyword argument 'with_kwargs'",
            "forward pre-hook must return none or a tuple",
            "using a non-full backward hook when the forward contains multiple autograd nodes",
            "using non-full backward hooks on a module",
            "for backward hooks to be called, module output should be a tensor or a",
            "cannot have{...}full_backward_hook",
            "backward hook '{hook}' has changed the size of value",
            "backward hook",
        ),
        needs=(
            "torch",
            "hook",
            "module",
        ),
        what=(
            "Module hooks have a fixed form: `hook(module, inputs, output)` for the forward, `(module, "
            "grad_input, grad_output)` for the backward; what they return replaces the value."
        ),
        causes=(
            "The old `register_backward_hook` sees only the last operator of the module.",
            "The hook returns something else than a value of the same form.",
        ),
        mend=("handle = module.register_full_backward_hook(hook)\nhandle.remove()"),
        check="The hook's third argument has the shape that you expect.",
    ),
    Kind(
        slug="initialisation-refused",
        chapter="modules",
        says=(
            "only tensors with 2 dimensions are supported",
            "only tensors with 3, 4, or 5 dimensions are supported",
            "unsupported nonlinearity",
            "negative_slope {slope} not a valid number",
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_",
            "please use one of ['fan_in', 'fan_out']",
            "is now deprecated in favor of 'nn.init",
            "fan_in and fan_out",
            "can not be computed for tensor with fewer than 2 dimensions",
            "only tensors with 2 or more dimensions are supported",
            "initializing zero-element tensors is a no-op",
        ),
        what=(
            "Xavier, Kaiming and orthogonal initialisation count inputs and outputs of a weight: they need two "
            "dimensions or more."
        ),
        causes=("The loop goes over all parameters, with biases and BatchNorm weights (1-D).",),
        mend=("for p in net.parameters():\n    if p.dim() > 1:\n        nn.init.xavier_uniform_(p)"),
        check="p.dim() >= 2.",
    ),
    Kind(
        slug="batch-norm-of-one",
        says=(
            "expected more than 1 value per channel when training, got input size {size}",
            "expected more than 1 value per channel when training",
            "expected more than 1 spatial element when training, got input size {size}",
            "expected more than 1 spatial element when training",
        ),
        reads=("got input size {size:s}",),
        here=("Here: the input is {size}: one value per channel.",),
        what=(
            "In training, BatchNorm divides by the deviation over the batch. One value per channel has no "
            "deviation."
        ),
        causes=(
            "The last batch has one sample, and the spatial size is 1 × 1 (after global pooling).",
            "One sample is predicted while the model is in training mode.",
        ),
        mend=(
            "loader = DataLoader(data, batch_size=32, shuffle=True, drop_last=True)\n"
            "model.eval()                         # for prediction"
        ),
        check="len(data) % batch_size != 1, or drop_last=True; model.training is False when predicting.",
    ),
    Kind(
        slug="module-cycle",
        says=("maximum recursion depth exceeded",),
        types=(
            "RecursionError",
            "RuntimeError",
        ),
        needs=(
            "torch/nn",
            "torch\\nn",
            "nn.module",
            "named_modules",
            "_apply",
            "torch.nn",
        ),
        anybodys=True,
        what="A walk over the modules never ends: a module holds itself, directly or through a child.",
        causes=(
            "`self.parent = parent` registers the parent as a submodule of its child.",
            "A `forward`, `__getattr__` or `train` calls itself.",
        ),
        mend="self.__dict__['parent'] = parent      # beside the tree of modules",
        check="len(list(net.modules())) is finite and what you expect.",
    ),
    Kind(
        slug="sequence-lengths",
        chapter="modules",
        says=(
            "length of all samples has to be greater than 0",
            "'lengths' argument should be a 1d cpu int64 tensor, but got {got}",
            "'lengths' argument should be a 1d cpu int64 tensor",
            "must be sorted in decreasing order",
            "expected 'len(lengths)' to be equal to batch_size",
            "expected total_length to be at least the length of the longest sequence",
            "batch_sizes should always be on cpu",
            "received a list of sequence lengths",
            "expected sequence lengths",
            "cannot pack empty tensors",
            "pack_padded_sequence has been called with a python list",
            "received an empty list of sequences",
            "padded sequence{...}lengths",
            "packedsequence",
        ),
        needs=(
            "torch",
            "lengths",
            "samples has to be",
            "batch_sizes",
            "sequence",
            "total_length",
            "pack",
        ),
        what=(
            "A packed sequence holds a batch of different lengths without the padding. It needs every length "
            "(at least 1), on the CPU, and sorted unless told otherwise."
        ),
        causes=(
            "A sequence is empty (an empty text after filtering).",
            "The lengths are on the GPU, or not sorted.",
            "DataParallel: each replica pads to its own longest; give total_length.",
        ),
        mend=(
            "packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)\n"
            "out, _ = pad_packed_sequence(out, batch_first=True, total_length=x.size(1))"
        ),
        check="lengths.min() >= 1 and lengths.device.type == 'cpu'.",
    ),
    Kind(
        slug="layer-argument",
        chapter="modules",
        says=(
            "output padding must be smaller than either stride or dilation",
            "halving dimension must be even",
            "padding='same' is not supported for strided convolutions",
            "groups must be a positive integer",
            "kernel_size must be greater than 0",
            "stride should not be zero",
            "non-positive stride is not supported",
            "dilation should be greater than zero",
            "input_size should be of type int",
            "hidden_size should be of type int",
            "hidden_size must be greater than zero",
            "input_size must be greater than zero",
            "num_layers must be greater than zero",
            "dropout should be a number in range",
            "dropout probability has to be between 0 and 1",
            "embed_dim and num_heads must be greater than 0",
            "activation should be relu/gelu",
            "unknown nonlinearity",
            "padding_mode must be one of",
            "invalid padding string",
            "only 'zeros' padding mode is supported for",
            "num_embeddings must be",
            "padding_idx must be within num_embeddings",
            "in1_features must be > 0",
            "proj_size has to be smaller than hidden_size",
            "requires specifying either an output size, or a pooling ratio",
            "output_ratio must be between 0 and 1",
            (
                "empty(): argument 'size' must be tuple of ints, but found element of type {type:w} at pos "
                "{position:d}"
            ),
            "empty(): argument 'size'",
            "empty() received an invalid combination of arguments",
            "must be tuple of ints, but found element of type {type:w} at pos {position:d}",
            "must be tuple of ints",
            "(): argument 'size' (position 1) must be tuple of ints",
            "argument 'kernel_size' must be tuple of ints",
            "unflattened_size must be",
            "either size or scale_factor should be defined",
            "only one of size or scale_factor should be defined",
            "align_corners option can only be set with the interpolating modes",
            "expected mode to be 'bilinear', 'nearest' or 'bicubic'",
            "recompute_scale_factor is not meaningful",
            "anti-alias option is restricted",
            "expected theta to have floating point type",
            "expected a batch of 2d affine matrices",
            "must be a single int, tuple of one int",
            "must be one int or a tuple of ints",
            "argument 'output_size'",
            "min_val cannot be greater than max_val",
            "upscale_factor",
            "pixel_shuffle expects",
            "num_groups",
            "invalid scale_factor",
        ),
        here=("Here: a {type} at position {position}.",),
        needs=(
            "torch",
            "padding",
            "groups",
            "kernel_size",
            "stride",
            "hidden_size",
            "input_size",
            "num_layers",
            "dropout",
            "embed_dim",
            "activation",
            "nonlinearity",
            "num_embeddings",
            "tuple of ints",
            "tuple of one int",
            "scale_factor",
            "align_corners",
            "empty()",
            "bilinear",
            "theta",
            "pixel_shuffle",
            "min_val",
        ),
        unless=(
            "keras",
            "tensorflow",
        ),
        what=(
            "A layer's sizes are whole numbers (and its options names from a list): they become the shape of "
            "its weight."
        ),
        causes=(
            "A size was computed with `/`, which gives a float.",
            "A size came as a text from a file or the command line, as a tensor, or as None.",
            "Arguments are in the wrong order, or the option belongs to another layer.",
        ),
        mend=(
            "fc = nn.Linear(channels * (size // 4) ** 2, 10)       # // stays an integer\n"
            "conv = nn.Conv2d(3, 8, 3, stride=2, padding=1)         # 'same' needs stride 1"
        ),
        check="type(size) is int.",
    ),
    Kind(
        slug="parametrization-refused",
        chapter="modules",
        says=(
            "serialization of parametrized modules is only supported through state_dict()",
            "does not have a parametrization on",
            "right_inverse",
            "weight_norm of '{name:w}' not found",
            "spectral_norm of '{name:w}' not found",
            "cannot register two weight_norm hooks on the same parameter",
            "cannot register two spectral_norm hooks on the same parameter",
            "has to be pruned before pruning can be removed",
            "pruning_method",
            "pruning_type",
            "registering a parametrization may not change",
            "a parametrization must return a tensor",
            "does not have a parameter, a buffer, or a parametrized element with name",
            "has no parameter or buffer with name",
            "expected a matrix or batch of matrices",
            "structured pruning can only be applied",
            "should be smaller than the number of parameters to prune",
            "'spectralnorm' cannot be applied",
        ),
        needs=(
            "torch",
            "param",
            "weight_norm",
            "spectral",
            "prun",
            "right_inverse",
        ),
        what=(
            "A parametrization (weight_norm, spectral_norm, orthogonal, pruning) takes the parameter's place: "
            "the attribute is computed from originals that have other names."
        ),
        causes=(
            "The name is not (or no longer) that of a parameter, or it is parametrized twice.",
            "The module is pickled whole: only its state_dict travels.",
            "The map changes shape or dtype.",
        ),
        mend=(
            "nn.utils.parametrizations.weight_norm(layer, 'weight')\n"
            "nn.utils.parametrize.remove_parametrizations(layer, 'weight')"
        ),
        check="[name for name, _ in layer.named_parameters()].",
    ),
    Kind(
        slug="layout-unsupported",
        chapter="storage",
        says=(
            "tensors do not have strides",
            "with arguments from the 'sparsecpu' backend",
            "with arguments from the 'sparsecuda' backend",
            "with arguments from the 'quantizedcpu' backend",
            "could not run 'quantized::{operator:w}' with arguments from the 'cpu' backend",
            "could not run 'quantized::",
            "tensors of type sparsetensorimpl do not have",
            "sparsetensorimpl",
            "unsupported tensor layout: sparse",
            "unsupported tensor layout",
            "to_sparse",
            "is not supported for sparse",
            "sparse tensors do not have",
            "batchednestedtensor",
            "could not run '{operator:w}' with arguments from the 'nestedtensor",
            "nestedtensor{...}not supported",
            "nestedtensorimpl doesn't support",
            "didn't find engine for operation quantized::conv2d_prepack noqengine",
            "noqengine",
            "could not run 'aten::empty.memory_format' with arguments from the 'quantized",
            "mkldnn",
            "opaquetensorimpl",
            "got sparse tensor but expected dense",
        ),
        here=("Here: {operator}.",),
        needs=(
            "torch",
            "sparse",
            "quantized",
            "nestedtensor",
            "mkldnn",
            "noqengine",
            "layout",
        ),
        unless=(
            "weight is a dense tensor",
            "scipy",
        ),
        what=(
            "Sparse, quantized, nested and MKL-DNN tensors keep their numbers in another way than sizes and "
            "strides over one storage; each operator needs its own code for each of them, and many have none."
        ),
        causes=(
            "The operator has no code for this layout.",
            "A quantized layer got a plain tensor: QuantStub and DeQuantStub are missing.",
        ),
        mend=("x = x.to_dense()\nx = torch.ao.quantization.QuantStub()(x)       # at the model's beginning"),
        check="x.layout is torch.strided.",
    ),
    Kind(
        slug="hub-failure",
        chapter="checkpoints",
        says=(
            "cannot find callable {name} in hubconf",
            "in hubconf",
            "it looks like there is no internet connection and the repo could not be found in the cache",
            "missing dependencies: {name}",
            "untrusted repository",
            "torch hub",
            "torch.hub",
            "torchhub",
            "only one file(not dir) is allowed in the zipfile",
            "http error 403: rate limit exceeded",
        ),
        here=("Here: {name}.",),
        needs=(
            "hub",
            "untrusted repository",
            "dependencies",
            "zipfile",
            "repo could not be found",
        ),
        unless=(
            "huggingface_hub",
            "huggingface.co",
            "requests.exceptions",
        ),
        what=(
            "`torch.hub` downloads a repository, imports its `hubconf.py` from a cache and calls a function in "
            "it. The download, the import or the name failed."
        ),
        causes=(
            "No network, or GitHub's limit of requests.",
            "The repository's dependencies are not installed.",
            "The name is not in hubconf.py of this version, or the cache is half-written.",
        ),
        mend=(
            "torch.hub.list('pytorch/vision')\n"
            "torch.hub.load('pytorch/vision', 'resnet18', force_reload=True)"
        ),
        check="torch.hub.get_dir() and its contents.",
    ),
    Kind(
        slug="rnn-dropout-one-layer",
        chapter="modules",
        says=(
            (
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                "num_layers greater than 1, but got dropout={rate:n} and num_layers={layers:d}"
            ),
            "adds dropout after all but last recurrent layer",
        ),
        here=("Here: dropout {rate}, layers {layers}.",),
        what=(
            "The dropout of `nn.LSTM`, `nn.GRU` and `nn.RNN` stands between layers, after each but the last. With "
            "one layer there is no place for it: it does nothing."
        ),
        causes=("num_layers is 1 (the default), and dropout was meant for the output.",),
        mend=(
            "rnn = nn.LSTM(64, 128, num_layers=2, dropout=0.3)\n"
            "self.drop = nn.Dropout(0.3)         # after a one-layer RNN: out = self.drop(out)"
        ),
        check="In train mode two forward passes of the same input differ.",
    ),
    Kind(
        slug="rnn-weights-scattered",
        chapter="modules",
        says=(
            "rnn module weights are not part of single contiguous chunk of memory",
            "to compact weights again call flatten_parameters()",
        ),
        what=(
            "cuDNN wants all weights of an RNN in one block. They are apart after a copy of the module (DataParallel, "
            "deepcopy, weight_norm); each call then packs them again, which costs time and memory. The result is right."
        ),
        causes=(
            "The RNN runs inside DataParallel, which copies the module at each step.",
            "The module was deep-copied, unpickled, or its weights were replaced.",
        ),
        mend=("def forward(self, x):\n    self.rnn.flatten_parameters()\n    out, state = self.rnn(x)"),
        check="The warning is gone; memory per step is level.",
    ),
    Kind(
        slug="forward-missing",
        chapter="modules",
        says=(
            'module [{module:w}] is missing the required "forward" function',
            'is missing the required "forward" function',
            "module '{module:w}' is missing the required",
            "_forward_unimplemented",
        ),
        here=("Here: the module is {module}.",),
        what=(
            "Calling a module calls its `forward`. This class has none of its own, so nn.Module's, which only "
            "raises, was called."
        ),
        causes=(
            "`forward` is misspelt, or indented into `__init__` or out of the class.",
            "`nn.ModuleList` or `nn.ModuleDict` is called: they only hold modules.",
        ),
        mend=(
            "class Net(nn.Module):\n"
            "    def forward(self, x):             # at the same indentation as __init__\n"
            "        for layer in self.layers:     # a ModuleList is a list\n"
            "            x = layer(x)\n"
            "        return x"
        ),
        check="'forward' in vars(type(net)).",
    ),
)
