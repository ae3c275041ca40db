"""Densities of whole numbers and of other lattices: each point is as wide as a step, the ends too."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import gridmodl
from gridmodl import DensityModel, Model, ModelFileError, get_criterion, optimize, optimize_density, price, verify

CRITERIA = {
    "modl": "modl",
    "bayesian-blocks": "bayesian-blocks",
    "penalized-likelihood": "penalized-likelihood",
    "penalty": get_criterion("penalized-likelihood", penalty=3.0),
}
DICE = np.random.default_rng(0).integers(1, 7, 6000)
AGES = np.random.default_rng(1).integers(18, 80, 20_000)
COLUMNS = {
    "integers": (lambda x: x, 1.0),
    "floats": (lambda x: x.astype(float), 1.0),
    "halves": (lambda x: x / 2.0, 0.5),
    "hundredths": (lambda x: x * 0.01 + 4.0, 0.01),
    "thirds": (lambda x: x / 3.0, 1.0 / 3.0),
    "prices": (lambda x: x + 0.99, 1.0),
    "days": (lambda x: np.datetime64("2024-02-20") + x, 1.0),
    "days of nanoseconds": (lambda x: (np.datetime64("2024-02-20") + x).astype("M8[ns]"), 86_400e9),
    "hours": (lambda x: (x * 3600).astype("m8[s]"), 3600.0),
    "huge": (lambda x: x + 2**60, 1.0),
    "unsigned": (lambda x: x.astype(np.uint64) + np.uint64(2**63), 1.0),
    "float32": (lambda x: (x / 10.0).astype(np.float32), 0.1),
}


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("rows", [DICE, AGES], ids=["dice", "ages"])
def test_even_whole_numbers_are_one_part(criterion, rows):
    model = optimize({"x": rows}, criterion=CRITERIA[criterion])
    partition = model.partitions["x"]
    assert partition.n_parts == 1
    assert partition.step == 1.0
    assert partition.domain.tolist() == [rows.min() - 0.5, rows.max() + 0.5]
    found = np.exp(model.log_density(np.unique(rows)))
    assert found.tolist() == [pytest.approx(1.0 / len(np.unique(rows)))] * len(found)


@pytest.mark.parametrize("name", COLUMNS)
def test_any_lattice(name):
    make, step = COLUMNS[name]
    model = optimize({"x": make(DICE)})
    partition, values = model.partitions["x"], np.unique(make(DICE))
    assert partition.n_parts == 1
    assert partition.step == pytest.approx(step)
    assert partition.widths.tolist() == [pytest.approx(6 * step)]
    np.testing.assert_allclose(np.exp(model.log_density(values)) * step, 1 / 6, rtol=1e-6)
    other = optimize_density({"x": make(DICE)})
    assert other.n_parts == 1
    np.testing.assert_allclose(other.density(values) * step, 1 / 6, rtol=1e-6)
    for one in (model, other):
        again = type(one).from_json(one.to_json())
        assert again.to_json() == one.to_json()
        assert again.log_density(values).tolist() == one.log_density(values).tolist()
    drawn = model.sample(3000, random_state=0)
    assert not np.isnan(model.log_density(drawn)).any()
    places = (drawn.view(np.int64) if drawn.dtype.kind in "mM" else drawn) - (
        values[0].view(np.int64) if values.dtype.kind in "mM" else values[0]
    )
    rounded = np.rint(places.astype(float) / step).astype(int)
    np.testing.assert_allclose(np.bincount(rounded, minlength=6) / 3000, 1 / 6, atol=0.03)


@pytest.mark.parametrize("score", ["likelihood", "kernel"])
def test_cuts_of_even_whole_numbers(score):
    found = optimize_density({"x": AGES}, score=score, max_parts=4)
    assert found.domain.tolist() == [17.5, 79.5]
    assert found.widths.sum() == pytest.approx(62.0)
    np.testing.assert_allclose(found.density([18.0, 79.0]), 1 / 62, rtol=0.15)
    even = optimize_density({"x": np.repeat(np.arange(18, 80), 50)}, score=score)
    assert even.n_parts == 1
    assert even.density([18.0]) == pytest.approx(1 / 62)
    assert gridmodl.density.equal_width(DICE, 6).partition.bounds.tolist() == [1.5, 2.5, 3.5, 4.5, 5.5]
    asked = optimize_density({"x": DICE}, domain=(1.0, 6.0), max_parts=1)
    assert asked.domain.tolist() == [1.0, 6.0]


def loaded(seed):
    """Whole numbers with gaps of one to four points, some of which hold many rows."""
    rng = np.random.default_rng(seed)
    values = np.cumsum(rng.integers(1, 5, int(rng.integers(3, 30))))
    return np.repeat(values, rng.integers(1, 40, len(values)))


@pytest.mark.parametrize("criterion", ["modl", "bayesian-blocks", "penalty"])
def test_the_points_of_a_lattice_have_probabilities_that_sum_to_one(criterion):
    for seed in range(12):
        rows = loaded(seed)
        for values in (rows * 0.25, rows + 2**60, np.datetime64("2020-01-01") + rows):
            model = optimize({"x": values}, criterion=CRITERIA[criterion])
            assert_sums_to_one(model, values)
            assert verify(model, {"x": values})


def assert_sums_to_one(model, values):
    """Over the points of the lattice and the masses, and over all numbers of the domain."""
    (partition,) = model.partitions.values()
    masses = partition.special
    inside = np.unique(values[~np.isin(values, masses)])
    step = partition.step
    if values.dtype.kind == "f":
        points = np.arange(round((inside[-1] - inside[0]) / step) + 1) * step + inside[0]
    else:
        points = np.arange(inside[0], inside[-1] + 1, int(step), dtype=values.dtype)
    of_masses = float(np.exp(model.log_density(masses)).sum()) if len(masses) else 0.0
    of_points = np.exp(model.log_density(points))
    of_points = of_points[~np.isin(points, masses)] if len(masses) else of_points  # a mass among them has its own
    absent = [point for point in masses if point in points]
    width = step * len(absent)
    if not absent:
        assert of_points.sum() * step + of_masses == pytest.approx(1.0, rel=1e-9)
    assert of_points.sum() * step + of_masses <= 1.0 + 1e-9
    table = model.table()
    assert float(np.nansum(table["width"] * table["density"])) + of_masses == pytest.approx(1.0, rel=1e-9)
    if values.dtype.kind == "f":
        low, high = partition.domain
        fine = np.linspace(low, high, 64 * len(points) + 1)
        middles = (fine[1:] + fine[:-1]) / 2.0
        middles = middles[~np.isin(middles, masses)]
        integral = np.exp(model.log_density(middles)).mean() * (high - low)
        assert integral + of_masses == pytest.approx(1.0, rel=1e-9)
        assert width >= 0.0


def test_bounds_of_the_user_are_after_a_point():
    """A bound of 3 parts a die into two parts of three steps, wherever between 3 and 4 it is."""
    for bound in (3, 3.0, 3.5, 3.999):
        for model in (optimize({"x": DICE}, fixed=[bound]), Model.from_partitions({"x": DICE}, None, {"x": [bound]})):
            partition = model.partitions["x"]
            assert partition.bounds.tolist() == [bound]
            assert partition.widths.tolist() == [pytest.approx(3.0)] * 2
            np.testing.assert_allclose(np.exp(model.log_density(np.arange(1, 7))), 1 / 6, atol=0.004)
            assert_sums_to_one(model, DICE.astype(float))
    below = Model.from_partitions({"x": DICE}, None, {"x": [np.nextafter(3.0, 0.0)]})  # 3 is above this one
    assert below.partitions["x"].widths.tolist() == [2.0, 4.0]
    assert price({"x": DICE}, None, {"x": [3]}) == price({"x": DICE}, None, {"x": [3.5]})
    days = np.datetime64("2024-02-20") + DICE
    of_days = Model.from_partitions({"x": days.astype("M8[s]")}, None, {"x": [np.datetime64("2024-02-23T06:00:00")]})
    assert of_days.partitions["x"].widths.tolist() == [3 * 86_400.0] * 2


class TestMasses:
    @pytest.mark.parametrize("criterion", CRITERIA)
    def test_a_code_beside_ages_is_a_mass(self, criterion):
        model = optimize({"x": np.r_[AGES, [-999] * 600]}, criterion=CRITERIA[criterion])
        partition = model.partitions["x"]
        assert partition.special.tolist() == [-999.0]
        assert partition.domain.tolist() == [17.5, 79.5]
        assert partition.n_parts == 2
        assert model.log_density([-999.0])[0] == pytest.approx(math.log(600 / 20_601))
        assert model.log_density([-500.0, 17.0]).max() < model.log_density([18.0, 79.0]).min()

    @pytest.mark.parametrize("codes", [[-999], [-999, -998], [998, 999], [-1000, 1000], [-9, 500]])
    def test_codes_on_both_sides(self, codes):
        for rows in (AGES, DICE):
            model = optimize({"x": np.concatenate([rows, np.repeat(codes, 50)])})
            assert sorted(model.partitions["x"].special.tolist()) == sorted(codes)
            assert model.partitions["x"].domain.tolist() == [rows.min() - 0.5, rows.max() + 0.5]

    def test_few_rows_and_near_ones_are_none(self):
        assert optimize({"x": np.r_[AGES, [-999] * 9]}).partitions["x"].n_special == 0
        assert optimize({"x": np.r_[AGES, [84] * 600]}).partitions["x"].n_special == 0
        far = np.r_[AGES, np.repeat(np.arange(1000, 1004), 300)]  # four values are no codes
        assert optimize({"x": far}).partitions["x"].n_special == 0

    def test_repeated_rows_of_real_numbers_are_none(self):
        for seed in range(40):
            values = np.repeat(np.random.default_rng(seed).lognormal(0, 1.5, 200), 12)
            assert optimize(values, max_parts=5).partitions["x0"].n_special == 0

    def test_a_value_with_many_rows_among_whole_numbers(self):
        """A mass, where astropy.stats.bayesian_blocks puts bounds at 49.5 and 50.5; without masses, so do we."""
        values = np.append(np.arange(100), np.full(999, 50))
        model = optimize(values, criterion="bayesian-blocks")
        assert model.partitions["x0"].special.tolist() == [50.0]
        blocks = optimize(values, criterion="bayesian-blocks", special=[])
        assert blocks.partitions["x0"].bounds.tolist() == [49.5, 50.5]
        assert blocks.partitions["x0"].domain.tolist() == [-0.5, 99.5]  # half a step more than the edges of astropy


class TestGaps:
    def test_they_begin_half_a_step_beyond_the_values(self):
        values = np.repeat(np.r_[0:30, 100:140], 5)
        model = optimize({"x": values})
        assert model.partitions["x"].bounds.tolist() == [29.5, 99.5]
        assert model.partitions["x"].widths.tolist() == [30.0, 70.0, 40.0]
        assert len(set(np.exp(model.log_density(np.r_[0:30])).tolist())) == 1
        days = optimize({"x": np.datetime64("2024-01-01") + values})
        assert days.partitions["x"].bounds.tolist() == [
            np.datetime64("2024-01-01").item() + np.timedelta64(n, "D").item() for n in (29, 99)
        ]
        assert days.partitions["x"].widths.tolist() == [30.0, 70.0, 40.0]

    def test_of_rounded_numbers_they_end_at_short_numbers(self):
        rng = np.random.default_rng(3)
        values = np.r_[rng.uniform(0, 1.996, 600), rng.uniform(5.004, 7, 600)].round(3)
        assert optimize({"x": values}).partitions["x"].bounds.tolist() == [2.0, 5.0]


def outside_of(model, name="x"):
    """Probability of each outer interval and its rows, and the width of the domain."""
    partition = model.partitions[name]
    domain = partition.domain.view(np.int64) if partition.domain.dtype.kind in "mM" else partition.domain
    return partition.counts[: len(partition.bounds) + 1, 0][[0, -1]], float(domain[1] - domain[0])


class TestOutside:
    """One rule of all densities: the probability of the outer interval times 1/((m + 1) W), below any inside."""

    rng = np.random.default_rng(5)
    COLUMNS = {
        "real": np.concatenate([rng.normal(size=300), rng.normal(8, 0.3, 200)]),
        "masses": np.concatenate([np.zeros(60), rng.exponential(size=300)]),
        "whole": np.concatenate([rng.integers(0, 12, 300), rng.integers(3, 5, 500)]),
        "dates": np.datetime64("2024-01-01") + np.concatenate([rng.integers(0, 90, 300), rng.integers(20, 30, 300)]),
        "huge": 2**60 + np.concatenate([rng.integers(0, 90, 300), rng.integers(20, 30, 300)]),
        "gap": np.concatenate([rng.uniform(0, 1, 200), rng.uniform(9, 10, 200)]),
    }

    @pytest.mark.parametrize("name", COLUMNS)
    @pytest.mark.parametrize("criterion", ["modl", "bayesian-blocks", "penalty"])
    def test_of_one_column(self, name, criterion):
        values = self.COLUMNS[name]
        model = optimize({"x": values}, criterion=CRITERIA[criterion])
        partition = model.partitions["x"]
        n, is_int = partition.n_parts - partition.n_special, values.dtype.kind != "f"
        low, high = partition.domain
        tick = np.ones(1, dtype=np.int64).astype("m8[D]" if name == "dates" else np.int64)[0] if is_int else 0
        is_int = name in ("dates", "huge")
        inside = np.array([low + tick if is_int else low, high], dtype=partition.domain.dtype)
        beyond = (
            np.array([low, high + tick], dtype=partition.domain.dtype)
            if is_int
            else np.nextafter([low, high], [-np.inf, np.inf])
        )
        far = beyond + (np.array([-1000, 1000]) if is_int else np.array([-1e9, 1e9]))
        rows, width = outside_of(model)
        share = partition.widths[:n][[0, -1]] / width
        expected = np.log((rows + share) / (model.n_rows + 1) / ((rows + 1) * width))
        for asked in (beyond, far):
            np.testing.assert_allclose(model.log_density(asked), expected, rtol=1e-12)
        densities = model.table()["density"][:n]
        assert np.exp(expected).max() < np.nanmin(densities)
        np.testing.assert_allclose(np.exp(model.log_density(inside)), np.asarray(densities)[[0, -1]])
        drawn = model.sample(2000, random_state=1)
        assert model.log_density(drawn).min() >= np.log(np.nanmin(densities)) - 1e-9
        assert model.score({"x": far}) == pytest.approx(model.log_density(far).mean())
        back = Model.from_json(model.to_json())
        assert back.log_density(far).tolist() == model.log_density(far).tolist()

    @pytest.mark.parametrize("name", ["real", "whole", "dates", "huge", "gap"])
    def test_of_cuts(self, name):
        values = self.COLUMNS[name]
        for model in (optimize_density({"x": values}), gridmodl.density.equal_width(values, 5)):
            domain = model.domain.view(np.int64) if model.domain.dtype.kind == "M" else model.domain
            far = np.array([values.min() - 5, values.max() + 5])
            rows = model.partition.counts[[0, -1], 0]
            expected = (rows + model.shares[[0, -1]]) / (model.n_rows + 1) / ((rows + 1) * float(domain[1] - domain[0]))
            np.testing.assert_allclose(model.density(far), expected, rtol=1e-9)
            assert expected.max() < model.densities.min()
            assert model.density(values).min() >= model.densities.min() * (1 - 1e-12)
            assert model.log_likelihood(far) == pytest.approx(np.log(expected).sum())
            assert float(model.densities @ model.widths) == pytest.approx(1.0)

    def test_of_a_joint_grid_and_of_a_target(self):
        x, y = self.COLUMNS["gap"], self.rng.normal(size=400)
        joint = Model.from_partitions({"x": x, "y": y}, None, {"x": [5.0], "y": [0.0]})
        target = Model.from_partitions({"y": y}, x, {"y": [0.0], "target": [5.0]}, target_kind="numerical")
        width = float(np.ptp(x))
        for model, name in ((joint, "x"), (target, "target")):
            found = model.conditional(name)
            rows = np.array([200, 200])
            expected = found.probabilities / ((rows + 1) * width)
            np.testing.assert_allclose(np.exp(found.log_density([-1e9, 1e9])), expected)
            inside = np.linspace(x.min(), x.max(), 20_001)
            middles = (inside[1:] + inside[:-1]) / 2.0
            logs = found.log_density(middles)
            assert np.exp(logs).mean() * width == pytest.approx(1.0, rel=1e-3)
            assert expected.max() < np.exp(logs).min()

    def test_values_beside_masses_alone_have_no_density(self):
        model = optimize([5.0] * 7)
        assert np.isnan(model.log_density([4.0])[0])
        assert model.log_density([5.0]).tolist() == [0.0]

    def test_bounds_of_the_user_beyond_the_values(self):
        values = self.COLUMNS["real"]
        model = Model.from_partitions({"x": values}, None, {"x": [-50.0, 2.0, 50.0]})
        plain = Model.from_partitions({"x": values}, None, {"x": [2.0]})
        asked = [-60.0, -49.0, values.min(), 1.0, 2.0, 3.0, values.max(), 40.0, 60.0]
        np.testing.assert_allclose(model.log_density(asked), plain.log_density(asked))
        assert not np.isnan(model.log_density(asked)).any()


class TestFiles:
    record = json.loads(optimize({"x": DICE}, fixed=[3]).to_json())

    @pytest.mark.parametrize("step", [-1.0, 0.7, 1e9, {"float": "nan"}, "1", None])
    def test_a_forged_step(self, step):
        raw = json.loads(json.dumps(self.record))
        assert raw["partitions"][0]["step"] == 1.0
        raw["partitions"][0]["step"] = step
        with pytest.raises(ModelFileError, match="step"):
            Model.from_json(json.dumps(raw))

    def test_a_step_where_there_is_no_density(self):
        raw = json.loads(Model.from_partitions([1.0, 2.0, 3.0], [0, 0, 1], {"x0": [2.5]}).to_json())
        raw["partitions"][0]["step"] = 1.0
        with pytest.raises(ModelFileError, match="step"):
            Model.from_json(json.dumps(raw))
        cuts = json.loads(optimize_density({"x": DICE}).to_json())
        assert cuts["partition"]["step"] == 1.0
        cuts["partition"]["step"] = 99.0
        with pytest.raises(ModelFileError, match="step"):
            DensityModel.from_json(json.dumps(cuts))

    def test_merged_parts_keep_it(self):
        model = optimize({"x": DICE}, fixed=[2, 4])
        merged = model.edit("x", merge=[0, 1])
        assert merged.partitions["x"].step == 1.0
        assert merged.partitions["x"].widths.tolist() == [4.0, 2.0]
        assert merged.cost == pytest.approx(price({"x": DICE}, None, {"x": [4]}))
        back = Model.from_json(merged.to_json())
        assert back.log_density([4.0, 5.0]).tolist() == merged.log_density([4.0, 5.0]).tolist()


def test_new_rows_of_dates_are_outside_of_their_range():
    days = np.datetime64("2024-01-01") + np.arange(60)
    model = optimize({"x": days})
    new = {"x": days[[0, 0, 1, 59]] + np.array([-1, 0, 0, 1])}
    found = model.compare(new)["x"]
    assert (found.below.tolist(), found.above.tolist()) == ([0.25], [0.25])
