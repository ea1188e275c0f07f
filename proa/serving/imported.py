"""ONNX files that are served: each is converted when it is loaded, and compared with ONNX Runtime before it answers."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..convert import convert

ONNX = ".onnx"


@contextmanager
def as_own(path: str) -> Iterator[tuple[str, Sequence[str]]]:
    """What a Config takes for a served model, while it is loaded, and the names of its results if the file has others."""
    if not path.endswith(ONNX):
        yield path, ()
        return
    with tempfile.TemporaryDirectory() as folder:
        own = os.path.join(folder, "model.proa")
        certificate = convert(path, own)
        yield own, [check.name for check in certificate.checks[0]]


__all__ = ["ONNX", "as_own"]
