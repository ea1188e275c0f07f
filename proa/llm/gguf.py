"""Models in GGUF files: the metadata as a Config, the tensors under the names and in the order of our parameters.

llama.cpp keeps a few things otherwise than everybody else, and all of it is undone here: rows of Llama's queries and keys
are permuted (neighbours are turned there), Gemma's norms have their one added, the frequencies of Llama 3 are a tensor.
`GGUFModel.tensors` dequantises when asked; `rows` says how rows of a quantised weight must be taken to be those of ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..core.errors import value_error
from .config import Config, Experts, Rope
from .families import Family, family_of
from .files import GGUF
from .layers.position import frequencies
from .naming import Names, Rule, biased, product

# Architecture of the file: our family.
ARCHITECTURES = {
    "llama": "llama", "qwen2": "qwen2", "qwen2moe": "qwen2_moe", "qwen3": "qwen3", "qwen3moe": "qwen3_moe",
    "gemma2": "gemma2", "gemma3": "gemma3_text",
}  # fmt: skip
_PERMUTED = ("llama",)
_NORMS = (
    ("attention_norm", "attn_norm"),
    ("attention_after_norm", "post_attention_norm"),
    ("mlp_norm", "ffn_norm"),
    ("mlp_after_norm", "post_ffw_norm"),
    ("attention.query_norm", "attn_q_norm"),
    ("attention.key_norm", "attn_k_norm"),
)
_PRODUCTS = (
    ("attention.query", "attn_q"),
    ("attention.key", "attn_k"),
    ("attention.value", "attn_v"),
    ("attention.output", "attn_output"),
    ("mlp.gate", "ffn_gate"),
    ("mlp.up", "ffn_up"),
    ("mlp.down", "ffn_down"),
    ("mlp.shared.gate", "ffn_gate_shexp"),
    ("mlp.shared.up", "ffn_up_shexp"),
    ("mlp.shared.down", "ffn_down_shexp"),
)
_STACKED = (("gate", "ffn_gate_exps"), ("up", "ffn_up_exps"), ("down", "ffn_down_exps"), ("router", "ffn_gate_inp"))


class GGUFModel(Mapping[str, np.ndarray]):
    """A model's file: `family`, `config`, `names`; and its tensors by their names there, as floats in our order."""

    def __init__(self, path: Any) -> None:
        self.file = GGUF(path)
        architecture = self.file.architecture
        if architecture not in ARCHITECTURES:
            raise value_error("load", f"the architecture is one of {sorted(ARCHITECTURES)}", repr(architecture))
        self.family: Family = family_of(ARCHITECTURES[architecture])
        self.config = _config(self.file)
        self.names = _names()

    def rows(self, name: str) -> np.ndarray | None:
        """The order in which rows of a tensor of the file are those of ours; None: they are."""
        heads = {"attn_q": self.config.heads, "attn_k": self.config.kv_heads}.get(
            name.split(".")[-2] if "." in name else ""
        )
        if heads is None or self.file.architecture not in _PERMUTED:
            return None
        return np.arange(heads * self.config.head_dim).reshape(heads, -1, 2).swapaxes(1, 2).reshape(-1)

    def __getitem__(self, name: str) -> np.ndarray:
        found = self.file.tensors[name].dequantised()
        rows = self.rows(name)
        if rows is not None:
            return found[rows]
        if self.config.norm_offset and name.endswith("norm.weight"):
            return found - np.float32(self.config.norm_offset)
        if name.endswith("ffn_gate_inp_shexp.weight"):
            return found.reshape(1, -1)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.file.tensors)

    def __len__(self) -> int:
        return len(self.file.tensors)

    def __contains__(self, name: object) -> bool:
        return name in self.file.tensors


def _names() -> Names:
    rules = [
        Rule("embedding.weight", "token_embd.weight"),
        Rule("norm.weight", "output_norm.weight"),
        product("head", "output"),
        product("layers.{}.mlp.shared_gate", "blk.{}.ffn_gate_inp_shexp"),
        *(Rule(f"layers.{{}}.{ours}.weight", f"blk.{{}}.{theirs}.weight") for ours, theirs in _NORMS),
        *(rule for ours, theirs in _PRODUCTS for rule in biased(f"layers.{{}}.{ours}", f"blk.{{}}.{theirs}")),
        *(Rule(f"layers.{{}}.mlp.{ours}", f"blk.{{}}.{theirs}.weight", transposed=True) for ours, theirs in _STACKED),
    ]
    return Names(tuple(rules), prefix="", otherwise=(), left=r"^rope_freqs\.weight$")


def _number(file: GGUF, key: str) -> int:
    value = file.get(key)
    if type(value) is not int:
        raise value_error("load", f"the metadata {file.architecture}{key} must be a whole number", repr(value))
    return value


def _config(file: GGUF) -> Config:
    layers, heads, size = (
        _number(file, ".block_count"),
        _number(file, ".attention.head_count"),
        _number(file, ".embedding_length"),
    )
    head_dim = int(file.get(".attention.key_length") or size // heads)
    if "token_embd.weight" not in file.tensors:
        raise value_error("load", "the file has no token_embd.weight", f"{len(file.tensors)} tensors")
    common: dict[str, Any] = {
        "vocab_size": file.tensors["token_embd.weight"].shape[0], "hidden_size": size, "layers": layers, "heads": heads,
        "kv_heads": int(file.get(".attention.head_count_kv") or heads), "head_dim": head_dim,
        "intermediate_size": int(file.get(".feed_forward_length") or 0) or size,
        "max_positions": int(file.get(".context_length") or 2048), "rope": _rope(file, head_dim),
        "norm_epsilon": float(file.get(".attention.layer_norm_rms_epsilon") or 1e-6),
        "tied": "output.weight" not in file.tensors,
        "attention_bias": "blk.0.attn_q.bias" in file.tensors, "output_bias": "blk.0.attn_output.bias" in file.tensors,
        "head_norms": "blk.0.attn_q_norm.weight" in file.tensors, "experts": _experts(file, layers), **_tokens(file),
    }  # fmt: skip
    return Config(ARCHITECTURES[file.architecture], **(common | _gemma(file, size, heads, head_dim, layers)))


def _tokens(file: GGUF) -> dict[str, Any]:
    def one(name: str) -> tuple[int, ...]:
        value = file.get(f"tokenizer.ggml.{name}_token_id")
        return () if value is None else (int(value),)

    # The end of a turn ends an answer, too, where the file names it.
    ends = tuple(dict.fromkeys((*one("eos"), *one("eot"))))
    return {"bos": one("bos"), "eos": ends, "pad": next(iter(one("padding")), None)}


def _rope(file: GGUF, head_dim: int) -> Rope:
    base, dims = float(file.get(".rope.freq_base") or 10000.0), int(file.get(".rope.dimension_count") or head_dim)
    kind = str(file.get(".rope.scaling.type") or "none")
    factor = float(file.get(".rope.scaling.factor") or 1.0)
    original = int(file.get(".rope.scaling.original_context_length") or file.get(".context_length") or 2048)
    if "rope_freqs.weight" in file.tensors:
        return _llama3(file.tensors["rope_freqs.weight"].dequantised(), base, dims)
    if kind in ("none", "linear"):
        return (
            Rope(base, dims) if kind == "none" or factor == 1.0 else Rope(base, dims, scaling="linear", factor=factor)
        )
    if kind == "yarn":
        return Rope(
            base,
            dims,
            scaling="yarn",
            factor=factor,
            original_positions=original,
            magnitude=1.0 + 0.1 * float(np.log(factor)),
        )
    raise value_error("load", "rope.scaling.type is none, linear or yarn", repr(kind))


def _llama3(divisors: np.ndarray, base: float, dims: int) -> Rope:
    """The file has what every frequency is divided by; these are the settings that Meta's models have."""
    plain = frequencies(Rope(base, dims))
    for original in (8192, 4096, 16384):
        rope = Rope(base, dims, scaling="llama3", factor=float(divisors.max()), original_positions=original)
        if np.allclose(plain / frequencies(rope), divisors, rtol=1e-3):
            return rope
    raise value_error("load", "rope_freqs.weight is not the scaling of Llama 3", f"divisors up to {divisors.max():g}")


def _experts(file: GGUF, layers: int) -> Experts | None:
    count = int(file.get(".expert_count") or 0)
    if not count:
        return None
    sparse = tuple(f"blk.{number}.ffn_gate_exps.weight" in file.tensors for number in range(layers))
    if not any(sparse):
        raise value_error("load", "the file names experts and has no ffn_gate_exps", f"{count} experts")
    inner = file.tensors[f"blk.{sparse.index(True)}.ffn_gate_exps.weight"].shape[1]
    shared = file.tensors.get(f"blk.{sparse.index(True)}.ffn_gate_shexp.weight")
    return Experts(
        count, _number(file, ".expert_used_count"), inner, sparse, normalised=file.architecture == "qwen3moe",
        shared_intermediate_size=0 if shared is None else shared.shape[0], shared_gate=shared is not None,
    )  # fmt: skip


def _gemma(file: GGUF, size: int, heads: int, head_dim: int, layers: int) -> dict[str, Any]:
    """What the files of Gemma leave to whoever runs them."""
    if not file.architecture.startswith("gemma"):
        return {}
    newer = file.architecture == "gemma3"
    window, pattern = file.get(".attention.sliding_window"), 6 if newer else 2
    slides = [(number + 1) % pattern != 0 for number in range(layers)]
    largest = layers == (62 if newer else 46)  # of 27 billion parameters, which scale by another size
    found: dict[str, Any] = {
        "norm_offset": 1.0, "placement": "around", "activation": "gelu_pytorch_tanh", "embedding_scale": size**0.5,
        "attention_scale": (size / heads if largest else head_dim) ** -0.5,
        "attention_cap": float(file.get(".attn_logit_softcapping") or 0.0),
        "logit_cap": float(file.get(".final_logit_softcapping") or 0.0),
        "windows": tuple(int(window) if sliding else None for sliding in slides) if window else (),
    }  # fmt: skip
    return found | ({"local_rope": Rope(10000.0, head_dim)} if newer else {})
