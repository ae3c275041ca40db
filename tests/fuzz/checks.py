"""What must hold of any model of any case; each check raises an AssertionError that says what does not."""

from __future__ import annotations

import datetime
import math
import pickle
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import onnxruntime
from fuzz.cases import NO_CLASS, Case, Rng
from fuzz.columns import Column
from fuzz.doors import check_doors
from fuzz.enumeration import least_rows, lowest, lowest_of_many, plain_price, priced
from fuzz.histograms import check_histogram, check_lattice
from oracles import naive_density
from report.databases import Stored, run
from testing.lanes import refuse_overflow

import gridmodl
from gridmodl import Certificate, DensityModel, Model

SAME = 1e-9  # costs that are closer than this share of their size are the same
ONE_COLUMN = frozenset(
    {
        "numerical",
        "categorical",
        "longer",
        "many values",
        "special",
        "monotone",
        "rules",
        "unlabelled",
        "placement",
        "baseline",
        "each",
        "density",
    }
)
# Kinds of problem whose search must find the same on weighted rows as on repeated ones; prices are the same of all.
WEIGHTED_SEARCH_IS_REPEATED_SEARCH = ONE_COLUMN | {"grid", "joint", "grouped", "numerical target", "target grid"}
# Kinds whose search must find the same whatever the order of the rows, of the names of classes, of the columns.
ROWS_IN_ANY_ORDER = ONE_COLUMN | {"grid", "joint", "grouped", "numerical target", "target grid"}
CLASSES_IN_ANY_ORDER = ONE_COLUMN


class Tally:
    """How often a search without a proof found the optimum, of the cases in which it is known."""

    def __init__(self) -> None:
        self.known = self.found = 0


def check_case(case: Case, rng: Rng, tally: Tally) -> None:
    """Find the model of a case and check it; under NUMBA_DISABLE_JIT too, where random numbers wrap around."""
    with warnings.catch_warnings(), np.errstate(over="call", call=refuse_overflow):
        warnings.simplefilter("error")
        if case.kind in OF_DENSITIES:
            OF_DENSITIES[case.kind](case, rng)
            return
        if case.kind == "each":
            check_each(case, rng, tally)
            return
        if "fixed" in case.rules and lowest(case) == math.inf:
            check_refusal(case)
            return
        model = case.optimized()
        check_model(case, model, rng, tally)


def check_refusal(case: Case) -> None:
    """Limits that no partition keeps are an error that names one of them."""
    told = ""
    try:
        case.optimized()
    except ValueError as error:
        told = str(error)
    assert "fixed bound" in told, f"no partition keeps the limits, but: {told or 'one was found'}"
    given = [*case.limits, *case.rules, *(["monotone"] if case.monotone else [])]
    assert any(f"{what}=" in told for what in given), f"it names no limit: {told}"


def check_model(case: Case, model: Model, rng: Rng, tally: Tally) -> None:
    check_cost(case, model)
    check_rows(case, model)
    check_optimum(case, model, tally)
    for share, check in CHECKS:
        if rng.random() < share:
            check(case, model, rng)


def same(one: float, other: float, what: str) -> None:
    assert math.isclose(one, other, rel_tol=SAME, abs_tol=SAME), f"{what}: {one!r} and {other!r}"


def parts_of(case: Case, model: Model) -> list[Any]:
    """The part of each row of the case, for each variable, the target last where it is partitioned too."""
    parts = [model.part_of(name, column.raw()) for name, column in case.columns.items()]
    return parts if model.target is None else [*parts, model.target.part_of(case.raw_target())]


def check_cost(case: Case, model: Model) -> None:
    rows = priced(case)
    same(model.cost, plain_price(rows, parts_of(rows, model)), "cost of the model, and of its parts by the plain terms")
    n_variables = len(rows.columns) + (model.target is not None)
    null = plain_price(rows, [np.zeros(rows.n_rows, dtype=int)] * n_variables)
    same(model.null_cost, null, "null cost of the model, and by the plain terms")
    if not case.codes and case.kind != "baseline" and "fixed" not in case.rules and case.missing == "auto":
        assert model.cost <= null + SAME * (1.0 + abs(null)), f"the cost {model.cost!r} is above the null cost {null!r}"


def check_rows(case: Case, model: Model) -> None:
    """Rows by part and class, and by cell, are what `transform` and `cell_of` say; limits are kept."""
    rows = case.taken(case.repeats(), with_weights=False)
    for name, column in rows.columns.items():
        partition = model.partitions[name]
        parts = partition.part_of(column.raw())
        assert partition.rows.tolist() == np.bincount(parts, minlength=partition.n_parts).tolist(), (
            f"rows of the parts of {name!r} are {partition.rows.tolist()}, not bincount(transform)"
        )
        if case.problem in ("classes", "grid", "semi"):
            counts = class_counts(rows, parts, partition.n_parts, model)
            assert partition.counts.tolist() == counts, f"counts of {name!r}: {partition.counts.tolist()}, {counts}"
        if case.kind != "baseline":
            _check_limits(case, partition)
    if model.target is not None:
        parts = model.target.part_of(rows.raw_target())
        assert model.target.rows.tolist() == np.bincount(parts, minlength=model.target.n_parts).tolist()
        _check_limits(case, model.target)
    data = rows.data()
    if model.target is not None:
        data = {**data, model.target.name: rows.raw_target()}
    cells = model.cell_of(data)
    if case.kind == "sparse":
        cells = np.repeat(cells, case.weights)
    assert model.cells.rows.tolist() == np.bincount(cells, minlength=len(model.cells.rows)).tolist(), "rows of cells"
    assert model.n_rows == rows.n_rows, f"{model.n_rows} rows of {rows.n_rows}"


def class_counts(rows: Case, parts: Any, n_parts: int, model: Model) -> list[list[int]]:
    assert rows.target is not None
    place = {value: i for i, value in enumerate(model.classes.tolist())}
    counts = np.zeros((n_parts, len(place)), dtype=int)
    for part, level in zip(parts.tolist(), rows.target.levels.tolist(), strict=True):
        if level != NO_CLASS:
            counts[part, place[rows.target.values[level]]] += 1
    return counts.tolist()


def _check_limits(case: Case, partition: Any) -> None:
    most, least = case.limits.get("max_parts", 2**62), least_rows(case)
    # With placement="median", values that only unlabelled rows have are one more part.
    rows = partition.counts.sum(axis=1) if case.is_placed else partition.rows
    rows = rows[: len(rows) - partition.n_special]
    is_unplaced = (rows == 0) & (partition.rows[: len(rows)] > 0)
    is_alone = partition.is_missing_apart or (None,) in partition.groups
    if is_alone:
        rows, is_unplaced = np.delete(rows, partition.missing), np.delete(is_unplaced, partition.missing)
    n_parts = np.count_nonzero(~is_unplaced)
    assert n_parts <= most, f"{partition.name!r} has {n_parts} parts besides exempt ones, of {most} allowed"
    if np.count_nonzero(rows) > 1:
        assert rows[rows > 0].min() >= least, f"a part of {partition.name!r} has {rows.min()} rows, fewer than {least}"


def check_optimum(case: Case, model: Model, tally: Tally) -> None:
    """Nobody is cheaper than enumeration; what is proven is as cheap."""
    if case.kind == "baseline":
        return
    known = lowest_of_many(case) if case.kind == "longer" else lowest(case)
    if known is None:
        return
    assert model.cost >= known - SAME * (1.0 + abs(known)), f"the cost {model.cost!r} is below the lowest, {known!r}"
    is_best = model.cost <= known + SAME * (1.0 + abs(known))
    tally.known += 1
    tally.found += is_best
    assert is_best or not model.proven, f"proven at {model.cost!r}, but the lowest cost is {known!r}"
    is_line = all(column.kind != "categorical" for column in case.columns.values())
    if (case.search == "exact" or case.monotone is not None) and (is_line or "min_difference" not in case.rules):
        assert model.proven, "not proven"


def check_price(case: Case, model: Model, rng: Rng) -> None:
    """The compiled price of the model's own partitions; it knows no order of rows and columns, and weights repeat."""
    partitions = model.all_partitions
    same(model.cost, case.price(partitions), "cost and price")
    order = rng.permutation(case.n_rows)
    moved = case.taken(order)
    moved = replace(moved, columns=dict(reversed(moved.columns.items())))
    if case.kind != "sparse":
        same(model.cost, moved.price(partitions), "cost and price of rows and columns in another order")
        if case.weights is not None:
            repeated = case.taken(case.repeats(), with_weights=False)
            same(model.cost, repeated.price(partitions), "cost of weighted rows, and price of repeated ones")


def check_order_of_rows(case: Case, model: Model, rng: Rng) -> None:
    if case.kind in ROWS_IN_ANY_ORDER:
        _check_same_partitions(
            model, case.taken(rng.permutation(case.n_rows)).optimized(), "with rows in another order"
        )


def check_order_of_classes(case: Case, model: Model, rng: Rng) -> None:
    """Classes by other names, so that their order is another."""
    if case.kind not in CLASSES_IN_ANY_ORDER or case.problem not in ("classes", "semi"):
        return
    if case.monotone is not None or isinstance(case.rules.get("min_events"), tuple):  # of one class
        return
    assert case.target is not None
    names = [case.target.values[i] for i in rng.permutation(len(case.target.values))]
    renamed = replace(case, target=replace(case.target, values=names))
    same(model.cost, renamed.optimized().cost, "cost with the classes in another order")


def check_order_of_values(case: Case, model: Model, rng: Rng) -> None:
    """Values of a categorical column by other names: the optimum is the same, but merges break ties by their order."""
    if not model.proven or case.kind not in ("categorical", "unlabelled") or case.columns["x"].kind != "categorical":
        return
    column = case.columns["x"]
    names = [column.values[i] for i in rng.permutation(len(column.values))]
    same(
        model.cost,
        replace(case, columns={"x": replace(column, values=names)}).optimized().cost,
        "cost with the values in another order",
    )


def check_repetition(case: Case, model: Model, rng: Rng) -> None:
    if case.weights is None or case.kind not in WEIGHTED_SEARCH_IS_REPEATED_SEARCH:
        return
    repeated = case.taken(case.repeats(), with_weights=False).optimized()
    _check_same_partitions(model, repeated, "of repeated rows")


def _check_same_partitions(model: Model, other: Model, what: str) -> None:
    same(model.cost, other.cost, f"cost, and cost {what}")
    for name, partition in model.all_partitions.items():
        found = other.partition(name)
        assert [set(group) for group in found.groups] == [set(group) for group in partition.groups], (
            f"groups {what} of {name!r}: {found.groups}, not {partition.groups}"
        )
        assert found.bounds.tolist() == partition.bounds.tolist(), (
            f"bounds {what} of {name!r}: {found.bounds.tolist()}, not {partition.bounds.tolist()}"
        )
        assert found.counts.tolist() == partition.counts.tolist(), f"counts {what} of {name!r}"


def check_again(case: Case, model: Model, rng: Rng) -> None:
    """The same call gives the same to the bit, and leaves what it was given as it was."""
    rows = case.rows()
    before = _written(rows)
    again = case.optimized(rows)
    assert again.cost == model.cost, f"costs of the same call twice: {model.cost!r}, {again.cost!r}"
    _check_same_partitions(model, again, "of the same call")
    assert _written(rows) == before, "the data were changed"


def _written(rows: dict[str, Any]) -> str:
    data = rows["data"]
    columns = {name: list(column) for name, column in data.items()} if isinstance(data, dict) else data.toarray()
    return repr((columns, {name: list(given) for name, given in rows.items() if name in ("target", "weights")}))


def new_data(case: Case, model: Model, rng: Rng) -> dict[str, Column]:
    """All values there are, missing and never seen ones too, in any combination."""
    n = 8
    columns = {}
    for name, column in case.columns.items():
        every = column.everything(with_missing=True).levels
        columns[name] = replace(column, levels=np.concatenate([column.levels[:n], rng.choice(every, n)]))
    n_rows = min(len(column.levels) for column in columns.values())
    return {name: replace(column, levels=column.levels[-n_rows:]) for name, column in columns.items()}


def answers(model: Model, data: dict[str, Any], unknown: str | None) -> list[Any]:
    found: list[Any] = [model.transform(data, unknown).tolist()]
    if model._target_quantiles is not None:
        found += [column.tolist() for column in model.predict(data, unknown)]
    elif len(model.classes):
        found += [model.predict(data, unknown).tolist(), model.predict_proba(data, unknown).tolist()]
    return found


def check_round_trips(case: Case, model: Model, rng: Rng) -> None:
    data = {name: column.raw() for name, column in new_data(case, model, rng).items()}
    text = model.to_json()
    for how, other in (("JSON", Model.from_json(text)), ("pickle", pickle.loads(pickle.dumps(model)))):  # noqa: S301  our own
        for unknown in ("largest", "neutral", None):
            assert answers(other, data, unknown) == answers(model, data, unknown), f"answers after {how}"
        assert other.to_json() == text, f"the text of the model after {how} is another"
        assert (other.cost, other.null_cost, other.proven) == (model.cost, model.null_cost, model.proven)


def check_sql(case: Case, model: Model, rng: Rng) -> None:
    """DuckDB and SQLite find the same parts, and shares of classes or predictions."""
    columns, shown = new_data(case, model, rng), list(model.partitions)
    if len(shown) > 1:
        shown = [name for name in shown if model.partitions[name].n_parts > 1]
    if not shown:
        return
    data = {name: column.raw() for name, column in columns.items()}
    for dialect in ("duckdb", "sqlite"):
        stored = {name: column.stored(dialect) for name, column in columns.items()}
        if any(column is None for column in stored.values()):
            continue
        unknown = (None, "neutral", "largest")[rng.integers(3)]
        has_classes = len(model.classes) > 0
        has_quantiles = model._target_quantiles is not None
        output = ["parts", "proba" if has_classes else "predict" if has_quantiles else "cell"]
        query = model.to_sql(dialect, keep=["row number"], output=output, unknown=unknown)
        found = run(dialect, query, {name: Stored(*column) for name, column in stored.items() if column is not None})
        parts = np.atleast_2d(model.transform(data, unknown).T).T
        expected = [parts[:, list(model.partitions).index(name)] for name in shown]
        if has_classes:
            expected += list(model.predict_proba(data, unknown).T)
        elif has_quantiles:
            expected += list(model.predict(data, unknown))
        else:
            expected += [model.cell_of(data, unknown)]
        wanted = list(zip(*(column.tolist() for column in expected), strict=True))
        assert found == wanted, f"{dialect} finds {found}, the model {wanted}"


def check_onnx(case: Case, model: Model, rng: Rng) -> None:
    """onnxruntime finds the same parts, and shares of classes or predictions."""
    groups = [value for one in model.partitions.values() for group in one.groups for value in group]
    if any(isinstance(value, (datetime.date, np.datetime64)) for value in groups):
        return  # refused
    columns, unknown = new_data(case, model, rng), (None, "neutral", "largest")[rng.integers(3)]
    has_classes = len(model.classes) > 0
    output = ["parts", "proba"] if has_classes else ["parts", "predict" if model.problem == "numerical" else "cell"]
    if not has_classes and model.target is not None and model.problem != "numerical":
        output = ["parts", "predict"]
    graph = model.to_onnx(output=output, unknown=unknown, missing_text="<missing>")
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = {one.name: columns[one.name].fed(one.type)[:, None] for one in session.get_inputs()}
    smallest = [name for name, fed in feeds.items() if fed.dtype == np.int64 and fed.min() == np.iinfo(np.int64).min]
    if any(np.iinfo(np.int64).min in columns[name].objects() for name in smallest):
        return  # that number stands for a missing value
    parts, told = session.run(None, feeds)
    data = {name: column.raw() for name, column in columns.items()}
    shown = [k for k, one in enumerate(model.partitions.values()) if one.n_parts > 1] or range(len(model.partitions))
    wanted = np.atleast_2d(model.transform(data, unknown).T).T[:, list(shown)]
    assert parts.tolist() == wanted.tolist(), f"onnxruntime finds {parts.tolist()}, the model {wanted.tolist()}"
    if has_classes:
        expected = model.predict_proba(data, unknown)
    else:
        is_cell = output[1] == "cell"
        expected = model.cell_of(data, unknown) if is_cell else np.column_stack(model.predict(data, unknown))
    assert told.tolist() == expected.tolist(), f"onnxruntime finds {told.tolist()}, the model {expected.tolist()}"


def verified(case: Case, model: Model) -> Any:
    return gridmodl.verify(model, **case.rows(), placement="median" if case.is_placed else None)


def check_verification(case: Case, model: Model, rng: Rng) -> None:
    """An honest model is true, one of these lies is not."""
    found = verified(case, model)
    assert found, f"verify denies an honest model: {found.reason}"
    lies = list(_lies(model))
    what, forged = lies[int(rng.integers(0, len(lies)))]
    assert not verified(case, forged), f"verify accepts a model with {what}"


def _lies(model: Model) -> Any:
    name, partition = next(iter(model.partitions.items()))
    off = 1e-3 * (1.0 + abs(model.cost))
    yield "a lower cost", replace(model, cost=model.cost - off)
    yield "a higher null cost", replace(model, null_cost=model.null_cost + off)
    yield "more rows", replace(model, n_rows=model.n_rows + 1)
    counts = partition.counts.copy()
    counts[0, 0] += 1
    yield "other counts", replace(model, partitions={**model.partitions, name: replace(partition, counts=counts)})
    certificate = model.certificate
    if certificate is None:
        yield "a proof that it has not", replace(model, proven=True)
        return
    yield "a higher floor", replace(model, certificate=replace(certificate, lowest=certificate.lowest + off))
    if model.proven:
        yield "no certificate", replace(model, certificate=None)
        yield (
            "a floor of another method",
            replace(model, cost=model.cost, certificate=Certificate("all", certificate.lowest + off)),
        )
    if certificate.totals and certificate.monotone not in (
        "peak",
        "valley",
        "auto",
    ):  # of these, the search is done again
        higher = tuple(total + off for total in certificate.totals)
        yield "higher totals", replace(model, certificate=replace(certificate, totals=higher))
    of_no_class = np.count_nonzero((partition.counts.sum(axis=1) == 0) & (partition.rows > 0))  # may not be priced
    if partition.n_parts - of_no_class > 1 + partition.n_special + (partition.missing is not None):
        yield "fewer parts than it has", replace(model, certificate=replace(certificate, max_parts=1))


def check_short(case: Case, model: Model, rng: Rng) -> None:
    """The shortest bounds make the same parts at the same cost, and are read back from their labels."""
    if case.kind == "baseline" or case.is_placed:
        return
    other = case.optimized(placement="short")
    assert other.cost == model.cost, f"cost {model.cost!r}, with the shortest bounds {other.cost!r}"
    for name, partition in model.all_partitions.items():
        short = other.partition(name)
        assert short.counts.tolist() == partition.counts.tolist(), f"counts of {name!r} with the shortest bounds"
        if short.kind == "numerical" and short.bounds.dtype.kind == "f":
            labels = [label.removesuffix(" or missing") for label in short.labels if label.startswith("(")]
            texts = [label.split(", ")[1][:-1] for label in labels]
            assert [float(text) for text in texts[: len(short.bounds)]] == short.bounds.tolist(), f"labels {texts}"


def check_density_of_rows(case: Case, model: Model, rng: Rng) -> None:
    """Densities of each column sum to 1, are the same after JSON and in a database, and rows drawn have some."""
    if model.target is None and case.problem != "joint":
        return
    known = {name: one for name, one in model.all_partitions.items() if model.target is None or one is model.target}
    is_infinite = any(one.kind == "numerical" and one.domain is None for one in known.values())
    if is_infinite or case.kind == "sparse":
        return
    for name in known:
        _check_sums_to_one(model.conditional(name))
    columns = new_data(case, model, rng)
    if model.target is not None:
        assert case.target is not None
        levels = rng.choice(case.target.levels[case.target.levels >= 0], len(next(iter(columns.values())).levels))
        columns[str(model.target.name)] = replace(case.target, levels=levels)
    data = {name: column.raw() for name, column in columns.items()}
    logs = model.log_density(data)
    again = Model.from_json(model.to_json())
    assert np.array_equal(again.log_density(data), logs, equal_nan=True), "densities after JSON"
    if model.target is None:
        assert not np.isnan(model.log_density(model.sample(20, 0))).any(), "a row that was drawn has no density"
    for dialect in ("duckdb", "sqlite"):
        stored = {name: column.stored(dialect) for name, column in columns.items()}
        if any(column is None for column in stored.values()):
            continue
        query = model.to_sql(dialect, keep=["row number"], output="log_density")
        found = run(dialect, query, {name: Stored(*column) for name, column in stored.items() if column is not None})
        assert np.allclose(np.array(found, dtype=float).ravel(), logs, rtol=1e-12, atol=1e-12, equal_nan=True), (
            f"{dialect} finds densities {found}, the model {logs.tolist()}"
        )


def _check_sums_to_one(found: Any) -> None:
    """Probabilities of values, and the integral between the ends of all stretches of real numbers, are 1."""
    total, partition = float(np.sum(found.value_probabilities)), found.partition
    if partition.kind == "numerical" and len(partition.domain):
        if partition.domain.dtype.kind != "f":
            shares = [found.quantile(share) for share in (0.0, 0.3, 0.7, 1.0)]
            assert shares == sorted(shares), f"quantiles {shares}"
            assert (shares[0], shares[-1]) == tuple(partition.domain), f"ends {shares}, not {partition.domain}"
            return
        edges = np.concatenate([partition.domain, np.clip(partition.bounds, *partition.domain)])
        edges = np.unique(np.concatenate([edges, partition.lowest, partition.highest]))
        middles = edges[:-1] + np.diff(edges) / 2
        is_between = (middles > edges[:-1]) & (middles < edges[1:])  # else there is no float between
        if not is_between.all():
            return
        total += float(np.exp(found.log_density(middles)) @ np.diff(edges)) if len(middles) else 0.0
    same(total, 1.0, f"sum of the density of {partition.name!r}, and 1")


# After how large a share of the cases each is done; those that cost most are done least.
CHECKS: list[tuple[float, Callable[[Case, Model, Rng], None]]] = [
    (0.5, check_price),
    (0.3, check_order_of_rows),
    (0.3, check_order_of_classes),
    (0.3, check_order_of_values),
    (0.5, check_repetition),
    (0.1, check_again),
    (0.15, check_round_trips),
    (0.06, check_sql),
    (0.06, check_onnx),
    (0.2, check_verification),
    (0.1, check_short),
    (0.15, check_density_of_rows),
    (0.2, check_doors),
]


def check_each(case: Case, rng: Rng, tally: Tally) -> None:
    """Each column on its own, in any order of columns, is what it is alone."""
    asked = {"criterion": case.criterion, "search": case.search, **case.limits, **case.what()}
    models = gridmodl.optimize_each(**case.rows(), **asked, n_jobs=1)
    moved = replace(case, columns=dict(reversed(case.columns.items())))
    others = gridmodl.optimize_each(**moved.rows(), **asked, n_jobs=1)
    for name, column in case.columns.items():
        alone = replace(case, columns={name: column})
        check_cost(alone, models[name])
        check_rows(alone, models[name])
        check_optimum(alone, models[name], tally)
        _check_same_partitions(models[name], alone.optimized(), "of the column alone")
        _check_same_partitions(models[name], others[name], "with columns in another order")


def check_density(case: Case, rng: Rng) -> None:
    """Cuts and the likelihood of held-out rows are those of the definition; weights repeat, the order is nothing."""
    asked = {**case.method[1], **case.limits, "n_folds": 3, "random_state": case.seed}
    column = case.columns["x"]
    given = {"weights": case.weights} if case.weights is not None else {}
    model = gridmodl.optimize_density(column.raw(), **asked, **given)
    rows = column.taken(case.repeats())
    values = [value for value in rows.objects() if value is not None]
    curve, path = naive_density.cross_validated(
        values, case.method[1].get("kernel"), 3, case.seed, case.limits["max_parts"] - 1
    )
    assert np.allclose(model.path, path, rtol=1e-9, atol=1e-12), f"cuts {model.path.tolist()}, not {path}"
    assert np.allclose(model.held_out * len(values), curve, rtol=1e-9, atol=1e-8), "held-out likelihoods"
    parts = model.partition.part_of(np.array(values))
    assert model.partition.rows.tolist() == np.bincount(parts, minlength=model.n_parts).tolist(), "rows of parts"
    others = {
        "of repeated rows": gridmodl.optimize_density(rows.raw(), **asked),
        "with rows in another order": gridmodl.optimize_density(
            rows.taken(rng.permutation(len(rows.levels))).raw(), **asked
        ),
        "after JSON": DensityModel.from_json(model.to_json()),
        "after pickle": pickle.loads(pickle.dumps(model)),  # noqa: S301  our own
    }
    for what, other in others.items():
        assert other.partition.bounds.tolist() == model.partition.bounds.tolist(), f"bounds {what}"
        assert other.log_likelihood(values) == model.log_likelihood(values), f"log-likelihood {what}"


OF_DENSITIES: dict[str, Callable[[Case, Rng], None]] = {
    "density": check_density,
    "histogram": check_histogram,
    "lattice": check_lattice,
}
