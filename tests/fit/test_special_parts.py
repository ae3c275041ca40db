"""Special values: codes of numbers and categories that are parts of their own, alone or together."""

from __future__ import annotations

import itertools
import json

import jsonschema
import numpy as np
import pandas as pd
import pytest
from oracles.tiny_pairs import groupings
from report.databases import DIALECTS, Stored, run

import gridmodl
from gridmodl import Model, optimize, price, verify

NAN = float("nan")


def numbers(seed, n=16, n_classes=2):
    rng = np.random.default_rng(seed)
    x = rng.choice([0.0, 1.0, 2.0, 3.0, 4.0, -999.0, -998.0, -1.0], n)
    y = np.where(rng.random(n) < 0.7, ((x > 2) | (x == -999)).astype(int), rng.integers(0, n_classes, n))
    return x, y


# Numbers.


@pytest.mark.parametrize("criterion", ["modl", "bic", "g2"])
@pytest.mark.parametrize("min_rows", [1, 4])
def test_codes_that_share_a_part(criterion, min_rows):
    """The intervals are the best of all, given the parts of the codes, at the price of all parts."""
    given = {"x0": [[-999.0, -998.0], -1.0]}
    for seed in range(15):
        x, y = numbers(seed, n_classes=2 + seed % 2)
        values = np.unique(x[x >= 0])
        costs = []
        for n in range(len(values)):
            for bounds in itertools.combinations(((values[1:] + values[:-1]) / 2).tolist(), n):
                rows = np.bincount(np.searchsorted(bounds, x[x >= 0]), minlength=n + 1)
                if n == 0 or np.all(rows >= min_rows):
                    costs.append(price(x, y, {"x0": list(bounds)}, criterion=criterion, special=given))
        model = optimize(x, y, criterion=criterion, special=given, min_rows=min_rows, search="exact")
        assert model.cost == pytest.approx(min(costs), abs=1e-9)
        assert model.proven
        partition = model.partitions["x0"]
        assert partition.labels[-2:] == ["special -999, -998", "special -1"]
        assert partition.n_special == 2
        parts = model.transform(x)
        assert np.all(parts[(x == -999) | (x == -998)] == partition.n_parts - 2)
        assert np.bincount(parts, minlength=partition.n_parts).tolist() == partition.rows.tolist()
        assert verify(model, x, y), verify(model, x, y).reason
        check_round_trip(model, x)


def check_round_trip(model, data):
    text = model.to_json()
    jsonschema.validate(json.loads(text), gridmodl.json_schema("model"))
    again = Model.from_json(text)
    (partition,), (other,) = model.partitions.values(), again.partitions.values()
    assert other.special_sizes == partition.special_sizes
    assert other.labels == partition.labels
    assert again.transform(data).tolist() == model.transform(data).tolist()
    assert again.to_json() == text


def test_a_shared_part_is_priced_as_one_part():
    """By hand: the same as if both codes were one value."""
    x = np.array([1.0, 2.0, 3.0, 4.0, -999.0, -998.0, -999.0, -998.0])
    y = np.array([0, 0, 1, 1, 1, 0, 1, 1])
    shared = price(x, y, {"x0": [2.5]}, special={"x0": [[-999.0, -998.0]]})
    one = price(np.where(x < -900, -999.0, x), y, {"x0": [2.5]}, special={"x0": [-999.0]})
    assert shared == pytest.approx(one, abs=1e-12)
    apart = price(x, y, {"x0": [2.5]}, special={"x0": [-999.0, -998.0]})
    assert apart != pytest.approx(shared)


def test_codes_of_other_types():
    days = np.datetime64("2024-01-01") + np.arange(12)
    y = [0] * 6 + [1] * 6
    model = optimize(days, y, special={"x0": [[days[0], days[11]]]})
    assert model.partitions["x0"].labels[-1] == "special 2024-01-01, 2024-01-12"
    assert model.transform(days)[[0, 11]].tolist() == [model.partitions["x0"].n_parts - 1] * 2
    check_round_trip(model, days)
    ints = np.array([2**60, 2**60 + 1, 2**60 + 2, 2**60 + 3] * 5)
    model = optimize(ints, [0, 1, 1, 1] * 5, special={"x0": [[2**60, 2**60 + 3]]})
    assert model.partitions["x0"].rows[-1] == 10
    check_round_trip(model, ints)


def test_codes_without_rows_stay_parts():
    x, y = np.arange(10.0), [0] * 5 + [1] * 5
    model = optimize(x, y, special={"x0": [[-1.0, -2.0], 3.0]})
    assert model.partitions["x0"].rows[-2:].tolist() == [0, 1]
    assert model.transform([-2.0, -1.0, 3.0]).tolist() == [2, 2, 3]
    assert verify(model, x, y)


@pytest.mark.parametrize(
    ("special", "message"),
    [
        ([[-999.0, -1.0], -1.0], "special of column 'x0' has -1.0 in two parts"),
        ([[]], "special of column 'x0' has an empty list"),
        ([["a", 1.0]], "special of column 'x0' must be a list of numbers or dates"),
    ],
)
def test_special_that_means_nothing(special, message):
    with pytest.raises((ValueError, TypeError), match=message):
        optimize(np.arange(10.0), [0, 1] * 5, special={"x0": special})


# Categories.


def towns(seed, n=24, n_classes=2):
    rng = np.random.default_rng(seed)
    town = rng.choice(np.array(["a", "b", "c", "d", "n/a", "unknown", None], dtype=object), n)
    y = np.where(rng.random(n) < 0.7, np.isin(town, ["a", "n/a"]).astype(int), rng.integers(0, n_classes, n))
    return town, y


@pytest.mark.parametrize("criterion", ["modl", "bic", "g2"])
@pytest.mark.parametrize("missing", ["auto", "apart"])
@pytest.mark.parametrize("special", [(), ("n/a", "unknown"), (("n/a", "unknown"),)])
@pytest.mark.parametrize("min_rows", [1, 4])
def test_the_best_groups_beside_special_ones(criterion, missing, special, min_rows):
    named = {value for part in special for value in ([part] if isinstance(part, str) else part)}
    for seed in range(6):
        town, y = towns(seed, n_classes=2 + seed % 2)
        free = [value for value in sorted({*town} - {None}) if value not in named]
        has_missing = None in set(town)
        costs = []
        for joined in {False, missing == "auto" and has_missing}:
            values = [*free, None] if joined else free
            for grouping in groupings(len(values)):
                groups = [[v for v, g in zip(values, grouping, strict=True) if g == k] for k in set(grouping)]
                rows = [sum(v in group for v in town) for group in groups]
                is_alone = [group == [None] for group in groups]
                plain = [n for n, alone in zip(rows, is_alone, strict=True) if not alone]
                is_enough = all(n >= min_rows for n in plain) or (len(plain) == 1 and not any(is_alone) and joined)
                if not joined and has_missing:
                    is_enough = all(n >= min_rows for n in plain) or (missing == "apart" and len(plain) == 1)
                    groups = [*groups, [None]]
                elif not joined:
                    is_enough = all(n >= min_rows for n in plain) or len(plain) == 1
                if is_enough:
                    given = {"x0": list(special)} if special else None
                    costs.append(price(town, y, {"x0": groups}, criterion=criterion, special=given))
        model = optimize(
            town, y, criterion=criterion, missing=missing, min_rows=min_rows, search="exact",
            special={"x0": list(special)} if special else None,
        )  # fmt: skip
        assert model.cost == pytest.approx(min(costs), abs=1e-9)
        assert model.proven
        partition = model.partitions["x0"]
        assert partition.n_special == len(special)
        assert verify(model, town, y), verify(model, town, y).reason
        parts = model.transform(town)
        assert np.bincount(parts, minlength=partition.n_parts).tolist() == partition.rows.tolist()
        if missing == "apart" and has_missing:
            assert (None,) in partition.groups
        check_round_trip(model, town)
        merged = optimize(
            town, y, criterion=criterion, missing=missing, min_rows=min_rows, search="merge",
            special={"x0": list(special)} if special else None,
        )  # fmt: skip
        assert merged.cost >= model.cost - 1e-9
        assert merged.partitions["x0"].special_parts == partition.special_parts


def test_special_groups_come_last_and_are_named_so():
    town = ["a"] * 10 + ["b"] * 10 + ["n/a"] * 10 + ["unknown"] * 3
    y = [0] * 10 + [1] * 10 + [1] * 10 + [0] * 3
    model = optimize({"city": town}, y, special={"city": ["unknown", "n/a", "never"]})
    partition = model.partitions["city"]
    assert partition.labels == ["{a}", "{b}", "special {unknown}", "special {n/a}", "special {never}"]
    assert partition.rows.tolist() == [10, 10, 3, 10, 0]
    assert model.transform(["never", "n/a", "b"]).tolist() == [4, 3, 1]
    assert "3: special n/a" in model.summary()
    assert "special {n/a}" in list(model.table(frame="arrays")["part"])
    assert model.edit("city", groups=[["a", "b"]]).partitions["city"].labels[0] == "{a, b}"
    assert model.edit("city", groups=[["a", "b"]]).partitions["city"].n_special == 3
    assert model.edit("city", merge=[0, 1]).partitions["city"].n_special == 3
    with pytest.raises(
        ValueError, match=r"part 2 of column 'city' is 'special \{unknown\}', which merges with no other"
    ):
        model.edit("city", merge=[1, 2])
    explained = model.explain("city")
    assert {one.n_parts for one in explained.alternatives} == {1, 3}  # of four with rows, two may merge
    assert all(one.n_parts == 1 or ["n/a"] in one.partition.special_parts for one in explained.alternatives)


def test_special_groups_do_not_count_for_max_parts():
    town, y = ["a", "b", "c"] * 8, [0, 1, 1] * 8
    model = optimize(town, y, special={"x0": [["never", "seen"]]}, max_parts=2)
    assert model.partitions["x0"].labels == ["{a}", "{b, c}", "special {never, seen}"]
    assert verify(model, town, y), verify(model, town, y).reason
    whole = optimize(town, y, special={"x0": ["never", "a"]}, max_parts=1)
    assert whole.partitions["x0"].labels == ["{b, c}", "special {never}", "special {a}"]
    assert verify(whole, town, y), verify(whole, town, y).reason


@pytest.mark.parametrize("missing", ["auto", "apart"])
@pytest.mark.parametrize("search", ["auto", "exact", "merge"])
@pytest.mark.parametrize("name", gridmodl.list_criteria("classes"))
def test_all_groups_are_set_apart(name, search, missing):
    """With two classes, those of criteria that declare groups_by_share are intervals of a line without a value."""
    values = ["n/a", "unknown", "n/a", None, "unknown", "n/a"][: 6 if missing == "apart" else 3]
    target = [1, 0, 1, 0, 0, 0][: len(values)]
    given = {"criterion": name, "special": {"x0": ["n/a", "unknown"]}}
    model = gridmodl.optimize({"x0": values}, target, search=search, missing=missing, **given)
    groups = [["n/a"], ["unknown"], [None]][: 3 if missing == "apart" else 2]
    assert model.partitions["x0"].n_parts == len(groups)
    assert model.cost == pytest.approx(gridmodl.price({"x0": values}, target, {"x0": groups}, **given))
    assert model.proven
    assert model.unproven is None
    assert gridmodl.verify(model, {"x0": values}, target)


def test_all_values_are_special():
    town, y = ["u", "v"] * 8, [0, 1] * 8
    model = optimize(town, y, special={"x0": ["u", "v"]})
    assert model.partitions["x0"].groups == (("u",), ("v",))
    assert model.cost == pytest.approx(price(town, y, {"x0": []}, special={"x0": ["u", "v"]}))
    assert verify(model, town, y), verify(model, town, y).reason
    check_round_trip(model, town)
    missing = optimize(["u", None] * 8, y, special={"x0": ["u"]}, missing="apart")
    assert missing.partitions["x0"].groups == ((None,), ("u",))


def test_many_values_and_a_greedy_merge():
    rng = np.random.default_rng(0)
    town = rng.choice([f"t{i:02d}" for i in range(40)] + ["n/a"], 2000)
    y = (rng.random(2000) < np.where(np.char.find(town, "1") >= 0, 0.7, 0.2)).astype(int) + rng.integers(0, 2, 2000)
    model = optimize({"t": town}, y, special={"t": ["n/a", ["t01", "t02"]]}, min_rows=100)
    partition = model.partitions["t"]
    assert partition.special_parts == [["n/a"], ["t01", "t02"]]
    assert np.all(partition.rows[:-2] >= 100)
    assert partition.rows[-2] < 100
    groups = {"t": [list(group) for group in partition.groups]}
    assert price({"t": town}, y, groups) == pytest.approx(model.cost, abs=1e-6)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"special": {"x0": ["a", None]}}, "holds a missing value; missing='apart' gives missing values a part"),
        ({"special": {"x0": ["a", ["a", "b"]]}}, "special of column 'x0' has 'a' in two parts"),
        ({"special": {"x0": [[]]}}, "special of column 'x0' has an empty list"),
    ],
)
def test_special_categories_that_mean_nothing(facts, message):
    with pytest.raises(ValueError, match=message):
        optimize(["a", "b", "c"] * 4, [0, 1, 1] * 4, **facts)


def test_special_categories_may_be_all_parts_there_are():
    model = optimize(["a", "b", "c"] * 4, [0, 1, 1] * 4, special={"x0": ["a", ["b", "c"]]}, max_parts=1)
    assert model.partitions["x0"].n_parts == 2
    assert verify(model, ["a", "b", "c"] * 4, [0, 1, 1] * 4)


def test_groups_given_beside_special_ones():
    town, y = ["a", "b", "c"] * 4, [0, 1, 1] * 4
    model = Model.from_partitions(town, y, {"x0": [["c"], ["a", "b"]]}, special={"x0": ["c"]})
    assert model.partitions["x0"].labels == ["{a, b}", "special {c}"]
    with pytest.raises(ValueError, match="the groups of 'x0' have 'c' beside other values"):
        Model.from_partitions(town, y, {"x0": [["c", "a"], ["b"]]}, special={"x0": ["c"]})


@pytest.mark.parametrize("dialect", DIALECTS)
def test_sql(dialect):
    x = np.array([1.0, 2.0, 3.0, 4.0, -999.0, -998.0, -1.0, NAN] * 4)
    model = optimize({"x": x}, [0, 0, 1, 1, 1, 0, 1, 0] * 4, special={"x": [[-999.0, -998.0], -1.0]}, missing="apart")
    stored = [*x[:8].tolist(), -997.0]
    query = model.to_sql(dialect, keep=["row number"], output="parts")
    found = [part for (part,) in run(dialect, query, {"x": Stored("double", stored)})]
    assert found == model.transform(stored).tolist()
    town = ["a", "b", "n/a", "unknown", "new", None]
    model = optimize({"t": (["a", "b", "n/a", "unknown"] * 6)}, [0, 1, 1, 0] * 6, special={"t": [["n/a", "unknown"]]})
    query = model.to_sql(dialect, keep=["row number"], output="parts")
    found = [part for (part,) in run(dialect, query, {"t": Stored("text", town)})]
    assert found == model.transform({"t": np.array(town, object)}).ravel().tolist() == [0, 1, 2, 2, -1, -1]


def test_cost_by_parts_keeps_special_groups():
    town, y = towns(3, n=60)
    curve = gridmodl.cost_by_parts(town, y, max_parts=5, special={"x0": ["n/a", "unknown"]})
    assert curve.n_parts.tolist() == [3, 4, 5]
    assert all(partition.special_parts == [["n/a"], ["unknown"]] for partition in curve.partitions)


def test_estimators_take_them():
    town, y = towns(5, n=80)
    age = np.where(np.arange(80) % 5 == 0, -999.0, np.where(np.arange(80) % 7 == 0, -998.0, np.arange(80.0)))
    frame = pd.DataFrame({"town": town, "age": age})
    special = {"town": [["n/a", "unknown"]], "age": [[-999.0, -998.0]]}
    discretizer = gridmodl.GridDiscretizer(special=special, missing={"town": "apart"}).fit(frame, y)
    parts = discretizer.transform(frame)
    assert np.all(parts[age < 0, 1] == discretizer.partitions_["age"].n_parts - 1)
    assert (None,) in discretizer.partitions_["town"].groups
    names = discretizer.set_params(encode="onehot").get_feature_names_out()
    assert len(names) == len(set(names))
    without = gridmodl.GridDiscretizer(special={"age": [[-999.0, -998.0]]}).fit(frame[["age"]])
    assert np.unique(without.transform(frame[["age"]])[age < 0]).tolist() == [without.partitions_["age"].n_parts - 1]


# Levels of an ordinal column.


def test_levels_that_share_a_part():
    rating, y = ["A", "B", "C", "D", "?", "n/a"] * 6, [0, 1, 1, 0, 1, 1] * 6
    model = optimize({"r": rating}, y, order={"r": ["A", "B", "C", "D"]}, special={"r": [["?", "n/a"], "D"]})
    partition = model.partitions["r"]
    assert partition.labels[-2:] == ["special ?, n/a", "special D"]
    assert partition.special_parts == [["?", "n/a"], ["D"]]
    assert np.bincount(model.transform(rating), minlength=partition.n_parts).tolist() == partition.rows.tolist()
    assert verify(model, {"r": rating}, y), verify(model, {"r": rating}, y).reason
    check_round_trip(model, {"r": rating})
    given = {"r": [list(group) for group in partition.groups]}
    again = price({"r": rating}, y, given, order={"r": ["A", "B", "C", "D"]}, special={"r": [["?", "n/a"], "D"]})
    assert again == pytest.approx(model.cost)


def test_one_special_category_needs_no_list():
    data, target = {"code": np.array([1, 1, 2, 2, -9, -9] * 5)}, [0, 1, 0, 0, 1, 1] * 5
    found, expected = (
        gridmodl.optimize(data, target, kinds={"code": "categorical"}, special={"code": special})
        for special in (-9, [-9])
    )
    assert found.partitions["code"].labels == expected.partitions["code"].labels
    assert found.partitions["code"].labels[-1] == "special {-9}"
