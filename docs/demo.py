"""What gridmodl does, on data that comes with scikit-learn: run it with ``make demo``."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

import gridmodl


class Question(NamedTuple):
    text: str
    load: Callable[[], Any]  # one of scikit-learn's loaders
    column: str
    kind: str = "numerical"


QUESTIONS = [
    Question("Can the length of its petals tell which species an iris is?", load_iris, "petal length (cm)"),
    Question("Which size of its cells' nuclei points to a malignant tumour?", load_breast_cancer, "worst radius"),
    Question("Does it matter how much the smoothness of those nuclei varies?", load_breast_cancer, "smoothness error"),
    Question("Which greys of a pixel, taken as categories, go together?", load_digits, "pixel_4_4", "categorical"),
]  # fmt: skip


def main() -> None:
    print("gridmodl looks for the intervals or groups of a column that explain a class best, and says if any do.")
    for number, question in enumerate(QUESTIONS, start=1):
        model = answer(question)
        print(f"\n{number}. {question.text}")
        print(f"   column {question.column!r}, {model.n_rows} rows, classes {', '.join(map(str, model.classes))}\n")
        print_answer(model)
    print_ranking()
    print_grid()
    print_next_steps()


def answer(question: Question) -> gridmodl.Model:
    data = question.load()
    column = {question.column: data.data[:, list(data.feature_names).index(question.column)]}
    return gridmodl.optimize(column, data.target_names[data.target], kinds={question.column: question.kind})


def print_ranking() -> None:
    data = load_breast_cancer()
    columns = dict(zip(data.feature_names, data.data.T, strict=True))
    begun = time.perf_counter()
    models = gridmodl.optimize_each(columns, data.target_names[data.target])
    took = time.perf_counter() - begun
    print(f"\n{len(QUESTIONS) + 1}. Which of all {len(models)} columns tell most about a tumour?")
    print(f"   every column on its own, in {1000 * took:.0f} ms; the first and the last three\n")
    print(f"    {'column':25} intervals  level")
    for name in [*list(models)[:3], *list(models)[-3:]]:
        print(f"    {name:25} {models[name].partitions[name].n_parts:9} {models[name].level:6.3f}")


def print_grid() -> None:
    data = load_wine()
    columns = dict(zip(data.feature_names, data.data.T, strict=True))
    print(f"\n{len(QUESTIONS) + 2}. Which columns of {len(columns)} tell, together, where a wine is from?")
    print("   one grid over the few that matter; the first run compiles a part of its search for some seconds ...")
    model = gridmodl.optimize(columns, data.target_names[data.target])
    print(f"\n   {', '.join(map(str, model.informative))}: level {model.level:.3f}; one rule for each cell\n")
    for rule in model.rules():
        print(f"    {rule}")


def print_answer(model: gridmodl.Model) -> None:
    (partition,) = model.partitions.values()
    if partition.n_parts == 1:
        print("   No: parts cost more than they explain. The column is as good as noise.")
    else:
        parts = "intervals" if partition.kind == "numerical" else "groups"
        print(f"   {partition.n_parts} {parts}, each with its own mix of classes:\n")
        print_table(partition, model.classes)
    proof = "proven: no other partition is cheaper" if model.proven else "not proven to be the best"
    print(f"\n   level {model.level:.3f} (0 = the column says nothing, 1 = it says all)")
    print(f"   cost {model.cost:.1f} against {model.null_cost:.1f} in one part; {proof}")
    print(f"   found in {1000 * model.elapsed:.0f} ms by search {model.search!r}, criterion {model.criterion!r}")


def print_table(partition: gridmodl.Partition, classes: np.ndarray) -> None:
    width = max(len(label) for label in partition.labels)
    heads = [str(name) for name in classes]
    print("   ", "part".ljust(width), "  rows", *(head.rjust(max(6, len(head))) for head in heads))
    for label, counts in zip(partition.labels, partition.counts, strict=True):
        shares = [f"{n / counts.sum():.0%}".rjust(max(6, len(head))) for n, head in zip(counts, heads, strict=True)]
        print("   ", label.ljust(width), str(counts.sum()).rjust(6), *shares)


def print_next_steps() -> None:
    print(f"""
Next
  Your own data, a frame (pandas, polars, pyarrow) with a column of classes:

      .venv/bin/python
      >>> import gridmodl
      >>> models = gridmodl.optimize_each(frame, "class")
      >>> print(models.summary())                        # columns, the most informative first
      >>> print(models["age"].summary())
      >>> models["age"].transform(new_frame["age"])      # the part of each new value
      >>> grid = gridmodl.optimize(frame, "class")       # one grid over the columns that matter together
      >>> gridmodl.optimize(frame)                       # no class: columns that explain each other (coclustering)

  Another criterion: criterion= one of {", ".join(gridmodl.list_criteria("classes"))}.
  Your own criterion: copy plugins/gridmodl-example. How fast it is: make bench. All options: docs/start.md.""")


if __name__ == "__main__":
    main()
