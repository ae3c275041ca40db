"""Find the cheapest partition of a line whose scores have the same order in all periods.

The limit is on all pairs of parts, so that no recursion over bounds keeps it. A recursion that keeps it for neighbours
alone is a relaxation: no partition that keeps it for all pairs costs less.

    U(k, s, t) = price(s, t) + min over the r < s, where (r, s) and (s, t) agree, of U(k - 1, r, s)

is the lowest price of k parts up to bound t, the last of which begins at s. Runs with a slope for each part (see
`gridmodl.search.proof`) exclude most numbers of parts. For each number that is left, a depth-first search from the last
part to the first compares each part with all that follow it; U is the least that the parts before it cost, so parts are
tried by rising U, and none once U leaves no room below the best partition known. It ends with the proof, or after
MAX_STEPS, with the lowest cost that is left as its bound.

Time is quadratic in the atoms, times the parts that must be compared until two agree. Beyond MAX_ATOMS, bounds that no
cheaper partition than the best one known can have are excluded first, as `gridmodl.search.column.limited` does. If more
are left, bounds are chosen as there, then those near the bounds found, and nothing is proven.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.jit.template import bind
from gridmodl.search.column.dynamic import DynamicProgram
from gridmodl.search.column.limited import price_intervals, some_bounds, window_program, winning_bounds
from gridmodl.search.moves import TOLERANCE, is_cheaper
from gridmodl.search.proof import ALL, Proof, costs_by_parts
from gridmodl.search.rules import OTHER_WAY, TURNS, agree, leads, rows_before
from gridmodl.search.task import Partitioning, Task

MAX_ATOMS = 300  # a run takes a fraction of a second
SOME_ATOMS = 100  # bounds that are tried before it is known which can win
MAX_STATES = 10_000_000  # of all layers: 80 MB
MAX_RUNS = 8
MAX_ZOOMS = 5  # searches near the bounds found, where bounds had to be chosen
MAX_STEPS = 300_000_000  # starts of parts that a depth-first search looks at: about a second

FREE, RISING, PEAK = 0, 1, 2  # order of the scores


def stable_optimum(task: Task, free: Partitioning, is_exact: bool = False) -> Partitioning | None:
    """Find the cheapest partition of a line that keeps all limits of the task.

    Parameters
    ----------
    task : Task
        Its rules have periods.
    free : Partitioning
        The cheapest partition that keeps the other limits, with its proof; it breaks the order in some period.
    is_exact : bool
        Whether to prove the optimum however long it takes.

    Returns
    -------
    Partitioning or None
        None if no partition keeps the limits, or none was found.
    """
    best = merged_to_agree(task, free.starts)
    if task.keeps_rules(task.base.starts) and (best is None or task.base.cost < best.cost):
        best = task.base
    if task.clock.look():
        return best if best is None else best._replace(proof=free.proof)
    kept: NDArray[np.int64] | None = np.arange(task.n_atoms)
    if task.n_atoms > MAX_ATOMS:
        best = _some_best(task, _with(some_bounds(task, SOME_ATOMS), free), best)
        kept = None if best is None else _kept_bounds(task, best.cost, is_exact)
    is_all = kept is not None and len(kept) <= MAX_ATOMS
    if kept is None or not is_all:
        kept = _with(some_bounds(task, MAX_ATOMS), free)
    if task.clock.stopped:
        return best if best is None else best._replace(proof=free.proof)
    if len(kept) > SOME_ATOMS:
        best = _one_way(task, kept, best)
    best, lowest = _over(task, kept, best, is_exact)
    if best is None:
        return None
    best = best if is_all else _refined(task, best)
    lowest = max(lowest if is_all else -math.inf, -math.inf if free.proof is None else free.proof.lowest)
    if not math.isfinite(lowest):
        return best
    is_proven = is_all and not is_cheaper(lowest, best.cost)
    return best._replace(proven=is_proven, proof=Proof(ALL, min(lowest, best.cost)))


class Bounded(NamedTuple):
    """Best partition found that keeps all limits, and a cost that none goes below."""

    best: Partitioning | None
    lowest: float


def _over(task: Task, kept: NDArray[np.int64], best: Partitioning | None, is_exact: bool) -> Bounded:
    """Search among partitions with the bounds `kept`, beginning with `best`, whose bounds need not be among them."""
    pooled = task.coarsen(kept)
    inside = None
    if best is not None:
        inside = pooled.priced(np.searchsorted(kept, best.starts)) if np.isin(best.starts, kept).all() else None
    found = Stable(pooled, inside, math.inf if is_exact else MAX_STEPS).search(best.cost if best else math.inf)
    if found.best is not None:
        again = task.priced(kept[found.best.starts])
        best = again if best is None or again.cost < best.cost else best
    return Bounded(best, found.lowest)


def _some_best(task: Task, kept: NDArray[np.int64], best: Partitioning | None) -> Partitioning | None:
    """Best partition found with the bounds `kept`, or `best` if that is cheaper."""
    return _over(task, kept, _one_way(task, kept, best), False).best


def _one_way(task: Task, kept: NDArray[np.int64], best: Partitioning | None) -> Partitioning | None:
    """Best partition found whose scores rise or fall, as these agree most often, or `best` if that is cheaper."""
    for order in OTHER_WAY if task.rules.order is None else ():
        one_way = replace(task, rules=task.rules._replace(order=order))
        bounds = kept if len(kept) == task.n_atoms else some_bounds(one_way, len(kept))  # those of pooled blocks too
        best = _over(one_way, bounds, best, False).best
    return best


def _refined(task: Task, best: Partitioning) -> Partitioning:
    """The best partition with bounds near those of `best`, at most MAX_ATOMS, again while it gets cheaper."""
    for _ in range(MAX_ZOOMS):
        width = MAX_ATOMS // (2 * len(best.starts))
        near = (best.starts[:, None] + np.arange(-width, width + 1)).ravel()
        kept = np.union1d(near[(near > 0) & (near < task.n_atoms)], np.append(task.base.starts, best.starts))
        again = None if task.clock.look() else _over(task, kept, best, False).best
        if again is None or not is_cheaper(again.cost, best.cost):
            break
        best = again
    return best


def _with(bounds: NDArray[np.int64], free: Partitioning) -> NDArray[np.int64]:
    """`bounds` and those of a partition."""
    return np.union1d(bounds, free.starts)


def _kept_bounds(task: Task, cost: float, is_exact: bool) -> NDArray[np.int64] | None:
    """Atoms at which parts of a partition that costs less than `cost` can begin; None if that is not known."""
    if task.clock.look():
        return None
    program = window_program(replace(task, rules=task.rules.windows_only()), is_exact)
    if program is None:
        return None
    program.solve()
    return None if task.clock.stopped else winning_bounds(task, program, cost)


def merged_to_agree(task: Task, starts: NDArray[np.int64]) -> Partitioning | None:
    """Merge two neighbours at a time until all limits are kept: at a part that breaks one, where it costs least.

    None if fixed bounds leave nothing to merge.
    """
    kept, task, whole = starts, task.coarsen(starts), task
    starts = np.arange(len(kept))
    while not task.keeps_rules(starts):
        parts = np.searchsorted(starts, np.arange(task.n_atoms), side="right") - 1
        broken = np.unique(task.breaks(parts)[:, 1:]) if len(starts) > 1 else np.empty(0, dtype=np.int64)
        broken = broken if len(broken) else np.arange(len(starts))  # only limits on neighbours are broken
        ends = np.union1d(broken[broken > 0], broken[broken < len(starts) - 1] + 1)
        ends = ends[~np.isin(starts[ends], task.rules.fixed)]
        if len(ends) == 0:
            return None
        starts = min((task.priced(np.delete(starts, end)) for end in ends), key=lambda one: one.cost).starts
    return whole.priced(kept[starts])


class PeriodLine(NamedTuple):
    """Scores of all intervals of a line, and how they are compared."""

    rows: Any  # before each bound: of all periods, then by period
    scores: Any  # times rows; with the sign that makes the order a rising one, or a peak
    order: int  # FREE, RISING or PEAK
    difference: float  # of the scores of neighbours
    near: Any  # buffers for the rows and scores of intervals at one bound


class LineWalk(NamedTuple):
    """State of a depth-first search; part 0 is the last of the line."""

    ends: Any  # of each part
    starts: Any
    sums: Any  # prices of all parts before it in the walk
    seen: Any  # U of the last start that was tried
    has_turned: Any  # 1 if scores rise towards it from the part before it in the line
    rows: Any  # of each part: of all periods, then by period
    scores: Any
    now: Any  # AT, FOUND, STEPS
    limit: Any  # a partition must cost less
    found: Any  # starts of the cheapest partition found


AT, FOUND, STEPS = 0, 1, 2


class Stable(DynamicProgram):
    """Search of the partitions of a line that keep all limits; `best` keeps them, or is None."""

    def __init__(self, task: Task, best: Partitioning | None, max_steps: float) -> None:
        super().__init__(task, task.base if best is None else best)
        self.found, self.max_steps, self.n_steps = best, max_steps, 0
        assert task.rules.periods is not None  # noqa: S101  for mypy
        order, n = task.rules.order, self.n
        sign = -1 if order in ("decreasing", "valley") else 1
        rows = np.diff(rows_before(task.atoms, task.atoms.rows))
        by_atom = task.rules.periods.tables(np.arange(n), rows, task.rules.scores)
        rows_table, scores = (np.vstack([np.zeros_like(table[:1]), np.cumsum(table, axis=0)]) for table in by_atom)
        code = FREE if order is None else PEAK if order in TURNS else RISING
        near = np.empty((2, n + 1, rows_table.shape[1]), dtype=np.int64)
        self.line = PeriodLine(rows_table, sign * scores, code, float(task.rules.min_difference), near)
        self.prices = np.full((n + 1, n + 1), np.inf)
        price = bind(price_intervals, task.criterion)
        self._over_bounds(
            lambda at, to: price(task.atoms, task.setting, self.prices, at, to, task.buffers, *task.windows)
        )

    def search(self, cost: float) -> Bounded:
        """The cheapest partition that costs less than `cost`, if there is one; and what none costs less than."""
        slopes = self.slopes
        if self.task.clock.stopped:
            return Bounded(None, -math.inf)
        n_runs = MAX_RUNS if math.isfinite(self.cost_to_beat(cost)) else 0
        while n_runs > 0 and len(slopes.may_win(self.cost_to_beat(cost))):
            slope = slopes.next_slope(self.cost_to_beat(cost), len(self.best.starts))
            if slope is None or not self.explore(slope):
                break
            n_runs -= 1
        numbers = slopes.may_win(self.cost_to_beat(cost))
        is_left = np.zeros(len(slopes.numbers), dtype=bool)
        is_left[numbers - 1] = True
        if len(numbers) and not self.task.clock.look():
            layers = self._layers(int(numbers[-1]))
            for n_parts in numbers[np.argsort(slopes.floors[numbers - 1], kind="stable")].tolist():
                if n_parts > len(layers):
                    continue
                is_cheap = is_cheaper(slopes.floors[n_parts - 1], self.cost_to_beat(cost))
                is_left[n_parts - 1] = is_cheap and not self._descend(layers, n_parts, self.cost_to_beat(cost))
        left = slopes.floors[is_left]
        return Bounded(self.found, min(float(left.min(initial=np.inf)), self.cost_to_beat(cost)))

    def cost_to_beat(self, cost: float) -> float:
        return cost if self.found is None else min(cost, self.found.cost)

    def run(self, slope: float) -> tuple[NDArray[np.int64], float] | None:
        states = np.full((self.n + 1, self.n), np.inf)
        came_from = np.zeros((self.n + 1, self.n), dtype=np.int64)
        self._link(slope, None, states, came_from)
        if self.task.clock.stopped:
            return None
        s = int(np.argmin(states[self.n]))
        penalised, t, starts = float(states[self.n, s]), self.n, [s]
        while s > 0 and math.isfinite(penalised):
            t, s = s, int(came_from[t, s])
            starts.append(s)
        return np.array(starts[::-1] if starts[-1] == 0 else [0], dtype=np.int64), penalised

    def _offer(self, starts: NDArray[np.int64]) -> None:
        if len(starts) <= self.max_parts and self.task.keeps_rules(starts):
            found = self.priced(starts)
            if self.found is None or found.cost < self.found.cost:
                self.best = self.found = found

    def _layers(self, n_layers: int) -> NDArray[np.float64]:
        """U of 1, 2, ... parts, at most `n_layers` and as many as memory allows; their totals become floors."""
        n_layers = min(n_layers, max(1, MAX_STATES // self.n**2))
        layers = np.full((n_layers, self.n + 1, self.n), np.inf)
        came_from = np.zeros((self.n + 1, self.n), dtype=np.int64)
        for k in range(n_layers):
            self._link(0.0, layers[k - 1] if k else np.full_like(layers[0], np.inf), layers[k], came_from, k == 0)
            if self.task.clock.stopped:
                return layers[:k]
            self.slopes.least[k] = max(self.slopes.least[k], float(layers[k, self.n].min()))
        self.slopes._floors = None
        return layers

    def _link(self, slope: float, before: Any, states: Any, came_from: Any, begins: bool = True) -> None:
        """Set states[t, s] of all intervals; those before are in `before`, or in `states` itself if it is None."""
        kernel = bind(link_from)
        before = states if before is None else before

        def link(at: int, to: int) -> None:
            for s in range(at, to):
                order = np.argsort(before[s, :s], kind="stable")
                first = 0.0 if s == 0 and begins else np.inf
                kernel(self.line, self.prices, s, order, before, first, slope, states, came_from)

        self._over_bounds(link)

    def _over_bounds(self, kernel: Any) -> None:
        """Call `kernel` for all bounds but the last, in turns of the clock."""
        at = 0

        def turn(size: int) -> bool:
            nonlocal at
            to = min(self.n, at + size)
            kernel(at, to)
            at = to
            return at == self.n

        self.task.clock.repeat(turn, None, size=64)

    def _descend(self, layers: NDArray[np.float64], n_parts: int, cost: float) -> bool:
        """Search partitions into `n_parts` parts that cost less than `cost`; False if it was not finished."""
        numbers = np.zeros((3, n_parts + 1), dtype=np.int64)
        table = np.zeros((2, n_parts + 1, self.line.rows.shape[1]), dtype=np.int64)
        walk = LineWalk(
            ends=numbers[0],
            starts=numbers[1],
            sums=np.zeros(n_parts + 1),
            seen=np.full(n_parts + 1, -np.inf),
            has_turned=numbers[2],
            rows=table[0],
            scores=table[1],
            now=np.zeros(3, dtype=np.int64),
            limit=np.array([self._most(n_parts, cost)]),
            found=np.zeros(n_parts, dtype=np.int64),
        )
        walk.ends[0], walk.starts[:] = self.n, -1
        kernel, is_done = bind(descend), False

        def turn(size: int) -> bool:
            nonlocal is_done
            is_done = kernel(self.line, walk, self.prices, layers, n_parts, size)
            return is_done or self.n_steps + int(walk.now[STEPS]) > self.max_steps

        self.task.clock.repeat(turn, None, size=2**16)
        self.n_steps += int(walk.now[STEPS])
        if walk.now[FOUND]:
            self._offer(np.ascontiguousarray(walk.found[::-1]))
        return bool(is_done)

    def _most(self, n_parts: int, cost: float) -> float:
        """Sum of prices of `n_parts` parts at which a partition costs as much as `cost`, less rounding."""
        if not math.isfinite(cost):
            return math.inf
        cost -= TOLERANCE * (1.0 + abs(cost))
        if self.slopes.is_additive:
            return cost - float(self.slopes.shared[n_parts - 1])
        return sum_at_cost(self.task, n_parts, cost, float(self.slopes.least[n_parts - 1]))


def sum_at_cost(task: Task, n_parts: int, cost: float, low: float) -> float:
    """Largest sum of prices of `n_parts` parts that costs less than `cost`, rounded up; a sum of `low` does."""

    def is_below(total: float) -> bool:
        totals = np.full(n_parts, total)
        return bool(costs_by_parts(task.criterion, task.setting, totals)[-1] < cost)

    step = 1.0 + abs(low)
    while is_below(low + step) and step < 1e300:
        step *= 2.0
    high = low + step
    for _ in range(200):
        middle = low + (high - low) / 2.0
        if not low < middle < high:
            break
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return high


def follows(line: PeriodLine, rows: Any, scores: Any, a: Any, b: Any, has_turned: Any) -> int:
    """Whether part `a` may come before its neighbour `b` by limits on neighbours; -1 if not.

    Else 1 if the scores rise from `a` to `b`, or `has_turned` says so of a part after `b`, as before a peak; always 0
    without a peak.
    """
    if line.order == FREE and line.difference == 0.0:
        return 0
    rises = leads(scores[a, 0], rows[a, 0], scores[b, 0], rows[b, 0], line.difference)
    if line.order == RISING:
        return 0 if rises else -1
    falls = leads(scores[b, 0], rows[b, 0], scores[a, 0], rows[a, 0], line.difference)
    if line.order == FREE:
        return 0 if rises or falls else -1
    if falls and has_turned == 0:
        return 0
    return 1 if rises else -1


def link_from(
    line: PeriodLine,
    prices: Any,
    s: int,
    order: Any,
    before: Any,
    first: float,
    slope: float,
    states: Any,
    came_from: Any,
) -> None:
    """Set states[t, s] for all t > s: the price of (s, t), and the lowest before[s, r] of an r that it may follow.

    `order` has the r by rising before[s, r].
    """
    rows, scores, near = line.rows, line.scores, line.near
    for r in range(s):
        for i in range(rows.shape[1]):
            near[0, r, i] = rows[s, i] - rows[r, i]
            near[1, r, i] = scores[s, i] - scores[r, i]
    for t in range(s + 1, rows.shape[0]):
        if not prices[s, t] < np.inf:
            continue
        if s == 0:
            states[t, s] = first + prices[s, t] + slope
            continue
        for i in range(rows.shape[1]):
            near[0, s, i] = rows[t, i] - rows[s, i]
            near[1, s, i] = scores[t, i] - scores[s, i]
        for i in range(s):
            r = order[i]
            if not before[s, r] < np.inf:
                break
            may_be = follows(line, near[0], near[1], r, s, 0) >= 0
            if may_be and agree(near[0], near[1], r, s):
                states[t, s] = before[s, r] + prices[s, t] + slope
                came_from[t, s] = r
                break


def descend(line: PeriodLine, walk: LineWalk, prices: Any, layers: Any, n_parts: int, n_steps: int) -> bool:
    """Go on with a depth-first search for about `n_steps`; True if it is done."""
    now, limit = walk.now, walk.limit
    until = now[STEPS] + n_steps
    while now[STEPS] < until:
        d = now[AT]
        if d < 0:
            return True
        s, left = walk.ends[d], n_parts - d
        best, at = np.inf, -1
        for r in range(s):  # the next start by rising state
            state = layers[left - 1, s, r]
            if state < best and (state > walk.seen[d] or (state == walk.seen[d] and r > walk.starts[d])):
                best, at = state, r
        now[STEPS] += s
        if at < 0 or not walk.sums[d] + best < limit[0]:
            now[AT] -= 1
            continue
        walk.seen[d], walk.starts[d] = best, at
        if not fits(line, walk, d):
            continue
        if left == 1:
            limit[0] = walk.sums[d] + best
            now[FOUND] = 1
            for i in range(n_parts):
                walk.found[i] = walk.starts[i]
            continue
        walk.sums[d + 1] = walk.sums[d] + prices[at, s]
        walk.ends[d + 1], walk.starts[d + 1], walk.seen[d + 1] = at, -1, -np.inf
        now[AT] += 1
    return False


def fits(line: PeriodLine, walk: LineWalk, d: int) -> bool:
    """Whether part `d` of a walk keeps the limits with all parts after it."""
    rows, scores = line.rows, line.scores
    r, s = walk.starts[d], walk.ends[d]
    for i in range(rows.shape[1]):
        walk.rows[d, i] = rows[s, i] - rows[r, i]
        walk.scores[d, i] = scores[s, i] - scores[r, i]
    if d == 0:
        return True
    turned = follows(line, walk.rows, walk.scores, d, d - 1, walk.has_turned[d - 1])
    if turned < 0:
        return False
    walk.has_turned[d], other = turned, 0
    while other < d and agree(walk.rows, walk.scores, d, other):
        other += 1
    return other == d
