"""Partitions whose event rates have the same order in every period, against trying all partitions."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from oracles.criteria import Rough, Saturating

import gridmodl
from gridmodl import Model, optimize, optimize_each, verify
from gridmodl.estimators import GridDiscretizer

LOW, CODE = -1000.0, 1000.0  # stand for missing values and for the special code where a partition is priced


class Case(NamedTuple):
    """A small column with periods, and the limits of a search."""

    x: np.ndarray  # NaN for a missing value, -999 for the special code
    y: np.ndarray
    t: list  # None for no period
    weights: np.ndarray
    options: dict


def counted(case, labels, part, period=None):
    """Rows of a part, in a period or in all, and the share of the event among them."""
    is_in = labels == part
    if period is not None:
        is_in &= np.array([one == period for one in case.t])
    n = int(case.weights[is_in].sum())
    return n, Fraction(int(case.weights[is_in & (case.y == max(case.y))].sum()), max(n, 1))


def periods_of(case):
    """Periods with enough rows."""
    rows = {one: case.weights[[other == one for other in case.t]].sum() for one in case.t if one is not None}
    least = case.options["min_period_rows"]
    return [one for one, n in rows.items() if n >= (least if least >= 1 else least * case.weights.sum() - 1e-9)]


def is_stable(case, labels, parts):
    """Whether all pairs of `parts` have the same order of rates in all periods of enough rows."""
    for low, high in itertools.permutations(parts, 2):
        if counted(case, labels, low)[1] >= counted(case, labels, high)[1]:
            continue
        for period in periods_of(case):
            (n_low, rate_low), (n_high, rate_high) = (counted(case, labels, part, period) for part in (low, high))
            if min(n_low, n_high) > 0 and rate_low > rate_high:
                return False
    return True


def keeps_limits(case, labels, parts):
    """Whether parts keep the other limits; `parts` are those that are not exempt, in the order of the values."""
    options, rates = case.options, [counted(case, labels, part)[1] for part in parts]
    rows = [counted(case, labels, part)[0] for part in parts]
    if len(parts) > options.get("max_parts", 99):
        return False
    if len(rows) > 1 and min(rows) < options.get("min_rows", 1):
        return False
    n_first = {one: [case.weights[(labels == part) & (case.y == one)].sum() for part in parts] for one in set(case.y)}
    if len(rows) > 1 and any(min(n) < options.get("min_events", 0) for n in n_first.values()):
        return False
    least = options.get("min_difference", 0.0)
    if any(abs(a - b) < least - 1e-12 for a, b in itertools.pairwise(rates)):
        return False
    rises = [a <= b for a, b in itertools.pairwise(rates)]
    falls = [a >= b for a, b in itertools.pairwise(rates)]
    turns = range(len(rates))
    return {
        None: lambda: True,
        "increasing": lambda: all(rises),
        "decreasing": lambda: all(falls),
        "auto": lambda: all(rises) or all(falls),
        "peak": lambda: any(all(rises[:k]) and all(falls[k:]) for k in turns),
        "valley": lambda: any(all(falls[:k]) and all(rises[k:]) for k in turns),
    }[options.get("monotone")]()


def lowest_cost(case, criterion="modl", needs_order=True):
    """Cost of the cheapest partition of all that keep the limits; infinite if there is none."""
    x = np.where(np.isnan(case.x), LOW, np.where(case.x == -999, CODE, case.x))
    values = np.unique(x)
    cuts = (values[1:] + values[:-1]) / 2
    best = np.inf
    for chosen in itertools.product((False, True), repeat=len(cuts)):
        bounds = cuts[np.array(chosen, dtype=bool)]
        labels = np.searchsorted(bounds, x)
        if values[-1] == CODE and len(cuts) and not chosen[-1]:
            continue  # the code is a part of its own
        is_alone = values[0] == LOW and len(cuts) and chosen[0]
        if case.options.get("missing") == "apart" and values[0] == LOW and not is_alone and values[1:2] < CODE:
            continue
        parts = [part for part in np.unique(labels) if not (is_alone and part == 0)]
        parts = [part for part in parts if x[labels == part][0] < CODE]
        if parts and keeps_limits(case, labels, parts) and (not needs_order or is_stable(case, labels, parts)):
            cost = gridmodl.price(x, case.y, {"x0": bounds}, weights=case.weights, criterion=criterion)
            best = min(best, cost)
    return best


def found_labels(case, model):
    """Part of each row, and the parts that are not exempt."""
    partition = model.partitions["x0"]
    labels = model.transform(case.x)
    exempt = set(range(partition.n_parts - partition.n_special, partition.n_parts))
    if partition.is_missing_apart:
        exempt.add(partition.missing)
    return labels, [part for part in np.unique(labels) if part not in exempt]


def drawn(seed):
    """A random case: few values, periods whose order of rates often differs."""
    rng = np.random.default_rng(seed)
    n, n_values, n_periods = int(rng.integers(6, 60)), int(rng.integers(2, 8)), int(rng.integers(1, 4))
    x = rng.integers(0, n_values, n).astype(float)
    t = rng.integers(0, n_periods, n)
    rates = np.clip(
        np.outer(np.ones(n_periods), rng.random(n_values)) + 0.4 * rng.normal(size=(n_periods, n_values)), 0, 1
    )
    y = (rng.random(n) < rates[t, x.astype(int)]).astype(int)
    y[:2] = 0, 1
    if rng.random() < 0.3:
        x[rng.random(n) < 0.2] = np.nan
    options = {"min_period_rows": [1, 5, 10, 20, 0.4][rng.integers(5)]}
    if rng.random() < 0.3:
        x[rng.random(n) < 0.15] = -999
        options["special"] = [-999]
    x[0] = 0
    periods = [None if rng.random() < 0.05 else int(one) for one in t]
    choices = {
        "monotone": [None, "increasing", "decreasing", "auto", "peak", "valley"][rng.integers(6)],
        "max_parts": int(rng.integers(3, 6)),
        "min_rows": int(rng.integers(1, 8)),
        "min_events": int(rng.integers(1, 3)),
        "min_difference": [0.05, 0.2][rng.integers(2)],
        "missing": "apart",
    }
    options |= {what: value for what, value in choices.items() if rng.random() < 0.25 and value is not None}
    weights = rng.integers(1, 4, n) if rng.random() < 0.3 else np.ones(n, dtype=np.int64)
    return Case(x, y, periods, weights, options)


def check(case, criterion="modl"):
    """The model is stable, its cost is right, and none is cheaper where it is proven."""
    model = optimize(
        case.x, case.y, stable_over=np.array(case.t, dtype=object), weights=case.weights, criterion=criterion,
        **case.options,
    )  # fmt: skip
    labels, parts = found_labels(case, model)
    assert is_stable(case, labels, parts)
    assert keeps_limits(case, labels, parts)
    lowest = lowest_cost(case, criterion)
    assert model.proven
    assert model.cost == pytest.approx(lowest, rel=1e-9, abs=1e-9)
    free = lowest_cost(case, criterion, needs_order=False)
    assert model.stability.free_cost == pytest.approx(free, rel=1e-9, abs=1e-9)
    if not model.stability.breaks:
        assert model.cost == pytest.approx(free, rel=1e-9, abs=1e-9)
    return model


@pytest.mark.parametrize("seed", range(60))
def test_intervals_are_the_best_of_all(seed):
    case = drawn(seed)
    if not periods_of(case):
        with pytest.raises(ValueError, match="none could be compared"):
            check(case)
        return
    check(case)


@pytest.mark.parametrize("criterion", [Rough(), Saturating()], ids=["sum", "no sum"])
@pytest.mark.parametrize("seed", range(1000, 1025))
def test_any_criterion(criterion, seed):
    """With cheap parts, many more of them break the order."""
    case = drawn(seed)
    if periods_of(case):
        check(case, criterion)


def groupings(values):
    """All groupings of a list of values, each as a list of lists."""
    if not values:
        yield []
        return
    for rest in groupings(values[1:]):
        yield [[values[0]], *rest]
        for i, group in enumerate(rest):
            yield [*rest[:i], [values[0], *group], *rest[i + 1 :]]


def check_groups(case, criterion="modl"):
    """Groups of the values of a column, against trying all groupings."""
    x = np.array([None if np.isnan(one) else f"v{one:.0f}" for one in case.x], dtype=object)
    if "special" in case.options:
        case.options["special"] = {"x0": ["v-999"]}
    case.options.pop("monotone", None)
    t, n_special = np.array(case.t, dtype=object), "special" in case.options
    model = optimize(x, case.y, stable_over=t, weights=case.weights, criterion=criterion, **case.options)
    values = list(dict.fromkeys(x))
    others = [one for one in values if not (n_special and one == "v-999")]

    def exempt(group):
        return group == [None] or (n_special and group == ["v-999"])

    best, free = np.inf, np.inf
    for groups in groupings(others):
        groups = groups + [["v-999"]] * (n_special and "v-999" in values)
        if case.options.get("missing") == "apart" and None in others and len(others) > 1 and [None] not in groups:
            continue
        labels = np.array([next(i for i, group in enumerate(groups) if one in group) for one in x])
        parts = [i for i, group in enumerate(groups) if not exempt(group)] or [0] * (len(groups) == 1)
        parts.sort(key=lambda i: counted(case, labels, i)[1])
        if not keeps_limits(case, labels, parts):
            continue
        cost = gridmodl.price(x, case.y, {"x0": groups}, weights=case.weights, criterion=criterion)
        free = min(free, cost)
        best = min(best, cost) if is_stable(case, labels, parts) else best
    assert model.stability.free_cost >= free - 1e-9
    assert model.cost >= best - 1e-9
    if model.proven:
        assert model.cost == pytest.approx(best, rel=1e-9, abs=1e-9)
    partition = model.partitions["x0"]
    labels = model.transform(x)
    parts = [i for i, group in enumerate(partition.groups) if not exempt(list(group))] or [0]
    assert is_stable(case, labels, parts)
    assert keeps_limits(case, labels, sorted(parts, key=lambda i: counted(case, labels, i)[1]))
    return model


@pytest.mark.parametrize("criterion", ["modl", Rough(), Saturating()], ids=["modl", "sum", "no sum"])
@pytest.mark.parametrize("seed", range(2000, 2025))
def test_groups_are_the_best_of_all(criterion, seed):
    case = drawn(seed)
    case = case._replace(x=np.minimum(case.x, 4))  # groupings of more values would take minutes
    if periods_of(case):
        model = check_groups(case, criterion)
        assert model.proven or "min_difference" in case.options


def drifting(n=6000, seed=1):
    """Columns whose best partition breaks the order in the last two of six months."""
    rng = np.random.default_rng(seed)
    x, month = rng.integers(0, 30, n), rng.integers(0, 6, n)
    is_late = (month > 3) & (x > 20)
    y = rng.random(n) < np.where(is_late, 0.1, 0.1 + x / 50)
    return {"x": x, "word": np.array([f"w{one // 5}" for one in x]), "month": month, "y": y}


def test_a_model_says_which_periods_broke_the_best_partition():
    data = drifting()
    only = {name: data[name] for name in ("x", "month", "y")}
    model = optimize(only, "y", stable_over="month")
    free = optimize(data["x"], data["y"])
    assert model.stability.over == "month"
    assert set(model.stability.broken) == {"4", "5"}
    assert model.stability.compared == model.stability.periods == tuple("012345")
    assert model.stability.free_cost == pytest.approx(free.cost)
    assert model.stability.free_parts == free.partitions["x0"].n_parts
    assert all(one.low_rate > one.high_rate for one in model.stability.breaks)
    assert "their order is another in 2 periods: 4, 5" in model.summary()
    again = Model.from_json(model.to_json())
    assert again.stability == model.stability
    assert again.certificate == model.certificate
    assert verify(again, only, "y", stable_over="month")
    with pytest.raises(ValueError, match="pass them as stable_over="):
        verify(again, only, "y")
    forged = replace(optimize({"x": data["x"]}, data["y"]), stability=model.stability)
    assert "the event rate of" in verify(forged, only, "y", stable_over="month").reason


def test_all_columns_and_the_discretizer():
    data = drifting()
    models = optimize_each(data, "y", stable_over="month", min_period_rows={"x": 10})
    assert set(models) == {"x", "word"}
    assert models["x"].stability.min_period_rows == 10
    assert models["word"].stability.min_period_rows == 100
    X = np.column_stack([data["x"], data["month"]])
    found = GridDiscretizer().fit(X, data["y"], stable_over=data["month"])
    assert found.partitions_["x0"].bounds.tolist() == models["x"].partitions["x"].bounds.tolist()
    with pytest.raises(ValueError, match="averages over all partitions"):
        GridDiscretizer(encode="woe", averaged=True).fit(X, data["y"], stable_over=data["month"])


def test_ordinal_levels_and_several_classes():
    data = drifting()
    classes = np.where(data["y"], "b", np.where(data["x"] % 2, "a", "c"))
    three = optimize(data["x"], classes, event="b", stable_over=data["month"])
    assert three.stability.breaks
    assert three.event == "b"
    levels = [f"w{i}" for i in range(6)]
    ordinal = optimize({"word": data["word"]}, data["y"], order={"word": levels}, stable_over=data["month"])
    assert ordinal.proven
    assert ordinal.partitions["word"].kind == "ordinal"


def test_periods_of_few_rows_are_left_out():
    """A first period of few rows does not shift the names of the others."""
    data = drifting()
    month = np.where(np.arange(6000) < 20, -1, data["month"])
    model = optimize(data["x"], data["y"], stable_over=month)
    assert model.stability.periods == ("-1", *"012345")
    assert model.stability.compared == tuple("012345")
    assert set(model.stability.broken) == {"4", "5"}


def test_periods_do_not_change_a_stable_optimum():
    data = drifting()
    early = data["month"] < 4
    x, y, month = data["x"][early], data["y"][early], data["month"][early] // 2
    model, free = optimize(x, y, stable_over=month), optimize(x, y)
    assert model.stability.breaks == ()
    assert model.cost == free.cost
    assert model.proven


def test_many_values_keep_the_order_without_proof():
    """More bounds than are searched, and more categories: the limit holds, and the gap is from the free optimum."""
    rng = np.random.default_rng(3)
    n = 4000
    x, month = rng.random(n), rng.integers(0, 4, n)
    y = rng.random(n) < np.where((month == 3) & (x > 0.5), 0.1, 0.1 + 0.7 * x)
    words = np.array([f"w{int(one * 20)}" for one in x])
    for column in (x, words):
        model = optimize(column, y, stable_over=month)
        assert model.stability.breaks
        labels = model.transform(column)
        case = Case(x, y.astype(int), month.tolist(), np.ones(n, dtype=np.int64), {"min_period_rows": 100})
        assert is_stable(case, labels, np.unique(labels))
        assert model.gap <= model.cost - model.stability.free_cost + 1e-6
        assert verify(model, column, y, stable_over=month)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"stable_over": "moon"}, ValueError, "moon"),
        ({"stable_over": "y"}, ValueError, "both name column 'y'"),
        ({"stable_over": [1, 2]}, ValueError, "6000 rows and stable_over has 2"),
        ({"min_period_rows": 5}, ValueError, "which was not given"),
        ({"stable_over": "month", "min_period_rows": 5000}, ValueError, "lower min_period_rows"),
        ({"stable_over": "month", "min_period_rows": 0}, ValueError, "min_period_rows must be"),
        ({"stable_over": [None] * 6000}, ValueError, "all its values are missing"),
    ],
)
def test_what_is_refused(arguments, error, words):
    data = {name: column for name, column in drifting().items() if name != "word"}
    if "month" not in arguments.values():
        del data["month"]
    with pytest.raises(error, match=words):
        optimize(data, "y", **arguments)


def test_grids_and_other_targets_are_refused():
    data = drifting()
    with pytest.raises(NotImplementedError, match="use optimize_each"):
        optimize(data, "y", stable_over="month")
    with pytest.raises(NotImplementedError, match="stable_over="):
        optimize(data["x"], data["y"] + 0.5 * data["x"], stable_over=data["month"], target_kind="numerical")
    with pytest.raises(ValueError, match="no target was given"):
        optimize(data["x"], stable_over=data["month"])
    with pytest.raises(ValueError, match="the target has one class"):
        optimize(data["x"], np.ones(6000), stable_over=data["month"], target_kind="classes")


def test_unlabelled_rows_are_refused_unless_they_only_place_bounds():
    data = drifting()
    labels = np.where(np.arange(6000) % 5 == 0, -1, data["y"])
    with pytest.raises(ValueError, match="unlabelled rows have none"):
        optimize(data["x"], labels, unlabelled=-1, stable_over=data["month"])
    model = optimize(data["x"], labels, unlabelled=-1, placement="median", stable_over=data["month"])
    is_labelled = labels >= 0
    alone = optimize(data["x"][is_labelled], labels[is_labelled], stable_over=data["month"][is_labelled])
    assert model.cost == pytest.approx(alone.cost)
    assert verify(model, data["x"], labels, unlabelled=-1, placement="median", stable_over=data["month"])


def test_lazy_frames_are_refused():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(drifting()).lazy()
    with pytest.raises(ValueError, match="lazy frame"):
        optimize_each(frame, "y", stable_over="month")


def test_a_time_limit_leaves_a_stable_partition():
    data = drifting()
    model = optimize(data["x"], data["y"], stable_over=data["month"], time_limit=0)
    assert model.stopped == "time limit"
    case = Case(data["x"], data["y"].astype(int), data["month"].tolist(), np.ones(6000), {"min_period_rows": 100})
    labels = model.transform(data["x"])
    assert is_stable(case, labels, np.unique(labels))
