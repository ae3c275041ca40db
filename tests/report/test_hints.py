"""Hints of every door: a target of one class, a copy of the target, texts that look like numbers or dates."""

from __future__ import annotations

import functools
import html

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gridmodl

rng = np.random.default_rng(0)
N = 400
Y = rng.integers(0, 2, N)
DATA = {
    "number": [str(value) for value in rng.integers(0, 40, N)],
    "day": [f"2020-01-{day:02d}" for day in rng.integers(1, 29, N)],
    "copy": Y * 3.0,
    "name": np.array([f"v{i}" for i in range(20)])[rng.integers(0, 20, N)],
    "noise": rng.random(N),
}


def notes(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip().startswith("note: ")]


def test_the_summary_of_columns_names_what_looks_wrong():
    assert sorted(notes(gridmodl.optimize_each(DATA, np.where(Y, "yes", "no")).summary())) == [
        "note: copy: each part has one class only: is it a copy of the target, or known only after it?",
        "note: day: its values are texts that look like dates; as dates, they would have intervals",
        "note: number: its values are texts that look like numbers; as numbers, they would have intervals",
    ]


def test_a_grid_has_the_hints_of_its_columns():
    summary = gridmodl.optimize({"copy": DATA["copy"], "noise": DATA["noise"], "day": DATA["day"]}, Y).summary()
    assert [line for line in notes(summary) if "copy" in line] == [
        "note: copy: each part has one class only: is it a copy of the target, or known"
    ]
    assert any(line.startswith("note: day: its values are texts that look like dates") for line in notes(summary))


@pytest.mark.parametrize(("stray", "said"), [("n.a.", ", all but 'n.a.'"), ("1,5", "")])
def test_few_texts_that_are_no_numbers_are_named(stray, said):
    amounts = [f"{value:.1f}" for value in rng.integers(0, 400, N) / 10]
    summary = " ".join(gridmodl.optimize({"amount": [stray, *amounts[1:]]}, Y).summary().split())
    assert f"its values are texts that look like numbers{said}; as numbers, they would have intervals" in summary


def test_a_target_of_one_class_is_said_once():
    models = gridmodl.optimize_each({"noise": DATA["noise"], "copy": DATA["copy"]}, ["a"] * N)
    said = "note: the target has one class, a, so that no column can tell anything about it"
    assert notes(models.summary()) == [said]
    assert said in " ".join(models["noise"].summary().split())


@pytest.mark.parametrize("name", ["name", "noise"])
def test_columns_without_a_fault_have_no_hint(name):
    assert notes(gridmodl.optimize({name: DATA[name]}, Y).summary()) == []
    assert notes(gridmodl.optimize({name: DATA[name], "z": Y}, None).summary()) == []


def test_few_rows_are_told_apart_by_chance():
    assert notes(gridmodl.optimize([1.0, 2.0, 3.0, 7.0, 8.0, 9.0], [0, 0, 0, 1, 1, 1]).summary()) == []


def test_pages_have_the_hints():
    pytest.importorskip("vl_convert")
    assert "is it a copy of the target" in gridmodl.optimize_each(DATA, Y).to_html()
    assert "is it a copy of the target" in gridmodl.optimize({"copy": DATA["copy"]}, Y).to_html()
    assert "is it a copy of the target" in gridmodl.optimize({"copy": DATA["copy"]}, Y)._repr_html_()


@pytest.mark.parametrize(("n_values", "is_said"), [(N, True), (int(0.95 * N), True), (N // 2, False)])
def test_a_column_of_almost_as_many_values_as_rows_may_be_an_identifier(n_values, is_said):
    customer = [f"customer {i % n_values}" for i in range(N)]
    summary = " ".join(gridmodl.optimize({"customer": customer}, Y).summary().split())
    assert ("almost as many values as rows: is it an identifier?" in summary) == is_said


COPIES = pd.DataFrame({"copy": DATA["copy"], "noise": DATA["noise"], "size": Y + rng.normal(size=N)})
COPIES["double"] = 2 * COPIES["size"]
SAID = "each part has one class only: is it a copy of the target"
OF_CARDS = ("card", "bayes", "logistic", "GridScorecard", "GridNaiveBayes", "GridLogistic")
LEFT_OUT = "it is a copy of column 'size'"


@functools.cache
def of_every_door() -> dict[str, str]:
    """What people read of a column that is a copy of the target, by door."""
    found = {}
    models, averages = gridmodl.optimize_each(COPIES, Y), gridmodl.average_each(COPIES, Y)
    card = gridmodl.GridScorecard().fit(COPIES, Y)
    bayes, logistic = gridmodl.GridNaiveBayes().fit(COPIES, Y), gridmodl.GridLogistic(l2=10.0).fit(COPIES, Y)
    grid = gridmodl.GridClassifier().fit(COPIES, Y)
    for name, result in {
        "models": models, "averages": averages,
        "lazy": gridmodl.optimize_each(pl.from_pandas(COPIES.assign(y=Y)).lazy(), "y"),
        "average": averages["copy"], "card": card.scorecard_, "bayes": bayes.evidence_, "logistic": logistic.evidence_,
        "card from a file": gridmodl.Scorecard.from_json(card.to_json()),
        "bayes from a file": gridmodl.WeightedEvidence.from_json(bayes.to_json()), "grid": grid.model_,
    }.items():  # fmt: skip
        found[f"{name}: summary"] = result.summary()
        found[f"{name}: notebook"] = result._repr_html_()
        if hasattr(result, "to_html"):
            found[f"{name}: page"] = result.to_html()
    for estimator in (card, bayes, logistic, grid):
        found[f"{type(estimator).__name__}: notebook"] = estimator._repr_html_inner()
    return {name: html.unescape(" ".join(text.split())) for name, text in found.items()}


def test_every_door_says_that_a_column_may_be_a_copy_of_the_target():
    pytest.importorskip("vl_convert")
    assert [door for door, text in of_every_door().items() if SAID not in text] == []


def test_every_card_and_classifier_says_which_columns_copy_others():
    pytest.importorskip("vl_convert")
    found = {
        door: LEFT_OUT in text
        for door, text in of_every_door().items()
        if door.split(":")[0].split()[0]
        in ("card", "bayes", "logistic", "GridScorecard", "GridNaiveBayes", "GridLogistic")
    }
    assert len(found) == 15
    assert [door for door, is_said in found.items() if not is_said] == []
