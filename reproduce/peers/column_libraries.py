"""The libraries that `comparison.py` asks for parts of columns, each in its own environment.

PYTHON -m reproduce.peers.column_libraries FOLDER LIMIT METHOD...
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reproduce.peers.processes import Method, put_programs_in_path, work

os.environ.setdefault("GRIDMODL_COMPILE", "always")  # a small call before the measured ones compiles
FEW_ROWS = 1_000  # to warm up with
Answer = dict[str, Any]


# The file table.npz holds the columns x0, x1, ... (real numbers, NaN where missing; or whole numbers, the categories,
# -1 where missing) and the classes y. Found of each column are either bounds, so that a part is (lo, hi], and whether
# missing values are apart; or groups of categories. With them go the rows of each part and class as the library itself
# counts them, so that comparison.py can check that it understood the parts.


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
    """Bounds of ``[lo, hi)`` as those of ``(lo, hi]``: the number just below each."""
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


class Gridmodl(Columns):
    package = "gridmodl"

    def fit(self) -> None:
        import gridmodl

        (search,) = self.options
        models = gridmodl.optimize_each(
            self.table.columns, self.table.y, search=search, target_kind="classes", n_jobs=1, on_error="raise"
        )
        self.fitted = {str(name): model for name, model in models.items()}

    def warm_up(self) -> None:
        self.fit()  # what is compiled depends on the data

    def answer(self, name: str, column: Any) -> Answer:
        model = self.fitted[name]
        found = model.partitions[name]
        both = {"counts": found.counts.tolist(), "proven": model.proven}
        if self.table.is_categorical:
            return {"groups": [list(group) for group in found.groups], **both}
        return {"bounds": found.bounds.tolist(), "apart": found.is_missing_apart, **both}


class Khiops(Columns):
    """It reads a file and writes a report, which counts."""

    package = "khiops"

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        import pandas as pd

        put_programs_in_path()
        classes = np.array([f"c{i}" for i in range(table.n_classes)], dtype=object)[table.y]
        frame = pd.DataFrame({**table.columns, "y": classes})
        frame.to_csv(table.folder / "table.txt", index=False, sep="\t", float_format="%.17g")
        kind = "Categorical" if table.is_categorical else "Numerical"
        lines = "".join(f"\t{kind}\t{name};\n" for name in table.columns)
        (table.folder / "table.kdic").write_text(f"Dictionary\ttable\n{{\n{lines}\tCategorical\ty;\n}};\n")

    def warm_up(self) -> None:
        """Nothing: each call starts a process of its own."""

    def fit(self) -> None:
        from khiops import core

        folder = self.table.folder
        core.train_predictor(
            str(folder / "table.kdic"), "table", str(folder / "table.txt"), "y", str(folder / "report.khj"),
            sample_percentage=100, use_complement_as_test=False, do_data_preparation_only=True,
            max_constructed_variables=0, max_text_features=0, max_trees=0, max_pairs=0, max_cores=1,
            header_line=True, field_separator="\t",
        )  # fmt: skip

    def found(self) -> dict[str, Answer]:
        from khiops import core

        self.report = core.read_analysis_results_file(str(self.table.folder / "report.khj")).preparation_report
        return super().found()

    def answer(self, name: str, column: Any) -> Answer:
        grid = self.report.get_variable_statistics(name).data_grid
        whole = rows_of_parts(np.zeros_like(self.table.y), self.table.y, self.table.n_classes)
        if grid is None or len(grid.dimensions) < 2:
            one = {"groups": [list(dict.fromkeys(column))]} if self.table.is_categorical else {"bounds": []}
            return {**one, "apart": False, "counts": whole}
        parts, classes = grid.dimensions[0].partition, grid.dimensions[1].partition
        order = [int(part.value[1:]) for part in classes]
        counts = np.zeros((len(parts), self.table.n_classes), dtype=np.int64)
        counts[:, order] = grid.part_target_frequencies
        if self.table.is_categorical:
            groups = [[value or None for value in part.values] for part in parts]
            listed = {value for group in groups for value in group}
            default = next(i for i, part in enumerate(parts) if part.is_default_part)
            groups[default] += [value for value in dict.fromkeys(column) if value not in listed]
            return {"groups": groups, "counts": counts.tolist()}
        bounds = [part.upper_bound for part in parts if not (part.is_missing or part.is_right_open)]
        return {"bounds": bounds, "apart": any(part.is_missing for part in parts), "counts": counts.tolist()}


class Optbinning(Columns):
    package = "optbinning"

    def fit_column(self, column: Any) -> Any:
        import optbinning

        (trend,) = self.options
        if self.table.n_classes > 2:
            if self.table.is_categorical:
                raise ValueError("optbinning has no categories with more than two classes")
            return optbinning.MulticlassOptimalBinning(monotonic_trend=trend).fit(column, self.table.y)
        kind = "categorical" if self.table.is_categorical else "numerical"
        return optbinning.OptimalBinning(dtype=kind, monotonic_trend=trend).fit(column, self.table.y)

    def answer(self, name: str, column: Any) -> Answer:
        found = self.fitted[name]
        rows = found.binning_table.build().iloc[:-1]  # the last are the totals; special codes and missing values before
        classes = ["Non-event", "Event"] if self.table.n_classes == 2 else [c for c in rows if c.startswith("Event_")]
        counts = rows[[c for c in classes if not c.startswith("Event_rate")]].to_numpy(dtype=np.int64).tolist()
        if self.table.is_categorical:
            has_missing = any(value is None for value in column)
            return {"groups": [list(group) for group in found.splits] + [[None]] * has_missing, "counts": counts}
        return {"bounds": below(found.splits), "apart": True, "counts": counts}


class Orange(Columns):
    package = "orange3"

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        from Orange.data import ContinuousVariable, DiscreteVariable, Domain
        from Orange.data import Table as OrangeTable

        classes = DiscreteVariable("y", [f"c{i}" for i in range(table.n_classes)])
        domain = Domain([ContinuousVariable(name) for name in table.columns], classes)
        self.data = OrangeTable.from_numpy(domain, np.column_stack(list(table.columns.values())), table.y)

    def fit(self) -> None:
        from Orange.preprocess.discretize import EntropyMDL

        for variable in self.data.domain.attributes:
            self.fitted[variable.name] = EntropyMDL()(self.data, variable)

    def answer(self, name: str, column: Any) -> Answer:
        found = self.fitted[name].compute_value
        parts = np.asarray(found.transform(column))
        parts = np.where(np.isnan(column), len(found.points) + 1, parts).astype(np.int64)
        counts = rows_of_parts(parts, self.table.y, self.table.n_classes)
        return {"bounds": below(found.points), "apart": True, "counts": counts}


BOTH: dict[str, tuple[Any, ...]] = {
    "gridmodl, proven": (Gridmodl, "auto"),
    "gridmodl, merge": (Gridmodl, "merge"),
    "Khiops": (Khiops,),
    "optbinning": (Optbinning, "auto"),
    "optbinning, no trend": (Optbinning, None),
}
NUMERICAL: dict[str, tuple[Any, ...]] = {
    **BOTH,
    "Orange MDL": (Orange,),
    "sklearn tree": (Tree, 16, 0.01),
    "sklearn 5 quantiles": (EqualParts, "quantile", 5),
    "sklearn 20 quantiles": (EqualParts, "quantile", 20),
    "sklearn 5 widths": (EqualParts, "uniform", 5),
    "sklearn 5 means": (EqualParts, "kmeans", 5),
}
CATEGORICAL: dict[str, tuple[Any, ...]] = {**BOTH, "each value": (EachValue,)}


def main() -> None:
    folder, limit, names = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    table = read_table(folder)
    methods = CATEGORICAL if table.is_categorical else NUMERICAL
    work({name: partial(methods[name][0], table, *methods[name][1:]) for name in names}, folder, limit)


if __name__ == "__main__":
    main()
