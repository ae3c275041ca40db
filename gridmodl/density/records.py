"""Read and write a density as JSON, with checks as strict as those of a model."""

from __future__ import annotations

import math
import operator
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl import __version__
from gridmodl.data.domain import domain_of
from gridmodl.density.fitting import KERNELS
from gridmodl.density.model import METHODS, DensityModel
from gridmodl.model.file.checks import check_one_of, check_run, check_step
from gridmodl.model.file.fields import MAX_INTEGER, ModelFileError, read_fields, read_integer, wrong
from gridmodl.model.file.files import read_checked, write_checked
from gridmodl.model.file.partitions import partition_record, read_partition
from gridmodl.model.file.records import VERSION, read_version
from gridmodl.model.file.values import (
    read_array,
    read_dtype,
    read_float,
    read_text,
    write_array,
    write_dtype,
    write_value,
)

FORMAT = "gridmodl density"
PARTITIONS_AS = {1: 3, 5: 5, VERSION: VERSION}  # version of a density: version of model files with the same partitions
FIELDS = (
    "format", "version", "gridmodl", "method", "kernel", "n_rows", "n_missing", "type", "domain", "partition",
    "shares", "path", "held_out", "n_folds", "elapsed", "stopped", "frame",
)  # fmt: skip
NEAR = 1e-6  # largest rounding error of a share of the domain


def write_density(model: DensityModel, path: str | os.PathLike[str] | None = None) -> str:
    """The density as JSON text, without its data; also written to `path` if not None."""
    return write_checked(model, check_density, _record, path)


def read_density(source: str | bytes | os.PathLike[str]) -> DensityModel:
    """Read a density from JSON text (str or bytes), or from the file at a path (str or path-like)."""
    return read_checked(source, _read_record, check_density)


def _record(model: DensityModel) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "gridmodl": __version__,
        "method": model.method,
        "kernel": model.kernel,
        "n_rows": operator.index(model.n_rows),
        "n_missing": operator.index(model.n_missing),
        "type": write_dtype(model.type, "type"),
        "domain": write_array(model.domain, "domain"),
        "partition": partition_record(model.partition, "partition"),
        "shares": write_array(model.shares, "shares"),
        "path": write_array(model.path, "path"),
        "held_out": write_array(model.held_out, "held_out"),
        "n_folds": operator.index(model.n_folds),
        "elapsed": float(model.elapsed),
        "stopped": write_value(model.stopped, "stopped"),
        "frame": model.frame,
    }


def _read_record(record: Any) -> DensityModel:
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise ModelFileError(f"the text is no gridmodl density: its 'format' is not {FORMAT!r}")
    version = read_version(record, PARTITIONS_AS)
    read_fields(record, "", FIELDS)
    read_text(record["gridmodl"], "gridmodl")
    n_rows = read_integer(record["n_rows"], "n_rows", 1, MAX_INTEGER)
    return DensityModel(
        partition=read_partition(record["partition"], "partition", n_rows, PARTITIONS_AS[version]),
        domain=read_array(record["domain"], "domain"),
        n_rows=n_rows,
        n_missing=read_integer(record["n_missing"], "n_missing", 0, MAX_INTEGER),
        method=read_text(record["method"], "method"),
        kernel=_text_or_none(record["kernel"], "kernel"),
        path=read_array(record["path"], "path"),
        held_out=read_array(record["held_out"], "held_out"),
        n_folds=read_integer(record["n_folds"], "n_folds", 0, MAX_INTEGER),
        elapsed=read_float(record["elapsed"], "elapsed"),
        stopped=_text_or_none(record["stopped"], "stopped"),
        shares=read_array(record["shares"], "shares"),
        type=read_dtype(record["type"], "type"),
        frame=read_text(record["frame"], "frame"),
    )


def _text_or_none(value: Any, place: str) -> str | None:
    return None if value is None else read_text(value, place)


def check_density(model: DensityModel) -> None:
    """Raise a `ModelFileError` if fields contradict each other, or if gridmodl could not have made the density."""
    check_one_of("method", model.method, METHODS)
    if (model.kernel in KERNELS) != (model.method == "kernel") or not (model.kernel is None or model.kernel in KERNELS):
        raise wrong("kernel", f"must be one of {', '.join(KERNELS)} for method kernel, else null, got {model.kernel!r}")
    check_run(model.elapsed, model.stopped, model.frame)
    _check_domain(model)
    _check_parts(model)
    _check_shares(model)
    _check_path(model)


def _check_domain(model: DensityModel) -> None:
    own, domain = model.type, model.domain
    if own.kind not in "iufmM" or own.byteorder == ">" or (own.kind in "iu" and own.itemsize != 8):
        raise wrong("type", f"must be a float, a 64-bit integer, a date or a duration of this machine, got {own}")
    expected = np.dtype(np.float64) if own.kind == "f" else own
    if domain.dtype != expected or domain.shape != (2,):
        raise wrong("domain", f"must be two values of {expected}, got {len(domain)} of {domain.dtype}")
    if np.any(domain != domain) or not domain[0] < domain[1] or not math.isfinite(domain_of(domain, own).width):
        raise wrong("domain", "must be finite and ascend")


def _check_parts(model: DensityModel) -> None:
    partition = model.partition
    if partition.kind != "numerical" or partition.missing is not None or len(partition.special):
        raise wrong("partition", "must be numerical, without missing values or special codes")
    if partition.is_utc and model.type.kind != "M":
        raise wrong("partition.is_utc", f"must be false, as {model.type} is no date")
    if partition.unlabelled is not None:
        raise wrong("partition.unlabelled", "must not be there, as a density has no classes")
    check_step(partition.step, domain_of(model.domain, model.type).width, "partition.step")
    bounds, counts = partition.bounds, partition.counts
    if bounds.dtype != model.type or not _are_inside(bounds, model) or not np.all(bounds[1:] > bounds[:-1]):
        raise wrong("partition.bounds", f"must ascend inside the domain and be of {model.type}")
    if counts.shape != (len(bounds) + 1, 1) or sum(counts[:, 0].tolist()) != model.n_rows:
        raise wrong("partition.counts", f"must be one column of {len(bounds) + 1} that sum to n_rows, {model.n_rows}")


def _are_inside(bounds: NDArray[Any], model: DensityModel) -> bool:
    return bool(np.all(bounds >= model.domain[0]) and np.all(bounds < model.domain[1]))


def _check_shares(model: DensityModel) -> None:
    """Check that shares agree with the bounds up to rounding: bounds, of the column's type, are less exact."""
    shares, bounds = model.shares, model.partition.bounds
    if shares.dtype != np.float64 or shares.shape != (len(bounds) + 1,) or not np.all(shares > 0.0):
        raise wrong("shares", f"must be {len(bounds) + 1} positive floats")
    below = np.cumsum(shares)
    domain = domain_of(model.domain, model.type)
    engine = bounds.view(np.int64) if bounds.dtype.kind in "mM" else bounds
    expected = domain.positions(engine) / domain.end
    unit = float(np.spacing(np.abs(bounds)).max(initial=0.0)) if model.type.kind == "f" else 1.0
    if abs(below[-1] - 1.0) > NEAR or np.any(np.abs(below[:-1] - expected) > NEAR + unit / domain.width):
        raise wrong("shares", "must be the widths of the parts, and sum to 1")


def _check_path(model: DensityModel) -> None:
    path, held_out, n_cuts = model.path, model.held_out, len(model.partition.bounds)
    if path.dtype != model.type or not _are_inside(path, model) or len(np.unique(path)) < len(path):
        raise wrong("path", f"must be distinct bounds inside the domain of {model.type}")
    is_cut = model.method in ("likelihood", "kernel")
    if len(path) and not is_cut:
        raise wrong("path", f"must be empty for method {model.method}")
    if is_cut and not np.array_equal(np.sort(path[:n_cuts]), model.partition.bounds):
        raise wrong("path", f"must begin with the {n_cuts} bounds of the partition")
    if held_out.dtype != np.float64 or not np.all(np.isfinite(held_out)) or (is_cut and len(held_out) > len(path) + 1):
        raise wrong("held_out", "must be finite floats, at most one more than the path has cuts")
    if (model.n_folds > 0) != (len(held_out) > 0):
        raise wrong("n_folds", f"must be positive if and only if held_out has entries, got {model.n_folds}")
