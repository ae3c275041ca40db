"""A density as text, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gridmodl.labels import counted, labels_of
from gridmodl.partition import Partition
from gridmodl.report.text import MAX_SHOWN, aligned

if TYPE_CHECKING:
    from gridmodl.density.model import DensityModel

UNITS = {
    "Y": "year", "M": "month", "W": "week", "D": "day", "h": "hour", "m": "minute", "s": "second", "ms": "millisecond",
    "us": "microsecond", "ns": "nanosecond", "ps": "picosecond", "fs": "femtosecond", "as": "attosecond",
}  # fmt: skip


def summary_of(model: DensityModel) -> str:
    """How the density was found, what held-out rows say of it, and its parts."""
    how = model.method + (f" ({model.kernel})" if model.kernel else "")
    stopped = f", stopped: {model.stopped}" if model.stopped else ""
    low, high = domain_ends(model)
    lines = [
        f"density of {model.partition.name} by {how}: {counted(model.n_parts, 'part')}",
        f"{rows_text(model)}; domain {low} to {high}; {model.elapsed:.3g} s{stopped}",
    ]
    if len(model.held_out):
        best, alone = model.held_out.max(), model.held_out[0]
        lines.append(f"log-likelihood per row held out ({model.n_folds} folds) {best:.4f}, of one part {alone:.4f}")
    return "\n".join([*lines, "", *_parts(model)])


def rows_text(model: DensityModel) -> str:
    return f"{model.n_rows} rows" + (f", {model.n_missing} more are missing" if model.n_missing else "")


def domain_ends(model: DensityModel) -> list[str]:
    """Both ends as bounds are shown."""
    ends = Partition("", "numerical", np.zeros((3, 1), dtype=np.int64), model.domain, is_utc=model.partition.is_utc)
    low, high = labels_of(ends)[1][1:-1].split(", ")
    return [low, high]


def _parts(model: DensityModel) -> list[str]:
    table = model.table("arrays")
    rows = [["part", "rows", "share", density_per(model)]]
    for i in range(min(model.n_parts, MAX_SHOWN)):
        values = table["rows"][i], table["share"][i], table["density"][i]
        rows.append([str(table["part"][i]), str(values[0]), f"{values[1]:.1%}", f"{values[2]:.4g}"])
    lines = aligned(rows)
    if model.n_parts > MAX_SHOWN:
        lines.append(f"  ... and {model.n_parts - MAX_SHOWN} more parts")
    return lines


def density_per(model: DensityModel) -> str:
    if model.type.kind not in "mM":
        return "density"
    unit, size = np.datetime_data(model.type)
    return f"density per {f'{size} {UNITS[unit]}s' if size != 1 else UNITS[unit]}"
