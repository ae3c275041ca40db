"""Engines that fail: clear errors, and nothing lost of what was done."""

from __future__ import annotations

import datetime as dt

import duckdb
import narwhals as nw
import numpy as np
import polars as pl
import pytest
from oracles.lazy_frames import as_dask, as_duckdb, as_ibis, as_polars, mixed

import gridmodl
from gridmodl import count, optimize, optimize_each, verify
from gridmodl.data.remote import looks, rows
from gridmodl.data.remote.queries import EngineError
from gridmodl.fit.lazy import grid as lazy_grid

pytestmark = [  # Dask and Ibis ask libraries for what they will not have for long
    pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.reset_index"),
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),
]
EVERY = pytest.mark.parametrize("engine", [as_polars, as_duckdb, as_ibis, as_dask])


@pytest.fixture
def cluster(monkeypatch):
    """Function that lets an engine fail after some queries, as a cluster that is shut down."""
    run, left = nw.LazyFrame.collect, []

    def collect(frame, *arguments, **options):
        left[0] -= 1
        if left[0] < 0:
            raise ConnectionError("no executor left")
        return run(frame, *arguments, **options)

    def made(n_queries):
        left.append(n_queries)
        monkeypatch.setattr(nw.LazyFrame, "collect", collect)

    return made


@EVERY
def test_columns_done_before_a_cluster_fails_are_kept(engine, cluster):
    data = mixed().select("real", "whole", "text", "flag", "y")
    expected, frame = optimize_each(data, "y"), engine(data)
    cluster(3)
    with pytest.warns(gridmodl.ColumnWarning, match="no executor left"):
        found = optimize_each(frame, "y", n_jobs=1)
    assert 0 < len(found) < 4
    assert set(found) | set(found.errors) == set(expected)
    for name, model in found.items():
        assert model.cost == expected[name].cost
    assert all(isinstance(error, EngineError) for error in found.errors.values())


def test_counts_done_before_a_cluster_fails_are_kept(cluster):
    cluster(3)
    with pytest.warns(gridmodl.CountWarning, match="no executor left"):
        found = count(mixed().select("real", "whole", "text", "flag", "y").lazy(), "y")
    assert 0 < len(found) < 4
    assert len(found) + len(found.errors) == 4


@pytest.mark.parametrize("function", [optimize, optimize_each, count])
def test_a_cluster_that_fails_at_once(cluster, function):
    cluster(0)
    with pytest.raises(EngineError, match=r"failed to count column 'y': ConnectionError: no executor left"):
        function(mixed().select("real", "y").lazy(), "y")


def test_an_operation_that_the_engine_lacks(monkeypatch):
    def lacks(dtype, value):
        raise NotImplementedError("'floor' is not implemented for this backend")

    for module in (looks, rows):
        monkeypatch.setattr(module, "key_of", lacks)
    with pytest.raises(EngineError, match=r"lacks an operation that counting column 'real' needs: .*'floor'.*DuckDB"):
        optimize(mixed().select("real", "y").lazy(), "y")
    with pytest.warns(gridmodl.ColumnWarning, match="lacks an operation"):
        found = optimize_each(mixed().select("real", "text", "y").lazy(), "y")
    assert list(found) == ["text"]


@EVERY
def test_a_column_that_is_missing(engine):
    data = mixed().select("real", "y")
    with pytest.raises(ValueError, match="target names column 'z'"):
        count(engine(data), "z")
    with pytest.raises(ValueError, match=r"columns names column 'rea'; .*did you mean 'real'"):
        count(engine(data), "y", columns=["rea"])
    earlier, other = count(data, "y"), data.rename({"real": "other"})
    with pytest.raises(ValueError, match="like names column 'real'"):
        count(engine(other), like=earlier)
    with pytest.raises(ValueError, match="'real'"):
        optimize(data, "y").predict_proba(engine(other))


@EVERY
def test_a_column_of_records(engine):
    data = mixed().select("real", "y").with_columns(odd=pl.struct("y"))
    with pytest.warns(gridmodl.ColumnWarning, match="column 'odd' has no model"):
        found = optimize_each(engine(data), "y")
    assert list(found) == ["real"]


@pytest.mark.parametrize("engine", [as_polars, as_duckdb, as_dask])  # Ibis has texts of them
def test_a_column_of_times_of_a_day(engine):
    with pytest.raises(TypeError, match="column 'at' holds Time; gridmodl takes numbers, dates, durations"):
        optimize(engine(mixed().select("y", at=pl.time(1, 2, 3))), "y")


def test_a_table_that_is_gone():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 1.0 AS x, 0 AS y UNION ALL SELECT 2.0, 1")
    table = connection.table("t")
    connection.execute("DROP TABLE t")
    with pytest.raises(EngineError, match=r"'y'|columns"):
        optimize(table, "y")


def test_a_table_that_goes_before_any_query_of_a_grid(monkeypatch):
    """DuckDB looks for it also where a query is only made."""
    monkeypatch.setattr(lazy_grid, "MAX_CELLS", 300)
    x, z = np.random.default_rng(0).permutation(2000).reshape(2, -1)
    rows = pl.DataFrame({"x": x, "z": z, "y": (x > 1000) ^ (z > 1000)}).to_arrow()
    run, queries, messages = nw.LazyFrame.collect, [], []
    for n_before in range(30):
        with duckdb.connect() as connection:
            connection.from_arrow(rows).create("gone")

            def collect(frame, *arguments, connection=connection, n_before=n_before, **options):
                queries.append(n_before)
                if queries.count(n_before) == n_before + 1:
                    connection.execute("DROP TABLE gone")
                return run(frame, *arguments, **options)

            monkeypatch.setattr(nw.LazyFrame, "collect", collect)
            try:
                optimize(connection.table("gone"), "y", search="merge")
                break
            except EngineError as error:
                messages.append(str(error))
    assert all("gone" in message for message in messages)
    assert n_before > 5  # it is searched in the end, after as many queries
    assert queries.count(n_before) == n_before


def test_a_table_of_ibis_that_is_gone():
    table = as_ibis(mixed().select("real", "y"))
    table.get_backend().con.execute("DROP TABLE rows")
    with pytest.raises(EngineError, match=r"'y'.*rows does not exist"):
        optimize(table, "y")


def test_durations_of_ibis_in_a_grid(monkeypatch):
    rng = np.random.default_rng(0)
    took = [dt.timedelta(seconds=int(one)) for one in rng.integers(0, 99, 300)]
    data = pl.DataFrame({"took": took, "z": rng.normal(size=300), "y": rng.integers(0, 2, 300)})
    monkeypatch.setattr(lazy_grid, "MAX_CELLS", 100)
    with pytest.raises(EngineError, match="lacks an operation that counting column 'took' needs"):
        optimize(as_ibis(data), "y")


def test_a_table_of_ibis_that_grows_between_queries(monkeypatch):
    data, run = mixed().select("real", "y"), nw.LazyFrame.collect
    table = as_ibis(data)

    def collect(frame, *arguments, **options):
        found = run(frame, *arguments, **options)
        if not frame.implementation.is_pyarrow():
            table.get_backend().con.execute("INSERT INTO rows SELECT * FROM rows LIMIT 10")
        return found

    monkeypatch.setattr(nw.LazyFrame, "collect", collect)
    with pytest.raises(EngineError, match="have changed between two queries: 600 rows became 610 in column 'real'"):
        optimize(table, "y")


def test_partitions_of_dask_that_change_between_queries():
    frame, taken = as_dask(mixed().select("real", "y")), []

    def fewer(rows):
        taken.append(1)
        return rows.head(len(rows) - len(taken))

    changing = frame.map_partitions(fewer, meta=frame._meta)
    with pytest.raises(EngineError, match=r"have changed between two queries: \d+ rows became \d+"):
        optimize(changing, "y")


def test_a_worker_of_dask_that_fails():
    frame, taken = as_dask(mixed().select("real", "flag", "text", "y")), []

    def lost(rows):
        taken.append(1)
        if len(taken) > 2 * frame.npartitions:  # the rows, and the first column
            raise MemoryError("worker was killed")
        return rows

    failing = frame.map_partitions(lost, meta=frame._meta)
    with pytest.warns(gridmodl.ColumnWarning, match=r"failed to count column '\w+': MemoryError: worker was k"):
        found = optimize_each(failing, "y", n_jobs=1)
    assert list(found) == ["real"]
    assert set(found.errors) == {"flag", "text"}


@pytest.mark.parametrize("function", [optimize, lambda data, y: count(data, y, on_error="raise")])
def test_a_view_that_changes_between_queries(function):
    taken = []

    def fewer(frame):
        taken.append(1)
        return frame.head(len(frame) - len(taken))

    changing = mixed().select("real", "y").lazy().map_batches(fewer)
    with pytest.raises(EngineError, match=r"have changed between two queries: 599 rows became 59\d"):
        function(changing, "y")


def test_verify_says_that_rows_are_others():
    data = mixed().select("real", "y")
    model = optimize(data, "y")
    assert verify(model, data[:500].lazy(), "y").reason == "the data has 500 rows, the model 600"
    assert not verify(model, data.with_columns(pl.col("real") + 1).lazy(), "y")
