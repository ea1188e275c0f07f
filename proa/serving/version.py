"""One version of a model that is served: loaded, checked, warmed up, and run by its threads."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..eager.tensor import wrap
from ..inference import Config, Predictor, create_predictor
from ..inference.engines.agreement import difference
from ..inference.examples import made_up
from .imported import as_own
from .refusals import Kind, Refused
from .scheduler import Run, Scheduler, batch_sizes
from .settings import ModelSettings
from .signature import Signature, signature_of
from .statistics import Statistics

logger = logging.getLogger("proa.serving")


class BadModel(Exception):
    """The model cannot be served; the text says why."""


class Version:
    """A model that answers requests."""

    def __init__(self, name: str, version: str, path: str, settings: ModelSettings) -> None:
        self.name = name
        self.version = version
        self.path = path
        self.settings = settings
        self.notes: list[str] = []
        self.statistics = Statistics()
        with as_own(path) as (own, results):
            self._predictor = create_predictor(_config(own, settings))
        self.signature: Signature = signature_of(self._predictor, results)
        run = _runner(self._predictor)
        self.batched = self._warm_up(run)
        # A predictor serves any number of threads.
        runs = [run] * settings.instances
        self.scheduler = Scheduler(f"{name}/{version}", runs, settings, self.batched, self.statistics)

    # ---- before it is ready ------------------------------------------------------------------------------------------

    def _warm_up(self, run: Run) -> bool:
        """Compiles what requests will need, replays recorded results, and says whether rows may run together."""
        recorded = self._predictor._model.recorded
        for vector in recorded:
            if problem := _difference(run(vector.inputs), vector.outputs or []):
                raise BadModel(f"it does not give the results that were recorded when it was saved: {problem}")
        sample = recorded[0].inputs if recorded and not self.settings.warmup else self._made_up(run)
        if sample is None:
            return False
        rows = self.settings.max_batch_size > 1 and self.signature.has_rows
        if rows and (problem := self._rows_mix(run, sample)):
            self.notes.append(f"requests run one by one: {problem}")
            rows = False
        for size in batch_sizes(self.settings.max_batch_size) if rows else ():
            run([_rows(array, size) for array in sample])
        return rows

    def _made_up(self, run: Run) -> list[np.ndarray] | None:
        """Inputs that the model runs on: of the shapes that its settings give, or of likely ones."""
        problem = ""
        for vector in made_up(self._ports_to_try()):
            try:
                outputs = run(vector.inputs)
            except (ValueError, TypeError, IndexError, RuntimeError, ArithmeticError) as error:
                problem = problem or f"{type(error).__name__}: {str(error)[:300]}"
                continue
            _check_types(self.signature, outputs)
            return vector.inputs
        text = f"it does not run on made-up inputs ({problem})"
        if self.settings.warmup or not self._predictor._model.has_unknown_sizes:
            raise BadModel(text)
        self.notes.append(f"neither warmed up nor checked: {text}; give shapes under [warmup] in config.toml")
        return None

    def _ports_to_try(self) -> list[Any]:
        ports = self._predictor._model.inputs
        shapes = self.settings.warmup
        for name, shape in shapes.items():
            if not self.signature.input(name).fits(shape):
                taken = list(self.signature.input(name).shape)
                raise BadModel(f"warmup gives {name} the shape {shape}; the model takes {taken}")
        return [port._replace(shape=tuple(shapes.get(port.name, port.shape))) for port in ports]

    def _rows_mix(self, run: Run, inputs: Sequence[np.ndarray]) -> str:
        """Why rows must not run together: some result of a row is another one beside others. Empty if none is."""
        generator = np.random.default_rng(11)
        size = min(4, self.settings.max_batch_size)
        columns = [_different_rows(_rows(array, size), generator) for array in inputs]
        together = run(columns)
        for index, (port, result) in enumerate(zip(self.signature.outputs, together, strict=True)):
            if result.ndim == 0 or len(result) != size:
                return f"{port.name} has the shape {list(result.shape)} for {size} rows"
            if index == 0:
                apart = [run([column[row : row + 1] for column in columns]) for row in range(size)]
            each = np.concatenate([results[index] for results in apart])
            if problem := _difference([result], [each]):
                return f"the rows of {port.name} depend on each other ({problem})"
        return ""

    # ---- requests ----------------------------------------------------------------------------------------------------

    async def infer(self, arrays: list[np.ndarray], timeout: float | None = None) -> list[np.ndarray]:
        """The results, in the order of the signature."""
        limit = self.settings.timeout_ms / 1e3
        started = time.perf_counter()
        good = False
        try:
            results = await self.scheduler.run(arrays, limit if timeout is None else min(limit, timeout))
            good = True
            return results
        except (ValueError, TypeError, IndexError) as error:  # the predictor's words about inputs that do not suit it
            raise Refused(Kind.BAD_REQUEST, f"{self.name}: {error}") from None
        except Refused:
            raise
        except Exception as error:
            logger.exception("%s/%s: a request could not be answered", self.name, self.version)
            raise Refused(Kind.FAILED, f"{self.name}: {type(error).__name__}: {str(error)[:500]}") from None
        finally:
            self.statistics.answered(time.perf_counter() - started, good)

    def close(self) -> None:
        self.scheduler.close()


def _config(path: str, settings: ModelSettings) -> Config:
    config, device = Config(path), settings.device
    if settings.engine:
        config.set_engine(settings.engine)
    kind, _, number = device.partition(":")
    if kind in ("gpu", "cuda"):
        config.enable_use_gpu(256, int(number or 0))
        if not config.use_gpu():
            raise BadModel(f"there is no {device} here")
    elif device != "cpu":
        config.enable_custom_device(kind, int(number or 0))
    return config


def _runner(predictor: Predictor) -> Run:
    """Arrays in, arrays out."""

    def run(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        # Bytes of a request may lie anywhere; tensors need numbers at aligned addresses. Nobody changes them any more.
        tensors = [wrap(np.require(array, requirements=["A", "C"])) for array in arrays]
        return [np.asarray(tensor._data()) for tensor in predictor.run(tensors)]

    return run


def _rows(array: np.ndarray, size: int) -> np.ndarray:
    """That many rows, taken from the ones there are."""
    return (
        array[np.arange(size) % max(len(array), 1)] if len(array) else np.zeros((size, *array.shape[1:]), array.dtype)
    )


def _different_rows(rows: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Rows that are not alike, of the same kind of numbers: scaled, or, where numbers may be indices, turned around."""
    if rows.dtype.kind in "fV":
        return (rows * generator.uniform(0.5, 1.5, (len(rows),) + (1,) * (rows.ndim - 1))).astype(rows.dtype)
    return np.stack([np.roll(row, number, axis=-1) if row.ndim else row for number, row in enumerate(rows)])


def _difference(found: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> str:
    """How results differ by more than rounding explains; empty if they do not."""
    allowed = 2e-2 if any(array.dtype.itemsize == 2 for array in expected) else 1e-4
    worst = difference(found, expected)
    return f"the largest difference is {worst:.1e} of the largest number" if worst > allowed else ""


def _check_types(signature: Signature, outputs: Sequence[np.ndarray]) -> None:
    for port, array in zip(signature.outputs, outputs, strict=True):
        if array.dtype != port.dtype:
            raise BadModel(f"{port.name} is said to be {port.datatype}, but is {array.dtype}")
