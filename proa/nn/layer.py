"""Layer: the base class of everything with parameters.

A layer keeps parameters, sub-layers and buffers in three registries (`_parameters`, `_sub_layers`,
`_buffers`), as Paddle does, so that code which edits them works. Every registry mirrors its entries
into the layer's instance dictionary, so that `self.weight` is a plain attribute access.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, Protocol, TypeVar

import numpy as np

from ..core.dtype import get_default_dtype, is_differentiable, name_of, to_numpy_dtype
from ..core.errors import failed_type_check, type_error, value_error, warn
from ..core.place import parse_place
from ..core.tracebacks import boundary, trim
from ..eager.annotations import AttrLike, DeviceLike, DTypeLike, ShapeLike
from ..eager.naming import unique_name
from ..eager.parameter import Parameter
from ..eager.tensor import Tensor, alias, tensor_from_data
from ..eager.views import replace_value
from ..ir import recorder
from ..ir.recorder import recording_gradients
from ..ops.basic import cast_to
from .base.layer_names import PaddleNames
from .base.registry import HookRemoveHelper, Hooks, Registry

if TYPE_CHECKING:
    from .initializer import Initializer

_Inputs = ParamSpec("_Inputs")
_Result = TypeVar("_Result", covariant=True)


class _HasForward(Protocol[_Inputs, _Result]):
    def forward(self, *inputs: _Inputs.args, **kwargs: _Inputs.kwargs) -> _Result: ...


_REGISTRIES = ("_parameters", "_sub_layers", "_buffers")


def scope_name(class_name: str) -> str:
    """`BatchNorm2D` as `batch_norm2d`."""
    parted = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", class_name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", parted).lower()


class _IncompatibleKeys(NamedTuple):
    """What `load_state_dict` returns, under Paddle's name: the names that are missing, and those that are unexpected."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not (self.missing_keys or self.unexpected_keys):
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"

    __str__ = __repr__


class Layer(PaddleNames):
    """The base class of everything with parameters.

    Assign parameters, sub-layers and buffers in `__init__`, after `super().__init__()`; compute in `forward`. Calling
    the layer calls `forward`, with the hooks that were registered.

    Args:
        name_scope: the beginning of the layer's name; made from the name of the class if left out.
        dtype: the data type of parameters that `create_parameter` makes.

    Examples:
        >>> class Scaled(paddle.nn.Layer):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.linear = paddle.nn.Linear(2, 3)
        ...         self.scale = self.create_parameter([1], default_initializer=paddle.nn.initializer.Constant(2.0))
        ...     def forward(self, x):
        ...         return self.linear(x) * self.scale
        >>> layer = Scaled()
        >>> layer(paddle.ones([4, 2])).shape
        paddle.Size([4, 3])
        >>> [name for name, _ in layer.named_parameters()]
        ['scale', 'linear.weight', 'linear.bias']
    """

    training: bool

    def __init__(self, name_scope: str | None = None, dtype: Any = "float32") -> None:
        state = self.__dict__
        state["training"] = True
        state["_full_name"] = unique_name(name_scope or scope_name(type(self).__name__))
        state["_dtype"] = get_default_dtype() if dtype is None else name_of(to_numpy_dtype(dtype))
        for registry in _REGISTRIES:
            state[registry] = Registry(self)
        state["_non_persistable_buffer_names_set"] = set()
        state["_forward_pre_hooks"] = Hooks()
        state["_forward_post_hooks"] = Hooks()
        state["_state_dict_hooks"] = Hooks()

    # ---- calling -------------------------------------------------------------------------------

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the layer computes; subclasses define it.

        Raises:
            NotImplementedError: the subclass defines none.

        Examples:
            >>> class Double(paddle.nn.Layer):
            ...     def forward(self, x):
            ...         return 2 * x
            >>> Double()(paddle.to_tensor([1.0, 2.0])).tolist()
            [2.0, 4.0]
        """
        raise NotImplementedError(f"({type(self).__name__}) a layer is called through its forward(); define one.")

    if TYPE_CHECKING:
        # A call takes and gives what the layer's own `forward` does.
        def __call__(
            self: _HasForward[_Inputs, _Result], *inputs: _Inputs.args, **kwargs: _Inputs.kwargs
        ) -> _Result: ...
    else:

        def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
            try:
                if self._forward_pre_hooks or self._forward_post_hooks:
                    return self._call_with_hooks(inputs, kwargs)
                return self.forward(*inputs, **kwargs)
            except Exception as failure:
                trim(failure)
                raise

    def _call_with_hooks(self, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for hook, with_kwargs in list(self._forward_pre_hooks.values()):
            if with_kwargs:
                changed = hook(self, inputs, kwargs)
                if changed is not None:
                    inputs, kwargs = changed
            else:
                changed = hook(self, inputs)
                if changed is not None:
                    inputs = changed if isinstance(changed, tuple) else (changed,)
        outputs = self.forward(*inputs, **kwargs)
        for hook, with_kwargs in list(self._forward_post_hooks.values()):
            arguments = (self, inputs, kwargs, outputs) if with_kwargs else (self, inputs, outputs)
            changed = hook(*arguments)
            if changed is not None:
                outputs = changed
        return outputs

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookRemoveHelper:
        """Has a function called before `forward`.

        Args:
            hook: `hook(layer, inputs)`; what it returns, unless None, takes the place of the inputs.
            prepend: calls it before the hooks that are there already.
            with_kwargs: calls `hook(layer, inputs, kwargs)` instead, which returns (inputs, kwargs) or None.

        Returns:
            A handle whose `remove()` takes the hook away.

        Examples:
            >>> layer = paddle.nn.ReLU()
            >>> handle = layer.register_forward_pre_hook(lambda layer, inputs: inputs[0] + 10)
            >>> layer(paddle.to_tensor([1.0])).tolist()
            [11.0]
            >>> handle.remove()
            >>> layer(paddle.to_tensor([1.0])).tolist()
            [1.0]
        """
        return HookRemoveHelper(self._forward_pre_hooks, (hook, with_kwargs), prepend)

    def register_forward_post_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> HookRemoveHelper:
        """Has a function called after `forward`.

        Args:
            hook: `hook(layer, inputs, outputs)`; what it returns, unless None, takes the place of the outputs.
            prepend: calls it before the hooks that are there already.
            with_kwargs: calls `hook(layer, inputs, kwargs, outputs)` instead.
            always_call: accepted for compatibility.

        Returns:
            A handle whose `remove()` takes the hook away.

        Examples:
            >>> shapes = []
            >>> layer = paddle.nn.Linear(2, 3)
            >>> handle = layer.register_forward_post_hook(lambda layer, inputs, outputs: shapes.append(outputs.shape))
            >>> _ = layer(paddle.ones([4, 2]))
            >>> shapes
            [paddle.Size([4, 3])]
        """
        return HookRemoveHelper(self._forward_post_hooks, (hook, with_kwargs), prepend)

    register_forward_hook = register_forward_post_hook

    # ---- members -------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        state = self.__dict__
        if isinstance(value, Parameter):
            self._enter("_parameters", name, value)
        elif isinstance(value, Layer):
            self._enter("_sub_layers", name, value)
        elif isinstance(value, Tensor) and "_buffers" in state and not _is_property(self, name):
            if name in state["_parameters"]:
                raise _wrong_member("parameter", name, "Parameter", value)
            if name not in state["_buffers"]:
                state["_non_persistable_buffer_names_set"].add(name)
            self._enter("_buffers", name, value)
        elif name in _REGISTRIES:
            state[name] = Registry(self, value)
        else:
            for registry, kind in zip(_REGISTRIES, ("Parameter", "Layer", "Tensor"), strict=True):
                entries = state.get(registry)
                if entries and name in entries:
                    if value is not None:
                        raise _wrong_member(registry.strip("_").rstrip("s"), name, kind, value)
                    entries[name] = None
                    return
            object.__setattr__(self, name, value)

    def _enter(self, registry: str, name: str, value: Any) -> None:
        """Puts a member into one registry and out of the others."""
        state = self.__dict__
        if registry not in state:
            raise value_error(type(self).__name__, "super().__init__() should be called first", f"self.{name} = …")
        for other in _REGISTRIES:
            if other != registry and name in state[other]:
                del state[other][name]
        state[registry][name] = value

    def __getattr__(self, name: str) -> Any:
        # Members are in the instance dictionary, so that only missing names come here.
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        state = self.__dict__
        for registry in _REGISTRIES:
            if registry in state and name in state[registry]:
                del state[registry][name]
                state["_non_persistable_buffer_names_set"].discard(name)
                return
        object.__delattr__(self, name)

    def __getstate__(self) -> dict[str, Any]:
        members = {name for registry in _REGISTRIES for name in self.__dict__.get(registry, ())}
        state = {name: value for name, value in self.__dict__.items() if name not in members}
        for registry in _REGISTRIES:
            if registry in state:
                state[registry] = dict(state[registry])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for registry in _REGISTRIES:
            if registry in state:
                self.__dict__[registry] = Registry(self, state[registry])

    def add_parameter(self, name: str, parameter: Parameter | None) -> Parameter | None:
        """Registers a parameter under a name, as `layer.name = parameter` does.

        Args:
            name: the name, without dots.
            parameter: the parameter; None reserves the name.

        Returns:
            The parameter.

        Raises:
            KeyError: the name is empty, has a dot, or is taken by something else.
            TypeError: it is no parameter.

        Examples:
            >>> layer = paddle.nn.Layer()
            >>> _ = layer.add_parameter("scale", paddle.create_parameter([2], "float32"))
            >>> layer.scale.shape
            paddle.Size([2])
        """
        self._check_name("parameter", name, self._parameters)
        if parameter is not None and not isinstance(parameter, Parameter):
            raise type_error("add_parameter", "the parameter must be a Parameter", type(parameter).__name__)
        self._enter("_parameters", name, parameter)
        return parameter

    def add_sublayer(self, name: str, sublayer: Layer | None) -> Layer | None:
        """Registers a sub-layer under a name, as `layer.name = sublayer` does.

        Args:
            name: the name; it may be one that is no attribute in Python, such as "0".
            sublayer: the layer; None reserves the name.

        Returns:
            The sub-layer.

        Examples:
            >>> layer = paddle.nn.Layer()
            >>> layer.add_sublayer("act", paddle.nn.ReLU())
            ReLU()
            >>> layer
            Layer(
              (act): ReLU()
            )
        """
        if sublayer is not None and not isinstance(sublayer, Layer):
            raise failed_type_check("add_sublayer", "the sublayer must be a Layer", type(sublayer).__name__)
        self._enter("_sub_layers", str(name), sublayer)
        return sublayer

    def register_buffer(self, name: str, tensor: Tensor | None, persistable: bool = True) -> None:
        """Registers a tensor that is no parameter, such as a running mean.

        Args:
            name: the name, without dots.
            tensor: the tensor; None reserves the name.
            persistable: whether `state_dict` contains it.

        Raises:
            KeyError: the name is empty, has a dot, or is taken by something else.
            TypeError: it is no tensor.

        Examples:
            >>> layer = paddle.nn.Layer()
            >>> layer.register_buffer("steps", paddle.zeros([1]))
            >>> layer.register_buffer("scratch", paddle.zeros([1]), persistable=False)
            >>> list(layer.state_dict())
            ['steps']
        """
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise type_error("register_buffer", "the buffer must be a Tensor", type(tensor).__name__)
        self._enter("_buffers", name, tensor)
        if persistable:
            self._non_persistable_buffer_names_set.discard(name)
        else:
            self._non_persistable_buffer_names_set.add(name)

    def _check_name(self, what: str, name: Any, registry: Registry) -> None:
        if not isinstance(name, str):
            raise type_error(f"add_{what}", f"the name of a {what} must be a string", repr(name))
        if not name or "." in name:
            raise KeyError(f"the name of a {what} can not be empty or contain '.'; received {name!r}")
        if hasattr(self, name) and name not in registry:
            raise KeyError(f"the {what} {name!r} already exists as an attribute")

    def register_parameter(self, name: str, param: Parameter | None) -> Parameter | None:
        """`add_parameter`, under PyTorch's name.

        Examples:
            >>> layer = paddle.nn.Layer()
            >>> _ = layer.register_parameter("scale", paddle.create_parameter([2], "float32"))
            >>> layer.scale.shape
            paddle.Size([2])
        """
        return self.add_parameter(name, param)

    def add_module(self, name: str, module: Layer | None) -> None:
        """`add_sublayer` under PyTorch's name, which returns nothing.

        Examples:
            >>> layer = paddle.nn.Layer()
            >>> layer.add_module("act", paddle.nn.ReLU())
            >>> layer.act
            ReLU()
        """
        self.add_sublayer(name, module)

    register_module = add_module

    @boundary
    def create_parameter(
        self,
        shape: ShapeLike,
        attr: AttrLike | None = None,
        dtype: DTypeLike | None = None,
        is_bias: bool = False,
        default_initializer: Initializer | None = None,
        device: DeviceLike | None = None,
    ) -> Any:
        """A new parameter, initialised. Assign it to the layer to register it.

        Args:
            shape: its extents.
            attr: how it is made: a `ParamAttr`, an initializer or a name; False makes none.
            dtype: its data type; that of the layer if left out.
            is_bias: starts from zeros if nothing else is said; weights start from `XavierUniform`.
            default_initializer: what fills it where `attr` names no initializer.
            device: where it lies; the current device if left out.

        Returns:
            The parameter, or None where `attr` is False.

        Examples:
            >>> layer = paddle.nn.Layer()
            >>> layer.bias = layer.create_parameter([3], is_bias=True)
            >>> layer.bias.tolist(), layer.bias.stop_gradient
            ([0.0, 0.0, 0.0], False)
        """
        from .base.attributes import make_parameter

        kind = self._dtype if dtype is None else dtype
        return make_parameter(shape, kind, attr, is_bias, default_initializer, self._full_name, device)

    def create_tensor(self, name: str | None = None, persistable: Any = None, dtype: DTypeLike | None = None) -> Tensor:
        """An empty tensor, to be filled later.

        Args:
            name: its name; a unique one if left out.
            persistable: whether it is saved with the layer.
            dtype: its data type; that of the layer if left out.

        Examples:
            >>> paddle.nn.Layer().create_tensor("total", dtype="int64").dtype
            paddle.int64
        """
        tensor = tensor_from_data(np.zeros((), to_numpy_dtype(dtype or self._dtype)))
        tensor.name = name or unique_name(f"{self._full_name}._generated_var")
        tensor.persistable = bool(persistable)
        return tensor

    create_variable = create_tensor

    # ---- walking -------------------------------------------------------------------------------

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
        if include_self and not (remove_duplicate and self in seen):
            seen.add(self)
            yield prefix, self
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
        layers = self.named_sublayers(prefix, True, None, remove_duplicate) if include_sublayers else [(prefix, self)]
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
        layer = self
        for name in target.split(".") if target else ():
            layer = getattr(layer, name)
            if not isinstance(layer, Layer):
                raise AttributeError(f"({type(self).__name__}) {target!r} is not a layer")
        return layer

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

    def apply(self, fn: Callable[[Layer], Any]) -> Layer:
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

    # ---- modes ---------------------------------------------------------------------------------

    def train(self, mode: bool = True) -> Layer:
        """Training behaviour (dropout drops, batch norm learns its statistics), here and below.

        Args:
            mode: False means `eval()`.

        Returns:
            This layer.

        Examples:
            >>> layer = paddle.nn.Sequential(paddle.nn.Dropout())
            >>> layer.eval()[0].training, layer.train()[0].training
            (False, True)
        """
        for layer in self.sublayers(include_self=True):
            layer.training = bool(mode)
        return self

    def eval(self) -> Layer:
        """Inference behaviour (dropout does nothing, batch norm uses what it has learned), here and below.

        Returns:
            This layer.

        Examples:
            >>> paddle.nn.Dropout(0.9).eval()(paddle.ones([3])).tolist()
            [1.0, 1.0, 1.0]
        """
        return self.train(False)

    def clear_gradients(self, set_to_zero: bool = True) -> None:
        """Sets all gradients to zeros, or takes them away: like an optimiser's `clear_grad`, the end of a step.

        Args:
            set_to_zero: False takes them away, so that `grad` is None.

        Examples:
            >>> layer = paddle.nn.Linear(2, 1)
            >>> layer(paddle.ones([1, 2])).sum().backward()
            >>> layer.clear_gradients()
            >>> layer.bias.grad.tolist()
            [0.0]
        """
        for parameter in self.parameters():
            parameter.clear_gradient(set_to_zero)
        recorder.boundary()

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Takes all gradients away, under PyTorch's name.

        Args:
            set_to_none: False sets them to zeros instead.

        Examples:
            >>> layer = paddle.nn.Linear(2, 1)
            >>> layer(paddle.ones([1, 2])).sum().backward()
            >>> layer.zero_grad()
            >>> layer.bias.grad is None
            True
        """
        self.clear_gradients(not set_to_none)

    def requires_grad_(self, requires_grad: bool = True) -> Layer:
        """Whether the parameters, here and below, get gradients.

        Args:
            requires_grad: False freezes them.

        Returns:
            This layer.

        Examples:
            >>> layer = paddle.nn.Linear(2, 1).requires_grad_(False)
            >>> [parameter.trainable for parameter in layer.parameters()]
            [False, False]
        """
        for parameter in self.parameters():
            parameter.stop_gradient = not requires_grad
        return self

    def full_name(self) -> str:
        """The unique name of this layer, which the names of its parameters begin with.

        Examples:
            >>> layer = paddle.nn.Linear(2, 1)
            >>> layer.weight.name.startswith(layer.full_name())
            True
        """
        return self._full_name

    # ---- device and dtype ----------------------------------------------------------------------

    def to(
        self,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
        blocking: bool | None = None,
        non_blocking: Any = None,
    ) -> Layer:
        """Moves parameters and buffers to a device, and floating ones to a data type; in place.

        Args:
            device: the device, as 'cpu' or 'gpu:0'; or a tensor whose device and data type are taken.
            dtype: the data type of floating parameters and buffers.
            blocking: accepted for compatibility.
            non_blocking: accepted for compatibility.

        Returns:
            This layer.

        Examples:
            >>> paddle.nn.Linear(2, 1).to("cpu", dtype="float64").weight.dtype
            paddle.float64
        """
        return self._to_impl(device, dtype, blocking, non_blocking)

    def _to_impl(
        self, device: Any = None, dtype: Any = None, blocking: Any = None, non_blocking: Any = None,
        include_sublayers: bool = True, floating_only: bool = False,
    ) -> Layer:  # fmt: skip
        """What `to` does: libraries put another `to` before it."""
        if isinstance(device, Tensor):
            device, dtype = device.place, device.dtype
        place = None if device is None else parse_place(device)
        kind = None if dtype is None else to_numpy_dtype(dtype)
        self._convert(place, kind, (), include_sublayers)
        return self

    def _convert(
        self, place: Any, kind: np.dtype | None, excluded: tuple[type, ...], include_sublayers: bool = True
    ) -> None:
        with recording_gradients(False):
            for layer in self.sublayers(include_self=True) if include_sublayers else [self]:
                if excluded and isinstance(layer, excluded):
                    continue
                if kind is not None:
                    layer._dtype = name_of(kind)
                for registry in ("_parameters", "_buffers"):
                    for tensor in layer.__dict__[registry].values():
                        if tensor is not None:
                            _convert_tensor(tensor, place, kind)

    def astype(self, dtype: DTypeLike | None = None) -> Layer:
        """Floating parameters and buffers in another data type; in place.

        Args:
            dtype: the data type.

        Returns:
            This layer.

        Examples:
            >>> paddle.nn.Linear(2, 1).astype("float16").weight.dtype
            paddle.float16
        """
        self._convert(None, to_numpy_dtype(dtype), ())
        return self

    def type(self, dst_type: Any) -> Layer:
        """`astype`, under PyTorch's name.

        Examples:
            >>> paddle.nn.Linear(2, 1).type("float64").weight.dtype
            paddle.float64
        """
        return self.astype(dst_type)

    def float(self, excluded_layers: Any = None) -> Layer:
        """Floating parameters and buffers in float32; in place.

        Args:
            excluded_layers: a class of layers, or several, that stay as they are.

        Returns:
            This layer.

        Examples:
            >>> paddle.nn.Linear(2, 1).double().float().weight.dtype
            paddle.float32
        """
        self._convert(None, to_numpy_dtype("float32"), _types(excluded_layers))
        return self

    def double(self) -> Layer:
        """Floating parameters and buffers in float64; in place.

        Examples:
            >>> paddle.nn.Linear(2, 1).double().weight.dtype
            paddle.float64
        """
        return self.astype("float64")

    def half(self) -> Layer:
        """Floating parameters and buffers in float16; in place.

        Examples:
            >>> paddle.nn.Linear(2, 1).half().weight.dtype
            paddle.float16
        """
        return self.astype("float16")

    def float16(self, excluded_layers: Any = None) -> Layer:
        """Floating parameters and buffers in float16; in place.

        Args:
            excluded_layers: a class of layers, or several, that stay as they are.

        Returns:
            This layer.

        Examples:
            >>> model = paddle.nn.Sequential(paddle.nn.Linear(2, 2), paddle.nn.LayerNorm(2))
            >>> _ = model.float16(excluded_layers=paddle.nn.LayerNorm)
            >>> model[0].weight.dtype, model[1].weight.dtype
            (paddle.float16, paddle.float32)
        """
        self._convert(None, to_numpy_dtype("float16"), _types(excluded_layers))
        return self

    def bfloat16(self, excluded_layers: Any = None) -> Layer:
        """Floating parameters and buffers in bfloat16; in place.

        Args:
            excluded_layers: a class of layers, or several, that stay as they are.

        Returns:
            This layer.

        Examples:
            >>> paddle.nn.Linear(2, 1).bfloat16().weight.dtype
            paddle.bfloat16
        """
        self._convert(None, to_numpy_dtype("bfloat16"), _types(excluded_layers))
        return self

    def cpu(self) -> Layer:
        """Parameters and buffers in the CPU's memory; in place.

        Examples:
            >>> paddle.nn.Linear(2, 1).cpu().weight.place
            Place(cpu)
        """
        return self.to("cpu")

    def cuda(self, device: DeviceLike | None = None) -> Layer:
        """Parameters and buffers on a GPU; in place.

        Args:
            device: its number or name; the first one if left out.

        Examples:
            >>> layer = paddle.nn.Linear(2, 1)
            >>> if paddle.device.cuda.device_count():
            ...     _ = layer.cuda(0)
            >>> layer.weight.place.is_gpu_place() == bool(paddle.device.cuda.device_count())
            True
        """
        return self.to("gpu" if device is None else f"gpu:{device}" if isinstance(device, int) else device)

    # ---- state ---------------------------------------------------------------------------------

    def state_dict(
        self,
        destination: dict[str, Tensor] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> dict[str, Tensor]:
        """Parameters and persistable buffers by their dotted names: the tensors themselves, not copies.

        Args:
            destination: a dictionary to put them in; a new one if left out.
            include_sublayers: False gives this layer's own only.
            structured_name_prefix: what all names begin with.
            use_hook: runs the hooks of `register_state_dict_hook`.
            keep_vars: accepted for compatibility.

        Examples:
            >>> model = paddle.nn.Sequential(paddle.nn.Linear(2, 3), paddle.nn.BatchNorm1D(3))
            >>> list(model.state_dict())
            ['0.weight', '0.bias', '1.weight', '1.bias', '1._mean', '1._variance']
        """
        found: dict[str, Tensor] = OrderedDict() if destination is None else destination
        for name, parameter in self._parameters.items():
            if parameter is not None:
                found[structured_name_prefix + name] = parameter
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistable_buffer_names_set:
                found[structured_name_prefix + name] = buffer
        if include_sublayers:
            for name, layer in self._sub_layers.items():
                if layer is not None:
                    layer.state_dict(found, True, f"{structured_name_prefix}{name}.", use_hook, keep_vars)
        if use_hook:
            for hook in list(self._state_dict_hooks.values()):
                changed = hook(found)
                if changed is not None:
                    found = changed
        return found

    to_static_state_dict = state_dict

    def register_state_dict_hook(self, hook: Callable[..., Any]) -> HookRemoveHelper:
        """Has a function called with each new `state_dict`; what it returns, unless None, takes the dictionary's place.

        Args:
            hook: the function.

        Returns:
            A handle whose `remove()` takes the hook away.

        Examples:
            >>> layer = paddle.nn.Linear(2, 1)
            >>> handle = layer.register_state_dict_hook(lambda state: {f"net.{name}": state[name] for name in state})
            >>> list(layer.state_dict())
            ['net.weight', 'net.bias']
        """
        return HookRemoveHelper(self._state_dict_hooks, hook)

    def set_state_dict(
        self, state_dict: dict[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """Takes over the numbers of a state dictionary.

        A tensor of another shape is left as it is, with a warning.

        Args:
            state_dict: tensors or arrays by name.
            use_structured_name: False looks them up by the tensors' own names (`linear_0.w_0`) instead of dotted ones.

        Returns:
            The missing names, and the names that nothing was done with.

        Raises:
            TypeError: a tensor has another data type; nothing is changed then.

        Examples:
            >>> layer = paddle.nn.Linear(2, 1)
            >>> layer.set_state_dict({"weight": np.ones([2, 1], "float32"), "other": np.ones(1)})
            (['bias'], ['other'])
            >>> layer.weight.tolist()
            [[1.0], [1.0]]
        """
        missing: list[str] = []
        used: set[str] = set()
        matched: list[tuple[Tensor, Tensor]] = []  # all is checked before anything is changed
        for structured, tensor in self.state_dict(use_hook=False).items():
            key = structured if use_structured_name else tensor.name
            if key not in state_dict:
                warn(f"(set_state_dict) {key} is not in the state dictionary; it is left as it is.")
                missing.append(key)
                continue
            value = state_dict[key]
            shape = tuple(getattr(value, "shape", np.shape(value)))
            if shape != tensor._aval.shape:
                warn(
                    f"(set_state_dict) {key} has the shape {list(shape)} in the state dictionary "
                    f"and {list(tensor._aval.shape)} in the layer; it is left as it is."
                )
                missing.append(key)
                continue
            used.add(key)
            matched.append((tensor, _source(tensor, value)))
        for tensor, source in matched:
            replace_value(tensor, source)
        return missing, [key for key in state_dict if key not in used]

    set_dict = set_state_dict
    load_dict = set_state_dict

    def load_state_dict(
        self, state_dict: dict[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """`set_state_dict`, with an error for names that do not match.

        Args:
            state_dict: tensors or arrays by name.
            strict: False takes what fits.
            assign: accepted for compatibility.

        Returns:
            The missing names, and the names that nothing was done with.

        Raises:
            RuntimeError: a name is missing or unexpected, and `strict` is True.

        Examples:
            >>> source, target = paddle.nn.Linear(2, 1), paddle.nn.Linear(2, 1)
            >>> target.load_state_dict(source.state_dict())
            <All keys matched successfully>
            >>> bool((target.weight == source.weight).all())
            True
        """
        missing, unexpected = self.set_state_dict(state_dict)
        if strict and (missing or unexpected):
            raise RuntimeError(
                f"(load_state_dict) the state dictionary does not fit {type(self).__name__}; "
                f"missing: {missing}, unexpected: {unexpected}; strict=False takes what fits."
            )
        return _IncompatibleKeys(missing, unexpected)

    # ---- text ----------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed; subclasses define it.

        Examples:
            >>> class Noise(paddle.nn.Layer):
            ...     def extra_repr(self):
            ...         return "level=3"
            >>> Noise()
            Noise(level=3)
        """
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        inner = []
        for name, layer in self._sub_layers.items():
            text = repr(layer).replace("\n", "\n  ")
            inner.append(f"({name}): {text}")
        head = f"{type(self).__name__}("
        text = "\n  " + "\n  ".join(lines) + "\n" if len(lines) > 1 else extra
        return head + text + ("\n  " + "\n  ".join(inner) + "\n" if inner else "") + ")"


def _wrong_member(what: str, name: str, kind: str, value: Any) -> TypeError:
    what = what.replace("sub_layer", "sublayer")
    return TypeError(
        f"assignment to {what} '{name}' should be of type {kind} or None, but got '{type(value).__name__}'"
    )


def _is_property(layer: Layer, name: str) -> bool:
    return isinstance(getattr(type(layer), name, None), property)


def _types(excluded: Any) -> tuple[type, ...]:
    if excluded is None:
        return ()
    return tuple(excluded) if isinstance(excluded, (list, tuple)) else (excluded,)


def _convert_tensor(tensor: Tensor, place: Any, kind: np.dtype | None) -> None:
    changed = alias(tensor)
    if kind is not None and is_differentiable(tensor._aval.dtype) and kind != tensor._aval.dtype:
        changed = cast_to(changed, kind)
    if place is not None:
        changed = changed._to_place(place)
    if changed._aval is not tensor._aval:
        replace_value(tensor, changed)
        if tensor._grad is not None:
            _convert_tensor(tensor._grad, place, kind)


def _source(tensor: Tensor, value: Any) -> Tensor:
    """A tensor or array of a parameter's shape as what the parameter can take over."""
    source = alias(value) if isinstance(value, Tensor) else tensor_from_data(value)
    if source._aval.dtype != tensor._aval.dtype:
        raise type_error(
            "set_state_dict",
            f"{tensor.name} has another data type in the state dictionary",
            f"{source._aval} for {tensor._aval}",
            "convert one of them with astype()",
        )
    return source._to_place(tensor._aval.place)
