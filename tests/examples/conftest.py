"""Examples are imported from their folder, as Python does when one is run."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], ModuleType]:
    """Imports an example by name; what it writes goes to the test's own folder."""

    def load(name: str) -> ModuleType:
        monkeypatch.syspath_prepend(str(FOLDER))
        for loaded in ("common", name):
            monkeypatch.delitem(sys.modules, loaded, raising=False)
        common = importlib.import_module("common")
        monkeypatch.setattr(common, "OUTPUT", tmp_path)
        module = importlib.import_module(name)
        for loaded in ("common", name):  # nothing called `common` shall stay behind
            monkeypatch.delitem(sys.modules, loaded)
        return module

    return load
