"""HTML pages in a browser: what is seen, clicked, typed and read out."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from report import htmlpages
from report.htmlpages import EVIL, VALUES, text_of, without_number

import gridmodl
from gridmodl import Model, Models

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
expect = playwright.expect

Open = Callable[..., Any]


def names_shown(page: Any) -> list[str]:
    return list(page.locator(".variables > li h3").all_text_contents())


def cells_of(table: Any) -> list[list[str]]:
    """The texts of all cells of the body of a table."""
    return table.locator("tbody").evaluate("body => [...body.rows].map(row => [...row.cells].map(c => c.textContent))")


def column_of(table: Any, j: int) -> list[str]:
    return [row[j] for row in cells_of(table)]


def numbers(texts: list[str]) -> list[float]:
    return [float(text.replace(",", "").rstrip("%")) for text in texts]


def short_names(model: Model, name: Any, labels: Any) -> list[str]:
    """The names of parts that a page shows in place of their labels."""
    partition = model.partition(name)
    name_of = dict(zip(partition.labels, partition.names, strict=True))
    return [name_of[label] for label in labels]


def hovered(page: Any, mark: Any) -> Any:
    """The tooltip of a mark; scrolling hides it, so that comes first."""
    mark.scroll_into_view_if_needed()
    page.wait_for_timeout(200)
    mark.hover()
    tooltip = page.locator("#tooltip")
    tooltip.wait_for()
    return tooltip


@pytest.mark.parametrize("name", htmlpages.PAGES)
def test_phone_shows_all_charts_without_scrolling_sideways(open_page: Open, name: str) -> None:
    page = open_page(text_of(name), width=375, height=4000, has_touch=True, is_mobile=True)
    for details in page.locator(".variables > li > details").all():
        if details.get_attribute("open") is None:
            details.locator("summary").first.click()
    for chart in page.locator(".chart").all():
        chart.scroll_into_view_if_needed()
        chart.locator("svg").first.wait_for()
        assert chart.get_attribute("role") == "img"
        assert "has the same numbers" in chart.get_attribute("aria-label")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_no_chart_is_wider_than_its_box(open_page: Open) -> None:
    rng = np.random.default_rng(0)
    colours = np.array(["BUFF", "ORANGE", "PURPLE", "YELLOW", "BROWN", "BLACK", "WHITE", "CHOCOLATE", "GREEN"])
    colour = rng.integers(0, 9, 4000)
    rate = np.array([0.0, 0.0, 0.0, 0.0, 0.1, 0.1, 0.75, 0.97, 0.97])[colour]
    label = np.where(rng.random(4000) < rate, "POISONOUS", "EDIBLE")
    page = open_page(gridmodl.optimize({"SporePrintColor": colours[colour]}, label).to_html(), width=390)
    page.locator(".chart svg").first.wait_for()
    widths = page.locator(".chart").evaluate_all("all => all.map(one => one.scrollWidth - one.clientWidth)")
    assert widths == [0] * len(widths) != []


def test_a_shade_shows_that_a_table_goes_on_a_little(open_page: Open) -> None:
    page = open_page(text_of("models"))
    box = page.locator(".scroll").first
    box.scroll_into_view_if_needed()
    box.evaluate("box => box.firstChild.style.width = `${box.clientWidth + 12}px`")

    def edge() -> bytes:
        place = box.locator("tbody tr").first.evaluate("row => row.getBoundingClientRect().toJSON()")
        right = box.evaluate("box => box.getBoundingClientRect().right")
        clip = {"x": right - 10, "y": place["y"] + 2, "width": 8, "height": 3}
        return bytes(page.screenshot(clip=clip))

    shaded = edge()
    box.evaluate("box => box.scrollLeft = 100")
    assert box.evaluate("box => box.scrollLeft") == 12
    assert edge() != shaded


def test_search_finds_names_and_values(open_page: Open) -> None:
    page = open_page(text_of("models"))
    every = [str(name) for name in htmlpages.models()]
    assert names_shown(page) == every
    search = page.get_by_label("Search names and parts")
    search.fill("NOI")
    assert names_shown(page) == ["noise"]
    assert page.get_by_role("status").first.text_content() == "1 of 4 variables found"
    search.fill("green")
    assert names_shown(page) == ["colour"]
    search.fill("nowhere")
    assert names_shown(page) == []
    search.fill("")
    assert names_shown(page) == every


def test_variables_are_sorted_by_buttons(open_page: Open) -> None:
    page = open_page(text_of("models"))
    ranked = names_shown(page)
    by_name = page.get_by_role("button", name="Name", exact=True)
    by_name.click()
    assert names_shown(page) == sorted(ranked)
    assert by_name.get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="Rank", exact=True).click()
    assert names_shown(page) == ranked
    assert by_name.get_attribute("aria-pressed") == "false"
    page.get_by_role("button", name="Parts", exact=True).click()
    assert names_shown(page) == sorted(ranked, key=lambda name: -htmlpages.models()[name].partitions[name].n_parts)


def test_variable_opens_by_click_and_by_key(open_page: Open) -> None:
    page = open_page(text_of("models"))
    last = page.locator(".variables > li").last
    assert last.locator(".chart").count() == 0
    last.locator("summary").click()
    last.locator(".chart svg").wait_for()
    last.locator("summary").press("Enter")
    assert not last.locator("table").is_visible()
    last.locator("summary").press("Space")
    assert last.locator("table").is_visible()


def test_table_is_sorted_by_its_heads(open_page: Open) -> None:
    page = open_page(text_of("models"))
    table = page.get_by_role("table", name="Parts of age")
    rows = numbers(column_of(table, 1))
    assert rows == htmlpages.models()["age"].partitions["age"].rows.tolist()
    head = table.locator("thead th").nth(1)
    assert head.get_attribute("aria-sort") == "none"
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert numbers(column_of(table, 1)) == sorted(rows, reverse=True)
    head.get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert numbers(column_of(table, 1)) == sorted(rows)
    head.get_by_role("button").press("Enter")
    assert numbers(column_of(table, 1)) == rows
    assert head.get_attribute("aria-sort") == "none"
    first = table.locator("thead th").first
    first.get_by_role("button").click()
    first.get_by_role("button").click()
    assert column_of(table, 0) == htmlpages.models()["age"].partitions["age"].labels[::-1]


def test_classes_that_are_numbers_are_sorted_and_searched(open_page: Open) -> None:
    classes = np.repeat(np.arange(60), 2)
    page = open_page(gridmodl.optimize({7: np.zeros(120)}, classes, target_kind="classes").to_html())
    table = page.get_by_role("table", name="Classes")
    first = table.locator("thead th").first.get_by_role("button")
    first.click()
    first.click()
    assert column_of(table, 0)[:3] == ["59", "58", "57"]
    page.get_by_role("searchbox").last.fill("58")
    page.wait_for_function("document.querySelectorAll('tbody')[0].rows.length < 5")
    assert column_of(table, 0) == ["58"]


@pytest.mark.parametrize(("scale", "shift", "pattern"), [(1, 0, r"-?\d+(\.\d{1,2})?"), (1e-3, 7, r"[67]\.\d{1,5}")])
def test_values_of_a_target_have_digits_by_their_range(open_page: Open, scale: float, shift: int, pattern: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.random(400)
    target = (np.round(x * 4) * 10 + rng.normal(size=400)) * scale + shift
    model = gridmodl.optimize({"x": x, "speed": target}, "speed", target_kind="numerical")
    page = open_page(model.to_html())
    table, expected = page.get_by_role("table", name="Parts of x"), model.table("x", frame="arrays")
    heads = [label.rstrip("↕") for label in table.locator("thead th").all_text_contents()]
    for key in ("mean", "median", "q5", "q95"):
        found = column_of(table, heads.index(key))
        assert all(re.fullmatch(pattern, text) for text in found)
        np.testing.assert_allclose(numbers(found), expected[key], atol=0.006 * scale)
    page.locator(".chart svg").get_by_text("speed: line 5 to 95%").wait_for()


def test_heads_of_tables_are_not_broken_inside_short_words(open_page: Open) -> None:
    rng = np.random.default_rng(0)
    names = ["capital_gain", "hours_per_week", "education", "marital_status", "StalkSurfaceAboveRing"]
    data = {name: rng.random(2000) for name in names}
    label = sum((column > 0.5).astype(int) for column in data.values()) > 2
    page = open_page(gridmodl.optimize(data, label, time_limit=5).to_html(), width=900)
    heads = page.locator("#grid thead button bdi")
    assert heads.count() > len(names)
    words = heads.evaluate_all(
        "all => all.flatMap(head => [...head.children]).map(word => [word.textContent, word.getClientRects().length])"
    )
    assert {word for word, _ in words} >= set(names)
    assert [word for word, lines in words if lines > 1] == []


def test_hovering_tells_more(open_page: Open) -> None:
    page = open_page(text_of("models"))
    entry = page.locator(".variables > li", has=page.get_by_role("heading", name="colour"))
    entry.locator(".chart").scroll_into_view_if_needed()  # drawn when it comes into view
    tooltip = hovered(page, entry.locator("svg .mark-rect path").first)
    model = htmlpages.models()["colour"]
    text = tooltip.text_content()
    assert model.partitions["colour"].names[0] in text
    assert f"{model.table(frame='arrays')['share_no'][0]:.1%}" in text
    page.keyboard.press("Escape")
    assert not tooltip.is_visible()


def test_hostile_names_are_shown_as_they_are(open_page: Open) -> None:
    page = open_page(htmlpages.hostile_models().to_html(title=EVIL))
    assert page.locator("h1").text_content() == EVIL
    entry = page.locator(".variables > li").first
    assert entry.locator("h3").text_content() == EVIL
    assert column_of(entry.locator("table").first, 0) == htmlpages.hostile_models()[EVIL].partitions[EVIL].names
    assert "<b>yes<img src=x" in hovered(page, entry.locator("svg .mark-rect path").first).text_content()
    assert page.locator("img, b, i, script:not(body > script)").count() == 0
    page.get_by_label("Search names and parts").fill(VALUES[0].upper())
    assert page.locator(".variables > li").count() == 1


def test_cells_are_those_of_the_model(open_page: Open) -> None:
    model, page = htmlpages.grid(), open_page(text_of("grid"))
    table, expected = page.get_by_role("table", name="Cells"), model.cell_table("arrays")
    assert [label.rstrip("↕") for label in table.locator("thead th").all_text_contents()][:5] == [
        *model.cells.names, "rows", "share of rows",
    ]  # fmt: skip
    assert len(cells_of(table)) == len(expected["rows"])
    for j, name in enumerate(model.cells.names):
        assert column_of(table, j) == short_names(model, name, expected[name])
    assert numbers(column_of(table, 3)) == expected["rows"].tolist()
    for i, label in enumerate(model.classes.tolist()):
        np.testing.assert_allclose(numbers(column_of(table, 6 + 2 * i)), 100 * expected[f"share_{label}"], atol=0.051)
    search = page.get_by_label("Search the cells by their parts")
    wanted = short_names(model, model.cells.names[0], expected[model.cells.names[0]])[0]
    search.fill(wanted)
    assert set(column_of(table, 0)) == {wanted}


def test_heat_map_shows_any_two_variables(open_page: Open) -> None:
    page = open_page(text_of("grid"), height=2500)
    across, up = page.get_by_label("Across"), page.get_by_label("Up")
    first, second = across.evaluate("e => e.selectedOptions[0].text"), up.evaluate("e => e.selectedOptions[0].text")
    across.select_option(label=second)
    assert up.evaluate("e => e.selectedOptions[0].text") == first
    page.get_by_label("Colour").select_option(label="share of yes")
    chart = page.locator("#grid .chart")
    assert f"{second} and {first}: share of yes" in chart.get_attribute("aria-label")
    chart.locator("svg").get_by_text("share of yes").wait_for()
    assert "share of yes" in hovered(page, chart.locator("svg .mark-rect.role-mark path").first).text_content()


def test_heat_map_takes_hostile_names(open_page: Open) -> None:
    page = open_page(text_of("joint"), height=2500)
    text = hovered(page, page.locator("#grid svg .mark-rect.role-mark path").first).text_content()
    assert f"{EVIL}: 0: <b>" in text
    assert "mutual information: " in text


@pytest.mark.parametrize("name", ["joint", "numerical", "grouped"])
def test_slider_makes_the_grid_coarser(open_page: Open, name: str) -> None:
    model: Model = htmlpages.ALL[name]()
    page, hierarchy = open_page(text_of(name)), model.hierarchy()
    slider, state = page.get_by_label("Coarsen the grid"), page.locator(".state")
    compare_cells(page, model)
    assert "100.0% of the information kept" in state.text_content()
    slider.focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(state).to_contain_text("2 merges of")
    coarse = model.coarsen(max_parts=hierarchy.shape_at(2))
    assert f"{hierarchy.information[2]:.1%} of the information kept" in slider.get_attribute("aria-valuetext")
    for partition in coarse.all_partitions.values():
        assert re.search(
            rf"{re.escape(str(partition.name).strip())}\s*: {partition.n_parts} part", state.text_content()
        )
    compare_cells(page, coarse)
    page.keyboard.press("End")
    expect(page.locator("#grid tbody tr")).to_have_count(1)
    assert "0.0% of the information kept" in state.text_content()
    assert cells_of(page.get_by_role("table", name="Cells"))[0][:2] == ["all rows", f"{model.n_rows:,}"]
    assert not page.locator("#grid .chart").is_visible()
    page.keyboard.press("Home")
    compare_cells(page, model)
    page.locator("#grid .chart svg").wait_for()


def compare_cells(page: Any, model: Model) -> None:
    """The cells of the page are those of the model, in the order of their rows."""
    expected, n = model.cell_table("arrays"), len(model.cells.names)
    table = page.get_by_role("table", name="Cells")
    shown = min(50, len(expected["rows"]))
    expect(page.locator("#grid thead th")).to_have_count(n + 5)
    expect(page.locator("#grid tbody tr")).to_have_count(shown)
    found = cells_of(table)
    assert sorted(numbers([row[n] for row in found])) == sorted(expected["rows"][:shown].tolist())
    if len(expected["rows"]) <= 50:
        lift = {tuple(map(without_number, row[:n])): row[n + 3] for row in found}
        named = [short_names(model, name, expected[str(name)]) for name in model.cells.names]
        for i, parts in enumerate(zip(*named, strict=True)):
            assert float(lift[tuple(map(without_number, parts))]) == pytest.approx(expected["lift"][i], rel=1e-3)


def test_long_tables_come_in_pages(open_page: Open) -> None:
    errors = {f"column {i}": ValueError("no rows" if i % 2 else "no numbers") for i in range(120)}
    page = open_page(Models({"x": htmlpages.semi()}, errors).to_html())
    table = page.get_by_role("table", name="Columns without a model")
    box = page.locator("section", has=table)
    assert column_of(table, 0) == list(errors)[:50]
    assert box.get_by_role("button", name="Previous").is_disabled()
    box.get_by_role("button", name="Next").click()
    box.get_by_role("button", name="Next").click()
    assert column_of(table, 0) == list(errors)[100:]
    assert box.get_by_role("status").text_content() == "Rows 101 to 120 of 120"
    assert box.get_by_role("button", name="Next").is_disabled()
    box.get_by_role("searchbox").fill("COLUMN 11")
    assert column_of(table, 0) == ["column 11", *(f"column 11{i}" for i in range(10))]
    assert box.get_by_role("status").text_content() == "11 rows"


def test_a_thousand_variables_stay_usable(open_page: Open) -> None:
    text = text_of("thousand")
    start = time.perf_counter()
    page = open_page(text)
    assert time.perf_counter() - start < 15  # a second or two on a free machine
    page.locator(".chart svg").first.wait_for()
    assert page.locator(".variables > li").count() == 1000
    assert page.locator(".chart").count() == 3  # the others are made when they are opened
    search = page.get_by_label("Search names and parts")
    start = time.perf_counter()
    search.fill("column 77 with")
    assert names_shown(page) == ["column 77 with a long name of its own"]
    assert time.perf_counter() - start < 3
    found = page.locator(".variables > li")
    found.locator("summary").first.click()
    found.locator(".chart svg").first.wait_for()


def test_keys_go_through_the_page_in_order(open_page: Open) -> None:
    page = open_page(text_of("joint"))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.type") == "search"
    places = []
    for _ in range(60):
        page.keyboard.press("Tab")
        places.append(
            page.evaluate("[document.activeElement.type, document.activeElement.getBoundingClientRect().height]")
        )
        if places[-1][0] == "range":
            break
    assert places[-1][0] == "range"  # no trap on the way, and
    assert all(height > 0 for _, height in places)  # nothing unseen


def test_colours_follow_the_reader(open_page: Open) -> None:
    dark, light = (open_page(text_of("density"), color_scheme=scheme) for scheme in ("dark", "light"))
    colours = []
    for page in (dark, light):
        page.locator(".chart svg text").first.wait_for()
        colours.append(page.locator(".chart svg text").first.get_attribute("fill"))
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != ""
    assert colours == ["#e8eaed", "#1b1f24"]
    light.emulate_media(color_scheme="dark")
    expect(light.locator(".chart svg text").first).to_have_attribute("fill", "#e8eaed")


def test_without_scripts_there_is_the_summary(open_page: Open, browser: Any, tmp_path: Any) -> None:
    path = tmp_path / "plain.html"
    htmlpages.grid().to_html(path)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.locator("noscript").inner_text().strip().endswith(htmlpages.grid().summary().splitlines()[-1])
    context.close()


def test_browser_refuses_what_the_page_does_not_name(browser: Any, tmp_path: Any) -> None:
    path = tmp_path / "page.html"
    path.write_text(text_of("density") + "<script>window.hit = 1</script>", encoding="utf-8")
    context = browser.new_context()
    page = context.new_page()
    page.goto(path.as_uri())
    page.locator(".chart svg").first.wait_for()
    assert page.evaluate("window.hit === undefined")
    # Later, as the browser lets code of its debugger do what that of the page may not.
    tried = "done => setTimeout(() => { try { new Function('')(); done('ran') } catch (error) { done(error.name) } })"
    assert page.evaluate(f"new Promise({tried})") == "EvalError"
    assert page.evaluate("fetch('https://example.org').then(() => 'came', () => 'refused')") == "refused"
    context.close()


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        *((name, ("light", "dark")[i % 2]) for i, name in enumerate(htmlpages.PAGES)),
        *((name, ("dark", "light")[i % 2]) for i, name in enumerate(htmlpages.PAGES) if name in ("models", "report")),
    ],
)
def test_axe_finds_nothing(open_page: Open, name: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    page = open_page(text_of(name), color_scheme=scheme)
    page.locator(".chart svg").first.wait_for()
    for row in page.locator("tr.pick").all()[:1]:
        row.click()  # a chosen part has a colour of its own
    for fold in page.locator(".inner > summary").all():
        fold.click()
    found = axe.Axe().run(page)
    assert [violation["id"] for violation in found.response["violations"]] == [], found.generate_report()


def test_drift_is_drawn_by_part_and_by_period(open_page: Open) -> None:
    found: gridmodl.Comparison = htmlpages.drift()
    page = open_page(text_of("drift"))
    first = page.locator(".variables > li").first
    one = max(found.all_parts, key=lambda part: ("drift" in part.verdicts, part.psi.max()))
    assert first.locator("h3").text_content() == str(one.name)
    charts = first.locator(".chart")
    charts.nth(1).scroll_into_view_if_needed()
    charts.nth(1).locator("svg").wait_for()
    assert charts.count() == 2
    bars = charts.nth(1).locator("g.mark-rect path")
    assert bars.count() == len(one.periods) - 1
    rows = column_of(first.locator("table").first, 2)
    assert numbers(rows) == one.new_rows[0].tolist()
