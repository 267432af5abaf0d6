"""How soon the timeline is there, and what a step costs in the browser. Prints figures; asserts what is exact."""

import base64
import json
import pickle
import time

from torchcourse.widgets.timeline import AllocatorTimeline, timeline

from ..allocator.conftest import read, real_folder, real_snapshot
from ..browser.conftest import browser

assert real_folder and browser  # the fixtures

STEPS = """async ([module, picture]) => {
  const { default: view } = await import(module);
  const el = document.body.appendChild(document.createElement("div"));
  const clock = (what) => { const t = performance.now(); what(); return performance.now() - t; };
  const model = { get: () => picture, on() {}, off() {} };
  const found = { "first drawing": [clock(() => view.render({ model, el }))] };
  const [body, bar] = [el.querySelector(".tc-body"), el.querySelector(".tc-player input")];
  const jump = (to) => { bar.value = to; bar.dispatchEvent(new Event("input")); };
  const press = (key) => body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  for (const [name, act] of [
    ["one event on", () => press("ArrowRight")], ["one event back", () => press("ArrowLeft")],
    ["a jump", (k) => jump((k * 7919) % picture.steps)], ["another request", () => press("-")],
  ]) {
    jump(Math.floor(picture.steps / 2));
    found[name] = [];
    for (let k = 0; k < 100; k++) { await frame(); found[name].push(clock(() => act(k))); }
  }
  return found;
}"""


def test_the_largest_real_snapshot(real_folder, browser, tmp_path):
    path = max(real_folder.glob("*.json.gz"), key=lambda path: len(read(path)["trace"]))
    recorded = read(path)
    file = tmp_path / "snapshot.pickle"
    file.write_bytes(pickle.dumps(real_snapshot(recorded), protocol=4))
    began = time.perf_counter()
    shown = timeline(file, device=recorded["device"], request=64 << 20)
    bundle, _ = shown._repr_mimebundle_()
    seconds = time.perf_counter() - began
    sent = json.dumps(shown.picture)
    print(
        f"\n{path.name}: {shown.story.steps:,} events, file to view in {seconds:.2f} s, {len(sent):,} bytes sent"
    )
    module = f"data:text/javascript;base64,{base64.b64encode(AllocatorTimeline._esm.encode()).decode()}"
    page = browser.new_page()
    try:
        found = page.evaluate(STEPS, [module, json.loads(sent)])
    finally:
        page.close()
    for name, times in found.items():
        times.sort()
        print(f"{name}: median {times[len(times) // 2]:.1f} ms, slowest {times[-1]:.1f} ms")
    assert shown.story.steps > 10_000 and len(bundle["image/svg+xml"]) < 200_000
