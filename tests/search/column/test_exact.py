"""The exact search, alone."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from oracles.criteria import Rough, Saturating

from gridmodl import Criterion
from gridmodl.search.column.exact import proven_optimum
from gridmodl.search.column.improve import improve
from gridmodl.search.column.merge import greedy_merge
from gridmodl.search.moves import Limits


@pytest.mark.parametrize("limits", [Limits(2**62, 1), Limits(3, 1), Limits(2**62, 5), Limits(2, 4)])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("n_cells", "name"), [(1, "modl"), (3, "modl"), (2, "mdlp"), (1, "g2"), (3, "aic")])
def test_it_finds_what_trying_all_finds(make_tiny, n_cells, name, seed, limits):
    tiny = make_tiny(seed, n_cells, name, limits=limits)
    found = proven_optimum(tiny.task)
    assert found.proven
    assert found.cost == pytest.approx(tiny.lowest(), rel=1e-9, abs=1e-9)
    assert found.cost == pytest.approx(tiny.price(found.starts), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_exact_for_any_price_of_the_number_of_parts(make_tiny, seed):
    tiny = make_tiny(seed, 1)
    tiny.criterion, tiny.task = Rough(), replace(tiny.task, criterion=Rough)
    found = proven_optimum(tiny.task)
    assert found.proven
    assert len(found.starts) in (3, 6)
    assert found.cost == pytest.approx(tiny.lowest(), rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_a_number_of_parts_that_cannot_keep_the_limits_never_wins(make_tiny, seed):
    tiny = make_tiny(seed, 1, limits=Limits(2**62, 4))
    tiny.criterion, tiny.task = Saturating(), replace(tiny.task, criterion=Saturating)
    assert proven_optimum(tiny.task).cost == pytest.approx(tiny.lowest(), rel=1e-9)


class WithParts(Criterion):
    """Terms of parts, of cells and of the grid, so that none is forgotten."""

    name = "with-parts"
    problems = {"classes"}

    @staticmethod
    def grid(p, shape):
        return 0.3 * shape.n_informative + 0.01 * shape.n_cells

    @staticmethod
    def part(p, variable, part):
        return 1.0 + 0.1 * part.values + math.log(part.rows)

    @staticmethod
    def cell(p, cell):
        return min(cell.counts[0], cell.counts[1]) + 0.2


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_cells", [1, 3])
def test_terms_of_parts_reach_every_search(make_tiny, seed, n_cells):
    tiny = make_tiny(seed, n_cells)
    tiny.criterion, tiny.task = WithParts(), replace(tiny.task, criterion=WithParts)
    found = proven_optimum(tiny.task)
    assert found.cost == pytest.approx(tiny.lowest(), rel=1e-9)
    merged = greedy_merge(tiny.task).best
    improved = improve(tiny.task, merged)
    for each in (found, merged, improved):
        assert each.cost == pytest.approx(tiny.price(each.starts), rel=1e-12)
    assert found.cost <= improved.cost <= merged.cost


def test_stopped_it_returns_its_start_without_proof(make_tiny):
    tiny = make_tiny(1)
    tiny.task.clock.stopped = "time limit"
    start = tiny.task.priced([0, 3])
    found = proven_optimum(tiny.task, start)
    assert found.starts.tolist() == [0, 3]
    assert not found.proven


@pytest.mark.slow
@pytest.mark.parametrize("name", ["modl", "mdlp", "entropy", "x2"])
def test_it_finds_what_trying_all_finds_on_many_more(make_tiny, name):
    for seed in range(100, 250):
        tiny = make_tiny(seed, 1 if name == "x2" else 2, name, n_atoms=9)
        assert proven_optimum(tiny.task).cost == pytest.approx(tiny.lowest(), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("n_atoms", "max_parts"), [(1, 2**62), (7, 1)])
def test_one_part_is_proven_where_no_other_can_be(make_tiny, n_atoms, max_parts):
    tiny = make_tiny(2, 1, n_atoms=n_atoms, limits=Limits(max_parts, 1))
    found = proven_optimum(tiny.task)
    assert found.proven
    assert found.starts.tolist() == [0]
