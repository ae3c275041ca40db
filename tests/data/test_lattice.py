"""Lattices: which values are on one, and what its step is."""

from __future__ import annotations

import numpy as np
import pytest

from gridmodl.data.lattice import half_steps, step_of

FLOAT = np.dtype(float)


def step(values, dtype=None):
    """The step of values of any type, as a column of them has it."""
    values = np.unique(np.asarray(values))
    own = values.dtype if dtype is None else np.dtype(dtype)
    engine = values.view(np.int64) if values.dtype.kind in "mM" else values
    return step_of(engine.astype(float) if engine.dtype.kind == "f" else engine, own)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 2.0, 3.0, 6.0], 1.0),
        ([0.0, 2.0, 5.0], 1.0),  # no two are neighbours
        ([18.0, 18.5, 21.0], 0.5),
        (np.arange(7) * 0.1, 0.1),  # 0.30000000000000004 among them
        (np.arange(-3, 4) * 0.1 + 5.0, 0.1),
        (np.cumsum(np.full(40, 0.1)), 0.1),  # with the errors of 40 sums
        (np.array([3, 4, 8, 900]) * 0.01, 0.01),
        ([4.99, 9.99, 14.99, 24.99], 5.0),
        ([0.99, 1.99, 3.99], 1.0),
        ([3.5, 4.0, 4.99], 0.01),
        (np.arange(9) / 3.0, 1.0 / 3.0),
        (np.array([0, 1, 2, 40]) / 60.0, 1.0 / 60.0),
        (np.array([1, 2, 5]) * 2.54, 2.54),
        (np.arange(5) * 1e300, 1e300),
        (np.arange(5) * 1e-309, 1e-309),
        ([0.01, 0.02, 0.04, 7.5, 98765.43], 0.01),
        (1e6 + np.arange(30) * 0.001, 0.001),
        ([2.0**52 - 4, 2.0**52 - 2, 2.0**52 - 1], 1.0),
        ([0.0, 1.0], 1.0),  # two neighbouring whole numbers
    ],
)
def test_steps(values, expected):
    assert step(np.asarray(values, dtype=float)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "values",
    [
        [0.0, 1000.0],  # of two values, nothing is known but their distance
        [0.5, 1.5],
        [7.0],
        [],
        np.random.default_rng(0).normal(size=3),
        np.random.default_rng(0).random(1000),
        np.sqrt(np.arange(1.0, 40.0)),
        [0.0, 1e-300, 2e-300, 1.0],  # its points could not be told apart
        [-1.5e308, 0.0, 1.5e308],
    ],
)
def test_none(values):
    assert step(np.asarray(values, dtype=float)) == 0.0


def test_real_numbers_hardly_ever_look_like_a_lattice():
    rng = np.random.default_rng(1)
    for n in (3, 4, 5, 50):
        drawn = [rng.normal(size=n), rng.exponential(size=n) ** 3, rng.random(n) + 100.0]
        assert {step(values) for _ in range(300) for values in drawn} == {0.0}


def test_any_step_and_offset():
    rng = np.random.default_rng(2)
    for _ in range(400):
        unit = float(rng.choice([1.0, 0.5, 0.25, 0.1, 0.01, 0.001, 1 / 3, 1 / 7, 1 / 60, 0.4536, 12.0, 1e4]))
        points = np.unique(np.append(rng.integers(-500, 500, int(rng.integers(3, 60))), [0, 1]))
        values = points * unit + float(rng.choice([0.0, 0.99, -7.25, 1e3]))
        assert step(values) == pytest.approx(unit, rel=1e-9), (unit, values)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "M8[D]", "M8[s]", "m8[us]"])
def test_integers_and_dates_are_exact(dtype):
    start = {"int64": 2**60, "uint64": 2**63 + 5}.get(dtype, 18_000)
    found = np.array([start, start + 6, start + 15, start + 600], dtype="uint64" if dtype == "uint64" else "int64")
    assert step(found.view(dtype), dtype) == 3.0
    days = np.array(["2024-01-01", "2024-01-02", "2024-03-01"], dtype="M8[ns]")
    assert step(days) == 86_400e9


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (np.array([0, 2**63, 2**64 - 2], dtype=np.uint64), "uint64"),
        (np.array([-(2**63), 1 - 2**63, 2 - 2**63]), "int64"),
        (np.array([1 - 2**63, 2 - 2**63, 3 - 2**63]).view("M8[s]"), "M8[s]"),  # below is the code of a missing date
        (np.array([0, 2**54 + 1, 2**55 + 2]), "int64"),  # a step that no float is
    ],
)
def test_ends_that_the_type_cannot_hold(values, dtype):
    assert step(values, dtype) == 0.0


def test_small_floats_are_rounded_by_their_own_type():
    tenths = (np.arange(1, 60) / 10.0).astype(np.float32)
    assert step(tenths, np.float32) == pytest.approx(0.1)
    assert step_of(tenths.astype(float), FLOAT) == pytest.approx(0.1)  # whatever they are in now
    assert step_of(np.append(tenths.astype(float), 7.1), FLOAT) == 0.0
    assert step(np.arange(50, dtype=np.float16), np.float16) == 1.0


def test_both_halves_add_up_to_a_step():
    assert half_steps(0.5, FLOAT) == (0.25, 0.25)
    for one in (1.0, 2.0, 7.0):
        below, above = half_steps(one, np.dtype("M8[D]"))
        assert (below + above, below - above) == (one, one % 2)
