"""What the cells of a model say, as literals: the number of the cell, its class, the shares of classes, quantiles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.frames import Name
from gridmodl.modelcounts import class_shares
from gridmodl.report.sql.dialects import Dialect
from gridmodl.report.sql.plainvalues import literal, values_of
from gridmodl.spelling import did_you_mean
from gridmodl.spread import Prediction

if TYPE_CHECKING:
    from gridmodl.model import Model

OF_PARTS = ("parts", "labels")
OUTPUTS = (*OF_PARTS, "cell", "predict", "proba")


class Answer(NamedTuple):
    """One column of what a query returns."""

    name: str
    by_place: list[str]  # a literal for each cell, or part
    otherwise: str  # for a combination of parts that no row had, and for an unknown value


class Answers(NamedTuple):
    """Columns that depend on the parts of these variables."""

    names: Sequence[Name]
    places: list[list[int]]  # the parts, by variable
    columns: list[Answer]


def checked_output(output: Any, allowed: Sequence[str]) -> list[str]:
    """What the user asks for, in the order of columns; all but labels where he does not say."""
    if output is None:
        return [name for name in allowed if name != "labels"]
    wanted = list(output) if isinstance(output, Iterable) and not isinstance(output, str) else [output]
    if not wanted or any(name not in allowed for name in wanted):
        known = ", ".join(map(repr, allowed))
        near = next((did_you_mean(name, allowed) for name in wanted if name not in allowed), "")
        raise ValueError(f"output must be one or several of {known} for this model, got {output!r}{near}")
    return [name for name in allowed if name in wanted]


def outputs_of(model: Model) -> list[str]:
    """What a query can say by this model."""
    has = {
        "parts": True,
        "labels": True,
        "cell": model.target is None,
        "predict": len(model.classes) > 0 or model._spread is not None,
        "proba": len(model.classes) > 0,
    }
    return [name for name in OUTPUTS if has[name]]


def answers_of(model: Model, wanted: Sequence[str], coverage: float, dialect: Dialect) -> Answers:
    if model.target is None:
        names, places = model.cells.names, model.cells.parts.tolist()
    else:
        ((name, partition),) = model.partitions.items()
        names, places = (name,), [[part] for part in range(partition.n_parts)]
    columns = [Answer("cell", [str(i) for i in range(len(places))], "-1")] if "cell" in wanted else []
    if model._spread is not None and "predict" in wanted:
        found = model._spread.predict(np.arange(len(places) + 1), coverage)
        columns += [_reals(name, getattr(found, name), dialect) for name in Prediction._fields]
    elif len(model.classes):
        columns += _of_classes(model, wanted, dialect)
    return Answers(names, places, columns)


def _of_classes(model: Model, wanted: Sequence[str], dialect: Dialect) -> Iterator[Answer]:
    shares, names = class_shares(model), model.classes.tolist()
    if "predict" in wanted:
        literals = [literal(value, dialect, "a class") for value in values_of(names, "the target")]
        likeliest = [literals[j] for j in shares.argmax(axis=1)]
        yield Answer("predicted", likeliest[:-1], likeliest[-1])
    if "proba" in wanted:
        for name, column in zip(names, shares.T, strict=True):
            yield _reals(f"share_{name}", column, dialect)


def _reals(name: str, column: NDArray[np.float64], dialect: Dialect) -> Answer:
    literals = [dialect.real(number) for number in column.tolist()]
    return Answer(name, literals[:-1], literals[-1])
