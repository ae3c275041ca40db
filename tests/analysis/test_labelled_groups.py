"""Merges of groups without labels, against full prices of all such merges."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from oracles.joint_matrices import CRITERIA, model_of, price, random_groups, random_matrix

from gridmodl.analysis.new_values import merged_until_labelled


def slowly_merged(counts, rows, columns, criterion, is_labelled):
    """Of each group the one that it ends in, every merge of a group without a label priced from nothing."""
    groups = dict(enumerate(rows))
    has_label = dict(enumerate(is_labelled.tolist()))
    into = np.arange(len(rows))
    while not all(has_label.values()):
        costs = {}
        for i, j in itertools.combinations(groups, 2):
            if not (has_label[i] and has_label[j]):
                merged = [*(group for g, group in groups.items() if g not in (i, j)), groups[i] + groups[j]]
                costs[i, j] = price(counts, merged, columns, criterion)
        i, j = min(costs, key=costs.get)
        groups[i] = groups[i] + groups.pop(j)
        has_label[i] = has_label.pop(j) or has_label[i]
        into[into == j] = i
    return into


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("seed", range(4))
def test_merges_are_the_cheapest(name, seed):
    criterion = CRITERIA[name]
    counts, rows, columns = random_matrix(seed, n=20), random_groups(seed, 20, 8), random_groups(seed + 9, 9, 4)
    model = model_of(counts, rows, columns, criterion)
    for n_labelled in (1, 2, 5):
        is_labelled = np.random.default_rng([1, seed, n_labelled]).permutation(8) < n_labelled
        found = merged_until_labelled(model, criterion, "row", is_labelled)
        np.testing.assert_array_equal(found, slowly_merged(counts, rows, columns, criterion, is_labelled))
        assert all(is_labelled[found == g].any() for g in np.unique(found))


def test_labelled_groups_do_not_merge_with_each_other():
    counts, rows, columns = random_matrix(0, n=20), random_groups(0, 20, 8), random_groups(1, 9, 4)
    model = model_of(counts, rows, columns, "modl")
    every = np.ones(8, dtype=bool)
    assert merged_until_labelled(model, CRITERIA["modl"], "row", every).tolist() == list(range(8))
    for g in range(8):
        is_labelled = np.arange(8) != g
        found = merged_until_labelled(model, CRITERIA["modl"], "row", is_labelled)
        assert len(np.unique(found)) == 7
        assert np.count_nonzero(found == found[g]) == 2


def test_the_model_stays_as_it_is():
    counts, rows, columns = random_matrix(0, n=20), random_groups(0, 20, 8), random_groups(1, 9, 4)
    model = model_of(counts, rows, columns, "modl")
    before = model.to_json()
    merged_until_labelled(model, CRITERIA["modl"], "row", np.arange(8) == 3)
    assert model.to_json() == before
