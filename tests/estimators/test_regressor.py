"""The regressor on grids as scikit-learn and its users meet it, and the classifier of grouped classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import gridmodl
from gridmodl import GridClassifier, GridRegressor, Search


class OfNumbers(GridRegressor):
    """Scikit-learn rounds the data of its checks for estimators that take categories; here it does not."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        return tags


FAST = Search(effort=1)


@parametrize_with_checks(
    [
        GridRegressor(search=FAST),
        OfNumbers(search=FAST, statistic="median"),
        OfNumbers(search=Search("diverse", effort=2), ensemble=10),
    ]
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@parametrize_with_checks([GridClassifier(target_kind="grouped", search=FAST)])
def test_scikit_learn_checks_of_grouped_classes(estimator: Any, check: Any) -> None:
    check(estimator)


def make_data(n: int = 400, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    size, colour = rng.normal(size=n), rng.choice(np.array(["red", "green", "blue", None], dtype=object), n)
    y = np.where(size > 0, 5.0, 0.0) + np.where(colour == "red", 8.0, 0.0) + 0.5 * rng.normal(size=n)
    return pd.DataFrame({"size": size, "colour": colour, "noise": rng.normal(size=n)}), y


DATA, Y = make_data()


def test_it_is_the_model_of_optimize() -> None:
    regressor = GridRegressor(random_state=3).fit(DATA, Y)
    model = gridmodl.optimize(DATA, Y, random_state=3)
    predicted = model.predict(DATA, coverage=0.8)
    assert regressor.model_.cost == model.cost
    assert len(regressor.grids_) == 1
    np.testing.assert_array_equal(regressor.predict(DATA), predicted.mean)
    np.testing.assert_array_equal(regressor.set_params(statistic="median").predict(DATA), predicted.median)
    interval = regressor.predict_interval(DATA, coverage=0.8)
    np.testing.assert_array_equal(interval, np.column_stack([predicted.lower, predicted.upper]))
    np.testing.assert_allclose(regressor.predict_quantiles(DATA, [0.1, 0.9]), interval, rtol=1e-9)
    assert [str(rule) for rule in regressor.rules()] == [str(rule) for rule in model.rules()]
    assert regressor.score(DATA, Y) > 0.9


def test_an_average_of_grids() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    search = Search("diverse", effort=5)
    regressor = GridRegressor(ensemble=40, search=search).fit(X, y)
    assert 1 < len(regressor.grids_) <= 40
    assert regressor.grid_weights_.sum() == pytest.approx(1.0)
    assert np.all(np.diff(regressor.grid_weights_) <= 1e-12)
    by_hand = sum(w * grid.predict(X).mean for w, grid in zip(regressor.grid_weights_, regressor.grids_, strict=True))
    np.testing.assert_allclose(regressor.predict(X), by_hand)
    assert np.all(np.diff(regressor.predict_quantiles(X), axis=1) >= 0.0)
    single = cross_val_score(GridRegressor(search=Search(effort=2)), X, y, cv=3).mean()
    assert cross_val_score(GridRegressor(ensemble=40, search=search), X, y, cv=3).mean() > single


def test_one_column_and_no_signal() -> None:
    for ensemble in (0, 5):
        regressor = GridRegressor(ensemble=ensemble).fit(DATA[["size"]], Y)
        assert regressor.model_.problem == "numerical"
        assert regressor.score(DATA[["size"]], Y) > 0.2
        nothing = GridRegressor(ensemble=ensemble).fit(DATA[["noise"]], Y)
        np.testing.assert_allclose(nothing.predict(DATA[["noise"]]), Y.mean())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"statistic": "mode"}, "statistic must be one of 'mean', 'median', got 'mode'"),
        ({"ensemble": -1}, "ensemble must be a whole number from 0"),
        ({"ensemble": True}, "ensemble must be a whole number from 0"),
        ({"search": "exact"}, "search='exact' cannot find a grid"),
    ],
)
def test_what_cannot_be_asked(parameters: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GridRegressor(**parameters).fit(DATA, Y)


def test_wrong_questions_to_a_fitted_regressor() -> None:
    regressor = GridRegressor(search=FAST).fit(DATA, Y)
    for quantiles in ([], [1.5], [-0.1], [np.nan], [[0.1]]):
        with pytest.raises(ValueError, match="quantiles must be shares from 0 to 1"):
            regressor.predict_quantiles(DATA, quantiles)
    with pytest.raises(ValueError, match="coverage must be a share"):
        regressor.predict_interval(DATA, 2.0)
    with pytest.raises(ValueError, match="has no numerical target"):
        gridmodl.optimize(DATA, Y > 3).predict_quantiles(DATA, [0.5])


def test_text_is_no_number() -> None:
    with pytest.raises(ValueError, match="y holds text"):
        GridRegressor().fit(DATA, np.where(Y > 3, "a", "b").astype(object))


def test_grouped_classes() -> None:
    rng = np.random.default_rng(1)
    group = 2 * (DATA["size"] > 0) + (DATA["colour"] == "red")
    code = (10 * group + rng.integers(0, 10, len(DATA))).to_numpy()
    classifier = GridClassifier(target_kind="grouped").fit(DATA, code)
    assert classifier.model_.problem == "grouped_grid"
    assert classifier.model_.informative == ["size", "colour"]
    probabilities = classifier.predict_proba(DATA)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    of_own_group = [p[classifier.classes_ // 10 == g].sum() for p, g in zip(probabilities, group, strict=True)]
    assert np.mean(of_own_group) > 0.99
    with pytest.raises(ValueError, match="target_kind must be one of 'classes', 'grouped', got 'numerical'"):
        GridClassifier(target_kind="numerical").fit(DATA, code)
