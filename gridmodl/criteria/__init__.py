"""The built-in criteria; they come in through the same hook as a stranger's."""

from __future__ import annotations

from gridmodl.criteria.confidence import G2, X2, G2Normal, X2Normal
from gridmodl.criteria.entropy import Entropy, Gini
from gridmodl.criteria.information import Aic, Bic, Mdlp
from gridmodl.criteria.modl import Modl, ModlGrid
from gridmodl.criteria.modl_grouped import ModlGrouped
from gridmodl.criteria.modl_joint import ModlJoint
from gridmodl.criteria.modl_semi import ModlSemi
from gridmodl.plugins import hookimpl
from gridmodl.terms import Criterion


@hookimpl
def gridmodl_criteria() -> list[type[Criterion]]:
    return [
        Modl, ModlGrid, ModlJoint, ModlGrouped, ModlSemi,
        Aic, Bic, Mdlp, Gini, Entropy,
        G2, X2, G2Normal, X2Normal,
    ]  # fmt: skip
