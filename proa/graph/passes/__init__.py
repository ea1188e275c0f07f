"""Passes: what is done to a captured graph before it is compiled for inference.

    draft.py       the form of a graph that passes change
    registry.py    which passes there are; `register_pass`
    matching.py    the pattern language; `pattern`
    nature.py      which operations are pure, which values are constants
    the others     passes, each with the invariant it keeps

A pass of your own:

    from proa.graph.passes import Any, node, pattern, register_pass

    x = Any("x")

    @pattern(node.log(node.exp(x)), name="log of exp")
    def log_of_exp(x):
        return x

    @register_pass(level=2)
    def count_instructions(draft):
        print(len(draft.nodes))
        return 0  # how many things it changed

It holds for graphs that are compiled from then on; `unregister_pass(name)` takes it out again. Nothing here knows of layers,
static programs or file formats.
"""

from __future__ import annotations

from . import (
    activations,  # noqa: F401
    attention,  # noqa: F401
    chains,  # noqa: F401
    common_subexpressions,  # noqa: F401
    dead_code,  # noqa: F401
    folding,  # noqa: F401
    fusion,  # noqa: F401
    layer_norm,  # noqa: F401
    layout,  # noqa: F401
    prepare,  # noqa: F401
    products,  # noqa: F401
    quantised,  # noqa: F401
    scales,  # noqa: F401
    side_by_side,  # noqa: F401
    squeezing,  # noqa: F401
    transposed,  # noqa: F401
)
from .draft import Draft, Node, PassError, Scalar, Value
from .matching import Any, Attribute, Constant, Either, Number, node, pattern
from .registry import DEFAULT_LEVEL, PassRecord, passes, register_pass, run_passes, unregister_pass

__all__ = [
    "DEFAULT_LEVEL", "Any", "Attribute", "Constant", "Draft", "Either", "Node", "Number", "PassError", "PassRecord",
    "Scalar", "Value", "node", "passes", "pattern", "register_pass", "run_passes", "unregister_pass",
]  # fmt: skip
