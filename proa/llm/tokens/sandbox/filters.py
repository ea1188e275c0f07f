"""Filters, tests and functions for templates, each of which counts what it makes."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from jinja2 import filters as jinja_filters
from jinja2.exceptions import SecurityError, TemplateError
from jinja2.utils import pass_context

from .budget import PIECES, budget_now, counted, replaced_size, size_of


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PLAIN_FILTERS = words(
    "abs count d default first float int items last length list map reject rejectattr reverse round select selectattr"
)
_TEXT_FILTERS = words("capitalize e escape lower safe title trim upper wordcount")  # which print what is no text
_COMPARING_FILTERS = words("dictsort groupby max min sort unique")
_COMPARING_TESTS = words("eq equalto == ne != lt lessthan < le <= gt greaterthan > ge >= in")


def counted_filter(function: Any, walks: bool = False) -> Any:
    place = 1 if hasattr(function, "jinja_pass_arg") else 0

    @functools.wraps(function)
    def counting(*args: Any, **kwargs: Any) -> Any:
        budget = budget_now()
        budget.tick()
        if len(args) > place:
            value = args[place]
            if walks:
                value = list(value) if isinstance(value, Iterator) else value
                budget.walk(value)
            budget.take(size_of(value) * (PIECES if isinstance(value, str) else 1))
            args = (*args[:place], value, *args[place + 1 :])
        return counted(function(*args, **kwargs))

    return counting


def comparing_test(function: Any) -> Any:
    """A test that compares."""
    return lambda *values: function(*budget_now().walk(values))


def _finalize(_context: Any, value: Any) -> Any:
    """Called for everything that is shown."""
    return counted(budget_now().walk(value))


finalized = pass_context(_finalize)  # with the context, so that nothing is shown when the template is compiled


def string(value: Any) -> str:
    return counted(str(budget_now().walk(value)))


def join(values: Iterable[Any], separator: str = "", attribute: str | None = None) -> str:
    budget, parts = budget_now(), []
    for value in values:
        budget.tick()
        found = value.get(attribute, "") if attribute is not None and isinstance(value, dict) else value
        parts.append(str(budget.walk(found)))
        budget.take(len(parts[-1]) + len(separator))
    return str(separator).join(parts)


def replace(text: Any, old: Any, new: Any, count: int | None = None) -> str:
    text, old, new = string(text), str(old), str(new)
    budget_now().take(replaced_size(text, old, new))
    return text.replace(old, new, -1 if count is None else count)


def indent(text: Any, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    text = string(text)
    size = len(width) if isinstance(width, str) else width
    if size > 1000:
        raise SecurityError(f"an indentation of {size} is too much")
    budget_now().take(len(text) + (text.count("\n") + 1) * size)
    return jinja_filters.do_indent(text, width, first, blank)


def tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: Any = None,
    sort_keys: bool = False,
) -> str:
    """As transformers has it: JSON for a model to read, not for a web page, so nothing is escaped for HTML."""
    if len(indent) > 16 if isinstance(indent, str) else (indent or 0) > 16:
        raise SecurityError("an indentation of more than 16 is too much")
    budget = budget_now()
    budget.walk(value)
    encoder = json.JSONEncoder(ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
    parts = []
    for part in encoder.iterencode(value):
        budget.take(len(part))
        parts.append(part)
    return "".join(parts)


def make_dict(*args: Any, **kwargs: Any) -> dict[Any, Any]:
    return dict(*args, **kwargs)


def raise_exception(text: Any) -> Any:
    raise TemplateError(str(budget_now().walk(text))[:1000])


def strftime_now(pattern: str) -> str:
    from datetime import datetime

    if len(pattern) > 100 or re.search(r"\d{3}", pattern):
        raise SecurityError("the form of a date is too long")
    return datetime.now().strftime(pattern)


def all_filters() -> dict[str, Any]:
    """Those of Jinja that templates use, counted, and ours."""
    known = jinja_filters.FILTERS
    found = {name: counted_filter(known[name]) for name in _PLAIN_FILTERS}
    found |= {name: counted_filter(known[name], walks=True) for name in _TEXT_FILTERS | _COMPARING_FILTERS}
    return found | {"indent": indent, "join": join, "replace": replace, "string": string, "tojson": tojson}


def all_tests(known: dict[str, Any]) -> dict[str, Any]:
    """Jinja's tests; those that compare are counted."""
    return {name: comparing_test(test) if name in _COMPARING_TESTS else test for name, test in known.items()}
