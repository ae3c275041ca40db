"""optimize and price as a whole: limits, interruption, progress, and what must not matter."""

from __future__ import annotations

import math
import os
import py_compile
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

import gridmodl
from gridmodl import Search, get_criterion, list_criteria, optimize, price
from gridmodl import clock as clocks
from gridmodl.clock import Clock, Progress
from gridmodl.data.targets import NOT_GIVEN

SEARCHES = ["auto", "exact", "merge"]
STEP = [0] * 5 + [1] * 5


def only(model):
    return model.partitions["x0"]


def as_given(partition):
    """The bounds of a partition as a user writes them: a first NaN keeps missing values apart."""
    apart = partition.missing is not None and partition.n_parts > len(partition.bounds) + 1
    return [math.nan] * apart + partition.bounds.tolist()


def steps(seed=0, n=300, n_steps=6, noise=0.1):
    """Two classes that alternate along the column, with noise."""
    rng = np.random.default_rng(seed)
    data = rng.uniform(size=n)
    target = (data * n_steps).astype(int) % 2
    return data, np.where(rng.random(n) < noise, 1 - target, target)


@pytest.fixture(scope="module")
def iris():
    data = load_iris()
    return data.data[:, 2], data.target_names[data.target]


@pytest.mark.parametrize("search", SEARCHES)
def test_petal_length_of_iris(iris, search):
    model = optimize(*iris, search=search)
    assert only(model).labels == ["(-inf, 2.45]", "(2.45, 4.75]", "(4.75, inf)"]
    assert model.classes.tolist() == ["setosa", "versicolor", "virginica"]
    assert only(model).counts.sum() == model.n_rows == 150
    assert (model.criterion, model.problem, model.stopped) == ("modl", "classes", None)
    assert model.level == pytest.approx(1 - model.cost / model.null_cost)
    assert model.search == ("exact" if search == "auto" else search)
    assert model.proven == (search != "merge")


# What is asked for and does not exist.


def test_unknown_criterion_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"unknown criterion 'midl'; known: .*aic.*bic.*entropy.*gini.*mdlp.*modl"):
        optimize(np.arange(10.0), STEP, criterion="midl")
    with pytest.raises(ValueError, match="unknown criterion 'midl'"):
        price(np.arange(10.0), STEP, {}, criterion="midl")


@pytest.mark.parametrize("criterion", [None, 3, ["modl"], object])
def test_criterion_that_is_none(criterion):
    with pytest.raises(TypeError, match="criterion must be a name"):
        optimize(np.arange(10.0), STEP, criterion=criterion)


def test_criterion_for_another_problem():
    from gridmodl.criteria.modl_joint import ModlJoint

    class Alone(ModlJoint):
        name = "alone"

    with pytest.raises(ValueError, match=r"criterion 'alone' cannot price 'classes'.*it prices 'joint'.*modl"):
        optimize(np.arange(10.0), STEP, criterion=Alone)


def test_unknown_search_lists_the_known_ones():
    with pytest.raises(ValueError, match="unknown search 'greedy'; known: auto, exact, merge"):
        optimize(np.arange(10.0), STEP, search="greedy")


@pytest.mark.parametrize("search", [None, 3, Search])
def test_search_that_is_none(search):
    with pytest.raises(TypeError, match=r"search must be a string or a gridmodl\.Search"):
        optimize(np.arange(10.0), STEP, search=search)


@pytest.mark.parametrize(
    ("option", "value"), [("n_jobs", 1.5), ("n_jobs", None), ("random_state", "0"), ("n_jobs", True)]
)
def test_whole_numbers_are_checked(option, value):
    with pytest.raises(TypeError, match=f"{option} must be a whole number"):
        optimize(np.arange(10.0), STEP, **{option: value})


# Limits.


@pytest.mark.parametrize("criterion", ["modl", "g2"])
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("max_parts", [1, 2, 3])
def test_max_parts_holds(criterion, search, max_parts):
    data, target = steps()
    free = optimize(data, target, criterion=criterion, search=search)
    assert only(free).n_parts > 3
    model = optimize(data, target, criterion=criterion, search=search, max_parts=max_parts)
    assert only(model).n_parts <= max_parts
    assert free.cost <= model.cost <= model.null_cost


@pytest.mark.parametrize("max_parts", [300, 2**31, 2**63, 10**30])
def test_max_parts_beyond_the_rows_changes_nothing(max_parts):
    data, target = steps()
    assert optimize(data, target, max_parts=max_parts).cost == optimize(data, target).cost


@pytest.mark.parametrize("criterion", ["modl", "g2"])
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(
    ("min_rows", "least"), [(60, 60), (np.int32(60), 60), (60.0, 60), (0.25, 75), (1, 1), (1.0, 1)]
)
def test_min_rows_holds(criterion, search, min_rows, least):
    data, target = steps()
    free = optimize(data, target, criterion=criterion, search=search)
    model = optimize(data, target, criterion=criterion, search=search, min_rows=min_rows)
    assert only(model).counts.sum(axis=1).min() >= least
    assert free.cost <= model.cost <= model.null_cost
    if least == 1:
        assert only(model).bounds.tolist() == only(free).bounds.tolist()
    else:
        assert 1 < only(model).n_parts < only(free).n_parts


@pytest.mark.parametrize("search", SEARCHES)
def test_min_rows_of_a_share_is_rounded_up(search):
    model = optimize(np.arange(10.0), STEP, search=search, min_rows=0.41)
    assert only(model).bounds.tolist() == [4.5]  # five rows, where 0.41 * 10 asks for more than four
    assert only(optimize(np.arange(10.0), [0] * 4 + [1] * 6, search=search, min_rows=0.41)).bounds.tolist() != [3.5]


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("min_rows", [151, 301, 0.51])
def test_min_rows_that_only_one_part_can_keep(search, min_rows):
    model = optimize(*steps(), search=search, min_rows=min_rows)
    assert only(model).n_parts == 1
    assert model.cost == model.null_cost


@pytest.mark.parametrize("min_rows", [2**31, 2**63, 10**30])
def test_min_rows_beyond_any_number_of_rows(min_rows):
    assert only(optimize(np.arange(10.0), STEP, min_rows=min_rows)).n_parts == 1


@pytest.mark.parametrize("search", SEARCHES)
def test_both_limits_hold_together(search):
    data, target = steps()
    model = optimize(data, target, search=search, min_rows=40, max_parts=3)
    assert only(model).n_parts == 3
    assert only(model).counts.sum(axis=1).min() >= 40


@pytest.mark.parametrize("search", SEARCHES)
def test_min_rows_may_cut_inside_a_run_of_one_class(search):
    """The free bound leaves four rows on the left; five of them cost least at the very next value."""
    target = [0] * 4 + [1] * 16
    assert only(optimize(np.arange(20.0), target, search=search)).bounds.tolist() == [3.5]
    assert only(optimize(np.arange(20.0), target, search=search, min_rows=5)).bounds.tolist() == [4.5]


@pytest.mark.parametrize("max_parts", [0, -1])
def test_max_parts_below_one(max_parts):
    with pytest.raises(ValueError, match="max_parts must be at least 1"):
        optimize(np.arange(10.0), STEP, max_parts=max_parts)


@pytest.mark.parametrize("max_parts", [1.5, "3", True, 2.0])
def test_max_parts_of_another_type(max_parts):
    with pytest.raises(TypeError, match="max_parts must be a whole number"):
        optimize(np.arange(10.0), STEP, max_parts=max_parts)


@pytest.mark.parametrize("min_rows", [0, -1, 0.0, -0.1, 1.5, math.nan, math.inf, "5", True, [5]])
def test_min_rows_that_mean_nothing(min_rows):
    with pytest.raises(ValueError, match="min_rows must be"):
        optimize(np.arange(10.0), STEP, min_rows=min_rows)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("criterion", ["modl", "g2"])
@pytest.mark.parametrize("time_limit", [0, 0.0, 1e-9])
def test_no_time_at_all_gives_the_null_model(search, criterion, time_limit):
    model = optimize(*steps(), search=search, criterion=criterion, time_limit=time_limit)
    assert model.stopped == "time limit"
    assert not model.proven
    assert only(model).n_parts == 1
    assert model.cost == model.null_cost
    assert "stopped: time limit" in model.summary()


def test_a_grid_that_was_stopped_at_once_says_so():
    x, y = steps()
    model = optimize({"a": x, "b": x[::-1].copy()}, y, time_limit=0)
    assert model.summary().startswith("nothing was found in 2 columns before the search was stopped (time limit)")


@pytest.mark.usefixtures("_processor_time")
@pytest.mark.parametrize("search", SEARCHES)
def test_short_time_gives_a_model_in_time(search):
    data, target = steps(n=100_000, n_steps=30)
    clock = Clock()
    model = optimize(data, target, search=search, time_limit=0.02)
    assert clock.elapsed < 3.0  # without the time of compiling
    assert model.cost <= model.null_cost
    assert price(data, target, model.partitions) == pytest.approx(model.cost, rel=1e-10)
    if search == "exact":
        assert model.proven != (model.stopped == "time limit")


@pytest.mark.parametrize("looks", [1, 2, 4, 6])
def test_a_proof_that_time_stops_has_a_model_and_says_so(monkeypatch, looks):
    data, target = steps(n=100_000, n_steps=30)
    left = iter(range(looks))
    monkeypatch.setattr(Clock, "is_late", property(lambda clock: next(left, None) is None))
    model = optimize(data, target, search="exact", time_limit=1.0)
    assert (model.stopped, model.proven) == ("time limit", False)
    assert model.cost <= model.null_cost
    assert price(data, target, model.partitions) == pytest.approx(model.cost, rel=1e-10)


@pytest.mark.parametrize("time_limit", [1000, math.inf])
def test_enough_time_changes_nothing(time_limit):
    data, target = steps()
    free, limited = optimize(data, target), optimize(data, target, time_limit=time_limit)
    assert (limited.cost, limited.proven, limited.stopped) == (free.cost, True, None)


@pytest.mark.parametrize("time_limit", [-1, -1e-9, math.nan, "1", True])
def test_time_limits_that_mean_nothing(time_limit):
    with pytest.raises(ValueError, match="time_limit must be a number of seconds, 0 or more"):
        optimize(np.arange(10.0), STEP, time_limit=time_limit)


def test_compiling_does_not_count_for_a_time_limit(monkeypatch):
    monkeypatch.setattr(clocks, "_compiled", clocks._Compiled(0.0, None))
    clock = Clock(time_limit=5.0)
    assert not clock.is_late
    clock.begun -= 20.0
    assert clock.is_late
    monkeypatch.setattr(clocks, "_compiled", clocks._Compiled(16.0, None))
    assert not clock.is_late
    assert 4.0 <= clock.elapsed < 5.0
    later = Clock(time_limit=5.0)
    later.begun -= 20.0
    assert later.is_late  # that was before it began


# Progress and Ctrl-C.


@pytest.mark.parametrize(
    ("criterion", "search", "expected"),
    [
        ("modl", "exact", ["proof"]),
        ("modl", "merge", ["merge", "post-optimization"]),
        ("g2", "exact", ["merge", "post-optimization", "proof"]),
    ],
)
def test_progress_is_told_to_a_callable(criterion, search, expected):
    """A criterion that is a sum of terms is proven without a merge before."""
    told = []
    # Too many bounds to price all pairs first.
    model = optimize(*steps(n=2_000), criterion=criterion, search=search, progress=told.append)
    assert all(isinstance(record, Progress) for record in told)
    names = list(dict.fromkeys(record.step for record in told if record.step != "compiling"))
    assert names == expected
    elapsed = [record.elapsed for record in told]
    assert elapsed == sorted(elapsed)
    assert 0.0 < elapsed[-1] <= model.elapsed
    merged = [record.share for record in told if record.step == "merge"]
    assert merged == sorted(merged)
    assert not merged or merged[-1] > 0.9
    assert all(record.share is None for record in told if record.step == "post-optimization")


def test_progress_changes_no_result():
    data, target = steps()
    assert optimize(data, target, progress=lambda record: None).cost == optimize(data, target).cost


@pytest.mark.parametrize("progress", [1, "yes", []])
def test_progress_that_means_nothing(progress):
    with pytest.raises(TypeError, match="progress must be True, False, None or a callable"):
        optimize(np.arange(10.0), STEP, progress=progress)


@pytest.mark.parametrize(
    ("criterion", "search", "step"),
    [
        ("modl", "merge", "merge"),
        ("modl", "merge", "post-optimization"),
        ("modl", "exact", "proof"),
        ("g2", "exact", "merge"),
        ("g2", "exact", "post-optimization"),
        ("g2", "exact", "proof"),
    ],
)
def test_ctrl_c_returns_the_best_so_far(criterion, search, step):
    def interrupt(record):
        if record.step == step:
            raise KeyboardInterrupt

    data, target = steps(n=2_000)
    model = optimize(data, target, search=search, criterion=criterion, progress=interrupt)
    assert model.stopped == "interrupted"
    assert not model.proven
    assert model.cost <= model.null_cost
    assert price(data, target, model.partitions, criterion=criterion) == pytest.approx(model.cost, rel=1e-10)
    assert "stopped: interrupted" in model.summary()
    if step == "proof" and criterion == "g2":  # whose proof comes after the merge
        assert model.cost <= optimize(data, target, search="merge", criterion=criterion).cost


def test_ctrl_c_ends_the_whole_search():
    told = []

    def interrupt(record):
        if record.step != "compiling":
            told.append(record)
            raise KeyboardInterrupt

    optimize(*steps(), search="exact", progress=interrupt)
    assert len(told) == 1


def test_other_errors_of_a_progress_callable_are_not_swallowed():
    def fail(record):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        optimize(*steps(), progress=fail)


# What must not matter.


def row_lists(n_classes=3):
    row = st.tuples(st.integers(-4, 4), st.integers(0, n_classes - 1), st.integers(1, 3))
    return st.lists(row, min_size=2, max_size=24)


@given(row_lists(), st.randoms(use_true_random=False), st.sampled_from(["exact", "merge"]))
@settings(max_examples=60, deadline=None)
def test_order_of_rows_does_not_matter(rows, random, search):
    shuffled = random.sample(rows, len(rows))
    (x, y, w), (x2, y2, w2) = (np.array(r).T for r in (rows, shuffled))
    model, other = optimize(x, y, weights=w, search=search), optimize(x2, y2, weights=w2, search=search)
    assert other.cost == model.cost
    assert only(other).bounds.tolist() == only(model).bounds.tolist()
    assert only(other).counts.tolist() == only(model).counts.tolist()


@given(row_lists(4), st.permutations("abcd"), st.sampled_from(["modl", "gini", "g2"]))
@settings(max_examples=60, deadline=None)
def test_names_of_classes_do_not_matter(rows, names, criterion):
    x, y, _ = np.array(rows).T
    model = optimize(x, y, search="exact", criterion=criterion)
    other = optimize(x, np.array(names)[y], search="exact", criterion=criterion)
    assert other.cost == pytest.approx(model.cost, rel=1e-12, abs=1e-12)
    assert other.null_cost == pytest.approx(model.null_cost, rel=1e-12, abs=1e-12)


@given(row_lists(2), st.floats(-5, 5))
@settings(max_examples=60, deadline=None)
def test_order_of_rows_and_classes_does_not_matter_for_prices(rows, bound):
    x, y, w = np.array(rows).T
    forward = price(x, y, {"x0": [bound]}, weights=w)
    backward = price(x[::-1], 1 - y[::-1], {"x0": [bound]}, weights=w[::-1])
    assert backward == pytest.approx(forward, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("criterion", ["modl", "entropy", "g2"])
@pytest.mark.parametrize("search", SEARCHES)
def test_same_input_same_result_to_the_bit(criterion, search):
    data, target = steps(3)
    models = [optimize(data, target, criterion=criterion, search=search, random_state=s) for s in (0, 0, 1, None)]
    assert len({model.cost for model in models}) == 1
    assert len({only(model).bounds.tobytes() for model in models}) == 1


@pytest.mark.parametrize("writeable", [True, False])
def test_inputs_are_left_alone(writeable):
    data = np.array([np.nan, -0.0, *range(2, 10)], dtype=float)
    large, target, weights = np.arange(2**60, 2**60 + 10), np.array(STEP), np.array([0, 1, 2, 3, 4] * 2)
    bounds = np.array([3.5])
    inputs = [data, large, target, weights, bounds]
    before = [array.tobytes() for array in inputs]
    for array in inputs:
        array.flags.writeable = writeable
    for column in (data, large, data[:, None], data[::-1], np.asfortranarray(np.c_[data, data])[:, :1]):
        model = optimize(column, target, weights=weights)
        model.transform(column)
        only(model).part_of(column)
        price(column, target, {"x0": bounds}, weights=weights)
    assert [array.tobytes() for array in inputs] == before


def test_model_shares_no_memory_with_its_input():
    data, target = np.arange(10.0), np.array(STEP)
    model = optimize(data, target)
    data[:], target[:] = 0.0, 0
    assert only(model).bounds.tolist() == [4.5]
    assert model.classes.tolist() == [0, 1]


def test_strides_do_not_matter():
    data, target = steps()
    wide = np.c_[data, data, target]
    model, other = optimize(data, target), optimize(wide[:, 1], wide[:, 2])
    assert other.cost == model.cost
    assert only(other).bounds.tolist() == only(model).bounds.tolist()


# Prices.


@pytest.mark.parametrize("criterion", list_criteria("classes"))
def test_model_costs_the_price_of_its_own_bounds(criterion):
    data, target = steps(5, n=120)
    data[::11], data[1::13], data[2::17] = np.nan, np.inf, -np.inf
    model = optimize(data, target, criterion=criterion)
    bounds = as_given(only(model))
    assert price(data, target, {"x0": np.array(bounds)}, criterion=criterion) == pytest.approx(model.cost, rel=1e-10)
    assert price(data, target, {"x0": bounds}, criterion=criterion) == pytest.approx(model.cost, rel=1e-10)
    assert price(data, target, model.partitions, criterion=criterion) == pytest.approx(model.cost, rel=1e-10)
    assert price(data, target, {}, criterion=criterion) == pytest.approx(model.null_cost, rel=1e-10)


def test_price_takes_options_of_a_criterion():
    data, target = steps()
    criterion = get_criterion("entropy", alpha=2.0, beta=0.5)
    model = optimize(data, target, criterion=criterion)
    assert model.options == {"alpha": 2.0, "beta": 0.5}
    assert price(data, target, model.partitions, criterion=criterion) == pytest.approx(model.cost, rel=1e-12)
    assert price(data, target, model.partitions, criterion="entropy") != pytest.approx(model.cost, rel=1e-3)


def test_price_of_intervals_without_a_row():
    data = np.arange(10.0)
    wanted = price(data, STEP, {"x0": [4.5]})
    for bounds in ([4.0, 4.5], [-7.0, 4.5], [4.5, 9.0], [4.5, 99.0], [-np.inf, 4.5, np.inf], [np.nan, 4.5]):
        assert price(data, STEP, {"x0": bounds}) == wanted


def test_price_of_a_value_on_a_bound_belongs_below():
    data = np.arange(10.0)
    assert price(data, STEP, {"x0": [4]}) == price(data, STEP, {"x0": [4.5]})
    assert price(data, STEP, {"x0": [np.nextafter(4, 0)]}) == price(data, STEP, {"x0": [3.5]})


def test_price_with_missing_values_apart_and_joined():
    data = np.array([np.nan] * 5 + list(range(5)), dtype=float)
    apart, joined = price(data, STEP, {"x0": [np.nan]}), price(data, STEP, {"x0": []})
    shifted = np.where(np.isnan(data), -9.0, data)
    assert apart == price(shifted, STEP, {"x0": [-1.0]})
    assert joined == price(shifted, STEP, {})
    assert price(data, STEP, {"x0": [np.nan, 2.5]}) == price(shifted, STEP, {"x0": [-1.0, 2.5]})
    assert price(data, STEP, {"x0": [2.5]}) == price(shifted, STEP, {"x0": [2.5]})
    assert price(data, STEP, {"x0": [None, 2.5]}) == price(data, STEP, {"x0": [np.nan, 2.5]})


@pytest.mark.parametrize("bounds", [[2.0, 1.0], [1.0, 1.0], [1.0, np.nan], [np.nan, np.nan], [3, 2], [np.inf, 0.0]])
def test_price_of_bounds_that_do_not_ascend(bounds):
    with pytest.raises(ValueError, match="the bounds of 'x0' must ascend"):
        price(np.arange(10.0), STEP, {"x0": bounds})


@pytest.mark.parametrize("bounds", ["ab", ["a"], [[1.0], [2.0]], [True], [1j], None, [[1.0], [2.0, 3.0]]])
def test_price_of_bounds_that_are_no_numbers(bounds):
    with pytest.raises(TypeError, match="the bounds of 'x0' must be a list of numbers"):
        price(np.arange(10.0), STEP, {"x0": bounds})


def test_price_of_a_column_that_is_not_there():
    with pytest.raises(ValueError, match="partitions names column 'x1'; the data has 'x0'"):
        price(np.arange(10.0), STEP, {"x1": [1.0]})


@pytest.mark.parametrize("partitions", [[], [4.5], 4.5, None])
def test_price_of_partitions_without_names(partitions):
    with pytest.raises((TypeError, ValueError), match="partitions"):
        price(np.arange(10.0), STEP, partitions)


def test_price_of_more_parts_than_values_allow():
    data = np.arange(10.0)
    finest = price(data, STEP, {"x0": data[:-1]})
    assert price(data, STEP, {"x0": np.arange(-50.0, 50.0, 0.25)}) == finest


# Importing.


def run(code):
    root = str(Path(gridmodl.__file__).parents[1])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_is_light():
    heavy = ["numba", "pandas", "sklearn", "matplotlib", "numpy", "scipy", "pluggy", "narwhals"]
    assert run(f"import sys, gridmodl; print([m for m in {heavy} if m in sys.modules])").strip() == "[]"


def test_one_model_needs_no_heavy_library():
    heavy = ["pandas", "sklearn", "matplotlib", "polars", "pyarrow"]
    code = "import sys, gridmodl; gridmodl.optimize([1, 2], [0, 1]); gridmodl.optimize(['a', 'b'], [0, 1]).summary()"
    code += f"; print([m for m in {heavy} if m in sys.modules])"
    assert run(code).strip() == "[]"


def test_public_names_are_there_and_listed():
    assert set(dir(gridmodl)) >= set(gridmodl.__all__)
    for name in gridmodl.__all__:
        assert getattr(gridmodl, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'optimise'"):
        _ = gridmodl.optimise


def test_public_names_are_there_without_sources(tmp_path):
    package = tmp_path / "gridmodl"
    package.mkdir()
    py_compile.compile(gridmodl.__file__, cfile=str(package / "__init__.pyc"), doraise=True)
    shutil.make_archive(str(package), "zip", tmp_path, "gridmodl")
    for path in (tmp_path, f"{package}.zip"):
        code = (
            f"import sys; sys.path.insert(0, {str(path)!r}); import gridmodl; print(gridmodl.__file__, *dir(gridmodl))"
        )
        file, *names = run(code).split()
        assert file.startswith(str(path))
        assert names == dir(gridmodl)


def test_as_many_classes_as_rows_is_a_clear_error_before_memory_fills():
    n = 20_000
    with pytest.raises(ValueError, match="20000 classes"):
        gridmodl.optimize(np.arange(n, dtype=float), np.arange(n), target_kind="classes")


INTERRUPTED = """
import os, signal, threading
import numpy as np, gridmodl
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell ignores it
rng = np.random.default_rng(0)
x, y = rng.random(60_000), rng.integers(-1, 2, 60_000)
given = dict(unlabelled=-1, search="exact")  # quadratic
gridmodl.optimize(x[:50], y[:50], **given)
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
model = gridmodl.optimize(x, y, **given)
print(model.stopped, model.proven, model.cost <= model.null_cost)
"""


def test_a_real_interrupt_returns_the_best_model_so_far():
    environment = os.environ | {"GRIDMODL_COMPILE": "always"}  # in the first call, not when the interrupt comes
    command = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert done.stdout.split() == ["interrupted", "False", "True"], done.stderr


def test_the_signature_is_the_promised_one():
    import inspect

    parameters = inspect.signature(gridmodl.optimize).parameters
    assert {name: p.default for name, p in parameters.items() if p.default is not p.empty} == {
        "target": None, "criterion": "modl", "search": "auto", "weights": None, "kinds": None, "order": None,
        "target_kind": None, "unlabelled": NOT_GIVEN, "placement": None, "event": None, "special": None,
        "missing": "auto", "monotone": None, "max_parts": None, "min_rows": None, "min_events": None,
        "min_difference": None, "fixed": None, "allowed": None, "stable_over": None,
        "min_period_rows": None, "time_limit": None, "random_state": 0, "n_jobs": 1, "progress": None,
    }  # fmt: skip
    assert [name for name, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD] == ["data", "target"]


def test_bounds_of_any_float_type_are_priced():
    x, y = [1.0, np.nan, 3.0, np.inf], [0, 0, 1, 1]
    assert price(x, y, {"x0": np.float32([2.5])}) == price(x, y, {"x0": [2.5]})
