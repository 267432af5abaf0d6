"""Reading nvidia-smi: old and new tables, refusals, nonsense."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchcourse.devices import GPU, Driver
from torchcourse.devices.driver import library_loads, parse_query, parse_smi, read_driver
from torchcourse.devices.facts import DRIVER_STATES
from torchcourse.devices.running import Answer

from .machines import smi_text

GiB = 2**30


@pytest.mark.parametrize(
    ("text", "version", "cuda", "gpus"),
    [
        ("352_k40", "352.99", None, [("Tesla K40m", 11519)]),
        ("384_k80", "384.130", None, [("Tesla K80", 11441)] * 2),
        ("418_gtx", "418.87.00", "10.1", [("GeForce GTX 108...", 11178)]),
        ("517_windows", "517.48", "11.7", [("NVIDIA GeForce ...", 11264)]),
        ("535_rtx4090", "535.183.01", "12.2", [("NVIDIA GeForce RTX 4090", 24564)]),
        ("546_wsl_err", "546.80", None, [("NVIDIA GeForce RTX 3060 ...", 6144)]),
        ("550_container_na", "550.54.15", None, [("NVIDIA L4", 23034)]),
        ("580_h100x8", "580.65.06", "13.0", [("NVIDIA H100 80GB HBM3", 81559)] * 8),
        ("580_mig_two", "580.65.06", "13.0", [("NVIDIA A100-SXM4-80GB", 81920)]),
        ("610_b200", "610.43.02", "13.3", [("NVIDIA B200", 183359)] * 2),
        ("610_windows", "610.47", "13.3", [("NVIDIA GeForce RTX 4070", 12282)]),
        ("540_orin", "540.4.0", "12.6", [("Orin (nvgpu)", None)]),
    ],
)
def test_tables_of_ten_years(text, version, cuda, gpus):
    driver = parse_smi(smi_text(text))
    assert (driver.state, driver.version, driver.cuda) == ("answers", version, cuda)
    assert driver.gpus == tuple(GPU(name, mib and mib * 2**20) for name, mib in gpus)
    assert driver.said == ""


def test_the_lines_of_windows_end_with_two_signs():
    text = smi_text("580_windows")
    assert parse_smi(text.replace("\n", "\r\n")) == parse_smi(text)


def test_an_empty_mig_mode_is_seen():
    assert parse_smi(smi_text("580_mig_none")).mig_empty
    assert not parse_smi(smi_text("580_mig_two")).mig_empty


def test_a_failure_is_quoted_with_its_exit_status():
    driver = parse_smi(smi_text("mismatch"), 18)
    assert driver.state == "mismatch"
    assert driver.said == "Failed to initialize NVML: Driver/library version mismatch (exit status 18)"


def test_what_a_terminal_would_obey_is_not_quoted():
    assert "\x1b" in smi_text("escapes")
    assert parse_smi(smi_text("escapes")).said.isprintable()


def test_a_huge_answer_is_cut():
    driver = parse_smi("Driver Version " * 2_000_000)
    assert driver.state == "unreadable"
    assert len(driver.said) < 200


@settings(deadline=None)
@given(st.text() | st.text(alphabet="|+-= \nDriverVersionCUDA:.0123456789MiB/"), st.integers(-9, 255))
def test_any_text_is_taken(text, status):
    driver = parse_smi(text, status)
    assert driver.state in DRIVER_STATES
    assert "\n" not in driver.said
    parse_query(text)


def test_the_query_knows_whole_names_and_capabilities():
    line = "NVIDIA GeForce RTX 4070 Laptop GPU, 8188, 8.9, GPU-12ab"
    assert parse_query(line) == (GPU("NVIDIA GeForce RTX 4070 Laptop GPU", 8188 * 2**20, (8, 9), "GPU-12ab"),)
    assert parse_query("Orin (nvgpu), [N/A], 8.7, GPU-1") == (GPU("Orin (nvgpu)", None, (8, 7), "GPU-1"),)
    assert parse_query("a comma, and, another, one") == ()


def test_an_old_driver_refuses_the_query_and_the_table_does():
    def run(command, seconds):
        text = 'Field "compute_cap" is not a valid field to query.'
        return Answer(0, smi_text("384_k80")) if len(command) == 1 else Answer(2, text)

    assert [gpu.name for gpu in read_driver(run).gpus] == ["Tesla K80", "Tesla K80"]


def test_a_driver_that_fails_is_not_asked_twice():
    asked = []

    def run(command, seconds):
        asked.append(command)
        return Answer(9, smi_text("not_loaded"))

    assert read_driver(run).state == "not loaded"
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (FileNotFoundError(), "absent"),
        (PermissionError(), "refused"),
        (TimeoutError("nvidia-smi gave no answer in 30 s"), "silent"),
        (OSError(8, "Exec format error"), "unreadable"),
    ],
)
def test_a_program_that_can_not_run(error, state):
    def run(command, seconds):
        raise error

    assert read_driver(run, library=True).state == state
    assert read_driver(run, library=True).library is True


def test_a_second_question_without_an_answer_is_a_silent_driver():
    def run(command, seconds):
        if len(command) > 1:
            raise TimeoutError("nvidia-smi gave no answer in 30 s")
        return Answer(0, smi_text("535_rtx4090"))

    assert read_driver(run) == Driver("silent", said="nvidia-smi gave no answer in 30 s")


def test_the_library_is_looked_for_without_raising():
    assert library_loads() in (True, False)
