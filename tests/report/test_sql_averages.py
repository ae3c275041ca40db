"""SQL of averages says what `predict_proba` says, up to 1e-12."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest
import sqlglot
from report.databases import DIALECTS, Stored, held, run

from gridmodl import average

NAN, INF = np.nan, np.inf
ALL = [*DIALECTS, "bigquery", "snowflake", "spark"]


def assert_same(dialect, found, stored, values=None):
    query = found.to_sql(dialect, keep=["row number"])
    rows = held(dialect, stored.values)
    expected = found.predict_proba(stored.values if values is None else values)[rows]
    stored = Stored(stored.type, [stored.values[i] for i in rows])
    answers = np.array(run(dialect, query, {str(found.name): stored}), dtype=float)
    assert answers.shape == expected.shape
    assert np.abs(answers - expected).max() <= 1e-12


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seed", range(3))
def test_numbers(dialect, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=700 if seed else 60)
    x[::7], x[1::9] = NAN, -99.0
    y = rng.integers(0, 2 + seed, len(x))
    found = average({"x": x}, y, special={"x": [-99, -98]} if seed < 2 else None)
    values = [None, *rng.normal(size=200).tolist(), -99.0, -98.0, 1e300, -1e300, *found.knots.tolist()[:9]]
    assert_same(dialect, found, Stored("double", values), [NAN, *values[1:]])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_edges(dialect):
    assert_same(dialect, average([5.0], ["a"]), Stored("double", [None, 5.0, 6.0]), [NAN, 5.0, 6.0])
    wide = average([-1.7e308, 0.0, 1.7e308], [0, 1, 1])
    assert_same(dialect, wide, Stored("double", [-1.7e308, -1e308, 0.0, 1e307, 1.7e308]))
    infinite = average([-INF, 0.0, 1.0, INF], [0, 0, 1, 1])
    assert_same(dialect, infinite, Stored("double", [-INF, -3.0, 0.0, 0.5, 1.0, 8.0, INF]))
    large = average(np.array([2**60, 2**60 + 5, 2**61]), [0, 1, 1])
    values = np.array([2**60 - 7, 2**60 + 1, 2**60 + 4, 2**61 + 1])
    assert_same(dialect, large, Stored("int64", values.tolist()), values)
    codes = average({"x": [-1, -2, -2]}, [0, 1, 1], special={"x": [-1, -2]})
    assert_same(dialect, codes, Stored("int64", [-1, -2, 7]))
    missing = average({"x": [NAN, NAN, 1.0, 2.0]}, [0, 1, 1, 1])
    assert_same(dialect, missing, Stored("double", [None, 1.25]), [NAN, 1.25])


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("zone", [None, dt.UTC])
def test_moments(dialect, zone):
    days = np.datetime64("2024-01-01T00:00:00") + np.array([0, 5_000, 90_000, 100_000, 200_000])
    moments = [moment.replace(tzinfo=zone) for moment in days.tolist()]
    found = average({"x": np.array(moments, dtype=object)}, [0, 0, 1, 0, 1])
    asked = [moments[0] - dt.timedelta(days=400), *(moment + dt.timedelta(seconds=77) for moment in moments)]
    is_text = dialect == "sqlite"
    form = "%Y-%m-%d %H:%M:%S"
    stored = [moment.strftime(form) + ("+00:00" if zone and is_text else "") if is_text else moment for moment in asked]
    assert_same(dialect, found, Stored("instant" if zone else "moment", stored), np.array(asked, dtype=object))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("m", [512, 4])
def test_levels(dialect, m):
    rng = np.random.default_rng(0)
    levels = ["it's low", "mid", "high", "unseen", "top", "n/a", *(f"level {i}" for i in range(9))]
    x = [levels[i] if i >= 0 else None for i in rng.choice([-1, 0, 1, 2, 4, 5, 7, 8, 9, 11], 200)]
    found = average({"x": x}, rng.integers(0, 3, 200), order={"x": levels}, special={"x": ["n/a"]}, m=m)
    asked = [None, *levels, "no level", "LOW"]
    assert_same(dialect, found, Stored("text", asked), np.array(asked, dtype=object))
    without = average({"x": ["b", "a"]}, [0, 1], order={"x": ["a", "b"]})
    assert_same(dialect, without, Stored("text", [None, "a", "z"]), np.array([None, "a", "z"], dtype=object))
    numbers = average({"x": [3, 1, 1]}, [0, 1, 1], order={"x": [3, 2, 1]})
    assert_same(dialect, numbers, Stored("int64", [1, 2, 3, 4]))


@pytest.mark.parametrize("dialect", ALL)
def test_all_dialects_parse(dialect):
    rng = np.random.default_rng(0)
    found = average({"it's": rng.random(40)}, np.array(["no", 'y"es'])[rng.integers(0, 2, 40)])
    query = found.to_sql(dialect, table=("s", "t"), column="other", keep=["id"])
    (parsed,) = sqlglot.parse(query, read=dialect)
    assert len(parsed.selects) == 3
    days = average(np.datetime64("2024-01-01") + np.arange(3), [0, 0, 1])
    sqlglot.parse_one(days.to_sql(dialect), read=dialect)
    levels = average({"x": ["b", "a"]}, [0, 1], order={"x": ["a", "b"]})
    assert len(sqlglot.parse_one(levels.to_sql(dialect), read=dialect).selects) == 2


def test_what_cannot_be_is_said():
    found = average([1, 2], [0, 1])
    with pytest.raises(ValueError, match="dialect"):
        found.to_sql("oracle")
    with pytest.raises(TypeError, match="keep must be"):
        found.to_sql("duckdb", keep="id")
    with pytest.raises(ValueError, match="durations"):
        average(np.array([1, 2], dtype="timedelta64[s]"), [0, 1]).to_sql("duckdb")
