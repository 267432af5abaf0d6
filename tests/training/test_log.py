"""The log: rows on the disk at once, one sentence for what can't be written."""

import csv
import json
import os

import pytest
import torch

from torchcourse.training import Log


def rows(path):
    return list(csv.DictReader(path.open(encoding="utf-8")))


def test_rows_and_settings(tmp_path):
    with Log(tmp_path / "run.csv", bar=False, config={"lr": 0.1, "seed": 3}) as log:
        log.row(epoch=0, loss=torch.tensor(0.5, requires_grad=True))
        assert rows(log.path) == [{"epoch": "0", "loss": "0.5"}]  # on the disk before the block ends
        log.row(loss=0.25, epoch=1)
    assert [row["loss"] for row in rows(log.path)] == ["0.5", "0.25"]
    settings = json.loads(log.config_path.read_text(encoding="utf-8"))
    assert settings["lr"] == 0.1 and settings["torch"] == torch.__version__ and "python" in settings


def test_rows_survive_an_error_in_the_loop(tmp_path):
    with pytest.raises(ZeroDivisionError), Log(tmp_path / "run.csv", bar=False) as log:
        log.row(epoch=0)
        1 / 0
    assert len(rows(tmp_path / "run.csv")) == 1


def test_the_bar_shows_the_newest_values(tmp_path, capsys):
    with Log(tmp_path / "run.csv", total=2) as log:
        log.row(epoch=0, loss=0.123456789)
        log.row(epoch=1, loss=0.5)
    told = capsys.readouterr()
    assert "2/2" in told.err and "loss=0.5" in told.err and not told.out


def test_bad_rows(tmp_path):
    with Log(tmp_path / "run.csv", bar=False) as log:
        log.row(epoch=0)
        with pytest.raises(ValueError, match=r"has the columns \['epoch'\]; the row has \['loss'\]"):
            log.row(loss=1)
        with pytest.raises(ValueError, match=r"one number; epoch has shape \(3,\)"):
            log.row(epoch=torch.ones(3))
    with pytest.raises(ValueError, match="inside its `with` block"):
        log.row(epoch=1)
    assert len(rows(log.path)) == 1


def test_an_existing_file_is_kept(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match=r"exists\. Take another name"), Log(path, bar=False):
        pass
    assert path.read_text(encoding="utf-8") == "mine"
    with Log(path, bar=False, overwrite=True) as log:
        log.row(epoch=0)
    assert rows(path) == [{"epoch": "0"}]


def test_a_path_that_can_not_be_written(tmp_path):
    with pytest.raises(ValueError, match="can't be written: No such file"), Log(tmp_path / "no" / "run.csv"):
        pass


def test_a_config_that_is_no_json_leaves_no_file(tmp_path):
    with (
        pytest.raises(ValueError, match="what JSON can hold"),
        Log(tmp_path / "run.csv", config={"f": print}),
    ):
        pass
    assert os.listdir(tmp_path) == []
