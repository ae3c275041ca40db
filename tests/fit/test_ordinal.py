"""Ordered categories: groups of adjacent levels, against enumeration and against the numbers of the levels."""

from __future__ import annotations

import itertools
import json
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from oracles import naive
from report.databases import DIALECTS, Stored, run

import gridmodl
from gridmodl import (
    GridClassifier,
    GridDiscretizer,
    GridNaiveBayes,
    Model,
    Models,
    get_criterion,
    optimize,
    optimize_each,
)

RATINGS = ["AAA", "AA", "A", "BBB", "BB", "B", "CCC"]  # sorted by name: A, AA, AAA, B, BB, ...


def drawn(seed, n=400, lacking=(3,), missing=0.0):
    """Places of levels, their names, and a class that depends on them; some levels do not occur."""
    rng = np.random.default_rng(seed)
    places = rng.choice([i for i in range(len(RATINGS)) if i not in lacking], n)
    y = np.where(rng.random(n) < np.array([0.05, 0.1, 0.3, 0.3, 0.35, 0.7, 0.9])[places], "yes", "no")
    numbers = np.where(rng.random(n) < missing, np.nan, places)
    names = np.array([None if np.isnan(i) else RATINGS[int(i)] for i in numbers], dtype=object)
    return numbers, names, y


def only(model):
    (partition,) = model.partitions.values()
    return partition


ORDER = {"order": {"rating": RATINGS}}


# Types of columns.


def columns_of(names):
    codes = [None if name is None else RATINGS.index(name) for name in names]
    return {
        "pandas": pd.DataFrame({"rating": pd.Categorical(names, categories=RATINGS, ordered=True)}),
        "polars": pl.DataFrame({"rating": pl.Series(names.tolist(), dtype=pl.Enum(RATINGS))}),
        "pyarrow": pa.table(
            {"rating": pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(RATINGS), ordered=True)}
        ),
        "text": {"rating": names},
        "unordered": pd.DataFrame({"rating": pd.Categorical(names)}),
    }


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "text", "unordered"])
def test_every_type_gives_the_groups_of_the_numbers(kind, missing):
    numbers, names, y = drawn(0, missing=missing)
    has_order = kind in ("pandas", "polars", "pyarrow")
    model = optimize(columns_of(names)[kind], y, **({} if has_order else ORDER))
    plain = optimize({"rating": numbers}, y)
    assert (model.cost, model.null_cost, model.proven) == (plain.cost, plain.null_cost, True)
    assert only(model).kind == "ordinal"
    assert only(model).levels == tuple(RATINGS)
    assert np.array_equal(only(model).counts, only(plain).counts)
    assert only(model).missing == only(plain).missing
    for other in columns_of(names).values():  # also as plain text, by the stored levels
        assert np.array_equal(model.transform(other), plain.transform({"rating": numbers}))
    assert gridmodl.verify(model, columns_of(names)["text"], y)
    assert gridmodl.verify(Model.from_json(model.to_json()), columns_of(names)[kind], y)


def test_an_ordered_column_can_be_categorical_and_numbers_ordinal():
    _, names, y = drawn(1)
    frame = columns_of(names)["pandas"]
    assert optimize(frame, y, kinds={"rating": "categorical"}).partitions["rating"].kind == "categorical"
    order = [3, 1, 2, 0]
    x = np.random.default_rng(0).choice(4, 300)
    classes = np.isin(x, [3, 1]).astype(int)
    model = optimize(x, classes, order={"x0": order})
    assert only(model).groups == ((3, 1), (2, 0))
    assert model.transform([0.0, 3.0]).ravel().tolist() == [1, 0]
    assert only(Model.from_json(model.to_json())).groups == ((3, 1), (2, 0))
    sizes = pd.Series(pd.Categorical([10, 2, 33] * 40, categories=[33, 10, 2], ordered=True), name="size")
    assert only(optimize(sizes, [0, 0, 1] * 40)).groups == ((33,), (10, 2))


# Against enumeration.


def all_groupings(numbers):
    """Part of each row, for every way to cut the levels that occur; missing values alone or with the lowest."""
    there = sorted({i for i in numbers if not np.isnan(i)})
    has_missing = bool(np.isnan(numbers).any())
    for is_apart in (True, False) if has_missing else (False,):
        for n_cuts in range(len(there)):
            for cuts in itertools.combinations(there[1:], n_cuts):
                yield ["missing" if np.isnan(i) and is_apart else sum(i >= cut for cut in cuts) for i in numbers]


@pytest.mark.parametrize("criterion", ["modl", "bic", "entropy"])
@pytest.mark.parametrize("seed", range(6))
def test_the_cheapest_of_all_adjacent_groups_is_found(seed, criterion):
    numbers, names, y = drawn(seed, n=60, missing=0.15 * (seed % 2))
    y = np.where(np.random.default_rng(seed).random(60) < 0.2, "other", y) if seed % 3 == 0 else y
    model = optimize({"rating": names}, y, criterion=criterion, **ORDER)
    values = [-1.0 if np.isnan(i) else float(i) for i in numbers]  # missing values sort below all
    prices = [
        naive.price(get_criterion(criterion), "classes", [naive.Column(values, parts)], y)
        for parts in all_groupings(numbers)
    ]
    assert model.proven
    assert model.cost == pytest.approx(min(prices), rel=1e-9)
    assert gridmodl.verify(model, {"rating": names}, y)


def rating_of(seed, n_levels, n):
    """A column of levels named in an order that no sorting gives, beside its numbers."""
    rng = np.random.default_rng(seed)
    levels = [f"level {i}" for i in rng.permutation(n_levels)]
    numbers = rng.choice(n_levels, n)
    return levels, numbers, np.array(levels, dtype=object)[numbers], rng


OPTIONS = {
    "plain": {},
    "peak": {"monotone": "valley"},
    "events": {"min_events": 12, "min_difference": 0.05},
    "merge": {"search": "merge"},
    "limits": {"max_parts": 3, "min_rows": 30},
    "monotone": {"monotone": "auto"},
    "apart": {"missing": "apart"},
    "apart, limits": {"missing": "apart", "min_rows": 80, "monotone": "increasing"},
}


@pytest.mark.parametrize("what", OPTIONS)
@pytest.mark.parametrize("seed", range(3))
def test_options_hold_as_for_numbers(seed, what):
    levels, numbers, names, rng = rating_of(seed, 12, 500)
    y = (rng.random(500) < (numbers - 5.5) ** 2 / 40 + 0.1).astype(int)
    absent = rng.random(500) < 0.1
    names[absent] = None
    numbers = np.where(absent, np.nan, numbers)
    weights = rng.integers(1, 4, 500)
    plain = optimize({"r": numbers}, y, weights=weights, **OPTIONS[what])
    model = optimize({"r": names}, y, weights=weights, order={"r": levels}, **OPTIONS[what])
    assert (model.cost, model.proven) == (plain.cost, plain.proven)
    assert np.array_equal(only(model).counts, only(plain).counts)
    assert gridmodl.verify(model, {"r": names}, y, weights=weights)


@pytest.mark.parametrize(
    ("fixed", "message"),
    [(["d"], "has the bound 'd', with no values"), (["b", "b2"], "has the bounds 'b' and 'b2', no value between them")],
)
def test_errors_name_fixed_levels(fixed, message):
    with pytest.raises(ValueError, match=message):
        optimize({"r": list("abcd") * 8}, [0, 0, 1, 1] * 8, order={"r": ["a", "b", "b2", "c", "d"]}, fixed=fixed)


def test_fixed_and_allowed_bounds_are_levels():
    levels, numbers, names, rng = rating_of(3, 12, 500)
    y = (rng.random(500) < numbers / 15).astype(int)
    for option in ("fixed", "allowed"):
        model = optimize({"r": names}, y, order={"r": levels}, **{option: {"r": [levels[3], levels[8]]}})
        plain = optimize({"r": numbers}, y, **{option: {"r": [3.5, 8.5]}})
        assert (model.cost, model.proven) == (plain.cost, plain.proven)
        assert np.array_equal(only(model).counts, only(plain).counts)
        assert set(only(model).bounds.tolist()) <= {3, 8} or option == "fixed"
        assert gridmodl.verify(Model.from_json(model.to_json()), {"r": names}, y)


def test_special_levels_may_share_a_part():
    levels, numbers, names, rng = rating_of(0, 10, 600)
    y = (rng.random(600) < np.where(numbers > 4, 0.8, 0.2)).astype(int)
    for i, name in enumerate(["not rated", "withdrawn", "none"]):
        names[i * 40 : i * 40 + 40], numbers[i * 40 : i * 40 + 40] = name, 97 + i
    model = optimize({"r": names}, y, order={"r": levels}, special={"r": [["not rated", "withdrawn"], "none"]})
    plain = optimize({"r": numbers}, y, special={"r": [[97, 98], 99]})
    assert model.cost == plain.cost
    assert np.array_equal(only(model).counts, only(plain).counts)
    assert only(model).groups[-2:] == (("not rated", "withdrawn"), ("none",))
    assert only(model).labels[-2:] == ["special not rated, withdrawn", "special none"]
    assert np.array_equal(model.transform({"r": names}), plain.transform({"r": numbers}))
    read = Model.from_json(model.to_json())
    assert read.to_json() == model.to_json()
    assert gridmodl.verify(read, {"r": names}, y)
    assert model.edit("r", groups=only(model).groups).cost == pytest.approx(model.cost)
    assert Model.from_partitions({"r": names}, y, {"r": only(read)}).cost == pytest.approx(model.cost)


def test_unlabelled_rows_and_special_levels():
    levels, numbers, names, rng = rating_of(0, 10, 600)
    y = np.where(numbers > 4, 1, 0)
    y[rng.random(600) < 0.5] = -1
    for placement in (None, "median", "short"):
        model = optimize({"r": names}, y, unlabelled=-1, placement=placement, order={"r": levels})
        plain = optimize({"r": numbers}, y, unlabelled=-1, placement=placement)
        assert model.cost == plain.cost
        assert np.array_equal(only(model).unlabelled, only(plain).unlabelled)
    y = (rng.random(600) < np.where(numbers > 4, 0.8, 0.2)).astype(int)
    names[:80] = "not rated"
    numbers[:80] = 99
    model = optimize({"r": names}, y, order={"r": levels}, special={"r": ["not rated", levels[2]]})
    plain = optimize({"r": numbers}, y, special={"r": [99, 2]})
    assert model.cost == plain.cost
    assert np.array_equal(only(model).counts, only(plain).counts)
    assert only(model).labels[-2:] == ["special not rated", f"special {levels[2]}"]
    assert only(model).groups[-2:] == (("not rated",), (levels[2],))
    assert sum(map(len, only(model).groups)) == 11
    assert np.array_equal(model.transform({"r": names}), plain.transform({"r": numbers}))
    assert gridmodl.verify(model, {"r": names}, y)
    read = Model.from_json(model.to_json())
    assert read.to_json() == model.to_json()
    same = Model.from_partitions({"r": names}, y, {"r": only(read)})
    assert same.cost == pytest.approx(model.cost)
    assert model.edit("r", groups=only(model).groups).cost == pytest.approx(model.cost)
    with pytest.raises(ValueError, match="holds 'none', which is no level"):
        optimize(columns_of(drawn(0)[1])["pandas"], drawn(0)[2], special={"rating": ["none"]})


def test_grids_joint_grids_and_partitioned_targets():
    levels, numbers, names, rng = rating_of(1, 8, 800)
    x = rng.random(800)
    y = np.where((numbers > 3) ^ (x > 0.5), "yes", "no")
    cases = [
        ({"r": names, "x": x}, {"r": numbers, "x": x}, y, {}),
        ({"r": names, "y": y, "x": x}, {"r": numbers, "y": y, "x": x}, None, {}),
        ({"r": names, "x": numbers + rng.normal(0, 0.5, 800)}, None, None, {}),
        ({"r": names}, {"r": numbers}, numbers * 10 + rng.random(800), {}),
        ({"r": names}, {"r": numbers}, (numbers * 3 + rng.integers(0, 4, 800)).astype(str), {"target_kind": "grouped"}),
    ]
    for data, of_numbers, target, more in cases:
        model = optimize(data, target, order={"r": levels}, **more)
        plain = optimize(of_numbers or {**data, "r": numbers}, target, **more)
        assert model.cost == plain.cost
        assert np.array_equal(model.partition("r").counts, plain.partition("r").counts)
        assert model.partition("r").n_parts > 1
        assert np.array_equal(model.transform(data), plain.transform(of_numbers or {**data, "r": numbers}))
        read = Model.from_json(model.to_json())
        assert gridmodl.verify(read, data, target)
        if target is not None and model.target is None:
            continue  # parts of a model with classes are not merged
        assert model.hierarchy().information[-1] == 0.0
        coarse, plain_coarse = model.coarsen(max_parts=2), plain.coarsen(max_parts=2)
        assert coarse.partition("r").n_parts <= 2
        assert np.array_equal(coarse.partition("r").counts, plain_coarse.partition("r").counts)
        assert coarse.partition("r").levels == tuple(levels)


# Levels that the data lacks, and values that are no levels.


@pytest.mark.parametrize(("n_between", "n_below"), [(0, 0), (1, 1), (2, 1), (3, 2), (4, 2)])
def test_levels_between_two_groups_are_divided_in_half(n_between, n_below):
    levels = ["low", *(f"between {i}" for i in range(n_between)), "high"]
    model = optimize({"r": ["low"] * 30 + ["high"] * 30}, [0] * 30 + [1] * 30, order={"r": levels})
    assert [len(group) for group in only(model).groups] == [1 + n_below, 1 + n_between - n_below]
    assert model.transform({"r": levels}).ravel().tolist() == [0] * (1 + n_below) + [1] * (1 + n_between - n_below)


def test_levels_beyond_the_data_join_the_outer_groups():
    levels = ["lowest", "low", "high", "highest"]
    model = optimize({"r": ["low"] * 30 + ["high"] * 30}, [0] * 30 + [1] * 30, order={"r": levels})
    assert only(model).groups == (("lowest", "low"), ("high", "highest"))


def test_values_outside_the_order():
    _, names, y = drawn(0)
    with pytest.raises(
        ValueError, match="holds 1 values that are not in its order, such as 'CCC'; its levels are 'AAA'"
    ):
        optimize({"rating": names}, y, order={"rating": RATINGS[:-1]})
    model = optimize({"rating": names}, y, **ORDER)
    assert model.transform({"rating": ["AAA", "D"]}).ravel().tolist() == [0, -1]
    with pytest.raises(ValueError, match="'D'"):
        model.transform({"rating": ["D"]}, unknown="error")
    neutral = model.predict_proba({"rating": ["D"]})
    assert neutral[0] == pytest.approx([np.mean(y == "no"), np.mean(y == "yes")])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"kinds": {"rating": "ordinal"}}, ValueError, "does not order its values; give its levels .* with order="),
        ({"kinds": {"rating": "ordinl"}}, ValueError, "allowed: numerical, categorical, ordinal; did you"),
        (
            {"order": {"rating": RATINGS}, "kinds": {"rating": "categorical"}},
            ValueError,
            "which kinds calls categorical",
        ),
        ({"order": {"rating": "ABC"}}, TypeError, "must be a list of its levels, from low to high; got 'ABC'"),
        ({"order": {"rating": []}}, ValueError, "from low to high; got none"),
        ({"order": {"rating": ["A", "A"]}}, ValueError, "each once; 'A' is there twice"),
        ({"order": {"rating": ["A", None]}}, ValueError, "without missing values"),
        ({"order": {"rating": [["A"], ["B"]]}}, TypeError, "must be a list of its levels"),
        ({"order": {"raiting": RATINGS}}, ValueError, "order names .*raiting.*did you mean 'rating'"),
        ({"order": RATINGS}, TypeError, "order must be a dict by column name"),
    ],
)
def test_what_is_wrong_is_said(options, error, message):
    _, names, y = drawn(0)
    with pytest.raises(error, match=message):
        optimize({"rating": names}, y, **options)


def test_chunks_that_contradict_each_other():
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array([0, 1] * 20, pa.int8()), pa.array(levels), ordered=True)
        for levels in (["low", "high"], ["high", "low"])
    ]
    with pytest.raises(ValueError, match="order its levels in different ways; give one with order="):
        optimize({"r": pa.chunked_array(chunks)}, [0, 1] * 40)
    model = optimize({"r": pa.chunked_array(chunks)}, [0, 1] * 20 + [1, 0] * 20, order={"r": ["low", "high"]})
    assert only(model).groups == (("low",), ("high",))


# The user's own groups.


def test_groups_of_adjacent_levels_are_priced():
    numbers, names, y = drawn(0)
    data = {"rating": names}
    groups = [["AAA", "AA"], ["A", "BBB", "BB"], ["B", "CCC"]]
    cost = gridmodl.price(data, y, {"rating": groups}, **ORDER)
    assert cost == pytest.approx(gridmodl.price({"rating": numbers}, y, {"rating": [1.5, 4.5]}))
    model = Model.from_partitions(data, y, {"rating": groups[::-1]}, **ORDER)  # in any order
    assert (model.cost, only(model).groups) == (cost, tuple(map(tuple, groups)))
    short = Model.from_partitions(data, y, {"rating": [["AAA", "AA", "A"], ["BB", "B", "CCC"]]}, **ORDER)
    assert only(short).groups == (("AAA", "AA", "A", "BBB"), ("BB", "B", "CCC"))  # BBB, which the data lacks
    best = optimize(data, y, **ORDER)
    edited = best.edit("rating", groups=[["AAA"], RATINGS[1:]])
    assert edited.delta == pytest.approx(gridmodl.price({"rating": numbers}, y, {"rating": [0.5]}) - best.cost)
    assert Model.from_partitions(data, y, {"rating": only(edited)}).cost == pytest.approx(edited.cost)


def test_parts_are_merged_and_split_by_number():
    numbers, names, y = drawn(0, missing=0.2)
    model = Model.from_partitions(
        {"rating": names}, y, {"rating": [[None], ["AAA", "AA"], ["A", "BBB", "BB"], ["B", "CCC"]]}, **ORDER
    )
    merged = Model.from_json(model.to_json()).edit("rating", merge=[1, 2])
    assert only(merged).groups == ((None,), ("AAA", "AA", "A", "BBB", "BB"), ("B", "CCC"))
    assert merged.cost == pytest.approx(gridmodl.price({"rating": numbers}, y, {"rating": [np.nan, 4.5]}))
    with pytest.raises(ValueError, match="lies between them"):
        model.edit("rating", merge=[1, 3])
    split = model.edit("rating", split={2: ["A", "BBB"]})
    assert only(split).groups == ((None,), ("AAA", "AA"), ("A", "BBB"), ("BB",), ("B", "CCC"))
    assert split.cost == pytest.approx(gridmodl.price({"rating": numbers}, y, {"rating": [np.nan, 1.5, 3.5, 4.5]}))
    with pytest.raises(ValueError, match="without 'BBB', which is between them"):
        model.edit("rating", split={2: ["BBB"]})
    with pytest.raises(ValueError, match="'AAA' is none of"):
        model.edit("rating", split={2: ["AAA"]})


def test_missing_values_in_groups():
    numbers, names, y = drawn(0, missing=0.2)
    data, rest = {"rating": names}, RATINGS[2:]
    for groups, bounds in (
        ([[None], RATINGS[:2], rest], [np.nan, 1.5]),
        ([[None, *RATINGS[:2]], rest], [1.5]),
        ([RATINGS[:2], rest], [1.5]),
    ):
        model = Model.from_partitions(data, y, {"rating": groups}, **ORDER)
        assert model.cost == pytest.approx(gridmodl.price({"rating": numbers}, y, {"rating": bounds}))
        assert only(model).missing == 0
    with pytest.raises(ValueError, match="put None into the lowest group"):
        Model.from_partitions(data, y, {"rating": [RATINGS[:2], [None, *rest]]}, **ORDER)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([["AAA", "CCC"], ["AA", "A", "BBB", "BB", "B"]], "without 'AA', which is between them"),
        ([["AAA", "AA"], ["AA", "A", "BB", "B", "CCC"]], "level 'AA' of column 'rating' is in two groups"),
        ([["AAA", "AA"], ["B", "CCC"]], "leave out 2 of its levels: 'A', 'BB'"),
        ([["AAA", "D"], RATINGS[1:]], "hold 'D', which is no level of it"),
        ([[], RATINGS], "one of them is empty"),
    ],
)
def test_groups_that_are_refused(groups, message):
    _, names, y = drawn(0)
    with pytest.raises(ValueError, match=message):
        Model.from_partitions({"rating": names}, y, {"rating": groups}, **ORDER)


def test_other_kinds_of_partitions_are_refused():
    _, names, y = drawn(0)
    model = optimize({"rating": names}, y, **ORDER)
    with pytest.raises(TypeError, match="is ordinal: edit it with groups=, merge= or split="):
        model.edit("rating", bounds=[1])
    with pytest.raises(ValueError, match="is categorical, the partition given for it ordinal"):
        Model.from_partitions({"rating": names}, y, {"rating": only(model)}, kinds={"rating": "categorical"})
    other = optimize({"rating": names}, y, order={"rating": RATINGS[::-1]})
    with pytest.raises(ValueError, match="give it the same order="):
        Model.from_partitions({"rating": names}, y, {"rating": only(other)}, **ORDER)


# Shown, explained, saved.


def test_labels():
    levels = ["18 to 25", "25 to 40", "a, b", "{x}", "", "missing", "last"]
    partition = gridmodl.Model.from_partitions(
        {"r": levels * 2}, [0, 1] * 7, {"r": [levels[:2], levels[2:3], levels[3:]]}, order={"r": levels}
    ).partitions["r"]
    assert partition.labels == ["{18 to 25, 25 to 40}", "{'a, b'}", "{'{x}', ..., last}"]
    assert repr(partition) == "Partition('r', ordinal, 3 parts)"
    _, names, y = drawn(0, missing=0.3)
    whole = Model.from_partitions({"rating": names}, y, {}, **ORDER)
    assert only(whole).labels == ["{AAA, ..., CCC} or missing"]


def test_explanations_name_the_levels():
    numbers, names, y = drawn(0)
    model, plain = optimize({"rating": names}, y, **ORDER), optimize({"rating": numbers}, y)
    assert str(model.explain()) == str(plain.explain())
    assert model.explain().more.partition.levels == tuple(RATINGS)
    curve = gridmodl.cost_by_parts({"rating": names}, y, **ORDER)
    assert np.array_equal(curve.cost, gridmodl.cost_by_parts({"rating": numbers}, y).cost)
    assert curve.partitions[1].kind == "ordinal"
    assert model.partitions["rating"].labels[0] in model.summary()
    assert model.partitions["rating"].labels[0].startswith("{AAA")
    assert "ordinal" in optimize_each({"rating": names}, y, **ORDER).summary()
    assert "{AAA" in model._repr_html_()
    assert "{AAA" in only(model)._repr_html_()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p.update(levels=[]), "levels"),
        (lambda p: p.update(levels=[*RATINGS[:-1], "AAA"]), "for the second time"),
        (lambda p: p.update(levels=[None, *RATINGS[1:]]), "levels"),
        (lambda p: p.update(levels=3), "levels"),
        (lambda p: p.update(bounds=[6]), "bounds"),
        (lambda p: p.update(bounds=[-1]), "bounds"),
        (lambda p: p.update(bounds=[0.5]), "bounds"),
        (lambda p: p.update(bounds=p["bounds"][::-1]), "must ascend"),
        (lambda p: p.update(special=[7]), "special"),
        (lambda p: p.update(special=[2, 2]), "level twice"),
        (lambda p: p.update(default=0), "default"),
        (lambda p: p.update(is_utc=False), "unknown field 'is_utc'"),
        (lambda p: p.update(kind="numerical"), "unknown field|lacks"),
        (lambda p: p.pop("levels"), "levels"),
        (lambda p: p.update(bounds=p["bounds"][:1]), "parts"),
        (lambda p: p.update(value_rows=[1] * 7), "must not be there"),
    ],
)
def test_hostile_files(change, message):
    _, names, y = drawn(0)
    record = json.loads(optimize({"rating": names}, y, **ORDER).to_json())
    assert len(record["partitions"][0]["bounds"]) > 1
    change(record["partitions"][0])
    with pytest.raises(gridmodl.ModelFileError, match=message):
        Model.from_json(json.dumps(record))


def test_older_files_have_no_ordinal_partitions():
    _, names, y = drawn(0)
    record = json.loads(optimize({"rating": names}, y, **ORDER).to_json()) | {"version": 5}
    for field in ("event", "event_is_default", "limits", "resolution", "sample_rows", "stability"):
        record.pop(field)
    with pytest.raises(gridmodl.ModelFileError, match="one of numerical, categorical, got 'ordinal'"):
        Model.from_json(json.dumps(record))


# Estimators.


def test_estimators_take_orders_and_types():
    rng = np.random.default_rng(0)
    numbers, names, y = drawn(0, missing=0.1)
    x = rng.random(len(y))
    frame = pd.DataFrame({"rating": pd.Categorical(names, categories=RATINGS, ordered=True), "x": x})
    text = pd.DataFrame({"rating": names, "x": x})
    plain = pd.DataFrame({"rating": numbers, "x": x})
    for make in (GridDiscretizer, GridClassifier, partial(GridNaiveBayes, averaged=False)):
        by_type, by_order, by_numbers = make().fit(frame, y), make(**ORDER).fit(text, y), make().fit(plain, y)
        answers = [
            one.transform(data) if make is GridDiscretizer else one.predict_proba(data)
            for one, data in (
                (by_type, frame),
                (by_type, text),
                (by_order, text),
                (by_order, frame),
                (by_numbers, plain),
            )
        ]
        for other in answers[:-1]:
            assert np.allclose(np.asarray(other, dtype=float), np.asarray(answers[-1], dtype=float))


def test_names_of_one_hot_columns():
    place = np.repeat(np.arange(7), 40)
    frame = pd.DataFrame({"rating": pd.Categorical.from_codes(place, categories=RATINGS, ordered=True)})
    discretizer = GridDiscretizer(encode="onehot").fit(frame, place > 4)
    assert discretizer.get_feature_names_out().tolist() == ["rating_0_AAA..BB", "rating_1_B+CCC"]


def test_without_a_target_each_level_is_a_part():
    _, names, _ = drawn(0, missing=0.1)
    frame = pd.DataFrame({"rating": pd.Categorical(names, categories=RATINGS, ordered=True)})
    discretizer = GridDiscretizer().fit(frame)
    parts = np.asarray(discretizer.transform(frame)).ravel()
    assert len(set(parts.tolist())) == 7  # six levels with rows, and missing values
    few = GridDiscretizer(max_parts=3).fit(frame)
    found = np.asarray(few.transform(frame)).ravel()
    assert len(set(found.tolist())) == 4  # missing values do not count
    places = np.array([-1 if name is None else RATINGS.index(name) for name in names])
    assert np.all(np.diff(found[np.argsort(places, kind="stable")].astype(int)) >= 0)


def test_densities_and_baselines_refuse_levels():
    _, names, y = drawn(0)
    column = columns_of(names)["pandas"]["rating"]
    with pytest.raises(TypeError, match="is ordinal; only numbers, dates and durations have a density"):
        gridmodl.optimize_density(column)
    with pytest.raises(TypeError, match=r"is ordinal; .* cuts numbers"):
        gridmodl.baselines.equal_width(column, y, 3)
    with pytest.raises(TypeError, match="is ordinal and has no numbers"):
        gridmodl.bound_posterior(column, y)


def test_models_of_many_columns():
    _, names, y = drawn(0)
    frame = columns_of(names)["pandas"].assign(x=np.random.default_rng(0).random(len(y)))
    models = optimize_each(frame, y)
    read = Models.from_json(models.to_json())
    assert read["rating"].partitions["rating"].labels == models["rating"].partitions["rating"].labels
    assert models.table()["kind"].tolist() == ["ordinal", "numerical"]


# An ordered target.


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_classes_are_in_the_order_of_an_ordered_target(kind):
    numbers, names, _ = drawn(0)
    target = columns_of(names)[kind]["rating"]
    there = [name for name in RATINGS if name != "BBB"]
    model = optimize({"x": numbers}, target)
    assert model.classes.tolist() == there
    assert only(model).counts.sum(axis=0).tolist() == [int(np.sum(names == name)) for name in there]
    assert model.predict({"x": [0.0, 6.0]}).tolist() == ["AAA", "CCC"]
    assert optimize({"x": numbers}, names).classes.tolist() == sorted(there)
    assert gridmodl.verify(Model.from_json(model.to_json()), {"x": numbers}, target)
    grouped = optimize({"x": numbers}, target, target_kind="grouped")
    assert grouped.classes.tolist() == there
    marked = optimize({"x": numbers}, target, unlabelled="B")
    assert marked.classes.tolist() == [name for name in there if name != "B"]


# Plots, pages and queries.


def test_plots_and_pages_name_the_levels():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from gridmodl import plot

    numbers, names, y = drawn(0, missing=0.2)
    x = np.random.default_rng(0).random(len(y))
    y = np.where((x > 0.5) & (np.nan_to_num(numbers) > 2), "yes", y)
    one = optimize({"rating": names}, y, **ORDER)
    grid = optimize({"rating": names, "x": x}, y, **ORDER)
    joint = optimize({"rating": names, "y": y}, **ORDER)
    quantities = optimize({"rating": names}, np.nan_to_num(numbers) * 10 + x, **ORDER)
    displays = [
        plot.PartsDisplay.from_model(one),
        plot.GridDisplay.from_model(grid),
        plot.GridDisplay.from_model(joint),
        plot.CellsDisplay.from_model(grid),
        plot.TargetDisplay.from_model(quantities),
        plot.CostDisplay.from_curve(gridmodl.cost_by_parts({"rating": names}, y, **ORDER)),
    ]
    for display in displays:
        display.plot()
        texts = [text.get_text() for ax in display.figure_.axes for text in ax.findobj(matplotlib.text.Text)]
        assert any("AAA" in text for text in texts) == (display is not displays[-1])  # a curve names no parts
        matplotlib.pyplot.close(display.figure_)
    for model in (one, grid, joint, quantities):
        assert "{AAA" in model.to_html()
        assert "{AAA" in model._repr_html_()


QUOTED = ["it's", "a, b", "{x}", "", "missing", "ä"]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("levels", [QUOTED, [3, 1, 2, 10, -5, 0]])
@pytest.mark.parametrize("has_missing", [True, False])
def test_queries_find_the_parts_of_the_model(dialect, levels, has_missing):
    place = np.random.default_rng(0).integers(0, 6, 300)
    names = [None if has_missing and i % 7 == 0 else levels[p] for i, p in enumerate(place)]
    model = optimize({"r": names}, np.isin(place, [2, 3]).astype(int), order={"r": levels})
    assert only(model).n_parts >= 3
    new = [*levels, None, type(levels[0])(99)]
    query = model.to_sql(dialect, keep=["row number"], output="parts")
    found = [part for (part,) in run(dialect, query, {"r": Stored("TEXT" if levels is QUOTED else "INTEGER", new)})]
    assert found == model.transform({"r": new}).ravel().tolist()
    for other in ("bigquery", "snowflake"):
        assert "IN (" in model.to_sql(other, output="parts")
