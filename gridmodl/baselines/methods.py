"""Public functions of the baselines, for one column or for each, and the model of their intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.baselines.cutting import ChiMerge, CutMethod, EqualFrequency, EqualWidth, FayyadIrani, Values
from gridmodl.clock import Clock
from gridmodl.data.columns import Categories, kind_of_column
from gridmodl.data.frames import Name
from gridmodl.data.line import Line, make_line
from gridmodl.data.numbers import Numbers, Special
from gridmodl.data.table import Table, read_table
from gridmodl.data.targets import NOT_GIVEN, ManyNumbers
from gridmodl.fit.build import check_names, column_model, encoded_column
from gridmodl.fit.column.common import special_codes
from gridmodl.fit.column.priced import priced
from gridmodl.fit.options import Options, checked_options
from gridmodl.model.model import Model
from gridmodl.model.models import Models
from gridmodl.model.partition import Partition, interval_partition
from gridmodl.pipeline import check_on_error, kept_models
from gridmodl.plugins import criterion_for
from gridmodl.spelling import did_you_mean
from gridmodl.terms import Criterion


def equal_width(
    data: Any,
    target: Any,
    n_parts: int = 10,
    *,
    criterion: str | Criterion = "modl",
    weights: Any = None,
    special: Any = None,
) -> Model:
    """Intervals of equal width between the smallest and the largest finite value (equal-width binning).

    Parameters
    ----------
    data : array-like, series or frame of one column
        Numbers, dates or durations. Missing values are a part of their own beside the intervals.
    target : str or array-like of shape (n,)
        The class of each row, or the name of the column that holds it. It does not change the bounds, only the rows by
        class of each part.
    n_parts : int
        Number of intervals; some may have no rows. Fewer if the column's type cannot represent each bound, and one if
        there are no two distinct finite values.
    criterion : str or Criterion
        The criterion that prices the parts, as in `gridmodl.optimize`.
    weights : str or array-like of shape (n,), optional
        Whole numbers: a row of weight w counts as w rows.
    special : dict, optional
        By column name, numbers that are codes, not quantities. Each is a part of its own beside the intervals.

    Returns
    -------
    Model

    Examples
    --------
    >>> import gridmodl
    >>> model = gridmodl.baselines.equal_width([0.0, 1.0, 2.0, 10.0], ["a", "a", "b", "b"], 4)
    >>> model.partitions["x0"].bounds
    array([2.5, 5. , 7.5])
    """
    return _model(data, target, criterion, weights, special, EqualWidth(n_parts))


def equal_frequency(
    data: Any,
    target: Any,
    n_parts: int = 10,
    *,
    criterion: str | Criterion = "modl",
    weights: Any = None,
    special: Any = None,
) -> Model:
    """Intervals with about the same number of rows (equal-frequency binning).

    Each bound lies midway between two values, where the number of rows below is nearest to its share of all rows; ties:
    lowest.

    Parameters
    ----------
    data, target, criterion, weights, special
        As in `equal_width`.
    n_parts : int
        Number of intervals; fewer if one value has the rows of several intervals.

    Returns
    -------
    Model

    Examples
    --------
    >>> import gridmodl
    >>> model = gridmodl.baselines.equal_frequency([0.0, 1.0, 2.0, 10.0], ["a", "a", "b", "b"], 2)
    >>> model.partitions["x0"].bounds
    array([1.5])
    """
    return _model(data, target, criterion, weights, special, EqualFrequency(n_parts))


def fayyad_irani(
    data: Any,
    target: Any,
    *,
    criterion: str | Criterion = "modl",
    weights: Any = None,
    special: Any = None,
) -> Model:
    """Intervals by recursive splits with the lowest class entropy, stopped by description length.

    An interval of N rows and k classes is cut where the mean class entropy of its two parts is lowest (ties: leftmost),
    if this saves more than (log2(N - 1) + log2(3^k - 2) - k Ent + k1 Ent1 + k2 Ent2) / N bits per row, with k1 and k2
    classes in the parts. The parts are then cut in the same way. Often called MDLP, which here names a criterion.

    Parameters
    ----------
    data, target, criterion, weights, special
        As in `equal_width`.

    Returns
    -------
    Model

    References
    ----------
    U. M. Fayyad and K. B. Irani. Multi-interval discretization of continuous-valued attributes for classification
    learning. IJCAI 1993, 1022-1027.

    Examples
    --------
    >>> import gridmodl
    >>> model = gridmodl.baselines.fayyad_irani([1, 2, 3, 4, 5, 6, 7, 8], ["a"] * 4 + ["b"] * 4)
    >>> model.partitions["x0"].bounds
    array([4.5])
    """
    return _model(data, target, criterion, weights, special, FayyadIrani())


def chi_merge(
    data: Any,
    target: Any,
    significance: float = 0.95,
    *,
    min_parts: int = 1,
    max_parts: int | None = None,
    criterion: str | Criterion = "modl",
    weights: Any = None,
    special: Any = None,
) -> Model:
    """Intervals by merging neighbours whose classes do not differ significantly.

    Each value begins as an interval. The two neighbours with the lowest chi-square statistic of intervals by classes
    are merged (ties: leftmost) while the statistic is below the quantile of the chi-square distribution with one degree
    of freedom less than there are classes. As in the paper, a squared deviation is divided by at least 0.5, even if
    fewer rows are expected.

    Parameters
    ----------
    data, target, criterion, weights, special
        As in `equal_width`.
    significance : float
        The quantile: the closer to 1, the fewer parts. The paper advises 0.90 to 0.99.
    min_parts : int
        Smallest number of intervals, or the number of values if that is lower.
    max_parts : int, optional
        Largest number of intervals: neighbours are merged down to it, significant or not. The part of missing values
        and special codes are not counted.

    Returns
    -------
    Model

    References
    ----------
    R. Kerber. ChiMerge: discretization of numeric attributes. AAAI 1992, 123-128.

    Examples
    --------
    >>> import gridmodl
    >>> model = gridmodl.baselines.chi_merge([1, 2, 3, 4, 5, 6, 7, 8], ["a"] * 4 + ["b"] * 4)
    >>> model.partitions["x0"].bounds
    array([4.5])
    """
    return _model(data, target, criterion, weights, special, ChiMerge(significance, min_parts, max_parts))


CUT_METHODS: dict[Callable[..., Model], Callable[..., CutMethod]] = {
    equal_width: EqualWidth,
    equal_frequency: EqualFrequency,
    fayyad_irani: FayyadIrani,
    chi_merge: ChiMerge,
}


def each(
    method: Callable[..., Model],
    data: Any,
    target: Any,
    *,
    criterion: str | Criterion = "modl",
    weights: Any = None,
    special: Any = None,
    on_error: str = "warn",
    **options: Any,
) -> Models:
    """Cut each column on its own, by one of the methods.

    Parameters
    ----------
    method : function
        `equal_width`, `equal_frequency`, `fayyad_irani` or `chi_merge`.
    data : array-like of shape (n, k), frame or dict of columns
        As in `gridmodl.optimize_each`.
    target, criterion, weights, special
        As in `equal_width`.
    on_error : {"warn", "ignore", "raise"}
        What to do if a column cannot be cut into intervals, such as a categorical one. ``"warn"`` issues a
        `gridmodl.ColumnWarning`, ``"ignore"`` does not; both list the error in ``errors`` and keep the models of the
        other columns. ``"raise"`` raises the error. If no column has a model, the error is always raised.
    **options
        Options of the method.

    Returns
    -------
    Models
        By column name, the most informative first.

    Examples
    --------
    >>> import gridmodl
    >>> from gridmodl.baselines import each, equal_frequency
    >>> data = {"a": [1, 2, 3, 4], "b": [1, 3, 2, 4]}
    >>> models = each(equal_frequency, data, ["no", "no", "yes", "yes"], n_parts=2)
    >>> {name: model.partitions[name].n_parts for name, model in models.items()}
    {'a': 2, 'b': 2}
    """
    cut_method = _cut_method(method, options)
    check_on_error(on_error)
    table, common = _read_classes(data, target, criterion, weights, special)
    answers: dict[Name, Model | Exception] = {}
    clock = Clock()
    for name in table.names:
        own = clock.child()
        try:
            answers[name] = _model_of(table, name, common, cut_method, own)
        except Exception as failure:
            answers[name] = failure
        clock.stopped = own.stopped  # Ctrl-C in one column stops all columns
    return kept_models(answers, on_error, table.inputs.kind, level=3)


def _model(data: Any, target: Any, criterion: Any, weights: Any, special: Any, cut_method: CutMethod) -> Model:
    clock = Clock()
    table, options = _read_classes(data, target, criterion, weights, special)
    if len(table.names) > 1:
        raise ValueError(f"data has {len(table.names)} columns, not one; gridmodl.baselines.each cuts each on its own")
    return _model_of(table, table.names[0], options, cut_method, clock)


def _cut_method(method: Any, options: Mapping[str, Any]) -> CutMethod:
    """The cut method of the function `method`, with its options; TypeError if `method` is anything else."""
    cut_method = next((cut_method for known, cut_method in CUT_METHODS.items() if known is method), None)
    if cut_method is None:
        known = ", ".join(f"gridmodl.baselines.{function.__name__}" for function in CUT_METHODS)
        near = did_you_mean(method, [function.__name__ for function in CUT_METHODS])
        raise TypeError(f"method must be one of the functions {known}, got {method!r}{near}")
    allowed = [field.name for field in fields(cut_method)]  # type: ignore[arg-type]  # each is a dataclass
    for option in options:
        if option not in allowed:
            raise TypeError(
                f"{method.__name__} has no option {option!r}; it has {', '.join(allowed) or 'none'}"
                f"{did_you_mean(option, allowed)}"
            )
    return cut_method(**options)


def _read_classes(
    data: Any, target: Any, criterion: str | Criterion, weights: Any, special: Any
) -> tuple[Table, Options]:
    """Read a table with a target of classes, and the options that hold for all of its columns."""
    options = checked_options(criterion, special=special)
    if target is None:
        raise ValueError("target is None; without a target, use equal_width and equal_frequency of gridmodl.density")
    try:
        table = read_table(data, target, weights, None, NOT_GIVEN)
    except ManyNumbers as error:
        raise ValueError(f"{error.found}; pass it as text if each number is a class") from error
    if table.searched is not None:
        raise ValueError("the target has real numbers, not classes; pass it as text if each number is a class")
    check_names(table, options)
    criterion_for(options.criterion, table.problem.kind)
    return table, options


def _model_of(table: Table, name: Name, options: Options, cut_method: CutMethod, clock: Clock) -> Model:
    """The model of one column of a table."""
    column = encoded_column(table, name, options)
    if isinstance(column, Categories) or column.levels is not None:
        raise TypeError(
            f"column {name!r} is {kind_of_column(column)}; {cut_method.name} cuts numbers, dates and durations into "
            "intervals, gridmodl.optimize groups categories and levels"
        )
    special = special_codes(column, options)
    line = make_line(column, table.target, False, special.codes)
    values = _values_of(line, column)
    bounds = cut_method.cut(values, clock) if len(values.numbers) else np.empty(0, dtype=column.type)
    partition = _partition(column, line, bounds, special, table.target.n_classes)
    found = priced(column, table, criterion_for(options.criterion, table.problem.kind), partition)
    return column_model(table, column, found._replace(search=cut_method.name), clock)


def _values_of(line: Line, column: Numbers) -> Values:
    first = int(line.has_missing)
    counts = line.atoms.counts[first:]
    if len(counts) > 1:
        numbers = np.append(line.low[first:], line.high[-1])
    else:  # nothing to cut, and the line has no edges that hold the value
        numbers = np.zeros(len(counts), dtype=column.values.dtype)
    return Values(numbers, counts, column.type)


def _partition(column: Numbers, line: Line, bounds: NDArray[Any], special: Special, n_classes: int) -> Partition:
    """The intervals, with counts of zero; missing values are a part of their own if there are other values."""
    is_apart = line.has_missing and line.n_atoms > 1
    n_parts = int(is_apart) + len(bounds) + 1 + special.n_parts
    counts = np.zeros((n_parts, n_classes), dtype=np.int64)
    return interval_partition(column, bounds, special, counts, line.has_missing)
