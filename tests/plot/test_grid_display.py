"""Maps of grids: colours stand for shares or information, and trees keep their parts together."""

from __future__ import annotations

import io
import itertools

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection, QuadMesh
from plot.drawn import legend_of, new_axes, texts_of, title_of, x_labels, y_labels
from plot.plot_cases import LINKAGE, grid_counts, groups, intervals, joint_display

import gridmodl
from gridmodl.estimators import GridClassifier, GridCoclustering
from gridmodl.model.counts import cell_information
from gridmodl.plot import GridDisplay
from gridmodl.plot.axes.trees import leaf_order, tree_lines
from gridmodl.plot.style import part_labels

rng = np.random.default_rng(0)
BLOCK = rng.integers(0, 3, 300)
JOINT = {"<b>$a$</b>": BLOCK * 10.0 + rng.integers(0, 5, 300), "b": [f"value {b}{i % 2}" for i, b in enumerate(BLOCK)]}
XOR = np.array([[1.0, 1.0, 0.0], [1.0, 9.0, 1.0], [9.0, 1.0, 1.0], [9.0, 9.0, 0.0]] * 10)


@pytest.fixture(scope="module")
def joint():
    return gridmodl.optimize(JOINT)


@pytest.fixture(scope="module")
def xor():
    return gridmodl.optimize(XOR[:, :2], XOR[:, 2].astype(int))


def collections(display, kind):
    return [one for one in display.ax_.collections if isinstance(one, kind)]


def test_colours_are_shares_of_the_second_class(xor):
    display = GridDisplay.from_model(xor).plot(ax=new_axes())
    assert display.values_.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    (mesh,) = collections(display, QuadMesh)
    assert mesh.get_array().tolist() == display.values_.tolist()
    assert texts_of(display) == ["10"] * 4
    assert x_labels(display) == y_labels(display) == xor.partitions["x0"].labels
    assert display.ax_.child_axes[-1].get_ylabel() == "share of 1"
    assert title_of(display) == "2 x 2 parts; numbers are rows"


def test_cells_without_rows_are_told_apart():
    counts = grid_counts(3, 4, 2)
    display = GridDisplay(intervals(4), groups(3), counts, ["no", "yes"]).plot(ax=new_axes())
    (mesh,) = collections(display, QuadMesh)
    assert np.argwhere(np.ma.getmaskarray(mesh.get_array())).tolist() == [[1, 1]]
    assert legend_of(display) == ["no rows"]
    assert len(texts_of(display)) == 11
    full = GridDisplay(intervals(4), groups(3), counts + 1, ["no", "yes"]).plot(ax=new_axes())
    assert full.ax_.get_legend() is None


def test_more_classes_divide_a_cell():
    counts = grid_counts(3, 4, 3)
    display = GridDisplay(intervals(4), groups(3), counts, list("abc")).plot(ax=new_axes())
    empty, *stripes = collections(display, PolyCollection)
    assert len(empty.get_paths()) == 1
    first = [np.ptp(one.get_paths()[0].vertices[:, 0]) for one in stripes]
    assert np.allclose(np.array(first) / sum(first), counts[0, 0] / counts[0, 0].sum())
    assert legend_of(display) == ["a", "b", "c", "no rows"]
    assert [len(one.get_paths()) for one in stripes] == [11, 11, 11]


def test_classes_too_many_for_colours_leave_no_cell_without_meaning():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 3, (4, 6, 40))
    counts[np.arange(4)[:, None], np.arange(6), rng.integers(0, 40, (4, 6))] = 30
    names = [f"class {j}" for j in range(40)]
    for size in ((9.0, 5.0), (4.4, 2.6), (2.2, 1.4)):
        display = GridDisplay(intervals(6), intervals(4), counts, names).plot(ax=new_axes(*size))
        assert np.allclose(display.values_, counts.max(axis=2) / counts.sum(axis=2))
        assert len(collections(display, QuadMesh)) == 1
        if size[0] > 3:
            largest = [text.split("\n")[0].removeprefix("class ").removeprefix("…") for text in texts_of(display)]
            assert largest == [str(j) for j in counts.argmax(axis=2).ravel()]
    assert all(text.isdigit() for text in texts_of(display))  # at most the rows


def test_without_classes_colours_are_information(joint):
    display = GridDisplay.from_model(joint).plot(ax=new_axes())
    assert display.values_.sum() == pytest.approx(joint.mutual_information)
    cells = joint.cells
    x, y = (cells.names.index(part.name) for part in (display.x, display.y))
    assert np.allclose(display.values_[cells.parts[:, y], cells.parts[:, x]], cell_information(joint))
    (mesh,) = collections(display, QuadMesh)
    assert np.allclose(mesh.get_array(), display.values_[display.y_order_][:, display.x_order_])
    assert mesh.norm.vmax == -mesh.norm.vmin == np.abs(display.values_).max()
    assert display.ax_.get_xlabel() == r"<b>\$a\$</b>"
    display.figure_.savefig(io.BytesIO())


def test_trees_are_drawn_unless_nobody_wants_them(joint):
    assert len(collections(GridDisplay.from_model(joint).plot(ax=new_axes()), LineCollection)) == 2
    plain = GridDisplay.from_model(joint).plot(ax=new_axes(), dendrogram=False)
    assert collections(plain, LineCollection) == []
    assert plain.ax_.get_xlim() == (-0.5, plain.x.n_parts - 0.5)


def test_parts_are_in_the_order_of_the_tree():
    assert leaf_order(LINKAGE).tolist() == [0, 1, 2, 3]
    crossed = np.array([[1, 3, 0.1, 2], [0, 2, 0.3, 2], [4, 5, 1.0, 4]])
    assert leaf_order(crossed).tolist() == [0, 2, 1, 3]
    lines = tree_lines(crossed, leaf_order(crossed))
    assert lines[0].tolist() == [[2.0, 0.0], [2.0, 0.1], [3.0, 0.1], [3.0, 0.0]]
    assert lines[2, 1:3].tolist() == [[2.5, 1.0], [0.5, 1.0]]
    display = joint_display()
    display.y_linkage = crossed
    display.plot(ax=new_axes())
    assert y_labels(display) == [part_labels(display.y)[i] for i in (0, 2, 1, 3)]
    assert display.y_order_.tolist() == [0, 2, 1, 3]
    (mesh,) = collections(display, QuadMesh)
    assert np.allclose(mesh.get_array()[1], display.values_[2])


def test_a_long_chain_of_merges_is_no_trouble():
    n = 3000
    chain = np.array([[0, 1, 0.0, 2]] + [[n + i, i + 2, i / n, i + 3] for i in range(n - 2)], dtype=float)
    assert leaf_order(chain).tolist() == list(range(n))


def test_more_columns_are_summed():
    rows = np.array([[a, b, c, (a + b + c) % 2] for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 12, dtype=float)
    model = gridmodl.optimize(rows[:, :3], rows[:, 3].astype(int))
    assert model.informative == ["x0", "x1", "x2"]
    display = GridDisplay.from_model(model, x="x2").plot(ax=new_axes())
    assert (display.x.name, display.y.name) == ("x2", "x0")
    assert display.counts.sum() == len(rows)
    assert display.values_.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert "summed over 1 more variable" in title_of(display)


def test_of_a_joint_grid_the_pair_with_the_most_information_is_drawn():
    a = np.arange(80) % 2
    data = {"loose": np.where(np.arange(80) % 10 < 3, 1 - a, a), "a": a, "b": a, "c": a}
    model = gridmodl.Model.from_partitions(data, None, {name: [0.5] for name in data})
    display = model.plot(ax=new_axes())
    assert (display.x.name, display.y.name) == ("a", "b")  # and not "a" and "c", or "b" and "c", which tell as much
    assert display.values_.sum() == pytest.approx(np.log(2))
    one = GridDisplay.from_model(model, "loose")
    assert (one.x.name, one.y.name) == ("loose", "a")


def test_a_grid_of_one_cell_and_one_variable(xor):
    null = gridmodl.Model.from_partitions(XOR[:, :2], XOR[:, 2].astype(int), {})
    display = GridDisplay.from_model(null).plot(ax=new_axes())
    assert display.values_.tolist() == [[0.5]]
    one = gridmodl.optimize([1.0, 2.0, 3.0, 4.0], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="the model has one, 'x0'; see PartsDisplay"):
        GridDisplay.from_model(one)
    with pytest.raises(ValueError, match="two variables, got 'x0' for both"):
        GridDisplay.from_model(xor, "x0", "x0")
    with pytest.raises(ValueError, match="name must be one of the columns"):
        GridDisplay.from_model(xor, "x7")


def test_fifty_parts_are_labelled_without_overlap():
    counts = grid_counts(40, 50, 2)
    display = GridDisplay(intervals(50), intervals(40), counts, [0, 1]).plot(ax=new_axes(7.0, 5.0))
    display.figure_.draw_without_rendering()
    boxes = [label.get_window_extent() for label in display.ax_.get_xticklabels()]
    assert len(boxes) >= 20
    assert all(left.x1 <= right.x0 + 2.0 for left, right in itertools.pairwise(boxes))
    assert texts_of(display) == []


def test_estimators(xor):
    grid = GridClassifier(random_state=0).fit(XOR[:, :2], XOR[:, 2].astype(int))
    assert np.array_equal(GridDisplay.from_estimator(grid).counts, GridDisplay.from_model(xor).counts)
    matrix = np.kron(np.eye(3, dtype=int), np.ones((6, 6), dtype=int))
    display = GridDisplay.from_estimator(GridCoclustering(random_state=0).fit(matrix), x="column").plot(ax=new_axes())
    assert (display.x.name, display.y.name) == ("column", "row")
    assert display.values_.shape == (3, 3)
