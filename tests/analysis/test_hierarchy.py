"""From a grid down to one cell, and the coarser models on the way."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.cluster.hierarchy import dendrogram, is_valid_linkage

from gridmodl import Model, Search, optimize, price

QUICK = Search(effort=1)


def rows(n=400, seed=0):
    """Four kinds of rows that `x`, `c` and `w` tell of; some of `x` missing, a value of `c` too."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 4, n)
    x = kind + rng.random(n)
    x[:40] = np.nan
    c = np.array(
        [f"v{g * 5 + i}" for g, i in zip(rng.permutation(4)[kind], rng.integers(0, 5, n), strict=True)], object
    )
    c[c == "v3"] = None
    w = np.where(rng.random(n) < 0.9, kind, rng.integers(0, 4, n)).astype(str).astype(object)
    return {"x": x, "c": c, "w": w, "noise": rng.random(n)}, kind


@pytest.fixture(scope="module")
def two():
    data, _ = rows()
    data = {name: data[name] for name in ("x", "c")}
    return data, optimize(data, random_state=3, search=QUICK)


@pytest.fixture(scope="module")
def four():
    data, _ = rows()
    return data, optimize(data, random_state=3, search=QUICK)


@pytest.fixture(params=["two", "four"])
def made(request):
    return request.getfixturevalue(request.param)


def priced(model, data, target=None, **options):
    partitions = dict(model.partitions)
    if model.target is not None:
        partitions[model.target.name] = model.target
    return price(data, target, partitions, **options)


def test_it_leads_to_one_cell(made):
    _, model = made
    hierarchy = model.hierarchy()
    assert len(hierarchy) == sum(partition.n_parts - 1 for partition in model.partitions.values())
    assert hierarchy.information.shape == (len(hierarchy) + 1,)
    assert hierarchy.information[[0, -1]].tolist() == [1.0, 0.0]
    assert hierarchy.shape_at(len(hierarchy)) == dict.fromkeys(model.partitions, 1)
    assert hierarchy.steps[-1].cost == model.null_cost
    sizes = " x ".join(str(model.partitions[name].n_parts) for name in model.informative)
    assert repr(hierarchy) == f"Hierarchy({sizes}, {len(hierarchy)} merges)"


def test_every_step_is_the_cheapest_merge(made):
    data, model = made
    hierarchy = model.hierarchy()
    for step in range(0, len(hierarchy), 3):
        before = _model_at(model, hierarchy, step)
        costs = []
        for name, partition in before.partitions.items():
            any_two = partition.kind == "categorical"
            n = range(partition.n_parts)
            for i, j in itertools.combinations(n, 2) if any_two else itertools.pairwise(n):
                costs.append(price(data, None, {**before.partitions, name: _joined(partition, i, j)}))
        assert hierarchy.steps[step].cost == pytest.approx(min(costs), rel=1e-11)


def _joined(partition, i, j):
    if partition.kind == "categorical":
        groups = [group for k, group in enumerate(partition.groups) if k not in (i, j)]
        return [*groups, partition.groups[i] + partition.groups[j]]
    first = int(partition.is_missing_apart)
    bounds = partition.bounds.tolist()
    if i >= first:
        del bounds[i - first]
    return ([math.nan] if first and i > 0 else []) + bounds


def _model_at(model, hierarchy, step):
    return model.coarsen(max_cells=math.prod(hierarchy.shape_at(step).values()))


def test_a_coarser_model_is_a_model(made):
    data, model = made
    hierarchy = model.hierarchy()
    for step in range(len(hierarchy) + 1):
        coarse = _model_at(model, hierarchy, step)
        cost = hierarchy.steps[step - 1].cost if step else model.cost
        assert coarse.cost == pytest.approx(cost, rel=1e-11)
        assert coarse.cost == pytest.approx(priced(coarse, data), rel=1e-11)
        assert coarse.delta == coarse.cost - model.cost
        assert not coarse.proven
        assert {name: partition.n_parts for name, partition in coarse.partitions.items()} == hierarchy.shape_at(step)
        parts = coarse.transform(data)
        for k, partition in enumerate(coarse.partitions.values()):
            assert np.bincount(parts[:, k], minlength=partition.n_parts).tolist() == partition.counts[:, 0].tolist()
            assert partition.n_values.sum() == model.partitions[partition.name].n_values.sum()
        assert np.bincount(coarse.cell_of(data)).tolist() == coarse.cells.rows.tolist()
        assert set(coarse.left_out) == set(coarse.partitions) - set(coarse.informative)
        again = Model.from_json(coarse.to_json())
        assert again.cost == coarse.cost
        assert again.hierarchy().steps == coarse.hierarchy().steps
    assert coarse.left_out["x"] == "its parts were merged into one as the grid was coarsened"


def test_missing_values_and_unknown_ones_go_where_their_parts_went(two):
    _, model = two
    assert model.partitions["x"].is_missing_apart
    coarse = model.coarsen(max_parts=2)
    x, c = coarse.partitions["x"], coarse.partitions["c"]
    assert x.part_of([np.nan]).tolist() == [x.missing] == [0]
    assert not x.is_missing_apart
    assert None in c.groups[c.missing]
    assert c.default is None
    old = replace(model, partitions={**model.partitions, "c": replace(model.partitions["c"], default=1)})
    again = old.coarsen(max_parts=2).partitions["c"]
    assert model.partitions["c"].groups[1][0] in again.groups[again.default]
    assert c.counts[0, 0] >= c.counts[1, 0]
    for group in c.groups:  # values of each old group keep their order
        for old in model.partitions["c"].groups:
            if old[0] in group:
                assert [value for value in group if value in old] == list(old)
                assert old[0] in group[:4]


def test_linkages_are_those_of_scipy(made):
    _, model = made
    hierarchy = model.hierarchy()
    for name in model.informative:
        linkage = hierarchy.linkage(name)
        n = model.partitions[name].n_parts
        assert linkage.shape == (n - 1, 4)
        assert is_valid_linkage(linkage)
        assert linkage[-1, 3] == n
        assert np.all(np.diff(linkage[:, 2]) >= 0)
        labels = model.partitions[name].labels
        assert sorted(dendrogram(linkage, labels=labels, no_plot=True)["ivl"]) == sorted(labels)
    with pytest.raises(ValueError, match=r"name must be a variable with more than one part .*'x'.*, got 'z'"):
        hierarchy.linkage("z")


def test_parts_are_those_of_the_coarser_model(four):
    _, model = four
    hierarchy = model.hierarchy()
    for step in (0, 1, 3, len(hierarchy)):
        parts = hierarchy.parts_at(step)
        coarse = _model_at(model, hierarchy, step)
        for name, partition in coarse.partitions.items():
            counts = np.bincount(parts[name], model.partitions[name].counts[:, 0])
            assert sorted(counts) == sorted(partition.counts[:, 0])
    with pytest.raises(ValueError, match=f"step must be a whole number from 0 to {len(hierarchy)}, got -1"):
        hierarchy.parts_at(-1)


def test_how_coarse_it_is(four):
    _, model = four
    hierarchy = model.hierarchy()
    for most in (1, 2, 7, 30):
        coarse = model.coarsen(max_cells=most)
        assert math.prod(partition.n_parts for partition in coarse.partitions.values()) <= most
    assert max(partition.n_parts for partition in model.coarsen(max_parts=3).partitions.values()) == 3
    assert model.coarsen(max_parts={"c": 2}).partitions["c"].n_parts == 2
    assert model.coarsen(max_cells=10**9).cost == model.cost
    for share in (0.0, 0.3, 0.8, 1.0):
        coarse = model.coarsen(information=share)
        kept = (model.null_cost - coarse.cost) / (model.null_cost - model.cost)
        assert kept >= share - 1e-9
        last = np.flatnonzero(hierarchy.information >= share)[-1]
        assert {name: p.n_parts for name, p in coarse.partitions.items()} == hierarchy.shape_at(int(last))
    assert model.coarsen(information=0.5, max_parts=5).cost == model.coarsen(information=0.5).cost


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "say how coarse the grid should be: max_cells=, max_parts= or information="),
        ({"max_cells": 0}, "max_cells must be a whole number of at least 1, got 0"),
        ({"max_parts": 1.5}, "max_parts must be a whole number of at least 1, got 1.5"),
        ({"max_parts": {"x": True}}, r"max_parts\['x'\] must be a whole number of at least 1, got True"),
        ({"max_parts": {"z": 2}}, "max_parts names 'z'; the model has 'x', 'c', 'w', 'noise'"),
        ({"information": 1.1}, "information must be a share from 0 to 1, got 1.1"),
        ({"information": "all"}, "information must be a share from 0 to 1, got 'all'"),
        ({"information": math.nan}, "information must be a share from 0 to 1, got nan"),
        ({"information": 0.9, "max_cells": 2}, "information=0.9 takes .* cells .* keeps a share of .*: ask for less"),
    ],
)
def test_what_cannot_be_is_refused(four, options, message):
    with pytest.raises(ValueError, match=message):
        four[1].coarsen(**options)


def test_a_null_grid_is_as_coarse_as_can_be():
    rng = np.random.default_rng(0)
    model = optimize({"a": rng.random(60), "b": rng.integers(0, 3, 60).astype(str)}, search=QUICK)
    assert model.informative == []
    hierarchy = model.hierarchy()
    assert (len(hierarchy), hierarchy.information.tolist()) == (0, [0.0])
    assert model.coarsen(max_cells=5).cost == model.cost
    assert model.coarsen(information=0.5).cost == model.cost


def test_parts_without_rows_go_first():
    data = {"x": np.repeat([1.0, 2.0, 9.0], 30), "c": np.repeat(["a", "b", "c"], 30)}
    groups = [["a"], ["never"], ["b"], ["c", "nor this"]]
    model = Model.from_partitions(data, None, {"x": [1.5, 4.0, 6.0], "c": groups})
    hierarchy = model.hierarchy()
    assert [(merge.name, merge.stays, merge.goes) for merge in hierarchy.steps[:2]] == [("x", 1, 2), ("c", 0, 1)]
    assert hierarchy.information[:3].tolist() == [1.0, 1.0, 1.0]
    coarse = model.coarsen(max_cells=9)
    assert coarse.cost == pytest.approx(model.cost, rel=1e-12)
    assert coarse.partitions["x"].bounds.tolist() == [1.5, 6.0]
    assert coarse.partitions["c"].groups == (("a", "never"), ("b",), ("c", "nor this"))


@pytest.mark.parametrize("name", ["x", "c"])
@pytest.mark.parametrize("target_kind", ["grouped", None])
def test_a_target_that_is_partitioned_merges_too(name, target_kind):
    data, kind = rows()
    rng = np.random.default_rng(1)
    if target_kind == "grouped":
        target = np.array([f"k{g * 3 + i}" for g, i in zip(kind, rng.integers(0, 3, len(kind)), strict=True)], object)
    else:
        target = kind + 0.3 * rng.normal(size=len(kind))
    data, options = {name: data[name]}, {} if target_kind is None else {"target_kind": target_kind}
    model = optimize(data, target, random_state=3, search=QUICK, **options)
    hierarchy = model.hierarchy()
    assert set(hierarchy.n_parts) == {name, "target"}
    assert len(hierarchy) == model.partitions[name].n_parts + model.target.n_parts - 2
    for variable in hierarchy.n_parts:
        assert is_valid_linkage(hierarchy.linkage(variable))
    for step in range(1, len(hierarchy) + 1, 2):
        coarse = _model_at(model, hierarchy, step)
        assert coarse.cost == pytest.approx(hierarchy.steps[step - 1].cost, rel=1e-11)
        assert coarse.cost == pytest.approx(priced(coarse, data, target, **options), rel=1e-11)
        again = Model.from_json(coarse.to_json())
        if target_kind == "grouped":
            assert again.predict_proba(data).sum(axis=1) == pytest.approx(1)
        else:
            part = coarse.transform(data[name])
            means = np.array([target[part == i].mean() for i in range(part.max() + 1)])
            assert again.predict(data).mean == pytest.approx(means[part])
            medians = np.array([np.median(target[part == i]) for i in range(part.max() + 1)])
            assert again.predict(data).median == pytest.approx(medians[part], abs=0.1)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("values", [(0.1, 0.1), (123.456, 7.0), (-1.7e308, 1.7e308), (1.7e308, -1.7e308)])
def test_means_and_percentiles_of_merged_parts_stay_within_their_rows(values):
    x = np.append(np.arange(6).repeat(np.arange(1, 7)), [99] * 30)
    target = np.append(np.full(21, values[0]), np.resize(values, 30))
    bounds = (np.arange(6) + 0.5).tolist()
    model = Model.from_partitions(x, target, {"x0": bounds}, target_kind="numerical")
    for max_parts in range(1, 7):
        coarse = Model.from_json(model.coarsen(max_parts=max_parts).to_json())  # refused where they do not
        assert np.isfinite(coarse.predict(x)).all()
    assert coarse.partitions["x0"].n_parts == 6
    one = model.coarsen(max_parts=1).predict(x[:1], coverage=0.9)
    low, high = np.quantile(target / 4.0, [0.05, 0.95]) * 4.0
    assert (one.lower[0], one.upper[0]) == pytest.approx((low, high))  # of all rows they are known


def test_models_that_do_not_know_their_values_are_named():
    data, kind = rows()
    model = Model.from_partitions({"x": data["x"], "w": data["w"]}, kind, {"x": [1.0, 2.0]})
    with pytest.raises(ValueError, match="column 'x' does not say how many values its parts hold"):
        model.hierarchy()


def test_a_cost_of_another_criterion_is_named(two):
    _, model = two
    with pytest.raises(ValueError, match="it was made by another criterion of that name"):
        replace(model, cost=model.cost - 1.0).hierarchy()
