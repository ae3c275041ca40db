"""The picture of `docs/use/edit_by_eye.md`: the editor of one column in Chromium, a part open to be split.

.venv/bin/pip install --group test && .venv/bin/python -m reproduce.pictures.edit_by_eye
"""

from __future__ import annotations

import shutil

from playwright.sync_api import sync_playwright
from sklearn.datasets import load_breast_cancer

import gridmodl
from gridmodl.report.widget.face import host_page
from reproduce import ROOT

PICTURE = ROOT / "docs" / "pictures" / "edit_by_eye.png"


def main() -> None:
    data = load_breast_cancer(as_frame=True)
    model = gridmodl.optimize(data.data[["mean radius"]], data.target_names[data.target], event="malignant")
    editor = gridmodl.PartitionEditor(model)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 900, "height": 700}, color_scheme="light")
        page.set_content(host_page())
        page.wait_for_selector("html[data-ready]", state="attached")
        page.expose_function("handle", editor.handle)
        page.evaluate("state => { window.start(state) }", editor.state())
        page.get_by_role("button", name="Split").nth(1).click()
        page.wait_for_selector(".panel")
        page.locator("#cell").screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
