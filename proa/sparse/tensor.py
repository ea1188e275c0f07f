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
from ..core.errors import runtime_error, type_error, value_error
from ..core.place import Place
from ..core.printing import array_to_string
from ..core.size import Size
from ..eager import engine
from ..eager.hooks import RemovableHandle, register_hook
from ..eager.moving import moved
from ..eager.tape import stand_in
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
    """What both layouts share."""

    __slots__ = ("_pattern", "_values")

    _pattern: Any
    _values: Tensor

    # Slots of the dense tensor that say where its recorded value is: a sparse tensor has none.
    _value = property(_refuse)  # type: ignore[assignment]
    _segment = property(_refuse)  # type: ignore[assignment]
    _index = property(_refuse)  # type: ignore[assignment]

    @property
    def shape(self) -> Size:
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
        found = self._values.grad
        return None if found is None else self._with_values(found)

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        self._values.grad = self._carried_seed("grad", value)

    @grad.deleter
    def grad(self) -> None:
        del self._values.grad

    def gradient(self) -> np.ndarray | None:
        found = self.grad
        return None if found is None else found.to_dense().numpy()

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        self._values.clear_gradient(set_to_zero)

    def backward(
        self,
        grad_tensor: Tensor | None = None,
        retain_graph: bool = False,
        *,
        dump_backward_graph_path: str | None = None,
    ) -> None:
        """Adds the gradients of this tensor's values to the `.grad` of the leaves they were computed from."""
        engine.backward([self._values], [self._carried_seed("backward", grad_tensor)], retain_graph)

    def register_hook(self, hook: Callable[[Tensor], Any]) -> RemovableHandle:
        """Calls `hook(gradient)`, with a sparse gradient, in every backward pass that reaches this tensor."""
        if not callable(hook):
            raise type_error("register_hook", "a hook must be callable", type(hook).__name__)

        def on_values(grad: Tensor) -> Tensor | None:
            return self._carried_seed("register_hook", hook(self._with_values(grad)))

        return register_hook(self._values, on_values)

    def retain_grads(self) -> None:
        self._values.retain_grads()  # type: ignore[attr-defined]

    # ---- layout ------------------------------------------------------------------------------------------------------

    def is_sparse(self) -> bool:
        return True

    def is_dense(self) -> bool:
        return False

    def nnz(self) -> int:
        """How many elements are stored (rows of values, where there are dense dimensions)."""
        return self._pattern.nnz

    def sparse_dim(self) -> int:
        return len(self._pattern.shape)

    def dense_dim(self) -> int:
        return self._values._aval.ndim - 1

    def values(self) -> Tensor:
        """The stored values, a dense tensor; its gradient is that of this tensor."""
        return stand_in(self._values)

    @property
    def strides(self) -> list[int]:
        return []

    @property
    def nbytes(self) -> int:
        return self._values._aval.nbytes + sum(array.nbytes for array in self._arrays())

    def _arrays(self) -> tuple[np.ndarray, ...]:
        raise NotImplementedError

    # ---- copies, devices, values ---------------------------------------------------------------------------------------

    def detach(self) -> Any:
        return self._with_values(alias(self._values))

    def clone(self) -> Any:
        return self._with_values(self._values.clone())  # type: ignore[attr-defined]

    def astype(self, dtype: Any) -> Any:
        return self._with_values(self._values.cast(dtype))  # type: ignore[attr-defined]

    cast = astype

    def _to_place(self, place: Place) -> Any:
        return self if place is self._aval.place else self._with_values(moved(self._values, place))

    def cpu(self) -> Any:
        return self._with_values(stand_in(self._values.cpu()))  # type: ignore[attr-defined]

    def cuda(self, device_id: int | None = None, blocking: bool = True) -> Any:
        return self._with_values(stand_in(self._values.cuda(device_id, blocking)))  # type: ignore[attr-defined]

    def to(self, *args: Any, **kwargs: Any) -> Any:
        return self._with_values(stand_in(self._values.to(*args, **kwargs)))  # type: ignore[attr-defined]

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
        if not self.is_leaf:
            raise runtime_error(
                "deepcopy", "only tensors made by the user (leaves) can be deep-copied", f"x: {self._aval}",
                "use detach() first",
            )  # fmt: skip
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
    """Coordinates and values: `indices()` is [sparse dimensions, stored elements]."""

    __slots__ = ()

    _pattern: CooPattern

    def is_sparse_coo(self) -> bool:
        return True

    def indices(self) -> Tensor:
        """The positions of the stored elements, [sparse dimensions, stored elements]."""
        return _index_tensor(self, "indices", self._pattern.indices)

    def is_coalesced(self) -> bool:
        """Whether the elements are known to be in order, none of them twice."""
        return self._pattern.coalesced

    def _arrays(self) -> tuple[np.ndarray, ...]:
        return (self._pattern.indices,)

    def _parts(self) -> list[tuple[str, np.ndarray]]:
        return [("indices", self._pattern.indices), ("values", np.asarray(self._values._data()))]


class SparseCsrTensor(SparseTensor):
    """Compressed rows: a matrix, or a batch of them."""

    __slots__ = ()

    _pattern: CsrPattern

    def sparse_dim(self) -> int:
        """Two, also for a batch of matrices, as Paddle has it."""
        return 2

    def is_sparse_csr(self) -> bool:
        return True

    def crows(self) -> Tensor:
        """Where each row begins among the stored elements."""
        return _index_tensor(self, "crows", self._pattern.crows)

    def cols(self) -> Tensor:
        """The column of each stored element."""
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
