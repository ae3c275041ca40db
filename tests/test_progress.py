"""The progress bar and the word on compiling: on terminals, in logs, in notebooks and among threads."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from terminal import on_terminal

from gridmodl import Search, clock, cost_by_parts, optimize, optimize_density, optimize_each, progress
from gridmodl.clock import Clock, Progress, begin_compiling, end_compiling
from gridmodl.progress import NOTICE, bar, line_of, showing


def sample(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return x, (rng.random(n) < 1.0 / (1.0 + np.exp(-2.0 * np.sin(3.0 * x)))).astype(int)


class Work:
    def __init__(self, step="work", share=None):
        self.step, self.share = step, share


class Terminal(io.StringIO):
    """An error stream that says it is a terminal."""

    def isatty(self):
        return True

    def fileno(self):
        raise OSError("none")


def stderr_is(stream, monkeypatch):
    """For the module alone: pytest sets that of `sys` anew after fixtures."""
    monkeypatch.setattr(progress, "sys", types.SimpleNamespace(stderr=stream, modules=sys.modules))
    return stream


@pytest.fixture
def terminal(monkeypatch):
    stream = stderr_is(Terminal(), monkeypatch)
    monkeypatch.setattr(progress, "SHOWN_AFTER", 0.0)
    monkeypatch.setattr(progress._Terminal, "tick", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def wait_until(happened, seconds=60.0):
    """Wait until `happened()`; the limit is long, as other processes may have the processor."""
    end = time.monotonic() + seconds
    while not happened() and time.monotonic() < end:
        time.sleep(0.01)
    assert happened()


def wait_for(stream, text):
    wait_until(lambda: text in stream.getvalue())


class HandSet:
    """A clock in place of the module `time`, which stands still between calls of `pass_by`."""

    def __init__(self):
        self.seconds = 1000.0

    def perf_counter(self):
        return self.seconds

    def pass_by(self, seconds):
        self.seconds += seconds


def seen(text):
    """The lines that a terminal shows one after the other."""
    return [line.rstrip() for line in re.split(r"[\r\n]", text) if line.strip()]


def shares_by_step(lines):
    found = [re.fullmatch(r"(.*?) \[[#-]*\] +(\d+)% .*", line) for line in lines]
    return [(match[1], int(match[2])) for match in found if match]


# What a line looks like.


def test_lines_that_fill_and_pulse():
    assert line_of("merge", 0.5, 3.2, 79) == f"merge [{'#' * 15}{'-' * 15}]  50% 3 s"
    assert line_of("merge", 0.999, 3.2, 79).count("100%") == 0
    assert line_of("merge", 1.0, 125.0, 79) == f"merge [{'#' * 30}] 100% 2 min 05 s"
    pulses = [line_of("proof", None, at / 10, 79) for at in range(48)]
    assert len({line.partition("]")[0] for line in pulses}) == 25  # there and back
    assert all(line.count("#") == 6 and line.count("-") == 24 and "%" not in line for line in pulses)


@pytest.mark.parametrize(
    "step", ["merge", "round 12, cost 123456.78, level 0.1234", "reading 数据数据.csv: 1,000 rows"]
)
@pytest.mark.parametrize("share", [None, 0.0, 0.3, 1.0])
def test_no_line_is_wider_than_the_terminal(step, share):
    for width in range(1, 100):
        line = line_of(step, share, 17.0, width)
        assert progress._width(line) <= width
        assert line.endswith("17 s") or width < 10


# Terminals.


def test_a_bar_on_a_terminal_clears_itself(terminal):
    work = Work("work", 0.25)
    with bar(work):
        wait_for(terminal, "work [#######")
        work.share = None
        wait_for(terminal, "work [---")
        begin_compiling()
        wait_for(terminal, "compiling [")
        end_compiling()
    shown = terminal.getvalue()
    assert "\n" not in shown
    assert "\x1b" not in shown  # no colours, with NO_COLOR and without
    last, rest = shown.split("\r")[-2:]
    assert (last.strip(), rest) == ("", "")
    time.sleep(0.05)
    assert terminal.getvalue() == shown


def test_a_message_goes_above_the_bar(terminal):
    with bar(Work("work", 0.5)):
        wait_for(terminal, "work [")
        progress._active_bar.display.tick = 0.5
        n_lines = terminal.getvalue().count("work [")
        wait_until(lambda: terminal.getvalue().count("work [") >= n_lines + 2)  # the next line is half a second away
        progress.clear_bar()
        terminal.write("message\n")
        wait_for(terminal, "  \rmessage\n\rwork [")
    progress.clear_bar()  # there is none


def test_no_bar_for_quick_work(terminal, monkeypatch):
    monkeypatch.setattr(progress, "SHOWN_AFTER", 30.0)
    with bar(Work()):
        pass
    assert terminal.getvalue() == ""


def test_one_bar_at_a_time(terminal):
    with bar(Work("outer")):
        wait_for(terminal, "outer [")
        with ThreadPoolExecutor(1) as pool:

            def inner():
                with bar(Work("inner")):
                    time.sleep(0.1)

            pool.submit(inner).result()
    assert "inner" not in terminal.getvalue()
    with bar(Work("next")):
        wait_for(terminal, "next [")


def test_a_stream_that_is_closed_ends_the_bar_and_not_the_work(terminal):
    with bar(Work()):
        wait_for(terminal, "work [")
        terminal.close()
        time.sleep(0.05)


@pytest.mark.parametrize("failure", [ZeroDivisionError, KeyboardInterrupt])
def test_a_bar_goes_where_the_work_fails(terminal, failure):
    def fail():
        with bar(Work()):
            wait_for(terminal, "work [")
            raise failure

    with pytest.raises(failure):
        fail()
    assert terminal.getvalue().endswith("\r")
    assert "gridmodl-progress" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_bar_beside_threads(terminal, n_jobs):
    x, y = sample()
    data = {f"x{i}": np.roll(x, i) for i in range(6)}
    expected = {name: model.cost for name, model in optimize_each(data, y).items()}
    found = optimize_each(data, y, n_jobs=n_jobs, progress=True)
    assert {name: model.cost for name, model in found.items()} == expected
    shares = [share for _, share in shares_by_step(seen(terminal.getvalue()))]
    assert shares == sorted(shares)


def test_two_threads_of_the_user_with_bars(terminal):
    x, y = sample()
    with ThreadPoolExecutor(2) as pool:
        costs = list(pool.map(lambda _: optimize(x, y, progress=True).cost, range(4)))
    assert set(costs) == {optimize(x, y).cost}
    assert not progress._screen.locked()
    assert progress.notice.n_hiding == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_a_terminal_sees_compiling_and_shares_that_never_fall():
    code = """
import numba, numpy as np
import gridmodl
from gridmodl import progress
from gridmodl.clock import Clock
from gridmodl.jit.compiler import compiling
progress.SHOWN_AFTER = 0.0
with progress.showing(True, Clock()), compiling():
    numba.njit(lambda a: np.median(np.sort(a)[np.argsort(a)]))(np.arange(3.0))
rng = np.random.default_rng(0)
x = rng.normal(size=100_000)
y = (rng.random(100_000) < 1 / (1 + np.exp(-2 * np.sin(3 * x)))).astype(int)
print(gridmodl.optimize(x, y, search="exact", progress=True).n_rows)
"""
    columns = 36
    words = [sys.executable, "-c", code]
    status, shown, output = on_terminal(words, {"NO_COLOR": "1"}, columns, subprocess.PIPE, 600.0)
    assert (status, output) == (0, "100000\n"), shown
    lines = seen(shown)
    assert sum(line.startswith("compiling [") for line in lines) > 2
    assert max(map(len, lines)) < columns
    assert "\n" not in shown
    assert "\x1b" not in shown
    assert shown.endswith("\r")
    at = {}
    for step, share in shares_by_step(lines):
        assert share >= at.get(step, 0), lines
        at[step] = share


# Logs.


@pytest.mark.parametrize("environment", [{}, {"TERM": "dumb"}])
def test_log_files_stay_quiet(monkeypatch, environment):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    stream = stderr_is(Terminal() if environment else io.StringIO(), monkeypatch)
    monkeypatch.setattr(progress, "SHOWN_AFTER", 0.0)
    monkeypatch.setattr(progress._Terminal, "tick", 0.01)
    optimize(*sample(20000), search="exact", progress=True)
    with bar(Work()):
        time.sleep(0.05)
    assert stream.getvalue() == ""


def test_no_error_stream_at_all(monkeypatch):
    stderr_is(None, monkeypatch)
    monkeypatch.setattr(progress, "SHOWN_AFTER", 0.0)
    with bar(Work()):
        time.sleep(0.02)


def test_worker_processes_have_no_bar(terminal, monkeypatch):
    monkeypatch.setattr(progress, "parent_process", lambda: "a process")
    with bar(Work()):
        time.sleep(0.05)
    assert terminal.getvalue() == ""


# Notebooks.


class Handle:
    def __init__(self, shown):
        self.shown = shown

    def update(self, bundle, raw):
        assert raw
        self.shown.append(bundle["text/plain"])


@pytest.fixture
def notebook(monkeypatch):
    """As much of IPython as a bar needs; what it is given to display."""
    shown = []

    def display(bundle, raw, display_id):
        assert raw
        assert display_id is True
        assert not shown  # then updated
        shown.append(bundle["text/plain"])
        return Handle(shown)

    ipython, displays = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    displays.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", displays)
    monkeypatch.setattr(progress, "SHOWN_AFTER", 0.0)
    monkeypatch.setattr(progress._Notebook, "tick", 0.01)
    stderr_is(io.StringIO(), monkeypatch)
    return shown


def test_a_bar_in_a_notebook(notebook):
    work = Work("work", 0.5)
    with bar(work):
        wait_until(lambda: notebook)
        work.share = None
        wait_until(lambda: "%" not in notebook[-1])
    assert notebook[0].startswith("work [###############---")
    assert notebook[-2].startswith("work [")
    assert "%" not in notebook[-2]
    assert notebook[-1] == ""
    assert progress.sys.stderr.getvalue() == ""


def test_ipython_in_a_terminal_is_a_terminal(notebook, terminal):
    sys.modules["IPython"].get_ipython = lambda: types.SimpleNamespace()
    with bar(Work()):
        wait_for(terminal, "work [")
    assert notebook == []


# Shares of steps.


def shares(call):
    """What a callable is told, by step: a step that comes again counts as a new one."""
    told = []
    call(told.append)
    found = []
    for record in told:
        if record.step != "compiling":
            name = "rounds" if record.step.startswith("round ") else record.step
            if not found or found[-1][0] != name:
                found.append((name, []))
            found[-1][1].append(record.share)
    return found


def table(n=400):
    rng = np.random.default_rng(1)
    data = {"a": rng.normal(size=n), "b": rng.choice(list("uvwxyz"), n), "c": rng.normal(size=n)}
    return data, ((data["a"] > 0) ^ (data["b"] > "w")).astype(int)


VALUES, CLASSES = np.arange(900), np.arange(900) % 3
CALLS = {
    "exact": lambda tell: optimize(*sample(), search="exact", progress=tell),
    "layers": lambda tell: optimize(*sample(200), search="exact", criterion="x2", progress=tell),
    "min_rows": lambda tell: optimize(*sample(), min_rows=50, progress=tell),
    "monotone": lambda tell: optimize(*sample(), monotone="auto", progress=tell),
    "groups": lambda tell: optimize(VALUES % 9, CLASSES, kinds={"x0": "categorical"}, progress=tell),
    "many groups": lambda tell: optimize(VALUES % 60, CLASSES, kinds={"x0": "categorical"}, progress=tell),
    "curve": lambda tell: cost_by_parts(*sample(300), progress=tell),
    "density": lambda tell: optimize_density(sample(500)[0], progress=tell),
    "grid": lambda tell: optimize(*table(), search=Search(effort=2), progress=tell),
    "joint": lambda tell: optimize(table()[0], search=Search(effort=1), progress=tell),
}


@pytest.mark.parametrize("name", list(CALLS))
def test_shares_never_fall_and_no_end_is_followed_by_less(name, monkeypatch):
    monkeypatch.setattr(clock, "TURN_SECONDS", 0.001)
    found = shares(CALLS[name])
    assert found
    for step, told in found:
        known = [share for share in told if share is not None]
        assert known == sorted(known), (step, told)
        assert all(0.0 <= share <= 1.0 for share in known)
        if known:
            first = told.index(known[0])
            assert None not in told[first:], (step, told)  # what is known stays known
    named = [step for step, told in found if told != [None] * len(told)]
    assert len(named) == len(set(named))  # a step that comes again pulses


def test_a_share_that_falls_is_believed_no_more():
    told = []
    one = Clock(report=told.append)
    one.step = "proof"
    for share in (None, 0.2, None, 1.0, 0.29, 0.5):
        one.tell(share)
    assert [record.share for record in told] == [None, 0.2, 0.2, 1.0, None, None]
    one.step = "other"
    one.tell(0.1)
    one.rename("other, better")
    one.tell(0.4 - 1e-12)
    one.step = "proof"
    one.tell(0.3)
    assert [record[:2] for record in told[6:]] == [
        ("other", 0.1), ("other, better", 0.4 - 1e-12), ("proof", None),
    ]  # fmt: skip


# Compiling.


def test_a_callable_is_told_of_compiling_in_its_own_thread():
    told, one = [], Clock()
    one.step = "merge"
    with showing(told.append, one):
        begin_compiling()
        end_compiling()
        thread = threading.Thread(target=lambda: (begin_compiling(), end_compiling()))
        thread.start()
        thread.join()
    begin_compiling()
    end_compiling()
    assert told == [Progress("compiling", None, told[0].elapsed)]
    assert clock._clocks_by_thread == {}


def test_a_callable_is_told_of_what_other_threads_compile():
    told, one = [], Clock()

    def work():
        begin_compiling()
        wait_until(lambda: told)
        end_compiling()
        return threading.current_thread()

    with ThreadPoolExecutor(1) as pool, showing(lambda record: told.append(threading.current_thread()), one):
        (worker,) = [future.result() for future in one.as_done([pool.submit(work)])]
    assert told == [threading.current_thread()]
    assert worker is not threading.current_thread()


def test_compiling_under_way_does_not_count(monkeypatch):
    hands = HandSet()
    monkeypatch.setattr(clock, "time", hands)
    begin_compiling()
    one = Clock(time_limit=0.1)
    hands.pass_by(0.15)
    assert not one.is_late
    assert one.elapsed == pytest.approx(0.0, abs=1e-9)
    end_compiling()
    assert not one.is_late
    hands.pass_by(0.09)
    assert not one.is_late
    hands.pass_by(0.02)
    assert one.is_late


@pytest.fixture
def notice(monkeypatch):
    """A notice that was not said yet, and where it is said."""
    monkeypatch.setenv("GRIDMODL_QUIET", "")
    monkeypatch.setattr(progress, "NOTICE_AFTER", 0.1)
    stderr_is(io.StringIO(), monkeypatch)
    return progress._Notice()


def compile_kernel():
    """Compile a function for half a second or more."""
    import numba

    from gridmodl.jit.compiler import compiling

    def kernel(a):
        return np.median(np.sort(a))

    with compiling():
        numba.njit(kernel)(np.arange(3.0))


class Noting(io.StringIO):
    """Notes whether a kernel compiles when it is written to."""

    def write(self, text):
        return super().write(text.replace("\n", f" {clock.is_compiling()}\n"))


def test_a_long_compile_is_told_once_and_while_it_lasts(notice, monkeypatch):
    for module in ("progress", "jit.compiler"):
        monkeypatch.setattr(f"gridmodl.{module}.notice", notice)
    stream = stderr_is(Noting(), monkeypatch)
    told = []
    for given in (False, told.append):
        with showing(given, Clock()):
            compile_kernel()
        assert stream.getvalue() == ""
    assert [record[:2] for record in told] == [("compiling", None)]
    for _ in range(2):
        with showing(None, Clock()):
            compile_kernel()
    assert stream.getvalue() == NOTICE + " True\n"


@pytest.mark.parametrize("reason", ["none", "False", "callable", "variable", "worker"])
def test_nobody_is_told_of_compiling_who_asked_not_to_be(notice, monkeypatch, reason):
    monkeypatch.setattr(progress, "notice", notice)
    if reason == "variable":
        monkeypatch.setenv("GRIDMODL_QUIET", "1")
    if reason == "worker":
        monkeypatch.setattr(progress, "parent_process", lambda: "a process")
    with showing({"False": False, "callable": print}.get(reason), Clock()):
        notice.compile_began()
        if reason == "none":
            wait_for(progress.sys.stderr, NOTICE)
        else:
            time.sleep(0.3)
        notice.compile_ended()
    assert progress.sys.stderr.getvalue() == (NOTICE + "\n" if reason == "none" else "")
    assert notice.is_said == (reason == "none")


@pytest.mark.parametrize(("pause", "is_one_wait"), [(9.0, True), (11.0, False)])
def test_short_compiles_that_follow_each_other_are_one_wait(notice, monkeypatch, pause, is_one_wait):
    hands = HandSet()
    monkeypatch.setattr(progress, "time", hands)
    monkeypatch.setattr(progress, "NOTICE_AFTER", 100.0)
    monkeypatch.setattr(progress, "MAX_PAUSE", 10.0)
    for _ in range(3):
        notice.compile_began()
        hands.pass_by(40.0)
        notice.compile_ended()
        hands.pass_by(pause)
    assert progress.sys.stderr.getvalue() == ""
    notice.compile_began()  # the fourth: 120 s were waited already, or none
    if is_one_wait:
        wait_for(progress.sys.stderr, NOTICE)
    else:
        time.sleep(0.1)
    notice.compile_ended()
    assert progress.sys.stderr.getvalue() == (NOTICE + "\n" if is_one_wait else "")


def test_functions_of_the_user_that_compile_are_no_search(notice, monkeypatch):
    import numba

    monkeypatch.setattr("gridmodl.jit.compiler.notice", notice)
    monkeypatch.setattr(progress, "NOTICE_AFTER", 0.0)
    assert numba.njit(lambda a: a + 1)(1) == 2
    time.sleep(0.02)
    assert progress.sys.stderr.getvalue() == ""


def test_worker_processes_of_joblib_are_workers(tmp_path):
    joblib = pytest.importorskip("joblib")
    from multiprocessing import parent_process

    assert parent_process() is None
    (found,) = joblib.Parallel(n_jobs=2)([joblib.delayed(_is_worker)()])
    assert found


def _is_worker():
    from multiprocessing import parent_process

    return parent_process() is not None
