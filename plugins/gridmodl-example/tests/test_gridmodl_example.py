"""What a plugin should test: its criterion keeps the contract, has its name, and prices like its paper."""

from __future__ import annotations

import math

import numpy as np
import pytest
from gridmodl_example import HannanQuinn

import gridmodl
from gridmodl.testing import check_criterion


def test_keeps_the_contract():
    check_criterion(HannanQuinn)


def test_is_found_by_name_and_finds_the_bound():
    column = [float(value) for value in range(40)]
    target = ["low"] * 19 + ["high"] + ["high"] * 19 + ["low"]
    model = gridmodl.optimize(column, target, criterion="hqc")
    assert "hqc" in gridmodl.list_criteria("classes")
    assert model.partitions["x0"].bounds.tolist() == [18.5, 38.5]
    assert model.proven


def test_price_is_the_formula():
    column, target = [1.0, 2.0, 3.0, 4.0, 5.0], ["a", "b", "a", "b", "b"]
    log_loss = 3 * math.log(3) - 2 * math.log(2)  # of a, b, a; the rows b, b are pure
    expected = 2 * log_loss + 2 * 2 * math.log(math.log(5))
    assert gridmodl.price(column, target, {"x0": [3.5]}, criterion="hqc") == pytest.approx(expected)


def test_long_columns_are_proven_too():
    rng = np.random.default_rng(2)
    column = rng.random(3000)
    target = rng.random(3000) < np.where(column < 0.4, 0.2, 0.8)
    model = gridmodl.optimize(column, target, criterion="hqc", search="exact")
    assert model.proven
    assert model.cost <= gridmodl.price(column, target, {"x0": [0.4]}, criterion="hqc")


def test_two_rows_do_not_reward_parts():
    assert gridmodl.price([1.0, 2.0], ["a", "b"], {"x0": [1.5]}, criterion="hqc") == 0.0


def test_it_finds_grids_of_several_columns():
    rng = np.random.default_rng(1)
    data = rng.random((200, 3))
    target = (data[:, 0] > 0.5) ^ (data[:, 2] > 0.5)
    model = gridmodl.optimize(data, target, criterion="hqc")
    assert model.informative == ["x0", "x2"]
    assert model.cost < model.null_cost
