"""A made portfolio of loans over 24 months, in which three of 50 columns drift; and the seconds of its scorecard.

    python -m reproduce.measured.portfolio [--rows 500000]

All columns, and the event rate, swing a little with the season. Column ``n03`` moves by 0.05 standard deviations more
each month; of ``c04`` one category grows and a new one appears; ``n10`` keeps its values, but from month 13 on higher
ones are no longer safer. Seconds are of the processor, without compiling.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import polars as pl

MONTHS = 24
FIRST = 12  # number of the first month of drift, from 0
DRIFTED = ("n03", "n10", "c04")
N_NUMBERS, N_CATEGORIES = 35, 15
INFORMATIVE = 12  # columns of each kind that say something about the event, each less than the one before
SEASON = 0.05  # standard deviations by which the mean of a column swings, and change of the log odds of all events
STEP = 0.05  # standard deviations a month by which n03 moves


def make(n_rows: int = 500_000, seed: int = 0) -> pl.DataFrame:
    """The portfolio: columns n00 to n34 and c00 to c14, ``month`` and ``default`` (0 or 1)."""
    rng = np.random.default_rng(seed)
    month = np.sort(rng.integers(0, MONTHS, n_rows))
    late = np.maximum(0, month - FIRST + 1)
    year = 2.0 * np.pi * month / 12.0
    score = np.full(n_rows, -2.6) + SEASON * np.sin(year)
    columns: dict[str, object] = {}
    for k in range(N_NUMBERS):
        name, effect = f"n{k:02d}", 0.6 * 0.8**k if k < INFORMATIVE else 0.0
        values = rng.normal(size=n_rows) + SEASON * np.sin(year + rng.uniform(0, 6.3))
        values += STEP * late * (name == "n03")
        score -= effect * values if name != "n10" else np.where(late > 0, -0.4, 0.4) * values
        values[rng.random(n_rows) < 0.02 * (k % 3)] = np.nan
        columns[name] = values
    for k in range(N_CATEGORIES):
        name, n = f"c{k:02d}", 3 + k
        chances = rng.dirichlet(np.full(n, 5.0))
        swing = 1.0 + SEASON * np.sin(year[:, None] + rng.uniform(0, 6.3, n))
        shares = chances * swing
        if name == "c04":
            shares[:, 0] *= 1.0 + 0.25 * late
        limits = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)
        values = (rng.random(n_rows)[:, None] > limits[:, :-1]).sum(axis=1)
        effects = rng.normal(0.0, 0.5 * 0.8**k if k < INFORMATIVE else 0.0, n)
        score += effects[values]
        texts = np.array([f"{name} {chr(97 + i)}" for i in range(n)] + ["new"])
        is_new = (rng.random(n_rows) < 0.01) & (late > 0) & (name == "c04")
        columns[name] = texts[np.where(is_new, n, values)]
    columns["month"] = np.array([f"{2023 + m // 12}-{m % 12 + 1:02d}" for m in range(MONTHS)])[month]
    columns["default"] = (rng.random(n_rows) < 1.0 / (1.0 + np.exp(-score))).astype(np.int64)
    return pl.DataFrame(columns)


def main() -> None:
    import gridmodl

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500_000)
    data = make(parser.parse_args().rows)
    inputs, is_event = data.drop("month", "default"), data["default"].to_numpy()
    gridmodl.GridScorecard().fit(inputs[:5000], is_event[:5000])  # compiles
    clock, processor = time.perf_counter(), time.process_time()
    card = gridmodl.GridScorecard().fit(inputs, is_event).scorecard_
    seconds = time.process_time() - processor, time.perf_counter() - clock
    print(f"{len(data):,} rows, {inputs.width} columns, event rate {is_event.mean():.4f}")
    print(f"scorecard: {seconds[0]:.1f} s of the processor, {seconds[1]:.1f} s by the clock")
    print(f"columns in use: {len(card.models)}, of them drifting: {[name for name in DRIFTED if name in card.models]}")
    begun = time.process_time()
    cutoffs = card.cutoffs(inputs, is_event)
    print(f"scores and cut-offs: {time.process_time() - begun:.1f} s of the processor; gini {cutoffs.gini:.4f}")


if __name__ == "__main__":
    main()
