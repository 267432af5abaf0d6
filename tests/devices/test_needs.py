"""The two published rules, held to torch's own."""

import re

import pytest
import torch.cuda
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from torchcourse.devices import GPU, Driver
from torchcourse.devices.needs import covered, minimum_driver, new_enough, numbers, runs_on
from torchcourse.devices.visible import visible_gpus


def test_versions_compare_as_numbers():
    assert numbers("580.65.06") == (580, 65, 6)
    assert numbers("95.1") < numbers("580.65.06")
    assert numbers("no digits") == ()


@pytest.mark.parametrize(
    ("cuda", "windows", "least"),
    [
        ("11.8", False, "450.80.02"),
        ("11.8", True, "452.39"),
        ("12.6", False, "525.60.13"),
        ("12.6", True, "528.33"),
        ("13.0", False, "580.65.06"),
        ("13.0", True, "580.88"),
        ("14.0", False, None),
    ],
)
def test_minimum_driver(cuda, windows, least):
    assert minimum_driver(cuda, windows) == least


@pytest.mark.parametrize(
    ("version", "driver_cuda", "build_cuda", "enough"),
    [
        ("525.60.13", "12.0", "12.9", True),  # minor version compatibility
        ("525.60.12", None, "12.0", False),
        ("470.82.01", "11.4", "12.1", False),
        ("580.65.06", "13.0", "12.6", True),  # an older build on a newer driver
        ("535.183.01", "12.2", "13.0", False),
        ("535.183.01", "13.0", "13.0", True),  # cuda-compat
        ("450.51.06", "11.0", "11.8", False),
        ("999.1", None, "13.2", True),
        (None, "13.3", "13.0", True),
        (None, "12.8", "13.0", False),
        (None, None, "13.0", None),
        ("700.1", None, "14.0", None),  # a CUDA that the table does not know yet
        ("700.1", "14.0", "14.1", True),
        ("700.1", "13.9", "14.0", False),
    ],
)
def test_new_enough(version, driver_cuda, build_cuda, enough):
    assert new_enough(Driver("answers", version, driver_cuda), build_cuda) is enough


@pytest.mark.parametrize(
    ("arch", "capability", "runs"),
    [
        ("sm_80", (8, 0), True),
        ("sm_80", (8, 9), True),  # same major version, higher minor
        ("sm_86", (8, 0), False),
        ("sm_80", (9, 0), False),
        ("compute_80", (9, 0), True),  # compiled by the driver
        ("compute_90", (8, 9), False),
        ("sm_90a", (9, 0), True),
        ("sm_100a", (10, 3), False),  # a letter binds to this one GPU
        ("sm_120", (12, 1), True),
        ("sm_80", (8, 7), False),  # Jetson Orin needs its own
        ("sm_87", (8, 7), True),
        ("gfx942", (9, 4), False),
        ("", (1, 0), False),
    ],
)
def test_runs_on(arch, capability, runs):
    assert runs_on(arch, capability) is runs


def test_a_build_covers_what_torch_says_that_it_covers():
    """Newer torches hold a table of which code runs on which GPU; within one major version the rules agree."""
    rule = getattr(torch.cuda, "_code_compatible_with_device", None)
    known = getattr(torch.cuda, "DEVICE_REQUIREMENT", {})
    compared = 0
    for code in known:
        for device in known:
            if rule is not None and code // 10 == device // 10:
                expected = rule(device, code)
                assert runs_on(f"sm_{code}", divmod(device, 10)) is expected, (code, device)
                compared += 1
    assert compared > 20 or rule is None


def test_covered_needs_one_entry():
    assert covered(("sm_75", "sm_90"), (9, 0))
    assert not covered(("sm_75", "sm_90"), (6, 1))
    assert not covered((), (9, 0))


CARDS = tuple(GPU(f"card {i}", uuid=f"GPU-{i}{i}{i}{i}") for i in range(4))
spellings = st.text(alphabet="0123,- +a", max_size=8) | st.lists(st.integers(-1, 5), max_size=4).map(
    lambda numbers: ",".join(map(str, numbers))
)


@settings(deadline=None)
@given(spellings)
def test_the_visible_cards_are_those_that_torch_reads(setting):
    assume(not re.search(r"[-+](\D|$)", setting))  # a sign alone makes torch's reader itself fail
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDA_VISIBLE_DEVICES", setting)
        read = torch.cuda._parse_visible_devices()
    # A number beyond the last card ends the list, as torch.cuda._device_count_nvml has it.
    within = []
    for index in read:
        if index >= len(CARDS):
            break
        within.append(CARDS[index])
    assert visible_gpus(setting, CARDS) == tuple(within)


def test_cards_by_name():
    assert visible_gpus("GPU-22", CARDS) == (CARDS[2],)
    assert visible_gpus("GPU-3333,GPU-0000", CARDS) == (CARDS[3], CARDS[0])
    assert visible_gpus("GPU-9", CARDS) == ()
    assert visible_gpus("MIG-1234", CARDS) == CARDS
    assert visible_gpus(None, CARDS) == CARDS
