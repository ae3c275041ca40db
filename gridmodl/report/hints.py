"""What a user may have overlooked in the data, in words below a summary."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from gridmodl.evidence.suspicion import suspicion_of
from gridmodl.model.labels import listed, shown_value
from gridmodl.model.names import shortened
from gridmodl.terms import PROBLEMS

if TYPE_CHECKING:
    from gridmodl.averaging.record import Average
    from gridmodl.evidence.record import WeightedEvidence
    from gridmodl.model.model import Model
    from gridmodl.model.partition import Partition

MAX_NAME = 40  # characters of the name of a column
MANY_TEXTS = 10  # distinct values from which on texts that all look like numbers are hardly names
MOST_STRAYS = 3  # texts that may look otherwise, at most one in MANY_TEXTS
NEARLY_UNIQUE = 0.9  # distinct values per row from which on a column of categories is hardly one
MANY_ROWS = 100  # rows from which on a column of as many values is hardly one of categories by chance
DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{4}")


def hints_of(model: Model) -> list[str]:
    """Hints on a model, each a sentence; of a grid, with the names of the columns."""
    return _named({name: _hints(model, partition) for name, partition in model.partitions.items()})


def hints_of_models(models: Mapping[Any, Model]) -> list[str]:
    """Hints on the models of many columns: what several share is said once, with their names."""
    return _named({name: hints_of(model) for name, model in models.items()})


def hints_of_averages(averages: Mapping[Any, Average]) -> list[str]:
    """Hints on averages of columns."""
    return _named({name: _hints_on_classes(of.classes, of.segments) for name, of in averages.items()})


def hints_of_evidence(evidence: WeightedEvidence) -> list[str]:
    """Hints on the columns of a classifier of weighted evidence."""
    suspicions: dict[Any, dict[str, None]] = {name: {} for name in evidence.names}
    for source in evidence.sources:
        for name, suspicion in source.suspicions.items():
            suspicions[name][suspicion] = None  # once, where a grid says it of a column too
    return _named({name: list(found) for name, found in suspicions.items()})


def _hints(model: Model, partition: Partition) -> list[str]:
    """Hints on one column of a model, each a sentence without its subject: the column."""
    hints = _hints_on_classes(model.classes, partition) if PROBLEMS[model.problem].has_classes else []
    if _is_nearly_unique(partition):
        hints.append("it has almost as many values as rows: is it an identifier? Its groups say nothing of new values")
    kind, strays = _looks_like(itertools.chain(*partition.listed))
    if kind and partition.kind == "categorical":
        but = f", all but {', '.join(repr(shortened(one, MAX_NAME)) for one in strays)}" if strays else ""
        hints.append(f"its values are texts that look like {kind}{but}; as {kind}, they would have intervals")
    return hints


def _hints_on_classes(classes: NDArray[Any], partition: Partition) -> list[str]:
    """Hints on what the parts of a column say of the classes."""
    if len(classes) == 1:
        name = shown_value(classes.tolist()[0], False)
        return [f"the target has one class, {name}, so that no column can tell anything about it"]
    suspicion = suspicion_of(partition)
    return [suspicion] if suspicion else []


def _named(hints: Mapping[Any, list[str]]) -> list[str]:
    """Hints by name of a column as sentences, each once, with the names of its columns unless it is on all."""
    names: dict[str, list[str]] = {}
    for name, of_name in hints.items():
        for hint in of_name:
            names.setdefault(hint, []).append(shortened(str(name), MAX_NAME))
    return [hint if len(of) == len(hints) else f"{listed(of)}: {hint}" for hint, of in names.items()]


def _is_nearly_unique(partition: Partition) -> bool:
    """Whether a categorical column of many rows has nearly one value per row."""
    n_rows = int(partition.rows.sum())
    if partition.kind != "categorical" or n_rows < MANY_ROWS:
        return False
    return sum(map(len, partition.listed)) >= NEARLY_UNIQUE * n_rows


def _looks_like(values: Iterable[Any]) -> tuple[str, list[str]]:
    """``"numbers"`` or ``"dates"`` if many texts look so, and the few that do not; empty if there are more of these."""
    texts = list(values)
    if len(texts) < MANY_TEXTS or not all(isinstance(text, str) for text in texts):
        return "", []
    for kind, looks_so in (("numbers", _is_number), ("dates", _is_date)):
        strays = list(itertools.islice((text for text in texts if not looks_so(text)), MOST_STRAYS + 1))
        if len(strays) <= MOST_STRAYS and len(strays) * MANY_TEXTS <= len(texts):
            return kind, strays
    return "", []


def _is_date(text: str) -> bool:
    return DATE.match(text.strip()) is not None


def _is_number(text: str) -> bool:
    """Whether a text is a number, with a point or a comma."""
    try:
        float(text.replace(",", ".", 1))
    except ValueError:
        return False
    return True
