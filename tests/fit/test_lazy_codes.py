"""Grids of lazy frames by codes of atoms, and parts that are improved on all rows."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

import duckdb
import numpy as np
import polars as pl
import pytest
from oracles.lazy_frames import as_duckdb, record

import gridmodl
from gridmodl import optimize, price, verify
from gridmodl.clock import Clock
from gridmodl.data.remote.queries import EngineError
from gridmodl.fit.lazy import codes as lazy_codes
from gridmodl.fit.lazy import data as lazy_data
from gridmodl.fit.lazy import grid as lazy_grid
from gridmodl.fit.lazy.codes import coded_cells, improved_parts
from gridmodl.fit.models import best_model
from gridmodl.fit.options import Options

QUICK = gridmodl.Search("vns", effort=1)


def rows_of(n=5000, seed=2):
    """Two columns of many values that tell the class together, with all that values can be; and others beside."""
    rng = np.random.default_rng(seed)
    a, b = np.round(rng.normal(size=n), 4), rng.exponential(size=n)
    town = rng.integers(0, 12, n)
    a[:9], b[9:13], b[13:15] = np.nan, np.inf, -np.inf
    b[rng.random(n) < 0.1] = -1.0
    is_event = (a > 0.2) ^ (b > 0.7) ^ (town % 4 == 0)
    return pl.DataFrame(
        {
            "a": a,
            "b": b,
            "town": [None if i % 97 == 0 else f"t{value}" for i, value in enumerate(town.tolist())],
            "w": rng.integers(0, 3, n),
            "y": np.where(rng.random(n) < 0.9, is_event, ~is_event),
        }
    )


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    """Limits for small tables: atoms of some hundred rows, and zooms over buckets of some ten."""
    monkeypatch.setattr(lazy_grid, "MAX_CELLS", 3000)
    monkeypatch.setattr(lazy_codes, "CODE_CELLS", 3000)
    monkeypatch.setattr(lazy_codes, "LEAST_ATOMS", 6)
    monkeypatch.setattr(lazy_data, "MAX_GROUPS", 300)
    monkeypatch.setattr(lazy_grid, "SAMPLE_ROWS", 700)


OPTIONS = pytest.mark.parametrize(
    "options",
    [
        {},
        {"weights": "w"},
        {"special": {"b": [-1.0], "town": ["t1"]}, "missing": "apart"},
        {"special": [-1.0], "min_rows": 150},
        {"fixed": {"a": [0.25]}, "allowed": {"b": [0.5, 0.75, 1.0]}, "event": False},
        {"max_parts": 2, "criterion": "bic", "kinds": {"town": "categorical"}},
    ],
)


def without_weights(data, options):
    return data if "weights" in options else data.drop("w")


@OPTIONS
def test_grid_by_codes_is_as_cheap_as_in_memory_and_exact(options):
    data = without_weights(rows_of(), options)
    found = optimize(data.lazy(), "y", search=QUICK, random_state=0, **options)
    assert (found.sample_rows, found.proven, found.gap) == (0, False, None)
    assert 100 < found.resolution < 2500
    assert f"searched by codes, values counted together in up to {found.resolution} rows" in found.summary()
    expected = optimize(data, "y", search=QUICK, random_state=0, **options)
    assert found.cost <= expected.cost + 1e-9 * abs(expected.cost)
    weights = {"weights": "w"} if "weights" in options else {}
    given = gridmodl.Model.from_partitions(
        data, "y", found.partitions, criterion=options.get("criterion", "modl"), **weights
    )
    assert found.cost == pytest.approx(given.cost, rel=1e-13)
    assert found.null_cost == pytest.approx(expected.null_cost, rel=1e-13)
    np.testing.assert_array_equal(found.cells.parts, given.cells.parts)
    np.testing.assert_array_equal(found.cells.counts, given.cells.counts)
    for name, partition in found.partitions.items():
        np.testing.assert_array_equal(partition.counts, given.partitions[name].counts)
        assert partition.n_missing == given.partitions[name].n_missing
        assert [str(one) for one in partition.labels] == [str(one) for one in expected.partitions[name].labels]
    assert verify(found, data.lazy(), "y", **weights)
    assert verify(found, data, "y", **weights)
    shuffled = as_duckdb(data.sample(fraction=1.0, shuffle=True, seed=4))
    assert record(optimize(shuffled, "y", search=QUICK, random_state=0, **options)) == record(found)


def test_files_say_that_values_were_counted_together():
    data = rows_of().drop("w")
    found = optimize(data.lazy(), "y", search=QUICK, random_state=0)
    again = gridmodl.Model.from_json(found.to_json())
    assert record(again) == record(found)
    assert again.resolution == found.resolution > 0
    written = json.loads(found.to_json())
    with pytest.raises(gridmodl.ModelFileError, match="resolution: must be an integer from 0 to 5000"):
        gridmodl.Model.from_json(json.dumps(written | {"resolution": 5001}))
    with pytest.raises(gridmodl.ModelFileError, match="proven: must be false, as values were counted together"):
        gridmodl.Model.from_json(json.dumps(written | {"proven": True}))
    with pytest.raises(gridmodl.ModelFileError, match="proven: must be false, as a sample was searched"):
        gridmodl.Model.from_json(json.dumps(written | {"proven": True, "resolution": 0, "sample_rows": 9}))
    counts = found.transform(data.lazy()).collect()["a"].value_counts()
    assert dict(counts.iter_rows()) == dict(enumerate(found.partitions["a"].rows.tolist()))


def test_verify_on_the_engine_sees_what_is_wrong():
    data = rows_of().drop("w")
    model = optimize(data.lazy(), "y", search=QUICK, random_state=0)
    forged = json.loads(model.to_json()) | {"cost": model.cost - 1.0}
    assert "the cost is" in verify(gridmodl.Model.from_json(json.dumps(forged)), data.lazy(), "y").reason
    assert "rows in the parts" in verify(model, data.lazy().with_columns(pl.col("a") + 0.1), "y").reason
    assert "the data has 4999 rows" in verify(model, data.head(4999).lazy(), "y").reason
    assert not verify(model, data.lazy().with_columns(town=pl.lit("new")), "y")
    assert verify(model, data.lazy().with_columns(more=pl.lit(1)), "y")
    with pytest.raises(ValueError, match="pass only these, and the target"):
        verify(model, data.with_columns(more=pl.lit(1)), "y")
    with pytest.raises(ValueError, match="counts are of one at a time"):
        verify(model, gridmodl.count(data, "y"))


def test_verify_takes_joint_grids_and_partitioned_targets():
    data = rows_of(1500).select("a", "town", z=pl.col("a").fill_nan(0.0) * 2 + pl.col("b").clip(-1, 3))
    for target in (None, "z"):
        rows = data if target else data.drop("z")
        model = optimize(rows.lazy(), target, search=QUICK, random_state=0)
        assert verify(model, rows.lazy(), target)


def test_columns_of_all_types():
    data = rows_of()
    a = data["a"].fill_nan(0.0)
    whole = (a * 10_000).cast(pl.Int64)
    data = data.select(
        "b",
        "y",
        price=pl.Series([Decimal(value) / 10_000 for value in whole.to_list()], dtype=pl.Decimal(12, 4)),
    )
    days = [dt.datetime(2020, 1, 1) + dt.timedelta(hours=value) for value in whole.to_list()]
    for name, values in (
        ("price", data["price"]),
        ("moment", pl.Series(days)),
        ("moment", pl.Series(days).dt.replace_time_zone("UTC")),
        ("day", pl.Series(days).dt.date()),
        ("identifier", whole + 2**60),
        ("single", a.cast(pl.Float32)),
    ):
        table = data.drop("price").with_columns(values.alias(name))
        found = optimize(table.lazy(), "y", search=QUICK, random_state=0)
        expected = optimize(table, "y", search=QUICK, random_state=0)
        assert found.resolution > 0, name
        assert found.partitions[name].labels == expected.partitions[name].labels, name
        assert found.cost == pytest.approx(expected.cost, rel=1e-13)


def test_many_categories_and_many_columns_go_to_a_sample():
    rng = np.random.default_rng(0)
    data = rows_of().drop("w").with_columns(code=pl.Series([f"c{i}" for i in rng.integers(0, 1500, 5000)]))
    found = optimize(data.lazy(), "y", search="merge")
    assert (found.resolution, found.sample_rows > 0) == (0, True)
    assert price(data, "y", found.partitions) == pytest.approx(found.cost, rel=1e-13)
    more = rows_of().select("y", *(pl.Series(f"x{k}", rng.random(5000)) for k in range(6)))
    assert optimize(more.lazy(), "y", search="merge").sample_rows > 0


def test_parts_of_a_sample_are_improved_on_all_rows(monkeypatch):
    monkeypatch.setattr(lazy_codes, "LEAST_ATOMS", 10**6)
    data = rows_of().drop("w")
    found = optimize(data.lazy(), "y", search=QUICK, random_state=0)
    expected = optimize(data, "y", search=QUICK, random_state=0)
    assert 500 < found.sample_rows < 1000
    assert found.cost <= expected.cost * (1 + 1e-9)
    monkeypatch.setattr(lazy_codes, "MAX_SWEEPS", 0)
    assert optimize(data.lazy(), "y", search=QUICK, random_state=0).cost > found.cost + 1


def test_improved_parts_are_the_best_of_one_column_beside_the_others():
    """Tried against all bounds of a column, the other one as it is."""
    rng = np.random.default_rng(1)
    a, b = rng.random(400), rng.random(400)
    data = pl.DataFrame(
        {"a": a, "b": b, "y": (rng.random(400) < np.where((a > 0.6) ^ (b > 0.4), 0.9, 0.1)).astype(int)}
    )
    counted = lazy_data.counted_data(data.lazy(), "y", None, None)
    start = gridmodl.Model.from_partitions(data, "y", {"a": [0.3], "b": [0.4]})
    found = improved_parts(counted[0], start.partitions, Options(), counted[1], Clock(), 3000)
    bounds = np.sort(a)
    costs = [price(data, "y", {"a": [bound], "b": found["b"]}) for bound in ((bounds[1:] + bounds[:-1]) / 2).tolist()]
    assert price(data, "y", found) == pytest.approx(min(costs), rel=1e-12)


def test_codes_are_of_all_rows(monkeypatch):
    data = rows_of().drop("w")
    counted, read = lazy_data.counted_data(data.lazy(), "y", None, None)

    def alone(name):
        return lambda table: best_model(table, name, Options(), 0, Clock())

    found = coded_cells(counted, Options(), read, alone, 3000)
    a = found.table.column("a", None)
    assert found.table.target.n_rows == 5000
    assert len(np.unique(a.values[~a.missing])) >= 6
    order = np.argsort(a.values[~a.missing], kind="stable")
    lows, highs = a.values[~a.missing][order], a.ends[~a.missing][order]
    assert np.all((lows[1:] == lows[:-1]) | (lows[1:] > highs[:-1]))
    assert set(lows) | set(highs) <= set(data["a"].fill_nan(None).drop_nulls().to_list())
    monkeypatch.setattr(lazy_codes, "CODE_CELLS", 60)
    assert coded_cells(counted, Options(), read, alone, 3000) is None


def test_rows_that_change_between_queries():
    for after in (4, 8, 14):
        taken = []

        def changed(frame, taken=taken, after=after):
            taken.append(1)
            return frame if len(taken) < after else frame.with_columns(pl.col("a") * -1)[: len(frame) - len(taken)]

        with pytest.raises(EngineError, match="changed between two queries"):
            optimize(rows_of().drop("w").lazy().map_batches(changed), "y", search="merge")


def test_time_limit_gives_a_grid_of_all_rows():
    found = optimize(rows_of().drop("w").lazy(), "y", time_limit=0)
    assert found.stopped == "time limit"
    assert price(rows_of().drop("w"), "y", found.partitions) == pytest.approx(found.cost, rel=1e-13)


def test_codes_that_the_engine_lacks(monkeypatch):
    def fails(*_):
        raise NotImplementedError("no")

    monkeypatch.setattr(lazy_codes, "lazy_cells", fails)
    with pytest.raises(EngineError, match="lacks an operation that counting column 'a, b, town' needs"):
        optimize(rows_of().drop("w").lazy(), "y", search="merge")


def test_times_that_the_engine_cannot_convert_to_utc_go_to_a_sample():
    data = rows_of().drop("w")
    hours = (data["a"].fill_nan(0.0) * 10_000).cast(pl.Int64).to_list()
    moments = pl.Series([dt.datetime(2020, 1, 1) + dt.timedelta(hours=one) for one in hours])
    data = data.drop("a").with_columns(moment=moments.dt.replace_time_zone("UTC"))
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'Europe/Berlin'")
    found = optimize(connection.from_arrow(data.to_arrow()), "y", search=QUICK, random_state=0)
    assert (found.resolution, found.sample_rows > 0) == (0, True)
    assert price(data, "y", found.partitions) == pytest.approx(found.cost, rel=1e-13)
