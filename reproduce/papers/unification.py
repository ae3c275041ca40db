"""A generalized entropy with two parameters against other discretizations, before a tree and before naive Bayes.

    .venv/bin/pip install --group docs --group test
    .venv/bin/python docs/reproduce/unification.py --data ../shared/data

R. Jin, Y. Breitbart, C. Muoh, "Data discretization unification", 2007, Tables 3 and 4: mean error over five times five
folds on 12 data sets, without discretization, with ten intervals of equal width and of equal frequency, by entropy
(Fayyad and Irani), by ChiMerge, and by the paper's criterion with the best alpha and beta of a 10 x 10 grid; and the
errors over that grid for iris and glass (Figure 1).

The paper discretizes the whole data set before the folds are made, and takes the alpha and beta with the least error
over such folds: it looks at the classes of the test rows twice. "As the paper" does the same. "Honest" discretizes the
training rows of each fold, and chooses alpha and beta by the four folds that these consist of, each classified after
the other three were discretized.

What the paper leaves open, and what is not done as there, is in `DEVIATIONS` of `unification_page.py`, which writes the
page; how settings are tried is in `unification_settings.py`.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from reproduction import SEED, Run, load, publish, read_run, say
from sklearn.model_selection import StratifiedKFold
from unification_page import PAPER, Result, page
from unification_settings import CLASSIFIERS, Coded, Columns, Grid, Pair, Unification, errors

from gridmodl import baselines

BASELINES = (baselines.equal_width, baselines.equal_frequency, baselines.fayyad_irani, baselines.chi_merge)
N_FOLDS = 5
STEPS = np.maximum(np.arange(10) / 9, 1e-5)
FULL, SMALL = Grid(STEPS, STEPS), Grid(STEPS[::3], STEPS[::9])


def folds_of(y: NDArray[np.int64], seed: int) -> list[NDArray[np.int64]]:
    """The rows of each fold, as many of each class."""
    split = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(y, y)
    return [new for _, new in split]


def pairs_of(folds: list[NDArray[np.int64]]) -> list[Pair]:
    return [(np.concatenate(folds[:k] + folds[k + 1 :]), fold) for k, fold in enumerate(folds)]


def best_of(surface: NDArray[np.float64]) -> NDArray[np.int64]:
    """The setting of least error for each classifier; of equals that of the largest alpha, so of the fewest parts."""
    return np.asarray(len(surface) - 1 - surface[::-1].round(9).argmin(axis=0))  # equal but for the order of a sum


def as_paper(columns: Columns, grid: Grid, n_trials: int) -> Result:
    """Parts of all rows; the best setting over folds of all rows; then other folds of all rows."""
    y, rows = columns.y, np.arange(len(columns.y))
    pairs, pairs_to_choose = (
        [pair for trial in range(n_trials) for pair in pairs_of(folds_of(y, seed + trial))] for seed in (SEED, 1000)
    )
    settings = Unification(columns, rows, grid).coded()
    surface = errors(settings, y, pairs_to_choose).mean(axis=0)
    best = best_of(surface)
    others = [columns.continuous(), *(columns.parts(method, rows) for method in BASELINES)]
    found = [errors(coded, y, pairs) for coded in others]
    found.append(_each_its_own([settings.only(int(k)) for k in best], y, pairs))
    return Result(np.concatenate(found, axis=1), np.tile(best, (len(pairs), 1)), surface)


def honest(columns: Columns, grid: Grid, n_trials: int) -> Result:
    """Parts, and the best setting, of the training rows of each fold."""
    found, chosen = [], []
    for trial in range(n_trials):
        folds = folds_of(columns.y, SEED + trial)
        for pair, best in zip(pairs_of(folds), choices(columns, folds, grid), strict=True):
            fit = pair[0]
            others = [columns.continuous(), *(columns.parts(method, fit) for method in BASELINES)]
            own = [Unification(columns, fit, grid.only(int(k))).coded() for k in best]
            of_fold = [errors(coded, columns.y, [pair]) for coded in others]
            of_fold.append(_each_its_own(own, columns.y, [pair]))
            found.append(np.concatenate(of_fold, axis=1)[0])
            chosen.append(best)
    return Result(np.stack(found), np.stack(chosen), np.empty((0, len(CLASSIFIERS))))


def choices(columns: Columns, folds: list[NDArray[np.int64]], grid: Grid) -> list[NDArray[np.int64]]:
    """For each fold, the best settings without it: by the other folds, each classified by the remaining three.

    What remains without two folds is discretized once, and serves the choice for both.
    """
    totals = np.zeros((N_FOLDS, len(grid.alphas) * len(grid.betas), len(CLASSIFIERS)))
    for j, k in itertools.combinations(range(N_FOLDS), 2):
        of_j, of_k = errors_without(columns, folds, j, k, grid)
        totals[k] += of_j
        totals[j] += of_k
    return [best_of(total) for total in totals]


def errors_without(columns: Columns, folds: list[NDArray[np.int64]], j: int, k: int, grid: Grid) -> NDArray[np.float64]:
    """The errors on two folds, by setting and classifier, where neither was looked at."""
    rest = np.concatenate([rows for i, rows in enumerate(folds) if i not in (j, k)])
    settings = Unification(columns, rest, grid).coded()
    return errors(settings, columns.y, [(rest, folds[j]), (rest, folds[k])])


def _each_its_own(coded: list[Coded], y: NDArray[np.int64], pairs: list[Pair]) -> NDArray[np.float64]:
    """The errors of each classifier on its own coding, by pair, 1 and classifier."""
    return np.stack([errors(coded[i], y, pairs)[:, :, i] for i in range(len(CLASSIFIERS))], axis=2)


def results(run: Run) -> dict[str, tuple[Result, Result]]:
    """Of each data set, as the paper and honest."""
    grid, n_trials, names = (SMALL, 1, ["iris"]) if run.quick else (FULL, 5, list(PAPER))
    found = {}
    for name in names:
        columns = Columns(*load(name, run))
        found[name] = as_paper(columns, grid, n_trials), honest(columns, grid, n_trials)
        say(run, name, *((100 * one.errors.mean(axis=0).T).round(2).tolist() for one in found[name]))
    return found


def main() -> None:
    run = read_run(__doc__)
    publish(
        "unification", "Data discretization unification", page(results(run), SMALL if run.quick else FULL, run), run
    )


if __name__ == "__main__":
    main()
