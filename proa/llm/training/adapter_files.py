"""Adapters on disk, in the form of the package peft: `adapter_config.json` beside `adapter_model.safetensors`."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import message, value_error
from ..files import read_safetensors, write_safetensors
from .settings import Lora

if TYPE_CHECKING:
    from .lora import Adapter

_CONFIG, _WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
_PREFIX = "base_model.model."
_KEY = re.compile(r"^base_model\.model\.(?P<name>.+)\.lora_(?P<part>[AB])\.weight$")
# What peft can do beyond two factors a projection; an adapter that uses it would be another one without it.
_REFUSED = {
    "use_dora": False, "modules_to_save": None, "rank_pattern": {}, "alpha_pattern": {}, "lora_bias": False,
    "layer_replication": None, "trainable_token_indices": None, "use_qalora": False, "target_parameters": None,
    "alora_invocation_tokens": None,
}  # fmt: skip


def write_adapter(adapter: Adapter, folder: Any, base: str) -> None:
    """A folder that appears whole; one that is there already is replaced if it holds an adapter."""
    target = Path(folder)
    if target.exists() and any(target.iterdir()) and not (target / _CONFIG).is_file():
        raise FileExistsError(message("Adapter.save", "the folder holds something else", repr(str(folder))))
    settings = adapter.settings
    described = {
        "peft_type": "LORA", "task_type": "CAUSAL_LM", "base_model_name_or_path": base, "r": settings.rank,
        "lora_alpha": settings.alpha, "lora_dropout": settings.dropout, "use_rslora": settings.rank_stabilised,
        "target_modules": sorted({_end(p.theirs, settings.targets) for p in adapter.places}), "bias": "none",
        "fan_in_fan_out": False, "init_lora_weights": True, "inference_mode": True, "modules_to_save": None,
    }  # fmt: skip
    tensors: dict[str, np.ndarray] = {}
    for place in adapter.places:
        for part, factor in (("A", place.factors.down), ("B", place.factors.up)):
            tensors[f"{_PREFIX}{place.theirs}.lora_{part}.weight"] = np.ascontiguousarray(factor.numpy().T)
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        write_safetensors(beside, tensors, sum(t.nbytes for t in tensors.values()), prefix=_WEIGHTS.split(".")[0])
        (beside / _CONFIG).write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")
        beside.chmod(0o755)
        replace_folder(beside, target)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise


def replace_folder(new: Path, target: Path) -> None:
    """Moves a finished folder to its place; an old one goes when the new one is there."""
    old = None
    if target.exists():
        old = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent)) / "old"
        target.rename(old)
    os.replace(new, target)
    if old is not None:
        shutil.rmtree(old.parent, ignore_errors=True)


def _end(name: str, targets: tuple[str, ...]) -> str:
    """How peft is to find the projection: by the target that chose it."""
    return next((t for t in targets if name == t or name.endswith(f".{t}")), name.rsplit(".", 1)[-1])


def read_adapter(model: Any, folder: Any) -> Adapter:
    from .lora import Adapter

    path = Path(folder)
    settings = _settings(path)
    weights = path / _WEIGHTS
    if not weights.is_file():
        raise FileNotFoundError(message("Adapter.load", f"an adapter's folder has {_WEIGHTS}", repr(str(folder))))
    factors: dict[str, dict[str, np.ndarray]] = {}
    for key, array in read_safetensors(weights).items():
        found = _KEY.match(key)
        if found is None:
            raise value_error("Adapter.load", "the file holds a tensor that is no factor of a projection", repr(key))
        factors.setdefault(found["name"], {})[found["part"]] = np.asarray(array)
    adapter = Adapter.attach(model, Lora(**{**settings, "targets": tuple(factors)}))
    try:
        for place in adapter.places:
            _fill(place, factors[place.theirs], settings["rank"])
    except BaseException:
        adapter.detach()
        raise
    adapter.settings = Lora(**settings)
    return adapter


def _fill(place: Any, found: dict[str, np.ndarray], rank: int) -> None:
    wanted = {"A": (rank, place.projection.in_features), "B": (place.projection.out_features, rank)}
    for part, shape in wanted.items():
        if part not in found or found[part].shape != shape:
            raise value_error(
                "Adapter.load", f"lora_{part} of {place.theirs} must be {list(shape)}",
                str(list(found[part].shape)) if part in found else "nothing", "see whether it belongs to this model",
            )  # fmt: skip
    place.factors.down.set_value(found["A"].T.astype(np.float32))
    place.factors.up.set_value(found["B"].T.astype(np.float32))


def _settings(folder: Path) -> dict[str, Any]:
    path = folder / _CONFIG
    if not path.is_file():
        raise FileNotFoundError(message("Adapter.load", f"an adapter's folder has {_CONFIG}", repr(str(folder))))
    try:
        described = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(described, dict):
            raise ValueError("it holds no table")
    except ValueError as error:
        raise value_error("Adapter.load", f"{str(path)!r} is not JSON: {error}") from None
    if described.get("peft_type") != "LORA" or described.get("bias", "none") != "none":
        shown = f"peft_type: {described.get('peft_type')!r}, bias: {described.get('bias')!r}"
        raise value_error("Adapter.load", "the adapter must be LoRA without biases", shown)
    for key, plain in _REFUSED.items():
        if described.get(key) not in (plain, None, False):
            raise value_error("Adapter.load", f"{key} is not supported", f"{key}: {described[key]!r}")
    rank, alpha = described.get("r"), described.get("lora_alpha")
    if type(rank) is not int or rank < 1 or not isinstance(alpha, (int, float)):
        raise value_error("Adapter.load", "r and lora_alpha must be numbers", f"r: {rank!r}, lora_alpha: {alpha!r}")
    targets = described.get("target_modules")
    return {
        "rank": rank, "alpha": float(alpha), "dropout": float(described.get("lora_dropout") or 0.0),
        "targets": tuple(targets) if isinstance(targets, list) else Lora.targets,
        "rank_stabilised": bool(described.get("use_rslora")),
    }  # fmt: skip
