"""Write and read averages as JSON text, with checks as strict as those of a model.

The rows of each segment are written as a model of the finest partition, and checked as one. What follows from them is
written too, so that predictions need no sum over partitions when a file is read.
"""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl import __version__
from gridmodl.averaging.averages import Averages
from gridmodl.averaging.fit import MAX_CANDIDATES
from gridmodl.averaging.models import model_of_starts
from gridmodl.averaging.record import Average
from gridmodl.averaging.summing import PRIORS, SegmentCounts
from gridmodl.data.frames import ARRAYS, Name
from gridmodl.model.file.checks import check_model, check_one_of
from gridmodl.model.file.fields import (
    MAX_INTEGER,
    ModelFileError,
    read_bool,
    read_fields,
    read_integer,
    read_list,
    shown,
    wrong,
)
from gridmodl.model.file.files import read_checked, write_checked
from gridmodl.model.file.records import VERSION, model_record, read_record, read_version
from gridmodl.model.file.values import read_array, read_float, read_text, read_value, write_array, write_value
from gridmodl.model.model import Model
from gridmodl.search.average.candidates import Runs

FORMAT, FORMAT_OF_ALL = "gridmodl average", "gridmodl averages"
VERSIONS = (VERSION,)
FIELDS = (
    "format", "version", "gridmodl", "segments", "values", "runs", "prior", "max_parts", "exact", "knots", "shares",
    "log_evidence", "p_parts", "p_bounds", "p_missing_apart", "p_informative", "loo_loss", "neglected",
)  # fmt: skip
FIELDS_OF_ALL = ("format", "version", "gridmodl", "averages", "errors")
RUNS = ("zone", "size", "times")
NEAR = 1e-6  # largest rounding error of a sum of probabilities


def write_average(average: Average, path: str | os.PathLike[str] | None = None) -> str:
    """JSON text of an average, without its data; also written to the file `path` unless None."""
    return write_checked(average, check_average, average_record, path)


def read_average(source: str | bytes | os.PathLike[str]) -> Average:
    """Read an average from a JSON text (str or bytes) or from a file (str or path-like)."""
    return read_checked(source, read_average_record, check_average)


def average_record(average: Average) -> dict[str, Any]:
    """JSON object of an average."""
    counted = average._counted
    finest = model_of_starts(average, np.arange(counted.n_intervals), "average")
    finest = replace(finest, elapsed=average.elapsed, stopped=average.stopped)
    return {
        "format": FORMAT,
        "version": VERSION,
        "gridmodl": __version__,
        "segments": model_record(finest),
        "values": counted.values.tolist(),
        "runs": {name: getattr(counted.runs, name).tolist() for name in RUNS},
        "prior": average.prior,
        "max_parts": None if average.max_parts is None else int(average.max_parts),
        "exact": bool(average.exact),
        "knots": write_array(average.knots, "knots"),
        "shares": average.shares.tolist(),
        "log_evidence": float(average.log_evidence),
        "p_parts": average.p_parts.tolist(),
        "p_bounds": average.p_bounds.tolist(),
        "p_missing_apart": _float_or_none(average.p_missing_apart),
        "p_informative": _float_or_none(average.p_informative),
        "loo_loss": _float_or_none(average.loo_loss),
        "neglected": float(average.neglected),
    }


def _float_or_none(value: float | None) -> float | None:
    return None if value is None else float(value)


def read_average_record(record: Any) -> Average:
    """Build an average from its JSON object."""
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise ModelFileError(f"the text is no gridmodl average: its 'format' is not {FORMAT!r}")
    read_version(record, VERSIONS)
    read_fields(record, "", FIELDS)
    read_text(record["gridmodl"], "gridmodl")
    finest = _read_finest(record["segments"])
    (segments,) = finest.partitions.values()
    runs = read_fields(record["runs"], "runs", RUNS)
    return Average(
        log_evidence=read_float(record["log_evidence"], "log_evidence"),
        p_parts=_read_floats(record["p_parts"], "p_parts"),
        p_bounds=_read_floats(record["p_bounds"], "p_bounds"),
        p_missing_apart=_read_optional(record["p_missing_apart"], "p_missing_apart"),
        p_informative=_read_optional(record["p_informative"], "p_informative"),
        loo_loss=_read_optional(record["loo_loss"], "loo_loss"),
        neglected=read_float(record["neglected"], "neglected"),
        exact=read_bool(record["exact"], "exact"),
        knots=read_array(record["knots"], "knots"),
        shares=_read_shares(record["shares"], len(finest.classes)),
        classes=finest.classes,
        criterion=finest.criterion,
        prior=read_text(record["prior"], "prior"),
        elapsed=finest.elapsed,
        options=finest.options,
        max_parts=None
        if record["max_parts"] is None
        else read_integer(record["max_parts"], "max_parts", 1, MAX_INTEGER),
        stopped=finest.stopped,
        frame=finest.frame,
        event_index=finest.event_index,
        target_name=finest.target_name,
        _counted=SegmentCounts(
            segments,
            _read_integers(record["values"], "values", 0),
            Runs(*(_read_integers(runs[name], f"runs.{name}", 1) for name in RUNS)),
        ),
    )


def _read_finest(raw: Any) -> Model:
    """Read and check the model of the finest partition."""
    try:
        model = read_record(raw)
        check_model(model)
    except ModelFileError as error:
        raise wrong("segments", str(error)) from error
    partitions = list(model.partitions.values())
    if len(partitions) != 1 or model.problem not in ("classes", "semi") or partitions[0].kind == "categorical":
        raise wrong("segments", "must be a model of one numerical or ordinal column with a class target")
    return model


def _read_integers(raw: Any, place: str, low: int) -> NDArray[np.int64]:
    numbers = [read_integer(n, f"{place}[{i}]", low, MAX_INTEGER) for i, n in enumerate(read_list(raw, place))]
    return np.array(numbers, dtype=np.int64)


def _read_floats(raw: Any, place: str) -> NDArray[np.float64]:
    return np.array([read_float(n, f"{place}[{i}]") for i, n in enumerate(read_list(raw, place))], dtype=np.float64)


def _read_optional(raw: Any, place: str) -> float | None:
    return None if raw is None else read_float(raw, place)


def _read_shares(raw: Any, n_classes: int) -> NDArray[np.float64]:
    rows = [_read_floats(row, f"shares[{i}]") for i, row in enumerate(read_list(raw, "shares"))]
    if not rows or any(len(row) != n_classes for row in rows):
        raise wrong("shares", f"must be rows of {n_classes} probabilities, one for each class")
    return np.array(rows)


def check_average(average: Average) -> None:
    """Raise `ModelFileError` if fields contradict each other, or if gridmodl could not have made the average."""
    check_one_of("prior", average.prior, PRIORS)
    for name in ("log_evidence", "p_missing_apart", "p_informative", "loo_loss", "neglected"):
        value = getattr(average, name)
        if value is not None and not math.isfinite(value):
            raise wrong(name, f"must be finite, got {value!r}")
    for name in ("p_missing_apart", "p_informative", "neglected"):
        value = getattr(average, name)
        if value is not None and not 0.0 <= value <= 1.0:
            raise wrong(name, f"must be a probability, got {value!r}")
    if average.loo_loss is not None and average.loo_loss < 0.0:
        raise wrong("loo_loss", f"must not be negative, got {average.loo_loss!r}")
    _check_sizes(average)
    _check_probabilities(average)
    _check_knots(average)
    _check_runs(average)


def _check_sizes(average: Average) -> None:
    counted, segments = average._counted, average.segments
    n = counted.n_intervals
    if not 1 <= n <= MAX_CANDIDATES + 2:
        raise wrong("segments", f"must be at most {MAX_CANDIDATES + 2} intervals, got {n}")
    rows = segments.rows
    if len(counted.values) != len(rows) or np.any(counted.values > rows) or np.any((counted.values > 0) != (rows > 0)):
        raise wrong("values", f"must be {len(rows)} numbers of distinct values, at most the rows of each part")
    if (average.p_missing_apart is None) != (segments.missing is None):
        raise wrong("p_missing_apart", "must be there if and only if there are missing values")


def _check_probabilities(average: Average) -> None:
    segments, p_parts = average.segments, average.p_parts
    if not len(p_parts) or not np.all((p_parts >= 0.0) & (p_parts <= 1.0)) or abs(p_parts.sum() - 1.0) > NEAR:
        raise wrong("p_parts", "must be probabilities that sum to 1")
    p_bounds = average.p_bounds
    if len(p_bounds) != len(segments.bounds) or not np.all((p_bounds >= 0.0) & (p_bounds <= 1.0)):
        raise wrong("p_bounds", f"must be {len(segments.bounds)} probabilities, one for each bound")
    shares = average.shares
    if shares.shape != (segments.n_parts, len(average.classes)):
        raise wrong("shares", f"must be {segments.n_parts} rows of {len(average.classes)} probabilities")
    if not np.all((shares >= 0.0) & (shares <= 1.0)) or np.any(np.abs(shares.sum(axis=1) - 1.0) > NEAR):
        raise wrong("shares", "must be probabilities that sum to 1 in each row")


def _check_knots(average: Average) -> None:
    knots, segments = average.knots, average.segments
    kind = segments.bounds.dtype.kind
    expected = np.dtype(np.float64) if kind == "f" else segments.bounds.dtype
    if knots.dtype != expected:
        raise wrong("knots", f"must be of {expected}, as bounds are of {segments.bounds.dtype}; got {knots.dtype}")
    n = average._counted.n_intervals - int(segments.is_missing_apart)
    if len(knots) != n and not (n == 1 and len(knots) == 0):
        raise wrong("knots", f"must be {n}, one for each segment, got {len(knots)}")
    if np.any(knots != knots) or not np.all(knots[1:] > knots[:-1]):
        raise wrong("knots", "must ascend")
    if segments.kind == "ordinal" and (np.any(knots < 0) or np.any(knots >= len(segments.levels))):
        raise wrong("knots", f"must be places of levels, whole numbers from 0 to {len(segments.levels) - 1}")


def _check_runs(average: Average) -> None:
    runs, counted = average._counted.runs, average._counted
    n = counted.n_intervals
    if not len(runs.zone) == len(runs.size) == len(runs.times) or set(runs.zone.tolist()) != set(range(1, n + 1)):
        raise wrong("runs", f"must have lists of one length, whose zones are 1 to {n}")
    most = max(1, int(counted.values[:n].sum()))
    n_places = sum(a * b for a, b in zip(runs.size.tolist(), runs.times.tolist(), strict=True))
    if n_places > most or (n_places != most and average.stopped is None):
        raise wrong("runs", f"must have {most} places, as many as there are distinct values, got {n_places}")


def write_averages(averages: Averages, path: str | os.PathLike[str] | None = None) -> str:
    """JSON text of the averages of many columns; also written to the file `path` unless None."""
    return write_checked(averages, _check_all, _record_of_all, path)


def read_averages(source: str | bytes | os.PathLike[str]) -> Averages:
    """Read averages from a JSON text (str or bytes) or from a file (str or path-like)."""
    return read_checked(source, _read_all, _check_all)


def _record_of_all(averages: Averages) -> dict[str, Any]:
    return {
        "format": FORMAT_OF_ALL,
        "version": VERSION,
        "gridmodl": __version__,
        "averages": [average_record(average) for average in averages.values()],
        "errors": [[write_value(name, "errors"), str(error)] for name, error in averages.errors.items()],
    }


def _read_all(record: Any) -> Averages:
    if not isinstance(record, dict) or record.get("format") != FORMAT_OF_ALL:
        raise ModelFileError(f"the text is no collection of gridmodl averages: its 'format' is not {FORMAT_OF_ALL!r}")
    read_version(record, VERSIONS)
    read_fields(record, "", FIELDS_OF_ALL)
    read_text(record["gridmodl"], "gridmodl")
    found: dict[Name, Average] = {}
    for i, raw in enumerate(read_list(record["averages"], "averages")):
        try:
            average = read_average_record(raw)
        except ModelFileError as error:
            raise wrong(f"averages[{i}]", str(error)) from error
        if average.name in found:
            raise wrong(f"averages[{i}]", f"is of column {shown(average.name)}, which has an average already")
        found[average.name] = average
    errors: dict[Name, Exception] = {}
    for i, pair in enumerate(read_list(record["errors"], "errors")):
        if not isinstance(pair, list) or len(pair) != 2:
            raise wrong(f"errors[{i}]", "must be a list of a name and a reason")
        errors[read_value(pair[0], f"errors[{i}][0]")] = ValueError(read_text(pair[1], f"errors[{i}][1]"))
    frame = next(iter(found.values())).frame if found else ARRAYS
    return Averages(found, errors, frame, in_order=False)


def _check_all(averages: Averages) -> None:
    if not averages:
        raise wrong("averages", "must not be empty")
    for i, (name, average) in enumerate(averages.items()):
        if name in averages.errors:
            raise wrong("errors", f"names column {shown(name)}, which has an average")
        try:
            check_average(average)
        except ModelFileError as error:
            raise wrong(f"averages[{i}]", str(error)) from error
