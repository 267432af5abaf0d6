"""The doctor's judgement on recorded machines, and on any machine at all."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchcourse.devices import GPU, KINDS, Build, Driver, Machine, diagnose
from torchcourse.devices.diagnosis import Diagnosis
from torchcourse.devices.facts import DRIVER_STATES

from .machines import CASES, FOLDER, machine


def one_sentence(text: str) -> bool:
    """Ends with a full stop and has none before (versions, web addresses and quotations aside)."""
    return text.endswith(".") and not re.search(r"[.!?]\s+[A-Z]", unquoted(text))


def unquoted(text: str) -> str:
    return re.sub(r"“.*?”", "", text)


def sound(found: Diagnosis) -> None:
    assert found.kind in KINDS
    assert one_sentence(found.sentence), found.sentence
    assert one_sentence(found.advice), found.advice
    assert not found.mend.endswith(".")
    assert bool(found.mend) is not found.works
    assert "\n" not in found.advice
    assert not re.search(r"[{}]|None", unquoted(found.advice))  # a template that was not filled in
    # The path ends at the first no; without one the GPU works.
    assert [step.passed for step in found.path[:-1]] == [True] * (len(found.path) - 1)
    assert found.path[-1].passed is found.works
    assert str(found).endswith(found.advice)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_recorded_machine(case):
    facts = machine(case)
    found = diagnose(facts)
    assert found.kind == case["kind"], found
    sound(found)
    for word in case.get("words", ()):
        assert word in found.advice
    for word in case.get("lacks", ()):
        assert word not in found.advice
    assert facts.driver.version == case.get("driver", facts.driver.version)
    assert facts.driver.cuda == case.get("cuda", facts.driver.cuda)
    assert len(facts.driver.gpus) == case.get("gpus", len(facts.driver.gpus))


def test_many_pairs_are_recorded_and_every_text_is_used():
    assert len(CASES) >= 60
    used = {case["smi"] for case in CASES if "smi" in case}
    assert used == {path.stem for path in FOLDER.glob("*.txt")}


def test_every_kind_is_met_by_a_recorded_machine():
    met = {case["kind"] for case in CASES}
    assert set(KINDS) - met == {"gpu-fault", "forked"}, "kinds that only torch's own words bring up"


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("CUDA error: uncorrectable ECC error encountered", "gpu-fault"),
        ("Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing", "forked"),
        ("Found no NVIDIA driver on your system.", "no-driver"),
        ("CUDA error: no CUDA-capable device is detected", "no-devices"),
        ("an error that nobody knows", "unknown"),
    ],
)
def test_torchs_own_words_decide_where_the_facts_look_right(words, kind):
    driver = Driver("answers", "580.65.06", "13.0", (GPU("NVIDIA L4", 2**34, (8, 9)),), library=True)
    build = Build("2.13.0+cu130", "13.0", arch_list=("sm_89",), said=words)
    found = diagnose(Machine(build, driver))
    assert found.kind == kind
    assert words.rstrip(".") in found.sentence
    sound(found)


def test_the_path_asks_in_the_order_of_is_available():
    case = next(case for case in CASES if case["kind"] == "unknown")
    asked = [step.question for step in diagnose(machine(case)).path]
    assert asked == [
        "Does torch import?",
        "Was this torch built for a GPU?",
        "Is there an NVIDIA driver?",
        "Does the driver's library load?",
        "Is the driver new enough for the build?",
        "Is a GPU there and visible?",
        "Does the build hold code for this GPU?",
        "Does a small tensor compute there?",
    ]


def test_a_tensor_that_computed_outweighs_every_other_sign():
    build = Build("2.13.0+cu130", "13.0", available=True, computes=True)
    for state in DRIVER_STATES:
        assert diagnose(Machine(build, Driver(state, "1.0"), visible="")).works


texts = st.text(max_size=12) | st.sampled_from(["13.0", "12.6", "580.65.06", "535.1", "", "0", "sm_90"])
maybe = st.none() | texts
gpus = st.lists(
    st.builds(
        GPU,
        texts,
        st.none() | st.integers(0, 2**40),
        st.none() | st.tuples(st.integers(0, 20), st.integers(0, 9)),
    ),
    max_size=3,
).map(tuple)
builds = st.builds(
    Build,
    version=maybe,
    cuda=maybe,
    hip=maybe,
    arch_list=st.lists(texts, max_size=3).map(tuple),
    available=st.booleans(),
    gpus=gpus,
    computes=st.none() | st.booleans(),
    said=texts,
    error=texts,
)
drivers = st.builds(
    Driver,
    state=st.sampled_from(DRIVER_STATES),
    version=maybe,
    cuda=maybe,
    gpus=gpus,
    library=st.none() | st.booleans(),
    mig_empty=st.booleans(),
)
machines = st.builds(
    Machine,
    build=builds,
    driver=drivers,
    system=st.sampled_from(["Linux 6.8", "Windows 11", "macOS 15"]),
    wsl=st.booleans(),
    container=st.booleans(),
    visible=maybe,
    wanted=st.sampled_from([None, "cpu", "cuda"]),
)


@settings(deadline=None)
@given(machines)
def test_any_machine_gets_an_answer(facts):
    found = diagnose(facts)
    assert found.kind in KINDS
    assert found.path[-1].passed is found.works
    assert found.works or found.mend


def test_a_state_that_is_none_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match=r"Driver.state is 'sleepy'; expected one of answers, absent"):
        Driver("sleepy")
