"""Logistic regression on evidence: its cost, weights and folds by hand, and as scikit-learn and its users meet it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from gridmodl import GridLogistic, GridNaiveBayes, WeightedEvidence, average, optimize
from gridmodl.estimators import logistic
from gridmodl.estimators.logistic import BY_CLASS, FOLDS, FoldRows, _by_class, _cost_of, _fitted, dealt_in_turn
from gridmodl.evidence.sources import centred_shares


@parametrize_with_checks([GridLogistic(), GridLogistic(averaged=False)])
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def make_data(n: int = 240, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    y = np.where(size + 0.5 * rng.normal(size=n) > 0, "yes", "no")
    colour = np.array(["red", "green", "blue", "black"])[np.digitize(size, [-1, 0, 1])].astype(object)
    colour[::7] = None
    data = pd.DataFrame(
        {
            "size": size,
            "colour": colour,
            "date": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.round(100 * size + 90 * rng.normal(size=n)), "D"),
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


# Folds


def test_rows_are_dealt_in_turn_within_each_class() -> None:
    rng = np.random.default_rng(0)
    codes, rows = rng.integers(0, 3, 101), rng.integers(0, 4, 101)
    score, ties = np.round(rng.random(101), 1), rng.random(101)
    dealt = dealt_in_turn(score, ties, codes, rows, 5)
    np.testing.assert_array_equal(dealt.sum(axis=1), rows)
    assert np.ptp(dealt.sum(axis=0)) <= 1
    for c in range(3):
        assert np.ptp(dealt[codes == c].sum(axis=0)) <= 1
    order = rng.permutation(101)
    np.testing.assert_array_equal(dealt_in_turn(score[order], ties[order], codes[order], rows[order], 5), dealt[order])
    several = np.repeat(np.arange(101), rows)
    alone = dealt_in_turn(score[several], ties[several], codes[several], np.ones(len(several), dtype=np.int64), 5)
    together = np.zeros_like(dealt)
    np.add.at(together, several, alone)
    np.testing.assert_array_equal(together, dealt)


def test_no_fold_takes_a_class_away() -> None:
    codes = np.array([0] * 20 + [1, 1] + [2])
    dealt = dealt_in_turn(np.arange(23.0), np.zeros(23), codes, np.ones(23, dtype=np.int64), 5)
    assert dealt[22].sum() == 0  # the only row of its class
    for fold in range(5):
        assert set(codes[dealt[:, fold] == 0]) == {0, 1, 2}


# Cost and weights


def make_cost(n_classes: int, n_sources: int = 3, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    folds = []
    for size in (30, 25):
        tables = [np.vstack([rng.normal(size=(4, n_classes)), np.zeros(n_classes)]) for _ in range(n_sources)]
        lines = rng.integers(0, 5, (n_sources, size)).astype(np.int32)
        codes = np.append(np.arange(n_classes), rng.integers(0, n_classes, size - n_classes))
        folds.append(FoldRows(tables, lines, codes, rng.integers(1, 4, size)))
    class_rows = sum(np.bincount(one.codes, one.rows, n_classes) for one in folds)
    return _cost_of(folds, np.log(class_rows / class_rows.sum())), folds


def loss_by_hand(folds: Any, weights: Any, intercepts: Any) -> float:
    total = 0.0
    for one in folds:
        for i in range(len(one.codes)):
            scores = [
                intercepts[j] + sum(weights[k][j] * one.tables[k][one.lines[k, i], j] for k in range(len(weights)))
                for j in range(len(intercepts))
            ]
            total -= one.rows[i] * (scores[one.codes[i]] - math.log(math.fsum(map(math.exp, scores))))
    return total


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_loss_and_slopes_by_hand(n_classes: int) -> None:
    cost, folds = make_cost(n_classes)
    rng = np.random.default_rng(1)
    weights, intercepts = rng.random((3, n_classes)), rng.normal(size=n_classes)
    for used in (np.array([True, True]), np.array([False, True])):
        mine = [one for one, is_used in zip(folds, used, strict=True) if is_used]
        loss, by_weight, by_intercept = cost.loss(weights, intercepts, used)
        assert loss == pytest.approx(loss_by_hand(mine, weights, intercepts), rel=1e-12)
        step = 1e-6
        for k in range(3):
            for j in range(n_classes):
                moved = weights.copy()
                moved[k, j] += step
                rise = loss_by_hand(mine, moved, intercepts) - loss
                assert by_weight[k, j] == pytest.approx(rise / step, abs=1e-3)
        for j in range(n_classes):
            moved = intercepts + step * np.eye(n_classes)[j]
            assert by_intercept[j] == pytest.approx((loss_by_hand(mine, weights, moved) - loss) / step, abs=1e-3)


def penalized(folds: Any, log_prior: Any, l2: float, weights: Any, intercepts: Any) -> float:
    means = weights.mean(axis=1)
    apart = np.sum((means - means.mean()) ** 2) + BY_CLASS * np.sum((weights - means[:, None]) ** 2)
    drawn = l2 / 2 * (apart + np.sum((intercepts - log_prior) ** 2)) + (weights.mean() - 1.0) ** 2 / 2
    return loss_by_hand(folds, weights, intercepts) + drawn


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("l2", [0.1, 10.0, 1000.0])
def test_no_weights_near_cost_less(n_classes: int, l2: float) -> None:
    cost, folds = make_cost(n_classes)
    weights, intercepts = _by_class(cost, _fitted(cost, l2, np.array([True, True]), None))
    best, rng = penalized(folds, cost.log_prior, l2, weights, intercepts), np.random.default_rng(0)
    assert np.all(weights >= 0.0)
    for _ in range(30):
        shift = 0.01 * rng.normal(size=weights.shape[:1] if n_classes == 2 else weights.shape)
        near = np.maximum(weights + (shift[:, None] if n_classes == 2 else shift), 0.0)
        moved = intercepts + 0.01 * rng.normal(size=n_classes)
        assert best <= penalized(folds, cost.log_prior, l2, near, moved) + 1e-6
    if l2 == 1000.0:
        assert np.ptp(weights) < 0.1


def test_the_strength_is_that_of_the_lowest_loss() -> None:
    fitted = GridLogistic().fit(DATA, Y)
    assert fitted.l2_ == min(fitted.l2_losses_, key=fitted.l2_losses_.__getitem__)
    assert set(fitted.l2_losses_) == set(logistic.L2)
    given = GridLogistic(l2=fitted.l2_).fit(DATA, Y)
    np.testing.assert_array_equal(given.coef_, fitted.coef_)
    assert given.l2_losses_ == {}


def test_evidence_of_a_row_comes_from_other_rows() -> None:
    """Noise that is cut too finely explains the rows that it was cut on, and no others."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    finely = {"criterion": "entropy", "criterion_options": {"alpha": 0.1, "beta": 0.0}, "averaged": False}
    bayes, fitted = GridNaiveBayes(**finely).fit(X, y), GridLogistic(**finely).fit(X, y)
    assert np.mean(bayes.predict(X) == y) > 0.7
    assert fitted.coef_.max() < 0.3


# Predictions


@pytest.mark.parametrize("y", [Y, THREE], ids=["two classes", "three classes"])
@pytest.mark.parametrize("averaged", ["auto", False])
def test_probabilities_by_hand(y: Any, averaged: Any) -> None:
    fitted = GridLogistic(averaged=averaged).fit(DATA, y)
    model, policy = fitted.evidence_, fitted._policy
    scores = np.tile(fitted.intercept_, (len(y), 1))
    for source in model.sources:
        evidence = source.evidence_at(source.places({source.name: DATA[source.name].to_numpy()}, policy))
        scores += evidence * fitted.coef_[:, DATA.columns.get_loc(source.name)]
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fitted.predict_proba(DATA), shares, rtol=1e-10)
    assert fitted.coef_.shape == (1 if len(fitted.classes_) == 2 else 3, DATA.shape[1])
    assert not fitted.coef_[:, -2:].any()  # columns that say nothing
    np.testing.assert_allclose(model.predict_proba(DATA), fitted.predict_proba(DATA))
    np.testing.assert_array_equal(model.predict(DATA), fitted.predict(DATA))


@pytest.mark.parametrize(("load", "least"), [(load_iris, 0.9), (load_wine, 0.95), (load_breast_cancer, 0.94)])
def test_it_predicts_well(load: Any, least: float) -> None:
    X, y = load(return_X_y=True)
    assert cross_val_score(GridLogistic(), X, y, cv=3).mean() > least


def test_it_predicts_better_than_naive_bayes_where_columns_repeat_each_other() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    losses = [
        log_loss(y, cross_val_predict(classifier, X, y, cv=3, method="predict_proba"))
        for classifier in (GridLogistic(), GridNaiveBayes())
    ]
    assert losses[0] < 0.5 * losses[1]


@pytest.mark.parametrize("averaged", ["auto", False])
def test_the_order_of_rows_and_columns_does_not_matter(averaged: bool | str) -> None:
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = X.iloc[:, :6]
    fitted = GridLogistic(averaged=averaged).fit(X, y)
    order, columns = np.random.default_rng(0).permutation(len(X)), X.columns[::-1]
    again = clone(fitted).fit(X.iloc[order][columns], y.iloc[order])
    np.testing.assert_allclose(again.coef_[:, ::-1], fitted.coef_, atol=1e-6)
    np.testing.assert_allclose(again.predict_proba(X[columns]), fitted.predict_proba(X), atol=1e-6)


def test_a_weight_is_a_number_of_rows() -> None:
    weights = np.random.default_rng(1).integers(0, 4, len(DATA))
    repeated = np.repeat(np.arange(len(DATA)), weights)
    weighted = GridLogistic().fit(DATA, THREE, sample_weight=weights)
    several = GridLogistic().fit(DATA.iloc[repeated], THREE[repeated])
    np.testing.assert_allclose(weighted.coef_, several.coef_, atol=1e-6)
    np.testing.assert_allclose(weighted.predict_proba(DATA), several.predict_proba(DATA), atol=1e-6)


def test_one_class_and_columns_that_say_nothing() -> None:
    fitted = GridLogistic().fit(DATA, ["a"] * len(DATA))
    np.testing.assert_array_equal(fitted.predict_proba(DATA), 1.0)
    noise = np.random.default_rng(0).normal(size=(60, 2))
    fitted = GridLogistic().fit(noise, ["a", "b", "b"] * 20)
    assert not fitted.coef_.any()
    np.testing.assert_allclose(fitted.predict_proba(noise), [[1 / 3, 2 / 3]] * 60)
    assert GridLogistic().fit(DATA[:3], Y[:3]).predict_proba(DATA).shape == (len(DATA), len(set(Y[:3])))


def test_contributions_of_several_classes_are_of_each_class_unless_one_is_named() -> None:
    assert GridLogistic().fit(DATA, Y).explain(DATA[:2]).shown_classes == ["yes"]
    assert GridLogistic().fit(DATA, THREE).explain(DATA[:2]).shown_classes == ["low", "mid", "top"]
    assert GridLogistic(event="mid").fit(DATA, THREE).explain(DATA[:2]).shown_classes == ["mid"]


def test_limits_and_parameters_reach_the_folds() -> None:
    arguments = {
        "special": {"size": [0.5], "colour": ["red"]}, "monotone": {"date": "increasing"}, "max_parts": {"colour": 2},
        "kinds": {"flag": "categorical"}, "partitions": {"flag": [[True], [False]]},
    }  # fmt: skip
    fitted = GridLogistic(**arguments, event="yes").fit(DATA, Y)
    kinds = {source.name: type(source).__name__ for source in fitted.evidence_.sources}
    assert kinds["flag"] == "PartsSource"
    assert kinds.get("date", "PartsSource") == "PartsSource"
    assert kinds["size"] == "CurveSource"
    groups = fitted.models_["colour"].partitions["colour"].groups
    assert len([group for group in groups if list(group) not in (["red"], [None])]) == 2
    assert np.mean(fitted.predict(DATA) == Y) > 0.75


def test_time_limits() -> None:
    with pytest.warns(ConvergenceWarning, match=r"time_limit=0\.0"):
        fitted = GridLogistic(time_limit=0.0).fit(DATA, Y)
    assert not fitted.coef_.any()


def test_weights_without_time_to_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logistic.TrainingRows, "seconds_left", lambda *_: 0.0 if _called() else 60.0)
    calls = iter([False] * 2 + [True] * 99)

    def _called() -> bool:
        return next(calls)

    with pytest.warns(ConvergenceWarning, match="was stopped by time_limit"):
        fitted = GridLogistic(time_limit=60.0).fit(DATA, Y)
    assert fitted.coef_.any()
    assert fitted.l2_ == logistic.STOPPED_L2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"l2": "best"}, "l2 must be 'auto' or a number of rows above 0, got 'best'"),
        ({"l2": -1.0}, "l2 must be 'auto' or a number of rows above 0, got -1.0"),
        ({"averaged": "yes"}, "averaged must be 'auto', True or False"),
        ({"criterion": "gini", "averaged": True}, "cannot be averaged"),
        ({"unlabelled": "yes", "event": "yes"}, "event"),
    ],
)
def test_arguments_are_checked_in_fit(arguments: dict[str, Any], message: str) -> None:
    classifier = GridLogistic(**arguments)
    with pytest.raises((ValueError, TypeError), match=message):
        classifier.fit(DATA, Y)
    with pytest.raises(NotFittedError):
        classifier.predict(DATA)


def test_calibration_displays_work() -> None:
    fitted = GridLogistic().fit(DATA, Y)
    display = CalibrationDisplay.from_estimator(fitted, DATA, Y, pos_label="yes", n_bins=5)
    assert len(display.prob_true) > 1


# Few labels


@pytest.mark.parametrize("kind", [GridLogistic, GridNaiveBayes])
@pytest.mark.parametrize("averaged", ["auto", False])
def test_unlabelled_rows(kind: Any, averaged: Any) -> None:
    X, y = make_data(600, seed=1)
    chosen = np.arange(600) % 10 == 3
    marks = np.where(chosen, y, "?")
    fitted = kind(unlabelled="?", averaged=averaged).fit(X, marks)
    assert fitted.classes_.tolist() == ["no", "yes"]
    np.testing.assert_allclose(fitted.class_shares_, [np.mean(y[chosen] == c) for c in ("no", "yes")])
    assert np.mean(fitted.predict(X) == y) > 0.7
    if averaged is False:  # the optimum of the labelled rows, with bounds at the medians of the others
        placed = optimize(X[["size"]], marks, unlabelled="?", placement="median")
        alone = optimize(X[["size"]][chosen], y[chosen])
        bounds = fitted.models_["size"].partitions["size"].bounds
        np.testing.assert_array_equal(bounds, placed.partitions["size"].bounds)
        assert len(bounds) == len(alone.partitions["size"].bounds) == 1
        assert bounds != alone.partitions["size"].bounds
    else:
        (source,) = (source for source in fitted.evidence_.sources if source.name == "size")
        expected = average(X[["size"]], marks, unlabelled="?")
        np.testing.assert_array_equal(source.knots, expected.knots)
        np.testing.assert_allclose(source.shares, centred_shares(expected, fitted.class_shares_))
    missing = kind(unlabelled=None, averaged=averaged).fit(X, np.where(marks == "?", None, y))
    np.testing.assert_allclose(missing.predict_proba(X), fitted.predict_proba(X))
    with pytest.raises(ValueError, match="all rows of y are marked as unlabelled='\\?'"):
        kind(unlabelled="?").fit(X, ["?"] * 600)


def test_without_marked_rows_all_are_labelled() -> None:
    for kind in (GridLogistic, GridNaiveBayes):
        plain, marked = kind().fit(DATA, Y), kind(unlabelled="?").fit(DATA, Y)
        np.testing.assert_allclose(marked.predict_proba(DATA), plain.predict_proba(DATA))


def test_the_record_needs_no_scikit_learn() -> None:
    fitted = GridLogistic().fit(DATA, Y)
    again = WeightedEvidence.from_json(fitted.to_json())
    np.testing.assert_array_equal(again.predict_proba(DATA), fitted.predict_proba(DATA))
    assert FOLDS == 5


def test_contributions_of_three_classes_are_of_each_unless_an_event_is_named() -> None:
    x = np.arange(90.0)[:, None]
    y = np.repeat(["a", "b", "c"], 30)
    assert GridLogistic().fit(x, y).explain(x[:1]).shown_classes == ["a", "b", "c"]
    assert GridLogistic(event="b").fit(x, y).explain(x[:1]).shown_classes == ["b"]
