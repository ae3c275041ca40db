"""What columns say of the classes: by hand from counts, and from `Average.predict_proba`."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from averaging.oracle import try_all

from gridmodl import average, average_each, optimize, optimize_each
from gridmodl.evidence.sources import NO_LINE, RowPlaces, centred_shares, curve_source, parts_source
from gridmodl.model.policy import NEUTRAL, Policy


def make_data(n: int = 400, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    size = np.round(rng.normal(size=n), 2)
    y = np.array(["a", "b", "c"])[np.digitize(size + 0.4 * rng.normal(size=n), [-0.6, 0.6])]
    colour = np.array(["red", "green", "blue", "black"])[np.digitize(size, [-1, 0, 1])].astype(object)
    colour[::7] = None
    coded = size.copy()
    coded[::9] = -999.0
    coded[1::11] = np.nan
    date = pd.Timestamp("2020-01-01") + pd.to_timedelta((100 * size).astype(int), unit="D")
    return pd.DataFrame({"size": size, "colour": colour, "coded": coded, "date": date}), y


DATA, Y = make_data()
LOG_PRIOR = np.log(np.unique(Y, return_counts=True)[1] / len(Y))


def at(source: Any, raw: Any) -> Any:
    raw = np.asarray(raw) if not isinstance(raw, pd.Series) else raw.to_numpy()
    return source.evidence_at(source.places({source.name: raw}, NEUTRAL))


def test_parts_by_hand() -> None:
    for name, model in optimize_each(DATA, Y).items():
        source = parts_source(model, LOG_PRIOR)
        assert source is not None
        parts = model.transform(DATA[name])
        found = at(source, DATA[name])
        for row in range(0, len(DATA), 41):
            mine = Y[parts == parts[row]]
            shares = [np.mean(c == Y) for c in "abc"]
            by_hand = [
                np.log((np.sum(mine == c) + 3 * p) / (len(mine) + 3) / p) for c, p in zip("abc", shares, strict=True)
            ]
            np.testing.assert_allclose(found[row], by_hand, rtol=1e-12)
        assert source.labels == model.partitions[name].labels


@pytest.mark.parametrize("name", ["size", "coded", "date"])
@pytest.mark.parametrize("m", [512, 20])
def test_curves_are_those_of_the_average(name: str, m: int) -> None:
    found = average(DATA[[name]], Y, m=m, special=[-999, -7] if name == "coded" else None)
    source = curve_source(found, LOG_PRIOR, price=3.0)
    assert source is not None
    assert (source.name, source.columns, source.price) == (name, (name,), 3.0)
    assert len(source.labels) == len(source.shares) == len(source.evidence)
    new = DATA[name]
    if name == "coded":
        new = pd.Series(np.r_[new, -7.0, np.nan, -999.0, np.inf, -np.inf, np.linspace(-4, 4, 321)])
    elif name == "size":
        new = pd.Series(np.r_[new, np.nan, np.linspace(-4, 4, 321)])
    as_average = replace(source, shares=found.shares)
    known = new == -7.0 if name == "coded" else new.isna()  # says nothing
    np.testing.assert_allclose(
        at(as_average, new)[~known], (np.log(found.predict_proba(new)) - LOG_PRIOR)[~known], atol=1e-12
    )
    assert not at(source, new)[known].any()
    places = source.places({name: DATA[name].to_numpy()}, NEUTRAL)
    if found.exact:  # each value is a knot
        assert not places.way.any()
        np.testing.assert_array_equal(at(source, DATA[name]), source.evidence[places.nearest])


@pytest.mark.parametrize("criterion", ["modl", "bic"])
@pytest.mark.parametrize("seed", range(4))
def test_curves_beside_all_partitions(criterion: str, seed: int) -> None:
    """The mean over all partitions of (n_j + J p_j) / (n + J), by their probabilities."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 9, (6, 3)) * np.array([1, 2, 3])
    counts[:, 0] += 1
    x, y = np.repeat(np.arange(6), counts.sum(axis=1)), np.concatenate([np.repeat(range(3), n) for n in counts])
    prior = counts.sum(axis=0) / counts.sum()
    found = average(x, y, criterion=criterion, prior="rows", target_kind="classes")
    by_hand = np.zeros((6, 3))
    for starts, probability in try_all(counts, criterion).partitions.items():
        for begin, end in itertools.pairwise([*starts, 6]):
            mine = counts[begin:end].sum(axis=0)
            by_hand[begin:end] += probability * (mine + 3 * prior) / (mine.sum() + 3)
    np.testing.assert_allclose(centred_shares(found, prior), by_hand, rtol=1e-9)


def test_values_that_training_did_not_have_say_nothing() -> None:
    curve = curve_source(average(DATA["size"], Y), LOG_PRIOR)
    parts = parts_source(optimize(DATA["colour"].dropna(), Y[DATA["colour"].notna()]), LOG_PRIOR)
    assert at(curve, [np.nan]).tolist() == [[0.0] * 3]
    np.testing.assert_array_equal(at(parts, np.array([None, "white"], dtype=object)), np.zeros((2, 3)))
    with pytest.raises(ValueError, match="the training data had none"):
        curve.places({"size": np.array([np.nan])}, Policy("neutral", "error"))
    with pytest.raises(ValueError, match="that the training data did not have"):
        parts.places({"colour": np.array(["white"], dtype=object)}, Policy("error", "neutral"))


def test_columns_that_say_nothing_are_no_sources() -> None:
    noise = np.random.default_rng(1).normal(size=len(Y))
    assert curve_source(average(noise, Y), LOG_PRIOR) is None
    assert curve_source(average(noise, Y, criterion="bic"), LOG_PRIOR) is None
    assert parts_source(optimize(noise, Y), LOG_PRIOR) is None
    assert curve_source(average(np.full(len(Y), np.nan), Y), LOG_PRIOR) is None
    averages = average_each(DATA[["size", "date"]], Y, criterion="bic")
    assert all(curve_source(found, LOG_PRIOR) is not None for found in averages.values())


def test_parts_without_labelled_rows_say_nothing() -> None:
    x = np.r_[np.zeros(50), np.ones(30), np.full(9, -999.0)]
    y = np.repeat([0, 1, 1], [50, 30, 9])
    source = parts_source(optimize(x, y, special=[-999, -1]), np.log([50 / 89, 39 / 89]))
    assert source.evidence[-1].tolist() == [0.0, 0.0]
    assert at(source, [-999.0])[0, 1] > 0.5


def test_grouped_classes_of_a_group_have_the_same_evidence() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 30, 900)
    x = (y // 10) + 0.2 * rng.normal(size=900)
    model = optimize(x, y, target_kind="grouped")
    log_prior = np.log(model.class_rows / 900)
    source = parts_source(model, log_prior)
    np.testing.assert_allclose((np.exp(source.evidence + log_prior)).sum(axis=1), 1.0)
    for group in model.target.groups:
        np.testing.assert_allclose(np.ptp(source.evidence[:, list(group)], axis=1), 0.0, atol=1e-12)


def test_empty_columns_and_nearest_lines() -> None:
    curve = curve_source(average(DATA["size"], Y), LOG_PRIOR)
    assert at(curve, np.empty(0)).shape == (0, 3)
    places = RowPlaces(np.array([0, 3, 4, NO_LINE]), np.array([0.4, 0.6, 0.0, 0.0]))
    assert places.nearest.tolist() == [0, 4, 4, -1]
