"""Convert a model to the fields of a JSON object, and back; there is a reader for each version ever written."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gridmodl import __version__
from gridmodl.data.frames import Name
from gridmodl.model.cells import Cells
from gridmodl.model.file.fields import (
    MAX_INTEGER,
    ModelFileError,
    read_bool,
    read_fields,
    read_integer,
    read_list,
    read_object,
    shown,
    wrong,
)
from gridmodl.model.file.partitions import (
    index_or_none,
    partition_record,
    partition_records,
    read_counts,
    read_integers,
    read_partition,
    read_partitions,
)
from gridmodl.model.file.proofs import certificate_record, read_certificate, read_stability, stability_record
from gridmodl.model.file.values import (
    read_array,
    read_float,
    read_floats,
    read_text,
    read_value,
    write_array,
    write_value,
)
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition
from gridmodl.model.target_quantiles import PERCENTILES, TargetQuantiles
from gridmodl.terms import PROBLEMS

FORMAT = "gridmodl model"
VERSION = 6  # version written, for all kinds of files: models, collections, densities; fixed until the first release
FIELDS_1 = (
    "format", "version", "gridmodl", "criterion", "options", "problem", "n_rows", "cost", "null_cost", "delta",
    "search", "proven", "stopped", "elapsed", "frame", "classes", "partitions",
)  # fmt: skip
FIELDS_2 = (*FIELDS_1, "cells", "left_out", "optima")
FIELDS_3 = (*FIELDS_2, "target", "class_rows", "spread")
FIELDS_5 = (*FIELDS_3, "certificate")
FIELDS = (*FIELDS_5, "event", "event_is_default", "limits", "resolution", "sample_rows", "stability")
OPTIONAL = ("target_name", "unproven")  # texts of models that have them
OPTIMUM_2 = ("cost", "partitions", "cells")
OPTIMUM = (*OPTIMUM_2, "target", "spread")


def model_record(model: Model) -> dict[str, Any]:
    """JSON object of a model."""
    record = {
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
        "cells": _cells_record(model._cells, "cells"),
        "left_out": left_out_record(model.left_out),
        "optima": [_optimum_record(optimum, f"optima[{i}]") for i, optimum in enumerate(model.optima)],
        "target": _target_record(model.target, "target"),
        "class_rows": None if model._class_rows is None else model._class_rows.tolist(),
        "spread": _target_quantiles_record(model._target_quantiles),
        "certificate": certificate_record(model.certificate),
        "event": index_or_none(model.event_index),
        "resolution": operator.index(model.resolution),
        "sample_rows": operator.index(model.sample_rows),
        "event_is_default": bool(model.event_is_default),
        "limits": list(model.limits),
        "stability": stability_record(model.stability),
    }
    for name in OPTIONAL:
        if getattr(model, name) is not None:
            record[name] = write_value(getattr(model, name), name)
    return record


def _optimum_record(optimum: Model, place: str) -> dict[str, Any]:
    """Fields in which a local optimum differs from the model that keeps it."""
    return {
        "cost": float(optimum.cost),
        "partitions": partition_records(optimum.partitions, f"{place}.partitions"),
        "cells": _cells_record(optimum.cells, f"{place}.cells"),
        "target": _target_record(optimum.target, f"{place}.target"),
        "spread": _target_quantiles_record(optimum._target_quantiles),
    }


def read_record(record: Any) -> Model:
    """Build the model from its fields. Each field is checked for its type; `check_model` checks that they agree."""
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        is_of_many = isinstance(record, dict) and record.get("format") == f"{FORMAT}s"
        advice = "; it holds the models of several columns, which Models.from_json reads" if is_of_many else ""
        raise ModelFileError(f"the text is no gridmodl model: its 'format' is not {FORMAT!r}{advice}")
    return READERS[read_version(record, READERS)](record)


def read_version(record: dict[str, Any], known: Collection[int]) -> int:
    """Read the version of a file; raise `ModelFileError` unless it is one of `known`."""
    version = record.get("version")
    if type(version) is not int or version not in known:
        newer = "; a newer gridmodl is needed" if type(version) is int and version > VERSION else ""
        versions = ", ".join(map(str, known))
        raise wrong("version", f"is {shown(version)}; this gridmodl, {__version__}, reads version {versions}{newer}")
    return version


def _read_version_1(record: dict[str, Any]) -> Model:
    """Version 1: models of one variable."""
    return _read_facts(read_fields(record, "", FIELDS_1), 1)


def _read_version_2(record: dict[str, Any]) -> Model:
    """Version 2: models of several variables, with classes."""
    return _read_grid(read_fields(record, "", FIELDS_2), 2)


def _read_version_3(record: dict[str, Any]) -> Model:
    """Version 3: models with a target that is partitioned too, or without a target."""
    return _read_grid(read_fields(record, "", FIELDS_3), 3)


def _read_version_4(record: dict[str, Any], version: int = 4) -> Model:
    """Version 4: models with a certificate. Also reads the later versions."""
    optional = [name for name in OPTIONAL if version > 5 and name in record]
    model = _read_grid(read_fields(record, "", (*(FIELDS if version > 5 else FIELDS_5), *optional)), version)
    n_special = sum(partition.n_special for partition in model.partitions.values())  # certificates are of one column
    return replace(model, certificate=read_certificate(record["certificate"], "certificate", version, n_special))


def _read_version_5(record: dict[str, Any]) -> Model:
    """Version 5: partitions with the rows of each value."""
    return _read_version_4(record, 5)


def _read_version_6(record: dict[str, Any]) -> Model:
    """Version 6: the event; values that no part holds belong to no part, unless an older file said where they go."""
    return _read_version_4(record, 6)


def _read_grid(record: dict[str, Any], version: int) -> Model:
    """Read a model with the fields of version 2 and later, but for the certificate."""
    model = _read_facts(record, version)
    model = replace(
        model,
        left_out=read_left_out(record["left_out"]),
        _cells=_read_cells(record["cells"], "cells", model.n_rows),
        **_read_target(record, "", model.n_rows, version),
    )
    if version > 2:
        model = replace(model, _class_rows=read_integers(record["class_rows"], "class_rows", model.n_rows))
    optima = [_read_optimum(raw, i, model, version) for i, raw in enumerate(read_list(record["optima"], "optima"))]
    return replace(model, optima=tuple(optima))


def _read_target(record: dict[str, Any], place: str, n_rows: int, version: int) -> dict[str, Any]:
    """Fields of a partitioned target; none before version 3."""
    if version <= 2:
        return {}
    target = record["target"]
    return {
        "target": None if target is None else read_partition(target, f"{place}target", n_rows, version),
        "_target_quantiles": _read_target_quantiles(record["spread"], f"{place}spread"),
    }


def _read_optimum(raw: Any, i: int, model: Model, version: int) -> Model:
    """Read local optimum number `i` of `model`, whose other fields it shares."""
    place = f"optima[{i}]"
    record = read_fields(raw, place, OPTIMUM if version > 2 else OPTIMUM_2)
    return replace(
        model,
        cost=read_float(record["cost"], f"{place}.cost"),
        partitions=read_partitions(record["partitions"], f"{place}.partitions", model.n_rows, version),
        left_out={},
        _cells=_read_cells(record["cells"], f"{place}.cells", model.n_rows),
        **_read_target(record, f"{place}.", model.n_rows, version),
    )


def _read_limits(raw: Any) -> tuple[str, ...]:
    """Read the limits of a grid, in words."""
    return tuple(read_text(text, f"limits[{i}]") for i, text in enumerate(read_list(raw, "limits")))


def _read_facts(record: dict[str, Any], version: int) -> Model:
    """Read a model with the fields of version 1."""
    read_text(record["gridmodl"], "gridmodl")
    classes = read_array(record["classes"], "classes")
    n_rows = read_integer(record["n_rows"], "n_rows", 1, MAX_INTEGER)
    problem = read_text(record["problem"], "problem")
    if version > 5:
        event = None if record["event"] is None else read_integer(record["event"], "event", 0, MAX_INTEGER)
    else:  # tables were of the second of two classes
        event = 1 if problem in PROBLEMS and PROBLEMS[problem].has_classes and len(classes) == 2 else None
    return Model(
        cost=read_float(record["cost"], "cost"),
        null_cost=read_float(record["null_cost"], "null_cost"),
        criterion=read_text(record["criterion"], "criterion"),
        options=_read_options(record["options"]),
        problem=problem,
        n_rows=n_rows,
        classes=classes,
        event_index=event,
        event_is_default=read_bool(record["event_is_default"], "event_is_default") if version > 5 else False,
        limits=_read_limits(record["limits"]) if version > 5 else (),
        partitions=read_partitions(record["partitions"], "partitions", n_rows, version),
        proven=read_bool(record["proven"], "proven"),
        search=read_text(record["search"], "search"),
        elapsed=read_float(record["elapsed"], "elapsed"),
        stopped=None if record["stopped"] is None else read_text(record["stopped"], "stopped"),
        delta=None if record["delta"] is None else read_float(record["delta"], "delta"),
        frame=read_text(record["frame"], "frame"),
        resolution=read_integer(record["resolution"], "resolution", 0, n_rows) if version > 5 else 0,
        stability=read_stability(record["stability"]) if version > 5 else None,
        target_name=read_text(record["target_name"], "target_name") if "target_name" in record else None,
        unproven=read_text(record["unproven"], "unproven") if "unproven" in record else None,
        sample_rows=read_integer(record["sample_rows"], "sample_rows", 0, n_rows) if version > 5 else 0,
    )


def _read_options(raw: Any) -> dict[str, bool | int | float]:
    return {name: read_value(value, f"options.{name}") for name, value in read_object(raw, "options").items()}


def _cells_record(cells: Cells | None, place: str) -> dict[str, Any] | None:
    if cells is None:
        return None
    return {
        "names": [write_value(name, f"{place}.names[{i}]") for i, name in enumerate(cells.names)],
        "parts": cells.parts.tolist(),
        "counts": cells.counts.tolist(),
    }


def _read_cells(raw: Any, place: str, n_rows: int) -> Cells | None:
    if raw is None:
        return None
    record = read_fields(raw, place, ("names", "parts", "counts"))
    names = [read_value(name, f"{place}.names[{i}]") for i, name in enumerate(read_list(record["names"], place))]
    counts = read_counts(record["counts"], f"{place}.counts", n_rows)
    parts = [
        [read_integer(part, f"{place}.parts[{i}][{j}]", 0, MAX_INTEGER) for j, part in enumerate(read_list(row, place))]
        for i, row in enumerate(read_list(record["parts"], f"{place}.parts"))
    ]
    if len(parts) != len(counts) or any(len(row) != len(names) for row in parts):
        raise wrong(f"{place}.parts", f"must be {len(counts)} lists of {len(names)} parts")
    return Cells(tuple(names), np.array(parts, dtype=np.int64).reshape(len(parts), len(names)), counts)


def left_out_record(left_out: Mapping[Name, str]) -> list[Any]:
    """JSON of the columns left out and why, as of a grid, a scorecard or a classifier."""
    return [[write_value(name, "left_out"), reason] for name, reason in left_out.items()]


def read_left_out(raw: Any) -> dict[Name, str]:
    """Read what `left_out_record` wrote."""
    left_out: dict[Name, str] = {}
    for i, pair in enumerate(read_list(raw, "left_out")):
        if not isinstance(pair, list) or len(pair) != 2:
            raise wrong(f"left_out[{i}]", "must be a list of a name and a reason")
        name = read_value(pair[0], f"left_out[{i}][0]")
        if name in left_out:
            raise wrong(f"left_out[{i}]", f"names column {shown(name)} for the second time")
        left_out[name] = read_text(pair[1], f"left_out[{i}][1]")
    return left_out


def _target_record(target: Partition | None, place: str) -> dict[str, Any] | None:
    return None if target is None else partition_record(target, place)


def _target_quantiles_record(quantiles: TargetQuantiles | None) -> dict[str, Any] | None:
    if quantiles is None:
        return None
    return {"means": quantiles.means.tolist(), "percentiles": quantiles.percentiles.tolist()}


def _read_target_quantiles(raw: Any, place: str) -> TargetQuantiles | None:
    if raw is None:
        return None
    record = read_fields(raw, place, ("means", "percentiles"))
    means = read_floats(record["means"], f"{place}.means")
    rows = read_list(record["percentiles"], f"{place}.percentiles")
    percentiles = [read_floats(row, f"{place}.percentiles[{i}]") for i, row in enumerate(rows)]
    if len(percentiles) != len(means) or any(len(row) != len(PERCENTILES) for row in percentiles):
        raise wrong(f"{place}.percentiles", f"must be {len(means)} lists of {len(PERCENTILES)} numbers")
    return TargetQuantiles(np.array(means), np.array(percentiles).reshape(len(means), len(PERCENTILES)))


READERS: Mapping[int, Callable[[dict[str, Any]], Model]] = {
    1: _read_version_1,
    2: _read_version_2,
    3: _read_version_3,
    4: _read_version_4,
    5: _read_version_5,
    6: _read_version_6,
}
