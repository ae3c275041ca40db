"""Partitions that the user decided: priced as they are, edited, and refused where they mean nothing."""

from __future__ import annotations

import datetime
import itertools
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from oracles import naive

from gridmodl import Model, get_criterion, optimize, optimize_each, price

STEP = [0] * 5 + [1] * 5
TOWNS = ["Rom", "Ulm", None, "Rom", "Bern", "Paris", "Oslo", None, "Paris", "Oslo"]


def only(model):
    (partition,) = model.partitions.values()
    return partition


def naive_price(values, parts, target, criterion="modl", categorical=False):
    return naive.price(
        get_criterion(criterion), "classes", [naive.Column(values, parts, categorical=categorical)], target
    )


# Prices from the rows up.


@pytest.mark.parametrize("criterion", ["modl", "mdlp", "g2"])
@pytest.mark.parametrize(
    "bounds", [[], [4], [1.5, 7], [math.nan], [math.nan, 3.5], [-1, 4.5, 99], [-math.inf, 2, math.inf]]
)
def test_bounds_cost_what_the_rows_say(criterion, bounds):
    values = [math.nan, 1, 1, 2, 3, 3, 5, 7, 8, math.nan, 9, 4]
    target = [0, 0, 1, 0, 2, 0, 1, 1, 2, 2, 1, 1]
    model = Model.from_partitions(values, target, {"x0": bounds}, criterion=criterion)
    parts = naive.cut(values, bounds)
    assert model.cost == pytest.approx(naive_price(values, parts, target, criterion), rel=1e-12)
    assert model.null_cost == pytest.approx(naive_price(values, [0] * 12, target, criterion), rel=1e-12)
    assert model.cost == price(values, target, {"x0": bounds}, criterion=criterion)
    partition = only(model)
    assert partition.n_parts == len(partition.labels) == len(bounds) + 1
    rows = np.zeros((len(bounds) + 1, 3), dtype=int)
    np.add.at(rows, (parts, target), 1)
    assert partition.counts.tolist() == rows.tolist()
    assert partition.missing == 0
    assert model.transform(values).tolist() == parts
    assert (model.search, model.proven, model.delta, model.criterion) == ("given", False, None, criterion)


@pytest.mark.parametrize("criterion", ["modl", "mdlp", "g2"])
@pytest.mark.parametrize(
    "groups",
    [
        [["Rom", "Ulm", None, "Bern", "Paris", "Oslo"]],
        [["Rom", "Ulm"], [None, "Bern", "Paris", "Oslo"]],
        [["Rom"], ["Ulm"], [None], ["Bern"], ["Paris"], ["Oslo"]],
        [["Oslo", "Bern"], ["Rom", None], ["Ulm", "Paris"]],
    ],
)
def test_groups_cost_what_the_rows_say(criterion, groups):
    target = [0, 0, 0, 1, 0, 1, 2, 1, 1, 2]
    model = Model.from_partitions({"town": TOWNS}, target, {"town": groups}, criterion=criterion)
    parts = naive.group(TOWNS, groups)
    assert model.cost == pytest.approx(naive_price(TOWNS, parts, target, criterion, categorical=True), rel=1e-12)
    null = naive_price(TOWNS, [0] * 10, target, criterion, categorical=True)
    assert model.null_cost == pytest.approx(null, rel=1e-12)
    partition = only(model)
    assert partition.groups == tuple(map(tuple, groups))
    assert partition.missing == next(i for i, group in enumerate(groups) if None in group)
    rows = np.zeros((len(groups), 3), dtype=int)
    np.add.at(rows, (parts, target), 1)
    assert partition.counts.tolist() == rows.tolist()
    assert model.transform({"town": TOWNS}).ravel().tolist() == parts


@pytest.mark.parametrize("weights", [[1] * 10, [0, 3, 1, 2, 5, 1, 1, 0, 2, 4]])
def test_weights_are_rows(weights):
    values, towns = (
        np.repeat(np.arange(10), weights),
        [t for t, w in zip(TOWNS, weights, strict=True) for _ in range(w)],
    )
    target = np.repeat(STEP, weights)
    assert price(np.arange(10), STEP, {"x0": [2, 6]}, weights=weights) == price(values, target, {"x0": [2, 6]})
    groups = [["Rom", "Oslo"], ["Ulm", None], ["Bern", "Paris"]]
    weighted = Model.from_partitions({"town": TOWNS}, STEP, {"town": groups}, weights=weights)
    assert weighted.cost == price({"town": towns}, target, {"town": groups})
    assert weighted.n_rows == sum(weights)


def test_a_column_left_out_has_one_part():
    assert only(Model.from_partitions(np.arange(10), STEP, {})).n_parts == 1
    model = Model.from_partitions({"town": TOWNS}, STEP, {})
    assert only(model).groups == ((None, "Bern", "Oslo", "Paris", "Rom", "Ulm"),)
    assert model.cost == model.null_cost


def test_nothing_given_beats_the_proven_optimum():
    values = list("aabbccddee")
    best = optimize(values, [0, 0, 1, 0, 1, 1, 0, 1, 1, 1], search="exact")
    assert best.proven
    for cut in itertools.product(range(3), repeat=5):
        groups = [[v for v, g in zip("abcde", cut, strict=True) if g == i] for i in range(3) if i in cut]
        assert price(values, [0, 0, 1, 0, 1, 1, 0, 1, 1, 1], {"x0": groups}) >= best.cost - 1e-9


def test_parts_without_rows_stay_but_cost_nothing():
    model = Model.from_partitions(np.arange(10), STEP, {"x0": [-5, 4, 4.5, 99]})
    assert only(model).counts.tolist() == [[0, 0], [5, 0], [0, 0], [0, 5], [0, 0]]
    assert model.cost == price(np.arange(10), STEP, {"x0": [4]})
    assert model.transform([-9, 0, 4.2, 50, 100]).tolist() == [0, 1, 2, 3, 4]
    model = Model.from_partitions(
        {"town": TOWNS}, STEP, {"town": [["Rom", "Ulm", None, "Bern"], ["Wien"], ["Paris", "Oslo"]]}
    )
    assert only(model).counts.sum(axis=1).tolist() == [6, 0, 4]
    assert model.cost == price({"town": TOWNS}, STEP, {"town": [["Rom", "Ulm", None, "Bern"], ["Paris", "Oslo"]]})
    assert model.transform({"town": ["Wien", "Oslo"]}).ravel().tolist() == [1, 2]


def test_a_partition_of_other_data_is_priced_on_these():
    found = only(optimize(np.arange(10.0), STEP))
    values, target = [0, 1, 2, 7, 7, 9], list("abcabc")
    model = Model.from_partitions(values, target, {"x0": found})
    assert model.cost == price(values, target, {"x0": [4.5]})
    assert only(model).counts.tolist() == [[1, 1, 1], [1, 1, 1]]
    assert found.counts.tolist() == [[5, 0], [0, 5]]


def test_a_partition_without_missing_values_on_data_with_some():
    """They go to the lowest interval, as transform says, and the model says so."""
    found = only(optimize(np.arange(10.0), STEP))
    values = [math.nan, *range(1, 10)]
    model = Model.from_partitions(values, STEP, {"x0": found})
    assert model.cost == price(values, STEP, {"x0": [4.5]})
    assert only(model).counts.tolist() == [[5, 0], [0, 5]]
    assert only(model).missing == 0
    assert only(model).labels == ["(-inf, 4.5] or missing", "(4.5, inf)"]


def test_a_partition_that_misses_values():
    found = only(optimize(list("aabbaabbcc"), [0, 0, 1, 1, 0, 0, 1, 1, 0, 1]))
    with pytest.raises(ValueError, match=r"column 'x0' holds 1 values? .*'d'"):
        Model.from_partitions(list("abcd"), [0, 1, 0, 1], {"x0": found})


def test_a_partition_of_the_other_kind():
    numbers, groups = only(optimize(np.arange(10.0), STEP)), only(optimize(list("ab") * 5, STEP))
    with pytest.raises(ValueError, match=r"column 'x0' is categorical, the partition given for it numerical"):
        Model.from_partitions(list("ab") * 5, STEP, {"x0": numbers})
    with pytest.raises(ValueError, match=r"column 'x0' is numerical, the partition given for it categorical"):
        Model.from_partitions(np.arange(10.0), STEP, {"x0": groups})


def test_columns_left_out_of_a_grid_have_one_part():
    model = Model.from_partitions({"a": STEP, "b": STEP}, STEP, {"a": [0.5]})
    assert model.informative == ["a"]
    assert model.left_out == {"b": "it has one part as given"}


# Dates.

DAYS = np.datetime64("2024-01-01") + np.arange(10)


@pytest.mark.parametrize(
    "bounds",
    [
        [np.datetime64("2024-01-05")],
        [np.datetime64("2024-01-05T23:59:59")],
        [np.datetime64("2024-01-05T12:00", "ns")],
        np.array(["2024-01-05"], dtype="M8[s]"),
        [datetime.date(2024, 1, 5)],
        [datetime.datetime(2024, 1, 5, 18)],
        ["2024-01-05"],
        ["2024-01-05T18:30"],
        [pd.Timestamp("2024-01-05")],
        pd.Series(pd.to_datetime(["2024-01-05"])),
        pl.Series([datetime.date(2024, 1, 5)]),
    ],
)
@pytest.mark.parametrize("unit", ["D", "s", "ns"])
def test_dates_as_bounds(bounds, unit):
    model = Model.from_partitions(DAYS.astype(f"M8[{unit}]"), STEP, {"x0": bounds})
    assert only(model).counts.tolist() == [[5, 0], [0, 5]]
    assert only(model).bounds.dtype == f"M8[{unit}]"
    assert model.cost == price(np.arange(10), STEP, {"x0": [4]})
    assert model.transform(DAYS).tolist() == STEP


@pytest.mark.parametrize(
    "bounds",
    [
        [np.datetime64("NaT"), np.datetime64("2024-01-05")],
        ["NaT", "2024-01-05"],
        [None, datetime.date(2024, 1, 5)],
        [pd.NaT, pd.Timestamp("2024-01-05")],
        [math.nan, datetime.datetime(2024, 1, 5)],
    ],
)
def test_nat_first_keeps_missing_dates_apart(bounds):
    days = DAYS.copy()
    days[[0, 9]] = np.datetime64("NaT")
    model = Model.from_partitions(days, STEP, {"x0": bounds})
    assert only(model).labels == ["missing", "(-inf, 2024-01-05]", "(2024-01-05, inf)"]
    assert only(model).counts.tolist() == [[1, 1], [4, 0], [0, 4]]
    numbers = np.where(np.isnat(days), np.nan, np.arange(10))
    assert model.cost == price(numbers, STEP, {"x0": [math.nan, 4]})


def test_bounds_before_1970_round_down():
    for unit, finer in itertools.pairwise(["D", "h", "m", "s", "ms", "us", "ns"]):
        ticks = np.arange(-5, 5).astype(f"M8[{unit}]")
        bound = np.array(-2, dtype=f"M8[{unit}]").astype(f"M8[{finer}]") - 1
        model = Model.from_partitions(ticks, STEP, {"x0": [bound]})
        assert only(model).counts.sum(axis=1).tolist() == [3, 7]
        durations = Model.from_partitions(ticks - ticks[5], STEP, {"x0": [bound - np.datetime64(0, finer)]})
        assert only(durations).counts.sum(axis=1).tolist() == [3, 7]


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
def test_bounds_that_the_column_cannot_hold(unit):
    """The year 1 lies below all nanoseconds, the year 9999 above."""
    wanted = [[0, 0], [5, 5], [0, 0]]
    bounds = [np.datetime64("0001-01-01"), np.datetime64("9999-12-31")]
    try:
        model = Model.from_partitions(DAYS.astype(f"M8[{unit}]"), STEP, {"x0": bounds})
    except (TypeError, ValueError) as error:
        assert unit == "ns"
        assert "the bounds of 'x0'" in str(error)  # noqa: PT017
    else:
        assert only(model).counts.tolist() == wanted


def test_dates_with_a_zone():
    days = pd.Series(DAYS).dt.tz_localize("Europe/Paris").rename("day")
    model = Model.from_partitions(days, STEP, {"day": ["2024-01-05"]})  # of UTC, as bounds are given
    assert only(model).is_utc
    assert only(model).counts.sum(axis=1).tolist() == [5, 5]
    again = Model.from_partitions(days, STEP, model.partitions)
    assert again.cost == model.cost
    assert only(again).is_utc


def test_dates_and_durations_are_not_mixed():
    with pytest.raises(TypeError, match=r"the bounds of 'x0' must be a list of datetime64\[D\]"):
        price(DAYS, STEP, {"x0": [np.timedelta64(3, "D")]})
    for bounds in ([3], [3.5], ["soon"], [True], "2024-01-05"):
        with pytest.raises(TypeError, match=r"the bounds of 'x0' must be a list of datetime64\[D\]"):
            price(DAYS, STEP, {"x0": bounds})
    with pytest.raises(TypeError, match=r"the bounds of 'x0' must be a list of numbers"):
        price(np.arange(10), STEP, {"x0": DAYS[:1]})
    with pytest.raises(ValueError, match=r"the bounds of 'x0' must ascend"):
        price(DAYS, STEP, {"x0": DAYS[[4, 2]]})
    with pytest.raises(ValueError, match=r"the bounds of 'x0' must ascend"):
        price(DAYS, STEP, {"x0": ["2024-01-05", "NaT"]})


def test_durations_as_bounds():
    spans = np.arange(10).astype("m8[D]")
    for bounds in ([datetime.timedelta(days=4)], [np.timedelta64(4 * 24 + 1, "h")], spans[4:5], [pd.Timedelta(days=4)]):
        model = Model.from_partitions(spans, STEP, {"x0": bounds})
        assert only(model).counts.tolist() == [[5, 0], [0, 5]]
        assert only(model).labels == ["(-inf, 4 days]", "(4 days, inf)"]


# Groups that mean nothing.


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        (
            [["Rom", "Ulm"], ["Bern", "Paris", "Oslo"]],
            ValueError,
            r"leave out 1 of its 6 values: None; .*None stands for",
        ),
        (
            [["Rom"]],
            ValueError,
            r"the groups of 'town' leave out 5 of its 6 values: None, 'Bern', 'Oslo', 'Paris', 'Ulm'",
        ),
        (
            [["Rom", "Ulm", None], ["Rom", "Bern", "Paris", "Oslo"]],
            ValueError,
            r"'Rom' is in two groups of column 'town'",
        ),
        ([["Rom", "Ulm", None], [math.nan, "Bern", "Paris", "Oslo"]], ValueError, r"None is in two groups"),
        (
            [["Rom", "Ulm", None, "Bern", "Paris", "Oslo"], []],
            ValueError,
            r"the groups of 'town' .* one of them is empty",
        ),
        (["Rom", "Ulm"], TypeError, r"list of lists of values, got 'Rom' in place of a list"),
        ("Rom", TypeError, r"the groups of 'town' must be a list of lists of values, got 'Rom'"),
        ({"a": ["Rom"]}, TypeError, r"the groups of 'town' must be a list of lists"),
        ([3.5], TypeError, r"got 3.5 in place of a list"),
        (None, TypeError, r"the groups of 'town' must be a list of lists"),
        (3, TypeError, r"the groups of 'town' must be a list of lists"),
        ([[["Rom"]]], TypeError, r"the groups of 'town' must be a list of lists"),
    ],
)
def test_groups_that_mean_nothing(groups, error, message):
    with pytest.raises(error, match=message):
        Model.from_partitions({"town": TOWNS}, STEP, {"town": groups})
    with pytest.raises(
        (error, TypeError),
        match=message if groups is not None else "edit takes one of",
    ):
        optimize({"town": TOWNS}, STEP).edit("town", groups=groups)


def test_many_values_left_out_are_not_all_listed():
    with pytest.raises(ValueError, match=r"leave out 99 of its 100 values: 'v01', .*, \.\.\.; put") as raised:
        price([f"v{i:02}" for i in range(100)], [0, 1] * 50, {"x0": [["v00"]]})
    assert len(str(raised.value)) < 200


def test_a_value_twice_in_a_group_is_there_once():
    groups = [("Rom", "Rom", "Ulm", None), ("Bern", "Paris", "Oslo", "Oslo")]
    model = Model.from_partitions({"town": TOWNS}, STEP, {"town": groups})
    assert only(model).groups == (("Rom", "Ulm", None), ("Bern", "Paris", "Oslo"))


def test_groups_as_arrays_and_sets():
    wanted = price({"town": TOWNS}, STEP, {"town": [["Rom", "Ulm", None], ["Bern", "Paris", "Oslo"]]})
    groups = [np.array(["Rom", "Ulm", None], dtype=object), {"Bern", "Paris", "Oslo"}]
    assert price({"town": TOWNS}, STEP, {"town": groups}) == wanted
    assert price({"town": TOWNS}, STEP, {"town": tuple(map(tuple, groups))}) == wanted


def test_groups_of_numbers_and_booleans():
    data = np.array([1, 2, 3, 1, 2, 3, 1, 2, 3, 1])
    model = Model.from_partitions(data, STEP, {"x0": [np.array([1, 3]), [2]]}, kinds={"x0": "categorical"})
    assert only(model).groups == ((1, 3), (2,))
    assert only(model).counts.sum(axis=1).tolist() == [7, 3]
    flags = pl.Series("flag", [True, False, None, True, True] * 2)
    model = Model.from_partitions(flags, STEP, {"flag": [[True], [False, None]]})
    assert only(model).counts.sum(axis=1).tolist() == [6, 4]


def test_bounds_for_groups_and_groups_for_bounds():
    with pytest.raises(TypeError, match=r"the groups of 'town' must be a list of lists"):
        price({"town": TOWNS}, STEP, {"town": [1.5]})
    with pytest.raises(TypeError, match=r"the bounds of 'x0' must be a list of numbers"):
        price(np.arange(10), STEP, {"x0": [["a"], ["b"]]})


# Editing.


@pytest.mark.parametrize("bounds", [[], [4.5], [3.5], [2, 4.5, 7], [-1.0, 20.0]])
def test_edit_says_how_much_worse_it_is(bounds):
    model = optimize(np.arange(10.0), STEP)
    edited = model.edit("x0", bounds=bounds)
    assert edited.cost == price(np.arange(10.0), STEP, {"x0": bounds})
    assert edited.delta == edited.cost - model.cost
    assert edited.delta >= -1e-12
    assert edited.null_cost == pytest.approx(model.null_cost, rel=1e-12)
    assert only(edited).bounds.tolist() == bounds
    assert (edited.search, edited.proven, model.delta) == ("given", False, None)
    assert only(model).bounds.tolist() == [4.5]
    assert edited.level == pytest.approx(1 - edited.cost / edited.null_cost)
    how = "better" if edited.delta <= 0 else "worse"
    assert f"{abs(edited.delta):.4f} nats {how} than the model that it was made from" in edited.summary()


def test_edit_of_groups():
    table = pd.DataFrame({"town": TOWNS, "y": STEP})
    model = optimize(table, "y")
    groups = [["Rom"], ["Ulm", None, "Bern", "Paris", "Oslo"]]
    edited = model.edit("town", groups=groups)
    assert edited.cost == price({"town": TOWNS}, STEP, {"town": groups})
    assert edited.delta == edited.cost - model.cost
    assert only(edited).groups == tuple(map(tuple, groups))
    back = edited.edit("town", groups=only(model).groups)
    assert back.cost == pytest.approx(model.cost, rel=1e-12)
    assert back.delta == back.cost - edited.cost


def test_edit_keeps_criterion_weights_kind_and_classes():
    data, weights = np.array([1, 2, 3, 4, 5] * 2), [0, 2, 1, 3, 1, 2, 2, 0, 1, 5]
    criterion = get_criterion("entropy", alpha=2.0, beta=0.5)
    model = optimize(data, STEP, criterion=criterion, weights=weights, kinds={"x0": "categorical"})
    edited = model.edit("x0", groups=[[1, 2], [3, 4, 5]])
    wanted = price(
        data, STEP, {"x0": [[1, 2], [3, 4, 5]]}, criterion=criterion, weights=weights, kinds={"x0": "categorical"}
    )
    assert edited.cost == wanted
    assert (edited.options, edited.n_rows) == ({"alpha": 2.0, "beta": 0.5}, sum(weights))


def test_edit_keeps_special_codes_apart():
    data = np.array([-9.0, -9.0, -1.0, *range(7)])
    model = optimize(data, STEP, special={"x0": [-9, -1, -5]})
    edited = model.edit("x0", bounds=[3.5])
    assert only(edited).special.tolist() == [-9.0, -1.0, -5.0]
    assert only(edited).labels == ["(-inf, 3.5]", "(3.5, inf)", "special -9", "special -1", "special -5"]
    assert only(edited).counts.sum(axis=1).tolist() == [4, 3, 2, 1, 0]
    parts = [2, 2, 3, 0, 0, 0, 0, 1, 1, 1]
    assert edited.cost == pytest.approx(naive_price(data.tolist(), parts, STEP), rel=1e-12)
    assert edited.cost == price(data, STEP, {"x0": [3.5]}, special={"x0": [-9, -1, -5]})


def test_edit_keeps_special_dates_apart():
    days = DAYS.copy()
    days[:3] = np.datetime64("1900-01-01")
    model = optimize(days, STEP, special={"x0": [np.datetime64("1900-01-01")]})
    edited = model.edit("x0", bounds=["2024-01-07"])
    assert only(edited).labels[2:] == ["special 1900-01-01"]
    assert only(edited).counts.sum(axis=1).tolist() == [4, 3, 3]


def test_edit_of_one_of_many():
    models = optimize_each({"a": np.arange(10.0), "town": TOWNS}, STEP)
    assert models["a"].edit("a", bounds=[3.5]).cost == price(np.arange(10.0), STEP, {"x0": [3.5]})
    groups = [["Rom", "Ulm", None, "Bern", "Paris", "Oslo"]]
    assert models["town"].edit("town", groups=groups).level == 0.0


def test_edit_of_data_that_was_changed():
    for make in (lambda a: a, lambda a: {"x0": a}, lambda a: a[:, None]):
        data = np.arange(10.0)
        model = optimize(make(data), STEP)
        data[:3] = 99.0
        with pytest.raises(ValueError, match=r"the data has changed since the model was made"):
            model.edit("x0", bounds=[3.5])


def test_edit_of_groups_whose_data_were_changed():
    data = np.array(["a", "b"] * 5, dtype=object)
    model = optimize(data, [0, 1] * 5)
    data[0] = "c"
    with pytest.raises(ValueError, match=r"the data of column 'x0' has changed|that the training data did not have"):
        model.edit("x0", groups=[["a", "b", "c"]])


def test_edit_does_not_see_a_target_that_was_changed():
    target = np.array(STEP)
    model = optimize(np.arange(10.0), target)
    target[:] = 0
    assert model.edit("x0", bounds=[4.5]).delta == pytest.approx(0.0, abs=1e-12)


def test_edit_without_the_data():
    model = pickle.loads(pickle.dumps(optimize(np.arange(10.0), STEP)))  # noqa: S301
    with pytest.raises(ValueError, match=r"came without its data.*Model\.from_partitions"):
        model.edit("x0", bounds=[3.5])


def test_edits_that_mean_nothing():
    numbers, towns = optimize(np.arange(10.0), STEP), optimize({"town": TOWNS}, STEP)
    with pytest.raises(ValueError, match=r"name must be one of the columns 'x0', got 'x1'"):
        numbers.edit("x1", bounds=[3.5])
    with pytest.raises(TypeError, match="edit takes one of bounds=, groups=, merge= and split="):
        numbers.edit("x0")
    with pytest.raises(TypeError, match="edit takes one of bounds=, groups=, merge= and split="):
        numbers.edit("x0", bounds=[3.5], groups=[["a"]])
    with pytest.raises(TypeError, match=r"column 'x0' is numerical: edit it with bounds="):
        numbers.edit("x0", groups=[["a"]])
    with pytest.raises(TypeError, match=r"column 'town' is categorical: edit it with groups="):
        towns.edit("town", bounds=[3.5])
    with pytest.raises(ValueError, match=r"the bounds of 'x0' must ascend"):
        numbers.edit("x0", bounds=[3.5, 2.0])
    with pytest.raises(TypeError):
        numbers.edit("x0", [3.5])


def test_edit_with_missing_values_apart_and_joined():
    values = np.array([math.nan] * 4 + list(range(6)))
    model = optimize(values, STEP)
    apart, joined = model.edit("x0", bounds=[math.nan, 2.5]), model.edit("x0", bounds=[2.5])
    assert only(apart).labels == ["missing", "(-inf, 2.5]", "(2.5, inf)"]
    assert only(joined).labels == ["(-inf, 2.5] or missing", "(2.5, inf)"]
    assert apart.cost == pytest.approx(naive_price(values.tolist(), [0] * 4 + [1] * 3 + [2] * 3, STEP), rel=1e-12)
    assert joined.cost == pytest.approx(naive_price(values.tolist(), [0] * 7 + [1] * 3, STEP), rel=1e-12)


def test_given_bounds_of_huge_integers():
    values = [2**60 + i for i in range(10)]
    for bounds in ([2**60 + 4], np.array([2**60 + 4]), [float(2**60)]):
        model = Model.from_partitions(values, STEP, {"x0": bounds})
        n_below = sum(value <= int(bounds[0]) for value in values)
        assert only(model).counts.sum(axis=1).tolist() == [n_below, 10 - n_below]


def test_the_largest_group_of_given_groups():
    data = ["a"] * 3 + ["b", "c"] + ["d", "d", "e", "e", "e"]
    for groups, largest in (
        ([["a"], ["b", "c"], ["d", "e"]], 2),
        ([["a", "b", "c"], ["d", "e"]], 0),  # as many rows: the first
        ([["a"], ["b"], ["c"], ["d"], ["e"]], 0),
    ):
        model = Model.from_partitions(data, STEP, {"x0": groups})
        assert only(model).default is None
        assert model.transform(["?"]).tolist() == [-1]
        assert model.transform(["?"], "largest").tolist() == [largest]


@pytest.mark.parametrize("bound", ["1500-01-01", "99999-01-01"])
def test_text_that_is_a_date_beyond_the_reach_of_the_column(bound):
    data = {"day": np.arange("2020-01-01", "2020-01-21", dtype="M8[D]").astype("M8[ns]")}
    with pytest.raises(ValueError, match="does not reach"):
        Model.from_partitions(data, [0, 1] * 10, {"day": [bound]})


def test_a_partition_of_another_column_takes_its_name():
    target = [0] * 10 + [1] * 10
    partition = optimize({"a": np.arange(20.0)}, target).partitions["a"]
    model = Model.from_partitions({"b": np.arange(20.0)}, target, {"b": partition})
    assert model.partitions["b"].name == "b"
    assert Model.from_json(model.to_json()).partitions["b"].bounds.tolist() == partition.bounds.tolist()


@pytest.mark.parametrize("verb", [price, Model.from_partitions])
def test_data_target_and_partitions_come_in_this_order(verb):
    """`price` took the partitions second; its error then printed the whole target."""
    x, y, parts = np.arange(1000.0), [0, 1] * 500, {"x0": [4.5]}
    for call in (lambda: verb(x, parts, y), lambda: verb({"a": x, "b": x}, {"a": [4.5]})):
        with pytest.raises(TypeError, match="data, target and partitions come in this order, and the target is a dict"):
            call()
    for call in (lambda: verb(x, y), lambda: verb(x, y, y), lambda: verb(x, parts, target=y)):
        with pytest.raises(TypeError) as told:
            call()
        assert len(str(told.value)) < 200
