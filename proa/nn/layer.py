"""Layer: the base class of everything with parameters.

A layer keeps parameters, sub-layers and buffers in three registries (`_parameters`, `_sub_layers`,
`_buffers`), as Paddle does, so that code which edits them works. Every registry mirrors its entries
into the layer's instance dictionary, so that `self.weight` is a plain attribute access.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core.dtype import get_default_dtype, is_differentiable, name_of, to_numpy_dtype
from ..core.errors import failed_type_check, type_error, value_error, warn
from ..core.place import parse_place
from ..core.tracebacks import boundary, trim
from ..eager.naming import unique_name
from ..eager.parameter import Parameter
from ..eager.tensor import Tensor, alias, tensor_from_data
from ..eager.views import replace_value
from ..ir import recorder
from ..ir.recorder import recording_gradients
from ..ops.basic import cast_to
from .base.layer_names import PaddleNames
from .base.registry import HookRemoveHelper, Hooks, Registry

_REGISTRIES = ("_parameters", "_sub_layers", "_buffers")


def scope_name(class_name: str) -> str:
    """`BatchNorm2D` as `batch_norm2d`."""
    parted = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", class_name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", parted).lower()


class Layer(PaddleNames):
    """The base class: assign parameters and sub-layers in `__init__`, compute in `forward`."""

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
        raise NotImplementedError(f"({type(self).__name__}) a layer is called through its forward(); define one.")

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
        """`hook(layer, inputs)` runs before `forward` and may return other inputs."""
        return HookRemoveHelper(self._forward_pre_hooks, (hook, with_kwargs), prepend)

    def register_forward_post_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> HookRemoveHelper:
        """`hook(layer, inputs, outputs)` runs after `forward` and may return other outputs."""
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
        """Registers a parameter under a name (None reserves the name)."""
        self._check_name("parameter", name, self._parameters)
        if parameter is not None and not isinstance(parameter, Parameter):
            raise type_error("add_parameter", "the parameter must be a Parameter", type(parameter).__name__)
        self._enter("_parameters", name, parameter)
        return parameter

    def add_sublayer(self, name: str, sublayer: Layer | None) -> Layer | None:
        """Registers a sub-layer under a name."""
        if sublayer is not None and not isinstance(sublayer, Layer):
            raise failed_type_check("add_sublayer", "the sublayer must be a Layer", type(sublayer).__name__)
        self._enter("_sub_layers", str(name), sublayer)
        return sublayer

    def register_buffer(self, name: str, tensor: Tensor | None, persistable: bool = True) -> None:
        """Registers a tensor that is no parameter; it is saved if `persistable`."""
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
        return self.add_parameter(name, param)

    def add_module(self, name: str, module: Layer | None) -> Layer | None:
        return self.add_sublayer(name, module)

    register_module = add_module

    @boundary
    def create_parameter(
        self,
        shape: Any,
        attr: Any = None,
        dtype: Any = None,
        is_bias: bool = False,
        default_initializer: Any = None,
        device: Any = None,
    ) -> Any:
        """A new parameter, initialised; None if `attr` is False. Assign it to register it."""
        from .base.attributes import make_parameter

        kind = self._dtype if dtype is None else dtype
        return make_parameter(shape, kind, attr, is_bias, default_initializer, self._full_name, device)

    def create_tensor(self, name: str | None = None, persistable: Any = None, dtype: Any = None) -> Tensor:
        """An empty tensor to be filled later."""
        tensor = tensor_from_data(np.zeros((), to_numpy_dtype(dtype or self._dtype)))
        tensor.name = name or unique_name(f"{self._full_name}._generated_var")
        tensor.persistable = bool(persistable)
        return tensor

    create_variable = create_tensor

    # ---- walking -------------------------------------------------------------------------------

    def named_children(self) -> Iterator[tuple[str, Layer]]:
        seen: set[int] = set()
        for name, layer in self._sub_layers.items():
            if layer is not None and id(layer) not in seen:
                seen.add(id(layer))
                yield name, layer

    def children(self) -> Iterator[Layer]:
        for _, layer in self.named_children():
            yield layer

    def named_sublayers(
        self,
        prefix: str = "",
        include_self: bool = False,
        layers_set: set[Layer] | None = None,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Layer]]:
        """All layers below this one with their dotted names, parents before children."""
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
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def modules(self) -> Iterator[Layer]:
        return iter(self.sublayers(include_self=True))

    def named_modules(
        self, memo: set[Layer] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Layer]]:
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
        """Parameters with their dotted names; one that appears twice comes once."""
        return self._named_members("_parameters", prefix, include_sublayers, remove_duplicate)

    def parameters(self, include_sublayers: bool = True) -> list[Parameter]:
        return [parameter for _, parameter in self.named_parameters("", include_sublayers)]

    def named_buffers(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        return self._named_members("_buffers", prefix, include_sublayers, remove_duplicate)

    def buffers(self, include_sublayers: bool = True) -> list[Tensor]:
        return [buffer for _, buffer in self.named_buffers("", include_sublayers)]

    def get_sublayer(self, target: str) -> Layer:
        """The layer with the dotted name `target`."""
        layer = self
        for name in target.split(".") if target else ():
            layer = getattr(layer, name)
            if not isinstance(layer, Layer):
                raise AttributeError(f"({type(self).__name__}) {target!r} is not a layer")
        return layer

    get_submodule = get_sublayer

    def set_sublayer(self, target: str, layer: Layer, strict: bool = False) -> None:
        """Puts a layer at the dotted name `target`."""
        parent, _, name = target.rpartition(".")
        owner = self.get_sublayer(parent)
        if strict and name not in owner._sub_layers:
            raise AttributeError(f"({type(self).__name__}) there is no sub-layer {target!r}")
        owner.add_sublayer(name, layer)

    set_submodule = set_sublayer

    def get_parameter(self, target: str) -> Parameter:
        parent, _, name = target.rpartition(".")
        found = self.get_sublayer(parent)._parameters.get(name)
        if found is None:
            raise AttributeError(f"({type(self).__name__}) there is no parameter {target!r}")
        return found

    def get_buffer(self, target: str) -> Tensor:
        parent, _, name = target.rpartition(".")
        found = self.get_sublayer(parent)._buffers.get(name)
        if found is None:
            raise AttributeError(f"({type(self).__name__}) there is no buffer {target!r}")
        return found

    def apply(self, fn: Callable[[Layer], Any]) -> Layer:
        """Calls `fn` with every layer, children first, this one last."""
        for layer in self.children():
            layer.apply(fn)
        fn(self)
        return self

    # ---- modes ---------------------------------------------------------------------------------

    def train(self, mode: bool = True) -> Layer:
        """Training behaviour (dropout drops, batch norm learns its statistics), here and below."""
        for layer in self.sublayers(include_self=True):
            layer.training = bool(mode)
        return self

    def eval(self) -> Layer:
        """Inference behaviour, here and below."""
        return self.train(False)

    def clear_gradients(self, set_to_zero: bool = True) -> None:
        """Sets all gradients to zeros, or takes them away: like an optimiser, the end of a step."""
        for parameter in self.parameters():
            parameter.clear_gradient(set_to_zero)
        recorder.boundary()

    def zero_grad(self, set_to_none: bool = True) -> None:
        self.clear_gradients(not set_to_none)

    def requires_grad_(self, requires_grad: bool = True) -> Layer:
        for parameter in self.parameters():
            parameter.stop_gradient = not requires_grad
        return self

    def full_name(self) -> str:
        """The unique name of this layer, such as `linear_0`."""
        return self._full_name

    # ---- device and dtype ----------------------------------------------------------------------

    def to(self, device: Any = None, dtype: Any = None, blocking: Any = None, non_blocking: Any = None) -> Layer:
        """Moves parameters and buffers to a device, and floating ones to a data type; in place."""
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

    def astype(self, dtype: Any = None) -> Layer:
        """Floating parameters and buffers in another data type; in place."""
        self._convert(None, to_numpy_dtype(dtype), ())
        return self

    def type(self, dst_type: Any) -> Layer:
        return self.astype(dst_type)

    def float(self, excluded_layers: Any = None) -> Layer:
        self._convert(None, to_numpy_dtype("float32"), _types(excluded_layers))
        return self

    def double(self) -> Layer:
        return self.astype("float64")

    def half(self) -> Layer:
        return self.astype("float16")

    def float16(self, excluded_layers: Any = None) -> Layer:
        self._convert(None, to_numpy_dtype("float16"), _types(excluded_layers))
        return self

    def bfloat16(self, excluded_layers: Any = None) -> Layer:
        self._convert(None, to_numpy_dtype("bfloat16"), _types(excluded_layers))
        return self

    def cpu(self) -> Layer:
        return self.to("cpu")

    def cuda(self, device: Any = None) -> Layer:
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
        """Parameters and persistable buffers by their dotted names: the tensors themselves."""
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
        return HookRemoveHelper(self._state_dict_hooks, hook)

    def set_state_dict(
        self, state_dict: dict[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """Takes the numbers of a state dictionary; gives the missing and the unexpected names.

        With `use_structured_name=False` the keys are the tensors' own names (`linear_0.w_0`).
        A tensor of another shape is left out with a warning, one of another data type is an error.
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

    def load_state_dict(self, state_dict: dict[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """`set_state_dict`, with an error for names that do not match if `strict`."""
        missing, unexpected = self.set_state_dict(state_dict)
        if strict and (missing or unexpected):
            raise RuntimeError(
                f"(load_state_dict) the state dictionary does not fit {type(self).__name__}; "
                f"missing: {missing}, unexpected: {unexpected}; strict=False takes what fits."
            )
        return missing, unexpected

    # ---- text ----------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """What stands between the brackets of the printed layer."""
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
