"""Joint grids and partitioned targets as densities: sums and integrals to 1, conditionals, samples, imputation."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import gridmodl
from gridmodl import Model, ModelFileError, optimize

NUMBERS = [0.0, 0.5, 1.0, 2.0, 2.5, 7.0, 8.0, 9.0, 10.0, None]
COLORS = ["red", "red", "pink", "red", "blue", "blue", "green", "blue", None, "green"]
SIZES = ["S", "M", "L", "S", "M", "L", "S", "S", "M", None]
PARTS = {"x": [2.2, 6.0], "color": [["red", "pink"], ["blue", "green", None]]}


def joint(weights=None, parts=PARTS, **options):
    data = {"x": np.array([np.nan if x is None else x for x in NUMBERS]), "color": COLORS}
    return Model.from_partitions(data, None, parts, weights=weights, **options)


def stretches(numbers, weights, bounds):
    """Of each interval (low, high, mass) of its stretches, as `Model.log_density` writes; an atom has low == high."""
    edges = [min(numbers), *bounds, max(numbers)]
    found = []
    for i, (lo, hi) in enumerate(itertools.pairwise(edges)):
        mine = [(x, w) for x, w in zip(numbers, weights, strict=True) if (lo < x or i == 0) and x <= hi]
        m = sum(w for _, w in mine)
        low, high = (min(mine)[0], max(mine)[0]) if mine else (lo, hi)
        if low < high and mine:
            dense = (m - 1) / (high - low)
            steps = [
                (lo, low, min(0.5, dense * (low - lo))),
                (low, high, m - 1),
                (high, hi, min(0.5, dense * (hi - high))),
            ]
        else:
            steps = [
                (lo, low, (low - lo) / (hi - lo)),
                (low, high, max(m - 1, not mine)),
                (high, hi, (hi - high) / (hi - lo)),
            ]
        found.append([(a, b, step / sum(one for _, _, one in steps)) for a, b, step in steps if step])
    return found


def slow_within(stretches_of_part, x):
    """Density of a number in its interval, or the probability of an atom; a single row counts as below it."""
    atoms = [mass for low, high, mass in stretches_of_part if low == high == x]
    return atoms[0] if atoms else next(m / (hi - lo) for lo, hi, m in stretches_of_part if lo < hi and lo <= x <= hi)


def slow_log_density(rows, weights, x, color):
    """The formulas as `Model.log_density` writes them, for `PARTS`; missing numbers are in the lowest interval."""

    def x_part(value):
        return 0 if value is None or value <= 2.2 else 1 if value <= 6.0 else 2

    groups = [["red", "pink"], ["blue", "green", None]]

    def color_part(value):
        return next(j for j, group in enumerate(groups) if value in group)

    n = sum(weights)

    def count(test):
        return sum(w for (a, b), w in zip(rows, weights, strict=True) if test(a, b))

    i, j = x_part(x), color_part(color)
    s_i = (count(lambda a, _: x_part(a) == i) + 1 / 3) / (n + 1)
    s_j = (count(lambda _, b: color_part(b) == j) + 1 / 2) / (n + 1)
    c = len({(x_part(a), color_part(b)) for a, b in rows})
    cell = (count(lambda a, b: x_part(a) == i and color_part(b) == j) + c * s_i * s_j) / (n + c)
    in_part = count(lambda a, _: x_part(a) == i)
    if x is None:
        of_x = (count(lambda a, _: a is None) + 0.5) / (in_part + 1)
    else:
        there = [(a, w) for (a, _), w in zip(rows, weights, strict=True) if a is not None]
        of_x = slow_within(stretches(*zip(*there, strict=True), [2.2, 6.0])[i], x)
        of_x *= 1 - (count(lambda a, _: a is None) + 0.5) / (in_part + 1) if i == 0 else 1.0
    of_color = (count(lambda _, b: b == color) + 1 / len(groups[j])) / (count(lambda _, b: b in groups[j]) + 1)
    return math.log(cell * of_x * of_color)


@pytest.mark.parametrize("weights", [None, [3, 1, 2, 1, 1, 5, 1, 2, 1, 4]])
def test_the_density_of_a_row_is_that_of_the_formulas(weights):
    model = joint(weights)
    asked = list(itertools.product([0.0, 1.3, 2.1, 2.2, 2.3, 2.5, 5.0, 6.0, 6.5, 9.9, None], COLORS[1:5]))
    found = model.log_density({"x": [x for x, _ in asked], "color": [color for _, color in asked]})
    rows = list(zip(NUMBERS, COLORS, strict=True))
    expected = [slow_log_density(rows, weights or [1] * len(rows), *row) for row in asked]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_weight_counts_as_rows():
    weights = [3, 1, 2, 1, 1, 5, 1, 2, 1, 4]
    data = {"x": [math.nan if x is None else x for x in NUMBERS], "color": COLORS}
    repeated = {name: list(itertools.chain(*([v] * w for v, w in zip(column, weights, strict=True))))
                for name, column in data.items()}  # fmt: skip
    model = Model.from_partitions(repeated, None, PARTS)
    np.testing.assert_allclose(model.log_density(data), joint(weights).log_density(data), rtol=1e-14)
    assert joint(weights).score(data, weights) == pytest.approx(model.score(repeated), rel=1e-12)


def mixed_frame(n=200, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    b = np.where(rng.random(n) < 0.2, np.nan, 2 * a + rng.normal(size=n) * 0.3)
    b[:5] = -99.0
    c = np.array(["u", "v", "w", None], dtype=object)[np.clip(np.digitize(a, [-1, 0, 1]), 0, 3)]
    level = pd.Categorical(
        np.array(["low", "mid", "high"])[rng.integers(0, 3, n)], ["low", "mid", "high"], ordered=True
    )
    return pd.DataFrame({"a": a, "b": b, "c": c, "level": level, "one": 5.0})


MIXED = {
    "a": [-1.0, 0.3],
    "b": [math.nan, -1.0, 1.0],
    "c": [["u", None], ["v", "w"]],
    "level": [["low"], ["mid", "high"]],
}


def mixed():
    frame = mixed_frame()
    return Model.from_partitions(frame, None, MIXED, special={"b": [-99.0, -98.0]}), frame


def test_densities_and_probabilities_sum_to_one():
    model, frame = mixed()
    points = {}  # the middles of equal steps: exact but for steps with an end of a stretch, which are cut there
    for name, bounds in (("a", [-1.0, 0.3]), ("b", [-1.0, 1.0])):
        values = frame[name][(frame[name] != -99.0) & ~frame[name].isna()]
        ends = [end for part in stretches(values, [1] * len(values), bounds) for one in part for end in one[:2]]
        edges = np.unique(np.concatenate([np.linspace(values.min(), values.max(), 30), ends]))
        points[name] = list(zip((edges[1:] + edges[:-1]) / 2, np.diff(edges), strict=True))
    points["b"] += [(value, 1.0) for value in (-99.0, -98.0, math.nan)]
    points["c"] = [(value, 1.0) for value in ("u", "v", "w", None)]
    points["level"] = [(value, 1.0) for value in ("low", "mid", "high")]
    points["one"] = [(5.0, 1.0)]
    rows = list(itertools.product(*points.values()))
    asked = {name: [row[k][0] for row in rows] for k, name in enumerate(points)}
    weights = np.array([math.prod(width for _, width in row) for row in rows])
    assert np.sum(np.exp(model.log_density(asked)) * weights) == pytest.approx(1.0, rel=1e-10)


def test_the_ends_of_the_range():
    model, frame = mixed()
    row = frame.iloc[[10] * 4].assign(a=[frame.a.max(), frame.a.max() + 100, frame.a.min(), -1e300])
    high, above, low, below = model.log_density(row)
    parts = model.partitions["a"]
    for inside, beyond, at, part in ((high, above, frame.a.max(), 2), (low, below, frame.a.min(), 0)):
        within = slow_within(stretches(frame.a, [1] * len(frame), MIXED["a"])[part], at)
        expected = 1 / ((parts.rows[part] + 1) * (frame.a.max() - frame.a.min()))
        assert beyond - inside == pytest.approx(math.log(expected / within))
        assert beyond < inside
    outside = Model.from_partitions({"x": [1.0, 2.0, 3.0], "y": list("abb")}, None, {"x": [-5.0, 1.0, 2.5, 9.0]})
    whole = Model.from_partitions({"x": [1.0, 2.0, 3.0], "y": list("abb")}, None, {"x": [1.0, 2.5]})
    asked = {"x": [-9.0, 1.0, 1.5, 3.0, 20.0], "y": ["a"] * 5}  # parts without values or width hold nothing
    assert outside.log_density(asked).tolist() == whole.log_density(asked).tolist()


def test_values_of_no_part_have_no_density():
    model = Model.from_partitions({"x": [1.0, 2.0, 3.0], "y": list("abb")}, None, {"x": [1.5]})
    found = model.log_density({"x": [1.0, None, 2.0], "y": ["a", "a", "c"]})
    assert np.isnan(found).tolist() == [False, True, True]
    assert model.score({"x": [1.0, None, 2.0], "y": ["a", "a", "c"]}) == found[0]
    with pytest.raises(ValueError, match="nothing to score"):
        model.score({"x": [None], "y": ["a"]})


def test_conditional_is_joint_divided_by_marginal():
    model, frame = mixed()
    row = frame.iloc[[7]]
    values = ["u", "v", "w", None]
    of_c = model.conditional("c", {name: row[name].iloc[0] for name in ("a", "b", "level", "one")})
    logs = model.log_density(pd.concat([row] * 4).assign(c=values))
    expected = np.exp(logs) / np.exp(logs).sum()
    np.testing.assert_allclose(np.exp(of_c.log_density(values)), expected, rtol=1e-12)
    order = [of_c.values.index(value) for value in values]
    np.testing.assert_allclose(of_c.value_probabilities[order], expected, rtol=1e-12)
    assert of_c.mode == values[int(np.argmax(expected[:3]))]
    assert of_c.probabilities.sum() == pytest.approx(1.0)


def test_columns_that_are_not_given_are_summed_over():
    model, _ = mixed()
    given = {"level": "mid"}
    by_c = model.conditional("c", given)
    total = sum(
        p * model.conditional("a", {**given, "c": value}).probabilities
        for value, p in zip(by_c.values, by_c.value_probabilities, strict=True)
    )
    np.testing.assert_allclose(model.conditional("a", given).probabilities, total, rtol=1e-12)


def test_a_category_that_training_did_not_have_is_not_given():
    model, _ = mixed()
    with pytest.raises(ValueError, match="given has 'never seen' of column 'c', which training did not have; it had '"):
        model.conditional("a", {"c": "never seen"})
    with pytest.raises(ValueError, match=r"given has 'mdi' of column 'level'.*; did you mean 'mid'\?$"):
        model.conditional("a", {"level": "mdi"})
    with pytest.raises(ValueError, match=r"given has 'redd' of column 'color'.*; did you mean 'red'\?$"):
        joint().conditional("x", {"color": "redd"})
    data = {"size": [1.0, 2.0, 3.0, 4.0] * 20, "home": ["own", "rent"] * 40}
    of_target = gridmodl.optimize(data, np.tile([1.5, 3.5], 40) + np.arange(80) / 100, target_kind="numerical")
    of_all = Model.from_partitions(data, None, {"size": [2.5], "home": [["own"], ["rent"]]})
    for missing in (None, np.nan):  # training had none: they tell nothing
        for found, name in ((of_all, "size"), (of_target, "target")):
            free = found.conditional(name).probabilities
            assert found.conditional(name, {"home": missing}).probabilities.tolist() == free.tolist()
    with pytest.raises(ValueError, match=r"given has 'rnt' of column 'home'.*; did you mean 'rent'\?$"):
        of_target.conditional("target", {"home": "rnt"})


def test_mean_quantiles_and_mode_of_numbers():
    found = joint().conditional("x", {"color": "red"})
    weights = found.probabilities.copy()
    weights[0] *= 1 - 1.5 / 6.0  # 1 of the 5 rows of the lowest part has no value
    parts = stretches([0.0, 0.5, 1.0, 2.0, 2.5, 7.0, 8.0, 9.0, 10.0], [1] * 9, [2.2, 6.0])
    middles = np.array([sum((lo + hi) / 2 * mass for lo, hi, mass in part) for part in parts])
    assert found.mean == pytest.approx(weights @ middles / weights.sum())
    assert found.mode == pytest.approx(1.0)
    assert (found.quantile(0.0), found.quantile(1.0)) == (0.0, 10.0)
    assert found.quantile(weights[0] / weights.sum()) == pytest.approx(2.2)
    assert found.quantile((weights[0] + weights[1] / 2) / weights.sum()) == pytest.approx(4.1)
    assert found.values == [None]
    fine = np.linspace(0, 10, 200_001)
    fine = (fine[1:] + fine[:-1]) / 2
    at = np.exp(found.log_density(fine))
    assert at @ fine / at.sum() == pytest.approx(found.mean, rel=1e-6)
    with pytest.raises(TypeError, match="only numbers have quantiles"):
        joint().conditional("color").quantile(0.5)
    for share in (-0.1, 1.1, math.nan, "half", [0.5], None):
        with pytest.raises(ValueError, match="share must be a number from 0 to 1"):
            found.quantile(share)


@pytest.mark.parametrize("value", [[], ["red"], ("red", "blue"), np.array(["red"]), pd.Series(["red"])])
def test_what_is_given_is_one_value_a_column(value):
    with pytest.raises(TypeError, match="a single value of column 'color'"):
        joint().conditional("x", {"color": value})


def test_samples_have_the_frequencies_of_the_density():
    model, _ = mixed()
    drawn = model.sample(40_000, 3)
    assert drawn.equals(model.sample(40_000, 3))
    assert isinstance(drawn, pd.DataFrame)
    for name in ("a", "b", "c", "level", "one"):
        whole = model.conditional(name)
        parts = np.bincount(model.partitions[name].part_of(drawn[name]), minlength=len(whole.probabilities)) / 40_000
        np.testing.assert_allclose(parts, whole.probabilities, atol=0.012)
        own = whole.sample(20_000, 1)
        parts = np.bincount(model.partitions[name].part_of(own), minlength=len(parts)) / 20_000
        np.testing.assert_allclose(parts, whole.probabilities, atol=0.015)
    of_b = model.conditional("b", {"a": 2.0})
    drawn_b = drawn["b"][(drawn["a"] > 0.3) & (drawn["b"] > -50)]
    assert drawn_b.mean() == pytest.approx(of_b.mean, abs=0.05)
    of_c, seen = model.conditional("c"), [None if pd.isna(value) else value for value in drawn["c"]]
    for value, p in zip(of_c.values, of_c.value_probabilities, strict=True):
        assert seen.count(value) / 40_000 == pytest.approx(p, abs=0.012)
    assert len(model.sample(0)) == 0
    for draw in (model.sample, model.conditional("a").sample):
        with pytest.raises(ValueError, match="n must be"):
            draw(-1)


def test_missing_cells_are_imputed_by_conditionals():
    model, frame = mixed()
    holes = frame.iloc[:40].copy()
    holes.loc[holes.index[::3], "a"] = np.nan
    holes.loc[holes.index[1::4], "c"] = None
    filled, colors = model.impute("a", holes), model.impute("c", holes)
    for i, (index, row) in enumerate(holes.iterrows()):
        known = {name: value for name, value in row.items() if not pd.isna(value)}
        if "a" in known:
            assert filled[i] == row["a"]
        else:
            assert filled[i] == pytest.approx(model.conditional("a", known).mean, rel=1e-12), index
        assert colors[i] == known.get("c", model.conditional("c", {k: v for k, v in known.items() if k != "c"}).mode)
    assert model.impute("a", holes.iloc[:0]).tolist() == []
    assert model.impute("a", frame).tolist() == frame["a"].tolist()


def test_a_column_of_one_part_is_imputed_with_a_warning():
    rng = np.random.default_rng(0)
    levels = pd.Categorical(rng.choice(["low", "mid", "high"], 200), ["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"x": np.arange(200.0), "skew": rng.lognormal(8, 1, 200), "same": 3.0, "level": levels})
    frame["colour"] = rng.choice(["red", "blue"], 200)
    frame["some"] = frame["skew"].where(frame["x"] > 50)
    model = Model.from_partitions(frame, None, {"x": [100.0], "some": [], "colour": []})
    holes = frame.iloc[:4].copy()
    holes.loc[1, ["x", "skew", "same", "some"]] = np.nan
    holes.loc[1, "level"] = holes.loc[1, "colour"] = None
    for name in ("skew", "some"):
        with pytest.warns(gridmodl.ColumnWarning, match=f"{name!r} has one part.*middle.*mean or median") as warned:
            filled = model.impute(name, holes)
        assert warned[0].filename == __file__
        assert filled[1] == pytest.approx((frame[name].min() + frame[name].max()) / 2)
    with pytest.warns(gridmodl.ColumnWarning, match="'level' has one part.*the first of its values.*most frequent"):
        assert model.impute("level", holes)[1] == "low"
    for name in ("x", "same", "colour"):  # warnings are errors: none of these issues one
        assert not pd.isna(model.impute(name, holes)).any()
    assert model.impute("skew", frame).tolist() == frame["skew"].tolist()


def test_dates_and_whole_numbers_beyond_floats():
    days = np.datetime64("2020-01-01") + np.array([0, 1, 2, 30, 31, 32])
    big = np.array([0, 2, 4, 10, 20, 30]) + 2**60
    model = Model.from_partitions(
        {"day": days, "big": big}, None, {"day": [np.datetime64("2020-01-10")], "big": [2**60 + 6]}
    )
    found = model.conditional("day", {"big": 2**60 + 1})
    assert found.mean.dtype == days.dtype
    assert found.quantile(1.0) == days[-1]
    per_day = np.exp(found.log_density([*days[[0, -1]], *(days[0] + np.array([2, 8, 9, 10, 25]))]))
    low, high, *gaps = per_day
    assert low * 2 + high * 2 + gaps[1] * 7 + gaps[4] * 21 == pytest.approx(1.0)
    assert (gaps[0], gaps[2], gaps[3]) == (low, gaps[1], gaps[4])
    drawn = found.sample(4000, 0)
    assert set(model.part_of("day", drawn).tolist()) == {0, 1}
    assert np.mean(drawn - days[0]).astype(float) == pytest.approx((found.mean - days[0]).astype(float), abs=0.8)
    of_big = model.conditional("big", {"day": days[0]})
    assert 2**60 <= of_big.quantile(0.2) <= 2**60 + 6
    assert set(model.part_of("big", of_big.sample(50, 0)).tolist()) <= {0, 1}
    imputed = model.impute("day", {"day": np.array([days[0], "NaT"], dtype=days.dtype), "big": big[:2]})
    assert imputed.tolist() == [days[0], found.mean]
    again = Model.from_json(model.to_json())
    assert again.sample(5, 0)["day"].tolist() == model.sample(5, 0)["day"].tolist()


@pytest.mark.parametrize("several", [False, True])
def test_a_numerical_target_has_a_density_given_the_inputs(several):
    rng = np.random.default_rng(1)
    x, z = rng.integers(0, 10, 60).astype(float), rng.choice(list("ab"), 60)
    y = np.where(x < 5, 1.0, 6.0) + rng.random(60) + (z == "a")
    inputs = {"x": x, "z": z} if several else {"x": x}
    parts = {"x": [4.5], "z": [["a"], ["b"]], "target": [3.0, 6.5]} if several else {"x": [4.5], "target": [3.0, 6.5]}
    model = Model.from_partitions(inputs, y, parts, target_kind="numerical")
    of_parts = stretches(y.tolist(), [1] * 60, [3.0, 6.5])
    edges = [y.min(), 3.0, 6.5, y.max()]
    for row in ({"x": 2.0, "z": "a"}, {"x": 7.0, "z": "b"}, {"x": None, "z": "a"}):
        given = {name: row[name] for name in inputs}
        near = np.ones(60, dtype=bool) if row["x"] is None else (x < 4.5) == (row["x"] < 4.5)
        near &= (z == row["z"]) | (not several)
        probabilities, c = [], len(set(np.digitize(y[near], [3.0, 6.5], right=True)))
        for lo, hi in itertools.pairwise(edges):
            mine = (y >= lo) & (y <= hi) if lo == edges[0] else (y > lo) & (y <= hi)
            share = (mine.sum() + 1 / 3) / 61
            probabilities.append((np.sum(mine & near) + c * share) / (near.sum() + c))
        masses = [(lo, hi, p * mass) for p, part in zip(probabilities, of_parts, strict=True) for lo, hi, mass in part]
        middles, widths = [(lo + hi) / 2 for lo, hi, _ in masses], np.array([hi - lo for lo, hi, _ in masses])
        expected = [math.log(mass / (hi - lo)) for lo, hi, mass in masses]
        asked = {**{name: [value] * len(middles) for name, value in given.items()}, "target": middles}
        np.testing.assert_allclose(model.log_density(asked), expected, rtol=1e-12)
        found = model.conditional("target", given)
        np.testing.assert_allclose(found.log_density(middles), expected, rtol=1e-12)
        assert np.exp(expected) @ widths == pytest.approx(1.0)
        assert found.mean == pytest.approx(np.exp(expected) * widths @ middles)
    with pytest.raises(ValueError, match="must have this column"):
        model.log_density(inputs)
    with pytest.raises(ValueError, match="draws targets for a row"):
        model.sample(3)
    with pytest.raises(ValueError, match="name must be 'target'"):
        model.conditional("x", {})
    with pytest.raises(ValueError, match="predict gives the target"):
        model.impute("x", inputs)


@pytest.mark.parametrize("several", [False, True])
def test_grouped_classes_have_probabilities_given_the_inputs(several):
    rng = np.random.default_rng(2)
    x, z = rng.integers(0, 4, 80).astype(float), rng.integers(0, 2, 80).astype(float)
    y = np.array(list("abcd"))[np.clip(x.astype(int) + rng.integers(-1, 2, 80), 0, 3)]
    inputs = {"x": x, "z": z} if several else {"x": x}
    parts = {"x": [1.5], "target": [["a", "b"], ["c", "d"]]} | ({"z": [0.5]} if several else {})
    model = Model.from_partitions(inputs, y, parts, target_kind="grouped")
    for value in (0.0, 3.0):
        row = {"x": value, **({"z": 1.0} if several else {})}
        found = model.conditional("target", row)
        asked = {**{name: [one] * 4 for name, one in row.items()}, "target": list("abcd")}
        probabilities = np.exp(model.log_density(asked))
        assert probabilities.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(probabilities, np.exp(found.log_density(list("abcd"))))
        near = (x > 1.5) == (value > 1.5)
        near &= (z > 0.5) | (not several)
        in_ab = (np.isin(y, ["a", "b"]).sum() + 0.5) / 81
        c = len(set(np.isin(y, ["a", "b"])[near]))
        p_ab = (np.sum(near & np.isin(y, ["a", "b"])) + c * in_ab) / (near.sum() + c)
        of_a = (np.sum(y == "a") + 0.5) / (np.isin(y, ["a", "b"]).sum() + 1)
        assert probabilities[0] == pytest.approx(p_ab * of_a)
        assert found.mode == "abcd"[int(probabilities.argmax())]


def atoms_and_gaps():
    rng = np.random.default_rng(4)
    x = np.where(rng.random(400) < 0.4, 0.0, rng.uniform(50, 60, 400)).round(3)
    x[:30] = 90.0
    return {"x": x, "c": np.where(x == 0, "none", np.where(x == 90, "most", "some"))}


def test_a_value_alone_in_its_interval_is_an_atom():
    data = atoms_and_gaps()
    model = Model.from_partitions(data, None, {"x": [25.0, 75.0], "c": [["none"], ["some"], ["most"]]})
    found = model.conditional("x")
    assert found.values == [0.0, 90.0]
    n_zero, n_high = np.count_nonzero(data["x"] == 0.0), 30
    of_part = found.probabilities[[0, 2]]
    expected = of_part * [(n_zero - 1) / n_zero, (n_high - 1) / n_high]  # one step is spread over the interval
    np.testing.assert_allclose(found.value_probabilities, expected, rtol=1e-12)
    np.testing.assert_allclose(np.exp(found.log_density([0.0, 90.0])), expected, rtol=1e-12)
    fine = np.linspace(0, 90, 900_001)
    at = np.exp(found.log_density((fine[1:] + fine[:-1]) / 2))
    assert at.sum() * 90 / 900_000 + expected.sum() == pytest.approx(1.0, rel=1e-6)
    assert at.min() > 0
    assert found.log_density([-5.0]) < found.log_density([1.0]) < found.log_density([0.0])
    assert found.log_density([95.0]) < found.log_density([80.0]) < found.log_density([90.0])
    assert np.exp(found.log_density([95.0])) == pytest.approx(of_part[1] / ((n_high + 1) * 90.0))
    drawn = found.sample(20_000, 0)
    for value, p in zip(found.values, found.value_probabilities, strict=True):
        assert np.mean(drawn == value) == pytest.approx(p, abs=0.01)
    assert drawn.mean() == pytest.approx(found.mean, abs=0.6)
    assert found.mean == pytest.approx(np.mean(data["x"]), rel=0.02)
    assert found.quantile(of_part[0] / 2) == 0.0
    zero = model.conditional("x", {"c": "none"})
    assert (zero.mode, zero.quantile(0.5)) == (0.0, 0.0)


def test_an_interval_of_missing_values_alone_has_no_atom():
    model = Model.from_partitions({"x": [None, None, 3.0, 5.0, 5.0, 6.0], "c": list("aabbbb")}, None, {"x": [1.0, 4.0]})
    found = model.conditional("x")
    assert found.values == [None]
    assert found.value_probabilities == pytest.approx(found.probabilities[:1])


def test_gaps_pull_neither_means_nor_imputed_values():
    data = atoms_and_gaps()
    model = optimize(data, random_state=0)
    imputed = model.impute("x", {"x": np.full(3, np.nan), "c": ["none", "some", "most"]})
    truth = [np.mean(data["x"][data["c"] == value]) for value in ("none", "some", "most")]
    np.testing.assert_allclose(imputed, truth, atol=2.0)
    old = replace(model, partitions={
        name: replace(one, lowest=None, highest=None) for name, one in model.partitions.items()
    })  # fmt: skip
    without = old.impute("x", {"x": np.full(3, np.nan), "c": ["none", "some", "most"]})
    assert np.abs(imputed - truth).sum() < np.abs(without - truth).sum() / 4
    before = json.loads(model.to_json())
    for partition in before["partitions"]:
        partition.pop("lowest", None), partition.pop("highest", None)
    assert Model.from_json(json.dumps(before)).log_density(data).tolist() == old.log_density(data).tolist()


def test_a_single_row_of_an_interval_is_no_atom():
    data = {"x": [0.0, 1.0, 5.0, 9.0, 10.0], "c": list("aabbb")}
    found = Model.from_partitions(data, None, {"x": [3.0, 8.0]}).conditional("x")
    assert found.values == []
    assert np.exp(found.log_density([4.0, 5.0, 7.0])) == pytest.approx(found.probabilities[1] / 5)
    near = Model.from_partitions(data, None, {"x": [1.0001, 4.9999]}).conditional("x")
    at = np.exp(near.log_density([0.5, 1.00005, 4.99995, 5.5]))  # no spike in a narrow gap
    assert at[0] == pytest.approx(at[1])
    assert at[2] == pytest.approx(at[3])
    empty = Model.from_partitions(data, None, {"x": [3.0, 8.0, 8.5]}).conditional("x")
    assert np.exp(empty.log_density([8.1, 8.5])) == pytest.approx(empty.probabilities[2] / 0.5)


@pytest.mark.parametrize("dtype", ["datetime64[s]", "timedelta64[D]", "int64", "uint64", "float32", "decimal"])
def test_ranges_of_all_types(dtype):
    offsets = np.repeat([0, 5, 7, 40, 100, 101, 103], [1, 2, 1, 9, 1, 3, 1])
    if dtype == "decimal":
        values = np.array([Decimal(int(one)) / 10 for one in offsets], dtype=object)
    elif dtype.endswith("int64"):
        values = np.array([2**62 + int(one) for one in offsets], dtype=dtype)
    else:
        values = offsets.astype(dtype)
    data = {"x": values, "c": np.array(list("ab"))[(offsets > 30).astype(int)]}
    at = [values[offsets == one][0] for one in (7, 40)]
    model = Model.from_partitions(data, None, {"x": at, "c": [["a"], ["b"]]})
    found, partition = model.conditional("x"), model.partitions["x"]
    unit = 10.0 if dtype == "decimal" else 1.0
    assert [len(partition.lowest), len(partition.highest)] == [3, 3]
    assert partition.lowest.dtype == partition.domain.dtype
    p = found.probabilities * [(4 - 1) / 3.0, 1, 1]  # the bounds are the highest values: no room above them
    expected = [p[0] / 7 * unit, p[1] * 8 / 9, p[2] * 4 / 4.5 / 3 * unit]
    np.testing.assert_allclose(np.exp(found.log_density(values[[1, 5, -2]])), expected, rtol=1e-6)
    assert [str(one) for one in found.values] == [str(partition.lowest[1].tolist())]
    drawn = found.sample(500, 1)
    parts = np.bincount(partition.part_of(drawn), minlength=3) / 500
    np.testing.assert_allclose(parts, found.probabilities, atol=0.08)
    again = Model.from_json(model.to_json())
    assert again.conditional("x").sample(500, 1).tolist() == drawn.tolist()
    merged = model.edit("x", merge=[0, 1])
    plain = Model.from_partitions(data, None, {"x": at[1:], "c": [["a"], ["b"]]})
    for one in (merged, model.coarsen(max_parts={"x": 2, "c": 2}), Model.from_json(merged.to_json())):
        own = one.partitions["x"]
        assert own.lowest[0] == partition.lowest[0]
        assert own.highest[-1] == partition.highest[-1]
    assert merged.log_density(data).tolist() == plain.log_density(data).tolist()


@pytest.mark.parametrize(
    ("what", "values", "message"),
    [("lowest", [0.0, 2.6, 7.0], "within the bounds"), ("highest", [2.0, 2.5], "3 values"),
     ("highest", [2.0, 2.5, 9.0], "within the bounds"), ("lowest", [0.5, 2.5, 7.0], "within the bounds"),
     ("lowest", [0.0, 2.5, math.nan], "3 values"), ("lowest", [0.0, 1.0, 7.0], "within the bounds")],
)  # fmt: skip
def test_a_file_with_wrong_values_of_intervals_is_refused(what, values, message):
    model = joint()
    broken = replace(model.partitions["x"], **{what: np.array(values)})
    with pytest.raises(ModelFileError, match=message):
        Model.from_json(replace(model, partitions={**model.partitions, "x": broken}).to_json())


def test_a_search_makes_a_density_that_finds_outliers():
    frame = mixed_frame(150)[["a", "c"]]
    model = optimize(frame, random_state=0)
    scores = -model.log_density(pd.DataFrame({"a": [-2.0, 2.0], "c": ["u", "u"]}))
    assert scores[1] > scores[0] + 2
    again = Model.from_json(model.to_json())
    assert again.log_density(frame).tolist() == model.log_density(frame).tolist()
    coarse = model.coarsen(max_parts=1)
    assert coarse.score(frame) < model.score(frame)


def test_models_without_a_density_say_what_to_use():
    classes = Model.from_partitions([1, 2, 3, 4], ["a", "a", "b", "b"], {"x0": [2.5]})
    for call in (lambda: classes.log_density([1]), lambda: classes.sample(1), lambda: classes.conditional("x0")):
        with pytest.raises(ValueError, match="predict_proba gives the probabilities"):
            call()
    alone = optimize([0.0, 0.5, 1.5, 2.5, 3.5, 4.0], criterion="bayesian-blocks")
    with pytest.raises(ValueError, match="no other to condition on"):
        alone.conditional("x0")
    with pytest.raises(ValueError, match="no other tells"):
        alone.impute("x0", [1.0])
    infinite = Model.from_partitions({"x": [1.0, math.inf, 3.0], "y": list("abb")}, None, {"x": [1.5]})
    with pytest.raises(ValueError, match="range of column 'x' is not known"):
        infinite.log_density({"x": [1.0], "y": ["a"]})
    assert Model.from_json(infinite.to_json()).partitions["x"].domain is None
    with pytest.raises(ValueError, match="given names column 'colour'"):
        joint().conditional("x", {"colour": "red"})
    with pytest.raises(TypeError, match="given must be a dict"):
        joint().conditional("x", "red")
    with pytest.raises(ValueError, match="name must be one of"):
        joint().conditional("y", {})


@pytest.mark.parametrize(
    ("domain", "message"),
    [([3.0, 1.0], "lowest and the highest"), ([1.0], "two values"), ([math.inf, math.inf], "finite")],
)
def test_a_file_with_a_wrong_range_is_refused(domain, message):
    record = json.loads(joint().to_json())
    values = record["partitions"][0]["domain"]["values"]
    assert values == [0.0, 10.0]
    model = joint()
    broken = replace(model, partitions={**model.partitions,
                                        "x": replace(model.partitions["x"], domain=np.array(domain))})  # fmt: skip
    with pytest.raises(ModelFileError, match=message):
        Model.from_json(broken.to_json())


def test_the_order_of_columns_does_not_matter():
    frame = mixed_frame(150)[["a", "c", "level"]]
    model = Model.from_partitions(frame, None, {name: MIXED[name] for name in frame})
    turned = Model.from_partitions(frame[["level", "c", "a"]], None, {name: MIXED[name] for name in frame})
    np.testing.assert_allclose(turned.log_density(frame), model.log_density(frame), rtol=1e-12)
    again = replace(model, partitions={name: model.partitions[name] for name in ("level", "c", "a")})
    np.testing.assert_allclose(again.log_density(frame), model.log_density(frame), rtol=1e-12)


def test_a_sparse_matrix_is_scored_by_its_entries():
    matrix = scipy.sparse.csr_array(np.array([[1, 0, 2], [0, 3, 0], [1, 1, 1]]))
    model = optimize(matrix, random_state=0)
    logs = model.log_density(matrix)
    assert model.score(matrix) == pytest.approx(np.average(logs, weights=[1, 2, 3, 1, 1, 1]))
    cells = {"row": np.repeat([0, 1, 2], 3), "column": np.tile([0, 1, 2], 3)}
    assert np.exp(model.log_density(cells)).sum() == pytest.approx(1.0)


def test_columns_without_numbers_and_frames_of_all_kinds():
    empty = Model.from_partitions({"a": [np.nan] * 2, "c": ["x", "y"]}, None, {}, kinds={"a": "numerical"})
    for model in (empty, Model.from_json(empty.to_json())):
        found = model.log_density({"a": [np.nan, 1.0], "c": ["x", "x"]})
        assert found[0] == pytest.approx(math.log(0.5))
        assert np.isnan([found[1], model.conditional("a").mean, *model.sample(2, 0)["a"]]).all()
    frame = pl.DataFrame({"a": [1, 2, 3, 4, None, 6], "c": ["x", "x", None, "y", "y", "y"]})
    model = Model.from_partitions(frame, None, {"a": [3.5], "c": [["x", None], ["y"]]})
    drawn = model.sample(50, 0)
    assert isinstance(drawn, pl.DataFrame)
    assert np.isfinite(model.log_density(drawn)).all()
    assert model.log_density(frame[:0]).tolist() == model.impute("c", frame[:0]).tolist() == []
    arrays = np.arange(12.0).reshape(6, 2)
    by_position = Model.from_partitions(arrays, None, {"x0": [5.0]})
    assert by_position.impute("x0", [[np.nan, 3.0]]).tolist() == [by_position.conditional("x0").mean]


def test_public_name():
    assert isinstance(joint().conditional("x"), gridmodl.Conditional)


def test_a_column_that_spans_more_than_the_largest_float_says_so():
    wide = {"x": np.array([-1.7e308, 1.7e308, 0.0]), "y": np.array([1.0, 2.0, 3.0])}
    with pytest.raises(ValueError, match=r"'x' is not known.* spans more than the largest float"):
        Model.from_partitions(wide, None, {}).score(wide)
