"""Densities of one column by additive criteria: `optimize(column)` without a target."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from oracles.naive_histogram import end_of, step_of_values

import gridmodl
from gridmodl import Model, ModelFileError, cost_by_parts, get_criterion, optimize, price, verify
from gridmodl.criteria.density import ModlDensity
from gridmodl.data.domain import find_masses
from gridmodl.fit.density import PENALTIES
from gridmodl.jit.tiers import compile_as
from gridmodl.testing import check_criterion

PENALIZED = get_criterion("penalized-likelihood", penalty=3.0)
CRITERIA = {"modl": "modl", "bayesian-blocks": "bayesian-blocks", "penalized-likelihood": PENALIZED}


def log_binomial(n, k):
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def slow_price(name, parts, n_values):
    """The formulas as they are written: `parts` are rows and shares of the domain's width, None for a mass."""
    n, k = sum(rows for rows, _ in parts), len(parts)
    surprise = -sum(rows * math.log(rows / n / (1.0 if share is None else share)) for rows, share in parts)
    if name == "bayesian-blocks":
        return surprise + k * (4.0 - math.log(73.53 * 0.05 * n**-0.478))
    if name == "penalized-likelihood":
        return surprise + 3.0 * k
    code = math.log(n_values) + log_binomial(n_values + k - 1, k - 1) + log_binomial(n + k - 1, k - 1)
    code += math.lgamma(n + 1) - sum(math.lgamma(rows + 1) for rows, _ in parts)
    return code + sum(rows * math.log(share) for rows, share in parts if share is not None)


def cut(values, cuts):
    """Rows and shares of the parts that begin at the distinct values number `cuts`, bounds midway between values."""
    distinct, rows = np.unique(values, return_counts=True)
    step = step_of_values(values)
    bounds = (end_of((distinct[i - 1] + distinct[i]) / 2.0, distinct[0], step) for i in cuts)
    edges = [distinct[0] - step / 2.0, *bounds, distinct[-1] + step / 2.0]
    sums = np.add.reduceat(rows, [0, *cuts]).tolist()
    return list(zip(sums, (np.diff(edges) / (edges[-1] - edges[0])).tolist(), strict=True))


def lowest_of_all(name, values):
    n = len(np.unique(values))
    every = (cuts for k in range(n) for cuts in itertools.combinations(range(1, n), k))
    return min((slow_price(name, cut(values, cuts), n), cuts) for cuts in every)


def tiny(seed):
    rng = np.random.default_rng(seed)
    values = np.round(np.exp(rng.normal(0.0, 1.5, 8)), 1 + seed % 3)
    return np.repeat(np.append(values, values[0] + 3.0), rng.integers(1, 5, 9))


@pytest.mark.parametrize("compiled", ["never", "always"])
@pytest.mark.parametrize("name", CRITERIA)
def test_exact_is_the_best_of_all_partitions(name, compiled):
    for seed in range(6):
        values = tiny(seed)
        lowest, cuts = lowest_of_all(name, values)
        with compile_as(compiled):
            model = optimize(values, criterion=CRITERIA[name], search="exact")
            merged = optimize(values, criterion=CRITERIA[name], search="merge")
        assert model.problem == "density"
        assert model.proven
        assert model.cost == pytest.approx(lowest, rel=1e-9, abs=1e-9)
        assert lowest - 1e-9 <= merged.cost <= model.null_cost + 1e-9
        assert model.null_cost == pytest.approx(slow_price(name, cut(values, ()), len(np.unique(values))), abs=1e-9)
        again = price(values, None, {"x0": model.partitions["x0"].bounds}, criterion=CRITERIA[name])
        assert again == pytest.approx(model.cost, rel=1e-9)
        assert model.partitions["x0"].n_parts == len(cuts) + 1


@pytest.mark.parametrize("criterion", ["bayesian-blocks", "penalized-likelihood", ModlDensity])
def test_check_criterion_accepts_it(criterion):
    check_criterion(criterion, n_samples=8, compiled=False)


def test_check_criterion_finds_a_price_that_is_no_sum_over_parts():
    class Rounded(ModlDensity):
        name = "rounded"

        @staticmethod
        def cell(p, cell):
            return math.log(cell.counts[0]) if cell.rows < 3 else math.nan

    with pytest.raises(AssertionError, match="'cell' of criterion 'rounded' returned nan"):
        check_criterion(Rounded, n_samples=4, compiled=False)


def scargle(values, prior):
    """The recursion of Scargle et al. 2013, as their appendix has it: the bounds of the optimum."""
    x = np.unique(values)
    edges = np.concatenate([x[:1], (x[1:] + x[:-1]) / 2.0, x[-1:]])
    best, last = np.zeros(len(x)), np.zeros(len(x), dtype=int)
    for r in range(len(x)):
        widths, rows = edges[r + 1] - edges[: r + 1], np.arange(r + 1, 0, -1)
        fit = rows * np.log(rows / widths) - prior + np.append(0.0, best[:r])
        last[r], best[r] = fit.argmax(), fit.max()
    cuts, r = [], len(x)
    while last[r - 1] > 0:
        r = last[r - 1]
        cuts.append(edges[r])
    return cuts[::-1]


@pytest.mark.parametrize("p0", [0.3, 0.05, 0.001])
def test_bayesian_blocks_are_those_of_the_paper(p0):
    rng = np.random.default_rng(7)
    values = np.concatenate([rng.normal(size=150), rng.uniform(2.0, 2.3, 80), rng.standard_t(2, 70)])
    prior = 4.0 - math.log(73.53 * p0 * len(values) ** -0.478)
    model = optimize(values, criterion=get_criterion("bayesian-blocks", p0=p0))
    assert model.proven
    np.testing.assert_allclose(model.partitions["x0"].bounds, scargle(values, prior), rtol=1e-12)


def test_bayesian_blocks_of_astropy():
    """Edges of astropy 8.0.2, bayesian_blocks(values, p0=...)."""
    model = optimize(np.linspace(-2, 2, 200) ** 3, criterion="bayesian-blocks")
    edges = [model.partitions["x0"].domain[0], *model.partitions["x0"].bounds, model.partitions["x0"].domain[1]]
    half = [0.0028282114088028047, 0.0989508538627584, 1.14222383349286, 8.0]
    np.testing.assert_allclose(edges, [-edge for edge in half[::-1]] + half, rtol=1e-12)
    steps = np.concatenate([np.linspace(0, 1, 60), np.linspace(1.004, 6, 40) ** 1.3])
    model = optimize(steps, criterion=get_criterion("bayesian-blocks", p0=0.01))
    np.testing.assert_allclose(model.partitions["x0"].bounds, [1.0026015585464698], rtol=1e-12)


def test_the_unit_and_the_order_of_rows_do_not_matter():
    rng = np.random.default_rng(3)
    values = rng.normal(size=120)
    model = optimize(values)
    other = optimize(rng.permutation(values) * -4.0 + 64.0)
    assert other.cost == pytest.approx(model.cost, rel=1e-9)
    np.testing.assert_allclose(other.partitions["x0"].bounds, model.partitions["x0"].bounds[::-1] * -4 + 64, rtol=1e-9)
    np.testing.assert_allclose(other.score(values * -4 + 64), model.score(values) - math.log(4.0), rtol=1e-9)


def test_weights_are_repeated_rows():
    rng = np.random.default_rng(4)
    values, weights = rng.exponential(size=60), rng.integers(0, 4, 60)
    for criterion in CRITERIA.values():
        model = optimize(values, weights=weights, criterion=criterion)
        again = optimize(np.repeat(values, weights), criterion=criterion)
        assert model.cost == again.cost
        assert model.partitions["x0"].bounds.tolist() == again.partitions["x0"].bounds.tolist()
        assert model.score(values, weights) == pytest.approx(again.score(np.repeat(values, weights)))


ZEROS = np.concatenate([np.zeros(40), np.random.default_rng(0).exponential(size=120)])


class TestMasses:
    def test_a_value_with_many_rows_is_a_mass(self):
        model = optimize(ZEROS)
        partition = model.partitions["x0"]
        assert partition.special.tolist() == [0.0]
        assert partition.labels[-1] == "mass at 0"
        assert partition.widths[-1] == 0.0
        assert partition.domain[0] == ZEROS[ZEROS > 0].min()
        table = model.table()
        assert table["mass"].tolist() == [False] * (partition.n_parts - 1) + [True]
        assert math.isnan(table["density"][-1])
        assert "mass" in model.summary()
        assert model.log_density([0.0])[0] == pytest.approx(math.log(40 / 161))
        assert model.transform([0.0, 1e-9]).tolist() == [partition.n_parts - 1, 0]

    def test_its_price_is_that_of_the_formula(self):
        for name, criterion in CRITERIA.items():
            model = optimize(ZEROS, criterion=criterion)
            partition = model.partitions["x0"]
            shares = (partition.widths[:-1] / partition.widths.sum()).tolist()
            parts = [*zip(partition.counts[:-1, 0].tolist(), shares, strict=True), (40, None)]
            assert model.cost == pytest.approx(slow_price(name, parts, 121), rel=1e-9)
            assert model.null_cost == pytest.approx(slow_price(name, [(120, 1.0), (40, None)], 121), rel=1e-9)
            assert verify(model, ZEROS)

    def test_rounded_values_are_none(self):
        values = np.round(np.random.default_rng(1).normal(size=5000), 1)
        assert optimize(values).partitions["x0"].n_special == 0

    @pytest.mark.parametrize(("rows", "found"), [(9, []), (10, [3.0])])
    def test_ten_times_the_rows_beside_it(self, rows, found):
        values = np.append(np.arange(8.0), np.full(rows - 1, 3.0))
        assert optimize(values).partitions["x0"].special.tolist() == found

    def test_special_values_are_masses_and_an_empty_list_is_none(self):
        model = optimize(ZEROS, special=[ZEROS[50]])
        assert model.partitions["x0"].special.tolist() == [ZEROS[50], 0.0]
        for nothing in ([], (), {"x0": []}):
            assert optimize(ZEROS, special=nothing).partitions["x0"].n_special == 0
        shared = optimize(ZEROS, special={"x0": [[0.0, ZEROS[50]]]})
        assert shared.partitions["x0"].special_sizes == (2,)
        assert set(shared.sample(500, 0).tolist()) & {0.0, ZEROS[50]} == {0.0, ZEROS[50]}

    def test_they_do_not_count_for_max_parts(self):
        model = optimize(ZEROS, max_parts=1)
        assert model.partitions["x0"].labels == ["(-inf, inf)", "mass at 0"]
        assert verify(model, ZEROS), verify(model, ZEROS).reason

    def test_none_of_no_values(self):
        from gridmodl.data.domain import DistinctValues

        nothing = DistinctValues(np.empty(0), np.empty(0, dtype=np.int64), np.dtype(float))
        assert len(find_masses(nothing, 5)) == 0


class TestDensities:
    @pytest.mark.parametrize("criterion", CRITERIA.values(), ids=list(CRITERIA))
    @pytest.mark.parametrize("values", [ZEROS, ZEROS[40:], tiny(3)], ids=["masses", "real", "ties"])
    def test_they_sum_to_one(self, values, criterion):
        model = optimize(values, criterion=criterion)
        table, partition = model.table(), model.partitions["x0"]
        n_intervals = partition.n_parts - partition.n_special
        inside = float((table["width"] * table["density"])[:n_intervals].sum())
        masses = float(np.exp(model.log_density(partition.special)).sum()) if partition.n_special else 0.0
        assert inside + masses == pytest.approx(1.0, rel=1e-12)
        edges = np.concatenate([partition.domain[:1], partition.bounds, partition.domain[1:]])
        middles = (edges[1:] + edges[:-1]) / 2.0
        np.testing.assert_allclose(np.exp(model.log_density(middles)), table["density"][:n_intervals], rtol=1e-9)

    def test_values_outside_and_missing(self):
        model = optimize([1.0, 2.0, 3.0, 4.0])
        inside, low, high, below, above, missing = model.log_density([2.5, 0.5, 4.5, 0.49, 9.0, None])
        assert inside == low == high == pytest.approx(math.log(1 / 4))
        assert below == above == pytest.approx(math.log(1 / (5 * 4)))
        assert math.isnan(missing)

    def test_score_leaves_missing_values_out(self):
        model = optimize(ZEROS[40:])
        assert model.score([1.0, np.nan, 2.0]) == pytest.approx(model.log_density([1.0, 2.0]).mean())
        with pytest.raises(ValueError, match="no row with a value"):
            model.score([np.nan])

    def test_samples_follow_the_density(self):
        model = optimize(ZEROS)
        drawn = model.sample(20_000, random_state=1)
        shares = np.bincount(model.transform(drawn), minlength=model.partitions["x0"].n_parts) / 20_000
        np.testing.assert_allclose(shares, model.table()["share"], atol=0.02)
        assert drawn.min() >= 0.0
        assert drawn.max() <= ZEROS.max()
        assert drawn.tolist() == model.sample(20_000, random_state=1).tolist()
        assert len(model.sample(0)) == 0
        with pytest.raises(ValueError, match="n must be a whole number"):
            model.sample(-1)

    def test_other_models_have_none(self):
        model = optimize([1.0, 2.0], [0, 1])
        for call in (lambda: model.log_density([1.0]), lambda: model.score([1.0]), lambda: model.sample(1)):
            with pytest.raises(ValueError, match=r"this model \(classes\) has no density"):
                call()


class TestColumns:
    def test_missing_values_are_left_out_and_counted(self):
        with_gaps = np.append(ZEROS, [np.nan] * 8)
        model, plain = optimize(with_gaps), optimize(ZEROS)
        assert (model.cost, model.n_rows) == (plain.cost, 160)
        assert model.partitions["x0"].n_missing == 8
        assert "8 more are missing (4.8%)" in model.summary()
        assert verify(model, with_gaps)
        weighted = optimize(with_gaps, weights=np.append(np.ones(160, dtype=int), [3] * 8))
        assert weighted.partitions["x0"].n_missing == 24
        assert Model.from_json(model.to_json()).partitions["x0"].n_missing == 8

    def test_dates_have_a_density_per_unit(self):
        days = np.datetime64("2020-01-01") + np.random.default_rng(0).geometric(0.01, 200)
        model = optimize(pd.DataFrame({"day": days.astype("datetime64[s]")}))
        numbers = optimize(days.astype(int).astype(float))
        assert model.table("day")["density"].to_numpy() == pytest.approx(numbers.table()["density"] / 86_400.0)
        assert model.table("day")["width"].to_numpy() == pytest.approx(numbers.table()["width"] * 86_400.0)
        assert model.cost == pytest.approx(numbers.cost, rel=1e-12)
        assert model.score(days) == pytest.approx(numbers.score(days.astype(int)) - math.log(86_400.0))
        drawn = model.sample(50, 0)
        assert drawn.dtype == np.dtype("datetime64[s]")
        assert (drawn >= days.min()).all()
        assert (drawn <= days.max()).all()
        back = Model.from_json(model.to_json())
        assert back.partitions["day"].domain.tolist() == model.partitions["day"].domain.tolist()
        assert verify(back, pd.DataFrame({"day": days.astype("datetime64[s]")}))

    @pytest.mark.parametrize(
        ("values", "unit", "size"),
        [
            (np.arange(3000).astype("M8[D]").astype("M8[us]"), "day", 86_400e6),
            (np.arange(3000).astype("M8[D]"), "day", 1.0),
            (np.arange(3000).astype("m8[h]"), "day", 24.0),
            (np.arange(10_000, 10_000 + 5 * 3600, 60).astype("M8[s]").astype("M8[ns]"), "hour", 3600e9),
            (np.arange(0, 7199).astype("M8[s]"), "minute", 60.0),
            (np.arange(0, 7201).astype("M8[s]"), "hour", 3600.0),
            (np.arange(100_000, 100_100).astype("m8[s]").astype("m8[ms]"), "second", 1000.0),
            (np.arange(0, 1900).astype("m8[ms]"), "millisecond", 1.0),
            (np.arange(2).astype("M8[D]"), "day", 1.0),  # two days wide
            (np.arange(2).astype("M8[D]").astype("M8[us]"), "hour", 3600e6),  # one day: two moments are no lattice
            (np.arange(30).astype("M8[W]"), "week", 1.0),
            (np.arange(30).astype("M8[M]"), "month", 1.0),
            (np.arange(50).astype("M8[25s]"), "minute", 2.4),
            (np.arange(2).astype("M8[25s]"), "25 seconds", 1.0),
        ],
    )
    def test_dates_and_durations_are_shown_in_a_unit_that_people_think_in(self, values, unit, size):
        """The largest of day, hour, minute and second of which the domain has two; never finer than the type."""
        model, other = optimize(values, special=[], max_parts=1), gridmodl.density.equal_width(values, n_parts=1)
        step = 0.0 if unit == "hour" and len(values) == 2 else float((values[1] - values[0]).astype(np.int64))
        width = (float((values[-1] - values[0]).astype(np.int64)) + step) / size
        for summary in (model.summary(), other.summary()):
            assert f"density per {unit}\n" in summary
            assert f" {1.0 / width:.4g}\n" in f"{summary}\n"
        assert f"  width, {'times ' * (' ' in unit)}{unit.removesuffix('s')}s  density per {unit}\n" in model.summary()
        assert f" {width:.4g} " in model.summary()
        assert model.table()["width"].tolist() == other.widths.tolist() == [pytest.approx(width * size)]
        assert other.densities.tolist() == [pytest.approx(1.0 / (width * size))]

    def test_a_single_day_is_a_mass_without_a_unit(self):
        model = optimize(np.array(["2020-01-01"] * 9, dtype="M8[us]"))
        assert "width  density\n" in model.summary()
        assert "microsecond" not in model.summary() + model._repr_html_() + model.to_html()

    def test_numbers_have_no_unit(self):
        assert "width    density\n" in optimize(np.arange(3000.0), special=[]).summary()

    def test_a_log_likelihood_names_its_unit(self):
        days = np.datetime64("2020-01-01") + np.random.default_rng(0).geometric(0.01, 200)
        model, numbers = (gridmodl.optimize_density(x) for x in (days.astype("M8[us]"), days.astype(float)))
        best = f"{numbers.held_out.max():.4f}"
        assert f"log-likelihood per row held out (10 folds) {best}, of one part" in numbers.summary()
        assert f"log-likelihood per row held out (10 folds, density per day) {best}, of one part" in model.summary()
        assert model.held_out.max() == pytest.approx(numbers.held_out.max() - math.log(86_400e6))

    def test_days_whose_middles_are_rounded(self):
        """A middle of two days is no day: widths, and so the price, are those of the middle."""
        days = np.datetime64("2020-01-01", "D") + np.array([0, 1, 1, 1, 2, 9])
        model = optimize(days, special=[], criterion=PENALIZED)
        assert model.cost == pytest.approx(lowest_of_all("penalized-likelihood", days.astype(int))[0], rel=1e-9)
        assert price(days, None, {"x0": model.partitions["x0"].bounds}, criterion=PENALIZED) == pytest.approx(
            model.cost
        )

    def test_large_integers_and_near_floats(self):
        large = 2**60 + np.array([0, 1, 2, 3, 500, 1000])
        model = optimize(large)
        assert model.partitions["x0"].widths.sum() == 1001.0
        near = np.array([0.0, 1e-300, 2e-300, 1.0])
        assert optimize(near, criterion=PENALIZED).partitions["x0"].widths.sum() == 1.0

    @pytest.mark.parametrize("unit", [1e-309, 1e-300, 1e300])
    def test_the_unit_of_a_column(self, unit):
        values = np.append(np.arange(30), np.arange(1000, 1030))
        # Ends of gaps are short numbers, which depend on the unit.
        model, expected = optimize(values * unit, min_rows=1), optimize(values.astype(float), min_rows=1)
        np.testing.assert_allclose(model.partitions["x0"].widths / unit, expected.partitions["x0"].widths, rtol=1e-12)
        np.testing.assert_allclose(model.log_density(values * unit), expected.log_density(values) - math.log(unit))
        assert Model.from_json(model.to_json()).to_json() == model.to_json()

    @pytest.mark.parametrize("values", [[5.0], [5.0] * 7, [1.0, 2.0], [1.0, 2.0, 2.0]])
    def test_few_values(self, values):
        model = optimize(values)
        assert math.isfinite(model.score(values))
        assert verify(model, values)
        assert Model.from_json(model.to_json()).to_json() == model.to_json()
        assert len(model.sample(3, 0)) == 3
        assert model.summary()
        assert model._repr_html_()
        assert model.to_html()
        if len(set(values)) == 1:
            assert model.partitions["x0"].labels[-1] == "mass at 5"
            assert len(model.partitions["x0"].domain) == 0
            assert model.log_density([5.0]).tolist() == [0.0]

    @pytest.mark.parametrize(
        ("values", "error", "message"),
        [
            ([1.0, np.inf, 2.0], ValueError, "1 infinite values"),
            ([-1.7e308, 1.7e308], ValueError, "spans more than the largest float"),
            ([0.0, 5e-324, 1e-323], ValueError, "spans less than 2.2250738585072014e-308; multiply it"),
            (["a", "b"], TypeError, "only numbers, dates and durations have a density"),
            ([True, False], TypeError, "the column is categorical"),
            (pd.Series(pd.Categorical(["a", "b"], ordered=True)), TypeError, "the column is ordinal"),
            ([np.nan, np.nan], ValueError, "2 rows, all missing"),
        ],
    )
    def test_columns_without_a_density(self, values, error, message):
        with pytest.raises(error, match=message):
            optimize(values)

    @pytest.mark.parametrize(
        ("argument", "message"),
        [
            ({"monotone": "increasing"}, "monotone= speaks of the classes of a target"),
            ({"min_events": 3}, "min_events= speaks of the classes"),
            ({"min_difference": 0.1}, "min_difference= speaks of the classes"),
            ({"placement": "short"}, "leave placement= out"),
            ({"event": 1}, "no target was given"),
            ({"criterion": "bic"}, "criterion 'bic' cannot price 'density'"),
        ],
    )
    def test_arguments_that_need_a_target(self, argument, message):
        with pytest.raises(ValueError, match=message):
            optimize([1.0, 2.0, 3.0], **argument)


class TestLimits:
    values = np.random.default_rng(11).normal(size=60)

    def test_parts_and_rows(self):
        model = optimize(self.values, criterion=get_criterion("penalized-likelihood", penalty=0.1), max_parts=3)
        assert model.partitions["x0"].n_parts == 3
        model = optimize(self.values, criterion=get_criterion("penalized-likelihood", penalty=0.1), min_rows=12)
        assert model.partitions["x0"].rows.min() >= 12
        assert verify(model, self.values)

    @pytest.mark.parametrize("max_parts", [2, 3])
    @pytest.mark.parametrize("criterion", CRITERIA.values(), ids=list(CRITERIA))
    def test_proofs_within_a_limit_are_verified(self, criterion, max_parts):
        """One part costs next to nothing and two much less, so that slopes are steep beside the cost of one part."""
        for seed in (4, 5, 7, 10):
            rng = np.random.default_rng(seed)
            values = np.exp(rng.normal(0.0, 1.5, int(rng.integers(4, 12)))).repeat(rng.integers(1, 4))
            model = optimize(values, criterion=criterion, max_parts=max_parts, special=[], search="exact")
            assert verify(model, values), verify(model, values).reason

    def test_fixed_bounds_are_where_the_user_put_them(self):
        model = optimize(self.values, fixed=[0.01])
        partition = model.partitions["x0"]
        assert 0.01 in partition.bounds
        at = partition.bounds.tolist().index(0.01)
        assert partition.domain[0] + partition.widths[: at + 1].sum() == pytest.approx(0.01)
        assert verify(model, self.values)
        with pytest.raises(ValueError, match="leaves a part without a width"):
            optimize(self.values, fixed=[float(self.values.min())])

    def test_allowed_bounds(self):
        cheap = get_criterion("penalized-likelihood", penalty=0.1)
        model = optimize(self.values, allowed=[-1.0, 0.0, 1.0], criterion=cheap)
        assert set(model.partitions["x0"].bounds) <= {-1.0, 0.0, 1.0}
        x = np.sort(self.values)
        lowest = min(
            sum(
                -n * math.log(n / 60 / ((hi - lo) / (x[-1] - x[0]))) + 0.1
                for lo, hi in itertools.pairwise([x[0], *bounds, x[-1]])
                for n in [np.count_nonzero((x > lo) & (x <= hi)) + (lo == x[0])]
            )
            for k in range(4)
            for bounds in itertools.combinations([-1.0, 0.0, 1.0], k)
        )
        assert model.cost == pytest.approx(lowest, rel=1e-9)

    def test_cost_by_parts(self):
        curve = cost_by_parts(self.values, criterion=PENALIZED, max_parts=5)
        assert curve.n_parts.tolist() == [1, 2, 3, 4, 5]
        assert curve.gap.tolist() == [0.0] * 5
        best = optimize(self.values, criterion=PENALIZED)
        assert curve.cost.min() == pytest.approx(best.cost)
        for cost, partition in zip(curve.cost, curve.partitions, strict=True):
            assert price(self.values, None, {"x0": partition}, criterion=PENALIZED) == pytest.approx(cost)


class TestModels:
    model = optimize(ZEROS, criterion="bayesian-blocks")

    def test_json(self):
        text = self.model.to_json()
        back = Model.from_json(text)
        assert back.to_json() == text
        assert back.score(ZEROS) == self.model.score(ZEROS)
        assert verify(back, ZEROS)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda part: part["widths"].__setitem__(0, 9.0), "must add up to the width of the domain"),
            (lambda part: part["widths"].__setitem__(-1, 1.0), "0 for a mass"),
            (lambda part: part["widths"].pop(), "one for each part"),
            (lambda part: part["widths"].__setitem__(0, -1.0), "0 for a mass"),
            (lambda part: (part.pop("widths"), part.pop("domain")), "widths"),
            (lambda part: part.__setitem__("missing", 0), "missing"),
        ],
    )
    def test_files_that_contradict_themselves(self, change, message):
        record = json.loads(self.model.to_json())
        change(record["partitions"][0])
        with pytest.raises(ModelFileError, match=message):
            Model.from_json(json.dumps(record))

    def test_forged_models_are_found(self):
        assert not verify(replace(self.model, cost=self.model.cost - 1.0), ZEROS)
        assert not verify(self.model, ZEROS + 1.0)
        worse = optimize(ZEROS, criterion="bayesian-blocks", max_parts=2)
        certificate = replace(self.model.certificate, lowest=worse.cost)
        assert not verify(replace(worse, certificate=certificate, proven=True), ZEROS)

    def test_edits(self):
        merged = self.model.edit("x0", merge=[0, 1])
        assert merged.delta >= 0.0
        again = Model.from_json(self.model.to_json()).edit("x0", merge=[0, 1])
        assert again.cost == pytest.approx(merged.cost)
        np.testing.assert_allclose(again.partitions["x0"].widths, merged.partitions["x0"].widths)
        split = self.model.edit("x0", split={0: 0.2})
        assert 0.2 in split.partitions["x0"].bounds
        assert verify(split, ZEROS)

    def test_explain_prices_alternatives(self):
        why = self.model.explain()
        assert why.fewer.delta >= 0.0
        assert why.more.delta >= 0.0
        assert why.table()["cost"].min() >= self.model.cost - 1e-9

    def test_level_hierarchy_and_classes(self):
        assert self.model.level is None
        with pytest.raises(ValueError, match="a density has no hierarchy"):
            self.model.hierarchy()
        with pytest.raises(ValueError, match="has no classes to predict"):
            self.model.predict(ZEROS)
        assert self.model.mutual_information == 0.0

    def test_pictures(self):
        plt = pytest.importorskip("matplotlib.pyplot")
        display = gridmodl.plot.DensityDisplay.from_model(self.model).plot(sample=ZEROS)
        assert display.masses.tolist() == [0.0]
        assert display.probabilities[0] == pytest.approx(40 / 161)
        assert len(display.edges) == len(display.densities) + 1
        gridmodl.plot.DensityDisplay.from_model(optimize([2.0, 2.0])).plot()
        with pytest.raises(TypeError, match="must be a density of one column"):
            gridmodl.plot.DensityDisplay.from_model(optimize([1.0, 2.0], [0, 1]))
        plt.close("all")

    def test_page_and_notebook(self):
        page = self.model.to_html()
        assert "mass at 0" in page
        assert "density in" in self.model._repr_html_()

    def test_time_limit(self):
        stopped = optimize(np.random.default_rng(0).normal(size=3000), time_limit=0.0)
        assert stopped.stopped == "time limit"
        assert stopped.partitions["x0"].n_parts == 1
        stopped = optimize(ZEROS, criterion="penalized-likelihood", time_limit=0.0)
        assert stopped.stopped == "time limit"


class TestValidation:
    values = np.random.default_rng(5).normal(size=150)

    def test_the_price_of_a_part_is_chosen(self):
        model = optimize(self.values, criterion="penalized-likelihood")
        assert model.options["penalty"] in PENALTIES
        again = optimize(self.values, criterion="penalized-likelihood")
        assert again.to_json().split('"elapsed"')[0] == model.to_json().split('"elapsed"')[0]
        given = optimize(self.values, criterion=get_criterion("penalized-likelihood", **model.options))
        assert given.cost == model.cost
        assert verify(model, self.values)

    def test_it_is_the_best_on_held_out_rows(self):
        """Against a slow cross-validation of each price, by the same folds."""
        from gridmodl.data.folds import folds_of

        order = np.sort(self.values)
        low, high = order[0], order[-1]
        totals = np.zeros(len(PENALTIES))
        for held in folds_of(np.ones(150, dtype=np.int64), 10, 0):
            kept, out = order[held == 0], order[held == 1]
            for k, penalty in enumerate(PENALTIES):
                ends = np.concatenate([[low], (kept[1:] + kept[:-1]) / 2.0, [high]])
                best, last = np.zeros(len(kept)), np.zeros(len(kept), dtype=int)
                for r in range(len(kept)):
                    widths, rows = ends[r + 1] - ends[: r + 1], np.arange(r + 1, 0, -1)
                    cost = penalty - rows * np.log(rows / widths) + np.append(0.0, best[:r])
                    last[r], best[r] = cost.argmin(), cost.min()
                edges, r = [high], len(kept)
                while r > 0:
                    r = last[r - 1]
                    edges.append(ends[r])
                edges = np.array(edges[::-1])
                widths = np.diff(edges)
                rows = np.bincount(np.searchsorted(edges[1:-1], kept), minlength=len(widths))
                density = (rows + widths / (high - low)) / (widths * (len(kept) + 1.0))
                totals[k] += np.log(density)[np.searchsorted(edges[1:-1], out)].sum()
        chosen = optimize(self.values, criterion="penalized-likelihood").options["penalty"]
        assert chosen == PENALTIES[len(totals) - 1 - int(np.argmax(totals[::-1] >= totals.max() - 1e-7))]

    def test_of_many_values_some_rows_choose(self):
        many = np.random.default_rng(6).normal(size=5000)
        model = optimize(many, criterion="penalized-likelihood")
        assert model.options["penalty"] in PENALTIES
        assert 5 < model.partitions["x0"].n_parts < 60
        assert optimize(many[::-1], criterion="penalized-likelihood").cost == model.cost
        limited = optimize(many, criterion="penalized-likelihood", min_rows=500)
        assert limited.partitions["x0"].rows.min() >= 500

    @pytest.mark.parametrize("option", [-1.0, math.inf])
    def test_prices_out_of_range(self, option):
        with pytest.raises((ValueError, TypeError), match="penalty"):
            get_criterion("penalized-likelihood", penalty=option)
        with pytest.raises(ValueError, match="p0, the share of false bounds"):
            get_criterion("bayesian-blocks", p0=2.0)
