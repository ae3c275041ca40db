"""The criterion of an ensemble of grids, chosen by rows left out."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import gridmodl
from gridmodl import GridEnsembleClassifier, Search, get_criterion
from gridmodl.clock import Clock
from gridmodl.data.folds import deal_rows
from gridmodl.data.table import read_table
from gridmodl.data.targets import NOT_GIVEN
from gridmodl.validation import ensemble
from gridmodl.validation.ensemble import criteria_for, text_of

FEW = Search("diverse", effort=3, keep_optima=20)


def make_data(n=240, seed=0):
    rng = np.random.default_rng(seed)
    size, town = rng.normal(size=n), rng.choice(["a", "b", "c", None], n)
    odds = np.sin(3.0 * size) + (town == "a") + rng.normal(size=n)
    frame = pd.DataFrame({"size": size, "town": town, "noise": rng.normal(size=n)})
    frame.loc[::13, "size"] = np.nan
    return frame, np.where(odds > 1.0, "high", np.where(odds > -0.5, "middle", "low"))


X, Y = make_data()


def test_the_candidates_are_modl_and_penalties_that_aic_is_one_of():
    candidates = criteria_for(1000)
    assert [one.name for one in candidates] == ["modl", *["entropy"] * 4]
    alphas = [one.chosen["alpha"] for one in candidates[1:]]
    assert alphas == pytest.approx([c / math.log(1000) for c in (2.0, 1.0, 0.5, 0.25)], rel=5e-3)
    assert [text_of(one) for one in candidates[:2]] == ["modl", "entropy(alpha=0.29)"]
    x, y = np.random.default_rng(0).normal(size=(2, 1000))
    data, classes = {"x": x, "y": y}, (x * y > 0).astype(int)
    aic = gridmodl.optimize(data, classes, criterion="aic", search="merge")
    same = gridmodl.optimize(
        data, classes, criterion=get_criterion("entropy", alpha=1 / math.log(1000)), search="merge"
    )
    assert same.cells.parts.tolist() == aic.cells.parts.tolist()


def test_losses_are_those_of_fits_without_each_fold_and_the_lowest_is_chosen():
    found = GridEnsembleClassifier(search=FEW, random_state=4).fit(X, Y)
    table = read_table(X, Y, None, "classes", NOT_GIVEN)
    columns = [table.column(name, None) for name in table.names]
    folds = deal_rows(columns, table.target, (1, 1, 1), 4).argmax(axis=1)
    expected = {}
    for criterion in criteria_for(len(Y)):
        total = 0.0
        for fold in range(3):
            fit = folds != fold
            trial = GridEnsembleClassifier(criterion=criterion, search=FEW, random_state=4).fit(X[fit], Y[fit])
            shares = trial.predict_proba(X[~fit])
            own = shares[np.arange(len(shares)), np.searchsorted(trial.classes_, Y[~fit])]
            total -= np.log((fit.sum() * own + 1.0) / (fit.sum() + 3.0)).sum()
        expected[text_of(criterion)] = total / len(Y)
    penalties = list(expected.values())[1:]
    n_tried = next((i for i in range(1, 4) if penalties[i] >= penalties[i - 1]), 3) + 1  # up to the first that is worse
    tried = dict(list(expected.items())[: n_tried + 1])
    assert found.validation_losses_ == pytest.approx(tried, rel=1e-12)
    assert list(found.validation_losses_) == list(tried)
    assert text_of(found.criterion_) == min(tried, key=tried.get)
    same = GridEnsembleClassifier(criterion=found.criterion_, search=FEW, random_state=4).fit(X, Y)
    assert same.validation_losses_ == {}
    assert same.criterion_ is found.criterion_
    np.testing.assert_array_equal(found.predict_proba(X), same.predict_proba(X))


def test_threads_seeds_weights_and_the_order_of_rows():
    one = GridEnsembleClassifier(search=FEW).fit(X, Y)
    two = GridEnsembleClassifier(search=FEW, n_jobs=2).fit(X, Y)
    assert one.validation_losses_ == two.validation_losses_
    rows = np.random.default_rng(0).permutation(len(Y))
    other = GridEnsembleClassifier(search=FEW).fit(X.iloc[rows], Y[rows])
    assert other.validation_losses_ == pytest.approx(one.validation_losses_, rel=1e-9)
    weights = np.random.default_rng(1).integers(0, 3, len(Y))
    some = np.repeat(np.arange(len(Y)), weights)
    weighted = GridEnsembleClassifier(search=FEW).fit(X, Y, sample_weight=weights)
    repeated = GridEnsembleClassifier(search=FEW).fit(X.iloc[some], Y[some])
    assert weighted.validation_losses_ == pytest.approx(repeated.validation_losses_, rel=1e-9)
    assert weighted.criterion_.chosen == repeated.criterion_.chosen
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-9)


def test_a_class_of_one_row_and_few_rows():
    classes = Y.copy().astype(object)
    classes[7] = "once"
    found = GridEnsembleClassifier(search=FEW).fit(X, classes)
    assert all(map(math.isfinite, found.validation_losses_.values()))
    assert found.predict_proba(X).shape == (len(Y), 4)
    few = GridEnsembleClassifier(search=FEW).fit(X[:5], Y[:5])
    assert few.validation_losses_ == {}
    assert few.criterion_.name == "modl"
    alone = GridEnsembleClassifier(search=FEW).fit(X, np.zeros(len(Y), dtype=int))
    assert alone.validation_losses_ == {}
    noise = np.random.default_rng(0).integers(0, 2, len(Y))
    nothing = GridEnsembleClassifier(search=FEW).fit(X[["town"]].fillna("d").assign(town="d"), noise)
    assert len(set(nothing.validation_losses_.values())) == 1
    assert nothing.criterion_.name == "modl"  # ties: the first


@pytest.mark.usefixtures("_processor_time")
def test_time_limit_and_interruption(monkeypatch):
    clock = Clock()
    with pytest.warns(ConvergenceWarning, match="was stopped by time_limit=0.5"):
        GridEnsembleClassifier(search=Search("diverse", effort=20, keep_optima=10**5), time_limit=0.5).fit(X, Y)
    assert clock.elapsed < 20.0  # without the time of compiling; it is about 0.5
    limits = []
    best = ensemble.best_average

    def listening(*arguments, **options):
        limits.append(options["time_limit"])
        return best(*arguments, **options)

    monkeypatch.setattr(ensemble, "best_average", listening)
    GridEnsembleClassifier(search=FEW, time_limit=600.0).fit(X, Y)
    assert len(limits) in (10, 13, 16)  # three folds of three to five candidates, and all rows
    assert limits[0] == pytest.approx(20.0, rel=0.1)
    assert max(limits[:-1]) <= 300.0
    assert 300.0 <= limits[-1] <= 600.0

    def interrupted(*arguments, **options):
        model, average = best(*arguments, **options)
        object.__setattr__(model, "stopped", "interrupted")
        return model, average

    monkeypatch.setattr(ensemble, "best_average", interrupted)
    with pytest.raises(KeyboardInterrupt):
        GridEnsembleClassifier(search=FEW).fit(X, Y)


def test_what_is_refused():
    with pytest.raises(TypeError, match="criterion='auto' chooses the options too"):
        GridEnsembleClassifier(criterion_options={"alpha": 0.5}).fit(X, Y)
    with pytest.raises(ValueError, match="search must say how many grids to average"):
        GridEnsembleClassifier(search="vns").fit(X, Y)
    assert clone(GridEnsembleClassifier()).criterion == "auto"
