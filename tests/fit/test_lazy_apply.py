"""Apply models of all kinds to lazy frames: the same numbers as in memory, and nothing collected."""

from __future__ import annotations

import duckdb
import numpy as np
import polars as pl
import pytest
from oracles.lazy_frames import ENGINES, collect, mixed

from gridmodl import GridLogistic, GridNaiveBayes, average_each, optimize, optimize_each
from gridmodl.model.lazy import parts


def unseen(data):
    """The data with categories and missing values that training did not have."""
    return data.with_columns(
        text=pl.when(pl.col("flag")).then(pl.lit("new")).otherwise(pl.col("text")),
        flag=pl.when(pl.col("real") > 1).then(None).otherwise(pl.col("flag")),
        day=pl.when(pl.col("real") < -1).then(None).otherwise(pl.col("day")),
    )


@ENGINES
@pytest.mark.parametrize(
    ("columns", "options"),
    [
        (["real", "whole", "text", "flag", "day", "moment"], {}),
        (["flag", "text", "day"], {}),
        (["real", "text"], {"special": {"real": [-999, -5]}}),
        (["real"], {"special": [-999, -5]}),
        (["text"], {}),
        (["text"], {"target_kind": "grouped"}),
        (["real", "text"], {"target_kind": "grouped"}),
    ],
)
def test_classes(engine, columns, options):
    data = mixed(1500)
    model, new = optimize(data.select(*columns, "y"), "y", **options), unseen(data)
    for policy in ({}, {"unknown": "largest"}):
        found = collect(model.predict_proba(engine(new), **policy))
        assert found.columns == ["p_no", "p_yes"]
        np.testing.assert_array_equal(found.to_numpy(), model.predict_proba(new, **policy))
    np.testing.assert_array_equal(collect(model.predict(engine(new)))["prediction"], model.predict(new))
    expected = np.asarray(model.transform(new)).reshape(len(new), -1)
    np.testing.assert_array_equal(collect(model.transform(engine(new))).to_numpy(), expected)


@ENGINES
@pytest.mark.parametrize("columns", [["real"], ["text"], ["real", "text"]])
def test_numerical_targets(engine, columns):
    data = mixed(1000).with_columns(z=pl.col("moment").dt.second() + pl.col("day").dt.day() / 7)
    model, new = optimize(data.select(*columns, "z"), "z"), unseen(data)
    found, expected = collect(model.predict(engine(new), coverage=0.8)), model.predict(new, coverage=0.8)
    assert tuple(found.columns) == expected._fields
    for name, values in expected._asdict().items():
        np.testing.assert_array_equal(found[name], values)


@ENGINES
def test_tables_of_models(engine):
    data = mixed(1000).drop("w", "price")
    models, new = optimize_each(data, "y"), unseen(data)
    found, expected = collect(models.predict_proba(engine(new))), models.predict_proba(new)
    for name, shares in expected.items():
        np.testing.assert_array_equal(found.select(f"{name}_p_no", f"{name}_p_yes").to_numpy(), shares)


@ENGINES
def test_averages(engine):
    rng = np.random.default_rng(0)
    data = mixed(1500).with_columns(
        level=pl.when(pl.col("flag")).then(pl.lit("high")).otherwise(pl.lit("low")),
        smooth=pl.Series(rng.normal(size=1500)) + (pl.col("y") == "yes"),
    )
    chosen = data.select("real", "smooth", "whole", "level", "y")
    options = {"special": {"real": [-999, -77]}, "order": {"level": ["low", "middle", "high"]}}
    averages = average_each(chosen, "y", **options)
    new = data.with_columns(
        level=pl.when(pl.col("flag")).then(None).otherwise(pl.lit("middle")), smooth=pl.col("smooth") * 1.37
    )
    found, expected = collect(averages.predict_proba(engine(new))), averages.predict_proba(new)
    for name, shares in expected.items():
        np.testing.assert_array_equal(found.select(f"{name}_p_no", f"{name}_p_yes").to_numpy(), shares)
    found, expected = collect(averages.transform(engine(new))), averages.transform(new)
    assert found.columns == expected.columns
    np.testing.assert_allclose(found.to_numpy(), expected.to_numpy(), atol=1e-14)
    one = averages["smooth"]
    np.testing.assert_array_equal(collect(one.predict_proba(engine(new))).to_numpy(), one.predict_proba(new["smooth"]))


@ENGINES
def test_evidence(engine):
    data = mixed(1000)
    inputs = data.select("whole", "text", "flag", "moment").with_columns(pl.col("moment").dt.second())
    for estimator in (GridNaiveBayes(), GridLogistic()):
        model = estimator.fit(inputs.to_pandas(), data["y"].to_numpy()).evidence_
        new = inputs.with_columns(text=pl.when(pl.col("flag")).then(pl.lit("new")).otherwise(pl.col("text")))
        np.testing.assert_allclose(
            collect(model.predict_proba(engine(new))).to_numpy(), model.predict_proba(new), atol=1e-14
        )
        np.testing.assert_array_equal(collect(model.predict(engine(new)))["prediction"], model.predict(new))


def test_nothing_is_collected():
    data = mixed().select("real", "text", "y")
    grid = optimize(data, "y")

    def fail(frame):
        raise AssertionError("collected")

    failing = data.lazy().map_batches(fail, schema=data.schema)
    for apply in (grid.transform, grid.predict_proba, grid.predict, optimize_each(data, "y").predict_proba):
        assert isinstance(apply(failing), pl.LazyFrame)
        assert isinstance(apply(duckdb.connect().from_arrow(data.to_arrow())), duckdb.DuckDBPyRelation)


def test_what_expressions_do_not_hold(monkeypatch):
    data = mixed(1000).select("real", "text", "flag", "day", "y")
    averages = average_each(data.select("day", "y"), "y")
    with pytest.raises(ValueError, match="column 'day' has times, which expressions of lazy frames cannot divide"):
        averages.predict_proba(data.lazy())
    grid = optimize(data.select("real", "text", "y"), "y")
    with pytest.raises(ValueError, match="'text'"):
        grid.predict_proba(data.select("real").lazy())
    monkeypatch.setattr(parts, "MAX_KEYS", 1)
    with pytest.raises(ValueError, match="a lazy frame takes grids of at most 1 combinations of parts"):
        grid.predict_proba(data.lazy())


def test_trees_of_comparisons():
    keys = pl.LazyFrame({"k": list(range(-3, 12))})
    import narwhals as nw

    frame = nw.from_native(keys)
    value = parts.looked_up(nw.col("k"), [5, -1, 6, 9], ["a", "b", "a", "c"], "no")
    found = frame.select(v=value).to_native().collect()
    by_key = {5: "a", -1: "b", 6: "a", 9: "c"}
    assert found["v"].to_list() == [by_key.get(key, "no") for key in range(-3, 12)]
