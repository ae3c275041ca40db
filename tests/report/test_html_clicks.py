"""What clicks on a page do: charts, folding, jumps, linked selections, prices of merges and CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report import htmlpages
from report.htmlpages import EVIL, text_of

import gridmodl

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
expect = playwright.expect

Open = Callable[..., Any]


def saved(page: Any, name: str) -> tuple[str, list[list[str]]]:
    """Name and lines of the CSV file of the table `name`."""
    with page.expect_download() as download:
        page.get_by_role("button", name=f"CSV of {name}", exact=True).click()
    text = Path(download.value.path()).read_text(encoding="utf-8-sig")
    return download.value.suggested_filename, list(csv.reader(io.StringIO(text)))


def test_head_says_what_was_asked_and_found_and_when(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    page = open_page(htmlpages.models().to_html(title="Buyers", about=f"Rows of 2024, target buys {EVIL}"))
    assert page.locator("#about").text_content() == f"Rows of 2024, target buys {EVIL} · 1970-01-02"
    asked, found = page.locator(".lead dd").all_text_contents()
    assert asked.startswith("the best partition of each of 4 columns on its own for the target buys by the criterion")
    assert found.startswith("3 of 4 columns tell about buys; most of all day (level ")
    assert page.locator("img").count() == 0


def test_a_variable_tells_its_iv_and_missing_share(open_page: Open) -> None:
    page = open_page(text_of("models"))
    line = page.locator(".variables > li", has=page.get_by_role("heading", name="age")).locator("summary").first
    model = htmlpages.models()["age"]
    partition = model.partitions["age"]
    iv = model.table(frame="arrays")["iv"].sum()
    assert f"iv {iv:.4f}" in line.text_content()
    assert f"{partition.n_missing / partition.rows.sum():.1%} missing" in line.text_content()


def test_chart_of_the_event_has_its_rate_its_evidence_and_the_classes(open_page: Open) -> None:
    page = open_page(text_of("models"))
    entry = page.locator(".variables > li", has=page.get_by_role("heading", name="age"))
    chart = entry.locator(".chart").first
    chart.scroll_into_view_if_needed()
    expect(chart.locator("svg .mark-symbol.role-mark path")).to_have_count(3)
    assert "rate of the event" in chart.get_attribute("aria-label")
    entry.get_by_label("Chart", exact=True).select_option(label="weight of evidence")
    expect(chart.locator("svg").get_by_text("weight of evidence")).to_be_visible()
    assert "weight of evidence" in chart.get_attribute("aria-label")
    entry.get_by_label("Chart", exact=True).select_option(label="shares of classes")
    expect(chart.locator("svg .mark-symbol.role-mark path")).to_have_count(0)


def test_all_variables_fold_and_unfold(open_page: Open) -> None:
    page = open_page(text_of("models"))
    opened = page.locator(".variables > li > details[open]")
    assert opened.count() == 3
    page.get_by_role("button", name="Expand all").click()
    assert opened.count() == 4
    page.get_by_role("button", name="Collapse all").click()
    assert opened.count() == 0


def test_jump_opens_a_variable_that_the_search_had_hidden(open_page: Open) -> None:
    page = open_page(text_of("models"), height=500)
    page.get_by_label("Search names and parts").fill("day")
    page.get_by_label("Jump to").select_option(label="noise")
    entry = page.locator(".variables > li", has=page.get_by_role("heading", name="noise"))
    expect(entry.locator("details").first).to_have_attribute("open", "")
    expect(entry).to_be_in_viewport()
    assert page.locator(".variables > li").count() == 4


def test_prices_of_merges_are_those_of_edits(open_page: Open) -> None:
    model = htmlpages.models()["day"]
    page = open_page(text_of("models"))
    entry = page.locator(".variables > li", has=page.get_by_role("heading", name="day"))
    entry.get_by_text("What merging two parts would cost").click()
    rows = entry.get_by_role("table", name="Merges of two parts of day").locator("tbody tr").all()
    assert len(rows) == model.partitions["day"].n_parts - 1
    costs = []
    for row in rows:
        *_, cost, how = row.locator("th, td").all_text_contents()
        parts = [int(number) for number in how.removeprefix("merge=[").removesuffix("]").split(",")]
        costs.append(model.edit("day", merge=parts).cost)
        assert float(cost.replace(",", "")) == pytest.approx(costs[-1], abs=1e-3)
    assert costs == sorted(costs)


@pytest.mark.parametrize("name", ["grid", "joint", "grouped", "numerical", "semi", "models"])
def test_prices_of_the_page_are_true(name: str) -> None:
    made = htmlpages.ALL[name]()
    section = htmlpages.Page(text_of(name)).section
    for variable in section["variables"]:
        for merge in variable["merges"][:3]:
            names = made if name == "models" else made.all_partitions
            (column,) = [one for one in names if str(one) == variable["name"]]
            model = made[column] if name == "models" else made
            edited = model.edit(column, merge=merge["parts"])
            assert merge["cost"] == pytest.approx(edited.cost, rel=1e-9)
            assert merge["delta"] == pytest.approx(edited.cost - model.cost, rel=1e-5, abs=1e-9)


def test_a_click_in_the_heat_map_chooses_parts_and_cells(open_page: Open) -> None:
    model = htmlpages.grid()
    page = open_page(text_of("grid"), height=2500)
    cells, every = page.locator("#grid tbody tr"), len(model.cells.parts)
    assert cells.count() == every
    page.locator("#grid svg .mark-rect.role-mark path").first.click()
    expect(cells).to_have_count(2)
    x, y = (
        page.get_by_label(label, exact=True).evaluate("e => e.selectedOptions[0].text") for label in ("Across", "Up")
    )
    chosen = [page.get_by_label(f"Only {name}", exact=True).input_value() for name in (x, y)]
    assert "0" not in chosen
    page.get_by_role("button", name="Expand all").click()
    expect(page.locator("#variables tr.selected")).to_have_count(2)
    page.get_by_role("button", name="Show all cells").click()
    expect(cells).to_have_count(every)
    expect(page.locator("#variables tr.selected")).to_have_count(0)
    row = page.get_by_role("table", name="Parts of a").locator("tbody tr").first
    row.click()
    n = int((model.cells.parts[:, model.cells.names.index("a")] == 0).sum())
    expect(cells).to_have_count(n)
    row.click()
    expect(cells).to_have_count(every)
    cells.first.click()
    expect(cells).to_have_count(1)


def test_chosen_parts_stay_chosen_when_they_merge(open_page: Open) -> None:
    page = open_page(text_of("joint"))
    page.get_by_label("Only numbers").select_option(index=1)
    page.get_by_label("Coarsen the grid").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".state")).to_contain_text("1 merge of")
    labels = page.locator("#grid tbody tr th").all_text_contents()
    assert len(set(labels)) == 1
    page.keyboard.press("End")
    expect(page.locator("#grid tbody tr")).to_have_count(1)


def test_cells_may_be_as_large_as_their_rows_and_groups_in_another_order(open_page: Open) -> None:
    page = open_page(text_of("joint"), height=2500)
    boxes = page.locator("#grid svg .mark-rect.role-mark path")
    boxes.first.wait_for()
    sizes = lambda: {round(box.bounding_box()["width"]) for box in boxes.all()}  # noqa: E731
    assert len(sizes()) <= 2
    page.get_by_label("Size of a cell").select_option(label="by its rows")
    page.wait_for_timeout(500)
    assert len(sizes()) > 2
    for label in ("number", "rows", "hierarchy"):
        page.get_by_label("Arrange by").select_option(label=label)
        page.wait_for_timeout(300)
        assert boxes.count() == len(htmlpages.joint().cells.parts)


def test_every_table_is_saved_as_csv(open_page: Open) -> None:
    page = open_page(text_of("models"))
    name, (head, *lines) = saved(page, "Parts of age")
    assert name == "Parts_of_age.csv"
    expected = htmlpages.models()["age"].table(frame="arrays")
    assert head[:2] == ["part", "rows"]
    assert [line[0] for line in lines] == list(expected["part"])
    np.testing.assert_allclose([float(line[head.index("woe")]) for line in lines], expected["woe"], rtol=1e-5)
    assert page.locator(".csv").count() == page.locator("table").count()


def test_texts_of_csv_files_are_no_formulas(open_page: Open) -> None:
    values = np.repeat(np.array(["=1+1", "+a", "-b", "@c", 'say "x", y\nz', "plain"], dtype=object), 20)
    model = gridmodl.Models({}, {value: ValueError(value) for value in dict.fromkeys(values)})
    page = open_page(model.to_html())
    _, (head, *lines) = saved(page, "Columns without a model")
    assert head == ["column", "reason"]
    assert [line[0] for line in lines] == ["'=1+1", "'+a", "'-b", "'@c", 'say "x", y\nz', "plain"]


def test_many_classes_are_named_in_their_parts(open_page: Open) -> None:
    label = np.arange(600) % 30
    model = gridmodl.optimize({"x": label + np.linspace(0, 0.5, 600)}, [f"kind {i}" for i in label.tolist()])
    page = open_page(model.to_html())
    chart = page.locator(".chart").first
    expect(chart.locator("svg .mark-text.role-mark text").filter(has_text="kind 17")).to_have_count(1)


def test_every_largest_class_is_named_on_a_phone(open_page: Open) -> None:
    label = np.repeat(np.arange(30), [600, *[20] * 29])
    x = np.where(label == 0, 0.0, label % 3 + 1) + np.linspace(0, 0.5, len(label))
    model = gridmodl.optimize({"x": x}, [f"kind {i}" for i in label.tolist()])
    page = open_page(model.to_html(), width=390)
    texts = page.locator(".chart svg .mark-text.role-mark text")
    expect(texts.filter(has_text="kind 0")).to_have_count(1)
    expect(texts.filter(has_text="kind")).to_have_count(model.partitions["x"].n_parts)


def test_masses_of_a_density_are_marked(open_page: Open) -> None:
    rng = np.random.default_rng(0)
    some = gridmodl.optimize(np.concatenate([np.zeros(300), rng.normal(5, 1, 300)]))
    page = open_page(some.to_html())
    expect(page.locator(".chart svg .mark-symbol.role-mark path")).to_have_count(1)
    for values in ([0.0] * 50 + [9.0] * 40, [3.0] * 20):
        drawn = open_page(gridmodl.optimize(np.array(values)).to_html()).locator(".chart svg .role-mark path")
        drawn.first.wait_for(state="attached")


def test_printed_page_is_plain_and_light(open_page: Open) -> None:
    page = open_page(text_of("models"), color_scheme="dark")
    page.locator(".chart svg").first.wait_for()
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator(".csv").first.is_visible()
    assert not page.locator("#nav").is_visible()
    fill = page.locator(".chart svg text").first.evaluate("e => getComputedStyle(e).fill")
    assert fill == "rgb(27, 31, 36)"
    assert page.locator("thead button").first.evaluate("e => getComputedStyle(e).display") == "contents"
    assert page.locator("tbody tr").first.evaluate("e => getComputedStyle(e).breakBefore") == "avoid"
