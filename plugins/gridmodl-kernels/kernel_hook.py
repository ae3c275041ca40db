"""Put compiled kernels into the wheel, and say in its name which Python and platform they are for."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = "GRIDMODL_KERNELS"  # environment variable: the folder of the kernels


class KernelHook(BuildHookInterface):  # type: ignore[type-arg]
    """Without the variable the wheel has no kernels and fits everywhere: what pip takes where no other one fits."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or FOLDER not in os.environ:
            return
        files = sorted(Path(os.environ[FOLDER]).iterdir())
        if not files:
            raise FileNotFoundError(f"the folder {os.environ[FOLDER]} that {FOLDER} names is empty")
        build_data["pure_python"] = False
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"cp{sys.version_info.major}{sys.version_info.minor}-none-{platform}"
        build_data["force_include"].update({str(file): f"gridmodl_kernels/{file.name}" for file in files})
