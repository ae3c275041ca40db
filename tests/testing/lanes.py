"""Small problems of every kind that is searched, and the two lanes in which kernels show what compiling hides.

    python tests/testing/lanes.py plain NAME ...      without the compiler: an index that is too large or below 0,
                                                      memory that nobody wrote, and overflow end in an error or NaN
    python tests/testing/lanes.py checked NAME ...    compiled with a check of every index

Each prints what was found as JSON, to be compared with what the compiled kernels find.
"""

from __future__ import annotations

import json
import linecache
import math
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gridmodl.terms import Params

PROJECT = Path(__file__).parents[2]
FLAGS = {"plain": {"GRIDMODL_COMPILE": "never"}, "checked": {"NUMBA_BOUNDSCHECK": "1", "GRIDMODL_COMPILE": "always"}}
# Lines that count modulo 2^64: random numbers, and the keys of cells in hash tables.
WRAPPING = re.compile("GOLDEN|MIX_|salt|key")


class Guarded(np.ndarray):
    """An array that has no index from the end, and takes no whole number that it cannot hold."""

    def __getitem__(self, index: Any) -> Any:
        check_index(index)
        return super().__getitem__(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        check_index(index)
        if isinstance(value, np.integer) and self.dtype.kind in "iu":  # numpy would cut it to size
            limits = np.iinfo(self.dtype)
            if not limits.min <= int(value) <= limits.max:
                raise OverflowError(f"{value!r} does not fit into an array of {self.dtype}")
        super().__setitem__(index, value)


def check_index(index: Any) -> None:
    for i in index if isinstance(index, tuple) else (index,):
        if isinstance(i, int | np.integer) and i < 0:
            raise IndexError(f"index {index!r} is below 0")


def guarded(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.view(Guarded)
    if isinstance(value, Params):
        return Params.of(value.criterion, guarded(value.own))
    if isinstance(value, tuple):
        items = map(guarded, value)
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


def refuse_overflow(error: str, _flag: int) -> None:
    frame = sys._getframe(1)
    if not WRAPPING.search(linecache.getline(frame.f_code.co_filename, frame.f_lineno)):
        raise OverflowError(error)


def enter_plain_lane() -> set[str]:
    """Let kernels be plain functions of guarded arrays, and new arrays hold what nobody wants; before any search.

    Returns the names of the kernels that were called, which grows.
    """
    from gridmodl.jit import template

    names: set[str] = set()
    empty = np.empty

    def run_guarded(kernel: Any, arguments: tuple[Any, ...]) -> Any:
        names.add(kernel.kernel.__name__)
        with np.errstate(over="call", call=refuse_overflow):
            return kernel.plain(*map(guarded, arguments))

    def spoilt(*arguments: Any, **more: Any) -> Any:
        array = empty(*arguments, **more)
        if array.dtype.kind in "iuf":
            array[...] = np.nan if array.dtype.kind == "f" else np.iinfo(array.dtype).max
        return array

    template.Kernel._run_plain = run_guarded  # type: ignore[method-assign]
    np.empty = spoilt  # type: ignore[assignment]
    return names


# What was found, as JSON.


def told(model: Any) -> dict[str, Any]:
    """Cost and parts of a model."""
    parts = {str(name): parts_of(partition) for name, partition in model.all_partitions.items()}
    return {"cost": float(model.cost), "gap": model.gap, "parts": parts}


def parts_of(partition: Any) -> Any:
    groups = [list(map(str, group)) for group in partition.groups]
    return [partition.bounds.tolist(), groups, partition.rows.tolist()]


# The data.


def columns(seed: int = 0, n: int = 40) -> dict[str, Any]:
    """Columns that go together: x and z of numbers, c and d of categories, e of more of them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).round(1)
    step = np.digitize(x, [-0.6, 0.4])
    return {
        "x": x,
        "c": np.array(list("abcdefg"))[(2 * step + rng.integers(0, 3, n)) % 7],
        "z": (step * (rng.random(n) < 0.8) + rng.normal(size=n) / 4).round(1),
        "d": np.array(list("uvwst"))[(step + (rng.random(n) < 0.3)) % 5],
        "e": np.array([f"e{5 * s + i}" for s, i in zip(step, rng.integers(0, 5, n), strict=True)]),
    }


def classes(data: Mapping[str, Any], n_classes: int, seed: int = 0) -> Any:
    """The class of each row, which x and c tell of."""
    rng = np.random.default_rng(seed)
    n = len(data["x"])
    code = np.digitize(data["x"], [-0.5, 0.5]) + (data["c"] > "d")
    return np.where(rng.random(n) < 0.8, code, rng.integers(0, n_classes, n)) % n_classes


def some(names: str, seed: int = 0, n: int = 40) -> dict[str, Any]:
    data = columns(seed, n)
    return {name: data[name] for name in names}


def weights(n: int = 40, scale: int = 1) -> Any:
    return np.random.default_rng(n).integers(0, 5, n) * scale


def with_missing(x: Any) -> Any:
    return np.where(np.arange(len(x)) % 7 == 0, np.nan, x)


# The problems. Each function yields the name of a case and what was found; most criteria, and all terms of a criterion,
# are met by one column, which compiles in seconds.

Found = Iterator[tuple[str, Any]]


def one_column() -> Found:
    from gridmodl import get_criterion, optimize

    for name in ("modl", "aic", "bic", "mdlp", "gini", "g2", "x2", "g2-normal", "x2-normal"):
        for n_classes in (2, 3):
            data = columns(n_classes)
            y = classes(data, n_classes)
            for search in ("exact", "merge"):
                yield f"{name} {n_classes} {search}", told(optimize(data["x"], y, criterion=name, search=search))
            yield f"{name} {n_classes} missing", told(optimize(with_missing(data["x"]), y, criterion=name))
    data = columns(5, 60)
    for beta in (0.0, 0.5, 1.0):
        criterion = get_criterion("entropy", alpha=0.6, beta=beta)
        yield f"entropy {beta}", told(optimize(data["x"], classes(data, 3), criterion=criterion, search="exact"))


def long_columns() -> Found:
    """Enough values for branch and bound with blocks of several heights, and for restarts of the post-optimization."""
    from gridmodl import optimize
    from gridmodl.fit.column import intervals
    from gridmodl.search.column import spans

    rng = np.random.default_rng(3)
    x = rng.permutation(700)
    for name in ("modl", "bic", "g2"):
        y = (np.sin(x / 60.0) + rng.normal(size=len(x)) / 2 > 0).astype(int) + (x > 500)
        yield f"{name} signal", told(optimize(x, y, criterion=name, search="exact"))
    yield "noise", told(optimize(x, rng.integers(0, 4, len(x))))
    yield "min_rows", told(optimize(x, y, min_rows=40, max_parts=4, search="exact"))
    yield "many classes", told(optimize(x[:200], x[:200] // 20, target_kind="classes", search="merge"))
    usual = spans.MANY_CLASSES, intervals.MANY_COUNTS
    try:  # tables that are large enough for kernels of their own
        spans.MANY_CLASSES, intervals.MANY_COUNTS = 2, 1
        yield "large tables", told(optimize(x[:400], y[:400], search="exact"))
    finally:
        spans.MANY_CLASSES, intervals.MANY_COUNTS = usual


def hulls() -> Found:
    """Two classes, of which runs keep extreme points: blocks that pass their check at once, and blocks that fail it."""
    from gridmodl import Search, optimize
    from gridmodl.search.column import exact, spans

    rng = np.random.default_rng(5)
    x = rng.permutation(700)
    signals = {
        "noise": rng.random(len(x)) < 0.5,
        "rare": rng.random(len(x)) < 0.02,
        "steps": rng.random(len(x)) < np.where(x // 100 % 2 == 0, 0.2, 0.8),
        "short steps": rng.random(len(x)) < np.where(x // 20 % 2 == 0, 0.02, 0.98),
    }
    usual, many_classes = (exact.HULL_ATOMS, exact.PLAIN_ATOMS), spans.MANY_CLASSES
    try:
        exact.HULL_ATOMS = exact.PLAIN_ATOMS = 0
        for name in ("modl", "bic", "mdlp", "gini", "entropy"):
            for kind, y in signals.items():
                yield f"{name} {kind}", told(optimize(x, y, criterion=name, search="exact"))
        yield "weights", told(optimize(x, signals["steps"], weights=rng.integers(1, 9, len(x)), search="exact"))
        yield "ties", told(optimize(x // 2, signals["steps"], search="exact"))
        yield "max_parts", told(optimize(x, signals["short steps"], max_parts=4, search="exact"))
        # Runs that are not of two classes, or beside frozen cells; sums that a kernel adds up.
        spans.MANY_CLASSES = 3
        yield "three classes", told(optimize(x, signals["steps"] + 2 * (x < 300), search="exact"))
        few = {"x": x[:80], "z": x[80:160]}
        y = (few["x"] < 300) ^ (few["z"] < 400)
        yield "frozen", told(optimize(few, y, search=Search("vns", effort=3)))
    finally:
        (exact.HULL_ATOMS, exact.PLAIN_ATOMS), spans.MANY_CLASSES = usual, many_classes


def groups() -> Found:
    from gridmodl import Search, optimize

    for name in ("modl", "bic", "mdlp", "x2"):
        for n_classes in (2, 3):
            data = columns(n_classes, 60)
            y = classes(data, n_classes)
            yield f"{name} {n_classes}", told(optimize(data["c"], y, criterion=name))
            yield f"{name} {n_classes} merge", told(optimize(data["e"], y, criterion=name, search="merge"))
            yield f"{name} {n_classes} limits", told(optimize(data["c"], y, criterion=name, max_parts=2, min_rows=20))
    data = columns(8, 200)
    values, y = [f"v{i % 80}" for i in range(200)], classes(data, 3)
    yield "many values", told(optimize(values, y))
    yield "without moves", told(optimize(values, y, search=Search("merge", post_optimize=False)))
    yield "limits", told(optimize(values, y, max_parts=3, min_rows=5))


def monotone() -> Found:
    from gridmodl import optimize

    for name in ("modl", "bic", "g2"):
        for direction in ("increasing", "decreasing", "auto"):
            data = columns(len(direction))
            y = classes(data, 2)
            yield f"{name} {direction}", told(optimize(data["x"], y, criterion=name, monotone=direction))
        yield f"{name} limits", told(optimize(data["x"], y, criterion=name, monotone="auto", min_rows=6, max_parts=3))


def limits() -> Found:
    from gridmodl import optimize

    data = columns(4, 60)
    y = classes(data, 3)
    for name in ("modl", "aic", "x2"):
        for max_parts, min_rows in ((2, 1), (3, 8), (50, 25), (1, 1), (5, 0.1)):
            found = optimize(data["x"], y, criterion=name, max_parts=max_parts, min_rows=min_rows, search="exact")
            yield f"{name} {max_parts} {min_rows}", told(found)
        yield f"{name} merge", told(optimize(data["x"], y, criterion=name, max_parts=3, min_rows=5, search="merge"))


def rules() -> Found:
    """Limits on classes, bounds and neighbours: the shares of parts rise and fall, or differ."""
    from gridmodl import optimize
    from gridmodl.search.column import limited

    data = columns(4, 60)
    x, y, three = with_missing(data["x"]), classes(data, 2), classes(data, 3)
    asked: dict[str, dict[str, Any]] = {
        "peak": {"monotone": "peak"},
        "valley": {"monotone": "valley", "min_rows": 6, "max_parts": 3},
        "events": {"min_events": 4},
        "events of one class": {"min_events": ("event", 0.1), "max_parts": 4},
        "difference": {"min_difference": 0.3},
        "fixed": {"fixed": [0.0, 0.7], "monotone": "peak"},
        "allowed": {"allowed": [-1.0, -0.3, 0.0, 0.7], "missing": "apart"},
        "all": {
            "fixed": [0.0],
            "min_events": 2,
            "min_difference": 0.05,
            "monotone": "valley",
            "special": {"x0": [0.5]},
        },
    }
    for name in ("modl", "bic", "g2"):
        for what, limit in asked.items():
            yield f"{name} {what}", told(optimize(x, y, criterion=name, **limit))
        yield f"{name} three classes", told(optimize(x, three, criterion=name, min_events=2, fixed=[0.0]))
        yield f"{name} groups", told(optimize(data["e"], y, criterion=name, min_events=2, min_difference=0.2))
        for seed in (1, 3):
            rng = np.random.default_rng(seed)
            values, periods = rng.integers(0, 8, 2000), rng.integers(0, 3, 2000)
            moved = rng.random(2000) < rng.random((3, 8))[periods, values] * 0.5 + 0.05 * values
            for limit in ({}, {"monotone": "peak", "min_difference": 0.01}, {"monotone": "auto", "max_parts": 3}):
                yield (
                    f"{name} stable {limit}",
                    told(optimize(values, moved, criterion=name, stable_over=periods, **limit)),
                )
            words = np.array([f"v{value}" for value in values])
            yield f"{name} stable groups", told(optimize(words, moved, criterion=name, stable_over=periods))
    heavy = weights(60, 2**40)
    yield "weights", told(optimize(x, y, weights=heavy, monotone="peak", min_difference=0.1, min_events=2**40))
    z = data["z"].astype(float)
    for order in ("increasing", "peak", "auto"):
        yield f"means {order}", told(optimize(x, z, target_kind="numerical", monotone=order))
    long = np.arange(300)
    noisy = np.sin(long / 40.0) + np.random.default_rng(1).normal(size=300) > 0
    usual = limited.MAX_ATOMS, limited.SOME_ATOMS, limited.FEW_ATOMS
    try:  # more bounds than states can be made of
        limited.MAX_ATOMS, limited.SOME_ATOMS, limited.FEW_ATOMS = 60, 40, 20
        for order in ("increasing", "peak", "valley"):
            yield f"long {order}", told(optimize(long, noisy, monotone=order))
        yield "long difference", told(optimize(long, noisy, min_difference=0.8, min_events=2))
    finally:
        limited.MAX_ATOMS, limited.SOME_ATOMS, limited.FEW_ATOMS = usual


def special() -> Found:
    from gridmodl import optimize

    data = columns(6, 60)
    x = np.where(np.arange(60) % 5 == 0, -999.0, np.where(np.arange(60) % 11 == 0, -1.0, data["x"]))
    for name in ("modl", "bic", "g2"):
        for n_classes in (2, 3):
            asked = {"criterion": name, "special": {"x0": [-1, -999]}}
            yield f"{name} {n_classes}", told(optimize(with_missing(x), classes(data, n_classes), **asked))
        yield f"{name} monotone", told(optimize(x, classes(data, 2), monotone="auto", **asked))


def weighted() -> Found:
    """Weights from none to the largest that are taken: all rows together are fewer than 2^53."""
    from gridmodl import optimize

    for bits in (0, 24, 28, 44):  # below 2^31 rows in all, above it, and near 2^53
        data = columns(bits)
        for name in ("modl", "bic", "g2", "x2") if bits < 28 else ("modl", "bic"):
            asked = {"criterion": name, "weights": weights(scale=2**bits)}
            yield f"{name} {bits}", told(optimize(with_missing(data["x"]), classes(data, 3), **asked))
            yield f"{name} {bits} groups", told(optimize(data["e"], classes(data, 3), search="merge", **asked))
            yield f"{name} {bits} monotone", told(optimize(data["x"], classes(data, 2), monotone="auto", **asked))
    data = columns(9)
    for total in (2**31 - 1, 2**31, 2**53 - 1):  # the last number of 32 bits, the first of more, the last that is taken
        rows = np.ones(40, dtype=np.int64)
        rows[3], rows[20] = total - total // 3 - 38, total // 3
        yield f"{total}", told(optimize(data["x"], classes(data, 3), weights=rows))
        yield f"{total} groups", told(optimize(data["c"], classes(data, 2), weights=rows))


def unlabelled() -> Found:
    from gridmodl import bound_posterior, optimize

    for n_classes in (2, 3):
        data = columns(n_classes, 60)
        y = np.where(np.arange(60) % 3 == 0, classes(data, n_classes), -1)
        for name in ("x", "c", "e"):
            yield f"{name} {n_classes}", told(optimize(data[name], y, unlabelled=-1))
        yield f"weights {n_classes}", told(optimize(data["x"], y, unlabelled=-1, weights=weights(60, 2**20)))
        yield f"missing {n_classes}", told(optimize(with_missing(data["x"]), y, unlabelled=-1, search="merge"))
        yield f"median {n_classes}", told(optimize(data["x"], y, unlabelled=-1, placement="median"))
        found = bound_posterior(data["x"], y, unlabelled=-1)
        yield f"posterior {n_classes}", [found.bounds.tolist(), found.posterior.tolist()]


def averages() -> Found:
    from gridmodl import average

    for n_classes in (1, 2, 3):
        data = columns(n_classes, 60)
        y = classes(data, n_classes)
        partial = np.where(np.arange(60) % 3 == 0, y, -1)
        for name, asked in {
            "plain": {"target": y},
            "bic": {"target": y, "criterion": "bic"},
            "few": {"target": y, "m": 9},
            "heavy": {"target": y, "weights": weights(60, 2**20)},
            "unlabelled": {"target": partial, "unlabelled": -1},
            "few unlabelled": {"target": partial, "unlabelled": -1, "m": 9},
        }.items():
            found = average(with_missing(data["x"]), **asked)
            drawn = [model.partitions["x0"].bounds.tolist() for model in found.sample(4)]
            band = np.round(found.band(found.knots[::9]), 7).tolist()
            facts = [found.log_evidence, found.p_parts[:9], found.p_bounds, found.shares, found.loo_loss or 0.0]
            rounded = [np.round(fact, 9).tolist() for fact in facts]
            yield f"{name} {n_classes}", [rounded, drawn, band, told(found.partition(0.01)), told(found.best)]


def densities() -> Found:
    from gridmodl import density, optimize_density

    data = columns(1, 60)
    for name in ("x", "z"):
        for kernel in ("likelihood", "epanechnikov", "triangle", "box"):
            score = {} if kernel == "likelihood" else {"score": "kernel", "kernel": kernel}
            for asked in ({}, {"min_rows": 4, "max_parts": 5, "n_folds": 3}, {"weights": weights(60)}):
                found = optimize_density(data[name], **score, **asked)
                yield f"{name} {kernel} {sorted(asked)}", [parts_of(found.partition), found.log_densities.tolist()]
    found = density.equal_width(data["x"], max_parts=12)
    yield "equal width", [parts_of(found.partition), found.log_densities.tolist()]


def other_methods() -> Found:
    from gridmodl import baselines

    data = columns(2, 60)
    for n_classes in (2, 3):
        y = classes(data, n_classes)
        for method, asked in (
            (baselines.fayyad_irani, {}),
            (baselines.chi_merge, {}),
            (baselines.chi_merge, {"max_parts": 4}),
        ):
            for scale in (0, 1, 2**26, 2**40):
                given = asked if scale == 0 else {**asked, "weights": weights(60, scale)}
                yield f"{method.__name__} {n_classes} {len(asked)} {scale}", told(method(data["x"], y, **given))
    yield "equal", told(baselines.equal_frequency(data["x"], y, n_parts=5))


def explained() -> Found:
    """What is priced beside a model: other numbers of parts, merges and cuts, and certificates checked."""
    from gridmodl import cost_by_parts, optimize, verify
    from gridmodl.search.column import splits

    data = columns(7, 60)
    y = classes(data, 3)
    for name in ("modl", "g2"):
        for column in ("x", "c", "e"):
            curve = cost_by_parts(data[column], y, criterion=name, max_parts=6)
            yield f"{name} {column} curve", [curve.cost.tolist(), list(map(parts_of, curve.partitions))]
            model = optimize(data[column], y, criterion=name)
            why = model.explain()
            yield (
                f"{name} {column} alternatives",
                [[a.n_parts, a.delta] for a in (why.fewer, why.more) if a is not None],
            )
            yield f"{name} {column} verified", bool(verify(model, data[column], y))
    usual = splits.MOST_PRICES
    try:
        splits.MOST_PRICES = 0  # as if all partitions took long: one more bound is tried
        why = optimize(data["x"], y).explain()
        yield "one more bound", [[a.n_parts, a.delta] for a in (why.fewer, why.more) if a is not None]
    finally:
        splits.MOST_PRICES = usual
    for target in (None, y):
        model = optimize(some("xd", 7, 60), target, search="merge")
        why = model.explain("d")
        yield f"grid {target is None}", [[a.n_parts, a.delta] for a in (why.fewer, why.more) if a is not None]


def grids() -> Found:
    from gridmodl import Search, optimize

    for name in ("modl", "bic"):
        for n_classes, names in ((2, "xc"), (3, "xczd"), (2, "xz"), (3, "ce")):
            data = columns(n_classes, 60)
            y = (classes(data, n_classes) + (data["z"] > 0.5) + (data["d"] > "u")) % n_classes
            given = {column: data[column] for column in names}
            for kind, asked in (
                ("vns", {}),
                ("merge", {"max_parts": 3, "min_rows": 6}),
                ("vns", {"weights": weights(60)}),
            ):
                search = Search(kind, effort=1, keep_optima=3)
                model = optimize(given, y, criterion=name, search=search, **asked)
                yield f"{name} {names} {kind} {len(asked)}", [told(model), [float(m.cost) for m in model.optima]]
        search = Search("algorithm3", effort=1)
        yield f"{name} algorithm3", told(optimize(given, y, criterion=name, search=search))
    yield "weights", told(optimize(given, y, search=search, weights=weights(60, 2**40)))


def joint_pairs() -> Found:
    from gridmodl_khiops11 import Khiops11

    from gridmodl import Search, optimize

    for criterion in ("modl", Khiops11()):
        for names in ("cd", "xz", "xd", "ce"):
            for kind, asked in (
                ("vns", {}),
                ("merge", {"max_parts": 3, "min_rows": 6}),
                ("vns", {"weights": weights()}),
            ):
                model = optimize(
                    some(names), criterion=criterion, search=Search(kind, effort=1, keep_optima=2), **asked
                )
                yield f"{criterion} {names} {kind} {sorted(asked)}", told(model)
    # One cell of most of the rows: what its value's rows would make of its own group is twice as many.
    a, b = np.repeat(list("abcd"), 4), np.tile(list("uvwx"), 4)
    yield "one large cell", told(optimize({"a": a, "b": b}, weights=[900] + [20] * 15))
    yield "few rows", told(optimize({"a": a[::3], "b": b[::3]}))


def joint_grids() -> Found:
    """Three columns and four; and pairs by the search for any number of them."""
    from gridmodl import Search, optimize

    for names, effort in (("xcd", 1), ("xzd", 0), ("cde", 0), ("xczd", 0)):
        yield names, told(optimize(some(names, 2, 30), search=Search("vns", effort=effort)))
    yield "weights", told(optimize(some("xcd", 3, 30), weights=weights(30), search="merge"))
    yield "limits", told(optimize(some("xcd", 3, 30), max_parts=3, min_rows=5, search="merge"))
    yield "algorithm3", told(optimize(some("xd", 3, 30), search=Search("algorithm3", effort=1)))


def searched_targets() -> Found:
    from gridmodl import Search, optimize

    data = columns(5)
    for kind, target in (("grouped", "e"), ("grouped", "d"), ("numerical", "z")):
        for name in "xc":
            for search, asked in (
                ("vns", {}),
                ("merge", {"max_parts": 2}),
                ("vns", {"weights": weights(), "min_rows": 5}),
            ):
                asked = {**asked, "target_kind": kind, "search": Search(search, effort=1)}
                yield f"{target} {name} {sorted(asked)}", told(optimize(data[name], data[target], **asked))


def large_cells() -> Found:
    """Cells of more rows than prices are tabulated, down to tables of a few."""
    from gridmodl import Search, optimize
    from gridmodl.search.pair import state as pair_state

    most = pair_state.MAX_TABLED
    try:
        for pair_state.MAX_TABLED in (1, 2, 5, 41, 42, 60):
            for names in ("cd", "xd"):
                found = optimize(some(names, 1), search=Search("vns", effort=1))
                yield f"{names} {pair_state.MAX_TABLED}", told(found)
            asked = {"target_kind": "grouped", "search": Search("vns", effort=1)}
            data = columns(5)
            yield f"grouped {pair_state.MAX_TABLED}", told(optimize(data["c"], data["d"], **asked))
        for bits in (20, 28, 44):
            found = optimize(some("cd", 1), weights=weights(scale=2**bits), search=Search("vns", effort=1))
            yield f"weights {bits}", told(found)
            if bits < 30:  # beyond 2^36 rows it is refused
                found = optimize(data["x"], data["d"], weights=weights(scale=2**bits), **asked)
                yield f"grouped weights {bits}", told(found)
    finally:
        pair_state.MAX_TABLED = most


def looked_up() -> Found:
    """Criteria that look up log n! for each n up to the number of rows: a cell of more rows is past the end.

    Without the plain lane, where that is an error, the same criteria without a table.
    """
    from gridmodl import CoclusteringClassifier, GridCoclustering, Model, Search, optimize
    from gridmodl.codelength import log_binomial
    from gridmodl.criteria import ModlGrid, ModlGrouped, ModlJoint
    from gridmodl.criteria.modl import Modl

    class Table:
        constants = {"logs": np.ndarray, "unit": float}

        def params(self, problem: Any) -> Any:
            logs = np.array([math.lgamma(n + 1.0) for n in range(problem.n_rows + 1)])
            return {"logs": logs, "unit": 0.0}  # few rows have none

    def class_length(p: Any, cell: Any) -> float:
        cost = log_binomial(cell.rows + p.n_classes - 1, p.n_classes - 1) + p.logs[cell.rows]
        for n in cell.counts:
            cost -= p.logs[n]
        return cost

    def value_order(p: Any, variable: Any, part: Any) -> float:
        cost = p.logs[part.rows]
        if variable.categorical:
            cost += log_binomial(part.rows + part.values - 1, part.values - 1)
        return cost

    def target_length(p: Any, variable: Any, part: Any) -> float:
        return value_order(p, variable, part) if variable.is_target else 0.0

    def margin(p: Any, rows: int, n_target_parts: int) -> float:
        return log_binomial(rows + n_target_parts - 1, n_target_parts - 1) + p.logs[rows]

    def cell_order(p: Any, cell: Any) -> float:
        return -p.logs[cell.rows]

    def criterion(base: Any, **terms: Any) -> Any:
        is_plain = os.environ.get("GRIDMODL_COMPILE") == "never"
        static = {name: staticmethod(term) for name, term in terms.items()}
        return type(f"Looked{base.__name__}", (Table, base), static)() if is_plain else "modl"

    data, search = columns(3), Search("vns", effort=1)
    y = classes(data, 3)
    alone = criterion(Modl, cell=class_length)
    for name in "xce":
        yield f"one {name}", told(optimize(data[name], y, criterion=alone, search="exact" if name == "x" else "merge"))
    both = criterion(ModlGrid, cell=class_length)
    yield "grid", told(optimize(some("xce", 3), y, criterion=both, search=search))
    joint = criterion(ModlJoint, cell=cell_order, part=value_order)
    for names in ("cd", "xd", "xz"):
        yield f"joint {names}", told(optimize(some(names, 3), criterion=joint, search=search))
    yield "few rows", told(optimize(some("cd", 3, 6), criterion=joint, search=search))
    yield "three", told(optimize(some("xcd", 3, 30), criterion=joint, search="merge"))
    # Cells and parts that a few rows more would make larger than all rows.
    found = GridCoclustering(criterion=joint, search=search).fit(np.ones((6, 4), dtype=int))
    yield "new rows", found.predict(np.tile(np.eye(4, dtype=int), (9, 1))).tolist()
    large = {"a": list("aaaaaaabbbbbcc"), "b": list("uv" * 7)}
    large = Model.from_partitions(large, None, {"a": [["a", "b"], ["c"]]}, criterion=joint)
    yield "typical", [list(map(str, values)) for values in large.typical_values("a")]
    matrix = np.kron(np.eye(3, dtype=int), np.ones((4, 3), dtype=int))
    labels = np.where(np.arange(12) % 8 == 0, np.arange(12) // 4, -1)
    found = CoclusteringClassifier(unlabelled=-1, criterion=joint, search=search).fit(matrix, labels)
    yield "labelled groups", found.predict(matrix).tolist()
    grouped = criterion(ModlGrouped, cell=cell_order, part=target_length, margin=margin)
    for name, target, kind in (("x", "d", "grouped"), ("c", "e", "grouped"), ("c", "z", "numerical")):
        asked = {"target_kind": kind, "criterion": grouped, "search": search}
        yield f"{kind} {name}", told(optimize(data[name], data[target], **asked))


def hierarchies() -> Found:
    from gridmodl import optimize

    data = columns(5, 60)
    for name, model in {
        "pair": optimize(some("xd", 5, 60), search="merge"),
        "three": optimize(some("xcd", 5, 60), search="merge"),
        "grouped": optimize(data["x"], data["d"], target_kind="grouped", search="merge"),
    }.items():
        steps = model.hierarchy().steps
        yield name, [[str(step.name), step.stays, step.goes, float(step.cost)] for step in steps]
        if steps:
            yield f"{name} coarser", told(model.coarsen(max_cells=2))


def sparse_matrices() -> Found:
    """Coclusterings of matrices, the most typical of their values, and rows that are new to them."""
    from scipy import sparse

    from gridmodl import GridCoclustering, Search, optimize

    rng = np.random.default_rng(4)
    same = (np.arange(14) % 2)[:, None] == np.arange(9) % 2
    matrix = rng.poisson(np.where(same, 1.5, 0.2))
    model = optimize(sparse.csr_matrix(matrix), search=Search("vns", effort=1))
    yield "counts", told(model)
    yield "typical", [[str(v) for values in model.typical_values(name) for v in values] for name in ("row", "column")]
    for counts in ("binary", "frequency"):
        found = GridCoclustering(counts=counts, search=Search("vns", effort=1)).fit(matrix[:8])
        yield f"new rows {counts}", [found.row_labels_.tolist(), found.predict(np.tile(matrix[8:], (4, 1))).tolist()]
    many = sparse.random(70, 66, 0.05, random_state=1) > 0
    yield "many values", told(optimize(many, search=Search("merge"), max_parts=4))


def estimators() -> Found:
    import gridmodl
    from gridmodl import Search

    data = columns(6, 60)
    X = np.column_stack([data["x"], data["z"], np.unique(data["c"], return_inverse=True)[1]])
    y = classes(data, 3)
    few = Search("diverse", effort=2, keep_optima=5)
    for name, estimator in {
        "naive Bayes": gridmodl.GridNaiveBayes(),
        "selective": gridmodl.GridNaiveBayes(weights="selective"),
        "grouped": gridmodl.GridNaiveBayes(target_kind="grouped", search=Search("vns", effort=1)),
        "grid": gridmodl.GridClassifier(search=Search("vns", effort=1), threshold="balanced"),
        "ensemble": gridmodl.GridEnsembleClassifier(search=few),
    }.items():
        estimator.fit(X, y)
        yield name, [estimator.predict(X).tolist(), np.round(estimator.predict_proba(X), 9).tolist()]
    for target, kind in ((y, None), (None, None), (data["z"], "numerical")):
        found = gridmodl.GridDiscretizer(target_kind=kind).fit(X[:, ::2], target)
        yield f"discretizer {target is None} {kind}", found.transform(X[:, ::2]).tolist()
    labelled = np.where(np.arange(60) < 15, y, -1)
    table = (X[:, :1] > np.linspace(-1, 1, 8)).astype(int)
    found = gridmodl.CoclusteringClassifier(unlabelled=-1, search=Search("vns", effort=1)).fit(table, labelled)
    yield "coclustering", found.predict_proba(table).round(9).tolist()


KINDS: dict[str, Callable[[], Found]] = {
    kind.__name__: kind
    for kind in (
        one_column, long_columns, hulls, groups, monotone, limits, rules, special, weighted, unlabelled, averages,
        densities, other_methods, explained, grids, joint_pairs, joint_grids, searched_targets, large_cells,
        looked_up,
        hierarchies, sparse_matrices, estimators,
    )
}  # fmt: skip


# Sizes that matter to the checked lane: where buffers are full, numbers get wider and searches take another way.


def full_columns() -> Found:
    from gridmodl import optimize
    from gridmodl.baselines import chi_merge

    rng = np.random.default_rng(0)
    # Tiers of the tournament tree (8^k), bounds of a quadratic proof (256), chunks of 16, restarts (2048).
    for n in (1, 2, 7, 8, 9, 64, 65, 255, 257, 512, 513, 2048, 2049, 4097):
        x = np.arange(n)
        y = (np.sin(x / 9.0) + rng.normal(size=n) / 2 > 0).astype(int)
        yield f"{n} values", told(optimize(x, y if n > 1 else ["a"]))
        yield f"{n} merged", told(optimize(x, y + (rng.random(n) < 0.2) if n > 1 else ["a"], search="merge"))
    yield "chi merge", told(chi_merge(x, y))
    x = rng.integers(0, 50_000, 60_000)  # more bounds than the path of a merge keeps
    yield "long", told(optimize(x, (x // 5_000 + rng.integers(0, 2, len(x))) % 3))
    x = rng.permutation(3_000)
    yield "many classes", told(optimize(x, x // 5, target_kind="classes", search="merge"))
    for n in (12, 13, 64, 65, 2_048, 2_049, 3_000):  # all subsets, all apart, the most groups that a merge begins with
        values = np.append(np.arange(n), rng.integers(0, n, n)).astype(str)
        yield f"{n} categories", told(optimize(values, rng.integers(0, 3, 2 * n), search="auto" if n < 13 else "merge"))
    x = np.arange(400)
    y = (rng.random(400) < x / 400).astype(int)
    yield "monotone", told(optimize(x, y, monotone="auto"))
    for total in (2**31 - 1, 2**31, 2**53 - 1):
        rows = np.ones(400, dtype=np.int64)
        rows[7], rows[300] = total - total // 3 - 398, total // 3
        yield f"{total} rows", told(optimize(x, y, weights=rows))
        yield f"{total} rows of groups", told(optimize(x.astype(str), (y + x) % 3, weights=rows, search="merge"))
        yield f"{total} rows monotone", told(optimize(x, y, weights=rows, monotone="auto"))


def full_pairs() -> Found:
    from gridmodl import Search, optimize
    from gridmodl.search.pair.state import MAX_TABLED

    few = Search("vns", effort=1)
    a, b = np.repeat(list("abcd"), 4), np.tile(list("uvwx"), 4)
    for rows in (20_000, MAX_TABLED - 302, MAX_TABLED - 301, MAX_TABLED - 300, 2**31 - 301, 2**31, 2**50):
        yield f"one cell of {rows}", told(optimize({"a": a, "b": b}, weights=[rows] + [20] * 15, search=few))
    rng = np.random.default_rng(0)
    for n, n_values in ((30, 10), (400, 65), (1_500, 300)):  # one part for each value, random ones, ones that are near
        c, d = rng.integers(0, n_values, (2, n)), rng.integers(0, 4, n)
        d = np.where(rng.random(n) < 0.8, c[0] % 4, d) * n_values // 4 + c[1] // 4
        yield f"{n_values} categories", told(optimize({"c": c[0].astype(str), "d": d.astype(str)}, search=few))
    x = rng.normal(size=1_500)  # more values than there are places for bounds
    yield "numbers", told(optimize({"x": x, "z": np.sign(x) + rng.normal(size=1_500)}, search="merge"))
    yield "mixed", told(optimize({"x": x, "d": (x > 0.3).astype(str)}, search=few))


def full_grids() -> Found:
    from gridmodl import Search, optimize

    few = Search("vns", effort=1)
    rng = np.random.default_rng(0)
    data = some("xczde", 0, 1_500)
    y = (classes(data, 3) + (data["z"] > 0.5)) % 3
    x = rng.permutation(1_500)
    for kind in ("vns", "algorithm3"):
        yield kind, told(optimize(data, y, search=Search(kind, effort=2)))
    yield "many classes", told(optimize({"x": x, "c": (x % 300).astype(str)}, (x // 8).astype(str), search="merge"))
    yield "categories", told(optimize({"a": (x % 700).astype(str), "b": (x % 40).astype(str)}, x % 2, search=few))
    yield "many columns", told(optimize(rng.normal(size=(60, 40)), np.arange(60) % 2, search=few))
    yield "joint", told(optimize(some("xcd", 0, 600), search=few))
    for total in (2**31 - 1, 2**31, 2**53 - 1):
        rows = np.ones(1_500, dtype=np.int64)
        rows[7], rows[1_300] = total - total // 3 - 1_498, total // 3
        yield f"{total} rows", told(optimize(data, y, weights=rows, search="merge"))
        yield f"joint of {total} rows", told(optimize(some("xcd", 0, 1_500), weights=rows, search="merge"))


def full_targets() -> Found:
    from gridmodl import Search, optimize

    few = Search("vns", effort=1)
    rng = np.random.default_rng(0)
    x = rng.normal(size=1_200)
    of_x = np.digitize(x, [-1.0, 0.0, 1.0])
    many = (of_x * 40 + rng.integers(0, 40, len(x))).astype(str)
    for name, given in (("x", x), ("c", (of_x * 50 + rng.integers(0, 50, len(x))).astype(str))):
        yield f"grouped {name}", told(optimize(given, many, target_kind="grouped", search=few))
        yield f"numerical {name}", told(optimize(given, x**2 + of_x, target_kind="numerical", search="merge"))
        for rows in (2**21, 2**31, 2**36 - len(x)):
            weights = np.append(np.full(1, rows), np.ones(len(x) - 1, dtype=np.int64))
            asked = {"target_kind": "grouped", "weights": weights, "search": "merge"}
            yield f"grouped {name} {rows}", told(optimize(given, of_x.astype(str), **asked))


FULL: dict[str, Callable[[], Found]] = {
    kind.__name__: kind for kind in (full_columns, full_pairs, full_grids, full_targets)
}


# Kernels that are wrong, which a lane has to see.


def read_at(array: Any, i: int) -> Any:
    return array[i]


def eight_times(array: Any) -> Any:
    return array[0] * 8


def past_the_end() -> Found:
    from gridmodl.jit.template import bind

    yield "", float(bind(read_at)(np.zeros(4), 4))


def below_zero() -> Found:
    from gridmodl.jit.template import bind

    yield "", float(bind(read_at)(np.zeros(4), -1))


def overflow() -> Found:
    from gridmodl.jit.template import bind

    yield "", int(bind(eight_times)(np.full(1, 100, dtype=np.int8)))


BROKEN: dict[str, Callable[[], Found]] = {kind.__name__: kind for kind in (past_the_end, below_zero, overflow)}


class Ran(NamedTuple):
    """What the cases of some kinds found in a process of their own."""

    found: dict[str, Any]  # by kind
    kernels: list[str]  # names of the kernels that ran, in the plain lane


def run(lane: str, *kinds: str) -> Ran:
    """Run kinds in a lane; what is raised there is an error here, with where it was raised."""
    environment = os.environ | FLAGS[lane]
    environment["PYTHONPATH"] = os.pathsep.join([str(PROJECT), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, __file__, lane, *kinds]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=PROJECT, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{lane} lane, {' '.join(kinds)}: exit code {done.returncode}\n{done.stderr}")
    return Ran(*json.loads(done.stdout))


def main(lane: str, *kinds: str) -> None:
    sys.path.append(str(PROJECT / "plugins" / "gridmodl-khiops11"))
    kernels = enter_plain_lane() if lane == "plain" else set()
    warnings.simplefilter("error")
    found = {kind: dict((KINDS | FULL | BROKEN)[kind]()) for kind in kinds}
    print(json.dumps([found, sorted(kernels)]))


if __name__ == "__main__":
    main(*sys.argv[1:])
