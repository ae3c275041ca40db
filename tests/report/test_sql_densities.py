"""Densities in DuckDB and SQLite are those of `Model.log_density`."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pandas as pd
import pytest
import sqlglot
from report.databases import Stored, run

import gridmodl
from gridmodl import Model, optimize
from gridmodl.report import cell_lines

DIALECTS = ["duckdb", "sqlite"]
ALL = ["postgres", "duckdb", "sqlite", "bigquery", "snowflake"]
NAN = math.nan


def assert_same(model, dialect, new, data=None, **options):
    """Densities in the database are those of the model, to 1e-12; NULL is NaN."""
    query = model.to_sql(dialect, keep=["row number"], output="log_density", **options)
    found = [NAN if log is None else log for (log,) in run(dialect, query, new)]
    data = {name: stored.values for name, stored in new.items()} if data is None else data
    expected = model.log_density(pd.DataFrame(data))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    return expected


def mixed(missing_apart=False):
    rng = np.random.default_rng(0)
    n = 300
    a = np.where(rng.random(n) < 0.3, 0.0, rng.normal(size=n) + 5).round(2)
    b = np.where(rng.random(n) < 0.2, NAN, a * 2 + rng.normal(size=n) * 0.3)
    b[:5] = -99.0
    c = np.array(["u", "v'", "w", None], dtype=object)[np.clip(np.digitize(a, [1, 4, 6]), 0, 3)]
    level = pd.Categorical(
        np.array(["low", "mid", "high"])[rng.integers(0, 3, n)], ["low", "mid", "high"], ordered=True
    )
    frame = pd.DataFrame({"a": a, "b": b, "c": c, "level": level, "one": 5.0})
    parts = {"a": [-50.0, 2.0, 4.0, 5.5, 90.0], "b": [*([NAN] if missing_apart else []), 8.0, 11.0],
             "c": [["u", None], ["v'", "w"]], "level": [["low"], ["mid", "high"]]}  # fmt: skip
    return frame, Model.from_partitions(frame, None, parts, special={"b": [-99.0, -98.0]})


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("missing_apart", [False, True])
def test_a_joint_grid(dialect, missing_apart):
    frame, model = mixed(missing_apart)
    rng = np.random.default_rng(1)
    rows = frame.sample(250, random_state=0, replace=True).reset_index(drop=True).astype({"level": object})
    for name in rows:  # combinations of parts that no row has
        rows[name] = rng.permutation(rows[name])
    rows.loc[:9, "a"] = [-60.0, -1.0, 1e-300, 0.0, 2.0, 2.1, 91.0, NAN, 5.5, math.inf]
    rows.loc[10:13, "b"] = [-98.0, -99.0, 1e9, -1e9]
    rows.loc[14:15, "c"] = ["never seen", None]
    rows.loc[16, "level"] = "unseen"
    ends = model.partitions["a"]
    rows.loc[20 : 19 + 2 * len(ends.lowest), "a"] = [*ends.lowest, *ends.highest]
    plain = rows.astype(object).where(~rows.isna(), None)
    new = {name: Stored("text" if name in ("c", "level") else "double", plain[name].tolist()) for name in rows}
    expected = assert_same(model, dialect, new, rows)
    assert np.isnan(expected).sum() >= 3
    everything = model.to_sql(dialect, keep=["row number"], output=["parts", "labels", "cell", "log_density"])
    found = np.array([row[-1] for row in run(dialect, everything, new)], dtype=float)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_dates_and_large_whole_numbers(dialect):
    days = np.datetime64("2020-01-01") + np.array([0, 1, 2, 30, 31, 32, 32, 60, 60])
    big = np.array([0, 2, 4, 10, 20, 30, 30, 40, 40]) + 2**60
    model = Model.from_partitions(
        {"day": days, "big": big}, None, {"day": [days[2] + 9, days[6]], "big": [2**60 + 6, 2**60 + 35]}
    )
    asked = [dt.datetime(2020, 1, 1) + dt.timedelta(hours=12 * i) for i in range(-4, 130)]
    numbers = [2**60 + i % 45 - 2 for i in range(len(asked))]
    kind = "moment"
    stored = [one.isoformat(" ") for one in asked] if dialect == "sqlite" else asked
    new = {"day": Stored(kind, stored), "big": Stored("int64", numbers)}
    assert_same(model, dialect, new, {"day": np.array(asked, dtype="M8[us]"), "big": numbers})


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kind", ["numerical", "grouped"])
@pytest.mark.parametrize("several", [False, True])
def test_a_target_given_its_inputs(dialect, kind, several):
    rng = np.random.default_rng(1)
    x, z = rng.integers(0, 10, 80).astype(float), rng.choice(list("ab"), 80)
    y = np.where(x < 5, 1.0, 6.0) + rng.random(80) + (z == "a")
    if kind == "grouped":
        y = np.array(list("pqrs"))[np.clip(y.astype(int) // 2, 0, 3)]
    inputs = {"x": x, "z": z} if several else {"x": x}
    target = [3.0, 6.5] if kind == "numerical" else [["p", "q"], ["r", "s"]]
    parts = {"x": [2.5, 4.5], "target": target} | ({"z": [["a"], ["b"]]} if several else {})
    model = Model.from_partitions(inputs, y, parts, target_kind=kind)
    values = [*y[:20].tolist(), *([0.5, 3.5, 9.5, None] if kind == "numerical" else ["p", "s", "other", None])]
    new = {"x": Stored("double", [*x[:20].tolist(), 1.0, 7.0, None, 3.0])}
    new |= {"z": Stored("text", [*z[:18].tolist(), "never", None, "a", "b", "a", "b"])} if several else {}
    assert_same(model, dialect, {**new, "target": Stored("text" if kind == "grouped" else "double", values)})
    renamed = {**new, "amount": Stored("text" if kind == "grouped" else "double", values)}
    data = {**{name: one.values for name, one in new.items()}, "target": values}
    assert_same(model, dialect, renamed, data, columns={"target": "amount"})


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("criterion", ["modl", "bayesian-blocks", "penalized-likelihood"])
def test_one_column(dialect, criterion):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=200), np.zeros(80), rng.uniform(5, 6, 100)])
    model = optimize({"x": x}, criterion=criterion, random_state=0)
    assert model.partitions["x"].n_special == 1
    assert_same(model, dialect, {"x": Stored("double", [*x[::20].tolist(), 0.0, 3.0, -90.0, 90.0, None, NAN])})


@pytest.mark.parametrize("dialect", DIALECTS)
def test_one_column_of_whole_numbers_and_of_days(dialect):
    """Outside of the domain too, and between the points of the lattice, beside a bound of the user."""
    rows = np.random.default_rng(1).integers(0, 12, 900)
    rows[:200] = 4
    model = optimize({"x": rows}, fixed=[6])
    values = [-1.0, -0.51, -0.5, 0.0, 3.49, 3.5, 3.51, 4.0, 6.0, 6.2, 6.5, 6.7, 7.0, 11.0, 11.5, 11.6, 1e9, None]
    logs = assert_same(model, dialect, {"x": Stored("double", values)})
    assert logs[9] == logs[8] != logs[11]
    assert max(logs[0], logs[1], *logs[15:17]) < min(logs[2:15])
    days = optimize({"x": np.datetime64("2024-01-01") + rows})
    asked = [dt.date(2023, 12, 29) + dt.timedelta(days=i) for i in range(20)]
    stored = [one.isoformat() for one in asked] if dialect == "sqlite" else asked
    assert_same(days, dialect, {"x": Stored("date", stored)}, {"x": np.array(asked, dtype="M8[D]")})
    huge = optimize({"x": rows + 2**60})
    assert_same(huge, dialect, {"x": Stored("int64", [2**60 + i for i in range(-3, 16)])})


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_single_cell_and_columns_without_numbers(dialect):
    model = Model.from_partitions({"a": [1.0, 2.0, 5.0], "c": list("xyy")}, None, {})
    new = {"a": Stored("double", [0.0, 1.5, 9.0, None]), "c": Stored("text", ["x", "y", "z", "y"])}
    assert_same(model, dialect, new)
    empty = Model.from_partitions({"a": [NAN] * 2, "c": ["x", "y"]}, None, {}, kinds={"a": "numerical"})
    assert_same(empty, dialect, {**new, "a": Stored("double", [None, 1.0, None, NAN])})


@pytest.mark.parametrize("dialect", ALL)
def test_the_grammar_of_each_dialect(dialect):
    _, model = mixed()
    (statement,) = sqlglot.parse(model.to_sql(dialect, output=["parts", "log_density"]), dialect=dialect)
    assert statement.selects[-1].alias_or_name == "log_density"


def test_what_is_refused(monkeypatch):
    _, model = mixed()
    assert "log_density" not in model.to_sql("duckdb")
    classes = Model.from_partitions([1, 2, 3, 4], ["a", "a", "b", "b"], {"x0": [2.5]})
    with pytest.raises(ValueError, match="output must be one or several of"):
        classes.to_sql("duckdb", output="log_density")
    infinite = Model.from_partitions({"x": [1.0, math.inf], "y": list("ab")}, None, {"x": [1.5]})
    with pytest.raises(ValueError, match="range of column 'x' is not known"):
        infinite.to_sql("duckdb", output="log_density")
    monkeypatch.setattr("gridmodl.report.sql.densities.MAX_LINES", 3)
    assert cell_lines.MAX_LINES == 100_000
    with pytest.raises(ValueError, match="coarsen the model"):
        model.to_sql("duckdb", output="log_density")


def test_public_names():
    assert gridmodl.Model.to_sql.__doc__.count("log_density")
