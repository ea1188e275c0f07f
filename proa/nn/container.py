"""Layers that hold layers or parameters: Sequential, LayerList, ParameterDict and the like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from ..core.errors import failed_type_check, index_error
from ..eager.parameter import Parameter
from .layer import Layer


def _position(where: str, index: Any, length: int, extra: int = 0) -> int:
    """A non-negative position in a container, or IndexError."""
    number = int(index)
    if not -length <= number < length + extra:
        raise index_error(where, f"index {number} is out of range", f"{length} entries", "use an index below that")
    return number + length if number < 0 else number


class _Numbered(Layer):
    """Sub-layers that are kept under their numbers."""

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Layer]:
        return iter(list(self._sub_layers.values()))

    def _renumber(self, layers: Iterable[Layer]) -> None:
        layers = list(layers)
        self._sub_layers.clear()
        for number, layer in enumerate(layers):
            self.add_sublayer(str(number), layer)

    def append(self, sublayer: Layer) -> Any:
        """Adds a layer at the end."""
        self.add_sublayer(str(len(self)), sublayer)
        return self

    def extend(self, sublayers: Iterable[Layer]) -> Any:
        """Adds layers at the end."""
        for layer in sublayers:
            self.append(layer)
        return self

    def insert(self, index: int, sublayer: Layer) -> Any:
        """Adds a layer in front of the one at `index`."""
        if not isinstance(sublayer, Layer):
            raise failed_type_check("insert", "the sublayer must be a Layer", type(sublayer).__name__)
        layers = list(self)
        layers.insert(_position(type(self).__name__, index, len(self), extra=1), sublayer)
        self._renumber(layers)
        return self


class Sequential(_Numbered):
    """Layers that are called one after another.

    Given as layers, as a list of them, or as (name, layer) pairs.
    """

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        if len(layers) == 1 and isinstance(layers[0], Mapping):
            layers = tuple(layers[0].items())
        elif len(layers) == 1 and isinstance(layers[0], list):
            layers = tuple(layers[0])
        for number, entry in enumerate(layers):
            named = isinstance(entry, (tuple, list)) and len(entry) == 2
            name, layer = entry if named else (number, entry)
            self.add_sublayer(str(name), cast(Any, layer))

    def forward(self, input: Any) -> Any:
        for layer in self._sub_layers.values():
            input = layer(input)
        return input

    def _name(self, index: Any) -> str:
        if isinstance(index, str):
            if index not in self._sub_layers:
                raise KeyError(f"(Sequential) there is no layer {index!r}")
            return index
        return list(self._sub_layers)[_position("Sequential", index, len(self))]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Sequential(*list(self._sub_layers.items())[index])
        return self._sub_layers[self._name(index)]

    def __setitem__(self, index: Any, layer: Layer) -> None:
        fresh = isinstance(index, str) and index not in self._sub_layers
        self.add_sublayer(index if fresh else self._name(index), layer)

    def __delitem__(self, index: Any) -> None:
        names = list(self._sub_layers)[index] if isinstance(index, slice) else [self._name(index)]
        for name in names:
            del self._sub_layers[name]

    def append(self, sublayer: Layer) -> Any:
        names = [int(name) for name in self._sub_layers if name.isdigit()]
        self.add_sublayer(str(max([*names, len(self) - 1]) + 1), sublayer)
        return self


class LayerList(_Numbered):
    """A list of layers, registered under their numbers."""

    def __init__(self, sublayers: Iterable[Layer] | None = None) -> None:
        super().__init__()
        self.extend(sublayers or ())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._sub_layers[str(_position("LayerList", index, len(self)))]

    def __setitem__(self, index: int, sublayer: Layer) -> None:
        self.add_sublayer(str(_position("LayerList", index, len(self))), sublayer)

    def __delitem__(self, index: Any) -> None:
        layers = list(self)
        if isinstance(index, slice):
            del layers[index]
        else:
            del layers[_position("LayerList", index, len(self))]
        self._renumber(layers)

    def pop(self, key: int) -> Layer:
        """Takes the layer at `key` out, and gives it."""
        layer = self[key]
        del self[key]
        return layer

    def __contains__(self, layer: Any) -> bool:
        return any(own is layer for own in self._sub_layers.values())


class LayerDict(Layer):
    """A dictionary of layers, registered under its keys."""

    def __init__(self, sublayers: Any = None) -> None:
        super().__init__()
        if sublayers is not None:
            self.update(sublayers)

    def __getitem__(self, key: str) -> Layer:
        return self._sub_layers[key]

    def __setitem__(self, key: str, sublayer: Layer) -> None:
        self.add_sublayer(key, sublayer)

    def __delitem__(self, key: str) -> None:
        del self._sub_layers[key]

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._sub_layers))

    def __contains__(self, key: object) -> bool:
        return key in self._sub_layers

    def keys(self) -> Any:
        return self._sub_layers.keys()

    def values(self) -> Any:
        return self._sub_layers.values()

    def items(self) -> Any:
        return self._sub_layers.items()

    def clear(self) -> None:
        self._sub_layers.clear()

    def pop(self, key: str) -> Layer:
        return self._sub_layers.pop(key)

    def update(self, sublayers: Any) -> None:
        """Adds the entries of a dictionary, or (key, layer) pairs."""
        pairs = sublayers.items() if hasattr(sublayers, "items") else sublayers
        for key, layer in pairs:
            self.add_sublayer(key, layer)


class ParameterList(Layer):
    """A list of parameters, registered under their numbers."""

    def __init__(self, parameters: Iterable[Parameter] | None = None) -> None:
        super().__init__()
        for parameter in parameters or ():
            self.append(parameter)

    def append(self, parameter: Parameter) -> ParameterList:
        self.add_parameter(str(len(self)), parameter)
        return self

    def extend(self, parameters: Iterable[Parameter]) -> ParameterList:
        for parameter in parameters:
            self.append(parameter)
        return self

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._parameters[str(_position("ParameterList", index, len(self)))]

    def __setitem__(self, index: int, parameter: Parameter) -> None:
        self._enter("_parameters", str(_position("ParameterList", index, len(self))), parameter)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Parameter]:
        return iter(list(self._parameters.values()))


class ParameterDict(Layer):
    """A dictionary of parameters, registered under its keys."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Parameter:
        return self._parameters[key]

    def __setitem__(self, key: str, parameter: Parameter) -> None:
        self._enter("_parameters", key, parameter)

    def __delitem__(self, key: str) -> None:
        del self._parameters[key]

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._parameters))

    def __contains__(self, key: object) -> bool:
        return key in self._parameters

    def keys(self) -> Any:
        return self._parameters.keys()

    def values(self) -> Any:
        return self._parameters.values()

    def items(self) -> Any:
        return self._parameters.items()

    def update(self, parameters: Any) -> None:
        """Adds the entries of a dictionary, or (key, parameter) pairs."""
        pairs = parameters.items() if hasattr(parameters, "items") else parameters
        for key, parameter in pairs:
            self[key] = parameter
