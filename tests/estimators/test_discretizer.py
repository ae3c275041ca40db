"""The discretizer as scikit-learn and its users meet it: in pipelines, in searches, on every kind of frame."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numba.core.dispatcher import Dispatcher
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import gridmodl
from gridmodl import GridDiscretizer, get_criterion, optimize_each

ENCODINGS = ("ordinal", "onehot", "woe")


class OfNumbers(GridDiscretizer):
    """Scikit-learn rounds the data of its checks for estimators that take categories; here it does not."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        return tags


@parametrize_with_checks(
    [
        *(kind(encode=encode) for kind in (GridDiscretizer, OfNumbers) for encode in ENCODINGS),
        GridDiscretizer(encode="onehot", sparse_output=True),
    ]
)
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
            "category": pd.Categorical(colour),
            "date": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.round(100 * size), unit="D"),
            "lasts": pd.to_timedelta(np.round(100 * size), unit="h"),
            "flag": size > 0.3,
            "whole": pd.array(np.round(10 * size).astype(int), dtype="Int64"),
            "same": 1.0,
            "nothing": np.nan,
        }
    )
    data.loc[::9, "date"] = pd.NaT
    data.loc[::11, "whole"] = pd.NA
    data.loc[::5, "size"] = np.nan
    return data, y


DATA, Y = make_data()
FRAMES = {"pandas": DATA, "polars": pl.from_pandas(DATA), "pyarrow": pl.from_pandas(DATA).to_arrow()}
THREE = np.digitize(DATA["size"].fillna(0.0), [-0.5, 0.5])


# What comes out


@pytest.mark.parametrize("library", FRAMES)
def test_ordinal_is_the_part_of_each_model(library: str) -> None:
    frame = FRAMES[library]
    discretizer = GridDiscretizer().fit(frame, Y)
    parts = discretizer.transform(frame)
    assert parts.dtype == np.int64
    assert list(discretizer.models_) == list(DATA.columns) == discretizer.feature_names_in_.tolist()
    assert discretizer.n_features_in_ == DATA.shape[1]
    assert discretizer.classes_.tolist() == ["no", "yes"]
    models = optimize_each(frame, Y)
    for i, name in enumerate(DATA.columns):
        np.testing.assert_array_equal(parts[:, i], models[name].transform(frame[name]))
        assert discretizer.models_[name].cost == models[name].cost
    assert type(discretizer.models_["size"].table()).__module__.split(".")[0] == library
    np.testing.assert_array_equal(parts, GridDiscretizer().fit_transform(DATA, Y))


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("y", [Y, THREE], ids=["two classes", "three classes"])
def test_onehot_marks_the_part(library: str, y: Any) -> None:
    frame = FRAMES[library]
    discretizer = GridDiscretizer(encode="onehot").fit(frame, y)
    onehot, names = discretizer.transform(frame), discretizer.get_feature_names_out()
    assert onehot.dtype == np.float64
    parts, at = GridDiscretizer().fit_transform(frame, y), 0
    for i, (name, model) in enumerate(discretizer.models_.items()):
        labels = model.partitions[name].labels
        block = slice(at, at := at + len(labels))
        for number, (encoded, label) in enumerate(zip(names[block], labels, strict=True)):
            assert encoded.startswith(f"{name}_{number}_")
            words = re.findall(r"[^ (){}\[\],'.:]+", label)
            assert all(word in encoded for word in words), (encoded, label)
        np.testing.assert_array_equal(onehot[:, block], np.arange(len(labels)) == parts[:, [i]])
    assert onehot.shape[1] == len(names) == at
    sparse = clone(discretizer).set_params(sparse_output=True).fit_transform(frame, y)
    assert issparse(sparse)
    np.testing.assert_array_equal(sparse.toarray(), onehot)


def woe_by_hand(of_class: Any, others: Any, n_class: int, n_others: int) -> float:
    return math.log((of_class + 0.5) / (others + 0.5)) - math.log((n_class + 0.5) / (n_others + 0.5))


@pytest.mark.parametrize("library", FRAMES)
def test_woe_of_two_classes_by_hand(library: str) -> None:
    discretizer = GridDiscretizer(encode="woe").fit(FRAMES[library], Y)
    odds, parts = discretizer.transform(FRAMES[library]), GridDiscretizer().fit_transform(DATA, Y)
    assert discretizer.get_feature_names_out().tolist() == list(DATA.columns)
    yes = Y == "yes"
    for i in range(DATA.shape[1]):
        for part in np.unique(parts[:, i]):
            inside = parts[:, i] == part
            by_hand = woe_by_hand((inside & yes).sum(), (inside & ~yes).sum(), yes.sum(), (~yes).sum())
            np.testing.assert_allclose(odds[inside, i], by_hand, rtol=1e-12, atol=1e-15)


def test_woe_of_three_classes_by_hand() -> None:
    classes = np.array(["low", "mid", "top"])[THREE]
    discretizer = GridDiscretizer(encode="woe").fit(DATA[["size", "colour"]], classes)
    odds = discretizer.transform(DATA[["size", "colour"]])
    names = ["size_low", "size_mid", "size_top", "colour_low", "colour_mid", "colour_top"]
    assert discretizer.get_feature_names_out().tolist() == names
    parts = GridDiscretizer().fit_transform(DATA[["size", "colour"]], classes)
    for i in range(2):
        for j, name in enumerate(discretizer.classes_):
            is_class = classes == name
            for part in np.unique(parts[:, i]):
                inside = parts[:, i] == part
                counts = (inside & is_class).sum(), (inside & ~is_class).sum(), is_class.sum(), (~is_class).sum()
                np.testing.assert_allclose(odds[inside, 3 * i + j], woe_by_hand(*counts), rtol=1e-12, atol=1e-15)


def test_woe_of_pure_parts_are_finite_and_of_empty_ones_0() -> None:
    X = np.r_[np.zeros(50), np.ones(50), np.full(9, -999.0)][:, None]
    y = np.r_[np.zeros(50), np.ones(50), np.ones(9)]
    discretizer = GridDiscretizer(encode="woe", special={"x0": [-999, -1]}).fit(X, y)
    low, high, code, no_rows = discretizer.transform([[0.0], [1.0], [-999.0], [-1.0]])[:, 0]
    assert -math.inf < low < 0.0 < code < high < math.inf
    assert no_rows == 0.0


@pytest.mark.parametrize("encode", ENCODINGS)
def test_one_class_says_nothing(encode: str) -> None:
    out = GridDiscretizer(encode=encode, special={"whole": [0]}).fit(DATA, ["a"] * len(DATA)).transform(DATA)
    if encode == "woe":
        assert out.shape == DATA.shape
        assert not out.any()
    elif encode == "ordinal":
        assert not np.delete(out, DATA.columns.get_loc("whole"), axis=1).any()


def test_constant_and_missing_columns_have_one_part() -> None:
    X = np.column_stack([np.ones(40), np.full(40, np.nan)])
    y = np.arange(40) % 2
    assert not GridDiscretizer().fit_transform(X, y).any()
    names = GridDiscretizer(encode="onehot").fit(X, y).get_feature_names_out().tolist()
    assert names == ["x0_0_-inf..inf", "x1_0_-inf..inf_or_missing"]
    np.testing.assert_allclose(GridDiscretizer(encode="woe").fit_transform(X, y), 0.0, atol=1e-15)


def test_names_out_are_unique() -> None:
    X = pd.DataFrame({"a": [1, "1"] * 30, "b": [1.0, 2.0] * 30}).astype({"a": object})
    discretizer = GridDiscretizer(encode="onehot", kinds={"a": "categorical"}).fit(X, [0, 1] * 30)
    names = discretizer.get_feature_names_out().tolist()
    assert names == ["a_0_1", "a_1_1", "b_0_-inf..1.5", "b_1_1.5..inf"]
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0] * 20, "a_b": [1.0, 2.0, 3.0] * 20})
    names = GridDiscretizer(encode="woe").fit(X, ["b_c", "c", "d"] * 20).get_feature_names_out()
    assert len(set(names)) == 6


def test_names_of_columns_without_names() -> None:
    numbered = DATA[["size", "flag"]].set_axis([7, 8], axis=1)
    for X in (numbered, numbered.to_numpy()):
        discretizer = GridDiscretizer(kinds={"x1": "categorical"}).fit(X, Y)
        assert list(discretizer.models_) == ["x0", "x1"]
        assert not hasattr(discretizer, "feature_names_in_")
        assert discretizer.get_feature_names_out(["a", "b"]).tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="input_features"):
        GridDiscretizer().fit(DATA, Y).get_feature_names_out(["a"] * DATA.shape[1])


# Values that `fit` did not see


@pytest.mark.parametrize("library", FRAMES)
def test_unknown_categories(library: str) -> None:
    def frame(values: list[Any]) -> Any:
        data = pl.DataFrame({"colour": values}, schema={"colour": pl.String})
        return {"pandas": data.to_pandas(), "polars": data, "pyarrow": data.to_arrow()}[library]

    X, y = frame(["red", "blue", "green", "grey"] * 20), ["no", "yes", "yes", "yes"] * 20
    new = frame(["red", "white", None])
    fitted = GridDiscretizer().fit(X, y)
    assert fitted.models_["colour"].partitions["colour"].groups == (("red",), ("blue", "green", "grey"))

    def transformed(encode: str, unknown: Any) -> Any:
        return GridDiscretizer(encode=encode, unknown=unknown).fit(X, y).transform(new).tolist()

    assert transformed("ordinal", "largest") == [[0], [1], [-1]]
    assert transformed("ordinal", "neutral") == [[0], [-1], [-1]]
    last = GridDiscretizer(unknown_code="last").fit(X, y)
    assert last.transform(new).tolist() == [[0], [2], [2]]
    assert last.set_params(unknown="largest").transform(new).tolist() == [[0], [1], [2]]
    assert transformed("onehot", "largest") == [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    assert transformed("onehot", "neutral") == [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    sparse = GridDiscretizer(encode="onehot", sparse_output=True, unknown="neutral").fit(X, y).transform(new)
    assert sparse.toarray().tolist() == transformed("onehot", "neutral")
    (red,), (white,), (missing,) = transformed("woe", "largest")
    assert red < 0.0 == missing < white
    assert transformed("woe", "neutral") == [[red], [0.0], [0.0]]
    for encode in ENCODINGS:
        with pytest.raises(
            ValueError, match="'colour' holds 1 value that the training data did not have, such as 'white'"
        ):
            transformed(encode, "error")


@pytest.mark.parametrize("encode", [encode for encode in ENCODINGS if encode != "mean"])
def test_new_missing_numbers_tell_nothing(encode: str) -> None:
    discretizer = GridDiscretizer(unknown="error", encode=encode).fit([[1.0], [2.0]] * 20, [0, 1] * 20)
    missing, high, low = discretizer.transform([[np.nan], [9.0], [-9.0]]).tolist()
    assert missing == {"ordinal": [-1], "onehot": [0.0, 0.0], "woe": [0.0]}[encode]
    assert high != low
    with pytest.raises(ValueError, match="column 'x0' holds 1 missing value, and the training data had none"):
        discretizer.set_params(new_missing="error").transform([[np.nan]])


def test_arrays_of_objects_and_lists_of_rows_keep_the_kind_of_each_column() -> None:
    rows = [[1, "a", None], [2, "b", "c"], [3, "a", "c"], [4, "b", None]] * 10
    y = ["no", "yes"] * 20
    for X in (rows, np.array(rows, dtype=object)):
        discretizer = GridDiscretizer().fit(X, y)
        kinds = [model.partitions[name].kind for name, model in discretizer.models_.items()]
        assert kinds == ["numerical", "categorical", "categorical"]
        assert discretizer.transform(X)[:, 1].tolist() == [0, 1] * 20


def test_masked_entries_are_missing() -> None:
    X = np.ma.masked_array([[1.0], [2.0], [3.0]] * 20, [[False], [True], [False]] * 20)
    assert GridDiscretizer().fit_transform(X, [0, 1, 0] * 20)[:3, 0].tolist() == [1, 0, 1]


# Weights


@pytest.mark.parametrize("encode", ENCODINGS)
def test_a_weight_is_a_number_of_rows(encode: str) -> None:
    weights = np.random.default_rng(1).integers(0, 4, len(DATA))
    repeated = np.repeat(np.arange(len(DATA)), weights)
    weighted = GridDiscretizer(encode=encode).fit(DATA, Y, sample_weight=weights)
    several = GridDiscretizer(encode=encode).fit(DATA.iloc[repeated], Y[repeated])
    np.testing.assert_array_equal(weighted.transform(DATA), several.transform(DATA))
    for name, model in weighted.models_.items():
        assert model.cost == pytest.approx(several.models_[name].cost, rel=1e-12)
        np.testing.assert_array_equal(model.partitions[name].counts, several.models_[name].partitions[name].counts)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(len(Y), 0.5), "whole numbers"),
        (np.zeros(len(Y)), "zero"),
        (np.ones(3), "3 entries"),
        (np.ones((len(Y), 1)), "1-D"),
        ("size", "array-like"),
        (1, "array-like"),
    ],
)
def test_other_weights_are_refused(weights: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        GridDiscretizer().fit(DATA, Y, sample_weight=weights)


def test_sample_weight_is_routed() -> None:
    weights = np.arange(len(DATA)) % 3
    with sklearn.config_context(enable_metadata_routing=True):
        step = GridDiscretizer(encode="woe").set_fit_request(sample_weight=True)
        pipeline = make_pipeline(
            step, DecisionTreeClassifier(max_depth=3, random_state=0).set_fit_request(sample_weight=False)
        )
        pipeline.fit(DATA, Y, sample_weight=weights)
    assert pipeline[0].models_["size"].n_rows == weights.sum()


# In the company of others


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("encode", ENCODINGS)
def test_set_output(library: str, encode: str) -> None:
    plain = GridDiscretizer(encode=encode).fit(DATA, Y)
    out = clone(plain).set_output(transform=library).fit_transform(DATA, Y)
    assert type(out).__module__.split(".")[0] == library
    assert list(out.columns) == plain.get_feature_names_out().tolist()
    np.testing.assert_array_equal(out.to_numpy(), plain.transform(DATA))
    if library == "pandas":
        shifted = DATA.set_axis(DATA.index + 5)
        assert plain.set_output(transform=library).transform(shifted).index.equals(shifted.index)


def test_column_transformer_pipeline_and_grid_search() -> None:
    columns = ColumnTransformer(
        [
            ("odds", GridDiscretizer(encode="woe"), ["size", "date", "lasts", "nothing"]),
            ("parts", GridDiscretizer(encode="onehot", sparse_output=True), ["colour", "flag", "same"]),
        ]
    )
    search = GridSearchCV(
        make_pipeline(columns, DecisionTreeClassifier(max_depth=3, random_state=0)),
        [
            {"columntransformer__odds__criterion": ["modl", "gini"]},
            {
                "columntransformer__odds__criterion": ["entropy"],
                "columntransformer__odds__criterion_options": [{"alpha": 0.5}, {"alpha": 0.9}, None],
            },
            {"columntransformer__odds__criterion": [get_criterion("entropy", alpha=0.7)]},
        ],
        cv=3,
        error_score="raise",
    ).fit(DATA, Y)
    assert search.best_score_ > 0.75
    assert search.predict(DATA).shape == Y.shape
    names = search.best_estimator_[0].get_feature_names_out()
    assert names[0] == "odds__size"
    assert "GridDiscretizer" in search.best_estimator_._repr_html_()


def test_a_grid_of_options_compiles_nothing_after_its_first_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """The 10 x 10 points of Jin, Breitbart and Muoh (2009), section 5: 0 to 1, and 1e-5 in place of 0.

    Compilations are counted as kernels ask for them, before the disk cache may answer: so a warm cache hides nothing.
    """
    monkeypatch.setenv("GRIDMODL_COMPILE", "always")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    X = rng.normal(size=(1000, 10)) + np.linspace(0.0, 2.0, 10) * y[:, None]
    axis = np.maximum(np.linspace(0.0, 1.0, 10), 1e-5)
    options = [{"alpha": alpha, "beta": beta} for alpha in axis for beta in axis]
    pipeline = make_pipeline(GridDiscretizer(criterion="entropy", encode="woe"), DecisionTreeClassifier())
    clone(pipeline).set_params(griddiscretizer__criterion_options=options[0]).fit(X, y)
    asked, compile_kernel = [], Dispatcher.compile

    def counted(dispatcher: Any, signature: Any) -> Any:
        asked.append((dispatcher, signature))
        return compile_kernel(dispatcher, signature)

    monkeypatch.setattr(Dispatcher, "compile", counted)
    search = GridSearchCV(
        pipeline,
        {"griddiscretizer__criterion_options": options},
        cv=ShuffleSplit(1, random_state=0),
        error_score="raise",
    ).fit(X, y)
    assert not asked
    assert len(set(search.cv_results_["mean_test_score"])) > 1
    model = search.best_estimator_[0].models_["x0"]
    assert model.options == search.best_params_["griddiscretizer__criterion_options"]


def test_processes_of_joblib() -> None:
    out = joblib.Parallel(n_jobs=2, backend="loky")(
        joblib.delayed(GridDiscretizer(n_jobs=n_jobs).fit_transform)(DATA, Y) for n_jobs in (None, 2)
    )
    np.testing.assert_array_equal(out[0], out[1])
    np.testing.assert_array_equal(out[0], GridDiscretizer(n_jobs=-1).fit_transform(DATA, Y))


def test_clone_and_repr() -> None:
    discretizer = GridDiscretizer(criterion=get_criterion("entropy", alpha=0.7), kinds={"a": "categorical"})
    assert clone(discretizer).get_params() == discretizer.get_params()
    assert repr(GridDiscretizer(encode="onehot")) == "GridDiscretizer(encode='onehot')"


def test_arguments_reach_the_search() -> None:
    discretizer = GridDiscretizer(
        max_parts=2, min_rows=0.2, monotone="decreasing", search="merge", special={"size": [0.0]}, time_limit=60
    )
    partition = discretizer.fit(DATA[["size"]], DATA["flag"]).models_["size"].partitions["size"]
    assert partition.n_parts <= 2 + 1
    assert partition.special.tolist() == [0.0]


# What is refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"encode": "one-hot"}, "encode must be one of 'ordinal'"),
        ({"unknown": "ignore"}, "unknown must be one of 'neutral', 'largest', 'error', got 'ignore'"),
        ({"new_missing": "largest"}, "new_missing must be one of 'neutral', 'error', got 'largest'"),
        ({"unknown_code": -2}, "unknown_code must be -1 or 'last', got -2"),
        ({"criterion": "best"}, "unknown criterion 'best'"),
        ({"criterion": "entropy", "criterion_options": {"gamma": 1}}, "no option 'gamma'"),
        ({"criterion": get_criterion("entropy"), "criterion_options": {"alpha": 1}}, "need the name of a criterion"),
        ({"criterion_options": [0.5]}, "criterion_options must be a dict"),
        ({"kinds": {"colour": "nominal"}}, "kinds says 'nominal'"),
        ({"kinds": {"weight": "numerical"}}, "kinds names column 'weight'"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"max_parts": 0}, "max_parts"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_arguments_are_checked_in_fit(arguments: dict[str, Any], message: str) -> None:
    discretizer = GridDiscretizer(**arguments)
    with pytest.raises((ValueError, TypeError), match=message):
        discretizer.fit(DATA, Y)
    with pytest.raises(NotFittedError):
        discretizer.transform(DATA)


def test_a_column_that_cannot_be_partitioned_is_named() -> None:
    with pytest.raises(TypeError, match="column 'lists'"):
        GridDiscretizer().fit(FRAMES["polars"].with_columns(lists=pl.lit([1, 2])), Y)
    with pytest.raises(TypeError, match=r"column 'things'.*dict"):
        GridDiscretizer().fit(DATA.assign(things=[{"a": 1}] * len(DATA)), Y)
    with pytest.raises(ValueError, match="the target has one class"):
        GridDiscretizer(monotone="auto").fit(DATA, ["a"] * len(DATA))
    fitted = GridDiscretizer().fit(DATA, Y)
    with pytest.raises(TypeError, match="column 'size'"):
        fitted.transform(DATA.assign(size="large"))


@pytest.mark.parametrize("library", FRAMES)
def test_columns_must_be_those_of_fit(library: str) -> None:
    frame = FRAMES[library]
    fitted = GridDiscretizer().fit(frame, Y)
    columns = list(DATA.columns)
    select = frame.__getitem__ if library == "pandas" else frame.select
    with pytest.raises(ValueError, match="same order"):
        fitted.transform(select(columns[::-1]))
    with pytest.raises(ValueError, match="seen at fit time, yet now missing"):
        fitted.transform(select(columns[1:]))
    with pytest.raises(ValueError, match="0 rows"):
        fitted.transform(frame[:0])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        by_position = fitted.transform(DATA.astype(object).to_numpy())
    np.testing.assert_array_equal(by_position[:, 1], fitted.transform(frame)[:, 1])


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (DATA, Y[:-1], "inconsistent numbers of samples"),
        (DATA, DATA["size"].fillna(0.0), "continuous.*target_kind='numerical'"),
        (DATA, np.where(DATA["flag"], 1.0, np.nan), "have no class"),
        (DATA, np.where(DATA["flag"], "a", None), "have no class"),
        (DATA, "flag", "y must be the column of the target.*'flag'"),
        (DATA["size"], Y, "2"),
        (DATA[[]], Y, "0 columns"),
        (pd.concat([DATA, DATA], axis=1), Y, "several columns of one name"),
        (csr_array(np.eye(4)), [0, 1, 0, 1], "[Ss]parse"),
        (np.eye(4) * 1j, [0, 1, 0, 1], "[Cc]omplex"),
    ],
)
def test_other_data_is_refused(X: Any, y: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        GridDiscretizer().fit(X, y)


@pytest.mark.filterwarnings("ignore:Resolving the schema")
def test_lazy_frames_are_refused() -> None:
    with pytest.raises(TypeError, match=r"X is a lazy LazyFrame.*collect it first"):
        GridDiscretizer().fit(FRAMES["polars"].lazy(), Y)


def test_interruption_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from gridmodl.estimators import columns as module

    def interrupted(*args: Any, **kwargs: Any) -> Any:
        models = optimize_each(*args, **kwargs)
        models._models = {name: replace(model, stopped="interrupted") for name, model in models.items()}
        return models

    monkeypatch.setattr(module, "optimize_each", interrupted)
    with pytest.raises(KeyboardInterrupt):
        GridDiscretizer().fit(DATA, Y)


def test_importing_gridmodl_does_not_import_scikit_learn() -> None:
    program = (
        "import sys, gridmodl; gridmodl.optimize; assert 'sklearn' not in sys.modules\n"
        "assert 'GridDiscretizer' in dir(gridmodl)\n"
        "from gridmodl import *\n"
        "assert 'sklearn' not in sys.modules\n"
        "sys.modules['sklearn'] = None\n"
        "for name in ('GridDiscretizer', 'estimators'):\n"
        "    try: getattr(gridmodl, name)\n"
        "    except ImportError as error: assert 'pip install \"gridmodl[sklearn]\"' in str(error)\n"
        "    else: raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    assert gridmodl.estimators.GridDiscretizer is GridDiscretizer


def test_options_chosen_for_each_column() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    frame = pd.DataFrame({"x": x, "town": rng.choice(list("abc"), 300), "noise": rng.normal(size=300)})
    frame.loc[::10, "x"] = np.nan
    y = np.where(rng.random(300) < 1 / (1 + np.exp(-4 * x)), "yes", "no")
    auto = GridDiscretizer(criterion="entropy", criterion_options="auto", max_parts={"x": 6}, random_state=2)
    found, two = (clone(auto).set_params(n_jobs=n).fit(frame, y) for n in (1, 2))
    for name in frame:
        choice = gridmodl.choose_penalty(frame[[name]], y, max_parts=6 if name == "x" else 20, random_state=2)
        assert found.choices_[name].options == two.choices_[name].options == choice.options
        assert found.choices_[name].loss == choice.loss
        assert found.models_[name].cost == choice.model.cost
        assert found.models_[name].options == choice.options
        assert found.models_[name]._source is None
        np.testing.assert_array_equal(found.partitions_[name].counts, choice.model.partitions[name].counts)
    assert found.transform(frame).shape == (300, 3)
    assert found.set_params(criterion_options={"alpha": 0.4}).fit(frame, y).models_["x"].options["alpha"] == 0.4
    assert not hasattr(found, "choices_")
    weights = rng.integers(0, 3, 300)
    rows = np.repeat(np.arange(300), weights)
    weighted, repeated = clone(auto).fit(frame, y, weights), clone(auto).fit(frame.iloc[rows], y[rows])
    np.testing.assert_array_equal(weighted.transform(frame), repeated.transform(frame))


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"monotone": "auto"}, "does not go with monotone='auto'"),
        ({"target_kind": "grouped"}, "does not go with target_kind='grouped'"),
        ({"unlabelled": "a"}, "does not go with unlabelled='a'"),
        ({"partitions": {"x0": [1.5]}}, "does not go with partitions="),
        ({"criterion": "modl"}, "'modl' has no penalty option to choose"),
    ],
)
def test_options_cannot_be_chosen(more: dict[str, Any], says: str) -> None:
    auto = GridDiscretizer(**{"criterion": "entropy", "criterion_options": "auto", **more})
    with pytest.raises(ValueError, match=says):
        auto.fit([[1.0], [2.0], [3.0]], ["a", "b", "b"])
    with pytest.raises(TypeError, match="GridDiscretizer alone takes 'auto'"):
        gridmodl.GridClassifier(criterion_options="auto").fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="requires y to be passed"):
        GridDiscretizer(criterion="entropy", criterion_options="auto").fit([[1.0], [2.0]])


@pytest.mark.parametrize("encode", ["ordinal", "woe", "onehot"])
def test_feature_names_without_characters_that_libraries_refuse(encode):
    rng = np.random.default_rng(0)
    names = ["a[1]", "a{1}", "<b>", "[]", "{}", "plain name", "plain_name"]
    frame = pd.DataFrame({name: rng.integers(0, 5, 60) for name in names})
    found = GridDiscretizer(encode=encode).fit(frame, rng.integers(0, 2, 60))
    made = found.get_feature_names_out().tolist()
    assert not set("".join(made)) & set("[]{}<>")
    assert len(set(made)) == len(made) == found.transform(frame).shape[1]
    assert all(made)
    if encode == "ordinal":
        assert made == ["a_1", "a_1_2", "b", "_", "__2", "plain name", "plain_name"]
        assert found.set_output(transform="pandas").transform(frame).columns.tolist() == made


def every_kind(n=400):
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], n)
    is_a, days = y == "a", np.datetime64("2024-01-01") + np.where(y == "a", 30, 0) + rng.integers(0, 20, n)
    frame = pd.DataFrame({
        "number": np.where(is_a, 3.0, 0.0) + rng.normal(size=n),
        "small": (np.where(is_a, 3.0, 0.0) + rng.normal(size=n)).astype(np.float32),
        "whole": 5 * (y == "b") + rng.integers(0, 4, n),
        "large": 2**60 + 5 * (y == "b") + rng.integers(0, 4, n),
        "text": np.where(rng.random(n) < 0.8, y, "other").astype(object),
        "flag": y == "c",
        "day": days.astype("datetime64[ns]"),
        "wait": (np.where(is_a, 30, 0) + rng.integers(0, 20, n)).astype("timedelta64[h]").astype("timedelta64[ns]"),
        "level": pd.Categorical(np.where(is_a, "low", "high"), ["low", "middle", "high"], ordered=True),
        "code": np.where(rng.random(n) < 0.2, -999, rng.integers(0, 90, n) + 50 * is_a),
    })  # fmt: skip
    frame.loc[::9, "number"] = np.nan
    frame.loc[::7, "text"] = None
    return frame, y


@pytest.mark.parametrize("options", [
    {}, {"encode": "onehot"}, {"encode": "onehot", "sparse_output": True}, {"unknown_code": "last"},
    {"missing": "apart"}, {"partitions": {"number": [-50.0, 1.0, 90.0]}},  # two intervals without rows
])  # fmt: skip
def test_values_of_parts_are_encoded_as_they_were(options):
    frame, y = every_kind()
    discretizer = GridDiscretizer(special={"code": [[-999, -998]]}, **options).fit(frame, y)
    encoded = discretizer.transform(frame)
    values = discretizer.inverse_transform(encoded)
    assert (values.shape, values.dtype) == (frame.shape, object)
    back = pd.DataFrame(values, columns=frame.columns)
    assert set(values[:, 4].tolist()) <= {None, "a", "b", "c", "other"}
    assert set(back["flag"]) <= {True, False}
    assert type(back["day"][0]) is pd.Timestamp or back["day"].dtype.kind == "M"
    assert back["large"].map(type).eq(int).all() or back["large"].dtype.kind == "i"
    back = back.astype({name: kind for name, kind in frame.dtypes.items() if name != "whole"})
    again = discretizer.transform(back)
    assert (again != encoded).sum() == 0
    if options.get("encode") != "onehot":
        for name, codes in zip(frame.columns, encoded.T, strict=True):
            assert len(set(codes)) == len(set(map(str, back[name])))


def test_values_of_parts_are_typical():
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, 10.0, 12.0, 14.0, 20.0] * 5, "t": list("aaabcccc") * 5})
    discretizer = GridDiscretizer().fit(frame, [0, 0, 0, 0, 1, 1, 1, 1] * 5)
    assert discretizer.transform(frame)[[0, 4]].tolist() == [[0, 0], [1, 1]]
    values = discretizer.inverse_transform([[0, 1], [1, 0], [-1, -1]])
    assert values[:2].tolist() == [[3.25, "c"], [13.25, "a"]]
    assert np.isnan(values[2, 0])
    assert values[2, 1] is None
    numbers = GridDiscretizer().fit(frame[["x"]], [0, 0, 0, 0, 1, 1, 1, 1] * 5)
    assert numbers.inverse_transform(pd.DataFrame({"x": [1, 0]})).dtype == np.float64
    without = GridDiscretizer().fit(frame)
    encoded = without.transform(frame)
    back = pd.DataFrame(without.inverse_transform(encoded), columns=frame.columns)
    np.testing.assert_array_equal(without.transform(back), encoded)


@pytest.mark.parametrize("encode", ["woe", "mean"])
def test_numbers_that_parts_may_share_have_no_inverse(encode):
    assert not hasattr(GridDiscretizer(encode=encode), "inverse_transform")
    with pytest.raises(AttributeError):
        GridDiscretizer(encode=encode).inverse_transform([[0.0]])


@pytest.mark.parametrize(("options", "X", "message"), [
    ({}, [[0, 0]], r"X has the shape \(1, 2\); transform returns 1 columns"),
    ({}, [0], r"X has the shape \(1,\)"),
    ({}, [[2]], "X has code 2 in column 0, whose parts are 0 to 1"),
    ({}, [[-2]], "X has code -2"),
    ({}, [[0.5]], "X must hold numbers of parts"),
    ({}, [["a"]], "X must hold numbers of parts"),
    ({}, [[np.nan]], "X must hold numbers of parts"),
    ({"encode": "onehot"}, [[1, 1]], "at most one 1, and zeros, in the columns 0 to 1"),
    ({"encode": "onehot"}, [[0.5, 0]], "at most one 1"),
    ({"encode": "onehot"}, [[1]], "transform returns 2 columns"),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
def test_codes_of_no_part_are_refused(options, X, message):
    discretizer = GridDiscretizer(**options).fit([[1.0], [2.0], [3.0], [4.0]] * 5, [0, 0, 1, 1] * 5)
    with pytest.raises(ValueError, match=message):
        discretizer.inverse_transform(X)


def test_words_of_other_encoders_are_answered():
    with pytest.raises(ValueError, match="did you mean 'onehot'"):
        GridDiscretizer(encode="onehot-dense").fit([[1.0], [2.0]], [0, 1])
