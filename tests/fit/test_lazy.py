"""Lazy frames: counted on their engine, with the model of the rows; spans of values where a column has many."""

from __future__ import annotations

import datetime as dt

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from oracles.lazy_frames import ENGINES, as_duckdb, as_polars, collect, connection, long_column, mixed, record

import gridmodl
from gridmodl import count, optimize, optimize_each, price
from gridmodl.data.remote.counting import counted
from gridmodl.data.remote.queries import HIGH, LOW, ROWS, EngineError
from gridmodl.data.remote.rows import lazy_rows
from gridmodl.fit.lazy import data as lazy_data


@ENGINES
def test_few_values_give_the_model_of_the_rows(engine):
    data = mixed()
    expected = optimize_each(data.drop("w"), "y", special={"real": [-999]})
    found = optimize_each(engine(data.drop("w")), "y", special={"real": [-999]}, on_error="raise")
    assert list(found) == list(expected)
    for name, model in expected.items():
        assert record(found[name]) == record(model), name
        assert found[name].resolution == 0
        assert found[name].proven


@ENGINES
def test_weights_are_a_column(engine):
    data = mixed().select("real", "text", "w", "y")
    expected = optimize_each(data, "y", weights="w")
    found = optimize_each(engine(data), "y", weights="w")
    assert {name: record(model) for name, model in found.items()} == {
        name: record(model) for name, model in expected.items()
    }


@ENGINES
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (pl.Series([2**62] * 4 + [1, 1, 1]), "weights sum to more than 9007199254740991 rows"),  # 3, if it wraps around
        (pl.Series([1e300] * 7), "weights sum to more than 9007199254740991 rows"),
        (pl.Series(["0.5"] * 7).cast(pl.Decimal(9, 1)), "weights must be whole numbers"),
        (pl.Series([float("nan")] + [1.0] * 6), "weights must be whole numbers"),
        (pl.Series([float("inf")] + [1.0] * 6), "weights must be whole numbers"),
    ],
)
def test_weights_that_cannot_be_counted(engine, weights, message):
    data = pl.DataFrame({"x": [1.0] * 4 + [2.0, 3.0, 4.0], "z": range(7), "y": [0] * 5 + [1, 1], "w": weights})
    model = optimize(data.select("x", "y"), "y")
    for frame in (data, engine(data)):
        with pytest.raises(ValueError, match=message):
            optimize_each(frame, "y", weights="w")
        with pytest.raises(ValueError, match=message):
            optimize(frame, "y", weights="w")
        with pytest.raises(ValueError, match=message):
            gridmodl.count(frame, "y", weights="w")
        with pytest.raises(ValueError, match=message):
            model.compare(frame, "y", weights="w")


@ENGINES
def test_bounds_of_short_floats_are_short_floats(engine):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    x = np.round(rng.normal(size=500) + 2 * y, 2).astype(np.float32)
    data = pl.DataFrame({"x": x, "y": y})
    expected, found = optimize(data, "y"), optimize(engine(data), "y")
    assert expected.partitions["x"].bounds.dtype == np.float32
    assert record(found) == record(expected)
    assert (gridmodl.count(data, "y") + gridmodl.count(engine(data), "y")).n_rows == 1000


@ENGINES
@pytest.mark.parametrize(
    "options",
    [
        {"missing": "apart", "min_rows": 20},
        {"monotone": "increasing", "event": "yes"},
        {"max_parts": 2},
        {"unlabelled": "no"},
        {"fixed": [0.5]},
        {"target_kind": "grouped"},
        {"criterion": "bic"},
    ],
)
def test_options_are_those_of_rows(engine, options):
    data = mixed().select("real", "y")
    assert record(optimize(engine(data), "y", **options)) == record(optimize(data, "y", **options))


@ENGINES
def test_many_values_are_counted_in_spans(engine, monkeypatch):
    monkeypatch.setattr(lazy_data, "MAX_GROUPS", 256)
    data = long_column()
    best, found = optimize(data, "y"), optimize(engine(data), "y")
    assert found.resolution > 0
    assert (found.proven, found.gap) == (False, None)
    assert "values counted together in up to" in found.summary()
    assert best.cost <= found.cost + 1e-9 <= best.cost + 15.0
    assert price(data, "y", found.partitions) == pytest.approx(found.cost, rel=1e-12)
    values = np.sort(data["x"].drop_nans().to_numpy())
    for bound in found.partitions["x"].bounds:  # in the middle of two neighbours, as for rows
        at = np.searchsorted(values, bound)
        assert bound == pytest.approx((values[at - 1] + values[at]) / 2, rel=1e-9)
    assert gridmodl.Model.from_json(found.to_json()).resolution == found.resolution


def test_spans_do_not_depend_on_the_engine_or_the_order_of_rows(monkeypatch):
    monkeypatch.setattr(lazy_data, "MAX_GROUPS", 256)
    data = long_column()
    expected = record(optimize(as_polars(data), "y"))
    assert record(optimize(as_duckdb(data), "y")) == expected
    assert record(optimize(as_duckdb(data.sample(fraction=1.0, shuffle=True, seed=1)), "y")) == expected


def test_bounds_of_the_user_divide_spans(monkeypatch):
    monkeypatch.setattr(lazy_data, "MAX_GROUPS", 64)
    data = long_column()
    found = optimize(as_polars(data), "y", fixed=[0.5, 2.0])
    assert {0.5, 2.0} <= set(found.partitions["x"].bounds.tolist())
    assert price(data, "y", found.partitions) == pytest.approx(found.cost, rel=1e-12)


@pytest.mark.parametrize(
    "values",
    [
        np.exp(np.random.default_rng(0).normal(size=3000) * 4),
        np.random.default_rng(1).integers(0, 2**62, 3000),
        np.datetime64("2024-01-01", "us") + np.random.default_rng(2).integers(0, 10**14, 3000),
        np.append(np.zeros(2000), np.random.default_rng(3).normal(size=1000)),
        np.random.default_rng(4).integers(0, 10**9, 3000).astype("timedelta64[us]"),
        np.full(100, 7.5),
    ],
)
def test_counts_of_spans_are_those_of_rows(values):
    data = pl.DataFrame({"x": values, "y": np.arange(len(values)) % 3})
    of_column = lazy_rows(nw.from_native(data.lazy()), "x", "y", None, len(values))
    counts = counted(of_column, [], 128, by_value=True).counts
    low, high, rows = (counts[name].to_numpy() for name in (LOW, HIGH, ROWS))
    classes = counts["gridmodl_class"].to_numpy()
    for one in set(zip(low.tolist(), high.tolist(), strict=True)):
        inside = (values >= low.dtype.type(low[low.tolist().index(one[0])])) & (
            values <= high.dtype.type(high[high.tolist().index(one[1])])
        )
        mine = (low == low[low.tolist().index(one[0])]) & (high == high[high.tolist().index(one[1])])
        for j in range(3):
            assert rows[mine & (classes == j)].sum() == np.count_nonzero(inside & (data["y"].to_numpy() == j))
    assert rows.sum() == len(values)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"target": np.zeros(4)}, TypeError, "target must be the name of one of its columns"),
        ({"target": "z"}, ValueError, "'z'"),
        ({"target": "y", "weights": [1, 2, 3, 4]}, TypeError, "weights must be the name of one of its columns"),
        (
            {"target": "y", "weights": "w"},
            ValueError,
            "weights must be whole numbers, 0 or more; column 'w' has others",
        ),
        (
            {"target": "y", "weights": "v"},
            ValueError,
            "weights must be whole numbers, 0 or more; column 'v' has others",
        ),
        ({"target": "y", "max_parts": {"z": 2}}, ValueError, "'z'"),
    ],
)
def test_arguments_that_lazy_frames_do_not_take(arguments, error, message):
    data = pl.LazyFrame({"x": [1.0, 2.0, 3.0, 4.0], "w": [1, 1, -1, 1], "v": [1.0, 2.5, 1.0, 0.0], "y": [0, 0, 1, 1]})
    target = arguments.pop("target")
    with pytest.raises(error, match=message):
        optimize_each(data, target, **arguments)


def test_no_rows():
    with pytest.raises(ValueError, match="data has no rows"):
        optimize(pl.LazyFrame({"x": [], "y": []}, schema={"x": pl.Float64, "y": pl.Int64}), "y")


def test_rows_that_change_between_queries_are_an_error():
    taken = []

    def fewer(frame):
        taken.append(1)
        return frame.head(len(frame) - len(taken))

    changing = mixed().select("real", "y").lazy().map_batches(fewer)
    with pytest.raises(EngineError, match="have changed between two queries"):
        optimize(changing, "y")


def test_an_engine_that_fails_names_the_column():
    failing = (
        mixed()
        .select("real", "y")
        .lazy()
        .with_columns(pl.col("real").map_batches(lambda s: 1 / 0, return_dtype=pl.Float64))
    )
    with pytest.raises(EngineError, match="failed to count column"):
        optimize(failing, "y")


def test_a_column_that_fails_leaves_the_others():
    data = mixed().select("real", "text", "y").with_columns(pl.struct("real").alias("odd")).lazy()
    with pytest.warns(gridmodl.ColumnWarning, match="'odd'"):
        models = optimize_each(data, "y")
    assert set(models) == {"real", "text"}
    assert set(models.errors) == {"odd"}


@ENGINES
@pytest.mark.parametrize("encode", ["ordinal", "onehot", "woe"])
def test_transform_of_lazy_frames(engine, encode):
    data = mixed().drop("w", "price")
    models = optimize_each(data, "y", special={"real": [-999]}, event="yes")
    new = data.with_columns(text=pl.when(pl.col("flag")).then(pl.lit("new")).otherwise(pl.col("text")))
    expected, found = models.transform(new, encode=encode), collect(models.transform(engine(new), encode=encode))
    assert found.columns == expected.columns
    for name in expected.columns:
        np.testing.assert_array_equal(found[name].to_numpy(), expected[name].to_numpy())


@ENGINES
def test_probabilities_of_lazy_frames(engine):
    data = mixed().drop("w", "price")
    models = optimize_each(data, "y", special={"real": [-999]})
    for name, model in models.items():
        found = collect(model.predict_proba(engine(data)))
        assert found.columns == ["p_no", "p_yes"]
        np.testing.assert_array_equal(found.to_numpy(), model.predict_proba(data))
        np.testing.assert_array_equal(collect(model.transform(engine(data)))[name], model.transform(data[name]))


def two_days(zone):
    """Times of two days every 20 minutes; in Paris one hour is there twice."""
    times = pl.datetime_range(dt.datetime(2021, 10, 30), dt.datetime(2021, 11, 1), "20m", eager=True, time_zone="UTC")
    return pl.DataFrame({"at": times.dt.convert_time_zone(zone), "y": times.dt.hour() == 0})


def test_spans_of_times_do_not_depend_on_the_zone():
    spans = []
    for zone in ("UTC", "Europe/Paris"):
        rows = lazy_rows(nw.from_native(two_days(zone).lazy()), "at", "y", None, 145)
        counts = counted(rows, [], 8, by_value=True).counts
        spans.append([sorted(moment.timestamp() for moment in counts[name].to_list()) for name in (LOW, HIGH)])
    assert spans[0] == spans[1]


def test_spans_of_times_of_a_session_that_is_not_in_utc(monkeypatch):
    monkeypatch.setattr(lazy_data, "MAX_GROUPS", 8)
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'Europe/Paris'")
    with pytest.raises(ValueError, match=r"more than 8 times of the zone Europe/Paris.*SET TimeZone = 'UTC'"):
        optimize(connection.from_arrow(two_days("UTC").to_arrow()), "y")
    connection.execute("SET TimeZone = 'UTC'")
    assert optimize(connection.from_arrow(two_days("UTC").to_arrow()), "y").resolution > 1


@ENGINES
def test_transform_of_times_with_a_zone(engine):
    hours = pl.datetime_range(dt.datetime(2021, 10, 30), dt.datetime(2021, 11, 1), "20m", eager=True, time_zone="UTC")
    is_late = hours > dt.datetime(2021, 10, 31, 0, 30, tzinfo=dt.UTC)
    data = pl.DataFrame({"at": hours.dt.convert_time_zone("Europe/Paris"), "y": is_late})  # an hour is there twice
    model = optimize_each(engine(data), "y")["at"]
    assert model.partitions["at"].n_parts == 2
    found = collect(model.transform(engine(data)))["at"]
    np.testing.assert_array_equal(found, data["y"].cast(int))
    without = data.with_columns(pl.col("at").dt.replace_time_zone(None, ambiguous="earliest"))
    with pytest.raises(TypeError, match="column 'at' is without a time zone; the partition with one"):
        model.transform(engine(without))


def test_lazy_frames_cannot_stop_at_a_value():
    model = optimize(mixed().select("text", "y"), "y")
    with pytest.raises(ValueError, match="unknown='error' is not for a lazy frame"):
        model.transform(mixed().lazy(), unknown="error")


def test_results_are_of_the_library_of_the_data():
    data = mixed().select("real", "y")
    model = optimize(data, "y")
    assert isinstance(model.transform(data.lazy()), pl.LazyFrame)
    assert isinstance(model.transform(as_duckdb(data)), duckdb.DuckDBPyRelation)
    assert isinstance(model.transform(pd.DataFrame({"real": [1.0]})), np.ndarray)


@ENGINES
def test_files_of_numerical_targets_are_those_of_rows(engine):
    """Means too, to the last digit, whatever the order of the rows, and with weights."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=300).round(1)
    data = pl.DataFrame({"x": x, "w": rng.integers(0, 4, 300), "y": (x + rng.normal(size=300)).round(2)})
    assert record(optimize(engine(data.drop("w")), "y")) == record(optimize(data.drop("w"), "y"))
    assert record(optimize(engine(data), "y", weights="w")) == record(optimize(data, "y", weights="w"))


def of_durations(n=300):
    rng = np.random.default_rng(0)
    x = rng.integers(-40, 40, n)
    spans = [None if i % 20 == 0 else dt.timedelta(seconds=1000 * int(v), microseconds=int(v)) for i, v in enumerate(x)]
    return pl.DataFrame({"took": spans, "y": x > 3})


@ENGINES
def test_durations(engine, monkeypatch):
    """Those of DuckDB come as intervals of months, days and nanoseconds."""
    data = of_durations()
    model = optimize(data, "y")
    lazy = engine(data)
    assert record(optimize(lazy, "y")) == record(model)
    assert record(optimize(gridmodl.count(lazy, "y"))) == record(model)
    assert gridmodl.verify(model, lazy, "y").valid
    np.testing.assert_array_equal(collect(model.transform(lazy)), model.transform(data))
    special = {"took": [dt.timedelta(seconds=10_000, microseconds=10)]}
    assert record(optimize(lazy, "y", special=special)) == record(optimize(data, "y", special=special))
    monkeypatch.setattr(lazy_data, "MAX_GROUPS", 16)
    assert record(optimize(lazy, "y")) == record(optimize(data.lazy(), "y"))


def test_intervals_of_months_have_no_length():
    months = connection().sql("SELECT to_months(i::INT) AS took, i > 3 AS y FROM range(9) t(i)")
    with pytest.raises(EngineError, match="column 'took' was counted with intervals of months, which have no length"):
        optimize(months, "y")
    days = connection().sql("SELECT to_days(i::INT) AS took, i > 30 AS y FROM range(99) t(i)")
    assert optimize(days, "y").partitions["took"].bounds.tolist() == [dt.timedelta(days=30, hours=12)]


@ENGINES
@pytest.mark.parametrize("weights", [None, "w"])
def test_rows_without_a_class_are_counted(engine, weights):
    """An error says how many rows have no class, not how many groups of equal rows."""
    data = mixed().select("real", "text", "w", "y")
    data = data if weights else data.drop("w")
    whole, lacking = data, data.with_columns(pl.when(pl.int_range(len(data)) % 3 > 0).then("y").alias("y"))
    n_rows, n_missing = len(data), lacking["y"].null_count()
    if weights:
        n_rows, n_missing = data["w"].sum(), data.filter(lacking["y"].is_null())["w"].sum()
    message = f"^target has {n_missing} missing values of {n_rows}; drop those rows"
    for names in (["real"], ["real", "text"]):
        others = ["y"] if weights is None else ["w", "y"]
        model = optimize(whole.select(*names, *others), "y", weights=weights)
        for rows in (lacking.select(*names, *others), engine(lacking.select(*names, *others))):
            with pytest.raises(ValueError, match=message):
                optimize(rows, "y", weights=weights)
            with pytest.raises(ValueError, match=message):
                gridmodl.verify(model, rows, "y", weights=weights)


@ENGINES
def test_weights_that_are_texts(engine):
    with pytest.raises(TypeError, match="weights must be a column of whole numbers; column 'text' holds String"):
        optimize(engine(mixed().select("real", "text", "y")), "y", weights="text")


def numbers(n):
    return connection().table_function("range", [n]).project("range AS i")


def test_uuids_of_duckdb_are_texts():
    """Narwhals has no such type, and DuckDB compares no texts with them."""
    uuid = "('00000000-0000-0000-0000-00000000000' || i % 5)::UUID"
    rows = numbers(200).project(f"{uuid} AS x, i % 5 < 2 AS y")
    model = optimize(rows, "y")
    assert record(model) == record(optimize(rows.project("x::VARCHAR AS x, y").pl(), "y"))
    assert np.bincount(collect(model.transform(rows))["x"]).tolist() == model.partitions["x"].rows.tolist()
    assert len(collect(model.predict_proba(rows))) == 200


@pytest.mark.parametrize("value", ["340282366920938463463374607431768211455::UHUGEINT", "(-1.5e38)::HUGEINT"])
def test_integers_of_too_many_digits_for_duckdb_to_return(value):
    rows = numbers(20).project(f"{value} AS x, i % 2 AS y")
    with pytest.raises(EngineError, match="column 'x' was counted with integers of more than 38 digits"):
        optimize(rows, "y")
    rows = numbers(20).project(f"i * 1{35 * '0'}::HUGEINT AS x, i % 2 AS y")
    assert len(optimize(rows, "y", kinds={"x": "categorical"}).partitions["x"].listed[0]) == 20


@pytest.mark.parametrize(
    "day", ["DATE '2500000-01-01' + i::INT", "TIMESTAMP '0044-03-15 (BC) 00:00:00' + to_days(i::INT)"]
)
def test_bounds_that_no_expression_holds(day):
    rows = numbers(40).project(f"{day} AS x, i > 20 AS y")
    model = optimize(rows, "y")
    assert model.informative == ["x"]
    with pytest.raises(ValueError, match="is not in the years 1 to 9999"):
        model.transform(rows)


@ENGINES
def test_columns_with_the_names_of_steps(engine):
    real = pl.col("real").floor()
    data = mixed().select("y", gridmodl_step_0=real, GRIDMODL_STEP_1=-real)
    average = gridmodl.average_each(data, "y")
    found = collect(average.predict_proba(engine(data)))
    np.testing.assert_allclose(found, np.column_stack(list(average.predict_proba(data).values())), rtol=1e-12)


@ENGINES
@pytest.mark.parametrize("function", [optimize, lambda data, y: gridmodl.count(data, y, on_error="raise")])
def test_lists_and_records(engine, function):
    data = mixed().select("real", "y", odd=pl.concat_list("flag"))
    with pytest.raises(TypeError, match=r"column 'odd' holds List\(Boolean\); gridmodl takes"):
        function(engine(data.select("odd", "y")), "y")
    with pytest.raises(TypeError, match=r"target holds List\(Boolean\); classes are"):
        function(engine(data.select("odd", "real")), "odd")


@pytest.mark.parametrize("what", ["fixed", "allowed"])
@ENGINES
def test_bounds_of_dates_may_be_texts(engine, what):
    data = mixed().select("day", "real", "y")
    options = {what: {"day": ["2024-01-03", "2024-01-07"]}}
    for rows in (data.select("day", "y"), data):
        expected = record(optimize(rows, "y", **options))
        assert record(optimize(engine(rows), "y", **options)) == expected
    counts = count(engine(data.select("day", "y")), "y", max_groups=16)
    with pytest.raises(ValueError, match="bound '2024-01-03' of column 'day' lies in a span"):
        optimize(counts, **options)
