"""The cheapest partition within limits on its parts and neighbours, against trying all."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from oracles.criteria import Rough, Saturating
from oracles.tiny import NO_LIMITS, Tiny

from gridmodl.clock import Clock
from gridmodl.jit.template import bind
from gridmodl.search.column import limited
from gridmodl.search.column.exact import proven_optimum
from gridmodl.search.column.limited import limited_optimum, pool
from gridmodl.search.moves import Frozen, Limits
from gridmodl.search.rules import NONE, Rules, at_most, keeps_order

DIRECTIONS = ("increasing", "decreasing")
ORDERS = (None, *DIRECTIONS, "peak", "valley")


def with_rules(task, order=None, **more):
    """The task with rules on the share of class 1."""
    scores = np.add.reduceat(task.atoms.counts[:, 1].astype(np.int64), task.atoms.first[:-1])
    return replace(task, rules=Rules(order, scores=scores, **more))


def monotone_optimum(task, direction):
    return limited_optimum(with_rules(task, direction))


def shares(counts, starts):
    """The share of class 1 in each part, exactly."""
    parts = [counts[lo:hi].sum(axis=(0, 1)) for lo, hi in itertools.pairwise([*starts, len(counts)])]
    return [Fraction(int(part[1]), int(part.sum())) for part in parts]


def is_monotone(counts, starts, direction):
    found = shares(counts, starts)
    return found == sorted(found, reverse=direction == "decreasing")


def lowest(tiny, direction, price=None):
    price = price or tiny.price
    return min(price(starts) for starts in tiny.all_starts() if is_monotone(tiny.counts, starts, direction))


def check(tiny, direction, price=None):
    """The optimum is what trying all finds."""
    price = price or tiny.price
    found = monotone_optimum(tiny.task, direction)
    assert found.proven
    assert is_monotone(tiny.counts, found.starts, direction)
    assert found.cost == pytest.approx(price(found.starts), rel=1e-12, abs=1e-12)
    assert found.cost == pytest.approx(lowest(tiny, direction, price), rel=1e-9, abs=1e-9)
    return found


def noise(n, seed=0, signal=0.0, name="modl", limits=NO_LIMITS):
    """A row per atom, whose chance of class 1 rises by `signal` from the first to the last."""
    rng = np.random.default_rng(seed)
    classes = rng.random(n) < 0.5 + signal * (np.arange(n) / n - 0.5)
    return Tiny(np.stack([~classes, classes], axis=1)[:, None, :].astype(np.int64), name, limits)


@pytest.mark.parametrize("limits", [NO_LIMITS, Limits(3, 1), Limits(2**62, 5), Limits(2, 4)])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("n_cells", "name"), [(1, "modl"), (1, "gini"), (1, "g2"), (3, "modl")])
def test_it_finds_what_trying_all_finds(make_tiny, n_cells, name, direction, limits):
    for seed in range(8):
        check(make_tiny(seed, n_cells, name, limits=limits), direction)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("criterion", [Rough, Saturating])
@pytest.mark.parametrize("limits", [NO_LIMITS, Limits(4, 3)])
def test_it_is_exact_for_any_price_of_the_number_of_parts(make_tiny, criterion, direction, limits):
    n_parts = set()
    for seed in range(8):
        tiny = make_tiny(seed, 1, limits=limits)
        tiny.criterion, tiny.task = criterion(), replace(tiny.task, criterion=criterion)
        n_parts.add(len(check(tiny, direction).starts))
    assert len(n_parts) > 1


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_parts_set_apart_count(make_tiny, direction):
    for seed in range(8):
        tiny = make_tiny(seed, 1)
        setting = tiny.setting._replace(frozen=Frozen(price=1.5, n_apart=2))
        tiny.task = replace(tiny.task, setting=setting)

        def price(starts, tiny=tiny):
            n = len(starts)
            p, variable = tiny.setting.p, tiny.setting.variable
            # modl prices the number of parts in its variable term only
            more = tiny.criterion.variable(p, variable, n + 2) - tiny.criterion.variable(p, variable, n)
            return tiny.price(starts) + more + 1.5

        check(tiny, direction, price)


def heavy(counts):
    """Counts beyond 32 bits."""
    tiny = Tiny(counts)
    atoms = tiny.task.atoms._replace(counts=tiny.counts[:, 0].copy(), rows=tiny.counts.sum(axis=(1, 2)))
    tiny.task = replace(tiny.task, atoms=atoms)
    return tiny


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_heavy_weights_do_not_overflow(direction):
    # Shares of almost one half: products of 2^80 that differ by little, or not at all.
    for seed in range(12):
        rng = np.random.default_rng(seed)
        counts = 2**40 + rng.integers(-1, 2, (6, 1, 2)) * rng.choice([0, 1, 2**38], (6, 1, 1))
        check(heavy(counts), direction)


def test_shares_are_compared_exactly():
    rng = np.random.default_rng(0)
    compiled = bind(at_most)
    n = 2**53 - rng.integers(0, 2**52, (3000, 1)) - rng.integers(0, 9, (3000, 2))
    n1 = (n // rng.integers(1, 4, (3000, 1))) - rng.integers(0, 3, (3000, 2))
    n1 *= rng.choice([-1, 1], (3000, 1))
    for (a, b), (n_a, n_b) in zip(n1.tolist(), n.tolist(), strict=True):
        truth = Fraction(a, n_a) <= Fraction(b, n_b)
        assert compiled(a, n_a, b, n_b) == truth
        assert at_most(a, n_a, b, n_b) == truth


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_equal_shares_may_follow_each_other(direction):
    tiny = Tiny(np.array([[[1, 2]], [[2, 4]], [[3, 6]], [[1, 2]]]))
    tiny.task = replace(tiny.task, criterion=Saturating)
    assert monotone_optimum(tiny.task, direction).starts.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_it_is_the_optimum_where_that_is_monotone(direction):
    tiny = noise(400, seed=3, signal=0.9 if direction == "increasing" else -0.9)
    free = proven_optimum(tiny.task)
    found = monotone_optimum(tiny.task, direction)
    assert is_monotone(tiny.counts, free.starts, direction)
    assert found.cost == pytest.approx(free.cost, rel=1e-11)
    other = "decreasing" if direction == "increasing" else "increasing"
    assert monotone_optimum(tiny.task, other).starts.tolist() == [0]


def test_pooling_leaves_blocks_in_order(make_tiny):
    for seed in range(20):
        counts = make_tiny(seed, 1).counts
        sums = np.concatenate([np.zeros((1, 2), dtype=np.int64), counts[:, 0].cumsum(axis=0)])
        starts = np.empty(len(counts), dtype=np.int64)
        starts = starts[: bind(pool)(sums.sum(axis=1), sums[:, 1].copy(), starts)]
        assert is_monotone(counts, starts, "increasing")
        for lo, hi in itertools.pairwise([*starts, len(counts)]):
            # Every bound inside a block is one where the share falls.
            assert all(np.greater(*shares(counts[lo:hi], [0, s - lo])) for s in range(lo + 1, hi))


@pytest.mark.parametrize("limits", [NO_LIMITS, Limits(3, 1), Limits(2**62, 1500)])
@pytest.mark.parametrize("order", ORDERS[1:])
@pytest.mark.parametrize("signal", [0.0, 0.8])
def test_many_atoms(signal, order, limits):
    tiny = noise(20_000, signal=signal, limits=limits)
    found = monotone_optimum(tiny.task, order)
    check_kept(tiny, with_rules(tiny.task, order).rules, found.starts)
    assert found.cost == tiny.task.priced(found.starts).cost <= tiny.task.null().cost
    free = proven_optimum(tiny.task)
    assert found.cost >= free.cost - 1e-9
    assert found.proof.lowest <= found.cost + 1e-9
    assert found.proven or found.proof.lowest >= free.cost - 1e-9
    if order != "decreasing" and signal > 0.0:  # the optimum is in order, or nearly so
        assert len(found.starts) > 1
        assert found.cost <= free.cost + 20.0


def test_bounds_that_cannot_win_are_left_out(monkeypatch):
    """With room for few bounds, those that can win are enough for a proof."""
    n_less = 0
    for seed in range(6):
        tiny = noise(900, seed, signal=0.7)
        for order in ("decreasing", "valley", "increasing"):
            exact = monotone_optimum(tiny.task, order)
            with monkeypatch.context() as patch:
                patch.setattr(limited, "MAX_ATOMS", 500)
                patch.setattr(limited, "SOME_ATOMS", 100)
                patch.setattr(limited, "FEW_ATOMS", 80)
                few = monotone_optimum(tiny.task, order)
            assert exact.proven
            assert few.cost >= exact.cost - 1e-9
            if few.proven:
                assert few.cost == pytest.approx(exact.cost, rel=1e-11)
            n_less += few.proven
    assert n_less > 6


@pytest.mark.parametrize("name", ["modl", "gini", "g2"])
def test_few_bounds_are_kept_where_there_is_no_room_for_more(monkeypatch, name):
    """Most of the time no better ones exist."""
    tiny = noise(60, seed=5, signal=0.7, name=name)
    order = "increasing" if name == "g2" else "decreasing"  # not that of the optimum
    exact = monotone_optimum(tiny.task, order)
    monkeypatch.setattr(limited, "MAX_ATOMS", 20)
    monkeypatch.setattr(limited, "winning_bounds", lambda *_: None)
    few = monotone_optimum(tiny.task, order)
    assert exact.proven
    assert not few.proven
    assert few.proof.lowest <= exact.cost
    assert few.cost == pytest.approx(exact.cost, rel=1e-11)


def test_it_gives_up_layers_that_do_not_fit(monkeypatch):
    tiny = noise(60, seed=5, signal=0.7, name="g2")
    exact = monotone_optimum(tiny.task, "increasing")
    monkeypatch.setattr(limited.Ordered, "run", lambda program, slope: None)  # slopes would do
    monkeypatch.setattr(limited, "MAX_LAYER_STATES", 60 * 61 // 2)
    monkeypatch.setattr(limited, "FEW_ATOMS", 15)
    few = monotone_optimum(tiny.task, "increasing")
    assert exact.proven
    assert not few.proven
    assert is_monotone(tiny.counts, few.starts, "increasing")
    assert exact.cost <= few.cost <= tiny.task.null().cost


def test_for_few_atoms_all_layers_fit():
    n = limited.FEW_ATOMS
    assert n * n * (n + 1) // 2 <= limited.MAX_LAYER_STATES


class StopAfter(Clock):
    """Stopped after so many turns."""

    def __init__(self, n_turns):
        super().__init__(report=self.count)
        self.left = n_turns

    def count(self, progress):
        assert progress.share is None or 0.0 <= progress.share <= 1.0
        self.left -= 1
        if self.left <= 0:
            self.stopped = "time limit"


@pytest.mark.parametrize("name", ["modl", "g2"])
@pytest.mark.parametrize("n", [300, 5000])
def test_stopped_it_keeps_what_it_has(name, n):
    tiny = noise(n, signal=0.8, name=name)
    proven = []
    for n_turns in (1, 2, 3, 5, 9, 14):
        task = replace(tiny.task, clock=StopAfter(n_turns))
        found = monotone_optimum(task, "increasing")
        assert is_monotone(tiny.counts, found.starts, "increasing")
        assert found.cost == task.priced(found.starts).cost <= task.null().cost
        proven.append(found.proven)
    assert not any(proven[:2])
    tiny.task.clock.stopped = "time limit"
    assert monotone_optimum(tiny.task, "increasing").starts.tolist() == [0]


@pytest.mark.parametrize(("n_atoms", "max_parts"), [(1, 2**62), (7, 1)])
def test_one_part_is_proven_where_no_other_can_be(make_tiny, n_atoms, max_parts):
    found = monotone_optimum(make_tiny(2, 1, n_atoms=n_atoms, limits=Limits(max_parts, 1)).task, "increasing")
    assert found.proven
    assert found.starts.tolist() == [0]


def check_kept(tiny, rules, starts):
    """The partition keeps every limit, said plainly."""
    limits, parts = tiny.task.limits, np.add.reduceat(tiny.counts.sum(axis=1), starts, axis=0)
    assert set(rules.fixed.tolist()) <= set(np.asarray(starts).tolist())
    if len(parts) == 1:
        return
    assert len(parts) <= limits.max_parts
    assert parts.sum(axis=1).min() >= limits.min_rows
    assert len(rules.min_counts) == 0 or np.all(parts >= rules.min_counts)
    found = shares(tiny.counts, starts)
    rises = [other - one for one, other in itertools.pairwise(found)]
    assert all(abs(rise) >= rules.min_difference - 1e-12 for rise in rises)
    signs = [rise >= 0 for rise in rises if rise != 0]
    n_turns = sum(one != other for one, other in itertools.pairwise(signs))
    allowed = {"increasing": all(signs), "decreasing": not any(signs), None: True}
    allowed["peak"] = n_turns == 0 or (n_turns == 1 and signs[0])
    allowed["valley"] = n_turns == 0 or (n_turns == 1 and not signs[0])
    assert allowed[rules.order]


def is_kept(tiny, rules, starts):
    try:
        check_kept(tiny, rules, starts)
    except AssertionError:
        return False
    return True


def random_rules(rng, tiny, order):
    n = len(tiny.counts)
    fixed = np.sort(rng.choice(np.arange(1, n), rng.choice([0, 0, 1, 2]), replace=False)).astype(np.int64)
    least = rng.choice([0, 2, 20], 2) if rng.random() < 0.5 else NONE
    return with_rules(tiny.task, order, min_difference=rng.choice([0.0, 0.0, 0.1, 0.3]), min_counts=least, fixed=fixed)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", ["modl", "gini", "g2", "rough"])
def test_all_limits_at_once_against_trying_all(name, order):
    """Fixed bounds, classes, differences, order, rows and parts; with ties, and shares that are equal."""
    n_none = n_forced = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        limits = Limits(int(rng.choice([2**62, 3, 4])), int(rng.choice([1, 1, 40])))
        n_atoms = int(rng.integers(4, 8))
        counts = rng.integers(0, 25, (n_atoms, 1, 2)) + np.array([1, 0])
        if seed % 2:  # shares that are equal
            counts = (
                rng.integers(1, 4, (n_atoms, 1, 1))
                * 6
                * np.array([[[3, 1]], [[1, 1]], [[2, 2]], [[1, 3]]])[rng.integers(0, 4, n_atoms)]
            )
        tiny = Tiny(counts, "modl" if name == "rough" else name, limits)
        if name == "rough":  # no sum: its layers are gone through
            tiny.criterion, tiny.task = Rough(), replace(tiny.task, criterion=Rough)
        task = random_rules(rng, tiny, order)
        every = [[0, *cuts] for k in range(len(tiny.counts)) for cuts in
                 itertools.combinations(range(1, len(tiny.counts)), k)]  # fmt: skip
        costs = [tiny.price(starts) for starts in every if is_kept(tiny, task.rules, starts)]
        found = limited_optimum(task) if task.can_keep_fixed else None
        if found is None:
            assert costs == []
            n_none += 1
            continue
        check_kept(tiny, task.rules, found.starts)
        assert task.keeps_rules(found.starts)
        assert found.proven
        assert found.cost == pytest.approx(min(costs), rel=1e-9, abs=1e-9)
        n_forced += found.cost > tiny.lowest() + 1e-9
    assert n_none > 0
    assert n_forced > 3


def test_windows_of_long_lines_are_those_of_branch_and_bound():
    """Fixed bounds and rows of classes where most pairs are never priced, against the plain recursion."""
    for seed in range(3):
        tiny = noise(1500, seed, signal=0.6)
        fixed = np.array([200, 777, 1300])
        task = with_rules(tiny.task, min_counts=np.array([20, 30]), fixed=fixed)
        found = limited_optimum(task, is_exact=True)
        plain = limited.AllBounds(task, task.base, np.inf).solve()
        assert found.proven
        assert found.cost == pytest.approx(plain.cost, rel=1e-12)
        check_kept(tiny, task.rules, found.starts)


def test_nearly_all_bounds_of_a_long_line_may_be_fixed():
    tiny = noise(1500, 0, signal=0.6)
    fixed = np.setdiff1d(np.arange(1, 1500), [30, 31, 700])
    task = with_rules(tiny.task, fixed=fixed)
    found = limited_optimum(task)
    plain = limited.AllBounds(task, task.base, np.inf).solve()
    assert found.proven
    assert found.cost == pytest.approx(plain.cost, rel=1e-12)
    check_kept(tiny, task.rules, found.starts)


@pytest.mark.parametrize("order", ORDERS)
def test_the_order_of_parts_is_that_of_fractions(order):
    rng = np.random.default_rng(1)
    for _ in range(300):
        counts = rng.integers(0, 4, (int(rng.integers(2, 6)), 1, 2)) + np.array([1, 0])
        tiny = Tiny(counts)
        rules = Rules(order, float(rng.choice([0.0, 0.25])))
        starts = np.arange(len(counts))
        kept = keeps_order(counts[:, 0, 1], counts.sum(axis=(1, 2)), rules.order, rules.min_difference)
        assert kept == is_kept(tiny, rules, starts)
