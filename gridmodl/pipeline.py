"""Public functions `optimize`, `optimize_each` and `price`: check arguments, read data, search, build models.

Start reading here: `gridmodl.data` reads the data, `gridmodl.fit` runs the searches of `gridmodl.search` and builds the
models of `gridmodl.model`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from gridmodl.clock import Clock, Progress, in_threads
from gridmodl.data.columns import ColumnWarning, error_beside_name
from gridmodl.data.counts import Counts
from gridmodl.data.frames import Name
from gridmodl.data.remote.queries import raise_interrupt, raising_interrupts
from gridmodl.data.table import read_table
from gridmodl.data.targets import NOT_GIVEN
from gridmodl.fit.build import check_classes, check_grid_options, check_names
from gridmodl.fit.given import model_of_partitions
from gridmodl.fit.lazy.data import counted_data
from gridmodl.fit.lazy.models import LAZY_FRAME, input_names, lazy_model, lazy_model_or_error, refuse_periods
from gridmodl.fit.models import model_or_error, table_model
from gridmodl.fit.options import (
    check_one_input,
    check_placement,
    check_seed,
    checked_jobs,
    checked_mapping,
    checked_options,
    checked_time,
)
from gridmodl.fit.periods import with_period_rows
from gridmodl.model.model import Model
from gridmodl.model.models import Models
from gridmodl.plugins import criterion_for
from gridmodl.progress import showing
from gridmodl.search import Search
from gridmodl.spelling import check_choice, check_columns, names_arguments
from gridmodl.terms import Criterion

ON_ERROR = ("warn", "ignore", "raise")


@names_arguments
def optimize(
    data: Any,
    target: Any = None,
    *,
    criterion: str | Criterion = "modl",
    search: str | Search = "auto",
    weights: Any = None,
    kinds: Mapping[Name, str] | None = None,
    order: Mapping[Name, Any] | None = None,
    target_kind: str | None = None,
    unlabelled: Any = NOT_GIVEN,
    placement: str | None = None,
    event: Any = None,
    special: Any = None,
    missing: str | Mapping[Name, str] = "auto",
    monotone: str | Mapping[Name, str] | None = None,
    max_parts: int | Mapping[Name, int] | None = None,
    min_rows: int | float | Mapping[Name, int | float] | None = None,
    min_events: Any = None,
    min_difference: float | Mapping[Name, float] | None = None,
    fixed: Any = None,
    allowed: Any = None,
    stable_over: Any = None,
    min_period_rows: int | float | Mapping[Name, int | float] | None = None,
    time_limit: float | None = None,
    random_state: int | None = 0,
    n_jobs: int = 1,
    progress: bool | Callable[[Progress], Any] | None = None,
) -> Model:
    """Find the partition of the data that explains the target best; without a target, the best joint partition.

    A part (bin) of a partition is an interval of numbers or a group of categories. With one column this is optimal
    binning (supervised discretization, value grouping), with several columns a grid, and without a target coclustering.
    One numerical column without a target gives its density, a histogram (unsupervised discretization).

    Parameters
    ----------
    data : array-like, frame, lazy frame, Counts, dict of columns or sparse matrix
        One or several input columns: an array, whose columns are named ``x0``, ``x1``, ..., a series, or a frame
        (pandas, polars, pyarrow, any that narwhals reads). Several columns make one grid over those that are
        informative together; see `optimize_each` for each column on its own.

        Numbers, dates and durations are numerical and are partitioned into intervals. Text, categories and booleans are
        categorical and are partitioned into groups of values. Ordered categoricals, enums of polars and ordered
        dictionaries of pyarrow are ordinal and are partitioned into groups of adjacent levels, priced as numbers are.
        Missing values (null and NaN alike) are one more value of a categorical column. In a numerical or ordinal column
        they sort below all values, and get a part of their own or join the lowest interval, whichever is cheaper.

        A matrix of `scipy.sparse`, of any format, has one row of data per entry: its row number and its column number
        are the values of two categorical columns, ``"row"`` and ``"column"``. An entry n counts as n rows, an entry of
        a boolean matrix as one. So ``optimize(scipy.sparse.csr_matrix(x))`` is the coclustering of a matrix x of zeros
        and ones. Rows and columns without entries are not values; `Model.transform` treats them as unknown.
    target : str or array-like of shape (n,), optional
        Class of each row (strings, integers, booleans or whole floats), in the order of the rows; an index of pandas is
        ignored. Or the name of the column that holds the classes. Or a real number for each row: then the target is
        partitioned into intervals, together with the columns. Without a target, two to ten columns make a joint grid:
        the parts of each column that tell the most about those of the others. For a table of counts with more columns
        see `GridCoclustering`. Without a target, one column of numbers, dates or durations makes a density: intervals
        in which rows are evenly spread, see `Model.log_density`. Rows with a missing value are left out of it
        (``Partition.n_missing`` counts them), and infinite values are an error.
    criterion : str or Criterion
        Cost to minimize: a name out of `list_criteria`, or `get_criterion` with options. For the density of one column,
        ``"modl"`` needs no choice, ``"bayesian-blocks"`` has the usual price of a block, and ``"penalized-likelihood"``
        chooses the price of a part by cross-validation, so that new rows are likely.
    search : {"auto", "exact", "merge"} or Search
        ``"merge"`` takes O(n log n), ``"exact"`` proves the optimum, ``"auto"`` proves it unless the proof would take
        much longer than usual: see `Search`. Limits such as ``monotone`` have a search of their own.
    weights : str or array-like of shape (n,), optional
        Whole numbers, or the name of the column that holds them; a row of weight w counts as w rows.
    kinds : dict, optional
        ``"numerical"``, ``"categorical"`` or ``"ordinal"`` by column name, for columns whose type says otherwise.
    order : dict, optional
        By column name, the levels of an ordinal column from low to high, such as ``{"rating": ["A", "B", "C"]}``; by
        default those of the column's type. A level that the data lacks falls between its neighbours; a value that is no
        level is an error, and unknown to `Model.transform`.
    target_kind : {"classes", "grouped", "numerical"}, optional
        ``"classes"`` takes numbers as class names. ``"grouped"``, for many classes, finds groups of classes together
        with the parts of the columns. ``"numerical"`` takes whole numbers as a numerical target. By
        default real numbers are a numerical target, and all else classes. For whole numbers it is required if more than
        20 numbers differ and they are more than a tenth of the rows, because they may be quantities or class names.
    unlabelled : optional
        Value of the target that marks unlabelled rows, which have no class, such as ``-1`` or ``"?"``; None or NaN
        marks rows with a missing target. For one input column, numerical or categorical. Unlabelled rows only say where
        the data lie: the partition has to explain the classes of the labelled rows. ``Partition.unlabelled`` is
        their number in each part, and ``counts`` are of the labelled rows. If no row has the mark, all rows are
        labelled. With unlabelled rows, a proof assumes that bounds are only needed between consecutive labelled values
        that are not both of one class; for ``modl`` this is confirmed by trials, not by a theorem.
    placement : {"short", "median"}, optional
        Where the bounds go, which costs nothing: the parts of the rows are the same. By default a bound is in the
        middle of the two neighbouring values that it separates (see `Partition.bounds`).

        ``"short"`` puts it at the shortest decimal strictly between the two values: the one of the fewest significant
        digits, of several the nearest to the middle, such as 30 between 17 and 44. Dates and durations: the start of a
        year, else of a month, day, hour, minute, second, tenth of a second and so on; durations of whole days with the
        fewest digits. The lower value itself if the column's type has no value between the two.

        ``"median"``, with ``unlabelled``, is another use of the unlabelled rows: the partition is the best one of the
        labelled rows alone, at their cost. Then each bound is moved to the median of the unlabelled rows between the
        two labelled values that it separates; without such rows it stays in the middle of the two values. ``min_rows``
        then counts labelled rows.
    event : optional
        The class that weights of evidence (woe), information values (iv), event rates, lift, ``monotone`` and queries
        speak of. By default True, 1 of 0 and 1 or of -1 and 1, the last of an ordered categorical target, and else the
        last in sorted order. With more than two classes and no `event`, weights of evidence and information values are
        of each class against the rest, and all else speaks of the last class. `Model.classes` is sorted, or in the
        order of an ordered categorical target.
    special : list of numbers or dict by column name, optional
        Numbers that are codes and not quantities, such as ``[-999]`` for all columns of numbers or
        ``{"age": [-999, -1]}``, or categories that are grouped with no others, such as ``{"city": ["n/a"]}``; those of
        a nested list, ``[[-999, -998], -1]``, share a part. Each is a part besides the intervals or groups, priced like
        any other part: with S such parts in the data and I intervals the criterion prices I + S parts. They are kept
        even if they do not pay, so the level may be negative. In a grid, a column that tells nothing is left out whole.
        In a density they are masses: values with a probability in place of a density. There, a value with ten times
        the rows of a typical value beside it (the median of the three distinct values on each side) is a mass too, and
        so is a value that would be left alone; with ``special=[]`` only the latter.
    missing : {"auto", "apart"} or dict by column name
        Where missing values of a numerical column go: to a part of their own or to the lowest interval, whichever is
        cheaper; with ``"apart"``, always to a part of their own. No limit moves them: a part of missing values alone
        may have fewer rows than ``min_rows``, and is none of ``max_parts``. In a grid, a column that tells nothing is
        left out whole. With a grouped or numerical target, ``"apart"`` is refused; there, missing values that
        ``min_rows`` or ``max_parts`` kept from a part of their own are cut off at the end of the search, wherever that
        pays.
    monotone : {"increasing", "decreasing", "peak", "valley", "auto"} or dict by column name, optional
        The share of the event never decreases (increases) from interval to interval; up to a peak it rises and then
        falls, and the other way round for a valley; ``"auto"`` takes the cheapest of these, and
        ``Model.certificate.order`` says which. With a numerical target and one numerical column, it is the order of the
        means of the target, which ``Model.limits`` says, and nothing is proven.
        Parts of missing values and special codes are exempt. For one column, as `min_events` and `min_difference`.
    max_parts : int or dict by column name, optional
        Maximum number of parts of each partition, also of a partitioned target. Parts of special codes, and of missing
        values alone, do not count. A grid with missing values is then searched twice, with them apart and without.
    min_rows : int, float or dict by column name, optional
        Minimum number of rows of a part, or their share of all rows if it is a float below 1. A single part, special
        codes and missing values that are a part of their own may have fewer. Without it, a wide gap between the values
        of a density may be a part without rows; with ``min_rows=1``, none is.
    min_events : int, float, ("event", int or float) or dict of these by column name, optional
        Minimum number of rows of every class in a part, or their share of all rows of that class if it is a float below
        1; ``("event", 20)`` is for the rows of the event alone. A single part, missing values and special codes may
        have fewer.
    min_difference : float or dict by column name, optional
        Minimum difference of the shares of the event in two neighbouring parts; of two groups, neighbours in the order
        of these shares. Missing values and special codes are exempt.
    fixed : list or dict of lists by column name, optional
        Bounds that the partition of a numerical column must have, in the type of the column, such as ``{"age": [18,
        65]}``; dates may be texts. They are kept even if they do not pay: in a grid, the column is always in.
    allowed : list or dict of lists by column name, optional
        The only bounds that the partition of a numerical column may have, besides the fixed ones.
    stable_over : str or array-like of shape (n,), optional
        Period of each row, such as its month, or the name of the column that holds it, which is then no input. The best
        partition among those whose parts have the same order of event rates in every period as in all rows; its cost is
        that of all rows. Equal rates agree with any order, and a part without rows in a period is not compared in it.
        Missing values and special codes in parts of their own are exempt; rows without a period, and those of periods
        below `min_period_rows`, count only in the order of all rows. `Model.stability` says which periods broke the
        best partition without this limit. For one column, as `monotone`.
    min_period_rows : int, float or dict by column name, optional
        With `stable_over`: the number of rows of a period in which parts are compared, by default at least 100, or
        their share of all rows if it is a float below 1.
    time_limit : float, optional
        Seconds, counted from the call, after which the best partition so far is returned; Ctrl-C returns it too.
        Compiling, at the first use of a criterion, does not count. A lazy frame that is not counted within a second
        more is an error, and Ctrl-C raises KeyboardInterrupt until it is.
    random_state : int, optional
        Seed of the search for a grid; None draws a fresh seed. The search of a single column with classes uses no
        random numbers.
    n_jobs : int
        Number of threads of the search for a grid, -1 for one per core; it does not change the result.
    progress : bool or callable, optional
        True shows a bar when work takes long, on the error stream if that is a terminal, or in the notebook. A callable
        gets `Progress` records. None prints at most one line on the error stream, once in a process, if kernels compile
        for more than three seconds. False prints nothing.

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
    options = checked_options(
        criterion, search, kinds, order, special=special, missing=missing, monotone=monotone, max_parts=max_parts,
        min_rows=min_rows, min_events=min_events, min_difference=min_difference, fixed=fixed, allowed=allowed,
        min_period_rows=min_period_rows,
    )  # fmt: skip
    check_placement(placement)
    check_seed(random_state)
    n_threads = checked_jobs(n_jobs)
    with clock.governing():
        counted = counted_data(data, target, weights, target_kind, unlabelled, placement, event, needs_target=False)
    if counted is not None:
        refuse_periods(stable_over, min_period_rows)
        with showing(progress, clock), clock.governing(), raising_interrupts():
            return lazy_model(*counted, options, random_state, clock, n_threads)
    table = read_table(data, target, weights, target_kind, unlabelled, placement, event, stable_over)
    options = with_period_rows(options, table)
    check_one_input(table, unlabelled)
    with showing(progress, clock):
        return table_model(table, options, random_state, clock, n_threads)


@names_arguments
def optimize_each(
    data: Any,
    target: Any = None,
    *,
    criterion: str | Criterion = "modl",
    search: str | Search = "auto",
    weights: Any = None,
    kinds: Mapping[Name, str] | None = None,
    order: Mapping[Name, Any] | None = None,
    target_kind: str | None = None,
    unlabelled: Any = NOT_GIVEN,
    placement: str | None = None,
    event: Any = None,
    special: Any = None,
    missing: str | Mapping[Name, str] = "auto",
    monotone: str | Mapping[Name, str] | None = None,
    max_parts: int | Mapping[Name, int] | None = None,
    min_rows: int | float | Mapping[Name, int | float] | None = None,
    min_events: Any = None,
    min_difference: float | Mapping[Name, float] | None = None,
    fixed: Any = None,
    allowed: Any = None,
    stable_over: Any = None,
    min_period_rows: int | float | Mapping[Name, int | float] | None = None,
    time_limit: float | None = None,
    random_state: int | None = 0,
    n_jobs: int = -1,
    progress: bool | Callable[[Progress], Any] | None = None,
    on_error: str = "warn",
    partitions: Mapping[Name, Any] | None = None,
) -> Models:
    """Find the best partition of every column on its own.

    Parameters
    ----------
    data : array-like of shape (n, k), frame, lazy frame, Counts or dict of columns
        Columns of an array are named ``x0``, ``x1``, ...; lazy frames are counted on their engine, see `count`.
    target, criterion, search, weights, kinds, order, target_kind, unlabelled, placement, event, special
        As in `optimize`; `target` is required, but for `Counts`.
    missing, max_parts, min_rows, min_events, min_difference, random_state, progress
        As in `optimize`.
    monotone, fixed, allowed
        As in `optimize`, for the numerical columns; a dict must not name a categorical one.
    stable_over, min_period_rows
        As in `optimize`, for each column.
    time_limit : float, optional
        Seconds for all columns together. Columns that begin later are read and get one part, and their ``stopped`` says
        so. Ctrl-C does the same; a second Ctrl-C, while many long columns are read, raises KeyboardInterrupt. Columns
        that an engine has not counted within a second after the limit, or at Ctrl-C, are in ``Models.errors``; if none
        was counted, the error, or KeyboardInterrupt, is raised.
    n_jobs : int
        Number of threads, -1 for one per core.
    on_error : {"warn", "ignore", "raise"}
        With ``"warn"`` or ``"ignore"``, a column that fails is in ``Models.errors``, with or without a warning, and the
        other columns have models. With ``"raise"``, its error is raised.
    partitions : dict by column name or Models, optional
        Parts of some columns, such as edited ones, which are priced instead of searched: for each a `Model` (with a
        grouped or numerical target, always), a `Partition`, the bounds of intervals or the groups of values, see
        `Model.from_partitions`. Limits do not apply to them.

    Returns
    -------
    Models
        Models by column name, the most informative first.

    Examples
    --------
    >>> import gridmodl
    >>> data = {"size": [1, 2, 3, 7, 8, 9], "colour": ["red", "blue", "red", "blue", "red", "blue"]}
    >>> models = gridmodl.optimize_each(data, ["no", "no", "no", "yes", "yes", "yes"])
    >>> list(models)
    ['size', 'colour']
    """
    clock = Clock(checked_time(time_limit))
    options = checked_options(
        criterion, search, kinds, order, special=special, missing=missing, monotone=monotone, max_parts=max_parts,
        min_rows=min_rows, min_events=min_events, min_difference=min_difference, fixed=fixed, allowed=allowed,
        min_period_rows=min_period_rows,
    )  # fmt: skip
    check_placement(placement)
    check_seed(random_state)
    n_threads = checked_jobs(n_jobs)
    check_on_error(on_error)
    if target is None and not isinstance(data, Counts):
        raise ValueError(
            "optimize_each needs a target, and none was given; optimize(data), without a target, makes one joint grid "
            "of all columns"
        )
    given = checked_mapping("partitions", partitions)
    with clock.governing():
        counted = counted_data(data, target, weights, target_kind, unlabelled, placement, event)
    if counted is not None:
        refuse_periods(stable_over, min_period_rows)
        rows, read = counted
        names = input_names(rows, options, given)
        with showing(progress, clock):
            answers = in_threads(
                lambda name: lazy_model_or_error(rows, name, options, read, random_state, clock, given),
                names,
                n_threads,
                clock,
            )
        return kept_models(answers, on_error, LAZY_FRAME)
    table = read_table(data, target, weights, target_kind, unlabelled, placement, event, stable_over)
    check_names(table, options)
    options = with_period_rows(options, table)
    criterion_for(options.criterion, table.problem.kind)
    if table.searched is not None:
        check_grid_options(options, table.only(table.names[0]))  # each column is alone with the target
    else:
        check_classes(table, options)
    check_columns("partitions", given, table.names)
    with showing(progress, clock):
        answers = in_threads(
            lambda name: model_or_error(table, name, options, random_state, clock, given),
            table.names,
            n_threads,
            clock,
        )
    return kept_models(answers, on_error, table.inputs.kind)


def check_on_error(on_error: Any) -> None:
    """Raise ValueError if `on_error` is not one of ON_ERROR."""
    check_choice("on_error", on_error, ON_ERROR)


def kept_models(answers: Mapping[Name, Model | Exception], on_error: str, frame: str, level: int = 4) -> Models:
    """Collect the models of all columns, and handle errors as `on_error` says.

    Warnings point to the line that called the public function, which must call this function directly; it is `level`
    frames up, one of them that of `names_arguments`.
    """
    errors = {name: answer for name, answer in answers.items() if isinstance(answer, Exception)}
    models = {name: answer for name, answer in answers.items() if isinstance(answer, Model)}
    if errors and (on_error == "raise" or not models):
        raise_interrupt(errors.values())
        raise next(iter(errors.values()))
    if on_error == "warn":
        for name, error in errors.items():
            warnings.warn(
                f"column {name!r} has no model: {error_beside_name(error, name)}", ColumnWarning, stacklevel=level
            )
    return Models(models, errors, frame)


@names_arguments
def price(
    data: Any,
    target: Any = None,
    partitions: Mapping[Name, Any] | None = None,
    *,
    criterion: str | Criterion = "modl",
    weights: Any = None,
    kinds: Mapping[Name, str] | None = None,
    order: Mapping[Name, Any] | None = None,
    target_kind: str | None = None,
    unlabelled: Any = NOT_GIVEN,
    special: Any = None,
) -> float:
    """Compute the cost of the user's own partitions from the rows, without a search.

    Parameters
    ----------
    data, target, partitions, criterion, weights, kinds, order, target_kind, unlabelled, special
        As in `Model.from_partitions`, which returns the whole model.

    Returns
    -------
    float
        The cost: lower is better; in nats under ``modl``.

    Notes
    -----
    There is no ``placement``, because unlabelled rows that only place the bounds cost nothing: the cost of a model with
    ``placement="median"`` is the price of its partitions on the labelled rows alone, without ``unlabelled``.

    Examples
    --------
    >>> import gridmodl
    >>> round(gridmodl.price([1, 2, 3, 4], ["a", "a", "b", "b"], {"x0": [2.5]}), 4)
    5.193
    >>> round(gridmodl.price({"a": [1, 2, 3, 4], "b": [5, 6, 7, 8]}, None, {"a": [2.5], "b": [6.5]}), 4)  # no target
    10.8923
    """
    model = model_of_partitions(
        data, target, partitions, criterion, weights, kinds, order, special, target_kind, unlabelled
    )
    return model.cost
