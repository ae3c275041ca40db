"""Places of bounds: middles, and `placement="short"` against trying all decimals and dates, longest units first."""

import datetime
import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gridmodl
from gridmodl import GridDiscretizer, optimize, optimize_each
from gridmodl.data.bounds import EXACT, bounds_between, middle_bounds, middles

SHORT = "short"


def short(low, high, dtype="f8"):
    """The shortest bound between two values of a type, as the library finds it."""
    dtype = np.dtype(dtype)
    held = np.float64 if dtype.kind == "f" else np.int64 if dtype.kind in "mM" else dtype
    pair = [np.array([value], dtype=dtype if dtype.kind in "mM" else held) for value in (low, high)]
    pair = [value.view(np.int64) for value in pair] if dtype.kind in "mM" else pair
    (bound,) = bounds_between(*pair, dtype, SHORT)
    return bound


def shortest_decimals(low, high, n_digits=17):
    """All decimals of the fewest significant digits strictly between two usual numbers, by trying each in turn."""
    if low < 0 < high:
        return [Fraction(0)]
    sign = -1 if high <= 0 else 1
    ends = sorted(abs(Fraction(end)) for end in (low, high))
    for digits in range(1, n_digits + 1):
        found = []
        for power in range(-25, 12):
            unit = Fraction(10) ** power
            first = max(10 ** (digits - 1), math.floor(ends[0] / unit))
            last = min(10**digits - 1, math.ceil(ends[1] / unit))
            if last - first > 10_000:
                last = first + 10_000
            found += [sign * n * unit for n in range(first, last + 1) if low < float(sign * n * unit) < high]
        if found:
            return found
    return []


@pytest.mark.parametrize("seed", range(40))
def test_shortest_float_has_the_fewest_digits_and_is_nearest_to_the_middle(seed):
    rng = np.random.default_rng(seed)
    low, high = sorted(
        float(np.round(rng.normal(0, 10.0 ** rng.integers(-3, 4)), rng.integers(0, 6))) for _ in range(2)
    )
    if rng.random() < 0.5:
        high = float(low + abs(low) * 10.0 ** -int(rng.integers(1, 5)) + 1e-4)
    if not low < high:
        high = low + 1.0
    bound = short(low, high)
    allowed = shortest_decimals(low, high, 6)
    assert low < bound < high
    assert Fraction(repr(float(bound))) in allowed
    middle = (Fraction(repr(low)) + Fraction(repr(high))) / 2
    nearest = min(abs(one - middle) for one in allowed)
    assert abs(Fraction(repr(float(bound))) - middle) == nearest
    assert Fraction(repr(float(bound))) == min(one for one in allowed if abs(one - middle) == nearest)


@pytest.mark.parametrize(
    ("low", "high", "bound"),
    [
        (2.3, 2.6, 2.4),
        (3.0, 4.0, 3.5),
        (17.0, 44.0, 30.0),
        (0.5, 1234.0, 600.0),
        (-1.0, 2.0, 0.0),
        (-2.6, -2.3, -2.5),
        (0.0, 5e-324, 0.0),
        (5e-324, 1.5e-323, 1e-323),
        (1.0, math.nextafter(1.0, 2.0), 1.0),  # adjacent
        (1e300, 1.7e308, 9e307),
        (-1.7e308, 1.7e308, 0.0),
        (-math.inf, math.inf, 0.0),
        (-math.inf, 5.0, 0.0),
        (-math.inf, -3.0, -4.0),
        (-math.inf, -3.7, -4.0),
        (-math.inf, 0.0, -1.0),
        (5.0, math.inf, 6.0),
        (0.0, math.inf, 1.0),
        (-math.inf, -1.7976931348623157e308, -math.inf),
        (1600000000.1, 1600000000.2, 1600000000.15),
    ],
)
def test_floats_of_any_size(low, high, bound):
    assert short(low, high) == bound
    assert low <= bound < high


def test_neighbours_two_floats_apart_get_the_one_between():
    for seed in range(200):
        low = float(np.random.default_rng(seed).normal(0, 1e3))
        between = math.nextafter(low, math.inf)
        assert short(low, math.nextafter(between, math.inf)) == between


@pytest.mark.parametrize(
    ("low", "high", "dtype", "bound"),
    [
        (2**60, 2**60 + 1, "i8", 2**60),
        (2**60, 2**60 + 2, "i8", 2**60 + 1),
        (2**60, 2**61, "i8", 2 * 10**18),
        (-(2**63), -(2**63) + 9, "i8", -9223372036854775800),
        (-(2**62), 2**62, "i8", 0),
        (2**63, 2**64 - 1, "u8", 10**19),
        (2**64 - 2, 2**64 - 1, "u8", 2**64 - 2),
    ],
)
def test_large_integers_stay_integers(low, high, dtype, bound):
    assert short(low, high, dtype) == bound


@pytest.mark.parametrize(
    ("low", "high", "unit", "bound"),
    [
        ("1999-03-01", "2003-05-01", "D", "2001-01-01"),
        ("1999-03-01", "1999-05-07", "D", "1999-04-01"),
        ("1999-03-01", "1999-03-03", "D", "1999-03-02"),
        ("1999-03-01", "1999-03-02", "D", "1999-03-01"),  # adjacent days
        ("1999-03-01", "1999-03-02", "s", "1999-03-01T12"),
        ("1999-03-01T12:13:14.123", "1999-03-01T12:13:14.178", "ms", "1999-03-01T12:13:14.15"),
        ("1999-03-01T12:13:14.123", "1999-03-01T12:13:14.124", "ns", "1999-03-01T12:13:14.1235"),
        ("1999-03-01T12:13:14", "1999-03-01T12:59", "us", "1999-03-01T12:36"),
        ("1999-03", "2001-05", "M", "2000-01"),
        ("1999-03", "1999-06", "M", "1999-04"),
        ("1999", "2001", "Y", "2000"),
        ("1999", "2000", "Y", "1999"),
        ("1677-09-21T00:12:44", "1677-09-21T12:12:44", "ns", "1677-09-21T06"),  # the first day of the type
    ],
)
def test_dates(low, high, unit, bound):
    dtype = f"M8[{unit}]"
    found = short(np.datetime64(low, unit), np.datetime64(high, unit), dtype)
    assert found == np.datetime64(bound)
    assert found.dtype == dtype


@pytest.mark.parametrize("seed", range(30))
def test_date_is_a_multiple_of_the_longest_unit_that_has_one_between(seed):
    rng = np.random.default_rng(seed)
    low = int(rng.integers(-(10**9), 2 * 10**9))
    high = low + int(10 ** rng.uniform(0.4, 9)) + 1
    found = short(np.datetime64(low, "s"), np.datetime64(high, "s"), "M8[s]")
    assert low < found.astype(np.int64) < high
    for unit in ("Y", "M", "D", "h", "m", "s"):
        first, last = (np.datetime64(end, "s").astype(f"M8[{unit}]").astype(np.int64) for end in (low, high))
        times = np.arange(first, min(last, first + 10**6) + 1).astype(f"M8[{unit}]").astype("M8[s]").astype(np.int64)
        times = times[(times > low) & (times < high)]
        if len(times):
            assert abs(2 * int(found.astype(np.int64)) - low - high) == np.abs(2 * times - low - high).min()
            return


@pytest.mark.parametrize(
    ("low", "high", "unit", "bound"),
    [
        (3, 1000, "s", 480),
        (100_000, 1_000_000, "s", 6 * 86_400),
        (10**7, 10**9, "s", 6000 * 86_400),
        (-3, 3, "s", 0),
        (10, 11, "s", 10),
        (-100_000, -1, "s", -86_400),
        (-50_000, -1, "s", -7 * 3_600),
        (1500, 1600, "ms", 1500 + 50),
        (3, 40, "D", 20),
        (4, 9, "W", 6),
    ],
)
def test_durations(low, high, unit, bound):
    assert short(np.timedelta64(low, unit), np.timedelta64(high, unit), f"m8[{unit}]") == np.timedelta64(bound, unit)


def test_middles_are_rounded_only_where_that_hardly_moves_them():
    rng = np.random.default_rng(0)
    low = rng.normal(0, 10.0 ** rng.integers(-30, 30, 5000))
    high = low + np.abs(low) * 10.0 ** -rng.uniform(0, 15.5, 5000)
    low, high = low[low < high], high[low < high]
    bounds, plain = bounds_between(low, high, np.dtype(np.float64)), middles(low, high)
    assert np.all((low <= bounds) & (bounds < high))
    assert np.all(np.abs(bounds - plain) <= 0.01 * (high - low))
    digits = np.array([len(Decimal(repr(float(bound))).normalize().as_tuple().digits) for bound in bounds])
    is_wide = (high - low > 1e-6 * np.abs(low)) & (np.abs(plain) > 1e-12) & (np.abs(plain) < 1e30)
    assert is_wide.sum() > 500
    assert digits[is_wide].max() <= 10
    assert bounds_between(np.array([0.1]), np.array([0.2]), np.dtype(np.float64)).tolist() == [0.15]
    small = bounds_between(np.array([0.1]), np.array([0.2]), np.dtype(np.float32))
    assert (str(small[0]), small.dtype) == ("0.15", np.float32)


# Through the library.


def two_halves(values):
    """The two values, many times, each with its own class."""
    return np.repeat(np.asarray(values), 20), np.repeat(["no", "yes"], 20)


def only(model):
    (partition,) = model.partitions.values()
    return partition


@pytest.mark.parametrize("seed", range(10))
def test_parts_and_cost_are_those_of_middles(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(100, 30, 300)
    x[rng.random(300) < 0.1] = np.nan
    x[:10] = -999.0
    y = np.where(np.nan_to_num(x) > 105, "b", np.where(rng.random(300) < 0.8, "a", "c"))
    options = {"special": {"x0": [-999]}}
    plain, model = optimize(x, y, **options), optimize(x, y, placement=SHORT, **options)
    assert (model.cost, model.proven) == (plain.cost, plain.proven)
    assert np.array_equal(only(model).counts, only(plain).counts)
    assert np.array_equal(model.transform(x), plain.transform(x))
    assert gridmodl.verify(model, x, y, placement=SHORT)
    values = np.unique(x[np.isfinite(x) & (x != -999)])
    for bound in only(model).bounds.tolist():
        low, high = values[values <= bound].max(), values[values > bound].min()
        assert Fraction(repr(bound)) in shortest_decimals(float(low), float(high), 8)


@pytest.mark.parametrize(
    ("values", "label"),
    [
        ([17, 44], "(-inf, 30.0]"),
        ([2**60, 2**61], "(-inf, 2000000000000000000]"),
        (np.array([0.1, 0.2], dtype=np.float32), "(-inf, 0.15]"),
        ([Decimal("17.2"), Decimal("17.9")], "(-inf, 17.5]"),
        ([datetime.date(1999, 3, 1), datetime.date(2003, 5, 1)], "(-inf, 2001-01-01]"),
        (np.array(["1999-03-01T12:00", "1999-03-01T15:10"], dtype="M8[ns]"), "(-inf, 1999-03-01T14:00]"),
        (np.array([3, 1000], dtype="m8[s]"), "(-inf, 00:08:00]"),
    ],
)
def test_label_prints_the_bound_that_transform_uses(values, label):
    x, y = two_halves(values)
    partition = only(optimize(x, y, placement=SHORT))
    assert partition.labels[0] == label
    if partition.bounds.dtype.kind == "f":
        bound = float(label[len("(-inf, ") : -1])
        assert partition.bounds.dtype == np.float64
        assert partition.part_of(np.array([bound, math.nextafter(bound, math.inf)])).tolist() == [0, 1]


def test_grids_joint_grids_and_targets():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 100, 400) * 1.7, rng.integers(0, 100, 400) * 1.3
    data = {"a": a, "b": b}
    for target in (np.where((a > 80) ^ (b > 70), "yes", "no"), None):
        plain, model = optimize(data, target), optimize(data, target, placement=SHORT)
        assert model.cost == plain.cost
        for name, values in data.items():
            assert np.array_equal(model.partition(name).counts, plain.partition(name).counts)
            for bound in model.partition(name).bounds.tolist():
                low, high = values[values <= bound].max(), values[values > bound].min()
                assert Fraction(repr(bound)) in shortest_decimals(float(low), float(high), 4)
    y = np.where(a > 80, 5.0, 1.0) + rng.random(400)
    model = optimize(a, y, placement=SHORT)
    (bound,) = model.target.bounds.tolist()
    assert Fraction(repr(bound)) in shortest_decimals(float(y[y <= bound].max()), float(y[y > bound].min()), 4)


def test_unlabelled_rows_and_other_doors():
    rng = np.random.default_rng(1)
    x = np.sort(rng.random(300)) * 100
    y = np.where(x > 40, 1, 0)
    y[rng.random(300) < 0.5] = -1
    plain, model = optimize(x, y, unlabelled=-1), optimize(x, y, unlabelled=-1, placement=SHORT)
    assert model.cost == plain.cost
    assert len(repr(float(only(model).bounds[0]))) < len(repr(float(only(plain).bounds[0])))
    assert gridmodl.verify(model, x, y, unlabelled=-1, placement=SHORT)
    again = gridmodl.Model.from_json(model.to_json())
    assert again.partitions["x0"].labels == only(model).labels
    frame = pd.DataFrame({"x": x[y >= 0]})
    models = optimize_each(frame, y[y >= 0], placement=SHORT)
    discretizer = GridDiscretizer(placement=SHORT).fit(frame, y[y >= 0])
    assert discretizer.models_["x"].partitions["x"].labels == models["x"].partitions["x"].labels
    assert str(only(models["x"]).bounds.tolist()[0]) in models["x"].to_sql("duckdb", "t")
    polars = optimize(pl.DataFrame({"x": x[y >= 0]}), y[y >= 0], placement=SHORT)
    assert only(polars).labels == only(models["x"]).labels
    assert json.loads(polars.to_json())["partitions"]
    other = models["x"].explain("x").table()
    assert other is not None


@pytest.mark.parametrize("unit", ["h", "s", "us", "ns", "D"])
def test_middles_of_whole_days_are_days(unit):
    """Also before 1970, where counts are negative; between moments, and in a density, the middle stays."""
    days = np.array(["1969-03-01", "1969-03-02", "1999-03-01", "1999-03-05"], dtype=f"M8[{unit}]")
    low, high = days[:-1].view(np.int64), days[1:].view(np.int64)
    found = bounds_between(low, high, days.dtype)
    assert found.astype("M8[D]").astype(str).tolist() == ["1969-03-01", "1984-03-01", "1999-03-03"]
    assert np.array_equal(found.astype("M8[D]").astype(found.dtype), found)
    assert np.all((days[:-1] <= found) & (found < days[1:]))
    if unit != "D":
        assert np.array_equal(bounds_between(low + 1, high, days.dtype), middle_bounds(low + 1, high, days.dtype))
        assert bounds_between(low[:1], high[:1], days.dtype, EXACT).astype(str).tolist()[0].startswith("1969-03-01T12")
