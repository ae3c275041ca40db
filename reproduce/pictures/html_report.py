"""The pictures of `docs/use/html_report.md` and of the gallery: its report of wines in Chromium, at the averages.

.venv/bin/pip install --group test && .venv/bin/python -m reproduce.pictures.html_report
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from sklearn.datasets import load_wine

import gridmodl
from reproduce import ROOT

PICTURES = ROOT / "docs" / "pictures"


def main() -> None:
    wine = load_wine(as_frame=True)
    target = wine.target_names[wine.target]
    models, averages = gridmodl.optimize_each(wine.data, target), gridmodl.average_each(wine.data, target)
    grid = gridmodl.optimize(wine.data[["alcohol", "flavanoids"]])
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "page.html"
        models.to_html(path, title="Wine", about="178 wines; target: cultivar", sections=[averages, grid])
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 1200})
        page.goto(path.as_uri())
        page.get_by_role("link", name="Averages").click()
        page.locator("#result-2 .chart svg").first.wait_for()
        page.wait_for_timeout(1500)  # the page scrolls, and charts above it are drawn
        page.locator("#result-2").evaluate("section => section.scrollIntoView({ behavior: 'instant' })")
        chart = page.locator("#result-2 .chart").first.bounding_box()
        page.screenshot(  # ends below the first chart
            path=PICTURES / "html_report.png",
            clip={"x": 0, "y": 0, "width": 1000, "height": chart["y"] + chart["height"] + 10 if chart else 1200},
        )
        small = browser.new_page(viewport={"width": 700, "height": 490}, device_scale_factor=2)
        small.goto(path.as_uri())
        small.locator(".chart svg").first.wait_for()
        small.get_by_role("heading", name="Variables").first.evaluate(
            "heading => heading.scrollIntoView({ behavior: 'instant' })"
        )
        small.screenshot(path=PICTURES / "html_report_small.png")
        browser.close()


if __name__ == "__main__":
    main()
