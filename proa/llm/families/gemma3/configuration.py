"""The config.json of Gemma 3's text models: most layers have a window and a rotation of their own."""

from __future__ import annotations

from ...config import Config
from ..gemma2.configuration import read_gemma, write_gemma
from ..shared import Json, head_dim_of, rope_of, rope_to, windows_of

_PATTERN = 6  # every sixth layer sees everything, where the file does not say which ones do


def read(json: Json) -> Config:
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
