"""Training language models: from token files, on conversations, on preferences; all weights, or an adapter.

settings.py     what a training is told; read from a small file by `proa train`
documents.py    text and conversations as token files
token_file.py   token files: written whole, read a piece at a time
rows.py         rows of a batch: cut, or packed without documents seeing each other
loss.py         cross entropy without the logits; preferences
objectives.py   from a batch to a loss
lora.py         adapters: attached, merged, taken off; adapter_files.py: peft's files
trainer.py      the loop
state.py        checkpoints that continue bit by bit
records.py      metrics, curves, the line in the terminal
running.py      a training from its settings to the finished model
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .documents import pack
    from .lora import Adapter
    from .loss import token_losses
    from .objectives import PairRows
    from .rows import Batch, Rows, StreamRows, WholeRows
    from .running import read_tokenizer, train
    from .settings import Lora, Settings, read_settings, settings_from
    from .token_file import TokenFile, token_writer, write_tokens
    from .trainer import Trainer

_HOMES = {
    "Adapter": "lora", "Batch": "rows", "Lora": "settings", "PairRows": "objectives", "Rows": "rows",
    "Settings": "settings", "StreamRows": "rows", "TokenFile": "token_file", "Trainer": "trainer", "WholeRows": "rows",
    "pack": "documents", "read_settings": "settings", "read_tokenizer": "running", "settings_from": "settings",
    "token_losses": "loss", "token_writer": "token_file", "train": "running", "write_tokens": "token_file",
}  # fmt: skip

__all__ = [
    "Adapter", "Batch", "Lora", "PairRows", "Rows", "Settings", "StreamRows", "TokenFile", "Trainer", "WholeRows", "pack",
    "read_settings", "read_tokenizer", "settings_from", "token_losses", "token_writer", "train", "write_tokens",
]  # fmt: skip


if not TYPE_CHECKING:  # so that a misspelt name is seen

    def __getattr__(name: str) -> Any:
        if name in _HOMES:
            return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
