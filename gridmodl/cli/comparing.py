"""Compare the rows of a file with those that a model was made from: the body of ``gridmodl compare``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from gridmodl.cli.messages import Failure, Messages
from gridmodl.cli.modelfiles import models_of, read_any, read_model
from gridmodl.cli.reading.sources import Source, check_present, data_file, open_source
from gridmodl.cli.reading.texts import FAMILIES, NULLS, typed_values, values_for, with_nulls
from gridmodl.cli.use import CompareSettings
from gridmodl.model.models import Models
from gridmodl.model.partition import Partition
from gridmodl.monitoring.counting import classes_of
from gridmodl.monitoring.record import Comparison
from gridmodl.scorecard.record import Scorecard


def run_compare(settings: CompareSettings, messages: Messages) -> Comparison:
    """Read the columns that a comparison needs, and compare them with the model."""
    found = read_any(settings.model)
    found = found.models if isinstance(found, Scorecard) else read_model(settings.model, found)
    if isinstance(found, Models) and len(found) > 1:  # periods are not compared, as in Models.compare
        found = found.select(columns=[name for name in found if str(name) != settings.by])
    models = list(models_of(found).values())
    partitions = {str(name): one for model in models for name, one in model.partitions.items()}
    source = open_source(data_file(settings), once=True)
    needed_here = {str(name) for model in models for name in (model.informative or model.partitions)}
    all_needed = [name for name in partitions if isinstance(found, Models) or name in needed_here]
    check_present(source, all_needed, "which the model needs")
    options = {"--target": settings.target, "--by": settings.by, "--weights": settings.weights}
    named = {option: name for option, name in options.items() if name is not None}
    for option, name in named.items():
        check_present(source, [name], f"which {option} names")
    read = [name for name in source.names if name in {*partitions, *named.values()}]
    rows = pa.Table.from_batches(list(_noted(source, read, messages)) or [source.empty(read)])
    if rows.num_rows == 0:
        raise Failure(f"{source.label} has no rows to compare")
    nulls = settings.nulls or NULLS
    data = {one.name: _typed(one, rows.column(name), source, nulls) for name, one in partitions.items() if name in read}
    target = None
    if settings.target is not None:
        classes = classes_of(models[0]).partition
        if classes is None:
            raise Failure("--target names the classes of the new rows, and the model was made without a target")
        target = _typed(classes, rows.column(settings.target), source, nulls)
    by, weights = (None if name is None else _untyped(rows.column(name), source, nulls) for name in
                   (settings.by, settings.weights))  # fmt: skip
    return found.compare(
        data, target, by, weights=weights, threshold=settings.threshold, loss=settings.loss, alpha=settings.alpha,
        refit=settings.refit,
    )  # fmt: skip


def _noted(source: Source, read: list[str], messages: Messages) -> Iterator[pa.RecordBatch]:
    """Batches of a source, with a bar of the rows so far."""
    n_rows = 0
    with messages.reading(source.label, source.n_rows) as note:
        for batch in source.batches(read):
            n_rows += batch.num_rows
            note(n_rows)
            yield batch


def _typed(partition: Partition, column: pa.ChunkedArray, source: Source, nulls: Iterable[str]) -> Any:
    """A column in the type that it had in training."""
    whole = column.combine_chunks()
    return values_for(partition, whole, nulls, source.label, 0) if source.is_text else whole


def _untyped(column: pa.ChunkedArray, source: Source, nulls: Iterable[str]) -> Any:
    """A column that the model does not know, in the narrowest type that fits."""
    whole = column.combine_chunks()
    if not source.is_text:
        return whole
    text = with_nulls(whole, nulls)
    fit = typed_values(text, FAMILIES, nulls)
    return text if fit is None else fit.values
