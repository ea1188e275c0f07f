"""The scope that `auto_cast` opens: which operands are cast before an operation is recorded.

A scope is a place in the trace tree (see `ir/trace.py`). It is asked only when an operation is recorded where it was never
seen behind the same calls; operands that need a cast go the careful way, which casts them with the ordinary `cast`.
So a repeated step costs nothing extra but its casts, which are part of the compiled program, and nothing is cut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from ..core.aval import Aval
from ..core.dtype import BFLOAT16, FLOAT16, FLOAT32
from ..core.symbols import plain
from ..ir.operation import OperandKind, Operation
from ..ir.program import Instruction
from ..ir.trace import Scope
from .amp_lists import canonical, name_of

# What is cast; float64 and everything else stays as it is.
_CAST = frozenset({FLOAT32, FLOAT16, BFLOAT16})
_MOST_ANSWERS = 20_000
_UNKNOWN: Any = object()
_LOW, _WIDE, _WIDEST, _NEVER, _BY_NAME = "low", "wide", "widest", "never", "by name"


class Autocast:
    """The settings of one `auto_cast`: immutable, and one object for equal settings (see `autocast_of`)."""

    __slots__ = ("_answers", "_verdicts", "black", "dtype", "level", "low", "use_promote", "white")

    def __init__(self, dtype: str, level: str, use_promote: bool, white: frozenset[str], black: frozenset[str]) -> None:
        self.dtype = dtype
        self.level = level
        self.use_promote = use_promote
        self.white = white
        self.black = black
        self.low = FLOAT16 if dtype == "float16" else BFLOAT16
        self._verdicts: dict[Operation, str] = {}
        self._answers: dict[Any, tuple[np.dtype | None, ...] | None] = {}

    def verdict(self, operation: Operation, kinds: Sequence[OperandKind], attributes: tuple[Any, ...]) -> str:
        """What the operation is computed in: the low type, float32, or the widest type among its operands."""
        found = self._verdicts.get(operation)
        if found is None:
            found = self._verdicts[operation] = self._judge(operation)
        return self._judge_name(name_of(operation, kinds, attributes)) if found is _BY_NAME else found

    def _judge(self, operation: Operation) -> str:
        traits = operation.traits
        if operation.gradient is None or traits.amp == "never":
            return _NEVER
        if traits.amp == "wide":
            return _WIDE
        name = traits.paddle_name or operation.name
        if not isinstance(name, str):
            return _BY_NAME
        return _LOW if traits.amp == "low" and name not in self.black else self._judge_name(name)

    def _judge_name(self, name: str) -> str:
        if name in self.white:
            return _LOW
        if name in self.black or self.level == "OD":
            return _WIDE
        return _LOW if self.level == "O2" and not self.use_promote else _WIDEST

    def casts(
        self, operation: Operation, kinds: Sequence[OperandKind], attributes: tuple[Any, ...]
    ) -> tuple[np.dtype | None, ...] | None:
        """See `Scope.casts`."""
        # Casts do not depend on sizes; a table that compares unknown ones with numbers would fix them.
        attributes = plain(attributes)
        kinds = [
            kind.with_shape(plain(kind.shape)) if isinstance(kind, Aval) and kind.symbolic else kind for kind in kinds
        ]
        key = (operation, tuple(kinds), attributes)
        answer = self._answers.get(key, _UNKNOWN)
        if answer is _UNKNOWN:
            if len(self._answers) >= _MOST_ANSWERS:
                self._answers.clear()
            answer = self._answers[key] = self._decide(operation, kinds, attributes)
        return cast("tuple[np.dtype | None, ...] | None", answer)

    def common_casts(self, name: str, avals: Sequence[Aval], wide: bool = False) -> list[np.dtype | None]:
        """See `Scope.common_casts`."""
        return self._targets(_WIDE if wide else self._judge_name(name), avals)

    def _decide(
        self, operation: Operation, kinds: Sequence[OperandKind], attributes: tuple[Any, ...]
    ) -> tuple[np.dtype | None, ...] | None:
        verdict = self.verdict(operation, kinds, attributes)
        if verdict is _NEVER:
            return None
        kept = operation.traits.amp_keeps
        if kept:
            positions = kept if isinstance(kept, tuple) else kept(kinds, attributes)
            kinds = [None if position in positions else kind for position, kind in enumerate(kinds)]
        targets = self._targets(verdict, kinds)
        return tuple(targets) if any(dtype is not None for dtype in targets) else None

    def _targets(self, verdict: str, kinds: Sequence[OperandKind]) -> list[np.dtype | None]:
        """For each operand the dtype that the verdict casts it to."""
        found = [kind.dtype if isinstance(kind, Aval) and kind.dtype in _CAST else None for kind in kinds]
        target = self.low if verdict is _LOW else FLOAT32
        if verdict is _WIDEST and len({dtype for dtype in found if dtype is not None}) < 2:
            return [None] * len(found)
        # The widest of two types is float32, for float16 beside bfloat16 as well.
        return [None if dtype is None or dtype == target else target for dtype in found]


class AmpScope(Scope):
    """Casts, and somebody who counts operations (`amp.debugging`); either may be missing."""

    __slots__ = ("autocast", "observe")

    def __init__(self, autocast: Autocast | None, observe: Callable[[Instruction], None] | None) -> None:
        self.autocast = autocast
        self.observe = observe

    def casts(
        self, operation: Operation, kinds: Sequence[OperandKind], attributes: tuple[Any, ...]
    ) -> tuple[Any, ...] | None:
        return None if self.autocast is None else self.autocast.casts(operation, kinds, attributes)

    def common_casts(self, name: str, avals: Sequence[Aval], wide: bool = False) -> Sequence[Any]:
        return [None] * len(avals) if self.autocast is None else self.autocast.common_casts(name, avals, wide)

    def without_casts(self) -> Scope | None:
        return scope_of(None, self.observe)


_MOST_KEPT = 256
_AUTOCASTS: dict[Any, Autocast] = {}
_SCOPES: dict[Any, AmpScope] = {}


def autocast_of(dtype: str, level: str, use_promote: bool, white: frozenset[str], black: frozenset[str]) -> Autocast:
    """The settings with these values; the lists as the user and Paddle name operators."""
    key = (dtype, level, use_promote, white, black)
    found = _AUTOCASTS.get(key)
    if found is None:
        names = (frozenset(map(canonical, chosen)) for chosen in (white, black))
        if len(_AUTOCASTS) >= _MOST_KEPT:
            _AUTOCASTS.clear()
        found = _AUTOCASTS[key] = Autocast(dtype, level, use_promote, *names)
    return found


def scope_of(autocast: Autocast | None, observe: Callable[[Instruction], None] | None) -> AmpScope | None:
    """The scope with these contents, always the same object for the same ones; None for none."""
    if autocast is None and observe is None:
        return None
    key = (autocast, observe)
    found = _SCOPES.get(key)
    if found is None:
        if len(_SCOPES) >= _MOST_KEPT:
            _SCOPES.clear()
        found = _SCOPES[key] = AmpScope(autocast, observe)
    return found
