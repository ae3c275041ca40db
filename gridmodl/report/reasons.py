"""The sentences of an explanation: what a partition and its alternatives cost, and what for."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gridmodl.costterms import CostTerms
from gridmodl.terms import ONE_COUNT, finish

if TYPE_CHECKING:
    from gridmodl.alternatives import Alternative, Variable
    from gridmodl.model import Model

MAX_NAMES = 5  # of other columns that are said
LITTLE = 0.1  # below it, two digits after the point say too little
NOTHING = 5e-13  # a relative change of a term that rounding makes


def in_words(variable: Variable, alternatives: Iterable[Alternative]) -> list[str]:
    """One sentence for the model, and one for each alternative."""
    return [_model(variable), *(_alternative(variable, one) for one in alternatives)]


def reason_of_limits(model: Model) -> str:
    """Why a model need not be the cheapest."""
    if model.search == "given":
        why = "its partition is the user's own"
    elif model.stopped:
        why = f"its search was stopped ({model.stopped})"
    elif model.certificate is not None and model.proven:
        why = "it keeps the limits that were given, such as max_parts=, min_rows= or monotone="
    else:
        why = "its search kept limits that were given, or did not find it; nothing was proven"
    return f"The model is not the cheapest: {why}. Alternatives are priced without limits."


def _model(variable: Variable) -> str:
    model, n = variable.model, variable.n_parts
    name, cost = str(variable.partition.name), number(model.cost)
    where = _where(variable)
    if n == 1:
        return f"{name} is out: it has one part{where}. That costs {cost}{_made_of(variable)}."
    return f"{name} in {n} parts{where} costs {cost}{_made_of(variable)}."


def _where(variable: Variable) -> str:
    """Beside which other variables."""
    model, name = variable.model, variable.partition.name
    others = [str(other) for other, part in model.all_partitions.items() if part.n_parts > 1 and other != name]
    if not others:
        return ""
    more = f" and {len(others) - MAX_NAMES} more" if len(others) > MAX_NAMES else ""
    return f" beside {', '.join(others[:MAX_NAMES])}{more}"


def _made_of(variable: Variable) -> str:
    """The terms of the model's cost."""
    words = _words(variable)
    said = [f"{number(value)} for {words[name]}" for name, value in variable.terms._asdict().items() if value]
    if _is_sum(variable):
        return f": {_listed(said)}" if said else ""
    total = number(variable.terms.total)
    return f", made by the criterion of {total}: {_listed(said)}" if said else ""


def _alternative(variable: Variable, one: Alternative) -> str:
    parts = "one part" if one.n_parts == 1 else f"{one.n_parts} parts"
    parts += " beside the same" if _where(variable) else ""
    if one.how == "merge" and not one.proven:
        which = f"With {parts}, two of these merged, it costs"
    elif one.how == "split":
        which = f"With {parts}, one of these split, it costs"
    elif not one.proven:
        which = f"With {parts}, the cheapest that was found, it costs"
    elif one.n_parts == 1:
        which = f"With {parts} it costs"
    else:
        which = f"With {parts} it costs at best"
    change = f"{number(abs(one.delta))} {'more' if one.delta >= 0 else 'less'}"
    return f"{which} {number(one.cost)}, which is {change}{_because(variable, one)}."


def _because(variable: Variable, one: Alternative) -> str:
    """Which terms make the difference."""
    words, scale = _words(variable), 1.0 + abs(variable.terms.total)
    changes = {name: new - old for name, new, old in zip(CostTerms._fields, one.terms, variable.terms, strict=True)}
    kept = {name: change for name, change in changes.items() if abs(change) > NOTHING * scale}
    said = [
        f"{number(abs(change))} {'more' if change > 0 else 'less'} for {words[name]}"
        for name, change in sorted(kept.items(), key=lambda item: -abs(item[1]))
    ]
    if not said:
        return ""
    if _is_sum(variable):
        return f": {_listed(said)}"
    change = one.terms.total - variable.terms.total
    total = f"{number(abs(change))} {'more' if change > 0 else 'less'}"
    return f"; what the criterion makes it of is {total}: {_listed(said)}"


def _words(variable: Variable) -> dict[str, str]:
    """What each term is for."""
    has_classes = variable.model.problem not in ONE_COUNT
    is_one = len(variable.model.all_partitions) == 1
    what = "the classes" if has_classes else "the rows"
    return {
        "grid": "the sizes of the grid",
        "variable": "the choice of parts",
        "part": "the parts one by one",
        "cell": f"{what} in {'them' if is_one else 'the cells'}",
    }


def _is_sum(variable: Variable) -> bool:
    return type(variable.criterion).finish is finish


def _listed(said: list[str]) -> str:
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"


def number(value: float) -> str:
    """A cost, short."""
    if not math.isfinite(value):
        return str(value)
    return f"{value:.2g}" if 0.0 < abs(value) < LITTLE else f"{value:.2f}"
