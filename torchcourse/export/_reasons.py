"""Errors of exporters and runtimes → one plain sentence, "<kind>: <what happened>."

The rules read types and texts of torch/jit/_trace.py, torch/export, torch/onnx/_internal and onnxruntime;
a text that no rule knows is shortened to its first sentence.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

Rule = tuple[str, Callable[[re.Match[str]], str]]

NAMES = {"tensor(float)": "float32", "tensor(double)": "float64"}


class Refused(Exception):
    """A refusal of ours; its text is the reason."""


def missing(package: str) -> str:
    """What to do about a package that is not there."""
    return f"missing package: {package} is not installed; `pip install {package}` gets it."


def of_export(error: BaseException) -> str:
    """Why an exporter made nothing."""
    return _first(_EXPORT, error)


def of_run(error: BaseException, axes: Mapping[str, Mapping[int, str]] = MappingProxyType({})) -> str:
    """Why the exported thing did not take this input. axes: what dynamic_shapes leaves open, by path."""
    reason = _first(_RUN, error)
    size = re.match(r"fixed shape: ([\w.\[\]']+)\.shape\[(\d+)\] is (.*)\.$", reason)
    if size is None:
        return reason
    open_ = {_flat(path): dimensions for path, dimensions in axes.items()}.get(_flat(size[1]), {})
    if int(size[2]) in open_:
        return f"dynamic shape specialised: {size[1]}.shape[{size[2]}] is {size[3]}, though dynamic_shapes opens it."
    return f"{reason.rstrip('.')}; dynamic_shapes would leave it open."


def _flat(path: str) -> str:
    """An exporter's name for a leaf: `d['a']` is d_a."""
    return "_".join(re.findall(r"\w+", path))


def of_file(error: BaseException) -> str:
    """Why an ONNX file can't be loaded, or run on these inputs."""
    return _first(_FILE + _RUN, error)


def plain(error: BaseException) -> str:
    """'IndexError, index out of range in self': the type and the first sentence, without paths."""
    first = next((line.strip() for line in _last(str(error)).splitlines() if line.strip()), "no message")
    short = re.sub(r"(/[\w.+-]+){2,}/?|\x1b\[[\d;]*m", "…", re.split(r"(?<=\w)[.!] ", first)[0])
    return f"{type(error).__name__}, {short[:160].rstrip('. ')}"


def _first(rules: list[Rule], error: BaseException) -> str:
    if isinstance(error, Refused):
        return str(error)
    causes = list(_chain(error))
    for one in causes:
        if isinstance(one, ImportError) and "onnx" in (one.name or str(one)):
            return missing(re.findall(r"onnx\w*", one.name or str(one))[0])
    text = "\n".join(f"{type(one).__name__}: {one}" for one in causes)
    for pattern, sentence in rules:
        if match := re.search(pattern, text, re.DOTALL):
            return sentence(match)
    return f"error: it stops with {plain(causes[-1])}."


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__


def _last(text: str) -> str:
    """Of a TorchScript traceback the line that tells the error; any other text as it is."""
    if "Traceback of TorchScript" not in text:
        return text
    lines = [line for line in text.splitlines() if re.match(r"(\w*Error|RuntimeError): ", line)]
    return lines[-1].partition(": ")[2] if lines else text


def _place(text: str) -> str:
    """' at line 4, `if x.sum() > 0:`' from the last frame that a message of torch.export shows; or ''."""
    found = re.findall(r"line (\d+), in \w+\n\s*(\S[^\n]*)", text)
    return f" at line {found[-1][0]}, `{found[-1][1].strip()}`," if found else ""


def _data_dependent(match: re.Match[str]) -> str:
    return (
        f"data-dependent branch:{_place(match.string)} Python needs a tensor's value, which no graph has "
        "while it is captured; torch.cond or torch.where keep both sides."
    )


def _specialised(match: re.Match[str]) -> str:
    fixes = re.search(r"Suggested fixes:\s*\n((?:\s+\S[^\n]*\n?)+?)\n", match.string + "\n\n")
    fix = f"; it suggests `{' '.join(fixes[1].split())}`" if fixes else ""
    range_ = re.search(r"satisfy the generated guard ([^\n]+)", match.string)
    constant = re.search(r"specialized it to be a constant \((\d+)\)|static shape of (\d+)", match.string)
    if constant:
        said = f"the model fixes a dynamic dimension to the example's {constant[1] or constant[2]}"
    elif range_:
        guard = re.sub(r"L\['(\w+)'\]\.size\(\)\[(\d+)\]", r"\1.shape[\2]", range_[1])
        said = f"the graph holds for `{guard.strip()}` only, a branch on a size"
    else:
        said = "the model narrows a dynamic dimension"
    return f"dynamic shape specialised: {said}{fix}."


def _dimension(match: re.Match[str]) -> str:
    return f"fixed shape: {match[1]}.shape[{match[2]}] is {match[4]} in the graph, and here {match[3]}."


def _guard(match: re.Match[str]) -> str:
    guard = match[1].strip()
    size = re.fullmatch(r"(\w[\w.\[\]']*?)\.size\(\)\[(\d+)\] (==|<=|>=|<|>|!=) (.+)", guard)
    if size is None:
        return f"constant baked in: the graph holds for `{guard}` only, the value of the example."
    if size[3] == "==":
        return f"fixed shape: {size[1]}.shape[{size[2]}] is {size[4]} in the graph, and another here."
    return f"dynamic shape specialised: the graph holds for `{size[1]}.shape[{size[2]}] {size[3]} {size[4]}` only."


def _unsupported(name: str) -> str:
    return f"unsupported operator: {name} has no translation to ONNX."


def _output(kind: str) -> str:
    short = kind.rpartition(".")[2].strip("'<> ")
    return (
        f"output not a tensor: the model returns {article(short)}, which this exporter does not take; a tuple of "
        "tensors works everywhere."
    )


def article(word: str) -> str:
    return f"{'an' if word[:1].lower() in 'aeio' else 'a'} {word}"


_nothing = "output not a tensor: the model returns no tensor, and a graph without outputs computes nothing."

_EXPORT: list[Rule] = [
    (r"No module named '?(onnx\w*)", lambda m: missing(m[1])),
    (
        r"(?:requires?|install|import) (?:the )?`?(onnx\w*)`? (?:package|to|is not|from)",
        lambda m: missing(m[1]),
    ),
    (
        r"Could not guard on data-dependent|[Dd]ata-dependent (?:branching|expression)|DataDependent"
        r"|Dynamic control flow is not supported|Cannot call (?:bool|numel|int)\w*\(\) on",
        _data_dependent,
    ),
    (r"Constraints violated|specialized it to be a constant|inferred a static shape", _specialised),
    (r"Exporting the operator '([\w:.]+)' to ONNX", lambda m: _unsupported(m[1])),
    (
        r"No ONNX function found for <OpOverload\(op='([\w.:]+)'",
        lambda m: _unsupported(m[1].replace(".", "::", 1)),
    ),
    (
        r"Unsupported onnx_opset_version: (-?\d+)",
        lambda m: f"unknown opset: this exporter has no opset {m[1]}.",
    ),
    (
        r"Type '([^\n]*?)' cannot be traced\. Only Tensors",
        lambda m: (
            f"input not a tensor: an argument is {article(_odd(m[1]))}, and torch.jit.trace takes tensors, and "
            "lists, tuples and dicts of them."
        ),
    ),
    (
        r"Encountering a (dict|list)\b",
        lambda m: (
            f"output not a tensor: the model returns a {m[1]}, and torch.jit.trace takes that with "
            "strict=False only."
        ),
    ),
    (r"instead got value of type ([\w.]*\w)", lambda m: _output(m[1])),
    (r"received an input of unsupported type: ([\w.]*\w)", lambda m: _output(m[1])),
    (r"Found <class '([\w.<>]+)'> in output", lambda m: _output(m[1])),
    (
        r"Only tensors, lists, tuples of tensors, or dictionary",
        lambda m: _output("value that is no tensor (None)"),
    ),
    (
        r"Tracer cannot infer type of",
        lambda m: (
            "output not a tensor: the outputs are a mixture of containers, and torch.jit.trace takes tensors, and "
            "tuples, lists and dicts of one kind."
        ),
    ),
    (
        r"argument '(\w+)' (?:\(position \d+\) )?must be (bool|int|float), not Tensor",
        lambda m: (
            f"input not a tensor: this exporter makes tensors of numbers among the arguments and their defaults, and "
            f"{m[1]} must be {article(m[2])}."
        ),
    ),
    (
        r"didn't return any values",
        lambda m: _nothing,
    ),
    (
        r"uninitialized parameter",
        lambda m: (
            "lazy module: a parameter has no shape before the first call; call the model once before the export."
        ),
    ),
    (
        r"ScalarType Complex",
        lambda m: (
            "dtype: ONNX has no complex numbers, and torch.onnx.export(dynamo=False) no stand-in for them."
        ),
    ),
    (
        r"output \d+ \(.*\) of traced region",
        lambda m: _output("value that is no tensor"),
    ),
    (
        r"AttributeError: '(str|int|float|bool)' object has no attribute 'name'",
        lambda m: _output(m[1]),
    ),
    (
        r"TracingCheckError",
        lambda m: (
            "trace check failed: traced twice, the two graphs differ, so what Python does changes between calls; "
            "check_trace=False leaves the check out."
        ),
    ),
    (
        r"\.?numpy\(\)|[Nn]um[Pp]y",
        lambda m: (
            f"leaves torch:{_place(m.string)} the model goes through NumPy, which no graph of torch shows."
        ),
    ),
    (
        r"FX to torch\.jit\.trace a dynamo-optimized",
        lambda m: "unsupported operator: torch.jit.trace can't record torch.cond or what torch.compile made.",
    ),
    (
        r"ScriptModule is not supported|ScriptModule|ScriptFunction",
        lambda m: (
            "unsupported model: a ScriptModule is TorchScript already, and torch.export captures Python."
        ),
    ),
]

_RUN: list[Rule] = [
    (r"No module named '?(onnx\w*)", lambda m: missing(m[1])),
    (r"invalid dimensions for input: (\S+) .*?index: (\d+) Got: (\d+) Expected: (\d+)", _dimension),
    (
        r"Invalid rank for input: (\S+) Got: (\d+) Expected: (\d+)",
        lambda m: f"fixed shape: {m[1]} has {m[3]} dimensions in the graph, and here {m[2]}.",
    ),
    (
        r"Unexpected input data type\. Actual: \((\S+)\)\s*, expected: \((\S+)\)",
        lambda m: f"dtype: the graph takes {_dtype(m[2])}, and got {_dtype(m[1])}.",
    ),
    (r"Guard failed: ([^\n]+)", _guard),
    (
        r"Expected input at (\S+) to be equal to ([^\n]+?), but got ([^\n]+)",
        lambda m: f"fixed shape: the graph holds for {m[2]} at {m[1]} only, and got {m[3]}.",
    ),
    (
        r"exported input tree spec|expected at most \d+ argument|Missing required|missing value for argument",
        lambda m: (
            "input structure: the graph takes the example's arguments, as many, and in the same containers."
        ),
    ),
    (
        r"Could not find an implementation for (\w+)\(\d+\)",
        lambda m: f"unsupported operator: onnxruntime has no CPU kernel for {m[1]} on these dtypes.",
    ),
    (
        r"while running (\w+) node\..*?Status Message: (?:\S+:\d+ )?([^\n]*)",
        lambda m: f"fails inside: onnxruntime stops at a {m[1]} node, whose graph was fixed by the example.",
    ),
    (
        r"Traceback of TorchScript",
        lambda m: f"fails inside: the traced graph stops with '{_last(m.string)[:160].rstrip('. ')}'.",
    ),
]

_FILE: list[Rule] = [
    (
        r"External data|external data|External initializer|GetExtData",
        lambda m: (
            "missing external data: the file keeps its weights in another file, which is not beside it, or is shorter "
            "than it should be."
        ),
    ),
    (
        r"[Oo]pset (\d+) is under development|Opset (\d+)|opset version (\d+)",
        lambda m: f"unknown opset: onnxruntime does not know opset {next(filter(None, m.groups()))}.",
    ),
    (
        r"Unsupported model IR version: (\d+), max supported IR version: (\d+)",
        lambda m: f"unknown format: the file has IR version {m[1]}, and onnxruntime reads up to {m[2]}.",
    ),
    (r"OrtValue indexes should have been populated", lambda m: _nothing),
    (
        r"[Pp]rotobuf parsing failed|No graph was found|INVALID_PROTOBUF",
        lambda m: "not an ONNX file: it is truncated, or something else.",
    ),
]


def _odd(described: str) -> str:
    """Of 'Tuple[Tensor, int]' what is no tensor: 'int'."""
    odd = [word for word in re.findall(r"\w+", described) if word not in ("Tuple", "List", "Dict", "Tensor")]
    return odd[0] if odd else described


def _dtype(name: str) -> str:
    return NAMES.get(name, name.removeprefix("tensor(").removesuffix(")"))
