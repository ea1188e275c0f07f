"""`proa train`: from a file of settings to a model that loads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.llm import load, save
from proa.llm.tokens import Tokenizer
from proa.llm.training import Adapter, TokenFile
from proa_command import main
from tests.llm.training.test_documents import TEMPLATE, letters
from tests.llm.training.tiny import tiny_model

TALKS = [
    {"messages": [{"role": "user", "content": f"{a}?"}, {"role": "assistant", "content": f"{a}{a}."}]}
    for a in ("cat", "dog", "ant", "bee", "cow", "emu")
]
PLAIN = {"steps": 2, "batch": 2, "exact": False, "log_every": 1, "checkpoints": {"every": 0}}


def folder_of_model(folder: Path) -> Path:
    target = folder / "model"
    model = tiny_model()
    save(model, target)
    (target / "tokenizer.json").write_text(letters().to_json())
    (target / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<end>", "chat_template": TEMPLATE}))
    return target


def settings(folder: Path, **changes: Any) -> str:
    values = {"model": "model", "output": "out", **PLAIN, "data": {"train": "talks.jsonl", "length": 16}, **changes}
    (folder / "talks.jsonl").write_text("\n".join(json.dumps(talk) for talk in TALKS))
    (folder / "settings.json").write_text(json.dumps(values))
    return str(folder / "settings.json")


def logits(model: Any) -> np.ndarray:
    model.eval()
    with paddle.no_grad():
        return model(paddle.to_tensor([[5, 6, 7]])).numpy()


def test_an_adapter_is_tuned_on_conversations_and_merged(tmp_path: Path, capsys: Any) -> None:
    folder_of_model(tmp_path)
    lora = {"rank": 2, "targets": ["q_proj", "o_proj"], "merge": True}
    words = [
        "train",
        settings(tmp_path, task="chat", lora=lora, data={"train": "talks.jsonl", "evaluate": "talks.jsonl"}),
    ]
    assert main(words) == 0
    assert "2 steps, loss" in capsys.readouterr().out
    base = load(tmp_path / "model")
    before = logits(base)
    Adapter.load(base, tmp_path / "out" / "adapter")
    merged = load(tmp_path / "out" / "model")
    np.testing.assert_allclose(logits(merged), logits(base), rtol=1e-4, atol=1e-6)
    assert np.abs(logits(merged) - before).max() > 1e-6
    tokenizer = Tokenizer.from_folder(tmp_path / "out" / "model")
    assert tokenizer.chat_text([{"role": "user", "content": "a"}]) == "<user>a<end><bot>"
    metrics = (tmp_path / "out" / "metrics.jsonl").read_text()
    assert main(words) == 0, "a finished training has nothing to do"
    assert (tmp_path / "out" / "metrics.jsonl").read_text() == metrics


def test_a_model_is_trained_from_scratch_on_a_packed_file(tmp_path: Path, capsys: Any) -> None:
    model = folder_of_model(tmp_path)
    (tmp_path / "a.txt").write_text("the quick brown fox jumps over the lazy dog. " * 20)
    packed = str(tmp_path / "a.tokens")
    assert main(["train", "--pack", packed, "--tokenizer", str(model), str(tmp_path / "a.txt")]) == 0
    assert "901 tokens in 1 documents" in capsys.readouterr().out
    with TokenFile(packed) as file:
        assert file.num_tokens == 901
    data = {"train": "a.tokens", "length": 16}
    assert main(["train", settings(tmp_path, scratch=True, precision="mixed", data=data)]) == 0
    made = load(tmp_path / "out" / "model")
    assert str(made.embedding.weight.dtype).endswith("bfloat16")
    assert not np.allclose(logits(made).astype("float32"), logits(load(model)), atol=1e-3)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"data": {"train": "nothing.txt"}}, "there is no such file; received "),
        ({"batch": 0}, "batch must be at least 1"),
        ({"model": "elsewhere"}, "elsewhere"),
        ({"task": "preference"}, r"line 1: the keys \{prompt, chosen, rejected\} are needed"),
        ({"lora": {"targets": ["c_attn"]}, "task": "chat"}, "no projection is called 'c_attn'"),
    ],
)
def test_mistakes_are_told_in_a_line(tmp_path: Path, capsys: Any, change: dict[str, Any], words: str) -> None:
    import re

    folder_of_model(tmp_path)
    assert main(["train", settings(tmp_path, **change)]) == 1
    told = capsys.readouterr().err
    assert told.startswith("proa train: ")
    assert re.search(words, told)
    assert "Traceback" not in told


def test_packing_needs_a_tokenizer(tmp_path: Path, capsys: Any) -> None:
    assert main(["train", "--pack", str(tmp_path / "t"), "a.txt"]) == 1
    assert "--pack needs --tokenizer" in capsys.readouterr().err
