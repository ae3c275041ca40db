"""Options by column: one value for all columns, or a dict by column name."""

from __future__ import annotations

import numpy as np
import pytest

import gridmodl
from gridmodl.estimators import GridDiscretizer, GridNaiveBayes
from gridmodl.fit.options import Options, checked_options


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    columns = {"age": rng.normal(size=300), "size": rng.normal(size=300), "town": rng.choice(list("xyz"), 300)}
    return columns, (columns["age"] + columns["size"] + rng.normal(size=300) > 0).astype(int)


def test_options_of_a_column_are_its_own_or_those_of_all():
    options = checked_options("modl", max_parts=3, min_rows={"age": 0.1}, missing={"size": "apart"}, special=None)
    age, size = options.of("age"), options.of("size")
    assert (age.max_parts, age.min_rows, age.missing, age.special) == (3, 0.1, "auto", None)
    assert (size.max_parts, size.min_rows, size.missing) == (3, None, "apart")
    assert age.limits(250).min_rows == 25
    assert size.limits(250).min_rows == 1
    assert options.names("min_rows", "age")
    assert not options.names("min_rows", "size")
    assert not options.names("max_parts", "age")
    assert Options().of("age").missing == "auto"


@pytest.mark.parametrize("given", [{"min_rows": 60}, {"max_parts": 2}, {"monotone": "decreasing"}])
def test_a_limit_by_column_is_that_of_the_column_alone(data, given):
    columns, y = data
    ((what, value),) = given.items()
    models = gridmodl.optimize_each(columns, y, **{what: {"age": value}})
    for name in columns:
        alone = gridmodl.optimize({name: columns[name]}, y, **(given if name == "age" else {}))
        np.testing.assert_array_equal(models[name].partition(name).counts, alone.partition(name).counts)
        assert models[name].cost == alone.cost
    free = gridmodl.optimize({"age": columns["age"]}, y)
    assert models["age"].cost > free.cost  # the limit binds


def test_estimators_take_limits_by_column(data):
    columns, y = data
    X = np.column_stack([columns["age"], columns["size"]])
    for estimator in (GridDiscretizer, GridNaiveBayes):
        fitted = estimator(max_parts={"x0": 1}, monotone={"x1": "increasing"}, min_rows={"x1": 100}).fit(X, y)
        assert fitted.models_["x0"].partition("x0").n_parts == 1
        assert fitted.models_["x1"].partition("x1").n_parts > 1
        assert fitted.models_["x1"].partition("x1").rows.min() >= 100
    parts = GridDiscretizer(max_parts={"x0": 2}).fit(X).partitions_
    assert parts["x0"].n_parts == 2
    assert parts["x1"].n_parts > 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"min_rows": {"aeg": 3}}, "min_rows names column 'aeg'; the data has .*; did you mean 'age'"),
        ({"missing": {"aeg": "auto"}}, "missing names column 'aeg'"),
        ({"monotone": {"town": "auto"}}, "column 'town' is categorical; monotone= is for intervals"),
        ({"monotone": {"age": "atuo"}}, "monotone of column 'age' must be one of .*; did you mean 'auto'"),
        ({"min_rows": {"age": 2.5}}, "min_rows of column 'age' must be a whole number"),
        ({"missing": {"age": "x"}}, "missing of column 'age' must be one of 'auto', 'apart'"),
        ({"max_parts": {"age": 0}}, "max_parts of column 'age' must be at least 1, got 0"),
    ],
)
def test_a_wrong_option_names_its_column(data, given, message):
    with pytest.raises(ValueError, match=message):
        gridmodl.optimize_each(*data, **given, on_error="raise")


def test_auto_is_proven_at_any_size_if_the_free_optimum_keeps_an_order():
    rng = np.random.default_rng(1)
    x = rng.normal(size=8000)
    y = rng.random(8000) < np.where(x > 0, 0.3, 0.7)  # falls: nothing that rises can be proven the best of its kind
    model = gridmodl.optimize(x, y, monotone="auto")
    assert (model.proven, model.gap) == (True, 0.0)
    assert model.cost == gridmodl.optimize(x, y).cost == gridmodl.optimize(x, y, monotone="decreasing").cost
    assert gridmodl.verify(model, x, y).valid
    bent = rng.random(8000) < np.where(abs(x) > 1, 0.7, 0.3)  # the free optimum keeps no order
    model = gridmodl.optimize(x, bent, monotone="auto")
    assert model.proven == (model.gap == 0.0)


@pytest.mark.parametrize("missing", ["apart", {"age": "apart"}])
def test_missing_values_apart_of_given_bounds_and_levels(data, missing):
    columns, y = data
    age = np.where(np.arange(300) % 7 == 0, np.nan, columns["age"])
    labels = ["missing", "(-inf, 0.5]", "(0.5, inf)"]
    models = gridmodl.optimize_each({"age": age}, y, partitions={"age": [0.5]}, missing=missing)
    assert models["age"].partition("age").labels == labels
    assert models["age"].partition("age").rows[0] == np.isnan(age).sum()
    joined = gridmodl.optimize_each({"age": age}, y, partitions={"age": [0.5]})
    assert joined["age"].partition("age").labels == ["(-inf, 0.5] or missing", "(0.5, inf)"]
    edited = models["age"].edit("age", bounds=[0.25])  # keeps the part of the missing values
    assert edited.partition("age").labels == ["missing", "(-inf, 0.25]", "(0.25, inf)"]
    assert edited.edit("age", merge=[0, 1]).partition("age").labels == ["(-inf, 0.25] or missing", "(0.25, inf)"]
    without = gridmodl.optimize_each({"age": columns["age"]}, y, partitions={"age": [0.5]}, missing=missing)
    assert without["age"].partition("age").labels == labels[1:]
    grade = [None if i % 5 == 0 else "abc"[i % 3] for i in range(300)]
    for groups, first in (([["a"], ["b", "c"]], "missing"), ([[None, "a"], ["b", "c"]], "{a} or missing")):
        given = {"partitions": {"age": groups}, "order": {"age": list("abc")}, "missing": missing}
        assert gridmodl.optimize_each({"age": grade}, y, **given)["age"].partition("age").labels[0] == first
