"""Choose the price of parts by rows that were left out: `choose_penalty`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.clock import Clock, Progress
from gridmodl.data.bounds import SHORT, bounds_between
from gridmodl.data.folds import deal_rows
from gridmodl.data.frames import ARRAYS, Name, make_frame
from gridmodl.data.table import Table, read_table
from gridmodl.data.targets import NOT_GIVEN, ManyNumbers
from gridmodl.fit.build import check_names, encoded_column, is_grid
from gridmodl.fit.models import best_model
from gridmodl.fit.options import Options, check_integer, check_seed, checked_mapping, checked_options, checked_time
from gridmodl.model.labels import counted
from gridmodl.model.model import Model
from gridmodl.model.partition import Partition
from gridmodl.plugins import criterion_for, list_criteria
from gridmodl.progress import showing
from gridmodl.spelling import check_choice, did_you_mean, names_arguments
from gridmodl.terms import Criterion
from gridmodl.validation.paths import LossSteps, OptimaPath, code_length, code_lengths, find_path, sum_of

HELD_OUT, PREQUENTIAL = METHODS = ("held-out", "prequential")
DOUBLING = (1, 1, 2, 4, 8)  # sixteenths of the rows: each group is predicted from those before it
MAX_PARTS = 20
FOR_TRIALS = 0.8  # share of the time limit; the rest is for the model
SAME = 1e-9  # relative difference of two losses that is rounding
NEAR = 4.0  # a range from 0, or to infinity, is cut to this factor


class PenaltyPath(NamedTuple):
    """Optima for all values of a penalty option, and losses of such optima of rows that were left in.

    Attributes
    ----------
    options : dict
        Values of the other options.
    above, upto : ndarray
        From few parts to many: each partition is an optimum of all rows for values between the two.
    partitions : tuple of Partition
        These optima.
    gap : ndarray
        As of `CostByParts`, for the number of parts of each optimum.
    loss_upto, loss : ndarray
        Nats a row of the classes of rows that were left out, up to each value of `loss_upto`, down to the next.
    """

    options: dict[str, Any]
    above: NDArray[np.float64]
    upto: NDArray[np.float64]
    partitions: tuple[Partition, ...]
    gap: NDArray[np.float64]
    loss_upto: NDArray[np.float64]
    loss: NDArray[np.float64]

    @property
    def n_parts(self) -> NDArray[np.int64]:
        """Number of parts of each optimum."""
        return np.array([partition.n_parts for partition in self.partitions], dtype=np.int64)

    @property
    def lowest_loss(self) -> NDArray[np.float64]:
        """Lowest loss at a value for which each partition is an optimum."""
        loss_above = np.append(self.loss_upto[1:], 0.0)
        meets = (self.loss_upto > self.above[:, None]) & (loss_above < self.upto[:, None])
        return np.where(meets, self.loss, np.inf).min(axis=1)


@dataclass(frozen=True, eq=False)
class PenaltyChoice:
    """Result of `choose_penalty`.

    Attributes
    ----------
    criterion : Criterion
        The criterion with the options chosen, to pass on as ``criterion=``.
    option : str
        Name of the penalty option, the price of parts.
    options : dict
        The options chosen.
    model : Model
        The best partition of all rows by this criterion.
    loss : float
        Nats a row of the classes of rows that were left out, with these options; NaN if no trial was finished.
    null_loss : float
        The same without a partition: only special codes, and missing values that stay apart, are parts.
    method : str
        How rows were left out: ``"held-out"`` or ``"prequential"``.
    paths : tuple of PenaltyPath
        One for each combination of the other options: ``options``, ``above``, ``upto``, ``partitions``, ``n_parts``,
        ``gap``, ``loss_upto``, ``loss`` and ``lowest_loss``.
    stopped : str or None
        Why trials or the search were cut short: ``"time limit"`` or ``"interrupted"``.
    elapsed : float
        Seconds since the call, without the time of compiling.
    frame : str
        Kind of frame that the data came in; `table` returns the same kind.

    Examples
    --------
    >>> import gridmodl
    >>> x = list(range(40))
    >>> y = [0] * 10 + [0, 1] * 10 + [1] * 10
    >>> found = gridmodl.choose_penalty(x, y, options={"beta": 0.0})
    >>> found.model.partitions["x0"].labels
    ['(-inf, 10.5]', '(10.5, 28.5]', '(28.5, inf)']
    """

    criterion: Criterion
    option: str
    options: Mapping[str, Any]
    model: Model
    loss: float
    null_loss: float
    method: str
    paths: tuple[PenaltyPath, ...]
    stopped: str | None
    elapsed: float
    frame: str = ARRAYS

    def table(self, frame: str | None = None) -> Any:
        """Table with one row for each optimum of all rows, by the other options and number of parts.

        Its columns are the other options, ``above`` and ``upto`` (the values of the penalty option for which it is an
        optimum), ``parts``, ``gap`` and ``loss``, the lowest one in this range.

        Parameters
        ----------
        frame : {"pandas", "polars", "pyarrow", "arrays"}, optional
            Kind of the result; by default the kind of frame that the data came in (for arrays, a dict of arrays).
        """
        others = [name for name in self.options if name != self.option]
        columns: dict[str, Any] = {
            name: np.concatenate([np.full(len(path.upto), path.options[name]) for path in self.paths])
            for name in others
        }
        for name, what in (("above", "above"), ("upto", "upto"), ("parts", "n_parts"), ("gap", "gap")):
            columns[name] = np.concatenate([getattr(path, what) for path in self.paths])
        columns["loss"] = np.concatenate([path.lowest_loss for path in self.paths])
        return make_frame(columns, frame or self.frame)

    def summary(self) -> str:
        """The choice and the model as text."""
        from gridmodl.report.summary import wrapped

        return "\n".join([*wrapped(self.sentence()), "", self.model.summary()])

    def sentence(self) -> str:
        """The options, the number of parts and the losses in one sentence."""
        (partition,) = self.model.partitions.values()
        chosen = ", ".join(f"{name} {value:.6g}" for name, value in self.options.items())
        found = f"{self.criterion.name}: {chosen}, {counted(partition.n_parts, 'part')}"
        if not self.paths:
            return f"{found}; no trial was finished ({self.stopped}), and the options are the defaults"
        how = f"{self.method} loss {self.loss:.6f} nats a row, {self.null_loss:.6f} without a partition"
        return f"{found}; {how}" + (f" ({self.stopped})" if self.stopped else "")

    def plot(self, ax: Any = None) -> Any:
        """Draw the losses with matplotlib: `gridmodl.plot.PenaltyDisplay`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        PenaltyDisplay
        """
        from gridmodl.plot import PenaltyDisplay

        return PenaltyDisplay.from_choice(self).plot(ax)

    def __repr__(self) -> str:
        chosen = ", ".join(f"{name}={value:.6g}" for name, value in self.options.items())
        return f"PenaltyChoice({self.criterion.name}, {chosen}, loss {self.loss:.6f})"

    def _repr_html_(self) -> str:
        from gridmodl.report.notebook import choice_html

        return choice_html(self)


@names_arguments
def choose_penalty(
    data: Any,
    target: Any,
    *,
    criterion: str | Criterion = "entropy",
    options: Mapping[str, Any] | None = None,
    method: str = HELD_OUT,
    n_folds: int = 5,
    max_parts: int = MAX_PARTS,
    weights: Any = None,
    kinds: Mapping[Name, str] | None = None,
    order: Mapping[Name, Any] | None = None,
    event: Any = None,
    special: Any = None,
    missing: str | Mapping[Name, str] = "auto",
    min_rows: int | float | None = None,
    time_limit: float | None = None,
    random_state: int | None = 0,
    progress: bool | Callable[[Progress], Any] | None = None,
) -> PenaltyChoice:
    """Choose the options of a criterion for one column by the classes of rows that were left out.

    For given other options, one curve by number of parts has the optima for all values of the penalty option. So all
    values are compared, none is missed between the points of a grid.

    Parameters
    ----------
    data, target, weights, kinds, order, event, special, missing, min_rows, progress
        As in `optimize`, for one column and a class target.
    criterion : str or Criterion
        A criterion with a penalty option, such as ``"entropy"`` with its ``alpha``. By its name, the other options are
        tried as it declares, for ``"entropy"`` a ``beta`` of 0, 0.5 and 1; a criterion with options keeps the others.
    options : dict, optional
        Values to try of other options, by name: a number or a list of numbers. All combinations are tried.
    method : {"held-out", "prequential"}
        ``"held-out"``: each of `n_folds` folds of the rows is predicted by the optima of the other folds.
        ``"prequential"``: the first sixteenth of the rows, in random order, is predicted without a partition, then in
        turn as many rows as there were before, by the optima of those before, with counts that grow row by row.
        Both add up minus the logarithm of the probability (n_j+1)/(n+J) of each row's class. A value of no part, such
        as a category that no training row has, is predicted by all training rows.
    n_folds : int
        Number of folds of ``"held-out"``.
    max_parts : int
        Largest number of parts; those of special codes, and of missing values alone, do not count.
    time_limit : float, optional
        Seconds, of which trials take at most 80 %. Of the combinations of other options, those whose trials were
        finished are compared; without any, the options are the defaults. Ctrl-C does the same.
    random_state : int, optional
        Seed of the folds, None draws a fresh one. Neither the order of the rows nor repeated rows in place of weights
        change the folds.

    Returns
    -------
    PenaltyChoice
        With the model of all rows. The value chosen is the shortest decimal in the range of the lowest loss; ties: the
        largest range, so the fewest parts.

    Notes
    -----
    The curve is proven where `cost_by_parts` proves it. For other categorical columns, of more than 12 values and with
    more than two classes, it is that of a greedy merge; gaps are then NaN.

    Examples
    --------
    >>> import gridmodl
    >>> x = list(range(40))
    >>> y = [0] * 10 + [0, 1] * 10 + [1] * 10
    >>> found = gridmodl.choose_penalty(x, y)
    >>> sorted(found.options)
    ['alpha', 'beta']
    """
    clock = Clock(checked_time(time_limit))
    check_integer("max_parts", max_parts)
    given = checked_options(
        criterion, "auto", kinds, order, special=special, missing=missing, max_parts=max_parts, min_rows=min_rows
    )
    check_seed(random_state)
    if target is None:
        raise ValueError("choose_penalty takes a class target, and no target was given")
    try:
        table = read_table(data, target, weights, None, NOT_GIVEN, event=event)
    except ManyNumbers as error:
        raise ValueError(f"{error.found}; pass it as text if each number is a class") from error
    check_names(table, given)
    if is_grid(table):
        what = "the target is numerical" if table.searched is not None else f"data has {len(table.names)} columns"
        raise ValueError(f"choose_penalty takes one column and a class target; {what}")
    trials = Trials(options, method, n_folds, random_state).checked(criterion)
    with showing(progress, clock):
        return trials.choose(table, table.names[0], given, clock, trials_clock(clock))


def trials_clock(clock: Clock) -> Clock:
    """Clock of the trials, which leave some of the time limit of `clock` to the model."""
    child = clock.child()
    child.time_limit, child.report = None if clock.time_limit is None else FOR_TRIALS * clock.time_limit, clock.report
    return child


class Trials(NamedTuple):
    """How to choose options; `checked` makes it from the arguments of the user."""

    others: Any = None  # values to try of options besides the penalty option, by name
    method: str = HELD_OUT
    n_folds: int = 5
    seed: int | None = 0
    criterion: Criterion | None = None

    def checked(self, criterion: Any) -> Trials:
        """Check the arguments, and complete them by what `criterion` declares."""
        check_choice("method", self.method, METHODS)
        check_integer("n_folds", self.n_folds)
        if self.n_folds < 2:
            raise ValueError(f"n_folds must be at least 2, got {self.n_folds}")
        found = criterion_for(criterion, "classes")
        option = found.penalty_option
        if option is None:
            known = [
                one for one in list_criteria("classes") if criterion_for(one, "classes").penalty_option is not None
            ]
            raise ValueError(
                f"criterion {found.name!r} has no penalty option to choose; criteria that have one: {', '.join(known)}"
            )
        given = checked_mapping("options", self.others)
        if option in given:
            raise ValueError(
                f"options has {option!r}, which choose_penalty chooses among all values; options= is for the others"
            )
        for name in given:
            if name not in found.options:
                known = [one for one in found.options if one != option]
                hint = did_you_mean(name, known)
                raise ValueError(
                    f"criterion {found.name!r} has no option {name!r}; others than {option!r}: {', '.join(known)}{hint}"
                )
        tried: Mapping[str, Any] = found.tried_options if isinstance(criterion, (str, type)) else {}
        others = {str(name): np.atleast_1d(values).tolist() for name, values in [*tried.items(), *given.items()]}
        empty = [name for name, values in others.items() if not values]
        if empty:
            raise ValueError(f"options has no value to try for {empty[0]!r}")
        seed = int(np.random.default_rng().integers(2**63)) if self.seed is None else self.seed
        return self._replace(others=others, seed=seed, criterion=found)

    def combinations(self) -> list[Criterion]:
        """The criterion with each combination of the other options; its constructor checks their values."""
        base = self.criterion
        assert base is not None  # noqa: S101  for mypy
        values = itertools.product(*self.others.values())
        return [type(base)(**{**base.chosen, **dict(zip(self.others, one, strict=True))}) for one in values]

    def choose(self, table: Table, name: Name, options: Options, clock: Clock, trials: Clock) -> PenaltyChoice:
        """Choose the options for the column `name`, and find its model; `trials` is the clock of all but the model."""
        base = self.criterion
        assert base is not None  # noqa: S101  for mypy
        table, option = table.only(name), str(base.penalty_option)
        criteria, splits = self.combinations(), self.splits(encoded_column(table, name, options), table)
        trials.step = "trials"
        paths: list[PenaltyPath] = []
        best, losses = base, (np.nan, np.nan)
        try:
            for done, one in enumerate(criteria):
                path = self._tried(one, table, splits, options, trials)
                if path is None:
                    break
                value, loss = _best_value(LossSteps(path.loss_upto, path.loss), float(base.options[option]))
                if not paths or loss < losses[0] * (1.0 - SAME):
                    best, losses = type(one)(**{**one.chosen, option: value}), (loss, float(path.loss[0]))
                paths.append(path)
                trials.tell((done + 1) / len(criteria))
        except KeyboardInterrupt:  # Ctrl-C outside of the kernels, whose turns the clock guards
            trials.stopped = "interrupted"
        model = best_model(table, name, options._replace(criterion=best), None, clock)
        stopped = clock.stopped or trials.stopped
        return PenaltyChoice(
            best, option, dict(best.chosen), model, *losses, self.method, tuple(paths), stopped, clock.elapsed,
            table.inputs.kind,
        )  # fmt: skip

    def splits(self, column: Any, table: Table) -> list[tuple[Table | None, Table]]:
        """Pairs of rows to train with, None for none, and rows to predict."""
        sizes = DOUBLING if self.method == PREQUENTIAL else (1,) * self.n_folds
        dealt = deal_rows([column], table.target, sizes, self.seed or 0)
        if self.method == PREQUENTIAL:
            before = np.cumsum(dealt, axis=1) - dealt
        else:
            before = dealt.sum(axis=1, keepdims=True) - dealt
        return [
            (table.weighted(fit) if fit.any() else None, table.weighted(new))
            for fit, new in zip(before.T, dealt.T, strict=True)
            if new.any()
        ]

    def _tried(
        self, criterion: Criterion, table: Table, splits: list[Any], options: Options, clock: Clock
    ) -> PenaltyPath | None:
        """Path and losses of one combination of options; None if the trials were stopped."""
        (name,), in_turn = table.names, self.method == PREQUENTIAL
        found = []
        for train, new in splits:
            if clock.look():
                return None
            if train is None:
                rows = new.problem.class_rows[None]
                found.append(LossSteps(np.array([np.inf]), np.array([code_length(0 * rows, rows, in_turn)])))
                continue
            path = self._path(criterion, train, name, options, clock)
            found.append(code_lengths(path, train, new, name, options, in_turn))
        whole = self._path(criterion, table, name, options, clock)
        if clock.look():
            return None
        losses = sum_of(found)
        others = {name: value for name, value in criterion.chosen.items() if name != criterion.penalty_option}
        return PenaltyPath(
            others, whole.above, whole.upto, whole.partitions, whole.gaps, losses.upto,
            losses.values / table.problem.n_rows,
        )  # fmt: skip

    def _path(self, criterion: Criterion, table: Table, name: Name, options: Options, clock: Clock) -> OptimaPath:
        child = clock.child()
        path = find_path(encoded_column(table, name, options), table, options, criterion, child)
        clock.stopped = clock.stopped or child.stopped
        return path


def _best_value(losses: LossSteps, default: float) -> tuple[float, float]:
    """Value of a penalty option with the lowest loss, and this loss."""
    lowest = float(losses.values.min())
    is_lowest = losses.values <= lowest + SAME * abs(lowest)
    first = int(is_lowest.argmax())
    last = first + int(np.append(~is_lowest[first:], True).argmax())  # the range after the lowest one
    high = float(losses.upto[first])
    low = float(losses.upto[last]) if last < len(losses.upto) else 0.0
    if low == 0.0 and high == np.inf:
        return default, lowest
    low, high = (high / NEAR, high) if low == 0.0 else (low, min(high, NEAR * low))
    (value,) = bounds_between(np.array([low]), np.array([high]), np.dtype(np.float64), SHORT)
    return float(value), lowest
