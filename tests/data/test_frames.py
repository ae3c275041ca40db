"""One table in every kind of frame: one and the same model, in the user's own names and types, and nothing changed."""

from __future__ import annotations

import copy
import datetime
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from gridmodl import Model, optimize, optimize_each
from gridmodl.clock import Clock

STEP = [0] * 5 + [1] * 5

# Three input columns and a target, as Python has them.
AGE = [21, None, 23, 25, None, 40, 41, 44, 47, 49, 50, 52]
TOWN = ["Rom", "Ulm", None, "Rom", "Bern", "Paris", "Oslo", None, "Paris", "Oslo", "Paris", "Oslo"]
OWNER = [True, False, None, True, True, False, False, None, False, False, False, True]
BUYS = ["no"] * 5 + ["yes"] * 7
NAMES = ["age", "town", "owner"]


def masked(values, dtype, filler):
    mask = [value is None for value in values]
    return np.ma.array([filler if value is None else value for value in values], dtype=dtype, mask=mask)


def masked_times(values, unit):
    times = [None if value is None else np.datetime64(value).astype(f"M8[{unit}]") for value in values]
    return masked(times, f"M8[{unit}]", np.datetime64(0, unit))


def objects(values, nothing=None):
    return np.array([nothing if value is None else value for value in values], dtype=object)


def floats(values):
    return [math.nan if value is None else float(value) for value in values]


def chunked(values, dtype=None):
    """Three chunks, one of them empty; dictionaries of their own where they are encoded."""
    whole = pa.array(values, dtype)
    return pa.chunked_array([whole[:5], whole[5:5], whole[5:]])


def encoded(values):
    return pa.chunked_array([pa.array(piece).dictionary_encode() for piece in (values[:5], values[5:])])


def views(values):
    names = sorted({value for value in values if value is not None})
    codes = pa.array([None if value is None else names.index(value) for value in values], pa.int32())
    return pa.DictionaryArray.from_arrays(codes, pa.array(names, pa.string_view()))


def pandas_of(**columns):
    return pd.DataFrame(columns, index=range(100, 112))


TABLES = {
    "dict of lists": lambda: {"age": AGE, "town": TOWN, "owner": OWNER},
    "dict of arrays": lambda: {"age": np.array(floats(AGE)), "town": objects(TOWN, math.nan), "owner": objects(OWNER)},
    "dict of series": lambda: {
        "age": pd.Series(AGE, dtype="Int64"),
        "town": pl.Series(TOWN),
        "owner": chunked(OWNER),
    },
    "dict of masked arrays": lambda: {
        "age": masked(AGE, int, 0),
        "town": masked(TOWN, "U8", "Rom"),
        "owner": masked(OWNER, bool, True),
    },
    "pandas object": lambda: pandas_of(age=objects(AGE), town=objects(TOWN), owner=objects(OWNER)),
    "pandas object, NaN": lambda: pandas_of(
        age=objects(AGE, math.nan), town=objects(TOWN, math.nan), owner=objects(OWNER, math.nan)
    ),
    "pandas object, NA": lambda: pandas_of(
        age=objects(AGE, pd.NA), town=objects(TOWN, pd.NA), owner=objects(OWNER, pd.NA)
    ),
    "pandas str": lambda: pandas_of(age=floats(AGE), town=pd.array(TOWN, dtype="str"), owner=objects(OWNER)),
    "pandas nullable": lambda: pandas_of(
        age=pd.array(AGE, dtype="Int64"), town=pd.array(TOWN, dtype="string"), owner=pd.array(OWNER, dtype="boolean")
    ),
    "pandas Float64": lambda: pandas_of(
        age=pd.array(AGE, dtype="Float64"), town=pd.Categorical(TOWN), owner=pd.array(OWNER, dtype="boolean")
    ),
    "pandas categories, some unused": lambda: pandas_of(
        age=np.array(floats(AGE), dtype=np.float32),
        town=pd.Categorical(TOWN, categories=["Wien", "Ulm", "Rom", "Paris", "Oslo", "Bern", "Aachen"]),
        owner=pd.Categorical(OWNER),
    ),
    "pandas of pyarrow": lambda: pandas_of(
        age=pd.array(AGE, dtype="int32[pyarrow]"),
        town=pd.array(TOWN, dtype="string[pyarrow]"),
        owner=pd.array(OWNER, dtype="bool[pyarrow]"),
    ),
    "pandas decimals": lambda: pandas_of(
        age=objects([None if age is None else Decimal(age) for age in AGE]),
        town=pd.array(TOWN, dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
        owner=objects(OWNER),
    ),
    "polars": lambda: pl.DataFrame({"age": AGE, "town": TOWN, "owner": OWNER}),
    "polars categories": lambda: pl.DataFrame({"age": AGE, "town": TOWN, "owner": OWNER}).with_columns(
        pl.col("age").cast(pl.UInt8), pl.col("town").cast(pl.Categorical)
    ),
    "polars enums": lambda: pl.DataFrame({"age": floats(AGE), "town": TOWN, "owner": OWNER}).with_columns(
        pl.col("town").cast(pl.Enum(["Wien", "Ulm", "Rom", "Paris", "Oslo", "Bern"]))
    ),
    "polars decimals": lambda: pl.DataFrame({"age": AGE, "town": TOWN, "owner": OWNER}).with_columns(
        pl.col("age").cast(pl.Decimal(10, 2))
    ),
    "pyarrow table": lambda: pa.table({"age": AGE, "town": TOWN, "owner": OWNER}),
    "pyarrow chunks": lambda: pa.table(
        {"age": chunked(AGE, pa.int16()), "town": chunked(TOWN), "owner": chunked(OWNER)}
    ),
    "pyarrow dictionaries": lambda: pa.table({"age": chunked(floats(AGE)), "town": encoded(TOWN), "owner": OWNER}),
    "pyarrow large strings": lambda: pa.table({"age": AGE, "town": pa.array(TOWN, pa.large_string()), "owner": OWNER}),
    "pyarrow views": lambda: pa.table({"age": AGE, "town": pa.array(TOWN, pa.string_view()), "owner": OWNER}),
    "pyarrow dictionaries of views": lambda: pa.table({"age": AGE, "town": views(TOWN), "owner": OWNER}),
    "pyarrow batch": lambda: pa.record_batch({"age": AGE, "town": TOWN, "owner": OWNER}),
}

ARRAYS = {
    "object array": lambda: np.array([AGE, TOWN, OWNER], dtype=object).T,
    "object array, NaN": lambda: np.array([objects(v, math.nan) for v in (AGE, TOWN, OWNER)], dtype=object).T,
    "list of rows": lambda: [list(row) for row in zip(AGE, TOWN, OWNER, strict=True)],
    "tuple of rows": lambda: tuple(zip(AGE, TOWN, OWNER, strict=True)),
}


def facts(models):
    """All that must not depend on the kind of frame, by column."""
    return {
        name: (
            model.cost,
            model.null_cost,
            partition.kind,
            [float(bound) for bound in partition.bounds.tolist()],
            partition.groups,
            partition.counts.tolist(),
            partition.missing,
            partition.default,
            partition.labels,
        )
        for name, model in models.items()
        for partition in model.partitions.values()
    }


@pytest.fixture(scope="module")
def wanted():
    return optimize_each(TABLES["dict of lists"](), BUYS)


def test_what_the_table_holds(wanted):
    """So that the comparisons below mean something."""
    age, town, owner = (wanted[name].partitions[name] for name in NAMES)
    assert (age.kind, town.kind, owner.kind) == ("numerical", "categorical", "categorical")
    assert age.labels == ["(-inf, 32.5] or missing", "(32.5, inf)"]
    assert {frozenset(group) for group in town.groups} == {
        frozenset(["Bern", "Rom", "Ulm", None]),
        frozenset(["Oslo", "Paris"]),
    }
    assert {type(value) for group in owner.groups for value in group} == {bool, type(None)}
    assert all(model.level > 0 for model in (wanted["age"], wanted["town"]))


@pytest.mark.parametrize("kind", TABLES)
def test_every_kind_of_frame_gives_the_same_models(kind, wanted):
    kinds = {"town": "categorical"} if kind == "polars enums" else None  # enums are ordinal
    models = optimize_each(TABLES[kind](), BUYS, kinds=kinds)
    assert list(models) == list(wanted)
    assert facts(models) == facts(wanted)
    for name in NAMES:
        assert models[name].partitions[name].name == name
        assert all(type(value) in (str, bool, type(None)) for g in models[name].partitions[name].groups for value in g)


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_and_rows_give_the_same_models(kind, wanted):
    found = facts(optimize_each(ARRAYS[kind](), BUYS))
    assert {NAMES[int(name[1])]: fact for name, fact in found.items()} == facts(wanted)


@pytest.mark.parametrize("kind", TABLES)
def test_transform_of_every_kind_of_frame(kind, wanted):
    table = TABLES[kind]()
    for name in NAMES:
        parts = wanted[name].transform(table)
        assert parts.shape == (12, 1)
        assert parts[:, 0].tolist() == wanted[name].transform(TABLES["dict of lists"]())[:, 0].tolist()
        counts = wanted[name].partitions[name].counts.sum(axis=1)
        assert np.bincount(parts[:, 0], minlength=len(counts)).tolist() == counts.tolist()
        column = table.column(name) if isinstance(table, (pa.Table, pa.RecordBatch)) else table[name]
        assert wanted[name].transform(column).tolist() == parts[:, 0].tolist()


def unchanged(table):
    """A copy that shares nothing, and a way to compare."""
    if isinstance(table, dict):
        return {name: copy.deepcopy(column) for name, column in table.items()}
    if isinstance(table, pd.DataFrame):
        return table.copy(deep=True)
    return (
        copy.deepcopy(table)
        if not isinstance(table, pl.DataFrame)
        else pl.DataFrame(table.to_dict(as_series=False), table.schema)
    )


def same(one, two):
    if isinstance(one, dict):
        return all(same(one[name], two[name]) for name in one)
    if isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, two)
        return True
    if isinstance(one, np.ma.MaskedArray):
        return one.data.tolist() == two.data.tolist() and one.mask.tolist() == two.mask.tolist()
    if isinstance(one, np.ndarray):
        return repr(one.tolist()) == repr(two.tolist()) and one.dtype == two.dtype
    if hasattr(one, "to_pylist"):
        return repr(one.to_pylist()) == repr(two.to_pylist())  # NaN too
    return one.equals(two) if hasattr(one, "equals") else one == two


@pytest.mark.parametrize("kind", TABLES)
def test_inputs_are_never_changed(kind):
    table = TABLES[kind]()
    before = unchanged(table)
    models = optimize_each(table, BUYS, weights=[0, 1, 2] * 4)
    models["town"].transform(table, unknown="neutral")
    models["town"].edit("town", groups=[[None, *{town for town in TOWN if town}]])
    models["age"].edit("age", bounds=[30.0])
    assert same(table, before)


@pytest.mark.parametrize(
    ("make", "frame"),
    [
        ("pandas object", pd.DataFrame),
        ("polars", pl.DataFrame),
        ("pyarrow table", pa.Table),
        ("pyarrow batch", pa.Table),
        ("dict of series", dict),
    ],
)
def test_tables_are_of_the_users_own_kind(make, frame):
    models = optimize_each(TABLES[make](), BUYS)
    assert isinstance(models.table(), frame)
    assert isinstance(models["age"].table(), frame)
    assert isinstance(models["age"].edit("age", bounds=[30]).table(), frame)


# Names.


def test_names_of_columns_that_are_no_text():
    table = pd.DataFrame({0: AGE, ("a", 1): TOWN, datetime.date(2020, 1, 1): OWNER, "y": BUYS})
    models = optimize_each(table, "y")
    assert set(models) == {0, ("a", 1), datetime.date(2020, 1, 1)}
    assert models[0].partitions[0].name == 0
    assert models[0].cost == optimize({"x": AGE}, BUYS).cost
    assert models[0].transform(table[[0]]).shape == (12, 1)
    assert "column" in models.summary()
    assert models.table()["column"].tolist() == [str(name) for name in models]
    assert models[0].edit(0, bounds=[30.0]).partitions[0].bounds.tolist() == [30.0]
    assert optimize_each(table, "y", kinds={0: "categorical"})[0].partitions[0].kind == "categorical"


def test_a_frame_whose_names_have_several_levels():
    table = pd.DataFrame(np.c_[np.arange(10), STEP], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
    models = optimize_each(table, STEP)
    assert set(models) == {("a", "x"), ("a", "y")}


def test_target_by_a_number_that_names_a_column():
    table = pd.DataFrame({0: AGE, 1: BUYS})
    assert optimize(table, 1).cost == optimize({"x": AGE}, BUYS).cost
    with pytest.raises(ValueError, match=r"target names column 2; the data has 0, 1"):
        optimize(table, 2)


@pytest.mark.parametrize("name", ["", "x y", "Größe", "a,b", "{}", "%s", "target"])
def test_odd_names(name):
    model = optimize(pl.DataFrame({name: AGE}), BUYS)
    assert list(model.partitions) == [name]
    assert f"{name}: 2 parts" in model.summary()


@pytest.mark.parametrize("make", [pd.Series, pl.Series])
def test_a_series_has_its_own_name(make):
    assert list(optimize(make(name="age", data=AGE) if make is pd.Series else make("age", AGE), BUYS).partitions) == [
        "age"
    ]
    assert list(optimize(make(AGE), BUYS).partitions) == ["x0"]


@pytest.mark.parametrize("make", [pa.array, lambda values: pa.chunked_array([values[:3], values[3:]])])
def test_arrow_arrays_have_no_name(make):
    model = optimize(make(AGE), BUYS)
    assert list(model.partitions) == ["x0"]
    assert model.cost == optimize({"age": AGE}, BUYS).cost
    assert model.transform(make(AGE)).tolist() == model.transform(pd.Series(AGE)).tolist()


# Targets and weights.


TARGETS = {
    "name": "buys",
    "list": BUYS,
    "tuple": tuple(BUYS),
    "array": np.array(BUYS),
    "objects": np.array(BUYS, dtype=object),
    "pandas": pd.Series(BUYS, index=range(12)[::-1]),
    "pandas object": pd.Series(BUYS, dtype=object),
    "pandas string": pd.Series(BUYS, dtype="string"),
    "pandas category": pd.Series(pd.Categorical(BUYS, categories=["yes", "perhaps", "no"])),
    "pandas arrow": pd.Series(BUYS, dtype="string[pyarrow]"),
    "pandas frame": pd.DataFrame({"y": BUYS}),
    "polars": pl.Series(BUYS),
    "polars frame": pl.DataFrame({"y": BUYS}),
    "polars category": pl.Series(BUYS, dtype=pl.Categorical),
    "polars enum": pl.Series(BUYS, dtype=pl.Enum(["no", "perhaps", "yes"])),
    "pyarrow": pa.array(BUYS),
    "pyarrow chunks": pa.chunked_array([BUYS[:4], BUYS[4:]]),
    "pyarrow dictionary": pa.array(BUYS).dictionary_encode(),
    "masked": np.ma.array(BUYS),
}


@pytest.mark.parametrize("kind", TARGETS)
def test_target_of_every_kind(kind):
    table = pd.DataFrame({"age": AGE, "buys": BUYS})
    table = table if kind == "name" else table[["age"]]
    model = optimize(table, TARGETS[kind])
    assert model.classes.tolist() == ["no", "yes"]
    assert model.cost == optimize({"age": AGE}, BUYS).cost
    assert list(model.partitions) == ["age"]
    assert model.partitions["age"].counts.tolist() == [[5, 0], [0, 7]]


NUMBERS = [7] * 5 + [9] * 7


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        (pd.Series(NUMBERS), int),
        (pd.Series(NUMBERS, dtype="Int64"), int),
        (pd.Series(NUMBERS, dtype="uint8[pyarrow]"), int),
        (pd.Series(pd.Categorical(NUMBERS)), int),
        (pd.Series(NUMBERS, dtype=float), float),
        (pd.Series(NUMBERS, dtype="Float32"), float),
        (pl.Series(NUMBERS), int),
        (pl.Series(NUMBERS, dtype=pl.Float32), float),
        (pa.array(NUMBERS, pa.int8()), int),
        (pa.array(NUMBERS).dictionary_encode(), int),
        (pd.Series(NUMBERS) == 9, bool),
        (pd.Series(NUMBERS).astype("Int64") == 9, bool),
        (pl.Series(NUMBERS) == 9, bool),
        (pa.array([n == 9 for n in NUMBERS]), bool),
    ],
    ids=lambda value: f"{type(value).__module__}-{getattr(value, 'dtype', getattr(value, 'type', ''))}",
)
def test_classes_keep_their_type(target, kind):
    model = optimize({"age": AGE}, target)
    assert model.classes.tolist() == ([False, True] if kind is bool else [7, 9])
    assert [type(name) for name in model.classes.tolist()] == [kind, kind]
    assert model.cost == optimize({"age": AGE}, BUYS).cost


def test_categories_of_several_types_are_no_classes():
    """As text, 1 and "1" would be one class with two names."""
    with pytest.raises(TypeError, match="target mixes"):
        optimize({"age": AGE}, pd.Series(pd.Categorical([1, "1"] * 6)))


@pytest.mark.parametrize(
    "target",
    [
        pd.date_range("2020", periods=12),
        pd.Series(pd.date_range("2020", periods=12)),
        pd.Series(pd.date_range("2020", periods=12, tz="UTC")),
        pd.Series(pd.to_timedelta(np.arange(12), unit="D")),
        pl.Series([datetime.date(2020, 1, 1)] * 12),
        pa.array([datetime.datetime(2020, 1, 1)] * 12),
    ],
    ids=lambda value: f"{type(value).__module__}-{getattr(value, 'dtype', getattr(value, 'type', ''))}",
)
def test_dates_are_no_classes(target):
    with pytest.raises(TypeError, match=r"target holds (dates|durations);"):
        optimize({"age": AGE}, target)


@pytest.mark.parametrize("make", [pd.Series, pl.Series, pa.array, lambda values: pa.chunked_array([values])])
def test_real_targets_are_numerical(make):
    model = optimize({"age": AGE}, make([i / 8 for i in range(12)]))
    assert (model.problem, model.target.kind, len(model.classes)) == ("numerical", "numerical", 0)
    halves = [0.5] * 5 + [1.5] * 7
    assert optimize({"age": AGE}, make(halves), target_kind="classes").classes.tolist() == [0.5, 1.5]


HOLES = [None if i in (2, 6) else name for i, name in enumerate(BUYS)]


@pytest.mark.parametrize(
    "target",
    [
        HOLES,
        pd.Series(HOLES),
        pd.Series(HOLES, dtype=object),
        pd.Series(HOLES, dtype="string"),
        pd.Series(HOLES, dtype="category"),
        pd.Series([None if name is None else name == "yes" for name in HOLES], dtype="boolean"),
        pd.Series([None if name is None else len(name) for name in HOLES], dtype="Int64"),
        pd.Series([None if name is None else len(name) for name in HOLES]),
        pd.Series([None if name is None else len(name) for name in HOLES], dtype="int64[pyarrow]"),
        pl.Series(HOLES),
        pl.Series(HOLES, dtype=pl.Categorical),
        pl.Series([None if name is None else len(name) for name in HOLES]),
        pl.Series([math.nan if name is None else len(name) for name in HOLES], strict=False),
        pl.Series([math.nan if i == 2 else None if i == 6 else 1.0 for i in range(12)]),
        pl.Series([None if name is None else True for name in HOLES]),
        pa.array(HOLES),
        pa.array(HOLES).dictionary_encode(),
        pa.array([None if name is None else len(name) for name in HOLES]),
        pa.array([math.nan if i == 2 else None if i == 6 else 1.0 for i in range(12)]),
        pa.chunked_array([HOLES[:3], HOLES[3:]]),
    ],
    ids=lambda value: f"{type(value).__module__}-{getattr(value, 'dtype', getattr(value, 'type', ''))}",
)
def test_missing_targets_are_counted(target):
    with pytest.raises(ValueError, match=r"target has 2 missing values of 12;.*unlabelled="):
        optimize({"age": AGE}, target)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_target_and_weights_by_name_are_no_inputs(make):
    table = make({"age": AGE, "town": TOWN, "buys": BUYS, "times": [0, 1, 2] * 4})
    models = optimize_each(table, "buys", weights="times")
    assert set(models) == {"age", "town"}
    by_hand = optimize_each({"age": AGE, "town": TOWN}, BUYS, weights=[0, 1, 2] * 4)
    assert facts(models) == facts(by_hand)
    assert models["age"].n_rows == 12
    assert models["age"].transform(table).shape == (12, 1)  # the other columns do no harm
    with pytest.raises(ValueError, match=r"target names column 'sells'; the data has 'age', 'town'"):
        optimize_each(table, "sells")
    with pytest.raises(ValueError, match=r"weights names column 'buys'; the data has 'age', 'town', 'times'"):
        optimize_each(table, "buys", weights="buys")


def test_nothing_beside_the_target():
    with pytest.raises(ValueError, match="data has no column besides the target"):
        optimize(pd.DataFrame({"y": BUYS}), "y")


@pytest.mark.parametrize(
    "weights",
    [
        pd.Series([0, 1, 2] * 4, index=range(12)[::-1]),
        pd.Series([0, 1, 2] * 4, dtype="Int64"),
        pl.Series([0.0, 1.0, 2.0] * 4),
        pa.array([0, 1, 2] * 4),
        pa.chunked_array([[0, 1], [2], [0, 1, 2] * 3]),
        pd.Series([Decimal(0), Decimal(1), Decimal(2)] * 4),
    ],
    ids=lambda value: type(value).__module__,
)
def test_weights_of_every_kind(weights):
    assert (
        optimize({"age": AGE}, BUYS, weights=weights).cost == optimize({"age": AGE}, BUYS, weights=[0, 1, 2] * 4).cost
    )


@pytest.mark.parametrize("make", [lambda v: pd.Series(v, dtype="Int64"), pl.Series, pa.array])
def test_missing_weights(make):
    with pytest.raises(ValueError, match="weights must be whole numbers, 0 or more"):
        optimize({"age": AGE}, BUYS, weights=make([1] * 11 + [None]))


def test_rows_of_weight_zero_hide_missing_targets_of_frames():
    for make in (pd.Series, pl.Series, pa.array):
        model = optimize({"age": AGE}, make(HOLES), weights=[name is not None for name in HOLES])
        assert (model.n_rows, model.classes.tolist()) == (10, ["no", "yes"])


# What cannot be read.


def refused(data, error, match):
    with pytest.raises(error, match=match):
        optimize(data, STEP)


def test_lazy_frames():
    refused(pl.LazyFrame({"a": STEP}), TypeError, r"target must be the name of one of its columns")
    assert optimize(pl.LazyFrame({"a": np.arange(20.0)})).problem == "density"


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("a", [[1]] * 10),
        pl.Series("a", [[1, 2]] * 10, dtype=pl.Array(pl.Int64, 2)),
        pl.Series("a", [{"b": 1}] * 10),
        pl.Series("a", [datetime.time(1)] * 10),
        pa.table({"a": [[1]] * 10}),
        pa.table({"a": [{"b": 1}] * 10}),
        pa.table({"a": [datetime.time(1)] * 10}),
        pd.DataFrame({"a": [[1]] * 10}),
        pd.DataFrame({"a": [{"b": 1}] * 10}),
        pd.DataFrame({"a": [{1}] * 10}),
        pd.DataFrame({"a": [np.arange(2)] * 10}),
        pd.DataFrame({"a": [datetime.time(1)] * 10}),
        pd.DataFrame({"a": pd.period_range("2020", periods=10, freq="M")}),
        pd.DataFrame({"a": pd.interval_range(0, 10)}),
        pd.DataFrame({"a": [1, "b"] * 5}),
        pd.DataFrame({"a": [datetime.date(2020, 1, 1), 3] * 5}),
        pd.DataFrame({"a": [1j] * 10}),
    ],
    ids=lambda value: type(value).__module__,
)
def test_columns_that_are_no_variables(column):
    refused(column, TypeError, r"column 'a' (holds|mixes)")


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(np.zeros((10, 2)), columns=["a", "a"]),
        pa.table([pa.array(STEP), pa.array(STEP)], names=["a", "a"]),
        pa.RecordBatch.from_arrays([pa.array(STEP), pa.array(STEP)], names=["a", "a"]),
    ],
    ids=["pandas", "pyarrow", "batch"],
)
def test_columns_that_share_a_name(table):
    refused(table, ValueError, "data has several columns of one name, 'a'; rename all but one")


@pytest.mark.parametrize("name", [math.nan, pd.NaT, pd.NA, ("a", math.nan), (("a", pd.NaT), 1)], ids=str)
def test_names_that_are_not_equal_to_themselves(name):
    reason = "data has a column named .*, which is not equal to itself.*; rename the column"
    refused({name: np.arange(10.0)}, ValueError, reason)
    columns = pd.Index(pd.Series([name, "b"], dtype=object), tupleize_cols=False)
    refused(pd.DataFrame(np.zeros((10, 2)), columns=columns), ValueError, reason)
    if not isinstance(name, tuple):
        refused(pd.Series(np.arange(10.0), name=name), ValueError, reason)


@pytest.mark.parametrize("name", [None, "", 0, True, 1.5, ("a", 1), ("a", None), pd.Timestamp(5), b"a"], ids=repr)
def test_names_of_other_types_are_kept_and_found_again(name):
    data = pd.DataFrame(np.array([np.arange(10.0), np.zeros(10)]).T)
    data.columns = pd.Index(pd.Series([name, "b"], dtype=object), tupleize_cols=False)
    model = optimize_each(data, STEP)[name]
    again = Model.from_json(model.to_json())
    assert again.transform(data).tolist() == model.transform(data).tolist() == [[0]] * 5 + [[1]] * 5
    assert list(again.partitions) == [name]


def test_a_tuple_names_the_target_where_a_column_is_called_so():
    data = pd.DataFrame({("a", 1): np.arange(10.0), ("a", 2): STEP})
    assert list(optimize(data, ("a", 2)).partitions) == [("a", 1)]
    assert optimize(data, ("a", 2), target_kind="grouped").target.name == ("a", 2)
    assert optimize(data[[("a", 1)]], tuple(STEP)).classes.tolist() == [0, 1]


class Raising:
    def __init__(self, error, hashed=0):
        self.error, self.hashed = error, hashed

    def __eq__(self, other):
        raise self.error

    def __hash__(self):
        return self.hashed


class Unsorted:
    def __lt__(self, other):
        raise RuntimeError("no order")


def test_labels_whose_order_fails():
    with pytest.raises(TypeError, match="target mixes labels that cannot be sorted"):
        optimize({"a": np.arange(10.0)}, np.array([Unsorted(), Unsorted()] * 5, dtype=object))


class LikeText:
    text = "a"

    def __eq__(self, other):
        return self.text == other.text

    def __hash__(self):
        return hash(self.text)


class Silent:
    def __repr__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize("error", [RuntimeError("no"), ValueError("no"), TypeError("no"), ZeroDivisionError("no")])
@pytest.mark.parametrize("hashed", [0, hash("a")], ids=["other", "same"])
@pytest.mark.parametrize("kinds", [None, {"a": "categorical"}])
def test_values_whose_comparison_fails(error, hashed, kinds):
    for others in (["a"] * 9, [None] * 4 + ["a"] * 5, list(range(9)), [Raising(error, hashed)] * 9):
        column = np.empty(10, dtype=object)
        column[:] = [Raising(error, hashed), *others]
        for data in ({"a": column}, pd.DataFrame({"a": column})):
            with pytest.raises(TypeError, match=r"column 'a' .*Raising"):
                optimize(data, STEP, kinds=kinds)
        with pytest.raises((TypeError, ValueError), match="target"):
            optimize({"a": np.arange(10.0)}, column)


@pytest.mark.parametrize("value", [LikeText(), Silent()], ids=lambda value: type(value).__name__)
def test_values_that_cannot_be_told_apart_or_shown(value):
    column = np.empty(10, dtype=object)
    column[:] = [value] + ["a"] * 9
    with pytest.raises(TypeError, match=f"column 'a' holds .*{type(value).__name__}"):
        optimize({"a": column}, STEP, kinds={"a": "categorical"})
    with pytest.raises(TypeError, match=f"column 'a' .*{type(value).__name__}"):
        optimize({"a": column}, STEP)
    with pytest.raises(TypeError, match=f"column 'a' .*{type(value).__name__}"):
        optimize({"a": list("aaaaabbbbb")}, STEP).transform({"a": column})


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix, sparse.lil_matrix])
def test_sparse_matrices(make):
    refused(make(np.ones((10, 1))), TypeError, r"data is a sparse .*without a target.*toarray\(\)")
    refused({"a": make(np.ones((10, 1)))}, TypeError, r"column 'a' is a sparse .*toarray\(\)")
    with pytest.raises(TypeError, match="target is a sparse"):
        optimize(np.arange(10.0), make(np.zeros((10, 1))))


def test_structured_arrays():
    refused(np.zeros(10, dtype=[("a", float), ("b", int)]), TypeError, r"data is a structured array; pass a dict")


@pytest.mark.parametrize("data", [(i for i in range(10)), {1, 2}, map(int, "12"), object(), 3, 2.5, "text"])
def test_things_that_are_no_table(data):
    refused(data, TypeError, "data must be array-like")


def test_names_of_files_are_no_tables():
    refused("people.parquet", TypeError, "got str 'people.parquet'; read the file first, as by polars.scan_parquet")


def test_three_dimensions():
    refused(np.zeros((10, 1, 1)), ValueError, r"data must be one column or a table of columns.*\(10, 1, 1\)")
    refused({"a": np.zeros((10, 2))}, ValueError, r"column 'a' must be a 1-D array.*\(10, 2\)")
    refused({"a": 3}, TypeError, r"column 'a' must be array-like")


def test_dict_of_columns_of_several_lengths():
    refused(
        {"a": [1, 2], "b": [1, 2, 3]}, ValueError, r"the columns of data have different lengths: 'a' has 2, 'b' has 3"
    )


def test_complex_columns():
    refused({"a": np.ones(10) * 1j}, TypeError, r"column 'a' holds complex numbers")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_without_rows_or_columns(make):
    with pytest.raises(ValueError, match="data has no rows"):
        optimize(make({"a": []}), [])
    with pytest.raises(ValueError, match=r"data has no (rows|column)"):
        optimize(make({}), [])


def test_integers_of_128_bits():
    refused(pl.DataFrame({"a": pl.Series(STEP, dtype=pl.Int128)}), TypeError, r"column 'a'")


def test_text_views():
    column = pa.array(["a", "b", None, "a", "b"] * 2, pa.string_view())
    assert optimize(pa.table({"a": column}), STEP).cost == optimize({"a": column.to_pylist()}, STEP).cost


# Types that keep their meaning.


def test_categories_that_are_numbers_keep_their_type():
    codes = [3, 5, None, 3, 5, 9, 9, 7, 7, 9]
    wanted = optimize({"a": objects(codes)}, STEP, kinds={"a": "categorical"})
    assert [sorted(map(repr, group)) for group in wanted.partitions["a"].groups] == [["3", "5", "None"], ["7", "9"]]
    for column in (
        pd.Series(pd.Categorical(codes)),
        pd.Series(pd.Categorical(codes, categories=[9, 7, 5, 3, 1])),
        pa.array(codes).dictionary_encode(),
    ):
        model = optimize({"a": column}, STEP)
        assert model.partitions["a"].groups == wanted.partitions["a"].groups
        assert model.cost == wanted.cost
        assert model.transform(pd.Series([5, 7, 3])).tolist() == wanted.transform([5, 7, 3]).tolist()


def test_a_list_of_rows_keeps_the_types_of_its_columns():
    rows = [[bool(i % 3), i / 2, 2**60 + i] for i in range(10)]
    models = optimize_each(rows, STEP)
    assert models["x0"].partitions["x0"].kind == "categorical"
    assert models["x2"].partitions["x2"].bounds.tolist() == [2**60 + 4]


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("a", [None] * 10),
        pa.table({"a": pa.nulls(10)}),
        pd.DataFrame({"a": [None] * 10}),
        pd.DataFrame({"a": [math.nan] * 10}),
        pd.DataFrame({"a": pd.array([None] * 10, dtype="Int64")}),
        pl.Series("a", [None] * 10, dtype=pl.Int64),
        pl.Series("a", [None] * 10, dtype=pl.Datetime("us", "UTC")),
        pl.Series("a", [None] * 10, dtype=pl.String),
        pl.Series("a", [None] * 10, dtype=pl.Boolean),
        pl.Series("a", [None] * 10, dtype=pl.Categorical),
        pd.DataFrame({"a": pd.Categorical([None] * 10, categories=["b"])}),
        pa.table({"a": pa.array([None] * 10, pa.dictionary(pa.int8(), pa.string()))}),
        pd.DataFrame({"a": pd.array([pd.NaT] * 10, dtype="datetime64[ns]")}),
    ],
    ids=lambda value: type(value).__module__,
)
def test_nothing_but_missing_values(column):
    model = optimize(column, STEP)
    partition = model.partitions["a"]
    assert (partition.n_parts, partition.missing, partition.counts.tolist()) == (1, 0, [[5, 5]])
    assert model.cost == model.null_cost
    assert model.transform(column).ravel().tolist() == [0] * 10


@pytest.mark.parametrize(
    "make",
    [
        lambda values: pd.Series(values, dtype="Int64"),
        lambda values: pd.Series(values, dtype="int64[pyarrow]"),
        lambda values: pl.Series(values, dtype=pl.Int64),
        lambda values: pa.array(values, pa.int64()),
        lambda values: pa.chunked_array([pa.array(values[:4], pa.int64()), pa.array(values[4:], pa.int64())]),
        objects,
        lambda values: masked(values, np.int64, 0),
    ],
    ids=["Int64", "int64[pyarrow]", "polars", "pyarrow", "chunks", "objects", "masked"],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_huge_nullable_integers_are_exact(make, sign):
    values = [None] * 9 + [sign * 2**60 + i for i in range(18)]
    target = [1] * 9 + [0] * 9 + [1] * 9
    model = optimize({"a": make(values)}, target)
    partition = model.partitions["a"]
    assert (partition.labels[0], partition.missing) == ("missing", 0)
    assert partition.bounds.tolist() == [sign * 2**60 + 8]
    assert partition.counts.tolist() == [[0, 9], [9, 0], [0, 9]]
    assert model.transform({"a": make(values)}).ravel().tolist() == [0] * 9 + [1] * 9 + [2] * 9


@pytest.mark.parametrize(
    "make",
    [
        lambda values: pd.Series(values, dtype="UInt64"),
        lambda values: pl.Series(values, dtype=pl.UInt64),
        lambda values: pa.array(values, pa.uint64()),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_huge_unsigned_nullable_integers_are_exact(make):
    values = [None] + [2**64 - 11 + i for i in range(10)]
    model = optimize({"a": make(values)}, [0, *STEP])
    assert model.partitions["a"].bounds.tolist() == [2**64 - 7]
    assert model.transform({"a": make(values)}).ravel().tolist() == [0, *STEP]


@pytest.mark.parametrize("dtype", ["float32", "Float32", "float[pyarrow]"])
def test_bounds_of_short_floats_are_short_floats(dtype):
    model = optimize(pd.Series(np.arange(10) / 10, dtype=dtype, name="a"), STEP)
    assert model.partitions["a"].bounds.dtype == np.float32
    assert np.float32(0.4) <= model.partitions["a"].bounds[0] < np.float32(0.5)


def test_nan_and_null_are_alike():
    both = [math.nan, None, 1.0, math.nan, None, 2.0, 3.0, 4.0, 5.0, 6.0]
    null = [None if value is None or value != value else value for value in both]
    wanted = optimize({"a": null}, STEP)
    assert wanted.partitions["a"].missing == 0
    for column in (
        pl.Series(both),
        pa.array(both),
        pd.Series(both, dtype="double[pyarrow]"),
        pd.Series(pd.arrays.ArrowExtensionArray(pa.array(both))),
        objects(both, math.nan),
        np.array(both, dtype=float),
    ):
        model = optimize({"a": column}, STEP)
        assert facts({"a": model}) == facts({"a": wanted})
        assert model.transform({"a": column}).tolist() == wanted.transform({"a": null}).tolist()


def test_nan_and_null_are_alike_as_categories():
    both = [math.nan, None, 1.0, math.nan, None, 2.0, 2.0, 1.0, 2.0, 2.0]
    null = [None if value is None or value != value else value for value in both]
    wanted = optimize({"a": objects(null)}, STEP, kinds={"a": "categorical"})
    assert sum(None in group for group in wanted.partitions["a"].groups) == 1
    for column in (pl.Series(both), pa.array(both), pd.Series(both), objects(both), np.array(both, dtype=float)):
        model = optimize({"a": column}, STEP, kinds={"a": "categorical"})
        assert facts({"a": model}) == facts({"a": wanted})


@pytest.mark.usefixtures("_processor_time")
def test_many_kinds_of_nan_take_no_quadratic_time():
    """Each row holds a NaN of its own, as astype(object) makes them; one at a time against all took minutes."""
    column = np.where(np.arange(40_000) % 2, np.nan, 1.0).astype(object)
    clock = Clock()
    model = optimize(column, np.arange(40_000) % 2, kinds={"x0": "categorical"})
    assert clock.elapsed < 3.0  # without the time of compiling
    assert sorted(model.partitions["x0"].groups, key=repr) == [(1.0,), (None,)]


# Dates.


DAYS = [datetime.date(1969, 12, 27) + datetime.timedelta(days=i) for i in range(10)]  # around 1970
TIMES = [datetime.datetime(day.year, day.month, day.day, 6) for day in DAYS]
ZONE = "America/New_York"

DATES = {
    "datetime.date": lambda: objects(DAYS),
    "datetime.datetime": lambda: objects(TIMES),
    "list of dates": lambda: DAYS,
    "M8[D]": lambda: np.array(DAYS, dtype="M8[D]"),
    "M8[s]": lambda: np.array(TIMES, dtype="M8[s]"),
    "M8[ns]": lambda: np.array(TIMES, dtype="M8[ns]"),
    "big-endian": lambda: np.array(TIMES, dtype=">M8[s]"),
    "pandas s": lambda: pd.Series(TIMES).astype("datetime64[s]"),
    "pandas ns": lambda: pd.Series(TIMES).astype("datetime64[ns]"),
    "pandas zone": lambda: pd.Series(TIMES).dt.tz_localize(ZONE),
    "pandas dates": lambda: pd.Series(DAYS),
    "pandas arrow": lambda: pd.Series(TIMES, dtype="timestamp[us][pyarrow]"),
    "polars Date": lambda: pl.Series(DAYS),
    "polars Datetime": lambda: pl.Series(TIMES, dtype=pl.Datetime("ms")),
    "polars ns": lambda: pl.Series(TIMES, dtype=pl.Datetime("ns")),
    "polars zone": lambda: pl.Series(TIMES).dt.replace_time_zone(ZONE),
    "pyarrow date32": lambda: pa.array(DAYS),
    "pyarrow date64": lambda: pa.array(DAYS, pa.date64()),
    "pyarrow timestamp": lambda: pa.chunked_array([TIMES[:3], TIMES[3:]]),
    "pyarrow zone": lambda: pa.array(TIMES, pa.timestamp("s", "UTC")),
    "masked D": lambda: np.ma.array(np.array([*DAYS, DAYS[9]], dtype="M8[D]"), mask=[0] * 10 + [1])[:10],
    "list of datetime64": lambda: [np.datetime64(time) for time in TIMES],
}


@pytest.mark.parametrize("kind", DATES)
def test_dates_of_every_kind(kind):
    column = DATES[kind]()
    model = optimize({"day": column}, STEP)
    partition = model.partitions["day"]
    assert partition.kind == "numerical"
    assert partition.bounds.dtype.kind == "M"
    assert partition.is_utc == ("zone" in kind)
    (bound,) = partition.bounds
    low, high = (DAYS if partition.bounds.dtype == "M8[D]" or "date64" in kind else TIMES)[4:6]
    low, high = np.datetime64(low), np.datetime64(high)
    if "zone" in kind and "pyarrow" not in kind:
        low, high = low + np.timedelta64(5, "h"), high + np.timedelta64(5, "h")
    assert low <= bound < high
    assert partition.counts.tolist() == [[5, 0], [0, 5]]
    assert model.cost == optimize(np.arange(10.0), STEP).cost
    assert model.transform({"day": column}).ravel().tolist() == STEP
    assert partition.labels[0].startswith(("(-inf, 1969-12-31", "(-inf, 1970-01-01"))
    assert partition.labels[0].endswith("Z]") == (partition.is_utc and "T" in partition.labels[0])


@pytest.mark.parametrize(
    "make",
    [
        lambda values: pd.Series(values, dtype="datetime64[ns]"),
        lambda values: pd.Series(values).dt.tz_localize(ZONE),
        lambda values: pl.Series(values, dtype=pl.Datetime("us")),
        lambda values: pl.Series(values, dtype=pl.Datetime("us")).dt.replace_time_zone(ZONE),
        lambda values: pl.Series(values).cast(pl.Date),
        lambda values: pa.array(values, pa.timestamp("ms", ZONE)),
        lambda values: pa.array(values, pa.date32()),
        lambda values: np.array(values, dtype="M8[us]"),
        lambda values: values,
        objects,
        lambda values: objects(values, pd.NaT),
        lambda values: objects([None if value is None else np.datetime64(value) for value in values]),
        lambda values: masked_times(values, "D"),
        lambda values: masked_times(values, "ns"),
    ],
    ids=["pd", "pd zone", "pl", "pl zone", "pl Date", "pa zone", "pa date", "np", "list", "objects", "NaT objects",
         "datetime64 objects", "masked D", "masked ns"],
)  # fmt: skip
def test_missing_dates(make):
    values = [None] * 5 + TIMES
    model = optimize({"day": make(values)}, [1] * 5 + STEP)
    partition = model.partitions["day"]
    assert partition.bounds.dtype.kind == "M"
    assert partition.labels[0] == "missing"
    assert partition.counts.tolist() == [[0, 5], [5, 0], [0, 5]]
    assert model.transform({"day": make(values)}).ravel().tolist() == [0] * 5 + [1 + step for step in STEP]


@pytest.mark.parametrize("dtype", [pl.Datetime("ms"), pl.Datetime("ms", "UTC"), pl.Duration("ms"), pl.Date])
def test_times_of_polars_as_categories(dtype):
    """Polars looks up no microseconds, which values of Python are, in a column of milliseconds."""
    x = pl.Series("x", [1, 5, 1, 7, None] * 20).cast(pl.Int32 if dtype == pl.Date else pl.Int64).cast(dtype)
    model = optimize({"x": x}, [0, 1, 0, 1, 0] * 20, kinds={"x": "categorical"})
    assert sorted(map(len, model.partitions["x"].groups)) == [2, 2]
    assert Model.from_json(model.to_json()).transform({"x": x}).ravel().tolist() == [0, 1, 0, 1, 0] * 20


def test_nothing_at_all_is_a_column_of_floats():
    model = optimize(pl.DataFrame({"x": [None] * 4}), [0, 1, 0, 1])
    assert model.partitions["x"].bounds.dtype == np.float64


def test_records_and_lists_are_no_classes():
    for target in (pl.Series([{"a": 1}, {"a": 2}]), pl.Series([[1], [2]])):
        with pytest.raises(TypeError, match=r"target holds (Struct|List)\(.*classes are strings"):
            optimize([[1], [2]], target)


def test_a_time_zone_is_an_instant():
    """The same instants in two zones are one column; the hour that a zone skips or repeats is no trouble."""
    instants = pd.Series(pd.date_range("2021-10-31T00:30", periods=10, freq="30min", tz="UTC"))
    model = optimize(instants.rename("t"), STEP)
    for zone in ("Europe/Paris", "Asia/Kolkata", "UTC"):
        assert model.transform(instants.dt.tz_convert(zone)).tolist() == STEP
        other = optimize(instants.dt.tz_convert(zone).rename("t"), STEP)
        assert other.partitions["t"].bounds.tolist() == model.partitions["t"].bounds.tolist()


@pytest.mark.parametrize(
    "naive", [np.array(TIMES, dtype="M8[s]"), pd.Series(TIMES), pl.Series(TIMES), pa.array(TIMES), DAYS], ids=type
)
def test_a_zone_against_none(naive):
    zone = pd.Series(TIMES).dt.tz_localize("UTC")
    with pytest.raises(TypeError, match=r"column 'x0' is without a time zone; the partition with one"):
        optimize(zone, STEP).transform(naive)
    with pytest.raises(TypeError, match=r"column 'x0' is with a time zone; the partition without one"):
        optimize({"x0": naive}, STEP).transform(zone)


def test_dates_against_numbers():
    dates, numbers = np.array(DAYS, dtype="M8[D]"), np.arange(10.0)
    with pytest.raises(TypeError, match=r"column 'x0' holds float64; the partition is of datetime64\[D\]"):
        optimize(dates, STEP).transform(numbers)
    with pytest.raises(TypeError, match=r"column 'x0' holds datetime64\[D\]; the partition is of float64"):
        optimize(numbers, STEP).transform(dates)
    with pytest.raises(TypeError, match=r"column 'x0' holds timedelta64\[D\]; the partition is of datetime64\[D\]"):
        optimize(dates, STEP).transform(dates - dates[0])


@pytest.mark.parametrize("unit", ["D", "h", "s", "ms", "us", "ns"])
@pytest.mark.parametrize("other", ["W", "D", "h", "s", "ms", "us", "ns"])
def test_transform_of_other_units_keeps_each_value_on_its_side(unit, other):
    """Bounds before 1970 and after, values just below, on and just above them, one tick of the finer unit apart."""
    for first in ("1950-03-01", "1969-12-27", "2024-02-25"):
        days = np.datetime64(first, "D") + np.arange(10)
        model = optimize(days.astype(f"M8[{unit}]"), STEP)
        (bound,) = model.partitions["x0"].bounds
        near = bound.astype(f"M8[{other}]") + np.arange(-3, 4)
        assert model.transform(near).tolist() == [int(value > bound) for value in near]


@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
def test_transform_of_dates_beyond_the_bounds_own_type(unit):
    """Nanoseconds end in 2262: a date of 3000 lies above all of them, one of 1600 below."""
    model = optimize((np.datetime64("2020-01-01") + np.arange(10)).astype(f"M8[{unit}]"), STEP)
    assert model.transform(
        np.array(["1600-01-01", "3000-01-01", "0001-01-01", "9999-12-31"], dtype="M8[D]")
    ).tolist() == [0, 1, 0, 1]
    assert model.transform([datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]).tolist() == [0, 1]
    assert model.transform(pl.Series([datetime.date(1, 1, 1), None, datetime.date(9999, 12, 31)])).tolist() == [
        0,
        -1,
        1,
    ]


def test_timestamps_as_objects_keep_their_nanoseconds():
    stamps = objects([pd.Timestamp(i + 1, unit="ns") for i in range(10)])
    model = optimize(stamps, STEP)
    assert model.partitions["x0"].counts.tolist() == [[5, 0], [0, 5]]


DURATIONS = [datetime.timedelta(hours=12 * i - 48) for i in range(10)]


@pytest.mark.parametrize(
    "column",
    [
        DURATIONS,
        objects(DURATIONS),
        np.array(DURATIONS, dtype="m8[s]"),
        pd.Series(DURATIONS),
        pd.Series(DURATIONS).astype("timedelta64[ns]"),
        pd.Series(DURATIONS, dtype="duration[us][pyarrow]"),
        pl.Series(DURATIONS),
        pl.Series(DURATIONS, dtype=pl.Duration("ns")),
        pa.array(DURATIONS),
    ],
    ids=lambda value: f"{type(value).__module__}-{getattr(value, 'dtype', '')}",
)
def test_durations(column):
    model = optimize({"x": column}, STEP)
    partition = model.partitions["x"]
    assert partition.bounds.dtype.kind == "m"
    assert np.timedelta64(0, "h") <= partition.bounds[0] < np.timedelta64(12, "h")
    assert partition.labels == ["(-inf, 06:00:00]", "(06:00:00, inf)"]
    assert model.transform({"x": column}).ravel().tolist() == STEP


def test_missing_durations():
    for column in (
        pl.Series([None, None, *DURATIONS]),
        pd.Series([None, None, *DURATIONS]),
        pa.array([None, None, *DURATIONS]),
        [None, None, *DURATIONS],
        masked([None, None, *[np.timedelta64(d, "ns") for d in DURATIONS]], "m8[ns]", np.timedelta64(0, "ns")),
    ):
        model = optimize({"x": column}, [0, 0, *STEP])
        assert model.partitions["x"].labels == ["(-inf, 06:00:00] or missing", "(06:00:00, inf)"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5.5, "-00:00:05.5"),
        (0, "00:00:00"),
        (86400, "1 day"),
        (-2 * 86400 - 3600, "-2 days 01:00:00"),
        (1e-9, "00:00:00.000000001"),
    ],
)
def test_durations_in_words(seconds, text):
    from gridmodl import Model

    bound = np.timedelta64(round(seconds * 1e9), "ns")
    column = np.array([bound, bound + np.timedelta64(1, "ns")])
    model = Model.from_partitions(column, [0, 1], {"x0": [bound]})
    assert model.partitions["x0"].labels == [f"(-inf, {text}]", f"({text}, inf)"]


@pytest.mark.parametrize(
    ("bound", "text"),
    [
        ("2020-02-29T00:00:00.000000000", "2020-02-29"),
        ("2020-02-29T12:00:00.000000000", "2020-02-29T12:00"),
        ("2020-02-29T12:00:01.000000000", "2020-02-29T12:00:01"),
        ("2020-02-29T12:00:00.250000000", "2020-02-29T12:00:00.250"),
        ("2020-02-29T12:00:00.000000001", "2020-02-29T12:00:00.000000001"),
        ("1969-12-31T23:59:59.999999999", "1969-12-31T23:59:59.999999999"),
    ],
)
def test_dates_in_words(bound, text):
    from gridmodl import Model

    bound = np.datetime64(bound)
    column = np.array([bound, bound + np.timedelta64(1, "ns")])
    model = Model.from_partitions(column, [0, 1], {"x0": [bound]})
    assert model.partitions["x0"].labels == [f"(-inf, {text}]", f"({text}, inf)"]
    zone = pd.Series(column).dt.tz_localize("UTC")
    model = Model.from_partitions({"x0": zone}, [0, 1], {"x0": [bound]})
    z = "Z" if "T" in text else ""
    assert model.partitions["x0"].labels == [f"(-inf, {text}{z}]", f"({text}{z}, inf)"]


def test_labels_of_dates_tell_bounds_apart():
    from gridmodl import Model

    column = np.array(["2020-01-01T00", "2020-01-01T06", "2020-01-02T00"], dtype="M8[h]")
    labels = Model.from_partitions(column, [0, 1, 0], {"x0": column[:2]}).partitions["x0"].labels
    assert len(set(labels)) == 3
    assert labels[1] == "(2020-01-01T00:00, 2020-01-01T06:00]"


def test_missing_values_among_a_list_of_texts():
    model = optimize(["a", np.nan, "b", None] * 10, [0, 1, 0, 1] * 10)
    assert model.partitions["x0"].groups == (("a", "b"), (None,))


def test_moments_with_a_time_zone_as_objects_bounds_and_codes():
    moments = pd.date_range("2020-01-01", periods=20, tz="Europe/Paris")
    target = [0] * 10 + [1] * 10
    frame = pd.DataFrame({"at": moments})
    expected = optimize(frame, target).partitions["at"]
    objects = optimize(pd.DataFrame({"at": moments.astype(object)}), target).partitions["at"]
    assert objects.labels == expected.labels
    assert expected.is_utc
    bound = datetime.datetime(2020, 1, 5, tzinfo=datetime.UTC)
    model = optimize(frame, target).edit("at", bounds=[bound])
    assert model.partitions["at"].labels == ["(-inf, 2020-01-05]", "(2020-01-05, inf)"]
    with pytest.raises(TypeError, match="time zone"):
        optimize(pd.DataFrame({"at": moments.tz_localize(None)}), target).edit("at", bounds=[bound])


@pytest.mark.parametrize("frame", ["spark", "nothing", 5])
def test_tables_of_frames_that_are_not_there(frame):
    with pytest.raises(ValueError, match="frame must be one of 'pandas'"):
        optimize([1.0, 2.0], [0, 1]).table(frame=frame)
