"""What `optimize` returns: a partition of each variable, its cost, and how it was found."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gridmodl.data.frames import ARRAYS, Frame, Name, make_frame, read_frame
from gridmodl.data.targets import NOT_GIVEN
from gridmodl.model.cells import Cells, cells_of_parts
from gridmodl.model.counts import class_shares, mutual_information_of
from gridmodl.model.labels import counted, level_text
from gridmodl.model.partition import Partition
from gridmodl.model.target_quantiles import Prediction, Spread
from gridmodl.search.proof import Certificate
from gridmodl.spelling import did_you_mean
from gridmodl.terms import Criterion, level_of

if TYPE_CHECKING:
    from gridmodl.analysis.explain import Explanation
    from gridmodl.analysis.hierarchy import Hierarchy
    from gridmodl.data.table import Table
    from gridmodl.report.tables import Rule


@dataclass(frozen=True, eq=False)
class Model:
    """The best partition found, and what it is worth.

    Attributes
    ----------
    cost, null_cost : float
        Of this grid and of the one with a single part per variable, in nats under ``modl``.
    level : float or None
        ``1 - cost / null_cost``: 0 explains nothing; 0 too where the null cost is 0. Below 0 only where the user has
        forced parts that cost more than they explain: special codes, or a partition of his own. None where one of the
        two is negative, as they may be under criteria that are no code lengths: compare costs there.
    criterion : str
        Its name.
    options : dict of str to bool, int or float
        Those of the criterion.
    problem : str
        Which kind of problem it priced, a key of `gridmodl.terms.PROBLEMS`.
    n_rows : int
        Rows, each counted as often as its weight says, those without a class among them.
    classes : ndarray
        The target's classes, in the order of the columns of ``counts``; those of a target whose classes are grouped,
        in sorted order. Empty without a class target.
    partitions : dict of str to Partition
        By column name.
    target : Partition or None
        The groups of classes, or the intervals of a numerical target, where the target is partitioned too. Named as
        its column, or ``"target"``.
    proven : bool
        Whether no partition that keeps the limits is cheaper.
    gap : float or None
        0 if it is proven; else what the cost is above the optimum at most, and None where no floor is known.
    certificate : Certificate or None
        What proves that, for `gridmodl.verify`.
    search : str
        The search that was run; ``"given"`` for a partition of the user's own.
    stopped : str or None
        Why it was cut short: ``"time limit"`` or ``"interrupted"``.
    elapsed : float
        Seconds from the call on, those of compiling not counted.
    delta : float or None
        Of a model made by `edit` or `coarsen`: how much it costs more than the one it was made from.
    left_out : dict of str to str
        Of a grid over several columns, those with one part, and why.
    optima : tuple of Model
        Distinct local optima that the search kept (``Search(keep_optima=n)``), the cheapest first, each with the
        partitions of its informative columns.
    frame : str
        The kind of frame that the data came in, which `table` gives back.
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
    target: Partition | None = None
    certificate: Certificate | None = field(default=None, repr=False)
    _cells: Cells | None = field(default=None, repr=False)  # of a grid; those of one variable follow from its parts
    _class_rows: NDArray[np.int64] | None = field(default=None, repr=False)  # where classes are grouped
    _spread: Spread | None = field(default=None, repr=False)  # of a numerical target, in the parts of the column
    _source: tuple[Table, Criterion] | None = field(default=None, repr=False)  # for `edit`; never saved

    @property
    def level(self) -> float | None:
        return level_of(self.cost, self.null_cost)

    @property
    def gap(self) -> float | None:
        if self.proven:
            return 0.0
        return None if self.certificate is None else max(0.0, self.cost - self.certificate.lowest)

    @property
    def cells(self) -> Cells:
        """The non-empty cells: the parts they combine, those of a target among them, and their rows by class."""
        if self._cells is not None:
            return self._cells
        ((name, partition),) = self.partitions.items()
        return cells_of_parts(name, partition.counts, partition.unlabelled)

    @property
    def all_partitions(self) -> dict[Name, Partition]:
        """By name, the partitions of the columns and of a target that is partitioned too, as `from_partitions` takes
        them."""
        return {**self.partitions} if self.target is None else {**self.partitions, self.target.name: self.target}

    @property
    def informative(self) -> list[Name]:
        """The columns with more than one part."""
        return [name for name in self.cells.names if name in self.partitions]

    @property
    def class_rows(self) -> NDArray[np.int64]:
        """Rows of each class, in the order of ``classes``; rows without one are in none."""
        if self._class_rows is not None:
            return self._class_rows
        return self.cells.counts.sum(axis=0) if len(self.classes) else np.empty(0, dtype=np.int64)

    @property
    def mutual_information(self) -> float:
        """How many nats the parts tell of one another, per row: of two variables their mutual information, of more
        their total correlation. With classes, what the cells tell of them."""
        return mutual_information_of(self)

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
        unlabelled: Any = NOT_GIVEN,
    ) -> Model:
        """A model of partitions that the user decided, at their true cost.

        Parameters
        ----------
        data : array-like, frame, dict of columns or sparse matrix
            As of `optimize`.
        target : str, array-like or None
            None for a joint grid.
        partitions : dict
            By column name: the inner bounds of a numerical one, ascending (a value on a bound
            belongs to the interval below; a first bound of NaN or NaT keeps missing values apart); the groups of a
            categorical one, a list of lists of values (None stands for missing); or a `Partition`. A column that is
            left out has one part. Parts without a row stay in the model but do not count in its cost. A target that
            is partitioned too has its groups of classes or bounds here, under its name (``"target"`` where it has
            none).
        criterion, weights, kinds, special, target_kind, unlabelled
            As of `optimize`.

        Notes
        -----
        There is no ``placement``, as given bounds have their places: with
        ``unlabelled`` all rows are priced, by the semi-supervised criterion. A model with ``placement="median"`` is
        priced on its labelled rows alone: give these, without ``unlabelled``, for its cost.

        Examples
        --------
        >>> import gridmodl
        >>> model = gridmodl.Model.from_partitions([1, 2, 3, 4], ["a", "a", "b", "b"], {"x0": [2.5]})
        >>> round(model.cost, 4)
        5.193
        """
        from gridmodl.fit.build import model_of_partitions

        return model_of_partitions(
            data, target, partitions, criterion, weights, kinds, special, target_kind, unlabelled
        )

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
        from gridmodl.fit.build import edited

        return edited(self, name, bounds, groups)

    def transform(self, data: ArrayLike, unknown: str | int = "default") -> NDArray[np.int64]:
        """The part of each row: shape (n,) for a single column, (n, number of columns) for a table.

        Parameters
        ----------
        data : array-like, frame or sparse matrix
            A frame may have further columns. A sparse matrix has a row for each entry that is not zero, row by row and
            in each row by column.
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

        `data` and `unknown` are as in `transform`. A frame needs the informative columns only, and that of a target
        that is partitioned too.
        """
        frame, names = read_frame(data), list(self.cells.names)
        if self.target is not None and self.target.name in names:
            if not frame.has_names or self.target.name not in frame.columns:
                raise ValueError(
                    f"a cell combines a part of each of {', '.join(map(repr, names))}: data must have these columns; "
                    "for the part of an input alone use transform"
                )
            columns = {name: frame.columns[name] for name in names if name in frame.columns}
        else:
            columns = self._columns(frame, names)
        if not names:
            return np.zeros(frame.n_rows, dtype=np.int64)
        return self.cells.cell_of([self.partition(name).part_of_column(columns[name], unknown) for name in names])

    def part_of(self, name: Name, values: Any, unknown: str | int = "default") -> NDArray[np.int64] | int:
        """The part of each value of one variable, or of a single one; of the target too where it is partitioned.

        Parameters
        ----------
        name : str
            The column, or the name of ``target``.
        values : array-like of shape (n,), or a single value
            Of the type that the column had.
        unknown : {"default", -1, "error"}
            What becomes of a value that was never seen, as in `Partition.part_of`.
        """
        partition = self.partition(name)
        if isinstance(values, (str, bytes)) or np.ndim(values) == 0:
            return int(partition.part_of([values], unknown)[0])
        return partition.part_of(values, unknown)

    def partition(self, name: Name) -> Partition:
        """The partition of the column `name`, or of the target under its name."""
        known = self.all_partitions
        if not isinstance(name, Hashable) or name not in known:
            raise ValueError(
                f"name must be one of the columns {', '.join(map(repr, known))}, got {name!r}"
                f"{did_you_mean(name, known)}"
            )
        return known[name]

    def typical_values(self, name: Name, n: int = 5) -> list[tuple[Any, ...]]:
        """The `n` most typical values of each group of the variable `name`: those that would cost most to move.

        Of models without classes, and of those whose target is partitioned too.
        """
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
            raise ValueError(f"n must be a whole number of at least 1, got {n!r}")
        partition = self.partition(name)
        if partition.kind != "categorical":
            raise ValueError(f"column {name!r} is numerical: it has intervals, and no values of which some are typical")
        if partition.n_values is None:
            raise ValueError("typical values are of models without a target, or with one that is partitioned too")
        return [group[:n] for group in partition.groups]

    def predict_proba(self, data: Any, unknown: str | int = "default") -> NDArray[np.float64]:
        """The share of each class in the cell of each row, in the order of ``classes``; of all rows for an empty cell.

        Shares are of the rows with a class and as they were counted, without smoothing. Where classes are grouped, a
        class has its share of the rows of its group: P(class | part) = P(group | part) P(class | group).
        `data` and `unknown` are as in `transform`.
        """
        return class_shares(self)[self._place_of(data, unknown)]

    def predict(self, data: Any, unknown: str | int = "default", coverage: float = 0.9) -> NDArray[Any] | Prediction:
        """What the target most likely is: a class for each row, or mean and quantiles of a numerical target.

        Parameters
        ----------
        data : array-like or frame
            The input columns.
        unknown : {"default", -1, "error"}
            As in `transform`; with -1 a category that was never seen gets what holds for all rows.
        coverage : float
            Of a numerical target: the share of rows in the interval from ``lower`` to ``upper``.

        Returns
        -------
        ndarray or Prediction
            The most frequent class of each row's cell, of equals the first in ``classes``. For a numerical target a
            `Prediction` of four arrays, mean, median, lower and upper: those of the rows that were in the same part.
        """
        if self._spread is not None:
            return self._spread.predict(self._place_of(data, unknown), coverage)
        likeliest = class_shares(self).argmax(axis=1)
        return np.asarray(self.classes[likeliest[self._place_of(data, unknown)]])

    def _place_of(self, data: Any, unknown: str | int) -> NDArray[np.int64]:
        """The cell of each row; where the target is partitioned too, the part of the column."""
        if self.target is None:
            return self.cell_of(data, unknown)
        ((name, partition),) = self.partitions.items()
        return partition.part_of_column(self._columns(read_frame(data), [name])[name], unknown)

    def hierarchy(self) -> Hierarchy:
        """The merges that lead from this grid to a single cell, the cheapest first: a dendrogram of each variable.

        Of models without classes, and of those whose target is partitioned too.
        """
        from gridmodl.analysis.hierarchy import hierarchy_of
        from gridmodl.analysis.model_task import ModelTask

        return hierarchy_of(ModelTask(self))

    def coarsen(
        self,
        max_cells: int | None = None,
        max_parts: int | Mapping[Name, int] | None = None,
        information: float | None = None,
    ) -> Model:
        """A coarser grid on the way from this one to a single cell, at its exact price; see `hierarchy`.

        The finest that keeps the limits (which can cost more than one cell, if they leave next to nothing); with
        ``information`` the coarsest that keeps so much. Of models without
        classes, and of those whose target is partitioned too.

        Parameters
        ----------
        max_cells : int, optional
            At most so many cells, empty ones included.
        max_parts : int or dict of str to int, optional
            At most so many parts of each variable, or of those named.
        information : float, optional
            At least this share, from 0 to 1, of what the grid saves against the null grid; given with limits, the grid
            must keep these too.
        """
        from gridmodl.analysis.coarsening import coarsened

        return coarsened(self, max_cells, max_parts, information)

    def rules(self) -> list[Rule]:
        """One rule for each cell, in words, with its rows and the shares of their classes; the most frequent first.

        Of models with classes that are not grouped.
        """
        from gridmodl.report.tables import rules_of

        return rules_of(self)

    def cell_table(self, frame: str | None = None) -> Any:
        """One row per cell, the most frequent first: its part of each column, rows, rows and shares of each class.

        Without classes, or where they are partitioned too: ``density``, rows for each combination of values of its
        parts (of a matrix of zeros and ones the share that is filled); ``lift``, its share of the rows over the product
        of those of its parts; and ``mutual_information``, what it adds to that of the grid.

        The kind of `frame` is as in `table`.
        """
        from gridmodl.report.tables import cell_columns

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
            raise ValueError(
                f"the model needs column {absent[0]!r}; the data has {known}{did_you_mean(absent[0], frame.columns)}"
            )
        return {name: frame.columns[name] for name in names}

    def table(self, name: Name | None = None, frame: str | None = None) -> Any:
        """One row per part: rows, share of all rows, rows and shares of each class.

        Without classes also the number of distinct values; where classes are grouped the share of each group, where the
        target is numerical its mean and quantiles in each part.

        With two classes also the log-odds (weight of evidence) of the second class, the part's information value and
        its lift; see `gridmodl.report.tables` for the formulas.

        Parameters
        ----------
        name : str, optional
            The column, or the name of the target where that is partitioned; may be left out where the model has one.
        frame : {"pandas", "polars", "pyarrow", "arrays"}, optional
            The kind of frame; by default the kind that the model was made from, a dict of arrays for arrays.
        """
        from gridmodl.report.tables import columns_of

        if name is None and len(self.partitions) == 1:
            name = next(iter(self.partitions))
        return make_frame(columns_of(self, self.partition(name)), frame or self.frame)

    def summary(self) -> str:
        """The model as text."""
        from gridmodl.report.text import summary_of

        return summary_of(self)

    def explain(
        self,
        variable: Name | None = None,
        *,
        data: Any = None,
        target: Any = None,
        weights: Any = None,
        unlabelled: Any = NOT_GIVEN,
        placement: str | None = None,
        time_limit: float | None = None,
    ) -> Explanation:
        """Why a variable has so many parts and not one more or fewer, or why it is out: what the others would cost.

        Each alternative is another partition of the variable with the rest of the model as it is, at its exact price,
        split into the terms of the criterion. Limits such as ``max_parts`` are not kept by alternatives.

        Parameters
        ----------
        variable : str, optional
            The column, or the name of the target where that is partitioned; may be left out where the model has one.
        data, target, weights, unlabelled, placement : optional
            As they were given to `optimize`; needed for a model from a file, a pickle or ``optima``. Without its data
            a model can price merges of its parts, and no others.
        time_limit : float, optional
            Seconds for the search of alternatives, after which it gives what it has; so does Ctrl-C.

        Returns
        -------
        Explanation
            ``print`` says it in words, ``table`` has the numbers.

        Examples
        --------
        >>> import gridmodl
        >>> model = gridmodl.optimize([1.0, 1.5, 2.0, 2.5, 7.0, 7.5, 8.0, 8.5], [0, 0, 0, 0, 1, 1, 1, 1])
        >>> why = model.explain()
        >>> why.fewer.n_parts, round(why.fewer.delta, 3)  # what one part costs more
        (1, 1.03)
        >>> why.more.n_parts, round(why.more.delta, 3)
        (3, 2.079)
        """
        from gridmodl.analysis.explain import explain

        return explain(self, variable, data, target, weights, unlabelled, placement, time_limit)

    def to_html(self, path: str | os.PathLike[str] | None = None, *, title: str | None = None) -> str:
        """The model as one HTML page, also written to `path` if that is given; it needs no network and no other file.

        It has the variables with plots, and the cells of a grid in a table and a heat map; where the model has a
        `hierarchy`, a slider makes the grid coarser. Needs ``pip install "gridmodl[html]"``.

        Parameters
        ----------
        path : str or path-like, optional
            Where to write it too; a file that is there is replaced as a whole.
        title : str, optional
            What the page is called.

        Returns
        -------
        str
            The text of the page.
        """
        from gridmodl.report.html.documents import document_of_model
        from gridmodl.report.html.page import write_page

        return write_page(document_of_model(self), self.summary(), title, path)

    def to_sql(
        self,
        dialect: str,
        table: str | Sequence[str] = "data",
        *,
        columns: Mapping[Name, str] | None = None,
        keep: Sequence[str] = (),
        output: str | Sequence[str] | None = None,
        unknown: str | int = "default",
        coverage: float = 0.9,
    ) -> str:
        """The query that finds the parts of the rows of a table, their cell, and what that says of the target.

        It finds what `transform`, `cell_of`, `predict` and `predict_proba` find, to the bit. `Partition.to_sql` is the
        expression for one column.

        Parameters
        ----------
        dialect : {"postgres", "duckdb", "sqlite", "bigquery", "snowflake"}
        table : str or sequence of str
            The name of the table, or the names of its schema and itself. All names are quoted.
        columns : dict of str to str, optional
            What columns of the model are called in the table, where that is not their own name.
        keep : sequence of str
            Columns of the table to return as they are, such as a key: SQL has no order of rows.
        output : str or sequence of str, optional
            Which of these: ``"parts"`` (``part_<column>``, of each column with more than one), ``"labels"`` (parts in
            words, ``label_<column>``), ``"cell"`` (-1 for a combination that no row had), ``"predict"`` (the class,
            ``predicted``, or mean, median, lower and upper of a numerical target), ``"proba"`` (``share_<class>``). By
            default all that the model has but labels. Where two names would be the same, a number is put behind one.
        unknown : {"default", -1}
            What becomes of a category that was never seen: the group ``Partition.default``, or the number -1.
        coverage : float
            Of a numerical target: the share of rows in the interval from ``lower`` to ``upper``.

        Examples
        --------
        >>> import gridmodl
        >>> model = gridmodl.Model.from_partitions({"age": [20, 30, 40, 50]}, [0, 0, 1, 1], {"age": [35]})
        >>> print(model.to_sql("duckdb", "people", keep=["id"], output="parts"))
        SELECT
          t."id" AS "id",
          CASE
            WHEN t."age" IS NULL OR t."age" = 'NaN'::DOUBLE THEN 0
            WHEN t."age" <= '35.0'::DOUBLE THEN 0
            ELSE 1
          END AS "part_age"
        FROM "people" AS t
        """
        from gridmodl.report.sql import query_of_model

        return query_of_model(self, dialect, table, columns, keep, output, unknown, coverage)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The model as a JSON text, also written to `path` if that is given; `from_json` reads it exactly."""
        from gridmodl.model.file import write_model

        return write_model(self, path)

    @staticmethod
    def from_json(source: str | bytes | os.PathLike[str]) -> Model:
        """The model of `source`: a JSON text (a str or bytes) or the path of a file (a str or path-like).

        A str that begins with a brace is a text, any other a path.
        """
        from gridmodl.model.file import read_model

        return read_model(source)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from gridmodl.report.notebook import model_html

        return model_html(self)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_source": None}  # a pickle holds the model, not the data

    def __repr__(self) -> str:
        shown = list(self.partitions) if len(self.partitions) == 1 else self.informative
        shown += [] if self.target is None else [self.target.name]
        parts = ", ".join(f"{name}: {counted(self.partition(name).n_parts, 'part')}" for name in shown)
        parts = parts or "no column informative"
        level = None if self.level is None else level_text(self.level)
        return f"Model({self.criterion!r}, {parts}, cost={self.cost:.6f}, level={level})"
