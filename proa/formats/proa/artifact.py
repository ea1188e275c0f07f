"""Graphs with their weights as one `.proa` file, and back."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import name_of
from ...core.place import CPU, Place
from ...eager.parameter import Parameter
from ...eager.tensor import Tensor, tensor_from_data
from ...graph.graph import Graph, GraphInput
from ...ir.sizes.dimensions import shown_shape
from ...ir.sizes.known import mark_sizes, sizes_held
from ...version import full_version, proa_version
from .archive import META, PROGRAM, SIGNATURE, TESTS, VERSION, WEIGHTS, Archive, DamagedArtifact, write_archive
from .encoding import (
    decode_program,
    decode_structure,
    decode_type,
    decode_value,
    encode_number,
    encode_program,
    encode_structure,
    encode_type,
)
from .sizes import SizeReader, SizeWriter
from .tests import Recorded, from_arrays, record, to_arrays
from .upgrades import with_symbols

_AS_BYTES = ("complex128", "float8_e4m3fnuz")  # types that safetensors has no name for


@dataclass
class Method:
    """A graph that an artifact holds: `forward` and others."""

    graph: Graph
    names: dict[int, str] = field(default_factory=dict)  # of captured tensors, by id: where they are in the layer
    tests: list[Recorded] = field(default_factory=list)


@dataclass
class Artifact:
    """What a file holds: methods by name, and the weights they share, by the names they had in the layer."""

    methods: dict[str, Method]
    weights: dict[str, Tensor]
    meta: dict[str, Any]


# ---- writing -----------------------------------------------------------------------------------------------------


def save_artifact(
    path: str | os.PathLike[str],
    methods: Mapping[str, Method],
    *,
    test_inputs: Mapping[str, Sequence[Sequence[Any]]] | None = None,
    record_tests: bool = True,
) -> None:
    """Writes graphs, with the weights that they share, as one file."""
    held: dict[int, tuple[str, Tensor]] = {}
    arrays: dict[str, np.ndarray] = {}
    programs: dict[str, Any] = {}
    signatures: dict[str, Any] = {}
    tests: dict[str, np.ndarray] = {}
    notes: list[str] = []
    for title, method in methods.items():
        graph = method.graph
        sizes = SizeWriter()
        captured = [_hold(tensor, method.names.get(id(tensor)), held, arrays, sizes) for tensor in graph.captured]
        programs[title] = {
            "name": graph.name,
            "program": encode_program(graph.program, graph.scalars, graph.locations, graph.stops, sizes),
            "captured": captured,
            "updates": [held[id(tensor)][0] for tensor in graph.updates if id(tensor) in held],
        }
        if len(programs[title]["updates"]) != len(graph.updates):
            raise NotImplementedError(f"(save) {title} changes a tensor that it does not read; return it instead")
        signatures[title] = {
            "inputs": [
                {"name": given.name, "type": encode_type(given.aval, sizes), "shape": shown_shape(given.aval.shape)}
                for given in graph.inputs
            ],
            "outputs": encode_structure(graph.structure),
        }
        if sizes.numbers:
            programs[title]["guards"] = sizes.guards(graph.assumptions)
            programs[title]["symbols"] = sizes.symbols()
        vectors, note = (method.tests, None) if method.tests else ([], None)
        if record_tests and not vectors:
            vectors, note = record(graph, (test_inputs or {}).get(title))
        to_arrays(title, vectors, tests)
        if note:
            notes.append(f"{title}: {note}")
    meta = {
        "format": "proa", "version": VERSION, "proa": proa_version, "paddle": full_version,
        "python": platform.python_version(), "numpy": np.__version__,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"), "notes": notes,
    }  # fmt: skip
    documents = {PROGRAM: {"methods": programs}, SIGNATURE: {"methods": signatures}, META: meta}
    write_archive(os.fspath(path), documents, {WEIGHTS: arrays, TESTS: tests})


def _hold(
    tensor: Tensor, name: str | None, held: dict[int, tuple[str, Tensor]], arrays: dict[str, np.ndarray],
    sizes: SizeWriter,
) -> dict[str, Any]:  # fmt: skip
    """Puts a tensor among the weights, once, and says how it is found again."""
    known = held.get(id(tensor))
    array = np.asarray(tensor._data())
    if known is None:
        wanted = name or f"constant_{sum(n.startswith('constant_') for n in arrays)}"
        while wanted in arrays:
            wanted += "_"
        held[id(tensor)] = (wanted, tensor)
        stored = np.ascontiguousarray(array).reshape(array.shape)
        arrays[wanted] = stored.reshape(-1).view(np.uint8) if array.dtype.name in _AS_BYTES else stored
        known = held[id(tensor)]
    kind = "parameter" if isinstance(tensor, Parameter) else "buffer" if name is not None else "constant"
    entry = {
        "weight": known[0], "type": encode_type(tensor._aval, sizes), "kind": kind,
        "trainable": not tensor.stop_gradient,
    }  # fmt: skip
    if (numbers := sizes_held(tensor)) is not None:
        entry["sizes"] = [encode_number(number, sizes) for number in numbers]
    return entry


def save_graph(
    graph: Graph, path: str | os.PathLike[str], *, names: dict[int, str] | None = None, record_tests: bool = True
) -> None:
    """Writes one graph as an artifact, as its method `forward`."""
    save_artifact(path, {"forward": Method(graph, names or {})}, record_tests=record_tests)


# ---- reading -----------------------------------------------------------------------------------------------------


def load_artifact(path: str | os.PathLike[str], place: Place | None = None) -> Artifact:
    """What the file holds; DamagedArtifact (a ValueError) if it is not whole, FileNotFoundError if it is not there."""
    archive = Archive(os.fspath(path))
    try:
        return _Reader(archive, place or CPU).artifact()
    except (KeyError, TypeError, IndexError, AttributeError, RecursionError, OverflowError) as error:
        raise DamagedArtifact(f"(load) {archive.path} is damaged: {type(error).__name__}: {str(error)[:200]}") from None
    finally:
        archive.close()


def load_graph(path: str | os.PathLike[str], method: str = "forward") -> Graph:
    """One graph of an artifact."""
    methods = load_artifact(path).methods
    if method not in methods:
        raise ValueError(f"(load) {os.fspath(path)} has no method {method!r}; it has {', '.join(methods)}")
    return methods[method].graph


class _Reader:
    def __init__(self, archive: Archive, place: Place) -> None:
        self.archive = archive
        self.place = place
        self.arrays = archive.tensors(WEIGHTS)
        self.weights: dict[str, Tensor] = {}
        self.kinds: dict[str, str] = {}

    def artifact(self) -> Artifact:
        programs = _table(self.archive.document(PROGRAM), "methods")
        signatures = _table(self.archive.document(SIGNATURE), "methods")
        if set(programs) != set(signatures):
            raise DamagedArtifact(f"(load) {self.archive.path}: programs and signatures do not belong together")
        recorded = from_arrays(self.archive.tensors(TESTS)) if self.archive.has(TESTS) else {}
        methods = {title: self.method(programs[title], signatures[title]) for title in programs}
        for title, tests in recorded.items():
            if title in methods:
                methods[title].tests = tests
        return Artifact(methods, dict(self.weights), self.archive.meta)

    def method(self, entry: Any, signature: Any) -> Method:
        if self.archive.meta["version"] < 2:
            entry, signature = with_symbols(entry, signature)
        sizes = SizeReader(entry.get("symbols", []))
        program, scalars, stops, locations = decode_program(entry["program"], self.place, sizes)
        sizes.guards(entry.get("guards", []))
        inputs = [self._input(given, sizes) for given in signature["inputs"]]
        names: dict[int, str] = {}
        captured: list[Tensor] = []
        for holder in entry["captured"]:
            tensor = self._weight(holder)
            if holder.get("sizes") is not None:
                tensor = self._of_sizes(tensor, holder["sizes"], sizes)
            captured.append(tensor)
            if holder.get("kind") in ("parameter", "buffer"):
                names[id(tensor)] = holder["weight"]
        avals = [given.aval for given in inputs] + [tensor._aval for tensor in captured]
        if avals != program.inputs:
            raise DamagedArtifact(
                f"(load) {self.archive.path}: inputs and weights do not fit the program; it is damaged"
            )
        updates = [self.weights[name] for name in entry["updates"]]
        results = len(program.outputs) - len(updates)
        if results < 0:
            raise DamagedArtifact(f"(load) {self.archive.path}: more updates than results; it is damaged")
        structure = decode_structure(signature["outputs"], results)
        name = entry["name"] if isinstance(entry["name"], str) else "graph"
        graph = Graph(name, program, inputs, captured, scalars, structure, updates, locations, sizes.assumptions)
        by_number = {i.index + n: aval for i in program.instructions for n, aval in enumerate(i.outputs)}
        for number, tensor in zip(program.outputs[results:], updates, strict=True):
            if by_number[number] != tensor._aval:
                raise DamagedArtifact(f"(load) {self.archive.path}: an update has another type than its weight")
        graph.stops = stops
        return Method(graph, names)

    def _of_sizes(self, tensor: Tensor, content: Any, sizes: SizeReader) -> Tensor:
        """A constant that holds unknown sizes: one of its own for each method."""
        numbers = [decode_value(number, self.place, sizes) for number in content]
        if len(numbers) != tensor._aval.size or not all(isinstance(n, (int, float)) for n in numbers):
            raise DamagedArtifact(f"(load) {self.archive.path}: a constant of sizes does not fit; it is damaged")
        return mark_sizes(tensor_from_data(np.asarray(tensor._data()), place=self.place), numbers)

    def _input(self, given: Any, sizes: SizeReader) -> GraphInput:
        aval = decode_type(given["type"], self.place, sizes)
        if not isinstance(given["name"], str):
            raise DamagedArtifact(f"(load) {self.archive.path}: an input has no name; it is damaged")
        return GraphInput(given["name"], aval)

    def _weight(self, holder: Any) -> Tensor:
        name = holder["weight"]
        if name in self.weights:
            return self.weights[name]
        aval: Aval = decode_type(holder["type"], self.place, SizeReader())
        if not isinstance(name, str) or name not in self.arrays:
            raise DamagedArtifact(
                f"(load) {self.archive.path}: the weight {str(name)[:60]!r} is missing; it is damaged"
            )
        array = self.arrays[name]
        if (
            name_of(aval.dtype) in _AS_BYTES
            and array.dtype == np.uint8
            and array.nbytes == aval.size * aval.dtype.itemsize
        ):
            array = array.view(aval.dtype).reshape(aval.shape)
        if array.dtype != aval.dtype or array.shape != aval.shape:
            raise DamagedArtifact(
                f"(load) {self.archive.path}: {name!r} is {array.dtype}{list(array.shape)}, not {aval}"
            )
        trainable = holder.get("trainable") is True
        if holder.get("kind") == "parameter":
            tensor: Tensor = Parameter(array, name=name, trainable=trainable)
        else:
            tensor = tensor_from_data(array)
            tensor.stop_gradient = not trainable
        self.weights[name] = tensor
        return tensor


def _table(document: Any, key: str) -> dict[str, Any]:
    table = document.get(key) if isinstance(document, dict) else None
    if not isinstance(table, dict) or not table:
        raise DamagedArtifact(f"(load) the file has no {key}; it is damaged")
    return table


__all__ = ["Artifact", "Method", "load_artifact", "load_graph", "save_artifact", "save_graph"]
