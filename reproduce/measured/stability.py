"""Log-loss on later months of parts that were found with and without `stable_over`, on made portfolios with drift.

    python reproduce/measured/stability.py [--rows 20000] [--seeds 10]

Parts are found on the first 12 months, and their event rates counted there; months 13 to 18 are predicted. The event
rate rises with the column. With "drift", it falls again above a value, more so with each month; with "one bad month",
in the sixth month alone; with "none", never. Numbers are means over seeds.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

import gridmodl

Ints = NDArray[np.int64]

TRAIN, LAST = 12, 18
KINDS = ("none", "one bad month", "drift")


def portfolio(kind: str, n_rows: int, seed: int) -> tuple[Ints, Ints, Ints]:
    """Column, month and class of each row."""
    rng = np.random.default_rng(seed)
    x, month = rng.integers(0, 80, n_rows), rng.integers(1, LAST + 1, n_rows)
    rate = 0.05 + 0.3 * x / 80
    strength = {"none": 0.0 * month, "one bad month": 1.0 * (month == 6), "drift": np.clip((month - 6) / 8, 0, 1)}[kind]
    rate = np.where(x > 55, rate - strength * (rate - 0.05), rate)
    return x, month, (rng.random(n_rows) < rate).astype(int)


def log_loss(model: gridmodl.Model, x: Ints, y: Ints) -> float:
    """Mean log-loss of the event rates of the parts, (n1 + 1/2) / (n + 1)."""
    counts = np.asarray(model.partitions["x0"].counts)
    rates = (counts[:, 1] + 0.5) / (counts.sum(axis=1) + 1.0)
    rate = rates[model.transform(x)]
    return float(-np.mean(np.where(y == 1, np.log(rate), np.log1p(-rate))))


def measure(kind: str, n_rows: int, seed: int) -> list[float]:
    """Number of parts and log-loss on later months, without and with the limit; and the periods that broke."""
    x, month, y = portfolio(kind, n_rows, seed)
    is_train = month <= TRAIN
    free = gridmodl.optimize(x[is_train], y[is_train])
    stable = gridmodl.optimize(x[is_train], y[is_train], stable_over=month[is_train])
    later = x[~is_train], y[~is_train]
    parts = [model.partitions["x0"].n_parts for model in (free, stable)]
    n_breaks = len(stable.stability.breaks) if stable.stability else 0
    return [*parts, log_loss(free, *later), log_loss(stable, *later), n_breaks, stable.proven]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[20_000, 100_000])
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    print("| drift | rows | parts | stable parts | log-loss | of stable | better in | broken months | proven |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for kind in KINDS:
        for n_rows in arguments.rows:
            found = np.array([measure(kind, n_rows, seed) for seed in range(arguments.seeds)], dtype=np.float64)
            parts, stable_parts, loss, stable_loss, broken, proven = found.mean(axis=0)
            better = int(np.count_nonzero(found[:, 3] < found[:, 2]))
            print(
                f"| {kind} | {n_rows:,} | {parts:.1f} | {stable_parts:.1f} | {loss:.5f} | {stable_loss:.5f} | "
                f"{better} of {arguments.seeds} | {broken:.1f} | {proven:.0%} |"
            )


if __name__ == "__main__":
    main()
