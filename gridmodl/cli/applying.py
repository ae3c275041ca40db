"""Run ``gridmodl apply``: read, score and write rows batch by batch, in bounded memory; and ``gridmodl sample``."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import click
import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from gridmodl.cli.messages import Failure, Messages
from gridmodl.cli.modelfiles import AnyModel, models_of, read_any, read_model
from gridmodl.cli.outputs import STDOUT, csv_header, csv_text, written_file
from gridmodl.cli.reading.sources import (
    FORMATS,
    PACKED_SUFFIXES,
    Source,
    check_present,
    data_file,
    open_source,
    suffix_format,
)
from gridmodl.cli.reading.texts import NULLS, values_for
from gridmodl.cli.scorecard.running import checked_outputs, scored
from gridmodl.cli.use import ApplySettings
from gridmodl.data.frames import ARRAYS, Name
from gridmodl.model.densities.grid import GridDensity, density_of
from gridmodl.model.densities.histogram import histogram_of, own_unit
from gridmodl.model.evidence import encoded_events
from gridmodl.model.model import Model
from gridmodl.model.models import Models
from gridmodl.model.names import output_labels
from gridmodl.model.partition import Partition
from gridmodl.model.policy import BY_PARTITION, Policy
from gridmodl.scorecard.record import Scorecard
from gridmodl.terms import PROBLEMS


class Applied(NamedTuple):
    """Number of rows written, and their mean log-density."""

    n_rows: int
    score: float | None  # mean of the logarithms of densities, if they were asked for and a row has one


def run_apply(settings: ApplySettings, messages: Messages) -> Applied:
    """Write the answers for each row."""
    found = read_any(settings.model)
    if isinstance(found, Scorecard):
        return Applied(_run_scorecard(found, settings, messages), None)
    found = read_model(settings.model, found)
    request = OutputRequest(
        settings.outputs or ("parts",),
        Policy(settings.unknown, settings.missing),
        settings.coverage,
        settings.informative,
        settings.smoothing,
    )
    check_request(found, request)
    output = _checked_output(settings.output, settings.to, settings.safe_csv)
    source, wanted = open_source(data_file(settings), once=True), needed(found, request)
    check_present(source, wanted, "which the model needs")
    scorer = RowScorer(found, request, source, settings.nulls or NULLS)
    n_rows = _write_all(source, wanted, scorer, output, settings, messages)
    score = scorer.sum_of_logs / scorer.n_logs if scorer.n_logs else None
    if score is not None:
        messages.say(f"mean log_density {score:.6g} of {scorer.n_logs:,} rows{_of_unit(found)}")
    return Applied(n_rows, score)


def _of_unit(found: Model | Models) -> str:
    """The unit of densities of a column of dates or durations, for the end of a sentence; "" for all others."""
    if not isinstance(found, Model) or not PROBLEMS[found.problem].has_widths:
        return ""
    domain = histogram_of(found).domain
    return f", of the density{unit.per}" if domain and (unit := own_unit(domain.type)).name else ""


def _checked_output(path: str, chosen: str | None, is_safe: bool) -> OutputFile:
    """The file to write, with what --safe-csv asks for."""
    output = output_file(path, chosen)._replace(is_safe=is_safe)
    if is_safe and output.format not in ("csv", "tsv"):
        raise click.UsageError(f"--safe-csv is for CSV and TSV, and the output is {output.format}")
    return output


def run_sample(path: str, n_rows: int, seed: int, output: str, is_safe: bool, messages: Messages) -> None:
    """Write rows drawn at random from a model."""
    file = _checked_output(output, None, is_safe)
    found = read_model(path)
    if isinstance(found, Models):
        raise Failure(f"{path} holds {len(found)} models of one column each; a joint grid has rows to draw")
    drawn = replace(found, frame=ARRAYS).sample(n_rows, seed)
    columns = drawn if isinstance(drawn, dict) else {next(iter(found.partitions)): drawn}
    rows = pa.RecordBatch.from_arrays([_as_arrow(column) for column in columns.values()], list(map(str, columns)))
    with sink_to(file, rows.schema) as sink:
        sink.write(rows)
    if output != STDOUT:
        messages.say(f"written: {output}, {n_rows:,} rows")


def _as_arrow(column: np.ndarray) -> pa.Array:
    """Values drawn or imputed, as Arrow has them; NaN is a missing number."""
    return pa.array(column.tolist() if column.dtype == object else column, from_pandas=True)


def _run_scorecard(card: Scorecard, settings: ApplySettings, messages: Messages) -> int:
    """Write the scores of each row; return the number of rows."""
    if settings.smoothing:
        raise click.UsageError("--smoothing is for models, and this file holds a scorecard")
    outputs = checked_outputs(settings.outputs)
    policy = Policy(settings.unknown or card.policy.unknown, settings.missing or card.policy.missing)
    output = _checked_output(settings.output, settings.to, settings.safe_csv)
    source, wanted = open_source(data_file(settings), once=True), list(map(str, card.models))
    check_present(source, wanted, "which the scorecard needs")
    scorer = CardScorer(replace(card, policy=policy), outputs, source, settings.nulls or NULLS)
    return _write_all(source, wanted, scorer, output, settings, messages)


def _write_all(
    source: Source, wanted: list[str], scorer: AnyScorer, output: OutputFile, settings: ApplySettings,
    messages: Messages,
) -> int:  # fmt: skip
    """Write the answers of all rows and return their number; without rows, only names of columns are written.

    `wanted` are the columns that the scorer needs.
    """
    kept = source.names if settings.keep else list(settings.keep_column)
    check_present(source, kept, "which --keep-column names")
    read = [name for name in source.names if name in {*wanted, *kept}] or source.names[:1]
    batches = source.batches(read)
    first = _answers(next(batches, source.empty(read)), kept, scorer)
    n_rows = first.num_rows
    with sink_to(output, first.schema) as sink:
        sink.write(first)
        for batch in batches:
            sink.write(_answers(batch, kept, scorer).cast(first.schema))
            n_rows += batch.num_rows
    if output.path != STDOUT:
        messages.say(f"written: {output.path}, {n_rows:,} rows")
    return n_rows


def _answers(batch: pa.RecordBatch, kept: list[str], scorer: AnyScorer) -> pa.RecordBatch:
    """Put the answers of the model after the columns in `kept`."""
    columns = {name: _decoded(batch.column(name)) for name in kept}
    for name, column in scorer.columns(batch):
        while name in columns:
            name += "'"
        columns[name] = column
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def _decoded(column: pa.Array) -> pa.Array:
    """Replace dictionary codes by their values: an Arrow file cannot change its dictionary between batches."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


Answer = tuple[str, pa.Array]  # a column and its name


OF_PARTS = ("parts", "labels", "woe")  # outputs of each column


class OutputRequest(NamedTuple):
    """Outputs to compute for each row, and their settings."""

    outputs: tuple[str, ...]  # parts, labels, woe, cell, predict, proba, log_density, as in `Model.to_sql`; imputed
    policy: Policy = BY_PARTITION
    coverage: float = 0.9
    informative: bool = False  # only columns with more than one part
    smoothing: bool = False  # of the shares of classes


def needed(found: AnyModel, request: OutputRequest) -> list[str]:
    """List the columns that new data must have."""
    models = models_of(found).values()
    names = [
        name for model in models for output in request.outputs for name in _needed(model, output, request.informative)
    ]
    return list(dict.fromkeys(map(str, names)))


def _needed(model: Model, output: str, informative: bool) -> list[Name]:
    if output in OF_PARTS:
        return list(model.informative if informative else model.partitions)
    if output == "imputed":
        return list(model.partitions)
    if output == "log_density":
        target = [] if model.target is None else [model.target.name]
        return [*(model.partitions if model.target is None else model.informative), *target]
    if output == "cell" or model.target is None:
        return list(model.cells.names)
    return list(model.partitions if PROBLEMS[model.problem].has_one_input else model.informative)


def check_request(found: AnyModel, request: OutputRequest) -> None:
    """Raise a Failure if the model cannot give the outputs in `request`."""
    of_cards = [output for output in request.outputs if output in ("score", "points")]
    if of_cards:
        what = f"{len(found)} models of one column each" if isinstance(found, Models) else "a model"
        raise Failure(f"--as {of_cards[0]} is for files of gridmodl scorecard, and this one holds {what}")
    if not needed(found, request) and set(request.outputs) <= set(OF_PARTS):
        raise Failure("no column of the model has more than one part, so --informative leaves none")
    for model in models_of(found).values():
        for output in ("woe", "proba"):
            if output in request.outputs and not len(model.classes):
                raise Failure(f"--as {output} is for models of classes, and this one has none ({model.problem})")
        if {"log_density", "imputed"} & set(request.outputs):
            density = density_of(model)  # or an error that says what to use
            if "imputed" in request.outputs and not isinstance(density, GridDensity):
                raise Failure(f"--as imputed is for joint grids, and this model is no such ({model.problem})")
        if "predict" in request.outputs and not PROBLEMS[model.problem].has_target:
            raise Failure("--as predict needs a model with a target, and this model has none")


class RowScorer:
    """Score rows by a model, batch after batch."""

    def __init__(self, found: AnyModel, request: OutputRequest, source: Source, nulls: Iterable[str]) -> None:
        self.found, self.request, self.source, self.nulls = found, request, source, list(nulls)
        self.n_before = 0  # rows of the batches before
        self.sum_of_logs, self.n_logs = 0.0, 0  # of the densities of rows that have one

    def columns(self, batch: pa.RecordBatch) -> list[Answer]:
        answers: list[Answer] = []
        for name, model in models_of(self.found).items():
            suffix = f"_{name}" if isinstance(self.found, Models) else ""
            for output in self.request.outputs:
                answers += self._of_model(model, output, batch, suffix)
        self.n_before += batch.num_rows
        return answers

    def _of_model(self, model: Model, output: str, batch: pa.RecordBatch, suffix: str) -> list[Answer]:
        request = self.request
        needed_here = _needed(model, output, request.informative)
        values = {name: self._values(model.partition(name), batch) for name in needed_here}
        if output in OF_PARTS:
            parts = {name: model.partition(name).part_of(column, *request.policy) for name, column in values.items()}
            if output == "parts":
                return [(f"part_{name}", pa.array(numbers, pa.int64())) for name, numbers in parts.items()]
            if output == "woe":
                return [column for name, numbers in parts.items() for column in _woe(model, name, numbers)]
            return [(f"label_{name}", _labels(model.partition(name), numbers)) for name, numbers in parts.items()]
        data: Any = values or {"": np.zeros(batch.num_rows)}  # no column matters: all rows lie in one cell
        if output == "imputed":
            return [(f"imputed_{name}", _as_arrow(model.impute(name, data))) for name in values]
        if output == "log_density":
            logs = model.log_density(data)
            self.n_logs += int(np.count_nonzero(~np.isnan(logs)))
            self.sum_of_logs += float(np.nansum(logs))
            return [(f"log_density{suffix}", pa.array(logs, from_pandas=True))]
        if output == "cell":
            return [(f"cell{suffix}", pa.array(model.cell_of(data, *request.policy)))]
        if output == "proba":
            shares = model.predict_proba(data, *request.policy, request.smoothing)
            names = model.classes.tolist()
            return [(f"share_{name}{suffix}", pa.array(shares[:, j])) for j, name in enumerate(names)]
        return [(f"{name}{suffix}", column) for name, column in _predicted(model, data, request)]

    def _values(self, partition: Partition, batch: pa.RecordBatch) -> Any:
        column = batch.column(str(partition.name))
        if not self.source.is_text:
            return column
        return values_for(partition, column, self.nulls, self.source.label, self.n_before)


class CardScorer:
    """Score rows by a scorecard, batch after batch."""

    def __init__(self, card: Scorecard, outputs: tuple[str, ...], source: Source, nulls: Iterable[str]) -> None:
        self.card, self.outputs, self.source, self.nulls = card, outputs, source, list(nulls)
        self.n_before = 0  # rows of the batches before

    def columns(self, batch: pa.RecordBatch) -> list[Answer]:
        values: dict[Any, Any] = {}
        for name in self.card.models:
            column = batch.column(str(name))
            if self.source.is_text:
                partition = self.card.partition(name)
                column = values_for(partition, column, self.nulls, self.source.label, self.n_before)
            values[name] = column
        self.n_before += batch.num_rows
        data = values or {"": np.zeros(batch.num_rows)}  # no column is in use
        return [answer for output in self.outputs for answer in scored(self.card, output, data)]


AnyScorer = RowScorer | CardScorer


def _labels(partition: Partition, parts: np.ndarray) -> pa.Array:
    """Labels of the parts, or names that the user gave; null for a value that lies in no part."""
    return pa.array(output_labels(partition), pa.string()).take(pa.array(parts, mask=parts < 0))


def _woe(model: Model, name: Name, parts: np.ndarray) -> Iterator[Answer]:
    """Weights of evidence of the parts for the event, or for each class; 0 for a value that lies in no part."""
    partition = model.partition(name)
    for one in encoded_events(model, partition):
        suffix = f"_{one.name}" if not model.has_one_event else ""
        yield f"woe_{name}{suffix}", pa.array(np.append(one.woe, 0.0)[parts])


def _predicted(model: Model, data: Any, request: OutputRequest) -> Iterator[Answer]:
    found = model.predict(data, *request.policy, request.coverage)
    if isinstance(found, np.ndarray):
        yield "predicted", pa.array(found.tolist(), pa.array(model.classes.tolist()).type)
    else:
        for name, statistic in found._asdict().items():
            yield name, pa.array(statistic)


class OutputFile(NamedTuple):
    """File that rows are written to, and its format."""

    path: str
    format: str
    codec: str | None
    is_stream: bool  # Arrow for a pipe, without the index at the end of an Arrow file
    is_safe: bool = False  # no cell of text is a formula of a spreadsheet


def output_file(path: str, chosen: str | None) -> OutputFile:
    """The output file in the format `chosen` by the user, else the one its name tells; CSV on standard output."""
    if path == STDOUT:
        return OutputFile(path, chosen or "csv", None, True)
    suffix = path.lower().rsplit(".", 1)[-1]
    codec = PACKED_SUFFIXES.get(f".{suffix}")
    found = chosen or suffix_format(path)
    if found is None:
        raise click.UsageError(f"--output {path}: its name does not say how; add --to, one of {', '.join(FORMATS)}")
    return OutputFile(path, found, codec, suffix == "arrows")


class Sink(Protocol):
    """Writer of batches of rows."""

    def write(self, batch: pa.RecordBatch) -> None: ...

    def close(self) -> None: ...


class CsvSink:
    """Write batches as lines of CSV or TSV."""

    def __init__(self, stream: Any, schema: pa.Schema, delimiter: str, is_safe: bool) -> None:
        self._stream, self._delimiter, self._is_safe = stream, delimiter, is_safe
        stream.write(csv_header(schema.names, delimiter, is_safe).encode())

    def write(self, batch: pa.RecordBatch) -> None:
        if batch.num_rows:
            self._stream.write(csv_text(batch, self._delimiter, self._is_safe))

    def close(self) -> None:
        return None


class TypedSink:
    """Write batches as Parquet or Arrow."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch)

    def close(self) -> None:
        self._writer.close()


@contextlib.contextmanager
def sink_to(output: OutputFile, schema: pa.Schema) -> Iterator[Sink]:
    """Open a sink; its file appears, whole, when the block ends without an error."""
    with contextlib.ExitStack() as stack:
        if output.path == STDOUT:
            stream: Any = sys.stdout.buffer
            stack.callback(stream.flush)
        else:
            stream = stack.enter_context(open(stack.enter_context(written_file(output.path)), "wb"))
        if output.codec is not None:
            stream = stack.enter_context(pa.CompressedOutputStream(pa.PythonFile(stream, mode="w"), output.codec))
        sink = _sink(stream, output, schema)
        yield sink
        sink.close()


def _sink(stream: Any, output: OutputFile, schema: pa.Schema) -> Sink:
    if output.format == "parquet":
        return TypedSink(pyarrow.parquet.ParquetWriter(stream, schema))
    if output.format == "arrow":
        if output.is_stream:
            return TypedSink(pyarrow.ipc.new_stream(stream, schema))
        return TypedSink(pyarrow.ipc.new_file(stream, schema))
    return CsvSink(stream, schema, "\t" if output.format == "tsv" else ",", output.is_safe)
