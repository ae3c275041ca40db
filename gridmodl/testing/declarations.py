"""Check the declarations about `cell`, `predictive`, the prior of the number of parts and the price of parts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridmodl.codelength import log_binomial
from gridmodl.plugins import class_number
from gridmodl.pricing import check_term, numerical_values, prepare, price_one_variable, variable_of
from gridmodl.terms import DOMAIN, PROBLEMS, Cell, Criterion, Problem, Shape, finish, params_record
from gridmodl.testing.bruteforce import RELATIVE, draw_class_number, require

SIZES = (2, 9, 100, 100_000)  # rows of a class, at most


def check_concave_cell(criterion: Criterion, kind: str, n_samples: int) -> None:
    """Compare the price of counts with the weighted mean price of counts whose weighted mean they are."""
    rng = np.random.default_rng(20171)
    for _ in range(10 * n_samples):
        points, weights = _random_mean(rng, draw_class_number(rng, criterion, 1, 4))
        p = _params(criterion, kind, points.sum(axis=0))
        prices = [_price(criterion, p, counts) for counts in points]
        mean = math.fsum(w * price for w, price in zip(weights.tolist(), prices[1:], strict=True)) / weights.sum()
        rounding = RELATIVE * (1.0 + max(map(abs, prices)))
        require(
            prices[0] >= mean - rounding,
            f"criterion {criterion.name!r} declares concave_cell, but rows by class {points[0].tolist()} cost "
            f"{prices[0]!r}, less than {mean!r}, the mean of {prices[1:]!r}, what {points[1:].tolist()} cost; their "
            f"mean by the weights {weights.tolist()} are these rows",
        )


def check_gradient(criterion: Criterion, kind: str, n_samples: int) -> None:
    """Compare `gradient`, with two classes, to what more rows add, and at a mean of counts to that at these counts."""
    rng = np.random.default_rng(20173)
    for _ in range(10 * n_samples):
        points, _ = _random_mean(rng, 2)
        if not points.any(axis=1).all():  # an empty cell has no slopes
            continue
        more = rng.integers(0, int(rng.choice(SIZES)) + 1, 2)
        p = _params(criterion, kind, points.sum(axis=0) + more)
        slopes = np.zeros((len(points), 2))
        for counts, row in zip(points, slopes, strict=True):
            criterion.gradient(p, Cell(counts, int(counts.sum()), 0), row)
        shown = f"gradient of criterion {criterion.name!r} writes {slopes[0].tolist()} for rows {points[0].tolist()}"
        before, after = _price(criterion, p, points[0]), _price(criterion, p, points[0] + more)
        most = math.fsum(s * n for s, n in zip(slopes[0].tolist(), more.tolist(), strict=True) if n > 0)
        rounding = RELATIVE * (1.0 + abs(before) + abs(after))
        require(after - before <= most + rounding, f"{shown}, but {more.tolist()} more add {after - before!r}")
        highest = slopes[1:].max(axis=0)
        require(
            bool(np.all(slopes[0] <= highest + RELATIVE * (1.0 + np.abs(highest)))),
            f"{shown}, more than {highest.tolist()}, the highest of {points[1:].tolist()}, of which they are a mean",
        )


def _random_mean(rng: np.random.Generator, n_classes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw rows by class, then rows by class whose weighted mean they are, and the weights."""
    most = int(rng.choice(SIZES))
    weights = np.append(rng.integers(1, 4, int(rng.integers(1, 4))), 1)
    while True:
        middle = rng.integers(0, most + 1, n_classes) * (rng.random(n_classes) < 0.8)
        steps = rng.integers(-most, most + 1, (len(weights) - 1, n_classes)) // int(rng.integers(1, 2 * len(weights)))
        last = middle - weights[:-1] @ np.maximum(steps, -middle)  # of weight 1: whole, whatever the others are
        points = np.vstack([middle, middle + np.maximum(steps, -middle), last])
        if middle.any() and not (points < 0).any():
            return points, weights


def check_predictive(criterion: Criterion, kind: str, n_samples: int) -> None:
    """Check that the probabilities of the classes of the next row add up to 1, in an empty cell too."""
    rng = np.random.default_rng(20172)
    for _ in range(10 * n_samples):
        n_classes, most = draw_class_number(rng, criterion, 1, 4), int(rng.choice(SIZES))
        counts = rng.integers(0, most + 1, n_classes) * (rng.random(n_classes) < 0.6)
        p = _params(criterion, kind, counts + rng.integers(1, most + 1, n_classes))
        cell = Cell(counts, int(counts.sum()), 0)
        for code in range(n_classes):
            check_term(criterion, "predictive", p, cell, code)
        shares = [float(criterion.predictive(p, cell, code)) for code in range(n_classes)]
        require(
            min(shares) >= 0.0 and math.isclose(math.fsum(shares), 1.0, rel_tol=RELATIVE),
            f"predictive of criterion {criterion.name!r} says {shares!r} of the classes of the next row of a cell with "
            f"rows by class {counts.tolist()}; these must be probabilities that add up to 1",
        )
        if criterion.predicts_exactly:
            _check_ratio(criterion, p, counts, shares)


def _check_ratio(criterion: Criterion, p: Any, counts: NDArray[np.int64], shares: list[float]) -> None:
    """Compare `predictive` with the ratio of exp(-scale * cell) with one more row and without."""
    before = _price(criterion, p, counts)
    for code, share in enumerate(shares):
        after = _price(criterion, p, counts + (np.arange(len(counts)) == code))
        ratio = float(criterion.scale or 0.0) * (before - after)
        rounding = RELATIVE * (1.0 + abs(before) + abs(after))
        require(
            criterion.scale is not None and share > 0.0 and abs(math.log(share) - ratio) <= rounding,
            f"criterion {criterion.name!r} declares predicts_exactly, but predictive says {share!r} of class {code} in "
            f"a cell with rows by class {counts.tolist()}; exp(-scale * cell) with one more row and without it has the "
            f"ratio {math.exp(min(ratio, 700.0))!r}",
        )


def check_empty_parts(criterion: Criterion) -> None:
    """Check that the cell of a part of a density costs nothing without rows."""
    p = params_record(criterion, Problem("density", 8, 1, np.empty(0, dtype=np.int64)))
    price = float(criterion.cell(p, Cell(np.array([DOMAIN // 2]), 0, -(DOMAIN // 2))))
    require(
        price == 0.0,
        f"criterion {criterion.name!r} declares empty_parts; its cell prices a part without rows at {price!r}, not 0",
    )


def check_uniform_parts(criterion: Criterion, kind: str) -> None:
    """Compare the price of a number of parts of a numerical variable with log N + log C(N+I-1, I-1)."""
    n_classes = class_number(criterion) or 2
    for n_rows in (n_classes, 9 * n_classes, 500 * n_classes):
        problem = Problem(kind, n_rows, 1, np.full(n_classes, n_rows // n_classes))
        p, variable = params_record(criterion, problem), variable_of(criterion, problem, numerical_values(n_rows))
        for n_parts in range(1, min(n_rows, 20) + 1):
            shape = Shape(1, int(n_parts > 1), float(n_parts))
            price = float(criterion.grid(p, shape)) + float(criterion.variable(p, variable, n_parts))
            expected = math.log(n_rows) + log_binomial(n_rows + n_parts - 1, n_parts - 1)
            require(
                criterion.scale is not None
                and math.isclose(criterion.scale * price, expected, rel_tol=RELATIVE, abs_tol=RELATIVE),
                f"criterion {criterion.name!r} declares uniform_parts, but prices {n_parts} parts of {n_rows} rows at "
                f"{price!r}; scale times that must be log N + log C(N+I-1, I-1), {expected!r}",
            )


def check_penalty_option(criterion: Criterion, kind: str, n_samples: int) -> None:
    """Compare costs of partitions at several values of `penalty_option` with what one value and the parts tell."""
    option = str(criterion.penalty_option)
    says = f"criterion {criterion.name!r} declares penalty_option {option!r}"
    require(type(criterion.options.get(option)) is float, f"{says}, which is no option of type float")
    unknown = sorted(set(criterion.tried_options) - (set(criterion.options) - {option}))
    require(not unknown, f"criterion {criterion.name!r} declares tried_options of {unknown}, which it does not have")
    require(criterion.finish is finish, f"{says}, but its `finish` changes the sum of its terms")
    rng = np.random.default_rng(20174)
    for _ in range(n_samples):
        n_classes = draw_class_number(rng, criterion, 2, 4)
        counts = rng.integers(1, int(rng.choice(SIZES)) + 1, (int(rng.integers(3, 9)), n_classes))
        values = np.ones(len(counts), dtype=np.int64)
        problem = Problem(kind, int(counts.sum()), 1, counts.sum(axis=0))

        def costs(value: float, counts: Any = counts, values: Any = values, problem: Any = problem) -> list[float]:
            """Costs of all rows in fewer and fewer parts, at `value` of the option."""
            at = type(criterion)(**{**criterion.chosen, option: value})
            found = []
            for n in range(len(counts), 0, -1):
                merged = np.vstack([counts[: n - 1], counts[n - 1 :].sum(axis=0)])
                sizes = np.append(values[: n - 1], len(counts) - n + 1)
                p, variable = prepare(at, problem, numerical_values(len(counts)))
                found.append(price_one_variable(at, p, variable, merged, sizes))
            return found

        low, middle, high = (np.array(costs(value)) for value in (0.25, 0.75, 1.75))
        steps = np.diff(middle - low) / 0.5, np.diff(high - middle)
        rounding = 1e-9 * (1.0 + np.abs(high).max())
        is_constant = max(np.abs(one - steps[0][0]).max() for one in steps) <= rounding
        require(
            is_constant,
            f"{says}, but a part less changes the cost by {steps[0].tolist()} for a unit of it at low values, and by "
            f"{steps[1].tolist()} at high ones, for parts with rows by class {counts.tolist()}; it must be a constant",
        )


def _params(criterion: Criterion, kind: str, class_rows: NDArray[np.int64]) -> Any:
    class_rows = np.maximum(class_rows, 1)  # no class is without rows
    return params_record(
        criterion, Problem(kind, int(class_rows.sum()), 1 if PROBLEMS[kind].has_one_input else 2, class_rows)
    )


def _price(criterion: Criterion, p: Any, counts: NDArray[np.int64]) -> float:
    rows = int(counts.sum())
    return float(criterion.cell(p, Cell(counts, rows, 0))) if rows else 0.0
