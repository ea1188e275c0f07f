"""Layers that hold layers or parameters: Sequential, LayerList, ParameterDict and the like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from ..core.errors import failed_type_check, message
from ..eager.parameter import Parameter
from .layer import Layer


class BadPosition(IndexError, AssertionError):
    """A position that a container does not have. Paddle asserts it where something is put in."""


def _position(where: str, index: Any, length: int, extra: int = 0) -> int:
    """A non-negative position in a container, or IndexError."""
    number = int(index)
    if not -length <= number < length + extra:
        raise BadPosition(
            message(where, f"index {number} is out of range", f"{length} entries", "use an index below that")
        )
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
        """Adds a layer at the end.

        Args:
            sublayer: the layer.

        Returns:
            The container.

        Examples:
            >>> layers = paddle.nn.LayerList()
            >>> len(layers.append(paddle.nn.ReLU()).append(paddle.nn.Tanh()))
            2
        """
        self.add_sublayer(str(len(self)), sublayer)
        return self

    def extend(self, sublayers: Iterable[Layer]) -> Any:
        """Adds layers at the end.

        Args:
            sublayers: the layers, in order.

        Returns:
            The container.

        Examples:
            >>> len(paddle.nn.LayerList().extend([paddle.nn.ReLU(), paddle.nn.Tanh()]))
            2
        """
        for layer in sublayers:
            self.append(layer)
        return self

    def insert(self, index: int, sublayer: Layer) -> Any:
        """Adds a layer in front of the one at `index`.

        Args:
            index: its number; negative ones count from the end.
            sublayer: the layer.

        Returns:
            The container.

        Examples:
            >>> layers = paddle.nn.LayerList([paddle.nn.ReLU(), paddle.nn.Tanh()])
            >>> layers.insert(1, paddle.nn.Sigmoid())
            LayerList(
              (0): ReLU()
              (1): Sigmoid()
              (2): Tanh()
            )
        """
        if not isinstance(sublayer, Layer):
            raise failed_type_check("insert", "the sublayer must be a Layer", type(sublayer).__name__)
        layers = list(self)
        layers.insert(_position(type(self).__name__, index, len(self), extra=1), sublayer)
        self._renumber(layers)
        return self


class Sequential(_Numbered):
    """Layers that are called one after another, each with the result of the one before.

    Args:
        layers: layers, one list of them, (name, layer) pairs, or one dictionary of names and layers.

    Examples:
        >>> model = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 2))
        >>> model(paddle.ones([3, 4])).shape
        paddle.Size([3, 2])
        >>> model[0].weight.shape
        paddle.Size([4, 8])
        >>> paddle.nn.Sequential(("double", paddle.nn.Linear(1, 2)), ("act", paddle.nn.ReLU()))["act"]
        ReLU()
    """

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        if len(layers) == 1 and isinstance(layers[0], Mapping):
            layers = tuple(layers[0].items())
        elif len(layers) == 1 and isinstance(layers[0], list) and not (layers[0] and isinstance(layers[0][0], str)):
            layers = tuple(layers[0])
        for number, entry in enumerate(layers):
            named = isinstance(entry, (tuple, list)) and len(entry) == 2
            name, layer = entry if named else (number, entry)
            self.add_sublayer(str(name), cast(Any, layer))

    def forward(self, input: Any) -> Any:
        """The result of the last layer.

        Examples:
            >>> paddle.nn.Sequential(paddle.nn.ReLU(), paddle.nn.ReLU6()).forward(paddle.to_tensor([-1.0, 9.0])).tolist()
            [0.0, 6.0]
        """
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
            return Sequential(*list(self._sub_layers.values())[index])  # under new numbers, as in Paddle
        return self._sub_layers[self._name(index)]

    def __setitem__(self, index: Any, layer: Layer) -> None:
        fresh = isinstance(index, str) and index not in self._sub_layers
        self.add_sublayer(index if fresh else self._name(index), layer)

    def __delitem__(self, index: Any) -> None:
        names = list(self._sub_layers)[index] if isinstance(index, slice) else [self._name(index)]
        for name in names:
            del self._sub_layers[name]

    def append(self, sublayer: Layer) -> Any:
        """Adds a layer at the end, under the next number.

        Args:
            sublayer: the layer.

        Returns:
            The container.

        Examples:
            >>> paddle.nn.Sequential(paddle.nn.ReLU()).append(paddle.nn.Tanh())
            Sequential(
              (0): ReLU()
              (1): Tanh()
            )
        """
        names = [int(name) for name in self._sub_layers if name.isdigit()]
        self.add_sublayer(str(max([*names, len(self) - 1]) + 1), sublayer)
        return self


class LayerList(_Numbered):
    """A list of layers, whose parameters belong to the layer that holds it.

    It is indexed, sliced, iterated and changed as a Python list is.

    Args:
        sublayers: the layers to start with.

    Examples:
        >>> layers = paddle.nn.LayerList([paddle.nn.Linear(2, 2) for _ in range(3)])
        >>> len(layers), len(layers.parameters()), len(layers[1:])
        (3, 6, 2)
    """

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
        """Takes a layer out, and gives it.

        Args:
            key: its number; negative ones count from the end.

        Examples:
            >>> layers = paddle.nn.LayerList([paddle.nn.ReLU(), paddle.nn.Tanh()])
            >>> layers.pop(0), len(layers)
            (ReLU(), 1)
        """
        layer = self[key]
        del self[key]
        return layer

    def __add__(self, other: Iterable[Layer]) -> LayerList:
        return LayerList([*self, *other])

    def __iadd__(self, other: Iterable[Layer]) -> Any:
        return self.extend(other)

    def __contains__(self, layer: Any) -> bool:
        return any(own is layer for own in self._sub_layers.values())


class LayerDict(Layer):
    """A dictionary of layers, whose parameters belong to the layer that holds it.

    Args:
        sublayers: a dictionary, or (key, layer) pairs, to start with.

    Examples:
        >>> heads = paddle.nn.LayerDict({"small": paddle.nn.Linear(4, 2), "large": paddle.nn.Linear(4, 9)})
        >>> heads["large"](paddle.ones([1, 4])).shape
        paddle.Size([1, 9])
        >>> "tiny" in heads, list(heads)
        (False, ['small', 'large'])
    """

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
        """The names of the layers.

        Examples:
            >>> list(paddle.nn.LayerDict({"act": paddle.nn.ReLU()}).keys())
            ['act']
        """
        return self._sub_layers.keys()

    def values(self) -> Any:
        """The layers.

        Examples:
            >>> list(paddle.nn.LayerDict({"act": paddle.nn.ReLU()}).values())
            [ReLU()]
        """
        return self._sub_layers.values()

    def items(self) -> Any:
        """(name, layer) pairs.

        Examples:
            >>> list(paddle.nn.LayerDict({"act": paddle.nn.ReLU()}).items())
            [('act', ReLU())]
        """
        return self._sub_layers.items()

    def clear(self) -> None:
        """Takes all layers out.

        Examples:
            >>> layers = paddle.nn.LayerDict({"act": paddle.nn.ReLU()})
            >>> layers.clear()
            >>> len(layers)
            0
        """
        self._sub_layers.clear()

    def pop(self, key: str) -> Layer:
        """Takes a layer out, and gives it.

        Args:
            key: its name.

        Raises:
            KeyError: there is no such layer.

        Examples:
            >>> paddle.nn.LayerDict({"act": paddle.nn.ReLU()}).pop("act")
            ReLU()
        """
        return self._sub_layers.pop(key)

    def update(self, sublayers: Any) -> None:
        """Adds the entries of a dictionary, or (key, layer) pairs; present names get the new layer.

        Args:
            sublayers: the entries.

        Examples:
            >>> layers = paddle.nn.LayerDict({"act": paddle.nn.ReLU()})
            >>> layers.update([("act", paddle.nn.Tanh()), ("end", paddle.nn.Identity())])
            >>> layers
            LayerDict(
              (act): Tanh()
              (end): Identity()
            )
        """
        pairs = sublayers.items() if hasattr(sublayers, "items") else sublayers
        if not isinstance(pairs, Iterable):
            raise failed_type_check("LayerDict", "a dictionary or pairs are wanted", type(sublayers).__name__)
        for key, layer in pairs:
            self.add_sublayer(key, layer)


class ParameterList(Layer):
    """A list of parameters that belong to the layer that holds it.

    Args:
        parameters: the parameters to start with.

    Examples:
        >>> weights = paddle.nn.ParameterList([paddle.create_parameter([2, n], "float32") for n in (3, 4)])
        >>> len(weights), weights[1].shape
        (2, paddle.Size([2, 4]))
    """

    def __init__(self, parameters: Iterable[Parameter] | None = None) -> None:
        super().__init__()
        for parameter in parameters or ():
            self.append(parameter)

    def append(self, parameter: Parameter) -> ParameterList:
        """Adds a parameter at the end, and gives the list.

        Args:
            parameter: the parameter.

        Examples:
            >>> weights = paddle.nn.ParameterList()
            >>> len(weights.append(paddle.create_parameter([2], "float32")))
            1
        """
        self.add_parameter(str(len(self)), parameter)
        return self

    def extend(self, parameters: Iterable[Parameter]) -> ParameterList:
        """Adds parameters at the end, and gives the list.

        Args:
            parameters: the parameters, in order.

        Examples:
            >>> weights = paddle.nn.ParameterList()
            >>> len(weights.extend([paddle.create_parameter([2], "float32") for _ in range(3)]))
            3
        """
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
    """A dictionary of parameters that belong to the layer that holds it.

    Args:
        parameters: a dictionary, or (key, parameter) pairs, to start with.

    Examples:
        >>> weights = paddle.nn.ParameterDict({"scale": paddle.create_parameter([2], "float32")})
        >>> weights["shift"] = paddle.create_parameter([3], "float32", is_bias=True)
        >>> [(name, weight.shape) for name, weight in weights.items()]
        [('scale', paddle.Size([2])), ('shift', paddle.Size([3]))]
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Parameter:
        return self._parameters[key]

    def __setitem__(self, key: str, parameter: Parameter) -> None:
        if not isinstance(parameter, Parameter):
            raise failed_type_check("ParameterDict", "an entry must be a Parameter", type(parameter).__name__)
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
        """The names of the parameters.

        Examples:
            >>> list(paddle.nn.ParameterDict({"scale": paddle.create_parameter([2], "float32")}).keys())
            ['scale']
        """
        return self._parameters.keys()

    def values(self) -> Any:
        """The parameters.

        Examples:
            >>> [p.shape for p in paddle.nn.ParameterDict({"scale": paddle.create_parameter([2], "float32")}).values()]
            [paddle.Size([2])]
        """
        return self._parameters.values()

    def items(self) -> Any:
        """(name, parameter) pairs.

        Examples:
            >>> weights = paddle.nn.ParameterDict({"scale": paddle.create_parameter([2], "float32")})
            >>> [(name, weight.shape) for name, weight in weights.items()]
            [('scale', paddle.Size([2]))]
        """
        return self._parameters.items()

    def update(self, parameters: Any) -> None:
        """Adds the entries of a dictionary, or (key, parameter) pairs; present names get the new parameter.

        Args:
            parameters: the entries.

        Examples:
            >>> weights = paddle.nn.ParameterDict()
            >>> weights.update({"scale": paddle.create_parameter([2], "float32")})
            >>> list(weights)
            ['scale']
        """
        pairs = parameters.items() if hasattr(parameters, "items") else parameters
        if not isinstance(pairs, Iterable):
            raise failed_type_check("ParameterDict", "a dictionary or pairs are wanted", type(parameters).__name__)
        for key, parameter in pairs:
            self[key] = parameter
