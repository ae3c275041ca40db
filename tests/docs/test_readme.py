"""What README.md and the docstrings show is what happens."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest
from docs.pages import PYTHON, blocks_of, printed_by

import gridmodl

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MODULES = sorted(module.name for module in pkgutil.walk_packages(gridmodl.__path__, "gridmodl."))


def test_its_code_runs_and_prints_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = {line.strip() for out in printed_by(blocks_of(README), "README.md") for line in out.splitlines()}
    prose = PYTHON.sub("", README)
    shown = [line.strip() for line in re.findall(r"^ {6,}\S.*", prose, re.MULTILINE)]  # rows of tables
    assert shown
    assert [line for line in shown if line not in printed] == []
    assert list(tmp_path.iterdir()) == []


def test_the_files_it_links_to_exist():
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_some_docstrings_have_examples():
    finder = doctest.DocTestFinder()
    n_examples = sum(len(test.examples) for name in MODULES for test in finder.find(importlib.import_module(name)))
    assert n_examples > 10
