"""The discretizer beside other targets than classes: groups of classes, numbers, few labels, and none at all."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import gridmodl
from gridmodl import DensityModel, GridDiscretizer, get_criterion, optimize_density, optimize_each
from gridmodl.data.targets import NOT_GIVEN


class OfNumbers(GridDiscretizer):
    """Scikit-learn rounds the data of its checks for estimators that take categories; here it does not."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        return tags


class WithoutTarget(OfNumbers):
    """Scikit-learn's checks always give a y."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> GridDiscretizer:
        self.cv = None  # the check of weights sets folds, which need a y
        return super().fit(X, None, sample_weight)


@parametrize_with_checks(
    [
        GridDiscretizer(target_kind="grouped"),
        OfNumbers(target_kind="grouped", encode="woe"),
        GridDiscretizer(target_kind="numerical", encode="onehot"),
        OfNumbers(target_kind="numerical", encode="mean"),
        OfNumbers(unlabelled=-1),
        OfNumbers(unlabelled=0, encode="woe"),
        OfNumbers(unlabelled=0, placement="median"),
        WithoutTarget(),
        WithoutTarget(encode="onehot", sparse_output=True),
    ]
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def make_data(n: int = 300, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    size = np.where(rng.random(n) < 0.7, rng.uniform(0, 1, n), rng.uniform(1, 10, n))
    colour = np.array(["red", "green", "blue", "black"])[np.digitize(size, [0.5, 1, 5])].astype(object)
    colour[::7] = None
    data = pd.DataFrame(
        {
            "size": size,
            "colour": colour,
            "date": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.round(100 * size), unit="D"),
            "flag": size > 1,
            "noise": rng.normal(size=n),
        }
    )
    data.loc[::9, "date"] = pd.NaT
    data.loc[::5, "noise"] = np.nan
    return data


DATA = make_data()
SIZE = DATA["size"].to_numpy()
PRICE = np.where(SIZE < 1, 10.0, 30.0) + np.random.default_rng(1).normal(size=len(DATA))
LETTERS = np.array(list("abcdefghijkl"))[(6 * (SIZE > 1) + np.random.default_rng(2).integers(0, 6, len(DATA)))]
FEW = np.where(np.random.default_rng(3).random(len(DATA)) < 0.3, (SIZE > 1).astype(int), -1)
FRAMES = {"pandas": DATA, "polars": pl.from_pandas(DATA), "pyarrow": pl.from_pandas(DATA).to_arrow()}

# By name: the discretizer, y, and the encodings that suit it
WAYS: dict[str, tuple[GridDiscretizer, Any, tuple[str, ...]]] = {
    "grouped": (GridDiscretizer(target_kind="grouped"), LETTERS, ("ordinal", "onehot", "woe")),
    "numerical": (GridDiscretizer(target_kind="numerical"), PRICE, ("ordinal", "onehot", "mean")),
    "unlabelled": (GridDiscretizer(unlabelled=-1), FEW, ("ordinal", "onehot", "woe")),
    "placed": (GridDiscretizer(unlabelled=-1, placement="median"), FEW, ("ordinal", "onehot", "woe")),
    "no target": (GridDiscretizer(), None, ("ordinal", "onehot")),
}
ENCODED = [(way, encode) for way, (_, _, encodings) in WAYS.items() for encode in encodings]


# What all have in common


@pytest.mark.parametrize(("way", "encode"), ENCODED)
def test_output_names_pickle_and_html(way: str, encode: str) -> None:
    discretizer, y, _ = WAYS[way]
    fitted = clone(discretizer).set_params(encode=encode)
    out = fitted.fit_transform(DATA, y)
    names = fitted.get_feature_names_out().tolist()
    assert out.shape == (len(DATA), len(names))
    assert len(set(names)) == len(names)
    assert list(fitted.partitions_) == list(DATA.columns)
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301  our own
    np.testing.assert_array_equal(again.transform(DATA), out)
    for library in ("pandas", "polars"):
        frame = clone(fitted).set_output(transform=library).fit_transform(DATA, y)
        assert list(frame.columns) == names
        np.testing.assert_array_equal(frame.to_numpy(), out)
    for frame in FRAMES.values():
        np.testing.assert_array_equal(clone(fitted).fit_transform(frame, y), out)
    assert "GridDiscretizer" in fitted._repr_html_()
    assert clone(fitted).get_params() == fitted.get_params()


@pytest.mark.parametrize("way", WAYS)
def test_processes_of_joblib(way: str) -> None:
    discretizer, y, _ = WAYS[way]
    out = joblib.Parallel(n_jobs=2, backend="loky")(
        joblib.delayed(clone(discretizer).set_params(n_jobs=n_jobs).fit_transform)(DATA, y) for n_jobs in (None, 2)
    )
    np.testing.assert_array_equal(out[0], out[1])
    np.testing.assert_array_equal(out[0], clone(discretizer).fit_transform(DATA, y))


@pytest.mark.parametrize("way", WAYS)
def test_a_weight_is_a_number_of_rows(way: str) -> None:
    discretizer, y, encodings = WAYS[way]
    discretizer = clone(discretizer).set_params(encode=encodings[-1])
    weights = np.random.default_rng(1).integers(0, 4, len(DATA))
    repeated = np.repeat(np.arange(len(DATA)), weights)
    weighted = clone(discretizer).fit(DATA, y, sample_weight=weights)
    several = clone(discretizer).fit(DATA.iloc[repeated], None if y is None else y[repeated])
    np.testing.assert_allclose(weighted.transform(DATA), several.transform(DATA), rtol=1e-12)
    for name, partition in weighted.partitions_.items():
        np.testing.assert_array_equal(partition.counts, several.partitions_[name].counts)


@pytest.mark.parametrize("way", WAYS)
def test_models_hold_no_training_data(way: str) -> None:
    X = np.random.default_rng(0).normal(size=(20_000, 1))
    discretizer, target, _ = WAYS[way]
    fitted = clone(discretizer).fit(X, None if target is None else np.digitize(X[:, 0], [-1, 0, 1]) - 1)
    assert len(pickle.dumps(fitted)) < 30_000


def test_a_second_fit_forgets_the_first() -> None:
    discretizer = GridDiscretizer().fit(DATA, LETTERS)
    assert discretizer.classes_.tolist() == list("abcdefghijkl")
    assert discretizer.target_kind_ == "classes"
    for other in (
        discretizer.set_params(target_kind="numerical").fit(DATA, PRICE),
        discretizer.set_params(target_kind=None).fit(DATA),
    ):
        assert not hasattr(other, "classes_")
    assert discretizer.target_kind_ is None


def test_a_fit_that_fails_leaves_the_one_before() -> None:
    discretizer = GridDiscretizer().fit(DATA, LETTERS)
    before = discretizer.transform(DATA)
    with pytest.raises(TypeError, match="'things'"):
        discretizer.fit(DATA.set_axis([*DATA.columns[:-1], "things"], axis=1).assign(things=[{}] * len(DATA)))
    assert discretizer.classes_.tolist() == list("abcdefghijkl")
    assert discretizer.target_kind_ == "classes"
    np.testing.assert_array_equal([p.part_of(DATA[name]) for name, p in discretizer.partitions_.items()], before.T)


# Encodings that do not suit the target


@pytest.mark.parametrize(
    ("way", "encode", "message"),
    [
        ("grouped", "mean", "is for target_kind='numerical'"),
        ("unlabelled", "mean", "is for target_kind='numerical'"),
        ("numerical", "woe", "encode='mean'"),
        ("no target", "woe", "requires y|needs a target"),
        ("no target", "mean", "requires y|needs a target"),
    ],
)
def test_encodings_that_do_not_suit_the_target(way: str, encode: str, message: str) -> None:
    discretizer, y, _ = WAYS[way]
    with pytest.raises(ValueError, match=message):
        clone(discretizer).set_params(encode=encode).fit(DATA, y)
    fitted = clone(discretizer).fit(DATA, y).set_params(encode=encode)
    for method in (fitted.transform, lambda _: fitted.get_feature_names_out()):
        with pytest.raises(ValueError, match=message):
            method(DATA)


def test_what_the_target_may_be() -> None:
    with pytest.raises(ValueError, match=r"target_kind must be one of 'classes', .* or None, got 'regression'"):
        GridDiscretizer(target_kind="regression", encode="mean").fit(DATA, PRICE)
    with pytest.raises(ValueError, match=r"continuous.*target_kind='numerical'"):
        GridDiscretizer().fit(DATA, PRICE)
    assert len(GridDiscretizer(target_kind="classes").fit(DATA, SIZE.round(1)).classes_) > 2
    numerical = GridDiscretizer(target_kind="numerical")
    for y, message in ((np.where(SIZE > 1, PRICE, np.nan), "Input y contains NaN"), (LETTERS, "numeric|convert")):
        with pytest.raises(ValueError, match=message):
            numerical.fit(DATA, y)
    with pytest.raises(ValueError, match="infinity"):
        numerical.fit(DATA, np.where(SIZE > 1, PRICE, np.inf))
    with pytest.raises(NotImplementedError, match="special= is for one column with classes"):
        clone(numerical).set_params(special={"size": [0]}).fit(DATA, PRICE)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        numerical.fit(DATA, PRICE[1:])


# Groups of classes


def test_grouped_classes_are_those_of_optimize_each() -> None:
    discretizer = GridDiscretizer(target_kind="grouped", encode="woe").fit(DATA, LETTERS)
    models = optimize_each(DATA, LETTERS, target_kind="grouped")
    for name, model in models.items():
        assert discretizer.models_[name].cost == model.cost
    assert discretizer.classes_.tolist() == list("abcdefghijkl")
    assert discretizer.target_kind_ == "grouped"


def test_woe_of_groups_by_hand() -> None:
    X = DATA[["size", "noise"]]
    discretizer = GridDiscretizer(target_kind="grouped", encode="woe").fit(X, LETTERS)
    groups = discretizer.models_["size"].target.groups
    assert sorted(map(sorted, groups)) == [list("abcdef"), list("ghijkl")]
    second = np.isin(LETTERS, groups[1])
    parts = discretizer.partitions_["size"].part_of(X["size"])
    odds = discretizer.transform(X)
    for part in np.unique(parts):
        inside = parts == part
        n1, n0, all1, all0 = (inside & second).sum(), (inside & ~second).sum(), second.sum(), (~second).sum()
        by_hand = math.log((n1 + 0.5) / (n0 + 0.5)) - math.log((all1 + 0.5) / (all0 + 0.5))
        np.testing.assert_allclose(odds[inside, 0], by_hand, rtol=1e-12)
    first, other = discretizer.get_feature_names_out().tolist()
    assert first == "size_1_" + "+".join([*groups[1][:5], "1_more"])
    assert discretizer.models_["noise"].target.n_parts == 1
    assert other.startswith("noise_0_")
    assert not odds[:, 1].any()


def test_woe_of_three_groups_have_a_column_each() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 3, 900)
    y = x.astype(int) * 5 + rng.integers(0, 5, 900)
    discretizer = GridDiscretizer(target_kind="grouped", encode="woe").fit(x[:, None], y)
    target = discretizer.models_["x0"].target
    assert target.n_parts == 3
    assert discretizer.get_feature_names_out().tolist() == [
        f"x0_{i}_" + "+".join(map(str, group)) for i, group in enumerate(target.groups)
    ]
    odds = discretizer.transform([[0.5], [1.5], [2.5]])
    for row, y_row in zip(odds, (0, 5, 10), strict=True):
        assert y_row in target.groups[int(np.argmax(row))]
        assert np.count_nonzero(row > 0) == 1


# Numbers


def test_mean_is_that_of_the_rows_in_the_part() -> None:
    discretizer = GridDiscretizer(target_kind="numerical", encode="mean", unknown="neutral").fit(DATA, PRICE)
    out = discretizer.transform(DATA)
    assert discretizer.get_feature_names_out().tolist() == list(DATA.columns)
    parts = clone(discretizer).set_params(encode="ordinal").fit_transform(DATA, PRICE)
    assert len(np.unique(parts[:, 0])) > 1
    for i in range(DATA.shape[1]):
        for part in np.unique(parts[:, i]):
            inside = parts[:, i] == part
            np.testing.assert_allclose(out[inside, i], PRICE[inside].mean(), rtol=1e-12)
    assert not hasattr(discretizer, "classes_")
    new = DATA[:1].assign(colour="white")
    assert discretizer.transform(new)[0, 1] == pytest.approx(PRICE.mean(), rel=1e-12)


def test_numerical_targets_of_any_container() -> None:
    whole = PRICE.round().astype(int)
    expected = GridDiscretizer(target_kind="numerical").fit_transform(DATA, whole)
    for y in (whole.tolist(), pd.Series(whole), pl.Series(whole), whole.astype(object), whole.astype(np.float32)):
        np.testing.assert_array_equal(GridDiscretizer(target_kind="numerical").fit_transform(DATA, y), expected)


def test_a_regression_in_a_pipeline() -> None:
    pipeline = make_pipeline(GridDiscretizer(target_kind="numerical", encode="mean"), LinearRegression())
    search = GridSearchCV(pipeline, {"griddiscretizer__max_parts": [1, None]}, cv=3, error_score="raise")
    search.fit(DATA, PRICE)
    assert search.best_params_ == {"griddiscretizer__max_parts": None}
    assert search.best_score_ > 0.9


# Few labels


def test_unlabelled_rows_are_those_of_optimize_each() -> None:
    for placement in (None, "median"):
        discretizer = GridDiscretizer(unlabelled=-1, placement=placement).fit(DATA, FEW)
        models = optimize_each(DATA, FEW, unlabelled=-1, placement=placement)
        assert discretizer.classes_.tolist() == [0, 1]
        for name, model in models.items():
            assert discretizer.models_[name].cost == model.cost
            partition = discretizer.partitions_[name]
            np.testing.assert_array_equal(partition.bounds, model.partitions[name].bounds)
            assert partition.unlabelled is not None
            assert partition.unlabelled.sum() == np.count_nonzero(FEW == -1)
    assert discretizer.target_kind_ == "classes"


def test_any_value_can_be_the_mark() -> None:
    expected = GridDiscretizer(unlabelled=-1).fit_transform(DATA, FEW)
    some = FEW >= 0
    texts = np.where(some, np.where(FEW > 0, "yes", "no"), "?").astype(object)
    nothing = texts.copy()
    nothing[~some] = None
    for mark, y in (
        ("?", texts), (None, nothing), (np.nan, nothing), (math.nan, np.where(some, FEW, np.nan)),
        (None, pd.Series(np.where(some, FEW, np.nan)).astype("Int64")), (pd.NA, nothing),
    ):  # fmt: skip
        discretizer = GridDiscretizer(unlabelled=mark)
        np.testing.assert_array_equal(clone(discretizer).fit_transform(DATA, y), expected)


def test_without_a_mark_minus_one_is_a_class() -> None:
    assert GridDiscretizer().fit(DATA, FEW).classes_.tolist() == [-1, 0, 1]


def test_the_default_mark_survives_copies() -> None:
    made = GridDiscretizer()
    for same in (clone(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):  # noqa: S301  our own
        assert same.unlabelled is made.unlabelled
    for same in (copy.copy(NOT_GIVEN), copy.deepcopy(NOT_GIVEN), pickle.loads(pickle.dumps(NOT_GIVEN))):  # noqa: S301
        assert same is NOT_GIVEN
    assert repr(GridDiscretizer()) == "GridDiscretizer()"
    assert repr(GridDiscretizer(unlabelled=None)) == "GridDiscretizer(unlabelled=None)"
    np.testing.assert_array_equal(
        GridDiscretizer(unlabelled=NOT_GIVEN).fit_transform(DATA, FEW), GridDiscretizer().fit_transform(DATA, FEW)
    )


def test_marks_can_be_searched() -> None:
    pipeline = make_pipeline(GridDiscretizer(encode="woe"), LinearRegression())
    grid = {"griddiscretizer__unlabelled": [(), -1], "griddiscretizer__placement": [None]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(DATA, FEW)
    assert len(search.cv_results_["params"]) == 2


@pytest.mark.parametrize(
    ("arguments", "y", "message"),
    [
        ({"placement": "median"}, FEW, "mark these rows with unlabelled="),
        ({"placement": "mean", "unlabelled": -1}, FEW, "placement must be one of 'short', 'median'"),
        ({"unlabelled": [-1]}, FEW, "unlabelled must be one value"),
        ({"unlabelled": -1, "target_kind": "numerical"}, PRICE, "is for a target of classes"),
        ({"unlabelled": -1, "target_kind": "grouped"}, FEW, "is for a target of classes"),
        ({"unlabelled": -1}, PRICE, "real numbers; target_kind='classes'"),
        ({"unlabelled": -1}, np.full(len(DATA), -1), "no row has a class"),
        ({"unlabelled": -1, "criterion": "gini"}, FEW, "placement='median'"),
    ],
)
def test_other_marks_are_refused(arguments: dict[str, Any], y: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        GridDiscretizer(**arguments).fit(DATA, y)


# No target


def test_numbers_are_cut_by_their_density() -> None:
    for frame in FRAMES.values():
        discretizer = GridDiscretizer().fit(frame)
        assert list(discretizer.models_) == ["size", "date", "noise"]
        for name, model in discretizer.models_.items():
            assert isinstance(model, DensityModel)
            alone = optimize_density(frame[name])
            np.testing.assert_array_equal(model.partition.bounds, alone.partition.bounds)
            assert model.n_missing == alone.n_missing
            assert model.frame == alone.frame
    size = discretizer.partitions_["size"]
    assert size.n_parts > 1
    np.testing.assert_array_equal(size.counts, discretizer.models_["size"].partition.counts)


def test_values_outside_the_range_are_in_the_outermost_parts_and_new_missing_ones_in_none() -> None:
    discretizer = GridDiscretizer().fit(SIZE[:, None])
    n_parts = discretizer.partitions_["x0"].n_parts
    beyond = [[-1e9], [-np.inf], [np.nan], [1e9], [np.inf]]
    assert discretizer.transform(beyond)[:, 0].tolist() == [0, 0, -1, n_parts - 1, n_parts - 1]


def test_missing_values_are_a_part() -> None:
    X = np.append(SIZE, [np.nan] * 20)[:, None]
    discretizer = GridDiscretizer(encode="onehot").fit(X)
    partition = discretizer.partitions_["x0"]
    assert partition.labels[0] == "missing"
    assert partition.counts[0] == 20
    np.testing.assert_array_equal(partition.bounds, optimize_density(SIZE).partition.bounds)
    assert discretizer.transform([[np.nan]])[0].tolist() == [1.0] + [0.0] * (partition.n_parts - 1)
    few = GridDiscretizer(min_rows=21).fit(X).partitions_["x0"]
    assert few.labels[0] == "missing"  # no limit on rows moves missing values
    assert few.counts[0] == 20
    assert few.rows[1:].min() >= 21


def test_infinite_values_do_not_count_for_the_density() -> None:
    X = np.concatenate([SIZE, [-np.inf, np.inf, np.inf]])[:, None]
    partition = GridDiscretizer().fit(X).partitions_["x0"]
    plain = GridDiscretizer().fit(SIZE[:, None]).partitions_["x0"]
    np.testing.assert_array_equal(partition.bounds, plain.bounds)
    more = partition.counts - plain.counts
    assert more[:, 0].tolist() == [1, *[0] * (plain.n_parts - 2), 2]


def test_special_codes_are_parts() -> None:
    X = np.concatenate([SIZE, np.full(30, -999.0), [-1.0]])[:, None]
    discretizer = GridDiscretizer(special={"x0": [-999, -1, -2]}).fit(X)
    partition = discretizer.partitions_["x0"]
    plain = optimize_density(SIZE)
    np.testing.assert_array_equal(partition.bounds, plain.partition.bounds)
    assert partition.labels[-3:] == ["special -999", "special -1", "special -2"]
    assert partition.counts[-3:, 0].tolist() == [30, 1, 0]
    assert discretizer.transform([[-999.0], [-998.0]])[:, 0].tolist() == [plain.n_parts, 0]
    assert discretizer.models_["x0"].n_rows == len(SIZE)
    only = GridDiscretizer(special={"x0": [-1]}).fit(np.full((9, 1), -1.0)).partitions_["x0"]
    assert only.counts[:, 0].tolist() == [0, 9]


@pytest.mark.parametrize("value", [1.0, np.nan, np.inf, np.datetime64("2020-01-01"), np.datetime64("NaT"), 2**60])
def test_columns_of_one_value_have_one_part(value: Any) -> None:
    X = pd.DataFrame({"a": [value] * 12})
    discretizer = GridDiscretizer().fit(X)
    assert discretizer.models_ == {}
    assert discretizer.partitions_["a"].counts.tolist() == [[12]]
    assert not discretizer.transform(X).any()
    assert not GridDiscretizer().fit_transform(X[:1]).any()


def test_each_category_is_a_part() -> None:
    X = pd.DataFrame({"colour": ["red"] * 5 + ["blue"] * 3 + [None] * 2 + ["green"]})
    discretizer = GridDiscretizer().fit(X)
    assert discretizer.partitions_["colour"].groups == ((None,), ("blue",), ("green",), ("red",))
    assert discretizer.partitions_["colour"].counts[:, 0].tolist() == [2, 3, 1, 5]
    assert discretizer.models_ == {}
    white = pd.DataFrame({"colour": ["white"]})
    assert discretizer.transform(white).tolist() == [[-1]]
    assert discretizer.set_params(unknown="largest").transform(white).tolist() == [[3]]
    with pytest.raises(ValueError, match="did not have, such as 'white'"):
        discretizer.set_params(unknown="error").transform(white)


@pytest.mark.parametrize(
    ("limits", "groups"),
    [
        ({"max_parts": 3}, ((None,), ("blue",), ("green",), ("red",))),
        ({"max_parts": 2}, ((None,), ("red",), ("blue", "green"))),
        ({"max_parts": 1}, ((None,), ("blue", "green", "red"))),
        ({"min_rows": 2}, ((None,), ("red",), ("blue", "green"))),
        ({"min_rows": 3}, ((None,), ("red",), ("blue", "green"))),
        ({"min_rows": 0.4}, ((None,), ("blue", "green", "red"))),
        ({"min_rows": 99}, ((None,), ("blue", "green", "red"))),
    ],
)
def test_rare_categories_share_a_part(limits: dict[str, Any], groups: Any) -> None:
    X = pd.DataFrame({"colour": ["red"] * 5 + ["blue"] * 3 + [None] * 2 + ["green"]})
    assert GridDiscretizer(**limits).fit(X).partitions_["colour"].groups == groups


def test_limits_of_intervals() -> None:
    X = np.append(SIZE, [np.nan] * 9)[:, None]
    for max_parts in (1, 2, 3, 4):
        partition = GridDiscretizer(max_parts=max_parts).fit(X).partitions_["x0"]
        assert partition.n_parts <= max_parts + 1  # missing values are exempt
        assert partition.counts.sum() == len(X)
    many = GridDiscretizer(min_rows=0.2).fit(X).partitions_["x0"]
    assert many.n_parts > 2
    assert many.rows[0] == 9  # missing values
    assert many.rows[1:].min() >= 0.2 * len(X)
    assert GridDiscretizer(max_parts=1, special={"x0": [0]}).fit(X).partitions_["x0"].n_parts == 3
    with pytest.warns(ConvergenceWarning, match="time_limit=0"):
        stopped = GridDiscretizer(time_limit=0).fit(X)
    assert stopped.models_["x0"].stopped == "time limit"
    assert stopped.partitions_["x0"].n_parts == 2  # missing values, and the rest


def test_kinds_decide_without_a_target_too() -> None:
    discretizer = GridDiscretizer(kinds={"whole": "categorical", "flag": "numerical"})
    discretizer.fit(pd.DataFrame({"whole": [3, 1, 2] * 9, "flag": [True, False, True] * 9}))
    assert discretizer.partitions_["whole"].groups == ((1,), (2,), (3,))
    assert discretizer.partitions_["flag"].kind == "numerical"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"criterion": "gini"}, "criterion='gini' would mean nothing"),
        ({"criterion": get_criterion("bic")}, "requires y"),
        ({"criterion": "entropy", "criterion_options": {"alpha": 1.0}}, "criterion_options={'alpha': 1.0}"),
        ({"search": "merge"}, "search='merge'"),
        ({"target_kind": "numerical"}, "target_kind='numerical'"),
        ({"unlabelled": None}, "unlabelled=None"),
        ({"placement": "median"}, "placement='median'"),
        ({"monotone": "auto"}, "monotone='auto'"),
        ({"encode": "woe"}, "encode='woe'"),
        ({"encode": "mean"}, "encode='mean'"),
    ],
)
def test_what_needs_a_target_says_so(arguments: dict[str, Any], message: str) -> None:
    assert get_tags(GridDiscretizer(**arguments)).target_tags.required
    with pytest.raises(ValueError, match=message):
        GridDiscretizer(**arguments).fit(DATA)


def test_what_needs_no_target() -> None:
    for arguments in (
        {},
        {"criterion": get_criterion("modl")},
        {"search": gridmodl.Search()},
        {"criterion_options": {}},
    ):
        assert not get_tags(GridDiscretizer(**arguments)).target_tags.required
        GridDiscretizer(**arguments).fit(DATA[["size"]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kinds": {"weight": "numerical"}}, "kinds names column 'weight'"),
        ({"special": {"weight": [0]}}, "special names column 'weight'"),
        ({"special": {"colour": ["red"]}}, "'colour' is categorical"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"max_parts": 0}, "max_parts"),
        ({"time_limit": -1}, "time_limit"),
        ({"random_state": "a"}, "random_state"),
        ({"kinds": {"colour": "numerical"}}, "column 'colour'"),
    ],
)
def test_arguments_are_checked_without_a_target(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        GridDiscretizer(**arguments).fit(DATA)


def test_interruption_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from gridmodl.estimators import columns as module

    def interrupted(work: Any, names: Any, n_threads: Any, clock: Any) -> Any:
        clock.stopped = "interrupted"
        return {name: work(name) for name in names}

    monkeypatch.setattr(module, "in_threads", interrupted)
    with pytest.raises(KeyboardInterrupt):
        GridDiscretizer().fit(DATA)
