"""Measures of the comparison of classifiers, and what its page says of made results."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss, roc_auc_score

sys.path.append(str(Path(__file__).parents[2]))

from reproduce.peers import prediction, prediction_page
from reproduce.peers.prediction_libraries import METHODS

FACTS = {"max_rows": 4000, "min_class": 10, "least": 1e-15, "n_bins": 10, "time_limit": 300}


def draw(n_rows, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.full(n_classes, 0.7), n_rows)
    return np.array([rng.choice(n_classes, p=row) for row in probabilities]), probabilities


def records(losses, n_folds=4, tables=("a", "b")):
    """Fits of methods with given losses by table, plus a little that differs by fold alike for all methods."""
    lines = []
    for method, by_table in losses.items():
        for table, loss in zip(tables, by_table, strict=True):
            if loss is None:
                continue
            for fold in range(n_folds):
                value = loss + 0.01 * fold + 0.0001 * (fold % 2) * len(method)
                line = {"table": table, "rows": 100, "columns": 3, "classes": 2, "fold": fold, "method": method}
                line |= {"package": METHODS[method][0].package, "version": "1", "date": "2026-01-01"}
                line |= {"log-loss": value, "AUC": 1.0 - value, "accuracy": 1.0 - value, "calibration error": value}
                lines.append({**line, "processor": 1.0, "clock": 2.0})
    return pd.DataFrame(lines)


# Measures.


@pytest.mark.parametrize("n_classes", [2, 4])
def test_measures_are_those_of_scikit_learn_and_of_a_loop_over_bins(n_classes):
    y, probabilities = draw(300, n_classes)
    found = prediction.measures(y, probabilities)
    assert found["log-loss"] == pytest.approx(log_loss(y, probabilities))
    areas = [roc_auc_score(y == j, probabilities[:, j]) for j in range(n_classes)]
    assert found["AUC"] == pytest.approx(np.mean(areas))
    assert found["accuracy"] == np.mean(probabilities.argmax(axis=1) == y)
    total, highest = 0.0, probabilities.max(axis=1)
    for i in range(10):
        rows = (highest >= i / 10) & (highest < (i + 1) / 10)
        if rows.any():
            hits = (probabilities.argmax(axis=1) == y)[rows].mean()
            total += rows.sum() * abs(hits - highest[rows].mean())
    assert found["calibration error"] == pytest.approx(total / 300)


def test_a_probability_of_zero_costs_as_much_as_the_least_one():
    found = prediction.measures(np.array([0, 1]), np.array([[1.0, 0.0], [1.0, 0.0]]))
    assert found["log-loss"] == pytest.approx(-np.log(1e-15) / 2)
    assert found["calibration error"] == pytest.approx(0.5)


# Which fits are asked for.


def test_fits_after_one_that_ends_the_process_are_asked_for_again(monkeypatch):
    calls = []

    def ask(python, module, names, folder, limit):
        calls.append(list(names))
        answers, is_alive = {}, True
        for name in names:
            is_alive = is_alive and name != "b#0"
            answers[name] = {"processor": 1.0} if is_alive else {"error": "exit code -11"}
        return answers

    monkeypatch.setattr(prediction, "ask", ask)
    found = dict(prediction.answers_of("python", ["a#0", "b#0", "c#0", "d#0"], Path()))
    assert calls == [["a#0", "b#0", "c#0", "d#0"], ["c#0", "d#0"]]
    assert [name for name, answer in found.items() if "error" in answer] == ["b#0"]


# The page.


def test_differences_are_clear_beyond_two_standard_errors_of_the_shared_folds():
    fits = records({"boosting": (0.5, 0.5), "GridLogistic": (0.4, 0.5002)})
    own = fits["method"] == "GridLogistic"
    fits = fits.drop(fits[own & (fits["table"] == "a") & (fits["fold"] == 3)].index)
    found = prediction_page.differences(fits, "GridLogistic", "boosting", "log-loss")
    assert found["folds"].tolist() == [3, 4]
    assert found["sign"].tolist() == [-1, 0]  # 0.0002 is less than what counts
    gaps = [-0.1 + 0.0001 * (fold % 2) * 4 for fold in range(3)]  # names of 12 and 8 letters
    assert found["mean"]["a"] == pytest.approx(np.mean(gaps))
    noisy = fits.assign(**{"log-loss": fits["log-loss"] + 0.5 * own * (fits["fold"] % 2)})
    assert prediction_page.differences(noisy, "GridLogistic", "boosting", "log-loss")["sign"].tolist() == [0, 0]


def test_the_page_says_first_where_others_win():
    fits = records(
        {"GridLogistic": (0.4, 0.6), "GridNaiveBayes uniform": (0.7, 0.7), "boosting": (0.5, 0.45), "EBM": (0.3, None)}
    )
    page = prediction_page.text(fits, 5, FACTS)
    assert page.index("## Where others win") < page.index("## Means over the tables")
    first = page.split("## Means")[0]
    assert "*GridLogistic* has the lowest mean log-loss" in first
    assert "In the mean lower: boosting (-0.025" in first
    assert "EBM (-0.1005 on 1 tables)" in first
    assert "every method of gridmodl, with the difference to the best of these, on 2 tables: a (EBM, -0.100" in first
    assert "b (boosting, -0.150)" in first
    assert "Not in the means, as they have fewer folds or tables than the others: EBM (1 tables)" in page
    assert "2 tables, 2 x 2 folds" in page


def test_where_nobody_wins_the_page_says_none():
    page = prediction_page.text(records({"GridLogistic": (0.4, 0.4), "boosting": (0.5, 0.5)}), 1, FACTS)
    first = page.split("## Means")[0]
    assert "In the mean lower: none." in first
    assert "on 0 tables: none" in first
    assert "on 2: a (GridLogistic, -0.100)" in first


def test_repeats_that_most_methods_lack_are_left_out():
    fits = records({"GridLogistic": (0.4, 0.4), "boosting": (0.5, 0.5), "logistic": (0.5, 0.5)})
    fits = fits[(fits["fold"] < 2) | (fits["method"] == "boosting")]
    assert prediction_page.settled(fits, 5) == (1, ["GridLogistic", "boosting", "logistic"])
    with pytest.raises(SystemExit, match="measure more first"):
        prediction_page.settled(fits[fits["table"] != "a"].iloc[:1], 5)


def test_errors_are_told_in_the_words_of_the_library():
    fits = records({"GridLogistic": (0.4, 0.4), "boosting": (0.5, 0.5)})
    failed = {"table": "a", "fold": 0, "method": "EBM", "package": "interpret", "error": "no answer in 300 s"}
    page = prediction_page.text(pd.concat([fits, pd.DataFrame([failed])]), 2, FACTS)
    assert "* EBM: no answer in 300 s (a)" in page


def test_every_method_is_described():
    assert set(prediction_page.ABOUT) == set(METHODS)
