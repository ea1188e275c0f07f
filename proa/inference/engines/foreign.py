"""What the engines of others have in common: they get the model as ONNX, and what they cannot take is left to ours.

A session for one shape alone is quicker than one for all: they plan memory and choose kernels for known sizes (up to a
quarter, measured). So the first shape gets one, and others that come often, a few at most (`kept.py`); all other shapes
share sessions for unknown sizes. A model may go different ways for different sizes (`if n > 1`), and ONNX says one of them:
there is such a session for each way, when sizes come that need it, and the graph behind it knows for which sizes it holds.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.elsewhere import from_elsewhere
from ...core.errors import warn
from ...core.locks import new_lock
from ...core.place import CPU
from ...eager.tensor import Tensor, wrap
from ...graph import Graph
from ...ir.tiers.lowering import give_back_freed_memory
from ...ir.xla import cache_folder
from ..models import Model
from .base import Engine, Settings, Unavailable
from .kept import Kept
from .xla import XlaEngine

_MOST_SHAPES, _AT_ONCE = 4, 1  # sessions for one shape; each has the weights in a form of its own
_MOST_FLEXIBLE = 4
_LARGE_WEIGHT = 4096  # bytes


class ForeignEngine(Engine):
    """An engine that runs ONNX models. Subclasses open sessions and call them."""

    package = ""

    def __init__(self, model: Model, settings: Settings) -> None:
        super().__init__(model, settings)
        if model.place is not CPU:
            raise Unavailable(f"{self.name} is used on a CPU only; the model is on {model.place}")
        self.library = self._imported()
        self.own = XlaEngine(model, settings)  # for what the session cannot take
        self._kept = Kept(min(_MOST_SHAPES, settings.shapes), _AT_ONCE)
        self._flexible: list[tuple[Graph, Any]] = []
        self._refused = ""
        self._lock = new_lock()

    def _imported(self) -> Any:
        try:
            return importlib.import_module(from_elsewhere(self.package))
        except ImportError as error:
            raise Unavailable(f"{self.package} is not installed ({error}); pip install {self.package}") from None

    # ---- what subclasses do --------------------------------------------------------------------------------------

    def open(self, path: str, sizes_known: bool) -> Any:
        """A session for an ONNX file, which is removed afterwards; any exception says that it does not take the model."""
        raise NotImplementedError

    def call(self, session: Any, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """The results of a session; called by several threads at once."""
        raise NotImplementedError

    # ---- running -------------------------------------------------------------------------------------------------

    def run(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        key = tuple([tensor._aval for tensor in tensors])
        session = self._kept.get(key)
        if session is None:
            session = self._session_for(key, tensors)
        if session is None:
            return self.own.run(tensors)
        return list(map(wrap, self.call(session, [np.asarray(tensor._data(), order="C") for tensor in tensors])))

    def _session_for(self, key: Any, tensors: Sequence[Tensor]) -> Any:
        """A session for inputs that have none of their own; None if they are left to ours."""
        self.model.check(tensors)
        found = self._flexible_for(tensors)
        deserved = self._kept.deserves(key)
        if found is not None and not deserved:
            return found
        # Opening takes a while: who has something to go on with does not wait for another thread's session.
        if not self._lock.acquire(blocking=found is None):
            return found
        try:
            return self._opened(key, tensors, deserved)
        except Unavailable as error:
            self._refused = str(error)
            warn(f"({self.name}) some sizes are left to XLA: {error}", RuntimeWarning)
            return found
        finally:
            self._lock.release()

    def _flexible_for(self, tensors: Sequence[Tensor]) -> Any:
        return next((session for graph, session in self._flexible if graph.holds_for(tensors)), None)

    def _opened(self, key: Any, tensors: Sequence[Tensor], deserved: bool) -> Any:
        """The session for inputs, by a thread that has the lock; another may have had it before."""
        found = self._kept.get(key)
        if found is None and not deserved:
            found = self._flexible_for(tensors)
        if found is not None or self._refused:
            return found if found is not None else self._flexible_for(tensors)
        if deserved or not self.model.has_unknown_sizes:
            session = self._open(self._usable(self.model.exact(tensors), tensors))
            self._kept.add(key, session)
            return session
        if len(self._flexible) >= _MOST_FLEXIBLE:
            return None
        graph = self._usable(self.model.flexible(tensors), tensors)
        session = self._open(graph)
        self._flexible = [*self._flexible, (graph, session)]
        return session

    def prepare(self, tensors: Sequence[Tensor]) -> None:
        """Opens the session for inputs like these; Unavailable if the engine does not take the model."""
        self.model.check(tensors)
        with self._lock:
            self._opened(tuple([tensor._aval for tensor in tensors]), tensors, True)

    def _usable(self, graph: Graph | None, tensors: Sequence[Tensor]) -> Graph:
        """A graph that says all that the model does with such inputs; Unavailable if it does not."""
        if graph is None:
            raise Unavailable(f"the model is no graph: {self.model.reason}")
        if graph.updates or graph._draws:
            raise Unavailable("the model changes its own buffers or draws random numbers")
        if not graph.holds_for(tensors):  # a file that was saved for other sizes: ours says for which
            raise Unavailable("the model was saved for sizes that lead another way through it")
        return graph

    def _open(self, graph: Graph) -> Any:
        with _folder() as folder:
            path = os.path.join(folder, "model.onnx")
            try:
                _write(graph, path)
            except (
                Exception
            ) as error:  # the package is missing, or an operation has no counterpart: the error says which
                raise Unavailable(f"the model cannot be written as ONNX: {_short(error)}") from error
            self.model.release_all()  # the file has the weights now
            give_back_freed_memory()
            try:
                session = self.open(path, not graph.has_unknown_sizes)
            except Exception as error:
                raise Unavailable(f"{self.name} does not take the model: {_short(error)}") from error
        give_back_freed_memory()
        return session

    def release(self) -> None:
        with self._lock:
            self._kept.release()
        self.own.release()

    def described(self) -> list[str]:
        kept = f"{len(self._kept)} session(s) for one shape, {len(self._flexible)} for many"
        lines = [f"{self.name} {self.library.__version__}: {kept}"]
        if self._refused:
            lines.append(f"  sizes left to XLA: {self._refused}")
        if len(self.own._kept) or self.own._kept.num_seen:
            lines += [f"  {line}" for line in self.own.described()]
        return lines


def _folder() -> tempfile.TemporaryDirectory[str]:
    """A folder for a moment: on the disk of the cache, because /tmp may be memory."""
    try:
        base = cache_folder() / "engines"
        base.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(dir=base)
    except OSError:
        return tempfile.TemporaryDirectory()


def _write(graph: Graph, path: str) -> None:
    """The graph as ONNX. Weights lie in a file beside it: libraries map that, instead of reading it once more."""
    from ... import onnx as ours

    model = ours.model_of(graph)
    writer = importlib.import_module("onnx")
    writer.save_model(model, path, save_as_external_data=True, location="weights", size_threshold=_LARGE_WEIGHT)


def _short(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else text[:300] + " …"


__all__ = ["ForeignEngine"]
