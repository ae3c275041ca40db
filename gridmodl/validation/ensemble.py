"""Choose the criterion of an average of grids by rows that were left out.

A cell must pay for itself in the best single grid, not in an average, where other grids make up for what a cell of few
rows gets wrong. So finer grids than those of modl may predict better together: those of entropy(a, 0) with a penalty of
a log N nats a cell and class but one, tried from coarse to fine as long as the loss falls. Each candidate is fitted to
the rows without a fold, with a shorter search, and predicts the classes of that fold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.analysis.grid_average import GridAverage, best_average
from gridmodl.clock import Clock
from gridmodl.data.folds import deal_rows
from gridmodl.data.frames import Name
from gridmodl.data.table import Table, read_table
from gridmodl.data.targets import NOT_GIVEN, rows_of
from gridmodl.fit.build import encoded_column
from gridmodl.fit.options import check_seed, checked_options, checked_time
from gridmodl.model.model import Model
from gridmodl.plugins import get_criterion
from gridmodl.search import Search
from gridmodl.terms import Criterion

PENALTIES = (2.0, 1.0, 0.5, 0.25)  # nats a cell and class but one, from coarse grids to fine ones
N_FOLDS = 3
FEW_ROWS = 2 * N_FOLDS  # of fewer, there is nothing to compare
TRIAL_EFFORT, TRIAL_OPTIMA = 6, 128  # of searches of trials
FOR_TRIALS = 0.5  # share of the time limit
SAME = 1e-9  # relative difference of two losses that is rounding


class ChosenAverage(NamedTuple):
    """An average of grids with the criterion that was chosen for it."""

    model: Model  # of the best grid
    average: GridAverage
    criterion: Criterion
    losses: dict[str, float]  # nats a row by text of the criterion; empty if there are too few rows
    stopped: str | None  # why trials or the search were cut short


def average_by_trials(data: Mapping[Name, Any], target: Any, *, weights: Any, **options: Any) -> ChosenAverage:
    """Choose the criterion, and make the average of all rows with it; arguments as of `best_average`."""
    clock = Clock(checked_time(options["time_limit"]))
    check_seed(options["random_state"])
    table = read_table(data, target, weights, "classes", NOT_GIVEN)
    candidates = criteria_for(table.problem.n_rows)
    losses: dict[str, float] = {}
    stopped = None
    if table.problem.n_rows >= FEW_ROWS and table.target.n_classes > 1:
        losses, stopped = _losses(data, target, table, candidates, options, clock)
    chosen = candidates[0]
    for criterion in candidates[: len(losses)]:
        if losses[text_of(criterion)] < losses[text_of(chosen)] * (1.0 - SAME):
            chosen = criterion
    left = None if clock.time_limit is None else max(0.0, clock.time_limit - clock.elapsed)
    model, average = best_average(data, target, weights=weights, **{**options, "criterion": chosen, "time_limit": left})
    return ChosenAverage(model, average, chosen, losses, model.stopped or stopped)


def criteria_for(n_rows: int) -> list[Criterion]:
    """Candidates for a table of `n_rows` rows; ties: the first."""
    alphas = [float(f"{penalty / math.log(max(n_rows, 2)):.3g}") for penalty in PENALTIES]
    return [get_criterion("modl"), *(get_criterion("entropy", alpha=alpha, beta=0.0) for alpha in alphas)]


def text_of(criterion: Criterion) -> str:
    """Name of a criterion, and options that are not its defaults."""
    others = {name: value for name, value in criterion.chosen.items() if value != type(criterion).options[name]}
    shown = ", ".join(f"{name}={value!r}" for name, value in others.items())
    return f"{criterion.name}({shown})" if shown else criterion.name


def _losses(
    data: Mapping[Name, Any], target: Any, table: Table, candidates: list[Criterion], options: Any, clock: Clock
) -> tuple[dict[str, float], str | None]:
    """Loss of each candidate that is tried, over all folds; and why a trial was cut short, if one was."""
    checked = checked_options("modl", kinds=options["kinds"], order=options["order"])
    columns = [encoded_column(table, name, checked) for name in table.names]
    seed = options["random_state"]
    dealt = deal_rows(columns, table.target, (1,) * N_FOLDS, 0 if seed is None else seed)
    losses: dict[str, float] = {}
    stopped, n_left = None, len(candidates) * N_FOLDS
    for criterion in candidates:
        total = 0.0
        for new in dealt.T:
            trial = {**options, "criterion": criterion, "search": _shorter(options["search"])}
            if clock.time_limit is not None:
                trial["time_limit"] = max(0.0, FOR_TRIALS * clock.time_limit - clock.elapsed) / n_left
            n_left -= 1
            fit = _of_all_rows(dealt.sum(axis=1) - new, table)
            model, average = best_average(data, target, weights=fit, **trial)
            if model.stopped == "interrupted":
                raise KeyboardInterrupt
            stopped = stopped or model.stopped
            total += _nats(model, average, data, table, new)
        before = list(losses.values())[1:]  # of coarser grids of the same family
        losses[text_of(criterion)] = total / table.problem.n_rows
        if before and losses[text_of(criterion)] >= before[-1]:
            break
    return losses, stopped


def _shorter(search: Any) -> Any:
    """Search of a trial; what is no search of many grids is refused by `best_average`."""
    if not isinstance(search, Search):
        return search
    return replace(
        search,
        effort=min(search.effort, TRIAL_EFFORT),
        keep_optima=min(search.keep_optima, TRIAL_OPTIMA),
        on_improvement=None,
    )


def _of_all_rows(weights: NDArray[np.int64], table: Table) -> NDArray[np.int64]:
    """Weights of the rows of the data, given those of the rows of the table."""
    if table.kept is None:
        return weights
    found = np.zeros(table.inputs.n_rows, dtype=np.int64)
    found[table.kept] = weights
    return found


def _nats(model: Model, average: GridAverage, data: Mapping[Name, Any], table: Table, new: NDArray[np.int64]) -> float:
    """Nats of the classes of new rows; a probability p of N rows and J classes counts as (N p + 1) / (N + J)."""
    is_new = _of_all_rows(new, table) > 0
    columns = {name: rows_of(column, is_new) for name, column in data.items()}
    shares = average.predict_proba(columns, "neutral", "neutral")
    codes, weights = table.target.codes[new > 0], new[new > 0]
    known = {name: i for i, name in enumerate(model.classes.tolist())}
    place = np.array([known.get(name, -1) for name in table.classes.tolist()])[codes]  # -1: no row that was left in
    own = np.where(place >= 0, shares[np.arange(len(codes)), place], 0.0)
    n_rows = model.n_rows
    return float(-(weights * np.log((n_rows * own + 1.0) / (n_rows + table.target.n_classes))).sum())
