"""`PartitionEditor` without a page: steps, undo, states, wrong commands; and the widget that shows it."""

from __future__ import annotations

import builtins
import json
from typing import Any

import numpy as np
import pytest

import gridmodl
from gridmodl import Model, PartitionEditor


def numbers_model(**more: Any) -> Model:
    x = np.random.default_rng(0).uniform(0, 10, 400).round(2)
    y = np.where(np.random.default_rng(1).random(400) < x / 10, "bad", "good")
    return Model.from_partitions({"x": x}, y, {"x": [2.0, 4.0, 6.0, 8.0]}, event="bad", **more)


def groups_model(n_towns: int = 6) -> Model:
    town = np.random.default_rng(0).integers(0, n_towns, 600)
    y = (np.random.default_rng(1).random(600) < 0.1 + 0.8 * town / n_towns).astype(int)
    names = np.array([f"t{i}" for i in range(n_towns)])
    half = n_towns // 2
    parts = {"town": [names[:half].tolist(), names[half:-1].tolist(), names[-1:].tolist()]}
    return Model.from_partitions({"town": names[town]}, y, parts)


def test_bounds_that_are_offered_have_few_digits() -> None:
    x = np.random.default_rng(0).normal(size=400)
    editor = PartitionEditor(Model.from_partitions({"x": x}, (x > 0.3).astype(int), {"x": [-1.0]}))
    state = editor.handle({"do": "open", "part": 1})
    assert all(len(offer["text"]) <= len("at -0.123456") for offer in state["open"]["offers"])
    best = editor.offers(1).offers[0].at
    assert len(str(best)) > 10
    editor.handle({"do": "split", "offer": 0})
    assert best in editor.model.partitions["x"].bounds  # exactly
    dates = np.datetime64("2024-01-01T00:00:00.000000") + np.arange(400) * np.timedelta64(3, "h")
    editor = PartitionEditor(Model.from_partitions({"day": dates}, (x > 0.3).astype(int), {"day": []}))
    offers = editor.handle({"do": "open", "part": 0})["open"]["offers"]
    assert offers
    assert all("00:00.000000" not in offer["text"] for offer in offers)


def test_steps_are_those_of_edit_and_undo_brings_back() -> None:
    model = numbers_model()
    editor = PartitionEditor(model)
    editor.merge([1, 2])
    editor.split(0, 1.0)
    editor.rename(0, "tiny")
    want = model.edit("x", merge=[1, 2]).edit("x", split={0: 1.0}).rename("x", {0: "tiny"})
    assert editor.model.cost == want.cost
    assert editor.model.partitions["x"].names == want.partitions["x"].names
    costs = [editor.model.cost]
    for _ in range(3):
        editor.undo()
        costs.append(editor.model.cost)
    assert editor.model is model
    with pytest.raises(ValueError, match="nothing to undo"):
        editor.undo()
    for cost in costs[::-1][1:]:
        editor.redo()
        assert editor.model.cost == cost
    with pytest.raises(ValueError, match="nothing to redo"):
        editor.redo()
    editor.undo()
    editor.merge([0, 1])  # a new step forgets the one that was taken back
    with pytest.raises(ValueError, match="nothing to redo"):
        editor.redo()
    editor.reset()
    assert editor.model is model
    editor.undo()
    assert editor.model is not model


def test_state_has_the_numbers_of_the_table() -> None:
    model = numbers_model()
    state = PartitionEditor(model).state()
    json.dumps(state, allow_nan=False)
    table, rows = model.table(), model.partitions["x"].rows
    assert [part["rows"] for part in state["parts"]] == rows.tolist()
    assert [part["share"] for part in state["parts"]] == pytest.approx(rows / rows.sum())
    assert [part["measures"][0] for part in state["parts"]] == pytest.approx(list(table["share_bad"]))
    assert [part["measures"][1] for part in state["parts"]] == pytest.approx(list(table["woe"]))
    assert [measure["title"] for measure in state["measures"]] == ["rate of bad", "woe"]
    assert state["trend"] == "rate of bad: monotone, ascending"
    assert [merge[:2] for merge in state["merges"]] == [[0, 1], [1, 2], [2, 3], [3, 4]]
    for i, j, delta in state["merges"]:
        assert delta == pytest.approx(model.edit("x", merge=[i, j]).delta)


def test_trend_in_words() -> None:
    def trend(shares: list[float]) -> str:
        x = np.repeat(np.arange(len(shares)), 100)
        y = np.concatenate([np.arange(100) < 100 * share for share in shares]).astype(int)
        bounds = {"x": [i + 0.5 for i in range(len(shares) - 1)]}
        return PartitionEditor(Model.from_partitions({"x": x}, y, bounds, event=1)).state()["trend"]

    assert trend([0.1, 0.2, 0.2, 0.5]) == "rate of 1: monotone, ascending"
    assert trend([0.5, 0.2]) == "rate of 1: monotone, descending"
    assert trend([0.1, 0.4, 0.2]) == "rate of 1: not monotone, one peak"
    assert trend([0.4, 0.1, 0.2]) == "rate of 1: not monotone, one valley"
    assert trend([0.4, 0.1, 0.2, 0.1]) == "rate of 1: not monotone, 2 turns"
    assert trend([0.3, 0.3]) == "rate of 1: the same in all parts"
    assert trend([0.3]) == "rate of 1: a single part"


def test_missing_and_special_parts_have_no_trend() -> None:
    x = np.repeat([np.nan, 1.0, 2.0, 99.0], 50)
    y = np.tile(np.arange(50), 4) < np.repeat([40, 5, 20, 1], 50)
    model = Model.from_partitions({"x": x}, y.astype(int), {"x": [np.nan, 1.5]}, special={"x": [99.0]})
    state = PartitionEditor(model).state()
    assert state["trend"] == "rate of 1: monotone, ascending"
    assert [part["merges"] for part in state["parts"]] == [True, True, True, False]
    assert [part["splits"] for part in state["parts"]] == [False, True, True, False]


def test_commands_of_a_face() -> None:
    model = numbers_model()
    editor = PartitionEditor(model)
    state = editor.handle({"do": "select", "parts": [2, 1], "version": 0})
    assert state["selected"] == [1, 2]
    assert state["together"]["delta"] == pytest.approx(model.edit("x", merge=[1, 2]).delta)
    state = editor.handle({"do": "select", "parts": [0, 2]})
    assert state["together"]["delta"] is None
    assert "lies between them" in state["together"]["error"]
    state = editor.handle({"do": "merge", "parts": [1, 2], "version": 0})
    assert (len(state["parts"]), state["selected"], state["version"]) == (4, [], 1)
    state = editor.handle({"do": "merge", "parts": [1, 2], "version": 0})  # the second of two fast clicks
    assert (len(state["parts"]), state["is_error"]) == (4, True)
    assert state["message"] == "The parts have changed since; look again"
    state = editor.handle({"do": "open", "part": 0})
    assert state["open"]["values"] is None
    best = editor.offers(0).offers[0]
    state = editor.handle({"do": "split", "offer": 0})
    assert (len(state["parts"]), state["open"]) == (5, None)
    assert editor.model.delta == pytest.approx(best.delta)
    assert editor.handle({"do": "undo"})["redo"].startswith("split of")
    assert editor.handle({"do": "redo"})["message"].startswith("Redone: split of")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ({}, "Unknown command 'None'"),
        ({"do": "state"}, "Unknown command 'state'"),
        ({"do": "merge", "parts": ["0", "1"]}, "Parts are named by their numbers"),
        ({"do": "merge", "parts": [0, 9]}, "Column 'x' has 5 parts"),
        ({"do": "merge", "parts": [True, False]}, "Parts are named by their numbers"),
        ({"do": "merge"}, "Parts"),
        ({"do": "select", "parts": [7]}, "Column 'x' has 5 parts"),
        ({"do": "open", "part": -1}, "Column 'x' has 5 parts"),
        ({"do": "split", "bound": "1"}, "No part is open"),
        ({"do": "choose", "values": [0]}, "No part is open"),
        ({"do": "rename", "part": 0, "text": "a\nb"}, "The name of a part must be"),
        ({"do": "rename", "part": 0, "text": "(2.0, 4.0]"}, "Two parts of 'x' would have the name"),
        ({"do": "redo"}, "There is nothing to redo"),
        ({"do": "reset"}, "These are the original parts"),
    ],
)
def test_wrong_commands_change_nothing_and_say_why(command: dict[str, Any], message: str) -> None:
    model = numbers_model()
    editor = PartitionEditor(model)
    state = editor.handle(command)
    assert editor.model is model
    assert state["is_error"]
    assert state["message"].startswith(message)


@pytest.mark.parametrize("text", ["2,5", "nan", "", "1e", "9", "inf"])
def test_wrong_bounds(text: str) -> None:
    editor = PartitionEditor(numbers_model())
    editor.handle({"do": "open", "part": 0})
    state = editor.handle({"do": "split", "bound": text})
    assert state["is_error"]
    assert len(state["parts"]) == 5
    assert state["open"]["part"] == 0


@pytest.mark.parametrize(
    ("unit", "text"), [("datetime64[D]", "2024-02-15"), ("datetime64[s]", "2024-02-15"), ("timedelta64[h]", "90 min")]
)
def test_times_are_typed(unit: str, text: str) -> None:
    if unit.startswith("timedelta"):
        x, bound = np.arange(100).astype(unit) * 1, [np.timedelta64(50, "h")]
    else:
        x = (np.datetime64("2024-01-01") + np.arange(100)).astype(unit)
        bound = [np.datetime64("2024-03-01")]
    model = Model.from_partitions({"x": x}, np.arange(100) % 3 % 2, {"x": bound})
    editor = PartitionEditor(model)
    editor.handle({"do": "open", "part": 0})
    state = editor.handle({"do": "split", "bound": text})
    assert (state["message"], len(state["parts"])) == (state["message"], 3)
    editor.undo()
    editor.handle({"do": "open", "part": 0})
    assert editor.handle({"do": "split", "bound": "soon"})["is_error"]


def test_groups_are_split_by_chosen_values() -> None:
    model = groups_model()
    editor = PartitionEditor(model)
    state = editor.handle({"do": "open", "part": 0})
    group = model.partitions["town"].groups[0]
    assert [value["text"] for value in state["open"]["values"]] == list(group)
    state = editor.handle({"do": "choose", "values": [1]})
    want = model.edit("town", split={0: [group[1]]})
    assert state["open"]["delta"] == pytest.approx(want.delta)
    editor.handle({"do": "split"})
    assert editor.model.cost == want.cost
    assert editor.model.partitions["town"].groups == want.partitions["town"].groups
    state = editor.handle({"do": "select", "parts": [2]})
    assert [merge[:2] for merge in state["merges"]] == [[0, 2], [1, 2], [2, 3]]


def test_all_values_or_none_split_nothing() -> None:
    editor = PartitionEditor(groups_model())
    editor.handle({"do": "open", "part": 0})
    assert editor.handle({"do": "choose", "values": [0, 1, 2]})["open"]["delta"] is None
    assert editor.handle({"do": "split"})["is_error"]
    assert editor.handle({"do": "choose", "values": []})["open"]["delta"] is None
    assert editor.handle({"do": "split"})["is_error"]
    assert editor.handle({"do": "choose", "values": [5]})["is_error"]
    assert editor.handle({"do": "close"})["open"] is None


def test_values_of_large_groups_are_found_by_text() -> None:
    editor = PartitionEditor(groups_model(500))
    state = editor.handle({"do": "open", "part": 0})
    assert (len(state["open"]["values"]), state["open"]["n_values"]) == (200, 250)
    assert state["open"]["more"] == 50
    state = editor.handle({"do": "choose", "values": [249], "find": "T24"})
    assert [value["text"] for value in state["open"]["values"]] == ["t24", *(f"t24{i}" for i in range(10))]
    assert [value["text"] for value in state["open"]["values"] if value["chosen"]] == ["t249"]


def test_models_of_files_merge_and_say_why_they_cannot_split() -> None:
    model = Model.from_json(numbers_model().to_json())
    editor = PartitionEditor(model)
    assert len(editor.handle({"do": "merge", "parts": [0, 1]})["parts"]) == 4
    state = editor.handle({"do": "open", "part": 0})
    assert state["message"].startswith("A split needs the data")
    assert state["open"] is None


def other_models() -> dict[str, tuple[Model, str]]:
    x = np.random.default_rng(0).normal(size=300).round(2)
    town = np.array(["a", "b", "c", "d"])[np.random.default_rng(1).integers(0, 4, 300)]
    many = np.array([f"class {i}" for i in range(12)])[np.arange(300) % 12]
    make = Model.from_partitions
    both = {"x": x, "town": town}
    parts = {"x": [0.0], "town": [["a", "b"], ["c"], ["d"]]}
    numerical = make({"x": x}, x + 1.5 * x**2, {"x": [0.0], "target": [1.0]})
    grouped = {"x": [0.0], "target": [sorted(set(many))[:6], sorted(set(many))[6:]]}
    return {
        "many classes": (make({"x": x}, many, {"x": [0.0]}), "x"),
        "grid": (make(both, (x > 0).astype(int), parts), "town"),
        "joint": (make(both, None, parts), "x"),
        "numerical": (numerical, "x"),
        "numerical target": (numerical, "target"),
        "grouped": (make({"x": x}, many, grouped, target_kind="grouped"), "x"),
        "density": (gridmodl.optimize({"x": x}), "x"),
        "one class": (make({"x": x}, np.zeros(300, dtype=int), {"x": [0.0]}), "x"),
        "one row": (make({"x": [1.0]}, [1], {}), "x"),
        "empty part": (make({"x": x}, (x > 0).astype(int), {"x": [0.0, 90.0]}), "x"),
    }


@pytest.mark.parametrize("case", other_models())
def test_every_kind_of_model_has_a_state_that_json_holds(case: str) -> None:
    model, name = other_models()[case]
    editor = PartitionEditor(model, name)
    state = editor.state()
    json.dumps(state, allow_nan=False)
    assert len(state["parts"]) == model.partition(name).n_parts
    for i, part in enumerate(state["parts"]):
        if part["splits"]:
            opened = editor.handle({"do": "open", "part": i})
            json.dumps(opened, allow_nan=False)
            assert not opened["is_error"], opened["message"]
    if state["merges"]:
        i, j, delta = state["merges"][0]
        assert editor.handle({"do": "merge", "parts": [i, j]})["change"] == pytest.approx(delta, abs=1e-7)


def test_a_density_of_dates_is_in_the_unit_that_its_head_names() -> None:
    days = np.concatenate([np.repeat(np.arange(50), 4), np.arange(50, 400, 3)])
    states = [PartitionEditor(gridmodl.optimize({"x": x}), "x").state() for x in (days.astype("M8[D]"), days / 1.0)]
    late = PartitionEditor(gridmodl.optimize({"x": days.astype("M8[D]").astype("M8[us]")}), "x").state()
    assert [state["measures"][0]["title"] for state in states] == ["density per day", "density"]
    assert late["measures"] == states[0]["measures"]
    for state in (states[0], late):
        for part, other in zip(state["parts"], states[1]["parts"], strict=True):
            assert part["measures"] == pytest.approx(other["measures"])


def test_name_is_needed_with_several_columns() -> None:
    model, _ = other_models()["grid"]
    with pytest.raises(ValueError, match=r"several columns; name one of 'x', 'town'"):
        PartitionEditor(model)
    with pytest.raises(ValueError, match="did you mean 'town'"):
        PartitionEditor(model, "towm")


def test_widget_shows_states_and_hands_commands_on() -> None:
    pytest.importorskip("anywidget")
    model = numbers_model()
    editor = model.widget()
    assert "application/vnd.jupyter.widget-view+json" in str(editor._repr_mimebundle_())
    widget = editor.widget
    widget._handle_custom_msg({"do": "merge", "parts": [0, 1], "version": 0}, [])
    assert len(widget.state["parts"]) == 4
    editor.undo()  # from Python: the page follows
    assert len(widget.state["parts"]) == 5
    widget._handle_custom_msg("merge", [])
    assert editor.model is model
    models = gridmodl.optimize_each({"x": np.arange(20.0), "z": np.ones(20)}, np.arange(20) // 10)
    assert models.widget("x").model is models["x"]


def test_without_anywidget_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "anywidget":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r'pip install "gridmodl\[widget\]"'):
        numbers_model().widget()
    PartitionEditor(numbers_model()).merge([0, 1])
