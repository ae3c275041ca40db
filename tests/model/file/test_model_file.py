"""Models as JSON: what comes back is what was written, and what no gridmodl wrote is refused with a reason."""

from __future__ import annotations

import collections
import datetime as dt
import enum
import fractions
import functools
import itertools
import json
import math
import os
import pickle
import subprocess
import sys
import uuid
import zoneinfo
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gridmodl
from gridmodl import Model, Models, Partition, optimize, optimize_density
from gridmodl.data.atoms import Target
from gridmodl.data.frames import object_array
from gridmodl.density import DensityModel
from gridmodl.model.cells import Cells, make_cells
from gridmodl.model.file import ModelFileError, files, read_model, write_model
from gridmodl.model.file.files import parse_json
from gridmodl.model.file.values import TAGS, read_array, read_value, write_array, write_value
from gridmodl.model.target_quantiles import TargetQuantiles

PARIS = zoneinfo.ZoneInfo("Europe/Paris")


def numerical(name="x", bounds=(1.5, 2.5), special=(), missing=None, counts=None, **facts):
    bounds, special = np.asarray(bounds), np.asarray(special, dtype=None if len(special) else float)
    n_parts = len(bounds) + 1 + len(special)
    counts = np.ones((n_parts, 2), dtype=np.int64) if counts is None else np.array(counts, dtype=np.int64)
    return Partition(name, "numerical", counts, bounds=bounds, special=special, missing=missing, **facts)


def categorical(name="c", groups=(("a", None), ("b",), ("c",)), **facts):
    facts = {"missing": next((i for i, group in enumerate(groups) if None in group), None), "default": 0} | facts
    counts = np.ones((len(groups), 2), dtype=np.int64)
    return Partition(name, "categorical", counts, groups=tuple(map(tuple, groups)), **facts)


def cells_of(partitions, total):
    """Cells that add up to the parts: within each class, rows are laid out in the order of the parts."""
    codes = np.repeat(np.arange(len(total)), total)
    target = Target(codes.astype(np.int32), None, len(total))
    parts = {
        p.name: np.concatenate([np.repeat(np.arange(p.n_parts), column) for column in p.counts.T]) for p in partitions
    }
    informative = {name: of_rows for name, of_rows in parts.items() if np.any(of_rows != of_rows[0])}
    return make_cells(list(informative), list(informative.values()), target)


def model_of(*partitions, classes=("no", "yes"), **facts):
    facts = {"cost": 2.0, "null_cost": 4.0, "proven": True, "search": "exact", "elapsed": 0.5} | facts
    if len(partitions) > 1:
        facts = {"_cells": cells_of(partitions, partitions[0].counts.sum(axis=0))} | facts
    return Model(
        criterion="modl",
        problem="grid" if len(partitions) > 1 else "classes",
        n_rows=int(partitions[0].counts.sum()),
        classes=classes if isinstance(classes, np.ndarray) else np.array(classes),
        partitions={partition.name: partition for partition in partitions},
        **({"event_index": 1 if len(classes) == 2 else None} | facts),
    )


def assert_same(left, right):
    """Equal to the bit and to the type."""
    if isinstance(left, np.ndarray):
        assert isinstance(right, np.ndarray)
        assert (left.dtype, left.shape) == (right.dtype, right.shape)
        if left.dtype.kind != "O":
            assert left.tobytes() == right.tobytes()
            return
        left, right = left.tolist(), right.tolist()
    assert type(left) is type(right)
    if isinstance(left, (tuple, list)):
        assert len(left) == len(right)
        for one, other in zip(left, right, strict=True):
            assert_same(one, other)
    elif isinstance(left, (Model, Partition)):
        for field in fields(left):
            if field.name != "_source":
                assert_same(getattr(left, field.name), getattr(right, field.name))
    elif isinstance(left, dict):
        assert_same(list(left.items()), list(right.items()))
    elif isinstance(left, float) and math.isnan(left):
        assert math.isnan(right)
    else:
        assert left == right
        assert hash(left) == hash(right)
        if type(left) is dt.datetime:  # its fold is kept where it means something
            assert (left.isoformat(), left.tzinfo) == (right.isoformat(), right.tzinfo)
        else:
            assert repr(left) == repr(right)  # tells -0.0 from 0.0


def back(model):
    text = write_model(model)
    again = read_model(text)
    assert again._source is None
    assert_same(model, again)
    assert write_model(again) == text
    return again


# Values and arrays.

texts = st.text(st.characters(exclude_categories=())) | st.sampled_from(["\ud800", "\ud83d\ude00", "\udc00x", "\0", ""])
moments = st.datetimes(timezones=st.none() | st.sampled_from([dt.UTC, dt.timezone(dt.timedelta(minutes=-90)), PARIS]))
values = st.one_of(
    st.none(), st.booleans(), texts, st.integers(), st.floats(allow_nan=False), st.binary(), st.dates(),
    moments, st.timedeltas(), st.decimals(allow_nan=False), st.sampled_from([2**63, 2**64, -(10**4000), 10**19]),
)  # fmt: skip


@given(st.recursive(values, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=5))
def test_any_value_comes_back(value):
    text = json.dumps(write_value(value, "here"), allow_nan=False, ensure_ascii=False)
    text.encode("utf-8")
    assert_same(value, read_value(parse_json(text), "here"))


NUMPY = ["bool", "int8", "uint64", "int64", "float16", "float32", "float64", ">f8", ">i4", ">M8[s]", "M8[D]", "M8[W]"]
TIMES = [f"{kind}8[{unit}]" for kind in "Mm" for unit in ("Y", "M", "h", "m", "s", "25s", "ms", "us", "ns", "ps", "as")]


@pytest.mark.parametrize("dtype", [*NUMPY, *TIMES])
@settings(max_examples=15)
@given(data=st.data())
def test_any_array_comes_back(dtype, data):
    dtype = np.dtype(dtype)
    raw = np.frombuffer(data.draw(st.binary(min_size=32, max_size=32)), dtype=np.uint8)
    array = (raw % 2).astype(bool) if dtype.kind == "b" else raw.view(dtype)
    array = array[array == array]
    again = read_array(json.loads(json.dumps(write_array(array, "a"))), "a")
    assert_same(array, again)
    for scalar in array:
        assert_same(scalar, read_value(json.loads(json.dumps(write_value(scalar, "a"))), "a"))


@pytest.mark.parametrize(
    "array",
    [
        np.array(["no", "yes", "longest"]), np.array([b"no", b"\xff\0y"]), np.array(["é\ud800", "日本"]),
        np.array(["a", "b"], dtype="<U70"), np.array(["a", "b"], dtype=">U3"), np.array([], dtype="M8[ns]"),
        np.array(["b", "a"], dtype=object), np.array([b"b", b"a"], dtype=object), np.array([], dtype=object),
        np.array([1, 2**70], dtype=object), np.array([dt.date(2020, 1, 1)], dtype=object), np.array([-np.inf, -0.0]),
        np.array(["1969-12-31T23:59:59.999999999", "2020-01-01"], dtype="M8[ns]"),
    ],
)  # fmt: skip
def test_arrays_come_back(array):
    assert_same(array, read_array(json.loads(json.dumps(write_array(array, "a"))), "a"))


def test_an_object_array_of_tuples_stays_one_dimensional():
    array = np.empty(2, dtype=object)
    array[:] = [(1, "a"), (2, "b")]
    assert_same(array, read_array(write_array(array, "a"), "a"))


@pytest.mark.parametrize("fold", [0, 1])
@pytest.mark.parametrize("make", [dt.datetime, pd.Timestamp])
def test_the_hour_that_a_clock_repeats_is_found_again(make, fold):
    value = make(2020, 10, 25, 2, 30, tzinfo=PARIS, fold=fold)
    assert_same(value, read_value(write_value(value, "v"), "v"))
    assert {read_value(write_value(value, "v"), "v"): 1}[value] == 1


def test_a_zone_that_is_unknown_here_keeps_the_instant():
    value = read_value({"datetime": ["2020-06-01T12:00:00+02:00", "Mars/Olympus"]}, "v")
    assert value == dt.datetime(2020, 6, 1, 12, tzinfo=PARIS)
    assert value.utcoffset() == dt.timedelta(hours=2)
    value = read_value({"datetime": ["2020-06-01T12:00:00+07:00", "Europe/Paris"]}, "v")  # the rules have changed
    assert value.utcoffset() == dt.timedelta(hours=7)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Paris", dt.timezone(dt.timedelta(minutes=-90))])
def test_values_of_pandas_come_back(unit, zone):
    for value in (pd.Timestamp("2020-03-04 05:06:07", tz=zone), pd.Timedelta(-5, "s")):
        value = value.as_unit(unit)
        again = read_value(write_value(value, "v"), "v")
        assert_same(value, again)
        assert again.unit == unit
    for value in (pd.Timestamp(10**18 + 1, tz=zone), pd.Timedelta(1, "ns")):
        assert_same(value, read_value(write_value(value, "v"), "v"))


INTERVALS_AND_PERIODS = [
    pd.Interval(0, 1), pd.Interval(0.5, np.inf, closed="both"), pd.Interval(-1, 2.5, closed="neither"),
    pd.Interval(pd.Timestamp("2020-01-01"), pd.Timestamp("2020-02-01"), closed="left"),
    pd.Interval(pd.Timestamp("2020-01-01", tz="UTC"), pd.Timestamp("2020-02-01", tz="UTC")),
    pd.Interval(pd.Timedelta(1), pd.Timedelta(2)), pd.Interval(np.float32(0.1), np.float32(0.2)),
    pd.Period("2020-03", freq="M"), pd.Period("1960Q1", freq="Q-JAN"), pd.Period("2020-01-01 10:11", freq="5min"),
]  # fmt: skip


@pytest.mark.parametrize("value", INTERVALS_AND_PERIODS, ids=str)
def test_intervals_and_periods_of_pandas_come_back(value):
    again = read_value(json.loads(json.dumps(write_value(value, "v"))), "v")
    assert type(again) is type(value)
    assert again == value
    assert hash(again) == hash(value)
    if isinstance(value, pd.Interval):
        assert_same(value.left, again.left)
        assert_same(value.right, again.right)


def test_without_pandas_its_intervals_and_periods_are_refused(monkeypatch):
    texts = [write_value(value, "v") for value in INTERVALS_AND_PERIODS]
    monkeypatch.setitem(sys.modules, "pandas", None)
    for text in texts:
        with pytest.raises(ModelFileError, match=r"v: is (an interval|a period) of pandas; install pandas to read it"):
            read_value(text, "v")


@pytest.mark.parametrize(
    "value",
    [
        fractions.Fraction(-3, 7), fractions.Fraction(5), uuid.UUID(int=2**100 + 1), dt.time(1, 2, 3, 4), dt.time(23),
        dt.time(1, tzinfo=dt.UTC), dt.time(1, tzinfo=dt.timezone(dt.timedelta(minutes=-90))),
    ],
)  # fmt: skip
def test_fractions_and_uuids_and_times_of_day_come_back(value):
    assert_same(value, read_value(json.loads(json.dumps(write_value(value, "v"))), "v"))


def test_a_named_tuple_comes_back_as_a_tuple():
    value = collections.namedtuple("Pair", "a b")(1, "x")
    assert read_value(write_value(value, "v"), "v") == value


# What fits can be saved: all other values are refused before the search.

SAVED = {
    "Interval": list(pd.cut(np.arange(10.0), 4)),
    "Interval of dates": list(pd.cut(pd.date_range("2020-01-01", periods=10), 4)),
    "Period": list(pd.period_range("2020-01", periods=5, freq="M")) * 2,
    "Fraction": [fractions.Fraction(i % 4, 3) for i in range(10)],
    "UUID": [uuid.UUID(int=i % 4) for i in range(10)],
    "time": [dt.time(i % 5) for i in range(10)],
    "time with offset": [dt.time(i % 5, tzinfo=dt.UTC) for i in range(10)],
    "tuple": [(i % 3, "a") for i in range(10)],
    "mixed": [1, "1", (1,), None, b"1", 1.5, pd.Interval(0, 1), 2, "2", (2,)],
}


@pytest.mark.parametrize("what", SAVED)
def test_categories_of_such_types_are_saved_and_found_again(what):
    column = np.empty(10, dtype=object)
    column[:] = SAVED[what]
    classes = [0] * 5 + [1] * 5
    for model in (
        optimize({"a": column}, classes, kinds={"a": "categorical"}),
        optimize({"a": column, "b": np.arange(10.0)}, classes, kinds={"a": "categorical"}),
    ):
        again = Model.from_json(model.to_json())
        assert again.partitions["a"].groups == model.partitions["a"].groups
        assert again.partitions["a"].part_of(column).tolist() == model.partitions["a"].part_of(column).tolist()


def test_a_column_that_pandas_cut_is_saved():
    data = pd.DataFrame({"a": pd.cut(np.arange(10.0), 3)})
    model = optimize(data, [0] * 5 + [1] * 5)
    again = Model.from_json(model.to_json())
    assert again.transform(data).tolist() == model.transform(data).tolist()
    assert isinstance(again.partitions["a"].groups[0][0], pd.Interval)


@pytest.mark.parametrize("make", [list, pd.Series, lambda y: pd.Series(y, dtype="category")], ids=["l", "s", "c"])
@pytest.mark.parametrize("names", [pd.cut([1, 2], 2).tolist(), [(1, 2), (2, 3)], [(1, "a"), (2, "b")]], ids=str)
def test_classes_of_such_types_are_saved(make, names):
    y = make([names[0]] * 5 + [names[1]] * 5) if make is not list else object_array([names[0]] * 5 + [names[1]] * 5)
    model = optimize({"a": np.arange(10.0)}, y)
    assert Model.from_json(model.to_json()).classes.tolist() == model.classes.tolist() == names


class Plain:
    def __lt__(self, other):
        return id(self) < id(other)


class Shade(enum.Enum):
    DARK = 1
    LIGHT = 2

    def __lt__(self, other):
        return self.value < other.value


@pytest.mark.parametrize(
    "values",
    [
        [Plain(), Plain()], [Shade.DARK, Shade.LIGHT], [1j, 2j], [frozenset("a"), frozenset("b")], [range(1), range(2)],
        [(1, Plain()), (1, 2)], [dt.time(1, tzinfo=PARIS), dt.time(2, tzinfo=PARIS)], [int, str],
        [np.longdouble(1), np.longdouble(2)],
    ],
    ids=lambda values: type(values[0]).__name__,
)  # fmt: skip
def test_values_that_no_file_can_hold_do_not_fit(values):
    column = np.empty(10, dtype=object)
    column[:] = [values[0]] * 5 + [values[1]] * 5
    kinds = {"a": "categorical"}
    for data in ({"a": column}, {"a": column, "b": np.arange(10.0)}):
        with pytest.raises(TypeError, match=r"column 'a' holds .*which no model file can hold; it takes text.*as text"):
            optimize(data, [0] * 5 + [1] * 5, kinds=kinds)


@pytest.mark.parametrize("values", [[Plain(), Plain()], [Shade.DARK, Shade.LIGHT]], ids=["object", "Enum"])
def test_classes_and_names_that_no_file_can_hold_do_not_fit(values):
    column = np.empty(10, dtype=object)
    column[:] = [values[0]] * 5 + [values[1]] * 5
    with pytest.raises(TypeError, match=r"the target holds .*which no model file can hold"):
        optimize({"a": np.arange(10.0)}, column)
    with pytest.raises(TypeError, match=r"the name of a column holds .*which no model file can hold"):
        optimize({values[0]: np.arange(10.0)}, [0] * 5 + [1] * 5)
    with pytest.raises(TypeError, match=r"the target holds .*longdouble"):
        optimize({"a": np.arange(10.0)}, np.repeat(np.array([0, 1], dtype=np.longdouble), 5))


def test_without_pandas_its_values_are_python_s_own_or_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for value in (pd.Timestamp(2020, 1, 2, 3), pd.Timestamp(2020, 1, 2, tz="Europe/Paris"), pd.Timedelta(5, "s")):
        again = read_value(write_value(value, "v"), "v")
        assert type(again).__module__ == "datetime"
        assert again == value
        assert hash(again) == hash(value)
    for value in (pd.Timestamp(10**18 + 1), pd.Timedelta(1, "ns")):
        with pytest.raises(ModelFileError, match=r"v: is .* install pandas"):
            read_value(write_value(value, "v"), "v")


def test_a_text_of_an_enum_comes_back_as_text():
    class Colour(str, enum.Enum):  # noqa: UP042  its str() is not its value
        RED = "red"

    assert_same("red", read_value(write_value(Colour.RED, "v"), "v"))


@pytest.mark.parametrize("value", [1j, object(), [1], frozenset(), range(2), np.longdouble(1), np.str_("a\0")])
def test_a_value_that_cannot_be_written_is_named(value):
    with pytest.raises(TypeError, match=r"^partitions\[0\]\.groups\[1\]\[0\] is "):
        write_value(value, "partitions[0].groups[1][0]")


def test_an_integer_beyond_the_digits_that_python_shows_comes_back():
    value = 10**5000
    assert read_value(write_value(value, "v"), "v") == value
    with pytest.raises(ModelFileError, match="second time, such as a long int"):
        write_model(model_of(categorical(groups=(("a",), (value,), (value,)))))


# Models.


@st.composite
def ordinal(draw, name, counts):
    n_parts = len(counts)
    named = values.filter(lambda value: value is not None)
    levels = draw(st.lists(named, min_size=n_parts, max_size=8).filter(lambda v: len(set(v)) == len(v)))
    is_apart = n_parts > 1 and draw(st.booleans())
    n_special = draw(st.integers(0, n_parts - 1 - is_apart))
    n_bounds = n_parts - 1 - is_apart - n_special
    places = draw(st.permutations(range(len(levels) - 1)))[:n_bounds]
    special = draw(st.permutations(range(len(levels))))[:n_special]
    missing = 0 if is_apart or draw(st.booleans()) else None
    places, special = (np.array(given_, dtype=np.int64) for given_ in (sorted(places), special))
    return Partition(name, "ordinal", counts, bounds=places, special=special, missing=missing, levels=tuple(levels))


def _event_of(draw, n_classes):
    index = draw(st.sampled_from([None, *range(n_classes)]))
    return {"event_index": index, "event_is_default": index is not None and n_classes > 2 and draw(st.booleans())}


@st.composite
def models(draw):
    names = draw(
        st.lists(values, min_size=1, max_size=3, unique_by=lambda v: (type(v), v)).filter(
            lambda v: len(set(v)) == len(v)
        )
    )
    n_classes = draw(st.integers(1, 3))
    classes = np.array(draw(st.lists(st.text("abcé", max_size=3), min_size=n_classes, max_size=n_classes, unique=True)))
    lines = draw(st.lists(st.tuples(st.integers(0, n_classes - 1), st.integers(1, 2**48)), min_size=1, max_size=6))
    codes, weights = np.array(lines, dtype=np.int64).T
    target = Target(codes.astype(np.int32), weights, n_classes)
    partitions, parts_of = {}, {}
    for name in names:
        n_parts = draw(st.integers(1, 4))
        parts_of[name] = np.array(
            draw(st.lists(st.integers(0, n_parts - 1), min_size=len(lines), max_size=len(lines))), dtype=np.int64
        )
        counts = np.zeros((n_parts, n_classes), dtype=np.int64)
        np.add.at(counts, (parts_of[name], codes), weights)
        kind = draw(st.sampled_from(["numerical", "categorical", "ordinal"]))
        if kind == "ordinal":
            partitions[name] = draw(ordinal(name, counts))
        elif kind == "categorical":
            members = draw(st.lists(values, min_size=n_parts, max_size=8).filter(lambda v: len(set(v)) == len(v)))
            groups = tuple(tuple(members[i::n_parts]) for i in range(n_parts))
            missing = next((i for i, group in enumerate(groups) if None in group), None)
            partitions[name] = Partition(
                name, "categorical", counts, groups=groups, missing=missing, default=draw(st.integers(0, n_parts - 1))
            )
        else:
            is_apart = n_parts > 1 and draw(st.booleans())
            n_special = draw(st.integers(0, n_parts - 1 - is_apart))
            numbers = draw(st.sampled_from([
                st.floats(allow_nan=False), st.floats(allow_nan=False, width=32).map(np.float32),
                st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**64 - 1).map(np.uint64),
                st.integers(-(2**62), 2**62).map(lambda i: np.datetime64(i, "us")),
                st.integers(-(2**62), 2**62).map(lambda i: np.timedelta64(i, "ns")),
            ]))  # fmt: skip
            n_numbers = n_parts - 1 - is_apart
            drawn = draw(st.lists(numbers, min_size=n_numbers + 1, max_size=n_numbers + 1, unique=True))
            array = np.array(drawn)[:-1]
            missing = 0 if is_apart or draw(st.booleans()) else None
            partitions[name] = Partition(
                name, "numerical", counts, bounds=np.sort(array[n_special:]), special=array[:n_special],
                missing=missing, is_utc=array.dtype.kind == "M" and draw(st.booleans()),
            )  # fmt: skip
    finite = st.floats(allow_nan=False, allow_infinity=False)
    option = st.booleans() | st.integers() | st.floats()

    def cells(kept):
        informative = [name for name in kept if np.any(parts_of[name] != parts_of[name][0])]
        return make_cells(informative, [parts_of[name] for name in informative], target)

    alone = [name for name in names if np.all(parts_of[name] == parts_of[name][0])]
    model = Model(
        cost=draw(finite), null_cost=draw(finite), criterion=draw(texts.filter(bool)), problem="grid",
        n_rows=sum(weights.tolist()), classes=classes, partitions=partitions, proven=draw(st.booleans()),
        **_event_of(draw, n_classes), limits=tuple(draw(st.lists(texts, max_size=2))),
        search=draw(texts.filter(bool)), elapsed=draw(st.floats(0, 1e300)),
        stopped=draw(st.sampled_from([None, "time limit", "interrupted"])),
        options=draw(st.dictionaries(st.sampled_from(["alpha", "é", "c"]), option)),
        delta=draw(st.none() | finite), frame=draw(st.sampled_from(["arrays", "pandas", "polars"])),
        left_out=draw(st.fixed_dictionaries(dict.fromkeys(alone, texts))),
        _cells=cells(names) if len(names) > 1 or draw(st.booleans()) else None,
    )  # fmt: skip
    optima = []
    for _ in range(draw(st.integers(0, 2))):
        kept = [name for name in names if name not in alone and draw(st.booleans())]
        mine = {name: partitions[name] for name in kept}
        optima.append(replace(model, cost=draw(finite), partitions=mine, left_out={}, _cells=cells(kept)))
    return replace(model, optima=tuple(optima))


@settings(max_examples=80, deadline=None)
@given(models())
def test_any_model_comes_back(model):
    back(model)


def test_an_option_may_be_infinite_and_keeps_its_type():
    options = {"a": math.inf, "b": math.nan, "c": 1, "d": 1.0, "e": True, "f": -0.0, "g": 2**80}
    assert_same(options, dict(back(model_of(numerical(), options=options)).options))


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    frame = pd.DataFrame({
        "x": x,
        'odd "name"\n': x.astype("f4"),
        0: np.round(x * 10).astype(int),
        ("a", 1): x > 0.3,
        "large": np.round(x * 1000).astype(np.int64) + 2**60,
        "date": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.round(x * 100), unit="D"),
        "zoned": (pd.Timestamp("2020-01-01") + pd.to_timedelta(np.round(x * 100), unit="h")).tz_localize("UTC"),
        "duration": pd.to_timedelta(np.round(x * 1e6), unit="us"),
        "colour": np.array(["red", "green", "blue", "black"])[np.digitize(x, [-1, 0, 1])],
        "moment": np.array([1, 10**18 + 1, 5 * 10**17]).astype("M8[ns]")[np.digitize(x, [-1, 0])],
        "y": np.where(x + rng.normal(size=300) > 0, "yes", "no"),
    })  # fmt: skip
    frame.loc[::7, "colour"] = None
    frame.loc[::9, "date"] = pd.NaT
    frame.loc[::5, "x"] = np.nan
    return frame


def test_models_of_every_kind_of_column_come_back(frame):
    found = gridmodl.optimize_each(frame, "y", kinds={"moment": "categorical"}, n_jobs=1)
    assert set(found) == set(frame.columns) - {"y"}
    for name, model in found.items():
        again = back(model)
        assert np.array_equal(again.transform(frame), model.transform(frame))
        assert np.array_equal(again.transform(frame[[name]][::-1]), model.transform(frame)[::-1])
        assert again.summary() == model.summary()
        pd.testing.assert_frame_equal(again.table(), model.table())
        parts = np.bincount(again.transform(frame).ravel(), minlength=again.partitions[name].n_parts)
        assert parts.tolist() == again.partitions[name].counts.sum(axis=1).tolist()


def test_a_model_of_polars_comes_back(frame):
    data = pl.DataFrame(
        {
            "d": frame["date"].to_numpy(),
            "c": frame["colour"].astype(object).where(frame["colour"].notna(), None).to_list(),
            "y": frame["y"].to_list(),
        }
    )
    for model in gridmodl.optimize_each(data, "y", n_jobs=1).values():
        assert np.array_equal(back(model).transform(data), model.transform(data))


def test_a_name_with_half_a_surrogate_pair_comes_back(frame):
    name = "odd \ud800"
    model = gridmodl.optimize({name: frame["x"].to_numpy()}, frame["y"])
    assert list(back(model).partitions) == [name]
    write_model(model).encode("utf-8")


def test_special_codes_and_edited_models_come_back(frame):
    x = np.where(np.arange(300) % 10 == 0, -999.0, frame["x"])
    model = gridmodl.optimize({"x": x}, frame["y"], special={"x": [-999, -1]})
    assert len(model.partitions["x"].special) == 2
    assert np.array_equal(back(model).transform({"x": x}), model.transform({"x": x}))
    edited = model.edit("x", bounds=[0.25])
    assert isinstance(edited.delta, float)
    back(edited)


def test_a_model_from_a_file_cannot_be_edited_and_says_why(frame):
    again = back(gridmodl.optimize(frame[["colour", "y"]], "y"))
    with pytest.raises(ValueError, match=r"without its data.*Model\.from_partitions"):
        again.edit("colour", groups=[["red", "green", "blue", "black", None]])


@pytest.mark.parametrize(
    "target",
    [
        [0, 1], np.array([0, 255], "u1"), [False, True], [0.0, 1.0], np.array(["a", "b"], "<U7"),
        np.array([b"a", b"b"]),
        np.array(["a", "b"], dtype=object), np.array([b"a", b"b"], dtype=object), np.array([1, 2**70], dtype=object),
        pd.Series(["a", "b"]), pd.Series(["a", "b"], dtype="category"), pd.Series([1, 2], dtype="Int64"),
    ],
)  # fmt: skip
def test_classes_of_any_type_come_back(target):
    rows = np.repeat([0, 1], 8)
    target = target.iloc[rows] if isinstance(target, pd.Series) else np.asarray(target)[rows]
    back(gridmodl.optimize(np.arange(16.0), target))


@pytest.fixture(scope="module")
def grid(frame):
    """A grid of columns of all kinds, with columns that are left out and other optima."""
    data = frame[["x", 0, ("a", 1), "date", "zoned", "colour"]].assign(one=1.0, none=[None] * 300)
    rng = np.random.default_rng(1)
    flip = (frame["date"] > pd.Timestamp("2020-01-01")).to_numpy() ^ frame["colour"].isin(["red", "blue"]).to_numpy()
    target = np.where(rng.random(300) < 0.9, flip, ~flip)
    search = gridmodl.Search(effort=3, keep_optima=6)
    return data, gridmodl.optimize(data, target, search=search), target


def test_a_grid_comes_back(grid):
    data, model, _ = grid
    assert {model.partitions[name].kind for name in model.informative} == {"numerical", "categorical"}
    assert {"one", "none"} <= set(model.left_out)
    assert len(model.optima) > 1
    again = back(model)
    new = pd.concat([data, data.assign(colour="unseen"), data[::-1].reset_index(drop=True).assign(date=data["date"])])
    for one, other in zip([model, *model.optima], [again, *again.optima], strict=True):
        assert np.array_equal(one.cell_of(new), other.cell_of(new))
        assert np.array_equal(one.predict_proba(new), other.predict_proba(new))
        assert [str(rule) for rule in one.rules()] == [str(rule) for rule in other.rules()]
    assert again.summary() == model.summary()
    pd.testing.assert_frame_equal(again.cell_table(), model.cell_table())
    assert_same(model, pickle.loads(pickle.dumps(model)))  # noqa: S301


def test_a_grid_of_the_user_s_own_with_an_empty_part_comes_back(grid):
    data, model, target = grid
    name = next(name for name in model.informative if model.partitions[name].kind == "numerical")
    wide = {0: [-1e6, 0.5, 1e6], "colour": [["red", "unseen"], ["never"], ["green", "blue", "black", None]]}
    given_model = Model.from_partitions(data, target, wide)
    assert given_model.partitions[0].counts.sum(axis=1).tolist()[::3] == [0, 0]
    assert np.array_equal(back(given_model).cell_of(data), given_model.cell_of(data))
    edited = model.edit(name, bounds=model.partitions[name].bounds[:0])
    assert name not in edited.informative
    back(edited)


def test_a_grid_without_an_informative_column_comes_back():
    model = gridmodl.optimize({"a": [1.0, 2.0, 3.0], "b": ["u", "v", "u"]}, [0, 1, 0])
    assert model.informative == []
    assert back(model).cell_of({"a": [5.0, 6.0], "b": ["u", "z"]}).tolist() == [0, 0]


def test_version_1_is_read(frame):
    """It had models of one column, and none of these fields."""
    for name in ("x", "date", "colour"):
        model = gridmodl.optimize(frame[[name, "y"]], "y")
        record = of_version_2(json.loads(write_model(model))) | {"version": 1}
        for field in ("cells", "left_out", "optima"):
            del record[field]
        again = read_model(json.dumps(record))
        assert_same(as_in_old_files(model), again)
        assert np.array_equal(again.predict_proba(frame), model.predict_proba(frame))
        assert json.loads(write_model(again))["version"] == 6


def as_in_old_files(model):
    """A model of one column without what files of versions 1 to 3 do not say; missing values go where these say."""
    partitions = {
        name: replace(
            partition,
            value_rows=None,
            n_missing=None,
            domain=None,
            default=0 if partition.kind == "numerical" and partition.missing is None else partition.default,
        )
        for name, partition in model.partitions.items()
    }
    return replace(model, certificate=None, partitions=partitions, target_name=None)


def of_version_2(record):
    """The fields that there were before targets could have parts."""
    later = (
        "target", "class_rows", "spread", "certificate", "event", "event_is_default", "limits", "resolution",
        "sample_rows", "stability", "target_name",
    )  # fmt: skip
    record = {key: value for key, value in record.items() if key not in later}
    record |= {"version": 2, "partitions": [without_values(partition) for partition in record["partitions"]]}
    record["optima"] = [
        {"cost": o["cost"], "partitions": [without_values(p) for p in o["partitions"]], "cells": o["cells"]}
        for o in record["optima"]
    ]
    return record


def without_values(partition):
    """Fields of a partition up to version 2; intervals had no default until version 6."""
    later = ["n_values", "value_rows", "n_missing", "special_sizes", "domain"]
    later += ["default"] if partition["kind"] == "numerical" else []
    return {key: value for key, value in partition.items() if key not in later}


def test_version_2_is_read():
    again = read_model(json.dumps(of_version_2(json.loads(base_text()))))
    expected = json.loads(base_text())
    for partition in itertools.chain(expected["partitions"], *(o["partitions"] for o in expected["optima"])):
        if partition["kind"] == "numerical" and partition["missing"] is None:
            partition["default"] = 0
    assert_same(again, read_model(json.dumps(expected)))
    assert json.loads(write_model(again)) == expected
    partitions = json.loads(base_text())["partitions"]
    with pytest.raises(ModelFileError, match=r"partitions\[0\]: has the unknown field 'special_sizes'"):
        read_model(json.dumps(of_version_2(json.loads(base_text())) | {"partitions": partitions}))


def test_version_3_is_read(frame):
    """It had no certificates."""
    model = gridmodl.optimize(frame[["x", "y"]], "y")
    record = json.loads(write_model(model))
    assert (record.pop("certificate")["method"], record.pop("event")) == ("slopes", 1)
    assert (record.pop("event_is_default"), record.pop("limits"), record.pop("resolution")) == (False, [], 0)
    assert (record.pop("sample_rows"), record.pop("stability"), record.pop("target_name")) == (0, None, "y")
    partitions = [without_values(p) | {"n_values": None, "log_value_factorials": 0.0} for p in record["partitions"]]
    again = read_model(json.dumps(record | {"version": 3, "partitions": partitions}))
    assert_same(as_in_old_files(model), again)
    assert again.proven
    assert again.gap == 0.0


def test_version_1_has_no_grids():
    record = of_version_2(json.loads(base_text())) | {"version": 1}
    for field in ("cells", "left_out", "optima"):
        del record[field]
    with pytest.raises(ModelFileError, match="cells: must be there, as there are several partitions"):
        read_model(json.dumps(record))


# Text and files.


def test_the_text_is_strict_readable_json():
    model = model_of(numerical(bounds=[-np.inf, 0.1]), categorical(groups=(("é", 1), ("b" * 90, "d"), (None,))))
    text = write_model(model)
    record = json.loads(text, parse_constant=pytest.fail)
    assert (record["format"], record["version"], record["gridmodl"]) == ("gridmodl model", 6, gridmodl.__version__)
    assert list(record)[:3] == ["format", "version", "gridmodl"]
    lines = [line.strip() for line in text.splitlines()]
    assert '"bounds": {"dtype": "float64", "values": [{"float": "-inf"}, 0.1]},' in lines
    assert '"counts": [[1, 1], [1, 1], [1, 1]],' in lines
    assert record["cells"] == {"names": ["x", "c"], "parts": [[0, 0], [1, 1], [2, 2]], "counts": [[1, 1]] * 3}
    assert (record["left_out"], record["optima"]) == ([], [])
    assert '["é", 1],' in lines
    assert text.endswith("}\n")


def test_numbers_that_another_program_shortened_are_read():
    text = write_model(model_of(numerical(bounds=[1.0, 2.0]))).replace(".0", "")
    assert read_model(text).partitions["x"].bounds.dtype == np.float64
    assert_same(read_model(text).cost, 2.0)


def test_files(tmp_path):
    model = model_of(numerical())
    path = tmp_path / "model.json"
    text = model.to_json(path)
    assert path.read_bytes() == text.encode()
    for source in (text, text.encode(), path, b"\xef\xbb\xbf" + text.encode()):
        assert_same(model, Model.from_json(source))
    old = os.umask(0)
    os.umask(old)
    assert path.stat().st_mode & 0o777 == 0o666 & ~old
    model_of(numerical(), cost=3.0).to_json(str(path))
    assert read_model(path).cost == 3.0
    assert os.listdir(tmp_path) == ["model.json"]


@pytest.mark.parametrize("spelt", [str, Path, lambda path: path.name, lambda path: f"./{path.name}"])
def test_the_path_that_was_written_is_read(tmp_path, monkeypatch, spelt):
    monkeypatch.chdir(tmp_path)
    model, density = model_of(numerical()), optimize_density(np.arange(20.0))
    for kind, written in ((Model, model), (Models, Models({"x": model}, {})), (DensityModel, density)):
        path = spelt(tmp_path / f"{kind.__name__}.json")
        written.to_json(path)
        assert kind.from_json(path).to_json() == written.to_json()


def test_a_str_that_names_no_model_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "huge.json").touch()
    os.truncate(tmp_path / "huge.json", 2**30 + 1)
    for kind in (Model, Models, DensityModel):
        with pytest.raises(ModelFileError, match=r"'absent.json' is neither a JSON object.*nor the path of a file"):
            kind.from_json("absent.json")
        with pytest.raises(ModelFileError, match="is not a regular file"):
            kind.from_json(str(tmp_path))
        with pytest.raises(ModelFileError, match=r"'huge.json' has 1073741825 bytes"):
            kind.from_json("huge.json")


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    text = write_model(model_of(numerical()), path)

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_model(model_of(numerical(), cost=3.0), path)
    assert path.read_text() == text
    assert os.listdir(tmp_path) == ["model.json"]


def test_what_is_no_file_is_neither_read_nor_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path(os.devnull)):
        with pytest.raises(ModelFileError, match="not a regular file"):
            read_model(path)
        with pytest.raises(ValueError, match="not a regular file"):
            write_model(model_of(numerical()), path)
    with pytest.raises(FileNotFoundError):
        read_model(tmp_path / "absent.json")
    with pytest.raises(FileNotFoundError, match=r"absent.model\.json"):  # and not the file that is written first
        write_model(model_of(numerical()), tmp_path / "absent" / "model.json")


def test_huge_sources_are_refused(tmp_path):
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(2**30 + 1)  # takes no room on the disk
    with pytest.raises(ModelFileError, match="has 1073741825 bytes"):
        read_model(path)


def test_huge_texts_are_refused(monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 100)
    text = write_model(model_of(numerical()))
    for source in (text, text.encode()):
        with pytest.raises(ModelFileError, match="has more than 100"):
            read_model(source)


@pytest.mark.parametrize("source", [None, 3, ["{}"], bytearray(b"{}")])
def test_a_source_of_another_type_is_a_type_error(source):
    with pytest.raises(TypeError, match="source must be a JSON text or the path of a file, got"):
        read_model(source)


# What is no model.

GOOD = write_model(model_of(numerical(special=[-999.0]), classes=["no", "yes"]))
TEXTS = {
    "": "neither a JSON object",
    "model.json": "'model.json' is neither a JSON object.*nor the path of a file that exists",
    "[]": "neither a JSON object",
    "null": "neither a JSON object",
    " \n": "neither a JSON object",
    "a\0b": "neither a JSON object",
    "\ud800": "neither a JSON object",
    "a" * 10**6: "neither a JSON object",
    ".": "'.' is not a regular file",
    "{": "not JSON: .*line 1 column 2",
    GOOD[:-3]: "not JSON",
    GOOD + "{}": "not JSON: Extra data",
    "{}": "no gridmodl model",
    '{"format": "another"}': "no gridmodl model",
    '{"a":' * 100_000: "nested too deeply",
    '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}": "nested too deeply",
    '{"a": 1, "a": 2}': "key 'a' twice",
    GOOD.replace('"cost": 2.0', '"cost": NaN'): "holds NaN",
    GOOD.replace('"cost": 2.0', '"cost": -Infinity'): "holds -Infinity",
    GOOD.replace('"cost": 2.0', '"cost": 1e999'): "'1e999', too large",
    GOOD.replace('"n_rows": 8', '"n_rows": 1' + "0" * 1_000_000): "integer of 1000001 digits",
}


@pytest.mark.parametrize(("text", "message"), TEXTS.items(), ids=range(len(TEXTS)))
def test_text_that_is_no_model(text, message):
    with pytest.raises(ModelFileError, match=message):
        read_model(text)


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "empty.json").touch()
    for source, message in (
        (b"\xff{", "not UTF-8"),
        (b"", "not JSON"),
        (tmp_path / "empty.json", "not JSON"),
        (b"[]", "no gridmodl"),
    ):
        with pytest.raises(ModelFileError, match=message):
            read_model(source)


@functools.cache
def base_text():
    one = numerical(bounds=[1.5, 2.5], special=[-999.0], counts=[[3, 1], [2, 2], [1, 3], [0, 2]])
    two = replace(categorical(), counts=np.array([[3, 1], [2, 2], [1, 5]]))
    left_out = numerical("z", bounds=np.empty(0), counts=[[6, 8]])
    model = model_of(one, two, left_out, options={"alpha": 0.5}, left_out={"z": "it has one value"})
    optima = [
        replace(model_of(one, two), cost=2.0), replace(model_of(two), _cells=cells_of([two], [6, 8])),
        replace(model_of(two), partitions={}, _cells=cells_of([], [6, 8])),
    ]  # fmt: skip
    return write_model(replace(model, optima=tuple(optima)))


X, C = ("partitions", 0), ("partitions", 1)
CELLS, OPT = ("cells",), ("optima", 0)
GONE = object()
MUTATIONS = [
    (("version",), 7, "version: is 7; this gridmodl, .*, reads version 1, 2, 3, 4, 5, 6; a newer gridmodl is needed"),
    (("version",), 0, "version: is 0; .* reads version 1, 2, 3, 4, 5, 6$"),
    (("version",), 1, "has the unknown field 'cells'"),
    (("version",), 2, "has the unknown field 'target'"),
    (("target",), GONE, "lacks the field 'target'"),
    (("target",), {"kind": "numerical"}, "target: lacks the field"),
    (("class_rows",), [6, 8], "class_rows: must be null, as the problem is 'grid'"),
    (("spread",), {"means": [], "percentiles": []}, "spread: must be null, as the problem is 'grid'"),
    (("problem",), "joint", "classes: must be empty, as the problem is 'joint'"),
    (("problem",), "grouped", "counts: must have 1 columns"),
    ((*X, "n_values"), [1, 1, 1, 1], r"partitions\[0\].n_values: must be null, as the problem is 'grid'"),
    ((*X, "n_values"), GONE, r"partitions\[0\]: lacks the field 'n_values'"),
    ((*X, "n_missing"), GONE, r"partitions\[0\]: lacks the field 'n_missing'"),
    ((*X, "n_missing"), -1, r"partitions\[0\].n_missing: must be an integer from 0"),
    ((*X, "n_missing"), 10**9, r"partitions\[0\].n_missing: must be an integer from 0"),
    ((*X, "n_missing"), 5, r"partitions\[0\].n_missing: must be null or from 0 to \d, got 5"),
    ((*X, "value_rows"), [1, 1], r"partitions\[0\].value_rows: must not be there, as the variable is numerical"),
    ((*X, "value_rows"), GONE, r"partitions\[0\]: lacks the field 'value_rows'"),
    ((*X, "log_value_factorials"), 1.0, r"partitions\[0\]: has the unknown field 'log_value_factorials'"),
    ((*OPT, "target"), GONE, r"optima\[0\]: lacks the field 'target'"),
    ((*OPT, "spread"), 3, r"optima\[0\].spread: must be an object"),
    (("version",), True, "version: is True"),
    (("version",), 1.0, "version: is 1.0"),
    (("version",), GONE, "version: is None"),
    (("version",), [1], r"version: is \[1\]"),
    (("gridmodl",), 3, "gridmodl: must be a text"),
    (("cost",), GONE, "lacks the field 'cost'"),
    (("extra",), 1, "unknown field 'extra'"),
    (("cost",), "2.0", "cost: must be a float, got '2.0'"),
    (("cost",), True, "cost: must be a float, got True"),
    (("cost",), None, "cost: must be a float"),
    (("cost",), 2**53 + 1, "cost: must be a float"),
    (("cost",), {"int": hex(2**2000)}, "cost: must be a float"),
    (("cost",), {"float": "inf"}, "cost: must be finite"),
    (("null_cost",), {"float": "nan"}, "null_cost: must be finite"),
    (("delta",), {"float": "-inf"}, "delta: must be finite"),
    (("elapsed",), -1.0, "elapsed: must not be negative"),
    (("n_rows",), True, "n_rows: must be an integer"),
    (("n_rows",), 16.0, "n_rows: must be an integer"),
    (("n_rows",), 0, "n_rows: must be an integer from 1"),
    (("n_rows",), 2**63, "n_rows: must be an integer"),
    (("n_rows",), 15, "counts: must sum to n_rows, 15, .* 14"),
    (("proven",), 1, "proven: must be true or false"),
    (("criterion",), "", "criterion: must not be empty"),
    (("criterion",), 3, "criterion: must be a text"),
    (("search",), "", "search: must not be empty"),
    (("stopped",), 3, "stopped: must be a text"),
    (("stopped",), "bored", "stopped: must be null or one of time limit, interrupted, got 'bored'"),
    (("stopped",), "", "stopped: must be null or one of"),
    (("elapsed",), {"float": "inf"}, "elapsed: must be finite"),
    (("problem",), "riddle", "problem: must be one of classes, .*'riddle'"),
    (("problem",), ["classes"], "problem: must be a value"),
    (("frame",), "os", "frame: must be one of arrays"),
    (("options",), [], "options: must be an object"),
    (("options", "alpha"), "x", "options.alpha: must be a number"),
    (("options", "alpha"), None, "options.alpha: must be a number"),
    (("options", "a b"), 1, "options: has the name 'a b'"),
    (("classes",), ["no", "yes"], "classes: must be an object"),
    (("event",), 2, "event: must be null or the number of one of 2 classes, got 2"),
    (("event",), "yes", "event: must be an integer from 0 to 9223372036854775807, got 'yes'"),
    (("event",), True, "event: must be an integer from 0 to 9223372036854775807, got True"),
    (("classes", "values"), ["no", "no"], "classes: must be a list without repeats"),
    (("classes", "values"), ["no", 1], r"classes.values\[1\]: must be of <U3, got 1"),
    (("classes", "values"), ["no", "longer"], "classes.values: holds a value that <U3 cannot"),
    (("classes", "values"), ["no", "a\0"], "classes.values: holds a value that <U3 cannot"),
    (("classes", "values"), ["no"], r"partitions\[0\].counts: must have 1 columns"),
    (("classes", "values"), "no", "classes.values: must be a list"),
    (("classes", "dtype"), "O", "classes.dtype: names no type that gridmodl knows: 'O'"),
    (("classes", "dtype"), "U99999999", "classes.dtype: names no type"),
    (("classes", "dtype"), "U9999999", None),
    (("classes", "dtype"), "f8,f8", "classes.dtype: names no type"),
    (("classes", "dtype"), ["a", "b"], "classes.dtype: names no type"),
    (("classes",), {"dtype": "object", "values": [None, "a"]}, "classes: must not hold missing"),
    (("classes",), {"dtype": "uint8", "values": [0, 256]}, "classes.values: holds a value beyond uint8"),
    (("classes",), {"dtype": "int64", "values": [0, True]}, r"classes.values\[1\]: must be of int64, got True"),
    (("classes",), {"dtype": "bool", "values": [0, 1]}, r"classes.values\[0\]: must be of bool, got 0"),
    (("classes",), {"dtype": "float16", "values": [0.0, 1e300]}, "classes.values: holds a value that float16 cannot"),
    (("partitions",), [], "partitions: must not be empty"),
    (("partitions",), {}, "partitions: must be a list"),
    (("partitions", 0), 3, r"partitions\[0\]: must be an object"),
    ((*X, "kind"), "ordered", r"partitions\[0\]: .*'kind' is one of numerical, categorical, ordinal, got 'ordered'"),
    ((*X, "kind"), "categorical", r"partitions\[0\]: lacks the field 'groups'"),
    ((*X, "kind"), ["numerical"], r"partitions\[0\]: .*'kind' is one of"),
    ((*X, "name"), "c", r"partitions\[1\].name: occurs twice: 'c'"),
    ((*X, "name"), ["x"], r"partitions\[0\].name: must be a value"),
    ((*X, "groups"), [], r"partitions\[0\]: has the unknown field 'groups'"),
    ((*X, "counts"), GONE, r"partitions\[0\]: lacks the field 'counts'"),
    ((*X, "counts"), [], r"partitions\[0\].counts: must be lists of one length"),
    ((*X, "counts", 0), 3, r"partitions\[0\].counts\[0\]: must be a list"),
    ((*X, "counts", 0), [4], r"partitions\[0\].counts: must be lists of one length"),
    ((*X, "counts", 0, 1), -1, r"partitions\[0\].counts\[0\]\[1\]: must be an integer from 0 to 14, got -1"),
    ((*X, "counts", 0, 1), True, r"counts\[0\]\[1\]: must be an integer"),
    ((*X, "counts", 0, 1), 1.0, r"counts\[0\]\[1\]: must be an integer"),
    ((*X, "counts", 0, 1), 2**63, r"counts\[0\]\[1\]: must be an integer"),
    ((*X, "counts", 0, 1), 2, r"partitions\[0\].counts: must sum to n_rows, 14"),
    ((*X, "counts", 0), [1, 3], r"partitions\[1\].counts: must have as many rows of each class"),
    ((*X, "counts"), [[6, 8]], r"partitions\[0\].counts: has 1 parts; 2 bounds and 1 special parts make 4"),
    ((*X, "bounds", "values"), [1.5], r"partitions\[0\].counts: has 4 parts; 1 bounds .* make 3"),
    ((*X, "bounds", "values"), [2.5, 1.5], r"partitions\[0\].bounds: must ascend"),
    ((*X, "bounds", "values"), [1.5, 1.5], r"partitions\[0\].bounds: must ascend"),
    ((*X, "bounds", "values"), [1.5, {"float": "nan"}], r"partitions\[0\].bounds.values: holds a value that float64"),
    ((*X, "bounds", "values"), [1.5, "2"], r"partitions\[0\].bounds.values\[1\]: must be of float64, got '2'"),
    ((*X, "bounds", "values"), [1.5, True], r"bounds.values\[1\]: must be of float64, got True"),
    ((*X, "bounds", "dtype"), "float32x", "bounds.dtype: names no type"),
    ((*X, "bounds"), {"dtype": "bool", "values": [False, True]}, r"bounds: must be a list of numbers, dates"),
    ((*X, "bounds"), {"dtype": "datetime64[us]", "values": ["now", "today"]}, "is no date of datetime64.us.: 'now'"),
    ((*X, "bounds"), {"dtype": "datetime64[D]", "values": ["2020-01-01", "2020-02-30"]}, r"values\[1\]: is no date"),
    ((*X, "bounds"), {"dtype": "datetime64[D]", "values": ["2020-01-01T00"]}, "is no date"),
    ((*X, "bounds"), {"dtype": "datetime64[ns]", "values": ["9999-01-01T00:00:00.000000000"]}, "is no date"),
    ((*X, "bounds"), {"dtype": "datetime64[D]", "values": [1, 2**63]}, "bounds.values: holds a value beyond"),
    ((*X, "bounds"), {"dtype": "datetime64[D]", "values": [-(2**63), 2]}, "bounds: holds a missing value"),
    ((*X, "bounds"), {"dtype": "datetime64[D]", "values": [1, 2]}, "special: is of float64, the bounds of datetime64"),
    ((*X, "bounds"), {"dtype": "datetime64", "values": []}, "bounds.dtype: names no type"),
    ((*X, "bounds"), {"dtype": "datetime64[9999999999s]", "values": []}, "bounds.dtype: names no type"),
    ((*X, "special", "values"), [{"float": "nan"}], "special.values: holds a value that float64"),
    ((*X, "special", "values"), [-1.0, -1.0], "special: holds a code twice"),
    ((*X, "missing"), 1, r"partitions\[0\].missing: must be 0 or null, got 1"),
    ((*X, "missing"), -1, r"partitions\[0\].missing: must be an integer from 0"),
    ((*X, "missing"), False, r"partitions\[0\].missing: must be an integer from 0"),
    ((*X, "is_utc"), True, r"partitions\[0\].is_utc: must be false"),
    ((*X, "is_utc"), None, r"partitions\[0\].is_utc: must be true or false"),
    ((*C, "bounds"), [], r"partitions\[1\]: has the unknown field 'bounds'"),
    ((*C, "groups"), [["a", None], ["b"]], r"partitions\[1\].groups: must be 3 lists"),
    ((*C, "groups", 1), [], r"partitions\[1\].groups: must be 3 lists"),
    ((*C, "groups", 1), "b", r"partitions\[1\].groups\[1\]: must be a list"),
    ((*C, "groups", 1), ["c"], r"partitions\[1\].groups\[2\]: holds a value for the second time, such as 'c'"),
    ((*C, "groups", 1), ["b", "b"], r"groups\[1\]: holds a value for the second time"),
    ((*C, "groups", 1), [1, True], r"groups\[1\]: holds a value for the second time"),
    ((*C, "groups", 1, 0), ["b"], r"partitions\[1\].groups\[1\]\[0\]: must be a value"),
    ((*C, "groups", 1, 0), {}, r"groups\[1\]\[0\]: must be a value"),
    ((*C, "groups", 1, 0), {"date": "2020-01-01", "zone": "UTC"}, r"groups\[1\]\[0\]: must be a value"),
    ((*C, "groups", 1, 0), {"float": "nan"}, r"groups\[1\]: holds a value that is not a number"),
    ((*C, "missing"), None, r"partitions\[1\].missing: must be 0, the group that holds null, got None"),
    ((*C, "missing"), 2, r"partitions\[1\].missing: must be 0"),
    ((*C, "default"), 3, r"partitions\[1\].default: must be one of the 3 groups, got 3"),
    ((*C, "default"), True, r"partitions\[1\].default: must be an integer"),
    (CELLS, GONE, "lacks the field 'cells'"),
    (CELLS, None, "cells: must be there, as there are several partitions"),
    (CELLS, [], "cells: must be an object"),
    (CELLS, {"names": []}, "cells: lacks the field 'parts'"),
    ((*CELLS, "extra"), 1, "cells: has the unknown field 'extra'"),
    ((*CELLS, "names"), "xc", "cells.*: must be a list"),
    ((*CELLS, "names"), ["x"], "cells.parts: must be 4 lists of 1 parts"),
    ((*CELLS, "names"), ["x", "z"], "cells.names: must be the columns with more than one part"),
    ((*CELLS, "names"), ["x", "absent"], "cells.names: must be the columns"),
    ((*CELLS, "names"), ["x", "x"], "cells.names: must be the columns"),
    ((*CELLS, "names"), ["c", "x"], "cells.*: "),
    ((*CELLS, "names", 1), ["c"], r"cells.names\[1\]: must be a value"),
    ((*CELLS, "parts"), {}, "cells.parts: must be a list"),
    ((*CELLS, "parts"), [], "cells.parts: must be 4 lists"),
    ((*CELLS, "parts", 0), 3, "cells.*: must be a list"),
    ((*CELLS, "parts", 0), [0], "cells.parts: must be 4 lists of 2 parts"),
    ((*CELLS, "parts", 0), [0, 0, 0], "cells.parts: must be 4 lists of 2 parts"),
    ((*CELLS, "parts", 0), [1, 1], "cells.parts: must ascend, without repeats"),
    ((*CELLS, "parts", 0), [2, 0], "cells.parts: must ascend, without repeats"),
    ((*CELLS, "parts", 0, 1), -1, r"cells.parts\[0\]\[1\]: must be an integer from 0"),
    ((*CELLS, "parts", 0, 1), False, r"cells.parts\[0\]\[1\]: must be an integer"),
    ((*CELLS, "parts", 0, 1), 0.0, r"cells.parts\[0\]\[1\]: must be an integer"),
    ((*CELLS, "parts", 0, 1), 1, "cells.counts: must add up to the rows of the parts of column 'c'"),
    ((*CELLS, "parts", 3, 0), 4, "cells.parts: names a part that column 'x' does not have"),
    ((*CELLS, "parts", 3, 0), 2**63 - 1, "cells.parts: names a part that column 'x' does not have"),
    ((*CELLS, "parts", 3, 0), 2**63, r"cells.parts\[3\]\[0\]: must be an integer"),
    ((*CELLS, "counts"), [], "cells.counts: must be lists of one length"),
    ((*CELLS, "counts", 0), [3], "cells.counts: must be lists of one length"),
    ((*CELLS, "counts", 0), [3, 0], "cells.counts: must "),
    ((*CELLS, "counts", 0), [0, 0], "cells.counts: holds a cell without rows"),
    ((*CELLS, "counts", 0, 0), 15, r"cells.counts\[0\]\[0\]: must be an integer from 0 to 14"),
    ((*CELLS, "counts", 0, 0), -1, r"cells.counts\[0\]\[0\]: must be an integer"),
    ((*CELLS, "counts"), [[3], [2], [1], [0]], "cells.counts: "),
    ((*CELLS, "counts"), [[3, 1, 0], [2, 2, 0], [1, 3, 0], [0, 2, 0]], "cells.counts: "),
    (("left_out",), GONE, "lacks the field 'left_out'"),
    (("left_out",), {"z": "it"}, "left_out: must be a list"),
    (("left_out", 0), "z", r"left_out\[0\]: must be a list of a name and a reason"),
    (("left_out", 0), ["z"], r"left_out\[0\]: must be a list of a name and a reason"),
    (("left_out", 0), [["z"], "it"], r"left_out\[0\]\[0\]: must be a value"),
    (("left_out", 0), ["z", 3], r"left_out\[0\]\[1\]: must be a text"),
    (("left_out", 0), ["absent", "it"], r"left_out\[0\]"),
    (("left_out", 0), ["x", "it"], r"left_out\[0\]"),
    (("left_out",), [["z", "it"], ["z", "it"]], r"left_out\[1\]"),
    (("optima",), GONE, "lacks the field 'optima'"),
    (("optima",), None, "optima: must be a list"),
    (OPT, [], r"optima\[0\]: must be an object"),
    ((*OPT, "cost"), GONE, r"optima\[0\]: lacks the field 'cost'"),
    ((*OPT, "cost"), "1", r"optima\[0\].cost: must be a float"),
    ((*OPT, "cost"), {"float": "inf"}, r"optima\[0\].cost: must be finite"),
    ((*OPT, "optima"), [], r"optima\[0\]: has the unknown field 'optima'"),
    ((*OPT, "partitions"), {}, r"optima\[0\].partitions: must be a list"),
    ((*OPT, "partitions"), [], r"optima\[0\].cells.names: must be the columns"),
    ((*OPT, "partitions", 0, "counts", 0, 1), 2, r"optima\[0\].partitions\[0\].counts: must sum to n_rows, 14"),
    ((*OPT, "partitions", 0, "counts", 0), [1, 3], r"optima\[0\].partitions\[1\].counts: must have as many rows"),
    ((*OPT, "partitions", 0, "name"), "c", r"optima\[0\].partitions\[1\].name: occurs twice"),
    ((*OPT, "partitions", 0, "name"), "absent", r"optima\[0\]"),
    ((*OPT, "partitions", 0, "bounds", "values"), [2.5, 1.5], r"optima\[0\].partitions\[0\].bounds: must ascend"),
    ((*OPT, "cells"), None, r"optima\[0\].cells: "),
    ((*OPT, "cells", "names"), ["x"], r"optima\[0\].cells.parts: must be 4 lists of 1 parts"),
    ((*OPT, "cells", "parts", 0, 1), 1, r"optima\[0\].cells.counts: must add up"),
    (("optima", 1, "cells"), None, r"optima\[1\].cells: "),
    (("optima", 2, "cells", "counts"), [[6, 7]], r"optima\[2\].cells.counts: "),
    (("optima", 2, "cells", "counts"), [[6, 8], [6, 8]], r"optima\[2\].cells.parts: "),
    (("optima", 2, "cells"), None, r"optima\[2\].cells: "),
    (("event_is_default",), True, "event_is_default: must be false unless there are more than two classes"),
    (("event_is_default",), 1, "event_is_default: must be true or false, got 1"),
    (("limits",), ["a", 2], r"limits\[1\]: must be a text, got 2"),
]  # fmt: skip


def mutated(path, value):
    record = json.loads(base_text())
    inside = record
    for key in path[:-1]:
        inside = inside[key]
    if value is GONE:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return json.dumps(record)


@pytest.mark.parametrize(("path", "value", "message"), MUTATIONS)
def test_a_mutated_model_is_refused(path, value, message):
    text = mutated(path, value)
    if message is None:
        assert read_model(text).classes.tolist() == ["no", "yes"]
        return
    with pytest.raises(ModelFileError, match=message):
        read_model(text)


# Models without classes, and of targets that are partitioned too.


def with_values(partition, rows, n_values, **facts):
    counts = np.array(rows, dtype=np.int64)[:, None]
    return replace(partition, counts=counts, n_values=np.array(n_values, dtype=np.int64), **facts)


def of_problem(problem):
    """A small model of a problem, its parts and cells by hand: rows 5 and 3 of x, 4 and 4 of the other variable."""
    x = with_values(numerical("x", bounds=[1.5]), [5, 3], [4, 2])
    rows = np.array([[4], [1], [3]], dtype=np.int64)
    groups = with_values(
        categorical("y", groups=(("b", "a"), ("c",))),
        [4, 4],
        [2, 1],
        value_rows=np.array([3, 1, 4]),
        missing=None,
        default=0,
    )
    other = with_values(numerical("y", bounds=[0.5]), [4, 4], [3, 3]) if problem == "numerical" else groups
    cells = Cells(("x", "y"), np.array([[0, 0], [0, 1], [1, 1]]), rows)
    partitions = {"x": x, "y": other} if problem == "joint" else {"x": x}
    quantiles = TargetQuantiles(np.array([0.25, 0.75, 0.5]), np.linspace([0.0, 0.5, 0.0], [0.5, 1.0, 1.0], 101).T)
    return Model(
        cost=2.0, null_cost=4.0, criterion="modl", problem=problem, n_rows=8, proven=False, search="vns", elapsed=0.5,
        classes=np.array(["a", "b", "c"]) if problem == "grouped" else np.empty(0), partitions=partitions,
        target=None if problem == "joint" else other, _cells=cells,
        _class_rows=np.array([1, 3, 4]) if problem == "grouped" else None,
        _target_quantiles=quantiles if problem == "numerical" else None,
    )  # fmt: skip


WITHOUT_CLASSES = ["joint", "grouped", "numerical"]


@pytest.mark.parametrize("problem", WITHOUT_CLASSES)
def test_models_without_classes_come_back(problem):
    model = of_problem(problem)
    again = back(replace(model, optima=(replace(model, cost=3.0),)))
    data = {"x": [1.0, 2.0], "y": [0.3, 0.9] if problem == "numerical" else ["a", "c"]}
    assert again.cell_of(data).tolist() == [0, 2]
    assert again.summary() == model.summary()
    assert again.mutual_information == model.mutual_information > 0
    assert again.part_of("y", data["y"]).tolist() == [0, 1]
    if problem == "grouped":
        shares = again.predict_proba({"x": [1.0, 2.0]})
        assert shares == pytest.approx(np.array([[0.2, 0.6, 0.2], [0.0, 0.0, 1.0]]))
        assert again.predict({"x": [1.0, 2.0]}).tolist() == ["b", "c"]
    if problem == "numerical":
        found = again.predict({"x": [1.0, 2.0]}, coverage=0.5)
        assert np.array(found) == pytest.approx(np.array([[0.25, 0.75], [0.25, 0.75], [0.125, 0.625], [0.375, 0.875]]))


PERCENTILES = ("spread", "percentiles")
TARGET_MUTATIONS = [
    ("joint", ("cells",), None, "cells: must be there"),
    ("joint", ("problem",), "classes", "classes: must not be empty, as the problem is 'classes'"),
    ("joint", ("problem",), "numerical", "target: must be there, as the problem is 'numerical'"),
    ("joint", ("classes", "values"), [1.0], "classes: must be empty, as the problem is 'joint'"),
    ("joint", ("class_rows",), [8], "class_rows: must be null"),
    ("joint", (*X, "n_values"), None, r"partitions\[0\].n_values: must be there, as the problem is 'joint'"),
    ("joint", (*X, "n_values"), [4], r"partitions\[0\].n_values: must be 2 numbers of values"),
    ("joint", (*X, "n_values"), [4, 0], r"partitions\[0\].n_values: must be 2 numbers of values, none for"),
    ("joint", (*X, "n_values"), [4, 4], r"partitions\[0\].n_values: must not be more than the rows of a part"),
    ("joint", (*X, "n_values"), [4, 9], r"partitions\[0\].n_values\[1\]: must be an integer from 0 to 8"),
    ("joint", (*X, "n_values"), [4, True], r"partitions\[0\].n_values\[1\]: must be an integer"),
    ("joint", (*X, "n_values"), "42", r"partitions\[0\].n_values: must be a list"),
    ("joint", (*C, "n_values"), [3, 1], r"partitions\[1\].n_values: must not be more than the rows of a part, or the"),
    ("joint", (*X, "counts"), [[5, 0], [3, 0]], r"partitions\[0\].counts: must have 1 columns"),
    ("joint", ("cells", "counts"), [[3], [2], [3]], "cells.counts: must add up to the rows of the parts of column 'y'"),
    ("grouped", ("target",), None, "target: must be there, as the problem is 'grouped'"),
    ("grouped", ("target", "name"), "x", "target.name: is also the name of a column, 'x'"),
    ("grouped", ("target", "groups"), [["b", None], ["c"]], "target.missing: must be 0"),
    ("grouped", ("target", "counts"), [[3], [4]], "target.counts: must sum to n_rows, 8"),
    ("grouped", ("target", "counts"), [[3], [5]], "target.value_rows: must add up to the rows of each group"),
    ("grouped", ("target", "groups"), [["b", "z"], ["c"]], "class_rows: must add up to the rows of each group"),
    ("grouped", ("class_rows",), None, "class_rows: must be there, as the problem is 'grouped'"),
    ("grouped", ("class_rows",), [1, 3], "class_rows: must be 3 numbers of rows"),
    ("grouped", ("class_rows",), [0, 4, 4], "class_rows: must be 3 numbers of rows"),
    ("grouped", ("class_rows",), [2, 2, 3], "class_rows: must add up"),
    ("grouped", ("class_rows",), [1, 3, 9], r"class_rows\[2\]: must be an integer from 0 to 8"),
    ("grouped", ("class_rows", 0), 1.0, r"class_rows\[0\]: must be an integer"),
    ("grouped", ("classes", "values"), ["a", "b"], "class_rows: must be 2 numbers"),
    ("grouped", ("classes", "values"), ["a", "b", "d"], "class_rows: "),
    ("grouped", ("spread",), {"means": [], "percentiles": []}, "spread: must be null"),
    ("grouped", ("problem",), "numerical", "classes: must be empty"),
    ("grouped", ("cells", "names"), ["x"], "cells.parts: must be 3 lists of 1 parts"),
    ("grouped", ("cells", "names"), ["x", "z"], "cells.names: must be the columns with more than one part"),
    ("numerical", ("target",), None, "target: must be there"),
    ("numerical", ("target", "missing"), 0, "target: must have no missing values"),
    ("numerical", ("target", "bounds", "values"), [], "target.counts: has 2 parts"),
    ("numerical", ("spread",), None, "spread: must be there, as the problem is 'numerical'"),
    ("numerical", ("spread", "means"), [0.25, 0.75], "spread.percentiles: must be 2 lists of 101 numbers"),
    ("numerical", ("spread", "means"), [0.25, 0.75, "1"], r"spread.means\[2\]: must be a float"),
    ("numerical", ("spread", "means", 0), 7.0, "spread.means: must lie between"),
    ("numerical", ("spread", "means", 0), {"float": "nan"}, "spread.means: must be finite"),
    ("numerical", (*PERCENTILES, 0, 50), {"float": "inf"}, "spread.percentiles: must be finite"),
    ("numerical", (*PERCENTILES, 0, 50), 0.0, "spread.percentiles: must ascend"),
    ("numerical", (*PERCENTILES, 0), [0.0] * 100, "spread.percentiles: must be 3 lists of 101 numbers"),
    ("numerical", PERCENTILES, {}, "spread.percentiles: must be a list"),
    ("numerical", ("problem",), "joint", "target: must be null, as the problem is 'joint'"),
]  # fmt: skip


@pytest.mark.parametrize(("problem", "path", "value", "message"), TARGET_MUTATIONS)
def test_a_mutated_model_without_classes_is_refused(problem, path, value, message):
    record = json.loads(write_model(of_problem(problem)))
    inside = record
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    with pytest.raises(ModelFileError, match=message):
        read_model(json.dumps(record))


BAD_VALUES = [
    {"pickle": "gASVAAAAAAAAAAAu"}, {"eval": "1"}, {"float": "1.5"}, {"float": 1}, {"float": [1]}, {"int": "12"},
    {"int": "0x5"}, {"int": "0x_1" + "0" * 20}, {"int": 5}, {"int": "1" * 1_000_000}, {"str": "61"}, {"str": "zz"},
    {"str": 5}, {"bytes": "6 1"}, {"bytes": "6"}, {"bytes": "AB"}, {"bytes": None}, {"date": "2020-02-30"},
    {"date": "20200101"}, {"date": 5}, {"date": "2020-01-01T00:00:00"}, {"datetime": "2020-01-01"},
    {"datetime": "2020-01-01T25:00:00"}, {"datetime": ["2020-01-01T00:00:00", "Europe/Paris"]},
    {"datetime": ["2020-01-01T00:00:00+01:00", "../../etc/passwd"]}, {"datetime": ["2020-01-01T00:00:00+01:00"]},
    {"datetime": ["2020-01-01T00:00:00+01:00", "/etc/passwd"]}, {"datetime": ["2020-01-01T00:00:00+01:00", 5]},
    {"datetime": {}}, {"timedelta": [0, 86400, 0]}, {"timedelta": [10**15, 0, 0]}, {"timedelta": [True, 0, 0]},
    {"timedelta": 5}, {"timedelta": [10**10, 0, 0]}, {"Decimal": "NaN"}, {"Decimal": "sNaN"}, {"Decimal": "1_0"},
    {"Decimal": "1e99999999999999999999"}, {"Decimal": 1.5}, {"Decimal": [0, [1], 0]}, {"Decimal": "x"},
    {"tuple": "ab"}, {"tuple": [[1]]}, {"tuple": None}, {"numpy": ["object", 1]}, {"numpy": ["float32", 0.1]},
    {"numpy": ["int8", 300]}, {"numpy": 5}, {"numpy": ["int8"]}, {"numpy": ["datetime64[D]", "NaT"]},
    {"Timestamp": ["int8", 5, None]}, {"Timestamp": ["datetime64[ns]", "2020-01-01T00:00:00.000000000"]},
    {"Timestamp": ["datetime64[D]", "99999-01-01", "+25:00"]}, {"Timestamp": ["datetime64[Y]", 2**62, None]},
    {"Timestamp": ["datetime64[s]", "2020-01-01T00:00:00", "a b"]}, {"Timedelta": ["datetime64[s]", 5]},
    {"Timedelta": ["timedelta64[s]", 2**63]}, {"Timedelta": 5}, {"Timestamp": ["datetime64[ns]", -(2**63), None]},
    {"numpy": ["datetime64[as]", "1970-01-01T00:00:00.0000000000000000001"]},
    {"numpy": ["timedelta64[ns]", -(2**63)]}, {"Timedelta": ["timedelta64[ns]", -(2**63)]}, {"Interval": 5},
    {"Interval": [1, 2]}, {"Interval": [2, 1, "right"]}, {"Interval": [1, 2, "open"]}, {"Interval": ["a", "b", "both"]},
    {"Interval": [1, {"tuple": []}, "left"]}, {"Interval": {"a": 1, "b": 2, "both": 3}}, {"Period": [1, "nonsense"]},
    {"Period": [1.5, "M"]}, {"Period": [-(2**63), "D"]}, {"Period": ["1", "M"]}, {"Period": [1, 5]}, {"Period": "ab"},
    {"Fraction": "2/4"}, {"Fraction": "1/0"}, {"Fraction": "1e999999999"}, {"Fraction": 5},
    {"Fraction": "1/" + "9" * 9999}, {"UUID": "5"}, {"UUID": "12345678123456781234567812345678"}, {"UUID": None},
    {"UUID": False}, {"time": 5}, {"time": "25:00:00"}, {"time": "10:00"},
]  # fmt: skip


@pytest.mark.parametrize("value", BAD_VALUES, ids=lambda value: str(value)[:50])
def test_a_value_that_no_gridmodl_wrote_is_refused_with_its_place(value):
    with pytest.raises(ModelFileError, match=r"^partitions\[1\]\.groups\[1\]"):
        read_model(mutated((*C, "groups", 1, 0), value))


def test_values_nested_deeply_are_refused():
    value = "b"
    for _ in range(300):
        value = {"tuple": [value]}
    with pytest.raises(ModelFileError, match="nested too deeply"):
        read_model(mutated((*C, "groups", 1, 0), value))


def test_a_wide_text_type_takes_no_memory(monkeypatch):
    monkeypatch.setattr("gridmodl.model.file.values.MAX_BYTES", 2**24)
    with pytest.raises(ModelFileError, match="classes: would take more than"):
        read_model(mutated(("classes", "dtype"), "U9999999"))


paths = st.sampled_from([path for path, *_ in MUTATIONS if path != ("extra",) and path != ("options", "a b")])
plain = st.none() | st.booleans() | st.integers(-3, 20) | st.floats(-9, 9) | st.text(max_size=4)
tags = st.sampled_from([*TAGS, "values"])
junk = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(tags, inner, max_size=2), max_leaves=6
)


@settings(max_examples=200, deadline=None)
@given(paths, junk)
def test_junk_anywhere_is_read_exactly_or_refused(path, value):
    if path[-1] in ("groups", "special") and path not in ((*C, "groups"), (*X, "special")):
        return
    text = mutated(path, value)
    try:
        model = read_model(text)
    except ModelFileError:
        return
    back(model)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (model_of(numerical(bounds=[2.5, 1.5])), "bounds: must ascend"),
        (model_of(numerical(bounds=[1.5, np.nan])), "bounds: holds a missing value"),
        (model_of(numerical(), cost=math.nan), "cost: must be finite"),
        (model_of(categorical(default=3)), "default: must be one of"),
        (model_of(categorical(groups=(("a",), (math.nan,), ("c",)))), "not a number"),
        (model_of(numerical(), classes=["only"]), "counts: must have 1 columns"),
        (
            replace(model_of(numerical()), partitions={"z": numerical()}),
            "name: is 'x', but its key in the model is 'z'",
        ),
        (model_of(replace(numerical(), kind="other")), "kind: must be one of"),
        (model_of(replace(numerical(), groups=(("a",),))), "is numerical and has groups"),
        (model_of(replace(categorical(), bounds=np.ones(1))), "is categorical and has bounds"),
    ],
)
def test_a_model_that_could_not_be_read_is_not_written(model, message, tmp_path):
    with pytest.raises(ModelFileError, match=message):
        write_model(model, tmp_path / "model.json")
    assert not os.listdir(tmp_path)


def test_reading_and_writing_never_unpickle_or_run_anything(monkeypatch):
    """Not even with all values of a model; and what is imported on the way is pandas at most."""

    def forbidden(*_, **__):
        raise AssertionError("ran")

    for module, name in ((pickle, "loads"), (pickle, "load"), (pickle, "Unpickler"), (pickle, "dumps"), (np, "load")):
        monkeypatch.setattr(module, name, forbidden)
    for name in ("eval", "exec", "compile"):
        monkeypatch.setattr(f"builtins.{name}", forbidden)
    back(model_of(numerical(), categorical(groups=((b"a", None), (Decimal("1.10"), dt.date(2020, 1, 1)), ((1, "a"),)))))


def test_a_model_is_read_without_the_compiler():
    code = (
        "import sys; from gridmodl import Model; Model.from_json(sys.stdin.read()); assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], input=GOOD, text=True, check=True)


def test_the_name_of_the_target_is_kept():
    data = {"x": [1.0, 2.0, 3.0, 4.0], "bought": [0, 0, 1, 1]}
    model = optimize(data, "bought")
    assert Model.from_json(model.to_json()).target_name == "bought"
    assert "for the target bought" in model.to_html()
    assert optimize({"x": data["x"]}, data["bought"]).target_name is None
    assert optimize(data).target_name is None
    record = json.loads(optimize(data).to_json())
    with pytest.raises(ModelFileError, match="target_name: must be left out, as the model has no target"):
        Model.from_json(json.dumps(record | {"target_name": "bought"}))
