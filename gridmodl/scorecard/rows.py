"""Read the rows that a scorecard is judged or learnt by: the class of each, its weight, and what it may lose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Raw, read_column, read_frame
from gridmodl.data.targets import encode_classes
from gridmodl.spelling import did_you_mean

if TYPE_CHECKING:
    from gridmodl.scorecard.record import Scorecard


def column_of(data: Any, column: Any, what: str) -> Raw:
    """Values of the argument `what`: `column` itself, or the column of `data` that it names."""
    if not isinstance(column, str):
        return read_column(column, what)
    columns = read_frame(data).columns
    if column not in columns:
        raise ValueError(f"{what}={column!r} is no column of the data{did_you_mean(column, columns)}")
    return columns[column]


def events_of(card: Scorecard, raw: Raw, n_rows: int) -> NDArray[np.bool_]:
    """Whether each row has the event; raise if a class is none of the scorecard's."""
    if len(raw) != n_rows:
        raise ValueError(f"target has {len(raw)} entries and data has {n_rows} rows")
    if not n_rows:
        return np.zeros(0, dtype=bool)
    found, known = encode_classes(raw), card.classes.tolist()
    strange = [name for name in found.names.tolist() if name not in known]
    if strange:
        raise ValueError(
            f"target has the class {strange[0]!r}, and the scorecard knows {known[0]!r} and {known[1]!r}"
            f"{did_you_mean(strange[0], known)}"
        )
    is_event = np.array([name == card.event for name in found.names.tolist()])
    return np.asarray(is_event[found.codes])


def check_count(n: Any, what: str) -> None:
    """Raise ValueError unless `n` is a whole number of `what`, 1 or more."""
    if isinstance(n, (bool, np.bool_)) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ValueError(f"n must be a number of {what}, 1 or more, got {n!r}")


def numbers_of(data: Any, given: Any, n_rows: int, what: str) -> NDArray[np.float64]:
    """Finite numbers, 0 or more, of each row; `given` is one number, values, or the name of a column."""
    if isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool):
        found = np.full(n_rows, float(given))
    else:
        raw = column_of(data, given, what)
        array = raw if isinstance(raw, np.ndarray) else raw.to_numpy()
        if array.dtype.kind not in "biuf":
            raise TypeError(f"{what} must be numbers, got {array.dtype}")
        found = array.astype(np.float64)
    if len(found) != n_rows:
        raise ValueError(f"{what} has {len(found)} entries and data has {n_rows} rows")
    if not np.all(np.isfinite(found)) or np.any(found < 0.0):
        raise ValueError(f"{what} must be finite numbers, 0 or more")
    return found
