"""What holds for every estimator: names, frames, copies, pipelines, searches, weights by routing, small fits."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import gridmodl
from gridmodl import Search, estimators

FEW = Search("diverse", effort=3, keep_optima=20)
EVERY = {
    "discretizer": gridmodl.GridDiscretizer(),
    "naive Bayes": gridmodl.GridNaiveBayes(),
    "selective naive Bayes": gridmodl.GridNaiveBayes(weights="selective"),
    "grouped naive Bayes": gridmodl.GridNaiveBayes(target_kind="grouped"),
    "naive Bayes of parts": gridmodl.GridNaiveBayes(averaged=False),
    "logistic": gridmodl.GridLogistic(),
    "scorecard": gridmodl.GridScorecard(),
    "grid": gridmodl.GridClassifier(),
    "ensemble": gridmodl.GridEnsembleClassifier(search=FEW),
    "grouped grid": gridmodl.GridClassifier(target_kind="grouped", search=Search(effort=2)),
    "regressor": gridmodl.GridRegressor(search=Search(effort=2)),
    "regressor ensemble": gridmodl.GridRegressor(search=FEW, ensemble=5),
    "coclustering": gridmodl.GridCoclustering(),
    "coclustering classifier": gridmodl.CoclusteringClassifier(),
}
MIXED = [name for name, estimator in EVERY.items() if "coclustering" not in name]
TWO_CLASSES = ["scorecard"]
CLASSIFIERS = [name for name, estimator in EVERY.items() if is_classifier(estimator)]


def make_data(n: int = 120, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "so so", "yes"], n)
    number = np.where(y == "yes", 2.0, 0.0) + rng.normal(size=n)
    number[::10] = np.nan
    text = np.where(rng.random(n) < 0.8, y, "other").astype(object)
    text[::11] = None
    return pd.DataFrame({"number": number, "text": text, "flag": y == "no"}), y


def make_matrix(n: int = 120, seed: int = 0) -> tuple[Any, Any]:
    """Zeros and ones in blocks."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    present = np.array([[0.9, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.7]])[group][:, np.arange(12) % 3]
    return (rng.random((n, 12)) < present).astype(np.int64), np.array(["no", "so so", "yes"])[group]


def data_for(name: str, seed: int = 0, n: int = 120) -> tuple[Any, Any]:
    if name not in MIXED:
        return make_matrix(seed=seed)
    X, y = make_data(n, seed)
    if name in TWO_CLASSES:
        return X, np.where(y == "yes", "yes", "no")
    if is_regressor(EVERY[name]):
        return X, np.unique(y, return_inverse=True)[1] + 0.1 * np.random.default_rng(seed + 99).normal(size=n)
    return X, y


def answer(estimator: Any, X: Any) -> Any:
    return estimator.transform(X) if hasattr(estimator, "transform") else estimator.predict(X)


@pytest.fixture(params=EVERY)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def estimator(name: str) -> Any:
    return clone(EVERY[name])


def test_every_estimator_is_here_and_reached_from_the_top() -> None:
    public = {what for what in estimators.__all__ if issubclass(getattr(estimators, what), BaseEstimator)}
    assert public == {type(estimator).__name__ for estimator in EVERY.values()}
    for what in public:
        assert getattr(gridmodl, what) is getattr(estimators, what)
        assert what in dir(gridmodl)


def test_importing_gridmodl_imports_no_scikit_learn() -> None:
    code = "import sys, gridmodl; sys.exit('sklearn' in sys.modules or 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_parameter_and_attribute_is_documented(name: str, estimator: Any) -> None:
    text = inspect.getdoc(type(estimator)) or ""
    sections = text.split("Attributes\n----------")
    for parameter in estimator.get_params():
        assert parameter in sections[0], parameter
    estimator.fit(*data_for(name))
    fitted = [key for key in vars(estimator) if key.endswith("_") and not key.startswith("_")]
    for attribute in [*fitted, "n_features_in_"]:
        assert attribute in sections[1], attribute


def test_copies_answer_alike(name: str, estimator: Any) -> None:
    X, y = data_for(name)
    fitted = estimator.fit(X, y)
    expected = answer(fitted, X)
    np.testing.assert_array_equal(answer(pickle.loads(pickle.dumps(fitted)), X), expected)  # noqa: S301
    again = clone(fitted)
    assert not [key for key in vars(again) if key.endswith("_")]
    np.testing.assert_array_equal(answer(again.fit(X, y), X), expected)


def test_a_second_fit_leaves_nothing_of_the_first(name: str, estimator: Any) -> None:
    X, y = data_for(name)
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X).add_prefix("x")
    estimator.fit(frame, y)
    array = frame.to_numpy()[:, 1:]
    estimator.fit(array, y)
    assert not hasattr(estimator, "feature_names_in_")
    assert estimator.n_features_in_ == array.shape[1]
    np.testing.assert_array_equal(answer(estimator, array), answer(clone(estimator).fit(array, y), array))


@pytest.mark.parametrize("name", MIXED)
def test_it_holds_no_training_data(name: str) -> None:
    X, y = data_for(name, n=2000)
    X["more"] = np.random.default_rng(1).normal(size=2000)  # says nothing
    fitted = clone(EVERY[name]).fit(X, y)
    n_grids = max(1, len(getattr(fitted, "grids_", ())))
    assert len(pickle.dumps(fitted)) < 22_000 * n_grids  # of 66,000 bytes of numbers alone
    assert X["number"].to_numpy().tobytes() not in pickle.dumps(fitted)


def test_html_and_text_show_it(name: str, estimator: Any) -> None:
    X, y = data_for(name)
    assert type(estimator).__name__ in estimator._repr_html_()
    assert type(estimator).__name__ in estimator.fit(X, y)._repr_html_()
    assert repr(estimator).startswith(type(estimator).__name__)


@pytest.mark.parametrize("name", MIXED)
def test_all_frames_answer_alike(name: str) -> None:
    X, y = data_for(name)
    expected = answer(clone(EVERY[name]).fit(X, y), X)
    others = [pl.from_pandas(X), pl.from_pandas(X).to_arrow(), X.to_numpy(dtype=object)]
    for other in others:
        kinds = None if not isinstance(other, np.ndarray) else {"x2": "categorical"}
        found = clone(EVERY[name]).set_params(kinds=kinds).fit(other, y)
        np.testing.assert_array_equal(answer(found, other), expected)
    fitted = clone(EVERY[name]).fit(X, y)
    np.testing.assert_array_equal(answer(fitted, others[0]), expected)  # another library than in fit


@pytest.mark.parametrize("name", MIXED)
def test_names_that_are_not_those_of_fit_are_refused(name: str) -> None:
    X, y = data_for(name)
    fitted = clone(EVERY[name]).fit(X, y)
    with pytest.raises(ValueError, match="feature names"):
        answer(fitted, X.rename(columns={"text": "texts"}))
    with pytest.raises(ValueError, match="feature names"):
        answer(fitted, X.iloc[:, :2])


@pytest.mark.parametrize("name", [name for name in EVERY if name != "coclustering"])  # which has no y
def test_y_is_no_name_of_a_column(name: str) -> None:
    X, _ = data_for(name)
    with pytest.raises(TypeError, match=r"y must be the column of the target.*got the text 'flag'; .* y=X\['flag'\]"):
        clone(EVERY[name]).fit(X, "flag")


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_probabilities_are_of_the_classes(name: str) -> None:
    X, y = data_for(name)
    for labels in (y, y == "yes", np.searchsorted(np.unique(y), y) - 2, pd.Series(y, dtype="category"), list(y)):
        fitted = clone(EVERY[name]).fit(X, labels)
        assert fitted.classes_.tolist() == np.unique(np.asarray(labels)).tolist()
        probabilities = fitted.predict_proba(X)
        assert probabilities.shape == (len(y), len(fitted.classes_))
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)
        assert np.all((probabilities >= 0.0) & (probabilities <= 1.0))
        np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[probabilities.argmax(axis=1)])
        assert np.mean(fitted.predict(X) == np.asarray(labels)) > 0.7


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if hasattr(EVERY[name], "decision_function")])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_decisions_are_those_of_predict_and_logs_of_odds(name: str, n_classes: int) -> None:
    X, y = data_for(name)
    if n_classes == 2:
        y = np.where(y == "yes", "yes", "no")
    elif name in TWO_CLASSES:
        pytest.skip("for two classes")
    fitted = clone(EVERY[name]).fit(X, y)
    found, logs = fitted.decision_function(X), fitted.predict_log_proba(X)
    if n_classes == 2:
        assert found.shape == (len(X),)
        np.testing.assert_array_equal(fitted.classes_[(found > 0).astype(int)], fitted.predict(X))
        np.testing.assert_allclose(found, logs[:, 1] - logs[:, 0], rtol=1e-9, atol=1e-12)
    else:
        assert found.shape == (len(X), 3)
        np.testing.assert_array_equal(fitted.classes_[found.argmax(axis=1)], fitted.predict(X))
        np.testing.assert_allclose(found - found[:, :1], logs - logs[:, :1], rtol=1e-9, atol=1e-12)


def test_decisions_are_for_sums_of_evidence() -> None:
    having = {type(EVERY[name]).__name__ for name in CLASSIFIERS if hasattr(EVERY[name], "decision_function")}
    assert having == {"GridNaiveBayes", "GridLogistic", "GridScorecard"}


IMPORTANT = [name for name in MIXED if name != "discretizer"]


@pytest.mark.parametrize("name", IMPORTANT)
def test_importances_are_shares_of_what_is_used(name: str) -> None:
    X, y = data_for(name, n=300)
    X["noise"] = np.random.default_rng(1).normal(size=len(X))
    assert not hasattr(clone(EVERY[name]), "feature_importances_")
    fitted = clone(EVERY[name]).fit(X, y)
    found = fitted.feature_importances_
    assert found.shape == (X.shape[1],)
    assert found.sum() == pytest.approx(1.0)
    assert np.all(found >= 0.0)
    assert found[3] < 0.05 < found[:2].max()
    if hasattr(fitted, "coef_"):
        used = np.abs(fitted.coef_).max(axis=0) > 0
        np.testing.assert_array_equal(found > 0, used)
        assert fitted.coef_.shape[1] == X.shape[1]
    weights = np.random.default_rng(2).integers(0, 3, len(X))
    weighted = clone(EVERY[name]).fit(X, y, sample_weight=weights)
    again = clone(EVERY[name]).fit(X.loc[X.index.repeat(weights)], np.repeat(y, weights))
    np.testing.assert_allclose(weighted.feature_importances_, again.feature_importances_, atol=1e-9)


@pytest.mark.parametrize("name", IMPORTANT)
def test_importances_of_columns_that_say_nothing(name: str) -> None:
    X = pd.DataFrame({"same": [1.0] * 40, "none": [np.nan] * 40})
    fitted = clone(EVERY[name]).fit(X, [1.5, 2.5] * 20 if is_regressor(EVERY[name]) else ["x", "y"] * 20)
    assert fitted.feature_importances_.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("estimator", [
    gridmodl.GridClassifier(),
    gridmodl.GridEnsembleClassifier(criterion="modl", search=FEW),
    gridmodl.GridNaiveBayes(weights="selective", interactions=2),
])  # fmt: skip
def test_columns_that_tell_only_together_share_the_importance(estimator: Any) -> None:
    X = np.random.default_rng(0).random((600, 3))
    y = (X[:, 0] > 0.5) != (X[:, 1] > 0.5)
    found = clone(estimator).fit(X, y).feature_importances_
    assert found[:2] == pytest.approx([0.5, 0.5], abs=0.05)
    assert found[2] < 0.05


def test_columns_are_selected_by_importance() -> None:
    X, y = make_data(300)
    X["noise"] = np.random.default_rng(1).normal(size=len(X))
    chosen = SelectFromModel(clone(EVERY["grid"]), threshold=0.01).fit(X, y)
    assert not chosen.get_support()[3]
    assert chosen.get_support().any()


def test_cells_of_averaged_grids_are_those_of_the_grids() -> None:
    X, y = make_data(300)
    fitted = clone(EVERY["ensemble"]).set_params(criterion="modl").fit(X, y)
    for cells, shape in zip(fitted.average_.cells(), fitted.average_.levels, strict=True):
        assert shape > 0
        np.testing.assert_array_equal(cells.counts.sum(axis=0), np.unique(y, return_counts=True)[1])
        assert len(np.unique(cells.parts, axis=0)) == len(cells.parts)
        assert set(cells.names) <= set(X.columns)
    best = next(cells for cells in fitted.average_.cells() if set(cells.names) == set(fitted.model_.cells.names)
                and len(cells.parts) == len(fitted.model_.cells.parts))  # fmt: skip
    assert sorted(map(tuple, best.counts.tolist())) == sorted(map(tuple, fitted.model_.cells.counts.tolist()))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classes_keep_their_types(name: str) -> None:
    X, y = data_for(name)
    code = np.searchsorted(np.unique(y), y)
    large = pd.Series(code + 2**53, dtype="Int64")
    assert clone(EVERY[name]).fit(X, large).classes_.tolist() == [2**53 + c for c in np.unique(code).tolist()]
    assert clone(EVERY[name]).fit(X, pd.Series(code > 0, dtype="boolean")).classes_.tolist() == [False, True]
    assert clone(EVERY[name]).fit(X, pl.Series(code)).classes_.dtype.kind == "i"
    assert clone(EVERY[name]).fit(X, code.astype(object)).classes_.tolist() == np.unique(code).tolist()
    for mixed in ([1 if c else "a" for c in code], np.array([1 if c else "a" for c in code], dtype=object)):
        with pytest.raises(ValueError, match="y mixes labels of the types int, str"):
            clone(EVERY[name]).fit(X, mixed)


def test_a_time_limit_warns_and_leaves_something_to_use(name: str, estimator: Any) -> None:
    X, y = data_for(name)
    with pytest.warns(ConvergenceWarning, match=r"was stopped by time_limit=0\.0 before its search ended"):
        fitted = estimator.set_params(time_limit=0.0).fit(X, y)
    assert len(answer(fitted, X)) == len(y)


def test_generators_of_random_numbers_give_seeds(name: str, estimator: Any) -> None:
    X, y = data_for(name)
    for make in (np.random.RandomState, np.random.default_rng):
        one, two = (clone(estimator).set_params(random_state=make(3)).fit(X, y) for _ in range(2))
        np.testing.assert_array_equal(answer(one, X), answer(two, X))


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name in MIXED])
def test_weights_are_called_as_scikit_learn_calls_them(name: str) -> None:
    X, y = make_data()
    with pytest.raises(ValueError, match="sample_weight must be whole numbers"):
        clone(EVERY[name]).fit(X, y, sample_weight=np.full(len(y), 0.5))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_logs_of_probabilities(name: str) -> None:
    X, y = data_for(name)
    fitted = clone(EVERY[name]).fit(X, y)
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(X)), fitted.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_in_pipelines_and_searches(name: str) -> None:
    X, y = data_for(name)
    pipeline = make_pipeline(FunctionTransformer(), clone(EVERY[name]))
    step = pipeline.steps[-1][0]
    search = GridSearchCV(pipeline, {f"{step}__max_parts": [2, None]}, cv=2, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.5


def test_in_other_processes(name: str, estimator: Any) -> None:
    X, y = data_for(name)
    with joblib.parallel_config("loky", n_jobs=2):
        fits = joblib.Parallel()(joblib.delayed(clone(estimator).fit)(X, y) for _ in range(2))
    expected = answer(estimator.fit(X, y), X)
    for fitted in fits:
        np.testing.assert_array_equal(answer(fitted, X), expected)


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name in MIXED])
def test_weights_are_routed(name: str) -> None:
    X, y = data_for(name)
    weights = np.random.default_rng(7).integers(0, 3, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        asking = clone(EVERY[name]).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        pipeline = make_pipeline(asking).fit(X, y, sample_weight=weights)
        scores = cross_val_score(asking, X, y, cv=2, params={"sample_weight": weights}, error_score="raise")
    expected = clone(EVERY[name]).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(pipeline.predict_proba(X), expected.predict_proba(X))
    assert np.any(expected.predict_proba(X) != clone(EVERY[name]).fit(X, y).predict_proba(X))
    assert len(scores) == 2


@pytest.mark.parametrize("name", MIXED)
def test_what_fit_did_not_see(name: str) -> None:
    """A new category, missing values where there were none, infinities."""
    X, y = data_for(name)
    fitted = clone(EVERY[name]).fit(X.dropna(), y[X.notna().all(axis=1)])
    new = pd.DataFrame({"number": [np.nan, np.inf, -np.inf], "text": ["new", None, "yes"], "flag": [True, False, True]})
    assert len(answer(fitted, new)) == 3
    for words in ({"unknown": "error"}, {"new_missing": "error"}):
        strict = clone(EVERY[name]).set_params(**words).fit(X.dropna(), y[X.notna().all(axis=1)])
        with pytest.raises(ValueError, match=r"the training data (did not have|had none)"):
            answer(strict, new)


@pytest.mark.parametrize("name", MIXED)
def test_columns_that_say_nothing(name: str) -> None:
    X = pd.DataFrame({"same": [1.0] * 40, "none": [np.nan] * 40, "text": ["a"] * 40})
    fitted = clone(EVERY[name]).fit(X, [1.5, 2.5] * 20 if is_regressor(EVERY[name]) else ["x", "y"] * 20)
    assert len(answer(fitted, X)) == 40


@pytest.mark.parametrize("name", [name for name in EVERY if name != "coclustering"])
def test_one_row(name: str) -> None:
    X, y = data_for(name)
    fitted = clone(EVERY[name]).fit(X, y)
    assert len(answer(fitted, X[:1])) == 1
    if name in MIXED and name not in TWO_CLASSES:
        assert len(answer(clone(EVERY[name]).fit(X[:1], y[:1]), X)) == len(X)


@pytest.mark.parametrize("name", EVERY)
def test_shared_entries_of_docstrings_are_filled_in(name):
    kind = type(EVERY[name])
    texts = [inspect.getdoc(getattr(kind, member)) or "" for member in dir(kind) if not member.startswith("_")]
    assert "%(" not in "\n".join([inspect.getdoc(kind), *texts])


@pytest.mark.parametrize("name", MIXED)
def test_kept_models_have_the_name_of_y(name: str) -> None:
    X, y = make_data()
    if name in TWO_CLASSES:
        y = np.where(y == "yes", "yes", "no")
    if "regressor" in name:
        y = np.arange(len(X), dtype=float)
    estimator = clone(EVERY[name])
    for raw, expected in ((pd.Series(y, name="bought"), "bought"), (pl.Series("sold", y), "sold"), (y, None)):
        fitted = estimator.fit(X, raw)
        kept = [*vars(fitted).get("models_", {}).values(), *([fitted.model_] if hasattr(fitted, "model_") else [])]
        grids = vars(fitted).get("grids_", ())
        kept += [*(grids.values() if isinstance(grids, dict) else grids)]
        assert kept
        assert {model.target_name for model in kept} == {expected}


def test_chosen_and_averaged_columns_have_the_name_of_y() -> None:
    X, y = make_data()
    named = pd.Series(y, name="bought")
    chosen = gridmodl.GridDiscretizer(criterion="entropy", criterion_options="auto").fit(X, named)
    averaged = gridmodl.GridDiscretizer(encode="woe", averaged=True, cv=2)
    averaged.fit_transform(X, named)
    counted = gridmodl.GridDiscretizer().partial_fit(X, named, search=True)
    kept = [*chosen.models_.values(), *averaged.averages_.values(), *counted.models_.values()]
    assert {one.target_name for one in kept} == {"bought"}
    assert "for the target bought" in counted.models_.to_html()


def test_grids_beside_columns_have_the_name_of_y() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.random(400), "b": rng.random(400)})
    y = pd.Series(np.where((X["a"] > 0.5) != (X["b"] > 0.5), "yes", "no"), name="bought")
    fitted = gridmodl.GridNaiveBayes(weights="selective", interactions=2).fit(X, y)
    assert {model.target_name for model in fitted.grids_.values()} == {"bought"}
