"""`DensityModel`, the result of `optimize_density`: intervals of one column, and the density of each."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.domain import Domain, domain_of, first_inside, in_engine, log_ratio
from gridmodl.data.frames import ARRAYS, make_frame, read_column, read_frame
from gridmodl.data.numbers import Numbers
from gridmodl.data.targets import encode_weights
from gridmodl.density.sample import read_numbers
from gridmodl.model.densities.histogram import Unit, shown_unit
from gridmodl.model.labels import counted, labels_of
from gridmodl.model.partition import Partition, as_type_of
from gridmodl.model.policy import NEUTRAL

METHODS = ("likelihood", "kernel", "equal width", "equal frequency")


@dataclass(frozen=True, eq=False)
class DensityModel:
    """A density that is constant in each part of one numerical column.

    With m rows in a part of width w, n rows in all and W the width of the domain, it is
    ``(m + w/W) / (w (n + 1))``: one more row is spread over the domain, so no density is 0 and no log-likelihood
    infinite. The density integrates to 1 over the domain. A value outside it has the probability of the outer part on
    its side, (m + w/W) / (n + 1), times 1/((m + 1) W): below any inside. It marks outliers, and belongs to no integral.

    Attributes
    ----------
    partition : Partition
        The parts; ``partition.bounds`` are the inner bounds, of the column's own type, ``partition.counts`` the rows.
    domain : ndarray of two
        Lower and upper end: the argument ``domain``, or the range of the rows. Values on a lattice, such as whole
        numbers, have half a step more at both ends, rounded down in integers and dates: each is as wide as a step.
    n_rows : int
        Number of rows, weights counted, without missing values.
    n_missing : int
        Number of rows with a missing value, weights counted; no other number includes them.
    method : {"likelihood", "kernel", "equal width", "equal frequency"}
        How the parts were found.
    kernel : str or None
        The kernel of ``method="kernel"``.
    path : ndarray
        Bounds in the order of the cuts; the first ones, as many as ``partition.bounds``, are those of the model.
        Empty for equal width and equal frequency.
    held_out : ndarray
        Mean log-likelihood of a held-out row by number of cuts: entry k is for k cuts, that is for k + 1 parts. Empty
        without cross-validation. Densities are per unit as in `densities`.
    n_folds : int
        Number of folds of the cross-validation; 0 without cross-validation, fewer than the argument ``n_folds`` if
        there are fewer rows or the time limit was reached.
    elapsed : float
        Seconds, without compilation.
    stopped : str or None
        Why the search was cut short: ``"time limit"`` or ``"interrupted"``.
    shares : ndarray
        Width of each part, as a share of the width of the domain.
    type : dtype
        Type of the column.
    frame : str
        Kind of frame of the data, and by default of `table`.
    """

    partition: Partition
    domain: NDArray[Any]
    n_rows: int
    n_missing: int
    method: str
    kernel: str | None
    path: NDArray[Any]
    held_out: NDArray[np.float64]
    n_folds: int
    elapsed: float
    stopped: str | None
    shares: NDArray[np.float64] = field(repr=False)
    type: np.dtype[Any] = field(repr=False)
    frame: str = field(default=ARRAYS, repr=False)

    @property
    def n_parts(self) -> int:
        """The number of parts."""
        return self.partition.n_parts

    @property
    def widths(self) -> NDArray[np.float64]:
        """The width of each part, in units of the column; for dates and durations in the unit of their type.

        Bounds of whole numbers beyond 2**53, dates and durations are rounded down to their type, widths are not.
        """
        return self.shares * self._domain.width

    @property
    def densities(self) -> NDArray[np.float64]:
        """The density of each part, per unit of the column; for dates and durations per unit of their type."""
        with np.errstate(over="ignore"):
            return np.exp(self.log_densities)

    @property
    def log_densities(self) -> NDArray[np.float64]:
        """The logarithm of the density of each part; finite in any unit."""
        rows = self.partition.counts[:, 0]
        return log_ratio(rows, self.shares, self.n_rows) - math.log(self._domain.width)

    def density(self, data: Any) -> NDArray[np.float64]:
        """The density at each value of `data`, per unit as in `densities`; NaN for a missing value.

        Infinite if it is beyond the largest float, in a domain narrower than 1e-308; see `log_density`.
        """
        with np.errstate(over="ignore"):
            return np.exp(self.log_density(data))

    def log_density(self, data: Any) -> NDArray[np.float64]:
        """The logarithm of `density` at each value of `data`; NaN for a missing value."""
        parts, logs = self._classes_of(data)
        return np.where(parts < 0, np.nan, logs[parts])

    def log_likelihood(self, data: Any, weights: Any = None) -> float:
        """The logarithm of the density, summed over the rows.

        Missing values have no density and are left out. To compare models of one column, compare sums over the same
        rows, or divide by the number of rows that are not missing.

        Parameters
        ----------
        data : array-like, series or frame of one column
            Values of the type of the column.
        weights : array-like of shape (n,), optional
            Whole numbers: a row of weight w counts as w rows.

        Examples
        --------
        >>> import gridmodl
        >>> model = gridmodl.optimize_density([0.0, 0.1, 0.2, 0.3, 4.0], max_parts=1)
        >>> round(model.log_likelihood([1.0, 2.0]), 6)  # twice log(1/4.1): half a step of 0.1 at both ends
        -2.821974
        """
        parts, logs = self._classes_of(data)
        rows = encode_weights(None if weights is None else read_column(weights, "weights"), len(parts))
        counts = np.bincount(parts + 1, rows, len(logs) + 1)[1:]
        return math.fsum((counts * logs).tolist())

    def transform(self, data: Any) -> NDArray[np.int64]:
        """The part of each value of `data`; -1 for a missing value. A value outside the domain is in an outer part."""
        column = self._column(data)
        if column is None:
            return np.empty(0, dtype=np.int64)
        return self.partition.part_of_encoded(column, NEUTRAL)

    def table(self, frame: str | None = None) -> Any:
        """One row per part: its rows, their share, its width and its density, per unit as in `widths` and `densities`.

        Parameters
        ----------
        frame : {"pandas", "polars", "pyarrow", "arrays"}, optional
            Kind of frame; by default that of the data, a dict of arrays for arrays.
        """
        rows = self.partition.counts[:, 0]
        columns = {
            "part": self.partition.labels, "rows": rows, "share": rows / self.n_rows, "width": self.widths,
            "density": self.densities,
        }  # fmt: skip
        return make_frame(columns, frame or self.frame)

    def summary(self) -> str:
        """The model as text: method, log-likelihood of held-out rows, and parts."""
        how = self.method + (f" ({self.kernel})" if self.kernel else "")
        stopped = f", stopped: {self.stopped}" if self.stopped else ""
        low, high = domain_ends(self)
        lines = [
            f"density of {self.partition.name} by {how}: {counted(self.n_parts, 'part')}",
            f"{rows_text(self)}; domain {low} to {high}; {self.elapsed:.3g} s{stopped}",
        ]
        if len(self.held_out):
            best, alone, how = held_out_texts(self)
            lines.append(f"log-likelihood per row held out ({how}) {best}, of one part {alone}")
        return "\n".join([*lines, "", *self._table_lines()])

    def _table_lines(self) -> list[str]:
        """The table of the parts as lines of text."""
        from gridmodl.model.labels import aligned
        from gridmodl.report.text import MAX_SHOWN

        unit = unit_of(self)
        table = unit.shown(self.table("arrays"))
        names, rows = self.partition.names, [["part", "rows", "share", unit.heads["density"]]]
        for i in range(min(self.n_parts, MAX_SHOWN)):
            values = table["rows"][i], table["share"][i], table["density"][i]
            rows.append([names[i], str(values[0]), f"{values[1]:.1%}", f"{values[2]:.4g}"])
        lines = aligned(rows)
        if self.n_parts > MAX_SHOWN:
            lines.append(f"  ... and {self.n_parts - MAX_SHOWN} more parts")
        return lines

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str | None = None,
        about: str | None = None,
        sections: Sequence[Any] = (),
    ) -> str:
        """The density as one HTML page that needs no network and no other file; also written to `path` if not None.

        Needs ``pip install "gridmodl[html]"``.

        Parameters
        ----------
        path : str or path-like, optional
            File to write; an existing file is replaced as a whole.
        title : str, optional
            Title of the page.
        about : str, optional
            What readers should know of the data and the target, below the title.
        sections : sequence, optional
            Other results on the same page, as in `Model.to_html`.

        Returns
        -------
        str
            The text of the page.
        """
        from gridmodl.report.html.sections import write_report

        return write_report(self, sections, path, title, about)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The model as JSON text, which `from_json` reads exactly; also written to `path` if not None."""
        from gridmodl.density.records import write_density

        return write_density(self, path)

    @staticmethod
    def from_json(source: str | bytes | os.PathLike[str]) -> DensityModel:
        """Read a model from `source`: JSON text (str or bytes) or the path of a file (str or path-like).

        A str that begins with a brace is JSON text, any other str is a path.
        """
        from gridmodl.density.records import read_density

        return read_density(source)

    def _classes_of(self, data: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Part of each value, -1 for a missing one, and the logarithm of the density of each part.

        The parts are one below the domain, those of the model, and one above the domain.
        """
        rows, column = self.partition.counts[[0, -1], 0], self._column(data)
        outer = log_ratio(rows, self.shares[[0, -1]], self.n_rows) + np.log(self.shares[[0, -1]])
        beyond = outer - np.log(rows + 1.0) - math.log(self._domain.width)
        logs = np.concatenate([beyond[:1], self.log_densities, beyond[1:]])
        if column is None:
            return np.empty(0, dtype=np.int64), logs
        parts = self.partition.part_of_encoded(column, NEUTRAL)
        if np.all(parts < 0):  # missing values are of any type
            return parts, logs
        values = in_engine(as_type_of(self.domain, self.partition.is_utc, column))  # rounded up, if at all
        low, high = in_engine(first_inside(self.domain, self.partition.step))
        return np.where(parts >= 0, parts + 1 - (values < low) + (values > high), -1), logs

    def _column(self, data: Any) -> Numbers | None:
        """The column as numbers; None if it has no rows."""
        frame = read_frame(data)
        if len(frame.columns) != 1:
            raise ValueError(f"the model is of column {self.partition.name!r} alone, data has {len(frame.columns)}")
        (raw,) = frame.columns.values()
        return read_numbers(raw, self.partition.name) if frame.n_rows else None

    @property
    def _domain(self) -> Domain:
        return domain_of(self.domain, self.type)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the density with matplotlib: `gridmodl.plot.DensityDisplay`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        options
            ``sample``, ``label`` and ``color``, as in ``plot`` of `gridmodl.plot.DensityDisplay`.

        Returns
        -------
        DensityDisplay
        """
        from gridmodl.plot import DensityDisplay

        return DensityDisplay.from_model(self).plot(ax, **options)

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        from gridmodl.report.notebook import density_html

        return density_html(self)

    def __repr__(self) -> str:
        how = self.method if self.kernel is None else f"{self.method}, {self.kernel}"
        return f"DensityModel({how!r}, {self.partition.name}: {self.n_parts} parts, {self.n_rows} rows)"


def rows_text(model: DensityModel) -> str:
    """The number of rows, and of further rows with a missing value."""
    return f"{model.n_rows} rows" + (f", {model.n_missing} more are missing" if model.n_missing else "")


def unit_of(model: DensityModel) -> Unit:
    """The unit in which summaries, plots and pages show widths and densities, such as days."""
    return shown_unit(model._domain)


def held_out_texts(model: DensityModel) -> tuple[str, str, str]:
    """Log-likelihood of a held-out row, the best and that of one part; and the folds and the unit of densities."""
    unit = unit_of(model)
    best, alone = (float(one) + math.log(unit.size) for one in (model.held_out.max(), model.held_out[0]))
    return f"{best:.4f}", f"{alone:.4f}", f"{model.n_folds} folds{f', density{unit.per}' if unit.name else ''}"


def domain_ends(model: DensityModel) -> list[str]:
    """Both ends of the domain as text, in the format of bounds; floats, which are values of the data, to ten digits."""
    domain = model.domain
    if domain.dtype.kind == "f":
        domain = np.array([float(f"{end:.10g}") for end in domain.tolist()])
    ends = Partition("", "numerical", np.zeros((3, 1), dtype=np.int64), domain, is_utc=model.partition.is_utc)
    low, high = labels_of(ends)[1][1:-1].split(", ")
    return [low, high]
