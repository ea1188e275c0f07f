"""Notebooks as pages: text as it is, code in colours, stored outputs below it."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def write_pages(source: Path, target: Path) -> int:
    """Write a page (and its pictures) for each notebook of a folder; returns how many there are."""
    paths = sorted(source.glob("*.ipynb"))
    for path in paths:
        target.mkdir(parents=True, exist_ok=True)
        text, pictures = page(json.loads(path.read_text(encoding="utf-8")), path.stem)
        (target / f"{path.stem}.md").write_text(text, encoding="utf-8")
        for name, content in pictures.items():
            (target / name).write_bytes(content)
    return len(paths)


def page(notebook: dict[str, Any], name: str) -> tuple[str, dict[str, bytes]]:
    """A notebook as Markdown, and the pictures that it shows."""
    pictures: dict[str, bytes] = {}
    parts: list[str] = []
    for cell in notebook["cells"]:
        source = _text(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(_page_links(source))
        elif cell["cell_type"] == "code" and source.strip():
            parts.append(f"```python\n{source.rstrip()}\n```")
            for output in cell["outputs"]:
                parts += _shown(output, name, pictures)
    note = f"*This page is the notebook `docs/tutorials/{name}.ipynb`, with the outputs of its last run.*"
    return "\n\n".join([*parts, note]) + "\n", pictures


def _shown(output: dict[str, Any], name: str, pictures: dict[str, bytes]) -> list[str]:
    if output["output_type"] == "error":
        raise ValueError(
            f"the notebook {name} holds an error: {output['ename']}; run it again (tools.run_notebooks --store)."
        )
    if output["output_type"] == "stream":
        text = _COLOURS.sub("", _text(output["text"])).rstrip()
        return [f'```text title="{output["name"]}"\n{text}\n```' if output["name"] == "stderr" else _fenced(text)]
    data = output["data"]
    for kind, ending in (("image/svg+xml", "svg"), ("image/png", "png")):
        if kind in data:
            file = f"{name}-{len(pictures) + 1}.{ending}"
            content = _text(data[kind])
            pictures[file] = content.encode() if ending == "svg" else base64.b64decode(content)
            return [f"![what the cell drew]({file})"]
    return [_fenced(_text(data["text/plain"]).rstrip())] if "text/plain" in data else []


def _fenced(text: str) -> str:
    return f"```{{ .text .output }}\n{text}\n```"


def _text(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)


def _page_links(text: str) -> str:
    """Links between notebooks are links between their pages."""
    return re.sub(r"\]\(([\w./-]+)\.ipynb(#[\w-]*)?\)", r"](\1.md\2)", text)
