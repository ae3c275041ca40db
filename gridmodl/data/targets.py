"""Encode and check the target and the row weights."""

from __future__ import annotations

import datetime
import numbers
from decimal import Decimal
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gridmodl.data.columns import (
    encode_levels,
    factorized,
    factorized_objects,
    levels_in,
    small_codes,
    sorted_codes,
)
from gridmodl.data.frames import Name, Raw, array_of, as_array, object_array
from gridmodl.data.numbers import (
    EXACT_FLOAT,
    Numbers,
    encode_numbers,
    is_missing,
    is_missing_value,
    missing_rows,
    numbers_of_objects,
    types_in,
)
from gridmodl.spelling import did_you_mean
from gridmodl.terms import PROBLEMS

TARGET_KINDS = ("classes", "grouped", "numerical")


# Whole numbers are taken as classes if at most FEW_CLASSES differ, or if there are on average at least ROWS_PER_CLASS
# rows per distinct number.
FEW_CLASSES = 20
MAX_CLASSES_NAMED = 10  # in a message
ROWS_PER_CLASS = 10


class ManyNumbers(ValueError):
    """The target has many distinct whole numbers, and target_kind does not say if they are quantities or classes."""

    def __init__(self, found: str, way_out: str) -> None:
        super().__init__(f"{found}; {way_out}")
        self.found = found


class MissingTarget(ValueError):
    """The target has missing values, and nothing says what they mean."""


class NotGiven:
    """Sentinel for "not passed", where None is a valid value."""

    def __repr__(self) -> str:
        return "NOT_GIVEN"

    def __reduce__(self) -> str:
        return "NOT_GIVEN"  # a copy or a pickle is the same object


NOT_GIVEN = NotGiven()
TEXTS = (nw.String, nw.Categorical, nw.Enum)
TIMES = {"dates": (datetime.date, np.datetime64), "durations": (datetime.timedelta, np.timedelta64)}


class Classes(NamedTuple):
    """A class target."""

    names: NDArray[Any]  # in sorted order, or in that of an ordered categorical target; of the user's own type
    codes: NDArray[np.int32]  # of each row
    event: int | None = None  # number of the class that event rates and monotone speak of; `event_of` says which
    event_is_default: bool = False  # whether more than two classes have an event that nobody named


class DefaultEvent(NamedTuple):
    """The event of a target whose order is not that of its classes, if the user names none."""

    name: Any


def kind_of_target(raw: Raw, target_kind: str | None) -> str:
    """Kind of a target, one of TARGET_KINDS: the user's `target_kind`, or else what the type says."""
    if target_kind is not None and target_kind not in TARGET_KINDS:
        raise ValueError(
            f"unknown target_kind {target_kind!r}; allowed: None, {', '.join(TARGET_KINDS)}"
            f"{did_you_mean(target_kind, TARGET_KINDS)}"
        )
    if target_kind is not None:
        return target_kind
    if not isinstance(raw, np.ndarray) and isinstance(raw.dtype, TEXTS):
        return "classes"
    return "numerical" if _holds_fractions(_array_of(raw)) else "classes"


def check_meant_as_classes(names: NDArray[Any], n_rows: int, what: str = "target") -> None:
    """Raise ManyNumbers if whole numbers may be quantities: a search over rounded prices as classes takes hours.

    `n_rows` is the sum of the row weights.
    """
    are_numbers = names.dtype.kind in "iuf" or (
        names.dtype.kind == "O" and all(issubclass(kind, numbers.Number) for kind in types_in(names))
    )
    if are_numbers and len(names) > FEW_CLASSES and len(names) * ROWS_PER_CLASS > n_rows:
        raise ManyNumbers(
            f"{what} holds {len(names)} different whole numbers in {n_rows} rows, which may be quantities or names of "
            "classes",
            "target_kind='numerical' takes them as quantities, target_kind='classes' as classes, "
            "target_kind='grouped' as classes to be grouped",
        )


def encode_classes(raw: Raw, event: Any = None, rows: NDArray[np.int64] | None = None) -> Classes:
    """Encode a class target: names of the classes, the code of each row, and the number of the class `event`.

    `rows` are weights, None for 1 each.
    """
    _check_none_missing(
        raw,
        rows,
        "; drop those rows, or with unlabelled=None learn from them as rows without a class, which "
        "target_kind='grouped' cannot",
    )
    names, codes, *_ = _encoded(raw)
    is_default = (event is None or isinstance(event, DefaultEvent)) and len(names) > 2
    return Classes(names, codes, event_of(names.tolist(), event), is_default)


def event_of(classes: list[Any], event: Any) -> int | None:
    """Number of the event among the `classes`: the class that tables, monotone limits and queries speak of.

    If `event` is None, it is the last class: in the order of an ordered categorical target, else in sorted order (True
    of booleans; 1 of 0 and 1, or of -1 and 1). A single class is no event.
    """
    if event is None:
        return len(classes) - 1 if len(classes) > 1 else None
    event = event.name if isinstance(event, DefaultEvent) else event
    found = [j for j, name in enumerate(classes) if np.ndim(event) == 0 and _is_same(name, event)]
    if not found:
        known = ", ".join(map(repr, classes[:MAX_CLASSES_NAMED])) + ", ..." * (len(classes) > MAX_CLASSES_NAMED)
        raise ValueError(
            f"event={event!r} is no class of the target; its classes are {known}{did_you_mean(event, classes)}"
        )
    return found[0]


def check_no_event(event: Any, why: str) -> None:
    """Raise ValueError if `event` was passed for a target without classes of its own; `why` says what the target is."""
    if event is not None and not isinstance(event, DefaultEvent):
        raise ValueError(f"event={event!r} names a class of the target, and {why}; leave event= out")


def _check_none_missing(raw: Raw, rows: NDArray[np.int64] | None, way_out: str) -> None:
    """Raise MissingTarget if a target has missing values; `rows` are the weights of its rows, None for 1 each."""
    flags = missing_rows(raw)
    if not flags.any():
        return
    n_missing, n_rows = (int(flags.sum()), len(raw)) if rows is None else (int(rows[flags].sum()), int(rows.sum()))
    raise MissingTarget(f"target has {n_missing} missing values of {n_rows}{way_out}")


def _encoded(raw: Raw) -> Classes:
    """Encode a class target without missing values, without an event."""
    if not isinstance(raw, np.ndarray) and isinstance(raw.dtype, TEXTS):
        values, codes = _named_classes(raw)
        names = np.array(values)
        return Classes(object_array(values) if isinstance(values[0], str) or names.ndim > 1 else names, codes)
    array = _array_of(raw)
    if array.dtype.kind not in "biufUSTO":
        raise _no_classes({"M": "dates", "m": "durations"}.get(array.dtype.kind, array.dtype))
    return _codes_of(array)


def _named_classes(raw: Raw) -> tuple[list[Any], NDArray[np.int32]]:
    """Names of the classes of texts or categories, sorted or in the order of their type, and the code of each row."""
    levels = levels_in(raw)
    if levels is None:
        codes, values = factorized(raw, "target")
        _check_order(values)
        return sorted_codes(codes, values)
    places, codes = np.unique(encode_levels(raw, "target", levels).values, return_inverse=True)
    return [levels[int(i)] for i in places], codes.astype(np.int32)


def encode_labelled(
    raw: Raw, mark: Any, target_kind: str | None, event: Any = None, rows: NDArray[np.int64] | None = None
) -> tuple[Classes, bool]:
    """Encode a target with unlabelled rows: rows that hold `mark` get the code after the last class.

    `rows` are weights, None for 1 each. Also returns whether any row holds the mark.
    """
    is_marked = marked_rows(raw, mark)
    n_marked = int(np.count_nonzero(is_marked))
    if n_marked == len(raw):
        n_rows = len(raw) if rows is None else int(rows.sum())
        raise ValueError(
            f"no row has a class: all {n_rows} are marked by unlabelled={mark!r}; without any class, "
            "gridmodl.optimize_density partitions a numerical column"
        )
    labelled = rows_of(raw, ~is_marked) if n_marked else raw
    if not PROBLEMS[kind_of_target(labelled, target_kind)].has_classes:
        raise ValueError(
            "unlabelled= marks rows without a class, and the target is of real numbers; target_kind='classes' takes "
            "them as classes"
        )
    if not is_missing_value(mark):
        way_out = f" beside the mark unlabelled={mark!r}; drop those rows, or give them the mark too"
        _check_none_missing(raw, rows, way_out)
    classes = encode_classes(labelled, event)
    if not n_marked:
        _check_no_lookalike(classes.names, mark)
        return classes, False
    all_codes = np.full(len(raw), len(classes.names), dtype=np.int32)
    all_codes[~is_marked] = classes.codes
    return classes._replace(codes=all_codes), True


def rows_of(raw: Raw, kept: NDArray[np.bool_]) -> Raw:
    """The rows of a column where `kept` is True."""
    return raw[kept] if isinstance(raw, np.ndarray) else raw.filter(kept.tolist())


def marked_rows(raw: Raw, mark: Any) -> NDArray[np.bool_]:
    """Flags of the rows of a target that hold `mark`; None, NaN and NA mark all missing values."""
    if not np.isscalar(mark) and not is_missing_value(mark) and not isinstance(mark, Decimal):
        raise TypeError(f"unlabelled must be one value that marks rows without a class, such as -1, got {mark!r}")
    if is_missing_value(mark):
        return missing_rows(raw)
    if not isinstance(raw, np.ndarray) and (isinstance(raw.dtype, TEXTS) or raw.null_count()):
        codes, values = factorized(raw, "target")
        is_mark = np.array([*(_is_same(value, mark) for value in values), False])  # the last is for code -1
        return np.asarray(is_mark[codes])
    array = _array_of(raw)
    if array.dtype.kind in "biuf" and isinstance(mark, (int, float, np.number, np.bool_, Decimal)):
        is_bool = isinstance(mark, (bool, np.bool_))
        same_kind = is_bool == (array.dtype.kind == "b")
        return np.asarray(array == mark) if same_kind else np.zeros(len(array), dtype=bool)
    if (array.dtype.kind == "U" and isinstance(mark, str)) or (array.dtype.kind == "S" and isinstance(mark, bytes)):
        return np.asarray(array == mark)
    codes, values = factorized_objects(array.tolist(), "target")
    return np.array([_is_same(value, mark) for value in values])[codes]


def _is_same(value: Any, mark: Any) -> bool:
    """Whether `value` is the mark: 1 equals 1.0, but neither equals True."""
    if is_missing_value(value) or isinstance(value, (bool, np.bool_)) != isinstance(mark, (bool, np.bool_)):
        return False
    return bool(value == mark)


def _check_no_lookalike(names: NDArray[Any], mark: Any) -> None:
    """Raise if no row holds `mark` but a class looks like it, such as "-1" for -1."""
    for name in names.tolist():
        if _looks_like(name, mark):
            raise ValueError(
                f"unlabelled={mark!r} marks no row, but the target has the class {name!r}, of another type; "
                f"unlabelled={name!r} marks those rows"
            )


def _looks_like(name: Any, mark: Any) -> bool:
    """Whether a class name could be mistaken for the mark, as 1, "1", "1.0" and True for each other."""
    if name == mark or str(name) == str(mark):
        return True
    if isinstance(name, str) == isinstance(mark, str):
        return False
    try:
        return float(str(name)) == float(str(mark))
    except ValueError:
        return False


def encode_quantities(raw: Raw, name: Name, rows: NDArray[np.int64] | None = None) -> Numbers:
    """Encode a numerical target, which must be finite, so that it has means and quantiles; `rows` are weights."""
    _check_none_missing(raw, rows, "; drop those rows")
    try:
        found = encode_numbers(_array_of(raw), name)
    except TypeError as error:
        raise TypeError(f"target_kind='numerical' was passed, but the target holds no numbers: {error}") from error
    if found.type.kind in "mM":
        raise TypeError(f"target holds {found.type}; a numerical target is of numbers, such as days since a date")
    if found.values.dtype.kind == "f" and not np.all(np.isfinite(found.values)):
        n_infinite = int(np.count_nonzero(~np.isfinite(found.values)))
        raise ValueError(
            f"target has {n_infinite} infinite values of {len(raw)}, so that it has no mean; drop those "
            "rows, or put numbers beyond all others in their place"
        )
    return found


def _array_of(raw: Raw) -> NDArray[Any]:
    """The target as an array, of dtype object if it holds numpy's variable-width strings."""
    if not isinstance(raw, np.ndarray):
        check_target_type(raw.dtype)
    array = as_array(array_of(raw), "target")
    return array.astype(object) if array.dtype.kind == "T" else array


def check_target_type(dtype: Any) -> None:
    """Raise TypeError for a target of lists or records, or of integers that arrays cannot hold."""
    if isinstance(dtype, (nw.List, nw.Array, nw.Struct, nw.Int128, nw.UInt128)):
        raise _no_classes(dtype)


def _no_classes(found: Any) -> TypeError:
    """Error about a target of a type that is not taken."""
    return TypeError(
        f"target holds {found}; classes are strings, integers, booleans or whole floats: make texts of the values, or "
        "a categorical column"
    )


def _holds_fractions(array: NDArray[Any]) -> bool:
    """Whether a target holds floats that are not all whole numbers."""
    array = array[~is_missing(array)]  # missing values raise an error of their own later
    types = types_in(array) if array.dtype.kind == "O" else set()
    if types & {float, Decimal} and types <= {int, float, bool, Decimal}:
        array = array.astype(np.float64)  # a list such as [0, 0.5, 1]
    return array.dtype.kind == "f" and not (np.all(np.isfinite(array)) and np.array_equal(array, np.floor(array)))


def _codes_of(array: NDArray[Any]) -> Classes:
    """Sorted class names of an array, and the code of each row."""
    small = small_codes(array) if array.dtype.kind in "biu" else None
    if small is not None:
        return Classes(small[1], small[0])
    if array.dtype.kind in "OUS":
        codes, values = factorized_objects(array.tolist(), "target")
        for what, kinds in TIMES.items():
            if any(isinstance(value, kinds) for value in values):
                raise _no_classes(what)
        _check_order(values)
        values, codes = sorted_codes(codes, values)
        return Classes(object_array(values) if array.dtype.kind == "O" else np.array(values, dtype=array.dtype), codes)
    names, codes = np.unique(array, return_inverse=True)
    return Classes(names, codes.astype(np.int32))


def _check_order(values: list[Any]) -> None:
    """Raise if class names cannot be sorted."""
    try:
        sorted(values)
    except Exception as error:  # `__lt__` of a label may raise any error
        raise TypeError(
            "target mixes labels that cannot be sorted, such as strings and numbers; give them one type"
        ) from error


def encode_weights(raw: Raw | None, n_rows: int, what: str = "weights") -> NDArray[np.int64] | None:
    """Encode row weights as integers; raise if they are not whole numbers of at least 0."""
    if raw is None:
        return None
    array = array_of(raw)
    if array.dtype.kind == "O" and not any(issubclass(kind, str) for kind in types_in(array)):
        array, missing = numbers_of_objects(array, what)
        array = array.astype(np.float64) if missing is None else np.where(missing, np.nan, array)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{what} must be a 1-D array of numbers, got shape {array.shape} of {array.dtype}")
    if len(array) != n_rows:
        raise ValueError(f"{what} has {len(array)} entries and data has {n_rows} rows")
    if not np.all(np.isfinite(array)) or np.any(array < 0) or np.any(array != np.floor(array)):
        raise ValueError(f"{what} must be whole numbers, 0 or more: a row of weight w counts as w rows")
    check_weight_sum(float(array.sum(dtype=np.float64)), what)
    return array.astype(np.int64)


def check_weight_sum(total: float, what: str = "weights") -> None:
    """Raise ValueError if weights with this sum, added up as floats, are more rows than can be counted exactly."""
    if total >= EXACT_FLOAT:
        raise ValueError(
            f"{what} sum to more than {EXACT_FLOAT - 1} rows, the most that can be counted exactly: divide all of them "
            "by a common factor"
        )
