"""The contract, the published costs to all their digits, and the normaliser of the universal code."""

from __future__ import annotations

import math

import numpy as np
import pytest
from gridmodl_khiops11 import LAST_TOWER, Khiops11, log_normaliser, log_star
from sklearn.datasets import load_iris

import gridmodl
from gridmodl.testing import check_criterion

PRINTED = 5e-7  # half of the last printed digit


@pytest.fixture(scope="module")
def petals():
    data = load_iris()
    return {"length": data.data[:, 2], "width": data.data[:, 3]}


@pytest.fixture(scope="module")
def petals_and_species(petals):
    data = load_iris()
    return {**petals, "species": data.target_names[data.target]}


def test_keeps_the_contract():
    check_criterion("khiops11")


def test_is_found_by_name_for_grids_without_a_target_only():
    assert "khiops11" in gridmodl.list_criteria("joint")
    assert gridmodl.get_criterion("khiops11") == Khiops11()
    with pytest.raises(ValueError, match=r"khiops11.*cannot price 'classes'"):
        gridmodl.optimize([1.0, 2.0, 3.0], ["a", "b", "a"], criterion="khiops11")


def test_published_costs_of_two_variables(petals):
    bounds = {"length": [2.45, 4.75], "width": [0.8, 1.75]}
    null = {"length": [], "width": []}
    assert gridmodl.price(petals, None, bounds, criterion="khiops11") == pytest.approx(1107.814123, abs=PRINTED)
    assert gridmodl.price(petals, None, null, criterion="khiops11") == pytest.approx(1210.733359, abs=PRINTED)


def test_published_costs_of_three_variables(petals_and_species):
    species = [["setosa"], ["versicolor"], ["virginica"]]
    best = {"length": [2.45, 4.75], "width": [0.8, 1.75], "species": species}
    null = {"length": [], "width": [], "species": [["setosa", "versicolor", "virginica"]]}
    assert gridmodl.price(petals_and_species, None, best, criterion="khiops11") == pytest.approx(
        1164.273132, abs=PRINTED
    )
    assert gridmodl.price(petals_and_species, None, null, criterion="khiops11") == pytest.approx(
        1379.668177, abs=PRINTED
    )


@pytest.mark.parametrize("seed", range(10))
def test_search_finds_the_published_grid_of_two_variables(petals, seed):
    model = gridmodl.optimize(petals, criterion="khiops11", random_state=seed)
    assert model.cost == pytest.approx(1107.814123, abs=PRINTED)
    assert model.null_cost == pytest.approx(1210.733359, abs=PRINTED)
    assert model.partitions["length"].bounds.tolist() == pytest.approx([2.45, 4.75])
    assert model.partitions["width"].bounds.tolist() == pytest.approx([0.8, 1.75])


@pytest.mark.parametrize("seed", range(10))
def test_search_finds_the_best_known_cost_of_three_variables(petals_and_species, seed):
    model = gridmodl.optimize(petals_and_species, criterion="khiops11", random_state=seed)
    assert model.cost <= 1164.273132 + PRINTED
    assert model.null_cost == pytest.approx(1379.668177, abs=PRINTED)


def test_price_of_many_values_is_the_formula():
    """Eight values of one variable in two groups, three of another in one: here more than seven pay log 2."""
    first, second = list("abcdefghabcdabcd"), list("xyxzxyxzxyxxxyxx")
    groups = {"first": [list("abcd"), list("efgh")], "second": [["x", "y", "z"]]}
    log_groupings = math.log(1 + 127)
    inside = math.log(math.comb(12 + 4 - 1, 3)) + math.log(math.comb(4 + 4 - 1, 3))
    values = 4 * math.log(math.factorial(3)) + math.log(math.factorial(10) * math.factorial(4) * math.factorial(2))
    expected = (
        math.log(2) + math.log(2.86511) + math.log(math.comb(17, 1)) + math.lgamma(17)
        + math.log(2) + math.log(sum(2.0 ** -log_star(k) for k in range(1, 8))) + log_groupings + inside
        + math.lgamma(17) + math.log(math.comb(18, 2)) - values
    )  # fmt: skip
    assert gridmodl.price({"first": first, "second": second}, None, groups, criterion="khiops11") == pytest.approx(
        expected
    )


def test_log_star():
    assert [log_star(n) for n in (0, 1, 2, 4, 16, 65536)] == [0.0, 0.0, 1.0, 3.0, 7.0, 23.0]
    assert log_star(3) == pytest.approx(math.log2(3) + math.log2(math.log2(3)))


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 16, 17, 149, LAST_TOWER - 1, LAST_TOWER, LAST_TOWER + 1, 300_000])
def test_normaliser_is_the_sum(limit):
    expected = math.log(math.fsum(2.0 ** -log_star(k) for k in range(1, limit + 1)))
    assert log_normaliser(limit) == pytest.approx(expected, rel=0.0, abs=1e-13)


def test_normaliser_of_a_billion_grows_by_the_last_terms():
    billion = 10**9
    last = math.fsum(2.0 ** -log_star(k) for k in range(billion - 999, billion + 1))
    grown = math.exp(log_normaliser(billion)) - math.exp(log_normaliser(billion - 1_000))
    assert grown == pytest.approx(last, rel=0.0, abs=2e-15)
    assert log_normaliser(billion) < log_normaliser(10**18) < math.log(2.86511)


def test_data_with_nothing_to_tell_apart():
    assert log_normaliser(0) == log_normaliser(1) == 0.0
    row = {"x": [1.0], "y": ["a"]}
    model = gridmodl.optimize(row, criterion="khiops11")
    assert model.cost == model.null_cost == pytest.approx(math.log(2))
    assert model.informative == []
    constant = {"x": [1.0, 2.0, 3.0], "y": ["a", "a", "a"]}
    assert gridmodl.optimize(constant, criterion="khiops11").informative == []


def test_all_seeds_find_the_same_grid_of_a_small_table_from_rows_and_from_counts():
    rng = np.random.default_rng([38, 0])
    sizes = (14, 16)  # as occupation and education of the adult data
    first, second = (np.sort(rng.normal(size=n)) for n in sizes)
    logs = 0.8 * np.outer(first, second) + 0.25 * rng.normal(size=sizes)
    shares = np.exp(logs + rng.normal(size=sizes[0])[:, None] + rng.normal(size=sizes[1]))
    counts = rng.multinomial(46_000, (shares / shares.sum()).ravel()).reshape(sizes)
    cells = np.nonzero(counts)
    weights = counts[cells]
    columns = {name: values.astype(str) for name, values in zip("ab", cells, strict=True)}
    rows = {name: np.repeat(values, weights) for name, values in columns.items()}
    found = [
        gridmodl.optimize(columns, weights=weights, criterion=Khiops11(), random_state=seed).cost for seed in range(20)
    ]
    found += [gridmodl.optimize(rows, criterion=Khiops11(), random_state=seed).cost for seed in range(5)]
    assert found == pytest.approx([min(found)] * len(found), rel=1e-12)
