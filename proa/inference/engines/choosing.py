"""`engine="auto"`: the candidates are run on the model's own vectors, compared with ours, timed, and the quickest is taken.

What was chosen is kept in the cache folder, by the content of the model, versions, processor, threads and precision, so
that it is measured once for a machine. Engines that are not installed, cannot take the model or give other results are
left out, and `explain()` says why.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ...core.waiting import waiting
from ...eager.tensor import Tensor
from ...ir.tiers import cache
from ...ir.tiers.lowering import give_back_freed_memory
from ...ir.xla import cache_folder
from ...kernels.cpu.compiled import num_cores, processor
from ...version import proa_version
from ..examples import Vector, made_up
from ..models import Model
from . import KINDS, make_engine
from .agreement import agreeing, arrays_of, described, reference_of, tensors_of
from .base import Engine, Settings, Unavailable
from .foreign import ForeignEngine

_FORMAT = 4
_MOST_VECTORS = 2
_LEAST_ROUNDS, _ROUNDS, _SECONDS = 3, 8, 1.5  # of timing: as many rounds as fit into the seconds for each candidate
_RUNS = 3  # in a round
_BUSY = 2.0  # processes for each core from which on times say little: one is our own
_CLEARLY = 0.99  # another engine has to be that much quicker than ours, which is loaded anyway
_PACKAGES = ("jax", "jaxlib", "numpy", "onnx", "onnxruntime", "openvino")


@dataclass
class Candidate:
    """What is known of an engine: how long it takes (in seconds, for each vector), or why it is left out."""

    name: str
    seconds: list[float] = field(default_factory=list)
    difference: float = 0.0
    reason: str = ""


@dataclass
class Choice:
    """An engine's name, and how it was found."""

    name: str
    candidates: list[Candidate]
    shapes: list[list[list[int]]]
    vectors: str  # where they come from
    precision: str = "float32"
    load: float = 0.0  # processes that wanted a core meanwhile, for each core
    remembered: bool = False  # by an earlier process

    def described(self) -> list[str]:
        """Lines for `explain()`."""
        sizes = "; ".join(", ".join(str(shape) for shape in run) for run in self.shapes)
        when = "measured by an earlier process, kept in the cache folder" if self.remembered else "measured now"
        lines = [f"chosen by measurement ({when}) on {self.vectors}: {sizes}"]
        if self.load > _BUSY:
            lines.append(f"  the machine was busy ({self.load:.1f} processes for each core): times may be far off")
        for one in self.candidates:
            if one.reason:
                lines.append(f"  {one.name:12} left out: {one.reason}")
                continue
            times = ", ".join(f"{1e3 * seconds:.3f} ms" for seconds in one.seconds)
            mark = "chosen" if one.name == self.name else "slower"
            results = f"; results {described(one.difference, self.precision)}" if one.difference else ""
            lines.append(f"  {one.name:12} {times}  {mark}{results}")
        return lines


def choose(model: Model, settings: Settings, given: Sequence[Vector]) -> tuple[Engine, Choice]:
    """The best engine for a model, ready to run, and why it is the best."""
    path = _path(model, settings, given)
    known = _read(path)
    if known is not None and (
        known.load <= _BUSY or _load() > _BUSY
    ):  # what a busy machine chose waits for a quiet one
        with suppress(Unavailable):  # what was there then may be gone
            return _ready(known, model, settings, given), known
    with waiting("measuring engines for a model", "some seconds, once"):
        engine, choice = _measure(model, settings, given)
    give_back_freed_memory()  # the others had the model in memory as well
    try:
        cache.write(path, cache.sealed(json.dumps({"format": _FORMAT, **asdict(choice)}).encode()))
    except OSError as error:
        cache.tell_unusable(path.parent, error, "engines are measured again by the next process")
    return engine, choice


# ---- measuring ---------------------------------------------------------------------------------------------------


def _measure(model: Model, settings: Settings, given: Sequence[Vector]) -> tuple[Engine, Choice]:
    ours = make_engine("xla", model, settings)
    vectors, source = _vectors(model, ours, given)
    candidates = [Candidate(name) for name in KINDS]
    engines: dict[str, Engine] = {"xla": ours}
    reference = reference_of(model, settings, ours, vectors)
    candidates[0].difference = reference.ours
    for one in candidates[1:]:
        try:
            engines[one.name], one.difference = agreeing(one.name, model, settings, reference)
        except Unavailable as error:
            one.reason = str(error)
    if not vectors:
        candidates = [Candidate("xla"), *(Candidate(c.name, reason=source) for c in candidates[1:])]
        return ours, Choice("xla", candidates, [], "no inputs", settings.precision)
    for vector in vectors:
        times = _times(engines, tensors_of(vector))
        for one in candidates:
            if one.name in times:
                one.seconds.append(times[one.name])
    best = _best([one for one in candidates if not one.reason])
    shapes = [[list(array.shape) for array in vector.inputs] for vector in vectors]
    return engines[best], Choice(best, candidates, shapes, source, settings.precision, _load())


def _vectors(model: Model, ours: Engine, given: Sequence[Vector]) -> tuple[list[Vector], str]:
    """Vectors that our own engine can run."""
    if given:
        return list(given[:_MOST_VECTORS]), "the Config's examples"
    if model.recorded:
        return list(model.recorded[:_MOST_VECTORS]), "the vectors recorded in the file"
    problem = ""
    for vector in made_up(model.inputs):
        try:
            ours.run(tensors_of(vector))
            return [vector], "made-up inputs"
        except Exception as error:  # they need not make sense to a model
            problem = problem or " ".join(str(error).split())[:200]
    return [], f"made-up inputs do not suit the model ({problem}); give Config.set_engine examples"


def _times(engines: dict[str, Engine], tensors: list[Tensor]) -> dict[str, float]:
    """The best time of each engine. They take turns, so that a busy moment meets all of them; the first run of a turn is
    not counted, because the threads of the engine before may still be looking for work."""
    best = dict.fromkeys(engines, float("inf"))
    started = time.perf_counter()
    for number in range(_ROUNDS):
        for name, engine in engines.items():
            arrays_of(engine.run(tensors))
            for _ in range(_RUNS):
                before = time.perf_counter()
                arrays_of(engine.run(tensors))
                best[name] = min(best[name], time.perf_counter() - before)
        if number >= _LEAST_ROUNDS - 1 and time.perf_counter() - started > _SECONDS * len(engines):
            break
    return best


def _load() -> float:
    """Processes that want a core, for each core, over the last minute; 0 where the system does not tell."""
    try:
        return round(os.getloadavg()[0] / num_cores(), 2)
    except (OSError, AttributeError):
        return 0.0


def _best(candidates: list[Candidate]) -> str:
    ours = candidates[0]
    quickest = min(candidates, key=lambda one: sum(one.seconds))
    return quickest.name if sum(quickest.seconds) < _CLEARLY * sum(ours.seconds) else ours.name


# ---- remembering -------------------------------------------------------------------------------------------------


def _path(model: Model, settings: Settings, given: Sequence[Vector]) -> Any:
    facts = {
        "model": model.digest(), "proa": proa_version, "settings": asdict(settings), "place": str(model.place),
        "versions": {name: _version(name) for name in _PACKAGES}, "machine": platform.machine(),
        "processor": processor().get("model name", ""), "cores": num_cores(),
        "examples": [[(list(array.shape), array.dtype.name) for array in vector.inputs] for vector in given],
    }  # fmt: skip
    name = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:40]
    return cache_folder() / "engines" / f"{name}.json"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _read(path: Any) -> Choice | None:
    """What an earlier process chose; None where nothing intact is there."""
    try:
        content = cache.unsealed(path.read_bytes())
        found = json.loads(content) if content is not None else {}
        if found.pop("format", None) != _FORMAT or found["name"] not in KINDS:
            return None
        candidates = [Candidate(**one) for one in found.pop("candidates")]
        return Choice(**{**found, "candidates": candidates, "remembered": True})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _ready(known: Choice, model: Model, settings: Settings, given: Sequence[Vector]) -> Engine:
    engine = make_engine(known.name, model, settings)
    if isinstance(engine, ForeignEngine):
        vectors = [*given, *model.recorded, *made_up(model.inputs)]
        suiting = [v for v in vectors if [list(array.shape) for array in v.inputs] == known.shapes[0]]
        if not suiting:
            raise Unavailable("the inputs that it was measured on cannot be made again")
        engine.prepare(tensors_of(suiting[0]))
    return engine


__all__ = ["Candidate", "Choice", "choose"]
