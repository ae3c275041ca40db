"""``gridmodl demo``: the main commands, one after the other, on data that it makes."""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path

import click

from gridmodl.cli import options

STEPS = (
    ("Customers, their age (some unknown), favourite colour and a number without meaning: who buys?", "head"),
    ("Every column on its own, the most informative first.",
     "gridmodl fit customers.csv --target buys --each -o models.json"),
    ("The parts of one of them.", "gridmodl show models.json --column age"),
    ("One grid over the columns that matter together.", "gridmodl fit customers.csv --target buys -o grid.json"),
    ("What the grid says of new customers.", "gridmodl apply grid.json new.csv --as proba --keep"),
)  # fmt: skip


@click.command(
    short_help="Show the main commands at work.",
    epilog=options.examples("gridmodl demo", "gridmodl demo --folder demo"),
)
@click.option("--folder", metavar="FOLDER", help="Keep the files here. [default: they are deleted at the end]")
@options.every
def demo(folder: str | None) -> None:
    """Make a small table, find what explains who buys, and apply it to new rows."""
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        _run(Path(folder))
        return
    with tempfile.TemporaryDirectory(prefix="gridmodl-demo-") as made:
        _run(Path(made))


def _run(folder: Path) -> None:
    customers = _customers(2000, seed=0)
    (folder / "customers.csv").write_text(customers, encoding="utf-8")
    new = "\n".join(line.rsplit(",", 1)[0] for line in _customers(5, seed=1).splitlines())
    (folder / "new.csv").write_text(new + "\n", encoding="utf-8")
    for number, (text, command) in enumerate(STEPS, start=1):
        click.echo(f"\n{number}. {text}\n")
        if command == "head":
            click.echo("   $ head -4 customers.csv\n\n" + "\n".join(customers.splitlines()[:4]))
            continue
        click.echo(f"   $ {command}\n")
        _call(command, folder)


def _call(command: str, folder: Path) -> None:
    """Run a command as a shell in that folder would; the first one of a kind is compiled, which takes a while."""
    words = [str(folder / word) if word.endswith((".csv", ".json")) else word for word in shlex.split(command)[1:]]
    root = click.get_current_context().find_root()
    made = root.command.make_context("gridmodl", words, parent=root.parent)
    with made:
        root.command.invoke(made)


def _customers(n_rows: int, seed: int) -> str:
    """A CSV of customers: the old buy more, and so do those who like red or black."""
    import numpy as np

    rng = np.random.default_rng(seed)
    age, colour = rng.integers(18, 90, n_rows), rng.choice(["red", "blue", "green", "black"], n_rows)
    noise = rng.normal(size=n_rows).round(3)
    chance = np.where(age < 40, 0.2, 0.5) + np.where(np.isin(colour, ["red", "black"]), 0.3, 0.0)
    buys = np.where(rng.random(n_rows) < chance, "yes", "no")
    ages = np.where(rng.random(n_rows) < 0.1, "", age.astype(str))
    rows = zip(ages, colour, noise, buys, strict=True)
    return "\n".join(["age,colour,noise,buys", *(",".join(map(str, row)) for row in rows)]) + "\n"
