"""Densities to compare with: parts of equal width, or of about equally many rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridmodl.arguments import check_integer, check_seed
from gridmodl.clock import Clock
from gridmodl.density.fitting import Found, check_folds, wrapped
from gridmodl.density.folds import HeldOut, folds_of
from gridmodl.density.growth import below
from gridmodl.density.model import DensityModel, log_ratio
from gridmodl.density.sample import Sample, read_sample
from gridmodl.equal import equal_frequency_starts, equal_width_cuts


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
    """The density of a column in parts of one width.

    Parameters
    ----------
    data, weights, domain, n_folds, random_state
        As of `optimize_density`.
    n_parts : int, optional
        Parts, fewer where the column's type has no number for each bound. By default cross-validated: of 1 to
        ``max_parts``, the first number that rows held out are most likely under.
    max_parts : int
        The largest number that is tried.

    Examples
    --------
    >>> from gridmodl.density import equal_width
    >>> equal_width([0.0, 1.0, 2.0, 10.0], 4).partition.bounds
    array([2.5, 5. , 7.5])
    """
    for name, given in (("n_parts", 1 if n_parts is None else n_parts), ("max_parts", max_parts)):
        _check_parts(name, given)
    check_folds(n_folds)
    check_seed(random_state)
    clock = Clock()
    sample = read_sample(data, weights, domain)
    if n_parts is not None:
        return wrapped(sample, _of_one_width(sample, int(n_parts)), None, clock)
    held_out = _validated(sample, int(max_parts), n_folds, random_state) if sample.n_rows > 1 else None
    best = 1 if held_out is None else held_out.best() + 1
    return wrapped(sample, _of_one_width(sample, best), held_out, clock)


def equal_frequency(data: Any, n_parts: int, *, weights: Any = None, domain: Any = None) -> DensityModel:
    """The density of a column in parts of about equally many rows.

    Parameters
    ----------
    data, weights, domain
        As of `optimize_density`.
    n_parts : int
        Parts; fewer where a value has the rows of several.

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
    starts = starts[sample.middles(starts) > 0.0]  # a first part without width is none
    found = Found(starts, sample.bounds(starts), sample.widths(sample.middles(starts)), "equal frequency")
    return wrapped(sample, found, None, clock)


def _of_one_width(sample: Sample, n_parts: int) -> Found:
    low, high, dtype = sample.domain
    cuts = equal_width_cuts(low, high, n_parts, dtype)
    bounds = cuts.bounds.view(np.int64) if dtype.kind in "mM" else cuts.bounds
    starts = np.searchsorted(sample.lowest, bounds, side="right")
    # A bound amid values that no float tells apart in the domain goes above them.
    within = (starts > 0) & (sample.highest[starts - 1] > bounds)
    if np.any(within):
        bounds = np.where(within, sample.highest[starts - 1], bounds).astype(bounds.dtype)
    shares = np.diff(np.concatenate([[0.0], cuts.shares, [1.0]]))
    return Found(starts, bounds.view(dtype) if dtype.kind in "mM" else bounds, shares, "equal width")


def _validated(sample: Sample, max_parts: int, n_folds: int, random_state: int | None) -> HeldOut:
    """The log-likelihood of rows held out in 1 to `max_parts` parts, above that of one part.

    Rows below each bound of each number of parts are looked up once; all folds and numbers share them. Parts without
    values say nothing, and narrow ones are mostly that.
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


def _check_parts(name: str, given: Any) -> None:
    check_integer(name, given)
    if given < 1:
        raise ValueError(f"{name} must be at least 1, got {given}")
