"""Sparse tensors: a pattern and a dense tensor with the stored values.

A sparse tensor *is* a `paddle.Tensor`, but it takes no part in recording: its values do. Every operation on it is a
composition of ordinary operations on `_values`, so it is recorded, compiled and differentiated like everything else, and
its place in the graph (leaf or result, gradient, hooks) is that of `_values`.

A dense operation that meets a sparse tensor looks for a recorded value, finds none, and raises TypeError.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..core.aval import make_aval
from ..core.errors import type_error, value_error
from ..core.place import Place
from ..core.printing import array_to_string
from ..core.size import Size
from ..eager.annotations import DTypeLike
from ..eager.backward import engine
from ..eager.backward.hooks import RemovableHandle, register_hook
from ..eager.backward.tape import stand_in
from ..eager.moving import moved
from ..eager.tensor import Tensor, alias, tensor_from_data
from .pattern import CooPattern, CsrPattern, Lookup, Pattern


def _refuse(self: SparseTensor) -> NoReturn:
    raise type_error(
        _caller(),
        "this operation takes dense tensors only",
        f"a sparse tensor: {self._aval}",
        "use its form in paddle.sparse, or to_dense() first",
    )


def _caller() -> str:
    """The name of the operation that asked for a recorded value: from the code that the dispatcher runs for it."""
    frame = sys._getframe(2)
    while frame is not None:
        filename = frame.f_code.co_filename
        if filename.startswith("<binder of "):
            return filename[len("<binder of ") : -1]
        operation: Any = frame.f_locals.get("operation")
        if hasattr(operation, "operand_names"):
            return operation.name
        if "/proa/eager/" not in filename.replace("\\", "/"):
            return frame.f_code.co_name
        frame = frame.f_back
    return "tensor"


class SparseTensor(Tensor):
    """What both layouts of sparse tensors share.

    Examples:
        >>> x = paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2)
        >>> isinstance(x, paddle.Tensor), x.shape, x.nnz()
        (True, paddle.Size([2, 2]), 2)
    """

    __slots__ = ("_pattern", "_values")

    _pattern: Any
    _values: Tensor

    # Slots of the dense tensor that say where its recorded value is: a sparse tensor has none.
    _value = property(_refuse)  # type: ignore[assignment]
    _segment = property(_refuse)  # type: ignore[assignment]
    _index = property(_refuse)  # type: ignore[assignment]

    @property
    def shape(self) -> Size:
        """The sizes of all dimensions, sparse and dense.

        Examples:
            >>> paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2).shape
            paddle.Size([2, 2])
        """
        return Size(self._aval.shape)

    def __init__(self, pattern: Pattern, values: Tensor) -> None:
        """Takes `values` over: they must belong to this tensor alone (see `stand_in`)."""
        self._pattern = pattern
        self._values = values
        aval = values._aval
        self._aval = make_aval((*pattern.shape, *aval.shape[1:]), aval.dtype, aval.place)

    def _with_values(self, values: Tensor) -> Any:
        """Other values at the same positions."""
        return self.__class__(self._pattern, values)

    # ---- place in the graph: that of the values ----------------------------------------------------------------------

    @property
    def stop_gradient(self) -> bool:  # type: ignore[override]
        """Whether no gradient is wanted.

        Examples:
            >>> paddle.sparse.sparse_coo_tensor([[0]], [1.0], [2], stop_gradient=False).stop_gradient
            False
        """
        return self._values.stop_gradient

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        self._values.stop_gradient = value

    @property
    def _node(self) -> Any:  # type: ignore[override]
        return self._values._node

    @property
    def _version(self) -> int:  # type: ignore[override]
        return self._values._version

    def _gradient_carrier(self) -> Tensor:
        return self._values

    def _as_gradient(self, grad: Tensor) -> Tensor:
        return self._with_values(grad)

    def _carried_seed(self, where: str, grad: Any) -> Tensor | None:
        if grad is None:
            return None
        if not isinstance(grad, SparseTensor) or not self._pattern.is_same(grad._pattern):
            received = f"{_described(grad)} for {_described(self)}"
            raise value_error(where, "the gradient of a sparse result must be sparse at the same positions", received)
        return grad._values

    @property
    def grad(self) -> Tensor | None:
        """The gradient, sparse as this tensor; None before a backward pass.

        Examples:
            >>> x = paddle.sparse.sparse_coo_tensor([[0, 1]], [2.0, 3.0], [2], stop_gradient=False)
            >>> paddle.sparse.square(x).backward()
            >>> x.grad.values().tolist()
            [4.0, 6.0]
        """
        found = self._values.grad
        return None if found is None else self._with_values(found)

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        self._values.grad = self._carried_seed("grad", value)

    @grad.deleter
    def grad(self) -> None:
        del self._values.grad

    def gradient(self) -> np.ndarray | None:
        """The gradient's stored values as an array, or None.

        Examples:
            >>> paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2).gradient() is None
            True
        """
        found = self.grad
        return None if found is None else found.to_dense().numpy()

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Forgets the gradient, or sets it to zero.

        Args:
            set_to_zero: which of both.

        Examples:
            >>> x = paddle.sparse.sparse_coo_tensor([[0, 1]], [2.0, 3.0], [2], stop_gradient=False)
            >>> paddle.sparse.square(x).backward()
            >>> x.clear_gradient(set_to_zero=False)
            >>> x.grad is None
            True
        """
        self._values.clear_gradient(set_to_zero)

    def backward(
        self,
        grad_tensor: Tensor | None = None,
        retain_graph: bool = False,
        *,
        dump_backward_graph_path: str | None = None,
    ) -> None:
        """Adds the gradients of this tensor's values to the `.grad` of the leaves they were computed from.

        Args:
            grad_tensor: the gradient of this tensor; None for ones.
            retain_graph: whether `backward` can be called again.
            dump_backward_graph_path: a folder for the graph's text, or None.

        Examples:
            >>> x = paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]], stop_gradient=False)
            >>> paddle.sparse.square(x.to_sparse_coo(2)).backward()
            >>> x.grad.tolist()
            [[0.0, 4.0], [6.0, 0.0]]
        """
        engine.backward([self._values], [self._carried_seed("backward", grad_tensor)], retain_graph)

    def register_hook(self, hook: Callable[[Tensor], Any]) -> RemovableHandle:
        """Calls a function with a sparse gradient in every backward pass that reaches this tensor.

        Args:
            hook: the function; what it gives, unless None, takes the gradient's place.

        Returns:
            A handle; `remove()` takes the hook away.

        Examples:
            >>> x = paddle.sparse.sparse_coo_tensor([[0, 1]], [2.0, 3.0], [2], stop_gradient=False)
            >>> handle = x.register_hook(lambda gradient: print(gradient.values().tolist()))
            >>> paddle.sparse.square(x).backward()
            [4.0, 6.0]
            >>> _ = handle.remove()
        """
        if not callable(hook):
            raise type_error("register_hook", "a hook must be callable", type(hook).__name__)

        def on_values(grad: Tensor) -> Tensor | None:
            return self._carried_seed("register_hook", hook(self._with_values(grad)))

        return register_hook(self._values, on_values)

    def retain_grads(self) -> None:
        """Keeps the gradient of a tensor that is no leaf.

        Examples:
            >>> x = paddle.sparse.sparse_coo_tensor([[0, 1]], [2.0, 3.0], [2], stop_gradient=False)
            >>> y = paddle.sparse.square(x)
            >>> y.retain_grads()
            >>> paddle.sparse.square(y).backward()
            >>> y.grad.values().tolist()
            [8.0, 18.0]
        """
        self._values.retain_grads()

    # ---- layout ------------------------------------------------------------------------------------------------------

    def is_sparse(self) -> bool:
        """True.

        Examples:
            >>> paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2).is_sparse()
            True
        """
        return True

    def is_dense(self) -> bool:
        """False.

        Examples:
            >>> paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2).is_dense()
            False
        """
        return False

    def nnz(self) -> int:
        """How many elements are stored (rows of values, where there are dense dimensions).

        Examples:
            >>> paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2).nnz()
            2
        """
        return self._pattern.nnz

    def sparse_dim(self) -> int:
        """How many dimensions are sparse.

        Examples:
            >>> paddle.ones([2, 2, 3]).to_sparse_coo(2).sparse_dim()
            2
        """
        return len(self._pattern.shape)

    def dense_dim(self) -> int:
        """How many dimensions are dense.

        Examples:
            >>> paddle.ones([2, 2, 3]).to_sparse_coo(2).dense_dim()
            1
        """
        return self._values._aval.ndim - 1

    def values(self) -> Tensor:
        """The stored values, a dense tensor; its gradient is that of this tensor.

        Examples:
            >>> paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2).values().tolist()
            [2.0, 3.0]
        """
        return stand_in(self._values)

    @property
    def strides(self) -> list[int]:
        """Empty: the elements of a sparse tensor are not at even distances.

        Examples:
            >>> paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2).strides
            []
        """
        return []

    @property
    def nbytes(self) -> int:
        """How many bytes the stored positions and values take.

        Examples:
            >>> paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2).nbytes
            40
        """
        return self._values._aval.nbytes + sum(array.nbytes for array in self._arrays())

    def _arrays(self) -> tuple[np.ndarray, ...]:
        raise NotImplementedError

    # ---- copies, devices, values ---------------------------------------------------------------------------------------

    def detach(self) -> Any:
        """The same values without history.

        Examples:
            >>> paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2).detach().stop_gradient
            True
        """
        return self._with_values(alias(self._values))

    def clone(self) -> Any:
        """A copy, through which gradients flow.

        Examples:
            >>> paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2).clone().values().tolist()
            [2.0, 3.0]
        """
        return self._with_values(self._values.clone())

    def astype(self, dtype: DTypeLike | None) -> Any:
        """The same elements in another data type.

        Args:
            dtype: the type.

        Examples:
            >>> paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2).astype("float64").dtype
            paddle.float64
        """
        return self._with_values(self._values.cast(dtype))

    cast = astype

    def _to_place(self, place: Place) -> Any:
        return self if place is self._aval.place else self._with_values(moved(self._values, place))

    def cpu(self) -> Any:
        """The tensor in the host's memory.

        Examples:
            >>> paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2).cpu().place
            Place(cpu)
        """
        return self._with_values(stand_in(self._values.cpu()))

    def cuda(self, device_id: int | None = None, blocking: bool = True) -> Any:
        """The tensor on a GPU.

        Args:
            device_id: which one; None for the current.
            blocking: accepted.

        Examples:
            >>> paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2).cuda()  # doctest: +SKIP
        """
        return self._with_values(stand_in(self._values.cuda(device_id, blocking)))

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """The tensor with another data type, or on another device.

        Args:
            args, kwargs: those of `Tensor.to`.

        Examples:
            >>> paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2).to("float64").dtype
            paddle.float64
        """
        return self._with_values(stand_in(self._values.to(*args, **kwargs)))

    def _data(self) -> NoReturn:
        raise type_error(
            "numpy",
            "a sparse tensor is no single array",
            f"a sparse tensor: {self._aval}",
            "use to_dense().numpy(), or values()",
        )

    def __copy__(self) -> Any:
        return self._with_values(stand_in(self._values))

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        copied = memo[id(self)] = self._with_values(copy.deepcopy(self._values, memo))
        return copied

    def __reduce__(self) -> Any:
        values = self._values.numpy(), self.dtype.name, self.stop_gradient
        return _rebuild, (self.__class__, self._arrays(), self._pattern.shape, self._pattern.dtype.name, *values)

    def __repr__(self) -> str:
        aval = self._aval
        parts = [(*part, len(f"Tensor({part[0]}=")) for part in self._parts()]
        texts = [f"{' ' * 7}{name}={array_to_string(array, indent)}" for name, array, indent in parts]
        head = (
            f"Tensor(shape={list(aval.shape)}, dtype={self.dtype}, place={aval.place!r}, "
            f"stop_gradient={self.stop_gradient}, \n"
        )
        return head + ", \n".join(texts) + ")"

    def _parts(self) -> list[tuple[str, np.ndarray]]:
        """What is printed, by name."""
        raise NotImplementedError

    def __hash__(self) -> int:
        return id(self)


class SparseCooTensor(SparseTensor):
    """A sparse tensor by coordinates, as `sparse_coo_tensor` makes it.

    `indices()` is `[sparse dimensions, stored elements]`, `values()` the elements.

    Examples:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])
        >>> type(x).__name__, x.is_sparse_coo()
        ('SparseCooTensor', True)
    """

    __slots__ = ()

    _pattern: CooPattern

    def is_sparse_coo(self) -> bool:
        """True.

        Examples:
            >>> paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2).is_sparse_coo()
            True
        """
        return True

    def indices(self) -> Tensor:
        """The positions of the stored elements, `[sparse dimensions, stored elements]`.

        Examples:
            >>> paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2).indices().tolist()
            [[0, 1], [1, 0]]
        """
        return _index_tensor(self, "indices", self._pattern.indices)

    def is_coalesced(self) -> bool:
        """Whether the elements are known to be in order, none of them twice.

        Examples:
            >>> x = paddle.sparse.sparse_coo_tensor([[1, 0, 1]], [10.0, 5.0, 1.0], [2])
            >>> x.is_coalesced(), x.coalesce().is_coalesced()
            (False, True)
        """
        return self._pattern.coalesced

    def _arrays(self) -> tuple[np.ndarray, ...]:
        return (self._pattern.indices,)

    def _parts(self) -> list[tuple[str, np.ndarray]]:
        return [("indices", self._pattern.indices), ("values", np.asarray(self._values._data()))]


class SparseCsrTensor(SparseTensor):
    """A sparse matrix by compressed rows, or a batch of them, as `sparse_csr_tensor` makes it.

    Examples:
        >>> x = paddle.sparse.sparse_csr_tensor([0, 1, 2], [1, 0], [2.0, 3.0], [2, 2])
        >>> type(x).__name__, x.is_sparse_csr()
        ('SparseCsrTensor', True)
    """

    __slots__ = ()

    _pattern: CsrPattern

    def sparse_dim(self) -> int:
        """Two, also for a batch of matrices, as Paddle has it.

        Examples:
            >>> paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_csr().sparse_dim()
            2
        """
        return 2

    def is_sparse_csr(self) -> bool:
        """True.

        Examples:
            >>> paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_csr().is_sparse_csr()
            True
        """
        return True

    def crows(self) -> Tensor:
        """Where each row begins among the stored elements, and the end.

        Examples:
            >>> paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_csr().crows().tolist()
            [0, 1, 2]
        """
        return _index_tensor(self, "crows", self._pattern.crows)

    def cols(self) -> Tensor:
        """The column of each stored element.

        Examples:
            >>> paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_csr().cols().tolist()
            [1, 0]
        """
        return _index_tensor(self, "cols", self._pattern.cols)

    def _arrays(self) -> tuple[np.ndarray, ...]:
        return (self._pattern.crows, self._pattern.cols)

    def _parts(self) -> list[tuple[str, np.ndarray]]:
        pattern = self._pattern
        return [("crows", pattern.crows), ("cols", pattern.cols), ("values", np.asarray(self._values._data()))]


def _index_tensor(x: SparseTensor, name: str, array: np.ndarray) -> Tensor:
    pattern = x._pattern
    lookup = pattern.remember(("shown", name), lambda: Lookup(array.astype(pattern.dtype)))
    return alias(lookup.on(x._aval.place))


def _rebuild(
    kind: type[SparseTensor], arrays: Any, shape: Any, index_dtype: str, values: np.ndarray, dtype: str, stop: bool
) -> SparseTensor:
    restored = tensor_from_data(values, dtype)
    restored.stop_gradient = stop
    pattern: Any = CooPattern if kind is SparseCooTensor else CsrPattern
    return kind(pattern(*arrays, tuple(shape), dtype=np.dtype(index_dtype)), restored)


def _described(value: Any) -> str:
    if isinstance(value, SparseTensor):
        return f"sparse {value._aval} with {value.nnz()} elements"
    return f"dense {value._aval}" if isinstance(value, Tensor) else type(value).__name__


def require_sparse(where: str, name: str, value: Any) -> SparseTensor:
    """The argument itself; TypeError for a dense tensor or anything else."""
    if isinstance(value, SparseTensor):
        return value
    raise type_error(where, f"{name} must be a sparse tensor", f"{name}: {_described(value)}", "use to_sparse_coo()")


def require_coo(where: str, name: str, value: Any) -> SparseCooTensor:
    if isinstance(value, SparseCooTensor):
        return value
    raise type_error(
        where, f"{name} must be a sparse COO tensor", f"{name}: {_described(value)}", "use to_sparse_coo()"
    )


def require_dense(where: str, name: str, value: Any) -> Tensor:
    if isinstance(value, Tensor) and not isinstance(value, SparseTensor):
        return value
    raise type_error(where, f"{name} must be a dense tensor", f"{name}: {_described(value)}")
