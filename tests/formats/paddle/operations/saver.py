"""Runs in Paddle's environment: makes a static program of each call, runs it, and saves it.

python -m tests.formats.paddle.operations.saver FOLDER < requests, one a line of JSON (tests/parity/plan.py)
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import sys
import warnings
from typing import Any

import numpy as np

from tests.parity.encode import NARROW, decode


def tensors_of(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [tensor for part in value for tensor in tensors_of(part)]
    return [value] if hasattr(value, "get_defining_op") else []


def save(paddle: Any, executor: Any, request: dict[str, Any], path: str) -> None:
    """`path`.json and .npz: the program, what was fed, and what it gave after it was loaded again."""
    feed: dict[str, np.ndarray] = {}
    inputs: list[Any] = []

    def make_input(array: np.ndarray, dtype: str, _wanted: bool) -> Any:
        if dtype in NARROW:
            raise TypeError(f"{dtype} is not fed")
        feed[f"x{len(feed)}"] = array
        inputs.append(paddle.static.data(f"x{len(inputs)}", list(array.shape), dtype))
        return inputs[-1]

    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        args = decode(request["args"], paddle, make_input)
        kwargs = decode(request["kwargs"], paddle, make_input)
        function = functools.reduce(getattr, request["path"].split("."), paddle)
        results = tensors_of(function(*args, **kwargs))
        if not results:
            raise TypeError("the function gives no tensor")
        paddle.static.save_inference_model(path, inputs, results, executor, program=main)
    # Saving changes programs (what is for training is switched off), so the loaded one is what counts.
    program, names, fetched = paddle.static.load_inference_model(path, executor)
    found = executor.run(program, feed={name: feed[name] for name in names}, fetch_list=fetched)
    kept = {f"in_{name}": array for name, array in feed.items()}
    np.savez(
        f"{path}.npz", allow_pickle=False, **kept, **{f"out_{i}": np.asarray(part) for i, part in enumerate(found)}
    )


def main() -> None:
    channel = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)  # what Paddle prints must not mix with the answers
    warnings.simplefilter("ignore")
    paddle: Any = importlib.import_module("paddle")

    paddle.enable_static()
    executor = paddle.static.Executor(paddle.CPUPlace())
    for line in sys.stdin:
        request = json.loads(line)
        try:
            save(paddle, executor, request, os.path.join(sys.argv[1], str(request["number"])))
            channel.write("{}\n")
        except Exception as error:
            channel.write(json.dumps({"error": str(error)[-200:]}) + "\n")
    os._exit(0)


if __name__ == "__main__":
    main()
