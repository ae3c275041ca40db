"""The contract of criteria: margins and facts of variables price as the terms before them, and old plugins are told."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gridmodl import Criterion, optimize, price
from gridmodl.codelength import log_groupings
from gridmodl.criteria import Aic, Bic, Modl, ModlGrid, ModlGrouped, ModlSemi
from gridmodl.criteria.concave import uniform_predictive
from gridmodl.criteria.modl_semi import ModlAveraged
from gridmodl.jit.digest import TermError
from gridmodl.plugins import criterion_for, list_criteria
from gridmodl.terms import Cell, Problem, finish, params_record, predictive
from gridmodl.testing import check_criterion
from gridmodl.testing.declarations import check_concave_cell, check_predictive

# Costs by the gridmodl before the term `margin`, whose `part` knew the number of target parts.
BEFORE = {
    "grouped x 2 1 False": 427.55638531219034,
    "grouped x 2 1 True": 839.1107892280854,
    "grouped x 2 2 False": 332.15377069479797,
    "grouped x 2 2 True": 640.931095929686,
    "grouped x 2 4 False": 332.70887749458063,
    "grouped x 2 4 True": 634.067317368595,
    "numerical x 2 1": 1095.4590215991495,
    "numerical x 2 3": 987.1509642796203,
    "numerical x 2 5": 1001.445558214628,
    "grouped x 4 1 False": 436.7466250124594,
    "grouped x 4 1 True": 849.676990526561,
    "grouped x 4 2 False": 337.2322864943792,
    "grouped x 4 2 True": 636.2398229948093,
    "grouped x 4 4 False": 287.7706976398158,
    "grouped x 4 4 True": 515.6304766203953,
    "numerical x 4 1": 1104.6492612994186,
    "numerical x 4 3": 974.1034195063415,
    "numerical x 4 5": 970.6731219430148,
    "grouped town 1 1": 418.9888447281562,
    "joint town 1 1": 1005.6998097699146,
    "grouped town 1 2": 423.0143147979735,
    "joint town 1 2": 1009.7252798397319,
    "grouped town 1 4": 425.34552144366756,
    "joint town 1 4": 1012.056486485426,
    "numerical town 1 1": 1086.8914810151155,
    "numerical town 1 3": 1097.172068494203,
    "numerical town 1 5": 1105.6773915130484,
    "classes town 1": 417.19708525892815,
    "grid town x 1": 227.9707453246767,
    "grouped town 3 1": 429.28183736922165,
    "joint town 3 1": 1017.4338850259799,
    "grouped town 3 2": 435.96007784249684,
    "joint town 3 2": 1023.3619396927891,
    "grouped town 3 4": 442.57293500678253,
    "joint town 3 4": 1029.3204152615158,
    "numerical town 3 1": 1097.184473656181,
    "numerical town 3 3": 1112.176452020877,
    "numerical town 3 5": 1124.1240555540155,
    "classes town 3": 436.13015541326854,
    "grid town x 3": 287.0948057048294,
}
BOUNDS = {"2": [25.2], "4": [10.2, 20.2, 35.2]}
AMOUNTS = {"1": [], "3": [12.25, 24.25], "5": [5.25, 12.25, 24.25, 33.25]}
KINDS = {"1": ["uvwxyz"], "2": ["uvw", "xyz"], "4": ["u", "vw", "xy", "z"]}
TOWNS = {"1": ["abcdefghijk"], "3": ["abcd", "efg", "hijk"]}


def columns():
    """240 rows, by formulas alone."""
    i = np.arange(240)
    x = (i * 37 % 101) * 0.5
    return {
        "x": x,
        "town": np.array(list("abcdefghijk"))[(i * i + i // 7) % 11],
        "kind": np.array(list("uvwxyz"))[((x // 10).astype(int) + (i * 13 % 17 == 0)) % 6],
        "amount": np.round(x * 0.7 + (i * 29 % 31) * 0.3, 1),
    }


@pytest.mark.parametrize("name", BEFORE)
def test_prices_are_those_before_margins(name):
    problem, *words = name.split()
    given, weights = columns(), 1 + np.arange(240) % 3
    groups = {"town": TOWNS, "kind": KINDS}
    names, more = {"grid": (["town", "x"], ["3"]), "joint": (["town", "kind"], [])}.get(problem, (words[:1], []))
    other = {"grouped": ["kind"], "numerical": ["amount"]}.get(problem, [])
    sizes = [word for word in words if word.isdigit()]
    partitions = {}
    for column, size in zip([*names, *other], sizes + (["4"] if more else []), strict=True):
        if column in groups:
            partitions[column] = [list(group) for group in groups[column][size]]
        else:
            partitions[column] = (BOUNDS if column == "x" else AMOUNTS)[size]
    data = {column: given[column] for column in [*names, *other]}
    target = other[0] if other else None if problem == "joint" else given["kind"]
    found = price(
        data,
        target,
        partitions,
        criterion="modl",
        target_kind=problem if other else None,
        weights=weights if "True" in words else None,
    )
    assert found == pytest.approx(BEFORE[name], abs=1e-9, rel=1e-13)


class Outdated(Criterion):
    name = "outdated"
    problems = {"joint"}

    @staticmethod
    def cell(p, cell):
        return float(cell.rows)


def reads(field):
    def variable(p, variable, n_parts):
        return getattr(variable, field)[n_parts] if n_parts > 1 else 0.0

    return variable


DATA = {"a": list("uvuvuv"), "b": list("ssqqss")}


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"part": staticmethod(lambda p, variable, part, n_target_parts: 1.0)}, "drop the last.*margin"),
        ({"variable_constant": lambda self, problem, variable: 1.0}, "write variable_facts"),
        ({"variable": staticmethod(reads("log_groupings"))}, r"no log_groupings any more: .*variable.by_parts\[i\]"),
        ({"variable": staticmethod(reads("log_value_factorials"))}, "no log_value_factorials any more"),
        ({"variable_facts": lambda self, problem, variable, rows: variable.log_groupings}, "no log_groupings any more"),
    ],
)
def test_an_old_plugin_is_told_what_to_change(written, message):
    with pytest.raises((TypeError, TermError), match=message):
        optimize(DATA, criterion=type("Old", (Outdated,), written))


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        (1.0, "it returns a constant and an array by number of parts"),
        ((1.0, 2.0, 3.0), "it returns a constant and an array by number of parts"),
        ((math.nan, np.empty(0)), "returned the constant nan; it must be a finite number"),
        (("1", np.empty(0)), "returned the constant '1'; it must be a finite number"),
        ((1.0, [1.0, 2.0]), r"returned the table <class 'list'>; it must be an array"),
        ((1.0, np.ones((2, 2))), "it must be an array of numbers of one dimension"),
        ((1.0, np.array(["a"])), "it must be an array of numbers of one dimension"),
        ((1.0, np.array([1.0, math.nan])), "returned a table with NaN at 1 parts"),
        (
            (1.0, np.ones(2)),
            "returned a table of 2 entries for a variable of 2 values; it needs one for each number of",
        ),
    ],
)
def test_facts_of_a_variable_are_checked(facts, message):
    with pytest.raises(TermError, match=f"variable_facts of criterion 'outdated' .*{message}"):
        optimize(DATA, criterion=type("Wrong", (Outdated,), {"variable_facts": lambda *given: facts}))


def test_a_criterion_sees_the_rows_of_each_value():
    seen = []

    class Seen(Outdated):
        def variable_facts(self, problem, variable, value_rows):
            seen.append((variable.categorical, sorted(value_rows.tolist())))
            return 0.5, log_groupings(variable.n_values) if variable.categorical else np.empty(0)

        @staticmethod
        def variable(p, variable, n_parts):
            return variable.constant + (variable.by_parts[n_parts] if variable.categorical else 0.0)

    model = optimize({**DATA, "x": [1.0, 1.0, 2.0, 3.0, 3.0, 3.0]}, weights=[1, 2, 3, 1, 1, 1], criterion=Seen)
    assert {(True, (4, 5)), (True, (4, 5)), (False, ())} >= {(kind, tuple(rows)) for kind, rows in seen}
    assert sorted(model.partitions["a"].value_rows.tolist()) == [4, 5]
    assert model.partitions["x"].value_rows is None


# Optional declarations.


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for kind in ("classes", "grid") for name in list_criteria(kind)]
)
def test_declarations_of_the_built_in_criteria_hold(name, kind):
    criterion = criterion_for(name, kind)
    assert criterion.concave_cell
    check_concave_cell(criterion, kind, 20)
    if criterion.predictive is not predictive:
        check_predictive(criterion, kind, 20)


def test_what_is_declared():
    scales = {cls.name: cls.scale for cls in (Modl, Aic, Bic)}
    assert scales == {"modl": 1.0, "aic": 0.5, "bic": 0.5}
    assert ModlGrouped.scale == 1.0
    assert ModlSemi.scale is None
    assert ModlSemi.averaged is ModlAveraged
    assert {cls for cls in (Modl, ModlGrid, ModlAveraged, Aic, Bic) if cls.predicts_exactly} == {
        Modl,
        ModlGrid,
        ModlAveraged,
    }
    assert {cls for cls in (Modl, ModlGrid, ModlAveraged, Aic, Bic) if cls.uniform_parts} == {Modl, ModlAveraged}
    assert not ModlSemi.concave_cell
    for kind in ("classes", "grid"):
        for name in list_criteria(kind):
            criterion = criterion_for(name, kind)
            assert criterion.scale is None or criterion.finish is finish


def test_the_criterion_that_averages_over_unlabelled_rows_keeps_the_contract():
    check_criterion(ModlAveraged, n_samples=5, compiled=False)


def test_the_predictive_of_modl_is_the_ratio_of_evidences():
    """exp(-cell) is the probability of the classes of a cell's rows in a given order."""
    p = params_record(Modl(), Problem("classes", 20, 1, np.array([9, 6, 5])))
    for counts in ([0, 0, 0], [4, 0, 1], [2, 3, 4]):
        for code in range(3):
            more = np.array(counts) + (np.arange(3) == code)
            after = Modl.cell(p, Cell(more, int(more.sum()), 0))
            before = Modl.cell(p, Cell(np.array(counts), sum(counts), 0)) if sum(counts) else 0.0
            share = Modl.predictive(p, Cell(np.array(counts), sum(counts), 0), code)
            assert share == pytest.approx(math.exp(before - after), rel=1e-12)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"concave_cell": True}, "declares concave_cell, but rows by class"),
        ({"scale": 0.0}, "declares scale 0.0; it must be None or a positive number"),
        ({"scale": math.inf}, "declares scale inf"),
        ({"scale": True}, "declares scale True"),
        ({"scale": 1.0, "finish": staticmethod(lambda p, total, shape: 2.0 * total)}, "declares a scale, but its"),
        ({"predictive": staticmethod(lambda p, cell, code: 0.5 + code)}, "these must be probabilities"),
        ({"predictive": staticmethod(lambda p, cell, code: math.nan)}, "returned nan; a term returns a finite number"),
        ({"predictive": staticmethod(lambda p, cell: 1.0)}, "must take 3"),
        ({"predicts_exactly": True}, "declares predicts_exactly, but has no predictive"),
        (
            {"scale": 1.0, "predicts_exactly": True, "predictive": staticmethod(uniform_predictive)},
            "declares predicts_exactly, but predictive says",
        ),
        ({"scale": 1.0, "uniform_parts": True}, "declares uniform_parts, but prices 1 parts of 2 rows at 0.0"),
    ],
)
def test_wrong_declarations_are_found(declared, message):
    class Squares(Criterion):
        name = "squares"
        problems = {"classes"}

        @staticmethod
        def cell(p, cell):
            return float((cell.counts * cell.counts).sum()) if cell.rows > 1 else 1.0

    with pytest.raises(AssertionError, match=message):
        check_criterion(type("Wrong", (Squares,), declared), n_samples=2, compiled=False)
