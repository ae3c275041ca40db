"""Missing values in training: where they may go under missing="auto" and "apart", and limits that never move them."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import gridmodl
from gridmodl import Model, optimize, price, verify

NAN = math.nan


def sample(seed, n=14, n_values=6, n_classes=2, share=0.35):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, n_values, n).astype(float)
    y = rng.integers(0, n_classes, n)
    y = np.where(rng.random(n) < 0.6, (x > n_values / 2).astype(int), y)
    x[rng.random(n) < share] = NAN
    if not np.isnan(x).any():
        x[0] = NAN
    if np.isnan(x).all():
        x[-1] = 1.0
    return x, y


def all_partitions(x, missing, min_rows, max_parts):
    """Bounds of all partitions that the limits allow; a first bound of NaN is for missing values apart."""
    values = np.unique(x[~np.isnan(x)])
    middles = (values[1:] + values[:-1]) / 2
    n_missing = int(np.isnan(x).sum())
    for n in range(len(middles) + 1):
        for bounds in itertools.combinations(middles.tolist(), n):
            rows = np.bincount(np.searchsorted(bounds, x[~np.isnan(x)]), minlength=n + 1)
            if n + 1 <= max_parts and (np.all(rows >= min_rows) or (missing == "apart" and n == 0)):
                yield [NAN, *bounds]
            rows[0] += n_missing
            if missing == "auto" and n + 1 <= max_parts and (np.all(rows >= min_rows) or n == 0):
                yield list(bounds)


def is_monotone(x, y, bounds):
    inner = [bound for bound in bounds if not math.isnan(bound)]
    part = np.searchsorted(inner, x[~np.isnan(x)])
    ys = y[~np.isnan(x)]
    if len(inner) == len(bounds):  # missing values are in the lowest interval
        part, ys = np.append(part, np.zeros(np.isnan(x).sum(), int)), np.append(ys, y[np.isnan(x)])
    shares = [ys[part == i].mean() for i in range(len(inner) + 1)]
    return all(low <= high + 1e-12 for low, high in itertools.pairwise(shares))


@pytest.mark.parametrize("criterion", ["modl", "bic", "entropy", "mdlp"])
@pytest.mark.parametrize("missing", ["auto", "apart"])
@pytest.mark.parametrize("min_rows", [1, 3, 5])
def test_nothing_is_cheaper_among_all_partitions(criterion, missing, min_rows):
    for seed in range(12):
        x, y = sample(seed, n_classes=2 + seed % 2)
        max_parts = [99, 1, 2, 3][seed % 4]
        costs = [
            price(x, y, {"x0": bounds}, criterion=criterion)
            for bounds in all_partitions(x, missing, min_rows, max_parts)
        ]
        model = optimize(
            x, y, criterion=criterion, missing=missing, min_rows=min_rows, max_parts=max_parts, search="exact"
        )
        assert model.cost == pytest.approx(min(costs), abs=1e-9)
        assert model.proven
        check(model, x, y, missing, min_rows)
        heuristic = optimize(
            x, y, criterion=criterion, missing=missing, min_rows=min_rows, max_parts=max_parts, search="merge"
        )
        assert heuristic.cost >= model.cost - 1e-9
        check(heuristic, x, y, missing, min_rows)


def check(model, x, y, missing, min_rows):
    """The limits hold, the cost is that of the parts, and the proof is verified."""
    (partition,) = model.partitions.values()
    if missing == "apart" and (~np.isnan(x)).any():
        assert partition.is_missing_apart
    rows = partition.rows[int(partition.is_missing_apart) :]
    assert len(rows) == 1 or np.all(rows >= min_rows)
    bounds = [*([NAN] if partition.is_missing_apart else []), *partition.bounds]
    assert price(x, y, {"x0": bounds}, criterion=model.criterion) == pytest.approx(model.cost, abs=1e-9)
    assert verify(model, x, y), verify(model, x, y).reason
    again = Model.from_json(model.to_json())
    assert verify(again, x, y)
    assert np.array_equal(np.bincount(again.transform(x), minlength=partition.n_parts), partition.rows)


@pytest.mark.parametrize("missing", ["auto", "apart"])
@pytest.mark.parametrize("min_rows", [1, 4])
def test_monotone_partitions(missing, min_rows):
    for seed in range(20):
        x, y = sample(seed)
        allowed = [b for b in all_partitions(x, missing, min_rows, 99) if is_monotone(x, y, b)]
        costs = [price(x, y, {"x0": bounds}) for bounds in allowed]
        model = optimize(x, y, missing=missing, min_rows=min_rows, monotone="increasing")
        assert model.cost == pytest.approx(min(costs), abs=1e-9)
        assert model.proven
        assert verify(model, x, y), verify(model, x, y).reason


def test_min_rows_forces_no_missing_rows_into_another_part():
    """600 missing rows with half of the events got the rate of an interval with 2 %."""
    rng = np.random.default_rng(0)
    x = np.append(rng.normal(size=10_000), np.full(600, NAN))
    y = np.append(rng.random(10_000) < 0.02, rng.random(600) < 0.5)
    for missing in ("auto", "apart"):
        model = optimize({"x": x}, y, min_rows=0.1, missing=missing)
        assert model.partitions["x"].labels[0] == "missing"
        assert model.predict_proba([NAN])[0, 1] > 0.4
        assert model.proven


@pytest.mark.parametrize("make", [lambda x: x, lambda x: [None if value != value else f"v{value:.0f}" for value in x]])
def test_values_beside_missing_ones_keep_min_events(make):
    x, y = np.array([np.nan] * 6 + [1.0] * 20), np.array([1] * 6 + [0] * 18 + [1] * 2)
    for least, n_parts in ((2, 2), (3, 1)):  # the values have two rows of class 1
        model = optimize(make(x), y, criterion="aic", min_events=least)
        assert model.partitions["x0"].n_parts == n_parts
        assert verify(model, make(x), y)
    assert optimize(make(x), y, criterion="aic", min_events=3, missing="apart").partitions["x0"].n_parts == 2


def test_missing_values_that_tell_nothing_are_joined_or_apart():
    x = np.append(np.arange(40.0), [NAN] * 2)
    y = np.append(np.arange(40) >= 20, [False, False])
    joined, apart = (optimize(x, y, missing=missing) for missing in ("auto", "apart"))
    assert joined.partitions["x0"].labels == ["(-inf, 19.5] or missing", "(19.5, inf)"]
    assert apart.partitions["x0"].labels == ["missing", "(-inf, 19.5]", "(19.5, inf)"]
    assert apart.cost > joined.cost
    assert apart.certificate.missing == "apart"
    assert "missing" in Model.from_json(apart.to_json()).partitions["x0"].labels
    forged = replace(joined, certificate=replace(joined.certificate, missing="apart"))
    assert verify(forged, x, y).reason == (
        "the missing values of 'x0' share a part, and the certificate is for a part of their own"
    )


def test_columns_without_missing_values_or_with_nothing_else():
    y = [0, 1] * 10
    assert optimize(np.arange(20.0), y, missing="apart").partitions["x0"].missing is None
    only = optimize(np.full(20, NAN), y, missing="apart", kinds={"x0": "numerical"})
    assert only.partitions["x0"].n_parts == 1
    assert only.transform([NAN]).tolist() == [0]


@pytest.mark.parametrize("missing", ["auto", "apart"])
def test_a_part_of_missing_values_does_not_count_for_max_parts(missing):
    x = np.append(np.arange(60.0), [NAN] * 20)
    y = np.repeat([0, 1, 0, 2], 20)
    labels = [optimize(x, y, missing=missing, max_parts=n).partitions["x0"].labels for n in (1, 2, 3, 4)]
    assert [len(one) for one in labels] == [2, 3, 4, 4]
    assert all(one[0] == "missing" for one in labels)
    town = np.append(np.repeat(["a", "b", "c"], 20), [None] * 20)
    groups = [optimize(town, y, missing=missing, max_parts=n).partitions["x0"].groups for n in (1, 2)]
    assert groups[0] == (("a", "b", "c"), (None,))
    assert {frozenset(group) for group in groups[1]} == {frozenset(["a", "c"]), frozenset("b"), frozenset([None])}
    data = {"x": x, "z": np.tile([0.0, 0.0, 1.0], 27)[:80]}
    model = optimize(data, 2 * y + data["z"], missing=missing, max_parts=3, random_state=0)
    assert [len(part.bounds) for part in model.partitions.values()] == [2, 1]
    assert model.partitions["x"].is_missing_apart


def test_special_codes_beside_missing_values_apart():
    x, y = sample(5, n=40)
    x[:4] = -999.0
    model = optimize(x, y, missing="apart", special={"x0": [-999.0]}, min_rows=6)
    labels = model.partitions["x0"].labels
    assert (labels[0], labels[-1]) == ("missing", "special -999")
    assert verify(model, x, y)


def test_missing_by_column():
    x, y = sample(3, n=60)
    frame = pd.DataFrame({"a": x, "b": x, "y": y})
    models = gridmodl.optimize_each(frame, "y", missing={"a": "apart"})
    assert models["a"].partitions["a"].is_missing_apart
    assert models["b"].cost == optimize(x, y).cost


def test_semi_supervised():
    x, y = sample(7, n=40)
    marked = np.where(np.arange(40) % 3 == 0, -1, y)
    for missing in ("auto", "apart"):
        for min_rows in (1, 15):
            model = optimize(x, marked, unlabelled=-1, missing=missing, min_rows=min_rows)
            partition = model.partitions["x0"]
            if missing == "apart" or min_rows == 15:
                assert partition.missing == 0
            bounds = [*([NAN] if partition.is_missing_apart else []), *partition.bounds]
            assert price(x, marked, {"x0": bounds}, unlabelled=-1) == pytest.approx(model.cost, abs=1e-9)
            assert verify(model, x, marked, unlabelled=-1), verify(model, x, marked, unlabelled=-1).reason


def few_missing(n=600):
    """Two columns, the first with 40 missing values of a class of their own."""
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=n), rng.normal(size=n)
    y = (x > 0.5).astype(int)
    x[:40], y[:40] = NAN, np.arange(40) % 2
    return {"x": x, "z": np.where(rng.random(n) < 0.9, y, 1 - y) + z / 9}, y


@pytest.mark.parametrize("kind", ["grid", "joint", "numerical", "categories"])
def test_min_rows_forces_no_missing_rows_of_a_grid_into_another_part(kind):
    data, y = few_missing()
    x, target = data["x"], y
    if kind == "categories":
        data["x"] = [
            None if value != value else "high" if value > 0.5 else "low" if value < -1 else "mid" for value in x
        ]
    if kind == "joint":
        data["z"], target = np.where(np.isnan(x) | (np.arange(600) < 120), "m", np.where(x > 0.5, "a", "b")), None
    if kind == "numerical":
        data, target = {"x": x}, np.where(np.isnan(x), 9.0, x) + data["z"] / 9

    def found(min_rows):
        search = gridmodl.Search("vns", effort=1, keep_optima=3)
        return optimize(data, target, min_rows=min_rows, search=search, random_state=0)

    model = found(100)
    part = model.partitions["x"]
    assert part.rows[part.missing] == 40
    assert np.delete(part.rows, part.missing).min() >= 100
    assert all(np.delete(one.rows, one.missing if one.missing is not None else []).min() >= 100
               for one in model.partitions.values())  # fmt: skip
    assert model.cost == pytest.approx(price(data, target, model.all_partitions), rel=1e-12)
    assert model.cost < model.null_cost
    assert [one.cost for one in model.optima] == sorted(one.cost for one in model.optima)
    # Beside a rest of fewer rows than the limit they stay.
    assert found(570).partitions["x"].n_parts == 1
    two = optimize(data, target, min_rows=100, max_parts={"x": 2}, search="merge", random_state=0)
    assert len(two.partitions["x"].bounds) <= 1


@pytest.mark.parametrize(
    "how",
    [
        {"data": {"a": [1.0, NAN] * 10}, "target": np.arange(20.0), "target_kind": "numerical"},
        {"data": {"a": [1.0, NAN] * 10}, "target": np.arange(20), "target_kind": "grouped"},
    ],
)
def test_where_the_target_is_partitioned_too_it_is_refused(how):
    for missing in ("apart", {"a": "apart"}):
        with pytest.raises(NotImplementedError, match="missing='apart' is for one column with classes"):
            optimize(**how, missing=missing)
    assert optimize(**how, missing="auto").cost == optimize(**how).cost


@pytest.mark.parametrize(
    "how",
    [{"kinds": {"c": "categorical"}, "special": {"c": ["n/a"]}}, {"order": {"c": ["b"]}, "special": {"c": ["b"]}}],
)
def test_missing_values_that_are_all_but_special_parts_are_the_one_part_that_is_always_allowed(how):
    data = {"c": [None, None, None, *how["special"]["c"]]}
    model = optimize(data, [0, 1, 1, 1], min_events=3, **how)
    assert model.proven
    assert verify(model, data, [0, 1, 1, 1])
