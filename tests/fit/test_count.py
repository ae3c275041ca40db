"""`count` and `Counts`: counts of rows by value or span and class, which add up and are kept in files."""

from __future__ import annotations

import datetime as dt
import json
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from oracles.lazy_frames import ENGINES, as_duckdb, as_polars, long_column, mixed, record

import gridmodl
from gridmodl import Counts, average_each, count, optimize, optimize_each, price, verify
from gridmodl.data import counts as data_counts
from gridmodl.fit.lazy import data as lazy_data

SPECIAL = {"real": [-999]}


def same(one, other):
    assert list(one) == list(other)
    for name in one:
        assert one[name].equals(other[name]), name


@ENGINES
def test_models_of_counts_are_those_of_rows(engine):
    data = mixed().drop("w")
    counts = count(engine(data), "y", special=SPECIAL, on_error="raise")
    assert counts.n_rows == len(data)
    assert set(counts.resolution.values()) == {0}
    expected, found = optimize_each(data, "y", special=SPECIAL), optimize_each(counts, special=SPECIAL)
    assert list(found) == list(expected)
    for name, model in expected.items():
        assert record(found[name]) == record(model), name
        assert verify(model, counts.only(name)), name


@pytest.mark.parametrize("frame", [pl.DataFrame.to_pandas, pl.DataFrame.to_arrow, pl.DataFrame.to_dict, pa.table])
def test_rows_in_memory_are_counted_too(frame):
    data = mixed().select("real", "text", "flag", "y")
    same(count(frame(data), "y"), count(as_duckdb(data), "y"))


@pytest.mark.parametrize("max_groups", [64, 65_536])
def test_counts_of_parts_of_the_rows_add_up(max_groups):
    data = mixed(4000, 2).with_columns(x=pl.Series(np.random.default_rng(0).normal(size=4000)))
    options = {"weights": "w", "on_error": "raise"}
    first = count(as_polars(data[:1500]), "y", max_groups=max_groups, special=SPECIAL, **options)
    second = count(as_duckdb(data[1500:]), like=first, **options)
    both = first + second
    same(both, count(as_polars(data), like=first, **options))
    same(both, second + first)
    assert (max_groups == 64) == bool(both.resolution["x"])
    assert both.n_rows == data["w"].sum()
    for name, model in optimize_each(both, special=SPECIAL).items():
        rows = data.select(name, "w", "y")
        own = model.partitions[name]
        assert price(rows, "y", {name: own}, weights="w") == pytest.approx(model.cost, rel=1e-12)


def test_values_beyond_earlier_ends_are_in_the_outermost_buckets():
    first = count({"x": np.linspace(0, 1, 500), "y": np.arange(500) % 2}, "y", max_groups=32)
    more = count({"x": [-5.0, 0.5, 7.0, np.inf, np.nan], "y": [0, 1, 0, 1, 0]}, like=first)
    both = first + more
    spans = both["x"].to_pandas()
    assert (spans["low"].min(), spans.loc[np.isfinite(spans["high"]), "high"].max()) == (-5.0, 7.0)
    assert both.n_rows == 505
    lows = spans.drop_duplicates("low").dropna().sort_values("low")
    assert (lows["high"].to_numpy()[:-1] < lows["low"].to_numpy()[1:]).all()


def test_spans_never_overlap_whatever_rows_come_later():
    """The gaps between the spans of divided buckets belong to one bucket each."""
    rng = np.random.default_rng(1)
    first = count({"x": np.exp(4 * rng.normal(size=5000)), "y": rng.integers(0, 2, 5000)}, "y", max_groups=64)
    for scale in (1e-3, 1.0, 1e3):
        more = count({"x": scale * np.exp(3 * rng.normal(size=5000)), "y": rng.integers(0, 3, 5000)}, like=first)
        spans = (first + more)["x"].to_pandas().drop_duplicates("low").sort_values("low")
        assert (spans["high"].to_numpy()[:-1] < spans["low"].to_numpy()[1:]).all()


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"x": [1.0, 2.0], "z": [0, 1]}, "targets 'y' and 'z'"),
        ({"v": [1.0, 2.0], "y": [0, 1]}, "different columns"),
        ({"x": np.linspace(0, 1, 500), "y": np.arange(500) % 2}, "column 'x' at different edges.*like="),
        ({"x": ["a", "b"], "y": [0, 1]}, "column 'x' are of different types"),
        ({"x": [1.0, 2.0], "y": ["a", "b"]}, "the target are of different types"),
    ],
)
def test_other_counts_do_not_add_up(other, message):
    one = count({"x": [1.0, 2.0, 3.0], "y": [0, 1, 1]}, "y", max_groups=32)
    with pytest.raises(ValueError, match=message):
        one + count(other, "z" if "z" in other else "y", max_groups=32)
    with pytest.raises(TypeError):
        one + 1


def test_more_values_than_before_are_an_error():
    first = count({"x": [1.0, 2.0], "y": [0, 1]}, "y", max_groups=32)
    with pytest.raises(ValueError, match="'x' has more than 32 values, and had fewer in the counts of like="):
        count({"x": np.arange(100.0), "y": np.arange(100) % 2}, like=first)


def test_a_file_of_counts_without_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'gridmodl\[duckdb\]'"):
        Counts.from_parquet("counts.parquet")


def test_files_keep_all(tmp_path):
    data = mixed().drop("w").with_columns(long=pl.Series(np.random.default_rng(0).normal(size=600)))
    special = {"real": [-999, 0.5], "day": [dt.date(2024, 1, 1)], "moment": [dt.datetime(2024, 1, 1, 0, 0, 1)]}
    counts = count(as_duckdb(data), "y", max_groups=64, special=special, on_error="raise")
    counts.to_parquet(tmp_path / "counts.parquet")
    again = Counts.from_parquet(tmp_path / "counts.parquet")
    same(again, counts)
    assert repr(again) == repr(counts)
    same(again + counts, counts + again)
    same(count(as_polars(data), like=again), counts)
    assert record(optimize(again.only("long"))) == record(optimize(counts.only("long")))
    assert (
        sum(one["n"] for one in duckdb.read_parquet(f"{tmp_path}/counts.parquet").select("real").fetchall()[0][0])
        == 600
    )


@pytest.mark.parametrize("kind", [None, "categorical"])
@pytest.mark.parametrize(
    "dtype",
    [pl.Enum(["c", "b", "a"]), pl.Categorical, pl.Null, pl.Datetime("ms"), pl.Duration("ms"), pl.Datetime("ns", "UTC")],
)
def test_counts_of_a_file_and_of_a_lazy_frame_add_up(tmp_path, dtype, kind):
    """Engines and files return the same values in other types."""
    places = np.random.default_rng(0).integers(0, 3, 200)
    values = {pl.Null: [None] * 3}.get(dtype, ["a", "b", "c"] if dtype in (pl.Enum, pl.Categorical) else [5, 1, 7])
    data = pl.DataFrame({"x": pl.Series([values[i] for i in places]).cast(dtype), "y": places > 1})
    kinds = {"x": kind} if kind else {}
    count(data[:120], "y", kinds=kinds, on_error="raise").to_parquet(tmp_path / "counts.parquet")
    earlier = Counts.from_parquet(tmp_path / "counts.parquet")
    both = earlier + count(data[120:].lazy(), like=earlier, kinds=kinds, on_error="raise")
    assert record(optimize(both, "y", kinds=kinds)) == record(optimize(data, "y", kinds=kinds))


def test_whole_seconds_of_duckdb_add_up_after_a_file(tmp_path):
    rows = duckdb.sql(
        "SELECT TIMESTAMP_S '2024-01-01 00:00:00' + INTERVAL (i) SECOND AS x, i > 7 AS y FROM range(20) t(i)"
    )
    rows = rows.project("x::TIMESTAMP_S AS x, y")
    today = count(rows, "y", on_error="raise")
    today.to_parquet(tmp_path / "counts.parquet")
    assert (Counts.from_parquet(tmp_path / "counts.parquet") + today).n_rows == 40


def test_a_day_without_any_value_adds_up():
    """A column of nulls alone has no type in many sources."""
    monday = count({"x": [1.0, 2.0, 2.0], "y": [0, 1, 1]}, "y")
    tuesday = count({"x": [None, None], "y": [0, 1]}, like=monday)
    for both in (monday + tuesday, tuesday + monday):
        assert both["x"].column("n").to_pylist() == [1, 2, 1, 1]


def test_zeros_of_both_signs_are_one_class():
    data = pl.DataFrame({"x": [1, 1, 2, 2], "y": [-0.0, 0.0, 1.0, 1.0]})
    for frame in (data, data.lazy(), as_duckdb(data)):
        assert count(frame, "y")["x"].column("n").to_pylist() == [2, 2]


def forged(tmp_path, change_table=None, **facts):
    """A file of counts, of which something was changed."""
    path = tmp_path / "forged.parquet"
    count({"x": [1.0, 2.0, 2.0], "y": [0, 1, 1]}, "y").to_parquet(path)
    table = pq.read_table(path)
    known = json.loads(table.schema.metadata[data_counts.METADATA])
    table = table if change_table is None else change_table(table)
    pq.write_table(table.replace_schema_metadata({data_counts.METADATA: json.dumps({**known, **facts})}), path)
    return path


def of_records(records):
    return lambda _: pa.table({"x": pa.array([records])})


GOOD = {"low": 1.0, "high": 1.0, "class": 0, "n": 3, "bucket": -1}
EDGES = {"edges": {"x": [[None, 0.0, 4.0, 4, 0]]}}


def spans_of(first, second):
    """Three rows in two spans, each a lowest and a highest value and a bucket."""
    names = ("low", "high", "bucket", "n")
    pairs = (dict(zip(names, one, strict=True)) for one in ((*first, 1), (*second, 2)))
    return of_records([{**GOOD, **one} for one in pairs])


@pytest.mark.parametrize(
    ("change", "facts", "message"),
    [
        (None, {"version": 2}, "version is 2"),
        (None, {"n_rows": -1}, "n_rows must be a whole number"),
        (None, {"n_rows": 4}, "do not add up to 4"),
        (None, {"n_rows": "3"}, "n_rows"),
        (None, {"target": 7}, "target must be"),
        (None, {"edges": {}}, "'x' is missing"),
        (None, {"edges": {"x": [[None, 0.0, 1.0, 0, 0]]}}, "range 0 of a column"),
        (None, {"edges": {"x": [[None, "a", 1.0, 4, 0]]}}, "could not convert"),
        (None, {"edges": {"x": [[None, 0, 1, 4, 0], [None, 0, 1, 4, 0]]}}, "float"),
        (None, {"apart": {"x": [{"pickle": "gASV"}]}}, "pickle"),
        (lambda table: pa.concat_tables([table, table]), {}, "2 rows instead of one"),
        (lambda table: pa.table({"x": [1.0]}), {}, "values"),
        (of_records([{"low": 1.0}]), {}, "high"),
        (of_records([{**GOOD, "n": -3}]), {}, "do not add up"),
        (of_records([{**GOOD, "n": None}]), {}, "whole numbers"),
        (of_records([{**GOOD, "n": 3.0}]), {}, "whole numbers"),
        (of_records([{**GOOD, "high": 2.0}]), {}, "spans that are not"),
        (of_records([{**GOOD, "n": 2}, {**GOOD, "n": 1, "high": None}]), {}, "spans that are not"),
        (of_records([{**GOOD, "high": "b"}]), {}, "different types"),
        (None, {"target": "x"}, "its target 'x' is one of its columns"),
        (None, {"apart": {"x": [{"decimal": "many"}]}}, "ConversionSyntax"),
        (None, {"apart": {"x": "many"}}, "apart must be a list"),
        (None, {"edges": {"x": [[None, 0.0, float("inf"), 4, 0]]}}, "range 0 of a column"),
        (of_records([{**GOOD, "n": 2, "bucket": 0}, {**GOOD, "n": 1, "low": None}]), EDGES, "spans that are not"),
        (spans_of((1.0, 3.0, 0), (2.0, 4.0, 1)), EDGES, "overlap"),
        (spans_of((1.0, 4.0, 0), (2.0, 2.0, 1)), EDGES, "overlap"),
        (spans_of((1.0, 2.0, 1), (3.0, 4.0, 1)), EDGES, "overlap, or two of them are of one bucket"),
    ],
)
def test_hostile_files_are_refused(tmp_path, change, facts, message):
    with pytest.raises(ValueError, match=f"does not hold counts of gridmodl: .*{message}"):
        Counts.from_parquet(forged(tmp_path, change, **facts))


def test_a_file_of_deep_metadata_is_refused(tmp_path):
    path = forged(tmp_path)
    deep = {data_counts.METADATA: b"[" * 100_000 + b"]" * 100_000}
    pq.write_table(pq.read_table(path).replace_schema_metadata(deep), path)
    with pytest.raises(ValueError, match="does not hold counts of gridmodl"):
        Counts.from_parquet(path)


def test_spans_of_one_value_and_special_values_are_read(tmp_path):
    path = tmp_path / "counts.parquet"
    rng = np.random.default_rng(0)
    x = np.where(rng.random(600) < 0.3, 0.125, rng.normal(size=600))
    counts = count({"x": x, "y": rng.integers(0, 2, 600)}, "y", max_groups=16, special={"x": [0.125]})
    assert counts.resolution["x"] > 0
    counts.to_parquet(path)
    assert Counts.from_parquet(path)["x"].equals(counts["x"])


def test_files_that_are_none_of_ours(tmp_path):
    (tmp_path / "text").write_text("no Parquet")
    with pytest.raises(ValueError, match="no Parquet file of counts"):
        Counts.from_parquet(tmp_path / "text")
    pq.write_table(pa.table({"x": [1]}), tmp_path / "other")
    with pytest.raises(ValueError, match="does not hold counts"):
        Counts.from_parquet(tmp_path / "other")
    with pytest.raises(FileNotFoundError):
        Counts.from_parquet(tmp_path / "absent")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"target": None}, ValueError, "target must name the column"),
        ({"max_groups": 3}, ValueError, "max_groups must be 16 or more"),
        ({"columns": "x"}, TypeError, "columns must be a list"),
        ({"columns": ["z"]}, ValueError, "columns names column 'z'"),
        ({"columns": []}, ValueError, "names no column"),
        ({"like": 3}, TypeError, "like must be earlier Counts"),
        ({"special": {"z": [1]}}, ValueError, "'z'"),
        ({"target_kind": "class"}, ValueError, "target_kind"),
        ({"on_error": "stop"}, ValueError, "on_error"),
    ],
)
def test_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        count({"x": [1.0, 2.0], "y": [0, 1]}, **{"target": "y", **arguments})


def test_what_counts_are_not_for():
    counts = count({"x": np.linspace(0, 1, 300), "v": np.arange(300.0), "y": np.arange(300) % 2}, "y", max_groups=32)
    with pytest.raises(ValueError, match="counts of 2 columns"):
        optimize(counts)
    one = counts.only("x")
    for arguments, message in (
        ({"target": "z"}, "counts by 'y'"),
        ({"weights": "w"}, "weights are counted"),
        ({"special": {"x": [0.48]}}, "counted in a span"),
        ({"fixed": [0.48]}, "lies in a span"),
        ({"kinds": {"x": "categorical"}}, "counted in spans of numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            optimize(one, **arguments)
    with pytest.raises(ValueError, match="lies in a span"):
        price(one, None, {"x": [0.48]})
    with pytest.raises(TypeError, match="counts already"):
        count(one, "y")
    model = optimize(one)
    with pytest.raises(ValueError, match="lies in a span"):
        model.edit("x", bounds=[0.48])


def test_a_column_that_fails_is_an_error_of_its_own():
    data = mixed().select("real", "y").lazy()
    data = data.with_columns(odd=pl.col("real").map_batches(lambda s: 1 / 0, return_dtype=pl.Float64))
    with pytest.warns(gridmodl.CountWarning, match="'odd' was not counted"):
        counts = count(data, "y")
    assert (list(counts), list(counts.errors)) == (["real"], ["odd"])


@ENGINES
def test_prices_given_parts_and_averages_of_lazy_frames(engine, monkeypatch):
    monkeypatch.setattr(lazy_data, "MAX_GROUPS", 64)
    data = long_column()
    bounds = {"x": [0.01, 0.02, 1.5, 40.0]}
    expected = price(data, "y", bounds)
    assert price(engine(data), "y", bounds) == pytest.approx(expected, rel=1e-12)
    model = optimize_each(engine(data), "y", partitions=bounds)["x"]
    assert model.cost == pytest.approx(expected, rel=1e-12)
    assert model.partitions["x"].bounds.tolist() == bounds["x"]
    edited = optimize(data, "y")
    again = optimize_each(engine(data), "y", partitions={"x": edited})["x"]
    np.testing.assert_array_equal(again.partitions["x"].counts, edited.partitions["x"].counts)
    average = average_each(engine(data), "y")["x"]
    assert not average.exact
    new = [0.05, 0.5, 5.0]
    np.testing.assert_allclose(average.predict_proba(new), average_each(data, "y")["x"].predict_proba(new), atol=0.05)


def test_averages_of_few_values_are_those_of_rows():
    data = mixed().select("real", "price", "y")
    expected, found = average_each(data, "y"), average_each(as_polars(data), "y")
    of_counts = average_each(count(data, "y"))
    for name, one in expected.items():
        for other in (found[name], of_counts[name]):
            assert one.exact == other.exact
            np.testing.assert_allclose(other.predict_proba(data[name]), one.predict_proba(data[name]), rtol=1e-12)


@ENGINES
def test_verify_counts_again(engine, monkeypatch):
    data = mixed().drop("w")
    for name, model in optimize_each(data, "y", special=SPECIAL).items():
        assert verify(model, engine(data), "y"), name
        changed = data.with_columns(y=pl.when(pl.int_range(len(data)) < 3).then(pl.lit("no")).otherwise(pl.col("y")))
        assert not verify(model, engine(changed), "y")
    monkeypatch.setattr(lazy_data, "MAX_GROUPS", 64)
    data = long_column()
    model = optimize(engine(data), "y")
    assert verify(model, engine(data), "y")
    assert verify(model, data, "y")
    assert not verify(model, engine(data.with_columns(y=1 - pl.col("y"))), "y")
    monkeypatch.setattr(lazy_data, "MAX_GROUPS", 1500)
    found = optimize(engine(data), "y")
    assert (found.proven, found.resolution) == (True, 0)  # divided until every value was counted
    assert verify(found, engine(data), "y")
    monkeypatch.setattr(lazy_data, "MAX_GROUPS", 64)
    of_rows = optimize(data, "y")
    assert "the proof cannot be repeated" in verify(of_rows, engine(data), "y").reason
    with pytest.raises(ValueError, match="'x'"):
        verify(model, engine(data.rename({"x": "v"})), "y")


def real_target(n=1200, seed=4):
    rng = np.random.default_rng(seed)
    x = np.exp(rng.normal(size=n))
    return pl.DataFrame({"x": x, "z": np.floor(3 * np.tanh(np.log(x))) + 0.2 * rng.normal(size=n)})


@ENGINES
def test_numerical_targets(engine, monkeypatch):
    data = real_target()
    of_rows = optimize(data, "z")
    assert record(optimize(engine(data), "z")) == record(of_rows)
    monkeypatch.setattr(lazy_data, "JOINT_ROWS", 100)
    monkeypatch.setattr(lazy_data, "JOINT_GROUPS", 128)
    for model in (optimize(engine(data), "z"), optimize(count(engine(data), "z"))):
        assert model.resolution > 0
        own = gridmodl.Model.from_partitions(data, "z", model.all_partitions)
        assert own.cost == pytest.approx(model.cost, rel=1e-12)
        np.testing.assert_allclose(model._target_quantiles.means, own._target_quantiles.means, rtol=1e-9)
        np.testing.assert_allclose(model._target_quantiles.percentiles, own._target_quantiles.percentiles, atol=0.2)
        assert verify(model, data, "z")
        assert of_rows.cost <= model.cost + 1e-6
    model = optimize(engine(data), "z")
    assert verify(model, engine(data), "z")
    assert price(engine(data), "z", model.all_partitions) == pytest.approx(model.cost, rel=1e-12)
    half = count(data[:600], "z")
    of_both = optimize(half + count(data[600:], like=half))
    assert price(data, "z", of_both.all_partitions) == pytest.approx(of_both.cost, rel=1e-12)
    with pytest.raises(ValueError, match="target has 1 missing values of 1201"):
        optimize(engine(pl.concat([data, pl.DataFrame({"x": [1.0], "z": [None]}, data.schema)])), "z")
    with pytest.raises(ValueError, match="target has 1 infinite values of 1201"):
        optimize(engine(pl.concat([data, pl.DataFrame({"x": [1.0], "z": [np.inf]})])), "z")


def test_many_classes_have_fewer_buckets(monkeypatch):
    monkeypatch.setattr(lazy_data, "JOINT_ROWS", 100)
    monkeypatch.setattr(lazy_data, "JOINT_GROUPS", 64)
    monkeypatch.setattr(lazy_data, "MAX_BY_CLASS", 64)
    data = long_column()
    model = optimize(as_polars(data), "y", target_kind="grouped")
    assert model.resolution > 0
    assert price(data, "y", model.all_partitions, target_kind="grouped") == pytest.approx(model.cost, rel=1e-12)


def test_counts_in_pandas_have_the_names_of_the_columns():
    counts = count(pd.DataFrame({"x": [1, 2, 2], "y": ["a", "b", "b"]}), "y")
    assert counts["x"].to_pandas().to_dict("list") == {"low": [1, 2], "high": [1, 2], "class": ["a", "b"], "n": [1, 2]}
    assert repr(counts) == "Counts(3 rows, target 'y', columns: 'x' (2 values))"


PERIODS = pd.period_range("2020-01", periods=6, freq="M")


@pytest.mark.parametrize(
    ("column", "what"),
    [
        (PERIODS, "values of Period"),
        (pd.Series(PERIODS), "values of Period"),
        (pd.arrays.IntervalArray.from_breaks(range(7)), "values of Interval"),
        (pd.cut(np.arange(6.0), 3), "pandas.interval"),
        ([10**30 + i for i in range(6)], "values of int"),
        ([10**30, 0.5] * 3, "values of float, int"),
        (np.arange(6, dtype=np.longdouble), "float128"),
        (pl.Series([2**100] * 6, dtype=pl.Int128), "Int128"),
        ([1, "a"] * 3, "values of int, str"),
        (pl.Series([object()] * 6, dtype=pl.Object), "values of object"),  # polars makes bytes of their addresses
    ],
)
def test_columns_that_cannot_be_counted(column, what):
    """These were errors of pyarrow and numpy in words of their own, or blamed a lazy frame that nobody had."""
    with pytest.raises(TypeError, match=f"^column 'x' holds {what}, which cannot be counted; make numbers"):
        count({"x": column, "y": [0, 1] * 3}, "y")
    with pytest.raises(TypeError, match=f"^column 'y' holds {what}, which cannot be counted; make numbers"):
        count({"x": range(6), "y": column}, "y")


@pytest.mark.parametrize("make", [np.array, pd.Series, pa.array], ids=["numpy", "pandas", "pyarrow"])
def test_short_floats_are_counted(make):
    rows = {"x": make(np.array([0.5, 1.5, 1.5, 7.0, np.nan, 0.5], dtype=np.float16)), "y": [0, 1, 0, 1, 1, 0]}
    assert optimize(count(rows, "y").only("x")).cost == optimize(rows, "y").cost


def test_columns_that_pyarrow_alone_does_not_take_are_counted():
    columns = {
        "years": np.array(["2020", "2021", "2025"] * 2, dtype="M8[Y]"),
        "hours": np.array([1, 2, 900] * 2, dtype="M8[h]"),
        "days": np.array([1, 2, 900] * 2, dtype="m8[D]"),
        "few": pd.arrays.SparseArray([0, 0, 1] * 2),
    }
    y = [0, 1, 1, 0, 0, 1]
    counts = count({**columns, "y": y}, "y")
    assert not counts.errors
    for name, column in columns.items():
        assert optimize(counts.only(name)).cost == optimize({name: column}, y).cost
    with pytest.raises(TypeError, match=r"column 'x' holds timedelta64\[M\], whose length is not known"):
        count({"x": np.array([1, 2], dtype="m8[M]"), "y": [0, 1]}, "y")


def test_integers_of_128_bits_are_no_classes():
    with pytest.raises(TypeError, match=r"^target holds Int128; classes are"):
        optimize(range(6), pl.Series([2**100, 1] * 3, dtype=pl.Int128))
