"""Compiling a training step's forward and backward pass over virtual devices, to read from it what it costs.

This runs in a process of its own (`worker.py`), which has as many virtual devices of a CPU as are wanted, whatever the
planning process computes on. Arrays are abstract: nothing is allocated, whatever their size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.aval import make_aval
from ...core.dtype import to_numpy_dtype
from ...core.place import CPU
from ...eager.backward.engine import gradients
from ...eager.tensor import Tensor
from ...graph.capture import number_of, placeholder
from ...graph.replay import replay_program
from ...ir import meshes
from ...ir.capture import Capturing
from ...ir.recorder import recording_gradients
from ...ir.tiers.lowering import lower_program
from ...ir.xla import started_jax
from ...ops.basic import sum as total
from ...ops.layout import constrain
from ...ops.recompute import recompute_call
from ..meshes.layouts import attributes_of
from ..meshes.mesh import ProcessMesh
from ..meshes.placement import Placement, Replicate, Shard
from .collectives import figures_of
from .cuts import pattern_of
from .pieces import Piece, Pieces
from .tracing import BATCH, PARAMETER, Source

# What is counted is decided before machine code is made, which takes most of the time and is never run.
_QUICKLY: dict[str, Any] = {"xla_backend_optimization_level": 0}
# As XLA orders instructions for GPUs; its usual order for CPUs widens all weights first.
_SPARINGLY = {"xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"}


@dataclass(frozen=True)
class Variant:
    """A step to be compiled: a mesh of `data` by `model` devices, how many units, and how values are cut."""

    data: int
    model: int
    units: int
    sequence: bool  # whether activations between units are cut along the sequence over the model's axis
    cuts: tuple[tuple[str, int], ...]  # parameters by name, and the dimension that the model's axis cuts
    recompute: bool = False  # whether units keep what they are given only, and compute the rest again
    sparing: bool = False  # whether XLA looks for the order of instructions that needs the least memory

    @property
    def devices(self) -> int:
        return self.data * self.model


class Step:
    """The step of one variant while it is recorded."""

    def __init__(self, pieces: Pieces, variant: Variant) -> None:
        self.pieces, self.variant = pieces, variant
        self.cuts = dict(variant.cuts)
        numbers = np.arange(variant.devices).reshape(variant.data, variant.model)
        self.mesh = ProcessMesh(numbers, ["dp", "mp"])
        self.inputs: list[tuple[Source, tuple[Any, ...]]] = []  # with their layouts
        self.parameters: list[tuple[Tensor, tuple[Any, ...]]] = []

    def layout(self, shape: Sequence[int], data: int | None = None, model: int | None = None) -> tuple[Any, ...]:
        placements: list[Placement] = [Replicate() if cut is None else Shard(cut) for cut in (data, model)]
        return attributes_of(shape, self.mesh, placements)

    def compiled(self) -> Any:
        """The executable of the loss and of gradients that are used up at once."""
        with Capturing(CPU) as segment, recording_gradients(True):
            self.segment = segment
            loss = self._forward()
            grads = gradients([loss], [tensor for tensor, _ in self.parameters])
            found = zip(grads, self.parameters, strict=True)
            used = [_used(constrain(grad, layout)) for grad, (_, layout) in found if grad is not None]
            numbers = [number_of(segment, one) for one in (loss, *used)]
            program = segment.program(tuple(numbers)).slice(tuple(numbers))
            scalars = list(segment.scalars)
            segment.updates()
        lowered, context = lower_program(program, self._abstract(), scalars, CPU)
        with context:
            return lowered.compile(compiler_options=_QUICKLY | (_SPARINGLY if self.variant.sparing else {}))

    def _abstract(self) -> list[Any]:
        jax = started_jax()
        several = self.variant.devices > 1
        return [
            jax.ShapeDtypeStruct(
                source.shape, to_numpy_dtype(source.dtype),
                sharding=meshes.sharding_of(*layout) if several else None,
            )
            for source, layout in self.inputs
        ]  # fmt: skip

    def _input(self, argument: int) -> Tensor:
        source = self.pieces.sources[~argument]
        data = 0 if source.role == BATCH else None
        model = self.cuts.get(pattern_of(self.pieces, argument)) if source.role == PARAMETER else None
        layout = self.layout(source.shape, data, model)
        aval = make_aval(source.shape, to_numpy_dtype(source.dtype), CPU)
        tensor = placeholder(self.segment, aval, stop_gradient=not source.trainable)
        self.inputs.append((source, layout))
        if source.trainable:
            self.parameters.append((tensor, layout))
        return tensor

    def _forward(self) -> Tensor:
        pieces = self.pieces
        self.known: dict[int, Tensor] = {}
        if pieces.first is not None:
            self.known.update(zip(pieces.first.results, self._run(pieces.first, {}), strict=True))
        results: list[Tensor] = []
        for _ in range(self.variant.units):
            assert pieces.unit is not None
            given: dict[int, Tensor] = {argument: self._input(argument) for argument in pieces.own}
            for argument, result in pieces.carried.items():
                entry = pieces.entries[argument]
                given[argument] = self._between(results[result] if results else self._value(entry))
            results = self._run(pieces.unit, given, self.variant.recompute)
        ended = {argument: self._between(results[result]) for argument, result in pieces.exits.items()}
        return self._run(pieces.last, ended)[0]

    def _value(self, number: int) -> Tensor:
        """A value that a piece before has made, or an input, made when it is first used."""
        if number not in self.known:
            self.known[number] = self._input(number)
        return self.known[number]

    def _run(self, piece: Piece, given: dict[int, Tensor], recompute: bool = False) -> list[Tensor]:
        inputs = [given[a] if a in given else self._value(a) for a in piece.arguments]
        if recompute:
            return recompute_call(
                lambda *tensors: replay_program(piece.program, tensors, piece.scalars), inputs, {}, True
            )
        return replay_program(piece.program, inputs, piece.scalars)

    def _between(self, x: Tensor) -> Tensor:
        """What goes from one unit to the next: cut over the data, and along the sequence if that is wanted."""
        shape = x._aval.shape
        if self.variant.devices == 1 or not shape or shape[0] != self.pieces.samples:
            return x
        cut = 1 if self.variant.sequence and len(shape) > 2 else None
        return constrain(x, self.layout(shape, 0, cut))


def _used(grad: Tensor) -> Tensor:
    """A number that all of a gradient goes into. Were gradients results, XLA would keep other values where they go in the
    end, and what it says of memory would not hold for gradients that are cut or dropped."""
    return total(grad * grad)


def measure(pieces: Pieces, variant: Variant) -> dict[str, Any]:
    """What XLA says of a variant, compiled for virtual devices, for each of them."""
    return figures_of(Step(pieces, variant).compiled())
