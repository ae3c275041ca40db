"""What must hold for densities of one column by additive criteria."""

from __future__ import annotations

import math

import numpy as np
from fuzz.cases import Case, Rng
from oracles.naive_histogram import lowest_cost

import gridmodl
from gridmodl import Model, get_criterion


def check_histogram(case: Case, rng: Rng) -> None:
    """The proven cost is that of all partitions; prices, rows, files, weights and the order of rows agree."""
    name, options = case.method
    criterion = get_criterion(name, **options)
    asked = {"criterion": criterion, "special": [], **case.limits}
    column = case.columns["x"]
    rows = column.taken(case.repeats())
    values = np.array([value for value in rows.objects() if value is not None])
    if len(set(values)) < 2:
        return
    given = {} if case.weights is None else {"weights": case.weights}
    data = {"x": column.raw()}
    model = gridmodl.optimize(data, search="exact", **asked, **given)
    (partition,) = model.partitions.values()
    prior = {"modl": 0.0, "penalized-likelihood": options.get("penalty"), "bayesian-blocks": None}[name]
    if prior is None:
        prior = 4.0 - math.log(73.53 * options["p0"] * len(values) ** -0.478)
    has_gaps = name != "bayesian-blocks" and "min_rows" not in case.limits
    lowest = lowest_cost(name, values, case.limits["max_parts"], has_gaps=has_gaps, price_of_part=prior)
    assert model.proven, "not proven"
    assert math.isclose(model.cost, lowest, rel_tol=1e-9, abs_tol=1e-8), f"cost {model.cost!r}, lowest {lowest!r}"
    merged = gridmodl.optimize(data, search="merge", **asked, **given)
    assert lowest - 1e-8 <= merged.cost <= model.null_cost + 1e-8, "merge"
    assert gridmodl.verify(model, data, **given), gridmodl.verify(model, data, **given).reason
    again = gridmodl.price(data, None, {"x": partition}, criterion=criterion, **given)
    assert math.isclose(again, model.cost, rel_tol=1e-9, abs_tol=1e-8), f"price {again!r}, cost {model.cost!r}"
    parts = model.transform(values)
    assert partition.rows.tolist() == np.bincount(parts, minlength=partition.n_parts).tolist(), "rows of parts"
    table = model.table()
    assert math.isclose(float(table["width"] @ table["density"]), 1.0, rel_tol=1e-9), "the density and 1"
    assert Model.from_json(model.to_json()).to_json() == model.to_json(), "after JSON"
    shuffled = {"x": rows.taken(rng.permutation(len(rows.levels))).raw()}
    other = gridmodl.optimize(shuffled, search="exact", **asked)
    assert other.cost == model.cost, "cost with repeated rows in another order"
    assert other.partitions["x"].bounds.tolist() == partition.bounds.tolist(), "bounds of repeated rows"
    for i in range(partition.n_parts - 1):
        edited = model.edit("x", merge=[i, i + 1])
        again = gridmodl.price(data, None, {"x": edited.partitions["x"]}, criterion=criterion, **given)
        assert math.isclose(edited.cost, again, rel_tol=1e-9, abs_tol=1e-8), f"edit of parts {i} and {i + 1}"
