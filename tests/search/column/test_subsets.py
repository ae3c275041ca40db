"""The exact grouping of a few values."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.tiny_groups import random_groups

from gridmodl.search import Search, run
from gridmodl.search.column.subsets import MAX_VALUES, proven_grouping
from gridmodl.search.moves import Limits


@pytest.mark.parametrize("limits", [Limits(2**62, 1), Limits(2, 1), Limits(2**62, 12), Limits(3, 9)])
@pytest.mark.parametrize(("n_cells", "name"), [(1, "modl"), (3, "modl"), (2, "gini"), (1, "g2")])
def test_it_finds_what_trying_all_finds(n_cells, name, limits):
    for seed in range(3):
        tiny = random_groups(seed, n_cells, name, limits=limits)
        found = proven_grouping(tiny.task)
        assert found.proven
        assert tiny.keeps_limits(found.groups)
        assert found.cost == pytest.approx(tiny.lowest(), rel=1e-9, abs=1e-9)
        assert found.cost == pytest.approx(tiny.price(found.groups), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_merge_never_beats_it_on_as_many_values_as_it_takes(seed):
    tiny = random_groups(seed, n_values=MAX_VALUES)
    found, kind = run("groups", tiny.task, Search("exact"))
    merged, _ = run("groups", tiny.task, Search("merge"))
    assert (kind, found.proven, merged.proven) == ("exact", True, False)
    assert found.cost <= merged.cost + 1e-9


def test_more_values_are_an_error():
    tiny = random_groups(0, n_values=MAX_VALUES + 1)
    with pytest.raises(ValueError, match="13 values; all groupings can be tried up to 12"):
        proven_grouping(tiny.task)
    with pytest.raises(
        ValueError, match=r"'exact' was asked .* with 13 values; .* up to 12 values .* use search='merge'"
    ):
        run("groups", tiny.task, Search("exact"))
    assert run("groups", tiny.task, Search("auto"))[1] == "merge"


def test_rows_that_no_two_groups_can_have():
    tiny = random_groups(1, limits=Limits(2**62, 10**6))
    found = proven_grouping(tiny.task)
    assert found.proven
    assert not found.groups.any()


def test_one_value():
    found = proven_grouping(random_groups(1, n_values=1).task)
    assert found.proven
    assert found.groups.tolist() == [0]


def test_stopped_it_returns_one_group_without_proof():
    tiny = random_groups(1)
    tiny.task.clock.stopped = "time limit"
    found = proven_grouping(tiny.task)
    assert not found.proven
    assert not found.groups.any()
    assert found.cost == pytest.approx(tiny.price(np.zeros(6, dtype=int)))
