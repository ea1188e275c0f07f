"""Chains of multiplications and additions by numbers.

Invariant: floating values differ by rounding alone. Sums are joined only where nothing cancels: `(x + 1e8) - 1e8` rounds on
purpose. Integers are left alone.
"""

from __future__ import annotations

from .draft import Draft, Node, Scalar, Value
from .registry import register_pass

_LARGEST = 1e30  # beyond, a product of factors might overflow where they one by one do not
Affine = tuple[float, float]


@register_pass(level=2, order=50)
def scales(draft: Draft) -> int:
    """Joins `a * x + b` with what follows it of the same kind; leaves out multiplication by 1."""
    changes = 0
    for node in list(draft.nodes):
        found = affine_of(node)
        if found is None:
            continue
        source, (factor, shift) = found
        if factor == 1.0 and shift == 0.0 and node.name != "add" and source.aval is node.output.aval:
            draft.replace(node.output, source)
            draft.remove([node])
            changes += 1
            continue
        inner = affine_of(source.maker) if source.maker is not None else None
        if inner is None or not draft.used_only_by(source, [node]):
            continue
        first, (inner_factor, inner_shift) = inner
        product = factor * inner_factor
        if factor * inner_shift * shift < 0 or not 1 / _LARGEST < abs(product) < _LARGEST:
            continue
        joined = _put(draft, node, first, product, factor * inner_shift + shift)
        draft.replace(node.output, joined)
        maker = source.maker
        draft.remove([node])
        if maker is not None:
            draft.remove([maker])
        changes += 1
    return changes


def affine_of(node: Node) -> tuple[Value, Affine] | None:
    """The tensor and the numbers if a node computes `factor * x + shift` in floating point."""
    if not node.operands or node.output.aval.dtype.name not in ("float32", "float64"):
        return None
    numbers = [o.value if isinstance(o, Scalar) and not o.is_live else None for o in node.operands]
    first, second = (*node.operands, None)[:2]
    if node.name in ("add", "multiply") and isinstance(first, Scalar):
        first, second, numbers = second, first, numbers[::-1]
    if not isinstance(first, Value) or first.aval is not node.output.aval:
        return None
    if node.name == "scale" and all(isinstance(n, (int, float)) for n in numbers[1:3]):
        factor, shift = float(numbers[1]), float(numbers[2])  # type: ignore[arg-type]
        return first, (factor, shift if node.attribute("bias_after_scale") else shift * factor)
    number = numbers[1] if len(numbers) == 2 and isinstance(second, Scalar) else None
    if not isinstance(number, (int, float)):
        return None
    if node.name in ("multiply", "times"):
        return first, (float(number), 0.0)
    if node.name == "divide" and number != 0:
        return first, (1.0 / float(number), 0.0)
    if node.name in ("add", "subtract"):
        return first, (1.0, float(number) if node.name == "add" else -float(number))
    return None


def _put(draft: Draft, before: Node, x: Value, factor: float, shift: float) -> Value:
    if shift == 0.0:
        return draft.add(before, "multiply", [x, Scalar(factor)]).output
    if factor == 1.0:
        return draft.add(before, "add", [x, Scalar(shift)]).output
    return draft.add(before, "scale", [x, Scalar(factor), Scalar(shift)], (True,)).output


__all__ = ["affine_of", "scales"]
