"""Convert a model to the fields of a JSON object, and back; there is a reader for each version ever written."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl import __version__
from gridmodl.codelength import MANY_ROWS
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
from gridmodl.model.file.values import (
    read_array,
    read_float,
    read_floats,
    read_text,
    read_value,
    read_values,
    write_array,
    write_value,
)
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition
from gridmodl.model.target_quantiles import PERCENTILES, TargetQuantiles
from gridmodl.search.proof import LIMITED, Certificate
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
FIELDS = (*FIELDS_5, "event", "event_is_default", "limits", "resolution")
OPTIMUM_2 = ("cost", "partitions", "cells")
OPTIMUM = (*OPTIMUM_2, "target", "spread")
PARTITION_FIELDS_2 = {  # up to version 2
    "numerical": ("name", "kind", "bounds", "is_utc", "special", "missing", "counts"),
    "categorical": ("name", "kind", "groups", "default", "missing", "counts"),
}
PARTITION_FIELDS_4 = {  # versions 3 and 4
    kind: (*fields, "n_values", "log_value_factorials") for kind, fields in PARTITION_FIELDS_2.items()
}
PARTITION_FIELDS_5 = {kind: (*fields, "n_values", "value_rows") for kind, fields in PARTITION_FIELDS_2.items()}
PARTITION_FIELDS = {
    **{
        kind: tuple(dict.fromkeys((*fields, "default", "n_missing", "special_sizes")))
        for kind, fields in PARTITION_FIELDS_5.items()
    },
    "ordinal": (
        "name", "kind", "levels", "bounds", "special", "special_sizes", "default", "missing", "n_missing", "counts",
        "n_values", "value_rows",
    ),
}  # fmt: skip
CERTIFICATE_FIELDS_5 = ("method", "lowest", "slopes", "totals", "max_parts", "min_rows", "monotone")
CERTIFICATE_FIELDS = (*CERTIFICATE_FIELDS_5, "missing", "min_events", "min_difference", "fixed", "allowed")


def model_record(model: Model) -> dict[str, Any]:
    """JSON object of a model."""
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
        "partitions": _partition_records(model.partitions, "partitions"),
        "cells": _cells_record(model._cells, "cells"),
        "left_out": _left_out_record(model.left_out),
        "optima": [_optimum_record(optimum, f"optima[{i}]") for i, optimum in enumerate(model.optima)],
        "target": _target_record(model.target, "target"),
        "class_rows": None if model._class_rows is None else model._class_rows.tolist(),
        "spread": _target_quantiles_record(model._target_quantiles),
        "certificate": _certificate_record(model.certificate),
        "event": _index_or_none(model.event_index),
        "resolution": operator.index(model.resolution),
        "event_is_default": bool(model.event_is_default),
        "limits": list(model.limits),
    }


def _optimum_record(optimum: Model, place: str) -> dict[str, Any]:
    """Fields in which a local optimum differs from the model that keeps it."""
    return {
        "cost": float(optimum.cost),
        "partitions": _partition_records(optimum.partitions, f"{place}.partitions"),
        "cells": _cells_record(optimum.cells, f"{place}.cells"),
        "target": _target_record(optimum.target, f"{place}.target"),
        "spread": _target_quantiles_record(optimum._target_quantiles),
    }


def read_record(record: Any) -> Model:
    """Build the model from its fields. Each field is checked for its type; `check_model` checks that they agree."""
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise ModelFileError(f"the text is no gridmodl model: its 'format' is not {FORMAT!r}")
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
    model = _read_grid(read_fields(record, "", FIELDS if version > 5 else FIELDS_5), version)
    return replace(model, certificate=_read_certificate(record["certificate"], "certificate", version))


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
        left_out=_read_left_out(record["left_out"]),
        _cells=_read_cells(record["cells"], "cells", model.n_rows),
        **_read_target(record, "", model.n_rows, version),
    )
    if version > 2:
        model = replace(model, _class_rows=_read_integers(record["class_rows"], "class_rows", model.n_rows))
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
        partitions=_read_partitions(record["partitions"], f"{place}.partitions", model.n_rows, version),
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
        partitions=_read_partitions(record["partitions"], "partitions", n_rows, version),
        proven=read_bool(record["proven"], "proven"),
        search=read_text(record["search"], "search"),
        elapsed=read_float(record["elapsed"], "elapsed"),
        stopped=None if record["stopped"] is None else read_text(record["stopped"], "stopped"),
        delta=None if record["delta"] is None else read_float(record["delta"], "delta"),
        frame=read_text(record["frame"], "frame"),
        resolution=read_integer(record["resolution"], "resolution", 0, MAX_INTEGER) if version > 5 else 0,
    )


def _read_options(raw: Any) -> dict[str, bool | int | float]:
    return {name: read_value(value, f"options.{name}") for name, value in read_object(raw, "options").items()}


def partition_record(partition: Partition, place: str) -> dict[str, Any]:
    """JSON object of a partition; its fields depend on its kind."""
    record: dict[str, Any] = {"name": write_value(partition.name, f"{place}.name"), "kind": partition.kind}
    if partition.kind == "numerical":
        record["bounds"] = write_array(partition.bounds, f"{place}.bounds")
        record["is_utc"] = bool(partition.is_utc)
        record["special"] = write_array(partition.special, f"{place}.special")
    elif partition.kind == "ordinal":
        record["levels"] = [write_value(level, f"{place}.levels[{i}]") for i, level in enumerate(partition.levels)]
        record["bounds"] = partition.bounds.tolist()
        record["special"] = partition.special.tolist()
    else:
        record["groups"] = [
            [write_value(value, f"{place}.groups[{i}][{j}]") for j, value in enumerate(group)]
            for i, group in enumerate(partition.groups)
        ]
    record["special_sizes"] = None if partition.special_sizes is None else list(partition.special_sizes)
    record["default"] = _index_or_none(partition.default)
    record["missing"] = _index_or_none(partition.missing)
    record["counts"] = partition.counts.tolist()
    record["n_missing"] = _index_or_none(partition.n_missing)
    record["n_values"] = None if partition.n_values is None else partition.n_values.tolist()
    record["value_rows"] = None if partition.value_rows is None else partition.value_rows.tolist()
    if not math.isnan(partition._log_orders):
        record["log_value_factorials"] = float(partition._log_orders)
    if partition.unlabelled is not None:
        record["unlabelled"] = partition.unlabelled.tolist()
    if partition.widths is not None:
        record["widths"] = partition.widths.tolist()
    if partition.domain is not None:
        record["domain"] = write_array(partition.domain, f"{place}.domain")
    return record


def _index_or_none(value: Any) -> int | None:
    return None if value is None else operator.index(value)


def read_partition(raw: Any, place: str, n_rows: int, version: int) -> Partition:
    """Read a partition of a file of this `version`."""
    kind = raw.get("kind") if isinstance(raw, dict) else None
    known = _partition_fields(version)
    if not isinstance(kind, str) or kind not in known:
        raise wrong(place, f"must be an object whose 'kind' is one of {', '.join(known)}, got {shown(kind)}")
    fields = known[kind]
    has_unlabelled = version > 2 and "unlabelled" in raw
    has_orders = version > 2 and kind == "categorical" and "log_value_factorials" in raw
    has_widths = version > 5 and kind == "numerical" and "widths" in raw
    optional = [*(["unlabelled"] if has_unlabelled else []), *(["log_value_factorials"] if has_orders else [])]
    has_domain = version > 5 and kind == "numerical" and (has_widths or "domain" in raw)
    optional += [*(["widths"] if has_widths else []), *(["domain"] if has_domain else [])]
    record = read_fields(raw, place, tuple(dict.fromkeys((*fields, *optional))))
    facts: dict[str, Any] = {
        "name": read_value(record["name"], f"{place}.name"),
        "kind": kind,
        "counts": _read_counts(record["counts"], f"{place}.counts", n_rows),
        "missing": _read_part(record["missing"], f"{place}.missing"),
    }
    if has_unlabelled:
        facts["unlabelled"] = _read_integers(record["unlabelled"], f"{place}.unlabelled", n_rows)
    if version > 2:
        facts["n_values"] = _read_integers(record["n_values"], f"{place}.n_values", n_rows)
    if version in (3, 4) or has_orders:
        order = read_float(record["log_value_factorials"], f"{place}.log_value_factorials")
        check_log_orders(order, n_rows, f"{place}.log_value_factorials")
        if facts["n_values"] is not None and kind == "categorical":
            facts["_log_orders"] = _log_orders(order, n_rows)
    if version > 4:
        facts["value_rows"] = _read_integers(record["value_rows"], f"{place}.value_rows", n_rows)
    if kind == "categorical":
        groups = read_list(record["groups"], f"{place}.groups")
        facts["groups"] = tuple(tuple(read_values(group, f"{place}.groups[{i}]")) for i, group in enumerate(groups))
    elif kind == "ordinal":
        facts["levels"] = tuple(read_values(record["levels"], f"{place}.levels"))
        last = len(facts["levels"]) - 1
        if last < 0:
            raise wrong(f"{place}.levels", "must not be empty")
        facts["bounds"] = _read_places(record["bounds"], f"{place}.bounds", last - 1)
        facts["special"] = _read_places(record["special"], f"{place}.special", last)
    else:
        facts["bounds"] = read_array(record["bounds"], f"{place}.bounds")
        facts["special"] = read_array(record["special"], f"{place}.special")
        facts["is_utc"] = read_bool(record["is_utc"], f"{place}.is_utc")
    if has_widths:
        facts["widths"] = np.array(read_floats(record["widths"], f"{place}.widths"), dtype=np.float64)
    if has_domain:
        facts["domain"] = read_array(record["domain"], f"{place}.domain")
    if version > 5 and record["n_missing"] is not None:  # a density leaves the rows without a value out of n_rows
        most = MAX_INTEGER if has_widths else n_rows
        facts["n_missing"] = read_integer(record["n_missing"], f"{place}.n_missing", 0, most)
    if "special_sizes" in fields:
        sizes = _read_integers(record["special_sizes"], f"{place}.special_sizes", MAX_INTEGER)
        facts["special_sizes"] = None if sizes is None else tuple(sizes.tolist())
    if "default" in fields:
        facts["default"] = _read_part(record["default"], f"{place}.default")
    elif facts["missing"] is None:  # up to version 5: the lowest interval
        facts["default"] = 0
    return Partition(**facts)


def _partition_fields(version: int) -> dict[str, tuple[str, ...]]:
    """Fields of a partition by its kind, in a file of this `version`."""
    if version <= 2:
        return PARTITION_FIELDS_2
    if version <= 4:
        return PARTITION_FIELDS_4
    return PARTITION_FIELDS_5 if version == 5 else PARTITION_FIELDS


def check_log_orders(order: float, n_rows: int, place: str) -> None:
    """Check a sum of log n!; with 2^24 rows or more it can be negative, as log(N) - 1 may be subtracted per row."""
    if not (math.isfinite(order) and (order >= 0.0 or n_rows >= MANY_ROWS)):
        raise wrong(place, f"must be finite and not negative, got {order!r}")


def _log_orders(order: float, n_rows: int) -> float:
    """`Partition._log_orders`: a sum of log n!; with 2^24 rows or more, log(N) - 1 is subtracted per row.

    The first files of 2^24 rows or more hold the plain sum. With the subtraction the sum is at most slightly above
    log(2 pi N) / 2; without, it is far larger, as values have many rows.
    """
    is_plain = n_rows >= MANY_ROWS and order > math.log(n_rows)
    return order - n_rows * (math.log(n_rows) - 1.0) if is_plain else order


def _read_part(raw: Any, place: str) -> int | None:
    return None if raw is None else read_integer(raw, place, 0, MAX_INTEGER)


def _read_integers(raw: Any, place: str, most: int) -> NDArray[np.int64] | None:
    """Read a list of integers from 0 to `most`; None for null."""
    if raw is None:
        return None
    integers = [read_integer(n, f"{place}[{i}]", 0, most) for i, n in enumerate(read_list(raw, place))]
    return np.array(integers, dtype=np.int64)


def _read_places(raw: Any, place: str, last: int) -> NDArray[np.int64]:
    """Read a list of places of levels, from 0 to `last`."""
    places = [read_integer(n, f"{place}[{i}]", 0, last) for i, n in enumerate(read_list(raw, place))]
    return np.array(places, dtype=np.int64)


def _read_counts(raw: Any, place: str, n_rows: int) -> NDArray[np.int64]:
    """Read a matrix of counts from 0 to `n_rows`."""
    rows = [
        [
            read_integer(count, f"{place}[{i}][{j}]", 0, n_rows)
            for j, count in enumerate(read_list(row, f"{place}[{i}]"))
        ]
        for i, row in enumerate(read_list(raw, place))
    ]
    if not rows or len(set(map(len, rows))) > 1:
        raise wrong(place, "must be lists of one length, one for each part")
    return np.array(rows, dtype=np.int64)


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
    counts = _read_counts(record["counts"], f"{place}.counts", n_rows)
    parts = [
        [read_integer(part, f"{place}.parts[{i}][{j}]", 0, MAX_INTEGER) for j, part in enumerate(read_list(row, place))]
        for i, row in enumerate(read_list(record["parts"], f"{place}.parts"))
    ]
    if len(parts) != len(counts) or any(len(row) != len(names) for row in parts):
        raise wrong(f"{place}.parts", f"must be {len(counts)} lists of {len(names)} parts")
    return Cells(tuple(names), np.array(parts, dtype=np.int64).reshape(len(parts), len(names)), counts)


def _left_out_record(left_out: Mapping[Name, str]) -> list[Any]:
    return [[write_value(name, "left_out"), reason] for name, reason in left_out.items()]


def _read_left_out(raw: Any) -> dict[Name, str]:
    left_out: dict[Name, str] = {}
    for i, pair in enumerate(read_list(raw, "left_out")):
        if not isinstance(pair, list) or len(pair) != 2:
            raise wrong(f"left_out[{i}]", "must be a list of a name and a reason")
        name = read_value(pair[0], f"left_out[{i}][0]")
        if name in left_out:
            raise wrong(f"left_out[{i}]", f"names column {shown(name)} for the second time")
        left_out[name] = read_text(pair[1], f"left_out[{i}][1]")
    return left_out


def _partition_records(partitions: Mapping[Name, Partition], place: str) -> list[dict[str, Any]]:
    return [partition_record(partition, f"{place}[{i}]") for i, partition in enumerate(partitions.values())]


def _read_partitions(raw: Any, place: str, n_rows: int, version: int) -> dict[Name, Partition]:
    partitions: dict[Name, Partition] = {}
    for i, record in enumerate(read_list(raw, place)):
        partition = read_partition(record, f"{place}[{i}]", n_rows, version)
        if partition.name in partitions:
            raise wrong(f"{place}[{i}].name", f"occurs twice: {shown(partition.name)}")
        partitions[partition.name] = partition
    return partitions


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


def _certificate_record(certificate: Certificate | None) -> dict[str, Any] | None:
    if certificate is None:
        return None
    record = asdict(certificate)
    for name in ("slopes", "totals", "min_events"):
        record[name] = list(record[name])
    for name in ("fixed", "allowed"):
        bounds = record[name]
        record[name] = (
            write_array(np.array(bounds), f"certificate.{name}") if bounds else None if bounds is None else []
        )
    return record


def _read_certificate(raw: Any, place: str, version: int) -> Certificate | None:
    if raw is None:
        return None
    record = read_fields(raw, place, CERTIFICATE_FIELDS if version > 5 else CERTIFICATE_FIELDS_5)
    certificate = Certificate(
        method=read_text(record["method"], f"{place}.method"),
        lowest=read_float(record["lowest"], f"{place}.lowest"),
        slopes=tuple(read_floats(record["slopes"], f"{place}.slopes")),
        totals=tuple(read_floats(record["totals"], f"{place}.totals")),
        max_parts=_read_limit(record["max_parts"], f"{place}.max_parts"),
        min_rows=read_integer(record["min_rows"], f"{place}.min_rows", 1, MAX_INTEGER),
        monotone=None if record["monotone"] is None else read_text(record["monotone"], f"{place}.monotone"),
        missing=read_text(record["missing"], f"{place}.missing") if version > 5 else LIMITED,
    )
    if version < 6:
        return certificate
    fixed, allowed = (_read_bounds(record[name], f"{place}.{name}") for name in ("fixed", "allowed"))
    if fixed is None:
        raise wrong(f"{place}.fixed", "must be a list of bounds")
    return replace(
        certificate,
        min_events=tuple(
            read_integer(rows, f"{place}.min_events[{i}]", 0, MAX_INTEGER)
            for i, rows in enumerate(read_list(record["min_events"], f"{place}.min_events"))
        ),
        min_difference=read_float(record["min_difference"], f"{place}.min_difference"),
        fixed=fixed,
        allowed=allowed,
    )


def _read_bounds(raw: Any, place: str) -> tuple[Any, ...] | None:
    """Read bounds: an array; an empty list for none, null for no limit."""
    return None if raw is None else () if raw == [] else tuple(read_array(raw, place))


def _read_limit(raw: Any, place: str) -> int | None:
    return None if raw is None else read_integer(raw, place, 1, MAX_INTEGER)


READERS: Mapping[int, Callable[[dict[str, Any]], Model]] = {
    1: _read_version_1,
    2: _read_version_2,
    3: _read_version_3,
    4: _read_version_4,
    5: _read_version_5,
    6: _read_version_6,
}
