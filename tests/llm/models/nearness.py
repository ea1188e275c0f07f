"""How near a GGUF file's logits are to those of its weights in float64: llama.cpp's, and ours.

    PROA_PARITY_LLAMA_PYTHON=python-with-llama-cpp-python python -m tests.llm.models.nearness MODEL.gguf

The reference is a Llama written down in NumPy, without any rounding to fewer bits. Shown are root mean squares of what is
missing, relative to the reference's, and how many of the likeliest tokens agree with it.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import gguf
import numpy as np

import proa as paddle
from proa.llm import load
from proa.llm.tokens import Tokenizer

from .llama_cpp import other

TEXT = "The history of computers begins with machines that could add. The first of them were built of wheels, and later ones"


def reference(path: str, ids: list[int]) -> np.ndarray:
    """Logits [tokens, vocabulary] in float64."""
    reader = gguf.GGUFReader(path)
    weights = {t.name: gguf.dequantize(t.data, t.tensor_type).astype(np.float64) for t in reader.tensors}

    def given(name: str) -> Any:
        return reader.fields[f"llama.{name}"].contents()

    heads, shared, layers = given("attention.head_count"), given("attention.head_count_kv"), given("block_count")
    epsilon, base = given("attention.layer_norm_rms_epsilon"), given("rope.freq_base")
    x = weights["token_embd.weight"][ids]
    size, count = x.shape[1] // heads, len(ids)
    angles = np.outer(np.arange(count), base ** -(np.arange(0, size, 2) / size))[:, None]

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * weights[f"{name}.weight"]

    def turn(x: np.ndarray) -> np.ndarray:
        turned = np.empty_like(x)
        turned[..., ::2] = x[..., ::2] * np.cos(angles) - x[..., 1::2] * np.sin(angles)
        turned[..., 1::2] = x[..., ::2] * np.sin(angles) + x[..., 1::2] * np.cos(angles)
        return turned

    for n in range(layers):
        own = {name: weights[f"blk.{n}.{name}.weight"].T for name in
               ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")}  # fmt: skip
        y = norm(x, f"blk.{n}.attn_norm")
        q = turn((y @ own["attn_q"]).reshape(count, heads, size))
        k, v = (np.repeat(part.reshape(count, shared, size), heads // shared, 1) for part in
                (y @ own["attn_k"], y @ own["attn_v"]))  # fmt: skip
        scores = np.einsum("qhd,khd->hqk", q, turn(k)) / np.sqrt(size)
        scores[:, np.triu(np.ones((count, count), bool), 1)] = -np.inf
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        met = np.einsum("hqk,khd->qhd", shares / shares.sum(-1, keepdims=True), v)
        x = x + met.reshape(count, -1) @ own["attn_output"]
        y = norm(x, f"blk.{n}.ffn_norm")
        gate = y @ own["ffn_gate"]
        x = x + (gate / (1 + np.exp(-gate)) * (y @ own["ffn_up"])) @ own["ffn_down"]
    head = weights.get("output.weight", weights["token_embd.weight"])
    return norm(x, "output_norm") @ head.T


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    path = parser.parse_args().model
    ids = Tokenizer.from_gguf(path).encode(TEXT)
    expected = reference(path, ids)
    with tempfile.TemporaryDirectory() as folder, paddle.no_grad():
        found = {"llama.cpp": other(Path(path), ids, Path(folder))}
        for name, keep in (("proa, blocks", True), ("proa, float32", False)):
            found[name] = load(path, keep_quantised=keep).eval()(paddle.to_tensor([ids])).numpy()[0]
    for name, logits in found.items():
        distance = np.sqrt(((logits - expected) ** 2).mean() / (expected**2).mean())
        agree = int((logits.argmax(-1) == expected.argmax(-1)).sum())
        print(f"{name:16} {distance:.1e} from float64, {agree} of {len(ids)} likeliest tokens agree")


if __name__ == "__main__":
    main()
