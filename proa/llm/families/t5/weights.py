"""T5's names of weights: the parts of a block are numbered, not named."""

from __future__ import annotations

from ...config import Config
from ...naming import Names, Rule, product


def _block(ours: str, theirs: str, mlp: int) -> list[Rule]:
    """Attention is part 0 of a block, the MLP its last one."""
    parts = (("query", "q"), ("key", "k"), ("value", "v"), ("output", "o"))
    rules = [product(f"{ours}.attention.{a}", f"{theirs}.layer.0.SelfAttention.{b}") for a, b in parts]
    dense = f"{theirs}.layer.{mlp}.DenseReluDense"
    return [
        *rules,
        Rule(f"{ours}.attention_norm.weight", f"{theirs}.layer.0.layer_norm.weight"),
        Rule(f"{ours}.mlp_norm.weight", f"{theirs}.layer.{mlp}.layer_norm.weight"),
        product(f"{ours}.mlp.down", f"{dense}.wo"),
    ]


def names(config: Config) -> Names:
    reader, writer = "encoder.block.{}", "decoder.block.{}"
    parts = (("query", "q"), ("key", "k"), ("value", "v"), ("output", "o"))
    up = "wi_1" if config.gated else "wi"
    rules = [
        Rule("embedding.weight", "shared.weight"),
        Rule("reader_bias.weight", "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"),
        Rule("writer_bias.weight", "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"),
        *_block("layers.{}", reader, 1),
        *_block("writer_layers.{}", writer, 2),
        *(product(f"writer_layers.{{}}.cross.{a}", f"{writer}.layer.1.EncDecAttention.{b}") for a, b in parts),
        Rule("writer_layers.{}.cross_norm.weight", f"{writer}.layer.1.layer_norm.weight"),
        Rule("norm.weight", "encoder.final_layer_norm.weight"),
        Rule("writer_norm.weight", "decoder.final_layer_norm.weight"),
        product("head", "lm_head"),
    ]
    for ours, theirs in (("layers.{}", f"{reader}.layer.1"), ("writer_layers.{}", f"{writer}.layer.2")):
        rules += [product(f"{ours}.mlp.up", f"{theirs}.DenseReluDense.{up}")]
        rules += [product(f"{ours}.mlp.gate", f"{theirs}.DenseReluDense.wi_0")]
    # Some files repeat the table of words; one bias of old files was never used.
    left = r"^(encoder|decoder)\.embed_tokens\.weight$|EncDecAttention\.relative_attention_bias\.weight$"
    return Names(tuple(rules), prefix="", otherwise=(), left=left + (r"|^lm_head\.weight$" if config.tied else ""))
