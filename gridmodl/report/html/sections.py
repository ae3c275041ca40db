"""A page of one result, or of several, each a section: of models, averages, scorecards, cut-offs and comparisons."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from gridmodl.averaging.averages import Averages
from gridmodl.averaging.record import Average
from gridmodl.density.model import DensityModel
from gridmodl.model.model import Model
from gridmodl.model.models import Models
from gridmodl.monitoring.record import Comparison
from gridmodl.report.html.averages import section_of_average, section_of_averages
from gridmodl.report.html.drift import section_of_comparison
from gridmodl.report.html.models import section_of_density, section_of_model, section_of_models
from gridmodl.report.html.page import write_page
from gridmodl.report.html.scorecard import section_of_cutoffs, section_of_scorecard
from gridmodl.scorecard.cutoffs import Cutoffs
from gridmodl.scorecard.record import Scorecard

SECTIONS: dict[type, Callable[[Any], dict[str, Any]]] = {
    Model: section_of_model,
    Models: section_of_models,
    DensityModel: section_of_density,
    Average: section_of_average,
    Averages: section_of_averages,
    Scorecard: section_of_scorecard,
    Cutoffs: section_of_cutoffs,
    Comparison: section_of_comparison,
}
REPORT = "gridmodl report"


def write_report(
    result: Any,
    sections: Iterable[Any],
    path: str | os.PathLike[str] | None,
    title: str | None,
    about: str | None,
) -> str:
    """The page of `result` with the results `sections` below it, also written to `path` if that is not None."""
    results = [result, *_checked(sections)]
    made = _with_own_titles([_section_of(one) for one in results])
    texts = [str(one) if isinstance(one, Cutoffs) else one.summary() for one in results]
    if len(results) > 1:
        texts = [f"{section['title']}\n\n{text}" for section, text in zip(made, texts, strict=True)]
    default = made[0]["title"] if len(made) == 1 else REPORT
    return write_page(made, "\n\n\n".join(texts), default if title is None else title, path, about)


def _with_own_titles(sections: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The sections; the title of a second one, third one and so on of the same title gets its number."""
    so_far: Counter[str] = Counter()
    for section in sections:
        title = section["title"]
        so_far[title] += 1
        if so_far[title] > 1:
            section["title"] = f"{title} ({so_far[title]})"
    return sections


def _checked(sections: Any) -> list[Any]:
    if isinstance(sections, tuple(SECTIONS)) or not isinstance(sections, Iterable):
        raise TypeError(f"sections must be a list of results, such as [averages, card]; got {sections!r}")
    return list(sections)


def _section_of(result: Any) -> dict[str, Any]:
    for kind, section_of in SECTIONS.items():
        if isinstance(result, kind):
            return section_of(result)
    names = ", ".join(kind.__name__ for kind in SECTIONS)
    raise TypeError(f"a section of a page must be one of {names}; got {type(result).__name__}")
