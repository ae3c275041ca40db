"""Data sets of the papers that are here, and how they differ from those of the papers: MANIFEST.csv, by paper.

.venv/bin/pip install --group docs --group test
.venv/bin/python -m reproduce.papers.data_sets --data ../shared/data
"""

from __future__ import annotations

import re

import pandas as pd

from reproduce.run import STAND_INS, Run, load, publish, read_run, table_of

PAPERS = {
    "000": "A. Bondu, M. Boullé, V. Lemaire, semi-supervised discretization, 2010: [few labels](few_labels.md)",
    "001": "R. Jin, Y. Breitbart, C. Muoh, discretization unification, 2007: [unification](unification.md)",
    "002": "M. Boullé, data grid models, 2011: [grids](grid_tables.md), [experiments](grid_experiments.md), "
    "[coclustering](coclustering_tables.md)",
    "003": "M. Biba et al., discretization by density, 2007: [density](density_table.md)",
    "004": "M. Boullé, many classes, 2010: [many classes](many_classes.md)",
}
AUTHORS = {"000": "Bondu et al.", "001": "Jin et al.", "002": "Boullé 2011", "003": "Biba et al.", "004": "Boullé 2010"}
SIZES = "rows", "numeric_columns", "categorical_columns", "classes", "missing_cells", "paper_size"
# What there is nothing of, by paper.
MISSING = {
    "000": "",
    "001": "",
    "002": "Gina, agnostic (970 columns); the test rows of Sylva and Hiva; the challenge's splits of Gina and Nova.",
    "003": "",
    "004": "The paper's own draws of `led` and `led17`, and its half of `phoneme`.",
}


def state(line: pd.Series) -> str:
    """Complete, or in what sense it is not the paper's."""
    if line["source"].startswith("GENERATED"):
        return "generated anew"
    if "PROXY" in line["papers"]:
        return "proxied"
    if line["deviation"].startswith("RECONSTRUCTED"):
        return "reconstructed"
    if line["name"] in ("phoneme", "nova_bow", "newsgroups20"):
        return "other rows"
    if re.search(r"not available|train only", line["deviation"]):
        return "in part"
    return "complete"


def read_manifest(run: Run) -> pd.DataFrame:
    if run.data is not None:
        found = pd.read_csv(run.data / "MANIFEST.csv", dtype=str, keep_default_na=False)
        return found[~found["papers"].str.contains("superset")]
    lines = []
    for name in STAND_INS:
        X, _ = load(name, run)
        lines.append({"name": name, "rows": str(len(X)), "numeric_columns": str(X.shape[1]), "papers": "000;001"})
    return pd.DataFrame(lines).reindex(columns=["name", "papers", "source", "deviation", *SIZES], fill_value="")


def readable(text: str) -> str:
    """A note without its sources, papers by their authors."""
    text = re.sub(r"\s*\([^()]*github:[^()]*\)", "", text)
    text = re.sub(r"\bpaper (?=00[0-4]\b)", "the paper of ", text)
    return re.sub(r"\b00[0-4]\b", lambda found: AUTHORS[found[0]], text)


def section(paper: str, manifest: pd.DataFrame) -> str:
    lines, named = [], dict[str, list[str]]()
    for _, one in manifest[manifest["papers"].str.contains(paper)].iterrows():
        lines.append([one["name"], state(one), *(readable(one[name]) or "-" for name in SIZES)])
        named.setdefault(readable(one["deviation"]), []).append(f"`{one['name']}`")
    head = ["data", "state", "rows", "numerical", "categorical", "classes", "missing cells", "in the paper"]
    table = table_of(head, lines, texts=["state", "in the paper"])
    notes = "".join(f"* {', '.join(names)}: {note}\n" for note, names in named.items() if note)
    missing = f"Missing: {MISSING[paper]}\n" if MISSING[paper] else ""
    return "\n".join(block for block in (f"## {PAPERS[paper]}\n", table, notes, missing) if block)


def main() -> None:
    run = read_run(__doc__)
    manifest = read_manifest(run)
    states = manifest.apply(state, axis=1).value_counts()
    counted = ", ".join(f"{n} {name}" for name, n in states.items())
    text = [
        f"{len(manifest)} files: {counted}. The data are not part of this project. Scripts take their folder as "
        "`--data`; it has a MANIFEST.csv with sources and licences, and a schema.json with the kind of each column.\n"
    ]
    text += [section(paper, manifest) for paper in PAPERS]
    publish("The data sets of the papers", "\n".join(text), run)


if __name__ == "__main__":
    main()
