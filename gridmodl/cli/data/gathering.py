"""Columns of a source in memory, as the library takes them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from gridmodl.cli.data.sampling import sampled
from gridmodl.cli.data.sources import Source
from gridmodl.cli.data.texts import NULLS, TextColumn, TypedColumn


class Reading(NamedTuple):
    """How columns are read."""

    nulls: Iterable[str] = NULLS
    as_text: Collection[str] = ()  # columns of a text file whose values are names, whatever they look like
    n_rows: int | None = None  # of a sample
    seed: int | None = 0
    tell: Callable[[int], Any] = lambda n_rows: None  # is told how many rows were read


def gathered(source: Source, names: Sequence[str], reading: Reading) -> dict[str, pa.ChunkedArray]:
    """These columns, in this order; what was taken for numbers and is not, is read again as text."""
    columns = _read(source, names, reading)
    spoilt = [name for name in names if columns[name].is_spoilt]
    if spoilt:
        columns |= _read(source, spoilt, reading._replace(as_text=spoilt))
    return {name: columns[name].finished() for name in names}


def _read(source: Source, names: Sequence[str], reading: Reading) -> dict[str, Any]:
    columns: dict[str, Any]
    if source.is_text:
        columns = {name: TextColumn(reading.nulls, name in reading.as_text) for name in names}
    else:
        columns = {field.name: TypedColumn(field.type) for field in source.empty(names).schema}
    n_rows = 0
    for batch in sampled(source.batches(names), reading.n_rows, reading.seed):
        for name in names:
            columns[name].add(batch.column(name))
        n_rows += batch.num_rows
        reading.tell(n_rows)
    return columns
