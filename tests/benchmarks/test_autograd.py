"""Chapter 02 in figures, side by side in one run with the bare operation and with peers that are installed.

Figures are CPU time with children, medians of interleaved rounds. They are printed beside their floors
(`pytest -s`) and never asserted; what is asserted can't depend on the machine.
"""

import gc
import json
import os
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn

from tests.benchmarks import peers
from tests.benchmarks.nets import NETS, Net, basic, chain, resnet
from tests.browser import chromium
from torchcourse.autograd import graph, record_backward, watch
from torchcourse.graphs import fold, svg
from torchcourse.widgets.step_backward import BackwardStepper, step_backward

Ways = dict[str, Callable[[], Any]]


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)


@pytest.fixture(params=NETS)
def net(request: pytest.FixtureRequest) -> Net:
    print(f"\n{request.param}")
    model, x = NETS[request.param]()
    return model, x


def cpu() -> float:
    """Seconds of this process and of its children."""
    return time.process_time() + sum(os.times()[2:4])


def medians(ways: Ways, rounds: int = 7) -> dict[str, float]:
    """CPU milliseconds of each way, the ways interleaved, after one round to warm up."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds + 1):
        for name, way in ways.items():
            start = cpu()
            way()
            times[name].append((cpu() - start) * 1e3)
    return {name: statistics.median(found[1:]) for name, found in times.items()}


def row(figure: str, measured: float, floor: float) -> None:
    """One line of the table: figure, floor, measured."""
    print(
        f"  {figure:62} floor {floor:<6g} measured {measured:<8.3g} {'' if measured <= floor else 'MISSED'}"
    )


def watched(net: Net) -> torch.Tensor:
    model, x = net
    with watch(model):
        return model(x).sum()


def bare_walk(loss: torch.Tensor) -> int:
    """The least that visits each node once."""
    found: list[Any] = [loss.grad_fn]
    seen = set(found)
    for node in found:
        for after, _ in node.next_functions:
            if after is not None and after not in seen:
                seen.add(after)
                found.append(after)
    return len(found)


def test_graph_as_text(net: Net) -> None:
    peers.need("torchviz")
    model, loss = net[0], watched(net)
    ways: Ways = {
        "text": lambda: str(graph(loss, names=model)),
        "walk": lambda: bare_walk(loss),
        "torchviz": lambda: peers.torchviz(loss, model),
    }
    ms = medians(ways, 25)
    row("full graph as text / torchviz's build", ms["text"] / ms["torchviz"], 0.30)
    row("full graph as text / a bare walk over next_functions", ms["text"] / ms["walk"], 12)
    assert len(str(graph(loss, names=model)).splitlines()) == 1 + bare_walk(loss)


def test_pictures(net: Net) -> None:
    peers.need("torchviz")
    model, loss = net[0], watched(net)
    full = graph(loss, names=model)
    ways: Ways = {
        "svg": lambda: svg(graph(loss, names=model)),
        "folded": lambda: svg(fold(graph(loss, names=model))),
        "torchviz": lambda: peers.layout(peers.torchviz(loss, model)),
    }
    ms = medians(ways, 3)
    row("build + layout to SVG / torchviz + dot", ms["svg"] / ms["torchviz"], 0.45)
    row("default (folded) view / torchviz + dot (floor: 12 layers)", ms["folded"] / ms["torchviz"], 0.05)
    row("boxes of the default view", len(fold(full).boxes), 30)
    assert len(full.nodes) == bare_walk(loss) and len(fold(full).boxes) <= 30
    drawn = len(full.nodes) if len(full.nodes) <= 500 else len(fold(full).boxes)
    assert svg(full).count('class="node') == drawn


def test_recording(net: Net) -> None:
    model, x = net
    ways: Ways = {
        "plain": lambda: model(x).sum().backward(),
        "recorded": lambda: record_backward(model(x).sum(), names=model),
    }
    ms = medians(ways)
    floor = 2 if any(isinstance(m, nn.Conv2d) for m in model.modules()) else 5
    row("CPU of forward + recorded backward / plain", ms["recorded"] / ms["plain"], floor)
    loss = model(x).sum()
    assert len(record_backward(loss, names=model).steps) == len(graph(loss, names=model).nodes)


def test_against_torchlens(net: Net) -> None:
    peers.need("torchlens")
    model, x = net

    def ours() -> None:
        with watch(model):
            loss = model(x).sum()
        svg(fold(record_backward(loss, names=model).graph))

    ms = medians({"ours": ours, "torchlens": lambda: peers.torchlens(model, x)}, 3)
    what = "forward, backward, order, norms, layout / torchlens without layout"
    row(what, ms["ours"] / ms["torchlens"], 0.15)
    assert peers.torchlens(model, x) > 0


def test_against_module_viewers(net: Net) -> None:
    """No floor: these draw modules, not the backward graph."""
    peers.need("torchview", "torchvista")
    model, x = net
    ways: Ways = {
        "forward + default view": lambda: svg(fold(graph(watched(net), names=model))),
        "torchview": lambda: peers.torchview(model, x),
        "torchvista": lambda: peers.torchvista(model, x),
    }
    print("  CPU ms:", {name: round(ms, 1) for name, ms in medians(ways, 3).items()})


def peak_of(run: Callable[[], Any]) -> int:
    """The most memory that tensors held during a run, in bytes: the allocator is watched."""
    run()
    gc.collect()
    with torch.profiler.profile(
        profile_memory=True, activities=[torch.profiler.ProfilerActivity.CPU]
    ) as seen:
        run()
    most = now = 0
    for change in _changes(seen):
        now += change
        most = max(most, now)
    return most


def _changes(seen: Any) -> Iterator[int]:
    for event in seen.profiler.kineto_results.events():
        if event.name() == "[memory]":
            yield event.nbytes()


def test_peak_memory_of_recording(net: Net) -> None:
    model, x = net
    model.zero_grad()
    plain = peak_of(lambda: model(x).sum().backward())
    recorded = peak_of(lambda: record_backward(model(x).sum(), names=model))
    row("peak memory of tensors, recorded / plain", recorded / plain, 1.05)


def test_size_of_the_stepper() -> None:
    peers.need("torchvista")
    model, x = resnet(basic, 1, (2, 2, 2, 2))
    page = peers.torchvista(model, x)
    with watch(model):
        loss = model(x).sum()
    shown = step_backward(loss, names=model)
    ours = len(json.dumps(shown.picture)) + len(str(BackwardStepper._esm)) + len(str(BackwardStepper._css))
    print(f"\nResNet-18: {ours:,} bytes of {page:,}")
    row("stepper (state, JS, CSS) / torchvista's page", ours / page, 0.06)


@pytest.mark.parametrize("length", [100, 1_000, 10_000])
def test_growth(length: int) -> None:
    loss = chain(length)
    ways: Ways = {
        "graph as text": lambda: str(graph(loss, names={})),
        "default view": lambda: svg(fold(graph(loss, names={}))),
        "recorded": lambda: record_backward(loss, names={}, retain_graph=True),
    }
    ms = medians(ways, 3)
    tracemalloc.start()
    found = graph(loss, names={})
    grown = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    each = {name: f"{one / length * 1e3:.1f}" for name, one in ms.items()}
    print(f"\nchain of {length:,}: µs an operator {each}; the graph as data {grown:.1f} MB")
    assert len(found.nodes) == length + 2 and len(fold(found).boxes) <= 30


STEPS = """async ([picture, rounds]) => {
  const card = (el) => (window.view.render({ model: { get: () => picture, on() {}, off() {} }, el }), el);
  const [one, other] = [...document.querySelectorAll("body > div")].map(card);
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const placed = () => [one.offsetHeight, getComputedStyle(one.querySelector(".tc-counter")).color];
  const time = async (act) => {
    await frame();
    placed();
    const start = performance.now();
    act();
    placed();
    return performance.now() - start;
  };
  const body = one.querySelector(".tc-body"), graph = other.querySelector(".tc-graph");
  const step = [], anew = [];
  for (let k = 0; k < rounds; k++) {
    step.push(await time(() => body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }))));
    anew.push(await time(() => (graph.innerHTML = picture.svg)));
  }
  return [step, anew, one.querySelector(".tc-counter").textContent];
}"""


def test_one_step_in_the_browser() -> None:
    """Style and layout included, against putting the same SVG in anew."""
    program = chromium.find()
    if program is None:
        pytest.skip(chromium.MISSING)
    model, x = resnet(basic, 1, (2, 2, 2, 2))
    picture = step_backward(model(x).sum(), names=model, at_most=300).picture
    with chromium.running(program) as browser:
        page = browser.new_page()
        page.set_content(
            f"<style>{BackwardStepper._css} body > div {{ width: 780px }}</style><div></div><div></div>"
        )
        page.add_script_tag(content=str(BackwardStepper._esm).replace("export default", "window.view ="))
        step, anew, counter = page.evaluate(STEPS, [picture, 60])
    row(
        f"a step / a new SVG, {len(picture['boxes'])} nodes",
        statistics.median(step) / statistics.median(anew),
        1 / 40,
    )
    assert len(picture["boxes"]) >= 133 and counter == "60 / 133"
