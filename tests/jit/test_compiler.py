"""The shorter way through numba: the results of the plain one, fewer functions compiled, memory where it is needed."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numba.core import event
from numba.core.runtime import _nrt_python, rtsys

from gridmodl import Criterion, optimize
from gridmodl.jit import compiler, native
from gridmodl.jit.arguments import canonical, describe
from gridmodl.jit.digest import TermError
from gridmodl.jit.engine import load_object, this_processor
from gridmodl.jit.native import Code, Native
from gridmodl.jit.template import inlined

SIZE = 100_000


def nth(values, i):
    return values[i]


@inlined
def twice(value):
    return 2.0 * value


def ends(values):
    return twice(nth(values, 0)) + nth(values, len(values) - 1)


def nth_counted(values, i):
    return values[i] + 1.0


def ends_counted(values):
    return nth_counted(values, 0) + nth_counted(values, len(values) - 1)


def sum_of_copy(values):
    return (values + 1.0).sum()


def tail(values):
    return values[1:]


def raises(value):
    if value > 2:
        raise ValueError("more than two")
    return value


def every_kind(a, b, c, nothing, matrix, strided, pair):
    matrix[0, 1] += strided.sum() + pair[0]
    return a + 1, b + 0.5, not c, (a == pair[1], matrix.shape[1])


@numba.njit
def copied(values):
    return values.copy()


def first_of_copy(values):
    return copied(values)[0]


@pytest.fixture(autouse=True)
def _fresh_binder(monkeypatch):
    native._reader()  # compiled before it is counted
    monkeypatch.setattr(compiler, "_open_binder", compiler.Binder(compiler._open_binder.replaced))


numbers = iter(range(1_000))


def compiled(kernel, *arguments):
    """The kernel in machine code, for arguments of these types."""
    arguments = canonical(arguments)
    found = compiler.compile_kernel(kernel, arguments, f"test_{next(numbers)}", this_processor())
    code = Code(load_object(found.code, found.symbols, found.needs), found.returns)
    return Native(code, None, arguments, describe(arguments), None)


def test_literal_arguments_compile_nothing_more():
    with event.install_recorder("numba:compile") as recorder:
        assert compiled(ends_counted, np.arange(1.0, 4.0))((np.arange(1.0, 4.0),)) == 6.0
    names = [record.data["dispatcher"].py_func.__name__ for _, record in recorder.buffer if record.is_start]
    assert names == ["entry", "ends_counted", "nth_counted"]


def test_this_numba_is_known():
    assert compiler.is_known_version(), "run the tests with this version, then add it to KNOWN_VERSIONS"


def test_another_numba_takes_the_plain_way(monkeypatch):
    values = np.linspace(0.1, 0.9, 7)
    short = compiled(ends, values)
    monkeypatch.setattr(compiler, "KNOWN_VERSIONS", ())
    monkeypatch.setattr(compiler, "_open_binder", compiler.Binder(compiler._open_binder.replaced))
    plain = compiled(ends, values)
    assert plain((values,)) == short((values,)) == ends(values)


@pytest.mark.parametrize("is_known", [True, False])
def test_every_kind_of_argument_and_result(monkeypatch, is_known):
    if not is_known:
        monkeypatch.setattr(compiler, "KNOWN_VERSIONS", ())
    matrix = np.zeros((2, 3))
    arguments = 41, 2.0, True, None, matrix, np.arange(10.0)[::3], (4, -7)
    native = compiled(every_kind, *arguments)
    wanted = (42, 2.5, False, (False, 3))
    for _ in range(2):
        found = native(arguments)
        assert found == wanted
        assert [type(value) for value in found] == [type(value) for value in wanted]
    assert native.run(arguments) == wanted
    assert matrix[0, 1] == 3 * (18.0 + 4)


def test_other_types_are_no_match():
    from gridmodl.jit.native import MISMATCH

    native = compiled(ends, np.arange(3.0))
    for other in (np.arange(3), np.arange(6.0)[::2], np.ones((1, 3)), 3.0, None, [1.0, 2.0], (np.arange(3.0),)):
        assert native((other,)) is MISMATCH
    assert native((np.arange(3.0), 1)) is MISMATCH
    whole = compiled(raises, 1)
    assert whole((2**63,)) is whole((-(2**70),)) is whole((True,)) is whole((1.0,)) is MISMATCH
    assert whole((-1,)) == -1


def test_an_error_of_a_kernel_is_raised():
    native = compiled(raises, 1)
    assert native((2,)) == 2
    for _ in range(2):
        with pytest.raises(ValueError, match=r"^more than two$"):
            native((3,))


@pytest.mark.parametrize("kernel", [sum_of_copy, first_of_copy])
def test_a_kernel_that_needs_memory_has_it_and_frees_it(kernel):
    values = np.arange(float(SIZE))
    copied(values)  # compiled with reference counts, before the kernel that calls it
    native = compiled(kernel, values)
    assert native((values,)) == kernel(values)
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    for _ in range(5):
        native((values,))
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free == 5


def test_an_array_is_no_result():
    with pytest.raises(TypeError, match="a kernel returns numbers, not array"):
        compiled(tail, np.arange(3.0))


def test_other_kernels_count_nothing():
    found = compiler.compile_kernel(ends, (np.arange(3.0),), "test_counts", this_processor())
    assert found.needs == ()


def test_a_term_that_raises_in_machine_code_is_named(monkeypatch):
    class Late(Criterion):
        name = "late"
        problems = {"classes"}

        @staticmethod
        def cell(p, cell):
            if cell.rows == 3 and cell.counts[0] == 2:
                raise ValueError("no three rows")
            return 1.0 + cell.rows

    monkeypatch.setenv("GRIDMODL_COMPILE", "always")
    for _ in range(2):
        with pytest.raises(TermError, match="term 'cell' of criterion 'late' failed: ValueError: no three rows"):
            optimize([1, 2, 3, 4, 5, 6], [0, 1, 0, 1, 1, 1], criterion=Late)
