"""Answers that follow JSON schemas: fifty schemas, every answer valid.

    python -m tests.llm.engine.schemas [--model model.gguf]

Without a model, one with random weights answers, drawing at a temperature of 1: it has no idea of JSON, so that all of it
comes from the grammar. What such a model writes never ends by itself, so the schemas bound their texts and lists.
"""

from __future__ import annotations

import argparse
import json
import re
from typing import Any

from proa.llm.engine import Engine, Grammar, Options, Request, Sampling

from .little import ByteTokenizer, little_model

TEXT = {"type": "string", "maxLength": 8}
NUMBER = {"type": "integer", "minimum": 0, "maximum": 99}


def _object(required: int = 99, **properties: Any) -> dict[str, Any]:
    names = list(properties)
    return {"type": "object", "properties": properties, "required": names[:required], "additionalProperties": False}


def _list(items: Any, least: int = 0, most: int = 3) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def schemas() -> list[dict[str, Any]]:
    """Fifty of them."""
    plain: list[dict[str, Any]] = [
        TEXT, NUMBER, {"type": "boolean"}, {"type": "null"}, {"enum": ["red", "green", 3, None]}, {"const": {"a": [1]}},
        {"type": "string", "pattern": "^[a-f0-9]{6}$"}, {"type": "string", "enum": ["é", "☃", "a\"b\\c"]},
        {"type": "integer", "minimum": -5, "maximum": 5}, {"type": "string", "minLength": 2, "maxLength": 2},
    ]  # fmt: skip
    found = [*plain, *(_object(value=each) for each in plain), *(_list(each, 1, 2) for each in plain)]
    found += [
        _object(a=TEXT, b=NUMBER),
        _object(1, a=TEXT, b=NUMBER, c={"type": "boolean"}),
        _object(0, a=TEXT),
        _object(),
    ]
    found += [_list(_object(x=NUMBER, y=NUMBER), n, n) for n in range(4)]
    found += [{"anyOf": [TEXT, NUMBER]}, {"anyOf": [_object(a=NUMBER), _object(b=TEXT)]}, {"type": ["integer", "null"],
              "minimum": 0, "maximum": 9}]  # fmt: skip
    point = _object(x=NUMBER, y=NUMBER)
    found += [{"$ref": "#/$defs/p", "$defs": {"p": point}}, {**_object(a={"$ref": "#/$defs/p"}), "$defs": {"p": point}}]
    deep: dict[str, Any] = NUMBER
    for level in range(4):
        deep = _object(**{f"level{level}": deep})
        found.append(deep)
    found += [_object(name=TEXT, tags=_list(TEXT), where=point), _object(items=_list(_list(NUMBER), 1, 2)),
              _object(kind={"const": "circle"}, radius=NUMBER)]  # fmt: skip
    return found


def is_valid(value: Any, schema: Any, root: Any = None) -> bool:
    """Whether a value follows a schema: the keywords above, by their definition."""
    root = schema if root is None else root
    if "$ref" in schema:
        return is_valid(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
    if "enum" in schema and not any(_same(value, each) for each in schema["enum"]):
        return False
    if "const" in schema and not _same(value, schema["const"]):
        return False
    if "anyOf" in schema and not any(is_valid(value, each, root) for each in schema["anyOf"]):
        return False
    kinds = schema.get("type", [])
    if kinds and not any(_is(value, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)):
        return False
    if isinstance(value, str):
        fits = schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", 1 << 30)
        return fits and ("pattern" not in schema or re.search(schema["pattern"], value) is not None)
    if _is(value, "integer"):
        return schema.get("minimum", value) <= value <= schema.get("maximum", value)
    if isinstance(value, list):
        fits = schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", 1 << 30)
        return fits and all(is_valid(each, schema.get("items", {}), root) for each in value)
    if isinstance(value, dict):
        known = schema.get("properties", {})
        extra = set(value) - set(known) if schema.get("additionalProperties") is False else set()
        inner = all(is_valid(each, known[name], root) for name, each in value.items() if name in known)
        return inner and not extra and set(schema.get("required", [])) <= set(value)
    return True


def _same(value: Any, other: Any) -> bool:
    return type(value) is type(other) and value == other


def _is(value: Any, kind: str) -> bool:
    kinds: dict[str, Any] = {
        "string": str,
        "integer": int,
        "boolean": bool,
        "null": type(None),
        "array": list,
        "object": dict,
    }
    return isinstance(value, kinds[kind]) and not (kind == "integer" and isinstance(value, bool))


def failures(engine: Engine, tokenizer: Any, asked: list[dict[str, Any]], temperature: float) -> list[str]:
    """What went wrong, in words; all schemas are asked at once."""
    streams = []
    for number, schema in enumerate(asked):
        how = Sampling(max_tokens=300, temperature=temperature, seed=number, grammar=Grammar("json_schema", schema))
        streams.append(engine.submit(Request(tokenizer.encode(f"Answer {number} as JSON:\n"), how)))
    wrong = []
    for schema, stream in zip(asked, streams, strict=True):
        text = stream.text()
        try:
            fits = is_valid(json.loads(text), schema)
        except ValueError:
            fits = False
        if not fits:
            wrong.append(f"{json.dumps(schema)}: {text!r}")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model")
    given = parser.parse_args()
    asked = schemas()
    if given.model:
        from proa.llm import load
        from proa.llm.tokens import Tokenizer

        model, tokenizer, context = load(given.model, keep_quantised=True), Tokenizer.from_gguf(given.model), 512
    else:
        model, tokenizer, context = little_model(max_positions=512), ByteTokenizer(), 512
    with Engine(model, tokenizer, Options(rows=8, context=context, chunk=64)) as engine:
        wrong = failures(engine, tokenizer, asked, 1.0)
    print(*wrong, sep="\n")
    print(f"{len(asked)} schemas, {len(asked) - len(wrong)} answers valid")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
