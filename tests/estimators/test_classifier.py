"""The classifiers on grids as scikit-learn and its users meet them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics import balanced_accuracy_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import gridmodl
from gridmodl import GridClassifier, GridEnsembleClassifier, Search
from gridmodl.evidence.decisions import balanced_factors

FEW = Search("diverse", effort=4, keep_optima=100)
FEWEST = Search("diverse", effort=2, keep_optima=100)  # what scikit-learn checks does not depend on the number of grids


class OfNumbers(GridClassifier):
    """Scikit-learn rounds the data of its checks for estimators that take categories; here it does not."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        return tags


class EnsembleOfNumbers(GridEnsembleClassifier):
    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        return tags


def expected_failures(estimator: Any) -> dict[str, str]:
    """Scikit-learn's check wants the most probable class, and a threshold is there to take another where that pays.

    On the data of the check it does for the ensemble.
    """
    takes_another = isinstance(estimator, EnsembleOfNumbers) and estimator.threshold == "balanced"
    return {"check_classifiers_train": "threshold='balanced' is not argmax"} if takes_another else {}


@parametrize_with_checks(
    [
        GridClassifier(),
        OfNumbers(),
        OfNumbers(threshold="balanced"),
        GridEnsembleClassifier(search=FEWEST),
        EnsembleOfNumbers(search=FEWEST),
        EnsembleOfNumbers(search=FEWEST, threshold="balanced"),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def make_data(n: int = 300, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Two columns that say nothing alone, of different kinds, and two that say nothing at all."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    colour = np.array(["red", "green", "blue", None], dtype=object)[rng.integers(0, 4, n)]
    is_odd = (size > 0) ^ pd.Series(colour).isin(["red", "green"]).to_numpy()
    y = np.where(is_odd ^ (rng.random(n) < 0.1), "yes", "no")
    return pd.DataFrame({"size": size, "colour": colour, "noise": rng.normal(size=n), "same": 1}), y


DATA, Y = make_data()
CLASSIFIERS = [GridClassifier(), GridEnsembleClassifier(search=FEW)]


def test_it_is_the_model_of_optimize() -> None:
    classifier, model = GridClassifier(random_state=3).fit(DATA, Y), gridmodl.optimize(DATA, Y, random_state=3)
    assert classifier.model_.cost == model.cost
    assert classifier.model_.informative == ["size", "colour"]
    np.testing.assert_array_equal(classifier.predict_proba(DATA), model.predict_proba(DATA))
    np.testing.assert_array_equal(classifier.predict(DATA), model.predict(DATA))
    assert [str(rule) for rule in classifier.rules()] == [str(rule) for rule in model.rules()]
    assert classifier.score(*make_data(seed=1)) > 0.8


def test_the_ensemble_is_the_mean_of_the_optima() -> None:
    ensemble = GridEnsembleClassifier(criterion="modl", search=FEW, random_state=3).fit(DATA, Y)
    assert ensemble.criterion_.name == "modl"
    assert ensemble.validation_losses_ == {}
    model = gridmodl.optimize(DATA, Y, search=FEW, random_state=3)
    levels = np.array([optimum.level for optimum in model.optima])
    assert ensemble.model_.cost == model.cost
    np.testing.assert_allclose(ensemble.average_.levels, levels, rtol=1e-12)
    answers = [optimum.predict_proba(DATA) for optimum in model.optima]
    np.testing.assert_allclose(
        ensemble.predict_proba(DATA), np.einsum("i,ijk->jk", levels / levels.sum(), answers), rtol=1e-12, atol=1e-14
    )


def test_the_ensemble_predicts_better_than_its_best_grid() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    single, many = (
        estimator.fit(X[::2], y[::2]) for estimator in (GridClassifier(), GridEnsembleClassifier(search=FEW))
    )
    losses = [
        -np.mean(np.log(np.maximum(e.predict_proba(X[1::2]), 1e-3))[np.arange(284), y[1::2]]) for e in (single, many)
    ]
    assert losses[1] < losses[0]


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda each: type(each).__name__)
def test_threads_and_seeds_give_the_same_bits(classifier: Any) -> None:
    X, y = load_wine(return_X_y=True)
    one, two = (clone(classifier).set_params(n_jobs=n).fit(X, y).predict_proba(X) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("kind", [GridClassifier, GridEnsembleClassifier])
def test_the_balanced_threshold_lowers_the_balanced_error(kind: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = rng.random(2000) < 0.15 / (1 + np.exp(-3 * X[:, 0]))
    search = FEW if kind is GridEnsembleClassifier else "auto"
    plain, balanced = (kind(search=search, threshold=threshold).fit(X, y) for threshold in (None, "balanced"))
    np.testing.assert_array_equal(plain.predict_proba(X), balanced.predict_proba(X))
    assert plain.class_factors_.tolist() == [1.0, 1.0]
    shares = balanced_accuracy_score(y, plain.predict_proba(X)[:, 1] > y.mean())
    found = balanced_accuracy_score(y, balanced.predict(X))
    assert found >= shares > balanced_accuracy_score(y, plain.predict(X)) + 0.1
    best = max(balanced_accuracy_score(y, plain.predict_proba(X)[:, 1] > t) for t in np.linspace(0.001, 0.6, 600))
    assert found >= best - 1e-12


@pytest.mark.parametrize("threshold", [None, "balanced"])
@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda each: type(each).__name__)
def test_weights_are_rows(classifier: Any, threshold: Any) -> None:
    weights = np.random.default_rng(1).integers(0, 3, len(DATA))
    repeated = np.repeat(np.arange(len(DATA)), weights)
    weighted = clone(classifier).set_params(threshold=threshold).fit(DATA, Y, sample_weight=weights)
    several = clone(classifier).set_params(threshold=threshold).fit(DATA.iloc[repeated], Y[repeated])
    assert weighted.model_.n_rows == weights.sum()
    assert weighted.model_.cost == pytest.approx(several.model_.cost)
    if isinstance(classifier, GridClassifier):  # the ensemble draws other grids where there are other rows
        np.testing.assert_allclose(weighted.predict_proba(DATA), several.predict_proba(DATA), rtol=1e-12)
        np.testing.assert_allclose(weighted.class_factors_, several.class_factors_, rtol=1e-12)
        np.testing.assert_array_equal(weighted.predict(DATA), several.predict(DATA))
    if threshold == "balanced":
        kept = weights > 0
        codes = np.searchsorted(weighted.classes_, Y[kept])
        expected = balanced_factors(weighted.predict_proba(DATA)[kept], codes, weights[kept])
        np.testing.assert_array_equal(weighted.class_factors_, expected)


def test_rows_of_weight_zero_may_hold_what_no_other_row_does() -> None:
    X, y = pd.DataFrame({"kind": ["a", "b"] * 20 + ["c"], "size": np.arange(41.0)}), [0, 1] * 20 + [0]
    for classifier in CLASSIFIERS:
        strict = clone(classifier).set_params(threshold="balanced", unknown="error")
        strict.fit(X, y, sample_weight=[1] * 40 + [0])
        with pytest.raises(ValueError, match="'kind' holds 1 value that the training data did not have"):
            strict.predict(X)


def test_no_informative_column_and_one_class() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = rng.permutation(np.repeat(["a", "b"], [30, 60]))
    for classifier in CLASSIFIERS:
        np.testing.assert_allclose(classifier.fit(X, y).predict_proba(X[:2]), [[1 / 3, 2 / 3]] * 2)
        assert classifier.predict(X[:2]).tolist() == ["b", "b"]
        assert classifier.fit(X, ["only"] * 90).predict(X[:2]).tolist() == ["only", "only"]
        assert classifier.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]


def test_many_classes() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(200), 5)
    X = np.column_stack([y + rng.normal(size=1000), rng.normal(size=1000)])
    for classifier in CLASSIFIERS:
        fitted = clone(classifier).set_params(threshold="balanced").fit(X, y)
        probabilities = fitted.predict_proba(X)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
        assert probabilities.shape == (1000, 200)
        assert len(fitted.predict(X)) == 1000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 0.3}, "threshold must be one of 'balanced' or None, got 0.3"),
        ({"unknown": "skip"}, "unknown must be"),
        ({"criterion": "nope"}, "unknown criterion 'nope'"),
        ({"kinds": {"sizes": "numerical"}}, "kinds names column 'sizes'"),
        ({"random_state": -1}, "random_state must not be negative"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"max_parts": 0}, "max_parts must be at least 1"),
    ],
)
@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda each: type(each).__name__)
def test_wrong_options_are_refused(classifier: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        type(classifier)(**{**classifier.get_params(), **options}).fit(DATA, Y)


@pytest.mark.parametrize("search", ["vns", "diverse", Search("vns"), 3])
def test_an_ensemble_needs_grids(search: Any) -> None:
    with pytest.raises(ValueError, match=r"keep_optima"):
        GridEnsembleClassifier(search=search).fit(DATA, Y)


def test_an_ensemble_in_the_order_of_the_paper() -> None:
    ensemble = GridEnsembleClassifier(search=Search("algorithm3", effort=3, keep_optima=20)).fit(DATA, Y)
    assert 1 <= len(ensemble.average_) <= 20
    assert set(ensemble.average_.column_weights) >= {"size", "colour"}


def test_an_interrupted_fit_raises_and_leaves_what_was_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    fitted = [clone(classifier).fit(DATA, Y) for classifier in CLASSIFIERS]
    expected = [classifier.predict_proba(DATA) for classifier in fitted]
    monkeypatch.setattr("gridmodl.search.grid.vns._add_starts", stop)
    for classifier, before in zip(fitted, expected, strict=True):
        with pytest.raises(KeyboardInterrupt):
            classifier.fit(DATA, np.arange(len(DATA)) % 3)
        np.testing.assert_array_equal(classifier.predict_proba(DATA), before)
