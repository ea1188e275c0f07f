"""Small tokenizers as GGUF files, and what llama.cpp makes of odd strings with them.

    python -m tests.llm.tokens.made FILE.gguf

compares every way to cut words, the other kinds of tokenizers, and the tokenizer of FILE with llama.cpp (200 strings each),
and writes data/llama_cpp.json, which the suite compares with. `PROA_PARITY_LLAMA_PYTHON` names a Python that has
llama-cpp-python. Where llama.cpp itself is not what the models were trained with, `known_difference` says so.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unicodedata
import zlib

import gguf
import tokenizers

from proa.llm.tokens import Tokenizer
from proa.llm.tokens.pretokenisers import WAYS
from tests.llm.tokens.strings import DATA, odd_strings

LLAMA = """
import ctypes, json, sys
import llama_cpp
quiet = llama_cpp.llama_log_callback(lambda level, text, data: None)
llama_cpp.llama_log_set(quiet, ctypes.c_void_p(0))
for line in sys.stdin:
    path, texts, special = json.loads(line)
    model = llama_cpp.Llama(path, vocab_only=True, verbose=False)
    print(json.dumps([model.tokenize(text.encode(), add_bos=special, special=True) for text in texts]), flush=True)
"""


def byte_pair_vocabulary() -> tuple[list[str], list[str]]:
    """Merges learned from the strings without cutting them, so that tokens reach over the places where words are cut."""
    inner = tokenizers.Tokenizer(tokenizers.models.BPE())
    inner.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=900, show_progress=False, initial_alphabet=alphabet, special_tokens=["<|end|>"]
    )
    inner.train_from_iterator(odd_strings() * 2, trainer)
    made = json.loads(inner.to_str())["model"]
    pieces = sorted(made["vocab"], key=made["vocab"].get)
    return pieces, [" ".join(pair) for pair in made["merges"]]


def piece_vocabulary() -> tuple[list[str], list[float], list[int]]:
    """Sentencepiece's table: control tokens, bytes, then pieces with scores."""
    texts = ["▁" + text.replace(" ", "▁") for text in odd_strings()]
    counts: dict[str, int] = {}
    for text in texts:
        for length in (1, 2, 3, 4, 6):
            for start in range(len(text) - length + 1):
                counts[text[start : start + length]] = counts.get(text[start : start + length], 0) + 1
    frequent = sorted(
        (p for p, n in counts.items() if "\x00" not in p and n >= 4 + 2 * len(p)), key=lambda p: (-counts[p], p)
    )
    common = sorted({c for text in texts for c in text if ord(c) < 0x500 and c != "\x00"})
    pieces = list(dict.fromkeys(frequent + common))
    control = ["<unk>", "<s>", "</s>"]
    letters = [f"<0x{byte:02X}>" for byte in range(256)]
    scores = [0.0] * (3 + 256) + [-float(n) for n in range(len(pieces))]
    return control + letters + pieces, scores, [2, 3, 3] + [6] * 256 + [1] * len(pieces)


def word_piece_vocabulary() -> list[str]:
    text = "hello world the quick brown fox dog it s is a b c best of times user привет мир cafe naive 你 好 世 界"
    words, ends = text.split(), [*"123аое", "ing", "ed", "er", "s", "ly", "tion", "ld", "lo", "rt", "st"]
    letters = [chr(c) for c in range(97, 123)] + list("0123456789!?.,'\"()[]-_/=+<>#$%&*:;@^`{|}~")
    wanted = [*(f"▁{word}" for word in words + letters), *ends, *letters]
    return ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(wanted)]


def write_byte_pairs(path, pre: str, **values) -> str:
    pieces, merges = json.loads((DATA / "byte_pairs.json").read_text(encoding="utf-8"))
    return _write(path, "gpt2", pieces, [3] + [1] * (len(pieces) - 1), pre=pre, merges=merges, eos=0, bos=0, **values)


def write_pieces(path, **values) -> str:
    pieces, scores, kinds = piece_vocabulary()
    return _write(path, "llama", pieces, kinds, scores=scores, bos=1, eos=2, **values)


def write_word_pieces(path) -> str:
    pieces = word_piece_vocabulary()
    return _write(path, "bert", pieces, [3] * 5 + [1] * (len(pieces) - 5), bos=2, eos=3, unknown=1, pre="jina-v2-en")


def _write(
    path, model, pieces, kinds, *, pre="default", merges=None, scores=None, bos=None, eos=None, unknown=None, **values
) -> str:
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model(model)
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(pieces)
    writer.add_token_types(kinds)
    if merges is not None:
        writer.add_token_merges(merges)
    if scores is not None:
        writer.add_token_scores(scores)
    writer.add_bos_token_id(bos)
    writer.add_eos_token_id(eos)
    if unknown is not None:
        writer.add_unk_token_id(unknown)
        writer.add_sep_token_id(eos)
    for key, value in values.items():
        writer.add_bool(f"tokenizer.ggml.{key}", value)
    for name in ("context_length", "embedding_length", "block_count", "feed_forward_length", "head_count"):
        (writer.add_head_count if name == "head_count" else getattr(writer, f"add_{name}"))(8)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return str(path)


CASES = {
    **{f"gpt2 {pre}": (write_byte_pairs, {"pre": pre}) for pre in WAYS},
    "llama": (write_pieces, {}),
    "llama without prefix": (write_pieces, {"add_space_prefix": False}),
    "bert": (write_word_pieces, {}),
}


def make(folder, name: str) -> str:
    write, values = CASES[name]
    return write(pathlib.Path(folder) / f"{name.replace(' ', '-')}.gguf", **values)


def known_difference(name: str, text: str) -> bool:
    """Strings that llama.cpp cuts otherwise than the model's own tokenizer: its patterns know no marks (accents, vowels)
    beside letters, it composes no accents, and it takes enclosing marks for accents."""
    if name in ("gpt2 qwen2", "gpt2 qwen35"):
        return unicodedata.normalize("NFC", text) != text
    if name in ("gpt2 gpt-4o", "gpt2 tekken"):
        return any(unicodedata.category(sign).startswith("M") for sign in text)
    return name == "bert" and "\u20e3" in text


def checksum(ids: list[int]) -> str:
    return f"{zlib.crc32(json.dumps(ids).encode()) & 0xFFFF:04x}"


def ask_llama(requests: list[tuple[str, list[str], bool]]) -> list[list[list[int]]]:
    python = os.environ["PROA_PARITY_LLAMA_PYTHON"]
    lines = "\n".join(json.dumps(request) for request in requests)
    done = subprocess.run([python, "-c", LLAMA], input=lines, capture_output=True, text=True, check=True, timeout=600)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main(arguments: list[str]) -> int:
    DATA.mkdir(exist_ok=True)
    if not (DATA / "byte_pairs.json").is_file():
        (DATA / "byte_pairs.json").write_text(json.dumps(byte_pair_vocabulary(), ensure_ascii=False), encoding="utf-8")
    texts, stored, num_different = odd_strings(), {}, 0
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: make(folder, name) for name in CASES} | {path: path for path in arguments}
        answers = ask_llama([(path, texts, False) for path in paths.values()])
        for (name, path), expected in zip(paths.items(), answers, strict=True):
            tokenizer = Tokenizer.from_gguf(path)
            wrong = [n for n, text in enumerate(texts) if tokenizer.encode(text, special=False) != expected[n]]
            num_different += sum(not known_difference(name, texts[n]) for n in wrong)
            print(f"{name}: {len(texts) - len(wrong)} of {len(texts)} alike")
            for n in wrong[:6]:
                print(f"    {texts[n]!r}: ours {tokenizer.encode(texts[n], special=False)}, theirs {expected[n]}")
            if name in CASES:
                stored[name] = expected
    # Names that mean the same way are stored together, and of each answer two bytes of its checksum.
    table: dict[str, str] = {}
    for name, answers in stored.items():
        sums = " ".join(checksum(ids) for ids in answers)
        table[sums] = f"{table[sums]}|{name}" if sums in table else name
    (DATA / "llama_cpp.json").write_text(json.dumps({names: sums for sums, names in table.items()}, indent=0))
    return 1 if num_different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
