"""Cells of grids: the largest first, in words, with shares or information."""

from __future__ import annotations

import io

import numpy as np
import pytest
from plot.drawn import legend_of, new_axes, texts_of, title_of, widths, y_labels
from plot.plot_cases import COUNTS, UNLABELLED, cells_display

import gridmodl
from gridmodl.estimators import GridClassifier
from gridmodl.plot import CellsDisplay, GridDisplay
from gridmodl.plot.cells import cell_labels

XOR = {"<b>$a$</b>": [1.0, 1.0, 9.0, 9.0, 9.0] * 10, 7: list("uvuvv") * 10}
CLASSES = ["$0$", "1", "1", "$0$", "$0$"] * 10


@pytest.fixture(scope="module")
def model():
    return gridmodl.optimize(XOR, CLASSES)


def test_each_cell_has_words_shares_and_rows(model):
    display = CellsDisplay.from_model(model).plot(ax=new_axes(7.0, 5.0))
    rules = model.rules()
    name_of = {
        name: dict(zip(partition.labels, partition.names, strict=True)) for name, partition in model.partitions.items()
    }
    assert [dict(zip(display.names, display.parts[i], strict=True)) for i in display.order_] == [
        {str(name): name_of[name][label] for name, label in rule.conditions.items()} for rule in rules
    ]
    assert widths(display.rows_ax_.containers[0]).tolist() == [rule.rows for rule in rules]
    assert widths(display.ax_.containers[0]).tolist() == [rule.shares["$0$"] for rule in rules]
    assert "(5.0, inf) · 0: v" in y_labels(display)
    assert legend_of(display) == [r"\$0\$", "1"]
    assert title_of(display) == r"4 cells: <b>\$a\$</b> · 7"
    display.figure_.savefig(io.BytesIO())


def test_the_largest_are_shown(model):
    display = CellsDisplay.from_model(model).plot(ax=new_axes(), max_cells=1)
    assert widths(display.rows_ax_.containers[0]).tolist() == [20]
    assert title_of(display).replace("\n", " ").startswith("the 1 largest of 4 cells, with 40% of the rows: ")
    with pytest.raises(ValueError, match="max_cells must be at least 1, got 0"):
        display.plot(max_cells=0)


def test_who_asks_for_many_cells_can_read_them():
    parts = [[f"({i}, {i + 1}]"] for i in range(100)]
    display = CellsDisplay(["a"], parts, np.ones((100, 2), dtype=int), [0, 1]).plot(max_cells=100)
    assert y_labels(display) == [part for (part,) in parts]


def test_what_all_cells_share_is_said_once():
    parts = [["(0, 1]", "0: red, blue", f"{i}: {i}"] for i in range(4)]
    display = CellsDisplay(["a", "colour", "size"], parts, COUNTS[:4, 3, :2], ["no", "yes"]).plot(ax=new_axes(7.0, 5.0))
    assert sorted(y_labels(display)) == ["0: 0", "1: 1", "2: 2", "3: 3"]
    assert title_of(display).replace("\n", " ") == "4 cells: size; all in a (0, 1] and colour 0: red, blue"


def test_small_axes_show_fewer_cells():
    parts = [[f"({i}, {i + 1}]"] for i in range(100)]
    display = CellsDisplay(["a"], parts, np.ones((100, 2), dtype=int), [0, 1]).plot(ax=new_axes(3.0, 2.0))
    assert 3 <= len(display.order_) < 10


def test_rows_without_a_class_count():
    display = cells_display(("no", "yes")).plot(ax=new_axes())
    rows = COUNTS[:4, 3, :2].sum(axis=1) + UNLABELLED
    assert display.order_.tolist() == np.argsort(-rows, kind="stable").tolist()
    assert widths(display.rows_ax_.containers[1]).tolist() == UNLABELLED[display.order_].tolist()
    assert legend_of(display)[-1] == "rows without a class"


def test_without_classes_bars_are_information():
    rng = np.random.default_rng(0)
    block = rng.integers(0, 3, 300)
    joint = gridmodl.optimize(
        {"a": block * 10.0 + rng.integers(0, 5, 300), "b": [f"v{b}{i % 2}" for i, b in enumerate(block)]}
    )
    display = CellsDisplay.from_model(joint).plot(ax=new_axes())
    table = joint.cell_table(frame="arrays")
    assert np.allclose(widths(display.ax_.containers[0]), table["mutual_information"])
    assert f"  lift {table['lift'][0]:.3g}" in texts_of(display)
    assert display.ax_.get_legend() is None


def test_a_model_of_one_cell():
    null = gridmodl.Model.from_partitions([1.0, 2.0, 3.0], [0, 1, 1], {})
    display = CellsDisplay.from_model(null).plot(ax=new_axes())
    assert y_labels(display) == ["all rows"]


@pytest.mark.parametrize("room", [8, 20, 60])
@pytest.mark.parametrize("n_variables", [1, 4, 20])
def test_labels_of_cells_are_as_short_as_asked(room, n_variables):
    cells = [[f"{(i >> k) % 2}: a long name of a part" for k in range(n_variables)] for i in range(8)]
    cells = [list(one) for one in dict.fromkeys(map(tuple, cells))]
    labels = cell_labels(cells, room)
    assert len(set(labels)) == len(cells)
    assert max(map(len, labels)) <= room


def test_estimators(model):
    grid = GridClassifier(random_state=0).fit(
        np.column_stack([XOR["<b>$a$</b>"], np.array(XOR[7]) == "v"]).astype(float), CLASSES
    )
    display = CellsDisplay.from_estimator(grid)
    assert sorted(display.counts.sum(axis=1)) == sorted(CellsDisplay.from_model(model).counts.sum(axis=1))


@pytest.mark.parametrize("kind", ["numerical", "grouped"])
def test_several_inputs_show_the_parts_of_the_target(kind):
    a, b = np.repeat([1.0, 9.0], 60), np.tile([2.0, 4.0], 60)
    y = 10 * ((a > 5) + 2 * (b > 3)) + np.arange(120) % 3
    model = gridmodl.optimize({"a": a, "b": b}, y.astype(float) if kind == "numerical" else y, target_kind=kind)
    display = CellsDisplay.from_model(model).plot(ax=new_axes(7.0, 5.0))
    assert len(display.parts) == 4
    assert display.names == ["a", "b"]
    assert display.counts.tolist() == [[30 * (i == j) for j in range(4)] for i in display.counts.argmax(axis=1)]
    assert sorted(display.counts.argmax(axis=1)) == [0, 1, 2, 3]
    assert legend_of(display)[:1] == [model.target.names[0]]
    assert title_of(display) == "4 cells: a · b; colours are parts of target"
    assert display.ax_.get_xlabel() == "share of each part of target"

    grid = GridDisplay.from_model(model).plot(ax=new_axes())
    assert {grid.x.name, grid.y.name} == {"a", "b"}
    assert grid.counts.sum() == 120
    assert np.count_nonzero(grid.counts) == 4
    assert title_of(grid).replace("\n", " ").startswith("2 x 2 parts; colours are parts of target")
    with_target = GridDisplay.from_model(model, "a", "target")  # the colour is then the mutual information
    assert with_target.counts.shape == (4, 2, 1)
    assert len(with_target.classes) == 0


def test_almost_all_rows_are_not_all():
    counts = np.array([[5000], [4000], [3000], [1]])
    parts = [[f"({i}, {i + 1}]"] for i in range(4)]
    display = CellsDisplay(["a"], parts, counts, ["yes"]).plot(new_axes(), max_cells=3)
    assert title_of(display).startswith("the 3 largest of 4 cells, with more than 99% of the rows")


def test_titles_get_shorter_rather_than_cut():
    names = ["number of years of education", "marital status of the applicant", "age", "main occupation"]
    parts = [[f"({i}, {i + 1}]", f"{i}: red, blue", f"({i}, {i + 1}]", f"{i % 2}: u"] for i in range(30)]
    target = gridmodl.Partition("hours per week", "numerical", np.ones((2, 1), dtype=int), bounds=np.array([1.0]))
    for of_target in (None, target):
        display = CellsDisplay(names, parts, COUNTS[:30, 3, :2], ["no", "yes"], target=of_target)
        large, small = (
            title_of(display.plot(ax=new_axes(*size))).replace("\n", " ") for size in ((12.0, 7.0), (3.0, 2.0))
        )
        assert large.endswith(" · ".join(names) + ("; colours are parts of hours per week" if of_target else ""))
        assert small.startswith(f"{len(display.order_)} of 30 cells")
        assert small.count(" · ") == 3
        assert not small.endswith(" …")
