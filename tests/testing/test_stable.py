"""How numbers of the stable benchmarks are compared with the committed ones."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "asv_benchmarks"


@pytest.fixture(scope="module")
def stable():
    sys.path.append(str(FOLDER))
    from benchmarks import stable

    return stable


HERE = {"numpy": "2.4"}


def baseline(values):
    return {"environment": HERE, "values": values}


def test_what_rises_beyond_its_tolerance_fails_and_what_falls_is_told(stable):
    before = {"proof/a": 100.0, "proof/b": 100.0, "proof/c": 100.0, "file/d": 13, "file/e": 13, "file/f": 9}
    after = {"proof/a": 101.5, "proof/b": 100.5, "proof/c": 98.0, "file/d": 14, "file/e": 12, "file/f": 9}
    found = stable.compare(baseline(before), after, HERE)
    assert [line.split(":")[0] for line in found.rose] == ["file/d", "proof/a"]
    assert [line.split(":")[0] for line in found.fell] == ["file/e", "proof/c"]
    assert found.rose[0] == "file/d: 13 -> 14 bytes of JSON"
    assert found.is_failed
    assert not stable.compare(baseline(after), before | {"proof/c": 98.5, "file/e": 12}, HERE).is_failed


def test_numbers_that_came_or_went_fail(stable):
    assert stable.compare(baseline({"file/a": 1}), {"file/a": 1, "file/b": 2}, HERE).new == ["file/b: 2 bytes of JSON"]
    assert stable.compare(baseline({"file/a": 1, "file/b": 2}), {"file/a": 1}, HERE).gone == ["file/b"]
    assert stable.compare(baseline({"file/a": 1}), {"file/a": 1, "file/b": 2}, HERE).is_failed


def test_what_another_version_decides_is_not_compared_and_that_is_said(stable):
    before = {"arrays/a": 1000, "proof/c": 5.0}
    found = stable.compare(baseline(before), {"arrays/a": 9999, "proof/c": 5.0}, {"numpy": "3.0"})
    assert not found.is_failed
    assert found.not_compared == ["arrays/a: numpy is 3.0, was 2.4"]


def test_the_committed_baseline_has_numbers_of_every_kind(stable):
    committed = json.loads(stable.BASELINE.read_text())
    assert {name.split("/")[0] for name in committed["values"]} == set(stable.KINDS)
    assert set(committed["environment"]) == set(HERE)
    assert all(value > 0 for value in committed["values"].values())
