"""`check_criterion`, for authors of plugins: check that a criterion keeps the contract that searches rely on."""

from __future__ import annotations

import itertools

import numpy as np

from gridmodl.jit.digest import TermError
from gridmodl.jit.tiers import compile_as
from gridmodl.plugins import class_number, get_criterion, problem_with_class
from gridmodl.pricing import categorical_values, check_term, numerical_values, variable_of
from gridmodl.terms import (
    PROBLEMS,
    Cell,
    Criterion,
    Part,
    Problem,
    Shape,
    floor,
    gradient,
    params_record,
    predictive,
)
from gridmodl.testing.bruteforce import (
    check_groups_by_share,
    check_one_variable,
    check_pair,
    random_pair,
    random_sample,
    require,
)
from gridmodl.testing.declarations import (
    check_concave_cell,
    check_gradient,
    check_penalty_option,
    check_predictive,
    check_uniform_parts,
)
from gridmodl.testing.densities import check_density
from gridmodl.testing.floors import check_floors, check_pruning
from gridmodl.testing.targets import check_target_grid, random_target

__all__ = ["check_criterion"]


def check_criterion(criterion: str | Criterion | type[Criterion], n_samples: int = 20, compiled: bool = True) -> None:
    """Check that a criterion keeps the contract of `gridmodl.Criterion`, on random data.

    Its terms return finite numbers and do not write into their arguments; `finish` grows with the total; the order of
    classes does not matter, unless ``class_roles`` is declared; the exact search finds the best of all partitions, and
    no search finds a lower cost or a higher cost than one part. If ``joins_pure_runs`` or ``groups_by_share`` is
    declared, it never hides the optimum, of a variable alone or beside special codes. If ``concave_cell`` is declared,
    it holds for random counts. Values of ``predictive`` are probabilities, and the ratios of evidences where
    ``predicts_exactly`` is declared; ``uniform_parts`` holds where it is declared. Bounds by ``floor``, ``excess``,
    ``tangent`` and ``gradient`` hold, and a search that prunes by them still finds the optimum of some hundred values.
    For problems in which two variables are partitioned together (joint, grouped, numerical), every grid of a few values
    is tried; with several inputs and a target, random grids, also by ``given_target``; for the density of one column,
    every partition of a few values.

    Parameters
    ----------
    criterion : str, Criterion or subclass
        Name of an installed criterion, an instance, or a class.
    n_samples : int
        Number of random data sets.
    compiled : bool
        Whether to repeat all checks in machine code, which takes some seconds; prices must be those of plain
        Python.

    Raises
    ------
    AssertionError
        Names the criterion, the rule that it breaks, and data that show it.
    """
    if isinstance(criterion, str):
        criterion = get_criterion(criterion)
    cls = criterion if isinstance(criterion, type) else type(criterion)
    wrong = problem_with_class(cls)
    require(wrong is None, str(wrong))
    checked = criterion() if isinstance(criterion, type) else criterion
    try:
        for mode in ("never", "native") if compiled else ("never",):
            with compile_as(mode):
                _check_contract(checked, n_samples)
    except TermError as error:
        raise AssertionError(str(error)) from error


def _check_contract(checked: Criterion, n_samples: int) -> None:
    """Check terms, searches and declarations, in the mode of `compile_as`."""
    for problem in sorted(checked.problems):
        _check_terms(checked, problem)
    of_classes = [problem for problem in sorted(checked.problems) if PROBLEMS[problem].has_classes]
    labelled = [problem for problem in of_classes if not PROBLEMS[problem].has_unlabelled]
    if checked.floor is not floor:
        for problem in labelled:
            check_floors(checked, problem, n_samples)
    if checked.groups_by_share:
        for problem in labelled:
            check_groups_by_share(checked, problem, n_samples)
    for problem in labelled:
        if checked.concave_cell:
            check_concave_cell(checked, problem, n_samples)
        if checked.gradient is not gradient:
            check_gradient(checked, problem, n_samples)
    for problem in of_classes:
        if checked.predictive is not predictive:
            check_predictive(checked, problem, n_samples)
        if checked.uniform_parts:
            check_uniform_parts(checked, problem)
        if checked.penalty_option is not None and PROBLEMS[problem].has_one_input:
            check_penalty_option(checked, problem, n_samples)
        require(
            not checked.predicts_exactly or checked.predictive is not predictive,
            f"criterion {checked.name!r} declares predicts_exactly, but has no predictive",
        )
    for problem in (problem for problem in of_classes if PROBLEMS[problem].has_one_input):
        rng = np.random.default_rng(20061)
        for _ in range(n_samples):
            check_one_variable(checked, random_sample(rng, checked, problem), rng)
    if checked.floor is not floor and "classes" in checked.problems:
        check_pruning(checked, max(1, n_samples // 5))
    for problem in sorted(checked.problems - set(of_classes)):
        rng, kind = np.random.default_rng(20112), PROBLEMS[problem]
        is_several = kind.target_is_partitioned and not kind.has_one_input
        for _ in range(n_samples):
            if is_several:
                check_target_grid(checked, problem, random_target(rng, problem), rng)
            elif kind.has_widths:
                check_density(checked, rng)
            else:
                check_pair(checked, problem, random_pair(rng, problem), rng)


def _check_terms(criterion: Criterion, problem: str) -> None:
    """Check every term in plain Python, on the records of a problem that the criterion declares."""
    kind = PROBLEMS[problem]
    n_classes = class_number(criterion) or 2
    class_rows = 3 + 2 * np.arange(n_classes if kind.has_classes else 0)
    n_rows = int(class_rows.sum()) if kind.has_classes else 8
    facts = Problem(problem, n_rows, 1 if kind.has_one_input else 2, class_rows)
    p = params_record(criterion, facts)
    counts = 1 + 2 * np.arange(n_classes) if kind.has_classes else np.array([4])
    rows = int(counts.sum())
    unlabelled = 2 if kind.has_unlabelled else 0
    shape = Shape(facts.n_variables, 1, 2.0)
    for categorical, is_target in itertools.product((False, True), (False, kind.target_is_partitioned)):
        values = categorical_values(np.array([2, 1, 4, 1])) if categorical else numerical_values(4)
        variable = variable_of(criterion, facts, values, is_target)
        check_term(criterion, "grid", p, shape)
        check_term(criterion, "variable", p, variable, 2)
        check_term(criterion, "part", p, variable, Part(rows, 2))
        check_term(criterion, "cell", p, Cell(counts, rows + unlabelled, unlabelled))
        check_term(criterion, "finish", p, 1.5, shape)
    if kind.target_is_partitioned:
        check_term(criterion, "margin", p, rows, 2)
