"""The shorter way through numba: the results of the plain one, fewer functions compiled, memory where it is needed."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numba.core import event
from numba.core.caching import NullCache
from numba.core.runtime import _nrt_python, rtsys

from gridmodl.jit import compiler
from gridmodl.jit.template import Kernel, inlined

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


@numba.njit
def copied(values):
    return values.copy()


def first_of_copy(values):
    return copied(values)[0]


def test_literal_arguments_compile_nothing_more():
    kernel = Kernel(ends_counted).compiled
    kernel._cache = NullCache()
    with event.install_recorder("numba:compile") as recorder:
        assert kernel(np.arange(1.0, 4.0)) == 6.0
    names = [record.data["dispatcher"].py_func.__name__ for _, record in recorder.buffer if record.is_start]
    assert names == ["ends_counted", "nth_counted"]


def test_this_numba_is_known():
    assert compiler.is_known_version(), "run the tests with this version, then add it to KNOWN_VERSIONS"


def test_another_numba_takes_the_plain_way(monkeypatch):
    short = Kernel(ends).compiled
    monkeypatch.setattr(compiler, "KNOWN_VERSIONS", ())
    plain = Kernel(ends).compiled
    assert plain.py_func.__qualname__ != short.py_func.__qualname__
    values = np.linspace(0.1, 0.9, 7)
    assert plain(values) == short(values) == ends(values)
    assert type(plain) is type(numba.njit(ends))
    assert type(short) is not type(plain)


@pytest.mark.parametrize("kernel", [sum_of_copy, tail, first_of_copy])
def test_a_kernel_that_needs_memory_has_it_and_frees_it(kernel):
    values = np.arange(float(SIZE))
    copied(values)  # compiled with reference counts, before the kernel that calls it
    bound = Kernel(kernel).compiled
    np.testing.assert_array_equal(bound(values), kernel(values))
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    for _ in range(5):
        bound(values)
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free


def test_other_kernels_count_nothing():
    assert Kernel(ends).compiled.targetoptions["_nrt"] is False
