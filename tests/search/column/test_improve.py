"""Post-optimization, alone."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.criteria import Cancelling
from oracles.tiny import Tiny

import gridmodl
from gridmodl.search.column import improve as improve_module
from gridmodl.search.column.improve import improve, improve_merged
from gridmodl.search.column.merge import greedy_merge
from gridmodl.search.moves import Limits


def neighbours(tiny, starts):
    """All partitions one move away: split, merge, merge-split, merge-merge-split."""
    allowed = {tuple(s) for s in tiny.all_starts()}
    inner, n = list(starts[1:]), len(tiny.counts)
    for cut in range(1, n):
        yield [*inner, cut]
        for i in range(len(inner)):
            low, high = ([0, *inner][i], [*inner, n][i + 1])
            if low < cut < high:
                yield [*inner[:i], cut, *inner[i + 1 :]]
        for i in range(len(inner) - 1):
            low, high = ([0, *inner][i], [*inner, n][i + 2])
            if low < cut < high:
                yield [*inner[:i], cut, *inner[i + 2 :]]
    for i in range(len(inner)):
        yield inner[:i] + inner[i + 1 :]
    assert tuple(starts) in allowed


@pytest.mark.parametrize("limits", [Limits(2**62, 1), Limits(3, 1), Limits(2**62, 5)])
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("n_cells", "name"), [(1, "modl"), (3, "modl"), (1, "gini")])
def test_no_single_move_makes_the_result_cheaper(make_tiny, n_cells, name, seed, limits):
    tiny = make_tiny(seed, n_cells, name, n_atoms=8, limits=limits)
    allowed = {tuple(s) for s in tiny.all_starts()}
    for start in list(allowed)[:: max(1, len(allowed) // 6)]:
        before = tiny.task.priced(start)
        found = improve(tiny.task, before)
        assert found.cost <= before.cost
        assert tuple(found.starts) in allowed
        assert found.cost == pytest.approx(tiny.price(found.starts), rel=1e-12)
        for inner in neighbours(tiny, found.starts.tolist()):
            other = (0, *sorted(set(inner)))
            if other in allowed:
                assert tiny.price(other) >= found.cost - 1e-9


def test_many_atoms_are_improved_among_the_bounds_given_up_last(make_tiny, monkeypatch):
    monkeypatch.setattr(improve_module, "N_LATE", 40)
    monkeypatch.setattr(improve_module, "WINDOW", 4)
    tiny = make_tiny(7, 1, n_atoms=400)
    merged = greedy_merge(tiny.task)
    found = improve_merged(tiny.task, merged, merged.best)
    assert found.cost <= merged.best.cost
    assert found.cost == pytest.approx(tiny.price(found.starts), rel=1e-12)


def test_restarts_find_cuts_that_pay_only_together():
    """A class that comes and goes: one cut alone explains little."""
    rng = np.random.default_rng(0)
    better = 0
    for _ in range(40):
        share = 0.5 + 0.3 * np.sin(np.arange(200) / 200 * 6 * np.pi)
        first = rng.random(200) < share
        tiny = Tiny(np.stack([first, ~first], axis=1)[:, None, :].astype(int))
        merged = greedy_merge(tiny.task)
        start = min(merged.best, tiny.task.null(), key=lambda found: found.cost)
        alone, restarted = improve(tiny.task, start), improve_merged(tiny.task, merged, start)
        assert restarted.cost <= alone.cost
        better += restarted.cost < alone.cost - 1e-9
    assert better > 0


def test_rounding_does_not_keep_it_going_for_ever():
    rng = np.random.default_rng(3)
    model = gridmodl.optimize(
        rng.random(100), rng.integers(0, 2, 100), criterion=Cancelling, search="merge", time_limit=60
    )
    assert model.stopped is None
