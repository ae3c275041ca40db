"""Sorting a column with its classes: as a plain sort of pairs."""

from __future__ import annotations

import numpy as np
import pytest

from gridmodl.data.atoms import Target
from gridmodl.data.line import _sort_packed, _sort_rows, make_line
from gridmodl.data.numbers import Numbers

LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
COLUMNS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "positive": lambda rng, n: rng.random(n) + 1.0,
    "negative": lambda rng, n: -rng.exponential(size=n),
    "ties": lambda rng, n: rng.integers(-3, 4, n) * 0.1,
    "zeros": lambda rng, n: rng.normal(size=n) * rng.integers(0, 2, n) + 0.0,  # no -0.0, as of all `Numbers`
    "nothing but zeros": lambda rng, n: np.zeros(n),
    "neighbours": lambda rng, n: np.frombuffer((0x3FF0_0000_0000_0000 + rng.integers(0, 9, n)).tobytes()),
    "infinite": lambda rng, n: np.where(rng.random(n) < 0.1, np.inf, rng.normal(size=n)),
    "wide": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-320, 300, n),
    "integers": lambda rng, n: rng.integers(2**53, 2**55, n),
    "signed integers": lambda rng, n: rng.integers(-(2**55), 2**55, n),
    "widest integers": lambda rng, n: np.append(rng.integers(LEAST, MOST, n - 2), [LEAST, MOST]),
}


@pytest.fixture
def rng():
    return np.random.default_rng(22)


@pytest.mark.parametrize("n_codes", [1, 2, 5, 100])
@pytest.mark.parametrize("kind", COLUMNS)
def test_values_and_codes_are_sorted_together(rng, kind, n_codes):
    column, codes = COLUMNS[kind](rng, 500), rng.integers(0, n_codes, 500).astype(np.int32)
    values, sorted_codes, weights = _sort_rows(column, Target(codes, None, n_codes))
    assert weights is None
    assert (values.dtype, sorted_codes.dtype) == (column.dtype, codes.dtype)
    assert values.tobytes() == np.sort(column).tobytes()
    in_order = np.lexsort((sorted_codes, values))  # an argsort leaves the codes of ties in any order
    np.testing.assert_array_equal(sorted_codes[in_order], codes[np.lexsort((codes, column))])


@pytest.mark.parametrize("kind", sorted(set(COLUMNS) - {"infinite", "wide", "widest integers"}))
def test_usual_columns_need_one_sort(rng, kind):
    """A wide gap around 0, or none below 0, leaves room for the code."""
    codes = rng.integers(0, 2, 500).astype(np.int32)
    assert _sort_packed(COLUMNS[kind](rng, 500), codes, 2) is not None


@pytest.mark.parametrize("kind", ["wide", "widest integers"])
def test_keys_without_room_are_refused(rng, kind):
    assert _sort_packed(COLUMNS[kind](rng, 500), np.zeros(500, dtype=np.int32), 100) is None


def test_the_column_is_not_changed(rng):
    for kind in ("normal", "signed integers"):
        column = COLUMNS[kind](rng, 50)
        before = column.copy()
        make_line(Numbers("x", column, None, column.dtype), Target(np.zeros(50, dtype=np.int32), None, 1), False)
        np.testing.assert_array_equal(column, before)


def test_a_column_without_rows_has_no_atoms():
    column = Numbers("x", np.empty(0), None, np.dtype(np.float64))
    assert make_line(column, Target(np.empty(0, dtype=np.int32), None, 2), True).n_atoms == 0


def test_a_table_of_as_many_counts_as_are_allowed(monkeypatch):
    """Four values by three classes are twelve counts; missing values take three more."""
    monkeypatch.setattr("gridmodl.data.atoms.MAX_COUNTS", 12)
    values, target = np.arange(4.0), Target(np.array([0, 1, 2, 0], dtype=np.int32), None, 3)
    assert make_line(Numbers("x", values, None, values.dtype), target, join=True).n_atoms == 4
    column = Numbers("x", values, np.array([False, False, False, True]), values.dtype)
    assert make_line(column, target, join=True).n_atoms == 4
    values = np.arange(5.0)
    target = Target(np.array([0, 1, 2, 0, 1], dtype=np.int32), None, 3)
    with pytest.raises(ValueError, match=r"^5 distinct values by 3 classes is a table of more than 12 counts; "):
        make_line(Numbers("x", values, None, values.dtype), target, join=True)
