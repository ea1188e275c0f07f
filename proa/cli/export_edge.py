"""`proa export edge MODEL -o folder`: a model for a phone or a board."""

from __future__ import annotations

import argparse

from ..export.edge.package import export_package
from .exporting import reported


@reported
def run(arguments: argparse.Namespace) -> None:
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
