"""Commands about gridmodl itself: ``gridmodl criteria``, ``cache``, ``completion`` and ``demo``."""

from __future__ import annotations

import inspect
import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gridmodl.cli import options
from gridmodl.cli.messages import suggest, visible
from gridmodl.cli.outputs import folder_of_command, write_text

if TYPE_CHECKING:
    from gridmodl.terms import Criterion


@click.command(
    short_help="List the criteria.",
    epilog=options.examples(
        "gridmodl criteria", "gridmodl criteria modl", "gridmodl criteria --problem joint", "gridmodl criteria --json"
    ),
)
@click.argument("name", required=False)
@click.option("--problem", help="Only criteria for this problem: classes, grid, joint, grouped, numerical or semi.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@options.every
def criteria(name: str | None, problem: str | None, as_json: bool) -> None:
    """List the installed criteria, the problems they price and their formulas; with NAME, describe one."""
    from gridmodl.cli.modelfiles import print_columns
    from gridmodl.plugins import list_criteria
    from gridmodl.terms import PROBLEMS

    if problem is not None and problem not in PROBLEMS:
        known = "; ".join(f"{kind}: {meaning}" for kind, meaning in PROBLEMS.items())
        raise click.UsageError(f"there is no problem {problem!r}; {known}")
    names = list_criteria(problem)
    if name is not None and name not in names:
        raise click.UsageError(f"gridmodl has no criterion {name!r}; {suggest(name, names)}")
    found = [record for known in names if name in (None, known) for record in _records(known, problem)]
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))
    elif name is not None:
        click.echo(visible("\n\n".join(f"{name}: {record['problems']}\n\n{record['about']}" for record in found)))
    else:
        shown = ("criterion", "problems", "options", "formula")
        rows = [{**record, "options": _shown(record["options"])} for record in found]
        print_columns({key: [row[key] for row in rows] for key in shown}, options.messages(), as_csv=False)


def _records(name: str, problem: str | None) -> list[dict[str, Any]]:
    """List one record per formula called `name`, with the problems that the formula prices."""
    from gridmodl.plugins import criterion_for, list_criteria
    from gridmodl.terms import PROBLEMS

    priced: dict[type[Criterion], list[str]] = {}
    for kind in PROBLEMS:
        if problem in (None, kind) and name in list_criteria(kind):
            priced.setdefault(type(criterion_for(name, kind)), []).append(kind)
    return [
        {
            "criterion": name,
            "problems": ", ".join(kinds),
            "options": dict(formula.options),
            "formula": _formula(name, _about(formula)),
            "about": _about(formula),
        }
        for formula, kinds in priced.items()
    ]


def _about(formula: type[Criterion]) -> str:
    """Join the docstrings of the criterion and of its module, which holds the formulas of a family."""
    own = vars(formula).get("__doc__")
    of_module = inspect.cleandoc(sys.modules[formula.__module__].__doc__ or "")
    return "\n\n".join(filter(None, (inspect.cleandoc(own) if own else "", of_module))) or "(no description)"


def _formula(name: str, about: str) -> str:
    """Find the line of `about` that gives the formula of `name`; the first line if none does."""
    for line in about.splitlines():
        head, _, formula = line.strip().partition("  ")
        if line.startswith(" ") and name in head.split(", ") and formula:
            return formula.strip()
    return about.partition("\n")[0]


def _shown(chosen: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in chosen.items())


@click.group()
def cache() -> None:
    """Manage compiled searches, which are kept on disk for the next run."""


@cache.command(epilog=options.examples("gridmodl cache clear"))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@options.every
def clear(as_json: bool) -> None:
    """Delete all compiled searches, of this version and of others; the next search of a kind compiles it again."""
    from gridmodl.jit.cache import clear_cache
    from gridmodl.model.labels import counted

    n_files = clear_cache()
    if as_json:
        click.echo(json.dumps({"deleted": n_files}))
    else:
        click.echo(f"{counted(n_files, 'file')} deleted", err=True)


@cache.command(epilog=options.examples("gridmodl cache info", "gridmodl cache info --json"))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@options.every
def info(as_json: bool) -> None:
    """Show where compiled searches are kept, how many there are, and whether the library of kernels is used."""
    from gridmodl.jit.cache import cache_facts
    from gridmodl.model.labels import counted

    facts = cache_facts()
    library = facts["library"]
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    kept = (
        f"{counted(facts['kernels'], 'kernel')}, {_megabytes(facts['bytes'])} of at most {_megabytes(facts['limit'])}"
    )
    click.echo(f"folder   {visible(facts['folder'])}")
    click.echo(f"kept     {kept if facts['refused'] is None else 'nothing: ' + visible(facts['refused'])}")
    used = f"{counted(library['kernels'], 'kernel')} in {library['file']}"
    click.echo(f"library  {visible(used if library['refused'] is None else 'not used: ' + library['refused'])}")


def _megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 2**20:.1f} MB"


@click.command(epilog=options.examples("gridmodl completion bash > completion.sh"))
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@options.every
def completion(shell: str) -> None:
    """Print the script that completes commands of gridmodl in a SHELL.

    \b
    bash   put this into ~/.bashrc:   source <(gridmodl completion bash)
    zsh    put this into ~/.zshrc:    source <(gridmodl completion zsh)
    fish   gridmodl completion fish > ~/.config/fish/completions/gridmodl.fish
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None  # noqa: S101  for mypy: the choices are those that click has
    root = click.get_current_context().find_root().command
    click.echo(found(root, {}, "gridmodl", "_GRIDMODL_COMPLETE").source())


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
    """Make a small table, fit models of who buys, and apply one to new rows."""
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        _run(Path(folder))
        return
    _run(folder_of_command())


def _run(folder: Path) -> None:
    customers = _customers(2000, seed=0)
    write_text(str(folder / "customers.csv"), customers)
    new = "\n".join(line.rsplit(",", 1)[0] for line in _customers(5, seed=1).splitlines())
    write_text(str(folder / "new.csv"), new + "\n")
    for number, (text, command) in enumerate(STEPS, start=1):
        click.echo(f"\n{number}. {text}\n")
        if command == "head":
            click.echo("   $ head -4 customers.csv\n\n" + "\n".join(customers.splitlines()[:4]))
            continue
        click.echo(f"   $ {command}\n")
        _call(command, folder)


def _call(command: str, folder: Path) -> None:
    """Run a command as a shell in `folder` would."""
    words = [str(folder / word) if word.endswith((".csv", ".json")) else word for word in shlex.split(command)[1:]]
    root = click.get_current_context().find_root()
    made = root.command.make_context("gridmodl", words, parent=root.parent)
    with made:
        root.command.invoke(made)


def _customers(n_rows: int, seed: int) -> str:
    """Make a CSV of customers: older ones buy more, and so do those who like red or black."""
    import numpy as np

    rng = np.random.default_rng(seed)
    age, colour = rng.integers(18, 90, n_rows), rng.choice(["red", "blue", "green", "black"], n_rows)
    noise = rng.normal(size=n_rows).round(3)
    chance = np.where(age < 40, 0.2, 0.5) + np.where(np.isin(colour, ["red", "black"]), 0.3, 0.0)
    buys = np.where(rng.random(n_rows) < chance, "yes", "no")
    ages = np.where(rng.random(n_rows) < 0.1, "", age.astype(str))
    rows = zip(ages, colour, noise, buys, strict=True)
    return "\n".join(["age,colour,noise,buys", *(",".join(map(str, row)) for row in rows)]) + "\n"
