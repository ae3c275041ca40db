"""The methods to compare with, against results that others published and against slow and obvious code."""

from __future__ import annotations

import datetime
import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import chi2
from sklearn.datasets import load_iris
from sklearn.preprocessing import KBinsDiscretizer

import gridmodl
from gridmodl.baselines import chi_merge, each, equal_frequency, equal_width, fayyad_irani
from gridmodl.baselines.cutting import ChiMerge, FayyadIrani, Values, run_starts
from gridmodl.clock import Clock
from gridmodl.data.quantiles import equal_width_cuts

METHODS = [equal_width, equal_frequency, fayyad_irani, chi_merge]
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]


def iris():
    data = load_iris()
    return dict(zip(NAMES, data.data.T, strict=True)), data.target


def bounds_of(model):
    (partition,) = model.partitions.values()
    return partition.bounds.tolist()


class TestFayyadIrani:
    def test_iris_as_in_r(self):
        """R's `discretization::mdlp` on iris, as the manual of the R package arulesCBA prints it.

        The example of `discretizeDF.supervised(Species ~ ., iris)` shows cuts and the rows of each part.
        """
        published = {
            "sepal length": ([5.55, 6.15], [59, 36, 55]),
            "sepal width": ([2.95, 3.35], [57, 56, 37]),
            "petal length": ([2.45, 4.75], [50, 45, 55]),
            "petal width": ([0.8, 1.75], [50, 54, 46]),
        }
        models = each(fayyad_irani, *iris())
        for name, (cuts, rows) in published.items():
            assert bounds_of(models[name]) == pytest.approx(cuts)
            assert models[name].partitions[name].rows.tolist() == rows

    def test_the_stop_by_hand(self):
        """aaaabbbb saves 8 x 1 bit; the cut costs log2(7) + log2(7) - (2 x 1 - 0 - 0) = 3.61: it pays.

        aabb saves 4 bits, for log2(3) + log2(7) - 2 = 2.39; ab saves 2, for 0 + log2(7) - 2 = 0.81. abab would save
        4 (1 - 3/4 x 0.918) = 1.25 by its first cut, for log2(3) + log2(7) - (2 - 0 - 2 x 0.918) = 4.23: it does not.
        """
        for rows, cuts in (("aaaabbbb", [3.5]), ("aabb", [1.5]), ("ab", [0.5]), ("abab", [])):
            assert bounds_of(fayyad_irani(np.arange(len(rows)), list(rows))) == cuts

    def test_the_lowest_of_equal_cuts(self):
        """By symmetry both cuts save the same, to the last digit or not; where one is made alone, it is the lower."""
        n_alone = 0
        for counts in mirrored():
            if len(plain_splits(counts.tolist())) == 2:
                n_alone += 1
                cuts = FayyadIrani().cut(Values(np.arange(3.0), counts, np.dtype(float)), Clock())
                assert cuts.tolist() == [0.5]
        assert n_alone > 50

    @pytest.mark.parametrize("seed", range(20))
    def test_it_is_the_plain_recursion(self, seed):
        column, target, weights = random_column(seed)
        model = fayyad_irani(column, target, weights=weights)
        values, counts = table_of(column, target, weights)
        assert bounds_of(model) == pytest.approx(middles(values, plain_splits(counts)))

    def test_many_classes(self):
        """3^k is beyond floats for 700 classes."""
        target = np.repeat(np.arange(700), 50)
        model = fayyad_irani(np.arange(35_000), target)
        assert bounds_of(model) == [50.0 * i - 0.5 for i in range(1, 700)]

    def test_interrupted(self):
        clock = Clock(0.0)
        values = values_of(np.arange(8.0), np.repeat([0, 1], 4))
        assert FayyadIrani().cut(values, clock).tolist() == []
        assert clock.stopped == "time limit"

    def test_runs(self):
        assert run_starts(np.array([[1, 0], [2, 0], [0, 1], [1, 1], [1, 1], [0, 2], [0, 1]])).tolist() == [
            0,
            2,
            3,
            4,
            5,
        ]


class TestChiMerge:
    def test_iris_as_in_r(self):
        """What R's `discretization::chiM(iris, alpha = 0.05)$cutp` prints."""
        published = {
            "sepal length": [5.45, 5.75, 7.05],
            "sepal width": [2.95, 3.35],
            "petal length": [2.45, 4.75, 5.15],
            "petal width": [0.8, 1.75],
        }
        models = each(chi_merge, *iris())
        assert {name: bounds_of(model) for name, model in models.items()} == {
            name: pytest.approx(cuts) for name, cuts in published.items()
        }

    @pytest.mark.parametrize(
        ("significance", "first", "counts"),
        [
            (
                0.50,
                [4.9, 5.0, 5.5, 5.6, 5.7, 5.8, 5.9, 6.3, 6.6, 6.7, 7.0, 7.1],
                [[16, 0, 0], [4, 1, 1], [25, 5, 0], [2, 5, 0], [0, 5, 1], [2, 5, 1], [1, 3, 3], [0, 12, 7], [0, 6, 15],
                 [0, 2, 0], [0, 5, 10], [0, 1, 0], [0, 0, 12]],
            ),
            (0.90, [5.5, 5.8, 6.3, 7.1], [[45, 6, 1], [4, 15, 2], [1, 15, 10], [0, 14, 25], [0, 0, 12]]),
        ],
    )  # fmt: skip
    def test_iris_as_in_the_paper(self, significance, first, counts):
        """Kerber (1992) shows the sepal length of iris at two levels: the first value and the classes of each part."""
        columns, target = iris()
        model = chi_merge(columns["sepal length"], target, significance)
        assert model.partitions["x0"].counts.tolist() == counts
        lowest = [columns["sepal length"][columns["sepal length"] > bound].min() for bound in bounds_of(model)]
        assert lowest == first

    def test_the_example_of_a_textbook(self):
        """M. Kantardzic, Data Mining, the example of ChiMerge: [0, 10], [10, 42], [42, 60] at a level of 0.1.

        It ends as the statistic of the first two, 2.72, is above the threshold of 2.706.
        """
        column, target = [1, 3, 7, 8, 9, 11, 23, 37, 39, 45, 46, 59], [1, 2, 1, 1, 1, 2, 2, 1, 2, 1, 1, 1]
        assert bounds_of(chi_merge(column, target, 0.9)) == [10.0, 42.0]
        assert float(plain_statistic([4, 1], [1, 3])) == pytest.approx(2.7225)

    @pytest.mark.parametrize("seed", range(20))
    def test_it_is_the_plain_merge(self, seed):
        column, target, weights = random_column(seed)
        rng = np.random.default_rng([seed, 1])
        significance = float(rng.choice([0.3, 0.9, 0.95, 0.99]))
        min_parts = int(rng.integers(1, 5))
        max_parts = None if rng.random() < 0.5 else min_parts + int(rng.integers(0, 5))
        model = chi_merge(column, target, significance, min_parts=min_parts, max_parts=max_parts, weights=weights)
        values, counts = table_of(column, target, weights)
        starts = plain_merges(counts, significance, min_parts, max_parts or len(values))
        assert bounds_of(model) == pytest.approx(middles(values, starts))

    def test_at_most_and_at_least(self):
        columns, target = iris()
        sepal = columns["sepal length"]
        for n in (2, 3, 9):
            assert chi_merge(sepal, target, 1e-9, max_parts=n).partitions["x0"].n_parts == n
            assert chi_merge(sepal, target, 1.0 - 1e-12, min_parts=n).partitions["x0"].n_parts == n
        assert chi_merge([1, 2, 3], [0, 1, 0], min_parts=10**30, max_parts=10**40).partitions["x0"].n_parts == 3

    def test_the_leftmost_of_equal_pairs(self):
        """By symmetry both pairs have the same statistic, to the last digit or not."""
        rule = ChiMerge(1e-9, 2, 2)
        for counts in mirrored():
            assert rule.cut(Values(np.arange(3.0), counts, np.dtype(float)), Clock()).tolist() == [1.5]

    def test_equal_proportions_merge_first(self):
        """(1, 2) and (2, 4) do not differ; nor do rows of one class."""
        column = np.repeat([1, 2, 3, 4], [3, 6, 5, 7])
        target = [0, 1, 1, 0, 0, 1, 1, 1, 1, *[0] * 12]
        assert bounds_of(chi_merge(column, target, 1e-6)) == [2.5]


class TestEqualParts:
    @pytest.mark.parametrize("n_parts", [2, 3, 7, 40])
    def test_width_as_in_scikit_learn(self, n_parts):
        columns, target = iris()
        for column in (*columns.values(), np.random.default_rng(0).normal(size=150)):
            peer = KBinsDiscretizer(n_parts, encode="ordinal", strategy="uniform", subsample=None)
            peer.fit(column[:, None])
            model = equal_width(column, target, n_parts)
            assert bounds_of(model) == pytest.approx(peer.bin_edges_[0][1:-1].tolist())

    @pytest.mark.parametrize("n_parts", [1, 2, 3, 8, 24])
    def test_frequency_as_in_numpy(self, n_parts):
        """Where each part has the same number of rows, the bounds are the quantiles that lie midway."""
        rng = np.random.default_rng(0)
        column, target = rng.permutation(np.cumsum(rng.random(240))), rng.integers(0, 2, 240)
        quantiles = np.quantile(column, np.arange(1, n_parts) / n_parts, method="averaged_inverted_cdf")
        model = equal_frequency(column, target, n_parts)
        assert bounds_of(model) == pytest.approx(quantiles.tolist())
        assert set(model.partitions["x0"].rows.tolist()) == {240 // n_parts}

    @pytest.mark.parametrize("seed", range(20))
    def test_frequency_is_nearest(self, seed):
        column, target, weights = random_column(seed)
        n_parts = 2 + seed % 5
        values, counts = table_of(column, target, weights)
        below = np.cumsum([sum(row) for row in counts])
        wanted = [below[-1] * j / n_parts for j in range(1, n_parts)]
        starts = {min(range(1, len(values)), key=lambda i, w=w: (abs(below[i - 1] - w), i)) for w in wanted}
        model = equal_frequency(column, target, n_parts, weights=weights)
        assert bounds_of(model) == pytest.approx(middles(values, [0, *sorted(starts)]))

    def test_parts_without_rows_stay(self):
        model = equal_width([0.0, 1.0, 10.0], ["a", "b", "a"], 5)
        assert bounds_of(model) == [2.0, 4.0, 6.0, 8.0]
        assert model.partitions["x0"].rows.tolist() == [2, 0, 0, 0, 1]
        assert model.predict_proba([5.0]).tolist() == [pytest.approx([2 / 3, 1 / 3])]

    def test_width_beyond_the_largest_float(self):
        huge = np.array([-1.5e308, 0.0, 1.5e308])
        assert bounds_of(equal_width(huge, [0, 1, 0], 4)) == pytest.approx([-7.5e307, 0.0, 7.5e307])
        cuts = equal_width_cuts(-1.7e308, 1.7e308, 2, np.dtype(float))
        assert (cuts.bounds.tolist(), cuts.shares.tolist()) == ([0.0], [0.5])


def assert_sane(model, n_rows, missing_part=None):
    (partition,) = model.partitions.values()
    assert partition.rows.sum() == model.n_rows == n_rows
    assert partition.missing == missing_part
    assert not model.proven
    assert model.cost == pytest.approx(model.edit(partition.name, bounds=given_bounds(partition)).cost)


def given_bounds(partition):
    return [math.nan, *partition.bounds] if partition.is_missing_apart else partition.bounds


@pytest.mark.parametrize("method", METHODS)
class TestEveryMethod:
    def test_the_model(self, method):
        columns, target = iris()
        model = method(columns["petal width"], target)
        assert isinstance(model, gridmodl.Model)
        assert model.search == {
            equal_width: "equal width", equal_frequency: "equal frequency", fayyad_irani: "fayyad-irani",
            chi_merge: "chi-merge",
        }[method]  # fmt: skip
        assert_sane(model, 150)
        best = gridmodl.optimize(columns["petal width"], target)
        assert best.cost <= model.cost
        assert model.null_cost == pytest.approx(best.null_cost)
        again = gridmodl.Model.from_json(model.to_json())
        assert again.search == model.search
        assert again.transform(columns["petal width"]).tolist() == model.transform(columns["petal width"]).tolist()
        assert model.search in model.summary()

    @pytest.mark.parametrize("seed", range(10))
    def test_its_cost_is_the_price_of_its_parts(self, method, seed):
        column, target, weights = random_column(seed)
        for criterion in ("modl", "bic", gridmodl.get_criterion("entropy", alpha=0.5)):
            model = method(column, target, weights=weights, criterion=criterion)
            bounds = given_bounds(model.partitions["x0"])
            price = gridmodl.price(column, target, {"x0": bounds}, weights=weights, criterion=criterion)
            assert model.cost == pytest.approx(price)
            assert model.criterion == (criterion if isinstance(criterion, str) else "entropy")

    @pytest.mark.parametrize("seed", range(5))
    def test_weights_are_rows(self, method, seed):
        column, target, _ = random_column(seed)
        weights = np.random.default_rng(seed).integers(0, 5, len(column))
        model, repeated = (
            method(column, target, weights=weights),
            method(column.repeat(weights), target.repeat(weights)),
        )
        assert bounds_of(model) == bounds_of(repeated)
        assert model.partitions["x0"].counts.tolist() == repeated.partitions["x0"].counts.tolist()
        assert model.cost == pytest.approx(repeated.cost)

    @pytest.mark.parametrize("seed", range(10))
    def test_the_order_of_rows_and_classes_does_not_matter(self, method, seed):
        column, target, _ = random_column(seed)
        rng = np.random.default_rng(seed)
        rows, names = rng.permutation(len(column)), rng.permutation(int(target.max()) + 1)
        assert bounds_of(method(column, target)) == bounds_of(method(column[rows], names[target[rows]]))

    def test_missing_values_are_apart(self, method):
        columns, target = iris()
        column = np.append(columns["petal length"], [np.nan] * 7)
        model, whole = method(column, np.append(target, [0] * 7)), method(columns["petal length"], target)
        assert bounds_of(model) == bounds_of(whole)
        assert model.partitions["x0"].is_missing_apart
        assert model.partitions["x0"].counts[0].tolist() == [7, 0, 0]
        assert model.transform([np.nan]).tolist() == [0]
        assert_sane(model, 157, 0)

    def test_all_missing(self, method):
        model = method([np.nan, None, np.nan], [0, 1, 0])
        assert model.partitions["x0"].n_parts == 1
        assert_sane(model, 3, 0)

    def test_one_value_and_missing_ones(self, method):
        model = method([np.nan, 5.0, 5.0], [0, 1, 0])
        assert model.partitions["x0"].rows.tolist() == [1, 2]
        assert_sane(model, 3, 0)

    @pytest.mark.parametrize(("column", "target"), [([2.0], ["a"]), ([3, 3, 3], [0, 1, 1])])
    def test_one_value(self, method, column, target):
        model = method(column, target)
        assert model.partitions["x0"].n_parts == 1
        assert_sane(model, len(column))

    def test_one_class(self, method):
        model = method(np.arange(30), np.zeros(30, dtype=int))
        assert model.partitions["x0"].n_parts == (10 if "equal" in model.search else 1)
        assert_sane(model, 30)

    def test_infinite_values(self, method):
        column = [-np.inf, -np.inf, 0.0, 1.0, 2.0, 3.0, 4.0, np.inf, np.inf]
        model = method(column, list("aabbbbbaa"))
        assert_sane(model, 9)
        assert np.all(np.isfinite(bounds_of(model)) | (np.array(bounds_of(model)) == -np.inf))
        assert method([-np.inf, np.inf], [0, 1]).n_rows == 2
        if method is equal_width:
            assert model.partitions["x0"].rows.tolist() == [3, 0, 1, 0, 1, 0, 0, 1, 0, 3]
            assert bounds_of(method([-np.inf, 1.0, np.inf], [0, 1, 0])) == []

    def test_special_codes(self, method):
        columns, target = iris()
        column = np.append(columns["petal width"], [-999.0, -999.0, -1.0, np.nan])
        model = method({"width": column}, np.append(target, [0, 1, 2, 0]), special={"width": [-999, -1, -5]})
        assert bounds_of(model) == bounds_of(method(columns["petal width"], target))
        partition = model.partitions["width"]
        assert partition.rows[0] == 1
        assert partition.counts[-3:].tolist() == [[1, 1, 0], [0, 0, 1], [0, 0, 0]]
        assert_sane(model, 154, 0)
        alone = method({"width": [-1, -1]}, [0, 1], special={"width": [-1]})
        assert alone.partitions["width"].rows.tolist() == [0, 2]

    def test_dates(self, method):
        days = np.datetime64("2024-01-01") + np.arange(40).astype("m8[D]")
        target = np.arange(40) >= 20
        model = method({"day": days}, target)
        assert model.partitions["day"].bounds.dtype == days.dtype
        assert_sane(model, 40)
        if "equal" not in model.search:
            assert bounds_of(model) == [datetime.date(2024, 1, 20)]

    def test_large_integers_and_small_floats(self, method):
        large = 2**60 + np.arange(40)
        model = method(large, np.arange(40) >= 20)
        assert model.partitions["x0"].bounds.dtype == np.int64
        assert_sane(model, 40)
        small = np.nextafter(np.float32(1.0), np.float32(2.0))
        model = method(np.array([1.0, 1.0, 1.0, 1.0, small, small, small, small], dtype=np.float32), [0] * 4 + [1] * 4)
        assert bounds_of(model) == [1.0]
        assert_sane(model, 8)

    def test_frames(self, method):
        columns, target = iris()
        plain = method(columns["petal width"], target)
        for library in (pd, pl):
            frame = library.DataFrame({"width": columns["petal width"], "class": target, "times": np.ones(150, int)})
            model = method(frame, "class", weights="times")
            assert list(model.partitions) == ["width"]
            assert bounds_of(model) == bounds_of(plain)

    def test_inputs_stay_as_they_are(self, method):
        column, target, weights = random_column(3)
        before = column.copy(), target.copy(), weights.copy()
        method(column, target, weights=weights)
        for kept, given in zip(before, (column, target, weights), strict=True):
            np.testing.assert_array_equal(kept, given)

    @pytest.mark.parametrize(
        ("data", "target", "error", "message"),
        [
            ([], [], ValueError, "no rows"),
            (["a", "b"], [0, 1], TypeError, "'x0' is categorical.*optimize groups"),
            ([True, False], [0, 1], TypeError, "is categorical"),
            ([1.0, "a"], [0, 1], TypeError, "mixes numbers"),
            ([1.0, 2.0], None, ValueError, "target is None"),
            ([1.0, 2.0], [0.5, 1.5], ValueError, "target has real numbers"),
            ([1.0, 2.0], [0, 1, 1], ValueError, "data has 2 rows and target has 3"),
            ([1.0, 2.0], [0, None], ValueError, "missing"),
            ([[1.0, 2.0], [3.0, 4.0]], [0, 1], ValueError, "data has 2 columns.*each"),
        ],
    )
    def test_what_it_does_not_take(self, method, data, target, error, message):
        with pytest.raises(error, match=message):
            method(data, target)

    def test_options_it_does_not_take(self, method):
        for given, error, message in (
            ({"criterion": "nothing"}, ValueError, "nothing"),
            ({"weights": [0, 0]}, ValueError, "all weights are 0"),
            ({"special": {"x1": [3]}}, ValueError, "'x1'"),
            ({"special": "abc"}, TypeError, "special must be"),
        ):
            with pytest.raises(error, match=message):
                method([1.0, 2.0], [0, 1], **given)


@pytest.mark.parametrize(
    ("method", "given", "error", "message"),
    [
        *((method, {"n_parts": n}, ValueError, "n_parts must be") for method in METHODS[:2] for n in (0, -1, 10**12)),
        *(
            (method, {"n_parts": n}, TypeError, "n_parts must be a whole")
            for method in METHODS[:2]
            for n in (2.5, None)
        ),
        *(
            (chi_merge, {"significance": s}, ValueError, "between 0 and 1")
            for s in (0, 1, -0.1, 95, math.nan, "a", True)
        ),
        (chi_merge, {"min_parts": 0}, ValueError, "min_parts must be at least 1"),
        (chi_merge, {"max_parts": 0}, ValueError, "max_parts must be at least 1"),
        (chi_merge, {"max_parts": 2, "min_parts": 3}, ValueError, "max_parts must be at least 3"),
        (chi_merge, {"max_parts": 2.0}, TypeError, "max_parts must be a whole"),
    ],
)
def test_options_out_of_range(method, given, error, message):
    with pytest.raises(error, match=message):
        method([1.0, 2.0], [0, 1], **given)
    with pytest.raises(error, match=message):
        each(method, [[1.0], [2.0]], [0, 1], **given)


class TestEach:
    @pytest.mark.parametrize(
        ("method", "options"),
        [
            (equal_width, {"n_parts": 4}),
            (equal_frequency, {"n_parts": 3}),
            (fayyad_irani, {}),
            (chi_merge, {"significance": 0.8, "max_parts": 3}),
        ],
    )
    def test_it_is_the_method_on_each_column(self, method, options):
        columns, target = iris()
        columns["odd"] = np.where(np.arange(150) % 7 == 0, np.nan, np.arange(150.0))
        weights = np.arange(150) % 3
        models = each(method, columns, target, weights=weights, criterion="bic", special={"odd": [3]}, **options)
        assert isinstance(models, gridmodl.Models)
        assert set(models) == set(columns)
        assert [model.level for model in models.values()] == sorted((m.level for m in models.values()), reverse=True)
        for name, model in models.items():
            special = {"odd": [3]} if name == "odd" else None
            alone = method({name: columns[name]}, target, weights=weights, criterion="bic", special=special, **options)
            assert bounds_of(model) == bounds_of(alone)
            assert (model.cost, model.search) == (alone.cost, alone.search)

    def test_categorical_columns_are_named(self):
        data = pd.DataFrame({"size": [1, 2, 3, 4], "colour": ["red", "blue", "red", "blue"]})
        with pytest.warns(gridmodl.ColumnWarning, match="'colour' has no model.*categorical") as warned:
            models = each(fayyad_irani, data, ["a", "a", "b", "b"])
        assert [warning.filename for warning in warned] == [__file__]
        assert list(models) == ["size"]
        assert isinstance(models.errors["colour"], TypeError)
        with pytest.raises(TypeError, match="'colour' is categorical"):
            each(fayyad_irani, data[["colour"]], ["a", "a", "b", "b"])

    def test_categorical_columns_may_be_passed_over_or_raised(self):
        data = pd.DataFrame({"colour": ["red", "blue", "red", "blue"], "size": [1, 2, 3, 4]})
        target = ["a", "a", "b", "b"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            models = each(chi_merge, data, target, on_error="ignore", max_parts=2)
        assert (list(models), list(models.errors)) == (["size"], ["colour"])
        with pytest.raises(TypeError, match="'colour' is categorical"):
            each(chi_merge, data, target, on_error="raise")
        with pytest.raises(TypeError, match="'colour' is categorical"):
            each(chi_merge, data[["colour"]], target, on_error="ignore")
        with pytest.raises(ValueError, match="on_error must be one of 'warn', 'ignore', 'raise', got 'skip'"):
            each(chi_merge, data, target, on_error="skip")

    def test_the_method_is_a_function_of_these(self):
        for method in ("fayyad_irani", gridmodl.optimize, [chi_merge], None):
            with pytest.raises(TypeError, match=r"one of the functions gridmodl\.baselines\.equal_width"):
                each(method, [[1.0], [2.0]], [0, 1])

    def test_options_of_another_method(self):
        with pytest.raises(TypeError, match="fayyad_irani has no option 'n_parts'; it has none"):
            each(fayyad_irani, [[1.0], [2.0]], [0, 1], n_parts=3)
        with pytest.raises(TypeError, match="'n_parts'; it has significance, min_parts, max_parts"):
            each(chi_merge, [[1.0], [2.0]], [0, 1], n_parts=3)


def test_the_module_is_public():
    assert "baselines" in dir(gridmodl)
    assert gridmodl.baselines.chi_merge is chi_merge
    assert sorted(gridmodl.baselines.__all__) == sorted([*(method.__name__ for method in METHODS), "each"])


# The slow and obvious way.


def random_column(seed):
    """Up to 80 rows of 2 to 5 classes, whose shares change with the column; ties, missing values, weights."""
    rng = np.random.default_rng(seed)
    n_rows, n_classes = int(rng.integers(6, 80)), int(rng.integers(2, 6))
    column = rng.random(n_rows)
    target = np.where(rng.random(n_rows) < rng.random(), column * n_classes, rng.integers(0, n_classes, n_rows))
    if rng.random() < 0.7:
        column = np.round(column * rng.integers(3, 40)) / 4.0
    if rng.random() < 0.5:
        column = np.where(rng.random(n_rows) < 0.2, np.nan, column)
    column[:2] = 0.25, 7.75  # never all of one value
    weights = rng.integers(0, 4, n_rows) if rng.random() < 0.5 else np.ones(n_rows, dtype=int)
    weights[:2] = 1, 2
    return column, target.astype(int), weights


def table_of(column, target, weights):
    """The distinct values, and the rows of each class of each of them."""
    kept = ~np.isnan(column) & (weights > 0)
    values = sorted(set(column[kept].tolist()))
    classes = sorted(set(target[weights > 0].tolist()))
    counts = [
        [sum(w for x, y, w in zip(column, target, weights, strict=True) if x == v and y == c) for c in classes]
        for v in values
    ]
    return values, counts


def values_of(column, target):
    numbers, counts = table_of(column, target, np.ones(len(column), dtype=int))
    return Values(np.array(numbers), np.array(counts), np.dtype(float))


def mirrored():
    """Three values with the rows of four classes, which from the right are those from the left with other names."""
    rng = np.random.default_rng(0)
    for _ in range(500):
        outer, inner = rng.integers(1, 60, 4), rng.integers(1, 8, 2)
        yield np.array([outer, [*inner, *inner[::-1]], outer[::-1]])


def middles(values, starts):
    return [(values[start - 1] + values[start]) / 2.0 for start in starts[1:]]


def summed(counts):
    return [sum(column) for column in zip(*counts, strict=True)]


def entropy(rows):
    return -sum(n / sum(rows) * math.log2(n / sum(rows)) for n in rows if n)


def split_of(counts):
    """The place of least mean entropy, that entropy, and whether the criterion of Fayyad and Irani takes it."""
    n = sum(summed(counts))
    found = []
    for i in range(1, len(counts)):
        left, right = summed(counts[:i]), summed(counts[i:])
        found.append((round((sum(left) * entropy(left) + sum(right) * entropy(right)) / n, 9), i, left, right))
    mean, place, left, right = min(found)
    k, k1, k2 = (sum(x > 0 for x in rows) for rows in (summed(counts), left, right))
    whole = entropy(summed(counts))
    delta = math.log2(3**k - 2) - (k * whole - k1 * entropy(left) - k2 * entropy(right))
    return place, mean, whole - mean > (math.log2(n - 1) + delta) / n


def plain_splits(counts):
    """First values of the parts: every value is tried, not only those at the border of a class."""
    if len(counts) == 1 or entropy(summed(counts)) == 0.0:
        return [0]
    place, _, is_taken = split_of(counts)
    if not is_taken:
        return [0]
    return plain_splits(counts[:place]) + [place + start for start in plain_splits(counts[place:])]


def plain_statistic(a, b):
    """The chi-square of two parts, exact, with no denominator below 1/2."""
    total = Fraction(0)
    for part in (a, b):
        for j, observed in enumerate(part):
            expected = Fraction(int(sum(part) * (a[j] + b[j])), int(sum(a) + sum(b)))
            total += (int(observed) - expected) ** 2 / max(expected, Fraction(1, 2))
    return total


def plain_merges(counts, significance, min_parts, max_parts):
    """First values of the parts, by all statistics anew after each merge."""
    parts, starts = list(counts), list(range(len(counts)))
    threshold = chi2.ppf(significance, len(counts[0]) - 1) if len(counts[0]) > 1 else math.inf
    while len(parts) > min_parts:
        found = [plain_statistic(*pair) for pair in itertools.pairwise(parts)]
        least = found.index(min(found))
        if len(parts) <= max_parts and found[least] >= threshold:
            break
        parts[least : least + 2] = [summed(parts[least : least + 2])]
        del starts[least + 1]
    return starts
