"""Methods of Tensor that programs call by Paddle's inner names (`_md5sum`, `_clear_data` …)."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from ..core.place import parse_place
from ..eager.attaching import attach
from ..eager.parameter import Parameter
from ..eager.tensor import Tensor, tensor_from_data
from ..eager.views import replace_value
from .missing import missing_function


def _to(self: Tensor, device: Any = None, dtype: Any = None, blocking: Any = None) -> Tensor:
    return self.to(*(given for given in (device, dtype) if given is not None))


def _md5sum(self: Tensor) -> str:
    """The MD5 sum of the values, as bytes in memory."""
    return hashlib.md5(np.ascontiguousarray(self.numpy()).tobytes()).hexdigest()


def _is_initialized(self: Tensor) -> bool:
    return self._aval.size > 0


def _use_gpudnn(self: Tensor, use_gpudnn: bool = True) -> Tensor:
    """Which library computes is the compiler's choice."""
    return self


def is_same(self: Tensor, other: Tensor) -> bool:
    """Whether two names stand for one tensor.

    Args:
        other: anything.

    Examples:
        >>> x = paddle.ones([2])
        >>> x.is_same(x), x.is_same(x.clone())
        (True, False)
    """
    return self is other


def _share_buffer_to(self: Tensor, other: Tensor) -> None:
    """The other tensor takes this one's value."""
    replace_value(other, self.detach())


def _is_shared_buffer_with(self: Tensor, other: Tensor) -> bool:
    return self is other or self._value is other._value


def _clear_data(self: Tensor) -> None:
    """Lets the memory go; the tensor has no elements then."""
    replace_value(self, tensor_from_data(np.zeros((0,), self._aval.dtype), None, self._aval.place))


def _numel(self: Tensor) -> int:
    return self._aval.size


def _slice(self: Tensor, begin_idx: int, end_idx: int) -> Tensor:
    return self[begin_idx:end_idx]  # type: ignore[index]


def _copy_to(self: Tensor, place: Any, blocking: bool = True) -> Tensor:
    return self.to(parse_place(place))


def _inplace_version(self: Tensor) -> int:
    return self.inplace_version


def _grad_name(self: Tensor) -> str:
    return f"{self.name}@GRAD"


def _local_value(self: Tensor) -> Tensor:
    return self


def _unset_fake_empty(self: Tensor) -> None:
    """Tensors without values know their shape."""


def _zero_grads(self: Tensor) -> None:
    self.clear_gradient(True)


def _offset(self: Tensor) -> int:
    return 0


def _reset_grad_inplace_version(self: Tensor, set_to_zero: bool = False) -> None:
    """Gradients have no history of changes."""


def _holder_size(self: Tensor) -> int:
    return self._aval.size * self._aval.dtype.itemsize


def _block(self: Tensor) -> Any:
    """Where a static program would keep it."""
    from ..static.mode import default_main_program  # the static API is loaded when somebody asks for it

    return default_main_program().global_block()


def _from_tensor(cls: type[Parameter], tensor: Tensor, **kwargs: Any) -> Parameter:
    """A parameter with a copy of a tensor's numbers.

    Args:
        tensor: the tensor.
        kwargs: `name`, `trainable`, `regularizer`, `need_clip`, `do_model_average` or `optimize_attr`.

    Examples:
        >>> paddle.nn.Parameter.from_tensor(paddle.to_tensor([1.0, 2.0]), name="scale").name
        'scale'
    """
    known = {"name", "trainable", "regularizer", "need_clip", "do_model_average"}
    made = cls(tensor.detach().clone(), **{key: kwargs[key] for key in known & kwargs.keys()})
    made.optimize_attr = kwargs.get("optimize_attr", made.optimize_attr)
    return made


def _place_text(self: Tensor) -> str:
    return repr(self._aval.place)


_METHODS = (
    _to, _md5sum, _is_initialized, _use_gpudnn, is_same, _share_buffer_to, _is_shared_buffer_with, _clear_data, _numel,
    _slice, _copy_to, _inplace_version, _grad_name, _local_value, _unset_fake_empty, _zero_grads, _offset,
    _reset_grad_inplace_version, _holder_size,
)  # fmt: skip
attach(
    __name__,
    **{_method.__name__: _method for _method in _METHODS},
    _clear=_clear_data,
    _local_shape=None,
    _place_str=property(_place_text),
    block=property(_block),
)
Parameter.from_tensor = classmethod(_from_tensor)  # type: ignore[attr-defined]
Parameter._init_func = Parameter._init_op_creator = None  # type: ignore[attr-defined]
attach(__name__, _new_shared_filename=staticmethod(missing_function("base.core.LoDTensor._new_shared_filename")))
