"""Predict the rows of a lazy frame by a model: a number for the combination of their parts, and a table of literals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import Name
from gridmodl.model.counts import input_cells
from gridmodl.model.lazy.parts import CellKeys, LazySteps, cell_keys, looked_up
from gridmodl.model.policy import Policy
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.model.model import Model


def lazy_probabilities(model: Model, frame: Any, policy: Policy, smoothing: bool) -> Any:
    """Lazy frame of `Model.predict_proba`: a column ``p_<class>`` for each class."""
    keys = keys_of(model)
    shares = np.take(*model._share_lines(*_with_none(keys), smoothing), axis=0)
    return _by_key(keys, frame, policy, {f"p_{label}": shares[:, j] for j, label in enumerate(model.classes.tolist())})


def lazy_shares(models: Mapping[Name, Model], frame: Any, policy: Policy, smoothing: bool) -> Any:
    """Lazy frame of `Models.predict_proba`: a column ``<column>_p_<class>`` for each column and class."""
    steps, columns = LazySteps(frame, policy), dict[str, Any]()
    for name, model in models.items():
        keys = keys_of(model)
        shares = np.take(*model._share_lines(*_with_none(keys), smoothing), axis=0)
        names = [f"{name}_p_{label}" for label in model.classes.tolist()]
        columns |= _looked_up(keys, steps, dict(zip(names, shares.T, strict=True)))
    return steps.select(columns)


def lazy_predictions(model: Model, frame: Any, policy: Policy, coverage: float) -> Any:
    """Lazy frame of `Model.predict`: the column ``prediction``, or those of a `Prediction`."""
    keys = keys_of(model)
    if model._target_quantiles is not None:
        quantiles, line = model._target_lines_at(*_with_none(keys))
        return _by_key(keys, frame, policy, quantiles.predict(line, coverage)._asdict())
    shares, line = model._share_lines(*_with_none(keys))
    return _by_key(keys, frame, policy, {"prediction": model.classes[shares.argmax(axis=1)[line]]})


def keys_of(model: Model) -> CellKeys:
    """Combinations of parts that rows with a prediction of their own can have."""
    if model.target is not None and PROBLEMS[model.problem].has_one_input:
        (partition,) = model.partitions.values()
        return CellKeys([partition], [1], [np.arange(partition.n_parts)], are_codes=True)
    cells = model.cells if model.target is None else input_cells(model)
    return cell_keys(cells, [model.partitions[name] for name in cells.names])


def _with_none(keys: CellKeys) -> tuple[list[NDArray[np.int64]], int]:
    """Parts of the combinations, and last no part in any column; and their number."""
    return [np.append(part, -1) for part in keys.parts], keys.n_keys + 1


def _by_key(keys: CellKeys, frame: Any, policy: Policy, columns: Mapping[str, NDArray[Any]]) -> Any:
    """Lazy frame of `columns`, whose entries are those of the keys, and last that of all other rows."""
    steps = LazySteps(frame, policy)
    return steps.select(_looked_up(keys, steps, columns))


def _looked_up(keys: CellKeys, steps: LazySteps, columns: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Expressions of `columns`, as in `_by_key`."""
    key, numbers = keys.added(steps), keys.keys
    lists = {name: values.tolist() for name, values in columns.items()}
    return {name: looked_up(key, numbers, values[:-1], values[-1]) for name, values in lists.items()}
