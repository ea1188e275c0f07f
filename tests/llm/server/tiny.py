"""A model small enough for tests, in a folder as Hugging Face's libraries write it: random weights, a tokenizer of bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import proa as paddle
from proa.llm import CausalLM, Config, save

TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def make(folder: Path, seed: int = 3, **changes: Any) -> Path:
    """Writes the model's files."""
    paddle.seed(seed)
    sizes = {"vocab_size": 258, "hidden_size": 64, "layers": 2, "heads": 4, "kv_heads": 2, "intermediate_size": 128}
    # Large weights make a random model sure of what it says, so that rounding never decides.
    config = Config("llama", max_positions=512, eos=(257,), tied=True, initializer_range=0.4, **{**sizes, **changes})
    save(CausalLM(config), folder)
    write_tokenizer(folder)
    return folder


def write_tokenizer(folder: Path) -> None:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE({sign: number for number, sign in enumerate(alphabet)}, []))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.add_special_tokens([AddedToken("<|im_start|>", special=True), AddedToken("<|im_end|>", special=True)])
    inner.save(str(folder / "tokenizer.json"))
    about = {"eos_token": "<|im_end|>", "chat_template": TEMPLATE}
    (folder / "tokenizer_config.json").write_text(json.dumps(about))
