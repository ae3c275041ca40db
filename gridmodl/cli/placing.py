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

Columns = dict[str, pa.Array]


class Wish(NamedTuple):
    """What is asked of a model."""

    how: str  # numbers, labels, proba, predict or cell
    unknown: str = "default"
    coverage: float = 0.9
    informative: bool = False  # only columns with more than one part


def needed(found: Found, wish: Wish) -> list[str]:
    """The columns that new data must have."""
    names = [name for model in models_of(found).values() for name in _needed(model, wish)]
    return list(dict.fromkeys(map(str, names)))


def _needed(model: Model, wish: Wish) -> list[Name]:
    if wish.how in ("numbers", "labels"):
        return list(model.informative if wish.informative else model.partitions)
    if wish.how == "cell" or model.target is None:
        return list(model.cells.names)
    return list(model.partitions)


def check_wish(found: Found, wish: Wish) -> None:
    """That the model can say what is asked of it."""
    for model in models_of(found).values():
        if wish.how == "proba" and not len(model.classes):
            raise Failure(f"--as proba is for models of classes, and this one has none ({model.problem})")
        if wish.how == "predict" and model.problem == "joint":
            raise Failure("--as predict needs a model with a target, and this one was made without")


class Placer:
    """Answers for one batch after the other."""

    def __init__(self, found: Found, wish: Wish, source: Source, nulls: Iterable[str]) -> None:
        self.found, self.wish, self.source, self.nulls = found, wish, source, list(nulls)
        self.n_before = 0  # rows of the batches before

    def columns(self, batch: pa.RecordBatch) -> Columns:
        answers: Columns = {}
        for name, model in models_of(self.found).items():
            prefix = f"{name}_" if isinstance(self.found, Models) else ""
            answers |= self._of_model(model, batch, prefix)
        self.n_before += batch.num_rows
        return answers

    def _of_model(self, model: Model, batch: pa.RecordBatch, prefix: str) -> Columns:
        wish = self.wish
        values = {name: self._values(model.partition(name), batch) for name in _needed(model, wish)}
        if wish.how in ("numbers", "labels"):
            return {f"{name}_part": self._parts(model.partition(name), column) for name, column in values.items()}
        data: Any = values or {"": np.zeros(batch.num_rows)}  # no column matters: all rows are alike
        if wish.how == "cell":
            return {f"{prefix}cell": pa.array(model.cell_of(data, wish.unknown))}
        if wish.how == "proba":
            shares = model.predict_proba(data, wish.unknown)
            names = model.classes.tolist()
            return {f"{prefix}proba_{name}": pa.array(shares[:, j]) for j, name in enumerate(names)}
        return {f"{prefix}{name}": column for name, column in _predicted(model, data, wish)}

    def _parts(self, partition: Partition, values: Any) -> pa.Array:
        parts = partition.part_of(values, self.wish.unknown)
        if self.wish.how == "numbers":
            return pa.array(parts, pa.int64())
        return pa.array(partition.labels, pa.string()).take(pa.array(parts, mask=parts < 0))

    def _values(self, partition: Partition, batch: pa.RecordBatch) -> Any:
        column = batch.column(str(partition.name))
        if not self.source.is_text:
            return column
        return values_for(partition, column, self.nulls, self.source.label, self.n_before)


def _predicted(model: Model, data: Any, wish: Wish) -> Iterator[tuple[str, pa.Array]]:
    found = model.predict(data, wish.unknown, wish.coverage)
    if isinstance(found, np.ndarray):
        yield "predicted", pa.array(found.tolist(), pa.array(model.classes.tolist()).type)
    else:
        for name, statistic in found._asdict().items():
            yield f"predicted_{name}", pa.array(statistic)
