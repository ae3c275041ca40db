"""Counts of a column on an engine: the same whatever was seen at first, few queries, buckets where rows are dense."""

from __future__ import annotations

from itertools import pairwise

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from oracles.lazy_frames import as_duckdb

import gridmodl
from gridmodl.data.remote.counting import counted
from gridmodl.data.remote.edges import Spans, divided_ranges, runs_of
from gridmodl.data.remote.looks import look_at
from gridmodl.data.remote.queries import BUCKET, HIGH, LOW, ROWS, EngineError, check_same_parts
from gridmodl.data.remote.rows import lazy_rows
from gridmodl.fit.lazy import data as lazy_data
from gridmodl.fit.lazy.axis import move_excess


@pytest.fixture
def queries(monkeypatch):
    """Queries of engines so far, as a list."""
    asked, run = [], nw.LazyFrame.collect

    def collect(frame, *arguments, **options):
        if not frame.implementation.is_pyarrow():
            asked.append(frame.columns)
        return run(frame, *arguments, **options)

    monkeypatch.setattr(nw.LazyFrame, "collect", collect)
    return asked


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, "datetime64[us]"])
@pytest.mark.parametrize("engine", [pl.DataFrame.lazy, as_duckdb])
def test_counts_do_not_depend_on_what_a_look_shows(engine, kind, queries):
    rng = np.random.default_rng(0)
    values = (np.exp(rng.normal(size=200)) * 1e6).astype(np.int64).astype(kind)
    x = np.append(np.repeat(values[:10], 100), rng.choice(values, 4000))
    found = []
    for order in (np.arange(5000), np.arange(5000)[::-1]):  # the first rows have 10 values, or many
        data = pl.DataFrame({"x": x[order], "y": (x[order].astype(float) % 3).astype(int)})
        rows = lazy_rows(nw.from_native(engine(data)), "x", "y", None, 5000)
        queries.clear()
        look = look_at(rows, [], 64)
        counts, edges, of_rows, _ = counted(rows, [], 64, look=look)
        n_queries = len(queries)
        columns = [LOW, HIGH, BUCKET, ROWS, "gridmodl_class"]
        found.append((counts.select(columns).sort(LOW, "gridmodl_class").to_native().to_pylist(), edges))
        assert of_rows.has_weights != look.has_many  # few values: their counts are here, and weigh
        assert look.has_many or n_queries == 3  # ends, look, values; all else is done here
    assert found[0] == found[1]
    assert len(edges) > 1


def test_many_columns_are_looked_at_in_one_query(queries, monkeypatch):
    monkeypatch.setattr(lazy_data, "MAX_GROUPS", 256)
    rng = np.random.default_rng(0)
    data = pl.DataFrame({f"x{i}": rng.random(5000) for i in range(40)} | {"y": rng.integers(0, 2, 5000)})
    models = gridmodl.optimize_each(data.lazy(), "y", n_jobs=1)
    assert len(models) == 40
    looks = [columns for columns in queries if columns[0].startswith(("low_0", "gridmodl_value_0"))]
    assert [len(columns) for columns in looks] == [64, 32, 16, 8]  # ends and values of 32 columns, then of 8
    assert len(queries) <= 1 + 4 + 40 * 5


def test_a_column_that_fails_does_not_keep_others_from_a_look(monkeypatch):
    monkeypatch.setattr(lazy_data, "MAX_GROUPS", 256)
    rng = np.random.default_rng(0)
    data = pl.DataFrame({"a": rng.random(2000), "b": rng.random(2000), "y": rng.integers(0, 2, 2000)})
    failing = pl.col("a").map_batches(lambda s: 1 / 0, return_dtype=pl.Float64).alias("bad")
    with pytest.warns(gridmodl.ColumnWarning, match="'bad'"):
        found = gridmodl.optimize_each(data.lazy().with_columns(failing), "y")
    assert (set(found), set(found.errors)) == ({"a", "b"}, {"bad"})
    expected = gridmodl.optimize_each(data.lazy(), "y")
    assert all(model.cost == expected[name].cost for name, model in found.items())


def test_special_values_and_infinities_do_not_widen_buckets(monkeypatch):
    monkeypatch.setattr(lazy_data, "MAX_GROUPS", 256)
    rng = np.random.default_rng(0)
    x = rng.random(5000)
    x[:40], x[40:60], x[60:70], x[70:75] = 1e300, np.nan, np.inf, -np.inf
    data = pl.DataFrame({"x": x, "y": (x > 0.5) ^ (rng.random(5000) < 0.2)})
    found, best = (gridmodl.optimize(one, "y", special=[1e300]) for one in (data.lazy(), data))
    assert 0 < found.resolution < 5 * 5000 / 256
    assert found.cost == pytest.approx(best.cost, abs=1e-9)


def test_buckets_are_where_rows_are_dense():
    rng = np.random.default_rng(0)
    x = np.sort(np.exp(2 * rng.normal(size=200_000)))
    edges = np.linspace(0.0, x[-1], 2001)
    low, high = np.searchsorted(x, edges[:-1]), np.searchsorted(x, edges[1:])
    low, high = low[high > low], high[high > low]
    spans = Spans(x[low], x[high - 1], high - low, high - low > 1)
    heavy = spans.is_divisible & (spans.rows > 200)
    ranges = divided_ranges(spans, heavy, 8, 2000, 100.0, 5000)
    assert 1 < len(ranges) <= 8
    assert sum(one.n_buckets for one, _ in ranges) < 2100
    assert ranges[0][0].first == 5000
    assert all(a.first + a.n_buckets == b.first for (a, _), (b, _) in pairwise(ranges))
    held = [any(one.start <= key < end for one, end in ranges) for key in spans.low_key]
    assert np.all(np.array(held)[heavy])
    largest = max(
        np.bincount(
            ((x[(x >= one.start) & (x < end)] - one.low) * one.n_buckets / (one.high - one.low)).astype(int)
        ).max()
        for one, end in ranges
    )
    (whole,) = divided_ranges(spans, heavy, 1, 2000, 100.0, 0)
    inside = x[(x >= whole[0].start) & (x < whole[1])]
    in_one = np.bincount(
        ((inside - whole[0].low) * whole[0].n_buckets / (whole[0].high - whole[0].low)).astype(int)
    ).max()
    assert largest < in_one / 4


def test_runs_hold_all_chosen_spans():
    chosen = np.array([0, 1, 1, 0, 1, 0, 0, 0, 1, 0], dtype=bool)
    assert runs_of(chosen, 8) == [(1, 3), (4, 5), (8, 9)]
    assert runs_of(chosen, 2) == [(1, 5), (8, 9)]
    assert runs_of(chosen, 1) == [(1, 9)]


def test_excess_of_a_moved_bound():
    rng = np.random.default_rng(0)
    by_class = rng.integers(0, 9, (20, 3)).astype(float)
    places = np.array([6, 13])

    def length(rows):
        counts = rows.sum(axis=0)
        return counts.sum() * np.log(max(1, counts.sum())) - sum(n * np.log(n) for n in counts if n)

    def price(places):
        return sum(length(part) for part in np.split(by_class, places))

    expected = np.full(20, np.inf)
    for k, (first, end) in enumerate([(0, 13), (6, 20)]):
        moved = {at: price([*places[:k], at, *places[k + 1 :]]) - price(places) for at in range(first, end + 1)}
        for span in range(first, end):
            expected[span] = min(expected[span], moved[span], moved[span + 1])
    np.testing.assert_allclose(move_excess(by_class, places), expected, atol=1e-9)


@pytest.mark.parametrize("now", [[3, 7], [5, 5, 1], [5]])
def test_parts_whose_rows_change_between_queries_are_an_error(now):
    check_same_parts(np.array([5, 5]), np.array([5.0, 5.0]), "x")
    with pytest.raises(EngineError, match="the rows of column 'x' have changed between two queries"):
        check_same_parts(np.array([5, 5]), np.array(now), "x")
