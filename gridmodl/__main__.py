"""``python -m gridmodl``: the command line."""

from __future__ import annotations

from gridmodl.cli import main

if __name__ == "__main__":
    main()
