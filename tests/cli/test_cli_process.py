"""Real processes: signals, pipes, a terminal, and an installation without the extra."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from unittest.mock import Mock

import duckdb
import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from terminal import on_terminal

import gridmodl
from gridmodl.cli.group import STOPPING
from gridmodl.cli.messages import describe_error
from gridmodl.cli.reading.engine import EngineLimits, connected
from gridmodl.data.remote.queries import EngineError, collected

COMMAND = [sys.executable, "-m", "gridmodl"]


def process(*words, **more):
    return subprocess.run([*COMMAND, *map(str, words)], capture_output=True, text=True, **more)


def test_modules_and_the_script_are_the_same():
    done = process("--version")
    assert done.stdout == f"gridmodl, version {gridmodl.__version__}\n"
    script = os.path.join(os.path.dirname(sys.executable), "gridmodl")
    assert subprocess.run([script, "--version"], capture_output=True, text=True).stdout == done.stdout


@pytest.mark.parametrize("absent", ["click", "duckdb", "pyarrow", "rich"])
def test_without_the_extra_one_line_says_what_to_install(absent):
    code = (
        "import importlib.util as u, sys\n"
        f"found = u.find_spec\nu.find_spec = lambda name, *more: None if name == {absent!r} else found(name, *more)\n"
        "sys.argv = ['gridmodl', 'fit']\nfrom gridmodl.cli import main\nmain()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == f'gridmodl: error: the command line needs {absent}: pip install "gridmodl[cli]"\n'


def test_help_is_quick_to_come():
    """Neither numba nor pyarrow is imported for it."""
    code = (
        "import sys\nfrom gridmodl.cli.group import gridmodl\ngridmodl(['fit', '--help'], standalone_mode=False)\n"
        "assert not {'numba', 'duckdb', 'pyarrow', 'rich', 'numpy'} & set(sys.modules), sorted(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)


def test_a_reader_that_leaves_early_is_no_error(folder, tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("age,city\n" + "30,Ulm\n" * 200_000, encoding="utf-8")
    command = [*COMMAND, "apply", str(folder / "model.json"), str(path), "--keep"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout.readline() == b"age,city,part_age,part_city\n"
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(timeout=60) == -signal.SIGPIPE


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("show MODEL >&-", "standard output is closed; send it to /dev/null to discard it"),
        ("apply MODEL - --format csv <&-", "standard input is empty: it has no columns"),
    ],
)
def test_streams_that_are_closed_are_told(folder, words, said):
    line = " ".join([*COMMAND, words]).replace("MODEL", str(folder / "model.json"))
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"gridmodl: error: {said}\n")


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        ("apply MODEL DATA --to csv -o", b"part_age,part_city\n"),
        ("fit DATA -t class -c age --quiet -o", b"{"),
        ("fit DATA -t class -c age --quiet --html", b"<!"),
    ],
)
def test_output_may_be_a_pipe(folder, words, begins):
    """As `-o >(gzip)` and `-o /dev/stdout` are."""
    paths = {"MODEL": folder / "model.json", "DATA": folder / "data.csv"}
    command = [*COMMAND, *(str(paths.get(word, word)) for word in words.split()), "/dev/stdout"]
    done = subprocess.run(command, capture_output=True)
    assert (done.returncode, done.stdout[: len(begins)]) == (0, begins)


def test_a_folder_that_cannot_be_written_to_is_named_as_the_user_did(folder):
    done = process("apply", folder / "model.json", folder / "data.csv", "-o", "/proc/out.csv")
    assert (done.returncode, done.stderr) == (1, "gridmodl: error: /proc/out.csv: No such file or directory\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_device_that_is_full_is_named(folder):
    done = process("sql", folder / "model.json", "-d", "sqlite", "-o", "/dev/full")
    assert (done.returncode, done.stderr) == (1, "gridmodl: error: /dev/full: No space left on device\n")


def test_a_disk_that_is_full_is_named_and_the_old_file_stays(folder, tmp_path):
    resource = pytest.importorskip("resource")
    kept = tmp_path / "parts.csv"
    kept.write_text("old")

    def small_files_only():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    done = process("apply", folder / "model.json", folder / "data.csv", "-o", kept, preexec_fn=small_files_only)
    assert (done.returncode, done.stderr) == (1, f"gridmodl: error: {kept}: File too large\n")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("parts.csv", "old")]


@pytest.mark.parametrize(
    ("begins", "piece", "said"),
    [
        ("", "a" * 2**20, "the first line of {} is longer than 4194304 bytes"),
        ('x,y\n1,0\n"', "a" * 2**20 + "\n", "a row of {} is longer than 4194304 bytes"),
        ("x,y\n", "1,0\n2,1\n" * 2**17, "about 26,2"),
    ],
    ids=["line", "quote", "rows"],
)
def test_a_small_file_that_unpacks_to_a_large_one_is_refused(tmp_path, begins, piece, said):
    """At once, and with threads that read ahead ended: they hung or aborted the process at its exit."""
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wt", encoding="ascii") as file:
        file.write(begins)
        for _ in range(100):
            file.write(piece)
    done = process("fit", path, "-t", "y", "--memory-limit", "100MB", timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith("gridmodl: error: ")
    assert said.format(path) in done.stderr


@pytest.fixture(scope="module")
def endless(tmp_path_factory):
    """Data that a search could think about for hours."""
    path = tmp_path_factory.mktemp("endless") / "data.parquet"
    rng = np.random.default_rng(0)
    columns = {f"x{i}": rng.normal(size=3000) for i in range(6)}
    pyarrow.parquet.write_table(pa.table(columns | {"y": (columns["x0"] * columns["x1"] > 0).astype(int)}), path)
    return path


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Columns that memory does not hold, so that DuckDB counts them."""
    path = tmp_path_factory.mktemp("wide") / "data.parquet"
    rng = np.random.default_rng(0)
    pyarrow.parquet.write_table(
        pa.table({f"x{i}": rng.integers(0, 2, 2**20 + 1, dtype=np.int8) for i in range(9)}), path
    )
    return path


def started(path, model):
    words = ["fit", path, "-t", "y", "--effort", "30", "-o", model]
    return subprocess.Popen([*COMMAND, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def state_of(running):
    """State of a process, "S" where it sleeps, and its processor seconds."""
    with open(f"/proc/{running.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return fields[0], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for_search(running, seconds=90):
    """Until it has worked for some seconds after all imports; compiling, if it must be, is part of that."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and state_of(running)[1] <= 4.0:
        time.sleep(0.1)


def wait_for_sleep(running):
    """Until it has slept for a while: a signal just before Python waits for input is heard only after more of it."""
    seen = []
    while len(seen) < 5 or set(seen[-5:]) != {("S", seen[-1][1])}:
        seen.append(state_of(running))
        time.sleep(0.1)


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
def test_an_interrupt_leaves_the_best_result(endless, tmp_path):
    gridmodl.optimize({"a": [1, 2, 3, 4], "b": [1, 2, 1, 2]}, [0, 0, 1, 1])  # compiled before, if need be
    model = tmp_path / "m.json"
    with started(endless, model) as running:
        wait_for_search(running)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert f"gridmodl: interrupted: this is the best result so far; it is in {model}" in err
    assert "Traceback" not in err
    assert "stopped: interrupted" in out
    assert gridmodl.Model.from_json(model).stopped == "interrupted"
    assert [path.name for path in tmp_path.iterdir()] == ["m.json"]


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
def test_an_interrupt_before_anything_is_found(tmp_path):
    """Standard input that never ends."""
    with subprocess.Popen(
        [*COMMAND, "fit", "-", "--format", "csv", "-t", "y", "-o", str(tmp_path / "m.json")],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        running.stdin.write("x,y\n" + "1,0\n" * 2**16)  # more than a pipe holds: it returns when they are read
        wait_for_sleep(running)
        running.send_signal(signal.SIGINT)
        err = running.stderr.read()
        running.wait(timeout=60)
    assert running.returncode == 130
    assert err == STOPPING.decode() + "gridmodl: interrupted\n"
    assert list(tmp_path.iterdir()) == []


def test_a_terminal_shows_tables_and_progress(endless):
    code, shown, _ = on_terminal([*COMMAND, "fit", endless, "-t", "y", "--effort", "30", "--time-limit", "2"])
    assert code == 0, shown
    assert "round" in shown.lower() or "search" in shown.lower()
    assert "┃" in shown
    assert "\x1b[" in shown
    done = process("fit", endless, "-t", "y", "--effort", "30", "--time-limit", "1", "--json")
    assert json.loads(done.stdout)["stopped"] == "time limit"
    assert done.stderr.startswith("gridmodl: the time limit stopped the search")


@pytest.mark.parametrize(("words", "environment"), [([], {}), ([], {"NO_COLOR": "1"}), (["--no-color"], {})])
def test_colours_and_none(folder, words, environment):
    code, shown, _ = on_terminal([*COMMAND, "show", folder / "model.json", *words], environment)
    assert code == 0, shown
    assert "┃" in shown
    assert bool(re.search(r"\x1b\[[0-9;]*3[0-9]", shown)) == (not words and not environment)


def test_what_duckdb_makes_of_ctrl_c_is_an_interrupt():
    """It was an internal error, or that of a single column."""
    query = SimpleNamespace(collect=Mock(side_effect=RuntimeError("Query interrupted")))  # what DuckDB raises
    query.implementation, query.to_native = nw.Implementation.DUCKDB, lambda: None
    with pytest.raises(KeyboardInterrupt), connected(EngineLimits()):
        query.collect()
    with pytest.raises(KeyboardInterrupt):
        collected(query, "x")
    query.collect.side_effect = RuntimeError("another")
    with pytest.raises(RuntimeError, match="another"), connected(EngineLimits()):
        query.collect()
    with pytest.raises(EngineError, match="another") as failed:
        collected(query, "x")
    assert describe_error(failed.value).startswith("the engine of the lazy frame failed")  # no internal error
    query.collect.side_effect = duckdb.InterruptException("INTERRUPT Error: Interrupted!")  # by connection.interrupt()
    with pytest.raises(KeyboardInterrupt), connected(EngineLimits()):
        query.collect()
    with pytest.raises(KeyboardInterrupt):
        collected(query, "x")
    with ThreadPoolExecutor(1) as pool, pytest.raises(EngineError, match="counts column 'x' was interrupted"):
        pool.submit(collected, query, "x").result()


INTERRUPTED = """import os, signal, sys, threading
import narwhals as nw
from gridmodl.cli.reading.engine import EngineLimits, connected
from gridmodl.data.remote.queries import collected

try:
    with connected(EngineLimits()) as connection:
        collected(nw.from_native(connection.sql("SELECT 1 AS rows")).lazy(), "x")  # imports all that the next one does
        threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
        collected(nw.from_native(connection.sql(sys.argv[1])).lazy(), "x")
except KeyboardInterrupt:
    print("interrupted", signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


@pytest.mark.parametrize(
    "query",
    [
        "SELECT sum(hash(range)) AS rows FROM range(1000000000000)",
        "SELECT sum(a.range * b.range) AS rows FROM range(1000000) a, range(100000000000) b",
    ],
)
def test_ctrl_c_cancels_a_query_of_duckdb(query):
    code = [sys.executable, "-c", INTERRUPTED, query]
    found = subprocess.run(code, capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout == "interrupted True\n"


def test_a_second_interrupt_ends_at_once_and_leaves_nothing_half_written(tmp_path):
    code = (
        "import os, signal, sys\nfrom gridmodl.cli.group import handle_signals\n"
        "from gridmodl.writing import replaced\nhandle_signals()\n"
        "with replaced(sys.argv[1]) as beside:\n"
        "    beside.write_text('half')\n"
        "    try:\n        os.kill(os.getpid(), signal.SIGINT)\n"
        "    except KeyboardInterrupt:\n        os.kill(os.getpid(), signal.SIGINT)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "m.json")], capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stderr == STOPPING.decode() + "\ngridmodl: interrupted again; nothing more was written\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.parametrize(
    "words",
    [
        "fit - --format csv -t y -o OUT",  # what is read is kept in a folder
        "fit PIPE --format csv -t y -o OUT",
        "fit WIDE -t x0 --each --memory-limit 128MB -o OUT",  # DuckDB counts the columns, and has a folder
        "average - --format csv -t y -o OUT",
        "scorecard - --format csv -t y -o OUT",
        "demo",
    ],
)
def test_what_ends_a_process_leaves_no_file(wide, tmp_path, words, number):
    """As schedulers, services and closed terminals do."""
    made, pipe = tmp_path / "tmp", tmp_path / "pipe"
    made.mkdir()
    os.mkfifo(pipe)
    paths = {"PIPE": pipe, "WIDE": wide, "OUT": tmp_path / "out"}
    with subprocess.Popen(
        [*COMMAND, *(str(paths.get(word, word)) for word in words.split())],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"TMPDIR": str(made)},
    ) as running:  # fmt: skip
        inlet = os.open(pipe, os.O_RDWR)  # an end that stays open
        running.stdin.write("age,income,city,y\n" + "1,2,Ulm,0\n")
        running.stdin.flush()
        os.write(inlet, b"x,y\n1,0\n")
        end = time.monotonic() + 60
        while time.monotonic() < end and not list(made.glob("gridmodl-*")):  # tempfile tries the folder by a file first
            time.sleep(0.01)
        n_folders = len(list(made.iterdir()))
        running.send_signal(number)
        running.wait(timeout=10)
        os.close(inlet)
        assert n_folders > 0
        assert running.stderr.read() == f"\ngridmodl: ended by {number.name}; nothing more was written\n"
    assert running.returncode == 128 + number
    assert list(made.iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"tmp", "pipe"}


def test_nohup_is_obeyed(folder, tmp_path):
    """What is told to ignore SIGHUP goes on."""
    command = ["nohup", *COMMAND, "fit", "-", "--format", "csv", "-t", "y", "-o", str(tmp_path / "m.json")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as running:
        running.stdin.write(b"x,y\n" + b"1,0\n" * 2**16)
        running.stdin.flush()
        running.send_signal(signal.SIGHUP)
        running.stdin.close()
        assert running.wait(timeout=60) == 0
    assert gridmodl.Model.from_json(tmp_path / "m.json").n_rows == 2**16


STUCK = """import os, signal, time
from gridmodl.cli.group import handle_signals

handle_signals()
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)
except KeyboardInterrupt:
    signal.signal(signal.SIGINT, lambda *_: None)  # as if the main thread never came to run the handler
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)
"""


def test_a_second_interrupt_ends_the_process_while_the_main_thread_is_busy():
    """An engine may keep it for long; handlers of Python wait until it comes back."""
    done = subprocess.run([sys.executable, "-c", STUCK], capture_output=True, text=True, timeout=60)
    assert done.returncode == 130
    assert done.stderr == STOPPING.decode() + "\ngridmodl: interrupted again; nothing more was written\n"


UNHEARD = """import os, signal, time
from gridmodl.cli.group import handle_signals

signal.signal(signal.SIGPIPE, signal.SIG_DFL)
handle_signals()
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)
except KeyboardInterrupt:
    print("interrupted", signal.getsignal(signal.SIGPIPE) is signal.SIG_DFL)
"""


def test_an_interrupt_of_a_pipe_whose_reader_it_ended_keeps_the_result():
    """Ctrl-C ends all of `gridmodl fit ... 2>&1 | tee log`; the result is to be written all the same."""
    outlet, inlet = os.pipe()
    os.close(outlet)
    done = subprocess.run([sys.executable, "-c", UNHEARD], stdout=subprocess.PIPE, stderr=inlet, text=True, timeout=60)
    os.close(inlet)
    assert (done.returncode, done.stdout) == (0, "interrupted True\n")


def test_a_pattern_without_quotes_is_told(tmp_path):
    for name in ("a.csv", "b.csv", "c.csv"):
        (tmp_path / name).write_text("x,y\n1,0\n2,1\n")
    found = subprocess.run(
        [*COMMAND, "fit", "a.csv", "b.csv", "c.csv", "-t", "y"], capture_output=True, text=True, cwd=tmp_path
    )
    assert found.returncode == 2
    assert "given as a pattern in quotes, such as 'folder/*.parquet'" in " ".join(found.stderr.split())
