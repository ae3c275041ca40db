"""The section of a page on a model, on the models of many columns or on a density.

It has facts, tables, variables, and the cells of a grid, which the page adds up: over the variables that a heat map
does not show, and over merges.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.data.frames import ARRAYS
from gridmodl.density.model import domain_ends, held_out_texts, unit_of
from gridmodl.model.counts import group_of_classes, pair_counts, part_counts, table_information
from gridmodl.model.evidence import total_evidence
from gridmodl.model.labels import (
    MAX_VALUES_SHOWN,
    edges_of,
    has_mixed_types,
    label_of_intervals,
    label_of_levels,
    level_text,
)
from gridmodl.model.models import Models
from gridmodl.model.names import GroupNamer, rounded, shortened
from gridmodl.report.html.charts import density_chart
from gridmodl.report.html.lead import (
    lead_of_density,
    lead_of_model,
    lead_of_models,
    title_of_model,
    title_of_models,
)
from gridmodl.report.html.merges import MergePrices
from gridmodl.report.html.plain import caption, cut, plain_number, plain_values
from gridmodl.report.html.variables import MAX_CLASSES, Pairs, Tables, make_section, short_names, variable_record
from gridmodl.report.pictures import plain
from gridmodl.report.tables import columns_of, largest
from gridmodl.report.text import cost_text, criterion_text, kept_limits, proof_text
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.density.model import DensityModel
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition

ALONE = "information alone"  # mutual information of one column of a grid and the target, in nats
MAX_LIMITS = 400  # letters
MAX_EVENT = 60  # letters
MAX_MERGED = 3  # numbers of merged groups in the name of the group that they make
MAX_NAMES = 20_000  # short names of parts on a page
MAX_NUMBERS = 1_000_000  # in all cells of a page, some 5 MB


def section_of_model(model: Model) -> dict[str, Any]:
    tables = Tables()
    own = [_class_table(tables, model)] if len(model.classes) else []
    left_out = [name for name in model.partitions if name not in model.informative]
    if len(model.partitions) > 1 and left_out:
        columns = {"column": left_out, "reason": [model.left_out.get(name, "it has one part") for name in left_out]}
        own.append(tables.make("Columns left out", columns))
    variables = _variables_of_model(model, tables)
    words = title_of_model(model), lead_of_model(model), _facts_of_model(model)
    return make_section(words, own, tables, variables, ALONE, _grid_record(model))


def section_of_models(models: Models) -> dict[str, Any]:
    tables = Tables()
    own = []
    first = next(iter(models.values()), None)
    if first is not None and len(first.classes):
        own.append(_class_table(tables, first))
    if models.errors:
        columns = {"column": list(models.errors), "reason": list(models.errors.values())}
        own.append(tables.make("Columns without a model", columns))
    n_groups = sum(len(part.groups) for model in models.values() for part in model.all_partitions.values())
    variables, prices = [], MergePrices()
    for name, model in Models(models).items():  # the order of their levels, which edits change
        (partition,) = model.partitions.values()
        record = variable_record(model, partition, tables, n_groups, model.level, _about(model))
        if model.target is not None:
            what = caption("Parts of the target beside", name)
            record["tables"].append(tables.make(what, columns_of(model, model.target)))
        variables.append(record | {"name": cut(str(name)), "merges": prices.of(model, partition)})
    _drop_names(variables)
    words = title_of_models(models), lead_of_models(models), _facts_of_models(models)
    return make_section(words, own, tables, variables, "level")


def _drop_names(variables: list[dict[str, Any]]) -> None:
    """Of a page with many parts, let charts have the labels of intervals, which are in tables already."""
    if sum(len(variable["names"] or ()) for variable in variables) > MAX_NAMES:
        for variable in variables:
            if variable["kind"] == "numerical":
                variable["names"] = None


def section_of_density(model: DensityModel) -> dict[str, Any]:
    tables = Tables()
    unit = unit_of(model)
    columns = unit.shown(model.table(ARRAYS))
    record = {
        "name": cut(str(model.partition.name)), "kind": "numerical", "parts": model.n_parts, "worth": None, "about": "",
        "marks": [], "names": short_names(model.partition), "merges": [],
        "tables": [tables.make(caption("Parts of", model.partition.name), columns, labels=unit.heads)],
        "chart": density_chart(_edges(model), unit, []),
        "values": [],
    }  # fmt: skip
    words = f"Density of {plain(model.partition.name)}", lead_of_density(model), _facts_of_density(model)
    return make_section(words, [], tables, [record])


def _variables_of_model(model: Model, tables: Tables) -> list[dict[str, Any]]:
    """Records of the informative columns, or of a single column, by descending information or number of parts."""
    shown = [model.partition(name) for name in model.informative]
    if len(model.partitions) == 1:
        shown = list(model.partitions.values())
    worth: dict[Any, float] = {}
    if PROBLEMS[model.problem].has_classes and not PROBLEMS[model.problem].has_one_input:
        worth = {partition.name: table_information(partition.counts) for partition in shown}
    elif model.target is not None and not PROBLEMS[model.problem].has_one_input:
        worth = {partition.name: table_information(part_counts(model, partition)) for partition in shown}
    shown.sort(key=lambda partition: (-worth.get(partition.name, 0.0), -partition.n_parts))
    shown += [] if model.target is None else [model.target]
    n_groups = sum(len(partition.groups) for partition in shown)
    prices = MergePrices()
    return [
        variable_record(model, part, tables, n_groups, worth.get(part.name), "") | {"merges": prices.of(model, part)}
        for part in shown
    ]


def _class_table(tables: Tables, model: Model) -> dict[str, Any]:
    rows = model.class_rows
    columns = {"class": model.classes.tolist(), "rows": rows, "share": rows / max(1, int(rows.sum()))}
    if model.target is not None:
        columns["group"] = group_of_classes(model)
    return tables.make("Classes", columns)


def _about(model: Model) -> str:
    costs = f"cost {cost_text(model.cost)}, with one part {cost_text(model.null_cost)}"
    evidence = total_evidence(model, next(iter(model.partitions.values())))
    words = "" if evidence is None else f"iv {evidence.iv:.4f}, Gini {evidence.gini:.4f}, KS {evidence.ks:.4f}; "
    return f"{words}{costs}, search {model.search}: {proof_text(model)}"


def _edges(model: DensityModel) -> NDArray[Any]:
    """Ends of the parts."""
    low, high = model.domain
    return np.concatenate([[low], model.partition.bounds.astype(model.domain.dtype), [high]])


def _facts_of_model(model: Model) -> Pairs:
    facts = _problem_facts(model)
    if len(model.partitions) > 1:
        informative = f"{len(model.informative):,} of {len(model.partitions):,} columns"
        facts += [("Informative", informative), ("Cells with rows", f"{len(model.cells.parts):,}")]
    facts += [
        ("Cost", cost_text(model.cost)),
        ("Null cost", cost_text(model.null_cost)),
        ("Level", level_text(model.level)),
    ]
    if len(model.cells.names) > 1:
        facts.append(("Mutual information", f"{model.mutual_information:.4f} nats per row"))
    if model.delta is not None:
        facts.append(("Cost above that of the model it was made from", f"{model.delta:,.6f}"))
    limits = kept_limits(model)
    if limits:
        facts.append(("Limits", shortened(", ".join(limits), MAX_LIMITS)))
    if model.stability is not None:
        facts.append(("Stability", shortened(model.stability.summary(), MAX_LIMITS)))
    proof = proof_text(model) if model.unproven is None else f"{proof_text(model)}: {model.unproven}"
    return [*facts, ("Search", f"{model.search}, {_seconds(model.elapsed)}"), ("Proof", proof)]


def _facts_of_models(models: Models) -> Pairs:
    made = list(models.values())
    informative = sum(next(iter(model.partitions.values())).n_parts > 1 for model in made)
    facts = _problem_facts(made[0]) if made else []
    facts += [("Columns", f"{len(made):,}"), ("Informative", f"{informative:,}")]
    if made:
        seconds = _seconds(sum(model.elapsed for model in made))
        facts += [
            ("Search", f"{_all_of(model.search for model in made)}, {seconds} summed over columns"),
            ("Proof", f"{sum(model.proven for model in made):,} of {len(made):,} columns proven"),
        ]
    stopped = [model.stopped for model in made if model.stopped]
    if stopped:
        facts.append(("Stopped", f"{_all_of(stopped)}: {len(stopped):,} of {len(made):,} columns"))
    return [*facts, ("Without a model", f"{len(models.errors):,} columns")] if models.errors else facts


def _facts_of_density(model: DensityModel) -> Pairs:
    low, high = domain_ends(model)
    facts = [
        ("Problem", "density of one column"),
        ("Method", model.method + (f" ({model.kernel})" if model.kernel else "")),
        ("Rows", f"{model.n_rows:,}" + (f", {model.n_missing:,} more are missing" if model.n_missing else "")),
        ("Domain", f"{low} to {high}"),
        ("Parts", f"{model.n_parts:,}"),
    ]
    if len(model.held_out):
        best, alone, how = held_out_texts(model)
        facts += [
            (f"Log-likelihood per row held out, {how}", best),
            ("The same of one part", alone),
        ]
    facts.append(("Time", _seconds(model.elapsed)))
    return [*facts, ("Stopped", model.stopped)] if model.stopped else facts


def _problem_facts(model: Model) -> Pairs:
    """Facts that all models of one call share."""
    labelled = int(model.class_rows.sum())
    is_semi = any(partition.unlabelled is not None for partition in model.partitions.values())
    facts = [
        ("Problem", PROBLEMS[model.problem].text),
        ("Criterion", cut(criterion_text(model))),
        ("Rows", f"{model.n_rows:,}" + (f", {labelled:,} of them labelled" if is_semi else "")),
    ]
    n_missing = sum(partition.n_missing or 0 for partition in model.partitions.values())
    if n_missing and PROBLEMS[model.problem].has_widths:
        facts.append(("Missing, not in the rows", f"{n_missing:,} ({n_missing / (n_missing + model.n_rows):.1%})"))
    if len(model.classes):
        facts.append(("Classes", f"{len(model.classes):,}"))
    if model.target is not None:
        facts.append(("Target", cut(str(model.target_name or model.target.name))))
    return facts if model.event_index is None else [*facts, ("Event", shortened(cut(str(model.event)), MAX_EVENT))]


def _all_of(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _seconds(elapsed: float) -> str:
    return f"{elapsed:.3g} s"


def _grid_record(model: Model) -> dict[str, Any] | None:
    """The cells of a grid and what a page needs to add them up; None if cells have fewer than two variables."""
    cells = model.cells
    if len(cells.names) < 2:
        return None
    classes = largest(model.class_rows, MAX_CLASSES) if PROBLEMS[model.problem].has_classes else []
    most = MAX_NUMBERS // (len(cells.names) + len(classes) + 2)
    order = np.argsort(-cells.rows, kind="stable")[:most]
    record = {
        "variables": [_variable(model.partition(name)) for name in cells.names],
        "parts": cells.parts[order].T.tolist(),
        "rows": cells.rows[order].tolist(),
        "unlabelled": None if cells.unlabelled is None else cells.unlabelled[order].tolist(),
        "counts": [cells.counts[order, j].tolist() for j in classes],
        "classes": [cut(str(model.classes[j])) for j in classes],
        "class_rows": [int(model.class_rows[j]) for j in classes],
        "event": classes.index(model.event_index) if model.event_index in classes else 0,  # drawn first
        "n_rows": int(model.n_rows),
        "other_values": _other_values(model),
        "cost": model.cost,
        "information": 1 if model.cost < model.null_cost else 0,  # share that the unmerged grid keeps
        "axes": _best_pair(model),
        "merges": [] if PROBLEMS[model.problem].has_classes else _merge_records(model),
    }
    return record | {"notes": _notes(model, len(order), len(classes))}


def _variable(partition: Partition) -> dict[str, Any]:
    return {
        "name": cut(str(partition.name)),
        "is_numerical": partition.kind != "categorical",
        "labels": plain_values(partition.names),
        "rows": partition.rows.tolist(),
        "values": None if partition.n_values is None else partition.n_values.tolist(),
    }


def _best_pair(model: Model) -> list[int]:
    """The two variables that a heat map shows first: with the most information on the classes, or on one another."""
    pairs = itertools.combinations(range(len(model.cells.names)), 2)
    return list(max(pairs, key=lambda pair: table_information(_pair_table(model, *pair))))


def _pair_table(model: Model, a: int, b: int) -> NDArray[np.int64]:
    """Rows by pair of parts and by class; without classes, by part of `a` and part of `b`."""
    one, other = (model.partition(model.cells.names[k]) for k in (a, b))
    table = pair_counts(model, one, other)
    has_classes = PROBLEMS[model.problem].has_classes
    return table.reshape(one.n_parts * other.n_parts, -1) if has_classes else table[..., 0]


def _other_values(model: Model) -> float | str | None:
    """Number of combinations of values of the variables that are in no cell, by which densities are divided."""
    others = [part for part in model.all_partitions.values() if part.name not in model.cells.names]
    return plain_number(math.prod(float(part.n_values.sum()) for part in others if part.n_values is not None))


def _notes(model: Model, n_shown: int, n_classes: int) -> list[str]:
    notes = []
    if n_shown < len(model.cells.parts):
        rows = np.sort(model.cells.rows)[::-1][:n_shown].sum() / model.n_rows
        notes.append(f"Only the {n_shown:,} cells with the most rows are here, with {rows:.1%} of all rows.")
    if 0 < n_classes < len(model.classes):
        notes.append(f"The {n_classes} largest of {len(model.classes):,} classes are shown.")
    return notes


def _merge_records(model: Model) -> list[dict[str, Any]]:
    """Merges of the hierarchy, for the slider of a page: variables are numbered as in the cells."""
    number_of = {name: k for k, name in enumerate(model.cells.names)}
    makers = {name: _Merger(model.partition(name)) for name in number_of}
    records = []
    for name, stays, goes, cost, information in model.hierarchy().steps:
        if name in number_of:
            label = makers[name].merge(stays, goes)
            record = {"variable": number_of[name], "stays": stays, "goes": goes, "label": cut(label)}
            records.append(record | {"cost": cost, "information": plain_number(information)})
    return records


class _Merger:
    """Merges parts of one variable, and labels each merged part as `Model.coarsen` would."""

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.made_of = [[i] for i in range(partition.n_parts)]
        self.rows = partition.rows.tolist()
        self.edges = edges_of(replace(partition, bounds=rounded(partition.bounds)))
        self.is_mixed = has_mixed_types(partition)
        self.namer = GroupNamer(partition) if partition.kind == "categorical" else None

    def merge(self, stays: int, goes: int) -> str:
        self.made_of[stays] = sorted([*self.made_of[stays], *self.made_of[goes]])
        mine = self.made_of[stays]
        if self.partition.kind == "ordinal":
            return label_of_levels([level for i in mine for level in self.partition.groups[i]], self.is_mixed)
        return self._interval(mine) if self.partition.kind == "numerical" else self._group(mine)

    def _interval(self, mine: list[int]) -> str:
        first = int(self.partition.is_missing_apart)
        label = label_of_intervals(self.edges, max(0, mine[0] - first), mine[-1] - first)
        return f"{label} or missing" if self.partition.missing in mine else label

    def _group(self, mine: list[int]) -> str:
        """Name with the most typical values of each merged group in turn, the largest group first."""
        assert self.namer is not None  # noqa: S101  for mypy
        groups = [self.namer.typical(i) for i in sorted(mine, key=lambda i: -self.rows[i])]
        nothing = object()
        turns = itertools.zip_longest(*(group[:MAX_VALUES_SHOWN] for group in groups), fillvalue=nothing)
        values = [value for turn in turns for value in turn if value is not nothing]
        numbers = "+".join(map(str, mine)) if len(mine) <= MAX_MERGED else f"{mine[0]}+{len(mine) - 1} others"
        return self.namer.name(f"{numbers}: ", values, sum(map(len, groups)))
