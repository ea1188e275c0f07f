"""Docstrings in Google's style as Markdown: a description, tables of parameters and exceptions, examples in colours."""

from __future__ import annotations

import html
import inspect
import re
from dataclasses import dataclass, field

_TITLES = {
    "args": "Parameters", "arguments": "Parameters", "parameters": "Parameters", "keyword args": "Parameters",
    "returns": "Returns", "yields": "Yields", "raises": "Raises", "attributes": "Attributes",
    "example": "Examples", "examples": "Examples", "note": "Note", "notes": "Note", "see also": "See also",
    "shape": "Shapes", "shapes": "Shapes", "warning": "Warning",
}  # fmt: skip
_SECTION = re.compile(rf"^({'|'.join(_TITLES)})\s*:\s*$", re.IGNORECASE)
_ENTRY = re.compile(
    r"^(?P<names>\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)(?:\s*\((?P<type>[^)]*(?:\([^)]*\)[^)]*)*)\))?\s*:(?:\s+|$)"
)


@dataclass
class Entry:
    """One parameter, attribute or exception."""

    name: str
    type: str
    text: str


@dataclass
class Docstring:
    """A docstring in its parts; sections by their titles, as dedented text."""

    description: str
    sections: dict[str, str] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """The first sentence, on one line."""
        first = " ".join(self.description.partition("\n\n")[0].split())
        return re.split(r"(?<=[.!?])\s+(?=[A-Z`])", first)[0] if first else ""

    def entries(self, title: str) -> list[Entry]:
        return entries(self.sections.get(title, ""))


def parse(docstring: str) -> Docstring:
    """Take a docstring apart. A line such as `Args:` with an indented block below it is a section; all else is text."""
    lines = inspect.cleandoc(docstring).splitlines()
    description: list[str] = []
    sections: dict[str, list[str]] = {}
    current = description
    for number, line in enumerate(lines):
        found = _SECTION.match(line)
        following = next((later for later in lines[number + 1 :] if later.strip()), "")
        if found and following.startswith((" ", "\t", ">>>")):
            current = sections.setdefault(_TITLES[found.group(1).lower()], [])
        else:
            # A section ends where a line stands at the margin again.
            if current is not description and line and not line[0].isspace() and not line.startswith(">>>"):
                current = description
                current.append("")
            current.append(line)
    texts = {title: inspect.cleandoc("\n" + "\n".join(block)) for title, block in sections.items()}
    # An example without a heading, at the end of the description, is an example all the same.
    before, mark, example = "\n".join(description).strip().partition("\n>>> ")
    if mark and "Examples" not in texts:
        return Docstring(before.strip(), {**texts, "Examples": ">>> " + example})
    return Docstring("\n".join(description).strip(), texts)


def entries(block: str) -> list[Entry]:
    """`name (type): text`, with more text on indented lines."""
    found: list[Entry] = []
    for line in block.splitlines():
        start = _ENTRY.match(line)
        if start:
            found.append(Entry(start["names"], start["type"] or "", line[start.end() :].strip()))
        elif found:
            found[-1].text += "\n" + line.strip()
        elif line.strip():
            found.append(Entry("", "", line.strip()))
    return found


def prose(text: str) -> str:
    """Text of a docstring as Markdown: what would be HTML or emphasis is shown as it was written."""
    parts = re.split(r"(```.*?```|``[^`]*``|`[^`\n]*(?:\n[^`\n]*)?`)", text, flags=re.DOTALL)
    return "".join(
        part if number % 2 else re.sub(r"(?<!\n)([*_\[\]])", r"\\\1", html.escape(part, quote=False))
        for number, part in enumerate(parts)
    )


def cell(text: str) -> str:
    """Prose on one line of a table."""
    # A bar inside code does not end a cell, and would be shown as it is escaped.
    parts = re.split(r"(`[^`]*`)", prose(" ".join(text.split())))
    return "".join(part if number % 2 else part.replace("|", "&#124;") for number, part in enumerate(parts))


def code_cell(text: str) -> str:
    return f"<code>{html.escape(text, quote=False).replace('|', '&#124;')}</code>" if text else ""


def paragraphs(text: str) -> str:
    """Text and doctests, in the order they come in."""
    written: list[str] = []
    example: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith(">>>") or (example and line.strip()):
            example.append(line)
            continue
        if example:
            written += ["", "```pycon", *example, "```", ""]
            example = []
        written.append(line)
    return _prose_outside_fences("\n".join(written)).strip()


def _prose_outside_fences(text: str) -> str:
    parts = re.split(r"(^```pycon\n.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    joined = "".join(part if number % 2 else prose(part) for number, part in enumerate(parts))
    # Two examples with an empty line between them are one listing.
    return re.sub(r"\n```\n\s*\n+```pycon\n", "\n\n", joined)
