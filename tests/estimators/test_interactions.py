"""Grids beside columns in `GridNaiveBayes` and `GridLogistic`: when they are kept, and what users see of them."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator
from report.databases import DIALECTS, Stored, run
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import gridmodl
from gridmodl import Model
from gridmodl.estimators import GridLogistic, GridNaiveBayes
from gridmodl.estimators.interactions import LabelledRows, choose
from gridmodl.evidence.grids import grid_sources
from gridmodl.evidence.record import WeightedEvidence


def make_xor(n: int = 300, seed: int = 0, n_classes: int = 2) -> tuple[pd.DataFrame, Any]:
    """Classes that two of four columns tell together, and none alone; 5 % noise."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"size": rng.random(n), "town": rng.choice(list("pqrst"), n), "noise": rng.random(n)})
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D")
    code = (frame["size"] > 0.5).astype(int) ^ frame["town"].isin(["p", "q"]).astype(int)
    code = np.where(rng.random(n) < 0.05, rng.integers(0, n_classes, n), code)
    return frame, np.array(["no", "yes", "other"])[code]


def bayes(**options: Any) -> GridNaiveBayes:
    return GridNaiveBayes(**{"weights": "selective", "interactions": "auto", **options})


def logistic(**options: Any) -> GridLogistic:
    return GridLogistic(**{"interactions": "auto", **options})


BOTH = pytest.mark.parametrize("make", [bayes, logistic])
X, Y = make_xor()
TEST, Y_TEST = make_xor(seed=1)


@parametrize_with_checks([bayes()])
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@BOTH
def test_xor_is_found(make: Any) -> None:
    alone, both = make(interactions=None).fit(X, Y), make().fit(X, Y)
    assert alone.grids_ == {}
    assert alone.score(TEST, Y_TEST) < 0.65
    assert list(both.grids_) == ["size x town"]
    assert both.score(TEST, Y_TEST) > 0.9
    grid = both.grids_["size x town"]
    assert isinstance(grid, Model)
    assert set(grid.informative) == {"size", "town"}
    assert len(grid.rules()) == 4
    assert both.grid_weights_["size x town"] > 0.5
    assert "size x town" in both.evidence_.table()["column"].tolist()


@BOTH
@pytest.mark.parametrize("seed", range(3))
def test_noise_keeps_no_grid(make: Any, seed: int) -> None:
    frame, _ = make_xor(400, seed)
    y = np.random.default_rng(100 + seed).integers(0, 3, 400)
    fitted = make().fit(frame, y)
    assert fitted.grids_ == {}
    np.testing.assert_allclose(fitted.predict_proba(frame), np.tile(fitted.class_shares_, (400, 1)))


@BOTH
def test_few_rows_keep_no_grid(make: Any) -> None:
    frame, y = make_xor(24)
    assert make().fit(frame, y).grids_ == {}


@pytest.mark.parametrize("seed", range(2))
def test_columns_that_do_not_interact_keep_no_grid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 1000)
    frame = pd.DataFrame({name: rng.normal(size=1000) + y for name in "abcd"})
    fitted = bayes().fit(frame, y)
    assert fitted.grids_ == {}
    assert np.array_equal(fitted.weights_, bayes(interactions=None).fit(frame, y).weights_)


def test_at_most_interactions_grids() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((800, 6)), columns=list("abcdef"))
    high = frame > 0.5
    y = (high["a"] ^ high["b"]).astype(int) + 2 * (high["c"] ^ high["d"])
    y = np.where(rng.random(800) < 0.1, rng.integers(0, 4, 800), y)
    every = bayes().fit(frame, y)
    assert len(every.grids_) > 1
    one = bayes(interactions=1).fit(frame, y)
    assert len(one.grids_) == 1
    assert set(one.grids_) <= set(every.grids_)
    assert bayes(interactions=0).fit(frame, y).grids_ == {}
    assert len(bayes(interactions=len(every.grids_)).fit(frame, y).grids_) == len(every.grids_)


def test_the_grids_that_matter_most_are_kept() -> None:
    """Of two independent grids, the one whose loss is felt more."""
    rng = np.random.default_rng(0)
    a, b, c, d = rng.random((4, 2000))
    y = ((a > 0.5) ^ (b > 0.5)).astype(int) + 2 * ((c > 0.5) ^ (d > 0.5))
    y = np.where(rng.random(2000) < 0.5, y % 2 + 2 * rng.integers(0, 2, 2000), y)  # the second is half noise
    columns = {"a": a, "b": b, "c": c, "d": d}
    models = [
        Model.from_partitions({n: columns[n] for n in names}, y, {n: [0.5] for n in names}, target_kind="classes")
        for names in ("ab", "cd")
    ]
    log_prior = np.log(np.bincount(y) / 2000)
    labelled = LabelledRows(columns, y, y, np.ones(2000, dtype=np.int64), log_prior)
    grids = grid_sources(models, log_prior, list(columns), 4)
    assert [grid.name for grid in choose(labelled, [], grids, None).grids] == ["a x b", "c x d"]
    assert [grid.name for grid in choose(labelled, [], grids, 1).grids] == ["a x b"]
    assert [grid.name for grid in choose(labelled, [], grids[::-1], 1).grids] == ["a x b"]
    assert choose(labelled, [], [], None).weights.shape == (0,)


@BOTH
def test_same_data_same_answer(make: Any) -> None:
    first, again = make().fit(X, Y), make(n_jobs=2).fit(X, Y)
    assert first.to_json().split('"elapsed"')[0] == again.to_json().split('"elapsed"')[0]
    assert np.array_equal(first.predict_proba(TEST), again.predict_proba(TEST))
    assert np.array_equal(first.predict_proba(TEST), pickle.loads(pickle.dumps(first)).predict_proba(TEST))  # noqa: S301
    assert clone(first).interactions == "auto"


def test_weights_count_as_repeated_rows() -> None:
    weights = np.random.default_rng(0).integers(0, 3, len(Y))
    weighted = bayes().fit(X, Y, sample_weight=weights)
    rows = np.repeat(np.arange(len(Y)), weights)
    repeated = bayes().fit(X.iloc[rows], Y[rows])
    assert list(weighted.grids_) == list(repeated.grids_) == ["size x town"]
    np.testing.assert_allclose(weighted.predict_proba(TEST), repeated.predict_proba(TEST), rtol=1e-6)


@BOTH
@pytest.mark.parametrize("n_classes", [2, 3])
def test_files_and_queries_predict_the_same(make: Any, n_classes: int) -> None:
    frame, y = make_xor(400, n_classes=n_classes)
    frame = frame.drop(columns="day")
    frame.loc[::9, "size"] = np.nan
    fitted = make().fit(frame, y)
    assert fitted.grids_
    new = frame.copy()
    new.loc[3, "town"] = "new"
    new.loc[4, "noise"] = np.nan
    expected = fitted.predict_proba(new)
    text = fitted.to_json()
    Draft202012Validator(gridmodl.json_schema("evidence")).validate(json.loads(text))
    again = WeightedEvidence.from_json(text)
    assert again.to_json() == text
    assert np.array_equal(again.predict_proba(new), expected)
    for dialect in DIALECTS:
        columns = {name: Stored("double", [None if pd.isna(v) else v for v in new[name]]) for name in ("size", "noise")}
        columns["town"] = Stored("text", new["town"].tolist())
        found = run(dialect, fitted.to_sql(dialect, keep=["row number"]), columns)
        np.testing.assert_allclose(np.array(found), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda source: source.update(evidence=[[0.0, 0.0]]), "evidence: must be 4 lists of 2"),
        (lambda source: source["model"].update(n_rows=-1), r"sources\[\d\].model: .*n_rows"),
        (lambda source: source.pop("name"), "name"),
    ],
)
def test_wrong_files_are_refused(edit: Any, words: str) -> None:
    record = json.loads(bayes().fit(X, Y).to_json())
    (source,) = [one for one in record["sources"] if one["kind"] == "grid"]
    edit(source)
    with pytest.raises(ValueError, match=words):
        WeightedEvidence.from_json(json.dumps(record))


def test_pictures_of_grids() -> None:
    display = gridmodl.plot.GridDisplay.from_model(bayes().fit(X, Y).grids_["size x town"]).plot()
    assert {display.ax_.get_xlabel(), display.ax_.get_ylabel()} == {"size", "town"}


def test_explanations_have_the_values_of_a_grid() -> None:
    fitted = bayes().fit(X, Y)
    table = fitted.explain(X[:1]).table()
    line = table[table["column"] == "size x town"].iloc[0]
    assert line["value"] == f"{X['size'].iloc[0]}, {X['town'].iloc[0]}"


@BOTH
def test_one_class_or_one_column_has_no_grid(make: Any) -> None:
    assert make().fit(X, np.repeat("a", len(X))).grids_ == {}
    assert make().fit(X[["size"]], Y).grids_ == {}
    assert make().fit(X[:1], Y[:1]).predict(X).tolist() == [Y[0]] * len(X)


def test_unlabelled_rows_are_in_no_grid() -> None:
    y = np.where(np.arange(len(Y)) % 4 == 0, "?", Y)
    fitted = bayes(unlabelled="?").fit(X, y)
    assert list(fitted.grids_) == ["size x town"]
    assert fitted.grids_["size x town"].n_rows == np.count_nonzero(y != "?")


def test_limited_columns_are_in_no_grid() -> None:
    frame = X.assign(alike=X["size"].round(2))  # no copy: those are left out
    grids = bayes(monotone={"size": "increasing"}).fit(frame, Y).grids_
    assert grids
    assert all("size" not in grid.informative for grid in grids.values())
    with pytest.raises(ValueError, match="4 of 4 columns have limits of their own"):
        bayes(missing="apart").fit(X, Y)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"interactions": -1}, ValueError, "0 or more"),
        ({"interactions": "all"}, TypeError, "None, 'auto' or a number"),
        ({"interactions": True}, TypeError, "got True"),
        ({"interactions": 2.0}, TypeError, "got 2.0"),
        ({"weights": "uniform"}, ValueError, "needs weights='selective'"),
        ({"target_kind": "grouped"}, ValueError, "not for target_kind='grouped'"),
    ],
)
def test_wrong_arguments(options: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        bayes(**options).fit(X, Y)


@BOTH
def test_time_limit(make: Any) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((4000, 40)))
    frame.columns = [f"v{i}" for i in range(40)]
    y = (frame["v0"] > 0.5) ^ (frame["v1"] > 0.5)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        fitted = make(time_limit=0.05).fit(frame, y)
    assert fitted.predict_proba(frame[:3]).shape == (3, 2)
