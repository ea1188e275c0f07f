"""OpenAI's own client, synchronous, asynchronous and streaming, and what it finds in the answers."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import openai
import pytest

from tests.llm.server.conftest import Running
from tests.llm.server.standin import embedded, expected_text, rendered


def _user(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def test_models_are_listed(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["small", "small-tuned"]
    assert client.models.retrieve("small").owned_by == "proa"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("other")


def test_a_chat_is_answered(client: openai.OpenAI, running: Running) -> None:
    messages: list[Any] = [
        {"role": "developer", "content": "be brief"}, {"role": "user", "content": [{"type": "text", "text": "hello"}]},
        {"role": "assistant", "content": "yes?"}, {"role": "user", "content": "tell me"},
    ]  # fmt: skip
    found = client.chat.completions.create(model="small", messages=messages, temperature=0)
    plain = [{"role": role, "content": text} for role, text in
             (("system", "be brief"), ("user", "hello"), ("assistant", "yes?"), ("user", "tell me"))]  # fmt: skip
    prompt = rendered(plain)
    assert found.choices[0].message.content == expected_text(prompt)
    assert found.choices[0].finish_reason == "stop"
    assert found.model == "small"
    assert found.usage is not None
    assert (found.usage.prompt_tokens, found.usage.completion_tokens) == (len(prompt), 65)
    assert found.usage.total_tokens == len(prompt) + 65
    assert found._request_id is not None
    assert running.engine.requests[-1].adapter is None


def test_an_adapter_is_a_model_of_its_own_name(client: openai.OpenAI, running: Running) -> None:
    found = client.chat.completions.create(model="small-tuned", messages=_user("hello"))
    assert found.model == "small-tuned"
    assert running.engine.requests[-1].adapter == "small-tuned"


def test_a_stream_says_the_same_piece_by_piece(client: openai.OpenAI) -> None:
    text = "say(Grüße, 世界 🌍!)yas"
    options: Any = {"model": "small", "messages": _user(text), "stream": True}
    chunks = list(client.chat.completions.create(**options, stream_options={"include_usage": True}))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1]) == "Grüße, 世界 🌍!"
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [chunk.choices[0].finish_reason for chunk in chunks[:-1]] == [None] * (len(chunks) - 2) + ["stop"]
    assert len(chunks) > 10
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens == len("Grüße, 世界 🌍!".encode()) + 1
    assert len({chunk.id for chunk in chunks}) == 1
    assert all(chunk.usage is None for chunk in client.chat.completions.create(**options))


def test_many_asynchronous_callers_get_their_own_answers(running: Running) -> None:
    async def ask(client: openai.AsyncOpenAI, number: int) -> None:
        options: Any = {"model": "small", "messages": _user(f"number {number}"), "temperature": 0}
        expected = expected_text(f"[user]number {number}\n")
        if number % 2:
            found = await client.chat.completions.create(**options)
            assert found.choices[0].message.content == expected
        else:
            parts = [
                chunk.choices[0].delta.content
                async for chunk in await client.chat.completions.create(**options, stream=True)
            ]
            assert "".join(part or "" for part in parts) == expected

    async def all_at_once() -> None:
        async with openai.AsyncOpenAI(**running.options()) as client:
            await asyncio.gather(*(ask(client, number) for number in range(32)))

    asyncio.run(all_at_once())


def test_sampling_reaches_the_engine(client: openai.OpenAI, running: Running) -> None:
    client.chat.completions.create(
        model="small", messages=_user("hello"), temperature=0.5, top_p=0.25, presence_penalty=0.5, frequency_penalty=-0.5,
        seed=7, logit_bias={"65": -100}, stop=["\n\n", "END"], max_completion_tokens=5,
        extra_body={"top_k": 3, "min_p": 0.125, "repetition_penalty": 1.5},
    )  # fmt: skip
    found = running.engine.requests[-1].sampling
    assert (found.temperature, found.top_p, found.top_k, found.min_p) == (0.5, 0.25, 3, 0.125)
    assert (found.presence_penalty, found.frequency_penalty, found.repetition_penalty) == (0.5, -0.5, 1.5)
    assert (found.seed, dict(found.logit_bias), found.stop, found.max_tokens) == (7, {65: -100.0}, ("\n\n", "END"), 5)
    assert (found.logprobs, found.grammar) == (None, None)
    client.chat.completions.create(model="small", messages=_user("hello"))
    prompt = len("[user]hello\n")
    assert running.engine.requests[-1].sampling.max_tokens == 2048 - prompt
    assert running.engine.requests[-1].sampling.temperature == 1.0


def test_stop_texts_end_an_answer_and_are_not_shown(client: openai.OpenAI) -> None:
    found = client.chat.completions.create(model="small", messages=_user("say(one, two, three)yas"), stop=", th")
    assert found.choices[0].message.content == "one, two"
    assert found.choices[0].finish_reason == "stop"


def test_length_ends_an_answer(client: openai.OpenAI) -> None:
    found = client.chat.completions.create(model="small", messages=_user("say(one, two)yas"), max_tokens=4)
    assert (found.choices[0].message.content, found.choices[0].finish_reason) == ("one,", "length")


@pytest.mark.parametrize("stream", [False, True])
def test_several_choices_have_seeds_of_their_own(client: openai.OpenAI, stream: bool) -> None:
    expected = [expected_text("[user]hello\n", 5 + index) for index in range(3)]
    options: Any = {"model": "small", "messages": _user("hello"), "n": 3, "seed": 5}
    texts = ["", "", ""]
    if stream:
        for chunk in client.chat.completions.create(**options, stream=True):
            texts[chunk.choices[0].index] += chunk.choices[0].delta.content or ""
    else:
        found = client.chat.completions.create(**options)
        assert [choice.index for choice in found.choices] == [0, 1, 2]
        texts = [choice.message.content or "" for choice in found.choices]
        assert found.usage is not None
        assert found.usage.prompt_tokens == len("[user]hello\n")
        assert found.usage.completion_tokens == 3 * 65
    assert texts == expected


@pytest.mark.parametrize("stream", [False, True])
def test_logprobs_of_a_chat(client: openai.OpenAI, stream: bool) -> None:
    options: Any = {"model": "small", "messages": _user("say(hi)yas"), "logprobs": True, "top_logprobs": 2}
    if stream:
        chunks = list(client.chat.completions.create(**options, stream=True))
        tokens = [token for chunk in chunks if chunk.choices[0].logprobs for token in chunk.choices[0].logprobs.content]
    else:
        tokens = client.chat.completions.create(**options).choices[0].logprobs.content
    assert [token.token for token in tokens] == ["h", "i"]
    assert tokens[0].bytes == [104]
    assert tokens[0].logprob == -0.5
    assert [(top.token, top.logprob) for top in tokens[1].top_logprobs] == [("i", -0.5), ("A", -9999.0)]


def test_logprobs_of_parts_of_characters(client: openai.OpenAI) -> None:
    """A token that is no whole character has bytes, and a name that no other token has."""
    options: Any = {"model": "small", "messages": _user("say(é☃)yas"), "logprobs": True, "top_logprobs": 2}
    content = client.chat.completions.create(**options).choices[0].logprobs.content
    assert bytes(byte for token in content for byte in token.bytes).decode() == "é☃"
    assert content[0].top_logprobs[0].bytes == ["é".encode()[0]]
    found = client.completions.create(model="small", prompt="say(é)yas", max_tokens=9, logprobs=2).choices[0]
    assert found.text == "é"
    assert found.logprobs.tokens == ["bytes:\\xc3", "bytes:\\xa9"]
    assert [sorted(top) for top in found.logprobs.top_logprobs] == [["A", "bytes:\\xc3"], ["A", "bytes:\\xa9"]]


def test_completions_of_texts_and_tokens(client: openai.OpenAI) -> None:
    found = client.completions.create(model="small", prompt="once", temperature=0)
    assert found.choices[0].text == expected_text("once")[:16]
    assert found.choices[0].finish_reason == "length"
    found = client.completions.create(model="small", prompt=["once", "twice"], max_tokens=100, temperature=0)
    assert [choice.text for choice in found.choices] == [expected_text("once"), expected_text("twice")]
    found = client.completions.create(model="small", prompt=[[*b"once"]], echo=True, max_tokens=4, temperature=0)
    assert found.choices[0].text == "once" + expected_text("once")[:4]
    chunks = client.completions.create(
        model="small", prompt=[*b"once"], echo=True, stream=True, max_tokens=4, temperature=0
    )
    assert "".join(chunk.choices[0].text for chunk in chunks) == "once" + expected_text("once")[:4]


def test_logprobs_of_a_completion(client: openai.OpenAI) -> None:
    found = client.completions.create(model="small", prompt="say(abc)yas", logprobs=1, max_tokens=3).choices[0].logprobs
    assert found is not None
    assert (found.tokens, found.text_offset) == (["a", "b", "c"], [0, 1, 2])
    assert found.top_logprobs == [{"a": -0.5}, {"b": -0.5}, {"c": -0.5}]


@pytest.mark.parametrize("encoding", ["float", "base64"])
def test_embeddings(client: openai.OpenAI, encoding: Any) -> None:
    found = client.embeddings.create(model="small", input=["abc", "b"], encoding_format=encoding)
    vectors = [entry.embedding for entry in found.data]
    if encoding == "base64":
        import base64

        vectors = [np.frombuffer(base64.b64decode(vector), "<f4").tolist() for vector in vectors]  # type: ignore[arg-type]
    np.testing.assert_array_equal(vectors, embedded([[*b"abc"], [*b"b"]]))
    assert found.usage.prompt_tokens == 4
    # The client asks for base64 by itself and gives numbers.
    np.testing.assert_array_equal(client.embeddings.create(model="small", input="b").data[0].embedding, vectors[1])
