"""ONNX, TorchScript, torch.export, and what runs their files."""

from ..data import Kind

KINDS = (
    Kind(
        slug="onnx-operator-unsupported",
        chapter="export",
        says=(
            "conversionerror: failed to convert the exported program",
            "failed to export an onnx attribute",
            "since it's not constant, please try to make things",
            "onnx does not support",
            "onnx export of",
            "failed to export an onnx",
            "exporting the operator '{operator:w}' to onnx opset version {opset:d} is not supported",
            "exporting the operator",
            "to onnx opset version",
            "onnx export of operator {operator}",
            "onnx export of operator",
            "couldn't export operator {operator:w}",
            "couldn't export operator",
            "onnx export failed: couldn't export",
            "onnx export failed",
            "unsupported: onnx export of",
            "unsupportedoperatorerror",
            "kernel of unknown shape",
            "no onnx function found for",
            "no decompositions registered for the real-valued input",
            "dispatcherror",
            "failed to export the model to onnx",
            "failed to convert the exported program to an onnx model",
            "failed to export the model with torch.export",
            "torchexporterror",
            "onnxexportererror",
            "symbolicvalueerror",
            "failed to decompose the fx graph",
            "unsupported operator {operator:w}",
            "unsupported onnx opset",
            "symbolic function for",
            "op type{...}is not supported in opset",
            "unconvertible{...}onnx",
            "'opset_version'",
            "unsupported onnx opset version: {opset:d}",
        ),
        reads=(
            "exporting the operator '{operator:w}' to onnx opset version {opset:d}",
            "support for this operator was added in version {added:d}",
        ),
        here=(
            "Here: {operator}, opset {opset}; it exists from opset {added} on.",
            "Here: {operator}, opset {opset}.",
            "Here: {operator}.",
        ),
        needs=(
            "onnx",
            "torch",
        ),
        unless=(
            "tf2onnx",
            "skl2onnx",
            "onnxruntime",
        ),
        what=(
            "ONNX is a fixed list of operators per opset version. The exporter has no translation of this "
            "operator to that list."
        ),
        causes=(
            "The opset is too low: newer ones have more operators.",
            (
                "ONNX has no such operator (FFT before 17, random integers, some in-place or custom ones), or this "
                "exporter has no rule for it."
            ),
        ),
        mend=(
            "torch.onnx.export(model, args, 'm.onnx', dynamo=True)                          # the new exporter "
            "knows more\n"
            "torch.onnx.export(model, args, 'm.onnx', dynamo=False, opset_version=17)\n"
            "# else: write the step with operators that ONNX has, or move it out of the model"
        ),
        check="onnx.checker.check_model('m.onnx'), and compare outputs: torchcourse.export.compare.",
    ),
    Kind(
        slug="onnx-package-missing",
        chapter="export",
        says=(
            "no module named 'onnxscript'",
            "no module named 'onnx'",
            "no module named 'onnxruntime'",
            "no module named 'onnx.{part:w}'",
            "no module named 'onnxscript.{part:w}'",
            "module 'onnx' is not installed",
            "onnx is not installed",
            "please install onnxscript",
            "onnxscript is not installed",
            "onnxscript is required",
            "requires onnxscript",
            "module onnx is not installed",
            "module 'onnx' has no attribute",
            "module 'onnxruntime' has no attribute '{name:w}'",
            "no module named onnx",
            "cannot import name '{name:w}' from 'onnx",
        ),
        needs=("onnx",),
        what=(
            "PyTorch writes the file with the packages onnx and onnxscript, which it does not install; "
            "onnxruntime runs it."
        ),
        causes=(
            "The package is missing in the environment that runs.",
            "A file or folder of your own called onnx.",
        ),
        mend="python -m pip install onnx onnxscript onnxruntime",
        check="python -c 'import onnx, onnxscript, onnxruntime'.",
    ),
    Kind(
        slug="tracer-warning",
        chapter="export",
        says=(
            "might cause the trace to be incorrect",
            "converting a tensor to a python boolean might cause",
            "converting a tensor to a python integer might cause",
            "converting a tensor to a python float might cause",
            "converting a tensor to a python number might cause",
            "converting a tensor to a python index might cause",
            "converting a tensor to a numpy array might cause",
            "converting a tensor to a python list might cause",
            "iterating over a tensor might cause",
            "using len to get tensor shape might cause",
            "tracerwarning",
            "we can't record the data flow of python values",
            "results are registered as constants in the trace",
            "torch.from_numpy results are registered as constants",
            "torch.as_tensor results are registered as constants",
            "trace had nondeterministic nodes",
            (
                "output nr {n:d}. of the traced function does not match the corresponding output of the python "
                "function"
            ),
            "of the traced function does not match",
            "tracing failed sanity checks",
            "graphs differed across invocations",
            "tracingcheckerror",
            "there are {n:d} live references to the data region being modified when tracing",
            "live references to the data region",
        ),
        reads=("converting a tensor to a python {what:w} might",),
        here=("Here: a tensor became a Python {what}.",),
        needs=("trac",),
        what=(
            "Tracing runs the model once and writes down the operators. An `if`, a loop count or a number "
            "taken out of a tensor is not an operator: the value of the example stands in the graph for ever."
        ),
        causes=(
            "A condition on a tensor: the other branch is gone from the file.",
            "`int(x.shape[0])`, `len(x)`, a loop over a tensor: that size is now a constant.",
            "Dropout or another random operation: the model is not in eval mode.",
        ),
        mend=(
            "y = torch.where(x.sum() > 0, x * 2, x - 100)         # a condition as an operator\n"
            "x = x.reshape(x.shape[0], -1)                         # sizes without int()\n"
            "model.eval()"
        ),
        check=(
            "Run the file on inputs that take the other branch, and on another batch size: "
            "torchcourse.export.compare."
        ),
        wrong=(
            "Ignoring the warning: the file is right for the example, and may be wrong for the next input.",
        ),
    ),
    Kind(
        slug="onnx-runtime-input",
        chapter="export",
        says=(
            "invalid rank for input: {name} got: {got:d} expected: {expected:d}",
            "invalid rank for input",
            "got invalid dimensions for input: {name}",
            "unexpected input data type. actual: ({actual}) , expected: ({expected})",
            "unexpected input data type",
            "invalid feed input name:{name}",
            "invalid feed input name",
            "required inputs ({name}) are missing from input feed",
            "are missing from input feed",
            "invalid dimensions for input",
            "input must be a list of dictionaries or a single numpy array for input",
            "expected to be of type: numpy array",
            "runtimeerror: input must be",
            "model requires {expected:d} inputs. input feed contains {got:d}",
            "model requires",
            "unexpected input name",
        ),
        reads=(
            (
                "got invalid dimensions for input: {name:w} for the following indices index: {index:d} got: "
                "{got:d} expected: {expected:d}"
            ),
            "actual: ({actual}) , expected: ({expected})",
            "for input: {name:w} got: {got:d} expected: {expected:d}",
        ),
        here=(
            "Here: input {name}, expected {expected}, got {got}.",
            "Here: expected {expected}, got {actual}.",
        ),
        needs=(
            "onnx",
            "invalid_argument",
            "input feed",
            "tensor(",
            "for input",
            "feed input",
        ),
        unless=(
            "sklearn",
            "keras",
        ),
        what=(
            "An ONNX file states each input's name, type and dimensions. A dimension is a fixed number (that "
            "of the example) unless it was named dynamic when exporting."
        ),
        causes=(
            "The batch size or the image size was exported as a constant.",
            "The array is float64 (NumPy's own), the file wants float32.",
            "A dimension was added or is missing (np.stack instead of np.concatenate), or the names differ.",
        ),
        mend=(
            "session.run(None, {'x': x.astype(np.float32)})\n"
            "torch.onnx.export(model, (x,), 'm.onnx', input_names=['x'], dynamic_shapes=({0: 'batch'},))"
        ),
        check="[(i.name, i.shape, i.type) for i in session.get_inputs()].",
    ),
    Kind(
        slug="onnx-runtime-failure",
        chapter="export",
        says=(
            "[onnxruntimeerror]",
            "onnxruntimeerror",
            "non-zero status code returned while running {operator:w} node",
            "non-zero status code returned while running",
            "load model from {...} failed",
            "this is an invalid model",
            "unsupported model ir version",
            "onnx.checker.validationerror",
            "onnx.onnx_cpp2py_export.checker.validationerror",
            "no opset import for domain",
            "fatal error: {...} is not a registered function/op",
            "is not a registered function/op",
            "ort 1.9{...}explicitly set the providers parameter",
            "required to explicitly set the providers",
            "is not in available provider names",
            "failed to create cudaexecutionprovider",
            "onnxruntime_providers_cuda.dll",
            "onnxruntime_providers_shared",
            "libonnxruntime_providers_cuda.so",
            "shapeinferenceerror",
            "[shapeinferenceerror]",
            "nodes in a graph must be topologically sorted",
            "protobuf parsing failed",
            "invalidprotobuf",
            "could not find an implementation for {operator:w}",
            "could not find an implementation for",
            "not_implemented : could not find",
            "no_suchfile",
            "no_such_file : load model",
            "nosuchfile",
            "exceeds maximum protobuf size of 2gb",
            "maximum protobuf size",
            "graph output {...} does not exist in the graph",
            "typeinferenceerror",
            "type error: type '{...}' of input parameter",
            "in tensorrt{...}onnx",
            "tensorrt{...}parse",
            "onnx.parse",
            "current{...}opset{...}onnx",
            "onnx model is invalid",
            "invalid_graph",
            "ir_version",
        ),
        reads=(
            "while running {operator:w} node. name:'{node}'",
            "could not find an implementation for {operator:w}",
        ),
        here=(
            "Here: {operator}, node {node}.",
            "Here: {operator}.",
        ),
        needs=(
            "onnx",
            "ort ",
        ),
        what=(
            "ONNX Runtime reads the file, checks each node's types and shapes, and runs it with a provider "
            "(CPU, CUDA, …). One of these failed."
        ),
        causes=(
            (
                "A size inside the graph is a constant of the example (Reshape, Expand, Concat), and this input "
                "has another."
            ),
            "The file's opset or IR version is newer than this runtime, or the file is cut or not ONNX.",
            "The provider is not in this package: the GPU needs onnxruntime-gpu with its CUDA and cuDNN.",
        ),
        mend=(
            "session = onnxruntime.InferenceSession('m.onnx', providers=['CPUExecutionProvider'])\n"
            "torch.onnx.export(model, (x,), 'm.onnx', dynamic_shapes=({0: 'batch'},))\n"
            "python -m pip install --upgrade onnxruntime"
        ),
        check="onnx.checker.check_model('m.onnx'); onnxruntime.get_available_providers().",
    ),
    Kind(
        slug="export-constraint",
        chapter="export",
        says=(
            "constraints violated ({dimension})",
            "constraints violated",
            "you marked {dimension} as dynamic but your code specialized it to be a constant ({constant:d})",
            "as dynamic but your code specialized it to be a constant",
            "was inferred to be a constant ({constant:d})",
            "was inferred to be a constant",
            "not all values of {dimension} = {where} in the specified range",
            "dynamic_shapes",
            "input{...}does not match the dynamic",
            "expected input at {where} to be equal to {expected:d}, but got {got:d}",
            "expected input at {where} to be",
            "expected input at",
            "detected mismatch between the structure of",
            "when 'dynamic_shapes' is specified as a dict",
            "# the following dimensions have been specialized",
            "unexpected type <class {...}dim",
            "guard failed: ",
            "suggested fixes:{...}dim",
            "set of keyword{...}dynamic",
            "'dynamic_axes' is not recommended when dynamo=true",
            "dynamic_axes",
        ),
        reads=(
            "constraints violated ({dimension})",
            "specialized it to be a constant ({constant:d})",
            "to be a constant ({constant:d})",
        ),
        here=(
            "Here: {dimension} became the constant {constant}.",
            "Here: {dimension}.",
            "Here: {where}: expected {expected}, got {got}.",
        ),
        needs=(
            "torch",
            "dynamic",
            "constraint",
            "expected input at",
            "inferred to be a constant",
            "guard failed",
        ),
        unless=(
            "sqlalchemy",
            "integrityerror",
            "fakeTensor".lower(),
        ),
        what=(
            "`torch.export` proves what the graph needs of each size. A dimension that you call dynamic is "
            "used with a fixed one somewhere, or the exported program gets a size that it was not made for."
        ),
        causes=(
            "A constant with the batch size in it: `torch.zeros(2, 6)`, `view(2, -1)`.",
            "The example's size is 1 or 0: those are always taken as constants.",
            "A Python `if` or `int()` on the size.",
        ),
        mend=(
            "x + torch.zeros(x.shape[0], 6)                          # the size from the input\n"
            "torch.export.export(model, (torch.randn(2, 6),), dynamic_shapes=({0: "
            "torch.export.Dim('batch')},))    # example of 2 or more"
        ),
        check="The exported program on two other sizes: torchcourse.export.compare.",
    ),
    Kind(
        slug="legacy-onnx-exporter",
        chapter="export",
        says=(
            "legacy torchscript-based onnx",
            "torch.onnx.dynamo_export is deprecated",
            "onnx export mode is set to trainingmode",
            "trainingmode.eval, but operator",
            "setting 'external_data'",
            "constant folding - only steps=1 can be constant folded",
            "with a batch_size other than 1, with a variable length",
            "the shape inference of prim::constant type is missing",
            "the shape inference of",
            "onnx's upsample/resize operator did not match pytorch's interpolation until opset 11",
            "# 'dynamic_axes'",
            "exporting aten::index operator of advanced indexing",
            "exporting aten::",
            "provided key {name} for dynamic axes is not a valid input/output name",
            "for dynamic axes is not a valid input/output name",
        ),
        needs=(
            "onnx",
            "torch",
            "opset",
            "dynamic axes",
            "prim::constant",
        ),
        what=(
            "There are two ONNX exporters: the old one traces (TorchScript), the new one uses torch.export "
            "(dynamo=True, the default since 2.9). The old one warns about itself, and about places where its "
            "graph may differ from the model."
        ),
        causes=(
            "`dynamo=False`, or a version before 2.9.",
            "An operator that the old exporter writes only for the example's shape, or differently.",
        ),
        mend="torch.onnx.export(model, (x,), 'm.onnx', dynamo=True, dynamic_shapes=({0: 'batch'},))",
        check="Outputs of file and model on other inputs and sizes: torchcourse.export.compare.",
    ),
    Kind(
        slug="torchscript-unsupported",
        chapter="export",
        says=(
            "the above operation failed in interpreter",
            "operation failed in the torchscript interpreter",
            "model has no forward function",
            "inputs to traced functions",
            "traced functions must",
            "only tuples, lists and variables are supported as jit inputs/outputs",
            "as jit inputs/outputs",
            "unknown type name '{name}'",
            "python builtin {name} is currently not supported in torchscript",
            "not supported in torchscript",
            "arguments for call are not valid",
            "expected a value of type '{expected}' for argument '{argument}' but instead found type '{got}'",
            "but instead found type",
            "torch.jit.frontend.notsupportederror",
            "unsupportednodeerror",
            "compiled functions can't take",
            "could not get qualified name for class",
            (
                "module '{module:w}' has no attribute '{name:w}' (this attribute exists on the python module, but "
                "we failed to convert python type"
            ),
            "failed to convert python type",
            "could not export python function call",
            "tracer cannot infer type of",
            "cannot infer type of",
            "encountering a dict at the output of the tracer",
            "encountering a list at the output of the tracer",
            "can be output from traced functions",
            "type 'tuple[",
            "'{name}' object has no attribute or method",
            "undefined value {name:w}",
            "is not usable in a script method",
            "the following operation failed in the torchscript interpreter",
            "torchscript interpreter",
            "cannot insert a tensor that requires grad as a constant",
            "schema not found for node",
            "torch.jit.script",
            "torch.jit.trace",
            "'torch.jit.script' is deprecated",
            "expected integer literal for index",
            "return value was annotated as having type",
            "did you forget to initialize an attribute in __init__",
            "class 'module' does not have",
            "is not a part of{...}torchscript",
            "unsupported: {...}torchscript",
            "compiler does not support",
            "cannot be used as a tuple",
        ),
        needs=(
            "jit inputs",
            "torchscript",
            "torch.jit",
            "torch",
            "traced",
            "tracer",
        ),
        what=(
            "`torch.jit.script` compiles a small, typed part of Python; whatever is outside (a type that "
            "changes, **kwargs, most of the standard library) is refused. Tracing takes tensors, and tuples "
            "and lists of these."
        ),
        causes=(
            "An argument without annotation is taken as a Tensor, and is something else.",
            "A Python feature, or a third-party type, that TorchScript has not.",
            "A dict output while tracing: needs strict=False.",
        ),
        mend=(
            "def forward(self, x: torch.Tensor, n: int) -> torch.Tensor: ...\n"
            "exported = torch.export.export(model, (x,))       # the way that goes on: TorchScript is no "
            "longer developed"
        ),
        check="The compiled module and the model agree on several inputs.",
    ),
    Kind(
        slug="export-data-dependent",
        chapter="export",
        says=(
            "usererror'>: could not guard on data-dependent expression {expression} (unhinted",
            "usererror: could not guard on data-dependent expression {expression} (unhinted",
            "guardondatadependentsymnode: could not guard on data-dependent expression {expression} (unhinted",
            "guardondatadependentsymnode: could not extract specialized integer from data-dependent expression",
            (
                "usererror: consider annotating your code using torch._check*(). could not guard on "
                "data-dependent expression {expression} (unhinted"
            ),
            "usererror: dynamic control flow is not supported at the moment",
            "unsupported: dynamic control flow is not supported at the moment",
        ),
        here=("Here: {expression}.",),
        needs=(
            "torch.export",
            "torch/export",
            "torch/_export",
        ),
        anybodys=True,
        what=(
            "torch.export makes one graph for all inputs. A Python `if`, a loop or a size that depends on a "
            "tensor's value has no answer while it captures, so it refuses. (u0, u1 … are numbers that are "
            "known at run time only.)"
        ),
        causes=(
            "`if x.sum() > 0`, `.item()`, `.tolist()`, `int(tensor)` in forward.",
            "`nonzero`, boolean indexing or `unique`: a size that depends on values, and is then compared.",
        ),
        mend=(
            "y = torch.where(x.sum() > 0, x * 2, -x)                              # both sides are computed\n"
            "y = torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: -x, (x,))     # one, chosen at run time\n"
            "torch._check(n <= x.size(0))                       # what you know of a number n = t.item()"
        ),
        check="torch.export.draft_export(model, (x,)) lists all such places at once.",
    ),
)
