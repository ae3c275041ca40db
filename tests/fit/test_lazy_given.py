"""The user's own parts of several columns of a lazy frame cost what they cost in memory."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from oracles.lazy_frames import ENGINES, as_polars

from gridmodl import Model, count, price, verify
from gridmodl.fit.lazy import data as lazy_data
from gridmodl.terms import PROBLEMS


def rows_of(n=600):
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=n).round(2), rng.integers(0, 30, n)
    town = rng.choice(["Bonn", "Lyon", "Oslo", "Rome"], n)
    y = np.where(rng.random(n) < np.where((a > 0) ^ (b > 12), 0.8, 0.2), "yes", "no")
    cells = {"a": [None if i % 17 == 0 else one for i, one in enumerate(a.tolist())], "b": b, "town": town}
    real = (b + rng.normal(size=n)).round(3)
    return pl.DataFrame({**cells, "y": y, "real": real, "w": rng.integers(0, 3, n)})


PARTS = {"a": [-0.505, 0.0], "b": [12.5], "town": [["Bonn", "Rome"], ["Lyon", "Oslo"]]}
CASES = [
    (["a", "b", "town", "y"], "y", PARTS, {}),
    (["a", "b", "town", "y"], "y", {"a": [0.0]}, {"criterion": "bic"}),
    (["a", "b", "town", "y", "w"], "y", PARTS, {"weights": "w"}),
    (["a", "b", "y"], "y", {"a": [0.0], "b": [12.5]}, {"special": {"b": [0, 1]}}),
    (["a", "b", "y"], "y", {"b": [[*range(10)], [*range(10, 30)]]}, {"kinds": {"b": "categorical"}}),
    (["a", "b", "town", "y"], "y", {**PARTS, "y": [["yes"], ["no"]]}, {"target_kind": "grouped"}),
    (["a", "b", "town", "real"], "real", {**PARTS, "real": [9.5, 20.5]}, {"target_kind": "numerical"}),
    (["a", "town"], None, {"a": PARTS["a"], "town": PARTS["town"]}, {}),
    (["a", "b", "town"], None, PARTS, {}),
]


def facts(model):
    """Fields of a file; costs are compared apart, and values of a group have an order of their own without classes."""
    record = json.loads(model.to_json())
    for what in ("elapsed", "frame", "cost", "null_cost"):
        del record[what]
    for partition in [] if PROBLEMS[model.problem].has_classes else record["partitions"]:
        if "groups" in partition:
            values, rows = partition.pop("groups"), partition.pop("value_rows", None)
            values = [value for group in values for value in group]
            partition["rows of values"] = rows and sorted(zip(values, rows, strict=True))
            partition["group of values"] = sorted(values)
    return record


@pytest.mark.parametrize(("names", "target", "parts", "options"), CASES)
@ENGINES
def test_given_parts_cost_what_they_cost_in_memory(engine, names, target, parts, options):
    data = rows_of().select(names)
    found = Model.from_partitions(engine(data), target, parts, **options)
    expected = Model.from_partitions(data, target, parts, **options)
    assert facts(found) == facts(expected)
    assert (found.cost, found.null_cost) == pytest.approx((expected.cost, expected.null_cost), rel=1e-12)
    assert price(engine(data), target, parts, **options) == found.cost
    assert verify(found, engine(data), target, **{k: v for k, v in options.items() if k == "weights"})
    again = Model.from_partitions(engine(data), target, expected.all_partitions, **options)
    assert again.cost == pytest.approx(expected.cost, rel=1e-12)


@ENGINES
def test_a_numerical_target_of_many_values_is_counted_between_its_bounds(engine, monkeypatch):
    monkeypatch.setattr(lazy_data, "JOINT_ROWS", 100)
    monkeypatch.setattr(lazy_data, "JOINT_GROUPS", 64)
    data = rows_of().select("a", "town", "real")
    parts = {"a": [0.0], "town": PARTS["town"], "real": [9.5, 20.5]}
    found, expected = (Model.from_partitions(one, "real", parts) for one in (engine(data), data))
    assert found.resolution > 0
    assert found.cost == pytest.approx(expected.cost, rel=1e-12)
    for name, partition in expected.all_partitions.items():
        np.testing.assert_array_equal(found.all_partitions[name].counts, partition.counts)


def test_what_is_wrong_with_given_parts_is_said():
    data = rows_of().select("a", "town", "y")
    with pytest.raises(ValueError, match="'Rome'"):
        price(as_polars(data), "y", {"town": [["Bonn"], ["Lyon", "Oslo"]]})
    with pytest.raises(ValueError, match="must ascend"):
        price(as_polars(data), "y", {"a": [1.0, 0.0]})
    with pytest.raises(ValueError, match="partitions names column 'twon'"):
        price(as_polars(data), "y", {"twon": []})
    with pytest.raises(ValueError, match="data are counts of 2 columns, each on its own"):
        price(count(as_polars(data), "y"), None, {"a": [0.0]})
    with pytest.raises(TypeError, match="no target was given"):
        price(as_polars(data.select("a")), None, {"a": [0.0]})
