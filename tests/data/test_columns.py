"""What may be handed to optimize and price as data, target and weights, and what is said of the rest."""

from __future__ import annotations

import fractions
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gridmodl
from gridmodl import (
    GridDiscretizer,
    GridNaiveBayes,
    Model,
    baselines,
    cost_by_parts,
    optimize,
    optimize_each,
    price,
    verify,
)

STEP = [0] * 5 + [1] * 5  # the classes of ten rows that a bound in the middle tells apart


def only(model):
    return model.partitions["x0"]


def as_given(partition):
    """The bounds of a partition as a user writes them: a first NaN keeps missing values apart."""
    apart = partition.missing is not None and partition.n_parts > len(partition.bounds) + 1
    return [math.nan] * apart + partition.bounds.tolist()


def assert_cut(model, low, high):
    """One bound b with low <= b < high, compared as Python numbers: numpy would round them to a common type."""
    partition = only(model)
    assert partition.n_parts == 2
    (bound,) = partition.bounds.tolist()
    assert np.asarray(low).item() <= bound < np.asarray(high).item()
    assert partition.counts.tolist() == [[5, 0], [0, 5]]
    assert model.transform([low]).tolist() == [0]
    assert model.transform([high]).tolist() == [1]


# Shapes and sizes.


@pytest.mark.parametrize("empty", [[], np.empty(0), np.empty((0, 1))])
def test_no_rows(empty):
    with pytest.raises(ValueError, match="no rows"):
        optimize(empty, [])


def test_one_row():
    model = optimize([3.5], ["a"])
    assert (only(model).n_parts, model.level, model.proven, model.n_rows) == (1, 0.0, True, 1)
    assert only(model).counts.tolist() == [[1]]
    assert model.cost == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("search", ["exact", "merge"])
def test_one_class(search):
    model = optimize(np.arange(9.0), ["a"] * 9, search=search)
    assert only(model).n_parts == 1
    assert model.classes.tolist() == ["a"]
    assert model.cost == model.null_cost == pytest.approx(math.log(9))
    assert model.level == 0.0


@pytest.mark.parametrize("criterion", ["modl", "g2"])
def test_constant_column(criterion):
    model = optimize(np.full(10, 2.0), STEP, criterion=criterion)
    assert (only(model).n_parts, model.proven) == (1, True)
    assert only(model).labels == ["(-inf, inf)"]
    assert model.transform([1.0, 2.0, 3.0]).tolist() == [0, 0, 0]


@pytest.mark.parametrize(("n", "m"), [(3, 4), (4, 3), (1, 2)])
def test_lengths_that_differ(n, m):
    with pytest.raises(ValueError, match=f"data has {n} rows and target has {m}"):
        optimize(np.arange(n), np.zeros(m, dtype=int))


@pytest.mark.parametrize("shape", [(10, 1), (1, 10), (5, 2)])
def test_two_dimensional_target(shape):
    with pytest.raises(ValueError, match=r"target must be a 1-D array.*shape"):
        optimize(np.arange(10.0), np.reshape(STEP, shape))


def test_two_dimensional_target_and_zero_weights():
    with pytest.raises(ValueError, match="target must be a 1-D array"):
        optimize(np.arange(10.0), [STEP], weights=[0, 1] * 5)


def test_one_column_in_two_dimensions():
    flat, tall = optimize(np.arange(10.0), STEP), optimize(np.arange(10.0)[:, None], STEP)
    assert tall.cost == flat.cost
    assert only(tall).bounds.tolist() == only(flat).bounds.tolist() == [4.5]
    assert tall.transform(np.arange(10.0)[:, None]).tolist() == [[c] for c in STEP]


def test_several_columns_of_an_array_are_a_grid():
    model = optimize(np.column_stack([np.zeros(40), np.arange(40.0)]), [0] * 20 + [1] * 20)
    assert (model.problem, list(model.partitions), model.informative) == ("grid", ["x0", "x1"], ["x1"])
    assert model.partitions["x1"].bounds.tolist() == [19.5]
    assert optimize(np.zeros((10, 2)), STEP).informative == []


@pytest.mark.parametrize("data", [np.zeros((10, 1, 1)), [[[1.0]]] * 10])
def test_other_shapes(data):
    with pytest.raises(ValueError, match=r"data must be one column or a table of columns, got an array of shape"):
        optimize(data, STEP)


@pytest.mark.parametrize("data", [np.zeros((10, 0)), [[]] * 10, {}])
def test_no_columns(data):
    with pytest.raises(ValueError, match=r"data has no column"):
        optimize(data, STEP)


@pytest.mark.parametrize("data", [1.0, "abc", b"abc", None])
def test_data_that_is_no_array(data):
    with pytest.raises(TypeError, match="data must be array-like"):
        optimize(data, STEP)


@pytest.mark.parametrize("target", [1, "abc", {"a": 1}])
def test_target_that_is_no_array(target):
    with pytest.raises(TypeError, match="target must be array-like"):
        optimize(np.arange(10.0), target)


def test_ragged_data():
    with pytest.raises(ValueError, match="data must be a regular array"):
        optimize([[1.0], [1.0, 2.0]], [0, 1])


def test_ragged_target():
    with pytest.raises(ValueError, match="target must be a regular array"):
        optimize([1.0, 2.0], [[0], [1, 2]])


# Types of data.


def test_complex_numbers():
    with pytest.raises(TypeError, match="data holds complex numbers"):
        optimize(np.arange(10) * 1j, STEP)
    with pytest.raises(TypeError, match="target holds complex numbers"):
        optimize(np.arange(10.0), np.array(STEP) * 1j)


@pytest.mark.parametrize("other", ["a", b"a", [1], 2j, object()])
def test_object_array_of_mixed_things(other):
    data = np.empty(10, dtype=object)
    data[:] = list(range(10))
    data[3] = other
    with pytest.raises(TypeError, match=r"column 'x0' mixes numbers with other things.*give it one type"):
        optimize(data, STEP)


def test_list_of_numbers_and_text():
    with pytest.raises(TypeError, match="column 'x0' mixes numbers with other things"):
        optimize([1, 2, "3", 4], [0, 0, 1, 1])


def test_object_array_of_numbers():
    data = np.array([0, 1.5, np.float32(2), fractions.Fraction(5, 2), True, 5, 6.0, np.int8(7), 8, 9], dtype=object)
    model = optimize(data, STEP)
    assert_cut(model, 2.5, 5)
    assert only(model).missing is None


@pytest.mark.parametrize("nothing", [None, math.nan, np.float64("nan")])
def test_object_array_of_numbers_with_missing_ones(nothing):
    data = np.array([nothing] * 5 + [5, 6, 7.5, 8, 9], dtype=object)
    model = optimize(data, STEP)
    assert only(model).missing == 0
    assert only(model).labels == ["missing", "(-inf, inf)"]
    assert model.transform(data).tolist() == STEP


def test_object_array_of_integers_keeps_their_digits():
    data = np.array([2**60 + i for i in range(10)], dtype=object)
    assert_cut(optimize(data, STEP), 2**60 + 4, 2**60 + 5)


def test_object_array_of_unsigned_integers_keeps_their_digits():
    data = np.array([2**63 + i for i in range(10)], dtype=object)
    assert_cut(optimize(data, STEP), 2**63 + 4, 2**63 + 5)


def test_large_integers_with_missing_ones_keep_their_digits():
    """As floats they would all be one value."""
    data = np.array([None] * 20 + [2**60 + i for i in range(1, 10) for _ in range(10)], dtype=object)
    target = [1] * 20 + [0] * 40 + [1] * 50
    model = optimize(data, target)
    assert only(model).counts.tolist() == [[0, 20], [40, 0], [0, 50]]
    assert only(model).labels[0] == "missing"
    assert only(model).bounds.tolist() == [2**60 + 4]
    assert model.transform(data).tolist() == [0] * 20 + [1] * 40 + [2] * 50
    assert price(data, target, model.partitions) == pytest.approx(model.cost, rel=1e-12)


@pytest.mark.parametrize("data", [[2**60 + 1, 0.5] * 5, [2**60 + 1, 0.5, None] * 3 + [1]])
def test_large_integers_beside_floats_are_not_rounded_in_silence(data):
    with pytest.raises(TypeError, match=r"column 'x0' mixes integers beyond 2\*\*53 with floats"):
        optimize(np.array(data, dtype=object), STEP)


@pytest.mark.parametrize("low", [2**63 - 5, -(2**63) - 5])
def test_python_integers_beyond_any_type(low):
    """Five below and five above the range of 64 bits: no integer type of numpy holds them all."""
    with pytest.raises(TypeError, match="integers beyond 64 bits"):
        optimize([low + i - 2**64 for i in range(5)] + [low + i for i in range(5)], STEP)


@pytest.mark.parametrize(
    "values",
    [
        ["b", "a"],
        np.array(["b", "a"]),
        np.array(["b", "a"], dtype=object),
        [b"b", b"a"],
        np.array([b"b", b"a"]),
        [True, False],
        np.array([True, False], dtype=object),
        np.array([None, "a"], dtype=object),
        np.array([math.nan, "a"], dtype=object),
        np.array([None, False], dtype=object),
    ],
    ids=repr,
)
def test_strings_and_booleans_are_categorical(values):
    data = [values[i] for i in STEP]
    data = np.array(data, dtype=values.dtype) if isinstance(values, np.ndarray) else data
    model = optimize(data, STEP)
    partition = only(model)
    names = [None if value is None or value != value else value for value in list(values)]
    assert partition.kind == "categorical"
    assert partition.groups == ((names[0],), (names[1],))
    assert [type(group[0]) for group in partition.groups] == [
        {np.str_: str, np.bytes_: bytes}.get(type(name), type(name)) for name in names
    ]
    assert partition.counts.tolist() == [[5, 0], [0, 5]]
    assert partition.missing == (0 if None in names else None)
    assert len(partition.bounds) == 0
    assert model.transform(data).tolist() == STEP
    assert price(data, STEP, {"x0": [[names[0]], [names[1]]]}) == pytest.approx(model.cost, rel=1e-12)
    assert price(data, STEP, model.partitions) == pytest.approx(model.cost, rel=1e-12)


def test_numbers_called_categorical():
    data = np.array([7, 1, 7, 1, 7, 3, 5, 3, 5, 3])
    model = optimize(data, STEP, kinds={"x0": "categorical"})
    assert [sorted(group) for group in only(model).groups] == [[1, 7], [3, 5]]
    assert all(type(value) is int for group in only(model).groups for value in group)
    assert model.transform(data).tolist() == STEP


@pytest.mark.parametrize("as_frame", [lambda frame: frame, pl.DataFrame.to_arrow, pl.DataFrame.lazy])
@pytest.mark.parametrize("dtype", [pl.UInt64, pl.Decimal(12, 3)])
def test_long_integers_and_decimals_called_categorical(as_frame, dtype):
    numbers = [2**63 + i for i in (1, 2, 3)] if dtype == pl.UInt64 else [Decimal(i) / 8 for i in (1, 2, 3)]
    x = pl.Series([*numbers, None] * 50, dtype=dtype)
    data = pl.DataFrame({"x": x, "y": (x != numbers[1]).fill_null(True)})
    model = optimize(as_frame(data), "y", kinds={"x": "categorical"})
    assert set(model.partitions["x"].groups) == {(numbers[1],), (None, numbers[0], numbers[2])}
    assert model.transform(data["x"]).tolist() == [int(one == "yes") for one in ["yes", "no", "yes", "yes"] * 50]


def test_booleans_called_numerical():
    model = optimize(np.array([False] * 5 + [True] * 5), STEP, kinds={"x0": "numerical"})
    assert only(model).bounds.tolist() == [0.5]
    assert model.transform(np.array([True, False])).tolist() == [1, 0]


def test_strings_called_numerical():
    with pytest.raises(TypeError, match=r"column 'x0' holds no numbers, such as '0' \(str\); call it"):
        optimize(np.array(list("0123456789")), STEP, kinds={"x0": "numerical"})
    with pytest.raises(TypeError, match=r"column 'x0' .*'0' \(str\)"):
        optimize(list("0123456789"), STEP, kinds={"x0": "numerical"})


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"x1": "numerical"}, "kinds names column 'x1'; the data has 'x0'"),
        ({"x0": "real"}, "kinds says 'real' for column 'x0'; allowed: numerical, categorical"),
    ],
)
def test_kinds_that_mean_nothing(kinds, message):
    with pytest.raises(ValueError, match=message):
        optimize(np.arange(10.0), STEP, kinds=kinds)


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "25s"])
@pytest.mark.parametrize("kind", ["datetime64", "timedelta64"])
def test_dates_and_durations(kind, unit):
    data = np.arange(10).astype(f"{kind}[{unit}]")
    if kind == "timedelta64" and unit in "YM":
        with pytest.raises(TypeError, match=r"column 'x0' holds timedelta64.*length is not known"):
            optimize(data, STEP)
        return
    model = optimize(data, STEP)
    (bound,) = only(model).bounds
    assert only(model).bounds.dtype == data.dtype
    assert data[4] <= bound < data[5]
    assert only(model).counts.tolist() == [[5, 0], [0, 5]]
    assert model.transform(data).tolist() == STEP
    assert model.cost == optimize(np.arange(10.0), STEP).cost
    assert price(data, STEP, {"x0": only(model).bounds}) == pytest.approx(model.cost, rel=1e-12)


@pytest.mark.parametrize("data", [list(range(10)), tuple(range(10)), range(10), [[i] for i in range(10)]])
def test_python_sequences(data):
    model = optimize(data, tuple(STEP))
    assert only(model).bounds.tolist() == [4.5]
    assert model.transform(data).ravel().tolist() == STEP


@pytest.mark.parametrize(
    "dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", ">f4", ">f8", ">i8"]
)
def test_real_types_give_one_and_the_same_model(dtype):
    model = optimize(np.arange(10).astype(dtype), STEP)
    assert_cut(model, 4, 5)
    assert model.cost == optimize(np.arange(10.0), STEP).cost


def test_float32_values_are_kept_apart():
    low = np.float32(0.1)
    high = np.nextafter(low, np.float32(1.0))
    model = optimize(np.repeat([low, high], 5), STEP)
    assert_cut(model, low, high)
    assert model.transform(np.array([low, high])).tolist() == [0, 1]


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="long doubles are doubles here")
def test_long_doubles_would_lose_digits():
    with pytest.raises(TypeError, match="at most 64 bits"):
        optimize(np.arange(10, dtype=np.longdouble), STEP)


# Values at the edges.


@pytest.mark.parametrize(
    ("first", "dtype"),
    [
        (2**53 - 4, np.int64),
        (2**53, np.int64),
        (2**62, np.int64),
        (2**63 - 10, np.int64),
        (-(2**63), np.int64),
        (-(2**53) - 5, np.int64),
        (2**53, np.uint64),
        (2**63 - 5, np.uint64),
        (2**64 - 10, np.uint64),
    ],
)
@pytest.mark.parametrize("gap", [1, None])
def test_large_integers_are_cut_exactly(first, dtype, gap):
    """Ten consecutive numbers, or the first five of them and the five next to the other end of the type."""
    values = [first + i for i in range(10)]
    if gap is None:
        info = np.iinfo(dtype)
        values[5:] = [info.max - 4 + i for i in range(5)] if first + 20 < info.max else values[5:]
    data = np.array(values, dtype=dtype)
    model = optimize(data, STEP)
    assert_cut(model, np.array(values[4], dtype=dtype)[()], np.array(values[5], dtype=dtype)[()])
    assert model.transform(data).tolist() == STEP
    assert price(data, STEP, {"x0": only(model).bounds}) == pytest.approx(model.cost, rel=1e-12)
    assert price(data, STEP, model.partitions) == pytest.approx(model.cost, rel=1e-12)


@pytest.mark.parametrize(
    ("value", "part"),
    [
        (2.0**63, 0),
        (2.0**63 + 2.0**62, 1),
        (2.0**64, 1),
        (math.inf, 1),
        (-1.0, 0),
        (-math.inf, 0),
        (0.5, 0),
        (7, 0),
        (-(2**62), 0),
        (2**63 - 1, 0),
    ],
)
def test_other_types_against_unsigned_bounds(value, part):
    model = optimize(np.array([2**63 + i for i in range(10)], dtype=np.uint64), STEP)
    assert model.transform([value]).tolist() == [part]


@pytest.mark.parametrize(
    ("value", "part"),
    [(2.0**60, 0), (2.0**60 + 256, 1), (2.0**63, 1), (1e300, 1), (-1e300, 0), (0.5, 0), (7, 0), (2**64 - 1, 1)],
)
def test_other_types_against_integer_bounds(value, part):
    model = optimize([2**60 + i for i in range(10)], STEP)
    assert model.transform([value]).tolist() == [part]


@pytest.mark.parametrize(
    ("value", "part"), [(2**53 + 1, 0), (2**53 + 2, 0), (2**53 + 3, 1), (-(2**62), 0), (2**64 - 1, 1)]
)
def test_large_integers_against_float_bounds(value, part):
    low = float(2**53 + 2)  # adjacent floats: the bound is the lower one
    model = optimize(np.repeat([low, low + 2], 5), STEP)
    assert only(model).bounds.tolist() == [low]
    assert model.transform([value]).tolist() == [part]


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (-math.inf, math.inf),
        (-math.inf, 0.0),
        (-math.inf, -1.7e308),
        (3.0, math.inf),
        (1.7e308, math.inf),
        (1.0, np.nextafter(1.0, 2.0)),
        (-1.0, np.nextafter(-1.0, 0.0)),
        (np.nextafter(0.0, -1.0), 0.0),
        (0.0, 5e-324),
        (-5e-324, 5e-324),
        (5e-324, 1e-323),
        (1e-310, 2.2250738585072014e-308),
        (1.6e308, 1.7e308),
        (-1.7e308, -1.6e308),
        (-1.7e308, 1.7e308),
        (np.nextafter(np.finfo(float).max, 0), np.finfo(float).max),
    ],
)
def test_bound_between_two_values(low, high):
    data = np.repeat([low, high], 5)
    model = optimize(data, STEP)
    assert_cut(model, low, high)
    assert model.transform(data).tolist() == STEP
    assert price(data, STEP, {"x0": only(model).bounds}) == pytest.approx(model.cost, rel=1e-12)


@pytest.mark.parametrize(
    ("low", "high"), [(1.0, 4.0), (1e300, 1.7e308), (1.6e308, 1.7e308), (-3.0, 3.0), (2**60, 2**62)]
)
def test_bound_is_the_middle(low, high):
    model = optimize(np.repeat([low, high], 5), STEP)
    assert only(model).bounds.tolist() == [pytest.approx(low / 2 + high / 2, rel=1e-15)]


def test_infinities_are_values_like_others():
    data = np.array([-math.inf] * 5 + [1.0, 2.0, 3.0, 4.0, 5.0] + [math.inf] * 5)
    target = [0] * 5 + [1] * 5 + [2] * 5
    model = optimize(data, target)
    assert only(model).counts.tolist() == [[5, 0, 0], [0, 5, 0], [0, 0, 5]]
    assert only(model).missing is None
    assert model.transform(data).tolist() == target


def test_negative_zero_is_zero():
    plus, both = np.repeat([0.0, 1.0], 5), np.repeat([0.0, 1.0], 5)
    both[:2] = -0.0
    assert optimize(both, STEP).cost == optimize(plus, STEP).cost
    assert price(both, STEP, {"x0": [-0.0]}) == price(plus, STEP, {"x0": [0.0]})
    model = optimize(np.repeat([-5e-324, 5e-324], 5), STEP)
    assert model.transform([0.0]).tolist() == model.transform([-0.0]).tolist()


def test_zeros_of_both_signs_are_never_cut_apart():
    model = optimize(np.repeat([-0.0, 0.0], 5), STEP)
    assert only(model).n_parts == 1


def test_neighbours_that_differ_in_the_last_bit_keep_their_classes():
    """Many classes: the sort keeps class codes in the low bits of the values' keys."""
    low = 1.0
    high = np.nextafter(low, 2.0)
    data = np.tile([low, high], 200)
    target = np.where(data == low, 0, 1 + np.arange(400) % 9)
    model = optimize(data, target)
    assert only(model).counts.tolist() == [[200] + [0] * 9, [0, *np.bincount(target)[1:].tolist()]]


# Missing values.


def missing_apart():
    """Missing rows are of one class, the lowest numbers of the other."""
    data = np.array([np.nan] * 8 + list(range(16)), dtype=float)
    return data, np.array(["a"] * 8 + ["b"] * 8 + ["a"] * 8)


def missing_joined():
    """Missing rows are of the class of the lowest numbers."""
    data = np.array([np.nan] * 8 + list(range(16)), dtype=float)
    return data, np.array(["b"] * 16 + ["a"] * 8)


@pytest.mark.parametrize("search", ["exact", "merge"])
def test_missing_values_get_a_part_of_their_own(search):
    data, target = missing_apart()
    model = optimize(data, target, search=search)
    partition = only(model)
    assert partition.missing == 0
    assert partition.bounds.tolist() == [7.5]
    assert partition.n_parts == 3
    assert partition.labels == ["missing", "(-inf, 7.5]", "(7.5, inf)"]
    assert partition.counts.tolist() == [[8, 0], [0, 8], [8, 0]]
    assert model.transform([np.nan, -math.inf, 7.5, 8.0]).tolist() == [0, 1, 1, 2]
    assert partition.part_of([None, 3.0]).tolist() == [0, 1]


@pytest.mark.parametrize("search", ["exact", "merge"])
def test_missing_values_join_the_lowest_interval(search):
    data, target = missing_joined()
    model = optimize(data, target, search=search)
    partition = only(model)
    assert partition.missing == 0
    assert partition.bounds.tolist() == [7.5]
    assert partition.labels == ["(-inf, 7.5] or missing", "(7.5, inf)"]
    assert partition.counts.tolist() == [[0, 16], [8, 0]]
    assert model.transform([np.nan, 7.5, 8.0]).tolist() == [0, 0, 1]


def test_nothing_but_missing_values():
    model = optimize([np.nan] * 10, STEP)
    assert (only(model).n_parts, only(model).missing, model.n_rows) == (1, 0, 10)
    assert model.transform([np.nan, 1.0]).tolist() == [0, 0]


def test_missing_values_below_minus_infinity():
    data = np.array([np.nan] * 8 + [-math.inf] * 8 + [math.inf] * 8)
    model = optimize(data, [0] * 8 + [1] * 8 + [2] * 8)
    assert only(model).counts.tolist() == [[8, 0, 0], [0, 8, 0], [0, 0, 8]]
    assert model.transform(data).tolist() == [0] * 8 + [1] * 8 + [2] * 8


def test_missing_values_seen_only_by_transform_belong_to_no_part():
    model = optimize(np.arange(10.0), STEP)
    assert only(model).missing is None
    assert only(model).labels[0] == "(-inf, 4.5]"
    assert model.transform([np.nan, 9.0]).tolist() == [-1, 1]


def test_missing_values_of_all_payloads_are_one_value():
    odd = np.array([0x7FF8000000000001, 0xFFF8000000000000, 0x7FF8DEADBEEF0000], dtype=np.uint64).view(np.float64)
    plain, target = missing_apart()
    data = plain.copy()
    data[:3] = odd
    assert optimize(data, target).cost == optimize(plain, target).cost


@pytest.mark.parametrize("make", [missing_apart, missing_joined])
def test_missing_values_are_priced_as_they_were_found(make):
    data, target = make()
    model = optimize(data, target)
    assert price(data, target, {"x0": as_given(only(model))}) == pytest.approx(model.cost, rel=1e-12)
    assert price(data, target, model.partitions) == pytest.approx(model.cost, rel=1e-12)


def test_masked_data_is_missing():
    plain, target = missing_apart()
    masked = np.ma.array(np.nan_to_num(plain, nan=3.0), mask=np.isnan(plain))
    found, wanted = optimize(masked, target), optimize(plain, target)
    assert found.cost == wanted.cost
    assert only(found).bounds.tolist() == only(wanted).bounds.tolist()
    assert only(found).labels == only(wanted).labels
    assert found.transform(masked).tolist() == wanted.transform(plain).tolist()


@pytest.mark.parametrize("dtype", [int, float])
@pytest.mark.parametrize("mask", [False, np.ma.nomask])
def test_masked_array_without_a_mask(dtype, mask):
    model = optimize(np.ma.array(np.arange(10, dtype=dtype), mask=mask), np.ma.array(STEP))
    assert only(model).bounds.tolist() == [4.5]
    assert only(model).missing is None


def test_masked_column_in_two_dimensions():
    plain, target = missing_apart()
    masked = np.ma.masked_invalid(plain)[:, None]
    model = optimize(masked, target)
    assert model.cost == optimize(plain, target).cost
    assert model.transform(masked).shape == (24, 1)


# Targets.


@pytest.mark.parametrize(
    "target",
    [
        [0.0, np.nan, 1.0, np.nan, 1.0],
        np.array(["a", None, "b", None, "b"], dtype=object),
        np.array(["a", np.nan, "b", None, "b"], dtype=object),
        np.ma.array([0, 1, 1, 0, 1], mask=[0, 1, 0, 1, 0]),
        np.ma.array(list("abbab"), mask=[0, 1, 0, 1, 0]),
    ],
)
def test_missing_targets_are_counted(target):
    with pytest.raises(ValueError, match=r"target has 2 missing values of 5;.*unlabelled="):
        optimize(np.arange(5.0), target)


def test_missing_targets_in_a_list():
    with pytest.raises(ValueError, match=r"target has 1 missing values? of 3"):
        optimize([1.0, 2.0, 3.0], ["a", None, "b"])


@pytest.mark.parametrize("target", [np.linspace(0.0, 1.0, 10), [0, 0.5] * 5, np.array([1, 2.5] * 5, dtype=object)])
def test_a_target_of_real_numbers_is_numerical(target):
    model = optimize(np.arange(10.0), target)
    assert (model.problem, model.target.kind) == ("numerical", "numerical")


def test_real_numbers_taken_as_classes():
    model = optimize(np.arange(10.0), np.where(STEP, 0.75, 0.25), target_kind="classes")
    assert model.classes.tolist() == [0.25, 0.75]
    assert only(model).bounds.tolist() == [4.5]


def test_unknown_target_kind():
    with pytest.raises(ValueError, match=r"unknown target_kind 'class'; allowed: None, classes"):
        optimize(np.arange(10.0), STEP, target_kind="class")


@pytest.mark.parametrize(
    "names",
    [
        np.array(["no", "yes"]),
        np.array([b"no", b"yes"]),
        np.array([False, True]),
        np.array([-1.0, 2.0]),
        np.array([1.0, 2.0], dtype=np.float32),
        np.array([-3, 10**15]),
        np.array([3, 5], dtype=np.int8),
        np.array([-128, 127], dtype=np.int8),
        np.array([0, 2**64 - 1], dtype=np.uint64),
        np.array([2**64 - 2, 2**64 - 1], dtype=np.uint64),
        np.array([-(2**63), 2**63 - 1]),
        np.array([-(2**63), -(2**63) + 1]),
        np.array(["no", "yes"], dtype=object),
        np.array([1, 2.0], dtype=object),
        np.array([(1, 2), (1, 3), None], dtype=object)[:2],
    ],
    ids=lambda names: f"{names.dtype}{names.tolist()}",
)
def test_classes_keep_their_type(names):
    model = optimize(np.arange(10.0), names[np.array(STEP)])
    assert model.classes.dtype == names.dtype
    assert model.classes.tolist() == names.tolist()
    assert [type(c) for c in model.classes.tolist()] == [type(c) for c in names.tolist()]
    assert only(model).counts.tolist() == [[5, 0], [0, 5]]


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="this numpy has no StringDType")
def test_variable_width_strings_are_classes():
    target = np.array(["no"] * 5 + ["yes"] * 5, dtype=np.dtypes.StringDType())
    assert optimize(np.arange(10.0), target).classes.tolist() == ["no", "yes"]


def test_class_names_that_python_lists_give():
    assert optimize(np.arange(4.0), ["b", "a", "b", "a"]).classes.tolist() == ["a", "b"]
    assert optimize(np.arange(4.0), [True, False] * 2).classes.dtype == bool


def test_labels_that_cannot_be_sorted():
    target = np.array(["a", 1] * 5, dtype=object)
    with pytest.raises(TypeError, match="target mixes labels that cannot be sorted"):
        optimize(np.arange(10.0), target)


@pytest.mark.parametrize("target", [["a", 1], [1.5, "a"], [True, "a"]])
def test_list_of_labels_of_several_types(target):
    """numpy would make text of them all: 1 and "1" would be one class."""
    with pytest.raises(TypeError, match="target mixes"):
        optimize(np.arange(10.0), target * 5)


@pytest.mark.parametrize("dtype", ["datetime64[s]", "timedelta64[s]"])
def test_dates_are_no_classes(dtype):
    with pytest.raises(TypeError, match=r"target holds (dates|durations);"):
        optimize(np.arange(10.0), np.array(STEP).astype(dtype))


def test_as_many_classes_as_rows():
    data, target = np.arange(300.0), np.arange(300)
    model = optimize(data, target, target_kind="classes")
    assert len(model.classes) == 300
    assert model.cost <= model.null_cost
    assert only(model).counts.sum(axis=0).tolist() == [1] * 300
    assert price(data, target, model.partitions, target_kind="classes") == pytest.approx(model.cost, rel=1e-12)


# Whole numbers, many of which differ: quantities or names of classes?


def whole(n_classes, n_rows):
    return np.arange(n_rows) % n_classes + 100


AMBIGUOUS = {
    "integers": lambda y: y,
    "whole floats": lambda y: y.astype(float),
    "a list": lambda y: y.tolist(),
    "objects": lambda y: np.array([*y.tolist()[1:], float(y[0])], dtype=object),
    "Decimal": lambda y: [Decimal(int(n)) for n in y],
    "pandas": lambda y: pd.Series(y),
    "nullable": lambda y: pd.Series(y, dtype="Int64"),
    "polars": lambda y: pl.Series(y),
}


@pytest.mark.parametrize("kind", AMBIGUOUS)
def test_many_whole_numbers_are_quantities_or_classes_as_the_user_says(kind):
    x, y = np.arange(100.0), AMBIGUOUS[kind](whole(21, 100))
    message = (
        "target holds 21 different whole numbers in 100 rows, which may be quantities or names of classes; "
        "target_kind='numerical' takes them as quantities, target_kind='classes' as classes, target_kind='grouped' as"
    )
    for call in (optimize, optimize_each, lambda x, y: price(x, y, {}), lambda x, y: Model.from_partitions(x, y, {})):
        with pytest.raises(ValueError, match=message):
            call(x, y)
    assert len(Model.from_partitions(x, y, {}, target_kind="classes").classes) == 21
    assert price(x, y, {}, target_kind="classes") > 0.0


@pytest.mark.parametrize(("n_classes", "n_rows"), [(20, 50), (21, 210), (30, 300)])
def test_few_whole_numbers_are_classes(n_classes, n_rows):
    y = whole(n_classes, n_rows)
    assert len(Model.from_partitions(np.arange(float(n_rows)), y, {}).classes) == n_classes


def test_texts_and_booleans_are_classes_however_many():
    x, y = np.arange(100.0), whole(50, 100)
    assert len(Model.from_partitions(x, y.astype(str), {}).classes) == 50
    assert len(Model.from_partitions(x, y % 2 == 0, {}).classes) == 2


def test_rows_count_as_often_as_their_weights_say():
    x, y = np.arange(21.0), whole(21, 21)
    assert len(Model.from_partitions(x, y, {}, weights=[10] * 21).classes) == 21
    with pytest.raises(ValueError, match="21 different whole numbers in 209 rows"):
        price(x, y, {}, weights=[9] + [10] * 20)


def test_many_whole_numbers_beside_a_mark():
    y = np.append(whole(21, 99), -1)
    with pytest.raises(ValueError, match="21 different whole numbers in 99 rows"):
        price(np.arange(100.0), y, {}, unlabelled=-1)
    assert price(np.arange(100.0), y, {}, unlabelled=-1, target_kind="classes") > 0.0


def test_methods_for_classes_alone_ask_for_text():
    x, y = np.arange(100.0), whole(21, 100)
    message = "21 different whole numbers in 100 rows.*; pass it as text if each number is a class"
    for call in (baselines.equal_width, cost_by_parts):
        with pytest.raises(ValueError, match=message):
            call(x, y, max_parts=3) if call is cost_by_parts else call(x, y)


def test_estimators_ask_too_but_classifiers_know():
    X, y = np.arange(100.0)[:, None], whole(21, 100)
    with pytest.raises(ValueError, match=r"21 different whole numbers in 100 rows.*target_kind='numerical'"):
        GridDiscretizer().fit(X, y)
    with pytest.raises(ValueError, match=r"21 different whole numbers in 99 rows.*target_kind='numerical'"):
        GridDiscretizer(unlabelled=100).fit(X[:100], np.append(whole(21, 99) + 1, 100))
    assert len(GridDiscretizer(target_kind="classes").fit(X, y).classes_) == 21
    assert len(GridNaiveBayes().fit(X, y).classes_) == 21


def test_a_model_of_such_a_target_is_verified():
    x, y = np.arange(100.0), whole(21, 100)
    assert verify(optimize(x, y, target_kind="classes"), x, y)


def test_negative_zero_names_the_class_zero():
    target = np.array([0.0, -0.0] * 2 + [0.0] + [1.0] * 5)
    assert optimize(np.arange(10.0), target).classes.tolist() == [0.0, 1.0]


# Weights.


def weighted_rows(seed, dtype=np.int64):
    rng = np.random.default_rng(seed)
    data = rng.normal(size=60).round(1)
    data[rng.random(60) < 0.1] = np.nan
    target = rng.integers(0, 3, 60) * (data > 0) + rng.integers(0, 2, 60)
    return data, target, rng.integers(0, 5, 60).astype(dtype)


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint64, np.float64, np.float32])
@pytest.mark.parametrize("search", ["exact", "merge"])
def test_a_row_of_weight_w_is_w_rows(dtype, search):
    for seed in range(5):
        data, target, weights = weighted_rows(seed, dtype)
        times = weights.astype(int)
        model = optimize(data, target, weights=weights, search=search)
        wanted = optimize(np.repeat(data, times), np.repeat(target, times), search=search)
        assert (model.cost, model.null_cost, model.n_rows) == (wanted.cost, wanted.null_cost, wanted.n_rows)
        assert model.n_rows == times.sum()
        assert model.classes.tolist() == wanted.classes.tolist()
        assert only(model).bounds.tolist() == only(wanted).bounds.tolist()
        assert only(model).counts.tolist() == only(wanted).counts.tolist()
        assert only(model).missing == only(wanted).missing


def test_weighted_rows_cost_what_their_copies_do():
    data, target, weights = weighted_rows(7)
    copies = np.repeat(data, weights), np.repeat(target, weights)
    for bounds in ([], [0.0], [-0.5, 0.3]):
        weighted = price(data, target, {"x0": bounds}, weights=weights)
        assert weighted == price(copies[0], copies[1], {"x0": bounds})


def test_min_rows_counts_weights():
    data, weights = np.arange(10.0), np.array([1, 1, 1, 1, 1, 9, 9, 9, 9, 9])
    model = optimize(data, STEP, weights=weights, min_rows=9)
    assert only(model).counts.sum(axis=1).min() >= 9
    wanted = optimize(np.repeat(data, weights), np.repeat(STEP, weights), min_rows=9)
    assert model.cost == wanted.cost
    assert only(model).bounds.tolist() == only(wanted).bounds.tolist()


def test_rows_of_weight_zero_are_not_there():
    """Neither their value, nor their class, nor that it is missing."""
    model = optimize([*range(10), 99.0, np.nan], [*STEP, 7.0, np.nan], weights=[1] * 10 + [0, 0])
    wanted = optimize(np.arange(10.0), STEP)
    assert (model.cost, model.n_rows) == (wanted.cost, 10)
    assert model.classes.tolist() == [0, 1]
    assert only(model).missing is None


def test_all_weights_zero():
    with pytest.raises(ValueError, match="all weights are 0"):
        optimize(np.arange(10.0), STEP, weights=np.zeros(10))


@pytest.mark.parametrize("bad", [-1.0, 0.5, np.nan, np.inf, -np.inf])
def test_weights_that_are_no_numbers_of_rows(bad):
    weights = np.ones(10)
    weights[4] = bad
    with pytest.raises(ValueError, match="weights must be whole numbers, 0 or more"):
        optimize(np.arange(10.0), STEP, weights=weights)
    with pytest.raises(ValueError, match="weights must be whole numbers, 0 or more"):
        price(np.arange(10.0), STEP, {}, weights=weights)


@pytest.mark.parametrize("n", [9, 11, 0])
def test_weights_of_another_length(n):
    with pytest.raises(ValueError, match=f"weights has {n} entries and data has 10 rows"):
        optimize(np.arange(10.0), STEP, weights=np.ones(n))


@pytest.mark.parametrize("weights", [["1"] * 10, np.array(["1"] * 10), np.ones(10, dtype="M8[s]"), [1j] * 10, "w", 3])
def test_weights_of_other_types(weights):
    with pytest.raises(TypeError, match="weights"):
        optimize(np.arange(10.0), STEP, weights=weights)


def test_weights_of_two_dimensions():
    with pytest.raises(ValueError, match=r"weights must be a 1-D array with one entry per row, got shape \(10, 1\)"):
        optimize(np.arange(10.0), STEP, weights=np.ones((10, 1)))


def test_weights_as_objects():
    data, target, weights = weighted_rows(3)
    model = optimize(data, target, weights=weights.astype(object))
    assert (model.cost, model.n_rows) == (optimize(data, target, weights=weights).cost, weights.sum())
    with pytest.raises(ValueError, match="weights must be whole numbers, 0 or more"):
        optimize(np.arange(10.0), STEP, weights=np.array([1] * 9 + [None], dtype=object))


def test_weights_whose_sum_is_no_longer_exact():
    with pytest.raises(ValueError, match="weights sum to more than"):
        optimize(np.arange(10.0), STEP, weights=np.full(10, 2**53 // 10 + 1))


def test_more_rows_than_32_bits_count():
    weights = np.full(10, 2**31)
    model = optimize(np.arange(10.0), STEP, weights=weights, search="merge")
    assert model.n_rows == 10 * 2**31
    assert only(model).counts.tolist() == [[5 * 2**31, 0], [0, 5 * 2**31]]
    assert price(np.arange(10.0), STEP, model.partitions, weights=weights) == pytest.approx(model.cost, rel=1e-12)


class NAType:
    """As pandas' NA: neither equal nor unequal to itself."""

    def __ne__(self, other):
        return self

    def __bool__(self):
        raise TypeError("boolean value of NA is ambiguous")

    __hash__ = object.__hash__


def test_the_missing_value_of_data_frames():
    NA = NAType()
    with pytest.raises(ValueError, match="target has 1 missing values of 3"):
        optimize([1.0, 2.0, 3.0], np.array(["a", NA, "b"], dtype=object))
    model = optimize(np.array([1.0, NA, 3.0, 4.0], dtype=object), ["a", "b", "b", "b"])
    assert model.partitions["x0"].missing == 0


def test_decimals_are_numbers():
    from decimal import Decimal

    model = optimize([Decimal(n) / 10 for n in range(8)], [0] * 4 + [1] * 4)
    assert model.partitions["x0"].bounds.tolist() == [0.35]


@pytest.mark.parametrize("kinds", ["numerical", ["numerical"], 3])
def test_kinds_must_be_a_dict(kinds):
    with pytest.raises(TypeError, match="kinds must be a dict"):
        optimize([1.0, 2.0], [0, 1], kinds=kinds)


@pytest.mark.parametrize("special", [None, {"x0": [-9.0]}])
def test_heavy_rows_that_are_missing_or_special_are_counted(special):
    data = [np.nan if special is None else -9.0, 1.0, 2.0, 3.0, 4.0]
    model = optimize(data, [0, 0, 0, 1, 1], weights=[3_000_000_000, 5, 5, 5, 5], special=special)
    assert only(model).counts.sum() == 3_000_000_020


def test_rows_of_weight_zero_say_nothing_of_the_column():
    given = Model.from_partitions([np.nan, 1, 2, 3], [0, 0, 1, 1], {"x0": [1.5]}, weights=[0, 1, 1, 1])
    assert only(given).missing is None
    large = optimize([2**60, 1, 2, 3], [0, 0, 1, 1], weights=[0, 9, 9, 9])
    assert only(large).bounds.tolist() == [1.5]


def test_a_share_of_rows_is_not_rounded_up_by_floats():
    data, target = np.arange(100.0), [0] * 7 + [1] * 93
    assert only(optimize(data, target, min_rows=0.07)).n_parts == 2


@pytest.mark.parametrize("text", [["1", "2"], np.array(["1", "2"]), pl.Series("x0", ["1", "2"]), pd.Series(["1", "2"])])
def test_text_for_a_model_of_numbers_is_to_be_converted(text):
    numbers = np.arange(10.0)
    joint = Model.from_partitions({"a": numbers, "b": numbers}, None, {"a": [4.5], "b": [4.5]})
    card = gridmodl.GridScorecard(validate=False).fit(np.arange(200.0)[:, None], np.repeat(STEP, 20)).scorecard_
    assert list(card.models) == ["x0"]
    calls = [
        lambda: optimize(numbers, STEP).transform(text),
        lambda: gridmodl.average(numbers, STEP).predict_proba(text),
        lambda: joint.log_density({"a": text, "b": [1.0, 2.0]}),
        lambda: card.score({"x0": text}),
        lambda: optimize(numbers, STEP).transform([1.0, "2"]),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=r"numbers.*the model has numbers or dates there; convert the column$"):
            call()
    with pytest.raises(TypeError, match=r"column 'x' holds no numbers, .*; call it categorical with kinds=$"):
        optimize({"x": text}, [0, 1], kinds={"x": "numerical"})


def test_a_column_of_other_things_is_not_said_to_mix_numbers():
    periods = pd.period_range("2020", periods=10, freq="D")
    with pytest.raises(TypeError, match=r"column 'x0' holds no numbers, such as Period\(.*call it categorical with"):
        optimize(pd.Series(periods), STEP)
