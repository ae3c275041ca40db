"""From a user's column to what the engine counts: numbers, or codes of values, as its type or the user says."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from gridmodl.frames import Name, Raw, as_array
from gridmodl.missing import is_text
from gridmodl.quantities import Numbers, encode_numbers
from gridmodl.values import Categories, encode_values

KINDS = ("numerical", "categorical")

Column = Numbers | Categories


def encode_column(raw: Raw, name: Name, kind: str | None = None) -> Column:
    """A column as numbers or as codes of values, whichever its type or the user says."""
    raw = _plain(raw, name)
    if len(raw) == 0:
        raise ValueError(f"column {name!r} has no rows")
    if (kind or kind_of(raw)) == "categorical":
        return encode_values(raw, name)
    return encode_numbers(raw, name)


def kind_of(raw: Raw) -> str:
    """What kind of variable a column's type says it is."""
    if not isinstance(raw, np.ndarray) and isinstance(raw.dtype, (nw.Object, nw.Unknown)):
        raw = raw.to_numpy()
    if isinstance(raw, np.ndarray):
        return "categorical" if raw.dtype.kind in "bUST" or is_text(raw) else "numerical"
    texts = (nw.String, nw.Categorical, nw.Enum, nw.Boolean, nw.Binary)
    return "categorical" if isinstance(raw.dtype, texts) else "numerical"


def _plain(raw: Raw, name: Name) -> Raw:
    """A series of a type that means something, or an array."""
    if isinstance(raw, np.ndarray):
        return raw
    if isinstance(raw.dtype, nw.Unknown) and _has_zone(raw):  # one that narwhals cannot read, such as America/New_York
        return nw.from_native(raw.to_native().dt.tz_convert("UTC"), series_only=True)
    if isinstance(raw.dtype, (nw.Object, nw.Unknown)):
        return as_array(raw.to_numpy(), f"column {name!r}")
    if isinstance(raw.dtype, (nw.List, nw.Array, nw.Struct, nw.Time, nw.Int128, nw.UInt128)):
        raise TypeError(
            f"column {name!r} holds {raw.dtype}; gridmodl takes numbers, dates, durations, text, categories, booleans"
        )
    return raw


def _has_zone(raw: nw.Series[Any]) -> bool:
    dtype = getattr(raw.to_native(), "dtype", None)
    return (
        getattr(dtype, "tz", None) is not None or getattr(getattr(dtype, "pyarrow_dtype", None), "tz", None) is not None
    )
