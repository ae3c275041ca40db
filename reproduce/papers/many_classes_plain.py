"""Naive Bayes without any search for parts, which `many_classes.py` compares with."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray


class PlainBayes:
    """Naive Bayes as it is: ten intervals of equal frequency, categories as they are, and the m-estimate.

    A category that no training row has is a part without rows, or, `new_counts` false, is left out.
    """

    def __init__(self, new_counts: bool = True) -> None:
        self.new_counts = new_counts

    def fit(self, X: pd.DataFrame, y: NDArray[np.object_]) -> PlainBayes:
        self.classes, codes = np.unique(y, return_inverse=True)
        self.parts = {name: self._parts(column) for name, column in X.items()}
        self.rows = np.bincount(codes)
        self.logs = {}
        n, w = len(y), len(self.classes)
        for name, column in X.items():
            part = self._part_of(str(name), column)
            support = np.zeros((int(self.parts[name][1]) + 1, w))
            np.add.at(support, (part, codes), 1.0)
            self.logs[name] = np.log((support + 1.0 / n) / (self.rows + w / n))
        return self

    def predict(self, X: pd.DataFrame) -> NDArray[np.object_]:
        found = np.tile(np.log(self.rows / self.rows.sum()), (len(X), 1))
        for name, column in X.items():
            part = self._part_of(str(name), column)
            is_new = isinstance(self.parts[name][0], dict) & (part == self.parts[name][1])
            found += np.where(is_new[:, None] & (not self.new_counts), 0.0, self.logs[name][part])
        return np.asarray(self.classes[found.argmax(axis=1)])

    @staticmethod
    def _parts(column: pd.Series) -> tuple[object, int]:
        """Bounds and the number of intervals, or the categories and theirs; one more part is for what is new."""
        if pd.api.types.is_numeric_dtype(column):
            bounds = np.unique(np.nanquantile(column, np.linspace(0.1, 0.9, 9), method="lower"))
            return bounds, len(bounds) + 2
        values = {value: i for i, value in enumerate(column.dropna().unique())}
        return values, len(values) + 1

    def _part_of(self, name: str, column: pd.Series) -> NDArray[np.int64]:
        known, last = self.parts[name]
        if isinstance(known, dict):
            return column.map(known).fillna(last).to_numpy(dtype=np.int64)
        part = np.searchsorted(known, column.to_numpy(dtype=float))
        return np.where(column.isna(), last, part)
