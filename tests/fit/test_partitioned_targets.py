"""Targets that are partitioned too: classes in groups, and numbers in intervals."""

from __future__ import annotations

import json
import math
import pickle
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from oracles import naive

from gridmodl import Model, Search, optimize, optimize_each, price
from gridmodl.model.names import names_within
from gridmodl.model.target_quantiles import make_target_quantiles
from gridmodl.plugins import criterion_for

GROUPED = criterion_for("modl", "grouped")
QUICK = Search(effort=1)


def classes_in_groups(seed=0, n=900):
    """Thirty classes in three groups, and columns that tell the group: a number, and texts."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    code = 10 * group + rng.integers(0, 10, n)
    x = group + rng.uniform(0, 1.2, n)
    town = np.array([f"t{i}" for i in range(12)], dtype=object)[4 * group + rng.integers(0, 4, n)]
    return pd.DataFrame({"x": x, "town": town, "noise": rng.normal(size=n), "code": code})


def numbers(seed=0, n=800):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = np.where(x > 0, 5.0, 0.0) + rng.normal(size=n) * 0.5
    town = np.array(list("abcd"), dtype=object)[np.digitize(x, [-1, 0, 1])]
    return pd.DataFrame({"x": x, "town": town, "y": y})


@pytest.fixture(scope="module")
def grouped():
    frame = classes_in_groups()
    return frame, optimize(frame[["x", "code"]], "code", target_kind="grouped")


@pytest.fixture(scope="module")
def numerical():
    frame = numbers()
    return frame, optimize(frame[["x", "y"]], "y")


def cost_by_terms(kind, x, parts, y, target_parts, weights=None, is_text=False):
    times = np.ones(len(x), dtype=int) if weights is None else weights
    repeated = [np.repeat(np.asarray(values), times).tolist() for values in (x, parts, y, target_parts)]
    columns = [
        naive.Column(repeated[0], repeated[1], categorical=is_text),
        naive.Column(repeated[2], repeated[3], categorical=kind == "grouped", is_target=True),
    ]
    return naive.price(GROUPED, kind, columns)


# Prices.


@pytest.mark.parametrize("kind", ["grouped", "numerical"])
@pytest.mark.parametrize("seed", range(6))
def test_prices_are_those_of_the_terms_from_the_rows_up(kind, seed):
    rng = np.random.default_rng(seed)
    n, is_text = 50, seed % 2 == 0
    x = rng.choice(list("abcdef"), n).astype(object) if is_text else rng.integers(0, 9, n).astype(float)
    y = rng.integers(0, 7, n)
    weights = rng.integers(1, 4, n) if seed % 3 == 0 else None
    mine = [list("ab"), list("cd"), list("efz")] if is_text else [2.5, 5.5, 99.0]
    target = [[0, 3], [1, 2, 4], [5, 6]] if kind == "grouped" else [1.5, 4.5]
    partitions = {"x0": mine, "target": target}
    model = Model.from_partitions({"x0": x}, y, partitions, target_kind=kind, weights=weights)
    parts = naive.group(x.tolist(), mine) if is_text else naive.cut(x.tolist(), mine)
    target_parts = naive.group(y.tolist(), target) if kind == "grouped" else naive.cut(y.tolist(), target)
    expected = cost_by_terms(kind, x, parts, y, target_parts, weights, is_text)
    assert model.cost == pytest.approx(expected, abs=1e-8)
    null = cost_by_terms(kind, x, [0] * n, y, [0] * n, weights, is_text)
    assert model.null_cost == pytest.approx(null, abs=1e-8)
    assert price({"x0": x}, y, partitions, target_kind=kind, weights=weights) == model.cost
    whole = Model.from_partitions({"x0": x}, y, {}, target_kind=kind, weights=weights)
    assert (whole.cost, whole.target.n_parts, whole.partitions["x0"].n_parts) == (whole.null_cost, 1, 1)
    counts = Counter()
    for key in zip(parts, target_parts, np.ones(n, int) if weights is None else weights, strict=True):
        counts[key[:2]] += int(key[2])
    assert {tuple(row): int(n) for row, n in zip(model.cells.parts.tolist(), model.cells.rows, strict=True)} == counts
    Model.from_json(model.to_json())


# Classes in groups.


def test_groups_of_classes_are_found(grouped):
    frame, model = grouped
    assert (model.problem, model.target.name, model.target.kind) == ("grouped", "code", "categorical")
    assert model.classes.tolist() == list(range(30))
    assert {frozenset(i // 10 for i in group) for group in model.target.groups} == {frozenset([g]) for g in range(3)}
    assert model.informative == ["x"]
    assert model.left_out == {}
    rows = model.target.counts[:, 0].tolist()
    assert rows == sorted(rows, reverse=True)
    assert model.target.n_values.sum() == 30
    partition = model.partitions["x"]
    parts, target_parts = model.transform(frame[["x"]])[:, 0], model.part_of("code", frame["code"])
    assert model.cost == pytest.approx(
        cost_by_terms("grouped", frame["x"], parts, frame["code"], target_parts), rel=1e-9
    )
    assert partition.counts[:, 0].tolist() == np.bincount(parts).tolist()
    assert repr(model).startswith(
        f"Model('modl', x: {partition.n_parts} parts, code: {model.target.n_parts} parts, cost="
    )


def test_probabilities_of_classes(grouped):
    frame, model = grouped
    shares = model.predict_proba(frame)
    assert shares.shape == (len(frame), 30)
    assert shares.sum(axis=1) == pytest.approx(1)
    x, code = frame["x"].to_numpy(), frame["code"].to_numpy()
    part, group = model.part_of("x", x), model.part_of("code", code)
    rows = Counter(code.tolist())
    for i in (0, 7, 100):  # P(w | part) = N_ij / N_i  n_w / N_j
        here = part == part[i]
        for w in range(30):
            j = model.part_of("code", [w])[0]
            expected = (here & (group == j)).sum() / here.sum() * rows[w] / (group == j).sum()
            assert shares[i, w] == pytest.approx(expected)
    predicted = model.predict(frame)
    assert np.array_equal(predicted, shares.argmax(axis=1))
    assert predicted.dtype == model.classes.dtype
    assert model.class_rows.tolist() == [rows[w] for w in range(30)]


def test_tables_and_texts_of_grouped_classes(grouped):
    _, model = grouped
    table = model.table()
    n_groups = model.target.n_parts
    assert list(table) == ["part", "rows", "share", "values", *(f"share_{j}" for j in range(n_groups))]
    assert table[[f"share_{j}" for j in range(n_groups)]].sum(axis=1).to_numpy() == pytest.approx(1)
    assert list(model.table("code")) == ["part", "rows", "share", "values"]
    assert model.table("code")["values"].tolist() == [len(group) for group in model.target.groups]
    text = model.summary()
    assert "modl, one input column, classes in groups" in text
    assert "900 rows, 30 classes\n" in text
    assert f"code: {n_groups} parts" in text
    assert "group 0" not in text
    assert all(name in text for name in names_within(model.target, 12))  # the heads of the shares
    cells = model.cell_table()
    assert cells["mutual_information"].sum() == pytest.approx(model.mutual_information)
    assert cells["rows"].sum() == 900
    assert model.typical_values("code", 1) == [group[:1] for group in model.target.groups]
    rules = model.rules()
    assert sorted(rule.conditions["x"] for rule in rules) == sorted(model.partitions["x"].labels)
    assert all(set(rule.shares) == set(model.target.labels) and not rule.statistics for rule in rules)


def test_cells_need_the_target_too(grouped):
    frame, model = grouped
    cells = model.cell_of(frame)
    assert np.bincount(cells, minlength=len(model.cells.rows)).tolist() == model.cells.rows.tolist()
    for data in (frame[["x"]], frame["x"], frame["x"].to_numpy()):
        with pytest.raises(ValueError, match="a cell combines a part of each of 'x', 'code'"):
            model.cell_of(data)
    assert model.predict(frame["x"]).tolist() == model.predict(frame["x"].to_numpy()).tolist()


def test_unknown_values_and_parts_without_rows():
    town = ["a", "b", "c"] * 20
    code = ["u", "v", "w"] * 20
    partitions = {"x": [["a"], ["b", "c"], ["empty"]], "target": [["u"], ["v", "w"], ["never"]]}
    model = Model.from_partitions({"x": town}, code, partitions, target_kind="grouped")
    third = pytest.approx(np.full((1, 3), 1 / 3))
    assert model.predict_proba({"x": ["empty"]}) == third
    assert model.predict_proba({"x": ["nowhere"]}, unknown="neutral") == third
    assert model.predict({"x": ["nowhere"]}, unknown="neutral").tolist() == ["u"]
    assert model.predict_proba({"x": ["a", "b"]}).tolist() == [[1, 0, 0], [0, 0.5, 0.5]]
    with pytest.raises(ValueError, match="nowhere"):
        model.predict({"x": ["nowhere"]}, unknown="error")
    assert math.isnan(model.table("x")["share_0"][2])
    assert model.part_of("target", ["never", "else"], unknown="neutral").tolist() == [2, -1]
    Model.from_json(model.to_json())


@pytest.mark.parametrize(
    "names", [list("abcd"), [0, 1, 2, 3], [1.0, 2.0, 3.0, 4.0], [True, False], [b"a", b"b"], ["only"]], ids=str
)
def test_classes_keep_their_type(names):
    code = np.array(names)[np.arange(40) * len(names) // 40]
    model = optimize({"x": np.arange(40.0)}, code, target_kind="grouped", search=QUICK)
    assert model.classes.dtype == code.dtype
    assert model.classes.tolist() == sorted(names)
    assert model.predict({"x": np.arange(40.0)}).dtype == code.dtype
    assert model.part_of("target", code).tolist() == [
        next(j for j, group in enumerate(model.target.groups) if value in group) for value in code.tolist()
    ]
    assert Model.from_json(model.to_json()).predict({"x": [3.0]}).tolist() == model.predict({"x": [3.0]}).tolist()


def test_a_thousand_classes_some_with_one_row():
    rng = np.random.default_rng(1)
    code = np.append(np.arange(1000), rng.integers(0, 500, 4000))
    x = code // 250 + rng.random(5000) * 0.9
    model = optimize(pl.DataFrame({"x": x, "c": [f"k{i:04}" for i in code]}), "c", target_kind="grouped", search=QUICK)
    assert model.cost < model.null_cost
    assert len(model.classes) == 1000
    assert model.class_rows.min() == 1
    shares = model.predict_proba({"x": [0.1, 3.1]})
    assert shares.sum(axis=1) == pytest.approx(1)
    assert np.all(shares[0, 250:500] < shares[0, :250].max())
    assert isinstance(model.cell_table(), pl.DataFrame)
    assert Model.from_json(model.to_json()).predict({"x": [0.1]}).tolist() == model.predict({"x": [0.1]}).tolist()


# Numerical targets.


def test_intervals_of_a_numerical_target_are_found(numerical):
    frame, model = numerical
    assert (model.problem, model.target.name, model.target.kind) == ("numerical", "y", "numerical")
    assert model.classes.tolist() == []
    parts, target_parts = model.part_of("x", frame["x"]), model.part_of("y", frame["y"])
    expected = cost_by_terms("numerical", frame["x"], parts, frame["y"], target_parts)
    assert model.cost == pytest.approx(expected, rel=1e-9)
    assert np.any(np.abs(model.partitions["x"].bounds) < 0.05)
    table = model.table("x")
    assert list(table) == ["part", "rows", "share", "values", "mean", "median", "q5", "q25", "q75", "q95"]
    assert "mean" in model.summary()


def test_predictions_are_those_of_the_rows_of_the_part(numerical):
    frame, model = numerical
    found = model.predict(frame, coverage=0.8)
    parts = model.part_of("x", frame["x"])
    for part in set(parts.tolist()):
        y = frame["y"].to_numpy()[parts == part]
        expected = [y.mean(), np.median(y), np.quantile(y, 0.1), np.quantile(y, 0.9)]
        assert [float(a[parts == part][0]) for a in found] == pytest.approx(expected, rel=1e-9)
        assert all(len(set(a[parts == part].tolist())) == 1 for a in found)
    assert found._fields == ("mean", "median", "lower", "upper")
    wide, none = model.predict(frame, coverage=1), model.predict(frame, coverage=0)
    assert wide.lower.min() == frame["y"].min()
    assert none.lower.tolist() == none.upper.tolist() == none.median.tolist()
    for coverage in (-0.1, 1.5, "half", True, math.nan):
        with pytest.raises(ValueError, match="coverage must be a share of rows from 0 to 1"):
            model.predict(frame, coverage=coverage)
    with pytest.raises(ValueError, match=r"this model \(numerical\) has no classes to predict; predict gives its mean"):
        model.predict_proba(frame)


@pytest.mark.parametrize("weighted", [False, True])
def test_mean_and_percentiles_are_exact(weighted):
    rng = np.random.default_rng(3)
    y, parts = np.round(rng.normal(size=57) * 10), rng.integers(0, 3, 57)
    parts[parts == 1] = 0  # a part without rows
    weights = rng.integers(1, 5, 57) if weighted else None
    quantiles = make_target_quantiles(y, parts, weights, 3)
    times = np.ones(57, dtype=int) if weights is None else weights
    all_rows = np.repeat(y, times)
    for i, mine in enumerate([parts == 0, np.ones(57, bool), parts == 2, np.ones(57, bool)]):
        rows = np.repeat(y[mine], times[mine])
        assert quantiles.means[i] == pytest.approx(float(sum(map(Fraction, rows.tolist())) / len(rows)))
        assert quantiles.percentiles[i] == pytest.approx(np.percentile(rows, np.arange(101)), abs=1e-12)
    assert quantiles.quantile(0.123)[-1] == pytest.approx(np.interp(12.3, np.arange(101), quantiles.percentiles[-1]))
    assert quantiles.percentiles[-1, [0, 100]].tolist() == [all_rows.min(), all_rows.max()]


def test_huge_numbers_do_not_overflow():
    y = np.array([-1.7e308, 1.7e308, 1.5e308, -1.6e308])
    quantiles = make_target_quantiles(y, np.zeros(4, dtype=np.int64), None, 1)
    assert np.all(np.isfinite(quantiles.means))
    assert np.all(np.isfinite(quantiles.percentiles))
    assert np.all(np.diff(quantiles.percentiles, axis=1) >= 0)


def test_groups_of_a_column_come_in_the_order_of_the_mean():
    frame = numbers()
    model = optimize(frame[["town", "y"]], "y")
    means = model.table("town")["mean"].tolist()
    assert means == sorted(means)
    assert model.partitions["town"].n_parts >= 2
    everywhere = model.predict({"town": ["nowhere"]}, unknown="neutral")
    assert everywhere.mean[0] == pytest.approx(frame["y"].mean())
    assert everywhere.median[0] == pytest.approx(frame["y"].median())


def test_whole_numbers_are_a_numerical_target_where_asked():
    x = np.arange(200) % 20
    big = 2**60 + 1000 * x
    for y in (x * 3, x.astype(np.int8), pd.Series(x, dtype="Int64"), x > 9, big):
        model = optimize({"x": x}, y, target_kind="numerical", search=QUICK)
        assert model.problem == "numerical"
        assert model.target.n_parts > 1
        assert np.all(np.diff(model.predict({"x": np.arange(20)}).mean) >= 0)
    assert optimize({"x": x}, x / 7 > 1).problem == "classes"
    assert optimize({"x": x}, x / 8, target_kind="classes").problem == "classes"
    assert model.target.bounds.dtype == np.int64
    assert Model.from_json(model.to_json()).to_json() == model.to_json()


@pytest.mark.parametrize(
    ("target", "options", "error", "message"),
    [
        ([0.5, np.nan, 1.5, 2.5], {}, ValueError, "target has 1 missing values of 4; drop those rows"),
        ([0.5, np.inf, 1.5, -np.inf], {}, ValueError, "target has 2 infinite values of 4, so that it has no mean"),
        (list("abcd"), {"target_kind": "numerical"}, TypeError, "the target holds no numbers"),
        (np.array(["2020-01-01"] * 4, "M8[D]"), {"target_kind": "numerical"}, TypeError, "target holds datetime64"),
        ([0.5, 1.5, 2.5, 3.5], {"criterion": "aic"}, ValueError, "criterion 'aic' cannot price 'numerical'"),
        (list("abcd"), {"target_kind": "grouped", "criterion": "bic"}, ValueError, "cannot price 'grouped'"),
        (["a", None, "b", "c"], {"target_kind": "grouped"}, ValueError, "target has 1 missing values of 4"),
        ([0.5, 1.5, 2.5, 3.5], {"special": {"x": [1]}}, NotImplementedError, "special= is for one column with classes"),
        (list("abab"), {"target_kind": "grouped", "monotone": "auto"}, NotImplementedError, "monotone= is for one"),
        ([0.5, 1.5, 2.5, 3.5], {"search": "exact"}, ValueError, "search='exact' cannot find a grid"),
        ([0.5, 1.5], {}, ValueError, "data has 4 rows and target has 2"),
        (list("abcd"), {"target_kind": "many"}, ValueError, "unknown target_kind 'many'"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked(target, options, error, message):
    with pytest.raises(error, match=message):
        optimize({"x": [1.0, 2.0, 3.0, 4.0]}, target, **options)


def test_several_columns_make_one_grid():
    frame, wide = numbers(), classes_in_groups()
    model = optimize(frame, "y")
    assert (model.problem, model.target.name, model.target.kind) == ("numerical_grid", "y", "numerical")
    singles = optimize_each(frame, "y").items()
    alone = [price(frame, "y", {name: one.partitions[name], "y": one.target}) for name, one in singles]
    assert model.cost < min(alone) + 1e-6
    grid = optimize(wide, "code", target_kind="grouped")
    assert (grid.problem, grid.informative) == ("grouped_grid", ["town"])  # which tells all that x tells
    assert sorted(len(group) for group in grid.target.groups) == [10, 10, 10]


# What both have in common.


@pytest.mark.parametrize("kind", ["grouped", "numerical"])
def test_each_column_on_its_own(kind):
    frame = classes_in_groups()
    models = optimize_each(frame, "code", target_kind=kind, n_jobs=2)
    assert set(models) == {"x", "town", "noise"}
    levels = [model.level for model in models.values()]
    assert levels == sorted(levels, reverse=True)
    assert models["noise"].level == 0
    assert models["noise"].target.n_parts == 1
    assert models["town"].partitions["town"].kind == "categorical"
    table = models.table()
    assert table["target_parts"].tolist() == [model.target.n_parts for model in models.values()]
    assert "target parts" in models.summary()
    alone = optimize(frame[["town", "code"]], "code", target_kind=kind)
    assert alone.cost == models["town"].cost
    records = [json.loads(optimize_each(frame, "code", target_kind=kind, n_jobs=n)["x"].to_json()) for n in (1, 2)]
    assert all(record.pop("elapsed") > 0 for record in records)
    assert records[0] == records[1]


def test_options_hold(grouped, numerical):
    for (frame, model), name, kind in ((grouped, "code", "grouped"), (numerical, "y", None)):
        limited = optimize(frame[["x", name]], name, target_kind=kind, max_parts=2, min_rows=50, search=QUICK)
        for partition in (limited.partitions["x"], limited.target):
            assert partition.n_parts <= 2
            assert partition.counts.min() >= 50
        assert limited.cost >= model.cost - 1e-6
        stopped = optimize(frame[["x", name]], name, target_kind=kind, time_limit=0)
        assert stopped.stopped == "time limit"
        assert stopped.cost <= stopped.null_cost
        times = 1 + np.arange(len(frame)) % 3
        weighted = optimize(frame["x"], frame[name], target_kind=kind, weights=times, search=QUICK)
        repeated = frame.loc[np.repeat(frame.index, times)]
        assert list(weighted.all_partitions) == ["x", "target"]
        again = Model.from_partitions(repeated["x"], repeated[name], weighted.all_partitions, target_kind=kind)
        assert weighted.cost == pytest.approx(again.cost, rel=1e-12)
        if kind is None:
            assert np.array(weighted.predict(frame["x"])) == pytest.approx(np.array(again.predict(frame["x"])))
        assert pickle.loads(pickle.dumps(model)).to_json() == model.to_json()  # noqa: S301


def test_edits_of_both_sides(grouped, numerical):
    _, model = grouped
    first, *others = (list(group) for group in model.target.groups)
    worse = model.edit("code", groups=[first, [value for group in others for value in group]])
    assert worse.delta > 0
    assert worse.edit("code", groups=[first, *others]).cost == pytest.approx(model.cost, rel=1e-12)
    assert model.edit("x", bounds=[0.5]).target.n_parts == model.target.n_parts
    _, model = numerical
    assert model.edit("y", bounds=[0.0]).delta > 0
    with pytest.raises(ValueError, match="name must be one of the columns 'x', 'y', got 'z'"):
        model.edit("z", bounds=[0.0])
    with pytest.raises(TypeError, match="column 'y' is numerical: edit it with bounds="):
        model.edit("y", groups=[[1]])


def test_the_target_has_a_name_that_no_column_has():
    data = {"target": np.arange(40.0)}
    model = optimize(data, np.repeat([0.5, 1.5], 20), search=QUICK)
    assert (list(model.partitions), model.target.name) == (["target"], "target'")
    assert model.part_of("target'", [1.5]).tolist() == [1]
    partitions = {"target": model.partitions["target"], "target'": [1.0]}
    assert price(data, np.repeat([0.5, 1.5], 20), partitions) == pytest.approx(model.cost)
    with pytest.raises(ValueError, match="partitions names column 'z'; the data has 'target', \"target'\""):
        price(data, np.repeat([0.5, 1.5], 20), {"z": []})


def test_predict_of_classes_is_the_most_frequent_class_of_the_cell():
    model = optimize(np.arange(20.0), np.repeat(["no", "yes"], 10))
    assert model.predict([3.0, 15.0]).tolist() == ["no", "yes"]
    grid = Model.from_partitions({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}, [0, 1, 1, 0], {"a": [0.5], "b": [0.5]})
    assert grid.predict({"a": [0, 1, 1], "b": [1, 1, 0]}).tolist() == [1, 0, 1]
    assert grid.mutual_information == pytest.approx(math.log(2))
    assert grid.class_rows.tolist() == [2, 2]
