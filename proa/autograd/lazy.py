"""`jacobian` and `hessian`: matrices of derivatives of tensors that are there already.

A row of the matrix costs one backward pass, so rows are computed when they are first looked at. All
of them can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import index_error, type_error, value_error
from ..eager.backward.engine import gradients, zeros_of
from ..eager.declare import PUBLIC
from ..eager.tensor import Tensor, tensor_from_data


class Jacobian:
    """Derivatives of one tensor with respect to another: `J[i, j] = dy[i] / dx[j]`.

    Rows are computed when they are first looked at. With a batch axis `J[b, i, j] = dy[b, i] /
    dx[b, j]`. The dimension of a 0-d tensor (or of a batch of them) is left out. Anything but an
    index acts on the whole matrix, as a Tensor.
    """

    def __init__(self, ys: Tensor, xs: Tensor, is_batched: bool = False) -> None:
        self._ys, self._xs = ys, xs
        self._is_batched = is_batched
        self._has_rows = ys._aval.ndim > int(is_batched)
        self._rows: dict[int, Tensor] = {}
        self._whole: Tensor | None = None
        first = int(is_batched)
        self.shape: list[int] = [
            *ys._aval.shape[:first],
            *ys._aval.shape[first:],
            *xs._aval.shape[first:],
        ]

    @property
    def _num_rows(self) -> int:
        return self._ys._aval.shape[-1] if self._has_rows else 1

    def _row(self, number: int) -> Tensor:
        """Row `number`, in the shape of xs; computed once."""
        row = self._rows.get(number)
        if row is None:
            seed = _unit(self._ys, number) if self._has_rows else None
            row = self._rows[number] = _derivative(self._ys, self._xs, seed)
        return row

    def _evaluate(self) -> Tensor:
        if self._whole is None:
            self._whole = self._stack(range(self._num_rows)) if self._has_rows else self._row(0)
        return self._whole

    def _stack(self, numbers: Sequence[int]) -> Tensor:
        rows = [self._row(number) for number in numbers]
        if rows:
            return PUBLIC["stack"](rows, axis=int(self._is_batched))
        aval = self._xs._aval
        first = int(self._is_batched)
        return zeros_of(aval.with_shape((*aval.shape[:first], 0, *aval.shape[first:])))

    def __getitem__(self, index: Any) -> Tensor:
        items = index if isinstance(index, tuple) else (index,)
        axis = int(self._is_batched)
        if not self._has_rows or len(items) <= axis or not all(isinstance(i, (int, slice)) for i in items):
            return self._evaluate()[index]  # type: ignore[index]
        chosen = items[axis]
        count = self._num_rows
        if isinstance(chosen, slice):
            part = self._stack(range(count)[chosen])
            return part[(*items[:axis], slice(None), *items[axis + 1 :])]  # type: ignore[index]
        if not -count <= chosen < count:
            raise index_error("jacobian", f"row {chosen} of {count}", f"shape: {self.shape}")
        rest = (*items[:axis], *items[axis + 1 :])
        row = self._row(chosen % count)
        return row[rest] if rest else row  # type: ignore[index]

    def __len__(self) -> int:
        return self.shape[0]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._evaluate(), name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self.shape})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self._evaluate().__array__(dtype, copy)


class Hessian(Jacobian):
    """Second derivatives: the Jacobian of a gradient."""


def _forward_operator(name: str) -> Any:
    def operate(self: Jacobian, *others: Any) -> Any:
        values = [o._evaluate() if isinstance(o, Jacobian) else o for o in others]
        return getattr(self._evaluate(), name)(*values)

    operate.__name__ = name
    return operate


for _stem in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
    for _name in (f"__{_stem}__", f"__r{_stem}__"):
        setattr(Jacobian, _name, _forward_operator(_name))
for _stem in ("neg", "abs", "lt", "le", "gt", "ge"):
    setattr(Jacobian, f"__{_stem}__", _forward_operator(f"__{_stem}__"))


def _unit(ys: Tensor, number: int) -> Tensor:
    """Ones at column `number` of the last axis, zeros elsewhere: picks a row, of a whole batch."""
    seed = np.zeros(ys._aval.shape, ys._aval.dtype)
    seed[..., number] = 1
    return tensor_from_data(seed, place=ys._aval.place)


def _derivative(ys: Tensor, xs: Tensor, seed: Tensor | None = None) -> Tensor:
    """A gradient that can be differentiated again; zeros where nothing depends on xs."""
    (found,) = gradients([ys], [xs], [seed], create_graph=True)
    return zeros_of(xs._aval) if found is None else found


def jacobian(ys: Tensor | Sequence[Tensor], xs: Tensor | Sequence[Tensor], batch_axis: int | None = None) -> Any:
    """The matrix of derivatives of `ys` with respect to `xs`; its rows are computed when they are looked at.

    Args:
        ys: a tensor with at most one axis (and one more in front with `batch_axis`), or a tuple of them.
        xs: the same.
        batch_axis: 0 where the first axis counts a batch; None otherwise.

    Returns:
        The matrix; for a tuple, of one of the two or of both, a tuple of matrices, that of `ys` outside.

    Raises:
        ValueError: a tensor has more axes, or `batch_axis` is something else.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> paddle.autograd.jacobian(x ** 2, x)[:].tolist()
        [[2.0, 0.0], [0.0, 4.0]]
    """
    is_batched = _is_batched("jacobian", batch_axis)
    for what, given in (("ys", ys), ("xs", xs)):
        for tensor in _as_tuple(given):
            _check_rank("jacobian", what, tensor, is_batched)
    return _nested(ys, lambda y: _nested(xs, lambda x: Jacobian(y, x, is_batched)))


def hessian(ys: Tensor, xs: Tensor | Sequence[Tensor], batch_axis: int | None = None) -> Any:
    """The matrix of second derivatives of a number with respect to `xs`; computed when it is looked at.

    Args:
        ys: one number; with `batch_axis` one for each entry of the batch.
        xs: a tensor with at most one axis (and one more in front with `batch_axis`), or a tuple of them.
        batch_axis: 0 where the first axis counts a batch; None otherwise.

    Returns:
        The matrix; for a tuple `xs` a tuple of tuples of matrices.

    Raises:
        ValueError: `ys` has several numbers, a tensor has more axes, or `batch_axis` is something else.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> paddle.autograd.hessian((x ** 3).sum(), x)[:].tolist()
        [[6.0, 0.0], [0.0, 12.0]]
    """
    is_batched = _is_batched("hessian", batch_axis)
    expected = ys._aval.shape[0] if is_batched and ys._aval.ndim else 1
    if ys._aval.size != expected:
        raise value_error(
            "hessian",
            "ys must be one number" + (" for each entry of the batch" if is_batched else ""),
            f"ys: {ys._aval}",
        )
    for tensor in _as_tuple(xs):
        _check_rank("hessian", "xs", tensor, is_batched)
    gradients_of_ys = [_derivative(ys, x) for x in _as_tuple(xs)]
    if isinstance(xs, Tensor):
        return Hessian(gradients_of_ys[0], xs, is_batched)
    return tuple(tuple(Hessian(gradient_of_y, x, is_batched) for x in xs) for gradient_of_y in gradients_of_ys)


def _is_batched(where: str, batch_axis: int | None) -> bool:
    if batch_axis not in (None, 0) or batch_axis is False:
        raise value_error(where, "batch_axis must be None or 0", repr(batch_axis))
    return batch_axis is not None


def _as_tuple(given: Any) -> tuple[Any, ...]:
    return tuple(given) if isinstance(given, (list, tuple)) else (given,)


def _nested(given: Any, function: Any) -> Any:
    return tuple(function(item) for item in given) if isinstance(given, (list, tuple)) else function(given)


def _check_rank(where: str, what: str, tensor: Any, is_batched: bool) -> None:
    if not isinstance(tensor, Tensor):
        raise type_error(where, f"{what} must be a Tensor or several", type(tensor).__name__)
    allowed = (1, 2) if is_batched else (0, 1)
    if tensor._aval.ndim not in allowed:
        raise value_error(
            where,
            f"{what} must have {allowed[0]} or {allowed[1]} dimensions"
            + (" with batch_axis=0" if is_batched else ""),
            f"{what}: {tensor._aval}", "flatten it first",
        )  # fmt: skip
