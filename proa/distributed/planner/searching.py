"""Looking for the best plan: which choices there are, what has to be compiled for them, and their order.

Only the ways of tensor parallelism differ in what XLA makes of them, so a handful of variants is compiled, of one and two
units each; every choice is composed from these, and all of them are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ...core.errors import runtime_error, type_error, value_error
from .collectives import Exchange
from .compiling import Variant
from .costs import USABLE, Choice, CostModel, Estimate, Figures, Measured, weights_of
from .cuts import ALTERNATE, COLUMNS, main_dtype, propose
from .devices import Device
from .pieces import Pieces, take_apart
from .tracing import Traced
from .worker import measured

_WIDEST = 16  # devices that share a layer, at most
# Units of the steps that are compiled with recomputation. In deeper steps XLA puts off some products for gradients, and
# keeps their operands, which two or three units do not show.
_RECOMPUTED = (4, 12)
_PATHS = ("data", "model", "pipeline", "stage", "sequence", "recompute", "micro_batches")


@dataclass
class Found:
    """What a search gives: estimates from the best to the worst, those that fit first, and what they were made of."""

    pieces: Pieces
    estimates: list[Estimate]
    fitting: int
    cuts: dict[int, dict[str, int]]  # by the ways of tensor parallelism
    notes: list[str] = field(default_factory=list)


def divisors(number: int) -> list[int]:
    return [way for way in range(1, number + 1) if number % way == 0]


def checked_wishes(wishes: dict[str, Any]) -> dict[str, Any]:
    """What the user has settled: `{"model": 4}` keeps the search to plans with that."""
    for name, value in wishes.items():
        if name not in _PATHS:
            raise value_error("auto_parallel", f"what can be settled is {list(_PATHS)}", f"fixed: {name}={value!r}")
        wanted = bool if name in ("sequence", "recompute") else int
        if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
            raise type_error("auto_parallel", f"fixed {name} is of type {wanted.__name__}", repr(value))
    return wishes


def choices(pieces: Pieces, devices: int, batch: int, machine: int, wishes: dict[str, Any]) -> Iterator[Choice]:
    """All plans that use all devices, divide the batch evenly and agree with what the user has settled."""
    for model in _model_ways(pieces, devices, machine):
        for pipeline in divisors(devices // model):
            if pipeline > max(1, pieces.count):
                continue
            data = devices // model // pipeline
            for micro_batches in _micro_batches(batch, data, pipeline):
                for stage in (0, 1, 2, 3) if data > 1 else (0,):
                    for sequence in (False, True) if model > 1 and _has_sequence(pieces, model) else (False,):
                        for recompute in (False, True) if pieces.count else (False,):
                            choice = Choice(data, model, pipeline, stage, sequence, recompute, micro_batches)
                            if all(getattr(choice, name) == value for name, value in wishes.items()):
                                yield choice


def _model_ways(pieces: Pieces, devices: int, machine: int) -> list[int]:
    return [
        ways for ways in divisors(devices) if ways <= min(_WIDEST, machine) and (ways == 1 or cuts_for(pieces, ways))
    ]


def _micro_batches(batch: int, data: int, pipeline: int) -> list[int]:
    """A pipeline wants at least as many micro-batches as it has stages, or it stands still."""
    if batch % data:
        return []
    most = batch // data
    counts = [count for count in divisors(most) if count & (count - 1) == 0 or count == most]
    return [count for count in counts if pipeline <= count <= 16 * pipeline]


def _has_sequence(pieces: Pieces, ways: int) -> bool:
    """Whether units hand on `[batch, sequence, features]` with a sequence that can be cut."""
    if pieces.unit is None:
        return False
    shapes = [pieces.unit.program.inputs[pieces.unit.arguments.index(a)].shape for a in pieces.carried]
    return any(len(s) == 3 and s[0] == pieces.samples and s[1] % ways == 0 and s[1] > 1 for s in shapes)


def cuts_for(pieces: Pieces, ways: int) -> dict[str, int]:
    """What tensor parallelism cuts: alternately by columns and rows; where the units have no such pair, columns."""
    found = propose(pieces, ways, ALTERNATE)
    in_units = any(name.startswith(pieces.prefix + ".*.") for name in found)
    return found if in_units or not pieces.count else propose(pieces, ways, COLUMNS)


class _Compiled:
    """The variants that a search needs, and what XLA says of them."""

    def __init__(self, pieces: Pieces, possible: list[Choice]) -> None:
        self.pieces = pieces
        wanted = {(choice.model, choice.sequence) for choice in possible}
        data = any(choice.data > 1 for choice in possible)
        recompute = any(choice.recompute for choice in possible)
        self.units = (1, 2) if pieces.count else (0,)
        self.cuts = {ways: cuts_for(pieces, ways) for ways in {1, *(model for model, _ in wanted)}}
        variants = [self.variant(1, model, sequence, n) for model, sequence in sorted(wanted) for n in self.units]
        self.has_data = data and pieces.samples % 2 == 0
        if self.has_data:
            variants += [self.variant(2, 1, False, n) for n in self.units]
        self.recomputed = [Variant(1, 1, n, False, (), True) for n in _RECOMPUTED] if recompute else []
        variants += self.recomputed
        self.known: dict[tuple[int, bool], Measured] = {}
        self.found = {variant: Figures.of(figures) for variant, figures in measured(pieces, variants).items()}

    def variant(self, data: int, model: int, sequence: bool, units: int) -> Variant:
        return Variant(data, model, units, sequence, tuple(sorted(self.cuts[model].items())))

    def split(self, data: int, model: int, sequence: bool) -> tuple[Figures, Figures]:
        """What a unit takes, and what all the rest does."""
        found = [self.found[self.variant(data, model, sequence, n)] for n in self.units]
        if len(found) == 1:
            return Figures(), found[0]
        unit = found[1].without(found[0])
        return unit, found[0].without(unit)

    def measured(self, choice: Choice) -> Measured:
        key = (choice.model, choice.sequence)
        if key not in self.known:
            weights = weights_of(self.pieces, self.cuts[choice.model], choice.model)
            self.known[key] = Measured(*self.split(1, *key), *weights)
        return self.known[key]

    def kept(self) -> float:
        """Bytes that a unit keeps for the backward pass if it is computed again there.

        One device is compiled: what units are given is not cut by tensor parallelism (but along the sequence).
        """
        fewer, more = (self.found[variant] for variant in self.recomputed) if self.recomputed else (Figures(),) * 2
        return max(0.0, more.temporary - fewer.temporary) / (_RECOMPUTED[1] - _RECOMPUTED[0])

    def extra(self) -> tuple[Figures, Figures]:
        """What is exchanged over the data's axis beside gradients: where code mixes samples, as batch norm does.

        Gradients are reduced in the shapes of parameters, so what is exchanged in the size of one is taken for its
        gradient.
        """
        if not self.has_data:
            return Figures(), Figures()
        sizes = {float(source.size) for source in self.pieces.sources if source.trainable}
        unit, rest = self.split(2, 1, False)
        for figures in (unit, rest):
            figures.exchanges = [one for one in figures.exchanges if not _is_gradient(one, sizes)]
        return unit, rest


def _is_gradient(exchange: Exchange, sizes: set[float]) -> bool:
    # Reductions of several gradients are done as one: whatever is at least as large as the smallest may be that.
    return exchange.kind == "all-reduce" and (exchange.size in sizes or exchange.size >= min(sizes, default=0.0))


def search(
    traced: Traced, devices: int, device: Device, memory: float, batch: int, wishes: dict[str, Any] | None = None
) -> Found:
    """All plans for a number of devices, best first."""
    pieces = take_apart(traced)
    wishes = checked_wishes(dict(wishes or {}))
    possible = list(choices(pieces, devices, batch, device.machine, wishes))
    if not possible:
        raise value_error(
            "auto_parallel",
            f"no plan divides a batch of {batch} among {devices} devices" + (f" with {wishes}" if wishes else ""),
            f"batch: {batch}, devices: {devices}", "choose a batch that is a multiple of the devices, or settle less",
        )  # fmt: skip
    compiled = _Compiled(pieces, possible)
    model = CostModel(
        pieces, device, batch, main_dtype(pieces), traced.optimizer, compiled.measured, compiled.extra(), compiled.kept()
    )  # fmt: skip
    estimates = [model.estimate(choice) for choice in possible]
    fitting = sorted((e for e in estimates if model.fits(e, memory)), key=_order)
    others = sorted((e for e in estimates if not model.fits(e, memory)), key=lambda e: e.total_memory)
    if not fitting:
        least = others[0]
        raise runtime_error(
            "auto_parallel", f"no plan fits: {device.name} has {memory / 1e9:.4g} GB, of which {USABLE:.0%} can be used",
            f"the smallest plan ({least.choice}) needs {least.total_memory / 1e9:.4g} GB on each of {devices} devices",
            "use more devices, devices with more memory, or a smaller batch",
        )  # fmt: skip
    return Found(pieces, [*fitting, *others], len(fitting), compiled.cuts, _notes(traced, pieces))


def _order(estimate: Estimate) -> tuple[Any, ...]:
    """Faster first; where two are equal to a thousandth, the simpler one."""
    choice = estimate.choice
    features = choice.stage + choice.sequence + choice.recompute + choice.micro_batches + 4 * choice.pipeline
    return float(f"{estimate.total_seconds:.3g}"), features, estimate.total_memory


def _notes(traced: Traced, pieces: Pieces) -> list[str]:
    notes = []
    if pieces.count:
        notes.append(f"{pieces.count} equal layers, {pieces.prefix}.*: one and two of them were compiled")
    else:
        notes.append("no repeated layers: the whole step was compiled; there is no pipeline and no recomputation")
    notes.append(f"optimiser {traced.optimizer['name']}: {traced.optimizer['states']} state(s) an element")
    return notes
