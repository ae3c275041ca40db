"""What a criterion is: terms that price a grid, and the records those terms may see.

    cost = finish( grid + sum over variables + sum over parts + sum over margins + sum over non-empty cells )

A margin is a non-empty cell of the inputs alone, where the target is partitioned too.

Each term is a plain function of plain numbers, so it can be read, tested and priced without a compiler;
`gridmodl.jit.template` compiles it into the searches. A term is handed only what it may depend on, so a
criterion cannot break additivity by accident. A term that a criterion leaves out is free.
"""

from __future__ import annotations

import functools
import math
from collections import namedtuple
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.spelling import did_you_mean


@dataclass(frozen=True)
class ProblemKind:
    """Facts of one kind of problem; ``str()`` is its meaning in words."""

    text: str  #: its meaning in words
    has_classes: bool = False  #: cells count the rows of each class; else all rows in one count
    has_one_input: bool = True  #: one variable beside the target; else any number
    has_target: bool = True  #: one variable is the target; else all are alike
    target_is_partitioned: bool = False  #: the target has parts, as a variable has
    target_is_numerical: bool = False  #: the target is a number; else its values are classes
    has_unlabelled: bool = False  #: some rows have no class
    with_more_inputs: str | None = None  #: the kind with several inputs and the same target, if there is one
    has_widths: bool = False  #: cells count a width, see `DOMAIN`, and no classes

    def __str__(self) -> str:
        return self.text

    @property
    def names_classes(self) -> bool:
        """Whether the values of the target are classes, counted in cells or in groups."""
        return self.has_target and not self.target_is_numerical


#: Kinds of problems by name, for `Criterion.problems`: the meaning of each, as text, and its facts.
#:
#: :meta hide-value:
PROBLEMS = {
    "classes": ProblemKind("one input column, class target", has_classes=True, with_more_inputs="grid"),
    "grid": ProblemKind("two or more input columns, class target", has_classes=True, has_one_input=False),
    "joint": ProblemKind("no target", has_one_input=False, has_target=False),
    "grouped": ProblemKind(
        "one input column, classes in groups", target_is_partitioned=True, with_more_inputs="grouped_grid"
    ),
    "numerical": ProblemKind(
        "one input column, numerical target",
        target_is_partitioned=True,
        target_is_numerical=True,
        with_more_inputs="numerical_grid",
    ),
    "grouped_grid": ProblemKind(
        "two or more input columns, classes in groups", has_one_input=False, target_is_partitioned=True
    ),
    "numerical_grid": ProblemKind(
        "two or more input columns, numerical target",
        has_one_input=False,
        target_is_partitioned=True,
        target_is_numerical=True,
    ),
    "semi": ProblemKind("one input column, some rows unlabelled", has_classes=True, has_unlabelled=True),
    "density": ProblemKind("density of one column", has_target=False, has_widths=True),
}

# Width of the domain of a density: widths are whole numbers, so that they add up.
DOMAIN = 2**60


class Shape(NamedTuple):
    """The sizes of a grid, all that `grid` and `finish` may depend on."""

    n_variables: int  #: number of inputs; of all variables where there is no target
    n_informative: int  #: number of variables with more than one part
    n_cells: float  #: product of the numbers of parts, empty cells included; a float, as it can be huge


class Variable(NamedTuple):
    """One variable, whatever its partition."""

    categorical: bool  #: whether it is categorical; else it is numerical
    is_target: bool  #: whether it is the target, which is partitioned too
    n_values: int  #: number of distinct values
    constant: float  #: the criterion's own constant, see `Criterion.variable_facts`
    by_parts: Any  #: the criterion's own table by number of parts, see `Criterion.variable_facts`


class Part(NamedTuple):
    """One part of a variable: statistics that add up when parts merge."""

    rows: int  #: rows of the part
    values: int  #: distinct values in the part


class Cell(NamedTuple):
    """One non-empty cell.

    The cell of a density is a part of its one column. Its one count is the width of the part, of `DOMAIN` in all: a
    bound is midway between two values, or at an end of a wide gap between them. It is 0 for a mass, a value with a part
    of its own. A part that is such a gap has no rows, and a cell where the criterion declares `empty_parts`.
    """

    counts: Any  #: rows of each class; a single entry where there are no classes: the rows, or the width of a density
    rows: int  #: all rows of the cell
    unlabelled: int  #: rows without a class; rows = sum of counts + unlabelled. Of no meaning in a density


class Walk(NamedTuple):
    """Rows that two cells get alike, step by step.

    After each step the rows y of the classes so added are whole numbers with ``0 <= y <= counts``, and
    ``y = share * counts + d``, where ``0 <= share <= 1``, ``d >= low`` and the sum of d is 0.
    """

    counts: Any  #: rows of each class, when all are there
    rows: int  #: rows of all classes, when all are there
    low: Any  #: how far each class lags behind its share at most; not above 0


class Problem(NamedTuple):
    """What `Criterion.params` may read of the data."""

    kind: str  #: a key of PROBLEMS
    n_rows: int  #: number of rows, each counted as often as its weight says
    n_variables: int  #: number of variables, as of `Shape`
    class_rows: Any  #: rows of each class, an array of integers; empty where there are no classes

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 where there are none."""
        return len(self.class_rows)

    @property
    def flags(self) -> ProblemKind:
        """The facts of its kind."""
        return PROBLEMS[self.kind]


def grid(p: Any, shape: Shape) -> float:
    """Price of the sizes of the grid, `shape`."""
    return 0.0


def variable(p: Any, variable: Variable, n_parts: int) -> float:
    """Price of cutting one ``variable`` into `n_parts` parts."""
    return 0.0


def part(p: Any, variable: Variable, part: Part) -> float:
    """Price of one ``part`` of a ``variable``."""
    return 0.0


def margin(p: Any, rows: int, n_target_parts: int) -> float:
    """Price of one non-empty cell of the inputs, of `rows` rows, beside a target in `n_target_parts` parts.

    Only where the target is partitioned too: problems grouped and numerical, with one input or several.
    """
    return 0.0


def cell(p: Any, cell: Cell) -> float:
    """Price of one non-empty ``cell``."""
    return 0.0


def finish(p: Any, total: float, shape: Shape) -> float:
    """The cost, from the `total` of all terms; for a given `shape` it must grow with that."""
    return total


TERMS = (grid, variable, part, margin, cell, finish)


def floor(p: Any, cell: Cell) -> float:
    """What the rows of ``cell`` add at least to the price of one that they join, whatever that holds, if anything."""
    return -math.inf


def excess(p: Any, cell: Cell, other: Cell, walk: Walk) -> float:
    """How much more ``cell`` costs at least than `other`, after each step of a `walk`; each may be empty before."""
    return -math.inf


def tangent(p: Any, cell: Cell, more: Cell, walk: Walk, slopes: Any) -> float:
    """A line below what rows d add to ``cell`` after each step of a `walk`: the constant; its slopes go into `slopes`.

    constant + sum over classes of slopes * d  <=  price of the cell with d - price without, for all 0 <= d <= `more`
    """
    slopes[:] = 0.0
    return -math.inf


def gradient(p: Any, cell: Cell, slopes: Any) -> None:
    """Write to `slopes` what one more row of each of two classes adds to ``cell``, which is not empty, at most.

    price with rows x more - price  <=  sum over classes of slopes * x, for all x >= 0

    At a weighted mean of counts, the slope of no class may be above its highest at these counts. Searches ask for it
    where there are two classes and the criterion declares `concave_cell`.
    """
    slopes[:] = math.inf


# Not terms: what a criterion may know of its `cell`, for a proof in less than quadratic time.
FLOORS = (floor, excess, tangent, gradient)


def predictive(p: Any, cell: Cell, code: int) -> float:
    """Probability that the next row of a ``cell``, which may be empty, is of class `code`."""
    return math.nan


# All that a criterion may write as functions; kernels see these names as its own.
FUNCTIONS = (*TERMS, *FLOORS, predictive)


class Criterion:
    """A cost function, written as terms; subclass it, name it, and return it from `gridmodl_criteria`.

    Attributes
    ----------
    name : str
        What a user passes as ``criterion=``.
    problems : set of str
        The problems it can price, keys of `gridmodl.terms.PROBLEMS`.
    options : dict, optional
        Name and default of each option. The default's type (bool, int or float) is the option's type. A
        term reads option ``alpha`` as ``p.alpha``.
    constants : dict, optional
        Name and type (int, float or numpy.ndarray) of what `params` adds to ``p``.
    unread : dict, optional
        Name and value of more fields of ``p``, which its terms never read. With the fields of another criterion, ``p``
        has the same type, and what is compiled for one serves the other where their terms are the same.
    max_rows : int, optional
        The most rows, weights counted, for which its costs keep their digits; more are refused.
    class_roles : bool or int, optional
        Whether the classes are not alike: ordered, of different costs, or each of a meaning of its own, as treated and
        cured. Terms then read ``cell.counts[j]`` by the number j of a class in ``Model.classes``. A number is the
        number of classes that they need; targets of another one are refused. By default the order of the classes must
        not matter. `check_criterion` tests it.
    joins_pure_runs : bool, optional
        Whether some cheapest partition of a numerical variable never cuts between neighbouring values that
        hold only rows of one and the same class. Where rows are unlabelled: never cuts but between two consecutive
        labelled values that are not both of one and the same class alone. Searches then look at fewer bounds; beside
        parts that are set apart, such as special codes, only where `grid` and `variable`, and `finish` of the same
        total, do not fall as the parts grow more. `check_criterion` tests it, alone and beside such parts.
    groups_by_share : bool, optional
        Whether, with two classes, some cheapest grouping of a categorical variable is made of intervals of its values
        in the order of their class shares, values of equal shares together. So it is where a cell costs a constant and
        a concave function of its counts that is 0 without rows, and more groups of the same sum never cost less.
        Searches then look at intervals only, and can prove the optimum of many values; beside groups that are set
        apart, under the same condition as `joins_pure_runs`. `check_criterion` tests it, alone and beside such groups.
    concave_cell : bool, optional
        Whether ``cell``, with 0 for an empty cell and all rows labelled, is concave in its counts: its price at whole
        counts u is at least the sum of l_i times its price at u_i, for all whole counts u_i and weights l_i >= 0 of sum
        1 with u = sum of l_i u_i. Then a bound whose cheapest part before it begins at or before a block of bounds that
        holds it, and whose cumulative counts are no extreme point of those of the block, begins no part of a cheapest
        partition that ends at or after the block. `check_criterion` tests it.
    scale : float or None, optional
        Nats per unit of cost, where the cost is minus the log of a posterior probability up to a constant, exactly or
        by a usual approximation; None where it means no such thing. ``finish`` is then the total itself.
    predicts_exactly : bool, optional
        Whether `predictive` is the ratio of exp(-scale * cell) with one more row of the class and without, 1 for an
        empty cell. `gridmodl.average` then leaves rows out in closed form. `check_criterion` tests it.
    uniform_parts : bool, optional
        Whether, for one numerical variable, scale * (grid + variable) is log N + log C(N+I-1, I-1) for I parts of N
        rows: every number of parts up to N is as likely as any other, and so is every way to share the rows out among
        them. `gridmodl.average` then tells how likely the variable is to be informative. `check_criterion` tests it.
    averaged : subclass of Criterion, optional
        The criterion of the same problems that `gridmodl.average` takes in place of this one, where this one takes the
        best of something that is not observed and the other one the mean.
    given_target : subclass of Criterion, optional
        For problems of several inputs whose target is partitioned too: the criterion of problem ``"grid"`` whose cost,
        with the parts of the target as classes, differs from this one's by what depends on these parts alone. Searches
        find the inputs by it. It gets the options that both have. `check_criterion` tests it.
    penalty_option : str or None, optional
        Name of an option, a positive float, that is the price of parts: for one variable, the cost is a sum that does
        not depend on the option, and the option times a constant times the number of parts, up to a constant of the
        data. `gridmodl.choose_penalty` then has the optima of all its values from one curve. `check_criterion` tests
        it.
    tried_options : dict, optional
        Values of other options that `gridmodl.choose_penalty` tries by default, by name; options that are not named
        keep their defaults.
    validated : str or None, optional
        For the problem ``"density"``: name of an option, a float, that `gridmodl.optimize` chooses by cross-validation
        where it is 0: the price of a part in nats. Larger prices never make more parts.
    empty_parts : bool, optional
        For the problem ``"density"``: whether a part may have a width and no rows. Searches then try the wide gaps
        between values as such parts. ``cell`` is 0 for a part without rows; what each part costs is in ``part``, or
        ``variable``. `check_criterion` tests it.

    Notes
    -----
    Beside its terms it may offer `floor`, and `excess` and `tangent` with it, where its `part` is free: searches then
    prove the optimum of one variable in less than quadratic time; with two classes and `concave_cell`, `gradient` saves
    much of what is left. It may offer `predictive`, the probability of each
    class of the next row of a cell. `check_criterion` tests them.

    Every term sees ``p``, a record of ``n_rows``, ``n_classes``, ``n_variables``, ``log_rows``,
    ``class_rows``, the options, and the constants. ``p.n_classes`` is the number of classes, never
    ``len(cell.counts)``.
    """

    name: ClassVar[str]
    problems: ClassVar[set[str]]
    options: ClassVar[Mapping[str, bool | int | float]] = {}
    constants: ClassVar[Mapping[str, type]] = {}
    unread: ClassVar[Mapping[str, bool | int | float]] = {}
    max_rows: ClassVar[int] = 2**53 - 1
    class_roles: ClassVar[bool | int] = False
    joins_pure_runs: ClassVar[bool] = False
    groups_by_share: ClassVar[bool] = False
    concave_cell: ClassVar[bool] = False
    scale: ClassVar[float | None] = None
    predicts_exactly: ClassVar[bool] = False
    uniform_parts: ClassVar[bool] = False
    averaged: ClassVar[type[Criterion] | None] = None
    given_target: ClassVar[type[Criterion] | None] = None
    penalty_option: ClassVar[str | None] = None
    tried_options: ClassVar[Mapping[str, tuple[bool | int | float, ...]]] = {}
    validated: ClassVar[str | None] = None
    empty_parts: ClassVar[bool] = False

    grid = staticmethod(grid)
    variable = staticmethod(variable)
    part = staticmethod(part)
    margin = staticmethod(margin)
    cell = staticmethod(cell)
    finish = staticmethod(finish)
    floor = staticmethod(floor)
    excess = staticmethod(excess)
    tangent = staticmethod(tangent)
    gradient = staticmethod(gradient)
    predictive = staticmethod(predictive)

    def __init__(self, **options: bool | int | float) -> None:
        for option in options:
            if option not in self.options:
                known = ", ".join(sorted(self.options)) or "none"
                raise TypeError(
                    f"criterion {self.name!r} has no option {option!r}; its options: {known}"
                    f"{did_you_mean(option, self.options)}"
                )
        self.chosen = {
            option: _typed(self.name, option, options.get(option, default), type(default))
            for option, default in self.options.items()
        }
        self.check_options()

    def check_options(self) -> None:
        """Raise ValueError if ``self.chosen`` holds an option out of its range."""

    def params(self, problem: Problem) -> Mapping[str, Any]:
        """The declared ``constants``, computed once per data set from the facts of the `problem`."""
        return {}

    def variable_facts(
        self, problem: Problem, variable: Variable, value_rows: NDArray[np.int64]
    ) -> tuple[float, NDArray[np.float64]]:
        """A constant and a table of the criterion's own for one `variable` of a `problem`.

        Terms read them as ``variable.constant`` and, at i parts, ``variable.by_parts[i]``: the table has an entry for
        each number from 0 to ``variable.n_values``, or none. `value_rows` has the rows of each value of a categorical
        variable, weights counted, in any order; it is empty for a numerical one.
        """
        return 0.0, np.empty(0)

    def moved_bound_cost(self, problem: Problem, n_moved: float) -> float:
        """Most that it adds to the cost of a numerical variable to move a bound over at most `n_moved` rows.

        All rows of the `problem` have a class; a part that loses all its rows is none. Infinite where nothing is known:
        models of lazy frames with more values than buckets then have no `gap`.
        """
        return math.inf

    def __repr__(self) -> str:
        chosen = ", ".join(f"{name}={value!r}" for name, value in self.chosen.items())
        return f"{type(self).__name__}({chosen})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.chosen == other.chosen

    def __hash__(self) -> int:
        return hash((type(self), tuple(self.chosen.items())))


NEGATIVE = -1e-9  # of the null cost: what is above is 0 but for rounding


def level_of(cost: float, null_cost: float) -> float | None:
    """The share of the null cost that a grid saves, ``1 - cost / null_cost``; 0 where the null cost is 0.

    None where one of them is negative, as it may be under some criteria: it would be a share of nothing.
    """
    if abs(null_cost) <= 1e-9 * max(1.0, abs(cost)):
        return 0.0
    return None if null_cost < 0.0 or cost < NEGATIVE * null_cost else 1.0 - cost / null_cost


CORE_FIELDS = ("n_rows", "n_classes", "n_variables", "log_rows", "class_rows")
FAILED = len(FUNCTIONS)  # slot that holds where numba describes the exception of a compiled term, 0 if none was raised
FAILED_TERM = FAILED + 1  # slot that holds the place of this term in FUNCTIONS
FIRST_FIELD = FAILED + 2


class Params(namedtuple("Params", ("n_rows", "n_classes", "log_rows", "slots"))):
    """``p``: all fields of a criterion as attributes, in a record of one type for all criteria.

    Kernels read no more of it than `n_rows`, `n_classes` and `log_rows`, so they compile once.

    Attributes
    ----------
    n_rows : int
        Number of rows, each counted as often as its weight says.
    n_classes : int
        Number of classes; 0 where there are none.
    log_rows : float
        The log of the number of rows.
    slots : numpy.ndarray
        What terms in machine code read, in 64 bits each: the addresses of all `FUNCTIONS`, 0 for one that the criterion
        does not write, then `FAILED` and `FAILED_TERM`, then all fields: a number as it is, an array as its address and
        its shape.
    """

    own: Any  # all fields, as a record of the criterion's own type
    criterion: type[Criterion]
    addresses: Any  # of the terms, once `slots` has them: whoever keeps this record keeps their code

    @classmethod
    def of(cls, criterion: type[Criterion], own: Any) -> Params:
        """Make the record of a criterion.

        Parameters
        ----------
        criterion : subclass of Criterion
            Whose terms read it.
        own : namedtuple
            All its fields.

        Returns
        -------
        Params
            The record.
        """
        slots = [0] * FIRST_FIELD
        for value in own:
            if isinstance(value, np.ndarray):
                slots += [value.ctypes.data, *value.shape]
            else:
                slots.append(int(np.float64(value).view(np.int64)) if isinstance(value, float) else int(value))
        p = cls(own.n_rows, own.n_classes, own.log_rows, np.array(slots, dtype=np.int64))
        p.__dict__.update(own._asdict(), own=own, criterion=criterion, addresses=None)
        return p

    def _replace(self, **fields: Any) -> Params:
        return Params.of(self.criterion, self.own._replace(**fields))

    def __reduce__(self) -> tuple[Any, ...]:
        return Params.of, (self.criterion, self.own)


def params_record(criterion: Criterion, problem: Problem) -> Params:
    """``p``: one record of canonical types, so that no value of any option or size ever recompiles a term."""
    given = {**criterion.unread, **criterion.chosen}
    own = {name: _typed(criterion.name, name, value, type(value)) for name, value in given.items()}
    computed = criterion.params(problem)
    if set(computed) != set(criterion.constants):
        raise TypeError(
            f"params of criterion {criterion.name!r} returned {sorted(computed)}, "
            f"but its `constants` declare {sorted(criterion.constants)}"
        )
    for name, kind in criterion.constants.items():
        own[name] = _typed(criterion.name, name, computed[name], kind)
    names = tuple(sorted(own))
    fields = record_class(names)(
        int(problem.n_rows),
        int(problem.n_classes),
        int(problem.n_variables),
        math.log(problem.n_rows),
        _typed(criterion.name, "class_rows", problem.class_rows, np.ndarray),
        *(own[name] for name in names),
    )
    return Params.of(type(criterion), fields)


@functools.cache
def record_class(names: tuple[str, ...]) -> Any:
    """The record class of the fields that every ``p`` has and those of these `names`."""
    return namedtuple("Fields", (*CORE_FIELDS, *names))


def _typed(criterion: str, name: str, value: Any, kind: type) -> Any:
    """`value` as exactly `kind`: 1 and 1.0, or a float32 array, would each compile every kernel anew."""
    if kind is np.ndarray:
        array = np.array(value, order="C")  # a copy: read-only arrays are another type to the compiler
        return array.astype(np.int64 if array.dtype.kind in "iub" else np.float64)
    if kind not in (bool, int, float):
        raise TypeError(
            f"{name!r} of criterion {criterion!r} is declared {kind!r}; use bool, int, float or numpy.ndarray"
        )
    if kind is not bool and isinstance(value, bool):
        raise TypeError(f"{name!r} of criterion {criterion!r} must be {kind.__name__}, got {value!r}")
    try:
        typed = kind(value)
    except (TypeError, ValueError, OverflowError):
        typed = None
    if typed is None or typed != value:
        raise TypeError(f"{name!r} of criterion {criterion!r} must be {kind.__name__}, got {value!r}")
    return typed
