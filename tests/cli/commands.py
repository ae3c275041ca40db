"""Data to try the command line with, and ways to call it in this process."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from click.testing import CliRunner

from gridmodl.cli.group import gridmodl


def table(n_rows, seed):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n_rows).astype(float)
    city = rng.choice(["Ulm", "Köln", "Bonn", 'a "b", c'], n_rows)
    chance = np.where(age < 45, 0.1, 0.8)
    bought = rng.random(n_rows) < chance
    age[::10] = np.nan
    age[5::10] = -999
    product = np.where(rng.random(n_rows) < 0.9, np.where(np.isin(city, ["Ulm", "Bonn"]), "tea", "coffee"), "milk")
    return pa.table(
        {
            "id": np.arange(n_rows),
            "age": pa.array(age, from_pandas=True),
            "income": rng.integers(1000, 5000, n_rows),
            "city": city,
            "product": product,
            "class": np.where(bought, "yes", "no"),
        }
    )


def as_csv(rows, delimiter=","):
    lines = [delimiter.join(rows.column_names)]
    for row in rows.to_pylist():
        texts = ["" if value is None else str(value) for value in row.values()]
        quoted = ['"' + text.replace('"', '""') + '"' if set(text) & {'"', delimiter} else text for text in texts]
        lines.append(delimiter.join(quoted))
    return "\n".join(lines) + "\n"


def call(*words, stdin=None):
    """Run a command in this process."""
    return CliRunner().invoke(gridmodl, list(map(str, words)), input=stdin, prog_name="gridmodl")


def good(*words, stdin=None):
    """Run a command that must succeed, and give what it printed."""
    result = call(*words, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result.stdout


def bad(*words, stdin=None, code=1):
    """Run a command that must fail, with no traceback, and give its message."""
    result = call(*words, stdin=stdin)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    assert result.stdout == ""
    return result.stderr
