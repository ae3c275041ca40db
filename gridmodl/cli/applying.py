"""What ``gridmodl apply`` does: read, score and write rows batch by batch, in bounded memory."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import click
import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from gridmodl.cli.columns import NULLS, values_for
from gridmodl.cli.csvfiles import csv_header, csv_text
from gridmodl.cli.messages import Failure, Talk
from gridmodl.cli.modelfiles import Found, models_of, read_found
from gridmodl.cli.outputs import STDOUT, replaced
from gridmodl.cli.sources import Given, Source, check_present, open_source
from gridmodl.cli.streams import FORMATS, PACKED_SUFFIXES, suffix_format
from gridmodl.cli.use import Asked
from gridmodl.frames import Name
from gridmodl.model import Model
from gridmodl.models import Models
from gridmodl.partition import Partition


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


class Target(NamedTuple):
    """Where rows go, and how they are written there."""

    path: str
    format: str
    codec: str | None
    is_stream: bool  # of Arrow: for a pipe, without the index that a file has at its end


def target_of(path: str, given: str | None) -> Target:
    """As the user says, or the name of the file; CSV on standard output."""
    if path == STDOUT:
        return Target(path, given or "csv", None, True)
    suffix = path.lower().rsplit(".", 1)[-1]
    codec = PACKED_SUFFIXES.get(f".{suffix}")
    found = given or suffix_format(path)
    if found is None:
        raise click.UsageError(f"--output {path}: its name does not say how; add --to, one of {', '.join(FORMATS)}")
    return Target(path, found, codec, suffix == "arrows")


class Sink(Protocol):
    """What takes batches of rows, one after the other."""

    def write(self, batch: pa.RecordBatch) -> None: ...

    def close(self) -> None: ...


class CsvSink:
    """Lines of text."""

    def __init__(self, stream: Any, schema: pa.Schema, delimiter: str) -> None:
        self._stream, self._delimiter = stream, delimiter
        stream.write(csv_header(schema.names, delimiter).encode())

    def write(self, batch: pa.RecordBatch) -> None:
        if batch.num_rows:
            self._stream.write(csv_text(batch, self._delimiter))

    def close(self) -> None:
        return None


class TypedSink:
    """Parquet and Arrow."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch)

    def close(self) -> None:
        self._writer.close()


@contextlib.contextmanager
def sink_to(target: Target, schema: pa.Schema) -> Iterator[Sink]:
    """A sink whose file is there, whole, when the block ends well."""
    with contextlib.ExitStack() as stack:
        if target.path == STDOUT:
            stream: Any = sys.stdout.buffer
            stack.callback(stream.flush)
        else:
            stream = stack.enter_context(open(stack.enter_context(replaced(target.path)), "wb"))
        if target.codec is not None:
            stream = stack.enter_context(pa.CompressedOutputStream(pa.PythonFile(stream, mode="w"), target.codec))
        sink = _sink(stream, target, schema)
        yield sink
        sink.close()


def _sink(stream: Any, target: Target, schema: pa.Schema) -> Sink:
    if target.format == "parquet":
        return TypedSink(pyarrow.parquet.ParquetWriter(stream, schema))
    if target.format == "arrow":
        if target.is_stream:
            return TypedSink(pyarrow.ipc.new_stream(stream, schema))
        return TypedSink(pyarrow.ipc.new_file(stream, schema))
    return CsvSink(stream, schema, "\t" if target.format == "tsv" else ",")
