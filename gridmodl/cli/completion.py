"""``gridmodl completion``: scripts that let a shell complete commands and options."""

from __future__ import annotations

import click

from gridmodl.cli import options


@click.command(epilog=options.examples("gridmodl completion bash > completion.sh"))
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@options.every
def completion(shell: str) -> None:
    """Print the script that completes gridmodl in a SHELL.

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
