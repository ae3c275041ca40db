"""The classifiers that `prediction.py` compares, each in the environment of its library.

PYTHON -m reproduce.peers.prediction_libraries FOLDER LIMIT METHOD#FOLD...
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reproduce.peers.processes import Method, put_programs_in_path, work

os.environ.setdefault("GRIDMODL_COMPILE", "always")  # a small call before the measured ones compiles
FEW_ROWS = 300  # to warm up with
SEED = 0
WARM: set[str] = set()
INNER_FOLDS = 3
PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)  # C of the logistic regressions
LEARNING_RATES, LEAVES, MOST_ITERATIONS, PATIENCE = (0.03, 0.1), (4, 31), 300, 15  # of tuned boosting


class Absent(Exception):
    """The installed library does not have the method."""


class Fold(NamedTuple):
    """Frames whose columns are floats with NaN or texts with None, and the classes of the training rows."""

    X: Any
    y: Any
    X_test: Any

    def is_text(self) -> list[bool]:
        return [self.X[name].dtype == object for name in self.X]


def read_fold(folder: Path, fold: int) -> Fold:
    """Read the columns x0, x1, ... (floats; or whole numbers, the categories, -1 where missing), the classes y, and
    the numbers of the rows of a fold, from table.npz."""
    import pandas as pd

    with np.load(folder / "table.npz") as file:
        given = dict(file)
    columns = {name: as_column(given[name]) for name in given if name.startswith("x")}
    frame = pd.DataFrame({name: pd.Series(column, dtype=column.dtype) for name, column in columns.items()})
    train, test = given[f"train{fold}"], given[f"test{fold}"]
    X, X_test = (frame.iloc[rows].reset_index(drop=True) for rows in (train, test))
    return Fold(X, given["y"][train], X_test)


def as_column(values: Any) -> Any:
    if values.dtype.kind == "f":
        return values
    return np.array([*(f"v{i}" for i in range(values.max() + 1)), None], dtype=object)[values]


class Classifier(Method):
    """Fit and predict, both under the clock; found are the probabilities of the test rows."""

    def __init__(self, data: Fold, *options: Any) -> None:
        super().__init__(data, *options)
        self.estimator = self.make(data)
        self.probabilities: Any = None

    def make(self, data: Fold) -> Any:
        """An estimator with `fit`, `predict_proba` and `classes_`."""
        raise NotImplementedError

    def warm_up(self) -> None:
        """Fit on some rows of each class, once for each method of the process."""
        key = f"{type(self).__name__} {self.options}"
        if key not in WARM:
            WARM.add(key)
            y = self.data.y
            n_each = max(FEW_ROWS // (int(y.max()) + 1), 5)
            rows = np.concatenate([np.flatnonzero(y == j)[:n_each] for j in range(int(y.max()) + 1)])
            few = self.data._replace(X=self.data.X.iloc[rows].reset_index(drop=True), y=y[rows])
            self.make(few).fit(few.X, few.y).predict_proba(few.X)

    def fit(self) -> None:
        self.estimator.fit(self.data.X, self.data.y)
        self.probabilities = self.estimator.predict_proba(self.data.X_test)

    def found(self) -> list[list[float]]:
        """All classes have training rows; they come in the order of their numbers."""
        order = np.argsort(np.asarray(self.estimator.classes_).astype(np.int64))
        found: list[list[float]] = np.asarray(self.probabilities, dtype=np.float64)[:, order].tolist()
        return found


class Gridmodl(Classifier):
    package = "gridmodl"

    def make(self, data: Fold) -> Any:
        import gridmodl

        name, options = self.options
        known = getattr(gridmodl, name, None)
        if known is None:
            raise Absent(f"gridmodl has no {name}")
        params = known().get_params()
        # A version that does not know a thing is without it.
        if unknown := [option for option, value in options.items() if option not in params and value is not False]:
            raise Absent(f"{name} of gridmodl has no {', '.join(unknown)}")
        return known(**{option: options[option] for option in options if option in params}, n_jobs=1)


class LogisticOnParts(Classifier):
    package = "gridmodl"

    def make(self, data: Fold) -> Any:
        from gridmodl import GridDiscretizer

        (encode,) = self.options
        return Logistic(lambda: GridDiscretizer(encode=encode, n_jobs=1))


class RawLogistic(Classifier):
    """Median and an indicator in place of missing numbers, standardized; one column for each category."""

    package = "scikit-learn"

    def make(self, data: Fold) -> Any:
        from sklearn.compose import make_column_transformer
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        is_text = np.array(data.is_text())

        def prepare() -> Any:
            numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
            # Categories of one row are taken together, and so are those that no training row has.
            texts = OneHotEncoder(min_frequency=2, handle_unknown="infrequent_if_exist", sparse_output=False)
            return make_column_transformer((numbers, ~is_text), (texts, is_text))

        return Logistic(prepare)


class Logistic:
    """Logistic regression whose penalty is chosen by inner validation: C of the lowest log-loss."""

    def __init__(self, make_preparation: Any) -> None:
        self.make_preparation = make_preparation

    def fit(self, X: Any, y: Any) -> Logistic:
        losses = np.zeros(len(PENALTIES))
        for train, held in inner_folds(y):
            preparation = self.make_preparation().fit(X.iloc[train], y[train])
            A, B = (preparation.transform(X.iloc[rows]) for rows in (train, held))
            model = self.regression()
            for i, C in enumerate(PENALTIES):  # from the strongest penalty on, each from the weights of the one before
                model.set_params(C=C).fit(A, y[train])
                losses[i] += inner_loss(y[held], model.predict_proba(B), model.classes_)
        self.preparation = self.make_preparation().fit(X, y)
        self.model = self.regression().set_params(C=PENALTIES[int(losses.argmin())])
        self.model.fit(self.preparation.transform(X), y)
        self.classes_ = self.model.classes_
        return self

    def regression(self) -> Any:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(max_iter=1000, warm_start=True)

    def predict_proba(self, X: Any) -> Any:
        return self.model.predict_proba(self.preparation.transform(X))


def inner_folds(y: Any) -> Any:
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=SEED).split(y, y)


def inner_loss(y: Any, probabilities: Any, classes: Any) -> float:
    own = probabilities[np.arange(len(y)), np.searchsorted(classes, y)]
    return float(-np.log(np.maximum(own, 1e-15)).sum())


class Boosting(Classifier):
    """HistGradientBoostingClassifier as it comes, categories as such."""

    package = "scikit-learn"

    def make(self, data: Fold) -> Any:
        (is_tuned,) = self.options
        return Boosted(np.array(data.is_text()), is_tuned)


class Boosted:
    """Categories in at most 255 codes, the rarest taken together, as the library needs; then boosting.

    Tuned: each learning rate and number of leaves is fitted on the training rows of each inner fold, until the log-loss
    of the held-out ones has not fallen for PATIENCE iterations. The pair of the lowest loss is fitted on all rows, with
    the mean of its numbers of iterations.
    """

    def __init__(self, is_text: Any, is_tuned: bool) -> None:
        self.is_text, self.is_tuned = is_text, is_tuned

    def fit(self, X: Any, y: Any) -> Boosted:
        from sklearn.compose import make_column_transformer
        from sklearn.preprocessing import OrdinalEncoder

        codes = OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=np.nan, encoded_missing_value=np.nan, max_categories=255
        )
        self.preparation = make_column_transformer((codes, self.is_text), ("passthrough", ~self.is_text))
        numbers = self.preparation.fit_transform(X)
        self.model = self.boosting(**(self.tuned(numbers, y) if self.is_tuned else {})).fit(numbers, y)
        self.classes_ = self.model.classes_
        return self

    def boosting(self, **options: Any) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier

        is_code = np.arange(len(self.is_text)) < self.is_text.sum()
        return HistGradientBoostingClassifier(categorical_features=is_code, random_state=SEED, **options)

    def tuned(self, X: Any, y: Any) -> dict[str, Any]:
        best: tuple[float, dict[str, Any]] = (np.inf, {})
        for rate in LEARNING_RATES:
            for leaves in LEAVES:
                options = {"learning_rate": rate, "max_leaf_nodes": leaves}
                found = [self.stopped(X[a], y[a], X[b], y[b], options) for a, b in inner_folds(y)]
                loss, iterations = np.mean(found, axis=0)
                options |= {"max_iter": round(iterations), "early_stopping": False}
                best = min(best, (float(loss), options), key=lambda pair: pair[0])
        return best[1]

    def stopped(self, X: Any, y: Any, X_held: Any, y_held: Any, options: dict[str, Any]) -> tuple[float, int]:
        """The lowest held-out loss, and the number of iterations that reaches it."""
        model = self.boosting(
            early_stopping=True, scoring="loss", n_iter_no_change=PATIENCE, max_iter=MOST_ITERATIONS, **options
        )
        model.fit(X, y, X_val=X_held, y_val=y_held)
        losses = -model.validation_score_
        return float(losses.min()), max(1, int(losses.argmin()))

    def predict_proba(self, X: Any) -> Any:
        return self.model.predict_proba(self.preparation.transform(X))


class ExplainableBoosting(Classifier):
    package = "interpret"

    def make(self, data: Fold) -> Any:
        from interpret.glassbox import ExplainableBoostingClassifier

        kinds = ["nominal" if is_text else "continuous" for is_text in data.is_text()]
        return ExplainableBoostingClassifier(feature_types=kinds, n_jobs=1, random_state=SEED)

    def warm_up(self) -> None:
        """Nothing is compiled."""


class Khiops(Classifier):
    """It writes files and starts processes, which counts."""

    package = "khiops"

    def make(self, data: Fold) -> Any:
        put_programs_in_path()
        from khiops.sklearn import KhiopsClassifier

        (n_trees,) = self.options
        return KhiopsClassifier(n_trees=n_trees, n_features=0, n_text_features=0, n_cores=1)

    def warm_up(self) -> None:
        """Nothing: each call starts a process of its own."""


OURS: dict[str, tuple[Any, ...]] = {
    "GridLogistic": (Gridmodl, "GridLogistic", {}),
    "GridLogistic grids": (Gridmodl, "GridLogistic", {"interactions": "auto"}),
    "GridNaiveBayes uniform": (Gridmodl, "GridNaiveBayes", {"weights": "uniform", "averaged": False}),
    "GridNaiveBayes selective": (Gridmodl, "GridNaiveBayes", {"weights": "selective", "averaged": False}),
    "GridNaiveBayes averaged": (Gridmodl, "GridNaiveBayes", {"weights": "selective", "averaged": True}),
    "GridNaiveBayes grids": (Gridmodl, "GridNaiveBayes", {"weights": "selective", "interactions": "auto"}),
    "GridEnsemble": (Gridmodl, "GridEnsembleClassifier", {}),
}
OTHERS: dict[str, tuple[Any, ...]] = {
    "boosting tuned": (Boosting, True),
    "boosting": (Boosting, False),
    "EBM": (ExplainableBoosting,),
    "Khiops 10 trees": (Khiops, 10),
    "Khiops": (Khiops, 0),
    "logistic": (RawLogistic,),
    "logistic parts": (LogisticOnParts, "onehot"),
    "logistic evidence": (LogisticOnParts, "woe"),
}
METHODS = {**OURS, **OTHERS}


def main() -> None:
    folder, limit, names = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    work({name: partial(fitted_by, name, folder) for name in names}, folder, limit)


def fitted_by(name: str, folder: Path) -> Method:
    method, _, fold = name.rpartition("#")
    kind, *options = METHODS[method]
    made: Method = kind(read_fold(folder, int(fold)), *options)
    return made


if __name__ == "__main__":
    main()
