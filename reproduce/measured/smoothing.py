"""Log-loss of single columns on rows that were left out: class shares of parts, smoothed and not, beside no model.

    .venv/bin/python -m reproduce.measured.smoothing --data ../shared/data

Each table is split 70/30 into training and test rows, stratified; of more than MOST rows a random sample is taken. Each
column that tells something predicts the classes of the test rows by `Model.predict_proba`, with `smoothing` and without
it, where a probability of 0 counts as LEAST. No model: the shares of the classes in the training rows.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from gridmodl import optimize_each
from reproduce.run import Run, load

TABLES = (
    "australian", "heart", "pima", "glass", "vehicle", "wine", "hepatitis", "ionosphere", "german", "anneal", "breast",
    "iris", "ecoli", "autos", "flag", "sick_euthyroid", "waveform", "adult", "abalone",
)  # fmt: skip
MOST, FEWEST = 4_000, 5  # rows of a table, and of a class
LEAST = 1e-6
CLEAR = 0.001  # nats a row


def loss_of(probabilities: NDArray[np.float64], codes: NDArray[np.int64]) -> float:
    """Mean of -log P(class)."""
    own = probabilities[np.arange(len(codes)), codes]
    return -float(np.log(np.maximum(own, LEAST)).mean())


def losses_of(table: str, data: Path) -> dict[str, tuple[float, float, float]]:
    """Loss of the columns that tell something: of no model, without smoothing, with it."""
    X, y = load(table, Run(data, False, False, 0.0, argparse.Namespace()))
    kept = np.flatnonzero(y.map(y.value_counts()) >= FEWEST)
    kept = np.sort(np.random.default_rng(0).permutation(kept)[:MOST])
    X, target = X.iloc[kept].reset_index(drop=True), y.to_numpy()[kept]
    train, test = train_test_split(np.arange(len(target)), test_size=0.3, stratify=target, random_state=0)
    models = optimize_each(X.iloc[train], target[train])
    found: dict[str, tuple[float, float, float]] = {}
    for name, model in models.items():
        if model.partitions[name].n_parts < 2:
            continue
        codes = np.searchsorted(model.classes, target[test])
        new: Any = {name: X[name].iloc[test]}
        shares = np.tile(model.class_rows / model.n_rows, (len(test), 1))
        plain, smoothed = (loss_of(model.predict_proba(new, smoothing=how), codes) for how in (False, True))
        found[str(name)] = loss_of(shares, codes), plain, smoothed
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the data sets and MANIFEST.csv")
    parser.add_argument("--tables", nargs="*", default=TABLES, help="names of the data sets")
    given = parser.parse_args()
    every: list[tuple[float, float, float]] = []
    print(f"{'table':<16}{'columns':>8}{'no model':>10}{'shares':>10}{'smoothed':>10}")
    for table in given.tables:
        losses = list(losses_of(table, given.data).values())
        if losses:
            means = "".join(f"{mean:>10.4f}" for mean in np.mean(losses, axis=0).tolist())
            print(f"{table:<16}{len(losses):>8}{means}", flush=True)
            every += losses
    none, plain, smoothed = np.array(every).T
    print(f"\n{len(every)} columns; mean loss without a model {none.mean():.4f}")
    for what, of in ("shares", plain), ("smoothed", smoothed):
        print(f"{what}: mean loss {of.mean():.4f}, worse than no model on {np.count_nonzero(of > none)}")
    better, worse = np.count_nonzero(smoothed < plain - CLEAR), np.count_nonzero(smoothed > plain + CLEAR)
    print(f"smoothed is better by more than {CLEAR} on {better}, worse on {worse}")


if __name__ == "__main__":
    main()
