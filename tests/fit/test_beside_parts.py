"""The proven optimum beside special codes and missing values apart, within limits, against all partitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from oracles.tiny_pairs import groupings

import gridmodl
from gridmodl import optimize, price, verify
from gridmodl.search.task import Task
from gridmodl.testing import check_criterion

NAN = float("nan")
CRITERIA = [*gridmodl.list_criteria("classes"), gridmodl.get_criterion("entropy", alpha=0.1, beta=1.0)]


def drawn(rng, n_values):
    """Values and classes of rows: free values from 0 on, codes below, missing ones; with ties or pure, by chance."""
    values = [*range(n_values), *range(-int(rng.integers(0, 5)), 0), *[None] * int(rng.random() < 0.4)]
    n_classes, most, purity = int(rng.choice([1, 2, 2, 3])), int(rng.choice([1, 1, 3])), rng.choice([0.0, 0.5, 1.0])
    rows = [(value, own) for value in values for own in [rng.integers(n_classes)] * int(rng.integers(1, most + 1))]
    classes = [own if rng.random() < purity else rng.integers(n_classes) for _, own in rows]
    return [value for value, _ in rows], np.array([f"c{own}" for own in classes])


def check_optimum(costs, data, classes, criterion, **given):
    for search in ("exact", "auto", "merge"):
        model = optimize(data, classes, criterion=criterion, search=search, **given)
        assert model.cost >= min(costs) - 1e-9
        assert not model.proven or model.cost == pytest.approx(min(costs), abs=1e-9)
        assert model.proven or search != "exact"
        assert verify(model, data, classes), verify(model, data, classes).reason


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_intervals(criterion):
    for seed in range(20):
        rng = np.random.default_rng([38, seed])
        n_values = int(rng.integers(2, 6))
        values, classes = drawn(rng, n_values)
        x = np.array([NAN if value is None else float(value) for value in values])
        codes = sorted({value for value in values if value is not None and value < 0})
        special = [codes] if len(codes) > 1 and rng.random() < 0.2 else codes
        given = {"special": special, "missing": "apart" if rng.random() < 0.4 else "auto"}
        fixed = [int(rng.integers(0, n_values - 1)) + 0.5] if rng.random() < 0.3 else []
        given["max_parts"] = int(rng.choice([1 + len(fixed), 3, 9]))
        has_missing = bool(np.isnan(x).any())
        costs = []
        for is_apart in {has_missing, has_missing and given["missing"] == "apart"}:
            filled = np.where(np.isnan(x), -9.0 if is_apart else -0.5, x)  # a code, or below all others
            beside = [*special, -9.0] if is_apart else special
            for n in range(min(n_values, given["max_parts"])):
                for bounds in itertools.combinations((np.arange(n_values - 1) + 0.5).tolist(), n):
                    if set(fixed) <= set(bounds):
                        costs.append(price(filled, classes, {"x0": list(bounds)}, criterion=criterion, special=beside))
        check_optimum(costs, x, classes, criterion, **given, **({"fixed": fixed} if fixed else {}))


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_groups(criterion):
    for seed in range(12):
        rng = np.random.default_rng([39, seed])
        n_values = int(rng.integers(1, 5))
        values, classes = drawn(rng, n_values)
        x = np.array([None if value is None else f"v{value}" for value in values], dtype=object)
        codes = sorted({f"v{value}" for value in values if value is not None and value < 0})
        special = {"x0": [codes] if len(codes) > 1 and rng.random() < 0.2 else codes}
        missing, most = "apart" if rng.random() < 0.4 else "auto", int(rng.choice([1, 3, 9]))
        costs = []
        for is_apart in {None in values, None in values and missing == "apart"}:
            free = [*(f"v{i}" for i in range(n_values)), *[None] * (None in values and not is_apart)]
            for grouping in groupings(len(free)):
                groups = [[v for v, g in zip(free, grouping, strict=True) if g == k] for k in sorted(set(grouping))]
                if len(groups) > most:
                    continue
                groups += [[None]] * is_apart
                costs.append(price(x, classes, {"x0": groups}, criterion=criterion, special=special))
        check_optimum(costs, x, classes, criterion, special=special, missing=missing, max_parts=most)


def test_mdlp_cuts_runs_of_one_class_beside_many_codes():
    """With eight rows in seven parts, one part more costs less: log(N / (I - 1)) falls faster than I - 1 grows."""
    classes = [0, 1, 0, 1, 0, 1, 1, 1]
    model = optimize(np.arange(8.0), classes, criterion="mdlp", special=[0, 1, 2, 3, 4], search="exact")
    assert model.cost == pytest.approx(6.479897, abs=1e-6)
    assert model.proven
    assert model.partitions["x0"].n_parts == 8
    model = optimize(range(10), np.zeros(10), criterion="mdlp", special=[0])
    assert model.cost == pytest.approx(9 * np.log(10 / 9))
    assert model.proven


def test_check_criterion_tries_what_is_declared_beside_special_codes(monkeypatch):
    monkeypatch.setattr(Task, "more_parts_cost_more", lambda task, most: True)
    with pytest.raises(AssertionError, match=r"'mdlp'.*as special codes, exact found .* joins_pure_runs may hold of"):
        check_criterion("mdlp", compiled=False)
