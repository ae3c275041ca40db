"""The columns that a peer of `comparison.py` partitions, in its own environment, and what scikit-learn does with them.

The file table.npz holds the columns x0, x1, ... (real numbers, NaN where missing; or whole numbers, the categories, -1
where missing) and the classes y. What is found of each column are either bounds, so that a part is ``(lo, hi]``, and
whether missing values are apart; or groups of categories. With them go the rows of each part and class as the peer
itself counts them, so that the driver can check that it understood the parts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from comparison_peers import Method

FEW_ROWS = 1_000  # to warm up with
Answer = dict[str, Any]


class Table(NamedTuple):
    columns: dict[str, Any]  # arrays of floats, or of texts with None
    y: Any
    n_classes: int
    is_categorical: bool
    folder: Path

    def head(self, n_rows: int) -> Table:
        return self._replace(
            columns={name: column[:n_rows] for name, column in self.columns.items()}, y=self.y[:n_rows]
        )


def read_table(folder: Path) -> Table:
    with np.load(folder / "table.npz") as file:
        given = dict(file)
    y = given.pop("y")
    is_categorical = all(column.dtype.kind == "i" for column in given.values())
    if is_categorical:
        texts = np.array([f"v{i}" for i in range(max(column.max() for column in given.values()) + 1)] + [None], object)
        given = {name: texts[column] for name, column in given.items()}
    return Table(given, y, int(y.max()) + 1, is_categorical, folder)


def rows_of_parts(parts: Any, y: Any, n_classes: int) -> list[list[int]]:
    counts = np.zeros((int(parts.max()) + 1, n_classes), dtype=np.int64)
    np.add.at(counts, (parts, y), 1)
    return counts.tolist()


def below(bounds: Any) -> list[float]:
    """Bounds of ``[lo, hi[`` as those of ``(lo, hi]``: the number just below each."""
    return np.nextafter(np.asarray(bounds, dtype=np.float64), -np.inf).tolist()


class Columns(Method):
    """One column after the other."""

    def __init__(self, data: Table, *options: Any) -> None:
        super().__init__(data, *options)
        self.table = data
        self.fitted: dict[str, Any] = {}

    def warm_up(self) -> None:
        type(self)(self.table.head(FEW_ROWS), *self.options).fit()

    def fit(self) -> None:
        for name, column in self.table.columns.items():
            try:
                self.fitted[name] = self.fit_column(column)
            except Exception as error:
                self.fitted[name] = error

    def fit_column(self, column: Any) -> Any:
        raise NotImplementedError

    def answer(self, name: str, column: Any) -> Answer:
        raise NotImplementedError

    def found(self) -> dict[str, Answer]:
        return {name: self.answer_or_error(name, column) for name, column in self.table.columns.items()}

    def answer_or_error(self, name: str, column: Any) -> Answer:
        error = self.fitted.get(name)
        return (
            {"error": f"{type(error).__name__}: {error}"} if isinstance(error, Exception) else self.answer(name, column)
        )


class EqualParts(Columns):
    """KBinsDiscretizer, of the rows that have a value."""

    package = "scikit-learn"

    def fit_column(self, column: Any) -> Any:
        from sklearn.preprocessing import KBinsDiscretizer

        strategy, n_parts = self.options
        found = KBinsDiscretizer(n_parts, encode="ordinal", strategy=strategy)
        return found.fit(column[~np.isnan(column)].reshape(-1, 1))

    def answer(self, name: str, column: Any) -> Answer:
        found, is_known = self.fitted[name], ~np.isnan(column)
        parts = np.full(len(column), int(found.n_bins_[0]))
        parts[is_known] = found.transform(column[is_known].reshape(-1, 1))[:, 0]
        counts = rows_of_parts(parts, self.table.y, self.table.n_classes)
        return {"bounds": below(found.bin_edges_[0][1:-1]), "apart": True, "counts": counts}


class Tree(Columns):
    """A decision tree of one column, of the rows that have a value; it sees numbers rounded to 32 bits."""

    package = "scikit-learn"

    def fit_column(self, column: Any) -> Any:
        from sklearn.tree import DecisionTreeClassifier

        n_parts, share = self.options
        tree = DecisionTreeClassifier(
            criterion="log_loss", max_leaf_nodes=n_parts, min_samples_leaf=share, random_state=0
        )
        is_known = ~np.isnan(column)
        return tree.fit(column[is_known].reshape(-1, 1), self.table.y[is_known])

    def answer(self, name: str, column: Any) -> Answer:
        tree, is_known = self.fitted[name], ~np.isnan(column)
        parts = np.full(len(column), tree.tree_.node_count)
        parts[is_known] = tree.apply(column[is_known].reshape(-1, 1))
        values = np.unique(column[is_known])
        thresholds = np.sort(tree.tree_.threshold[tree.tree_.children_left >= 0])
        last = np.searchsorted(values.astype(np.float32).astype(np.float64), thresholds, side="right") - 1
        # Between the values that rounding put on either side.
        bounds = np.clip(thresholds, values[last], np.nextafter(values[last + 1], -np.inf))
        counts = rows_of_parts(np.unique(parts, return_inverse=True)[1], self.table.y, self.table.n_classes)
        return {"bounds": bounds.tolist(), "apart": True, "counts": counts}


class EachValue(Columns):
    """OrdinalEncoder, which has a code for each category: as scikit-learn does not group them."""

    package = "scikit-learn"

    def fit_column(self, column: Any) -> Any:
        from sklearn.preprocessing import OrdinalEncoder

        return OrdinalEncoder(encoded_missing_value=-1).fit(column.reshape(-1, 1))

    def answer(self, name: str, column: Any) -> Answer:
        encoder = self.fitted[name]
        codes = encoder.transform(column.reshape(-1, 1))[:, 0].astype(np.int64)
        counts = rows_of_parts(np.unique(codes, return_inverse=True)[1], self.table.y, self.table.n_classes)
        return {"groups": [[value] for value in encoder.categories_[0]], "counts": counts}
