"""Groups of rows and columns of a matrix as scikit-learn and its users meet them."""

from __future__ import annotations

import functools
import pickle
from dataclasses import replace
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from oracles.joint_matrices import CRITERIA, Coupled, planted, price
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score, consensus_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import gridmodl
from gridmodl.estimators import coclustering as module
from gridmodl.estimators.coclustering import GridCoclustering


class OfCounts(GridCoclustering):
    """Scikit-learn rounds the data of its checks for estimators that take categories, and so makes counts of them."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags


@parametrize_with_checks([GridCoclustering(), OfCounts(), OfCounts(counts="frequency")])
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


X, ROWS, COLUMNS = planted(60, 40, 4, seed=0)


@functools.cache
def fitted() -> GridCoclustering:
    """Fitted when a test first asks for it, not when tests are collected."""
    return GridCoclustering(random_state=3).fit(X)


FORMATS = ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")


def same_groups(labels: Any, others: Any) -> bool:
    return bool(adjusted_rand_score(labels, others) == 1.0)


# What comes out


def test_planted_groups_are_found() -> None:
    assert same_groups(fitted().row_labels_, ROWS)
    assert same_groups(fitted().column_labels_, COLUMNS)
    assert (fitted().n_row_clusters_, fitted().n_column_clusters_) == (4, 4)
    assert fitted().row_labels_.dtype == fitted().column_labels_.dtype == np.int64
    blocks = [(rows, columns) for rows in np.eye(4, dtype=bool)[ROWS].T for columns in np.eye(4, dtype=bool)[COLUMNS].T]
    true = tuple(np.array(side) for side in zip(*blocks, strict=True))
    assert consensus_score(fitted().biclusters_, true) == 1.0


def test_it_is_the_model_of_the_sparse_matrix() -> None:
    model = gridmodl.optimize(sparse.csr_array(X), random_state=3)
    assert fitted().model_.cost == model.cost
    for name, labels in (("row", fitted().row_labels_), ("column", fitted().column_labels_)):
        np.testing.assert_array_equal(labels, model.part_of(name, np.arange(len(labels))))
        assert np.all(np.diff(fitted().model_.partitions[name].rows) <= 0)
    groups = [[np.flatnonzero(labels == g).tolist() for g in range(4)] for labels in (ROWS, COLUMNS)]
    assert fitted().model_.cost == pytest.approx(price(X, *groups, "modl"), rel=1e-12)


@pytest.mark.parametrize("kind", [*FORMATS, "matrix", "bool", "negative", "float32", "list", "fortran"])
def test_every_kind_of_matrix_has_the_same_groups(kind: str) -> None:
    scale = np.random.default_rng(5).choice([-2, 3, 7], X.shape)
    given = {
        "matrix": lambda: sparse.csr_matrix(X),
        "bool": lambda: X > 0,
        "negative": lambda: X * scale,
        "float32": lambda: (X * 0.3).astype(np.float32),
        "list": X.tolist,
        "fortran": lambda: np.asfortranarray(X),
    }.get(kind, lambda: sparse.coo_array(X).asformat(kind))()
    found = GridCoclustering(random_state=3).fit(given)
    np.testing.assert_array_equal(found.row_labels_, fitted().row_labels_)
    np.testing.assert_array_equal(found.column_labels_, fitted().column_labels_)
    np.testing.assert_array_equal(found.predict(given), fitted().predict(X))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "sparse pandas"])
def test_frames(library: str) -> None:
    names = [f"c{i}" for i in range(X.shape[1])]
    frame = {
        "pandas": lambda: pd.DataFrame(X, columns=names),
        "polars": lambda: pl.DataFrame(X, schema=names),
        "pyarrow": lambda: pl.DataFrame(X, schema=names).to_arrow(),
        "sparse pandas": lambda: pd.DataFrame(X, columns=names).astype(pd.SparseDtype(int, 0)),
    }[library]()
    found = GridCoclustering(random_state=3).fit(frame)
    assert found.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(found.row_labels_, fitted().row_labels_)
    np.testing.assert_array_equal(found.predict(frame), fitted().predict(X))


def test_the_matrix_stays_as_it_is() -> None:
    twice = sparse.csr_array((np.array([1, -1, 1, 1]), np.array([1, 1, 0, 0]), np.array([0, 2, 4])), shape=(2, 2))
    before = twice.data.copy(), twice.indices.copy()
    found = GridCoclustering().fit(twice)
    assert found.row_labels_.tolist() == [-1, 0]  # entries of one place are one, their sum, here of none
    assert found.column_labels_.tolist() == [0, -1]
    assert found.model_.n_rows == 1
    np.testing.assert_array_equal(twice.data, before[0])
    np.testing.assert_array_equal(twice.indices, before[1])


def test_frequencies_count() -> None:
    counts = X * np.random.default_rng(1).integers(1, 5, X.shape)
    found = GridCoclustering(counts="frequency").fit(counts.astype(float))
    assert found.model_.n_rows == counts.sum()
    assert GridCoclustering().fit(counts).model_.n_rows == X.sum()
    assert found.model_.cost == gridmodl.optimize(sparse.csr_array(counts)).cost


def test_rows_and_columns_without_entries_are_in_no_group() -> None:
    holed = np.insert(np.insert(X, [0, 30], 0, axis=0), [5, 40], 0, axis=1)
    found = GridCoclustering(random_state=3).fit(holed)
    assert np.flatnonzero(found.row_labels_ == -1).tolist() == [0, 31]
    assert np.flatnonzero(found.column_labels_ == -1).tolist() == [5, 41]
    np.testing.assert_array_equal(np.delete(found.row_labels_, [0, 31]), fitted().row_labels_)
    assert not found.rows_[:, [0, 31]].any()
    assert not found.columns_[:, [5, 41]].any()
    assert found.rows_.any(axis=0).sum() == 60
    unseen = np.zeros((2, 42))
    unseen[1, [5, 41]] = 1
    assert found.predict(unseen).tolist() == [-1, -1]
    known = np.vstack([unseen, holed])
    known[:, [5, 41]] = 1
    np.testing.assert_array_equal(found.predict(known)[2:], found.predict(holed))


@pytest.mark.parametrize("given", [[[1]], [[1, 0, 2]], [[1], [0], [2]]])
def test_one_row_or_column_is_one_group(given: Any) -> None:
    found = GridCoclustering().fit(given)
    assert found.row_labels_.tolist() == [0 if any(row) else -1 for row in given]
    assert (found.n_row_clusters_, found.n_column_clusters_) == (1, 1)
    np.testing.assert_array_equal(found.predict(given), found.row_labels_)


def test_noise_is_one_group() -> None:
    noise = np.random.default_rng(4).random((30, 20)) < 0.5
    found = GridCoclustering(random_state=1).fit(noise)
    assert found.rows_.shape == (1, 30)
    assert found.rows_.all()
    assert not found.predict(noise).any()


# Biclusters


def test_biclusters_are_products_of_groups() -> None:
    rows, columns = fitted().biclusters_
    assert rows.shape == (16, 60)
    assert columns.shape == (16, 40)
    for i in range(16):
        of_rows, of_columns = fitted().get_indices(i)
        np.testing.assert_array_equal(of_rows, np.flatnonzero(rows[i]))
        np.testing.assert_array_equal(of_columns, np.flatnonzero(columns[i]))
        np.testing.assert_array_equal(of_rows, np.flatnonzero(fitted().row_labels_ == i // 4))
        np.testing.assert_array_equal(of_columns, np.flatnonzero(fitted().column_labels_ == i % 4))
        assert fitted().get_shape(i) == (len(of_rows), len(of_columns))
        np.testing.assert_array_equal(fitted().get_submatrix(i, X), X[np.ix_(of_rows, of_columns)])
        part = fitted().get_submatrix(i, sparse.csc_array(X))
        np.testing.assert_array_equal(part.toarray(), X[np.ix_(of_rows, of_columns)])
    assert "rows_" not in vars(fitted())
    for i in (-1, 16, 1.0):
        with pytest.raises(IndexError, match=f"from 0 to 15, got {i}"):
            fitted().get_indices(i)


def test_coarser_groups() -> None:
    coarse = fitted().coarsen(max_parts={"row": 2})
    assert coarse.n_row_clusters_ == 2
    assert set(coarse.predict(X).tolist()) == {0, 1}
    assert coarse.model_.cost == fitted().model_.coarsen(max_parts={"row": 2}).cost
    for g in range(4):
        assert len(np.unique(coarse.row_labels_[fitted().row_labels_ == g])) == 1
    assert fitted().n_row_clusters_ == 4
    assert fitted().hierarchy().steps == fitted().model_.hierarchy().steps
    one = fitted().coarsen(max_cells=1)
    assert one.predict(X).tolist() == [0] * 60


def test_max_parts() -> None:
    found = GridCoclustering(max_parts=3, random_state=3).fit(X)
    assert max(found.n_row_clusters_, found.n_column_clusters_) <= 3


# New rows


def test_rows_of_planted_groups_go_to_these() -> None:
    np.testing.assert_array_equal(fitted().predict(X), fitted().row_labels_)
    new, rows, _ = planted(200, 40, 4, seed=1)
    assert same_groups(fitted().predict(new), rows)
    assert np.unique(fitted().row_labels_[ROWS == 0]).tolist() == np.unique(fitted().predict(new[rows == 0])).tolist()


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("counts", ["binary", "frequency"])
def test_a_new_row_goes_where_the_full_price_is_lowest(name: str, counts: str) -> None:
    small = planted(24, 16, 3, seed=2)[0] * np.random.default_rng(0).integers(1, 4, (24, 16))
    found = GridCoclustering(criterion=CRITERIA[name], counts=counts, random_state=3).fit(small)
    if found.n_row_clusters_ == 1:  # a grid to price rows in, whatever this criterion finds
        found.criterion_ = CRITERIA[name]
        groups = {"row": [list(range(9)), list(range(9, 24))], "column": [list(range(5)), list(range(5, 16))]}
        entries = sparse.csr_array(small if counts == "frequency" else (small != 0).astype(int))
        model = gridmodl.Model.from_partitions(entries, None, groups, criterion=CRITERIA[name])
        found._take(model, small.shape)
    rng = np.random.default_rng(6)
    new = rng.integers(1, 6, (8, 16)) * (rng.random((8, 16)) < 0.3)
    new[:, 0] += 1
    rows, columns = (
        [np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1)]
        for labels in (found.row_labels_, found.column_labels_)
    )
    for row, group in zip(new, found.predict(new).tolist(), strict=True):
        grown = np.vstack([small, row])
        grown = grown if counts == "frequency" else (grown != 0).astype(int)
        prices = [
            price(grown, [[*own, 24] if i == g else own for i, own in enumerate(rows)], columns, CRITERIA[name])
            for g in range(len(rows))
        ]
        assert prices[group] <= min(prices) + 1e-9


# In the company of others


def test_pickle_clone_and_repr() -> None:
    again = pickle.loads(pickle.dumps(fitted()))  # noqa: S301
    np.testing.assert_array_equal(again.predict(X), fitted().predict(X))
    assert fitted().model_._source is None
    own = GridCoclustering(criterion=Coupled(), search=gridmodl.Search(effort=0))
    assert clone(own).get_params() == own.get_params()
    again = pickle.loads(pickle.dumps(own.fit(X)))  # noqa: S301
    assert again.criterion_ == Coupled()
    assert repr(GridCoclustering(counts="frequency")) == "GridCoclustering(counts='frequency')"
    assert "GridCoclustering" in fitted()._repr_html_()


def test_processes_of_joblib() -> None:
    out = joblib.Parallel(n_jobs=2, backend="loky")(
        joblib.delayed(GridCoclustering(random_state=3, n_jobs=n_jobs).fit)(X) for n_jobs in (None, 2)
    )
    for found in out:
        np.testing.assert_array_equal(found.predict(X), fitted().predict(X))


def test_same_seed_same_groups() -> None:
    noisy = planted(50, 50, 3, seed=5, inside=0.4, outside=0.2)[0]
    labels = [GridCoclustering(random_state=2).fit(noisy).row_labels_ for _ in range(2)]
    np.testing.assert_array_equal(*labels)


# What is refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"counts": "tf-idf"}, "counts must be one of 'binary', 'frequency', got 'tf-idf'"),
        ({"criterion": "best"}, "unknown criterion 'best'"),
        ({"criterion": "gini"}, "no target"),
        ({"criterion_options": [0.5]}, "criterion_options must be a dict"),
        ({"criterion_options": {"gamma": 1}}, "no option 'gamma'"),
        ({"search": "quick"}, "search"),
        ({"max_parts": 0}, "max_parts"),
        ({"time_limit": -1}, "time_limit"),
        ({"random_state": "x"}, "random_state"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_arguments_are_checked_in_fit(arguments: dict[str, Any], message: str) -> None:
    estimator = GridCoclustering(**arguments)
    with pytest.raises((ValueError, TypeError), match=message):
        estimator.fit(X)
    for name in ("rows_", "columns_", "biclusters_", "n_row_clusters_", "n_column_clusters_"):
        assert not hasattr(estimator, name)
    for method in (estimator.hierarchy, lambda: estimator.coarsen(max_parts=1), lambda: estimator.get_indices(0)):
        with pytest.raises(NotFittedError):
            method()


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.lil_array])
@pytest.mark.parametrize(
    ("given", "counts", "message"),
    [
        ([[1.0, np.nan]], "binary", "NaN"),
        ([[1.0, np.inf]], "binary", "infinity"),
        ([[1.0, np.nan]], "frequency", "NaN"),
        ([[1.0, -np.inf]], "frequency", "infinity"),
        ([[3.0, -2.0]], "frequency", "Negative values in data, such as -2.0: counts='frequency'"),
        ([[3.0, 0.5]], "frequency", "Fractions in data, such as 0.5: counts='frequency'"),
        ([[2.0**52, 2.0**52]], "frequency", "sum to more than"),
        ([[0.0, 0.0], [0.0, 0.0]], "binary", "all entries of X, 2 rows by 2 columns, are 0"),
        ([[1j, 0.0]], "binary", "Complex"),
    ],
)
def test_other_data_is_refused(make: Any, given: Any, counts: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GridCoclustering(counts=counts).fit(make(given))


def test_new_rows_are_checked() -> None:
    found = GridCoclustering(counts="frequency").fit(X)
    with pytest.raises(ValueError, match="Negative"):
        found.predict(-X)
    with pytest.raises(ValueError, match="features"):
        found.predict(X[:, 1:])
    with pytest.raises(ValueError, match="0 sample"):
        found.predict(X[:0])
    with pytest.raises(ValueError, match="could not convert"):
        GridCoclustering().fit(pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}))


def test_interruption_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    optimize = module.optimize
    monkeypatch.setattr(
        module, "optimize", lambda *args, **kwargs: replace(optimize(*args, **kwargs), stopped="interrupted")
    )
    with pytest.raises(KeyboardInterrupt):
        GridCoclustering().fit(X)


def test_typical_columns_go_by_name() -> None:
    X = pd.DataFrame(np.kron(np.eye(2, dtype=int), np.ones((4, 3), dtype=int)), columns=list("abcdef"))
    fitted = GridCoclustering().fit(X)
    columns = [sorted(group.tolist()) for group in fitted.typical_columns(n=9)]
    assert columns == [sorted(X.columns[fitted.column_labels_ == g]) for g in range(2)]
    assert [len(group) for group in fitted.typical_columns(n=2)] == [2, 2]
    assert sorted(np.concatenate(fitted.typical_rows(n=9)).tolist()) == list(range(8))
    assert GridCoclustering().fit(X.to_numpy()).typical_columns(1)[0].dtype.kind == "i"
