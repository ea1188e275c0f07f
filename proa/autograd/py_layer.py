"""PyLayer: a function whose gradient the user writes.

    class Square(PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensor()
            return 2 * x * gradient

    y = Square.apply(x)

What `backward` computes is recorded like everything else, so that it can be differentiated in turn.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..core.dtype import is_differentiable
from ..core.errors import type_error, value_error
from ..eager.backward.engine import fit, zeros_of
from ..eager.backward.saved import PackedValues, current_hooks
from ..eager.backward.tape import OutputNode, changed_in_place, edge_of, stand_in, with_history
from ..eager.binder import next_sequence
from ..eager.modes import no_grad
from ..eager.tensor import Tensor, alias
from ..eager.views import check_in_place
from ..ir.recorder import LOCAL


class PyLayerContext:
    """What `forward` hands over to `backward`; any attribute may be set on it as well.

    Examples:
        >>> class Scale(paddle.autograd.PyLayer):
        ...     @staticmethod
        ...     def forward(ctx, x, factor):
        ...         ctx.factor = factor
        ...         return x * factor
        ...     @staticmethod
        ...     def backward(ctx, gradient):
        ...         return gradient * ctx.factor
        >>> x = paddle.to_tensor([1.0], stop_gradient=False)
        >>> Scale.apply(x, 3.0).backward()
        >>> x.grad.tolist()
        [3.0]
    """

    _saved: Any = None  # the saved values, or PackedValues
    _version: int = -1  # their versions' sum; -1 when they need no check
    _sources: tuple[int | None, ...] = ()  # for each saved value: which output it is
    _own_outputs: dict[str, int] = {}  # noqa: RUF012  # attributes that are outputs: which
    _node: Any = None  # the tape node, while backward runs

    non_differentiable: tuple[Any, ...] = ()
    not_inplace_tensors: tuple[Any, ...] = ()
    materialize_grads: bool = True
    grad_in_dtype_consistent: bool = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps values for `backward`. Call it once; what was saved before is replaced.

        Args:
            tensors: the values.

        Examples:
            >>> ctx = paddle.autograd.PyLayerContext()
            >>> ctx.save_for_backward(paddle.ones([2]))
            >>> len(ctx.saved_tensor())
            1
        """
        self._saved = tensors
        self._sources = (None,) * len(tensors)

    def saved_tensor(self) -> tuple[Any, ...] | None:
        """What was saved, as a tuple; None if nothing was.

        Raises:
            RuntimeError: a saved tensor was changed in place since.

        Examples:
            >>> paddle.autograd.PyLayerContext().saved_tensor() is None
            True
        """
        if self._saved is None:
            return None
        label = _label(self._node)
        if self._version >= 0 and (found := _versions(self._saved)) != self._version:
            raise changed_in_place(label, f"{label.removesuffix('_grad')} saved", found, self._version)
        values = tuple(self._saved)
        if self._node is None or not LOCAL.grad_enabled:
            return values
        return tuple(
            value if source is None else with_history(value, self._node.output(source))
            for value, source in zip(values, self._sources)
        )

    def mark_not_inplace(self, *tensors: Any) -> None:
        """Says that these inputs, which `forward` returns, stand for new results.

        Args:
            tensors: the inputs.

        Examples:
            >>> ctx, x = paddle.autograd.PyLayerContext(), paddle.ones([2])
            >>> ctx.mark_not_inplace(x)
            >>> len(ctx.not_inplace_tensors)
            1
        """
        self.not_inplace_tensors = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Says that these results have no gradient.

        Args:
            tensors: the results.

        Examples:
            >>> class Parts(paddle.autograd.PyLayer):
            ...     @staticmethod
            ...     def forward(ctx, x):
            ...         whole = x.floor()
            ...         ctx.mark_non_differentiable(whole)
            ...         return whole, x - whole
            ...     @staticmethod
            ...     def backward(ctx, _, gradient):
            ...         return gradient
            >>> whole, rest = Parts.apply(paddle.to_tensor([1.5], stop_gradient=False))
            >>> whole.stop_gradient, rest.stop_gradient
            (True, False)
        """
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros (or else None) for a result that was not used.

        Args:
            value: False for None.

        Examples:
            >>> ctx = paddle.autograd.PyLayerContext()
            >>> ctx.set_materialize_grads(False)
            >>> ctx.materialize_grads
            False
        """
        self.materialize_grads = bool(value)

    def set_grad_in_dtype_consistent(self, flag: bool) -> None:
        """Accepted for compatibility: gradients always come to `backward` in the data type of their result.

        Args:
            flag: it is kept.

        Examples:
            >>> ctx = paddle.autograd.PyLayerContext()
            >>> ctx.set_grad_in_dtype_consistent(False)
            >>> ctx.grad_in_dtype_consistent
            False
        """
        self.grad_in_dtype_consistent = bool(flag)


class PyLayer(PyLayerContext):
    """The base class of functions whose gradient you write: define `forward` and `backward`, call `apply`.

    What `backward` computes can be differentiated in turn.

    Examples:
        >>> class Square(paddle.autograd.PyLayer):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x
        ...     @staticmethod
        ...     def backward(ctx, gradient):
        ...         (x,) = ctx.saved_tensor()
        ...         return 2 * x * gradient
        >>> x = paddle.to_tensor([3.0], stop_gradient=False)
        >>> Square.apply(x).backward()
        >>> x.grad.tolist()
        [6.0]
    """

    @staticmethod
    def forward(ctx: PyLayerContext, *args: Any, **kwargs: Any) -> Any:
        """Computes the results; subclasses define it. Nothing in it is recorded for gradients.

        Args:
            ctx: what is handed over to `backward`.
            args: what `apply` was given.
            kwargs: the same by name.

        Examples:
            >>> class Half(paddle.autograd.PyLayer):
            ...     @staticmethod
            ...     def forward(ctx, x):
            ...         return x / 2
            >>> Half.apply(paddle.to_tensor([3.0])).tolist()
            [1.5]
        """
        raise NotImplementedError("(PyLayer) a subclass must define the static method forward(ctx, ...).")

    @staticmethod
    def backward(ctx: PyLayerContext, *args: Any) -> Any:
        """From the gradients of the results, one (or None) for each tensor that `forward` got; subclasses define it.

        Args:
            ctx: what `forward` handed over.
            args: the gradients of the results.

        Examples:
            >>> class Straight(paddle.autograd.PyLayer):
            ...     @staticmethod
            ...     def forward(ctx, x):
            ...         return x.round()
            ...     @staticmethod
            ...     def backward(ctx, gradient):
            ...         return gradient
            >>> x = paddle.to_tensor([0.6], stop_gradient=False)
            >>> Straight.apply(x).backward()
            >>> x.grad.tolist()
            [1.0]
        """
        raise NotImplementedError("(PyLayer) a subclass must define the static method backward(ctx, ...).")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Calls `forward`, and has gradients go through `backward`.

        Args:
            args: what `forward` takes beside `ctx`.
            kwargs: the same by name.

        Returns:
            What `forward` gives.

        Raises:
            ValueError: `forward` gives no tensor.

        Examples:
            >>> class Negative(paddle.autograd.PyLayer):
            ...     @staticmethod
            ...     def forward(ctx, x):
            ...         return -x
            ...     @staticmethod
            ...     def backward(ctx, gradient):
            ...         return -gradient
            >>> Negative.apply(paddle.to_tensor([2.0])).tolist()
            [-2.0]
        """
        inputs = list(_tensors_in((*args, *kwargs.values())))
        ctx = PyLayerContext()
        versions = [tensor._version for tensor in inputs]
        is_recorded = LOCAL.grad_enabled and not all(tensor.stop_gradient for tensor in inputs)
        with no_grad():
            results = cls.forward(ctx, *args, **kwargs)
        several = isinstance(results, (list, tuple))
        items = list(results) if several else [results]
        if not any(isinstance(item, Tensor) for item in items):
            raise value_error(
                cls.__name__, "forward must return a Tensor, or a list or tuple with one in it",
                type(results).__name__,
            )  # fmt: skip
        if not is_recorded:
            return results
        changed = {id(t) for t, version in zip(inputs, versions) if t._version != version}
        changed -= {id(tensor) for tensor in ctx.not_inplace_tensors}
        items = _attach(cls, ctx, inputs, items, changed)
        if not several:
            return items[0]
        kind: Any = type(results)
        return kind._make(items) if hasattr(kind, "_make") else kind(items)


def _tensors_in(values: Sequence[Any]) -> Iterator[Tensor]:
    """The tensors among arguments, also those one level down in lists and tuples."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from (item for item in value if isinstance(item, Tensor))


def _attach(
    layer: type[PyLayer],
    ctx: PyLayerContext,
    inputs: list[Tensor],
    items: list[Any],
    changed: set[int],
) -> list[Any]:
    """Puts the call on the tape; gives what to return for each of `items`."""
    outputs = [item for item in items if isinstance(item, Tensor)]
    node = PyLayerNode(layer, ctx, inputs, outputs)
    hidden = {id(tensor) for tensor in ctx.non_differentiable}
    _keep_saved(ctx, {id(output): position for position, output in enumerate(outputs)})
    results: list[Any] = []
    position = 0
    for item in items:
        if not isinstance(item, Tensor):
            results.append(item)
            continue
        if id(item) in changed:
            check_in_place(item, layer.__name__)
            result = item
        else:
            # A new tensor: forward may have returned an input, or one that others hold; and what it
            # saved then does not refer to its own node.
            result = alias(item)
        if id(item) not in hidden and is_differentiable(item._aval.dtype):
            result._node = OutputNode(node, position, next_sequence(), item._aval)
            result.stop_gradient = False
        results.append(result)
        position += 1
    return results


def _keep_saved(ctx: PyLayerContext, positions: dict[int, int]) -> None:
    """Prepares what `forward` saved for the time until `backward`.

    `positions` are those of the outputs, by identity. A saved output (which may be an input changed
    in place) must not lead back to its own node, so another tensor with its value is kept; it gets
    its history back where that matters.
    """
    ctx._own_outputs = {
        name: positions[id(value)]
        for name, value in ctx.__dict__.items()
        if isinstance(value, Tensor) and id(value) in positions
    }
    for name in ctx._own_outputs:
        setattr(ctx, name, alias(getattr(ctx, name)))
    if ctx._saved is None:
        return
    ctx._sources = tuple(positions.get(id(value)) for value in ctx._saved)
    ctx._saved = tuple(v if s is None else alias(v) for v, s in zip(ctx._saved, ctx._sources))
    ctx._version = _versions(ctx._saved)
    hooks = current_hooks()
    if hooks is not None:
        ctx._saved = PackedValues(ctx._saved, *hooks)
        ctx._version = -1


def _versions(values: Sequence[Any]) -> int:
    return sum(value._version for value in values if isinstance(value, Tensor))


class PyLayerNode:
    """The tape node of one call of a PyLayer."""

    __slots__ = (
        "__weakref__",
        "avals",
        "ctx",
        "edges",
        "hooks",
        "layer",
        "out_aval",
        "outputs",
        "sequence",
    )

    def __init__(self, layer: type[PyLayer], ctx: PyLayerContext, inputs: list[Tensor], outputs: list[Tensor]) -> None:
        self.layer = layer
        self.ctx: PyLayerContext | None = ctx
        self.edges = tuple(edge_of(tensor) for tensor in inputs)
        self.avals = tuple(tensor._aval for tensor in inputs)
        self.out_aval = tuple(tensor._aval for tensor in outputs)
        self.outputs: dict[int, weakref.ref[OutputNode]] = {}
        self.sequence = next_sequence()
        self.hooks = None

    @property
    def label(self) -> str:
        return f"{self.layer.__name__}_grad"

    def name(self) -> str:
        return f"GradNodePyLayer_{self.layer.__name__}"

    def __repr__(self) -> str:
        return f"<{self.name()}>"

    @property
    def next_functions(self) -> list[Any]:
        return [edge for edge in self.edges if edge is not None and not isinstance(edge, Tensor)]

    @property
    def is_released(self) -> bool:
        return self.ctx is None

    def release(self) -> None:
        self.ctx = None
        self.edges = ()

    def output(self, position: int) -> OutputNode:
        """The place of an output in the graph, also when its tensor is gone."""
        reference = self.outputs.get(position)
        output = None if reference is None else reference()
        return output or OutputNode(self, position, next_sequence(), self.out_aval[position])

    def backward(self, grads: list[Tensor | None], create_graph: bool) -> list[Tensor | None]:
        ctx = self.ctx
        assert ctx is not None
        arguments = [_argument(ctx, grad, aval) for grad, aval in zip(grads, self.out_aval)]
        plain = {name: getattr(ctx, name, None) for name in ctx._own_outputs} if create_graph else {}
        for name, value in plain.items():
            if isinstance(value, Tensor):
                setattr(ctx, name, with_history(value, self.output(ctx._own_outputs[name])))
        before, ctx._node = ctx._node, self
        try:
            results = self.layer.backward(ctx, *arguments)
        except Exception as error:
            error.add_note(f"This happened in the backward of the PyLayer {self.layer.__name__}.")
            raise
        finally:
            ctx._node = before
            ctx.__dict__.update(plain)
        return self._checked(results)

    def _checked(self, results: Any) -> list[Tensor | None]:
        """What backward returned, one entry for each tensor that forward got."""
        flat: list[Any] = []
        for result in results if isinstance(results, (list, tuple)) else [results]:
            flat += result if isinstance(result, (list, tuple)) else [result]
        count = len(self.edges)
        name = self.layer.__name__
        # The gradients of trailing tensors that want none may be left out.
        if len(flat) > count or any(edge is not None for edge in self.edges[len(flat) :]):
            raise value_error(
                f"{name}.backward",
                f"forward got {count} tensor(s), so backward must return {count} gradient(s)",
                f"{len(flat)}", "return None for a tensor that needs no gradient",
            )  # fmt: skip
        for position, (grad, aval) in enumerate(zip(flat, self.avals)):
            if grad is None:
                continue
            if not isinstance(grad, Tensor):
                raise type_error(
                    f"{name}.backward",
                    f"gradient {position} must be a Tensor or None",
                    type(grad).__name__,
                )
            if grad._aval.shape != aval.shape:
                raise value_error(
                    f"{name}.backward", f"gradient {position} must have the shape of its tensor",
                    f"{grad._aval} for {aval}",
                )  # fmt: skip
            flat[position] = fit(grad, aval)
        return flat + [None] * (count - len(flat))


def _argument(ctx: PyLayerContext, grad: Tensor | None, aval: Any) -> Tensor | None:
    """A gradient for `backward`: a tensor of its own, since it may be changed in place there."""
    if grad is not None:
        return stand_in(grad)
    return zeros_of(aval) if ctx.materialize_grads else None


def _label(node: Any) -> str:
    return "PyLayer_grad" if node is None else node.label


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a `backward` that cannot be differentiated itself: its results are constants."""

    @functools.wraps(backward)
    def compute(ctx: PyLayerContext, *args: Any) -> Any:
        with no_grad():
            return backward(ctx, *args)

    return compute
