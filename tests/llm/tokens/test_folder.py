"""Tokenizers from folders, against answers of transformers and sentencepiece; and folders that are wrong."""

from __future__ import annotations

import json
import random
import threading

import pytest
import tokenizers

from proa.llm.tokens import Tokenizer
from proa.llm.tokens.sentencepiece import read_model
from tests.llm.tokens.beside_transformers import chats, render, write_folders
from tests.llm.tokens.made import _write, checksum, make
from tests.llm.tokens.strings import DATA, odd_strings

PEERS = json.loads((DATA / "peers.json").read_text())
USER = [{"role": "user", "content": "Hello"}]


def different(tokenizer, expected):
    pairs = zip(odd_strings(), expected.split(), strict=True)
    return [text for text, answer in pairs if checksum(tokenizer.encode(text)) != answer]


@pytest.mark.parametrize("name", ["gpt2", "qwen2", "bert", "bert cased"])
def test_older_folders_are_cut_as_transformers_does(tmp_path, name):
    path, _ = write_folders(tmp_path)[name]
    assert different(Tokenizer.from_folder(path), PEERS[name]) == []


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("file", ["tokenizer.model", "spiece.model"])
def test_sentencepiece_models(tmp_path, kind, file):
    (tmp_path / file).write_bytes((DATA / f"{kind}.model").read_bytes())
    (tmp_path / "tokenizer_config.json").write_text('{"add_bos_token": false}')
    tokenizer = Tokenizer.from_folder(tmp_path)
    assert different(tokenizer, PEERS[f"{kind} identity"]) == []
    assert (tokenizer.bos, tokenizer.eos, tokenizer.special.pad, tokenizer.special.unknown) == (1, (2,), 3, None)
    assert tokenizer.encode("<mark>", special=False)[-1] == tokenizer.id("<mark>")


def test_sentencepiece_models_want_their_usual_ends(tmp_path):
    (tmp_path / "tokenizer.model").write_bytes((DATA / "bpe.model").read_bytes())
    assert Tokenizer.from_folder(tmp_path).encode("a")[0] == 1
    (tmp_path / "tokenizer.model").write_bytes((DATA / "unigram.model").read_bytes())
    (tmp_path / "config.json").write_text('{"model_type": "t5"}')
    assert Tokenizer.from_folder(tmp_path).encode("a")[-1] == 2


def test_unigrams_in_a_gguf_file(tmp_path):
    model = read_model(str(DATA / "unigram.model"))
    table = model.vocabulary
    path = _write(tmp_path / "m.gguf", "t5", table.pieces, table.kinds.tolist(), scores=table.scores.tolist(), bos=1, eos=2,
                  add_eos_token=False, remove_extra_whitespaces=True)  # fmt: skip
    assert different(Tokenizer.from_gguf(path), PEERS["unigram identity"]) == []


@pytest.mark.parametrize("name", list(PEERS["chats"]))
def test_chats_are_rendered_as_transformers_does(name):
    """Where it refuses a conversation, so do we."""
    found = render(*chats()[name])
    assert (None if found is None else checksum(found)) == PEERS["chats"][name]


# ---- what stands beside a tokenizer ------------------------------------------------------------------


def words(*more):
    """A tokenizer of a few words."""
    numbers = {word: number for number, word in enumerate(["<unk>", "<s>", "</s>", "hello", "world", *more])}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, "<unk>"))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return inner


def folder_with(path, inner=None, **files):
    if inner is not None:
        inner.save(str(path / "tokenizer.json"))
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (path / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return Tokenizer.from_folder(path)


def test_ends_from_several_files(tmp_path):
    tokenizer = folder_with(
        tmp_path, words("<end>", "<turn>"), tokenizer_config__json={"eos_token": {"content": "</s>"}, "bos_token": "<s>"},
        generation_config__json={"eos_token_id": [6, 5]}, config__json={"eos_token_id": 5, "bos_token_id": 1},
    )  # fmt: skip
    assert tokenizer.eos == (6, 5, 2)
    assert tokenizer.bos == 1
    assert tokenizer.special.named == {"eos_token": "</s>", "bos_token": "<s>"}
    assert tokenizer.encode("hello") == [3]  # it has tokens for both ends, and does not add them


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({}, [3]),
        ({"add_bos_token": True}, [1, 3]),
        ({"add_bos_token": True, "add_eos_token": True}, [1, 3, 2]),
        ({"add_eos_token": True}, [3, 2]),
        ({"add_bos_token": False}, [3]),
    ],
)
def test_ends_that_the_configuration_wants(tmp_path, flags, expected):
    config = {"bos_token": "<s>", "eos_token": "</s>", **flags}
    assert folder_with(tmp_path, words(), tokenizer_config__json=config).encode("hello") == expected


def test_the_configuration_outweighs_the_tokenizer(tmp_path):
    inner = words()
    inner.post_processor = tokenizers.processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    assert folder_with(tmp_path, inner).encode("hello") == [1, 3]
    assert folder_with(tmp_path, inner, tokenizer_config__json={"add_bos_token": False}).encode("hello") == [3]


def test_filling_and_cutting_of_the_file_is_not_taken_over(tmp_path):
    inner = words()
    inner.enable_padding(length=8)
    inner.enable_truncation(2)
    assert folder_with(tmp_path, inner).encode("hello world hello") == [3, 4, 3]


def test_added_tokens(tmp_path):
    config = {
        "added_tokens_decoder": {"5": {"content": "<a>", "special": True}, "6": {"content": "<b>", "special": False}},
        "pad_token": "<pad>",
    }
    tokenizer = folder_with(tmp_path, words(), tokenizer_config__json=config, added_tokens__json={"<a>": 5})
    assert tokenizer.encode("hello<a><b><pad>") == [3, 5, 6, 7]
    assert tokenizer.decode([3, 5, 6, 7]) == "hello <b>"
    assert tokenizer.special.pad == 7
    assert tokenizer.vocab_size == 8
    config["added_tokens_decoder"] = {"9": {"content": "<a>"}}
    with pytest.raises(ValueError, match="number 5 in one file and 9 in another"):
        folder_with(tmp_path, words(), tokenizer_config__json=config)


@pytest.mark.parametrize(
    "files",
    [
        {"tokenizer_config__json": {"chat_template": "A{{ messages[0].content }}"}},
        {"chat_template__jinja": "A{{ messages[0].content }}"},
        {"chat_template__json": {"chat_template": "A{{ messages[0].content }}"}},
        {"tokenizer_config__json": {"chat_template": "old"}, "chat_template__jinja": "A{{ messages[0].content }}"},
        {"tokenizer_config__json": {"chat_template": [{"name": "default", "template": "A{{ messages[0].content }}"},
                                                      {"name": "tool_use", "template": "B"}]}},
    ],
)  # fmt: skip
def test_chat_templates_of_every_kind_of_folder(tmp_path, files):
    tokenizer = folder_with(tmp_path, words("AHello"), **files)
    assert tokenizer.chat_text(USER) == "AHello"
    assert tokenizer.chat(USER) == [5]
    assert tokenizer.chat_text(USER, tools=[{}]) == ("B" if "tool_use" in str(files) else "AHello")


def test_a_model_without_a_template(tmp_path):
    tokenizer = folder_with(tmp_path, words())
    with pytest.raises(ValueError, match=r"no chat template.*templates\['default'\]"):
        tokenizer.chat(USER)
    tokenizer.templates["default"] = "{{ messages[0].content }}"
    assert tokenizer.chat_text(USER) == "Hello"


@pytest.mark.parametrize("name", ["gpt2 smollm", "gpt2 llama-bpe", "llama", "bert"])
def test_a_tokenizer_is_written_and_read_again(tmp_path, name):
    tokenizer = Tokenizer.from_gguf(make(tmp_path, name))
    tokenizer.templates |= {"default": "{{ messages[0].content }}{{ eos_token }}", "tool_use": "B"}
    (tmp_path / "new").mkdir()
    tokenizer.save(tmp_path / "new")
    again = Tokenizer.from_folder(tmp_path / "new")
    assert [again.encode(text) for text in odd_strings()] == [tokenizer.encode(text) for text in odd_strings()]
    assert (again.eos, again.bos, again.templates) == (tokenizer.eos, tokenizer.bos, tokenizer.templates)
    assert again.chat_text(USER) == tokenizer.chat_text(USER)
    (tmp_path / "new" / "generation_config.json").write_text('{"eos_token_id": 4}')
    tokenizer.save(tmp_path / "new")
    assert Tokenizer.from_folder(tmp_path / "new").eos[0] == 4  # the model's own word stays


def test_templates_cannot_be_written_anywhere_else(tmp_path):
    tokenizer = folder_with(tmp_path, words())
    tokenizer.templates["../../evil"] = "x"
    with pytest.raises(ValueError, match="name of a file"):
        tokenizer.save(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_texts_that_are_no_texts(tmp_path):
    tokenizer = folder_with(tmp_path, words("?"))
    with pytest.raises(TypeError, match="text is needed; received bytes"):
        tokenizer.encode(b"hello")
    assert tokenizer.encode("\ud800") == [5]  # half a character
    assert tokenizer.encode("") == []
    assert tokenizer.encode_batch(["hello", "world hello"]) == [[3], [4, 3]]
    assert tokenizer.encode_batch([]) == []


def test_many_threads_share_a_tokenizer(tmp_path):
    (tmp_path / "tokenizer.model").write_bytes((DATA / "bpe.model").read_bytes())
    tokenizer = Tokenizer.from_folder(tmp_path)
    expected = [(tokenizer.encode(text), tokenizer.encode(text, literal=True)) for text in odd_strings()]
    wrong = []

    def work(seed):
        order = list(range(len(expected)))
        random.Random(seed).shuffle(order)
        for n in order:
            text = odd_strings()[n]
            if (tokenizer.encode(text), tokenizer.encode(text, literal=True)) != expected[n]:
                wrong.append(text)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# ---- damage ------------------------------------------------------------------------------------------


def test_folders_without_a_tokenizer(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such folder"):
        Tokenizer.from_folder(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match=r"expected tokenizer\.json or one of vocab\.json"):
        Tokenizer.from_folder(tmp_path)
    (tmp_path / "vocab.json").write_text("{}")
    with pytest.raises(FileNotFoundError, match="merges"):
        Tokenizer.from_folder(tmp_path)


@pytest.mark.parametrize(
    "files",
    [
        {"tokenizer__json": ""},
        {"tokenizer__json": "{}"},
        {"tokenizer__json": '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}}'},
        {"tokenizer__json": "[" * 100_000},
        {"tokenizer_config__json": "["},
        {"tokenizer_config__json": "[]"},
        {"tokenizer_config__json": "[" * 100_000},
        {"tokenizer_config__json": {"added_tokens_decoder": {"x": {"content": "a"}}}},
        {"tokenizer_config__json": {"added_tokens_decoder": {"5": {}}}},
        {"tokenizer_config__json": {"added_tokens_decoder": 7}},
        {"added_tokens__json": {"a": "b"}},
        {"generation_config__json": "nonsense"},
        {"vocab__json": {"a": 0, "b": 7}, "merges__txt": ""},
        {"vocab__json": {"a": 0, "b": 0}, "merges__txt": ""},
        {"vocab__json": {"a": -1}, "merges__txt": ""},
        {"vocab__json": {}, "merges__txt": ""},
        {"vocab__txt": ""},
    ],
)
def test_files_that_are_wrong(tmp_path, files):
    inner = words() if not any("tokenizer__json" in name or "vocab" in name for name in files) else None
    if files == {"vocab__txt": ""}:
        assert folder_with(tmp_path, inner, **files).vocab_size == 0
        return
    with pytest.raises(ValueError, match=r"^\(from_folder\)"):
        folder_with(tmp_path, inner, **files)


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_damaged_sentencepiece_models(tmp_path, kind):
    whole = (DATA / f"{kind}.model").read_bytes()
    chance = random.Random(3)
    (tmp_path / "tokenizer_config.json").write_text("{}")
    reasons = []
    for number in range(60):
        data = bytearray(whole[: chance.randrange(len(whole))] if number % 3 == 0 else whole)
        for _ in range(chance.choice([0, 1, 5])):
            if data:
                data[chance.randrange(len(data))] = chance.randrange(256)
        (tmp_path / "tokenizer.model").write_bytes(data)
        try:
            tokenizer = Tokenizer.from_folder(tmp_path)
        except ValueError as error:
            reasons.append(str(error))
        else:
            tokenizer.decode(tokenizer.encode("Hello world"))
    assert reasons
    assert all(reason.startswith("(from_folder)") for reason in reasons)


def test_a_damaged_tokenizer_never_ends_the_process(tmp_path):
    words("a", "b").save(str(tmp_path / "tokenizer.json"))
    whole = (tmp_path / "tokenizer.json").read_bytes()
    chance = random.Random(4)
    reasons = []
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 3])):
            data[chance.randrange(len(data))] = chance.choice(b'{}[]",:0129azAZ\xff')
        (tmp_path / "tokenizer.json").write_bytes(data)
        try:
            tokenizer = Tokenizer.from_folder(tmp_path)
            tokenizer.decode(tokenizer.encode("hello a"))
        except ValueError as error:
            reasons.append(str(error))
    assert len(reasons) > 50
    assert all(reason.startswith("(") for reason in reasons)


def test_without_the_package_it_says_what_to_install(tmp_path, monkeypatch):
    words().save(str(tmp_path / "tokenizer.json"))
    monkeypatch.setitem(__import__("sys").modules, "tokenizers", None)
    with pytest.raises(ImportError, match=r"pip install 'proa\[llm\]'"):
        Tokenizer.from_folder(tmp_path)
