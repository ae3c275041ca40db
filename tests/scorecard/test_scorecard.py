"""The record of a scorecard: points, reasons, cut-offs, scales, files, queries and pages, against slow code."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator
from sklearn.metrics import roc_auc_score

import gridmodl
from gridmodl import GridScorecard, ModelFileError, Scorecard
from gridmodl.model.policy import Policy


def make_data(n: int = 1200, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    y = np.where(size + rng.normal(size=n) > 0.7, "bad", "good")
    colour = np.array(["red", "gr'een", 'bl"ue', "black"])[np.digitize(size + rng.normal(size=n), [-1, 0, 1])]
    data = pd.DataFrame(
        {
            "size": np.round(size, 2),
            "a colour": colour.astype(object),
            "date": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.round(100 * size + 90 * rng.normal(size=n)), "D"),
            "whole": np.round(5 * size + 5 * rng.normal(size=n)).astype(int),
            "noise": rng.normal(size=n),
        }
    )
    data.loc[::9, "size"] = np.nan
    data.loc[::7, "a colour"] = None
    return data, y


DATA, Y = make_data()
CARD = GridScorecard(event="bad", validate=False).fit(DATA, Y).scorecard_
ROUNDED = CARD.scaled(rounded=True)
UP = CARD.scaled(odds_of="event", pdo=50, base_points=0, base_odds=1)
CARDS = {"exact": CARD, "rounded": ROUNDED, "of the event": UP}


def slow_score(card: Scorecard, row: dict[str, Any]) -> float:
    total = card.base
    for name in card.models:
        part = int(card.partition(name).part_of([row[name]])[0])
        total += card.points_of(name)[part] if part >= 0 else 0.0
    return total


@pytest.mark.parametrize("card", CARDS.values(), ids=CARDS)
def test_points_and_base_are_the_score(card: Scorecard) -> None:
    scores = card.score(DATA)
    points = card.points(DATA)
    assert next(iter(points)) == "base"
    assert list(points)[-1] == "score"
    np.testing.assert_array_equal(points["score"], scores)
    for i in range(0, 200, 13):
        assert scores[i] == slow_score(card, {name: DATA[name].iloc[i] for name in card.models})
    odds = card.scaling.sign * (scores - card.scaling.offset) / card.scaling.factor
    np.testing.assert_allclose(card.predict_proba(DATA)[:, 0], 1 / (1 + np.exp(-odds)))
    assert card.predict(DATA)[odds > 1e-9].tolist() == ["bad"] * int((odds > 1e-9).sum())


def test_rounded_points_are_whole_and_near() -> None:
    for name in CARD.models:
        np.testing.assert_array_equal(ROUNDED.points_of(name), np.round(CARD.points_of(name)))
    assert ROUNDED.base == round(CARD.base)
    assert np.abs(ROUNDED.score(DATA) - CARD.score(DATA)).max() <= 0.5 * (len(CARD.models) + 1)
    points = np.concatenate([ROUNDED.points_of(name) for name in CARD.models])
    assert not np.signbit(points[points == 0.0]).any()


def test_scales_are_of_the_same_odds() -> None:
    np.testing.assert_allclose(CARD.predict_proba(DATA), UP.predict_proba(DATA), atol=1e-12)
    doubled = CARD.scaling.log_odds(np.array([CARD.scaling.base_points, CARD.scaling.base_points + CARD.scaling.pdo]))
    np.testing.assert_allclose(np.exp(-doubled), [50.0, 100.0])
    with pytest.raises(ValueError, match="pdo must be a finite number above 0, got -3"):
        CARD.scaled(pdo=-3)


def test_the_points_table_has_every_part_and_other_values() -> None:
    table = CARD.table()
    assert table["column"][0] == "(base)"
    assert table["points"][0] == CARD.base
    for name in CARD.models:
        mine = table[table["column"] == name]
        partition = CARD.partition(name)
        assert mine["part"].tolist()[: partition.n_parts] == partition.labels
        np.testing.assert_array_equal(mine["points"][: partition.n_parts], CARD.points_of(name))
        assert len(mine) - partition.n_parts == (partition.kind != "numerical" or partition.missing is None)
    first = CARD.partition("size")
    np.testing.assert_allclose(
        table[table["column"] == "size"]["event_rate"], first.counts[:, 0] / first.counts.sum(axis=1)
    )
    assert CARD.columns()["column"].tolist()[0] == max(CARD.models, key=lambda name: np.ptp(CARD.points_of(name)))
    text = CARD.summary()
    assert "scorecard of 4 columns, event: bad" in text
    assert max(map(len, text.splitlines())) <= 80
    assert all(text.count(f"\n  {name} ") == 1 for name in CARD.models)  # not on the line of each part


def test_one_row_can_be_a_dict() -> None:
    row = {name: DATA[name].iloc[5] for name in DATA}
    assert CARD.score(row)[0] == CARD.score(DATA)[5]
    assert CARD.score(DATA[:0]).shape == (0,)
    assert len(CARD.points(DATA[:0])) == 0
    assert len(CARD.reasons(DATA[:0])) == 0


# Reasons


@pytest.mark.parametrize("against", ["best", "mean", "neutral"])
@pytest.mark.parametrize("card", CARDS.values(), ids=CARDS)
def test_reasons_are_the_largest_losses(card: Scorecard, against: str) -> None:
    rows = DATA.iloc[:40].assign(**{"a colour": ["new", *DATA["a colour"].tolist()[1:40]]})
    found = card.reasons(rows, 3, against=against, codes={"size": "R1"})
    high_is_good = card.scaling.odds_of == "rest"
    for i in range(40):
        lost = {}
        for name in card.models:
            points = card.points_of(name)
            part = int(card.partition(name).part_of([rows[name].iloc[i]])[0])
            own = points[part] if part >= 0 else 0.0
            best = points.max() if high_is_good else points.min()
            mean = np.average(points, weights=card.partition(name).rows)
            than = {"best": best, "mean": mean, "neutral": 0.0}[against]
            lost[name] = than - own if high_is_good else own - than
        order = sorted((name for name in lost if lost[name] > 0), key=lambda name: -lost[name])[:3]
        mine = found[found["row"] == i]
        assert mine["column"].tolist() == order
        assert mine["rank"].tolist() == list(range(1, len(order) + 1))
        np.testing.assert_allclose(mine["lost"], [lost[name] for name in order])
        assert mine["reason"].tolist() == ["R1" if name == "size" else name for name in order]


def test_wrong_questions_are_told() -> None:
    with pytest.raises(ValueError, match="n must be a number of reasons"):
        CARD.reasons(DATA, 0)
    with pytest.raises(ValueError, match="against"):
        CARD.reasons(DATA, against="worst")
    with pytest.raises(ValueError, match="'sise', which is no column"):
        CARD.reasons(DATA, codes={"sise": "R1"})
    with pytest.raises(ValueError, match="no column 'size'"):
        CARD.score(DATA.drop(columns="size"))
    with pytest.raises(ValueError, match="output must be one or several"):
        CARD.to_sql("duckdb", output="scores")


# Cut-offs


@pytest.mark.parametrize("card", CARDS.values(), ids=CARDS)
def test_cutoffs_are_counted(card: Scorecard) -> None:
    rng = np.random.default_rng(0)
    weights, loss = rng.integers(0, 3, len(Y)), rng.random(len(Y))
    found = card.cutoffs(DATA, Y, weights=weights, loss=loss, n=7)
    scores, bad = card.score(DATA), Y == "bad"
    p = card.predict_proba(DATA)[:, 0]
    table = found.table()
    assert 1 < len(table) <= 7
    for _, line in table.iterrows():
        ok = scores >= line["cutoff"] if card.scaling.odds_of == "rest" else scores < line["cutoff"]
        assert line["approved"] == weights[ok].sum()
        assert line["approval_rate"] == pytest.approx(weights[ok].sum() / weights.sum())
        rejected = [weights[~ok & one].sum() / weights[one].sum() for one in (bad, ~bad)]
        assert (line["events_rejected"], line["rest_rejected"]) == pytest.approx(tuple(rejected))
        assert line["ks"] == pytest.approx(rejected[0] - rejected[1])
        assert line["expected_loss"] == pytest.approx((weights * loss * p)[ok].sum())
        assert line["observed_loss"] == pytest.approx((weights * loss)[ok & bad].sum())
        if weights[ok & bad].sum() and weights[ok & ~bad].sum():
            assert line["event_rate"] == pytest.approx(weights[ok & bad].sum() / weights[ok].sum())
            area = roc_auc_score(bad[ok], -card.scaling.sign * -scores[ok], sample_weight=weights[ok])
            assert line["gini"] == pytest.approx(2 * area - 1)
    area = roc_auc_score(bad, p, sample_weight=weights)
    assert found.gini == pytest.approx(2 * area - 1)
    every = [
        abs(
            weights[(scores <= s) & bad].sum() / weights[bad].sum()
            - weights[(scores <= s) & ~bad].sum() / weights[~bad].sum()
        )
        for s in np.unique(scores)
    ]
    assert found.ks == pytest.approx(max(every))


def test_cutoffs_of_the_user_and_of_one_class() -> None:
    found = CARD.cutoffs(DATA.assign(y=Y), "y", at=[520, 480])
    assert found.cutoff.tolist() == [480, 520]
    alone = CARD.cutoffs(DATA[Y == "bad"], Y[Y == "bad"])
    assert np.isnan(alone.gini)
    assert np.isnan(alone.ks)
    assert alone.event_rate == 1.0
    with pytest.raises(ValueError, match="the class 'bda', and the scorecard knows 'bad' and 'good'"):
        CARD.cutoffs(DATA, np.where(Y == "bad", "bda", Y))
    with pytest.raises(ValueError, match="nothing to approve"):
        CARD.cutoffs(DATA, Y, weights=np.zeros(len(Y)))
    with pytest.raises(ValueError, match="loss must be finite numbers, 0 or more"):
        CARD.cutoffs(DATA, Y, loss=-1.0)
    with pytest.raises(ValueError, match="at must be one or several finite scores"):
        CARD.cutoffs(DATA, Y, at=[np.nan])


# Refit


def test_a_refit_keeps_the_parts_and_learns_the_rest() -> None:
    new, y = make_data(900, seed=5)
    again = CARD.refit(new.assign(y=y), "y")
    for name in again.models:
        old, now = CARD.partition(name), again.partition(name)
        np.testing.assert_array_equal(old.bounds, now.bounds)
        assert old.groups == now.groups
        parts = old.part_of(new[name])
        expected = [[np.sum((parts == i) & (y == c)) for c in ("bad", "good")] for i in range(old.n_parts)]
        np.testing.assert_array_equal(now.counts, expected)
    assert again.scaling == CARD.scaling
    assert again.event == "bad"
    np.testing.assert_allclose(CARD.refit(DATA, Y).score(DATA), CARD.score(DATA), atol=1e-6)
    strange = DATA.assign(**{"a colour": np.where(np.arange(len(DATA)) % 9 == 0, "new", DATA["a colour"])})
    parts = CARD.partition("a colour").part_of(strange["a colour"])
    assert CARD.refit(strange, Y).partition("a colour").rows.sum() == np.sum(parts >= 0) < len(DATA)
    assert "one class alone" in CARD.refit(new.assign(**{"a colour": "new"}), y).left_out["a colour"]
    with pytest.raises(ValueError, match="one class"):
        CARD.refit(new[y == "bad"], y[y == "bad"])
    assert Scorecard.from_json(again.to_json()).score(new).tolist() == again.score(new).tolist()


# Files


@pytest.mark.parametrize("card", CARDS.values(), ids=CARDS)
def test_files_are_read_back_exactly(card: Scorecard, tmp_path: Any) -> None:
    text = card.to_json(tmp_path / "card.json")
    Draft202012Validator(gridmodl.json_schema("scorecard")).validate(json.loads(text))
    again = Scorecard.from_json(tmp_path / "card.json")
    assert again.to_json() == text
    np.testing.assert_array_equal(again.score(DATA), card.score(DATA))
    pd.testing.assert_frame_equal(again.table(), card.table())


def change(text: str, path: list[Any], value: Any) -> str:
    record = json.loads(text)
    at = record
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return json.dumps(record)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["format"], "gridmodl model", "no gridmodl scorecard"),
        (["version"], 99, "version"),
        (["event"], 2, "event"),
        (["intercept"], "x", "intercept"),
        (["weights"], [1.0], "weights"),
        (["scaling", "pdo"], -1.0, "pdo"),
        (["scaling", "rounded"], 1, "rounded"),
        (["scaling", "odds_of"], "both", "odds_of"),
        (["names"], ["size"], "names"),
        (["left_out"], [["size", "why"]], "left_out"),
        (["classes"], {"array": "str", "values": ["a"]}, "classes"),
        (["models", 0, "event"], 1, "models"),
        (["more"], 1, "more"),
    ],
)  # fmt: skip
def test_wrong_files_are_refused(path: list[Any], value: Any, words: str) -> None:
    with pytest.raises(ModelFileError, match=words):
        Scorecard.from_json(change(CARD.to_json(), path, value))


def test_a_card_needs_no_scikit_learn(tmp_path: Any) -> None:
    CARD.to_json(tmp_path / "card.json")
    code = (
        "import sys, gridmodl; card = gridmodl.Scorecard.from_json(sys.argv[1]); card.to_sql('duckdb'); "
        "sys.exit('sklearn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path / "card.json")], check=False).returncode == 0


# Queries


def hostile() -> pd.DataFrame:
    """Rows with missing values, unknown categories and values on bounds."""
    rows = DATA.iloc[:300].copy()
    rows.loc[rows.index[:20], "a colour"] = "new"
    for i, bound in enumerate(CARD.partition("size").bounds):
        rows.loc[rows.index[20 + i], "size"] = bound
    return rows


@pytest.mark.parametrize("policy", [Policy("neutral", "neutral"), Policy("largest", "neutral")])
@pytest.mark.parametrize("card", CARDS.values(), ids=CARDS)
def test_queries_score_as_python_does(card: Scorecard, policy: Policy) -> None:
    card, rows = replace(card, policy=policy), hostile()
    rows["row"] = range(len(rows))
    everything = ("points", "score", "proba")
    found = {"duckdb": duckdb.sql(card.to_sql("duckdb", "rows", keep=["row"], output=everything)).df()}
    connection = sqlite3.connect(":memory:")
    rows.assign(date=rows["date"].dt.strftime("%Y-%m-%d %H:%M:%S")).to_sql("rows", connection, index=False)
    found["sqlite"] = pd.read_sql(card.to_sql("sqlite", "rows", keep=["row"], output=everything), connection)
    points = card.points(rows)
    for table in found.values():
        table = table.sort_values("row", ignore_index=True)
        np.testing.assert_array_equal(table["score"], card.score(rows))
        for name in card.models:
            np.testing.assert_array_equal(table[f"points_{name}"], points[name])
        np.testing.assert_allclose(table["p_event"], card.predict_proba(rows)[:, 0], rtol=1e-12)
    only = duckdb.sql(card.to_sql("duckdb", "rows", output="score")).df()
    assert list(only) == ["score"]


@pytest.mark.parametrize("output", [("points", "score"), ("points", "score", "proba")])
def test_queries_keep_line_breaks_of_names_and_categories(output: tuple[str, ...]) -> None:
    rows = pd.DataFrame({"a\nb": DATA["size"], "c\n  d": DATA["a colour"].replace("red", "r\ned")})
    card = GridScorecard(event="bad").fit(rows, Y).scorecard_
    assert set(card.models) == set(rows)
    rows["the\nrow"] = range(len(rows))
    table = duckdb.sql(card.to_sql("duckdb", "rows", keep=["the\nrow"], output=output)).df()
    np.testing.assert_array_equal(table.sort_values("the\nrow")["score"], card.score(rows))


def test_a_card_without_columns_has_a_base() -> None:
    card = GridScorecard(min_iv=99.0).fit(DATA, Y).scorecard_
    assert len(card.models) == 0
    np.testing.assert_array_equal(card.score(DATA), np.full(len(DATA), card.base))
    assert card.predict_proba(DATA)[0, 0] == pytest.approx(np.mean(Y == "bad"))
    query = card.to_sql("duckdb", "three", output=("points", "score", "proba"))
    connection = duckdb.connect()
    connection.register("three", DATA[:3])
    assert connection.sql(query).df()["score"].tolist() == [card.base] * 3
    assert Scorecard.from_json(card.to_json()).base == card.base
    assert "(base)" in card.summary()
    assert card.to_html()
    assert card._repr_html_()
    assert card.refit(DATA, Y).base == pytest.approx(card.base)


# Pages and pictures


def test_pages_escape_names(tmp_path: Any) -> None:
    name = "<script>alert(1)</script>"
    data = DATA.rename(columns={"size": name})
    card = GridScorecard(event="bad").fit(data, Y).scorecard_
    page = card.to_html(tmp_path / "card.html", title="<b>", sections=[card.cutoffs(data, Y)])
    assert (tmp_path / "card.html").read_text("utf-8") == page
    for text in (page.split("<style")[0], card._repr_html_()):
        assert "<script>alert" not in text
        assert "<b><" not in text.replace("<b><bdi>", "")
    assert '"Cut-offs"' in page
    assert '"points"' in page
    assert card.to_sql("duckdb", "data")  # quoted


def test_displays_have_what_they_draw() -> None:
    display = CARD.plot(max_columns=2)
    assert len(display.names) == 2
    np.testing.assert_array_equal(display.points[0], CARD.points_of(display.names[0]))
    found = CARD.cutoffs(DATA, Y)
    scores = found.plot(bins=10)
    assert scores.events.sum() == pytest.approx(1.0)
    assert scores.rest.sum() == pytest.approx(1.0)
    with pytest.raises(ValueError, match="bins"):
        found.plot(bins=0)


@pytest.mark.parametrize("card", CARDS.values(), ids=CARDS)
def test_graphs_score_as_python_does(card: Scorecard) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    rows = hostile()
    graph = card.to_onnx()
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    given: dict[str, Any] = {}
    for one in session.get_inputs():
        values = rows[one.name]
        if one.type == "tensor(string)":
            given[one.name] = values.fillna("").to_numpy(dtype=object)
        elif one.type == "tensor(int64)":
            unit = card.partition(one.name).bounds.dtype
            given[one.name] = values.to_numpy().astype(unit).astype(np.int64)
        else:
            given[one.name] = values.to_numpy(dtype=np.float64)
    score, addends = session.run(["score", "addends"], {name: values[:, None] for name, values in given.items()})
    np.testing.assert_array_equal(score, card.score(rows))
    np.testing.assert_array_equal(addends, np.column_stack([card.points(rows)[name] for name in card.models]))


def test_new_rows_are_compared_with_those_of_training() -> None:
    new, y = make_data(seed=1)
    found = CARD.compare(new, y)
    assert set(found.columns) == set(CARD.models)
    assert not found.has_drift
    moved = new.assign(size=new["size"] + 1.0)
    drifted = CARD.compare(moved, y)
    assert drifted.has_drift
    assert drifted.to_json() == CARD.models.compare(moved, y).to_json()


def test_a_card_knows_the_missing_values_and_the_range_of_training() -> None:
    missing = DATA["size"].isna().mean()
    new = DATA.assign(size=DATA["size"].fillna(DATA["size"].max() + 1.0))
    for card in (CARD, Scorecard.from_json(CARD.to_json())):
        found = card.compare(new, Y)
        assert found["size"].old_missing == missing > 0.1
        assert found["size"].below.tolist() == [0.0]
        assert found["size"].above.tolist() == [missing]
        assert found["date"].above.tolist() == [0.0]
        assert "size: missing 11.17% then, 0.00% now" in found.summary()
