"""Weight of evidence, information value, Gini and KS against rows counted one by one, and scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score, roc_curve

import gridmodl
from gridmodl.model.evidence import evidence_of, total_evidence, woe_of


def model_of_rows(parts, classes, n_parts, event=None):
    """Model of given parts: values are the numbers of the parts."""
    bounds = np.arange(n_parts - 1) + 0.5
    return gridmodl.Model.from_partitions(np.asarray(parts, dtype=float), classes, {"x0": bounds}, event=event)


def by_hand(parts, is_event, n_parts):
    """Woe and iv of each part from the rows."""
    all1, all0 = sum(is_event), sum(not e for e in is_event)
    woes, ivs = [], []
    for part in range(n_parts):
        n1 = sum(e for p, e in zip(parts, is_event, strict=True) if p == part)
        n0 = sum(not e for p, e in zip(parts, is_event, strict=True) if p == part)
        woe = math.log((n1 + 0.5) / (n0 + 0.5)) - math.log((all1 + 0.5) / (all0 + 0.5)) if n0 + n1 else 0.0
        woes.append(woe)
        ivs.append((n1 / all1 - n0 / all0) * woe)
    return woes, ivs


@st.composite
def rows(draw, n_classes=2):
    n_parts = draw(st.integers(1, 5))
    n = draw(st.integers(n_classes, 40))
    parts = draw(st.lists(st.integers(0, n_parts - 1), min_size=n, max_size=n))
    labels = draw(st.lists(st.integers(0, n_classes - 1), min_size=n - n_classes, max_size=n - n_classes))
    return parts, np.array([*range(n_classes), *labels]), n_parts


@settings(max_examples=150, deadline=None)
@given(rows(), st.sampled_from([0, 1, None]))
def test_of_an_event(drawn, event):
    parts, labels, n_parts = drawn
    model = model_of_rows(parts, labels, n_parts, event)
    partition = model.partitions["x0"]
    is_event = [label == (1 if event is None else event) for label in labels]
    (found,) = evidence_of(model, partition)
    woes, ivs = by_hand(parts, is_event, n_parts)
    assert found.name == str(1 if event is None else event)
    assert found.woe == pytest.approx(woes, abs=1e-12)
    assert found.iv == pytest.approx(ivs, abs=1e-12)
    rates = [np.mean([e for p, e in zip(parts, is_event, strict=True) if p == q]) for q in parts]
    assert found.gini == pytest.approx(2 * roc_auc_score(is_event, rates) - 1, abs=1e-12)
    false, true, _ = roc_curve(is_event, rates)
    assert found.ks == pytest.approx(np.max(true - false), abs=1e-12)
    total = total_evidence(model, partition)
    assert total == pytest.approx((sum(ivs), found.gini, found.ks), abs=1e-12)
    assert woe_of(model, partition)[:, 0] == pytest.approx([*woes, 0.0], abs=1e-12)
    table = model.table()
    assert table["woe"].tolist() == found.woe.tolist()
    assert set(table["event"]) == {found.name}


@settings(max_examples=60, deadline=None)
@given(rows(n_classes=3))
def test_without_an_event_each_class_is_against_the_rest(drawn):
    parts, labels, n_parts = drawn
    model = model_of_rows(parts, labels, n_parts)
    partition, table = model.partitions["x0"], model.table()
    shares = np.array([[np.mean(labels[np.array(parts) == q] == c) for c in range(3)] for q in parts])
    ivs = []
    for c in range(3):
        woes, of_parts = by_hand(parts, (labels == c).tolist(), n_parts)
        assert table[f"woe_{c}"] == pytest.approx(woes, abs=1e-12)
        assert table[f"iv_{c}"] == pytest.approx(of_parts, abs=1e-12)
        ivs.append(sum(of_parts))
        named = total_evidence(model_of_rows(parts, labels, n_parts, event=c), partition)
        assert named.iv == pytest.approx(ivs[-1], abs=1e-12)
    total = total_evidence(model, partition)
    assert total.iv == pytest.approx(sum(ivs) / 3, abs=1e-12)
    area = roc_auc_score(labels, shares, multi_class="ovr", average="macro")
    assert total.gini == pytest.approx(2 * area - 1, abs=1e-12)
    assert woe_of(model, partition).shape == (n_parts + 1, 3)


def test_the_sign():
    model = gridmodl.Model.from_partitions([1.0, 2.0, 3.0, 4.0], ["no", "no", "yes", "yes"], {"x0": [2.5]})
    assert model.table()["woe"][0] < 0 < model.table()["woe"][1]
    other = gridmodl.Model.from_partitions([1.0, 2.0, 3.0, 4.0], ["no", "no", "yes", "yes"], {"x0": [2.5]}, event="no")
    assert other.table()["woe"].tolist() == (-model.table()["woe"]).tolist()
    assert other.table()["iv"].tolist() == model.table()["iv"].tolist()


def test_a_target_of_one_class_tells_nothing():
    model = gridmodl.Model.from_partitions([1.0, 2.0, 3.0, 4.0], ["no"] * 4, {"x0": [2.5]})
    assert total_evidence(model, model.partitions["x0"]) == (0.0, 0.0, 0.0)
    assert not woe_of(model, model.partitions["x0"]).any()


def test_no_classes():
    model = gridmodl.optimize([1.0, 2.0, 3.0, 4.0], [1.5, 2.5, 3.5, 4.5])
    assert total_evidence(model, model.partitions["x0"]) is None
    assert evidence_of(model, model.target) == []
