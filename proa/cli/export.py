"""`proa export web MODEL -o folder`, `proa export edge MODEL -o folder`: a model for places without Python."""

from __future__ import annotations

import argparse
import sys


def run(arguments: argparse.Namespace) -> int:
    try:
        (_edge if arguments.kind == "edge" else _web)(arguments)
    except (ValueError, TypeError, OSError, ImportError, NotImplementedError, RuntimeError, MemoryError) as error:
        print(f"proa export: {error}", file=sys.stderr)
        return 1
    return 0


def _web(arguments: argparse.Namespace) -> None:
    from ..export.web.site import export_site

    labels = arguments.labels.split(",") if arguments.labels else None
    files = export_site(arguments.model, arguments.output, arguments.page, labels, arguments.runtime)
    size = sum(file.stat().st_size for file in files)
    print(
        f"{arguments.output}: {len(files)} files, {size / 1e6:.1f} MB. Any static file server serves it, for example:"
    )
    print(f"  python -m http.server --directory {arguments.output} 8000")


def _edge(arguments: argparse.Namespace) -> None:
    from ..export.edge.package import export_package

    if arguments.model is None:
        raise ValueError("a model is needed: a .proa file, the prefix of Paddle's files, or an .onnx file")
    report = export_package(arguments.model, arguments.output, arguments.target, _shapes(arguments.shape))
    size, error = report["bytes"] / 1e6, report["error"]
    print(
        f"{arguments.output}: {report['model']} ({size:.1f} MB) for {report['target']}; README.md says how to run it."
    )
    print(
        f"Run here by ONNX Runtime {report['runtime']}, it differs by at most {error:.1e} (beside its largest number)."
    )


def _shapes(words: list[str]) -> list[list[int]] | None:
    """`["1,3,224,224"]` as lists of sizes."""
    try:
        return [[int(size) for size in word.split(",")] for word in words] or None
    except ValueError:
        raise ValueError(f"--shape takes sizes such as 1,3,224,224; received {' '.join(words)}") from None
