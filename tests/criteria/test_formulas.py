"""Every criterion, as plain Python terms, against formulas written out and the numbers known for them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from gridmodl_khiops11 import Khiops11
from oracles import naive
from oracles.naive import Column, cut, group
from scipy import stats
from scipy.special import gammaln
from sklearn.datasets import load_iris, load_wine

from gridmodl import get_criterion
from gridmodl.criteria.confidence import log_chi2_survival
from gridmodl.criteria.modl_grouped import ModlGrouped
from gridmodl.criteria.modl_joint import ModlJoint
from gridmodl.criteria.modl_semi import ModlSemi
from gridmodl.plugins import criterion_for


def log_choose(n, k):
    return math.log(math.comb(n, k))


def log_factorial(n):
    return math.log(math.factorial(n))


@pytest.fixture
def table(rng):
    """Random class counts of five parts and three classes, one part pure."""
    counts = rng.integers(1, 30, (5, 3))
    counts[2] = 0, 7, 0
    return counts


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def price_table(criterion, counts):
    """Price of one numerical variable with one value per part."""
    counts = np.asarray(counts)
    parts, classes = np.nonzero(counts)
    rows = counts[parts, classes]
    values, target = np.repeat(parts, rows).tolist(), np.repeat(classes, rows).tolist()
    return naive.price(criterion, "classes", [Column(values, values)], target)


def written_out(name, counts, alpha=0.5, beta=0.0):
    """The cost of one numerical variable, straight from the formula."""
    counts = np.asarray(counts)
    n, (i, j), rows = int(counts.sum()), counts.shape, counts.sum(axis=1)
    share = counts / rows[:, None]
    sl = -sum(c * math.log(c / r) for row, r in zip(counts, rows, strict=True) for c in row if c)
    null = counts.sum(axis=0)
    g2 = 2 * (-sum(c * math.log(c / n) for c in null if c) - sl)
    expected = np.outer(rows, null) / n
    x2, df = ((counts - expected) ** 2 / expected).sum(), (i - 1) * (j - 1)

    def normal(stat):
        return -(stat - df * (1 + math.log(stat / df))) if stat > df else 0.0

    def modl():
        cost = math.log(n) + log_choose(n + i - 1, i - 1)
        for row, r in zip(counts.tolist(), rows.tolist(), strict=True):
            cost += log_choose(r + j - 1, j - 1) + log_factorial(r) - sum(map(log_factorial, row))
        return cost

    def entropy():
        if beta == 0:
            return sl + alpha * df * math.log(n)
        h = (share * (1 - share**beta) / beta).sum(axis=1)
        return (rows * h).sum() + alpha * df * (1 - n**-beta) / beta

    return {
        "modl": modl,
        "aic": lambda: 2 * sl + 2 * i * (j - 1),
        "bic": lambda: 2 * sl + i * (j - 1) * math.log(n),
        "mdlp": lambda: sl + (i - 1) * math.log(n / (i - 1)) + i * (j - 1) * math.log(j),
        "gini": lambda: (rows * (1 - (share**2).sum(axis=1))).sum() + 2 * (i - 1),
        "entropy": entropy,
        "g2": lambda: stats.chi2.logsf(g2, df),
        "x2": lambda: stats.chi2.logsf(x2, df),
        "g2-normal": lambda: normal(g2),
        "x2-normal": lambda: normal(x2),
    }[name]()


NAMES = ["modl", "aic", "bic", "mdlp", "gini", "entropy", "g2", "x2", "g2-normal", "x2-normal"]


@pytest.mark.parametrize("name", NAMES)
def test_one_variable_costs_what_the_formula_says(name, table):
    assert price_table(get_criterion(name), table) == pytest.approx(written_out(name, table), rel=1e-12)


@pytest.mark.parametrize(("alpha", "beta"), [(0.3, 0.2), (1.0, 1.0), (0.7, 2.5), (0.5, 1e-9)])
def test_entropy_options(alpha, beta, table):
    got = price_table(get_criterion("entropy", alpha=alpha, beta=beta), table)
    near_zero = 0.0 if beta < 1e-6 else beta  # the plain formula cancels there, its limit does not
    assert got == pytest.approx(written_out("entropy", table, alpha, near_zero), rel=1e-6 if beta < 1e-6 else 1e-12)


def test_mdlp_of_one_part_has_no_second_term():
    assert price_table(get_criterion("mdlp"), [[4, 6]]) == pytest.approx(
        -4 * math.log(0.4) - 6 * math.log(0.6) + math.log(2)
    )


def test_log_chi2_survival_agrees_with_scipy_and_goes_further():
    for stat, df in itertools.product([0.01, 0.5, 3.0, 10.0, 80.0, 500.0], [1, 2, 5, 40, 300]):
        assert log_chi2_survival(stat, df) == pytest.approx(stats.chi2.logsf(stat, df), rel=1e-10, abs=1e-14)
    # Two degrees of freedom have a closed form, also where scipy underflows.
    assert log_chi2_survival(1e6, 2) == pytest.approx(-5e5, rel=1e-12)
    assert math.isfinite(log_chi2_survival(3000.0, 9))
    assert log_chi2_survival(0.0, 3) == 0.0


# The published data grid of wine, and MODL for grids.


@pytest.fixture
def wine():
    data = load_wine()
    return data.data[:, 0].tolist(), data.data[:, 6].tolist(), data.target.tolist()


def wine_grid(wine, alcohol, flavanoids):
    return [Column(wine[0], cut(wine[0], alcohol)), Column(wine[1], cut(wine[1], flavanoids))]


def test_modl_grid_of_wine(wine):
    criterion = criterion_for("modl", "grid")
    grid = wine_grid(wine, [12.78], [1.235, 2.18])
    assert naive.price(criterion, "grid", grid, wine[2]) == pytest.approx(89.470937, abs=5e-7)
    null = naive.price(criterion, "grid", wine_grid(wine, [], []), wine[2])
    assert null == pytest.approx(198.744102, abs=5e-7)


def test_modl_grid_without_the_selection_prior(wine):
    grid = wine_grid(wine, [12.78], [1.235, 2.18])
    with_prior = naive.price(criterion_for("modl", "grid"), "grid", grid, wine[2])
    without = naive.price(get_criterion("modl", selection=False), "grid", grid, wine[2])
    assert with_prior - without == pytest.approx(math.log(3) + log_choose(3, 2))


def test_goodness_functions_count_the_non_empty_cells_of_a_grid(wine):
    grid = wine_grid(wine, [12.78], [1.235, 2.18])
    cells = [[0, 4, 11], [0, 0, 31], [0, 35, 0], [0, 5, 6], [0, 23, 0], [59, 4, 0]]
    for name in ("aic", "bic", "gini", "entropy"):
        got = naive.price(get_criterion(name), "grid", grid, wine[2])
        assert got == pytest.approx(written_out(name, cells), rel=1e-12)


# MODL without a target.


def test_modl_joint_null_grid():
    a, b = list("aabbbcccc"), list("xyxyxyxyz")
    null = naive.price(ModlJoint(), "joint", [Column(v, [0] * 9, categorical=True) for v in (a, b)])
    by_hand = 2 * math.log(3) + 2 * log_factorial(9) + 2 * log_choose(9 + 2, 2)
    by_hand -= sum(map(log_factorial, [2, 3, 4])) + sum(map(log_factorial, [4, 4, 1]))
    assert null == pytest.approx(by_hand, rel=1e-12)


def test_modl_joint_maximum_grid_of_two_identical_variables():
    values = list("aabbbcccc")
    finest = [Column(values, group(values, list("abc")), categorical=True) for _ in range(2)]
    n, v = 9, 3
    partitions = 2 * (math.log(v) + math.log(1 + 3 + 1))  # B(3, 3) = 5 ways to group three values
    order = log_choose(n + v * v - 1, v * v - 1) + log_factorial(n) - sum(map(log_factorial, [2, 3, 4]))
    assert naive.price(ModlJoint(), "joint", finest) == pytest.approx(partitions + order, rel=1e-12)


def test_modl_joint_numerical_variables_cost_their_ranks():
    a, b = [1.0, 2.0, 3.0, 4.0, 5.0], [5.0, 4.0, 1.0, 2.0, 3.0]
    got = naive.price(ModlJoint(), "joint", [Column(a, cut(a, [2.5])), Column(b, cut(b, [3.5]))])
    by_hand = log_choose(5 + 3, 3) + log_factorial(5) - log_factorial(2) - log_factorial(3)
    by_hand += 2 * math.log(5) + 2 * (log_factorial(2) + log_factorial(3))
    assert got == pytest.approx(by_hand, rel=1e-12)


# A grouped target.


def test_modl_grouped_costs_what_the_formula_says():
    x = [1, 1, 2, 2, 3, 3, 4, 4, 4]
    y = list("aabcbdddc")
    got = naive.price(
        ModlGrouped(),
        "grouped",
        [Column(x, cut(x, [2.5])), Column(y, group(y, ["ab", "cd"]), categorical=True, is_target=True)],
    )
    by_hand = math.log(9) + log_choose(9 + 1, 1)  # two intervals
    by_hand += log_choose(4 + 1, 1) + log_factorial(4) - log_factorial(3) - log_factorial(1)  # 4 rows: 3 ab, 1 cd
    by_hand += log_choose(5 + 1, 1) + log_factorial(5) - log_factorial(1) - log_factorial(4)  # 5 rows: 1 ab, 4 cd
    by_hand += math.log(4) + math.log(1 + 7)  # B(4, 2) = S(4, 1) + S(4, 2)
    by_hand += log_choose(4 + 1, 1) + log_factorial(4) + log_choose(5 + 1, 1) + log_factorial(5)
    by_hand -= sum(map(log_factorial, [2, 2, 2, 3]))
    assert got == pytest.approx(by_hand, rel=1e-12)


def test_modl_numerical_target_costs_what_the_formula_says():
    x, y = [1, 2, 3, 4, 5], [0.1, 0.3, 0.2, 7.0, 9.0]
    got = naive.price(ModlGrouped(), "numerical", [Column(x, cut(x, [3.5])), Column(y, cut(y, [3.0]), is_target=True)])
    by_hand = math.log(5) + log_choose(5 + 1, 1) + log_choose(3 + 1, 1) + log_choose(2 + 1, 1)
    by_hand += math.log(5) + log_factorial(3) + log_factorial(2)  # N_i! and N_ij! cancel
    assert got == pytest.approx(by_hand, rel=1e-12)


# Semi-supervised.


def semi_term(labelled, rows, n_classes):
    """The price of one part, by trying every way to complete its labels."""
    free = rows - sum(labelled)

    def likelihood(extra):
        counts = [a + b for a, b in zip(labelled, extra, strict=True)]
        return (
            log_factorial(rows) - sum(map(log_factorial, counts)) - log_factorial(free) + sum(map(log_factorial, extra))
        )

    extras = (e for e in itertools.product(range(free + 1), repeat=n_classes) if sum(e) == free)
    best = min(likelihood(e) for e in extras)
    return log_choose(rows + n_classes - 1, n_classes - 1) + best


def test_modl_semi_completes_labels_at_the_lowest_price(rng):
    from gridmodl.terms import Cell, Problem, params_record

    for _ in range(150):
        n_classes = int(rng.integers(2, 5))
        labelled = tuple(rng.integers(0, 5, n_classes).tolist())
        rows = sum(labelled) + int(rng.integers(0, 8))
        if rows == 0:
            continue
        p = params_record(ModlSemi(), Problem("semi", rows, 1, np.ones(n_classes, dtype=int)))
        got = ModlSemi.cell(p, Cell(labelled, rows, rows - sum(labelled)))
        assert got == pytest.approx(semi_term(labelled, rows, n_classes), abs=1e-9)


def test_modl_semi_with_all_rows_labelled_is_modl(table):
    parts, classes = np.nonzero(table)
    values = np.repeat(parts, table[parts, classes]).tolist()
    target = np.repeat(classes, table[parts, classes]).tolist()
    semi = naive.price(ModlSemi(), "semi", [Column(values, values)], target, unlabelled=-1)
    assert semi == pytest.approx(price_table(get_criterion("modl"), table), rel=1e-12)


@pytest.mark.parametrize(("n", "fewest"), [(10, 6), (20, 8), (50, 10), (100, 12), (1000, 18)])
def test_modl_semi_needs_more_labels_in_more_rows(n, fewest):
    """Two classes at 0 and 1, equal numbers labelled: the fewest labels for which two intervals win."""

    def wins(n_labelled):
        values = [0] * (n // 2) + [1] * (n - n // 2)
        target = [-1] * n
        target[: n_labelled // 2] = [0] * (n_labelled // 2)
        target[n - n_labelled // 2 :] = [1] * (n_labelled // 2)
        price = lambda parts: naive.price(ModlSemi(), "semi", [Column(values, parts)], target, -1)  # noqa: E731
        return price(values) < price([0] * n)

    assert wins(fewest)
    assert not wins(fewest - 2)


def test_modl_needs_six_labels_for_two_intervals():
    criterion = get_criterion("modl")
    assert price_table(criterion, [[3, 0], [0, 3]]) < price_table(criterion, [[3, 3]])
    assert price_table(criterion, [[2, 0], [0, 2]]) > price_table(criterion, [[2, 2]])


# Khiops 11's joint criterion, the published costs of iris.


@pytest.fixture
def iris():
    data = load_iris()
    return data.data[:, 2].tolist(), data.data[:, 3].tolist(), data.target.tolist()


def test_khiops11_joint_grid_of_iris(iris):
    length, width, _ = iris
    grid = [Column(length, cut(length, [2.45, 4.75])), Column(width, cut(width, [0.8, 1.75]))]
    null = [Column(length, cut(length, [])), Column(width, cut(width, []))]
    assert naive.price(Khiops11(), "joint", null) == pytest.approx(1210.733359, abs=5e-7)
    assert naive.price(Khiops11(), "joint", grid) == pytest.approx(1107.814123, abs=5e-7)


def test_khiops11_joint_grid_of_iris_and_its_classes(iris):
    length, width, species = iris
    null = [Column(length, [0] * 150), Column(width, [0] * 150), Column(species, [0] * 150, categorical=True)]
    grid = [
        Column(length, cut(length, [2.45, 4.75])),
        Column(width, cut(width, [0.8, 1.75])),
        Column(species, species, categorical=True),
    ]
    assert naive.price(Khiops11(), "joint", null) == pytest.approx(1379.668177, abs=5e-7)
    assert naive.price(Khiops11(), "joint", grid) == pytest.approx(1164.273132, abs=5e-7)


# The identities of Jin, Breitbart and Muoh.


def test_entropy_at_beta_one_is_gini(table):
    n, j = int(table.sum()), table.shape[1]
    as_gini = get_criterion("entropy", alpha=2 * n / ((n - 1) * (j - 1)), beta=1.0)
    assert price_table(as_gini, table) == pytest.approx(price_table(get_criterion("gini"), table), rel=1e-12)


def test_entropy_at_beta_zero_ranks_as_bic_and_aic(rng):
    for _ in range(20):
        fine = rng.integers(1, 20, (4, 3))
        coarse = np.array([fine[0] + fine[1], fine[2] + fine[3]])
        n = int(fine.sum())
        for name, alpha in (("bic", 0.5), ("aic", 1 / math.log(n))):
            entropy = get_criterion("entropy", alpha=alpha, beta=0.0)
            difference = price_table(entropy, fine) - price_table(entropy, coarse)
            expected = price_table(get_criterion(name), fine) - price_table(get_criterion(name), coarse)
            assert 2 * difference == pytest.approx(expected, abs=1e-9)


def test_log_compositions_where_the_difference_would_cancel():
    from gridmodl.codelength import log_compositions

    for n, cells in [(10, 50.0), (1000, 99.0), (1000, 100.0), (50, 12345.0)]:
        assert log_compositions(n, cells) == pytest.approx(log_choose(n + int(cells) - 1, n), abs=5e-9)
    # For so many cells C(n + G - 1, n) is G^n / n! up to a factor that goes to one.
    assert log_compositions(7, 1e30) == pytest.approx(7 * math.log(1e30) - log_factorial(7), rel=1e-14)


def test_log_factorial_on_both_sides_of_the_table():
    from gridmodl.codelength import log_factorial as fast

    for n in [0, 1, 2, 100, 4094, 4095, 4096, 4097, 10**6, 10**9]:
        assert fast(n) == pytest.approx(gammaln(n + 1.0), rel=1e-14, abs=1e-14)
