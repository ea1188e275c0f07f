"""How an operation is declared: once, here everything else is derived from.

    @public(method=True, operator="+", inplace=True)
    @op(operands="x y", infer=broadcast, promote=True, grad={"x": lambda g: g, "y": lambda g: g})
    def add(xp, x, y):
        \"\"\"Adds two tensors element by element.\"\"\"
        return xp.add(x, y)

`op` turns a kernel into a recorded primitive: parameters named in `operands` are tensors, in `scalars` dynamic scalars
(a change never recompiles), in `optional` tensors that may be None; all further parameters are static attributes.
`public` puts a function (a primitive or a composition of them) into the `paddle` namespace and on the Tensor.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar, Unpack

from ..core.promotion import Promotion
from ..core.tracebacks import trim
from ..ir.keys import kind_of_annotation
from ..ir.operation import Check, Operation, register
from ..ir.recorder import LOCAL, set_scope
from ..ir.traits import GivenTraits
from .attaching import attach
from .backward.derived import DerivedGradient
from .backward.tape import Gradient, stand_in
from .binder import RESERVED, Parameter, generate
from .calling import MISSING, putting_off, with_options
from .dispatch import as_operand, cast_for_scope, promote, record
from .signatures import DeferredSignature, parameter_names, parameters_with_defaults
from .tensor import Tensor, tensor_from_data
from .variadic import VariadicGradient
from .views import assign_in_place, register_view

_OPERATORS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
    "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "neg": "neg", "~": "invert", "abs": "abs",
}  # fmt: skip
_ONE_SIDED = {"==", "!=", "<", "<=", ">", ">=", "neg", "~", "abs"}

Function = TypeVar("Function", bound=Callable[..., Any])


class Primitive(Protocol):
    """What a declared operation is called by: a function that records a call."""

    operation: Operation
    __name__: str

    def __call__(self, *arguments: Any, **named: Any) -> Any: ...


# Everything that `proa/__init__` exports: dotted name below the package -> object.
PUBLIC: dict[str, Any] = {}


def op(
    operands: str = "x",
    *,
    scalars: str = "",
    optional: str = "",
    outputs: int | str = 1,
    infer: Callable[..., Any] | None = None,
    grad: dict[str, Callable[..., Any]] | Callable[..., Any] | str | None = None,
    check: Check | None = None,
    promote: bool | Promotion = False,
    follow_scalars: bool | None = None,
    variadic: bool = False,
    view: Callable[..., Tensor] | None = None,
    strides: Callable[..., Any] | None = None,
    copies: bool = False,
    contracts: bool = False,
    differentiable_outputs: tuple[int, ...] | None = None,
    host_from: int | None = None,
    alone: bool = False,
    name: str | None = None,
    **traits: Unpack[GivenTraits],
) -> Callable[[Callable[..., Any]], Primitive]:
    """Declares a primitive from its kernel.

    `grad`: rules by operand (see `tape.py`), `"auto"` to derive them from the XLA kernel, a function for a variadic
    operation, None for an operation without gradient. `outputs`: their number, or "list" when it varies. `host_from`: on a
    CPU, a call with that many elements in an operand runs by itself on NumPy and is never compiled. `view`: the result
    shares memory in Paddle, and this is how a changed one is written back; `strides`: its strides there, from those of the
    source; with `copies` the rule gives None where it cannot share after all (see `views.py`). `contracts`: it
    multiplies and adds up along an axis, which decides what it is expected to cost (see `ir/cost.py`). `alone`: every call
    runs by itself, between recorded segments, and its kernel gets the values as they are (see `proa/distributed`).
    `promote`: operands of different types are brought to a common one, by a rule of `core/promotion.py` (True: the strict
    one). All further keywords are traits, which others ask for (see `ir/traits.py`).
    """

    def declare(kernel: Callable[..., Any]) -> Primitive:
        own_name = name or kernel.__name__
        parameters = _declared_parameters(own_name, kernel, operands.split(), scalars.split(), optional.split())
        operand_names = [p.name for p in parameters if p.kind != "static"]
        operation = register(
            Operation(
                own_name,
                kernel,
                operand_names,
                [p.name for p in parameters if p.kind == "static"],
                infer=infer,
                check=check,
                variadic=variadic,
                returns_tuple=outputs != 1,
                promote=promote,
                follow_scalars=promote is not False if follow_scalars is None else follow_scalars,
                host_from=host_from,
                alone=alone,
                attribute_kinds=[p.declared for p in parameters[variadic:] if p.kind == "static"],
                doc=kernel.__doc__ or "",
                traits=traits,
            )
        )
        operation.differentiable_outputs = differentiable_outputs
        operation.contracts = contracts
        operation.view, operation.strides, operation.copies = view, strides, copies
        tracked = [p.name for p in parameters if p.kind in ("tensor", "optional")]
        if grad == "auto":
            operation.gradient = DerivedGradient(operation, tracked)
        elif variadic and grad is not None:
            operation.gradient = VariadicGradient(grad)  # type: ignore[arg-type]
        elif grad is not None:
            operation.gradient = Gradient(operation, grad, 1 if outputs == 1 else int(outputs), tracked)  # type: ignore[arg-type]
        return _recording_function(operation, parameters, kernel)

    return declare


def _declared_parameters(
    own_name: str, kernel: Callable[..., Any], tensors: list[str], scalars: list[str], optional: list[str]
) -> list[Parameter]:
    """The parameters of a kernel behind `xp`, each of the kind that its name stands for."""
    signature = parameters_with_defaults(kernel)[1:]
    taken = sorted(RESERVED & {parameter for parameter, _, _ in signature})
    if taken:
        raise TypeError(f"({own_name}) a parameter of an operation cannot be called {', '.join(taken)}")
    kinds = dict.fromkeys(tensors, "tensor") | dict.fromkeys(scalars, "scalar")
    kinds |= dict.fromkeys(optional, "optional")
    parameters: list[Parameter] = []
    for parameter, has_default, default in signature:
        kind = kinds.get(parameter, "static")
        declared = kind_of_annotation(kernel.__annotations__.get(parameter, inspect.Parameter.empty))
        parameters.append(Parameter(parameter, kind, has_default or kind == "optional", default, declared))
    return parameters


def _recording_function(operation: Operation, parameters: list[Parameter], kernel: Callable[..., Any]) -> Any:
    """What is called in place of the kernel: it records the operation."""
    function = _recorder_of(operation, parameters)
    function.__name__ = function.__qualname__ = operation.name
    function.__doc__ = kernel.__doc__
    function.__module__ = kernel.__module__
    function.operation = operation
    return function


def _recorder_of(operation: Operation, parameters: list[Parameter]) -> Any:
    if operation.variadic:

        def record_variadic(x: Sequence[Any], *attributes: Any) -> Any:
            return record(operation, [as_operand(operation.name, f"x[{i}]", o) for i, o in enumerate(x)], attributes)

        return record_variadic
    kinds = [p.kind for p in parameters]
    names = [p.name for p in parameters]

    def record_slowly(*arguments: Any) -> Any:
        if LOCAL.scope is not None and not operation.returns_tuple:
            cast = _cast_arguments(operation, kinds, arguments)
            if cast is not None:
                return function(*cast)
        if any(value is MISSING for value in arguments):
            absent = ", ".join(repr(name) for name, value in zip(names, arguments, strict=True) if value is MISSING)
            raise TypeError(f"{operation.name}() missing required argument {absent}")
        operands: list[Any] = [
            value if kind == "optional" and value is None else as_operand(operation.name, name, value)
            for name, kind, value in zip(names, kinds, arguments, strict=True)
            if kind != "static"
        ]
        attributes = tuple(value for kind, value in zip(kinds, arguments, strict=True) if kind == "static")
        if LOCAL.scope is not None:
            operands = list(cast_for_scope(operation, operands, attributes))
        if operation.promote:
            operands = promote(operation, operands)
        else:
            operands = [
                _require_tensor(operation, name, value) if kind in ("tensor", "optional") else value
                for name, kind, value in zip(names, [k for k in kinds if k != "static"], operands, strict=False)
            ]
        result = record(operation, operands, attributes)
        if operation.view is not None and result._aval.place is operands[0]._aval.place:
            register_view(operands[0], result, operation, attributes)
        return result

    if operation.returns_tuple:
        defaults = {p.name: p.default for p in parameters if p.has_default}

        count = len(operation.operand_names)

        def record_several(*arguments: Any, **named: Any) -> Any:
            if len(arguments) == len(names) and all(isinstance(a, Tensor) for a in arguments[:count]):
                return record(operation, arguments[:count], arguments[count:])
            if len(arguments) < len(names):
                arguments = (*arguments, *(named[n] if n in named else defaults[n] for n in names[len(arguments) :]))
            return record_slowly(*arguments)

        return record_several
    slowly = record_slowly
    if operation.promote and kinds.count("tensor") == 2:
        slowly = _with_scalars(operation, parameters, record_slowly)
    function: Any = generate(operation, parameters, slowly)
    function.generate_lenient = lambda again: generate(operation, parameters, slowly, again)
    return function


def _with_scalars(operation: Operation, parameters: list[Parameter], slowly: Callable[..., Any]) -> Callable[..., Any]:
    """The way around for a Python number in a tensor's place (`x * 0.5`, `1 - x`): nearly as short as the main one."""
    positions = [i for i, p in enumerate(parameters) if p.kind == "tensor"]
    variants: list[Callable[..., Any]] = []
    for chosen in positions:
        changed = [
            Parameter(p.name, "scalar" if i == chosen else p.kind, p.has_default, p.default, p.declared)
            for i, p in enumerate(parameters)
        ]
        variants.append(generate(operation, changed, slowly))
    left, right = positions
    number_left, number_right = variants

    def record_number(*arguments: Any) -> Any:
        kind = arguments[right].__class__
        if kind is float or (kind is int and -(2**63) <= arguments[right] < 2**63):
            return number_right(*arguments)
        kind = arguments[left].__class__
        if kind is float or (kind is int and -(2**63) <= arguments[left] < 2**63):
            return number_left(*arguments)
        return slowly(*arguments)

    return record_number


def _cast_arguments(operation: Operation, kinds: list[str], arguments: Sequence[Any]) -> list[Any] | None:
    """The arguments with the casts that the scope in force wants; None when it wants none, or care is needed."""
    operands = [value for kind, value in zip(kinds, arguments, strict=True) if kind != "static"]
    if not all(isinstance(value, Tensor) or value is None or value.__class__ in (float, int) for value in operands):
        return None
    attributes = tuple(value for kind, value in zip(kinds, arguments, strict=True) if kind == "static")
    changed = cast_for_scope(operation, operands, attributes)
    if changed is operands:
        return None
    rest = iter(changed)
    return [value if kind == "static" else next(rest) for kind, value in zip(kinds, arguments, strict=True)]


def _require_tensor(operation: Operation, name: str, value: Any) -> Any:
    if isinstance(value, Tensor) or value is None:
        return value
    return tensor_from_data(value)


def public(
    *,
    method: bool | str = False,
    operator: str | None = None,
    inplace: bool | str = False,
    reshapes: bool = False,
    module: str = "",
    name: str | None = None,
    aliases: str = "",
    out: bool = False,
    otherwise: Callable[..., Any] | None = None,
    values: bool = False,
) -> Callable[[Function], Function]:
    """Exports a function as `paddle.[module.]name`, and as a Tensor method, operator and in-place form if asked.

    `method`, `inplace` and `name` may name several, separated by spaces; True means the function's own name (with `_`
    behind it for the in-place form). Users may also call parameters by the common aliases (`input` for `x` …) and by
    those in `aliases` ("y=exponent"), and with `out` they may pass a tensor to write the result into. With `reshapes` the
    in-place form gives its tensor another shape where the result has one; all other in-place forms refuse that.
    `otherwise` is the function in another order of arguments; it answers `MISSING` to calls in this one. `values` says
    that it looks at values of tensors and has no aliases (where it has any, this is taken care of).
    """

    def declare(function: Function) -> Function:
        own_names = name.split() if name else [function.__name__]
        own_name = own_names[0]
        offered = with_options(function, aliases, out, otherwise)
        if values and offered is function:
            offered = putting_off(function)
        for each in own_names:
            PUBLIC[f"{module}.{each}" if module else each] = offered
        for method_name in _names(method, own_name):
            attach(function.__module__, **{method_name: offered})
        if operator is not None:
            attach_operator(function, operator)
        for inplace_name in _names(inplace, f"{own_name}_"):
            changing = in_place_form(with_options(function, aliases, False, otherwise), inplace_name, reshapes)
            attach(function.__module__, **{inplace_name: changing})
            PUBLIC[f"{module}.{inplace_name}" if module else inplace_name] = changing
        return function

    return declare


def _names(given: bool | str, default: str) -> list[str]:
    return given.split() if isinstance(given, str) else [default] if given else []


def attach_operator(function: Callable[..., Any], operator: str) -> None:
    """Makes a function the Tensor operator, in both orders."""
    stem = _OPERATORS[operator]
    if operator in _ONE_SIDED:
        attach(function.__module__, **{f"__{stem}__": function})
        return
    attach(function.__module__, **{f"__{stem}__": function})

    def reflected(self: Tensor, other: Any) -> Tensor:
        try:
            return function(other, self)
        except Exception as failure:
            trim(failure)
            raise

    attach(function.__module__, **{f"__r{stem}__": reflected})


def in_place_form(function: Callable[..., Any], name: str, reshapes: bool = False) -> Callable[..., Any]:
    """`x.name(…)`: computes `function(x, …)` and lets `x` take the result."""

    def change(x: Any = MISSING, /, *arguments: Any, **options: Any) -> Tensor:
        if x is MISSING:  # by its name, which may be that of another argument where `x` is given in its place
            x = options.pop(
                next((n for n in (*parameter_names(function)[:1], "x", "input") if n in options), ""), MISSING
            )
            if x is MISSING:
                raise TypeError(f"{name}() is missing the tensor that it changes.")
        # A stand-in: what the operation saves for its gradient must not be the tensor that changes.
        source = stand_in(x) if LOCAL.grad_enabled and isinstance(x, Tensor) and not x.stop_gradient else x
        scope = LOCAL.scope
        try:
            if scope is None:
                return assign_in_place(x, function(source, *arguments, **options), name, reshapes)
            # What changes keeps its dtype, so mixed precision leaves in-place operations alone.
            set_scope(scope.without_casts())
            try:
                return assign_in_place(x, function(source, *arguments, **options), name, reshapes)
            finally:
                set_scope(scope)
        except Exception as failure:
            trim(failure)
            raise

    change.__name__ = change.__qualname__ = name
    change.__doc__ = _in_place_docstring(function, name)
    vars(change).update(
        changes=function, __signature__=DeferredSignature(parameter_names(function), lambda: _in_place(function))
    )
    return change


def _in_place_docstring(function: Callable[..., Any], name: str) -> str:
    """Arguments, errors and the first example of the function, called by its other name."""
    head = f"As `{name.removesuffix('_')}`, in place: the tensor takes the result and is returned."
    sections = (function.__doc__ or "").split("\n\n")[1:]
    kept = [text.rstrip() for text in sections if text.lstrip().startswith(("Args:", "Raises:", "Examples:"))]
    kept = [re.sub(r"\n +out: .*", "", text) for text in kept]
    return "\n\n".join([head, *kept]).replace(f".{function.__name__}(", f".{name}(")


def _in_place(function: Callable[..., Any]) -> inspect.Signature:
    signature = inspect.signature(function)
    parameters = [p for p in signature.parameters.values() if p.name != "out" or p.kind is not p.KEYWORD_ONLY]
    return signature.replace(parameters=parameters, return_annotation="Tensor")
