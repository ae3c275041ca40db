"""Choose the bounds of an average: all places between atoms if they are few, else some that stand for their neighbours.

Place q lies between atoms q - 1 and q. A candidate stands for a zone of neighbouring places, its own among them. Two
zones meet at an atom, the knot of the segment between two candidates. If each atom is a segment, each zone is one place
and the average is exact.

Rows without a class tell nothing of the classes: bounds between the same two labelled atoms make the same sums. So a
zone without a labelled atom inside is counted exactly whatever its size, several bounds in it included; a run is the
places of a zone between the same two labelled atoms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

QUANTILES = 0.6  # share of the candidates that are quantiles of the rows, if the others are near bounds of an optimum
FIRST_STEPS = (0, 1, 2, 3, 4, 6)  # distances of candidates from a bound of the optimum, then growing by half


# Few labelled rows among many leave many numbers of intervals likely, so that each candidate takes long.
GAP_SHARE = 16  # candidates between labelled atoms are this part of all, if each gap has one


class Runs(NamedTuple):
    """The places of each zone, as runs. A zone that is cut has one bound or more, all in one run."""

    zone: NDArray[np.int64]  # candidate: b for the bound before segment b, n_segments for the end
    size: NDArray[np.int64]  # number of places of a run
    times: NDArray[np.int64]  # number of such runs in the zone

    @property
    def n_places(self) -> int:
        """Number of all places, the end included."""
        return int((self.size * self.times).sum())


class Candidates(NamedTuple):
    """Segments of atoms between candidate bounds, and the places that each candidate stands for."""

    starts: NDArray[np.int64]  # first atom of each segment
    knots: NDArray[np.int64]  # atom of each segment at which two zones meet; the first and last atom at the ends
    runs: Runs

    @property
    def n_segments(self) -> int:
        return len(self.starts)


def all_places(n_atoms: int) -> Candidates:
    """Every place between atoms as a candidate."""
    atoms = np.arange(n_atoms)
    ones = np.ones(n_atoms, dtype=np.int64)
    return Candidates(atoms, atoms, Runs(atoms + 1, ones, ones))


def some_places(labelled: NDArray[np.int64], optimum: NDArray[np.int64], most: int, has_missing: bool) -> Candidates:
    """At most `most` segments, about: quantiles of the labelled rows, and places near the bounds of an `optimum`.

    `labelled` are the labelled rows of each atom, `optimum` the first atoms of the parts of a good partition. Missing
    values, the first atom if `has_missing`, are a segment of their own.
    """
    first, is_labelled = int(has_missing), labelled[int(has_missing) :] > 0
    n_atoms, at = len(is_labelled), np.flatnonzero(is_labelled)
    most = max(2, most - first)
    if len(at) < min(n_atoms, most):  # a place in each gap between labelled atoms, and evenly among the others
        begins, ends = np.append(0, at) + 1, np.append(at, n_atoms - 1)
        places = ((begins + ends) // 2)[begins <= ends]
        n_more = most // GAP_SHARE - len(places)
        even = np.linspace(1, n_atoms - 1, n_more).astype(np.int64) if n_more > 0 else np.empty(0, dtype=np.int64)
        places = np.unique(np.concatenate([places, even]))
    else:
        places = _near_and_even(labelled[first:], optimum - first, most - 1)
    starts = np.append(0, places)
    knots = _meeting_atoms(starts, is_labelled)
    zone, size, times = _runs_of_zones(knots, is_labelled)
    if has_missing:
        starts, knots = np.append(0, starts + 1), np.append(0, knots + 1)
        zone, size, times = np.append(1, zone + 1), np.append(1, size), np.append(1, times)
    end = Runs(np.append(zone, len(starts)), np.append(size, 1), np.append(times, 1))
    return Candidates(starts, knots, end)


def _runs_of_zones(
    knots: NDArray[np.int64], is_labelled: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Runs of the zones that meet at inner `knots`: zone, size, and how often it occurs there."""
    n_atoms = len(is_labelled)
    if is_labelled.all():  # each place is a run
        zone = np.arange(1, len(knots))
        return zone, np.ones_like(zone), np.diff(np.concatenate([[0], knots[1:-1], [n_atoms - 1]]))
    zones = np.searchsorted(knots[1:-1], np.arange(1, n_atoms), side="left") + 1  # of each place, before its meeting
    gaps = np.cumsum(is_labelled)[:-1]  # labelled atoms before each place
    begins = np.flatnonzero(np.append(True, (np.diff(zones) != 0) | (np.diff(gaps) != 0)))
    size = np.diff(np.append(begins, n_atoms - 1))
    kinds, times = np.unique(np.column_stack([zones[begins], size]), axis=0, return_counts=True)
    return kinds[:, 0], kinds[:, 1], times


def _near_and_even(rows: NDArray[np.int64], optimum: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """At most `most` places: near those of the optimum, and at quantiles of the rows."""
    bounds = np.unique(optimum[(optimum > 0) & (optimum < len(rows))])
    if len(bounds) > most:
        bounds = bounds[np.linspace(0, len(bounds) - 1, most).astype(np.int64)]
    n_near, near, step, i = max(len(bounds), round((1.0 - QUANTILES) * most)), bounds, 0, 1
    while len(bounds) and step < len(rows):
        step = FIRST_STEPS[i] if i < len(FIRST_STEPS) else step * 3 // 2
        beside = np.concatenate([bounds - step, bounds + step])
        more = np.union1d(near, beside[(beside > 0) & (beside < len(rows))])
        if len(more) > n_near:
            break
        near, i = more, i + 1
    n_even = most - len(near)
    cumulative = np.cumsum(rows)
    even = np.searchsorted(cumulative, np.arange(1, n_even + 1) * (cumulative[-1] / (n_even + 1.0))) + 1
    return np.union1d(near, even[even < len(rows)])


def _meeting_atoms(starts: NDArray[np.int64], is_labelled: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Atom of each segment at which zones meet: the labelled atom nearest to its middle, or the middle if none is."""
    n_atoms = len(is_labelled)
    ends = np.append(starts[1:], n_atoms)
    middle = (starts + ends) // 2
    middle = np.minimum(middle, ends - 1)
    at = np.append(np.flatnonzero(is_labelled), n_atoms)  # one beyond the end, so that each look-up finds one
    after = np.searchsorted(at, middle)
    above, below = at[after], at[np.maximum(after, 1) - 1]
    is_above, is_below = above < ends, (below >= starts) & (below <= middle)
    nearer = np.where(is_below & (~is_above | (middle - below < above - middle)), below, above)
    knots = np.where(is_above | is_below, nearer, middle)
    knots[0], knots[-1] = 0, n_atoms - 1
    return knots
