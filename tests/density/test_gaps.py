"""Parts without rows: wide gaps between the values of a density."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from oracles.naive_histogram import gaps_of, lowest_cost

import gridmodl
from gridmodl import Model, ModelFileError, cost_by_parts, get_criterion, optimize, price, verify
from gridmodl.criteria.density import ModlDensity
from gridmodl.data.domain import DistinctValues
from gridmodl.fit.density import make_fold
from gridmodl.jit.digest import TermError
from gridmodl.jit.tiers import compile_as
from gridmodl.testing import check_criterion

PENALIZED = get_criterion("penalized-likelihood", penalty=3.0)
CRITERIA = {"modl": "modl", "penalized-likelihood": PENALIZED}
EVEN = np.concatenate([np.arange(0.02, 1.0, 0.02), np.arange(3.01, 4.0, 0.02)])  # ends just below 1 and 4
SOME = np.random.default_rng(5).permutation(
    np.concatenate([np.random.default_rng(6).uniform(0, 1, 70), np.random.default_rng(7).uniform(3, 4, 50)])
)


class TestWideGaps:
    def test_ends_are_short_numbers_near_the_values(self):
        assert gaps_of(EVEN) == [(48, 1.0, 3.0)]
        assert gaps_of(EVEN * 10.0) == [(48, 10.0, 30.0)]
        assert gaps_of(-EVEN) == [(49, -3.0, -1.0)]

    def test_both_sides_must_be_dense(self):
        assert gaps_of(np.append(np.arange(40.0), 40.0 + 100.0 * np.arange(40))) == []
        assert gaps_of(np.append(np.arange(40.0), [400.0])) == []  # an outlier alone
        assert gaps_of(np.append(np.arange(40.0), 400.0 + np.arange(8))) == []  # seven distances
        assert [at for at, *_ in gaps_of(np.append(np.arange(40.0), 400.0 + np.arange(9)))] == [39]

    @pytest.mark.parametrize(("factor", "n_gaps"), [(1.99, 0), (2.01, 1)])
    def test_twice_the_logarithm_of_the_values(self, factor, n_gaps):
        width = factor * math.log(40)
        assert len(gaps_of(np.append(np.arange(20.0), 19.0 + width + np.arange(20)))) == n_gaps

    def test_even_samples_have_hardly_any(self):
        found = [len(gaps_of(np.random.default_rng(seed).uniform(size=200))) for seed in range(200)]
        assert sum(found) <= 8
        tails = [len(gaps_of(np.random.default_rng(seed).standard_t(2, size=500))) for seed in range(60)]
        assert sum(tails) <= 3

    @pytest.mark.parametrize(
        "values",
        [
            2**60 + np.append(np.arange(20), np.arange(2000, 2020)),
            np.uint64(2**64 - 5000) + np.append(np.arange(20), np.arange(2000, 2020)).astype(np.uint64),
            np.append(np.arange(-(2**62), 20 - 2**62), np.arange(2**61, 2**61 + 20)),
            np.datetime64("2020-01-01") + np.append(np.arange(20), np.arange(400, 430)),
            np.datetime64("2000-01", "M") + np.append(np.arange(20), np.arange(300, 330)),
            (SOME * 1e6).astype("timedelta64[us]"),
            np.append(1.0 + np.arange(12) * 2.0**-52, 1.5 + np.arange(12) * 2.0**-52),
            np.concatenate([np.arange(9) * 1e-12, 1 + np.arange(9) * 1e-12, 2 + np.arange(9) * 1e-12]),
            SOME.astype(np.float32),
            SOME.astype(np.float16),
            SOME * 1e300,
            SOME * 1e-307,
        ],
        ids=["int", "uint", "far", "days", "months", "durations", "ulps", "clusters", "f4", "f2", "large", "tiny"],
    )
    def test_types(self, values):
        for criterion in CRITERIA.values():
            model = optimize(values, criterion=criterion)
            partition = model.partitions["x0"]
            assert verify(model, values)
            assert np.bincount(model.transform(values), minlength=partition.n_parts).tolist() == partition.rows.tolist()
            assert model.cost <= optimize(values, criterion=criterion, min_rows=1).cost + 1e-9
            again = price(values, None, {"x0": partition}, criterion=criterion)
            assert again == pytest.approx(model.cost, rel=1e-9)
            text = model.to_json()
            assert Model.from_json(text).to_json() == text
            assert verify(Model.from_json(text), values)


@pytest.mark.parametrize("compiled", ["never", "always"])
@pytest.mark.parametrize("name", CRITERIA)
def test_exact_is_the_best_of_all_partitions(name, compiled):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        steps = rng.uniform(1.0, 2.0, 20)
        steps[10] = 40.0 + 20 * seed
        values = np.repeat(np.cumsum(steps), rng.integers(1, 4, 20))
        with compile_as(compiled):
            model = optimize(values, criterion=CRITERIA[name], search="exact", special=[])
            merged = optimize(values, criterion=CRITERIA[name], search="merge", special=[])
        assert model.proven
        assert 0 in model.partitions["x0"].rows
        assert model.cost == pytest.approx(lowest_cost(name, values, 8, price_of_part=3.0), rel=1e-9)
        assert model.cost - 1e-9 <= merged.cost <= model.null_cost


def test_check_criterion_finds_a_cell_without_rows_that_costs():
    class Wrong(ModlDensity):
        name = "wrong"

        @staticmethod
        def cell(p, cell):
            return 1.0 - 2.0 * math.lgamma(cell.rows + 1.0)

    with pytest.raises(AssertionError, match=r"prices a part without rows at 1\.0, not 0"):
        check_criterion(Wrong, n_samples=2, compiled=False)


def test_a_criterion_that_fails_without_rows_is_told():
    class Failing(ModlDensity):
        name = "failing"

        @staticmethod
        def cell(p, cell):
            return -math.log(cell.rows)

    with pytest.raises(TermError, match="term 'cell' of criterion 'failing' failed"):
        optimize([1.0, 2.0, 3.0], criterion=Failing())


class TestModels:
    model = optimize({"x": SOME})
    partition = model.partitions["x"]

    def test_the_gap_is_a_part(self):
        assert self.partition.labels[:3] == ["(-inf, 1.0]", "(1.0, 3.0]", "(3.0, inf)"]
        assert self.partition.rows.tolist() == [70, 0, 50]
        assert self.partition.n_values.tolist() == [70, 0, 50]
        assert self.partition.widths[1] == pytest.approx(2.0)
        assert self.model.proven
        assert "(1.0, 3.0]" in self.model.summary()

    def test_its_density_is_that_of_the_one_row_that_is_spread(self):
        width = float(np.ptp(SOME))
        assert self.model.log_density([2.0])[0] == pytest.approx(-math.log(width * 121))
        table = self.model.table()
        assert float(table["width"] @ table["density"]) == pytest.approx(1.0)
        assert self.model.transform([0.5, 2.0, 3.5]).tolist() == [0, 1, 2]
        drawn = self.model.sample(5000, random_state=0)
        assert np.mean((drawn > 1.0) & (drawn <= 3.0)) < 0.01

    def test_new_rows_are_as_likely_as_can_be(self):
        new = np.concatenate([np.random.default_rng(1).uniform(0, 1, 700), np.random.default_rng(2).uniform(3, 4, 500)])
        without = optimize({"x": SOME}, min_rows=1)
        assert without.partitions["x"].rows.min() > 0
        assert self.model.cost < without.cost
        assert self.model.score(new) > without.score(new) + 0.02

    def test_bayesian_blocks_are_those_of_the_paper(self):
        blocks = optimize({"x": SOME}, criterion="bayesian-blocks")
        assert blocks.partitions["x"].rows.min() > 0
        assert blocks.certificate.min_rows == 1
        prior = 4.0 - math.log(73.53 * 0.05 * 120**-0.478)
        given = Model.from_partitions({"x": SOME}, None, {"x": [1.0, 3.0]}, criterion="bayesian-blocks")
        even = -sum(
            n * math.log(n / 120 * np.ptp(SOME) / w)
            for n, w in zip((70, 50), given.partitions["x"].widths[::2], strict=True)
        )
        assert given.cost == pytest.approx(even + 3 * prior)

    def test_limits(self):
        assert 0 in optimize(SOME, max_parts=3).partitions["x0"].rows
        assert optimize(SOME, max_parts=2).partitions["x0"].rows.min() > 0
        fixed = optimize(SOME, fixed=[2.0])
        assert 2.0 in fixed.partitions["x0"].bounds
        assert fixed.partitions["x0"].rows.min() > 0
        beside = optimize(SOME, fixed=[0.5])
        assert {0.5, 1.0, 3.0} <= set(beside.partitions["x0"].bounds)
        assert verify(beside, SOME)
        assert set(optimize(SOME, allowed=[0.5, 2.0]).partitions["x0"].bounds) <= {0.5, 2.0}

    def test_masses_and_weights(self):
        values = np.concatenate([SOME, np.full(40, 2.0), np.zeros(60)])
        masses = optimize(values)
        assert masses.partitions["x0"].labels[-2:] == ["mass at 0", "mass at 2"]
        assert "(1.0, 3.0]" in masses.partitions["x0"].labels
        assert verify(masses, values)
        weights = np.random.default_rng(3).integers(0, 3, len(SOME))
        weighted, repeated = optimize(SOME, weights=weights), optimize(np.repeat(SOME, weights))
        assert weighted.cost == repeated.cost
        assert weighted.partitions["x0"].bounds.tolist() == repeated.partitions["x0"].bounds.tolist()

    def test_edits_and_explanations(self):
        for whole in (self.model, Model.from_json(self.model.to_json())):
            merged = whole.edit("x", merge=[1, 2])
            expected = price({"x": SOME}, None, {"x": merged.partitions["x"]})
            assert merged.cost == pytest.approx(expected, rel=1e-12)
            assert merged.delta == pytest.approx(merged.cost - self.model.cost)
        split = self.model.edit("x", split={1: 2.0})
        assert split.partitions["x"].rows.tolist() == [70, 0, 0, 50]
        assert split.delta > 0
        why = self.model.explain()
        assert why.fewer.delta > 0
        assert why.more.delta > 0
        curve = cost_by_parts({"x": SOME}, max_parts=4)
        assert curve.cost[2] == pytest.approx(self.model.cost)
        assert curve.gap.tolist() == [0.0] * 4

    def test_forged_certificates(self):
        raw = json.loads(self.model.to_json())
        raw["certificate"]["min_rows"] = 1
        assert "has no rows" in verify(Model.from_json(json.dumps(raw)), {"x": SOME}).reason
        of_classes = json.loads(optimize([1.0, 2.0, 7.0, 8.0], [0, 0, 1, 1]).to_json())
        of_classes["certificate"]["min_rows"] = 0
        with pytest.raises(ModelFileError, match="only parts of a density may have no rows"):
            Model.from_json(json.dumps(of_classes))

    def test_reports(self):
        assert "(1.0, 3.0]" in self.model.to_html()
        assert "(1.0, 3.0]" in self.model._repr_html_()
        display = gridmodl.plot.DensityDisplay.from_model(self.model)
        assert display.edges.tolist()[1:3] == [1.0, 3.0]
        duckdb = pytest.importorskip("duckdb")
        table = pd.DataFrame({"x": [0.5, 2.0, 3.5]})
        found = duckdb.sql(self.model.to_sql("duckdb", "table", keep=["x"], output=["parts", "log_density"])).df()
        assert found.sort_values("x")["part_x"].tolist() == [0, 1, 2]
        assert found.sort_values("x")["log_density"].tolist() == self.model.log_density(table["x"]).tolist()

    def test_compare(self):
        drift = self.model.compare({"x": np.append(SOME, np.linspace(1.5, 2.5, 30))})
        assert math.isfinite(drift.table()["psi"][0])


def test_folds_have_gaps_too():
    distinct, rows = np.unique(SOME, return_counts=True)
    found = DistinctValues(distinct, rows, np.dtype(float))
    held = np.zeros(len(rows), dtype=np.int64)
    held[::10] = 1
    assert (make_fold(found, held, True).atoms.rows == 0).sum() == 2
    assert make_fold(found, held, False).atoms.rows.min() == 1
    model = optimize(SOME, criterion="penalized-likelihood")
    assert 0 in model.partitions["x0"].rows
    assert model.options["penalty"] > 0


def test_many_values_without_a_proof():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.uniform(0, 1, 6000), rng.uniform(3, 4, 6000)])
    model = optimize(values, search="merge")
    assert model.partitions["x0"].labels == ["(-inf, 1.0]", "(1.0, 3.0]", "(3.0, inf)"]
