"""One page of several results: a section each, the same as on a page of its own."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report import htmlpages
from report.htmlpages import EVIL, Page, table_of, text_of

import gridmodl

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
expect = playwright.expect

Open = Callable[..., Any]
TITLES = [
    "Best partitions of 4 columns", "Averages of 4 columns", "Scorecard of 3 columns", "Cut-offs of the score",
    "Drift of 4 columns", "Best grid of a, b, c", "Best grid of numbers, ", "Density of x0", "Average of age",
]  # fmt: skip


def test_sections_are_those_of_pages_of_their_own() -> None:
    sections = Page(text_of("report")).document["sections"]
    alone = [Page(text_of(name)).section for name in ("models", "averages", "scorecard")]
    assert sections[:3] == alone
    assert sections[4:] == [Page(text_of(name)).section for name in ("drift", "grid", "joint", "density", "average")]
    assert [section["title"].split(EVIL[:4])[0] for section in sections] == TITLES


@pytest.mark.parametrize("name", ["models", "averages", "scorecard", "drift"])
def test_sections_name_the_target(name: str) -> None:
    assert "for the target buys" in dict(Page(text_of(name)).section["lead"])["Asked"]


def test_bars_of_psi_are_full_from_the_threshold_on() -> None:
    model = htmlpages.models()["age"]
    same = Page(model.compare(htmlpages.frame()).to_html()).section
    assert max(variable["worth"] for variable in same["variables"]) < same["most"] == 0.1
    moved = Page(text_of("drift")).section
    assert moved["most"] == max(variable["worth"] for variable in moved["variables"])


def test_any_result_comes_first_and_a_page_of_one_is_named_after_it() -> None:
    model, card = htmlpages.grid(), htmlpages.scorecard()
    page = Page(card.to_html(sections=(one for one in [model, htmlpages.cutoffs()])))
    assert [section["title"] for section in page.document["sections"]] == [
        "Scorecard of 3 columns", "Best grid of a, b, c", "Cut-offs of the score",
    ]  # fmt: skip
    assert page.texts["title"] == ["gridmodl report"]
    assert Page(model.to_html()).texts["h1"] == ["Best grid of a, b, c"]
    assert Page(model.to_html(title="")).texts["h1"] == [""]
    twice = Page(model.to_html(sections=[model, model])).document["sections"]
    assert [section["title"] for section in twice] == [f"Best grid of a, b, c{end}" for end in ("", " (2)", " (3)")]
    (summary,) = page.texts["pre"]
    assert model.summary().splitlines()[0] in summary
    assert "Scorecard of 3 columns" in summary


def test_what_is_no_section_is_an_error(tmp_path: Path) -> None:
    model = htmlpages.semi()
    with pytest.raises(TypeError, match="sections must be a list of results"):
        model.to_html(sections=htmlpages.density())
    with pytest.raises(TypeError, match="sections must be a list of results"):
        model.to_html(sections=htmlpages.models())
    with pytest.raises(TypeError, match=r"one of Model, Models, .*Comparison; got str"):
        model.to_html(tmp_path / "page.html", sections=["x"])
    assert list(tmp_path.iterdir()) == []


def test_cutoffs_have_their_table_and_the_distribution_of_the_score() -> None:
    found = htmlpages.cutoffs()
    section = Page(text_of("report")).document["sections"][3]
    (record,) = section["tables"]
    np.testing.assert_allclose(table_of(section, record)["ks"], found.columns["ks"], rtol=1e-5)
    chart = record["chart"]
    assert sum(chart["events"]) == pytest.approx(1.0, abs=1e-4)
    assert (chart["edges"][0], chart["edges"][-1]) == (found.scores[0], found.scores[-1])
    one = htmlpages.scorecard().cutoffs(
        htmlpages.frame().rename(columns={"noise": EVIL}).head(1), htmlpages.frame()["buys"].head(1)
    )
    section = Page(htmlpages.scorecard().to_html(sections=[one])).document["sections"][1]
    assert ("Found", "all rows have one class") in [tuple(pair) for pair in section["lead"]]
    assert section["tables"][0]["chart"]["best"] is None


def test_jump_list_names_sections_blocks_and_variables(open_page: Open) -> None:
    page = open_page(text_of("report"), height=600)
    assert [text.split(EVIL[:4])[0] for text in page.locator("#nav a").all_text_contents()] == TITLES
    groups = page.locator("#nav optgroup").evaluate_all("all => all.map(group => group.label)")
    assert [text.split(EVIL[:4])[0] for text in groups] == TITLES
    grid = page.locator("#nav optgroup").nth(5).locator("option")
    assert grid.all_text_contents()[:4] == ["Variables", "Grid", "Classes", "Columns left out"]
    jump = page.get_by_label("Jump to")
    jump.select_option(value=grid.nth(1).get_attribute("value"))
    expect(page.locator("#grid-6")).to_be_in_viewport()
    card = page.locator("#result-3")
    option = page.locator("#nav optgroup").nth(2).locator("option", has_text="colour")
    jump.select_option(value=option.get_attribute("value"))
    entry = card.locator(".variables > li", has=page.get_by_role("heading", name="colour"))
    expect(entry).to_be_in_viewport()
    expect(entry.locator("details").first).to_have_attribute("open", "")
    ids = page.locator("[id]").evaluate_all("all => all.map(one => one.id)")
    assert [name for name, n in Counter(ids).items() if n > 1] == []


def test_a_variable_leads_to_itself_in_other_sections(open_page: Open) -> None:
    page = open_page(text_of("report"), height=600)
    first = page.locator("#result > section .variables > li", has=page.get_by_role("heading", name="day"))
    others = first.locator(".others button")
    assert others.all_text_contents() == [TITLES[1], TITLES[2], TITLES[4]]
    others.nth(2).click()
    drift = page.locator("#result-5 .variables > li", has=page.get_by_role("heading", name="day"))
    expect(drift).to_be_in_viewport()
    expect(drift.locator("details").first).to_have_attribute("open", "")
    assert open_page(text_of("models")).locator(".others").count() == 0


def test_chosen_parts_are_those_of_their_own_grid(open_page: Open) -> None:
    page = open_page(text_of("report"), height=3000)
    with_classes, without = page.locator("#grid-6"), page.locator("#grid-7")
    before = [block.locator("tbody tr").count() for block in (with_classes, without)]
    with_classes.locator("tbody tr").first.click()
    expect(with_classes.locator("tbody tr")).to_have_count(1)
    assert without.locator("tbody tr").count() == before[1] > 1
    page.locator("#variables-7").get_by_role("button", name="Expand all").click()
    row = page.locator("#variables-7").get_by_role("table", name="Parts of numbers").locator("tbody tr").first
    row.click()
    labels = without.locator("tbody tr th").all_text_contents()
    assert len(set(labels)) == 1
    expect(with_classes.locator("tbody tr")).to_have_count(1)


def test_every_table_of_every_section_is_saved_as_csv(open_page: Open) -> None:
    page = open_page(text_of("report"))
    for button in page.get_by_role("button", name="Expand all").all():
        button.click()
    page.wait_for_timeout(300)  # for what opens
    for fold in page.locator(".inner > summary").all():
        fold.click()
    tables = page.locator("table").count()
    assert tables == page.locator(".csv").count() > 40
    for caption in ("Points", "Cut-offs", "Curve of day", "Likely bounds of day", "Number of parts of day"):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"CSV of {caption}", exact=True).first.click()
        text = Path(download.value.path()).read_text(encoding="utf-8-sig")
        assert len(list(csv.reader(io.StringIO(text)))) > 2


def test_printed_page_has_the_charts_that_were_never_in_view(open_page: Open) -> None:
    page = open_page(text_of("report"), height=500, color_scheme="dark")
    charts = page.locator(".chart")
    expect(page.locator(".chart:not(:has(svg))")).to_have_count(0, timeout=20_000)
    assert charts.count() >= 10
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": 700, "height": 900})
    wide = "all => all.map(one => one.getBoundingClientRect().right)"
    assert max(page.locator(".chart svg").evaluate_all(wide)) <= 700
    assert max(page.locator("table").evaluate_all(wide)) <= 710
    assert not page.locator(".others").first.is_visible()
    inks = page.locator(".chart svg .mark-text text").evaluate_all("all => all.map(e => getComputedStyle(e).fill)")
    assert "rgb(232, 234, 237)" not in inks


def test_labels_of_a_chart_never_look_alike(open_page: Open) -> None:
    beginning, end = "a beginning that all of them share and that is long ", " and an end that all of them share too"
    rng = np.random.default_rng(0)
    value = rng.integers(0, 6, 3000)
    names = np.array([f"{beginning}{i}{end}" for i in range(6)])[value]
    label = np.array([f"class {i}" for i in value])
    model = gridmodl.optimize({"x": names, "y": rng.random(3000)}, label).rename("x", list(np.unique(names)))
    for width in (390, 1280):
        page = open_page(model.to_html(), width=width)
        page.locator(".chart svg").first.wait_for()
        written = page.locator(".chart").first.locator(".role-axis-label text").all_text_contents()
        parts = [text for text in written if "beginning" in text or "…" in text]
        assert len(parts) == len(set(parts)) == 6


def test_names_below_bars_are_whole_where_there_is_room(open_page: Open) -> None:
    rng = np.random.default_rng(0)
    value = rng.integers(0, 3, 3000)
    names = np.array(["Amer-Indian-Eskimo and all others", "Asian-Pacific-Islander", "Scandinavian"])
    model = gridmodl.optimize({"x": names[value]}, rng.random(3000) < np.array([0.1, 0.5, 0.9])[value])
    shown = model.rename("x", sorted(names))
    periods = np.array(["the first quarter of 2024", "the second quarter of 2024"])[rng.integers(0, 2, 300)]
    for page, parts in (
        (open_page(shown.to_html(), width=1280), set(names.tolist())),
        (open_page(model.compare({"x": names[value[:300]]}, by=periods).to_html(), width=1280), set(periods.tolist())),
    ):
        chart = page.locator(".chart").last
        chart.locator("svg").first.wait_for()
        assert parts <= set(chart.locator(".role-axis-label text").all_text_contents())


@pytest.mark.parametrize("name", ["models", "drift", "numerical", "average", "averages", "grouped"])
@pytest.mark.parametrize("width", [390, 640])
def test_no_chart_is_wider_than_its_place(open_page: Open, name: str, width: int) -> None:
    page = open_page(text_of(name), width=width)
    if page.get_by_role("button", name="Expand all").count():
        page.get_by_role("button", name="Expand all").click()
    for chart in page.locator(".chart").all():
        chart.scroll_into_view_if_needed()
        chart.locator("svg").first.wait_for()
        assert chart.evaluate("e => e.scrollWidth - e.clientWidth") <= 0


def test_what_a_link_leads_to_is_not_below_the_links(open_page: Open) -> None:
    for width in (390, 1000):
        page = open_page(text_of("report"), width=width, height=700)
        page.get_by_role("link", name=TITLES[4]).click()
        heading = page.locator("#result-5-title")
        expect(heading).to_be_in_viewport()
        page.wait_for_timeout(1500)  # the page scrolls
        nav = page.locator("#nav").bounding_box()
        assert heading.bounding_box()["y"] >= max(0, nav["y"] + nav["height"])


def test_nothing_follows_a_name_that_may_turn_the_line_around(open_page: Open) -> None:
    captions = [
        table["caption"] for one in Page(text_of("hostile drift")).section["variables"] for table in one["tables"]
    ]
    assert "All new rows, parts of (no name)" in captions
    assert f"All new rows, parts of {EVIL}" in captions
    page = open_page(text_of("joint"))
    state = page.locator(".state")
    assert state.locator("bdi").all_text_contents() == ["numbers", EVIL]
    assert state.text_content().endswith(f"{EVIL}: 19 parts")


def test_an_event_has_no_quotes_of_its_own() -> None:
    data = {"x": np.arange(200.0)}
    for event in ("it's {yes}, no", "missing"):
        models = gridmodl.optimize_each(data, np.where(data["x"] > 90, event, "else"), event=event)
        comparison = models.compare(data)
        shown = dict(Page(comparison.to_html()).section["facts"])["Event"]
        assert shown == comparison.event == (event if event != "missing" else "'missing'")


def test_a_heat_map_shows_the_event_first(open_page: Open) -> None:
    page = open_page(text_of("grid"))
    assert htmlpages.grid().event == "yes"
    assert page.get_by_label("Colour").locator("option:checked").text_content() == "share of yes"


def test_points_have_the_short_names_of_parts() -> None:
    section = Page(text_of("scorecard")).section
    (points,) = [table for table in section["tables"] if table["caption"] == "Points"]
    labels = table_of(section, points)["part"]
    shown = dict(zip(labels, points["names"], strict=True))
    assert shown["{black}"] == "2: black"
    assert points["names"][0] == labels[0] == ""


def test_values_of_no_part_have_no_line_of_0_rows() -> None:
    page = Page(text_of("scorecard"))
    assert "(any other value)" not in text_of("scorecard")
    others = "unknown categories: 0 points; missing values where training had none: 0 points"
    assert dict(page.section["facts"])["Other values"] == others
    (points,) = [table for table in page.section["tables"] if table["caption"] == "Points"]
    assert min(table_of(page.section, points)["rows"][1:]) > 0


def test_a_title_names_the_columns_of_the_grid() -> None:
    rng = np.random.default_rng(0)
    data = {name: rng.random(400) for name in ("a", "left out", "b")}
    y = (data["a"] > 0.5) != (data["b"] > 0.5)
    assert Page(gridmodl.optimize(data, y).to_html()).section["title"] == "Best grid of a, b"
    noise = gridmodl.optimize(data, rng.permutation(y))
    assert not noise.informative
    assert Page(noise.to_html()).section["title"] == "No grid of 3 columns pays"


def test_variables_are_ranked_by_their_levels_after_edits() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(400) > 0.5
    models = gridmodl.optimize_each({"weak": y + rng.normal(size=400), "strong": y + 0.3 * rng.normal(size=400)}, y)
    assert list(models) == ["strong", "weak"]
    edited = models.edit("strong", bounds=[-0.4])
    assert list(edited) == ["strong", "weak"]
    assert edited["strong"].level < edited["weak"].level
    variables = Page(edited.to_html()).section["variables"]
    assert [one["name"] for one in variables] == ["weak", "strong"]
    assert variables[0]["worth"] > variables[1]["worth"]
    assert gridmodl.plot.ColumnsDisplay.from_models(edited).names == ["weak", "strong"]


@pytest.mark.parametrize(
    ("values", "bounds", "title"),
    [
        (
            np.append(np.linspace(-500, 500, 300), np.linspace(-0.02, 0.02, 3000)),
            [-0.03, 0.03],
            "density, log scale",
        ),
        (np.linspace(0.0, 10.0, 200), [5.0, 20.0], "density"),  # the last part lies outside of the domain
    ],
)
def test_a_density_that_would_look_blank_has_a_log_scale(
    values: np.ndarray, bounds: list[float], title: str, open_page: Open
) -> None:
    page = open_page(gridmodl.Model.from_partitions({"x": values}, None, {"x": bounds}).to_html())
    titles = page.locator(".chart svg .role-axis-title text")
    titles.first.wait_for()
    assert sorted(titles.all_text_contents()) == [title, "x"]
