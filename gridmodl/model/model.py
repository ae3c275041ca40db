"""`Model`, the result of `optimize`: a partition of each variable, its cost, and how it was found."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import ARRAYS, Frame, Name, lazy_frame, make_frame, read_frame
from gridmodl.data.targets import NOT_GIVEN
from gridmodl.model.cells import Cells, cells_of_parts
from gridmodl.model.counts import (
    ShareLines,
    class_shares,
    input_cells,
    mutual_information_of,
    quantiles_of_lines,
    row_lines,
    share_lines,
    shares_in_groups,
    shares_of_cells,
)
from gridmodl.model.densities.conditional import Conditional, checked_number
from gridmodl.model.densities.grid import density_of
from gridmodl.model.densities.histogram import mean_log_density
from gridmodl.model.labels import counted, level_text
from gridmodl.model.lazy.parts import Lookup, lazy_columns
from gridmodl.model.names import renamed
from gridmodl.model.partition import Partition
from gridmodl.model.policy import Policy, checked_policy
from gridmodl.model.stability import Stability
from gridmodl.model.target_quantiles import TargetQuantiles
from gridmodl.search.proof import Certificate
from gridmodl.spelling import did_you_mean
from gridmodl.terms import PROBLEMS, Criterion, level_of

if TYPE_CHECKING:
    from gridmodl.analysis.explain import Explanation
    from gridmodl.analysis.hierarchy import Hierarchy
    from gridmodl.data.table import Table
    from gridmodl.monitoring.record import Comparison
    from gridmodl.report.tables import Rule
    from gridmodl.report.widget.editor import PartitionEditor


@dataclass(frozen=True, eq=False)
class Model:
    """The best partition found, with its cost.

    Attributes
    ----------
    cost, null_cost : float
        Cost of this grid, and of the null grid, with a single part per variable; in nats under ``modl``.
    level : float or None
        ``1 - cost / null_cost``; 0 means that nothing is explained, and is also the level if the null cost is 0. The
        level is negative only if the user forced parts that cost more than they explain: special codes, or a partition
        of the user's own. None if one of the two costs is negative, which is possible for criteria that are not code
        lengths, and for a density, whose cost is relative to an even one; compare costs then.
    criterion : str
        Name of the criterion.
    options : dict of str to bool, int or float
        Options of the criterion.
    problem : str
        Kind of problem that the criterion priced, a key of `gridmodl.terms.PROBLEMS`.
    n_rows : int
        Sum of the row weights, unlabelled rows included.
    classes : ndarray
        Classes of the target, sorted or in the order of an ordered categorical target: that of the columns of
        ``counts``, unless classes are grouped. Empty without a class target.
    event : object or None
        The class that woe, iv, lift, event rates, ``monotone`` and queries speak of, see `optimize`; None without a
        class target, and of a single class.
    event_index : int or None
        Number of ``event`` in ``classes``.
    event_is_default : bool
        Whether there are more than two classes and none was named: ``event`` is then the last, for ``monotone``,
        ``lift`` and the like, and woe and iv are of each class against the rest.
    partitions : dict of str to Partition
        Partition of each column, by column name.
    target : Partition or None
        Groups of classes, or intervals of a numerical target, if the target is partitioned too. Its name is that of the
        column, or ``"target"``.
    target_name : str or None
        Name of the target, if it was a column or a series with a name.
    proven : bool
        Whether it is proven that no partition within the limits is cheaper.
    gap : float or None
        Upper limit of the difference between the cost and the optimum: 0 if proven, None if no limit is known.
    unproven : str or None
        For one column: why ``search="auto"`` gave up the proof, and how to get it.
    certificate : Certificate or None
        Proof of ``gap``, which `gridmodl.verify` checks.
    search : str
        The search that was run; ``"given"`` for a partition of the user's own.
    limits : tuple of str
        For a grid: the limits that the search kept, in words; for one column, ``certificate`` has them.
    stability : Stability or None
        With ``stable_over``: the periods, and those that broke the order of the best partition without it.
    stopped : str or None
        Why the search was cut short: ``"time limit"`` or ``"interrupted"``.
    elapsed : float
        Seconds since the call, without the time of compiling.
    delta : float or None
        For a model made by `edit` or `coarsen`: its cost minus the cost of the original model.
    left_out : dict of str to str
        For a grid over several columns: the columns with one part, and why.
    resolution : int
        For a model of a lazy frame: the rows of the largest span of values that were counted together; 0 if all were
        counted one by one, as in memory. A finer partition may hide inside of spans, and nothing is proven then. For a
        grid: the spans that its search saw; its bounds are between single values, where these could be counted.
    sample_rows : int
        For a grid of a lazy frame with more combinations of values, and of spans, than are counted: the rows of the
        sample that was searched. Cost, counts and shares are of all rows nevertheless. 0 if the search saw all rows.
    optima : tuple of Model
        Distinct local optima that the search kept (``Search(keep_optima=n)``), the cheapest first, each with the
        partitions of its informative columns.
    frame : str
        Kind of frame that the data came in; `table` returns the same kind.
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
    frame: str = ARRAYS
    left_out: Mapping[Name, str] = field(default_factory=dict)
    optima: tuple[Model, ...] = field(default=(), repr=False)
    target: Partition | None = None
    event_index: int | None = None
    resolution: int = 0
    sample_rows: int = 0
    event_is_default: bool = False
    limits: tuple[str, ...] = ()
    target_name: str | None = None
    unproven: str | None = None
    certificate: Certificate | None = field(default=None, repr=False)
    stability: Stability | None = field(default=None, repr=False)
    _cells: Cells | None = field(default=None, repr=False)  # cells of a grid; None for a single variable
    _class_rows: NDArray[np.int64] | None = field(default=None, repr=False)  # rows of each class, if grouped
    # Statistics of a numerical target in each part of the one input, or of several in each cell of `input_cells`.
    _target_quantiles: TargetQuantiles | None = field(default=None, repr=False)
    _source: tuple[Table, Criterion] | None = field(default=None, repr=False)  # for `edit`; never saved

    @property
    def level(self) -> float | None:
        return None if PROBLEMS[self.problem].has_widths else level_of(self.cost, self.null_cost)

    @property
    def event(self) -> Any:
        return None if self.event_index is None else self.classes.tolist()[self.event_index]

    @property
    def has_one_event(self) -> bool:
        """Whether woe, iv and the order of groups speak of the event alone, and not of each class against the rest."""
        return self.event_index is not None and not self.event_is_default

    @property
    def gap(self) -> float | None:
        if self.proven:
            return 0.0
        return None if self.certificate is None else max(0.0, self.cost - self.certificate.lowest)

    @property
    def cells(self) -> Cells:
        """Non-empty cells: their parts, including those of a partitioned target, and their rows by class."""
        if self._cells is not None:
            return self._cells
        ((name, partition),) = self.partitions.items()
        return cells_of_parts(name, partition.counts, partition.unlabelled)

    @property
    def all_partitions(self) -> dict[Name, Partition]:
        """Partitions of the columns and of a partitioned target, by name, as `from_partitions` takes them."""
        return {**self.partitions} if self.target is None else {**self.partitions, self.target.name: self.target}

    @property
    def informative(self) -> list[Name]:
        """Names of the columns with more than one part."""
        return [name for name in self.cells.names if name in self.partitions]

    @property
    def class_rows(self) -> NDArray[np.int64]:
        """Rows of each class, in the order of ``classes``; unlabelled rows are not counted."""
        if self._class_rows is not None:
            return self._class_rows
        return self.cells.counts.sum(axis=0) if len(self.classes) else np.empty(0, dtype=np.int64)

    @property
    def mutual_information(self) -> float:
        """Mutual information in nats per row, of cells and classes in a model with classes.

        If the target is partitioned too, of the cells of the inputs and the parts of the target. Without a target, of
        the parts of two variables; of more variables, the total correlation.
        """
        return mutual_information_of(self)

    @staticmethod
    def from_partitions(
        data: Any,
        target: Any = None,
        partitions: Mapping[Name, Any] | None = None,
        *,
        criterion: str | Criterion = "modl",
        weights: Any = None,
        kinds: Mapping[Name, str] | None = None,
        order: Mapping[Name, Any] | None = None,
        special: Any = None,
        target_kind: str | None = None,
        unlabelled: Any = NOT_GIVEN,
        event: Any = None,
    ) -> Model:
        """Make the model of the user's own partitions, with their cost.

        Parameters
        ----------
        data : array-like, frame, dict of columns or sparse matrix
            As in `optimize`.
        target : str, array-like or None
            As in `optimize`; None for a joint grid.
        partitions : dict
            Partition of each column, by column name. For a numerical column: the inner bounds, ascending; a value on a
            bound belongs to the interval below, and a first bound of NaN or NaT gives missing values a part of their
            own. For a categorical column: a list of groups, each a list of values; None stands for missing. For an
            ordinal column: groups of adjacent levels, with None in a group of its own or in the lowest. Or a
            `Partition`. A column that is not named has one part. Parts without rows stay in the model but do not
            count in its cost. The groups or bounds of a partitioned target are here too, under its name
            (``"target"`` if it has none).
        criterion, weights, kinds, order, special, target_kind, unlabelled, event
            As in `optimize`.

        Notes
        -----
        There is no ``placement``, because the bounds are fixed: with ``unlabelled``, the semi-supervised criterion
        prices all rows. A model with ``placement="median"`` is priced on its labelled rows alone: for its cost, pass
        these rows without ``unlabelled``.

        Examples
        --------
        >>> import gridmodl
        >>> model = gridmodl.Model.from_partitions([1, 2, 3, 4], ["a", "a", "b", "b"], {"x0": [2.5]})
        >>> round(model.cost, 4)
        5.193
        """
        from gridmodl.fit.given import model_of_partitions

        return model_of_partitions(
            data, target, partitions, criterion, weights, kinds, order, special, target_kind, unlabelled, event
        )

    def edit(
        self, name: Name, *, bounds: Any = None, groups: Any = None, merge: Any = None, split: Any = None
    ) -> Model:
        """Make the model with another partition of the column `name`; ``delta`` is the difference of the costs.

        All but ``merge`` need the data of this model, which only the session that made it has: for a model from a file
        or a pickle use `Model.from_partitions`. Limits that the search kept, such as ``monotone``, are not checked.

        Parameters
        ----------
        name : str
            The column, or the name of a partitioned target.
        bounds : sequence, optional
            Inner bounds of a numerical column; special codes keep their own parts, and missing values that have one
            theirs.
        groups : sequence of sequences, optional
            Values of each group of a categorical column.
        merge : sequence of int, or of such sequences, optional
            Numbers of parts to merge, such as ``[2, 3]``, or ``[[0, 1], [3, 4]]`` for two merges: neighbouring
            intervals (the lowest may take in missing values), or any groups. A special code merges with nothing.
            The merged part takes the lowest of the numbers, and later parts move up.
        split : dict of int to bounds or groups, optional
            By number of the part: a bound inside an interval, or several; for a group, a list of values that become a
            group of their own, or a list of lists of all its values.

        Examples
        --------
        >>> import gridmodl
        >>> model = gridmodl.optimize([1.0, 1.5, 2.0, 2.5, 7.0, 7.5, 8.0, 8.5], [0, 0, 0, 0, 1, 1, 1, 1])
        >>> finer = model.edit("x0", split={0: 2.2})
        >>> finer.partitions["x0"].labels
        ['(-inf, 2.2]', '(2.2, 4.75]', '(4.75, inf)']
        >>> finer.delta > 0
        True
        >>> finer.edit("x0", merge=[0, 1]).cost == model.cost
        True
        """
        from gridmodl.analysis.editing import merged_model, split_model
        from gridmodl.fit.build import edited

        given = {"bounds": bounds, "groups": groups, "merge": merge, "split": split}
        passed = [word for word, argument in given.items() if argument is not None]
        if len(passed) != 1:
            raise TypeError(
                f"edit takes one of bounds=, groups=, merge= and split=, got {' and '.join(passed) or 'none of them'}"
            )
        if merge is not None:
            return merged_model(self, name, merge)
        return edited(self, name, bounds, groups) if split is None else split_model(self, name, split)

    def rename(self, name: Name, names: Mapping[Any, str | None] | Sequence[str | None] | None) -> Model:
        """Make the model whose parts of one variable have names of the user's own.

        They stand for the parts in summaries, plots, reports, notebooks and comparisons, and as the labels of rows in
        queries (`to_sql`) and of ``gridmodl apply --as labels``; they go before the labels in tables, travel in files,
        and are kept by merges of other parts. ``Partition.labels`` stay as they are.

        Parameters
        ----------
        name : str
            The column, or the name of a partitioned target.
        names : dict, sequence of str or None
            Names by number of the part (or by its name so far), or one for each part. None in place of a name, or of
            all, brings back ``Partition.names`` as they were.

        Examples
        --------
        >>> import gridmodl
        >>> model = gridmodl.optimize([1.0, 1.5, 2.0, 2.5, 7.0, 7.5, 8.0, 8.5], [0, 0, 0, 0, 1, 1, 1, 1])
        >>> model.rename("x0", {1: "large"}).partitions["x0"].names
        ['(-inf, 4.75]', 'large']
        """
        return renamed(self, name, names)

    def widget(self, name: Name | None = None) -> PartitionEditor:
        """Edit the parts of one column by eye in a notebook: merge, split and rename by click, with prices and undo.

        Needs ``pip install "gridmodl[widget]"``; `gridmodl.PartitionEditor` does the same from Python without it.

        Parameters
        ----------
        name : str, optional
            The column, or the name of a partitioned target; may be omitted if the model has one column.

        Returns
        -------
        PartitionEditor
            ``editor.model`` is the model as edited so far.
        """
        from gridmodl.report.widget.face import editor_in_notebook

        return editor_in_notebook(self, name)

    def transform(self, data: Any, unknown: str | None = None, missing: str | None = None) -> Any:
        """Number of the part of each row: shape (n,) for a single column, (n, number of columns) for a table.

        A value that belongs to no part has the number -1.

        Parameters
        ----------
        data : array-like, frame or sparse matrix
            A frame may have further columns. A sparse matrix has one row per non-zero entry, row by row and within a
            row by column. For a lazy frame, the result is a lazy frame of the same library, with a column of parts for
            each column of the model; nothing is collected.
        unknown : {"neutral", "largest", "error"}, optional
            Category that was not in the training data: no part (-1), the group with the most rows, or a ValueError. By
            default ``"neutral"``; in a model from a file of versions 1 to 5, the group that the file names.
        missing : {"neutral", "error"}, optional
            Missing value, if the training data had none: no part (-1), or a ValueError. By default ``"neutral"``; in a
            model from a file of versions 1 to 5, the lowest interval, or the group that the file names.
        """
        policy, lazy = checked_policy(unknown, missing), lazy_frame(data)
        if lazy is not None:
            return lazy_columns(lazy, {name: Lookup(one, None) for name, one in self.partitions.items()}, policy)
        frame = read_frame(data)
        parts = [
            self.partitions[name].part_of_column(raw, policy)
            for name, raw in self._columns(frame, list(self.partitions)).items()
        ]
        return parts[0] if frame.is_column else np.column_stack(parts)

    def cell_of(self, data: Any, unknown: str | None = None, missing: str | None = None) -> NDArray[np.int64]:
        """Number of the cell of each row, as in ``cells``; -1 for a combination of parts that no training row had.

        A row with a value that belongs to no part is in no cell, -1, if its column is informative. `data`, `unknown`
        and `missing` are as in `transform`. A frame needs only the informative columns, and the target if that is
        partitioned too.
        """
        return self.cells.cell_of(*self._row_parts(data, checked_policy(unknown, missing)))

    def _row_parts(self, data: Any, policy: Policy) -> tuple[list[NDArray[np.int64]], int]:
        """Part of each row in each variable of the cells, and the number of rows."""
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
        parts = [self.partition(name).part_of_column(columns[name], policy) for name in names]
        return parts, frame.n_rows

    def part_of(
        self, name: Name, values: Any, unknown: str | None = None, missing: str | None = None
    ) -> NDArray[np.int64] | int:
        """Number of the part of each value, or of a single value, of one variable.

        Parameters
        ----------
        name : str
            The column, or the name of ``target`` if the target is partitioned.
        values : array-like of shape (n,), or a single value
            Values of the type of the training column.
        unknown, missing
            As in `transform`.
        """
        partition = self.partition(name)
        if isinstance(values, (str, bytes)) or np.ndim(values) == 0:
            return int(partition.part_of([values], unknown, missing)[0])
        return partition.part_of(values, unknown, missing)

    def partition(self, name: Name) -> Partition:
        """Partition of the column `name`, or of the target if `name` is the name of the target."""
        known = self.all_partitions
        if not isinstance(name, Hashable) or name not in known:
            raise ValueError(
                f"name must be one of the columns {', '.join(map(repr, known))}, got {name!r}"
                f"{did_you_mean(name, known)}"
            )
        return known[name]

    def typical_values(self, name: Name, n: int = 5) -> list[tuple[Any, ...]]:
        """The `n` most typical values of each group of the variable `name`: those whose move would cost most.

        Only for models without classes, and models whose target is partitioned too.
        """
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
            raise ValueError(f"n must be a whole number of at least 1, got {n!r}")
        partition = self.partition(name)
        if partition.kind != "categorical":
            raise ValueError(
                f"column {name!r} is {partition.kind}: only groups of a categorical column have typical values"
            )
        if partition.n_values is None:
            raise ValueError("only models without a target, or with a partitioned target, have typical values")
        return [group[:n] for group in partition.groups]

    def predict_proba(
        self, data: Any, unknown: str | None = None, missing: str | None = None, smoothing: bool = False
    ) -> Any:
        """Share of each class in the cell of each row, in the order of ``classes``; of all rows for an empty cell.

        Shares are of the labelled training rows. If classes are grouped, then
        P(class | part) = P(group | part) P(class | group).

        With `smoothing`, they are what the criterion expects of the next row of the cell (its ``predictive``): under
        ``modl``, ``aic`` and ``bic``, (n_j + 1) / (n + J) with n labelled rows in the cell, n_j of them of the class,
        of J classes. No probability is 0 then, as it is for a class that no row of the cell has; one row of that class
        would make the log-loss of new rows infinite. Other criteria, and models with grouped classes, are an error.

        A value that belongs to no part, or a special code that training did not have, tells nothing: the row gets the
        shares of all training rows that have the row's parts in the other columns. This is the average over the parts
        of the column, weighted by their rows given the other columns; of one column, the shares of all rows. `data`,
        `unknown` and `missing` are as in `transform`. For a lazy frame, the result is a lazy frame of the same library
        with a column ``p_<class>`` for each class.
        """
        policy, lazy = checked_policy(unknown, missing), lazy_frame(data)
        if lazy is None:
            return np.take(*self._shares(data, policy, smoothing), axis=0)
        from gridmodl.model.lazy.predict import lazy_probabilities

        return lazy_probabilities(self, lazy, policy, smoothing)

    def _shares(self, data: Any, policy: Policy, smoothing: bool = False) -> ShareLines:
        """Shares of the classes, and which of them each row gets."""
        if self.target is None:
            return self._share_lines(*self._row_parts(data, policy), smoothing)
        if PROBLEMS[self.problem].has_one_input:
            part = self._input_part(data, policy)
            return self._share_lines([part], len(part), smoothing)
        return self._share_lines(*self._input_parts(data, policy), smoothing)

    def _share_lines(self, parts: list[NDArray[np.int64]], n_rows: int, smoothing: bool = False) -> ShareLines:
        """As `_shares`, given the part of each row in each variable that predictions read."""
        shares = class_shares(self, smoothing)
        if self.target is None:
            for k, name in enumerate(self.cells.names):
                empty = self.partitions[name].empty_special
                parts[k] = np.where(np.isin(parts[k], empty), -1, parts[k]) if empty else parts[k]
            return share_lines(
                self.cells, shares, parts, n_rows, lambda beside: shares_of_cells(self, beside, smoothing)
            )
        if PROBLEMS[self.problem].has_one_input:
            return ShareLines(shares, parts[0] % len(shares))
        cells = input_cells(self)
        groups = np.vstack([cells.shares(), self.target.counts[:, 0] / self.n_rows])
        lines = share_lines(cells, groups, parts, n_rows, Cells.shares)
        return lines._replace(shares=shares_in_groups(self, lines.shares))

    def _input_part(self, data: Any, policy: Policy) -> NDArray[np.int64]:
        """Part of each row in the one input of a model whose target is partitioned too."""
        ((name, partition),) = self.partitions.items()
        return partition.part_of_column(self._columns(read_frame(data), [name])[name], policy)

    def _input_parts(self, data: Any, policy: Policy) -> tuple[list[NDArray[np.int64]], int]:
        """Part of each row in each informative column, and the number of rows."""
        frame = read_frame(data)
        columns = self._columns(frame, self.informative)
        return [self.partitions[name].part_of_column(columns[name], policy) for name in self.informative], frame.n_rows

    def _target_lines(self, data: Any, policy: Policy) -> tuple[TargetQuantiles, NDArray[np.int64]]:
        """Statistics of a numerical target, and which of them each row gets."""
        if self._target_quantiles is None:
            raise ValueError(f"this model ({self.problem}) has no numerical target, so no quantiles to predict")
        if PROBLEMS[self.problem].has_one_input:
            part = self._input_part(data, policy)
            return self._target_lines_at([part], len(part))
        return self._target_lines_at(*self._input_parts(data, policy))

    def _target_lines_at(
        self, parts: list[NDArray[np.int64]], n_rows: int
    ) -> tuple[TargetQuantiles, NDArray[np.int64]]:
        """As `_target_lines`, given the part of each row in each informative column, or in the one input."""
        assert self._target_quantiles is not None  # noqa: S101  for mypy
        if PROBLEMS[self.problem].has_one_input:
            return self._target_quantiles, parts[0]
        cells = input_cells(self)
        line, besides = row_lines(cells, parts, n_rows)
        return quantiles_of_lines(self, cells, besides), line

    def predict(self, data: Any, unknown: str | None = None, missing: str | None = None, coverage: float = 0.9) -> Any:
        """Predict the class of each row, or mean and quantiles of a numerical target.

        Parameters
        ----------
        data : array-like or frame
            The input columns.
        unknown, missing
            As in `transform`. A value that belongs to no part tells nothing, as in `predict_proba`; for a numerical
            target, the row gets mean and quantiles of the rows that have its parts in the other columns (quantiles are
            then approximate), and of all rows if there is no other column.
        coverage : float
            For a numerical target: the share of rows in the interval from ``lower`` to ``upper``.

        Returns
        -------
        ndarray, Prediction or lazy frame
            The most frequent class in the cell of each row (ties: first in ``classes``). For a numerical target, a
            `Prediction` of four arrays: mean, median, lower and upper of the training rows in the same cell of the
            inputs; of all rows if no training row is in it. For a lazy frame, one of the same library, with the column
            ``prediction``, or those of a `Prediction`.
        """
        policy, lazy = checked_policy(unknown, missing), lazy_frame(data)
        if lazy is not None:
            from gridmodl.model.lazy.predict import lazy_predictions

            return lazy_predictions(self, lazy, policy, coverage)
        if self._target_quantiles is not None:
            quantiles, line = self._target_lines(data, policy)
            return quantiles.predict(line, coverage)
        shares, line = self._shares(data, policy)
        return np.asarray(self.classes[shares.argmax(axis=1)[line]])

    def predict_quantiles(
        self, data: Any, quantiles: Sequence[float], unknown: str | None = None, missing: str | None = None
    ) -> NDArray[np.float64]:
        """Quantiles of a numerical target for each row, those of its cell; between two percentiles, interpolated.

        Parameters
        ----------
        data : array-like or frame
            The input columns.
        quantiles : sequence of float
            Shares from 0 to 1.
        unknown, missing
            As in `predict`.

        Returns
        -------
        ndarray of shape (n, number of quantiles)
        """
        shares = np.atleast_1d(np.asarray(quantiles, dtype=np.float64))
        if shares.ndim != 1 or len(shares) == 0 or not np.all((shares >= 0.0) & (shares <= 1.0)):
            raise ValueError(f"quantiles must be shares from 0 to 1, such as [0.1, 0.9], got {quantiles!r}")
        known, line = self._target_lines(data, checked_policy(unknown, missing))
        return np.column_stack([known.quantile(share)[line] for share in shares.tolist()])

    def log_density(self, data: Any) -> NDArray[np.float64]:
        """Logarithm of the density of each row of `data`: the lower, the more of an outlier it is.

        Of a model of one column without a target: densities are per unit of the column, for dates and durations per
        unit of their type: with m of N rows in an interval of width w, in a domain of width W, it is
        ``(m + w/W) / (w (N + 1))``, so that no density is 0. The domain goes from the lowest to the highest value; of
        whole numbers and other lattices, from half a step below to half a step above. A mass has the logarithm of its
        probability, m / (N + 1), in place of a density. Over the domain, densities and masses sum to 1. A missing value
        has NaN.

        A value outside the domain, of any model, has the probability of the outer interval of m rows on its side times
        ``1/((m + 1) W)``: below any inside, so that it marks outliers. It belongs to no integral.

        Of a joint grid: the probability of the row's cell, times the density of each value given its part. See Notes.

        Of a model whose target is partitioned too: the density of the target given the inputs, or the probability of
        the class if classes are grouped; `data` has a column of the name of ``target`` beside the inputs. An input that
        belongs to no part tells nothing, as in `predict`.

        Notes
        -----
        A cell with N_c of N rows has the probability ``(N_c + C s_c) / (N + C)``, where C cells have rows: as many more
        rows are spread over all cells, as if columns were independent, so that no cell is impossible, however many
        there are; s_c is the product of the shares ``(N_i + 1/I) / (N + 1)`` of its parts, with N_i rows in a part and
        I parts. A part of a target has ``(N_cj + C s_j) / (N_c + C)`` in a cell of the inputs in which C parts of the
        target have rows.

        Of the m rows of an interval, m - 1 steps from row to row are spread evenly from its lowest to its highest
        value, and half a step at each end from that value to the bound, as much of it as is no denser than the steps
        between rows; none where the value is at the bound. Where the lowest value is the highest, one step is spread
        evenly over the interval, and the others are an atom: the value has the probability (m - 1)/m within its part,
        in place of a density. An interval without rows is even. The outer intervals end at the lowest and the highest
        value of the training data, between which densities and atoms sum to 1; a value outside has that of one more row
        of the outer interval, spread over the range: 1/((m + 1) W). Special codes and missing values have
        probabilities. A category has the share ``(n + 1/V) / (N_g + 1)`` of its group of V values and N_g rows; of the
        levels of an ordinal column, rows are not known, and they share the part's evenly. A row with a value that
        belongs to no part, such as a category or a missing value that training did not have, has NaN.

        Examples
        --------
        >>> import gridmodl
        >>> model = gridmodl.optimize([0.0, 0.5, 1.5, 2.5, 3.5, 4.0], criterion="bayesian-blocks")
        >>> model.log_density([1.0, None]).round(4)  # log(1/4.5): one interval, half a step of 0.5 at both ends
        array([-1.5041,     nan])
        """
        return density_of(self).log_density(data)

    def score(self, data: Any, weights: Any = None) -> float:
        """Mean of `log_density` over the rows that have one: the higher, the better the density fits them.

        Parameters
        ----------
        data : array-like, series or frame
            As in `log_density`, such as rows that the model was not made from. Rows whose density is NaN are left out.
        weights : array-like of shape (n,), optional
            Whole numbers: a row of weight w counts as w rows. By default, those of a sparse matrix are its entries.
        """
        weights = read_frame(data).entries if weights is None else weights
        return mean_log_density(self.log_density(data), weights)

    def sample(self, n: int, random_state: int | None = None) -> Any:
        """Draw `n` values or rows at random from the density of a model without a target.

        Numbers are floats, or dates or durations of the type of the column; they lie in the domain of `log_density`, or
        are masses. Rounded to the lattice of their column, they are whole numbers. The same `random_state` draws the
        same values. For a target, see `conditional`.

        Returns
        -------
        ndarray or frame
            Values of a model of one column; rows of a joint grid, as a frame of the kind of the training data, or a
            dict of arrays if that was arrays. Missing values are drawn too if training had some. Dates of a column with
            a time zone are in UTC, without the zone.
        """
        return density_of(self).sample(checked_number(n), random_state)

    def conditional(self, name: Name, given: Mapping[Name, Any] | None = None) -> Conditional:
        """Distribution of one column given values of others, from the density of `log_density`.

        Parameters
        ----------
        name : str
            A column of a joint grid, or the name of a partitioned target.
        given : dict, optional
            Value of each column that is known, None for a missing value, which tells nothing if training had none. All
            others are summed over. A category that training did not have is an error.

        Returns
        -------
        Conditional
            Probabilities of parts and categories, mean, mode, quantiles, densities and random values.

        Examples
        --------
        >>> import gridmodl
        >>> data = {"size": [1.0, 2.0, 3.0, 11.0, 12.0, 13.0], "color": ["red"] * 3 + ["blue"] * 3}
        >>> bounds = {"size": [7.0], "color": [["red"], ["blue"]]}
        >>> model = gridmodl.Model.from_partitions(data, None, bounds)
        >>> of_size = model.conditional("size", {"color": "red"})
        >>> of_size.probabilities.round(3), round(float(of_size.mean), 2)
        (array([0.875, 0.125]), 3.7)
        """
        known = {} if given is None else given
        if not isinstance(known, Mapping):
            raise TypeError(f"given must be a dict of values by column, got {given!r}")
        for column, value in known.items():
            if isinstance(value, (list, tuple)) or len(getattr(value, "shape", ())) > 0:
                raise TypeError(f"given must have a single value of column {column!r}, got {value!r}")
        return density_of(self).conditional(name, known)

    def impute(self, name: Name, data: Any) -> NDArray[Any]:
        """Values of a column of a joint grid, with those that are missing filled in from the other columns.

        A missing number becomes the mean of `conditional` given the row's values that are not missing, a missing
        category the mode. The numbers of a part are taken to lie evenly between its lowest and highest value. So those
        of a column with one part become the middle of its range, with a `gridmodl.ColumnWarning`.

        Parameters
        ----------
        name : str
            The column.
        data : array-like or frame
            Rows with all columns of the model.

        Returns
        -------
        ndarray of shape (n,)
        """
        return density_of(self).impute(name, data)

    def hierarchy(self) -> Hierarchy:
        """Merge this grid step by step into a single cell, the cheapest merge first: a dendrogram of each variable.

        Only for models without classes, and models whose target is partitioned too.
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
        """Make a coarser grid from the merges of `hierarchy`, with its exact cost.

        Returns the finest grid within the limits (with tight limits it can cost more than the null grid); with
        ``information``, the coarsest grid that keeps this share. Only for models without classes, and models whose
        target is partitioned too.

        Parameters
        ----------
        max_cells : int, optional
            Maximum number of cells, empty cells included.
        max_parts : int or dict of str to int, optional
            Maximum number of parts of each variable, or of each named variable.
        information : float, optional
            Share, from 0 to 1, of ``null_cost - cost`` that the coarser grid must keep; the limits hold as well.
        """
        from gridmodl.analysis.coarsening import coarsened

        return coarsened(self, max_cells, max_parts, information)

    def rules(self, n: int | None = None, min_rows: int | float = 0, min_lift: float | None = None) -> list[Rule]:
        """Rules in words, one per cell, with its rows and the shares of the classes; the most frequent first.

        If the target is partitioned too, one per cell of the inputs, with the shares of the parts of the target, and
        for a numerical one its mean and quantiles. Not for models without a target.

        Parameters
        ----------
        n : int, optional
            Maximum number of rules.
        min_rows : int or float
            Minimum number of rows of a cell, or their share of all rows if it is a float below 1.
        min_lift : float, optional
            Minimum share of the event in a cell, divided by its share in all rows.
        """
        from gridmodl.report.tables import rules_of

        return rules_of(self, n, min_rows, min_lift)

    def cell_table(self, frame: str | None = None) -> Any:
        """Table with one row per cell, the most frequent first: its parts, rows, and rows and shares of each class.

        Without classes, or if the target is partitioned too: ``density``, the rows per combination of values of its
        parts (for a matrix of zeros and ones, the share of ones); ``lift``, its share of the rows divided by the
        product of the shares of its parts; and ``mutual_information``, its contribution to that of the grid. With
        several inputs and a partitioned target, the cells are those of the inputs, with the share of each part of the
        target, and the mean and quantiles of a numerical one.

        `frame` is as in `table`.
        """
        from gridmodl.report.tables import cell_columns

        return make_frame(cell_columns(self), frame or self.frame)

    def _columns(self, frame: Frame, names: Sequence[Name]) -> dict[Name, Any]:
        """Find the columns `names` of the model in `frame`, by name, or by position if the data has no names."""
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
        """Table with one row per part: rows, share of all rows, rows and shares of each class.

        Without classes also the number of distinct values; with grouped classes the share of each group; with a
        numerical target its mean and quantiles in each part. Of a density also the width of each part, its density per
        unit of the column (for dates and durations per unit of their type), which a mass does not have (NaN), and
        whether the part is a mass.

        With two classes, or with ``event``, also the event, and its weight of evidence (``woe``), information value
        (``iv``) and lift in each part; with more classes, those of each class against the rest. A positive woe means
        more events than average: woe is the logarithm of P(part | event) / P(part | rest), with half a row added to
        each count. See `gridmodl.model.evidence` for the formulas.

        Parameters
        ----------
        name : str, optional
            The column, or the name of a partitioned target; may be omitted if the model has one column.
        frame : {"pandas", "polars", "pyarrow", "arrays"}, optional
            Kind of frame; by default the kind of the training data, with a dict of arrays for arrays.
        """
        from gridmodl.report.tables import columns_of

        if name is None and len(self.partitions) == 1:
            name = next(iter(self.partitions))
        return make_frame(columns_of(self, self.partition(name)), frame or self.frame)

    def summary(self) -> str:
        """Summary of the model as text."""
        from gridmodl.report.summary import summary_of

        return summary_of(self)

    def plot(self, name: Name | None = None, ax: Any = None, **options: Any) -> Any:
        """Draw the picture that suits the model; see `gridmodl.plot` for the others.

        The event by part, the shares of classes, the target in each part, a density, or the cells of a grid; with
        `name`, the parts of one column of a grid.

        Parameters
        ----------
        name : str, optional
            A column.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        options
            As in ``plot`` of the display, such as ``statistic="woe"`` of `gridmodl.plot.EventDisplay`.

        Returns
        -------
        A display of `gridmodl.plot`, whose ``ax_`` and ``figure_`` were drawn on.
        """
        from gridmodl.plot.columns import draw_model

        return draw_model(self, name, ax, options)

    def compare(
        self, new: Any, target: Any = None, by: Any = None, *, weights: Any = None, threshold: float = 0.1,
        loss: float = 0.1, alpha: float = 0.01, refit: bool = True,
    ) -> Comparison:  # fmt: skip
        """Compare new rows with the training rows: drift of the columns, of the event rates, and what it costs.

        Parameters
        ----------
        new : array-like, frame, sparse matrix or lazy frame
            New rows with the columns of the model; of a grid, at least the informative ones. A lazy frame is counted on
            its engine, and only counts are collected.
        target : str or array-like, optional
            Classes of the new rows, or their column. Rows without a class, or with one that training did not have,
            count in the parts but not in event rates and prices. Without it, all that needs no target is compared.
        by : str or array-like, optional
            Period of each row, or its column: dates are taken by month, other values each alone. The column itself is
            not compared.
        weights : str or array-like, optional
            Whole numbers: a row of weight w counts as w rows.
        threshold : float
            Population stability index (PSI) of the parts of a column from which on it has drifted, unless by chance.
        loss : float
            Share of a column's information on the classes that is lost, as their relation to its parts has changed,
            from which on it has drifted, unless by chance.
        alpha : float
            What counts as chance: with a probability of 1 - alpha or more, a comparison without any change has no alarm
            at all, whatever the number of columns and periods (Holm's adjustment of all p-values).
        refit : bool
            Whether to price the classes of the new rows by the criterion, with the parts of the model and with the best
            parts for the new rows, which takes a search; not for grids of lazy frames.

        Returns
        -------
        Comparison
            ``print`` shows it in words, `Comparison.table` has the numbers.

        Examples
        --------
        >>> import gridmodl
        >>> sizes = [1, 2, 3, 4] * 50 + [6, 7, 8, 9] * 50
        >>> model = gridmodl.optimize({"size": sizes}, ["no"] * 200 + ["yes"] * 200)
        >>> new, classes = [2, 3, 7, 8, 9, 9] * 20, ["no", "no", "yes", "yes", "yes", "no"] * 20
        >>> found = model.compare({"size": new}, classes)
        >>> found["size"].new_rows[0].tolist(), found["size"].psi.round(3).tolist()
        ([40, 80], [0.114])
        >>> found.drifted
        ['size']
        """
        from gridmodl.monitoring.compare import checked_request, compare_model
        from gridmodl.monitoring.parts import DriftLimits

        request = checked_request(new, target, by, weights, DriftLimits(threshold, loss, alpha), refit)
        return compare_model(self, request)

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
        """Explain the number of parts of a variable: the costs of alternatives with more, fewer or a single part.

        Each alternative is another partition of the variable, with the rest of the model unchanged, at its exact cost,
        split into the terms of the criterion. Alternatives ignore limits such as ``max_parts``.

        Parameters
        ----------
        variable : str, optional
            The column, or the name of a partitioned target; may be omitted if the model has one column.
        data, target, weights, unlabelled, placement : optional
            As passed to `optimize`; needed for a model from a file, a pickle or ``optima``. Without data, merges of
            the model's parts are the only alternatives.
        time_limit : float, optional
            Seconds after which the search for alternatives stops with those found so far; so does Ctrl-C.

        Returns
        -------
        Explanation
            ``print`` shows it in words, ``table`` has the numbers.

        Examples
        --------
        >>> import gridmodl
        >>> model = gridmodl.optimize([1.0, 1.5, 2.0, 2.5, 7.0, 7.5, 8.0, 8.5], [0, 0, 0, 0, 1, 1, 1, 1])
        >>> why = model.explain()
        >>> why.fewer.n_parts, round(why.fewer.delta, 3)  # extra cost of a single part
        (1, 1.03)
        >>> why.more.n_parts, round(why.more.delta, 3)
        (3, 2.079)
        """
        from gridmodl.analysis.explain import explain

        return explain(self, variable, data, target, weights, unlabelled, placement, time_limit)

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str | None = None,
        about: str | None = None,
        sections: Sequence[Any] = (),
    ) -> str:
        """Write the model as one HTML page, which needs no network and no other file.

        The page has the variables with plots, and the cells of a grid in a table and a heat map; if the model has a
        `hierarchy`, a slider makes the grid coarser. Needs ``pip install "gridmodl[html]"``.

        Parameters
        ----------
        path : str or path-like, optional
            File to write the page to; an existing file is replaced.
        title : str, optional
            Title of the page.
        about : str, optional
            What readers should know of the data and the target, below the title.
        sections : sequence, optional
            Other results on the same page, a section each: `Model`, `Models`, `DensityModel`, `Average`, `Averages`,
            `Scorecard`, `Cutoffs`, `Comparison`.

        Returns
        -------
        str
            The text of the page.
        """
        from gridmodl.report.html.sections import write_report

        return write_report(self, sections, path, title, about)

    def to_sql(
        self,
        dialect: str,
        table: str | Sequence[str] = "data",
        *,
        columns: Mapping[Name, str] | None = None,
        keep: Sequence[str] = (),
        output: str | Sequence[str] | None = None,
        unknown: str | None = None,
        missing: str | None = None,
        coverage: float = 0.9,
        smoothing: bool = False,
    ) -> str:
        """Write the SQL query for the parts of the rows of a table, their cell, and the predicted target.

        The results are those of `transform`, `cell_of`, `predict` and `predict_proba`, to the bit. `Partition.to_sql`
        writes the expression for one column.

        Parameters
        ----------
        dialect : {"postgres", "duckdb", "sqlite", "mysql", "bigquery", "snowflake", "spark"}
        table : str or sequence of str
            Name of the table, or the names of its schema and itself. All names are quoted.
        columns : dict of str to str, optional
            Name in the table of each column of the model that has another name there.
        keep : sequence of str
            Columns of the table to return unchanged, such as a key: SQL has no order of rows.
        output : str or sequence of str, optional
            Which of these: ``"parts"`` (``part_<column>``, for each column with more than one part), ``"labels"``
            (labels of the parts, or the names given by `rename`, ``label_<column>``, NULL for no part), ``"woe"``
            (weight of evidence of the part for the event, ``woe_<column>``, or for each class,
            ``woe_<column>_<class>``; 0 for no part), ``"cell"`` (-1 for no cell), ``"predict"`` (the class,
            ``predicted``, or mean, median, lower and upper of a numerical target), ``"proba"`` (``share_<class>``),
            ``"log_density"`` (as `log_density`, NULL for NaN, whatever ``unknown`` and ``missing`` are). By default
            all that the model has, except labels, woe and log_density. If two names would be the same, one gets a
            number as suffix.
        unknown : {"neutral", "largest"}, optional
            Category that was not in the training data, as in `transform`; a query cannot raise an error.
        missing : {"neutral"}, optional
            Missing value, if the training data had none, as in `transform`.
        coverage : float
            For a numerical target: the share of rows in the interval from ``lower`` to ``upper``.
        smoothing : bool
            Whether ``"proba"`` is as in `predict_proba` with ``smoothing=True``.

        Examples
        --------
        >>> import gridmodl
        >>> model = gridmodl.Model.from_partitions({"age": [20, 30, 40, 50]}, [0, 0, 1, 1], {"age": [35]})
        >>> print(model.to_sql("duckdb", "people", keep=["id"], output="parts"))
        SELECT
          t."id" AS "id",
          CASE
            WHEN t."age" IS NULL OR t."age" = 'NaN'::DOUBLE THEN -1
            WHEN t."age" <= '35.0'::DOUBLE THEN 0
            ELSE 1
          END AS "part_age"
        FROM "people" AS t
        """
        from gridmodl.report.cell_lines import Wanted
        from gridmodl.report.sql import query_of_model

        wanted = Wanted(checked_policy(unknown, missing), coverage, smoothing)
        return query_of_model(self, dialect, table, columns, keep, output, wanted)

    def to_onnx(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        output: str | Sequence[str] | None = None,
        unknown: str | None = None,
        missing: str | None = None,
        coverage: float = 0.9,
        missing_text: str = "",
        smoothing: bool = False,
    ) -> Any:
        """Build the ONNX graph for the parts of rows, their cell, and the predicted target, in float64.

        The results are those of `transform`, `cell_of`, `predict` and `predict_proba`, to the bit. Needs
        ``pip install "gridmodl[onnx]"``.

        Parameters
        ----------
        path : str or path-like, optional
            File to write the graph to; an existing file is replaced.
        output : str or sequence of str, optional
            Which of these: ``"parts"`` (output ``parts``, of the columns with more than one part), ``"woe"`` (``woe``,
            weights of evidence of the parts, 0 for no part), ``"cell"`` (``cell``, -1 for no cell), ``"predict"``
            (``label``, the class, or ``prediction``, the mean, median, lower and upper of a numerical target),
            ``"proba"`` (``probabilities``, by class). By default all that the model has, except woe.
        unknown : {"neutral", "largest"}, optional
            Category that was not in the training data, as in `transform`; a graph cannot raise an error.
        missing : {"neutral"}, optional
            Missing value, if the training data had none, as in `transform`.
        coverage : float
            For a numerical target: the share of rows in the interval from ``lower`` to ``upper``.
        missing_text : str
            Text that stands for a missing value in columns of texts; no category may be this text.
        smoothing : bool
            Whether ``"proba"`` is as in `predict_proba` with ``smoothing=True``.

        Returns
        -------
        onnx.ModelProto
            Graph with an input of shape (rows, 1) for each column, of the column's name: float64 for numbers, with NaN
            for missing values, int64 for dates and for integers beyond 2**53, string for texts. ``metadata_props``
            has the columns of ``parts`` and ``woe``, and the classes.
        """
        from gridmodl.report.cell_lines import Wanted
        from gridmodl.report.onnx import onnx_of_model

        wanted = Wanted(checked_policy(unknown, missing), coverage, smoothing)
        return onnx_of_model(self, path, output, wanted, missing_text)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Write the model as a JSON text, also to the file `path` if that is passed; `from_json` reads it exactly."""
        from gridmodl.model.file import write_model

        return write_model(self, path)

    @staticmethod
    def from_json(source: str | bytes | os.PathLike[str]) -> Model:
        """Read a model from `source`: a JSON text (a str or bytes) or the path of a file (a str or path-like).

        A str that begins with a brace is a text, any other str is a path.
        """
        from gridmodl.model.file import read_model

        return read_model(source)

    def _repr_html_(self) -> str:
        """HTML that notebooks show."""
        from gridmodl.report.notebook import model_html

        return model_html(self)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_source": None}  # a pickle does not contain the data

    def __repr__(self) -> str:
        shown = list(self.partitions) if len(self.partitions) == 1 else self.informative
        shown += [] if self.target is None else [self.target.name]
        parts = ", ".join(f"{name}: {counted(self.partition(name).n_parts, 'part')}" for name in shown)
        parts = parts or "no column informative"
        level = None if self.level is None else level_text(self.level)
        return f"Model({self.criterion!r}, {parts}, cost={self.cost:.6f}, level={level})"
