"""Pages as the site wants them: those of docs/ where they are, those of the root below project/, linked sources as pages.

Links are written for people who read the repository. A link that leaves docs/ is turned to where the file is in the site:
a Markdown file of the root is a page, and any other file that somebody links to gets a page that shows its source.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

ROOT_PAGES = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md")
# Files that pages show as they are.
KEPT = {".svg", ".css", ".png", ".js"}
_LANGUAGES = {".py": "python", ".toml": "toml", ".sh": "bash", ".yml": "yaml"}
_LINK = re.compile(r"(?<!!)\[([^\]\n]*(?:\n[^\]\n]+)?)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^( *)```python no-run$", re.MULTILINE)


def copy_pages(root: Path, staged: Path) -> int:
    """Write all hand-written pages; returns how many there are."""
    pages = {path: path.relative_to(root / "docs") for path in sorted((root / "docs").rglob("*.md"))}
    pages |= {root / name: Path("project") / name for name in ROOT_PAGES}
    sources: set[Path] = set()
    for path, place in pages.items():
        text = _FENCE.sub(r"\1```python", path.read_text(encoding="utf-8"))
        _write(staged / place, _mend_links(text, path, place, pages, sources))
    for path in sorted(sources):
        _write(staged / source_page(path.relative_to(root)), _source_text(path, root))
    for path in sorted((root / "docs").rglob("*")):
        if path.suffix in KEPT:
            target = staged / path.relative_to(root / "docs")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    return len(pages) + len(sources)


def source_page(path: Path) -> Path:
    """Where the page that shows a source file is."""
    return Path("sources") / path.parent / (path.name + ".md")


def _mend_links(text: str, path: Path, place: Path, pages: dict[Path, Path], sources: set[Path]) -> str:
    root = next(page for page in pages if page.name == "CHANGELOG.md").parent
    mended = []
    for number, part in enumerate(re.split(r"(^ *```.*?^ *```$)", text, flags=re.MULTILINE | re.DOTALL)):
        mended.append(
            part if number % 2 else _LINK.sub(lambda found: _mended(found, root, path, place, pages, sources), part)
        )
    return "".join(mended)


def _mended(
    found: re.Match[str], root: Path, path: Path, place: Path, pages: dict[Path, Path], sources: set[Path]
) -> str:
    label, target = found.groups()
    file, mark, anchor = target.partition("#")
    if not file or ":" in file:
        return found.group()
    wanted = Path(os.path.normpath(path.parent / file))
    if wanted == root / "README.md":
        wanted = root / "docs" / "index.md"
    if wanted in pages:
        new = pages[wanted]
    elif wanted.suffix == ".ipynb":
        new = wanted.relative_to(root / "docs").with_suffix(".md")
    elif (root / "docs") in wanted.parents and wanted.suffix in KEPT | {".md"}:
        return found.group()  # a picture, or a generated page; MkDocs says so if it is not there
    elif wanted.is_file():
        sources.add(wanted)
        new = source_page(wanted.relative_to(root))
    else:
        raise FileNotFoundError(f"{path.relative_to(root)} links to {target}, which is not there; mend the link.")
    return f"[{label}]({os.path.relpath(new, place.parent)}{mark}{anchor})"


def _source_text(path: Path, root: Path) -> str:
    code = path.read_text(encoding="utf-8").rstrip()
    name = path.relative_to(root)
    return f'# {name}\n\n````{_LANGUAGES.get(path.suffix, "text")} title="{name}"\n{code}\n````\n'


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
