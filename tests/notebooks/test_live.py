"""Re-run, state and budget: a good notebook is green, each fault turns its lane red."""

import pytest

from . import live
from .examples import code, good, result, store, store_cells


def run(tmp_path, *cells, **options) -> live.Live:
    return live.run(store_cells(tmp_path, *cells), **options)


def test_a_good_notebook_is_green(tmp_path):
    told = live.run(store(tmp_path, good()))
    assert not told.rerun and not told.state and not told.budget
    assert (told.cells, told.runs) == (3, 3 + 6 + 2 * 3)
    assert told.peak > 10**7 and told.seconds > 0 and told.mark() == ""


def test_the_orders_are_the_same_each_time():
    orders = live.orders(6)
    assert orders == live.orders(6)
    assert orders["backwards, each twice"][:4] == [5, 5, 4, 4]
    assert len({tuple(order) for order in orders.values()}) == 3
    assert all(set(order) == set(range(6)) for order in orders.values())


def test_a_name_reused(tmp_path):
    told = run(tmp_path, code("x = 1"), code("x"), code("x = 'another thing'"))
    assert any("cell 3 (`x`), backwards, each twice" in said for said in told.rerun)
    assert not told.state


def test_a_cell_that_only_works_once(tmp_path):
    told = run(tmp_path, code("numbers = [1, 2]"), code("del numbers"))
    assert any("each twice: raises NameError" in said for said in told.rerun)


def test_a_picture_that_goes_away(tmp_path):
    image = "from IPython.display import Image, display\n"
    shows = image + "if not globals().get('again'):\n    display(Image(data=b'\\x89PNG'))"
    told = run(tmp_path, code(shows), code("again = True"))
    assert any("outputs" in said for said in told.rerun)


def test_an_exempt_cell_is_run_and_not_compared(tmp_path):
    told = run(
        tmp_path, code("# not compared: a clock\nimport time\ntime.time()", tags=("rerun-ignore-output",))
    )
    assert not told.rerun and told.runs == 5


def test_a_cell_that_raises(tmp_path):
    told = run(tmp_path, code("1 / 0"), again=False)
    assert told.rerun == ["cell 2 (`1 / 0`), first pass: raises ZeroDivisionError: division by zero"]


def test_an_announced_error_is_fine(tmp_path):
    assert not run(tmp_path, code("1 / 0", tags=("raises-exception",))).rerun


def test_a_leaked_grad_mode(tmp_path):
    told = run(
        tmp_path, code("import torch\n\ntorch.set_grad_enabled(False);"), code("1", result("1")), again=False
    )
    assert len(told.state) == 1 and "grad mode went from True to False" in told.state[0]


LEAKS = [
    ("torch.set_default_dtype(torch.float64)", "default dtype went from torch.float32 to torch.float64"),
    ("torch.set_default_device('meta')", "default device went from cpu to meta"),
    ("torch.use_deterministic_algorithms(True)", "deterministic algorithms"),
    ("torch.set_num_threads(torch.get_num_threads() + 1)", "threads"),
    ("torch.set_float32_matmul_precision('high')", "matmul precision"),
    ("torch.autograd.set_detect_anomaly(True)", "anomaly mode"),
    ("torch.autograd.graph.saved_tensors_hooks(id, id).__enter__()", "saved-tensor hooks"),
    ("kept = torch.inference_mode(); kept.__enter__()", "inference mode"),
    ("torch.overrides.TorchFunctionMode().__enter__()", "function modes"),
    ("torch.autocast('cpu').__enter__()", "autocast"),
    ("torch.set_printoptions(precision=2)", "print options"),
    ("torch.nn.modules.module.register_module_forward_hook(print)", "module hooks"),
]


@pytest.mark.parametrize(("leak", "words"), LEAKS)
def test_leaks_of_torch(leaking, leak, words):
    assert any(words in said for said in leaking[leak]), leaking[leak]


@pytest.fixture(scope="module")
def leaking(tmp_path_factory):
    """One kernel for all of torch's leaks, one cell for each: leak -> what was said about its cell."""
    cells = [code("import torch")] + [code(leak + ";") for leak, _ in LEAKS]
    told = live.run(store_cells(tmp_path_factory.mktemp("leaks"), *cells), again=False)
    assert not told.rerun
    return {leak: [said for said in told.state if leak[:50] in said] for leak, _ in LEAKS}


def test_other_leaks(tmp_path):
    told = run(
        tmp_path,
        code("import warnings\n\nwarnings.simplefilter('ignore')"),
        code("import matplotlib.pyplot as plt\n\nplt.rcParams['lines.linewidth'] = 3"),
        code("import numpy as np\n\nnp.set_printoptions(precision=2)"),
        code("import os\n\nos.chdir('..')"),
        again=False,
    )
    wanted = ["warnings.filters", "lines.linewidth", "numpy: print options", "working directory"]
    assert [any(word in said for said in told.state) for word in wanted] == [True] * 4
    assert len(told.state) == 4


def test_imports_may_add_filters_and_context_managers_are_fine(tmp_path):
    told = run(
        tmp_path,
        code("import torch, matplotlib.pyplot, numpy.testing"),
        code("with torch.no_grad(), torch.autocast('cpu'):\n    torch.manual_seed(0)"),
        code("import warnings\n\nwith warnings.catch_warnings():\n    warnings.simplefilter('ignore')"),
    )
    assert not told.state and not told.rerun


def test_the_network_is_out_of_reach(tmp_path):
    fetch = "import urllib.request\n\ntry:\n    urllib.request.urlopen('http://192.0.2.1/')\nexcept OSError:\n    pass"
    named = "import socket\n\ntry:\n    socket.getaddrinfo('example.org', 80)\nexcept OSError:\n    pass"
    told = run(tmp_path, code(fetch), code(named), again=False)
    assert ["network for 192.0.2.1" in told.state[0], "network for example.org" in told.state[1]] == [
        True,
        True,
    ]


def test_loopback_is_fine(tmp_path):
    talk = (
        "import socket\n\nwith socket.create_server(('127.0.0.1', 0)) as server:\n"
        "    socket.create_connection(server.getsockname()).close()"
    )
    assert not run(tmp_path, code(talk), again=False).state


def test_too_much_memory(tmp_path):
    told = run(tmp_path, code("block = b'1' * (1200 * 2**20)\ndel block"), again=False)
    assert len(told.budget) == 1 and "1.2" in told.budget[0] and "GiB" in told.budget[0]
    assert told.mark() == "too large for Binder"


def test_much_memory_is_marked(tmp_path):
    told = run(tmp_path, code("block = b'1' * (600 * 2**20)\ndel block"), again=False)
    assert not told.budget and told.mark() == "over 500 MB"


def test_a_dying_kernel(tmp_path):
    told = run(tmp_path, code("import os\n\nos._exit(1)"))
    assert all("ended the kernel" in lane[0] for lane in (told.rerun, told.state, told.budget))


def test_a_hanging_cell(tmp_path):
    told = run(tmp_path, code("while True:\n    pass"), timeout=2)
    assert "ran longer than 2 s" in told.rerun[0]


def test_a_kernel_that_is_not_there(tmp_path):
    assert "is not installed" in run(tmp_path, code("1"), kernel="no-such-kernel").rerun[0]


def test_no_notebook(tmp_path):
    path = tmp_path / "broken.ipynb"
    path.write_text("{", encoding="utf-8")
    assert "not valid JSON" in live.run(path).rerun[0]
