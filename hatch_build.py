"""Build gridmodl by hatchling; wheels for Linux on x86-64 carry the library of kernels (`gridmodl.building`).

pip finds two things here. As the build backend, this module is `hatchling.build` with one function changed: what
compiles the library is installed for a wheel that gets one, and for no editable install or source distribution. As
hatchling's build hook, it builds the library and puts it into the wheel. Where none can be built the wheel is pure, and
a sentence says why.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import hatchling.build
from hatchling.build import *  # noqa: F403  all other functions of a backend
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
FILES = ("kernels.so", "kernels.json")
IN_WHEEL = "gridmodl/jit"
LINKER = "cc"


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:  # type: ignore[no-redef]
    """What must be installed to build a wheel, here: with the library, all that gridmodl needs, and scikit-learn."""
    needed = hatchling.build.get_requires_for_build_wheel(config_settings)
    return needed if reason_of_platform() is not None else [*needed, *compiled_with()]


def compiled_with() -> list[str]:
    """Requirements of the library's build: estimators reach kernels too, so scikit-learn is one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["sklearn"]]


def reason_of_platform() -> str | None:
    """Why no library can be built on this machine, or None."""
    machine = platform.machine().lower()
    if sys.platform != "linux" or machine not in ("x86_64", "amd64"):
        return f"it is built on Linux for x86-64 only, and this is {sys.platform} on {machine}"
    if not can_link():
        return f"the command {LINKER} links no shared library here; install a compiler of C, such as gcc"
    return None


def can_link() -> bool:
    """Whether the linker is there and links a shared library with the C library's mathematics."""
    if shutil.which(LINKER) is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        command = [LINKER, "-shared", "-o", "empty.so", "-lm"]
        return subprocess.run(command, cwd=folder, check=False, capture_output=True).returncode == 0  # noqa: S603


def reason_against() -> str | None:
    """Why this process builds no library, or None; asked when what the library needs is installed, if it will be."""
    reason = reason_of_platform()
    if reason is not None:
        return reason
    names = [re.split("[^a-z0-9-]", requirement)[0] for requirement in compiled_with()]
    absent = [name for name in names if not any(distributions(name=name))]
    if absent:
        return f"{', '.join(absent)} must be installed to compile it, which pip does unless told --no-build-isolation"
    from gridmodl.jit.library import FEATURES, lacking_features

    lacking = lacking_features(platform.machine().lower(), list(FEATURES))
    return f"this processor lacks {', '.join(lacking)}, which it is compiled for" if lacking else None


def build_library(out: Path) -> None:
    """Build the library and its facts into the folder `out`, in processes of their own."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, "-m", "gridmodl.building", "--out", str(out)]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)})  # noqa: S603


class LibraryHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the library into a wheel, and the platform into its name; no version of Python, numba or numpy is in it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the library, unless the wheel is editable, which only names a folder."""
        if version == "editable":
            return
        sys.path.insert(0, str(ROOT))
        try:
            reason = reason_against()
        finally:
            sys.path.remove(str(ROOT))
        if reason is not None:
            self.app.display_warning(f"gridmodl is built without the library of kernels, so numba compiles: {reason}")
            return
        self.folder = tempfile.TemporaryDirectory(prefix="gridmodl-library-")
        build_library(Path(self.folder.name))
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-linux_{platform.machine().lower()}"
        build_data["force_include"].update({f"{self.folder.name}/{name}": f"{IN_WHEEL}/{name}" for name in FILES})

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Delete the library, which is in the wheel."""
        if hasattr(self, "folder"):
            self.folder.cleanup()
