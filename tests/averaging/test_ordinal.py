"""Averages of ordinal columns: the line of their levels, against trying all partitions."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from averaging.oracle import try_all
from averaging.test_average import assert_same, draw, of_rows, rows_of

from gridmodl import Average, average, average_each, optimize

LEVELS = ["none", "low", "mid", "high", "top", "beyond", "far"]


def sample(seed, n_values=5):
    """Counts by level seen, the levels seen, and the rows: levels in between are not seen."""
    rng = np.random.default_rng(seed)
    counts = draw(seed, n_values=n_values, n_classes=2)
    seen = np.sort(rng.permutation(len(LEVELS))[:n_values])
    at, y = rows_of(counts, seen)
    return counts, seen, [LEVELS[i] for i in at.astype(int)], y


@pytest.mark.parametrize("seed", range(10))
def test_levels_are_averaged_as_a_line(seed):
    counts, seen, x, y = sample(seed)
    found = of_rows({"x": x}, y, order={"x": LEVELS})
    expected = try_all(counts)
    assert_same(found, expected, counts)
    assert found.p_bounds == pytest.approx(expected.p_cuts, abs=1e-12)
    assert found.segments.kind == "ordinal"
    assert found.knots.tolist() == seen.tolist()
    # Slow and obvious: a bound between two levels seen is as likely at one place between them as at another.
    shares = []
    for place in range(len(LEVELS)):
        below, above = seen[seen <= place], seen[seen >= place]
        low, high = (below[-1] if len(below) else seen[0]), (above[0] if len(above) else seen[-1])
        low, high = (high, high) if not len(below) else (low, low) if not len(above) else (low, high)
        p_low, p_high = (expected.shares[np.flatnonzero(seen == end)[0]] for end in (low, high))
        cuts = range(low, high)  # a bound after each of these places
        n_below = sum(cut < place for cut in cuts)
        shares.append(p_low if low == high else (p_low * (len(cuts) - n_below) + p_high * n_below) / len(cuts))
    assert found.predict_proba(LEVELS) == pytest.approx(np.array(shares), abs=1e-12)
    assert found.best.cost == pytest.approx(optimize({"x": x}, y, order={"x": LEVELS}).cost)
    assert found.best.partitions["x"].kind == "ordinal"
    assert {one.partitions["x"].kind for one in found.sample(3)} == {"ordinal"}
    assert found.partition(0.0).partitions["x"].levels == tuple(LEVELS)


def test_numbers_as_levels_say_the_same_as_numbers():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 6, 60), rng.integers(0, 2, 60)
    plain, levels = average({"x": x}, y), average({"x": x}, y, order={"x": range(6)})
    assert levels.log_evidence == plain.log_evidence
    assert levels.loo_loss == plain.loo_loss
    assert np.array_equal(levels.predict_proba(x), plain.predict_proba(x.astype(float)))
    assert np.array_equal(levels.band(x), plain.band(x.astype(float)))
    weighted = average({"x": np.arange(6)}, [0, 1, 0, 1, 1, 0], order={"x": range(6)}, weights=[3, 1, 2, 5, 4, 1])
    numbers = average({"x": np.arange(6)}, [0, 1, 0, 1, 1, 0], weights=[3, 1, 2, 5, 4, 1])
    assert np.array_equal(weighted.shares, numbers.shares)


def test_missing_special_and_unknown_values():
    x = ["low", "low", None, "mid", "high", "n/a", None, "high", "n/a"]
    y = [0, 0, 1, 0, 1, 1, 1, 1, 0]
    found = of_rows({"x": x}, y, order={"x": LEVELS}, special={"x": ["n/a", "top"]})
    counts = [[0, 2], [2, 0], [1, 0], [0, 2]]
    expected = try_all(counts, apart=[[1, 1]])
    assert found.p_missing_apart == pytest.approx(expected.p_cuts[0], abs=1e-12)
    overall = [4 / 9, 5 / 9]
    answers = found.predict_proba([None, "low", "mid", "high", "n/a", "top", "unheard of", "far"])
    assert answers == pytest.approx(
        np.vstack([expected.shares, [[0.5, 0.5], overall, overall, expected.shares[-1]]]), abs=1e-12
    )
    assert np.isnan(found.band(["unheard of"])).all()
    assert not np.isnan(found.band([None, "low", "far", "n/a"])).any()
    assert found.predict_proba([]).shape == (0, 2)
    with pytest.raises(TypeError, match="convert the column"):
        found.predict_proba([3.5, 4.5])
    again = Average.from_json(found.to_json())
    assert np.array_equal(again.predict_proba(x), found.predict_proba(x))
    assert np.array_equal(again.band(["low"]), found.band(["low"]))
    assert again.table("arrays")["value"].tolist() == ["low", "mid", "high"]
    neither = of_rows({"x": ["n/a", "n/a"]}, [0, 1], order={"x": LEVELS}, special={"x": ["n/a"]})
    assert neither.predict_proba(["low", "n/a"]) == pytest.approx(np.full((2, 2), 0.5))
    unlabelled = of_rows({"x": [*x, "mid", "top"]}, [*y, -1, -1], order={"x": [*LEVELS, "n/a"]}, unlabelled=-1)
    assert unlabelled.predict_proba(["mid", "top"]).sum(axis=1) == pytest.approx(1.0)


def test_types_with_an_order():
    texts, y = ["b", "a", "c", "b", "a", "c", "a"], [0, 0, 1, 1, 0, 1, 0]
    order = ["c", "b", "a"]
    frames = [
        pd.DataFrame({"x": pd.Categorical(texts, categories=order, ordered=True)}),
        pl.DataFrame({"x": pl.Series(texts, dtype=pl.Enum(order))}),
        pa.table({"x": pa.DictionaryArray.from_arrays([1, 2, 0, 1, 2, 0, 2], order, ordered=True)}),
    ]
    expected = average({"x": texts}, y, order={"x": order})
    for frame in frames:
        found = average(frame, y)
        assert found.log_evidence == expected.log_evidence
        assert np.array_equal(found.predict_proba(frame), expected.predict_proba(texts))
    each = average_each(frames[0].assign(town=texts), y, kinds={"x": "ordinal"}, on_error="ignore")
    assert list(each) == ["x"]
    assert "is categorical" in str(each.errors["town"])
    with pytest.raises(TypeError, match=r"is categorical.*order="):
        average(frames[0], y, kinds={"x": "categorical"})
    with pytest.raises(ValueError, match="not in its order"):
        average({"x": texts}, y, order={"x": ["a", "b"]})


def test_many_levels():
    """More levels than candidates: those between two knots are on the line by their places."""
    rng = np.random.default_rng(0)
    levels = [f"level {i}" for i in range(300)]
    places = rng.integers(0, 300, 3_000)
    y = (rng.random(3_000) < places / 300).astype(int)
    found = average({"x": [levels[i] for i in places]}, y, order={"x": levels}, m=32)
    assert not found.exact
    assert len(found.knots) < 40
    plain = average({"x": places.astype(float)}, y, m=32)
    assert found.predict_proba(levels) == pytest.approx(plain.predict_proba(np.arange(300.0)), abs=1e-12)


def test_a_file_with_wrong_places_is_refused():
    found = average({"x": ["a", "b", "b"]}, [0, 1, 1], order={"x": ["a", "b"]})
    record = json.loads(found.to_json())
    record["knots"]["values"][-1] = 2
    with pytest.raises(ValueError, match="places of levels"):
        Average.from_json(json.dumps(record))
