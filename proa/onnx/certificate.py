"""The certificate of a file: what it is, how it was tried, and how far both results lay apart; as JSON beside it."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from .protos import installed_version, needed_onnx
from .verifying import SETTINGS, Check

ENDING = ".certificate.json"
_SHOWN = 8  # numbers of a result


def certificate(proto: Any, path: str, name: str, checks: Sequence[Check], data: Sequence[str] = ()) -> dict[str, Any]:
    """What is known of the file at `path`, which will be called `name`; `data` are the files with its weights."""
    errors = [result.error for check in checks for result in check.results if not check.random]
    return {
        "file": name,
        "sha256": _hash(path),
        "bytes": os.path.getsize(path),
        "external_data": [
            {"file": os.path.basename(part), "sha256": _hash(part), "bytes": os.path.getsize(part)} for part in data
        ],
        "verified": bool(checks),
        "largest_error": max(errors, default=None),
        "opset": proto.opset_import[0].version,
        "ir_version": proto.ir_version,
        "inputs": [_port(value) for value in proto.graph.input],
        "outputs": [_port(value) for value in proto.graph.output],
        "operators": dict(sorted(Counter(_operators(proto.graph)).items())),
        "runtime_settings": SETTINGS,
        "checks": [_check(check) for check in checks],
        "versions": {package: installed_version(package) for package in ("proa", "onnx", "onnxruntime", "numpy")},
    }


def text_of(document: dict[str, Any]) -> bytes:
    return (json.dumps(document, indent=1, allow_nan=True) + "\n").encode()


def _check(check: Check) -> dict[str, Any]:
    return {
        "inputs": {name: _summary(array) for name, array in check.inputs.items()},
        "random": check.random,
        "results": [
            {
                "name": result.name, "error": result.error, "allowed": result.allowed, "proa": _summary(result.ours),
                "onnxruntime": _summary(result.theirs),
            }
            for result in check.results
        ],
    }  # fmt: skip


def _summary(array: np.ndarray) -> dict[str, Any]:
    """Enough of an array to recognise it."""
    numbers = array.reshape(-1)[:_SHOWN]
    shown = numbers.astype(np.float64).tolist() if array.dtype.kind not in "biu" else numbers.tolist()
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    return {"shape": list(array.shape), "dtype": array.dtype.name, "first": shown, "sha256": digest}


def _port(value: Any) -> dict[str, Any]:
    kind = value.type.tensor_type
    shape = [size.dim_param or size.dim_value for size in kind.shape.dim]
    return {"name": value.name, "type": needed_onnx().TensorProto.DataType.Name(kind.elem_type).lower(), "shape": shape}


def _operators(graph: Any) -> list[str]:
    found: list[str] = []
    for node in graph.node:
        found.append(node.op_type)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                found += _operators(attribute.g)
    return found


def _hash(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
