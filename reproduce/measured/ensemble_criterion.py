"""Does the criterion that an ensemble of grids chooses predict better than `modl`? On rows that no fit has seen.

    .venv/bin/pip install pandas scikit-learn
    .venv/bin/python -m reproduce.measured.ensemble_criterion --data ../shared/data

Of each data set 70 % of the rows, as many of each class, are trained with; a short search (effort 6). Mean over the
other rows of -log((N p + 1) / (N + J)), p the probability of the row's class, N training rows and J classes; seconds of
the processor.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.model_selection import train_test_split

from gridmodl import GridEnsembleClassifier, Search
from reproduce.run import SEED, load, read_run, table_of

NAMES = ("heart", "hepatitis", "ionosphere", "pima", "crx", "german", "vehicle", "glass", "waveform")
SHORT = Search("diverse", effort=6, keep_optima=200)


def main() -> None:
    run = read_run(__doc__)
    lines, better = [], 0
    for name in ("iris", "wine") if run.quick else NAMES:
        X, y = load(name, run)
        X, X_new, y, y_new = train_test_split(X, y, test_size=0.3, stratify=y, random_state=SEED)
        losses, seconds, chosen = [], [], ""
        for criterion in ("modl", "auto"):
            begun = time.process_time()
            ensemble = GridEnsembleClassifier(criterion=criterion, search=SHORT, random_state=SEED).fit(X, y)
            seconds.append(time.process_time() - begun)
            own = ensemble.predict_proba(X_new)[np.arange(len(y_new)), np.searchsorted(ensemble.classes_, y_new)]
            losses.append(float(-np.mean(np.log((len(y) * own + 1.0) / (len(y) + len(ensemble.classes_))))))
            options = ", ".join(f"{option}={value:g}" for option, value in ensemble.criterion_.chosen.items())
            chosen = f"{ensemble.criterion_.name}({options})"
        better += losses[1] < losses[0]
        lines.append([name, *(f"{loss:.4f}" for loss in losses), chosen, *(f"{taken:.1f}" for taken in seconds)])
        print(*lines[-1], flush=True)
    print(table_of(["log-loss", "modl", "auto", "chosen", "seconds, modl", "seconds, auto"], lines))
    print(f"auto is better on {better} of {len(lines)} data sets")


if __name__ == "__main__":
    main()
