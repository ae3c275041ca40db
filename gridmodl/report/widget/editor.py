"""`PartitionEditor`: merge, split and rename the parts of one column step by step, with undo; no notebook needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gridmodl.analysis.edit_prices import MergePrice, SplitOffers, merge_prices, split_offers
from gridmodl.data.frames import Name
from gridmodl.model.labels import bound_texts, counted, has_mixed_types, shown_value
from gridmodl.model.names import rounded, shortened
from gridmodl.report.widget.record import finite, parts_of

if TYPE_CHECKING:
    from gridmodl.model.model import Model

MAX_VALUES = 200  # values of a group that are shown at once
MAX_MERGES = 6  # cheapest merges of groups that are offered while no part is selected
MAX_TEXT = 60  # characters of an offer
NO_DATA = (
    "a split needs the data, which only the session that made the model has; for a model from a file or a pickle, "
    "price it with gridmodl.Model.from_partitions(data, target, model.all_partitions) and edit that"
)


class _Step(NamedTuple):
    model: Model
    what: str  # what was done to get here, for undo and redo


class _Open(NamedTuple):
    """A part that is being split."""

    part: int
    offers: SplitOffers
    chosen: frozenset[int] = frozenset()  # places of values in the group
    find: str = ""


class PartitionEditor:
    """Edit the partition of one column: each step is priced, and can be undone.

    In a notebook the editor shows itself, and its buttons call the methods below; ``pip install "gridmodl[widget]"``.

    Parameters
    ----------
    model : Model
        The model to begin with; it stays as it is.
    name : str, optional
        The column, or the name of a partitioned target; may be omitted if the model has one column.

    Attributes
    ----------
    model : Model
        The model as edited so far.
    original : Model
        The model that the editor began with.
    name : str
        The column.
    selected : tuple of int
        Parts that are selected for a merge.
    message : str
        What the last step did, or why it did not.

    Examples
    --------
    >>> import gridmodl
    >>> model = gridmodl.optimize([1.0, 1.5, 2.0, 2.5, 7.0, 7.5, 8.0, 8.5], [0, 0, 0, 0, 1, 1, 1, 1])
    >>> editor = gridmodl.PartitionEditor(model)
    >>> editor.split(0, 2.2)
    >>> editor.model.partitions["x0"].labels
    ['(-inf, 2.2]', '(2.2, 4.75]', '(4.75, inf)']
    >>> editor.undo()
    >>> editor.model is model
    True
    """

    def __init__(self, model: Model, name: Name | None = None) -> None:
        if name is None:
            if len(model.partitions) > 1:
                known = ", ".join(map(repr, model.all_partitions))
                raise ValueError(f"the model has several columns; name one of {known}")
            (name,) = model.partitions
        model.partition(name)
        self.original, self.name = model, name
        self.selected: tuple[int, ...] = ()
        self.message = ""
        self._is_error = False
        self._steps, self._at = [_Step(model, "")], 0
        self._open: _Open | None = None
        self._listeners: list[Callable[[], Any]] = []
        self._version, self._n_changes = 0, 0  # of the parts, and of the state
        self._state: dict[str, Any] | None = None
        self._widget: Any = None

    @property
    def model(self) -> Model:
        return self._steps[self._at].model

    def merge(self, parts: Iterable[int]) -> None:
        """Merge `parts`, given by their numbers: neighbouring intervals, or any groups."""
        numbers = self._numbers(parts)
        names = self.model.partition(self.name).names
        model = self.model.edit(self.name, merge=numbers)
        self._do(model, f"merge of {' and '.join(shortened(names[i], 24) for i in numbers)}")

    def split(self, part: int, at: Any) -> None:
        """Split the `part` of this number: `at` a bound or several, or values of a group, as in `Model.edit`."""
        model = self.model.edit(self.name, split={part: at})
        self._do(model, f"split of {shortened(self.model.partition(self.name).names[part], 40)}")

    def rename(self, part: int, text: str | None) -> None:
        """Give the `part` of this number the name `text`; None or an empty text brings back its name as it was."""
        old = self.model.partition(self.name)
        model = self.model.rename(self.name, {part: text or None})
        if model.partition(self.name).names == old.names:
            self._changed("")
        else:
            self._do(model, f"name of part {part}")

    def undo(self) -> None:
        """Take back the last step."""
        if self._at == 0:
            raise ValueError("there is nothing to undo")
        self._go(self._at - 1, f"Undone: {self._steps[self._at].what}")

    def redo(self) -> None:
        """Make the step again that was taken back last."""
        if self._at + 1 == len(self._steps):
            raise ValueError("there is nothing to redo")
        self._go(self._at + 1, f"Redone: {self._steps[self._at + 1].what}")

    def reset(self) -> None:
        """Go back to the original model; a step like any other, which can be undone."""
        if self.model is self.original:
            raise ValueError("these are the original parts")
        self._do(self.original, "return to the original parts")

    def select(self, parts: Iterable[int]) -> None:
        """Select `parts`, given by their numbers, whose merge is priced."""
        numbers = sorted({int(part) for part in parts})
        for part in numbers:
            self._check_part(part)
        self.selected = tuple(numbers)
        self._changed("")

    def merges(self) -> list[MergePrice]:
        """Merges of two parts and their prices: of neighbouring intervals; of groups, those with the selected part.

        While no group, or more than one, is selected: the six cheapest merges of groups.
        """
        is_free = self.model.partition(self.name).kind == "categorical"
        if is_free and len(self.selected) == 1:
            return merge_prices(self.model, self.name, self.selected[0])
        found = merge_prices(self.model, self.name)
        return sorted(sorted(found, key=lambda one: one.delta)[:MAX_MERGES]) if is_free else found

    def offers(self, part: int) -> SplitOffers:
        """Good ways to split the `part` of this number, the cheapest first; needs the data of the session."""
        self._check_part(part)
        if self.model._source is None:
            raise ValueError(NO_DATA)
        return split_offers(self.model, self.name, part)

    def handle(self, command: Mapping[str, Any]) -> dict[str, Any]:
        """Do what a face asks for, and return the new `state`; an error becomes a message of the state.

        Parameters
        ----------
        command : dict
            ``do`` is one of ``"merge"`` (``parts``), ``"select"`` (``parts``), ``"open"`` (``part``), ``"close"``,
            ``"choose"`` (``values``, places in the group; ``find``), ``"split"`` (``offer``, ``bound``, or neither for
            the chosen values), ``"rename"`` (``part``, ``text``), ``"undo"``, ``"redo"`` and ``"reset"``. A ``version``
            that is not that of the state is refused: its numbers are of parts that are gone.
        """
        try:
            if command.get("version", self._version) != self._version:
                raise ValueError("the parts have changed since; look again")
            self._command(str(command.get("do")), command)
        except (ValueError, TypeError, KeyError, NotImplementedError, OverflowError) as error:
            text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
            self._changed(text[:1].upper() + text[1:], is_error=True)
        return self.state()

    def _command(self, do: str, command: Mapping[str, Any]) -> None:
        if do in ("undo", "redo", "reset"):
            getattr(self, do)()
        elif do in ("merge", "select"):
            getattr(self, do)(self._numbers(command["parts"]))
        elif do == "open":
            part = self._check_part(command["part"])
            self._open = _Open(part, self.offers(part))
            self._changed("")
        elif do == "close":
            self._open = None
            self._changed("")
        elif do == "choose":
            opened = self._opened()
            chosen = frozenset(self._numbers(command["values"]))
            n_values = len(self._group())
            if not all(0 <= i < n_values for i in chosen):
                raise ValueError(f"values are places in a group of {n_values}, got {sorted(chosen)}")
            self._open = opened._replace(chosen=chosen, find=str(command.get("find", opened.find)))
            self._changed("")
        elif do == "split":
            self._split_open(command)
        elif do == "rename":
            self.rename(self._check_part(command["part"]), str(command["text"]).strip())
        else:
            raise ValueError(f"unknown command {do!r}")

    def _split_open(self, command: Mapping[str, Any]) -> None:
        """Split the open part as the face asks for."""
        opened = self._opened()
        if command.get("offer") is not None:
            (offer,) = self._numbers([command["offer"]])
            if not 0 <= offer < len(opened.offers.offers):
                raise ValueError(f"there is no offer {offer}")
            self.split(opened.part, opened.offers.offers[offer].at)
        elif command.get("bound") is not None:
            self.split(opened.part, self._bound(str(command["bound"])))
        else:
            group = self._group()
            self.split(opened.part, [group[i] for i in sorted(opened.chosen)])

    def _bound(self, text: str) -> Any:
        """A typed bound in the type of the column."""
        dtype, text = self.model.partition(self.name).bounds.dtype, text.strip()
        try:
            if dtype.kind == "M":
                date = np.datetime64(text.removesuffix("Z"))
                if np.isnat(date):
                    raise ValueError(text)
                return date
            if dtype.kind == "m":
                return _duration(text)
            try:
                return int(text)
            except ValueError:
                bound = float(text)
                if np.isnan(bound):
                    raise
                return bound
        except ValueError as error:
            what = {"M": "a date, such as 2024-05-31", "m": "a duration, such as 90 min or 2 D"}.get(dtype.kind)
            raise ValueError(f"a bound is {what or 'a number, such as 2.5'}; got {text!r}") from error

    def state(self) -> dict[str, Any]:
        """All that a face shows, as a dict that JSON can hold."""
        if self._state is None:
            self._state = self._new_state()
        return self._state

    def _new_state(self) -> dict[str, Any]:
        model = self.model
        partition = model.partition(self.name)
        merges, why_not = self._priced(self.merges)
        return {
            "version": self._version,
            "change_number": self._n_changes,  # so that two states differ, and a face knows that it was answered
            "column": str(self.name),
            "kind": partition.kind,
            "criterion": model.criterion,
            "cost": model.cost,
            "change": model.cost - self.original.cost,
            "rows": int(partition.rows.sum()),
            **parts_of(model, self.name),
            "merges": [[one.i, one.j, finite(one.delta)] for one in merges or ()],
            "selected": list(self.selected),
            "together": self._together(),
            "open": self._open_record(),
            "undo": self._steps[self._at].what if self._at else "",
            "redo": self._steps[self._at + 1].what if self._at + 1 < len(self._steps) else "",
            "message": self.message or why_not,
            "is_error": self._is_error or bool(why_not and not self.message),
        }

    def _together(self) -> dict[str, Any] | None:
        """Price of merging all selected parts, or why they cannot merge; None with fewer than two."""
        if len(self.selected) < 2:
            return None
        delta, why_not = self._priced(lambda: self.model.edit(self.name, merge=list(self.selected)).delta)
        return {"delta": delta, "error": why_not}

    def _open_record(self) -> dict[str, Any] | None:
        """The part that is being split: offers, and the values of a group to choose from."""
        if self._open is None:
            return None
        opened, partition = self._open, self.model.partition(self.name)
        texts = self._offer_texts([one.at for one in opened.offers.offers])
        offers = [
            {"text": text, "delta": finite(one.delta)} for text, one in zip(texts, opened.offers.offers, strict=True)
        ]
        record: dict[str, Any] = {"part": opened.part, "offers": offers, "note": self._note(opened.offers)}
        if partition.kind == "numerical":
            return record | {"values": None}
        group, is_mixed = self._group(), has_mixed_types(partition)
        texts = [shown_value(value, is_mixed) for value in group]
        found = [i for i, text in enumerate(texts) if opened.find.casefold() in text.casefold()]
        delta, error = None, ""
        if opened.chosen and len(opened.chosen) < len(group):
            chosen = [group[i] for i in sorted(opened.chosen)]
            delta, error = self._priced(lambda: self.model.edit(self.name, split={opened.part: chosen}).delta)
        return record | {
            "values": [{"place": i, "text": texts[i], "chosen": i in opened.chosen} for i in found[:MAX_VALUES]],
            "more": max(0, len(found) - MAX_VALUES),
            "chosen": sorted(opened.chosen),
            "find": opened.find,
            "n_values": len(group),
            "delta": delta,
            "error": error,
        }

    def _note(self, found: SplitOffers) -> str:
        """How the offers were found, in words."""
        kind = self.model.partition(self.name).kind
        if not found.offers:
            return "" if kind == "categorical" else "All its rows have one value."
        what = "bound" if kind == "numerical" else "cut"
        how = "" if kind != "categorical" else ", with values in the order of what they say of the target"
        if found.n_tried == found.n_cuts:
            return f"The best of {counted(found.n_cuts, what)}{how}."
        return f"The best of the {found.n_tried:,} that were tried of {found.n_cuts:,} {what}s{how}."

    def _offer_texts(self, offers: list[Any]) -> list[str]:
        """Texts of offers: bounds with as few digits as keep them apart from each other and from all bounds."""
        partition = self.model.partition(self.name)
        if partition.kind == "numerical":
            at = np.array(offers) if offers else partition.bounds[:0]
            every = np.unique(np.concatenate([partition.bounds, at]))
            texts = bound_texts(rounded(every, partition.domain), partition.is_utc)
            return [f"at {texts[place]}" for place in np.searchsorted(every, at).tolist()]
        is_mixed, texts = has_mixed_types(partition), []
        for values in offers:
            text = ", ".join(shown_value(value, is_mixed) for value in values[:20])
            texts.append(f"{shortened(text, MAX_TEXT)} apart" + (f" ({len(values)} values)" if len(values) > 1 else ""))
        return texts

    def _priced(self, price: Callable[[], Any]) -> tuple[Any, str]:
        """What `price` returns, or None and why it cannot."""
        try:
            return price(), ""
        except (ValueError, TypeError, NotImplementedError) as error:
            return None, str(error)

    def _opened(self) -> _Open:
        if self._open is None:
            raise ValueError("no part is open to be split")
        return self._open

    def _group(self) -> tuple[Any, ...]:
        """Values of the part that is being split."""
        groups = self.model.partition(self.name).groups
        if not groups:
            raise ValueError(f"column {self.name!r} is numerical: split it at a bound")
        return groups[self._opened().part]

    def _check_part(self, part: Any) -> int:
        (number,) = self._numbers([part])
        n_parts = self.model.partition(self.name).n_parts
        if not 0 <= number < n_parts:
            raise ValueError(f"column {self.name!r} has {counted(n_parts, 'part')}, numbered from 0, got {part}")
        return number

    @staticmethod
    def _numbers(given: Any) -> list[int]:
        numbers = list(given)
        if not all(isinstance(one, (int, np.integer)) and not isinstance(one, bool) for one in numbers):
            raise TypeError(f"parts are named by their numbers, from 0, got {given!r}")
        return [int(one) for one in numbers]

    def _do(self, model: Model, what: str) -> None:
        del self._steps[self._at + 1 :]
        self._steps.append(_Step(model, what))
        self._go(self._at + 1, f"Done: {what}")

    def _go(self, at: int, message: str) -> None:
        self._at = at
        self.selected, self._open = (), None
        self._version += 1
        self._changed(message)

    def _changed(self, message: str, is_error: bool = False) -> None:
        self.message, self._is_error, self._state = message, is_error, None
        self._n_changes += 1
        for listener in self._listeners:
            listener()

    @property
    def widget(self) -> Any:
        """The face of the editor as a widget, to put into a layout of ipywidgets; needs ``gridmodl[widget]``."""
        if self._widget is None:
            from gridmodl.report.widget.face import make_widget

            self._widget = make_widget(self)
        return self._widget

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """What a notebook shows."""
        return self.widget._repr_mimebundle_(**options)

    def __repr__(self) -> str:
        parts, steps = counted(self.model.partition(self.name).n_parts, "part"), counted(self._at, "step")
        return (
            f"PartitionEditor({self.name!r}, {parts}, cost {self.model.cost - self.original.cost:+.2f} after {steps})"
        )


def _duration(text: str) -> np.timedelta64:
    """A duration of a whole number and a unit of numpy, such as ``90 min``."""
    number, _, unit = text.partition(" ")
    units = {"min": "m", "d": "D", "day": "D", "days": "D", "hours": "h", "sec": "s"}
    try:
        return np.timedelta64(int(number), units.get(unit.strip(), unit.strip()))  # type: ignore[call-overload]
    except TypeError as error:
        raise ValueError(str(error)) from error
