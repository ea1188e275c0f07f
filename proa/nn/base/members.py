"""What is in a layer: sub-layers, parameters and buffers, with their dotted names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Self

from ...eager.parameter import Parameter
from ...eager.tensor import Tensor

if TYPE_CHECKING:
    from ..layer import Layer
    from .registry import Registry


class Members:
    """The part of `Layer` that finds what is in it."""

    _part_of = "Layer"
    _sub_layers: Registry

    def named_children(self) -> Iterator[tuple[str, Layer]]:
        """The layers directly below this one, with their names; one that appears twice comes once.

        Examples:
            >>> [name for name, _ in paddle.nn.Sequential(paddle.nn.ReLU(), paddle.nn.Tanh()).named_children()]
            ['0', '1']
        """
        seen: set[int] = set()
        for name, layer in self._sub_layers.items():
            if layer is not None and id(layer) not in seen:
                seen.add(id(layer))
                yield name, layer

    def children(self) -> Iterator[Layer]:
        """The layers directly below this one.

        Examples:
            >>> list(paddle.nn.Sequential(paddle.nn.ReLU(), paddle.nn.Tanh()).children())
            [ReLU(), Tanh()]
        """
        for _, layer in self.named_children():
            yield layer

    def named_sublayers(
        self,
        prefix: str = "",
        include_self: bool = False,
        layers_set: set[Layer] | None = None,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Layer]]:
        """All layers below this one with their dotted names, parents before children.

        Args:
            prefix: what all names begin with.
            include_self: starts with this layer.
            layers_set: layers to leave out; those found are added to it.
            remove_duplicate: gives a layer that appears twice once.

        Examples:
            >>> model = paddle.nn.Sequential(paddle.nn.Sequential(paddle.nn.ReLU()), paddle.nn.Tanh())
            >>> [name for name, _ in model.named_sublayers()]
            ['0', '0.0', '1']
        """
        seen = set() if layers_set is None else layers_set
        own: Any = self
        if include_self and not (remove_duplicate and own in seen):
            seen.add(own)
            yield prefix, own
        for name, layer in self._sub_layers.items():
            if layer is None or (remove_duplicate and layer in seen):
                continue
            dotted = f"{prefix}.{name}" if prefix else name
            yield from layer.named_sublayers(dotted, True, seen, remove_duplicate)

    def sublayers(self, include_self: bool = False) -> list[Layer]:
        """All layers below this one, parents before children.

        Args:
            include_self: starts with this layer.

        Examples:
            >>> paddle.nn.Sequential(paddle.nn.ReLU(), paddle.nn.Tanh()).sublayers()
            [ReLU(), Tanh()]
        """
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def modules(self) -> Iterator[Layer]:
        """This layer and all below it, under PyTorch's name.

        Examples:
            >>> len(list(paddle.nn.Sequential(paddle.nn.ReLU(), paddle.nn.Tanh()).modules()))
            3
        """
        return iter(self.sublayers(include_self=True))

    def named_modules(
        self, memo: set[Layer] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Layer]]:
        """This layer and all below it with their dotted names, under PyTorch's name.

        Args:
            memo: layers to leave out; those found are added to it.
            prefix: what all names begin with.
            remove_duplicate: gives a layer that appears twice once.

        Examples:
            >>> [name for name, _ in paddle.nn.Sequential(paddle.nn.ReLU(), paddle.nn.Tanh()).named_modules()]
            ['', '0', '1']
        """
        return self.named_sublayers(prefix, True, memo, remove_duplicate)

    def _named_members(
        self, registry: str, prefix: str, include_sublayers: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        layers: Iterable[tuple[str, Any]] = [(prefix, self)]
        if include_sublayers:
            layers = self.named_sublayers(prefix, True, None, remove_duplicate)
        for layer_prefix, layer in layers:
            for name, member in layer.__dict__[registry].items():
                if member is None or (remove_duplicate and id(member) in seen):
                    continue
                seen.add(id(member))
                yield (f"{layer_prefix}.{name}" if layer_prefix else name), member

    def named_parameters(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Parameters with their dotted names.

        Args:
            prefix: what all names begin with.
            include_sublayers: False gives this layer's own only.
            remove_duplicate: gives a parameter that appears twice once.

        Examples:
            >>> model = paddle.nn.Sequential(paddle.nn.Linear(2, 3), paddle.nn.Linear(3, 1))
            >>> [(name, parameter.shape) for name, parameter in model.named_parameters(prefix="net")][:2]
            [('net.0.weight', paddle.Size([2, 3])), ('net.0.bias', paddle.Size([3]))]
        """
        return self._named_members("_parameters", prefix, include_sublayers, remove_duplicate)

    def parameters(self, include_sublayers: bool = True) -> list[Parameter]:
        """All parameters, here and below: what an optimiser takes.

        Args:
            include_sublayers: False gives this layer's own only.

        Examples:
            >>> model = paddle.nn.Sequential(paddle.nn.Linear(2, 3), paddle.nn.Linear(3, 1))
            >>> [parameter.shape for parameter in model.parameters()]
            [paddle.Size([2, 3]), paddle.Size([3]), paddle.Size([3, 1]), paddle.Size([1])]
        """
        return [parameter for _, parameter in self.named_parameters("", include_sublayers)]

    def named_buffers(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Buffers with their dotted names.

        Args:
            prefix: what all names begin with.
            include_sublayers: False gives this layer's own only.
            remove_duplicate: gives a buffer that appears twice once.

        Examples:
            >>> layer = paddle.nn.Layer()
            >>> layer.register_buffer("steps", paddle.zeros([1]))
            >>> [name for name, _ in layer.named_buffers()]
            ['steps']
        """
        return self._named_members("_buffers", prefix, include_sublayers, remove_duplicate)

    def buffers(self, include_sublayers: bool = True) -> list[Tensor]:
        """All buffers, here and below.

        Args:
            include_sublayers: False gives this layer's own only.

        Examples:
            >>> layer = paddle.nn.Layer()
            >>> layer.register_buffer("steps", paddle.zeros([1]))
            >>> [buffer.tolist() for buffer in layer.buffers()]
            [[0.0]]
        """
        return [buffer for _, buffer in self.named_buffers("", include_sublayers)]

    def get_sublayer(self, target: str) -> Layer:
        """The layer with a dotted name.

        Args:
            target: the name; "" is this layer.

        Raises:
            AttributeError: there is no such layer.

        Examples:
            >>> model = paddle.nn.Sequential(paddle.nn.Sequential(paddle.nn.ReLU()), paddle.nn.Tanh())
            >>> model.get_sublayer("0.0")
            ReLU()
        """
        found: Any = self
        for name in target.split(".") if target else ():
            member = getattr(found, name)
            if not isinstance(member, Members):
                raise AttributeError(f"({type(self).__name__}) {target!r} is not a layer")
            found = member
        return found

    get_submodule = get_sublayer

    def set_sublayer(self, target: str, layer: Layer, strict: bool = False) -> None:
        """Puts a layer at a dotted name.

        Args:
            target: the name.
            layer: the layer.
            strict: raises where no layer has this name yet.

        Raises:
            AttributeError: there is no layer to put it in, or with `strict` none to put it in the place of.

        Examples:
            >>> model = paddle.nn.Sequential(paddle.nn.ReLU(), paddle.nn.Tanh())
            >>> model.set_sublayer("1", paddle.nn.Sigmoid())
            >>> model[1]
            Sigmoid()
        """
        parent, _, name = target.rpartition(".")
        owner = self.get_sublayer(parent)
        if strict and name not in owner._sub_layers:
            raise AttributeError(f"({type(self).__name__}) there is no sub-layer {target!r}")
        owner.add_sublayer(name, layer)

    set_submodule = set_sublayer

    def get_parameter(self, target: str) -> Parameter:
        """The parameter with a dotted name.

        Args:
            target: the name.

        Raises:
            AttributeError: there is no such parameter.

        Examples:
            >>> paddle.nn.Sequential(paddle.nn.Linear(2, 3)).get_parameter("0.weight").shape
            paddle.Size([2, 3])
        """
        parent, _, name = target.rpartition(".")
        found = self.get_sublayer(parent)._parameters.get(name)
        if found is None:
            raise AttributeError(f"({type(self).__name__}) there is no parameter {target!r}")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer with a dotted name.

        Args:
            target: the name.

        Raises:
            AttributeError: there is no such buffer.

        Examples:
            >>> layer = paddle.nn.Layer()
            >>> layer.register_buffer("steps", paddle.zeros([1]))
            >>> layer.get_buffer("steps").tolist()
            [0.0]
        """
        parent, _, name = target.rpartition(".")
        found = self.get_sublayer(parent)._buffers.get(name)
        if found is None:
            raise AttributeError(f"({type(self).__name__}) there is no buffer {target!r}")
        return found

    def apply(self, fn: Callable[[Any], Any]) -> Self:
        """Calls a function with every layer, children first, this one last.

        Args:
            fn: what is called with each layer.

        Returns:
            This layer.

        Examples:
            >>> def halve(layer):
            ...     if isinstance(layer, paddle.nn.Linear):
            ...         layer.weight.set_value(layer.weight / 2)
            >>> model = paddle.nn.Sequential(paddle.nn.Linear(1, 1, weight_attr=paddle.nn.initializer.Constant(3.0)))
            >>> model.apply(halve)[0].weight.tolist()
            [[1.5]]
        """
        for layer in self.children():
            layer.apply(fn)
        fn(self)
        return self
