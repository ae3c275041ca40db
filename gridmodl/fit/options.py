"""Check the arguments of the public functions and convert them to `Options`."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any, NamedTuple

from gridmodl.data.columns import KINDS
from gridmodl.data.frames import Name
from gridmodl.search import Search
from gridmodl.search.moves import NO_LIMIT, Limits
from gridmodl.search.proof import MONOTONE
from gridmodl.spelling import check_choice, did_you_mean
from gridmodl.terms import Criterion

PLACEMENTS = ("median",)


class Options(NamedTuple):
    """Options of the user: criterion, search, and how to partition each column."""

    criterion: str | Criterion = "modl"
    search: Search = Search()
    kinds: Mapping[Name, str] = {}
    special: Mapping[Name, Any] = {}
    monotone: str | None = None
    max_parts: int | None = None
    min_rows: int | float | None = None

    def limits(self, n_rows: int) -> Limits:
        """Limits on parts and rows for data of `n_rows` rows."""
        return Limits(_checked_max_parts(self.max_parts), _checked_min_rows(self.min_rows, n_rows))


def checked_options(
    criterion: Any, search: Any, kinds: Any, special: Any, monotone: Any, max_parts: Any, min_rows: Any
) -> Options:
    """Check each option by itself; `check_names` of `gridmodl.fit.build` checks names of columns later."""
    check_choice("monotone", monotone, (*MONOTONE, None))
    options = Options(
        criterion, checked_search(search), _checked_kinds(kinds), _checked_mapping("special", special), monotone,
        max_parts, min_rows,
    )  # fmt: skip
    options.limits(1)
    return options


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


def _checked_mapping(what: str, given: Any) -> Mapping[Name, Any]:
    """Copy a dict by column name; None gives an empty dict."""
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"{what} must be a dict by column name, got {given!r}")
    return dict(given or {})


def _checked_kinds(kinds: Any) -> Mapping[Name, str]:
    """Check the kinds of columns."""
    for column, kind in _checked_mapping("kinds", kinds).items():
        if kind not in KINDS:
            raise ValueError(
                f"kinds says {kind!r} for column {column!r}; allowed: {', '.join(KINDS)}{did_you_mean(kind, KINDS)}"
            )
    return _checked_mapping("kinds", kinds)


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


def _checked_max_parts(max_parts: Any) -> int:
    """Largest number of parts; NO_LIMIT for None."""
    if max_parts is None:
        return NO_LIMIT
    check_integer("max_parts", max_parts)
    if max_parts < 1:
        raise ValueError(f"max_parts must be at least 1, got {max_parts}")
    return min(int(max_parts), NO_LIMIT)


def _checked_min_rows(min_rows: Any, n_rows: int) -> int:
    """Smallest number of rows of a part; a `min_rows` below 1 is a share of `n_rows`."""
    if min_rows is None:
        return 1
    if not _is_real(min_rows) or not min_rows > 0:
        raise ValueError(f"min_rows must be a positive number of rows, or a share below 1, got {min_rows!r}")
    if min_rows < 1:
        return max(1, math.ceil(round(min_rows * n_rows, 9)))  # 0.07 of 100 is 7, not 7.000000000000001
    if not math.isfinite(min_rows) or min_rows != int(min_rows):
        raise ValueError(f"min_rows must be a whole number of rows, or a share below 1, got {min_rows!r}")
    return min(int(min_rows), n_rows + 1)
