"""What a model takes and gives: names, data types and shapes, and whether a request fits them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..inference import Predictor
from .datatypes import DTYPES, name_of
from .refusals import bad_request


@dataclass(frozen=True)
class Port:
    """An input or output; `shape` has -1 for sizes that may be any."""

    name: str
    datatype: str
    shape: tuple[int, ...]

    @property
    def dtype(self) -> np.dtype[Any]:
        return DTYPES[self.datatype]

    def fits(self, shape: Sequence[int]) -> bool:
        return len(shape) == len(self.shape) and all(w in (-1, g) for w, g in zip(self.shape, shape))

    def shown(self) -> dict[str, Any]:
        """As metadata says it."""
        return {"name": self.name, "datatype": self.datatype, "shape": list(self.shape)}


@dataclass(frozen=True)
class Signature:
    """The inputs and outputs of a model, in order."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]

    @property
    def has_rows(self) -> bool:
        """Whether the first size of everything is free, as it is where rows can be put together."""
        ports = self.inputs + self.outputs
        return bool(self.inputs) and all(port.shape and port.shape[0] == -1 for port in ports)

    def ordered(self, given: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """A request's tensors in the model's order; Refused where they do not fit."""
        arrays = []
        for port in self.inputs:
            array = given.get(port.name)
            if array is None:
                wanted = ", ".join(each.name for each in self.inputs)
                raise bad_request(f"the input {port.name} is missing; the model takes {wanted}.")
            if not port.fits(array.shape):
                raise bad_request(
                    f"the input {port.name} must have the shape {list(port.shape)} (-1: any size); "
                    f"received {list(array.shape)}."
                )
            arrays.append(array)
        if len(given) != len(arrays):
            extra = ", ".join(name for name in given if all(port.name != name for port in self.inputs))
            raise bad_request(f"the model has no input {extra[:200]}; it takes {self._names(self.inputs)}.")
        if self.has_rows and len({len(array) for array in arrays}) > 1:
            raise bad_request(f"all inputs need the same number of rows; received {[len(array) for array in arrays]}.")
        return arrays

    def input(self, name: str, datatype: Any = None) -> Port:
        """The input of this name, if it is of this type (None: whatever it is)."""
        for port in self.inputs:
            if port.name == name:
                if datatype not in (None, port.datatype):
                    raise bad_request(f"the input {name} must be {port.datatype}; received {str(datatype)[:40]}.")
                return port
        raise bad_request(f"the model has no input {str(name)[:80]!r}; it takes {self._names(self.inputs)}.")

    def output_index(self, name: Any) -> int:
        for index, port in enumerate(self.outputs):
            if port.name == name:
                return index
        raise bad_request(f"the model has no output {str(name)[:80]!r}; it gives {self._names(self.outputs)}.")

    @staticmethod
    def _names(ports: Sequence[Port]) -> str:
        return ", ".join(port.name for port in ports) or "nothing"


def signature_of(predictor: Predictor, results: Sequence[str] = ()) -> Signature:
    """What a predictor takes and gives (under the names in `results`, if there are any); ValueError where the protocol has
    no such tensors."""
    model = predictor._model
    inputs, outputs = (
        tuple(Port(port.name, name_of(port.dtype), tuple(port.shape)) for port in ports)
        for ports in (model.inputs, model.outputs)
    )
    if results:
        outputs = tuple(replace(port, name=name) for port, name in zip(outputs, results, strict=True))
    return Signature(inputs, outputs)
