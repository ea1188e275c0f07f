"""Run the Python examples of the documentation, each file in a process of its own.

    python tools/run_doc_examples.py                 # README.md and everything under docs/
    python tools/run_doc_examples.py docs/jit.md ... # these files

In a Markdown file the blocks fenced as ```python run one after the other, like one script; a block
fenced as ```python no-run is left out. A Python file under docs/ runs as it is. Examples run in an
empty temporary folder, so what they save leaves no trace.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TIME_LIMIT_SECONDS = 300


def example_source(markdown: str) -> str:
    """The examples as one script in which every line keeps its number, so tracebacks are right."""
    lines = []
    inside = False
    for line in markdown.splitlines():
        fence = line.strip()
        if inside and fence == "```":
            inside = False
        lines.append(line if inside else "")
        if not inside and fence == "```python":
            inside = True
    return "\n".join(lines).rstrip()


def run_file(path: Path) -> str | None:
    """Run one file's examples; returns what went wrong, or None."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        source = example_source(source)
    if not source:
        return None
    program = f"exec(compile({source!r}, {str(path)!r}, 'exec'), {{'__name__': '__main__'}})"
    search_path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        try:
            finished = subprocess.run(
                [sys.executable, "-c", program],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": search_path},
                capture_output=True,
                text=True,
                timeout=TIME_LIMIT_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return f"took longer than {TIME_LIMIT_SECONDS} s"
    if finished.returncode != 0:
        return finished.stderr or f"ended with exit code {finished.returncode}"
    print(f"ok      {path} ({time.perf_counter() - started:.1f} s)")
    return None


def main(arguments: list[str]) -> int:
    if arguments:
        paths = [Path(argument).resolve() for argument in arguments]
    else:
        docs = ROOT / "docs"
        paths = [ROOT / "README.md", *sorted(docs.rglob("*.md")), *sorted(docs.rglob("*.py"))]
    num_failed = 0
    for path in paths:
        trouble = run_file(path)
        if trouble:
            num_failed += 1
            print(f"failed  {path}\n{trouble}")
    return 1 if num_failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
