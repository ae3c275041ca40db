"""Explanations: the terms add up, alternatives cost what `price` says, and none is cheaper than a proven model."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import gridmodl
from gridmodl.analysis import alternatives
from gridmodl.analysis.alternatives import ModelVariable
from gridmodl.plugins import criterion_for
from gridmodl.search.column import splits
from gridmodl.terms import Criterion, finish

RNG = np.random.default_rng(3)
N = 60
VALUES = RNG.integers(0, 7, N)
CLASSES = np.where(RNG.random(N) < 0.85, VALUES // 3, RNG.integers(0, 3, N))
LETTERS = np.array(list("abcdefg"))[VALUES]
SECOND = RNG.integers(0, 5, N)
NUMBERS = {"a": VALUES.astype(float), "b": SECOND.astype(float), "c": RNG.random(N).round(1)}


def is_sum(criterion: Criterion) -> bool:
    return type(criterion).finish is finish


def check(model, criterion, price_of):
    """What holds for every explanation of a model made from data."""
    for name in model.all_partitions:
        explained = model.explain(name)
        if is_sum(criterion):
            assert explained.terms.total == pytest.approx(model.cost, rel=1e-9, abs=1e-9)
        assert explained.alternatives, name
        for one in explained.alternatives:
            assert one.cost == pytest.approx(
                price_of({**model.all_partitions, name: one.partition}), rel=1e-9, abs=1e-9
            )
            assert one.delta == pytest.approx(one.cost - model.cost, abs=1e-9)
            assert one.n_parts == np.count_nonzero(one.partition.rows)
            if is_sum(criterion):
                assert one.terms.total == pytest.approx(one.cost, rel=1e-9, abs=1e-9)
            if model.proven:
                assert one.delta >= -1e-9
        numbers = [one.n_parts for one in explained.alternatives]
        assert numbers == sorted(numbers)
        assert str(name) in str(explained)
        assert explained.table()["cost"].tolist() == [model.cost, *(one.cost for one in explained.alternatives)]


@pytest.mark.parametrize("column", [VALUES.astype(float), LETTERS], ids=["numerical", "categorical"])
@pytest.mark.parametrize("name", gridmodl.list_criteria("classes"))
def test_every_criterion_of_one_column(name, column):
    model = gridmodl.optimize(column, CLASSES, criterion=name)
    check(
        model,
        criterion_for(name, "classes"),
        lambda partitions: gridmodl.price(column, CLASSES, partitions, criterion=name),
    )


@pytest.mark.parametrize("name", gridmodl.list_criteria("grid"))
def test_every_criterion_of_a_grid(name):
    data = {"a": NUMBERS["a"], "letters": np.array(list("uvwxy"))[SECOND], "c": NUMBERS["c"]}
    given = {"a": [1.5, 4.5], "letters": [["u", "v"], ["w", "x", "y"]]}
    model = gridmodl.Model.from_partitions(data, CLASSES, given, criterion=name)
    check(
        model,
        criterion_for(name, "grid"),
        lambda partitions: gridmodl.price(data, CLASSES, partitions, criterion=name),
    )


@pytest.mark.parametrize("kind", ["joint", "grouped", "numerical", "semi"])
def test_every_other_problem(kind):
    data, more = {"a": NUMBERS["a"]}, {"target": VALUES // 2 * 2.5 + SECOND / 5, "target_kind": kind}
    if kind == "joint":
        data, more = {"a": NUMBERS["a"], "letters": LETTERS}, {"target": None}
    elif kind == "grouped":
        more["target"] = LETTERS
    elif kind == "semi":
        more = {"target": np.where(SECOND > 2, -1, CLASSES), "unlabelled": -1}
    for name in gridmodl.list_criteria(kind):
        model = gridmodl.optimize(data, criterion=name, **more)
        assert model.problem == kind
        check(
            model,
            criterion_for(name, kind),
            lambda partitions, name=name: gridmodl.price(data, partitions=partitions, criterion=name, **more),
        )


@pytest.mark.parametrize("kind", ["joint", "numerical", "grouped"])
def test_the_best_beside_frozen_others_is_the_best_of_all(kind):
    target = {"joint": None, "numerical": (VALUES // 2 + SECOND).astype(float), "grouped": SECOND}[kind]
    data = {"a": NUMBERS["a"], "b": NUMBERS["b"]} if kind == "joint" else {"a": NUMBERS["a"]}
    more = {} if kind == "joint" else {"target_kind": kind}
    given = gridmodl.Model.from_partitions(
        data, target, {"a": [2.5], "b": [1.5]} if kind == "joint" else {"a": [2.5]}, **more
    )
    values_of = {"a": range(7)} | ({"target": sorted(set(target.tolist()))} if kind == "numerical" else {})
    for name, values in values_of.items():
        explained, n = given.explain(name), given.partition(name).n_parts
        for number, found in ((n - 1, explained.fewer), (n + 1, explained.more)):
            if number < 1:
                continue
            middles = [(lo + hi) / 2 for lo, hi in itertools.pairwise(values)]
            lowest = min(
                gridmodl.price(data, target, {**given.all_partitions, name: list(cuts)}, **more)
                for cuts in itertools.combinations(middles, number - 1)
            )
            assert found.proven
            assert found.cost == pytest.approx(lowest, rel=1e-9)


def test_words_and_numbers():
    data = [1.0, 1.5, 2.0, 2.5, 7.0, 7.5, 8.0, 8.5], [0, 0, 0, 0, 1, 1, 1, 1]
    explained = gridmodl.optimize(*data).explain()
    assert str(explained).splitlines() == [
        "x0 in 2 parts costs 7.50: 4.28 for the choice of parts and 3.22 for the classes",
        "  in them.",
        "With one part it costs 8.53, which is 1.03 more: 3.23 more for the classes in",
        "  them and 2.20 less for the choice of parts.",
        "With 3 parts it costs at best 9.57, which is 2.08 more: 1.61 more for the choice",
        "  of parts and 0.47 more for the classes in them.",
    ]
    assert len(explained.sentences) == 3
    assert explained.summary() == str(explained)
    assert (explained.fewer.n_parts, explained.more.n_parts) == (1, 3)
    assert repr(explained) == "Explanation('x0', 2 parts, 2 alternatives)"
    assert explained.terms.total == pytest.approx(explained.cost)


def test_a_variable_that_is_out():
    model = gridmodl.optimize(NUMBERS["c"], RNG.integers(0, 2, N))
    explained = model.explain()
    assert explained.n_parts == 1
    assert explained.fewer is None
    assert explained.more.delta > 0
    assert "is out: it has one part." in str(explained)
    one_value = gridmodl.optimize(np.zeros(N), CLASSES).explain()
    assert one_value.alternatives == ()
    assert one_value.notes == ("There is no partition into 2 parts: it has 1 value.",)


def test_a_model_from_a_file_prices_merges_and_takes_its_data():
    column = VALUES.astype(float)
    model = gridmodl.Model.from_partitions(column, CLASSES, {"x0": [1.5, 2.5, 4.5]})
    read = gridmodl.Model.from_json(model.to_json())
    explained = read.explain()
    bounds = model.partitions["x0"].bounds.tolist()
    merges = [gridmodl.price(column, CLASSES, {"x0": bounds[:i] + bounds[i + 1 :]}) for i in range(3)]
    assert explained.fewer.how == "merge"
    assert explained.fewer.cost == pytest.approx(min(merges))
    assert explained.more is None
    assert "without its data" in explained.notes[0]
    again = read.explain(data=column, target=CLASSES)
    assert again.more.cost == model.explain().more.cost
    with pytest.raises(ValueError, match="data must be what the model was made from, but the data has 59 rows"):
        read.explain(data=column[1:], target=CLASSES[1:])
    with pytest.raises(TypeError, match="beside data="):
        read.explain(target=CLASSES)
    with pytest.raises(TypeError, match="placement= beside data="):
        read.explain(placement="median")


def test_groups_of_a_file_merge_in_all_pairs():
    groups = [["a"], ["b", "c"], ["d", "e"], ["f", "g"]]
    model = gridmodl.Model.from_partitions(LETTERS, CLASSES, {"x0": groups})
    explained = gridmodl.Model.from_json(model.to_json()).explain()
    prices = []
    for i, j in itertools.combinations(range(4), 2):
        rest = [groups[k] for k in range(4) if k not in (i, j)]
        prices.append(gridmodl.price(LETTERS, CLASSES, {"x0": [groups[i] + groups[j], *rest]}))
    assert explained.fewer.cost == pytest.approx(min(prices))


class ByValue(Criterion):
    """A criterion that prices the values of each part, which a model with classes does not know."""

    name = "by-value"
    problems = {"classes"}

    @staticmethod
    def part(p, variable, part):
        return math.log(part.values)


def test_what_a_model_does_not_know_is_asked_for(monkeypatch):
    model = gridmodl.Model.from_json(gridmodl.optimize(VALUES.astype(float), CLASSES).to_json())
    monkeypatch.setattr(alternatives, "criterion_of", lambda name, options, problem: ByValue())
    with pytest.raises(ValueError, match=r"does not know .* pass the data: explain\(name, data="):
        model.explain()


def test_another_criterion_of_that_name_is_told():
    model = gridmodl.Model.from_json(gridmodl.optimize(VALUES.astype(float), CLASSES).to_json())
    with pytest.raises(ValueError, match="another criterion of that name"):
        replace(
            model,
            problem="classes",
            cost=1.0,
            partitions={"x0": replace(model.partitions["x0"], n_values=np.ones(model.partitions["x0"].n_parts))},
        ).explain()


def test_special_codes_missing_values_and_empty_parts():
    column = VALUES.astype(float)
    column[::9], column[::7] = -999.0, np.nan
    special = {"x0": [-999.0, -5.0]}
    model = gridmodl.optimize(column, CLASSES, special=special)
    explained = model.explain()
    for one in explained.alternatives:
        given = {} if one.how == "whole" else {"special": special}
        assert one.n_parts == np.count_nonzero(one.partition.rows)
        assert one.cost == pytest.approx(gridmodl.price(column, CLASSES, {"x0": one.partition}, **given))
    assert explained.more.proven
    assert explained.fewer.n_parts + 2 == explained.more.n_parts
    own = gridmodl.Model.from_partitions(column, CLASSES, {"x0": [np.nan, -5.0, -4.0, 2.5, 100.0]}, special=special)
    read = gridmodl.Model.from_json(own.to_json()).explain()
    assert read.n_parts == 4  # missing values, two intervals, a code
    assert read.fewer.cost == pytest.approx(
        min(
            gridmodl.price(column, CLASSES, {"x0": bounds}, special=special)
            for bounds in ([2.5], [np.nan])  # what is missing with the lower interval, or the two intervals
        )
    )


def test_rows_without_a_class_that_only_place_bounds():
    target = np.where(SECOND > 2, -1, CLASSES)
    model = gridmodl.optimize(NUMBERS["a"], target, unlabelled=-1, placement="median")
    explained = model.explain()
    assert explained.terms.total == pytest.approx(model.cost)
    labelled = target >= 0
    for one in explained.alternatives:
        assert one.cost == pytest.approx(
            gridmodl.price(NUMBERS["a"][labelled], target[labelled], {"x0": one.partition})
        )
    read = gridmodl.Model.from_json(model.to_json())
    again = read.explain(data=NUMBERS["a"], target=target, unlabelled=-1, placement="median")
    assert again.summary() == explained.summary()


def test_weights_count():
    weights = RNG.integers(0, 4, N)
    model = gridmodl.optimize(VALUES.astype(float), CLASSES, weights=weights)
    repeated = gridmodl.optimize(np.repeat(VALUES.astype(float), weights), np.repeat(CLASSES, weights))
    assert model.explain().summary() == repeated.explain().summary()


def test_a_cheaper_alternative_is_told_and_why():
    limited = gridmodl.optimize(VALUES.astype(float), CLASSES, max_parts=2)
    explained = limited.explain()
    assert explained.more.delta < 0
    assert "it keeps the limits that were given" in explained.notes[-1]
    own = gridmodl.Model.from_partitions(VALUES.astype(float), CLASSES, {"x0": [0.5]}).explain()
    assert "the user's own" in own.notes[-1]
    assert [one.n_parts for one in own.alternatives] == [1, 2, 3]  # two parts elsewhere are cheaper


def test_a_time_limit_stops_the_search_and_is_told():
    x = RNG.random(3000)
    model = gridmodl.optimize(x, x * RNG.random(3000) > 0.3)
    explained = model.explain(time_limit=1e-9)
    assert "cut short: time limit" in explained.notes[0]
    assert explained.fewer is not None


def test_a_name_is_asked_for_where_there_are_several():
    model = gridmodl.optimize(NUMBERS, CLASSES)
    with pytest.raises(ValueError, match="name must be one of the columns"):
        model.explain()
    with pytest.raises(ValueError, match="name must be one of the columns"):
        model.explain("nobody")
    with pytest.raises(ValueError, match=r"name must be one of the columns 'a', 'b', 'c', got \['a'\]"):
        model.explain(["a"])


def test_a_split_is_priced_where_all_partitions_take_long(monkeypatch):
    monkeypatch.setattr(splits, "MOST_PRICES", 0.0)
    column = np.where(SECOND == 4, np.nan, VALUES.astype(float))
    model = gridmodl.Model.from_partitions(column, CLASSES, {"x0": [np.nan, 1.5, 3.5]})
    explained = model.explain()
    prices = [
        gridmodl.price(column, CLASSES, {"x0": [np.nan, *sorted([1.5, 3.5, more])]}) for more in (0.5, 2.5, 4.5, 5.5)
    ]
    assert (explained.more.how, explained.more.proven) == ("split", False)
    assert explained.more.cost == pytest.approx(min(prices))
    assert explained.fewer.how == "merge"
    assert "would take long to find" in explained.notes[0]
    assert "With 5 parts, one of these split, it costs" in str(explained)
    patient = model.explain(time_limit=60)
    assert patient.more.proven
    assert patient.more.cost <= explained.more.cost
    apart = gridmodl.Model.from_partitions([1.0, 2.0], [0, 1], {"x0": [1.5]}).explain()
    assert apart.notes[0] == "There is no partition into 3 parts: it has 2 values."


def test_many_values_are_not_searched_and_coarser_models_are():
    values = np.repeat([f"v{i}" for i in range(1100)], 2)
    data = {"a": values, "b": np.resize(["x", "y"], len(values))}
    many = gridmodl.Model.from_partitions(data, None, {"a": [values[:900].tolist(), values[900:].tolist()]})
    explained = many.explain("a")
    assert "it has 1100 values" in explained.notes[0]
    assert [one.how for one in explained.alternatives] == ["merge"]
    data = {"a": NUMBERS["a"], "letters": LETTERS}
    coarse = gridmodl.optimize(data).coarsen(max_parts=2)
    check(coarse, criterion_for("modl", "joint"), lambda partitions: gridmodl.price(data, partitions=partitions))


def test_an_optimum_kept_beside_the_best_says_why_it_cannot_be_explained():
    model = gridmodl.optimize(NUMBERS, CLASSES, search=gridmodl.Search("vns", keep_optima=3))
    optimum = next(one for one in model.optima if one.partitions)
    with pytest.raises(ValueError, match="element of optima"):
        optimum.explain(next(iter(optimum.partitions)))


@pytest.mark.parametrize("is_grid", [False, True])
def test_a_group_is_cut_in_two_where_groupings_are_too_many(is_grid):
    values = np.array([f"v{i:02}" for i in range(20)])[np.arange(800) % 20]
    kinds = np.arange(800) % 20 // 5  # of four kinds of values
    classes = np.where(RNG.random(800) < 0.9, kinds, RNG.integers(0, 4, 800))
    groups = [sorted(set(values[kinds == 0])), sorted(set(values[kinds == 1])), sorted(set(values[kinds > 1]))]
    data = {"a": values, "b": RNG.random(800).round(1)} if is_grid else {"a": values}
    model = gridmodl.Model.from_partitions(data, classes, {"a": groups})
    explained = model.explain("a")
    more = explained.more
    assert len(explained.notes) == 1  # that the model is not the cheapest
    apart = [*groups[:2], sorted(set(values[kinds == 2])), sorted(set(values[kinds == 3]))]
    assert more.cost == pytest.approx(gridmodl.price(data, classes, {"a": apart}))
    assert more.delta < 0


def test_many_values_are_not_merged_pair_by_pair_unless_there_is_time(monkeypatch):
    monkeypatch.setattr(splits, "MOST_PRICES", 0.0)
    values = np.array([f"v{i:02}" for i in range(20)])[np.arange(800) % 20]
    classes = np.where(RNG.random(800) < 0.9, np.arange(800) % 20 // 5, 0)
    groups = [sorted(set(values))[:10], sorted(set(values))[10:]]
    model = gridmodl.Model.from_partitions(values, classes, {"x0": groups})
    explained = model.explain()
    assert [one.how for one in explained.alternatives] == ["merge", "split"]
    assert "would take long to find" in explained.notes[0]
    assert "would take long" not in str(model.explain(time_limit=60))
    monkeypatch.setattr(splits, "MAX_VALUES", 5)
    explained = model.explain()
    assert [one.how for one in explained.alternatives] == ["merge"]
    assert explained.notes[0].startswith("Other numbers of parts were not searched for: it has 20 values; explain(")


def test_too_many_pairs_are_not_tried(monkeypatch):
    monkeypatch.setattr(alternatives, "MAX_UNIONS", 0)
    model = gridmodl.Model.from_partitions(VALUES.astype(float), CLASSES, {"x0": [1.5, 4.5]})
    assert ModelVariable(model, "x0").cheapest_merge() is None
    explained = gridmodl.Model.from_json(model.to_json()).explain()
    assert [one.how for one in explained.alternatives] == ["whole"]
