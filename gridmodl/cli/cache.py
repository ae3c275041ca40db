"""``gridmodl cache``: kernels that were compiled and are kept on disk."""

from __future__ import annotations

import json

import click

from gridmodl.cli import options


@click.group()
def cache() -> None:
    """Compiled searches, which are kept on disk for the next run."""


@cache.command(epilog=options.examples("gridmodl cache clear"))
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@options.every
def clear(as_json: bool) -> None:
    """Delete all that was compiled, by this version or by others; searches that need it compile it anew."""
    from gridmodl.cache import clear_cache
    from gridmodl.labels import counted

    n_files = clear_cache()
    if as_json:
        click.echo(json.dumps({"deleted": n_files}))
    else:
        click.echo(f"{counted(n_files, 'file')} deleted", err=True)


@cache.command(epilog=options.examples("gridmodl cache info", "gridmodl cache info --json"))
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@options.every
def info(as_json: bool) -> None:
    """Show where compiled searches are kept, how many there are, and whether those of gridmodl-kernels are used."""
    from gridmodl.cache import cache_facts
    from gridmodl.cli.console import visible
    from gridmodl.labels import counted

    facts = cache_facts()
    shipped = facts["shipped"]
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    kept = (
        f"{counted(facts['kernels'], 'kernel')}, {_megabytes(facts['bytes'])} of at most {_megabytes(facts['limit'])}"
    )
    click.echo(f"folder   {visible(facts['folder'])}")
    click.echo(f"kept     {kept if facts['refused'] is None else 'nothing: ' + visible(facts['refused'])}")
    used = f"{counted(shipped['kernels'], 'kernel')} in {shipped['folder']}"
    click.echo(f"shipped  {visible(used if shipped['used'] else 'not used: ' + shipped['refused'])}")


def _megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 2**20:.1f} MB"


@cache.command(
    epilog=options.examples("gridmodl cache warm --problem density", "gridmodl cache warm --problem baselines -j 2")
)
@click.option("--criterion", "criteria", multiple=True, default=("modl",), show_default="modl", help="Name of one; may "
              "be given again.")  # fmt: skip
@click.option("--problem", "problems", multiple=True, help="Only this: classes, grid, joint, grouped, numerical, semi, "
              "density or baselines; may be given again.  [default: all]")  # fmt: skip
@click.option("-j", "--jobs", type=int, default=1, show_default=True, help="Processes, -1 for one per core.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@options.quiet
@options.every
def warm(criteria: tuple[str, ...], problems: tuple[str, ...], jobs: int, as_json: bool, quiet: bool) -> None:
    """Compile ahead, so that the first search of each kind starts at once.

    All problems of one criterion take some minutes. Ctrl-C stops; what was compiled until then is kept.
    """
    from gridmodl.cli.failures import near
    from gridmodl.labels import counted
    from gridmodl.plugins import list_criteria
    from gridmodl.warming import KNOWN_PROBLEMS, warm_up

    for what, names, known in (("criterion", criteria, list_criteria()), ("problem", problems, list(KNOWN_PROBLEMS))):
        for name in names:
            if name not in known:
                raise click.UsageError(f"gridmodl has no {what} {name!r}; {near(name, known)}")
    talk = options.talk(quiet)
    n_kernels = warm_up(criteria, problems or None, n_jobs=jobs, progress=not quiet)
    if as_json:
        click.echo(json.dumps({"compiled": n_kernels}))
    else:
        talk.say(f"{counted(n_kernels, 'kernel')} compiled")
