"""Explain the number of parts of a variable: cost of the model and of alternatives, in numbers and in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gridmodl.analysis.alternatives import Alternative, ModelVariable
from gridmodl.analysis.cost_terms import CostTerms
from gridmodl.analysis.verify import SAME, limits_of
from gridmodl.clock import Clock
from gridmodl.data.frames import ARRAYS, Name, make_frame
from gridmodl.data.targets import NOT_GIVEN
from gridmodl.fit.options import checked_time
from gridmodl.model.labels import counted
from gridmodl.search.grid.exact import TooMany
from gridmodl.terms import PROBLEMS, finish

if TYPE_CHECKING:
    from gridmodl.model.model import Model

MAX_NAMES = 5  # other columns named in a sentence
SMALL = 0.1  # below this, a cost is written with two significant digits
ROUNDING = 5e-13  # relative change of a term that is only rounding


@dataclass(frozen=True, eq=False)
class Explanation:
    """Result of `Model.explain`; ``print(explanation)`` gives it in sentences.

    Attributes
    ----------
    variable : str
        The column, or the name of a target that is partitioned too.
    n_parts : int
        Number of its parts that have rows.
    cost : float
        Cost of the model.
    terms : CostTerms
        Contributions of the terms of the criterion: ``grid``, ``variable``, ``part``, ``margin`` and ``cell``. Their
        sum, ``terms.total``, is the cost, except for criteria such as ``g2`` that apply a function to the sum.
    alternatives : tuple of Alternative
        Other partitions of the variable, the rest of the model unchanged, by number of parts. Each record has
        ``n_parts``, ``cost``, ``delta`` (its cost minus that of the model), ``terms``, ``partition``, ``proven`` (no
        partition into ``n_parts`` parts is cheaper) and ``how``: ``"best"`` (found by a search), ``"merge"`` (two
        parts of the model merged), ``"split"`` (one part split) or ``"whole"`` (the variable in one part).
    notes : tuple of str
        What is not known, and why.
    frame : str
        Kind of frame that `table` returns by default.
    """

    variable: Name
    n_parts: int
    cost: float
    terms: CostTerms
    alternatives: tuple[Alternative, ...]
    notes: tuple[str, ...] = ()
    frame: str = ARRAYS
    _sentences: tuple[str, ...] = field(default=(), repr=False)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences on the model, on each alternative and on what is not known."""
        return (*self._sentences, *self.notes)

    @property
    def fewer(self) -> Alternative | None:
        """The cheapest known alternative with one part fewer."""
        return self._with(self.n_parts - 1)

    @property
    def more(self) -> Alternative | None:
        """The cheapest known alternative with one part more."""
        return self._with(self.n_parts + 1)

    def _with(self, n_parts: int) -> Alternative | None:
        """First alternative with `n_parts` parts, or None."""
        return next((one for one in self.alternatives if one.n_parts == n_parts), None)

    def summary(self) -> str:
        """The sentences, each in lines of at most 80 characters."""
        from gridmodl.report.summary import wrapped

        return "\n".join(line for sentence in self.sentences for line in wrapped(sentence))

    def table(self, frame: str | None = None) -> Any:
        """Table of the model and each alternative: parts, cost, cost above the model, and the terms of the cost.

        Parameters
        ----------
        frame : {"pandas", "polars", "pyarrow", "arrays"}, optional
            Kind of the result; by default the kind of frame that the model was made from (for arrays, a dict of
            arrays).
        """
        import numpy as np

        every = self.alternatives
        terms = np.array([self.terms, *(one.terms for one in every)])
        columns: dict[str, Any] = {
            "partition": ["model", *(one.how for one in every)],
            "parts": np.array([self.n_parts, *(one.n_parts for one in every)]),
            "cost": np.array([self.cost, *(one.cost for one in every)]),
            "delta": np.array([0.0, *(one.delta for one in every)]),
        }
        columns |= {f"{name}_term": terms[:, i] for i, name in enumerate(CostTerms._fields)}
        return make_frame(columns, frame or self.frame)

    def _repr_html_(self) -> str:
        from gridmodl.report.notebook import explanation_html

        return explanation_html(self)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"Explanation({self.variable!r}, {self.n_parts} parts, {len(self.alternatives)} alternatives)"


def explain(
    model: Model, name: Name | None, data: Any, target: Any, weights: Any, unlabelled: Any, placement: str | None,
    time_limit: float | None,
) -> Explanation:  # fmt: skip
    """Explain one variable of `model`: the body of `Model.explain`."""
    clock = Clock(checked_time(time_limit))
    if name is None and len(model.partitions) == 1:
        name = next(iter(model.partitions))
    model.partition(name)
    if data is not None:
        model = _with_data(model, data, target, weights, unlabelled, placement)
    elif target is not None or weights is not None or unlabelled is not NOT_GIVEN or placement is not None:
        raise TypeError("explain takes target=, weights=, unlabelled= and placement= beside data=, as optimize did")
    variable = ModelVariable(model, name)
    found, notes = _search_alternatives(variable, clock)
    alternatives = tuple(_choose(variable, found))
    if any(one.delta < -SAME * (1.0 + abs(model.cost)) for one in alternatives):
        notes.append(_why_not_cheapest(model))
    if model.stability is not None:
        notes.append(f"{model.stability.summary()[0].upper()}{model.stability.summary()[1:]}.")
    return Explanation(
        variable.partition.name,
        variable.n_parts,
        model.cost,
        variable.terms,
        alternatives,
        tuple(notes),
        model.frame,
        (_model_sentence(variable), *(_alternative_sentence(variable, one) for one in alternatives)),
    )


def _with_data(model: Model, data: Any, target: Any, weights: Any, unlabelled: Any, placement: str | None) -> Model:
    """Attach data to the model; raise ValueError unless they are the data that the model was made from."""
    from gridmodl.analysis.verify import table_for, wrong_facts
    from gridmodl.plugins import criterion_of

    table = table_for(model, data, target, weights, unlabelled, placement)
    criterion = criterion_of(model.criterion, model.options, model.problem)
    wrong = wrong_facts(model, table, criterion)
    if wrong is not None:
        raise ValueError(f"data must be what the model was made from, but {wrong}")
    columns = {name: table.inputs.columns[name] for name in model.partitions}
    table = table._replace(inputs=table.inputs._replace(columns=columns))
    return replace(model, _source=(table, criterion))


def _search_alternatives(variable: ModelVariable, clock: Clock) -> tuple[list[Alternative], list[str]]:
    """Best partition for each number of parts up to n_parts + 1, where the data is known; and notes on what is not."""
    n = variable.n_parts
    if variable.model._source is None:
        return [], [
            "More parts are not priced, nor fewer in another way than by a merge: the model came without its data, "
            "from a file, a pickle or optima; explain(name, data=..., target=...) takes them."
        ]
    try:
        found = variable.best_by_number(n + 1, clock)
    except TooMany as error:
        return [], [f"Other numbers of parts were not searched for: {error}."]
    notes = [f"The search of the alternatives was cut short: {clock.stopped}."] if clock.stopped else []
    if found and all(one.how == "split" for one in found):
        notes.append(
            f"The best of all partitions into {n - 1} or {n + 1} parts would take long to find, as there are "
            f"{int(variable.n_values)} values; explain(name, time_limit=...) says how long to search for them."
        )
    if all(one.n_parts != n + 1 for one in found) and not clock.stopped:
        notes.append(f"There is no partition into {n + 1} parts: it has {counted(int(variable.n_values), 'value')}.")
    return found, notes


def _choose(variable: ModelVariable, found: Iterable[Alternative]) -> list[Alternative]:
    """Alternatives to report: one part, one part fewer, the same number where that is cheaper, and one part more."""
    n = variable.n_parts
    by_number: dict[int, Alternative] = {}
    for one in found:
        rival = by_number.get(one.n_parts)
        if rival is None or one.proven or (not rival.proven and one.cost < rival.cost):
            by_number[one.n_parts] = one
    fewer = by_number.get(n - 1)
    merge = variable.cheapest_merge() if n > 1 and (fewer is None or not fewer.proven) else None
    if merge is not None and (fewer is None or merge.cost < fewer.cost):
        fewer = merge
    chosen = [variable.whole()] if n > 2 or (n == 2 and fewer is None) else []
    chosen += [] if fewer is None or (n == 2 and chosen) else [fewer]
    same, cost = by_number.get(n), variable.model.cost
    if same is not None and same.delta < -SAME * (1.0 + abs(cost)):
        chosen.append(same)
    return [*chosen, by_number[n + 1]] if n + 1 in by_number else chosen


def _why_not_cheapest(model: Model) -> str:
    """Why an alternative can be cheaper than the model."""
    if model.search == "given":
        why = "its partition is the user's own"
    elif model.stopped:
        why = f"its search was stopped ({model.stopped})"
    elif model.certificate is not None and model.proven:
        why = f"it keeps the limits that were given{_in_brackets(limits_of(model.certificate))}"
    else:
        why = "its search kept limits that were given, or did not find it; nothing was proven"
    return f"The model is not the cheapest: {why}. Alternatives are priced without limits."


def _in_brackets(words: list[str]) -> str:
    return f" ({' and '.join(words)})" if words else ""


def _model_sentence(variable: ModelVariable) -> str:
    """Sentence on the cost of the model."""
    model, n = variable.model, variable.n_parts
    name, cost = str(variable.partition.name), _cost_text(model.cost)
    others = _other_variables(variable)
    if n == 1:
        return f"{name} is out: it has one part{others}. That costs {cost}{_term_text(variable)}."
    return f"{name} in {n} parts{others} costs {cost}{_term_text(variable)}."


def _other_variables(variable: ModelVariable) -> str:
    """The other informative variables of the model; empty if there are none."""
    model, name = variable.model, variable.partition.name
    others = [str(other) for other, part in model.all_partitions.items() if part.n_parts > 1 and other != name]
    if not others:
        return ""
    more = f" and {len(others) - MAX_NAMES} more" if len(others) > MAX_NAMES else ""
    return f" beside {', '.join(others[:MAX_NAMES])}{more}"


def _term_text(variable: ModelVariable) -> str:
    """The terms of the model's cost."""
    purpose = _purpose_of_terms(variable)
    texts = [f"{_cost_text(value)} for {purpose[name]}" for name, value in variable.terms._asdict().items() if value]
    if _is_sum(variable):
        return f": {_enumerate(texts)}" if texts else ""
    total = _cost_text(variable.terms.total)
    return f", made by the criterion of {total}: {_enumerate(texts)}" if texts else ""


def _alternative_sentence(variable: ModelVariable, one: Alternative) -> str:
    """Sentence on the cost of an alternative."""
    parts = "one part" if one.n_parts == 1 else f"{one.n_parts} parts"
    parts += " beside the same" if _other_variables(variable) else ""
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
    change = f"{_cost_text(abs(one.delta))} {'more' if one.delta >= 0 else 'less'}"
    return f"{which} {_cost_text(one.cost)}, which is {change}{_changed_terms(variable, one)}."


def _changed_terms(variable: ModelVariable, one: Alternative) -> str:
    """The terms that differ from the model's, largest change first."""
    purpose, scale = _purpose_of_terms(variable), 1.0 + abs(variable.terms.total)
    changes = {name: new - old for name, new, old in zip(CostTerms._fields, one.terms, variable.terms, strict=True)}
    kept = {name: change for name, change in changes.items() if abs(change) > ROUNDING * scale}
    texts = [
        f"{_cost_text(abs(change))} {'more' if change > 0 else 'less'} for {purpose[name]}"
        for name, change in sorted(kept.items(), key=lambda item: -abs(item[1]))
    ]
    if not texts:
        return ""
    if _is_sum(variable):
        return f": {_enumerate(texts)}"
    change = one.terms.total - variable.terms.total
    total = f"{_cost_text(abs(change))} {'more' if change > 0 else 'less'}"
    return f"; what the criterion makes it of is {total}: {_enumerate(texts)}"


def _purpose_of_terms(variable: ModelVariable) -> dict[str, str]:
    """What each term of the cost pays for."""
    has_classes = PROBLEMS[variable.model.problem].has_classes
    is_one = len(variable.model.all_partitions) == 1
    what = "the classes" if has_classes else "the rows"
    return {
        "grid": "the sizes of the grid",
        "variable": "the choice of parts",
        "part": "the parts one by one",
        "margin": "how many rows of each part of the column are in each part of the target",
        "cell": f"{what} in {'them' if is_one else 'the cells'}",
    }


def _is_sum(variable: ModelVariable) -> bool:
    """Whether the cost is the plain sum of the terms."""
    return type(variable.criterion).finish is finish


def _enumerate(texts: list[str]) -> str:
    """Join texts by commas and a last "and"."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _cost_text(value: float) -> str:
    """The cost with two digits behind the point, or two significant digits if it is small."""
    if not math.isfinite(value):
        return str(value)
    return f"{value:.2g}" if 0.0 < abs(value) < SMALL else f"{value:.2f}"
