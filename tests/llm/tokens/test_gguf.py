"""Tokenizers from GGUF metadata, against answers that llama.cpp gave."""

from __future__ import annotations

import json
import pathlib
import random

import pytest

from proa.llm.files import GGUF
from proa.llm.tokens import Tokenizer
from tests.llm.tokens.made import CASES, DATA, _write, checksum, known_difference, make
from tests.llm.tokens.strings import odd_strings

ANSWERS = json.loads((DATA / "llama_cpp.json").read_text())


@pytest.mark.parametrize("names", list(ANSWERS), ids=lambda names: names.split("|")[0])
def test_tokens_are_llama_cpps(tmp_path, names):
    for name in names.split("|"):
        tokenizer = Tokenizer.from_gguf(make(tmp_path, name))
        found = [checksum(tokenizer.encode(text, special=False)) for text in odd_strings()]
        expected = ANSWERS[names].split()
        wrong = [text for text, ours, theirs in zip(odd_strings(), found, expected, strict=True) if ours != theirs]
        assert [text for text in wrong if not known_difference(name, text)] == []


def test_every_way_has_its_answers():
    assert {name for names in ANSWERS for name in names.split("|")} == set(CASES)


@pytest.mark.parametrize("name", ["gpt2 gpt-2", "gpt2 llama-bpe", "llama"])
def test_text_there_and_back(tmp_path, name):
    tokenizer = Tokenizer.from_gguf(make(tmp_path, name))
    for text in odd_strings():
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_special_tokens(tmp_path):
    tokenizer = Tokenizer.from_gguf(make(tmp_path, "llama"))
    assert (tokenizer.bos, tokenizer.eos) == (1, (2,))
    assert tokenizer.encode("a")[0] == 1  # sentencepiece models want it
    assert tokenizer.encode("a", special=False)[0] != 1
    assert tokenizer.encode("</s>", special=False) == [2]
    assert 2 not in tokenizer.encode("</s>", special=False, literal=True)
    assert tokenizer.decode([1, *tokenizer.encode("a b", special=False), 2]) == "a b"
    assert tokenizer.decode([2], skip_special=False) == "</s>"
    assert tokenizer.token(2) == "</s>"
    assert tokenizer.id("</s>") == 2
    assert tokenizer.special.named == {"bos_token": "<s>", "eos_token": "</s>"}


def test_what_files_say_about_the_ends(tmp_path):
    pieces = ["<|end|>", "a", "b", "<|im_end|>"]
    flags = {"add_bos_token": True, "add_eos_token": True}
    path = _write(tmp_path / "m.gguf", "gpt2", pieces, [3, 1, 1, 3], pre="gpt-2", merges=["x y"], bos=0, eos=3, **flags)
    tokenizer = Tokenizer.from_gguf(path)
    assert tokenizer.encode("ab") == [0, 1, 2, 3]
    assert tokenizer.eos == (3, 0)  # <|end|> ends an answer though the file names another one
    path = _write(
        tmp_path / "n.gguf",
        "gpt2",
        ["<|end|>", "<|return|>", "<|call|>"],
        [3, 3, 3],
        pre="gpt-2",
        merges=["x y"],
        bos=0,
        eos=1,
    )
    assert Tokenizer.from_gguf(path).eos == (1, 2)  # here it ends a part of one


def test_empty_and_repeated_pieces_keep_their_numbers(tmp_path):
    pieces = ["<|end|>", "", "a", "a", "b"]
    path = _write(
        tmp_path / "m.gguf", "gpt2", pieces, [3, 1, 1, 1, 1], pre="gpt-2", merges=["x y", "a b", "broken"], bos=0, eos=0
    )
    tokenizer = Tokenizer.from_gguf(path)
    assert tokenizer.vocab_size == 5
    assert tokenizer.encode("ab") == [3, 4]
    assert tokenizer.id("b") == 4


def test_a_chat_template_in_the_file(tmp_path):
    from gguf import GGUFWriter

    writer = GGUFWriter(tmp_path / "m.gguf", "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(["<|end|>", "a"])
    writer.add_token_merges(["x y"])
    writer.add_eos_token_id(0)
    writer.add_chat_template(
        [
            {"name": "default", "template": "{{ messages[0].content }}{{ eos_token }}"},
            {"name": "tool_use", "template": "tools"},
        ]
    )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    tokenizer = Tokenizer.from_gguf(GGUF(tmp_path / "m.gguf"))
    assert tokenizer.chat_text([{"role": "user", "content": "a"}]) == "a<|end|>"
    assert tokenizer.chat_text([{"role": "user", "content": "a"}], tools=[{}]) == "tools"


@pytest.mark.parametrize(
    ("model", "values", "reason"),
    [
        ("rwkv", {}, "'rwkv' are not known"),
        ("gpt2", {"pre": "no-such-way"}, "'no-such-way'. is not known.*gpt-2"),
        ("gpt2", {}, "merges must be a list"),
        ("gpt2", {"kinds": [3]}, "not whole"),
    ],
)
def test_what_cannot_be_read(tmp_path, model, values, reason):
    values = dict(values)
    path = _write(tmp_path / "m.gguf", model, ["<|end|>", "a"], values.pop("kinds", [3, 1]), bos=0, eos=0, **values)
    with pytest.raises(ValueError, match=reason):
        Tokenizer.from_gguf(path)


def test_a_file_without_a_tokenizer(tmp_path):
    from tests.llm.files.samples import write

    with pytest.raises(ValueError, match="the file has no tokenizer"):
        Tokenizer.from_gguf(write(tmp_path / "m.gguf"))


def test_numbers_out_of_range_are_none(tmp_path):
    path = _write(tmp_path / "m.gguf", "gpt2", ["<|end|>", "a"], [3, 1], pre="gpt-2", merges=["x y"], bos=77, eos=99)
    tokenizer = Tokenizer.from_gguf(path)
    assert tokenizer.bos is None
    assert tokenizer.eos == (0,)


def test_damaged_metadata_never_ends_the_process(tmp_path):
    """Whatever stands in the tables, a tokenizer that works comes out of them, or an error."""
    chance = random.Random(11)
    reasons = []
    for name in ("gpt2 gpt-2", "llama", "bert"):
        whole = pathlib.Path(make(tmp_path, name)).read_bytes()
        for _ in range(40):
            data = bytearray(whole)
            for _ in range(chance.choice([1, 4, 30])):
                data[chance.randrange(len(data))] = chance.randrange(256)
            (tmp_path / "damaged.gguf").write_bytes(data)
            try:
                tokenizer = Tokenizer.from_gguf(tmp_path / "damaged.gguf")
                tokenizer.decode(tokenizer.encode("Hello world 世界"))
            except ValueError as error:
                reasons.append(str(error))
    assert len(reasons) > 10
    assert all(reason.startswith(("(GGUF)", "(from_gguf)")) for reason in reasons)
