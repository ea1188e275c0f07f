"""An exported program as plain data, without anything of torch in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Ref:
    """The result of a node."""

    name: str


@dataclass
class Node:
    """A call: `target` is "aten.conv2d.default", "operator.mul" or "higher_order.cond"."""

    name: str
    target: str
    args: Any
    kwargs: dict[str, Any]
    place: str = ""


@dataclass
class Part:
    """Nodes with their arguments and results: a whole program, or a branch of one."""

    arguments: list[str]
    nodes: list[Node]
    results: Any = None

    def all_nodes(self) -> Iterator[Node]:
        for node in self.nodes:
            yield node
            for inner in parts_in(node.args):
                yield from inner.all_nodes()


@dataclass
class Input:
    """What a caller gives; -1 for unknown sizes, and what is known about which of them are equal."""

    name: str
    shape: list[int]
    dtype: str
    dimension_names: list[str | None] = field(default_factory=list)


@dataclass
class Program:
    """The whole: what callers give, the weights by their names in the model, and the nodes."""

    inputs: list[Input]
    weights: dict[str, np.ndarray]
    trainable: set[str]
    bound: dict[str, str]  # argument: the weight that it is
    constants: dict[str, Any]  # arguments that were plain numbers when the program was exported
    part: Part
    outputs: list[str]
    examples: list[np.ndarray] | None = None
    shared: dict[str, str] = field(default_factory=dict)  # weights that are another one under a second name


def parts_in(value: Any) -> Iterator[Part]:
    if isinstance(value, Part):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from parts_in(one)


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """The same nesting with every element replaced."""
    if isinstance(value, (list, tuple)):
        return type(value)([mapped(function, one) for one in value])
    if isinstance(value, dict):
        return {key: mapped(function, one) for key, one in value.items()}
    if isinstance(value, slice):
        return slice(*(mapped(function, one) for one in (value.start, value.stop, value.step)))
    return function(value)


__all__ = ["Input", "Node", "Part", "Program", "Ref", "mapped", "parts_in"]
