"""Load precompiled kernels from the installed distribution ``gridmodl-kernels``.

The kernels were built for one version each of Python, numba, llvmlite and numpy, and for one processor level. If any
of these differs, none is used: kernels come from the user's cache or are compiled, as if nothing were installed.

A file is read only from the folder of the distribution, and only if its sha256 is the one in RECORD. Whoever can write
both files can also change the installed Python code, so no further check would help. After one bad file the whole
distribution is ignored.
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
MANIFEST = "built.json"  # versions and processor that the kernels were built for
SUFFIX = ".kernel"
VARIABLE = "GRIDMODL_SHIPPED"  # "ignore" acts as if the distribution were not installed

Processor = tuple[str, str, str]  # triple, name, features: "+avx2,-sse4a,..."


def this_processor() -> Processor:
    """Processor that numba compiles for in this process."""
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
    """Text of the MANIFEST file for kernels that are built by this process."""
    return json.dumps({**versions(), "processor": this_processor()}, indent=1) + "\n"


class ShippedKernels:
    """Kernels of the installed distribution; `refusal` says why none is used, or is None."""

    def __init__(self) -> None:
        self.folder = Path()
        self.hashes: dict[str, str] = {}  # hash of each kernel in RECORD, by file name
        self.processor: Processor = ("", "", "")
        self.is_installed = False
        self.refusal: str | None = self._find()

    def read(self, name: str) -> bytes | None:
        """Content of the file `name`, or None if there is no such kernel or the distribution is not used."""
        if self.refusal is not None or name not in self.hashes:
            return None
        return self._read_checked(name, self.hashes[name])

    def _find(self) -> str | None:
        """Find the kernels; return why they cannot be used, or None."""
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
        recorded = _recorded_hashes(found)
        for name in sorted(file for file in files if file.endswith(SUFFIX)):
            self.hashes[name] = recorded.get(name, "")
            if not self.hashes[name]:
                return self._warn_distrusted(name, "its hash is not in RECORD")
        built = self._read_checked(MANIFEST, recorded.get(MANIFEST, ""))
        return self.refusal if built is None else self._mismatch(json.loads(built))

    def _read_checked(self, name: str, expected: str) -> bytes | None:
        """Content of the file `name` if its hash is `expected`; else None, and `refusal` says why."""
        try:
            content = (self.folder / name).read_bytes()
        except OSError as error:
            self.refusal = self._warn_distrusted(name, f"it cannot be read ({error.strerror})")
            return None
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        if expected != f"sha256={digest}":
            why = "its hash is not the one in RECORD" if expected else "its hash is not in RECORD"
            self.refusal = self._warn_distrusted(name, why)
            return None
        return content

    def _warn_distrusted(self, name: str, why: str) -> str:
        """Warn that the file `name` is not what was installed, and return this reason."""
        reason = f"{self.folder / name} is not what was installed ({why})"
        warnings.warn(
            f"no kernel of {DISTRIBUTION} is used: {reason}; install {DISTRIBUTION} again", RuntimeWarning, stacklevel=2
        )
        return reason

    def _mismatch(self, built: dict[str, Any]) -> str | None:
        """Why kernels with the manifest `built` cannot run here, or None."""
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


def _recorded_hashes(found: Distribution) -> dict[str, str]:
    """Hashes in RECORD of the files in the package folder, by file name."""
    hashes = {}
    for path, digest, *_ in csv.reader((found.read_text("RECORD") or "").splitlines()):
        parts = PurePosixPath(path).parts
        if len(parts) == 2 and parts[0] == PACKAGE:
            hashes[parts[1]] = digest
    return hashes


@functools.cache
def shipped_kernels() -> ShippedKernels:
    """The one `ShippedKernels` of this process."""
    return ShippedKernels()
