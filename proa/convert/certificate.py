"""Equivalence certificates: what was compared when a model was converted, and how far the results were apart.

A certificate is a JSON file beside the result. It is written for failures too: then it says which operators are missing and
where, or which result differs. `agrees` is true only if every result of every set of inputs was within the tolerance.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

FORMAT = 1


@dataclass
class ResultCheck:
    """One result of one set of inputs, beside that of the engine it came from."""

    name: str
    shape: list[int]
    dtype: str
    largest_error: float | None
    largest_relative_error: float | None
    agrees: bool
    reason: str = ""


@dataclass
class Certificate:
    """What was converted, what was compared, and the verdict.

    `convert` gives one.

    Examples:
        >>> certificate = paddle.convert.Certificate("model.onnx", "onnx", agrees=True)
        >>> certificate.agrees
        True
    """

    source: str
    kind: str
    output: str | None = None
    agrees: bool = False
    reason: str = ""
    reference: str = ""
    tolerance: dict[str, float] = field(default_factory=dict)
    inputs: list[list[dict[str, Any]]] = field(default_factory=list)
    checks: list[list[ResultCheck]] = field(default_factory=list)
    uncovered: list[dict[str, str]] = field(default_factory=list)
    first_difference: dict[str, Any] | None = None
    fixed_dimensions: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    checksums: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    format: int = FORMAT

    @property
    def largest_error(self) -> float:
        """The largest difference of all results; NaN where nothing was compared.

        Examples:
            >>> paddle.convert.Certificate("model.onnx", "onnx").largest_error
            nan
        """
        errors = [check.largest_error for checks in self.checks for check in checks if check.largest_error is not None]
        return max(errors, default=float("nan"))

    def describe_inputs(self, names: Sequence[str], arrays: Sequence[np.ndarray]) -> None:
        """Notes what a comparison was made with: names, shapes, data types and checksums.

        Examples:
            >>> certificate = paddle.convert.Certificate("model.onnx", "onnx")
            >>> certificate.describe_inputs(["x"], [np.zeros((2, 3), "float32")])
            >>> certificate.inputs[0][0]["shape"]
            [2, 3]
        """
        self.inputs.append([
            {"name": name, "shape": list(array.shape), "dtype": str(array.dtype), "sha256": _digest(array)}
            for name, array in zip(names, arrays, strict=True)
        ])  # fmt: skip

    def write(self, path: str) -> None:
        """Writes the certificate as JSON, whole or not at all.

        Examples:
            >>> import json
            >>> paddle.convert.Certificate("model.onnx", "onnx").write("certificate.json")
            >>> json.load(open("certificate.json"))["kind"]
            'onnx'
        """
        content = asdict(self)
        content["largest_error"] = None if np.isnan(self.largest_error) else self.largest_error
        write_whole(path, json.dumps(_finite(content), indent=2, allow_nan=False).encode() + b"\n")


def _finite(value: Any) -> Any:
    """JSON has no infinities: they become text."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value


def _digest(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).view(np.uint8).tobytes() if array.size else b"").hexdigest()


def file_digest(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def write_whole(path: str, content: bytes) -> None:
    """All of a file or nothing of it."""
    folder = os.path.dirname(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def check_result(name: str, ours: Any, theirs: Any, rtol: float, atol: float) -> ResultCheck:
    """One result beside the reference's. NaN agrees with NaN, an infinity with the same one."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    found = ResultCheck(name, list(ours.shape), str(ours.dtype), None, None, False)
    if ours.shape != theirs.shape:
        found.reason = f"shape {list(ours.shape)}, the reference has {list(theirs.shape)}"
        return found
    if ours.dtype != theirs.dtype:
        found.reason = f"type {ours.dtype}, the reference has {theirs.dtype}"
        return found
    if ours.dtype.kind not in "fcV":
        found.largest_error = (
            float(np.abs(ours.astype(np.float64) - theirs.astype(np.float64)).max()) if ours.size else 0.0
        )
        found.agrees = bool(np.array_equal(ours, theirs))
        found.reason = "" if found.agrees else f"{int((ours != theirs).sum())} of {ours.size} elements differ"
        return found
    kind = np.complex128 if ours.dtype.kind == "c" else np.float64
    mine, other = ours.astype(kind), theirs.astype(kind)
    same = (mine == other) | (np.isnan(mine) & np.isnan(other))
    with np.errstate(invalid="ignore"):
        error = np.where(same, 0.0, np.abs(mine - other))
        good = same | (np.isfinite(other) & (error <= atol + rtol * np.abs(other)))
        scale = np.abs(other).max(initial=0.0, where=np.isfinite(other)) or 1.0
    found.largest_error = float(error.max(initial=0.0))
    found.largest_relative_error = found.largest_error / float(scale)
    found.agrees = bool(good.all())
    found.reason = (
        "" if found.agrees else f"{int((~good).sum())} of {ours.size} elements differ by more than the tolerance"
    )
    return found


__all__ = ["Certificate", "ResultCheck", "check_result", "file_digest", "write_whole"]
