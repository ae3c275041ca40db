"""Write and read classifiers of weighted evidence as JSON text, with checks as strict as those of a model.

`KINDS` says how each kind of source is written, read and checked; a new kind is a record there.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl import __version__
from gridmodl.data.frames import ARRAYS, FRAMES
from gridmodl.evidence.grids import GridSource
from gridmodl.evidence.record import WeightedEvidence
from gridmodl.evidence.sources import CurveSource, EvidenceSource, PartsSource
from gridmodl.model.file.checks import check_model, check_one_of, check_partition
from gridmodl.model.file.fields import MAX_INTEGER, ModelFileError, read_fields, read_integer, read_list, shown, wrong
from gridmodl.model.file.files import read_checked, write_checked
from gridmodl.model.file.partitions import partition_record, read_partition
from gridmodl.model.file.records import VERSION, left_out_record, model_record, read_left_out, read_record, read_version
from gridmodl.model.file.values import (
    read_array,
    read_float,
    read_floats,
    read_text,
    read_value,
    write_array,
    write_value,
)
from gridmodl.model.policy import MISSING, UNKNOWN, Policy

FORMAT = "gridmodl evidence"
VERSIONS = (VERSION,)
FIELDS = (
    "format", "version", "gridmodl", "classes", "event", "intercepts", "names", "unknown", "missing", "frame",
    "left_out", "sources", "weights",
)  # fmt: skip
NEAR = 1e-6  # largest rounding error of a sum of probabilities


def write_evidence(model: WeightedEvidence, path: str | os.PathLike[str] | None = None) -> str:
    """JSON text of a classifier; also written to the file `path` unless None."""
    return write_checked(model, check_evidence, _record, path)


def read_evidence(source: str | bytes | os.PathLike[str]) -> WeightedEvidence:
    """Read a classifier from a JSON text (str or bytes) or from a file (str or path-like)."""
    return read_checked(source, _read, check_evidence)


class SourceKind(NamedTuple):
    """How a kind of source is written and read."""

    name: str
    kind: type
    record: Callable[[Any, str], dict[str, Any]]
    read: Callable[[dict[str, Any], str], EvidenceSource]
    check: Callable[[Any, int, str], None]


def _record(model: WeightedEvidence) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "gridmodl": __version__,
        "classes": write_array(model.classes, "classes"),
        "event": model.event_index,
        "intercepts": model.intercepts.tolist(),
        "names": [write_value(name, f"names[{i}]") for i, name in enumerate(model.names)],
        "unknown": model.policy.unknown,
        "missing": model.policy.missing,
        "frame": model.frame,
        "left_out": left_out_record(model.left_out),
        "sources": [_source_record(source, f"sources[{i}]") for i, source in enumerate(model.sources)],
        "weights": model.weights.tolist(),
    }


def _kind_of(source: EvidenceSource, place: str) -> SourceKind:
    for kind in KINDS:
        if isinstance(source, kind.kind):
            return kind
    raise wrong(place, f"is a {type(source).__name__}, which files do not hold")


def _source_record(source: EvidenceSource, place: str) -> dict[str, Any]:
    kind = _kind_of(source, place)
    return {"kind": kind.name, "price": float(source.price), **kind.record(source, place)}


def _parts_record(source: PartsSource, place: str) -> dict[str, Any]:
    return {
        "partition": partition_record(source.partition, f"{place}.partition"),
        "evidence": source.evidence.tolist(),
    }


def _curve_record(source: CurveSource, place: str) -> dict[str, Any]:
    return {
        "partition": partition_record(source.apart, f"{place}.partition"),
        "knots": write_array(source.knots, f"{place}.knots"),
        "shares": source.shares.tolist(),
        "log_prior": source.log_prior.tolist(),
        "suspicion": source.suspicion,
    }


def _grid_record(source: GridSource, place: str) -> dict[str, Any]:
    return {"name": source.name, "model": model_record(source.model), "evidence": source.evidence.tolist()}


def _read(record: Any) -> WeightedEvidence:
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise ModelFileError(f"the text is no gridmodl classifier: its 'format' is not {FORMAT!r}")
    read_version(record, VERSIONS)
    read_fields(record, "", FIELDS)
    read_text(record["gridmodl"], "gridmodl")
    classes = read_array(record["classes"], "classes")
    event = record["event"]
    sources = [_read_source(raw, f"sources[{i}]") for i, raw in enumerate(read_list(record["sources"], "sources"))]
    return WeightedEvidence(
        classes=classes,
        intercepts=np.array(read_floats(record["intercepts"], "intercepts")),
        sources=tuple(sources),
        weights=_read_matrix(record["weights"], "weights", len(sources)),
        names=tuple(read_value(raw, f"names[{i}]") for i, raw in enumerate(read_list(record["names"], "names"))),
        event_index=None if event is None else read_integer(event, "event", 0, max(0, len(classes) - 1)),
        policy=Policy(read_text(record["unknown"], "unknown"), read_text(record["missing"], "missing")),
        frame=read_text(record["frame"], "frame"),
        left_out=read_left_out(record["left_out"]),
    )


def _read_matrix(raw: Any, place: str, n_rows: int | None = None) -> NDArray[np.float64]:
    """Read lists of numbers of one length; `n_rows` of them, if that is known."""
    rows = [read_floats(row, f"{place}[{i}]") for i, row in enumerate(read_list(raw, place))]
    if len({len(row) for row in rows}) > 1 or (n_rows is not None and len(rows) != n_rows):
        raise wrong(place, f"must be {'' if n_rows is None else f'{n_rows} '}lists of numbers of one length")
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(rows[0]) if rows else 1)


def _read_source(raw: Any, place: str) -> EvidenceSource:
    name = raw.get("kind") if isinstance(raw, dict) else None
    for kind in KINDS:
        if kind.name == name:
            return kind.read(raw, place)
    raise wrong(f"{place}.kind", f"must be one of {', '.join(kind.name for kind in KINDS)}, got {shown(name)}")


def _read_parts(raw: dict[str, Any], place: str) -> EvidenceSource:
    record = read_fields(raw, place, ("kind", "price", "partition", "evidence"))
    return PartsSource(
        read_partition(record["partition"], f"{place}.partition", MAX_INTEGER, VERSION),
        _read_matrix(record["evidence"], f"{place}.evidence"),
        read_float(record["price"], f"{place}.price"),
    )


def _read_curve(raw: dict[str, Any], place: str) -> EvidenceSource:
    record = read_fields(raw, place, ("kind", "price", "partition", "knots", "shares", "log_prior", "suspicion"))
    return CurveSource(
        read_partition(record["partition"], f"{place}.partition", MAX_INTEGER, VERSION),
        read_array(record["knots"], f"{place}.knots"),
        _read_matrix(record["shares"], f"{place}.shares"),
        np.array(read_floats(record["log_prior"], f"{place}.log_prior")),
        read_float(record["price"], f"{place}.price"),
        read_text(record["suspicion"], f"{place}.suspicion"),
    )


def _read_grid(raw: dict[str, Any], place: str) -> EvidenceSource:
    record = read_fields(raw, place, ("kind", "price", "name", "model", "evidence"))
    try:
        grid = read_record(record["model"])
    except ModelFileError as error:
        raise ModelFileError(f"{place}.model: {error}") from error
    return GridSource(
        grid,
        read_text(record["name"], f"{place}.name"),
        _read_matrix(record["evidence"], f"{place}.evidence"),
        read_float(record["price"], f"{place}.price"),
    )


def check_evidence(model: WeightedEvidence) -> None:
    """Raise `ModelFileError` if fields contradict each other."""
    n_classes, n_sources = len(model.classes), len(model.sources)
    if not n_classes or model.classes.ndim != 1 or len(set(model.classes.tolist())) < n_classes:
        raise wrong("classes", "must be a list of one class or more, all distinct")
    if model.intercepts.shape != (n_classes,) or not np.all(np.isfinite(model.intercepts)):
        raise wrong("intercepts", f"must be {n_classes} finite numbers, one for each class")
    shapes = ((n_sources, 1), (n_sources, n_classes))
    if model.weights.shape not in shapes or not np.all(np.isfinite(model.weights)):
        raise wrong("weights", f"must be {n_sources} lists of one finite number, or of {n_classes}")
    check_one_of("unknown", str(model.policy.unknown), UNKNOWN)
    check_one_of("missing", str(model.policy.missing), MISSING)
    check_one_of("frame", model.frame, (*FRAMES, ARRAYS))
    if not model.names or len(set(model.names)) < len(model.names):
        raise wrong("names", "must be a list of one name or more, all distinct")
    names = [source.name for source in model.sources]
    for i, source in enumerate(model.sources):
        place = f"sources[{i}]"
        if source.name in names[:i]:
            raise wrong(place, f"is of {shown(source.name)}, which has a source already")
        for name in source.columns:
            if name not in model.names:
                raise wrong(place, f"reads column {shown(name)}, which is not among the names")
        if not np.isfinite(source.price) or source.price < 0.0:
            raise wrong(f"{place}.price", f"must be a finite number, 0 or more, got {source.price!r}")
        _kind_of(source, place).check(source, n_classes, place)
    used = {name for source in model.sources for name in source.columns}
    for name in model.left_out:
        if name in used or name not in model.names:
            why = "a source reads" if name in used else "is not among the names"
            raise wrong("left_out", f"names column {shown(name)}, which {why}")


def _check_parts(source: PartsSource, n_classes: int, place: str) -> None:
    check_partition(source.partition, f"{place}.partition")
    expected = (source.partition.n_parts, n_classes)
    if source.evidence.shape != expected or not np.all(np.isfinite(source.evidence)):
        raise wrong(f"{place}.evidence", f"must be {expected[0]} lists of {n_classes} finite numbers")


def _check_curve(source: CurveSource, n_classes: int, place: str) -> None:
    apart, knots, shares = source.apart, source.knots, source.shares
    check_partition(apart, f"{place}.partition")
    if apart.kind == "categorical" or len(apart.bounds):
        raise wrong(f"{place}.partition", "must be of one interval, with missing values and special codes apart")
    if knots.ndim != 1 or not len(knots) or np.any(knots != knots) or not np.all(knots[1:] > knots[:-1]):
        raise wrong(f"{place}.knots", "must be one value or more, ascending")
    kind, expected = knots.dtype.kind, apart.bounds.dtype
    if kind not in "iufmM" or (kind in "mM") != (expected.kind in "mM") or (kind in "mM" and knots.dtype != expected):
        raise wrong(f"{place}.knots", f"are of {knots.dtype}, and bounds of {expected}")
    n_lines = source.first + len(knots) + apart.n_special
    if shares.shape != (n_lines, n_classes):
        raise wrong(f"{place}.shares", f"must be {n_lines} lists of {n_classes} probabilities")
    if not np.all((shares > 0.0) & (shares <= 1.0)) or np.any(np.abs(shares.sum(axis=1) - 1.0) > NEAR):
        raise wrong(f"{place}.shares", "must be probabilities above 0 that sum to 1 in each list")
    if source.log_prior.shape != (n_classes,) or not np.all(source.log_prior <= 0.0):
        raise wrong(f"{place}.log_prior", f"must be {n_classes} logarithms of shares")


def _check_grid(source: GridSource, n_classes: int, place: str) -> None:
    try:
        check_model(source.model)
    except ModelFileError as error:
        raise ModelFileError(f"{place}.model: {error}") from error
    if source.model.problem != "grid" or len(source.model.classes) != n_classes:
        raise wrong(f"{place}.model", f"must be a grid of {n_classes} classes")
    expected = (len(source.model.cells.parts), n_classes)
    if source.evidence.shape != expected or not np.all(np.isfinite(source.evidence)):
        raise wrong(f"{place}.evidence", f"must be {expected[0]} lists of {n_classes} finite numbers")


KINDS = (
    SourceKind("parts", PartsSource, _parts_record, _read_parts, _check_parts),
    SourceKind("curve", CurveSource, _curve_record, _read_curve, _check_curve),
    SourceKind("grid", GridSource, _grid_record, _read_grid, _check_grid),
)
