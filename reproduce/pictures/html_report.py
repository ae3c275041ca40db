"""The picture of `docs/use/html_report.md`: a page of iris in Chromium, its slider moved and a cell hovered.

.venv/bin/pip install --group test && .venv/bin/python -m reproduce.pictures.html_report
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from sklearn.datasets import load_iris

import gridmodl
from reproduce import ROOT

PICTURE = ROOT / "docs" / "pictures" / "html_report.png"


def main() -> None:
    data = load_iris(as_frame=True).data[["petal length (cm)", "petal width (cm)"]]
    model = gridmodl.optimize(data)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "page.html"
        model.to_html(path, title="Petals of iris")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 900, "height": 1000})
        page.goto(path.as_uri())
        page.locator(".variables summary").first.click()  # closes it, so that the grid is seen
        page.get_by_label("Coarsen the grid").press("ArrowRight")
        page.locator("#grid svg .mark-rect.role-mark path").nth(2).hover()
        page.locator("#tooltip").wait_for()
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
