"""`Models` as a table to work with: apply, choose, edit and assign; and given parts in estimators."""

from __future__ import annotations

import copy
import itertools
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.model_selection import cross_val_score

import gridmodl
from gridmodl import GridDiscretizer, GridNaiveBayes, Model, Models

RNG = np.random.default_rng(3)
N = 400
X = RNG.uniform(0, 10, N).round(2)
Y = np.where(RNG.random(N) < 0.05 + 0.08 * X, "yes", "no")
TOWN = np.where(RNG.random(N) < 0.8, np.array(list("abcd"))[(X // 2.6).astype(int)], None)
DATA = pd.DataFrame(
    {"age": np.where(RNG.random(N) < 0.15, np.nan, X), "town": TOWN, "noise": RNG.random(N).round(3)},
    index=np.arange(1000, 1000 + N),
)
THREE = np.where(X < 3, "low", np.where(X < 7, "mid", "top"))
FRAMES = {
    "pandas": (DATA, pd.DataFrame),
    "polars": (pl.from_pandas(DATA), pl.DataFrame),
    "pyarrow": (pa.Table.from_pandas(DATA, preserve_index=False), pa.Table),
    "arrays": ({name: DATA[name].to_numpy() for name in DATA}, dict),
}


@pytest.fixture
def models():
    return gridmodl.optimize_each(DATA, Y)


def plain(table):
    if not isinstance(table, (dict, pd.DataFrame)):
        table = table.to_pydict() if isinstance(table, pa.Table) else table.to_dict(as_series=False)
    return {name: list(column) for name, column in dict(table).items()}


# Apply.


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("encode", ["ordinal", "onehot", "woe"])
def test_transform_is_that_of_the_discretizer(library, encode):
    data, kind = FRAMES[library]
    found = gridmodl.optimize_each(data, Y).transform(data, encode)
    assert isinstance(found, kind)
    discretizer = GridDiscretizer(encode=encode).fit(DATA, Y)
    names, wanted = discretizer.get_feature_names_out(), discretizer.transform(DATA)
    columns = plain(found)
    assert sorted(columns) == sorted(names)
    for name, column in zip(names, wanted.T, strict=True):
        assert columns[name] == column.tolist()


def test_transform_by_hand(models):
    parts = models.transform(DATA)
    assert list(parts) == list(models)
    assert parts.index.equals(DATA.index)
    woe = models.transform(DATA, encode="woe", frame="arrays")
    for name in models:
        of_column = models[name].transform(DATA[name])
        assert parts[name].tolist() == of_column.tolist()
        assert woe[name].tolist() == models[name].table()["woe"].to_numpy()[of_column].tolist()


def test_values_of_no_part(models):
    new = pd.DataFrame({"age": [np.nan], "town": ["zzz"], "noise": [np.nan]})
    parts = models.transform(new)
    assert parts["age"][0] == models["age"].partitions["age"].missing
    assert (parts["town"][0], parts["noise"][0]) == (-1, -1)
    woe = models.transform(new, encode="woe")
    assert (woe["town"][0], woe["noise"][0]) == (0.0, 0.0)
    assert not models.select(columns=["town"]).transform(new, encode="onehot").to_numpy().any()
    with pytest.raises(ValueError, match="zzz"):
        models.transform(new, unknown="error")
    with pytest.raises(ValueError, match="noise"):
        models.transform(new, missing="error")
    largest = models.transform(new, unknown="largest")["town"][0]
    assert largest == models["town"].partitions["town"].rows.argmax()


def test_three_classes_and_means():
    models = gridmodl.optimize_each(DATA, THREE)
    woe = models.transform(DATA, encode="woe")
    assert list(woe) == [f"{name}_{label}" for name in models for label in ("low", "mid", "top")]
    assert list(gridmodl.optimize_each(DATA, THREE, event="mid").transform(DATA, encode="woe")) == list(models)
    numbers = gridmodl.optimize_each(DATA, X, target_kind="numerical")
    means = numbers.transform(DATA, encode="mean")
    prediction = numbers["age"].predict(DATA["age"]).mean
    assert means["age"].tolist() == prediction.tolist()
    for encode, target in (("mean", models), ("woe", numbers)):
        with pytest.raises(ValueError, match="encode="):
            target.transform(DATA, encode=encode)


def test_wrong_encodings(models):
    with pytest.raises(ValueError, match="encode='log-odds' is called encode='woe'"):
        models.transform(DATA, encode="log-odds")
    with pytest.raises(ValueError, match=r"encode='log-odds' is called encode='woe'"):
        GridDiscretizer(encode="log-odds").fit(DATA, Y)
    with pytest.raises(ValueError, match=r"encode must be one of .* did you mean 'onehot'"):
        models.transform(DATA, encode="one-hot")


def test_columns_that_are_not_there(models):
    with pytest.raises(ValueError, match=r"the models need column 'town'; the data has 'age'.*select"):
        models.select(columns=["town", "age"]).transform(DATA[["age"]])
    array = DATA[["age", "noise"]].to_numpy()
    of_array = gridmodl.optimize_each(array, Y)
    assert plain(of_array.transform(array)) == {
        name: of_array[name].transform(array[:, int(name[1])]).tolist() for name in of_array
    }
    assert plain(of_array.select(columns=["x1"]).transform(array[:, 1]))["x1"] == plain(of_array.transform(array))["x1"]


def test_predict_proba_is_by_column(models):
    new = pd.concat([DATA, pd.DataFrame({"age": [np.nan], "town": ["zzz"], "noise": [np.nan]})])
    for target, kind in ((Y, None), (THREE, None), ((X * 2).astype(int), "grouped")):
        each = gridmodl.optimize_each(DATA, target, target_kind=kind)
        found = each.predict_proba(new)
        assert list(found) == list(each)
        for name, model in each.items():
            assert found[name].tolist() == model.predict_proba(new[name]).tolist()
    with pytest.raises(ValueError, match="predict_proba is for classes"):
        gridmodl.optimize_each(DATA, X, target_kind="numerical").predict_proba(DATA)


# Statistics.


def test_table_by_hand(models):
    table = models.table()
    assert table["column"].tolist() == list(models)
    for row in table.to_dict("records"):
        name = row["column"]
        model = models[name]
        assert row["missing"] == pytest.approx(DATA[name].isna().mean())
        assert row["event"] == "yes"
        assert row["iv"] == pytest.approx(model.table()["iv"].sum())
        rates = model.predict_proba(DATA[name])[:, 1]
        assert row["gini"] == pytest.approx(2 * roc_auc_score(Y == "yes", rates) - 1)
        false, true, _ = roc_curve(Y == "yes", rates)
        assert row["ks"] == pytest.approx(np.max(true - false))
        assert row["level"] == model.level


def test_missing_shares():
    weights = RNG.integers(0, 4, N)
    wanted = {name: np.average(DATA[name].isna(), weights=weights) for name in DATA}
    for models in (
        gridmodl.optimize_each(DATA, Y, weights=weights),
        gridmodl.optimize_each(DATA, Y, weights=weights, max_parts=1),  # missing values beside all others
        gridmodl.optimize_each(DATA, X, target_kind="numerical", weights=weights),
        gridmodl.optimize_each(DATA, np.where(X < 5, "?", Y), unlabelled="?", weights=weights),
        gridmodl.optimize_each(DATA, np.where(X < 5, "?", Y), unlabelled="?", placement="median", weights=weights),
    ):
        for again in (models, Models.from_json(models.to_json())):
            table = again.table("arrays")
            found = dict(zip(table["column"].tolist(), table["missing"].tolist(), strict=True))
            assert found == pytest.approx(wanted)
    grid = gridmodl.optimize(DATA, Y, weights=weights)
    for name, partition in grid.partitions.items():
        assert partition.n_missing == DATA[name].isna().to_numpy() @ weights


def test_table_without_an_event():
    models = gridmodl.optimize_each(DATA, THREE)
    table = models.table()
    assert (table["event"] == "").all()
    for row in table.to_dict("records"):
        shares = models[row["column"]].predict_proba(DATA[row["column"]])
        area = roc_auc_score(THREE, shares, multi_class="ovr", average="macro")
        assert row["gini"] == pytest.approx(2 * area - 1)
    assert "event" not in models.summary()
    numbers = gridmodl.optimize_each(DATA, X, target_kind="numerical")
    assert not {"iv", "gini", "ks", "event"} & set(numbers.table())
    assert "iv" not in numbers.summary()


def test_summary(models):
    lines = models.summary().splitlines()
    assert lines[0].split() == ["column", "kind", "parts", "level", "iv", "proven"]
    assert lines[-1] == "  event: yes"
    assert models.event == "yes"
    assert Models({}).event is None
    assert Models({}).summary().split() == lines[0].split()


# Choose, assign, edit.


def test_select(models):
    table = models.table().set_index("column")
    for threshold in (0.0, 0.05, 0.1, 10.0):
        assert list(models.select(level=threshold)) == [n for n in models if table["level"][n] > threshold]
        assert list(models.select(iv=threshold)) == [n for n in models if table["iv"][n] > threshold]
    assert list(models.select(columns=["noise", "age"])) == [name for name in models if name != "town"]
    assert list(models.select(columns=["noise", "age"], level=0)) == ["age"]
    assert list(models.select()) == list(models)
    with pytest.raises(KeyError, match="did you mean 'noise'"):
        models.select(columns=["noisy"])
    with pytest.raises(TypeError, match="columns must be a list"):
        models.select(columns="age")
    with pytest.raises(ValueError, match="iv= is for classes"):
        gridmodl.optimize_each(DATA, X, target_kind="numerical").select(iv=0.1)


def test_assignment_keeps_the_place(models):
    order = list(models)
    edited = models["age"].edit("age", merge=[1, 2])
    models["age"] = edited
    assert models["age"] is edited
    assert list(models) == order
    del models["noise"]
    assert list(models) == [name for name in order if name != "noise"]
    with pytest.raises(KeyError, match="no column 'noise'"):
        del models["noise"]
    assert models.table()["column"].tolist() == list(models)
    assert Models.from_json(models.to_json())["age"].cost == edited.cost


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: [1.0, 2.0], TypeError, "takes a gridmodl.Model, got list; Model.from_partitions"),
        (lambda: gridmodl.optimize({"x": X}, Y), ValueError, r"of column 'age' alone, got one of \['x'\]"),
        (lambda: gridmodl.optimize(DATA, Y), ValueError, "takes a model of column 'age' alone"),
        (lambda: gridmodl.optimize({"age": X}, THREE), ValueError, "'no', 'yes'.* got one whose classes"),
        (lambda: gridmodl.optimize({"age": X}, Y, event="no"), ValueError, "is 'yes'; got one whose event is 'no'"),
        (lambda: gridmodl.optimize({"age": X}, Y, target_kind="grouped"), ValueError, "same target"),
    ],
)  # fmt: skip
def test_what_is_no_model_of_the_column(models, make, error, message):
    with pytest.raises(error, match=message):
        models["age"] = make()


def test_an_error_is_mended():
    data = {"a": X, "b": [object()] * N}
    with pytest.warns(gridmodl.ColumnWarning):
        models = gridmodl.optimize_each(data, Y)
    assert list(models.errors) == ["b"]
    models["b"] = gridmodl.optimize({"b": X}, Y)
    assert list(models) == ["a", "b"]
    assert models.errors == {}


def test_edit(models):
    found = models.edit("age", merge=[1, 2])
    assert models["age"].delta is None
    assert found["age"].delta == models["age"].edit("age", merge=[1, 2]).delta
    assert list(found) == list(models)
    assert found["town"] is models["town"]
    groups = models["town"].partitions["town"].groups
    assert models.edit("town", groups=[list(itertools.chain(*groups))])["town"].partitions["town"].n_parts == 1
    with pytest.raises(KeyError, match=r"no column 'ages'.*did you mean 'age'"):
        models.edit("ages", merge=[1, 2])


def test_copies(models):
    for again in (copy.deepcopy(models), pickle.loads(pickle.dumps(models))):  # noqa: S301  our own
        assert list(again) == list(models)
        assert again.table().equals(models.table())


# Given parts.


def test_given_parts_are_kept_and_the_rest_is_found(models):
    edited = models.edit("age", merge=[1, 2])
    for partitions in (
        edited.select(columns=["age"]),
        {"age": edited["age"]},
        {"age": edited["age"].partitions["age"]},
    ):
        for estimator in (GridDiscretizer, GridNaiveBayes):
            fitted = estimator(partitions=partitions).fit(DATA, Y)
            assert isinstance(fitted.models_, Models)
            assert list(fitted.models_) == list(DATA)
            assert fitted.models_["age"].cost == edited["age"].cost
            assert fitted.models_["age"].partitions["age"].labels == edited["age"].partitions["age"].labels
            assert fitted.models_["town"].cost == models["town"].cost
            assert fitted.models_["age"].search == "given"
    discretizer = GridDiscretizer(partitions=edited, encode="woe").fit(DATA, Y)
    assert discretizer.transform(DATA)[:, 0].tolist() == edited.transform(DATA, encode="woe")["age"].tolist()


def test_given_bounds_and_groups():
    partitions = {"age": [3.0, 6.0], "town": [["a", "b"], ["c", "d", None]]}
    fitted = GridDiscretizer(partitions=partitions).fit(DATA, Y)
    wanted = Model.from_partitions(DATA[["age"]], Y, {"age": [3.0, 6.0]})
    assert fitted.models_["age"].cost == wanted.cost
    assert fitted.partitions_["town"].groups == (("a", "b"), ("c", "d", None))
    kept = gridmodl.optimize_each(DATA, Y, partitions=partitions)
    assert kept["age"].cost == wanted.cost
    assert kept["noise"].proven


def test_refit_recounts():
    edited = gridmodl.optimize_each(DATA, Y).edit("age", merge=[1, 2])
    discretizer = GridDiscretizer(partitions=edited)
    half = DATA.iloc[::2]
    again = discretizer.fit(half, Y[::2]).models_["age"]
    assert again.n_rows == len(half)
    assert again.partitions["age"].bounds.tolist() == edited["age"].partitions["age"].bounds.tolist()
    assert again.partitions["age"].counts.sum() == len(half)
    assert again.cost == gridmodl.price(half[["age"]], Y[::2], {"age": edited["age"].partitions["age"]})


def test_partitioned_targets_need_models():
    for kind, target in (("numerical", X), ("grouped", (X * 2).astype(int))):
        models = gridmodl.optimize_each(DATA, target, target_kind=kind)
        fitted = GridDiscretizer(partitions=models, target_kind=kind).fit(DATA, target)
        assert fitted.models_["age"].cost == pytest.approx(models["age"].cost)
        with pytest.raises(ValueError, match=f"the target is {kind}, .* takes a Model of such a target"):
            GridDiscretizer(partitions={"age": [3.0]}, target_kind=kind).fit(DATA, target)


def test_scikit_learn_copies_given_parts():
    edited = gridmodl.optimize_each(DATA, Y).edit("age", merge=[1, 2])
    discretizer = GridDiscretizer(partitions=edited, encode="woe")
    assert discretizer.get_params()["partitions"] is edited
    again = clone(discretizer)
    assert again.fit(DATA, Y).models_["age"].cost == edited["age"].cost
    assert "Models(3 columns)" in repr(discretizer)
    again.set_params(partitions={"age": [5.0]}).fit(DATA, Y)
    assert again.partitions_["age"].bounds.tolist() == [5.0]
    pipeline = gridmodl.GridNaiveBayes(partitions=edited)
    assert np.isfinite(cross_val_score(pipeline, DATA, Y, cv=3)).all()


@pytest.mark.parametrize(
    ("partitions", "error", "message"),
    [
        ([1.0], TypeError, "partitions must be a dict by column name"),
        ({"ages": [1.0]}, ValueError, r"partitions names column 'ages'.* did you mean 'age'"),
        ({"age": [3.0, 1.0]}, ValueError, "must ascend"),
        ({"town": [["a"], ["b"]]}, ValueError, "leave out"),
        ({"age": "low"}, TypeError, "must be a list of numbers"),
    ],
)
def test_wrong_parts(partitions, error, message):
    with pytest.raises(error, match=message):
        GridDiscretizer(partitions=partitions).fit(DATA, Y)


def test_given_parts_need_a_target_and_their_own_column():
    with pytest.raises(ValueError, match="partitions="):
        GridDiscretizer(partitions={"age": [3.0]}).fit(DATA)
    model = gridmodl.optimize({"x": X}, Y)
    with pytest.raises(ValueError, match=r"partitions has for column 'age' a model of \['x'\]"):
        GridDiscretizer(partitions={"age": model}).fit(DATA, Y)


# The event, and names of features.


def test_the_event_of_an_ordered_target():
    ordered = pd.Series(pd.Categorical(Y, categories=["yes", "no"], ordered=True))
    for estimator in (GridDiscretizer(encode="woe"), GridNaiveBayes()):
        fitted = clone(estimator).fit(DATA, ordered)
        assert fitted.models_.event == "no"
        assert fitted.classes_.tolist() == ["no", "yes"]
        assert clone(estimator).set_params(event="yes").fit(DATA, ordered).models_.event == "yes"
        with pytest.raises(ValueError, match="event='maybe' is no class"):
            clone(estimator).set_params(event="maybe").fit(DATA, ordered)
    one, other = (GridDiscretizer(encode="woe", event=event).fit_transform(DATA, Y) for event in ("yes", "no"))
    np.testing.assert_allclose(one, -other, rtol=1e-14)  # the two logarithms are rounded on their own
    rising = GridDiscretizer(monotone="increasing", event="no").fit(DATA[["noise", "age"]], Y).models_["age"]
    shares = rising.partitions["age"].counts[int(rising.partitions["age"].is_missing_apart) :, 0]
    assert len(shares) == 1  # "no" falls with age


TEXTS = np.array(["x, y", "{z}", "it's", '"q"', "a<b", "k:v", " ", "new\nline", "é", "x,y"])
REFUSED = re.compile(r"[\[\]{}<>,:\"'\s]")


def test_names_that_every_library_accepts():
    data = pd.DataFrame(
        {
            "a [b], {c}": X,
            "day:\t<time>": np.datetime64("2024-01-01T00:00:01") + (X * 1e5).astype("timedelta64[s]"),
            "text": np.array(["x, y", "{z}", "it's", '"q"', "a<b", "k:v", " ", "new\nline", "é", "x,y"])[
                (X * 0.999).astype(int)
            ],
            "text_0": np.where(X < 5, 1.5, -999.0),
            "span": pd.to_timedelta(X, unit="h"),
        }
    )
    for target, encode, more in (
        (Y, "onehot", {"special": {"text_0": [-999.0]}}),
        (np.where(X < 3, "a, b", np.where(X < 7, "{c}", "d:e")), "woe", {}),
        ((X * 2).astype(int), "woe", {"target_kind": "grouped"}),
    ):
        names = GridDiscretizer(encode=encode, **more).fit(data, target).get_feature_names_out().tolist()
        assert len(set(names)) == len(names)
        assert [name for name in names if REFUSED.search(name)] == []
        assert all(names)
    values = [f"{a}{b}" for a in "[]{}<>,:'" for b in "[]{}<>,:'"]
    many = pd.DataFrame({"v": np.repeat(values, 10), "v_0": np.repeat(values, 10)})
    fitted = GridDiscretizer(encode="onehot").fit(many, np.repeat(np.arange(81) % 2, 10))
    names = fitted.get_feature_names_out().tolist()
    assert len(set(names)) == len(names)
    assert [name for name in names if REFUSED.search(name)] == []
