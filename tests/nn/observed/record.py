"""Writes down what Paddle gives for the cases in this folder.

    python -m tests.nn.observed.record functional losses layers

in an environment with Paddle 3.3.1. Numbers are kept to seven digits; an exception is kept by its type.
"""

from __future__ import annotations

import importlib
import json
import pathlib
import sys
from typing import Any

FOLDER = pathlib.Path(__file__).parent


def flatten(result: Any) -> list[Any]:
    """Tensors in a result, one after another, as nested lists."""
    if isinstance(result, (list, tuple)):
        return [part for item in result for part in flatten(item)]
    if hasattr(result, "numpy"):
        return [_rounded(result.numpy().tolist())]
    return [result]


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.7g}") if isinstance(value, float) else value


def observe(package: Any, call: Any) -> dict[str, Any]:
    package.seed(2024)
    try:
        return {"values": flatten(call(package))}
    except Exception as error:
        return {"error": type(error).__name__}


def main() -> None:
    paddle = importlib.import_module("paddle")
    for name in sys.argv[1:]:
        cases = importlib.import_module(f"tests.nn.observed.cases_{name}").CASES
        found = {}
        for key, call in cases.items():
            print(name, key, flush=True)  # the last one printed is the one that ended the process
            found[key] = observe(paddle, call)
        lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items()]
        (FOLDER / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
