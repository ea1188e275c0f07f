"""The op table: one `Operation` for each primitive, declared once (see `proa.eager.declare`).

A kernel is called as `kernel(xp, *operands, *attributes)`: `xp` is `numpy` (tier 0 on the CPU) or `jax.numpy`
(everything else), operands are arrays in the order of the declaration (dynamic scalars come as 0-d arrays, absent
optional tensors as None), attributes are hashable Python values. A variadic operation receives all its arrays as one
list. It returns an array, or a tuple of arrays when the operation has several outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from ..core.aval import Aval, make_aval
from ..core.dtype import COMPLEX128, FLOAT64, INT64, is_differentiable
from ..core.errors import WrongType, describe, message
from ..core.place import CPU, Place
from ..core.promotion import STRICT, Promotion
from .keys import Identify, attribute_key, make_identify
from .traits import GivenTraits, traits_of

Kernel = Callable[..., Any]
# What infer rules receive for an operand: an abstract value, the Python type of a dynamic scalar, or None.
OperandKind = Aval | type | None

_PLAN_LIMIT = 1_000
Plan = tuple[tuple[Aval, ...], tuple[np.dtype, ...]]
# What a dynamic scalar of each Python type is when it does not follow a tensor.
SCALAR_DTYPES: dict[type, np.dtype] = {float: FLOAT64, int: INT64, bool: INT64, complex: COMPLEX128}


class Operation:
    """A primitive: its kernels, its shape rule, its gradient and what else is declared about it."""

    __slots__ = (
        "alone",
        "attribute_kinds",
        "attribute_names",
        "check",
        "contracts",
        "copies",
        "differentiable_outputs",
        "doc",
        "elementwise",
        "follow_scalars",
        "gradient",
        "host_from",
        "identify",
        "infer_rule",
        "kernel",
        "kernels",
        "kinds",
        "name",
        "operand_names",
        "plans",
        "promote",
        "promotion",
        "returns_tuple",
        "strides",
        "traits",
        "variadic",
        "view",
    )

    def __init__(
        self,
        name: str,
        kernel: Kernel,
        operand_names: Sequence[str],
        attribute_names: Sequence[str],
        *,
        infer: Callable[..., Any] | None = None,
        check: Check | None = None,
        variadic: bool = False,
        returns_tuple: bool = False,
        follow_scalars: bool = True,
        promote: bool | Promotion = False,
        host_from: int | None = None,
        alone: bool = False,
        attribute_kinds: Sequence[str] = (),
        doc: str = "",
        traits: GivenTraits | None = None,
    ) -> None:
        self.name = name
        self.kernel = kernel
        # Overrides by backend: "numpy" (tier 0 on the CPU), "xla" (whenever traced), a place kind ("gpu" …),
        # "exact" and "ggml", on one kind of place only "exact gpu" (see exactness.py), or "sizes" (see known.py).
        self.kernels: dict[str, Kernel] = {}
        self.operand_names = tuple(operand_names)
        self.attribute_names = tuple(attribute_names)
        # What each attribute is declared as, where that is known (see `keys.py`).
        self.attribute_kinds = tuple(attribute_kinds)
        # The attributes as declared, and their keys.
        self.identify: Identify = self._first_identify
        self.infer_rule = infer
        # Whether each element of a result comes from the operands' at its place (`eager/infer.py: elementwise`).
        self.elementwise: bool = getattr(infer, "elementwise", False)
        self.traits = traits_of(infer, traits or {})  # what others ask about it (see traits.py)
        self.plans: dict[Any, Plan] = {}
        self.kinds: dict[Any, tuple[OperandKind, ...]] = {}  # each once: instructions share them
        self.check = check
        self.variadic = variadic
        self.returns_tuple = returns_tuple
        # Which outputs of several carry gradients (None: all that are floating or complex).
        self.differentiable_outputs: tuple[int, ...] | None = None
        # Whether operands of different dtypes are brought to a common one first, by Paddle's rules.
        self.promote = promote is not False
        self.promotion: Promotion = promote if isinstance(promote, Promotion) else STRICT
        # For an operation whose result shares memory in Paddle: how a changed result is written back.
        self.view: Any = None
        # Its strides there, from shape, strides and attributes; `copies`: None where the result cannot share after all.
        self.strides: Callable[..., Any] | None = None
        self.copies = False
        # Whether a Python scalar takes the dtype of the tensor beside it (x + 1.5), or stays float64/int64.
        self.follow_scalars = follow_scalars
        self.gradient: Any = None
        # Whether it multiplies and adds up along an axis (products, convolutions): its work is not its number of elements.
        self.contracts = False
        # From how many elements of an operand on NumPy does this better than what XLA compiles for a CPU.
        self.host_from = host_from
        # Whether every call runs by itself, between two recorded segments: what exchanges data with other processes, which
        # may cut their segments elsewhere. Its kernel gets the values as they are and is never traced.
        self.alone = alone
        self.doc = doc

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return find_operation, (self.name,)

    def _first_identify(self, *attributes: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Makes `identify` when it is needed: generating hundreds would lengthen `import proa`."""
        count = len(self.attribute_kinds)
        if count != len(attributes):  # not declared, or left to the kernel's defaults
            return attributes, cast("tuple[Any, ...]", attribute_key(attributes))
        self.identify = make_identify(self.name, self.attribute_names[-count:] if count else (), self.attribute_kinds)
        return self.identify(*attributes)

    def checks(self, attributes: tuple[Any, ...]) -> bool:
        """Whether values of a call with these attributes are checked."""
        check = self.check
        return check is not None and (check.applies is None or check.applies(attributes))

    def is_differentiable_output(self, position: int, aval: Aval) -> bool:
        chosen = self.differentiable_outputs
        return is_differentiable(aval.dtype) and (chosen is None or position in chosen)

    def prefers_host(self, kinds: tuple[OperandKind, ...], place: Place) -> bool:
        """Whether this call should run by itself on tier 0, between two compiled segments (see the recorder)."""
        if self.alone:
            return True
        if self.host_from is None or place is not CPU:
            return False
        return any(isinstance(kind, Aval) and kind.size >= self.host_from for kind in kinds)

    def kernel_for(self, backend: str, arithmetic: str = "") -> Kernel:
        """The kernel for `numpy`, or for XLA on a kind of place; that of an arithmetic, where there is one."""
        if arithmetic:
            own = self.kernels.get(f"{arithmetic} {backend}") or self.kernels.get(arithmetic)
            if own is not None:
                return own
        override = self.kernels.get(backend)
        if override is None and backend != "numpy":
            override = self.kernels.get("xla")
        return override or self.kernel

    def plan(self, kinds: tuple[OperandKind, ...], attributes: tuple[Any, ...], place: Place, keys: Any = None) -> Plan:
        """Abstract values of the outputs and dtypes of the dynamic scalars; raises the user's error when they do not fit.

        `keys`: what stands for the attributes in dictionaries, where the caller has it (see keys.py).
        """
        if keys is None:
            keys = (attribute_key(attributes),) if attributes else ()
        # The place by its parts: hashing it itself would call Python.
        key = (kinds, keys) if place is CPU else (kinds, keys, place.kind, place.index)
        found = self.plans.get(key)
        if found is None:
            if self.infer_rule is not None:
                result = self.infer_rule(self, kinds, attributes, place)
            else:
                result = _evaluate_abstractly(self, kinds, attributes, place)
            outputs = cast("tuple[Aval, ...]", result) if isinstance(result, tuple) else (result,)
            if len(self.plans) >= _PLAN_LIMIT:
                self.plans.clear()
                self.kinds.clear()
            found = self.plans[key] = (outputs, self.scalar_dtypes(kinds))
        return found

    def scalar_dtypes(self, kinds: tuple[OperandKind, ...]) -> tuple[np.dtype, ...]:
        """What the dynamic scalars among the operands become."""
        if type not in map(type, kinds):
            return ()
        followed = next((k.dtype for k in kinds if isinstance(k, Aval)), None) if self.follow_scalars else None
        return tuple(followed or SCALAR_DTYPES[k] for k in kinds if isinstance(k, type))

    def received(self, operands: Sequence[OperandKind], attributes: tuple[Any, ...] = ()) -> str:
        """The arguments in words, for error messages."""
        names = self.operand_names
        if self.variadic:
            names = tuple(f"{names[0] if names else 'x'}[{i}]" for i in range(len(operands)))
        shown: list[tuple[str, object]] = [
            (name, operand.__name__ if isinstance(operand, type) else operand)
            for name, operand in zip(names, operands, strict=False)
            if operand is not None
        ]
        shown += [
            (n, list(cast("tuple[Any, ...]", a)) if isinstance(a, tuple) else a)
            for n, a in zip(self.attribute_names, attributes, strict=False)
        ]
        return describe(shown)

    def error(
        self,
        kind: type[Exception],
        what: str,
        operands: Sequence[OperandKind],
        attributes: tuple[Any, ...] = (),
        fix: str = "",
    ) -> Exception:
        kind = WrongType if kind is TypeError else kind
        return kind(message(self.name, what, self.received(operands, attributes), fix))


class NeedsPromotion(Exception):
    """Raised by a shape rule when operands must be brought to a common dtype first."""


class PrefersHost(Exception):
    """Raised while recording when the call should run by itself on tier 0: the careful way sees to it."""


class NeedsCast(NeedsPromotion):
    """Raised when the scope in force (mixed precision) wants operands in another dtype first."""


class Check:
    """A condition on values that shapes cannot show (an index in range).

    `condition(xp, *operands, *attributes)` gives a boolean scalar array. Where it is false, `error` is raised with
    `explain(kinds, attributes)` as its text; the text cannot use the values, which a compiled step no longer has.
    When the operands at the positions `operands` are known at the call, the check runs there and then.
    `applies(attributes)`, if given, says whether there is anything to check.
    """

    __slots__ = ("applies", "condition", "error", "explain", "operands")

    def __init__(
        self,
        condition: Kernel,
        explain: Callable[[Sequence[OperandKind], tuple[Any, ...]], str],
        error: type[Exception],
        operands: tuple[int, ...],
        applies: Callable[[tuple[Any, ...]], bool] | None = None,
    ) -> None:
        self.applies = applies
        self.condition = condition
        self.explain = explain
        self.error = error
        self.operands = operands


_OPERATIONS: dict[str, Operation] = {}


def register(operation: Operation) -> Operation:
    if operation.name in _OPERATIONS:
        raise ValueError(message(operation.name, "an operation with this name is declared already"))
    _OPERATIONS[operation.name] = operation
    return operation


def find_operation(name: str) -> Operation:
    return _OPERATIONS[name]


def all_operations() -> dict[str, Operation]:
    """The op table, by name."""
    return dict(_OPERATIONS)


def _evaluate_abstractly(
    operation: Operation, operands: Sequence[OperandKind], attributes: tuple[Any, ...], place: Place
) -> tuple[Aval, ...]:
    """Shape inference for an operation without a rule: runs its XLA kernel on shapes alone."""
    from .tiers.lowering import abstract_evaluation

    try:
        outputs = abstract_evaluation(operation, operands, attributes, place)
    except (TypeError, ValueError, IndexError, ZeroDivisionError, NotImplementedError) as error:
        text = str(error).strip().split("\n")[0].rstrip(".")
        raise operation.error(type(error), text, operands, attributes) from None
    return tuple(make_aval(tuple(out.shape), out.dtype, place) for out in outputs)
