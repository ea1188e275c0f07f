"""Derivatives of functions (`paddle.incubate.autograd`): `jvp`, `vjp`, `Jacobian`, `Hessian`.

A Jacobian-vector product takes two backward passes: the vector-Jacobian product is linear in its
vector, and the gradient of that linear function is the product wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.errors import index_error, type_error, value_error
from ..eager.backward.engine import gradients, tensor_list, zeros_of
from ..eager.backward.hooks import grad as plain_grad
from ..eager.declare import PUBLIC
from ..eager.modes import enable_grad
from ..eager.series.derived import separate
from ..eager.tensor import Tensor, tensor_from_data

Tensors = Tensor | Sequence[Tensor]


def vjp(func: Callable[..., Any], xs: Tensors, v: Tensors | None = None) -> tuple[Any, Any]:
    """The results of `func(*xs)`, and `v` times their Jacobian: one tensor for each of `xs`.

    Args:
        func: the function.
        xs: a tensor, or several.
        v: tensors of the shapes of the results; ones if left out.

    Returns:
        The results, and the products.

    Raises:
        ValueError: `v` has other shapes.
        TypeError: something is no tensor, or `func` cannot be called.

    Examples:
        >>> ys, product = paddle.autograd.vjp(lambda x: x ** 2, paddle.to_tensor([1.0, 2.0]))
        >>> ys.tolist(), product.tolist()
        ([1.0, 4.0], [2.0, 4.0])
    """
    inputs, ys, outputs = _call("vjp", func, xs)
    products = _pull_back(outputs, inputs, _vectors("vjp", v, outputs))
    return ys, _like(xs, products)


def jvp(func: Callable[..., Any], xs: Tensors, v: Tensors | None = None) -> tuple[Any, Any]:
    """The results of `func(*xs)`, and their Jacobian times `v`: one tensor for each result.

    Args:
        func: the function.
        xs: a tensor, or several.
        v: tensors of the shapes of `xs`; ones if left out.

    Returns:
        The results, and the products.

    Raises:
        ValueError: `v` has other shapes.
        TypeError: something is no tensor, or `func` cannot be called.

    Examples:
        >>> x, v = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 0.0])
        >>> ys, product = paddle.autograd.jvp(lambda x: x ** 2, x, v)
        >>> ys.tolist(), product.tolist()
        ([1.0, 4.0], [2.0, 0.0])
    """
    inputs, ys, outputs = _call("jvp", func, xs)
    products = _push_forward(outputs, inputs, _vectors("jvp", v, inputs))
    return ys, _like(ys, products)


def forward_grad(outputs: Tensors, inputs: Tensors, grad_inputs: Tensors | None = None) -> Any:
    """How much outputs change when inputs change: forward-mode differentiation.

    Args:
        outputs: a tensor or several.
        inputs: what they were computed from.
        grad_inputs: how the inputs change; ones if left out.

    Returns:
        The changes, in the form of `outputs`.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> paddle.incubate.autograd.forward_grad(x * x, x, paddle.to_tensor([1.0, 0.5])).tolist()
        [2.0, 2.0]
    """
    ys = tensor_list("forward_grad", "outputs", outputs)
    xs = tensor_list("forward_grad", "inputs", inputs)
    return _like(outputs, _push_forward(ys, xs, _vectors("forward_grad", grad_inputs, xs)))


def grad(outputs: Tensors, inputs: Tensors, grad_outputs: Tensors | None = None) -> Any:
    """Gradients that can be differentiated again.

    Args:
        outputs: a tensor or several.
        inputs: what they were computed from.
        grad_outputs: the factors of the outputs; ones if left out.

    Returns:
        The gradients, in the form of `inputs`; None for an input that is not used.

    Examples:
        >>> x = paddle.to_tensor([2.0], stop_gradient=False)
        >>> first = paddle.incubate.autograd.grad(x**3, x)
        >>> first.tolist(), paddle.incubate.autograd.grad(first, x).tolist()
        ([12.0], [12.0])
    """
    found = plain_grad(outputs, inputs, grad_outputs, create_graph=True, allow_unused=True)
    return found[0] if isinstance(inputs, Tensor) else found


def _call(where: str, func: Callable[..., Any], xs: Tensors) -> tuple[list[Tensor], Any, list[Tensor]]:
    """Calls the function on inputs of its own; gives them, its result, and that as a list."""
    if not callable(func):
        raise type_error(where, "func must be callable", type(func).__name__)
    inputs = [separate(x) for x in tensor_list(where, "xs", xs)]
    with enable_grad():
        ys = func(*inputs)
    return inputs, ys, tensor_list(where, "what func returns", ys)


def _vectors(where: str, given: Tensors | None, like: Sequence[Tensor]) -> list[Tensor | None]:
    if given is None:
        return [None] * len(like)
    vectors = [given] if isinstance(given, Tensor) else list(given)
    if len(vectors) != len(like):
        raise value_error(where, f"v must have {len(like)} tensor(s)", f"{len(vectors)}")
    for position, (vector, tensor) in enumerate(zip(vectors, like)):
        if not isinstance(vector, Tensor):
            raise type_error(where, f"v[{position}] must be a Tensor", type(vector).__name__)
        if vector._aval.shape != tensor._aval.shape:
            raise value_error(
                where,
                f"v[{position}] must have the shape {list(tensor._aval.shape)}",
                f"v[{position}]: {vector._aval}",
            )
    return list(vectors)


def _pull_back(ys: Sequence[Tensor], xs: Sequence[Tensor], vectors: Sequence[Tensor | None]) -> list[Tensor]:
    found = gradients(ys, xs, vectors, create_graph=True)
    return [zeros_of(x._aval) if g is None else g for g, x in zip(found, xs)]


def _push_forward(ys: Sequence[Tensor], xs: Sequence[Tensor], vectors: Sequence[Tensor | None]) -> list[Tensor]:
    # Zeros would do as well as any other value, since what follows is linear in them.
    seeds = [zeros_of(y._aval) for y in ys]
    for seed in seeds:
        seed.stop_gradient = False
    pulled = gradients(ys, xs, seeds, create_graph=True)
    used = [(g, v) for g, v in zip(pulled, vectors) if g is not None]
    if not used:
        return [zeros_of(y._aval) for y in ys]
    found = gradients([g for g, _ in used], seeds, [v for _, v in used], create_graph=True)
    return [zeros_of(y._aval) if g is None else g for g, y in zip(found, ys)]


def _like(given: Any, values: Sequence[Tensor]) -> Any:
    return values[0] if isinstance(given, Tensor) else tuple(values)


class Jacobian:
    """The Jacobian of a function as one matrix: results flattened into rows, inputs into columns.

    Rows are computed when they are first looked at.

    Args:
        func: a function of tensors.
        xs: its argument, or a sequence of them.
        is_batched: whether the first dimension of all tensors counts a batch, with one matrix for each entry.

    Examples:
        >>> xs = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> jacobian = paddle.incubate.autograd.Jacobian(lambda x: x * x, xs)
        >>> jacobian.shape, jacobian[:].tolist()
        ((2, 2), [[2.0, 0.0], [0.0, 4.0]])
    """

    def __init__(self, func: Callable[..., Any], xs: Tensors, is_batched: bool = False) -> None:
        self._inputs, _, self._outputs = _call(type(self).__name__, func, xs)
        self._is_batched = bool(is_batched)
        first = int(self._is_batched)
        for tensor in (*self._inputs, *self._outputs):
            if tensor._aval.ndim < first:
                raise value_error(
                    type(self).__name__,
                    "a batched tensor has at least one dimension",
                    f"{tensor._aval}",
                )
        self._batch: tuple[int, ...] = self._outputs[0]._aval.shape[:first]
        self._widths = [int(np.prod(y._aval.shape[first:])) for y in self._outputs]
        columns = sum(int(np.prod(x._aval.shape[first:])) for x in self._inputs)
        self._rows: dict[int, Tensor] = {}
        self.shape: tuple[int, ...] = (*self._batch, sum(self._widths), columns)

    def _row(self, number: int) -> Tensor:
        """Row `number` as `[columns]`, or `[batch, columns]`."""
        row = self._rows.get(number)
        if row is None:
            parts = _pull_back(self._outputs, self._inputs, self._seeds(number))
            flat = [part.reshape([*self._batch, -1]) for part in parts]
            row = flat[0] if len(flat) == 1 else PUBLIC["concat"](flat, axis=-1)
            self._rows[number] = row
        return row

    def _seeds(self, number: int) -> list[Tensor]:
        seeds = []
        for y, width in zip(self._outputs, self._widths):
            seed = np.zeros((*self._batch, width), y._aval.dtype)
            if 0 <= number < width:
                seed[..., number] = 1
            number -= width
            seeds.append(tensor_from_data(seed.reshape(y._aval.shape), place=y._aval.place))
        return seeds

    def __getitem__(self, index: Any) -> Tensor:
        items = index if isinstance(index, tuple) else (index,)
        axis = int(self._is_batched)
        count = self.shape[axis]
        chosen = items[axis] if len(items) > axis else slice(None)
        if isinstance(chosen, int):
            if not -count <= chosen < count:
                raise index_error(type(self).__name__, f"row {chosen} of {count}", f"shape: {list(self.shape)}")
            numbers: Sequence[int] = [chosen % count]
            chosen = 0
        elif isinstance(chosen, slice):
            numbers, chosen = range(count)[chosen], slice(None)
        else:
            numbers = range(count)
        matrix = PUBLIC["stack"]([self._row(number) for number in numbers], axis=axis)
        return matrix[(*items[:axis], chosen, *items[axis + 1 :])]


class Hessian(Jacobian):
    """The Hessian of a function with one number as its result.

    Args:
        func: a function of tensors.
        xs: its argument, or a sequence of them.
        is_batched: whether the first dimension of all tensors counts a batch; the result is a number for each entry.

    Examples:
        >>> xs = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> hessian = paddle.incubate.autograd.Hessian(lambda x: (x**3).sum(), xs)
        >>> hessian[:].tolist()
        [[6.0, 0.0], [0.0, 12.0]]
    """

    def __init__(self, func: Callable[..., Any], xs: Tensors, is_batched: bool = False) -> None:
        def gradient_of_y(*inputs: Tensor) -> list[Tensor]:
            ys = func(*inputs)
            (y,) = tensor_list("Hessian", "what func returns", ys)[:1]
            expected = y._aval.shape[0] if is_batched and y._aval.ndim else 1
            if (not isinstance(ys, Tensor) and len(ys) != 1) or y._aval.size != expected:
                raise value_error(
                    "Hessian",
                    "func must return one number"
                    + (" for each entry of the batch" if is_batched else ""),
                    f"{y._aval}",
                )  # fmt: skip
            return _pull_back([y], inputs, [None])

        super().__init__(gradient_of_y, xs, is_batched)


class _Prim:
    enabled = False


def enable_prim() -> None:
    """Accepted for compatibility: gradients are always made of primitive operations.

    Examples:
        >>> paddle.incubate.autograd.enable_prim()
        >>> paddle.incubate.autograd.prim_enabled()
        True
        >>> paddle.incubate.autograd.disable_prim()
    """
    _Prim.enabled = True


def disable_prim() -> None:
    """Takes back `enable_prim`; nothing else changes.

    Examples:
        >>> paddle.incubate.autograd.disable_prim()
        >>> paddle.incubate.autograd.prim_enabled()
        False
    """
    _Prim.enabled = False


def prim_enabled() -> bool:
    """Whether `enable_prim` was called last.

    Examples:
        >>> paddle.incubate.autograd.prim_enabled()
        False
    """
    return _Prim.enabled


for _name, _value in (
    ("jvp", jvp), ("vjp", vjp), ("Jacobian", Jacobian), ("Hessian", Hessian),
    ("forward_grad", forward_grad), ("grad", grad), ("enable_prim", enable_prim), ("disable_prim", disable_prim),
    ("prim_enabled", prim_enabled),
):  # fmt: skip
    PUBLIC[f"incubate.autograd.{_name}"] = _value
