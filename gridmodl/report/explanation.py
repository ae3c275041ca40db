"""Why a variable has so many parts, and not one more or fewer: what the others would cost, in words and numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gridmodl.alternatives import Alternative, Variable
from gridmodl.arguments import checked_time
from gridmodl.clock import Clock
from gridmodl.costterms import CostTerms
from gridmodl.frames import ARRAYS, Name, make_frame
from gridmodl.labels import counted
from gridmodl.report.reasons import in_words, reason_of_limits
from gridmodl.search.gridparts import TooMany
from gridmodl.targets import NOT_GIVEN

if TYPE_CHECKING:
    from gridmodl.model import Model

SAME = 1e-9  # relative: costs of two sums of the same terms


@dataclass(frozen=True, eq=False)
class Explanation:
    """What `Model.explain` returns.

    ``print(explanation)`` says it in words.

    Attributes
    ----------
    variable : str
        The column, or the name of a target that is partitioned too.
    n_parts : int
        Its parts with rows in them.
    cost : float
        Of the model.
    terms : CostTerms
        What the four terms of the criterion add to it: ``grid``, ``variable``, ``part`` and ``cell``. Their sum,
        ``terms.total``, is the cost, but for criteria such as ``g2`` that make the cost of it by a function.
    alternatives : tuple of Alternative
        Other partitions of the variable with the rest of the model as it is, by number of parts. Records of
        ``n_parts``, ``cost``, ``delta`` (how much more than the model), ``terms``, ``partition``, ``proven`` (no
        partition into so many parts is cheaper) and ``how``: the ``"best"`` that a search found, a ``"merge"`` of two
        parts of the model, a ``"split"`` of one of them, or the ``"whole"`` variable in one part.
    notes : tuple of str
        What is not known, and why.
    frame : str
        The kind of frame that `table` gives.
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
        """The explanation in words: the model, each alternative, and what is not known."""
        return (*self._sentences, *self.notes)

    @property
    def fewer(self) -> Alternative | None:
        """The cheapest known with one part fewer."""
        return self._of(self.n_parts - 1)

    @property
    def more(self) -> Alternative | None:
        """The cheapest known with one part more."""
        return self._of(self.n_parts + 1)

    def _of(self, n_parts: int) -> Alternative | None:
        return next((one for one in self.alternatives if one.n_parts == n_parts), None)

    def summary(self) -> str:
        """The explanation in words."""
        return "\n".join(self.sentences)

    def table(self, frame: str | None = None) -> Any:
        """The model and each alternative: parts, cost, how much more that is, and the terms of the cost.

        Parameters
        ----------
        frame : {"pandas", "polars", "pyarrow", "arrays"}, optional
            The kind of frame; by default the kind that the model was made from, a dict of arrays for arrays.
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
        from gridmodl.report.notebook.views import explanation_html

        return explanation_html(self)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"Explanation({self.variable!r}, {self.n_parts} parts, {len(self.alternatives)} alternatives)"


def explain(
    model: Model, name: Name | None, data: Any, target: Any, weights: Any, unlabelled: Any, placement: str | None,
    time_limit: float | None,
) -> Explanation:  # fmt: skip
    """`Model.explain`."""
    clock = Clock(checked_time(time_limit))
    if name is None and len(model.partitions) == 1:
        name = next(iter(model.partitions))
    model.partition(name)
    if data is not None:
        model = _with_data(model, data, target, weights, unlabelled, placement)
    elif target is not None or weights is not None or unlabelled is not NOT_GIVEN or placement is not None:
        raise TypeError("explain takes target=, weights=, unlabelled= and placement= beside data=, as optimize did")
    variable = Variable(model, name)
    found, notes = _searched(variable, clock)
    alternatives = tuple(_chosen(variable, found))
    if any(one.delta < -SAME * (1.0 + abs(model.cost)) for one in alternatives):
        notes.append(reason_of_limits(model))
    return Explanation(
        variable.partition.name,
        variable.n_parts,
        model.cost,
        variable.terms,
        alternatives,
        tuple(notes),
        model.frame,
        tuple(in_words(variable, alternatives)),
    )


def _with_data(model: Model, data: Any, target: Any, weights: Any, unlabelled: Any, placement: str | None) -> Model:
    """The model with its data again, if that is what they are."""
    from gridmodl.plugins import criterion_for, get_criterion
    from gridmodl.verification import table_for, wrong_facts

    table = table_for(model, data, target, weights, unlabelled, placement)
    criterion = criterion_for(get_criterion(model.criterion, **model.options), model.problem)
    wrong = wrong_facts(model, table, criterion)
    if wrong is not None:
        raise ValueError(f"data must be what the model was made from, but {wrong}")
    columns = {name: table.inputs.columns[name] for name in model.partitions}
    table = table._replace(inputs=table.inputs._replace(columns=columns))
    return replace(model, _source=(table, criterion))


def _searched(variable: Variable, clock: Clock) -> tuple[list[Alternative], list[str]]:
    """The best of each number of parts up to one more, as far as the data is there; and what is not known."""
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


def _chosen(variable: Variable, found: Iterable[Alternative]) -> list[Alternative]:
    """What to tell: one part, one part fewer, as many in another way where that is cheaper, and one more."""
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
