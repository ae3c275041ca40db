"""Rows of which only some have a class: reading them, searching, placing bounds, and what a bound's posterior is."""

from __future__ import annotations

import itertools
import math
import pickle
from decimal import Decimal, localcontext

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gridmodl
from gridmodl import Model, bound_posterior, optimize, optimize_each, price
from gridmodl.criteria.modl_semi import lowest_completion
from gridmodl.data.targets import NOT_GIVEN

X = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]
Y = [0, 0, 0, 0, -1, -1, 1, 1, 1, 1]


def only(model):
    (partition,) = model.partitions.values()
    return partition


def draw(n, share, seed=0, n_classes=2, n_steps=5):
    """Classes that change in steps, of which a share of the rows has one."""
    rng = np.random.default_rng([seed, n])
    x = rng.random(n)
    y = np.where(rng.random(n) < 0.85, (x * n_steps).astype(int) % n_classes, rng.integers(0, n_classes, n))
    return x, np.where(rng.random(n) < share, y, -1)


# What marks a row.


@pytest.mark.parametrize(
    ("target", "mark"),
    [
        (Y, -1),
        (Y, -1.0),
        (np.array(Y), -1),
        (np.array(Y, dtype=np.int8), np.int64(-1)),
        (np.array(Y, dtype=float), -1),
        ([{0: "no", 1: "yes", -1: "?"}[c] for c in Y], "?"),
        ([{0: "no", 1: "yes", -1: -1}[c] for c in Y], -1),
        ([{0: "no", 1: "yes", -1: None}[c] for c in Y], None),
        ([{0: "no", 1: "yes", -1: None}[c] for c in Y], np.nan),
        ([{0: "no", 1: "yes", -1: float("nan")}[c] for c in Y], None),
        (np.where(np.array(Y) < 0, np.nan, Y), None),
        (np.where(np.array(Y) < 0, np.nan, Y), np.nan),
        (np.array(["a", "b", "zz"])[Y], "zz"),
        ([{0: False, 1: True, -1: None}[c] for c in Y], None),
        ([{0: False, 1: True, -1: -1}[c] for c in Y], -1),
        (pd.Series(Y), -1),
        (pd.Series(Y).replace(-1, None).astype("Int64"), None),
        (pd.Series(Y).astype("Int64"), -1),
        (np.array(["no", "yes", "?"])[Y], "?"),
        (np.array([b"no", b"yes", b"?"])[Y], b"?"),
        (pd.Series([{0: "no", 1: "yes", -1: None}[c] for c in Y], dtype="category"), None),
        (pd.Series([{0: "no", 1: "yes", -1: "?"}[c] for c in Y], dtype="category"), "?"),
        (pd.Series([{0: "no", 1: "yes", -1: None}[c] for c in Y], dtype="string"), pd.NA),
        (pl.Series([{0: 0, 1: 1, -1: None}[c] for c in Y]), None),
        (pl.Series([{0: "no", 1: "yes", -1: None}[c] for c in Y]), None),
        (pl.Series([{0: "no", 1: "yes", -1: "?"}[c] for c in Y], dtype=pl.Categorical), "?"),
        (pl.Series([{0: "no", 1: "yes", -1: "?"}[c] for c in Y]), "?"),
    ],
    ids=str,
)  # fmt: skip
def test_any_value_can_be_the_mark(target, mark):
    model = optimize(X, target, unlabelled=mark)
    expected = optimize(X, Y, unlabelled=-1)
    assert model.problem == "semi"
    assert (model.n_rows, model.class_rows.tolist()) == (10, [4, 4])
    assert model.cost == expected.cost
    assert only(model).bounds.tolist() == only(expected).bounds.tolist()
    assert only(model).unlabelled.tolist() == only(expected).unlabelled.tolist()
    assert len(model.classes) == 2
    assert price(X, target, {"x0": only(model).bounds}, unlabelled=mark) == pytest.approx(model.cost, rel=1e-12)


def test_the_target_can_be_a_column_and_rows_can_have_weights():
    frame = pd.DataFrame({"x": X, "y": Y, "w": [1, 2, 0, 3, 4, 0, 2, 1, 1, 5]})
    model = optimize(frame, "y", weights="w", unlabelled=-1)
    repeated = frame.loc[frame.index.repeat(frame["w"])]
    expected = optimize(repeated["x"], repeated["y"], unlabelled=-1)
    assert model.cost == pytest.approx(expected.cost, rel=1e-12)
    assert model.n_rows == expected.n_rows == 19
    assert only(model).bounds.tolist() == only(expected).bounds.tolist()
    assert only(model).unlabelled.tolist() == only(expected).unlabelled.tolist()


def test_inputs_stay_as_they_are():
    x, y = np.array(X), np.array(Y)
    optimize(x, y, unlabelled=-1)
    optimize(x, y, unlabelled=-1, placement="median")
    bound_posterior(x, y, unlabelled=-1)
    assert (x.tolist(), y.tolist()) == (X, Y)


def test_no_mark_is_there_by_default_and_none_is_a_mark():
    assert repr(NOT_GIVEN) == "NOT_GIVEN"
    assert pickle.loads(pickle.dumps(NOT_GIVEN)) is NOT_GIVEN  # noqa: S301  our own
    assert optimize(X, Y).classes.tolist() == [-1, 0, 1]
    with pytest.raises(ValueError, match=r"target has 1 missing values of 3; drop those rows, or with unlabelled=None"):
        optimize([1.0, 2.0, 3.0], [0, None, 1])


@pytest.mark.parametrize(
    "column",
    [X, list("aabbccddee"), [1.0, None, 2.0, 2.0, None, 3.0, 4.0, 5.0, 5.0, 6.0]],
    ids=["x", "text", "missing"],
)
def test_where_no_row_has_the_mark_all_are_labelled(column):
    target = [0, 1, 0, 0, 1, 1, 0, 1, 1, 1]
    semi, supervised = optimize({"x": column}, target, unlabelled=-1), optimize({"x": column}, target)
    assert (semi.cost, semi.null_cost, semi.problem) == (supervised.cost, supervised.null_cost, "classes")
    assert only(semi).labels == only(supervised).labels
    assert only(semi).unlabelled is None
    placed = optimize({"x": column}, target, unlabelled=-1, placement="median")
    assert (placed.cost, only(placed).labels) == (supervised.cost, only(supervised).labels)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: optimize(X, [-1] * 10, unlabelled=-1), ValueError, r"no row has a class.*gridmodl\.optimize_density"),
        (lambda: optimize(X, [None] * 10, unlabelled=None), ValueError, "all 10 are marked by unlabelled=None"),
        (lambda: optimize(X, Y, unlabelled=-1, weights=[0] * 4 + [1, 1] + [0] * 4), ValueError, "no row has a class"),
        (lambda: optimize_each({"a": X}, [-1] * 10, unlabelled=-1), ValueError, "no row has a class"),
        (lambda: bound_posterior(X, [-1] * 10, unlabelled=-1), ValueError, "no row has a class"),
        (lambda: optimize({"a": X, "b": X}, Y, unlabelled=-1), ValueError, "data has 2; optimize_each"),
        (lambda: optimize({"a": X, "b": X}, Y, unlabelled=7), ValueError, "data has 2; optimize_each"),
        (lambda: price({"a": X, "b": X}, Y, {}, unlabelled=-1), ValueError, "data has 2; optimize_each"),
        (lambda: optimize(X, unlabelled=-1), ValueError, "no target was given"),
        (lambda: optimize({"a": X, "b": X}, unlabelled=-1), ValueError, "no target was given"),
        (lambda: optimize(X, Y, unlabelled=-1, target_kind="grouped"), ValueError, "target_kind='grouped' was passed"),
        (lambda: optimize(X, Y, unlabelled=-1, target_kind="numerical"), ValueError, "target of classes"),
        (lambda: optimize(X, [0.5, *Y[1:]], unlabelled=-1), ValueError, "target is of real numbers"),
        (lambda: optimize(X, Y, unlabelled=-1, criterion="bic"), ValueError, "can: modl; or .*placement='median'"),
        (lambda: optimize(X, Y, unlabelled=-1, monotone="auto"), ValueError, "monotone= .*placement='median'"),
        (lambda: optimize(X, [None, *Y[1:]], unlabelled=-1), ValueError, "1 missing values of 10 beside the mark"),
        (lambda: optimize(X, [str(c) for c in Y], unlabelled=-1), ValueError, "unlabelled='-1' marks those rows"),
        (lambda: optimize(X, Y, unlabelled="-1"), ValueError, "class -1, of another type"),
        (lambda: optimize(X, np.array(Y, dtype=float), unlabelled="-1"), ValueError, "class -1.0, of another type"),
        (lambda: optimize(X, ["-1.0", *"0101"] * 2, unlabelled=-1), ValueError, "class '-1.0', of another type"),
        (lambda: optimize(X, [0, 1] * 5, unlabelled=True), ValueError, "class 1, of another type"),
        (lambda: optimize(X, [False, True] * 5, unlabelled=0), ValueError, "class False, of another type"),
        (lambda: optimize(X, Y, unlabelled=[-1]), TypeError, "unlabelled must be one value"),
        (lambda: optimize(X, Y, unlabelled=np.array([-1, 0])), TypeError, "unlabelled must be one value"),
        (lambda: optimize(X, Y, placement="median"), ValueError, "mark these rows with unlabelled="),
        (lambda: optimize_each(X, Y, placement="median"), ValueError, "mark these rows with unlabelled="),
        (lambda: optimize(X, Y, unlabelled=-1, placement="middle"), ValueError, "must be one of 'short', 'median'"),
        (lambda: optimize(X, Y, unlabelled=-1, placement=["median"]), ValueError, "must be one of 'short', 'median'"),
        (lambda: optimize(X, Y, unlabelled=-1, weights=[2**40] * 10), ValueError, "sum to 10995116277760 .*536870912"),
        (lambda: bound_posterior({"a": X, "b": X}, Y, unlabelled=-1), ValueError, "data has 2"),
        (lambda: bound_posterior({"a": X, "b": X}, Y), ValueError, "takes one column, and data has 2"),
        (lambda: bound_posterior(list("ab"), [0, 1]), TypeError, "is categorical"),
        (lambda: bound_posterior([1.0, None], [0, 1]), ValueError, "has 1 missing values of 2"),
        (lambda: bound_posterior(X, None), ValueError, "no target was given"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said(call, error, words):
    with pytest.raises(error, match=words) as raised:
        call()
    assert "\n" not in str(raised.value)


# The term.


def least_by_trying(labelled, unlabelled):
    """Every way to complete the labels, with exact fractions of factorials as logarithms."""
    n_classes, n_rows = len(labelled), sum(labelled) + unlabelled
    costs = []
    for cuts in itertools.combinations(range(unlabelled + n_classes - 1), n_classes - 1):
        extra = [high - low - 1 for low, high in itertools.pairwise((-1, *cuts, unlabelled + n_classes - 1))]
        ways = sum(math.lgamma(a + 1) - math.lgamma(a + b + 1) for a, b in zip(extra, labelled, strict=True))
        costs.append(math.lgamma(n_rows + 1) - math.lgamma(unlabelled + 1) + ways)
    return min(costs)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
def test_the_completion_is_the_best_of_all(n_classes):
    rng = np.random.default_rng(n_classes)
    for _ in range(150):
        labelled = rng.choice([0, 0, 1, 1, 2, 3, 7, 12], n_classes).tolist()
        unlabelled = int(rng.integers(0, 16 - 2 * n_classes))
        if sum(labelled):
            found = lowest_completion(labelled, sum(labelled) + unlabelled, unlabelled)
            assert found == pytest.approx(least_by_trying(labelled, unlabelled), abs=1e-9)


def test_the_completion_of_many_classes_is_that_of_giving_rows_one_by_one():
    rng = np.random.default_rng(0)
    for n_classes in (20, 100, 150):
        labelled = (rng.pareto(0.7, n_classes) * (rng.random(n_classes) < 0.8)).astype(int).tolist()
        unlabelled = int(rng.integers(1, 3000))
        rows = list(labelled)
        for _ in range(unlabelled):
            rows[max(range(n_classes), key=lambda j: labelled[j] / (rows[j] + 1))] += 1
        cost = math.lgamma(sum(rows) + 1) - math.lgamma(unlabelled + 1)
        cost += sum(math.lgamma(n - n_l + 1) - math.lgamma(n + 1) for n, n_l in zip(rows, labelled, strict=True))
        assert lowest_completion(labelled, sum(rows), unlabelled) == pytest.approx(cost, rel=1e-10, abs=1e-7)


@pytest.mark.parametrize(("n", "fewest"), [(10, 6), (20, 8), (50, 10), (100, 12), (1000, 18)])
def test_how_many_labels_two_intervals_need(n, fewest):
    """Bondu, Boullé and Lemaire, Figure 1: two classes at 0 and 1, equal numbers labelled."""

    def n_parts(n_labelled, **options):
        x, y = np.repeat([0.0, 1.0], n // 2), np.full(n, -1)
        y[: n_labelled // 2], y[n - n_labelled // 2 :] = 0, 1
        return only(optimize(x, y, unlabelled=-1, **options)).n_parts

    assert [n_parts(fewest - 2), n_parts(fewest)] == [1, 2]
    assert [n_parts(4, placement="median"), n_parts(6, placement="median")] == [1, 2]


def difference_of_likelihoods(parts, n_unlabelled):
    """What the semi-supervised likelihood costs beyond the supervised one; of a part, its labels and other rows.

    Prices of the parts as they are, less all that is no likelihood: the number of parts, bounds and class counts.
    """
    counts, n_parts = np.array(parts), len(parts)
    place, label = (i.ravel() for i in np.indices(counts.shape))
    x = np.concatenate([place, np.arange(n_parts)]).astype(float)
    y = np.concatenate([label, np.full(n_parts, -1)])
    weights = np.concatenate([counts.ravel(), n_unlabelled])
    bounds = {"x0": np.arange(n_parts - 1) + 0.5}
    log_binomial = lambda n, k: math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)  # noqa: E731

    def likelihood(cost, rows):
        n, n_classes = int(sum(rows)), counts.shape[1]
        cost -= math.log(n) + log_binomial(n + n_parts - 1, n_parts - 1)
        return cost - sum(log_binomial(r + n_classes - 1, n_classes - 1) for r in rows)

    labelled = counts.sum(axis=1)
    semi = price(x, y, bounds, weights=weights, unlabelled=-1)
    supervised = price(x, y, bounds, weights=np.where(y < 0, 0, weights))
    semi = likelihood(semi, labelled + n_unlabelled)
    return semi - likelihood(supervised, labelled), semi


def approximate_difference(parts, n_unlabelled):
    """sum_i (J-1)/2 log(2 pi N^l_i (1 - N^l_i/N_i)) + 1/2 sum_j log p_ij."""
    total = 0.0
    for counts, unlabelled in zip(parts, n_unlabelled, strict=True):
        n = sum(counts)
        total += (len(counts) - 1) / 2 * math.log(2.0 * math.pi * n * unlabelled / (n + unlabelled))
        total += sum(math.log(count / n) for count in counts) / 2
    return total


@pytest.mark.parametrize(
    ("parts", "n_unlabelled"),
    [
        ([[48, 2], [2, 48]], [50, 50]),
        ([[30, 20], [5, 70]], [25, 300]),
        ([[20, 30, 50], [90, 5, 5], [10, 10, 10]], [100, 40, 90]),
        ([[10, 20, 30, 40]], [10]),
        ([[7, 9, 8, 11, 6], [20, 10, 10, 10, 10]], [400, 600]),
    ],
    ids=["alike", "2 classes", "3 classes", "one part", "5 classes"],
)
def test_the_two_likelihoods_differ_by_the_logarithm_of_the_rows_and_a_constant(parts, n_unlabelled):
    """Bondu, Boullé and Lemaire, Theorem 1, with the constant that its O(log N) leaves out."""
    errors, shares = [], []
    for times in (10, 100, 1_000, 10_000):
        more = [[times * count for count in counts] for counts in parts], [times * rows for rows in n_unlabelled]
        difference, semi = difference_of_likelihoods(*more)
        errors.append(abs(difference - approximate_difference(*more)))
        shares.append(difference / semi)
    assert errors[0] < 0.2
    assert all(after < 0.2 * before for before, after in itertools.pairwise(errors[:3]))  # as 1 / N
    assert errors[-1] < 1e-4
    assert all(after < 0.3 * before for before, after in itertools.pairwise(shares))


def test_the_paper_s_difference_is_that_of_labels_of_which_4_percent_are_of_the_other_class():
    """The same, Figure 4: approximately 5 for 5,000 rows of which 2,500 have a label; 0 where parts are pure."""
    assert difference_of_likelihoods([[1200, 50], [50, 1200]], [1250, 1250])[0] == pytest.approx(5.02, abs=0.005)
    assert approximate_difference([[1200, 50], [50, 1200]], [1250, 1250]) == pytest.approx(5.016, abs=0.0005)
    assert difference_of_likelihoods([[1250, 0], [0, 1250]], [1250, 1250])[0] == pytest.approx(0.0, abs=1e-9)


# The search.


def test_bounds_lie_between_labelled_rows_of_different_classes():
    for seed in range(10):
        x, y = draw(300, 0.3, seed)
        model = optimize(x, y, unlabelled=-1)
        assert model.proven
        order = np.argsort(x[y >= 0])
        values, classes = x[y >= 0][order], y[y >= 0][order]
        for bound in only(model).bounds:
            i = np.searchsorted(values, bound)
            assert classes[i - 1] != classes[i]
        assert np.all(only(model).counts.sum(axis=1) > 0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_merge_comes_close_to_the_optimum(n_classes):
    gaps = []
    for seed in range(12):
        x, y = draw(1500, 0.2, seed, n_classes)
        merged, exact = (optimize(x, y, unlabelled=-1, search=search) for search in ("merge", "exact"))
        assert merged.cost >= exact.cost - 1e-9
        gaps.append(merged.cost / exact.cost - 1.0)
    assert np.mean(gaps) < 1e-4
    assert max(gaps) < 1e-3


def test_large_data_are_cut_inside_the_gaps_too(monkeypatch):
    """The passes of large data on data that the exact search can still take."""
    from gridmodl.search.column import improve

    monkeypatch.setattr(improve, "N_LATE", 32)
    monkeypatch.setattr(improve, "WINDOW", 1)
    gaps = []
    for seed in range(12):
        x, y = draw(1500, 0.1, seed)
        merged, exact = (optimize(x, y, unlabelled=-1, search=search) for search in ("merge", "exact"))
        assert merged.cost == pytest.approx(price(x, y, {"x0": only(merged)}, unlabelled=-1), rel=1e-12)
        gaps.append(merged.cost / exact.cost - 1.0)
    assert min(gaps) >= -1e-12
    assert np.mean(gaps) < 1e-3


def test_a_gap_of_many_rows_is_searched_inside(monkeypatch):
    """Where the best bound is inside a gap and not at its ends, a merge that saw only these finds it all the same."""
    from gridmodl.search.column import improve

    counts, unlabelled = [[1, 1], [0, 0], [0, 0], [0, 0], [0, 3]], [0, 1, 1, 1, 0]
    found = 0
    rng = np.random.default_rng(3)
    monkeypatch.setattr(improve, "N_LATE", 1)
    for _ in range(60):
        gap = int(rng.integers(2, 8))
        left, right = rng.integers(0, 4, (2, 2))
        left[0], right[1] = left[0] + 1, right[1] + 2
        counts = [left, *[[0, 0]] * gap, right]
        unlabelled = [int(rng.integers(0, 9)), *[1] * gap, int(rng.integers(0, 9))]
        x = np.repeat(np.arange(gap + 2), [sum(c) + u for c, u in zip(counts, unlabelled, strict=True)])
        y = np.concatenate([[0] * c[0] + [1] * c[1] + [-1] * u for c, u in zip(counts, unlabelled, strict=True)])
        merged, exact = (optimize(x, y, unlabelled=-1, search=search) for search in ("merge", "exact"))
        found += merged.cost == pytest.approx(exact.cost, rel=1e-12)
    assert found == 60


def test_missing_values_and_special_codes_stand_apart():
    x = [np.nan] * 6 + [-9.0] * 5 + X * 2
    y = [1, 1, 1, 1, -1, -1] + [0, 0, -1, -1, 0] + Y * 2
    model = optimize(x, y, unlabelled=-1, special={"x0": [-9]})
    partition = only(model)
    assert partition.rows.sum() == model.n_rows == 31
    assert partition.rows[-1] == 5
    assert partition.unlabelled[-1] == 2
    assert partition.counts[-1].tolist() == [3, 0]
    assert model.cost == pytest.approx(price(x, y, {"x0": partition}, unlabelled=-1), rel=1e-12)
    same = Model.from_partitions(x, y, {"x0": partition}, unlabelled=-1)
    assert only(same).unlabelled.tolist() == partition.unlabelled.tolist()


def test_missing_values_with_labels_open_a_gap():
    """The unlabelled rows between them and the first labelled number are candidates, one by one."""
    rng = np.random.default_rng(4)
    for _ in range(30):
        n = int(rng.integers(6, 12))
        x = np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 6, n))
        y = rng.integers(-1, 2, n)
        y[0] = max(y[0], 0)
        y[-1] = -1
        model = optimize(x, y, unlabelled=-1, search="exact")
        values = sorted(set(x[~np.isnan(x)].tolist()))
        first = [[], [np.nan]] if np.isnan(x).any() and values else [[]]
        costs = [
            price(x, y, {"x0": [*start, *(values[i] - 0.5 for i in cuts)]}, unlabelled=-1)
            for start in first
            for k in range(max(len(values), 1))
            for cuts in itertools.combinations(range(1, len(values)), k)
        ]
        assert model.cost == pytest.approx(min(costs), rel=1e-12)


def test_optimize_each_takes_every_column_on_its_own():
    rng = np.random.default_rng(5)
    x, y = draw(2000, 0.2)
    data = {"steps": x, "noise": rng.random(2000), "text": np.array(list("abcd"))[rng.integers(0, 4, 2000)]}
    models = optimize_each(data, y, unlabelled=-1)
    assert next(iter(models)) == "steps"
    for name, column in data.items():
        alone = optimize({name: column}, y, unlabelled=-1)
        assert (models[name].cost, only(models[name]).labels) == (alone.cost, only(alone).labels)
    placed = optimize_each(data, y, unlabelled=-1, placement="median")
    assert placed["text"].n_rows == 2000
    labelled = optimize_each({name: column[y >= 0] for name, column in data.items()}, y[y >= 0])
    assert [placed[name].cost for name in data] == [labelled[name].cost for name in data]


def test_a_time_limit_holds():
    x, y = draw(60_000, 0.5)
    optimize(x[:50], y[:50], unlabelled=-1)
    model = optimize(x, y, unlabelled=-1, search="exact", time_limit=0.2)
    assert (model.stopped, model.proven) == ("time limit", False)
    assert model.cost <= model.null_cost


# The model.


def test_a_model_tells_of_its_unlabelled_rows():
    model = optimize({"x": X * 3}, np.array(Y * 3), unlabelled=-1)
    table = model.table()
    assert table["rows"].tolist() == only(model).rows.tolist()
    assert (table["rows"] - table["rows_0"] - table["rows_1"]).tolist() == table["unlabelled"].tolist()
    assert table["unlabelled"].sum() == 6
    assert "30 rows, 24 of them labelled, 2 classes" in model.summary()
    assert "unlabelled" in model.summary()
    assert model.cell_table()["unlabelled"].sum() == 6
    assert sum(rule.rows for rule in model.rules()) == 30
    assert sum(rule.support for rule in model.rules()) == pytest.approx(1.0)
    assert model.predict_proba({"x": [1.0, 10.0]}).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert model.predict({"x": [1.0, 10.0]}).tolist() == [0, 1]
    assert model.mutual_information == pytest.approx(math.log(2))
    again = Model.from_json(model.to_json())
    assert again.to_json() == model.to_json()
    assert only(again).unlabelled.tolist() == only(model).unlabelled.tolist()
    assert again.summary() == model.summary()
    assert pickle.loads(pickle.dumps(model)).summary() == model.summary()  # noqa: S301  our own


def test_a_part_without_labels_predicts_the_overall_shares():
    model = Model.from_partitions(X, [0, 0, 0, 1, -1, -1, 1, 1, 1, 1], {"x0": [4.5, 6.5]}, unlabelled=-1)
    assert only(model).unlabelled.tolist() == [0, 2, 0]
    assert model.predict_proba([5.0])[0].tolist() == [3 / 8, 5 / 8]
    assert model.informative == ["x0"]
    assert math.isnan(model.table()["share_0"][1])
    assert model.table()["woe"][1] == 0.0
    assert "unlabelled" in Model.from_json(model.to_json()).summary()


def test_edit_prices_other_bounds_and_groups():
    model = optimize(X * 2, Y * 2, unlabelled=-1)
    other = model.edit("x0", bounds=[3.5])
    assert other.cost == pytest.approx(price(X * 2, Y * 2, {"x0": [3.5]}, unlabelled=-1), rel=1e-12)
    assert other.delta == pytest.approx(other.cost - model.cost)
    assert only(other).unlabelled.tolist() == [0, 4]
    towns = optimize(["a", "b", "a", "c", "b"] * 6, [0, 1, 0, -1, -1] * 6, unlabelled=-1)
    assert only(towns).rows.sum() == 30
    assert towns.edit("x0", groups=[["a"], ["b", "c"]]).problem == "semi"


def test_groups_without_labels_come_last():
    model = Model.from_partitions(list("aabbcc"), [1, 1, 0, 0, -1, -1], {"x0": [["a"], ["b"], ["c"]]}, unlabelled=-1)
    assert only(model).unlabelled.tolist() == [0, 0, 2]
    found = optimize(list("aabbcc") * 9, [1, 1, 0, 0, -1, -1] * 9, unlabelled=-1, min_rows=18)
    assert found.proven
    assert only(found).rows.sum() == 54


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"unlabelled": None}, "unlabelled: must be there, as the problem is 'semi'"),
        ({"unlabelled": [1]}, "unlabelled: must be 2 numbers of rows"),
        ({"unlabelled": [-1, 3]}, "unlabelled"),
        ({"unlabelled": [1, 2]}, "must sum to n_rows, 20"),
        ({"unlabelled": "2"}, "unlabelled: must be a list"),
    ],
)
def test_a_file_that_says_otherwise_is_refused(change, words):
    import json

    record = json.loads(optimize(X * 2, Y * 2, unlabelled=-1).to_json())
    record["partitions"][0] |= change
    with pytest.raises(gridmodl.ModelFileError, match=words):
        Model.from_json(json.dumps(record))
    record["partitions"][0].pop("unlabelled")
    with pytest.raises(gridmodl.ModelFileError, match="must be there, as the problem is 'semi'"):
        Model.from_json(json.dumps(record))


# Bounds at medians.


def median_by_hand(x, y, weights, low, high, middle):
    rows = np.repeat(x[(y < 0) & (x > low) & (x < high)], weights[(y < 0) & (x > low) & (x < high)])
    return float(np.median(rows)) if len(rows) else middle


@pytest.mark.parametrize("seed", range(6))
def test_bounds_go_to_the_median_of_the_unlabelled_rows_between_labelled_ones(seed):
    rng = np.random.default_rng(seed)
    x, y = draw(400, [0.1, 0.5, 0.95][seed % 3], seed)
    x = np.round(x, 2) if seed % 2 else x
    weights = rng.integers(1, 4, 400)
    model = optimize(x, y, weights=weights, unlabelled=-1, placement="median")
    supervised = optimize(x[y >= 0], y[y >= 0], weights=weights[y >= 0])
    assert (model.cost, model.null_cost, model.proven) == (supervised.cost, supervised.null_cost, supervised.proven)
    assert (model.problem, model.n_rows) == ("classes", int(weights.sum()))
    assert only(model).counts.tolist() == only(supervised).counts.tolist()
    labelled = np.unique(x[y >= 0])
    for bound, middle in zip(only(model).bounds, only(supervised).bounds, strict=True):
        above = np.searchsorted(labelled, middle)
        expected = median_by_hand(x, y, weights, labelled[above - 1], labelled[above], middle)
        assert bound == pytest.approx(expected, rel=1e-15)
        assert labelled[above - 1] <= bound < labelled[above]
    parts = only(model).part_of(x)
    assert np.bincount(parts[y < 0], weights[y < 0], only(model).n_parts).tolist() == only(model).unlabelled.tolist()
    assert np.all(np.diff(only(model).bounds) > 0)
    again = Model.from_json(model.to_json())
    assert again.to_json() == model.to_json()
    other = model.edit("x0", bounds=[0.5])
    assert only(other).unlabelled.sum() == weights[y < 0].sum()
    assert other.n_rows == model.n_rows


def test_any_criterion_and_monotone_shares_can_be_placed():
    x, y = draw(500, 0.4, n_steps=2)
    for options in ({"criterion": "mdlp"}, {"criterion": "bic"}, {"monotone": "increasing"}, {"min_rows": 20}):
        placed = optimize(x, y, unlabelled=-1, placement="median", **options)
        assert placed.cost == optimize(x[y >= 0], y[y >= 0], **options).cost
        assert only(placed).unlabelled.sum() == np.count_nonzero(y < 0)


def test_dates_missing_values_and_special_codes_are_placed():
    days = np.datetime64("2024-01-01") + np.arange(30)
    y = np.repeat([0, -1, 1], [10, 11, 9])
    model = optimize(days, y, unlabelled=-1, placement="median")
    assert only(model).bounds.tolist() == [days[15].astype(object)]
    x = np.concatenate([np.arange(30.0), [np.nan] * 4, [12.5] * 7])
    y = np.concatenate([y, [0, 0, -1, -1], [1, 1, 1, -1, -1, -1, -1]])
    model = optimize(x, y, unlabelled=-1, placement="median", special={"x0": [12.5]})
    assert only(model).bounds.tolist() == [15.0]
    assert only(model).unlabelled.tolist()[-1] == 4
    assert only(model).unlabelled.sum() == 17
    integers = optimize(np.arange(30), np.repeat([0, -1, 1], [10, 10, 10]), unlabelled=-1, placement="median")
    assert only(integers).bounds.tolist() == [14.5]


def test_values_that_only_unlabelled_rows_have_are_a_part_of_no_known_class():
    towns = ["a", "a", "a", "b", "b", "b", "c"] * 4
    model = optimize(towns, [0, 0, 0, 1, 1, 1, -1] * 4, unlabelled=-1, placement="median")
    assert only(model).groups == (("a",), ("b",), ("c",))
    assert only(model).unlabelled.tolist() == [0, 0, 4]
    assert only(model).counts[2].tolist() == [0, 0]


# The posterior of a bound.


def averaged(labelled, rows):
    """Minus log of the likelihood of the labels of an interval, averaged over the rows of each class."""
    n_classes, free = len(labelled), rows - sum(labelled)
    falling = lambda n, k: math.prod(range(n - k + 1, n + 1))  # noqa: E731
    total, n_ways = 0.0, 0
    for cuts in itertools.combinations(range(rows + n_classes - 1), n_classes - 1):
        counts = [high - low - 1 for low, high in itertools.pairwise((-1, *cuts, rows + n_classes - 1))]
        n_ways += 1
        if all(n >= n_l for n, n_l in zip(counts, labelled, strict=True)):
            total += math.prod(falling(n, n_l) for n, n_l in zip(counts, labelled, strict=True))
    assert free >= 0
    return -math.log(total / falling(rows, sum(labelled)) / n_ways)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_the_closed_form_is_the_average_over_all_completions(n_classes):
    rng = np.random.default_rng(n_classes)
    for _ in range(12):
        n = int(rng.integers(2, 11))
        x, y = rng.integers(0, 7, n).astype(float), rng.integers(-1, n_classes, n)
        y[0] = 0
        found = bound_posterior(x, y, unlabelled=-1)
        classes = sorted(set(y[y >= 0].tolist()))
        expected = []
        for bound in found.bounds:
            sides = [y[x <= bound], y[x > bound]]
            expected.append(sum(averaged([int(np.sum(s == c)) for c in classes], len(s)) for s in sides))
        assert found.minus_log == pytest.approx(expected, abs=1e-9)
        assert found.one_part == pytest.approx(averaged([int(np.sum(y == c)) for c in classes], n), abs=1e-9)
        weights = np.exp(-np.array(expected))
        assert found.posterior == pytest.approx(weights / weights.sum(), rel=1e-9)


def test_three_areas():
    """Bondu, Boullé and Lemaire, Figure 3: 40 rows of one class, 20 unlabelled, 40 of the other."""
    found = bound_posterior(np.arange(100.0), np.repeat(["a", "?", "b"], [40, 20, 40]), unlabelled="?")
    assert len(found.bounds) == 99
    assert found.bounds[:2].tolist() == [0.5, 1.5]
    assert found.one_part == pytest.approx(57.43, abs=0.005)
    flat = found.minus_log[39:60]  # 40 to 60 rows below the bound
    assert np.all(flat == flat[0])
    assert flat[0] == pytest.approx(7.427144, abs=5e-7)
    assert np.all(np.diff(found.minus_log[:40]) < 0)
    assert np.all(np.diff(found.minus_log[59:]) > 0)
    assert found.posterior.sum() == pytest.approx(1.0)


def test_the_posterior_takes_weights_dates_and_columns_by_name():
    days = np.datetime64("2024-01-01") + np.arange(6)
    frame = pd.DataFrame({"day": days, "y": [0, 0, None, None, 1, 1], "w": [3, 0, 2, 1, 1, 2]})
    found = bound_posterior(frame, "y", unlabelled=None, weights="w")
    plain = bound_posterior(
        np.repeat(np.arange(6.0), frame["w"]), np.repeat([0, 0, -1, -1, 1, 1], frame["w"]), unlabelled=-1
    )
    assert found.bounds.dtype.kind == "M"
    assert found.minus_log.tolist() == plain.minus_log.tolist()
    assert len(bound_posterior([1.0, 1.0], [0, 1]).bounds) == 0
    assert bound_posterior(X, [0] * 10).posterior == pytest.approx([1 / 9] * 9, rel=0.9)


def exact_price(labelled):
    """log (n+J-1)! - log (J-1)! - sum_j log n_j! with 60 digits."""

    def log_factorial(n):
        n = Decimal(n)
        if n < 200:
            return Decimal(math.factorial(int(n))).ln()
        half_log_two_pi = Decimal("0.918938533204672741780329736405617639861397")
        return (n + Decimal("0.5")) * n.ln() - n + half_log_two_pi + 1 / (12 * n) - 1 / (360 * n**3) + 1 / (1260 * n**5)

    with localcontext(prec=60):
        n, k = sum(labelled), len(labelled) - 1
        return log_factorial(n + k) - log_factorial(k) - sum(log_factorial(n_j) for n_j in labelled)


@pytest.mark.parametrize("most", [3, 100, 10**4, 10**9, 10**14])
@pytest.mark.parametrize("n_classes", [1, 2, 5, 40])
def test_the_posterior_keeps_its_digits_whatever_the_weights(n_classes, most):
    rng = np.random.default_rng([n_classes, most])
    y = np.append(np.arange(n_classes), rng.integers(-1, n_classes, 20))
    weights = np.maximum(1, (float(most) ** rng.random(len(y))).astype(np.int64))
    found = bound_posterior(np.arange(len(y)), y, unlabelled=-1, weights=weights)
    rows = np.array([[int(w) * (c == j) for j in range(n_classes)] for c, w in zip(y, weights, strict=True)])
    expected = [
        exact_price(rows[:i].sum(axis=0).tolist()) + exact_price(rows[i:].sum(axis=0).tolist())
        for i in range(1, len(y) + 1)
    ]
    assert [*found.minus_log, found.one_part] == pytest.approx([float(e) for e in expected], rel=1e-14, abs=1e-14)


def test_few_rows_beside_many_are_told_apart():
    """Two rows between 1e14 of either class: factorials of that many rows have no digits after the point."""
    n = 10**14
    found = bound_posterior([1, 2, 3, 4], [0, 1, 0, 1], weights=[n, 1, 1, n])
    sides = math.log(n + 1) + math.log(n + 3) + math.log(n + 2)
    assert found.minus_log == pytest.approx([sides, 4 * math.log(n + 1), sides], rel=1e-14)
    assert found.posterior == pytest.approx([0.5, 0.0, 0.5], abs=1e-12)


# Pricing again.


@pytest.mark.parametrize(
    ("column", "options"),
    [
        (lambda rng: rng.random(400), {}),
        (lambda rng: rng.random(400), {"criterion": "bic"}),
        (lambda rng: rng.random(400), {"weights": np.arange(400) % 4}),
        (lambda rng: np.where(rng.random(400) < 0.2, np.nan, rng.random(400)), {}),
        (lambda rng: np.where(rng.random(400) < 0.2, -9.0, rng.random(400)), {"special": {"x": [-9]}}),
        (lambda rng: np.array(list("abcdefgh"))[rng.integers(0, 8, 400)], {}),
    ],
    ids=["plain", "bic", "weights", "missing", "special", "text"],
)
def test_a_placed_model_costs_what_its_labelled_rows_do(column, options):
    rng = np.random.default_rng(11)
    x = column(rng)
    steps = np.argsort(np.argsort(x)) * 4 // 400 % 2
    y = np.where(rng.random(400) < 0.3, steps, -1)
    model = optimize({"x": x}, y, unlabelled=-1, placement="median", **options)
    assert only(model).n_parts > 1
    kept = y >= 0
    options = {name: given[kept] if name == "weights" else given for name, given in options.items()}
    assert price({"x": x[kept]}, y[kept], model.partitions, **options) == pytest.approx(model.cost, rel=1e-12)
    same = Model.from_partitions({"x": x[kept]}, y[kept], model.partitions, **options)
    assert only(same).counts.tolist() == only(model).counts.tolist()
    assert same.null_cost == pytest.approx(model.null_cost, rel=1e-12)
    assert same.problem == model.problem == "classes"
