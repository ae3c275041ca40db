"""Built-in criteria, registered through the same hook as those of plugins."""

from __future__ import annotations

from gridmodl.criteria.confidence import G2, X2, G2Normal, X2Normal
from gridmodl.criteria.density import BayesianBlocks, ModlDensity, PenalizedLikelihood
from gridmodl.criteria.entropy import Entropy, Gini
from gridmodl.criteria.information import Aic, Bic, Mdlp
from gridmodl.criteria.modl import Modl, ModlGrid
from gridmodl.criteria.modl_grouped import ModlGrouped, ModlGroupedGrid
from gridmodl.criteria.modl_joint import ModlJoint
from gridmodl.criteria.modl_semi import ModlSemi
from gridmodl.plugins import hookimpl
from gridmodl.terms import Criterion


@hookimpl
def gridmodl_criteria() -> list[type[Criterion]]:
    """The built-in criterion classes."""
    return [
        Modl, ModlGrid, ModlJoint, ModlGrouped, ModlGroupedGrid, ModlSemi,
        Aic, Bic, Mdlp, Gini, Entropy,
        G2, X2, G2Normal, X2Normal,
        BayesianBlocks, PenalizedLikelihood, ModlDensity,
    ]  # fmt: skip
