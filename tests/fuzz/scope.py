"""The program under construction: its lines, the variables in reach, and random choices.

All statements are written through a `Scope`. Its `assign` is the one place where a result's
bounds are checked; a result that would grow out of them is multiplied by a small factor.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterable, Iterator

from .model import (
    DEPTH_LIMIT,
    GAIN_LIMIT,
    MAGNITUDE_LIMIT,
    NOISE_LIMIT,
    ROUNDING,
    SMALLEST_FACTOR,
    Index,
    Scalar,
    Storage,
    Variable,
)


class Scope:
    """State of the generator. Indentation and reach of names follow Python's blocks."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.lines: list[str] = []
        self.indentation = 0
        self.variables: list[Variable] = []
        self.scalars: list[Scalar] = []  # Python numbers that change while the program runs
        self.indices: list[Index] = []
        self.features: set[str] = set()
        self.dimensions: tuple[int, int, int] = (2, 3, 4)
        self.recording_gradients = True
        self.may_view = True
        self.may_mutate = True
        self.may_be_random = False
        self.may_mix_precision = False
        self.mixed_precision = False
        self.known: set[str] = set()  # names of differences from Paddle that the program may show
        self.label = ""  # distinguishes what several threads record
        self._counts: dict[str, int] = {}

    # Lines and blocks

    def emit(self, text: str) -> int:
        """Write one line; returns its number."""
        self.lines.append("    " * self.indentation + text)
        return len(self.lines)

    def feature(self, *names: str) -> None:
        self.features.update(names)

    def fresh(self, prefix: str) -> str:
        number = self._counts.get(prefix, 0)
        self._counts[prefix] = number + 1
        return f"{prefix}{number}"

    @contextlib.contextmanager
    def block(self, header: str, keep: bool = False) -> Iterator[None]:
        """An indented block; what it defines goes out of reach at its end unless `keep`."""
        self.emit(header)
        start = len(self.lines)
        reach = len(self.variables), len(self.scalars), len(self.indices)
        self.indentation += 1
        yield
        if len(self.lines) == start:
            self.emit("pass")
        self.indentation -= 1
        if not keep:
            self.forget(self.variables[reach[0] :])
            del self.scalars[reach[1] :]
            del self.indices[reach[2] :]

    @contextlib.contextmanager
    def without(self, *names: str) -> Iterator[None]:
        """Switch some of the `may_...` and `recording_gradients` permissions off for a while."""
        before = {name: getattr(self, name) for name in names}
        for name in names:
            setattr(self, name, False)
        yield
        for name, value in before.items():
            setattr(self, name, value)

    def forget(self, variables: Iterable[Variable]) -> None:
        for variable in list(variables):
            if variable in self.variables:
                self.variables.remove(variable)
            if variable in variable.storage.variables:
                variable.storage.variables.remove(variable)

    # Random choices

    def decide(self, probability: float) -> bool:
        return self.chance.random() < probability

    def pick(self, wanted: Callable[[Variable], bool] = lambda variable: True) -> Variable | None:
        """A variable in reach that fits, young ones more often than old ones."""
        found = [variable for variable in self.variables if wanted(variable)]
        if not found:
            return None
        weights = [1 + position for position in range(len(found))]
        return self.chance.choices(found, weights)[0]

    def pick_float(self, wanted: Callable[[Variable], bool] = lambda variable: True) -> Variable | None:
        """A float variable that further operations may still be built on."""
        return self.pick(lambda variable: variable.is_float and variable.depth < DEPTH_LIMIT and wanted(variable))

    def odd(self, low: float, high: float) -> float:
        """A number with five decimals that never lies on the grid of the inputs.

        Thresholds and offsets made of it keep comparisons away from ties.
        """
        value = round(self.chance.uniform(low, high), 3)
        return round(value + self.chance.choice((0.00037, 0.00043, 0.00057, 0.00061)), 5)

    def scalar(self, limit: float = 1.5) -> Scalar:
        """A Python number: a literal, or one that changes at each repetition."""
        fitting = [scalar for scalar in self.scalars if scalar.magnitude <= limit]
        if fitting and self.decide(0.6):
            self.feature("changing scalar")
            return self.chance.choice(fitting)
        value = round(self.chance.uniform(0.2, 1.0) * limit * self.chance.choice((-1, 1)), 2)
        return Scalar(str(value), abs(value))

    # Variables

    def bind(self, variable: Variable) -> Variable:
        self.variables.append(variable)
        return variable

    def literal(
        self,
        shape: tuple[int, ...],
        dtype: str = "float32",
        *,
        leaf: bool = False,
        low: float | None = None,
        high: float | None = None,
        prefix: str = "x",
    ) -> Variable:
        """Write a tensor with the numbers spelt out. Inputs lie on a grid of three decimals."""
        defaults = {"bool": (0, 1), "int64": (-4, 6)}.get(dtype, (-1.5, 1.5))
        low = defaults[0] if low is None else low
        high = defaults[1] if high is None else high

        def number() -> object:
            if dtype == "bool":
                return self.decide(0.5)
            if dtype == "int64":
                return self.chance.randint(int(low), int(high))
            return round(self.chance.uniform(low, high), 3)

        def nested(rest: tuple[int, ...]) -> object:
            return [nested(rest[1:]) for _ in range(rest[0])] if rest else number()

        name = self.fresh(prefix)
        gradient = ", stop_gradient=False" if leaf else ""
        self.emit(f"{name} = paddle.to_tensor(changing({nested(shape)}), dtype='{dtype}'{gradient})")
        storage = Storage(max(abs(low), abs(high)))
        return self.bind(Variable(name, shape, dtype, storage, differentiable=leaf, gain=1.0 if leaf else 0.0))

    def shrunk(self, variable: Variable, limit: float | None) -> tuple[str, float, float, float]:
        """Text, magnitude, noise and gain of the variable, multiplied down to a magnitude."""
        if limit is None or variable.magnitude <= limit:
            return variable.name, variable.magnitude, variable.noise, variable.gain
        factor = float(f"{limit / variable.magnitude:.2g}")
        magnitude = variable.magnitude * factor
        noise = variable.noise * factor + ROUNDING * magnitude
        return f"({variable.name} * {factor})", magnitude, noise, variable.gain * factor

    def assign(
        self,
        expression: str,
        shape: tuple[int, ...],
        operands: Iterable[Variable],
        *,
        dtype: str = "float32",
        magnitude: float = 1.0,
        noise: float = 0.0,
        gain: float | None = None,
        smooth: bool = True,
        saves: bool = True,
        rebind: Variable | None = None,
    ) -> Variable | None:
        """Write `name = expression` and take the result into reach, shrunk to within the limits.

        Returns None, having written nothing, where the result would have to shrink too much.
        `saves` says that the gradient of the operation may need its result again.
        """
        operands = list(operands)
        is_float = dtype in ("float32", "float64")
        gain = sum(operand.gain for operand in operands) if gain is None else gain
        if is_float:
            factor = min(
                1.0,
                MAGNITUDE_LIMIT / max(magnitude, 1e-9),
                NOISE_LIMIT / max(noise, 1e-9),
                GAIN_LIMIT / max(gain, 1e-9),
            )
            if factor < SMALLEST_FACTOR:
                return None
            if factor < 1.0:
                factor = float(f"{factor:.2g}")
                expression = f"({expression}) * {factor}"
                magnitude *= factor
                noise = noise * factor + ROUNDING * magnitude
                gain *= factor
                saves = False
        differentiable = is_float and self.recording_gradients and any(o.differentiable for o in operands)
        if differentiable:
            for operand in operands:
                operand.storage.saved = True
        storage = Storage(magnitude, noise, saved=differentiable and saves)
        variable = Variable(
            rebind.name if rebind else self.fresh("v"),
            shape,
            dtype,
            storage,
            differentiable=differentiable,
            leaf=not differentiable,
            smooth=smooth and all(operand.smooth for operand in operands),
            repeatable=all(operand.repeatable for operand in operands),
            gain=gain if differentiable else 0.0,
            depth=1 + max((operand.depth for operand in operands), default=0),
        )
        self.emit(f"{variable.name} = {expression}")
        if rebind:
            self.forget([rebind])
        return self.bind(variable)

    def alias(
        self,
        expression: str,
        base: Variable,
        shape: tuple[int, ...],
        *,
        contiguous: bool,
        whole: bool,
        certain: bool = True,
        smooth: bool = True,
        detached: bool = False,
    ) -> Variable:
        """Write `name = expression` for a result that looks at the memory of `base`.

        Where it is not `certain` that memory is shared, neither is changed in place any more.
        """
        differentiable = base.differentiable and self.recording_gradients and not detached
        variable = Variable(
            self.fresh("w"),
            shape,
            base.dtype,
            base.storage,
            contiguous=contiguous and base.contiguous,
            whole=whole and base.whole,
            view=True,
            differentiable=differentiable,
            leaf=not differentiable,
            smooth=smooth and base.smooth,
            repeatable=base.repeatable,
            gain=base.gain if differentiable else 0.0,
            depth=base.depth + 1,
        )
        if not certain:
            base.storage.frozen = True
        self.emit(f"{variable.name} = {expression}")
        return self.bind(variable)

    def bind_derived(
        self,
        name: str,
        base: Variable,
        storage: Storage,
        *,
        shape: tuple[int, ...] | None = None,
        gain: float | None = None,
        steps: int = 1,
        repeatable: bool = True,
    ) -> Variable:
        """Take a name into reach that was computed from `base` by statements written by hand."""
        differentiable = base.differentiable and self.recording_gradients
        base.storage.saved |= differentiable
        gain = base.gain if gain is None else gain
        return self.bind(
            Variable(
                name,
                base.shape if shape is None else shape,
                base.dtype,
                storage,
                differentiable=differentiable,
                leaf=not differentiable,
                smooth=False,
                repeatable=repeatable and base.repeatable,
                gain=gain if differentiable else 0.0,
                depth=base.depth + steps,
            )
        )

    def record(self, name: str, expression: str | None = None) -> None:
        self.emit(f'record("{self.label}{name}", {expression or name})')
