"""What the reference shows: every public name with the one page that describes it, and all the paths that lead to it."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field
from typing import Any

from ..public_names import PublicName, own_members, public_names, reachable


@dataclass
class Page:
    """A function or a class."""

    public: PublicName
    other_paths: list[str] = field(default_factory=list)
    methods: list[PublicName] = field(default_factory=list)
    # Methods that are one of the public functions: name, and the page of the function.
    shared: dict[str, str] = field(default_factory=dict)
    file: str = ""

    @property
    def namespace(self) -> str:
        return self.public.name.rpartition(".")[0]

    @property
    def short_name(self) -> str:
        return self.public.name.rpartition(".")[2]


@dataclass
class Surface:
    """All pages by name, and each namespace with the paths in it (path to page)."""

    pages: dict[str, Page]
    namespaces: dict[str, dict[str, Page]]


def collect(prefix: str = "") -> Surface:
    names = public_names()
    chosen = [name for name in names if name.kind != "method" and name.name.startswith(prefix)]
    pages = {name.name: Page(name) for name in chosen}
    by_identity = {id(page.public.value): page for page in pages.values()}
    namespaces: dict[str, dict[str, Page]] = {}
    for path, value in reachable():
        page = by_identity.get(id(value))
        if page is None:
            continue
        namespaces.setdefault(path.rpartition(".")[0], {})[path] = page
        if path != page.public.name:
            page.other_paths.append(path)
    _name_files(pages)
    _add_methods(pages, names, by_identity)
    return Surface(pages, dict(sorted(namespaces.items())))


def _name_files(pages: dict[str, Page]) -> None:
    """A file for each page; names that differ in case alone get files that differ on every file system."""
    taken: set[str] = set()
    for page in sorted(pages.values(), key=lambda page: (page.public.kind != "class", page.public.name)):
        file = f"{page.namespace}/{page.short_name}"
        if file.lower() in taken:
            file += f"-{page.public.kind}"
        taken.add(file.lower())
        page.file = file + ".md"


def _add_methods(pages: dict[str, Page], names: list[PublicName], by_identity: dict[int, Page]) -> None:
    for name in names:
        if name.kind == "method":
            owner = pages.get(name.name.rpartition(".")[0])
            if owner is not None:
                owner.methods.append(name)
    for page in pages.values():
        if page.public.kind == "class":
            for name, value in sorted(own_members(page.public.value).items()):
                same = by_identity.get(id(value)) if not name.startswith("_") else None
                if same is not None and same.public.kind == "function":
                    page.shared[name] = same.public.name


def signature(value: Any, name: str) -> str:
    """`name(parameters)` as code; one parameter a line where it is long. Empty where Python knows none."""
    if isinstance(value, property):
        return name
    try:
        found = inspect.signature(value.__func__ if isinstance(value, staticmethod | classmethod) else value)
    except (TypeError, ValueError):
        return ""
    parameters = list(found.parameters.values())
    if parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    written = _written(parameters)
    silent = inspect.isclass(value) or found.return_annotation is inspect.Signature.empty
    arrow = "" if silent else f" -> {annotation(found.return_annotation)}"
    line = f"{name}({', '.join(written)}){arrow}"
    if len(line) <= 88:
        return line
    return f"{name}(\n" + "".join(f"    {each},\n" for each in written) + f"){arrow}"


def _written(parameters: list[inspect.Parameter]) -> list[str]:
    written: list[str] = []
    starred = slashed = False
    for number, each in enumerate(parameters):
        if each.kind is each.KEYWORD_ONLY and not starred:
            starred = True
            written.append("*")
        starred = starred or each.kind is each.VAR_POSITIONAL
        text = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "") + each.name
        if each.annotation is not each.empty:
            text += f": {annotation(each.annotation)}"
        if each.default is not each.empty:
            text += ("=" if each.annotation is each.empty else " = ") + default(each)
        if slashed and each.kind is not each.POSITIONAL_ONLY:
            written.append("/")
        slashed = each.kind is each.POSITIONAL_ONLY
        written.append(text)
        if slashed and number == len(parameters) - 1:
            written.append("/")
    return written


def annotation(value: Any) -> str:
    """A type as one would write it."""
    text = value if isinstance(value, str) else inspect.formatannotation(value)
    return re.sub(r"\b(?:typing|collections\.abc|numpy)\.|\bproa(?:\.\w+)*\.(?=\w)", "", text)


def default(parameter: inspect.Parameter) -> str:
    """A default as one would write it; what has no such form is named."""
    if parameter.default is parameter.empty:
        return ""
    text = repr(parameter.default)
    if text.startswith("<") or " at 0x" in text or len(text) > 60:
        return getattr(parameter.default, "__name__", None) or "..."
    return text
