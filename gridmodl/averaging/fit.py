"""Public functions `average` and `average_each`: check arguments, read data, choose candidate bounds, sum."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.averaging.averages import Averages
from gridmodl.averaging.record import Average
from gridmodl.averaging.summing import PRIORS, SegmentCounts, averaged_of, results_of, weights_of
from gridmodl.clock import Clock, Progress, in_threads
from gridmodl.data.atoms import coarsen, rows_by_code
from gridmodl.data.columns import Categories, ColumnWarning, error_beside_name
from gridmodl.data.counts import Counts
from gridmodl.data.frames import Name
from gridmodl.data.line import Line
from gridmodl.data.numbers import Numbers
from gridmodl.data.remote.queries import raise_interrupt
from gridmodl.data.table import Table, read_table
from gridmodl.data.targets import NOT_GIVEN
from gridmodl.fit.build import check_names, check_option_names, encoded_column
from gridmodl.fit.column.common import labelled_apart
from gridmodl.fit.column.intervals import Intervals, intervals_task
from gridmodl.fit.column.priced import with_missing
from gridmodl.fit.lazy.column import counted_column
from gridmodl.fit.lazy.data import LazyData, counted_data
from gridmodl.fit.lazy.models import LAZY_FRAME
from gridmodl.fit.options import Options, check_integer, checked_jobs, checked_options, checked_time
from gridmodl.model.densities.ranges import with_domain
from gridmodl.model.partition import interval_partition
from gridmodl.pipeline import check_on_error
from gridmodl.progress import showing
from gridmodl.search import Search, run
from gridmodl.search.average.candidates import Candidates, all_places, some_places
from gridmodl.search.task import Task
from gridmodl.spelling import check_choice, names_arguments
from gridmodl.terms import Criterion

MAX_CANDIDATES = 8192  # 8 m^2 bytes are 512 MB
COARSE_ATOMS = 2**14  # atoms of the search for bounds that candidates are near


@names_arguments
def average(
    data: Any,
    target: Any = None,
    *,
    criterion: str | Criterion = "modl",
    prior: str = "values",
    m: int = 512,
    weights: Any = None,
    target_kind: str | None = None,
    unlabelled: Any = NOT_GIVEN,
    event: Any = None,
    kinds: Any = None,
    order: Any = None,
    special: Any = None,
    monotone: Any = None,
    max_parts: int | None = None,
    time_limit: float | None = None,
    progress: bool | Callable[[Progress], Any] | None = None,
) -> Average:
    """Average the predictions of all partitions of a numerical column into intervals, by their probabilities.

    The best partition, from `optimize`, is to be read; to predict, the average is better. An ordinal column is averaged
    over all its partitions into groups of adjacent levels, priced as numbers are.

    Parameters
    ----------
    data : array-like of shape (n,), series, frame or lazy frame of one column, or Counts of one
        Numbers, dates or durations, or ordered categories. Missing values are a part of their own or join the lowest
        interval, each with its probability, and are never interpolated; nor are levels that training rows have.
    target : str or array-like of shape (n,)
        Class of each row, as in `optimize`.
    criterion : str or Criterion
        ``"modl"``, whose cost is minus the logarithm of a probability; ``"aic"`` and ``"bic"`` by the usual
        approximation exp(-cost / 2), with the predictions of ``"modl"`` inside an interval; or any criterion that
        declares a ``scale`` and ``predictive``.
    prior : {"values", "rows"}
        Whether a criterion that prices the number of parts by the number of rows sees the distinct values or the rows
        there. With ``"rows"`` the price is the criterion's own; on 1,356 columns ``"values"`` predicted clearly better
        on 137 of them and clearly worse on 11. The two are the same if all values differ.
    m : int
        Number of candidate bounds. With at most `m` distinct values the average is exact; with more, candidates are
        quantiles and places near the bounds of a good partition, and stand for the places nearest to them.
    weights : str or array-like of shape (n,), optional
        Whole numbers, or the name of the column that holds them; a row of weight w counts as w rows.
    target_kind : {"classes"}, optional
        Takes numbers as class names.
    unlabelled : optional
        Value of the target that marks rows without a class, as in `optimize`. Their classes are averaged over too.
    event : optional
        Class whose probability plots and pages show, as in `optimize`.
    kinds, order : dict by column name, optional
        As in `optimize`: ``order={"rating": ["A", "B", "C"]}`` makes a column ordinal, and so does the type of an
        ordered categorical. Groups of a categorical column are not averaged.
    special : list of numbers or dict by column name, optional
        Numbers that are codes and not quantities, as in `optimize`: each is a part of its own, and those of a nested
        list share one.
    monotone : None
        Refused: see Raises.
    max_parts : int, optional
        Maximum number of parts. Special codes do not count; missing values do where they are a part of their own.
    time_limit : float, optional
        Seconds after which the average of one part is returned, with ``stopped`` set; so does Ctrl-C.
    progress : bool or callable, optional
        As in `optimize`.

    Returns
    -------
    Average

    Raises
    ------
    ValueError
        For `monotone`: partitions whose shares keep an order do not add up over intervals, because each interval is
        compared with the one before it. No recursion over bounds sums over them.

    Examples
    --------
    >>> import gridmodl
    >>> found = gridmodl.average([1.0, 1.5, 2.0, 2.5, 7.0, 7.5, 8.0, 8.5], ["no"] * 4 + ["yes"] * 4)
    >>> found.predict_proba([2.0, 4.75, 8.0])[:, 1].round(2)
    array([0.26, 0.5 , 0.75])
    """
    clock = Clock(checked_time(time_limit))
    _check_monotone(monotone)
    options = checked_options(criterion, kinds=kinds, order=order, special=special, max_parts=max_parts)
    _check_arguments(prior, m)
    with clock.governing():
        source = _read(data, target, weights, target_kind, unlabelled, event, "average")
    if len(source.names) > 1:
        raise ValueError(f"average takes one column, and data has {len(source.names)}; average_each takes each")
    check_option_names(options, source.names)
    with showing(progress, clock), clock.governing():
        return source.average_of(source.names[0], options, _Choice(criterion, prior, int(m)), clock)


@names_arguments
def average_each(
    data: Any,
    target: Any = None,
    *,
    criterion: str | Criterion = "modl",
    prior: str = "values",
    m: int = 512,
    weights: Any = None,
    target_kind: str | None = None,
    unlabelled: Any = NOT_GIVEN,
    event: Any = None,
    kinds: Any = None,
    order: Any = None,
    special: Any = None,
    monotone: Any = None,
    max_parts: Any = None,
    time_limit: float | None = None,
    n_jobs: int = -1,
    progress: bool | Callable[[Progress], Any] | None = None,
    on_error: str = "warn",
) -> Averages:
    """Average over all partitions of every numerical and ordinal column on its own.

    Parameters
    ----------
    data : array-like of shape (n, k), frame, lazy frame, Counts or dict of columns
        Columns of an array are named ``x0``, ``x1``, ...; categorical columns are errors of their own.
    target, criterion, prior, m, weights, target_kind, unlabelled, event, kinds, order, special, monotone, max_parts
        As in `average`.
    time_limit : float, optional
        Seconds for all columns together. Columns that begin later get one part, and their ``stopped`` says so; Ctrl-C
        does the same.
    n_jobs : int
        Number of threads, -1 for one per core.
    progress : bool or callable, optional
        As in `optimize`.
    on_error : {"warn", "ignore", "raise"}
        As in `optimize_each`, with ``Averages.errors``.

    Returns
    -------
    Averages

    Examples
    --------
    >>> import gridmodl
    >>> data = {"size": [1, 2, 3, 7, 8, 9], "noise": [3, 1, 2, 2, 3, 1]}
    >>> averages = gridmodl.average_each(data, ["no", "no", "no", "yes", "yes", "yes"])
    >>> list(averages)
    ['size', 'noise']
    """
    clock = Clock(checked_time(time_limit))
    _check_monotone(monotone)
    options = checked_options(criterion, kinds=kinds, order=order, special=special, max_parts=max_parts)
    _check_arguments(prior, m)
    n_threads = checked_jobs(n_jobs)
    check_on_error(on_error)
    with clock.governing():
        source = _read(data, target, weights, target_kind, unlabelled, event, "average_each")
    check_option_names(options, source.names)
    chosen = _Choice(criterion, prior, int(m))

    def work(name: Name) -> Average | Exception:
        try:
            return source.average_of(name, options, chosen, clock.child())
        except Exception as error:
            return error

    with showing(progress, clock):
        answers = in_threads(work, source.names, n_threads, clock)
    errors = {name: answer for name, answer in answers.items() if isinstance(answer, Exception)}
    averages = {name: answer for name, answer in answers.items() if isinstance(answer, Average)}
    if errors and (on_error == "raise" or not averages):
        raise_interrupt(errors.values())
        raise next(iter(errors.values()))
    if on_error == "warn":
        for name, error in errors.items():
            warnings.warn(
                f"column {name!r} has no average: {error_beside_name(error, name)}", ColumnWarning, stacklevel=3
            )
    return Averages(averages, errors, source.kind)


def _check_arguments(prior: Any, m: Any) -> None:
    """Raise unless `prior` and `m` are known."""
    check_choice("prior", prior, PRIORS)
    check_integer("m", m)
    if not 2 <= m <= MAX_CANDIDATES:
        raise ValueError(f"m must be a number of candidate bounds from 2 to {MAX_CANDIDATES}, got {m}")


def _check_monotone(monotone: Any) -> None:
    """Raise ValueError unless `monotone` is None."""
    if monotone is not None:
        raise ValueError(
            f"monotone={monotone!r} is refused: partitions whose shares keep an order do not add up over intervals, "
            "because each interval is compared with the one before it, and no recursion over bounds sums over them. "
            "optimize(..., monotone=...) finds the best one"
        )


class _Choice(NamedTuple):
    """Arguments that say how to average."""

    criterion: str | Criterion
    prior: str
    m: int


class _Source(NamedTuple):
    """Columns to average: a function that makes the table of one of them, and the resolution of its counts."""

    names: list[Name]
    kind: str  # of frame
    table_of: Callable[[Name, Options], tuple[Table, int]]

    def average_of(self, name: Name, options: Options, chosen: _Choice, clock: Clock) -> Average:
        """Average of the column `name`."""
        table, resolution = self.table_of(name, options)
        criteria = averaged_of(chosen.criterion, table.problem.kind)
        found = _average_of(table, name, options, criteria, chosen.prior, chosen.m, clock)
        return replace(found, exact=found.exact and not resolution, frame=self.kind)


def _read(
    data: Any, target: Any, weights: Any, target_kind: str | None, unlabelled: Any, event: Any, what: str
) -> _Source:
    """Read data with a class target, or count them."""
    if target is None and not isinstance(data, Counts):
        raise ValueError(f"{what} needs a class target, and no target was given")
    counted = counted_data(data, target, weights, target_kind, unlabelled, event=event)
    if counted is None:
        table = _with_classes(read_table(data, target, weights, target_kind, unlabelled, event=event), what)
        check_names(table, Options())
        return _Source(table.names, table.inputs.kind, lambda _, __: (table, 0))
    rows, read = counted

    def counted_table(name: Name, options: Options) -> tuple[Table, int]:
        found = counted_column(rows, name, options)
        return _with_classes(found.table(read), what), found.resolution

    return _Source(rows.names if isinstance(rows, LazyData) else list(rows), LAZY_FRAME, counted_table)


def _with_classes(table: Table, what: str) -> Table:
    """`table`, whose target must have classes."""
    if table.searched is not None:
        raise ValueError(
            f"{what} needs a target of classes; the target is numerical or grouped. target_kind='classes' takes "
            "numbers as class names"
        )
    return table


def _average_of(
    table: Table, name: Name, options: Options, criteria: tuple[Criterion, Criterion], prior: str, m: int, clock: Clock
) -> Average:
    """Average of the column `name`."""
    column = encoded_column(table, name, options)
    if isinstance(column, Categories):
        raise TypeError(
            f"column {name!r} is categorical; averages are over intervals of numbers and adjacent levels of an order. "
            "optimize finds the best partition of its values, and order= gives them an order"
        )
    given, averaged = criteria
    limits = options.of(name).limits(table.problem.n_rows)
    made = intervals_task(column, table, averaged, options, limits, clock, may_join=False, may_stop=True)
    candidates, is_exact = _candidates(made, m)
    max_parts = options.of(name).max_parts
    counted = _count(column, made, candidates, table)
    clock.step = "average"
    prepared, results = (made.task.setting.p, made.task.setting.variable), None
    if not clock.look():
        results = results_of(counted, weights_of(counted, criteria, prior, max_parts, prepared), clock)
    if results is None:  # stopped: one segment
        candidates, is_exact = all_places(1), False
        counted = _count(column, made, candidates, table)
        results = results_of(counted, weights_of(counted, criteria, prior, max_parts), Clock())
        assert results is not None  # noqa: S101  for mypy: this clock never stops
    first = int(counted.segments.is_missing_apart)
    return Average(
        log_evidence=results.log_evidence,
        p_parts=results.p_parts,
        p_bounds=results.p_cuts[first:],
        p_missing_apart=_p_missing_apart(made.line, results.p_cuts, first),
        p_informative=results.p_informative,
        loo_loss=results.loo_loss,
        neglected=results.neglected,
        exact=is_exact,
        knots=_values_of_knots(column, made, candidates, first),
        shares=results.shares,
        classes=table.classes,
        criterion=given.name,
        prior=prior,
        elapsed=clock.elapsed,
        options=dict(given.chosen),
        max_parts=max_parts,
        stopped=clock.stopped,
        frame=table.inputs.kind,
        event_index=table.target.one_event,
        target_name=table.target_name,
        _counted=counted,
    )


def _p_missing_apart(line: Line, p_cuts: NDArray[np.float64], first: int) -> float | None:
    """Probability that missing values have a part of their own; None without missing values."""
    if not line.has_missing:
        return None
    return float(p_cuts[0]) if first else 0.0


def _candidates(made: Intervals, m: int) -> tuple[Candidates, bool]:
    """Candidate bounds of a column, and whether these are all places."""
    line, task = made.line, made.task
    n_atoms = line.n_atoms
    if n_atoms <= m or task.clock.look():
        return all_places(max(1, n_atoms)), True
    atoms = line.atoms
    labelled = atoms.counts.sum(axis=1, dtype=np.int64)
    return some_places(labelled, _good_starts(task), m, line.has_missing), False


def _good_starts(task: Task) -> NDArray[np.int64]:
    """First atoms of the parts of a good partition, found by merges of runs of one class."""
    counts = task.atoms.counts
    starts = np.arange(task.n_atoms)
    if task.criterion.joins_pure_runs:
        n_present = np.count_nonzero(counts, axis=1)
        pure = np.where(n_present == 1, counts.argmax(axis=1), -1)
        starts = np.flatnonzero(np.append(True, (pure[1:] != pure[:-1]) | (pure[1:] < 0)))
    if len(starts) > COARSE_ATOMS:
        starts = starts[np.linspace(0, len(starts) - 1, COARSE_ATOMS).astype(np.int64)]
    coarse = replace(task, atoms=coarsen(task.atoms, starts), start=None)
    found, _ = run("intervals", coarse, Search("merge", post_optimize=False))
    return starts[found.starts]


def _count(column: Numbers, made: Intervals, candidates: Candidates, table: Table) -> SegmentCounts:
    """Count the rows of each segment and special code."""
    line, target = made.line, table.target
    if line.n_atoms:
        atoms = coarsen(line.atoms, candidates.starts)
        rows, values = rows_by_code(atoms, target).astype(np.int64), atoms.values.astype(np.int64)
    else:  # all rows hold special codes: an interval without rows
        rows, values = np.zeros((1, target.n_codes), dtype=np.int64), np.zeros(1, dtype=np.int64)
    special_values = np.zeros(len(line.special), dtype=np.int64)
    special_values[line.special.any(axis=1)] = made.apart_values
    counts, unlabelled = labelled_apart(np.concatenate([rows, line.special]), target)
    bounds = line.bounds(candidates.starts, column.type)
    segments = interval_partition(column, bounds, made.special, counts, line.has_missing, unlabelled)
    segments = with_domain(with_missing(segments, column, table), column)
    return SegmentCounts(segments, np.append(values, special_values), candidates.runs)


def _values_of_knots(column: Numbers, made: Intervals, candidates: Candidates, first: int) -> NDArray[Any]:
    """Value of each knot, in the type of bounds; none if there are no numbers."""
    line = made.line
    n_numbers = line.n_atoms - int(line.has_missing)
    if n_numbers == 0:
        values = column.values[:0]
    elif len(line.high) == 0 or len(candidates.starts) == 1:  # one segment: any of its values
        is_number = ~np.isin(column.values, made.special.codes)
        if column.missing is not None:
            is_number &= ~column.missing
        values = column.values[is_number][:1]
    else:
        knots = candidates.knots[first:]
        values = np.append(line.low, line.high[-1])[knots]
    if column.levels is not None:
        return values.astype(np.int64)
    return values.view(column.type) if column.type.kind in "mM" else values
