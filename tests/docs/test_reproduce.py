"""What the scripts that reproduce the papers rest on: sections made apart, other labels, an XOR, ties of a merge."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from oracles.tiny_grids import TinyGrid
from scipy import sparse

import gridmodl
from gridmodl import CoclusteringClassifier
from gridmodl.search.grid import merge as grid_merge
from gridmodl.search.grid.rows import make_grid

sys.path.append(str(Path(__file__).parents[2]))

from reproduce.grids.ablation import VARIANTS, detections, merge_path
from reproduce.grids.starts import STARTS, count_rounds
from reproduce.matrices import Matrix
from reproduce.papers.coclustering_tables import errors, errors_with
from reproduce.papers.grid_tables import name_of
from reproduce.peers.comparison_joint import Case, section
from reproduce.run import duration, with_section

PAGE = "# Page\n\nWords.\n\n## Figure 1: one\n\n1\n\n## Table 2\n\n2\n\n*Made by a script on a day in 9 minutes.*\n"
NAMES = ["Figure 1", "Figure 2", "Table 2", "Table 3"]


def draw_xor(n, seed):
    rng = np.random.default_rng([seed, n])
    columns = [rng.random(n) for _ in range(2)]
    return columns, (columns[0] > 0.5).astype(int) ^ (columns[1] > 0.5)


# Sections.


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        ("Figure 1", PAGE.replace(": one\n\n1\n", ": new\n\n*Made apart.*\n")),
        ("Figure 2", PAGE.replace("## Table", "## Figure 2: new\n\n*Made apart.*\n\n## Table")),
        ("Table 3", PAGE.replace("*Made by", "## Table 3: new\n\n*Made apart.*\n\n*Made by")),
    ],
)
def test_a_section_made_apart_leaves_the_rest_of_its_page_as_it_is(only, expected):
    once = with_section(PAGE, f"## {only}: new\n\n*Made apart.*\n", only, NAMES)
    assert once == expected
    assert with_section(once, f"## {only}: new\n\n*Made apart.*\n", only, NAMES) == once


def test_a_page_that_was_never_made_takes_no_section():
    with pytest.raises(ValueError, match="write all of it first, without --only"):
        with_section("# Page\n", "## Figure 1\n", "Figure 1", NAMES)


# Tables that people read.


@pytest.mark.parametrize(("minutes", "words"), [(0.01, "a few seconds"), (0.06, "0.1 minutes"), (9, "9.0 minutes")])
def test_how_long_a_page_took_is_never_nought(minutes, words):
    assert duration(minutes) == words


def test_a_chosen_criterion_fits_a_narrow_column():
    assert [name_of("modl"), name_of("entropy(alpha=0.119)")] == ["modl", "alpha=0.119"]


@pytest.mark.parametrize("is_planted", [True, False])
def test_only_planted_groups_have_a_column_of_how_far_they_were_found(is_planted):
    codes = np.repeat([0, 1], 20)
    planted = (np.array([0, 1]), np.array([0, 1])) if is_planted else None
    case = Case("made", (codes, codes), (codes[:4], codes[:4]), planted)
    found = {"cost": 1.0, "loss": 1.0, "planted": [1.0, 1.0] if is_planted else None, "shape": (2, 2)}
    table = section(case, {"gridmodl": {**found, "processor": 0.1, "clock": 0.1}})
    assert ("planted" in table.splitlines()[2]) == is_planted
    assert len({line.count("|") for line in table.splitlines() if line.startswith("|")}) == 1
    assert ("| 1.000 / 1.000 |" in table) == is_planted


# Groups that are judged by other labels.


def test_groups_are_judged_by_other_labels_as_if_they_had_been_found_with_these():
    rng = np.random.default_rng(5)
    blocks = np.kron(np.eye(4), np.ones((10, 6)))
    X = sparse.csr_array(rng.random(blocks.shape) < 0.1 + 0.6 * blocks)
    y = np.where(rng.random(40) < 0.1, -1, 1) * np.repeat([1, -1, 1, -1], 10)
    first, second = np.arange(0, 40, 4), np.arange(1, 20, 3)  # the latter leave groups without a label
    found = []
    for labelled in (first, second):
        known = np.zeros_like(y)
        known[labelled] = y[labelled]
        found.append(CoclusteringClassifier(unlabelled=0, threshold="balanced").fit(X, known))
    for classifier, labelled in zip(found, (first, second), strict=True):
        assert errors_with(found[0], y, labelled) == errors(classifier, Matrix(X, y, labelled))


# The XOR that each script of section 6 looks for: nothing is found where kernels read limits that are not there.


def test_one_round_finds_the_xor_of_two_columns():
    assert detections(2, 100, VARIANTS["random start, pre, greedy, post"], n_draws=1) == 1


def test_a_round_from_parts_near_the_median_finds_the_xor_of_ten(monkeypatch):
    monkeypatch.setattr("reproduce.grids.starts.ROUNDS", 1)
    found, seconds = count_rounds(next(iter(STARTS)), "middle", 1_500, n_draws=1)
    assert found == 1
    assert seconds > 0.0


# Ties of the greedy merge, M. Boullé, "Data grid models", 2011, 5.1 and 6.2.2.


@pytest.mark.parametrize("n_parts", [3, 7, 40])
def test_beside_a_column_at_its_finest_every_merge_is_free_and_saves_the_same(n_parts):
    n = 40
    columns, y = draw_xor(n, 1)
    data = dict(zip("ab", columns, strict=True))
    finest, bounds = ((np.sort(column)[1:] + np.sort(column)[:-1]) / 2.0 for column in columns)
    rng = np.random.default_rng(n_parts)
    kept = np.sort(rng.choice(bounds, n_parts - 1, replace=False))
    cost = gridmodl.price(data, y, {"a": finest, "b": kept})
    merged = [gridmodl.price(data, y, {"a": finest, "b": np.delete(kept, i)}) for i in range(n_parts - 1)]
    assert cost - np.array(merged) == pytest.approx(math.log((n + n_parts - 1) / (n_parts - 1)), abs=1e-9)


def test_with_ties_leftmost_it_is_the_merge_of_the_library():
    for seed in range(3):
        columns, y = draw_xor(40, seed)
        ranks = [np.argsort(np.argsort(column)) for column in columns]
        task = TinyGrid(ranks, ["numerical"] * 2, y).task
        found = grid_merge.merge_path(task, make_grid([(k, np.arange(40)) for k in range(2)]))
        path = merge_path(columns, y, None)
        assert [merge.variable for merge in found] == path.column.tolist()
        assert [merge.cost for merge in found] == pytest.approx(path.cost, abs=1e-9)


@pytest.mark.parametrize("n", [40, 100, 400])
def test_whatever_the_ties_one_column_is_merged_away_and_the_pattern_with_it(n):
    for seed in range(4):
        columns, y = draw_xor(n, seed)
        true_grid = {"a": [0.5], "b": [0.5]}
        data = dict(zip("ab", columns, strict=True))
        assert gridmodl.price(data, y, true_grid) < gridmodl.price(data, y, {})  # there is something to find
        for ties in (None, 0, 1):
            path = merge_path(columns, y, ties)
            assert min(path.best) == 1
            assert path.parts_left >= (0.6 if ties is None else 0.9) * n
            assert path.cost[-1] == pytest.approx(gridmodl.price(data, y, {}), abs=1e-8)
            assert path.n_parts[-1].tolist() == [1, 1]
