"""Which function translates which operation of Paddle's.

    @reads("conv2d", "depthwise_conv2d")
    def conv2d(x: Tensor, weight: Tensor, *, strides, paddings, groups): ...

Inputs come by position, in the order of the file; an absent one is None. Attributes come by name, those only that the
function asks for; a default serves files that lack one. How an input arrives is what its annotation says:

    Tensor      a tensor, or a list of tensors (also without an annotation)
    Integers    a list of Python integers; its value must be known before the model runs
    Integer     one such integer
    Number      a Python number if the value is known, else the tensor
    Raw         whatever the translation holds: a tensor, a `Known` value or a list

The result is a tensor, or a tuple in the order of the operation's results (fewer are fine: what is left out was never
needed by an inference program), with a list where one result is a list of tensors.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ....eager.tensor import Tensor

    Integers = list[int]
    Integer = int
    Number = int | float | Tensor | None
    Raw = Any

_KINDS = ("Integers", "Integer", "Number", "Raw")


class Reader:
    """A translator and how it wants to be called."""

    __slots__ = ("attributes", "creates", "function", "inputs", "takes_all", "translates_blocks", "variadic")

    def __init__(self, function: Callable[..., Any], creates: bool, translates_blocks: bool) -> None:
        self.function = function
        self.creates = creates
        self.translates_blocks = translates_blocks
        self.inputs: list[tuple[str, str, bool]] = []  # name, kind, required
        self.attributes: list[tuple[str, bool]] = []
        self.variadic = False
        self.takes_all = False
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is parameter.KEYWORD_ONLY:
                self.attributes.append((parameter.name, parameter.default is parameter.empty))
            elif parameter.kind is parameter.VAR_KEYWORD:
                self.takes_all = True
            elif parameter.kind is parameter.VAR_POSITIONAL:
                self.variadic = True
            else:
                text = str(parameter.annotation).removesuffix(" | None")
                kind = text if text in _KINDS else "Tensor"
                self.inputs.append((parameter.name, kind, parameter.default is parameter.empty))


READERS: dict[str, Reader] = {}


def reads(*names: str, creates: bool = False, translates_blocks: bool = False) -> Callable[[Any], Any]:
    """Registers a function as the translator of Paddle's operations of these names.

    `creates`: the result's size comes from the values of the inputs (a shape), so it is never computed while reading.
    `translates_blocks`: the function gets the translation, the operation and its inputs as they are held.
    """

    def register(function: Any) -> Any:
        for name in names:
            READERS[name] = Reader(function, creates, translates_blocks)
        return function

    return register


def find_reader(name: str) -> Reader | None:
    """An operation that works in place ("relu_") is read as the one that does not."""
    return READERS.get(name) or READERS.get(name.removesuffix("_"))


def unknown_operation(name: str, position: int) -> NotImplementedError:
    return NotImplementedError(
        f"(load) operation {position} of the model is {name!r}, which has no translator; write one and register it: "
        f"from proa.formats.paddle.reading import reads; @reads({name!r}) def {name.strip('_').replace('.', '_')}"
        "(x, *, attribute): return …"
    )
