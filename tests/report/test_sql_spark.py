"""Queries of the dialect "spark", run by Spark in local mode: the same as the model, to the bit."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import polars as pl
import pytest
from oracles.lazy_frames import mixed

from gridmodl import GridLogistic, Model, Models, Partition, average, optimize

pytestmark = [
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore::FutureWarning:pyspark"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:pyspark"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
NAN, INF = math.nan, math.inf
MOMENT, DAY = dt.datetime(2020, 2, 29, 12, 0, 0, 1), dt.date(1969, 12, 31)
FLOATS = [None, NAN, INF, -INF, 0.0, -0.0, 0.1, 2.45, math.nextafter(2.45, 0), math.nextafter(2.45, 9), -999.0, 5e-324,
          -5e-324, 1.7976931348623157e308, 1e22, 1e23, 2.0**53 + 2, 1e300]  # fmt: skip
WHOLE = [None, 2**53 - 1, 2**53, 2**53 + 1, 2**60, 2**60 + 1, 2**63 - 1, -(2**63), -(2**53) - 1, 0]
TEXTS = [
    None,
    "it's",
    "a\\",
    "\\'; DROP TABLE data; --",
    "é😀",
    "",
    " ",
    "${env:HOME}",
    "A",
    "a",
    "\n",
    "new",
    "ß",
    "`",
]
DURATION = dt.timedelta(days=-1, hours=2, microseconds=1)


def numerical(name, bounds, special=(), **facts):
    n_parts = len(bounds) + 1 + len(special)
    special = np.asarray(special, dtype=None if len(special) else float)
    return Partition(
        name, "numerical", np.ones((n_parts, 2), np.int64), bounds=np.asarray(bounds), special=special, **facts
    )


def categorical(name, groups):
    missing = next((i for i, group in enumerate(groups) if None in group), None)
    return Partition(name, "categorical", np.ones((len(groups), 2), np.int64), groups=groups, missing=missing)


def model_of(partition):
    return Model(1.0, 2.0, "modl", "classes", 2, np.array(["no", "yes"]), {partition.name: partition},
                 proven=False, search="given", elapsed=0.0)  # fmt: skip


def in_order(spark, query):
    """Rows of a query, in the order of its first column, without it."""
    return [tuple(row)[1:] for row in sorted(spark.sql(query).collect(), key=lambda row: row[0])]


def test_parts_of_values_of_all_types(spark, tmp_path):
    moments = [MOMENT + dt.timedelta(microseconds=i) for i in (-1, 0, 1)] + [None, dt.datetime(1969, 7, 1)]
    days = [DAY + dt.timedelta(days=i) for i in (-1, 0, 1)] + [None]
    spans = [DURATION + dt.timedelta(microseconds=i) for i in (-1, 0, 1)] + [None, dt.timedelta(0)]
    columns = {
        "real": pl.Series(FLOATS, dtype=pl.Float64), "whole": pl.Series(WHOLE, dtype=pl.Int64),
        "a `text`": pl.Series(TEXTS),
        "flag": pl.Series([True, False, None]), "raw": pl.Series([b"\x00'", b"a", None]),
        "moment": pl.Series(moments, dtype=pl.Datetime("us")),
        "instant": pl.Series(moments, dtype=pl.Datetime("us")).dt.replace_time_zone("UTC"),
        "day": pl.Series(days), "span": pl.Series(spans, dtype=pl.Duration("us")),
    }  # fmt: skip
    n = max(map(len, columns.values()))
    data = pl.DataFrame({name: column.extend_constant(None, n - len(column)) for name, column in columns.items()})
    data.drop("span").with_row_index("row").write_parquet(tmp_path / "data.parquet")
    frame = spark.read.parquet(str(tmp_path / "data.parquet"))
    durations = list(enumerate(data["span"].to_list()))  # which Spark does not read from Parquet
    joined = frame.join(spark.createDataFrame(durations, "row int, span interval day to second"), "row")
    joined.createOrReplaceTempView("data")
    bound = np.datetime64(MOMENT, "us")
    partitions = [
        numerical("real", [-INF, -5e-324, 0.0, 2.45, 2.0**53, 1e23], [INF, -999.0]),
        numerical("whole", [-(2**53) - 1, 2**53 + 1, 2**60, 2**60 + 1], [2**53]),
        categorical("a `text`", (("it's", "a\\", "A"), (TEXTS[3], "é😀", "\n", "`"), ("", "${env:HOME}"), ("a", None))),
        categorical("flag", ((True,), (False,))),
        categorical("raw", ((b"\x00'",), (b"a", None))),
        numerical("moment", [bound]),
        numerical("instant", [bound], is_utc=True),
        numerical("day", [np.datetime64(DAY)], missing=0),
        numerical("span", [np.timedelta64(DURATION)]),
    ]  # fmt: skip
    models = Models({one.name: model_of(one) for one in partitions}, by_level=False)
    found = list(zip(*in_order(spark, models.to_sql("spark", keep=["row"])), strict=True))
    for partition, parts in zip(partitions, found, strict=True):
        assert list(parts) == partition.part_of(data[partition.name]).tolist(), partition.name


def test_case_folding_of_a_column_does_not_join_categories(spark):
    spark.createDataFrame([(0, "a"), (1, "A")], "row int, word string collate utf8_lcase").createOrReplaceTempView(
        "words"
    )
    query = model_of(categorical("word", (("a",), ("A",)))).to_sql("spark", "words", keep=["row"], output="parts")
    assert in_order(spark, query) == [(0,), (1,)]


def test_predictions(spark, tmp_path):
    data = mixed().drop("w", "price")
    data.with_row_index("row").write_parquet(tmp_path / "rows.parquet")
    spark.read.parquet(str(tmp_path / "rows.parquet")).createOrReplaceTempView("rows")
    grid = optimize(data, "y")
    query = grid.to_sql("spark", "rows", keep=["row"], output=["cell", "predict", "proba"])
    found = in_order(spark, query)
    assert [row[0] for row in found] == grid.cell_of(data).tolist()
    assert [row[1] for row in found] == grid.predict(data).tolist()
    assert np.array_equal([row[2:] for row in found], grid.predict_proba(data))
    for name in ("real", "moment"):
        one = average(data[name], data["y"])
        query = one.to_sql("spark", "rows", keep=["row"], column=name)
        np.testing.assert_allclose(in_order(spark, query), one.predict_proba(data[name]), atol=1e-12)
    inputs = data.select("whole", "text", "flag").to_pandas()
    model = GridLogistic().fit(inputs, data["y"].to_numpy()).evidence_
    found = in_order(spark, model.to_sql("spark", "rows", keep=["row"]))
    np.testing.assert_allclose(found, model.predict_proba(inputs), atol=1e-12)
