"""Grids as sources of evidence: counts by hand, prices against the cost of the grid, and what is no interaction."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln

from gridmodl import Model, Search, optimize
from gridmodl.data.frames import ARRAYS
from gridmodl.evidence.grids import (
    CANDIDATES,
    GRID_RATE,
    find_grids,
    grid_source,
    grid_sources,
    is_interaction,
    left_out,
    without_rows,
)
from gridmodl.evidence.prices import classes_cost, shares_cost, structure_cost
from gridmodl.evidence.sources import NO_LINE
from gridmodl.model.policy import Policy

NEUTRAL = Policy("neutral", "neutral")


def make_data(n: int = 300, seed: int = 0, noise: float = 0.1) -> tuple[dict[str, Any], Any]:
    """Three classes that depend on two of four columns together."""
    rng = np.random.default_rng(seed)
    a, b = rng.random(n), rng.choice(list("xyzuv"), n).astype(object)
    y = (a > 0.5) ^ np.isin(b, ["x", "u"])
    y = np.where(rng.random(n) < noise, rng.integers(0, 3, n), y.astype(int))
    return {"a": a, "b": b, "c": rng.random(n), "d": rng.random(n)}, np.array(["no", "yes", "hm"])[y]


DATA, Y = make_data()
CLASSES, CODES = np.unique(Y, return_inverse=True)
PRIOR = np.bincount(CODES) / len(Y)


@functools.cache
def found_grids() -> Any:
    """Grids of the data, found when a test first asks for them, not when tests are collected."""
    return find_grids(DATA, Y, None, frame=ARRAYS)


def the_grid() -> Model:
    (grid,) = found_grids().optima
    return grid


def cells_by_hand() -> Any:
    """Name of the cell of each row."""
    parts = [the_grid().partitions[name].part_of(DATA[name]) for name in ("a", "b")]
    return np.array([f"{i} {j}" for i, j in zip(*parts, strict=True)])


def test_candidates_are_the_distinct_optima_of_several_columns() -> None:
    assert the_grid().informative == ["a", "b"]
    assert the_grid()._source is None
    wide = optimize(DATA, Y, search=CANDIDATES, target_kind="classes")
    assert {grid.cost for grid in found_grids().optima} <= {grid.cost for grid in wide.optima}


def test_evidence_by_hand() -> None:
    source, cells = grid_source(the_grid(), np.log(PRIOR), "a x b", 2.0), cells_by_hand()
    places = source.places(DATA, NEUTRAL)
    found = source.evidence_at(places)
    for row in range(0, len(Y), 13):
        mine = Y[cells == cells[row]]
        shares = [(np.sum(mine == c) + 3 * p) / (len(mine) + 3) for c, p in zip(CLASSES, PRIOR, strict=True)]
        np.testing.assert_allclose(found[row], np.log(shares) - np.log(PRIOR), rtol=1e-12)
    assert (source.columns, source.price, len(source.labels)) == (("a", "b"), 2.0, len(source.evidence))
    assert source.labels[places.line[0]].startswith("a in (")
    assert " and b in {" in source.labels[places.line[0]]


def test_rows_are_left_out_one_by_one() -> None:
    found, cells = left_out(the_grid().cells.counts, np.log(PRIOR)), cells_by_hand()
    line = the_grid().cell_of({name: DATA[name] for name in ("a", "b")}) * 3 + CODES
    for row in range(0, len(Y), 7):
        others = np.delete(Y, row)[np.delete(cells, row) == cells[row]]
        shares = [(np.sum(others == c) + 3 * p) / (len(others) + 3) for c, p in zip(CLASSES, PRIOR, strict=True)]
        np.testing.assert_allclose(found[line[row]], np.log(shares) - np.log(PRIOR), rtol=1e-12)
    assert np.all(found[np.setdiff1d(np.arange(len(found)), line)] == 0.0)


def test_a_cell_of_one_row_says_nothing_of_that_row() -> None:
    found = left_out(np.array([[1, 0]]), np.log([0.25, 0.75]))
    np.testing.assert_allclose(found, 0.0, atol=1e-15)


def test_without_the_rows_of_a_fold() -> None:
    source = grid_source(the_grid(), np.log(PRIOR), "a x b")
    fold = np.arange(len(Y)) % 5 == 0
    found = without_rows(source, source.places(DATA, NEUTRAL).line, CODES, fold.astype(np.int64), np.log(PRIOR))
    cells = cells_by_hand()
    for row in np.flatnonzero(fold)[::5]:
        mine = Y[~fold & (cells == cells[row])]
        shares = [(np.sum(mine == c) + 3 * p) / (len(mine) + 3) for c, p in zip(CLASSES, PRIOR, strict=True)]
        at = found.evidence_at(found.places(DATA, NEUTRAL))[row]
        np.testing.assert_allclose(at, np.log(shares) - np.log(PRIOR), rtol=1e-12)


def test_new_values_and_empty_cells_say_nothing() -> None:
    source = grid_source(the_grid(), np.log(PRIOR), "a x b")
    rows = {"a": np.array([0.2, np.nan, 0.2]), "b": np.array(["new", "x", None], dtype=object)}
    places = source.places(rows, NEUTRAL)
    assert places.line.tolist() == [NO_LINE] * 3
    assert np.all(source.evidence_at(places) == 0.0)
    a = np.repeat([0.0, 1.0, 0.0], 20)
    b = np.repeat([0.0, 0.0, 1.0], 20)
    grid = Model.from_partitions({"a": a, "b": b}, a.astype(int), {"a": [0.5], "b": [0.5]})
    corner = grid_source(grid, np.log([2 / 3, 1 / 3]), "corner")
    assert corner.places({"a": np.ones(1), "b": np.ones(1)}, NEUTRAL).line.tolist() == [NO_LINE]


@pytest.mark.parametrize("criterion", ["modl", "aic"])
def test_structure_and_classes_add_up_to_the_cost_under_modl(criterion: str) -> None:
    search = Search("diverse", effort=3, keep_optima=20)
    for grid in optimize(DATA, Y, criterion=criterion, search=search, target_kind="classes").optima:
        given = {name: grid.partitions[name] for name in grid.informative}
        priced = Model.from_partitions(DATA, Y, given, target_kind="classes")
        assert math.isclose(structure_cost(grid, 4) + classes_cost(grid.cells.counts), priced.cost, rel_tol=1e-12)


def test_cost_of_classes_and_shares_by_hand() -> None:
    counts = np.array([[3, 5], [0, 7], [2, 0]])
    n = counts.sum(axis=1)
    by_hand = np.sum(np.log(n + 1) + gammaln(n + 1) - gammaln(counts + 1).sum(axis=1))
    assert math.isclose(classes_cost(counts), by_hand, rel_tol=1e-12)
    entropy = -(3 * math.log(3 / 8) + 5 * math.log(5 / 8))
    assert math.isclose(shares_cost(counts), by_hand - entropy, rel_tol=1e-12)


def test_names_differ() -> None:
    sources = grid_sources([the_grid(), the_grid(), the_grid()], np.log(PRIOR), ["a", "a x b"], 4)
    assert [source.name for source in sources] == ["a x b (2)", "a x b (3)", "a x b (4)"]
    assert sources[0].price == GRID_RATE * structure_cost(the_grid(), 4)


def grid_of(cells: Any) -> Model:
    """Grid of two columns of two parts, with rows by part, part and class."""
    cells = np.array(cells)
    where = np.array([(i, j, c) for i, j, c in np.ndindex(cells.shape) for _ in range(cells[i, j, c])])
    data = {"a": where[:, 0].astype(float), "b": where[:, 1].astype(float)}
    return Model.from_partitions(data, where[:, 2], {"a": [0.5], "b": [0.5]}, target_kind="classes")


def test_interactions_are_told_from_sums() -> None:
    assert is_interaction(grid_of([[[50, 5], [5, 50]], [[5, 50], [50, 5]]]))
    # Odds of 1/9, 1/3 to 1/3 and 1: each column triples them.
    assert not is_interaction(grid_of([[[90, 10], [75, 25]], [[75, 25], [50, 50]]]))
    # The second column says nothing.
    assert not is_interaction(grid_of([[[90, 10], [90, 10]], [[50, 50], [50, 50]]]))


@pytest.mark.parametrize("seed", range(3))
def test_sums_of_columns_are_no_interactions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = dict(zip("abcd", rng.normal(size=(4, 1500)), strict=True))
    y = rng.random(1500) < 1 / (1 + np.exp(-1.5 * (data["a"] + data["b"] + data["c"])))
    assert optimize(data, y, search=CANDIDATES, target_kind="classes").optima
    assert find_grids(data, y, None, frame=ARRAYS).optima == ()
