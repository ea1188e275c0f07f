"""Text and conversations as token files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer as Inner
from tokenizers import models, pre_tokenizers

from proa.llm.tokens.tokenizer import Special, Tokenizer
from proa.llm.training import TokenFile, WholeRows, pack
from proa.llm.training.documents import conversation

CHARACTERS = ["<end>", "<user>", "<bot>", *"abcdefghijklmnopqrstuvwxyz .?!"]
TEMPLATE = (
    "{% for m in messages %}{{ '<user>' if m.role == 'user' else '<bot>' }}{{ m.content }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<bot>{% endif %}"
)


def letters(template: str = TEMPLATE) -> Tokenizer:
    """A tokenizer whose tokens are letters."""
    inner = Inner(models.WordLevel({token: n for n, token in enumerate(CHARACTERS)}, unk_token="?"))
    inner.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    inner.add_special_tokens(CHARACTERS[:3])
    return Tokenizer(inner, Special(eos=(0,)), {"default": template})


def written(path: Path) -> list[str]:
    """The documents of a token file as text, what is given in brackets."""
    found = []
    with TokenFile(path) as file:
        begin = 0
        for end in file.ends.tolist():
            text = ""
            for token, given in zip(*file.read(begin, end), strict=True):
                text += f"({CHARACTERS[token]})" if given else CHARACTERS[token]
            found.append(text.replace(")(", ""))
            begin = end
    return found


def lines(path: Path, *entries: Any) -> str:
    path.write_text("\n".join(json.dumps(entry) for entry in entries) + "\n\n")
    return str(path)


def test_text_becomes_documents_that_end(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello world")
    source = lines(tmp_path / "b.jsonl", {"text": "one"}, {"text": "two", "more": 1}, {"text": "  "})
    assert pack([str(tmp_path / "*.txt"), source], tmp_path / "t", letters()) == 3
    assert written(tmp_path / "t") == ["hello world<end>", "one<end>", "two<end>"]


def test_answers_alone_are_learned(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"},
        {"role": "user", "content": "why?"}, {"role": "assistant", "content": "so"}, {"role": "user", "content": "ah"},
    ]  # fmt: skip
    source = lines(tmp_path / "a.jsonl", {"messages": messages}, {"prompt": "ab", "completion": "cd"})
    assert pack([source], tmp_path / "t", letters(), "chat") == 2
    assert written(tmp_path / "t") == ["(<user>hi<end><bot>)yo<end>(<user>why?<end><bot>)so<end>", "(ab)cd<end>"]
    batch = WholeRows(TokenFile(tmp_path / "t"), 32).collect([0])
    assert batch.num_learned == 9


def test_pairs_of_answers(tmp_path: Path) -> None:
    prompt = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "x"},
        {"role": "user", "content": "q"},
    ]
    source = lines(
        tmp_path / "a.jsonl", {"prompt": "ab", "chosen": "c", "rejected": "d"},
        {"prompt": prompt, "chosen": "good", "rejected": [{"role": "assistant", "content": "bad"}]},
    )  # fmt: skip
    pack([source], tmp_path / "t", letters(), "preference")
    before = "(<user>hi<end><bot>x<end><user>q<end><bot>)"
    assert written(tmp_path / "t") == ["(ab)c<end>", "(ab)d<end>", f"{before}good<end>", f"{before}bad<end>"]


def test_training_and_serving_see_the_same_prompt() -> None:
    messages = [{"role": "user", "content": "hi"}]
    tokenizer = letters()
    ids, given = conversation([*messages, {"role": "assistant", "content": "yo"}], tokenizer)
    assert ids[: sum(given)] == tokenizer.chat(messages, add_generation_prompt=True)


def test_a_template_that_rewrites_what_was_said_is_refused() -> None:
    """As those do that leave out an earlier answer's thoughts."""
    forgetful = TEMPLATE.replace("{{ m.content }}", "{{ m.content if loop.last or m.role == 'user' else 'x' }}")
    messages = [{"role": role, "content": "ab"} for role in ("user", "assistant", "user", "assistant")]
    with pytest.raises(ValueError, match=r"message 1 otherwise when others follow"):
        conversation(messages, letters(forgetful))
    assert conversation(messages[:2], letters(forgetful))[0]


@pytest.mark.parametrize(
    ("task", "text", "words"),
    [
        ("chat", '{"text": "a"}', r"line 1: the keys \{messages\} or \{prompt, completion\} are needed; received text"),
        ("pretrain", '{"text": "a"}\n{"text"', "line 2 is not JSON"),
        ("pretrain", "[1]", "line 1 must be an object"),
        ("pretrain", '{"text": 5}', "line 1: text must be a text; received int"),
        ("chat", '{"messages": [{"role": "user", "content": "a"}]}', "no answer of the assistant"),
        ("chat", '{"messages": "hello"}', "must be a list"),
        ("preference", '{"prompt": "a", "chosen": "b"}', r"\{prompt, chosen, rejected\} are needed"),
        ("other", "{}", "task must be one of"),
    ],
)
def test_lines_that_are_wrong_are_named_and_nothing_is_written(
    tmp_path: Path, task: str, text: str, words: str
) -> None:
    (tmp_path / "a.jsonl").write_text(text)
    with pytest.raises(ValueError, match=words):
        pack([str(tmp_path / "a.jsonl")], tmp_path / "t", letters(), task)
    assert os.listdir(tmp_path) == ["a.jsonl"]


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.txt"):
        pack([str(tmp_path / "nothing.txt")], tmp_path / "t", letters())
