"""What a model says of new rows, as columns of a batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from gridmodl.cli.data.newtexts import values_for
from gridmodl.cli.data.sources import Source
from gridmodl.cli.failures import Failure
from gridmodl.cli.summaries import Found, models_of
from gridmodl.frames import Name
from gridmodl.model import Model
from gridmodl.models import Models
from gridmodl.partition import Partition

Answer = tuple[str, pa.Array]  # a column and its name


class Wish(NamedTuple):
    """What is asked of a model."""

    outputs: tuple[str, ...]  # parts, labels, cell, predict, proba, as of `Model.to_sql`
    unknown: str = "default"
    coverage: float = 0.9
    informative: bool = False  # only columns with more than one part


def needed(found: Found, wish: Wish) -> list[str]:
    """The columns that new data must have."""
    models = models_of(found).values()
    names = [name for model in models for output in wish.outputs for name in _needed(model, output, wish.informative)]
    return list(dict.fromkeys(map(str, names)))


def _needed(model: Model, output: str, informative: bool) -> list[Name]:
    if output in ("parts", "labels"):
        return list(model.informative if informative else model.partitions)
    if output == "cell" or model.target is None:
        return list(model.cells.names)
    return list(model.partitions)


def check_wish(found: Found, wish: Wish) -> None:
    """That the model can say what is asked of it."""
    if not needed(found, wish) and set(wish.outputs) <= {"parts", "labels"}:
        raise Failure("no column of the model has more than one part, so that --informative leaves none")
    for model in models_of(found).values():
        if "proba" in wish.outputs and not len(model.classes):
            raise Failure(f"--as proba is for models of classes, and this one has none ({model.problem})")
        if "predict" in wish.outputs and model.problem == "joint":
            raise Failure("--as predict needs a model with a target, and this one was made without")


class Placer:
    """Answers for one batch after the other."""

    def __init__(self, found: Found, wish: Wish, source: Source, nulls: Iterable[str]) -> None:
        self.found, self.wish, self.source, self.nulls = found, wish, source, list(nulls)
        self.n_before = 0  # rows of the batches before

    def columns(self, batch: pa.RecordBatch) -> list[Answer]:
        answers: list[Answer] = []
        for name, model in models_of(self.found).items():
            suffix = f"_{name}" if isinstance(self.found, Models) else ""
            for output in self.wish.outputs:
                answers += self._of_model(model, output, batch, suffix)
        self.n_before += batch.num_rows
        return answers

    def _of_model(self, model: Model, output: str, batch: pa.RecordBatch, suffix: str) -> list[Answer]:
        wish = self.wish
        needed_here = _needed(model, output, wish.informative)
        values = {name: self._values(model.partition(name), batch) for name in needed_here}
        if output in ("parts", "labels"):
            parts = {name: model.partition(name).part_of(column, wish.unknown) for name, column in values.items()}
            if output == "parts":
                return [(f"part_{name}", pa.array(numbers, pa.int64())) for name, numbers in parts.items()]
            return [(f"label_{name}", _labels(model.partition(name), numbers)) for name, numbers in parts.items()]
        data: Any = values or {"": np.zeros(batch.num_rows)}  # no column matters: all rows are alike
        if output == "cell":
            return [(f"cell{suffix}", pa.array(model.cell_of(data, wish.unknown)))]
        if output == "proba":
            shares = model.predict_proba(data, wish.unknown)
            names = model.classes.tolist()
            return [(f"share_{name}{suffix}", pa.array(shares[:, j])) for j, name in enumerate(names)]
        return [(f"{name}{suffix}", column) for name, column in _predicted(model, data, wish)]

    def _values(self, partition: Partition, batch: pa.RecordBatch) -> Any:
        column = batch.column(str(partition.name))
        if not self.source.is_text:
            return column
        return values_for(partition, column, self.nulls, self.source.label, self.n_before)


def _labels(partition: Partition, parts: np.ndarray) -> pa.Array:
    """Parts in words; nothing for a value that is in none."""
    return pa.array(partition.labels, pa.string()).take(pa.array(parts, mask=parts < 0))


def _predicted(model: Model, data: Any, wish: Wish) -> Iterator[Answer]:
    found = model.predict(data, wish.unknown, wish.coverage)
    if isinstance(found, np.ndarray):
        yield "predicted", pa.array(found.tolist(), pa.array(model.classes.tolist()).type)
    else:
        for name, statistic in found._asdict().items():
            yield name, pa.array(statistic)
