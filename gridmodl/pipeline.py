"""From data to models: read, search, wrap. And the price of what the user decided."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from gridmodl.clock import Clock, Progress, in_threads
from gridmodl.data.columns import Categories
from gridmodl.data.frames import Name
from gridmodl.data.table import Table, read_table
from gridmodl.data.targets import NOT_GIVEN
from gridmodl.fit.build import (
    asked_column,
    check_grid_options,
    check_joint_columns,
    check_names,
    check_one_input,
    column_model,
    grid_model,
    is_grid,
    model_of_partitions,
)
from gridmodl.fit.column import best_partition
from gridmodl.fit.grid import best_grid
from gridmodl.fit.options import (
    Options,
    check_placement,
    check_seed,
    checked_jobs,
    checked_options,
    checked_time,
)
from gridmodl.model.given import at_medians
from gridmodl.model.model import Model
from gridmodl.model.models import Models
from gridmodl.plugins import criterion_for
from gridmodl.progress import showing
from gridmodl.search import Search
from gridmodl.spelling import check_choice
from gridmodl.terms import Criterion

ON_ERROR = ("warn", "ignore", "raise")


class ColumnWarning(UserWarning):
    """A column of `optimize_each` or of `baselines.each` has no model."""


def optimize(
    data: Any,
    target: Any = None,
    *,
    criterion: str | Criterion = "modl",
    search: str | Search = "auto",
    weights: Any = None,
    kinds: Mapping[Name, str] | None = None,
    target_kind: str | None = None,
    unlabelled: Any = NOT_GIVEN,
    placement: str | None = None,
    special: Mapping[Name, Any] | None = None,
    monotone: str | None = None,
    max_parts: int | None = None,
    min_rows: int | float | None = None,
    time_limit: float | None = None,
    random_state: int | None = 0,
    n_jobs: int = 1,
    progress: bool | Callable[[Progress], Any] | None = None,
) -> Model:
    """Find the partition of the data that explains the target best; without a target, the one that explains the data.

    A part (bin) of a partition is an interval of numbers or a group of categories. One column is optimal binning
    (supervised discretization, value grouping), several are one grid, and no target is coclustering.

    Parameters
    ----------
    data : array-like, frame, dict of columns or sparse matrix
        One input column or several: an array, whose columns are called ``x0``, ``x1``, ..., a series, or a frame
        (pandas, polars, pyarrow, any that narwhals reads). Several make one grid over those that matter together; see
        `optimize_each` for each on its own. A matrix of `scipy.sparse` of any format has a row of data for each of its
        entries, with the number of its row and of its column as values of two categorical columns, ``"row"`` and
        ``"column"``; an entry of n counts as n rows, those of a boolean matrix once. So
        ``optimize(scipy.sparse.csr_matrix(x))`` is the coclustering of a matrix x of zeros and ones. Rows and columns
        without entries are no values: later they are unknown. Numbers, dates and durations are numerical and
        partitioned into intervals; text, categories, enums and booleans are categorical and partitioned into groups of
        values. Missing values (null and NaN alike) are a value of their own of a categorical column; in a numerical one
        they sort below all numbers and get a part of their own, or join the lowest interval where that is cheaper.
    target : str or array-like of shape (n,), optional
        The class of each row, in the order of the rows (an index of pandas is not looked at), or the name of the column
        that holds it: strings, integers, booleans or whole floats. Or a real number for each row, with one input
        column: both are cut into intervals, so that those of the column tell the most of those of the target. Without
        a target, the joint grid of two to ten columns: the parts of each column that tell the most of those of the
        others. For a table of counts with more columns see `GridCoclustering`.
    criterion : str or Criterion
        What "best" means: a name out of `list_criteria`, or `get_criterion` with options.
    search : {"auto", "exact", "merge"} or Search
        ``"merge"`` takes O(n log n), ``"exact"`` proves the optimum, ``"auto"`` too unless that takes much longer than
        usual: see `Search`. Does not apply to ``monotone``.
    weights : str or array-like of shape (n,), optional
        Whole numbers: a row of weight w is w rows. Or the name of the column that holds them.
    kinds : dict, optional
        ``"numerical"`` or ``"categorical"`` by column name, where it is not what the column's type says.
    target_kind : {"classes", "grouped", "numerical"}, optional
        ``"classes"`` takes numbers as class names. ``"grouped"``, for one input column and many classes, finds
        groups of classes together with the parts of the column. ``"numerical"`` takes whole numbers as a numerical
        target; real numbers are taken so where nothing else is said. Of whole numbers it must be said where more than
        20 differ, and more than a tenth of the rows: they may be quantities or class names.
    unlabelled : optional
        The value of the target that marks rows without a class, such as ``-1`` or ``"?"``; None or NaN stand for
        missing ones. These rows say where the data lie and no more: a partition has to explain the classes of the
        others, whichever theirs may be. For one input column, numerical or categorical. Their number in each part is
        ``Partition.unlabelled``, and ``counts`` are of the others. Where no row has the mark, all are labelled. A proof
        then rests on what trials and no theorem say of ``modl``: that no bound is needed but between consecutive
        labelled values that are not both of one and the same class.
    placement : {"median"}, optional
        With ``unlabelled``, another way to use these rows: the partition is the best one of the labelled rows alone,
        at their cost, and each of its bounds is then put at the median of the unlabelled rows between the two labelled
        values that it separates, with as many of them on either side; in the middle, as ever, where there are none.
        ``min_rows`` is of labelled rows then.
    special : dict, optional
        By column name, numbers that are codes and no quantities, such as ``{"age": [-999, -1]}``. Each is a part of its
        own beside the intervals and priced as a part like any other: with S of them in the data and I intervals the
        criterion prices I + S parts. They are kept even if they do not pay, so the level may be negative.
    monotone : {"increasing", "decreasing", "auto"}, optional
        For two classes: the share of the second one never falls (rises) from interval to interval, in whichever of the
        two ways is cheaper with ``"auto"``. Parts of missing values and special codes stand apart.
    max_parts : int, optional
        Most parts of each partition, that of a target too; those of all special codes are included.
    min_rows : int or float, optional
        Fewest rows of a part, or their share of all rows if it is a float below 1; a single part and special codes may
        have fewer.
    time_limit : float, optional
        Seconds after which the best partition so far is returned; so does Ctrl-C. They count from the call; compiling,
        where a criterion is used for the first time, is not counted.
    random_state : int, optional
        Seed of the search for a grid; one of a single column with classes draws no random numbers. None draws a fresh
        one.
    n_jobs : int
        Threads of the search for a grid, -1 for one per core; they change no bit of the result.
    progress : bool or callable, optional
        True shows a bar when work takes long: on the error stream if that is a terminal, or in the notebook. A
        callable is given `Progress` records. None leaves it at one line on the error stream, once in a process, if
        kernels compile for more than three seconds; False says nothing.

    Returns
    -------
    Model

    Examples
    --------
    >>> import gridmodl
    >>> x = [1.0, 1.5, 2.0, 2.5, 7.0, 7.5, 8.0, 8.5]
    >>> model = gridmodl.optimize(x, ["no"] * 4 + ["yes"] * 4)
    >>> model.partitions["x0"].bounds
    array([4.75])
    >>> model.transform([3.0, 5.0])
    array([0, 1])
    """
    clock = Clock(checked_time(time_limit))
    options = checked_options(criterion, search, kinds, special, monotone, max_parts, min_rows)
    check_placement(placement)
    check_seed(random_state)
    n_threads = checked_jobs(n_jobs)
    table = read_table(data, target, weights, target_kind, unlabelled, placement)
    check_names(table, options)
    check_one_input(table, unlabelled)
    if table.problem.kind == "joint":
        check_joint_columns(len(table.names))
    if is_grid(table):
        check_grid_options(options)
        with showing(progress, clock):
            return grid_model(table, best_grid(table, options, n_threads, random_state, clock), clock)
    _check_classes(table, monotone)
    (name,) = table.names
    if monotone is not None and table.is_categorical(name, options.kinds.get(name)):
        raise ValueError(f"column {name!r} is categorical; monotone= is for intervals of a numerical one")
    with showing(progress, clock):
        return _best_model(table, name, options, random_state, clock)


def optimize_each(
    data: Any,
    target: Any = None,
    *,
    criterion: str | Criterion = "modl",
    search: str | Search = "auto",
    weights: Any = None,
    kinds: Mapping[Name, str] | None = None,
    target_kind: str | None = None,
    unlabelled: Any = NOT_GIVEN,
    placement: str | None = None,
    special: Mapping[Name, Any] | None = None,
    monotone: str | None = None,
    max_parts: int | None = None,
    min_rows: int | float | None = None,
    time_limit: float | None = None,
    random_state: int | None = 0,
    n_jobs: int = -1,
    progress: bool | Callable[[Progress], Any] | None = None,
    on_error: str = "warn",
) -> Models:
    """Find the best partition of every column on its own.

    Parameters
    ----------
    data : array-like of shape (n, k), frame or dict of columns
        Columns of an array are called ``x0``, ``x1``, ...
    target, criterion, search, weights, kinds, target_kind, unlabelled, placement, special
        As of `optimize`; a target there must be.
    max_parts, min_rows, random_state, progress
        As of `optimize`.
    monotone : {"increasing", "decreasing", "auto"}, optional
        Holds for the numerical columns.
    time_limit : float, optional
        Seconds for all columns together; one whose turn comes later is read and gets one part, and ``stopped`` says so.
        So does Ctrl-C; a second one, while many long columns are read, raises KeyboardInterrupt.
    n_jobs : int
        Threads, -1 for one per core.
    on_error : {"warn", "ignore", "raise"}
        What becomes of a column that fails: it is named in a warning, or not, and in ``errors``, while the others have
        their models all the same; or its error is raised.

    Returns
    -------
    Models
        By column name, the most informative first.

    Examples
    --------
    >>> import gridmodl
    >>> data = {"size": [1, 2, 3, 7, 8, 9], "colour": ["red", "blue", "red", "blue", "red", "blue"]}
    >>> models = gridmodl.optimize_each(data, ["no", "no", "no", "yes", "yes", "yes"])
    >>> list(models)
    ['size', 'colour']
    """
    clock = Clock(checked_time(time_limit))
    options = checked_options(criterion, search, kinds, special, monotone, max_parts, min_rows)
    check_placement(placement)
    check_seed(random_state)
    n_threads = checked_jobs(n_jobs)
    check_on_error(on_error)
    if target is None:
        raise ValueError(
            "optimize_each partitions each column with a target in view, and none was given; optimize(data) makes one "
            "joint grid of all columns"
        )
    table = read_table(data, target, weights, target_kind, unlabelled, placement)
    check_names(table, options)
    criterion_for(options.criterion, table.problem.kind)
    if table.searched is not None:
        check_grid_options(options)
    _check_classes(table, monotone)
    with showing(progress, clock):
        answers = in_threads(
            lambda name: _model_or_error(table, name, options, random_state, clock), table.names, n_threads, clock
        )
    return kept_models(answers, on_error, table)


def check_on_error(on_error: Any) -> None:
    check_choice("on_error", on_error, ON_ERROR)


def kept_models(answers: Mapping[Name, Model | Exception], on_error: str, table: Table) -> Models:
    """The models of all columns that have one; `on_error` says what becomes of the others.

    Warnings point to the line that called the public function which calls this one.
    """
    errors = {name: answer for name, answer in answers.items() if isinstance(answer, Exception)}
    models = {name: answer for name, answer in answers.items() if isinstance(answer, Model)}
    if errors and (on_error == "raise" or not models):
        raise next(iter(errors.values()))
    if on_error == "warn":
        for name, error in errors.items():
            warnings.warn(f"column {name!r} has no model: {error}", ColumnWarning, stacklevel=3)
    return Models(models, errors, table.inputs.kind)


def price(
    data: Any,
    partitions: Mapping[Name, Any],
    target: Any = None,
    *,
    criterion: str | Criterion = "modl",
    weights: Any = None,
    kinds: Mapping[Name, str] | None = None,
    target_kind: str | None = None,
    unlabelled: Any = NOT_GIVEN,
    special: Mapping[Name, Any] | None = None,
) -> float:
    """The cost of a given partition, from the rows up; no search is involved.

    Parameters
    ----------
    data, partitions, target, criterion, weights, kinds, target_kind, unlabelled, special
        As of `Model.from_partitions`, which gives the whole model.

    Returns
    -------
    float
        Lower is better; in nats under ``modl``.

    Notes
    -----
    There is no ``placement``: unlabelled rows that only placed the bounds cost nothing. So the cost of a model with
    ``placement="median"`` is the price of its partitions on the labelled rows alone, without ``unlabelled``.

    Examples
    --------
    >>> import gridmodl
    >>> round(gridmodl.price([1, 2, 3, 4], {"x0": [2.5]}, ["a", "a", "b", "b"]), 4)
    5.193
    >>> round(gridmodl.price({"a": [1, 2, 3, 4], "b": [5, 6, 7, 8]}, {"a": [2.5], "b": [6.5]}), 4)  # no target
    10.8923
    """
    model = model_of_partitions(data, target, partitions, criterion, weights, kinds, special, target_kind, unlabelled)
    return model.cost


def _check_classes(table: Table, monotone: str | None) -> None:
    if monotone is not None and table.target.n_classes != 2:
        raise ValueError(f"monotone= needs a target of two classes; it has {table.target.n_classes}")
    if monotone is not None and table.problem.kind == "semi":
        raise ValueError(
            "monotone= orders the shares of classes, which rows without one do not have; leave these out, or let them "
            "only place the bounds: placement='median'"
        )


def _best_model(table: Table, name: Name, options: Options, random_state: int | None, clock: Clock) -> Model:
    if table.searched is not None:
        table = table.only(name)
        return grid_model(table, best_grid(table, options, 1, random_state, clock), clock)
    column = asked_column(table, name, options)
    if not table.placed:
        return column_model(table, name, best_partition(column, table, options, clock), clock)
    rows, kind = table.priced_rows(), "categorical" if isinstance(column, Categories) else "numerical"
    found = best_partition(asked_column(rows, name, options._replace(kinds={name: kind})), rows, options, clock)
    placed = found._replace(partition=at_medians(found.partition, column, table.target))
    return column_model(table, name, placed, clock)


def _model_or_error(
    table: Table, name: Name, options: Options, random_state: int | None, clock: Clock
) -> Model | Exception:
    try:
        return _best_model(table, name, options, random_state, clock.child())
    except Exception as error:
        return error
