"""The columns of `comparison.py`: real data sets split once into training and test rows, and made ones for speed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from reproduction import SEED, Run, load
from sklearn.model_selection import train_test_split

# Classes are two in the first six and the first four of categories, more in the others; adult, crx, sick_euthyroid,
# hypothyroid, mushroom and soybean_full have missing values.
REAL = (
    ("adult", "numerical"), ("crx", "numerical"), ("german", "numerical"), ("pima", "numerical"),
    ("sick_euthyroid", "numerical"), ("hypothyroid", "numerical"), ("vehicle", "numerical"), ("waveform", "numerical"),
    ("segmentation", "numerical"), ("satimage", "numerical"), ("letter", "numerical"), ("shuttle", "numerical"),
    ("adult", "categorical"), ("crx", "categorical"), ("sick_euthyroid", "categorical"), ("mushroom", "categorical"),
    ("soybean_full", "categorical"), ("anneal", "categorical"),
)  # fmt: skip
QUICK = (("iris", "numerical"),)
# Rows to train on, columns, categories (0: numbers), by name; then the same for a quick run.
MADE = {
    "made: 1,000,000 rows x 1": ((1_000_000, 1, 0), (2_000, 1, 0)),
    "made: 100,000 rows x 100": ((100_000, 100, 0), (500, 3, 0)),
    "made: 100,000 rows x 20": ((100_000, 20, 200), (1_000, 2, 20)),
}
TEST_SHARE = 0.3


class Job(NamedTuple):
    """Columns of one kind: floats with NaN, or texts with None."""

    name: str
    kind: str
    train: dict[str, Any]
    test: dict[str, Any]
    y: Any
    y_test: Any
    n_classes: int

    @property
    def title(self) -> str:
        return f"{self.name}, {self.kind}"

    def write(self, folder: Path) -> None:
        """The training rows, as `comparison_columns.read_table` reads them."""
        columns = self.train
        if self.kind == "categorical":
            columns = {name: np.array([-1 if v is None else int(v[1:]) for v in c]) for name, c in columns.items()}
        np.savez(folder / "table.npz", y=self.y, **columns)


def real_job(name: str, kind: str, run: Run) -> Job:
    """The columns of one kind that have two values or more in the training rows."""
    X, y = load(name, run)
    is_number = {column: X[column].dtype.kind in "iuf" for column in X}
    X = X[[column for column in X if is_number[column] == (kind == "numerical")]]
    codes, classes = pd.factorize(y, sort=True)
    fit, new = train_test_split(np.arange(len(X)), test_size=TEST_SHARE, random_state=SEED, stratify=codes)
    columns = [X[column] for column in X if X[column].iloc[fit].nunique() > 1]
    arrays = {f"x{i}": as_array(column, kind) for i, column in enumerate(columns)}
    train, test = ({column: array[rows] for column, array in arrays.items()} for rows in (fit, new))
    return Job(name, kind, train, test, codes[fit], codes[new], len(classes))


def as_array(column: pd.Series, kind: str) -> Any:
    """Floats; or texts v0, v1, ... in place of categories, which no peer takes for anything else, and None."""
    if kind == "numerical":
        return column.to_numpy(dtype=np.float64)
    return as_texts(pd.factorize(column)[0])


def as_texts(codes: Any) -> Any:
    texts: list[str | None] = [f"v{i}" for i in range(codes.max() + 1)]
    return np.array([*texts, None], dtype=object)[codes]


def made_job(name: str, run: Run) -> Job:
    """Of many numbers the first half is noise, and the second moves further and further with the class; the categories
    fall into ten groups, which the two classes have with shares of their own."""
    n_train, n_columns, n_values = MADE[name][run.quick]
    n_rows = n_train + n_train // 2
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, 2, n_rows)
    if n_values:
        kind, columns = "categorical", [as_texts(drawn_values(rng, y, n_values)) for _ in range(n_columns)]
    else:
        half = n_columns // 2
        shifts = [1.0] if n_columns == 1 else [*np.zeros(half), *np.linspace(0.05, 2.0, n_columns - half)]
        kind, columns = "numerical", [rng.normal(size=n_rows) + shift * y for shift in shifts]
    train = {f"x{i}": column[:n_train] for i, column in enumerate(columns)}
    test = {f"x{i}": column[n_train:] for i, column in enumerate(columns)}
    return Job(name, kind, train, test, y[:n_train], y[n_train:], 2)


def drawn_values(rng: np.random.Generator, y: Any, n_values: int) -> Any:
    group_of = rng.integers(0, 10, n_values)
    common = rng.dirichlet(np.ones(n_values))  # some values are much rarer than others
    weights = common * rng.dirichlet(np.full(10, 5.0), 2)[:, group_of]
    below = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    draws = rng.random(len(y))
    return np.where(y == 0, np.searchsorted(below[0], draws), np.searchsorted(below[1], draws)).clip(max=n_values - 1)
