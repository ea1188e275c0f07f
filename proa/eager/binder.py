"""The hot path: for each operation a function is generated that records one call.

What is written out by hand here would be, for `multiply(x, y)` on tensors:

    segment = LOCAL.segment
    ix = x._index                                       # first: another thread may take x over in between
    if x._segment is not segment: ix = segment.input_index(x)
    iy = y._index
    if y._segment is not segment: iy = segment.input_index(y)
    node = segment.node.get((OPERATION, ix, iy))        # seen here before: one dictionary step
    ...make the tensor, remember it, and a tape node if a gradient is wanted.

Anything unusual (Python scalars, arrays, promotion, another device) raises AttributeError or a WrongPlace on the way and
goes to `dispatch.record`, which does the same thing with care. Both write the same instruction: this is
`Segment.record` written out.
"""

from __future__ import annotations

import inspect
import itertools
import types
from collections.abc import Callable
from typing import Any

from ..core.tracebacks import trim
from ..ir.keys import SCOPE, bound_source, key_source, value_source
from ..ir.operation import NeedsPromotion, Operation, PrefersHost
from ..ir.recorder import LOCAL, WrongPlace, after_record, extend
from .backward.tape import NOT_SAVED, SAVED_HOOKS, Gradient, GradNode, pack_saved
from .calling import MISSING
from .signatures import DeferredSignature
from .tensor import Tensor
from .views import register_view

next_sequence = itertools.count().__next__


# Names that the generated functions use themselves.
RESERVED = frozenset({"failure", "key", "kept", "name", "named", "node", "out", "segment", "tape"})


class Parameter:
    """How one operand or attribute of an operation is passed."""

    __slots__ = ("declared", "default", "has_default", "kind", "name")

    def __init__(self, name: str, kind: str, has_default: bool, default: Any, declared: str = "") -> None:
        self.name = name
        self.declared = declared  # the kernel's annotation
        self.kind = kind  # tensor · optional · scalar · static
        self.has_default = has_default
        self.default = default


def generate(
    operation: Operation,
    parameters: list[Parameter],
    slowly: Callable[..., Any],
    again: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """The recording function of a single-output operation whose operands are tensors and scalars.

    With `again` it takes any keyword: what it does not know goes there (see `calling.py`).

    Its code is generated at the first call (generating hundreds would double the time of `import proa`): until then
    the function object carries a stub, afterwards the generated code itself, so nothing is lost in the hot path.
    """
    scope: dict[str, Any] = {"trim": trim}

    def first_call(*arguments: Any, **named: Any) -> Any:
        generated = _generate(operation, parameters, slowly, scope, again)
        function.__defaults__ = generated.__defaults__
        function.__code__ = generated.__code__
        return function(*arguments, **named)

    scope["first_call"] = first_call
    function = types.FunctionType(_STUB, scope, operation.name)
    function.__dict__["__signature__"] = DeferredSignature(
        [*[p.name for p in parameters], "name"], lambda: _signature(operation, parameters)
    )
    return function


def _signature(operation: Operation, parameters: list[Parameter]) -> inspect.Signature:
    made = [
        inspect.Parameter(
            p.name,
            _POSITIONAL,
            default=p.default if p.has_default else inspect.Parameter.empty,
            annotation=_annotation(operation, p),
        )
        for p in parameters
    ]
    name = inspect.Parameter("name", _POSITIONAL, default=None, annotation="str | None")
    return inspect.Signature([*made, name], return_annotation="Tensor")


def _annotation(operation: Operation, p: Parameter) -> str:
    """What users may pass: kernels get arrays where users pass tensors."""
    if p.kind == "static":
        return p.declared
    number = "complex" if operation.promote else "float"
    kinds = {"tensor": f"Tensor | {number}" if operation.promote else "Tensor", "optional": "Tensor | None"}
    return kinds.get(p.kind, number)


def _stub(*arguments: Any, **named: Any) -> Any:
    try:
        return first_call(*arguments, **named)  # type: ignore[name-defined] # noqa: F821 (in the function's own scope)
    except Exception as failure:
        trim(failure)
        raise


_STUB = _stub.__code__
_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD


def _generate(
    operation: Operation,
    parameters: list[Parameter],
    slowly: Callable[..., Any],
    scope: dict[str, Any],
    again: Callable[..., Any] | None,
) -> types.FunctionType:
    operands = [p for p in parameters if p.kind != "static"]
    statics = [p for p in parameters if p.kind == "static"]
    gradient: Gradient | None = operation.gradient
    names = ", ".join(p.name for p in parameters)
    scope.update(
        LOCAL=LOCAL, Tensor=Tensor, new=object.__new__, OPERATION=operation, extend=extend, slowly=slowly,
        GradNode=GradNode, NOT_SAVED=NOT_SAVED, WrongPlace=WrongPlace, next_sequence=next_sequence, SAVED_HOOKS=SAVED_HOOKS,
        pack_saved=pack_saved, NeedsPromotion=NeedsPromotion, PrefersHost=PrefersHost, register_view=register_view,
        after_record=after_record, **SCOPE,
    )  # fmt: skip
    lines = _head_lines(operation, parameters, scope, again, slow=f"        return slowly({names})", names=names)
    lines += _operand_lines(operands, slow=f"        return slowly({names})")
    lines += _step_lines(operation, operands, statics, slow=f"            return slowly({names})")
    lines += [
        "    out = new(Tensor)",
        "    out._aval = node.aval",
        "    out._value = None",
        "    out._segment = segment",
        "    out._index = node.index",
        "    out._version = 0",
        "    out._node = None",
        "    segment.refs.append(out)",
    ]
    lines += _tape_lines(operands, statics, gradient)
    if operation.view is not None:
        static_tuple = "".join(p.name + ", " for p in statics)
        lines.append(f"    register_view({operands[0].name}, out, OPERATION, ({static_tuple}))")
    lines += ["    if node.hook:", "        after_record(segment, node)", "    return out"]
    # What is raised inside leaves without the frames of the package: a `try` costs nothing until then.
    body = ["    try:", *[f"    {line}" for line in lines[1:]]]
    body += ["    except Exception as failure:", "        trim(failure)", "        raise"]
    exec(compile("\n".join([lines[0], *body]), f"<binder of {operation.name}>", "exec"), scope)
    return scope[operation.name]


def _head_lines(
    operation: Operation, parameters: list[Parameter], scope: dict[str, Any], again: Callable[..., Any] | None,
    slow: str, names: str,
) -> list[str]:  # fmt: skip
    """Source of the signature, and of calls that are given other names or too few arguments."""
    signature = []
    for p in parameters:
        if p.has_default:
            scope[f"default_{p.name}"] = p.default
            signature.append(f"{p.name}=default_{p.name}")
        else:
            signature.append(p.name if again is None else f"{p.name}=MISSING")
    signature.append("name=None")
    if again is None:
        return [f"def {operation.name}({', '.join(signature)}):"]
    signature.append("**named")
    scope.update(again=_unpacked(again, parameters), MISSING=MISSING)
    lines = [f"def {operation.name}({', '.join(signature)}):"]
    lines += ["    if named:", f"        return again(({names},), named)"]
    required = [p.name for p in parameters if p.kind == "static" and not p.has_default]
    if required:
        lines += [f"    if {' or '.join(f'{n} is MISSING' for n in required)}:", slow]
    return lines


def _operand_lines(operands: list[Parameter], slow: str) -> list[str]:
    """Source that turns operands into their numbers in the segment."""
    lines, checks = [], []
    for p in operands:
        if p.kind == "scalar":
            # Larger integers are checked against the dtype they will take.
            fits = f"-2147483648 <= {p.name} <= 2147483647"
            checks.append(f"(type_{p.name} is float or type_{p.name} is int and {fits})")
            lines.append(f"    type_{p.name} = {p.name}.__class__")
    if checks:
        lines += [f"    if not ({' and '.join(checks)}):", slow]
    lines += ["    segment = LOCAL.segment", "    try:"]
    for p in operands:
        if p.kind == "tensor":
            lines += [
                f"        i_{p.name} = {p.name}._index",
                f"        if {p.name}._segment is not segment: i_{p.name} = segment.input_index({p.name})",
            ]
        elif p.kind == "optional":
            lines += [
                f"        if {p.name} is None: i_{p.name} = None",
                "        else:",
                f"            i_{p.name} = {p.name}._index",
                f"            if {p.name}._segment is not segment: i_{p.name} = segment.input_index({p.name})",
            ]
    if not any(p.kind in ("tensor", "optional") for p in operands):
        lines += ["        if segment.root.place is not LOCAL.place: raise AttributeError"]
    return [*lines, "    except (AttributeError, WrongPlace):", slow]


def _step_lines(operation: Operation, operands: list[Parameter], statics: list[Parameter], slow: str) -> list[str]:
    """Source of the step in the trace tree, which grows where this path was never walked."""
    lines = []
    for p in statics:
        bound = bound_source(p.name, p.declared, operation.name)
        if bound is not None:
            lines.append(f"    {bound}")
    numbers = [f"type_{p.name}" if p.kind == "scalar" else f"i_{p.name}" for p in operands]
    key_parts = [*numbers, *(key_source(p.name, p.declared) for p in statics)]
    operand_tuple = "".join(part + ", " for part in numbers)
    kind_tuple = "".join(_kind_source(p) + ", " for p in operands)
    new_tuple = "".join(value_source(p.name, p.declared) + ", " for p in statics)
    return [
        *lines,
        f"    key = (OPERATION, {''.join(part + ', ' for part in key_parts)})",
        "    node = segment.node.get(key)",
        "    if node is None:",
        "        try:",
        f"            node = extend(segment, key, OPERATION, ({operand_tuple}), ({kind_tuple}), ({new_tuple}))",
        "        except (NeedsPromotion, PrefersHost):",
        slow,
        "    segment.node = node",
        *[f"    segment.scalars.append({p.name})" for p in operands if p.kind == "scalar"],
    ]


def _unpacked(again: Callable[..., Any], parameters: list[Parameter]) -> Callable[..., Any]:
    """`again` with the arguments that were given, by name: defaults that stand in for the others fall away."""

    def call(values: tuple[Any, ...], named: dict[str, Any]) -> Any:
        given = {
            p.name: value
            for p, value in zip(parameters, values, strict=True)
            if value is not (p.default if p.has_default else MISSING)
        }
        return again((), {**given, **named})

    return call


def _kind_source(p: Parameter) -> str:
    if p.kind == "scalar":
        return f"type_{p.name}"
    return f"{p.name}._aval" if p.kind == "tensor" else f"None if {p.name} is None else {p.name}._aval"


def _wants_gradient(p: Parameter) -> str:
    if p.kind == "tensor":
        return f"not {p.name}.stop_gradient"
    return f"not ({p.name} is None or {p.name}.stop_gradient)"


def _tape_lines(operands: list[Parameter], statics: list[Parameter], gradient: Gradient | None) -> list[str]:
    """Source that makes the tape node when some operand wants a gradient."""
    tracked = [p for p in operands if p.kind in ("tensor", "optional")]
    if gradient is None or not tracked:
        return ["    out.stop_gradient = True"]
    lines = [
        f"    if not ({' or '.join(_wants_gradient(p) for p in tracked)}) or not LOCAL.grad_enabled:",
        "        out.stop_gradient = True",
        "    else:",
        "        out.stop_gradient = False",
        "        tape = GradNode()",
        "        tape.operation = OPERATION",
        "        tape.sequence = next_sequence()",
    ]
    edges = []
    for p in operands:
        if p.kind == "scalar":
            edges.append("None")
        elif p.kind == "tensor":
            edges.append(f"None if {p.name}.stop_gradient else {p.name}._node or {p.name}")
        else:
            edges.append(f"None if {p.name} is None or {p.name}.stop_gradient else {p.name}._node or {p.name}")
    lines.append(f"        tape.edges = ({', '.join(edges)},)")
    avals = ["None" if p.kind == "scalar" else _kind_source(p) for p in operands]
    lines.append(f"        tape.avals = ({', '.join(avals)},)")
    lines += _saved_lines(operands, gradient)
    lines.append(f"        tape.attributes = ({''.join(p.name + ', ' for p in statics)})")
    lines.append("        tape.out_aval = node.aval")
    lines.append("        out._node = tape")
    lines += ["        if SAVED_HOOKS:", "            pack_saved(tape)"]
    return lines


def _saved_lines(operands: list[Parameter], gradient: Gradient) -> list[str]:
    """Source that saves what the gradient rules ask for."""
    tracked = [p for p in operands if p.kind in ("tensor", "optional")]
    by_name = {p.name: p for p in operands}
    lines: list[str] = []
    saved: list[str] = []
    versions: list[str] = []
    for name in gradient.saved:
        kind = by_name[name].kind if name in by_name else None
        kept = "kept" if name == "out" else name
        users = [by_name[user] for user in gradient.users[name]] if name in gradient.users else operands
        if kind in ("tensor", "optional") and not all(p in users for p in tracked):
            # Saved only where a gradient that needs it will be asked for.
            kept = f"saved_{name}"
            wanted = " or ".join(_wants_gradient(p) for p in users if p.kind != "scalar") or "False"
            lines.append(f"        {kept} = {name} if {wanted} else NOT_SAVED")
        saved.append(kept)
        if kind == "tensor":
            versions.append(f"{kept}._version")
        elif kind == "optional":
            versions.append(f"(0 if {kept} is None else {kept}._version)")
    if "out" in gradient.saved and "out" not in by_name:
        # The result is saved as another tensor with the same value: `out` itself would be a reference cycle.
        lines += [
            "        kept = new(Tensor)",
            "        kept._aval = node.aval",
            "        kept._value = None",
            "        kept._segment = segment",
            "        kept._index = node.index",
            "        kept._version = 0",
            "        kept._node = None",
            "        kept.stop_gradient = True",
            # In front of the result: when a result dies unused, what was saved with it goes first (`recording/memory.py`).
            "        segment.refs.insert(-1, kept)",
        ]
    lines.append(f"        tape.saved = ({''.join(s + ', ' for s in saved)})")
    lines.append(f"        tape.version = {' + '.join(versions) or '0'}")
    return lines
