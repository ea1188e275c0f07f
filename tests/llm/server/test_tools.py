"""Calls of functions: found in what models write, sent as OpenAI's client expects them, forced by a grammar."""

from __future__ import annotations

import json
import random
from typing import Any

import openai
import pytest

from proa.llm.engine.request import Grammar
from proa.llm.server.calls import Call, CallReader
from tests.llm.server.conftest import Running

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather", "description": "the weather at a place",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}  # fmt: skip
CLOCK = {"type": "function", "function": {"name": "clock"}}
HERMES = '<tool_call>\n{"name": "weather", "arguments": {"city": "Köln"}}\n</tool_call>'
LLAMA = '{"name": "weather", "parameters": {"city": "Köln"}}'
KOELN = Call("weather", '{"city": "Köln"}')
CLOCK_CALL = '{"name": "clock", "arguments": {}}'

# What a model writes: text and calls, in order.
CASES: dict[str, tuple[str, list[Any]]] = {
    "text": ("It is sunny.", ["It is sunny."]),
    "hermes": (HERMES, [KOELN]),
    "text before": (f"Let me see. {HERMES}", ["Let me see. ", KOELN]),
    "two": (f"{HERMES}\n<tool_call>{CLOCK_CALL}</tool_call>", [KOELN, "\n", Call("clock", "{}")]),
    "text behind": (f"{HERMES} done", [KOELN, " done"]),
    "not closed": (HERMES.removesuffix("</tool_call>"), [KOELN]),
    "llama": (LLAMA, [KOELN]),
    "llama with its mark": (f"<|python_tag|>{LLAMA}", [KOELN]),
    "llama, two": (f"{LLAMA}; {CLOCK_CALL}", [KOELN, Call("clock", "{}")]),
    "a list": (f"[{LLAMA}, {CLOCK_CALL}]", [KOELN, Call("clock", "{}")]),
    "arguments as a text": (json.dumps({"name": "weather", "arguments": '{"city": "Köln"}'}), [KOELN]),
    "spaces first": (f"\n {LLAMA}\n", [KOELN]),
    "an unknown function": ('<tool_call>{"name": "other"}</tool_call>', ['<tool_call>{"name": "other"}</tool_call>']),
    "no JSON": ("<tool_call>{oops</tool_call> then", ["<tool_call>{oops</tool_call> then"]),
    "JSON that is no call": ('{"answer": 42}', ['{"answer": 42}']),
    "JSON with text behind": (f"{LLAMA} is what I would call", [f"{LLAMA} is what I would call"]),
    "arguments that are no object": ('{"name": "clock", "arguments": [1]}', ['{"name": "clock", "arguments": [1]}']),
    "half of a mark": ("a <tool_ca", ["a <tool_ca"]),
    "a deep one": ("[" * 5000, ["[" * 5000]),
    "nothing": ("", []),
}


def _read(reader: CallReader, parts: list[str]) -> list[Any]:
    """All that is found, texts that follow each other put together."""
    found = [each for part in parts for each in reader.add(part)] + reader.finish()
    joined: list[Any] = []
    for each in found:
        if isinstance(each, str) and joined and isinstance(joined[-1], str):
            joined[-1] += each
        else:
            joined.append(each)
    return joined


@pytest.mark.parametrize("name", CASES)
def test_calls_are_found_however_the_text_is_cut(name: str) -> None:
    text, expected = CASES[name]
    generator = random.Random(name)
    for _ in range(1 if len(text) > 1000 else 40):
        cuts = sorted(generator.sample(range(len(text) + 1), min(len(text), generator.randrange(12))))
        parts = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)])]
        assert _read(CallReader(frozenset({"weather", "clock"})), parts) == expected


def test_text_is_not_held_back_longer_than_needed() -> None:
    reader = CallReader(frozenset({"clock"}))
    assert reader.add("Hello, <b>you</b> <") == ["Hello, <b>you</b> "]
    assert reader.add("i>") == ["<i>"]
    assert reader.add("<tool_call>" + CLOCK_CALL) == []
    assert reader.add("</tool_call>") == [Call("clock", "{}")]


@pytest.mark.parametrize("stream", [False, True])
def test_a_conversation_with_a_tool(client: openai.OpenAI, running: Running, stream: bool) -> None:
    messages: list[Any] = [{"role": "user", "content": f"say(Let me see. {HERMES})yas"}]
    options: Any = {"model": "small", "messages": messages, "tools": [WEATHER, CLOCK]}
    if stream:
        chunks = list(client.chat.completions.create(**options, stream=True))
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        (made,) = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or ()]
        assert made.index == 0
        finish = chunks[-1].choices[0].finish_reason
    else:
        choice = client.chat.completions.create(**options).choices[0]
        text, finish = choice.message.content, choice.finish_reason
        (made,) = choice.message.tool_calls
    assert (text, finish) == ("Let me see. ", "tool_calls")
    assert (made.function.name, made.function.arguments) == ("weather", '{"city": "Köln"}')
    assert made.id.startswith("call_")

    function = {"name": made.function.name, "arguments": made.function.arguments}
    messages += [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": made.id, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": made.id, "content": "say(It rains.)yas"},
    ]
    found = client.chat.completions.create(**options).choices[0]
    assert (found.message.content, found.finish_reason, found.message.tool_calls) == ("It rains.", "stop", None)
    prompt = bytes(running.engine.requests[-1].prompt).decode()
    assert '"arguments": {"city": "K\\u00f6ln"}' in prompt  # an object, as templates want it
    assert '"description": "the weather at a place"' in prompt


@pytest.mark.parametrize("stream", [False, True])
def test_several_calls_have_numbers_and_ids_of_their_own(client: openai.OpenAI, stream: bool) -> None:
    text = CASES["two"][0]
    messages: list[Any] = [{"role": "user", "content": f"say({text})yas"}]
    options: Any = {"model": "small", "messages": messages, "tools": [WEATHER, CLOCK]}
    if stream:
        chunks = list(client.chat.completions.create(**options, stream=True))
        calls = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or ()]
        assert [call.index for call in calls] == [0, 1]
    else:
        calls = client.chat.completions.create(**options).choices[0].message.tool_calls
    assert [call.function.name for call in calls] == ["weather", "clock"]
    assert len({call.id for call in calls}) == 2


def test_without_tools_a_call_is_text(client: openai.OpenAI) -> None:
    messages: list[Any] = [{"role": "user", "content": f"say({HERMES})yas"}]
    assert client.chat.completions.create(model="small", messages=messages).choices[0].message.content == HERMES
    tools: list[Any] = [WEATHER]
    found = client.chat.completions.create(model="small", messages=messages, tools=tools, tool_choice="none").choices[0]
    assert (found.message.content, found.message.tool_calls) == (HERMES, None)


def test_a_forced_call_is_a_grammar(client: openai.OpenAI, running: Running) -> None:
    messages: list[Any] = [{"role": "user", "content": 'say({"name": "clock", "arguments": {}})yas'}]
    options: Any = {"model": "small", "messages": messages, "tools": [WEATHER, CLOCK]}
    for choice, names in (
        ("required", ["weather", "clock"]),
        ({"type": "function", "function": {"name": "clock"}}, ["clock"]),
    ):
        found = client.chat.completions.create(**options, tool_choice=choice).choices[0]
        assert found.message.tool_calls is not None
        assert found.message.tool_calls[0].function.name == "clock"
        assert found.message.content is None
        grammar = running.engine.requests[-1].sampling.grammar
        assert grammar is not None
        calls = grammar.text.get("anyOf", [grammar.text])
        assert [call["properties"]["name"]["const"] for call in calls] == names
    assert calls[0]["required"] == ["name", "arguments"]


def test_response_formats_are_grammars(client: openai.OpenAI, running: Running) -> None:
    messages: list[Any] = [{"role": "user", "content": "say({})yas"}]
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    for wanted, expected in (
        ({"type": "text"}, None),
        ({"type": "json_object"}, Grammar("json")),
        (
            {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": schema}},
            Grammar("json_schema", schema),
        ),
    ):
        client.chat.completions.create(model="small", messages=messages, response_format=wanted)  # type: ignore[call-overload]
        assert running.engine.requests[-1].sampling.grammar == expected


@pytest.mark.parametrize(("wrong", "param"), [
    ({"tools": [{"type": "function"}]}, "tools[0].function"),
    ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "tools[0].function.name"),
    ({"tools": [CLOCK, CLOCK]}, "tools"),
    ({"tools": [{"type": "retrieval"}]}, "tools[0].type"),
    ({"tools": [CLOCK], "tool_choice": {"type": "function", "function": {"name": "other"}}}, "tool_choice"),
    ({"tool_choice": "required"}, "tool_choice"),
    ({"tools": [CLOCK], "tool_choice": "required", "response_format": {"type": "json_object"}}, "response_format"),
    ({"response_format": {"type": "xml"}}, "response_format.type"),
    ({"response_format": {"type": "json_schema"}}, "response_format.json_schema"),
    ({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": 3}}},
     "response_format.json_schema.schema"),
    ({"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "x", "arguments": "{"}}]}]},
     "messages[0].tool_calls[0].function.arguments"),
])  # fmt: skip
def test_wrong_tools_and_formats(client: openai.OpenAI, wrong: Any, param: str) -> None:
    body = {"messages": [{"role": "user", "content": "x"}], **wrong}
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="small", **body)
    assert caught.value.param == param
