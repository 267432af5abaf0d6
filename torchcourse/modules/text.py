"""The text twins: a tree as an indented table, findings as a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .data import Held, Missed, Node, Tree

MOST_LINES = 200


def count(n: int, word: str) -> str:
    """'1 module', '2 modules'."""
    return f"{n:,} {word}{'' if n == 1 else 's'}"


def heading(tree: Tree) -> str:
    """'Net: 5 modules, 8 parameters, 3 buffers, 1,234 bytes'."""
    firsts = [held for held in tree.tensors if held.tied is None]
    parameters = sum(held.kind == "parameter" for held in firsts)
    return (
        f"{tree.nodes[0].kind}: {count(sum(node.again is None for node in tree.nodes), 'module')}, "
        f"{count(parameters, 'parameter')}, {count(len(firsts) - parameters, 'buffer')}, "
        f"{count(tree.nbytes, 'byte')}"
    )


def tree(tree: Tree) -> str:
    lines = [
        line for node in tree.nodes for line in (_node(node), *(_held(node, one) for one in node.tensors))
    ]
    more = [f"… {len(lines) - MOST_LINES:,} more lines"] if len(lines) > MOST_LINES else []
    return "\n".join([heading(tree), *lines[:MOST_LINES], *more])


def _node(node: Node) -> str:
    name = f"{node.name}: {node.kind}" if node.name else node.kind
    return "  " * node.depth + " · ".join([name, *facts(node)])


def facts(node: Node) -> list[str]:
    """What a module's row says besides its name."""
    if node.cycle:
        return [f"contains itself: it is {node.again or 'the model'} again"]
    if node.again is not None:
        return [f"the same module as {node.again or 'the model'}"]
    mode = {True: "train", False: "eval", None: "no mode"}[node.training]
    hooks = [f"{count(n, f'{kind} hook')}" for kind, n in node.hooks]
    computed = [f"{', '.join(node.parametrized)} computed by a parametrization"] if node.parametrized else []
    return [f"{node.total_bytes:,} bytes", mode, *hooks, *computed]


def _held(node: Node, held: Held) -> str:
    return "  " * (node.depth + 1) + f"{held.name}: {', '.join(words(held))}"


def words(held: Held) -> list[str]:
    """'parameter', '[2, 3] float32', 'cpu', … of one entry."""
    if held.empty:
        return [held.kind, "None"]
    shape = "no shape before the first forward" if held.shape is None else str(list(held.shape))
    extra = {
        "requires no grad": held.kind == "parameter" and not held.requires_grad,
        "not in state_dict()": not held.persistent,
        f"the same tensor as {held.tied}": held.tied is not None,
        f"another tensor on the memory of {held.shares}": held.shares is not None,
        count(held.hooks, "hook"): held.hooks > 0,
    }
    return [
        held.kind,
        f"{shape} {held.dtype}",
        held.device,
        *(word for word, holds in extra.items() if holds),
    ]


def missed(missed: Missed) -> str:
    if not missed.findings:
        return "Nothing missed."
    return "\n".join([f"{count(len(missed.findings), 'finding')}:", *(f"- {one}" for one in missed.findings)])
