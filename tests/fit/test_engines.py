"""Every engine that narwhals has lazy frames of: model files, grids, counts and predictions are those of the rows.

Rows are read from Parquet files, in another order and in several partitions.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import duckdb
import numpy as np
import polars as pl
import pytest
from oracles.lazy_frames import collect, long_column, mixed, record

import gridmodl
from gridmodl import average_each, count, optimize, optimize_each, price, verify
from gridmodl.data.remote import counting
from gridmodl.data.remote.queries import EngineError
from gridmodl.fit.lazy import data as lazy_data
from gridmodl.fit.lazy import grid as lazy_grid

pytestmark = [
    # Spark, Dask and Ibis ask libraries for what they will not have for long.
    pytest.mark.filterwarnings("ignore::FutureWarning:pyspark"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:pyspark"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.reset_index"),
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),
]


def polars_frame(path, request):
    return pl.scan_parquet(path)


def duckdb_frame(path, request):
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    return connection.read_parquet(path)


def ibis_frame(path, request):
    ibis = pytest.importorskip("ibis", reason='needs pip install "ibis-framework[duckdb]"')
    connection = ibis.duckdb.connect()
    connection.raw_sql("SET TimeZone = 'UTC'")
    return connection.read_parquet(path)


def dask_frame(path, request):
    dask = pytest.importorskip("dask.dataframe", reason='needs pip install "dask[dataframe]"')
    return dask.read_parquet(path, dtype_backend="pyarrow").repartition(npartitions=3)


def spark_frame(path, request):
    return request.getfixturevalue("spark").read.parquet(path)


ENGINES = {"polars": polars_frame, "duckdb": duckdb_frame, "ibis": ibis_frame, "dask": dask_frame, "spark": spark_frame}
# Ibis writes numbers as decimals, of which DuckDB makes floats that may differ in the last digit.
LAST_DIGIT = {"ibis": 4e-16}


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in ENGINES])
def engine(request, tmp_path):
    """Function that returns a lazy frame of the rows of a frame: shuffled, from two files."""
    n_made = 0

    def made(data):
        nonlocal n_made
        n_made += 1
        shuffled = data.sample(fraction=1.0, shuffle=True, seed=n_made)
        for i, some in enumerate((shuffled.head(len(data) // 3), shuffled.tail(-(len(data) // 3)))):
            some.write_parquet(tmp_path / f"{n_made}-{i}.parquet")
        return ENGINES[request.param](str(tmp_path / f"{n_made}-*.parquet"), request)

    made.name = request.param
    return made


def of_all_types(n=600):
    """Columns of all types, each with missing values."""
    data = mixed(n)
    lacks = pl.int_range(n) % 37 == 5
    return data.with_columns(
        pl.when(~lacks).then(pl.col("flag", "day", "price")),
        zoned=pl.when(~lacks).then(pl.col("moment").dt.replace_time_zone("UTC")),
        short=pl.when(~lacks).then(pl.col("real").cast(pl.Float32)),
        huge=pl.col("real") * 1e308,
        tiny=pl.col("w").cast(pl.Int8),
    )


def records(models):
    return {name: record(model) for name, model in models.items()}


def test_models_of_columns_of_all_types(engine):
    data, options = of_all_types(), {"weights": "w", "special": {"real": [-999], "price": [0]}}
    expected = optimize_each(data, "y", **options)
    found = optimize_each(engine(data), "y", on_error="raise", **options)
    assert records(found) == records(expected)
    assert all(model.proven for model in found.values())


def test_names_that_an_engine_reads_as_more(engine):
    """Polars and Spark read patterns and fields of records."""
    names = {"real": "^x$", "price": "*", "text": "a.b", "flag": "a`b", "w": "w.`", "y": "y.`"}
    data = mixed().select(x=pl.col("whole")).with_columns(mixed().select(*names).rename(names))
    options = {"weights": "w.`"}
    if engine.name == "duckdb":
        with pytest.raises(EngineError, match=r"DuckDB reads the name '\*' as all columns"):
            optimize_each(engine(data), "y.`", on_error="raise", **options)
        data = data.rename({"*": "* "})
    expected = optimize_each(data, "y.`", **options)
    found = optimize_each(engine(data), "y.`", on_error="raise", **options)
    assert records(found) == records(expected)
    some = data.select("^\\^x\\$$", "a.b", "y.`", "w.`")
    assert record(optimize(engine(some), "y.`", **options)) == record(optimize(some, "y.`", **options))
    parts, shares = collect(found.transform(engine(data))), collect(found.predict_proba(engine(data)))
    assert parts.width == len(found)
    assert shares.height == len(data)
    for part, (name, model) in zip(parts, found.items(), strict=True):
        expected_rows = np.bincount(model.transform(data[name]), minlength=20)
        np.testing.assert_array_equal(np.bincount(part.to_numpy(), minlength=20), expected_rows)
    here, there = (found.compare(one, "y.`", **options) for one in (data, engine(data)))
    assert all(here.table(name, frame="polars").equals(there.table(name, frame="polars")) for name in found)


@pytest.mark.xdist_group("spark")
def test_times_of_a_spark_session_whose_zone_has_changed(spark, tmp_path, monkeypatch):
    """Clocks show an hour twice, which keys of spans cannot tell apart."""
    moment = pl.Series([dt.datetime(2024, 11, 3) + dt.timedelta(minutes=i) for i in range(1200)])
    data = pl.DataFrame({"t": moment, "y": (pl.int_range(1200, eager=True) > 342).cast(int)})
    data.with_columns(pl.col("t").dt.replace_time_zone("UTC")).write_parquet(tmp_path / "rows.parquet")
    rows = spark.read.parquet(str(tmp_path / "rows.parquet"))
    monkeypatch.setattr(lazy_data, "MAX_GROUPS", 64)
    expected = record(optimize(rows, "y"))  # narwhals has seen UTC
    try:
        spark.conf.set("spark.sql.session.timeZone", "America/New_York")
        with pytest.raises(ValueError, match=r"times of the zone America/New_York.* set the time zone of its session"):
            optimize(rows, "y")
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert record(optimize(rows, "y")) == expected


def test_models_of_rows_of_pandas():
    data = mixed().drop("whole", "day", "price")  # pandas has no such types
    options = {"weights": "w", "special": {"real": [-999]}}
    assert records(optimize_each(data.to_pandas(), "y", **options)) == records(optimize_each(data, "y", **options))


@pytest.mark.parametrize(
    "options", [{"unlabelled": None}, {"unlabelled": "no", "missing": "apart"}, {"target_kind": "grouped"}]
)
def test_options_of_models(engine, options):
    data = mixed().select("real", "y")
    if options.get("unlabelled", "") is None:
        data = data.with_columns(y=pl.when(pl.int_range(len(data)) % 3 > 0).then("y"))
    assert record(optimize(engine(data), "y", **options)) == record(optimize(data, "y", **options))


def test_models_of_more_values_than_groups(engine, monkeypatch):
    monkeypatch.setattr(lazy_data, "MAX_GROUPS", 256)
    data = long_column()
    number = (pl.col("x") * 1e9).fill_nan(7).cast(pl.Int64)
    data = data.with_columns(
        pl.when(pl.int_range(len(data)) % 9 == 0).then(-1.0).otherwise("x").alias("x"),
        moment=dt.datetime(2024, 1, 1) + pl.duration(microseconds=number),
        day=dt.date(2024, 1, 1) + pl.duration(days=number % 30_011),
        long=2**60 + number,
    )
    found = optimize_each(engine(data), "y", special={"x": [-1.0]}, on_error="raise")
    assert all(model.resolution > 0 for model in found.values())
    assert records(found) == records(optimize_each(data.lazy(), "y", special={"x": [-1.0]}))


def test_grids_by_value_and_pairs(engine):
    data = of_all_types().select("real", "whole", "text", "flag", "zoned", "y")
    assert record(optimize(engine(data), "y")) == record(optimize(data, "y"))
    for pair in (["real", "text"], ["whole", "zoned"]):
        rows = data.select(pair)
        assert record(optimize(engine(rows))) == record(optimize(rows))


def test_grids_of_a_sample(engine, monkeypatch):
    monkeypatch.setattr(lazy_grid, "MAX_CELLS", 100)
    monkeypatch.setattr(lazy_grid, "SAMPLE_ROWS", 1000)
    rng = np.random.default_rng(0)
    data = long_column().with_columns(
        z=pl.Series(rng.normal(size=4000)), town=pl.Series(rng.choice(["Bonn", "Łódź", "東京", None], 4000))
    )
    found = optimize(engine(data), "y")
    assert found.sample_rows > 0
    assert record(found) == record(optimize(data.lazy(), "y"))


def as_day(days):
    return dt.date(2024, 1, 1) + dt.timedelta(days)


def as_moment(seconds):
    return dt.datetime(2024, 1, 1) + dt.timedelta(seconds=seconds)


@pytest.mark.parametrize("as_value", [str, int, float, Decimal, as_day, as_moment])
def test_grids_of_rare_categories(engine, as_value, monkeypatch):
    monkeypatch.setattr(counting, "MAX_VALUES", 50)
    monkeypatch.setattr(lazy_data, "MAX_GROUPS", 10)
    monkeypatch.setattr(lazy_grid, "MAX_CELLS", 100)
    monkeypatch.setattr(lazy_grid, "SAMPLE_ROWS", 700)
    rng = np.random.default_rng(0)
    number = np.minimum(199, rng.geometric(0.1, 2000))
    number[:200] = np.tile(np.arange(100, 200), 2)
    values = [None if i % 11 == 0 else as_value(one) for i, one in enumerate(number.tolist())]
    z = rng.normal(size=2000).round(2)
    y = np.where(rng.random(2000) < np.where((number < 4) == (z > 0), 0.9, 0.1), "yes", "no")
    data = pl.DataFrame({"x": values, "z": z, "y": y})
    options = {"kinds": {"x": "categorical"}, "search": gridmodl.Search(effort=1), "random_state": 0}
    if engine.name == "dask" and data.schema["x"] not in (pl.String, pl.Int64, pl.Float64):
        with pytest.raises(EngineError, match=r"Dask has no constants of .*; cast the column to text"):
            optimize(engine(data), "y", **options)
        return
    model = optimize(engine(data), "y", **options)
    assert model.partitions["x"].others is not None
    assert model.informative == ["x", "z"]
    assert record(model) == record(optimize(data.lazy(), "y", **options))
    assert verify(model, engine(data), "y")
    alone = optimize(engine(data.select("x", "y")), "y", kinds={"x": "categorical"})
    assert alone.partitions["x"].others is not None
    assert record(alone) == record(optimize(data.select("x", "y").lazy(), "y", kinds={"x": "categorical"}))
    parts = collect(model.transform(engine(data)))["x"].to_numpy()
    np.testing.assert_array_equal(np.bincount(parts), model.partitions["x"].rows)


@pytest.mark.parametrize("in_buckets", [False, True])
def test_numerical_targets(engine, in_buckets, monkeypatch):
    if in_buckets:
        monkeypatch.setattr(lazy_data, "JOINT_ROWS", 100)
        monkeypatch.setattr(lazy_data, "JOINT_GROUPS", 64)
    rng = np.random.default_rng(1)
    data = mixed(1000).select("real", "text")
    data = data.with_columns(z=pl.Series(rng.normal(size=1000)) + (pl.col("real").fill_nan(0) > 0.3) * 3)
    found = optimize_each(engine(data), "z", on_error="raise")
    expected = optimize_each(data.lazy() if in_buckets else data, "z")
    for name, model in records(found).items():
        other = record(expected[name])
        assert (model["resolution"] > 0) == in_buckets
        for field in ("means", "percentiles")[: 1 + in_buckets]:  # of sums whose order the engine chooses
            assert np.allclose(model["spread"].pop(field), other["spread"].pop(field), rtol=1e-12)
        assert model == other


def assert_same_rows(engine, lazy, expected):
    """Check that the rows of a lazy result are those of a matrix, in any order."""
    found = collect(lazy).to_numpy()
    found, expected = (rows[np.lexsort(rows.T)] for rows in (found, expected))
    np.testing.assert_allclose(found, expected, rtol=LAST_DIGIT.get(engine.name, 0.0), atol=0.0)


def test_predictions(engine):
    data = of_all_types().select("real", "whole", "text", "flag", "day", "zoned", "y")
    new = data.with_columns(text=pl.when(pl.col("flag")).then(pl.lit("new")).otherwise("text"))
    models = optimize_each(data, "y", special={"real": [-999]})
    grid = optimize(data.select("real", "text", "zoned", "y"), "y")
    frame = engine(new)
    for found, expected in (
        (models.transform(frame), models.transform(new)),
        (grid.predict_proba(frame), grid.predict_proba(new)),
    ):
        assert type(found) is type(frame)
        assert_same_rows(engine, found, np.asarray(expected))
    found = collect(grid.predict(frame))["prediction"]
    assert sorted(found) == sorted(grid.predict(new))


def test_zeros_of_both_signs_are_one_category(engine):
    x = np.tile([-0.0, 0.0, 1.5, 2.5], 100)
    data = pl.DataFrame({"x": x, "y": (x == 0).astype(int)})
    model = optimize(data, "y", kinds={"x": "categorical"})
    assert sorted(map(len, model.partitions["x"].groups)) == [1, 2]
    assert_same_rows(engine, model.transform(engine(data)), model.transform(data))


def of_segments(average):
    """Take the segments, which are a model, out of the record of an average."""
    return {name: value for name, value in average.pop("segments").items() if name not in ("elapsed", "frame")}


def test_averages(engine):
    data = mixed().select(pl.col("real").floor(), "text", "y")
    options = {"special": {"real": [-999]}, "order": {"text": ["Ä", "b", "日本"]}}
    expected = average_each(data, "y", **options)
    frame = engine(data)
    found = average_each(frame, "y", on_error="raise", **options)
    assert list(found) == ["real", "text"]
    for name in found:
        own, other = record(found[name]), record(expected[name])
        assert of_segments(own) == of_segments(other)
        assert own == other
    assert_same_rows(engine, found.predict_proba(frame), np.column_stack(list(expected.predict_proba(data).values())))
    np.testing.assert_allclose(
        np.sort(collect(found.transform(frame)).to_numpy(), axis=0),
        np.sort(expected.transform(data).to_numpy(), axis=0),
        atol=1e-12,
    )


def test_comparisons(engine):
    data = of_all_types().drop("w")
    data = data.select("real", "text", "day", "zoned", "y")
    new = of_all_types(500).with_columns(text=pl.when(pl.col("flag")).then(pl.lit("new")).otherwise("text"))
    models = optimize_each(data, "y", special={"real": [-999]})
    for arguments in ({"target": "y", "by": "day"}, {"weights": "w", "by": "text"}):
        assert models.compare(engine(new), **arguments).to_json() == models.compare(new, **arguments).to_json()


def test_prices_and_proofs(engine):
    data = mixed().select("real", "y")
    model = optimize(data, "y")
    frame = engine(data)
    assert verify(model, frame, "y")
    assert price(frame, "y", model.partitions) == pytest.approx(model.cost, rel=1e-14)
    assert verify(model, engine(data[:500]), "y").reason == "the data has 500 rows, the model 600"


@pytest.mark.parametrize("max_groups", [64, 65_536])
def test_counts_add_up(engine, max_groups):
    data = of_all_types(1500).with_columns(x=pl.Series(np.random.default_rng(0).normal(size=1500)))
    options = {"weights": "w", "on_error": "raise"}
    expected = count(data[:1000], "y", max_groups=max_groups, special={"real": [-999]}, **options)
    first = count(engine(data[:1000]), "y", max_groups=max_groups, special={"real": [-999]}, **options)
    both = first + count(engine(data[1000:]), like=first, **options)
    for found, rows in ((first, expected), (both, count(data, like=expected, **options))):
        assert list(found) == list(rows)
        assert all(found[name].equals(rows[name]) for name in rows)


def dask_of(data, tmp_path, **options):
    """A frame of Dask that is read with the types of pandas, or others."""
    dask = pytest.importorskip("dask.dataframe", reason='needs pip install "dask[dataframe]"')
    for i in range(2):
        data[i::2].write_parquet(tmp_path / f"{i}.parquet")
    return dask.read_parquet(str(tmp_path / "*.parquet"), **options)


@pytest.mark.parametrize("options", [{}, {"dtype_backend": "numpy_nullable"}])
def test_types_of_pandas_on_dask(tmp_path, options):
    """Pandas has no integers and booleans beside missing values, which become floats and objects."""
    data = of_all_types().drop("whole").with_columns(short=pl.when(pl.col("w") > 0).then(pl.col("w") + 1))
    data = data.with_columns(y=pl.when(pl.int_range(len(data)) % 7 > 0).then(pl.col("y") == "yes"))
    found = optimize_each(dask_of(data, tmp_path, **options), "y", unlabelled=None, on_error="raise")
    assert records(found) == records(optimize_each(data, "y", unlabelled=None))


def test_long_integers_that_dask_rounded(tmp_path):
    data = mixed().select("whole", "flag", "y")
    with pytest.warns(gridmodl.ColumnWarning, match=r"rounded integers beyond 2\^53.*'whole'.*dtype_backend="):
        found = optimize_each(dask_of(data, tmp_path), "y")
    assert list(found) == ["flag"]


@pytest.mark.parametrize("backend", ["pyarrow", "numpy_nullable"])
def test_categories_on_dask(tmp_path, backend):
    data = mixed().select(pl.col("text").cast(pl.Categorical), "y")
    model = optimize(data, "y")
    frame = dask_of(data, tmp_path, dtype_backend=backend)
    parts = np.bincount(collect(model.transform(frame))["text"])
    assert parts.tolist() == model.partitions["text"].rows.tolist()
