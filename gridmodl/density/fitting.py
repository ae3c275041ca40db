"""From a column to its density: read, grow, cross-validate, wrap."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.arguments import Options, check_integer, check_seed, checked_time
from gridmodl.clock import Clock, Progress
from gridmodl.density.cuts import Rule
from gridmodl.density.folds import HeldOut, validated
from gridmodl.density.growth import Effort, below, grown, rows_of
from gridmodl.density.model import DensityModel
from gridmodl.density.sample import Sample, read_sample
from gridmodl.partition import Partition
from gridmodl.progress import showing
from gridmodl.spelling import check_choice

SCORES = ("likelihood", "kernel")
# Coefficients of m^2, V/w^2 and D/w in m^2 - S: see gridmodl.density.cuts.
KERNELS = {"epanechnikov": (0.25, 0.75, 0.0), "triangle": (0.0, 0.0, 1.0), "box": (0.5, 0.0, 0.0)}
MAX_CUTS = 1_000  # where the user sets no limit


class Found(NamedTuple):
    """Parts of a sample and where they come from."""

    starts: NDArray[np.int64]  # the first value of each part but the lowest
    bounds: NDArray[Any]
    shares: NDArray[np.float64]  # widths, of the domain's
    method: str
    kernel: str | None = None
    path: NDArray[Any] | None = None


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
    """Find intervals of one numerical column in which its rows are evenly dense; no target is needed.

    Top-down: of all cuts in the middle of two neighbouring values, the one of the highest score is made, again and
    again. How many cuts are kept is what rows that were held out are most likely under, in a cross-validation; then
    all rows are cut so often.

    Parameters
    ----------
    data : array-like, series or frame of one column
        Numbers, dates or durations. Missing values have no density and are left out; ``n_missing`` counts them.
        Infinite values are an error, and so is a column of one distinct value without a ``domain``.
    score : {"likelihood", "kernel"}
        What a cut is worth. ``"likelihood"`` is by how much it raises the log-likelihood of the rows (Schmidberger and
        Frank, 2005); ``"kernel"`` how far rows' density in the two parts is from an estimate by a kernel of the part's
        own width (Biba, Esposito, Ferilli, Di Mauro and Basile, 2007). The former is the default: it finds better
        densities with fewer parts. A kernel's score is largest where rows are densest already and dives into that spot,
        the deeper the more rows there are.
    kernel : {"epanechnikov", "triangle", "box"}
        Of ``score="kernel"``.
    weights : array-like of shape (n,), optional
        Whole numbers: a row of weight w is w rows, exactly; each of them goes into a fold of its own.
    domain : (low, high), optional
        Where values can lie; by default the range of the rows.
    max_parts : int, optional
        At most so many parts; by default 1,001, or fewer where cutting on would take time quadratic in the rows, as
        kernels do on evenly spaced values.
    min_rows : int or float, optional
        Least rows of a part, or a share of all rows below 1.
    n_folds : int
        Of the cross-validation; at most one for each row.
    time_limit : float, optional
        Seconds. When they are over, or on Ctrl-C, the folds that are complete decide; if there is none, the model has
        one part. ``stopped`` says so.
    random_state : int or None
        Decides which rows are in which fold, whatever their order; the same number gives the same model. None is a new
        chance each time.
    progress : bool or callable, optional
        As of `optimize`.

    Returns
    -------
    DensityModel

    Examples
    --------
    >>> import gridmodl
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> values = np.concatenate([rng.uniform(0, 1, 900), rng.uniform(1, 10, 100)])
    >>> model = gridmodl.optimize_density(values)
    >>> model.partition.labels
    [']-inf, 1.000748325]', ']1.000748325, inf[']
    """
    check_asked(score, kernel)
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
    """The model of a sample that was read, under the clock of one column or of many."""
    limits = Options(max_parts=max_parts, min_rows=min_rows).limits(sample.n_rows)
    effort = Effort(MAX_CUTS if max_parts is None else limits.max_parts - 1, max_parts is None)
    rule = Rule(score == "likelihood", *KERNELS[kernel], float(limits.min_rows))
    found, held_out = _cut(sample, rule, effort, n_folds, random_state, clock)
    return wrapped(sample, found._replace(method=score, kernel=None if rule.likelihood else kernel), held_out, clock)


def _cut(
    sample: Sample, rule: Rule, effort: Effort, n_folds: int, random_state: int | None, clock: Clock
) -> tuple[Found, HeldOut | None]:
    """All rows are cut first: then the time limit costs folds, not the path."""
    clock.step = "all rows"
    growth = grown(rows_of(sample.positions, sample.rows, sample.domain.end), rule, effort, clock)
    held_out = None
    if growth is not None and sample.n_rows > 1:
        held_out = validated(sample, rule, effort._replace(max_cuts=growth.n_cuts), n_folds, random_state, clock)
    if growth is None or held_out is None:
        return _first_cuts(sample, np.empty(0, dtype=np.int64), np.empty(0), 0), held_out
    return _first_cuts(sample, growth.path, growth.at, held_out.best()), held_out


def _first_cuts(sample: Sample, path: NDArray[np.int64], at: NDArray[np.float64], n_cuts: int) -> Found:
    order = np.argsort(path[:n_cuts])
    starts = path[:n_cuts][order] + 1
    widths = sample.widths(at[:n_cuts][order])
    return Found(starts, sample.bounds(starts), widths, "", path=sample.bounds(path + 1))


def wrapped(sample: Sample, found: Found, held_out: HeldOut | None, clock: Clock) -> DensityModel:
    """The model of parts of a sample."""
    ends = np.concatenate([[0], found.starts, [len(sample.rows)]]).astype(np.int64)
    counts = np.diff(below(sample.rows)[ends]).astype(np.int64)
    per_row = np.empty(0)
    if held_out is not None:
        per_row = held_out.log_likelihood / held_out.n_rows - math.log(sample.domain.width)
    path = found.bounds[:0] if found.path is None else found.path
    return DensityModel(
        partition=Partition(sample.name, "numerical", counts[:, None], found.bounds, is_utc=sample.is_utc),
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


def check_asked(score: Any, kernel: Any) -> None:
    for name, given, known in (("score", score, SCORES), ("kernel", kernel, tuple(KERNELS))):
        check_choice(name, given, known)


def check_folds(n_folds: Any) -> None:
    check_integer("n_folds", n_folds)
    if n_folds < 2:
        raise ValueError(f"n_folds must be at least 2, got {n_folds}")
