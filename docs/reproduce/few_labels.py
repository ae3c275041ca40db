"""Discretization with few labels: the figures of the paper on semi-supervised discretization, beside ours.

    .venv/bin/pip install --group docs --group test
    .venv/bin/python docs/reproduce/few_labels.py --data ../shared/data

A. Bondu, M. Boullé, V. Lemaire, "A non-parametric semi-supervised discretization method", Knowledge and Information
Systems 24, 2010:

Figure 1      labelled rows that two intervals need, among ever more unlabelled ones
Figure 3      minus the log probability of a bound, over the place of the bound
Figure 4      what the two likelihoods differ by
Figures 5, 6  AUC of naive Bayes with 4 to 256 labelled rows, 15 data sets, for intervals of the labelled rows alone
              (M_super) and with bounds at the median of the unlabelled rows between (M*_super); train, test, and test
              with all labels

Two stratified folds are repeated --repeats times, in the paper 50. AUC of more than two classes is the mean over the
classes against the others, weighted by their shares. The paper gives its results as curves only, so there are no
numbers to put beside ours: what it says of them is checked.
"""

from __future__ import annotations

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from few_labels_auc import METHODS, NONE, aucs, label_counts, tests
from numpy.typing import NDArray
from reproduction import COLOURS, Run, load, picture, publish, read_run, say, table_of

import gridmodl

DATA = (
    "adult", "australian", "breast", "crx", "german", "heart", "hepatitis", "hypothyroid", "ionosphere", "iris", "pima",
    "sick_euthyroid", "vehicle", "waveform", "wine",
)  # fmt: skip

INTRODUCTION = """\
A. Bondu, M. Boullé, V. Lemaire, "A non-parametric semi-supervised discretization method", Knowledge and Information
Systems 24, 2010. M_super has the intervals of the labelled rows alone, M*_super the same with each bound at the median
of the unlabelled rows between its two labelled ones. The paper gives its results as curves, so there are no numbers to
put beside ours: what its text says of them is checked.
"""


def least_labelled(n: int, is_semi: bool) -> int:
    """The least even number of labelled rows, half of them at 0 and half at 1, with which n rows have two intervals."""
    for labelled in range(2, n + 1, 2):
        half, rest = labelled // 2, (n - labelled) // 2
        y = ["a"] * half + [NONE] * rest + ["b"] * half + [NONE] * rest
        x = [0.0] * (half + rest) + [1.0] * (half + rest)
        keep = slice(None) if is_semi else [label != NONE for label in y]
        given = pd.DataFrame({"x": x, "y": y}).loc[keep]
        options = {"unlabelled": NONE} if is_semi else {}
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
        "which found it by experiment; the proof is in [`docs/bound_posterior.md`](../bound_posterior.md).\n\n"
        f"{shown}"
    )


def figure_4() -> str:
    """What can be said of it: with pure labels, equation 24 is 0 where all rows of a part are taken for its class.

    log N_i! - log N_i^u! - sum_j log N_ij! + sum_j log N_ij^u! with N_ij = N_i and N_ij^u = N_i^u for that class, and
    the supervised term log N_i^l! - sum_j log N_ij^l! is 0 too.
    """
    return (
        "## Figure 4: difference of the two likelihoods\n\n"
        "On the data of the figure, two pure parts, equation 24 with the best numbers of rows of each class is 0, and "
        "so is the supervised likelihood: they do not differ, for any N and N_l. The figure shows about 5 nats for "
        "N = 5,000 and N_l = 2,500, which needs other numbers of rows that the paper does not give: it cannot be drawn "
        "again. Its relative difference would be 0 / 0.\n"
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
        f"M_super against M*_super: mean test AUC differs by {100 * np.median(differences):.3f} % in the median over "
        f"data sets and numbers of labels, and by {100 * differences.max():.2f} % at most (the paper: 0.01 to 0.1 %). "
        f"Of {n_tests} paired t-tests over the folds, {len(significant)} are below 5 %, where {0.05 * n_tests:.0f} "
        f"would be by chance alone ({', '.join(significant) or 'none'}), and {sum(is_left)} after Bonferroni's "
        "correction; the paper: no significant effect. Folds share rows, so the tests see more than there is. Test AUC "
        f"falls by more than 0.005 from one number of labels to the next in {falls} of "
        f"{differences.size - len(results)} steps (the paper: never).\n"
    )


def main() -> None:
    run = read_run(__doc__, repeats=(20, "of the two folds"))
    warnings.filterwarnings("ignore", message="The least populated class")
    text = [INTRODUCTION, figure_1(run), figure_3(run), figure_4(), figures_5_and_6(run)]
    publish("few_labels", "Discretization with few labels", "\n".join(text), run)


if __name__ == "__main__":
    main()
