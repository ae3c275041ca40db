"""Parts of one variable: bars are as long as shares and rows say, and parts are labelled."""

from __future__ import annotations

import io
import itertools
import json
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from plot.drawn import legend_of, new_axes, texts_of, title_of, widths, y_labels
from plot.plot_cases import COUNTS, HOSTILE, groups, intervals, many_classes, special_parts

import gridmodl
from gridmodl.estimators import GridClassifier, GridDiscretizer
from gridmodl.plot import CellsDisplay, DensityDisplay, GridDisplay, PartsDisplay, TargetDisplay
from gridmodl.plot.style import OF_CLASSES, OTHER

X = np.array([1.0, 2.0, 3.0, 4.0, 7.0, 8.0, 9.0, 10.0] * 3)
Y = np.array(["no", "no", "no", "no", "yes", "yes", "yes", "no"] * 3)


@pytest.fixture(scope="module")
def model():
    return gridmodl.optimize(X, Y)


def test_bars_are_shares_and_rows(model):
    display = PartsDisplay.from_model(model).plot(ax=new_axes())
    partition = model.partitions["x0"]
    shares = partition.counts / partition.counts.sum(axis=1, keepdims=True)
    assert np.allclose(np.transpose([widths(bars) for bars in display.bars_]), shares)
    assert widths(display.rows_ax_.containers[0]).tolist() == partition.rows.tolist()
    assert y_labels(display) == partition.labels
    assert legend_of(display) == ["no", "yes"]
    assert f"level {model.level:.3f}" in title_of(display)


def test_it_returns_itself_and_draws_where_it_is_told(model):
    ax = new_axes()
    display = PartsDisplay.from_model(model, "x0")
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert plt.get_fignums() == []
    own = PartsDisplay.from_model(model).plot()
    assert plt.get_fignums() == [own.figure_.number]


def test_a_model_of_a_file_is_drawn_too(model):
    display = PartsDisplay.from_model(gridmodl.Model.from_json(model.to_json())).plot(ax=new_axes())
    assert y_labels(display) == model.partitions["x0"].labels


def test_missing_and_special_parts_stand_apart_and_empty_ones_say_so():
    display = PartsDisplay(special_parts(), ["$no$", "yes"]).plot(ax=new_axes())
    places = display.ax_.get_yticks()
    assert np.flatnonzero(np.diff(places) > 1.0).tolist() == [0, 3]
    assert y_labels(display)[0] == "missing"
    assert y_labels(display)[1] == "(-inf, -5.12346]"
    assert y_labels(display)[4:] == ["special -999", "special -1"]
    assert np.isnan(widths(display.bars_[0])).tolist() == [False, False, True, False, False, True]
    assert texts_of(display).count("no rows with a class") == 2
    assert legend_of(display) == [r"\$no\$", "yes", "rows without a class"]
    assert widths(display.rows_ax_.containers[1]).tolist() == [5, 0, 0, 60, 2, 4]


def test_hostile_names_are_drawn_as_they_are():
    display = PartsDisplay(special_parts(), ["$no$", "yes"]).plot(ax=new_axes())
    title = title_of(display)
    assert title.startswith(r"<b>\$x^2\$</b> and ")
    assert "中" in HOSTILE
    assert "中" not in title
    display.figure_.savefig(io.BytesIO(), format="png")  # nothing warns, as of letters that the font does not have


def test_many_classes_are_the_largest_and_others():
    counts = COUNTS[:6, 0].copy()
    counts[:, :7] *= 50
    partition = gridmodl.Partition("x", "numerical", counts, bounds=np.arange(5.0))
    display = PartsDisplay(partition, np.arange(30)).plot(ax=new_axes())
    largest = np.sort(np.argsort(-counts.sum(axis=0), kind="stable")[:7])
    assert counts[:, largest].sum() > 0.8 * counts.sum()
    assert legend_of(display) == [*map(str, largest), "23 other classes"]
    assert np.allclose(widths(display.bars_[2]), counts[:, largest[2]] / counts.sum(axis=1))
    assert np.allclose(sum(widths(bars) for bars in display.bars_), 1.0)
    assert display.bars_[-1].patches[0].get_facecolor() == plt.matplotlib.colors.to_rgba(OTHER)
    with pytest.raises(ValueError, match="max_classes must be at least 2"):
        PartsDisplay(intervals(2), [0, 1]).plot(ax=new_axes(), max_classes=1)


def test_classes_too_many_for_colours_are_the_largest_of_each_part():
    names = np.array([f"c{j}" for j in range(100)])
    display = PartsDisplay(many_classes(6, 100), names).plot(ax=new_axes(9.0, 4.0))
    assert legend_of(display) == ["largest", "seventh", "93 other classes"]
    rows = 697
    assert np.allclose(widths(display.bars_[0]), 300 / rows)
    assert np.allclose(widths(display.bars_[-1]), 93 / rows)
    assert [f"c{3 * i} 43%" for i in range(6)] == [text for text in texts_of(display) if text.endswith("43%")]
    few = PartsDisplay(many_classes(6, 100), names).plot(ax=new_axes(), max_classes=3)
    assert legend_of(few) == ["largest", "second", "98 other classes"]


def test_classes_without_room_for_their_names_have_what_tells_them_apart():
    names = np.array([f"diagnosis {j}" for j in range(100)])
    display = PartsDisplay(many_classes(6, 100), names).plot(ax=new_axes(3.5, 3.0))
    texts = [text for text in texts_of(display) if text]
    assert {f"…{3 * i}" for i in range(6)} < {text.split()[0] for text in texts}
    assert display.ax_.get_xlabel().replace("\n", " ") == "share of each class, the largest first"


def test_a_share_is_all_only_if_it_is():
    counts = np.array([[10_000, 3], [10, 0], [3, 10_000]])
    partition = gridmodl.Partition("x", "numerical", counts, bounds=np.array([1.0, 2.0]))
    display = PartsDisplay(partition, ["no", "yes"]).plot(ax=new_axes())
    assert [text for text in texts_of(display) if text] == [">99%", "100%", ">99%"]


def test_eight_classes_have_a_colour_each():
    display = PartsDisplay(intervals(3, 8), list("abcdefgh")).plot(ax=new_axes())
    colours = [plt.matplotlib.colors.to_hex(bars.patches[0].get_facecolor()).upper() for bars in display.bars_]
    assert colours == list(OF_CLASSES)


@pytest.mark.parametrize(("height", "n_parts"), [(4.0, 2), (14.0, 50), (3.0, 50), (3.0, 150)])
def test_labels_do_not_overlap(height, n_parts):
    partition = gridmodl.Partition("x", "numerical", np.ones((n_parts, 2), dtype=int), bounds=np.arange(n_parts - 1.0))
    display = PartsDisplay(partition, ["no", "yes"]).plot(ax=new_axes(height=height))
    display.figure_.draw_without_rendering()
    boxes = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
    assert len(boxes) >= 2
    assert all(above.y0 >= below.y1 - 2.0 for above, below in itertools.pairwise(boxes))
    assert all(box.x0 >= 0.0 and box.x1 <= display.ax_.get_window_extent().x0 + 1.0 for box in boxes)


def test_none_of_many_bars_is_left_out():
    partition = gridmodl.Partition("x", "numerical", np.full((300, 2), 5), bounds=np.arange(299.0))
    figure, axes = plt.subplots(2, 2, figsize=(16, 6), dpi=80)
    display = PartsDisplay(partition, ["no", "yes"]).plot(ax=axes[1, 0])
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[::-1, :, :3]
    for ax in (display.ax_, display.rows_ax_):
        box = ax.get_window_extent()
        column = pixels[int(box.y0) + 2 : int(box.y1) - 2, int(0.9 * box.x0 + 0.1 * box.x1)]
        assert not np.any(np.all(column == 255, axis=1))
    plt.close("all")


def test_a_new_figure_is_as_high_as_its_parts():
    low, high = (PartsDisplay(intervals(n), [0, 1]).plot().figure_.get_figheight() for n in (2, 50))
    assert low < 3.0
    assert high > 10.0
    assert len(y_labels(PartsDisplay(intervals(50), [0, 1]).plot())) == 50


def test_without_classes_there_are_rows_only():
    display = PartsDisplay(groups(7)).plot(ax=new_axes())
    assert display.rows_ax_ is display.ax_
    assert widths(display.ax_.containers[0]).tolist() == groups(7).rows.tolist()
    assert display.ax_.get_legend() is None
    assert max(map(len, y_labels(display))) <= 40


def test_one_part_is_drawn():
    partition = gridmodl.Partition(3, "numerical", np.array([[9, 3]]))
    display = PartsDisplay(partition, [False, True]).plot(ax=new_axes())
    assert widths(display.bars_[1]).tolist() == [0.25]
    assert title_of(display) == "3: 1 part"


def test_estimators(model):
    discretizer = GridDiscretizer().fit(np.column_stack([X, X % 3]), Y)
    display = PartsDisplay.from_estimator(discretizer, "x0").plot(ax=new_axes())
    assert y_labels(display) == model.partitions["x0"].labels
    with pytest.raises(ValueError, match=r"name must be one of the columns 'x0', 'x1', got None"):
        PartsDisplay.from_estimator(discretizer)
    with pytest.raises(ValueError, match=r"got 'nothing'"):
        PartsDisplay.from_estimator(discretizer, "nothing")
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        PartsDisplay.from_estimator(GridDiscretizer(), "x0")
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(TypeError, match="LogisticRegression has neither a model nor"):
        PartsDisplay.from_estimator(LogisticRegression().fit(X[:, None], Y))


def test_a_discretizer_without_a_target_has_rows():
    waits = np.append(np.arange(100), np.arange(100, 1000, 50)).astype(float)
    discretizer = GridDiscretizer().fit(waits[:, None])
    display = PartsDisplay.from_estimator(discretizer).plot(ax=new_axes())
    assert widths(display.ax_.containers[0]).tolist() == discretizer.partitions_["x0"].rows.tolist()


def test_a_column_of_a_grid_and_its_estimator():
    grid = GridClassifier(random_state=0).fit(np.column_stack([X, np.arange(len(X))]), Y)
    display = PartsDisplay.from_estimator(grid, "x0").plot(ax=new_axes())
    assert "level" not in title_of(display)
    assert sum(widths(display.rows_ax_.containers[0])) == len(X)


def test_the_parts_of_a_target():
    model = gridmodl.optimize(np.arange(60.0), np.repeat([1.5, 7.25, 3.0], 20), target_kind="numerical")
    display = PartsDisplay.from_model(model, "target").plot(ax=new_axes())
    assert y_labels(display) == model.target.labels
    assert len(PartsDisplay.from_model(model).plot(ax=new_axes()).bars_) == 0


def test_importing_gridmodl_imports_no_matplotlib_and_plot_says_what_is_missing():
    code = (
        "import sys, json, gridmodl; before = 'matplotlib' in sys.modules; sys.modules['matplotlib'] = None\n"
        "try: gridmodl.plot\nexcept ImportError as error: print(json.dumps([before, str(error)]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [False, 'gridmodl.plot needs matplotlib: pip install "gridmodl[plot]"']


@pytest.mark.parametrize("display", [PartsDisplay, GridDisplay, CellsDisplay, TargetDisplay])
def test_models_of_other_kinds_are_refused_with_what_draws_them(display, model):
    with pytest.raises(TypeError, match="must be a Model, got Models; of the models of many columns give one"):
        display.from_model(gridmodl.optimize_each({"a": X}, Y))
    with pytest.raises(TypeError, match=r"got DensityModel.*DensityDisplay"):
        display.from_model(gridmodl.optimize_density(X))
    with pytest.raises(TypeError, match="must be a density of one column, got a Model of classes; see PartsDisplay"):
        DensityDisplay.from_model(model)


def test_the_event_is_named():
    model = gridmodl.optimize([1.0, 2.0, 3.0, 7.0, 8.0, 9.0], ["no", "no", "no", "yes", "yes", "yes"], event="no")
    display = PartsDisplay.from_model(model).plot()
    assert display.ax_.get_xlabel() == "share of each class; event: no"
    grid = gridmodl.Model.from_partitions(
        {"a": [1.0, 2.0, 1.0, 2.0], "b": [1.0, 1.0, 2.0, 2.0]}, list("xxyy"), {"a": [1.5], "b": [1.5]}, event="x"
    )
    assert GridDisplay.from_model(grid).plot().values_.tolist() == [[1.0, 1.0], [0.0, 0.0]]
