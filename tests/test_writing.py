"""Every kind of file is written whole or not at all: on a full disk, and where the process is killed half way.

What commands write is in `cli/test_cli_full_disk.py`.
"""

from __future__ import annotations

import ast
import contextlib
import errno
import functools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gridmodl
from gridmodl.writing import replace_file, replaced


@functools.cache
def results():
    """A result of every class that writes files, by the name of the class."""
    rng = np.random.default_rng(0)
    x = {"age": rng.normal(size=300), "town": rng.choice(["Ulm", "Bonn", "Rome"], 300)}
    y = (x["age"] + (x["town"] == "Ulm") + rng.normal(size=300) > 0).astype(int)
    rows = np.column_stack([x["age"], rng.normal(size=300)])
    models, averages = gridmodl.optimize_each(x, y), gridmodl.average_each(rows, y)
    card, classifier = gridmodl.GridScorecard().fit(rows, y), gridmodl.GridLogistic().fit(rows, y)
    return {
        "Model": models["age"],
        "Models": models,
        "Average": averages["x0"],
        "Averages": averages,
        "DensityModel": gridmodl.optimize_density(x["age"]),
        "Comparison": models.compare(x, y),
        "Counts": gridmodl.count(x | {"y": y}, "y"),
        "GridScorecard": card,
        "Scorecard": card.scorecard_,
        "EvidenceClassifierBase": classifier,
        "WeightedEvidence": classifier.evidence_,
    }


def writers():
    """Classes and methods that write a file, from the syntax trees: ``to_...(path)``."""
    for file in Path(gridmodl.__file__).parent.rglob("*.py"):
        for cls in ast.walk(ast.parse(file.read_text("utf-8"))):
            for method in cls.body if isinstance(cls, ast.ClassDef) else ():
                is_writer = isinstance(method, ast.FunctionDef) and method.name.startswith("to_")
                if is_writer and any(argument.arg == "path" for argument in method.args.args):
                    yield f"{cls.name}.{method.name}"


WRITERS = sorted(writers())


def method(name):
    cls, verb = name.split(".")
    return getattr(results()[cls], verb)


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_keeps_the_old_file(full_disk, name):
    write = method(name)
    with pytest.raises(OSError, match="No space left on device") as failed:
        write(full_disk / "out")
    assert (failed.value.errno, failed.value.filename) == (errno.ENOSPC, str(full_disk / "out"))


# The system ends a process that writes beyond its limit for files, in the middle of the write. No code of the process
# runs then, as after kill -9.
KILLED = """import os, resource, signal, sys
from pathlib import Path
from test_writing import WRITERS, method

for name in WRITERS:
    path, write = Path(sys.argv[1], "out"), method(name)
    write(path)
    half = path.stat().st_size // 2
    path.write_text("old")
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (half, half))
        write(path)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print(name, os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXFSZ, path.read_bytes()[:3])
"""
# Processes that write one of two files again and again, until they are killed.
ENDLESS = """import itertools, os, signal, sys, time
import gridmodl
from test_writing import results

both = [results()["Counts"], results()["Counts"].only("age")]
both[0].to_parquet(sys.argv[1])
for i in range(30):
    child = os.fork()
    if child == 0:
        for counts in itertools.cycle(both):
            counts.to_parquet(sys.argv[1])
    time.sleep(0.03 + 0.0007 * i)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print(list(gridmodl.Counts.from_parquet(sys.argv[1])))
"""


def started(code, *words):
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-W", "ignore", "-c", code, *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": path})


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs limits of POSIX")
def test_a_process_that_ends_half_way_keeps_the_old_file(tmp_path):
    with started(KILLED, tmp_path) as running:
        lines = running.communicate(timeout=300)[0].splitlines()
    assert lines == [f"{name} True b'old'" for name in WRITERS]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes of POSIX")
def test_counts_survive_kill_9(tmp_path):
    with started(ENDLESS, tmp_path / "counts.parquet") as running:
        lines = running.communicate(timeout=300)[0].splitlines()
    assert (len(lines), set(lines) - {"['age']", "['age', 'town']"}) == (30, set())


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    replace_file(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_block_that_fails_leaves_nothing(tmp_path):
    with contextlib.suppress(ZeroDivisionError), replaced(tmp_path / "out") as beside:
        beside.write_text("half")
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
