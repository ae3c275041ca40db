"""Averages as pages and in notebooks: all text is escaped, and numbers are those of the average."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from report import htmlpages
from report.htmlpages import EVIL, Page, table_of, text_of

from gridmodl import Averages, average

RNG = np.random.default_rng(0)
X = RNG.normal(size=80)
Y = (RNG.random(80) < 1 / (1 + np.exp(-3 * X))).astype(int)
HOSTILE = "<script>alert(1)</script>"
Open = Callable[..., Any]
ODD = {
    "missing and a code": average({"x": np.where(X < -1, np.nan, X)}, Y, special={"x": [X[3]]}),
    "one row": average([1.0], ["a"]),
    "missing alone": average([np.nan, np.nan], [0, 1]),
    "dates": average(np.datetime64("2024-01-01") + np.arange(9), np.arange(9) // 3),
    "infinities": average([-np.inf, 0.0, np.inf], [0, 1, 1]),
    "infinities alone": average([-np.inf, np.inf], [0, 1]),
    "durations": average(np.arange(9).astype("timedelta64[s]"), np.arange(9) // 3),
    "levels": average({"x": [HOSTILE, "b", None, "b"]}, [0, 1, 1, 1], order={"x": [HOSTILE, "a", "b"]}),
    "one level": average({"x": ["a"]}, [0], order={"x": ["a"]}),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_averages_are_drawn(open_page: Open, name: str) -> None:
    found = ODD[name]
    page = open_page(found.to_html(title=HOSTILE))  # fails on errors and warnings of the scripts
    assert page.locator("h1").text_content() == HOSTILE
    chart = Page(found.to_html()).section["variables"][0]["chart"]
    if chart["at"] or chart["apart"]:
        page.locator(".chart svg .role-mark path, .chart svg .role-mark line").first.wait_for(state="attached")
    assert found._repr_html_().startswith("<div")


@pytest.mark.parametrize("name", ["averages", "average"])
def test_tables_of_curves_are_those_of_the_average(name: str) -> None:
    made = htmlpages.ALL[name]()
    section = Page(text_of(name)).section
    by_name = dict(made.items()) if name == "averages" else {made.name: made}
    assert [variable["name"] for variable in section["variables"]] == [str(column) for column in by_name]
    assert [variable["worth"] for variable in section["variables"]] == pytest.approx(
        [one.p_informative for one in by_name.values()], rel=1e-5
    )
    for variable, one in zip(section["variables"], by_name.values(), strict=True):
        table = table_of(section, variable["tables"][-1])
        n_apart = len(variable["chart"]["apart"])
        at = np.unique(np.linspace(0, len(one.knots) - 1, min(len(one.knots), 100)).astype(int))
        values = [one.segments.levels[i] for i in one.knots[at]] if one.segments.levels else one.knots[at]
        c = len(one.classes) - 1 if one.event_index is None else one.event_index
        np.testing.assert_allclose(table["p_0"][n_apart:], one.predict_proba(values)[:, c], rtol=1e-5)
        bands = one.band(values)[:, c]
        np.testing.assert_allclose(table["low_0"][n_apart:], bands[:, 0], rtol=1e-5, atol=1e-9)
        np.testing.assert_allclose(table["high_0"][n_apart:], bands[:, 1], rtol=1e-5, atol=1e-9)
        assert sum(table["rows"]) == one.n_rows


def test_missing_values_and_codes_have_their_own_predictions_and_bands() -> None:
    found = htmlpages.averages()["age"]
    section = Page(text_of("averages")).section
    (variable,) = [one for one in section["variables"] if one["name"] == "age"]
    table, expected = table_of(section, variable["tables"][-1]), found.predict_proba([np.nan, -999.0])
    assert table["value"][:2] == variable["chart"]["apart"] == ["missing", "-999.0"]
    np.testing.assert_allclose(table["p_0"][:2], expected[:, 1], rtol=1e-5)
    bands = found.band([np.nan, -999.0])[:, 1]
    np.testing.assert_allclose(np.column_stack([table["low_0"][:2], table["high_0"][:2]]), bands, rtol=1e-5)


def test_columns_without_an_average_have_their_reasons() -> None:
    section = Page(text_of("averages")).section
    tables = {record["caption"]: table_of(section, record) for record in section["tables"]}
    assert tables["Columns without an average"]["column"] == ["colour"]
    reason = "optimize finds the best partition of its values, and order= gives them an order"
    assert tables["Columns without an average"]["reason"][0].endswith(reason)  # whole
    assert tables["All columns"]["column"] == [str(name) for name in htmlpages.averages()]
    assert Page(Averages({}, {"c": ValueError("no")}).to_html()).section["variables"] == []


def test_another_class_is_drawn(open_page: Open) -> None:
    page = open_page(text_of("average"))
    names = [str(name) for name in htmlpages.average().classes]
    box = page.get_by_label("Chart", exact=True)
    assert sorted(box.locator("option").all_text_contents()) == [f"probability of {name}" for name in sorted(names)]
    box.select_option(label=f"probability of {names[0]}")
    page.locator(".chart svg").get_by_text(f"probability of {names[0]}").wait_for()


def test_levels_are_named(open_page: Open) -> None:
    page = open_page(text_of("averages"))
    page.get_by_role("button", name="Expand all").click()
    entry = page.locator(".variables > li", has=page.get_by_role("heading", name="level"))
    chart = entry.locator(".chart")
    chart.scroll_into_view_if_needed()
    chart.locator("svg").wait_for()
    written = chart.locator(".role-axis-label text").all_text_contents()
    assert [text for text in written if text in ("low", "mid", "high")] == ["low", "mid", "high"]


def test_notebooks_show_them_without_scripts() -> None:
    levels = ["low", "mid", "high", "top"]
    x = [levels[i] for i in np.repeat([0, 1, 3], 20)]
    shown = average({"rating": x}, np.repeat([0, 0, 1], 20), order={"rating": levels})._repr_html_()
    assert "levels from low to top" in shown
    assert "last level below" in shown
    assert ">high<" in shown  # the likely bound: of levels between mid and top, an odd one joins the lower part
    assert ">mid<" not in shown
    shown = average({"x": X}, np.where(Y == 1, "yes", "no"), event="no")._repr_html_()
    assert "probability of no, from 0 to 1" in shown
    assert f"values from {X.min()} to {X.max()}" in shown
    for name in ODD:
        shown = ODD[name]._repr_html_()
        assert "<script" not in shown
        assert "nan" not in "".join(re.findall(r'points="([^"]*)"', shown))
    shown = htmlpages.averages()._repr_html_()
    assert "leave-one-out loss" in shown
    assert "order= gives them an order" in shown
    assert EVIL[:6] not in shown


def test_a_probability_is_a_share_of_the_whole_bar_and_days_are_days(open_page: Open) -> None:
    page = open_page(text_of("average"))  # its age is informative with a probability of 4e-5
    assert float(page.locator(".worth .track > span").first.evaluate("bar => bar.style.width.replace('%', '')")) < 1
    section = Page(text_of("averages")).section
    (day,) = [variable for variable in section["variables"] if variable["name"] == "day"]
    assert all(re.fullmatch(r"2024-\d\d-\d\d", bound) for bound in table_of(section, day["tables"][0])["bound"])


def test_crowded_values_are_drawn_by_rank(open_page: Open) -> None:
    amounts = np.round(np.exp(np.random.default_rng(0).normal(5.0, 2.0, 400)))
    page = open_page(average({"amount": amounts}, (amounts > 200).astype(int)).to_html())
    page.locator(".chart svg text", has_text="amount, by rank").wait_for(state="attached")
    ticks = page.locator(".chart svg .role-axis-label text").all_text_contents()
    drawn = [float(tick) for tick in ticks if tick.isdigit()]
    assert len(set(drawn) & set(amounts.tolist())) >= 4
