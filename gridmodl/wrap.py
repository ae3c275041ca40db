"""What was found, as the model that the user gets."""

from __future__ import annotations

from typing import Any

from gridmodl.clock import Clock
from gridmodl.frames import Name
from gridmodl.model import Model
from gridmodl.multivariate import FoundGrid, GridModel, grid_problem
from gridmodl.table import Table
from gridmodl.univariate import Found


def column_model(table: Table, name: Name, found: Found, clock: Clock) -> Model:
    """The model of one column."""
    return Model(
        **_facts(table, found, clock),
        problem=table.problem.kind,
        cost=found.cost,
        partitions={name: found.partition},
        proven=found.proven,
        certificate=found.certificate,
        _source=(table.only(name), found.criterion),
    )


def grid_model(table: Table, found: FoundGrid, clock: Clock) -> Model:
    """The model of a grid over several columns, or a column and its target, and the optima that were kept beside it."""
    facts, class_rows = _facts(table, found, clock), table.class_rows

    def model(grid: GridModel, **more: Any) -> Model:
        return Model(
            **facts,
            problem=grid_problem(table),
            cost=grid.cost,
            partitions=grid.partitions,
            target=grid.target,
            proven=False,
            _cells=grid.cells,
            _class_rows=class_rows,
            _spread=grid.spread,
            **more,
        )

    optima = tuple(model(grid) for grid in found.optima)
    return model(found.best, left_out=found.left_out, optima=optima, _source=(table, found.criterion))


def _facts(table: Table, found: Found | FoundGrid, clock: Clock) -> dict[str, Any]:
    """What models of one column and of several have in common."""
    return {
        "null_cost": found.null_cost,
        "criterion": found.criterion.name,
        "options": dict(found.criterion.chosen),
        "n_rows": table.target.n_rows,
        "classes": table.classes,
        "search": found.search,
        "stopped": clock.stopped,
        "elapsed": clock.elapsed,
        "frame": table.inputs.kind,
    }
