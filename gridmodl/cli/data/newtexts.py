"""New text as values of the types that a model has: as they were read when it was made, whatever they look like now."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from gridmodl.cli.data.texts import BOOLEANS, DATES, MOMENTS, NUMBERS, fitted, nullified
from gridmodl.cli.failures import Failure
from gridmodl.cli.parsing import number_of
from gridmodl.frames import object_array
from gridmodl.partition import Partition


def values_for(partition: Partition, text: pa.Array, nulls: Iterable[str], label: str, n_before: int) -> Any:
    """A column of text as what the partition is of; `n_before` rows of the file came before it."""
    if partition.kind == "categorical":
        return _categories(partition, text, nulls)
    families, what = _families(partition)
    text = nullified(text, nulls)
    fit = fitted(text, families, nulls)
    if fit is not None:
        return fit.values
    i = _first_unfit(text, lambda some: fitted(some, families, nulls) is not None)
    value = text[i].as_py()
    if fitted(text[i : i + 1], families, nulls) is None:
        raise Failure(
            f"row {n_before + i + 1} of {label} has {value!r} in column {partition.name!r}, where the "
            f"model has {what}; --null {value!r} would take it as missing"
        )
    raise Failure(
        f"column {partition.name!r} of {label} mixes {what} of several kinds, which cannot be compared: row "
        f"{n_before + i + 1} has {value!r}, which is not as the rows before it"
    )


def _first_unfit(text: pa.Array, fits: Callable[[pa.Array], bool]) -> int:
    """The first value that does not fit in with those before it, where not all of them fit; in a few looks."""
    low, high = 0, len(text)  # so many of the first values fit, and so many do not
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
    """Each text as the value that it stands for; a name that the model knows is no missing value."""
    known = [value for group in partition.groups for value in group if value is not None]
    names = {value for value in known if isinstance(value, str)}
    encoded = nullified(text, [spelling for spelling in nulls if spelling not in names]).dictionary_encode()
    read = _reader(known)
    values = object_array([*map(read, encoded.dictionary.to_pylist()), None])
    return values[encoded.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)]


def _reader(known: list[Any]) -> Callable[[str], Any]:
    """How a text is read where these values are known; one that can be none of them stays a text, and unknown."""
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
