"""Columns with a class, always the same for the same arguments."""

from __future__ import annotations

import numpy as np

N_STEPS = 10
SIGNALS = ("noise", "steps", "clear", "sigmoid", "sine")


def make(signal: str, n_rows: int, n_classes: int = 2, seed: int = 0):
    """A column of distinct numbers in random order, and the class of each row."""
    rng = np.random.default_rng([seed, n_rows, n_classes])
    column = rng.random(n_rows)
    return column, _classes(rng, signal, column, n_classes)


def _classes(rng, signal, column, n_classes):
    """Classes 0, 1, ... of rows with values between 0 and 1."""
    if signal == "noise":
        return rng.integers(0, n_classes, len(column))
    if signal == "clear":  # each class has an interval of its own
        return (column * n_classes).astype(np.int64)
    if signal == "steps":  # each step has a class of its own, in three rows of five
        favoured = (column * N_STEPS).astype(np.int64) % n_classes
        return np.where(rng.random(len(column)) < 0.6, favoured, rng.integers(0, n_classes, len(column)))
    if signal == "sigmoid":
        mean = 1.0 / (1.0 + np.exp(-10.0 * (column - 0.5)))
    elif signal == "sine":
        mean = 0.5 + 0.45 * np.sin(6.0 * np.pi * column)
    else:
        raise ValueError(f"unknown signal {signal!r}; known: {', '.join(SIGNALS)}")
    return rng.binomial(n_classes - 1, mean)


def make_small(seed: int):
    """A random data set of 10 to 500 rows and 2 to 5 classes: any signal, blurred by noise, half of them with ties."""
    rng = np.random.default_rng([500, seed])
    n_rows, n_classes = int(rng.integers(10, 501)), int(rng.integers(2, 6))
    column = rng.random(n_rows)
    signal = SIGNALS[int(rng.integers(len(SIGNALS)))]
    target = _classes(rng, signal, column, n_classes)
    is_noise = rng.random(n_rows) < rng.choice([0.0, 0.1, 0.3, 0.6])
    target = np.where(is_noise, rng.integers(0, n_classes, n_rows), target)
    if rng.random() < 0.5:
        n_values = int(rng.integers(3, n_rows))
        column = np.floor(column * n_values) / n_values
    return column, target
