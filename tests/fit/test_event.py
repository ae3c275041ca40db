"""`event=` names the class that rates, monotone limits and the order of groups speak of."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gridmodl

X = np.arange(40.0)
RISING = np.where((X >= 20) ^ (X % 10 == 3), "yes", "no")  # "yes" above 20, with a few exceptions


@pytest.mark.parametrize(
    ("target", "event"),
    [
        (RISING == "yes", True),
        ((RISING == "yes").astype(int), 1),
        (np.where(RISING == "yes", 1, -1), 1),
        ((RISING == "yes").astype(float), 1.0),
        (RISING, "yes"),
        (np.where(RISING == "yes", "good", "poor"), "poor"),
        (pd.Series(pd.Categorical(RISING, categories=["yes", "no"], ordered=True)), "no"),
        (pd.Series(pd.Categorical(RISING, categories=["yes", "maybe", "no", "never"], ordered=True)), "no"),
        (pd.Series(pd.Categorical(RISING, categories=["yes", "no"])), "yes"),
        (pd.Series(pd.Categorical((RISING == "yes").astype(int), categories=[1, 0], ordered=True)), 0),
        (pl.Series(RISING.tolist(), dtype=pl.Enum(["yes", "no"])), "no"),
    ],
)
def test_default_of_two_classes(target, event):
    model = gridmodl.optimize(X, target)
    assert model.event == event
    assert type(model.event) is type(event)
    is_ordered = isinstance(target, pl.Series) or getattr(target.dtype, "ordered", False)
    in_order = [name for name in ("yes", "no", 1, 0) if name in model.classes.tolist()]
    assert model.classes.tolist() == (in_order if is_ordered else sorted(set(target)))
    assert model.classes[model.event_index] == event


THREE = X // 15


@pytest.mark.parametrize(
    ("target", "event"),
    [
        (THREE, 2.0),
        (THREE.astype(str), "2.0"),
        (pd.Series(pd.Categorical(THREE.astype(int), categories=[2, 0, 1], ordered=True)), 1),
        (pl.Series([str(int(n)) for n in THREE], dtype=pl.Enum(["1", "2", "0"])), "0"),
    ],
)
def test_default_of_several_classes(target, event):
    """The last class, for what needs an event; woe and iv are of each class against the rest."""
    model = gridmodl.optimize(X, target)
    assert (model.event, model.event_is_default, model.has_one_event) == (event, True, False)
    table = model.table("x0", frame="arrays")
    assert set(table["event"]) == {str(event)}
    assert {f"{what}_{name}" for what in ("woe", "iv", "lift") for name in model.classes} <= set(table)
    assert np.array_equal(table["lift"], table[f"lift_{event}"])
    assert f"event {event}" in model.summary()
    named = gridmodl.optimize(X, target, event=event)
    assert (named.event_is_default, named.cost) == (False, model.cost)
    assert "woe" in named.table("x0", frame="arrays")
    for limits in ({"monotone": "increasing"}, {"min_events": ("event", 3)}, {"min_difference": 0.2}):
        found = gridmodl.optimize(X, target, **limits)
        assert found.cost == gridmodl.optimize(X, target, event=event, **limits).cost
        assert gridmodl.verify(found, X, target)
    again = gridmodl.Model.from_json(model.to_json())
    assert (again.event, again.event_is_default) == (event, True)
    assert model.edit("x0", bounds=[10.0]).event_is_default


def test_other_targets_have_no_event():
    assert gridmodl.optimize(X, X // 15, event=0.0).event == 0.0
    assert gridmodl.optimize(X, ["no"] * len(X)).event is None
    assert gridmodl.optimize({"a": X, "b": X}).event is None
    assert gridmodl.optimize(X, X + 0.5).event is None
    assert gridmodl.optimize(X, RISING, target_kind="grouped").event is None


def test_named():
    for event, index in (("no", 0), ("yes", 1)):
        for model in (
            gridmodl.optimize(X, RISING, event=event),
            gridmodl.optimize({"a": X, "b": X % 7}, RISING, event=event),
            gridmodl.optimize_each({"a": X}, RISING, event=event)["a"],
            gridmodl.Model.from_partitions(X, RISING, {"x0": [19.5]}, event=event),
            gridmodl.optimize(X, np.where(X % 4 == 0, "?", RISING), unlabelled="?", event=event),
        ):
            assert (model.event, model.event_index) == (event, index)
            assert gridmodl.Model.from_json(model.to_json()).event == event
    model = gridmodl.optimize(X, RISING, event="no")
    assert model.edit("x0", bounds=[10.0]).event == "no"
    assert model.cost == gridmodl.optimize(X, RISING).cost


@pytest.mark.parametrize("event", ["Yes", "maybe", 1, True, ["yes"], np.array(["yes"])])
def test_no_class(event):
    with pytest.raises(ValueError, match="is no class of the target; its classes are 'no', 'yes'") as error:
        gridmodl.optimize(X, RISING, event=event)
    assert ("did you mean 'yes'?" in str(error.value)) == (isinstance(event, str) and event == "Yes")


def test_true_is_not_one():
    with pytest.raises(ValueError, match="event=1 is no class of the target; its classes are False, True"):
        gridmodl.optimize(X, RISING == "yes", event=1)
    assert gridmodl.optimize(X, (RISING == "yes").astype(int), event=0.0).event == 0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (({"a": X, "b": X}, None), "no target was given"),
        ((X, X + 0.5), "the target is numerical"),
    ],
)
def test_no_classes(arguments, why):
    with pytest.raises(ValueError, match=f"names a class of the target, and {why}"):
        gridmodl.optimize(*arguments, event="yes")
    with pytest.raises(ValueError, match="the target is grouped"):
        gridmodl.optimize(X, RISING, target_kind="grouped", event="yes")


@pytest.mark.parametrize("weights", [None, np.arange(40) % 3])
def test_monotone_is_of_the_event(weights):
    target = np.where(np.sin(X / 3) > 0, "yes", "no")
    opposite = {"increasing": "decreasing", "decreasing": "increasing", "auto": "auto"}
    for direction, other in opposite.items():
        named = gridmodl.optimize(X, target, monotone=direction, event="no", weights=weights)
        plain = gridmodl.optimize(X, target, monotone=other, weights=weights)
        assert named.cost == plain.cost
        assert named.partitions["x0"].bounds.tolist() == plain.partitions["x0"].bounds.tolist()
        assert gridmodl.verify(named, X, target, weights=weights)
        assert named.certificate.monotone == direction
    rising = gridmodl.optimize(X, RISING, monotone="increasing", event="yes")
    counts = rising.partitions["x0"].counts
    assert len(counts) > 1
    assert np.all(np.diff(counts[:, 1] / counts.sum(axis=1)) >= 0)


def test_groups_are_in_the_order_of_the_event():
    colours = np.where(RISING == "yes", "red", "blue")
    assert gridmodl.optimize(colours, RISING).partitions["x0"].groups == (("blue",), ("red",))
    assert gridmodl.optimize(colours, RISING, event="no").partitions["x0"].groups == (("red",), ("blue",))
    grid = gridmodl.optimize({"c": colours, "x": X}, RISING, event="no")
    assert grid.partitions["c"].groups == (("red",), ("blue",))
    letters, three = np.array(list("abc") * 20), np.array([0, 1, 2] * 20)
    assert gridmodl.optimize(letters, three).partitions["x0"].groups == (("a",), ("b",), ("c",))
    assert gridmodl.optimize(letters, three, event=1).partitions["x0"].groups[-1] == ("b",)
