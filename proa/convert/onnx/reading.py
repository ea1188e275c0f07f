"""ONNX files as a `Model`: operations over values, the same form in which Paddle's files are held.

Names become Values here, once and for all: a subgraph sees those of the graphs around it, functions of the model are
written out where they are called. Nothing of the file is run.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...formats.paddle.files.wire import decode
from ...formats.paddle.model import Block, Model, Op, Value
from .schema import MODEL, UNPACKED_MODEL
from .tensors import Folder, dtype_name, sparse_array, tensor_array

_OWN_DOMAINS = ("", "ai.onnx")
_MOST_NODES = 200_000  # after functions are written out: a file of a kilobyte can describe billions
_DEEPEST_CALLS = 32


@dataclass(eq=False)
class Node(Op):
    """An operation with its name in the file and the version of its operator set."""

    title: str = ""
    version: int = 1

    def __str__(self) -> str:
        return f"{self.name} ({self.title})" if self.title else self.name


@dataclass(eq=False)
class OnnxModel(Model):
    """A Model with what only ONNX says."""

    kinds: list[str] = field(default_factory=list)  # of the inputs: "tensor", "sequence", "optional"
    dimension_names: list[list[str | None]] = field(default_factory=list)
    constants: set[str] = field(default_factory=set)  # parameters that stood in nodes of their own


def read_onnx(source: Any) -> OnnxModel:
    """The model in a file, in bytes, or in a `ModelProto`."""
    folder, data = None, source
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        folder = os.path.dirname(os.path.abspath(path))
        with open(path, "rb") as file:
            data = file.read()
    elif hasattr(source, "SerializeToString"):
        data = source.SerializeToString()
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise value_error("onnx", "a path, bytes or a ModelProto is needed", type(source).__name__)
    try:
        message = decode(memoryview(data), MODEL)
    except ValueError as error:
        if "_data has wire type" not in str(error):
            raise value_error("onnx", f"this is not an ONNX model: {error}") from None
        message = decode(memoryview(data), UNPACKED_MODEL)
    if not message.get("graph") or not message.get("opset_import"):
        raise value_error("onnx", "this is not an ONNX model: it has no graph or names no operator set")
    return _Builder(message, Folder(folder)).model()


class _Scope:
    """Names of one graph; those of the graphs around it are seen too."""

    def __init__(self, outer: _Scope | None = None) -> None:
        self.outer = outer
        self.values: dict[str, Value | None] = {}

    def find(self, name: str) -> Value | None:
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            scope = scope.outer
        raise value_error("onnx", f"the model uses {name!r}, which nothing before it makes", "", "the file is damaged")


class _Builder:
    def __init__(self, message: dict[str, Any], folder: Folder) -> None:
        self.message = message
        self.folder = folder
        self.parameters: dict[str, np.ndarray] = {}
        self.parameter_values: dict[str, Value] = {}
        self.functions = {
            (f.get("domain", ""), f.get("name", ""), f.get("overload", "")): f for f in message.get("functions", ())
        }
        self.num_nodes = 0
        self.constants: set[str] = set()

    def model(self) -> OnnxModel:
        versions = _versions(self.message["opset_import"])
        graph = self.message["graph"]
        scope = _Scope()
        self.initialisers(graph, scope)
        inputs, kinds, names = [], [], []
        for info in graph.get("input", ()):
            name = info.get("name", "")
            if name in self.parameters:  # before version 4 of the format weights are inputs too
                continue
            value, kind, dimensions = _described(info)
            scope.values[name] = value
            inputs.append(value)
            kinds.append(kind)
            names.append(dimensions)
        block = Block(self.nodes(graph.get("node", ()), scope, versions, {}, 0))
        outputs = []
        for info in graph.get("output", ()):
            value = scope.find(info.get("name", ""))
            outputs.append(value)
        return OnnxModel(
            inputs, self.parameters, self.parameter_values, block, outputs, versions.get("", 1),
            kinds=kinds, dimension_names=names, constants=self.constants,
        )  # fmt: skip

    def initialisers(self, graph: dict[str, Any], scope: _Scope) -> None:
        for tensor in graph.get("initializer", ()):
            self.weight(tensor.get("name", ""), tensor_array(tensor, self.folder), scope)
        for sparse in graph.get("sparse_initializer", ()):
            self.weight(sparse.get("values", {}).get("name", ""), sparse_array(sparse, self.folder), scope)

    def weight(self, name: str, array: np.ndarray, scope: _Scope) -> str:
        """A value of the file's own; a name that another graph has taken gets a number."""
        unique = name
        while unique in self.parameters:
            unique += "_"
        value = Value(unique, str(array.dtype), array.shape)
        self.parameters[unique] = array
        self.parameter_values[unique] = value
        scope.values[name] = value
        return unique

    def graph_block(
        self, graph: dict[str, Any], outer: _Scope, versions: dict[str, int], given: Any, depth: int
    ) -> Block:
        scope = _Scope(outer)
        self.initialisers(graph, scope)
        arguments = []
        for info in graph.get("input", ()):
            value = _described(info)[0]
            scope.values[value.name] = value
            arguments.append(value)
        ops = self.nodes(graph.get("node", ()), scope, versions, given, depth)
        return Block(ops, arguments, [scope.find(info.get("name", "")) for info in graph.get("output", ())])  # type: ignore[misc]

    def nodes(self, messages: Any, scope: _Scope, versions: dict[str, int], given: Any, depth: int) -> list[Op]:
        made: list[Op] = []
        for message in messages:
            self.num_nodes += 1
            if self.num_nodes > _MOST_NODES:
                raise value_error(
                    "onnx", f"the model has more than {_MOST_NODES:,} nodes with its functions written out"
                )
            domain = message.get("domain", "")
            inputs = [scope.find(name) if name else None for name in message.get("input", ())]
            attributes = self.attributes(message, scope, versions, given, depth)
            key = (domain, message.get("op_type", ""), message.get("overload", ""))
            if key in self.functions:
                made += self.called(self.functions[key], message, inputs, attributes, scope, depth)
                continue
            name = key[1] if domain in _OWN_DOMAINS else f"{domain}.{key[1]}"
            version = versions.get("" if domain in _OWN_DOMAINS else domain, 1)
            if name == "Constant" and self.constant(message, attributes, scope):
                continue
            outputs: list[Value | None] = []
            for output in message.get("output", ()):
                outputs.append(Value(output, "") if output else None)
                if output:
                    scope.values[output] = outputs[-1]
            blocks = [part for part in attributes.values() if isinstance(part, Block)]
            title = message.get("name", "") or next((o for o in message.get("output", ()) if o), "")
            made.append(Node(name, inputs, attributes, outputs, blocks, title, version))
        return made

    def constant(self, message: dict[str, Any], attributes: dict[str, Any], scope: _Scope) -> bool:
        """Numbers in a node of their own are held as the other numbers of the file are."""
        array = attributes.get("value", attributes.get("sparse_value"))
        outputs = message.get("output", ())
        if not isinstance(array, np.ndarray) or len(outputs) != 1:
            return False
        self.constants.add(self.weight(outputs[0], array, scope))
        return True

    def called(
        self, function: dict[str, Any], message: dict[str, Any], inputs: list[Any], given: dict[str, Any], outer: _Scope,
        depth: int,
    ) -> list[Op]:  # fmt: skip
        """The operations of a function, in the place of its call."""
        if depth >= _DEEPEST_CALLS:
            raise value_error("onnx", f"functions of the model call each other more than {_DEEPEST_CALLS} deep")
        scope = _Scope()
        for position, name in enumerate(function.get("input", ())):
            scope.values[name] = inputs[position] if position < len(inputs) else None
        versions = _versions(function.get("opset_import") or self.message["opset_import"])
        values = self.attributes({"attribute": function.get("attribute_proto", ())}, scope, versions, {}, depth)
        ops = self.nodes(function.get("node", ()), scope, versions, {**values, **given}, depth + 1)
        for inner, name in zip(function.get("output", ()), message.get("output", ()), strict=False):
            if name:
                outer.values[name] = scope.find(inner)
        return ops

    def attributes(
        self, message: dict[str, Any], scope: _Scope, versions: dict[str, int], given: dict[str, Any], depth: int
    ) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for attribute in message.get("attribute", ()):
            name, reference = attribute.get("name", ""), attribute.get("ref_attr_name")
            if reference:
                if reference in given:
                    found[name] = given[reference]
                continue
            found[name] = self.attribute(attribute, scope, versions, given, depth)
        return found

    def attribute(self, message: dict[str, Any], scope: _Scope, versions: Any, given: Any, depth: int) -> Any:
        kind = message.get("type", 0)
        if "g" in message:
            if depth >= _DEEPEST_CALLS:
                raise value_error("onnx", f"graphs are nested more than {_DEEPEST_CALLS} deep")
            return self.graph_block(message["g"], scope, versions, given, depth + 1)
        if "t" in message:
            return tensor_array(message["t"], self.folder)
        if "sparse_tensor" in message:
            return sparse_array(message["sparse_tensor"], self.folder)
        if "s" in message or kind == 3:
            return message.get("s", b"").decode("utf-8", "replace")
        if "strings" in message or kind == 8:
            return [text.decode("utf-8", "replace") for text in message.get("strings", ())]
        if "ints" in message or kind == 7:
            return list(message.get("ints", ()))
        if "floats" in message or kind == 6:
            return list(message.get("floats", ()))
        if "tensors" in message:
            return [tensor_array(tensor, self.folder) for tensor in message["tensors"]]
        if "f" in message or kind == 1:
            return message.get("f", 0.0)
        return message.get("i", 0) if kind in (0, 2) else None


def _versions(opsets: Any) -> dict[str, int]:
    found = {}
    for opset in opsets:
        domain = opset.get("domain", "")
        found["" if domain in _OWN_DOMAINS else domain] = opset.get("version", 1)
    return found


def _described(info: dict[str, Any]) -> tuple[Value, str, list[str | None]]:
    """A declared value, what it is, and the names of its dimensions."""
    kind, what = info.get("type", {}), "tensor"
    for name in ("optional_type", "sequence_type"):
        if name in kind:
            kind, what = kind[name].get("elem_type", {}), name.removesuffix("_type") if what == "tensor" else what
    tensor = kind.get("tensor_type", {})
    shape = tensor.get("shape")
    dimensions = None if shape is None else shape.get("dim", [])
    sizes = None if dimensions is None else tuple(d.get("dim_value", -1) for d in dimensions)
    number = tensor.get("elem_type", 0)
    dtype = "string" if number == 8 else dtype_name(number) if number else ""
    return Value(info.get("name", ""), dtype, sizes), what, [d.get("dim_param") for d in dimensions or ()]


__all__ = ["Node", "OnnxModel", "read_onnx"]
