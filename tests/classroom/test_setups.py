"""The set-ups for two kinds of hub: keys that exist, values that are accepted, figures that were measured.

The chart's own schema is not in this repository. The keys below were copied by hand from its
documentation (chart 4.4); Helm checks the file against the schema itself.
"""

import re

import pytest
import yaml
from jupyterhub.app import JupyterHub
from jupyterhub.spawner import LocalProcessSpawner
from traitlets.config import Config

from classroom.report import GIB, plan
from tests.classroom.test_report import CLASS, MEASURED

VALUES = yaml.safe_load((CLASS / "z2jh" / "values.yaml").read_text(encoding="utf-8"))
# Each key that the file may use, with the type of its value; {} stands for content that is the user's own.
KEYS = {
    "hub": {"config": {}, "concurrentSpawnLimit": int},
    "singleuser": {
        "image": {"name": str, "tag": str, "pullPolicy": str},
        "cpu": {"guarantee": float, "limit": int},
        "memory": {"guarantee": str, "limit": str},
        "startTimeout": int,
        "defaultUrl": str,
        "storage": {"capacity": str},
        "extraEnv": {},
        "lifecycleHooks": {},
        "extraFiles": {},
    },
    "prePuller": {"hook": {"enabled": bool}, "continuous": {"enabled": bool}},
    "scheduling": {
        "userScheduler": {"enabled": bool},
        "podPriority": {"enabled": bool},
        "userPlaceholder": {"enabled": bool, "replicas": int},
        "userPods": {"nodeAffinity": {"matchNodePurpose": str}},
    },
    "cull": {"enabled": bool, "timeout": int, "every": int},
}


def wrong(values, keys, path=""):
    """Every path of `values` that `keys` does not know, or knows with another type."""
    for key, value in values.items():
        here = f"{path}.{key}".lstrip(".")
        if key not in keys:
            yield here
        elif isinstance(keys[key], dict) and keys[key]:
            yield from wrong(value, keys[key], here)
        elif not isinstance(value, keys[key] or dict):
            yield here


def gib(text):
    """ "1.5G" as JupyterHub reads it: G is 2**30 bytes."""
    return LocalProcessSpawner(mem_limit=text).mem_limit / GIB


def test_the_keys_of_the_chart():
    assert list(wrong(VALUES, KEYS)) == []
    assert list(wrong({"cull": {"enabled": "yes", "timout": 3}}, KEYS)) == ["cull.enabled", "cull.timout"]


def test_the_hub_knows_what_its_config_names():
    config = VALUES["hub"]["config"]
    chosen = JupyterHub(config=Config(config)).authenticator_class
    assert chosen.__name__ == "SharedPasswordAuthenticator"
    assert config["Authenticator"]["allow_all"] is chosen(config=Config(config)).allow_all is True


def test_the_cluster_gives_what_was_measured():
    needs, single = plan(MEASURED, 300), VALUES["singleuser"]
    assert gib(single["memory"]["guarantee"]) == needs.per_seat / GIB
    assert gib(single["memory"]["limit"]) >= needs.limit / GIB
    assert single["cpu"]["guarantee"] >= needs.cores / needs.seats
    assert single["extraEnv"]["OMP_NUM_THREADS"] == "1"


def test_the_copy_is_laid_by_a_module_that_exists():
    command = VALUES["singleuser"]["lifecycleHooks"]["postStart"]["exec"]["command"]
    module = re.search(r"python -m (\S+)", command[-1])[1]
    assert __import__(module, fromlist=["main"]).main
    assert command[-1].endswith("|| true")  # a hook that fails would end the learner's server
    assert VALUES["singleuser"]["defaultUrl"] == "/lab/tree/work/index.ipynb"
    assert (CLASS.parent / "notebooks" / "index.ipynb").exists()


@pytest.fixture
def tljh():
    """The snippet, run as JupyterHub runs it."""
    config, file = Config(), CLASS / "tljh" / "torchcourse_class.py"
    exec(compile(file.read_text(encoding="utf-8"), file.name, "exec"), {"get_config": lambda: config})
    return config


def test_every_setting_of_the_snippet_is_one_that_jupyterhub_has(tljh):
    for section, made in (
        ("Spawner", LocalProcessSpawner(config=tljh)),
        ("JupyterHub", JupyterHub(config=tljh)),
    ):
        for name in tljh[section]:
            assert made.trait_metadata(name, "config"), f"{section}.{name}"
    assert set(tljh) == {"Spawner", "JupyterHub"}


def test_the_machine_gives_what_was_measured(tljh):
    made, needs = LocalProcessSpawner(config=tljh), plan(MEASURED, 30)
    assert made.mem_limit >= needs.limit
    assert made.environment["OMP_NUM_THREADS"] == "1"


def test_the_arguments_of_the_servers_are_settings_that_they_have(tljh):
    from jupyter_server.services.kernels.kernelmanager import MappingKernelManager

    asked = [re.fullmatch(r"--MappingKernelManager\.(\w+)=\d+", word)[1] for word in tljh.Spawner.args]
    written = VALUES["singleuser"]["extraFiles"]["jupyter_server_config.json"]["data"]["MappingKernelManager"]
    assert set(asked) == set(written) <= set(MappingKernelManager.class_trait_names(config=True))
