"""What a training script would train: it runs until its first backward pass, and is stopped there.

Until the model is called the script runs as always (it reads its arguments and its data), but for parameters, which get no
numbers. From the first call of a layer on everything is captured and nothing is computed, so a model that would fit into no
memory here can be planned for. At `backward()` all that is wanted is known, and the script ends.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

from ...core.errors import runtime_error
from ...eager.backward import engine
from ...eager.tensor import Tensor
from ...ir.capture import CaptureError, Capturing
from ...ir.observing import RUNTIME, Observer
from ...nn.base.lazy_init import LazyGuard
from ...nn.layer import Layer
from .tracing import LayerNotes, Traced, finish, without_numbers


class Reached(BaseException):
    """Ends a script at its first backward pass. No `except Exception` of the script stops it."""


class _FirstStep(Observer):
    """Opens a capture when a layer is first called; at the first backward pass takes what it holds."""

    def __init__(self) -> None:
        self.surroundings = contextlib.ExitStack()
        self.notes: LayerNotes | None = None
        self.depth = 0
        self.result: Traced | None = None

    def layer_entered(self, path: str, layer: Any) -> None:
        self.depth += 1
        if self.notes is None:
            self.model: Layer = layer
            self.surroundings.enter_context(without_numbers(layer))
            self.segment = self.surroundings.enter_context(Capturing())
            self.notes = LayerNotes(layer)
        elif self.depth == 1 and layer is not self.model and any(True for _ in layer.parameters()):
            raise runtime_error(
                "proa plan", "the training step calls several models, one after another",
                f"{type(self.model).__name__} and {type(layer).__name__}",
                "put them into one Layer that calls both, or use dist.auto_parallel",
            )  # fmt: skip
        self.notes.layer_entered(path, layer)

    def layer_left(self, path: str, layer: Any, begin: int, end: int) -> None:
        self.depth -= 1
        if self.notes is not None and self.notes.open:
            self.notes.layer_left(path, layer, begin, end)

    def phase_entered(self, name: str) -> None:
        if name != "backward" or self.notes is None:
            return
        loss, optimizer = _from_callers(sys._getframe())
        own = {id(tensor) for tensor in (*self.model.parameters(), *self.model.buffers())}
        given = [tensor for tensor in self.segment.inputs if id(tensor) not in own and tensor._aval.shape]
        batch = {id(tensor) for tensor in _like(given)}
        self.result = finish(self.segment, loss, self.model, batch, self.notes, optimizer)
        raise Reached

    def close(self) -> None:
        if self.notes is not None:
            self.segment.updates()
        self.surroundings.close()


def _like(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Those with as many rows as the first: the parts of a batch."""
    return [one for one in tensors if one._aval.shape[0] == tensors[0]._aval.shape[0]] if tensors else []


def _from_callers(frame: types.FrameType | None) -> tuple[Any, Any]:
    """The loss that a backward pass was asked for, and the optimiser that the code around it knows."""
    loss = optimizer = None
    while frame is not None:
        if frame.f_code is engine.backward.__code__:
            loss = frame.f_locals["tensors"][0]
        elif loss is not None and optimizer is None:
            optimizer = next(_optimizers(frame), None)
        frame = frame.f_back
    return loss, optimizer


def _optimizers(frame: types.FrameType) -> Iterator[Any]:
    """Optimisers among the variables of a frame, and among the attributes of these."""
    variables = [*frame.f_locals.values(), *frame.f_globals.values()]
    for value in variables:
        if hasattr(type(value), "_accumulator_names"):
            yield value
    for value in variables:
        if not isinstance(value, (type, types.ModuleType)) and hasattr(value, "__dict__"):
            yield from (inner for inner in vars(value).values() if hasattr(type(inner), "_accumulator_names"))


def trace_script(path: str, arguments: Sequence[str] = ()) -> Traced:
    """The forward pass of a script's first training step."""
    if not os.path.isfile(path):
        raise FileNotFoundError(f"(proa plan) there is no script {path!r}")
    observer = _FirstStep()
    before = sys.argv, sys.path[:]
    sys.argv = [path, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    RUNTIME.attach(observer)
    try:
        with LazyGuard():
            runpy.run_path(path, run_name="__main__")
    except Reached:
        pass
    except CaptureError as error:
        raise runtime_error(
            "proa plan", "the script looks at a value before its first backward()", str(error),
            "print and log behind the step, or plan with dist.auto_parallel",
        ) from error  # fmt: skip
    finally:
        RUNTIME.detach(observer)
        observer.close()
        sys.argv, sys.path[:] = before
    if observer.result is None:
        raise runtime_error(
            "proa plan", "the script ended before a first backward()", path, "plan a script that trains"
        )
    return observer.result
