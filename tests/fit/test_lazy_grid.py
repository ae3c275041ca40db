"""Grids, joint grids and densities of lazy frames: models of the rows, or of a sample that is counted on all rows."""

from __future__ import annotations

import datetime as dt
import json

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from oracles.lazy_frames import ENGINES, as_duckdb, as_polars, mixed, record

import gridmodl
from gridmodl import optimize, price
from gridmodl.data.remote.cells import column_of, lazy_cells, sampled_cells
from gridmodl.data.remote.queries import ROWS, EngineError
from gridmodl.fit.lazy import data as lazy_data
from gridmodl.fit.lazy import grid as lazy_grid
from gridmodl.fit.lazy.recount import spread


@ENGINES
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weights": "w"},
        {"special": {"real": [-999]}, "missing": "apart"},
        {"special": {"text": ["b"]}, "min_rows": 20},
        {"max_parts": 2, "fixed": {"real": [0.5]}, "event": "no"},
        {"criterion": "bic"},
    ],
)
def test_few_combinations_give_the_grid_of_the_rows(engine, options):
    data = mixed(1000)
    data = data if "weights" in options else data.drop("w")
    found = optimize(engine(data), "y", **options)
    assert record(found) == record(optimize(data, "y", **options))
    assert found.sample_rows == 0


@ENGINES
def test_targets_that_are_partitioned_too(engine):
    data = mixed(500).select("real", "text", "y", z=pl.col("moment").dt.second() / 8)
    for target, kind in (("y", "grouped"), ("z", "numerical")):
        chosen = data.select("real", "text", target)
        expected = record(optimize(chosen, target, target_kind=kind))
        found = record(optimize(engine(chosen), target, target_kind=kind))
        if kind == "numerical":  # a mean of rows is added up in another order
            assert found["spread"].pop("means") == pytest.approx(expected["spread"].pop("means"), rel=1e-14)
        assert found == expected


@ENGINES
@pytest.mark.parametrize("columns", [["real", "text"], ["text", "flag"], ["day", "whole"], ["real", "text", "flag"]])
def test_joint_grids_without_a_target(engine, columns):
    data = mixed(1000).select(*columns)
    expected, found = record(optimize(data)), record(optimize(engine(data)))
    assert found.pop("cost") == pytest.approx(expected.pop("cost"), rel=1e-14)  # three columns add cells in their order
    assert found == expected


@ENGINES
def test_density_of_one_column(engine):
    for name in ("price", "day", "whole"):
        data = mixed(1000).select(name, "w")
        expected = record(optimize(data, weights="w"))
        assert record(optimize(engine(data), weights="w")) == expected


def test_density_of_too_many_values(monkeypatch):
    monkeypatch.setattr(lazy_grid, "MAX_GROUPS", 20)
    with pytest.raises(ValueError, match="column 'x' has more than 20 values; the density of a lazy frame"):
        optimize(pl.LazyFrame({"x": np.arange(100.0)}))


def wide(n=6000, seed=2):
    """Columns of many values with a pattern that needs two of them; categories of which some are rare."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n), rng.exponential(size=n)
    code = rng.zipf(1.6, n).clip(max=400)
    a[:9], b[9:13] = np.nan, np.inf
    b[rng.random(n) < 0.1] = -1.0
    is_event = (a > 0.2) ^ (b > 0.7) ^ (code % 5 == 0)
    return pl.DataFrame(
        {
            "a": a,
            "b": b,
            "code": [None if i % 97 == 0 else f"c{value}" for i, value in enumerate(code.tolist())],
            "day": [dt.date(2020, 1, 1) + dt.timedelta(days=int(day)) for day in rng.integers(0, 900, n)],
            "w": rng.integers(0, 3, n),
            "y": np.where(rng.random(n) < 0.9, is_event, ~is_event),
        }
    )


@pytest.fixture
def few_cells(monkeypatch):
    monkeypatch.setattr(lazy_grid, "MAX_CELLS", 100)
    monkeypatch.setattr(lazy_grid, "MAX_PAIRS", 100)
    monkeypatch.setattr(lazy_grid, "SAMPLE_ROWS", 1500)


SAMPLED = pytest.mark.parametrize(
    "options",
    [
        {},
        {"weights": "w"},
        {"special": {"b": [-1.0], "code": ["c1"]}, "missing": "apart"},
        {"min_rows": 100},
        {"fixed": {"a": [0.25]}, "event": False},
    ],
)


@pytest.mark.usefixtures("few_cells")
@SAMPLED
def test_grid_of_a_sample_is_counted_on_all_rows(options):
    data = wide() if "weights" in options else wide().drop("w")
    found = optimize(data.lazy(), "y", **options)
    assert 1000 < found.sample_rows < 2000
    assert f"searched in a sample of {found.sample_rows} rows, counted on all" in found.summary()
    assert found.n_rows == (int(data["w"].sum()) if "weights" in options else len(data))
    weights = {"weights": "w"} if "weights" in options else {}
    given = gridmodl.Model.from_partitions(data, "y", found.partitions, **weights)
    assert found.cost == pytest.approx(given.cost, rel=1e-13)
    assert found.null_cost == pytest.approx(given.null_cost, rel=1e-13)
    np.testing.assert_array_equal(found.cells.parts, given.cells.parts)
    np.testing.assert_array_equal(found.cells.counts, given.cells.counts)
    for name, partition in found.partitions.items():
        np.testing.assert_array_equal(partition.counts, given.partitions[name].counts)
        assert partition.n_missing == given.partitions[name].n_missing
    rows = data if "weights" not in options else data.filter(pl.col("w") > 0)
    np.testing.assert_array_equal(found.predict_proba(rows), given.predict_proba(rows))
    again = gridmodl.Model.from_json(found.to_json())
    assert again.sample_rows == found.sample_rows
    assert record(again) == record(found)
    forged = json.loads(found.to_json()) | {"sample_rows": found.n_rows + 1}
    with pytest.raises(gridmodl.ModelFileError, match="sample_rows: must be an integer from 0 to"):
        gridmodl.Model.from_json(json.dumps(forged))


@pytest.mark.usefixtures("few_cells")
def test_sample_finds_what_all_rows_have():
    data = wide().drop("w")
    assert optimize(data.lazy(), "y").level > 0.8 * optimize(data, "y").level


@pytest.mark.usefixtures("few_cells")
@SAMPLED
def test_sample_does_not_depend_on_the_engine_or_the_order_of_rows(options):
    data = wide(4000) if "weights" in options else wide(4000).drop("w")
    expected = record(optimize(as_polars(data), "y", **options))
    assert record(optimize(as_duckdb(data.sample(fraction=1.0, shuffle=True, seed=4)), "y", **options)) == expected


@pytest.mark.usefixtures("few_cells")
@pytest.mark.parametrize("columns", [["a", "code"], ["a", "b", "code"], ["code", "day"]])
def test_joint_grid_of_a_sample(columns):
    data = wide().select(*columns)
    found = optimize(data.lazy())
    given = gridmodl.Model.from_partitions(data, None, found.partitions)
    assert found.sample_rows > 0
    assert found.cost == pytest.approx(given.cost, rel=1e-13)
    for name, partition in found.partitions.items():
        other = given.partitions[name]
        np.testing.assert_array_equal(partition.n_values, other.n_values)
        np.testing.assert_array_equal(partition.counts, other.counts)
        assert list(map(set, partition.groups)) == list(map(set, other.groups))
        if partition.kind == "numerical":
            assert str(partition.domain) == str(other.domain)
        else:
            assert partition.value_rows.sum() == len(data)
    assert record(optimize(as_duckdb(data.sample(fraction=1.0, shuffle=True, seed=4)))) == record(found)


def with_targets(n=6000):
    """`wide` with a numerical target of many values, and classes of which some are rare."""
    data, rng = wide(n).drop("w", "y"), np.random.default_rng(5)
    a = data["a"].fill_nan(0.0).to_numpy()
    kind = np.where(a > 0.5, rng.integers(0, 5, n), rng.integers(3, 12, n))
    kind[:3] = [97, 98, 99]
    z = np.where(data["b"].to_numpy() > 1.0, 3.0, -1.0) * (a > 0) + rng.normal(size=n)
    return data.with_columns(kind=pl.Series([f"k{one}" for one in kind]), z=pl.Series(z))


@pytest.mark.usefixtures("few_cells")
@pytest.mark.parametrize(("target", "kind"), [("kind", "grouped"), ("z", "numerical")])
@pytest.mark.parametrize("max_groups", [10**6, 64])
def test_grid_of_a_sample_with_a_partitioned_target(target, kind, max_groups, monkeypatch):
    monkeypatch.setattr(lazy_data, "JOINT_ROWS", 100)
    monkeypatch.setattr(lazy_data, "JOINT_GROUPS", max_groups)
    data = with_targets().drop({"kind": "z", "z": "kind"}[target])
    found = optimize(data.lazy(), target, target_kind=kind, random_state=0)
    assert 1000 < found.sample_rows < 2000
    assert "a" in found.informative
    assert found.target.n_parts > 1
    assert (found.resolution > 0) == (kind == "numerical" and max_groups == 64)
    given = gridmodl.Model.from_partitions(data, target, found.all_partitions, target_kind=kind)
    assert found.cost == pytest.approx(given.cost, rel=1e-12)
    assert found.null_cost == pytest.approx(given.null_cost, rel=1e-12)
    np.testing.assert_array_equal(found.cells.counts, given.cells.counts)
    np.testing.assert_array_equal(found.target.rows, given.target.rows)
    if kind == "numerical":
        mean, *quantiles = found.predict(data)
        np.testing.assert_allclose(mean, given.predict(data)[0], rtol=1e-9, atol=1e-12)
        width = (data["z"].max() - data["z"].min()) / 64 if found.resolution else 0.0
        np.testing.assert_allclose(quantiles, given.predict(data)[1:], rtol=1e-9, atol=width)
    else:
        assert {"k97", "k98", "k99"} <= {value for group in found.target.groups for value in group}
        np.testing.assert_array_equal(found.predict_proba(data), given.predict_proba(data))
    shuffled = as_duckdb(data.sample(fraction=1.0, shuffle=True, seed=4))
    again, expected = record(optimize(shuffled, target, target_kind=kind, random_state=0)), record(found)
    if kind == "numerical":  # sums of rows are added up in another order
        assert np.allclose(again["spread"].pop("means"), expected["spread"].pop("means"), rtol=1e-12)
        if found.resolution:
            assert np.allclose(again["spread"].pop("percentiles"), expected["spread"].pop("percentiles"), rtol=1e-12)
    assert again == expected


def test_rows_of_a_sample_are_even_shares():
    data = wide(20_000).drop("w")
    cells = lazy_cells(nw.from_native(data.lazy()), ["a", "b", "code", "day"], "y", None)
    found = sampled_cells(cells, len(data), 5000)
    assert found[ROWS].sum() == pytest.approx(5000, rel=0.05)
    a = found[column_of(0)].to_numpy()
    for name, all_rows in (("low", data["a"].fill_nan(None).drop_nulls().to_numpy()),):
        for share in (0.1, 0.5, 0.9):
            cut = np.quantile(all_rows, share)
            assert np.mean(a[~np.isnan(a)] <= cut) == pytest.approx(share, abs=0.02), name
    repeated = pl.concat([data.head(3).with_columns(pl.lit(0.5).alias("a"))] * 1000)  # a third each
    cells = lazy_cells(nw.from_native(repeated.lazy()), ["a", "b", "code", "day"], "y", None)
    assert sorted(sampled_cells(cells, 3000, 300)[ROWS].to_list()) == pytest.approx([100] * 3, abs=1)


@pytest.mark.usefixtures("few_cells")
def test_what_a_sample_does_not_take():
    data = wide(3000).drop("w")
    alike = pl.DataFrame({"t": [f"the same beginning {i}" for i in range(10_000)], "s": ["x"] * 10_000})
    with pytest.raises(ValueError, match="too many rows look alike in the first 10 characters"):
        optimize(alike.lazy())
    with pytest.raises(ValueError, match="unlabelled= is for one input column"):
        optimize(data.lazy(), "y", unlabelled=None)
    many = pl.DataFrame({f"c{i}": [1, 2] for i in range(11)})
    with pytest.raises(ValueError, match="data has 11 columns and no target was given"):
        optimize(many.lazy())


@pytest.mark.usefixtures("few_cells")
def test_edit_needs_rows_that_a_sample_does_not_have():
    model = optimize(wide().drop("w").lazy(), "y")
    with pytest.raises(ValueError, match="this model came without its data"):
        model.edit("a", bounds=[0.0])
    assert model.edit("a", merge=[0, 1]).cost >= model.cost


@pytest.mark.usefixtures("few_cells")
def test_rows_that_change_between_queries():
    taken = []

    def fewer(frame):
        taken.append(1)
        return frame.head(len(frame) - len(taken))

    with pytest.raises(EngineError, match="changed between two queries"):
        optimize(wide(3000).drop("w").lazy().map_batches(fewer), "y")


def test_grids_of_few_rows():
    one = pl.DataFrame({"a": [1.0], "b": ["x"], "y": [0]})
    assert record(optimize(one.lazy(), "y")) == record(optimize(one, "y"))
    empty = pl.DataFrame({"a": [None, None], "b": ["x", "y"], "y": [0, 1]}, schema_overrides={"a": pl.Float64})
    assert record(optimize(empty.lazy(), "y")) == record(optimize(empty, "y"))


def test_spread_keeps_the_sums():
    rng = np.random.default_rng(0)
    for _ in range(50):
        part, weights = rng.integers(0, 4, 30), rng.integers(1, 9, 30)
        totals = np.bincount(part, weights, 4).astype(int)
        of_values = [
            (p, n) for p in range(4) if totals[p] for n in np.diff([0, *sorted({1, totals[p] // 2, totals[p]})])
        ]
        value_part, value_rows = (np.array(one) for one in zip(*((p, n) for p, n in of_values if n), strict=True))
        row, value, pieces = spread(part, weights, value_part, value_rows)
        assert np.array_equal(part[row], value_part[value])
        assert np.array_equal(np.bincount(row, pieces, 30), weights)
        assert np.array_equal(np.bincount(value, pieces, len(value_rows)), value_rows)


def test_price_of_the_found_grid_is_its_cost(few_cells):
    data = wide().drop("w")
    found = optimize(data.lazy(), "y")
    assert price(data, "y", found.partitions) == pytest.approx(found.cost, rel=1e-13)
