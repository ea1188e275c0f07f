"""Common subexpressions.

Invariant: two instructions become one only if they are the same pure operation with the same operands, attributes and
scalars; random operations and conditions never do.
"""

from __future__ import annotations

from typing import Any

from .draft import Draft, Node, Scalar
from .nature import is_pure
from .registry import register_pass


@register_pass(level=1, order=15)
def common_subexpressions(draft: Draft) -> int:
    """Computes once what is computed twice."""
    first: dict[Any, Node] = {}
    gone: list[Node] = []
    for node in draft.nodes:
        if not is_pure(node):
            continue
        known = first.setdefault(_key(node), node)
        if known is not node:
            for old, new in zip(node.outputs, known.outputs, strict=True):
                draft.replace(old, new)
            gone.append(node)
    draft.remove(gone)
    return len(gone)


def _key(node: Node) -> Any:
    operands = tuple(
        (o.kind, id(o.value) if o.is_live else repr(o.value)) if isinstance(o, Scalar) else None if o is None else id(o)
        for o in node.operands
    )
    # The text tells 1 from True and 0.0 from -0.0, which are equal for Python.
    return node.operation, operands, node.attributes, repr(node.attributes)
