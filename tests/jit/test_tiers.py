"""Small work runs as plain Python, larger work compiled, and both find the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import gridmodl
from gridmodl.clock import Clock
from gridmodl.jit import tiers
from gridmodl.jit.digest import TermError
from gridmodl.jit.template import Kernel, bind
from gridmodl.terms import Problem, params_record

# Each is to run at once, in a process that finds nothing compiled.
SMALL_CALLS = """
import json
import sys
import numpy as np
import gridmodl
from gridmodl import Criterion, optimize, optimize_each
from sklearn.datasets import load_iris
import numba
from numba.core import event

class Hannan(Criterion):
    name = "hannan"
    problems = {"classes"}

    @staticmethod
    def cell(p, cell):
        cost = 2.0 * (p.n_classes - 1) * np.log(p.log_rows)
        for n in cell.counts:
            if n > 0:
                cost -= 2.0 * n * np.log(n / cell.rows)
        return cost

rng = np.random.default_rng(0)
iris, species = load_iris(return_X_y=True)
x = rng.normal(size=5_000)
y = (rng.random(5_000) < 1 / (1 + np.exp(-2 * np.sin(3 * x)))).astype(int)
three = y + (rng.random(5_000) < 0.3)
towns = rng.integers(0, 40, 5_000).astype(str)
calls = {
    "iris": lambda: optimize(iris[:, 2], species),
    "20 columns": lambda: optimize_each(rng.normal(size=(150, 20)), species),
    "40 categories, 2 classes": lambda: optimize(towns[:1_000], y[:1_000]),
    "40 categories, 3 classes": lambda: optimize(towns[:1_000], three[:1_000]),
    "5,000 rows": lambda: optimize(x, y),
    "plugin, iris": lambda: optimize(iris[:, 2], species, criterion=Hannan()),
    "plugin, 200 rows": lambda: optimize(x[:200], three[:200], criterion=Hannan()),
    "plugin, categories": lambda: optimize(towns[:1_000], three[:1_000], criterion=Hannan()),
    "grid": lambda: optimize(iris[:, 2:], species),
    "joint": lambda: optimize(iris[:, 2:]),
}
found = {}
for name, call in calls.items():
    with event.install_recorder("numba:compile") as recorder:
        call()
    found[name] = sorted({record.data["dispatcher"].py_func.__qualname__ for _, record in recorder.buffer})
print(json.dumps(found))
"""


def test_small_calls_compile_nothing(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "GRIDMODL_COMPILE": "auto"}
    command = [sys.executable, "-W", "ignore", "-c", SMALL_CALLS]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    assert {name: kernels for name, kernels in json.loads(done.stdout).items() if kernels} == {}


def add_up(values, total, at, to):
    for i in range(at, to):
        total[0] += values[i]


@pytest.fixture
def kernel(monkeypatch):
    """A kernel of its own, which nobody has compiled, and all patience with it."""
    monkeypatch.setattr(tiers.patience, "share", 1.0)
    monkeypatch.delenv("GRIDMODL_COMPILE", raising=False)
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    monkeypatch.setattr("gridmodl.jit.template.kernel_exists", lambda *arguments: False)
    return Kernel(add_up)


def n_compiled(kernel):
    return sum(map(len, kernel._natives.values()))


def ran_compiled(kernel, *arguments):
    before = n_compiled(kernel)
    kernel(*arguments)
    return n_compiled(kernel) > before


def test_the_environment_chooses(kernel, monkeypatch):
    arguments = np.ones(4), np.zeros(1), 0, 4
    assert not ran_compiled(kernel, *arguments)
    monkeypatch.setenv("GRIDMODL_COMPILE", "never")
    assert not ran_compiled(kernel, np.ones(10**6), np.zeros(1), 0, 4)
    monkeypatch.setenv("GRIDMODL_COMPILE", "always")
    assert ran_compiled(kernel, *arguments)
    monkeypatch.setenv("GRIDMODL_COMPILE", "allways")
    with pytest.raises(ValueError, match=r"GRIDMODL_COMPILE.*'allways'.*did you mean 'always'"):
        Kernel(add_up)(*arguments)


def test_never_holds_for_what_is_compiled_too(kernel, monkeypatch):
    arguments = np.ones(4), np.zeros(1), 0, 4
    monkeypatch.setenv("GRIDMODL_COMPILE", "always")
    kernel(*arguments)
    run = []
    monkeypatch.setattr(Kernel, "plain", property(lambda kernel: lambda *given: run.append(given)))
    with tiers.compile_as("never"):
        kernel(*arguments)
    assert len(run) == 1
    kernel(*arguments)
    assert len(run) == 1


def test_patience_is_lost_where_there_is_much_work(kernel):
    kernel._seconds = 0.6 * kernel._compile_seconds
    assert not ran_compiled(kernel, np.ones(4), np.zeros(1), 0, 4)
    kernel._seconds = 0.6 * kernel._compile_seconds
    large = Kernel(add_up)
    large(np.ones(10**6), np.zeros(1), 0, 4)
    assert tiers.patience.share == 0.5
    assert ran_compiled(kernel, np.ones(4), np.zeros(1), 0, 4)


def test_numba_switched_off_is_never(kernel, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.setenv("GRIDMODL_COMPILE", "always")
    assert tiers.compile_mode() == "never"


def test_large_arrays_are_compiled_at_once(kernel):
    assert ran_compiled(kernel, np.ones(10**6), np.zeros(1), 0, 4)


def test_a_kernel_that_has_run_for_long_is_compiled_and_goes_on_where_it_was(kernel):
    values, total = np.arange(100.0), np.zeros(1)
    assert not ran_compiled(kernel, values, total, 0, 50)
    kernel._seconds = 1e3
    assert ran_compiled(kernel, values, total, 50, 100)
    assert total[0] == values.sum()


def test_a_step_that_will_take_long_is_compiled_after_a_turn(kernel):
    values, total, at = np.ones(20), np.zeros(1), 0
    kernel._compile_seconds = tiers.expected_seconds((values, total))
    kernel.plain  # noqa: B018  made before it is timed

    def turn(size):
        nonlocal at
        kernel(values, total, at, at + 1)
        at += 1
        return at == 20

    Clock().repeat(turn, lambda: at / 20)
    assert n_compiled(kernel) == 1
    assert total[0] == 20
    assert tiers.pace.expected == 0.0


def test_seconds_of_compiling_are_no_reason_to_compile_more(kernel, monkeypatch):
    """A step of two kernels: one that compiles at once, and a small one."""
    small, at, expected = Kernel(add_up), 0, []
    kernel._compile_seconds = -1.0

    def turn(size):
        nonlocal at
        expected.append(tiers.pace.expected)
        for one in (kernel, small):
            one(np.ones(20), np.zeros(1), at, at + 1)
        at += 1
        return at == 20

    Clock().repeat(turn, lambda: at / 20)
    assert n_compiled(kernel) == 1
    assert n_compiled(small) == 0
    assert max(expected) < 0.1


def add_twice(values, first, second):
    for i in range(len(values)):
        first[0] += values[i]
        second[0] += values[i]


def test_an_interrupt_is_heard_when_a_plain_kernel_has_ended():
    """As of compiled code: searches take their results from the arrays that kernels write into."""
    values, first, second = np.ones(1_000_000), np.zeros(1), np.zeros(1)  # a quarter of a second or more
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell ignores it
    try:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt), tiers.compile_as("never"):
            Kernel(add_twice)(values, first, second)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert first[0] == second[0] == len(values)


def test_products_of_many_rows_stay_with_the_compiler():
    criterion = gridmodl.get_criterion("modl")
    for n_rows, is_finite in ((tiers.MAX_PLAIN_ROWS, True), (tiers.MAX_PLAIN_ROWS + 1, False)):
        p = params_record(criterion, Problem("classes", n_rows, 1, np.array([n_rows])))
        assert np.isfinite(tiers.expected_seconds((0, (p, np.ones(3))))) == is_finite


def test_what_was_compiled_before_is_loaded_for_small_work_too(tmp_path):
    script = (
        "import gridmodl; from gridmodl.jit.template import bind; from gridmodl.data.line import atom_ends;"
        "gridmodl.optimize([1.0, 2.0, 3.0, 4.0], [0, 0, 1, 1]); print(any(bind(atom_ends)._natives.values()))"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    told = [
        subprocess.run(
            [sys.executable, "-c", script],
            check=True,
            capture_output=True,
            text=True,
            env=environment | {"GRIDMODL_COMPILE": mode},
        ).stdout.strip()
        for mode in ("auto", "always", "auto")
    ]
    assert told == ["False", "True", "True"]


def test_a_term_that_fails_is_named_plain_as_well():
    class Ratio(gridmodl.Criterion):
        name = "ratio"
        problems = {"classes"}

        @staticmethod
        def cell(p, cell):
            return 1.0 / float(int(cell.rows) - 2) if cell.rows != 5 else 1.0 / (5.0 - float(int(cell.rows)))

    class Late(Ratio):
        name = "late"

        @staticmethod
        def cell(p, cell):
            return 1.0 * cell.counts[int(cell.rows) - 2]

    for criterion, error in ((Ratio(), "ZeroDivisionError"), (Late(), "IndexError")):
        with pytest.raises(TermError, match=rf"'{criterion.name}' failed.*{error}"), tiers.compile_as("never"):
            gridmodl.optimize([1, 1, 2, 2, 3, 3, 4, 4], [0, 1, 0, 1, 1, 1, 0, 0], criterion=criterion)


def test_one_kernel_is_bound_once():
    assert bind(add_up) is bind(add_up)


def ends_of(values):
    return values[0], (values[-1] > 1.0, len(values))


def test_plain_and_compiled_kernels_return_the_same_types():
    kernel, values = Kernel(ends_of), np.arange(3.0)
    found = [kernel(values)]
    with tiers.compile_as("always"):
        found.append(kernel(values))
    assert found == [(0.0, (True, 3))] * 2
    assert [type(item) for item in (found[0][0], *found[0][1])] == [float, bool, int]
