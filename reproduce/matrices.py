"""The sparse matrices of the challenge, Gina, Hiva and Nova, as far as MANIFEST.csv has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

FILES = {"gina": "mnist.npz", "hiva": "hiva_agnostic_train.npz", "nova": "nova_bow.npz"}


class Matrix(NamedTuple):
    """Rows and columns, the class of each row (1 or -1), which rows have their label, and names where there are any."""

    X: Any
    y: NDArray[np.int64]
    labelled: NDArray[np.int64]
    words: NDArray[np.str_] = np.empty(0, dtype=str)
    topics: NDArray[Any] = np.empty(0)


def read_matrix(name: str, data: Path) -> Matrix:
    """Gina with its grey levels, and ones where Hiva and Nova have something."""
    if name == "gina":
        with np.load(data / FILES[name]) as mnist, np.load(data / "gina_proxy_split.npz") as split:
            known = np.concatenate([split["train"], split["valid"]])
            rows = np.concatenate([known, split["test"]])
            y = np.where(mnist["y"][rows] % 2 == 1, 1, -1)
            return Matrix(sparse.csr_array(mnist["X"][rows]), y, np.arange(len(known)))
    with np.load(data / FILES[name]) as file:
        ones = np.ones(len(file["indices"]), dtype=bool)
        X = sparse.csr_array((ones, file["indices"].astype(np.int32), file["indptr"]), shape=tuple(file["shape"]))
        y = file["y"].astype(np.int64)
        if name == "nova":
            return Matrix(X, y, np.concatenate([file["train"], file["valid"]]), file["vocab"], file["group"])
        return Matrix(X, y, np.flatnonzero(np.arange(len(y)) % 10 != 0))
