"""All that a page says, as one record for its script: of a model, of the models of many columns, of a density."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gridmodl.density.model import density_per
from gridmodl.frames import ARRAYS
from gridmodl.modelcounts import group_of_classes, table_information
from gridmodl.report.html.cells import grid_record
from gridmodl.report.html.facts import Facts, facts_of_density, facts_of_model, facts_of_models
from gridmodl.report.html.plain import cut
from gridmodl.report.html.tables import Tables
from gridmodl.report.html.variables import variable_record
from gridmodl.report.parts import columns_of
from gridmodl.report.text import proof_text

if TYPE_CHECKING:
    from gridmodl.density.model import DensityModel
    from gridmodl.model import Model
    from gridmodl.models import Models

ALONE = "information alone"  # what the parts of one column of a grid tell of the class without the others, in nats


def document_of_model(model: Model) -> dict[str, Any]:
    tables = Tables()
    own = [_class_table(tables, model)] if len(model.classes) else []
    left_out = [name for name in model.partitions if name not in model.informative]
    if len(model.partitions) > 1 and left_out:
        columns = {"column": left_out, "reason": [model.left_out.get(name, "it has one part") for name in left_out]}
        own.append(tables.make("Columns left out", columns))
    return _document(facts_of_model(model), own, tables, _variables_of_model(model, tables), ALONE, grid_record(model))


def document_of_models(models: Models) -> dict[str, Any]:
    tables = Tables()
    own = []
    first = next(iter(models.values()), None)
    if first is not None and len(first.classes):
        own.append(_class_table(tables, first))
    if models.errors:
        columns = {"column": list(models.errors), "reason": list(models.errors.values())}
        own.append(tables.make("Columns without a model", columns))
    n_groups = sum(len(part.groups) for model in models.values() for part in model.all_partitions.values())
    variables = []
    for name, model in models.items():
        (partition,) = model.partitions.values()
        record = variable_record(model, partition, tables, n_groups, model.level, _about(model))
        if model.target is not None:
            caption = f"Parts of the target beside {name}"
            record["tables"].append(tables.make(caption, columns_of(model, model.target)))
        variables.append(record | {"name": cut(str(name))})
    return _document(facts_of_models(models), own, tables, variables, "level", None)


def document_of_density(model: DensityModel) -> dict[str, Any]:
    tables = Tables()
    columns = dict(model.table(ARRAYS))
    record = {
        "name": cut(str(model.partition.name)), "kind": "numerical", "parts": model.n_parts, "worth": None, "about": "",
        "tables": [tables.make(f"Parts of {model.partition.name}", columns)],
        "chart": {"kind": "density", "title": density_per(model), **_edges(model)},
        "values": [],
    }  # fmt: skip
    return _document(facts_of_density(model), [], tables, [record], None, None)


def _document(
    facts: Facts,
    own: list[dict[str, Any]],
    tables: Tables,
    variables: list[dict[str, Any]],
    worth: str | None,
    grid: dict[str, Any] | None,
) -> dict[str, Any]:
    has_worth = any(variable["worth"] is not None for variable in variables)
    return {
        "facts": facts,
        "tables": own,
        "heads": tables.heads,
        "variables": variables,
        "worth": worth if has_worth else None,
        "grid": grid,
    }


def _variables_of_model(model: Model, tables: Tables) -> list[dict[str, Any]]:
    """The informative columns, those first that tell most of the class, or of most parts; a single one anyway."""
    shown = [model.partition(name) for name in model.informative]
    if len(model.partitions) == 1:
        shown = list(model.partitions.values())
    worth: dict[Any, float] = {}
    if model.problem == "grid":
        worth = {partition.name: table_information(partition.counts) for partition in shown}
    shown.sort(key=lambda partition: (-worth.get(partition.name, 0.0), -partition.n_parts))
    shown += [] if model.target is None else [model.target]
    n_groups = sum(len(partition.groups) for partition in shown)
    return [variable_record(model, part, tables, n_groups, worth.get(part.name), "") for part in shown]


def _class_table(tables: Tables, model: Model) -> dict[str, Any]:
    rows = model.class_rows
    columns = {"class": model.classes.tolist(), "rows": rows, "share": rows / max(1, int(rows.sum()))}
    if model.target is not None:
        columns["group"] = group_of_classes(model)
    return tables.make("Classes", columns)


def _about(model: Model) -> str:
    return f"cost {model.cost:,.4f}, null cost {model.null_cost:,.4f}, search {model.search}: {proof_text(model)}"


def _edges(model: DensityModel) -> dict[str, Any]:
    """Where the parts lie: numbers, or dates in milliseconds."""
    low, high = model.domain
    edges = np.concatenate([[low], model.partition.bounds.astype(model.domain.dtype), [high]])
    if edges.dtype.kind == "M":
        return {"edges": edges.astype("datetime64[ms]").astype(np.int64).tolist(), "is_date": True}
    values = edges.astype(np.int64) if edges.dtype.kind == "m" else edges
    return {"edges": values.tolist(), "is_date": False}
