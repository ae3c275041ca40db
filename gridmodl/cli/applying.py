"""What ``gridmodl apply`` does: batch by batch, so that memory never fills."""

from __future__ import annotations

import pyarrow as pa

from gridmodl.cli.apply import Asked
from gridmodl.cli.console import Talk
from gridmodl.cli.data.sources import Given, Source, check_present, open_source
from gridmodl.cli.data.texts import NULLS
from gridmodl.cli.data.writing import Target, sink_to, target_of
from gridmodl.cli.modelfiles import read_found
from gridmodl.cli.outputs import STDOUT
from gridmodl.cli.placing import Placer, Wish, check_wish, needed


def apply_to_rows(asked: Asked, talk: Talk) -> int:
    """Write the answer for each row, and say how many there were."""
    found = read_found(asked.model)
    wish = Wish(asked.outputs, asked.unknown, asked.coverage, asked.informative)
    check_wish(found, wish)
    target = target_of(asked.output, asked.to)
    given = Given(asked.data, asked.format, asked.delimiter, asked.encoding, not asked.no_header)
    source = open_source(given, once=True)
    wanted, kept = needed(found, wish), source.names if asked.keep else list(asked.keep_column)
    check_present(source, wanted, "which the model needs")
    check_present(source, kept, "which --keep-column names")
    read = [name for name in source.names if name in {*wanted, *kept}] or source.names[:1]
    placer = Placer(found, wish, source, asked.nulls or NULLS)
    n_rows = _written(source, read, kept, placer, target)
    if target.path != STDOUT:
        talk.say(f"written: {target.path}, {n_rows:,} rows")
    return n_rows


def _written(source: Source, read: list[str], kept: list[str], placer: Placer, target: Target) -> int:
    """The rows that were written; where there are none, at least the names of the columns are."""
    batches = source.batches(read)
    first = _answers(next(batches, source.empty(read)), kept, placer)
    n_rows = first.num_rows
    with sink_to(target, first.schema) as sink:
        sink.write(first)
        for batch in batches:
            sink.write(_answers(batch, kept, placer).cast(first.schema))
            n_rows += batch.num_rows
    return n_rows


def _answers(batch: pa.RecordBatch, kept: list[str], placer: Placer) -> pa.RecordBatch:
    """The columns that are kept, and after them what the model says."""
    columns = {name: _decoded(batch.column(name)) for name in kept}
    for name, column in placer.columns(batch):
        while name in columns:
            name += "'"
        columns[name] = column
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def _decoded(column: pa.Array) -> pa.Array:
    """Without a dictionary, which an Arrow file could not change from batch to batch."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
