"""Conversations as text, by the template that comes with a model."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.errors import type_error, value_error

_LONGEST_TEMPLATE = 1_000_000  # characters
_DEEPEST = 64  # values within values


@dataclass(frozen=True)
class ChatTemplate:
    """A template in Jinja's language, as `transformers` understands it.

        ChatTemplate(text).render([{"role": "user", "content": "Hello"}])

    It runs in a sandbox: it sees plain values alone (texts, numbers, lists, dictionaries), and a template that loops
    without end or makes text without end is stopped. The limits are far above what conversations need.
    """

    source: str
    most_characters: int = 2**26  # that the template makes on the way, all together, beside what it is given
    most_rounds: int = 1_000_000  # of loops, calls and the like
    most_seconds: float = 10.0

    def render(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None = None, add_generation_prompt: bool = True,
        **variables: Any,
    ) -> str:  # fmt: skip
        """The text for the model to go on from."""
        values = {
            "messages": _messages(messages), "tools": _plain(tools) if tools is not None else None, "documents": None,
            "add_generation_prompt": bool(add_generation_prompt), **{name: _plain(v) for name, v in variables.items()},
        }  # fmt: skip
        from .sandbox import Budget, limited

        given = len(str(values))
        budget = Budget(self.most_characters + 64 * given, self.most_rounds, self.most_seconds)
        try:
            with limited(budget):
                template = _compiled(self.source)
                parts = []
                for part in template.generate(values):
                    budget.take(len(part))
                    parts.append(part)
                return "".join(parts)
        except Exception as error:
            raise value_error(
                "chat", f"the chat template gives up: {_reason(error)}", "",
                "see whether the messages are what the model expects (roles, their order), or give another template",
            ) from error  # fmt: skip


@functools.lru_cache(maxsize=32)
def _compiled(source: str) -> Any:
    if len(source) > _LONGEST_TEMPLATE:
        raise ValueError(f"it has {len(source)} characters, more than {_LONGEST_TEMPLATE}")
    return _environment().from_string(source)


@functools.cache
def _environment() -> Any:
    try:
        from .sandbox import Environment
    except ImportError as error:
        raise ImportError(
            "(chat) chat templates need the jinja2 package, which is not installed; pip install 'proa[llm]'."
        ) from error
    return Environment()


def _reason(error: Exception) -> str:
    line = getattr(error, "lineno", None)
    text = str(error).strip().rstrip(".") or type(error).__name__
    if isinstance(error, RecursionError):
        text = "it calls itself without end"
    return f"{text[:500]} (line {line})" if line else text[:500]


def _messages(messages: Any) -> list[Any]:
    if isinstance(messages, (str, bytes, Mapping)) or not isinstance(messages, Iterable):
        raise type_error("chat", "a list of messages is needed", type(messages).__name__,
                         'such as [{"role": "user", "content": "Hello"}]')  # fmt: skip
    found = [_plain(message) for message in messages]
    for number, message in enumerate(found):
        if not isinstance(message, dict):
            raise type_error(
                "chat", f"message {number} must be a dictionary with a role and a content", repr(message)[:80]
            )
    return found


def _plain(value: Any, depth: int = 0) -> Any:
    """Values that a template may see: of Python's own plain types, so that no method of anything else can be called."""
    if depth > _DEEPEST:
        raise value_error("chat", f"messages may hold values up to {_DEEPEST} deep", "deeper ones")
    if value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, Mapping):
        return {_plain(key, depth + 1): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, depth + 1) for item in value]
    for kind in (bool, str, int, float):
        if isinstance(value, kind):
            return kind(value)
    if callable(getattr(value, "model_dump", None)):  # of the openai package and its like
        return _plain(value.model_dump(), depth + 1)
    raise type_error("chat", "messages hold texts, numbers, lists and dictionaries", type(value).__name__)
