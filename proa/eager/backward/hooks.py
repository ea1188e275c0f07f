"""Hooks on gradients, and the calls that start a backward pass.

A hook belongs to a place in the graph: that of a leaf is the tensor itself, that of a result the
node which made it. So a hook set before an in-place change sees the gradient of the value before
it.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ...core.errors import failed_check, runtime_error, type_error, value_error
from ...core.tracebacks import boundary
from ..attaching import attach
from ..declare import PUBLIC, public
from ..tensor import Tensor, alias
from . import engine
from .tape import GradNode, HookedGradNode

Hook = Callable[[Tensor], Any]
_numbers = itertools.count()


class RemovableHandle:
    """What `register_hook` gives back: `remove()` takes the hook off again."""

    def __init__(self, hooks: dict[int, Any]) -> None:
        self._hooks = hooks
        self._number = next(_numbers)

    def remove(self) -> bool:
        """Whether there was something to remove."""
        return self._hooks.pop(self._number, None) is not None

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def add_hook(tensor: Tensor, hook: Hook) -> RemovableHandle:
    """Puts a hook at the tensor's place in the graph."""
    hooks = _hooks_of(tensor)
    handle = RemovableHandle(hooks)
    hooks[handle._number] = hook
    return handle


def _hooks_of(tensor: Tensor) -> dict[int, Hook]:
    node = tensor._node
    if node is None:
        if tensor._hooks is None:
            tensor._hooks = {}
        return tensor._hooks
    if node.__class__ is GradNode:
        node.hooks = {}
        node.__class__ = HookedGradNode
    elif node.hooks is None:
        node.hooks = {}
    return node.hooks


def register_hook(self: Tensor, hook: Hook) -> RemovableHandle:
    """Calls a function in every backward pass that reaches this tensor.

    Hooks run in the order of registration. Those of a leaf see the gradient of one pass, before it is added to `.grad`;
    `paddle.grad` does not call them.

    Args:
        hook: a function of the gradient; a tensor that it returns takes the gradient's place.

    Returns:
        A handle whose `remove()` takes the hook away.

    Examples:
        >>> x = paddle.to_tensor([1.0], stop_gradient=False)
        >>> handle = x.register_hook(lambda gradient: gradient * 10)
        >>> (x * 3).backward()
        >>> x.grad.tolist(), handle.remove()
        ([30.0], True)
    """
    if not callable(hook):
        raise type_error("register_hook", "a hook must be callable", type(hook).__name__)
    if self.stop_gradient:
        raise runtime_error(
            "register_hook", "this tensor has no gradient (stop_gradient is True)",
            f"x: {self._aval}",
            "set stop_gradient to False first",
        )  # fmt: skip
    return add_hook(self, hook)


def retain_grads(self: Tensor) -> None:
    """Lets a result of an operation keep its gradient in `.grad`, as leaves do anyway.

    Examples:
        >>> x = paddle.to_tensor([1.0], stop_gradient=False)
        >>> y = x * 2
        >>> y.retain_grads()
        >>> (y * y).backward()
        >>> y.grad.tolist()
        [4.0]
    """
    if self.stop_gradient or self._node is None or self._retain:
        return
    self._retain = True
    reference = weakref.ref(self)

    def keep(gradient: Tensor) -> None:
        tensor = reference()
        if tensor is not None:
            tensor._grad = alias(gradient)

    add_hook(self, keep)


def _register_backward_hook(self: Tensor, hook: Callable[[], Any]) -> RemovableHandle:
    """Calls `hook()` each time after a gradient was added to the `.grad` of this leaf."""
    if self.stop_gradient or self._node is not None:
        raise value_error(
            "_register_backward_hook",
            "only a leaf tensor whose gradient is wanted can have such a hook",
            f"x: {self._aval}",
        )  # fmt: skip
    if not callable(hook):
        raise type_error("_register_backward_hook", "a hook must be callable", type(hook).__name__)
    hooks = self.__dict__.setdefault("_accumulated_hooks", {})
    handle = RemovableHandle(hooks)
    hooks[handle._number] = hook
    return handle


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Sets whether the gradient of this tensor is wanted, and returns it.

    Args:
        requires_grad: whether it is.

    Examples:
        >>> paddle.to_tensor([1.0]).requires_grad_().stop_gradient
        False
    """
    if not isinstance(requires_grad, bool):
        raise type_error("requires_grad_", "requires_grad must be a bool", type(requires_grad).__name__)
    self.stop_gradient = not requires_grad
    return self


def _tensor_backward(
    self: Tensor,
    grad_tensor: Tensor | None = None,
    retain_graph: bool = False,
    *,
    dump_backward_graph_path: str | None = None,
) -> None:
    """Adds the gradients of this tensor to the `.grad` of the leaves that it was computed from.

    Args:
        grad_tensor: the gradient to start with; ones by default, also for a tensor with many elements.
        retain_graph: keep the tape, so that one may go back again.
        dump_backward_graph_path: accepted; nothing is written.

    Raises:
        RuntimeError: the tape was freed by an earlier pass.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> (x**2).backward()
        >>> x.grad.tolist()
        [2.0, 4.0]
    """
    engine.backward([self], [grad_tensor], retain_graph)


def _grad_ivar(self: Tensor) -> Tensor | None:
    return self._grad


_tensor_backward.__name__ = _tensor_backward.__qualname__ = "backward"
for _method in (
    register_hook, retain_grads, _register_backward_hook, requires_grad_, _tensor_backward
):  # fmt: skip
    attach(__name__, **{_method.__name__: _method})
attach(__name__, _grad_ivar=_grad_ivar)


@public(module="autograd")
@boundary
def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool = False,
    *,
    dump_backward_graph_path: str | None = None,
) -> None:
    """Adds the gradients of several tensors at once to the `.grad` of their leaves.

    Args:
        tensors: a tensor, or several.
        grad_tensors: the gradients they start with; ones if left out.
        retain_graph: keeps what is needed to do it again.
        dump_backward_graph_path: accepted for compatibility.

    Raises:
        ValueError: a tensor is given twice, or a gradient does not fit.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> paddle.autograd.backward([(x ** 2).sum(), (3 * x).sum()])
        >>> x.grad.tolist()
        [5.0, 7.0]
    """
    tensor_list = engine.tensor_list("backward", "tensors", tensors)
    if len({id(tensor) for tensor in tensor_list}) != len(tensor_list):
        raise value_error("backward", "the same tensor is given twice", f"{len(tensor_list)} tensors")
    grads = [grad_tensors] if isinstance(grad_tensors, Tensor) else grad_tensors
    if grads is not None:
        grads = _carried_seeds("backward", tensor_list, grads)
    engine.backward(_carriers(tensor_list), grads, retain_graph)


def _carriers(tensors: Sequence[Tensor]) -> list[Tensor]:
    return [tensor._gradient_carrier() for tensor in tensors]


def _carried_seeds(where: str, tensors: Sequence[Tensor], seeds: Sequence[Any]) -> list[Any]:
    """Seeds for the carriers; a wrong number of them is left for the engine to report."""
    if len(seeds) != len(tensors):
        return list(seeds)
    return [tensor._carried_seed(where, seed) for tensor, seed in zip(tensors, seeds, strict=True)]


@public()
@boundary
def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Tensor | Sequence[Tensor] | set[Tensor] | None = None,
    *,
    dump_backward_graph_path: str | None = None,
) -> list[Tensor | None]:
    """Gradients of `outputs` with respect to `inputs`, returned instead of added to `.grad`.

    The tape is always kept.

    Args:
        outputs: what is differentiated, a tensor or several.
        inputs: with respect to what, a tensor or several.
        grad_outputs: the gradients to start with; ones by default.
        retain_graph: accepted.
        create_graph: whether the results can be differentiated again, any number of times.
        only_inputs: True; no other gradients are touched.
        allow_unused: give None for an input that the outputs do not depend on.
        no_grad_vars: tensors that are taken for constants.
        dump_backward_graph_path: accepted; nothing is written.

    Returns:
        A list with one gradient for each input.

    Raises:
        ValueError: an input is not used and `allow_unused` is not set.

    Examples:
        >>> x = paddle.to_tensor([2.0], stop_gradient=False)
        >>> (first,) = paddle.grad(x**3, x, create_graph=True)
        >>> first.tolist(), paddle.grad(first, x)[0].tolist()
        ([12.0], [12.0])
    """
    if not only_inputs:
        raise failed_check("grad", "only_inputs=False is not supported", fix="use backward() to fill the leaves")
    output_list = engine.tensor_list("grad", "outputs", outputs)
    input_list = engine.tensor_list("grad", "inputs", inputs)
    seeds = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs or [None] * len(output_list))
    constants = [no_grad_vars] if isinstance(no_grad_vars, Tensor) else list(no_grad_vars or ())
    found = engine.gradients(
        _carriers(output_list), _carriers(input_list), _carried_seeds("grad", output_list, seeds), bool(create_graph),
        _carriers(constants),
    )  # fmt: skip
    if not allow_unused:
        for position, gradient in enumerate(found):
            if gradient is None:
                raise value_error(
                    "grad",
                    f"input {position} ({input_list[position]._aval}) is not used by the outputs",
                    fix="pass allow_unused=True to get None for it",
                )  # fmt: skip
    return [None if g is None else tensor._as_gradient(g) for tensor, g in zip(input_list, found, strict=True)]


PUBLIC["autograd.grad"] = grad
