"""`GridDiscretizer.partial_fit`: the parts of all batches together, and what it refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from gridmodl.estimators import GridDiscretizer, discretizer


def batches(n=1200, size=200, seed=0):
    """A frame of columns of several kinds, its classes, and its batches."""
    rng = np.random.default_rng(seed)
    x = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    town = rng.choice(["Bonn", "Lyon", "Oslo"], n)
    frame = pd.DataFrame({"x": x, "town": town, "age": rng.integers(18, 90, n), "code": rng.choice([-999, 1, 2], n)})
    y = np.where((x > 0.3) ^ (rng.random(n) < 0.1), "yes", "no")
    return frame, y, [slice(i, i + size) for i in range(0, n, size)]


@pytest.mark.parametrize(
    "options", [{}, {"special": {"code": [-999]}, "missing": "apart"}, {"encode": "woe", "event": "no"}]
)
def test_batches_give_the_parts_of_all_rows(options):
    frame, y, parts = batches()
    whole, stream = GridDiscretizer(**options).fit(frame, y), GridDiscretizer(**options)
    for rows in parts:
        assert stream.partial_fit(frame[rows], y[rows]) is stream
    np.testing.assert_array_equal(stream.transform(frame), whole.transform(frame))
    assert stream.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
    assert stream.counts_.n_rows == len(frame)
    for name, model in whole.models_.items():
        assert stream.models_[name].cost == pytest.approx(model.cost, rel=1e-12)
        assert stream.models_[name].proven == model.proven


def test_the_search_runs_when_asked():
    frame, y, parts = batches()
    stream = GridDiscretizer().partial_fit(frame[parts[0]], y[parts[0]])
    assert not hasattr(stream, "partitions_")
    stream.partial_fit(frame[parts[1]], y[parts[1]], search=True)
    assert stream.models_["x"].n_rows == 400
    stream.partial_fit(frame[parts[2]], y[parts[2]])
    assert stream.models_["x"].n_rows == 400
    stream.transform(frame)
    assert stream.models_["x"].n_rows == 600
    assert not hasattr(stream.fit(frame, y), "counts_")
    assert stream.models_["x"].n_rows == 1200


def test_weights_unlabelled_rows_and_new_classes():
    frame, y, parts = batches()
    weights = np.arange(len(y)) % 3
    y = np.where(np.arange(len(y)) % 7 == 0, "?", y)
    y[-1] = "new"
    whole, stream = (GridDiscretizer(unlabelled="?") for _ in range(2))
    whole.fit(frame, y, weights)
    for rows in parts:
        stream.partial_fit(frame[rows], y[rows], weights[rows])
    np.testing.assert_array_equal(stream.transform(frame), whole.transform(frame))
    assert stream.classes_.tolist() == ["new", "no", "yes"]


def test_many_values_are_counted_in_buckets(monkeypatch):
    monkeypatch.setattr(discretizer, "MAX_GROUPS", 128)
    frame, y, parts = batches(4000, 100)
    stream = GridDiscretizer()
    for rows in parts:
        stream.partial_fit(frame[["x"]][rows], y[rows])
    assert len(stream.counts_["x"]) < 800
    stream.transform(frame[["x"]])
    model = stream.models_["x"]
    assert (model.resolution > 0, model.n_rows) == (True, 4000)
    counts = np.bincount(model.transform(frame["x"]), minlength=model.partitions["x"].n_parts)
    np.testing.assert_array_equal(counts, model.partitions["x"].rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"averaged": True, "encode": "woe"}, "averaged=True needs all rows"),
        ({"target_kind": "numerical"}, "target_kind='numerical' needs all rows"),
        ({"criterion": "entropy", "criterion_options": "auto"}, "criterion_options='auto' needs all rows"),
        ({"placement": "median", "unlabelled": "?"}, "placement='median' needs all rows"),
    ],
)
def test_what_needs_all_rows(options, message):
    """There is no such method, and the reason is told."""
    found = GridDiscretizer(**options)
    assert not hasattr(found, "partial_fit")
    with pytest.raises(AttributeError) as raised:
        found.partial_fit  # noqa: B018
    assert message in str(raised.value.__cause__)
    frame, y, _ = batches()
    with pytest.raises(ValueError, match="target_kind must be"):
        GridDiscretizer(target_kind="class").partial_fit(frame, y)


def test_batches_must_be_alike():
    frame, y, _ = batches()
    stream = GridDiscretizer().partial_fit(frame, y)
    with pytest.raises(ValueError, match="feature names should match"):
        stream.partial_fit(frame.rename(columns={"x": "v"}), y)
    with pytest.raises(ValueError, match="column 'age' are of different types"):
        stream.partial_fit(frame.astype({"age": str}), y)
    with pytest.raises(ValueError, match="requires y"):
        stream.partial_fit(frame, None)
    with pytest.raises(ValueError, match="y contains NaN or None: 1 of 1200 rows have no class"):
        stream.partial_fit(frame, [None, *y[1:]])
    assert stream.counts_.n_rows == len(frame)  # nothing of a batch that failed
