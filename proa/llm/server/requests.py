"""What is asked at the paths of OpenAI's API, read from JSON and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..engine.request import MOST_BIASES, MOST_STOPS, Sampling
from .conversation import read_messages
from .errors import Problem
from .fields import Fields, is_text
from .settings import MOST_ALTERNATIVES, Settings
from .tools import Tools, check_together, read_format, read_tools

# What says something about the caller, or asks for nothing that could change the answer.
_IGNORED = (
    "user",
    "metadata",
    "store",
    "service_tier",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
)
_MOST_TOKENS = 1 << 24

Prompt = str | list[int]


@dataclass(frozen=True)
class Wish:
    """What requests for text have in common. `max_tokens` None: as many as there is room for."""

    model: str
    sampling: Sampling
    max_tokens: int | None
    num_choices: int
    stream: bool
    with_usage: bool
    prompt_field: ClassVar[str] = ""

    @property
    def with_logprobs(self) -> bool:
        return self.sampling.logprobs is not None

    def sampling_of(self, choice: int, room: int) -> Sampling:
        """Choices of one request differ by their seeds; an answer ends where the model has no more room."""
        seed = self.sampling.seed
        most = room if self.max_tokens is None else min(self.max_tokens, room)
        return replace(self.sampling, max_tokens=most, seed=None if seed is None else seed + choice)


@dataclass(frozen=True)
class ChatWish(Wish):
    """`/v1/chat/completions`."""

    prompt_field = "messages"
    messages: Sequence[dict[str, Any]] = ()
    tools: Tools | None = None


@dataclass(frozen=True)
class TextWish(Wish):
    """`/v1/completions`."""

    prompt_field = "prompt"
    prompts: Sequence[Prompt] = ()
    echo: bool = False


@dataclass(frozen=True)
class EmbeddingWish:
    """`/v1/embeddings`."""

    model: str
    inputs: Sequence[Prompt]
    as_base64: bool
    dimensions: int | None


def read_chat(message: Any, settings: Settings) -> ChatWish:
    fields = Fields(message)
    messages = read_messages(fields)
    tools = read_tools(fields)
    grammar = read_format(fields)
    check_together(tools, grammar)
    alternatives = fields.whole("top_logprobs", None, 0, MOST_ALTERNATIVES)
    logprobs = (alternatives or 0) if fields.flag("logprobs") else None
    if alternatives and logprobs is None:
        raise Problem("top_logprobs needs logprobs to be true.", "top_logprobs")
    max_tokens = fields.whole(
        "max_completion_tokens", fields.whole("max_tokens", None, 1, _MOST_TOKENS), 1, _MOST_TOKENS
    )
    grammar = grammar or (tools.grammar() if tools else None)
    fields.refuse(
        functions="send tools instead", function_call="send tool_choice instead", audio="models here write text",
        web_search_options="nothing is fetched from a network",
    )  # fmt: skip
    if fields.any("modalities") not in (None, ["text"]):
        raise fields.problem("modalities", '["text"]')
    fields.ignore("prediction", "reasoning_effort", "verbosity")
    common = _common(fields, settings, logprobs, grammar, max_tokens)
    return ChatWish(**common, messages=messages, tools=tools)


def read_text(message: Any, settings: Settings) -> TextWish:
    fields = Fields(message)
    prompts = _prompts(fields, "prompt", settings.max_choices)
    echo = fields.flag("echo")
    logprobs = fields.whole("logprobs", None, 0, MOST_ALTERNATIVES)
    if echo and logprobs is not None:
        raise Problem("echo together with logprobs is not offered here.", "echo", "unsupported")
    max_tokens = fields.whole("max_tokens", 16, 1, _MOST_TOKENS)
    fields.refuse(suffix="models here go on behind a prompt")
    best_of = fields.whole("best_of", None, 1, settings.max_choices)
    common = _common(fields, settings, logprobs, read_format(fields), max_tokens, len(prompts))
    if best_of not in (None, common["num_choices"]):
        raise Problem("best_of other than n is not offered here.", "best_of", "unsupported")
    return TextWish(**common, prompts=prompts, echo=echo)


def read_embedding(message: Any, most: int) -> EmbeddingWish:
    fields = Fields(message)
    inputs = _prompts(fields, "input", most)
    wish = EmbeddingWish(
        _model(fields), inputs, fields.choice("encoding_format", "float", ("float", "base64")) == "base64",
        fields.whole("dimensions", None, 1, 1 << 20),
    )  # fmt: skip
    fields.ignore(*_IGNORED)
    fields.end()
    return wish


def _common(
    fields: Fields, settings: Settings, logprobs: int | None, grammar: Any, max_tokens: int | None, num_prompts: int = 1
) -> dict[str, Any]:
    """The last fields are read here: what is left is refused."""
    num_choices = fields.whole("n", 1, 1, settings.max_choices)
    if num_prompts * num_choices > settings.max_choices:
        raise Problem(
            f"prompts times n must be at most {settings.max_choices}; received {num_prompts} times {num_choices}.", "n"
        )
    temperature = fields.number("temperature", 1.0, 0.0, 2.0)
    sampling = Sampling(
        temperature=temperature, top_k=fields.whole("top_k", 0, 0, 1 << 30),
        top_p=fields.number("top_p", 1.0, 0.0, 1.0) or 1e-9,  # 0 is the likeliest token alone
        min_p=fields.number("min_p", 0.0, 0.0, 1.0),
        repetition_penalty=fields.number("repetition_penalty", 1.0, 0.01, 10.0),
        presence_penalty=fields.number("presence_penalty", 0.0, -2.0, 2.0),
        frequency_penalty=fields.number("frequency_penalty", 0.0, -2.0, 2.0),
        seed=fields.whole("seed", None, -(1 << 63), (1 << 63) - 1), logit_bias=_biases(fields), stop=_stops(fields),
        logprobs=logprobs, grammar=grammar,
    )  # fmt: skip
    stream = fields.flag("stream")
    options = fields.table("stream_options")
    with_usage = options.flag("include_usage") if options is not None else False
    if options is not None and not stream:
        raise Problem("stream_options needs stream to be true.", "stream_options")
    fields.ignore(*_IGNORED)
    model = _model(fields)
    fields.end()
    return {
        "model": model, "sampling": sampling, "max_tokens": max_tokens, "num_choices": num_choices, "stream": stream,
        "with_usage": with_usage,
    }  # fmt: skip


def _model(fields: Fields) -> str:
    name = fields.text("model")
    if name is None:
        raise fields.problem("model", "the name of a model; GET /v1/models lists them")
    return name


def _stops(fields: Fields) -> tuple[str, ...]:
    value = fields.any("stop")
    texts = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or len(texts) > MOST_STOPS or not all(is_text(each) and each for each in texts):
        raise fields.problem("stop", f"a text that is not empty, or a list of at most {MOST_STOPS} of them")
    return tuple(texts)


def _biases(fields: Fields) -> dict[int, float]:
    value = fields.any("logit_bias")
    if value is None:
        return {}
    found: dict[int, float] = {}
    if not isinstance(value, dict) or len(value) > MOST_BIASES:
        raise fields.problem(
            "logit_bias", f"an object of at most {MOST_BIASES} tokens with a number from -100 to 100 each"
        )
    for token, bias in value.items():
        is_number = isinstance(bias, (int, float)) and not isinstance(bias, bool) and -100 <= bias <= 100
        if not (token.isascii() and token.isdecimal() and len(token) < 12) or not is_number:
            raise fields.problem("logit_bias", "numbers of tokens with a number from -100 to 100 each")
        found[int(token)] = float(bias)
    return found


def _prompts(fields: Fields, name: str, most: int) -> list[Prompt]:
    """One text or list of tokens, or a list of them."""
    value = fields.any(name)
    if is_text(value) or _is_tokens(value):
        return [value]
    if isinstance(value, list) and 0 < len(value) <= most and all(is_text(each) or _is_tokens(each) for each in value):
        return value
    raise fields.problem(name, f"a text, a list of tokens, or a list of at most {most} of these")


def _is_tokens(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(type(each) is int and 0 <= each < 1 << 31 for each in value)
