"""torch.compile: what it cannot capture, what it needs, why it compiles again."""

from ..data import Kind

KINDS = (
    Kind(
        slug="compile-data-dependent",
        chapter="layers",
        says=(
            "could not guard on data-dependent expression {expression}",
            "could not guard on data-dependent expression",
            "could not extract specialized integer from data-dependent expression",
            "data-dependent expression",
            "guardondatadependentsymnode",
            "graph break from 'tensor.item()'",
            "consider setting: torch._dynamo.config.capture_scalar_outputs",
            "capture_scalar_outputs = true",
            "data-dependent branching",
            "data-dependent jump",
            "detected data-dependent branching",
            "dynamic control flow is not supported",
            "dynamic shape operator: {operator}",
            "dynamic shape operator",
            "data dependent operator: {operator}",
            "data dependent operator",
            "data-dependent operator",
            "dynamicoutputshapeexception",
            "datadependentoutputexception",
            "capture_dynamic_output_shape_ops",
            "symbolic int/float",
            "cannot evaluate{...}symbool",
            "trying to get a value out of symbolic",
            "unbacked symint",
            "unbacked symbols",
            "pendingunbackedsymbolnotfound",
            "torch._check",
            "symbolicallytraced variables cannot be used as inputs to control flow",
            "symbolically traced variables cannot be used as inputs to control flow",
            "proxy object cannot be iterated",
            "torch.fx.proxy.traceerror",
            "traceerror",
            "only tensor, symint",
        ),
        reads=("data-dependent expression {expression} (unhinted",),
        here=("Here: {expression}.",),
        needs=(
            "torch",
            "dynamo",
            "data-dependent",
            "data dependent",
            "symbolic",
            "control flow",
            "traced",
            "proxy",
        ),
        what=(
            "torch.compile and torch.export capture operators for any values of the tensors. A Python `if`, "
            "loop or size that depends on a tensor's value has no answer while capturing: compile breaks the "
            "graph there, fullgraph=True and export refuse."
        ),
        causes=(
            "`if x.sum() > 0`, `.item()`, `.tolist()`, `int(tensor)` in the compiled function.",
            "`nonzero`, boolean indexing or `unique`: sizes that depend on values.",
        ),
        mend=(
            "y = torch.where(x.sum() > 0, x * 2, x)\n"
            "torch._dynamo.config.capture_scalar_outputs = True     # .item() as a symbol\n"
            "y = torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x.clone(), (x,))"
        ),
        check=(
            "torch._dynamo.explain(fn)(x) counts the breaks; the result agrees with the plain function on both "
            "branches."
        ),
    ),
    Kind(
        slug="compile-limit",
        chapter="layers",
        says=(
            "torch._dynamo hit config.recompile_limit ({limit:d})",
            "torch._dynamo hit config.cache_size_limit ({limit:d})",
            "hit config.recompile_limit",
            "hit config.cache_size_limit",
            "config.accumulated_recompile_limit",
            "config.accumulated_cache_size_limit",
            "recompile_limit reached",
            "cache_size_limit reached",
            "failonrecompilelimithit",
            "recompilelimitexceeded",
            "recompile_limit",
            "cache_size_limit",
            "recompiling function",
            "skipping cudagraphs due to",
            "cudagraph support",
            "has been recompiled",
        ),
        reads=(
            "function: '{function}",
            "last reason: {reason}",
        ),
        here=(
            "Here: limit {limit}; the last reason: {reason}",
            "Here: the limit is {limit}.",
        ),
        what=(
            "Compiled code holds for what was seen: shapes, dtypes, Python values, the identity of objects. "
            "These are guards; where one fails, the function is compiled again, and after the limit it runs "
            "uncompiled."
        ),
        causes=(
            (
                "A shape or a Python number changes in each call (the last batch, a sequence length, a step count, "
                "a rate)."
            ),
            "A closure, list or object is a new one in each call.",
            "Grad mode, train/eval or dtype changes.",
        ),
        mend=(
            "model = torch.compile(model, dynamic=True)\n"
            "x = F.pad(x, (0, 64 - x.shape[1]))            # few sizes\n"
            "step = torch.tensor(step)                     # a tensor's value is no guard"
        ),
        check="TORCH_LOGS=recompiles python train.py: no more lines after warm-up.",
        wrong=("Raising the limit without looking at the reason: it compiles for ever.",),
    ),
    Kind(
        slug="compile-compiler-missing",
        chapter="layers",
        says=(
            "aotinductormodelcontainerrun",
            "compatible backends for target (",
            "compiler: cl is not found",
            "compiler: {compiler} is not found",
            "no working c++ compiler found",
            "invalidcxxcompiler",
            "failed to find c compiler. please specify via cc environment variable",
            "failed to find c compiler",
            "working triton installation",
            "tritonmissing",
            "no module named 'triton'",
            "no module named 'triton.{part:w}'",
            "no module named triton",
            "not yet supported for torch.compile",
            "torch.compile is not supported on python",
            "dynamo is not supported on python",
            "dynamo not supported on python",
            "cppcompileerror: c++ compile error",
            "cppcompileerror",
            "c++ compile error",
            "cudacompileerror",
            "fatal error: python.h: no such file",
            "python.h: no such file or directory",
            "libcuda.so cannot found",
            "libcuda.so cannot found!",
            "cannot find -lcuda",
            "ptxas fatal",
            "ptxas error",
            "noptxas",
            "internal triton ptx codegen error",
            "ptxascompile",
            "device not supported{...}triton",
            "out of resource: shared memory",
            "triton.runtime",
            "triton.compiler",
            "compilationerror: at",
            "'omp.h' file not found",
            "omp.h",
            "gputoooldfortriton",
            "a matching triton is not available",
            "vec_isa",
            "cpp_builder",
        ),
        here=("Here: {compiler}.",),
        needs=(
            "torch",
            "triton",
            "compiler",
            "cppcompile",
            "inductor",
            "dynamo",
            "c++ compile",
            "ptxas",
            "python.h",
            "lcuda",
        ),
        unless=(
            "tensorflow",
            "jaxlib",
        ),
        what=(
            "torch.compile's default backend writes C++ (CPU) or Triton (GPU) and compiles it on your machine. "
            "It needs a C++ compiler with Python's headers, or Triton."
        ),
        causes=(
            (
                "No compiler: `cl` on Windows without the Visual Studio shell, no g++ in a slim container; no "
                "Python.h (python3-dev)."
            ),
            "No Triton for this platform, or a card that it doesn't support.",
            "A Python version newer than this torch supports.",
        ),
        mend=(
            "sudo apt-get install g++ python3-dev          # Linux\n"
            "xcode-select --install                         # macOS\n"
            "model = torch.compile(model, backend='aot_eager')    # captures without a compiler: is it the "
            "compiler?"
        ),
        check="g++ --version (Windows: cl, in the x64 developer prompt).",
    ),
    Kind(
        slug="compile-unsupported",
        chapter="layers",
        says=(
            "no available kernel. aborting execution",
            "which is not a supported top level ir node",
            "inductor ir",
            "sympy.core.relational",
            "torch/_dynamo",
            "torch/_inductor",
            "cantsplit",
            "no kernel{...}triton",
            "torch._dynamo.exc.unsupported",
            "torch._dynamo.exc.",
            "call_function{...}in skip_files",
            "in skip_files",
            "skip_files",
            "attempted to call function marked as skipped",
            "marked as skipped",
            "graph break in user code",
            "unsupported: ",
            "dynamo does not know how to trace",
            "dynamo failed to",
            "internaltorchdynamoerror",
            "torchruntimeerror: failed running",
            "dynamo failed to run fx node with fake tensors",
            "failed running call_function",
            "failed running call_method",
            "failed running call_module",
            "backendcompilerfailed",
            "backend compiler failed with",
            "backend='inductor' raised",
            "backend='{backend:w}' raised",
            "torch._inductor.exc.inductorerror",
            "loweringexception",
            "missingoperatorwithdecomp",
            "missingoperatorwithoutdecomp",
            "torch._inductor",
            "graph break",
            "set fullgraph=false",
            "torch.compile with fullgraph=true",
            "skip calling",
            "unsupported method call",
            "failed to trace builtin operator",
            "unsupported function call",
            "call to skipped function",
            "non-infra torch dispatch mode present",
            "observed exception",
            "the tensor has a non-zero number of elements, but its data is not allocated yet",
            "data is not allocated yet",
            "unimplemented{...}dynamo",
            "torchdynamo_verbose",
            "'optimizedmodule'",
            "accessing overwritten",
            "output of cudagraphs that has been overwritten",
            "tried to fuse",
            "torch.compile",
            "cannot compile",
            "torchdynamo",
            "please convert all tensors to faketensors first",
            "faketensormode",
        ),
        reads=(
            "backend='{backend:w}' raised",
            "explanation: {explanation}",
            "hint: {hint}",
        ),
        here=(
            "Here: {explanation}.",
            "Here: backend {backend}.",
        ),
        needs=(
            "no available kernel",
            "sympy",
            "ir node",
            "torch",
            "dynamo",
            "inductor",
            "cudagraphs",
            "faketensor",
            "fullgraph",
        ),
        wraps=True,
        what=(
            "torch.compile reads your function's bytecode and turns what it knows into a graph. What it does "
            "not know breaks the graph (with fullgraph=True: stops), and an error inside the graph is raised "
            "while it is captured, with stand-in tensors."
        ),
        causes=(
            "An ordinary error of the model (shape, dtype, device): run it without compile first.",
            "A Python construct, a C extension, or a print, log or NumPy call that Dynamo can't trace.",
            "A bug or gap of the backend (Inductor).",
        ),
        mend=(
            "model(x)                                              # without compile: is it the model?\n"
            "model = torch.compile(model, backend='eager')         # capture only: is it the backend?\n"
            "@torch.compiler.disable\n"
            "def log(x): ...                                       # keep a function out"
        ),
        check="torch._dynamo.explain(model)(x): graphs, breaks and their reasons.",
        wrong=(
            "`torch._dynamo.config.suppress_errors = True` for ever: everything silently runs uncompiled.",
        ),
    ),
)
