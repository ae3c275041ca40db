"""The methods as a user calls them, of one column or of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from gridmodl.baselines.chimerging import ChiMerge
from gridmodl.baselines.entropysplits import FayyadIrani
from gridmodl.baselines.equalparts import EqualFrequency, EqualWidth
from gridmodl.baselines.running import Rule, model_of, one_model, read_classes
from gridmodl.clock import Clock
from gridmodl.frames import Name
from gridmodl.model import Model
from gridmodl.models import Models
from gridmodl.pipeline import check_on_error, kept_models
from gridmodl.spelling import did_you_mean
from gridmodl.terms import Criterion


def equal_width(
    data: Any,
    target: Any,
    n_parts: int = 10,
    *,
    criterion: str | Criterion = "modl",
    weights: Any = None,
    special: Mapping[Name, Any] | None = None,
) -> Model:
    """Intervals of one width between the smallest and the largest finite value.

    Parameters
    ----------
    data : array-like, series or frame of one column
        Numbers, dates or durations. Missing values are a part of their own beside the intervals.
    target : str or array-like of shape (n,)
        The class of each row, or the name of the column that holds it. It is not looked at, but for the rows of each
        class in each part.
    n_parts : int
        Intervals; some may hold no row. Fewer where the column's type has no number for each bound, and one where there
        are no two different finite values.
    criterion : str or Criterion
        What the parts are priced by; as of `gridmodl.optimize`, and so are ``weights`` and ``special``.
    weights : str or array-like of shape (n,), optional
        Whole numbers: a row of weight w is w rows.
    special : dict, optional
        By column name, numbers that are codes and no quantities. Each is a part of its own beside the intervals.

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
    special: Mapping[Name, Any] | None = None,
) -> Model:
    """Intervals of about as many rows each.

    Each bound is where the number of rows below is nearest to its share of all, the lower of two such places, midway
    between two values.

    Parameters
    ----------
    data, target, criterion, weights, special
        As of `equal_width`.
    n_parts : int
        Intervals; fewer where a value has the rows of several.

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
    special: Mapping[Name, Any] | None = None,
) -> Model:
    """Intervals by recursive splits of least class entropy, with a stop by description length.

    An interval of N rows and k classes is cut where the mean class entropy of its two parts is least, at the lowest of
    equal cuts, if this saves more than (log2(N - 1) + log2(3^k - 2) - k Ent + k1 Ent1 + k2 Ent2) / N bits a row; so are
    its parts then, of k1 and k2 classes. Often called MDLP, which here is the name of another criterion.

    Parameters
    ----------
    data, target, criterion, weights, special
        As of `equal_width`.

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
    special: Mapping[Name, Any] | None = None,
) -> Model:
    """Intervals by merging neighbours whose classes do not differ significantly.

    Each value begins as an interval. The two neighbours with the least chi-square statistic of intervals by classes
    are merged, the leftmost of equals first, while it is below the quantile of the chi-square distribution with as many
    degrees of freedom as there are classes, less one. As in the paper, a squared deviation is divided by 0.5 where
    fewer rows are expected.

    Parameters
    ----------
    data, target, criterion, weights, special
        As of `equal_width`.
    significance : float
        Which quantile: more merges and fewer parts the closer it is to 1. The paper advises 0.90 to 0.99.
    min_parts : int
        So many intervals are left at least, if there are as many values.
    max_parts : int, optional
        Merges go on, significant or not, until so many intervals are left at most. The part of missing values is not
        counted, nor are special codes.

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


RULES: dict[Callable[..., Model], Callable[..., Rule]] = {
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
    special: Mapping[Name, Any] | None = None,
    on_error: str = "warn",
    **options: Any,
) -> Models:
    """One of these methods on every column on its own.

    Parameters
    ----------
    method : function
        `equal_width`, `equal_frequency`, `fayyad_irani` or `chi_merge`.
    data : array-like of shape (n, k), frame or dict of columns
        As of `gridmodl.optimize_each`.
    target, criterion, weights, special
        As of `equal_width`.
    on_error : {"warn", "ignore", "raise"}
        What becomes of a column that cannot be cut into intervals, such as a categorical one: it is named in a
        `gridmodl.ColumnWarning`, or not, and in ``errors``, while the others have their models all the same; or its
        error is raised, as it always is where no column has a model.
    **options
        Those of the method.

    Returns
    -------
    Models
        By column name, the most informative first.

    Examples
    --------
    >>> import gridmodl
    >>> from gridmodl.baselines import each, equal_frequency
    >>> models = each(equal_frequency, {"a": [1, 2, 3, 4], "b": [1, 3, 2, 4]}, ["no", "no", "yes", "yes"], n_parts=2)
    >>> {name: model.partitions[name].n_parts for name, model in models.items()}
    {'a': 2, 'b': 2}
    """
    rule = _rule(method, options)
    check_on_error(on_error)
    table, given = read_classes(data, target, criterion, weights, special)
    answers: dict[Name, Model | Exception] = {}
    clock = Clock()
    for name in table.names:
        own = clock.child()
        try:
            answers[name] = model_of(table, name, given, rule, own)
        except Exception as failure:
            answers[name] = failure
        clock.stopped = own.stopped  # who interrupts one column means all
    return kept_models(answers, on_error, table)


def _model(data: Any, target: Any, criterion: Any, weights: Any, special: Any, rule: Rule) -> Model:
    clock = Clock()
    table, options = read_classes(data, target, criterion, weights, special)
    return one_model(table, options, rule, clock)


def _rule(method: Any, options: Mapping[str, Any]) -> Rule:
    """The rule of a method; `method` may be anything, such as its name, or a list."""
    rule = next((rule for known, rule in RULES.items() if known is method), None)
    if rule is None:
        known = ", ".join(f"gridmodl.baselines.{function.__name__}" for function in RULES)
        near = did_you_mean(method, [function.__name__ for function in RULES])
        raise TypeError(f"method must be one of the functions {known}, got {method!r}{near}")
    allowed = [field.name for field in fields(rule)]  # type: ignore[arg-type]  # each is a dataclass
    for option in options:
        if option not in allowed:
            raise TypeError(
                f"{method.__name__} has no option {option!r}; it has {', '.join(allowed) or 'none'}"
                f"{did_you_mean(option, allowed)}"
            )
    return rule(**options)
