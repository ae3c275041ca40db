"""Check the arguments of the public functions and convert them to `Options`."""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.bounds import SHORT
from gridmodl.data.columns import KINDS, Kind, checked_levels
from gridmodl.data.frames import Name
from gridmodl.data.numbers import special_parts
from gridmodl.data.table import MEDIAN, Table
from gridmodl.data.targets import NOT_GIVEN
from gridmodl.search import Search
from gridmodl.search.moves import NO_LIMIT, Limits
from gridmodl.search.proof import MONOTONE
from gridmodl.spelling import check_choice, did_you_mean
from gridmodl.terms import Criterion

PLACEMENTS = (SHORT, MEDIAN)
MISSING = ("auto", "apart")
FOR_NUMBERS = ("monotone", "fixed", "allowed")  # options of numerical columns alone
RULES = ("monotone", "min_events", "min_difference", "fixed", "allowed")
PERIOD_ROWS = 100  # of a period: of fewer, the share of an event is known to 0.1 or worse (two standard deviations)


class ColumnOptions(NamedTuple):
    """Options of one column, as the user gave them; `Options` has each for all columns or by column name."""

    special: Any = None
    missing: str = "auto"
    monotone: str | None = None
    max_parts: int | None = None
    min_rows: int | float | None = None
    min_events: Any = None
    min_difference: float | None = None
    fixed: Any = None
    allowed: Any = None
    min_period_rows: int | float | None = None

    def limits(self, n_rows: int) -> Limits:
        """Limits on parts and rows for data of `n_rows` rows."""
        return Limits(_checked_max_parts("max_parts", self.max_parts), _checked_min_rows(self.min_rows, n_rows))

    @property
    def has_rules(self) -> bool:
        """Whether a limit is given besides those on parts and rows."""
        return any(getattr(self, what) is not None for what in RULES)

    def min_counts(self, class_rows: NDArray[np.int64], event: int | None) -> NDArray[np.int64]:
        """Smallest rows of each class in a part, given those of all rows and the number of the event; empty: none."""
        if self.min_events is None or isinstance(self.min_events, np.ndarray):  # of a certificate: by class
            return np.empty(0, dtype=np.int64) if self.min_events is None else self.min_events
        if not isinstance(self.min_events, (tuple, list)):
            least = [rows_or_share("min_events", self.min_events, n) for n in class_rows.tolist()]
            return np.array(least, dtype=np.int64)
        if event is None:
            raise ValueError(f"min_events={self.min_events!r} needs an event; name a class of the target with event=")
        counts = np.zeros(len(class_rows), dtype=np.int64)
        counts[event] = rows_or_share("min_events", self.min_events[1], int(class_rows[event]))
        return counts


class Options(NamedTuple):
    """Options of the user: criterion, search, and how to partition each column.

    Options from `special` on are one value for all columns, or a dict by column name; `of` looks them up.
    """

    criterion: str | Criterion = "modl"
    search: Search = Search()
    kinds: Mapping[Name, Kind] = {}
    special: Any = {}
    missing: Any = None
    monotone: Any = None
    max_parts: Any = None
    min_rows: Any = None
    min_events: Any = None
    min_difference: Any = None
    fixed: Any = None
    allowed: Any = None
    min_period_rows: Any = None
    order: Mapping[Name, Any] = {}  # levels of ordinal columns; `kinds` has them too

    def of(self, name: Name) -> ColumnOptions:
        """Options of the column `name`; None for each that is not given."""
        found: dict[str, Any] = {}
        for what in ColumnOptions._fields:
            given = getattr(self, what)
            found[what] = given.get(name) if isinstance(given, Mapping) else given
        return ColumnOptions(**{**found, "missing": found["missing"] or "auto"})

    def names(self, what: str, name: Name) -> bool:
        """Whether the option `what` is a dict that has a value for the column `name`."""
        given = getattr(self, what)
        return isinstance(given, Mapping) and given.get(name) is not None


def checked_options(
    criterion: Any, search: Any = "auto", kinds: Any = None, order: Any = None, **by_column: Any
) -> Options:
    """Check each option by itself; `check_names` of `gridmodl.fit.build` checks names of columns later."""
    by_column = {
        what: dict(given) if isinstance(given, Mapping) else given
        for what, given in {**by_column, "special": _checked_special(by_column.get("special"))}.items()
    }
    for what, check in CHECKS.items():
        given = by_column.get(what)
        for column, value in given.items() if isinstance(given, Mapping) else [(None, given)]:
            if value is not None:
                check(what if column is None else f"{what} of column {column!r}", value)
    order = checked_mapping("order", order)
    of_columns = by_column["special"] if isinstance(by_column["special"], Mapping) else {}
    by_name = _with_levels(_checked_kinds(kinds), order, of_columns)
    return Options(criterion, checked_search(search), by_name, **by_column, order=order)


def check_one_input(table: Table, unlabelled: Any = NOT_GIVEN) -> None:
    """Raise ValueError if unlabelled rows come with several columns."""
    if unlabelled is not NOT_GIVEN and len(table.names) > 1:
        raise ValueError(
            f"unlabelled= is for one input column, and data has {len(table.names)}; optimize_each takes each on its own"
        )


def check_placement(placement: Any) -> None:
    """Raise ValueError unless `placement` is known or None."""
    check_choice("placement", placement, (*PLACEMENTS, None))


def checked_search(search: Any) -> Search:
    """Convert the name of a search, or a Search, to a Search."""
    if isinstance(search, Search):
        return search
    if not isinstance(search, str):
        raise TypeError(f"search must be a string or a gridmodl.Search, got {search!r}")
    return Search(search)


def checked_mapping(what: str, given: Any) -> Mapping[Name, Any]:
    """Copy a dict by column name; None gives an empty dict."""
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"{what} must be a dict by column name, got {given!r}")
    return dict(given or {})


def _checked_special(given: Any) -> Any:
    """Check special values: a dict by column name, or a list of numbers, codes of all columns of numbers."""
    if given is None or isinstance(given, Mapping):
        return dict(given or {})
    codes = given.tolist() if isinstance(given, np.ndarray) else given
    is_list = isinstance(codes, (list, tuple))
    if not is_list or not all(_is_real(code) for part in special_parts(codes, "special") for code in part):
        raise TypeError(
            "special must be a list of numbers, codes of all columns of numbers, such as [-999, -1], or a dict by "
            f"column name, got {given!r}"
        )
    return codes


def _with_levels(
    kinds: Mapping[Name, Kind], order: Mapping[Name, Any], special: Mapping[Name, Any]
) -> Mapping[Name, Kind]:
    """`kinds` with the levels of ordinal columns; special codes that are not in their `order` come after it."""
    found = dict(kinds)
    for column, given in order.items():
        if found.get(column, "ordinal") != "ordinal":
            raise ValueError(
                f"order gives levels of column {column!r}, which kinds calls {found[column]}; leave one of the two out"
            )
        levels = checked_levels(given, column)
        codes = itertools.chain(*special_parts(special.get(column, ()), f"special of column {column!r}"))
        found[column] = (*levels, *dict.fromkeys(code for code in codes if code not in levels))
    return found


def _checked_kinds(kinds: Any) -> Mapping[Name, Kind]:
    """Check the kinds of columns."""
    for column, kind in checked_mapping("kinds", kinds).items():
        if kind not in KINDS:
            raise ValueError(
                f"kinds says {kind!r} for column {column!r}; allowed: {', '.join(KINDS)}{did_you_mean(kind, KINDS)}"
            )
    return checked_mapping("kinds", kinds)


def check_integer(name: str, value: Any, allow_none: bool = False) -> None:
    """Raise TypeError unless the argument `name` is a whole number, or None if allowed."""
    if (value is None and allow_none) or (isinstance(value, numbers.Integral) and not isinstance(value, bool)):
        return
    raise TypeError(f"{name} must be a whole number{' or None' if allow_none else ''}, got {value!r}")


def check_seed(random_state: Any) -> None:
    """Raise unless `random_state` is None or a whole number that is not negative."""
    check_integer("random_state", random_state, allow_none=True)
    if random_state is not None and random_state < 0:
        raise ValueError(f"random_state must not be negative, got {random_state}")


def checked_jobs(n_jobs: Any) -> int:
    """Number of threads or processes to use."""
    check_integer("n_jobs", n_jobs)
    if n_jobs < 1 and n_jobs != -1:
        raise ValueError(f"n_jobs must be a number of threads, or -1 for all, got {n_jobs}")
    return int(n_jobs) if n_jobs > 0 else _n_cores()


def _n_cores() -> int:
    """Number of cores that this process may use."""
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checked_time(time_limit: Any) -> float | None:
    """Seconds of `time_limit`; None for no limit."""
    if time_limit is None:
        return None
    if not _is_real(time_limit) or not time_limit >= 0:
        raise ValueError(f"time_limit must be a number of seconds, 0 or more, got {time_limit!r}")
    return float(min(time_limit, 1e9))


def _is_real(value: Any) -> bool:
    """Whether `value` is a number, and not a boolean."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _checked_max_parts(what: str, max_parts: Any) -> int:
    """Largest number of parts; NO_LIMIT for None."""
    if max_parts is None:
        return NO_LIMIT
    check_integer(what, max_parts)
    if max_parts < 1:
        raise ValueError(f"{what} must be at least 1, got {max_parts}")
    return min(int(max_parts), NO_LIMIT)


def _checked_min_rows(min_rows: Any, n_rows: int) -> int:
    """Smallest number of rows of a part; a `min_rows` below 1 is a share of `n_rows`."""
    return 1 if min_rows is None else max(1, rows_or_share("min_rows", min_rows, n_rows))


def rows_or_share(what: str, given: Any, n_rows: int) -> int:
    """Number of rows, at most `n_rows` + 1; a number below 1 is a share of `n_rows`, rounded up."""
    if not _is_real(given) or not given > 0:
        raise ValueError(f"{what} must be a positive number of rows, or a share below 1, got {given!r}")
    if given < 1:
        return math.ceil(round(given * n_rows, 9))  # 0.07 of 100 is 7, not 7.000000000000001
    if not math.isfinite(given) or given != int(given):
        raise ValueError(f"{what} must be a whole number of rows, or a share below 1, got {given!r}")
    return min(int(given), n_rows + 1)


def _check_min_events(what: str, given: Any) -> None:
    """Raise unless `given` is a number of rows, a share, or ("event", one of these)."""
    if isinstance(given, (tuple, list)):
        if len(given) != 2 or given[0] != "event":
            raise ValueError(f"{what} must be a number, or ('event', number) for the event alone, got {given!r}")
        given = given[1]
    rows_or_share(what, given, 1)


def _check_min_difference(what: str, given: Any) -> None:
    """Raise ValueError unless `given` is a difference of two shares."""
    if not _is_real(given) or not 0 <= given <= 1:
        raise ValueError(f"{what} must be a difference of event rates, from 0 to 1, got {given!r}")


def _check_bounds(what: str, given: Any) -> None:
    """Raise TypeError unless `given` is a list of bounds."""
    if isinstance(given, (str, bytes)) or np.ndim(given) != 1:
        raise TypeError(f"{what} must be a list of bounds, or a dict of such lists by column name, got {given!r}")


def for_numbers(what: str, name: Name) -> ValueError:
    """Error for an option of a categorical column that is for numerical ones."""
    return ValueError(f"column {name!r} is categorical; {what}= is for intervals of a numerical or ordinal one")


CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "missing": lambda what, value: check_choice(what, value, MISSING),
    "monotone": lambda what, value: check_choice(what, value, (*MONOTONE, None)),
    "max_parts": _checked_max_parts,
    "min_rows": lambda what, value: rows_or_share(what, value, 1),
    "min_period_rows": lambda what, value: rows_or_share(what, value, 1),
    "min_events": _check_min_events,
    "min_difference": _check_min_difference,
    "fixed": _check_bounds,
    "allowed": _check_bounds,
}
