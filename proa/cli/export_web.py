"""`proa export web MODEL -o folder`: a model on a web page."""

from __future__ import annotations

import argparse

from ..export.web.site import export_site
from .exporting import reported


@reported
def run(arguments: argparse.Namespace) -> None:
    labels = arguments.labels.split(",") if arguments.labels else None
    files = export_site(arguments.model, arguments.output, arguments.page, labels, arguments.runtime)
    size = sum(file.stat().st_size for file in files)
    print(
        f"{arguments.output}: {len(files)} files, {size / 1e6:.1f} MB. Any static file server serves it, for example:"
    )
    print(f"  python -m http.server --directory {arguments.output} 8000")
