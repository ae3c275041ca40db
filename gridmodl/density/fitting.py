"""Fit the density of a column: `optimize_density`, baselines to compare with, and cross-validation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock, Progress
from gridmodl.data.domain import log_ratio
from gridmodl.data.folds import folds_of
from gridmodl.data.quantiles import equal_frequency_starts, equal_width_cuts
from gridmodl.density.growth import CutRule, Effort, SortedRows, below, grown, rows_of
from gridmodl.density.model import DensityModel
from gridmodl.density.sample import Sample, read_sample
from gridmodl.fit.options import ColumnOptions, check_integer, check_seed, checked_time
from gridmodl.jit.template import bind
from gridmodl.model.partition import Partition
from gridmodl.progress import showing
from gridmodl.spelling import check_choice, names_arguments

SCORES = ("likelihood", "kernel")
# Coefficients of m^2, V/w^2 and D/w in m^2 - S: see gridmodl.density.growth.
KERNELS = {
    "epanechnikov": (0.25, 0.75, 0.0), "triangle": (0.0, 0.0, 1.0), "box": (0.5, 0.0, 0.0), "gaussian": (0.0, 0.0, 0.0),
}  # fmt: skip
MAX_CUTS = 1_000  # if the user sets no limit
NANO = 1e-9  # nats per row: log-likelihoods that differ by less are ties


class FoundParts(NamedTuple):
    """Parts of a sample, and how they were found."""

    starts: NDArray[np.int64]  # the first value of each part but the lowest
    bounds: NDArray[Any]
    shares: NDArray[np.float64]  # width of each part, as a share of the domain's
    method: str
    kernel: str | None = None
    path: NDArray[Any] | None = None


@names_arguments
def optimize_density(
    data: Any,
    *,
    score: str = "likelihood",
    kernel: str = "epanechnikov",
    weights: Any = None,
    domain: Any = None,
    max_parts: int | None = None,
    min_rows: int | float | None = None,
    n_folds: int = 10,
    time_limit: float | None = None,
    random_state: int | None = 0,
    progress: bool | Callable[[Progress], Any] | None = None,
) -> DensityModel:
    """Find intervals of one numerical column with constant density (unsupervised discretization); no target is needed.

    Top-down: of all cuts midway between neighbouring values, the cut with the highest score is made, again and again.
    Cross-validation chooses the number of cuts under which held-out rows are most likely.

    Parameters
    ----------
    data : array-like, series or frame of one column
        Numbers, dates or durations. Missing values have no density and are left out; ``n_missing`` counts them.
        Infinite values are an error, and so is a column of one distinct value without a ``domain``.
    score : {"likelihood", "kernel"}
        Score of a cut. ``"likelihood"``: the rise of the log-likelihood of the rows (Schmidberger and Frank, 2005).
        ``"kernel"``: the distance between the density of the rows in the two parts and a kernel estimate of the part's
        own width (Biba, Esposito, Ferilli, Di Mauro and Basile, 2007). ``"likelihood"`` finds better densities with
        fewer parts: the score of a kernel is largest where rows are densest, so cuts pile up there as rows increase.
    kernel : {"epanechnikov", "triangle", "box", "gaussian"}
        The kernel of ``score="kernel"``.
    weights : array-like of shape (n,), optional
        Whole numbers: a row of weight w counts as w rows, each drawn into a fold on its own.
    domain : (low, high), optional
        Where values can lie; by default the range of the rows, and half a step more at both ends if these are whole
        numbers, or on another lattice.
    max_parts : int, optional
        Largest number of parts; by default 1,001, or fewer where further cuts would take time quadratic in the rows,
        as kernels do on evenly spaced values.
    min_rows : int or float, optional
        Smallest number of rows of a part; below 1, the smallest share of all rows.
    n_folds : int
        Number of folds of the cross-validation; at most one per row.
    time_limit : float, optional
        Seconds. At the limit, or after Ctrl-C, the complete folds decide; if there are none, the model has one part.
        ``stopped`` tells why.
    random_state : int or None
        Seed of the folds; the same seed gives the same model, in any order of the rows. None draws new folds at each
        call.
    progress : bool or callable, optional
        As in `optimize`.

    Returns
    -------
    DensityModel

    Examples
    --------
    >>> import gridmodl
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> values = np.concatenate([rng.uniform(0, 1, 900), rng.uniform(1, 10, 100)]).round(3)
    >>> model = gridmodl.optimize_density(values)
    >>> model.partition.labels
    ['(-inf, 1.001]', '(1.001, inf)']
    """
    check_score(score, kernel)
    check_folds(n_folds)
    check_seed(random_state)
    clock = Clock(checked_time(time_limit))
    sample = read_sample(data, weights, domain)
    with showing(progress, clock):
        return density_of(sample, max_parts, min_rows, random_state, clock, n_folds, score, kernel)


def density_of(
    sample: Sample,
    max_parts: int | None,
    min_rows: int | float | None,
    random_state: int | None,
    clock: Clock,
    n_folds: int = 10,
    score: str = "likelihood",
    kernel: str = "epanechnikov",
) -> DensityModel:
    """Fit the density of a sample, under the clock of one column or of many."""
    limits = ColumnOptions(max_parts=max_parts, min_rows=min_rows).limits(sample.n_rows)
    effort = Effort(MAX_CUTS if max_parts is None else limits.max_parts - 1, max_parts is None)
    rule = CutRule(score == "likelihood", *KERNELS[kernel], float(limits.min_rows), kernel == "gaussian")
    found, held_out = _cut(sample, rule, effort, n_folds, random_state, clock)
    return build_model(
        sample, found._replace(method=score, kernel=None if rule.likelihood else kernel), held_out, clock
    )


def _cut(
    sample: Sample, rule: CutRule, effort: Effort, n_folds: int, random_state: int | None, clock: Clock
) -> tuple[FoundParts, HeldOut | None]:
    """Cut all rows, then cross-validate: in this order the time limit costs folds, not the path."""
    clock.step = "all rows"
    growth = grown(rows_of(sample.positions, sample.rows, sample.domain.end), rule, effort, clock)
    held_out = None
    if growth is not None and sample.n_rows > 1:
        held_out = validated(sample, rule, effort._replace(max_cuts=growth.n_cuts), n_folds, random_state, clock)
    if growth is None or held_out is None:
        return _first_cuts(sample, np.empty(0, dtype=np.int64), np.empty(0), 0), held_out
    return _first_cuts(sample, growth.path, growth.at, held_out.best()), held_out


def _first_cuts(sample: Sample, path: NDArray[np.int64], at: NDArray[np.float64], n_cuts: int) -> FoundParts:
    order = np.argsort(path[:n_cuts])
    starts = path[:n_cuts][order] + 1
    widths = sample.widths(at[:n_cuts][order])
    return FoundParts(starts, sample.bounds(starts), widths, "", path=sample.bounds(path + 1))


def build_model(sample: Sample, found: FoundParts, held_out: HeldOut | None, clock: Clock) -> DensityModel:
    """Build the model from the parts that were found."""
    ends = np.concatenate([[0], found.starts, [len(sample.rows)]]).astype(np.int64)
    counts = np.diff(below(sample.rows)[ends]).astype(np.int64)
    per_row = np.empty(0)
    if held_out is not None:
        per_row = held_out.log_likelihood / held_out.n_rows - math.log(sample.domain.width)
    path = found.bounds[:0] if found.path is None else found.path
    return DensityModel(
        partition=Partition(
            sample.name, "numerical", counts[:, None], found.bounds, is_utc=sample.is_utc, step=sample.step
        ),
        domain=sample.domain.ends(),
        n_rows=sample.n_rows,
        n_missing=sample.n_missing,
        method=found.method,
        kernel=found.kernel,
        path=path,
        held_out=per_row,
        n_folds=0 if held_out is None else held_out.n_folds,
        elapsed=clock.elapsed,
        stopped=clock.stopped,
        shares=found.shares,
        type=sample.domain.type,
        frame=sample.frame,
    )


def check_score(score: Any, kernel: Any) -> None:
    check_choice("score", score, SCORES)
    check_choice("kernel", kernel, tuple(KERNELS))


def check_folds(n_folds: Any) -> None:
    check_integer("n_folds", n_folds)
    if n_folds < 2:
        raise ValueError(f"n_folds must be at least 2, got {n_folds}")


def equal_width(
    data: Any,
    n_parts: int | None = None,
    *,
    weights: Any = None,
    domain: Any = None,
    max_parts: int = 1_000,
    n_folds: int = 10,
    random_state: int | None = 0,
) -> DensityModel:
    """The density of a column in parts of equal width (equal-width binning).

    Parameters
    ----------
    data, weights, domain, n_folds, random_state
        As in `optimize_density`.
    n_parts : int, optional
        Number of parts; fewer if the column's type cannot represent each bound. By default cross-validation chooses
        from 1 to ``max_parts`` the number under which held-out rows are most likely; ties: smallest.
    max_parts : int
        Largest number of parts that is tried.

    Examples
    --------
    >>> from gridmodl.density import equal_width
    >>> equal_width([0.0, 1.0, 2.0, 10.0], 4).partition.bounds
    array([2.25, 5.  , 7.75])
    """
    _check_parts("n_parts", 1 if n_parts is None else n_parts)
    _check_parts("max_parts", max_parts)
    check_folds(n_folds)
    check_seed(random_state)
    clock = Clock()
    sample = read_sample(data, weights, domain)
    if n_parts is not None:
        return build_model(sample, _of_one_width(sample, int(n_parts)), None, clock)
    held_out = _validated(sample, int(max_parts), n_folds, random_state) if sample.n_rows > 1 else None
    best = 1 if held_out is None else held_out.best() + 1
    return build_model(sample, _of_one_width(sample, best), held_out, clock)


def equal_frequency(data: Any, n_parts: int, *, weights: Any = None, domain: Any = None) -> DensityModel:
    """The density of a column in parts with about the same number of rows (equal-frequency binning).

    Parameters
    ----------
    data, weights, domain
        As in `optimize_density`.
    n_parts : int
        Number of parts; fewer if one value has the rows of several parts.

    Examples
    --------
    >>> from gridmodl.density import equal_frequency
    >>> equal_frequency([0.0, 1.0, 2.0, 10.0], 2).partition.bounds
    array([1.5])
    """
    _check_parts("n_parts", n_parts)
    clock = Clock()
    sample = read_sample(data, weights, domain)
    starts = equal_frequency_starts(sample.rows, int(n_parts))[1:]
    starts = starts[sample.middles(starts) > 0.0]  # the first part must have a width
    found = FoundParts(starts, sample.bounds(starts), sample.widths(sample.middles(starts)), "equal frequency")
    return build_model(sample, found, None, clock)


def _of_one_width(sample: Sample, n_parts: int) -> FoundParts:
    low, high, dtype = sample.domain
    cuts = equal_width_cuts(low, high, n_parts, dtype)
    bounds = cuts.bounds.view(np.int64) if dtype.kind in "mM" else cuts.bounds
    starts = np.searchsorted(sample.lowest, bounds, side="right")
    # A bound among values whose positions are the same float goes above them.
    within = (starts > 0) & (sample.highest[starts - 1] > bounds)
    if np.any(within):
        bounds = np.where(within, sample.highest[starts - 1], bounds).astype(bounds.dtype)
    shares = np.diff(np.concatenate([[0.0], cuts.shares, [1.0]]))
    return FoundParts(starts, bounds.view(dtype) if dtype.kind in "mM" else bounds, shares, "equal width")


def _validated(sample: Sample, max_parts: int, n_folds: int, random_state: int | None) -> HeldOut:
    """Log-likelihood of held-out rows in 1 to `max_parts` parts, minus that of one part.

    Rows below each bound are looked up once for all folds. Parts without values are dropped: most narrow parts have
    none.
    """
    found = [_of_one_width(sample, n_parts) for n_parts in range(1, max_parts + 1)]
    low, high, no_share = np.array([0]), np.array([len(sample.rows)]), np.array([np.nan])
    ends = np.concatenate([edge for parts in found for edge in (low, parts.starts, high)])
    has_values = ends[1:] > ends[:-1]  # not so between the last end of one number and the first of the next
    start, end = ends[:-1][has_values], ends[1:][has_values]
    shares = np.concatenate([share for parts in found for share in (parts.shares, no_share)])[:-1][has_values]
    first = np.flatnonzero(start == 0)  # of each number
    log_likelihood, n_held, n_done = np.zeros(max_parts), 0, 0
    for held in folds_of(sample.rows, min(n_folds, sample.n_rows), random_state):
        kept_below, held_below = below(sample.rows - held), below(held)
        ratios = log_ratio(kept_below[end] - kept_below[start], shares, kept_below[-1])
        log_likelihood += np.add.reduceat((held_below[end] - held_below[start]) * ratios, first)
        n_held += int(held.sum())
        n_done += 1
    return HeldOut(log_likelihood, n_held, n_done)


def _check_parts(name: str, number: Any) -> None:
    check_integer(name, number)
    if number < 1:
        raise ValueError(f"{name} must be at least 1, got {number}")


class HeldOut(NamedTuple):
    """Log-likelihood of held-out rows by number of cuts."""

    log_likelihood: NDArray[np.float64]  # of all held-out rows by number of cuts, minus that of one part
    n_rows: int
    n_folds: int

    def best(self) -> int:
        """The best number of cuts; ties: smallest."""
        return first_maximum(self.log_likelihood, self.n_rows)


def first_maximum(log_likelihood: NDArray[np.float64], n_rows: int) -> int:
    """The place of the largest entry; ties: first."""
    return int(np.argmax(log_likelihood >= log_likelihood.max() - NANO * n_rows))


def validated(
    sample: Sample, rule: CutRule, effort: Effort, n_folds: int, random_state: int | None, clock: Clock
) -> HeldOut | None:
    """Grow without the rows of each fold in turn; None if the clock stopped before the first fold was done.

    Numbers of cuts are compared up to the smallest that a fold reached. A fold that ended because no further cut would
    change its density has the same density with every larger number.
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
        effort = effort._replace(max_cuts=min(effort.max_cuts, len(path) - 1))  # no other fold needs more cuts
    if not found:
        return None
    return HeldOut(np.sum([path[: effort.max_cuts + 1] for path in found], axis=0), n_held, len(found))


def without_fold(sample: Sample, held: NDArray[np.int64]) -> SortedRows:
    """The rows outside a fold, to cut by, and the rows `held` of the fold."""
    kept = sample.rows - held
    n_kept, n_held = int(np.count_nonzero(kept)), int(np.count_nonzero(held))
    rows = SortedRows(np.empty(n_kept), np.zeros(n_kept + 1), np.empty(n_held), np.zeros(n_held + 1), sample.domain.end)
    bind(fill_rows)(sample.positions, kept, rows.positions, rows.before)
    bind(fill_rows)(sample.positions, held, rows.held_positions, rows.held_before)
    return rows


def fill_rows(positions: Any, rows: Any, found: Any, before: Any) -> None:
    """Fill `found` with the positions of values that have rows, and `before` with the rows below each."""
    n, total = 0, 0.0
    for i in range(len(positions)):
        if rows[i] > 0:
            found[n] = positions[i]
            total += rows[i]
            n += 1
            before[n] = total
