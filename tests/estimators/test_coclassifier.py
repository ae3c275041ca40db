"""Classes of rows from groups found without them, as scikit-learn and its users meet them."""

from __future__ import annotations

import functools
import itertools
import pickle
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from oracles.joint_matrices import CRITERIA, planted, price
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import gridmodl
from gridmodl.estimators.coclassifier import CoclusteringClassifier
from gridmodl.estimators.coclustering import GridCoclustering


class OfCounts(CoclusteringClassifier):
    """Scikit-learn rounds the data of its checks for estimators that take categories, and so makes counts of them."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags


@parametrize_with_checks([CoclusteringClassifier(), OfCounts(), OfCounts(counts="frequency")])
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


X, ROWS, _ = planted(60, 40, 4, seed=0)
NEW, NEW_ROWS, _ = planted(100, 40, 4, seed=1)
NAMES = np.array(["ant", "bee", "cat", "dog"])


def some_labelled(n_each: int = 1, mark: Any = None) -> Any:
    """The names of the first rows of each group, the mark elsewhere."""
    y = NAMES[ROWS].astype(object)
    y[4 * n_each :] = mark
    return y


@functools.cache
def fitted() -> CoclusteringClassifier:
    """Fitted when a test first asks for it, not when tests are collected."""
    return CoclusteringClassifier(random_state=3).fit(X, some_labelled())


def test_few_labelled_rows_are_enough() -> None:
    assert fitted().classes_.tolist() == NAMES.tolist()
    np.testing.assert_array_equal(fitted().transduction_, NAMES[ROWS])
    np.testing.assert_array_equal(fitted().predict(X), NAMES[ROWS])
    np.testing.assert_array_equal(fitted().predict(NEW), NAMES[NEW_ROWS])
    np.testing.assert_array_equal(fitted().predict_proba(NEW), np.eye(4)[NEW_ROWS])
    np.testing.assert_array_equal(fitted().label_distributions_, np.eye(4)[ROWS])


def test_groups_are_found_without_classes() -> None:
    alone = GridCoclustering(random_state=3).fit(X)
    np.testing.assert_array_equal(fitted().coclustering_.row_labels_, alone.row_labels_)
    other = CoclusteringClassifier(random_state=3).fit(X, np.random.default_rng(0).permutation(ROWS))
    np.testing.assert_array_equal(other.coclustering_.row_labels_, alone.row_labels_)


def test_shares_are_those_of_the_labelled_rows_of_the_group() -> None:
    y = np.random.default_rng(2).choice(["no", "yes", "?"], 60)
    found = CoclusteringClassifier(unlabelled="?", random_state=3).fit(X, y)
    assert found.classes_.tolist() == ["no", "yes"]
    labels = found.coclustering_.row_labels_
    for g in range(4):
        of_group = y[labels == g]
        assert found.group_counts_[g].tolist() == [(of_group == "no").sum(), (of_group == "yes").sum()]
    shares = found.group_counts_[labels] / found.group_counts_[labels].sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(found.label_distributions_, shares)
    np.testing.assert_array_equal(found.predict_proba(X).argmax(axis=1), (found.predict(X) == "yes").astype(int))
    assert found.predict_proba(NEW).sum(axis=1) == pytest.approx(1.0, abs=1e-12)


def slowly_merged_counts(found: Any, entries: Any, codes: Any, n_classes: int, criterion: Any) -> list[list[int]]:
    """Class counts of the group that each group of rows ends in, every merge priced from nothing."""
    labels, columns = found.row_labels_, found.column_labels_
    across = [np.flatnonzero(columns == t).tolist() for t in range(columns.max() + 1)]
    groups = [{g} for g in range(labels.max() + 1)]

    def rows_of(group: Any) -> Any:
        return np.flatnonzero(np.isin(labels, list(group)))

    def counts_of(group: Any) -> Any:
        return np.bincount(codes[rows_of(group)][codes[rows_of(group)] >= 0], minlength=n_classes)

    while any(not counts_of(group).any() for group in groups):
        best = (np.inf, groups)
        for a, b in itertools.combinations(groups, 2):
            if counts_of(a).any() and counts_of(b).any():
                continue
            merged = [*(group for group in groups if group not in (a, b)), a | b]
            best = min(best, (price(entries, [rows_of(group).tolist() for group in merged], across, criterion), merged))
        groups = best[1]
    return [next(counts_of(group) for group in groups if g in group).tolist() for g in range(labels.max() + 1)]


@pytest.mark.parametrize("name", ["modl", "khiops11"])
@pytest.mark.parametrize("seed", range(3))
def test_groups_without_labelled_rows_are_merged_where_it_is_cheapest(name: str, seed: int) -> None:
    entries, rows, _ = planted(60, 48, 6, seed=10 + seed, inside=0.9)
    codes = np.where(rows < 2 + seed, rows % 3, -1)
    found = CoclusteringClassifier(criterion=CRITERIA[name], unlabelled=-1, random_state=4).fit(entries, codes)
    n_classes = len(found.classes_)
    assert found.coclustering_.n_row_clusters_ > 4
    slow = slowly_merged_counts(found.coclustering_, entries, codes, n_classes, CRITERIA[name])
    assert found.group_counts_[:-1].tolist() == slow
    assert np.all(found.group_counts_.sum(axis=1) > 0)


def test_rows_without_entries_have_the_shares_of_their_like() -> None:
    holed = np.vstack([X, np.zeros((3, 40), dtype=int)])
    y = np.append(some_labelled(2), [None, None, None])
    found = CoclusteringClassifier(random_state=3).fit(holed, y)
    np.testing.assert_array_equal(found.label_distributions_[60:], np.full((3, 4), 0.25))  # all labelled rows
    y[60:62] = "dog"
    found = CoclusteringClassifier(random_state=3).fit(holed, y)
    np.testing.assert_array_equal(found.label_distributions_[60:], np.eye(4)[[3, 3, 3]])
    np.testing.assert_array_equal(found.predict(np.zeros((1, 40))), ["dog"])
    y[:60] = None  # then nothing is known of the groups
    found = CoclusteringClassifier(random_state=3).fit(holed, y)
    assert found.classes_.tolist() == ["dog"]
    assert set(found.transduction_) == {"dog"}


@pytest.mark.parametrize(
    ("classes", "mark"),
    [
        ([0, 1, 2, 3], -1),
        ([0, 1, 2, 3], None),
        ([0, 1, 2, 3], np.nan),
        ([-1, 5, 6, 7], None),
        ([0.0, 1.0, 2.0, 3.0], np.nan),
        (["a", "b", "c", "d"], "?"),
        (["a", "b", "c", "d"], None),
        ([True, False, True, False], None),
    ],
)
@pytest.mark.parametrize("kind", ["array", "list", "pandas", "polars"])
def test_every_kind_of_classes_and_marks(classes: Any, mark: Any, kind: str) -> None:
    y = [classes[g] if i < 20 else mark for i, g in enumerate(ROWS)]
    given = {"list": list, "array": np.array, "pandas": pd.Series, "polars": lambda y: pl.Series(y, strict=False)}
    found = CoclusteringClassifier(unlabelled=mark, random_state=3).fit(X, given[kind](y))
    assert found.classes_.tolist() == sorted(set(classes))
    assert found.transduction_.tolist() == [classes[g] for g in ROWS]
    if mark is None or mark != "?":
        assert accuracy_score([classes[g] for g in ROWS], found.predict(X)) == 1.0


def test_minus_one_is_a_class_unless_it_is_the_mark() -> None:
    y = np.where(ROWS < 2, -1, 1)
    assert CoclusteringClassifier(random_state=3).fit(X, y).classes_.tolist() == [-1, 1]
    assert CoclusteringClassifier(unlabelled=-1, random_state=3).fit(X, y).classes_.tolist() == [1]


def test_hundreds_of_classes() -> None:
    entries, rows, _ = planted(800, 60, 5, seed=3)
    y = rows + 5 * np.random.default_rng(0).integers(0, 60, 800)
    found = CoclusteringClassifier(random_state=3).fit(entries, y)
    assert found.predict_proba(entries).shape == (800, len(np.unique(y)))
    assert np.all(found.predict(entries) % 5 == rows)


def test_all_rows_labelled_is_a_plain_classifier() -> None:
    digits = load_digits()
    entries, y = digits.data > 7, digits.target
    found = CoclusteringClassifier(search=gridmodl.Search(effort=0)).fit(entries[:1200], y[:1200])
    assert accuracy_score(y[1200:], found.predict(entries[1200:])) > 0.6


def test_sparse_and_frames() -> None:
    y = some_labelled()
    for given in (sparse.csr_array(X), sparse.dok_matrix(X), pd.DataFrame(X), X.tolist()):
        found = CoclusteringClassifier(random_state=3).fit(given, y)
        np.testing.assert_array_equal(found.predict(given), NAMES[ROWS])
    frame = pl.DataFrame(X, schema=[f"c{i}" for i in range(40)])
    found = CoclusteringClassifier(random_state=3).fit(frame, pl.Series(y.tolist()))
    assert found.feature_names_in_.tolist() == frame.columns
    with pytest.raises(ValueError, match="feature names"):
        found.predict(frame.select(frame.columns[::-1]))


def test_texts_in_a_pipeline_and_a_grid_search() -> None:
    words = {"sea": ["ship", "wave", "salt", "reef", "tide"], "sky": ["wind", "bird", "star", "rain", "moon"]}
    rng = np.random.default_rng(0)
    y = np.array(["sea", "sky"])[rng.integers(0, 2, 80)]
    texts = [" ".join(rng.choice(words[topic], 4)) for topic in y]
    pipeline = make_pipeline(CountVectorizer(), CoclusteringClassifier())
    search = GridSearchCV(
        pipeline, {"coclusteringclassifier__counts": ["binary", "frequency"]}, cv=3, error_score="raise"
    )
    assert search.fit(texts, y).best_score_ == 1.0
    assert search.predict(["a ship in the tide", "stars? no star, a bird"]).tolist() == ["sea", "sky"]
    assert "CoclusteringClassifier" in search.best_estimator_._repr_html_()


def test_pickle_clone_and_processes() -> None:
    again = pickle.loads(pickle.dumps(fitted()))  # noqa: S301
    np.testing.assert_array_equal(again.predict_proba(NEW), fitted().predict_proba(NEW))
    np.testing.assert_array_equal(again.transduction_, fitted().transduction_)
    own = CoclusteringClassifier(unlabelled="?", criterion=CRITERIA["khiops11"])
    assert clone(own).get_params() == own.get_params()
    assert repr(own).startswith("CoclusteringClassifier(")
    out = joblib.Parallel(n_jobs=2, backend="loky")(
        joblib.delayed(CoclusteringClassifier(random_state=3).fit)(X, some_labelled()) for _ in range(2)
    )
    for found in out:
        np.testing.assert_array_equal(found.predict(NEW), fitted().predict(NEW))


@pytest.mark.parametrize(
    ("y", "unlabelled", "message"),
    [
        (None, None, "requires y"),
        ([None] * 60, None, "none of the 60 rows has a class, as unlabelled=None"),
        ([-1] * 60, -1, "none of the 60 rows has a class, as unlabelled=-1"),
        (some_labelled(), "?", "NaN or None in 56 of 60 rows"),
        (ROWS + 0.5, None, "continuous"),
        (ROWS[:-1], None, "inconsistent numbers of samples"),
        (np.where(ROWS == 0, np.inf, 1.0), None, "infinity"),
        (np.ones((60, 2)), None, "1d"),
        (np.array([1, "a"] * 30, dtype=object), None, "label|sorted"),
        (ROWS, "3", "unlabelled='3' marks no row, but the target has the class 3"),
        (ROWS, [1, 2], "unlabelled must be one value"),
    ],
)
def test_other_classes_are_refused(y: Any, unlabelled: Any, message: str) -> None:
    estimator = CoclusteringClassifier(unlabelled=unlabelled)
    with pytest.raises((ValueError, TypeError), match=message):
        estimator.fit(X, y)
    assert not hasattr(estimator, "transduction_")
    assert not hasattr(estimator, "label_distributions_")
    with pytest.raises(NotFittedError):
        estimator.predict(X)


def test_arguments_reach_the_coclustering() -> None:
    with pytest.raises(ValueError, match="counts must be one of"):
        CoclusteringClassifier(counts="share").fit(X, ROWS)
    found = CoclusteringClassifier(max_parts=2, time_limit=60, n_jobs=1, search="merge").fit(X, ROWS)
    assert found.coclustering_.n_row_clusters_ <= 2
    counted = CoclusteringClassifier(counts="frequency").fit(2 * X, ROWS)
    assert counted.coclustering_.model_.n_rows == 2 * X.sum()


def test_the_balanced_threshold_lowers_the_balanced_error() -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 4, 400)
    X = rng.random((400, 20)) < np.where(np.arange(20) // 5 == group[:, None], 0.8, 0.1)
    y = rng.random(400) < np.array([0.05, 0.1, 0.2, 0.4])[group]
    plain, balanced = (CoclusteringClassifier(threshold=threshold).fit(X, y) for threshold in (None, "balanced"))
    np.testing.assert_array_equal(plain.predict_proba(X), balanced.predict_proba(X))
    assert not plain.transduction_.any()  # no group has more of the second class
    found = balanced_accuracy_score(y, balanced.transduction_)
    shares = plain.label_distributions_[:, 1]
    assert found == max(balanced_accuracy_score(y, shares > t) for t in np.linspace(0.0, 1.0, 201)) > 0.6
    with pytest.raises(ValueError, match=r"threshold must be one of 'balanced' or None, got 0\.5"):
        CoclusteringClassifier(threshold=0.5).fit(X, y)


def test_minus_one_as_a_class_is_said() -> None:
    X = np.kron(np.eye(3, dtype=int), np.ones((4, 3), dtype=int))
    y = [0, -1, -1, -1, 1, -1, -1, -1, 2, -1, -1, -1]
    with pytest.warns(UserWarning, match="unlabelled=-1"):
        assert CoclusteringClassifier().fit(X, y).classes_.tolist() == [-1, 0, 1, 2]
    assert CoclusteringClassifier(unlabelled=-1).fit(X, y).transduction_.tolist() == np.repeat([0, 1, 2], 4).tolist()
    assert CoclusteringClassifier().fit(X, [-1, 1] * 6).classes_.tolist() == [-1, 1]  # two classes, no warning
