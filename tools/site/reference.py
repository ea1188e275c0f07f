"""The pages of the reference: an index, one page a namespace, one page a function or class."""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import Any

from ..public_names import PublicName, find_namespace
from . import docstrings
from .docstrings import Docstring, cell, code_cell
from .names import Page, Surface, annotation, collect, default, signature

# Sections of a docstring that are text, in the order they are shown in.
_TEXTS = ("Shapes", "Note", "Warning", "See also")


def write_pages(folder: Path, prefix: str = "") -> int:
    """Write the reference below `folder`; returns how many pages it has."""
    surface = collect(prefix)
    _write(folder / "index.md", index_page(surface))
    for namespace in surface.namespaces:
        _write(folder / f"{namespace}.md", namespace_page(surface, namespace))
    for page in surface.pages.values():
        _write(folder / page.file, name_page(surface, page))
    _write(folder / "names.md", names_page(surface))
    return len(surface.pages) + len(surface.namespaces) + 2


def name_page(surface: Surface, page: Page) -> str:
    """One function, or one class with its methods."""
    name = page.public.name
    here = page.file
    parsed = docstrings.parse(page.public.docstring)
    lines = [
        "---",
        f"title: {page.short_name}",
        "hide: [navigation]" if not page.methods else "hide: []",
        "---",
        "",
        f"[Reference]({_link('index.md', here)}) › [{page.namespace}]({_link(page.namespace + '.md', here)})",
        "{: .crumbs }",
        "",
        f"# {name.replace('_', chr(92) + '_')}",
        "",
        *_signature_block(page.public.value, page.short_name, "class " if page.public.kind == "class" else ""),
        *described(parsed, page.public),
    ]
    lines += _methods(surface, page)
    if page.other_paths:
        lines += ["", "## Other names", "", ", ".join(f"`{path}`" for path in page.other_paths)]
    return "\n".join(lines) + "\n"


def described(parsed: Docstring, name: PublicName, level: int = 2) -> list[str]:
    """Everything below the signature."""
    heading = "#" * level if level == 2 else ""
    lines = [docstrings.paragraphs(parsed.description) or "*No description yet.*", ""]
    lines += _parameters(parsed, name.value, heading)
    if text := parsed.sections.get("Attributes"):
        lines += _table(heading, "Attributes", docstrings.entries(text))
    for title in ("Returns", "Yields"):
        if text := parsed.sections.get(title):
            lines += [_title(heading, title), "", docstrings.paragraphs(text), ""]
    if text := parsed.sections.get("Raises"):
        lines += _table(heading, "Raises", docstrings.entries(text))
    for title in _TEXTS:
        if text := parsed.sections.get(title):
            lines += [_title(heading, title), "", docstrings.paragraphs(text), ""]
    if text := parsed.sections.get("Examples"):
        lines += [_title(heading, "Examples"), "", docstrings.paragraphs(text), ""]
    return lines


def _parameters(parsed: Docstring, value: Any, heading: str) -> list[str]:
    """The table of parameters: what the docstring says, completed by what the signature knows."""
    known = _signature_parameters(value)
    listed = parsed.entries("Parameters")
    if not listed:
        return []
    rows = []
    for entry in listed:
        found = [known[each] for name in entry.name.split(",") if (each := name.strip(" *")) in known]
        kinds = entry.type or next((annotation(p.annotation) for p in found if p.annotation is not p.empty), "")
        rows.append((entry.name, kinds, default(found[0]) if found else "", entry.text))
    columns = ["parameter", *(["type"] if any(row[1] for row in rows) else []),
               *(["default"] if any(row[2] for row in rows) else []), "meaning"]  # fmt: skip
    lines = [_title(heading, "Parameters"), "", _row(columns), _row(["---"] * len(columns))]
    for name, kind, given, text in rows:
        cells = {
            "parameter": code_cell(name),
            "type": code_cell(kind),
            "default": code_cell(given),
            "meaning": cell(text),
        }
        lines.append(_row([cells[column] for column in columns]))
    return [*lines, ""]


def _signature_parameters(value: Any) -> dict[str, inspect.Parameter]:
    try:
        return dict(
            inspect.signature(value.__func__ if isinstance(value, staticmethod | classmethod) else value).parameters
        )
    except (TypeError, ValueError):
        return {}


def _table(heading: str, title: str, found: list[docstrings.Entry]) -> list[str]:
    column = {"Raises": "exception", "Attributes": "attribute"}[title]
    lines = [_title(heading, title), "", _row([column, "when" if title == "Raises" else "meaning"]), _row(["---"] * 2)]
    return [*lines, *(_row([code_cell(entry.name), cell(entry.text)]) for entry in found), ""]


def _methods(surface: Surface, page: Page) -> list[str]:
    lines: list[str] = []
    here = page.file
    if page.methods:
        lines += ["", "## Methods", ""]
    for method in page.methods:
        short = method.name.rpartition(".")[2]
        lines += [f"### {short.replace('_', chr(92) + '_')}", "", *_signature_block(method.value, short)]
        lines += described(docstrings.parse(method.docstring), method, 4)
    if page.shared:
        lines += ["", "## Methods that are functions too", "", "The tensor is the first argument.", ""]
        links = (f"[`{name}`]({_link(surface.pages[path].file, here)})" for name, path in page.shared.items())
        lines += [", ".join(links)]
    kin = list(page.public.value.__mro__[1:-1]) if page.public.kind == "class" else []
    by_identity = {id(each.public.value): each for each in surface.pages.values()} if kin else {}
    bases = [by_identity[id(base)] for base in kin if id(base) in by_identity]
    if bases:
        links = (f"[`{base.public.name}`]({_link(base.file, here)})" for base in bases)
        lines += ["", "## Base classes", "", "Their methods are there as well: " + ", ".join(links) + "."]
    return lines


def namespace_page(surface: Surface, namespace: str) -> str:
    """All names of a namespace, each with a sentence."""
    here = f"{namespace}.md"
    paths = surface.namespaces[namespace]
    described_here = inspect.getdoc(find_namespace(namespace)) or ""
    lines = [
        "---",
        f"title: {namespace}",
        "---",
        "",
        f"[Reference]({_link('index.md', here)})",
        "{: .crumbs }",
        "",
        f"# {namespace.replace('_', chr(92) + '_')}",
        "",
    ]
    if inspect.ismodule(find_namespace(namespace)):
        lines += [docstrings.prose(described_here.partition("\n\n")[0]), ""]
    for kind, title in (("class", "Classes"), ("function", "Functions")):
        chosen = [(path, page) for path, page in sorted(paths.items()) if page.public.kind == kind]
        if not chosen:
            continue
        lines += [f"## {title}", "", "| name | what it is |", "| --- | --- |"]
        for path, page in chosen:
            name = path.rpartition(".")[2]
            text = cell(docstrings.parse(page.public.docstring).summary)
            lines.append(f"| [`{name}`]({_link(page.file, here)}) | {text} |")
        lines.append("")
    return "\n".join(lines) + "\n"


def index_page(surface: Surface) -> str:
    """The namespaces."""
    lines = [
        "# API reference", "",
        f"{len(surface.pages):,} functions and classes, each on one page, whatever the number of paths that lead to it. "
        "Every page is made from the docstring, and the examples on it are run by `make docs`. In examples `paddle` is proa "
        "(`import proa as paddle`) and `np` is NumPy. [All names](names.md) are on one page, with every path.", "",
        "| namespace | names | what is in it |", "| --- | --- | --- |",
    ]  # fmt: skip
    for namespace, paths in surface.namespaces.items():
        module = find_namespace(namespace)
        text = (inspect.getdoc(module) or "") if inspect.ismodule(module) else ""
        lines.append(f"| [`{namespace}`]({namespace}.md) | {len(paths)} | {cell(docstrings.parse(text).summary)} |")
    return "\n".join(lines) + "\n"


def names_page(surface: Surface) -> str:
    """Every path to every name, by its last part."""
    lines = ["# All names", "", "Every path that leads to a name; the link goes to the page that describes it.", ""]
    paths = [(path, page) for paths in surface.namespaces.values() for path, page in paths.items()]
    letter = ""
    for path, page in sorted(paths, key=lambda item: (item[0].rpartition(".")[2].lower(), item[0])):
        first = path.rpartition(".")[2][0].upper()
        if first != letter:
            letter = first
            lines += ["", f"## {letter}", ""]
        lines.append(f"- [`{path}`]({page.file})")
    return "\n".join(lines) + "\n"


def _signature_block(value: Any, name: str, before: str = "") -> list[str]:
    text = signature(value, name)
    return ["```python", before + text, "```", ""] if text else []


def _title(heading: str, title: str) -> str:
    """A heading on the page of a name; below a method, where headings would crowd the contents, a bold line."""
    return f"{heading} {title}" if heading else f"**{title}**"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _link(target: str, here: str) -> str:
    return os.path.relpath(target, os.path.dirname(here))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
