"""Encodings of a discretizer that use the target: averages of columns, and cross-fitting.

Cross-fitting encodes each fold by what the other folds tell, so that no row is encoded by its own class.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from gridmodl.averaging.averages import Averages
from gridmodl.averaging.fit import average_each
from gridmodl.averaging.summing import averaged_of
from gridmodl.data.frames import Frame, Name
from gridmodl.data.targets import rows_of
from gridmodl.estimators.inputs import read_criterion, read_seed, refuse_column, report_stop
from gridmodl.fit.options import RULES, check_integer
from gridmodl.model.model import Model
from gridmodl.model.models import Models

if TYPE_CHECKING:
    from gridmodl.estimators.discretizer import GridDiscretizer

CROSS_FITTED = ("woe", "mean")  # encodings that use the target
NOT_AVERAGED = ("partitions", "min_rows", *RULES)  # parameters that choose among partitions


def check_averaged(estimator: GridDiscretizer, target_kind: str | None) -> None:
    """Raise if ``averaged=True`` does not go with the other parameters or with the target."""
    if not isinstance(estimator.averaged, (bool, np.bool_)):
        raise TypeError(f"averaged must be True or False, got {estimator.averaged!r}")
    if not estimator.averaged:
        return
    if estimator.encode != "woe":
        raise ValueError(
            f"averaged=True is for encode='woe', and encode={estimator.encode!r} was given: an average has no parts"
        )
    if target_kind != "classes":
        raise ValueError(f"averaged=True needs a target of classes, and target_kind is {target_kind!r}")
    missing = estimator.missing
    is_apart = "apart" in (missing.values() if isinstance(missing, Mapping) else [missing])
    given = [f"{name}={getattr(estimator, name)!r}" for name in NOT_AVERAGED if getattr(estimator, name) is not None]
    given += ["missing='apart'"] * is_apart + ["placement='median'"] * (estimator.placement == "median")
    if given:
        raise ValueError(
            f"averaged=True averages over all partitions, and {', '.join(given)} would choose some of them: leave one "
            "of the two out; max_parts, special, kinds and order go with averages"
        )
    averaged_of(read_criterion(estimator.criterion, estimator.criterion_options), "classes")  # raises if it cannot be


def averages_of_each(
    estimator: GridDiscretizer,
    inputs: Frame,
    models: Models,
    target: NDArray[Any],
    weights: NDArray[np.int64] | None,
    **more: Any,
) -> Averages:
    """Averages of the numerical and ordinal columns, in the order of the columns; `models` are those of all columns.

    `more` are arguments of `average_each`.
    """
    names = [name for name in inputs.columns if models[name].partitions[name].kind != "categorical"]
    if not names:
        return Averages({}, {}, inputs.kind)
    by_column: dict[str, Any] = {
        what: {name: one for name, one in given.items() if name in names} if isinstance(given, Mapping) else given
        for what, given in ((what, getattr(estimator, what)) for what in ("kinds", "order", "special", "max_parts"))
    }
    found = average_each(
        {name: inputs.columns[name] for name in names},
        target,
        criterion=read_criterion(estimator.criterion, estimator.criterion_options),
        weights=weights,
        n_jobs=1 if estimator.n_jobs is None else estimator.n_jobs,
        on_error="ignore",  # a column without an average is an error, below
        **by_column,
        **more,
    )
    for name, error in found.errors.items():
        refuse_column(name, error)
    report_stop(estimator, min((one.stopped for one in found.values() if one.stopped is not None), default=None))
    in_order = {name: replace(found[name], frame=inputs.kind) for name in names}
    return Averages(in_order, {}, inputs.kind, in_order=False)


def time_left(estimator: GridDiscretizer, begin: float) -> float | None:
    """Seconds that are left of the time limit since the moment `begin`; None without a limit."""
    limit = estimator.time_limit
    return None if limit is None else max(0.0, limit - (time.monotonic() - begin))


def check_cross_fitting(estimator: GridDiscretizer, target_kind: str | None) -> None:
    """Raise unless ``cv`` is None, or folds that suit the encoding and the target."""
    cv = estimator.cv
    if cv is None:
        return
    if estimator.encode not in CROSS_FITTED:
        raise ValueError(
            f"cv is for encodings that use the target, 'woe' and 'mean', and encode={estimator.encode!r} was given"
        )
    if target_kind == "grouped":
        raise ValueError("cv is for classes and numbers: groups of classes, which woe would be of, differ by fold")
    if _gives_splits(cv):
        return
    check_integer("cv", cv, allow_none=True)
    if cv < 2:
        raise ValueError(f"cv must be None, 2 folds or more, or a splitter of scikit-learn, got {cv!r}")


def _gives_splits(cv: Any) -> bool:
    """Whether `cv` is a splitter, or an iterable of splits."""
    return not isinstance(cv, (str, bytes)) and (hasattr(cv, "split") or hasattr(cv, "__iter__"))


def cross_fitted(
    estimator: GridDiscretizer, X: Any, inputs: Frame, target: NDArray[Any], weights: NDArray[np.int64] | None
) -> NDArray[np.float64]:
    """Encode the rows of each fold by an estimator that the rows of all others fitted.

    `estimator` is fitted to all rows; columns keep the kinds that they have there.
    """
    partitions, models = estimator.partitions_, estimator.models_
    model: Model = next(iter(models.values()))
    kinds: dict[Name, str] = {name: one.kind for name, one in partitions.items()}
    order = {name: one.levels for name, one in partitions.items() if one.kind == "ordinal"}
    n_events = 1 if estimator.encode == "mean" or model.has_one_event else len(model.classes)
    found = np.zeros((inputs.n_rows, len(partitions) * n_events))
    codes = _codes_of(target, model.classes)
    for train, test in _folds(estimator, X, target, codes):
        some_weights = None if weights is None else weights[train]
        present = np.unique(codes[train] if some_weights is None else codes[train][some_weights > 0])
        present = present[present < len(model.classes)]
        event = model.event if estimator.encode == "woe" and model.has_one_event else None
        if estimator.encode == "woe" and (len(present) < 2 or (event is not None and model.event_index not in present)):
            continue  # nothing to tell apart: woe 0
        fold = clone(estimator).set_params(cv=None, kinds=kinds, order=order or None, new_missing="neutral")
        if estimator.unknown == "error":  # `fit` knows the values that a fold alone has
            fold.set_params(unknown="neutral")
        fold._fit_target(_rows_in(inputs, train), target[train], some_weights, event)
        encoded = fold._encoded(_rows_in(inputs, test).columns.values())
        found[test] = encoded if event is not None else _of_all_classes(encoded, present, n_events, len(partitions))
    return found


def _codes_of(target: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """Number of the class of each row; the number of classes for rows without one, and without classes 0."""
    codes = np.full(len(target), len(classes), dtype=np.int64)
    for j, label in enumerate(classes.tolist()):
        codes[np.asarray(target == label, dtype=bool)] = j
    return codes


def _folds(
    estimator: GridDiscretizer, X: Any, target: NDArray[Any], codes: NDArray[np.int64]
) -> list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Flags of the rows to fit and of the rows to encode of each fold; ValueError unless each row is encoded once."""
    cv = estimator.cv
    if _gives_splits(cv):
        splits = check_cv(cv).split(X, target)
    else:
        seed = read_seed(estimator.random_state)
        make = KFold if estimator.encode == "mean" else StratifiedKFold
        splits = make(int(cv), shuffle=True, random_state=seed).split(np.zeros((len(codes), 1)), codes)
    found, times = [], np.zeros(len(codes), dtype=np.int64)
    for split in splits:
        flags = np.zeros((2, len(codes)), dtype=bool)
        for of_rows, rows in zip(flags, split, strict=True):
            of_rows[rows] = True
        np.add.at(times, np.arange(len(codes))[split[1]], 1)
        found.append((flags[0], flags[1]))
    if np.any(times != 1):
        raise ValueError(
            f"cv must put each row into one test fold, and {np.count_nonzero(times != 1)} rows are in none or in "
            "several; KFold, StratifiedKFold and GroupKFold do"
        )
    return found


def _rows_in(inputs: Frame, kept: NDArray[np.bool_]) -> Frame:
    """The rows of all columns where `kept` is True."""
    columns = {name: rows_of(raw, kept) for name, raw in inputs.columns.items()}
    return inputs._replace(columns=columns, n_rows=int(np.count_nonzero(kept)))


def _of_all_classes(
    encoded: NDArray[np.float64], present: NDArray[np.int64], n_events: int, n_columns: int
) -> NDArray[np.float64]:
    """Woe of all classes from that of the classes that a fold has; 0 for the others.

    With two classes, a fold has the woe of the second; that of the first is the opposite.
    """
    if n_events == 1 or len(present) == n_events:
        return encoded
    by_class = encoded.reshape(len(encoded), n_columns, -1)
    if len(present) == 2:
        by_class = np.concatenate([-by_class, by_class], axis=2)
    found = np.zeros((len(encoded), n_columns, n_events))
    found[:, :, present] = by_class
    return found.reshape(len(encoded), -1)
