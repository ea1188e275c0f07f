"""The environment that templates of strangers are compiled and run in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from jinja2.exceptions import SecurityError
from jinja2.ext import loopcontrols
from jinja2.runtime import LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment

from .budget import PIECES, Budget, budget_now, replaced_size, size_of
from .budget import counted as count
from .counting import Counting, Generation, SafeNamespace
from .filters import all_filters, all_tests, finalized, make_dict, raise_exception, strftime_now, words

_METHODS: dict[type, frozenset[str]] = {
    str: words(
        """capitalize casefold count endswith find format index isalnum isalpha isdecimal isdigit islower isnumeric isspace
        istitle isupper join lower lstrip partition removeprefix removesuffix replace rfind rindex rpartition rsplit
        rstrip split splitlines startswith strip swapcase title upper"""
    ),
    dict: words("copy get items keys values"),
    list: words("copy count index"),
    tuple: words("count index"),
    float: words("is_integer"),
    int: words("bit_length"),
}
_TOO_LARGE = 2**62
# Fields of % that are 100 wide or more, or whose names hide how wide they are; fields of format() with a width at all.
_WIDE = re.compile(r"%(?:\([^()]*\))?[^a-zA-Z%(]*(?:\d{3}|\*)|%\([^)]*\(")
_FORMATTED = re.compile(r"\{[^}]*[:{]")


class Environment(ImmutableSandboxedEnvironment):
    """Where chat templates are compiled and run: what transformers offers them, counted."""

    intercepted_binops = frozenset(["//", "%", "+", "*", "**", "-", "/"])

    def __init__(self) -> None:
        # Not optimized: constants would be computed when the template is compiled.
        super().__init__(
            trim_blocks=True, lstrip_blocks=True, optimized=False, extensions=[loopcontrols, Generation],
            finalize=finalized,
        )  # fmt: skip
        self.filters, self.tests = all_filters(), all_tests(self.tests)
        self.globals = {
            "range": self.globals["range"], "dict": make_dict, "namespace": SafeNamespace, "cycler": self.globals["cycler"],
            "joiner": self.globals["joiner"], "raise_exception": raise_exception, "strftime_now": strftime_now,
        }  # fmt: skip

    # What `Counting` writes calls of into templates.
    counted = staticmethod(count)

    @staticmethod
    def tick() -> bool:
        return budget_now().tick()

    @staticmethod
    def walked(value: Any) -> Any:
        return budget_now().walk(value)

    @staticmethod
    def joined(*values: Any) -> str:
        return count("".join(count(str(budget_now().walk(value))) for value in values))

    @staticmethod
    def concat(parts: Iterable[str]) -> str:
        """Puts together what a macro or a block has written."""
        listed = list(parts)
        budget_now().take(sum(map(len, listed)))
        return "".join(listed)

    def _generate(self, source: Any, *args: Any, **kwargs: Any) -> str:
        return super()._generate(Counting().visit(source), *args, **kwargs)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        budget_now().take(_result_size(operator, left, right))
        return super().call_binop(context, operator, left, right)

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        budget = budget_now()
        if __obj in (__self.tick, __self.walked, __self.counted, __self.joined):
            return __obj(*args)
        budget.tick()
        owner = getattr(__obj, "__self__", None)
        methods = next((names for kind, names in _METHODS.items() if isinstance(owner, kind)), None)
        if methods is not None:
            if __obj.__name__ == "join" and args:
                args = (list(args[0]), *args[1:])
            _check_method(budget, owner, __obj.__name__, methods, args)
        elif not isinstance(__obj, (Macro, LoopContext)):
            budget.walk([*args, *kwargs.values()])
        found = SandboxedEnvironment.call(__self, __context, __obj, *args, **kwargs)
        return count(found)

    def wrap_str_format(self, value: Any) -> Any:
        wrapped = super().wrap_str_format(value)
        if wrapped is None:
            return None
        if value.__name__ != "format" or _FORMATTED.search(value.__self__):
            raise SecurityError("format() takes plain fields alone: {} or {name}")

        def counted(*args: Any, **kwargs: Any) -> str:
            budget = budget_now()
            given = [*args, *kwargs.values()]
            budget.walk(given)
            budget.take(value.__self__.count("{") * max([size_of(each) for each in given] or [0]))
            return wrapped(*args, **kwargs)

        return counted


def _result_size(operator: str, left: Any, right: Any) -> int:
    """How large the result of an operator will be, at most."""
    sequences = (str, bytes, list, tuple)
    if operator == "**":
        small = not isinstance(left, int) or not isinstance(right, int) or left.bit_length() * max(right, 1) < 4096
        return 0 if small else _TOO_LARGE
    if operator == "*" and isinstance(left, int) and isinstance(right, int):
        return 1 if left.bit_length() + right.bit_length() < 2**16 else _TOO_LARGE
    if operator == "*" and (isinstance(left, sequences) or isinstance(right, sequences)):
        times, sequence = (left, right) if isinstance(left, int) else (right, left)
        return (
            size_of(sequence) * max(int(times), 0) if isinstance(times, int) and isinstance(sequence, sequences) else 0
        )
    if operator == "%" and isinstance(left, str):
        if _WIDE.search(left):
            raise SecurityError("a field may not be so wide")
        budget_now().walk(right)
        parts = right if isinstance(right, tuple) else right.values() if isinstance(right, dict) else (right,)
        return len(left) + left.count("%") * max([100, *(size_of(part) for part in parts)])
    return size_of(left) + size_of(right) + 1


def _check_method(budget: Budget, owner: Any, name: str, allowed: frozenset[str], arguments: tuple[Any, ...]) -> None:
    if name not in allowed:
        raise SecurityError(f"templates cannot call {type(owner).__name__}.{name}()")
    if isinstance(owner, str) and name == "replace":
        budget.take(replaced_size(owner, *arguments[:2]))
    elif isinstance(owner, str) and name == "join" and arguments:
        budget.take(len(owner) * len(arguments[0]) + sum(size_of(part) for part in arguments[0]))
    elif name in ("count", "index") and not isinstance(owner, str):
        budget.walk(owner)
    budget.walk(list(arguments))
    budget.take(size_of(owner) * (PIECES if "split" in name else 1))
