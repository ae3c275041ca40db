"""Prices of edits before they are made are those of the edits."""

from __future__ import annotations

import numpy as np
import pytest

import gridmodl
from gridmodl import Model
from gridmodl.analysis.edit_prices import merge_prices, split_offers

N = 300


def column(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=N).round(2)


def binary(x: np.ndarray) -> np.ndarray:
    return (np.random.default_rng(1).random(len(x)) < 1 / (1 + np.exp(-2 * x))).astype(int)


def towns() -> np.ndarray:
    return np.array([f"t{i}" for i in np.random.default_rng(2).integers(0, 9, N)])


def with_missing() -> np.ndarray:
    x = column()
    x[::7] = np.nan
    x[5], x[6] = np.inf, -np.inf
    return x


def cases() -> dict[str, tuple[Model, str]]:
    x, rng = column(), np.random.default_rng(3)
    y = binary(x)
    parts = {"x": [-1.0, 0.0, 1.0]}
    some = y.astype(float)
    some[::3] = -1.0
    days = np.datetime64("2024-01-01") + np.arange(N)
    levels = np.array(["low", "mid", "high", "top"])[np.clip((x + 2).astype(int), 0, 3)]
    order = {"x": ["low", "mid", "between", "high", "top"]}
    grid = {"x": [-0.5, 0.5], "town": [["t0", "t1", "t2", "t3"], ["t4", "t5"], ["t6", "t7", "t8"]]}
    both = {"x": x, "town": towns()}
    make = Model.from_partitions
    return {
        "classes": (make({"x": x}, y, parts), "x"),
        "weights": (make({"x": x}, y, parts, weights=rng.integers(0, 4, N)), "x"),
        "three classes": (make({"x": x}, y + (x > 1), parts), "x"),
        "mdlp": (make({"x": x}, y, parts, criterion="mdlp"), "x"),
        "no sum": (make({"x": x}, y, parts, criterion="g2"), "x"),
        "missing": (make({"x": with_missing()}, y, {"x": [np.nan, 0.0, 1.0]}), "x"),
        "missing below": (make({"x": with_missing()}, y, parts), "x"),
        "special": (make({"x": np.where(x > 1.5, 99.0, x)}, y, {"x": [0.0]}, special={"x": [99.0]}), "x"),
        "empty parts": (make({"x": x}, y, {"x": [-1.0, 0.0, 50.0, 60.0]}), "x"),
        "dates": (make({"x": days}, y, {"x": [days[100], days[200]]}), "x"),
        "levels": (make({"x": levels}, y, {"x": [["low", "mid", "between"], ["high", "top"]]}, order=order), "x"),
        "groups": (make({"town": towns()}, y, {"town": grid["town"]}), "town"),
        "grid, numbers": (make(both, y, grid), "x"),
        "grid, groups": (make(both, y, grid), "town"),
        "joint": (make(both, None, grid), "x"),
        "unlabelled": (make({"x": x}, some, parts, unlabelled=-1.0), "x"),
        "numerical": (make({"x": x}, x + rng.normal(size=N), {**parts, "target": [-1.0, 0.5]}), "x"),
        "numerical target": (make({"x": x}, x + rng.normal(size=N), {**parts, "target": [-1.0, 0.5]}), "target"),
        "density": (gridmodl.optimize({"x": x.round(1)}), "x"),
        "one class": (make({"x": x}, np.zeros(N, dtype=int), parts), "x"),
        "one value": (make({"x": np.ones(N)}, y, {}), "x"),
    }


CASES = cases()


@pytest.mark.parametrize("case", CASES)
def test_merge_costs_what_was_priced(case: str) -> None:
    model, name = CASES[case]
    partition = model.partition(name)
    n_plain = partition.n_parts - partition.n_special
    found = merge_prices(model, name)
    pairs = [(i, j) for i in range(n_plain) for j in range(i + 1, n_plain)]
    if partition.kind != "categorical":
        pairs = [(i, j) for i, j in pairs if j == i + 1]
    assert [(one.i, one.j) for one in found] == pairs
    for i, j, delta in found:
        assert delta == pytest.approx(model.edit(name, merge=[i, j]).delta, abs=1e-7)
        again = {(one.i, one.j): one.delta for one in merge_prices(model, name, i)}
        assert again[i, j] == pytest.approx(delta, abs=1e-7)


@pytest.mark.parametrize("case", CASES)
def test_split_costs_what_was_priced(case: str) -> None:
    model, name = CASES[case]
    for part in range(model.partition(name).n_parts):
        found = split_offers(model, name, part)
        assert [one.delta for one in found.offers] == sorted(one.delta for one in found.offers)
        for at, delta in found.offers:
            assert delta == pytest.approx(model.edit(name, split={part: at}).delta, abs=1e-7)


@pytest.mark.parametrize("case", ["classes", "weights", "missing below", "grid, numbers", "joint", "unlabelled"])
def test_first_offer_is_the_best_of_all_bounds(case: str) -> None:
    model, name = CASES[case]
    values = np.unique(model._source[0].column(name, "numerical").values)
    values = values[np.isfinite(values)]
    partition = model.partition(name)
    edges = [-np.inf, *partition.bounds.tolist(), np.inf]
    for part in (0, 1):
        inside = values[(values > edges[part]) & (values <= edges[part + 1])].tolist()
        every = [model.edit(name, split={part: bound}).delta for bound in inside[:-1]]
        found = split_offers(model, name, part)
        assert found.n_tried == found.n_cuts
        assert found.offers[0].delta <= min(every) + 1e-7


def test_merges_of_files_are_priced_and_splits_are_not() -> None:
    model = Model.from_json(CASES["classes"][0].to_json())
    assert merge_prices(model, "x") == merge_prices(CASES["classes"][0], "x")
    with pytest.raises(ValueError, match="came without its data"):
        split_offers(model, "x", 0)


def test_many_bounds_are_narrowed_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gridmodl.analysis.edit_prices.CELLS_PRICED", 16)
    model = CASES["classes"][0]
    found = split_offers(model, "x", 1)
    assert found.n_tried < found.n_cuts
    for at, delta in found.offers:
        assert delta == pytest.approx(model.edit("x", split={1: at}).delta, abs=1e-7)


def test_names_of_whole_parts_stay_after_a_split() -> None:
    model = CASES["classes"][0].rename("x", {0: "lowest", 3: "highest"})
    assert model.edit("x", split={1: -0.5}).partitions["x"].given_names == ("lowest", None, None, None, "highest")
    assert model.edit("x", split={0: [-2.0, -1.5]}).partitions["x"].given_names == (None,) * 5 + ("highest",)
    grouped = CASES["groups"][0].rename("town", {0: "north", 1: "south"})
    assert grouped.edit("town", split={1: ["t4"]}).partitions["town"].given_names == ("north", None, None, None)


def test_of_many_groups_those_with_one_part_are_priced() -> None:
    values = [f"v{i:03}" for i in range(250)]
    model = Model.from_partitions({"v": values * 2}, [0, 1] * 250, {"v": [[value] for value in values]})
    assert merge_prices(model, "v") == []
    found = merge_prices(model, "v", 100)
    assert [(one.i, one.j) for one in found] == [(min(i, 100), max(i, 100)) for i in range(250) if i != 100]
    assert found[7].delta == pytest.approx(model.edit("v", merge=[7, 100]).delta)
