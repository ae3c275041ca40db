"""The editor of partitions in a browser: a page hosts its face, and clicks reach the editor in Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gridmodl
from gridmodl.report.widget.editor import PartitionEditor

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
expect = playwright.expect

Open = Callable[..., Any]
EVIL = "<img src=x onerror=alert(1)>"


def host_page() -> str:
    """A page that hosts the face without a notebook.

    Its function ``start(state)`` shows a state, and it calls ``handle(command)``, which returns the next one.
    """
    host = (Path(__file__).parent / "widget_host.html").read_text(encoding="utf-8")
    script, style = ((files("gridmodl.report.widget") / f"editor.{kind}").read_text("utf-8") for kind in ("js", "css"))
    return host.replace("STYLE", style).replace("SCRIPT", script.replace("export default", "const widget ="))


def start(open_page: Open, editor: PartitionEditor, width: int = 1280, **options: Any) -> Any:
    page = open_page(host_page(), width=width, **options)
    page.expose_function("handle", editor.handle)
    page.evaluate("state => { window.start(state) }", editor.state())
    return page


def numbers_model() -> gridmodl.Model:
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 10, 2000).round(2)
    y = np.where(rng.random(2000) < np.select([x < 3, x < 6, x < 8], [0.1, 0.35, 0.6], 0.85), "bad", "good")
    return gridmodl.optimize({"income": x}, y, event="bad")


def groups_model() -> gridmodl.Model:
    rng = np.random.default_rng(2)
    towns = np.array([EVIL, "Paris", "Lyon", "Nice", "Brest", "Metz", "Lille", "Tours"])
    code = rng.integers(0, len(towns), 3000)
    y = (rng.random(3000) < 0.1 + 0.1 * (code // 2)).astype(int)
    return gridmodl.optimize({"town": towns[code]}, y)


def same(one: gridmodl.Model, other: gridmodl.Model) -> bool:
    """Whether two models are equal but for the time that they took."""
    records = [json.loads(model.to_json()) for model in (one, other)]
    for record in records:
        record.pop("elapsed", None)
    return records[0] == records[1]


def test_clicks_merge_split_and_undo(open_page: Open) -> None:
    model = numbers_model()
    editor = PartitionEditor(model)
    page = start(open_page, editor)
    parts = page.locator("li.part")
    expect(parts).to_have_count(model.partitions["income"].n_parts)
    expect(page.locator(".trend")).to_have_text("rate of bad: monotone, ascending")

    page.locator("li.between button").nth(1).click()
    expect(parts).to_have_count(model.partitions["income"].n_parts - 1)
    merged = model.edit("income", merge=[1, 2])
    assert same(editor.model, merged)
    assert f"{merged.delta:.2f}" in page.locator(".change").text_content()

    page.get_by_role("button", name="Split").first.click()
    page.locator("[data-key=bound]").fill("1.5")
    page.get_by_role("button", name="Split here").click()
    expect(parts).to_have_count(merged.partitions["income"].n_parts + 1)
    assert same(editor.model, merged.edit("income", split={0: 1.5}))

    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Undo").click()
    expect(parts).to_have_count(model.partitions["income"].n_parts)
    assert editor.model is model
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    page.get_by_role("button", name="Redo").click()
    expect(parts).to_have_count(model.partitions["income"].n_parts - 1)
    assert same(editor.model, merged)


def test_best_split_is_offered_with_its_price(open_page: Open) -> None:
    model = numbers_model()
    editor = PartitionEditor(model)
    page = start(open_page, editor)
    page.get_by_role("button", name="Split").nth(1).click()
    offer = page.locator("[data-key=offer0]")
    expect(offer).to_be_visible()
    best = editor.offers(1).offers[0]
    assert offer.text_content() == f"at {best.at} +{best.delta:.2f}"
    offer.click()
    expect(page.locator("li.part")).to_have_count(model.partitions["income"].n_parts + 1)
    assert same(editor.model, model.edit("income", split={1: best.at}))
    assert editor.model.delta == pytest.approx(best.delta, abs=1e-9)
    page.locator("li.between button").nth(1).click()
    expect(page.locator(".change")).to_have_text("change so far 0.00")  # with no sign


def test_groups_merge_by_selection_and_split_by_values(open_page: Open) -> None:
    model = groups_model()
    editor = PartitionEditor(model)
    page = start(open_page, editor)
    boxes = page.locator("li.part > label input")
    boxes.nth(0).check()
    expect(page.locator("[data-key=with2]")).to_be_visible()
    boxes.nth(2).check()
    together = page.get_by_role("button", name="Merge 2 selected")
    expect(together).to_be_visible()
    together.click()
    expect(page.locator("li.part")).to_have_count(model.partitions["town"].n_parts - 1)
    merged = model.edit("town", merge=[0, 2])
    assert same(editor.model, merged)
    page.get_by_role("button", name="Split").first.click()
    group = merged.partitions["town"].groups[0]
    for place in (0, 2):
        page.locator(f"[data-key=value{place}]").check()
    apart = page.get_by_role("button", name=f"Split 2 of {len(group)} off")
    expect(apart).to_be_enabled()
    apart.click()
    expect(page.locator("li.part")).to_have_count(model.partitions["town"].n_parts)
    assert same(editor.model, merged.edit("town", split={0: [group[0], group[2]]}))


def test_double_click_renames_and_hostile_names_are_text(open_page: Open) -> None:
    editor = PartitionEditor(groups_model())
    page = start(open_page, editor)
    first = page.locator("li.part .text").first
    assert "<img" in first.text_content()
    first.dblclick()
    page.locator("[data-key=rename]").fill(EVIL)
    page.locator("[data-key=rename]").press("Enter")
    expect(page.locator("li.part .text").first).to_have_text(EVIL)
    assert editor.model.partitions["town"].names[0] == EVIL
    assert page.locator("img").count() == 0
    page.locator("[data-key=pen1]").press("Enter")
    page.locator("[data-key=rename]").press("Escape")
    expect(page.locator("[data-key=pen1]")).to_be_focused()


def test_a_name_that_is_refused_stays_to_be_mended(open_page: Open) -> None:
    editor = PartitionEditor(groups_model())
    page = start(open_page, editor)
    name = editor.model.partitions["town"].names[0]
    page.locator("[data-key=pen1]").click()
    page.keyboard.press("Control+a")
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("would have the name")
    field = page.locator("[data-key=rename]")
    expect(field).to_be_focused()
    expect(field).to_have_value(name)
    field.fill("a name of its own")
    page.keyboard.press("Enter")
    expect(field).to_have_count(0)
    expect(page.locator("li.part .text").nth(1)).to_have_text("a name of its own")
    expect(page.locator("[data-key=pen1]")).to_be_focused()
    page.keyboard.press("Enter")
    field.fill("")
    page.locator("h3").click()  # which brings back the name as it was
    expect(field).to_have_count(0)
    assert editor.model.partitions["town"].names[1] == editor.original.partitions["town"].names[1]


def test_parts_of_many_classes_name_their_largest(open_page: Open) -> None:
    x = np.arange(2600) % 26
    model = gridmodl.Model.from_partitions({"x": x}, np.array([f"c{i}" for i in range(26)])[x], {"x": [0.5, 12.5]})
    page = start(open_page, PartitionEditor(model), 390)
    first = page.locator("li.part").first
    expect(first).to_contain_text("largest classes c0 100%")
    assert page.locator(".stack, .legend").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_keys_do_all_that_clicks_do(open_page: Open) -> None:
    model = numbers_model()
    editor = PartitionEditor(model)
    page = start(open_page, editor)
    merge = page.locator("[data-key=merge0]")
    merge.press("Enter")
    expect(page.locator("li.part")).to_have_count(model.partitions["income"].n_parts - 1)
    expect(page.locator("[data-key=merge0]")).to_be_focused()
    page.keyboard.press("Control+z")
    expect(page.locator("li.part")).to_have_count(model.partitions["income"].n_parts)
    page.keyboard.press("Control+y")
    expect(page.locator("li.part")).to_have_count(model.partitions["income"].n_parts - 1)
    assert same(editor.model, model.edit("income", merge=[0, 1]))


def test_wrong_bound_is_an_error_that_is_read_out(open_page: Open) -> None:
    editor = PartitionEditor(numbers_model())
    page = start(open_page, editor)
    page.get_by_role("button", name="Split").first.click()
    page.locator("[data-key=bound]").fill("2,5")
    page.locator("[data-key=bound]").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("A bound is a number, such as 2.5; got '2,5'")
    assert page.locator("[data-key=bound]").input_value() == "2,5"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_fits_and_is_accessible(open_page: Open, width: int, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for model in (numbers_model(), groups_model()):
        editor = PartitionEditor(model)
        page = start(open_page, editor, width, color_scheme=scheme)
        page.get_by_role("button", name="Split").first.click()
        expect(page.locator(".panel")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("width", [1280, 390])
def test_many_parts_scroll_in_a_box_and_stay_where_they_were(open_page: Open, width: int) -> None:
    rows = np.arange(2000)
    model = gridmodl.optimize({"x": rows / 20}, rows // 20 % 2)
    assert model.partitions["x"].n_parts == 100
    page = start(open_page, PartitionEditor(model), width)
    assert page.evaluate("document.documentElement.scrollHeight") < 2 * page.viewport_size["height"]
    page.locator("[data-key=merge50]").click()  # which comes into view
    expect(page.locator("li.part")).to_have_count(99)
    assert page.locator(".parts").evaluate("box => box.scrollTop") > 1000
    expect(page.locator("[data-key=merge50]")).to_be_in_viewport()
