"""Classes from probabilities: thresholds against all thresholds tried one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gridmodl.evidence.decisions import balanced_factors, decide


def balanced_error(given: Any, codes: Any, weights: Any = None) -> float:
    weights = np.ones(len(codes)) if weights is None else weights
    wrong = (given != codes) * weights
    return float(np.mean([wrong[codes == c].sum() / weights[codes == c].sum() for c in np.unique(codes)]))


def two_classes(seed: int, n: int = 60) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    second = np.round(rng.random(n), 1)
    codes = (rng.random(n) < second**2).astype(int)
    codes[:2] = 0, 1
    return np.column_stack([1.0 - second, second]), codes


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_no_threshold_has_a_lower_balanced_error(seed: int, weighted: bool) -> None:
    probabilities, codes = two_classes(seed)
    weights = np.random.default_rng(seed).integers(1, 5, len(codes)) if weighted else None
    found = balanced_error(decide(probabilities, balanced_factors(probabilities, codes, weights)), codes, weights)
    tried = [
        balanced_error((probabilities[:, 1] > t).astype(int), codes, weights) for t in np.linspace(-0.05, 1.05, 23)
    ]
    assert found == pytest.approx(min(tried), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_more_classes_do_no_worse_than_their_shares_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = np.r_[0, 1, 2, 3, rng.choice(4, 200, p=[0.7, 0.2, 0.07, 0.03])]
    scores = rng.gamma(1.0, size=(len(codes), 4)) + 1.5 * np.eye(4)[codes] * rng.random((len(codes), 1))
    scores *= [0.7, 0.2, 0.07, 0.03]
    probabilities = scores / scores.sum(axis=1, keepdims=True)
    shares = np.bincount(codes) / len(codes)
    found = balanced_error(decide(probabilities, balanced_factors(probabilities, codes, None)), codes)
    assert found <= balanced_error(decide(probabilities, 1.0 / shares), codes)
    assert found < balanced_error(probabilities.argmax(axis=1), codes)


def test_factors_never_end_worse_than_they_began() -> None:
    """Small samples of round numbers are full of ties, where rounding decides who takes a row."""
    for seed in range(400):
        rng = np.random.default_rng(seed)
        codes = np.r_[0, 1, 2, rng.integers(0, 3, 7)]
        scores = rng.integers(0, 4, (10, 3)) + 1e-9
        probabilities = scores / scores.sum(axis=1, keepdims=True)
        began = balanced_error(decide(probabilities, len(codes) / np.bincount(codes)), codes)
        found = balanced_error(decide(probabilities, balanced_factors(probabilities, codes, None)), codes)
        assert found <= began + 1e-12


def test_certain_rows_and_a_single_class() -> None:
    certain = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert decide(certain, balanced_factors(certain, np.array([0, 0, 1]), None)).tolist() == [0, 0, 1]
    assert decide(certain, balanced_factors(certain, np.array([1, 1, 0]), None)).tolist() == [0, 0, 1]
    one = np.ones((3, 1))
    assert decide(one, balanced_factors(one, np.zeros(3, dtype=int), None)).tolist() == [0, 0, 0]


def test_factors_that_are_best_already_stay() -> None:
    probabilities, codes = np.array([[0.9, 0.1], [0.2, 0.8]] * 10), np.array([0, 1] * 10)
    assert balanced_factors(probabilities, codes, None).tolist() == [1.0, 1.0]


def test_one_pass_over_two_classes_does_not_depend_on_their_order() -> None:
    for seed in range(5):
        probabilities, codes = two_classes(seed)
        there = balanced_error(decide(probabilities, balanced_factors(probabilities, codes, None)), codes)
        swapped = probabilities[:, ::-1].copy()
        back = balanced_error(decide(swapped, balanced_factors(swapped, 1 - codes, None)), 1 - codes)
        assert there == pytest.approx(back)
