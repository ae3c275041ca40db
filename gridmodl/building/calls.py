"""Calls of every kind on tiny data, which together reach every kernel: what the library of kernels is built from.

They are real calls, so that no list of kernels and signatures has to be kept. A test asks that typical calls, and those
of the fuzzer, find all their kernels in the library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gridmodl.plugins import class_number, criterion_for, list_criteria
from gridmodl.terms import PROBLEMS, gradient

FREE: dict[str, Any] = {}
LIMITED: dict[str, Any] = {"max_parts": 3, "min_rows": 5}
INSTANTS = np.arange(60).astype("datetime64[h]")  # dates have 64-bit integers as values, as have large integers


# Steps: calls that together reach the kernels of one problem. The data is as small as it can be: sizes lie on both
# sides of the limits at which the searches change.


def _columns(n: int = 60) -> dict[str, Any]:
    """Dependent columns: numbers x and z; categories c, d and e; y of two classes and t of three."""
    rng = np.random.default_rng(n)
    x = rng.normal(size=n).round(1)
    step = np.digitize(x, [-0.6, 0.4])
    noise = rng.random(n) < 0.2
    return {
        "x": x,
        "z": (step + rng.normal(size=n) / 3).round(1),
        "c": np.array(list("abcdefg"))[(2 * step + rng.integers(0, 3, n)) % 7],
        "d": np.array(list("uvwst"))[(step + noise) % 5],
        "e": np.array([f"e{i}" for i in 8 * step + rng.integers(0, 8, n)]),
        "y": (step > 0) ^ noise,
        "t": (step + noise) % 3,
    }


def _columns_for(criterion: str, problem: str) -> dict[str, Any]:
    """Columns whose y and t have the classes that the criterion needs."""
    data = _columns()
    return {**data, **{name: _needed(criterion, problem, data[name]) for name in "yt"}}


def _needed(criterion: str, problem: str, target: Any) -> Any:
    """The `target`, in as many classes as the criterion needs, if it needs a number."""
    n_classes = class_number(criterion_for(criterion, problem))
    if n_classes is None:
        return target
    codes, places = np.unique(target, return_inverse=True)[1], np.arange(len(target))
    return np.where(places < n_classes, places, (codes + places // 7) % n_classes)


def _some(names: str, n: int = 60) -> dict[str, Any]:
    """Columns whose names are the letters of `names`."""
    data = _columns(n)
    return {name: data[name] for name in names}


def _numbers(data: Mapping[str, Any]) -> Any:
    """Matrix of the columns x, z and c as numbers, for estimators."""
    return np.column_stack([data["x"], data["z"], np.unique(data["c"], return_inverse=True)[1]])


def numbers(criterion: str) -> None:
    """A numerical column and classes."""
    from gridmodl import GridDiscretizer, Search, cost_by_parts, optimize, price, verify

    data = _columns_for(criterion, "classes")
    x, gaps = data["x"], np.where(np.arange(60) % 7 == 0, np.nan, data["x"])
    for target in ("y", "t"):
        for search in ("merge", "exact", "auto"):
            optimize(gaps, data[target], criterion=criterion, search=search)
        model = optimize(x, data[target], criterion=criterion, min_rows=5, max_parts=4)
        optimize(gaps, data[target], criterion=criterion, special={"x0": [x[1]]}).explain()
        cost_by_parts(x, data[target], criterion=criterion, max_parts=4)
        price(x, data[target], model.partitions, criterion=criterion)
        model.explain()
    verify(optimize(x, data["y"], criterion=criterion, search="exact"), x, data["y"])
    optimize(INSTANTS, data["y"], criterion=criterion)
    for monotone in ("increasing", "decreasing", "auto"):
        optimize(gaps, data["y"], criterion=criterion, monotone=monotone)
        optimize(gaps, data["y"], criterion=criterion, monotone=monotone, min_rows=5, special={"x0": [x[1]]})
    optimize(x, data["y"], criterion=criterion, min_difference=0.9, min_events=2)
    optimize(x, data["y"], criterion=criterion, fixed=[float(np.median(x))], monotone="auto")
    values, periods, changing = _drift(1)
    changing = _needed(criterion, "classes", changing)
    optimize(values, changing, criterion=criterion, stable_over=periods)
    # More bounds than the plain recursion takes.
    long = np.arange(700)
    signal = (np.sin(long / 60.0) > 0) ^ (np.random.default_rng(0).random(700) < 0.2)
    second, third = (_needed(criterion, "classes", target) for target in (signal, signal + (long % 3 == 0)))
    verify(optimize(long, second, criterion=criterion, search="exact"), long, second)
    optimize(long, third, criterion=criterion, search="exact")
    # Enough bounds of two classes for hulls; other criteria take half a minute for a proof of as many.
    if criterion_for(criterion, "classes").gradient is not gradient:
        longer = np.arange(60_000)
        waves = np.random.default_rng(0).random(60_000) < 0.5 + 0.3 * np.sin(longer / 4_000.0)
        optimize(longer, _needed(criterion, "classes", waves), criterion=criterion, search="exact")
    # Counts that numpy adds up too slowly.
    optimize(
        long, _needed(criterion, "classes", (long // 2).astype(str)), criterion=criterion, search="exact", max_parts=3
    )
    long = np.arange(4200)
    many = _needed(criterion, "classes", (long // 4).astype(str))
    model = optimize(long, many, criterion=criterion, search=Search("merge", post_optimize=False))
    model.explain()  # too many parts for a search of all partitions: tries one more bound
    GridDiscretizer(criterion=criterion).fit(_numbers(data), data["t"]).transform(_numbers(data))
    _averages(criterion, gaps, data["t"])


def _drift(seed: int) -> tuple[Any, Any, Any]:
    """Values, periods and classes, whose shares have another order in each period; of a seed with a long proof."""
    rng = np.random.default_rng(seed)
    values, periods = rng.integers(0, 8, 2000), rng.integers(0, 3, 2000)
    return values, periods, rng.random(2000) < rng.random((3, 8))[periods, values] * 0.5 + 0.05 * values


def _averages(criterion: str, column: Any, target: Any, **options: Any) -> None:
    """The average of a column, if the criterion can be averaged."""
    from gridmodl import average
    from gridmodl.averaging.summing import can_be_averaged

    if can_be_averaged(criterion, "semi" if options else "classes"):
        for m in (512, 20):
            found = average(column, target, criterion=criterion, m=m, **options)
        found.sample(2)
        found.partition()
        found.band(found.knots[:2])


def categories(criterion: str) -> None:
    """A categorical column and classes."""
    from gridmodl import GridNaiveBayes, cost_by_parts, optimize, price, verify

    data = _columns_for(criterion, "classes")
    for target in ("y", "t"):
        for name in ("c", "e"):
            for limits in (FREE, LIMITED):
                model = optimize(data[name], data[target], criterion=criterion, **limits)
                optimize(data[name], data[target], criterion=criterion, search="merge", **limits)
            model.explain()
            cost_by_parts(data[name], data[target], criterion=criterion, max_parts=4)
            price(data[name], data[target], model.partitions, criterion=criterion)
            verify(model, data[name], data[target])
    optimize(data["e"], data["y"], criterion=criterion, min_events=3, min_difference=0.4)
    values, periods, changing = _drift(3)
    changing = _needed(criterion, "classes", changing)
    optimize([f"v{value}" for value in values], changing, criterion=criterion, stable_over=periods)
    optimize([f"v{i % 80}" for i in range(200)], _needed(criterion, "classes", np.arange(200) % 3), criterion=criterion)
    for estimator in (
        GridNaiveBayes(criterion=criterion),
        GridNaiveBayes(criterion=criterion, weights="selective"),
    ):
        found = estimator.fit(_numbers(data), data["t"])
        found.predict(_numbers(data))
        found.predict_proba(_numbers(data))


def grids(criterion: str) -> None:
    """Several columns and classes."""
    from gridmodl import GridClassifier, GridEnsembleClassifier, Search, optimize, price

    for names, target in (("xc", "y"), ("xczd", "t"), ("xz", "y"), ("ce", "t")):
        data = _columns_for(criterion, "grid")
        inputs = {name: data[name] for name in names}
        for kind, limits in (("vns", FREE), ("merge", LIMITED)):
            search = Search(kind, effort=1, keep_optima=3)
            model = optimize(inputs, data[target], criterion=criterion, search=search, **limits)
        for name in names:
            model.explain(name)
        price(inputs, data[target], model.partitions, criterion=criterion)
    optimize({name: data[name] for name in "xd"}, data["t"], criterion=criterion, search=Search("algorithm3", effort=1))
    X, search = _numbers(data), Search("diverse", effort=2, keep_optima=5)
    GridClassifier(criterion=criterion, search=Search("vns", effort=1)).fit(X, data["t"]).predict_proba(X)
    GridEnsembleClassifier(criterion=criterion, search=search).fit(X, data["t"]).predict_proba(X)


def pairs(criterion: str) -> None:
    """Joint grids of two columns."""
    from scipy import sparse

    from gridmodl import CoclusteringClassifier, GridCoclustering, Search, optimize, price

    few = Search("vns", effort=1, keep_optima=2)
    for names in ("cd", "xz", "xd", "ce"):
        data = _some(names)
        for search, limits in ((few, FREE), (Search("merge"), LIMITED)):
            model = optimize(data, criterion=criterion, search=search, **limits)
        price(data, None, model.partitions, criterion=criterion)
        model.explain(names[1])
        for name in set(names) & set("cde"):
            model.typical_values(name)
        if model.hierarchy().steps:
            model.coarsen(max_cells=2)
    optimize(_some("xd"), criterion=criterion, search=Search("algorithm3", effort=1))
    rng = np.random.default_rng(4)
    matrix = rng.poisson(np.where((np.arange(14) % 2)[:, None] == np.arange(9) % 2, 1.5, 0.2))
    optimize(sparse.csr_matrix(matrix), criterion=criterion, search=few).typical_values("row")
    found = GridCoclustering(criterion=criterion, search=few).fit(matrix[:8])
    found.predict(np.tile(matrix[8:], (4, 1)))
    labels = np.where(np.arange(14) < 6, np.arange(14) % 2, -1)
    classifier = CoclusteringClassifier(unlabelled=-1, criterion=criterion, search=few)
    classifier.fit(matrix, labels).predict_proba(matrix)


def joint_grids(criterion: str) -> None:
    """Joint grids of three columns and more."""
    from gridmodl import Search, optimize, price

    for names in ("xcd", "xczd"):
        data = _some(names, 30)
        model = optimize(data, criterion=criterion, search=Search("vns", effort=1))
        optimize(data, criterion=criterion, search="merge", max_parts=3, min_rows=5)
        price(data, None, model.partitions, criterion=criterion)
        for name in names:
            model.explain(name)
        model.typical_values("d")
        if model.hierarchy().steps:
            model.coarsen(max_cells=2)


def _targets(criterion: str, kind: str, targets: str) -> None:
    """One column and a partitioned target of the `kind`; `targets` names the target columns."""
    from gridmodl import Search, optimize, price

    data = _columns()
    options: dict[str, Any] = {"criterion": criterion, "target_kind": kind}
    for target in targets:
        for name in "xc":
            for search, limits in (("vns", FREE), ("merge", LIMITED)):
                model = optimize(data[name], data[target], **options, search=Search(search, effort=1), **limits)
            price(data[name], data[target], model.all_partitions, **options)
            if model.hierarchy().steps:
                model.coarsen(max_cells=2)
            model.explain(name if name in model.partitions else None)


def grouped(criterion: str) -> None:
    """One column and a target whose classes are grouped."""
    from gridmodl import GridNaiveBayes, Search

    _targets(criterion, "grouped", "de")
    data, search = _columns(), Search("vns", effort=1)
    estimator = GridNaiveBayes(criterion=criterion, target_kind="grouped", search=search)
    found = estimator.fit(_numbers(data), data["d"])
    found.predict(_numbers(data))
    found.predict_proba(_numbers(data))


def numerical(criterion: str) -> None:
    """One column and a numerical target."""
    from gridmodl import GridDiscretizer, Search, optimize

    _targets(criterion, "numerical", "z")
    data, few = _columns(), Search("vns", effort=1)
    for order in ("decreasing", "peak"):  # not that of the best grid, which would need no more kernels
        optimize(data["x"], data["z"], criterion=criterion, target_kind="numerical", monotone=order, search=few)
    GridDiscretizer(criterion=criterion, target_kind="numerical").fit(_numbers(data), data["z"])


def _target_grids(criterion: str, kind: str, targets: str) -> None:
    """Several columns and a partitioned target of the `kind`; `targets` names the target columns."""
    from gridmodl import Search, optimize, price

    data, more = _columns(), _columns(700)
    options: dict[str, Any] = {"criterion": criterion, "target_kind": kind}
    for target in targets:
        for names in ("xc", "xcd"):
            inputs = {name: data[name] for name in names}
            for search, limits in ((Search(effort=3), FREE), (Search("merge"), LIMITED)):
                model = optimize(inputs, data[target], **options, search=search, **limits)
            optimize(inputs, data[target], **options, search=Search("diverse", effort=1, keep_optima=2))
            price(inputs, data[target], model.all_partitions, **options)
            for name in names:
                model.explain(name)
            if model.hierarchy().steps:
                model.coarsen(max_cells=2)
        # More bounds and values than the plain recursion takes.
        optimize({"x": more["x"], "c": more["c"]}, np.arange(700) if kind == "numerical" else more["e"], **options)


def grouped_grids(criterion: str) -> None:
    """Several columns and a target whose classes are grouped."""
    _target_grids(criterion, "grouped", "de")


def numerical_grids(criterion: str) -> None:
    """Several columns and a numerical target."""
    _target_grids(criterion, "numerical", "z")


def unlabelled(criterion: str) -> None:
    """One column and classes, with unlabelled rows."""
    from gridmodl import bound_posterior, optimize, price

    data = _columns()
    for target in ("y", "t"):
        labels = np.full(60, -1)
        labels[::3] = _needed(criterion, "semi", data[target][::3].astype(int))
        optimize(INSTANTS, labels, unlabelled=-1, criterion=criterion)
        for name in ("x", "c", "e"):
            for search in ("auto", "merge"):
                model = optimize(data[name], labels, unlabelled=-1, criterion=criterion, search=search)
            price(data[name], labels, model.partitions, unlabelled=-1, criterion=criterion)
        bound_posterior(data["x"], labels, unlabelled=-1)
    _averages(criterion, data["x"], labels, unlabelled=-1)


def densities(criterion: str) -> None:
    """Density of one column."""
    from gridmodl import cost_by_parts, optimize, verify

    x = _columns()["x"]
    for search in ("merge", "exact", "auto"):
        optimize(x, criterion=criterion, search=search).explain()
    optimize(x, criterion=criterion, min_rows=5, max_parts=4, special={"x0": [x[1]]}, fixed=[float(np.median(x))])
    optimize(INSTANTS, criterion=criterion)
    cost_by_parts(x, criterion=criterion, max_parts=4)
    long = np.random.default_rng(0).normal(size=700)  # more bounds than the plain recursion takes
    verify(optimize(long, criterion=criterion, search="exact"), long)
    optimize(np.random.default_rng(0).normal(size=6_000), criterion=criterion)


def cuts(_: str) -> None:
    """Density of one column, cut top-down."""
    from gridmodl import density, optimize_density

    x = _columns()["x"]
    for kernel in ("epanechnikov", "triangle", "box", "gaussian"):
        optimize_density(x, score="kernel", kernel=kernel)
    optimize_density(x)
    optimize_density(x, min_rows=4, max_parts=5, n_folds=3)
    density.equal_width(x, max_parts=12)


def baselines(_: str) -> None:
    """Methods to compare with."""
    from gridmodl.baselines import chi_merge, equal_frequency, fayyad_irani

    data = _columns()
    for target in ("y", "t"):
        fayyad_irani(data["x"], data[target])
        chi_merge(data["x"], data[target])
        chi_merge(data["x"], data[target], max_parts=4)
        equal_frequency(data["x"], data[target], n_parts=5)


Step = Callable[[str], None]
# Steps by problem, the longest first, so that all processes end at about the same time. Numerical targets come last: a
# criterion may have one formula for them and for grouped classes; the kernels are then the same.
STEPS: dict[str, tuple[Step, ...]] = {
    "grid": (grids,),
    "joint": (pairs, joint_grids),
    "grouped_grid": (grouped_grids,),
    "grouped": (grouped,),
    "classes": (numbers, categories),
    "semi": (unlabelled,),
    "density": (densities,),
    "cuts": (cuts,),
    "baselines": (baselines,),
    "numerical": (numerical,),
    "numerical_grid": (numerical_grids,),
}


def jobs() -> list[tuple[Step, list[str]]]:
    """All steps, each with the names of the built-in criteria that it is for."""
    from gridmodl.criteria import gridmodl_criteria

    built_in = {criterion.name for criterion in gridmodl_criteria()}
    return [
        (step, sorted(built_in & set(list_criteria(problem))) if problem in PROBLEMS else [""])
        for problem, steps in STEPS.items()
        for step in steps
    ]
