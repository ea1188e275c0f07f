"""Answers as the objects of OpenAI's API: whole ones, and the chunks of a stream."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Iterator
from typing import Any

from .choices import Delta, Token


def usage_of(num_prompt: int, num_written: int) -> dict[str, Any]:
    return {
        "prompt_tokens": num_prompt, "completion_tokens": num_written, "total_tokens": num_prompt + num_written,
    }  # fmt: skip


class Shape:
    """What the objects of one answer have in common."""

    prefix = object_name = chunk_name = ""

    def __init__(self, model: str, with_logprobs: bool) -> None:
        self.id = f"{self.prefix}-{secrets.token_hex(12)}"
        self._with_logprobs = with_logprobs
        self._created = int(time.time())
        self._model = model

    def _object(self, name: str, choices: list[Any], **more: Any) -> dict[str, Any]:
        return {
            "id": self.id, "object": name, "created": self._created, "model": self._model,
            "system_fingerprint": None, "choices": choices, **more,
        }  # fmt: skip

    def whole(self, deltas: Iterable[list[Delta]], usage: dict[str, Any]) -> dict[str, Any]:
        """The answer, from all that was said for each choice."""
        choices = [self._choice(index, parts) for index, parts in enumerate(deltas)]
        return self._object(self.object_name, choices, usage=usage)

    def last(self, usage: dict[str, Any]) -> dict[str, Any]:
        """The chunk behind all others, for those who ask for it."""
        return self._object(self.chunk_name, [], usage=usage)

    def first(self, num_choices: int) -> Iterator[dict[str, Any]]:
        """Chunks before the first token."""
        yield from ()

    def chunk(self, delta: Delta) -> dict[str, Any]:
        raise NotImplementedError

    def _choice(self, index: int, parts: list[Delta]) -> dict[str, Any]:
        raise NotImplementedError


class ChatShape(Shape):
    """`/v1/chat/completions`."""

    prefix, object_name, chunk_name = "chatcmpl", "chat.completion", "chat.completion.chunk"

    def __init__(self, model: str, with_logprobs: bool) -> None:
        super().__init__(model, with_logprobs)
        self._num_calls: dict[int, int] = {}

    def first(self, num_choices: int) -> Iterator[dict[str, Any]]:
        for index in range(num_choices):
            yield self._chunk(index, {"role": "assistant", "content": ""}, None, None)

    def chunk(self, delta: Delta) -> dict[str, Any]:
        said: dict[str, Any] = {"content": delta.text} if delta.text else {}
        if delta.calls:
            before = self._num_calls.get(delta.index, 0)
            self._num_calls[delta.index] = before + len(delta.calls)
            said["tool_calls"] = [{"index": before + n, **_called(call)} for n, call in enumerate(delta.calls)]
        return self._chunk(delta.index, said, self._logprobs(delta.tokens), delta.finish)

    def _chunk(self, index: int, said: dict[str, Any], logprobs: Any, finish: str | None) -> dict[str, Any]:
        choice = {"index": index, "delta": said, "logprobs": logprobs, "finish_reason": finish}
        return self._object(self.chunk_name, [choice])

    def _choice(self, index: int, parts: list[Delta]) -> dict[str, Any]:
        calls = [_called(call) for part in parts for call in part.calls]
        text = "".join(part.text for part in parts)
        message: dict[str, Any] = {"role": "assistant", "content": text if text or not calls else None, "refusal": None}
        if calls:
            message["tool_calls"] = calls
        return {
            "index": index, "message": message, "finish_reason": parts[-1].finish,
            "logprobs": self._logprobs([token for part in parts for token in part.tokens]),
        }  # fmt: skip

    def _logprobs(self, tokens: list[Token]) -> dict[str, Any] | None:
        if not self._with_logprobs:
            return None
        content = [{**_token(token), "top_logprobs": [_token(other) for other in token.top]} for token in tokens]
        return {"content": content, "refusal": None}


class TextShape(Shape):
    """`/v1/completions`. `echoes` are the prompts that answers begin with, one for each choice."""

    prefix, object_name, chunk_name = "cmpl", "text_completion", "text_completion"

    def __init__(self, model: str, with_logprobs: bool, echoes: list[str]) -> None:
        super().__init__(model, with_logprobs)
        self._echoes = echoes
        self._offsets = [0] * len(echoes)

    def first(self, num_choices: int) -> Iterator[dict[str, Any]]:
        for index in range(num_choices):
            if self._echoes[index]:
                yield self.chunk(Delta(index, self._echoes[index]))

    def chunk(self, delta: Delta) -> dict[str, Any]:
        choice = {
            "index": delta.index, "text": delta.text, "finish_reason": delta.finish,
            "logprobs": self._logprobs(delta.index, delta.tokens),
        }  # fmt: skip
        return self._object(self.chunk_name, [choice])

    def _choice(self, index: int, parts: list[Delta]) -> dict[str, Any]:
        text = self._echoes[index] + "".join(part.text for part in parts)
        logprobs = self._logprobs(index, [token for part in parts for token in part.tokens])
        return {"index": index, "text": text, "finish_reason": parts[-1].finish, "logprobs": logprobs}

    def _logprobs(self, index: int, tokens: list[Token]) -> dict[str, Any] | None:
        if not self._with_logprobs:
            return None
        offsets = []
        for token in tokens:
            offsets.append(self._offsets[index])
            self._offsets[index] += len(token.text)
        return {
            "tokens": [token.name for token in tokens], "token_logprobs": [token.logprob for token in tokens],
            "top_logprobs": [{other.name: other.logprob for other in token.top} for token in tokens], "text_offset": offsets,
        }  # fmt: skip


def _called(call: Any) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": f"call_{secrets.token_hex(12)}", "type": "function", "function": function}


def _token(token: Token) -> dict[str, Any]:
    return {"token": token.text, "logprob": token.logprob, "bytes": None if token.data is None else list(token.data)}
