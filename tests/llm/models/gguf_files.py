"""Small GGUF files for tests, written with the package `gguf` from models of ours, by llama.cpp's conventions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gguf
import numpy as np

import proa
from proa.llm import CausalLM, Config, Experts, Latent, Rope

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
    "mlp.shared_gate.weight": "ffn_gate_inp_shexp.weight", "mlp.correction": "exp_probs_b.bias",
    "attention_norm.bias": "attn_norm.bias", "mlp_norm.bias": "ffn_norm.bias", "mlp.up.bias": "ffn_up.bias",
    "mlp.down.bias": "ffn_down.bias", "attention.output.bias": "attn_output.bias",
}  # fmt: skip
# DeepSeek's attention has names of its own; the last one is in newer files two tensors.
LATENT_PARTS = {
    "attention.query_norm.weight": "attn_q_a_norm.weight", "attention.query_down.weight": "attn_q_a.weight",
    "attention.down.weight": "attn_kv_a_mqa.weight", "attention.down_norm.weight": "attn_kv_a_norm.weight",
    "attention.up.weight": "attn_kv_b.weight",
}  # fmt: skip
SMALL: dict[str, Any] = {
    "vocab_size": 96, "hidden_size": 64, "layers": 3, "heads": 4, "kv_heads": 2, "head_dim": 16, "intermediate_size": 96,
    "max_positions": 128, "initializer_range": 0.15, "bos": (1,), "eos": (2,),
}  # fmt: skip
GEMMA: dict[str, Any] = {
    "norm_offset": 1.0, "placement": "around", "activation": "gelu_pytorch_tanh", "embedding_scale": 8.0, "tied": True,
}  # fmt: skip
SOME = {
    "count": 8,
    "per_token": 3,
    "intermediate_size": 32,
    "sparse": (False, True, True),
    "shared_intermediate_size": 64,
}
PLAIN = {key: value for key, value in SMALL.items() if key not in ("kv_heads", "head_dim")}
LEARNED: dict[str, Any] = {
    "norm": "layer", "gated": False, "positions": "learned", "activation": "gelu_new", "attention_bias": True,
    "output_bias": True, "mlp_bias": True,
}  # fmt: skip
SHARPER = float(np.float32(0.1 * 0.8))  # 0.1 times DeepSeek's mscale_all_dim, as the file stores it
YARN = Rope(10000.0, 8, True, scaling="yarn", factor=4.0, original_positions=32)
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
    "gpt2": Config("gpt2", **PLAIN, **LEARNED, tied=True),
    "gpt2 head": Config("gpt2", **PLAIN, **LEARNED),
    "ernie4_5": Config("ernie4_5", **SMALL, rope=Rope(500000.0, 16, interleaved=True), tied=True),
    "ernie4_5-moe": Config(
        "ernie4_5_moe", **SMALL, rope=Rope(500000.0, 16, interleaved=True), tied=True,
        experts=Experts(**SOME, norm_minimum=1e-12, correction=True),
    ),
    "deepseek2 older": Config(
        "deepseek_v2", **PLAIN, rope=Rope(10000.0, 8, interleaved=True),
        latent=Latent(24, 16, 8, 12, query_rank=20), experts=Experts(**SOME, normalised=False, scale=2.5),
    ),
    # llama.cpp knows by the number of layers that there is no rank of queries.
    "deepseek2 lite": Config(
        "deepseek_v2", **PLAIN | {"layers": 27}, rope=Rope(10000.0, 8, interleaved=True), latent=Latent(24, 16, 8, 12),
        experts=Experts(**SOME | {"sparse": (False, *(True,) * 26)}, normalised=False),
    ),
    "deepseek2": Config(
        "deepseek_v3", **PLAIN, rope=YARN, latent=Latent(24, 16, 8, 12, query_rank=20),
        attention_scale=24**-0.5 * (1 + SHARPER * float(np.log(4.0))) ** 2,
        experts=Experts(
            **SOME, scoring="sigmoid", scale=2.5, correction=True, groups=4, groups_kept=2, group_scoring="best two"
        ),
    ),
}  # fmt: skip


def spread_model(config: Config) -> CausalLM:
    """A model whose norms and biases are not those of the beginning."""
    proa.seed(0)
    model, random = CausalLM(config), np.random.default_rng(0)
    for tensor in model.parameters():
        if tensor.ndim == 1:
            tensor.set_value(tensor.numpy() + random.normal(0, 0.2, tensor.shape).astype("float32"))
    if model.config.positions == "learned":
        model.position_embedding.weight.set_value(random.normal(0, 0.15, (128, 64)).astype("float32"))
    return model.eval()


def write_gguf(model: CausalLM, name: str, path: Path, kind: Any = None, leave: str = "") -> None:
    """Writes a file; matrices as blocks of a `kind` where they fit, without the tensor `leave`."""
    config, architecture = model.config, name.split()[0]
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(config.layers)
    writer.add_context_length(config.max_positions)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.heads)
    if config.norm == "layer":
        writer.add_layer_norm_eps(config.norm_epsilon)
    else:
        writer.add_layer_norm_rms_eps(config.norm_epsilon)
    if config.latent:
        _add_latent(writer, config, older="older" in name)
    else:
        writer.add_head_count_kv(config.kv_heads)
        writer.add_key_length(config.head_dim)
        writer.add_value_length(config.head_dim)
    if config.rope:
        _add_rope(writer, config.rope)
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("no_vocab")
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    if config.windows:
        writer.add_sliding_window(8)
    if config.attention_cap:
        writer.add_attn_logit_softcapping(config.attention_cap)
        writer.add_final_logit_softcapping(config.logit_cap)
    if config.experts:
        _add_experts(writer, config.experts, architecture)
    for theirs, array in _tensors(model, name):
        array = np.ascontiguousarray(array)
        if theirs == leave:
            continue
        if kind is not None and array.ndim == 2 and array.shape[-1] % 32 == 0:
            writer.add_tensor(theirs, gguf.quants.quantize(array, kind), raw_dtype=kind)
        else:
            writer.add_tensor(theirs, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_rope(writer: gguf.GGUFWriter, rope: Rope) -> None:
    writer.add_rope_dimension_count(rope.dims)
    writer.add_rope_freq_base(rope.base)
    if rope.scaling == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_divisors(rope))
    if rope.scaling in ("linear", "yarn"):
        writer.add_rope_scaling_type(getattr(gguf.RopeScalingType, rope.scaling.upper()))
        writer.add_rope_scaling_factor(rope.factor)
    if rope.scaling == "yarn":
        writer.add_rope_scaling_orig_ctx_len(rope.original_positions)
        writer.add_rope_scaling_yarn_log_mul(SHARPER)


def _add_latent(writer: gguf.GGUFWriter, config: Config, older: bool) -> None:
    latent = config.latent
    assert latent is not None
    if latent.query_rank:
        writer.add_q_lora_rank(latent.query_rank)
    writer.add_kv_lora_rank(latent.kv_rank)
    writer.add_head_count_kv(config.heads if older else 1)
    writer.add_key_length(config.key_dim if older else latent.kv_rank + latent.rope_dims)
    writer.add_value_length(latent.value_dims if older else latent.kv_rank)
    if not older:
        writer.add_key_length_mla(config.key_dim)
        writer.add_value_length_mla(latent.value_dims)


def _add_experts(writer: gguf.GGUFWriter, experts: Experts, architecture: str) -> None:
    writer.add_expert_count(experts.count)
    writer.add_expert_used_count(experts.per_token)
    writer.add_expert_feed_forward_length(experts.intermediate_size)
    if architecture in ("deepseek2", "ernie4_5-moe"):
        writer.add_leading_dense_block_count(experts.sparse.index(True))
        writer.add_expert_shared_count(experts.shared_intermediate_size // experts.intermediate_size)
    else:
        writer.add_expert_shared_feed_forward_length(experts.shared_intermediate_size)
    if architecture == "ernie4_5-moe":
        writer.add_interleave_moe_layer_step(1)
        writer.add_expert_shared_feed_forward_length(experts.shared_intermediate_size)
    if architecture == "deepseek2":
        kinds = {"softmax": gguf.ExpertGatingFuncType.SOFTMAX, "sigmoid": gguf.ExpertGatingFuncType.SIGMOID}
        writer.add_expert_weights_scale(experts.scale)
        writer.add_expert_weights_norm(experts.normalised)
        writer.add_expert_gating_func(kinds[experts.scoring])
        if experts.groups > 1:
            writer.add_expert_group_count(experts.groups)
            writer.add_expert_group_used_count(experts.groups_kept)


def _tensors(model: CausalLM, name: str) -> Iterator[tuple[str, np.ndarray]]:
    config, architecture = model.config, name.split()[0]
    state = {ours: tensor.numpy() for ours, tensor in model.state_dict().items()}
    for ours, numbers in state.items():
        if architecture == "gpt2" and ".attention.query." in ours:
            three = [state[ours.replace("query", part)] for part in ("query", "key", "value")]
            yield f"blk.{ours.split('.')[1]}.attn_qkv.{ours.rsplit('.')[-1]}", np.concatenate(three, -1).T
        elif architecture == "gpt2" and (".attention.key." in ours or ".attention.value." in ours):
            continue
        elif config.latent and "older" not in name and ours.endswith("attention.up.weight"):
            heads = numbers.T.reshape(config.heads, -1, config.latent.kv_rank)
            keys, values = np.split(heads, [config.latent.plain_dims], 1)
            yield f"blk.{ours.split('.')[1]}.attn_k_b.weight", keys.transpose(0, 2, 1)
            yield f"blk.{ours.split('.')[1]}.attn_v_b.weight", values
        else:
            yield _name(ours, config), _array(ours, numbers, config, architecture)


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


def _name(ours: str, config: Config) -> str:
    ends = {
        "embedding.weight": "token_embd.weight",
        "position_embedding.weight": "position_embd.weight",
        "norm.weight": "output_norm.weight",
        "norm.bias": "output_norm.bias",
        "head.weight": "output.weight",
    }
    if ours in ends:
        return ends[ours]
    _, number, part = ours.split(".", 2)
    if config.latent and part in LATENT_PARTS:
        return f"blk.{number}.{LATENT_PARTS[part]}"
    if config.latent and config.latent.query_rank and part == "attention.query.weight":
        return f"blk.{number}.attn_q_b.weight"
    return f"blk.{number}.{PARTS[part]}"


def _array(ours: str, numbers: np.ndarray, config: Config, architecture: str) -> np.ndarray:
    if ours.endswith("norm.weight"):
        return numbers + np.float32(config.norm_offset)
    if ours.endswith("embedding.weight") or numbers.ndim == 1:
        return numbers
    numbers = np.swapaxes(numbers, -1, -2)
    heads = config.heads if ".query." in ours else config.kv_heads if ".key." in ours else 0
    if architecture == "llama" and heads:
        return numbers.reshape(heads, 2, -1, numbers.shape[1]).swapaxes(1, 2).reshape(numbers.shape)
    return numbers[0] if ours.endswith("shared_gate.weight") else numbers
