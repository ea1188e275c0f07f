"""An `ExportedProgram` of torch as a `Program` of ours.

`run_decompositions` removes what works in place and takes apart the operators that have no translator here; those that have
one stay whole.
"""

from __future__ import annotations

import os
from typing import Any

import ml_dtypes
import numpy as np

from ...core.errors import type_error, value_error
from .program import Input, Node, Part, Program, Ref, mapped
from .registry import find_reader

_DROPPED = frozenset({"device", "layout", "pin_memory", "memory_format", "non_blocking", "copy", "generator"})


def require_torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"(convert) PyTorch cannot be imported ({error}): pip install torch.") from error
    return torch


def exported(source: Any, example_inputs: Any = None, dynamic_shapes: Any = None) -> Any:
    """The ExportedProgram in a `.pt2` file, of a module with example inputs, or the one that is given."""
    torch = require_torch()
    if isinstance(source, (str, os.PathLike)):
        return torch.export.load(os.fspath(source))
    if isinstance(source, torch.export.ExportedProgram):
        return source
    if isinstance(source, torch.nn.Module):
        if example_inputs is None:
            raise value_error("from_torch", "a module is exported with example inputs", "example_inputs: None")
        given = tuple(example_inputs) if isinstance(example_inputs, (list, tuple)) else (example_inputs,)
        with torch.no_grad():
            return torch.export.export(source.eval(), given, dynamic_shapes=dynamic_shapes)
    raise type_error("from_torch", "a .pt2 file, an ExportedProgram or a Module is needed", type(source).__name__)


def read_program(program: Any) -> Program:
    """Everything that is needed to run the program without torch."""
    from torch.export import default_decompositions

    table = default_decompositions()
    kept = [op for op in table if find_reader(str(op)) is not None]
    for op in kept:
        table.pop(op)
    program = program.run_decompositions(table)
    reader = _Reader(program)
    return reader.program()


class _Reader:
    def __init__(self, exported_program: Any) -> None:
        self.source = exported_program
        self.arrays: dict[int, str] = {}

    def program(self) -> Program:
        signature = self.source.graph_signature
        placeholders = {n.name: n for n in self.source.graph.nodes if n.op == "placeholder"}
        inputs, bound, constants, weights, trainable = [], {}, {}, {}, set()
        shared: dict[str, str] = {}
        for spec in signature.input_specs:
            name = getattr(spec.arg, "name", None)
            kind = spec.kind.name
            if kind in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
                tensor = self.source.state_dict.get(spec.target)
                if tensor is None:
                    tensor = self.source.constants[spec.target]
                first = self.arrays.setdefault(id(tensor) if tensor.numel() == 0 else _address(tensor), spec.target)
                if first != spec.target:
                    shared[spec.target] = first
                else:
                    weights[spec.target] = array_of(tensor)
                bound[name] = first
                if kind == "PARAMETER":
                    trainable.add(first)
            elif kind == "USER_INPUT":
                value = placeholders[name].meta.get("val") if name in placeholders else None
                if hasattr(value, "dtype"):
                    inputs.append(_described(name, value))
                else:
                    constants[name] = getattr(spec.arg, "value", value)
        part = self.part(self.source.graph_module)
        given = self.source.graph.output_node().args[0]
        results = [
            one for spec, one in zip(signature.output_specs, given, strict=True) if spec.kind.name == "USER_OUTPUT"
        ]
        tensors = [one for one in results if hasattr(getattr(one, "meta", {}).get("val"), "dtype")]
        part.results = [Ref(one.name) for one in tensors]
        names = [one.name for one in tensors]
        return Program(inputs, weights, trainable, bound, constants, part, names, self.examples(inputs), shared)

    def examples(self, inputs: list[Input]) -> list[np.ndarray] | None:
        """The inputs that the program was exported with, where it still holds them."""
        torch = require_torch()
        if self.source.example_inputs is None:
            return None
        leaves = torch.utils._pytree.tree_leaves(self.source.example_inputs)
        found = [array_of(leaf) for leaf in leaves if isinstance(leaf, torch.Tensor)]
        return found if len(found) == len(inputs) else None

    def part(self, module: Any) -> Part:
        arguments, nodes, results = [], [], None
        for node in module.graph.nodes:
            if node.op == "placeholder":
                arguments.append(node.name)
            elif node.op == "call_function":
                target = _target(node.target)
                kwargs = {key: one for key, one in node.kwargs.items() if key not in _DROPPED}
                nodes.append(
                    Node(
                        node.name, target, self.plain(module, list(node.args)), self.plain(module, kwargs), _place(node)
                    )
                )
            elif node.op == "output":
                results = self.plain(
                    module, list(node.args[0]) if isinstance(node.args[0], (list, tuple)) else [node.args[0]]
                )
        return Part(arguments, nodes, results)

    def plain(self, module: Any, value: Any) -> Any:
        """Arguments without anything of torch: nodes as Refs, data types as names, branches as Parts."""
        torch = require_torch()

        def one(value: Any) -> Any:
            if isinstance(value, torch.fx.Node):
                if value.op != "get_attr":
                    return Ref(value.name)
                found = module
                for name in str(value.target).split("."):
                    found = getattr(found, name)
                return self.part(found) if isinstance(found, torch.nn.Module) else array_of(found)
            if isinstance(value, torch.dtype):
                return str(value).removeprefix("torch.")
            if isinstance(value, (torch.device, torch.layout, torch.memory_format)):
                return None
            if value is None or isinstance(value, (bool, int, float, complex, str)):
                return value
            raise value_error(
                "from_torch", "the program has an argument of a kind without a form here", f"{value!r:.80}"
            )

        def nested(value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return [nested(part) for part in value]
            return mapped(one, value) if isinstance(value, (dict, slice)) else one(value)

        return {key: nested(part) for key, part in value.items()} if isinstance(value, dict) else nested(value)


def _address(tensor: Any) -> Any:
    return (tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride()), tensor.dtype)


def _target(target: Any) -> str:
    module = getattr(target, "__module__", "") or ""
    if module == "_operator":
        return f"operator.{target.__name__}"
    if module == "math":
        return f"math.{target.__name__}"
    text = str(target)
    if "." not in text:  # cond, while_loop, wrap_with_set_grad_enabled; sym_max and the like
        return f"higher_order.{text}"
    return text if not text.startswith("<") else f"operator.{getattr(target, '__name__', text)}"


def _place(node: Any) -> str:
    stack = node.meta.get("nn_module_stack") or {}
    return next((path for path, _ in reversed(list(stack.values())) if path), node.name)


def _described(name: str, value: Any) -> Input:
    shape, names = [], []
    for size in value.shape:
        fixed = isinstance(size, int)
        shape.append(size if fixed else -1)
        names.append(None if fixed else str(size))
    return Input(name, shape, str(value.dtype).removeprefix("torch."), names)


def array_of(tensor: Any) -> np.ndarray:
    """A tensor's numbers, in memory of their own."""
    torch = require_torch()
    plain = tensor.detach().cpu().contiguous()
    if plain.dtype == torch.bfloat16:
        return plain.view(torch.uint16).numpy().copy().view(ml_dtypes.bfloat16)
    return np.array(plain.numpy())


__all__ = ["array_of", "exported", "read_program", "require_torch"]
