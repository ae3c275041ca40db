"""The lower bound of spans: no partition into at most max_parts parts costs less, against trying all of them."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from oracles.lazy_frames import as_duckdb, long_column

import gridmodl
from gridmodl import optimize, verify
from gridmodl.criteria.information import Bic
from gridmodl.criteria.modl import Modl
from gridmodl.fit.lazy import data as lazy_data


def log_binomial(n, k):
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def part_cost(counts):
    n, n_classes = sum(counts), len(counts)
    return log_binomial(n + n_classes - 1, n_classes - 1) + math.lgamma(n + 1) - sum(math.lgamma(c + 1) for c in counts)


def cheapest(classes, n_classes, places, max_parts):
    """Lowest cost of the partitions of rows in order with bounds at some of the places, by trying all."""
    n, best = len(classes), math.inf
    for n_bounds in range(min(max_parts, len(places) + 1)):
        prior = math.log(n) + log_binomial(n + n_bounds, n_bounds)
        for bounds in itertools.combinations(places, n_bounds):
            ends = [0, *bounds, n]
            parts = [np.bincount(classes[a:b], minlength=n_classes) for a, b in itertools.pairwise(ends)]
            best = min(best, prior + sum(map(part_cost, parts)))
    return best


def test_bound_against_all_partitions_of_random_columns():
    rng = np.random.default_rng(0)
    largest = 0.0
    for _ in range(1000):
        n, n_classes, max_parts = int(rng.integers(4, 10)), int(rng.integers(2, 4)), int(rng.integers(2, 5))
        classes = rng.integers(0, n_classes, n)
        if rng.random() < 0.5:
            classes.sort()  # so that parts hide in spans
        places = np.flatnonzero(rng.random(n - 1) < 0.4) + 1
        resolution = int(np.diff(np.concatenate([[0], places, [n]])).max())
        if resolution == 1:
            continue
        loss = cheapest(classes, n_classes, places.tolist(), max_parts) - cheapest(
            classes, n_classes, list(range(1, n)), max_parts
        )
        problem = SimpleNamespace(n_rows=n, n_classes=n_classes)
        most = (max_parts - 1) * Modl().moved_bound_cost(problem, resolution / 2)
        assert -1e-9 <= loss <= most
        largest = max(largest, loss / most)
    assert largest > 0.1  # the bound is not empty


def test_gap_is_stated_among_partitions_of_at_most_max_parts(monkeypatch, tmp_path):
    monkeypatch.setattr(lazy_data, "MAX_GROUPS", 256)
    data = long_column(1500)
    model = optimize(as_duckdb(data), "y", max_parts=4)
    best = optimize(data, "y", max_parts=4)
    assert (model.proven, model.certificate.method, model.certificate.max_parts) == (False, "spans", 4)
    assert model.cost - best.cost <= model.gap < math.inf
    assert "at most 4 parts" in verify(model, as_duckdb(data), "y").reason
    assert verify(model, as_duckdb(data), "y")
    again = gridmodl.Model.from_json(model.to_json())
    assert again.gap == model.gap
    forged = gridmodl.Model.from_json(model.to_json().replace(repr(model.certificate.lowest), repr(model.cost)))
    assert not verify(forged, as_duckdb(data), "y")


@pytest.mark.parametrize(
    "options",
    [{}, {"max_parts": 4, "min_rows": 5}, {"max_parts": 4, "criterion": "bic"}, {"max_parts": 4, "fixed": [1.0]}],
)
def test_no_gap_is_stated_elsewhere(monkeypatch, options):
    monkeypatch.setattr(lazy_data, "MAX_GROUPS", 128)
    model = optimize(as_duckdb(long_column(800)), "y", **options)
    assert model.resolution > 0
    assert (model.gap, model.certificate, model.proven) == (None, None, False)


def test_what_hides_in_spans_may_be_much():
    """Labels that are sorted inside of buckets: one part is found, and forty hide."""
    x = np.arange(4000.0)
    data = pl.DataFrame({"x": x, "y": (x % 200 >= 100).astype(int)})
    counts = gridmodl.count(data, "y", max_groups=20)
    assert optimize(data, "y").partitions["x"].n_parts == 40
    found = optimize(counts)
    assert found.partitions["x"].n_parts == 1
    assert found.gap is None


def test_a_criterion_may_say_what_a_moved_bound_costs(monkeypatch):
    class Bounded(Bic):
        name = "bounded"

        def moved_bound_cost(self, problem, n_moved):
            return 100.0 * n_moved

    monkeypatch.setattr(lazy_data, "MAX_GROUPS", 128)
    model = optimize(as_duckdb(long_column(800)), "y", max_parts=4, criterion=Bounded)
    assert model.gap == pytest.approx(3 * 100.0 * model.resolution / 2.0)
