"""Places in a graph: an order in which every edge leads forward, and levels."""

from collections import deque

from torchcourse.autograd import Graph


def order(graph: Graph) -> list[int]:
    """Each node's place in a topological order from the outputs, breadth first among equals."""
    waiting, after = [0] * len(graph.nodes), _targets(graph)
    for edge in graph.edges:
        waiting[edge.target] += 1
    ready = deque(i for i, n in enumerate(waiting) if not n)
    place, count = [0] * len(graph.nodes), 0
    while ready:
        i = ready.popleft()
        place[i] = count
        count += 1
        for j in after[i]:
            waiting[j] -= 1
            if not waiting[j]:
                ready.append(j)
    return place


def _targets(graph: Graph) -> list[list[int]]:
    after: list[list[int]] = [[] for _ in graph.nodes]
    for edge in graph.edges:
        after[edge.source].append(edge.target)
    return after


def levels(count: int, edges: list[tuple[int, int]]) -> list[int]:
    """Each node's longest way from a start, over edges (source, target); cycles are cut at their end."""
    after: list[list[int]] = [[] for _ in range(count)]
    waiting, level = [0] * count, [0] * count
    for a, b in edges:
        after[a].append(b)
        waiting[b] += 1
    todo = [i for i in range(count) if not waiting[i]]
    for i in todo:  # the list grows while it is read
        for j in after[i]:
            level[j] = max(level[j], level[i] + 1)
            waiting[j] -= 1
            if not waiting[j]:
                todo.append(j)
    return level
