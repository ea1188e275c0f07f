"""Run the tutorials, from the first cell to the last, each in an empty folder; an error in a cell is a failure.

    python -m tools.run_notebooks                                # all notebooks of docs/tutorials
    python -m tools.run_notebooks docs/tutorials/physics.ipynb   # this one
    python -m tools.run_notebooks --store                        # also keep the outputs in the files

Stored outputs are what the site shows; a notebook is written only when all of its cells have run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CELL_LIMIT_SECONDS = 300
# Some lines come on one machine and not on another (compiling kernels in the background, say): they are not kept.
_PASSING = re.compile(r"^(?:proa(?::| compiles)| *\d+ of \d+ native kernels compiled).*\n?", re.MULTILINE)


def run(path: Path) -> Any:
    """The notebook with fresh outputs; what went wrong in a cell is raised."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    search_path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": search_path, "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=CELL_LIMIT_SECONDS,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
            extra_arguments=["--log-level=ERROR"],
        )
        client.execute(env=environment)
    return notebook


def tidy(notebook: Any) -> None:
    """Leave out what differs from run to run and from machine to machine."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
        cell.metadata = {}
        if cell.cell_type != "code":
            continue
        kept: list[Any] = []
        for output in cell.outputs:
            if output.output_type == "stream":
                output.text = _PASSING.sub("", output.text)
                # How a cell's printing is cut into pieces depends on the clock.
                if kept and kept[-1].get("name") == output.name:
                    kept[-1].text += output.text
                    continue
                if not output.text:
                    continue
            kept.append(output)
        cell.outputs = kept


def store(notebook: Any, path: Path) -> None:
    """Written beside its place and moved there."""
    beside = path.with_suffix(".partial")
    beside.write_text(json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
    beside.replace(path)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, help="notebooks (all of docs/tutorials)")
    parser.add_argument("--store", action="store_true", help="keep the outputs in the files")
    options = parser.parse_args()
    num_failed = 0
    for path in options.paths or sorted((ROOT / "docs" / "tutorials").glob("*.ipynb")):
        started = time.perf_counter()
        try:
            notebook = run(path)
        except Exception as error:
            num_failed += 1
            print(f"failed  {path}\n{error}", flush=True)
            continue
        if options.store:
            tidy(notebook)
            store(notebook, path)
        print(f"ok      {path} ({time.perf_counter() - started:.1f} s)", flush=True)
    return 1 if num_failed else 0


if __name__ == "__main__":
    sys.exit(main())
