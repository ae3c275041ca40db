"""New values in the groups of a joint grid, against the full price of the data with each of them added."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.joint_matrices import CRITERIA, model_of, price, random_groups, random_matrix
from scipy.sparse import csr_array

from gridmodl.analysis import new_values
from gridmodl.analysis.new_values import ModelGroups, groups_of_new
from gridmodl.search.pair import joining
from gridmodl.search.pair.joining import Joining, join_prices


def slow_prices(counts, new, rows, columns, criterion):
    """The cost of the grid with one more row in each of the groups."""
    grown, n = np.vstack([counts, new]), len(counts)
    joined = [[[*group, n] if g == i else group for i, group in enumerate(rows)] for g in range(len(rows))]
    return np.array([price(grown, groups, columns, criterion) for groups in joined])


def new_rows(seed, n, k):
    """Of few and of many entries, small and large ones, and one without any."""
    rng = np.random.default_rng([3, seed])
    new = rng.poisson(rng.gamma(0.4, 3.0, (n, 1)) * np.ones(k)) * (rng.random((n, k)) < 0.6)
    new[~new.any(axis=1), seed % k] = 1
    new[0] = 0
    new[1] = 1
    new[2, 0] = 40
    return new


def entries(new, columns):
    part = np.zeros(new.shape[1], dtype=np.int64)
    for t, group in enumerate(columns):
        part[group] = t
    matrix = csr_array(new)
    return matrix.indptr.astype(np.int64), part[matrix.indices], matrix.data.astype(np.int64)


@pytest.mark.parametrize("name", CRITERIA)
def test_each_goes_where_the_full_price_is_lowest(name):
    criterion, n_groups_met = CRITERIA[name], set()
    for seed in range(6):
        counts, rows, columns = random_matrix(seed), random_groups(seed, 14, 4), random_groups(seed + 50, 9, 3)
        new = new_rows(seed, 12, 9)
        found = groups_of_new(model_of(counts, rows, columns, criterion), criterion, "row", *entries(new, columns))
        assert found.dtype == np.int64
        for row, group in zip(new, found.tolist(), strict=True):
            if not row.any():
                assert group == -1
                continue
            prices = slow_prices(counts, row, rows, columns, criterion)
            assert prices[group] <= prices.min() + 1e-9
            assert np.all(prices[:group] > prices[group] - 1e-9)
        n_groups_met |= set(found.tolist())
    assert n_groups_met == {-1, 0, 1, 2, 3}


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize(("n_copies", "n_looked_up"), [(1, 4), (40, 4), (40, 0)])
def test_changes_are_differences_of_full_prices(monkeypatch, name, n_copies, n_looked_up):
    """Of 40 copies the changes are looked up, of one they are not."""
    monkeypatch.setattr(joining, "N_LOOKED_UP", n_looked_up)
    criterion = CRITERIA[name]
    counts, rows, columns = random_matrix(1), random_groups(1, 14, 4), random_groups(2, 9, 3)
    known = ModelGroups(model_of(counts, rows, columns, criterion), criterion, "row")
    for row in new_rows(1, 5, 9)[1:]:
        first, part, weights = entries(np.tile(row, (n_copies, 1)), columns)
        p, facts = known.prepared(int(row.sum()))
        joins = Joining(first, part, weights, np.ones(n_copies, dtype=np.int64))
        changes = join_prices(type(criterion), p, facts, known.groups, joins, np.arange(n_copies))
        slow = slow_prices(counts, row, rows, columns, criterion)
        for of_copy in changes:
            assert of_copy - of_copy[0] == pytest.approx(slow - slow[0], abs=1e-8)


def test_new_columns_join_groups_of_columns():
    criterion = CRITERIA["modl"]
    counts, rows, columns = random_matrix(3), random_groups(3, 14, 4), random_groups(4, 9, 3)
    model, turned = (
        model_of(counts, rows, columns, criterion),
        model_of(counts.T, columns, rows, criterion),
    )
    new = new_rows(3, 12, 14)
    found = groups_of_new(model, criterion, "column", *entries(new, rows))
    np.testing.assert_array_equal(found, groups_of_new(turned, criterion, "row", *entries(new, rows)))


def test_pieces_make_no_difference(monkeypatch):
    criterion = CRITERIA["modl"]
    counts, rows, columns = random_matrix(5), random_groups(5, 14, 4), random_groups(6, 9, 3)
    model, given = model_of(counts, rows, columns, criterion), entries(new_rows(5, 60, 9), columns)
    whole = groups_of_new(model, criterion, "row", *given)
    monkeypatch.setattr(new_values, "MAX_PRICES", 1)  # one value at a time
    np.testing.assert_array_equal(groups_of_new(model, criterion, "row", *given), whole)


def test_of_equal_groups_the_first():
    counts = np.kron(np.eye(2, dtype=int), np.ones((3, 3), dtype=int))
    rows, columns = [[0, 1, 2], [3, 4, 5]], [[0, 1, 2], [3, 4, 5]]
    model = model_of(counts, rows, columns, "modl")
    both = np.array([[1, 0, 0, 0, 0, 1], [0, 1, 1, 1, 1, 0]])
    assert groups_of_new(model, CRITERIA["modl"], "row", *entries(both, columns)).tolist() == [0, 0]


def test_one_group_takes_all():
    counts = random_matrix(0)
    for rows, columns in (
        ([list(range(14))], [list(range(9))]),
        ([list(range(14))], random_groups(0, 9, 3)),
        (random_groups(0, 14, 3), [list(range(9))]),
    ):
        model = model_of(counts, rows, columns, "modl")
        found = groups_of_new(model, CRITERIA["modl"], "row", *entries(new_rows(0, 12, 9), columns))
        assert found[0] == -1
        assert 0 <= found[1:].min() <= found[1:].max() < len(rows)
