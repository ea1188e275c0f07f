"""The model of `on_gpu/language.py` in PyTorch: a cache of fixed size, one block of torch.compile for all layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F


def _normed(x: Any, weight: Any) -> Any:
    wide = x.float()
    return (wide * torch.rsqrt((wide * wide).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * weight


def _turned(x: Any, cos: Any, sin: Any) -> Any:
    first, second = x.chunk(2, -1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)


def _block(
    x: Any, w: dict[str, Any], keys: Any, values: Any, cos: Any, sin: Any, places: Any, mask: Any, heads: int
) -> Any:
    batch, length, hidden = x.shape
    h = _normed(x, w["before"])
    q, k, v = ((h @ w[name]).view(batch, length, heads, -1).transpose(1, 2) for name in "qkv")
    keys.index_copy_(2, places, _turned(k, cos, sin))
    values.index_copy_(2, places, v)
    mixed = F.scaled_dot_product_attention(_turned(q, cos, sin), keys, values, mask)
    x = x + mixed.transpose(1, 2).reshape(batch, length, hidden) @ w["o"]
    h = _normed(x, w["between"])
    return x + (F.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]


class Model:
    def __init__(self, sizes: Any, device: str) -> None:
        self.sizes, self.device = sizes, device
        hidden, inner = sizes.hidden, sizes.inner
        shapes = {"q": (hidden, hidden), "k": (hidden, hidden), "v": (hidden, hidden), "o": (hidden, hidden)}
        shapes |= {"gate": (hidden, inner), "up": (hidden, inner), "down": (inner, hidden)}

        def drawn(*shape: int) -> Any:
            return torch.randn(*shape, device=device, dtype=torch.bfloat16) * 0.02

        def layer() -> dict[str, Any]:
            norms = {n: torch.ones(hidden, device=device, dtype=torch.bfloat16) for n in ("before", "between")}
            return {n: drawn(*shape) for n, shape in shapes.items()} | norms

        self.layers = [layer() for _ in range(sizes.layers)]
        self.table, self.head = drawn(sizes.vocabulary, hidden), drawn(hidden, sizes.vocabulary)
        self.norm = torch.ones(hidden, device=device, dtype=torch.bfloat16)
        self.block: Any = torch.compile(_block, dynamic=False) if device == "cuda" else _block
        size = hidden // sizes.heads
        frequencies = 10000.0 ** (-torch.arange(0, size, 2, device=device) / size)
        angle = torch.arange(8192, device=device)[:, None] * frequencies[None]
        self.cos, self.sin = angle.cos().bfloat16(), angle.sin().bfloat16()

    def _step(self, ids: Any, places: Any, caches: Any, shown: Any) -> Any:
        x = F.embedding(ids, self.table)
        cos, sin = self.cos[places], self.sin[places]
        mask = shown[:, None, None, :] & (torch.arange(shown.shape[1], device=self.device) <= places[:, None])
        for w, (keys, values) in zip(self.layers, caches, strict=True):
            x = self.block(x, w, keys, values, cos, sin, places, mask, self.sizes.heads)
        return (_normed(x[:, -1], self.norm) @ self.head).argmax(-1, keepdim=True)

    @torch.inference_mode()
    def generate(self, prompts: list[np.ndarray], count: int) -> Any:
        """The likeliest `count` tokens of each: prompts stand at the right, filled up at the left."""
        sizes, device = self.sizes, self.device
        longest = sizes.prompts[1]  # of all batches, so that nothing is compiled twice
        room = longest + sizes.answers[1]
        batch = len(prompts)
        ids = torch.zeros(batch, longest, dtype=torch.long, device=device)
        shown = torch.ones(batch, room, dtype=torch.bool, device=device)
        for n, prompt in enumerate(prompts):
            ids[n, longest - len(prompt) :] = torch.from_numpy(prompt).to(device)
            shown[n, : longest - len(prompt)] = False
        shape = (batch, sizes.heads, room, sizes.hidden // sizes.heads)
        caches = [
            tuple(torch.zeros(shape, dtype=torch.bfloat16, device=device) for _ in range(2))
            for _ in range(sizes.layers)
        ]
        token = self._step(ids, torch.arange(longest, device=device), caches, shown)
        found = [token]
        for place in range(longest, longest + count - 1):
            token = self._step(token, torch.tensor([place], device=device), caches, shown)
            found.append(token)
        return torch.cat(found, 1)
