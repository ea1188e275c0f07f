"""What the engines of others have in common: they get the model as ONNX, and what they cannot take is left to ours.

A model may go different ways for different sizes (`if n > 1`), and ONNX says one of them. So an engine opens a session for
each way, when sizes come that need it, a few at most; the graph behind a session knows for which sizes it holds.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import warn
from ...core.locks import new_lock
from ...core.place import CPU
from ...eager.tensor import Tensor, wrap
from ...graph import Graph
from ...ir.lowering import give_back_freed_memory
from ...ir.xla import cache_folder
from ..models import Model
from .base import Engine, Settings, Unavailable
from .xla import XlaEngine

_MOST_SESSIONS = 4
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
        self._sessions: list[tuple[Graph, Any]] = []
        self._refused = ""
        self._lock = new_lock()

    def _imported(self) -> Any:
        try:
            return importlib.import_module(self.package)
        except ImportError as error:
            raise Unavailable(f"{self.package} is not installed ({error}); pip install {self.package}") from None

    # ---- what subclasses do --------------------------------------------------------------------------------------

    def open(self, path: str) -> Any:
        """A session for an ONNX file, which is removed afterwards; any exception says that it does not take the model."""
        raise NotImplementedError

    def call(self, session: Any, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """The results of a session; called by several threads at once."""
        raise NotImplementedError

    # ---- running -------------------------------------------------------------------------------------------------

    def run(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        session = self._session_for(tensors)
        if session is None:
            return self.own.run(tensors)
        results = self.call(session, [np.ascontiguousarray(tensor._data()) for tensor in tensors])
        return [wrap(np.asarray(result)) for result in results]

    def _session_for(self, tensors: Sequence[Tensor]) -> Any:
        self.model.check(tensors)
        for graph, session in self._sessions:
            if graph.holds_for(tensors):
                return session
        with self._lock:
            for graph, session in self._sessions:  # another thread may have been here before
                if graph.holds_for(tensors):
                    return session
            if self._refused or len(self._sessions) >= _MOST_SESSIONS:
                return None
            try:
                opened = self._opened(tensors)
            except Unavailable as error:
                self._refused = str(error)
                warn(f"({self.name}) some sizes are left to XLA: {error}", RuntimeWarning)
                return None
            self._sessions = [*self._sessions, opened]
            return opened[1]

    def prepare(self, tensors: Sequence[Tensor]) -> None:
        """Opens the session for inputs like these; Unavailable if the engine does not take the model."""
        self.model.check(tensors)
        with self._lock:
            if not any(graph.holds_for(tensors) for graph, _ in self._sessions):
                self._sessions = [*self._sessions, self._opened(tensors)]

    def _opened(self, tensors: Sequence[Tensor]) -> tuple[Graph, Any]:
        graph = self.model.flexible(tensors)
        if graph is None:
            raise Unavailable(f"the model is no graph: {self.model.reason}")
        if graph.updates or graph._draws:
            raise Unavailable("the model changes its own buffers or draws random numbers")
        if not graph.holds_for(tensors):  # a file that was saved for other sizes: ours says for which
            raise Unavailable("the model was saved for sizes that lead another way through it")
        with _folder() as folder:
            path = os.path.join(folder, "model.onnx")
            try:
                _write(graph, path)
            except (
                Exception
            ) as error:  # the package is missing, or an operation has no counterpart: the error says which
                raise Unavailable(f"the model cannot be written as ONNX: {_short(error)}") from error
            give_back_freed_memory()
            try:
                session = self.open(path)
            except Exception as error:
                raise Unavailable(f"{self.name} does not take the model: {_short(error)}") from error
        self.model.release_all()  # the session has the weights now
        give_back_freed_memory()
        return graph, session

    def release(self) -> None:
        self.own.release()

    def described(self) -> list[str]:
        lines = [f"{self.name} {self.library.__version__}: {len(self._sessions)} session(s)"]
        if self._refused:
            lines.append(f"  sizes left to XLA: {self._refused}")
        if self.own._kept or self.own._seen:
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
