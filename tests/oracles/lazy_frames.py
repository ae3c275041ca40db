"""Frames for tests of lazy frames, and the engines that hold them."""

from __future__ import annotations

import datetime as dt
import functools
import json
from decimal import Decimal

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest


def as_polars(frame):
    return frame.lazy()


@functools.cache
def connection():
    """One for all tests of a process, as starting DuckDB takes ten times as long as a query."""
    return duckdb.connect()


def as_duckdb(frame):
    return connection().from_arrow(frame.to_arrow())


def as_dask(frame):
    dask = pytest.importorskip("dask.dataframe", reason='needs pip install "dask[dataframe]"')
    return dask.from_pandas(frame.to_arrow().to_pandas(types_mapper=pd.ArrowDtype), npartitions=3)


def as_ibis(frame):
    ibis = pytest.importorskip("ibis", reason='needs pip install "ibis-framework[duckdb]"')
    tables = ibis.duckdb.connect()
    tables.con.register("arrow", frame.to_arrow())
    tables.con.execute("CREATE TABLE rows AS SELECT * FROM arrow")
    return tables.table("rows")


ENGINES = pytest.mark.parametrize("engine", [as_polars, as_duckdb])


def record(model):
    """All fields of a model file but the time and the kind of frame."""
    found = json.loads(model.to_json())
    return {name: value for name, value in found.items() if name not in ("elapsed", "frame")}


def mixed(n=600, seed=3):
    """Columns of all types, with missing values, zeros of both signs, infinities and special codes."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-20, 20, n) / 8
    target = np.where(rng.random(n) < 0.8, x > 0.3, rng.random(n) < 0.5)
    real = np.where(rng.random(n) < 0.1, -999.0, np.where(x == 0, -0.0, x))
    real[:5], real[5:8], real[8:11] = np.nan, np.inf, -np.inf
    whole = (2**60 + rng.integers(0, 40, n)).tolist()
    text = np.where(x < -1, "Ä", np.where(x < 1, "日本", "b")).tolist()
    return pl.DataFrame(
        {
            "real": real,
            "whole": [None if i % 50 == 0 else value for i, value in enumerate(whole)],
            "text": [None if i % 40 == 1 else value for i, value in enumerate(text)],
            "flag": (x > 1).tolist(),
            "day": [dt.date(2024, 1, 1) + dt.timedelta(days=int(8 * value)) for value in x],
            "moment": [dt.datetime(2024, 1, 1) + dt.timedelta(seconds=int(8 * value)) for value in x],
            "price": pl.Series([Decimal(int(8 * value)) / 8 for value in x], dtype=pl.Decimal(12, 3)),
            "w": rng.integers(0, 4, n),
            "y": np.where(target, "yes", "no"),
        }
    )


def long_column(n=4000, seed=5):
    """Many values, most of them in a small part of their range."""
    rng = np.random.default_rng(seed)
    x = np.exp(3 * rng.normal(size=n))
    x[:7] = np.nan
    return pl.DataFrame({"x": x, "y": (rng.random(n) < 0.5 + 0.4 * np.sin(np.log(x))).astype(int)})


def collect(lazy):
    """A polars frame of a lazy result."""
    return nw.from_native(lazy).collect("polars").to_native()
