"""Where search="auto" gives up the proof, the model says why, and how to get it."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import gridmodl
from gridmodl import Criterion, Model
from gridmodl.model.file import ModelFileError
from gridmodl.search.column import exact
from gridmodl.terms import finish


class Loose(Criterion):
    """2 L and log N a part, without a floor."""

    name = "loose"
    problems = {"classes"}
    groups_by_share = True

    @staticmethod
    def cell(p, cell):
        cost = p.log_rows
        for n in cell.counts:
            cost -= 2.0 * n * math.log(n / cell.rows) if n > 0 else 0.0
        return cost


class Floored(Loose):
    name = "floored"

    @staticmethod
    def floor(p, cell):
        loss = 0.0
        for n in cell.counts:
            loss -= 2.0 * n * math.log(n / cell.rows) if n > 0 else 0.0
        return loss


class Finished(Floored):
    name = "finished"

    @staticmethod
    def finish(p, total, shape):
        return 2.0 * total


@pytest.fixture
def rows(monkeypatch):
    """As many values as a second would not suffice for, if computers were slower."""
    monkeypatch.setattr(exact, "QUICK_PRICES", 2 * 200.0**2)
    rng = np.random.default_rng(1)
    x = np.arange(300)
    return x, (rng.random(300) < 0.2 + 0.6 * (x > 120)).astype(int)


SAID = (
    "criterion 'loose' has no `floor`, and there are more than 200 values; write one, or search='exact' tries all pairs"
)


def test_a_criterion_without_a_floor_says_so_where_the_proof_is_given_up(rows):
    model = gridmodl.optimize(*rows, criterion=Loose)
    assert not model.proven
    assert model.unproven == SAID
    flat = " ".join(model.summary().split())
    assert f"not proven: {SAID}" in flat
    assert "`floor`, and there are more than 200 values" in model.to_html()


def test_as_many_values_as_it_says_are_proven(rows):
    x, y = rows
    assert gridmodl.optimize(x[:200], y[:200], criterion=Loose).proven
    assert gridmodl.optimize(x[:256], y[:256], criterion=Loose).unproven == SAID
    assert gridmodl.optimize(x[:201], y[:201], criterion=Loose).unproven == SAID


@pytest.mark.parametrize("how", ["exact", "merge", "floor", "stopped"])
def test_it_says_nothing_else(rows, how):
    x, y = rows
    if how == "stopped":
        model = gridmodl.optimize(x, y, criterion=Loose, time_limit=0.0)
        assert model.stopped == "time limit"
    elif how == "floor":
        model = gridmodl.optimize(x, y, criterion=Floored)
        assert model.proven or model.gap is not None or "longer than search='auto' gives it" in model.unproven
        return
    else:
        model = gridmodl.optimize(x, y, criterion=Loose, search=how)
    assert model.unproven is None
    assert "not proven:" not in model.summary()


def test_a_finish_says_so(rows, monkeypatch):
    monkeypatch.setattr(exact, "FEW_ATOMS", 250)
    assert Finished.finish is not finish
    model = gridmodl.optimize(*rows, criterion=Finished)
    assert model.unproven == (
        "criterion 'finished' has a `finish`, and there are more than 250 values; search='exact' tries all pairs"
    )


def test_groups_in_the_order_of_their_shares_say_so_too(rows):
    assert len(rows) == 2
    weights = np.random.default_rng(2).integers(1, 100_000, 600)  # so that no two shares are the same
    towns, target = np.repeat([f"town {i}" for i in range(300)], 2), np.tile([0, 1], 300)
    model = gridmodl.optimize({"town": towns}, target, criterion=Loose, weights=weights)
    assert model.unproven == SAID


def test_limits_do_not_lose_the_reason(rows, monkeypatch):
    from gridmodl.search.column import limited

    monkeypatch.setattr(limited, "FEW_ATOMS", 100)
    model = gridmodl.optimize(*rows, criterion=Loose, min_rows=4, monotone="increasing")
    assert model.proven or model.unproven == SAID


def test_it_travels_and_goes_with_the_proof(rows):
    model = gridmodl.optimize(*rows, criterion=Loose)
    assert Model.from_json(model.to_json()).unproven == SAID
    lazy = gridmodl.optimize(pl.LazyFrame({"x": rows[0], "y": rows[1]}), "y", criterion=Loose)
    assert lazy.unproven == SAID
    assert model.edit("x0", merge=[0, 1]).unproven is None if model.partitions["x0"].n_parts > 1 else True
    proven = gridmodl.optimize(*rows).to_json()
    with pytest.raises(ModelFileError, match="unproven: must be left out, as the model is proven"):
        Model.from_json(proven.replace('"search":', '"unproven": "no", "search":', 1))
