"""From a graph and the engine's recorded run to a `Story`: boxes, wires, moments and their sentences."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from torchcourse.autograd import BackwardRecord, Edge, Graph, Node, Saved, Stats, Step
from torchcourse.autograd.numbers import UNKNOWN, Numbers

from ._backward_words import (
    amount,
    brief,
    counted,
    cut,
    ending,
    flowing,
    formula,
    joined,
    number,
    short,
    size,
)
from .backward import ON_WIRES, Box, Moment, Story, Wire, counting

Group = tuple[str, tuple[int, ...]]  # a title and node ids


def tell(
    graph: Graph, record: BackwardRecord, groups: Sequence[Group] = (), values: Numbers = UNKNOWN
) -> Story:
    """The story of a recorded run over a graph (the names are this graph's).

    groups: which nodes share a box, every node in one of them; without it each has its own.
    """
    groups = groups or [("", (node.id,)) for node in graph.nodes]
    return _Teller(graph, record, groups, values).story()


class _Teller:
    def __init__(
        self, graph: Graph, record: BackwardRecord, groups: Sequence[Group], values: Numbers
    ) -> None:
        self.graph, self.record, self.groups, self.values = graph, record, groups, values
        self.steps = record.steps
        self.bad = record.first_bad
        self.step_of = {step.node: k for k, step in enumerate(record.steps, 1)}
        self.box_of = {node: k for k, (_, nodes) in enumerate(groups) for node in nodes}
        self.out: dict[int, list[Edge]] = defaultdict(list)
        for edge in graph.edges:
            self.out[edge.source].append(edge)

    def story(self) -> Story:
        grads = [nodes[0] for _, nodes in self.groups if len(nodes) == 1 and self.leaf(nodes[0])]
        boxes = [self.box(title, nodes) for title, nodes in self.groups] + [self.grad(node) for node in grads]
        fills = [
            Wire(self.box_of[node], len(self.groups) + k, sent=self.when(node))
            for k, node in enumerate(grads)
        ]
        moments = [Moment(self.box_of[step.node], self.sentence(step)) for step in self.steps]
        name = self.graph.roots[0].name or "loss"
        return Story(
            f"{name}.backward()",
            self.opening(),
            tuple(boxes),
            (*self.wires(), *fills),
            tuple(moments),
            self.folded(),
        )

    # Boxes

    def leaf(self, node: int) -> bool:
        return self.graph.nodes[node].kind == "AccumulateGrad"

    def when(self, node: int) -> tuple[int, ...]:
        """The step in which a node ran; empty where the engine did not come by."""
        return (self.step_of[node],) if node in self.step_of else ()

    def box(self, title: str, nodes: tuple[int, ...]) -> Box:
        if len(nodes) == 1:
            return self.single(self.graph.nodes[nodes[0]])
        steps = tuple(sorted(k for node in nodes for k in self.when(node)))
        fills = tuple(sorted(k for node in nodes if self.leaf(node) for k in self.when(node)))
        line = counting(0, steps, fills)
        return Box("fold", cut(title, 22), line, line, line, steps, self.inside(title, nodes), fills=fills)

    def single(self, node: Node) -> Box:
        steps = self.when(node.id)
        saved = any(one.state != "freed" for one in node.saved)
        if self.leaf(node.id):
            name = ending(node.variable or "a leaf")
            return Box("acc", "Accumulate", name, name, name, steps)
        before = size(node.shape)
        title = cut(short(node.name))
        if not steps:
            return Box("op", title, before, before, before, (), "", saved)
        step = self.steps[steps[0] - 1]
        after = f"grad {brief(_first(step.entered))}"
        freed = saved and step.finished and not self.record.kept
        return Box("op", title, before, after, after, steps, "", saved, freed, self.wrong(step))

    def wrong(self, step: Step) -> bool:
        """It raised, or a NaN or infinity came out of it."""
        return not step.finished or not all(one is None or one.finite for one in step.left)

    def grad(self, node: int) -> Box:
        title = ending(f"{self.name(node)}.grad")
        steps = self.when(node)
        if not steps:
            return Box("grad", title, "untouched", "untouched", "untouched", ())
        step = self.steps[steps[0] - 1]
        done = step.accumulated
        before, after = (brief(done.before), brief(done.after)) if done else ("None", "None")
        return Box("grad", title, before, f"{before} → {after}", after, steps)

    def inside(self, title: str, nodes: tuple[int, ...]) -> str:
        """What a fold holds."""
        names = Counter(short(self.graph.nodes[node].name) for node in nodes)
        listed = [f"`{name}`" if n == 1 else f"`{name}` ×{n}" for name, n in names.most_common()]
        return f"`{title}` holds {counted(len(nodes), 'node')}: {joined(listed, 6)}."

    # Wires

    def wires(self) -> Iterator[Wire]:
        """One for each edge between single nodes; one for all edges between two boxes, where one is a fold."""
        between: dict[tuple[int, int, int], list[Edge]] = defaultdict(list)
        for k, edge in enumerate(self.graph.edges):
            source, target = self.box_of[edge.source], self.box_of[edge.target]
            if source != target:
                many = len(self.groups[source][1]) > 1 or len(self.groups[target][1]) > 1
                between[source, target, -1 if many else k].append(edge)
        for (source, target, _), edges in between.items():
            yield self.wire(source, target, edges)

    def wire(self, source: int, target: int, edges: list[Edge]) -> Wire:
        ran = [edge for edge in edges if edge.source in self.step_of and self.sent(edge) is not None]
        value = gradient = ""
        if len(edges) == 1:
            node = self.graph.nodes[edges[0].target]
            known = self.values.made.get((edges[0].target, edges[0].output))
            shape = node.outputs[edges[0].output].shape if edges[0].output < len(node.outputs) else None
            value = number(known) if known is not None else size(shape)
            gradient = brief(self.sent(edges[0])) if ran else ""
        sent = {k for edge in ran for k in self.when(edge.source)}
        got = {k for edge in ran for k in self.when(edge.target)}
        return Wire(source, target, value, gradient, tuple(sorted(sent)), tuple(sorted(got)))

    def sent(self, edge: Edge) -> Stats | None:
        step = self.steps[self.step_of[edge.source] - 1]
        return step.left[edge.slot] if edge.slot < len(step.left) else None

    # Sentences

    def name(self, node: int) -> str:
        return self.graph.nodes[node].variable or "a leaf"

    def opening(self) -> str:
        nodes = counted(len(self.steps), "node")
        return (
            f"Backward runs {nodes} of the graph that the forward recorded: press → for the first. {ON_WIRES}"
        )

    def folded(self) -> str:
        if len(self.groups) == len(self.graph.nodes):
            return ""
        return f"{len(self.graph.nodes):,} nodes, folded into {len(self.groups)} boxes."

    def sentence(self, step: Step) -> str:
        title, nodes = self.groups[self.box_of[step.node]]
        place = ""
        if len(nodes) > 1:
            ran = sorted(k for node in nodes for k in self.when(node))
            place = f"In `{title}` ({ran.index(self.step_of[step.node]) + 1} of {len(ran)}): "
        said = self.filling(step) if self.leaf(step.node) else self.working(step)
        return place + said + self.trouble(step)

    def filling(self, step: Step) -> str:
        name, done = f"`{self.name(step.node)}.grad`", step.accumulated
        if done is None or done.added is None:
            return f"`AccumulateGrad` received nothing, so {name} stays as it is."
        if done.before is None:
            return f"`AccumulateGrad` puts {amount(done.added)} into {name}, which was `None`."
        return (
            f"`AccumulateGrad` adds {amount(done.added)} to {name}: "
            f"{amount(done.before)} becomes {amount(done.after)}."
        )

    def working(self, step: Step) -> str:
        node = self.graph.nodes[step.node]
        start = "Backward starts: " if self.step_of[node.id] == 1 else ""
        entered = joined([amount(one) for one in step.entered if one is not None] or ["nothing"])
        if not step.finished:
            return f"{start}`{node.name}` received {entered}."
        sends = [part for edge in self.out[node.id] if (part := self.sending(step, node, edge))]
        what = joined(sends) if sends else "nothing on"
        spelled = any(formula(node.name, edge.slot) for edge in self.out[node.id])
        rule = "" if spelled else f" Its rule: {step.rule}."
        return f"{start}`{node.name}` received {entered} and sends {what}.{rule}{self.reading(step, node)}"

    def sending(self, step: Step, node: Node, edge: Edge) -> str:
        """ "grad·other = `12.0` to `w`"."""
        sent, entered = self.sent(edge), _first(step.entered)
        if sent is None:
            return ""
        words = formula(node.name, edge.slot)
        if entered is not None and sent.norm == entered.norm:
            words = words.removesuffix("·alpha")  # alpha is 1
        to = self.name(edge.target) if self.leaf(edge.target) else short(self.graph.nodes[edge.target].name)
        return f"{flowing(words, sent)} to `{to}`"

    def reading(self, step: Step, node: Node) -> str:
        read = [one for one in node.saved if one.state != "freed"]
        if not read:
            return ""
        nbytes = counted(sum(one.nbytes for one in read), "byte")
        freed = "" if self.record.kept else f" and frees {'it' if len(read) == 1 else 'them'}"
        names = joined([self.kept(node, one) for one in read])
        return f" It reads {names} ({nbytes} saved by the forward){freed}."

    def kept(self, node: Node, saved: Saved) -> str:
        """ "`self` = `2.0`"; without the number where it is not known."""
        value = self.values.saved.get((node.id, saved.name))
        return f"`{saved.name}`" if value is None else f"`{saved.name}` = `{number(value)}`"

    def trouble(self, step: Step) -> str:
        if not step.finished:
            return f" Here backward stops: {self.record.error}"
        if self.bad is not None and self.bad.step == step.index:
            return (
                f" The first NaN or infinity {'arrives' if self.bad.when == 'entered' else 'comes out'} here."
            )
        return ""


def _first(entered: Sequence[Stats | None]) -> Stats | None:
    return next((one for one in entered if one is not None), None)
