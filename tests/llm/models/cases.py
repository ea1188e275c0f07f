"""Small random models of every family, as settings of `transformers`: what `families.py` compares.

A row is a name, the class of `transformers` that makes the model, the class of its configuration, and the settings that
differ from a common small size. The rows are chosen so that every feature occurs: scalings, windows, caps, groups …
"""

from __future__ import annotations

from typing import Any

SMALL: dict[str, Any] = {
    "vocab_size": 160, "hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 96,
    "max_position_embeddings": 128, "initializer_range": 0.12,
}  # fmt: skip
GROUPED = {**SMALL, "num_key_value_heads": 2, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": None}
EXPERTS = {"num_experts_per_tok": 2, "moe_intermediate_size": 48}
LATENT = {
    **SMALL, "num_key_value_heads": 4, "kv_lora_rank": 24, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 12,
    "n_routed_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 40, "first_k_dense_replace": 1,
    "n_shared_experts": 2, "n_group": 4, "topk_group": 2, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": None,
}  # fmt: skip
LLAMA3 = {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "rope_theta": 500.0,
    "original_max_position_embeddings": 32,
}  # fmt: skip
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32, "rope_theta": 10000.0}
MSCALE = {**YARN, "mscale": 1.0, "mscale_all_dim": 0.8}
WINDOWS = ["sliding_attention", "full_attention", "sliding_attention"]
GEMMA = {"head_dim": 24, "query_pre_attn_scalar": 20, "sliding_window": 8, "layer_types": WINDOWS}
ENCODER = {**SMALL, "pad_token_id": 1, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}

DECODERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "llama 2": ("LlamaForCausalLM", "LlamaConfig", {**GROUPED}),
    "llama 3": ("LlamaForCausalLM", "LlamaConfig", {**GROUPED, "rope_parameters": LLAMA3, "tie_word_embeddings": True}),
    "llama linear, biases": (
        "LlamaForCausalLM", "LlamaConfig",
        {**GROUPED, "rope_parameters": {"rope_type": "linear", "factor": 4.0, "rope_theta": 10000.0}, "attention_bias": True,
         "mlp_bias": True},
    ),
    "llama dynamic": (
        "LlamaForCausalLM", "LlamaConfig",
        {**GROUPED, "max_position_embeddings": 16,
         "rope_parameters": {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 1e4}},
    ),
    "mistral": ("MistralForCausalLM", "MistralConfig", {**GROUPED, "sliding_window": 8, "head_dim": 24}),
    "qwen 2": ("Qwen2ForCausalLM", "Qwen2Config", {**GROUPED, "rope_parameters": YARN, "tie_word_embeddings": True}),
    "qwen 2 windows": (
        "Qwen2ForCausalLM", "Qwen2Config",
        {**GROUPED, "use_sliding_window": True, "sliding_window": 8, "max_window_layers": 1},
    ),
    "qwen 2 experts": (
        "Qwen2MoeForCausalLM", "Qwen2MoeConfig",
        {**GROUPED, **EXPERTS, "num_experts": 6, "shared_expert_intermediate_size": 40, "decoder_sparse_step": 2},
    ),
    "qwen 3": ("Qwen3ForCausalLM", "Qwen3Config", {**GROUPED, "head_dim": 24}),
    "qwen 3 experts": (
        "Qwen3MoeForCausalLM", "Qwen3MoeConfig",
        {**GROUPED, **EXPERTS, "num_experts": 8, "head_dim": 16, "norm_topk_prob": True, "mlp_only_layers": [1]},
    ),
    "gemma 2": (
        "Gemma2ForCausalLM", "Gemma2Config",
        {**GROUPED, **GEMMA, "attn_logit_softcapping": 5.0, "final_logit_softcapping": 3.0},
    ),
    "gemma 3": ("Gemma3ForCausalLM", "Gemma3TextConfig", {**GROUPED, **GEMMA}),
    "gpt 2": (
        "GPT2LMHeadModel", "GPT2Config",
        {"vocab_size": 160, "n_positions": 128, "n_embd": 64, "n_layer": 3, "n_head": 4, "initializer_range": 0.12,
         "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0, "bos_token_id": 1, "eos_token_id": 2},
    ),
    "ernie 4.5": ("Ernie4_5ForCausalLM", "Ernie4_5Config", {**GROUPED, "use_bias": True, "head_dim": 16}),
    "ernie 4.5 experts": (
        "Ernie4_5_MoeForCausalLM", "Ernie4_5_MoeConfig",
        {**GROUPED, "moe_num_experts": 8, "moe_k": 3, "moe_intermediate_size": 40, "moe_num_shared_experts": 2,
         "moe_layer_start_index": 1, "moe_layer_interval": 1},
    ),
    "deepseek v2": (
        "DeepseekV2ForCausalLM", "DeepseekV2Config",
        {**LATENT, "q_lora_rank": None, "topk_method": "group_limited_greedy", "rope_parameters": YARN},
    ),
    "deepseek v3": ("DeepseekV3ForCausalLM", "DeepseekV3Config", {**LATENT, "q_lora_rank": 32, "rope_parameters": MSCALE}),
}  # fmt: skip
ENCODERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "bert": ("BertForMaskedLM", "BertConfig", {**ENCODER, "pad_token_id": 0}),
    "roberta": ("RobertaForMaskedLM", "RobertaConfig", {**ENCODER, "max_position_embeddings": 130}),
    "ernie 3": (
        "ErnieForMaskedLM", "ErnieConfig", {**ENCODER, "pad_token_id": 0, "use_task_id": True, "task_type_vocab_size": 3}
    ),
    "mpnet": ("MPNetForMaskedLM", "MPNetConfig", {**ENCODER, "max_position_embeddings": 130}),
}  # fmt: skip
T5: dict[str, Any] = {
    "vocab_size": 160, "d_model": 64, "d_kv": 16, "d_ff": 96, "num_layers": 3, "num_decoder_layers": 2, "num_heads": 4,
    "relative_attention_num_buckets": 8, "relative_attention_max_distance": 20, "dropout_rate": 0.0,
    "decoder_start_token_id": 0, "eos_token_id": 1, "pad_token_id": 0,
}  # fmt: skip
TRANSLATORS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "t5": ("T5ForConditionalGeneration", "T5Config", T5),
    "t5 gated": (
        "T5ForConditionalGeneration", "T5Config", {**T5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
    ),
}  # fmt: skip
