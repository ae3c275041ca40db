"""Estimators for scikit-learn: a discretizer, classifiers, a regressor and coclustering."""

try:
    from sklearn.utils.validation import validate_data as _  # noqa: F401  since scikit-learn 1.6
except ImportError as error:
    raise ImportError('gridmodl.estimators needs scikit-learn 1.6 or newer: pip install "gridmodl[sklearn]"') from error

from gridmodl.estimators.classifier import GridClassifier, GridEnsembleClassifier
from gridmodl.estimators.coclassifier import CoclusteringClassifier
from gridmodl.estimators.coclustering import GridCoclustering
from gridmodl.estimators.discretizer import GridDiscretizer
from gridmodl.estimators.logistic import GridLogistic
from gridmodl.estimators.naivebayes import GridNaiveBayes
from gridmodl.estimators.regressor import GridRegressor
from gridmodl.estimators.scorecard import GridScorecard

__all__ = [
    "CoclusteringClassifier",
    "GridClassifier",
    "GridCoclustering",
    "GridDiscretizer",
    "GridEnsembleClassifier",
    "GridLogistic",
    "GridNaiveBayes",
    "GridRegressor",
    "GridScorecard",
]
