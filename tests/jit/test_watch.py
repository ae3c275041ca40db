"""A constant, helper, default or term that changes within a process shows at the next call, plain and compiled."""

from __future__ import annotations

import types

import numba
import numpy as np
import pytest

from gridmodl import Criterion, optimize, price
from gridmodl.criteria.information import Aic, Bic
from gridmodl.jit import template
from gridmodl.jit.digest import TermError
from gridmodl.jit.tiers import compile_as
from gridmodl.pricing import price_parts
from gridmodl.terms import Cell, Problem, cell, params_record

X, Y = list(range(8)), [0] * 4 + [1] * 4

HELPER = """
import numpy as np

FACTOR = 2.0
TABLE = np.array([1.0, 2.0])
TABLES = (TABLE[:1].copy(), 5)


def inner(x):
    return x * FACTOR + TABLE[0] + TABLES[0][0]


def scaled(x, power=1.0):
    return inner(x) ** power
"""
LAB = """
import math

K = 2.0


def made(weight):
    class Lab(Criterion):
        name = "lab"
        problems = {"classes"}

        @staticmethod
        def cell(p, cell):
            errors = cell.rows
            for n in cell.counts:
                errors = min(errors, cell.rows - n)
            return K * settings.SCALE + math.sqrt(weight) + scaled(errors)

    def weigh(other):
        nonlocal weight
        weight = other

    return Lab, weigh


Lab, weigh = made(4.0)
"""


class Made:
    """A criterion in modules of its own, of which each test changes something."""

    def __init__(self):
        self.helper, self.settings, self.lab = (types.ModuleType(name) for name in ("helper", "settings", "lab"))
        self.settings.SCALE = 3.0
        exec(HELPER, vars(self.helper))  # noqa: S102
        vars(self.lab).update(Criterion=Criterion, settings=self.settings, scaled=self.helper.scaled)
        exec(LAB, vars(self.lab))  # noqa: S102
        self.criterion = self.lab.Lab

    def prices(self):
        """The prices of two pure parts, of one part, and of the optimum."""
        asked = [price(X, Y, {"x0": bounds}, criterion=self.criterion) for bounds in ([3.5], [])]
        return [*asked, optimize(X, Y, criterion=self.criterion, search="exact").cost]

    def expected(self, k=2.0, scale=3.0, weight=4.0, factor=2.0, table=1.0, tables=1.0, power=1.0, more=0.0):
        cells = [k * scale + weight**0.5 + (errors * factor + table + tables) ** power + more for errors in (0, 4)]
        return [2 * cells[0], cells[1], min(2 * cells[0], cells[1])]


def set_constant(made):
    made.lab.K = 50.0
    return {"k": 50.0}


def set_constant_of_a_module(made):
    made.settings.SCALE = 7.0
    return {"scale": 7.0}


def set_constant_of_a_helper(made):
    made.helper.FACTOR = 0.5
    return {"factor": 0.5}


def write_into_an_array(made):
    made.helper.TABLE[0] = 9.0
    return {"table": 9.0}


def write_into_an_array_of_a_tuple(made):
    made.helper.TABLES[0][0] = 8.0
    return {"tables": 8.0}


def replace_a_helper(made):
    def scaled(x):
        return 10.0 * x

    made.lab.scaled = scaled
    return {"factor": 10.0, "table": 0.0, "tables": 0.0}


def replace_a_helper_of_a_helper(made):
    made.helper.inner = lambda x: 5.0 * x
    return {"factor": 5.0, "table": 0.0, "tables": 0.0}


def replace_the_code_of_a_helper(made):
    made.helper.inner.__code__ = (lambda x: 6.0 * x).__code__
    return {"factor": 6.0, "table": 0.0, "tables": 0.0}


def set_a_default(made):
    made.helper.scaled.__defaults__ = (2.0,)
    return {"power": 2.0}


def set_a_closure(made):
    made.lab.weigh(16.0)
    return {"weight": 16.0}


def replace_a_term(made):
    whole = made.criterion.cell

    def cell(p, cell):
        return whole(p, cell) + 100.0

    made.criterion.cell = staticmethod(cell)
    return {"more": 100.0}


CHANGES = [
    set_constant,
    set_constant_of_a_module,
    set_constant_of_a_helper,
    write_into_an_array,
    write_into_an_array_of_a_tuple,
    replace_a_helper,
    replace_a_helper_of_a_helper,
    replace_the_code_of_a_helper,
    set_a_default,
    set_a_closure,
    replace_a_term,
]


@pytest.mark.parametrize("mode", ["never", "always"], ids=["plain", "compiled"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_shows_at_the_next_call(change, mode, monkeypatch):
    monkeypatch.setenv("GRIDMODL_COMPILE", mode)
    made = Made()
    assert made.prices() == pytest.approx(made.expected())
    expected = made.expected(**change(made))
    assert expected != made.expected()
    assert made.prices() == pytest.approx(expected)
    assert made.prices() == pytest.approx(expected)


def test_what_did_not_change_is_bound_once(monkeypatch):
    monkeypatch.setenv("GRIDMODL_COMPILE", "never")
    made = Made()
    made.prices()
    bound = template.bind(price_parts, made.criterion).plain
    made.lab.UNUSED, made.settings.OTHER = 1.0, 2.0
    made.prices()
    assert template.bind(price_parts, made.criterion).plain is bound
    made.lab.K = 3.0
    assert template.bind(price_parts, made.criterion).plain is not bound


@pytest.mark.parametrize("mode", ["never", "always"], ids=["plain", "compiled"])
def test_a_constant_that_is_gone_is_an_error(mode, monkeypatch):
    monkeypatch.setenv("GRIDMODL_COMPILE", mode)
    made = Made()
    made.prices()
    del made.lab.K
    with pytest.raises(TermError, match="name 'K' is not defined"):
        made.prices()
    made.lab.K = 5.0
    assert made.prices() == pytest.approx(made.expected(k=5.0))


@pytest.mark.parametrize("mode", ["never", "always"], ids=["plain", "compiled"])
def test_a_helper_that_its_author_compiled_is_refused_once_it_is_stale(mode, monkeypatch):
    """Numba keeps the constants that it compiled with."""
    monkeypatch.setenv("GRIDMODL_COMPILE", mode)
    made = Made()
    made.helper.inner = numba.njit(made.helper.inner)
    made.lab.scaled = made.helper.inner
    assert made.prices() == pytest.approx(made.expected())
    assert made.prices() == pytest.approx(made.expected())
    made.helper.FACTOR = 0.5
    for _ in range(2):
        with pytest.raises(TermError, match=r"inner was compiled by numba, and what it refers to has changed since"):
            made.prices()
    made.lab.scaled = numba.njit(made.helper.inner.py_func)
    assert made.prices() == pytest.approx(made.expected(factor=0.5))


def test_arrays_are_compared_by_their_values():
    made = Made()
    made.prices()
    bound = template.bind(price_parts, made.criterion).plain
    made.helper.TABLE[:] = made.helper.TABLE.copy()
    assert template.bind(price_parts, made.criterion).plain is bound
    made.helper.TABLE[1] = np.nan
    assert template.bind(price_parts, made.criterion).plain is not bound


def _two_costs(p, q, counts):
    return cell(p, Cell(counts, 3, 0)) + 100.0 * cell(q, Cell(counts, 3, 0))


@pytest.mark.parametrize("mode", ["never", "always", "native"])
def test_a_kernel_may_have_two_records_of_a_criterion(mode):
    """As the average has of priors and prices: both call their terms."""
    records = [params_record(Aic(), Problem("classes", 3, 1, np.array([1, 2]))) for _ in range(2)]
    with compile_as(mode):
        found = template.bind(_two_costs, Aic)(*records, np.array([1, 2]))
    one = Aic.cell(records[0], Cell(np.array([1, 2]), 3, 0))
    assert found == one + 100.0 * one
    assert one > 0.0


@pytest.mark.parametrize("mode", ["never", "always", "native"])
def test_a_kernel_calls_the_terms_that_it_is_bound_to(mode):
    """Not those of the criterion that `p` was made for."""
    p = params_record(Aic(), Problem("classes", 3, 1, np.array([1, 2])))
    with compile_as(mode):
        first, found, again = (template.bind(_two_costs, one)(p, p, np.array([1, 2])) for one in (Aic, Bic, Aic))
    assert first == again == 101.0 * Aic.cell(p, Cell(np.array([1, 2]), 3, 0))
    assert found == 101.0 * Bic.cell(p, Cell(np.array([1, 2]), 3, 0)) != first
