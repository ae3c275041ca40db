"""Compare new rows with those that models were made from: the body of `Model.compare` and `Models.compare`.

Anything that has partitions of columns can be compared: `compare_models` takes models of one column each, by name.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gridmodl.data.frames import Frame, Name, lazy_frame
from gridmodl.model.model import Model
from gridmodl.model.models import columns_for
from gridmodl.model.policy import NEUTRAL
from gridmodl.monitoring.counting import (
    Compared,
    NewData,
    PartsCounts,
    cells_compared,
    classes_of,
    column_compared,
    count_cells,
    count_column,
    count_target,
    read_new,
    target_compared,
)
from gridmodl.monitoring.lazy import LazyNew, lazy_prices, read_lazy_new
from gridmodl.monitoring.parts import DriftLimits, Prices, compared_parts
from gridmodl.monitoring.prices import column_prices, grid_prices
from gridmodl.monitoring.record import Comparison
from gridmodl.spelling import check_columns
from gridmodl.terms import PROBLEMS

Find = Callable[[Frame, list[Name]], dict[Name, Any]]


class CompareRequest(NamedTuple):
    """Checked arguments of `compare`."""

    new: Any
    target: Any
    by: Any
    weights: Any
    limits: DriftLimits
    refit: bool


def checked_request(new: Any, target: Any, by: Any, weights: Any, limits: DriftLimits, refit: Any) -> CompareRequest:
    """Check the arguments of `compare`."""
    for what, value, most in zip(DriftLimits._fields, limits, (math.inf, math.inf, 1.0), strict=True):
        is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        if not is_number or not 0.0 <= value <= most:
            allowed = "a number of 0 or more" if most == math.inf else "a number from 0 to 1"
            raise ValueError(f"{what} must be {allowed}, got {value!r}")
    if not isinstance(refit, bool):
        raise TypeError(f"refit must be True or False, got {refit!r}")
    return CompareRequest(new, target, by, weights, DriftLimits(*map(float, limits)), refit)


def compare_models(
    models: Mapping[Name, Model], request: CompareRequest, frame: str, find: Find | None = None
) -> Comparison:
    """Compare new rows with the training rows of models of one column each; their target is the same.

    `find` looks columns of a frame up by the names of the models.
    """
    if isinstance(request.by, str) and len(models) > 1:  # periods differ from those of training by their nature
        models = {name: model for name, model in models.items() if name != request.by}
    if not models:
        raise ValueError("there are no models to compare new rows with")
    first = next(iter(models.values()))
    _check_target(first, request.target)
    shared = classes_of(first)
    compared = {
        name: column_compared(model, name, shared if model.target is None else classes_of(model))
        for name, model in models.items()
    }
    of_target = target_compared(first) if first.target is None or len(models) == 1 else None
    find = find or (lambda frame, names: columns_for(models, frame, "models"))
    found = _counted(compared, None, of_target, request, list(models), find)
    prices: Mapping[Name, Prices] = {}
    if request.refit and isinstance(found.data, LazyNew):
        prices = lazy_prices(models, found.columns, found.data)
    elif request.refit and isinstance(found.data, NewData):
        prices = column_prices(models, found.columns, found.data.frame.columns, found.data)
    return _comparison(first, found, [prices.get(name, Prices()) for name in models], Prices(), request, frame)


def compare_model(model: Model, request: CompareRequest) -> Comparison:
    """Compare new rows with the training rows of a model; of a grid, each column and the cells."""
    if len(model.partitions) == 1:
        return compare_models(dict.fromkeys(model.partitions, model), request, model.frame, model._columns)
    _check_target(model, request.target)
    classes = classes_of(model)
    compared = {name: column_compared(model, name, classes) for name in model.partitions}
    cells, target = cells_compared(model, classes), target_compared(model)
    found = _counted(compared, cells, target, request, model.informative, model._columns)
    prices = Prices()
    if request.refit and isinstance(found.data, NewData):
        prices = grid_prices(model, found.columns, found.data.frame.columns, found.data)
    return _comparison(model, found, [Prices()] * len(found.columns), prices, request, model.frame)


class _Found(NamedTuple):
    """The rows of all that is compared."""

    columns: dict[Name, PartsCounts]
    cells: PartsCounts | None
    target: PartsCounts | None
    data: NewData | LazyNew


def _check_target(model: Model, target: Any) -> None:
    if target is not None and not PROBLEMS[model.problem].has_target:
        raise ValueError("target= holds the classes of the new rows, and the model was made without a target")


def _counted(
    columns: dict[Name, Compared], cells: Compared | None, target: Compared | None, request: CompareRequest,
    needed: list[Name], find: Find,
) -> _Found:  # fmt: skip
    """Count the new rows of columns, cells and target; of columns that are not `needed`, those that are there."""
    lazy = lazy_frame(request.new)
    if lazy is not None:
        names = lazy.collect_schema().names()
        check_columns("the model", needed, names)
        engine = read_lazy_new(lazy, request.target, request.by, request.weights)
        present = {name: one for name, one in columns.items() if name in names}
        return _Found(
            {name: engine.count_column(one) for name, one in present.items()},
            None if cells is None else engine.count_cells(cells),
            None if target is None or engine.target is None else engine.count_target(target),
            engine,
        )
    data = read_new(request.new, request.target, request.by, request.weights)
    raw = find(data.frame, [name for name in columns if name in needed or name in data.frame.columns])
    data = data._replace(frame=data.frame._replace(columns=raw))
    all_rows = {id(one.classes.partition): one.classes for one in columns.values()}
    rows = {key: data.rows(classes) for key, classes in all_rows.items()}
    of_target = None
    if target is not None and data.target is not None:
        of_target = count_target(target, data.target, data.rows(target.classes))
    of_cells = None
    if cells is not None and cells.cells is not None:
        parts = [one.part_of_column(raw[one.name], NEUTRAL) for one in cells.partitions]
        of_cells = count_cells(cells, parts, data.rows(cells.classes))
    counted = {
        name: count_column(columns[name], column, rows[id(columns[name].classes.partition)])
        for name, column in raw.items()
    }
    return _Found(counted, of_cells, of_target, data)


def _comparison(
    model: Model, found: _Found, prices: list[Prices], price_of_grid: Prices, request: CompareRequest, frame: str
) -> Comparison:
    """Build the record."""
    counts, all_prices = list(found.columns.values()), list(prices)
    for more, price in ((found.cells, price_of_grid), (found.target, Prices())):
        if more is not None:
            counts, all_prices = [*counts, more], [*all_prices, price]
    parts = compared_parts(counts, found.data.periods, request.limits, all_prices)
    n = len(found.columns)
    classes = classes_of(model)
    return Comparison(
        columns=dict(zip(found.columns, parts[:n], strict=True)),
        cells=parts[n] if found.cells is not None else None,
        target=parts[-1] if found.target is not None else None,
        periods=parts[0].periods,
        event=classes.labels[classes.events[0]] if len(classes.events) == 1 else None,
        limits=request.limits,
        frame=frame,
        target_name=model.target_name,
    )
