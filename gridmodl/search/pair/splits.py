"""Splits of groups in two, and merges of two groups that are split anew.

The values of a group are given to two halves one by one, in random order, each to the half where it costs less; then
they are visited again, up to three times, and may change halves. A split is made if it saves, or whatever it
costs where it is forced: forced splits of all groups, passes and merges are what leads from one local optimum to a
better one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.jit.template import bind
from gridmodl.search.grid.neighbours import below
from gridmodl.search.moves import Limits, Setting, is_cheaper, part_price, total_cost
from gridmodl.search.pair.state import COST, PRICE, Pair, PairSide, price_at

LOCAL_PASSES = 3

# The fields of `Splitting.now` and `Splitting.sums`.
AT, N_GROUPS, MOST, FORCED = range(4)
SPLIT_PRICE, SPLIT_COST = range(2)


class Splitting(NamedTuple):
    """The state of the splits between two calls of the kernel, and buffers for one split."""

    members: Any  # values in the order of their groups
    begins: Any  # where each group begins among them
    listed: Any  # values to split, in random order
    first: Any  # where the profile of each of these begins
    place: Any  # the profiles: part of the other variable
    count: Any  # and rows in it
    slot: Any  # buffer: last profile entry of each part of the other variable
    half: Any  # of each value to split
    halves: Any  # rows of each half, by part of the other variable
    sizes: Any  # [half, (values to split, rows, values)]
    seed: Any
    now: Any
    sums: Any


def split(
    pair: Pair, k: int, limits: Limits, jobs: NDArray[np.int64], seed: NDArray[np.uint64], forced: bool = False
) -> None:
    """Split groups of categorical variable k: `jobs` has rows of a group and -1, or of two groups to split anew.

    No group may be in two jobs.
    """
    side, across = pair.sides[k], pair.sides[1 - k]
    n_groups, n_across, n_atoms = pair.n_parts[k], pair.n_parts[1 - k], pair.n_atoms(k)
    most = min(limits.max_parts, pair.most_parts(k))
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
        sizes=np.zeros((2, 3), dtype=np.int64),
        seed=seed,
        now=np.array([0, n_groups, most, int(forced)], dtype=np.int64),
        sums=np.array([pair.sums[PRICE], pair.sums[COST]]),
    )
    kernel = bind(split_jobs, pair.task.criterion)
    pair.task.clock.repeat(
        lambda n: bool(kernel(side, across.part, setting, limits, pair.table, pair.one, jobs, state, n)),
        None,
        size=max(1, 2**18 * n_groups // len(side.other)),
    )
    pair.n_parts[k] = int(state.now[N_GROUPS])
    pair.sums[COST] = state.sums[SPLIT_COST]


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
    """Do so many jobs; True when all are done."""
    facts, first_entry, other, rows, atom_rows, atom_values, group = side
    members, begins, listed, first, place, count, slot, half, halves, sizes, seed, now, sums = state
    p, n_target_parts = setting.p, setting.frozen.n_target_parts
    n_across = halves.shape[1]
    for _ in range(n_jobs):
        if now[AT] == len(jobs):
            return True
        job = now[AT]
        now[AT] += 1
        n = 0
        for h in range(2):
            g = jobs[job, h]
            for i in range(begins[g] if g >= 0 else 0, begins[g + 1] if g >= 0 else 0):
                listed[n] = members[i]
                half[n] = h
                n += 1
        more = 1 if jobs[job, 1] < 0 else 0
        if n < 2 or now[N_GROUPS] + more > now[MOST]:
            continue
        for i in range(n - 1):
            j = i + below(seed, n - i)
            listed[i], listed[j] = listed[j], listed[i]
            half[i], half[j] = half[j], half[i]
        for t in range(n_across):
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
        # What the groups cost now, then what the halves cost.
        change = 0.0
        for turn in range(2):
            for h in range(2):
                sizes[h, 0] = sizes[h, 1] = sizes[h, 2] = 0
                for t in range(n_across):
                    halves[h, t] = 0
            if turn == 0:
                for i in range(n):
                    put(half[i], i, 1, listed, first, place, count, atom_rows, atom_values, halves, sizes)
            else:
                for pass_ in range(1 + LOCAL_PASSES):
                    has_moved = False
                    for i in range(n):
                        h = half[i]
                        if pass_ > 0:
                            if sizes[h, 0] == 1:
                                continue
                            put(h, i, -1, listed, first, place, count, atom_rows, atom_values, halves, sizes)
                        if pass_ == 0 and i < 2:
                            to = i  # one value each: a half that stayed empty would be no split
                        else:
                            v = listed[i]
                            to, lowest = 0, np.inf
                            for side_ in range(2):
                                price = 0.0
                                for e in range(first[i], first[i + 1]):
                                    x = halves[side_, place[e]]
                                    price += price_at(p, table, one, x + count[e]) - price_at(p, table, one, x)
                                for way in range(2):
                                    n_rows = sizes[side_, 1] + way * atom_rows[v]
                                    n_values = sizes[side_, 2] + way * atom_values[v]
                                    part = part_price(p, facts, n_target_parts, n_rows, n_values)
                                    price += part if way == 1 else -part
                                if price < lowest:
                                    to, lowest = side_, price
                        if pass_ > 0 and to != h:
                            has_moved = True
                        half[i] = to
                        put(to, i, 1, listed, first, place, count, atom_rows, atom_values, halves, sizes)
                    if pass_ > 0 and not has_moved:
                        break
            price = 0.0
            for h in range(2):
                for t in range(n_across):
                    price += price_at(p, table, one, halves[h, t])
                if sizes[h, 0] > 0:
                    price += part_price(p, facts, n_target_parts, sizes[h, 1], sizes[h, 2])
            change += price if turn == 1 else -price
        cost = total_cost(setting, sums[SPLIT_PRICE] + change, now[N_GROUPS] + more)
        saves = (
            is_cheaper(cost, sums[SPLIT_COST], abs(sums[SPLIT_PRICE]))
            and min(sizes[0, 1], sizes[1, 1]) >= limits.min_rows
        )
        if saves or now[FORCED] == 1:
            g = jobs[job, 0]
            to = jobs[job, 1] if more == 0 else now[N_GROUPS]
            for i in range(n):
                group[listed[i]] = g if half[i] == 0 else to
            now[N_GROUPS] += more
            sums[SPLIT_PRICE] += change
            sums[SPLIT_COST] = cost
    return False


def put(
    h: Any,
    i: Any,
    sign: int,
    listed: Any,
    first: Any,
    place: Any,
    count: Any,
    atom_rows: Any,
    atom_values: Any,
    halves: Any,
    sizes: Any,
) -> None:
    """Put the i-th value into a half, or take it out where `sign` is -1."""
    for e in range(first[i], first[i + 1]):
        halves[h, place[e]] += sign * count[e]
    sizes[h, 0] += sign
    sizes[h, 1] += sign * atom_rows[listed[i]]
    sizes[h, 2] += sign * atom_values[listed[i]]


def all_groups(n_groups: int) -> NDArray[np.int64]:
    """Jobs that split each group."""
    return np.stack([np.arange(n_groups), np.full(n_groups, -1)], axis=1)


def with_nearest(nearest: NDArray[np.int64]) -> NDArray[np.int64]:
    """Jobs that split each group anew together with the nearest one that is not in another job."""
    is_free = nearest >= 0
    jobs = []
    for g, other in enumerate(nearest):
        if is_free[g] and is_free[other]:
            is_free[g] = is_free[other] = False
            jobs.append((g, other))
    return np.array(jobs, dtype=np.int64).reshape(-1, 2)
