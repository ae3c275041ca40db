"""Kernels of the tests are cached apart from the user's own, in a folder that CI may empty; plugins need no install.

Tests of criteria that are marked `tiers` hold for kernels as plain Python and for compiled ones. Compiling every
criterion takes minutes, so `make test` runs these tests plain for all, and compiled for one criterion of each family;
`make slow` compiles the others.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import types
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent

os.environ.setdefault("NUMBA_CACHE_DIR", str(PROJECT / ".numba_cache"))
os.environ["MPLBACKEND"] = "Agg"  # pictures are drawn into memory
os.environ["GRIDMODL_QUIET"] = "1"  # what a test reads on the error stream does not depend on what was compiled before
# The formulas are tested through a plugin's terms too, from its folder: what it prices is no part of gridmodl.
sys.path.append(str(PROJECT / "plugins" / "gridmodl-khiops11"))

# A background job of a shell ignores Ctrl-C, and so would the processes that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# What nohup starts ignores SIGHUP; pytest goes on doing so, but processes that it starts do not inherit a handler.
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda number, frame: None)

# A sum with a floor of its own, one that is concave, one that is no sum, and a plugin's.
COMPILED = {"modl", "gini", "g2", "khiops11", "Khiops11()"}
LONG = {"docs", "jit", "testing"}  # folders whose files take minutes


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    is_of_criteria = not {"name", "criterion"}.isdisjoint(metafunc.fixturenames)
    if is_of_criteria and metafunc.definition.get_closest_marker("tiers") is not None:
        if "tier" not in metafunc.fixturenames:
            metafunc.fixturenames.append("tier")
        metafunc.parametrize("tier", ["never", "always"], ids=["plain", "compiled"])


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):  # several processes: what takes long begins first, so that all end together
        items.sort(key=lambda item: item.path.parent.name not in LONG)
    for item in items:
        if item.get_closest_marker("xdist_group") is None:  # a file runs in one process, so its fixtures are made once
            item.add_marker(pytest.mark.xdist_group(item.path.as_posix()))
        chosen = getattr(item, "callspec", None)
        if chosen is not None and chosen.params.get("tier") == "always":
            names = {str(value) for key, value in chosen.params.items() if key in ("name", "criterion")}
            if not names & COMPILED:
                item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def _no_figure_stays() -> Iterator[None]:
    """Closes the figures of a test: matplotlib warns of more than 20, which those of a process may add up to."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")


@pytest.fixture(scope="session", autouse=True)
def _stopped_servers() -> Iterator[None]:
    """Stops the databases that tests have started."""
    yield
    servers = sys.modules.get("report.servers")
    if servers is not None:
        servers.stop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item):
    chosen = getattr(item, "callspec", None)
    if chosen is None or "tier" not in chosen.params:
        return (yield)
    from gridmodl.jit.tiers import compile_as

    with compile_as(chosen.params["tier"]):
        return (yield)


@pytest.fixture
def _processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs clocks of searches on processor time, which other processes do not change."""
    monkeypatch.setattr("gridmodl.clock.time", types.SimpleNamespace(perf_counter=time.process_time))


@pytest.fixture(scope="session")
def _small_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file system of its own, in memory."""
    folder = tmp_path_factory.mktemp("disk")
    mount = shutil.which("mount")
    if mount is None:
        pytest.skip("needs the command mount, for a disk that is full")
    done = subprocess.run([mount, "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"needs the right to mount a disk, which becomes full: {done.stderr.strip()}")
    yield folder
    subprocess.run([shutil.which("umount") or "umount", "--lazy", folder], check=True)


@pytest.fixture
def full_disk(_small_disk: Path) -> Iterator[Path]:
    """A folder on a disk without room; what is in it when the test begins is there when it ends."""
    before = dict.fromkeys(("out", "out.csv", "out.parquet", "customers.csv"), b"old")
    for name, content in before.items():
        (_small_disk / name).write_bytes(content)
    filler = _small_disk / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    yield _small_disk
    filler.unlink()
    assert {path.name: path.read_bytes() for path in _small_disk.iterdir()} == before


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory):
    """One local session of Spark for all tests, which are of the group "spark" so that one worker runs them."""
    pytest.importorskip("pyspark", reason='needs pip install "gridmodl[spark]"')
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("needs Java, such as the package openjdk-17-jre-headless")
    folder = tmp_path_factory.mktemp("spark")
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",  # plans of small queries take longer than the queries
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it says of the versions of other libraries
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName("gridmodl")
        for name, value in options.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
