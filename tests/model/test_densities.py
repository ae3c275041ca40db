"""Joint grids and partitioned targets as densities: sums and integrals to 1, conditionals, samples, imputation."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

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
        of_x = 1 / [2.2, 3.8, 4.0][i]
        of_x *= 1 - (count(lambda a, _: a is None) + 0.5) / (in_part + 1) if i == 0 else 1.0
    of_color = (count(lambda _, b: b == color) + 1 / len(groups[j])) / (count(lambda _, b: b in groups[j]) + 1)
    return math.log(cell * of_x * of_color)


@pytest.mark.parametrize("weights", [None, [3, 1, 2, 1, 1, 5, 1, 2, 1, 4]])
def test_the_density_of_a_row_is_that_of_the_formulas(weights):
    model = joint(weights)
    asked = list(itertools.product([0.0, 1.3, 2.2, 2.3, 6.0, 9.9, None], ["red", "pink", "blue", None]))
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
    n = 40  # the middles of equal steps: exact but for the steps that hold a bound, which are cut there
    points = {}
    for name, bounds in (("a", [-1.0, 0.3]), ("b", [-1.0, 1.0])):
        values = frame[name][frame[name] != -99.0]
        edges = np.unique(np.concatenate([np.linspace(values.min(), values.max(), n), bounds]))
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
    row = frame.iloc[[10, 10, 10, 10]].assign(a=[frame.a.max(), frame.a.max() + 100, frame.a.min(), -1e300])
    high, above, low, below = model.log_density(row)
    assert (high, low) == (above, below)
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
    unknown = model.conditional("a", {"c": "never seen"})
    assert unknown.probabilities.tolist() == model.conditional("a").probabilities.tolist()


def test_mean_quantiles_and_mode_of_numbers():
    found = joint().conditional("x", {"color": "red"})
    weights = found.probabilities.copy()
    weights[0] *= 1 - 1.5 / 6.0  # 1 of the 5 rows of the lowest part has no value
    middles = np.array([1.1, 4.1, 8.0])
    assert found.mean == pytest.approx(weights @ middles / weights.sum())
    assert found.mode == pytest.approx(1.1)
    assert (found.quantile(0.0), found.quantile(1.0)) == (0.0, 10.0)
    assert found.quantile(weights[0] / weights.sum()) == pytest.approx(2.2)
    fine = np.linspace(0, 10, 200_001)
    fine = (fine[1:] + fine[:-1]) / 2
    at = np.exp(found.log_density(fine))
    assert at @ fine / at.sum() == pytest.approx(found.mean, rel=1e-6)
    with pytest.raises(TypeError, match="only numbers have quantiles"):
        joint().conditional("color").quantile(0.5)


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


def test_dates_and_whole_numbers_beyond_floats():
    days = np.datetime64("2020-01-01") + np.array([0, 1, 2, 30, 31, 32])
    big = np.array([0, 2, 4, 10, 20, 30]) + 2**60
    model = Model.from_partitions(
        {"day": days, "big": big}, None, {"day": [np.datetime64("2020-01-10")], "big": [2**60 + 6]}
    )
    found = model.conditional("day", {"big": 2**60 + 1})
    assert found.mean.dtype == days.dtype
    assert found.quantile(1.0) == days[-1]
    per_day = np.exp(found.log_density(days))
    assert per_day[0] * 9 + per_day[-1] * 23 == pytest.approx(1.0)
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
    edges = [y.min(), 3.0, 6.5, y.max()]
    for row in ({"x": 2.0, "z": "a"}, {"x": 7.0, "z": "b"}, {"x": None, "z": "a"}):
        given = {name: row[name] for name in inputs}
        near = np.ones(60, dtype=bool) if row["x"] is None else (x < 4.5) == (row["x"] < 4.5)
        near &= (z == row["z"]) | (not several)
        middles = [(lo + hi) / 2 for lo, hi in itertools.pairwise(edges)]
        expected, c = [], len(set(np.digitize(y[near], [3.0, 6.5], right=True)))
        for lo, hi in itertools.pairwise(edges):
            mine = (y >= lo) & (y <= hi) if lo == edges[0] else (y > lo) & (y <= hi)
            share = (mine.sum() + 1 / 3) / 61
            expected.append(math.log((np.sum(mine & near) + c * share) / (near.sum() + c) / (hi - lo)))
        asked = {**{name: [value] * 3 for name, value in given.items()}, "target": middles}
        np.testing.assert_allclose(model.log_density(asked), expected, rtol=1e-12)
        found = model.conditional("target", given)
        np.testing.assert_allclose(found.log_density(middles), expected, rtol=1e-12)
        assert np.exp(expected) @ np.diff(edges) == pytest.approx(1.0)
        assert found.mean == pytest.approx(np.exp(expected) * np.diff(edges) @ middles)
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
