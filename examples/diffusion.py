"""A diffusion model that draws handwritten digits, and a picture of what it drew.

    python examples/diffusion.py                     # build/examples/diffusion.png

Noise is added to scikit-learn's 8 x 8 digits in 100 steps; a small network learns to guess the noise in a picture, given
the step and which digit it is. Drawing starts from noise and takes the guesses away. The figure at the end comes from
an independent judge: a support-vector classifier trained on the real digits reads what was drawn.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from common import OUTPUT, Arrays, digits, options, start
from rich.progress import track
from sklearn.svm import SVC  # type: ignore[import-untyped]

import proa as paddle
import proa.nn.functional as F
from proa import nn

NUM_STEPS = 100
BATCH = 128
WIDTH = 256
BETA = np.linspace(1e-3, 0.08, NUM_STEPS)
KEPT = np.cumprod(1 - BETA)  # how much of the picture is left after each step


class Denoiser(nn.Layer):
    """Guesses the noise in pictures [batch, 64], given the step and the digit of each: a residual perceptron."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = nn.Embedding(NUM_STEPS, WIDTH)
        self.classes = nn.Embedding(10, WIDTH)
        self.first = nn.Linear(64, WIDTH)
        self.norms = nn.LayerList([nn.LayerNorm(WIDTH) for _ in range(4)])
        self.middle = nn.LayerList([nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.SiLU()) for _ in range(4)])
        self.last = nn.Linear(WIDTH, 64)

    def forward(self, pictures: paddle.Tensor, step: paddle.Tensor, digit: paddle.Tensor) -> paddle.Tensor:
        hint = self.steps(step) + self.classes(digit)
        x = self.first(pictures)
        for norm, layer in zip(self.norms, self.middle):
            x = x + layer(norm(x + hint))
        return self.last(x)


@paddle.no_grad()
def draw(model: Denoiser, labels: np.ndarray) -> np.ndarray:
    """Pictures of these digits between 0 and 1, from pure noise."""
    model.eval()
    digit = paddle.to_tensor(labels)
    x = paddle.randn([len(labels), 64])
    for number in reversed(range(NUM_STEPS)):
        step = paddle.full([len(labels)], number, "int64")
        guess = model(x, step, digit)
        # Factors are tensors: as plain numbers they would make another program of every step.
        beta, left = paddle.to_tensor(np.float32(BETA[number])), paddle.to_tensor(np.float32(1 - KEPT[number]))
        x = (x - beta / left.sqrt() * guess) / (1 - beta).sqrt()
        x = x + beta.sqrt() * float(number > 0) * paddle.randn(x.shape)
    model.train()
    drawn: np.ndarray = (x.numpy().clip(-1, 1) + 1) / 2
    return drawn


def save_picture(pictures: np.ndarray, path: Path) -> None:
    """A PNG with ten digits in a row."""
    from PIL import Image

    framed = np.pad(pictures.reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)))
    rows = framed.reshape(-1, 10, 10, 10).transpose(0, 2, 1, 3).reshape(-1, 100)
    path.parent.mkdir(parents=True, exist_ok=True)
    picture = Image.fromarray(np.uint8(255 - rows * 255))
    picture.resize((picture.width * 8, picture.height * 8), Image.Resampling.NEAREST).save(path)


def main(arguments: list[str] | None = None) -> float:
    """Trains, draws and returns the share of drawn digits that the judge reads as what they should be."""
    parser = options(__doc__, epochs=100)
    parser.add_argument("--picture", type=Path, default=OUTPUT / "diffusion.png", help="default: %(default)s")
    parser.add_argument("--amp", action="store_true", help="compute in bfloat16 where that is safe")
    chosen = parser.parse_args(arguments)
    start(chosen.seed)
    images, labels = digits()
    flat = images.reshape(len(images), -1)
    data = Arrays((flat * 2 - 1)[: chosen.limit], labels[: chosen.limit])
    loader = paddle.io.DataLoader(data, batch_size=min(BATCH, len(data)), shuffle=True, drop_last=True)

    model = Denoiser()
    rate = paddle.optimizer.lr.CosineAnnealingDecay(2e-3, T_max=chosen.epochs * len(loader))
    optimizer = paddle.optimizer.AdamW(rate, parameters=model.parameters(), weight_decay=1e-4)
    kept = paddle.to_tensor(KEPT.astype("float32"))
    losses: list[paddle.Tensor] = []
    for _ in track(range(chosen.epochs), "training"):
        losses = []
        for pictures, digit in loader:
            step = paddle.randint(0, NUM_STEPS, [len(digit)])
            noise = paddle.randn(pictures.shape)
            left = kept[step].unsqueeze(-1)
            noisy = left.sqrt() * pictures + (1 - left).sqrt() * noise
            with paddle.amp.auto_cast(enable=chosen.amp, dtype="bfloat16"):
                loss = F.mse_loss(model(noisy, step, digit), noise)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            rate.step()
            losses.append(loss)
    mean = math.fsum(float(loss) for loss in losses) / len(losses)

    wanted = np.tile(np.arange(10), 10)
    drawn = draw(model, wanted)
    save_picture(drawn, chosen.picture)
    judge: Any = SVC(C=10.0)
    judge.fit(flat, labels)
    share = float((judge.predict(drawn) == wanted).mean())
    print(f"Loss of the last epoch {mean:.4f}; the judge reads {share:.2%} of {len(wanted)} drawn digits as meant")
    print(f"Picture: {chosen.picture}")
    return share


if __name__ == "__main__":
    main()
