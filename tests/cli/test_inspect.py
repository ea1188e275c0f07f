"""`proa inspect`: what the files of language models hold."""

from __future__ import annotations

import json

import numpy as np

import proa_command as command
from proa.llm.files import write_safetensors
from tests.llm.files.samples import random_blocks, write


def test_a_gguf_file(tmp_path, capsys):
    metadata = {
        "general.name": "a\x1b[31m\nb",
        "a.tokens": [f"token {n}" for n in range(1000)],
        "a.numbers": list(range(999)),
    }
    path = str(write(tmp_path / "m.gguf", {"norm": np.ones(5, "float32")},
                     {"blk.0.w": ("Q4_K", random_blocks("Q4_K", 3, 2))}, metadata))  # fmt: skip
    assert command.main(["inspect", path]) == 0
    text = capsys.readouterr().out
    assert "2 tensors, 884 B (Q4_K 864 B, F32 20 B)" in text
    assert "general.name = a\\x1b[31m\\nb\n" in text  # a terminal obeys nothing of it
    assert "3 × 512  (864 B)" in text
    assert len(text) < 2000
    assert command.main(["inspect", path, "--tensors", "blk", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["tensors"] == [{"name": "blk.0.w", "kind": "Q4_K", "shape": [3, 512], "bytes": 864}]
    assert found["total"]["tensors"] == 2
    assert found["metadata"]["general.architecture"] == "llama"


def test_a_folder_and_a_file_of_safetensors(tmp_path, capsys):
    write_safetensors(tmp_path, {"a": np.ones((20, 30), "float16"), "b": np.ones((), "int64")}, 100)
    (tmp_path / "config.json").write_text('{"model_type": "llama", "long": {"x": "%s"}}' % ("y" * 500))
    assert command.main(["inspect", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "2 tensors, 1.2 kB (float16 1.2 kB, int64 8 B)" in text
    assert "model_type = llama" in text
    assert "long = 1 values" in text
    assert "one number" in text
    assert command.main(["inspect", str(tmp_path / "model-00001-of-00002.safetensors"), "--json"]) == 0
    assert [tensor["name"] for tensor in json.loads(capsys.readouterr().out)["tensors"]] == ["a"]


def test_what_cannot_be_read(tmp_path, capsys):
    (tmp_path / "m.gguf").write_bytes(b"nonsense")
    for path in ("m.gguf", "none.safetensors", "none.gguf", ""):
        assert command.main(["inspect", str(tmp_path / path)]) == 1
        assert str(tmp_path) in capsys.readouterr().err
