"""The first node of a model whose results differ from ONNX Runtime's: where to look when a conversion does not agree."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import FailedCheck
from ...eager.modes import no_grad
from ...eager.tensor import Tensor, tensor_from_data
from ...formats.paddle.model import Op
from ...formats.paddle.reading.known import Known
from ..certificate import check_result
from .loading import weights_of
from .reading import Node, read_onnx
from .translation import OnnxTranslation


class _Found(Exception):
    """A node differs; the rest need not run."""

    def __init__(self, entry: dict[str, Any]) -> None:
        super().__init__(entry)
        self.entry = entry


class _Comparing(OnnxTranslation):
    """Looks at every result behind its operation."""

    expected: dict[str, np.ndarray]
    tolerance: tuple[float, float]

    def operation(self, op: Op) -> None:
        super().operation(op)
        for value in op.outputs:
            held = self.values.get(value) if value is not None else None
            if held is None or value.name not in self.expected or not isinstance(held, (Tensor, Known)):
                continue
            mine = np.asarray(self.tensor(held).numpy())
            check = check_result(value.name, mine, self.expected[value.name], *self.tolerance)
            if not check.agrees:
                place = op.title if isinstance(op, Node) else ""
                raise _Found({"operator": op.name, "place": place, "value": value.name, "reason": check.reason,
                              "largest_error": check.largest_error})  # fmt: skip


def first_difference(path: Any, arrays: Sequence[np.ndarray], rtol: float, atol: float) -> dict[str, Any] | None:
    """Operator, place and value; None where every node by itself agrees, or nothing can be asked."""
    try:
        expected = _all_values(path, arrays)
    except Exception:  # without the package `onnx`, or for a model that the engine does not run in this form
        return None
    model = read_onnx(path)
    translation = _Comparing(model, weights_of(model))
    translation.expected, translation.tolerance = expected, (rtol, atol)
    try:
        with no_grad():
            translation.run([tensor_from_data(array) for array in arrays])
    except _Found as found:
        return found.entry
    except (ValueError, TypeError, NotImplementedError, FailedCheck):
        return None
    return None


def _all_values(path: Any, arrays: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    import onnx
    import onnxruntime

    proto = onnx.load(os.fspath(path))
    known = {output.name for output in proto.graph.output}
    for node in proto.graph.node:
        for name in node.output:
            if name and name not in known:
                proto.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    given = dict(zip([one.name for one in session.get_inputs()], arrays, strict=True))
    names = [one.name for one in session.get_outputs()]
    return {
        name: value
        for name, value in zip(names, session.run(names, given), strict=True)
        if isinstance(value, np.ndarray)
    }


__all__ = ["first_difference"]
