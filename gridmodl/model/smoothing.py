"""Class shares by a criterion's `predictive`: what it expects of the next row of a cell, in place of the rows' shares.

Under ``modl``, ``aic`` and ``bic``, (n_j + 1) / (n + J) for n rows, n_j of them of class j of J: no share is 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.jit.template import bind
from gridmodl.plugins import criterion_for, criterion_of_model, list_criteria
from gridmodl.terms import PROBLEMS, Cell, Criterion, Problem, params_record, predictive

if TYPE_CHECKING:
    from gridmodl.model.model import Model


def checked_smoothing(smoothing: Any) -> bool:
    """`smoothing`; raise unless it is True or False."""
    if not isinstance(smoothing, (bool, np.bool_)):
        raise TypeError(f"smoothing must be True or False, as the criterion says how much to smooth; got {smoothing!r}")
    return bool(smoothing)


def smoothed_shares(model: Model, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """What the criterion of `model` expects of the class of the next row of cells with `counts`, by cell and class."""
    criterion = _predicting(model)
    problem = Problem(model.problem, model.n_rows, len(model.partitions), model.class_rows)
    return predicted(criterion, params_record(criterion, problem), counts)


def predicted(criterion: Criterion, p: Any, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Values of `predictive` by cell and class, given the rows of cells by class."""
    shares = np.empty(counts.shape)
    bind(predict_cells, type(criterion))(p, np.ascontiguousarray(counts, dtype=np.int64), shares)
    return shares


def predict_cells(p: Any, counts: Any, shares: Any) -> None:
    """Write the prediction of each class in each cell to `shares`."""
    for i in range(len(counts)):
        rows: Any = np.int64(0)
        for n in counts[i]:
            rows += n
        for c in range(counts.shape[1]):
            shares[i, c] = predictive(p, Cell(counts[i], rows, 0), c)


def _predicting(model: Model) -> Criterion:
    """The criterion that predicts inside the cells of a model; raise if there is none."""
    if not PROBLEMS[model.problem].has_classes:
        raise ValueError(
            f"smoothing=True is for models of classes, and this one is of another kind ({model.problem}): its "
            "probabilities are those of groups of classes; use smoothing=False"
        )
    criterion = _averaged(criterion_of_model(model), model.problem)
    if type(criterion).predictive is predictive:
        others = [one for one in list_criteria(model.problem) if _can_predict(one, model.problem)]
        raise ValueError(
            f"criterion {model.criterion!r} predicts nothing inside a cell: it has no `predictive`, which "
            f"smoothing=True takes; these have one: {', '.join(others)}"
        )
    return criterion


def _averaged(criterion: str | Criterion, kind: str) -> Criterion:
    """The criterion for a kind of problem, or the one that stands for it in averages: where rows have no class."""
    given = criterion_for(criterion, kind)
    return given if given.averaged is None else given.averaged(**given.chosen)


def _can_predict(name: str, kind: str) -> bool:
    """Whether the installed criterion `name` offers `predictive` for a kind of problem."""
    return type(_averaged(name, kind)).predictive is not predictive
