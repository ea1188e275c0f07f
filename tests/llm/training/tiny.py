"""A small model and small data, which the tests of training share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import proa as paddle
from proa.llm import CausalLM, Config
from proa.llm.training import Settings, StreamRows, TokenFile, WholeRows, settings_from, write_tokens

VOCABULARY = 64


def tiny_model(seed: int = 1, **changes: Any) -> Any:
    paddle.seed(seed)
    sizes = {"hidden_size": 16, "layers": 2, "heads": 2, "intermediate_size": 24, "kv_heads": 1, "tied": True}
    return CausalLM(Config("llama", VOCABULARY, **{**sizes, **changes}))


def tiny_file(folder: Path, count: int = 60) -> TokenFile:
    """Documents with something to learn: each token is followed by one of two."""
    path = folder / "tiny.tokens"
    if not path.exists():
        rng = np.random.default_rng(0)
        documents = []
        for _ in range(count):
            tokens = [int(rng.integers(VOCABULARY))]
            for _ in range(int(rng.integers(2, 20))):
                tokens.append((tokens[-1] * 3 + int(rng.integers(2))) % VOCABULARY)
            documents.append(tokens)
        write_tokens(path, documents, VOCABULARY)
    return TokenFile(path)


def tiny_rows(folder: Path, length: int = 16, whole: bool = False, **options: Any) -> Any:
    kind = WholeRows if whole else StreamRows
    return kind(tiny_file(folder), length, **options)


def tiny_settings(folder: Path, **changes: Any) -> Settings:
    values: dict[str, Any] = {
        "model": "-", "output": str(folder / "out"), "steps": 6, "batch": 4, "data": {"train": "-"},
        "optimizer": {"learning_rate": 0.01}, "checkpoints": {"every": 0},
        "exact": False,  # nothing is compiled for a few steps
    }  # fmt: skip
    return settings_from({**values, **changes})


def losses(history: list[dict[str, float]]) -> list[float]:
    return [entry["loss"] for entry in history if "loss" in entry]
