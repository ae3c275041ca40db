"""Discretization with few labels: the figures of the paper on semi-supervised discretization, beside ours.

    .venv/bin/pip install --group docs --group test
    .venv/bin/python -m reproduce.papers.few_labels --data ../shared/data

A. Bondu, M. Boullé, V. Lemaire, "A non-parametric semi-supervised discretization method", Knowledge and Information
Systems 24, 2010:

Figure 1      labelled rows that two intervals need, among ever more unlabelled ones
Figure 3      minus the log probability of a bound, over the place of the bound
Figure 4      what the two likelihoods differ by, with labels that are not pure: --only "Figure 4" takes seconds
Figures 5, 6  AUC of naive Bayes with 4 to 256 labelled rows, 15 data sets, for intervals of the labelled rows alone
              (M_super) and with bounds at the median of the unlabelled rows between (M*_super); train, test, and test
              with all labels. Beside them, not in the paper, the average over all partitions, with unlabelled rows

Two stratified folds are repeated --repeats times, in the paper 50. AUC of more than two classes is the mean over the
classes against the others, weighted by their shares. The paper gives its results as curves only, so there are no
numbers to put beside ours: what it says of them is checked.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import scipy.stats
from matplotlib.colors import LogNorm, Normalize
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

import gridmodl
from gridmodl import GridNaiveBayes
from gridmodl.criteria.modl_semi import lowest_completion
from reproduce.run import COLOURS, SEED, Run, Sections, load, picture, publish_sections, read_run, say, table_of

DATA = (
    "adult", "australian", "breast", "crx", "german", "heart", "hepatitis", "hypothyroid", "ionosphere", "iris", "pima",
    "sick_euthyroid", "vehicle", "waveform", "wine",
)  # fmt: skip

OTHER = 0.04  # share of labels of the other class in each of the two parts of Figure 4: our reading
PAPER_DIFFERENCE = 5  # "approximately", for 5,000 rows of which 2,500 have a label

INTRODUCTION = """\
A. Bondu, M. Boullé, V. Lemaire, "A non-parametric semi-supervised discretization method", Knowledge and Information
Systems 24, 2010. `M_super` has the intervals of the labelled rows alone, `M*_super` the same with each bound at the
median of the unlabelled rows between its two labelled ones; both are `GridNaiveBayes(averaged=False)`, without and with
`unlabelled=`. The paper gives its results as curves, so there are no numbers to put beside ours: what its text says of
them is checked.
"""
LABELLED = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
NONE = "?"  # marks rows without a label
METHODS: dict[str, dict[str, Any]] = {  # parameters of GridNaiveBayes
    "M_super": {"averaged": False},  # sees the labelled rows alone
    "M*_super": {"averaged": False, "unlabelled": NONE},
    "average": {"unlabelled": NONE},
}


def auc(y: NDArray[Any], probabilities: NDArray[np.float64], classes: NDArray[Any]) -> float:
    """Weighted by class; a class that was not labelled has probability 0."""
    total = 0.0
    for name, share in zip(*np.unique(y, return_counts=True), strict=True):
        column = np.flatnonzero(classes == name)
        given = probabilities[:, column[0]] if len(column) else np.zeros(len(y))
        total += share / len(y) * roc_auc_score(y == name, given)
    return float(total)


def label_counts(run: Run) -> tuple[int, ...]:
    return LABELLED[1::4] if run.quick else LABELLED


def auc_of_fold(X: pd.DataFrame, y: NDArray[Any], fit: NDArray[Any], new: NDArray[Any], run: Run, seed: int) -> Any:
    """Number of labels (the last: all), method, then train and test."""
    order = np.random.default_rng([SEED, seed]).permutation(fit)

    def both(rows: NDArray[Any], marks: NDArray[Any], options: dict[str, Any]) -> list[float]:
        bayes = GridNaiveBayes(**options, n_jobs=2).fit(X.iloc[rows], marks[rows])
        return [auc(y[part], bayes.predict_proba(X.iloc[part]), bayes.classes_) for part in (fit, new)]

    found = []
    for n in label_counts(run):
        labelled = order[:n]
        marks = np.full(len(y), NONE, dtype=object)
        marks[labelled] = y[labelled]
        rows = {"M_super": labelled}
        found.append([both(rows.get(name, order), marks, options) for name, options in METHODS.items()])
    parts = both(order, y, METHODS["M_super"])  # no row is left without a label: the first two are one
    return [*found, [parts, parts, both(order, y, METHODS["average"])]]


def aucs(X: pd.DataFrame, y: NDArray[Any], run: Run) -> NDArray[np.float64]:
    """Fold first, then as each of them."""
    found = []
    for repeat in range(1 if run.quick else run.options.repeats):
        for fit, new in StratifiedKFold(2, shuffle=True, random_state=SEED + repeat).split(X, y):
            found.append(auc_of_fold(X, y, fit, new, run, repeat))
    return np.array(found)


def tests(found: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of one data set, by number of labels: the p-value of M_super against M*_super, 1 where they never differ."""
    test = found[:, :-1, :, 1]
    differs = ~np.isclose(test[:, :, 0], test[:, :, 1], rtol=0.0, atol=1e-12).all(axis=0)
    values = np.ones(test.shape[1])
    values[differs] = scipy.stats.ttest_rel(test[:, differs, 0], test[:, differs, 1]).pvalue
    return values


def least_labelled(n: int, is_semi: bool) -> int:
    """The least even number of labelled rows, half of them at 0 and half at 1, with which n rows have two intervals."""
    for labelled in range(2, n + 1, 2):
        half, rest = labelled // 2, (n - labelled) // 2
        y = ["a"] * half + [NONE] * rest + ["b"] * half + [NONE] * rest
        x = [0.0] * (half + rest) + [1.0] * (half + rest)
        keep = slice(None) if is_semi else [label != NONE for label in y]
        given = pd.DataFrame({"x": x, "y": y}).loc[keep]
        options: dict[str, Any] = {"unlabelled": NONE} if is_semi else {}
        if gridmodl.optimize(given[["x"]], given["y"].tolist(), **options).partitions["x"].n_parts == 2:
            return labelled
    return n + 1


def figure_1(run: Run) -> str:
    sizes = (10, 20) if run.quick else (10, 20, 50, 100, 1000, 10_000)
    both = [(least_labelled(n, False), least_labelled(n, True)) for n in sizes]
    text = table_of(
        ["rows", "supervised (paper: 6)", "semi-supervised (paper: grows as log N)"],
        [[str(n), str(supervised), str(semi)] for n, (supervised, semi) in zip(sizes, both, strict=True)],
    )
    figure, axes = plt.subplots(figsize=(5, 3))
    for needed, name, colour in zip(zip(*both, strict=True), ("supervised", "semi-supervised"), COLOURS, strict=False):
        axes.plot(sizes, needed, "o-", label=name, color=colour)
    axes.set(xscale="log", xlabel="rows, labelled and not", ylabel="labelled rows needed", ylim=(0, None))
    axes.legend(frameon=False)
    shown = picture("few_labels_figure_1", "Labelled rows needed over the number of rows", figure, run)
    return f"## Figure 1: labelled rows that two intervals need\n\n{text}\n{shown}"


def figure_3(run: Run) -> str:
    """Three areas: 40 rows of one class, 20 without, 40 of the other."""
    x, y = np.arange(100.0), ["a"] * 40 + [NONE] * 20 + ["b"] * 40
    costs = gridmodl.bound_posterior(x, y, unlabelled=NONE).minus_log
    inside = costs[39:60]
    figure, axes = plt.subplots(figsize=(5, 3))
    axes.plot(np.arange(len(costs)) + 0.5, costs, color=COLOURS[0])
    axes.axvspan(39.5, 59.5, color="0.9", label="rows without a label")
    axes.set(xlabel="place of the bound", ylabel="minus log probability")
    axes.legend(frameon=False, loc="upper center")
    shown = picture("few_labels_figure_3", "Minus the log probability of a bound over its place", figure, run)
    return (
        "## Figure 3: minus the log probability of a bound\n\n"
        f"Flat among the unlabelled rows (from {inside.min():.6f} to {inside.max():.6f}), higher by "
        f"{costs[0] - inside[0]:.2f} at the first row and {costs[-1] - inside[-1]:.2f} at the last: as in the paper, "
        "which found it by experiment; [the proof](../bound_posterior.md) has a page of its own.\n\n"
        f"{shown}"
    )


def likelihoods(n: int, n_labelled: int, other: float) -> tuple[float, float]:
    """Minus the log likelihood of two parts that are alike: semi-supervised, equation 24, and supervised.

    Each has half of the rows and of the labels, a share `other` of these of the class that prevails in the other part.
    """
    rows, labelled = n // 2, n_labelled // 2
    counts = [labelled - round(other * labelled), round(other * labelled)]
    supervised = math.lgamma(labelled + 1) - sum(math.lgamma(count + 1) for count in counts)
    return 2.0 * lowest_completion(counts, rows, rows - labelled), 2.0 * supervised


def approximate_difference(n: int, n_labelled: int, other: float) -> float:
    """What the two differ by, but for what vanishes as labels and other rows grow: two classes, two parts alike."""
    labelled, kept = n_labelled / 2, 1.0 - n_labelled / n
    return 2.0 * 0.5 * (math.log(2.0 * math.pi * labelled * kept) + math.log(other) + math.log(1.0 - other))


def draw_differences(run: Run) -> str:
    """The difference and the relative difference in colours, over all rows and those with a label."""
    sizes = np.linspace(100, 5000, 10 if run.quick else 50, dtype=int)
    difference, relative = np.full((2, len(sizes), len(sizes)), np.nan)
    for column, n in enumerate(sizes):
        for row, n_labelled in enumerate(sizes[: column + 1]):
            semi, supervised = likelihoods(n, n_labelled, OTHER)
            difference[row, column] = semi - supervised
            if n_labelled < n:  # else it is 0, which has no place on a logarithmic scale
                relative[row, column] = (semi - supervised) / semi
    figure, panels = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True, layout="constrained")
    for axes, shown, words, norm in (
        (panels[0], difference, "difference, nats", Normalize(0.0, 6.0)),
        (panels[1], relative, "relative difference", LogNorm(1e-3, 0.2)),
    ):
        mesh = axes.pcolormesh(sizes, sizes, shown, norm=norm, cmap="viridis", shading="nearest")
        figure.colorbar(mesh, ax=axes, label=words)
        axes.plot(5000, 2500, "o", color=COLOURS[5], clip_on=False, label="5,000 rows, 2,500 labels")
        axes.set(xlabel="rows, labelled and not", xlim=(0, 5000), ylim=(0, 5000))
    panels[0].set_ylabel("rows with a label")
    panels[0].legend(frameon=False, loc="upper left")
    return picture("few_labels_figure_4", "Difference of the likelihoods over rows and labelled rows", figure, run)


def figure_4(run: Run) -> str:
    """What the two likelihoods differ by is minus the log of a hypergeometric probability: see the text."""
    sizes = [500 * 10**k for k in range(2 if run.quick else 5)]
    lines = []
    for n in sizes:
        semi, supervised = likelihoods(n, n // 2, OTHER)
        near = approximate_difference(n, n // 2, OTHER)
        lines.append(
            [f"{n:,}", f"{n // 2:,}", f"{semi - supervised:.3f}", f"{near:.3f}", f"{1 - supervised / semi:.3%}"]
        )
    semi, supervised = likelihoods(5_000, 2_500, OTHER)
    pure = np.subtract(*likelihoods(5_000, 2_500, 0.0))
    others = ", ".join(f"{np.subtract(*likelihoods(5_000, 2_500, p)):.2f} with {p:.0%}" for p in (0.01, 0.1, 0.5))
    head = ["rows", "labels", "difference", "approximation", "relative difference"]
    return (
        "## Figure 4: difference of the two likelihoods\n\n"
        "Of the rows of part $i$, $N_i$, the labelled ones $L_i$ are drawn without replacement. So minus the "
        "logarithm of equation 24, with the best numbers of rows of each class, is that of the supervised likelihood "
        "and beside it minus the logarithm of a hypergeometric probability: that of the labels' counts, which are its "
        "mode. By the normal approximation of that probability the two differ by about\n\n"
        r"$$\sum_i \, \left[ \, \frac{J - 1}{2} \, \log\left(2 \pi L_i \left(1 - \frac{L_i}{N_i}\right)\right) "
        r"+ \frac{1}{2} \, \sum_j \, \log p_{ij} \, \right]$$"
        "\n\n"
        r"where $p_{ij}$ are the shares of the $J$ classes: that is the $O(\log N)$ of Theorem 1 with its constant, "
        "which `tests/fit/test_semi.py` tests.\n\n"
        "The paper describes its data as two pure parts. There the counts are certain, and the likelihoods differ by "
        f"{abs(pure):.0f}, for any numbers of rows and labels; but its chart shows about {PAPER_DIFFERENCE} nats "
        "for 5,000 rows of which 2,500 have a label, so it is not of pure labels and the best numbers of rows. "
        f"With {OTHER:.0%} of the labels of the other class in each part it is {semi - supervised:.2f}, and the charts "
        f"are drawn with these. That share is our reading, the paper gives none; the difference is {others}.\n\n"
        f"{draw_differences(run)}\n{table_of(head, lines)}\n"
        "As in the paper the difference grows as log N: where the share of labels is constant, by half a nat of each "
        "part for e times the rows; and the relative difference goes to 0. Where all rows have a label, on the "
        "diagonal, both are 0. The paper's scale of the left chart goes from 0 to 6, as here; that of its right chart, "
        "from 1e+50 to 1e-300, is not explained by these labels.\n"
    )


def draw_curves(results: dict[str, NDArray[np.float64]], run: Run) -> str:
    counts = label_counts(run)
    n_rows = -(-len(results) // 3)
    figure, panels = plt.subplots(n_rows, 3, figsize=(11, 2.7 * n_rows), squeeze=False, sharey=True)
    for axes, (name, found) in zip(panels.flat, results.items(), strict=False):
        mean, spread = found.mean(axis=0), found.std(axis=0)
        for k, method in enumerate(METHODS):
            for part, line in enumerate(("--", "-")):
                label = f"{method}, {('train', 'test')[part]}"
                axes.plot(counts, mean[:-1, k, part], line, color=COLOURS[k], label=label, lw=2.2 - k)
        low, high = mean[:-1, 0, 1] - spread[:-1, 0, 1], mean[:-1, 0, 1] + spread[:-1, 0, 1]
        axes.fill_between(counts, low, high, color=COLOURS[0], alpha=0.15, label="test of M_super, ± its spread")
        axes.axhline(mean[-1, 0, 1], color="0.4", lw=1, ls=":", label="test, all labels")
        axes.set(xscale="log", title=name, ylim=(0.4, 1.02))
        axes.set_xticks([4, 16, 64, 256], ["4", "16", "64", "256"], minor=False)
        axes.minorticks_off()
    for axes in panels.flat[len(results) :]:
        axes.axis("off")
    figure.supxlabel("labelled rows")
    figure.supylabel("AUC")
    figure.tight_layout()
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3, frameon=False)
    return picture("few_labels_figures_5_and_6", "AUC over the number of labelled rows, by data set", figure, run)


def curve_table(title: str, results: dict[str, NDArray[np.float64]], part: int, run: Run) -> str:
    """Mean and spread over the folds, of the training (0) or test rows (1) under M_super."""
    lines = []
    for name, found in results.items():
        means, spreads = found[:, :, 0, part].mean(axis=0), found[:, :, 0, part].std(axis=0)
        lines.append([name, *(f"{mean:.3f} ± {spread:.3f}" for mean, spread in zip(means, spreads, strict=True))])
    return table_of([title, *map(str, label_counts(run)), "all"], lines)


def against(results: dict[str, NDArray[np.float64]]) -> str:
    """The average beside M_super, in words."""
    gains = np.array([np.subtract(*found[:, :-1, [2, 0], 1].mean(axis=0).T) for found in results.values()])
    return (
        f"mean test AUC differs from M_super by {100 * gains.mean():+.2f} %; it is higher by more than 0.5 % in "
        f"{np.sum(gains > 0.005)} and lower in {np.sum(gains < -0.005)} of {gains.size} pairs of a data set and a "
        "number of labels."
    )


def figures_5_and_6(run: Run) -> str:
    results = {}
    for name in ("iris", "wine") if run.quick else DATA:
        X, y = load(name, run)
        results[name] = aucs(X, y.to_numpy(dtype=object), run)
        say(run, name)
    values = {name: tests(found) for name, found in results.items()}
    n_tests = sum(len(one) for one in values.values())
    significant = [
        f"{name} at {n}"
        for name, one in values.items()
        for n, p in zip(label_counts(run), one, strict=True)
        if p < 0.05
    ]
    is_left = [p * n_tests < 0.05 for one in values.values() for p in one]
    differences = np.array([np.abs(np.diff(found[:, :-1, :, 1].mean(axis=0))[:, 0]) for found in results.values()])
    falls = sum(int((np.diff(found[:, :-1, 0, 1].mean(axis=0)) < -0.005).sum()) for found in results.values())
    n_folds = len(next(iter(results.values())))
    return (
        "## Figures 5 and 6: naive Bayes with few labels\n\nTwo stratified folds, repeated, "
        f"{n_folds} in all (the paper: 100); at most as many rows are labelled as a fold has.\n\n"
        f"{draw_curves(results, run)}\n{curve_table('test AUC of M_super', results, 1, run)}\n"
        f"{curve_table('train AUC of M_super', results, 0, run)}\n"
        f"`M_super` against `M*_super`: mean test AUC differs by {100 * np.median(differences):.3f} % in the median "
        f"over data sets and numbers of labels, and by {100 * differences.max():.2f} % at most (the paper: 0.01 to "
        f"0.1 %). Of {n_tests} paired t-tests over the folds, {len(significant)} are below 5 %, where "
        f"{0.05 * n_tests:.0f} "
        f"would be by chance alone ({', '.join(significant) or 'none'}), and {sum(is_left)} after Bonferroni's "
        "correction; the paper: no significant effect. Folds share rows, so the tests see more than there is. Test AUC "
        f"falls by more than 0.005 from one number of labels to the next in {falls} of "
        f"{differences.size - len(results)} steps (the paper: never).\n\n"
        f"The average over all partitions, with the unlabelled rows: {against(results)}\n"
    )


SECTIONS: Sections = {
    "Figure 1": figure_1,
    "Figure 3": figure_3,
    "Figure 4": figure_4,
    "Figures 5 and 6": figures_5_and_6,
}


def main() -> None:
    run = read_run(__doc__, SECTIONS, repeats=(20, "of the two folds"))
    warnings.filterwarnings("ignore", message="The least populated class")
    publish_sections("Discretization with few labels", INTRODUCTION, SECTIONS, run)


if __name__ == "__main__":
    main()
