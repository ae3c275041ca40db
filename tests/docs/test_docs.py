"""The pages of docs/: their code does what they say, and the reference leaves out no public name."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from docs.docstrings import section, wrong_with_class, wrong_with_function
from docs.pages import blocks_of, printed_by, without_seconds

import gridmodl
from gridmodl import terms

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8")
    for folder in (".", "use", "how")
    for path in sorted((DOCS / folder).glob("*.md"))
}
WITH_CODE = [name for name, text in PAGES.items() if blocks_of(text)]


def documented() -> dict[str, object]:
    """Full names on the pages of the reference, and what they stand for."""
    names = []
    for path in sorted((DOCS / "api").glob("*.rst")):
        module = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if found := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
                module = found[1]
            elif found := re.fullmatch(r"(?:   |\.\. py:data:: )(\w+)", line):  # an entry of autosummary
                names.append((module, found[1]))
    return {f"{m}.{n}": getattr(importlib.import_module(m), n) for m, n in names if m}


def public() -> dict[str, object]:
    """What a user may import: of gridmodl, of its public modules, and the terms and records of criteria."""
    found = {f"gridmodl.{name}": getattr(gridmodl, name) for name in dir(gridmodl)}
    for module in [one for one in found.values() if inspect.ismodule(one)]:
        del found[module.__name__]
        found |= {f"{module.__name__}.{name}": getattr(module, name) for name in module.__all__}
    records = [one for one in vars(terms).values() if hasattr(one, "_fields") and one.__module__ == terms.__name__]
    for one in (*terms.TERMS, *terms.FLOORS, *records):
        found[f"gridmodl.terms.{one.__name__}"] = one
    return {**found, "gridmodl.terms.PROBLEMS": terms.PROBLEMS}


DOCUMENTED = documented()


@pytest.mark.parametrize("page", WITH_CODE)
def test_the_code_of_a_page_runs_and_prints_what_is_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = blocks_of(PAGES[page])
    for block, printed in zip(blocks, printed_by(blocks, page), strict=True):
        assert without_seconds(printed) == without_seconds(block.shown or ""), f"{page}, line {block.line}"
    assert list(tmp_path.iterdir()) == []


def test_most_pages_of_uses_have_code():
    assert len(WITH_CODE) >= 10


def test_the_reference_leaves_out_no_public_name():
    known = {id(one) for one in DOCUMENTED.values()}
    assert [name for name, one in public().items() if name not in DOCUMENTED and id(one) not in known] == []


@pytest.mark.parametrize("name", [name for name, one in DOCUMENTED.items() if inspect.isfunction(one)])
def test_a_function_says_what_its_parameters_are(name):
    assert list(wrong_with_function(DOCUMENTED[name])) == []


@pytest.mark.parametrize("name", [name for name, one in DOCUMENTED.items() if inspect.isclass(one)])
def test_a_class_says_what_it_has(name):
    assert list(wrong_with_class(DOCUMENTED[name])) == []


def test_what_is_left_out_is_found():
    def unsaid(data, target):
        """Nothing of its parameters."""

    def half_said(data, target):
        """Half of it.

        Parameters
        ----------
        data : array
            Some.
        goal : array
            What is not there.
        """

    assert list(wrong_with_function(unsaid)) == ["does not name 'data'", "does not name 'target'"]
    assert list(wrong_with_function(half_said)) == ["lists 'goal', which is no parameter", "says nothing of 'target'"]
    assert section(inspect.getdoc(half_said), "Parameters") == {"data": "Some.", "goal": "What is not there."}


def test_what_a_class_method_leaves_out_is_found(monkeypatch):
    monkeypatch.setattr(gridmodl.plot.CostDisplay.from_curve.__func__, "__doc__", "Nothing of its parameter.")
    assert list(wrong_with_class(gridmodl.plot.CostDisplay)) == [".from_curve does not name 'curve'"]


def test_every_command_is_on_the_page_of_the_command_line():
    from gridmodl.cli.group import gridmodl as group

    page = PAGES["use/command_line.md"]
    assert [name for name in group.commands if f"gridmodl {name}" not in page] == []


def test_every_extra_is_on_the_page_of_installation():
    extras = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    assert [name for name in extras if f"| `{name}` |" not in PAGES["install.md"]] == []


def test_the_glossary_leads_from_every_term_to_a_page():
    entries = re.findall(
        r"((?:^\w.*\n)+)((?:^  .*\n)+)", PAGES["glossary.md"].partition("{glossary}\n")[2], re.MULTILINE
    )
    words = [term for terms, _ in entries for term in terms.splitlines()]
    assert len(words) == len(set(words))
    assert entries == sorted(entries, key=lambda entry: entry[0].lower())
    assert [terms for terms, text in entries if not re.search(r"\]\([\w/]+\.md", text)] == []
    asked = {
        "bin",
        "binning",
        "WoE",
        "IV",
        "scorecard",
        "calibration",
        "coclustering",
        "PSI",
        "missing values",
        "weights",
    }
    assert asked <= set(words)


def test_the_table_of_the_reference_has_every_name_once():
    path = DOCS / "_extensions" / "apitable.py"
    spec = importlib.util.spec_from_file_location("apitable", path)
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    source = [(DOCS / "api" / "index.rst").read_text(encoding="utf-8")]
    table.add_tables(SimpleNamespace(srcdir=DOCS), "api/index", source)
    listed = re.findall(r"^   (\w+)$", source[0].partition(".. rubric::")[2], re.MULTILINE)
    on_pages = [name.rpartition(".")[2] for name in DOCUMENTED]
    data = ["hookimpl", "__version__"]  # entries of their own on a page
    assert sorted(listed + data) == sorted(on_pages)


def test_every_criterion_has_its_formula():
    formulas = PAGES["how/formulas.md"]
    assert [name for name in gridmodl.list_criteria() if not re.search(rf"\b{re.escape(name)}\b", formulas)] == []


# In place of Sphinx: what it finds is printed, its last page is written at the end.
SPHINX = """#!/bin/sh
cd docs/_build
ls
mkdir -p html doctrees
touch html/first.html
test ! -e ../interrupt || kill -KILL $PPID
touch html/searchindex.js
"""


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_an_interrupted_build_is_begun_anew(tmp_path):
    """Pages that were written before the interrupt would be missing from the index for searches."""
    shutil.copy(DOCS.parent / "Makefile", tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "sphinx-build").write_text(SPHINX)
    (tmp_path / "sphinx-build").chmod(0o755)
    interrupt = tmp_path / "docs" / "interrupt"

    def built():
        command = ["make", "--silent", "--assume-old=.venv/.has-docs", "docs", f"BIN={tmp_path}"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        return done.returncode, [line for line in done.stdout.splitlines() if "open" not in line]

    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / ".has-docs").touch()
    interrupt.touch()
    code, found = built()
    assert (code != 0, found) == (True, ["unfinished"])
    interrupt.unlink()
    assert built() == (0, ["unfinished"])
    assert built() == (0, ["doctrees", "html", "unfinished"])
