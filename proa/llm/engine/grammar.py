"""Answers that follow a grammar: which tokens are allowed next, worked out beside the model's own work.

The library `llguidance` knows JSON schemas, regular expressions and Lark grammars; here its matchers are bound to a model's
tokenizer. The mask of the next token is computed in another thread as soon as a token is chosen, while the engine streams
what it has and reads prompts of others.
"""

from __future__ import annotations

import functools
import json
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from ...core.errors import runtime_error, value_error
from .request import Grammar

# What may stand between the parts of a JSON text: some blanks, or a new line and its indentation. JSON allows any amount,
# and a model that has lost its way fills its answer up with it.
_WHITE = r"[ \t]{1,8}|\r?\n[ \t]{0,64}"


class Guide:
    """One answer's way through its grammar."""

    def __init__(self, matcher: Any, words: int, threads: ThreadPoolExecutor) -> None:
        self._matcher, self._words, self._threads = matcher, words, threads
        self._next: Future[np.ndarray] = threads.submit(self._compute)

    def _compute(self) -> np.ndarray:
        mask = np.zeros(self._words, np.int32)
        found = np.frombuffer(self._matcher.compute_bitmask(), np.uint8)
        bytes_of = mask.view(np.uint8)  # the model's vocabulary may be longer than the tokenizer's, or shorter
        size = min(found.size, bytes_of.size)
        bytes_of[:size] = found[:size]
        return mask

    def mask(self) -> np.ndarray:
        """The bits of the tokens that may come next."""
        mask = self._next.result()
        if self._matcher.is_error():
            raise runtime_error("Grammar", f"the grammar cannot be followed any further: {self._matcher.get_error()}")
        return mask

    def advance(self, token: int) -> bool:
        """Takes the token that was chosen; True when nothing may follow it."""
        if not self._matcher.consume_token(token):
            raise runtime_error("Grammar", f"token {token} does not follow the grammar: {self._matcher.get_error()}")
        if self._matcher.is_stopped():
            return True
        self._next = self._threads.submit(self._compute)
        return False


class Guides:
    """Makes guides for the tokenizer of one model."""

    def __init__(self, tokenizer: Any, vocabulary: int) -> None:
        self._tokenizer, self._vocabulary = tokenizer, vocabulary
        self._words = -(-vocabulary // 32)

    @functools.cached_property
    def _library(self) -> Any:
        try:
            import llguidance
        except ImportError as error:
            raise ImportError("(Grammar) constrained answers need llguidance: pip install 'proa[llm]'.") from error
        return llguidance

    @functools.cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(2, "proa-grammar")

    @functools.cached_property
    def _words_of_model(self) -> Any:
        """The tokenizer as the library wants it; takes a second for a large vocabulary."""
        if self._tokenizer is None:
            raise value_error("Grammar", "an engine without a tokenizer cannot follow a grammar")
        ends = list(self._tokenizer.eos)
        return self._library.LLTokenizer(self._tokenizer.to_json(), n_vocab=self._vocabulary, eos_token=ends or None)

    @functools.lru_cache(256)  # noqa: B019 - as long as the engine
    def _compiled(self, kind: str, text: str) -> Any:
        matcher = self._library.LLMatcher(self._words_of_model, self._source(kind, text))
        if matcher.is_error():
            raise value_error("Grammar", f"the {kind} is not understood: {matcher.get_error()}", _shortened(text))
        return matcher

    def _source(self, kind: str, text: str) -> str:
        make = self._library.LLMatcher
        if kind == "regex":
            return make.grammar_from_regex(text)
        if kind == "lark":
            return make.grammar_from_lark(text)
        return make.grammar_from_json_schema(text, defaults={"whitespace_pattern": _WHITE})

    def guide(self, grammar: Grammar) -> Guide:
        """The way through a grammar, at its beginning; ValueError where it is none."""
        kind, text = grammar.kind, grammar.text
        if kind == "json":
            kind, text = "json_schema", {"type": "object"}
        if kind == "json_schema":
            try:
                text = text if isinstance(text, str) else json.dumps(text)
                if not isinstance(json.loads(text), (dict, bool)):
                    raise ValueError("a schema is an object")
            except (TypeError, ValueError, RecursionError) as error:
                raise value_error("Grammar", f"the JSON schema is no JSON ({error})", _shortened(repr(text))) from None
        elif not isinstance(text, str):
            raise value_error("Grammar", f"a {kind} is text", type(text).__name__)
        return Guide(self._compiled(kind, text).deep_copy(), self._words, self._threads)

    def close(self) -> None:
        if "_threads" in self.__dict__:
            self._threads.shutdown(wait=False, cancel_futures=True)


def _shortened(text: str) -> str:
    return text if len(text) <= 200 else text[:200] + "…"
