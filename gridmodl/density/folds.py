"""Cross-validation: how many cuts rows that were held out speak for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock
from gridmodl.density.cuts import Rule
from gridmodl.density.growth import Effort, Rows, grown
from gridmodl.density.sample import Sample
from gridmodl.template import bind

MAX_SHUFFLED = 2**26  # rows; of more, each value is divided by itself, which takes no memory for each row
NANO = 1e-9  # nats per row: log-likelihoods as near as this are equal


class HeldOut(NamedTuple):
    """What rows say of partitions that they had no part in."""

    log_likelihood: NDArray[np.float64]  # of all of them, by number of cuts, above that of one part
    n_rows: int
    n_folds: int

    def best(self) -> int:
        """The smallest number of cuts that is as good as the best."""
        return first_maximum(self.log_likelihood, self.n_rows)


def first_maximum(log_likelihood: NDArray[np.float64], n_rows: int) -> int:
    """The first entry that is as good as the largest."""
    return int(np.argmax(log_likelihood >= log_likelihood.max() - NANO * n_rows))


def validated(
    sample: Sample, rule: Rule, effort: Effort, n_folds: int, random_state: int | None, clock: Clock
) -> HeldOut | None:
    """Grow on all rows but those of a fold, fold after fold; None if the clock left no fold whole.

    Numbers of cuts are compared up to the smallest that a fold reached. A fold that ended because no cut would change
    its density any more has the same density with every larger number.
    """
    found, n_held = [], 0
    folds = min(n_folds, sample.n_rows)
    for i, held in enumerate(folds_of(sample.rows, folds, random_state)):
        clock.step = f"fold {i + 1} of {folds}"
        growth = grown(without_fold(sample, held), rule, effort, clock)
        if growth is None:
            break
        n_held += int(held.sum())
        path = growth.log_likelihood
        if growth.is_flat:
            path = np.concatenate([path, np.full(effort.max_cuts + 1 - len(path), path[-1])])
        found.append(path)
        effort = effort._replace(max_cuts=min(effort.max_cuts, len(path) - 1))  # no other fold needs more
    if not found:
        return None
    return HeldOut(np.sum([path[: effort.max_cuts + 1] for path in found], axis=0), n_held, len(found))


def folds_of(rows: NDArray[np.int64], n_folds: int, random_state: int | None) -> Iterator[NDArray[np.int64]]:
    """The rows of each value that each fold holds out; their order in the data plays no part.

    A row of weight w is w rows, and each goes where chance sends it: dealt out evenly, equal rows would be as many in
    every fold, and no fold could tell that another's are a chance.
    """
    rng, n_rows = np.random.default_rng(random_state), int(rows.sum())
    if n_rows > MAX_SHUFFLED:
        yield from _divided(rows, n_folds, rng)
        return
    fold = np.arange(n_rows, dtype=np.int32) % n_folds
    fold = fold.astype(np.min_scalar_type(n_folds))
    rng.shuffle(fold)
    starts = np.cumsum(rows) - rows if len(rows) < n_rows else None
    for i in range(n_folds):
        is_held = fold == i
        yield is_held.astype(np.int64) if starts is None else np.add.reduceat(is_held, starts, dtype=np.int64)


def _divided(rows: NDArray[np.int64], n_folds: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    left = rows.copy()
    for i in range(n_folds):
        held = rng.binomial(left, 1.0 / (n_folds - i))
        left -= held
        yield held


def without_fold(sample: Sample, held: NDArray[np.int64]) -> Rows:
    """The rows that are not held out, and those that are."""
    kept = sample.rows - held
    n_kept, n_held = int(np.count_nonzero(kept)), int(np.count_nonzero(held))
    rows = Rows(np.empty(n_kept), np.zeros(n_kept + 1), np.empty(n_held), np.zeros(n_held + 1), sample.domain.end)
    bind(fill_rows)(sample.positions, kept, rows.positions, rows.before)
    bind(fill_rows)(sample.positions, held, rows.held_positions, rows.held_before)
    return rows


def fill_rows(positions: Any, rows: Any, found: Any, before: Any) -> None:
    """The positions of values that have rows, and how many rows are below each."""
    n, total = 0, 0.0
    for i in range(len(positions)):
        if rows[i] > 0:
            found[n] = positions[i]
            total += rows[i]
            n += 1
            before[n] = total
