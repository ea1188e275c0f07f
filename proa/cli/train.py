"""`proa train SETTINGS`: a language model trained or tuned as a small file says; `--pack`: text as a token file."""

from __future__ import annotations

import argparse
import os
import sys

from ..core.errors import naming
from .problems import complain


def run(arguments: argparse.Namespace) -> int:
    work = _pack if arguments.pack else _train
    try:
        return work(arguments)
    except (ImportError, MemoryError, OSError, TypeError, ValueError) as error:
        return complain("train", error, arguments.pack or "")
    except KeyboardInterrupt:
        print("\nproa train: interrupted; the same command goes on from the last checkpoint.", file=sys.stderr)
        return 130


def _train(arguments: argparse.Namespace) -> int:
    from ..llm.training import read_settings, train

    if len(arguments.files) != 1:
        raise ValueError(f"one file of settings is expected; received {len(arguments.files)}.")
    settings = read_settings(arguments.files[0])
    with naming(settings.output):
        trainer = train(settings)
    if trainer.rank == 0:
        found = [entry for entry in trainer.history if "loss" in entry]
        told = (
            f"{trainer.steps} steps, loss {found[0]['loss']:.4f} to {found[-1]['loss']:.4f}"
            if found
            else "nothing to do"
        )
        evaluated = [entry["evaluation_loss"] for entry in trainer.history if "evaluation_loss" in entry]
        told += f", {evaluated[-1]:.4f} on what it has not seen" if evaluated else ""
        told += f", {trainer.num_float8} products in float8" if trainer.num_float8 else ""
        print(f"{os.path.join(settings.output, 'model' if settings.lora is None else 'adapter')}: {told}")
    return 0


def _pack(arguments: argparse.Namespace) -> int:
    from ..llm.training import TokenFile, pack, read_tokenizer

    if not arguments.tokenizer:
        raise ValueError("--pack needs --tokenizer: the model's folder, or its .gguf file.")
    count = pack(arguments.files, arguments.pack, read_tokenizer(arguments.tokenizer), arguments.task)
    with TokenFile(arguments.pack) as file:
        print(f"{arguments.pack}: {file.num_tokens:,} tokens in {count:,} documents")
    return 0
