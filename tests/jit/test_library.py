"""A library of a few kernels: it answers without numba, never for edited source, and not at all if it does not fit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gridmodl
from gridmodl.building.__main__ import ALLOWED, LINKER, link
from gridmodl.jit import cache, library, native
from gridmodl.jit.library import FACTS, LIBRARY, lacking_features
from gridmodl.search.column.merge import merge_steps

PACKAGE = Path(gridmodl.__file__).parent

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the library is built for Linux only"),
    pytest.mark.skipif(shutil.which(LINKER) is None, reason=f"needs the linker {LINKER}"),
]

COMPILE = """
from gridmodl import optimize, Search
from gridmodl.building.__main__ import begin
begin()
for criterion in ("gini", "bic"):
    optimize([1, 2, 3, 4, 5, 6], [0, 0, 1, 0, 1, 1], criterion=criterion, search=Search("merge", post_optimize=False))
"""
# What a process says: the answer, the kernels that the library has given, those of numba, and warnings.
ASK = """
import json, sys, warnings
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked!r}: raise ImportError("blocked " + name)
sys.meta_path.insert(0, Block())
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from gridmodl import Criterion, optimize, Search
    from gridmodl.jit import library, native, template
    used = dict(library=[], other=[], plain=[])
    find, plain = native.library.find_kernel, template.Kernel._run_plain
    def find_kernel(kernel, *rest):
        found = find(kernel, *rest)
        if found is not None: used["library"].append(kernel.__name__)
        return found
    native.library.find_kernel = find_kernel
    compiled = native._saved_or_compiled
    def saved_or_compiled(name, make):
        used["other"].append(name)
        return compiled(name, make)
    native._saved_or_compiled = saved_or_compiled
    def run_plain(kernel, arguments):
        used["plain"].append(kernel.kernel.__name__)
        return plain(kernel, arguments)
    template.Kernel._run_plain = run_plain
    def cost(criterion):
        search = Search("merge", post_optimize=False)
        return optimize([1, 2, 3, 4, 5, 6], [0, 0, 1, 0, 1, 1], criterion=criterion, search=search).cost
{code}
used = {{key: sorted(set(value)) for key, value in used.items()}}
print(json.dumps([answer, used, [str(w.message) for w in caught], "numba" in sys.modules]))
"""


def process(code, folder, **environment):
    """Run `code` with the package that lies in `folder`."""
    settings = {key: value for key, value in os.environ.items() if key not in ("GRIDMODL_COMPILE", "NUMBA_DISABLE_JIT")}
    settings |= {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=settings, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def ask(code, folder, blocked=("numba", "llvmlite"), **environment):
    indented = "\n".join(f"    {line}" for line in code.splitlines())
    given = {"NUMBA_CACHE_DIR": str(folder / "cache"), **environment}
    return json.loads(process(ASK.format(blocked=blocked, code=indented), folder, **given))


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """Objects of the kernels of two small calls."""
    folder = tmp_path_factory.mktemp("objects")
    process(COMPILE, PACKAGE.parent, NUMBA_CACHE_DIR=str(folder), GRIDMODL_COMPILE="always")
    return folder / "gridmodl"


@pytest.fixture
def installed(objects, tmp_path):
    """A copy of the package with a library."""
    copy = tmp_path / "gridmodl"
    unwanted = shutil.ignore_patterns("__pycache__", LIBRARY, FACTS)
    shutil.copytree(PACKAGE, copy, ignore=unwanted)
    link(objects, copy / "jit", ())
    return tmp_path


@pytest.fixture(scope="module")
def costs():
    """Of the two criteria, as plain Python finds them."""
    return json.loads(process(TWO_COSTS, PACKAGE.parent, GRIDMODL_COMPILE="never"))


TWO_COSTS = """
import json
from gridmodl import optimize, Search
search = Search("merge", post_optimize=False)
found = [optimize([1, 2, 3, 4, 5, 6], [0, 0, 1, 0, 1, 1], criterion=c, search=search).cost for c in ("gini", "bic")]
print(json.dumps(found))
"""
BOTH = "answer = [cost('gini'), cost('bic')]"


def test_the_library_answers_without_numba(installed, costs):
    answer, used, warned, has_numba = ask(BOTH, installed)
    assert answer == costs
    assert {"merge_steps", "read_arguments"} <= set(used["library"])
    assert (used["other"], used["plain"], warned, has_numba) == ([], [], [], False)


def test_numba_is_not_imported_where_it_is_there(installed, costs):
    assert ask(BOTH, installed, blocked=()) == ask(BOTH, installed)


@pytest.mark.parametrize(
    "environment",
    [{"GRIDMODL_COMPILE": "never"}, {"GRIDMODL_COMPILE": "always"}, {"NUMBA_DISABLE_JIT": "1"},
     {"NUMBA_BOUNDSCHECK": "1", "GRIDMODL_COMPILE": "always"}],
    ids=["never", "always", "disabled", "checked"],
)  # fmt: skip
def test_who_asks_for_another_way_gets_it(installed, costs, environment):
    answer, used, _, _ = ask("answer = cost('gini')", installed, blocked=(), **environment)
    assert answer == costs[0]
    assert set(used["library"]) <= {"read_arguments"}
    assert bool(used["plain"]) != (environment.get("GRIDMODL_COMPILE") == "always")


LAB = """
class Lab(Criterion):
    name = "lab"
    problems = {"classes"}
    @staticmethod
    def cell(p, cell):
        return 1.0 + float(min(cell.counts[0], cell.counts[1]))
"""


def test_a_new_criterion_compiles_its_terms_alone(installed):
    settings = {"PYTHONHASHSEED": "0"}
    code = LAB + "from gridmodl.jit.tiers import patience\npatience.share = 0.0\nanswer = cost(Lab)"
    answer, used, _, has_numba = ask(code, installed, blocked=(), **settings)
    assert answer == 3.0
    assert has_numba
    assert [name.partition("-")[0] for name in used["other"]] == ["__main__.Lab"]
    assert "merge_steps" in used["library"]


def test_a_new_criterion_without_numba_is_plain(installed):
    answer, used, warned, _ = ask(LAB + "answer = [cost(Lab), cost(Lab)][1]", installed)
    assert answer == 3.0
    assert "merge_steps" in used["plain"]
    assert len(warned) == 1
    assert "numba is not installed" in warned[0]


def edit(file, old, new):
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))


def test_an_edited_term_or_kernel_is_not_the_librarys(installed, costs):
    package, head = installed / "gridmodl", "    def cell(p: Any, cell: Cell) -> float:\n"
    module = package.joinpath(*type(gridmodl.get_criterion("gini")).__module__.split(".")[1:]).with_suffix(".py")
    before, _, after = module.read_text().partition("class Gini")
    module.write_text(f"{before}class Gini{after.replace(head, f'{head}        return 7.0{chr(10)}', 1)}")
    answer, used, _, _ = ask(BOTH, installed)
    assert answer == ask(BOTH, installed, GRIDMODL_COMPILE="never")[0] != costs
    assert {"merge_steps"} <= set(used["plain"]) & set(used["library"])  # of the other criterion
    edit(package / "search" / "column" / "merge.py", "def merge_steps(", "# A comment above.\ndef merge_steps(")
    assert "merge_steps" in ask(BOTH, installed)[1]["library"]
    edit(package / "search" / "moves.py", "def cells_price(", "def cells_price(  # edited\n    ")
    again, used, _, _ = ask(BOTH, installed)
    assert again == answer
    assert "merge_steps" not in used["library"]


@pytest.mark.parametrize("change", ["cut", "another byte", "facts cut", "facts of another"])
def test_a_damaged_library_is_refused(installed, costs, change):
    file, facts = installed / "gridmodl" / "jit" / LIBRARY, installed / "gridmodl" / "jit" / FACTS
    content = file.read_bytes()
    if change == "cut":
        file.write_bytes(content[: len(content) // 2])
    elif change == "another byte":
        middle = len(content) // 2
        file.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    elif change == "facts cut":
        facts.write_text(facts.read_text()[:100])
    else:
        facts.write_text(json.dumps({**json.loads(facts.read_text()), "sha256": "0" * 64}))
    answer, used, warned, _ = ask(BOTH, installed)
    assert answer == costs
    assert used["library"] == []
    assert len(warned) == 2  # the other one says that numba is absent
    assert "the library of kernels" in warned[0]
    assert "is not used" in warned[0]


def test_another_processor_is_refused(installed, costs):
    file = installed / "gridmodl" / "jit" / FACTS
    known = json.loads(file.read_text())
    for change in ({"machine": "riscv128"}, {"features": ["avx", "avx4096"]}):
        file.write_text(json.dumps({**known, **change}))
        answer, used, warned, _ = ask(BOTH, installed)
        assert answer == costs
        assert used["library"] == []
        assert len(warned) == 2
        assert "riscv128" in warned[0] or "avx4096" in warned[0]


def test_features_that_are_lacking_are_named():
    machine = os.uname().machine.lower()
    assert lacking_features(machine, []) == []
    assert lacking_features(machine, ["avx4096"]) == ["avx4096"]
    assert lacking_features("riscv128", []) == ["riscv128"]


def test_the_same_objects_give_the_same_bytes(objects, tmp_path):
    for name in ("one", "two"):
        link(objects, tmp_path / name, ("avx",))
    for file in (LIBRARY, FACTS):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_a_foreign_symbol_is_refused_when_the_library_is_built(objects, tmp_path):
    mine = tmp_path / "objects"
    shutil.copytree(objects, mine)
    file = next(mine.glob("*.kernel"))
    found = cache.parse(file.read_bytes())
    content = json.dumps([found.symbols, found.returns, [*found.needs, "NRT_Allocate"]]).encode() + b"\n" + found.code
    file.write_bytes(cache.HEADER + cache.hashlib.sha256(content).digest() + content)
    with pytest.raises(SystemExit, match="NRT_Allocate"):
        link(mine, tmp_path / "out", ())
    assert not (tmp_path / "out").exists()
    assert ALLOWED.isdisjoint({"NRT_Allocate", "numba_gil_ensure"})


def test_a_library_that_is_there_does_not_leave_its_successor_without_kernels(installed, tmp_path):
    process(COMPILE, installed, NUMBA_CACHE_DIR=str(tmp_path / "again"), GRIDMODL_COMPILE="always")
    assert len(list((tmp_path / "again").glob("gridmodl/*.read_arguments-*"))) == 1


def test_names_do_not_say_where_a_module_lies(monkeypatch):
    here = repr(np), library.source_digest([merge_steps])
    monkeypatch.setattr(np.__spec__, "origin", "/elsewhere/numpy/__init__.py")
    assert repr(np) != here[0]
    assert library.source_digest([merge_steps]) == here[1] is not None


def priced_by(term):
    """A criterion that writes one term; all have one name, and one function."""
    return type("One", (gridmodl.Criterion,), {"name": "one", "problems": {"classes"}, term: staticmethod(alike)})


def alike(p, cell):
    return -1.0


def test_names_of_terms_say_which_terms_they_are():
    one, other = priced_by("cell"), priced_by("floor")
    assert native.Known(one).digest != native.Known(other).digest
    assert library.terms_symbol(one, "") != library.terms_symbol(other, "")
    assert native.Known(one).digest == native.Known(priced_by("cell")).digest
    assert library.terms_symbol(one, "") == library.terms_symbol(priced_by("cell"), "")


def test_the_library_needs_only_what_every_process_has(installed):
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("needs nm, of binutils")
    file = installed / "gridmodl" / "jit" / LIBRARY
    listed = subprocess.run([nm, "-D", "--undefined-only", file], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1].partition("@")[0] for line in listed.splitlines()}
    made_by_the_linker = {
        "__cxa_finalize",
        "__gmon_start__",
        "_ITM_deregisterTMCloneTable",
        "_ITM_registerTMCloneTable",
    }
    assert names - made_by_the_linker <= ALLOWED


THREADS = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool:
    answer = sorted(set(pool.map(cost, ["gini", "bic"] * 40)))
"""
FORK = """
import multiprocessing
first = cost("gini")
with multiprocessing.get_context("fork").Pool(2) as pool:
    answer = sorted(set(pool.map(cost, ["gini", "bic"] * 4)))
"""
LEAK = """
import resource
for _ in range(300): cost("gini")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(3_000): cost("gini")
answer = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
"""


@pytest.mark.parametrize("code", [THREADS, FORK], ids=["threads", "fork"])
def test_many_at_once(installed, costs, code):
    answer, used, warned, _ = ask(code, installed)
    assert answer == sorted(costs)
    assert used["plain"] == warned == []


def test_calls_leave_nothing_behind(installed):
    """Three thousand searches are more than ten thousand calls of kernels."""
    megabytes, used, _, _ = ask(LEAK, installed)
    assert used["plain"] == []
    assert megabytes < 4.0


def test_without_a_library_there_is_no_warning(tmp_path):
    assert library.Library(tmp_path).refusal == "gridmodl was installed without it"
