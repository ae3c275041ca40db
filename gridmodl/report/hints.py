"""What a user may have overlooked in the data of one column, in words below its summary."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gridmodl.model.labels import shown_value
from gridmodl.model.names import shortened
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition

MAX_NAME, MOST_NAMED = 40, 5  # characters of the name of a column; columns named together
MANY_TEXTS = 10  # distinct values from which on texts that all look like numbers are hardly names
MANY_ROWS = 100  # rows from which on a column that makes no error is hardly a chance
DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{4}")


def hints_of(model: Model) -> list[str]:
    """Hints on the model of one column, each a sentence without its subject: the column."""
    (partition,) = model.partitions.values()
    hints = []
    if PROBLEMS[model.problem].has_classes and len(model.classes) == 1:
        name = shown_value(model.classes.tolist()[0], False)
        hints.append(f"the target has one class, {name}, so that no column can tell anything about it")
    elif _is_perfect(model, partition):
        hints.append("each part has one class only: is it a copy of the target, or known only after it?")
    kind = _looks_like(itertools.chain(*partition.listed))
    if kind and partition.kind == "categorical":
        hints.append(f"its values are texts that look like {kind}; as {kind}, they would have intervals")
    return hints


def hints_of_models(models: Mapping[Any, Model]) -> list[str]:
    """Hints on the models of many columns: what several share is said once, with their names."""
    names: dict[str, list[str]] = {}
    for name, model in models.items():
        for hint in hints_of(model):
            names.setdefault(hint, []).append(shortened(str(name), MAX_NAME))
    return [hint if len(of) == len(models) else f"{_listed(of)}: {hint}" for hint, of in names.items()]


def _listed(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _is_perfect(model: Model, partition: Partition) -> bool:
    """Whether every part of many rows has rows of one class only, and each class has a part of its own."""
    if model.target is not None or len(model.classes) < 2 or model.n_rows < MANY_ROWS:
        return False
    has_rows = partition.counts > 0
    return bool(np.all(has_rows.sum(axis=1) <= 1) and np.all(has_rows.sum(axis=0) == 1))


def _looks_like(values: Iterable[Any]) -> str:
    """``"numbers"`` or ``"dates"`` if all of many texts look so; empty else."""
    texts = list(values)
    if len(texts) < MANY_TEXTS or not all(isinstance(text, str) for text in texts):
        return ""
    if all(map(_is_number, texts)):
        return "numbers"
    return "dates" if all(DATE.match(text.strip()) for text in texts) else ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
