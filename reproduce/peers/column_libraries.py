"""The libraries that `comparison.py` asks for parts of columns, each in its own environment.

PYTHON comparison_libraries.py FOLDER LIMIT METHOD...
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from comparison_columns import Answer, Columns, EachValue, EqualParts, Table, Tree, below, read_table, rows_of_parts
from comparison_peers import put_programs_in_path, work

os.environ.setdefault("GRIDMODL_COMPILE", "always")  # a small call before the measured ones compiles


class Gridmodl(Columns):
    package = "gridmodl"

    def fit(self) -> None:
        import gridmodl

        (search,) = self.options
        self.fitted = gridmodl.optimize_each(
            self.table.columns, self.table.y, search=search, target_kind="classes", n_jobs=1, on_error="raise"
        )

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
