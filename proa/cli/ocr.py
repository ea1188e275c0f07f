"""`proa ocr picture.png`: the text in pictures."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from ..core.waiting import waiting
from ..ocr.page import Page
from ..ocr.reader import Reader
from .problems import complain, told


def run(arguments: argparse.Namespace) -> int:
    if arguments.serve == bool(arguments.pictures):
        return _fail("name pictures to read, or --serve alone to read those that come over HTTP")
    if arguments.output and len(arguments.pictures) > 1:
        return _fail("-o takes the drawing of one picture; name one, or leave -o out")
    try:
        reader = Reader(
            arguments.models, arguments.characters, arguments.least_confidence, arguments.longest_side, arguments.engine,
        )  # fmt: skip
    except (ValueError, TypeError, OSError, ImportError, RuntimeError) as error:
        return _fail(error)
    if arguments.serve:
        return _serve(reader, arguments.host, arguments.port)
    found: list[dict[str, Any]] = []
    status = 0
    for picture in arguments.pictures:
        try:
            with waiting(f"reading {os.path.basename(picture)}", "some seconds when a size is seen for the first time"):
                page = reader.read(sys.stdin.buffer.read() if picture == "-" else picture)
            if arguments.output:
                page.draw(arguments.output, arguments.font)
        except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
            status = complain("ocr", error, arguments.output or "")
            found.append({"picture": picture, "error": told(error)})
            continue
        found.append({"picture": picture, **page.as_dictionary()})
        if not arguments.json:
            _show(picture, page, len(arguments.pictures) > 1)
    if arguments.json:
        print(json.dumps(found if len(arguments.pictures) > 1 else found[0], ensure_ascii=False, indent=2))
    return status


def _serve(reader: Reader, host: str, port: int) -> int:
    from ..ocr.server import serve

    try:
        serve(reader, host, port)
    except (OSError, ImportError, OverflowError) as error:
        return _fail(error)
    return 0


def _show(picture: str, page: Page, several: bool) -> None:
    if several:
        print(f"== {picture} ==")
    if page.text:
        print(page.text, flush=True)
    else:
        print(f"proa ocr: no text was found in {picture}.", file=sys.stderr)


def _fail(problem: object) -> int:
    print(f"proa ocr: {problem}", file=sys.stderr)
    return 1
