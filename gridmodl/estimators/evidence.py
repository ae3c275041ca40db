"""What the parts of each row say of its class, added up by compiled loops.

The evidence of a row for class j is  log P(j) + sum over columns k of  weight_k * log P(part of column k | j).  The
logs of all columns stand one below the other in one table, a line for each part and last a line of zeros, for values
that say nothing; `lines` has for each column and row the line that it reads. Rows are taken a few at a time: what is
worked on stays in the processor's cache, and no array of rows times classes is needed but for a result of that shape.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridmodl.template import bind

CACHED = 4096  # numbers of rows times classes at a time: 32 kB


class Reading(NamedTuple):
    """Which lines of the table the rows read, and how much each counts: what all loops take."""

    lines: NDArray[np.int32]  # for each column and row, the line of the table
    columns: NDArray[np.int64]  # those to look at
    table: NDArray[np.float64]
    weights: NDArray[np.float64]  # of the columns to look at
    log_prior: NDArray[np.float64]


class Evidence(NamedTuple):
    """Logs of the shares of classes, and of parts in each class."""

    log_prior: NDArray[np.float64]  # of each class
    table: NDArray[np.float64]  # of each part of each column, by class; last a line of zeros
    offsets: NDArray[np.int64]  # the first line of each column

    def lines_of(self, parts: Iterable[NDArray[np.int64]], n_rows: int) -> NDArray[np.int32]:
        """The line of the table for each column and row, given the part; part -1 is the line of zeros."""
        lines = np.empty((len(self.offsets), n_rows), dtype=np.int32)
        for k, part in enumerate(parts):
            np.add(part, self.offsets[k], out=lines[k], casting="unsafe")
            is_unknown = part < 0
            if is_unknown.any():
                lines[k][is_unknown] = len(self.table) - 1
        return lines

    def likeliest(self, lines: NDArray[np.int32], weights: NDArray[np.float64]) -> NDArray[np.int64]:
        """The class with the most evidence for each row, of equals the first; with the weight of each column."""
        found = np.empty(lines.shape[1], dtype=np.int64)
        bind(find_likeliest)(self.reading(lines, np.arange(len(weights)), weights), self.workspace(), found)
        return found

    def log_probabilities(self, lines: NDArray[np.int32], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The log of the probability of each class, for each row; with the weight of each column."""
        found = np.empty((lines.shape[1], len(self.log_prior)))
        bind(fill_log_probabilities)(self.reading(lines, np.arange(len(weights)), weights), self.workspace(), found)
        return found

    def reading(self, lines: NDArray[np.int32], columns: NDArray[np.int64], weights: NDArray[np.float64]) -> Reading:
        """What these columns say; `weights` are those of all columns."""
        return Reading(lines, columns, self.table, weights[columns], self.log_prior)

    def workspace(self) -> NDArray[np.float64]:
        n_classes = len(self.log_prior)
        return np.empty((max(1, CACHED // n_classes), n_classes))


def make_evidence(class_shares: NDArray[np.float64], log_shares: Sequence[NDArray[np.float64]]) -> Evidence:
    """From the shares of the classes, and for each column the logs of the shares of its parts in them."""
    offsets = np.cumsum([0, *(len(shares) for shares in log_shares)])
    table = np.concatenate([*log_shares, np.zeros((1, len(class_shares)))])
    return Evidence(np.log(class_shares), table, offsets[:-1])


def add_up(reading: Reading, first: int, last: int, sums: Any) -> None:
    """The evidence of the rows from `first` to before `last`, in the first lines of `sums`."""
    lines, columns, table, weights, log_prior = reading
    n_classes = len(log_prior)
    for i in range(last - first):
        for j in range(n_classes):
            sums[i, j] = log_prior[j]
    for k in range(len(columns)):
        column, weight = columns[k], weights[k]
        if weight == 0.0:
            continue
        for i in range(last - first):
            line = lines[column, first + i]
            for j in range(n_classes):
                sums[i, j] += weight * table[line, j]


def to_shares(sums: Any, i: int) -> float:
    """Turn line i of `sums` from evidence into probabilities; return the log of the sum that they were divided by."""
    largest = sums[i, 0]
    for j in range(1, sums.shape[1]):
        largest = max(largest, sums[i, j])
    total = 0.0
    for j in range(sums.shape[1]):
        sums[i, j] = math.exp(sums[i, j] - largest)
        total += sums[i, j]
    for j in range(sums.shape[1]):
        sums[i, j] /= total
    return largest + math.log(total)


def find_likeliest(reading: Reading, sums: Any, found: Any) -> None:
    n_classes = len(reading.log_prior)
    for first in range(0, len(found), len(sums)):
        last = min(first + len(sums), len(found))
        add_up(reading, first, last, sums)
        for i in range(last - first):
            best = 0
            for j in range(1, n_classes):
                if sums[i, j] > sums[i, best]:
                    best = j
            found[first + i] = best


def fill_log_probabilities(reading: Reading, sums: Any, found: Any) -> None:
    n_classes = len(reading.log_prior)
    for first in range(0, len(found), len(sums)):
        last = min(first + len(sums), len(found))
        add_up(reading, first, last, sums)
        for i in range(last - first):
            for j in range(n_classes):
                found[first + i, j] = sums[i, j]
            total = to_shares(sums, i)
            for j in range(n_classes):
                found[first + i, j] -= total
