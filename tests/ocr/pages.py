"""Pictures of text, drawn here: what they say is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

LINES = ("Invoice 20251115", "Total amount 1,284.50", "The quick brown fox", "jumps over the lazy dog")
FONTS = ("DejaVuSans", "DejaVuSerif", "DejaVuSansMono", "DejaVuSans-Bold", "DejaVuSerif-Italic")


def font_file(name: str) -> str:
    """DejaVu's fonts come with matplotlib."""
    import matplotlib

    return str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / f"{name}.ttf")


def draw(
    lines: Sequence[str], font: str = "DejaVuSans", size: int = 28, angle: float = 0, paper: Any = "white",
    ink: Any = (20, 20, 60),
) -> np.ndarray:  # fmt: skip
    """The lines on a page, turned anticlockwise by `angle` degrees."""
    from PIL import Image, ImageDraw, ImageFont

    typeface = ImageFont.truetype(font if font.endswith((".ttf", ".ttc")) else font_file(font), size)
    width = int(max(typeface.getlength(line) for line in lines)) + 80
    page = Image.new("RGB", (width, int(len(lines) * size * 2.2) + 60), paper)
    brush = ImageDraw.Draw(page)
    for number, line in enumerate(lines):
        brush.text((40, 30 + int(number * size * 2.2)), line, fill=ink, font=typeface)
    return np.asarray(page.rotate(angle, expand=True, fillcolor=paper, resample=Image.Resampling.BICUBIC))
