"""A name that is not known is answered by those that may have been meant, in Python as on the command line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import gridmodl
from gridmodl import GridDiscretizer, Model, Models, Search, baselines, optimize, optimize_density, optimize_each, price
from gridmodl.plugins import list_criteria
from gridmodl.spelling import did_you_mean, similar_names

DATA = {"age": [1.0, 2.0, 3.0, 4.0], "town": ["a", "a", "b", "b"]}
CLASSES = [0, 0, 1, 1]
MODEL = Model.from_partitions({"age": DATA["age"]}, CLASSES, {"age": [2.5]})
GIVEN = {
    "criterion": (lambda: optimize(DATA, CLASSES, criterion="mdol"), "'modl'"),
    "option of a criterion": (lambda: gridmodl.get_criterion("entropy", alhpa=0.7), "'alpha'"),
    "problem": (lambda: list_criteria("clases"), "'classes'"),
    "search": (lambda: optimize(DATA, CLASSES, search="exat"), "'exact'"),
    "Search": (lambda: Search("mrege"), "'merge'"),
    "target": (lambda: optimize_each({**DATA, "class": CLASSES}, "clas"), "'class'"),
    "weights": (lambda: optimize_each({**DATA, "times": CLASSES}, CLASSES, weights="time"), "'times'"),
    "kinds": (lambda: optimize_each(DATA, CLASSES, kinds={"ageg": "numerical"}), "'age'"),
    "a kind": (lambda: optimize_each(DATA, CLASSES, kinds={"age": "numeric"}), "'numerical'"),
    "special": (lambda: optimize_each(DATA, CLASSES, special={"Age": [1]}), "'age'"),
    "target_kind": (lambda: optimize({"age": DATA["age"]}, CLASSES, target_kind="group"), "'grouped'"),
    "monotone": (lambda: optimize({"age": DATA["age"]}, CLASSES, monotone="increase"), "'increasing'"),
    "placement": (lambda: optimize({"age": DATA["age"]}, CLASSES, unlabelled=-1, placement="medain"), "'median'"),
    "on_error": (lambda: optimize_each(DATA, CLASSES, on_error="warning"), "'warn'"),
    "partitions": (lambda: price(DATA, CLASSES, {"agee": [2.5]}), "'age'"),
    "a number for a text": (lambda: optimize(pd.DataFrame({1: CLASSES, 2: CLASSES}), "2"), "2"),
    "edit": (lambda: MODEL.edit("agee", bounds=[1.5]), "'age'"),
    "table": (lambda: MODEL.table("agee"), "'age'"),
    "frame": (lambda: MODEL.table(frame="panda"), "'pandas'"),
    "unknown": (lambda: MODEL.transform(DATA, unknown="eror"), "'error'"),
    "data": (lambda: MODEL.transform({"agge": [1.0]}), "'agge'"),
    "verify": (lambda: gridmodl.verify(MODEL, {"agge": DATA["age"]}, CLASSES), "'agge'"),
    "models": (lambda: Models({"age": MODEL}, {})["agee"], "'age'"),
    "dialect": (lambda: MODEL.to_sql("postgre"), "'postgres'"),
    "output": (lambda: MODEL.to_sql("duckdb", output=["part"]), "'parts'"),
    "columns of SQL": (lambda: MODEL.to_sql("duckdb", columns={"aeg": "x"}), "'age'"),
    "schema": (lambda: gridmodl.json_schema("modle"), "'model'"),
    "score": (lambda: optimize_density(DATA["age"], score="likelyhood"), "'likelihood'"),
    "baseline": (lambda: baselines.each("chimerge", DATA, CLASSES), "'chi_merge'"),
    "option of a baseline": (lambda: baselines.each(baselines.chi_merge, DATA, CLASSES, max_part=2), "'max_parts'"),
    "encode": (lambda: GridDiscretizer(encode="one-hot").fit(np.ones((4, 1)), CLASSES), "'onehot'"),
}  # fmt: skip


@pytest.mark.parametrize("what", GIVEN)
def test_a_misspelt_name_is_answered_by_the_one_that_was_meant(what):
    call, meant = GIVEN[what]
    with pytest.raises((ValueError, TypeError, KeyError)) as error:
        call()
    assert f"; did you mean {meant}" in str(error.value)


def test_names_that_are_close_are_found_whatever_their_case_and_type():
    assert similar_names("MODLE", ["modl", "bic"]) == ["modl"]
    assert similar_names("2", [1, 2, None]) == [2]
    assert similar_names(None, ["none"]) == similar_names(["a"], ["a"]) == []
    assert did_you_mean("zzz", ["modl"]) == ""


def test_names_that_only_have_letters_in_common_are_not_meant():
    assert (
        did_you_mean("income", ["home"]) == did_you_mean("month", ["amount"]) == did_you_mean("rate", ["grade"]) == ""
    )
    assert set(similar_names("age", ["wage", "page", "agge"])) == {"agge", "wage", "page"}
    assert similar_names("aeg", ["age", "leg"]) == ["age"]


def test_a_question_ends_its_sentence():
    models = optimize_each(DATA, CLASSES)
    with pytest.raises(ValueError, match=r"the data has 'aeg', 'town'; did you mean 'aeg'\? models\.select"):
        models.transform({"aeg": DATA["age"], "town": DATA["town"]})
    with pytest.raises(ValueError, match=r"the data has 'town'\. models\.select"):
        models.transform({"town": DATA["town"]})


def test_long_names_and_many_take_no_time():
    assert did_you_mean("a" * 10**6, ["a" * 10**6, "b"]) == ""
    assert similar_names("column 77", (f"column {i}" for i in range(10**6)))[0] == "column 77"
