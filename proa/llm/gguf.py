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
from .config import Config
from .families import Family, family_of
from .files import GGUF
from .gguf_config import family_name, read_config
from .naming import Names, Rule, biased, normed, product

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
        self.family: Family = family_of(family_name(self.file))
        self.config = read_config(self.file)
        self.names = _names(self.config)
        # By the names that are read: the tensors of the file that a name stands for.
        self._present: dict[str, tuple[str, ...]] = {name: (name,) for name in self.file.tensors}
        for name in self.file.tensors:
            if name.endswith("attn_k_b.weight"):  # newer files have the two parts of a product apart
                whole, values = (name.replace("attn_k_b", part) for part in ("attn_kv_b", "attn_v_b"))
                self._present[whole] = (name, values)
                for part in (name, values):
                    self._present.pop(part, None)

    def rows(self, name: str) -> np.ndarray | None:
        """The order in which rows of a tensor of the file are those of ours; None: they are."""
        heads = {"attn_q": self.config.heads, "attn_k": self.config.kv_heads}.get(
            name.split(".")[-2] if "." in name else ""
        )
        if heads is None or self.file.architecture not in _PERMUTED:
            return None
        return np.arange(heads * self.config.head_dim).reshape(heads, -1, 2).swapaxes(1, 2).reshape(-1)

    def __getitem__(self, name: str) -> np.ndarray:
        if len(self._present[name]) > 1:
            keys, values = self._present[name]
            return self._joined(keys, values)
        found = self.file.tensors[name].dequantised()
        rows = self.rows(name)
        if rows is not None:
            return found[rows]
        if self.config.norm_offset and name.endswith("norm.weight"):
            return found - np.float32(self.config.norm_offset)
        if name.endswith("ffn_gate_inp_shexp.weight"):
            return found.reshape(1, -1)
        return found

    def _joined(self, keys: str, values: str) -> np.ndarray:
        """The product that makes keys and values of a latent: head by head, the key's rows and then the value's."""
        latent, heads = self.config.latent, self.config.heads
        assert latent is not None
        wanted = {keys: (heads, latent.kv_rank, latent.plain_dims), values: (heads, latent.value_dims, latent.kv_rank)}
        for name, shape in wanted.items():
            there = self.file.tensors.get(name)
            if there is None or there.shape != shape:
                found = "nothing" if there is None else str(list(there.shape))
                raise value_error("load", f"the file must have {name} {list(shape)}", found)
        turned, straight = (self.file.tensors[name].dequantised() for name in (keys, values))
        return np.concatenate([turned.swapaxes(1, 2), straight], 1).reshape(-1, latent.kv_rank)

    def __iter__(self) -> Iterator[str]:
        return iter(self._present)

    def __len__(self) -> int:
        return len(self._present)

    def __contains__(self, name: object) -> bool:
        return name in self._present


def _names(config: Config) -> Names:
    rules = [
        Rule("embedding.weight", "token_embd.weight"),
        Rule("position_embedding.weight", "position_embd.weight"),
        *normed("norm", "output_norm"),
        product("head", "output"),
        product("layers.{}.mlp.shared_gate", "blk.{}.ffn_gate_inp_shexp"),
        *(rule for ours, theirs in _NORMS for rule in normed(f"layers.{{}}.{ours}", f"blk.{{}}.{theirs}")),
        *(rule for ours, theirs in _PRODUCTS for rule in biased(f"layers.{{}}.{ours}", f"blk.{{}}.{theirs}")),
        *(Rule(f"layers.{{}}.mlp.{ours}", f"blk.{{}}.{theirs}.weight", transposed=True) for ours, theirs in _STACKED),
        Rule("layers.{}.mlp.correction", "blk.{}.exp_probs_b.bias"),
        *(_latent(config.latent.query_rank > 0) if config.latent else ()),
        *(_together() if config.family == "gpt2" else ()),
    ]
    return Names(tuple(rules), prefix="", otherwise=(), left=r"^rope_freqs\.weight$")


def _latent(ranked: bool) -> list[Rule]:
    """DeepSeek's attention; with `ranked`, queries come from a short vector, too."""
    return [
        *biased("layers.{}.attention.query_down", "blk.{}.attn_q_a"),
        *biased("layers.{}.attention.query", "blk.{}.attn_q_b" if ranked else "blk.{}.attn_q"),
        *biased("layers.{}.attention.down", "blk.{}.attn_kv_a_mqa"),
        *biased("layers.{}.attention.up", "blk.{}.attn_kv_b"),
        Rule("layers.{}.attention.query_norm.weight", "blk.{}.attn_q_a_norm.weight"),
        Rule("layers.{}.attention.down_norm.weight", "blk.{}.attn_kv_a_norm.weight"),
    ]


def _together() -> list[Rule]:
    """GPT-2's query, key and value, which lie in one tensor."""
    return [
        Rule(
            tuple(f"layers.{{}}.attention.{ours}.{part}" for ours in ("query", "key", "value")),
            f"blk.{{}}.attn_qkv.{part}",
            transposed=part == "weight",
        )
        for part in ("weight", "bias")
    ]
