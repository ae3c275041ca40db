"""What README.md and the docstrings show is what happens."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest
from docs.pages import blocks_of, printed_by, without_seconds

import gridmodl

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MODULES = sorted(module.name for module in pkgutil.walk_packages(gridmodl.__path__, "gridmodl."))


def test_its_code_runs_and_prints_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = blocks_of(README)
    for block, printed in zip(blocks, printed_by(blocks, "README.md"), strict=True):
        assert without_seconds(printed) == without_seconds(block.shown or ""), f"README.md, line {block.line}"
    assert any(block.shown for block in blocks)
    assert list(tmp_path.iterdir()) == []


def test_it_stays_short():
    assert len(README.splitlines()) <= 200


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_the_files_it_links_to_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_some_docstrings_have_examples():
    finder = doctest.DocTestFinder()
    n_examples = sum(len(test.examples) for name in MODULES for test in finder.find(importlib.import_module(name)))
    assert n_examples > 10
