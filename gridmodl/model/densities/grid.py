"""The density of the rows of a joint grid, and of a partitioned target given its inputs.

With N_c of N rows in a cell, and C cells that have rows, its probability is (N_c + C s_c) / (N + C): one more row for
each cell with rows is spread over all cells, as if the columns were independent, so that no cell is impossible, however
many there are. s_c is the product of the shares s_i = (N_i + 1/I) / (N + 1) of the cell's parts, with N_i rows in the
part and I parts. The probabilities of the cells of some columns are of the same form, whatever the other columns. In a
cell, columns are independent; `spread` says how values lie in their parts.

A target's part has the probability (N_cj + C s_j) / (N_c + C) in a cell of the inputs with N_c rows, N_cj of them in
the part, and C parts of the target that have some of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.columns import ColumnWarning
from gridmodl.data.frames import ARRAYS, Frame, Name, make_frame, read_frame
from gridmodl.data.numbers import is_missing_value
from gridmodl.model.cells import Cells
from gridmodl.model.counts import input_cells, parts_of_cells, row_lines
from gridmodl.model.densities.conditional import Conditional
from gridmodl.model.densities.histogram import Histogram, histogram_of
from gridmodl.model.densities.spread import NumberSpread, Spread, spread_of
from gridmodl.model.partition import Partition
from gridmodl.model.policy import NEUTRAL
from gridmodl.spelling import check_columns, did_you_mean
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.model.model import Model

MAX_LISTED = 10  # categories that a message lists


class GridDensity(NamedTuple):
    """The density of the rows of a joint grid."""

    model: Model
    spreads: dict[Name, Spread]
    cells: Cells  # of all columns, those with one part too

    @property
    def n_spread(self) -> int:
        """Rows that are spread over all cells."""
        return len(self.cells.parts)

    def log_density(self, data: Any) -> NDArray[np.float64]:
        """Logarithm of the density of each row; NaN if a value belongs to no part."""
        frame = read_frame(data)
        columns = self.model._columns(frame, list(self.spreads))
        located = [spread.locate(columns[name]) for name, spread in self.spreads.items()]
        parts = [of_rows for of_rows, _ in located]
        cell = self.cells.cell_of(parts, frame.n_rows)
        spread_row = np.zeros(frame.n_rows)
        with np.errstate(divide="ignore"):
            for spread, of_rows in zip(self.spreads.values(), parts, strict=True):
                spread_row += np.log(spread.shares)[of_rows]
            counted = np.where(cell < 0, -np.inf, np.log(self.cells.rows)[cell])
        found = np.logaddexp(counted, np.log(self.n_spread) + spread_row) - np.log(self.model.n_rows + self.n_spread)
        for of_rows, logs in located:
            found = np.where(of_rows < 0, np.nan, found + logs)
        return np.asarray(found)

    def sample(self, n: int, random_state: int | None) -> Any:
        """Random rows: of a cell by its rows, or of parts by their shares, and values by their spread."""
        rng, n_rows = np.random.default_rng(random_state), self.model.n_rows
        cell = rng.choice(len(self.cells.parts), n, p=self.cells.rows / n_rows)
        is_spread = rng.random(n) * (n_rows + self.n_spread) >= n_rows
        found: dict[Any, Any] = {}
        for k, (name, spread) in enumerate(self.spreads.items()):
            parts = self.cells.parts[cell, k]
            shares = spread.shares / spread.shares.sum()
            parts[is_spread] = rng.choice(len(shares), int(np.count_nonzero(is_spread)), p=shares)
            drawn = spread.draw(parts, rng)
            found[name] = drawn.tolist() if drawn.dtype == object and self.model.frame != ARRAYS else drawn
        return make_frame(found, self.model.frame)

    def conditional(self, name: Name, given: Mapping[Name, Any]) -> Conditional:
        """The distribution of the column `name`, given values of others."""
        partition = self.model.partition(name)
        others = [other for other in self.spreads if other != name]
        check_columns("given", given, others)
        for other, value in given.items():
            _check_seen(self.model.partitions[other], value)
        parts = {other: _part_of(self.spreads[other], given[other]) for other in others if other in given}
        known = {other: np.array([part]) for other, part in parts.items() if part >= 0}
        table, line = self._lines(name, known, 1)
        return Conditional(partition, dict(given), table[line[0]], self.spreads[name])

    def _lines(
        self, name: Name, known: Mapping[Name, NDArray[np.int64]], n_rows: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Lines of probabilities of the parts of a column, and the line of each row, given its parts in others."""
        names, spread = list(self.spreads), self.spreads[name]
        of_known = [names.index(other) for other in known]
        cells = self.cells.over(of_known)
        rows = np.zeros((len(cells.parts), len(spread.shares)))
        number = cells.cell_of([self.cells.parts[:, k] for k in of_known], len(self.cells.parts))
        np.add.at(rows, (number, self.cells.parts[:, names.index(name)]), self.cells.rows)
        share = np.full(len(cells.parts), float(self.n_spread))
        for other, of_cells in zip(known, cells.parts.T, strict=True):
            share *= self.spreads[other].shares[of_cells]
        table = (rows + share[:, None] * spread.shares) / (rows.sum(axis=1) + share)[:, None]
        line = cells.cell_of(list(known.values()), n_rows)
        return np.vstack([table, spread.shares]), line  # the last, -1, if no training row has these parts

    def impute(self, name: Name, data: Any) -> NDArray[Any]:
        """Values of a column, with the mean or the most probable value in place of missing ones."""
        self.model.partition(name)
        frame = read_frame(data)
        if frame.n_rows == 0:
            return np.empty(0)
        columns = self.model._columns(frame, list(self.spreads))
        located = {other: spread.locate(columns[other])[0] for other, spread in self.spreads.items()}
        read = {other: spread.read(columns[other]) for other, spread in self.spreads.items()}
        spread, (found, is_missing) = self.spreads[name], read[name]
        rows, others = np.flatnonzero(is_missing), [other for other in self.spreads if other != name]
        is_known = np.column_stack([(located[other] >= 0) & ~read[other][1] for other in others])[rows]
        patterns, which = np.unique(is_known, axis=0, return_inverse=True)
        if len(rows) and spread.same_for_all:
            warnings.warn(
                f"column {name!r} has one part for all its values, which this grid takes as equally likely: "
                f"missing ones become {spread.same_for_all}, which is no estimate; fill it with its own "
                f"{'mean or median' if isinstance(spread, NumberSpread) else 'most frequent value'} instead",
                ColumnWarning, stacklevel=3,
            )  # fmt: skip
        for i, pattern in enumerate(patterns):
            mine = rows[which.ravel() == i]
            known = {other: located[other][mine] for other, is_there in zip(others, pattern, strict=True) if is_there}
            table, line = self._lines(name, known, len(mine))
            used, place = np.unique(line, return_inverse=True)
            found[mine] = spread.typical(table[used])[place]
        return found


class TargetDensity(NamedTuple):
    """The density of a partitioned target, given the inputs."""

    model: Model
    spread: Spread

    def log_density(self, data: Any) -> NDArray[np.float64]:
        """Logarithm of the density of the target of each row, given its inputs; NaN if it belongs to no part."""
        frame, name = read_frame(data), self.spread.partition.name
        if not frame.has_names or name not in frame.columns:
            raise ValueError(
                f"the density is of the target {name!r} given the inputs: data must have this column beside them"
            )
        parts, logs = self.spread.locate(frame.columns[name])
        table, line = self._lines(frame)
        return np.where(parts < 0, np.nan, np.log(table[line, parts]) + logs)

    def _lines(self, frame: Frame) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Lines of probabilities of the parts of the target, and the line of each row."""
        columns = {} if not self.model.informative else self.model._columns(frame, self.model.informative)
        partitions = self.model.partitions
        parts = [partitions[name].part_of_column(columns[name], NEUTRAL) for name in self.model.informative]
        return self._of_parts(parts, frame.n_rows)

    def _of_parts(
        self, parts: Sequence[NDArray[np.int64]], n_rows: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Lines of probabilities, and the line of each row, given its part in each informative input, -1 for none."""
        cells = input_cells(self.model)
        line, besides = row_lines(cells, parts, n_rows)
        rows = [cells.counts, cells.counts.sum(axis=0, keepdims=True), *(cells.over(known).counts for known in besides)]
        counts = np.concatenate(rows)
        return self.probabilities(counts), line

    def probabilities(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Probabilities of the parts of the target, given the rows of each in a cell of the inputs, line by line."""
        n_spread = np.count_nonzero(counts, axis=1)[:, None]
        return np.asarray((counts + n_spread * self.spread.shares) / (counts.sum(axis=1, keepdims=True) + n_spread))

    def conditional(self, name: Name, given: Mapping[Name, Any]) -> Conditional:
        """The distribution of the target, given values of inputs."""
        target = self.spread.partition.name
        if name != target:
            raise ValueError(f"this model ({self.model.problem}) is of its target alone: name must be {target!r}")
        partitions = self.model.partitions
        check_columns("given", given, list(partitions))
        for other, value in given.items():
            _check_seen(partitions[other], value)
        parts = [
            partitions[other].part_of([given[other]], "neutral", "neutral") if other in given else np.array([-1])
            for other in self.model.informative
        ]
        table, line = self._of_parts(parts, 1)
        return Conditional(self.spread.partition, dict(given), table[line[0]], self.spread)

    def sample(self, n: int, random_state: int | None) -> Any:
        """Raise ValueError: nothing is known of the density of the inputs."""
        raise ValueError(
            f"this model ({self.model.problem}) is of its target given the inputs: "
            f"conditional({self.spread.partition.name!r}, given).sample({n}) draws targets for a row of inputs"
        )

    def impute(self, name: Name, data: Any) -> NDArray[Any]:
        """Raise ValueError: nothing is known of the density of the inputs."""
        raise ValueError(
            f"this model ({self.model.problem}) is of its target given the inputs: predict gives the target of rows; "
            "optimize without a target makes a model that imputes any column"
        )


def density_of(model: Model) -> Histogram | GridDensity | TargetDensity:
    """The density of a model; raise ValueError if it has none."""
    kind = PROBLEMS[model.problem]
    if kind.has_widths:
        return histogram_of(model)
    if kind.has_classes:
        raise ValueError(
            f"this model ({model.problem}) has no density: predict_proba gives the probabilities of its classes. "
            "optimize without a target makes the density of one column, or of several together"
        )
    if model.target is not None:
        return TargetDensity(model, spread_of(model.target))
    parts = np.column_stack([parts_of_cells(model, partition) for partition in model.partitions.values()])
    spreads = {name: spread_of(partition) for name, partition in model.partitions.items()}
    cells = Cells(tuple(spreads), parts, model.cells.counts).over(range(len(spreads)))  # sorted, as look-ups need
    return GridDensity(model, spreads, cells)


def _check_seen(partition: Partition, value: Any) -> None:
    """Raise ValueError if `value` is a category that training did not have, and not missing."""
    if partition.kind == "numerical" or partition.default is not None or is_missing_value(value):
        return
    if partition.part_of([value], "neutral", "neutral")[0] >= 0:
        return
    known = [one for group in partition.groups for one in group if one is not None]
    listed = ", ".join(map(repr, known[:MAX_LISTED])) + ", ..." * (len(known) > MAX_LISTED)
    raise ValueError(
        f"given has {value!r} of column {partition.name!r}, which training did not have; it had {listed}"
        f"{did_you_mean(value, known)}"
    )


def _part_of(spread: Spread, value: Any) -> int:
    """Part of a single value, -1 for none."""
    frame = read_frame([value], f"column {spread.partition.name!r}")
    return int(spread.locate(next(iter(frame.columns.values())))[0][0])
