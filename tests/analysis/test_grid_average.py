"""The average of grids against the models of these grids, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import gridmodl
from gridmodl.analysis.grid_average import GridAverage, average_of, best_average
from gridmodl.clock import Clock
from gridmodl.data.frames import read_frame
from gridmodl.data.table import read_table
from gridmodl.data.targets import NOT_GIVEN
from gridmodl.fit.grid import search_grids
from gridmodl.fit.options import Options

FEW = gridmodl.Search("diverse", effort=5, keep_optima=50)


def make_data(n: int = 400, seed: int = 0, n_classes: int = 3) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, n))
    data = pd.DataFrame(
        {
            "a": np.where(rng.random(n) < 0.2, np.nan, a),
            "b": np.round(b, 1),
            "near a": a + 0.3 * rng.normal(size=n),
            "near b": b + 0.3 * rng.normal(size=n),
            "kind": np.array(["red", "green", "blue", "grey", None], dtype=object)[rng.integers(0, 5, n)],
            "noise": rng.normal(size=n),
            "flag": c > 0,
        }
    )
    is_odd = (data["kind"].isin(["red", "grey"]) ^ (b > 0)).to_numpy()
    y = np.where(rng.random(n) < 0.8, is_odd + (np.nan_to_num(a) > 0.5), rng.integers(0, n_classes, n)) % n_classes
    return data, np.array([f"class {i}" for i in range(n_classes)])[y]


def columns(data: Any) -> Any:
    return read_frame(data).columns


def average(data: Any, y: Any, weights: Any = None, **more: Any) -> tuple[gridmodl.Model, GridAverage]:
    options = {"criterion": "modl", "search": FEW, "kinds": None, "order": None, "event": None,
               "max_parts": None, "min_rows": None}  # fmt: skip
    return best_average(
        data, y, weights=weights, time_limit=None, random_state=0, n_jobs=1, **{**options, **more}
    )  # fmt: skip


def mean_of_models(data: Any, y: Any, new: Any, unknown: Any = None, **more: Any) -> Any:
    """The same from models: each predicts, with the weight of its level."""
    model = gridmodl.optimize(data, y, search=FEW, **more)
    levels = np.array([optimum.level for optimum in model.optima])
    answers = [optimum.predict_proba(new, unknown) for optimum in model.optima]
    return np.einsum("i,ijk->jk", levels / levels.sum(), answers)


def test_weights_are_of_what_grids_save_where_costs_are_negative() -> None:
    data, y = make_data()
    table = read_table(data, y, None, "classes", NOT_GIVEN)
    searched = search_grids(table, Options("modl", FEW), 1, 0, Clock())
    usual, found = average_of(table, searched), searched.found
    for shift in (found.null.cost, 2.0 * found.null.cost):  # the null cost becomes 0, or negative
        lower = found._replace(
            null=found.null._replace(cost=found.null.cost - shift),
            optima=tuple(grid._replace(cost=grid.cost - shift) for grid in found.optima),
        )
        average = average_of(table, searched._replace(found=lower))
        np.testing.assert_allclose(average.weights, usual.weights, rtol=1e-9)
        assert np.all(np.isnan(average.levels) | (average.levels == 0.0))


@pytest.mark.parametrize("criterion", ["modl", "bic", "entropy"])
def test_it_is_the_weighted_mean_of_its_grids(criterion: str) -> None:
    data, y = make_data()
    _, found = average(data, y, criterion=criterion)
    new, _ = make_data(300, seed=1)
    assert len(found) > 5
    np.testing.assert_allclose(
        found.predict_proba(columns(new)), mean_of_models(data, y, new, criterion=criterion), rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize("unknown", ["largest", "neutral", None])
def test_unknown_categories(unknown: Any) -> None:
    data, y = make_data()
    new, _ = make_data(100, seed=2)
    new.loc[::2, "kind"] = "never seen"
    for i, name in enumerate(new.select_dtypes("number")):
        new.loc[i :: 3 + i, name] = np.nan
    _, found = average(data, y)
    np.testing.assert_allclose(
        found.predict_proba(columns(new), unknown), mean_of_models(data, y, new, unknown), rtol=1e-12, atol=1e-14
    )
    with pytest.raises(ValueError, match="'kind' holds 1 value that the training data did not have"):
        found.predict_proba(columns(new), "error")
    with pytest.raises(ValueError, match="and the training data had none"):
        found.predict_proba(columns(new), missing="error")


def test_of_groups_alike_an_unknown_category_goes_to_the_same_as_in_a_model() -> None:
    data, y = {"kind": list("abcd") * 10, "same": [0.0] * 40}, ["x", "y", "y", "x"] * 10
    model, found = average(data, y)
    new = {"kind": ["never seen"], "same": [0.0]}
    np.testing.assert_array_equal(found.predict_proba(columns(new), "largest"), model.predict_proba(new, "largest"))
    y = ["y", "x", "x", "y"] * 10
    model, found = average(data, y)
    np.testing.assert_array_equal(found.predict_proba(columns(new), "largest"), model.predict_proba(new, "largest"))


def test_weights_are_rows() -> None:
    data, y = make_data()
    weights = np.arange(len(y)) % 3
    _, found = average(data, y, weights)
    new, _ = make_data(100, seed=1)
    np.testing.assert_allclose(
        found.predict_proba(columns(new)), mean_of_models(data, y, new, weights=weights), rtol=1e-12, atol=1e-14
    )


def test_noise_has_no_grid_and_says_the_shares() -> None:
    rng = np.random.default_rng(0)
    data, y = {"a": rng.normal(size=90), "b": rng.normal(size=90)}, np.repeat(["x", "y"], [30, 60])
    model, found = average(data, rng.permutation(y))
    assert len(found) == 0
    assert model.informative == []
    np.testing.assert_allclose(found.predict_proba(columns(data)), np.tile([1 / 3, 2 / 3], (90, 1)))


def test_one_column_and_one_class() -> None:
    model, found = average({"a": np.arange(40.0)}, np.repeat([0, 1], 20))
    assert len(found) == 1
    assert found.predict_proba(columns({"a": [3.0, 30.0]})).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert model.informative == ["a"]
    _, found = average({"a": np.arange(40.0)}, np.zeros(40))
    assert found.predict_proba(columns({"a": [3.0]})).tolist() == [[1.0]]


def test_many_rows_are_taken_in_blocks() -> None:
    data, y = make_data()
    _, found = average(data, y)
    many = pd.concat([data] * 50, ignore_index=True)  # more than a block
    np.testing.assert_array_equal(
        found.predict_proba(columns(many)), np.tile(found.predict_proba(columns(data)), (50, 1))
    )


def test_columns_have_the_weight_of_their_grids() -> None:
    data, y = make_data()
    model = gridmodl.optimize(data, y, search=FEW)
    _, found = average(data, y)
    levels = np.array([optimum.level for optimum in model.optima])
    for name, weight in found.column_weights.items():
        uses = [name in optimum.informative for optimum in model.optima]
        assert weight == pytest.approx(levels[uses].sum() / levels.sum())
    assert "kind" in found.column_weights


@pytest.mark.parametrize("search", ["vns", gridmodl.Search("vns")])
def test_a_search_that_keeps_nothing_is_refused(search: Any) -> None:
    data, y = make_data()
    with pytest.raises(ValueError, match="keep_optima"):
        average(data, y, search=search)
