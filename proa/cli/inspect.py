"""`proa inspect`: what the file or folder of a language model holds."""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from typing import Any

from .harmless import on_one_line
from .problems import complain

_LONGEST = 100  # characters of a value that is shown


def run(arguments: argparse.Namespace) -> int:
    try:
        found = describe(arguments.path, arguments.tensors)
    except (ImportError, OSError, ValueError) as error:
        return complain("inspect", error)
    print(json.dumps(found, indent=2, ensure_ascii=False) if arguments.json else _as_text(found))
    return 0


def describe(path: str, part_of_name: str | None = None) -> dict[str, Any]:
    """Metadata and tensors, in values that JSON has."""
    is_gguf = path.lower().endswith(".gguf")
    metadata, tensors = _gguf(path) if is_gguf else _safetensors(path)
    kinds: Counter[str] = Counter()
    for tensor in tensors:
        kinds[tensor["kind"]] += tensor["bytes"]
    return {
        "path": path,
        "metadata": metadata,
        "total": {
            "tensors": len(tensors),
            "bytes": sum(kinds.values()),
            "bytes of each kind": dict(kinds.most_common()),
        },
        "tensors": [tensor for tensor in tensors if part_of_name is None or part_of_name in tensor["name"]],
    }


def _gguf(path: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    from ..llm.files import GGUF

    file = GGUF(path)
    tensors = [_tensor(name, str(t.kind), t.shape, t.num_bytes) for name, t in file.tensors.items()]
    return {key: _short(value) for key, value in file.metadata.items()}, tensors


def _safetensors(path: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    from ..llm.files import read_safetensors

    found = read_safetensors(path)
    tensors = [_tensor(name, array.dtype.name, array.shape, array.nbytes) for name, array in found.items()]
    config = os.path.join(path, "config.json")
    metadata: dict[str, Any] = {}
    if os.path.isfile(config):
        with open(config, encoding="utf-8") as file:
            read = json.load(file)
        metadata = {key: _short(value) for key, value in read.items()} if isinstance(read, dict) else {}
    return metadata, tensors


def _tensor(name: str, kind: str, shape: tuple[int, ...], num_bytes: int) -> dict[str, Any]:
    return {"name": name, "kind": kind, "shape": list(shape), "bytes": num_bytes}


def _short(value: Any) -> Any:
    """A value as it is, or what it begins with."""
    if hasattr(value, "tolist"):
        value = value[: _LONGEST + 1].tolist()
    if isinstance(value, (list, dict)) and len(str(value)) > _LONGEST:
        return f"{len(value)} values" if isinstance(value, dict) else f"{str(value)[:_LONGEST]} …"
    return f"{value[:_LONGEST]} …" if isinstance(value, str) and len(value) > _LONGEST else value


def _as_text(found: dict[str, Any]) -> str:
    total = found["total"]
    kinds = ", ".join(f"{kind} {_size(num_bytes)}" for kind, num_bytes in total["bytes of each kind"].items())
    lines = [f"{found['path']}: {total['tensors']} tensors, {_size(total['bytes'])} ({kinds})"]
    lines += [f"  {on_one_line(key)} = {on_one_line(value)}" for key, value in found["metadata"].items()]
    width = max((len(tensor["name"]) for tensor in found["tensors"]), default=0)
    for tensor in found["tensors"]:
        shape = " × ".join(map(str, tensor["shape"])) or "one number"
        lines.append(
            f"  {on_one_line(tensor['name']):{width}}  {tensor['kind']:8}  {shape}  ({_size(tensor['bytes'])})"
        )
    return "\n".join(lines)


def _size(num_bytes: float) -> str:
    units = ["B", "kB", "MB", "GB", "TB"]
    while num_bytes >= 1000 and len(units) > 1:
        num_bytes /= 1000
        units.pop(0)
    return f"{num_bytes:.0f} B" if units[0] == "B" else f"{num_bytes:.1f} {units[0]}"
