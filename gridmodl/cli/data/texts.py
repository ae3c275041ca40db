"""The text of a column as values: of the narrowest type that fits all of it.

Types come in families, narrow ones first; in a family every value of one type is a value of the next. So a column
that is read in pieces can go on to a wider type, but never to another family: then it is text, and has to be read
again, as ``007`` is not what 7 is written as.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

NULLS = (
    "", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "-NaN", "-nan", "NULL", "Null", "null", "None",
    "NaT", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
)  # fmt: skip

NUMBERS = (pa.int64(), pa.float64())
BOOLEANS = (pa.bool_(),)
DATES = (pa.date32(), *(pa.timestamp(unit) for unit in ("s", "us", "ns")))
MOMENTS = tuple(pa.timestamp(unit, "UTC") for unit in ("s", "us", "ns"))  # with a time zone
FAMILIES = (NUMBERS, BOOLEANS, DATES, MOMENTS)

TEXT = pa.dictionary(pa.int32(), pa.string())


class Fit(NamedTuple):
    """Text as values, and the types that may still fit the rest of the column."""

    values: pa.Array
    types: tuple[pa.DataType, ...]


def nullified(text: pa.Array, nulls: Iterable[str]) -> pa.Array:
    """The text, missing where it is one of the spellings of nothing."""
    is_null = pc.is_in(text, value_set=pa.array(list(nulls), pa.string()))
    return pc.if_else(is_null, pa.scalar(None, pa.string()), text)


def fitted(text: pa.Array, families: Iterable[tuple[pa.DataType, ...]], nulls: Iterable[str]) -> Fit | None:
    """The text as values of the first type that all of it fits, in a family; None if it is just text.

    Spaces around numbers and dates mean nothing.
    """
    families = list(families)
    fit = _exactly(text, families)
    if fit is not None:
        return fit
    trimmed = pc.utf8_trim_whitespace(text)
    return None if trimmed.equals(text) else _exactly(nullified(trimmed, nulls), families)


def _exactly(text: pa.Array, families: Iterable[tuple[pa.DataType, ...]]) -> Fit | None:
    for family in families:
        for i, narrow in enumerate(family):
            values = _as_type(text, narrow)
            if values is not None:
                return Fit(values, family[i:])
    return None


def _as_type(text: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    if pa.types.is_boolean(wanted):  # a cast would take 0 and 1 too
        lower = pc.utf8_lower(text)
        is_word = pc.is_in(lower, value_set=pa.array(["true", "false", None]))
        return pc.equal(lower, "true") if pc.all(is_word).as_py() else None
    try:
        return text.cast(wanted)
    except pa.ArrowInvalid:
        return None


class TextColumn:
    """A column of a text file while it is read, piece by piece."""

    def __init__(self, nulls: Iterable[str], as_text: bool = False) -> None:
        self.nulls = list(nulls)
        self.types: tuple[pa.DataType, ...] | None = () if as_text else None  # None: all is missing so far
        self.chunks: list[Any] = []
        self.is_spoilt = False  # what was taken for numbers is text, and has to be read again

    def add(self, text: pa.Array) -> None:
        if self.is_spoilt:
            return
        text = nullified(text, self.nulls)
        if self.types == ():
            self.chunks.append(text.dictionary_encode())
        elif text.null_count == len(text):
            self.chunks.append(pa.nulls(len(text)))
        else:
            self._add_values(text)

    def _add_values(self, text: pa.Array) -> None:
        fit = fitted(text, FAMILIES if self.types is None else [self.types], self.nulls)
        if fit is not None:
            self.chunks.append(fit.values)
            self.types = fit.types
        elif self.types is None:
            self.types = ()
            self.chunks.append(text.dictionary_encode())
        else:
            self.is_spoilt = True
            self.chunks.clear()

    def finished(self) -> pa.ChunkedArray:
        """All pieces in one type; numbers where all is missing."""
        kind = pa.float64() if self.types is None else self.types[0] if self.types else TEXT
        chunks = [pa.nulls(len(c), kind) if pa.types.is_null(c.type) else c.cast(kind, safe=False) for c in self.chunks]
        return pa.chunked_array(chunks, kind).unify_dictionaries()


class TypedColumn:
    """A column of a file that knows its types, while it is read; text is kept as numbers of its distinct values."""

    is_spoilt = False

    def __init__(self, kind: pa.DataType) -> None:
        self.is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        self.kind = pa.dictionary(pa.int32(), kind) if self.is_text else kind
        self.chunks: list[Any] = []

    def add(self, values: pa.Array) -> None:
        self.chunks.append(values.dictionary_encode() if self.is_text else values)

    def finished(self) -> pa.ChunkedArray:
        return pa.chunked_array(self.chunks, self.kind).unify_dictionaries()
