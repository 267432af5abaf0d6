"""The one table of the course: from it come the index, the bars between notebooks, and chapter names."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Lesson:
    """One notebook: its file stem, the word of its mechanism, and what a reader gets from it.

    minutes: a reader's time. seconds and megabytes: what one run on two cores may take.
    """

    stem: str
    word: str
    title: str
    puzzle: str
    goals: tuple[str, ...] = field(default=())
    minutes: int = 45
    seconds: int = 8
    megabytes: int = 500

    @property
    def number(self) -> str:
        """ "01", "01b": what stands before the first underscore."""
        return self.stem.split("_")[0]

    @property
    def file(self) -> str:
        return f"{self.stem}.ipynb"

    @property
    def notes(self) -> str:
        """What an instructor reads: minutes per section, questions, wrong answers to expect."""
        return f"notes/{self.stem}.md"


LESSONS = (
    Lesson(
        "00_start_here",
        "layers",
        "Start here",
        "The same sum, two spellings, thousands of times apart in speed: where did the time go?",
        (
            "say which operators a line of Python triggers, and count them",
            "name the layers of a call: Python, autograd, dispatcher, ATen, storage, device",
            "say what dtype, device and requires_grad decide, and which mixes are refused",
            "tell where the price of a call ends and the work begins",
        ),
        minutes=45,
    ),
    Lesson(
        "01_storage_and_strides",
        "storage",
        "Storage and strides",
        "I changed `y`, and `x` changed. I transposed, and `view` refuses.",
        (
            "compute where any element of any tensor lies",
            "say which operations write metadata only, and which copy",
            "tell apart two tensors of one size that read the same storage in another order",
        ),
        minutes=45,
    ),
    Lesson(
        "01b_views_and_reshape",
        "storage",
        "When view must refuse",
        "`view` refuses although the numbers fit. `reshape` accepts, and my write is lost.",
        (
            "decide by hand whether `view` can work, and explain the error when it can't",
            "choose between `view`, `reshape`, `contiguous` and `clone` by what a later write must reach",
            "read a memory format from the stride",
            "build any window with `as_strided`, and say why not to write through it",
        ),
        minutes=60,
    ),
    Lesson(
        "01c_sharing_and_dtypes",
        "storage",
        "Sharing, copies and dtypes",
        "My array changed although I only touched the tensor. My loss is wrong, and nothing complains.",
        (
            "tell whether a write through one tensor is seen through another",
            "choose between `clone`, `detach` and `detach().clone()`",
            "see a broadcast before it happens, and stop a silent wrong one",
            "share memory with NumPy on purpose, and only then",
            "predict the dtype of a result, and explain dtype and device errors",
        ),
        minutes=60,
    ),
    Lesson(
        "02_autograd",
        "autograd",
        "Autograd",
        "`.grad` is `None`. The next `.grad` is twice too big.",
        (
            "say which nodes a line records, and what each of them saves",
            "follow the engine through a graph, and compute a gradient as it does",
            "explain a missing and a doubled `.grad`",
            "place `zero_grad()`, and let small batches act as a large one",
        ),
        minutes=60,
    ),
    Lesson(
        "02b_cuts_and_in_place",
        "autograd",
        "Cuts and in-place writes",
        'The loss falls, and one parameter never moves. "Modified by an inplace operation".',
        (
            "name the ways out of the graph, and find the one that costs a parameter its gradient",
            "mend a training loop that runs and does not train",
            "decide whether an in-place write breaks a backward",
            "explain a second backward",
        ),
        minutes=60,
    ),
    Lesson(
        "02c_autograd_in_depth",
        "autograd",
        "Autograd in depth",
        "A node of my own trains well, and its gradient is wrong.",
        (
            "take a gradient of a gradient",
            "write a node of your own, and check its gradient",
            "choose the right hook, and find the first NaN",
            "rebuild the engine in fifty lines",
        ),
        minutes=60,
    ),
    Lesson(
        "03_devices",
        "devices",
        "Devices",
        "CUDA is installed and `is_available()` says no.",
        (
            "say which three versions must fit for a GPU to compute, and which one is missing",
            "follow `.to(device)` step by step, for a tensor and for a module",
            "explain a device mismatch, and mend it at the right place",
        ),
        minutes=70,
    ),
    Lesson(
        "03b_behind_python",
        "devices",
        "The GPU runs behind Python",
        "The GPU is ten times slower than the CPU. The error points at an innocent line.",
        (
            "say which lines wait for the GPU, and which only queue; and where an error appears",
            "time GPU work without fooling yourself",
            "use pinned memory and `non_blocking`, and say when that is unsafe",
        ),
        minutes=70,
    ),
    Lesson(
        "04_cuda_memory",
        "allocator",
        "CUDA memory",
        "I deleted the tensor and `nvidia-smi` did not move. 2 GiB free, and 1 GiB does not fit.",
        (
            "say what allocated, reserved and `nvidia-smi` count",
            "follow one request through the caching allocator",
            "read an out-of-memory message number by number",
            "see fragmentation, and cure it",
        ),
        minutes=75,
    ),
    Lesson(
        "04b_what_fills_it",
        "allocator",
        "What fills the memory",
        "The model has 100 MB of weights. Training it needs 2 GB.",
        (
            "account for every byte of a training step by its owner",
            "say what each remedy saves, before trying it",
            "find what keeps memory alive: lists, graphs, the notebook itself",
        ),
        minutes=80,
    ),
    Lesson(
        "05_modules",
        "modules",
        "Modules",
        "My layer never trains. My tensor stayed on the CPU.",
        (
            "say what an assignment `self.x = ...` registers, and what it misses",
            "follow `.to()`, `.half()` and `apply` through a model",
            "say what `model(x)` does besides `forward`",
        ),
        minutes=60,
    ),
    Lesson(
        "05b_modes",
        "modules",
        "Modes, freezing, ties",
        "Same input, another output every time.",
        (
            "say what `train()` and `eval()` change, and what they don't",
            "follow BatchNorm's running statistics",
            "freeze a part so that it stays frozen, and tie two layers",
        ),
        minutes=55,
    ),
    Lesson(
        "05c_first_weights",
        "modules",
        "First weights",
        "Thirty fresh layers, a hundred inputs, and one answer for all of them.",
        (
            "say what `nn.Linear` starts with, and why first weights are random",
            "predict whether a signal, or a gradient, survives 50 layers",
            "initialise a model by one function and `apply`",
        ),
        minutes=45,
    ),
    Lesson(
        "06_checkpoints",
        "checkpoints",
        "Checkpoints",
        "The file that loaded last year does not load.",
        (
            "say what a checkpoint file contains, and why loading one can run code",
            "say what sharing, slices and ties cost in a file",
            "mend a `state_dict` that does not fit",
            "choose between copying and `assign`, and load a file from another machine",
        ),
        minutes=60,
    ),
    Lesson(
        "06b_resume",
        "checkpoints",
        "Resume",
        "All weights are back, and the resumed run jumps.",
        (
            "name what a run remembers besides its weights, and say when losing it shows",
            "write a checkpoint that survives a crash",
            "resume a run so that nobody can tell",
        ),
        minutes=60,
    ),
    Lesson(
        "07_training_loop",
        "training",
        "The training loop",
        "The loss falls, but ten times too slowly.",
        (
            "say what each of the five calls does, and what a wrong order costs",
            "choose the right loss, and feed it the right thing",
            "convert dtypes once, and see a shape that broadcasts before it costs a run",
        ),
        minutes=60,
        megabytes=600,
    ),
    Lesson(
        "07b_data_loading",
        "training",
        "Feeding the loop",
        "Eight workers, and the loop became slower.",
        (
            "say who does what between Dataset, sampler, collate and worker",
            "find out whether the loop waits for data",
            "start workers so that it works on every system",
        ),
        minutes=60,
    ),
    Lesson(
        "07c_rates_and_schedules",
        "training",
        "Rates, schedules, small batches",
        "Three small batches should act as one large one. The gradient is another.",
        (
            "find a learning rate by one scan",
            "place a scheduler's step, and read its curve",
            "accumulate gradients, and say when that equals a larger batch",
        ),
        minutes=60,
        megabytes=600,
    ),
    Lesson(
        "07d_half_precision",
        "training",
        "Half precision",
        "Half precision was fast, and after one step the weights were NaN.",
        (
            "say what float16 and bfloat16 can hold, and what autocast casts",
            "follow GradScaler through an overflow",
            "say why weights and optimizer stay in float32",
        ),
        minutes=50,
        megabytes=600,
    ),
    Lesson(
        "07e_watch_the_loop",
        "training",
        "Watch the loop",
        "The loss stands at 2.30, and every line of the loop is right.",
        (
            "check a loop on 20 samples before you train it",
            "read from gradients and updates which layer doesn't learn, and clip what is too large",
            "give parts of a model their own settings",
            "validate without touching the training, and log a run",
        ),
        minutes=55,
        megabytes=600,
    ),
    Lesson(
        "08_onnx_export",
        "export",
        "ONNX export",
        "Exported, validated, wrong on the first other input.",
        (
            "say what a tracer records, and write one in thirty lines",
            "name what a trace cannot see: branches, loops, `.item()`, `len`, the mode",
            "read a TracerWarning, and know what its absence is worth",
            "hold what was exported to the model, on inputs unlike the example",
        ),
        minutes=60,
        megabytes=600,
    ),
    Lesson(
        "08b_torch_export",
        "export",
        "torch.export",
        "One model is refused because of a `u0`. Another is taken, and wrong for one row.",
        (
            "say what `torch.export` runs, and why it can't decide on elements",
            "decode its errors: `u0`, guards, data-dependent, specialised",
            "name sizes by `dynamic_shapes`, and say what a symbol can't see",
            "choose between `torch.where`, `torch.cond` and `torch.compile`",
        ),
        minutes=55,
    ),
    Lesson(
        "08c_the_onnx_file",
        "export",
        "The ONNX file",
        "The exported program refuses eight rows. The file takes them, and is wrong.",
        (
            "say what stands in an ONNX file, and what got lost on the way",
            "tell what the checker proves, and what only a comparison does",
            "choose an opset, name sizes, keep a large file's two parts together",
            "decide whether to mend the model or the export",
        ),
        minutes=55,
        seconds=20,
        megabytes=600,
    ),
    Lesson(
        "09_weight_decay",
        "optimizers",
        "Weight decay",
        "The same λ in Adam and in AdamW: two different models.",
        (
            "say what `weight_decay` adds, where, and in which optimizers that is L2",
            "explain why Adam and AdamW part, term by term",
            "say where each of them ends, and why",
        ),
        minutes=60,
    ),
    Lesson(
        "09b_decay_over_a_run",
        "optimizers",
        "Decay over a run",
        "One λ, and a weight shrinks to 37 %, to 90 %, or not at all.",
        (
            "say how much decay a whole run applies, and to which weights none at all",
            "place a scheduler, and read its curve",
            "rebuild SGD, Adam and AdamW in 30 lines",
        ),
        minutes=60,
    ),
    Lesson(
        "09c_decay_in_practice",
        "optimizers",
        "Decay in practice",
        "The weights are half as large, and the model's outputs stay what they are.",
        (
            "say what decay does in front of BatchNorm",
            "sort parameters into groups: what decays, and what does not",
            "measure what λ buys, with its spread",
        ),
        minutes=60,
    ),
    Lesson(
        "10_reproducibility",
        "randomness",
        "Reproducibility",
        "I set the seed. It still differs.",
        (
            "name every generator of a run, and see which line moves which",
            "say what takes numbers, and keep one change from shifting all the others",
            "give a part its own generator, and put states back",
            "rebuild the generator that torch, NumPy and Python share",
        ),
        minutes=60,
    ),
    Lesson(
        "10b_workers_and_bits",
        "randomness",
        "Workers and last bits",
        "Every seed is set. One worker more, and the samples are others. One thread more, and a sum is another.",
        (
            "say where a worker's random numbers come from, and seed what PyTorch does not",
            "explain last digits that differ, and predict what they grow to",
            "use deterministic algorithms, and read their errors",
            "say which kind of “reproducible” you need, and what it takes",
        ),
        minutes=60,
    ),
    Lesson(
        "11_debugging",
        "debugging",
        "Memory climbs, the GPU idles",
        "Memory climbs with each step, and every line of the loop looks innocent. Which of six holds it?",
        (
            "find which tensors outlive their step, and name who holds them",
            "say what a view, a graph, an exception and a cycle keep alive",
            "tell from three numbers whether it is references, fragmentation or an idle cache",
            "profile a loop, rank it by self time, and say what the GPU waits for",
        ),
        minutes=60,
    ),
    Lesson(
        "11b_not_a_number",
        "debugging",
        "Not a number",
        "Yesterday it ran. Today the loss is NaN at step 40.",
        (
            "say how NaN and Inf are born, forward and backward, and how one of them spreads",
            "follow a NaN from the loss to the parameter, to the operator, and mend it there",
            "read gradient norms per layer: exploding, vanishing, 0, None",
            "say what clipping, a loss scale and anomaly mode do for you, and what they don't",
        ),
        minutes=60,
    ),
    Lesson(
        "11c_from_error_to_cause",
        "debugging",
        "From error to cause",
        "The loss falls, nothing is raised, and new samples are right by chance only.",
        (
            "read a traceback: its numbers, your own last frame, and who made the value",
            "explain and mend the frequent errors, and see where a well-known table of them is wrong",
            "find what raises nothing: with `xray`, `check_up`, 16 samples learned by heart",
            "say what such a test proves, and what it can't; and ask a good question",
        ),
        minutes=60,
    ),
    Lesson(
        "12_bug_hunt",
        "bug_hunt",
        "The bug hunt",
        "A training script with planted faults from every chapter. Find them with the tools.",
        (
            "read a complaint as a symptom, and name the mechanisms that could make it",
            "show a fault with a tool or a small experiment before you change a line",
            "mend the cause, and show that the symptom is gone",
            "set a hunt for others, by seed",
        ),
        minutes=60,
        megabytes=600,
    ),
)

NUMBERS = ", ".join(lesson.number for lesson in LESSONS)


def in_full(number: str) -> str:
    """ "1" and "1b" are "01" and "01b"."""
    return number if number[1:2].isdigit() else f"0{number}"


def called(asked: str) -> Lesson | None:
    """The lesson with this number ("01", "1", "01b"), stem or file."""
    for lesson in LESSONS:
        if asked in (lesson.stem, lesson.file) or in_full(asked) == lesson.number:
            return lesson
    return None


def lesson(stem: str) -> Lesson:
    """The lesson with this stem. Raises KeyError with the known stems."""
    for entry in LESSONS:
        if entry.stem == stem:
            return entry
    raise KeyError(f"no lesson {stem!r}; the course has {', '.join(entry.stem for entry in LESSONS)}")


def bar(stem: str) -> str:
    """The Markdown bar that stands first and last in a notebook: previous, contents, glossary, next."""
    place = LESSONS.index(lesson(stem))
    before = LESSONS[place - 1] if place else None
    after = LESSONS[place + 1] if place + 1 < len(LESSONS) else None
    parts = [
        f"[← {before.number} {before.title}]({before.file})" if before else "",
        "[Contents](index.ipynb)",
        "[Glossary](glossary.md)",
        f"[{after.number} {after.title} →]({after.file})" if after else "",
    ]
    return " · ".join(part for part in parts if part)


def opening(stem: str) -> str:
    """The Markdown that opens a notebook: title, puzzle, goals, minutes."""
    entry = lesson(stem)
    goals = "\n".join(f"- {goal}" for goal in entry.goals)
    return (
        f"# {entry.number} · {entry.title}\n\n> {entry.puzzle}\n\n"
        f"After this notebook you can\n\n{goals}\n\nTime: about {entry.minutes} minutes. "
        "Needs: no GPU. Where there is one, choose the kernel *torchcourse (CUDA)*: the cells stay the same."
    )


def contents() -> str:
    """The Markdown table of the index."""
    head = "| | Notebook | The puzzle it opens with | Minutes | To teach it |"
    rows = [
        f"| {e.number} | [{e.title}]({e.file}) | {e.puzzle} | {e.minutes} | [notes {e.number}]({e.notes}) |"
        for e in LESSONS
    ]
    seconds, megabytes = max(e.seconds for e in LESSONS), max(e.megabytes for e in LESSONS)
    most = (
        f"*Minutes* are a reader's. To run all cells of one takes at most {seconds} s and {megabytes} MB "
        "on two cores; a test holds the notebooks to that."
    )
    words = "The words of the course, each with what happens behind it: the [glossary](glossary.md)."
    return "\n".join([head, "|---|---|---|---|---|", *rows, "", most, "", words])


def goals() -> str:
    """The Markdown list of what each notebook enables a reader to do."""
    return "\n\n".join(
        f"**{e.number} {e.title}**\n" + "\n".join(f"- {goal}" for goal in e.goals) for e in LESSONS
    )


# tag of a Markdown cell -> its text, made from the table (the writer keeps these cells up to date)
def generated(stem: str, tag: str) -> str | None:
    """The text of a generated Markdown cell, or None where this tag marks none, or the notebook is none of ours.

    Tags: `nav` (first and last cell) and `opening` in a lesson; `contents`, `goals` in the index.
    """
    known = any(entry.stem == stem for entry in LESSONS)
    if tag in ("nav", "opening"):
        return {"nav": bar, "opening": opening}[tag](stem) if known else None
    headings = {
        "contents": ("Contents", contents),
        "goals": ("What you will be able to do", goals),
    }
    if tag not in headings:
        return None
    heading, text = headings[tag]
    return f"## {heading}\n\n{text()}"
