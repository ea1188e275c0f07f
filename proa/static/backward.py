"""`append_backward` and `gradients`: the backward pass as part of the Program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..core.errors import type_error, value_error
from ..eager.backward import engine
from ..eager.tensor import Tensor
from .mode import require_static


def append_backward(
    loss: Tensor,
    parameter_list: Any = None,
    no_grad_set: Iterable[Tensor | str] | None = None,
    callbacks: Any = None,
    checkpoints: Any = None,
    distop_context: Any = None,
) -> list[tuple[Any, Tensor]]:
    """Adds the gradients of `loss` with respect to the parameters; gives (parameter, gradient) pairs.

    Args:
        loss: a variable of one element.
        parameter_list: which parameters; None: all.
        no_grad_set: those that are left out.
        callbacks: taken; it changes nothing.
        checkpoints: taken; it changes nothing.
        distop_context: taken; it changes nothing.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     loss = paddle.static.nn.fc(paddle.static.data("x", [None, 2]), 1).sum()
        ...     pairs = paddle.static.append_backward(loss)
        >>> [gradient.shape for parameter, gradient in pairs]
        [paddle.Size([2, 1]), paddle.Size([1])]
    """
    program = require_static("append_backward")
    if not isinstance(loss, Tensor):
        raise type_error("append_backward", "loss must be a variable", type(loss).__name__)
    if loss._aval.size != 1:
        raise value_error("append_backward", "loss must have one element", f"loss: {loss._aval}", "take its mean")
    given = program.all_parameters() if parameter_list is None else _variables(program, parameter_list)
    constants = _variables(program, no_grad_set)
    blocked = {id(tensor) for tensor in constants}
    parameters = [p for p in given if not p.stop_gradient and id(p) not in blocked]
    if loss.stop_gradient:
        raise value_error(
            "append_backward", "no parameter has a gradient of this loss", f"loss: {loss._aval}",
            "compute it from parameters that are trainable",
        )  # fmt: skip
    found = engine.gradients([loss], parameters, constants=constants)
    return [(p, _named(grad, p)) for p, grad in zip(parameters, found, strict=True) if grad is not None]


def gradients(
    targets: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    target_gradients: Tensor | Sequence[Tensor | None] | None = None,
    no_grad_set: Iterable[Tensor | str] | None = None,
) -> list[Tensor | None]:
    """Adds the gradients of `targets` with respect to `inputs`; None for an input they do not depend on.

    Args:
        targets: variables.
        inputs: variables.
        target_gradients: gradients of the targets; None: ones.
        no_grad_set: variables that gradients do not flow through.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [2])
        ...     x.stop_gradient = False
        ...     (gradient,) = paddle.static.gradients([(x * x).sum()], [x])
        >>> paddle.static.Executor().run(main, feed={"x": np.array([1, 2], "float32")}, fetch_list=[gradient])[0].tolist()
        [2.0, 4.0]
    """
    program = require_static("gradients")
    outputs = engine.tensor_list("gradients", "targets", targets)
    wanted = engine.tensor_list("gradients", "inputs", inputs)
    seeds = _seeds(target_gradients)
    if seeds is not None and len(seeds) != len(outputs):
        raise value_error("gradients", "a gradient is needed for each target", f"{len(seeds)} for {len(outputs)}")
    for tensor in wanted:
        if tensor.stop_gradient:
            raise value_error(
                "gradients", f"the gradient with respect to {tensor.name} was switched off by stop_gradient",
                f"{tensor.name}: {tensor._aval}", "set its stop_gradient to False before it is used",
            )  # fmt: skip
    found = engine.gradients(outputs, wanted, seeds, True, _variables(program, no_grad_set))
    return [None if grad is None else _named(grad, tensor) for tensor, grad in zip(wanted, found, strict=True)]


def _seeds(given: Any) -> list[Tensor | None] | None:
    """The gradients of targets; None among them is one of ones."""
    if given is None or isinstance(given, Tensor):
        return None if given is None else [given]
    seeds = list(given)
    if any(seed is not None and not isinstance(seed, Tensor) for seed in seeds):
        raise type_error(
            "gradients", "target_gradients must be Tensors or None", f"{[type(s).__name__ for s in seeds]}"
        )
    return seeds


def _variables(program: Any, given: Any) -> list[Any]:
    """Variables that are given themselves or by name."""
    if given is None:
        return []
    given = [given] if isinstance(given, (str, Tensor)) else list(given)
    return [program.variable("append_backward", item) if isinstance(item, str) else item for item in given]


def _named(grad: Tensor, tensor: Tensor) -> Tensor:
    grad.name = f"{tensor.name}@GRAD"
    return grad
