"""A model of each column on its own, for the estimators that are made of these."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.estimators.inputs import heed_stop, read_criterion, read_seed, refuse_column
from gridmodl.frames import Frame, Name
from gridmodl.model import Model
from gridmodl.models import Models
from gridmodl.pipeline import optimize_each


def models_of_each(
    estimator: Any, inputs: Frame, target: NDArray[Any], weights: NDArray[np.int64] | None, **more: Any
) -> dict[Name, Model]:
    """The model of every column, without its data, the most informative first.

    The arguments of `optimize_each` that all these estimators have as parameters are theirs, `more` are the others.
    """
    models = optimize_each(
        inputs.columns,
        target,
        criterion=read_criterion(estimator.criterion, estimator.criterion_options),
        search=estimator.search,
        weights=weights,
        kinds=estimator.kinds,
        special=estimator.special,
        max_parts=estimator.max_parts,
        min_rows=estimator.min_rows,
        time_limit=estimator.time_limit,
        random_state=read_seed(estimator.random_state),
        n_jobs=1 if estimator.n_jobs is None else estimator.n_jobs,
        on_error="ignore",  # a column without a model is an error, below
        **more,
    )
    for name, error in models.errors.items():
        refuse_column(name, error)
    heed_stop(estimator, _stopped(models))
    return {name: replace(model, _source=None, frame=inputs.kind) for name, model in models.items()}


def _stopped(models: Models) -> str | None:
    """Why some search was cut short: first of all, that the user interrupted."""
    reasons = [model.stopped for model in models.values() if model.stopped is not None]
    return min(reasons, default=None)  # "interrupted" comes before "time limit"
