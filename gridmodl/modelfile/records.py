"""A model as the fields of a JSON object: what is written, and a reader for each version that was ever written."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gridmodl import __version__
from gridmodl.model import Model
from gridmodl.modelfile.arrays import read_array, write_array
from gridmodl.modelfile.certificates import certificate_record, read_certificate
from gridmodl.modelfile.fields import MAX_INTEGER, read_bool, read_fields, read_integer, read_list, read_object
from gridmodl.modelfile.grids import (
    cells_record,
    left_out_record,
    partition_records,
    read_cells,
    read_left_out,
    read_partitions,
)
from gridmodl.modelfile.partitions import read_integers
from gridmodl.modelfile.targets import read_spread, read_target, spread_record, target_record
from gridmodl.modelfile.text import ModelFileError, shown, wrong
from gridmodl.modelfile.values import read_float, read_text, read_value, write_value

FORMAT = "gridmodl model"
VERSION = 4  # raise it with any change of the fields, and keep the reader of each version below it

FIELDS_1 = (
    "format", "version", "gridmodl", "criterion", "options", "problem", "n_rows", "cost", "null_cost", "delta",
    "search", "proven", "stopped", "elapsed", "frame", "classes", "partitions",
)  # fmt: skip
FIELDS_2 = (*FIELDS_1, "cells", "left_out", "optima")
FIELDS_3 = (*FIELDS_2, "target", "class_rows", "spread")
FIELDS = (*FIELDS_3, "certificate")
OPTIMUM_2 = ("cost", "partitions", "cells")
OPTIMUM = (*OPTIMUM_2, "target", "spread")


def model_record(model: Model) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "gridmodl": __version__,
        "criterion": write_value(model.criterion, "criterion"),
        "options": {name: write_value(value, f"options.{name}") for name, value in model.options.items()},
        "problem": model.problem,
        "n_rows": operator.index(model.n_rows),
        "cost": float(model.cost),
        "null_cost": float(model.null_cost),
        "delta": None if model.delta is None else float(model.delta),
        "search": write_value(model.search, "search"),
        "proven": bool(model.proven),
        "stopped": write_value(model.stopped, "stopped"),
        "elapsed": float(model.elapsed),
        "frame": model.frame,
        "classes": write_array(model.classes, "classes"),
        "partitions": partition_records(model.partitions, "partitions"),
        "cells": cells_record(model._cells, "cells"),
        "left_out": left_out_record(model.left_out),
        "optima": [_optimum_record(optimum, f"optima[{i}]") for i, optimum in enumerate(model.optima)],
        "target": target_record(model.target, "target"),
        "class_rows": None if model._class_rows is None else model._class_rows.tolist(),
        "spread": spread_record(model._spread),
        "certificate": certificate_record(model.certificate),
    }


def _optimum_record(optimum: Model, place: str) -> dict[str, Any]:
    """What an optimum has of its own; all else is that of the model which keeps it."""
    return {
        "cost": float(optimum.cost),
        "partitions": partition_records(optimum.partitions, f"{place}.partitions"),
        "cells": cells_record(optimum.cells, f"{place}.cells"),
        "target": target_record(optimum.target, f"{place}.target"),
        "spread": spread_record(optimum._spread),
    }


def read_record(record: Any) -> Model:
    """The model of these fields, each of the right type; that they fit one another is for `check_model` to say."""
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise ModelFileError(f"the text is no gridmodl model: its 'format' is not {FORMAT!r}")
    version = record.get("version")
    if type(version) is not int or version not in READERS:
        known = ", ".join(map(str, READERS))
        newer = "; a newer gridmodl is needed" if type(version) is int and version > VERSION else ""
        raise wrong("version", f"is {shown(version)}; this gridmodl, {__version__}, reads version {known}{newer}")
    return READERS[version](record)


def _read_version_1(record: dict[str, Any]) -> Model:
    """Models of one variable."""
    return _read_facts(read_fields(record, "", FIELDS_1), 1)


def _read_version_2(record: dict[str, Any]) -> Model:
    """Models of several, with classes."""
    return _read_grid(read_fields(record, "", FIELDS_2), 2)


def _read_version_3(record: dict[str, Any]) -> Model:
    """Models with a target that is partitioned too, or with none."""
    return _read_grid(read_fields(record, "", FIELDS_3), 3)


def _read_version_4(record: dict[str, Any]) -> Model:
    model = _read_grid(read_fields(record, "", FIELDS), 4)
    return replace(model, certificate=read_certificate(record["certificate"], "certificate"))


def _read_grid(record: dict[str, Any], version: int) -> Model:
    model = _read_facts(record, version)
    model = replace(
        model,
        left_out=read_left_out(record["left_out"]),
        _cells=read_cells(record["cells"], "cells", model.n_rows),
        **_read_target(record, "", model.n_rows, version),
    )
    if version > 2:
        model = replace(model, _class_rows=read_integers(record["class_rows"], "class_rows", model.n_rows))
    optima = [_read_optimum(given, i, model, version) for i, given in enumerate(read_list(record["optima"], "optima"))]
    return replace(model, optima=tuple(optima))


def _read_target(record: dict[str, Any], place: str, n_rows: int, version: int) -> dict[str, Any]:
    if version <= 2:
        return {}
    return {
        "target": read_target(record["target"], f"{place}target", n_rows, version),
        "_spread": read_spread(record["spread"], f"{place}spread"),
    }


def _read_optimum(given: Any, i: int, model: Model, version: int) -> Model:
    place = f"optima[{i}]"
    record = read_fields(given, place, OPTIMUM if version > 2 else OPTIMUM_2)
    return replace(
        model,
        cost=read_float(record["cost"], f"{place}.cost"),
        partitions=read_partitions(record["partitions"], f"{place}.partitions", model.n_rows, version),
        left_out={},
        _cells=read_cells(record["cells"], f"{place}.cells", model.n_rows),
        **_read_target(record, f"{place}.", model.n_rows, version),
    )


def _read_facts(record: dict[str, Any], version: int) -> Model:
    read_text(record["gridmodl"], "gridmodl")
    classes = read_array(record["classes"], "classes")
    n_rows = read_integer(record["n_rows"], "n_rows", 1, MAX_INTEGER)
    return Model(
        cost=read_float(record["cost"], "cost"),
        null_cost=read_float(record["null_cost"], "null_cost"),
        criterion=read_text(record["criterion"], "criterion"),
        options=_read_options(record["options"]),
        problem=read_text(record["problem"], "problem"),
        n_rows=n_rows,
        classes=classes,
        partitions=read_partitions(record["partitions"], "partitions", n_rows, version),
        proven=read_bool(record["proven"], "proven"),
        search=read_text(record["search"], "search"),
        elapsed=read_float(record["elapsed"], "elapsed"),
        stopped=None if record["stopped"] is None else read_text(record["stopped"], "stopped"),
        delta=None if record["delta"] is None else read_float(record["delta"], "delta"),
        frame=read_text(record["frame"], "frame"),
    )


def _read_options(given: Any) -> dict[str, bool | int | float]:
    return {name: read_value(value, f"options.{name}") for name, value in read_object(given, "options").items()}


READERS: Mapping[int, Callable[[dict[str, Any]], Model]] = {
    1: _read_version_1,
    2: _read_version_2,
    3: _read_version_3,
    4: _read_version_4,
}
