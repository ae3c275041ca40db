"""The head of a page: what was asked, and what came out of it, as pairs of a term and a text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gridmodl.density.model import domain_ends
from gridmodl.labels import level_text
from gridmodl.report.html.plain import cut
from gridmodl.report.text import criterion_text, proof_text
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.density.model import DensityModel
    from gridmodl.model import Model
    from gridmodl.models import Models

Facts = list[tuple[str, str]]


def facts_of_model(model: Model) -> Facts:
    facts = _asked(model)
    if len(model.partitions) > 1:
        informative = f"{len(model.informative):,} of {len(model.partitions):,} columns"
        facts += [("Informative", informative), ("Cells with rows", f"{len(model.cells.parts):,}")]
    facts += [
        ("Cost", f"{model.cost:,.6f}"),
        ("Null cost", f"{model.null_cost:,.6f}"),
        ("Level", level_text(model.level)),
    ]
    if len(model.cells.names) > 1:
        facts.append(("Mutual information", f"{model.mutual_information:.4f} nats per row"))
    if model.delta is not None:
        facts.append(("Cost above that of the model it was made from", f"{model.delta:,.6f}"))
    return [*facts, ("Search", f"{model.search}, {_seconds(model.elapsed)}"), ("Proof", proof_text(model))]


def facts_of_models(models: Models) -> Facts:
    made = list(models.values())
    informative = sum(next(iter(model.partitions.values())).n_parts > 1 for model in made)
    facts = _asked(made[0]) if made else []
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


def facts_of_density(model: DensityModel) -> Facts:
    low, high = domain_ends(model)
    facts = [
        ("Problem", "density of one column"),
        ("Method", model.method + (f" ({model.kernel})" if model.kernel else "")),
        ("Rows", f"{model.n_rows:,}" + (f", {model.n_missing:,} more are missing" if model.n_missing else "")),
        ("Domain", f"{low} to {high}"),
        ("Parts", f"{model.n_parts:,}"),
    ]
    if len(model.held_out):
        facts += [
            (f"Log-likelihood per row held out, {model.n_folds} folds", f"{model.held_out.max():.4f}"),
            ("The same of one part", f"{model.held_out[0]:.4f}"),
        ]
    facts.append(("Time", _seconds(model.elapsed)))
    return [*facts, ("Stopped", model.stopped)] if model.stopped else facts


def _asked(model: Model) -> Facts:
    """What holds for all models of one call."""
    labelled = int(model.class_rows.sum())
    is_semi = any(partition.unlabelled is not None for partition in model.partitions.values())
    facts = [
        ("Problem", PROBLEMS[model.problem]),
        ("Criterion", cut(criterion_text(model))),
        ("Rows", f"{model.n_rows:,}" + (f", {labelled:,} of them labelled" if is_semi else "")),
    ]
    return [*facts, ("Classes", f"{len(model.classes):,}")] if len(model.classes) else facts


def _all_of(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _seconds(elapsed: float) -> str:
    return f"{elapsed:.3g} s"
