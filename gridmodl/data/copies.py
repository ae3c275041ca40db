"""Columns that are copies of others: of the same values, or of other values in the same or the reverse order.

Two columns of numbers or levels, also one of each, are copies where they have the same ranks, or one the reverse ranks
of the other; two columns of categories, where each value of the one goes with one value of the other. Missing values
are of the same rows. Of some rows each column has a fingerprint that its copies share; where it has one of another
column, so of all rows.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.columns import Categories, Kind, encode_column
from gridmodl.data.frames import Name, Raw
from gridmodl.data.targets import rows_of

SOME_ROWS = 1000


class _Print(NamedTuple):
    """What copies share, and whether the ranks of the column are reversed in it."""

    shared: tuple[str, bytes]
    is_reversed: bool


def copies_of(columns: Mapping[Name, Raw], kinds: Mapping[Name, Kind]) -> dict[Name, str]:
    """Why columns say nothing new, by name: each is a copy of an earlier one of `columns`."""
    names = list(columns)
    if len(names) < 2:
        return {}
    n_rows = len(columns[names[0]])
    some = np.zeros(n_rows, dtype=bool)
    some[np.linspace(0, n_rows - 1, min(n_rows, SOME_ROWS)).astype(np.int64)] = True
    prints = {name: _print_of(rows_of(columns[name], some), name, kinds[name]).shared for name in names}
    n_alike = Counter(prints.values())
    first: dict[tuple[str, bytes], tuple[Name, bool]] = {}
    found: dict[Name, str] = {}
    for name in names:
        if n_alike[prints[name]] > 1:
            shared, is_reversed = _print_of(columns[name], name, kinds[name])
            of, was_reversed = first.setdefault(shared, (name, is_reversed))
            if of != name:
                how = ", in reverse order" if is_reversed != was_reversed else ""
                found[name] = f"it is a copy of column {of!r}{how}"
    return found


def _print_of(raw: Raw, name: Name, kind: Kind) -> _Print:
    """Fingerprint of a column."""
    column, is_reversed = encode_column(raw, name, kind), False
    if isinstance(column, Categories):
        missing = np.array([value is None for value in column.values])[column.codes]
        places = _by_first_row(column.codes)
    else:
        missing = np.zeros(column.n_rows, dtype=bool) if column.missing is None else column.missing
        places = np.zeros(column.n_rows, dtype=np.int64)
        places[~missing] = np.unique(column.values[~missing], return_inverse=True)[1].reshape(-1)
        turned = places.max(initial=0) - places
        differs = np.flatnonzero(~missing & (places != turned))
        is_reversed = bool(len(differs)) and bool(places[differs[0]] > turned[differs[0]])
        places = turned if is_reversed else places
    shared = np.where(missing, -1, places).astype(np.int64)
    kind = "categories" if isinstance(column, Categories) else "a line"
    return _Print((kind, hashlib.sha256(shared.tobytes()).digest()), is_reversed)


def _by_first_row(codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Codes renumbered in the order of the first row that has each."""
    _, first, of_row = np.unique(codes, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[of_row.reshape(-1)]
