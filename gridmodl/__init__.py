"""gridmodl: find the partition of the data that explains it best.

>>> import gridmodl
>>> model = gridmodl.optimize([1.0, 2.0, 3.0, 7.0, 8.0, 9.0], [0, 0, 0, 1, 1, 1])
>>> model.partitions["x0"].labels
['(-inf, 5.0]', '(5.0, inf)']

Public names load on first use: importing gridmodl imports neither numba nor numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gridmodl.analysis.curve import CostByParts, cost_by_parts
    from gridmodl.analysis.explain import Explanation
    from gridmodl.analysis.hierarchy import Hierarchy
    from gridmodl.analysis.posterior import BoundPosterior, bound_posterior
    from gridmodl.analysis.verify import Verification, verify
    from gridmodl.analysis.warming import warm_up
    from gridmodl.density import DensityModel, optimize_density
    from gridmodl.estimators import CoclusteringClassifier as CoclusteringClassifier
    from gridmodl.estimators import GridClassifier as GridClassifier
    from gridmodl.estimators import GridCoclustering as GridCoclustering
    from gridmodl.estimators import GridDiscretizer as GridDiscretizer
    from gridmodl.estimators import GridEnsembleClassifier as GridEnsembleClassifier
    from gridmodl.estimators import GridNaiveBayes as GridNaiveBayes
    from gridmodl.jit.cache import clear_cache
    from gridmodl.model.file import ModelFileError, json_schema
    from gridmodl.model.model import Model
    from gridmodl.model.models import Models
    from gridmodl.model.partition import Partition
    from gridmodl.model.target_quantiles import Prediction
    from gridmodl.pipeline import ColumnWarning, optimize, optimize_each, price
    from gridmodl.plugins import get_criterion, hookimpl, list_criteria
    from gridmodl.search import Search
    from gridmodl.search.proof import Certificate
    from gridmodl.terms import Criterion

__version__ = "0.1.0"

_HOME = {
    "BoundPosterior": "gridmodl.analysis.posterior",
    "Certificate": "gridmodl.search.proof",
    "CoclusteringClassifier": "gridmodl.estimators",
    "ColumnWarning": "gridmodl.pipeline",
    "CostByParts": "gridmodl.analysis.curve",
    "Criterion": "gridmodl.terms",
    "DensityModel": "gridmodl.density",
    "Explanation": "gridmodl.analysis.explain",
    "GridClassifier": "gridmodl.estimators",
    "GridCoclustering": "gridmodl.estimators",
    "GridDiscretizer": "gridmodl.estimators",
    "GridEnsembleClassifier": "gridmodl.estimators",
    "GridNaiveBayes": "gridmodl.estimators",
    "Hierarchy": "gridmodl.analysis.hierarchy",
    "Model": "gridmodl.model.model",
    "ModelFileError": "gridmodl.model.file",
    "Models": "gridmodl.model.models",
    "Partition": "gridmodl.model.partition",
    "Prediction": "gridmodl.model.target_quantiles",
    "Search": "gridmodl.search",
    "Verification": "gridmodl.analysis.verify",
    "bound_posterior": "gridmodl.analysis.posterior",
    "clear_cache": "gridmodl.jit.cache",
    "cost_by_parts": "gridmodl.analysis.curve",
    "get_criterion": "gridmodl.plugins",
    "hookimpl": "gridmodl.plugins",
    "json_schema": "gridmodl.model.file",
    "list_criteria": "gridmodl.plugins",
    "optimize": "gridmodl.pipeline",
    "optimize_density": "gridmodl.density",
    "optimize_each": "gridmodl.pipeline",
    "price": "gridmodl.pipeline",
    "verify": "gridmodl.analysis.verify",
    "warm_up": "gridmodl.analysis.warming",
}

_MODULES = ("baselines", "density", "estimators", "plot", "testing")  # loaded on first use, as names are

__all__ = [  # without what needs scikit-learn, so that `from gridmodl import *` never does
    "BoundPosterior",
    "Certificate",
    "ColumnWarning",
    "CostByParts",
    "Criterion",
    "DensityModel",
    "Explanation",
    "Hierarchy",
    "Model",
    "ModelFileError",
    "Models",
    "Partition",
    "Prediction",
    "Search",
    "Verification",
    "__version__",
    "bound_posterior",
    "clear_cache",
    "cost_by_parts",
    "get_criterion",
    "hookimpl",
    "json_schema",
    "list_criteria",
    "optimize",
    "optimize_density",
    "optimize_each",
    "price",
    "verify",
    "warm_up",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"gridmodl.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'gridmodl' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_HOME, *_MODULES})
