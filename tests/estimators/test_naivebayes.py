"""Naive Bayes over parts: its estimates and its weights by hand, and as scikit-learn and its users meet it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from gridmodl import average, optimize_each
from gridmodl.codelength import log_factorial, log_groupings
from gridmodl.estimators.naivebayes import GridNaiveBayes
from gridmodl.evidence.prices import preparation_cost
from gridmodl.evidence.selection import (
    EXPONENT,
    PRIOR_WEIGHT,
    Selection,
    distinct_rows,
    make_evidence,
    make_selection,
    selective_weights,
)

KINDS: list[dict[str, Any]] = [{}, {"weights": "selective"}, {"target_kind": "grouped"}]
BOTH: dict[str, Any] = {"target_kind": "grouped", "weights": "selective"}
IDS = ["uniform", "selective", "grouped"]
PARTS: dict[str, Any] = {"averaged": False}


class OfNumbers(GridNaiveBayes):
    """Scikit-learn rounds the data of its checks for estimators that take categories; here it does not."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        return tags


@parametrize_with_checks([kind(**arguments) for kind in (GridNaiveBayes, OfNumbers) for arguments in KINDS])
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def make_data(n: int = 240, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    y = np.where(size + 0.5 * rng.normal(size=n) > 0, "yes", "no")
    colour = np.array(["red", "green", "blue", "black"])[np.digitize(size, [-1, 0, 1])].astype(object)
    colour[::7] = None
    data = pd.DataFrame(
        {
            "size": size,
            "colour": colour,
            "date": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.round(100 * rng.normal(size=n)), unit="D"),
            "flag": size + rng.normal(size=n) > 0.3,
            "same": 1.0,
            "nothing": np.nan,
        }
    )
    data.loc[::9, "date"] = pd.NaT
    data.loc[::5, "size"] = np.nan
    return data, y


DATA, Y = make_data()
THREE = np.array(["low", "mid", "top"])[np.digitize(DATA["size"].fillna(0.0), [-0.5, 0.5])]


def make_many_classes(n: int, n_classes: int) -> tuple[Any, Any]:
    """Columns that each tell some groups of classes apart; other rows for another `n`."""
    rng = np.random.default_rng(n)
    y = rng.integers(0, n_classes, n)
    columns = {f"x{k}": (y // 2**k % 2) + 0.3 * rng.normal(size=n) for k in range(2)}
    return pd.DataFrame({**columns, "word": np.array(["a", "b", "c"])[y % 3], "noise": rng.normal(size=n)}), y


# Probabilities by hand


def group_of(model: Any, label: Any) -> set[Any]:
    """The classes that are told from others together with this one."""
    if model.target is None:
        return {label}
    return next(set(group) for group in model.target.groups if label in group)


def probabilities_by_hand(classifier: Any, X: Any, y: Any, row: int) -> list[float]:
    """Of the classes in one row of the training data: the formulas of the notes, row by row."""
    n, labels = len(y), sorted(set(y.tolist()))
    logs = []
    for label in labels:
        share = sum(other == label for other in y) / n
        log = math.log(share)
        for (name, model), weight in zip(classifier.models_.items(), classifier.weights_, strict=True):
            if model.partitions[name].n_parts == 1:
                continue
            parts, group = model.transform(X[name]).tolist(), group_of(model, label)
            mine = [other for part, other in zip(parts, y.tolist(), strict=True) if part == parts[row]]
            if model.target is None:
                log += weight * math.log((mine.count(label) + len(labels) * share) / (len(mine) + len(labels)) / share)
                continue
            support = sum(other in group for other in mine)
            coverage = sum(other in group for other in y.tolist())
            m, p = len(labels) / n, 1.0 / len(labels)
            log += weight * math.log((support + m * p) / (coverage + m))
        logs.append(log)
    total = math.fsum(math.exp(log) for log in logs)
    return [math.exp(log) / total for log in logs]


@pytest.mark.parametrize("arguments", [*KINDS, BOTH], ids=[*IDS, "both"])
@pytest.mark.parametrize("y", [Y, THREE], ids=["two classes", "three classes"])
def test_probabilities_by_hand(arguments: dict[str, Any], y: Any) -> None:
    classifier = GridNaiveBayes(**arguments, **PARTS).fit(DATA, y)
    shares = classifier.predict_proba(DATA)
    for row in range(0, len(DATA), 37):
        np.testing.assert_allclose(shares[row], probabilities_by_hand(classifier, DATA, y, row), rtol=1e-10)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(classifier.predict_log_proba(DATA)), shares)
    np.testing.assert_array_equal(classifier.predict(DATA), classifier.classes_[shares.argmax(axis=1)])


def test_probabilities_by_hand_of_many_classes_in_groups() -> None:
    X, y = make_many_classes(600, 60)
    classifier = GridNaiveBayes(target_kind="grouped").fit(X, y)
    assert {model.target.n_parts for model in classifier.models_.values()} == {1, 2, 3}
    shares = classifier.predict_proba(X)
    for row in (0, 300, 599):
        np.testing.assert_allclose(shares[row], probabilities_by_hand(classifier, X, y, row), rtol=1e-10)


def test_averages_multiply_if_all_classes_have_the_same_share() -> None:
    """Then the smoothing is that of `average`."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 50)
    X = pd.DataFrame({"a": y + rng.normal(size=150), "b": np.round(y % 2 + rng.normal(size=150), 1)})
    classifier = GridNaiveBayes().fit(X, y)
    product = math.prod(average(X[[name]], y).predict_proba(X[name]) for name in X)
    np.testing.assert_allclose(classifier.predict_proba(X), product / product.sum(axis=1, keepdims=True), rtol=1e-9)
    assert [type(source).__name__ for source in classifier.evidence_.sources] == ["CurveSource"] * 2


def test_which_columns_are_averaged() -> None:
    def averaged(**arguments: Any) -> set[Any]:
        sources = GridNaiveBayes(**arguments).fit(DATA, Y).evidence_.sources
        return {source.name for source in sources if type(source).__name__ == "CurveSource"}

    assert averaged() == averaged(averaged=True) == {"size"}  # date says nothing
    assert averaged(averaged=False) == averaged(criterion="gini") == averaged(target_kind="grouped") == set()
    assert averaged(monotone="increasing") == averaged(min_rows=10) == averaged(missing={"size": "apart"}) == set()
    assert averaged(partitions={"size": [0.0]}) == averaged(fixed={"size": [0.0]}) == set()
    assert averaged(min_rows={"colour": 10}, max_parts=3, special={"size": [0.5]}) == {"size"}
    assert averaged(kinds={"flag": "numerical"}) == {"size", "flag"}
    for arguments, message in (
        ({"criterion": "gini"}, "averaged=True: criterion 'gini' cannot be averaged"),
        ({"monotone": {"size": "increasing"}}, "averaged=True, and column 'size' has monotone"),
        ({"target_kind": "grouped"}, "averaged=True is not for target_kind='grouped'"),
        ({"missing": "apart"}, "has missing='apart'"),
    ):
        with pytest.raises(ValueError, match=message):
            averaged(averaged=True, **arguments)
    with pytest.raises(ValueError, match="averaged must be 'auto', True or False, got 'never'"):
        averaged(averaged="never")


def test_rare_classes_do_not_win_by_smoothing() -> None:
    """With (n + 1) / (n + J) each of many columns would speak for a class that it hardly saw."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [480, 480, 8])
    X = pd.DataFrame({f"c{k}": np.where(rng.random(len(y)) < 0.6, y, rng.integers(0, 3, len(y))) for k in range(25)})
    for averaged in (True, False):
        predicted = GridNaiveBayes(averaged=averaged).fit(X.astype(float if averaged else str), y)
        assert np.mean(predicted.predict(X.astype(float if averaged else str)) == 2) < 0.02


def test_hundreds_of_classes() -> None:
    (X, y), (new, truth) = make_many_classes(1500, 150), make_many_classes(500, 150)
    plain, grouped = (GridNaiveBayes(target_kind=kind).fit(X, y) for kind in (None, "grouped"))
    assert len(grouped.classes_) == grouped.evidence_.sources[0].evidence.shape[1] == 150

    def loss(classifier: Any) -> float:
        return float(-classifier.predict_log_proba(new)[np.arange(500), truth].mean())

    assert loss(grouped) < math.log(150) - 1.5
    assert loss(grouped) < loss(plain) - 0.1
    np.testing.assert_array_equal(grouped.predict(new), grouped.classes_[grouped.predict_proba(new).argmax(axis=1)])


def test_more_rows_than_fit_the_cache_at_once() -> None:
    classifier = GridNaiveBayes().fit(DATA, THREE)
    many = pd.concat([DATA] * 30, ignore_index=True)
    np.testing.assert_array_equal(classifier.predict_proba(many), np.tile(classifier.predict_proba(DATA), (30, 1)))
    np.testing.assert_array_equal(classifier.predict(many), np.tile(classifier.predict(DATA), 30))


@pytest.mark.parametrize(("load", "least"), [(load_iris, 0.9), (load_wine, 0.94), (load_breast_cancer, 0.91)])
@pytest.mark.parametrize("target_kind", [None, "grouped"])
def test_it_predicts_well(load: Any, least: float, target_kind: str | None) -> None:
    X, y = load(return_X_y=True)
    assert cross_val_score(GridNaiveBayes(search="merge", target_kind=target_kind), X, y, cv=5).mean() > least


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_selective_weights_tell_most_of_the_classes_of_new_rows(load: Any) -> None:
    """They minimise a code length, and few columns need not predict as well as all: so it is the code that is short."""
    X, y = load(return_X_y=True)
    classifier = GridNaiveBayes(search="merge", weights="selective")
    logs = cross_val_predict(classifier, X, y, cv=5, method="predict_log_proba")
    shares = np.bincount(y) / len(y)
    assert -logs[np.arange(len(y)), y].mean() < 0.5 * -np.sum(shares * np.log(shares))


# Weights of columns


@pytest.mark.parametrize("target_kind", ["classes", "grouped"])
def test_preparation_cost_is_what_modl_asks_before_the_classes_are_told(target_kind: str) -> None:
    for name, model in optimize_each(DATA, THREE, target_kind=target_kind).items():
        counts: Mapping[tuple[Any, Any], int] = {}
        codes = {label: min(group_of(model, label)) for label in set(THREE)}
        pairs = list(zip(model.transform(DATA[name]).tolist(), (codes[label] for label in THREE), strict=True))
        counts = {pair: pairs.count(pair) for pair in pairs}
        rows = {part: sum(n for pair, n in counts.items() if pair[0] == part) for part, _ in pairs}
        told = sum(log_factorial(n) for n in rows.values()) - sum(log_factorial(n) for n in counts.values())
        if target_kind == "grouped":
            told += sum(log_factorial(n) for n in model.target.rows.tolist())
            told -= sum(log_factorial(n) for n in model.class_rows.tolist())
        assert preparation_cost(model) == pytest.approx(model.cost - told, rel=1e-12)


def test_preparation_cost_is_that_of_modl_whichever_criterion_the_partition_is_by() -> None:
    special = {"size": [-9.0, -8.0]}  # -8 has no rows
    data = DATA.assign(size=DATA["size"].where(DATA.index % 8 > 0, -9.0))
    for name, model in optimize_each(data, THREE, criterion="gini", special=special).items():
        partition, n, n_classes = model.partitions[name], len(data), 3
        rows = [rows for rows in partition.rows.tolist() if rows]
        if partition.kind == "numerical":
            by_hand = math.log(n) + math.log(math.comb(n + len(rows) - 1, len(rows) - 1))
        else:
            n_values = sum(map(len, partition.groups))
            by_hand = math.log(n_values) + log_groupings(n_values)[len(rows)]
        by_hand += sum(math.log(math.comb(n_part + n_classes - 1, n_classes - 1)) for n_part in rows)
        assert preparation_cost(model) == pytest.approx(by_hand, rel=1e-12)


def make_selection_of(
    parts: list[Any], y: Any, prices: Any, row_weights: Any = None, smooth: float = 0.01
) -> tuple[Selection, list[Any], Any]:
    """A selection over given parts, with the logs of shares and of class shares that it is made of."""
    row_weights = np.ones(len(y), dtype=np.int64) if row_weights is None else row_weights
    n_classes = int(y.max()) + 1
    class_rows = np.bincount(y, row_weights, n_classes).astype(np.int64)
    tables, observed = [], []
    for part in parts:
        counts = np.zeros((int(part.max()) + 1, n_classes))
        np.add.at(counts, (part, y), row_weights)
        tables.append(np.log((counts + smooth) / (class_rows + 2 * smooth)))
        observed.append(np.sum(counts * tables[-1]))
    shares = class_rows / class_rows.sum()
    evidence = make_evidence(shares, tables)
    selection = make_selection(evidence, parts, row_weights, class_rows, np.array(observed), np.array(prices))
    return selection, tables, shares


def cost_by_hand(
    weights: Any, parts: list[Any], y: Any, prices: Any, row_weights: Any, tables: Any, shares: Any
) -> float:
    """Row by row, as the formula stands."""
    cost = PRIOR_WEIGHT * sum(price * weight**EXPONENT for price, weight in zip(prices, weights, strict=True))
    for i in range(len(y)):
        products = []
        for j in range(len(shares)):
            product = shares[j]
            for k in range(len(parts)):
                product *= math.exp(tables[k][parts[k][i], j]) ** weights[k]
            products.append(product)
        cost -= row_weights[i] * math.log(products[y[i]] / sum(products))
    return cost


def make_parts(n: int, n_columns: int, n_classes: int, seed: int) -> tuple[list[Any], Any]:
    """Columns that depend on the class and on one another."""
    rng = np.random.default_rng(seed)
    y, hidden = rng.integers(0, n_classes, n), rng.integers(0, 3, n)
    parts = []
    for k in range(n_columns):
        informed = rng.random(n) < rng.uniform(0.1, 0.6)
        parts.append(np.where(informed, (y + (k % 2) * hidden) % 3, np.where(rng.random(n) < 0.5, hidden, 0)))
    return parts, y


@pytest.mark.parametrize("n_classes", [1, 2, 3, 7])
def test_cost_of_weights_by_hand(n_classes: int) -> None:
    parts, y = make_parts(80, 3, n_classes, seed=n_classes)
    rng = np.random.default_rng(0)
    row_weights, prices = rng.integers(1, 4, len(y)), [3.0, 10.0, 20.0]
    selection, tables, shares = make_selection_of(parts, y, prices, row_weights)
    for weights in ([0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.3, 0.0, 0.9], *rng.random((3, 3))):
        by_hand = cost_by_hand(weights, parts, y, prices, row_weights, tables, shares)
        assert selection.cost(np.array(weights)) == pytest.approx(by_hand, rel=1e-12)


def test_slopes_and_costs_without_a_column() -> None:
    parts, y = make_parts(200, 4, 3, seed=3)
    selection, _, _ = make_selection_of(parts, y, [5.0, 6.0, 7.0, 8.0])
    weights, step = np.array([0.4, 0.0, 0.9, 0.2]), 1e-6
    _, slopes = selection.slopes(weights, selection.columns)
    for k in range(4):
        shift = step * np.eye(4)[k]
        (above, _), (below, _) = (selection.slopes(weights + sign * shift, selection.columns) for sign in (1, -1))
        assert slopes[k] == pytest.approx((above - below) / (2 * step), rel=1e-5)
    used = np.flatnonzero(weights)
    costs = [selection.cost(np.where(np.arange(4) == k, 0.0, weights)) for k in used]
    np.testing.assert_allclose(selection.without(weights, used), costs, rtol=1e-12)


def relaxed_minimum(selection: Selection) -> float:
    """The minimum with exponent 1, a convex problem: below that of the cost, as w <= w ** EXPONENT."""

    def cost_and_slopes(weights: Any) -> tuple[float, Any]:
        loss, slopes = selection.slopes(weights, selection.columns)
        return loss + float(selection.prices @ weights), slopes + selection.prices

    n = len(selection.prices)
    options = {"ftol": 1e-14, "gtol": 1e-9, "maxiter": 5000}
    return float(
        minimize(
            cost_and_slopes, np.full(n, 0.5), jac=True, bounds=[(0, 1)] * n, method="L-BFGS-B", options=options
        ).fun
    )


@pytest.mark.parametrize(("n_columns", "n_steps"), [(2, 100), (3, 25)])
@pytest.mark.parametrize("seed", range(6))
def test_weights_beside_all_of_a_fine_grid(n_columns: int, n_steps: int, seed: int) -> None:
    parts, y = make_parts(60 + 40 * seed, n_columns, 2 + seed % 2, seed)
    selection, _, _ = make_selection_of(parts, y, np.linspace(4.0, 20.0 + 10 * seed, n_columns))
    found = selective_weights(selection)
    steps = np.linspace(0.0, 1.0, n_steps + 1)
    lowest = min(selection.cost(np.array(weights)) for weights in itertools.product(steps, repeat=n_columns))
    assert selection.cost(found) <= lowest * (1 + 1e-7)
    assert selection.cost(found) >= relaxed_minimum(selection) - 1e-6


@pytest.mark.parametrize("seed", range(10))
def test_weights_cost_no_more_than_none_one_or_all_and_little_more_than_the_floor(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_columns = 12
    parts, y = make_parts(150, n_columns, int(rng.integers(2, 5)), seed)
    selection, _, _ = make_selection_of(parts, y, rng.uniform(1.0, 60.0, n_columns))
    found = selective_weights(selection)
    cost = selection.cost(found)
    assert np.all((found >= 0.0) & (found <= 1.0))
    for rival in (np.zeros(n_columns), np.ones(n_columns), *np.eye(n_columns)):
        assert cost <= selection.cost(rival)
    # w ** 0.95 - w is 0.0189 at most.
    floor = relaxed_minimum(selection)
    assert floor - 1e-6 <= cost <= floor + 0.02 * selection.prices.sum() + 1e-6


def test_rivals_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the way from no column leads nowhere, that from one or all is taken."""
    from gridmodl.evidence import selection as searches

    parts, y = make_parts(300, 3, 2, seed=0)
    selection, _, _ = make_selection_of(parts, y, [1.0, 1.0, 1.0])
    right = selective_weights(selection)
    monkeypatch.setattr(searches, "_entered", lambda *_: None)
    found = selective_weights(selection)
    assert found.any()
    assert selection.cost(right) <= selection.cost(found) < selection.cost(np.zeros(3))


def test_distinct_rows_of_more_combinations_than_a_number_can_tell() -> None:
    rng = np.random.default_rng(0)
    parts = list(rng.integers(0, 7, (60, 50)))  # 7 ** 60 combinations
    parts = [np.concatenate([part, part[:20]]) for part in parts]
    distinct, rows = distinct_rows(parts, [7] * 60, None)
    assert sorted(rows.tolist()) == [1.0] * 30 + [2.0] * 20
    assert {*zip(*distinct, strict=True)} == {*zip(*parts, strict=True)}
    _, weighted = distinct_rows(parts, [7] * 60, np.full(70, 3))
    np.testing.assert_array_equal(weighted, 3 * rows)


def test_of_columns_that_say_the_same_one_is_in_use() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    told, other = y + 0.7 * rng.normal(size=400), y + rng.normal(size=400)
    X = pd.DataFrame({"other": other, "told": told, "again": told, "reversed": -told, "noise": rng.normal(size=400)})
    classifier = GridNaiveBayes(weights="selective").fit(X, y)
    used = dict(zip(X.columns, classifier.weights_ > 0, strict=True))
    assert used["other"]
    assert used["told"] + used["again"] + used["reversed"] == 1
    assert not used["noise"]
    assert {source.name for source in classifier.evidence_.sources} == {name for name in X.columns if used[name]}


def test_a_copy_is_in_use_only_beside_full_weight() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 3000)
    parts = [np.where(rng.random(3000) < 0.15, y, rng.integers(0, 2, 3000)) for _ in range(15)]
    selection, _, _ = make_selection_of([*parts, *parts], y, [10.0] * 30)
    found = selective_weights(selection)
    assert np.count_nonzero(found[:15]) == 15  # so many that several enter at once
    assert np.all(found[:15][found[15:] > 0.0] == 1.0)
    assert np.count_nonzero(found[15:]) < 5


@pytest.mark.parametrize("arguments", [*KINDS, BOTH], ids=[*IDS, "both"])
def test_the_order_of_rows_and_columns_does_not_matter(arguments: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(load_wine().data[:, :6]).add_prefix("c")
    y = load_wine().target
    classifier = GridNaiveBayes(**arguments).fit(X, y)
    order, columns = rng.permutation(len(X)), X.columns[::-1]
    again = clone(classifier).fit(X.iloc[order][columns], y[order])
    np.testing.assert_array_equal(again.weights_[::-1], classifier.weights_)
    np.testing.assert_allclose(again.predict_proba(X[columns]), classifier.predict_proba(X), rtol=1e-9)


def test_weights_are_those_of_the_criterion_of_the_file() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    classifier = GridNaiveBayes(weights="selective", search="merge").fit(X, y)
    fitted = clone(classifier).set_params(weights="uniform").fit(X, y)
    evidence = fitted.evidence_

    def cost(weights: Any) -> float:
        of_sources = np.array([[weights[int(source.name[1:])]] for source in evidence.sources])
        fitted.evidence_ = replace(evidence, weights=of_sources)
        loss = -fitted.predict_log_proba(X)[np.arange(len(y)), y].sum()
        prices = [math.log(X.shape[1]) + preparation_cost(model) for model in fitted.models_.values()]
        return float(loss + 0.1 * np.sum(np.array(prices) * weights**0.95))

    best = cost(classifier.weights_)
    assert 0 < (classifier.weights_ > 0).sum() < X.shape[1] / 2
    rng = np.random.default_rng(0)
    used = classifier.weights_ > 0
    for _ in range(20):
        near = np.clip(classifier.weights_ + 0.05 * rng.normal(size=len(used)) * used, 0.0, 1.0)
        assert best <= cost(near)


# Values that `fit` did not see, columns that say nothing


def test_unknown_categories() -> None:
    X = pd.DataFrame({"colour": ["red", "blue", "green", "grey"] * 20, "size": [1.0, 2.0] * 40})
    y = ["no", "yes", "yes", "yes"] * 20
    new = pd.DataFrame({"colour": ["red", "white", None, "blue"], "size": [1.0] * 4})

    def shares(unknown: Any) -> Any:
        return GridNaiveBayes(unknown=unknown).fit(X[["colour"]], y).predict_proba(new[["colour"]])[:, 1]

    red, white, missing, blue = shares("largest")
    assert red < 0.1 < missing < 0.9 < white == blue
    np.testing.assert_allclose(shares("neutral"), [red, 0.75, 0.75, blue])
    with pytest.raises(ValueError, match="'colour' holds 1 value that the training data did not have"):
        shares("error")


def test_missing_values_at_predict_only() -> None:
    classifier = GridNaiveBayes(unknown="error").fit([[1.0], [2.0]] * 20 + [[2.0]], [0, 1] * 20 + [1])
    found = classifier.predict_proba([[np.nan], [9.0], [-9.0]])
    np.testing.assert_allclose(found[0], [20 / 41, 21 / 41])
    assert found[1, 1] > 0.9 > 0.1 > found[2, 1]
    with pytest.raises(ValueError, match="column 'x0' holds 1 missing value, and the training data had none"):
        classifier.set_params(new_missing="error").predict([[np.nan]])


@pytest.mark.parametrize("arguments", [*KINDS, BOTH], ids=[*IDS, "both"])
def test_columns_that_say_nothing(arguments: dict[str, Any]) -> None:
    X = np.column_stack([np.ones(60), np.full(60, np.nan), np.arange(60) % 2])
    y = np.repeat(["b", "a", "b"], 20)
    classifier = GridNaiveBayes(**arguments).fit(X, y)
    assert classifier.evidence_.sources == ()
    assert not classifier.weights_.any()
    assert classifier.predict(X).tolist() == ["b"] * 60
    np.testing.assert_allclose(classifier.predict_proba(X), [[1 / 3, 2 / 3]] * 60)


@pytest.mark.parametrize("arguments", [*KINDS, BOTH], ids=[*IDS, "both"])
def test_one_class(arguments: dict[str, Any]) -> None:
    classifier = GridNaiveBayes(**arguments).fit(DATA, ["a"] * len(DATA))
    assert set(classifier.predict(DATA)) == {"a"}
    np.testing.assert_array_equal(classifier.predict_proba(DATA), 1.0)


def test_a_special_code_without_rows_says_nothing() -> None:
    X = np.r_[np.zeros(50), np.ones(30), np.full(9, -999.0)][:, None]
    y = np.r_[np.zeros(50), np.ones(30), np.ones(9)].astype(int)
    for weights in ("uniform", "selective"):
        classifier = GridNaiveBayes(special={"x0": [-999, -1]}, weights=weights).fit(X, y)
        shares = classifier.predict_proba([[0.0], [1.0], [-999.0], [-1.0]])
        assert shares[0, 0] > 0.8
        assert shares[2, 1] > 0.8
        np.testing.assert_allclose(shares[3], classifier.class_shares_)


# Weights of rows


@pytest.mark.parametrize("arguments", [*KINDS, BOTH], ids=[*IDS, "both"])
def test_a_weight_is_a_number_of_rows(arguments: dict[str, Any]) -> None:
    weights = np.random.default_rng(1).integers(0, 4, len(DATA))
    repeated = np.repeat(np.arange(len(DATA)), weights)
    weighted = GridNaiveBayes(**arguments).fit(DATA, THREE, sample_weight=weights)
    several = GridNaiveBayes(**arguments).fit(DATA.iloc[repeated], THREE[repeated])
    np.testing.assert_allclose(weighted.predict_proba(DATA), several.predict_proba(DATA), rtol=1e-12)
    np.testing.assert_array_equal(weighted.weights_, several.weights_)


def test_classes_of_rows_without_weight_are_none() -> None:
    classifier = GridNaiveBayes(weights="selective").fit(DATA, THREE, sample_weight=(THREE != "top").astype(int))
    assert classifier.classes_.tolist() == ["low", "mid"]


# Data, classes and parameters of all kinds


def test_classes_keep_their_type() -> None:
    for y in (Y, Y.astype(object), Y == "yes", np.where(Y == "yes", 7, 3), np.where(Y == "yes", 1.0, 2.0), Y.tolist()):
        predicted = GridNaiveBayes().fit(DATA, y).predict(DATA)
        assert predicted.dtype.kind == np.asarray(y).dtype.kind
        assert np.mean(predicted == np.asarray(y)) > 0.75


def test_arrays_of_objects_and_lists_of_rows() -> None:
    rows = [[1, "a", None], [2, "b", "c"], [3, "a", "c"], [4, "b", None]] * 10
    y = ["no", "yes"] * 20
    for X in (rows, np.array(rows, dtype=object)):
        assert GridNaiveBayes().fit(X, y).predict(X).tolist() == y


def test_criteria_and_their_options() -> None:
    fitted = [
        GridNaiveBayes(criterion="entropy", criterion_options=options, weights="selective").fit(DATA, Y)
        for options in ({"alpha": 0.9}, None)
    ]
    assert fitted[0].models_["size"].options["alpha"] == 0.9
    assert fitted[0].models_["size"].cost != fitted[1].models_["size"].cost
    assert all(np.mean(classifier.predict(DATA) == Y) > 0.75 for classifier in fitted)


def test_arguments_reach_the_search() -> None:
    classifier = GridNaiveBayes(max_parts=2, min_rows=0.2, special={"size": [0.0]}, kinds={"flag": "categorical"})
    models = classifier.fit(DATA[["size", "flag"]], Y).models_
    assert models["size"].partitions["size"].n_parts <= 3
    assert models["size"].partitions["size"].special.tolist() == [0.0]
    assert models["flag"].partitions["flag"].kind == "categorical"
    with pytest.warns(ConvergenceWarning, match="time_limit=0.0"):
        stopped = GridNaiveBayes(time_limit=0.0, target_kind="grouped").fit(DATA, Y)
    assert {model.stopped for model in stopped.models_.values()} == {"time limit"}


# What is refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": "best"}, "weights must be one of 'uniform', 'selective', got 'best'"),
        ({"target_kind": "numerical"}, "target_kind must be one of 'grouped' or None, got 'numerical'"),
        ({"unknown": "ignore"}, "unknown must be one of 'neutral', 'largest', 'error', got 'ignore'"),
        ({"criterion": "best"}, "unknown criterion 'best'"),
        ({"criterion": "gini", "target_kind": "grouped"}, "cannot price 'grouped'"),
        ({"criterion": "entropy", "criterion_options": {"gamma": 1}}, "no option 'gamma'"),
        ({"special": {"size": [1.0]}, "target_kind": "grouped"}, "special"),
        ({"kinds": {"colour": "nominal"}}, "kinds says 'nominal'"),
        ({"random_state": -1}, "random_state"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"max_parts": 0}, "max_parts"),
    ],
)
def test_arguments_are_checked_in_fit(arguments: dict[str, Any], message: str) -> None:
    classifier = GridNaiveBayes(**arguments)
    with pytest.raises((ValueError, TypeError, NotImplementedError), match=message):
        classifier.fit(DATA, Y)
    with pytest.raises(NotFittedError):
        classifier.predict(DATA)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (DATA, None, "requires y"),
        (DATA, Y[:-1], "inconsistent numbers of samples"),
        (DATA, DATA["size"].fillna(0.0), "continuous"),
        (DATA, np.where(DATA["flag"], "a", None), "have no class"),
        (DATA["size"], Y, "2"),
        (csr_array(np.eye(4)), [0, 1, 0, 1], "[Ss]parse"),
        (DATA.assign(things=[{"a": 1}] * len(DATA)), Y, r"column 'things'.*dict"),
    ],
)
def test_other_data_is_refused(X: Any, y: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        GridNaiveBayes().fit(X, y)


def test_columns_must_be_those_of_fit() -> None:
    fitted = GridNaiveBayes().fit(DATA, Y)
    with pytest.raises(ValueError, match="same order"):
        fitted.predict(DATA[DATA.columns[::-1]])
    with pytest.raises(TypeError, match="column 'size'"):
        fitted.predict(DATA.assign(size="large"))
