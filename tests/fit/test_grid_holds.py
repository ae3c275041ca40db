"""Grids that keep what users know about their columns, against trying all grids that keep it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from oracles import naive
from oracles.tiny_pairs import cuttings, groupings

from gridmodl import Model, Search, optimize, price
from gridmodl.estimators import GridClassifier, GridEnsembleClassifier
from gridmodl.plugins import criterion_for

NAN = math.nan
CODE, OTHER_CODE = -9.0, 99.0


def tiny(seed, is_joint=False, n=24):
    """Two or three small columns with missing values and codes, and classes that depend on the first two."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 4, n).astype(float)
    z = rng.choice(np.array(["a", "b", "c"], dtype=object), n)
    w = rng.integers(0, 3, n).astype(float)
    y = (x > 1).astype(int) ^ (z == "a") if seed % 2 else (x > 1).astype(int)
    y = np.where(rng.random(n) < 0.75, y, rng.integers(0, 2, n))
    if is_joint:
        w = np.where(rng.random(n) < 0.7, x // 2, w)
    x[rng.random(n) < 0.2] = NAN
    w[rng.random(n) < 0.1] = NAN
    z[rng.random(n) < 0.15] = None
    x[rng.random(n) < 0.15] = CODE
    z[rng.random(n) < 0.15] = "n/a"
    y[:2] = [0, 1]
    x[2:5], z[2:5], w[2:5] = [NAN, CODE, 1.0], [None, "n/a", "a"], [NAN, 0.0, 1.0]
    columns = {"x": x, "w": w} if is_joint else {"x": x, "z": z}
    return columns, None if is_joint else y


def is_missing(column):
    return np.array([value is None or value != value for value in column.tolist()])


def partitions(name, column, given):
    """Every partition of a column that keeps what is known of it, as the part of each row."""
    special, is_apart = given.get("special", {}).get(name, []), given.get("missing", "auto") == "apart"
    fixed, allowed = given.get("fixed", {}).get(name, []), given.get("allowed", {}).get(name)
    least, most = given.get("min_rows", 1), given.get("max_parts", 99)
    gone, is_code = is_missing(column), np.isin(column, special) if special else np.zeros(len(column), bool)
    plain = sorted(set(column[~gone & ~is_code].tolist()))
    atoms = ([None] if gone.any() else []) + plain
    every = groupings if column.dtype == object else cuttings
    if not fixed:
        yield np.zeros(len(column), dtype=int)
    n_absent = sum(code not in column.tolist() for code in special)
    for labels in every(len(atoms)):
        of_atom = dict(zip(atoms, labels.tolist(), strict=True))
        parts = np.array([100 + special.index(v) if c else of_atom[None if g else v]
                          for v, g, c in zip(column.tolist(), gone, is_code, strict=True)])  # fmt: skip
        n_parts = len(set(parts.tolist())) + n_absent
        n_plain = len(set(parts[~is_code].tolist()))
        is_alone = gone.any() and not np.any(parts[~gone & ~is_code] == of_atom[None])
        rows = {part: int(np.sum(parts == part)) for part in set(parts[~is_code & ~(gone & is_alone)].tolist())}
        if n_parts == 1 and not fixed:
            continue
        if n_plain - int(is_alone and n_plain > 1) > most or (is_apart and gone.any() and plain and not is_alone):
            continue
        if len(rows) > 1 and min(rows.values()) < least:
            continue
        if is_alone and not is_apart and rows and len(rows) == 1 and min(rows.values()) < least:
            continue
        if column.dtype != object:
            cuts = {high for low, high in itertools.pairwise(plain) if of_atom[low] != of_atom[high]}
            must = {next(value for value in plain if value > bound) for bound in fixed}
            may = cuts if allowed is None else {v for b in allowed for v in plain if v > b}
            may = may if allowed is None else {min(v for v in plain if v > b) for b in allowed if b < plain[-1]} | must
            if not must <= cuts or not cuts <= may:
                continue
        yield parts


def lowest_cost(columns, y, given):
    """Lowest cost of all grids that keep the limits."""
    kind = "joint" if y is None else "grid"
    criterion = criterion_for("modl", kind)
    choices = [list(partitions(name, column, given)) for name, column in columns.items()]
    shown = [[None if g else v for v, g in zip(column.tolist(), is_missing(column), strict=True)]
             for column in columns.values()]  # fmt: skip
    return min(
        naive.price(
            criterion, kind,
            [naive.Column(values, parts.tolist(), categorical=column.dtype == object)
             for values, parts, column in zip(shown, grid, columns.values(), strict=True)],
            None if y is None else y.tolist(),
        )
        for grid in itertools.product(*choices)
    )  # fmt: skip


def parts_of_rows(model, columns):
    parts = model.transform(columns)
    return {name: parts[:, i] for i, name in enumerate(columns)}


def check_kept(model, columns, given):
    """Whether the parts of each column are among those that keep the limits."""
    for name, parts in parts_of_rows(model, columns).items():
        same = [one for one in partitions(name, columns[name], given)
                if len(set(zip(one.tolist(), parts.tolist(), strict=True))) == len(set(one.tolist()))
                == len(set(parts.tolist()))]  # fmt: skip
        assert same, (name, given, model.partitions[name])


KNOWN = [
    {"missing": "apart"},
    {"missing": "apart", "min_rows": 4},
    {"min_rows": 5},
    {"min_rows": 4, "max_parts": 2},
    {"special": {"x": [CODE]}},
    {"special": {"x": [CODE, OTHER_CODE]}, "missing": "apart", "max_parts": 2},
    {"fixed": {"x": [0.5]}},
    {"fixed": {"x": [2.25]}, "missing": "apart", "min_rows": 2},
    {"allowed": {"x": [1.25]}},
    {"allowed": {"x": [0.25, 2.0]}, "fixed": {"x": [1.5]}, "special": {"x": [CODE]}, "min_rows": 2},
]


@pytest.mark.parametrize("given", KNOWN, ids=str)
@pytest.mark.parametrize("is_joint", [False, True], ids=["classes", "joint"])
def test_no_grid_that_keeps_the_limits_is_cheaper(given, is_joint):
    given = given if is_joint or "special" not in given else {**given, "special": {**given["special"], "z": ["n/a"]}}
    n_best, n_seeds = 0, 6
    for seed in range(n_seeds):
        columns, y = tiny(seed, is_joint)
        model = optimize(columns, y, search=Search("vns", effort=3), **given)
        check_kept(model, columns, given)
        again = Model.from_partitions(columns, y, model.partitions)
        assert model.cost == pytest.approx(again.cost, rel=1e-12)
        best = lowest_cost(columns, y, given)
        assert model.cost >= best - 1e-9
        n_best += model.cost <= best + 1e-9
    assert n_best == n_seeds


def sample(n=400, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 30, n).astype(float)
    z = rng.choice(np.array(["a", "b", "c", None], dtype=object), n)
    y = np.where((x > 12) ^ (z == "a"), 1, 0)
    x[rng.random(n) < 0.1] = CODE
    x[rng.random(n) < 0.1] = NAN
    z[rng.random(n) < 0.1] = "n/a"
    noise = rng.integers(0, 30, n).astype(float)
    noise[rng.random(n) < 0.1] = NAN
    return {"x": x, "z": z, "noise": noise}, y


ALL = {
    "missing": "apart",
    "special": {"x": [CODE, OTHER_CODE], "z": ["n/a"], "noise": [CODE]},
    "fixed": {"x": [10.25]},
    "allowed": {"x": [12.0, 20.5]},
}
FAST = Search("vns", effort=2)


def test_what_the_model_says():
    columns, y = sample()
    model = optimize(columns, y, search=FAST, **ALL)
    x, z = model.partitions["x"], model.partitions["z"]
    assert (x.bounds.tolist(), x.is_missing_apart, x.special.tolist()) == ([10.25, 12.0], True, [CODE, OTHER_CODE])
    assert x.rows[-1] == 0  # no row has this code
    assert (None,) in z.groups
    assert z.groups[-1] == ("n/a",)
    assert model.partitions["noise"].n_parts == 1  # it tells nothing: what is known of it does not bring it in
    assert "noise" in model.left_out
    for text in ("missing values in a part of their own", "fixed bounds [10.25] (x)", "special values ['n/a'] (z)"):
        assert text in model.limits
        assert text in " ".join(model.summary().split())  # which breaks lines
    again = Model.from_json(model.to_json())
    assert again.limits == model.limits
    assert np.array_equal(again.transform(columns), model.transform(columns))
    edited = model.edit("x", bounds=[12.0])
    assert edited.partitions["x"].special.tolist() == [CODE, OTHER_CODE]
    assert edited.partitions["x"].is_missing_apart
    assert edited.delta == pytest.approx(edited.cost - model.cost)


def test_a_code_that_turns_up_later_tells_nothing():
    columns, y = sample()
    model = optimize(columns, y, search=FAST, **ALL)
    new = {"x": [OTHER_CODE, OTHER_CODE], "z": ["a", "b"], "noise": [1.0, 2.0]}
    in_group = [columns["z"] == "a", np.isin(columns["z"], next(g for g in model.partitions["z"].groups if "b" in g))]
    expected = [[1 - y[rows].mean(), y[rows].mean()] for rows in in_group]
    assert model.predict_proba(new) == pytest.approx(np.array(expected), abs=1e-12)


@pytest.mark.parametrize("is_joint", [False, True])
def test_fixed_bounds_bring_a_column_in(is_joint):
    columns, y = sample()
    columns = {"x": columns["x"], "noise": columns["noise"]}
    model = optimize(columns, None if is_joint else y, search=FAST, fixed={"noise": [5.5, 20.0]})
    assert {5.5, 20.0} <= set(model.partitions["noise"].bounds.tolist())
    assert "noise" in model.informative


def test_limits_that_cannot_be_kept():
    columns, y = sample()
    for limits, message in (
        ({"fixed": {"x": [40.0]}}, "fixed of column 'x' has the bound 40, with no values"),
        ({"fixed": {"z": [1.0]}}, "column 'z' is categorical; fixed= is for intervals"),
        (
            {"fixed": {"x": [0.5, 1.5]}, "max_parts": 2},
            "column 'x' has 2 fixed bounds, which make 3 parts; max_parts=2",
        ),
        ({"fixed": {"x": [0.5]}, "min_rows": 100}, r"column 'x' has 1 fixed bound, which leaves a part of \d+ rows"),
        ({"missing": {"y": "apart"}}, "missing names column 'y'"),
    ):
        with pytest.raises(ValueError, match=message):
            optimize(columns, y, **limits)


@pytest.mark.parametrize("make", [GridClassifier, GridEnsembleClassifier])
def test_estimators(make):
    columns, y = sample()
    frame, names = pd.DataFrame(columns), np.array(["good", "bad"])[y]
    few = Search("diverse", effort=2, keep_optima=20) if make is GridEnsembleClassifier else FAST
    fitted = make(search=few, event="good", **ALL).fit(frame, names)
    model = fitted.model_
    assert (model.event, model.partitions["x"].is_missing_apart) == ("good", True)
    assert set(model.table("x", frame="arrays")["event"]) == {"good"}
    assert model.rules()[0].lift == pytest.approx(model.rules()[0].shares["good"] / np.mean(names == "good"))
    plain = make(search=few).fit(frame, names)
    assert plain.model_.event == "good"  # the last in sorted order
    assert make(search=few, event="bad").fit(frame, names).model_.event == "bad"
    ordered = pd.Categorical(names, categories=["good", "bad"], ordered=True)
    assert make(search=few).fit(frame, pd.Series(ordered)).model_.event == "bad"
    new = pd.DataFrame({"x": [OTHER_CODE, NAN], "z": ["a", None], "noise": [1.0, NAN]})
    assert np.all(np.isfinite(fitted.predict_proba(new)))
    if make is GridClassifier:
        assert np.allclose(fitted.predict_proba(frame), model.predict_proba(frame))


def test_allowed_bounds_are_kept_where_each_interval_between_them_holds_one_value():
    x = np.repeat([1.0, 2.0, 3.0], 40)
    data = {"x": x, "z": np.tile([0.0, 1.0], 60)}
    model = optimize(data, x > 1, allowed={"x": [1.2, 2.9]})
    assert model.partitions["x"].bounds.tolist() == [1.2]


def test_groups_found_with_missing_values_joined_stay_where_setting_them_apart_is_dearer():
    """A buffer of the second way held the groups of the first: values were in no group, and the search had no end."""
    a = ["Z", "Z", "Z", "Z", None, None, "Z", "", "", "Z", "Z", "", ""]
    b = ["a", None, "k", "a", "a", "a", "a", "a", "k", "a", "k", "a", "a"]
    c = [1.0, None, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    d = ["a", "it's", "it's", "it's", "a", "a", "it's", "a", "it's", "a", "it's", "a", "a"]
    data, weights = {"a": a, "b": b, "c": c, "d": d}, [0, 1, 2, 0, 3, 1, 2, 1, 3, 0, 1, 2, 1]
    search = Search("vns", effort=1)
    model = optimize(data, weights=weights, min_rows=0.3, search=search, random_state=46, time_limit=60)
    assert model.stopped is None
    assert model.cost == pytest.approx(price(data, partitions=model.partitions, weights=weights))
    assert all(partition.rows.min() >= 6 for partition in model.partitions.values() if partition.missing is None)
