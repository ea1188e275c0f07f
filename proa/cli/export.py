"""`proa export web MODEL -o folder`, `proa export edge MODEL -o folder`: a model for places without Python."""

from __future__ import annotations

import argparse
import sys


def run(arguments: argparse.Namespace) -> int:
    try:
        _web(arguments)
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
