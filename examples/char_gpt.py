"""A character-level GPT on the documentation of Python's standard library; stops and resumes where it was.

    python examples/char_gpt.py                      # trains, then writes a text of its own
    python examples/char_gpt.py --resume             # goes on from the last checkpoint
    python examples/char_gpt.py --layers 6 --width 192 --context 128

The text is real English on every machine: the docstrings of the standard library's modules, some 800,000 characters. A
checkpoint (weights, optimiser, schedule, epoch) is written after each epoch; which pieces of text an epoch sees follows
from the seed and its number, so a resumed run goes on exactly as the other would have.
"""

from __future__ import annotations

import ast
import math
import sysconfig
import time
from pathlib import Path

import numpy as np
from common import OUTPUT, options, start

import proa as paddle
import proa.nn.functional as F
from proa import nn

BATCH = 16


def library_text(limit: int | None = None) -> str:
    """The docstrings of Python's own modules."""
    pieces: list[str] = []
    for file in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8", errors="replace"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                pieces.append(ast.get_docstring(node) or "")
    return "\n\n".join(piece for piece in pieces if piece.isascii() and len(piece) > 80)[:limit]


class Windows(paddle.io.Dataset):
    """Pieces of the text at random places: `length` characters, and the same moved on by one."""

    def __init__(self, codes: np.ndarray, length: int, count: int) -> None:
        self.codes, self.length, self.count, self.generator = codes, length, count, np.random.default_rng()

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        place = self.generator.integers(len(self.codes) - self.length)
        piece = self.codes[place : place + self.length + 1]
        return piece[:-1], piece[1:]

    def __len__(self) -> int:
        return self.count


class Block(nn.Layer):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        batch, length, width = x.shape
        parts = self.query_key_value(self.norm1(x)).reshape([batch, length, 3, self.heads, width // self.heads])
        query, key, value = parts.unbind(2)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.output(mixed.reshape([batch, length, width]))
        fed: paddle.Tensor = self.feed(self.norm2(x))
        return x + fed


class GPT(nn.Layer):
    def __init__(self, vocabulary: int, layers: int, width: int, context: int) -> None:
        super().__init__()
        small = paddle.ParamAttr(initializer=nn.initializer.Normal(std=0.02))
        self.context = context
        self.characters = nn.Embedding(vocabulary, width, weight_attr=small)
        self.places = nn.Embedding(context, width, weight_attr=small)
        self.blocks = nn.Sequential(*[Block(width, width // 32) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

    def forward(self, codes: paddle.Tensor) -> paddle.Tensor:
        x = self.characters(codes) + self.places(paddle.arange(codes.shape[1]))
        return self.head(self.norm(self.blocks(x)))

    @paddle.no_grad()
    def write(self, codes: list[int], count: int) -> list[int]:
        """Goes on with a text. The window is always full, so that there is one shape and one program."""
        codes = [0] * (self.context - len(codes)) + codes
        for _ in range(count):
            scores = self(paddle.to_tensor([codes[-self.context :]]))[0, -1] / 0.8
            codes.append(int(paddle.multinomial(F.softmax(scores), 1)))
        return codes[-count:]


def validate(model: GPT, codes: np.ndarray, context: int) -> float:
    """Mean loss over the whole held-out text, in nats for a character."""
    rows = codes[: (len(codes) - 1) // (BATCH * context) * BATCH * context].reshape(-1, BATCH, context)[:16]
    targets = codes[1 : rows.size + 1].reshape(-1, BATCH, context)
    with paddle.no_grad():
        losses = [F.cross_entropy(model(paddle.to_tensor(x)), paddle.to_tensor(y)) for x, y in zip(rows, targets)]
    return math.fsum(float(loss) for loss in losses) / len(losses)


def main(arguments: list[str] | None = None) -> float:
    """Trains and returns the loss on held-out text, in nats for a character."""
    parser = options(__doc__, epochs=5)
    for name, value in (("layers", 4), ("width", 128), ("context", 64), ("steps", 200)):
        parser.add_argument(f"--{name}", type=int, default=value, help="default: %(default)s (steps: of an epoch)")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    parser.add_argument("--folder", type=Path, default=OUTPUT / "char_gpt", help="of the checkpoint")
    chosen = parser.parse_args(arguments)
    start(chosen.seed)
    text = library_text(chosen.limit)
    alphabet = sorted(set(text))
    codes = np.array([alphabet.index(character) for character in text], "int64")
    split = len(codes) * 9 // 10
    windows = Windows(codes[:split], chosen.context, chosen.steps * BATCH)
    loader = paddle.io.DataLoader(windows, batch_size=BATCH)
    model = GPT(len(alphabet), chosen.layers, chosen.width, chosen.context)
    rate = paddle.optimizer.lr.CosineAnnealingDecay(2e-3, T_max=chosen.epochs * chosen.steps, eta_min=1e-4)
    optimizer = paddle.optimizer.AdamW(rate, parameters=model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
    checkpoint, first, loss_now = chosen.folder / "last.pdparams", 1, math.nan
    if chosen.resume:
        state = paddle.load(str(checkpoint))
        model.set_state_dict(state["model"])
        optimizer.set_state_dict(state["optimizer"])  # with the schedule's position
        first += state["epoch"]
    print(f"{len(text):,} characters, {sum(p.size for p in model.parameters()):,} parameters, from epoch {first}")
    for epoch in range(first, chosen.epochs + 1):
        windows.generator = np.random.default_rng(chosen.seed + epoch)  # the same places, resumed or not
        began = time.perf_counter()
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            rate.step()
        speed = chosen.steps / (time.perf_counter() - began)
        loss_now = validate(model, codes[split:], chosen.context)
        print(f"epoch {epoch:>2}: held-out loss {loss_now:.4f} nats a character, {speed:.1f} steps/s", flush=True)
        chosen.folder.mkdir(parents=True, exist_ok=True)
        paddle.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, str(checkpoint))
    print("".join(alphabet[code] for code in model.write([alphabet.index(letter) for letter in "Return the "], 200)))
    return loss_now


if __name__ == "__main__":
    main()
