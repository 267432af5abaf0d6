"""The issue forms and the workflows, held to GitHub's rules as far as that goes without GitHub."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

# GitHub's syntax for issue forms: element -> (attributes it must have, others it may have).
ELEMENTS = {
    "markdown": ({"value"}, set()),
    "input": ({"label"}, {"description", "placeholder", "value"}),
    "textarea": ({"label"}, {"description", "placeholder", "value", "render"}),
    "dropdown": ({"label", "options"}, {"description", "multiple", "default"}),
    "checkboxes": ({"label", "options"}, {"description"}),
}
FORM_KEYS = {"name", "description", "title", "labels", "body", "assignees", "projects", "type"}
JOB_KEYS = {
    *("name", "permissions", "needs", "if", "runs-on", "environment", "concurrency", "outputs", "env"),
    *("defaults", "steps", "timeout-minutes", "strategy", "continue-on-error", "container", "services"),
}
STEP_KEYS = {
    "name",
    "id",
    "if",
    "uses",
    "run",
    "with",
    "env",
    "shell",
    "working-directory",
    "timeout-minutes",
}


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def form_faults(form):
    """What GitHub would refuse."""
    yield from (f"unknown key {key}" for key in form.keys() - FORM_KEYS)
    yield from (f"no {key}" for key in ("name", "description", "body") if not form.get(key))
    elements = form.get("body", [])
    ids = [element["id"] for element in elements if "id" in element]
    labels = [element["attributes"]["label"] for element in elements if "label" in element["attributes"]]
    for values, what in ((ids, "ids"), (labels, "labels")):
        if len(values) != len(set(values)):
            yield f"{what} are not unique: {values}"
    if all(element["type"] == "markdown" for element in elements):
        yield "the body asks nothing"
    for element in elements:
        yield from element_faults(element)


def element_faults(element):
    kind, attributes = element["type"], element.get("attributes", {})
    if kind not in ELEMENTS:
        yield f"unknown type {kind}"
        return
    needed, allowed = ELEMENTS[kind]
    yield from (f"{kind} has no {name}" for name in needed - attributes.keys())
    yield from (f"{kind} has {name}" for name in attributes.keys() - needed - allowed)
    yield from (f"{kind} has {name}" for name in element.keys() - {"type", "id", "attributes", "validations"})
    if kind != "markdown" and not re.fullmatch(r"[A-Za-z0-9_-]+", element.get("id", "")):
        yield f"{kind} has no id of letters, digits, - and _"
    if element.get("validations", {"required": True}).keys() != {"required"}:
        yield f"{kind} validates something else than required"
    if kind == "dropdown" and (len(set(attributes["options"])) < len(attributes["options"])):
        yield "a dropdown's options are not unique"
    if kind == "checkboxes" and any("label" not in option for option in attributes["options"]):
        yield "a checkbox has no label"


def lanes():
    script = (ROOT / "run.py").read_text(encoding="utf-8")
    return set(re.findall(r'^    "([a-z-]+)":', script.partition("COMMANDS = {")[2], re.M))


@pytest.mark.parametrize(
    "path", [path for path in FORMS if path.stem != "config"], ids=lambda path: path.stem
)
def test_a_form_is_one_that_github_takes(path):
    assert list(form_faults(read(path))) == []


def test_a_bad_form_is_told():
    element = {"type": "input", "id": "a b", "attributes": {"render": "text"}}
    form = {"name": "x", "description": "y", "body": [element, {"type": "slider"}], "about": "z"}
    form["body"][1]["attributes"] = {}
    told = " ".join(form_faults(form))
    for words in ("unknown key about", "no label", "has render", "no id", "unknown type slider"):
        assert words in told


def test_the_forms_ask_what_is_needed():
    asked = {path.stem: {element.get("id") for element in read(path).get("body", [])} for path in FORMS}
    assert {"notebook", "cell", "expected", "came", "doctor"} <= asked["output-differs"]
    assert {"notebook", "sentence", "truth", "program", "version"} <= asked["sentence-wrong"]
    assert read(FORMS[0]).keys() == {"blank_issues_enabled", "contact_links"}
    assert all(link.keys() == {"name", "url", "about"} for link in read(FORMS[0])["contact_links"])


def test_there_are_three_workflows():
    assert [path.stem for path in WORKFLOWS] == ["site", "test", "weekly"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
class TestWorkflow:
    def test_it_starts_and_may_little(self, path):
        workflow = read(path)
        assert workflow[True], "`on` is YAML's word for true, and PyYAML reads it so"
        assert workflow["permissions"] == {"contents": "read"} and workflow["concurrency"]["group"]
        granted = {key for job in workflow["jobs"].values() for key in job.get("permissions", {})}
        assert granted == {"site": {"pages", "id-token"}, "weekly": {"issues"}, "test": set()}[path.stem]

    def test_each_job_ends_and_each_step_is_one(self, path):
        jobs = read(path)["jobs"]
        for job in jobs.values():
            assert job.keys() <= JOB_KEYS and 1 <= job["timeout-minutes"] <= 180 and job["runs-on"]
            assert {job["needs"]} <= jobs.keys() if "needs" in job else True
            for step in job["steps"]:
                assert step.keys() <= STEP_KEYS and ("uses" in step) != ("run" in step)

    def test_actions_are_githubs_own_and_of_one_major_version(self, path):
        steps = [step for job in read(path)["jobs"].values() for step in job["steps"]]
        for step in steps:
            assert re.fullmatch(r"actions/[a-z-]+@v\d+", step.get("uses", "actions/none@v1"))
            if step.get("uses", "").startswith("actions/checkout"):
                assert step["with"] == {"persist-credentials": False}

    def test_it_runs_lanes_that_exist_and_hides_no_failure(self, path):
        text = path.read_text(encoding="utf-8")
        called = set(re.findall(r"run\.py ([a-z][a-z-]*)", text))
        called |= {"test"} if "bash .ci/run" in text else set()
        expected = {"site": {"site"}, "test": {"test"}, "weekly": {"versions"}}[path.stem]
        assert called == expected <= lanes()
        assert "|| true" not in text and "continue-on-error" not in text

    def test_nothing_that_a_stranger_wrote_reaches_a_shell(self, path):
        """An expression inside `run` is put into the script before it runs; only our own words may be."""
        steps = [step for job in read(path)["jobs"].values() for step in job["steps"]]
        used = [
            name for step in steps for name in re.findall(r"\$\{\{\s*([^}]+?)\s*\}\}", step.get("run", ""))
        ]
        assert all(name.startswith("matrix.") for name in used)
        assert "pull_request_target" not in path.read_text(encoding="utf-8")
