"""Displays and the editor of partitions in a real JupyterLab; the other tests need none of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jupyterlab", reason="needs jupyterlab: pip install jupyterlab")
pytest.importorskip("anywidget", reason="needs anywidget")
playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")

from reproduce.pictures.jupyter import jupyter_lab, run_command, run_notebook  # noqa: E402

expect = playwright.expect

CELLS = [
    """import numpy as np
import gridmodl
x = np.arange(200.0) % 50
y = np.select([x < 10, x < 30], ["low", "middle"], "$x^2$")
model = gridmodl.optimize({"a long name of a column": x}, y)
model""",
    """towns = np.array(["Paris in the North", "Lyon in the South", "Nice by the sea", "Metz"])[np.arange(200) % 4]
gridmodl.optimize({"town": towns, "x": x}, y)""",
    """editor = gridmodl.Model.from_partitions({"x": x}, y, {"x": [9.5, 20.5, 29.5]}).widget()
editor""",
    """print(editor.model.partition("x").names)""",
]
# Words of tables, each with the number of lines that it takes; a space, not a letter, may end a line.
LINES_OF_WORDS = r"""of => [...of.querySelectorAll("td, th")].flatMap(cell => {
    const range = document.createRange(), walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), found = [];
    for (let text = walk.nextNode(); text; text = walk.nextNode())
        for (const word of text.data.matchAll(/\S+/g)) {
            range.setStart(text, word.index); range.setEnd(text, word.index + word[0].length);
            found.push([word[0], range.getClientRects().length]);
        }
    return found;
})"""


@pytest.fixture(scope="module")
def page(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder: Path = tmp_path_factory.mktemp("jupyter")
    with jupyter_lab(folder) as address:
        page = run_notebook(browser, address, folder, CELLS)
        yield page
        page.close()


def output(page: Any, cell: int) -> Any:
    return page.locator(".jp-CodeCell").nth(cell).locator(".jp-Cell-outputArea")


@pytest.mark.parametrize("width", [1280, 640])
@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_tables_never_break_inside_a_word(page: Any, theme: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 1600})
    run_command(page, "apputils:change-theme", theme=f"JupyterLab {theme}")
    for cell in (0, 1):
        shown = output(page, cell)
        expect(shown.locator("table").first).to_be_visible()
        words = shown.evaluate(LINES_OF_WORDS)
        assert len(words) > 10
        assert [word for word, n_lines in words if n_lines > 1] == []
    page.set_viewport_size({"width": 1280, "height": 1600})


def test_names_are_no_formulas(page: Any) -> None:
    """JupyterLab typesets what stands between two dollars, unless it is told not to."""
    shown = output(page, 0)
    expect(shown).to_contain_text("$x^2$")
    page.wait_for_timeout(1000)
    assert shown.locator("mjx-container").count() == 0


def test_edits_reach_python(page: Any) -> None:
    editor, said = page.locator(".gridmodl-editor"), page.locator(".jp-CodeCell").nth(3)
    parts = editor.locator("li.part .name .text")
    expect(parts).to_have_text(["(-inf, 9.5]", "(9.5, 20.5]", "(20.5, 29.5]", "(29.5, inf)"])
    editor.get_by_role("button", name=re.compile(r"^Merge \(9.5")).click()
    expect(parts).to_have_text(["(-inf, 9.5]", "(9.5, 29.5]", "(29.5, inf)"])
    editor.get_by_role("button", name="Split (9.5, 29.5]").click()
    editor.locator("[data-key=bound]").fill("25.5")
    editor.get_by_role("button", name="Split here").click()
    expect(parts).to_have_text(["(-inf, 9.5]", "(9.5, 25.5]", "(25.5, 29.5]", "(29.5, inf)"])
    editor.get_by_role("button", name="Undo").click()
    expect(parts).to_have_count(3)
    said.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    expect(said.locator(".jp-OutputArea")).to_have_text("['(-inf, 9.5]', '(9.5, 29.5]', '(29.5, inf)']")
