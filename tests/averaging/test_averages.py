"""Averages of many columns: what each predicts, its evidence, and which to keep."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from gridmodl import Averages, average, average_each

RNG = np.random.default_rng(0)
N = 150
X = RNG.normal(size=N)
FRAME = pd.DataFrame({"noise": RNG.normal(size=N), "x": X, "rating": pd.Categorical.from_codes(
    np.digitize(X + 0.5 * RNG.normal(size=N), [-1, 0, 1]), ["a", "b", "c", "d"], ordered=True)})  # fmt: skip
Y = np.where(RNG.random(N) < 1 / (1 + np.exp(-2 * X)), "yes", "no")
THREE = np.digitize(X + 0.3 * RNG.normal(size=N), [-0.5, 0.5])


def logit(p):
    return math.log(p / (1 - p))


@pytest.mark.parametrize("y", [Y, THREE], ids=["two classes", "three classes"])
def test_what_each_column_predicts(y):
    found = average_each(FRAME, y)
    shares = found.predict_proba(FRAME.assign(other=1))
    assert list(shares) == list(found)
    for name in FRAME:
        assert np.array_equal(shares[name], average(FRAME[[name]], y).predict_proba(FRAME[name]))
    with pytest.raises(ValueError, match=r"the averages need column 'x'.*averages\.select"):
        found.predict_proba(FRAME[["noise", "rating"]])
    assert average_each(FRAME[["x"]].to_numpy(), y).predict_proba(X)["x0"].shape == (N, len(set(y.tolist())))


def test_woe_by_hand():
    found = average_each(FRAME, Y)
    assert found.event == "yes"
    woe = found.transform(FRAME)
    assert list(woe.columns) == list(found)
    assert woe.index is FRAME.index or (woe.index == FRAME.index).all()
    n_yes = int((Y == "yes").sum())
    for name in found:
        shares = found[name].predict_proba(FRAME[name])[:, 1]
        expected = [logit(p) - logit((n_yes + 1) / (N + 2)) for p in shares]
        assert woe[name].to_numpy() == pytest.approx(np.array(expected), abs=1e-12)
    assert found["x"].woe([np.nan]).tolist() == [[0.0]]
    assert found["rating"].woe(["z", None]).tolist() == [[0.0], [0.0]]
    other = average_each(FRAME, Y, event="no").transform(FRAME)
    assert np.allclose(other[list(woe)], -woe, atol=1e-12)


def test_woe_of_each_class():
    found = average_each(FRAME[["x"]], THREE)
    woe = found.transform(FRAME)
    assert list(woe) == ["x_0", "x_1", "x_2"]
    shares = found["x"].predict_proba(FRAME["x"])
    for j in range(3):
        overall = ((j == THREE).sum() + 1) / (N + 3)
        assert woe[f"x_{j}"].to_numpy() == pytest.approx([logit(p) - logit(overall) for p in shares[:, j]], abs=1e-12)


def test_woe_that_says_nothing_is_0():
    one_part = average({"x": [5.0] * 9}, [0, 0, 1] * 3)
    assert one_part.woe([5.0, 7.0]) == pytest.approx(np.zeros((2, 1)), abs=1e-15)
    assert average([1.0, 2.0], [7, 7]).woe([1.0]).tolist() == [[0.0]]
    with pytest.raises(ValueError, match="encode must be 'woe'"):
        average_each(FRAME, Y).transform(FRAME, encode="ordinal")


def test_which_to_keep():
    found = average_each(FRAME.assign(text="u"), Y, on_error="ignore")
    assert list(found.select(p_informative=0.5)) == [name for name in found if found[name].p_informative > 0.5]
    assert "noise" not in found.select(p_informative=0.5)
    assert list(found.select(loo_gain=0)) == [name for name in found if found[name].loo_gain > 0]
    assert list(found.select(columns=["noise", "x"], loo_gain=-1)) == [name for name in found if name != "rating"]
    assert found.select(columns=["x"]).errors == {}
    with pytest.raises(TypeError, match="columns must be a list"):
        found.select(columns="x")
    with pytest.raises(KeyError, match="did you mean"):
        found.select(columns=["nois"])
    plain = average_each(FRAME, Y, criterion="aic")
    with pytest.raises(ValueError, match="has no p_informative"):
        plain.select(p_informative=0.5)
    assert np.isnan(plain.table("arrays")["loo_gain"]).all()


def test_the_gain_is_that_of_leaving_one_row_out():
    n_yes = int((Y == "yes").sum())
    null = -(n_yes * math.log(n_yes / (N + 1)) + (N - n_yes) * math.log((N - n_yes) / (N + 1))) / N
    found = average_each(FRAME, Y)
    for one in found.values():
        assert one.loo_gain == pytest.approx(null - one.loo_loss, abs=1e-12)
    assert average([5.0] * 9, [0, 0, 1] * 3).loo_gain == pytest.approx(0.0, abs=1e-12)


def test_tables_in_order():
    found = average_each(FRAME, Y)
    table = found.table()
    assert list(table["column"]) == list(found)
    assert set(table["kind"]) == {"numerical", "ordinal"}
    by_gain = found.table(by="loo_gain")
    assert list(by_gain["loo_gain"]) == sorted(table["loo_gain"], reverse=True)
    with pytest.raises(ValueError, match="by must be one of"):
        found.table(by="level")
    kept = found.select(columns=["noise", "rating"])
    assert list(Averages.from_json(kept.to_json())) == list(kept)
