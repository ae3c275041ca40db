"""Weights of evidence by averages, and cross-fitted encodings, against slow and obvious loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from gridmodl import Averages, GridDiscretizer, average, average_each

# Encodings of training rows are those of other folds, so `fit(X, y).transform(X)` is another thing.
CHECKS = ("check_transformer_general", "check_transformer_data_not_an_array")
DIFFERS = dict.fromkeys(CHECKS, "fit_transform is cross-fitted")


@parametrize_with_checks(
    [GridDiscretizer(encode="woe", averaged=True), GridDiscretizer(encode="woe", cv=3)],
    expected_failed_checks=lambda estimator: DIFFERS if estimator.cv is not None else {},
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def make_data(n: int = 160, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.1, np.nan, x),
            "code": np.where(rng.random(n) < 0.2, -9.0, np.round(2 * x)),
            "rating": pd.Categorical.from_codes(
                np.digitize(x + rng.normal(size=n), [-1, 1]), list("abc"), ordered=True
            ),
            "town": np.array(["Bonn", "Ulm", "Kiel"])[rng.integers(0, 3, n)],
            "day": np.datetime64("2024-01-01") + np.round(50 * x).astype(int),
        }
    )
    two = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * x)), "yes", "no")
    return frame, two, np.digitize(x + 0.5 * rng.normal(size=n), [-0.7, 0.7])


FRAME, TWO, THREE = make_data()
SPECIAL = {"code": [-9]}


def logit(p: float) -> float:
    return math.log(p / (1 - p))


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two classes", "three classes"])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_averaged_woe_is_that_of_the_average(y: Any, library: str) -> None:
    frame = (
        FRAME
        if library == "pandas"
        else pl.from_pandas(FRAME).with_columns(pl.col("rating").cast(pl.Enum(list("abc"))))
    )
    found = GridDiscretizer(encode="woe", averaged=True, special=SPECIAL).fit(frame, y)
    woe, names = found.transform(frame), found.get_feature_names_out().tolist()
    classes = sorted(set(y.tolist()))
    events = [1] if len(classes) == 2 else range(3)
    expected_names, at = [], 0
    for name in FRAME:
        for j in events:
            expected_names.append(name if len(classes) == 2 else f"{name}_{classes[j]}")
            overall = ((y == classes[j]).sum() + 1) / (len(y) + len(classes))
            if name == "town":
                groups = found.models_[name].transform(frame[name])
                of_group = {g: ((y[groups == g] == classes[j]).sum() + 1) / ((groups == g).sum() + len(classes))
                            for g in set(groups.tolist())}  # fmt: skip
                shares = [of_group[g] for g in groups.tolist()]
            else:
                one = average(frame[[name]], y, special=SPECIAL if name == "code" else None)
                shares = one.predict_proba(frame[name])[:, j].tolist()
            np.testing.assert_allclose(woe[:, at], [logit(p) - logit(overall) for p in shares], atol=1e-12)
            at += 1
    assert names == expected_names
    assert woe.shape[1] == at
    assert list(found.averages_) == ["x", "code", "rating", "day"]
    assert list(found.models_) == list(FRAME)
    again = Averages.from_json(found.averages_.to_json())
    np.testing.assert_array_equal(again["x"].woe(FRAME["x"]), found.averages_["x"].woe(FRAME["x"]))


def test_values_that_fit_did_not_see_have_0() -> None:
    train = FRAME[["code", "rating", "town"]]
    found = GridDiscretizer(encode="woe", averaged=True).fit(train, TWO)
    new = pd.DataFrame({"code": [np.nan], "rating": ["z"], "town": ["Rom"]})
    assert found.transform(new).tolist() == [[0.0, 0.0, 0.0]]
    with pytest.raises(ValueError, match="missing value"):
        found.set_params(new_missing="error").transform(new)
    with pytest.raises(ValueError, match="did not have"):
        found.set_params(new_missing="neutral", unknown="error").transform(new)


def test_weights_events_and_unlabelled_rows_of_averages() -> None:
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 4, len(TWO))
    data = FRAME[["x", "town"]]
    weighted = GridDiscretizer(encode="woe", averaged=True, event="no").fit(data, TWO, sample_weight=weights)
    repeated = GridDiscretizer(encode="woe", averaged=True, event="no").fit(
        data.loc[data.index.repeat(weights)], np.repeat(TWO, weights)
    )
    np.testing.assert_allclose(weighted.transform(data), repeated.transform(data), atol=1e-12)
    assert weighted.averages_.event == "no"
    marked = np.where(rng.random(len(TWO)) < 0.3, "?", TWO)
    found = GridDiscretizer(encode="woe", averaged=True, unlabelled="?").fit(data, marked)
    expected = average_each(data[["x"]], marked, unlabelled="?")["x"].woe(data["x"])
    np.testing.assert_allclose(found.transform(data)[:, :1], expected, atol=1e-12)
    limited = GridDiscretizer(encode="woe", averaged=True, max_parts={"x": 2, "town": 2}).fit(data, TWO)
    assert limited.averages_["x"].max_parts == 2
    text = GridDiscretizer(encode="woe", averaged=True).fit(data[["town"]], TWO)
    assert len(text.averages_) == 0
    assert text.transform(data[["town"]]).shape == (len(data), 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"averaged": True}, "averaged=True is for encode='woe'"),
        ({"averaged": "yes", "encode": "woe"}, "averaged must be True or False"),
        ({"averaged": True, "encode": "woe", "target_kind": "grouped"}, "needs a target of classes"),
        ({"averaged": True, "encode": "woe", "monotone": "increasing"}, "monotone='increasing' would choose"),
        ({"averaged": True, "encode": "woe", "min_rows": 5}, "min_rows=5 would choose"),
        ({"averaged": True, "encode": "woe", "criterion_options": "auto"}, "criterion_options='auto' would choose"),
        ({"averaged": True, "encode": "woe", "missing": {"x": "apart"}}, "missing='apart' would choose"),
        ({"averaged": True, "encode": "woe", "criterion": "gini"}, "cannot be averaged"),
        ({"cv": 3}, "cv is for encodings that use the target"),
        ({"cv": 1, "encode": "woe"}, "2 folds or more"),
        ({"cv": "five", "encode": "woe"}, "cv must be a whole number"),
        ({"cv": 3, "encode": "woe", "target_kind": "grouped"}, "cv is for classes and numbers"),
        ({"cv": ShuffleSplit(3), "encode": "woe"}, "each row into one test fold"),
    ],
)
def test_what_does_not_go_together(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        GridDiscretizer(**arguments).fit_transform(FRAME[["x"]], TWO)


def test_parameters_that_need_a_target_or_a_fit() -> None:
    with pytest.raises(ValueError, match="averaged=True, cv=3"):
        GridDiscretizer(encode="woe", averaged=True, cv=3).fit(FRAME[["x"]])
    found = GridDiscretizer(encode="woe").fit(FRAME[["x"]], TWO).set_params(averaged=True)
    with pytest.raises(ValueError, match="fit again"):
        found.transform(FRAME[["x"]])
    found.set_params(averaged=True).fit(FRAME[["x"]], TWO)
    assert not hasattr(found.set_params(averaged=False).fit(FRAME[["x"]], TWO), "averages_")


def by_hand(estimator: Any, frame: Any, y: Any, splits: Any, weights: Any = None) -> Any:
    """Each fold encoded by an estimator that the others fitted."""
    found = None
    for train, test in splits:
        fold = clone(estimator).set_params(cv=None)
        fold.fit(frame.iloc[train], y[train], sample_weight=None if weights is None else weights[train])
        encoded = fold.transform(frame.iloc[test])
        found = np.full((len(y), encoded.shape[1]), np.nan) if found is None else found
        found[test] = encoded
    return found


@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two classes", "three classes"])
def test_cross_fitting_is_the_obvious_loop(averaged: bool, y: Any) -> None:
    estimator = GridDiscretizer(encode="woe", averaged=averaged, cv=4, special=SPECIAL, random_state=3)
    found = estimator.fit_transform(FRAME, y)
    splits = list(StratifiedKFold(4, shuffle=True, random_state=3).split(FRAME, y))
    np.testing.assert_allclose(found, by_hand(estimator, FRAME, y, splits), atol=1e-12)
    np.testing.assert_array_equal(found, clone(estimator).fit_transform(FRAME, y))
    of_all = clone(estimator).set_params(cv=None).fit(FRAME, y).transform(FRAME)
    np.testing.assert_array_equal(estimator.transform(FRAME), of_all)
    assert not np.allclose(found, of_all)
    other = clone(estimator).set_params(random_state=4).fit_transform(FRAME, y)
    assert not np.allclose(found, other)
    given = clone(estimator).set_params(cv=splits).fit_transform(FRAME, y)
    np.testing.assert_array_equal(found, given)


def test_cross_fitting_of_means_with_weights_and_splitters() -> None:
    numbers = FRAME["x"].fillna(0.0).to_numpy() * 3 + np.arange(len(FRAME)) % 3
    data = FRAME[["rating", "day"]]
    weights = np.arange(len(FRAME)) % 3
    estimator = GridDiscretizer(encode="mean", target_kind="numerical", cv=3)
    splits = list(KFold(3, shuffle=True, random_state=0).split(data))
    found = estimator.fit_transform(data, numbers, sample_weight=weights)
    np.testing.assert_allclose(found, by_hand(estimator, data, numbers, splits, weights), atol=1e-12)
    cv = KFold(5)
    woe = GridDiscretizer(encode="woe", cv=cv).fit_transform(data, TWO, sample_weight=weights)
    expected = by_hand(GridDiscretizer(encode="woe"), data, TWO, cv.split(data), weights)
    np.testing.assert_allclose(woe, expected, atol=1e-12)
    groups = np.arange(len(data)) % 4
    by_group = list(GroupKFold(4).split(data, TWO, groups))
    grouped = GridDiscretizer(encode="woe", cv=by_group).fit_transform(data, TWO)
    np.testing.assert_allclose(grouped, by_hand(GridDiscretizer(encode="woe"), data, TWO, by_group), atol=1e-12)


def test_folds_that_lack_a_class() -> None:
    y = np.array(["a"] * 20 + ["b"] * 20 + ["c"])  # the fold of the last row is fitted to two classes
    x = pd.DataFrame({"x": np.arange(41.0), "town": ["u", "v"] * 20 + ["u"]})
    splits = [(np.arange(40), np.array([40])), (np.array([*range(20), 40]), np.arange(20, 40)),
              (np.arange(20, 41), np.arange(20))]  # fmt: skip
    for averaged in (False, True):
        estimator = GridDiscretizer(encode="woe", averaged=averaged, cv=splits)
        found = estimator.fit_transform(x, y)
        assert found.shape == (41, 6)
        two = GridDiscretizer(encode="woe", averaged=averaged).fit(x[:40], y[:40]).transform(x[40:])[0]
        assert found[40] == pytest.approx([-two[0], two[0], 0.0, -two[1], two[1], 0.0])
        assert np.array_equal(found[20:40, 1], np.zeros(20))  # nothing is known of b there
    alone = [(np.arange(20), np.arange(20, 40)), (np.arange(20, 40), np.arange(20))]
    one_class = GridDiscretizer(encode="woe", cv=alone).fit_transform(x[:40], y[:40])
    assert np.array_equal(one_class, np.zeros((40, 2)))


def test_values_that_one_fold_has_are_no_error() -> None:
    towns = pd.DataFrame({"town": ["u", "v"] * 20 + ["w"], "x": [*range(40), np.nan]})
    y = np.arange(41) % 4 // 2
    estimator = GridDiscretizer(encode="woe", cv=4, unknown="error", new_missing="error")
    assert np.isfinite(estimator.fit_transform(towns, y)).all()
    marked = np.where(np.arange(41) % 5 == 0, -1, y)
    assert np.isfinite(GridDiscretizer(encode="woe", cv=3, unlabelled=-1).fit_transform(towns, marked)).all()


def test_noise_does_not_leak_into_a_pipeline() -> None:
    """Woe of noise by the rows themselves looks like evidence; cross-fitted, it does not."""
    rng = np.random.default_rng(0)
    data, y = rng.normal(size=(120, 30)), rng.integers(0, 2, 120)
    encoder = GridDiscretizer(encode="woe", averaged=True, cv=5, n_jobs=1)
    honest, leaking = encoder.fit_transform(data, y), encoder.transform(data)

    def gain(woe: Any) -> float:
        return float(np.mean(woe[y == 1].sum(axis=1)) - np.mean(woe[y == 0].sum(axis=1)))

    assert gain(leaking) > 0.5
    assert abs(gain(honest)) < gain(leaking) / 2
    scores = cross_val_score(make_pipeline(encoder, LogisticRegression()), data[:, :5], y, cv=3, error_score="raise")
    assert np.isfinite(scores).all()
    frame = encoder.set_output(transform="pandas").fit_transform(data[:, :2], y)
    assert list(frame.columns) == ["x0", "x1"]
