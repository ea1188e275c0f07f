"""Names of Paddle's inner modules that nothing stands behind: they exist, and say what to use instead when they are used.

A name must be there for `import` and `hasattr` to go on as with Paddle; most programs never call what they import.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..eager.declare import PUBLIC

# By the beginning of the name, longest first: what a program should use.
_ADVICE = {
    "_C_ops": "it is an inner operator; call the public function, which checks its arguments and has a gradient",
    "_legacy_C_ops": "it is an inner operator; call the public function, which checks its arguments and has a gradient",
    "base.core": "it belongs to Paddle's C++ core, which this package does not have; use the public API",
    "base.core.pir": "programs are captured by paddle.jit.to_static or built by paddle.static here; use those",
    "base.dygraph": "use the public functions of paddle",
    "decomposition": "operations are broken down by the compiler here; nothing needs to be called",
    "distributed": "use a DataLoader in place of its datasets; see docs/differences.md",
    "framework": "use the public functions of paddle",
    "incubate.nn.functional": "use the layers and functions of paddle.nn",
    "jit.dy2static": "use paddle.jit.to_static",
    "jit.sot": "use paddle.jit.to_static",
    "pir": "programs are captured by paddle.jit.to_static or built by paddle.static here; use those",
    "quantization": "use paddle.quantization.QAT and PTQ with a QuantConfig, or paddle.nn.quant",
    "static.quantization": "passes over inner graphs have no counterpart; use paddle.quantization on the dynamic model",
    "utils.cpp_extension": "use paddle.utils.cpp_extension.load, see docs/custom_operations.md",
}


def missing_function(dotted: str) -> Callable[..., Any]:
    """A function of that name which raises when it is called."""

    def function(*arguments: Any, **named: Any) -> Any:
        raise NotImplementedError(_sentence(dotted))

    function.__name__ = function.__qualname__ = dotted.rpartition(".")[2]
    function.__module__ = f"paddle.{dotted}".rpartition(".")[0]
    function.__doc__ = f"Not there: {_sentence(dotted)}"
    return function


def missing_class(dotted: str) -> type:
    """A class of that name, good for `isinstance` and for subclasses, which raises when an object is made."""

    def __init__(self: Any, *arguments: Any, **named: Any) -> None:
        raise NotImplementedError(_sentence(dotted))

    module, _, name = f"paddle.{dotted}".rpartition(".")
    return type(name, (), {"__init__": __init__, "__module__": module, "__doc__": f"Not there: {_sentence(dotted)}"})


class MissingTable(dict[str, Any]):
    """A table of that name without entries: libraries list them when they are imported. Asking for one raises."""

    def __init__(self, dotted: str) -> None:
        super().__init__()
        self._dotted = dotted

    def _raise(self, *arguments: Any, **named: Any) -> Any:
        raise NotImplementedError(_sentence(self._dotted))

    __getitem__ = __contains__ = get = _raise  # type: ignore[assignment]


def _sentence(dotted: str) -> str:
    return f"(paddle.{dotted}) this inner part of Paddle has no counterpart here: {_advice(dotted)}."


def _advice(dotted: str) -> str:
    like = _public_like(dotted.rpartition(".")[2])
    if like:
        return f"use paddle.{like}"
    starts = [start for start in _ADVICE if dotted == start or dotted.startswith(f"{start}.")]
    return _ADVICE[max(starts, key=len)] if starts else "use the public API; docs/differences.md says what is missing"


def _public_like(name: str) -> str | None:
    """The public function that an inner one is behind: `matmul_grad` is behind the gradient of `paddle.matmul`."""
    plain = name.strip("_").removeprefix("c_").removesuffix("_grad")
    for room in ("", "nn.functional.", "vision.ops.", "linalg.", "incubate.nn.functional."):
        if f"{room}{plain}" in PUBLIC:
            grad = " and its gradient through backward()" if name.endswith("_grad") else ""
            return f"{room}{plain}{grad}"
    return None
