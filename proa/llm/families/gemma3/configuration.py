"""The config.json of Gemma 3: most layers have a window and a rotation of their own.

Of a model that sees pictures as well, the part for text is read, and written as a model of its own.
"""

from __future__ import annotations

from ...config import Config
from ..gemma2.configuration import read_gemma, write_gemma
from ..shared import Json, head_dim_of, rope_of, rope_to, windows_of

# What the published files leave out.
_DEFAULTS = {
    "vocab_size": 262208, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "rms_norm_eps": 1e-6,
    "max_position_embeddings": 131072, "query_pre_attn_scalar": 256, "sliding_window": 4096,
}  # fmt: skip
_ENDS = ("bos_token_id", "eos_token_id", "pad_token_id")
_PATTERN = 6  # every sixth layer sees everything, where the file does not say which ones do


def read(json: Json) -> Config:
    if "text_config" in json:
        ends = {name: json[name] for name in _ENDS if json.get(name) is not None}  # they stand outside
        json = {**json["text_config"], **ends}
    json = {**_DEFAULTS, **json}
    found = read_gemma(json)
    pattern = json.get("sliding_window_pattern") or _PATTERN
    windows = windows_of(json, found["layers"], [(number + 1) % pattern != 0 for number in range(found["layers"])])
    dims, ropes = head_dim_of(found), json.get("rope_parameters") or {}
    if "full_attention" in ropes:
        rope = rope_of(json, dims, 1e6, parameters=ropes["full_attention"])
        local = rope_of(json, dims, 1e4, parameters=ropes["sliding_attention"])
    else:
        rope = rope_of(json, dims, 1e6)
        local = rope_of({"rope_theta": json.get("rope_local_base_freq") or 1e4}, dims)
    return Config("gemma3_text", **found, head_norms=True, rope=rope, local_rope=local, windows=windows)


def write(config: Config) -> Json:
    assert config.rope is not None
    assert config.local_rope is not None
    ropes = {"full_attention": rope_to(config.rope), "sliding_attention": rope_to(config.local_rope)}
    return {
        "model_type": "gemma3_text", "architectures": ["Gemma3ForCausalLM"], **write_gemma(config), "rope_parameters": ropes,
    }  # fmt: skip
