"""A page drawn with what was read: boxes over the picture, beside it the text, each line in its place."""

from __future__ import annotations

import colorsys
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import message, value_error

if TYPE_CHECKING:
    from .page import Line, Page

# Where fonts with Chinese characters are found, best first; any of them also has Latin letters.
_FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "/System/Library/Fonts",
                 "/Library/Fonts", "C:/Windows/Fonts")  # fmt: skip
_WIDE_FONTS = ("notosanscjk", "sourcehansans", "wqy", "droidsansfallback", "pingfang", "hiragino", "msyh", "simhei")
_FIRST_WIDE = 0x2E80  # from here on characters need such a font


def draw_page(page: Page, path: Any, font: str | None = None) -> None:
    """Writes the drawing; the ending of `path` says in which format. Nothing is left behind if that fails."""
    from PIL import Image, ImageDraw

    target = Path(path)
    if target.suffix.lower() not in Image.registered_extensions():
        raise value_error("ocr", "the picture's ending must name a format", repr(str(path)), "take out.png or out.jpg")
    picture = Image.fromarray(page.picture)
    width, height = picture.size
    thickness = max(1, round(max(width, height) / 600))
    veil = Image.new("RGBA", picture.size)
    brush = ImageDraw.Draw(veil)
    for number, line in enumerate(page.lines):
        colour = _colour(number)
        corners = [tuple(corner) for corner in line.corners]
        brush.polygon(corners, fill=(*colour, 50))
        brush.line([*corners, corners[0]], fill=(*colour, 255), width=thickness)
    drawn = Image.new("RGB", (2 * width, height), "white")
    drawn.paste(Image.alpha_composite(picture.convert("RGBA"), veil).convert("RGB"), (0, 0))
    text = Image.new("RGB", picture.size, "white")
    file = font or _wide_font(page.text)
    for number, line in enumerate(page.lines):
        _write(text, line, _colour(number), file)
    drawn.paste(text, (width, 0))
    _save(drawn, target)


def _write(page: Any, line: Line, colour: tuple[int, int, int], font: str | None) -> None:
    """A line's text, as large as its box and turned as it is."""
    from PIL import Image, ImageDraw

    height = max(4, round(line.box.height))
    typeface = _font(font, max(4, round(height * 0.7)))
    left, top, right, bottom = typeface.getbbox(line.text)
    words = Image.new("L", (max(1, round(right - left)), max(1, round(bottom - top))))
    ImageDraw.Draw(words).text((-left, -top), line.text, fill=255, font=typeface)
    room = max(1, round(line.box.width)), height
    scale = min(room[0] / words.width, room[1] / words.height)
    words = words.resize((max(1, round(words.width * scale)), max(1, round(words.height * scale))))
    stencil = Image.new("L", room)
    stencil.paste(words, (0, (height - words.height) // 2))
    stencil = stencil.rotate(-line.angle, expand=True, resample=Image.Resampling.BICUBIC)
    corner = np.round(np.array(line.box.centre) - np.array(stencil.size) / 2).astype(int)
    page.paste(tuple(part // 2 for part in colour), tuple(corner.tolist()), stencil)


def _colour(number: int) -> tuple[int, int, int]:
    """Neighbours in the list look different: steps of the golden ratio around the colour wheel."""
    red, green, blue = colorsys.hsv_to_rgb(number * 0.618034 % 1, 0.9, 0.85)
    return round(red * 255), round(green * 255), round(blue * 255)


def _font(file: str | None, size: int) -> Any:
    from PIL import ImageFont

    if file is None:
        return ImageFont.load_default(size)
    try:
        return ImageFont.truetype(file, size)
    except OSError as error:
        raise value_error("ocr", f"the font cannot be read ({error})", repr(file)) from None


def _wide_font(text: str) -> str | None:
    """A font for the text's characters. Pillow's own has Latin letters only, which is enough for most."""
    if all(ord(letter) < _FIRST_WIDE for letter in text):
        return None
    files = [
        os.path.join(folder, name)
        for root in _FONT_FOLDERS
        for folder, _, names in os.walk(os.path.expanduser(root))
        for name in names
        if name.lower().endswith((".ttf", ".ttc", ".otf"))
    ]
    for wanted in _WIDE_FONTS:
        for file in sorted(files):
            if wanted in os.path.basename(file).lower().replace("-", "").replace("_", ""):
                return file
    print("proa ocr: no font here has Chinese characters; the drawing shows boxes for them (--font).", file=sys.stderr)
    return None


def _save(drawn: Any, target: Path) -> None:
    from PIL import Image

    unfinished = target.with_name(f".{target.name}.unfinished")
    try:
        drawn.save(unfinished, format=Image.registered_extensions()[target.suffix.lower()])
        os.replace(unfinished, target)
    except (OSError, ValueError, KeyError) as error:
        raise OSError(message("ocr", f"the drawing cannot be written ({error})", repr(str(target)))) from None
    finally:
        unfinished.unlink(missing_ok=True)
