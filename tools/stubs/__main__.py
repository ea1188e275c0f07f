"""Writes the stubs, or with --check says whether they are as they would be written now.

python -m tools.stubs
python -m tools.stubs --check
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import pkgutil
import subprocess
import sys
from pathlib import Path

import proa
from tools.public_names import NAMESPACES

from .namespaces import COLLECTED, namespace_stub
from .tensor import tensor_stub

ROOT = Path(__file__).resolve().parents[2]
_HEAD = "# Written by `python -m tools.stubs`; changes made by hand are lost.\n"


def stubs() -> dict[Path, str]:
    """The text of every stub by its path."""
    _import_everything()
    texts = {ROOT / "proa/eager/tensor.pyi": tensor_stub()}
    for path in COLLECTED:
        texts[_stub_path(path)] = namespace_stub(path)
    return {path: _formatted(path, _HEAD + text) for path, text in texts.items()}


def _import_everything() -> None:
    """Areas that are imported when they are asked for attach methods too."""
    for name in NAMESPACES:
        try:
            importlib.import_module(f"proa.{name}")
        except ModuleNotFoundError:
            continue  # a namespace that is no module
    for area in pkgutil.iter_modules(proa.__path__):
        if area.name != "__main__":
            importlib.import_module(f"proa.{area.name}")


def _stub_path(module: str) -> Path:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"{module} is no file: a stub needs one beside it.")
    return Path(spec.origin).with_suffix(".pyi")


def _formatted(path: Path, text: str) -> str:
    ruff = [sys.executable, "-m", "ruff"]
    for command in (["check", "-q", "--fix-only", "--select", "I"], ["format", "-q"]):
        done = subprocess.run(
            [*ruff, *command, "--stdin-filename", str(path), "-"], input=text, capture_output=True, text=True, cwd=ROOT
        )
        if done.returncode:
            raise RuntimeError(f"{path.relative_to(ROOT)} cannot be formatted: {done.stderr}")
        text = done.stdout
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a stub is not up to date")
    options = parser.parse_args()
    stale = [path for path, text in stubs().items() if not path.exists() or path.read_text("utf-8") != text]
    if options.check:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not up to date: run `python -m tools.stubs`.", file=sys.stderr)
        return bool(stale)
    for path, text in stubs().items():
        path.write_text(text, "utf-8")
    print(f"{len(stale)} stubs changed." if stale else "All stubs were up to date.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
