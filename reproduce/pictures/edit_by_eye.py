"""The picture of `docs/use/edit_by_eye.md`: the editor of one column in JupyterLab, a part open to be split.

.venv/bin/pip install --group test && .venv/bin/python -m reproduce.pictures.edit_by_eye
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

from reproduce import ROOT
from reproduce.pictures.jupyter import chromium, jupyter_lab, run_notebook

PICTURE = ROOT / "docs" / "pictures" / "edit_by_eye.png"
CELL = """from sklearn.datasets import load_breast_cancer
import gridmodl

data = load_breast_cancer(as_frame=True)
model = gridmodl.optimize(data.data[["mean radius"]], data.target_names[data.target], event="malignant")
editor = model.widget()
editor"""


def main() -> None:
    with TemporaryDirectory() as name, sync_playwright() as playwright, jupyter_lab(Path(name)) as address:
        page = run_notebook(chromium(playwright), address, Path(name), [CELL])
        page.set_viewport_size({"width": 1080, "height": 1000})
        page.get_by_role("button", name="Split").nth(1).click()
        page.wait_for_selector(".gridmodl-editor .panel")
        page.mouse.move(0, 0)
        page.locator(".jp-CodeCell").first.screenshot(path=PICTURE)


if __name__ == "__main__":
    main()
