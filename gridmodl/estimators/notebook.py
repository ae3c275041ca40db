"""What notebooks show of an estimator: scikit-learn's diagram, and below it what was fitted."""

from __future__ import annotations

from typing import Any

from gridmodl.report.notebook import model_html, models_html


class InNotebooks:
    """To the left of `BaseEstimator`, whose diagram it adds to; its option ``display="text"`` is kept."""

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + _fitted_html(self)  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in shown:
            shown["text/html"] += _fitted_html(self)
        return shown


def _fitted_html(estimator: Any) -> str:
    """The model or models of an estimator; nothing before it is fitted."""
    fitted = vars(getattr(estimator, "coclustering_", estimator))
    if "model_" in fitted:
        return model_html(fitted["model_"])
    if "models_" in fitted:
        return models_html(fitted["models_"])
    return ""
