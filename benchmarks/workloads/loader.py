"""Pictures from files: JPEGs decoded, resized, cropped, flipped, normalised and batched by two worker processes.

The dataset is one class for every framework, with PIL and NumPy only; what differs is the loader. The pictures are made
once per machine, in the folder for temporary files.
"""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

SIZE = 224
RESIZED = 256
MEAN = np.array([0.485, 0.456, 0.406], np.float32)
DEVIATION = np.array([0.229, 0.224, 0.225], np.float32)


def picture_files(num_images: int) -> list[str]:
    """Files with smooth random pictures of about 300 x 400 points; made where they are not there yet."""
    from PIL import Image

    folder = Path(tempfile.gettempdir()) / "proa-bench-jpegs"
    folder.mkdir(exist_ok=True)
    files = [folder / f"{number:05d}.jpg" for number in range(num_images)]
    for number, file in enumerate(files):
        if file.exists():
            continue
        generator = np.random.default_rng(number)
        width, height = int(generator.integers(360, 440)), int(generator.integers(270, 330))
        coarse = Image.fromarray(generator.integers(0, 256, (12, 16, 3), dtype=np.uint8))
        smooth = np.asarray(coarse.resize((width, height), Image.Resampling.BICUBIC), np.int16)
        grain = generator.integers(-12, 13, smooth.shape, dtype=np.int16)
        picture = Image.fromarray(np.clip(smooth + grain, 0, 255).astype(np.uint8))
        partial = file.with_suffix(f".{os.getpid()}")
        picture.save(partial, "JPEG", quality=90)
        partial.replace(file)
    return [str(file) for file in files]


class Pictures:
    """Decode, resize the short side to 256, a random 224 x 224 crop, a random flip, normalise, channels first."""

    def __init__(self, files: list[str]) -> None:
        self.files = files

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> tuple[np.ndarray, int]:
        from PIL import Image

        # By index, so that every framework sees the same crops.
        chance = random.Random(index)
        with Image.open(self.files[index]) as file:
            picture = file.convert("RGB")
        width, height = picture.size
        scale = RESIZED / min(width, height)
        width, height = round(width * scale), round(height * scale)
        picture = picture.resize((width, height), Image.Resampling.BILINEAR)
        left, top = chance.randrange(width - SIZE + 1), chance.randrange(height - SIZE + 1)
        picture = picture.crop((left, top, left + SIZE, top + SIZE))
        if chance.random() < 0.5:
            picture = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        array = np.asarray(picture, np.float32) / np.float32(255.0)
        array = (array - MEAN) / DEVIATION
        return np.ascontiguousarray(array.transpose(2, 0, 1)), index % 1000


class PaddleLoader:
    """One epoch; the value is the mean of one point of every picture."""

    def __init__(self, paddle: Any, num_images: int = 10_000, batch_size: int = 64, num_workers: int = 2) -> None:
        self.loader = paddle.io.DataLoader(
            Pictures(picture_files(num_images)), batch_size=batch_size, num_workers=num_workers, shuffle=False
        )

    def run(self) -> float:
        total, count = 0.0, 0
        for images, labels in self.loader:
            total += float(images[:, 0, 5, 5].sum()) + float(labels.sum()) / 1000
            count += images.shape[0]
        return total / count


class TorchLoader:
    """The same with PyTorch's loader, whose workers collate into shared memory as well."""

    def __init__(self, torch: Any, num_images: int = 10_000, batch_size: int = 64, num_workers: int = 2) -> None:
        from torch.utils import data  # type: ignore[import-not-found]

        self.loader = data.DataLoader(
            Pictures(picture_files(num_images)),  # type: ignore[arg-type]
            batch_size=batch_size,
            num_workers=num_workers,
        )

    def run(self) -> float:
        total, count = 0.0, 0
        for images, labels in self.loader:
            total += float(images[:, 0, 5, 5].sum()) + float(labels.sum()) / 1000
            count += images.shape[0]
        return total / count


FAMILIES = {"paddle": PaddleLoader, "torch": TorchLoader}
