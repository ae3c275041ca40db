"""The wheel of compiled kernels: built, installed into a fresh environment, used; and left alone where it must be."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import platform
import shutil
import site
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
SOURCE = PROJECT / "plugins" / "gridmodl-kernels"

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="kernels are built on x86-64 only")

START = """
import json, warnings
import numpy as np
from numba.core import event
with warnings.catch_warnings(record=True) as caught, event.install_recorder("numba:compile") as recorder:
    warnings.simplefilter("always")
    import gridmodl
    from gridmodl.jit.cache import cache_facts
    rng = np.random.default_rng(0)
    x, town = rng.normal(size=300), rng.choice(list("abcdef"), 300)
    y = (x > 0) ^ (rng.random(300) < 0.2)
    answer = {}
    shipped = cache_facts()["shipped"]
told = [str(w.message) for w in caught]
print(json.dumps([answer, len(recorder.buffer) // 2, told, shipped, gridmodl.__file__]))
"""
PRICE = "gridmodl.price([1, 2, 3, 4], ['a', 'a', 'b', 'b'], {'x0': [2.5]})"
FIRST_CALLS = (
    "[gridmodl.optimize(x, y).cost, gridmodl.optimize(town, y).cost, gridmodl.optimize(x, y, search='exact').cost, "
    "gridmodl.optimize(x, y, monotone='auto').cost, " + PRICE + "]"
)


def built(out, *options):
    """A folder with the wheels of gridmodl and of the kernels."""
    hatch = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(hatch, cwd=PROJECT, check=True, capture_output=True)
    build = [sys.executable, str(SOURCE / "build_wheel.py"), "--out", str(out), *options]
    environment = os.environ | {"PYTHONPATH": str(PROJECT)}
    done = subprocess.run(build, check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return out


def installed(folder, wheels):
    """The Python of a new environment with both; other packages are those of this one, so nothing is downloaded."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    (place,) = (folder / "lib").glob("python*/site-packages")
    # Without the .pth files there, so not with a gridmodl that is installed in place.
    (place / "others.pth").write_text("\n".join(site.getsitepackages()))
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-index"]
    pip += ["--find-links", str(wheels)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    for wanted in (["--no-deps", *map(str, wheels.glob("gridmodl-*.whl"))], ["gridmodl[compiled]"]):
        subprocess.run([*pip, *wanted], check=True, env=environment)
    return python, place


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    wheels = built(tmp_path_factory.mktemp("wheels"), "--criterion", "modl", "--problem", "classes", "--jobs", "1")
    return installed(tmp_path_factory.mktemp("environment") / "venv", wheels)


@pytest.fixture
def place(home):
    """The folder of installed packages; what a test changes there is undone."""
    _, place = home
    kept = {file: file.read_bytes() for file in (*package(place).iterdir(), record(place)) if file.is_file()}
    yield place
    for file in package(place).iterdir():
        if file.is_file() and file not in kept:
            file.unlink()
    for file, content in kept.items():
        file.write_bytes(content)


def package(place):
    return place / "gridmodl_kernels"


def record(place):
    (found,) = place.glob("gridmodl_kernels-*.dist-info/RECORD")
    return found


def run(home, code, cache, **variables):
    """The answer, how many functions were compiled, the warnings, and what is known of shipped kernels."""
    python, place = home
    dropped = {"PYTHONPATH", "GRIDMODL_SHIPPED"}
    environment = {key: value for key, value in os.environ.items() if key not in dropped}
    environment |= {"NUMBA_CACHE_DIR": str(cache), "GRIDMODL_COMPILE": "always", **variables}
    command = [str(python), "-c", START.format(code)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=cache, check=False)
    assert done.returncode == 0, done.stderr
    answer, n_compiled, told, shipped, file = json.loads(done.stdout)
    assert Path(file).is_relative_to(place)
    return answer, n_compiled, told, shipped


EXPECTED = pytest.approx(5.193, abs=1e-3)  # the price


def test_first_calls_compile_nothing(home, tmp_path):
    answer, n_compiled, told, shipped = run(home, FIRST_CALLS, tmp_path)
    assert (n_compiled, told) == (0, [])
    assert shipped["used"]
    assert Path(shipped["folder"]) == package(home[1])
    assert list((tmp_path / "gridmodl").iterdir()) == []  # the cache stays empty
    assert answer[-1] == EXPECTED
    assert answer[2] <= answer[0] + 1e-9


def test_the_wheel_is_for_this_python_and_platform(home):
    wheel = record(home[1]).with_name("WHEEL").read_text()
    tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    assert f"Tag: cp{sys.version_info.major}{sys.version_info.minor}-none-{tag}" in wheel
    made_for = json.loads((package(home[1]) / "built.json").read_text())
    assert made_for["processor"][1] == "x86-64-v3"


def test_no_path_of_the_builder_is_in_a_kernel(home):
    for file in package(home[1]).glob("*.kernel"):
        assert os.fsencode(PROJECT) not in file.read_bytes(), file.name


@pytest.mark.parametrize("damage", ["one bit", "another kernel"])
def test_a_tampered_file_is_not_loaded(home, place, tmp_path, damage):
    files = sorted(package(place).glob("*.kernel"))
    others = {file: files[i - 1].read_bytes() for i, file in enumerate(files)}
    for file in files:
        content = bytearray(file.read_bytes())
        content[-1] ^= 1
        file.write_bytes(bytes(content) if damage == "one bit" else others[file])
    answer, n_compiled, told, shipped = run(home, PRICE, tmp_path)
    assert answer == EXPECTED
    assert n_compiled > 0
    (message,) = told  # though several files are bad
    assert any(str(file) in message for file in files)
    assert "its hash is not the one in RECORD" in message
    assert not shipped["used"]


@pytest.mark.parametrize("absent", ["hash", "line", "RECORD", "file that nobody knows"])
def test_a_file_without_a_hash_is_not_loaded(home, place, tmp_path, absent):
    lines = record(place).read_text().splitlines(keepends=True)
    name = "built.json" if absent == "RECORD" else sorted(file.name for file in package(place).glob("*.kernel"))[0]
    if absent == "file that nobody knows":
        name = "gridmodl.stranger-0-0-0.kernel"
        shutil.copy(next(package(place).glob("*.kernel")), package(place) / name)
    elif absent == "RECORD":
        record(place).unlink()
    else:
        (mine,) = (line for line in lines if name in line)
        changed = f"{mine.partition(',')[0]},,\n" if absent == "hash" else ""
        record(place).write_text("".join(changed if line == mine else line for line in lines))
    if absent == "line":  # in the other cases all of it was seen, and compiling takes seconds
        answer, n_compiled, _, _ = run(home, PRICE, tmp_path)
        assert answer == EXPECTED
        assert n_compiled > 0
    _, _, told, shipped = run(home, None, tmp_path)
    (message,) = told
    assert "its hash is not in RECORD" in message
    assert absent == "RECORD" or name in message
    assert not shipped["used"]


@pytest.mark.parametrize(
    ("what", "version", "reason"),
    [
        ("numba", "0.1.0", "built for numba 0.1.0, and this is"),
        ("llvmlite", "0.1.0", "built for llvmlite 0.1.0, and this is"),
        ("numpy", "1.0.0", "built for numpy 1.0.0, and this is"),
        ("python", "cpython-39", "built for python cpython-39, and this is"),
        ("processor", ["aarch64-linux", "generic", ""], "built for aarch64-linux, and this is"),
        ("processor", "with a feature of tomorrow", "numba compiles here for one without +avx4096"),
    ],
)
def test_other_versions_are_silently_not_used(home, place, tmp_path, what, version, reason):
    """The file that says what kernels were built for is changed, and its hash with it."""
    manifest = package(place) / "built.json"
    old = manifest.read_bytes()
    made_for = json.loads(old)
    if version == "with a feature of tomorrow":
        triple, name, features = made_for["processor"]
        version = [triple, name, f"{features},+avx4096"]
    manifest.write_text(json.dumps({**made_for, what: version}))
    text = record(place).read_text()
    assert text.count(hash_of(old)) == 1
    record(place).write_text(text.replace(hash_of(old), hash_of(manifest.read_bytes())))
    _, _, told, shipped = run(home, None, tmp_path)
    assert (told, shipped["used"]) == ([], False)
    assert reason in shipped["refused"]
    if what == "numba":
        answer, n_compiled, told, _ = run(home, PRICE, tmp_path)
        assert (answer, told) == (EXPECTED, [])
        assert n_compiled > 0
        assert run(home, PRICE, tmp_path)[:2] == (EXPECTED, 0)  # the user's cache serves


def hash_of(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"NUMBA_CPU_NAME": "generic"}, "without +64bit, +avx, +avx2"),
        ({"NUMBA_CPU_NAME": "x86-64-v2", "NUMBA_CPU_FEATURES": "+sse4.2"}, "without +64bit, +avx, +avx2"),
        ({"NUMBA_ENABLE_AVX": "0"}, "without +avx, +avx2"),
        ({"GRIDMODL_SHIPPED": "ignore"}, "GRIDMODL_SHIPPED is 'ignore'"),
    ],
)
def test_another_processor_compiles(home, tmp_path, variables, reason):
    _, _, told, shipped = run(home, None, tmp_path, **variables)
    assert (told, shipped["used"]) == ([], False)
    assert reason in shipped["refused"]
    if variables == {"NUMBA_CPU_NAME": "generic"}:
        answer, n_compiled, told, _ = run(home, PRICE, tmp_path, **variables)
        assert (answer, told) == (EXPECTED, [])
        assert n_compiled > 0


def test_another_digest_compiles(home, tmp_path):
    """As if a kernel had been edited: options of the compiler are part of the digest too."""
    answer, n_compiled, told, shipped = run(home, PRICE, tmp_path, NUMBA_OPT="1")
    assert (answer, told) == (EXPECTED, [])
    assert n_compiled > 0
    assert shipped["used"]  # those that fit


def test_shipped_kernels_exist(home, tmp_path):
    kernel = (
        "gridmodl.jit.template._bind(gridmodl.pricing.price_parts, type(gridmodl.get_criterion({!r})))"
        ".compiled._cache.exists()"
    )
    code = f"[__import__('gridmodl.pricing'), {kernel.format('modl')}, {kernel.format('bic')}][1:]"
    assert run(home, code, tmp_path)[:3] == ([True, False], 0, [])


def test_the_extra_asks_for_the_version_of_gridmodl():
    mine = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    kernels = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]
    assert mine["version"] == kernels["version"]
    assert mine["optional-dependencies"]["compiled"] == [f"{kernels['name']}=={mine['version']}"]


@pytest.mark.slow
def test_every_built_in_criterion_and_problem(tmp_path):
    """The whole wheel; a grid, a joint grid and a searched target load too."""
    home = installed(tmp_path / "venv", built(tmp_path / "wheels", "--jobs", "2"))
    calls = (
        "[gridmodl.optimize({'x': x, 'town': town}, y).cost, gridmodl.optimize({'x': x, 'town': town}).cost, "
        "gridmodl.optimize(x, town, target_kind='grouped').cost, *(gridmodl.optimize(x, y, criterion=c).cost "
        "for c in gridmodl.list_criteria('classes'))]"
    )
    (tmp_path / "cache").mkdir()
    _, n_compiled, told, shipped = run(home, calls, tmp_path / "cache")
    assert (n_compiled, told, shipped["used"]) == (0, [], True)
