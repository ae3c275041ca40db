"""Joint grids, without a target: what they cost, what they say, and what becomes of new rows."""

from __future__ import annotations

import json
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from oracles import naive
from oracles.tiny_grids import random_mixed

from gridmodl import Model, Search, optimize, optimize_each, price
from gridmodl.plugins import criterion_for

JOINT = criterion_for("modl", "joint")
QUICK = Search(effort=1)


def blocks(seed=5, n=3000):
    """Towns and shops in three groups each that go together, as texts."""
    rng = np.random.default_rng(seed)
    towns = rng.integers(0, 30, n)
    shops = np.where(rng.random(n) < 0.85, 3 * rng.integers(0, 7, n) + towns % 3, rng.integers(0, 21, n))
    return pd.DataFrame({"town": [f"t{i:02}" for i in towns], "shop": [f"s{i:02}" for i in shops]})


def mixed(seed=6, n=400):
    """A number, missing at times, a category that follows from it, a constant and noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    colour = np.array(list("abcdef"), dtype=object)[np.digitize(x, [-1, 0, 1]) + 2 * (rng.random(n) < 0.1)]
    return pd.DataFrame({
        "x": np.where(rng.random(n) < 0.1, np.nan, x), "colour": colour, "one": 1.0, "noise": rng.normal(size=n),
    })  # fmt: skip


@pytest.fixture(scope="module")
def pair():
    frame = blocks()
    return frame, optimize(frame)


@pytest.fixture(scope="module")
def several():
    frame = mixed()
    return frame, optimize(frame, search=Search(effort=2, keep_optima=3))


def cost_by_terms(frame, parts, weights=None):
    """The price from the rows up, given the parts of each row by column."""
    times = np.ones(len(frame), dtype=int) if weights is None else weights
    columns = []
    for k, name in enumerate(frame):
        is_categorical = frame[name].dtype == object or isinstance(frame[name].dtype, pd.StringDtype)
        values = np.repeat(frame[name].fillna("none" if is_categorical else -99).to_numpy(), times)
        columns.append(naive.Column(values.tolist(), np.repeat(parts[:, k], times), categorical=is_categorical))
    return naive.price(JOINT, "joint", columns)


# Prices.


@pytest.mark.parametrize("seed", range(12))
def test_prices_are_those_of_the_terms_from_the_rows_up(seed):
    frame, partitions, columns, _, weights, _ = random_mixed(seed)
    model = Model.from_partitions(frame, None, partitions, weights=weights)
    assert model.cost == pytest.approx(naive.price(JOINT, "joint", columns), abs=1e-8)
    nulls = [naive.Column(c.values, [0] * len(c.parts), categorical=c.categorical) for c in columns]
    assert model.null_cost == pytest.approx(naive.price(JOINT, "joint", nulls), abs=1e-8)
    assert price(frame, None, partitions, weights=weights) == model.cost
    for column, partition in zip(columns, model.partitions.values(), strict=True):
        distinct = {part: set() for part in range(partition.n_parts)}
        for value, part in zip(column.values, column.parts, strict=True):
            distinct[part].add(value)
        assert partition.n_values.tolist() == [len(values) for values in distinct.values()]
        assert partition.counts.shape == (partition.n_parts, 1)
    assert model.cells.counts.sum() == model.n_rows == len(columns[0].values)
    Model.from_json(model.to_json())


def test_two_identical_categorical_variables_at_their_finest_and_coarsest():
    """M. Boullé, Data grid models, Formulas 6 and 7: the null grid, and the finest one of two identical variables."""
    values, n = list("abcd"), 12
    data = {"u": values * 3, "v": values * 3}
    log_factorial = lambda k: math.lgamma(k + 1)  # noqa: E731
    log_binomial = lambda a, b: log_factorial(a) - log_factorial(b) - log_factorial(a - b)  # noqa: E731
    ways = {1: 1, 4: 15}  # to divide four values into at most so many groups
    null = 2 * (math.log(4) + math.log(ways[1]) + log_binomial(n + 3, 3) + log_factorial(n) - 4 * log_factorial(3))
    assert price(data, None, {}) == pytest.approx(null)
    finest = log_binomial(n + 15, 15) + log_factorial(n) - 4 * log_factorial(3) + 2 * (math.log(4) + math.log(ways[4]))
    groups = [[value] for value in values]
    assert price(data, None, {"u": groups, "v": groups}) == pytest.approx(finest)


# Searches.


def test_planted_groups_are_found_and_cost_what_they_cost(pair):
    frame, model = pair
    assert (model.problem, model.classes.tolist(), model.target) == ("joint", [], None)
    assert model.cost == pytest.approx(cost_by_terms(frame, model.transform(frame)), rel=1e-9)
    assert model.cost == pytest.approx(price(frame, None, model.partitions), rel=1e-12)
    planted = [[f"t{i:02}" for i in range(30) if i % 3 == g] for g in range(3)]
    assert {frozenset(group) for group in model.partitions["town"].groups} == set(map(frozenset, planted))
    assert len(model.cells.parts) == 9
    assert model.informative == ["town", "shop"]


def test_groups_come_largest_first_and_the_most_typical_values_first(pair):
    frame, model = pair
    for name in frame:
        rows = model.partitions[name].counts[:, 0].tolist()
        assert rows == sorted(rows, reverse=True)
    groups = model.partitions["shop"].groups
    for i, group in enumerate(groups):  # the first of a group is missed more than the last, elsewhere
        moved = []
        for value in (group[0], group[-1]):
            others = [tuple(v for v in other if v != value) for other in groups]
            costs = [
                price(
                    frame,
                    None,
                    {**model.partitions, "shop": [(*o, value) if j == k else o for j, o in enumerate(others)]},
                )
                for k in range(len(groups))
                if k != i
            ]
            moved.append(min(costs))
        assert moved[0] >= moved[1] - 1e-9
    assert model.typical_values("shop", 2) == [group[:2] for group in groups]
    assert model.typical_values("shop", 100) == [tuple(group) for group in groups]
    given = Model.from_partitions(
        frame, None, {"shop": [sorted(group) for group in groups[::-1]], "town": groups_of(model)}
    )
    assert given.partitions["shop"].groups == groups[::-1]  # the user's order of groups, of typical values in each


def groups_of(model):
    return [list(group) for group in model.partitions["town"].groups]


def test_columns_of_all_kinds(several):
    frame, model = several
    assert model.informative == ["x", "colour"]
    assert model.left_out == {
        "one": "it has one value", "noise": "no partition of it beside the others that pays was found",
    }  # fmt: skip
    assert model.cost == pytest.approx(cost_by_terms(frame, model.transform(frame)), rel=1e-9)
    assert model.optima[0].cost == model.cost
    for optimum in model.optima:
        assert list(optimum.partitions) == optimum.informative
        assert price(frame, None, optimum.partitions) == pytest.approx(optimum.cost, rel=1e-9)
    assert "columns left out: 2" in model.summary()
    assert model.partitions["x"].missing == 0


def test_limits_weights_seeds_and_time(pair):
    frame, model = pair
    limited = optimize(frame, max_parts=2, min_rows=0.4, search=QUICK)
    for partition in limited.partitions.values():
        assert partition.n_parts <= 2
        assert partition.counts.min() >= 0.4 * len(frame)
    assert optimize(frame, max_parts=1).left_out == dict.fromkeys(frame, "max_parts=1 leaves it whole")
    counted = frame.value_counts().reset_index(name="n")
    weighted = optimize(counted, weights="n")
    assert weighted.n_rows == len(frame)
    assert weighted.cost == pytest.approx(model.cost, rel=1e-9)
    records = [json.loads(optimize(frame, random_state=3, n_jobs=n).to_json()) for n in (1, 2)]
    assert all(record.pop("elapsed") > 0 for record in records)
    assert records[0] == records[1]
    stopped = optimize(frame, time_limit=0)
    assert stopped.stopped == "time limit"
    assert stopped.cost <= stopped.null_cost
    assert "stopped: time limit" in stopped.summary()
    seen = []
    optimize(frame, search=QUICK, progress=seen.append)
    assert seen


def test_rows_that_say_nothing_of_one_another_are_one_cell():
    rng = np.random.default_rng(8)
    model = optimize({"a": rng.normal(size=60), "b": rng.choice(list("abcd"), 60)})
    assert model.cost == model.null_cost
    assert model.informative == []
    assert model.mutual_information == 0.0
    assert model.cell_of({"a": [1.0], "b": ["never"]}).tolist() == [0]
    table = model.cell_table()
    assert table["rows"].tolist() == [60]
    assert table["density"] == pytest.approx([60 / (60 * 4)])
    assert "no column informative" in repr(model)


# What a model says.


def test_information_density_and_lift_of_cells(pair):
    frame, model = pair
    table = model.cell_table()
    assert list(table) == ["town", "shop", "rows", "share", "density", "lift", "mutual_information"]
    assert table["rows"].tolist() == sorted(table["rows"], reverse=True)
    parts = model.transform(frame)
    joint = pd.crosstab(parts[:, 0], parts[:, 1]).to_numpy() / len(frame)
    expected = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    information = float(np.sum(joint * np.log(joint / expected)))
    assert model.mutual_information == pytest.approx(information)
    assert table["mutual_information"].sum() == pytest.approx(information)
    first = table.iloc[0]
    i, j = (model.partitions[name].labels.index(first[name]) for name in ("town", "shop"))
    assert first["rows"] == round(joint[i, j] * len(frame))
    assert first["lift"] == pytest.approx(joint[i, j] / expected[i, j])
    n_values = [len(model.partitions[name].groups[part]) for name, part in (("town", i), ("shop", j))]
    assert first["density"] == pytest.approx(first["rows"] / math.prod(n_values))
    assert isinstance(model.cell_table("polars"), pl.DataFrame)
    assert "times expected" in model.summary()


def test_tables_of_parts(pair, several):
    frame, model = pair
    table = model.table("shop")
    assert list(table) == ["part", "rows", "share", "values"]
    assert table["values"].tolist() == [len(group) for group in model.partitions["shop"].groups]
    assert table["rows"].sum() == len(frame)
    with pytest.raises(ValueError, match="name must be one of the columns 'town', 'shop', got None"):
        model.table()
    numbers = several[1].table("x")
    assert numbers["values"].sum() == several[0]["x"].nunique() + 1  # missing is a value


def test_total_correlation_of_three_variables():
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    data = {"a": a, "b": b, "c": a ^ b}
    model = Model.from_partitions(data, None, {name: [0.5] for name in data})
    shares = np.bincount(4 * a + 2 * b + (a ^ b), minlength=8) / 200
    marginals = [np.bincount(column, minlength=2) / 200 for column in data.values()]
    expected = np.einsum("i,j,k->ijk", *marginals).ravel()
    filled = shares > 0
    assert model.mutual_information == pytest.approx(np.sum(shares[filled] * np.log(shares[filled] / expected[filled])))
    assert model.cell_table()["mutual_information"].sum() == pytest.approx(model.mutual_information)


def test_new_rows(pair):
    frame, model = pair
    assert model.transform(frame).shape == (len(frame), 2)
    new = pd.DataFrame({"town": ["t00", "nowhere"], "shop": ["s01", "s01"]})
    assert model.transform(new, unknown="largest")[1, 0] == model.partitions["town"].rows.argmax()
    assert model.transform(new)[1, 0] == -1
    assert model.cell_of(new, unknown="neutral")[1] == -1
    assert model.part_of("town", ["t00"])[0] == model.part_of("town", "t00") == model.transform(new)[0, 0]
    with pytest.raises(ValueError, match="the training data did not have"):
        model.part_of("town", ["nowhere"], unknown="error")
    with pytest.raises(ValueError, match="name must be one of the columns 'town', 'shop', got 'x'"):
        model.part_of("x", [1])
    cells = model.cell_of(frame)
    assert np.bincount(cells).tolist() == model.cells.rows.tolist()


def test_what_a_joint_grid_cannot_say(pair, several):
    frame, model = pair
    for call in (model.predict, model.predict_proba):
        with pytest.raises(
            ValueError, match=r"this model \(joint\) has no classes to predict; use transform or cell_of"
        ):
            call(frame)
    with pytest.raises(ValueError, match=r"rules are of classes in cells.*cell_table"):
        model.rules()
    with pytest.raises(ValueError, match="column 'x' is numerical: only groups"):
        several[1].typical_values("x")
    for n in (0, 1.5):
        with pytest.raises(ValueError, match=f"n must be a whole number of at least 1, got {n}"):
            model.typical_values("shop", n)
    with pytest.raises(ValueError, match="only models without a target, or with a partitioned target"):
        optimize(frame["town"], np.arange(len(frame)) % 2).typical_values("town")


def test_files_pickles_and_edits(pair):
    frame, model = pair
    again = Model.from_json(model.to_json())
    assert again.to_json() == model.to_json()
    assert again.summary() == model.summary()
    assert np.array_equal(again.cell_of(frame), model.cell_of(frame))
    assert pickle.loads(pickle.dumps(model)).mutual_information == model.mutual_information  # noqa: S301
    groups = groups_of(model)
    edited = model.edit("town", groups=[groups[0] + groups[1], groups[2]])
    assert edited.delta > 0
    assert edited.cost == pytest.approx(price(frame, None, edited.partitions), rel=1e-12)
    assert edited.edit("town", groups=groups).cost == pytest.approx(model.cost, rel=1e-12)
    alone = model.edit("town", groups=[[value for group in groups for value in group]])
    assert alone.left_out == {"town": "it has one part as given"}


def test_a_coarser_model_and_its_hierarchy(pair):
    frame, model = pair
    coarse = model.coarsen(max_cells=4)
    assert len(coarse.cells.parts) <= 4
    assert coarse.cost == pytest.approx(price(frame, None, coarse.partitions), rel=1e-9)
    assert len(model.hierarchy()) == 4


# Errors.


def test_one_column_without_a_target():
    for data in (np.arange(10.0), np.zeros((10, 1)), pd.Series([1, 2])):
        assert optimize(data).problem == "density"
    assert price(np.arange(10.0), None, {}) == optimize(np.arange(10.0)).null_cost
    with pytest.raises(ValueError, match=r"a single value besides its special ones, 0\.0, and no width; name it in"):
        price(np.zeros((10, 1)), None, {})
    for call in (optimize, lambda data: price(data, None, {})):
        with pytest.raises(TypeError, match=r"one column, 'a', and no target.*density.*two columns or more"):
            call({"a": list("ab")})
    with pytest.raises(ValueError, match=r"none was given; optimize\(data\), without a target, makes one joint grid"):
        optimize_each(np.zeros((10, 3)))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"monotone": "auto"}, NotImplementedError, "monotone= limits the class shares"),
        ({"target_kind": "grouped"}, ValueError, "target_kind='grouped' says what the target is, and no target"),
        ({"criterion": "aic"}, ValueError, "criterion 'aic' cannot price 'joint'"),
        ({"search": "exact"}, ValueError, "search='exact' cannot find a grid"),
        ({"kinds": {"c": "categorical"}}, ValueError, "kinds names column 'c'"),
    ],
)
def test_what_cannot_be_asked(options, error, message):
    with pytest.raises(error, match=message):
        optimize({"a": [1, 2, 3], "b": [1, 2, 3]}, **options)


def test_ten_columns():
    rng = np.random.default_rng(2)
    x = rng.integers(0, 2, 300)
    data = {f"c{k}": np.where(rng.random(300) < 0.9, x, 1 - x) for k in range(10)}
    model = optimize(data, search=QUICK)
    assert model.cost < model.null_cost
    assert model.cost == pytest.approx(price(data, None, model.partitions), rel=1e-9)


@pytest.mark.parametrize("n_columns", [11, 400])
def test_more_columns_than_a_joint_grid_serves_are_refused(n_columns):
    counts = np.random.default_rng(0).integers(0, 3, (30, n_columns))
    message = (
        f"data has {n_columns} columns and no target was given; a joint grid is for 10 columns at most.*"
        r"table of counts.*gridmodl\.GridCoclustering.*scipy\.sparse\.csr_matrix\(data\).*choose some columns"
    )
    with pytest.raises(ValueError, match=message):
        optimize(counts)
    assert price(counts, None, {"x0": [0.5], "x1": [0.5]}) > 0.0
