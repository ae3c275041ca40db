"""What an average says of data whose truth is known: coverage of bands, noise, and the number of candidates.

    .venv/bin/python -m reproduce.measured.average_trials

Values are uniform between 0 and 1, the class is drawn with a known probability at each. A band covers a value if it
holds that probability; coverage is the share of 201 values from 0 to 1, mean over the seeds. Noise has the
probability one half everywhere. The loss of m candidates is the mean over the 201 values of what is expected of new
rows, sum over classes of -p log q, for the truth p and the prediction q.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

import gridmodl

Truth = Callable[[NDArray[np.float64]], NDArray[np.float64]]
TRUTHS: dict[str, Truth] = {
    "steps": lambda x: np.array([0.2, 0.7, 0.4, 0.9])[np.minimum((4.0 * x).astype(np.int64), 3)],
    "line": lambda x: 0.1 + 0.8 * x,
    "sine": lambda x: 0.5 + 0.4 * np.sin(2.0 * np.pi * x),
    "s-curve": lambda x: 1.0 / (1.0 + np.exp(5.0 - 10.0 * x)),
}
NOISE: Truth = lambda x: np.full(len(x), 0.5)  # noqa: E731  as those above
VALUES = np.linspace(0.0, 1.0, 201)
ROWS_OF_NOISE = (100, 1_000)
MS = (64, 256, 512, 1_024)


def drawn(truth: Truth, n_rows: int, seeds: int) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """Values and classes, for each seed."""
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        x = rng.random(n_rows)
        yield x, (rng.random(n_rows) < truth(x)).astype(np.int64)


def coverage_of(truth: Truth, n_rows: int, seeds: int) -> tuple[float, float]:
    """Mean coverage of 90 % bands, and the standard error of that mean."""
    shares = []
    for x, y in drawn(truth, n_rows, seeds):
        low, high = gridmodl.average(x, y, target_kind="classes").band(VALUES)[:, 1].T
        shares.append(np.mean((low <= truth(VALUES)) & (truth(VALUES) <= high)))
    return float(np.mean(shares)), float(np.std(shares, ddof=1) / np.sqrt(len(shares)))


def expected_loss(average: gridmodl.Average, truth: Truth) -> float:
    """Nats a new row."""
    p, q = truth(VALUES), average.predict_proba(VALUES)
    return float(-np.mean((1.0 - p) * np.log(q[:, 0]) + p * np.log(q[:, 1])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=40, help="samples of each kind")
    seeds = parser.parse_args().seeds
    for n_rows in (200, 2_000):
        for name, truth in TRUTHS.items():
            mean, error = coverage_of(truth, n_rows, seeds)
            print(f"90 % bands, {name}, {n_rows} rows: cover {mean:.3f} (standard error {error:.3f})", flush=True)
    for n_rows in ROWS_OF_NOISE:
        found = [gridmodl.average(x, y, target_kind="classes") for x, y in drawn(NOISE, n_rows, seeds)]
        one, informative = (
            np.mean(each) for each in zip(*((a.p_parts[0], a.p_informative) for a in found), strict=True)
        )
        print(f"noise, {n_rows} rows: P(1 part) {one:.3f}, p_informative {informative:.4f}", flush=True)
    for name, truth in TRUTHS.items():
        samples = list(drawn(truth, 5_000, seeds))
        losses = [
            np.mean([expected_loss(gridmodl.average(x, y, m=m, target_kind="classes"), truth) for x, y in samples])
            for m in MS
        ]
        shown = ", ".join(f"{m} {loss - losses[-1]:+.6f}" for m, loss in zip(MS, losses, strict=True))
        print(f"loss against {MS[-1]} candidates, {name}, 5000 rows: {shown}", flush=True)


if __name__ == "__main__":
    main()
