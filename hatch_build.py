"""Puts a page of documentation into a wheel, and compiled native kernels where `tools/wheel.py` says that there are some.

A plain `pip install .` needs no compiler: it makes a wheel without them that fits every machine.
"""

from __future__ import annotations

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelContents(BuildHookInterface):
    """PROA_WHEEL_LIBRARIES: a folder with a folder for each variant; PROA_WHEEL_PLATFORM: what they need."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        libraries = os.environ.get("PROA_WHEEL_LIBRARIES")
        if version != "editable":  # a clone has the page where it is, and nothing of `proa` beside its own folder
            build_data["force_include"][os.path.join(self.root, "docs", "differences.md")] = "proa/cli/differences.md"
        if libraries and version != "editable":
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{os.environ['PROA_WHEEL_PLATFORM']}"
            build_data["force_include"][libraries] = "proa/kernels/cpu/prebuilt"
