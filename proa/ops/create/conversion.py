"""Tensors from other things and back: `as_tensor`, `from_numpy`, DLPack, `FloatTensor` and its like, `tolist`.

A tensor made of an array has a copy of it, as in Paddle 3.3.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtype import to_numpy_dtype
from ...core.errors import type_error, value_error
from ...core.place import parse_place
from ...core.printing import set_printoptions
from ...core.size import Size
from ...eager.annotations import DeviceLike, DTypeLike, TensorLike
from ...eager.declare import PUBLIC, public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor, jax_value, tensor_from_data
from ..arguments import finish, new_shape, require_tensor
from ..basic import full_of
from .creation import to_tensor

_COPIES = (S(A(2, 3)), S([[1, 2], [3, 4]]), S(2.5), S([1, 2], dtype="float64"), S(A(0, 2, dtype="int32")))


def _reference_copy(data: Any, dtype: Any = None) -> Any:
    array = np.asarray(data)
    return array.astype(dtype or ("float32" if array.dtype == np.float64 else array.dtype))


@samples(*_COPIES, reference=_reference_copy, gradient=False, why="a copy outside the graph")
@public()
def as_tensor(
    data: TensorLike,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor with a copy of `data`; see `to_tensor`.

    Args:
        data: a number, nested lists, an array, or another tensor.
        dtype: the type of the result; that of the data by default.
        device: where the result lies; the current device by default.
        requires_grad: whether its gradient is wanted.
        pin_memory: accepted; memory is pinned by XLA where it helps.

    Examples:
        >>> paddle.as_tensor([1, 2], dtype="float64").tolist()
        [1.0, 2.0]
    """
    return to_tensor(data, dtype, device, not requires_grad)


@samples(*_COPIES, reference=_reference_copy, gradient=False, why="a copy outside the graph")
@public()
def asarray(
    obj: TensorLike,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A new tensor with a copy of `obj`; see `to_tensor`.

    Args:
        obj: a number, nested lists, an array, or another tensor.
        dtype: the type of the result; that of the data by default.
        device: where the result lies; the current device by default.
        copy: accepted; the data is always copied.
        requires_grad: whether its gradient is wanted.

    Examples:
        >>> paddle.asarray(np.arange(3)).tolist()
        [0, 1, 2]
    """
    return to_tensor(obj, dtype, device, not requires_grad)


@samples(
    S(np.arange(3)), S(np.ones((2, 0), "float32")), S(np.array(True)),
    reference=lambda ndarray: ndarray, gradient=False, why="a copy outside the graph",
)  # fmt: skip
@public()
def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A tensor with a copy of a NumPy array.

    Args:
        ndarray: the array; its type is kept.

    Raises:
        TypeError: it is no NumPy array.

    Examples:
        >>> paddle.from_numpy(np.array([1.5, 2.5])).dtype
        paddle.float64
    """
    if not isinstance(ndarray, np.ndarray):
        raise type_error("from_numpy", "the data must be a NumPy array", type(ndarray).__name__, "use to_tensor()")
    return tensor_from_data(ndarray)


@samples(S(A(2, 3)), S(A()), S(A(0, dtype="int64")), gradient=False, why="the result is a list")
@public()
def tolist(x: Tensor) -> Any:
    """The numbers of a tensor in nested lists; of one without axes, a number.

    Args:
        x: the tensor.

    Examples:
        >>> paddle.tolist(paddle.to_tensor([[1, 2], [3, 4]]))
        [[1, 2], [3, 4]]
    """
    return require_tensor("tolist", "x", x).tolist()


@public()
def from_dlpack(dlpack: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor from anything that speaks DLPack, or from a capsule that `to_dlpack` gave."""
    if isinstance(dlpack, Tensor):
        source = dlpack
    elif hasattr(dlpack, "__dlpack__"):
        source = tensor_from_data(dlpack)
    elif type(dlpack).__name__ == "PyCapsule":
        source = tensor_from_data(np.array(np.from_dlpack(_Capsule(dlpack))))
    else:
        raise type_error("from_dlpack", "the data must offer __dlpack__ or be its capsule", type(dlpack).__name__)
    return source if device is None else source._to_place(parse_place(device))


class _Capsule:
    """A bare capsule of host memory in the form that NumPy reads."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


@public()
def to_dlpack(x: Tensor) -> Any:
    """The capsule by which another library reads a tensor without a copy."""
    return jax_value(require_tensor("to_dlpack", "x", x)._data()).__dlpack__()


class MmapStorage:
    """A file of numbers, of which tensors are made piece by piece: only what is asked for is read.

    Args:
        filename: the file.
        nbytes: how many bytes of it are used.

    Examples:
        >>> np.arange(6, dtype="int32").tofile("numbers.bin")
        >>> paddle.MmapStorage("numbers.bin", 24).get_slice("int32", 2, 5).tolist()
        [2, 3, 4]
    """

    def __init__(self, filename: str, nbytes: int) -> None:
        try:
            self._bytes = np.memmap(filename, np.uint8, "r")
        except (OSError, ValueError) as error:
            raise RuntimeError(f"(MmapStorage) the file cannot be read: {error}.") from None
        if self._bytes.size < nbytes:
            raise RuntimeError(f"(MmapStorage) {filename} has {self._bytes.size} bytes; received nbytes: {nbytes}.")
        self._bytes = self._bytes[:nbytes]

    def get_slice(self, dtype: DTypeLike = "uint8", start: int = 0, stop: int = -1, step: int = 1) -> Tensor:
        """A tensor of some of the numbers in the file.

        Args:
            dtype: what the bytes stand for.
            start: the number of the first element.
            stop: the number of the element behind the last; -1 means the end of the file.
            step: every how many elements one is taken.

        Examples:
            >>> np.arange(6, dtype="float32").tofile("numbers.bin")
            >>> paddle.MmapStorage("numbers.bin", 24).get_slice("float32", step=2).tolist()
            [0.0, 2.0, 4.0]
        """
        kind = to_numpy_dtype(dtype)
        whole = self._bytes[: self._bytes.size // kind.itemsize * kind.itemsize].view(kind)
        if step <= 0 or not 0 <= start <= whole.size or not -1 <= stop <= whole.size:
            raise value_error(
                "get_slice",
                f"start and stop must lie within the {whole.size} elements, and step be positive",
                f"start: {start}, stop: {stop}, step: {step}",
            )
        return tensor_from_data(np.array(whole[start : None if stop == -1 else stop : step]))


# ---- tensors of a type ---------------------------------------------------------------------------

_TYPED = {
    "BFloat16Tensor": "bfloat16",
    "BoolTensor": "bool",
    "ByteTensor": "uint8",
    "CharTensor": "int8",
    "DoubleTensor": "float64",
    "FloatTensor": "float32",
    "HalfTensor": "float16",
    "IntTensor": "int32",
    "LongTensor": "int64",
    "ShortTensor": "int16",
}


def _made(name: str, dtype: np.dtype, arguments: tuple[Any, ...], device: Any) -> Tensor:
    """No argument: no elements. Integers: a shape, whose numbers mean nothing yet. Else data."""
    if len(arguments) == 0:
        return finish(full_of(0, (0,), dtype), None, device)
    if all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in arguments):
        made = full_of(0, new_shape(name, arguments), dtype)
    elif len(arguments) > 1 or isinstance(arguments[0], (float, complex, str, bytes, bool)) or arguments[0] is None:
        raise value_error(name, "give integers for a shape, or one list, array or tensor", repr(arguments))
    else:
        made = to_tensor(arguments[0], dtype)
    return finish(made, None, device)


def _typed_tensor(name: str, dtype: str) -> type:
    wanted = to_numpy_dtype(dtype)

    def make(cls: type, *args: Any, **kwargs: Any) -> Tensor:
        device = kwargs.pop("device", None)
        if kwargs:
            raise type_error(name, f"there is no argument {next(iter(kwargs))!r}")
        return _made(name, wanted, args, device)

    text = f"""A {dtype} tensor of data, of a shape, or without elements.

    Args:
        *args: a list, an array or a tensor; or integers for a shape, whose numbers mean nothing yet; or nothing.
        **kwargs: `device`, where it lies.

    Examples:
        >>> paddle.{name}([1, 0]).dtype, paddle.{name}(2, 3).shape, paddle.{name}().shape
        (paddle.{dtype}, paddle.Size([2, 3]), paddle.Size([0]))
    """
    return type(name, (), {"__new__": make, "__doc__": text, "__module__": __name__})


for _name, _dtype in _TYPED.items():
    _class = _typed_tensor(_name, _dtype)
    for _module in ("", "device.", "cuda."):
        PUBLIC[f"{_module}{_name}"] = _class

PUBLIC.update(MmapStorage=MmapStorage, Size=Size, set_printoptions=set_printoptions)
