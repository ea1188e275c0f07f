"""A language model that is served: its engine, its tokenizer, and what it is called."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .errors import Problem
from .requests import Prompt
from .tools import Tools


@dataclass
class Served:
    """What requests find under a name. `adapters` are the LoRA adapters that requests may name instead."""

    name: str
    engine: Any  # None: the model gives embeddings only
    tokenizer: Any
    context: int  # the longest sequence: prompt and answer
    embedder: Any = None
    adapters: tuple[str, ...] = ()
    created: int = field(default_factory=lambda: int(time.time()))

    def chat_tokens(self, messages: Sequence[dict[str, Any]], tools: Tools | None) -> list[int]:
        """A conversation as the model was trained to read it."""
        definitions = None if tools is None else list(tools.definitions)
        try:
            return list(self.tokenizer.chat(list(messages), tools=definitions, add_generation_prompt=True))
        except (ValueError, TypeError, KeyError) as error:
            raise Problem(
                f"the model's chat template does not take these messages: {str(error)[:300]}", "messages"
            ) from None

    def tokens(self, prompt: Prompt, param: str) -> list[int]:
        """A prompt's tokens; those that a caller sends as numbers must be some of the model's."""
        if isinstance(prompt, str):
            return list(self.tokenizer.encode(prompt))
        size = self.tokenizer.vocab_size
        if any(token >= size for token in prompt):
            raise Problem(f"{param} has tokens beyond the model's {size}: {max(prompt)}.", param)
        return prompt

    def described(self, name: str | None = None) -> dict[str, Any]:
        """As `/v1/models` lists it."""
        found = {"id": name or self.name, "object": "model", "created": self.created, "owned_by": "proa"}
        return found | {"max_model_len": self.context, "parent": self.name if name else None}
