"""A training from its settings to the finished model: what `proa train` does.

The output folder holds `checkpoints/`, `metrics.jsonl`, `data/` (text that was packed), and at the end `model/` (or
`adapter/`): a folder that loads like the one the training began with.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from ...core.errors import naming, value_error
from ...core.generator import default_generator
from ...core.waiting import waiting
from ...distributed import init_parallel_env
from ..loading import load, read_config, save
from ..quantised import quantise
from .adapter_files import replace_folder
from .documents import found_files, is_token_file, pack
from .float8 import check_float8
from .lora import Adapter
from .objectives import NextToken, PairRows, Preferred
from .rows import Rows, StreamRows, WholeRows
from .settings import WHERE, Settings
from .token_file import TokenFile
from .trainer import Trainer

# What lies beside a model's weights and is needed to talk to it.
_BESIDE = (
    "tokenizer.json", "tokenizer_config.json", "tokenizer.model", "special_tokens_map.json", "added_tokens.json",
    "chat_template.jinja", "generation_config.json", "vocab.json", "merges.txt",
)  # fmt: skip


def train(settings: Settings, stream: Any = None) -> Trainer:
    """Loads or makes the model, packs text, trains, and writes the result; gives the trainer.

    Example:
        >>> trainer = train(read_settings("tune.yaml"))
    """
    trainer = make_trainer(settings, stream)
    trainer.train()
    if trainer.rank == 0:
        write_result(trainer)
    return trainer


def make_trainer(settings: Settings, stream: Any = None) -> Trainer:
    """The trainer that settings describe, before its first step."""
    check_float8(settings.float8)
    init_parallel_env()  # of a job of several processes; otherwise there is nobody to meet
    os.makedirs(settings.output, exist_ok=True)
    rows = _rows(settings, settings.data.train, "train")
    evaluation = _rows(settings, settings.data.evaluate, "evaluate") if settings.data.evaluate else None
    default_generator.manual_seed(settings.seed)
    with waiting("loading the model", "some seconds"):
        model = _model(settings)
    adapter = _adapter(model, settings)
    objective = _preferred(model, settings, adapter) if settings.task == "preference" else None
    return Trainer(model, rows, settings, evaluation=evaluation, adapter=adapter, objective=objective, stream=stream)


def write_result(trainer: Trainer) -> None:
    """`adapter/`, or `model/` with the tokenizer beside it; averaged weights where there are some."""
    settings, output = trainer.settings, Path(trainer.settings.output)
    with nullcontext() if trainer.average is None else trainer.average.applied():
        if trainer.adapter is None:
            _write_model(trainer.model, settings, output / "model")
            return
        trainer.adapter.save(output / "adapter", settings.model)
        assert settings.lora is not None
        if settings.lora.merge:
            trainer.adapter.merge()
            try:
                _write_model(trainer.model, settings, output / "model")
            finally:
                trainer.adapter.unmerge()


def _write_model(model: Any, settings: Settings, target: Path) -> None:
    beside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        with naming(str(target)):
            save(model, beside / "new")
        _write_tokenizer(Path(settings.tokenizer or settings.model), beside / "new")
        replace_folder(beside / "new", target)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _write_tokenizer(source: Path, target: Path) -> None:
    """The tokenizer's files, copied; those of a GGUF file, written."""
    if not source.is_file():
        for name in _BESIDE:
            if (source / name).is_file():
                shutil.copyfile(source / name, target / name)
        return
    tokenizer = read_tokenizer(str(source))
    described = {**tokenizer.special.named, "tokenizer_class": "PreTrainedTokenizerFast"}
    if tokenizer.templates:
        described["chat_template"] = tokenizer.template().source
    (target / "tokenizer.json").write_text(tokenizer.to_json(), encoding="utf-8")
    (target / "tokenizer_config.json").write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")


def read_tokenizer(source: str) -> Any:
    """The tokenizer of a model's folder, or of its GGUF file."""
    from ..tokens import Tokenizer

    return Tokenizer.from_gguf(source) if os.path.isfile(source) else Tokenizer.from_folder(source)


def _model(settings: Settings) -> Any:
    kind = "float32" if settings.precision == "float32" else "bfloat16"
    if not settings.scratch:
        if settings.quantised == "kept":
            return load(settings.model, keep_quantised=True)
        model = load(settings.model, dtype=kind)
        return model if settings.quantised == "none" else quantise(model, bits=int(settings.quantised[3:]))
    family, config = read_config(Path(settings.model))
    model = family.build(config)
    return model if kind == "float32" else model.to(dtype=kind)


def _adapter(model: Any, settings: Settings) -> Adapter | None:
    if settings.lora is None:
        for parameter in model.parameters():
            parameter.stop_gradient = False
        return None
    if settings.lora.start:
        return Adapter.load(model, settings.lora.start)
    return Adapter.attach(model, settings.lora)


def _preferred(model: Any, settings: Settings, adapter: Adapter | None) -> NextToken:
    logit_bytes = settings.logit_mb << 20
    if adapter is None or (settings.lora is not None and settings.lora.start):
        frozen = _model(settings)
        if adapter is not None:  # the reference is the model as it begins: with the adapter it begins with
            Adapter.load(frozen, settings.lora.start).merge()  # type: ignore[union-attr]
        frozen.eval()
        return Preferred(model, logit_bytes, settings.preference, frozen)

    @contextmanager
    def reference() -> Iterator[None]:
        adapter.enable(False)
        try:
            yield
        finally:
            adapter.enable()

    return Preferred(model, logit_bytes, settings.preference, reference=reference)


# ---- data ----------------------------------------------------------------------------------------


def _rows(settings: Settings, paths: Sequence[str], name: str) -> Rows:
    data = settings.data
    file = TokenFile(_token_file(settings, found_files(paths), name))
    shuffle = data.shuffle and name == "train"
    if settings.task == "preference":
        rows: Rows = PairRows(file, data.length, data.seed, shuffle)
    elif settings.task == "pretrain" and data.pack:
        rows = StreamRows(file, data.length, data.seed, shuffle)
    else:
        rows = WholeRows(file, data.length, data.seed, shuffle, data.pack)
    # The loss would be 0 (of preferences: log 2) at every step, and look like one of a training.
    if not rows.teaches():
        raise value_error(
            "proa train", f"data.{name} has nothing to learn: no answer begins within data.length tokens of its document, "
            "which is where longer ones are cut; make data.length larger", f"{data.length}",
        )  # fmt: skip
    return rows


def _token_file(settings: Settings, files: list[str], name: str) -> str:
    """The one token file among the data, or one that is made of its text, once."""
    made = [path for path in files if is_token_file(path)]
    if made:
        if len(files) > 1:
            raise value_error(WHERE, f"data.{name} may be one token file, or files of text", f"{len(files)} files",
                              "pack the text together with --pack")  # fmt: skip
        return made[0]
    stamp = [[os.path.abspath(path), os.stat(path).st_size, os.stat(path).st_mtime_ns] for path in files]
    source = settings.tokenizer or settings.model
    key = hashlib.sha256(repr([stamp, os.path.abspath(source), settings.task]).encode()).hexdigest()[:16]
    target = os.path.join(settings.output, "data", f"{name}-{key}.tokens")
    if not os.path.exists(target):
        with waiting(f"turning {len(files)} files into tokens", "a second for some megabytes"):
            pack(files, target, read_tokenizer(source), settings.task)
    return target
