"""What pip builds: a wheel with the library of kernels, a pure one where there can be none, and no library elsewhere.

Projects are copies in which the builder of the library is a stand-in of two lines, as the real one takes minutes.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
NAMES = ["gridmodl/jit/kernels.json", "gridmodl/jit/kernels.so"]
LIBRARY_WHEEL, PURE_WHEEL = "gridmodl-0.1.0-py3-none-linux_x86_64.whl", "gridmodl-0.1.0-py3-none-any.whl"
STAND_IN = """
import pathlib, sys
assert sys.argv[1] == "--out"
for name in ("kernels.so", "kernels.json"):
    (pathlib.Path(sys.argv[2]) / name).write_text("new")
"""
CALL = "import sys, json; sys.path.insert(0, '.'); import hatch_build; print(json.dumps(hatch_build.{}))"

pytest.importorskip("hatchling", reason="needs hatchling, which builds wheels")
pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="the library is built on Linux for x86-64 only"
)


@pytest.fixture(scope="module")
def backend():
    spec = importlib.util.spec_from_file_location("hatch_build", PROJECT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project with a stand-in for the builder, and an old library that `make library` has left there."""
    folder = tmp_path_factory.mktemp("project") / "gridmodl"
    shutil.copytree(
        PROJECT / "gridmodl", folder / "gridmodl", ignore=shutil.ignore_patterns("__pycache__", "kernels.*")
    )
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(PROJECT / name, folder / name)
    (folder / "gridmodl" / "building" / "__main__.py").write_text(STAND_IN)
    for name in NAMES:
        (folder / name).write_text("old")
    return folder


def call(project, tmp_path, code, path=os.environ["PATH"], fails=False):
    """The answer of the backend in `project`, and what it prints."""
    (tmp_path / "temporary").mkdir(exist_ok=True)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment |= {"PATH": path, "TMPDIR": str(tmp_path / "temporary")}
    command = [sys.executable, "-c", CALL.format(code)]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == fails, done.stderr
    assert list((tmp_path / "temporary").iterdir()) == []
    return None if fails else json.loads(done.stdout.splitlines()[-1]), done.stdout + done.stderr


def built(project, tmp_path, **how):
    """Name of a wheel, text of its files of the library, names of all its files, and what was printed."""
    name, told = call(project, tmp_path, f"build_wheel({str(tmp_path)!r})", **how)
    with zipfile.ZipFile(tmp_path / name) as wheel:
        files = wheel.namelist()
        return name, {file: wheel.read(file).decode() for file in NAMES if file in files}, files, told


def test_a_wheel_carries_the_library(project, tmp_path):
    name, library, files, told = built(project, tmp_path)
    assert (name, library) == (LIBRARY_WHEEL, dict.fromkeys(NAMES, "new"))
    assert "without" not in told
    assert not any(file.startswith("gridmodl/building/") for file in files)
    with zipfile.ZipFile(tmp_path / name) as wheel:
        facts = wheel.read("gridmodl-0.1.0.dist-info/WHEEL").decode()
    assert "Root-Is-Purelib: false" in facts
    assert "Tag: py3-none-linux_x86_64\n" in facts


@pytest.mark.parametrize("linker", ["absent", "without the C library"])
def test_without_a_linker_the_wheel_is_pure_and_a_sentence_says_so(project, tmp_path, linker):
    (tmp_path / "bin").mkdir()
    if linker != "absent":
        (tmp_path / "bin" / "cc").write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / "bin" / "cc").chmod(0o755)
    name, library, _, told = built(project, tmp_path, path=str(tmp_path / "bin"))
    assert (name, library) == (PURE_WHEEL, {})
    assert "without the library of kernels, so numba compiles: the command cc links no shared library here" in told
    assert names_of(call(project, tmp_path, "get_requires_for_build_wheel()", path=str(tmp_path / "bin"))[0]) == []


def test_a_build_that_fails_makes_no_wheel(project, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(project, copy)
    (copy / "gridmodl" / "building" / "__main__.py").write_text("raise SystemExit('no')")
    call(copy, tmp_path, f"build_wheel({str(tmp_path)!r})", fails=True)
    assert list(tmp_path.glob("*.whl")) == []


def test_an_editable_install_builds_nothing(project, tmp_path):
    pytest.importorskip("editables", reason="needs editables, as hatchling does")
    name, _ = call(project, tmp_path, f"build_editable({str(tmp_path)!r})")
    assert name == PURE_WHEEL
    with zipfile.ZipFile(tmp_path / name) as wheel:
        assert not set(NAMES) & set(wheel.namelist())


def test_a_source_distribution_builds_the_same_wheel(project, tmp_path):
    name, _ = call(project, tmp_path, f"build_sdist({str(tmp_path)!r})")
    with tarfile.open(tmp_path / name) as packed:
        files = {file.partition("/")[2] for file in packed.getnames()}
        packed.extractall(tmp_path, filter="data")
    assert not set(NAMES) & files
    assert {"hatch_build.py", "gridmodl/building/__main__.py", "gridmodl/building/calls.py"} <= files
    (tmp_path / "again").mkdir()
    copies = [built(project, tmp_path), built(tmp_path / "gridmodl-0.1.0", tmp_path / "again")]
    assert copies[0] == copies[1]
    assert (tmp_path / LIBRARY_WHEEL).read_bytes() == (tmp_path / "again" / LIBRARY_WHEEL).read_bytes()


def names_of(requirements):
    """Those of the requirements that take long to install."""
    return [name for name in ("numba", "numpy", "scipy", "scikit-learn") if any(name in one for one in requirements)]


def test_numba_is_installed_for_wheels_with_a_library_only(backend, monkeypatch):
    monkeypatch.chdir(PROJECT)
    assert names_of(backend.get_requires_for_build_wheel()) == ["numba", "numpy", "scipy", "scikit-learn"]
    assert names_of(backend.get_requires_for_build_editable()) == []
    assert names_of(backend.get_requires_for_build_sdist()) == []
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert names_of(backend.get_requires_for_build_wheel()) == []
    assert backend.reason_against() == "it is built on Linux for x86-64 only, and this is linux on aarch64"


def test_what_is_absent_is_named(backend, monkeypatch):
    assert backend.reason_against() is None
    monkeypatch.setattr(backend, "compiled_with", lambda: ["numba>=0.61", "gridmodl-nowhere>=1", "scipy"])
    assert backend.reason_against().startswith("gridmodl-nowhere must be installed to compile it")


def test_an_older_processor_builds_none(backend, monkeypatch):
    monkeypatch.setattr("gridmodl.jit.library.lacking_features", lambda machine, features: features[:2])
    assert backend.reason_against() == "this processor lacks avx, avx2, which it is compiled for"


def test_the_hook_knows_what_the_builder_does(backend):
    from gridmodl.building import __main__ as building
    from gridmodl.jit.library import FACTS, FOLDER, LIBRARY

    assert backend.LINKER == building.LINKER
    assert backend.FILES == (LIBRARY, FACTS)
    assert Path(backend.IN_WHEEL) == FOLDER.relative_to(FOLDER.parents[1])


def test_two_links_of_the_same_objects_give_the_same_bytes(tmp_path, monkeypatch):
    llvm = pytest.importorskip("llvmlite.binding")
    from gridmodl.building.__main__ import link
    from gridmodl.jit import cache
    from gridmodl.jit.engine import this_processor

    monkeypatch.setattr(cache, "cache_folder", lambda: cache.CacheFolder(tmp_path, None))
    for letter in "abc":
        module = llvm.parse_assembly(f"define i32 @k_{letter}() {{ ret i32 {ord(letter)} }}")
        code = this_processor().object_of(module)
        cache.write(f"k_{letter}", cache.Object(code, {"kernel": f"k_{letter}"}, "i", ()))
    link(tmp_path, tmp_path / "one-linked", ())
    found = Path.glob
    monkeypatch.setattr(Path, "glob", lambda *given: reversed(list(found(*given))))  # as another disk lists files
    link(tmp_path, tmp_path / "two-linked", ())
    for file in ("kernels.so", "kernels.json"):
        assert (tmp_path / "one-linked" / file).read_bytes() == (tmp_path / "two-linked" / file).read_bytes()


@pytest.mark.slow
def test_two_builds_give_the_same_bytes(backend, tmp_path):
    for name in ("one", "two"):
        backend.build_library(tmp_path / name)
    for file in backend.FILES:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
