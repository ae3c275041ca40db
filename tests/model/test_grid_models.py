"""Models of several columns: their cells, rules, predictions and prices, what is left out, and how they were found."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import naive
from oracles.tiny_grids import random_mixed
from sklearn.datasets import load_wine

import gridmodl
from gridmodl import Model, Search, get_criterion, list_criteria, optimize, price
from gridmodl.clock import Clock
from gridmodl.data.atoms import Target
from gridmodl.model.cells import make_cells
from gridmodl.plugins import criterion_for
from gridmodl.report.summary import _telling_apart

QUICK = Search(effort=1)


def mixed(seed=0, n=200, noise=0.1):
    """A numerical and a categorical column that tell nothing alone and all together, and columns that tell nothing."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "a": rng.normal(size=n), "c": rng.choice(list("abcdef"), n), "noise": rng.normal(size=n),
        "one": np.ones(n), "none": [None] * n, "id": [f"row {i}" for i in range(n)],
    })  # fmt: skip
    target = ((frame["a"] > 0) ^ frame["c"].isin(list("abc"))).to_numpy()
    frame.loc[::9, "a"] = np.nan
    return frame, np.where(rng.random(n) < noise, ~target, target).astype(int)


@pytest.fixture(scope="module")
def found():
    frame, target = mixed()
    return frame, target, optimize(frame, target, search=Search(effort=3, keep_optima=5))


@pytest.fixture(scope="module")
def wine():
    data = load_wine(as_frame=True)
    return data.data, data.target.to_numpy()


# Cells, against a slow version.

grids = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.lists(st.integers(0, 3), min_size=n, max_size=n), max_size=4),
        st.lists(st.integers(0, 2), min_size=n, max_size=n),
        st.none() | st.lists(st.integers(1, 5), min_size=n, max_size=n),
    )
)


def slow_cells(parts, classes, weights):
    cells = {}
    for key, code, weight in zip(
        zip(*parts, strict=True) if parts else [()] * len(classes), classes, weights, strict=True
    ):
        cells.setdefault(key, [0, 0, 0])[code] += weight
    return dict(sorted(cells.items()))


def made(parts, classes, weights):
    target = Target(np.array(classes, dtype=np.int32), None if weights is None else np.array(weights), 3)
    return make_cells([f"x{k}" for k in range(len(parts))], [np.array(of_rows) for of_rows in parts], target)


@settings(max_examples=150, deadline=None)
@given(grids, st.data())
def test_cells_are_those_of_a_dict(grid, data):
    parts, classes, weights = grid
    cells = made(*grid)
    expected = slow_cells(parts, classes, weights or [1] * len(classes))
    assert [tuple(row) for row in cells.parts.tolist()] == list(expected)
    assert cells.counts.tolist() == list(expected.values())
    assert cells.rows.tolist() == [sum(counts) for counts in expected.values()]
    assert cells.shares().sum(axis=1) == pytest.approx(1)
    if parts:
        rows = data.draw(st.lists(st.tuples(*[st.integers(-1, 5)] * len(parts)), max_size=8))
        numbers = {key: i for i, key in enumerate(expected)}
        columns = [np.array([row[k] for row in rows], dtype=np.int64) for k in range(len(parts))]
        assert cells.cell_of(columns, len(rows)).tolist() == [numbers.get(row, -1) for row in rows]
        of_data = [tuple(row) for row in np.array(parts).T.tolist()]
        found = cells.cell_of([np.array(of_rows) for of_rows in parts], len(parts[0]))
        assert found.tolist() == [numbers[row] for row in of_data]


def test_cells_of_many_variables_never_overflow():
    rng = np.random.default_rng(0)
    parts = [rng.integers(0, 50, 40) for _ in range(60)]  # 50^60 combinations
    cells = make_cells(range(60), parts, Target(np.zeros(40, dtype=np.int32), None, 1))
    assert len(cells.parts) == 40
    assert sorted(cells.cell_of(parts, len(parts[0])).tolist()) == list(range(40))
    assert np.array_equal(cells.parts[cells.cell_of(parts, len(parts[0]))], np.column_stack(parts))
    numbers = {tuple(row): i for i, row in enumerate(cells.parts.tolist())}
    mixed_up = [of_rows[::-1] if k else of_rows for k, of_rows in enumerate(parts)]
    expected = [numbers.get(row, -1) for row in zip(*(of_rows.tolist() for of_rows in mixed_up), strict=True)]
    assert cells.cell_of(mixed_up, len(mixed_up[0])).tolist() == expected


# What a model says.


def test_rules_are_one_per_cell_the_most_frequent_first(found):
    frame, target, model = found
    rules = model.rules()
    assert set(model.informative) == {"a", "c"}
    assert len(rules) == len(model.cells.parts)
    assert [rule.rows for rule in rules] == sorted((rule.rows for rule in rules), reverse=True)
    assert sum(rule.rows for rule in rules) == len(frame)
    assert sum(rule.support for rule in rules) == pytest.approx(1)
    for rule in rules:
        assert sum(rule.shares.values()) == pytest.approx(1)
        assert list(rule.conditions) == model.informative
        assert list(rule.shares) == [0, 1]
        assert f"({rule.rows} rows, {rule.support:.1%})" in str(rule)
        assert all(f"{name} in {label}" in str(rule) for name, label in rule.conditions.items())
    labels = [dict(zip(model.informative, row, strict=True)) for row in cell_labels(model, frame)]
    for rule in rules:
        rows = np.array([label == rule.conditions for label in labels])
        assert rows.sum() == rule.rows
        assert rule.shares[1] == pytest.approx(target[rows].mean())


def cell_labels(model, frame):
    """The labels of the parts of each row, by informative column."""
    parts = {name: model.partitions[name].part_of(frame[name]) for name in model.informative}
    return zip(*([model.partitions[name].labels[i] for i in of_rows] for name, of_rows in parts.items()), strict=True)


def test_a_rule_names_no_class_that_is_not_there_and_the_likeliest_first():
    model = optimize({"x": np.arange(90), "z": np.zeros(90)}, np.repeat(["u", "v", "w"], 30))
    assert [str(rule) for rule in model.rules()] == [
        "x in (-inf, 29.5]: u 100.0% (30 rows, 33.3%)",
        "x in (29.5, 59.5]: v 100.0% (30 rows, 33.3%)",
        "x in (59.5, inf): w 100.0% (30 rows, 33.3%)",
    ]


def test_without_an_informative_column_there_is_one_rule_and_one_cell():
    model = optimize({"x": [1.0, 2.0, 3.0, 4.0], "z": ["a", "b", "a", "b"]}, [0, 0, 1, 0])
    assert model.informative == []
    assert [str(rule) for rule in model.rules()] == ["all rows: 0 75.0%, 1 25.0% (4 rows, 100.0%)"]
    assert model.predict_proba({"x": [9.0], "z": ["never"]}).tolist() == [[0.75, 0.25]]
    assert model.cost == model.null_cost
    assert repr(model) == f"Model('modl', no column informative, cost={model.cost:.6f}, level=0.0000)"


def test_one_column_alone_has_cells_and_rules_too():
    model = optimize(np.arange(20.0), np.repeat([0, 1], 10))
    assert model.cells.parts.tolist() == [[0], [1]]
    assert model.cells.counts.tolist() == [[10, 0], [0, 10]]
    assert model.cell_of([3.0, 15.0]).tolist() == [0, 1]
    assert model.predict_proba([3.0, 15.0]).tolist() == [[1, 0], [0, 1]]
    assert len(model.rules()) == 2


def test_the_table_of_cells_is_of_the_user_s_own_kind(found):
    frame, target, model = found
    table = model.cell_table()
    assert isinstance(table, pd.DataFrame)
    assert list(table) == [*model.informative, "rows", "share", "rows_0", "share_0", "rows_1", "share_1"]
    assert table["rows"].tolist() == [rule.rows for rule in model.rules()]
    assert table["rows"].tolist() == (table["rows_0"] + table["rows_1"]).tolist()
    assert table["share"].sum() == pytest.approx(1)
    assert table[model.informative].to_dict("records") == [rule.conditions for rule in model.rules()]
    polars = model.cell_table("polars")
    assert isinstance(polars, pl.DataFrame)
    assert polars["rows"].to_list() == table["rows"].tolist()
    arrays = model.cell_table("arrays")
    assert isinstance(arrays, dict)
    assert list(arrays["share_1"]) == table["share_1"].tolist()
    of_polars = optimize(pl.DataFrame({"a": frame["a"].to_numpy(), "c": frame["c"].to_list()}), target, search=QUICK)
    assert isinstance(of_polars.cell_table(), pl.DataFrame)


def test_a_column_may_be_called_as_a_column_of_the_table_of_cells():
    x = np.arange(80)
    data = {"rows": x, "share": np.tile([0, 1], 40), "rows_1": np.zeros(80)}
    model = optimize(data, ((x > 39) ^ (x % 2 == 1)).astype(int))
    assert set(model.informative) == {"rows", "share"}
    table = model.cell_table()
    assert len(table) == 2 + 2 + 2 * 2
    assert list(table["rows"]) == [20] * 4


def test_shares_of_cells_are_predicted(found):
    frame, target, model = found
    shares = model.predict_proba(frame)
    assert shares.sum(axis=1) == pytest.approx(1)
    cell = model.cell_of(frame)
    assert set(cell) == set(range(len(model.cells.parts)))
    for i in set(cell):
        assert shares[cell == i, 1] == pytest.approx(target[cell == i].mean())
    assert np.array_equal(model.predict_proba(frame[::-1]), shares[::-1])
    assert model.predict_proba(frame[:0]).shape == (0, 2)


def test_a_cell_without_rows_gives_the_shares_of_all_rows():
    a, b = np.repeat([0, 1, 1], 30), np.repeat([0, 0, 1], 30)
    target = np.repeat([0, 1, 2], 30)
    model = Model.from_partitions({"a": a, "b": b}, target, {"a": [0.5], "b": [0.5]})
    assert model.cells.parts.tolist() == [[0, 0], [1, 0], [1, 1]]
    assert model.cell_of({"a": [0, 0, 1], "b": [1, 0, 1]}).tolist() == [-1, 0, 2]
    assert model.predict_proba({"a": [0], "b": [1]}) == pytest.approx(np.full((1, 3), 1 / 3))


def test_categories_that_were_never_seen(found):
    frame, _, model = found
    new = frame.assign(c="never")
    largest = int(model.partitions["c"].rows.argmax())
    part = [row[model.informative.index("c")] for row in model.cells.parts[model.cell_of(new, "largest")].tolist()]
    assert set(part) == {largest}
    assert set(model.cell_of(new)) == {-1}
    with pytest.raises(ValueError, match="never"):
        model.predict_proba(new, unknown="error")
    with pytest.raises(ValueError, match="the model needs column 'a'"):
        model.predict_proba(frame.drop(columns="a"))


def test_why_columns_are_left_out(found):
    frame, _, model = found
    assert list(model.partitions) == list(frame)
    assert set(model.left_out) == {"noise", "one", "none", "id"}
    assert model.left_out["one"] == model.left_out["none"] == "it has one value"
    price = "at the price of a grid of 6 columns"
    assert model.left_out["noise"] == f"no partition of it alone pays {price}, and none beside the others was found"
    assert all(model.partitions[name].n_parts == 1 for name in model.left_out)
    x = np.arange(60.0)
    twice = optimize({"x": x, "again": x * 2 + 1}, (x > 29).astype(int))
    (name,) = twice.left_out
    assert twice.left_out[name].startswith("alone it has level 0.")
    assert twice.left_out[name].endswith(
        "at the price of a grid of 2 columns, but beside the others its parts cost more than they tell"
    )


def test_summary_and_repr(found):
    _, _, model = found
    text = model.summary()
    assert " ".join(text.split()).startswith(
        f"2 of 6 columns tell about the target together, in {len(model.cells.parts)} cells: a (2"
    )
    assert "modl(selection=True), two or more input columns, class target" in text
    assert f"cost {model.cost:.2f}, with one part {model.null_cost:.2f}: level {model.level:.4f}" in text
    lines = [line.split() for line in text.splitlines()]
    names = {name: model.partitions[name].names for name in model.cells.names}
    for i, parts in enumerate(model.cells.parts.tolist()):
        where = " ".join(names[name][part] for name, part in zip(model.cells.names, parts, strict=True)).split()
        share = f"{model.cells.counts[i, 1] / model.cells.rows[i]:.1%}"
        assert [line[-1] for line in lines if line[: len(where) + 1] == [*where, str(model.cells.rows[i])]] == [share]
    assert "columns left out: 4" in text
    assert "  one, none: each has one value" in text
    assert "noise, id: no partition of any of them alone pays at the price of a grid of 6 columns" in " ".join(
        text.split()
    )
    parts = ", ".join(f"{name}: {model.partitions[name].n_parts} parts" for name in model.informative)
    assert repr(model) == f"Model('modl', {parts}, cost={model.cost:.6f}, level={model.level:.4f})"


def test_the_summary_of_many_columns_stays_short():
    rng = np.random.default_rng(0)
    model = optimize(rng.normal(size=(40, 300)), rng.integers(0, 2, 40), search=QUICK)
    lines = model.summary().splitlines()
    assert len(lines) < 40
    assert "columns left out: 300" in lines
    assert "and 260 more: no partition of any of them alone pays" in " ".join(line.strip() for line in lines)


def test_the_summary_of_many_cells_says_how_many_it_does_not_show():
    codes = np.arange(400) % 100
    data = {"a": codes // 10, "b": codes % 10}
    both = (data["a"] + data["b"]) % 2  # of each column alone, no part has one class only, which would be noted
    model = Model.from_partitions(data, both, {"a": np.arange(9) + 0.5, "b": np.arange(9) + 0.5})
    lines = model.summary().splitlines()
    assert "the 10 cells with the most rows, of 100:" in lines
    assert len(lines) == 39  # one more part of both columns would be 41
    assert sum(line.endswith(("0.0%", "100.0%")) and "  4   1.0%" in line for line in lines) == 10
    assert sum(line.startswith("    8 of 10 parts  ") for line in lines) == 2


def test_the_summary_of_a_grid_fits_a_screen():
    """Names of groups show fewer values, columns fewer parts and classes; a column without room is named."""
    rng = np.random.default_rng(0)
    towns = np.array([f"a town called {i}" for i in range(40)])
    data = {f"column number {k}": towns[rng.integers(0, 40, 2000)] for k in range(9)}
    groups = {name: [towns[k::6].tolist() for k in range(6)] for name in data}
    classes = np.array([f"class {i}" for i in range(12)])[rng.integers(0, 12, 2000)]
    model = Model.from_partitions(data, classes, groups)
    lines = model.summary().splitlines()
    assert max(map(len, lines[:-1])) <= 80  # the last is on the search
    assert len(lines) <= 47  # two parts at least of each of eight columns
    assert sum(line.startswith("    2 of 6 parts   ") for line in lines) == 8
    assert "  and column number 8 (6 parts)" in lines
    assert "  (12 classes)" in lines
    (head,) = [line for line in lines if line.startswith("  column n…")]
    (hidden,) = [line for line in lines if line.startswith("  not shown: ")]
    shared = " ".join(lines[lines.index(head) + 11 : lines.index(hidden)])
    assert head.count("column n…") + shared.count("column number") + hidden.count("column number") == 9


def test_cells_of_a_summary_look_alike_only_where_no_column_fits():
    """Names get shorter before a column is not shown, and those that tell the cells apart are shown first."""
    codes = np.arange(1280)
    colours = np.array(["chocolate", "cinnamon"])
    data = {f"colour of {k}": colours[codes >> k & 1] for k in range(6)}
    model = Model.from_partitions(data, None, {name: [["chocolate"], ["cinnamon"]] for name in data})
    names = list(data)
    parts = np.array([[0, 0, 0, 0, 0, 1], [0, 1, 0, 1, 0, 0], [0, 1, 1, 1, 0, 0]])
    assert _telling_apart(parts, range(6))[:2] == [1, 2]
    shown = [line for line in model.summary().splitlines() if line.startswith(("  0: ", "  1: "))]
    assert len({line.split("  20 ")[0] for line in shown}) == len(shown) == 10
    five = Model.from_partitions(
        {n: data[n] for n in names[:5]}, None, {n: model.partitions[n].groups for n in names[:5]}
    )
    assert "not shown" not in five.summary()


def test_columns_with_long_names_have_heads_that_differ():
    codes = np.arange(640)
    names = [f"the answer of customers to question {k} of the survey" for k in range(4)]
    data = {name: codes >> k & 1 for k, name in enumerate(names)}
    lines = Model.from_partitions(data, None, {name: [0.5] for name in names}).summary().splitlines()
    head = next(line for line in lines if line.endswith("times expected")).split("  rows  ")[0]
    heads = [name for name in head.split("  ") if name.strip()]
    assert len(set(heads)) == len(heads) >= 2
    parts = [line[2:24] for line in lines if line.startswith("  ") and "(-inf, 0.5]" in line[24:40]]
    assert len(set(parts)) == 4


def test_a_summary_leaves_room_for_the_note_below_its_tables():
    """Many classes are counted below the table of parts, and many columns are named in it alone."""
    rng = np.random.default_rng(0)
    data = {f"column {k}": rng.integers(0, 20, 2000) for k in range(3)}
    bounds = {name: [2.5, 4.5, 6.5, 8.5, 10.5, 12.5, 14.5, 16.5] for name in data}
    text = Model.from_partitions(data, rng.integers(0, 26, 2000), bounds).summary()
    assert "  (26 classes)" in text
    assert len(text.splitlines()) <= 40
    data = {f"a column of many, number {k}": rng.integers(0, 20, 2000) for k in range(8)}
    many = Model.from_partitions(data, rng.integers(0, 2, 2000), {name: [2.5, 4.5] for name in data})
    assert many.summary().startswith("8 of 8 columns tell about the target together, in ")
    assert len(many.summary().splitlines()) <= 40


def test_a_rule_says_its_largest_classes_and_the_names_of_the_user():
    x = np.repeat(np.arange(2.0), 100)
    model = Model.from_partitions({"x": x}, np.arange(200) % 10, {"x": [0.5]}).rename("x", {0: "low"})
    first, second = model.rules()
    assert first.conditions == {"x": "low: (-inf, 0.5]"}
    assert str(first) == "x in low: (-inf, 0.5]: 0 10.0%, 1 10.0%, 2 10.0%, 3 10.0%, 6 others (100 rows, 50.0%)"
    assert len(second.shares) == 10


def test_a_reason_that_columns_share_is_said_once_with_the_range_of_levels(found):
    _, _, model = found
    reason = "alone it has level {}, but beside the others its parts cost more than they tell"
    levels = {"noise": "0.0429", "id": "0.1623", "one": "0.0288"}
    text = replace(model, left_out={name: reason.format(level) for name, level in levels.items()}).summary()
    said = "noise, id, one: alone each has a level of 0.0288 to 0.1623, but beside the others their parts cost more"
    assert said in " ".join(text.split())


def test_a_part_that_all_shown_cells_share_is_said_once():
    codes = np.arange(400)
    data = {"a": codes % 20, "b": codes >= 399}
    model = Model.from_partitions(data, codes % 2, {"a": np.arange(19) + 0.5, "b": [[False], [True]]})
    lines = model.summary().splitlines()
    (said,) = [line for line in lines if line.startswith("  all of them: ")]
    assert said == f"  all of them: b {model.partitions['b'].names[0]}"
    (head,) = [line.split() for line in lines if line.split()[:2] == ["a", "rows"]]
    assert "b" not in head


def test_rules_can_be_limited(found):
    _, _, model = found
    rules = model.rules()
    assert model.rules(n=2) == rules[:2]
    least = rules[2].rows
    assert model.rules(min_rows=least) == [rule for rule in rules if rule.rows >= least]
    assert model.rules(min_rows=0.25) == [rule for rule in rules if rule.support >= 0.25]
    assert model.rules(min_lift=1.0) == [rule for rule in rules if rule.lift >= 1.0]
    assert model.rules(n=1, min_lift=1.0) == [next(rule for rule in rules if rule.lift >= 1.0)]
    for wrong in (
        {"n": 0},
        {"n": 1.5},
        {"min_rows": -1},
        {"min_rows": "5"},
        {"min_lift": float("nan")},
        {"min_lift": True},
    ):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
            model.rules(**wrong)


def test_parts_of_rows_have_a_column_for_each_column(found):
    frame, _, model = found
    parts = model.transform(frame)
    assert parts.shape == frame.shape
    for k, name in enumerate(frame):
        counts = np.bincount(parts[:, k], minlength=model.partitions[name].n_parts)
        assert counts.tolist() == model.partitions[name].counts.sum(axis=1).tolist()
    array = np.arange(40.0).reshape(20, 2)
    assert optimize(array, np.repeat([0, 1], 10)).transform(array[:3]).shape == (3, 2)
    with pytest.raises(ValueError, match="data has 3 columns; the model has 2"):
        optimize(array, np.repeat([0, 1], 10)).transform(np.zeros((2, 3)))


# Prices.


CRITERIA = [*list_criteria("grid"), get_criterion("modl", selection=False)]


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_prices_are_those_of_the_terms_from_the_rows_up(criterion):
    for seed in range(25):
        frame, partitions, columns, target, weights, classes = random_mixed(seed)
        model = Model.from_partitions(frame, target, partitions, criterion=criterion, weights=weights)
        priced = criterion_for(criterion, "grid")
        assert model.cost == pytest.approx(naive.price(priced, "grid", columns, classes), abs=1e-9)
        nulls = [naive.Column(c.values, [0] * len(c.parts), categorical=c.categorical) for c in columns]
        assert model.null_cost == pytest.approx(naive.price(priced, "grid", nulls, classes), abs=1e-9)
        assert price(frame, target, partitions, criterion=criterion, weights=weights) == model.cost
        informative = {f"x{k}" for k, column in enumerate(columns) if len(set(column.parts)) > 1}
        assert set(model.informative) == informative
        assert set(model.left_out) == set(frame) - informative
        assert model.cells.counts.sum() == model.n_rows == len(classes)


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_rows_does_not_matter_and_weights_are_repeated_rows(seed):
    frame, partitions, _, target, _, _ = random_mixed(2 * seed)
    rng = np.random.default_rng(seed)
    order, weights = rng.permutation(40), rng.integers(1, 4, 40)
    cost = price(frame, target, partitions)
    assert price({n: v[order] for n, v in frame.items()}, target[order], partitions) == pytest.approx(cost, abs=1e-9)
    weighted = Model.from_partitions(frame, target, partitions, weights=weights)
    repeated = Model.from_partitions(
        {n: np.repeat(v, weights) for n, v in frame.items()}, np.repeat(target, weights), partitions
    )
    assert weighted.cost == pytest.approx(repeated.cost, abs=1e-9)
    assert np.array_equal(weighted.cells.counts, repeated.cells.counts)
    found = optimize(frame, target, weights=weights)
    again = optimize({n: np.repeat(v, weights) for n, v in frame.items()}, np.repeat(target, weights))
    assert found.null_cost == pytest.approx(again.null_cost, abs=1e-9)
    kept = {name: found.partitions[name] for name in frame}
    assert price(frame, target, kept, weights=weights) == pytest.approx(found.cost, abs=1e-9)


def test_the_selection_of_columns_has_a_price():
    frame, target = mixed(n=60)
    partitions = {"a": [0.0], "c": [list("abc"), list("def")]}
    free = get_criterion("modl", selection=False)
    difference = price(frame, target, partitions) - price(frame, target, partitions, criterion=free)
    assert difference == pytest.approx(np.log(7) + np.log(21))  # log(K + 1) + log C(K + 1, 2), K = 6
    assert optimize(frame, target, criterion=free, search=QUICK).options == {"selection": False}


WINE_COST, WINE_NULL = 89.470937, 198.744102
WINE_CELLS = {
    (0, 0): [0, 4, 11], (1, 0): [0, 0, 31], (0, 1): [0, 35, 0], (1, 1): [0, 5, 6], (0, 2): [0, 23, 0],
    (1, 2): [59, 4, 0],
}  # fmt: skip


def test_the_published_grid_of_wine(wine):
    data, target = wine
    names = [data.columns[0], data.columns[6]]
    model = Model.from_partitions(data[names], target, {names[0]: [12.78], names[1]: [1.235, 2.18]})
    assert model.cost == pytest.approx(WINE_COST, abs=1e-6)
    assert model.null_cost == pytest.approx(WINE_NULL, abs=1e-6)
    assert dict(zip(map(tuple, model.cells.parts.tolist()), model.cells.counts.tolist(), strict=True)) == WINE_CELLS


@pytest.mark.parametrize("seed", range(3))
def test_the_published_grid_of_wine_is_found(wine, seed):
    data, target = wine
    model = optimize(data.iloc[:, [0, 6]], target, random_state=seed)
    assert model.cost <= WINE_COST + 1e-6
    assert model.null_cost == pytest.approx(WINE_NULL, abs=1e-6)


def test_a_partition_of_a_grid_can_be_edited(found):
    frame, target, model = found
    same = model.edit("a", bounds=[np.nan, *model.partitions["a"].bounds])
    apart = model.edit("a", bounds=[*model.partitions["a"].bounds, 1.25])
    assert apart.delta == pytest.approx(apart.cost - model.cost)
    assert apart.delta > 0
    assert apart.cost == pytest.approx(price(frame, target, {n: apart.partitions[n] for n in frame}), abs=1e-9)
    assert apart.search == same.search == "given"
    without = model.edit("c", groups=[list("abcdef")])
    assert without.informative == ["a"]
    assert without.left_out["c"] == "it has one part as given"
    assert "worse than the model that it was made from" in without.summary()
    assert apart.edit("a", bounds=model.partitions["a"].bounds).delta < 0
    for arguments, error in (({"groups": [["a"]]}, TypeError), ({"bounds": [2.0, 1.0]}, ValueError)):
        with pytest.raises(error):
            model.edit("a", **arguments)
    with pytest.raises(ValueError, match=r"name must be one of the columns .*, got 'z'"):
        model.edit("z", bounds=[1.0])
    with pytest.raises(ValueError, match="without its data"):
        pickle.loads(pickle.dumps(model)).edit("a", bounds=[0.0])  # noqa: S301


@pytest.mark.parametrize("column", ["a", "b"])
def test_data_that_has_changed_is_not_edited(column):
    a, b = np.tile([0.0, 1.0], 40), np.repeat([0.0, 1.0], 40)
    target = (a != b).astype(int)
    data = {"a": a, "b": b}
    model = optimize(data, target)
    assert set(model.informative) == {"a", "b"}
    data[column][:] = 1.0
    with pytest.raises(ValueError, match="the data has changed"):
        model.edit("a", bounds=[0.25])


def test_data_that_has_changed_with_the_same_counts_of_parts_is_not_edited():
    a, b = np.tile([0.0, 1.0], 40), np.repeat([0.0, 1.0], 40)
    target = (a != b).astype(int)
    model = optimize({"a": a, "b": b}, target)
    a[:] = 1.0 - b  # each column still has 20 rows of each class in each part
    a[target == 0] = 1.0 - b[target == 0]
    with pytest.raises(ValueError, match="the data has changed"):
        model.edit("b", bounds=[0.25])


# Searches.


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_every_criterion_of_grids_finds_one(criterion):
    for seed in range(3):
        frame, _, columns, target, weights, classes = random_mixed(seed)
        model = optimize(frame, target, criterion=criterion, weights=weights, search=QUICK)
        assert model.cost <= model.null_cost
        parts = model.transform(frame)
        times = np.ones(40, dtype=int) if weights is None else weights
        mine = [
            naive.Column(column.values, np.repeat(parts[:, k], times).tolist(), categorical=column.categorical)
            for k, column in enumerate(columns)
        ]
        priced = criterion_for(criterion, "grid")
        assert model.cost == pytest.approx(naive.price(priced, "grid", mine, classes), abs=1e-9)
        kept = {name: model.partitions[name] for name in frame}
        again = Model.from_partitions(frame, target, kept, criterion=criterion, weights=weights)
        assert again.cost == pytest.approx(model.cost, abs=1e-9)
        assert np.array_equal(again.cells.parts, model.cells.parts)
        assert np.array_equal(again.cells.counts, model.cells.counts)


def test_a_criterion_that_prices_no_grid_is_named():
    with pytest.raises(ValueError, match="criterion 'mdlp' cannot price 'grid'"):
        optimize(np.zeros((10, 2)), [0, 1] * 5, criterion="mdlp")


@pytest.mark.parametrize("search", ["vns", "merge", "algorithm3", Search(effort=0)], ids=str)
def test_a_grid_is_never_above_the_best_of_one_column(wine, search):
    data, target = wine
    data = data.iloc[:, :6]
    model = optimize(data, target, search=search)
    for name, alone in gridmodl.optimize_each(data, target, n_jobs=1).items():
        assert model.cost <= price(data, target, {name: alone.partitions[name]}) + 1e-9
    assert model.search == (search if isinstance(search, str) else "vns")


def test_limits_hold_for_each_column(wine):
    data, target = wine
    model = optimize(data, target, max_parts=2, min_rows=30, search=QUICK)
    assert model.informative
    for partition in model.partitions.values():
        assert partition.n_parts <= 2
        assert partition.counts.sum(axis=1).min() >= 30
    assert optimize(data, target, max_parts=1).informative == []


def test_limits_by_column(wine):
    data, target = wine
    free = optimize(data, target, search=QUICK, random_state=0)
    one, two = free.informative[:2]
    limits = {"max_parts": {one: 1}, "min_rows": {two: 0.4}}
    model = optimize(data, target, **limits, search=QUICK, random_state=0)
    assert model.partitions[one].n_parts == 1
    assert model.left_out[one] == "max_parts=1 leaves it whole"
    assert model.partitions[two].rows.min() >= 0.4 * len(target)
    assert any(model.partitions[name].rows.min() < 0.4 * len(target) for name in model.informative)
    assert model.cost >= free.cost - 1e-9
    assert optimize(data, target, max_parts=dict.fromkeys(data, 1)).informative == []
    with pytest.raises(ValueError, match="max_parts names column 'ages'; the data has"):
        optimize(data, target, max_parts={"ages": 3})


@pytest.mark.parametrize("options", [{"monotone": "auto"}, {"min_events": {"a": 1}}, {"min_difference": 0.1}])
def test_limits_on_shares_are_refused(options):
    data = {"a": np.arange(10), "b": np.zeros(10)}
    what = next(iter(options))
    with pytest.raises(NotImplementedError, match=f"{what}= limits the class shares.* cells.*use optimize_each"):
        optimize(data, [0, 1] * 5, **options)


def test_searches_of_one_column_and_of_many_are_told_apart():
    with pytest.raises(ValueError, match="search='exact' cannot find a grid of several variables; known: auto, vns"):
        optimize(np.zeros((10, 2)), [0, 1] * 5, search="exact")
    for search in ("vns", "algorithm3"):
        for column in (np.arange(10), list("abcdefghij")):
            with pytest.raises(ValueError, match=f"search='{search}' finds grids of several columns"):
                optimize(column, [0, 1] * 5, search=search)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"effort": -1}, ValueError, "effort must be a whole number from 0 to 40, got -1"),
        ({"effort": 41}, ValueError, "effort must be a whole number"),
        ({"effort": 1.0}, ValueError, "effort must be a whole number"),
        ({"effort": True}, ValueError, "effort must be a whole number"),
        ({"effort": None}, ValueError, "effort must be a whole number"),
        ({"keep_optima": -1}, ValueError, "keep_optima must be a whole number from 0 to 1000000, got -1"),
        ({"keep_optima": 10**7}, ValueError, "keep_optima must be a whole number"),
        ({"keep_optima": "all"}, ValueError, "keep_optima must be a whole number"),
        ({"on_improvement": 3}, TypeError, "on_improvement must be a callable or None, got 3"),
        ({"kind": "random"}, ValueError, "unknown search 'random'; known: .*vns"),
    ],
)
def test_arguments_of_a_search_are_checked(options, error, message):
    with pytest.raises(error, match=message):
        Search(**options)


def test_a_negative_seed_is_refused_by_name():
    with pytest.raises(ValueError, match="random_state"):
        optimize(np.zeros((10, 2)), [0, 1] * 5, random_state=-1)


@pytest.mark.parametrize("n", [1, 3, 5])
def test_optima_are_distinct_and_the_cheapest_first(wine, n):
    data, target = wine
    model = optimize(data, target, search=Search(effort=4, keep_optima=n))
    assert len(model.optima) == n
    costs = [optimum.cost for optimum in model.optima]
    assert costs == sorted(costs)
    assert costs[0] == model.cost
    assert len({json.dumps(json.loads(o.to_json())["partitions"]) for o in model.optima}) == n
    for optimum in model.optima:
        assert list(optimum.partitions) == optimum.informative
        assert price(data, target, dict(optimum.partitions)) == pytest.approx(optimum.cost, abs=1e-9)
        assert optimum.predict_proba(data).sum(axis=1) == pytest.approx(1)
        assert (optimum.null_cost, optimum.elapsed) == (model.null_cost, model.elapsed)
    assert optimize(data, target, search=Search(effort=0)).optima == ()


def test_optima_of_arrays_take_the_columns_that_they_have(wine):
    data, target = wine[0].to_numpy(), wine[1]
    model = optimize(data, target, search=Search(effort=1, keep_optima=2))
    best = model.optima[0]
    mine = data[:, [int(name[1:]) for name in best.partitions]]
    assert np.array_equal(best.predict_proba(mine), model.predict_proba(data))
    with pytest.raises(ValueError, match=f"data has 13 columns; the model has {len(best.partitions)}"):
        best.predict_proba(data)


def test_improvements_are_told(wine):
    told = []
    model = optimize(*wine, search=Search(on_improvement=told.append))
    costs = [record.cost for record in told]
    assert costs == sorted(set(costs), reverse=True)
    assert costs[-1] == model.cost
    assert told[-1].level == model.level
    assert [record.round for record in told] == sorted(record.round for record in told)
    assert [record.elapsed for record in told] == sorted(record.elapsed for record in told)
    assert told[0].round == 0


def test_progress_ends_at_the_end(wine):
    seen = []
    optimize(*wine, search=QUICK, progress=seen.append)
    rounds = [record.share for record in seen if record.step.startswith(("round", "vns"))]
    assert rounds[-1] == 1.0
    assert all(record.share is None or 0 <= record.share <= 1 for record in seen)


def facts(model):
    record = json.loads(model.to_json())
    del record["elapsed"]
    return record


@pytest.mark.parametrize("search", ["vns", "merge", "algorithm3"])
def test_a_seed_repeats_a_run_with_any_number_of_threads(found, search):
    frame, target, _ = found
    search = Search(search, effort=3, keep_optima=4)
    runs = [optimize(frame, target, search=search, random_state=7, n_jobs=n) for n in (1, 2, 1, 3)]
    assert all(facts(run) == facts(runs[0]) for run in runs)


def test_no_seed_is_a_seed_too(found):
    frame, target, _ = found
    assert optimize(frame, target, random_state=None, search=QUICK).cost <= optimize(frame, target, max_parts=1).cost


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_without_time_a_model_is_there_all_the_same(found, n_jobs):
    frame, target, _ = found
    model = optimize(frame, target, time_limit=0, n_jobs=n_jobs)
    assert model.stopped == "time limit"
    assert model.cost <= model.null_cost
    assert "stopped: time limit" in model.summary()
    assert model.predict_proba(frame).shape == (200, 2)
    assert Model.from_json(model.to_json()).stopped == "time limit"


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_returns_the_best_so_far(wine, n_jobs):
    def interrupt(_):
        raise KeyboardInterrupt

    model = optimize(*wine, search=Search(on_improvement=interrupt), n_jobs=n_jobs)
    assert model.stopped == "interrupted"
    assert model.cost < model.null_cost
    whole = optimize(*wine)
    assert whole.stopped is None
    assert whole.cost < model.cost


def test_an_error_of_a_callback_is_the_user_s(wine):
    def fail(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        optimize(*wine, search=Search(on_improvement=fail))


# Data of all sorts.


@pytest.mark.parametrize("seed", range(5))
def test_xor_of_40_rows_is_found(seed):
    x = np.random.default_rng(seed).uniform(-1, 1, size=(40, 2))
    target = (x[:, 0] * x[:, 1] > 0).astype(int)
    model = optimize(x, target, random_state=seed)
    assert model.informative == ["x0", "x1"]
    assert np.array_equal(model.predict_proba(x).argmax(axis=1), target)


def test_columns_that_tell_nothing():
    n = 60
    x = np.arange(n, dtype=float)
    frame = pd.DataFrame({
        "one": np.ones(n), "x": x, "again": x, "none": np.full(n, np.nan), "no value": [None] * n,
        "id": [f"r{(i * 37) % 60}" for i in range(n)], "same": ["a"] * n,
    })  # fmt: skip
    model = optimize(frame, (x >= 30).astype(int))
    assert model.informative in (["x"], ["again"])
    assert {name for name, reason in model.left_out.items() if reason == "it has one value"} == {
        "one", "none", "no value", "same",
    }  # fmt: skip
    assert "id" in model.left_out
    without = optimize(frame[["one", "none", "no value", "same"]], (x >= 30).astype(int))
    assert without.informative == []
    assert set(without.left_out) == set(without.partitions)


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(50, 300))
    target = (data[:, 7] > 0).astype(int)
    model = optimize(data, target, search=QUICK)
    assert "x7" in model.informative
    assert len(model.informative) + len(model.left_out) == 300
    assert optimize(data, rng.integers(0, 2, 50), search=QUICK).cost <= model.null_cost


def test_many_classes():
    rng = np.random.default_rng(0)
    target = np.repeat(np.arange(200), 5)
    data = {"x": target // 20 + rng.uniform(0, 0.9, 1000), "c": [f"v{i % 20}" for i in target], "z": rng.random(1000)}
    model = optimize(data, target, target_kind="classes", search=QUICK)
    assert model.cost < model.null_cost
    assert model.predict_proba(data).shape == (1000, 200)
    assert Model.from_json(model.to_json()).cost == model.cost
    partitions = {name: model.partitions[name] for name in data}
    assert price(data, target, partitions, target_kind="classes") == pytest.approx(model.cost, abs=1e-7)


def test_one_row_and_one_class():
    assert optimize({"a": [1.0], "b": ["u"]}, ["yes"]).informative == []
    model = optimize({"a": np.arange(30), "b": list("ab") * 15}, ["yes"] * 30)
    assert model.informative == []
    assert model.predict_proba({"a": [1], "b": ["a"]}).tolist() == [[1.0]]
    with pytest.raises(ValueError, match="data has no rows"):
        optimize({"a": [], "b": []}, [])


def test_rows_of_no_weight_are_no_rows():
    x = np.arange(40.0)
    weights = np.where(x % 3 == 0, 0, 1)
    data, target = {"x": x, "z": x % 3}, (x > 20).astype(int)
    kept = weights > 0
    model = optimize(data, target, weights=weights)
    alone = optimize({name: values[kept] for name, values in data.items()}, target[kept])
    assert (model.cost, model.n_rows) == (alone.cost, alone.n_rows)
    assert model.cells.rows.min() > 0


def test_dates_and_large_integers_are_cut_between_their_own_values():
    day = np.datetime64("2020-01-01", "D") + np.arange(60)
    data = pd.DataFrame({"day": day.astype("M8[ns]"), "large": 2**60 + (np.arange(60) * 7) % 60, "z": 0})
    target = ((np.arange(60) >= 30) ^ (data["large"] - 2**60 > 29)).astype(int)
    model = optimize(data, target)
    assert model.informative == ["day", "large"]
    assert model.partitions["day"].bounds.dtype.kind == "M"
    assert model.partitions["large"].bounds.dtype == np.int64
    assert np.array_equal(model.predict_proba(data).argmax(axis=1), target)


def test_kinds_and_names_are_kept(found):
    frame, target, _ = found
    data = frame[["a", "c"]].assign(a=np.digitize(frame["a"].fillna(-1), [-1, 0, 1]))
    model = optimize(data.assign(y=target), "y", kinds={"a": "categorical"}, search=QUICK)
    assert [partition.kind for partition in model.partitions.values()] == ["categorical", "categorical"]
    with pytest.raises(ValueError, match="kinds names column 'b'"):
        optimize(data, target, kinds={"b": "categorical"})
    assert replace(model, cost=1.0).cost == 1.0


def test_it_can_stop_at_any_time(monkeypatch):
    """At each look on the clock, among them the one between pre-optimization and merge."""
    frame, target = mixed(n=60)
    data = frame[["a", "c", "noise"]]
    is_over, left = Clock.look, [0]

    def over(clock):
        if clock._parent is None:
            left[0] -= 1
            if left[0] < 0 and clock.stopped is None:
                clock.stopped = "time limit"
        return is_over(clock)

    monkeypatch.setattr(Clock, "look", over)
    n_stops, stopped = 0, "time limit"
    while stopped is not None:
        left[0] = n_stops
        model = optimize(data, target, search=Search(effort=1, keep_optima=3))
        left[0] = 10**9
        assert model.cost == pytest.approx(price(data, target, model.partitions), rel=1e-12)
        assert model.cost <= model.null_cost
        n_stops, stopped = n_stops + 1, model.stopped
    assert n_stops > 10


def test_columns_that_were_never_tried_are_not_said_to_tell_nothing():
    frame, target = mixed(n=60)
    stopped = optimize(frame, target, time_limit=0)
    assert stopped.left_out["a"] == "the search was stopped (time limit) before a partition of it paid"
    whole = optimize(frame, target, max_parts=1)
    assert whole.left_out["a"] == "max_parts=1 leaves it whole"


def test_the_null_grid_is_no_optimum_to_keep():
    rng = np.random.default_rng(3)
    model = optimize(rng.normal(size=(60, 3)), rng.integers(0, 2, 60), search=Search(effort=3, keep_optima=5))
    assert model.informative == []
    assert all(optimum.informative for optimum in model.optima)


def test_predictions_need_the_informative_columns_only(found):
    frame, _, model = found
    only = frame[model.informative]
    assert model.predict_proba(only).tolist() == model.predict_proba(frame).tolist()
    assert model.cell_of(only).tolist() == model.cell_of(frame).tolist()


def test_edited_bounds_of_a_grid_leave_missing_values_apart():
    x = np.array([np.nan] * 40 + list(range(40)) * 2)
    y = np.array([1] * 40 + [0] * 20 + [1] * 20 + [0] * 40)
    data = {"x": x, "z": np.arange(120.0)}
    apart = Model.from_partitions(data, y, {"x": [np.nan, 19.5], "z": [79.5]})
    assert apart.edit("x", bounds=[10.5]).partitions["x"].labels == ["missing", "(-inf, 10.5]", "(10.5, inf)"]
    joined = Model.from_partitions(data, y, {"x": [19.5], "z": [79.5]})
    assert joined.edit("x", bounds=[10.5]).partitions["x"].labels == ["(-inf, 10.5] or missing", "(10.5, inf)"]
