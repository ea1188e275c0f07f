"""What a plan costs: seconds a step and bytes a device, composed from what XLA says of one and two units.

All figures are those of one device. A step compiled with one and with two units differs by a unit; what is left of the first
is everything else. Arithmetic, activations and what tensor parallelism exchanges grow with the samples of a micro-batch;
what is exchanged for gradients and parameters, and the update, do not, and are counted here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from .collectives import Exchange
from .cuts import pattern_of
from .devices import Device
from .pieces import Pieces
from .tracing import PARAMETER

USABLE = 0.92  # of a device's memory: the rest is the runtime's, and what falls between buffers
FORWARD = 1 / 3  # of forward and backward pass together


@dataclass(frozen=True)
class Choice:
    """One way to train: how many devices share what, and what is given up for memory."""

    data: int = 1
    model: int = 1
    pipeline: int = 1
    stage: int = 0  # 1: optimiser states are cut over the data axis, 2: gradients too, 3: parameters too
    sequence: bool = False
    recompute: bool = False
    micro_batches: int = 1

    @property
    def devices(self) -> int:
        return self.data * self.model * self.pipeline

    def __str__(self) -> str:
        words = [
            f"{name} {ways}"
            for name, ways in (("data", self.data), ("model", self.model), ("pipeline", self.pipeline))
            if ways > 1
        ]
        words += [f"states cut, stage {self.stage}"] if self.stage else []
        words += ["sequence"] if self.sequence else []
        words += ["recompute"] if self.recompute else []
        words += [f"{self.micro_batches} micro-batches"] if self.micro_batches > 1 else []
        return ", ".join(words) or "one device"


@dataclass(frozen=True)
class Estimate:
    """What a choice is expected to take: seconds and bytes by what they go into."""

    choice: Choice
    seconds: dict[str, float]
    memory: dict[str, float]

    @property
    def total_seconds(self) -> float:
        return sum(self.seconds.values())

    @property
    def total_memory(self) -> float:
        return sum(self.memory.values())


@dataclass
class Figures:
    """What one device does for one unit, or for all that is no unit, with the samples that were traced."""

    flops: float = 0.0
    bytes: float = 0.0
    temporary: float = 0.0
    kernels: float = 0.0
    exchanges: list[Exchange] = field(default_factory=list)

    @classmethod
    def of(cls, found: dict[str, Any]) -> Figures:
        return cls(
            found["flops"], found["bytes"], found["temporary"], found["kernels"],
            [Exchange(*one) for one in found["exchanges"]],
        )  # fmt: skip

    def without(self, other: Figures) -> Figures:
        """What is here more than there. Exchanges of the other are taken away one by one."""
        left = list(self.exchanges)
        for exchange in other.exchanges:
            if exchange in left:
                left.remove(exchange)
        pairs = ((self.flops, other.flops), (self.bytes, other.bytes), (self.temporary, other.temporary))
        flops, size, temporary = (max(0.0, mine - its) for mine, its in pairs)
        return Figures(flops, size, temporary, max(0.0, self.kernels - other.kernels), left)


@dataclass
class Measured:
    """The figures of one way of tensor parallelism: of a unit and of the rest."""

    unit: Figures
    rest: Figures
    unit_weights: Weights
    rest_weights: Weights


@dataclass
class Weights:
    """Parameters of a unit or of the rest, in bytes and elements: those on one device, before data parallelism cuts them."""

    size: float = 0.0
    elements: float = 0.0
    trained: float = 0.0  # bytes of those that have gradients
    count: float = 0.0  # of those
    full: float = 0.0  # of those again: the ones that have no dimension left to cut

    def times(self, units: int, rest: Weights) -> Weights:
        """Those of some units and of the rest together."""
        return Weights(*(units * getattr(self, one.name) + getattr(rest, one.name) for one in fields(self)))


def weights_of(pieces: Pieces, cuts: dict[str, int], ways: int) -> tuple[Weights, Weights]:
    """The parameters of one unit, and those of the rest."""
    unit, rest = Weights(), Weights()
    in_units = tuple(name + "." for name in pieces.names)
    own = set(pieces.own)
    for position, source in enumerate(pieces.sources):
        if source.role != PARAMETER or (source.name.startswith(in_units) and ~position not in own):
            continue
        cut = cuts.get(pattern_of(pieces, ~position))
        part = ways if cut is not None and source.shape[cut] % ways == 0 else 1
        into = unit if ~position in own else rest
        into.size += source.size / part
        if source.trainable:
            into.trained += source.size / part
            into.count += 1
            into.elements += math.prod(source.shape) / part
            into.full += part > 1 and len(source.shape) == 1
    return unit, rest


class CostModel:
    """Estimates choices for one model on one kind of device."""

    def __init__(
        self, pieces: Pieces, device: Device, batch: int, dtype: str, optimizer: dict[str, Any],
        measured: Callable[[Choice], Measured], extra: tuple[Figures, Figures],
        kept: float,
    ) -> None:  # fmt: skip
        self.pieces, self.device, self.batch, self.optimizer = pieces, device, batch, optimizer
        self.flops = device.flops_of(dtype)
        self.measured = measured
        self.extra_unit, self.extra_rest = extra  # exchanged over the data's axis beside gradients
        self.carried = self._carried()
        self.kept = max(kept, self.carried)  # by a unit that is computed again

    def _carried(self) -> float:
        """Bytes that go from a unit to the next, for all samples that were traced."""
        unit = self.pieces.unit
        if unit is None:
            return 0.0
        shapes = [unit.program.inputs[unit.arguments.index(argument)] for argument in self.pieces.carried]
        return float(sum(aval.size * aval.dtype.itemsize for aval in shapes))

    def estimate(self, choice: Choice) -> Estimate:
        measured = self.measured(choice)
        units = math.ceil(self.pieces.count / choice.pipeline)
        scale = self.batch / (choice.data * choice.micro_batches) / self.pieces.samples
        weights = measured.unit_weights.times(units, measured.rest_weights)
        return Estimate(
            choice,
            self._seconds(choice, measured, units, scale, weights),
            self._memory(choice, measured, units, scale, weights),
        )

    # ---- time ------------------------------------------------------------------------------------------------------

    def _work(self, figures: Figures, weights: Weights, scale: float) -> float:
        """Seconds of arithmetic or of reading and writing, whichever is longer. Weights are read twice, and their gradients
        written, whatever the number of samples."""
        fixed = min(figures.bytes, 3 * weights.size)
        moved = fixed + (figures.bytes - fixed) * scale
        return (
            max(figures.flops * scale / self.flops, moved / self.device.bandwidth)
            + figures.kernels * self.device.launch
        )

    def _exchanged(self, figures: Figures, choice: Choice, scale: float) -> float:
        return sum(
            self.device.link(one.members * one.stride).seconds(one.kind, one.size * scale, one.members, one.tensors)
            for one in figures.exchanges
        )

    def _seconds(
        self, choice: Choice, measured: Measured, units: int, scale: float, weights: Weights
    ) -> dict[str, float]:
        again = 1 + FORWARD if choice.recompute else 1.0
        compute = units * self._work(measured.unit, measured.unit_weights, scale) * again
        compute += self._work(measured.rest, measured.rest_weights, scale)
        model = units * self._exchanged(measured.unit, choice, scale) * again
        model += self._exchanged(measured.rest, choice, scale)
        span = choice.data * choice.model
        over_data = self.device.link(span)
        if choice.data > 1:
            model += sum(
                times * over_data.seconds(one.kind, one.size * scale, choice.data, one.tensors)
                for figures, times in ((self.extra_unit, units), (self.extra_rest, 1))
                for one in figures.exchanges
            )
        seconds = {
            "compute": compute * choice.micro_batches, "model": model * choice.micro_batches,
            "data": self._data_seconds(choice, over_data, weights, compute * choice.micro_batches),
            "pipeline": self._pipeline_seconds(choice, compute + model, scale),
            "update": self._update_seconds(choice, weights),
        }  # fmt: skip
        return seconds

    def _data_seconds(self, choice: Choice, link: Any, weights: Weights, compute: float) -> float:
        """Gradients are reduced in each micro-batch: the partitioner knows nothing of the next one."""
        if choice.data < 2:
            return 0.0
        reduce = "reduce-scatter" if choice.stage >= 2 else "all-reduce"
        times = choice.micro_batches
        # Sums are put together into one; what is cut goes parameter by parameter, each with a latency of its own.
        count = max(1.0, weights.count)
        exposed = times * link.seconds(reduce, weights.trained, choice.data, count)
        if choice.stage == 3:
            gathers = (3 if choice.recompute else 2) * times
        else:
            gathers = 1 if choice.stage else 0
        exposed += gathers * count * link.seconds("all-gather", weights.trained / count, choice.data)
        if choice.stage:  # what both axes cut along one dimension goes to another device, and back
            exposed += 2 * weights.full * link.seconds("collective-permute", 0.0, 2)
        return max(exposed * (1 - self.device.overlap), exposed - compute * (1 - FORWARD) * self.device.overlap)

    def _pipeline_seconds(self, choice: Choice, seconds: float, scale: float) -> float:
        """Stages wait for the first micro-batch at the beginning and the last one at the end."""
        if choice.pipeline < 2:
            return 0.0
        link = self.device.link(choice.devices)
        moved = 2 * link.seconds(
            "collective-permute", self.carried * scale / (choice.model if choice.sequence else 1), 2
        )
        turns = choice.micro_batches + choice.pipeline - 1
        # Each stage is a program of its own. Stages that share cores do not wait for each other in vain.
        started = choice.pipeline * self.device.call + self.pieces.num_instructions * self.device.instruction
        waiting = 0.0 if self.device.shared else (choice.pipeline - 1) * seconds
        return waiting + turns * moved + choice.micro_batches * started

    def _update_seconds(self, choice: Choice, weights: Weights) -> float:
        states = self.optimizer["states"] + self.optimizer["master"]
        size = 2 * weights.trained + weights.trained + 8 * states * weights.elements
        return size / (choice.data if choice.stage else 1) / self.device.bandwidth + weights.count * self.device.launch

    # ---- memory ----------------------------------------------------------------------------------------------------

    def _memory(
        self, choice: Choice, measured: Measured, units: int, scale: float, weights: Weights
    ) -> dict[str, float]:
        cut = [choice.data if choice.stage >= stage else 1 for stage in (1, 2, 3)]
        states = 4 * (self.optimizer["states"] + self.optimizer["master"]) * weights.elements
        under_way = min(choice.pipeline, choice.micro_batches)
        kept = measured.unit.temporary
        if choice.recompute:
            kept = min(kept, self.kept / (choice.model if choice.sequence else 1))
        activations = units * kept * under_way + measured.rest.temporary
        if choice.recompute:
            activations += measured.unit.temporary
        gathered = 2 * measured.unit_weights.size if choice.stage == 3 else 0.0
        return {
            "parameters": weights.size / cut[2] + gathered, "gradients": weights.trained / cut[1],
            "states": states / cut[0], "activations": activations * scale,
        }  # fmt: skip

    def fits(self, estimate: Estimate, limit: float) -> bool:
        return estimate.total_memory <= USABLE * limit
