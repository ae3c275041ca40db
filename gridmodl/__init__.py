"""gridmodl: find the partition of the data that explains it best.

>>> import gridmodl
>>> model = gridmodl.optimize([1.0, 2.0, 3.0, 7.0, 8.0, 9.0], [0, 0, 0, 1, 1, 1])
>>> model.partitions["x0"].labels
['(-inf, 5.0]', '(5.0, inf)']

Public names load on first use: importing gridmodl imports neither numba nor numpy.
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False  # known to type checkers by its name; importing it from typing would take longer than all below
if TYPE_CHECKING:  # every public name, once: type checkers read these imports, `_modules_of_names` reads their bytecode
    from gridmodl import baselines as baselines
    from gridmodl import density as density
    from gridmodl import estimators as estimators
    from gridmodl import plot as plot
    from gridmodl import testing as testing
    from gridmodl.analysis.curve import CostByParts as CostByParts
    from gridmodl.analysis.curve import cost_by_parts as cost_by_parts
    from gridmodl.analysis.explain import Explanation as Explanation
    from gridmodl.analysis.hierarchy import Hierarchy as Hierarchy
    from gridmodl.analysis.posterior import BoundPosterior as BoundPosterior
    from gridmodl.analysis.posterior import bound_posterior as bound_posterior
    from gridmodl.analysis.verify import Verification as Verification
    from gridmodl.analysis.verify import verify as verify
    from gridmodl.averaging.averages import Averages as Averages
    from gridmodl.averaging.fit import average as average
    from gridmodl.averaging.fit import average_each as average_each
    from gridmodl.averaging.record import Average as Average
    from gridmodl.data.columns import ColumnWarning as ColumnWarning
    from gridmodl.data.counts import Counts as Counts
    from gridmodl.density import DensityModel as DensityModel
    from gridmodl.density import optimize_density as optimize_density
    from gridmodl.estimators import CoclusteringClassifier as CoclusteringClassifier
    from gridmodl.estimators import GridClassifier as GridClassifier
    from gridmodl.estimators import GridCoclustering as GridCoclustering
    from gridmodl.estimators import GridDiscretizer as GridDiscretizer
    from gridmodl.estimators import GridEnsembleClassifier as GridEnsembleClassifier
    from gridmodl.estimators import GridLogistic as GridLogistic
    from gridmodl.estimators import GridNaiveBayes as GridNaiveBayes
    from gridmodl.estimators import GridRegressor as GridRegressor
    from gridmodl.estimators import GridScorecard as GridScorecard
    from gridmodl.evidence.contributions import Contributions as Contributions
    from gridmodl.evidence.record import WeightedEvidence as WeightedEvidence
    from gridmodl.fit.lazy.count import CountWarning as CountWarning
    from gridmodl.fit.lazy.count import count as count
    from gridmodl.jit.cache import clear_cache as clear_cache
    from gridmodl.model.densities.conditional import Conditional as Conditional
    from gridmodl.model.file import ModelFileError as ModelFileError
    from gridmodl.model.file import json_schema as json_schema
    from gridmodl.model.model import Model as Model
    from gridmodl.model.models import Models as Models
    from gridmodl.model.partition import Partition as Partition
    from gridmodl.model.stability import PeriodBreak as PeriodBreak
    from gridmodl.model.stability import Stability as Stability
    from gridmodl.model.target_quantiles import Prediction as Prediction
    from gridmodl.monitoring.parts import PartsComparison as PartsComparison
    from gridmodl.monitoring.record import Comparison as Comparison
    from gridmodl.pipeline import optimize as optimize
    from gridmodl.pipeline import optimize_each as optimize_each
    from gridmodl.pipeline import price as price
    from gridmodl.plugins import get_criterion as get_criterion
    from gridmodl.plugins import hookimpl as hookimpl
    from gridmodl.plugins import list_criteria as list_criteria
    from gridmodl.report.widget.editor import PartitionEditor as PartitionEditor
    from gridmodl.scorecard.cutoffs import Cutoffs as Cutoffs
    from gridmodl.scorecard.record import Scorecard as Scorecard
    from gridmodl.search import Search as Search
    from gridmodl.search.proof import Certificate as Certificate
    from gridmodl.terms import Criterion as Criterion
    from gridmodl.validation.penalty import PenaltyChoice as PenaltyChoice
    from gridmodl.validation.penalty import choose_penalty as choose_penalty
else:
    import sys
    from dis import get_instructions
    from importlib import import_module

    def _modules_of_names(code):
        """Module of each name that `code` imports from gridmodl, whether or not the import runs.

        The bytecode is there in zipped and frozen installs too, where sources may not be.
        """
        found, module = {}, ""
        for instruction in get_instructions(code):
            if instruction.opname == "IMPORT_NAME":
                module = instruction.argval
            elif instruction.opname == "IMPORT_FROM" and module.partition(".")[0] == __name__:
                found[instruction.argval] = module
        return found

    _MODULES = _modules_of_names(sys._getframe().f_code)

    # Submodules, and names that need scikit-learn, are public but not in `from gridmodl import *`.
    _LEFT_OUT = (__name__, f"{__name__}.estimators")
    __all__ = sorted(["__version__", *(name for name, module in _MODULES.items() if module not in _LEFT_OUT)])

    def __getattr__(name):
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if _MODULES[name] == __name__:
            return import_module(f"{__name__}.{name}")
        return getattr(import_module(_MODULES[name]), name)

    def __dir__():
        return sorted({"__version__", *_MODULES})
