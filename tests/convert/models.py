"""Small ONNX models for the tests, made with the package `onnx`."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def value(name: str, shape: Any, kind: int = TensorProto.FLOAT) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def model(
    nodes: list[Any], inputs: list[Any], outputs: list[Any], weights: dict[str, np.ndarray] | None = None, opset: int = 17,
    **more: Any,
) -> Any:  # fmt: skip
    initialisers = [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, initialisers)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8, **more)
    onnx.checker.check_model(made)
    return made


def classifier(opset: int = 17) -> Any:
    """A convolution, a batch norm, pooling, and a linear layer behind a reshape that computes its shape."""
    generator = np.random.default_rng(3)
    weights = {
        "conv.weight": generator.normal(size=(4, 3, 3, 3)).astype("float32"),
        "conv.bias": generator.normal(size=4).astype("float32"),
        "norm.weight": generator.random(4).astype("float32") + 0.5,
        "norm.bias": generator.normal(size=4).astype("float32"),
        "norm.mean": generator.normal(size=4).astype("float32"),
        "norm.variance": generator.random(4).astype("float32") + 0.5,
        "head.weight": generator.normal(size=(5, 16)).astype("float32"),
        "head.bias": generator.normal(size=5).astype("float32"),
        "zero": np.array(0),
        "rest": np.array([-1]),
    }
    make = helper.make_node
    nodes = [
        make("Conv", ["x", "conv.weight", "conv.bias"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
        make("BatchNormalization", ["c", "norm.weight", "norm.bias", "norm.mean", "norm.variance"], ["n"]),
        make("Relu", ["n"], ["r"]),
        make("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        make("Shape", ["p"], ["s"]),
        make("Gather", ["s", "zero"], ["batch"]),
        make("Reshape", ["batch", "rest"], ["row"]),
        make("Concat", ["row", "rest"], ["flat"], axis=0),
        make("Reshape", ["p", "flat"], ["f"]),
        make("Gemm", ["f", "head.weight", "head.bias"], ["y"], transB=1),
    ]
    return model(nodes, [value("x", ["batch", 3, 8, 8])], [value("y", ["batch", 5])], weights, opset)


def subgraph(name: str, nodes: list[Any], inputs: list[Any], outputs: list[Any]) -> Any:
    return helper.make_graph(nodes, name, inputs, outputs)
