"""Targets that are partitioned too: shares of groups, and boxes of numbers."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from plot.drawn import legend_of, new_axes, texts_of, title_of, widths, x_labels, y_labels
from plot.plot_cases import groups, intervals

import gridmodl
from gridmodl.estimators import GridDiscretizer
from gridmodl.plot import TargetDisplay

rng = np.random.default_rng(0)
SIZE = np.arange(120.0)
PRICE = np.where(SIZE < 60, 100.0, 300.0) + rng.integers(0, 40, 120)
SHOP = np.where(SIZE < 60, rng.integers(0, 6, 120), rng.integers(6, 12, 120))


@pytest.fixture(scope="module")
def numbers():
    return gridmodl.optimize(SIZE, PRICE, target_kind="numerical")


@pytest.fixture(scope="module")
def grouped():
    return gridmodl.optimize(SIZE, SHOP, target_kind="grouped")


def test_boxes_are_quantiles(numbers):
    display = TargetDisplay.from_model(numbers).plot(ax=new_axes())
    table = numbers.table(frame="arrays")
    assert np.allclose(display.means, table["mean"])
    boxes = display.ax_.containers[0]
    assert np.allclose([box.get_x() for box in boxes], table["q25"])
    assert np.allclose(widths(boxes), table["q75"] - table["q25"])
    whiskers = np.array(display.ax_.collections[0].get_segments())
    assert np.allclose(whiskers[:, :, 0], np.stack([table["q5"], table["q95"]], axis=1))
    medians = np.array(display.ax_.collections[1].get_segments())
    assert np.allclose(medians[:, 0, 0], table["median"])
    assert np.allclose(display.ax_.lines[0].get_xdata(), table["mean"])
    assert widths(display.rows_ax_.containers[0]).tolist() == table["rows"].tolist()
    assert legend_of(display) == ["5% to 95%", "25% to 75%", "median", "mean"]
    assert y_labels(display) == numbers.partitions["x0"].labels
    bounds = [line.get_xdata()[0] for line in display.ax_.lines[1:]]
    assert bounds == numbers.target.bounds.tolist()


def test_a_part_without_rows_has_no_box():
    own = gridmodl.Model.from_partitions(
        SIZE, PRICE, {"x0": [20.5, 20.7, 90.0], "target": [200.0]}, target_kind="numerical"
    )
    display = TargetDisplay.from_model(own).plot(ax=new_axes())
    assert np.isnan(display.means).tolist() == [False, True, False, False]
    display.figure_.draw_without_rendering()


def test_numbers_that_no_axis_spans_are_refused():
    far = TargetDisplay(intervals(2, 1), intervals(2, 1), np.ones((2, 2)), np.array([-1e308, 1e308]), np.ones((2, 5)))
    with pytest.raises(ValueError, match="divide the column by a constant"):
        far.plot(ax=new_axes())


def test_groups_are_a_map_of_shares(grouped):
    display = TargetDisplay.from_model(grouped).plot(ax=new_axes())
    (mesh,) = (one for one in display.ax_.collections if isinstance(one, QuadMesh))
    shares = display.counts / display.counts.sum(axis=1, keepdims=True)
    assert np.allclose(mesh.get_array(), shares)
    assert sorted(display.counts.tolist()) == [[0, 60], [60, 0]]
    assert sorted(texts_of(display)) == ["0%", "0%", "100%", "100%"]
    assert len(x_labels(display)) == grouped.target.n_parts
    first, last = display.ax_.get_ylim()
    assert first > last  # the first part on top
    assert title_of(display).startswith("x0: 2 parts, level")


def test_a_part_without_rows_is_hatched():
    counts = np.array([[3, 1], [0, 0], [1, 3]])
    display = TargetDisplay(intervals(3), groups(2), counts).plot(ax=new_axes())
    assert legend_of(display) == ["no rows"]
    assert texts_of(display) == ["75%", "25%", "25%", "75%"]


def test_other_models_are_refused_and_estimators_taken(numbers):
    with pytest.raises(ValueError, match="no target that is partitioned too"):
        TargetDisplay.from_model(gridmodl.optimize([1.0, 2.0, 3.0, 4.0], [0, 0, 1, 1]))
    fitted = GridDiscretizer(target_kind="numerical").fit(SIZE[:, None], PRICE)
    assert TargetDisplay.from_estimator(fitted).means.tolist() == TargetDisplay.from_model(numbers).means.tolist()
