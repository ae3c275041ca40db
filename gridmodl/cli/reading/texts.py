"""Types of text: which one fits the values of a column, and what a text means to a model.

Types come in families, narrow ones first; in a family every value of one type is a value of the next. pyarrow finds the
types and makes the values, also of tables that DuckDB counts: these are written as Parquet first. Casts of DuckDB took
7.6 seconds of processor time where pyarrow takes 2.8 (1,000,000 rows, 11 columns), spaces around values aside, and take
other spellings (``1_000``, ``2020/1/5``, ``epoch``).
"""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gridmodl.cli.messages import Failure
from gridmodl.cli.options import number_of
from gridmodl.data.frames import object_array
from gridmodl.model.partition import Partition

NULLS = (
    "", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "-NaN", "-nan", "NULL", "Null", "null", "None",
    "NaT", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
)  # fmt: skip

NUMBERS = (pa.int64(), pa.float64())
BOOLEANS = (pa.bool_(),)
DATES = (pa.date32(), *(pa.timestamp(unit) for unit in ("s", "us", "ns")))
MOMENTS = tuple(pa.timestamp(unit, "UTC") for unit in ("s", "us", "ns"))  # with a time zone
FAMILIES = (NUMBERS, BOOLEANS, DATES, MOMENTS)


class TypedText(NamedTuple):
    """Values of a text, and the types that may still fit the rest of the column; None if all values are missing."""

    values: pa.Array
    types: tuple[pa.DataType, ...] | None


def with_nulls(text: pa.Array, nulls: Iterable[str]) -> pa.Array:
    """Replace each text in `nulls` by null."""
    is_null = pc.is_in(text, value_set=pa.array(list(nulls), pa.string()))
    return pc.if_else(is_null, pa.scalar(None, pa.string()), text)


def typed_values(text: pa.Array, families: Iterable[tuple[pa.DataType, ...]], nulls: Iterable[str]) -> TypedText | None:
    """Convert the text to the first type of a family that fits all of it; None if no type does.

    Spaces around numbers and dates are ignored.
    """
    families = list(families)
    fit = _exactly(text, families)
    if fit is not None:
        return fit
    trimmed = pc.utf8_trim_whitespace(text)
    return None if trimmed.equals(text) else _exactly(with_nulls(trimmed, nulls), families)


def _exactly(text: pa.Array, families: Iterable[tuple[pa.DataType, ...]]) -> TypedText | None:
    for family in families:
        for i, narrow in enumerate(family):
            values = as_type(text, narrow)
            if values is not None:
                return TypedText(
                    values, None if values.null_count == len(values) else _still_fitting(values, family[i:])
                )
    return None


def _still_fitting(values: pa.Array, types: tuple[pa.DataType, ...]) -> tuple[pa.DataType, ...]:
    """Those of the `types` that hold the values: years before 1678 and after 2261 have no nanoseconds."""
    if len(types) == 1 or not pa.types.is_temporal(types[-1]):
        return types
    ends = pc.min_max(values.cast(types[-2]))
    try:
        pa.array([ends["min"], ends["max"]]).cast(types[-1])
    except pa.ArrowInvalid:
        return types[:-1]
    return types


def as_type(text: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    """Values of the text in the type `wanted`, None if one is not written as such."""
    if pa.types.is_boolean(wanted):  # a cast would take 0 and 1 too
        lower = pc.utf8_lower(text)
        is_word = pc.is_in(lower, value_set=pa.array(["true", "false", None]))
        return pc.equal(lower, "true") if pc.all(is_word, min_count=0).as_py() else None
    try:
        values = text.cast(wanted)
    except pa.ArrowInvalid:
        return None
    if pa.types.is_integer(wanted):  # a cast takes 0x1F, which is no number where others have a point
        has_hex = (pc.any(pc.match_substring(text, sign)).as_py() for sign in "xX")
        return None if any(has_hex) else values
    return values


def values_for(partition: Partition, text: pa.Array, nulls: Iterable[str], label: str, n_before: int) -> Any:
    """Read new text in the type that the column had when the model was made.

    `n_before` rows of the file came before this text; error messages count from there.
    """
    if partition.kind != "numerical":
        return _categories(partition, text, nulls)
    families, what = _families(partition)
    text = with_nulls(text, nulls)
    fit = typed_values(text, families, nulls)
    if fit is not None:
        return fit.values
    i = _first_unfit(text, lambda some: typed_values(some, families, nulls) is not None)
    value = text[i].as_py()
    if typed_values(text[i : i + 1], families, nulls) is None:
        raise Failure(
            f"row {n_before + i + 1} of {label} has {value!r} in column {partition.name!r}, where the "
            f"model has {what}; --null {value!r} would take it as missing"
        )
    raise Failure(
        f"column {partition.name!r} of {label} mixes {what} of several kinds, which cannot be compared: row "
        f"{n_before + i + 1} has {value!r}, which is not as the rows before it"
    )


def _first_unfit(text: pa.Array, fits: Callable[[pa.Array], bool]) -> int:
    """Find by bisection the first value that does not fit together with the values before it; not all values fit."""
    low, high = 0, len(text)  # the first `low` values fit, the first `high` do not
    while high - low > 1:
        middle = (low + high) // 2
        if fits(text[:middle]):
            low = middle
        else:
            high = middle
    return low


def _families(partition: Partition) -> tuple[list[tuple[pa.DataType, ...]], str]:
    kind = partition.bounds.dtype.kind
    if kind == "M":
        return ([MOMENTS], "moments with a time zone") if partition.is_utc else ([DATES], "dates")
    if kind == "m":
        raise Failure(f"column {partition.name!r} has durations, which text files do not hold; use Parquet or Arrow")
    return [NUMBERS, BOOLEANS], "numbers"


def _categories(partition: Partition, text: pa.Array, nulls: Iterable[str]) -> np.ndarray:
    """Map each text to the category it stands for; a category of the model is never read as missing."""
    known = list(itertools.chain(*partition.listed))
    names = {value for value in known if isinstance(value, str)}
    encoded = with_nulls(text, [spelling for spelling in nulls if spelling not in names]).dictionary_encode()
    read = _reader(known)
    values = object_array([*map(read, encoded.dictionary.to_pylist()), None])
    return values[encoded.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)]


def _reader(known: list[Any]) -> Callable[[str], Any]:
    """Make a function that maps a text to one of the `known` values; other texts stay texts, which are unknown."""
    if all(isinstance(value, str) for value in known):
        return str
    by_text = {str(value): value for value in known}
    if any(isinstance(value, (bool, np.bool_)) for value in known):
        by_text |= {"true": True, "false": False}
    has_numbers = any(isinstance(value, numbers.Number) and not isinstance(value, bool) for value in known)

    def read(text: str) -> Any:
        for spelling in (text, text.lower()):
            if spelling in by_text:
                return by_text[spelling]
        return number_of(text) if has_numbers else text

    return read
