"""What `optimize` returns: a partition of each variable, its cost, and how it was found."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gridmodl.cells import Cells
from gridmodl.frames import ARRAYS, Frame, Name, make_frame, read_frame
from gridmodl.partition import Partition
from gridmodl.terms import Criterion

if TYPE_CHECKING:
    from gridmodl.report.rules import Rule
    from gridmodl.table import Table


@dataclass(frozen=True, eq=False)
class Model:
    """The best partition found, and what it is worth.

    Attributes
    ----------
    cost, null_cost : float
        Of this grid and of the one with a single part per variable, in nats under ``modl``.
    level : float
        ``1 - cost / null_cost``: 0 explains nothing; 0 too where the null cost is 0. Below 0 only where the user has
        forced parts that cost more than they explain: special codes, or a partition of his own.
    criterion : str
        Its name; ``options`` holds its options.
    problem : str
        Which kind of problem it priced, a key of `gridmodl.terms.PROBLEMS`.
    n_rows : int
        Rows, each counted as often as its weight says.
    classes : ndarray
        The target's classes, in the order of the columns of ``counts``.
    partitions : dict of str to Partition
        By column name.
    proven : bool
        Whether no partition that keeps the limits is cheaper.
    search : str
        The search that was run; ``"given"`` for a partition of the user's own.
    stopped : str or None
        Why it was cut short: ``"time limit"`` or ``"interrupted"``.
    elapsed : float
        Seconds.
    delta : float or None
        Of a model made by `edit`: how much it costs more than the one it was made from.
    left_out : dict of str to str
        Columns with one part, and why.
    optima : tuple of Model
        Distinct local optima that the search kept (``Search(keep_optima=n)``), the cheapest first, each with the
        partitions of its informative columns.
    """

    cost: float
    null_cost: float
    criterion: str
    problem: str
    n_rows: int
    classes: NDArray[Any]
    partitions: Mapping[Name, Partition]
    proven: bool
    search: str
    elapsed: float
    stopped: str | None = None
    options: Mapping[str, bool | int | float] = field(default_factory=dict)
    delta: float | None = None
    frame: str = ARRAYS  # the kind of frame that the user has
    left_out: Mapping[Name, str] = field(default_factory=dict)
    optima: tuple[Model, ...] = field(default=(), repr=False)
    _cells: Cells | None = field(default=None, repr=False)  # of a grid; those of one variable follow from its parts
    _source: tuple[Table, Criterion] | None = field(default=None, repr=False)  # for `edit`; never saved

    @property
    def level(self) -> float:
        return 1.0 - self.cost / self.null_cost if self.null_cost != 0.0 else 0.0

    @property
    def cells(self) -> Cells:
        """The non-empty cells: the parts they combine, and the rows of each class in them."""
        return self._cells if self._cells is not None else _cells_of_one(self.partitions)

    @property
    def informative(self) -> list[Name]:
        """The columns with more than one part."""
        return list(self.cells.names)

    @staticmethod
    def from_partitions(
        data: Any,
        target: Any,
        partitions: Mapping[Name, Any],
        *,
        criterion: str | Criterion = "modl",
        weights: Any = None,
        kinds: Mapping[Name, str] | None = None,
        special: Mapping[Name, Any] | None = None,
        target_kind: str | None = None,
    ) -> Model:
        """A model of partitions that the user decided, at their true cost.

        Parameters
        ----------
        partitions : dict
            By column name: the inner bounds of a numerical one, ascending (a value on a bound
            belongs to the interval below; a first bound of NaN or NaT keeps missing values apart); the groups of a
            categorical one, a list of lists of values (None stands for missing); or a `Partition`. A column that is
            left out has one part. Parts without a row stay in the model but do not count in its cost.

        Other parameters are those of `optimize`.

        Examples
        --------
        >>> import gridmodl
        >>> model = gridmodl.Model.from_partitions([1, 2, 3, 4], ["a", "a", "b", "b"], {"x0": [2.5]})
        >>> round(model.cost, 4)
        5.193
        """
        from gridmodl.decisions import model_of_partitions

        return model_of_partitions(data, target, partitions, criterion, weights, kinds, special, target_kind)

    def edit(self, name: Name, *, bounds: Any = None, groups: Any = None) -> Model:
        """The model with another partition of column `name`, at its true cost; ``delta`` says how much worse it is.

        Needs the data that this model was made from, which is there in the session that made it: for a model from a
        file or a pickle use `Model.from_partitions`.

        Parameters
        ----------
        name : str
            The column.
        bounds : sequence, optional
            Inner bounds, for a numerical column; its special codes stay apart.
        groups : sequence of sequences, optional
            Values of each group, for a categorical column.

        Examples
        --------
        >>> import gridmodl
        >>> model = gridmodl.optimize([1.0, 1.5, 2.0, 2.5, 7.0, 7.5, 8.0, 8.5], [0, 0, 0, 0, 1, 1, 1, 1])
        >>> model.edit("x0", bounds=[2.2, 5.0]).delta > 0
        True
        """
        from gridmodl.decisions import edited

        return edited(self, name, bounds, groups)

    def transform(self, data: ArrayLike, unknown: str | int = "default") -> NDArray[np.int64]:
        """The part of each row: shape (n,) for a single column, (n, number of columns) for a table.

        Parameters
        ----------
        data : array-like or frame
            A frame may have further columns.
        unknown : {"default", -1, "error"}
            What becomes of a category that was never seen: the group ``Partition.default``, the number -1, or a
            ValueError. Missing values that were never seen go to the lowest interval of a numerical variable and are
            unknown for a categorical one.
        """
        frame = read_frame(data)
        parts = [
            self.partitions[name].part_of_column(raw, unknown)
            for name, raw in self._columns(frame, list(self.partitions)).items()
        ]
        return parts[0] if frame.is_column else np.column_stack(parts)

    def cell_of(self, data: Any, unknown: str | int = "default") -> NDArray[np.int64]:
        """The number of the cell of each row, as in ``cells``; -1 for a combination of parts that no row had.

        A frame needs the informative columns only.
        """
        frame, names = read_frame(data), self.informative
        columns = self._columns(frame, names)
        if not names:
            return np.zeros(frame.n_rows, dtype=np.int64)
        return self.cells.cell_of([self.partitions[name].part_of_column(columns[name], unknown) for name in names])

    def predict_proba(self, data: Any, unknown: str | int = "default") -> NDArray[np.float64]:
        """The share of each class in the cell of each row, in the order of ``classes``; of all rows for an empty cell.

        Shares are as they were counted, without smoothing.
        """
        cells = self.cells
        overall = cells.counts.sum(axis=0) / cells.counts.sum()
        return np.vstack([cells.shares(), overall])[self.cell_of(data, unknown)]

    def rules(self) -> list[Rule]:
        """One rule for each cell, in words, with its rows and the shares of their classes; the most frequent first."""
        from gridmodl.report.rules import rules_of

        return rules_of(self)

    def cell_table(self, frame: str | None = None) -> Any:
        """One row per cell, the most frequent first: its part of each column, rows, rows and shares of each class."""
        from gridmodl.report.rules import cell_columns

        return make_frame(cell_columns(self), frame or self.frame)

    def _columns(self, frame: Frame, names: Sequence[Name]) -> dict[Name, Any]:
        """These columns of the model in a frame, by name, or by position where the data has no names."""
        if not frame.has_names and len(frame.columns) != len(self.partitions):
            raise ValueError(f"data has {len(frame.columns)} columns; the model has {len(self.partitions)}")
        if not frame.has_names or (frame.is_column and len(self.partitions) == 1):
            return dict(zip(self.partitions, frame.columns.values(), strict=True))
        absent = [name for name in names if name not in frame.columns]
        if absent:
            known = ", ".join(repr(name) for name in list(frame.columns)[:20])
            raise ValueError(f"the model needs column {absent[0]!r}; the data has {known}")
        return {name: frame.columns[name] for name in names}

    def table(self, name: Name | None = None, frame: str | None = None) -> Any:
        """One row per part: rows, share of all rows, rows and shares of each class.

        With two classes also the log-odds (weight of evidence) of the second class, the part's information value and
        its lift; see `gridmodl.report.parts` for the formulas.

        Parameters
        ----------
        name : str, optional
            The column; may be left out where the model has one.
        frame : {"pandas", "polars", "pyarrow", "arrays"}, optional
            The kind of frame; by default the kind that the model was made from, a dict of arrays for arrays.
        """
        from gridmodl.report.parts import columns_of

        if name is None and len(self.partitions) == 1:
            name = next(iter(self.partitions))
        if name not in self.partitions:
            known = ", ".join(repr(known) for known in self.partitions)
            raise ValueError(f"name must be one of the columns {known}, got {name!r}")
        return make_frame(columns_of(self.partitions[name], self.classes), frame or self.frame)

    def summary(self) -> str:
        """The model as text."""
        from gridmodl.report.text import summary_of

        return summary_of(self)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The model as a JSON text, also written to `path` if that is given; `from_json` reads it exactly."""
        from gridmodl.modelfile import write_model

        return write_model(self, path)

    @staticmethod
    def from_json(source: str | bytes | os.PathLike[str]) -> Model:
        """The model of a JSON text (a str or bytes) or of a file (a `pathlib.Path`)."""
        from gridmodl.modelfile import read_model

        return read_model(source)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_source": None}  # a pickle holds the model, not the data

    def __repr__(self) -> str:
        shown = self.partitions if len(self.partitions) == 1 else self.informative
        parts = ", ".join(f"{name}: {self.partitions[name].n_parts} parts" for name in shown) or "no column informative"
        return f"Model({self.criterion!r}, {parts}, cost={self.cost:.6f}, level={self.level:.4f})"


def _cells_of_one(partitions: Mapping[Name, Partition]) -> Cells:
    (partition,) = partitions.values()
    filled = np.flatnonzero(partition.counts.any(axis=1))
    counts = partition.counts[filled]
    if len(filled) == 1:
        return Cells((), np.zeros((1, 0), dtype=np.int64), counts)
    return Cells((partition.name,), filled[:, None].astype(np.int64), counts)
