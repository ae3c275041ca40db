"""Split groups in two, or merge two groups and split their union again.

The values of a group are put into two halves one by one, in random order, each into the half where it costs less; then
they are visited again, at most LOCAL_PASSES times, and may change halves. A split is made if it saves, or if it is
forced: forced splits of all groups, passes and merges lead from one local optimum to a better one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.jit.template import bind, inlined
from gridmodl.search.grid.neighbours import below
from gridmodl.search.moves import GridLimits, Limits, Setting, is_cheaper, make_record, part_price, total_cost
from gridmodl.search.pair.state import Pair, PairSide, price_at

LOCAL_PASSES = 3


class Splitting(NamedTuple):
    """State of the splits between two calls of the kernel, and buffers for one split."""

    members: Any  # values sorted by group
    begins: Any  # index in `members` of the first value of each group; one more entry at the end
    listed: Any  # values to split, in random order
    first: Any  # index of the first profile entry of each listed value
    place: Any  # part of the other variable of each profile entry
    count: Any  # rows of each profile entry
    slot: Any  # buffer: last profile entry of each part of the other variable
    half: Any  # half of each listed value
    halves: Any  # rows of each half, by part of the other variable
    n_atoms: Any  # listed values of each half
    n_rows: Any  # rows of each half
    n_values: Any  # distinct values of each half
    seed: Any  # state of the random generator
    now: Any  # see `split`


def split(
    pair: Pair, k: int, limits: GridLimits, jobs: NDArray[np.int64], seed: NDArray[np.uint64], forced: bool = False
) -> None:
    """Split groups of categorical variable k. A row of `jobs` is a group and -1, or two groups to merge and split.

    No group may be in two jobs. If `forced`, a split is made even if it does not save.
    """
    side, across = pair.sides[k], pair.sides[1 - k]
    n_groups, n_across, n_atoms = pair.n_parts[k], pair.n_parts[1 - k], pair.n_atoms(k)
    own = limits.of(k)
    most = min(own.max_parts, pair.most_parts(k))
    _, _, setting = pair.lay(k, n_targets=min(most, n_groups + len(jobs)))
    members = np.argsort(side.part, kind="stable").astype(np.int32)
    begins = np.append(0, np.cumsum(np.bincount(side.part, minlength=n_groups)))
    state = Splitting(
        members=members,
        begins=begins,
        listed=np.zeros(n_atoms, dtype=np.int32),
        first=np.zeros(n_atoms + 1, dtype=np.int64),
        place=np.zeros(len(side.other), dtype=np.int32),
        count=np.zeros(len(side.other), dtype=np.int64),
        slot=np.zeros(n_across, dtype=np.int64),
        half=np.zeros(n_atoms, dtype=np.int64),
        halves=np.zeros((2, n_across), dtype=np.int64),
        n_atoms=np.zeros(2, dtype=np.int64),
        n_rows=np.zeros(2, dtype=np.int64),
        n_values=np.zeros(2, dtype=np.int64),
        seed=seed,
        now=make_record(
            at=0,  # next job
            n_groups=n_groups,
            max_groups=most,
            is_forced=forced,
            price=float(pair.laid[0].price),
            cost=pair.cost,
        ),
    )
    kernel = bind(split_jobs, pair.task.criterion)
    pair.task.clock.repeat(
        lambda n: bool(kernel(side, across.part, setting, own, pair.table, pair.one, jobs, state, n)),
        None,
        size=max(1, 2**18 * n_groups // len(side.other)),
    )
    pair.n_parts[k] = int(state.now[0].n_groups)
    pair.laid[0].cost = state.now[0].cost


def split_jobs(
    side: PairSide,
    across_part: Any,
    setting: Setting,
    limits: Limits,
    table: Any,
    one: Any,
    jobs: Any,
    state: Splitting,
    n_jobs: int,
) -> bool:
    """Do at most `n_jobs` jobs; return True when all are done."""
    facts, group = side.facts, side.part
    listed, half, halves, now = state.listed, state.half, state.halves, state.now[0]
    n_atoms, n_rows, n_values = state.n_atoms, state.n_rows, state.n_values
    p, n_target_parts = setting.p, setting.frozen.n_target_parts
    for _ in range(n_jobs):
        if now.at == len(jobs):
            return True
        g, to = jobs[now.at, 0], jobs[now.at, 1]
        now.at += 1
        n = list_members(state, g, to)
        n_groups = now.n_groups + (1 if to < 0 else 0)
        if n < 2 or n_groups > now.max_groups:
            continue
        for i in range(n - 1):
            j = i + below(state.seed, n - i)
            listed[i], listed[j] = listed[j], listed[i]
            half[i], half[j] = half[j], half[i]
        fill_profiles(side, across_part, state, n)
        # Price the groups as they are, then the halves.
        change = 0.0
        for turn in range(2):
            for h in range(2):
                n_atoms[h] = n_rows[h] = n_values[h] = 0
                for t in range(halves.shape[1]):
                    halves[h, t] = 0
            if turn == 0:
                for i in range(n):
                    put(side, state, half[i], i, 1)
            else:
                find_halves(p, n_target_parts, table, one, side, state, n)
            price = 0.0
            for h in range(2):
                for t in range(halves.shape[1]):
                    price += price_at(p, table, one, halves[h, t])
                if n_atoms[h] > 0:
                    price += part_price(p, facts, n_target_parts, n_rows[h], n_values[h])
            change += price if turn == 1 else -price
        cost = total_cost(setting, now.price + change, n_groups)
        saves = is_cheaper(cost, now.cost, abs(now.price)) and min(n_rows[0], n_rows[1]) >= limits.min_rows
        if saves or now.is_forced:
            for i in range(n):
                group[listed[i]] = g if half[i] == 0 else (now.n_groups if to < 0 else to)
            now.n_groups = n_groups
            now.price += change
            now.cost = cost
    return False


@inlined
def list_members(state: Splitting, g: Any, other: Any) -> int:
    """List the values of group g, and of group `other` unless -1, each with its half; return their number."""
    members, begins, listed, half = state.members, state.begins, state.listed, state.half
    n = 0
    for h in range(2):
        m = g if h == 0 else other
        for i in range(begins[m] if m >= 0 else 0, begins[m + 1] if m >= 0 else 0):
            listed[n] = members[i]
            half[n] = h
            n += 1
    return n


@inlined
def fill_profiles(side: PairSide, across_part: Any, state: Splitting, n: Any) -> None:
    """Write the profiles of the n listed values: their rows by part of the other variable."""
    first_entry, other, rows = side.first, side.other, side.rows
    listed, first, place, count, slot = state.listed, state.first, state.place, state.count, state.slot
    for t in range(len(slot)):
        slot[t] = -1
    n_entries = 0
    for i in range(n):
        first[i] = n_entries
        v = listed[i]
        for e in range(first_entry[v], first_entry[v + 1]):
            t = across_part[other[e]]
            s = slot[t]
            if s < first[i]:
                s = n_entries
                slot[t], place[s], count[s] = s, t, 0
                n_entries += 1
            count[s] += rows[e]
    first[n] = n_entries


@inlined
def find_halves(p: Any, n_target_parts: Any, table: Any, one: Any, side: PairSide, state: Splitting, n: Any) -> None:
    """Put each of the n listed values into the half where it costs less, then let the values change halves."""
    half, n_atoms = state.half, state.n_atoms
    for pass_ in range(1 + LOCAL_PASSES):
        has_moved = False
        for i in range(n):
            h = half[i]
            if pass_ > 0:
                if n_atoms[h] == 1:
                    continue
                put(side, state, h, i, -1)
            to = np.int64(i)  # the first two values go to different halves, so that neither stays empty
            if pass_ > 0 or i >= 2:
                to = cheaper_half(p, n_target_parts, table, one, side, state, i)
            if pass_ > 0 and to != h:
                has_moved = True
            half[i] = to
            put(side, state, to, i, 1)
        if pass_ > 0 and not has_moved:
            break


@inlined
def cheaper_half(p: Any, n_target_parts: Any, table: Any, one: Any, side: PairSide, state: Splitting, i: Any) -> Any:
    """Half to which the i-th listed value adds the lower price."""
    first, place, count, halves = state.first, state.place, state.count, state.halves
    v, facts = state.listed[i], side.facts
    v_rows, v_values = side.atom_rows[v], side.atom_values[v]
    to, lowest = np.int64(0), np.inf
    for h in range(2):
        price = 0.0
        for e in range(first[i], first[i + 1]):
            x = halves[h, place[e]]
            price += price_at(p, table, one, x + count[e]) - price_at(p, table, one, x)
        for way in range(2):
            n_rows, n_values = state.n_rows[h] + way * v_rows, state.n_values[h] + way * v_values
            part = part_price(p, facts, n_target_parts, n_rows, n_values)
            price += part if way == 1 else -part
        if price < lowest:
            to, lowest = np.int64(h), price
    return to


@inlined
def put(side: PairSide, state: Splitting, h: Any, i: Any, sign: int) -> None:
    """Put the i-th listed value into half `h`; take it out if `sign` is -1."""
    first, place, count, halves, v = state.first, state.place, state.count, state.halves, state.listed[i]
    for e in range(first[i], first[i + 1]):
        halves[h, place[e]] += sign * count[e]
    state.n_atoms[h] += sign
    state.n_rows[h] += sign * side.atom_rows[v]
    state.n_values[h] += sign * side.atom_values[v]


def all_groups(n_groups: int) -> NDArray[np.int64]:
    """Jobs that split each group."""
    return np.stack([np.arange(n_groups), np.full(n_groups, -1)], axis=1)


def with_nearest(nearest: NDArray[np.int64]) -> NDArray[np.int64]:
    """Jobs that merge each group with its nearest group and split the union, if neither is in another job."""
    is_free = nearest >= 0
    jobs = []
    for g, other in enumerate(nearest):
        if is_free[g] and is_free[other]:
            is_free[g] = is_free[other] = False
            jobs.append((g, other))
    return np.array(jobs, dtype=np.int64).reshape(-1, 2)
