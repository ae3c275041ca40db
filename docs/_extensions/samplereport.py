"""The report that `use/html_report.md` makes, to be opened: wine_report.html beside the start page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sklearn.datasets import load_wine

import gridmodl


def write_report(app: Any, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    wine = load_wine(as_frame=True)
    target = wine.target_names[wine.target]
    sections = [gridmodl.average_each(wine.data, target), gridmodl.optimize(wine.data[["alcohol", "flavanoids"]])]
    gridmodl.optimize_each(wine.data, target).to_html(
        Path(app.outdir) / "wine_report.html", title="Wine", about="178 wines; target: cultivar", sections=sections
    )


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", write_report)
    return {"parallel_read_safe": True}
