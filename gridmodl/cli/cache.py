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
    """Delete all that was compiled, by this version or by others; the next search of a kind compiles it anew."""
    from gridmodl.cache import clear_cache
    from gridmodl.labels import counted

    n_files = clear_cache()
    if as_json:
        click.echo(json.dumps({"deleted": n_files}))
    else:
        click.echo(f"{counted(n_files, 'file')} deleted", err=True)
