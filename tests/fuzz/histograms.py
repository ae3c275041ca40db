"""What must hold for densities of one column by additive criteria."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from fuzz.cases import Case, Rng
from oracles.naive_histogram import lowest_cost
from report.databases import Stored, run

import gridmodl
from gridmodl import Criterion, Model, get_criterion


def check_histogram(case: Case, rng: Rng) -> None:
    """The proven cost is that of all partitions; prices, rows, files, weights and the order of rows agree."""
    name, options = case.method
    column = case.columns["x"].taken(case.repeats())
    values = np.array([value for value in column.objects() if value is not None])
    if len(set(values)) < 2:
        return
    has_gaps = name != "bayesian-blocks" and "min_rows" not in case.limits
    prior = price_of_part(case, len(values))
    lowest = lowest_cost(name, values, case.limits["max_parts"], has_gaps=has_gaps, price_of_part=prior)
    check_found(case, rng, get_criterion(name, **options), lowest, {"special": []})


def check_lattice(case: Case, rng: Rng) -> None:
    """Points are as wide as a step, codes are masses, all sum to 1, and values outside are less likely than any inside.

    The lowest cost is that of the numbers of the points, in which nothing is rounded.
    """
    name, options = case.method
    column = case.columns["x"].taken(case.repeats())
    points, n_rows = np.unique(column.levels[column.levels >= 0], return_counts=True)
    every = np.array(case.rules["points"])
    is_code = np.isin(points, case.codes)
    lowest = lowest_cost(
        name, np.repeat(every[points[~is_code]], n_rows[~is_code]), case.limits.get("max_parts", 99), has_gaps=False,
        price_of_part=price_of_part(case, int(n_rows.sum())), masses=n_rows[is_code].tolist(),
    )  # fmt: skip
    asked = {} if len(case.codes) else {"special": []}
    model = check_found(case, rng, get_criterion(name, **options), lowest, asked)
    partition, step = model.partitions["x"], case.rules["step"]
    assert math.isclose(partition.step, step, rel_tol=1e-5), f"step {partition.step!r}, not {step!r}"
    codes = np.array([column.values[code] for code in case.codes], dtype=partition.special.dtype)
    assert sorted(partition.special.tolist()) == sorted(codes.tolist()), f"masses {partition.special}, not {codes}"
    inside = every[points[~is_code]]
    values, numbers = values_at(column, every, np.arange(inside[0], inside[-1] + 1), step)
    total = float(np.exp(model.log_density(values)).sum()) * partition.step
    total += float(np.exp(model.log_density(codes)).sum()) if len(codes) else 0.0
    assert math.isclose(total, 1.0, rel_tol=1e-6), f"probabilities of points and masses sum to {total!r}"
    beyond, _ = values_at(column, every, np.array([inside[0] - 1, inside[-1] + 1, inside[-1] + 20]), step)
    beyond = beyond[~np.isin(beyond, codes)]
    logs = model.log_density(np.concatenate([beyond, values]))
    assert logs[: len(beyond)].max() < logs[len(beyond) :].min(), "a value outside of the domain is as likely as inside"
    n_intervals = partition.n_parts - partition.n_special
    drawn = model.sample(30, case.seed)
    drawn = drawn[~np.isin(drawn, partition.special)] if len(codes) else drawn
    least = float(np.log(model.table(frame="arrays")["density"][:n_intervals].min()))
    assert not len(drawn) or model.log_density(drawn).min() >= least - 1e-9, "a value that was drawn is outside"
    _check_database(case, model, np.concatenate([beyond, values, codes]))
    cuts = gridmodl.optimize_density({"x": numbers}, max_parts=1)
    assert np.allclose(cuts.density(numbers) * step, 1.0 / len(numbers), rtol=1e-4), "cuts of each point once"


def values_at(column: Any, every: Any, points: Any, step: float) -> tuple[Any, Any]:
    """Values of a column at some points of its lattice, and as an array of the type that a user has."""
    first = column.values[0]
    if isinstance(first, np.generic) and first.dtype.kind in "mM":
        found = first + (points - every[0]) * int(step)
        return found, found
    if column.type.startswith("int"):
        found = np.array([first + (int(point) - int(every[0])) * int(step) for point in points], dtype=np.int64)
        return found, found
    known = dict(zip(every.tolist(), column.values, strict=True))
    offset = first - every[0] * step
    found = np.array([known.get(point, point * step + offset) for point in points.tolist()], dtype=column.type)
    return found, found


def _check_database(case: Case, model: Model, values: Any) -> None:
    """DuckDB finds the densities of values, those outside among them."""
    kind = {"float64": "double", "int64": "int64", "int32": "int64", "int8": "int64", "M8[D]": "date"}.get(
        case.columns["x"].type
    )
    if kind is None:
        return
    query = model.to_sql("duckdb", keep=["row number"], output="log_density")
    found = [log for (log,) in run("duckdb", query, {"x": Stored(kind, values.tolist())})]
    assert np.allclose(found, model.log_density(values), rtol=1e-12, atol=1e-12), "densities of DuckDB"


def price_of_part(case: Case, n_rows: int) -> float:
    name, options = case.method
    prior = {"modl": 0.0, "penalized-likelihood": options.get("penalty"), "bayesian-blocks": None}[name]
    return 4.0 - math.log(73.53 * options["p0"] * n_rows**-0.478) if prior is None else prior


def check_found(case: Case, rng: Rng, criterion: Criterion, lowest: float, more: dict[str, Any]) -> Model:
    """The model of the proven optimum, whose cost is `lowest`, after all that must agree with it."""
    asked = {"criterion": criterion, **more, **case.limits}
    column = case.columns["x"]
    rows = column.taken(case.repeats())
    values = [value for value in rows.objects() if value is not None]
    given = {} if case.weights is None else {"weights": case.weights}
    data = {"x": column.raw()}
    model = gridmodl.optimize(data, search="exact", **asked, **given)
    (partition,) = model.partitions.values()
    assert model.proven, "not proven"
    assert math.isclose(model.cost, lowest, rel_tol=1e-9, abs_tol=1e-8), f"cost {model.cost!r}, lowest {lowest!r}"
    merged = gridmodl.optimize(data, search="merge", **asked, **given)
    assert lowest - 1e-8 <= merged.cost <= model.null_cost + 1e-8, "merge"
    assert gridmodl.verify(model, data, **given), gridmodl.verify(model, data, **given).reason
    again = gridmodl.price(data, None, {"x": partition}, criterion=criterion, **given)
    assert math.isclose(again, model.cost, rel_tol=1e-9, abs_tol=1e-8), f"price {again!r}, cost {model.cost!r}"
    parts = model.transform(values)
    assert partition.rows.tolist() == np.bincount(parts, minlength=partition.n_parts).tolist(), "rows of parts"
    table = model.table(frame="arrays")
    total = float(np.nansum(table["width"] * table["density"])) + float(
        np.exp(model.log_density(partition.special)).sum()
    )
    assert math.isclose(total, 1.0, rel_tol=1e-9), "the density and masses, and 1"
    assert Model.from_json(model.to_json()).to_json() == model.to_json(), "after JSON"
    shuffled = {"x": rows.taken(rng.permutation(len(rows.levels))).raw()}
    other = gridmodl.optimize(shuffled, search="exact", **asked)
    assert other.cost == model.cost, "cost with repeated rows in another order"
    assert other.partitions["x"].bounds.tolist() == partition.bounds.tolist(), "bounds of repeated rows"
    for i in range(partition.n_parts - partition.n_special - 1):
        edited = model.edit("x", merge=[i, i + 1])
        again = gridmodl.price(data, None, {"x": edited.partitions["x"]}, criterion=criterion, **given)
        assert math.isclose(edited.cost, again, rel_tol=1e-9, abs_tol=1e-8), f"edit of parts {i} and {i + 1}"
    return model
