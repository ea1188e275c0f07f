"""Small GGUF files for tests, written with the package `gguf` from models of ours, by llama.cpp's conventions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np

import proa
from proa.llm import CausalLM, Config, Experts, Rope

PARTS = {
    "attention_norm.weight": "attn_norm.weight", "attention_after_norm.weight": "post_attention_norm.weight",
    "mlp_norm.weight": "ffn_norm.weight", "mlp_after_norm.weight": "post_ffw_norm.weight",
    "attention.query_norm.weight": "attn_q_norm.weight", "attention.key_norm.weight": "attn_k_norm.weight",
    "attention.query.weight": "attn_q.weight", "attention.key.weight": "attn_k.weight",
    "attention.value.weight": "attn_v.weight", "attention.output.weight": "attn_output.weight",
    "attention.query.bias": "attn_q.bias", "attention.key.bias": "attn_k.bias", "attention.value.bias": "attn_v.bias",
    "mlp.gate.weight": "ffn_gate.weight", "mlp.up.weight": "ffn_up.weight", "mlp.down.weight": "ffn_down.weight",
    "mlp.gate": "ffn_gate_exps.weight", "mlp.up": "ffn_up_exps.weight", "mlp.down": "ffn_down_exps.weight",
    "mlp.router": "ffn_gate_inp.weight", "mlp.shared.gate.weight": "ffn_gate_shexp.weight",
    "mlp.shared.up.weight": "ffn_up_shexp.weight", "mlp.shared.down.weight": "ffn_down_shexp.weight",
    "mlp.shared_gate.weight": "ffn_gate_inp_shexp.weight",
}  # fmt: skip
SMALL: dict[str, Any] = {
    "vocab_size": 96, "hidden_size": 64, "layers": 3, "heads": 4, "kv_heads": 2, "head_dim": 16, "intermediate_size": 96,
    "max_positions": 128, "initializer_range": 0.15, "bos": (1,), "eos": (2,),
}  # fmt: skip
GEMMA: dict[str, Any] = {
    "norm_offset": 1.0, "placement": "around", "activation": "gelu_pytorch_tanh", "embedding_scale": 8.0, "tied": True,
}  # fmt: skip
EXPERTS = {"count": 4, "per_token": 2, "intermediate_size": 32, "sparse": (True,) * 3}
ROPE = Rope(10000.0, 16)
# Architecture: the model that the file holds.
MODELS = {
    "llama": Config("llama", **SMALL, rope=ROPE),
    "llama 3": Config(
        "llama", **SMALL, rope=Rope(500000.0, 16, scaling="llama3", factor=8.0, original_positions=8192), tied=True
    ),
    "llama linear": Config("llama", **SMALL, rope=Rope(10000.0, 16, scaling="linear", factor=4.0)),
    "qwen2": Config("qwen2", **SMALL, rope=Rope(1e6, 16), attention_bias=True),
    "qwen2moe": Config(
        "qwen2_moe", **SMALL, rope=ROPE, attention_bias=True,
        experts=Experts(**EXPERTS, normalised=False, shared_intermediate_size=64, shared_gate=True),
    ),
    "qwen3": Config("qwen3", **SMALL, rope=ROPE, head_norms=True),
    "qwen3moe": Config("qwen3_moe", **SMALL, rope=ROPE, head_norms=True, experts=Experts(**EXPERTS)),
    "gemma2": Config(
        "gemma2", **SMALL, **GEMMA, rope=ROPE, attention_cap=50.0, logit_cap=30.0, windows=(8, None, 8)
    ),
    "gemma3": Config(
        "gemma3_text", **SMALL | {"layers": 6}, **GEMMA, rope=Rope(1e6, 16), local_rope=ROPE, head_norms=True,
        windows=(8, 8, 8, 8, 8, None),
    ),
}  # fmt: skip


def spread_model(config: Config) -> CausalLM:
    """A model whose norms and biases are not those of the beginning."""
    proa.seed(0)
    model, random = CausalLM(config), np.random.default_rng(0)
    for tensor in model.parameters():
        if tensor.ndim == 1:
            tensor.set_value(tensor.numpy() + random.normal(0, 0.2, tensor.shape).astype("float32"))
    return model.eval()


def write_gguf(model: CausalLM, name: str, path: Path) -> None:
    config, architecture = model.config, name.split()[0]
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(config.layers)
    writer.add_context_length(config.max_positions)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.heads)
    writer.add_head_count_kv(config.kv_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_layer_norm_rms_eps(config.norm_epsilon)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(config.rope.base)
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("no_vocab")
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    if config.rope.scaling == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(config.rope.factor)
    if config.rope.scaling == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_divisors(config.rope))
    if config.windows:
        writer.add_sliding_window(8)
    if config.attention_cap:
        writer.add_attn_logit_softcapping(config.attention_cap)
        writer.add_final_logit_softcapping(config.logit_cap)
    if config.experts:
        writer.add_expert_count(config.experts.count)
        writer.add_expert_used_count(config.experts.per_token)
        writer.add_expert_feed_forward_length(config.experts.intermediate_size)
        writer.add_expert_shared_feed_forward_length(config.experts.shared_intermediate_size)
    for ours, tensor in model.state_dict().items():
        writer.add_tensor(_name(ours), np.ascontiguousarray(_array(ours, tensor.numpy(), config, architecture)))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def llama3_divisors(rope: Rope) -> np.ndarray:
    """As Meta's code and llama.cpp's converter say it: by wavelengths, one after the other."""
    found = []
    for number in range(rope.dims // 2):
        wavelength = 2 * np.pi * rope.base ** (2 * number / rope.dims)
        low, high = rope.original_positions / rope.low_frequency, rope.original_positions / rope.high_frequency
        if wavelength < high:
            found.append(1.0)
        elif wavelength > low:
            found.append(rope.factor)
        else:
            smooth = (rope.original_positions / wavelength - rope.low_frequency) / (
                rope.high_frequency - rope.low_frequency
            )
            found.append(1 / ((1 - smooth) / rope.factor + smooth))
    return np.array(found, np.float32)


def _name(ours: str) -> str:
    ends = {
        "embedding.weight": "token_embd.weight",
        "norm.weight": "output_norm.weight",
        "head.weight": "output.weight",
    }
    if ours in ends:
        return ends[ours]
    _, number, part = ours.split(".", 2)
    return f"blk.{number}.{PARTS[part]}"


def _array(ours: str, numbers: np.ndarray, config: Config, architecture: str) -> np.ndarray:
    if ours.endswith("norm.weight"):
        return numbers + np.float32(config.norm_offset)
    if ours == "embedding.weight" or numbers.ndim == 1:
        return numbers
    numbers = np.swapaxes(numbers, -1, -2)
    heads = config.heads if ".query." in ours else config.kv_heads if ".key." in ours else 0
    if architecture == "llama" and heads:
        return numbers.reshape(heads, 2, -1, numbers.shape[1]).swapaxes(1, 2).reshape(numbers.shape)
    return numbers[0] if ours.endswith("shared_gate.weight") else numbers
