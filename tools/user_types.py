"""Checks the examples' types as a user would: pyright in strict mode and mypy in strict mode, with the package installed.

    python -m tools.user_types                    # examples/ and the code of the tutorials
    python -m tools.user_types path/to/file.py    # other files

The files are copied to a folder of their own, so that no configuration of this repository and no source beside them is
seen: the package is found where the interpreter finds it, with its stubs and its `py.typed`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("examples", "docs/tutorials")


def name_of(file: Path) -> str:
    return file.name if file.suffix == ".py" else f"tutorial_{file.stem}.py"


def code_of(file: Path) -> str:
    """A script, or the cells of a notebook one after the other (what is for the shell is left out)."""
    text = file.read_text("utf-8")
    if file.suffix != ".ipynb":
        return text
    cells = ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    lines = "\n\n".join(cells).splitlines()
    return "\n".join("" if line.startswith(("!", "%")) else line for line in lines) + "\n"


def main(files: list[str]) -> int:
    chosen = [Path(file).resolve() for file in files] or [
        file for folder in FOLDERS for ending in ("*.py", "*.ipynb") for file in sorted((ROOT / folder).glob(ending))
    ]
    with tempfile.TemporaryDirectory(prefix="user-types-") as folder:
        for file in chosen:
            Path(folder, name_of(file)).write_text(code_of(file), "utf-8")
        Path(folder, "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict"}), "utf-8")
        names = [name_of(file) for file in chosen]
        pyright = subprocess.run([sys.executable, "-m", "pyright", "--pythonpath", sys.executable], cwd=folder)
        mypy = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir", f"{folder}/.mypy", *names], cwd=folder
        )
    return pyright.returncode or mypy.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
