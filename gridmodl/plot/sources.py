"""The model to draw, from a model or a fitted estimator."""

from __future__ import annotations

from typing import Any

from gridmodl.data.frames import Name
from gridmodl.spelling import did_you_mean


def model_of(estimator: Any, name: Name | None) -> Any:
    """The model of a fitted estimator, or of its column `name` if each column has its own model."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    if hasattr(estimator, "model_"):
        return estimator.model_
    if not hasattr(estimator, "models_"):
        raise TypeError(
            f"{type(estimator).__name__} has neither a model nor a model of each column; give an estimator of gridmodl "
            "such as GridDiscretizer, GridClassifier or GridCoclustering"
        )
    return named(estimator.models_, name, "column")


def check_model(model: Any) -> None:
    """Raise TypeError unless `model` is a Model: not the models of many columns, nor a density."""
    from gridmodl.model.model import Model

    if not isinstance(model, Model):
        raise TypeError(
            f"model must be a Model, got {type(model).__name__}; of the models of many columns give one, such as "
            "models[name], and see DensityDisplay for densities"
        )


def named(known: dict[Name, Any], name: Name | None, what: str) -> Any:
    """The entry `name`, or the only entry if `name` is None."""
    if name is None and len(known) == 1:
        return next(iter(known.values()))
    if name is None or name not in known:
        names = ", ".join(repr(one) for one in list(known)[:20])
        raise ValueError(f"name must be one of the {what}s {names}, got {name!r}{did_you_mean(name, known)}")
    return known[name]
