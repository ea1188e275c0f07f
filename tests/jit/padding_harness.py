"""Runs captured programs with longer inputs than they need, and compares with the sizes themselves.

The reference is the same program for the real sizes, run operation by operation on NumPy. The surplus of the inputs holds
garbage: NaN, infinities and huge numbers; integers that are no index and no label.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import proa as paddle
from proa.graph.capture import capture
from proa.ir.padding import Plan, padded_program, plan_padding
from proa.ir.tiers.interpreter import run_on_numpy
from proa.ir.tiers.lowering import CompiledProgram
from proa.ir.watch import watch_results
from proa.static import InputSpec

_GARBAGE = np.array([np.nan, np.inf, -np.inf, 1e30, -7e20, 3.5])


class Padded:
    """A function captured with unknown sizes. An input is its shape, with letters for sizes that are not known ("bt6"), and
    a kind of data: "f" numbers, "p" numbers that need no gradient, an integer for numbers below it."""

    def __init__(
        self, function: Callable[..., Any], inputs: Sequence[tuple[str, Any]], examples: dict[str, int]
    ) -> None:
        self.inputs = inputs
        specs = [
            InputSpec(
                [None if letter.isalpha() else int(letter) for letter in shape],
                "float32" if isinstance(kind, str) else "int64",
                stop_gradient=kind != "f",
            )
            for shape, kind in inputs
        ]
        self.graph = capture(function, specs, examples=[self._shape(shape, examples) for shape, _ in inputs])
        self.plan: Plan = plan_padding(self.graph.program, [given.aval for given in self.graph.inputs])
        self._letters = {}
        for (shape, _), given in zip(inputs, self.graph.inputs, strict=True):
            for letter, size in zip(shape, given.aval.shape, strict=True):
                if letter.isalpha():
                    self._letters[size.expression.symbol] = letter

    @staticmethod
    def _shape(shape: str, sizes: dict[str, int]) -> tuple[int, ...]:
        return tuple(sizes[letter] if letter.isalpha() else int(letter) for letter in shape)

    @classmethod
    def example(cls, kind: Any, shape: str, sizes: dict[str, int]) -> np.ndarray:
        """Data for an input."""
        return cls._data(np.random.default_rng(99), kind, cls._shape(shape, sizes))

    @property
    def padded(self) -> str:
        """The letters of the sizes that may be padded."""
        return "".join(sorted({self._letters[symbol] for symbol in self.plan.sizes}))

    def check(
        self,
        sizes: dict[str, int],
        bucket: dict[str, int],
        seed: int = 0,
        compiled: bool = False,
        tolerance: float = 2e-5,
    ) -> None:
        """Results for data of these sizes, laid into a bucket, are those without one."""
        rng = np.random.default_rng(seed)
        data = [self._data(rng, kind, self._shape(shape, sizes)) for shape, kind in self.inputs]
        program, scalars, held = self.graph.specialised([paddle.to_tensor(array) for array in data])
        exact = run_on_numpy(program, [*data, *held], list(scalars), watch_results(False))
        expected = [exact[number] for number in program.outputs]
        found = self.run(data, sizes, bucket, compiled)
        assert len(found) == len(expected)
        for number, (part, other) in enumerate(zip(found, expected, strict=True)):
            assert (part.shape, part.dtype) == (np.shape(other), np.asarray(other).dtype)
            scale = max(1.0, float(np.max(np.abs(other), initial=0, where=np.isfinite(other))))
            np.testing.assert_allclose(part, other, rtol=tolerance, atol=tolerance * scale, err_msg=f"result {number}")

    def run(self, data: list[Any], sizes: dict[str, int], bucket: dict[str, int], compiled: bool = False) -> list[Any]:
        """Results for data of these sizes, laid into a bucket, without their surplus."""
        rng = np.random.default_rng(len(data))
        real = {symbol: sizes[letter] for symbol, letter in self._letters.items()}
        longer = {s: bucket[letter] if s in self.plan.classes else sizes[letter] for s, letter in self._letters.items()}
        assert self.plan.holds_for(real)
        assert self.plan.holds_for(longer)
        values = []
        for number, array in enumerate(data):
            whole = self._garbage(rng, array.dtype, self.plan.input_shape(number, longer))
            whole[tuple(slice(0, n) for n in array.shape)] = array
            values.append(whole)
        exact, scalars, held = self.graph.specialised([paddle.to_tensor(array) for array in data])
        avals = [g.aval.with_shape(v.shape) for g, v in zip(self.graph.inputs, values, strict=True)]
        program = padded_program(self.graph.program, self.plan, [*avals, *(t._aval for t in self.graph.captured)])
        given = [*values, *held, *(np.asarray(real[symbol], np.int32) for symbol in self.plan.sizes)]
        if compiled:
            results = CompiledProgram(program, given, scalars, self.graph.place, (), False)(given, scalars)
            if len(results) > len(program.outputs):
                assert np.asarray(results[-1]).all()  # no check has failed
            results = results[: len(program.outputs)]
        else:
            outcome = run_on_numpy(program, given, list(scalars), watch_results(False))
            results = [outcome[number] for number in program.outputs]
        shapes = {n: aval.shape for i in exact.instructions for n, aval in zip(i.made, i.outputs, strict=True)}
        parts = [tuple([slice(0, size) for size in shapes[number]]) for number in exact.outputs]
        return [np.asarray(value)[part] for value, part in zip(results, parts, strict=True)]

    @staticmethod
    def _data(rng: Any, kind: Any, shape: tuple[int, ...]) -> np.ndarray:
        if isinstance(kind, str):
            return rng.standard_normal(shape).astype("float32")
        return rng.integers(0, kind, shape)

    @staticmethod
    def _garbage(rng: Any, dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
        if np.dtype(dtype).kind == "f":
            return rng.choice(_GARBAGE, shape).astype(dtype)
        return rng.choice(np.array([-(10**9), -1, 7, 10**6, 2**40]), shape)


def with_gradients(function: Callable[..., Any], *parameters: Any) -> Callable[..., Any]:
    """What a function gives, and the gradients of a smooth sum of that in its inputs and in parameters."""

    def run(*tensors: Any) -> Any:
        results = function(*tensors)
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        wanted = [t for t in (*tensors, *parameters) if not t.stop_gradient]
        total = sum((r.cos() * 0.7 + r * 0.3).sum() for r in results if "float" in str(r.dtype) and not r.stop_gradient)
        if isinstance(total, int) or not wanted:
            return results
        grads = paddle.grad(total, wanted, allow_unused=True)
        return results, [g for g in grads if g is not None]

    return run


__all__ = ["Padded", "with_gradients"]
