"""What the metadata of a GGUF file say about its model, as a Config.

Much is not said there: what an architecture always has, llama.cpp knows. It stands here, a function for each that differs.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.errors import value_error
from .config import Config, Experts, Latent, Rope
from .files import GGUF
from .layers.position import frequencies

# Architecture of the file: our family.
ARCHITECTURES = {
    "llama": "llama", "qwen2": "qwen2", "qwen2moe": "qwen2_moe", "qwen3": "qwen3", "qwen3moe": "qwen3_moe",
    "gemma2": "gemma2", "gemma3": "gemma3_text", "gpt2": "gpt2", "ernie4_5": "ernie4_5",
    "ernie4_5-moe": "ernie4_5_moe", "deepseek2": "deepseek_v2",
}  # fmt: skip
_SOFTMAX, _SIGMOID = 1, 2  # expert_gating_func


def _number(file: GGUF, key: str) -> int:
    value = file.get(key)
    if type(value) is not int:
        raise value_error("load", f"the metadata {file.architecture}{key} must be a whole number", repr(value))
    return value


def read_config(file: GGUF) -> Config:
    """The configuration that a file describes."""
    layers, heads, size = (
        _number(file, ".block_count"),
        _number(file, ".attention.head_count"),
        _number(file, ".embedding_length"),
    )
    latent = _latent(file)
    head_dim = size // heads if latent else int(file.get(".attention.key_length") or size // heads)
    turned = latent.rope_dims if latent else head_dim
    if "token_embd.weight" not in file.tensors:
        raise value_error("load", "the file has no token_embd.weight", f"{len(file.tensors)} tensors")
    common: dict[str, Any] = {
        "vocab_size": file.tensors["token_embd.weight"].shape[0], "hidden_size": size, "layers": layers, "heads": heads,
        "kv_heads": heads if latent else int(file.get(".attention.head_count_kv") or heads), "head_dim": head_dim,
        "intermediate_size": int(file.get(".feed_forward_length") or 0) or size,
        "max_positions": int(file.get(".context_length") or 2048), "rope": _rope(file, turned),
        "norm_epsilon": float(file.get(".attention.layer_norm_rms_epsilon") or 1e-6),
        "tied": "output.weight" not in file.tensors,
        "attention_bias": "blk.0.attn_q.bias" in file.tensors, "output_bias": "blk.0.attn_output.bias" in file.tensors,
        "head_norms": "blk.0.attn_q_norm.weight" in file.tensors, "experts": _experts(file, layers), "latent": latent,
        "mlp_bias": "blk.0.ffn_up.bias" in file.tensors, **_tokens(file),
    }  # fmt: skip
    own = {"gpt2": _gpt2, "ernie4_5": _ernie, "ernie4_5-moe": _ernie, "deepseek2": _deepseek}.get(file.architecture)
    changes = own(file, common) if own else _gemma(file, size, heads, head_dim, layers)
    return Config(family_name(file), **(common | changes))


def family_name(file: GGUF) -> str:
    """Our name of the file's family. DeepSeek's second and third version share an architecture there."""
    if file.architecture not in ARCHITECTURES:
        raise value_error("load", f"the architecture is one of {sorted(ARCHITECTURES)}", repr(file.architecture))
    newer = file.architecture == "deepseek2" and file.get(".expert_gating_func") == _SIGMOID
    return "deepseek_v3" if newer else ARCHITECTURES[file.architecture]


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
    first = f"blk.{sparse.index(True)}"
    inner = file.tensors[f"{first}.ffn_gate_exps.weight"].shape[1]
    shared = file.tensors.get(f"{first}.ffn_gate_shexp.weight")
    return Experts(
        count, _number(file, ".expert_used_count"), inner, sparse,
        shared_intermediate_size=0 if shared is None else shared.shape[0],
        shared_gate=f"{first}.ffn_gate_inp_shexp.weight" in file.tensors,
        correction=f"{first}.exp_probs_b.bias" in file.tensors, **_choice_of_experts(file),
    )  # fmt: skip


def _choice_of_experts(file: GGUF) -> dict[str, Any]:
    """How a router's products become weights: by the architecture, and for DeepSeek by the metadata."""
    if file.architecture != "deepseek2":
        # The least sum to divide by stands in ERNIE's config.json alone, the same in all of them.
        least = {"norm_minimum": 1e-12} if file.architecture == "ernie4_5-moe" else {}
        return {"normalised": file.architecture in ("qwen3moe", "ernie4_5-moe"), **least}
    function = int(file.get(".expert_gating_func") or _SOFTMAX)
    if function not in (_SOFTMAX, _SIGMOID):
        raise value_error("load", "expert_gating_func is 1 (softmax) or 2 (sigmoid)", repr(function))
    newer = function == _SIGMOID
    return {
        "scoring": "sigmoid" if newer else "softmax", "normalised": bool(file.get(".expert_weights_norm")),
        "scale": float(file.get(".expert_weights_scale") or 1.0), "groups": int(file.get(".expert_group_count") or 1),
        "groups_kept": int(file.get(".expert_group_used_count") or 1),
        "group_scoring": "best two" if newer else "maximum",
    }  # fmt: skip


def _latent(file: GGUF) -> Latent | None:
    """DeepSeek's short vectors. Files since 2025 say lengths of what is cached as key_length, and of heads behind `_mla`."""
    if file.architecture != "deepseek2":
        return None
    newer = file.get(".attention.key_length_mla") is not None
    key, value = (_number(file, f".attention.{part}_length{'_mla' if newer else ''}") for part in ("key", "value"))
    turned = _number(file, ".rope.dimension_count")
    if not 0 < turned < key:
        raise value_error("load", "rope.dimension_count must be less than the length of a key", f"{turned} of {key}")
    rank = _number(file, ".attention.kv_lora_rank")
    return Latent(rank, key - turned, turned, value, query_rank=int(file.get(".attention.q_lora_rank") or 0))


def _deepseek(file: GGUF, common: dict[str, Any]) -> dict[str, Any]:
    """Neighbours are turned; YaRN makes scores sharper and leaves cosine and sine as they are."""
    rope, latent = common["rope"], common["latent"]
    stretched = rope.scaling == "yarn"
    sharper = 1.0 + float(file.get(".rope.scaling.yarn_log_multiplier") or 0.0) * math.log(rope.factor)
    return {
        "rope": replace(rope, interleaved=True, magnitude=1.0),
        "attention_scale": (latent.plain_dims + latent.rope_dims) ** -0.5 * (sharper**2 if stretched else 1.0),
    }  # fmt: skip


def _ernie(file: GGUF, common: dict[str, Any]) -> dict[str, Any]:
    return {"rope": replace(common["rope"], interleaved=True)}


def _gpt2(file: GGUF, common: dict[str, Any]) -> dict[str, Any]:
    return {
        "norm": "layer", "norm_epsilon": float(file.get(".attention.layer_norm_epsilon") or 1e-5), "gated": False,
        "positions": "learned", "rope": None, "activation": "gelu_new",
        "attention_bias": "blk.0.attn_qkv.bias" in file.tensors,
    }  # fmt: skip


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
