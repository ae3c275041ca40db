"""Densities against the definition, against themselves in other units, and at the edges."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import json
import math
import pathlib
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from oracles import naive_density
from oracles.naive_histogram import domain_of_values

import gridmodl.data.domain
import gridmodl.density.fitting
from gridmodl import ModelFileError
from gridmodl.clock import Clock
from gridmodl.data.folds import folds_of
from gridmodl.data.quantiles import equal_frequency_bounds, equal_width_cuts
from gridmodl.density import DensityModel, equal_frequency, equal_width, optimize_density
from gridmodl.density.fitting import KERNELS
from gridmodl.density.growth import (
    FLAT,
    NO_CUT,
    ORDER,
    CutRule,
    Effort,
    below,
    best_by_gaussian,
    best_by_kernel,
    best_by_likelihood,
    grown,
    rows_of,
)
from gridmodl.jit.template import bind

ASKED = [{"score": "likelihood"}, *({"score": "kernel", "kernel": kernel} for kernel in KERNELS)]
NAMES = ["likelihood", *KERNELS]


def kernel_of(asked):
    return asked.get("kernel")


def samples(n=26):
    """Small columns of many kinds."""
    rng = np.random.default_rng(5)
    yield rng.normal(size=n)
    yield rng.exponential(size=n) ** 2
    yield np.round(rng.normal(size=n), 1)
    yield rng.integers(0, 5, n).astype(float)
    yield np.concatenate([rng.random(n // 2), 1000.0 + 1e-3 * rng.random(n - n // 2)])
    yield np.repeat(rng.random(4), [1, n - 12, 1, 10])
    yield np.arange(n) * 0.25
    yield rng.normal(size=2)
    yield np.array([0.0, 1.0, 1.0])


class TestAgainstTheDefinition:
    @pytest.mark.parametrize("asked", ASKED, ids=NAMES)
    def test_every_cut(self, asked):
        for values in samples():
            path, _ = naive_density.grow(sorted(values.tolist()), *domain_of_values(values), kernel_of(asked), 12)
            model = optimize_density(values, max_parts=13, **asked)
            assert model.path == pytest.approx(np.array(path), rel=1e-12)

    @pytest.mark.parametrize("asked", ASKED, ids=NAMES)
    @pytest.mark.parametrize("n_folds", [3, 50])
    def test_cross_validation(self, asked, n_folds):
        for values in samples(16):
            curve, path = naive_density.cross_validated(values.tolist(), kernel_of(asked), n_folds, 7, 6)
            model = optimize_density(values, n_folds=n_folds, random_state=7, max_parts=7, **asked)
            assert model.held_out * len(values) == pytest.approx(curve, rel=1e-9, abs=1e-9)
            best = next(k for k, ll in enumerate(curve) if ll >= max(curve) - 1e-9 * len(values))
            assert model.partition.bounds == pytest.approx(np.array(sorted(path[:best])), rel=1e-12)
            assert model.n_folds == min(n_folds, len(values))

    def test_min_rows(self):
        values = np.random.default_rng(2).exponential(size=24)
        for asked in ASKED:
            path, _ = naive_density.grow(sorted(values), *domain_of_values(values), kernel_of(asked), 20, 5)
            model = optimize_density(values, min_rows=5, max_parts=21, n_folds=2, **asked)
            assert model.path == pytest.approx(np.array(path))
            assert model.partition.counts.min() >= 5

    def test_density_and_log_likelihood(self):
        for values in samples():
            for model in (optimize_density(values), equal_width(values, 5), equal_frequency(values, 4)):
                test = np.linspace(values.min() - 1.0, values.max() + 1.0, 50)
                rows, cuts = values.tolist(), model.partition.bounds.tolist()
                expected = naive_density.log_likelihood(test, rows, cuts, *domain_of_values(values))
                assert model.log_likelihood(test) == pytest.approx(expected)
                assert np.log(model.density(test)).sum() == pytest.approx(expected)

    def test_cross_validated_equal_width(self):
        for values in samples(20):
            model = equal_width(values, max_parts=9, n_folds=4, random_state=3)
            rows, (low, high) = sorted(values.tolist()), domain_of_values(values)
            fold, curve = naive_density.folds_of(len(rows), min(4, len(rows)), 3), np.zeros(9)
            for f, k in itertools.product(range(max(fold) + 1), range(1, 10)):
                cuts = [low + j * (high - low) / k for j in range(1, k)]
                kept = [x for x, g in zip(rows, fold, strict=True) if g != f]
                test = [x for x, g in zip(rows, fold, strict=True) if g == f]
                curve[k - 1] += naive_density.log_likelihood(test, kept, cuts, low, high)
            assert model.held_out * len(rows) == pytest.approx(curve)
            assert model.n_parts == 1 + int(np.argmax(curve >= curve.max() - 1e-9 * len(rows)))


class TestBestCut:
    """Of one interval, against all candidates at once."""

    @staticmethod
    def columns():
        rng = np.random.default_rng(8)
        yield np.sort(rng.random(3000)), np.ones(3000, dtype=np.int64)
        yield np.sort(rng.normal(size=3000)) / 20.0 + 0.5, rng.integers(1, 9, 3000)
        yield np.sort(np.exp(rng.normal(size=2000) * 8.0)) / 1e18, np.ones(2000, dtype=np.int64)
        yield np.arange(1000) / 1000.0 + 1e-6 * rng.random(1000), np.ones(1000, dtype=np.int64)
        yield 0.5 + np.sort(rng.random(500)) * 1e-9, rng.integers(1, 3, 500)
        yield np.arange(1.0, 64.0) / 64.0, np.tile([5, 1, 2], 21)

    @staticmethod
    def candidates(positions, rows):
        cuts = (positions[1:] + positions[:-1]) / 2.0
        m = np.cumsum(rows)[:-1].astype(float)
        return cuts, m, rows.sum() - m

    @pytest.mark.parametrize("min_rows", [1.0, 40.0])
    def test_likelihood_leaves_no_better_one_closed(self, min_rows):
        for positions, rows in self.columns():
            cuts, m, n = self.candidates(positions, rows)
            scores = m * np.log(m / (rows.sum() * cuts)) + n * np.log(n / (rows.sum() * (1.0 - cuts)))
            scores[(m < min_rows) | (n < min_rows)] = -np.inf
            stack, work = np.zeros(512, dtype=np.int64), np.zeros(1, dtype=np.int64)
            interval = (0, len(positions), 0.0, 1.0)
            score, cut = bind(best_by_likelihood)(positions, below(rows), min_rows, interval, stack, work)
            if scores.max() == -np.inf:
                assert score == NO_CUT
                continue
            assert score == pytest.approx(scores.max(), rel=1e-9)
            assert scores[cut] >= scores.max() * (1.0 - 2e-9)
            assert np.all(scores[:cut] < scores.max() * (1.0 - 0.5e-9))

    def test_likelihood_looks_at_few(self):
        positions = np.sort(np.random.default_rng(0).random(200_000))
        stack, work = np.zeros(512, dtype=np.int64), np.zeros(1, dtype=np.int64)
        interval = (0, len(positions), 0.0, 1.0)
        bind(best_by_likelihood)(positions, np.arange(200_001.0), 1.0, interval, stack, work)
        assert work[0] < 60_000

    @pytest.mark.parametrize("kernel", list(KERNELS))
    def test_kernel_keeps_its_digits_in_narrow_parts(self, kernel):
        for positions, rows in self.columns():
            positions, rows = positions[:400], rows[:400]
            cuts, m, n = self.candidates(positions, rows)
            scores = np.zeros(len(cuts))
            for part, count, w in ((slice(None), m, cuts), (slice(None, None, -1), n[::-1], 1.0 - cuts[::-1])):
                x, c = np.longdouble(positions[part]), rows[part].astype(np.longdouble)
                gaps = np.abs(x[:, None] - x[None, :])
                pairs = c[:, None] * c[None, :]
                v = np.cumsum(np.cumsum(pairs * gaps**2, axis=0), axis=1).diagonal()[:-1]
                d = np.cumsum(np.cumsum(pairs * gaps, axis=0), axis=1).diagonal()[:-1]
                a, b, e = KERNELS[kernel]
                score = a * count**2 + b * v / w**2 + e * d / w
                if kernel == "gaussian":
                    near = np.array([
                        (pairs[: i + 1, : i + 1] * np.exp(-((gaps[: i + 1, : i + 1] / w[i]) ** 2) / 2)).sum()
                        for i in range(len(w))
                    ])  # fmt: skip
                    score = count**2 - near / np.sqrt(2 * np.pi)
                scores += (score / w / rows.sum()).astype(float)[part]
            work, by_value = np.zeros(1, dtype=np.int64), np.empty(len(positions))
            rule = CutRule(False, *KERNELS[kernel], 1.0)
            interval = (0, len(positions), 0.0, 1.0)
            if kernel == "gaussian":
                score, cut = bind(best_by_gaussian)(
                    positions, below(rows), rule, interval, by_value, work, np.zeros((2, 2 * ORDER + 1))
                )
            else:
                score, cut = bind(best_by_kernel)(positions, below(rows), rule, interval, by_value, work)
            digits = 1e-10 if kernel == "gaussian" else 1e-11
            assert by_value[:-1] / rows.sum() == pytest.approx(scores, rel=digits)
            assert score == pytest.approx(scores.max(), rel=digits)
            assert scores[cut] >= scores.max() * (1.0 - 2e-9)

    def test_nothing_to_cut(self):
        stack, work = np.zeros(512, dtype=np.int64), np.zeros(1, dtype=np.int64)
        for positions, expected in ((np.array([0.5]), NO_CUT), (np.array([0.25, 0.75]), FLAT)):
            interval = (0, len(positions), 0.0, 1.0)
            before = np.arange(len(positions) + 1.0)
            assert bind(best_by_likelihood)(positions, before, 1.0, interval, stack, work)[0] == expected


class TestInvariance:
    @pytest.mark.parametrize("asked", ASKED, ids=NAMES)
    def test_units_and_order(self, asked):
        rng = np.random.default_rng(0)
        for values in (rng.normal(size=400), np.round(rng.normal(size=400), 1)):
            model = optimize_density(values, **asked)
            for scale, shift in ((2.0**40, 0.0), (3.7, 0.0), (1.0, 4.0), (1e300, 0.0), (1e-300, 0.0), (0.1, -7.0)):
                other = optimize_density(values * scale + shift, **asked)
                assert other.partition.counts.tolist() == model.partition.counts.tolist()
                assert other.shares == pytest.approx(model.shares)
                assert other.held_out + math.log(scale) == pytest.approx(model.held_out)
            other = optimize_density(values[rng.permutation(400)], **asked)
            assert other.path.tobytes() == model.path.tobytes()
            assert other.held_out.tobytes() == model.held_out.tobytes()

    @pytest.mark.parametrize("asked", ASKED, ids=NAMES)
    def test_weights_are_rows(self, asked):
        rng = np.random.default_rng(1)
        values, weights = rng.normal(size=150), rng.integers(0, 5, 150)
        values[:5] = np.nan
        weighted = optimize_density(values, weights=weights, **asked)
        repeated = optimize_density(np.repeat(values, weights), **asked)
        assert weighted.path.tobytes() == repeated.path.tobytes()
        assert weighted.held_out.tobytes() == repeated.held_out.tobytes()
        assert weighted.partition.counts.tolist() == repeated.partition.counts.tolist()
        assert weighted.n_missing == repeated.n_missing == weights[:5].sum()
        test, times = rng.normal(size=50), rng.integers(0, 3, 50)
        expected = repeated.log_likelihood(np.repeat(test, times))
        assert weighted.log_likelihood(test, weights=times) == pytest.approx(expected)

    def test_weights_are_rows_for_baselines(self):
        rng = np.random.default_rng(1)
        values, weights = np.round(rng.normal(size=100), 1), rng.integers(0, 5, 100)
        for method in (
            equal_width,
            lambda x, **kw: equal_width(x, 6, **kw),
            lambda x, **kw: equal_frequency(x, 6, **kw),
        ):
            weighted, repeated = method(values, weights=weights), method(np.repeat(values, weights))
            assert weighted.partition.bounds.tolist() == repeated.partition.bounds.tolist()
            assert weighted.held_out.tolist() == repeated.held_out.tolist()

    def test_the_seed_decides(self):
        values = np.random.default_rng(0).normal(size=300)
        first, second, other = (optimize_density(values, random_state=seed) for seed in (1, 1, 2))
        assert first.held_out.tobytes() == second.held_out.tobytes()
        assert first.held_out.tobytes() != other.held_out.tobytes()
        optimize_density(values, random_state=None)

    def test_inputs_are_untouched(self):
        values = np.random.default_rng(0).normal(size=50)
        before = values.copy()
        optimize_density(values)
        equal_width(values)
        assert values.tobytes() == before.tobytes()


class TestFolds:
    @pytest.mark.parametrize("most", [2**26, 10])
    def test_all_rows_once(self, monkeypatch, most):
        monkeypatch.setattr(gridmodl.data.folds, "MAX_SHUFFLED", most)
        rows = np.random.default_rng(0).integers(1, 100, 300)
        folds = list(folds_of(rows, 7, 0))
        assert len(folds) == 7
        assert np.sum(folds, axis=0).tolist() == rows.tolist()
        sizes = [int(fold.sum()) for fold in folds]
        assert max(sizes) - min(sizes) <= (1 if most > 10 else 0.1 * rows.sum())
        assert np.min(folds) >= 0

    def test_weights_too_large_to_shuffle(self):
        model = optimize_density([0.0, 1.0, 2.0, 10.0], weights=[2**40, 2**40, 2**40, 2**20])
        assert model.n_parts > 1
        assert model.n_rows == 3 * 2**40 + 2**20

    def test_many_folds(self):
        assert [fold.tolist() for fold in folds_of(np.ones(300, dtype=np.int64), 300, 0)].count([0] * 300) == 0


class TestModel:
    def test_finds_what_is_there(self):
        rng = np.random.default_rng(0)
        values = np.concatenate([rng.uniform(0, 1, 5000), rng.uniform(3, 4, 3000), rng.uniform(4, 9, 2000)])
        model = optimize_density(values)
        for bound in (1.0, 3.0, 4.0):
            assert np.abs(model.partition.bounds - bound).min() < 0.01
        assert model.n_parts <= 6
        assert model.density([0.5, 2.0, 3.5, 6.0]) == pytest.approx(np.array([0.5, 0.0, 0.3, 0.04]), abs=0.01)

    def test_one_part_for_evenly_spread_rows(self):
        assert optimize_density(np.random.default_rng(0).random(20_000)).n_parts == 1
        even = optimize_density(np.arange(100_000.0))
        assert even.n_parts == 1
        assert len(even.path) == 0  # each value has a step, the ends too

    def test_likelihood_is_the_better_score(self):
        rng = np.random.default_rng(0)
        values, test = rng.normal(size=(2, 20_000))
        found = {name: optimize_density(values, **asked) for name, asked in zip(NAMES, ASKED, strict=True)}
        held_out = {name: model.log_likelihood(test) / len(test) for name, model in found.items()}
        assert held_out["likelihood"] > max(held_out[name] for name in KERNELS) + 0.02

    def test_integrates_to_one(self):
        for values in samples():
            for model in (*(optimize_density(values, **asked) for asked in ASKED), equal_width(values, max_parts=50)):
                assert (model.densities * model.widths).sum() == pytest.approx(1.0)
                assert model.widths.sum() == pytest.approx(np.ptp(domain_of_values(values)))
                assert model.partition.counts.sum() == model.n_rows == len(values)

    def test_outside_and_missing(self):
        model = equal_width([0.0, 1.0, 2.0, 10.0], 2, domain=(0.0, 10.0))
        assert model.transform([-5.0, 5.0, 5.1, 99.0, np.nan, np.inf]).tolist() == [0, 0, 1, 1, -1, 1]
        density = model.density([0.0, 10.0, -5.0, 99.0, np.inf, np.nan])
        assert density[:2] == pytest.approx(np.array([3.5, 1.5]) / 25.0)
        outer = np.array([3.5 / 5.0 / 4.0, 1.5 / 5.0 / 2.0, 1.5 / 5.0 / 2.0]) / 10.0  # below any inside
        assert density[2:5] == pytest.approx(outer)
        assert density[2:5].max() < model.densities.min()
        assert np.isnan(density[5])
        assert model.log_likelihood([0.0, np.nan]) == pytest.approx(math.log(3.5 / 25.0))
        assert model.log_likelihood([]) == 0.0
        assert model.log_likelihood([np.nan]) == 0.0

    def test_empty_parts_are_not_impossible(self):
        model = equal_width([0.0, 1.0, 10.0], 5, domain=(0.0, 10.0))
        assert model.partition.counts[:, 0].tolist() == [2, 0, 0, 0, 1]
        assert model.density([5.0])[0] == pytest.approx(0.2 / (2.0 * 4.0))
        assert math.isfinite(model.log_likelihood([5.0, 3.0]))

    def test_missing_values_are_counted_and_left_out(self):
        rng = np.random.default_rng(0)
        values = rng.exponential(size=200)
        model = optimize_density(np.concatenate([values, [np.nan] * 7]))
        assert model.n_missing == 7
        assert model.partition.bounds.tolist() == optimize_density(values).partition.bounds.tolist()
        assert "7 more are missing" in model.summary()

    def test_max_parts(self):
        values = np.random.default_rng(0).exponential(size=500)
        full = optimize_density(values)
        for n_parts in (1, 2, 3):
            model = optimize_density(values, max_parts=n_parts)
            assert model.n_parts <= n_parts
            assert len(model.held_out) == n_parts
            assert model.held_out.tolist() == full.held_out[:n_parts].tolist()

    def test_domain(self):
        model = optimize_density([3.0, 3.0, 3.0], domain=(0, 10))
        assert model.n_parts == 1
        assert model.domain.tolist() == [0.0, 10.0]
        assert model.density([3.0]) == pytest.approx(0.1)
        values = np.random.default_rng(0).random(500) * 0.1
        wide = optimize_density(values, domain=(-1.0, 1.0))
        assert wide.density([-0.9])[0] < 0.01 < wide.density([0.05])[0]
        assert equal_width([1.0, 2.0], 2, domain=(0.0, 10.0)).partition.bounds.tolist() == [5.0]

    def test_few_rows(self):
        two = optimize_density([1.0, 2.0])
        assert (two.n_parts, two.n_folds) == (1, 2)
        assert two.density([1.5]) == pytest.approx(0.5)
        assert two.held_out.tolist() == [-math.log(2.0)]  # a row alone cannot be cut
        assert optimize_density([4.0], domain=(0.0, 5.0)).held_out.tolist() == []
        assert equal_width([1.0, 2.0]).n_parts >= 1
        assert equal_width([4.0], domain=(0.0, 5.0)).n_parts == 1
        assert equal_frequency([1.0, 2.0], 2).partition.bounds.tolist() == [1.5]

    def test_frames_text_and_tables(self):
        values = np.random.default_rng(0).exponential(size=300)
        model = optimize_density(pl.Series("wait", values))
        assert model.partition.name == "wait"
        assert isinstance(model.table(), pl.DataFrame)
        assert isinstance(model.table("pandas"), pd.DataFrame)
        table = optimize_density(values).table()
        assert list(table) == ["part", "rows", "share", "width", "density"]
        summary = model.summary()
        assert "density of wait by likelihood" in summary
        assert all(name in summary for name in model.partition.names)
        assert "equal frequency" in equal_frequency(values, 50).summary()
        long = optimize_density({"x": np.random.default_rng(0).normal(size=500)})
        assert max(map(len, long.summary().splitlines())) < 80
        assert all(name in long.summary() and name in long._repr_html_() for name in long.partition.names)
        assert long.partition.labels[1] not in long.summary() + long._repr_html_()
        assert "more parts" in equal_frequency(values, 50).summary()
        assert repr(optimize_density(values, score="kernel", kernel="box")).startswith("DensityModel('kernel, box', x0")
        assert model.log_likelihood(pd.DataFrame({"wait": values})) == pytest.approx(model.log_likelihood(values))
        again = pickle.loads(pickle.dumps(model))  # noqa: S301  our own
        assert again.summary() == model.summary()


class TestTypes:
    COLUMNS = {
        "float32": lambda x: x.astype(np.float32),
        "float16": lambda x: x.astype(np.float16),
        "small integers": lambda x: np.round(x * 10).astype(int),
        "int64": lambda x: np.round(x * 1000).astype(np.int64) + 2**60,
        "uint64": lambda x: np.round(x * 1000).astype(np.int64).astype(np.uint64) + np.uint64(2**63),
        "dates": lambda x: np.datetime64("2020-01-01") + np.round(x * 3).astype("m8[D]"),
        "durations": lambda x: (x * 1e6).astype("m8[us]"),
        "time zone": lambda x: pd.Series(pd.to_datetime(1.6e9 + x * 1e5, unit="s", utc=True)),
        "nulls": lambda x: pd.Series(np.round(x * 10), dtype="Int64").mask(np.arange(len(x)) % 7 == 0),
        "huge": lambda x: x * 1e307,
        "tiny": lambda x: x * 1e-300,
        "subnormal": lambda x: np.round(x * 10) * 5e-324,
        "adjacent": lambda x: 1.0 + np.round(x * 3) * 2.0**-52,
        "far away": lambda x: 1e9 + x * 1e-6,
        "wide and narrow": lambda x: np.where(np.arange(len(x)) % 2, x, x * 1e-200),
        "decimals": lambda x: np.round(x, 1),
    }  # fmt: skip

    @pytest.mark.parametrize("name", list(COLUMNS))
    def test_parts_widths_and_files_agree(self, name):
        values = self.COLUMNS[name](np.random.default_rng(3).normal(size=200))
        models = [*(optimize_density(values, **asked) for asked in ASKED), equal_frequency(values, 9)]
        models += [equal_width(values, n_parts) for n_parts in (1, 2, 7, 100)] + [equal_width(values, max_parts=30)]
        for model in models:
            parts = model.transform(values)
            counts = np.bincount(parts[parts >= 0], minlength=model.n_parts)
            assert counts.tolist() == model.partition.counts[:, 0].tolist()
            assert np.all(model.shares > 0.0)
            assert model.shares.sum() == pytest.approx(1.0)
            assert math.isfinite(model.log_likelihood(values))
            again = DensityModel.from_json(model.to_json())
            assert again.to_json() == model.to_json()
            assert again.log_likelihood(values) == model.log_likelihood(values)
            assert model.summary()

    def test_dates(self):
        days = np.datetime64("2024-01-01") + np.repeat(np.arange(100), [5] * 50 + [1] * 50).astype("m8[D]")
        model = optimize_density(days)
        assert model.partition.labels == ["(-inf, 2024-02-19]", "(2024-02-19, inf)"]
        assert model.density(np.array(["2024-01-05"], dtype="M8[D]"))[0] == pytest.approx(250.5 / 50 / 301)
        assert "density per day" in model.summary()
        assert model.domain.dtype == days.dtype
        wide = optimize_density(days, domain=(datetime.date(2023, 1, 1), datetime.date(2025, 1, 1)))
        assert wide.domain.tolist() == [datetime.date(2023, 1, 1), datetime.date(2025, 1, 1)]


class TestEqualParts:
    def test_width(self):
        cuts = equal_width_cuts(0.0, 10.0, 5, np.dtype(float))
        assert cuts.bounds.tolist() == [2.0, 4.0, 6.0, 8.0]
        assert cuts.shares == pytest.approx(np.array([0.2, 0.4, 0.6, 0.8]))
        assert equal_width_cuts(0.0, 10.0, 1, np.dtype(float)).bounds.tolist() == []
        huge = equal_width_cuts(-8e307, 8e307, 4, np.dtype(float)).bounds
        assert huge == pytest.approx(np.array([-4e307, 0.0, 4e307]))

    def test_width_of_whole_numbers(self):
        assert equal_width_cuts(2**60, 2**60 + 9, 3, np.dtype(np.int64)).bounds.tolist() == [2**60 + 3, 2**60 + 6]
        assert equal_width_cuts(-(2**63), 2**63 - 1, 2, np.dtype(np.int64)).bounds.tolist() == [-1]
        few = equal_width_cuts(0, 2, 100, np.dtype("M8[D]"))
        assert few.bounds.astype(int).tolist() == [0, 1]
        assert np.all(np.diff(few.shares) > 0)

    def test_width_rounds_down(self):
        for dtype in (np.float16, np.float32):
            values = np.random.default_rng(0).random(1000).astype(dtype)
            exact = np.arange(1, 7) * (float(values.max()) - float(values.min())) / 7 + float(values.min())
            cuts = equal_width_cuts(values.min(), values.max(), 7, np.dtype(dtype))
            assert cuts.bounds.dtype == dtype
            sides = values[:, None].astype(float) <= exact
            assert np.array_equal(values[:, None] <= cuts.bounds, sides)

    def test_frequency(self):
        values = np.arange(10.0)
        rows = np.ones(10, dtype=np.int64)
        assert equal_frequency_bounds(values, rows, 5, values.dtype).tolist() == [1.5, 3.5, 5.5, 7.5]
        assert equal_frequency_bounds(values, rows, 1, values.dtype).tolist() == []
        assert len(equal_frequency_bounds(values, rows, 99, values.dtype)) == 9
        heavy = np.array([1, 1, 50, 1, 1])
        assert equal_frequency_bounds(values[:5], heavy, 4, values.dtype).tolist() == [1.5, 2.5]
        assert equal_frequency_bounds(values[:1], heavy[:1], 4, values.dtype).tolist() == []
        assert equal_frequency_bounds(values[:2], heavy[:2], 3, values.dtype).tolist() == [0.5]

    def test_frequency_is_nearest(self):
        rng = np.random.default_rng(0)
        for _ in range(50):
            rows = rng.integers(1, 30, rng.integers(2, 20))
            n_parts = int(rng.integers(2, 6))
            values = np.arange(len(rows)) * 1.0
            edges, sums = {i + 0.5 for i in range(len(rows) - 1)}, np.cumsum(rows)
            wanted = [rows.sum() * j / n_parts for j in range(1, n_parts)]
            nearest = {min(sorted(edges), key=lambda b, w=w: (abs(sums[int(b)] - w), b)) for w in wanted}
            assert set(equal_frequency_bounds(values, rows, n_parts, values.dtype).tolist()) == nearest


class TestStopping:
    def test_time_limit(self):
        values = np.random.default_rng(0).exponential(size=1000)
        model = optimize_density(values, time_limit=0)
        assert (model.n_parts, model.stopped, model.n_folds) == (1, "time limit", 0)
        assert "stopped: time limit" in model.summary()
        assert DensityModel.from_json(model.to_json()).stopped == "time limit"

    def test_interrupted_folds_that_are_whole_decide(self):
        values = np.random.default_rng(0).exponential(size=1000)

        def interrupt(done):
            if done.step == "fold 4 of 10":
                raise KeyboardInterrupt

        model = optimize_density(values, progress=interrupt)
        assert model.stopped == "interrupted"
        assert model.n_folds == 3
        assert model.n_parts > 1

    def test_quadratic_time_is_avoided(self):
        positions = np.arange(2000) / 2000.0
        rows = rows_of(positions, np.ones(2000, dtype=np.int64), positions[-1])
        rule = CutRule(False, *KERNELS["epanechnikov"], 1.0)
        assert grown(rows, rule, Effort(1500, False), Clock()).n_cuts == 1500
        little = type("Little", (Effort,), {"work": lambda self, n_values: 10 * n_values})(1500, True)
        assert grown(rows, rule, little, Clock()).n_cuts < 300


class TestErrors:
    @pytest.mark.parametrize(
        ("data", "asked", "error", "says"),
        [
            ([], {}, ValueError, "no rows"),
            ([1.0], {}, ValueError, r"one distinct value, 1\.0.*domain="),
            ([2, 2, 2], {}, ValueError, "one distinct value"),
            ([np.nan, np.nan], {}, ValueError, "2 rows, all missing"),
            ([1.0, 2.0], {"weights": [0, 0]}, ValueError, "all weights are 0"),
            ([1.0, np.inf, -np.inf], {}, ValueError, "2 infinite values"),
            ([-1.5e308, 1.5e308], {}, ValueError, "spans more than the largest float"),
            (["a", "b"], {}, TypeError, "categorical"),
            ([True, False], {}, TypeError, "categorical"),
            (np.ones((4, 2)), {}, ValueError, "one column, got 2"),
            ([1.0, 2.0], {"score": "gini"}, ValueError, "score must be one of 'likelihood', 'kernel', got 'gini'"),
            ([1.0, 2.0], {"kernel": "gauss"}, ValueError, "kernel must be one of 'epanechnikov'"),
            ([1.0, 2.0], {"n_folds": 1}, ValueError, "n_folds must be at least 2"),
            ([1.0, 2.0], {"n_folds": 2.5}, TypeError, "n_folds must be a whole number"),
            ([1.0, 2.0], {"max_parts": 0}, ValueError, "max_parts must be at least 1"),
            ([1.0, 2.0], {"min_rows": -1}, ValueError, "min_rows"),
            ([1.0, 2.0], {"random_state": -1}, ValueError, "random_state"),
            ([1.0, 2.0], {"time_limit": -1}, ValueError, "time_limit"),
            ([1.0, 2.0], {"progress": 3}, TypeError, "progress"),
            ([1.0, 2.0], {"weights": [1]}, ValueError, "weights has 1 entries"),
            ([1.0, 2.0], {"domain": (1.5, 3)}, ValueError, "leaves out values of column 'x0', 1.0 to 2.0"),
            ([1.0, 2.0], {"domain": (3, 1)}, ValueError, "low < high"),
            ([1.0, 2.0], {"domain": (0, np.inf)}, ValueError, "domain must be finite"),
            ([1.0, 2.0], {"domain": 7}, TypeError, "domain must be two numbers"),
            ([1.0, 2.0], {"domain": ("0", "3")}, TypeError, "domain must be two numbers"),
            (np.array(["2020", "2021"], "M8[D]"), {"domain": ("2020", "2022")}, TypeError, "domain must be two"),
            ([1.0, 2.0], {"domain": (datetime.date(2020, 1, 1), datetime.date(2021, 1, 1))}, TypeError, "of the kind"),
            ([2**60, 2**60 + 5], {"domain": (0.5, 2.0**61)}, ValueError, "domain must be of int64"),
        ],
    )
    def test_they_say_what_is_wrong(self, data, asked, error, says):
        with pytest.raises(error, match=says):
            optimize_density(data, **asked)

    def test_of_baselines(self):
        for call in (lambda: equal_width([1.0, 2.0], 0), lambda: equal_frequency([1.0, 2.0], 0)):
            with pytest.raises(ValueError, match="n_parts must be at least 1"):
                call()
        with pytest.raises(TypeError, match="n_parts must be a whole number"):
            equal_frequency([1.0, 2.0], 2.5)
        with pytest.raises(ValueError, match="one distinct value"):
            equal_width([1.0, 1.0])

    def test_other_data(self):
        model = optimize_density([1.0, 2.0, 3.0])
        with pytest.raises(TypeError, match="categorical"):
            model.density(["a"])
        with pytest.raises(ValueError, match="alone, data has 2"):
            model.density(np.ones((3, 2)))
        dates = optimize_density(np.array(["2020-01-01", "2020-01-03"], dtype="M8[D]"))
        with pytest.raises(TypeError, match="the partition is of datetime64"):
            dates.density([1.0])


@pytest.fixture(scope="module")
def text():
    return optimize_density(np.random.default_rng(0).exponential(size=300)).to_json()


class TestFiles:
    def test_a_file(self, text, tmp_path):
        path = tmp_path / "density.json"
        model = DensityModel.from_json(text)
        assert model.to_json(path) == path.read_text(encoding="utf-8") == text
        assert DensityModel.from_json(pathlib.Path(path)).summary() == model.summary()

    @pytest.mark.parametrize("stopped", [None, "time limit", "interrupted"])
    def test_why_it_was_stopped_comes_back(self, text, stopped):
        changed = json.dumps({**json.loads(text), "stopped": stopped})
        assert DensityModel.from_json(changed).stopped == stopped

    def test_one_that_could_not_be_read_is_not_written(self, text, tmp_path):
        model = dataclasses.replace(DensityModel.from_json(text), stopped="bored")
        with pytest.raises(ModelFileError, match="stopped"):
            model.to_json(tmp_path / "density.json")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            ({"format": "gridmodl model"}, "no gridmodl density"),
            ({"version": 99}, "newer gridmodl"),
            ({"version": True}, "version"),
            ({"surplus": 1}, "unknown field"),
            ({"method": "magic"}, "method"),
            ({"kernel": "box"}, "kernel"),
            ({"method": "kernel"}, "kernel"),
            ({"n_rows": 0}, "n_rows"),
            ({"n_rows": 299}, "counts"),
            ({"n_missing": -1}, "n_missing"),
            ({"elapsed": -1.0}, "elapsed"),
            ({"elapsed": {"float": "inf"}}, "elapsed: must be finite"),
            ({"stopped": 3}, "stopped"),
            ({"stopped": "bored"}, "stopped: must be null or one of time limit, interrupted, got 'bored'"),
            ({"stopped": ""}, "stopped"),
            ({"frame": "magic"}, "frame"),
            ({"n_folds": 0}, "n_folds"),
            ({"type": "object"}, "type"),
            ({"type": "int32"}, "type"),
            ({"type": "float32"}, "bounds"),
            ({"domain": {"dtype": "float64", "values": [1.0, 0.0]}}, "domain"),
            ({"domain": {"dtype": "float64", "values": [0.0]}}, "domain"),
            ({"domain": {"dtype": "float64", "values": [0.0, {"float": "nan"}]}}, "domain"),
            ({"domain": {"dtype": "float64", "values": [0.0, 0.1]}}, "bounds"),
            ({"domain": {"dtype": "float64", "values": [0.0, 1e6]}}, "shares"),
            ({"shares": {"dtype": "float64", "values": [1.0]}}, "shares"),
            ({"path": {"dtype": "float64", "values": []}}, "path"),
            ({"held_out": {"dtype": "float64", "values": [{"float": "nan"}]}}, "held_out"),
            ({"held_out": {"dtype": "float64", "values": [0.0] * 5000}}, "held_out"),
            ({"partition": {}}, "partition"),
        ],
    )
    def test_hostile_ones_are_refused(self, text, change, says):
        with pytest.raises(ModelFileError, match=says):
            DensityModel.from_json(json.dumps({**json.loads(text), **change}))

    def test_hostile_partitions_are_refused(self, text):
        record = json.loads(text)
        for change, says in (
            ({"bounds": {"dtype": "float64", "values": record["partition"]["bounds"]["values"][::-1]}}, "bounds"),
            ({"missing": 0}, "without missing"),
            ({"is_utc": True}, "is_utc"),
            ({"unlabelled": [1]}, "unlabelled"),
            ({"counts": [[c, 0] for (c,) in record["partition"]["counts"]]}, "counts"),
        ):
            changed = {**record, "partition": {**record["partition"], **change}}
            with pytest.raises(ModelFileError, match=says):
                DensityModel.from_json(json.dumps(changed))
        record["shares"]["values"][0] *= 1.5
        with pytest.raises(ModelFileError, match="shares"):
            DensityModel.from_json(json.dumps(record))
