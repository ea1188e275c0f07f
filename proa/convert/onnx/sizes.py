"""Computing with sizes that are not known before a model runs.

Models compute shapes with tensors: Shape, Gather, Mul, Concat, then Reshape. Where such a number is an expression of an
unknown dimension, these few operations are done on arrays of Python integers, so that it stays one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.symbols import maximum, minimum
from ...formats.paddle.reading.known import Known

_INTEGERS = (6, 7)  # ONNX's numbers of int32 and int64


def _axes(rest: list[Any], attributes: dict[str, Any]) -> tuple[int, ...] | None:
    axes = rest[0].tolist() if rest and rest[0] is not None else attributes.get("axes")
    return None if axes is None else tuple(int(axis) for axis in axes)


def _slice(x: np.ndarray, rest: list[Any], attributes: dict[str, Any]) -> np.ndarray | None:
    numbers = [None if part is None else [int(n) for n in part.reshape(-1)] for part in rest]
    starts, ends = (numbers[0], numbers[1]) if numbers else (attributes["starts"], attributes["ends"])
    if x.ndim != 1 or starts is None or ends is None or len(starts) != 1:
        return None
    steps = numbers[3] if len(numbers) > 3 else None
    return x[slice(starts[0], ends[0] if ends[0] > -(1 << 31) else None, steps[0] if steps else 1)]


def _gather(x: np.ndarray, rest: list[Any], attributes: dict[str, Any]) -> np.ndarray:
    return x.take(rest[0].astype(np.int64), axis=attributes.get("axis", 0))


def _unsqueeze(x: np.ndarray, rest: list[Any], attributes: dict[str, Any]) -> np.ndarray:
    return np.expand_dims(x, _axes(rest, attributes) or ())


def _squeeze(x: np.ndarray, rest: list[Any], attributes: dict[str, Any]) -> np.ndarray:
    return np.squeeze(x, _axes(rest, attributes))


def _same(x: np.ndarray, rest: list[Any], attributes: dict[str, Any]) -> np.ndarray | None:
    return x if attributes.get("to", 7) in _INTEGERS else None


def _pairs(function: Callable[[Any, Any], Any]) -> Callable[..., np.ndarray]:
    over_arrays = np.frompyfunc(function, 2, 1)

    def apply(x: np.ndarray, rest: list[Any], attributes: dict[str, Any]) -> np.ndarray:
        result = x
        for other in rest:
            result = over_arrays(result, other)
        return np.asarray(result, object)

    return apply


def _product(x: np.ndarray, rest: list[Any], attributes: dict[str, Any]) -> np.ndarray | None:
    if x.ndim != 1:
        return None
    result: Any = 1
    for number in x.tolist():
        result = result * number
    made = np.empty((1,) if attributes.get("keepdims", 1) else (), object)
    made[...] = result
    return made


_RULES: dict[str, Callable[..., np.ndarray | None]] = {
    "Slice": _slice, "Gather": _gather, "Unsqueeze": _unsqueeze, "Squeeze": _squeeze, "Cast": _same, "Identity": _same,
    "Add": _pairs(lambda a, b: a + b), "Sub": _pairs(lambda a, b: a - b), "Mul": _pairs(lambda a, b: a * b),
    # Sizes are not negative, and what they are divided by is positive.
    "Div": _pairs(lambda a, b: a // b), "Mod": _pairs(lambda a, b: a % b),
    "Min": _pairs(minimum), "Max": _pairs(maximum), "ReduceProd": _product,
    "Concat": lambda x, rest, attributes: np.concatenate([x, *rest], attributes.get("axis", 0)),
    "Reshape": lambda x, rest, attributes: x.reshape(rest[0].tolist()),
}  # fmt: skip


def with_sizes(name: str, inputs: list[Known | None], attributes: dict[str, Any]) -> Known | None:
    """The result of an operation on known values with unknown sizes among them; None where this is no place for it."""
    rule = _RULES.get(name)
    first = inputs[0] if inputs else None
    if (
        rule is None
        or first is None
        or any(known is not None and known.array.dtype.kind not in "iO" for known in inputs)
    ):
        return None
    arrays = [None if known is None else known.array.astype(object) for known in inputs]
    made = rule(arrays[0], arrays[1:], attributes)
    return None if made is None else Known(np.asarray(made, object), "int64")


__all__ = ["with_sizes"]
