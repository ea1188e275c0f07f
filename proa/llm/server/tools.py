"""Functions that a model may call: what a request says about them, and the grammar that forces a call."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..engine.request import Grammar
from .errors import Problem
from .fields import Fields

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
MOST_TOOLS = 128


@dataclass(frozen=True)
class Tools:
    """The functions of a request. `forced` are the names of which one must be called; none: the model decides."""

    definitions: tuple[dict[str, Any], ...]
    forced: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        return frozenset(each["function"]["name"] for each in self.definitions)

    def grammar(self) -> Grammar | None:
        """A call as JSON, whatever the template's own form is: `calls.py` reads both."""
        if not self.forced:
            return None
        calls = [_call_schema(each["function"]) for each in self.definitions if each["function"]["name"] in self.forced]
        return Grammar("json_schema", calls[0] if len(calls) == 1 else {"anyOf": calls})


def _call_schema(function: dict[str, Any]) -> dict[str, Any]:
    parameters = function.get("parameters") or {"type": "object"}
    return {
        "type": "object", "additionalProperties": False, "required": ["name", "arguments"],
        "properties": {"name": {"const": function["name"]}, "arguments": parameters},
    }  # fmt: skip


def read_tools(fields: Fields) -> Tools | None:
    """None where no function may be called."""
    definitions = tuple(_definition(each) for each in fields.tables("tools", MOST_TOOLS))
    names = [each["function"]["name"] for each in definitions]
    if len(set(names)) < len(names):
        raise fields.problem("tools", "functions with different names")
    fields.flag("parallel_tool_calls", True)  # a model that is not forced may make one call or several
    choice = fields.any("tool_choice")
    if choice in (None, "auto", "none", "required"):
        if choice == "required" and not names:
            raise fields.problem("tool_choice", "auto or none where there are no tools")
        if choice == "none" or not names:
            return None
        return Tools(definitions, tuple(names) if choice == "required" else ())
    return Tools(definitions, (_named(fields, names),))


def _named(fields: Fields, names: list[str]) -> str:
    choice = fields.table("tool_choice") if isinstance(fields.any("tool_choice"), dict) else None
    function = choice.table("function") if choice is not None and choice.any("type") == "function" else None
    name = function.text("name") if function is not None else None
    if name not in names:
        raise fields.problem("tool_choice", "auto, none, required or {type: function, function: {name: one of tools}}")
    return str(name)


def _definition(fields: Fields) -> dict[str, Any]:
    if fields.any("type") != "function":
        raise fields.problem("type", "function")
    function = fields.table("function")
    if function is None:
        raise fields.problem("function", "an object with a name")
    name = function.text("name")
    if name is None or not _NAME.fullmatch(name):
        raise function.problem("name", "1 to 64 letters, digits, dots, dashes and underscores")
    function.text("description")
    if not isinstance(function.any("parameters"), (dict, type(None))):
        raise function.problem("parameters", "a JSON schema")
    function.flag("strict")
    function.end()
    kept = {key: value for key, value in function.raw().items() if key != "strict" and value is not None}
    return {"type": "function", "function": kept}


def read_format(fields: Fields) -> Grammar | None:
    """`response_format`: what an answer must look like."""
    wanted = fields.table("response_format")
    if wanted is None:
        return None
    kind = wanted.choice("type", "text", ("text", "json_object", "json_schema"))
    if kind != "json_schema":
        wanted.end()
        return Grammar("json") if kind == "json_object" else None
    described = wanted.table("json_schema")
    if described is None:
        raise wanted.problem("json_schema", "an object with a name and a schema")
    schema = described.any("schema")
    if not isinstance(schema, dict):
        raise described.problem("schema", "a JSON schema")
    for name in ("name", "description"):
        described.text(name)
    described.flag("strict")
    described.end()
    wanted.end()
    return Grammar("json_schema", schema)


def check_together(tools: Tools | None, grammar: Grammar | None) -> None:
    """An answer cannot be forced into two forms at once."""
    if tools is not None and tools.forced and grammar is not None:
        raise Problem("tool_choice and response_format both force a form; leave one of them out.", "response_format")
