"""Kernels that came compiled: the files of the installed distribution ``gridmodl-kernels``.

They were built for one version each of Python, numba, llvmlite and numpy, and for a level of processors. Where any of
these is another one, none is used: kernels come from the user's cache or are compiled, as if nothing were installed.

A file is read only from the distribution's own folder, and only if it is what its RECORD says (sha256). Whoever can
write both can as well change the Python code beside them, so there is nothing more to check. After one file that
is not what it should be, the whole distribution is left alone.
"""

from __future__ import annotations

import base64
import csv
import functools
import hashlib
import json
import os
import sys
import warnings
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.registry import cpu_target

DISTRIBUTION = "gridmodl-kernels"
PACKAGE = "gridmodl_kernels"
MANIFEST = "built.json"  # for which versions and processors
SUFFIX = ".kernel"
VARIABLE = "GRIDMODL_SHIPPED"  # "ignore": as if the distribution were not installed

Processor = tuple[str, str, str]  # triple, name, features: "+avx2,-sse4a,..."


def this_processor() -> Processor:
    """The processor for which numba compiles in this process."""
    processor: Processor = cpu_target.target_context.codegen().magic_tuple()
    return processor


def versions() -> dict[str, str]:
    """Versions on which the machine code of every kernel depends."""
    return {
        "python": str(sys.implementation.cache_tag),
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "numpy": np.__version__,
    }


def manifest() -> str:
    """Text of the file that says what the kernels of this process are built for."""
    return json.dumps({**versions(), "processor": this_processor()}, indent=1) + "\n"


class ShippedKernels:
    """The kernels of the installed distribution, or why none is used."""

    def __init__(self) -> None:
        self.folder = Path()
        self.hashes: dict[str, str] = {}  # of the kernels that are there, by file name, as RECORD has them
        self.processor: Processor = ("", "", "")
        self.is_installed = False
        self.refusal: str | None = self._find()

    def read(self, name: str) -> bytes | None:
        """What a file holds, or None if there is no such kernel or none can be trusted."""
        if self.refusal is not None or name not in self.hashes:
            return None
        return self._checked(name, self.hashes[name])

    def _find(self) -> str | None:
        chosen = os.environ.get(VARIABLE, "use")
        if chosen not in ("use", "ignore"):
            raise ValueError(f"the environment variable {VARIABLE} must be 'use' or 'ignore', got {chosen!r}")
        if chosen == "ignore":
            return f"the environment variable {VARIABLE} is 'ignore'"
        try:
            found = distribution(DISTRIBUTION)
        except PackageNotFoundError:
            return f"{DISTRIBUTION} is not installed"
        self.is_installed, self.folder = True, Path(str(found.locate_file(PACKAGE)))
        try:
            files = os.listdir(self.folder)
        except OSError as error:
            return f"{self.folder} cannot be read ({error.strerror})"
        if MANIFEST not in files:
            return f"{DISTRIBUTION} was installed without kernels: there are none for this Python or kind of processor"
        recorded = _recorded(found)
        for name in sorted(file for file in files if file.endswith(SUFFIX)):
            self.hashes[name] = recorded.get(name, "")
            if not self.hashes[name]:
                return self._distrusted(name, "its hash is not in RECORD")
        built = self._checked(MANIFEST, recorded.get(MANIFEST, ""))
        return self.refusal if built is None else self._other_machine(json.loads(built))

    def _checked(self, name: str, expected: str) -> bytes | None:
        try:
            content = (self.folder / name).read_bytes()
        except OSError as error:
            self.refusal = self._distrusted(name, f"it cannot be read ({error.strerror})")
            return None
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        if expected != f"sha256={digest}":
            why = "its hash is not the one in RECORD" if expected else "its hash is not in RECORD"
            self.refusal = self._distrusted(name, why)
            return None
        return content

    def _distrusted(self, name: str, why: str) -> str:
        reason = f"{self.folder / name} is not what was installed ({why})"
        warnings.warn(
            f"no kernel of {DISTRIBUTION} is used: {reason}; install {DISTRIBUTION} again", RuntimeWarning, stacklevel=2
        )
        return reason

    def _other_machine(self, built: dict[str, Any]) -> str | None:
        """Why kernels that were built so cannot run here."""
        for what, here in versions().items():
            if built[what] != here:
                return f"built for {what} {built[what]}, and this is {here}"
        triple, name, features = built["processor"]
        self.processor = (triple, name, features)
        here, _, mine = this_processor()
        if triple != here:
            return f"built for {triple}, and this is {here}"
        lacking = sorted({feature for feature in features.split(",") if feature.startswith("+")} - {*mine.split(",")})
        if lacking:
            return f"built for processors of {name}; numba compiles here for one without {', '.join(lacking)}"
        return None


def _recorded(found: Distribution) -> dict[str, str]:
    """Hashes of the files that lie in the package's own folder, by name."""
    hashes = {}
    for path, digest, *_ in csv.reader((found.read_text("RECORD") or "").splitlines()):
        parts = PurePosixPath(path).parts
        if len(parts) == 2 and parts[0] == PACKAGE:
            hashes[parts[1]] = digest
    return hashes


@functools.cache
def shipped_kernels() -> ShippedKernels:
    return ShippedKernels()
