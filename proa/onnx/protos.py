"""The last step: nodes as an ONNX ModelProto, without those that nobody needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from ..core.symbols import SymbolicSize
from .builder import Block, Builder, Made, Node

_ENUMERATION = {
    "float32": "FLOAT", "float64": "DOUBLE", "float16": "FLOAT16", "bfloat16": "BFLOAT16", "int8": "INT8", "int16": "INT16",
    "int32": "INT32", "int64": "INT64", "uint8": "UINT8", "uint16": "UINT16", "uint32": "UINT32", "uint64": "UINT64",
    "bool": "BOOL", "float8_e4m3fn": "FLOAT8E4M3FN", "float8_e5m2": "FLOAT8E5M2",
}  # fmt: skip
_LONGEST_SIZE = 40
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_+*/%() -]+")  # an unknown size is called x_shape_0, or x_shape_0 + 1


def needed_onnx() -> Any:
    """The package onnx, or an error that says how to get it."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            f"(onnx.export) the package onnx cannot be imported: {error}. Run pip install proa[onnx]."
        ) from error
    return onnx


def installed_version(package: str) -> str | None:
    """Of a package; None where it is not installed, or runs from its sources."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def element_type(dtype: str) -> int:
    """ONNX's number for an element type."""
    found = _ENUMERATION.get(dtype)
    if found is None:
        raise NotImplementedError(f"{dtype} is no element type of ONNX's operators")
    return getattr(needed_onnx().TensorProto, found)


def to_proto(builder: Builder, inputs: Sequence[Made], outputs: Sequence[Made], name: str) -> Any:
    """The ModelProto of what a builder holds."""
    onnx = needed_onnx()
    block = builder.block
    block.arguments = list(inputs)
    block.results = _own_results(builder, block, outputs)
    _drop_unused(block)
    weights: dict[str, Made] = {}
    graph = _graph(block, name, weights)
    opset = onnx.helper.make_opsetid("", builder.opset)
    model = onnx.helper.make_model(
        graph, opset_imports=[opset], producer_name="proa", producer_version=installed_version("proa") or "",
        ir_version=onnx.helper.find_min_ir_version_for([opset]),
    )  # fmt: skip
    for value in weights.values():  # last: messages are copied into others, and these are large
        _fill(model.graph.initializer.add(), value)
    return model


def _own_results(builder: Builder, block: Block, results: Sequence[Made], wanted: str = "output_") -> list[Made]:
    """Results that nodes of this block make, each once: inputs, weights and repetitions are copied."""
    made = {id(output) for node in block.nodes for output in node.outputs}
    found: list[Made] = []
    for value in results:
        if id(value) not in made:
            before, builder.block = builder.block, block
            value = builder.copied(value)
            builder.block = before
        made.discard(id(value))
        found.append(value)
    return found


def _drop_unused(block: Block) -> None:
    """Takes away nodes whose results nobody reads."""
    needed = {value.name for value in block.results}
    kept: list[Node] = []
    for node in reversed(block.nodes):
        if any(output.name in needed for output in node.outputs):
            kept.append(node)
            for inner in node.blocks.values():
                _drop_unused(inner)
            needed.update(_read(node))
    kept.reverse()
    block.nodes = kept


def _read(node: Node) -> Iterable[str]:
    """The names that a node reads, those inside its blocks included."""
    for value in node.inputs:
        if value is not None:
            yield value.name
    for block in node.blocks.values():
        for inner in block.nodes:
            yield from _read(inner)
        for value in block.results:
            yield value.name


def _graph(block: Block, name: str, weights: dict[str, Made]) -> Any:
    onnx = needed_onnx()
    nodes = [_node(node, number, name, weights) for number, node in enumerate(block.nodes)]
    for value in block.results:
        if value.array is not None:
            weights[value.name] = value
    arguments, results = ([_information(value) for value in values] for values in (block.arguments, block.results))
    return onnx.helper.make_graph(nodes, name, arguments, results)


def _node(node: Node, number: int, prefix: str, weights: dict[str, Made]) -> Any:
    onnx = needed_onnx()
    title = f"{node.operator}_{number}"
    attributes: dict[str, Any] = {}
    for key, value in node.attributes.items():
        attributes[key] = element_type(value) if key in ("to", "dtype") else value
    for key, block in node.blocks.items():
        attributes[key] = _graph(block, f"{prefix}_{title}_{key}", weights)
    for value in node.inputs:
        if value is not None and value.array is not None:
            weights[value.name] = value
    names = [value.name if value is not None else "" for value in node.inputs]
    while names and not names[-1]:
        names.pop()
    return onnx.helper.make_node(node.operator, names, [value.name for value in node.outputs], title, **attributes)


def _information(value: Made) -> Any:
    """Name, type and shape of an input or output; unknown sizes by name, or by a short formula of names."""
    onnx = needed_onnx()
    shape = [_size_text(size, f"{value.name}_{axis}") for axis, size in enumerate(value.sizes)]
    return onnx.helper.make_tensor_value_info(value.name, element_type(value.dtype), shape)


def _size_text(size: int, otherwise: str) -> int | str:
    if not isinstance(size, SymbolicSize):
        return int(size)
    text = _NOT_IN_NAMES.sub("_", repr(size.expression).replace("]", ""))
    return text if len(text) <= _LONGEST_SIZE else otherwise


def _fill(tensor: Any, value: Made) -> None:
    """Writes a weight into an initialiser."""
    array = np.ascontiguousarray(value.array)
    tensor.name = value.name
    tensor.data_type = element_type(value.dtype)
    tensor.dims.extend(value.sizes)
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    tensor.raw_data = array.tobytes()


def rename(model: Any, names: dict[str, str]) -> None:
    """Gives values of a model's graph other names, also where blocks read them."""

    def visit(graph: Any) -> None:
        for node in graph.node:
            for names_of in (node.input, node.output):
                for position, name in enumerate(names_of):
                    if name in names:
                        names_of[position] = names[name]
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    visit(attribute.g)
        for value in (*graph.input, *graph.output, *graph.initializer):
            value.name = names.get(value.name, value.name)

    visit(model.graph)
