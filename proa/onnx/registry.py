"""The table of translators: for each primitive of ours, how it is said in ONNX's operators; or why it cannot be."""

from __future__ import annotations

from ..graph.written_programs import Translator, WrittenCall, registering
from .builder import Builder, Made


class Call(WrittenCall):
    """One instruction with its operands: `Made` values, Python numbers (dynamic scalars) or None."""

    made = Made

    def tensor(self, builder: Builder, position: int, dtype: str | None = None) -> Made:
        """An operand as a tensor, of this type if one is given."""
        found = super().tensor(builder, position, dtype)
        return found if dtype is None else builder.cast(found, dtype)


TRANSLATORS: dict[str, Translator] = {}
# Primitives that no ONNX operators can say, or that belong to training: why.
REASONS: dict[str, str] = {}
translates = registering(TRANSLATORS, "onnx")


def no_counterpart(reason: str, *names: str) -> None:
    """Says why primitives have no translator."""
    for name in names:
        if name in TRANSLATORS or name in REASONS:
            raise ValueError(f"(onnx) {name} has a translator or a reason already")
        REASONS[name] = reason
