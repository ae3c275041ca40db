"""Kernels without the compiler, and compiled with a check of every index: nothing may lie outside its array."""

from __future__ import annotations

import ast
import math

import pytest
from testing.lanes import BROKEN, FULL, KINDS, PROJECT, run


@pytest.fixture(autouse=True)
def _compiled(monkeypatch):
    """What lanes are compared with is compiled."""
    monkeypatch.setenv("GRIDMODL_COMPILE", "always")


def differences(one, other, place=""):
    """Where two results differ: numbers by more than rounding, all else at all."""
    if isinstance(one, float) and isinstance(other, float):
        if not math.isclose(one, other, rel_tol=1e-9) and not (math.isnan(one) and math.isnan(other)):
            yield place, one, other
    elif isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from differences(one[key], other[key], f"{place}/{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from differences(left, right, f"{place}/{i}")
    elif one != other:
        yield place, one, other


@pytest.mark.parametrize(("lane", "kind"), [*(("plain", kind) for kind in BROKEN), ("checked", "past_the_end")])
def test_a_lane_sees_what_is_wrong(lane, kind):
    with pytest.raises(RuntimeError, match="OverflowError" if kind == "overflow" else "IndexError"):
        run(lane, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_plain_lane(kind):
    assert list(differences(run("plain", kind).found[kind], dict(KINDS[kind]()))) == []


@pytest.mark.slow
def test_plain_lane_has_every_kernel():
    bound = set()
    for file in (PROJECT / "gridmodl").rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "bind":
                bound.add(ast.unparse(call.args[0]))
    assert bound >= {"merge_steps", "transfer_visits"}
    assert bound - set(run("plain", *KINDS).kernels) == set()


@pytest.mark.parametrize("kind", ["full_columns", "full_pairs"])
def test_checked_lane(kind):
    assert list(differences(run("checked", kind).found[kind], dict(FULL[kind]()))) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, "full_grids", "full_targets"])
def test_checked_lane_of_every_kind(kind):
    assert list(differences(run("checked", kind).found[kind], dict((KINDS | FULL)[kind]()))) == []
