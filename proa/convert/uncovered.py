"""Operators that have no translator, with the places in the model that need them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Uncovered:
    """An operator and the name of the node that needs it."""

    operator: str
    place: str


class UncoveredOperators(NotImplementedError):
    """The model needs operators that nothing translates.

    Its `missing` names each of them and where it stands.

    Examples:
        >>> from proa.convert.uncovered import Uncovered
        >>> paddle.convert.UncoveredOperators("onnx", [Uncovered("Strange", "node_3")]).missing[0].operator
        'Strange'
    """

    def __init__(self, where: str, missing: list[Uncovered]) -> None:
        self.missing = missing
        places: dict[str, list[str]] = {}
        for entry in missing:
            places.setdefault(entry.operator, []).append(entry.place)
        lines = [f"{name} ({len(at)} times, first at {at[0]!r})" for name, at in sorted(places.items())]
        register = "proa.convert.onnx" if where == "onnx" else "proa.convert.torch"
        super().__init__(
            f"({where}) the model needs operators that have no translator: {'; '.join(lines)}. Write one and register it: "
            f"from {register} import reads; @reads({missing[0].operator!r})."
        )


__all__ = ["Uncovered", "UncoveredOperators"]
