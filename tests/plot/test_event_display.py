"""The event by part, the columns of a table, and the picture that a model chooses."""

from __future__ import annotations

import io

import numpy as np
import pytest
from plot.drawn import legend_lines, legend_of, new_axes, title_of, x_labels, y_labels
from plot.plot_cases import event_display, intervals, special_parts

import gridmodl
from gridmodl import plot
from gridmodl.model.evidence import rate_range
from gridmodl.plot.axes.layout import SMALLEST


@pytest.fixture(scope="module")
def models():
    rng = np.random.default_rng(0)
    x, town = rng.normal(size=600), rng.choice(list("abcdef"), 600)
    y = rng.random(600) < np.where(x > 0.3, 0.8, 0.2)
    return gridmodl.optimize_each({"x": x, "town": town}, y)


def test_rates_rows_and_names(models):
    model = models["x"]
    display = plot.EventDisplay.from_model(model).plot(ax=new_axes())
    partition = model.partitions["x"]
    assert display.events.tolist() == partition.counts[:, 1].tolist()
    assert x_labels(display) == partition.names
    assert legend_of(display) == ["True", "False", "rate of True", "all rows"]
    marks = display.event_ax_.lines[-2].get_ydata()
    assert marks.tolist() == pytest.approx((partition.counts[:, 1] / partition.counts.sum(axis=1)).tolist())
    assert title_of(display).startswith("x: ")
    display.figure_.savefig(io.BytesIO())


def test_entries_of_the_legend_share_lines_where_they_fit_together():
    display = event_display(intervals(3))
    display.event, display.other = "malignant", None
    display.plot(ax=new_axes(5.0, 3.8))
    assert legend_lines(display) == [["malignant", "others", "rate of malignant", "all rows"]]
    display.plot(ax=new_axes(3.0, 3.8))
    assert legend_lines(display) == [["malignant", "others"], ["rate of malignant", "all rows"]]


def test_names_of_few_bars_as_wide_as_their_rows_are_large():
    groups = tuple((f"northern region {i}", f"southern region {i}") for i in range(3))
    partition = gridmodl.Partition("home", "categorical", np.array([[900, 90], [7000, 900], [800, 100]]), groups=groups)
    display = event_display(partition).plot(ax=new_axes(6.0, 2.0), widths="rows")
    labels = display.ax_.get_xticklabels()
    assert min(label.get_fontsize() for label in labels) > 1.2 * SMALLEST
    assert all("\n" in label.get_text() for label in labels)


def test_rates_of_rare_events_fill_the_axes():
    counts = np.array([[9995, 5], [9990, 10], [9960, 40]])
    partition = gridmodl.Partition("x", "numerical", counts, bounds=np.array([1.0, 2.0]))
    ax = event_display(partition).plot(ax=new_axes()).event_ax_
    high = rate_range(counts[:, 1], counts.sum(axis=1))[1].max()
    assert high < ax.get_ylim()[1] < 1.2 * high
    ax.figure.canvas.draw()
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert len(set(labels)) == len(labels)
    assert "0.1%" in labels


def test_weights_of_evidence(models):
    display = plot.EventDisplay.from_model(models["x"]).plot(ax=new_axes(), statistic="woe")
    woe = models["x"].table(frame="arrays")["woe"]
    assert display.event_ax_.lines[-2].get_ydata().tolist() == pytest.approx(list(woe))
    assert display.event_ax_.get_ylabel() == "weight of evidence"


def test_parts_without_labelled_rows_have_no_mark():
    display = event_display(special_parts()).plot(ax=new_axes())
    marks = display.event_ax_.lines[-2].get_ydata()
    assert np.isnan(marks).tolist() == [False, False, True, False, False, True]
    assert legend_of(display)[-3] == "rows without a class"


def test_many_tiny_parts_are_as_wide_as_the_root_of_their_rows():
    partition = intervals(20)
    counts = np.ones((20, 2), dtype=np.int64)
    counts[0] = 5000
    tiny = gridmodl.Partition("x", "numerical", counts, bounds=partition.bounds)
    display = event_display(tiny).plot(ax=new_axes())
    bars = np.array([bar.get_width() for bar in display.ax_.containers[0]])
    assert bars / bars[0] == pytest.approx(np.sqrt(counts.sum(axis=1) / 10000))
    equal = event_display(tiny).plot(ax=new_axes(), widths="equal")
    assert len({bar.get_width() for bar in equal.ax_.containers[0]}) == 1


def test_the_range_of_a_rate_holds_it():
    events, rows = np.array([0, 3, 50, 10]), np.array([10, 10, 100, 10])
    low, high = rate_range(events, rows)
    assert np.all((low <= events / rows) & (events / rows <= high))
    assert (low[0], high[-1]) == (0.0, 1.0)
    assert high[1] - low[1] > high[2] - low[2]


def test_columns_in_order(models):
    display = models.plot(ax=new_axes())
    assert display.names == list(models)
    assert y_labels(display) == list(models)
    assert models.plot(n=1, ax=new_axes()).n_more == 1
    with pytest.raises(ValueError, match="n must be a whole number of at least 1, got 0"):
        models.plot(n=0)


def test_a_model_chooses_its_picture(models):
    rng = np.random.default_rng(1)
    a, b, c = rng.normal(size=(3, 400))
    town = rng.choice(list("abc"), 400)
    three = np.digitize(a, [-0.5, 0.5])
    cells = a + b
    found = {
        plot.EventDisplay: models["x"],
        plot.PartsDisplay: gridmodl.optimize(a, three),
        plot.DensityDisplay: gridmodl.optimize(a),
        plot.TargetDisplay: gridmodl.optimize(a, a + 0.1 * c),
        plot.GridDisplay: gridmodl.optimize({"a": a, "b": cells}),
        plot.CellsDisplay: gridmodl.optimize({"a": a, "b": b, "town": town}, a + b),
    }
    for kind, model in found.items():
        assert type(model.plot(ax=new_axes())) is kind
    grid = gridmodl.optimize({"a": a, "b": b}, (a > 0) ^ (b > 0))
    assert type(grid.plot(ax=new_axes())) is plot.GridDisplay
    assert type(grid.plot("a", ax=new_axes())) is plot.EventDisplay


def test_what_has_no_event_is_refused():
    with pytest.raises(ValueError, match="has no event; TargetDisplay"):
        plot.EventDisplay.from_model(gridmodl.optimize([1.0, 2.0, 3.0], [0.1, 0.2, 0.3]))
    with pytest.raises(ValueError, match="statistic must be one of 'rate', 'woe'"):
        event_display(intervals(3)).plot(statistic="iv")
