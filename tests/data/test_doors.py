"""The same rows give the same model, whatever array, series or frame holds them."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from oracles.doors import VALUES, category_doors, doors, tables

import gridmodl
from gridmodl import average, count, optimize, optimize_density

RNG = np.random.default_rng(38)
N = 90
LEVEL = RNG.integers(0, 4, N)
Y = (LEVEL >= 2) ^ (RNG.random(N) < 0.1)
X = np.round(LEVEL + RNG.normal(size=N), 3)
WEIGHTS = RNG.integers(0, 3, N)
IS_MISSING = RNG.random(N) < 0.15
FALLING = {
    kind: [values[i] for i in (3, 0, 2, 1)] if len(values) == 4 else values[::-1] for kind, values in VALUES.items()
}
CATEGORICAL = [("text", False), ("whole", False), ("text", True), ("whole", True), ("float", True), ("bool", True),
               ("day", False), ("day", True)]  # fmt: skip


def rows_of(kind, has_missing):
    values = VALUES[kind]
    return [
        None if has_missing and absent else values[level * len(values) // 4]
        for level, absent in zip(LEVEL.tolist(), IS_MISSING.tolist(), strict=True)
    ]


def described(model):
    """All that a model says, without the names of its columns; equal of equal values."""
    parts = [
        (part.column_kind, part.counts.tolist(), part.missing, part.bounds.tolist(), [list(g) for g in part.groups])
        for part in model.all_partitions.values()
    ]
    return model.cost, model.null_cost, model.classes.tolist(), model.event, parts


def assert_same(models):
    first, *others = models
    for other in others:
        assert described(models[other]) == described(models[first]), f"{other} and {first}"


@pytest.mark.parametrize("has_missing", [False, True], ids=["", "missing"])
@pytest.mark.parametrize("kinds", [None, "categorical"], ids=["as its type says", "categorical"])
@pytest.mark.parametrize("kind", VALUES)
def test_a_column(kind, kinds, has_missing):
    given = {"weights": WEIGHTS, "kinds": None if kinds is None else {"x": kinds}}
    raws = dict(doors(kind, rows_of(kind, has_missing)))
    models = {
        f"{table} of {door}": optimize(data, Y, **given)
        for door, raw in raws.items()
        for table, data in tables("x", raw)
    }
    assert_same(models)
    parts = {door: models["dict of list"].transform({"x": raw}).tolist() for door, raw in raws.items()}
    assert all(found == parts["list"] for found in parts.values())
    if kinds is None:
        assert_same(
            {door: optimize(raw, Y, weights=WEIGHTS) for door, raw in raws.items()} | {"dict": models["dict of list"]}
        )


@pytest.mark.parametrize("has_missing", [False, True], ids=["", "missing"])
@pytest.mark.parametrize(("kind", "ordered"), CATEGORICAL)
def test_a_categorical_column(kind, ordered, has_missing):
    raws = dict(category_doors(kind, rows_of(kind, has_missing), FALLING[kind], ordered))
    models = {
        f"{table} of {door}": optimize(data, Y, weights=WEIGHTS)
        for door, raw in raws.items()
        for table, data in [*tables("x", raw), ("alone", raw)]
    }
    assert_same(models)
    model = models["alone of categorical"]
    assert next(iter(model.partitions.values())).kind == ("ordinal" if ordered else "categorical")
    assert len({str(model.transform(raw).tolist()) for door, raw in raws.items() if door != "polars"}) == 1


@pytest.mark.parametrize("has_missing", [False, True], ids=["", "missing"])
@pytest.mark.parametrize("kind", ["whole", "float", "bool", "day"])
def test_categories_called_numerical(kind, has_missing):
    """The missing values of a dictionary of pyarrow were read as one of its values."""
    rows = rows_of(kind, has_missing)
    models = {
        door: optimize({"x": raw}, Y, weights=WEIGHTS, kinds={"x": "numerical"})
        for door, raw in [*category_doors(kind, rows, FALLING[kind], False), ("list", rows)]
    }
    if kind == "day":  # pandas makes seconds of days
        assert len({(model.cost, str(model.partitions["x"].labels)) for model in models.values()}) == 1
    else:
        assert_same(models)


@pytest.mark.parametrize("kind", ["whole", "text", "bool", "day", "moment", "duration"])
def test_levels_of_the_user(kind):
    raws = dict(doors(kind, rows_of(kind, True)))
    order = {"x": FALLING[kind]}
    assert_same({door: optimize({"x": raw}, Y, order=order, weights=WEIGHTS) for door, raw in raws.items()})


@pytest.mark.parametrize("unlabelled", [False, True], ids=["", "unlabelled"])
@pytest.mark.parametrize("kind", ["whole", "text", "bool", "decimal"])
def test_a_target(kind, unlabelled):
    given = {"weights": WEIGHTS, "target_kind": "classes"}
    if unlabelled:
        given["unlabelled"] = None
    raws = doors(kind, rows_of(kind, unlabelled))
    assert_same({door: optimize(X, raw, **given) for door, raw in raws})


@pytest.mark.parametrize("unlabelled", [False, True], ids=["", "unlabelled"])
@pytest.mark.parametrize(("kind", "ordered"), CATEGORICAL)
def test_a_categorical_target(kind, ordered, unlabelled):
    """A raw `pd.Categorical` flipped the event, and with it all weights of evidence."""
    given = {"unlabelled": None} if unlabelled else {}
    raws = category_doors(kind, rows_of(kind, unlabelled), FALLING[kind], ordered)
    models = {door: optimize(X, raw, weights=WEIGHTS, **given) for door, raw in raws}
    assert_same(models)
    if ordered:
        assert models["categorical"].event == FALLING[kind][-1]
        assert models["categorical"].classes.tolist() == FALLING[kind]


@pytest.mark.parametrize("kind", ["whole", "float", "decimal"])
def test_a_numerical_target(kind):
    raws = doors(kind, rows_of(kind, False))
    given = {"target_kind": "numerical", "weights": WEIGHTS}
    assert_same({door: optimize({"x": X}, raw, random_state=0, **given) for door, raw in raws})


@pytest.mark.parametrize("kind", ["day", "moment", "zoned", "duration"])
def test_dates_are_no_classes(kind):
    """Dates of Python were classes, and those of all other doors an error."""
    what = "durations" if kind == "duration" else "dates"
    for _, raw in doors(kind, rows_of(kind, False)):
        with pytest.raises(TypeError, match=f"^target holds {what}; classes are .*make texts"):
            optimize(X, raw)


def test_text_is_no_number():
    for _, raw in doors("text", rows_of("text", False)):
        with pytest.raises(TypeError, match=r"holds no numbers, such as '\w' \(str\); call it categorical"):
            optimize({"x": raw}, Y, kinds={"x": "numerical"})


def test_weights():
    raws = dict(doors("whole", WEIGHTS.tolist()))
    raws["decimal"] = pa.array(WEIGHTS.tolist(), pa.decimal128(5, 0))
    raws["dictionary"] = pa.array(WEIGHTS.tolist()).dictionary_encode()
    raws["categorical"] = pd.Categorical(WEIGHTS)
    assert_same({door: optimize(X, Y, weights=raw) for door, raw in raws.items()})
    holed = pa.array([None, *WEIGHTS.tolist()[1:]]).dictionary_encode()
    with pytest.raises(ValueError, match="weights must be whole numbers"):
        optimize(X, Y, weights=holed)


@pytest.mark.parametrize("data", [pd.array(X), pd.Index(X), pa.array(X), pl.Series(X), X.tolist()], ids=type)
def test_other_verbs(data):
    assert average(data, Y).log_evidence == average(X, Y).log_evidence
    assert optimize_density(data).n_rows == N
    assert optimize(count({"x": data, "y": Y}, "y").only("x")).cost == pytest.approx(optimize(X, Y).cost)


def test_names_of_an_index():
    assert list(optimize(pd.Index(X, name="age"), Y).partitions) == ["age"]
    assert optimize(X, pd.CategoricalIndex(np.where(Y, "yes", "no"), name="buys")).target_name == "buys"


@pytest.mark.parametrize("kind", ["text", "whole"])
def test_estimators_keep_the_order_of_classes(kind):
    raws = category_doors(kind, rows_of(kind, False), FALLING[kind], True)
    fitted = {door: gridmodl.GridDiscretizer().fit(X[:, None], raw) for door, raw in raws}
    assert {one.models_["x0"].event for one in fitted.values()} == {FALLING[kind][-1]}
    costs = {one.models_["x0"].cost for one in fitted.values()}
    assert len(costs) == 1


def test_estimators_do_not_fill_missing_classes():
    """Chunks of a dictionary with missing values gave these the class of the last value."""
    rows = rows_of("text", True)
    raws = dict(category_doors("text", rows, VALUES["text"], False))
    for raw in raws.values():
        with pytest.raises(ValueError, match=f"{rows.count(None)} of {N} rows have no class"):
            gridmodl.GridDiscretizer().fit(X[:, None], raw)
