"""Goes through a program and calls the translators: on placeholders this gives a Graph, on tensors the results."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.symbols import maximum, minimum
from ...eager.tensor import Tensor, tensor_from_data
from ...graph.control import cond_of, while_of
from .program import Node, Part, Program, Ref, mapped
from .registry import find_reader

# Python's own functions, on sizes and on lists of results.
_PYTHON: dict[str, Callable[..., Any]] = {
    **{f"operator.{name}": getattr(operator, name) for name in (
        "add", "sub", "mul", "floordiv", "mod", "neg", "pow", "truediv", "getitem", "eq", "ne", "lt", "le", "gt", "ge",
        "and_", "or_", "not_",
    )},
    "higher_order.sym_max": maximum, "higher_order.sym_min": minimum, "higher_order.sym_not": operator.not_,
    "higher_order.sym_float": lambda n: n * 1.0, "higher_order.sym_int": int,
    "higher_order.sym_ite": lambda test, a, b: a if test else b, "math.sqrt": math.sqrt, "math.ceil": math.ceil,
    "math.floor": math.floor, "math.trunc": math.trunc, "higher_order.sym_sum": sum,
}  # fmt: skip
_WRAPPERS = frozenset({"higher_order.wrap_with_set_grad_enabled", "higher_order.wrap_with_autocast"})
_CONTROL = frozenset({"higher_order.cond", "higher_order.while_loop", *_WRAPPERS})


def is_covered(target: str) -> bool:
    return target in _PYTHON or target in _CONTROL or find_reader(target) is not None


class TorchTranslation:
    """One pass over a program."""

    def __init__(self, program: Program, held: dict[str, Tensor]) -> None:
        self.program = program
        self.values: dict[str, Any] = {name: held[weight] for name, weight in program.bound.items()}
        self.values.update(program.constants)

    def run(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        for given, tensor in zip(self.program.inputs, tensors, strict=True):
            self.values[given.name] = tensor
        self.nodes(self.program.part)
        return self.plain(self.program.part.results)

    def nodes(self, part: Part) -> None:
        for node in part.nodes:
            try:
                self.values[node.name] = self.call(node)
            except Exception as error:
                if not getattr(error, "__notes__", None):
                    error.add_note(f"while {node.target} of {node.place or 'the program'} was translated")
                raise

    def call(self, node: Node) -> Any:
        if node.target in _CONTROL:
            return self.control(node)
        arguments, named = self.plain(node.args), self.plain(node.kwargs)
        function = _PYTHON.get(node.target) or find_reader(node.target)
        if function is None:
            raise NotImplementedError(f"(torch) there is no translator of {node.target}, which {node.place} needs.")
        return function(*arguments, **named)

    def plain(self, value: Any) -> Any:
        def one(value: Any) -> Any:
            if isinstance(value, Ref):
                return self.values[value.name]
            return tensor_from_data(value) if isinstance(value, np.ndarray) else value

        return mapped(one, value)

    def inner(self, part: Part, arguments: Sequence[Any]) -> list[Any]:
        self.values.update(zip(part.arguments, arguments, strict=True))
        self.nodes(part)
        return self.plain(part.results)

    def control(self, node: Node) -> Any:
        if node.target in _WRAPPERS:
            position = next(n for n, argument in enumerate(node.args) if isinstance(argument, Part))
            return self.inner(node.args[position], self.plain(node.args[position + 1 :]))
        if node.target == "higher_order.cond":
            test, then, otherwise, *rest = node.args
            operands = self.plain(rest[0]) if rest else []
            predicate = self.plain(test)
            if not isinstance(predicate, Tensor):
                return self.inner(then if predicate else otherwise, operands)
            return cond_of(predicate, lambda: self.inner(then, operands), lambda: self.inner(otherwise, operands))
        test, body, carried, *rest = node.args
        extra = self.plain(rest[0]) if rest else []
        return while_of(
            lambda *state: self.inner(test, [*state, *extra])[0], lambda *state: self.inner(body, [*state, *extra]),
            self.plain(carried),
        )  # fmt: skip


__all__ = ["TorchTranslation", "is_covered"]
