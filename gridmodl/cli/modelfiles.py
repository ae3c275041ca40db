"""Model files: read, and shown as JSON for programs, as text for people, as tables on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from gridmodl.averaging.averages import Averages
from gridmodl.averaging.record import Average
from gridmodl.cli.messages import STDIN, Failure, Messages, label_of, visible
from gridmodl.cli.outputs import csv_lines
from gridmodl.data.frames import Name
from gridmodl.model.evidence import total_evidence
from gridmodl.model.file import ModelFileError
from gridmodl.model.file.files import parse_json, text_of
from gridmodl.model.labels import counted
from gridmodl.model.model import Model
from gridmodl.model.models import Models
from gridmodl.model.partition import Partition
from gridmodl.report.hints import hints_of, hints_of_averages, hints_of_models
from gridmodl.scorecard.record import Scorecard

AnyModel = Model | Models
READERS: dict[str, Callable[[str], AnyModel]] = {"gridmodl model": Model.from_json, "gridmodl models": Models.from_json}


AVERAGE_READERS: dict[str, Callable[[str], Averages]] = {
    "gridmodl average": lambda text: _alone(Average.from_json(text)),
    "gridmodl averages": Averages.from_json,
}


SCORECARD = "gridmodl scorecard"


def _alone(average: Average) -> Averages:
    return Averages({average.name: average}, {}, average.frame)


def read_model(path: str, found: AnyModel | Averages | Scorecard | None = None) -> AnyModel:
    """Read a model, or the models of many columns, from a file; ``-`` is standard input.

    `found` is what the file holds, if it was read before.
    """
    found = read_any(path) if found is None else found
    if isinstance(found, Scorecard):
        raise Failure(f"{label_of(path)} holds a scorecard, and this command takes models")
    if isinstance(found, Averages):
        raise Failure(
            f"{label_of(path)} holds averages, which have no parts; gridmodl show prints them, and gridmodl sql writes "
            "them as a query"
        )
    return found


def read_any(path: str) -> AnyModel | Averages | Scorecard:
    """Read a model, the models of many columns, averages or a scorecard from a file; ``-`` is standard input."""
    try:
        text = text_of(sys.stdin.buffer.read() if path == STDIN else Path(path))
        record = parse_json(text)
        kind = record.get("format") if isinstance(record, dict) else None
        if isinstance(kind, str) and kind in AVERAGE_READERS:
            return AVERAGE_READERS[kind](text)
        if kind == SCORECARD:
            return Scorecard.from_json(text)
        if not isinstance(kind, str) or kind not in READERS:
            made = f"its format is {kind!r}" if isinstance(kind, str) else "it has no format"
            raise Failure(f"{label_of(path)} is no model that gridmodl fit has written: {made}")
        return READERS[kind](text)
    except ModelFileError as error:
        raise Failure(f"{label_of(path)} is no model: {error}") from error


MAX_CLASSES, MAX_PARTS = 8, 40  # shown at most on a terminal


def models_of(found: AnyModel) -> Mapping[Name, Model]:
    """All models by column; a single model has the name ''."""
    return found if isinstance(found, Models) else {"": found}


def facts_of(found: AnyModel) -> dict[str, Any]:
    """Facts of a model, or of many, for JSON."""
    if isinstance(found, Models):
        return {
            "models": [_facts(model) for model in found.values()],
            "errors": {str(name): str(error) for name, error in found.errors.items()},
            "notes": hints_of_models(found),
        }
    return _facts(found) | {"notes": hints_of(found)}


def facts_of_averages(found: Averages) -> dict[str, Any]:
    """Facts of averages for JSON."""
    return {
        "averages": [_facts_of_average(average) for average in found.values()],
        "errors": {str(name): str(error) for name, error in found.errors.items()},
        "notes": hints_of_averages(found),
    }


def _facts_of_average(average: Average) -> dict[str, Any]:
    return {
        "column": str(average.name),
        "n_rows": average.n_rows,
        "p_informative": average.p_informative,
        "loo_loss": average.loo_loss,
        "log_evidence": average.log_evidence,
        "p_parts": average.p_parts.tolist(),
        "bounds": average._labels_of(average.bounds),
        "p_bounds": average.p_bounds.tolist(),
        "exact": average.exact,
        "stopped": average.stopped,
    }


def _facts(model: Model) -> dict[str, Any]:
    return {
        "criterion": model.criterion,
        "options": dict(model.options),
        "problem": model.problem,
        "rows": int(model.n_rows),
        "classes": [_plain(name) for name in model.classes.tolist()],
        "event": None if model.event_index is None else _plain(model.event),
        "cost": float(model.cost),
        "null_cost": float(model.null_cost),
        "level": None if model.level is None else float(model.level),
        "search": model.search,
        "proven": bool(model.proven),
        "gap": None if model.gap is None else float(model.gap),
        "stopped": model.stopped,
        "elapsed": float(model.elapsed),
        "informative": [_plain(name) for name in model.informative],
        "columns": [_column(partition) | _evidence(model, partition) for partition in model.partitions.values()],
        "target": None if model.target is None else _column(model.target),
        "cells": len(model.cells.parts),
        "left_out": {str(name): reason for name, reason in model.left_out.items()},
        **_stability(model),
    }


def _stability(model: Model) -> dict[str, Any]:
    """Sentence on what the limit on periods changed; empty without it."""
    if model.stability is None:
        return {}
    breaks = [one._asdict() for one in model.stability.breaks]
    return {"stability": {**model.stability._asdict(), "breaks": breaks}}


def _column(partition: Partition) -> dict[str, Any]:
    widths = {} if partition.widths is None else {"widths": partition.widths.tolist()}
    return {
        "name": _plain(partition.name),
        "kind": partition.kind,
        "parts": partition.labels,
        "rows": partition.rows.tolist(),
        **widths,
    }


def _evidence(model: Model, partition: Partition) -> dict[str, Any]:
    """Totals of a column: iv, Gini and KS; nothing without classes."""
    found = total_evidence(model, partition)
    return {} if found is None else found._asdict()


def _plain(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bool)) else str(value)


def print_summary(found: AnyModel, messages: Messages) -> None:
    """Print tables on a terminal, else plain text."""
    if not sys.stdout.isatty():
        click.echo(visible(found.summary()))
        return
    console = messages.console(sys.stdout)
    if isinstance(found, Models):
        _print_table(console, found.table("arrays"), "" if found.event is None else f"event: {found.event}")
        for name, error in found.errors.items():
            console.print(visible(f"{name}: no model; {error}"), markup=False)
        _print_notes(console, hints_of_models(found))
        return
    head, _, _ = found.summary().partition("\n\n")
    console.print(visible(head), markup=False)
    names = list(found.partitions) if len(found.partitions) == 1 else found.informative
    for name in names if found.target is None else [found.target.name, *names]:
        _print_table(console, found.table(name, "arrays"), f"{name}: {counted(found.partition(name).n_parts, 'part')}")
    if len(found.partitions) > 1:
        _print_table(
            console, found.cell_table("arrays"), f"{counted(len(found.cells.parts), 'cell')} with rows in them"
        )
    for name, reason in list(found.left_out.items())[:MAX_PARTS]:
        console.print(visible(f"{name} is left out: {reason}"), markup=False)
    if len(found.left_out) > MAX_PARTS:
        console.print(f"... and {len(found.left_out) - MAX_PARTS} more columns", markup=False)
    _print_notes(console, hints_of(found))


def _print_notes(console: Any, hints: list[str]) -> None:
    for hint in hints:
        console.print(visible(f"note: {hint}"), markup=False)


def print_columns(columns: Mapping[str, Any], messages: Messages, as_csv: bool, is_safe: bool = False) -> None:
    """Print a table: as CSV if `as_csv`, `is_safe` for spreadsheets, by rich on a terminal, else as aligned text."""
    if as_csv:
        click.echo("".join(csv_lines(columns, is_safe)), nl=False)
    elif sys.stdout.isatty():
        _print_table(messages.console(sys.stdout), columns, "", all_rows=True)
    else:
        click.echo("\n".join(_aligned(columns)))


def _aligned(columns: Mapping[str, Any]) -> list[str]:
    """Lines of plain text: numbers aligned right, all else left."""
    names = list(columns)
    rows = [list(map(visible, names)), *_rows(columns, names)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(names))]
    is_number = [np.asarray(columns[name]).dtype.kind in "iuf" for name in names]
    pads = [str.rjust if number else str.ljust for number in is_number]
    return ["  ".join(pad(text, n) for pad, text, n in zip(pads, row, widths, strict=True)).rstrip() for row in rows]


def _print_table(console: Any, columns: Mapping[str, Any], title: str, all_rows: bool = False) -> None:
    from rich.table import Table
    from rich.text import Text

    shown = [name for name in columns if all_rows or not name.startswith("rows_")]
    shares = [name for name in shown if name.startswith("share_")]
    shown = [name for name in shown if all_rows or name not in shares[MAX_CLASSES:]]
    table = Table(title=Text(visible(title)) if title else None, title_justify="left", header_style="bold cyan")
    for name in shown:
        is_number = np.asarray(columns[name]).dtype.kind in "iuf"
        table.add_column(Text(visible(name)), justify="right" if is_number else "left")
    rows = _rows(columns, shown)
    for row in rows if all_rows else rows[:MAX_PARTS]:
        table.add_row(*map(Text, row))
    console.print(table)
    if len(rows) > MAX_PARTS and not all_rows:
        console.print(f"... and {len(rows) - MAX_PARTS} more", markup=False)


def _rows(columns: Mapping[str, Any], names: Sequence[str]) -> list[list[str]]:
    shown = [[_cell(value, name) for value in np.asarray(columns[name]).tolist()] for name in names]
    return [list(row) for row in zip(*shown, strict=True)]


def _cell(value: Any, name: str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return visible(str(value))
    if value != value:
        return ""
    return f"{value:.1%}" if name.startswith("share") else f"{value:.6g}"
