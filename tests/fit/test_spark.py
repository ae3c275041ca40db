"""Spark in local mode: the same model files as from pandas, Polars and DuckDB; predictions and queries to the bit."""

from __future__ import annotations

import duckdb
import numpy as np
import polars as pl
import pytest
from oracles.lazy_frames import long_column, mixed, record

from gridmodl import average_each, optimize, optimize_each
from gridmodl.fit import lazy as fit_lazy
from gridmodl.fit import lazy_grid

pytestmark = [
    pytest.mark.xdist_group("spark"),  # one session for all tests, in one process
    # Spark asks libraries for what they will not have for long.
    pytest.mark.filterwarnings("ignore::FutureWarning:pyspark"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:pyspark"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def parquet(data, folder, name="data"):
    """Write a frame as two Parquet files, so that it has several partitions; the pattern of their paths."""
    half = len(data) // 2
    for i, some in enumerate((data.head(half), data.tail(len(data) - half))):
        some.write_parquet(folder / f"{name}-{i}.parquet")
    return str(folder / f"{name}-*.parquet")


def test_the_same_model_files_from_all_engines(spark, tmp_path):
    data = mixed()
    path = parquet(data, tmp_path)
    options = {"weights": "w", "special": {"real": [-999]}}
    frames = {
        "polars": pl.scan_parquet(path),
        "duckdb": duckdb.connect().read_parquet(path),
        "spark": spark.read.parquet(path).orderBy("day").repartition(3),
    }
    rows = optimize_each(data.drop("price").to_pandas(), "y", **options)  # pandas has no decimals
    expected = {name: record(model) for name, model in optimize_each(data, "y", **options).items()}
    assert {name: record(model) for name, model in rows.items() if name not in ("day", "whole")} == {
        name: one for name, one in expected.items() if name not in ("day", "whole", "price")
    }
    for engine, frame in frames.items():
        found = optimize_each(frame, "y", on_error="raise", **options)
        assert {name: record(model) for name, model in found.items()} == expected, engine
        assert all(model.resolution == 0 for model in found.values())


def test_the_same_grids_from_all_engines(spark, tmp_path):
    data = mixed().drop("w")
    path = parquet(data, tmp_path)
    frames = [pl.scan_parquet(path), duckdb.connect().read_parquet(path), spark.read.parquet(path).repartition(3)]
    expected = record(optimize(data, "y"))
    assert all(record(optimize(frame, "y")) == expected for frame in frames)
    pair = data.select("real", "text")
    expected = record(optimize(pair))
    assert record(optimize(spark.read.parquet(path).select("real", "text"))) == expected


def test_the_same_spans_and_samples_from_all_engines(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(fit_lazy, "MAX_GROUPS", 256)
    data = long_column()
    path = parquet(data, tmp_path)
    frames = [
        pl.scan_parquet(path),
        duckdb.connect().read_parquet(path),
        spark.read.parquet(path).orderBy("x").repartition(5),
    ]
    one, *others = [record(optimize(frame, "y")) for frame in frames]
    assert one["resolution"] > 0
    assert all(other == one for other in others)

    monkeypatch.setattr(lazy_grid, "MAX_CELLS", 100)
    monkeypatch.setattr(lazy_grid, "SAMPLE_ROWS", 1000)
    rng = np.random.default_rng(0)
    more = data.with_columns(
        z=pl.Series(rng.normal(size=len(data))), town=pl.Series(rng.choice(["Bonn", "Łódź", "東京", None], len(data)))
    )
    path = parquet(more, tmp_path, "more")
    frames = [pl.scan_parquet(path), duckdb.connect().read_parquet(path), spark.read.parquet(path).repartition(3)]
    one, *others = [record(optimize(frame, "y")) for frame in frames]
    assert one["sample_rows"] > 0
    assert all(other == one for other in others)


def collected(lazy):
    """Rows of a frame of Spark as an array."""
    return np.array([tuple(row) for row in lazy.collect()])


def test_predictions_are_frames_of_spark(spark, tmp_path):
    data = mixed().drop("w")
    new = data.with_columns(text=pl.when(pl.col("flag")).then(pl.lit("new")).otherwise(pl.col("text")))
    new.write_parquet(tmp_path / "new.parquet")  # one file: its rows come back in order
    frame = spark.read.parquet(str(tmp_path / "new.parquet"))
    models, grid = optimize_each(data, "y", special={"real": [-999]}), optimize(data, "y")
    assert type(models.transform(frame)) is type(frame)
    np.testing.assert_array_equal(collected(models.transform(frame, encode="woe")), models.transform(new, "woe"))
    np.testing.assert_array_equal(collected(grid.transform(frame)), grid.transform(new))
    np.testing.assert_array_equal(collected(grid.predict_proba(frame)), grid.predict_proba(new))
    np.testing.assert_array_equal(collected(grid.predict(frame))[:, 0], grid.predict(new))
    averages = average_each(data.select("real", "whole", "y"), "y", special={"real": [-999]})
    expected = np.column_stack(list(averages.predict_proba(new).values()))
    np.testing.assert_array_equal(collected(averages.predict_proba(frame)), expected)
    np.testing.assert_allclose(collected(averages.transform(frame)), averages.transform(new), atol=1e-12)
