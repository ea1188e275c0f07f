"""Write the site: stage the pages, generate the reference, let MkDocs render everything; any warning is an error."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from . import notebooks, reference, stage

ROOT = Path(__file__).resolve().parents[2]
STAGED = ROOT / "build" / "site-source"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.site", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", metavar="PREFIX", help="the reference of names below PREFIX alone: a quick look")
    options = parser.parse_args()
    started = time.perf_counter()
    shutil.rmtree(STAGED, ignore_errors=True)
    num_pages = stage.copy_pages(ROOT, STAGED)
    num_pages += notebooks.write_pages(ROOT / "docs" / "tutorials", STAGED / "tutorials")
    num_names = reference.write_pages(STAGED / "reference", options.only or "")
    print(f"{num_pages} pages, {num_names} pages of the reference ({time.perf_counter() - started:.0f} s)", flush=True)
    # Material announces the next MkDocs on every run; that is no warning about this site.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    # A part of the reference has links to what was left out, so only the whole is strict.
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", *(() if options.only else ("--strict",))]
    finished = subprocess.run(command, cwd=ROOT, env=environment)
    if finished.returncode == 0:
        print(f"build/site/index.html is there ({time.perf_counter() - started:.0f} s)")
    return finished.returncode


if __name__ == "__main__":
    sys.exit(main())
