"""The page of `prediction.py`: what its records say, where others win first."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduce.peers.prediction_libraries import (
    INNER_FOLDS,
    LEARNING_RATES,
    LEAVES,
    METHODS,
    MOST_ITERATIONS,
    OURS,
    PENALTIES,
)
from reproduce.run import table_of

NONE = "-"
CLEARLY = 0.0005  # differences of log-loss, AUC and the like below this are none
HIGHER_IS_BETTER = {"log-loss": False, "AUC": True, "accuracy": True, "calibration error": False, "processor": False}
TITLES = {**{measure: measure for measure in HIGHER_IS_BETTER}, "processor": "seconds"}
PATTERNS = {**dict.fromkeys(HIGHER_IS_BETTER, "{:.4f}"), "processor": "{:.2f}"}
MEASURED = """\
* **Tables**: all of [the data sets](data_sets.md) in files of columns that have classes, without other rows or columns
  of the same data (heart_num, glass_id, soybean, led17, those of Ada and Sylva), less than 100 rows (labor), more than
  200 columns (arrhythmia, phoneme) and, as they take too long, more than 20 classes (abalone, letter).
* **Folds**: halves of the rows, drawn by class; each half is predicted from the other. All methods get the same halves.
  A table has at most {max_rows:,} rows, drawn by class once where it has more; classes of fewer than {min_class} rows
  and columns of one value are left out.
* **Log-loss**: the mean over the test rows of minus the log of the probability of the row's class, where probabilities
  are at least {least:g} and add up to one again.
* **AUC**: area under the ROC curve; with more than two classes the plain mean over classes, each against the rest.
* **Accuracy**: the share of rows whose class has the highest probability.
* **Calibration error**: rows by their highest probability in {n_bins} bins of equal width; the mean over rows of the
  difference between mean probability and accuracy of their bin. Few test rows make it large for the best method too.
* **Seconds**: of the processor, one thread, for fit and prediction of a fold, inner validation included. Imports,
  compiling and a fit on few rows come before. Khiops writes files and starts processes, which counts; by the clock it
  took longer, as it waits for them. A fit has {time_limit} s.
"""
ABOUT = {
    "GridLogistic": "logistic regression on averaged evidence, `GridLogistic()`.",
    "GridLogistic grids": 'with cells of grids as columns too, `GridLogistic(interactions="auto")`.',
    "GridNaiveBayes uniform": (
        'naive Bayes on the best parts of each column, `GridNaiveBayes(weights="uniform", averaged=False)`.'
    ),
    "GridNaiveBayes selective": 'with weights, `GridNaiveBayes(weights="selective", averaged=False)`.',
    "GridNaiveBayes averaged": 'on averaged evidence, `GridNaiveBayes(weights="selective", averaged=True)`.',
    "GridNaiveBayes grids": (
        'with cells of grids as columns too, `GridNaiveBayes(weights="selective", interactions="auto")`.'
    ),
    "GridEnsemble": "the average of many grids, `GridEnsembleClassifier()`.",
    "boosting": "scikit-learn's `HistGradientBoostingClassifier()` as it comes, categories as such.",
    "boosting tuned": (
        f"`HistGradientBoostingClassifier` with a learning rate of {' or '.join(map(str, LEARNING_RATES))} and at most "
        f"{' or '.join(map(str, LEAVES))} leaves, whichever pair has the lowest log-loss in {INNER_FOLDS} inner folds "
        "of the training rows, and the mean number of iterations at which the held-out loss of a fold was lowest (at "
        f"most {MOST_ITERATIONS})."
    ),
    "EBM": "interpret's `ExplainableBoostingClassifier()` as it comes: with pairs of columns.",
    "Khiops": "`KhiopsClassifier(n_trees=0)`, a selective naive Bayes.",
    "Khiops 10 trees": "`KhiopsClassifier(n_trees=10)`, as it comes: with columns made by trees.",
    "logistic": (
        "logistic regression: numbers standardized, the median and an indicator in place of missing ones; a column for "
        f"each category of two rows or more; C of {', '.join(map('{:g}'.format, PENALTIES))} by log-loss in "
        f"{INNER_FOLDS} inner folds."
    ),
    "logistic parts": (
        'logistic regression, C as before, on the best parts of each column, `GridDiscretizer(encode="onehot")`.'
    ),
    "logistic evidence": 'on the weights of evidence of these parts, `GridDiscretizer(encode="woe")`.',
}


def text(records: pd.DataFrame, repeats: int, facts: dict[str, float]) -> str:
    """The page; `facts` are the numbers of MEASURED."""
    fits, repeats, methods = chosen(records, repeats)
    main = fits[fits["method"].isin(methods)]
    means = by_table(main).groupby("method").mean().loc[methods].sort_values("log-loss")
    ours = [method for method in means.index if method in OURS]
    first = ours[0] if ours else str(means.index[0])
    rivals = [method for method in METHODS if method not in OURS and (fits["method"] == method).any()]
    sections = [
        f"{main['table'].nunique()} tables, {repeats} x 2 folds. What is measured, and what the methods are, is said "
        "at the end.\n",
        f"## Where others win\n\n{wins(fits, means, ours, first, rivals)}",
        f"## Means over the tables\n\n{means_table(main, means)}",
        f"## Beside {first}\n\n{pairs_table(fits, means, first)}",
        f"## Each table\n\n{each_table(fits, means, 'log-loss')}\n{each_table(fits, means, 'AUC')}",
        f"## What is measured\n\n{MEASURED.format(**facts)}\n{about(fits)}",
        left_out(records, fits, methods),
        made_from(fits),
    ]
    return "\n".join(section for section in sections if section)


def chosen(records: pd.DataFrame, repeats: int) -> tuple[pd.DataFrame, int, list[str]]:
    """The fits that the page is made from, their repeats, and the methods that have all of these on all tables."""
    fits = records[records["error"].isna()] if "error" in records else records
    repeats, methods = settled(fits, repeats)
    return fits[fits["fold"] < 2 * repeats], repeats, methods


def settled(fits: pd.DataFrame, repeats: int) -> tuple[int, list[str]]:
    """The most repeats, of those asked for, that half of the methods have on all tables; and these methods."""
    n_tables = fits["table"].nunique()
    for n in range(repeats, 0, -1):
        sizes = fits[fits["fold"] < 2 * n].groupby("method").size()
        methods = [method for method in METHODS if sizes.get(method, 0) == 2 * n * n_tables]
        if 2 * len(methods) >= fits["method"].nunique():
            return n, methods
    raise SystemExit("fewer than half of the methods have results for every table; measure more first")


def by_table(fits: pd.DataFrame) -> pd.DataFrame:
    """Means over the folds, of each table and method."""
    return fits.groupby(["table", "method"])[list(HIGHER_IS_BETTER)].mean()


def differences(fits: pd.DataFrame, method: str, other: str, measure: str) -> pd.DataFrame:
    """For each table the mean over shared folds of `measure` of the method minus that of the other, and its sign where
    it is clear: by more than two standard errors."""
    values = fits[fits["method"].isin([method, other])].pivot(index=["table", "fold"], columns="method", values=measure)
    values = values.dropna()
    folds = (values[method] - values[other]).groupby("table")
    found = pd.DataFrame({"mean": folds.mean(), "own": values[method].groupby("table").mean(), "folds": folds.size()})
    errors = folds.std(ddof=1) / np.sqrt(found["folds"])
    is_clear = (found["mean"].abs() > 2.0 * errors) & (found["mean"].abs() > CLEARLY)
    return found.assign(sign=np.sign(found["mean"]) * is_clear)


def wins(fits: pd.DataFrame, means: pd.DataFrame, ours: list[str], first: str, rivals: list[str]) -> str:
    """Where methods that are not ours are better than the first, and where one is better than all of ours."""
    if not ours:
        return f"No method of gridmodl was run; the others are compared with *{first}*, the lowest log-loss.\n"
    if not rivals:
        return "No method of another library was run.\n"
    lines = []
    for measure, is_higher in HIGHER_IS_BETTER.items():
        better, clearly = [], []
        for rival in rivals:
            found = differences(fits, rival, first, measure)
            gain = found["mean"] if is_higher else -found["mean"]
            signs = found["sign"] if is_higher else -found["sign"]
            part = "" if rival in means.index else f" on {len(found)} tables"
            if gain.mean() > 0.0:
                better.append(f"{rival} ({PATTERNS[measure].replace(':', ':+').format(found['mean'].mean())}{part})")
            if (signs > 0).sum() > (signs < 0).sum():
                clearly.append(f"{rival} ({int((signs > 0).sum())} to {int((signs < 0).sum())}{part})")
        own, word = PATTERNS[measure].format(means.loc[first, measure]), "higher" if is_higher else "lower"
        lines.append(f"* **{TITLES[measure]}** of {first}: {own}. In the mean {word}: {', '.join(better) or 'none'}.")
        if measure != "processor":
            lines.append(f"  Clearly {word} on more tables than not: {', '.join(clearly) or 'none'}.")
    return (
        f"Of gridmodl's methods *{first}* has the lowest mean log-loss; differences are to it, on the same folds.\n\n"
        + "\n".join(lines)
        + f"\n\n{beaten(fits, means, ours, rivals)}"
    )


def beaten(fits: pd.DataFrame, means: pd.DataFrame, ours: list[str], rivals: list[str]) -> str:
    """Tables on which some other method has clearly lower log-loss than every one of ours, and the other way round."""

    def listed(winners: list[str], losers: list[str]) -> list[str]:
        found: dict[str, tuple[float, str]] = {}
        for winner in winners:
            against = [differences(fits, winner, loser, "log-loss") for loser in losers]
            for name in set.intersection(*(set(one.index) for one in against)):
                if all(one.loc[name, "sign"] < 0 for one in against):
                    gap = max(float(one.loc[name, "mean"]) for one in against)
                    found[name] = min(found.get(name, (0.0, "")), (gap, winner))
        return [f"{name} ({winner}, {gap:+.3f})" for name, (gap, winner) in sorted(found.items())]

    complete = [rival for rival in rivals if rival in means.index]
    if not complete:
        return ""
    lost, won = listed(rivals, ours), listed(ours, complete)
    return (
        f"Log-loss clearly lower than that of every method of gridmodl, with the difference to the best of these, on "
        f"{len(lost)} tables: {', '.join(lost) or 'none'}.\n\n"
        f"The other way round, a method of gridmodl clearly lower than all others with results on every table, on "
        f"{len(won)}: {', '.join(won) or 'none'}.\n"
    )


def means_table(main: pd.DataFrame, means: pd.DataFrame) -> str:
    losses = by_table(main)["log-loss"].unstack("method")[list(means.index)]
    ranks = losses.rank(axis=1).mean()
    best = means.max().where(pd.Series(HIGHER_IS_BETTER), means.min())
    lines = []
    for method, row in means.iterrows():
        shown = [emphasized(row[m], best[m], PATTERNS[m]) for m in HIGHER_IS_BETTER]
        lines.append([named(str(method)), *shown, emphasized(ranks[method], ranks.min(), "{:.2f}")])
    head = ["method", *(TITLES[measure] for measure in HIGHER_IS_BETTER), "rank by log-loss"]
    return (
        f"{table_of(head, lines)}\nMethods of gridmodl are in *italics*, the best of a column is **bold**. Tables "
        "count alike. *Rank* is the mean over the tables of the place by log-loss, 1 the lowest.\n"
    )


def named(method: str) -> str:
    return f"*{method}*" if method in OURS else method


def emphasized(value: float, best: float, pattern: str) -> str:
    if np.isnan(value):
        return NONE
    shown = pattern.format(value)
    return f"**{shown}**" if shown == pattern.format(best) else shown


def pairs_table(fits: pd.DataFrame, means: pd.DataFrame, first: str) -> str:
    lines = []
    others = [method for method in METHODS if method != first and (fits["method"] == method).any()]
    for method in sorted(others, key=lambda one: (one not in means.index, list(METHODS).index(one))):
        line = [named(method)]
        for measure in ("log-loss", "AUC", "accuracy"):
            found = differences(fits, first, method, measure)
            if len(found) == 0:
                break
            gain = found["mean"] if HIGHER_IS_BETTER[measure] else -found["mean"]
            signs = found["sign"] if HIGHER_IS_BETTER[measure] else -found["sign"]
            if measure == "log-loss":
                line += [f"{len(found)} x {int(found['folds'].min())}", f"{(found['own'] - found['mean']).mean():.4f}"]
                line += [f"{int((gain > 0).sum())} / {int((gain < 0).sum())}"]
            line += [f"{found['mean'].mean():+.4f}", f"{int((signs > 0).sum())} / {int((signs < 0).sum())}"]
        if len(line) > 1:
            lines.append(line)
    head = [
        "other", "tables x folds", "its log-loss", "better / worse", "log-loss", "clearly", "AUC", "clearly",
        "accuracy", "clearly",
    ]  # fmt: skip
    return (
        f"{first} minus the other on the folds that both have, the mean over tables; and on how many tables {first} is "
        f"better / worse. *Clearly* is by more than two standard errors over the folds and by more than {CLEARLY:g}. "
        "Folds of one table share rows, so that standard errors are too small; a method has fewer folds where time was "
        f"short.\n\n{table_of(head, lines)}"
    )


def each_table(fits: pd.DataFrame, means: pd.DataFrame, measure: str) -> str:
    values = by_table(fits)[measure].unstack("method")
    shown = [*means.index, *(method for method in METHODS if method in values and method not in means.index)]
    sizes = fits.drop_duplicates("table").set_index("table")
    lines = []
    for name, row in values[shown].iterrows():
        size = sizes.loc[name]
        best = row.max() if HIGHER_IS_BETTER[measure] else row.min()
        cells = [emphasized(value, best, "{:.3f}") for value in row]
        lines.append([str(name), f"{size['rows']:,} x {size['columns']}, {size['classes']}", *cells])
    return table_of([f"{measure} of", "rows x columns, classes", *map(named, shown)], lines)


def about(fits: pd.DataFrame) -> str:
    present = [method for method in ABOUT if (fits["method"] == method).any()]
    return "\n".join(f"* {named(method)}: {ABOUT[method]}" for method in present) + "\n"


def left_out(records: pd.DataFrame, fits: pd.DataFrame, methods: list[str]) -> str:
    """Methods without results, methods with fewer, and errors in the words of the library."""
    absent = [method for method in METHODS if not (fits["method"] == method).any()]
    fewer = [method for method in METHODS if method not in methods and method not in absent]
    said = [f"Not run, or not in the versions installed: {', '.join(absent)}.\n"] if absent else []
    if fewer:
        counts = (f"{m} ({fits.loc[fits['method'] == m, 'table'].nunique()} tables)" for m in fewer)
        said.append(f"Not in the means, as they have fewer folds or tables than the others: {', '.join(counts)}.\n")
    if "error" in records:
        failed = records.dropna(subset=["error"])
        for (method, error), rows in failed.groupby(["method", "error"], sort=False):
            said.append(f"* {method}: {error} ({', '.join(rows['table'].unique())})")
    return "\n".join(said).rstrip("\n") + "\n" if said else ""


def made_from(fits: pd.DataFrame) -> str:
    versions = fits.drop_duplicates(["package", "version"])
    ran = ", ".join(sorted(f"{row.package} {row.version}" for row in versions.itertuples()))
    days = " to ".join(sorted({fits["date"].min(), fits["date"].max()}))
    return (
        f"Measured {days} with {ran}: {len(fits):,} fits, {fits['processor'].sum() / 60.0:.0f} minutes of the "
        f"processor, {fits['clock'].sum() / 60.0:.0f} by the clock on a machine with other work to do.\n"
    )
