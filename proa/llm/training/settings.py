"""What a training is told: a small file (YAML, TOML or JSON), or the same as dataclasses.

Every value is checked when it is read, before a model is loaded; an error names the key (`data.length`), what it may be, and
what is there.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import json
import os
import types
import typing
from dataclasses import dataclass, field
from typing import Any, Literal

from ...core.errors import message, value_error

WHERE = "proa train"


def _at_least(minimum: float, default: Any = dataclasses.MISSING) -> Any:
    return field(default=default, metadata={"minimum": minimum})


def _share(default: float) -> Any:
    return field(default=default, metadata={"minimum": 0.0, "maximum": 1.0})


@dataclass(frozen=True)
class Data:
    """Where rows come from: token files, or text (.txt, .jsonl) that is packed beside the checkpoints first."""

    train: tuple[str, ...] = ()
    evaluate: tuple[str, ...] = ()
    length: int = _at_least(2, 1024)  # positions of a row
    pack: bool = True  # several documents in a row
    shuffle: bool = True
    seed: int = _at_least(0, 0)


@dataclass(frozen=True)
class OptimizerSettings:
    learning_rate: float = _at_least(0.0, 3e-4)
    beta1: float = _share(0.9)
    beta2: float = _share(0.95)
    epsilon: float = _at_least(0.0, 1e-8)
    weight_decay: float = _at_least(0.0, 0.1)
    decay_all: bool = False  # False: not of norms, biases and embeddings
    clip: float = _at_least(0.0, 1.0)  # of the gradient's norm; 0: no clipping
    average: float = _share(0.0)  # exponential moving average of the weights; 0: none


@dataclass(frozen=True)
class Schedule:
    kind: Literal["constant", "linear", "cosine", "stable"] = "cosine"
    warmup: int = _at_least(0, 0)  # steps
    decay: int = _at_least(0, 0)  # "stable": over how many steps it falls at the end
    floor: float = _share(0.1)  # where it ends, as a share of the learning rate


@dataclass(frozen=True)
class Lora:
    """A low-rank adapter instead of the weights themselves."""

    rank: int = _at_least(1, 8)
    alpha: float = _at_least(0.0, 16.0)
    dropout: float = _share(0.0)
    targets: tuple[str, ...] = ("q_proj", "k_proj", "v_proj", "o_proj")
    rank_stabilised: bool = False  # alpha / sqrt(rank)
    start: str | None = None  # an adapter's folder to go on from
    merge: bool = False  # write the merged model as well


@dataclass(frozen=True)
class Parallel:
    """How many devices share what; together their product. `dist.parallelize` does it."""

    data: int = _at_least(1, 1)  # parts of the batch
    tensor: int = _at_least(1, 1)  # devices that share each layer
    pipeline: int = _at_least(1, 1)  # stages; forward passes of a step (`accumulate`) go through them in turn
    # What is cut over the data's devices: 1: the optimiser's states, 2: gradients too, 3: weights too.
    sharding: int = field(default=0, metadata={"minimum": 0, "maximum": 3})


@dataclass(frozen=True)
class Preference:
    """Direct preference optimisation."""

    beta: float = _at_least(0.0, 0.1)
    smoothing: float = _share(0.0)  # how often the preference is expected to be wrong


@dataclass(frozen=True)
class Checkpoints:
    every: int = _at_least(0, 500)  # steps; 0: at the end only
    keep: int = _at_least(1, 2)
    resume: bool = True  # go on from the last one in the output folder


@dataclass(frozen=True)
class Settings:
    """A whole training."""

    model: str = ""  # a folder in Hugging Face's form, or a .gguf file
    output: str = ""
    task: Literal["pretrain", "chat", "preference"] = "pretrain"
    scratch: bool = False  # begin with random weights; of the model's folder only config.json is read
    tokenizer: str | None = None  # a folder; the model's by default
    steps: int = _at_least(0, 0)  # 0: as many as `epochs` says
    epochs: float = _at_least(0.0, 1.0)
    batch: int = _at_least(1, 8)  # rows in a forward pass (of each process)
    accumulate: int = _at_least(1, 1)  # forward passes in a step
    precision: Literal["float32", "bfloat16", "mixed"] = "float32"  # mixed: bfloat16 with float32 masters
    # Products of projections in 8 bits; "emulated": the same numbers on any device, slowly.
    float8: Literal["none", "products", "emulated"] = "none"
    memory: str | None = None  # such as "20GB": a step that needs more computes activations twice
    logit_mb: int = _at_least(1, 64)  # how much of the logits exists at once, in MiB
    seed: int = _at_least(0, 0)
    exact: bool = True  # the same bits when it is started again: steps are compiled when first seen
    log_every: int = _at_least(1, 10)
    evaluate_every: int = _at_least(0, 0)
    evaluate_rows: int = _at_least(0, 0)  # 0: all
    tensorboard: bool = False
    # How frozen weights are kept beside an adapter; "kept": in the blocks of the .gguf file.
    quantised: Literal["none", "int8", "int4", "kept"] = "none"
    data: Data = field(default_factory=Data)
    optimizer: OptimizerSettings = field(default_factory=OptimizerSettings)
    schedule: Schedule = field(default_factory=Schedule)
    lora: Lora | None = None
    parallel: Parallel | None = None
    preference: Preference = field(default_factory=Preference)
    checkpoints: Checkpoints = field(default_factory=Checkpoints)


def read_settings(path: Any) -> Settings:
    """The settings in a .yaml, .toml or .json file; paths in it are meant from its folder."""
    name = os.fspath(path)
    values = _parsed(name)
    settings = settings_from(values)
    return _resolved(settings, os.path.dirname(os.path.abspath(name)))


def settings_from(values: Any) -> Settings:
    """Settings from nested dictionaries."""
    settings = _build(Settings, values, "")
    for key in ("model", "output"):
        if not getattr(settings, key):
            raise value_error(WHERE, f"the key {key} must be given", "nothing", f"write {key}: a path")
    if not settings.data.train:
        raise value_error(WHERE, "the key data.train must be given", "nothing", "name a token file or text to train on")
    if settings.quantised != "none" and settings.lora is None:
        raise value_error(
            WHERE, "quantised weights cannot be trained by themselves", f"quantised: {settings.quantised}, no lora",
            "add a section lora, or take quantised away",
        )  # fmt: skip
    if settings.scratch and settings.lora is not None:
        raise value_error(WHERE, "an adapter on random weights learns nothing", "scratch and lora", "leave one out")
    if settings.parallel is not None:
        _check_parallel(settings, settings.parallel)
    if not settings.steps and not settings.epochs:
        raise value_error(WHERE, "steps or epochs must be positive", "0 and 0")
    return settings


def _check_parallel(settings: Settings, parallel: Parallel) -> None:
    if settings.batch % parallel.data:
        raise value_error(
            WHERE, "batch must be a multiple of parallel.data", f"batch {settings.batch}, data {parallel.data}"
        )
    if settings.quantised != "none":
        raise value_error(WHERE, "quantised weights lie on one device", f"quantised: {settings.quantised} and parallel",
                          "leave one out")  # fmt: skip
    if settings.task == "preference" and settings.lora is None:
        raise value_error(WHERE, "preferences on several devices need an adapter: the reference is the model without it",
                          "parallel and no lora", "add a section lora, or take parallel away")  # fmt: skip


def _parsed(name: str) -> Any:
    ending = os.path.splitext(name)[1].lower()
    if ending not in (".json", ".toml", ".yaml", ".yml"):
        raise value_error(WHERE, "the settings must be a .yaml, .toml or .json file", repr(name))
    with open(name, "rb") as file:
        data = file.read()
    try:
        if ending == ".json":
            return json.loads(data)
        if ending == ".toml":
            import tomllib

            return tomllib.loads(data.decode())
        try:
            import yaml
        except ImportError:
            raise ImportError(
                message(WHERE, "YAML needs a package", repr(name), "pip install pyyaml, or write TOML or JSON")
            ) from None
        return yaml.safe_load(data)
    except ImportError:
        raise
    except Exception as error:  # each parser has its own classes; all of them say line and column
        raise value_error(WHERE, f"{name!r} cannot be read", " ".join(str(error).split())) from None


def _resolved(settings: Settings, folder: str) -> Settings:
    def place(path: Any) -> Any:
        return os.path.join(folder, os.path.expanduser(path)) if path else path

    data = dataclasses.replace(
        settings.data, train=tuple(map(place, settings.data.train)), evaluate=tuple(map(place, settings.data.evaluate))
    )
    lora = settings.lora and dataclasses.replace(settings.lora, start=place(settings.lora.start))
    return dataclasses.replace(
        settings, model=place(settings.model), output=place(settings.output), tokenizer=place(settings.tokenizer),
        data=data, lora=lora,
    )  # fmt: skip


# ---- values by their declared types --------------------------------------------------------------


def _build(kind: Any, values: Any, path: str) -> Any:
    """A dataclass from a dictionary, every value checked."""
    if values is None:
        values = {}  # an empty section
    if not isinstance(values, dict):
        raise value_error(WHERE, f"{path or 'the file'} must be a section with keys", _shown(values))
    hints = typing.get_type_hints(kind)
    known = {entry.name: entry for entry in dataclasses.fields(kind)}
    made: dict[str, Any] = {}
    for key, value in values.items():
        full = f"{path}.{key}" if path else str(key)
        if key not in known:
            near = difflib.get_close_matches(str(key), known, 1)
            raise value_error(
                WHERE, f"there is no key {full}", _shown(value),
                f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}",
            )  # fmt: skip
        made[key] = _value(hints[key], value, full, known[key].metadata)
    return kind(**made)


def _value(kind: Any, value: Any, path: str, limits: Any) -> Any:
    if isinstance(kind, types.UnionType):
        if value is None:
            return None
        kind = next(option for option in typing.get_args(kind) if option is not type(None))
    if dataclasses.is_dataclass(kind):
        return _build(kind, value, path)
    if typing.get_origin(kind) is Literal:
        if value not in typing.get_args(kind):
            raise value_error(WHERE, f"{path} must be one of {', '.join(typing.get_args(kind))}", _shown(value))
        return value
    if typing.get_origin(kind) is tuple:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise value_error(WHERE, f"{path} must be a text or a list of texts", _shown(value))
        return tuple(items)
    return _plain(kind, value, path, limits)


def _plain(kind: type, value: Any, path: str, limits: Any) -> Any:
    if kind is float and isinstance(value, str):  # YAML takes 3e-4 for a text
        with contextlib.suppress(ValueError):
            value = float(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    words = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)) or value != value:
        raise value_error(WHERE, f"{path} must be {words[kind]}", _shown(value))
    for name, bad in (("minimum", lambda limit: value < limit), ("maximum", lambda limit: value > limit)):
        if name in limits and bad(limits[name]):
            raise value_error(
                WHERE, f"{path} must be {'at least' if name == 'minimum' else 'at most'} {limits[name]}", _shown(value)
            )
    return value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
