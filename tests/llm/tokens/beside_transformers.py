"""Tokenizers and chat templates beside transformers and sentencepiece.

    PROA_PARITY_TORCH_PYTHON=… python -m tests.llm.tokens.beside_transformers [FOLDER …]

compares tokens and text of 200 strings for folders of every kind that is read (and those named), chat templates with
`apply_chat_template`, and writes what the suite compares with: data/*.model and data/peers.json. The variable names a Python
that has transformers and sentencepiece.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from proa.llm.tokens import ChatTemplate, Tokenizer
from tests.llm.tokens.conversations import CONVERSATIONS, TEMPLATES, TOOLS
from tests.llm.tokens.made import checksum, word_piece_vocabulary
from tests.llm.tokens.strings import DATA, odd_strings

THEIRS = """
import json, os, sys
os.environ["HF_HUB_OFFLINE"] = "1"
import transformers
transformers.logging.set_verbosity_error()
import sentencepiece
answers = {}
request = json.load(sys.stdin)
for name, (path, kind) in request["folders"].items():
    tokenizer = getattr(transformers, kind).from_pretrained(path)
    ids = [tokenizer.encode(text) for text in request["texts"]]
    bare = [tokenizer.encode(text, add_special_tokens=False) for text in request["texts"]]
    texts = [tokenizer.decode(each, skip_special_tokens=True, clean_up_tokenization_spaces=False) for each in ids]
    answers[name] = [ids, bare, texts]
for name, path in request["models"].items():
    model = sentencepiece.SentencePieceProcessor(model_file=path)
    ids = [model.encode(text) for text in request["texts"]]
    answers[name] = [ids, ids, [model.decode(each) for each in ids]]
from transformers.utils.chat_template_utils import render_jinja_template
for name, (source, messages, values) in request["chats"].items():
    try:
        answers[name] = render_jinja_template([messages], chat_template=source, **values)[0][0]
    except Exception as error:
        answers[name] = None
json.dump(answers, sys.stdout)
"""
TRAINING = """
import sys, json
import sentencepiece
texts, target, kind, normalization = json.load(sys.stdin)
sentencepiece.SentencePieceTrainer.train(
    sentence_iterator=iter(texts), model_prefix=target, model_type=kind, vocab_size=900, byte_fallback=kind == "bpe",
    normalization_rule_name=normalization, remove_extra_whitespaces=kind == "unigram", hard_vocab_limit=False,
    character_coverage=0.98, minloglevel=2, user_defined_symbols=["<mark>"], pad_id=3, num_threads=1)
"""


def ask(program: str, request) -> str:
    python = os.environ["PROA_PARITY_TORCH_PYTHON"]
    done = subprocess.run(
        [python, "-c", program], input=json.dumps(request), capture_output=True, text=True, timeout=900
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-3000:])
    return done.stdout


def sentences() -> list[str]:
    return [line for text in odd_strings() for line in text.splitlines() if line.strip() and "\x00" not in line] * 5


def write_folders(folder: pathlib.Path) -> dict[str, tuple[str, str]]:
    """Folders of the older kinds, and which class of transformers reads each."""
    pieces, merges = json.loads((DATA / "byte_pairs.json").read_text(encoding="utf-8"))
    numbers = {piece: number for number, piece in enumerate(pieces)}
    found = {}
    ends = {"eos_token": "<|end|>", "unk_token": "<|end|>"}
    for name, kind in (("gpt2", "GPT2Tokenizer"), ("qwen2", "Qwen2Tokenizer")):
        own = {"bos_token": "<|end|>"} if name == "gpt2" else {"bos_token": None, "pad_token": "<|end|>"}
        config = {"tokenizer_class": kind, **ends, **own}
        path = new_folder(folder / name, config)
        (path / "vocab.json").write_text(json.dumps(numbers), encoding="utf-8")
        (path / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n", encoding="utf-8")
        found[name] = (str(path), kind)
    words = [
        f"##{p}" if not p.startswith(("▁", "[")) or p == "[" else p.removeprefix("▁") for p in word_piece_vocabulary()
    ]
    for name, config in (("bert", {}), ("bert cased", {"do_lower_case": False})):
        path = new_folder(folder / name.replace(" ", "_"), {"tokenizer_class": "BertTokenizer", **config})
        (path / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
        found[name] = (str(path), "BertTokenizer")
    return found


def new_folder(path: pathlib.Path, config: dict) -> pathlib.Path:
    path.mkdir()
    (path / "tokenizer_config.json").write_text(json.dumps(config))
    return path


def chats() -> dict[str, tuple[str, list, dict]]:
    found = {}
    for name, source in TEMPLATES.items():
        for title, messages in CONVERSATIONS.items():
            for values in (
                {"add_generation_prompt": True},
                {"add_generation_prompt": False, "tools": TOOLS, "enable_thinking": False},
            ):
                values = {**values, "bos_token": "<s>", "eos_token": "</s>"}
                found[f"{name}, {title}, {'tools' if 'tools' in values else 'no tools'}"] = (source, messages, values)
    return found


def render(source: str, messages: list, values: dict) -> str | None:
    try:
        return ChatTemplate(source).render(messages, **values)
    except ValueError:
        return None


def compare(name: str, tokenizer: Tokenizer, expected) -> int:
    ids, bare, texts = expected
    ours = [tokenizer.encode(text) for text in odd_strings()]
    wrong = [n for n in range(len(ours)) if ours[n] != ids[n]]
    wrong_bare = [n for n, text in enumerate(odd_strings()) if tokenizer.encode(text, special=False) != bare[n]]
    # Sentencepiece shows what it does not know as a sign of its own.
    decoded = [n for n in range(len(ours)) if tokenizer.decode(ids[n]) != texts[n] and "⁇" not in texts[n]]
    print(f"{name}: {len(wrong)} of {len(ours)} cut otherwise ({len(wrong_bare)} bare), {len(decoded)} texts differ")
    for n in wrong[:4]:
        print(f"    {odd_strings()[n]!r}: ours {ours[n]}, theirs {ids[n]}")
    for n in decoded[:4]:
        print(f"    {ids[n]}: ours {tokenizer.decode(ids[n])!r}, theirs {texts[n]!r}")
    if name.endswith("nfkc"):  # the tokenizers package maps a letter and its marks together, sentencepiece one by one
        return max(0, len(wrong) - 8)
    return len(wrong) + len(wrong_bare) + len(decoded)


def main(arguments: list[str]) -> int:
    num_wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        models = {}
        for kind in ("bpe", "unigram"):
            for normalization in ("identity", "nmt_nfkc"):
                ask(TRAINING, [sentences(), str(folder / f"{kind}_{normalization}"), kind, normalization])
                models[f"{kind} {normalization}"] = folder / f"{kind}_{normalization}.model"
        folders = write_folders(folder) | {path: (path, "AutoTokenizer") for path in arguments}
        request = {
            "texts": odd_strings(), "folders": folders, "models": {n: str(p) for n, p in models.items()}, "chats": chats(),
        }  # fmt: skip
        answers = json.loads(ask(THEIRS, request))
        for name, (path, _) in folders.items():
            num_wrong += compare(name, Tokenizer.from_folder(path), answers[name])
        for name, path in models.items():
            lone = new_folder(folder / f"lone_{path.stem}", {"add_bos_token": False})
            (lone / "tokenizer.model").write_bytes(path.read_bytes())
            num_wrong += compare(f"sentencepiece {name}", Tokenizer.from_folder(lone), answers[name])
            if "identity" in name:
                (DATA / f"{name.split()[0]}.model").write_bytes(path.read_bytes())
    different = [name for name, chat in chats().items() if render(*chat) != answers[name]]
    print(f"chat templates: {len(chats()) - len(different)} of {len(chats())} alike", *different, sep="\n    ")
    stored = {name: " ".join(map(checksum, answers[name][0])) for name in (*models, *folders) if name not in arguments}
    stored = {name: sums for name, sums in stored.items() if "nfkc" not in name}
    stored["chats"] = {name: None if answers[name] is None else checksum(answers[name]) for name in chats()}
    (DATA / "peers.json").write_text(json.dumps(stored, indent=0))
    return 1 if num_wrong or different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
