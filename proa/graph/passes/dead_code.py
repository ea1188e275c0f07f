"""Dead code.

Invariant: results and updates are unchanged; an instruction that may raise or has an effect stays, with all it needs.
So does a random one: it takes numbers from the generator, as the code itself would.
"""

from __future__ import annotations

from ...ir.block import has_effect
from .draft import Draft, Node, Value
from .nature import is_random
from .registry import register_pass


@register_pass(level=1, order=5)
def dead_code(draft: Draft) -> int:
    """Takes out what no result depends on."""
    waiting: list[Node] = [node for node in draft.nodes if has_effect(node) or is_random(node)]
    waiting += [output.maker for output in draft.outputs if output.maker is not None]
    needed: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) not in needed:
            needed.add(id(node))
            waiting += [o.maker for o in node.operands if isinstance(o, Value) and o.maker is not None]
    gone = [node for node in draft.nodes if id(node) not in needed]
    draft.remove(reversed(gone))
    return len(gone)
