"""Every column on its own: the same as alone, in order of level, whatever the threads; a bad one loses no others."""

from __future__ import annotations

import datetime
import math
import subprocess
import sys
import threading
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import gridmodl
from gridmodl import ColumnWarning, Model, Models, optimize, optimize_each
from gridmodl.clock import Progress

STEP = [0] * 5 + [1] * 5


def mixed(n=400, seed=1, n_classes=2):
    """Columns of all kinds, informative and not, and a target."""
    rng = np.random.default_rng(seed)
    target = rng.integers(0, n_classes, n)
    noisy = np.where(rng.random(n) < 0.3, rng.integers(0, n_classes, n), target)
    sharp = target * 2.0 + rng.normal(size=n)
    sharp[rng.random(n) < 0.1] = np.nan
    codes = np.where(rng.random(n) < 0.2, -999, rng.integers(18, 90, n))
    towns = np.array(["Rom", "Ulm", "Bern", "Oslo", "Paris", None], dtype=object)
    return pd.DataFrame(
        {
            "noise": rng.normal(size=n),
            "town": towns[(noisy * 3 + rng.integers(0, 3, n)) % 6],
            "sharp": sharp,
            "age": codes,
            "flag": noisy > 0,
            "day": np.datetime64("2020-01-01") + (noisy * 100 + rng.integers(0, 200, n)),
            "constant": np.ones(n),
        }
    ), np.array(["a", "b", "c"])[target]


def facts(model):
    """All of a model but the time it took, to the bit."""
    (partition,) = model.partitions.values()
    return (
        model.cost, model.null_cost, model.criterion, model.n_rows, model.classes.tolist(), model.proven, model.search,
        model.stopped, partition.name, partition.kind, partition.counts.tolist(), partition.bounds.tobytes(),
        str(partition.bounds.dtype), partition.groups, partition.missing, partition.special.tolist(), partition.default,
    )  # fmt: skip


def all_facts(models):
    return [(name, facts(model)) for name, model in models.items()]


@pytest.fixture(scope="module")
def table():
    return mixed()


@pytest.fixture(scope="module")
def models(table):
    return optimize_each(*table)


# What is found.


def test_each_model_is_that_of_the_column_alone(table, models):
    data, target = table
    assert set(models) == set(data.columns)
    for name in data.columns:
        assert facts(models[name]) == facts(optimize(data[[name]], target))


@pytest.mark.parametrize("options", [{"search": "merge"}, {"criterion": "gini"}, {"max_parts": 2}, {"min_rows": 0.2}])
def test_options_hold_for_each_column(table, options):
    data, target = table
    models = optimize_each(data, target, **options)
    for name in data.columns:
        assert facts(models[name]) == facts(optimize(data[[name]], target, **options))


def test_three_classes():
    data, target = mixed(n_classes=3)
    models = optimize_each(data, target)
    for name in data.columns:
        assert facts(models[name]) == facts(optimize(data[[name]], target))
    assert models["sharp"].level > 0


def test_columns_are_in_order_of_level(models):
    levels = [model.level for model in models.values()]
    assert levels == sorted(levels, reverse=True)
    assert levels[0] > levels[1] > 0
    assert levels[-1] == 0.0


def test_columns_of_equal_level_stay_in_order():
    rng = np.random.default_rng(2)
    noise = {f"n{i}": rng.normal(size=60) for i in (3, 1, 2)}
    informative = np.arange(60.0)
    data = {"n9": noise["n3"], "twin2": informative, "n1": noise["n1"], "twin1": -informative, "n2": noise["n2"]}
    models = optimize_each(data, np.arange(60) // 30)
    assert models["twin1"].level == models["twin2"].level > 0
    assert [model.level for model in models.values()][2:] == [0.0] * 3
    assert list(models) == ["twin2", "twin1", "n9", "n1", "n2"]


@pytest.mark.parametrize("n_jobs", [1, 2, 5, -1])
def test_threads_change_nothing_to_the_bit(table, models, n_jobs):
    assert all_facts(optimize_each(*table, n_jobs=n_jobs)) == all_facts(models)


def test_threads_give_back_the_first_of_many_narrow_columns():
    rng = np.random.default_rng(3)
    data, target = rng.integers(0, 9, (200, 60)).astype(float), rng.integers(0, 2, 200)
    one, two = (optimize_each(data, target, n_jobs=n) for n in (1, 4))
    assert all_facts(one) == all_facts(two)
    assert len(one) == 60


def test_weights_are_rows_in_mixed_columns(table):
    data, target = table
    weights = np.arange(len(data)) % 3
    weighted = optimize_each(data, target, weights=weights)
    repeated = optimize_each(data.loc[data.index.repeat(weights)], np.repeat(target, weights))
    assert all_facts(weighted) == all_facts(repeated)
    assert weighted["town"].n_rows == weights.sum()


def test_order_of_columns_does_not_matter(table, models):
    data, target = table
    other = optimize_each(data[list(data.columns)[::-1]], target)
    for name in data.columns:
        assert facts(other[name]) == facts(models[name])


def test_kinds_and_special_codes_of_several_columns(table):
    data, target = table
    options = {"kinds": {"flag": "numerical", "age": "numerical"}, "special": {"age": [-999], "sharp": [0.0, 1.0]}}
    models = optimize_each(data, target, **options)
    assert models["flag"].partitions["flag"].kind == "numerical"
    assert models["age"].partitions["age"].special.tolist() == [-999.0]
    assert models["sharp"].partitions["sharp"].special.tolist() == [0.0, 1.0]
    assert models["noise"].partitions["noise"].special.tolist() == []
    for name in ("age", "sharp"):
        alone = optimize(data[[name]], target, special={name: options["special"][name]})
        assert facts(models[name]) == facts(alone)


def test_text_as_a_code_of_numbers_loses_that_column_only(table):
    data, target = table
    with pytest.warns(ColumnWarning, match=r"column 'age' has no model: .* must be a list of numbers or dates"):
        models = optimize_each(data, target, special={"town": ["Rom"], "age": ["none"]})
    assert set(models.errors) == {"age"}
    assert len(models) == 6


def test_monotone_holds_for_the_numerical_columns(table, models):
    data, target = table
    rising = optimize_each(data, target, monotone="increasing")
    assert not rising.errors
    for name in data.columns:
        (partition,) = rising[name].partitions.values()
        if partition.kind == "categorical":
            assert facts(rising[name]) == facts(models[name])
        else:
            assert facts(rising[name]) == facts(optimize(data[[name]], target, monotone="increasing"))
            intervals = partition.counts[int(partition.labels[0] == "missing") :]
            assert np.all(np.diff(intervals[:, 1] / intervals.sum(axis=1)) >= 0)


@pytest.mark.parametrize("what", ["kinds", "special"])
def test_names_of_columns_that_are_not_there(table, what):
    data, target = table
    with pytest.raises(ValueError, match=f"{what} names column 'length'; the data has 'noise', 'town', 'sharp'"):
        optimize_each(data, target, **{what: {"length": "numerical" if what == "kinds" else [1]}})


def test_many_columns_are_not_all_listed():
    data = {f"c{i}": STEP for i in range(50)}
    with pytest.raises(ValueError, match=r"'c18', 'c19', \.\.\.$"):
        optimize_each(data, STEP, kinds={"x": "numerical"})


def test_one_column_is_enough():
    models = optimize_each(np.arange(10.0), STEP)
    assert list(models) == ["x0"]
    assert facts(models["x0"]) == facts(optimize(np.arange(10.0), STEP))


def test_columns_of_an_array_are_numbered():
    assert set(optimize_each(np.zeros((10, 3)), STEP)) == {"x0", "x1", "x2"}


# Bad columns.


def bad(**columns):
    return {"good": np.arange(10.0), **columns, "text": list("aaaaabbbbb")}


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([[1]] * 10),
        pl.Series([[1]] * 10),
        np.array([1, "a"] * 5, dtype=object),
        np.array([datetime.date(2020, 1, 1), 3] * 5, dtype=object),
        [2**70 + i for i in range(10)],
        pd.Series(pd.period_range("2020", periods=10)),
        pa.array([{"a": 1}] * 10),
    ],
    ids=["lists", "polars lists", "mixed", "mixed dates", "huge", "periods", "structs"],
)
def test_one_bad_column_does_not_lose_the_others(column):
    with pytest.warns(ColumnWarning, match=r"column 'bad' has no model: it (?!.*column 'bad')") as warned:
        models = optimize_each(bad(bad=column), STEP)
    assert len(warned) == 1
    assert warned[0].filename == __file__
    assert list(models) == ["text", "good"]
    assert list(models.errors) == ["bad"]
    assert isinstance(models.errors["bad"], TypeError)
    assert facts(models["good"]) == facts(optimize({"good": np.arange(10.0)}, STEP))
    assert "bad: no model; column 'bad'" in models.summary()
    assert repr(models) == "Models(2 columns, 1 without)"
    assert "bad" not in models
    with pytest.raises(KeyError, match="column 'bad' has no model"):
        models["bad"]


def test_bad_columns_may_be_passed_over_or_raised():
    mixture = np.array([1, "a"] * 5, dtype=object)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        models = optimize_each(bad(bad=mixture), STEP, on_error="ignore")
    assert (list(models), list(models.errors)) == (["text", "good"], ["bad"])
    with pytest.raises(TypeError, match="column 'bad' mixes numbers with other things"):
        optimize_each(bad(bad=mixture), STEP, on_error="raise")
    with pytest.raises(ValueError, match="on_error must be one of 'warn', 'ignore', 'raise', got 'skip'"):
        optimize_each(bad(), STEP, on_error="skip")


def test_several_bad_columns_are_each_named():
    mixture = np.array([1, "a"] * 5, dtype=object)
    with pytest.warns(ColumnWarning) as warned:
        models = optimize_each(bad(bad1=mixture, bad2=mixture), STEP)
    assert [str(warning.message).split()[1] for warning in warned] == ["'bad1'", "'bad2'"]
    assert len(models) == 2


def test_nothing_but_bad_columns():
    mixture = np.array([1, "a"] * 5, dtype=object)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError, match=r"column 'a' mixes numbers with other things"):
            optimize_each({"a": mixture, "b": mixture}, STEP)


def test_what_holds_for_all_columns_is_an_error_at_once():
    with pytest.raises(ValueError, match="unknown criterion"):
        optimize_each(bad(), STEP, criterion="midl")
    with pytest.raises(ValueError, match="target has 1 missing"):
        optimize_each(bad(), [*STEP[:9], None])
    with pytest.raises(ValueError, match="max_parts must be at least 1"):
        optimize_each(bad(), STEP, max_parts=0)
    with pytest.raises(ValueError, match="unknown search"):
        optimize_each(bad(), STEP, search="greedy")
    for n_jobs in (0, -2):
        with pytest.raises(ValueError, match="n_jobs must be a number of threads, or -1 for all"):
            optimize_each(bad(), STEP, n_jobs=n_jobs)
    with pytest.raises(TypeError, match="n_jobs must be a whole number"):
        optimize_each(bad(), STEP, n_jobs=None)


def test_monotone_of_one_class_is_an_error_at_once():
    """It is the target that does not fit, not a column."""
    with pytest.raises(ValueError, match=r"monotone= compares the shares of a class.* has one class"):
        optimize_each(bad(), ["a"] * 10, monotone="auto")


def test_unknown_names():
    models = optimize_each(bad(), STEP)
    with pytest.raises(KeyError, match=f"no column 'other'; there are models of {', '.join(map(repr, models))}"):
        models["other"]


# Time, interruption, progress.


def test_no_time_at_all_gives_null_models(table):
    models = optimize_each(*table, time_limit=0)
    assert list(models) == list(table[0].columns)
    for name, model in models.items():
        (partition,) = model.partitions.values()
        assert partition.n_parts == 1
        assert model.cost == model.null_cost
        assert not model.proven or name == "constant"
        assert model.stopped == "time limit" or name == "constant"


def test_enough_time_changes_nothing(table, models):
    assert all_facts(optimize_each(*table, time_limit=1000)) == all_facts(models)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_counts_the_columns(table, models, n_jobs):
    told = []
    found = optimize_each(*table, n_jobs=n_jobs, progress=told.append)
    told = [record for record in told if record.step != "compiling"]
    assert all(isinstance(record, Progress) and record.step == "columns" for record in told)
    assert [record.share for record in told] == pytest.approx([(i + 1) / 7 for i in range(7)])
    assert [record.elapsed for record in told] == sorted(record.elapsed for record in told)
    assert all_facts(found) == all_facts(models)


def test_progress_is_told_in_the_users_own_thread(table):
    threads = set()
    optimize_each(*table, n_jobs=2, progress=lambda record: threads.add(threading.current_thread()))
    assert threads == {threading.current_thread()}


def wide(n_columns=12, n=20_000):
    rng = np.random.default_rng(5)
    data = rng.normal(size=(n, n_columns))
    return data, (data[:, 0] + rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_returns_what_there_is(n_jobs):
    data, target = wide()
    optimize_each(data[:50, :1], target[:50])  # compiled before

    def interrupt(record):
        raise KeyboardInterrupt

    models = optimize_each(data, target, n_jobs=n_jobs, search="merge", progress=interrupt)
    assert len(models) == 12
    assert not models.errors
    stopped = [model.stopped for model in models.values()]
    assert set(stopped) == {None, "interrupted"}
    assert stopped.count("interrupted") >= 5
    for name, model in models.items():
        assert model.cost <= model.null_cost
        if model.stopped is None:
            assert model.cost == optimize(data[:, int(name[1:])], target, search="merge").cost


def test_other_errors_of_a_progress_callable_are_not_swallowed(table):
    before = threading.active_count()

    def fail(record):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        optimize_each(*table, progress=fail)
    assert threading.active_count() == before


INTERRUPTED = """
import os, signal, threading
import numpy as np, gridmodl
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell ignores it
rng = np.random.default_rng(0)
x, y = rng.random((60_000, 4)), rng.integers(-1, 2, 60_000)
given = dict(unlabelled=-1, search="exact")  # quadratic
gridmodl.optimize_each(x[:50], y[:50], **given)
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
models = gridmodl.optimize_each(x, y, **given, n_jobs=2)
print(len(models), *{model.stopped for model in models.values()}, any(model.proven for model in models.values()))
"""


def test_a_real_interrupt_returns_what_there_is():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split() == ["4", "interrupted", "False"], done.stderr


# What is returned.


def test_models_are_a_mapping(models):
    assert isinstance(models, Models)
    assert len(models) == 7
    assert "town" in models
    assert "Town" not in models
    assert dict(models)["town"] is models["town"]
    assert all(isinstance(model, Model) for model in models.values())
    assert models.errors == {}
    assert repr(models) == "Models(7 columns)"


def test_table_of_columns(models):
    table = models.table()
    assert isinstance(table, pd.DataFrame)
    assert list(table.columns) == [
        "column", "kind", "parts", "level", "cost", "null_cost", "proven", "gap", "missing", "event", "iv", "gini", "ks"
    ]  # fmt: skip
    assert table["column"].tolist() == list(models)
    for row in table.to_dict("records"):
        model = models[row["column"]]
        (partition,) = model.partitions.values()
        assert (row["kind"], row["parts"]) == (partition.kind, partition.n_parts)
        assert (row["level"], row["cost"], row["null_cost"]) == (model.level, model.cost, model.null_cost)
        assert row["proven"] == model.proven


@pytest.mark.parametrize(
    ("frame", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table), ("arrays", dict)]
)
def test_kinds_of_tables(models, frame, kind):
    table = models.table(frame)
    assert isinstance(table, kind)
    columns = table.to_dict(as_series=False) if frame == "polars" else None
    columns = table.to_pydict() if frame == "pyarrow" else columns
    columns = columns or {name: list(table[name]) for name in table}
    assert list(columns["column"]) == list(models)
    assert columns["parts"] == [next(iter(model.partitions.values())).n_parts for model in models.values()]


def test_unknown_kind_of_table(models):
    with pytest.raises(ValueError, match="spark-frame"):
        models.table("spark-frame")


def test_summary_lists_the_columns_in_order(models):
    lines = models.summary().splitlines()
    assert lines[0].split() == ["column", "kind", "parts", "level", "iv", "proven"]
    assert lines.pop() == f"  event: {models.event}"
    assert [line.split()[0] for line in lines[1:]] == list(models)
    first = models[next(iter(models))]
    assert f"{first.level:.4f}" in lines[1]
    assert len({len(line) for line in lines}) == 1


def test_summary_of_many_columns_is_cut():
    models = optimize_each({f"c{i}": STEP for i in range(130)}, STEP)
    lines = models.summary().splitlines()
    assert len(lines) < 130
    assert f"and {130 - (len(lines) - 3)} more columns" in lines[-2]


def test_the_signature_is_that_of_optimize():
    import inspect

    one, each = (inspect.signature(call).parameters for call in (optimize, optimize_each))
    assert list(each) == [*one, "on_error", "partitions"]
    defaults = {name: each[name].default for name in one if each[name].default != one[name].default}
    assert defaults == {"n_jobs": -1}
    assert each["on_error"].default == "warn"
    assert all(each[name].kind == one[name].kind for name in one)


def test_a_model_knows_only_its_own_column(models, table):
    data, _ = table
    parts = models["town"].transform(data)
    assert parts.shape == (400, 1)
    with pytest.raises(ValueError, match=r"the model needs column 'town'; the data has 'noise', 'sharp'"):
        models["town"].transform(data[["noise", "sharp"]])
    assert math.isclose(models["town"].cost, gridmodl.price(data[["town"]], table[1], models["town"].partitions))


def test_the_most_informative_come_first_where_the_null_cost_is_0():
    rng = np.random.default_rng(0)
    data = {"noise": rng.normal(size=300), "clear": np.arange(300.0)}
    assert list(optimize_each(data, [0] * 150 + [1] * 150, criterion="g2")) == ["clear", "noise"]


def test_a_list_of_mixed_things_does_not_lose_the_others():
    data, target = {"mixed": ["a", 1] * 10, "good": np.arange(20.0)}, [0] * 10 + [1] * 10
    models = optimize_each(data, target, on_error="ignore")
    assert list(models) == ["good"]
    assert "mixes numbers with other things" in str(models.errors["mixed"])
