"""The messages of a chat, checked and in the form that chat templates read."""

from __future__ import annotations

import json
from typing import Any

from .errors import Problem
from .fields import Fields, is_text

_ROLES = ("system", "developer", "user", "assistant", "tool")
MOST_MESSAGES = 4096


def read_messages(fields: Fields) -> list[dict[str, Any]]:
    messages = fields.tables("messages", MOST_MESSAGES)
    if not messages:
        raise fields.problem("messages", "a list of at least one message")
    return [_message(each) for each in messages]


def _message(fields: Fields) -> dict[str, Any]:
    role = fields.choice("role", None, _ROLES)
    if role is None:
        raise fields.problem("role", f"one of {', '.join(_ROLES)}")
    # Templates know "system"; "developer" is the newer name of the same thing.
    message: dict[str, Any] = {"role": "system" if role == "developer" else role}
    calls = [_call(each) for each in fields.tables("tool_calls", 128)] if role == "assistant" else []
    content = _content(fields)
    if content is None and not calls:
        raise fields.problem("content", "a text or a list of parts of type text")
    message["content"] = content or ""
    if calls:
        message["tool_calls"] = calls
    if (name := fields.text("name")) is not None:
        message["name"] = name
    if role == "tool":
        message["tool_call_id"] = fields.text("tool_call_id", "")
    fields.refuse(audio="models here read text", function_call="send tool_calls instead")
    fields.ignore("refusal", "annotations", "reasoning_content")  # what an answer of ours or OpenAI's may hold
    fields.end()
    return message


def _content(fields: Fields) -> str | None:
    value = fields.any("content")
    if value is None or is_text(value):
        return value
    if not isinstance(value, list):
        raise fields.problem("content", "a text or a list of parts of type text")
    texts = []
    for part in fields.tables("content", MOST_MESSAGES):
        if part.any("type") != "text":
            raise Problem(
                f"{part.path('type')} must be text: this model reads no pictures, sound or files.", part.path("type"),
                "unsupported",
            )  # fmt: skip
        texts.append(part.text("text", ""))
    return "\n".join(texts)


def _call(fields: Fields) -> dict[str, Any]:
    """A call that was made before. Templates write its arguments as JSON, so they are objects here, not texts."""
    function = fields.table("function")
    if function is None:
        raise fields.problem("function", "an object with name and arguments")
    name, arguments = function.text("name"), function.text("arguments", "")
    if not name:
        raise function.problem("name", "the function's name")
    try:
        read = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise function.problem("arguments", "a JSON object, written as a text")
    return {
        "id": fields.text("id", ""), "type": "function", "function": {"name": name, "arguments": read},
    }  # fmt: skip
