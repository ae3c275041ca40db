"""`GridScorecard` as scikit-learn and its users meet it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from gridmodl import GridNaiveBayes, GridScorecard, Scorecard, average_each, optimize_each


@parametrize_with_checks([GridScorecard(), GridScorecard(averaged=False, rounded=True, validate=False)])
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def make_data(n: int = 1500, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    income, age = rng.normal(size=n), rng.integers(18, 80, n).astype(float)
    town = rng.choice(["north", "south", "east", "west"], n).astype(object)
    odds = -1.0 - income + 0.02 * (40 - age) + np.where(town == "north", 0.8, 0.0)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "bad", "good")
    income[::11] = np.nan
    town[::13] = None
    data = pd.DataFrame({"income": income, "age": age, "town": town, "noise": rng.normal(size=n), "same": 1.0})
    return data, y


DATA, Y = make_data()


def test_scores_are_the_scaled_log_of_the_odds() -> None:
    for event, odds_of in (("bad", "rest"), ("good", "rest"), ("bad", "event")):
        model = GridScorecard(event=event, odds_of=odds_of, pdo=30, base_points=500, base_odds=20).fit(DATA, Y)
        card = model.scorecard_
        woe = {name: np.append(card.woe(name), 0.0)[card.partition(name).part_of(DATA[name])] for name in card.models}
        odds = card.intercept + sum(w * woe[name] for w, name in zip(card.weights, card.models, strict=True))
        sign = -1 if odds_of == "rest" else 1
        factor = 30 / np.log(2)
        np.testing.assert_allclose(model.score_points(DATA), 500 - factor * np.log(20) + factor * sign * odds)
        at = list(model.classes_).index(event)
        np.testing.assert_allclose(model.predict_proba(DATA)[:, at], 1 / (1 + np.exp(-odds)))
        np.testing.assert_allclose(model.decision_function(DATA), odds if at == 1 else -odds)
        assert np.all(card.weights >= 0)
        # More events in a part, fewer points; or more, if points speak of the event.
        for name in card.models:
            assert np.all(np.diff(sign * card.points_of(name)[np.argsort(card.woe(name))]) >= 0)


def test_the_mean_probability_is_the_event_rate() -> None:
    model = GridScorecard(event="bad").fit(DATA, Y)
    assert model.predict_proba(DATA)[:, 0].mean() == pytest.approx(np.mean(Y == "bad"), abs=1e-9)


def test_columns_are_left_out_for_a_reason() -> None:
    model = GridScorecard().fit(DATA, Y)
    assert set(model.scorecard_.models) == {"income", "age", "town"}
    assert model.left_out_ == {"noise": "it has one part", "same": "it has one part"}
    strict = GridScorecard(min_iv=0.3).fit(DATA, Y)
    assert list(strict.scorecard_.models) == ["income"]
    assert strict.left_out_["age"].endswith("is below 0.3")
    few = GridScorecard(max_columns=2).fit(DATA, Y)
    assert len(few.scorecard_.models) == 2
    assert "max_columns=2" in few.left_out_.values()


def test_a_column_that_speaks_against_itself_is_left_out() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=4000)
    b = a + 0.5 * rng.normal(size=4000)
    y = rng.random(4000) < 1 / (1 + np.exp(-(3 * a - 1.5 * b)))  # b has a woe, and beside a the opposite sign
    data = {"a": a, "b": b}
    frame = pd.DataFrame(data)
    assert "negative" in GridScorecard(l2=0.0).fit(frame, y).left_out_["b"]
    free = GridScorecard(sign=False, l2=0.0, validate=False).fit(frame, y)
    assert free.coef_[0, 1] < 0 < free.coef_[0, 0]


def test_columns_without_which_held_out_rows_are_told_as_well_are_left_out() -> None:
    rng = np.random.default_rng(1)
    a = rng.normal(size=3000)
    y = rng.random(3000) < 1 / (1 + np.exp(-a))
    frame = pd.DataFrame({"a": a, **{f"b{i}": a + 0.01 * rng.normal(size=3000) for i in range(5)}})
    model = GridScorecard(l2=1.0).fit(frame, y)
    everything = GridScorecard(l2=1.0, validate=False).fit(frame, y)
    assert len(model.scorecard_.models) < len(everything.scorecard_.models)
    assert model.held_out_loss_ <= everything.held_out_loss_ + 1e-4


def test_parts_are_found_given_or_edited() -> None:
    model = GridScorecard(refine=False).fit(DATA, Y)
    average = average_each(DATA[["age", "income"]], Y)
    assert len(model.models_["age"].partitions["age"].bounds) <= len(
        average["age"].partition(0.001).partitions["age"].bounds
    )
    best = GridScorecard(averaged=False, min_rows=None, refine=False, missing="auto").fit(DATA, Y)
    expected = optimize_each(DATA, Y)
    for name in DATA:
        np.testing.assert_array_equal(
            best.models_[name].partitions[name].counts, expected[name].partitions[name].counts
        )
    given = GridScorecard(partitions={"age": [30, 50]}, validate=False, min_iv=0.0).fit(DATA, Y)
    np.testing.assert_array_equal(given.scorecard_.partition("age").bounds, [30, 50])
    edited = model.models_.edit("income", merge=[[1, 2]])
    again = GridScorecard(partitions=edited, validate=False).fit(DATA, Y)
    assert again.scorecard_.partition("income").n_parts == model.scorecard_.partition("income").n_parts - 1


@pytest.mark.parametrize("min_rows", [0.1, 100, {"age": 0.2}])
def test_parts_have_enough_rows(min_rows: Any) -> None:
    model = GridScorecard(min_rows=min_rows).fit(DATA, Y)
    least = 300 if isinstance(min_rows, dict) else 150 if min_rows == 0.1 else 100
    assert model.models_["age"].partitions["age"].rows.min() >= least


@pytest.mark.parametrize("refine", [True, False])
def test_missing_values_have_points_of_their_own(refine: bool) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    y = rng.random(1000) < 1 / (1 + np.exp(2 * x))
    text = np.where(x > 0, "up", "down").astype(object)
    is_missing = (x < 0) & (rng.random(1000) < 0.1)  # missing values are like the low ones
    numbers, texts = np.where(is_missing, np.nan, np.maximum(x, -0.5)), np.where(is_missing, None, text)
    data = pd.DataFrame({"x": numbers, "text": texts})
    joined = GridScorecard(refine=refine, missing="auto", validate=False).fit(data, y).models_
    apart = GridScorecard(refine=refine, validate=False).fit(data, y).models_
    assert any(None in group and len(group) > 1 for group in joined["text"].partitions["text"].groups)
    partition = apart["x"].partitions["x"]
    assert partition.is_missing_apart
    assert partition.missing is not None
    assert partition.rows[partition.missing] == is_missing.sum()
    assert [None] in [list(group) for group in apart["text"].partitions["text"].groups]
    for limit in (2, 3):
        few = GridScorecard(refine=refine, max_parts=limit, min_iv=0.0).fit(data, y).models_
        assert few["x"].partitions["x"].n_parts == limit + 1  # missing values alone do not count
        assert few["x"].partitions["x"].is_missing_apart
    by_name = GridScorecard(refine=refine, missing={"text": "apart"}).fit(data, y).models_
    np.testing.assert_array_equal(by_name["x"].partitions["x"].counts, joined["x"].partitions["x"].counts)


def test_weak_columns_are_refined_and_noise_is_not() -> None:
    rng = np.random.default_rng(2)
    n = 1200
    weak, flat = rng.normal(size=(n, 8)), rng.normal(size=(n, 20))
    y = rng.random(n) < 1 / (1 + np.exp(1 - 0.25 * weak.sum(axis=1)))
    frame = pd.DataFrame(np.column_stack([weak, flat])).rename(columns=lambda i: f"{'weak' if i < 8 else 'flat'}{i}")
    plain = GridScorecard(refine=False, validate=False).fit(frame, y).models_
    fine = GridScorecard(validate=False).fit(frame, y).models_

    def several(models: Any, kind: str) -> int:
        return sum(models[name].partitions[name].n_parts > 1 for name in frame if name.startswith(kind))

    assert several(fine, "weak") >= 7
    assert several(plain, "weak") < several(fine, "weak")
    assert several(fine, "flat") <= 6  # AIC takes some of the noise; `min_iv` and `validate` are for that
    test = rng.normal(size=(5000, 28))
    is_event = test[:, :8].sum(axis=1) + rng.logistic(size=5000) > 0  # the same for both cards
    new = pd.DataFrame(test, columns=frame.columns)
    aucs = [
        roc_auc_score(is_event, GridScorecard(refine=refine).fit(frame, y).predict_proba(new)[:, 1])
        for refine in (True, False)
    ]
    assert aucs[0] > aucs[1]


def test_weights_are_rows() -> None:
    rng = np.random.default_rng(0)
    data, y, weights = DATA[:300], Y[:300], rng.integers(0, 4, 300)
    several = np.repeat(np.arange(300), weights)
    weighted = GridScorecard().fit(data, y, sample_weight=weights)
    repeated = GridScorecard().fit(data.iloc[several], y[several])
    np.testing.assert_allclose(weighted.score_points(data), repeated.score_points(data), rtol=0, atol=1e-9)
    mixed = rng.permutation(300)
    shuffled = GridScorecard().fit(data.iloc[mixed], y[mixed], sample_weight=weights[mixed])
    np.testing.assert_allclose(weighted.score_points(data), shuffled.score_points(data), rtol=0, atol=1e-9)


def test_unlabelled_rows_place_bounds_and_are_no_events() -> None:
    y = np.where(np.arange(len(Y)) % 3 == 0, "unknown", Y)
    model = GridScorecard(unlabelled="unknown", event="bad").fit(DATA, y)
    assert model.classes_.tolist() == ["bad", "good"]
    assert roc_auc_score(Y == "bad", -model.score_points(DATA)) > 0.7


def test_new_values_are_neutral_or_refused() -> None:
    model = GridScorecard().fit(DATA, Y)
    row = {"income": 0.5, "age": 40.0, "town": "north"}
    points = model.scorecard_.points({**row, "town": "elsewhere", "age": None}, "arrays")
    assert (points["town"][0], points["age"][0]) == (0.0, 0.0)
    new = DATA[:1].assign(town="elsewhere")
    with pytest.raises(ValueError, match="elsewhere"):
        model.set_params(unknown="error").score_points(new)


def test_two_classes_with_rows_are_needed() -> None:
    with pytest.raises(ValueError, match="one class"):
        GridScorecard().fit(DATA, np.full(len(DATA), "bad"))
    with pytest.raises(ValueError, match="multiclass: y has 3 classes"):
        GridScorecard().fit(DATA, np.arange(len(DATA)) % 3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"pdo": 0}, "pdo must be a finite number above 0"),
        ({"pdo": "20"}, "pdo must be a number"),
        ({"base_odds": -1.0}, "base_odds must be a finite number above 0"),
        ({"base_points": np.inf}, "base_points must be a finite number"),
        ({"odds_of": "evnt"}, "odds_of"),
        ({"rounded": 1}, "rounded must be True or False"),
        ({"min_iv": -0.1}, "min_iv must be a finite number, 0 or more"),
        ({"sign": "yes"}, "sign must be True or False"),
        ({"l2": "atuo"}, "l2 must be 'auto'"),
        ({"l2": -1}, "l2 must be a finite number"),
        ({"max_columns": 0}, "max_columns must be None or a number of columns"),
        ({"parts_loss": True}, "parts_loss must be a number"),
        ({"refine": 1}, "refine must be True or False"),
        ({"missing": "apar"}, "missing"),
        ({"min_rows": {"agee": 3}}, "agee"),
        ({"search": "exat"}, "search"),
    ],
)
def test_wrong_parameters_are_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        GridScorecard(**options).fit(DATA[:50], Y[:50])


def test_one_event_and_few_rows() -> None:
    y = np.where(np.arange(60) == 30, 1, 0)
    model = GridScorecard(min_iv=0.0).fit(DATA[:60][["income", "age"]], y)
    assert np.all(np.isfinite(model.score_points(DATA[:60][["income", "age"]])))


def test_classes_told_apart_have_finite_points() -> None:
    x = np.arange(200.0)
    model = GridScorecard().fit(x[:, None], x > 99)
    assert np.all(np.isfinite(model.score_points(x[:, None])))
    assert model.score(x[:, None], x > 99) == 1.0


def test_it_predicts() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    assert cross_val_score(GridScorecard(), X, y, cv=3, scoring="roc_auc").mean() > 0.98


def test_copies_of_columns_are_left_out_and_need_not_be_there() -> None:
    plain = GridScorecard().fit(DATA, Y)
    data = DATA.assign(double=2 * DATA["income"], young=-DATA["age"], city=DATA["town"].str.upper())
    model = GridScorecard().fit(data, Y)
    copies = {
        "double": "it is a copy of column 'income'",
        "young": "it is a copy of column 'age', in reverse order",
        "city": "it is a copy of column 'town'",
    }
    assert model.left_out_ == plain.left_out_ | copies
    np.testing.assert_array_equal(model.score_points(data), plain.score_points(DATA))
    card = Scorecard.from_json(model.to_json())
    assert card.left_out == model.left_out_
    np.testing.assert_array_equal(card.score(DATA), plain.score_points(DATA))
    with pytest.raises(ValueError, match="double"):
        model.score_points(DATA)  # columns of the data remain those of fit


def test_a_column_with_a_limit_of_its_own_is_no_copy_of_one_that_is_left_out() -> None:
    data = DATA.assign(double=2 * DATA["income"])
    model = GridScorecard(max_parts={"income": 1}, averaged=False, refine=False, missing="auto").fit(data, Y)
    assert model.left_out_["income"] == "it has one part"
    assert "double" not in model.left_out_


def test_new_rows_that_look_alike_keep_the_columns_of_a_card() -> None:
    card = GridScorecard(validate=False).fit(DATA, Y).scorecard_
    few = DATA.assign(age=DATA["income"].rank() + 20)
    assert not any("copy" in why for why in card.refit(few, Y).left_out.values())


def test_columns_that_differ_where_rows_have_no_class_are_no_copies() -> None:
    is_known = np.arange(len(Y)) % 3 > 0
    other = np.where(is_known, 2 * DATA["income"], 0.5)
    target = np.where(is_known, Y, "?")
    for estimator in (GridScorecard(unlabelled="?"), GridNaiveBayes(unlabelled="?")):
        found = estimator.fit(DATA.assign(other=other), target).left_out_
        assert not any("copy" in why for why in found.values())
    weights = is_known.astype(int)
    for estimator in (GridScorecard(), GridNaiveBayes()):
        found = estimator.fit(DATA.assign(other=other), Y, sample_weight=weights).left_out_
        assert found["other"] == "it is a copy of column 'income'"
