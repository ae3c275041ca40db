"""Costs by parts, posteriors of bounds, densities, scorecards, and the progress of a search."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from plot.drawn import new_axes, title_of
from plot.plot_cases import COST, GAP, RECORDS, dates_display, scorecard

import gridmodl
from gridmodl.density import equal_width
from gridmodl.estimators import GridDiscretizer
from gridmodl.plot import (
    AverageDisplay,
    CostDisplay,
    DensityDisplay,
    HierarchyDisplay,
    History,
    PosteriorDisplay,
    ProgressDisplay,
    ScorecardDisplay,
)
from gridmodl.plot.density import _lanes
from gridmodl.search.grid.optima import Improvement

X, Y = [1, 2, 3, 4, 5, 6] * 5, ["a", "a", "b", "b", "a", "a"] * 5
WAITS = np.append(np.arange(100), np.arange(100, 1000, 50)).astype(float)


def test_costs_are_those_of_the_curve():
    curve = gridmodl.cost_by_parts(pd.DataFrame({"$x$": X, "y": Y}), "y", max_parts=5)
    display = CostDisplay.from_curve(curve).plot(ax=new_axes())
    line, proven, unknown, best, one_part = display.ax_.lines
    assert line.get_xdata().tolist() == curve.n_parts.tolist()
    assert line.get_ydata().tolist() == proven.get_ydata().tolist() == curve.cost.tolist()
    assert len(unknown.get_xdata()) == 0
    assert (best.get_xdata()[0], best.get_ydata()[0]) == (3, curve.cost.min())
    assert one_part.get_ydata()[0] == curve.cost[0]
    assert display.best_ == 3
    assert title_of(display) == rf"\$x\$: lowest cost {curve.cost.min():.6g} with 3 parts"


def test_gaps_reach_down_and_unknown_ones_are_hollow():
    display = CostDisplay(np.arange(1, 13), COST, GAP).plot(ax=new_axes())
    segments = np.array(display.ax_.collections[0].get_segments())
    assert segments[:, 0].tolist() == [[7.0, COST[6] - 12.0], [8.0, COST[7] - 12.0], [9.0, COST[8] - 12.0]]
    assert display.ax_.lines[2].get_xdata().tolist() == [10, 11, 12]
    assert display.ax_.lines[2].get_markerfacecolor() == "white"
    assert title_of(display) == "lowest cost 50 with 5 parts"


def test_strokes_are_probabilities():
    found = gridmodl.bound_posterior([1, 2, 3, 4, 5, 6], [0, 0, -1, -1, 1, 1], unlabelled=-1)
    display = PosteriorDisplay.from_posterior(found, "$x$").plot(ax=new_axes())
    (dots,) = display.ax_.lines
    assert np.array_equal(dots.get_xdata(), found.bounds)
    assert np.array_equal(dots.get_ydata(), found.posterior)
    assert title_of(display) == "most likely: 2.5 to 4.5, probability 0.8"
    central = PosteriorDisplay.from_posterior(found).plot(ax=new_axes(), coverage=0.7)
    assert central.ax_.lines[0].get_xdata().tolist() == [2.5, 3.5, 4.5]
    with pytest.raises(ValueError, match="coverage must be a share"):
        display.plot(coverage=0.0)


def test_many_bounds_are_an_area_and_one_value_has_none():
    values = np.arange(500.0)
    found = gridmodl.bound_posterior(values, values > 250)
    display = PosteriorDisplay.from_posterior(found).plot(ax=new_axes())
    assert len(display.ax_.lines[0].get_xdata()) == 499
    assert title_of(display).startswith("most likely: 250.5, probability")
    alone = gridmodl.bound_posterior([1.0, 1.0], [0, 1])
    assert title_of(PosteriorDisplay.from_posterior(alone).plot(ax=new_axes())) == "no bound: one value"


def test_infinite_bounds_are_not_drawn_and_too_distant_ones_refused():
    ends = np.repeat([-np.inf, 1.0, 2.0, np.inf], 3)
    display = PosteriorDisplay.from_posterior(gridmodl.bound_posterior(ends, [0] * 6 + [1] * 6)).plot(ax=new_axes())
    assert np.isfinite(display.ax_.get_xlim()).all()
    display.figure_.draw_without_rendering()
    far = PosteriorDisplay(np.array([-1e308, 1e308]), np.array([0.5, 0.5]))
    with pytest.raises(ValueError, match=r"from -1e\+308 to 1e\+308 are further apart than matplotlib can draw"):
        far.plot(ax=new_axes())


def test_dates_and_durations_have_their_axes():
    days = np.datetime64("2020-01-01") + np.arange(40)
    dates = PosteriorDisplay.from_posterior(gridmodl.bound_posterior(days, days > days[20]), "when", is_utc=True)
    dates.plot(ax=new_axes())
    assert dates.ax_.get_xlabel() == "when (UTC)"
    assert title_of(dates).startswith("most likely: 2020-01-21")
    lasting = np.arange(40) * np.timedelta64(37, "m")
    found = PosteriorDisplay.from_posterior(gridmodl.bound_posterior(lasting, lasting > lasting[20]), "wait")
    assert found.plot(ax=new_axes()).ax_.get_xlabel() == "wait (hours)"
    assert found.ax_.lines[0].get_xdata()[-1] == 1424 / 60  # bounds of minutes are whole minutes
    for display in (dates, found, dates_display().plot(ax=new_axes())):
        display.figure_.savefig(io.BytesIO())


def test_dates_beyond_the_calendar_are_years():
    edges = np.array(["2000-01-01", "12000-01-01", "20000-01-01"], dtype="datetime64[D]")
    display = DensityDisplay(edges, np.array([0.1, 0.2]), "far").plot(ax=new_axes())
    assert display.ax_.get_xlabel() == "far (year)"
    assert display.stairs_.get_data().edges.round(1).tolist() == [2000.0, 12000.0, 20000.0]
    display.figure_.draw_without_rendering()


def test_steps_are_densities():
    model = gridmodl.optimize_density(pd.Series(WAITS, name="$wait$"))
    display = DensityDisplay.from_model(model).plot(ax=new_axes(), sample=pd.Series([5.0, 7.0, None]))
    drawn = display.stairs_.get_data()
    assert np.allclose(drawn.values, model.densities)
    assert drawn.edges.tolist() == [-0.5, *model.partition.bounds, 950.5]
    assert np.sum(drawn.values * np.diff(drawn.edges)) == pytest.approx(1.0)
    assert display.ax_.lines[0].get_xdata().tolist() == [5.0, 7.0]
    assert title_of(display) == r"\$wait\$: 2 parts by likelihood"


def test_densities_over_one_another_have_a_legend():
    first = DensityDisplay.from_model(gridmodl.optimize_density(WAITS)).plot(ax=new_axes(), label="$found$")
    DensityDisplay.from_model(equal_width(WAITS, n_parts=4)).plot(ax=first.ax_, label="equal", color="#D55E00")
    assert [text.get_text() for text in first.ax_.get_legend().get_texts()] == [r"\$found\$", "equal"]


def test_densities_of_dates_are_in_the_unit_of_the_axis():
    """On the axes of another display, in its unit."""
    hours = np.arange(0, 100, 2).astype("M8[h]").astype("M8[us]")
    first = DensityDisplay.from_model(equal_width(hours, n_parts=1)).plot(ax=new_axes())
    assert first.ax_.get_ylabel() == "density per day"
    assert first.stairs_.get_data().values.tolist() == [pytest.approx(24 / 100)]
    alone = DensityDisplay.from_model(gridmodl.optimize(hours[:20], special=[], max_parts=1)).plot(ax=new_axes())
    assert alone.ax_.get_ylabel() == "density per hour"
    assert alone.stairs_.get_data().values.tolist() == [pytest.approx(1 / 40)]
    above = DensityDisplay.from_model(equal_width(hours[:20], n_parts=1)).plot(ax=first.ax_)
    assert first.ax_.get_ylabel() == "density per day"
    assert above.stairs_.get_data().values.tolist() == [pytest.approx(24 / 40)]


def test_a_discretizer_without_a_target_has_densities():
    display = DensityDisplay.from_estimator(GridDiscretizer().fit(WAITS[:, None]))
    assert np.allclose(display.densities, gridmodl.optimize_density(WAITS).densities)
    with pytest.raises(ValueError, match="fitted with a target"):
        DensityDisplay.from_estimator(GridDiscretizer().fit(np.array(X, dtype=float)[:, None], Y))


def test_progress_is_what_the_search_told():
    history = History()
    data = np.array([[1.0, 1.0], [1.0, 9.0], [9.0, 1.0], [9.0, 9.0]] * 10)
    model = gridmodl.optimize(data, [0, 1, 1, 0] * 10, search=gridmodl.Search(on_improvement=history))
    display = ProgressDisplay.from_history(history).plot(ax=new_axes())
    assert display.ax_.lines[0].get_ydata()[-1] == model.cost
    assert display.ax_.lines[0].get_xdata().tolist() == [record.elapsed for record in history.records]
    assert len(history) == len(display.records)
    assert repr(history).startswith(f"History({len(history)} improvement")


def test_progress_by_round():
    display = ProgressDisplay(RECORDS).plot(ax=new_axes(), by="round")
    assert display.ax_.lines[0].get_xdata().tolist() == [0, 1, 2, 3, 4, 5]
    assert display.ax_.get_xlabel() == "round"
    with pytest.raises(ValueError, match="unknown by 'cost'; allowed: elapsed, round"):
        display.plot(by="cost")
    with pytest.raises(ValueError, match="the history is empty"):
        ProgressDisplay.from_history(History())


def test_the_display_of_an_average_draws_what_it_says():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    found = gridmodl.average({"x": np.where(x > 1.5, np.nan, x)}, np.where(x + rng.normal(size=300) > 0, "yes", "no"))
    display = AverageDisplay.from_average(found, coverage=0.8).plot(ax=new_axes())
    curve = display.ax_.lines[-1]
    at = np.searchsorted(found.knots, display.curve.values)
    assert np.array_equal(curve.get_ydata(), found.shares[1 + at, 1])
    assert np.all((display.curve.low < display.curve.shares) & (display.curve.shares < display.curve.high))
    assert display.ax_.get_ylabel() == "probability of yes"
    assert "missing" in display.ax_.get_title(loc="left")
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == [
        "average", "80% band", "best partition", "rows",
    ]  # fmt: skip
    other = AverageDisplay.from_average(found, label="no").plot(ax=new_axes())
    assert other.curve.shares == pytest.approx(1.0 - display.curve.shares)
    with pytest.raises(ValueError, match="one of the classes, 'no', 'yes'"):
        AverageDisplay.from_average(found, label="maybe")
    days = gridmodl.average(np.datetime64("2024-01-01") + np.arange(9), np.arange(9) // 3)
    AverageDisplay.from_average(days).plot(ax=new_axes())
    AverageDisplay.from_average(gridmodl.average([np.nan], ["a"])).plot(ax=new_axes())


def test_probabilities_of_many_masses_stay_inside_and_apart():
    masses = np.append(np.arange(10.0, 90.0, 2.5), 99.0)
    shares = np.linspace(0.001, 0.01, len(masses))
    ax = Figure(figsize=(9, 6)).subplots(2, 3)[1, 2]
    display = DensityDisplay(np.array([0.0, 50.0, 99.0]), np.array([0.2, 0.1]), masses=masses, probabilities=shares)
    display.plot(ax=ax)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    inside = ax.get_window_extent().padded(2)
    assert all(inside.contains(box.x0, box.y0) and inside.contains(box.x1, box.y1) for box in boxes)
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])
    written = {text.get_position()[0]: text for text in ax.texts}
    assert written[99.0].get_text() == "1.0%"  # the largest
    tops = {line.get_xdata()[0]: line.get_ydata()[1] for line in ax.lines}
    assert list(tops) == masses.tolist()
    for place, top in tops.items():  # each ends at its own number, others below all
        text = written.get(place)
        assert top == (min(tops.values()) if text is None else text.get_position()[1])
        assert text is None or text.get_horizontalalignment() == "center"
    assert min(tops.values()) < min(text.get_position()[1] for text in ax.texts)


@pytest.mark.parametrize(("low", "scale"), [(1e-6, "log"), (0.0, "linear"), (0.1, "linear")])
def test_a_density_that_would_look_blank_has_a_log_scale(low, scale):
    edges = np.array([0.0, 1.0, 500.0, 1000.0])
    display = DensityDisplay(edges, np.array([0.9, low, 0.0])).plot(ax=new_axes())
    assert display.ax_.get_yscale() == scale
    assert display.ax_.get_ylabel() == f"density{', log scale' * (scale == 'log')}"
    again = DensityDisplay(edges, np.array([0.1, 0.1, 0.1])).plot(ax=display.ax_)
    assert again.ax_.get_yscale() == scale


def test_a_log_scale_has_room_for_all_displays_on_it():
    edges = np.array([0.0, 0.001, 50.0, 100.0])
    ax = DensityDisplay(edges, np.array([900.0, 0.001, 0.0005])).plot(ax=new_axes()).ax_
    assert ax.get_ylim()[0] == 0.00025
    DensityDisplay(edges, np.array([90_000.0, 0.00001, 0.0005])).plot(ax=ax)
    assert ax.get_ylim()[0] == 0.000005
    assert ax.get_ylim()[1] > 90_000.0
    assert [bars.get_data().baseline for bars in ax.patches] == [0.000005] * 4
    assert ax.patches[0].get_data().values.tolist() == [900.0, 0.001, 0.0005]
    ax.set_ylim(0.01, 10.0)
    DensityDisplay(edges, np.array([900.0, 0.001, 0.0005])).plot(ax=ax)
    assert ax.get_ylim() == (0.01, 10.0)  # the user's own
    ax = DensityDisplay(edges, np.array([900.0, 0.001, 0.0])).plot(ax=new_axes()).ax_
    DensityDisplay(edges, np.array([900.0, 0.0001, 0.0005])).plot(ax=ax)
    assert ax.patches[0].get_data().values.tolist() == [900.0, 0.001, 0.00005]  # nothing is as high as the axis is low


def test_an_interval_outside_of_the_domain_makes_no_log_scale():
    model = gridmodl.Model.from_partitions({"x": np.linspace(0.0, 10.0, 200)}, None, {"x": [5.0, 20.0]})
    display = DensityDisplay.from_model(model).plot(ax=new_axes())
    assert np.isnan(display.densities).tolist() == [False, False, True]
    assert display.ax_.get_yscale() == "linear"


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 5)), max_size=20), st.integers(1, 8), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_of_too_many_masses_as_many_of_the_largest_as_have_room_are_written(masses, room, most):
    """Against leaving out the smallest one by one."""
    starts, shares = (np.array([one[k] for one in sorted(masses)], dtype=float) for k in (0, 1))

    def has_room(kept):
        return all(np.sum((starts[kept] <= start) & (start < starts[kept] + room)) <= most for start in starts[kept])

    kept = list(range(len(starts)))
    while not has_room(kept):
        kept.remove(min(kept, key=lambda i: shares[i]))
    lanes = _lanes(starts, shares, float(room), most)
    assert list(lanes) == kept
    assert all(lane < most for lane in lanes.values())
    for lane in lanes.values():
        assert (np.diff([starts[i] for i in lanes if lanes[i] == lane]) >= room).all()


def test_probabilities_of_near_masses_are_below_each_other():
    edges, masses = np.array([0.0, 1.0, 4.0]), np.array([2.0, 0.0, 0.1])
    display = DensityDisplay(edges, np.array([0.2, 0.1]), masses=masses, probabilities=np.array([0.2, 0.3, 0.1]))
    ax = display.plot(ax=new_axes()).ax_
    found = {text.get_text(): text.get_position()[1] for text in ax.texts}
    assert found["30.0%"] == found["20.0%"] > found["10.0%"]


def test_probabilities_of_very_many_masses_do_not_hide_the_bars():
    masses, shares = np.arange(0.0, 300.0, 2.0), np.linspace(0.0001, 0.0005, 150)
    display = DensityDisplay(np.array([0.0, 300.0]), np.array([0.003]), masses=masses, probabilities=shares)
    ax = display.plot(ax=new_axes()).ax_
    assert 0 < len(ax.texts) < 30
    assert min(text.get_position()[1] for text in ax.texts) > 0.85  # above the bar
    assert {text.get_text() for text in ax.texts} <= {"0.04%", "0.05%"}  # and not 0.0%


def test_an_average_of_one_value_is_a_point_with_its_band():
    ax = gridmodl.average([7.0] * 9, ["a"] * 4 + ["b"] * 5).plot(ax=new_axes()).ax_
    (mean,) = (line for line in ax.lines if line.get_marker() == "o")
    low, high = (float(y) for y in ax.collections[0].get_segments()[0][:, 1])
    assert low < mean.get_ydata()[0] < high


def test_large_costs_are_written_in_full():
    records = [Improvement(i, 1_234_567.9 - 0.01 * i, 0.1, float(i)) for i in range(9)]
    for display in (
        ProgressDisplay(records).plot(ax=new_axes()),
        CostDisplay(np.arange(1, 5), 1_234_567.0 + np.arange(4.0)).plot(ax=new_axes()),
    ):
        display.figure_.canvas.draw()
        assert display.ax_.yaxis.get_offset_text().get_text() == ""
        assert all(label.get_text().startswith("12345") for label in display.ax_.get_yticklabels())


def test_one_mass_alone_is_in_the_middle():
    display = DensityDisplay.from_model(gridmodl.optimize([7.0] * 9)).plot(ax=new_axes())
    low, high = display.ax_.get_xlim()
    assert (low + high) / 2.0 == pytest.approx(7.0)
    assert display.ax_.get_ylabel() == ""
    assert len(display.ax_.get_yticks()) == 0


def test_parts_of_the_fewest_and_the_most_points_are_named_where_there_is_room():
    card, _ = scorecard()
    wide = ScorecardDisplay(card).plot(ax=Figure(figsize=(9, 3)).subplots())
    written = {text.get_text(): text.xy for text in wide.ax_.texts}
    expected = {}
    for place, (name, points) in enumerate(zip(wide.names, wide.points, strict=True)):
        for i in (points.argmin(), points.argmax()):
            expected[card.partition(name).names[i]] = (points[i], place)
    assert written == expected
    assert len(written) == 4
    narrow = ScorecardDisplay(card).plot(ax=Figure(figsize=(2, 2)).subplots())
    assert list(narrow.ax_.texts) == []


def test_groups_at_the_ends_of_points_are_named_by_whole_values():
    names = np.array(["Canada", "El Salvador", "Puerto Rico", "South Korea", "Mexico", "Trinidad and Tobago"])
    town = np.resize(names, 1200)
    y = np.isin(town, names[:3]) ^ (np.arange(1200) % 5 == 0)
    card = gridmodl.GridScorecard(averaged=False, validate=False).fit(pd.DataFrame({"town": town}), y).scorecard_
    texts = [text.get_text() for text in ScorecardDisplay(card).plot(ax=new_axes(5.0, 2.0)).ax_.texts]
    assert len(texts) == 2
    values = {value for text in texts for value in text.split(": ", 1)[1].split(", ")}
    assert all(value in names or value.startswith("+") for value in values)


def test_trees_are_those_of_the_merges():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 40, 3000)
    other = np.where(rng.random(3000) < 0.7, x // 8, rng.integers(0, 5, 3000))
    hierarchy = gridmodl.optimize({"x": x, "other": np.array(list("abcde"))[other], "one": np.ones(3000)}).hierarchy()
    display = HierarchyDisplay.from_hierarchy(hierarchy).plot(ax=new_axes())
    names = ["x", "other"]
    assert [text.get_text() for text in display.ax_.texts] == names
    labels = [hierarchy.partitions[names[k]].names[i] for k, order in enumerate(display.orders_) for i in order]
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == labels
    for name, lines in zip(names, display.ax_.collections, strict=True):
        corners = np.array(lines.get_segments())
        assert corners[:, 1, 0].tolist() == hierarchy.linkage(name)[:, 2].tolist()
        assert len(corners) == hierarchy.n_parts[name] - 1
    assert title_of(display).startswith(f"{hierarchy.n_parts['x']} x {hierarchy.n_parts['other']} parts")
    with pytest.raises(ValueError, match="a single cell"):
        gridmodl.optimize({"x": [1, 1, 2, 2], "y": list("abab")}).hierarchy().plot()


def test_what_has_a_display_draws_it():
    curve = gridmodl.cost_by_parts(X, Y, max_parts=4)
    ax = new_axes()
    assert curve.plot(ax).ax_ is ax
    assert curve.plot(new_axes()).best_ == 3
    posterior = gridmodl.bound_posterior([1, 2, 3, 4, 5, 6], [0, 0, 1, 0, 1, 1])
    assert posterior.plot("wait", new_axes(), coverage=0.9).ax_.get_xlabel() == "wait"
    choice = gridmodl.choose_penalty(list(range(40)), [0] * 10 + [0, 1] * 10 + [1] * 10)
    assert choice.plot(new_axes()).chosen == (choice.options["alpha"], choice.loss)
    assert gridmodl.optimize({"x": X, "y": Y}).hierarchy().plot(new_axes()).ax_.get_xlabel() == "information lost"
    density = gridmodl.optimize_density(WAITS).plot(new_axes(), label="waits")
    assert density.ax_.get_legend().get_texts()[0].get_text() == "waits"
    averages = gridmodl.average_each({"noise": [1, 2, 1, 2] * 10, "x": list(range(40))}, [0] * 20 + [1] * 20)
    assert averages.plot(ax=new_axes()).curve.name == "x"
    assert averages.plot("noise", 0, new_axes()).curve.label == 0
    with pytest.raises(ValueError, match="no column has an average"):
        gridmodl.Averages({}, {}).plot()


def test_a_density_has_no_other_column():
    model = gridmodl.optimize({"wait": WAITS})
    assert model.plot("wait", new_axes()).name == "wait"
    with pytest.raises(ValueError, match="name must be one of the columns 'wait', got 'waits'; did you mean 'wait'"):
        model.plot("waits")


def test_an_average_of_crowded_values_is_along_their_ranks():
    rng = np.random.default_rng(0)
    amounts = np.round(np.exp(rng.normal(5.0, 2.0, 400)))
    found = gridmodl.average({"amount": amounts}, (amounts > 200).astype(int))
    display = AverageDisplay.from_average(found).plot(ax=new_axes())
    curve, ranks = display.curve, display.ax_.lines[-1].get_xdata()
    assert np.array_equal(ranks, np.arange(len(curve.values)))
    assert display.ax_.get_xlabel() == "amount, by rank"
    for text in display.ax_.get_xticklabels():
        assert float(text.get_text()) == pytest.approx(curve.values[round(text.get_position()[0])], rel=1e-5)
    (bound,) = found.best.partitions["amount"].bounds
    step = display.ax_.lines[0].get_xdata()[1]
    assert curve.values[int(step)] <= bound <= curve.values[int(step) + 1]
    assert ", by rank" in found._repr_html_()
    even = AverageDisplay.from_average(gridmodl.average({"x": np.arange(400)}, np.arange(400) > 200)).plot(new_axes())
    assert even.ax_.get_xlabel() == "x"
    assert even.ax_.lines[-1].get_xdata()[-1] == 399
