"""What gridmodl does, on data that comes with scikit-learn: run it with ``make demo``."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

import gridmodl


class Question(NamedTuple):
    text: str
    load: Callable[[], Any]  # one of scikit-learn's loaders
    column: str


QUESTIONS = [
    Question("Can the length of its petals tell which species an iris is?", load_iris, "petal length (cm)"),
    Question("Which size of its cells' nuclei points to a malignant tumour?", load_breast_cancer, "worst radius"),
    Question("Does it matter how much the smoothness of those nuclei varies?", load_breast_cancer, "smoothness error"),
    Question("What does one pixel, near the middle, tell about a handwritten digit?", load_digits, "pixel_4_4"),
]  # fmt: skip


def main() -> None:
    print("gridmodl looks for the intervals of a column that explain a class best, and says if any do.\n")
    print("Compiling the searches, once; later runs find them on disk ... ", end="", flush=True)
    begun = time.perf_counter()
    gridmodl.optimize([1.0, 2.0, 3.0, 4.0], ["a", "a", "b", "b"])
    print(f"{time.perf_counter() - begun:.1f} s")
    for number, question in enumerate(QUESTIONS, start=1):
        data = question.load()
        column = data.data[:, list(data.feature_names).index(question.column)]
        model = gridmodl.optimize(column, data.target_names[data.target])
        print(f"\n{number}. {question.text}")
        print(f"   column {question.column!r}, {model.n_rows} rows, classes {', '.join(map(str, model.classes))}\n")
        print_answer(model)
    print_next_steps()


def print_answer(model: gridmodl.Model) -> None:
    (partition,) = model.partitions.values()
    if partition.n_parts == 1:
        print("   No: intervals cost more than they explain. The column is as good as noise.")
    else:
        print(f"   {partition.n_parts} intervals, each with its own mix of classes:\n")
        print_table(partition, model.classes)
    proof = "proven: no other partition is cheaper" if model.proven else "not proven to be the best"
    print(f"\n   level {model.level:.3f} (0 = the column says nothing, 1 = it says all)")
    print(f"   cost {model.cost:.1f} against {model.null_cost:.1f} without intervals; {proof}")
    print(f"   found in {1000 * model.elapsed:.0f} ms by search {model.search!r}, criterion {model.criterion!r}")


def print_table(partition: gridmodl.Partition, classes: np.ndarray) -> None:
    width = max(len(label) for label in partition.labels)
    heads = [str(name) for name in classes]
    print("   ", "interval".ljust(width), "  rows", *(head.rjust(max(6, len(head))) for head in heads))
    for label, counts in zip(partition.labels, partition.counts, strict=True):
        shares = [f"{n / counts.sum():.0%}".rjust(max(6, len(head))) for n, head in zip(counts, heads, strict=True)]
        print("   ", label.ljust(width), str(counts.sum()).rjust(6), *shares)


def print_next_steps() -> None:
    print(f"""
Next
  Your own data, one column of numbers and a class for each row:

      .venv/bin/python
      >>> import gridmodl
      >>> model = gridmodl.optimize(column, target)
      >>> print(model.summary())
      >>> model.transform(new_column)          # the interval of each new value

  Another idea of "best": criterion= one of {", ".join(gridmodl.list_criteria("classes"))}.
  Your own criterion: copy plugins/gridmodl-example. How fast it is: make bench. All options: README.md.""")


if __name__ == "__main__":
    main()
