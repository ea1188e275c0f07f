"""Calls as programs write them: positional, named, aliases, lists, NumPy scalars, tensors in place of numbers.

`call_forms.txt` holds one program a line, `statement ;; … ;; expression   ==>   result`, with the result that
PaddlePaddle 3.3.1 gave (`python -m tests.ops.test_call_forms paddle FILE` writes it anew in Paddle's environment). The
result of ours must be the same text; an exception must be one that code expecting Paddle's would catch.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FILE = Path(__file__).with_name("call_forms.txt")
ARROW = "   ==>   "
RAISED = "!! "
LINES = [line for line in FILE.read_text(encoding="utf-8").splitlines() if line]


def shown(paddle: Any, value: Any) -> str:
    """A result in words: kind, dtype, shape, values to four digits."""
    if isinstance(value, paddle.Tensor):
        array = np.asarray((value.astype("float32") if "bfloat16" in str(value.dtype) else value).numpy())
        wide = array.astype("float64") if array.dtype.kind == "f" else array
        text = np.array2string(wide, precision=4, suppress_small=True, threshold=24, separator=",")
        text = "".join(text.split()).replace("-0.,", "0.,").replace("-0.]", "0.]") if array.size else "empty"
        return f"T({str(value.dtype).split('.')[-1]}{list(value.shape)} sg={value.stop_gradient} {text})"
    if isinstance(value, np.ndarray):
        return f"N({value.dtype}{value.shape} {(value if value.dtype.kind == 'b' else np.round(value, 4)).tolist()})"
    if isinstance(value, (list, tuple)) and type(value).__name__ != "Size":
        inner = ", ".join(shown(paddle, item) for item in value)
        return f"{'L' if isinstance(value, list) else 't'}[{inner}]"
    if isinstance(value, float):
        return f"float {value:.4f}"
    return f"{type(value).__name__} {value!r}"


def names(paddle: Any) -> dict[str, Any]:
    """What a program finds: a few tensors, all small."""
    t = paddle.to_tensor
    matrix = np.arange(6, dtype="float32").reshape(2, 3) / 2 - 1
    leaf = t(matrix)
    leaf.stop_gradient = False
    return {
        "paddle": paddle,
        "np": np,
        "F": paddle.nn.functional,
        "nn": paddle.nn,
        "x": t(matrix),
        "y": t(np.arange(6, dtype="float32").reshape(2, 3)[::-1].copy() + 1),
        "v": t(np.array([3.0, 1.0, 2.0, 1.0], dtype="float32")),
        "i": t(np.array([[3, 1, 2], [0, 5, 4]])),
        "i32": t(np.array([2, 0, 1], dtype="int32")),
        "b": t(np.array([[True, False, True], [False, True, True]])),
        "m": t(np.array([[4.0, 1.0], [2.0, 3.0]], dtype="float32")),
        "c": t(np.array([1 + 2j, -1j], dtype="complex64")),
        "t3": t(np.arange(24, dtype="float32").reshape(2, 3, 4)),
        "img": t(np.arange(32, dtype="float32").reshape(1, 2, 4, 4) / 10),
        "g": leaf,
    }


def result_of(paddle: Any, program: str) -> str:
    paddle.seed(1)
    scope = names(paddle)
    *statements, expression = program.split(" ;; ")
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            for statement in statements:
                exec(statement, scope)
            return shown(paddle, eval(expression, scope))
    except Exception as error:
        return RAISED + " ".join(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", LINES, ids=[line.split(ARROW)[0] for line in LINES])
def test_same_as_paddle(line: str) -> None:
    import proa

    program, expected = line.split(ARROW)
    found = result_of(proa, program)
    if expected.startswith(RAISED):
        assert found.startswith(RAISED), f"Paddle raises {expected}; here {found}"
        assert expected.split()[1] in found.split()
    else:
        assert found == expected


if __name__ == "__main__":
    framework = importlib.import_module(sys.argv[1])
    with open(sys.argv[2], "w", encoding="utf-8") as stream:
        for entry in LINES:
            source = entry.split(ARROW)[0]
            stream.write(f"{source}{ARROW}{result_of(framework, source)}\n")
