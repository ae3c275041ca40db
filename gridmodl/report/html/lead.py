"""What was asked and what was found, in words, and the title of what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gridmodl.model.labels import MAX_NAMED, counted, level_text, listed
from gridmodl.report.hints import hints_of, hints_of_models
from gridmodl.report.pictures import plain
from gridmodl.report.text import cost_text, criterion_text, finding_text, kept_limits, proof_text
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.density.model import DensityModel
    from gridmodl.model.model import Model
    from gridmodl.model.models import Models

MAX_WORDS = 600  # characters

Lead = list[tuple[str, str]]  # terms and sentences


def title_of_model(model: Model) -> str:
    """Title of the section of a model: its column, or the columns in the grid, the first of many."""
    if len(model.partitions) == 1:
        return f"Best partition of {plain(next(iter(model.partitions)))}"
    names = [plain(name) for name in model.informative]
    return f"Best grid of {listed(names)}" if names else f"No grid of {counted(len(model.partitions), 'column')} pays"


def title_of_models(models: Models) -> str:
    return f"Best partitions of {counted(len(models), 'column')}"


def lead_of_model(model: Model) -> Lead:
    found = finding_text(model)
    level = "" if model.level is None else f", level {level_text(model.level)}"
    price = f"{cost_text(model.cost)} nats, with one part {cost_text(model.null_cost)}{level}; {proof_text(model)}"
    return [("Asked", _asked(model)), ("Found", plain(found, MAX_WORDS)), *notes(hints_of(model)), ("Cost", price)]


def notes(hints: list[str]) -> Lead:
    """Hints on what a user may have overlooked."""
    return [("Note", plain(hint, MAX_WORDS)) for hint in hints]


def _asked(model: Model) -> str:
    """The question: problem, columns, criterion and limits."""
    columns = listed([plain(name) for name in model.partitions])
    what = "best partition" if len(model.partitions) == 1 else "best grid"
    limits = ", ".join(kept_limits(model))
    asked = f"the {what} of {columns}{for_target(model.target_name)} by the criterion {criterion_text(model)} "
    asked += f"({PROBLEMS[model.problem].text})"
    return plain(asked + (f", with {limits}" if limits else ""), MAX_WORDS)


def for_target(name: str | None) -> str:
    """The target in words, if it has a name."""
    return "" if name is None else f" for the target {plain(name)}"


def lead_of_models(models: Models) -> Lead:
    made = list(models.items())
    if not made:
        return [("Found", f"no model of {counted(len(models.errors), 'column')}")]
    first = made[0][1]
    each = f"the best partition of each of {counted(len(made), 'column')} on its own"
    asked = f"{each}{for_target(first.target_name)} by the criterion "
    telling = [(name, model) for name, model in made if next(iter(model.partitions.values())).n_parts > 1]
    what = (
        "have more than one part"
        if not PROBLEMS[first.problem].has_target
        else f"tell about {plain(first.target_name or 'the target')}"
    )
    ranked = sorted(telling, key=lambda one: -(one[1].level or 0.0))[:MAX_NAMED]
    most = ", ".join(f"{plain(name)} (level {level_text(model.level)})" for name, model in ranked)
    found = f"{len(telling):,} of {counted(len(made), 'column')} {what}" + (f"; most of all {most}" if most else "")
    return [
        ("Asked", plain(f"{asked}{criterion_text(first)} ({PROBLEMS[first.problem].text})", MAX_WORDS)),
        ("Found", plain(found, MAX_WORDS)),
        *notes(hints_of_models(models)),
    ]


def lead_of_density(model: DensityModel) -> Lead:
    name = plain(str(model.partition.name), MAX_WORDS)
    found = f"{counted(model.n_parts, 'part')} of {model.n_rows:,} rows"
    return [("Asked", f"the density of {name} by the method {model.method}"), ("Found", found)]
