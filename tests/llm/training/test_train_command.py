"""`proa train`: from a file of settings to a model that loads."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.llm import load, save
from proa.llm.quantised import quantise
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


def folder_of_model(folder: Path, **sizes: int) -> Path:
    target = folder / "model"
    model = tiny_model(**sizes)
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


@pytest.mark.parametrize("task", ["chat", "preference"])
def test_data_of_which_nothing_is_learned(tmp_path: Path, capsys: Any, task: str) -> None:
    """Answers that lie behind the cut of every document: a loss of 0 at every step is no training."""
    folder_of_model(tmp_path)
    pairs = [{"prompt": talk["messages"][0]["content"], "chosen": "yes", "rejected": "no"} for talk in TALKS]
    (tmp_path / "pairs.jsonl").write_text("\n".join(json.dumps(pair) for pair in pairs))
    data = {"train": "talks.jsonl" if task == "chat" else "pairs.jsonl", "length": 3}
    assert main(["train", settings(tmp_path, task=task, data=data)]) == 1
    assert "data.length larger; received 3" in capsys.readouterr().err
    assert not (tmp_path / "out" / "model").exists()


def test_an_adapter_is_tuned_on_weights_in_four_bits(tmp_path: Path) -> None:
    folder_of_model(tmp_path, hidden_size=32, intermediate_size=64)
    lora = {"rank": 2, "targets": ["all-linear"], "merge": True}
    assert main(["train", settings(tmp_path, task="chat", quantised="int4", lora=lora)]) == 0
    base = quantise(load(tmp_path / "model"), bits=4)
    before = logits(base)
    Adapter.load(base, tmp_path / "out" / "adapter")
    merged = logits(load(tmp_path / "out" / "model"))
    scale = np.abs(before).max()
    np.testing.assert_allclose(merged, logits(base), atol=0.03 * scale)  # products with blocks round their operand
    assert len(load(tmp_path / "out" / "model").state_dict()) == len(load(tmp_path / "model").state_dict())


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
    folder_of_model(tmp_path)
    assert main(["train", settings(tmp_path, **change)]) == 1
    told = capsys.readouterr().err
    assert told.startswith("proa train: ")
    assert re.search(words, told)
    assert "Traceback" not in told


def test_packing_needs_a_tokenizer(tmp_path: Path, capsys: Any) -> None:
    assert main(["train", "--pack", str(tmp_path / "t"), "a.txt"]) == 1
    assert "--pack needs --tokenizer" in capsys.readouterr().err


@pytest.mark.slow
def test_two_processes_have_the_curve_of_one(tmp_path: Path) -> None:
    found = []
    for number in (1, 2):
        folder = tmp_path / str(number)
        folder_of_model(folder)
        words = [
            sys.executable,
            "-m",
            "proa.distributed.launch",
            "--nproc_per_node",
            str(number),
            "-m",
            "proa",
            "train",
        ]
        words.append(settings(folder, task="chat", batch=2 // number))
        environment = {**os.environ, "PYTHONPATH": os.getcwd()}
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=110)
        assert done.returncode == 0, done.stdout + done.stderr
        lines = (folder / "out" / "metrics.jsonl").read_text().splitlines()
        found.append([json.loads(line)["loss"] for line in lines])
        assert (folder / "out" / "model" / "model.safetensors").is_file()
    assert len(found[0]) == 2
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5)
