"""The average over all partitions of a column, against trying all of them."""

from __future__ import annotations

import itertools
import math
import pickle
from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
import pytest
from averaging.oracle import cell_cost, log_choose, try_all
from scipy.stats import beta

import gridmodl
from gridmodl import ColumnWarning, average, average_each, get_criterion, list_criteria, optimize
from gridmodl.averaging.summing import averaged_of
from gridmodl.search.average.candidates import some_places
from gridmodl.terms import predictive

of_rows = partial(average, prior="rows")  # the prior of modl itself, which the oracle has too


def draw(seed, n_values=None, n_classes=None):
    """Rows by value and class; every value and class has one."""
    rng = np.random.default_rng(seed)
    n_values, n_classes = n_values or int(rng.integers(1, 9)), n_classes or int(rng.integers(1, 4))
    counts = rng.integers(0, 4, (n_values, n_classes))
    counts[np.arange(n_values), rng.integers(0, n_classes, n_values)] += 1
    return counts[:, counts.sum(axis=0) > 0]


def rows_of(counts, values=None):
    """Values and classes of the rows."""
    values = np.arange(len(counts), dtype=float) if values is None else np.asarray(values)
    at, codes = np.nonzero(counts)
    times = counts[at, codes]
    return np.repeat(values[at], times), np.repeat(codes, times)


def loss_of(counts, left_out):
    return -np.nansum(counts * np.log(left_out)) / counts.sum()


def assert_same(found, expected, counts):
    assert found.log_evidence == pytest.approx(expected.log_evidence, abs=1e-11)
    n = min(len(found.p_parts), len(expected.p_parts))
    assert found.p_parts[:n] == pytest.approx(expected.p_parts[:n], abs=1e-12)
    assert expected.p_parts[n:].sum() <= 1e-10
    assert found.p_parts.sum() == pytest.approx(1.0)
    assert found.shares[: len(counts)] == pytest.approx(expected.shares, abs=1e-12)


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("name", ["modl", "aic", "bic"])
def test_it_is_the_sum_over_all_partitions(name, seed):
    counts = draw(seed)
    x, y = rows_of(counts)
    max_parts = None if seed % 3 else 2
    found = of_rows(x, y, criterion=name, max_parts=max_parts)
    expected = try_all(counts, name, max_parts=max_parts or 99)
    assert_same(found, expected, counts)
    assert found.exact
    assert found.neglected <= 1e-10
    assert found.p_bounds == pytest.approx(expected.p_cuts, abs=1e-12)
    assert found.bounds.tolist() == [i + 0.5 for i in range(len(counts) - 1)]
    assert found.predict_proba(np.arange(len(counts))) == pytest.approx(expected.shares, abs=1e-12)
    if name == "modl":
        assert found.loo_loss == pytest.approx(loss_of(counts, expected.left_out), abs=1e-11)
    else:
        assert (found.loo_loss, found.p_informative) == (None, None)


@pytest.mark.parametrize("seed", range(6))
def test_leaving_a_row_out_is_what_its_loss_says(seed):
    """P(class | all other rows) is the ratio of two evidences, whose priors both see all rows."""
    counts = draw(seed, n_values=5, n_classes=2)
    n_rows = int(counts.sum())
    whole = try_all(counts)
    for value, c in zip(*np.nonzero(counts), strict=True):
        rest = counts.copy()
        rest[value, c] -= 1
        log_ratio = whole.log_evidence - try_all(rest, n_rows=n_rows).log_evidence
        assert whole.left_out[value, c] == pytest.approx(math.exp(log_ratio), rel=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_the_prior_over_values_sees_distinct_values(seed):
    counts = draw(seed)
    x, y = rows_of(counts)
    found = of_rows(x, y, prior="values")
    assert_same(found, try_all(counts, n_places=len(counts)), counts)
    plain = of_rows(x, y, criterion="bic", prior="values")
    assert plain.log_evidence == of_rows(x, y, criterion="bic").log_evidence  # it has no price of numbers of parts


@pytest.mark.parametrize("seed", range(8))
def test_missing_values_and_special_codes(seed):
    counts = draw(seed, n_values=6, n_classes=2)
    values = [np.nan, 1.0, 2.0, 4.0, -9.0, -8.0]
    x, y = rows_of(counts, values)
    found = of_rows({"x": x}, y, special={"x": [-9, -8, -7]}, max_parts=None if seed % 2 else 2)
    expected = try_all(counts[:4], apart=counts[4:].tolist(), max_parts=99 if seed % 2 else 4)  # codes are parts there
    assert_same(found, expected, counts[:4])
    assert found.p_missing_apart == pytest.approx(expected.p_cuts[0], abs=1e-12)
    assert found.p_bounds == pytest.approx(expected.p_cuts[1:], abs=1e-12)
    assert found.bounds.tolist() == [1.5, 3.0]
    codes = (counts[4:] + 1) / (counts[4:].sum(axis=1, keepdims=True) + 2)
    overall = counts.sum(axis=0) / counts.sum()
    answers = found.predict_proba([np.nan, -9.0, -8.0, -7.0, 0.0, 1.5, 3.0, 9.0])
    on_line = expected.shares[[1, 1, 2, 3]]
    on_line[1:3] = (expected.shares[1:3] + expected.shares[2:4]) / 2
    assert answers == pytest.approx(np.vstack([expected.shares[:1], codes, overall, on_line]), abs=1e-12)
    left = np.where(counts[4:] > 0, counts[4:] / (counts[4:].sum(axis=1, keepdims=True) + 1), np.nan)
    assert found.loo_loss == pytest.approx(loss_of(counts, np.vstack([expected.left_out, left])), abs=1e-11)
    best = optimize({"x": x}, y, special={"x": [-9, -8, -7]}, max_parts=found.max_parts).cost
    assert found.best.cost == pytest.approx(best) if seed % 2 else found.best.cost >= best - 1e-9


@pytest.mark.parametrize("seed", range(16))
def test_unlabelled_rows_are_averaged_over(seed):
    """Whether each value is a candidate or a zone of many values stands for them: m is small for odd seeds."""
    rng = np.random.default_rng(seed)
    n_values, n_classes = int(rng.integers(4, 13)), int(rng.integers(1, 4))
    counts = np.zeros((n_values, n_classes), dtype=int)
    labelled = np.sort(rng.permutation(n_values)[: int(rng.integers(1, 4))])
    counts[labelled] = rng.integers(0, 3, (len(labelled), n_classes)) + 1
    others = np.where(counts.any(axis=1), rng.integers(0, 3, n_values), rng.integers(1, 3, n_values))
    x, y = rows_of(np.column_stack([counts, others]))
    y = np.where(y == n_classes, -1, y)
    found = of_rows(x, y, unlabelled=-1, m=len(labelled) + 2 if seed % 2 else 512)
    expected = try_all(counts, n_rows=len(x))
    assert found.log_evidence == pytest.approx(expected.log_evidence, abs=1e-10)
    n = min(len(found.p_parts), n_values)
    assert found.p_parts[:n] == pytest.approx(expected.p_parts[:n], abs=1e-10)
    assert found.predict_proba(found.knots) == pytest.approx(expected.shares[found.knots.astype(int)], abs=1e-10)
    assert set(labelled) <= set(found.knots.astype(int)) | {0, n_values - 1}
    assert found.loo_loss == pytest.approx(loss_of(counts, expected.left_out), abs=1e-10)
    if not seed % 2:
        assert found.p_bounds == pytest.approx(expected.p_cuts, abs=1e-10)
        assert found.segments.unlabelled.tolist() == others.tolist()


def test_many_unlabelled_rows_leave_the_evidence_exact():
    """The number of zones never changes the sum over all partitions, however many intervals are likely."""
    rng = np.random.default_rng(0)
    x, y = rng.random(3_000), np.full(3_000, -1)
    y[rng.permutation(3_000)[:6]] = [0, 1, 0, 1, 1, 0]
    coarse, fine = (of_rows(x, y, unlabelled=-1, m=m) for m in (16, 700))
    assert coarse.log_evidence == pytest.approx(fine.log_evidence, abs=1e-10)
    n = min(len(coarse.p_parts), len(fine.p_parts))
    assert coarse.p_parts[:n] == pytest.approx(fine.p_parts[:n], abs=1e-12)
    assert (coarse.p_parts * np.arange(1, len(coarse.p_parts) + 1)).sum() > 10
    assert len(coarse.bounds) < len(fine.bounds) < 700


def test_thousands_of_intervals_have_their_closed_form():
    """Two labelled values: sums over the bounds below, between and above them, each with its binomial coefficient."""
    n_rows, first, last = 20_000, 4_000, 15_000
    y = np.full(n_rows, -1)
    y[[first, last]] = 0, 1
    found = of_rows(np.arange(float(n_rows)), y, unlabelled=-1)
    assert len(found.p_parts) > 500
    numbers = np.arange(len(found.p_parts))  # of bounds
    outer, places = n_rows - 1 - (last - first), n_rows - 1
    log_joint = np.array([log_choose(outer, k) for k in numbers])
    log_all = np.array([log_choose(places, k) for k in numbers])
    log_cut = log_all + np.log(-np.expm1(np.minimum(log_joint - log_all, -1e-12)))
    log_cut[0] = -np.inf
    together, apart = -cell_cost("modl", [1, 1], n_rows), -2 * cell_cost("modl", [1, 0], n_rows)
    log_prior = -math.log(n_rows) - np.array([log_choose(n_rows + k, k) for k in numbers])
    logs = log_prior + np.logaddexp(log_joint + together, log_cut + apart)
    log_evidence = np.logaddexp.reduce(logs)
    assert found.log_evidence == pytest.approx(log_evidence, abs=1e-9)
    assert found.p_parts == pytest.approx(np.exp(logs - log_evidence), rel=1e-8, abs=1e-15)
    p_cut = np.exp(np.logaddexp.reduce(log_prior + log_cut + apart) - log_evidence)
    shares = found.predict_proba([float(first), float(last)])
    assert shares[:, 0] == pytest.approx([1 / 2 + p_cut / 6, 1 / 2 - p_cut / 6], abs=1e-9)
    drawn = [one.partitions["x0"].part_of([float(first), float(last)]) for one in found.sample(400)]
    assert np.mean([low != high for low, high in drawn]) == pytest.approx(p_cut, abs=0.08)


def test_two_intervals_are_the_posterior_of_a_bound():
    x, y = np.arange(9.0), [0, 0, -1, -1, 1, 1, 0, 1, 1]
    posterior = gridmodl.bound_posterior(x, y, unlabelled=-1)
    found = of_rows(x, y, unlabelled=-1, max_parts=2)
    assert found.p_bounds / found.p_parts[1] == pytest.approx(posterior.posterior, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_weights_are_repeated_rows(seed):
    counts = draw(seed)
    x, y = rows_of(counts)
    at, codes = np.nonzero(counts)
    weighted = of_rows(at.astype(float), codes, weights=counts[at, codes])
    plain = of_rows(x, y)
    assert weighted.log_evidence == plain.log_evidence
    assert np.array_equal(weighted.shares, plain.shares)
    assert weighted.loo_loss == plain.loo_loss


def test_heavy_weights_and_many_classes():
    x, y = np.arange(20.0), np.arange(20) % 10 // 5
    found = of_rows(x, y, weights=np.full(20, 2**40))
    assert np.isfinite(found.log_evidence)
    assert found.predict_proba(x)[np.arange(20), y] == pytest.approx(1.0, abs=1e-9)
    assert found.band([0.0])[0, 0, 0] > 0.999
    many = of_rows(np.arange(300.0), np.arange(300) // 3, target_kind="classes")
    assert many.predict_proba(many.knots).sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize("data", [[5.0], [5.0] * 4, [np.nan] * 4, [np.nan, 5.0]])
def test_small_columns(data):
    y = [0, 1, 1, 0][: len(data)]
    found = of_rows(data, y)
    n = np.bincount(y, minlength=max(y) + 1)
    assert found.p_parts.sum() == pytest.approx(1.0)
    assert found.predict_proba(data).sum(axis=1) == pytest.approx(1.0)
    if len(data) != 2:
        assert found.predict_proba(data[:1])[0] == pytest.approx((n + 1) / (n.sum() + len(n)))
    neutral = found.predict_proba([7.0 if np.all(np.isnan(data)) else np.nan])[0]
    if len(data) != 2:
        assert neutral == pytest.approx(n / n.sum())
        assert np.isnan(found.band([7.0 if np.all(np.isnan(data)) else np.nan])).all()
    assert found.sample(3)[0].n_rows == len(data)
    assert found.partition().n_rows == found.best.n_rows == len(data)
    assert found.predict_proba([]).shape == (0, len(n))


def test_a_column_of_special_codes_alone():
    found = of_rows({"x": [-1, -1, -2, -2]}, [0, 0, 1, 1], special={"x": [-1, -2]})
    assert found.p_parts.tolist() == [0.0, 1.0]
    assert found.predict_proba([-1, -2, 3]).tolist() == [[0.75, 0.25], [0.25, 0.75], [0.5, 0.5]]
    cost = optimize({"x": [-1, -1, -2, -2]}, [0, 0, 1, 1], special={"x": [-1, -2]}).cost
    assert found.log_evidence == pytest.approx(-cost)
    assert found.best.cost == found.sample(2)[1].cost == found.partition().cost == pytest.approx(cost)
    assert found.band([-1])[0, 0] == pytest.approx(beta.ppf([0.05, 0.95], 3, 1))


def test_special_codes_may_share_a_part():
    x, y = [-9, -8, -7, 1, 2, 3, 1, 2, -9], [0, 1, 1, 0, 1, 1, 0, 1, 1]
    found = of_rows({"x": x}, y, special={"x": [[-9, -8], -7]})
    expected = try_all([[2, 0], [0, 2], [0, 1]], apart=[[1, 2], [0, 1]])
    assert found.log_evidence == pytest.approx(expected.log_evidence)
    assert found.predict_proba([-9, -8])[:, 1] == pytest.approx([0.6, 0.6])
    assert found.best.cost == pytest.approx(optimize({"x": x}, y, special={"x": [[-9, -8], -7]}).cost)
    again = gridmodl.Average.from_json(found.to_json())
    assert np.array_equal(again.predict_proba(x), found.predict_proba(x))


def test_values_beyond_and_between():
    y = [0, 0, 1, 1]
    found = of_rows([-np.inf, 0.0, 1.0, np.inf], y)
    shares = found.predict_proba([-np.inf, -5.0, 0.0, 0.25, 1.0, 7.0, np.inf])
    assert shares[1].tolist() == shares[2].tolist()  # a bound is at the lower of two values, if one is infinite
    assert shares[5].tolist() == shares[6].tolist()
    assert shares[3] == pytest.approx(0.75 * shares[2] + 0.25 * shares[4])
    wide = of_rows([-1.7e308, 1.7e308], [0, 1])
    assert wide.predict_proba([0.0])[0] == pytest.approx([0.5, 0.5])
    large = of_rows([2**62, 2**62 + 4, -(2**62)], [0, 1, 0])
    at = large.predict_proba(np.array([2**62, 2**62 + 1, 2**62 + 4]))
    assert at[1] == pytest.approx(0.75 * at[0] + 0.25 * at[2])
    days = np.datetime64("2024-01-01") + np.array([0, 10, 20])
    found = of_rows(days, [0, 0, 1])
    at = found.predict_proba(np.array(["2024-01-11", "2024-01-16", "2024-01-21", "NaT"], dtype="datetime64[D]"))
    assert at[1] == pytest.approx((at[0] + at[2]) / 2)
    assert at[3] == pytest.approx([2 / 3, 1 / 3])
    assert found.bounds.dtype == "datetime64[D]"


@pytest.mark.parametrize("name", ["rows", "few rows", "unlabelled"])
def test_more_values_than_candidates(name):
    rng = np.random.default_rng(1)
    n = 3_000
    x = rng.normal(size=n)
    y = (rng.random(n) < 1 / (1 + np.exp(-3 * x))).astype(int)
    options = {"unlabelled": -1} if name == "unlabelled" else {}
    if options:
        y = np.where(rng.random(n) < 0.5, y, -1)
    m = 64 if name == "few rows" else 256
    some, all_ = of_rows(x, y, m=m, **options), of_rows(x, y, m=3_000, **options)
    assert all_.exact
    assert not some.exact
    assert len(some.bounds) < m
    assert some.log_evidence == pytest.approx(all_.log_evidence, abs=2.0 if m == 64 else 1.0)
    assert some.loo_loss == pytest.approx(all_.loo_loss, abs=2e-3)
    grid = np.linspace(-2, 2, 50)
    assert some.predict_proba(grid) == pytest.approx(all_.predict_proba(grid), abs=0.05)


@pytest.mark.parametrize("seed", range(10))
def test_each_place_is_in_one_zone(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 400))
    labelled = rng.integers(0, 2 if seed % 2 else 3, n) if seed % 3 else np.ones(n, dtype=int)
    labelled[rng.integers(0, n)] = 1
    optimum = np.unique(rng.integers(0, n, 5) * (np.arange(5) > 0))
    found = some_places(labelled, optimum, 20, has_missing=bool(seed % 2))
    assert found.runs.n_places == n
    assert sorted(set(found.runs.zone)) == list(range(1, found.n_segments + 1))
    ends = np.append(found.starts[1:], n)
    assert np.all((found.starts <= found.knots) & (found.knots < ends))
    assert found.n_segments <= max(20, np.count_nonzero(labelled) + 3)


def test_layers_are_certified():
    """Fewer layers than parts are possible, and what is left out is known to be little."""
    rng = np.random.default_rng(0)
    x = rng.random(400)
    found = of_rows(x, rng.integers(0, 2, 400))
    assert len(found.p_parts) < 200
    assert 0.0 < found.neglected <= 1e-10
    small = of_rows(x[:12], rng.integers(0, 2, 12))
    assert (small.neglected, len(small.p_parts)) == (0.0, 12)


def test_noise_is_not_informative_and_steps_are():
    rng = np.random.default_rng(0)
    x = rng.random(1_000)
    noise = of_rows(x, rng.integers(0, 2, 1_000))
    assert noise.p_informative < 0.05
    p = noise.p_parts
    odds = (1.0 - p[0]) / ((1_000 - 1) * p[0])
    assert noise.p_informative == pytest.approx(odds / (1.0 + odds), rel=1e-6)
    assert of_rows(x, x > 0.5).p_informative > 0.999
    assert of_rows([1.0], ["a"]).p_informative == 0.0


def test_bands_are_quantiles_of_the_mixture():
    counts = draw(3, n_values=4, n_classes=3)
    x, y = rows_of(counts)
    found, expected = of_rows(x, y), try_all(counts)
    bands = found.band([1.0, 1.25], coverage=0.8)
    for item, share in enumerate((0.0, 0.25)):
        for c in range(3):
            for side, tail in enumerate((0.1, 0.9)):
                below = 0.0
                for starts, weight in expected.partitions.items():
                    for value, mass in ((1, 1.0 - share), (2, share)):
                        lo = max(start for start in starts if start <= value)
                        hi = min([start for start in starts if start > value], default=4)
                        cell = counts[lo:hi].sum(axis=0)
                        shape = cell[c] + 1, cell.sum() - cell[c] + 2
                        below += weight * mass * beta.cdf(bands[item, c, side], *shape)
                assert below == pytest.approx(tail, abs=3e-6)
    assert np.all(bands[..., 0] < bands[..., 1])


@pytest.mark.parametrize("unlabelled", [False, True])
def test_samples_have_the_probabilities_of_partitions(unlabelled):
    counts = draw(5, n_values=5, n_classes=2)
    x, y = rows_of(counts)
    options = {}
    if unlabelled:
        x, y, options = np.append(x, [1.5, 1.7]), np.append(y, [-1, -1]), {"unlabelled": -1}
        counts = np.insert(counts, 2, 0, axis=0)
        counts = np.insert(counts, 2, 0, axis=0)
    found, expected = of_rows(x, y, **options), try_all(counts, n_rows=len(x))
    n = 20_000
    models = found.sample(n, random_state=3)
    bounds = found.bounds.tolist()
    drawn = Counter((0, *(bounds.index(b) + 1 for b in model.partitions["x0"].bounds.tolist())) for model in models)
    for starts, p in expected.partitions.items():
        assert drawn[starts] / n == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / n) + 1e-4)
    again = found.sample(50, random_state=3)
    assert [m.partitions["x0"].labels for m in again] == [m.partitions["x0"].labels for m in found.sample(50, 3)]
    other = [m.partitions["x0"].labels for m in found.sample(50, random_state=4)]
    assert [m.partitions["x0"].labels for m in again] != other
    one = models[0]
    assert one.cost == pytest.approx(gridmodl.price(x, y, {"x0": one.partitions["x0"].bounds}, **options))
    assert one.search == "sample"


def loss_against(average_, model, x):
    p = average_.predict_proba(x)
    partition = model.partitions["x0"]
    counts = partition.counts[partition.part_of(x)]
    q = (counts + 1.0) / (counts.sum(axis=1, keepdims=True) + counts.shape[1])
    return float((p * np.log(p / q)).sum(axis=1).mean())


@pytest.mark.parametrize("loss", [0.006, 0.02])
def test_the_fewest_parts_near_the_curve(loss):
    rng = np.random.default_rng(2)
    x = rng.permutation(9).astype(float).repeat(6)
    y = (rng.random(54) < x / 9).astype(int)
    found = of_rows(x, y)
    model = found.partition(loss)
    assert loss_against(found, model, x) <= loss
    n_bounds = len(model.partitions["x0"].bounds)
    for bounds in itertools.combinations(found.bounds.tolist(), max(0, n_bounds - 1)):
        fewer = gridmodl.Model.from_partitions(x, y, {"x0": list(bounds)})
        assert n_bounds == 0 or loss_against(found, fewer, x) > loss
    assert found.partition(10.0).partitions["x0"].n_parts == 1
    nearest = found.partition(0.0)
    assert loss_against(found, nearest, x) <= loss_against(found, model, x)


def test_the_best_partition_is_the_optimum():
    rng = np.random.default_rng(0)
    x, y = rng.random(200), rng.integers(0, 2, 200)
    y[x > 0.6] = 1
    found, model = of_rows(x, y), optimize(x, y)
    assert found.best.cost == pytest.approx(model.cost)
    assert found.best.proven
    assert -found.log_evidence <= model.cost
    few = of_rows(x, y, max_parts=2)
    assert few.best.partitions["x0"].n_parts == 2
    assert all(model.partitions["x0"].n_parts <= 2 for model in few.sample(20))


def test_many_columns(capsys):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    frame = pd.DataFrame({"noise": rng.random(200), "good": y + rng.random(200), "text": ["a", "b"] * 100})
    with pytest.warns(ColumnWarning, match=r"column 'text' has no average: it is categorical; averages"):
        found = average_each(frame, y)
    assert list(found) == ["good", "noise"]
    assert list(found.errors) == ["text"]
    assert "no average of text: it is categorical; averages" in " ".join(found.summary().split())
    with pytest.warns(ColumnWarning):
        two = average_each(frame.assign(word=frame["text"]), y)
    assert "no average of text, word: each is categorical; averages" in " ".join(two.summary().split())
    assert max(map(len, two.summary().splitlines())) <= 80
    assert two._repr_html_().count("is categorical") == 1
    with pytest.raises(KeyError, match="column 'text' has no average: it is categorical"):
        found["text"]
    with pytest.raises(KeyError, match="did you mean 'good'"):
        found["goood"]
    table = found.table()
    assert table["column"].tolist() == ["good", "noise"]
    assert "no average" in found.summary()
    assert repr(found) == "Averages(2 columns, 1 without)"
    with pytest.raises(TypeError, match="categorical"):
        average_each(frame, y, on_error="raise")
    one = average(frame[["good"]], y)
    assert one.prior == "values"
    for threads in (1, 3):
        again = average_each(frame[["good", "noise"]], y, n_jobs=threads)
        assert again["good"].log_evidence == one.log_evidence
    assert np.array_equal(one.predict_proba(frame), one.predict_proba(frame["good"]))


def test_a_time_limit_leaves_one_part():
    rng = np.random.default_rng(0)
    x, y = rng.random(3_000), rng.integers(0, 3, 3_000)
    x[::10] = np.nan
    found = of_rows(x, y, time_limit=0.0)
    assert found.stopped == "time limit"
    assert found.p_parts.tolist() == [1.0]
    assert (len(found.bounds), found.p_missing_apart) == (0, 0.0)
    n = np.bincount(y)
    assert found.predict_proba([0.5, np.nan]) == pytest.approx(np.tile((n + 1) / (3_003), (2, 1)))
    each = average_each({"a": x, "b": x}, y, time_limit=0.0)
    assert [one.stopped for one in each.values()] == ["time limit"] * 2
    seen = []
    of_rows(x, y, progress=seen.append)
    assert {record.step for record in seen} <= {"", "average", "merge", "post-optimization", "compiling"}


def test_a_pickle_is_the_same():
    found = of_rows(np.arange(30.0), np.arange(30) % 7 // 4)
    again = pickle.loads(pickle.dumps(found))  # noqa: S301  our own
    assert np.array_equal(found.predict_proba([3.3]), again.predict_proba([3.3]))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: of_rows([1, 2], None), ValueError, "average needs a class target"),
        (lambda: average_each({"a": [1, 2]}, None), ValueError, "average_each needs a class target"),
        (lambda: of_rows({"a": [1, 2], "b": [1, 2]}, [0, 1]), ValueError, "takes one column, and data has 2"),
        (lambda: of_rows(["a", "b"], [0, 1]), TypeError, "is categorical; averages are over intervals"),
        (lambda: of_rows([1, 2], [0, 1], criterion="gini"), ValueError, "'gini' cannot be averaged.*aic, bic.*modl"),
        (lambda: of_rows([1, 2], [0, 1], criterion="g2"), ValueError, "cannot be averaged"),
        (lambda: of_rows([1, 2], [0, -1], criterion="bic", unlabelled=-1), ValueError, "can: modl"),
        (lambda: of_rows([1, 2], [0, 1], monotone="increasing"), ValueError, "compared with the one before it"),
        (lambda: average_each([1, 2], [0, 1], monotone="auto"), ValueError, "monotone='auto' is refused"),
        (lambda: of_rows([1, 2], [0, 1], prior="row"), ValueError, "prior must be one of 'rows', 'values'"),
        (lambda: of_rows([1, 2], [0, 1], m=1), ValueError, "from 2 to"),
        (lambda: of_rows([1, 2], [0, 1], m=2.5), TypeError, "whole number"),
        (lambda: of_rows([1, 2], [0.5, 1.7]), ValueError, "needs a target of classes"),
        (lambda: of_rows([1, 2], [0, 1], max_parts=0), ValueError, "max_parts"),
        (lambda: of_rows([1, 2], [0, 1]).band([1], coverage=1.0), ValueError, "between 0 and 1"),
        (lambda: of_rows([1, 2], [0, 1]).partition(-1.0), ValueError, "loss must be"),
        (lambda: of_rows([1, 2], [0, 1]).sample(-1), ValueError, "n must be from 0"),
        (lambda: of_rows([1, 2], [0, 1]).sample(2.0), TypeError, "whole number"),
        (lambda: of_rows([1, 2], [0, 1]).predict_proba({"a": [1], "b": [2]}), ValueError, "none of that name"),
        (lambda: of_rows([1, 2], [0, 1]).predict_proba(["a"]), TypeError, "holds no numbers|str|not"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("name", list_criteria("classes"))
def test_every_criterion_is_averaged_or_refused(name):
    """Over the registry: what declares a scale and predictions is averaged, and its evidence is above its optimum."""
    x, y = np.arange(12.0), [0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1, 0]
    criterion = get_criterion(name)
    if criterion.scale is None or type(criterion).predictive is predictive:
        with pytest.raises(ValueError, match="cannot be averaged"):
            of_rows(x, y, criterion=name)
        return
    _, averaged = averaged_of(name, "classes")
    found = of_rows(x, y, criterion=name)
    assert found.log_evidence >= -averaged.scale * optimize(x, y, criterion=name).cost - 1e-9
    assert found.p_parts.sum() == pytest.approx(1.0)
    assert found.predict_proba(x).sum(axis=1) == pytest.approx(1.0)
    assert np.all((found.p_bounds >= 0.0) & (found.p_bounds <= 1.0))
    p = found.predict_proba(x)
    low, high = found.band(x).transpose(2, 0, 1)
    assert np.all((low < p) & (p < high))
    assert (found.loo_loss is not None) == averaged.predicts_exactly
    assert (found.p_informative is not None) == averaged.uniform_parts


@pytest.mark.parametrize("event", [None, "b"])
def test_event_of_three_classes(event):
    values, classes = np.arange(12.0), np.array(list("aaaabbbbcccc"))
    found = average(values, classes, event=event)
    assert found.event == found.best.event == event
    assert average_each({"x": values}, classes, event=event)["x"].event == event
    assert np.array_equal(found.shares, average(values, classes).shares)
    with pytest.raises(ValueError, match="event='d' is no class of the target"):
        average(values, classes, event="d")


def test_plot_draws_the_curve_of_a_class():
    pytest.importorskip("matplotlib")
    found = average(np.arange(20.0), ["a"] * 8 + ["b"] * 12)
    assert found.plot("a").curve.label == "a"
    assert found.plot().curve.label == found.event
