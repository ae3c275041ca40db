"""Intervals of one of two variables, the other frozen: sweeps of local moves, and cuts in two.

The sweep is that of one column (`gridmodl.search.column.improve`). For a variable of more than MAX_PLACES values, the
places for a bound are about MAX_PLACES quantiles and the bounds of the grid, and in the end the values near these.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.atoms import Atoms
from gridmodl.jit.template import bind
from gridmodl.search.column.improve import sweep, sweep_from
from gridmodl.search.moves import Buffers, GridLimits, Limits, Setting, best_cut, make_buffers
from gridmodl.search.pair.state import MAX_PLACES, Pair, fill_coarse

WINDOW = 64  # values on each side of a bound that are places in the end; beyond, at distances that double


def starts_of(pair: Pair, k: int) -> NDArray[np.int64]:
    """First atom of each interval."""
    part = pair.sides[k].part
    return np.flatnonzero(np.append(True, part[1:] != part[:-1]))


def places_of(pair: Pair, k: int, around_bounds: bool) -> NDArray[np.int64]:
    """Atoms that an interval may begin with: quantiles, bounds of the grid, and if `around_bounds` atoms near these."""
    n, starts = pair.n_atoms(k), starts_of(pair, k)
    if n <= MAX_PLACES:
        return np.arange(n)
    is_place = np.zeros(n, dtype=bool)
    is_place[starts] = True
    if around_bounds:
        steps = np.concatenate([np.arange(1, WINDOW), WINDOW * 2 ** np.arange(int(np.log2(n)))])
        near = starts[1:, None] + np.concatenate([-steps, steps])[None, :]
        is_place[near[(near >= 0) & (near < n)]] = True
    is_place[pair.places[k]] = True
    return np.flatnonzero(is_place)


def coarse_atoms(pair: Pair, k: int, places: NDArray[np.int64]) -> tuple[Atoms, Buffers]:
    """Coarse atoms, one per place, with entries by part of the other variable; and buffers for prices."""
    side, across, n_across = pair.sides[k], pair.sides[1 - k], pair.n_parts[1 - k]
    n, n_entries = len(places), len(side.other)
    most = min(n_entries, n * n_across)
    rows = np.empty(most, dtype=np.int64)
    first, frozen = np.empty(n + 1, dtype=np.int64), np.empty(most, dtype=np.int32)
    values = np.zeros(n, dtype=np.int64)
    slot = np.full(n_across, -1, dtype=np.int64)
    n_coarse = bind(fill_coarse)(side, across.part, places, first, frozen, rows, values, slot)
    frozen, rows = frozen[:n_coarse], rows[:n_coarse]
    return Atoms(first, frozen, rows.reshape(-1, 1), rows, values), make_buffers(n_across, 1)


def improve_intervals(
    pair: Pair, k: int, limits: GridLimits, only_shifts: bool = False, around_bounds: bool = False
) -> None:
    """Split, merge and shift intervals of numerical variable k until no move saves."""
    places = places_of(pair, k, around_bounds)
    max_parts, min_rows = limits.of(k)
    most = min(max_parts, pair.most_parts(k))
    n_parts = pair.n_parts[k]
    setting = pair.lay(k, n_targets=min(most, len(places), 4 * n_parts + 64)).setting
    atoms, buffers = coarse_atoms(pair, k, places)
    n = len(places)
    state = sweep_from(n, np.searchsorted(places, starts_of(pair, k)))
    state.now[0].only_shifts = only_shifts
    kernel = bind(sweep, pair.task.criterion)
    kept = Limits(max(most, n_parts), min_rows)
    pair.task.clock.repeat(
        lambda n_parts: bool(kernel(state, atoms, setting, kept, buffers, n_parts)),
        None,
        size=max(1, 2**16 * n_parts // len(atoms.rows)),
    )
    set_starts(pair, k, places[np.flatnonzero(state.end)])
    pair.price()


def set_starts(pair: Pair, k: int, starts: NDArray[np.int64]) -> None:
    """Set the intervals of variable k to those that begin with the atoms `starts`."""
    begins = np.zeros(pair.n_atoms(k), dtype=np.int32)
    begins[starts[1:]] = 1
    np.cumsum(begins, out=pair.sides[k].part)
    pair.n_parts[k] = len(starts)


def cut_intervals(pair: Pair, k: int, chosen: NDArray[np.bool_]) -> None:
    """Cut the chosen intervals of numerical variable k in two, each at its best place, even if that does not pay."""
    places = places_of(pair, k, around_bounds=False)
    setting = pair.lay(k).setting
    atoms, buffers = coarse_atoms(pair, k, places)
    starts = np.append(np.searchsorted(places, starts_of(pair, k)), len(places))
    cuts = np.full(len(chosen), -1, dtype=np.int64)
    at = np.zeros(1, dtype=np.int64)
    most = pair.most_parts(k) - pair.n_parts[k]
    chosen = chosen & (np.cumsum(chosen) <= most)
    kernel = bind(find_cuts, pair.task.criterion)
    pair.task.clock.repeat(
        lambda n: bool(kernel(atoms, setting, starts, chosen, buffers, cuts, at, n)),
        None,
        size=max(1, 2**17 * len(chosen) // len(atoms.rows)),
    )
    set_starts(pair, k, np.sort(np.concatenate([places[starts[:-1]], places[cuts[cuts >= 0]]])))


def find_cuts(
    atoms: Any, setting: Setting, starts: Any, chosen: Any, buffers: Buffers, cuts: Any, at: Any, n: int
) -> bool:
    """Find the best cuts of at most `n` intervals; return True when all are done."""
    for _ in range(n):
        if at[0] == len(chosen):
            return True
        i = at[0]
        at[0] += 1
        if chosen[i] and starts[i + 1] - starts[i] > 1:
            _, price, cut = best_cut(atoms, setting, starts[i], starts[i + 1], buffers, 1)
            if price < np.inf:
                cuts[i] = cut
    return False
