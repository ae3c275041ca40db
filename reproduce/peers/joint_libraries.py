"""The libraries that `comparison_joint.py` asks for groups of the values of two columns, each in its own environment.

    PYTHON -m reproduce.peers.joint_libraries FOLDER LIMIT METHOD...

The file pairs.npz holds the codes 0, 1, ... of two columns, a and b, row by row, and how many groups of each a method
is told, where it has to be told. What is found is the group of each code of both.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reproduce.peers.processes import Method, put_programs_in_path, work

SEED = 1  # not that of the data


class Pairs(NamedTuple):
    a: Any
    b: Any
    told: tuple[int, int]
    folder: Path

    def texts(self) -> dict[str, Any]:
        """The two columns as a file would give them."""
        both = {"a": self.a, "b": self.b}
        return {
            letter: np.array([f"{letter}{i}" for i in range(codes.max() + 1)], dtype=object)[codes]
            for letter, codes in both.items()
        }

    def matrix(self) -> Any:
        """Rows of each pair."""
        from scipy import sparse

        return sparse.coo_matrix((np.ones(len(self.a)), (self.a, self.b))).tocsr()

    def few(self) -> Pairs:
        """A part to warm up with: a block of the matrix with the most frequent values, each with a row at least."""
        kept = np.isin(self.a, np.argsort(-np.bincount(self.a))[:50]) & np.isin(
            self.b, np.argsort(-np.bincount(self.b))[:50]
        )
        a, b = (np.unique(codes[kept], return_inverse=True)[1] for codes in (self.a, self.b))
        return self._replace(a=a, b=b, told=(2, 2))


def read_pairs(folder: Path) -> Pairs:
    with np.load(folder / "pairs.npz") as file:
        return Pairs(file["a"], file["b"], tuple(file["told"].tolist()), folder)


def group_of_codes(groups: Any, n_values: int) -> list[int]:
    """The group of each code, given the groups of texts."""
    found = np.full(n_values, -1)
    for i, group in enumerate(groups):
        found[[int(text[1:]) for text in group]] = i
    return found.tolist()


class Blocks(Method):
    def __init__(self, data: Pairs, *options: Any) -> None:
        super().__init__(data, *options)
        self.n_values = int(data.a.max()) + 1, int(data.b.max()) + 1

    def warm_up(self) -> None:
        type(self)(self.data.few(), *self.options).fit()


class Gridmodl(Blocks):
    package = "gridmodl"

    def __init__(self, data: Pairs) -> None:
        super().__init__(data)
        self.columns = data.texts()

    def fit(self) -> None:
        import gridmodl

        self.model = gridmodl.optimize(self.columns, random_state=SEED)

    def found(self) -> Any:
        partitions = self.model.partitions
        return [group_of_codes(partitions[name].groups, n) for name, n in zip("ab", self.n_values, strict=True)]


class Khiops(Blocks):
    """It reads a file and writes a report, which counts; writing the file does not."""

    package = "khiops"

    def __init__(self, data: Pairs) -> None:
        super().__init__(data)
        import pandas as pd

        put_programs_in_path()
        pd.DataFrame(data.texts()).to_csv(data.folder / "pairs.txt", index=False, sep="\t")
        (data.folder / "pairs.kdic").write_text("Dictionary\tpairs\n{\n\tCategorical\ta;\n\tCategorical\tb;\n};\n")

    def warm_up(self) -> None:
        """Nothing: each call starts a process of its own."""

    def fit(self) -> None:
        from khiops import core

        folder = self.data.folder
        core.train_coclustering(
            str(folder / "pairs.kdic"), "pairs", str(folder / "pairs.txt"), ["a", "b"], str(folder / "report.khcj"),
            max_cores=1, header_line=True, field_separator="\t",
        )  # fmt: skip

    def found(self) -> Any:
        from khiops import core

        path = self.data.folder / "report.khcj"
        if not path.exists():  # nothing to tell: one group
            return [[0] * n for n in self.n_values]
        report = core.read_coclustering_results_file(str(path)).coclustering_report
        found = []
        for name, n in zip("ab", self.n_values, strict=True):
            dimension = report.get_dimension(name)
            groups = [[one.value for one in part.values] for part in dimension.parts]
            default = next(i for i, part in enumerate(dimension.parts) if part.is_default_part)
            codes = np.array(group_of_codes(groups, n))
            found.append(np.where(codes < 0, default, codes).tolist())
        return found


class Spectral(Blocks):
    """Dhillon's coclustering, with one group of rows for each of columns, or the biclustering of Kluger and others."""

    package = "scikit-learn"

    def fit(self) -> None:
        from sklearn.cluster import SpectralBiclustering, SpectralCoclustering

        is_diagonal, is_told = self.options
        told = {"n_clusters": min(self.data.told) if is_diagonal else self.data.told} if is_told else {}
        kind = SpectralCoclustering if is_diagonal else SpectralBiclustering
        self.fitted = kind(random_state=SEED, **told).fit(self.data.matrix())

    def found(self) -> Any:
        return [self.fitted.row_labels_.tolist(), self.fitted.column_labels_.tolist()]


class SparseBm(Blocks):
    """Latent blocks of zeros and ones: whether a pair has a row."""

    package = "sparsebm"

    def fit(self) -> None:
        import sparsebm

        np.random.seed(SEED)  # noqa: NPY002  the only way to seed it
        graph = (self.data.matrix() > 0).astype(np.float64).tocoo()
        (is_told,) = self.options
        if is_told:
            self.fitted = sparsebm.LBM(*self.data.told, verbosity=0)
            self.fitted.fit(graph)
        else:
            self.fitted = sparsebm.ModelSelection("LBM", use_gpu=False, plot=False).fit(graph).best

    def warm_up(self) -> None:
        """Nothing: it is plain numpy."""

    def found(self) -> Any:
        if not self.fitted.trained_successfully:
            raise ValueError("it did not converge")
        return [self.fitted.row_labels.tolist(), self.fitted.column_labels.tolist()]


METHODS: dict[str, tuple[Any, ...]] = {
    "gridmodl": (Gridmodl,),
    "Khiops": (Khiops,),
    "spectral coclustering": (Spectral, True, False),
    "spectral coclustering, told": (Spectral, True, True),
    "spectral biclustering": (Spectral, False, False),
    "spectral biclustering, told": (Spectral, False, True),
    "sparsebm, told": (SparseBm, True),
    "sparsebm": (SparseBm, False),
}


def main() -> None:
    folder, limit, names = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    pairs = read_pairs(folder)
    work({name: partial(METHODS[name][0], pairs, *METHODS[name][1:]) for name in names}, folder, limit)


if __name__ == "__main__":
    main()
