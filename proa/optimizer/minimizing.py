"""Gradients that an optimiser is handed, changes and takes away; static programs compute theirs here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..core.errors import failed_check
from ..core.tracebacks import boundary
from ..eager.parameter import Parameter
from ..eager.tensor import Tensor
from ..ir import recorder
from ..ir.recorder import LOCAL, recording_gradients
from .groups import Group, decay_setting


class Minimizing:
    """The part of `Optimizer` that deals with gradients."""

    _part_of = "Optimizer"
    _groups: dict[int, Group]
    _member_groups: list[Group]
    _members: list[Any]
    _add_param_group: Callable[[dict[str, Any]], None]
    _step_group: Callable[[Group, list[Any], list[Tensor]], None]
    step: Callable[[], None]

    @boundary
    def minimize(
        self,
        loss: Tensor,
        startup_program: Any = None,
        parameters: Iterable[Tensor | dict[str, Any]] | None = None,
        no_grad_set: Iterable[Tensor | str] | None = None,
    ) -> tuple[list[Any], list[tuple[Any, Tensor]]]:
        """`step()`, after `loss.backward()`. In a static program the gradients are computed here.

        Args:
            loss: the loss.
            startup_program: accepted for compatibility.
            parameters: in a static program, those to change; all of them if left out.
            no_grad_set: in a static program, those that get no gradient.

        Returns:
            A list, and the (parameter, gradient) pairs.

        Examples:
            >>> weight = paddle.to_tensor([1.0], stop_gradient=False)
            >>> optimizer = paddle.optimizer.SGD(0.25, parameters=[weight])
            >>> loss = (weight ** 2).sum()
            >>> loss.backward()
            >>> _, pairs = optimizer.minimize(loss)
            >>> weight.tolist(), pairs[0][1].tolist()
            ([0.5], [2.0])
        """
        if not isinstance(loss, Tensor):
            raise failed_check(type(self).__name__, "the loss must be a Tensor", type(loss).__name__)
        pairs = self.backward(loss, startup_program, parameters, no_grad_set)
        if LOCAL.segment.owner is not None:
            return self.apply_gradients(pairs), pairs
        self.step()
        return [], pairs

    def backward(
        self,
        loss: Tensor,
        startup_program: Any = None,
        parameters: Iterable[Tensor | dict[str, Any]] | None = None,
        no_grad_set: Iterable[Tensor | str] | None = None,
        callbacks: Any = None,
    ) -> list[tuple[Any, Tensor]]:
        """The (parameter, gradient) pairs that `loss.backward()` left; in a static program, those it would give.

        Args:
            loss: the loss.
            startup_program: accepted for compatibility.
            parameters: in a static program, those whose gradients are wanted.
            no_grad_set: in a static program, those that get no gradient.
            callbacks: accepted for compatibility.

        Examples:
            >>> weight = paddle.to_tensor([1.0], stop_gradient=False)
            >>> loss = (weight ** 2).sum()
            >>> loss.backward()
            >>> [grad.tolist() for _, grad in paddle.optimizer.SGD(0.25, parameters=[weight]).backward(loss)]
            [[2.0]]
        """
        program = LOCAL.segment.owner
        if program is not None:
            wanted = parameters if parameters is not None else self._members or None
            pairs = program.backward_of(loss, wanted, no_grad_set)
            self._take_up(pairs)
            return pairs
        return [
            (parameter, parameter.grad)
            for parameter in self._members
            if not parameter.stop_gradient and parameter.grad is not None
        ]

    def _take_up(self, pairs: Sequence[tuple[Any, Any]]) -> None:
        """Parameters that the optimiser was not made with (`static.append_backward` finds them) are its own from now on."""
        new = [parameter for parameter, _ in pairs if id(parameter) not in self._groups]
        if new:
            self._add_param_group({"params": new})

    def apply_gradients(self, params_grads: Sequence[tuple[Any, Tensor]]) -> list[Any]:
        """A step with the given gradients instead of the parameters' own.

        Args:
            params_grads: (parameter, gradient) pairs; those without a gradient stay as they are.

        Examples:
            >>> weight = paddle.to_tensor([1.0], stop_gradient=False)
            >>> _ = paddle.optimizer.SGD(0.5, parameters=[weight]).apply_gradients([(weight, paddle.to_tensor([4.0]))])
            >>> weight.tolist()
            [-1.0]
        """
        params_grads = [(parameter, grad) for parameter, grad in params_grads if grad is not None]
        self._take_up(params_grads)
        given = {id(parameter): grad for parameter, grad in params_grads}
        with recording_gradients(False):
            for group in self._member_groups:
                active = [parameter for parameter in group.parameters if id(parameter) in given]
                if active:
                    self._step_group(group, active, [given[id(parameter)] for parameter in active])
        LOCAL.segment.stepped = True
        return []

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Sets all gradients to zeros (or takes them away): the end of a step.

        The work recorded since the last one runs here, when nobody needs the gradients any more.

        Args:
            set_to_zero: False takes them away, so that `grad` is None.

        Examples:
            >>> layer = paddle.nn.Linear(2, 1)
            >>> optimizer = paddle.optimizer.SGD(0.5, parameters=layer.parameters())
            >>> layer(paddle.ones([1, 2])).sum().backward()
            >>> optimizer.clear_grad()
            >>> layer.bias.grad.tolist()
            [0.0]
        """
        for parameter in self._members:
            if isinstance(parameter, Parameter):
                if parameter._grad is not None or parameter._zeroed:
                    parameter._grad = None
                    parameter._zeroed = set_to_zero
            else:
                parameter.clear_gradient(set_to_zero)
        recorder.boundary()

    clear_gradients = clear_grad

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Takes all gradients away, under PyTorch's name.

        Args:
            set_to_none: False sets them to zeros instead.

        Examples:
            >>> layer = paddle.nn.Linear(2, 1)
            >>> optimizer = paddle.optimizer.SGD(0.5, parameters=layer.parameters())
            >>> layer(paddle.ones([1, 2])).sum().backward()
            >>> optimizer.zero_grad()
            >>> layer.bias.grad is None
            True
        """
        self.clear_grad(not set_to_none)

    def append_regularization_ops(
        self, parameters_and_grads: Sequence[tuple[Any, Tensor]], regularization: Any = None
    ) -> list[tuple[Any, Tensor]]:
        """The pairs, with the term of the parameter's own regularizer, or else of `regularization`, in the gradients.

        Args:
            parameters_and_grads: (parameter, gradient) pairs.
            regularization: an `L1Decay`, an `L2Decay` or a number.

        Examples:
            >>> weight = paddle.to_tensor([4.0], stop_gradient=False)
            >>> optimizer = paddle.optimizer.SGD(0.5, parameters=[weight])
            >>> pairs = [(weight, paddle.to_tensor([1.0]))]
            >>> pairs = optimizer.append_regularization_ops(pairs, paddle.regularizer.L2Decay(0.5))
            >>> pairs[0][1].tolist()
            [3.0]
        """
        found = []
        with recording_gradients(False):
            for parameter, grad in parameters_and_grads:
                own = getattr(parameter, "regularizer", None)
                kind, size = decay_setting("append_regularization_ops", regularization if own is None else own)
                if grad is not None and kind:
                    grad = grad + size * (parameter if kind == "l2" else parameter.sign())
                found.append((parameter, grad))
        return found
