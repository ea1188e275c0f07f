"""Answers that follow a grammar, whatever the model would rather say, beside others that follow none."""

import json
import re
from typing import Any

import pytest

from proa.llm.engine import Engine, Grammar, Options, Request, Sampling

from .little import ByteTokenizer, greedy, little_model
from .schemas import failures, is_valid, schemas

MODEL: dict[str, Any] = {"max_positions": 512}


@pytest.fixture(scope="module")
def engine() -> Any:
    with Engine(little_model(**MODEL), ByteTokenizer(), Options(rows=4, context=512, page_size=16, chunk=64)) as made:
        yield made
    made.pool.check([])


def test_answers_follow_their_schemas(engine: Engine) -> None:
    assert failures(engine, ByteTokenizer(), schemas()[::4], 1.0) == []


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ('{"a": [1, 2]}', True),
        ('{"a":[1,2]}', True),
        ('{\n    "a": [\n        1,\n        2\n    ]\n}', True),
        ('{\r\n\t"a":\t[1, 2]\r\n}', True),
        ("{" + 9 * "\n" + '"a": [1, 2]}', False),
        ('{"a":' + 100 * " " + "[1, 2]}", False),
    ],
)
def test_white_space_in_json_is_bounded(engine: Engine, text: str, accepted: bool) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}, "required": ["a"]}
    matcher = engine._guides._compiled("json_schema", json.dumps(schema)).deep_copy()
    tokens = list(text.encode())
    assert (matcher.validate_tokens(tokens) == len(tokens)) == accepted


def test_an_expression_is_matched_and_others_go_their_own_way(engine: Engine) -> None:
    free = engine.submit(Request([1, 2, 3], Sampling(max_tokens=12, ignore_end=True)))
    how = Sampling(max_tokens=40, temperature=1.0, seed=1, grammar=Grammar("regex", "[0-9]{3}-(ab|cd)+x"))
    bound = engine.submit(Request([1, 2, 3], how))
    assert re.fullmatch("[0-9]{3}-(ab|cd)+x", bound.text())
    assert free.tokens() == greedy(little_model(**MODEL), [1, 2, 3], 12)


def test_what_a_grammar_forces_needs_no_end_of_its_own(engine: Engine) -> None:
    pieces = list(engine.submit(Request([5], Sampling(max_tokens=40, grammar=Grammar("lark", 'start: "yes"')))))
    assert "".join(piece.text for piece in pieces) == "yes"
    assert pieces[-1].finish == "stop"


@pytest.mark.parametrize(
    ("grammar", "what"),
    [
        (("json_schema", "{no json"), "no JSON"),
        (("json_schema", {"type": "nothing"}), "not understood"),
        (("json_schema", [1]), "a schema is an object"),
        (("regex", "(unclosed"), "not understood"),
        (("regex", 5), "a regex is text"),
        (("lark", "start: nowhere"), "not understood"),
    ],
)
def test_what_is_no_grammar_is_refused(engine: Engine, grammar: tuple[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        engine.submit(Request([1], Sampling(grammar=Grammar(*grammar))))


def test_kinds_and_tokenizers_that_are_not_there_are_refused() -> None:
    with pytest.raises(ValueError, match="kind is"):
        Grammar("xml", "")
    with (
        Engine(little_model(), None, Options(rows=1, context=96)) as engine,
        pytest.raises(ValueError, match="tokenizer"),
    ):
        engine.submit(Request([1], Sampling(grammar=Grammar("json"))))


def test_a_grammar_that_fails_ends_its_request_alone(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    from proa.llm.engine.grammar import Guide

    expected = greedy(little_model(**MODEL), [7, 8], 10)
    advance, calls = Guide.advance, []

    def failing(self: Guide, token: int) -> bool:
        calls.append(token)
        if len(calls) == 3:
            raise RuntimeError("lost the way")
        return advance(self, token)

    monkeypatch.setattr(Guide, "advance", failing)
    other = engine.submit(Request([7, 8], Sampling(max_tokens=10, ignore_end=True)))
    bound = engine.submit(Request([1], Sampling(max_tokens=40, grammar=Grammar("regex", "[a-z]{20}"))))
    with pytest.raises(RuntimeError, match="lost the way"):
        bound.text()
    assert other.tokens() == expected


@pytest.mark.parametrize(
    ("value", "valid"), [("ab", True), (5, True), (5.5, False), (-1, False), (True, False), ("a" * 9, False)]
)
def test_the_judge_of_answers_is_no_easy_one(value: Any, valid: bool) -> None:
    assert is_valid(value, {"anyOf": schemas()[:2]}) is valid
