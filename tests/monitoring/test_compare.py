"""`compare` of models, tables of models and grids, against counts row by row, on frames of all kinds and on engines."""

from __future__ import annotations

import datetime
import json
import math
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import gridmodl
from gridmodl import Comparison, Model
from gridmodl.monitoring.counting import ALL

RNG = np.random.default_rng(1)
HOSTILE = "<script>alert(1)</script>\n\u202e"


def make(n, rng, shift=0.0):
    """Rows with missing values, special codes, categories, levels, dates, weights, periods and two targets."""
    x, colour = rng.normal(shift, 1.0, n), rng.choice(["red", "green", "blue", "grey"], n)
    chance = 1 / (1 + np.exp(-(1.5 * x - 1 + (colour == "red"))))
    buys = np.where(rng.random(n) < chance, "yes", "no")
    x[rng.random(n) < 0.05] = np.nan
    x[rng.random(n) < 0.05] = -999.0
    size = rng.integers(0, 3, n)
    return pl.DataFrame(
        {
            "x": x,
            "colour": colour,
            "rating": np.array(["low", "mid", "high"])[size],
            "day": np.datetime64("2024-01-01") + rng.integers(0, 90, n).astype("m8[D]") + (buys == "yes") * 10,
            "w": rng.integers(0, 4, n),
            "month": rng.choice(["2024-02", "2024-01", "2024-03"], n),
            "amount": np.where(buys == "yes", 5.0, 1.0) * rng.gamma(4.0, 1.0, n),
            "buys": buys,
        }
    )


OLD, NEW = make(3000, RNG), make(900, RNG, 0.3)


@pytest.fixture(autouse=True)
def same_numbers():
    """Numbers of a test do not depend on the tests before it."""
    global RNG
    RNG = np.random.default_rng(2)


INPUTS = ["x", "colour", "rating", "day"]
LEVELS = {"rating": ["low", "mid", "high"]}


@pytest.fixture(scope="module")
def models():
    return gridmodl.optimize_each(
        OLD.select(*INPUTS, "buys"), "buys", order=LEVELS, special={"x": [-999.0]}, event="yes"
    )


@pytest.fixture(scope="module")
def grid():
    data = OLD.select("x", "colour", "buys").filter(pl.col("x") != -999.0)
    return gridmodl.optimize(data, "buys", event="yes")


def strange(n=400):
    """New rows with all that training did not have."""
    new = make(n, np.random.default_rng(5))
    buys = new["buys"].to_list()
    buys[0], buys[1], buys[2] = None, "maybe", None
    colour = new["colour"].to_list()
    colour[:9] = ["pink"] * 6 + [None, "pink", "teal"]
    colour = [None if one == "grey" else one for one in colour]
    x = new["x"].to_numpy().copy()
    x[:4] = [1e6, -50.0, np.inf, -np.inf]
    return new.with_columns(buys=pl.Series(buys), colour=pl.Series(colour), x=pl.Series(x))


def slow_counts(model, name, rows, by=None, weights=None, target="buys"):
    """Rows by period, part (last: no part) and class (last: none), one row at a time."""
    partition, classes = model.partitions[name], model.classes.tolist()
    periods = sorted(set(rows[by].to_list())) if by else [None]
    found = np.zeros((len(periods), partition.n_parts + 1, len(classes) + 1), dtype=int)
    for row in rows.to_dicts():
        p = periods.index(row[by]) if by else 0
        value = row[name]
        part = int(partition.part_of([value], "neutral", "neutral")[0]) if value is not None else (
            -1 if partition.missing is None else partition.missing)  # fmt: skip
        label = row[target] if target else None
        found[p, part, classes.index(label) if label in classes else len(classes)] += row[weights] if weights else 1
    return found


@pytest.mark.parametrize("rows", [NEW, strange()], ids=["new", "strange"])
@pytest.mark.parametrize("weights", [None, "w"])
def test_rows_are_counted_one_by_one(models, rows, weights):
    found = models.compare(rows, "buys", "month", weights=weights, refit=False)
    assert found.periods == (ALL, "2024-01", "2024-02", "2024-03")
    for name, one in found.columns.items():
        slow = slow_counts(models[name], name, rows, "month", weights)
        slow = np.concatenate([slow.sum(axis=0, keepdims=True), slow])
        n = len(one.labels)
        assert slow[:, n:].sum() == 0
        np.testing.assert_array_equal(one.new_rows, slow[:, :n].sum(axis=2))
        np.testing.assert_array_equal(one.new_counts, slow[:, :n, :-1])
        partition = models[name].partitions[name]
        np.testing.assert_array_equal(one.old_counts[: partition.n_parts], partition.counts)
        np.testing.assert_array_equal(one.old_rows[: partition.n_parts], partition.rows)
        assert (one.labels[-1] == "no part") == (n > partition.n_parts)
    assert int(found.n_new[0]) == (rows[weights].sum() if weights else len(rows))
    assert found.n_new[1:].sum() == found.n_new[0]


def test_all_that_training_did_not_have(models):
    rows = strange()
    found = models.compare(rows, "buys", refit=False)
    colour, x = found["colour"], found["x"]
    assert colour.new_values == {"pink": 7, "teal": 1}
    assert colour.vanished == ("grey",)
    n_missing = sum(one is None for one in rows["colour"].to_list())
    assert colour.new_missing[0] == n_missing / 400
    assert colour.old_missing == 0.0
    assert colour.new_rows[0, -1] == n_missing + 8
    assert (x.below[0], x.above[0]) == (2 / 400, 2 / 400)
    assert x.old_missing == np.isnan(OLD["x"].to_numpy()).mean()
    assert np.isnan(colour.below).all()
    assert found.target.new_values == {"maybe": 1}
    assert found.target.labels == ["no", "yes", "other classes"]
    assert found.target.new_rows[0].sum() == 398
    assert found.target.new_missing[0] == 2 / 400
    remarks = found.summary()
    assert "colour: 2 new categories (pink, teal), 8 rows" in remarks
    assert "colour: 1 vanished category (grey)" in remarks
    assert "x: 1.00% of the rows out of the training range" in remarks


def test_rates_and_prices_by_part(models):
    found = models.compare(NEW, "buys", "month")
    one = found["x"]
    rates = one.rates(one.events[0])
    assert one.classes[one.events[0]] == "yes"
    part = models["x"].partitions["x"].part_of(NEW["x"])
    yes = (NEW["buys"] == "yes").to_numpy()
    months = NEW["month"].to_numpy()
    for k, period in enumerate(one.periods):
        inside = np.ones(len(NEW), dtype=bool) if k == 0 else months == period
        for i in range(len(one.labels)):
            chosen = yes[inside & (part == i)]
            if len(chosen):
                assert rates.new[k, i] == pytest.approx(chosen.mean())
            else:
                assert np.isnan(rates.new[k, i])
    counts = models["x"].partitions["x"].counts
    np.testing.assert_allclose(rates.old[0], counts[:, 1] / counts.sum(axis=1))
    overall = (counts.sum(axis=0) + 0.5) / (counts.sum() + 1)
    shares = (counts + overall) / (counts.sum(axis=1, keepdims=True) + 1)
    assert one.old_shares[0] == pytest.approx(-np.log(shares[part, yes.astype(int)]).mean())
    assert np.all(one.best_shares <= one.old_shares)


def test_prices_are_those_of_the_criterion(models):
    for criterion in ("modl", "bic", "g2"):
        if criterion not in gridmodl.list_criteria("classes"):
            continue
        model = gridmodl.optimize(OLD.select("x", "buys"), "buys", criterion=criterion)
        prices = model.compare(NEW, "buys")["x"].prices
        scale = gridmodl.get_criterion(criterion).scale
        unit = (1.0 if scale is None else scale) / len(NEW)
        new = NEW.select("x", "buys")
        same = gridmodl.price(new, "buys", model.partitions, criterion=criterion)
        best = gridmodl.optimize(new, "buys", criterion=criterion).cost
        assert prices.same_parts == pytest.approx(same * unit)
        assert prices.best_parts == pytest.approx(min(best, same) * unit)
        assert prices.in_nats == (scale is not None)


def test_prices_leave_rows_without_a_known_class_out(models):
    rows = strange()
    found = models.compare(rows, "buys", weights="w")
    kept = rows.filter(pl.col("buys").is_in(["yes", "no"]) & (pl.col("w") > 0))
    for name in ("day", "rating"):
        data = kept.select(name, "buys", "w")
        order = {k: v for k, v in LEVELS.items() if k == name}
        same = gridmodl.price(data, "buys", models[name].partitions, weights="w", order=order)
        assert found[name].prices.same_parts == pytest.approx(same / kept["w"].sum())
    groups = [*models["colour"].partitions["colour"].groups, ["pink", "teal", None]]
    groups = [[value for value in group if value in kept["colour"].to_list()] for group in groups]
    same = gridmodl.price(kept.select("colour", "buys", "w"), "buys", {"colour": [g for g in groups if g]}, weights="w")
    assert found["colour"].prices.same_parts == pytest.approx(same / kept["w"].sum())
    assert found["colour"].prices.best_parts <= found["colour"].prices.same_parts
    assert found["x"].prices.best_parts <= found["x"].prices.same_parts
    unknown_level = rows.with_columns(rating=pl.Series(["best", *rows["rating"].to_list()[1:]]))
    other = models.compare(unknown_level, "buys")
    assert math.isnan(other["rating"].prices.same_parts)
    assert other["rating"].new_values == {"best": 1}


def test_cells_of_a_grid(grid):
    rows = NEW.filter(pl.col("x") != -999.0).with_columns(
        colour=pl.when(pl.int_range(pl.len()) < 3).then(pl.lit("pink")).otherwise("colour")
    )
    found = grid.compare(rows, "buys", "month")
    cell = grid.cell_of(rows)
    cells = found.cells
    assert cells.labels[-1] == "other cells"
    np.testing.assert_array_equal(cells.new_rows[0, :-1], np.bincount(cell[cell >= 0], minlength=len(cells.labels) - 1))
    assert cells.new_rows[0, -1] == np.count_nonzero(cell < 0) >= 3
    np.testing.assert_array_equal(cells.old_counts[:-1], grid.cells.counts)
    assert cells.prices.best_parts <= cells.prices.same_parts
    known = rows.filter(pl.col("colour") != "pink")
    same = gridmodl.price(known.select("x", "colour", "buys"), "buys", grid.partitions)
    assert grid.compare(known, "buys").cells.prices.same_parts == pytest.approx(same / len(known))
    assert [*found.columns] == ["x", "colour"]
    assert math.isnan(found["x"].prices.same_parts)
    one_informative = gridmodl.Model.from_partitions(OLD.select("x", "colour", "buys"), "buys", {"x": [0.0]})
    other = one_informative.compare(
        NEW.select("x", "buys"), "buys", refit=False
    )  # colour says nothing and is not there
    assert [*other.columns] == ["x"]
    nothing = gridmodl.Model.from_partitions(OLD.select("x", "colour", "buys"), "buys", {})
    assert nothing.compare(NEW, "buys").cells.labels == ["all rows"]


@pytest.mark.parametrize("kind", ["numerical", "grouped"])
def test_targets_in_parts(kind):
    old, new = OLD, NEW
    if kind == "grouped":
        rng = np.random.default_rng(3)
        old, new = (
            one.with_columns(amount=pl.Series([f"k{int(a)}" if b == "yes" else f"j{int(c)}" for a, b, c in zip(
                rng.integers(0, 4, len(one)), one["buys"], rng.integers(0, 4, len(one)), strict=True)]))
            for one in (OLD, NEW)
        )  # fmt: skip
    model = gridmodl.optimize(old.select("day", "amount"), "amount", target_kind=kind)
    found = model.compare(new, "amount", "month")
    one = found["day"]
    part, of_target = model.partitions["day"].part_of(new["day"]), model.target.part_of(new["amount"])
    expected = np.zeros_like(one.new_counts[0])
    np.add.at(expected, (part, of_target), 1)
    np.testing.assert_array_equal(one.new_counts[0], expected)
    assert one.classes == model.target.names
    assert one.old_counts.sum() == len(old)
    partitions = {"day": model.partitions["day"], "amount": model.target}
    same = gridmodl.price(new.select("day", "amount"), "amount", partitions, target_kind=kind)
    assert one.prices.same_parts == pytest.approx(same / len(new))
    several = gridmodl.optimize_each(old.select("day", "colour", "amount"), "amount", target_kind=kind)
    every = several.compare(new, "amount", refit=False)
    assert every.target is None
    assert every["day"].new_counts.sum() == len(new)
    lazy = several.compare(new.lazy(), "amount", refit=False)
    assert lazy.to_json() == every.to_json()
    assert model.compare(new.lazy(), "amount", "month").to_json() == found.to_json()


def test_models_without_a_target():
    joint = gridmodl.optimize(OLD.select("colour", "rating").sample(300, seed=0))
    found = joint.compare(NEW)
    assert found.cells.new_rows[0].sum() == len(NEW)
    assert found.cells.classes == []
    density = gridmodl.optimize(OLD["x"].to_numpy())
    one = density.compare(NEW["x"].to_numpy())["x0"]
    assert one.labels[-1] == "no part"  # missing values have no density
    assert one.old_rows[-1] == np.isnan(OLD["x"].to_numpy()).sum()
    assert one.new_rows[0, -1] == np.isnan(NEW["x"].to_numpy()).sum()
    with pytest.raises(ValueError, match="the model was made without a target"):
        density.compare(NEW["x"].to_numpy(), NEW["buys"].to_numpy())
    matrix = scipy.sparse.csr_matrix(RNG.integers(0, 3, (30, 20)))
    pair = gridmodl.optimize(matrix)
    assert int(pair.compare(matrix).n_new[0]) == matrix.sum()
    assert pair.compare(matrix).cells.psi[0] == pytest.approx(0.0, abs=1e-12)


def engines(rows):
    yield "polars", rows.lazy()
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.register("rows", rows.to_arrow())
    yield "duckdb", connection.table("rows")


@pytest.mark.parametrize("rows", [NEW, strange()], ids=["new", "strange"])
@pytest.mark.parametrize("arguments", [{}, {"target": "buys", "by": "month"}, {"target": "buys", "weights": "w"}])
def test_engines_count_the_same(models, grid, rows, arguments):
    here = models.compare(rows, **arguments)
    on_grid = grid.compare(rows, **arguments, refit=False)
    for name, lazy in engines(rows):
        there = models.compare(lazy, **arguments)
        assert there.to_json() == here.to_json(), name
        assert grid.compare(lazy, **arguments, refit=False).to_json() == on_grid.to_json(), name


def test_months_of_dates(models):
    by_day = models.compare(NEW, "buys", "day", refit=False)
    assert by_day.periods == (ALL, "2024-01", "2024-02", "2024-03", "2024-04")
    for _, lazy in engines(NEW):
        assert models.compare(lazy, "buys", "day", refit=False).to_json() == by_day.to_json()
    array = NEW["day"].to_numpy()
    models = gridmodl.Models({name: model for name, model in models.items() if name != "day"}, frame="polars")
    assert models.compare(NEW, "buys", array, refit=False).to_json() == by_day.to_json()
    dates = [one.isoformat()[:7] for one in NEW["day"].to_list()]
    assert models.compare(NEW, "buys", dates, refit=False).to_json() == by_day.to_json()
    objects = np.array([datetime.date(2024, 1, 5), None] * (len(NEW) // 2), dtype=object)
    assert models.compare(NEW, by=objects, refit=False).periods == (ALL, "2024-01", "missing")
    zoned = pd.Series(pd.date_range("2024-01-31 20:00", periods=len(NEW), freq="h", tz="America/New_York"))
    assert models.compare(NEW, by=zoned, refit=False).periods[1] == "2024-02"  # in UTC
    numbers = np.where(np.arange(len(NEW)) % 2 == 0, 1.0, np.nan)
    assert models.compare(NEW, by=numbers, refit=False).periods == (ALL, "1.0", "missing")
    lazy = NEW.with_columns(p=pl.Series(numbers)).lazy()
    assert models.compare(lazy, by="p", refit=False).periods == (ALL, "1.0", "missing")


def test_months_of_times_in_a_zone_are_those_of_utc(models):
    first = datetime.datetime(2024, 1, 31, 20, tzinfo=datetime.UTC)
    times = [first + datetime.timedelta(hours=i) for i in range(len(NEW))]
    rows = NEW.with_columns(at=pl.Series(times).dt.convert_time_zone("America/New_York"))
    here = models.compare(rows, by="at", refit=False)
    assert here.periods[1:3] == ("2024-01", "2024-02")
    assert here["colour"].new_rows[1].sum() == 4
    assert models.compare(rows.lazy(), by="at", refit=False).to_json() == here.to_json()
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'America/New_York'")
    connection.register("rows", rows.to_arrow())
    with pytest.raises(ValueError, match="by='at' has times of the zone America/New_York, and its engine cannot"):
        models.compare(connection.table("rows"), by="at", refit=False)


def test_frames_of_all_kinds(models):
    expected = models.compare(NEW, "buys", "month", refit=False).to_json()
    for other in (NEW.to_pandas(), NEW.to_arrow(), NEW.to_dict(as_series=False)):
        assert models.compare(other, "buys", "month", refit=False).to_json() == expected
    arrays = gridmodl.optimize_each(
        np.column_stack([RNG.normal(size=200), RNG.normal(size=200)]), RNG.integers(0, 2, 200)
    )
    found = arrays.compare(np.column_stack([np.zeros(9), np.ones(9)]))
    assert sorted(found.columns) == ["x0", "x1"]
    assert isinstance(found.table(), dict)
    assert found["x1"].above[0] == 0.0
    alone = gridmodl.optimize({"age": [1.0, 2.0, 7.0, 8.0]}, [0, 0, 1, 1])
    assert alone.compare([1.0, 9.0]).n_new.tolist() == [2]
    assert alone.compare(np.array([[1.0], [9.0]]))["age"].above[0] == 0.5
    multi = gridmodl.optimize([1.0, 2.0, 3.0] * 30, [0, 1, 2] * 30)
    one = multi.compare([1.0, 2.0, 3.0] * 20, [0, 1, 2] * 20)["x0"]
    assert one.events == (0, 1, 2)
    assert {"rate_new_0", "rate_new_2", "upper_1"} <= set(multi.compare([1.0], [0]).table("x0"))


@pytest.mark.parametrize(("data", "target"), [([1.0], [0]), ([np.nan, np.nan], [0, 1]), ([3.0] * 5, [0, 1, 0, 1, 0])])
def test_tiny_data(data, target):
    model = gridmodl.optimize(data, target)
    found = model.compare([np.nan, 2.0], [1, 1])
    assert not found.has_drift
    assert found["x0"].p_value.tolist() == [1.0]
    json.loads(found.to_json())
    assert "no drift" in found.summary()
    assert len(found.table()["column"]) == len(found.all_parts)
    assert found.by_period()["period"].tolist() == ["all"] * len(found.all_parts)


def test_verdicts_and_limits(models):
    calm = models.compare(OLD, "buys", "month", refit=False)
    assert calm.drifted == []
    assert {verdict for one in calm.all_parts for verdict in one.verdicts} == {"stable"}
    found = models.compare(make(900, np.random.default_rng(7), 1.0), "buys", refit=False)
    assert "x" in found.drifted
    assert found["x"].drift.tolist() == [True]
    strict = models.compare(make(900, np.random.default_rng(7), 1.0), "buys", refit=False, threshold=5.0, loss=9.0)
    assert strict.drifted == []
    assert strict["x"].verdicts == ["small change"]
    assert models.compare(NEW, alpha=0.0, refit=False).drifted == []
    changed = NEW.with_columns(buys=pl.Series(RNG.permutation(NEW["buys"].to_numpy())))
    relation = models.compare(changed, "buys", refit=False)["x"]
    assert relation.relation_drift.tolist() == [True]
    assert relation.information_lost[0] > 0.1


def test_the_information_lost_is_of_all_rows_or_of_the_period_that_is_named(models):
    def shown(found, name="x"):
        return next(line for line in found.summary().splitlines() if line.startswith(f"  {name} "))

    calm = models.compare(NEW, "buys", "month", refit=False)
    assert not calm["x"].relation_drift.any()
    assert calm["x"].information_lost.max() > calm["x"].information_lost[0]
    assert f" {calm['x'].information_lost[0]:.1%}  " in shown(calm)
    assert f"{calm['x'].information_lost.max():.1%}" not in shown(calm)
    is_last = (NEW["month"] == NEW["month"].max()).to_numpy()
    buys = NEW["buys"].to_numpy().copy()
    buys[is_last] = np.where(buys[is_last] == "yes", "no", "yes")
    changed = models.compare(NEW.with_columns(buys=pl.Series(buys)), "buys", "month", refit=False)
    worst = int(changed["x"].information_lost.argmax())
    assert changed["x"].relation_drift[worst]
    assert worst == 3
    lost = f"{changed['x'].information_lost[3]:.1%} ({changed.periods[3]})"
    assert f" {lost} " in shown(changed)
    assert lost in changed._repr_html_()


def test_tables(models):
    found = models.compare(NEW, "buys", "month", refit=False)
    table = found.table()
    assert isinstance(table, pl.DataFrame)
    assert table["column"].to_list() == [*map(str, found.columns), "target"]
    row = table.row(by_predicate=pl.col("column") == "x", named=True)
    assert row["psi"] == found["x"].psi[0]
    assert row["drift_periods"] == found["x"].verdicts[1:].count("drift")
    parts = found.table("x", period="2024-02", frame="pandas")
    assert parts["rows_new"].tolist() == found["x"].new_rows[2].tolist()
    assert parts["psi"].sum() == pytest.approx(found["x"].psi[2])
    assert list(parts.columns[-5:]) == ["rate_old", "rate_new", "change", "lower", "upper"]
    periods = found.by_period("x")
    assert periods["period"].to_list() == list(found.periods[1:])
    assert periods["rows"].to_list() == found.n_new[1:].tolist()
    month = NEW.filter(pl.col("month") == "2024-03")
    assert periods["rate_new"][2] == pytest.approx((month["buys"] == "yes").mean())
    assert len(found.by_period()) == 3 * len(found.all_parts)
    with pytest.raises(ValueError, match=r"period must be one of 'all', '2024-01'.*did you mean '2024-01'"):
        found.table("x", period="2024-1")
    with pytest.raises(KeyError, match=r"no column 'colours'.*did you mean 'colour'"):
        found.table("colours")
    assert repr(found).startswith("Comparison(4 columns, 900 new rows, ")
    assert repr(found["x"]).startswith("PartsComparison('x', ")
    assert str(found) == found.summary()
    assert isinstance(found, Comparison)


def test_json_and_pages_hold_any_text(models):
    name = HOSTILE
    model = gridmodl.optimize({name: ["a", HOSTILE, "\ud800", "b"] * 30}, ["n", "y", "y", "n"] * 30)
    found = model.compare(
        {name: [HOSTILE, "new </script>", None, "b"] * 10}, ["y", "n", "z", "n"] * 10, [HOSTILE, "p"] * 20
    )
    record = json.loads(found.to_json())
    assert record["format"] == "gridmodl comparison"
    assert record["columns"][0]["new_values"] == [["new </script>", 10]]
    assert record["has_drift"] == found.has_drift
    assert "<script>alert" not in found._repr_html_()
    page = found.to_html()
    assert "<script>alert" not in page
    assert "new </script>" not in page
    assert found.summary()


def test_json_is_written_to_a_file(models, tmp_path):
    found = models.compare(NEW, "buys", refit=False)
    assert (tmp_path / "found.json").exists() is False
    text = found.to_json(tmp_path / "found.json")
    assert (tmp_path / "found.json").read_text(encoding="utf-8") == text
    assert "NaN" not in text
    assert json.loads(text)["columns"][0]["psi"] == found.all_parts[0].psi.tolist()


def test_models_from_files(models):
    again = gridmodl.Models.from_json(models.to_json())
    assert again.compare(NEW, "buys", "month").to_json() == models.compare(NEW, "buys", "month").to_json()
    partition = replace(models["x"].partitions["x"], domain=None, n_missing=None)
    old_file = Model.from_json(replace(models["x"], partitions={"x": partition}).to_json())
    one = old_file.compare(NEW, refit=False)["x"]
    assert np.isnan(one.below).all()
    assert partition.is_missing_apart
    assert one.old_missing == models.compare(NEW, refit=False)["x"].old_missing > 0.0
    joined = models["x"].edit("x", merge=[0, 1]).partitions["x"]
    assert not joined.is_missing_apart
    unknown = replace(models["x"], partitions={"x": replace(joined, n_missing=None)})
    assert math.isnan(unknown.compare(NEW, refit=False)["x"].old_missing)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"new": NEW.head(0)}, ValueError, "new has no rows to compare"),
        ({"new": NEW.drop("x")}, ValueError, "the models need column 'x'"),
        ({"target": "buy"}, ValueError, "target names column 'buy'.*did you mean 'buys'"),
        ({"by": "months"}, ValueError, "by names column 'months'.*did you mean 'month'"),
        ({"target": [1, 2]}, ValueError, "new has 900 rows and target has 2"),
        ({"target": np.zeros(900)}, TypeError, "^target holds 0.0; the classes of training are 'no', 'yes': convert"),
        ({"new": NEW.with_columns(buys=1), "target": "buys"}, TypeError, "^target 'buys' holds 1; the classes of"),
        ({"new": NEW.with_columns(buys=1).lazy(), "target": "buys"}, TypeError, "^target 'buys' holds Int32; the clas"),
        ({"new": NEW.with_columns(x=pl.lit("a"))}, TypeError, "column 'x' holds no numbers.*the model has numbers"),
        ({"by": np.arange(900) % 7, "weights": np.zeros(900)}, ValueError, "all weights are 0"),
        ({"weights": "x"}, ValueError, "weights must be whole numbers"),
        ({"by": np.arange(900) * 1.5, "new": pl.concat([NEW] * 2)}, ValueError, "new has 1800 rows and by has 900"),
        ({"by": np.arange(1800), "new": pl.concat([NEW] * 2)}, ValueError, "1800 different values, and at most 1000"),
        ({"threshold": -1}, ValueError, "threshold must be a number of 0 or more, got -1"),
        ({"alpha": 2}, ValueError, "alpha must be a number from 0 to 1, got 2"),
        ({"loss": "much"}, ValueError, "loss must be a number of 0 or more, got 'much'"),
        ({"refit": 1}, TypeError, "refit must be True or False"),
        ({"new": NEW.lazy(), "target": NEW["buys"]}, TypeError, "must be the name of one of its columns"),
        ({"new": NEW.drop("x").lazy()}, ValueError, "names column 'x'"),
        ({"new": NEW.lazy().with_columns(gridmodl_period=1)}, ValueError, "'gridmodl_period', a name that queries"),
        ({"new": NEW.head(0).lazy()}, ValueError, "new has no rows to compare"),
        ({"new": NEW.lazy(), "weights": "x"}, ValueError, "weights must be whole numbers"),
        ({"new": pl.concat([NEW] * 2).with_row_index("i").lazy(), "by": "i"}, ValueError, "at most 1000 periods"),
    ],
)  # fmt: skip
def test_errors(models, arguments, error, message):
    with pytest.raises(error, match=message):
        models.compare(**{"new": NEW, **arguments})


def test_names_that_mean_something_else():
    model = gridmodl.optimize({"target": [1.0, 2.0, 7.0, 8.0] * 9}, [0, 0, 1, 1] * 9)
    found = model.compare({"target": [1.0, 7.0, 8.0, 9.0]}, [0, 1, 1, 1], ["all", "missing", "all", ""])
    assert found.periods == ("all", "''", "'all'", "'missing'")
    assert found.n_new.tolist() == [4, 1, 2, 1]
    assert found["target"].kind == "numerical"
    assert found.by_period("target")["period"].tolist() == ["''", "'all'", "'missing'"]


def test_a_grid_without_its_columns():
    nothing = gridmodl.Model.from_partitions({"a": [1, 2, 3], "b": [1, 2, 3]}, [0, 1, 0], {})
    found = nothing.compare({"c": [1, 2]})
    assert (found.n_old, found.n_new.tolist(), [*found.columns]) == (3, [2], [])
    assert "no drift" in found.summary()


def test_no_models():
    matrix = scipy.sparse.csr_matrix(np.eye(4, dtype=int))
    with pytest.raises(TypeError, match="whose entries are the weights"):
        gridmodl.optimize(matrix).compare(matrix, weights=np.ones(4))
    with pytest.raises(ValueError, match="there are no models"):
        gridmodl.Models({}).compare(NEW)


def test_the_column_of_periods_is_not_compared():
    models = gridmodl.optimize_each(OLD.select("x", "month", "buys"), "buys")
    later = NEW.select("x", "month", "buys").with_columns(month=pl.lit("2025-01"))
    for rows in (later, later.lazy()):
        assert list(models.compare(rows, "buys", "month").columns) == ["x"]
        assert set(models.compare(rows, "buys").columns) == {"x", "month"}
