"""Whether a column makes no error on the target: parts of one class each, and too few of them for a chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gridmodl
from gridmodl.evidence.suspicion import suspicion_of

rng = np.random.default_rng(0)
N = 400
Y = rng.integers(0, 3, N)
HIDDEN = rng.random(N) < 0.2
SAID = "each part has one class only: is it a copy of the target, or known only after it?"
BUT_APART = SAID.replace("part has", "part but those of missing values and special codes has")


def suspicion(values: Any, target: Any = Y, **options: Any) -> str:
    (partition,) = gridmodl.optimize({"x": values}, target, **options).partitions.values()
    return suspicion_of(partition)


@pytest.mark.parametrize(
    ("values", "options", "said"),
    [
        (Y * 3.0, {}, SAID),
        (np.array(["a", "b", "c"])[Y], {}, SAID),
        (-Y + rng.random(N) / 2, {}, SAID),
        (np.where(Y == 2, np.nan, Y), {}, SAID),  # missing values tell a class
        (np.where(HIDDEN, np.nan, Y), {"missing": "apart"}, BUT_APART),
        (np.where(HIDDEN, -999.0, Y), {"special": [-999]}, BUT_APART),
        (np.where(HIDDEN, None, np.array(["a", "b", "c"])[Y]), {"missing": "apart"}, BUT_APART),
        (np.where(Y == 0, rng.random(N), np.where(Y == 1, 2.0, 3.0)), {"fixed": [0.2, 0.5, 0.7]}, SAID),
        (np.where(Y == 1, 5.0, Y) + rng.random(N) / 2, {"criterion": "aic"}, SAID),  # 0, 2, 1: not in order
        (np.where(np.arange(N) == 7, 1 - Y, Y), {}, ""),  # one error
        (rng.random(N), {}, ""),
        (np.where(HIDDEN, np.nan, rng.random(N)), {"missing": "apart"}, ""),
        (np.where(Y == 2, 2.0, rng.random(N)), {}, ""),  # one class of three
    ],
)
def test_of_a_column_that_makes_no_error(values, options, said):
    assert suspicion(values, **options) == said


def test_parts_of_few_rows_each_are_no_copy():
    target = rng.integers(0, 2, N)
    values = np.arange(N) + 0.0
    bounds = np.flatnonzero(np.diff(target)) + 0.5
    (partition,) = gridmodl.Model.from_partitions({"x": values}, target, {"x": bounds}).partitions.values()
    assert (np.count_nonzero(partition.counts, axis=1) == 1).all()
    assert suspicion_of(partition) == ""
    groups = [[str(i)] for i in range(N)]
    model = gridmodl.Model.from_partitions({"x": [str(i) for i in range(N)]}, target, {"x": groups})
    assert suspicion_of(model.partitions["x"]) == ""


@pytest.mark.parametrize("n", [99, 100])
def test_few_rows_may_be_told_apart_by_chance(n):
    assert bool(suspicion(np.arange(n) % 2, np.arange(n) % 2)) == (n == 100)


def test_a_target_in_parts_or_of_one_class_and_no_target_have_no_copy():
    assert suspicion(Y, target_kind="grouped") == ""
    assert suspicion(Y, Y + 0.5, target_kind="numerical") == ""
    assert suspicion(Y, ["a"] * N) == ""
    assert suspicion(Y + rng.random(N), None, criterion="bayesian-blocks") == ""


def test_an_average_of_distinct_values_is_one_of_runs():
    assert suspicion_of(gridmodl.average(np.arange(N) + 0.0, rng.integers(0, 2, N)).segments) == ""
    assert suspicion_of(gridmodl.average(Y + rng.random(N) / 2, Y).segments) == SAID
