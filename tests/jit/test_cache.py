"""Compiled kernels on disk: a second process finds them, and no edit leaves one stale. Files are really edited."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import types
from collections import namedtuple
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import event

import gridmodl
from gridmodl import Search, get_criterion, optimize, price
from gridmodl.criteria.entropy import Entropy
from gridmodl.jit.arguments import describe
from gridmodl.jit.cache import HEADER, CacheFolder, purge_cache
from gridmodl.jit.digest import Reachable, TermError, digest_of, versions
from gridmodl.jit.template import bind
from gridmodl.search.column.merge import merge_steps

PACKAGE = Path(gridmodl.__file__).parent
MERGE = Search("merge", post_optimize=False)  # the fewest kernels

LAB = '''
from gridmodl import Criterion
from lab_helper import scaled

WEIGHT = 1.0


class Lab(Criterion):
    """Errors of the largest class."""

    name = "lab"
    problems = {"classes"}

    @staticmethod
    def cell(p, cell):
        """Price of a cell."""
        # What is not in the largest class is an error.
        errors = cell.rows
        for n in cell.counts:
            errors = min(errors, cell.rows - n)
        return WEIGHT + scaled(errors)
'''
HELPER = '''
FACTOR = 2.0


def scaled(x, power=1.0):
    """A price that grows."""
    return FACTOR * x**power
'''
# Two pure parts of four rows: the best costs 2 WEIGHT, one part WEIGHT + FACTOR 4^power.
AS_WRITTEN = [2.0, 9.0]

RUN = """
import json, sys, warnings
from numba.core import event
with warnings.catch_warnings(record=True) as caught, event.install_recorder("numba:compile") as recorder:
    warnings.simplefilter("always")
    import gridmodl
    from gridmodl import Search, optimize, price
    x, y, merge = list(range(8)), [0] * 4 + [1] * 4, Search("merge", post_optimize=False)
    def result(criterion, search=merge):
        model = optimize(x, y, criterion=criterion, search=search)
        return [model.cost, model.null_cost]
    {}
print(json.dumps([answer, len(recorder.buffer), [w.category.__name__ for w in caught]]))
"""
LAB_RESULT = "from lab import Lab; answer = result(Lab)"
# The same two numbers without a search, which compiles in a fraction of the time.
LAB_PRICES = "from lab import Lab; answer = [price(x, y, {'x0': b}, criterion=Lab) for b in ([3.5], [])]"


def run(code, folder, cache, **env):
    """In a new process: the answer of `code`, whether anything was compiled, and the warnings given."""
    env = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"} | {"GRIDMODL_COMPILE": "always"} | env
    # The time stamp of byte code has seconds: an edit within one could go unseen by Python itself.
    env |= {"PYTHONPATH": os.pathsep.join([str(folder), str(PACKAGE.parent)]), "PYTHONDONTWRITEBYTECODE": "1"}
    if cache is not None:
        env["NUMBA_CACHE_DIR"] = str(cache)
    command = [sys.executable, "-c", RUN.format(code.replace("\n", "\n    "))]
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    answer, n_compiled, warned = json.loads(done.stdout)
    return answer, n_compiled > 0, warned


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache in which the criterion as written is compiled."""
    folder = tmp_path_factory.mktemp("cold")
    cache = tmp_path_factory.mktemp("cache")
    write(folder)
    for code in (LAB_RESULT, LAB_PRICES):
        assert run(code, folder, cache) == (AS_WRITTEN, True, [])
    return cache


def write(folder):
    (folder / "lab.py").write_text(LAB)
    (folder / "lab_helper.py").write_text(HELPER)


@pytest.fixture
def lab(tmp_path):
    write(tmp_path)
    return tmp_path


def edit(file, old, new):
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))


# A second process.


def test_second_process_compiles_no_plugin_criterion(lab, cache):
    """Not even from another folder: what counts is what the criterion says."""
    assert run(LAB_RESULT, lab, cache) == (AS_WRITTEN, False, [])


def test_second_process_compiles_no_built_in_criterion(tmp_path):
    """All kernels: merge, post-optimization, proof and price."""
    code = "answer = result('gini', 'exact') + [price(x, y, {'x0': [3.5]}, criterion='gini')]"
    first, compiled, _ = run(code, tmp_path, tmp_path / "cache")
    assert compiled
    assert run(code, tmp_path, tmp_path / "cache") == (first, False, [])


# Edits.


@pytest.mark.parametrize(
    ("code", "file", "old", "new", "result"),
    [
        (LAB_RESULT, "lab.py", "return WEIGHT +", "return 0.5 + WEIGHT +", [3.0, 9.5]),
        (LAB_PRICES, "lab.py", "return WEIGHT +", "return 0.25 + WEIGHT +", [2.5, 9.25]),
        (LAB_PRICES, "lab.py", "WEIGHT = 1.0", "WEIGHT = 1.5", [3.0, 9.5]),
        (LAB_PRICES, "lab_helper.py", "x**power", "x**power + 0.25", [2.5, 9.25]),
        (LAB_PRICES, "lab_helper.py", "FACTOR = 2.0", "FACTOR = 3.0", [2.0, 13.0]),
        (LAB_PRICES, "lab_helper.py", "power=1.0", "power=0.5", [2.0, 5.0]),
    ],
    ids=["term, searched", "term", "constant", "helper", "constant of a helper", "default"],
)
def test_edit_shows_at_once(lab, cache, code, file, old, new, result):
    edit(lab / file, old, new)
    assert run(code, lab, cache) == (result, True, [])
    edit(lab / file, new, old)
    assert run(code, lab, cache) == (AS_WRITTEN, False, [])


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("lab.py", "# What is not in the largest class is an error.", "# Two lines\n        # of something else."),
        ("lab.py", '"""Price of a cell."""', '"""What a cell costs,\n        in nats."""'),
        ("lab.py", '"""Errors of the largest class."""', '"""Another text."""'),
        ("lab_helper.py", '"""A price that grows."""', '"""A price."""  # that grows'),
        ("lab.py", "WEIGHT = 1.0", "UNUSED = 7.0\n\n\nWEIGHT = 1.0"),
    ],
    ids=["comment", "docstring of a term", "docstring of the class", "helper", "what no term uses"],
)
def test_edit_that_changes_no_code_compiles_nothing(lab, cache, file, old, new):
    edit(lab / file, old, new)
    assert run(LAB_RESULT, lab, cache) == (AS_WRITTEN, False, [])


def test_edit_of_a_core_helper_shows_at_once(tmp_path):
    copy = tmp_path / "gridmodl"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    code = "answer = [gridmodl.__file__, price(x, y, {'x0': [3.5]})]"
    (file, before), compiled, _ = run(code, tmp_path, tmp_path / "cache")
    assert Path(file).parent == copy
    assert compiled
    with (copy / "codelength.py").open("a") as codelength:
        codelength.write("\n\nLOG_FACTORIALS = 2.0 * LOG_FACTORIALS\n")
    (_, after), compiled, _ = run(code, tmp_path, tmp_path / "cache")
    assert compiled
    # All of it is log-factorials but log N.
    assert after - np.log(8) == pytest.approx(2 * (before - np.log(8)), rel=1e-12)


TWIN = """
from gridmodl import Criterion

WEIGHT = {}


class Twin(Criterion):
    name = "twin"
    problems = {{"classes"}}

    @staticmethod
    def cell(p, cell):
        return WEIGHT


def make(weight):
    class Closure(Criterion):
        name = "twin"
        problems = {{"classes"}}

        @staticmethod
        def cell(p, cell):
            return weight

    return Closure
"""


def test_criteria_of_the_same_shape_never_share_machine_code(tmp_path):
    (tmp_path / "one.py").write_text(TWIN.format("1.0"))
    (tmp_path / "two.py").write_text(TWIN.format("2.0"))
    classes = ["one.Twin", "two.Twin", "one.make(3.0)", "one.make(4.0)", "two.make(5)"]
    weights = [1.0, 2.0, 3.0, 4.0, 5.0]
    for order in (1, -1):  # the second process goes the other way round, with a warm cache
        listed = ", ".join(classes[::order])
        code = f"import one, two; answer = [price(x, y, {{}}, criterion=c) for c in [{listed}]]"
        answer, compiled, _ = run(code, tmp_path, tmp_path / "cache")
        assert answer == weights[::order]
        assert compiled == (order == 1)


def test_kernels_cached_by_different_processes_never_share_helpers(lab, cache):
    """Their helpers had one symbol in the machine code: loaded together, one criterion ran the other's."""
    other = LAB.replace('name = "lab"', 'name = "other"').replace("WEIGHT + ", "10.0 * WEIGHT + ")
    (lab / "other.py").write_text(other)
    alone, compiled, _ = run("from other import Lab; answer = result(Lab)", lab, cache)
    assert compiled
    assert alone != AS_WRITTEN  # which another process has compiled
    both = "import lab, other; answer = [result(m.Lab) for m in (lab, other)]"
    assert run(both, lab, cache) == ([AS_WRITTEN, alone], False, [])


def test_options_and_sizes_compile_nothing(monkeypatch):
    monkeypatch.setenv("GRIDMODL_COMPILE", "always")
    rng = np.random.default_rng(0)

    def runs(n, n_classes, **options):
        data, target = rng.normal(size=n), rng.integers(0, n_classes, n)
        target[:n_classes] = range(n_classes)
        asked = {"criterion": get_criterion("entropy", **options), "target_kind": "classes"}
        model = optimize(data, target, **asked, search=MERGE)
        optimize(data.astype(np.float32), target, **asked, search=MERGE, max_parts=3, time_limit=9)
        optimize(data, target, **asked, search=MERGE, weights=rng.integers(1, 3, n), min_rows=0.01)
        data[::7] = np.nan
        optimize(data, target.astype(str), **asked, search=MERGE)
        price(data, target, model.partitions, **asked)

    runs(50, 2)
    kernel = bind(merge_steps, Entropy)
    n_signatures = len(kernel._natives[False])
    with event.install_recorder("numba:compile") as recorder:
        for n, n_classes, options in [
            (50, 2, {"alpha": 1}),
            (50, 2, {"alpha": 0.7, "beta": 0.3}),
            (51, 2, {"beta": 2}),
            (5000, 3, {}),
            (300, 40, {"alpha": np.float32(0.5)}),
        ]:
            runs(n, n_classes, **options)
    assert [record.data["dispatcher"] for _, record in recorder.buffer] == []
    assert len(kernel._natives[False]) == n_signatures == 1


# Other places, other times.


def test_another_checkout_compiles_nothing(lab, cache, tmp_path):
    """Another path, other time stamps, and comments in the files of kernels and terms."""
    copy = tmp_path / "gridmodl"
    shutil.copytree(PACKAGE, copy, copy_function=shutil.copy, ignore=shutil.ignore_patterns("__pycache__"))
    for file in [*copy.glob("*.py"), *copy.glob("search/*.py")]:
        file.write_text(file.read_text().replace("from __future__", "# A comment.\n\nfrom __future__", 1))
    code = f"{LAB_RESULT}; answer.append(gridmodl.__file__)"
    (*costs, file), compiled, warned = run(code, tmp_path, cache)
    assert Path(file).parent == copy
    assert (costs, compiled, warned) == (AS_WRITTEN, False, [])


def test_records_with_other_fields_are_other_signatures():
    """The same kernel would read the wrong ones from a cached file."""
    first, second = namedtuple("Record", "a b"), namedtuple("Record", "b a")
    spelled = [describe((record(1.0, 2.0), 3)) for record in (first, second, first)]
    assert spelled[0] == spelled[2] != spelled[1]


# Many at once.

THREADS = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool:
    asked = [pool.submit(price, x, y, {'x0': [3.5]}, criterion=c) for c in ('gini', 'aic') for _ in range(8)]
    answer = [future.result() for future in asked]
"""
LOKY = """
from joblib import Parallel, delayed
asked = [delayed(price)(x, y, {'x0': [3.5]}, criterion=c) for c in ('gini', 'aic') for _ in range(8)]
answer = Parallel(n_jobs=4, backend='loky')(asked)
"""
FORK = """
import multiprocessing
answer = [price(x, y, {'x0': [3.5]}, criterion='gini')] * 4
with multiprocessing.get_context('fork').Pool(4) as pool:
    criteria = [{'criterion': c} for c in ('gini', 'aic') for _ in range(8)]
    asked = [pool.apply_async(price, (x, y, {'x0': [3.5]}), c) for c in criteria]
    answer = [future.get() for future in asked]
"""


@pytest.mark.parametrize("code", [THREADS, LOKY, FORK], ids=["threads", "loky", "fork"])
def test_first_compile_of_many_at_once(tmp_path, code):
    answer, _, warned = run(code, tmp_path, tmp_path / "cache")
    assert answer == [2.0] * 8 + [4.0] * 8
    assert warned == []
    assert not list((tmp_path / "cache").rglob("*.part"))


# Damaged files.


@pytest.mark.parametrize("damage", ["emptied", "cut", "random bytes", "one bit"])
def test_damaged_kernel_is_compiled_again_with_one_warning(lab, cache, tmp_path, damage):
    mine = tmp_path / "cache"
    shutil.copytree(cache, mine)
    for file in cached_files(mine):
        content = file.read_bytes()
        changed = bytearray(content)
        changed[len(content) // 2] ^= 1
        file.write_bytes(
            {
                "emptied": b"",
                "cut": content[: len(content) // 2],
                "random bytes": np.random.default_rng(0).bytes(len(content)),
                "one bit": bytes(changed),
            }[damage]
        )
    told = f"{LAB_PRICES}; assert {str(mine)!r} in str(caught[0].message)"
    assert run(told, lab, mine) == (AS_WRITTEN, True, ["RuntimeWarning"])
    assert run(LAB_PRICES, lab, mine) == (AS_WRITTEN, False, [])


def test_kernel_that_cannot_be_loaded_is_compiled_again(lab, cache, tmp_path):
    """Whole, but what it needs is not there any more."""
    mine = tmp_path / "cache"
    shutil.copytree(cache, mine)
    for file in cached_files(mine):
        facts, _, code = file.read_bytes()[len(HEADER) + 32 :].partition(b"\n")
        symbols, returns, _ = json.loads(facts)
        payload = json.dumps([symbols, returns, ["gridmodl_lost"]]).encode() + b"\n" + code
        file.write_bytes(HEADER + hashlib.sha256(payload).digest() + payload)
    assert run(LAB_PRICES, lab, mine) == (AS_WRITTEN, True, [])
    assert run(LAB_PRICES, lab, mine) == (AS_WRITTEN, False, [])


# Folders that cannot be trusted or written to.

GINI = "answer = [price(x, y, {'x0': b}, criterion='gini') for b in ([3.5], [])]"


def test_folder_that_others_can_write_to_is_refused(lab, cache, tmp_path):
    mine = tmp_path / "cache"
    shutil.copytree(cache, mine)
    (mine / "gridmodl").chmod(0o777)
    told = f"{LAB_PRICES}; assert 'other users can write to' in str(caught[0].message)"
    assert run(told, lab, mine) == (AS_WRITTEN, True, ["RuntimeWarning"])


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_folder_of_another_user_is_refused(lab, cache, tmp_path):
    mine = tmp_path / "cache"
    shutil.copytree(cache, mine)
    os.chown(mine / "gridmodl", 12345, 12345)
    told = f"{LAB_PRICES}; assert 'another user' in str(caught[0].message)"
    assert run(told, lab, mine) == (AS_WRITTEN, True, ["RuntimeWarning"])


ONLY_ROOT = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away"
)
EVIL = b"cos\nsystem\n(S'touch ran'\ntR."  # a pickle that runs a command


@ONLY_ROOT
def test_folder_below_one_of_another_user_is_refused(lab, cache, tmp_path):
    """Who owns the folder above can rename this one and put his own: what he puts is not loaded."""
    above = tmp_path / "his"
    shutil.copytree(cache, above / "cache")
    for file in cached_files(above / "cache"):
        file.write_bytes(HEADER + hashlib.sha256(EVIL).digest() + EVIL)
    os.chown(above, 12345, 12345)
    told = f"{LAB_PRICES}; assert '{above} belongs to another user' in str(caught[0].message)"
    assert run(told, lab, above / "cache") == (AS_WRITTEN, True, ["RuntimeWarning"])
    assert not (lab / "ran").exists()


@ONLY_ROOT
def test_nothing_is_made_in_a_folder_of_another_user(lab, tmp_path):
    (tmp_path / "his").mkdir()
    os.chown(tmp_path / "his", 12345, 12345)
    assert run(LAB_PRICES, lab, tmp_path / "his" / "cache") == (AS_WRITTEN, True, ["RuntimeWarning"])
    assert list((tmp_path / "his").iterdir()) == []


@ONLY_ROOT
def test_file_of_another_user_is_compiled_again(lab, cache, tmp_path):
    """As a folder may have been open before."""
    mine = tmp_path / "cache"
    shutil.copytree(cache, mine)
    for file in cached_files(mine):
        file.write_bytes(HEADER + hashlib.sha256(EVIL).digest() + EVIL)
        os.chown(file, 12345, 12345)
    told = f"{LAB_PRICES}; assert 'belongs to another user' in str(caught[0].message)"
    answer, compiled, warned = run(told, lab, mine)
    assert (answer, compiled, set(warned)) == (AS_WRITTEN, True, {"RuntimeWarning"})
    assert not (lab / "ran").exists()
    assert run(LAB_PRICES, lab, mine) == (AS_WRITTEN, False, [])


@pytest.mark.parametrize("inside", [True, False])
def test_no_place_for_a_cache_gives_one_warning_and_the_result(tmp_path, inside):
    """Below a file also root cannot write."""
    (tmp_path / "blocked").touch()
    below = tmp_path / "blocked" / "home"
    env = {} if inside else {"HOME": str(below), "XDG_CACHE_HOME": str(below)}
    answer, compiled, warned = run(GINI, tmp_path, below if inside else None, **env)
    assert answer == [2.0, 4.0]
    assert compiled
    assert warned == ["RuntimeWarning"]


def test_full_disk_gives_one_warning_and_the_result(tmp_path):
    """A limit on the size of files fails a write half way, as a full disk does."""
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))\n{GINI}"
    answer, compiled, warned = run(limited, tmp_path, tmp_path / "cache")
    assert answer == [2.0, 4.0]
    assert compiled
    assert warned == ["RuntimeWarning"]
    assert list((tmp_path / "cache" / "gridmodl").iterdir()) == []


# Whether a kernel is there.

EXISTS = """
import time
from gridmodl.jit.native import kernel_exists
from gridmodl.pricing import price_parts
from gridmodl.jit import template
asked = []
old = template.find_native
def noting(kernel, criterion, arguments, text, *rest):
    asked.append(text)
    return old(kernel, criterion, arguments, text, *rest)
template.find_native = noting
there = lambda: kernel_exists(price_parts, text, False)
"""


def test_kernel_exists_once_it_is_compiled(tmp_path):
    cache = tmp_path / "cache"
    code = f"{EXISTS}\nfound = price(x, y, {{}}, criterion='gini')\ntext = asked[-1]\nanswer = [text, there()]"
    (text, is_there), compiled, _ = run(code, tmp_path, cache)
    assert is_there
    assert compiled
    asks = f"{EXISTS}\ntext = {text!r}\nanswer = there()"
    assert run(asks, tmp_path, cache) == (True, False, [])
    # A home that is shared by machines of several kinds: for this one it would have to be compiled.
    assert run(asks, tmp_path, cache, NUMBA_CPU_NAME="generic") == (False, False, [])
    code = f"{EXISTS}\ntext = {text!r}\nanswer = [there(), gridmodl.clear_cache(), there()]"
    assert run(code, tmp_path, cache)[0][::2] == [True, False]


def test_to_ask_whether_a_kernel_exists_costs_next_to_nothing(tmp_path):
    """Microseconds, though the folder is full."""
    (tmp_path / "cache" / "gridmodl").mkdir(parents=True)
    for i in range(2_000):
        (tmp_path / "cache" / "gridmodl" / f"gridmodl.kernel-{i}-0-0.kernel").touch()
    timed = "begun = time.process_time()\nfor _ in range(1_000): there()\nanswer = time.process_time() - begun"
    answer, _, _ = run(f"{EXISTS}\ntext = 'i'\nthere()\n{timed}", tmp_path, tmp_path / "cache")
    assert answer < 0.1


# Clearing.


def cached_files(cache):
    return sorted(cache.rglob("*.kernel"))


def test_clear_cache_deletes_files_and_things_still_work(lab, cache, tmp_path):
    mine = tmp_path / "cache"
    shutil.copytree(cache, mine)
    stranger = mine / "gridmodl" / "stranger.txt"
    stranger.touch()
    n_files = len(cached_files(mine))
    assert n_files > 0
    code = "from lab import Lab\nfirst = result(Lab)\nanswer = [first, gridmodl.clear_cache(), result(Lab)]"
    answer, compiled, _ = run(code, lab, mine)
    assert answer == [AS_WRITTEN, n_files, AS_WRITTEN]
    assert not compiled  # found on disk before, in memory after
    assert list((mine / "gridmodl").iterdir()) == [stranger]
    assert run(LAB_RESULT, lab, mine) == (AS_WRITTEN, True, [])
    assert run(LAB_RESULT, lab, mine) == (AS_WRITTEN, False, [])


def test_purge_deletes_what_was_not_used_for_longest(tmp_path, monkeypatch):
    monkeypatch.setattr("gridmodl.jit.cache.cache_folder", lambda: CacheFolder(tmp_path, None))
    now = time.time()
    for age in range(10):
        file = tmp_path / f"{age}.kernel"
        file.write_bytes(bytes(100))
        os.utime(file, (now - age, now - age))
    abandoned, fresh = tmp_path / "abandoned.part", tmp_path / "fresh.part"
    abandoned.touch()
    os.utime(abandoned, (now - 7200, now - 7200))
    fresh.touch()
    monkeypatch.setattr("gridmodl.jit.cache.MAX_BYTES", 1000)
    purge_cache()
    assert len(cached_files(tmp_path)) == 10
    assert [file.name for file in tmp_path.glob("*.part")] == ["fresh.part"]
    monkeypatch.setattr("gridmodl.jit.cache.MAX_BYTES", 999)
    purge_cache()
    assert [file.name for file in cached_files(tmp_path)] == [f"{age}.kernel" for age in range(7)]


def test_clocks_are_told_of_compiling(lab, cache):
    code = "from lab import Lab\nfrom gridmodl import clock\nresult(Lab{})\nanswer = clock._compiled.seconds > 0.0"
    assert run(code.format(""), lab, cache)[:2] == (False, False)  # found on disk
    assert run(code.format(", Search('merge')"), lab, cache)[:2] == (True, True)


NOWHERE = """
from gridmodl import Criterion
class Squares(Criterion):
    name = "squares"
    problems = {"classes"}
    @staticmethod
    def cell(p, cell):
        return squared(cell.rows) - (cell.counts * cell.counts).sum() + 9.0
def squared(n):
    return float(n * n)
"""


def test_terms_of_a_module_that_no_process_can_import_are_found_again(tmp_path):
    code = f"written = {{'__name__': 'nowhere'}}\nexec({NOWHERE!r}, written)\nanswer = result(written['Squares'])"
    first = run(code, tmp_path, tmp_path / "cache")
    assert first[1:] == (True, [])
    assert run(code, tmp_path, tmp_path / "cache") == (first[0], False, [])


def test_clear_cache_of_nothing(tmp_path):
    assert run("answer = gridmodl.clear_cache()", tmp_path, tmp_path / "cache") == (0, False, [])


def test_clear_cache_where_there_is_no_place_for_one(tmp_path):
    (tmp_path / "blocked").touch()
    answer, _, _ = run("answer = gridmodl.clear_cache()", tmp_path, tmp_path / "blocked" / "cache")
    assert answer == 0


# The digest itself: what changes machine code changes it, or is refused.


def digest_in(source, **names):
    scope = dict(names)
    exec(source, scope)  # noqa: S102
    return digest_of(Reachable(scope["f"], {}))


def module(**names):
    made = types.ModuleType("constants")
    vars(made).update(names)
    return made


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(x): return x + 1", "def f(x): return x + 2"),
        ("def f(x): return x + 1", "def f(x): return x + 1.0"),
        ("def f(x): return x + 1", "def f(x): return x + True"),
        ("def f(x): return x + 0.0", "def f(x): return x + -0.0"),
        ("def f(x): return x + 1", "def f(x): return x - 1"),
        ("def f(x, y): return x - y", "def f(y, x): return x - y"),
        ("def f(x, y=1): return x + y", "def f(x, y=2): return x + y"),
        ("def f(x, *, y=1): return x + y", "def f(x, *, y=2): return x + y"),
        ("def g(x): return 1\ndef f(x): return g(x)", "def g(x): return 2\ndef f(x): return g(x)"),
        ("C = 1\ndef g(x): return C\ndef f(x): return g(x)", "C = 2\ndef g(x): return C\ndef f(x): return g(x)"),
        ("C = (1, (2, 3))\ndef f(x): return C[1][0]", "C = (1, (2, 4))\ndef f(x): return C[1][0]"),
        ("def f(x): return (lambda y: y + 1)(x)", "def f(x): return (lambda y: y + 2)(x)"),
        ("C = 1\ndef f(x): return (lambda y: y + C)(x)", "C = 2\ndef f(x): return (lambda y: y + C)(x)"),
        (
            "def make(c):\n    def f(x): return c\n    return f\nf = make(1)",
            "def make(c):\n    def f(x): return c\n    return f\nf = make(2)",
        ),
        (
            "def make(c):\n    def g(x): return c\n    def f(x): return g(x)\n    return f\nf = make(1)",
            "def make(c):\n    def g(x): return c\n    def f(x): return g(x)\n    return f\nf = make(2)",
        ),
    ],
)
def test_digest_sees(one, other):
    assert digest_in(one) != digest_in(other)
    assert digest_in(one) == digest_in(one)


def test_digest_does_not_see_docstrings_and_places():
    assert digest_in('def f(x):\n    "One."\n    return x') == digest_in('\n\ndef f(x):\n    "Two."\n\n\n    return x')


def test_digest_sees_arrays():
    source = "def f(x): return C[x]"
    one = digest_in(source, C=np.array([1.0, 2.0]))
    assert one == digest_in(source, C=np.array([1.0, 2.0]))
    assert one != digest_in(source, C=np.array([1.0, 3.0]))
    assert one != digest_in(source, C=np.array([1.0, 2.0], dtype=np.float32))


def test_digest_sees_jitted_helpers():
    made = []
    for c in (1, 2):
        scope = {}
        exec(f"def g(x): return x + {c}", scope)  # noqa: S102
        made.append(digest_in("def f(x): return g(x)", g=numba.njit(scope["g"])))
    assert made[0] != made[1]


@pytest.mark.parametrize(
    "source",
    [
        "def f(x): return x + m.C",
        "def f(x):\n    alias = m\n    return x + alias.C",
        "def make(m):\n    def f(x): return x + m.C\n    return f\nf = make(m)",
    ],
    ids=["global", "alias", "closure"],
)
def test_digest_sees_constants_of_modules_however_they_are_reached(source):
    """Or refuses to carry them: a guess would leave the kernel stale."""
    try:
        one, other = digest_in(source, m=module(C=1)), digest_in(source, m=module(C=2))
    except TermError:
        return
    assert one != other


def test_digest_sees_the_fields_of_records():
    source = "from collections import namedtuple\nC = namedtuple('Point', '{}')(1, 2)\ndef f(x): return x + C.a"
    assert digest_in(source.format("a b")) != digest_in(source.format("b a"))


def test_digest_sees_compiler_flags(monkeypatch):
    plain = digest_in("def f(x): return x")
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    versions.cache_clear()
    try:
        assert digest_in("def f(x): return x") != plain
    finally:
        versions.cache_clear()
