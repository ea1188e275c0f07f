"""Python functions as operations of a program: `py_func`, `Print`, `static_pylayer`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..autograd.py_layer import PyLayer
from ..core.aval import make_aval
from ..core.errors import type_error, value_error
from ..core.locks import new_lock
from ..eager.declare import op
from ..eager.dispatch import record
from ..eager.modes import no_grad
from ..eager.tensor import Tensor
from ..graph.structure import flatten, rebuild
from ..ir.padding import rules
from ..ops.create.creation import assign


class HostFunction:
    """A function of arrays that Python runs. Compared by identity: it is an attribute of an operation."""

    def __init__(self, function: Callable[..., Any], label: str) -> None:
        self.function = function
        self.label = label
        self.gives_nothing = False  # it is called for what it does

    def __call__(self, shapes: Any, dtypes: Any, arrays: Any) -> tuple[np.ndarray, ...]:
        result = self.function(*[np.asarray(array) for array in arrays])
        if self.gives_nothing:
            result = np.False_
        results = list(result) if isinstance(result, (list, tuple)) else [] if result is None else [result]
        if len(results) != len(shapes):
            raise value_error(self.label, f"the function must give {len(shapes)} arrays", f"{len(results)}")
        made: list[np.ndarray] = []
        for shape, dtype, given in zip(shapes, dtypes, results, strict=True):
            array = np.asarray(given)
            if tuple(array.shape) != tuple(shape):
                raise value_error(
                    self.label, f"the function's result must have the shape {list(shape)}", f"{list(array.shape)}",
                    "declare the shape of out accordingly",
                )  # fmt: skip
            made.append(array.astype(dtype))
        return tuple(made)

    def __repr__(self) -> str:
        return f"<{getattr(self.function, '__name__', 'function')}>"


def _infer(_operation: Any, _kinds: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Any, ...]:
    _, shapes, dtypes = attributes
    return tuple(make_aval(shape, np.dtype(dtype), place) for shape, dtype in zip(shapes, dtypes, strict=True))


@op(
    "arrays",
    variadic=True,
    outputs="list",
    infer=_infer,
    name="py_func",
    effect=True,
    padding=rules.refused("its Python function would see the surplus"),
)
def host_call(xp: Any, arrays: list[Any], function: HostFunction, shapes: Any, dtypes: Any) -> Any:
    """The arrays that a Python function gives."""
    if xp is np:
        return function(shapes, dtypes, arrays)
    import jax  # type: ignore[import-not-found]

    specs = [jax.ShapeDtypeStruct(tuple(s), np.dtype(d)) for s, d in zip(shapes, dtypes, strict=True)]
    return tuple(jax.pure_callback(lambda *given: function(shapes, dtypes, given), specs, *arrays))


def call_host(function: HostFunction, tensors: list[Tensor], like: list[Tensor]) -> list[Tensor]:
    """Records the call of a Python function whose results are as large as `like`."""
    shapes = tuple(tuple(t._aval.shape) for t in like)
    dtypes = tuple(t._aval.dtype.name for t in like)
    if not like:  # an instruction gives something
        function.gives_nothing = True
        record(host_call.operation, tensors, (function, ((),), ("bool",)))
        return []
    return list(record(host_call.operation, tensors, (function, shapes, dtypes)))


def _listed(where: str, what: str, given: Any) -> list[Tensor]:
    tensors: list[Any] = [given] if isinstance(given, Tensor) else list(given or ())
    if not all(isinstance(tensor, Tensor) for tensor in tensors):
        raise type_error(where, f"{what} must be a variable or a list of them", type(given).__name__)
    return tensors


def py_func(
    func: Callable[..., Any], x: Any, out: Any, backward_func: Any = None, skip_vars_in_backward_input: Any = None
) -> Any:
    """`func` applied to arrays while the program runs; `out` has the shapes and types of its results, and becomes them.

    `backward_func` takes the inputs, the results and their gradients (without `skip_vars_in_backward_input`) and gives
    the inputs' gradients.

    Args:
        func: a function of arrays.
        x: its inputs.
        out: variables like its results; None: it is called for what it does.
        backward_func: a function of arrays, or None: there is no gradient.
        skip_vars_in_backward_input: variables that it does not take.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [3])
        ...     y = paddle.static.py_func(np.sort, x, paddle.zeros([3]))
        >>> paddle.static.Executor().run(main, feed={"x": np.array([3, 1, 2], "float32")}, fetch_list=[y])[0].tolist()
        [1.0, 2.0, 3.0]
    """
    if not callable(func):
        raise type_error("py_func", "func must be a function", type(func).__name__)
    if backward_func is not None and not callable(backward_func):
        raise type_error("py_func", "backward_func must be a function", type(backward_func).__name__)
    inputs, outs = _listed("py_func", "x", x), _listed("py_func", "out", out)
    skipped = {id(tensor) for tensor in _listed("py_func", "skip_vars_in_backward_input", skip_vars_in_backward_input)}
    forward = HostFunction(func, "py_func")
    backward = HostFunction(backward_func or func, "py_func")

    class HostLayer(PyLayer):
        @staticmethod
        def forward(ctx: Any, *tensors: Any) -> Any:
            results = call_host(forward, list(tensors), outs)
            ctx.save_for_backward(*tensors, *results)
            return tuple(results) if len(results) != 1 else results[0]

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            saved = list(ctx.saved_tensor())
            given = [s for s, own in zip(saved, (*inputs, *outs), strict=True) if id(own) not in skipped]
            like = saved[: len(inputs)]
            made = call_host(backward, [*given, *grads], like)
            return tuple(made) if len(made) != 1 else made[0]

    if backward_func is None:
        results = call_host(forward, inputs, outs)
    else:
        made = HostLayer.apply(*inputs)
        results = list(made) if isinstance(made, tuple) else [made]
    for result, declared in zip(results, outs, strict=True):
        assign(result, declared)
    return out


def static_pylayer(
    forward_fn: Callable[..., Any],
    inputs: Sequence[Tensor],
    backward_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """`forward_fn(*inputs)` with the gradient that `backward_fn` computes from the results' gradients.

    Args:
        forward_fn: a function of variables.
        inputs: its inputs.
        backward_fn: a function of the results' gradients; None: there is no gradient.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [3])
        ...     y = paddle.static.nn.static_pylayer(lambda x: x * 2, [x], lambda gradient: gradient * 10)
        >>> paddle.static.Executor().run(main, feed={"x": np.ones(3, "float32")}, fetch_list=[y])[0].tolist()
        [2.0, 2.0, 2.0]
    """
    if not callable(forward_fn):
        raise type_error("static_pylayer", "forward_fn must be a function", type(forward_fn).__name__)
    tensors = _listed("static_pylayer", "inputs", inputs)
    if backward_fn is None:
        with no_grad():
            return forward_fn(*tensors)
    structures: list[Any] = []

    class OwnGradient(PyLayer):
        @staticmethod
        def forward(ctx: Any, *given: Any) -> Any:
            found: list[Tensor] = []
            structures.append(flatten(forward_fn(*given), found))
            return tuple(found)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            return backward_fn(*grads)

    made = OwnGradient.apply(*tensors)
    return rebuild(structures[0], list(made) if isinstance(made, (list, tuple)) else [made])


class _Printer:
    """Prints the first few arrays that pass."""

    def __init__(self, first_n: int, summarize: int, lines: list[str]) -> None:
        self.left = first_n
        self.summarize = summarize
        self.lines = lines
        self.lock = new_lock()

    def __call__(self, array: np.ndarray) -> np.ndarray:
        with self.lock:
            if self.left != 0:
                self.left -= 1
                flat = array.reshape(-1)
                shown = flat if self.summarize < 0 else flat[: self.summarize]
                numbers = " ".join(str(number) for number in shown)
                more = "" if shown.size == flat.size else " …"
                print("\n".join([*self.lines, f"  - data: [{numbers}{more}]"]), flush=True)
        return array


def Print(
    input: Tensor,
    first_n: int = -1,
    message: str | None = None,
    summarize: int = 20,
    print_tensor_name: bool = True,
    print_tensor_type: bool = True,
    print_tensor_shape: bool = True,
    print_tensor_layout: bool = True,
    print_tensor_lod: bool = True,
    print_phase: str = "both",
) -> Tensor:
    """The same tensor; its values are printed when it is computed ("forward"), its gradient's then ("backward").

    Args:
        input: a variable.
        first_n: how often it is printed; -1: always.
        message: what is printed before it.
        summarize: how many elements are printed; -1: all.
        print_tensor_name: whether its name is printed.
        print_tensor_type: whether its data type is printed.
        print_tensor_shape: whether its shape is printed.
        print_tensor_layout: whether its layout is printed.
        print_tensor_lod: taken; it changes nothing.
        print_phase: "forward", "backward" or "both".

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.Print(paddle.static.data("x", [2]), message="now:")
        >>> y.shape
        paddle.Size([2])
    """
    if not isinstance(input, Tensor):
        raise type_error("Print", "input must be a variable", type(input).__name__)
    phase = print_phase.lower()
    if phase not in ("forward", "backward", "both"):
        raise value_error("Print", "print_phase is 'forward', 'backward' or 'both'", repr(print_phase))

    def printed(tensor: Tensor, label: str) -> Tensor:
        lines = [f"{message or ''} {label}".strip()] if print_tensor_name or message else []
        lines += [f"  - dtype: {tensor.dtype.name}"] if print_tensor_type else []
        lines += [f"  - shape: {list(tensor.shape)}"] if print_tensor_shape else []
        lines += ["  - layout: NCHW"] if print_tensor_layout else []
        return call_host(HostFunction(_Printer(first_n, summarize, lines), "Print"), [tensor], [tensor])[0]

    class Shown(PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return printed(x, f"Variable: {input.name}") if phase != "backward" else x * 1

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return printed(grad, f"Variable: {input.name}@GRAD") if phase != "forward" else grad

    return Shown.apply(input)
