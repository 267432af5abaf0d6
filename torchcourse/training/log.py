"""A run's log: a CSV file that other programs read, and a bar on the console."""

import csv
import json
import platform
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

import torch
from torch import Tensor


class Log:
    """One CSV row per call of `row`, on the disk at once, so that a crash loses none.

    `with Log("run.csv", total=epochs, config={"lr": 0.1}) as log: … log.row(epoch=0, lr=0.1, loss=0.5)`
    The first row decides the columns. Tensors with one element are written as numbers. config: settings, written
    beside the file as JSON, with the versions of torch and Python. bar: show tqdm's bar with the newest values,
    on stderr; total: how many rows will come. An existing file is not overwritten, unless overwrite=True.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        total: int | None = None,
        config: Mapping[str, Any] | None = None,
        bar: bool = True,
        overwrite: bool = False,
    ) -> None:
        self.path = Path(path)
        self._total, self._config, self._bar, self._overwrite = total, config, bar, overwrite
        self._file: TextIO | None = None
        self._writer: csv.DictWriter[str] | None = None
        self._progress: Any = None

    @property
    def config_path(self) -> Path:
        return self.path.with_suffix(".json")

    def __enter__(self) -> Self:
        settings = _as_json(
            self._config
        )  # before the file is made: what can't be written leaves no half a log
        try:
            self._file = self.path.open("w" if self._overwrite else "x", newline="", encoding="utf-8")
        except FileExistsError:
            raise ValueError(f"{self.path} exists. Take another name, or overwrite=True.") from None
        except OSError as error:
            raise ValueError(f"{self.path} can't be written: {error.strerror or error}.") from None
        if settings is not None:
            self.config_path.write_text(settings, encoding="utf-8")
        if self._bar:
            from tqdm import tqdm

            self._progress = tqdm(total=self._total)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.close()
        if self._file is not None:
            self._file.close()

    def row(self, **values: Any) -> None:
        """Write one row. Raises ValueError where its columns are not those of the first row."""
        if self._file is None or self._file.closed:
            raise ValueError("The log is open inside its `with` block only.")
        numbers = {name: _number(name, value) for name, value in values.items()}
        if self._writer is None:
            self._writer = csv.DictWriter(self._file, list(numbers), lineterminator="\n")
            self._writer.writeheader()
        columns = list(self._writer.fieldnames)
        if set(columns) != set(numbers):
            raise ValueError(f"This log has the columns {columns}; the row has {list(numbers)}.")
        self._writer.writerow(numbers)
        self._file.flush()
        if self._progress is not None:
            self._progress.set_postfix({k: _brief(v) for k, v in numbers.items()}, refresh=False)
            self._progress.update()


def _number(name: str, value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    if value.numel() != 1:
        raise ValueError(f"A log's cell holds one number; {name} has shape {tuple(value.shape)}.")
    return value.item()


def _brief(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _as_json(config: Mapping[str, Any] | None) -> str | None:
    if config is None:
        return None
    versions = {"torch": torch.__version__, "python": platform.python_version()}
    try:
        return json.dumps({**versions, **config}, indent=1) + "\n"
    except (TypeError, ValueError) as error:
        raise ValueError(f"config must hold what JSON can hold (numbers, texts, lists): {error}.") from None
