"""The folder: a page, its scripts, the model and the runtime."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...core.errors import value_error
from ...ocr.models import find_models
from ..folders import new_folder
from ..models import Port, ports, write_model
from .runtime import copy_runtime

ASSETS = Path(__file__).parent / "assets"
PAGES = ("try", "draw", "text")
WHERE = "export web"
# How drawings are made like the pictures that a model was trained on: the part of rows and columns that a digit fills,
# whether wide ones are squeezed, how thick the pen is (beside the side of the page). MNIST's; scikit-learn's 8 x 8 digits.
MNIST = {"share": [20 / 28, 20 / 28], "squeeze": False, "pen": 1 / 14}
SCANNED = {"share": [1.0, 0.75], "squeeze": True, "pen": 1 / 8}


def export_site(
    model: str | None, target: str | os.PathLike[str], page: str = "try", labels: Sequence[str] | None = None,
    runtime: str | None = None,
) -> list[Path]:  # fmt: skip
    """Makes the folder, and gives its files. `model` is a saved model; for the page "text" a folder of OCR models, or None
    for those of the installed package."""
    if page not in PAGES:
        raise value_error(WHERE, f"the pages are {', '.join(PAGES)}", repr(page))
    with new_folder(WHERE, target) as folder:
        settings = _text_models(model, folder) if page == "text" else _one_model(model, folder, page, labels)
        for assets in (ASSETS / "common", ASSETS / page):
            for file in sorted(assets.iterdir()):
                shutil.copyfile(file, folder / file.name)
        (folder / "settings.json").write_text(json.dumps(settings, ensure_ascii=False, indent=1), encoding="utf-8")
        copy_runtime(folder / "runtime", runtime)
        for file in folder.rglob("*"):
            if file.is_file() and not file.stat().st_size:
                raise value_error(WHERE, f"{file.name} came out empty", repr(str(target)))
    return sorted(file for file in Path(target).rglob("*") if file.is_file())


def _text_models(models: str | None, folder: Path) -> dict[str, Any]:
    found = find_models(models)
    settings: dict[str, Any] = {"characters": "characters.txt"}
    shutil.copyfile(found.characters, folder / "characters.txt")
    for kind in ("detector", "classifier", "recogniser"):
        path = getattr(found, kind)
        settings[kind] = None if path is None else f"{kind}.onnx"
        if path is not None:
            write_model(WHERE, path, folder / f"{kind}.onnx")
    return settings


def _one_model(model: str | None, folder: Path, page: str, labels: Sequence[str] | None) -> dict[str, Any]:
    if model is None:
        raise value_error(WHERE, "a model is needed", "none", "name a .proa file, Paddle's files or an .onnx file")
    write_model(WHERE, model, folder / "model.onnx")
    inputs, outputs = ports(WHERE, folder / "model.onnx")
    if page == "draw":
        return {"model": "model.onnx", **_drawing(inputs, outputs, labels)}
    return {
        "model": "model.onnx",
        "inputs": [{"name": port.name, "type": port.type} for port in inputs],
        "example": {port.name: {"shape": [size or 1 for size in port.shape], "fill": 0} for port in inputs},
    }


def _drawing(inputs: list[Port], outputs: list[Port], labels: Sequence[str] | None) -> dict[str, Any]:
    """What the page for drawings has to know: one channel of ink in, a number for each label out."""
    sizes = inputs[0].shape if len(inputs) == 1 else ()
    given = ", ".join(f"{port.name}: {port.type}{list(port.shape)}" for port in inputs)
    one_channel = len(sizes) == 3 or (len(sizes) == 4 and sizes[1] in (1, None))
    if not one_channel or None in sizes[-2:] or inputs[0].type != "float32":
        raise value_error(WHERE, "a drawing is one input float32 [N, 1, rows, columns] of known sizes", given)
    classes = outputs[0].shape[-1] if outputs and outputs[0].shape else None
    names = list(labels) if labels else [str(number) for number in range(classes or 10)]
    if classes is not None and len(names) != classes:
        raise value_error(WHERE, f"the model tells {classes} classes apart", f"{len(names)} labels")
    way = MNIST if max(size or 0 for size in sizes[-2:]) >= 20 else SCANNED
    return {"input": inputs[0].name, "shape": [size or 1 for size in sizes], "labels": names, **way}
